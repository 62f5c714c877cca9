//! What a person may stumble over when they first use the program.

use super::*;

#[test]
fn a_second_step_that_comes_long_after_accepts_nothing() {
    for options in [KEYS, PIPE] {
        let lines = options.manner == AnswerMethod::Lines;
        let mut stage = Stage::new(options);
        stage.ask_with("rpl_1", json!({"risk_level": "high"}));
        stage.wait(2500);
        let enter = |stage: &mut Stage, letter: char| {
            if lines {
                stage.type_line(&letter.to_string());
            } else {
                stage.press(letter);
            }
        };
        enter(&mut stage, 'y');
        stage.assert_heard(phrase!("reply.second_step.*"));
        stage.wait(59_000);
        stage.assert_not_heard("did not come");
        stage.wait(1_000);
        stage.assert_heard(phrase!("reply.step_over", time = "1 minute"));
        enter(&mut stage, 'c');
        assert!(stage.sent.is_empty(), "a stray second step");
        let last = stage.lines.last().unwrap();
        assert!(
            last.starts_with("Question 1 is no longer being confirmed. Begin again: y"),
            "{last}"
        );
        stage.wait(1200);
        enter(&mut stage, 'y');
        stage.wait(500);
        enter(&mut stage, 'c');
        assert_eq!(stage.decision(), Some("accept"));
    }
}

#[test]
fn the_stop_line_is_answered_and_the_stop_key_stays_silent() {
    let mut stage = Stage::new(PIPE);
    stage.type_line("s");
    stage.assert_heard(phrase!("stop.nothing"));
    let mut stage = Stage::new(KEYS);
    stage.press('s');
    assert!(stage.lines.is_empty(), "{:?}", stage.lines);
}

#[test]
fn leaving_asks_once_while_something_that_cannot_be_undone_is_at_work() {
    for options in [KEYS, PIPE] {
        let lines = options.manner == AnswerMethod::Lines;
        let mut stage = Stage::new(options);
        let leave = |stage: &mut Stage| {
            if lines {
                stage.type_line("x");
            } else {
                stage.press('x');
            }
        };
        stage.event("session.started", json!({"user_message": "go"}));
        stage.event(
            "tool.invoked",
            json!({"tool": "wipe_disk", "tool_call_id": "c1", "irreversible": true, "risk_level": "high"}),
        );
        leave(&mut stage);
        stage.assert_heard(phrase!(
            "leave.working",
            source = "one",
            tools = "wipe disk"
        ));
        stage.assert_not_heard("Left one");
        leave(&mut stage);
        assert!(stage.app.links()[0].phase.is_over());
    }
}

#[test]
fn leaving_names_the_default_of_what_is_open() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.type_line("x");
    stage.assert_heard(phrase!("quit.default.reject"));
    stage.assert_heard(phrase!("leave.ask_lines"));
}

#[test]
fn a_bare_yes_right_after_a_change_is_told_how_to_be_meant() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(1);
    stage.ask("rpl_2");
    stage.wait(3000);
    stage.type_line("n 2");
    stage.wait(100);
    stage.type_line("y");
    stage.assert_heard(phrase!("reply.changed", n = 1));
}

/// A source that was left is gone from everywhere the person looks.
#[test]
fn a_source_that_was_left_takes_its_sessions_and_questions_along() {
    let mut stage = Stage::new(KEYS);
    stage.event("session.started", json!({"summary_normal": "Off we go"}));
    stage.ask("rpl_1");
    stage.wait(500);
    stage.press('x');
    let asked = stage.lines.last().unwrap().clone();
    assert!(
        phrase!("quit.default.reject", n = 1).is_in(&asked),
        "{asked}"
    );
    stage.press('x');
    assert!(stage.lines.last().unwrap().starts_with("Left one."));
    assert!(stage.app.shown().is_none() && stage.app.questions().is_empty());
    assert_eq!(stage.app.sessions().iter().count(), 0);
    stage.press('t');
    let status = stage.lines.last().unwrap().clone();
    assert!(!status.contains("question"), "{status}");
    assert!(!status.contains("waiting"), "{status}");
    stage.wait(600);
    stage.press('q');
    assert_eq!(stage.quit, Some(Exit::Clean), "nothing is asked");
}

