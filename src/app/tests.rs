#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::announce::{Beat, Phrases, Sound, UtteranceId};
use crate::protocol::Answer;
use crate::protocol::{Decision, KeyRing};
use crate::transport::{Fault, Frame};

mod alarms;
mod choosing;
mod decisions;
mod holding;
mod load;
mod newcomer;
mod policy;
mod programs;
mod scanning;
mod sequences;
mod typing;
mod voice;

/// Drives an [`App`] on a clock of its own and keeps what came out.
struct Stage {
    app: App,
    now: Now,
    count: u64,
    lines: Vec<String>,
    sent: Vec<(u64, Value)>,
    sounds: Vec<Sound>,
    remembered: Vec<Delivery>,
    spoken: Vec<(UtteranceId, String)>,
    quit: Option<Exit>,
    bells: usize,
    notices: Vec<Notice>,
    withdrawn: Vec<PromptId>,
    farewells: Vec<String>,
    reading: Option<bool>,
}

struct Options {
    manner: Manner,
    lines: Option<LineSource>,
    voice: VoiceWish,
    until: Until,
}

const KEYS: Options = Options {
    manner: Manner::Keys,
    lines: None,
    voice: VoiceWish::Silent,
    until: Until::Asked,
};
const PIPE: Options = Options {
    manner: Manner::Lines,
    lines: Some(LineSource::Pipe),
    voice: VoiceWish::Silent,
    until: Until::NoSource,
};

/// Gives the words, which are read once: tens of thousands of stages are made.
fn english() -> Arc<Phrases> {
    static ENGLISH: std::sync::OnceLock<Arc<Phrases>> = std::sync::OnceLock::new();
    Arc::clone(ENGLISH.get_or_init(|| Arc::new(Phrases::english().unwrap())))
}

impl Stage {
    fn new(options: Options) -> Self {
        let mut stage = Self::with(options, Config::default());
        stage.lines.clear();
        stage
    }

    /// Two answerable sources, the first one connected for two seconds, under certain settings.
    fn with(options: Options, config: Config) -> Self {
        let source = |name: &str| SourceSetup {
            name: name.into(),
            answerable: true,
            door: Door::Open,
            recording: None,
            ..SourceSetup::default()
        };
        let mut stage = Self::under(config, options, vec![source("one"), source("two")]);
        stage.link(0, LinkEvent::Connected);
        stage.wait(2000);
        stage
    }

    fn of(options: Options, sources: Vec<SourceSetup>) -> Self {
        Self::under(Config::default(), options, sources)
    }

