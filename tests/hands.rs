//! Random hands on the real input path, in virtual time: bytes, `keys::Reader`, the app. Every acceptance must be
//! explained by a model that was written from docs/questions.md and sees nothing but the bytes, when they were read,
//! and when a question was visible.
//!
//! `cargo test` runs a part of it; with `HEARKEN_ALL_RUNS` in the environment it is a million keys, as in `.ci/deep`.

#![allow(clippy::print_stderr, reason = "the figures are what it is run for")]

mod answer_model;
mod shifting_calls;

use std::sync::Arc;
use std::time::Duration;

use hearken::announce::{AnswerMethod, Phrases};
use hearken::app::{
    App, Effect, EndCondition, Input, LinkOrder, QuestionVisibility, Setup, SourceSetup,
    SpeechMode, VisiblePage,
};
use hearken::config::{Config, Dialect};
use hearken::dialect::TransportKind;
use hearken::keys::{KeyReader, LineFeed, Mode, Stroke};
use hearken::link::{Frame, LinkEvent, LinkId};
use hearken::protocol::{KeyRing, Now};
use serde_json::{Value, json};

use answer_model::{ByteReads, Model};

const KEYS: (usize, usize) = (8000, 1_000_000);

/// The same for the permissions of a running agent, each of which needs two steps and an answer in its protocol.
const PERMISSIONS: (usize, usize) = (1000, 400_000);

/// Returns the part, or the whole if `.ci/deep` wants all runs.
fn as_many((part, all): (usize, usize)) -> usize {
    if std::env::var_os("HEARKEN_ALL_RUNS").is_some() {
        all
    } else {
        part
    }
}

/// A random number generator (xorshift64*).
pub struct HandsDice(pub u64);

impl HandsDice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::try_from(self.next()).unwrap() % list.len()]
    }
}

/// How much the terminal shows of what is written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScreenBehaviour {
    Shows,
    /// It accepts nothing.
    Stopped,
    /// It has no size.
    Sizeless,
}

/// Who asks the questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuestionSource {
    /// An AAEP producer, in one step or in two.
    Producer,
    /// A running agent, whose permissions state no risk.
    Agent,
}

/// A person at a terminal that always has a question open.
struct HandsRig {
    asker: QuestionSource,
    app: App,
    now: Now,
    reader: KeyReader,
    glass: ScreenBehaviour,
    model: Model,
    asked: u64,
    events: u64,
    accepted: usize,
    keys: usize,
    over: bool,
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Starts the program with one source.
fn app(dialect: Dialect, carrier: TransportKind, phrases: &Arc<Phrases>) -> App {
    App::new(Setup {
        config: Config::default(),
        phrases: Arc::clone(phrases),
        manner: AnswerMethod::Keys,
        keymap: Default::default(),
        scan: None,
        lines: None,
        face: ("start.face.full", "start.why.terminal"),
        voice: SpeechMode::Silent,
        copies: false,
        until: EndCondition::Asked,
        keys: KeyRing::default(),
        seed: 7,
        is_recorded: true,
        sources: vec![SourceSetup {
            name: "one".into(),
            answerable: true,
            dialect,
            carrier,
            folder: "/work".into(),
            ..SourceSetup::default()
        }],
    })
}

impl HandsRig {
    fn new(asker: QuestionSource, phrases: &Arc<Phrases>, asked: u64) -> Self {
        let (dialect, carrier) = match asker {
            QuestionSource::Producer => (Dialect::Auto, TransportKind::default()),
            QuestionSource::Agent => (Dialect::Acp, TransportKind::Lines),
        };
        let app = app(dialect, carrier, phrases);
        let now = Now {
            monotonic: Duration::from_secs(1),
            wall: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        let mut rig = Self {
            asker,
            app,
            now,
            reader: KeyReader::new(LineFeed::ControlJ),
            glass: ScreenBehaviour::Shows,
            model: Model::default(),
            asked,
            events: 0,
            accepted: 0,
            keys: 0,
            over: false,
        };
        rig.input(Input::Start);
        rig.link(LinkEvent::Connected);
        rig.wait(2000);
        rig.ask(false);
        rig
    }

    fn link(&mut self, event: LinkEvent) {
        self.input(Input::Link {
            link: LinkId(0),
            event,
        });
    }

    fn event(&mut self, kind: &str, fields: Value) {
        self.events += 1;
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1",
            "type": format!("aaep:agent.{kind}"), "event_id": format!("evt_{}", self.events),
            "session_id": format!("sess_{}", self.asked), "timestamp": format!("{:.3}", self.now.wall),
            "producer": {"agent_id": "a", "agent_name": "Mailer"},
        });
        for (key, value) in fields.as_object().unwrap() {
            event[key] = value.clone();
        }
        let text = event.to_string();
        self.link(LinkEvent::Frame(Frame::of(text)));
    }

