use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use hearken_wording::{Transcript, phrase};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::announce::{
    Announcement, AnswerMethod, Beat, Phrases, Presentation, Sound, UtteranceId,
};
use crate::config::{Config, Delivery};
use crate::keys::{Mode, Stroke};
use crate::link::{DeliveryFailure, Fault, Frame, LinkEvent, Receipt};
use crate::protocol::{Answer, Decision, KeyRing};
use crate::runs;
use crate::session::QuestionId;

mod agent_turns;
mod alarms;
mod announcement_facts;
mod answer_fates;
mod answers_file;
mod arming;
mod bounds;
mod call_failures;
mod change_paging;
mod changed_languages;
mod choice_selection;
mod connections;
mod conversation_list;
mod foreign_sources;
mod further_decisions;
mod held_announcements;
mod kept_prompts;
mod load;
mod long_questions;
mod many_agents;
mod missed;
mod names;
mod newcomer;
mod offered_commands;
mod own_settings;
mod parts;
mod plain;
mod pointer_targets;
mod policy;
mod programs;
mod prompted_agents;
mod quit;
mod replies;
mod reviewing;
mod scanning;
mod sequences;
mod silence;
mod slow_starts;
mod stop_steps;
mod stuck_work;
mod text_reading;
mod timers;
mod token_answers;
mod typed_words;
mod typing;
mod unsettled_answers;
mod verbosity;
mod voice;

/// Drives an [`App`] on its own clock and keeps its output.
struct Stage {
    app: App,
    now: Now,
    count: u64,
    lines: Vec<String>,
    /// The lines that are read in chronological order.
    read: Vec<String>,
    sent: Vec<(u64, Value)>,
    /// The sent messages, by source.
    frames: Vec<(LinkId, Value)>,
    sounds: Vec<Sound>,
    remembered: Vec<Delivery>,
    spoken: Vec<(UtteranceId, String)>,
    quit: Option<Exit>,
    bells: usize,
    copied: Vec<String>,
    edits: Vec<String>,
    calls: Vec<(u64, crate::link::HttpCall)>,
    followed: Vec<crate::link::Stream>,
    notices: Vec<Notice>,
    withdrawn: Vec<Noticed>,
    farewells: Vec<String>,
    /// Whether the output is blocked, so that nothing is written.
    blocked: bool,
}

struct Options {
    manner: AnswerMethod,
    lines: Option<LineSource>,
    voice: SpeechMode,
    until: EndCondition,
}

const KEYS: Options = Options {
    manner: AnswerMethod::Keys,
    lines: None,
    voice: SpeechMode::Silent,
    until: EndCondition::Asked,
};
const PIPE: Options = Options {
    manner: AnswerMethod::Lines,
    lines: Some(LineSource::Pipe),
    voice: SpeechMode::Silent,
    until: EndCondition::NoSource,
};

/// Returns the English phrases, which are read only once: tens of thousands of stages are created.
fn english() -> Arc<Phrases> {
    static ENGLISH: std::sync::OnceLock<Arc<Phrases>> = std::sync::OnceLock::new();
    Arc::clone(ENGLISH.get_or_init(|| Arc::new(Phrases::english().unwrap())))
}

impl Transcript for Stage {
    fn lines(&self) -> Vec<&str> {
        self.lines.iter().map(String::as_str).collect()
    }
}

impl Stage {
    fn new(options: Options) -> Self {
        let mut stage = Self::with(options, Config::default());
        stage.lines.clear();
        stage
    }

    /// Creates a stage with two answerable sources, the first one connected for two seconds, under these settings.
    fn with(options: Options, config: Config) -> Self {
        Self::knowing(KeyRing::default(), options, config)
    }

    fn knowing(keys: KeyRing, options: Options, config: Config) -> Self {
        let source = |name: &str| SourceSetup {
            name: name.into(),
            answerable: true,
            recording: None,
            ..SourceSetup::default()
        };
        let sources = vec![source("one"), source("two")];
        let mut stage = Self::holding(keys, config, options, sources);
        stage.link(0, LinkEvent::Connected);
        stage.wait(2000);
        stage
    }

