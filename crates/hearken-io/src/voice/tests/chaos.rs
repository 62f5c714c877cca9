//! The conversation with a daemon that answers late, wrongly and in any order.
//!
//! Whatever happens, in any order: no command is sent where it would become text, no utterance is
//! reported twice, nothing is reported about a stopped one, and the next utterance is still spoken.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use proptest::prelude::*;

use super::*;
use crate::voice::dialogue::{Dialogue, DialogueEvent, Greeting, ReportedProblems};

/// One step of the chaos.
#[derive(Debug, Clone)]
enum ChaosStep {
    Speak {
        own: bool,
        language: Option<&'static str>,
    },
    Stop,
    /// Some of the daemon's replies arrive, in pieces of a given size.
    Deliver {
        replies: usize,
        piece: usize,
    },
    /// The daemon refuses the next command that it reads.
    Refuse,
    /// An event about the latest message, or one a given number before it.
    Event {
        code: u16,
        back: u64,
    },
}

fn act() -> impl Strategy<Value = ChaosStep> {
    let language = prop_oneof![
        Just(None),
        Just(Some("en-US")),
        Just(Some("de")),
        Just(Some("xx")),
        Just(Some("\r\nQUIT"))
    ];
    prop_oneof![
        3 => (any::<bool>(), language).prop_map(|(own, language)| ChaosStep::Speak { own, language }),
        2 => Just(ChaosStep::Stop),
        6 => (1..4_usize, 1..40_usize).prop_map(|(replies, piece)| ChaosStep::Deliver { replies, piece }),
        1 => Just(ChaosStep::Refuse),
        4 => (prop_oneof![Just(700_u16), 701..=705_u16], 0..3_u64)
            .prop_map(|(code, back)| ChaosStep::Event { code, back }),
    ]
}

#[derive(Debug, PartialEq, Eq)]
enum ChaosReading {
    Commands,
    Text(String),
}

/// A daemon that reads immediately and answers on request.
struct PlainDaemon {
    reading: ChaosReading,
    unread: Vec<u8>,
    replies: VecDeque<String>,
    messages: u64,
    refuse: bool,
}

impl PlainDaemon {
    fn read(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
        while let Some(end) = self.unread.windows(2).position(|pair| pair == b"\r\n") {
            let line: Vec<u8> = self.unread.drain(..end + 2).collect();
            let line = String::from_utf8(line[..end].to_vec()).unwrap();
            self.line(&line);
        }
    }

    fn line(&mut self, line: &str) {
        let refuse = std::mem::take(&mut self.refuse);
        match &mut self.reading {
            ChaosReading::Text(text) if line == "." => {
                let reply = if text.is_empty() {
                    "227 OK MESSAGE CANCELED\r\n".to_owned()
                } else if refuse {
                    "413 ERR\r\n".to_owned()
                } else {
                    self.messages += 1;
                    format!("225-{}\r\n225 OK\r\n", self.messages)
                };
                self.reading = ChaosReading::Commands;
                self.replies.push_back(reply);
            }
            ChaosReading::Text(text) => {
                assert!(
                    line == " " || line.starts_with("words"),
                    "{line:?} became a text"
                );
                text.push_str(line);
            }
            ChaosReading::Commands => {
                let reply = match line {
                    _ if refuse && line != "CANCEL SELF" => "300 ERR INTERNAL\r\n",
                    "SPEAK" => {
                        self.reading = ChaosReading::Text(String::new());
                        "230 OK\r\n"
                    }
                    "LIST OUTPUT_MODULES" => "250-espeak-ng\r\n250 OK\r\n",
                    "GET OUTPUT_MODULE" => "251-espeak-ng\r\n251 OK\r\n",
                    "GET LANGUAGE" => "251-en-US\r\n251 OK\r\n",
                    "GET PITCH" | "GET RATE" | "GET VOLUME" => "251-0\r\n251 OK\r\n",
                    "GET VOICE_TYPE" => "251-MALE1\r\n251 OK\r\n",
                    "GET PUNCTUATION" => "251-none\r\n251 OK\r\n",
                    "LIST SYNTHESIS_VOICES" => "249-German\tde\tnone\r\n249 OK\r\n",
                    "CANCEL SELF" => "213 OK\r\n",
                    set if set.starts_with("SET SELF ") => "200 OK\r\n",
                    other => panic!("{other:?} became a command"),
                };
                self.replies.push_back(reply.to_owned());
            }
        }
    }
}

/// What was reported about an utterance.
#[derive(Debug, Default, PartialEq, Eq)]
enum UtteranceFate {
    #[default]
    Nothing,
    Begun,
    Settled,
}