/// Makes agents ready.
pub(super) fn ready(options: Options, config: Config, count: usize) -> Stage {
    ready_in(english(), options, config, count)
}

/// Makes agents ready, with these phrases.
pub(super) fn ready_in(
    phrases: Arc<Phrases>,
    options: Options,
    config: Config,
    count: usize,
) -> Stage {
    let voice = options.voice;
    let source = |at: usize| SourceSetup {
        name: format!("agent {at}"),
        answerable: true,
        carrier: crate::dialect::TransportKind::Lines,
        dialect: crate::config::Dialect::Acp,
        folder: "/work/a".to_owned(),
        program: true,
        ..SourceSetup::default()
    };
    let sources = (0..count).map(source).collect();
    let mut stage = Stage::worded(phrases, KeyRing::default(), config, options, sources);
    if voice == SpeechMode::Speak {
        stage.input(Input::Voice(VoiceEvent::Ready {
            engine: "a voice".into(),
        }));
    }
    for at in 0..count {
        stage.link(at, LinkEvent::Connected);
        for (id, result) in [
            (1, json!({"protocolVersion": 1, "agentCapabilities": {}})),
            (2, json!({"sessionId": "s"})),
        ] {
            let frame = json!({"jsonrpc": "2.0", "id": id, "result": result});
            stage.link(at, LinkEvent::Frame(Frame::of(frame.to_string())));
        }
    }
    stage
}

/// Returns what is said and written about how to begin, within a given time.
fn told_to_begin(stage: &mut Stage, ms: u64) -> Vec<String> {
    stage.wait(ms);
    stage.speak_all();
    stage.wait(ms);
    let spoken = stage.spoken.iter().map(|(_, text)| text);
    let all = spoken.chain(&stage.lines);
    let all = all.filter(|it| it.contains("to write to"));
    all.cloned().collect()
}

#[test]
fn who_only_hears_is_told_once_how_to_begin() {
    const EAR: Options = Options {
        voice: SpeechMode::Speak,
        ..KEYS
    };
    let mut stage = ready(EAR, Config::default(), 1);
    assert_eq!(told_to_begin(&mut stage, 400), Vec::<String>::new());
    assert_eq!(
        told_to_begin(&mut stage, 2_000),
        ["Press greater than to write to it."],
        "heard, and not written: the screen has it in its own place"
    );
    stage.type_prompt("do it");
    stage.turn_ends();
    stage.lines.clear();
    stage.spoken.clear();
    assert_eq!(told_to_begin(&mut stage, 5_000), Vec::<String>::new());

    let mut stage = ready(PIPE, Config::default(), 1);
    assert_eq!(
        told_to_begin(&mut stage, 2_000),
        ["Type >, a space and your words to write to it."]
    );
    let mut stage = ready(PIPE, Config::default(), 2);
    assert_eq!(
        told_to_begin(&mut stage, 2_000),
        ["Type >, a space and your words to write to an agent."]
    );
}

#[test]
fn nobody_is_told_how_to_begin_who_has_begun_or_wants_few_words() {
    let mut stage = ready(PIPE, Config::default(), 1);
    stage.type_prompt("do it");
    assert_eq!(told_to_begin(&mut stage, 5_000), Vec::<String>::new());
    let mut config = Config::default();
    config.announce.verbosity = crate::config::Verbosity::Terse;
    let mut stage = ready(PIPE, config, 1);
    assert_eq!(told_to_begin(&mut stage, 5_000), Vec::<String>::new());
    // A visible screen shows it permanently.
    let mut stage = ready(KEYS, Config::default(), 1);
    assert_eq!(told_to_begin(&mut stage, 5_000), Vec::<String>::new());
}