    fn of(options: Options, sources: Vec<SourceSetup>) -> Self {
        Self::under(Config::default(), options, sources)
    }

    fn under(config: Config, options: Options, sources: Vec<SourceSetup>) -> Self {
        Self::holding(KeyRing::default(), config, options, sources)
    }

    fn holding(keys: KeyRing, config: Config, options: Options, sources: Vec<SourceSetup>) -> Self {
        Self::worded(english(), keys, config, options, sources)
    }

    /// Creates a stage with one answerable source, in a given language.
    fn speaking(language: &str, options: Options, config: Config) -> Self {
        let phrases = Arc::new(Phrases::for_languages(&[language.to_owned()]).unwrap());
        let source = SourceSetup {
            name: "one".into(),
            answerable: true,
            ..SourceSetup::default()
        };
        let mut stage = Self::worded(phrases, KeyRing::default(), config, options, vec![source]);
        stage.link(0, LinkEvent::Connected);
        stage.wait(2000);
        stage
    }

    fn worded(
        phrases: Arc<Phrases>,
        keys: KeyRing,
        config: Config,
        options: Options,
        sources: Vec<SourceSetup>,
    ) -> Self {
        let app = App::new(Setup {
            config,
            phrases,
            manner: options.manner,
            copies: true,
            keymap: Default::default(),
            scan: None,
            lines: options.lines,
            face: ("start.face.linear", "start.why.asked"),
            voice: options.voice,
            until: options.until,
            keys,
            seed: 7,
            is_recorded: true,
            sources,
        });
        let now = Now {
            monotonic: Duration::from_secs(1),
            wall: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        let mut stage = Self {
            app,
            now,
            count: 0,
            lines: vec![],
            read: vec![],
            sent: vec![],
            frames: vec![],
            spoken: vec![],
            sounds: vec![],
            remembered: vec![],
            quit: None,
            bells: 0,
            copied: vec![],
            edits: vec![],
            calls: vec![],
            followed: vec![],
            notices: vec![],
            withdrawn: vec![],
            farewells: vec![],
            blocked: false,
        };
        stage.input(Input::Start);
        stage
    }

    /// Feeds a fact, and then the face's report that the lines, or a frame with the question, were written.
    fn input(&mut self, input: Input) {
        let at = self.now.monotonic;
        let mut facts = VecDeque::from([input]);
        while let Some(fact) = facts.pop_front() {
            let told = self.feed(fact);
            if self.blocked {
                continue;
            }
            facts.extend(told.into_iter().map(|told| Input::Written {
                announcement: told,
                at,
            }));
            if facts.is_empty()
                && self.app.cx.face.manner() == AnswerMethod::Keys
                && self.app.wants_sight()
                && let Some((shown, question)) = self.app.shown()
            {
                let showing = match self.app.mode() {
                    Mode::Choosing(..) => QuestionVisibility::Choices(shown.question),
                    _ => QuestionVisibility::Page(VisiblePage {
                        question: shown.question,
                        page: 0,
                        pages: 1 + usize::from(question.is_cut()),
                        cut: 0,
                        change: Some(VisibleChange::WHOLE),
                    }),
                };
                facts.push_back(Input::Drawn { showing, at });
            }
        }
        self.draw_change(at);
    }

    /// Feeds a fact, and returns the announcements to write.
    fn feed(&mut self, input: Input) -> Vec<Arc<Announcement>> {
        let mut shown = Vec::new();
        for effect in self.app.update(input, self.now) {
            match effect {
                Effect::Show(told) => {
                    self.lines.push(told.text());
                    if !matches!(told.aloud, Presentation::Seen | Presentation::Echo) {
                        self.read.push(told.text());
                    }
                    shown.push(told);
                }
                Effect::Link {
                    link,
                    order: LinkOrder::Send { request, body },
                } => {
                    let body: Value = serde_json::from_str(&body).unwrap();
                    self.frames.push((link, body.clone()));
                    self.sent.push((request, body));
                }
                Effect::Speak(utterance) => {
                    self.sounds.push(utterance.sound);
                    self.spoken.push((utterance.id, utterance.text));
                }
                Effect::Remember(delivery) => self.remembered.push(delivery),
                Effect::Quit(exit) => self.quit = Some(exit),
                Effect::Bell => self.bells += 1,
                Effect::Copy(address) => self.copied.push(address),
                Effect::Edit { text, .. } => self.edits.push(text),
                Effect::Notify(notice) => self.notices.push(notice),
                Effect::Withdraw(about) => self.withdrawn.push(about),
                Effect::Farewell(words) => self.farewells.push(words),
                Effect::Link {
                    order: LinkOrder::Call { request, call },
                    ..
                } => self.calls.push((request, call)),
                Effect::Link {
                    order: LinkOrder::Follow(stream),
                    ..
                } => self.followed.push(stream),
                Effect::Hush
                | Effect::Keep { .. }
                | Effect::Link { .. }
                | Effect::Title(_)
                | Effect::FlushInput => {}
            }
        }
        shown
    }

    fn wait(&mut self, ms: u64) {
        let end = self.now.monotonic + Duration::from_millis(ms);
        let mut rounds = 0;
        while let Some(deadline) = self.app.deadline().filter(|deadline| *deadline <= end) {
            let ahead = deadline.saturating_sub(self.now.monotonic);
            self.now = self.now.after(ahead);
            let due = timers::due(self);
            self.input(Input::Deadline);
            timers::all_fired(self, &due);
            rounds += 1;
            assert!(rounds < 10_000, "a deadline that never passes");
        }
        self.now = self.now.after(end.saturating_sub(self.now.monotonic));
    }

    fn link(&mut self, link: usize, event: LinkEvent) {
        self.input(Input::Link {
            link: LinkId(link),
            event,
        });
    }

    fn event(&mut self, kind: &str, fields: Value) {
        self.event_on(0, kind, fields);
    }

    fn event_on(&mut self, link: usize, kind: &str, fields: Value) {
        self.count += 1;
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1",
            "type": format!("aaep:agent.{kind}"),
            "event_id": format!("evt_{}", self.count),
            "session_id": "sess_1",
            "timestamp": format!("{:.3}", self.now.wall),
            "producer": {"agent_id": "a", "agent_name": "Mailer"},
        });
        for (key, value) in fields.as_object().unwrap() {
            event[key] = value.clone();
        }
        self.link(link, LinkEvent::Frame(Frame::of(event.to_string())));
    }

    fn ask(&mut self, token: &str) {
        self.ask_with(token, json!({}));
    }

    fn ask_with(&mut self, token: &str, more: Value) {
        let mut fields = json!({
            "action": format!("Send {token}"), "consequence": "It is gone", "reply_token": token, "timeout_seconds": 300,
            "default_decision": "reject", "risk_level": "low", "irreversible": false, "urgency": "critical",
        });
        for (key, value) in more.as_object().unwrap() {
            fields[key] = value.clone();
        }
        self.event("awaiting.confirmation", fields);
    }

    fn press(&mut self, c: char) {
        self.code(KeyCode::Char(c));
    }

    fn code(&mut self, code: KeyCode) {
        self.key(KeyEvent::new(code, KeyModifiers::NONE));
    }

    fn key(&mut self, key: KeyEvent) {
        self.strike(TerminalInput::Key(key));
    }

    /// Draws a page of the shown question.
    fn see(&mut self, page: usize, pages: usize) {
        let question = self.app.shown().unwrap().0.question;
        self.draw(QuestionVisibility::Page(VisiblePage {
            question,
            page,
            pages,
            cut: 0,
            change: Some(VisibleChange::WHOLE),
        }));
    }

    fn draw(&mut self, showing: QuestionVisibility) {
        let at = self.now.monotonic;
        self.input(Input::Drawn { showing, at });
    }

    fn paste(&mut self, text: &str) {
        self.strike(TerminalInput::Paste(text.to_owned()));
    }

    fn strike(&mut self, what: TerminalInput) {
        let read = self.now.monotonic;
        self.input(Input::Stroke(Stroke { input: what, read }));
    }

    fn type_line(&mut self, text: &str) {
        let read = self.now.monotonic;
        self.input(Input::Line {
            text: text.into(),
            read,
        });
    }

    fn decision(&self) -> Option<&str> {
        self.sent
            .last()
            .and_then(|(_, body)| body["decision"].as_str())
    }
}