struct Chaos {
    dialogue: Dialogue,
    daemon: PlainDaemon,
    now: Instant,
    told: BTreeMap<UtteranceId, UtteranceFate>,
    current: Option<UtteranceId>,
    failed: bool,
}

impl Chaos {
    fn new() -> Self {
        let now = Instant::now();
        let greeting = Greeting {
            client_name: "ann:hearken:main".to_owned(),
            own_pitch: 20,
        };
        let mut chaos = Self {
            dialogue: Dialogue::new(
                greeting,
                ReportedProblems::default(),
                Limits::default(),
                now,
            ),
            daemon: PlainDaemon {
                reading: ChaosReading::Commands,
                unread: Vec::new(),
                replies: VecDeque::new(),
                messages: 0,
                refuse: false,
            },
            now,
            told: BTreeMap::new(),
            current: None,
            failed: false,
        };
        chaos.settle();
        chaos.event(702, 1);
        chaos
    }

    /// Passes the conversation's bytes to the daemon, and checks and records its news.
    fn exchange(&mut self) {
        let bytes = self.dialogue.outgoing().to_vec();
        self.dialogue.wrote(bytes.len());
        self.daemon.read(&bytes);
        while let Some(news) = self.dialogue.news() {
            let (id, told) = match news {
                DialogueEvent::Opened | DialogueEvent::Notice(_) => continue,
                DialogueEvent::Failed(_) => {
                    self.failed = true;
                    continue;
                }
                DialogueEvent::Begun(id) => (id, UtteranceFate::Begun),
                DialogueEvent::Ended(id) | DialogueEvent::Cut(id) => (id, UtteranceFate::Settled),
            };
            assert_eq!(self.current, Some(id), "news about a stopped utterance");
            let before = self.told.entry(id).or_default();
            match (&before, &told) {
                (UtteranceFate::Nothing, _) | (UtteranceFate::Begun, UtteranceFate::Settled) => {}
                (UtteranceFate::Begun | UtteranceFate::Settled, _) => {
                    panic!("{told:?} after {before:?}")
                }
            }
            if told == UtteranceFate::Settled {
                self.current = None;
            }
            *before = told;
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        self.dialogue.receive(bytes, self.now);
        self.exchange();
    }

    fn event(&mut self, code: u16, number: u64) {
        self.hear(format!("{code}-{number}\r\n{code}-1\r\n{code} X\r\n").as_bytes());
    }

    /// Delivers every reply until the daemon has none left.
    fn settle(&mut self) {
        self.exchange();
        while let Some(reply) = self.daemon.replies.pop_front() {
            self.hear(reply.as_bytes());
        }
    }

    fn speak(&mut self, id: u64, own: bool, language: Option<&str>) {
        let utterance = Utterance {
            language: language.map(str::to_owned),
            mark: if own { Mark::Own } else { Mark::Agent },
            ..utterance(id, &format!("words {id}"))
        };
        self.current = Some(utterance.id);
        self.dialogue.speak(utterance, self.now);
        self.exchange();
    }

    fn act(&mut self, id: u64, act: ChaosStep) {
        match act {
            ChaosStep::Speak { own, language } => self.speak(id, own, language),
            ChaosStep::Stop => {
                self.current = None;
                self.dialogue.stop(self.now);
                self.exchange();
            }
            ChaosStep::Refuse => self.daemon.refuse = true,
            ChaosStep::Event { code, back } => {
                self.event(code, self.daemon.messages.saturating_sub(back));
            }
            ChaosStep::Deliver { replies, piece } => {
                for _ in 0..replies {
                    let Some(reply) = self.daemon.replies.pop_front() else {
                        break;
                    };
                    for piece in reply.as_bytes().chunks(piece) {
                        self.hear(piece);
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nothing_goes_wrong_in_any_order(acts in proptest::collection::vec(act(), 0..60)) {
        let mut chaos = Chaos::new();
        for (id, act) in (1..).zip(acts) {
            chaos.act(id, act);
        }
        chaos.daemon.refuse = false;
        chaos.settle();
        // Three refusals in a row end a conversation; otherwise it goes on.
        if !chaos.failed {
            chaos.speak(1_000_000, true, Some("de"));
            chaos.settle();
            chaos.event(701, chaos.daemon.messages);
            chaos.event(702, chaos.daemon.messages);
            prop_assert_eq!(chaos.told.get(&UtteranceId(1_000_000)), Some(&UtteranceFate::Settled));
            for number in 0..=chaos.daemon.messages {
                chaos.event(703, number);
            }
            prop_assert!(chaos.dialogue.is_quiet());
        }
    }
}