    fn under(config: Config, options: Options, sources: Vec<SourceSetup>) -> Self {
        let app = App::new(Setup {
            config,
            phrases: english(),
            manner: options.manner,
            keymap: Default::default(),
            scan: None,
            lines: options.lines,
            face: ("start.face.linear", "start.why.asked"),
            voice: options.voice,
            until: options.until,
            keys: KeyRing::default(),
            seed: 7,
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
            sent: vec![],
            spoken: vec![],
            sounds: vec![],
            remembered: vec![],
            quit: None,
            bells: 0,
            notices: vec![],
            withdrawn: vec![],
            farewells: vec![],
            reading: None,
        };
        stage.input(Input::Start);
        stage
    }

    fn input(&mut self, input: Input) {
        for effect in self.app.update(input, self.now) {
            match effect {
                Effect::Show(told) => self.lines.push(told.text()),
                Effect::Send { request, body, .. } => self
                    .sent
                    .push((request, serde_json::from_str(&body).unwrap())),
                Effect::Speak(utterance) => {
                    self.sounds.push(utterance.sound);
                    self.spoken.push((utterance.id, utterance.text));
                }
                Effect::Remember(delivery) => self.remembered.push(delivery),
                Effect::Quit(exit) => self.quit = Some(exit),
                Effect::Bell => self.bells += 1,
                Effect::Notify(notice) => self.notices.push(notice),
                Effect::Withdraw(prompt) => self.withdrawn.push(prompt),
                Effect::Farewell(words) => self.farewells.push(words),
                Effect::Reading { on, .. } => self.reading = Some(on),
                Effect::Hush
                | Effect::Ask { .. }
                | Effect::Follow { .. }
                | Effect::LastWords { .. }
                | Effect::Close(_)
                | Effect::Title(_)
                | Effect::FlushInput => {}
            }
        }
    }

    /// Lets time pass, deadline by deadline.
    fn wait(&mut self, ms: u64) {
        let end = self.now.monotonic + Duration::from_millis(ms);
        let mut rounds = 0;
        while let Some(deadline) = self.app.deadline().filter(|deadline| *deadline <= end) {
            let ahead = deadline.saturating_sub(self.now.monotonic);
            self.now = self.now.after(ahead);
            self.input(Input::Deadline);
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
        self.link(
            link,
            LinkEvent::Frame(Frame {
                text: event.to_string(),
            }),
        );
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
        self.input(Input::Key(KeyEvent::new(
            KeyCode::Char(c),
            KeyModifiers::NONE,
        )));
    }

    fn code(&mut self, code: KeyCode) {
        self.input(Input::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn type_line(&mut self, text: &str) {
        let read = self.now.monotonic;
        self.input(Input::Line {
            text: text.into(),
            read,
        });
    }

    fn heard(&self, words: &str) -> bool {
        self.lines.iter().any(|line| line.contains(words))
    }

    fn decision(&self) -> Option<&str> {
        self.sent
            .last()
            .and_then(|(_, body)| body["decision"].as_str())
    }

    /// Says what is in the engine to its end, as long as there is something.
    fn speak_all(&mut self) {
        let mut at = 0;
        while at < self.spoken.len() {
            let id = self.spoken[at].0;
            self.input(Input::Voice(VoiceEvent::Ended(id)));
            at += 1;
        }
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
        "Within",
        "rejected",
        "Press y",
    ] {
        assert!(
            asked
                .to_lowercase()
                .contains(&part.to_lowercase().replace("within", "within 5 minutes")),
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
    assert!(stage.heard("Accepting question 1"));
    stage.link(
        0,
        LinkEvent::Replied {
            request,
            outcome: Ok(()),
        },
    );
    assert!(stage.heard("Answer to question 1 sent"));
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    assert!(stage.heard("settled. Your answer was: accept"));
    stage.press('y');
    assert_eq!(stage.sent.len(), 1, "a token is answered once");
    assert!(stage.heard("No question is open"));
}

#[test]
fn an_early_key_is_swallowed_and_told() {
    let mut stage = Stage::new(KEYS);
    stage.press('y');
    assert!(stage.heard("No question is open"));
    stage.wait(100);
    stage.ask("rpl_1");
    stage.wait(399);
    stage.press('y');
    assert!(stage.sent.is_empty());
    assert!(stage.heard("Not yet"));
    stage.wait(399);
    stage.press('y');
    assert!(stage.sent.is_empty(), "each key starts the wait again");
    stage.wait(400);
    stage.press('y');
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn a_key_of_any_kind_starts_the_wait_again() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.wait(390);
    stage.code(KeyCode::F(5));
    stage.wait(390);
    stage.press('y');
    assert!(stage.sent.is_empty());
}

#[test]
fn high_risk_takes_two_steps_and_any_other_key_leaves_it_open() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with("rpl_1", json!({"risk_level": "high", "irreversible": true}));
    stage.wait(500);
    stage.press('c');
    assert!(stage.sent.is_empty());
    stage.wait(500);
    stage.press('y');
    assert!(stage.sent.is_empty());
    assert!(stage.heard("This needs a second step"));
    stage.wait(500);
    stage.press('z');
    assert!(stage.heard("Not confirmed. Question 1 is still open"));
    stage.wait(500);
    stage.press('c');
    assert!(stage.sent.is_empty(), "the first step was undone");
    stage.wait(500);
    stage.press('y');
    stage.wait(500);
    stage.press('c');
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn the_two_steps_in_one_burst_are_no_decision() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with("rpl_1", json!({"risk_level": "high"}));
    stage.wait(500);
    stage.press('y');
    stage.wait(20);
    stage.press('c');
    assert!(stage.sent.is_empty());
}

#[test]
fn a_reject_in_the_middle_of_two_steps_rejects() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with("rpl_1", json!({"risk_level": "high"}));
    stage.wait(500);
    stage.press('y');
    stage.wait(500);
    stage.press('n');
    assert_eq!(stage.decision(), Some("reject"));
}

#[test]
fn with_a_voice_the_question_must_be_heard_or_skipped() {
    let mut stage = Stage::new(Options {
        voice: VoiceWish::Speak,
        ..KEYS
    });
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "test".into(),
    }));
    stage.speak_all();
    stage.ask("rpl_1");
    stage.wait(500);
    stage.press('y');
    assert!(stage.sent.is_empty());
    assert!(stage.heard("not said to its end"));
    stage.wait(500);
    stage.press('s');
    stage.wait(500);
    stage.press('y');
    assert_eq!(stage.decision(), Some("accept"), "skipping counts as heard");

    let mut stage = Stage::new(Options {
        voice: VoiceWish::Speak,
        ..KEYS
    });
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "test".into(),
    }));
    stage.speak_all();
    stage.ask("rpl_1");
    stage.speak_all();
    stage.wait(500);
    stage.press('y');
    assert_eq!(stage.decision(), Some("accept"), "heard");

    let mut stage = Stage::new(Options {
        voice: VoiceWish::Speak,
        ..KEYS
    });
    stage.ask("rpl_1");
    stage.wait(19_900);
    stage.press('n');
    assert!(stage.sent.is_empty());
    stage.wait(500);
    stage.press('n');
    assert_eq!(stage.decision(), Some("reject"), "20 seconds passed");
}

#[test]
fn a_change_of_the_shown_question_arms_again() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.wait(100);
    stage.ask("rpl_2");
    stage.wait(5000);
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    assert!(stage.sent.is_empty());
    stage.press('n');
    assert_eq!(stage.sent.last().unwrap().1["reply_token"], "rpl_1");
    stage.press('n');
    assert_eq!(stage.sent.len(), 1, "question 2 is shown only now");
    assert!(stage.heard("Not yet"));
    stage.wait(400);
    stage.press('n');
    assert_eq!(stage.sent.last().unwrap().1["reply_token"], "rpl_2");
}

#[test]
fn pasted_text_and_held_keys_never_answer() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.wait(1000);
    stage.input(Input::Paste("y\ny\nn".into()));
    for _ in 0..50 {
        stage.wait(30);
        let mut key = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE);
        key.kind = crossterm::event::KeyEventKind::Repeat;
        stage.input(Input::Key(key));
    }
    assert!(stage.sent.is_empty());
}