#[test]
fn a_question_is_asked_in_full_and_answered_by_a_key() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    let asked = stage
        .lines
        .iter()
        .find(|line| line.starts_with("Question 1"))
        .unwrap();
    for part in [
        "Send rpl_1",
        "If accepted: It is gone",
        "Low risk",
        "Silence rejects in 5 minutes",
        "y accepts",
    ] {
        assert!(
            asked.to_lowercase().contains(&part.to_lowercase()),
            "{part} in {asked}"
        );
    }
    assert_eq!(stage.bells, 1);
    stage.wait(400);
    stage.press('y');
    let (request, body) = stage.sent[0].clone();
    assert_eq!(body["reply_token"], "rpl_1");
    assert_eq!(body["decision"], "accept");
    assert_eq!(body["decided_by"], "user:local");
    assert!(
        body["subscription_id"]
            .as_str()
            .unwrap()
            .starts_with("sub_")
    );
    stage.assert_heard(phrase!("reply.accepting.short"));
    stage.link(
        0,
        LinkEvent::Replied {
            request,
            outcome: Ok(Receipt::Taken),
        },
    );
    stage.assert_heard("Sent.");
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    stage.assert_heard(phrase!("question.closed.answered", answer = "accept"));
    stage.press('y');
    assert_eq!(stage.sent.len(), 1, "a token is answered once");
    stage.assert_heard("Your answer was: accept. Nothing more was sent.");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(runs(2000)))]
    /// Whatever is pressed: an accept is sent only after the documented keys, at most once, and with the right token;
    /// and the documented keys accept afterwards, exactly once.
    #[test]
    fn random_keys_never_accept_by_accident(
        before in prop::collection::vec(("[a-wyz0-9?]", 0u64..700), 0..8),
        after in prop::collection::vec(("[a-bd-mo-wyz0-9?]", 0u64..700), 0..8),
    ) {
        let mut stage = Stage::new(KEYS);
        for (key, gap) in &before {
            stage.press(key.chars().next().unwrap());
            stage.wait(*gap);
        }
        if stage.quit.is_some() {
            return Ok(());
        }
        stage.code(KeyCode::Esc);
        stage.ask_with("rpl_1", json!({"risk_level": "high", "irreversible": true}));
        for (key, gap) in &after {
            stage.wait(*gap);
            stage.press(key.chars().next().unwrap());
        }
        prop_assert!(stage.sent.is_empty());
        prop_assume!(stage.quit.is_none());
        stage.wait(500);
        stage.code(KeyCode::Esc);
        stage.wait(500);
        stage.press('y');
        stage.wait(500);
        stage.press('c');
        prop_assert_eq!(stage.sent.len(), 1);
        prop_assert_eq!(&stage.sent[0].1["decision"], "accept");
        prop_assert_eq!(&stage.sent[0].1["reply_token"], "rpl_1");
        stage.wait(500);
        stage.press('y');
        stage.wait(500);
        stage.press('c');
        prop_assert_eq!(stage.sent.len(), 1);
    }
}

impl Stage {
    fn voiced(&mut self) {
        self.input(Input::Voice(VoiceEvent::Ready {
            engine: "memory".into(),
        }));
        self.speak_all();
        self.spoken.clear();
    }

    fn said(&self) -> Vec<&str> {
        self.spoken.iter().map(|(_, text)| text.as_str()).collect()
    }

    fn chunk(&mut self, text: &str) {
        self.event(
            "output.streaming",
            json!({"chunk": text, "complete": false, "output_id": "out_1", "coalesce_hint": "sentence"}),
        );
    }
}

const VOICE: Options = Options {
    voice: SpeechMode::Speak,
    ..KEYS
};