    /// Asks the next question, in one step or in two.
    fn ask(&mut self, high: bool) {
        self.asked += 1;
        let token = format!("rpl_{}", self.asked);
        if self.asker == QuestionSource::Agent {
            self.model.asked(&token, true);
            return self.requests();
        }
        self.model.asked(&token, high);
        let risk = if high { "high" } else { "low" };
        self.event("session.started", json!({"summary_normal": "Begun."}));
        self.event(
            "awaiting.confirmation",
            json!({"action": "Send it", "consequence": "It is gone", "reply_token": token, "timeout_seconds": 100_000,
                "default_decision": "reject", "risk_level": risk, "irreversible": high, "urgency": "critical"}),
        );
    }

    /// Makes the running agent request a permission, with the question's number.
    fn requests(&mut self) {
        let option = |id: &str, kind: &str| json!({"optionId": id, "name": id, "kind": kind});
        let options = [
            option("once", "allow_once"),
            option("always", "allow_always"),
            option("no", "reject_once"),
        ];
        let (id, call) = (self.asked, format!("c{}", self.asked));
        let call = json!({"toolCallId": call, "kind": "execute", "rawInput": {"command": format!("touch {call}")}});
        self.line(
            json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": call, "options": options}}),
        );
    }

    fn line(&mut self, message: Value) {
        self.link(LinkEvent::Frame(Frame::of(message.to_string())));
    }

    fn input(&mut self, input: Input) {
        let mut facts = vec![input];
        while let Some(fact) = facts.pop() {
            let read = match &fact {
                Input::Stroke(stroke) => Some(stroke.read),
                _ => None,
            };
            for effect in self.app.update(fact, self.now) {
                match effect {
                    Effect::Link {
                        order: LinkOrder::Send { request, body },
                        ..
                    } => {
                        match self.asker {
                            QuestionSource::Producer => self.answered(&body, read),
                            QuestionSource::Agent => facts.extend(self.told(&body, read)),
                        }
                        facts.push(Input::Link {
                            link: LinkId(0),
                            event: LinkEvent::Replied {
                                request,
                                outcome: Ok(hearken::link::Receipt::Taken),
                            },
                        });
                    }
                    Effect::Quit(_)
                    | Effect::Link {
                        order: LinkOrder::Close,
                        ..
                    } => self.over = true,
                    _ => {}
                }
            }
            if facts.is_empty() && self.glass == ScreenBehaviour::Shows && self.app.wants_sight() {
                facts.push(self.frame());
            }
        }
    }

    /// Draws the shown question, and informs the model.
    fn frame(&mut self) -> Input {
        let at = self.now.monotonic;
        let (shown, prompt) = self.app.shown().unwrap();
        let token = match self.asker {
            QuestionSource::Producer => prompt.body.token().unwrap().reveal().to_owned(),
            // It has no token; the client created one, and asks one question at a time.
            QuestionSource::Agent => format!("rpl_{}", self.asked),
        };
        self.model.in_sight(&token, at);
        let showing = match self.app.mode() {
            Mode::Choosing(..) => QuestionVisibility::Choices(shown.question),
            _ => QuestionVisibility::Page(VisiblePage::single_page(shown.question)),
        };
        Input::Drawn { showing, at }
    }

    fn blank(&mut self) {
        self.model.out_of_sight();
        self.input(Input::Drawn {
            showing: QuestionVisibility::Blank,
            at: self.now.monotonic,
        });
    }

    fn answered(&mut self, body: &str, read: Option<Duration>) {
        let body: Value = serde_json::from_str(body).unwrap();
        if body["decision"] == "accept" {
            let token = body["reply_token"].as_str().unwrap();
            let read = read.expect("accepted without a key");
            if let Err(why) = self.model.explain(token, read, self.now) {
                panic!("{token} accepted at {read:?}: {why}\n{}", self.model);
            }
            self.accepted += 1;
        }
        self.model.closed();
    }

    /// Handles what the client sends to the running agent, and returns the agent's reply.
    fn told(&mut self, body: &str, read: Option<Duration>) -> Option<Input> {
        let body: Value = serde_json::from_str(body).unwrap();
        let result = match body["method"].as_str() {
            Some("initialize") => json!({"protocolVersion": 1}),
            Some("session/new") => json!({"sessionId": "s"}),
            Some(other) => panic!("nobody wanted {other}"),
            None => {
                self.decided(&body, read);
                return None;
            }
        };
        let answer = json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
        Some(Input::Link {
            link: LinkId(0),
            event: LinkEvent::Frame(Frame::of(answer.to_string())),
        })
    }