#[test]
fn lines_answer_with_a_number_and_bare_only_when_it_is_clear() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(1);
    stage.ask("rpl_2");
    stage.wait(5000);
    stage.type_line("y");
    assert!(stage.sent.is_empty());
    assert!(stage.heard("2 questions are open"));
    stage.type_line("n 2");
    assert_eq!(stage.sent.last().unwrap().1["reply_token"], "rpl_2");
    stage.wait(100);
    stage.type_line("y");
    assert_eq!(stage.sent.len(), 1, "changed just now");
    stage.wait(2000);
    stage.type_line("y");
    assert_eq!(stage.sent.last().unwrap().1["reply_token"], "rpl_1");
}

#[test]
fn a_line_read_before_the_question_was_written_does_not_count() {
    let mut stage = Stage::new(PIPE);
    let early = stage.now.monotonic;
    stage.ask("rpl_1");
    stage.input(Input::Line {
        text: "y 1".into(),
        read: early,
    });
    assert!(stage.sent.is_empty());
    assert!(stage.heard("typed before question 1 was shown"));
    stage.wait(1);
    stage.type_line("y 1");
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn on_a_terminal_a_line_counts_when_it_was_begun_later() {
    let mut stage = Stage::new(Options {
        lines: Some(LineSource::Terminal),
        ..PIPE
    });
    stage.ask("rpl_1");
    stage.wait(399);
    stage.type_line("y 1");
    assert!(stage.sent.is_empty());
    stage.wait(2);
    stage.type_line("y 1");
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn a_failed_answer_is_sent_again_with_its_timestamp_and_told_once() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("y 1");
    let first = stage.sent[0].1.clone();
    for attempt in 0..3 {
        let request = stage.sent[attempt].0;
        stage.link(
            0,
            LinkEvent::Replied {
                request,
                outcome: Err(Fault::TimedOut),
            },
        );
        stage.wait(10_000);
        assert_eq!(stage.sent.len(), attempt + 2);
    }
    assert_eq!(stage.sent[3].1, first, "the same message");
    assert_eq!(
        stage
            .lines
            .iter()
            .filter(|line| line.contains("could not be sent"))
            .count(),
        1
    );
    let request = stage.sent[3].0;
    stage.link(
        0,
        LinkEvent::Replied {
            request,
            outcome: Ok(()),
        },
    );
    stage.wait(60_000);
    assert_eq!(stage.sent.len(), 4);
}

#[test]
fn an_answer_that_can_never_be_sent_leaves_the_question_open() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("n 1");
    let request = stage.sent[0].0;
    let fault = Fault::Status {
        status: 400,
        retry_after: None,
    };
    stage.link(
        0,
        LinkEvent::Replied {
            request,
            outcome: Err(fault),
        },
    );
    assert!(stage.heard("The question is still open"));
    stage.wait(3000);
    stage.type_line("n 1");
    assert_eq!(stage.sent.len(), 2);
}

#[test]
fn a_lost_link_is_told_once_with_the_fate_of_its_questions() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    for _ in 0..3 {
        stage.link(
            0,
            LinkEvent::Lost {
                fault: Fault::Closed,
                retry_in: Duration::from_secs(1),
            },
        );
        stage.link(0, LinkEvent::Connecting { attempt: 1 });
        stage.wait(1000);
    }
    assert_eq!(
        stage
            .lines
            .iter()
            .filter(|line| line.contains("is lost"))
            .count(),
        1
    );
    assert_eq!(
        stage
            .lines
            .iter()
            .filter(|line| line.contains("perhaps already decided"))
            .count(),
        1
    );
    stage.type_line("y 1");
    assert!(stage.sent.is_empty());
    assert!(stage.heard("can't be answered: its connection was lost"));
    stage.link(0, LinkEvent::Connected);
    stage.wait(1000);
    assert_eq!(
        stage
            .lines
            .iter()
            .filter(|line| line.contains("is back"))
            .count(),
        1
    );
    stage.type_line("y 1");
    assert!(
        stage.sent.is_empty(),
        "not to a server that may never have asked"
    );
    stage.event(
        "session.started",
        json!({"session_id": "sess_2", "summary_normal": "s"}),
    );
    stage.ask_with("rpl_2", json!({"session_id": "sess_2"}));
    stage.wait(3000);
    stage.type_line("y");
    assert_eq!(stage.sent.last().unwrap().1["reply_token"], "rpl_2");
}

#[test]
fn quitting_with_an_open_question_names_its_default_and_asks_once() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.wait(500);
    stage.press('q');
    assert_eq!(stage.quit, None);
    assert!(stage.heard("Question 1 will be rejected when its time is over"));
    stage.press('j');
    assert!(stage.heard("Staying"));
    stage.press('q');
    stage.press('q');
    assert_eq!(stage.quit, Some(Exit::Clean));
    let mut stage = Stage::new(KEYS);
    stage.press('q');
    assert_eq!(stage.quit, Some(Exit::Clean), "nothing to ask");
}

#[test]
fn leaving_a_source_names_defaults_and_closes_only_that() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("x");
    assert!(stage.heard("still open at one"));
    stage.type_line("x");
    assert!(stage.heard("Left one"));
    stage.event_on(0, "session.completed", json!({"summary_normal": "late"}));
    assert!(!stage.heard("late"));
    stage.event_on(1, "session.started", json!({"summary_normal": "other"}));
    assert!(stage.heard("other"));
}