    fn decided(&mut self, body: &Value, read: Option<Duration>) {
        assert_eq!(body["id"], self.asked, "{body}");
        let outcome = &body["result"]["outcome"];
        assert_eq!(outcome["outcome"], "selected", "nobody stopped it: {body}");
        let token = format!("rpl_{}", self.asked);
        let why = match outcome["optionId"].as_str().unwrap() {
            "no" => Ok(()),
            "once" => self
                .model
                .explain(&token, read.expect("allowed without a key"), self.now),
            "always" => self
                .model
                .explain_choice(&token, read.expect("allowed without a key")),
            other => panic!("{other}"),
        };
        if let Err(why) = why {
            panic!("{outcome} at {read:?}: {why}\n{}", self.model);
        }
        if outcome["optionId"] != "no" {
            self.accepted += 1;
        }
        self.model.closed();
    }

    /// Reads bytes now, and lets the loop judge them `late` milliseconds later.
    fn read(&mut self, bytes: &[u8], late: u64) {
        let at = self.now.monotonic;
        self.keys += 1;
        self.model.read(bytes, self.now);
        let strokes = self.reader.bytes(bytes, at);
        self.judge(strokes, late);
    }

    fn judge(&mut self, strokes: Vec<Stroke>, late: u64) {
        if strokes.is_empty() {
            return;
        }
        self.now = self.now.after(ms(late));
        for stroke in strokes {
            self.input(Input::Stroke(stroke));
        }
        self.go_on();
    }

    /// Closes a question that was decided by keys, and asks the next one.
    fn go_on(&mut self) {
        if self.keys > 0 && self.model.is_closed() && !self.over {
            match self.asker {
                QuestionSource::Producer => {
                    self.event("session.completed", json!({"summary_normal": "Done."}))
                }
                QuestionSource::Agent => {
                    let update = json!({"sessionUpdate": "tool_call_update", "status": "completed",
                        "toolCallId": format!("c{}", self.asked)});
                    self.line(json!({"jsonrpc": "2.0", "method": "session/update",
                        "params": {"sessionId": "s", "update": update}}));
                }
            }
            let high = self.asked.is_multiple_of(2);
            self.ask(high);
        }
    }

    /// Lets time pass, deadline by deadline.
    fn wait(&mut self, time: u64) {
        let end = self.now.monotonic + ms(time);
        loop {
            let next = [self.app.deadline(), self.reader.deadline()];
            let Some(at) = next.into_iter().flatten().min().filter(|at| *at <= end) else {
                break;
            };
            let ahead = at.saturating_sub(self.now.monotonic);
            self.now = self.now.after(ahead);
            let strokes = self.reader.expire(self.now.monotonic);
            self.judge(strokes, 0);
            self.input(Input::Deadline);
            self.go_on();
        }
        self.now = self.now.after(end.saturating_sub(self.now.monotonic));
    }

    /// Answers as a person does who was away: leaves everything first, then presses the documented keys.
    fn answer_carefully(&mut self) {
        if self.glass != ScreenBehaviour::Shows {
            self.glass = ScreenBehaviour::Shows;
            self.blank();
        }
        self.wait(1500);
        for bytes in [&b"\x1b[201~"[..], b"\x1b", b"\x1b"] {
            self.read(bytes, 0);
            self.wait(1000);
        }
        let before = self.accepted;
        let high = self.model.is_high();
        self.read(b"y", 0);
        self.wait(1000);
        if high {
            self.read(b"c", 0);
            self.wait(1000);
        }
        assert_eq!(self.accepted, before + 1, "not accepted:\n{}", self.model);
    }
}

/// The input that hands and terminals send.
pub const SENT: [&[u8]; 44] = [
    b"y",
    b"y",
    b"y",
    b"y",
    b"y",
    b"Y",
    b"c",
    b"c",
    b"c",
    b"c",
    b"n",
    b"z",
    b"d",
    b"a",
    b"o",
    b"e",
    b"1",
    b"s",
    b"\r",
    b" ",
    b"\t",
    b"\x1b",
    b"\x7f",
    b"\x1b[A",
    b"\x1bOB",
    b"\x1b[15~",
    b"\x1by",
    b"?",
    b"/",
    b"q",
    b"\x1b[121;1:3u",
    b"\x1b[99;1:3u",
    b"\x1b[121;1:2u",
    b"\x1b[I",
    b"\x1b[O",
    b"\x1b[1;",
    b"\x1b[99z",
    b"\xff",
    b"\xc3",
    b"\x1b[",
    b"\x1b[M",
    b"\x1b]0;y",
    b"\x1b[200~y\nc\x1b[201~",
    b"\x1b[200~y",
];

/// The delays around every rule, and a long one.
const GAPS: [u64; 20] = [
    0, 1, 20, 24, 25, 60, 99, 100, 149, 150, 200, 399, 400, 401, 699, 700, 999, 1000, 1500, 61_000,
];

#[test]
fn every_acceptance_among_random_hands_is_explained() {
    among_hands(QuestionSource::Producer, as_many(KEYS));
}

#[test]
fn no_permission_of_an_agent_that_is_run_is_given_but_by_the_documented_keys() {
    among_hands(QuestionSource::Agent, as_many(PERMISSIONS));
}

fn among_hands(asker: QuestionSource, wanted: usize) {
    let seed = std::env::var("HEARKEN_FUZZ_SEED").map_or(2026, |seed| seed.parse().unwrap());
    let mut dice = HandsDice(seed);
    let phrases = Arc::new(Phrases::english().unwrap());
    let mut rig = HandsRig::new(asker, &phrases, 0);
    let (mut keys, mut accepted) = (0, 0);
    while keys < wanted {
        if rig.over || rig.keys > 5000 {
            keys += rig.keys;
            accepted += rig.accepted;
            rig = HandsRig::new(asker, &phrases, rig.asked);
        }
        if dice.one_in(40) {
            rig.answer_carefully();
            continue;
        }
        match dice.below(60) {
            0 => {
                rig.glass = ScreenBehaviour::Sizeless;
                rig.blank();
            }
            1 => rig.glass = ScreenBehaviour::Stopped,
            2..=6 => {
                let was = std::mem::replace(&mut rig.glass, ScreenBehaviour::Shows);
                if was != ScreenBehaviour::Stopped {
                    // A different size.
                    rig.blank();
                }
                rig.input(Input::Deadline);
            }
            // The machine sleeps, and one of its clocks with it; or the program is stopped.
            7 => {
                let asleep =
                    jiff::SignedDuration::from_secs(i64::try_from(dice.below(90)).unwrap());
                rig.now.wall = rig.now.wall.checked_add(asleep).unwrap();
            }
            8 => rig.now = rig.now.after(ms(dice.below(90_000))),
            _ => {
                let mut bytes = dice.pick(&SENT).to_vec();
                while dice.one_in(5) {
                    bytes.extend(dice.pick(&SENT));
                }
                let late = if dice.one_in(4) { dice.below(300) } else { 0 };
                if dice.one_in(6) && bytes.len() > 1 {
                    let rest = bytes.split_off(
                        1 + usize::try_from(dice.below(bytes.len() as u64 - 1)).unwrap(),
                    );
                    rig.read(&bytes, late);
                    rig.wait(dice.below(110));
                    rig.read(&rest, 0);
                } else {
                    rig.read(&bytes, late);
                }
            }
        }
        if !rig.over {
            let gap = dice.pick(&GAPS);
            // Mostly at the speed of human typing.
            let gap = if dice.one_in(2) { gap } else { gap + 450 };
            rig.wait(gap);
        }
    }
    eprintln!("{asker:?}: {keys} reads, {accepted} acceptances, all explained");
    assert!(
        accepted >= wanted / 50,
        "only {accepted} acceptances in {keys}"
    );
}

#[test]
fn the_model_does_not_explain_everything() {
    let now = |at: u64| Now {
        monotonic: ms(at),
        wall: jiff::Timestamp::UNIX_EPOCH.checked_add(ms(at)).unwrap(),
    };
    let explains = |high, steps: &[ByteReads]| {
        let mut model = Model::default();
        model.asked("t", high);
        model.in_sight("t", ms(1000));
        let mut last = 0;
        for (at, bytes) in steps {
            model.read(bytes, now(*at));
            last = *at;
        }
        model.explain("t", ms(last), now(last)).is_ok()
    };
    assert!(explains(false, &[(1400, b"y")]));
    assert!(explains(true, &[(1400, b"y"), (1550, b"c")]));
    assert!(explains(
        true,
        &[(1400, b"y"), (1900, b"y"), (1930, b"\x1b[O"), (2000, b"c")]
    ));
    for (high, steps) in [
        (false, &[(1399, &b"y"[..])][..]),
        (false, &[(1400, b"n")]),
        (false, &[(1100, b"\xff"), (1499, b"y")]),
        (false, &[(1500, b"zy")]),
        (false, &[(1000, b"y"), (1660, b"y")]),
        (false, &[(1400, b"\x1b[200~"), (2000, b"y")]),
        (false, &[(1400, b"\x1b[200~"), (5000, b"y")]),
        (true, &[(1400, b"y")]),
        (true, &[(1400, b"y"), (1500, b"c")]),
        (true, &[(1400, b"y"), (1600, b"z"), (2000, b"c")]),
        (true, &[(1400, b"y"), (1600, b"\x1b[1;"), (2000, b"c")]),
        (true, &[(1400, b"y"), (1600, b"\x1b[I"), (2000, b"c")]),
        (true, &[(1400, b"y"), (61_800, b"c")]),
        (true, &[(1200, b"y"), (2000, b"c")]),
    ] {
        assert!(!explains(high, steps), "{steps:?}");
    }
}