#[test]
fn clarifications_take_their_kinds() {
    let ask = |stage: &mut Stage, kinds: Value| {
        stage.event("awaiting.clarification", json!({
            "question": "Which age?", "reply_token": format!("rpl_{}", stage.count), "timeout_seconds": 300, "urgency": "critical",
            "accepted_response_kinds": kinds, "choices": [{"value": "60", "label": "Age 60"}, {"value": "65", "label": "Age 65"}],
        }));
        stage.wait(3000);
    };
    for (kinds, line, wanted) in [
        (json!(["multiple_choice"]), "o 2", json!("65")),
        (json!(["multiple_choice"]), "a age 60", json!("60")),
        (json!(["numeric"]), "a 62.5", json!(62.5)),
        (json!(["yes_no"]), "y 1", json!(true)),
        (json!(["yes_no"]), "n 1", json!(false)),
        (json!(["freetext"]), "a when I like", json!("when I like")),
        (json!(["multiple_choice", "numeric"]), "a 63", json!(63)),
    ] {
        let mut stage = Stage::new(PIPE);
        ask(&mut stage, kinds.clone());
        stage.type_line(line);
        assert_eq!(
            stage.sent.last().map(|(_, body)| body["response"].clone()),
            Some(wanted),
            "{kinds} {line}"
        );
    }
    for (kinds, line, words) in [
        (json!(["multiple_choice"]), "o 3", "from 1 to 2"),
        (json!(["numeric"]), "a soon", "is not a number"),
        (json!(["multiple_choice"]), "y 1", "the number of a choice"),
    ] {
        let mut stage = Stage::new(PIPE);
        ask(&mut stage, kinds);
        stage.type_line(line);
        assert!(stage.sent.is_empty());
        assert!(stage.heard(words), "{line}: {:?}", stage.lines);
    }
}

#[test]
fn the_editor_keeps_the_focus_and_sends_what_was_typed() {
    let mut stage = Stage::new(KEYS);
    stage.event("awaiting.clarification", json!({
        "question": "Why?", "reply_token": "rpl_1", "timeout_seconds": 300, "accepted_response_kinds": ["freetext"], "urgency": "critical",
    }));
    stage.wait(500);
    stage.press('a');
    for c in "yes, now".chars() {
        stage.press(c);
    }
    stage.ask("rpl_2");
    stage.press('!');
    stage.code(KeyCode::Enter);
    assert_eq!(stage.sent.len(), 1);
    assert_eq!(stage.sent[0].1["response"], "yes, now!");
}

#[test]
fn garbage_is_told_and_the_stream_goes_on() {
    let mut stage = Stage::new(PIPE);
    for _ in 0..100 {
        stage.link(
            0,
            LinkEvent::Frame(Frame {
                text: "{nonsense".into(),
            }),
        );
    }
    assert_eq!(
        stage
            .lines
            .iter()
            .filter(|line| line.contains("can't be understood"))
            .count(),
        1
    );
    assert_eq!(stage.app.links()[0].garbage, 100);
    stage.event("session.started", json!({"summary_normal": "Hello"}));
    assert!(stage.heard("Hello"));
}

#[test]
fn each_fault_is_one_clear_sentence() {
    for (fault, words) in [
        (Fault::Refused, "nobody answers"),
        (
            Fault::Status {
                status: 401,
                retry_after: None,
            },
            "wants a token",
        ),
        (
            Fault::Status {
                status: 500,
                retry_after: None,
            },
            "has an error (status 500)",
        ),
        (
            Fault::NotEventStream {
                content_type: "text/html".into(),
            },
            "answered with text/html",
        ),
    ] {
        let mut stage = Stage::new(PIPE);
        stage.link(1, LinkEvent::Failed { fault });
        assert_eq!(stage.lines.len(), 1);
        assert!(stage.heard(words), "{:?}", stage.lines);
        assert_eq!(stage.quit, None, "the other source could still speak");
        stage.link(0, LinkEvent::Ended);
        assert_eq!(stage.quit, Some(Exit::NoSource));
    }
}

#[test]
fn the_agent_is_named_when_there_are_several() {
    let mut stage = Stage::new(Options {
        voice: VoiceWish::Speak,
        ..KEYS
    });
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "test".into(),
    }));
    stage.speak_all();
    stage.event("session.started", json!({"summary_normal": "First"}));
    stage.speak_all();
    assert!(!stage.spoken.iter().any(|(_, text)| text.contains("Mailer")));
    stage.event(
        "session.started",
        json!({"summary_normal": "Second", "producer": {"agent_id": "b", "agent_name": "Banker"}}),
    );
    stage.speak_all();
    assert!(stage.spoken.iter().any(|(_, text)| text == "Banker:"));
}

#[test]
fn the_history_is_read_back_and_forth() {
    let mut stage = Stage::new(KEYS);
    for n in 1..4 {
        stage.event(
            "tool.invoked",
            json!({"tool": format!("t{n}"), "summary_normal": format!("Step {n}")}),
        );
    }
    stage.lines.clear();
    for (code, words) in [
        (KeyCode::Up, "Step 3"),
        (KeyCode::Up, "Step 2"),
        (KeyCode::Down, "Step 3"),
        (KeyCode::Down, "That is the last one"),
    ] {
        stage.code(code);
        assert!(
            stage.lines.last().unwrap().contains(words),
            "{words}: {:?}",
            stage.lines
        );
    }
}

#[test]
fn a_link_that_opens_and_closes_at_once_is_not_back() {
    let mut stage = Stage::new(PIPE);
    for _ in 0..5 {
        stage.link(
            0,
            LinkEvent::Lost {
                fault: Fault::Closed,
                retry_in: Duration::from_secs(1),
            },
        );
        stage.wait(900);
        stage.link(0, LinkEvent::Connected);
        stage.wait(50);
    }
    assert_eq!(stage.lines.len(), 1, "{:?}", stage.lines);
    stage.event("session.started", json!({"summary_normal": "Hello"}));
    assert!(stage.lines[1].contains("is back"), "{:?}", stage.lines);
}

#[test]
fn leaving_waits_for_an_answer_that_is_under_way() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("n 1");
    stage.type_line("q");
    assert_eq!(stage.quit, None);
    assert!(stage.heard("still being sent"));
    let request = stage.sent[0].0;
    stage.link(
        0,
        LinkEvent::Replied {
            request,
            outcome: Ok(()),
        },
    );
    assert_eq!(stage.quit, Some(Exit::Clean));

    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("n 1");
    stage.input(Input::Terminate);
    assert_eq!(stage.quit, None);
    stage.wait(2000);
    assert_eq!(stage.quit, Some(Exit::Terminated), "but not for ever");
}

#[test]
fn sixty_four_questions_stop_the_reading_and_answering_one_goes_on() {
    let mut stage = Stage::new(PIPE);
    for n in 0..64 {
        stage.ask(&format!("rpl_{n}"));
    }
    assert_eq!(stage.reading, Some(false));
    stage.wait(3000);
    stage.type_line("n 5");
    assert_eq!(
        stage.reading,
        Some(true),
        "before its receipt, which comes over the same link"
    );
}

#[test]
fn a_question_that_nobody_can_answer_never_stops_the_reading() {
    let mut stage = Stage::new(PIPE);
    for n in 0..200 {
        stage.ask_with(
            "rpl_1",
            json!({"reply_token": null, "action": format!("Send {n}")}),
        );
    }
    assert_eq!(stage.reading, None);
    assert!(stage.app.sessions().open_prompts().count() <= 65);
}

#[test]
fn an_answer_that_never_arrived_is_not_called_settled_by_it() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("y 1");
    let request = stage.sent[0].0;
    let fault = Fault::Status {
        status: 500,
        retry_after: None,
    };
    stage.link(
        0,
        LinkEvent::Replied {
            request,
            outcome: Err(fault),
        },
    );
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    assert!(
        stage.heard("settled without you") && !stage.heard("settled. Your answer was"),
        "{:?}",
        stage.lines
    );
    stage.wait(2000);
    assert!(stage.heard("was not sent"));
    assert_eq!(stage.sent.len(), 1);
}

#[test]
fn several_open_questions_are_answered_by_number_in_every_way() {
    let mut stage = Stage::new(PIPE);
    for n in 1..=3 {
        stage.event("awaiting.clarification", json!({
            "question": format!("Which {n}?"), "reply_token": format!("rpl_{n}"), "timeout_seconds": 300, "urgency": "critical",
            "accepted_response_kinds": ["multiple_choice", "freetext"], "choices": ["red", "blue"],
        }));
    }
    stage.wait(3000);
    stage.type_line("o 1");
    assert!(stage.sent.is_empty());
    assert!(stage.heard("for example: o 1 1"), "{:?}", stage.lines);
    stage.type_line("o 2 2");
    stage.type_line("a 1 green, please");
    let answers: Vec<(&str, &str)> = stage
        .sent
        .iter()
        .map(|(_, body)| {
            (
                body["reply_token"].as_str().unwrap(),
                body["response"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(answers, [("rpl_2", "blue"), ("rpl_1", "green, please")]);
}

#[test]
fn a_question_closes_the_help_that_would_hide_it() {
    let mut stage = Stage::new(KEYS);
    stage.press('?');
    assert_eq!(stage.app.mode(), Mode::Help);
    stage.ask("rpl_1");
    assert_eq!(stage.app.mode(), Mode::Watching);
    stage.wait(500);
    stage.press('?');
    stage.wait(500);
    stage.press('y');
    assert!(stage.sent.is_empty(), "the help is open");
}

#[test]
fn a_new_question_undoes_a_wish_to_leave() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.press('q');
    stage.ask("rpl_2");
    stage.press('q');
    assert_eq!(stage.quit, None, "its default was not named");
    stage.press('q');
    assert_eq!(stage.quit, Some(Exit::Clean));
}

#[test]
fn no_time_from_the_wire_is_too_long() {
    let mut stage = Stage::new(KEYS);
    stage.ask_with("rpl_1", json!({"timeout_seconds": u64::MAX}));
    stage.wait(1000);
    assert!(stage.heard("Question 1"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// Whatever is pressed: an accept goes out only after the documented keys, at most once, and with
    /// the right token; and the documented keys accept afterwards, exactly once.
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
        stage.input(Input::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)));
        stage.ask_with("rpl_1", json!({"risk_level": "high", "irreversible": true}));
        for (key, gap) in &after {
            stage.wait(*gap);
            stage.press(key.chars().next().unwrap());
        }
        prop_assert!(stage.sent.is_empty());
        prop_assume!(stage.quit.is_none());
        stage.wait(500);
        stage.input(Input::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)));
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

#[test]
fn a_question_in_a_recording_is_shown_with_its_answer_and_is_not_answerable() {
    let recorded = Recording {
        made: Some("2026-11-20T08:00:00Z".parse().unwrap()),
        answers: BTreeMap::from([(
            2,
            (
                Answer::Decision {
                    decision: Decision::Reject,
                    rationale: None,
                },
                "2026-11-20T08:00:09Z".parse().unwrap(),
            ),
        )]),
    };
    let mut stage = Stage::of(
        PIPE,
        vec![SourceSetup {
            name: "run.jsonl".into(),
            answerable: false,
            door: Door::Open,
            recording: Some(recorded),
            ..SourceSetup::default()
        }],
    );
    stage.link(0, LinkEvent::Connected);
    assert!(
        stage.heard("Replaying run.jsonl, recorded 2026-11-20 08:00 UTC."),
        "{:?}",
        stage.lines
    );
    stage.event("session.started", json!({"summary_normal": "Going."}));
    stage.ask("rpl_1");
    assert!(stage.heard("can't be answered here"), "{:?}", stage.lines);
    assert!(
        stage.heard("In this recording the answer to question 1 was: reject."),
        "{:?}",
        stage.lines
    );
    stage.wait(5000);
    stage.type_line("y");
    stage.event(
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    );
    assert!(
        stage.heard("Question 1 is settled. Your answer was: reject."),
        "{:?}",
        stage.lines
    );
    assert!(stage.sent.is_empty());
}

#[test]
fn what_a_bound_makes_us_forget_is_told_and_counted() {
    let mut stage = Stage::new(PIPE);
    for n in 0..300 {
        stage.event(
            "session.started",
            json!({"session_id": format!("sess_{n}"), "summary_normal": "x"}),
        );
    }
    let told = stage
        .lines
        .iter()
        .filter(|line| line.contains("Too many sessions run at once"))
        .count();
    assert_eq!(told, 2, "at 1 and at 10");
    assert_eq!(stage.app.sessions().dropped().running_sessions, 44);
    let words = stage.app.forgotten_words().unwrap();
    assert_eq!(words, "Counted and not kept: running sessions: 44.");
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
    voice: VoiceWish::Speak,
    ..KEYS
};

#[test]
fn a_silent_agent_that_works_is_heard_to_be_working() {
    let mut stage = Stage::new(VOICE);
    stage.voiced();
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.speak_all();
    stage.spoken.clear();
    stage.wait(2_999);
    assert!(stage.spoken.is_empty());
    let lines = stage.lines.len();
    stage.wait(1);
    assert_eq!(stage.said(), ["Working."]);
    stage.speak_all();
    stage.wait(4_900);
    assert_eq!(stage.said(), ["Working."]);
    // What is said starts the count again, and what ended does not beat.
    stage.event("session.completed", json!({"summary_normal": "Done"}));
    stage.speak_all();
    stage.wait(60_000);
    assert!(
        !stage.said()[1..].contains(&"Working."),
        "{:?}",
        stage.said()
    );
    assert_eq!(stage.lines.len(), lines + 1, "a beat is no line");
    assert!(
        stage
            .app
            .history()
            .iter()
            .all(|told| told.kind != Kind::Heartbeat)
    );
}

#[test]
fn where_a_tick_is_heard_it_comes_every_five_seconds_and_a_word_ever_more_rarely() {
    for (heard, wanted) in [(true, 6), (false, 3)] {
        let mut stage = Stage::new(VOICE);
        stage.voiced();
        stage.input(Input::Voice(VoiceEvent::Cues { heard }));
        stage.event("session.started", json!({"summary_normal": "Off we go"}));
        stage.speak_all();
        stage.spoken.clear();
        for _ in 0..290 {
            stage.wait(100);
            stage.speak_all();
        }
        assert_eq!(stage.said(), vec!["Working."; wanted], "heard: {heard}");
    }
    let mut config = crate::config::Config::default();
    config.voice.cues.tick = false;
    let mut tuning = super::tuning::Tuning::new(config.voice.delivery());
    tuning.cues_heard(true);
    assert_eq!(
        tuning.beat(&config.voice.cues),
        Beat::Word,
        "an off switch leaves the word"
    );
}

#[test]
fn no_heart_beats_while_a_question_waits_or_quiet_is_wanted_or_nothing_came_for_long() {
    let mut stage = Stage::new(VOICE);
    stage.voiced();
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.ask("rpl_1");
    stage.speak_all();
    stage.spoken.clear();
    stage.wait(20_000);
    assert!(
        !stage.said().contains(&"Working."),
        "it waits for the person"
    );
    let mut stage = Stage::new(VOICE);
    stage.voiced();
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.press('k');
    stage.speak_all();
    stage.spoken.clear();
    stage.wait(20_000);
    assert!(stage.spoken.is_empty(), "{:?}", stage.said());
    stage.press('k');
    stage.speak_all();
    stage.spoken.clear();
    for _ in 0..300 {
        stage.wait(5_000);
        stage.speak_all();
    }
    let beats = stage.said().len();
    assert!(
        (14..=22).contains(&beats),
        "{beats} beats in 25 minutes: none after ten"
    );
}

#[test]
fn a_muted_agent_is_silent_but_for_what_is_urgent() {
    let mut stage = Stage::new(VOICE);
    stage.voiced();
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.press('m');
    assert!(stage.heard("Mailer is muted"));
    stage.speak_all();
    stage.spoken.clear();
    stage.chunk("A long story. ");
    stage.event(
        "tool.completed",
        json!({"tool": "x", "status": "error", "summary_normal": "No"}),
    );
    assert!(stage.heard("A long story."), "it is shown");
    assert!(stage.spoken.is_empty(), "{:?}", stage.said());
    stage.ask("rpl_1");
    stage.speak_all();
    assert!(stage.said().contains(&"Send rpl 1"), "{:?}", stage.said());
    stage.press('m');
    assert!(stage.heard("Mailer is heard again"));
}

#[test]
fn quiet_cuts_what_is_said_and_lets_questions_through() {
    let mut stage = Stage::new(VOICE);
    stage.voiced();
    stage.chunk("One. Two. Three. ");
    assert_eq!(
        stage.said().last(),
        Some(&"Already running when hearken connected.")
    );
    stage.press('k');
    assert!(stage.heard("Quiet."));
    let id = stage.spoken[0].0;
    stage.input(Input::Voice(VoiceEvent::Cut(id)));
    stage.speak_all();
    assert!(!stage.said().contains(&"Two."), "{:?}", stage.said());
    stage.ask("rpl_1");
    stage.speak_all();
    assert!(stage.said().contains(&"Send rpl 1"), "{:?}", stage.said());
}

#[test]
fn a_whole_turn_is_read_back_to_the_last_answer() {
    let mut stage = Stage::new(KEYS);
    stage.press('w');
    assert!(stage.heard("No agent wrote anything yet."));
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.chunk("First. Second. ");
    stage.event(
        "tool.invoked",
        json!({"tool": "look_up", "summary_normal": "Looking"}),
    );
    stage.chunk("Third. ");
    stage.press('w');
    assert!(
        stage.heard("All that Mailer wrote: First. Second. Third."),
        "{:?}",
        stage.lines
    );
    stage.ask("rpl_1");
    stage.wait(500);
    stage.press('n');
    stage.chunk("Fourth. ");
    stage.press('w');
    assert!(
        stage.heard("All that Mailer wrote: Fourth."),
        "{:?}",
        stage.lines
    );
}

#[test]
fn the_history_is_searched_from_the_newest_back() {
    let mut stage = Stage::new(KEYS);
    stage.chunk("The red fox. The blue whale. The RED ant. ");
    stage.press('/');
    for c in "red".chars() {
        stage.press(c);
    }
    stage.code(KeyCode::Enter);
    assert_eq!(stage.lines.last().unwrap(), "The RED ant.");
    // The same again goes on.
    stage.press('/');
    stage.code(KeyCode::Enter);
    assert_eq!(stage.lines.last().unwrap(), "The red fox.");
    stage.press('/');
    stage.code(KeyCode::Enter);
    assert!(stage.heard("red is nowhere before that."));
    stage.press('/');
    stage.press('q');
    stage.code(KeyCode::Esc);
    assert!(stage.heard("No search."));
    assert_eq!(stage.quit, None);
    let mut stage = Stage::new(PIPE);
    stage.chunk("The red fox. The blue whale. ");
    stage.type_line("find RED");
    assert_eq!(stage.lines.last().unwrap(), "The red fox.");
    stage.type_line("+");
    assert_eq!(stage.lines.last().unwrap(), "The blue whale.");
    stage.type_line("-");
    stage.type_line("again");
    assert_eq!(stage.lines.last().unwrap(), "The red fox.");
}

#[test]
fn what_is_looked_at_is_spelled_and_then_by_the_alphabet() {
    let mut stage = Stage::new(KEYS);
    stage.chunk("Ab 1. ");
    stage.press('l');
    assert_eq!(stage.lines.last().unwrap(), "capital A, b, space, 1, dot");
    stage.press('l');
    assert_eq!(
        stage.lines.last().unwrap(),
        "capital alfa, bravo, space, 1, dot"
    );
    stage.press('l');
    assert_eq!(stage.lines.last().unwrap(), "capital A, b, space, 1, dot");
}

#[test]
fn a_word_is_chosen_by_steps_and_spelled() {
    let mut stage = Stage::new(KEYS);
    stage.chunk("Push to origin, now. ");
    stage.code(KeyCode::Right);
    assert_eq!(stage.lines.last().unwrap(), "Push");
    stage.code(KeyCode::Left);
    assert_eq!(stage.lines.last().unwrap(), "That is the first word.");
    stage.code(KeyCode::Right);
    stage.code(KeyCode::Right);
    assert_eq!(stage.lines.last().unwrap(), "origin,");
    // News don't take the place of what is looked at.
    stage.chunk("Other words. ");
    stage.press('l');
    assert_eq!(stage.lines.last().unwrap(), "o, r, i, g, i, n, comma");
    assert_eq!(
        stage.app.latest_reply().as_deref(),
        Some("o, r, i, g, i, n, comma")
    );
    // It keeps its place in the pane while the agent goes on.
    stage.chunk("More words. ");
    assert!(stage.app.aside().is_some());
    stage.press('l');
    assert_eq!(
        stage.lines.last().unwrap(),
        "oscar, romeo, india, golf, india, november, comma"
    );
    stage.code(KeyCode::Right);
    stage.code(KeyCode::Right);
    assert_eq!(stage.lines.last().unwrap(), "That is the last word.");
    // Another announcement has its own words; its last one comes first on the way back.
    stage.code(KeyCode::End);
    assert!(stage.app.aside().is_none());
    stage.code(KeyCode::Left);
    assert_eq!(stage.lines.last().unwrap(), "words.");
    // Saying all of it once more means all of it.
    stage.press('r');
    stage.press('l');
    assert!(stage.lines.last().unwrap().starts_with("capital M, o, r"));
    // A question needs the room.
    assert!(stage.app.aside().is_some());
    stage.ask("rpl_1");
    assert!(stage.app.aside().is_none());
}

#[test]
fn a_line_chooses_a_word_by_its_number_or_a_part_of_it() {
    let mut config = Config::default();
    config.announce.verbosity = crate::config::Verbosity::Detailed;
    let mut stage = Stage::with(PIPE, config);
    stage.chunk("git push --force 2 times. ");
    stage.type_line("l 2");
    assert_eq!(stage.lines.last().unwrap(), "p, u, s, h");
    stage.type_line(">");
    assert_eq!(stage.lines.last().unwrap(), "--force. Word 3 of 5.");
    stage.type_line("l");
    assert_eq!(stage.lines.last().unwrap(), "dash, dash, f, o, r, c, e");
    stage.type_line("<");
    stage.type_line("<");
    assert_eq!(stage.lines.last().unwrap(), "git. Word 1 of 5.");
    stage.type_line("l TIM");
    assert_eq!(stage.lines.last().unwrap(), "t, i, m, e, s, dot");
    stage.type_line("l 99");
    assert_eq!(stage.lines.last().unwrap(), "99 is not in it.");
}

#[test]
fn three_sentences_tell_what_happened_while_the_person_was_away() {
    let mut stage = Stage::new(KEYS);
    stage.press('t');
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.chunk("One. Two. ");
    stage.event(
        "tool.invoked",
        json!({"tool": "a", "tool_call_id": "call_1"}),
    );
    stage.event(
        "tool.completed",
        json!({"tool": "a", "tool_call_id": "call_1", "status": "error", "error_message": "no"}),
    );
    stage.wait(120_000);
    stage.ask("rpl_1");
    stage.press('s');
    stage.wait(1_000);
    stage.press('b');
    let told = stage.lines.last().unwrap().clone();
    assert_eq!(
        told,
        "In the last 2 minutes and 1 second: 1 session started. Meanwhile: 1 question, 1 tool failed, 2 sentences of text. \
         Now 1 question waits for you, and 1 agent works."
    );
}

#[test]
fn what_is_urgent_waits_two_seconds_at_most_when_nothing_may_be_interrupted() {
    let mut stage = Stage::new(VOICE);
    stage.voiced();
    stage.press('i');
    stage.speak_all();
    stage.spoken.clear();
    stage.chunk("A sentence that goes on for a while. ");
    stage.speak_all();
    stage.spoken.clear();
    stage.chunk("Another one. And one more. ");
    assert_eq!(stage.said(), ["Another one."]);
    stage.ask("rpl_1");
    assert_eq!(stage.said(), ["Another one."], "it is not cut");
    stage.wait(2_000);
    let id = stage.spoken[0].0;
    stage.input(Input::Voice(VoiceEvent::Cut(id)));
    assert_eq!(stage.said()[1], "Question 1.", "two seconds are enough");
}

#[test]
fn a_reason_is_read_back_and_a_missing_action_is_told() {
    let mut stage = Stage::new(PIPE);
    stage.ask_with("rpl_1", json!({"action": ""}));
    assert!(
        stage.heard("The agent does not say what it wants to do."),
        "{:?}",
        stage.lines
    );
    stage.wait(3_000);
    stage.type_line("r too dear");
    assert!(stage.heard("Rejecting question 1: The agent does not say what it wants to do. Your reason: too dear"), "{:?}", stage.lines);
    stage.type_line("t");
    assert!(
        stage.heard("Mailer: your answer is with it"),
        "{:?}",
        stage.lines
    );
}

#[test]
fn agents_that_share_a_name_are_told_apart() {
    let mut stage = Stage::new(PIPE);
    stage.event_on(0, "session.started", json!({"summary_normal": "One"}));
    stage.event_on(1, "session.started", json!({"summary_normal": "Two"}));
    stage.event_on(0, "session.completed", json!({"summary_normal": "Done"}));
    let agents: Vec<_> = stage
        .app
        .history()
        .iter()
        .filter_map(|told| told.agent.clone())
        .collect();
    assert_eq!(
        agents,
        ["Mailer", "Mailer of source 2", "Mailer of source 1"]
    );
    stage.type_line("t");
    assert!(
        stage.heard("Mailer of source 2: working"),
        "{:?}",
        stage.lines
    );
}

#[test]
fn nobody_accepts_what_the_screen_has_not_shown_to_its_end() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    let prompt = PromptId(1);
    let part = |page| {
        Input::Drawn(Drawn {
            prompt,
            page,
            pages: 3,
        })
    };
    stage.input(part(0));
    stage.wait(1000);
    stage.press('y');
    assert!(
        stage.heard("There is more of question 1"),
        "{:?}",
        stage.lines
    );
    for page in [1, 2] {
        stage.press('d');
        stage.input(part(page));
    }
    stage.wait(1000);
    stage.press('y');
    assert_eq!(stage.sent.len(), 1);

    // Rejecting needs no more than knowing that there is a question.
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.input(part(0));
    stage.wait(1000);
    stage.press('n');
    assert_eq!(stage.sent.len(), 1);

    // Another size has other pages; what was seen whole stays seen.
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.input(part(0));
    stage.input(Input::Drawn(Drawn {
        prompt,
        page: 1,
        pages: 2,
    }));
    stage.wait(1000);
    stage.press('y');
    assert!(stage.sent.is_empty());
    stage.input(Input::Drawn(Drawn {
        prompt,
        page: 0,
        pages: 1,
    }));
    stage.input(part(0));
    stage.wait(1000);
    stage.press('y');
    assert_eq!(stage.sent.len(), 1);
}
