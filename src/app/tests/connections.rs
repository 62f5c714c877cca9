//! Links that are lost, come back, bring garbage or are left.

use super::*;

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
    let told: Vec<&String> = stage
        .lines
        .iter()
        .filter(|line| line.contains("can't be understood"))
        .collect();
    assert_eq!(
        told.len(),
        3,
        "the first, the tenth, the hundredth: {told:?}"
    );
    assert!(told[1].contains("10 messages from") && told[2].contains("100 messages from"));
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
            outcome: Ok(Receipt::Taken),
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

/// Loses the connection with a question open, and gets it back from a server that goes on behind its last
/// event and says nothing.
fn resumed_with_a_question(config: Config) -> Stage {
    let mut stage = Stage::with(KEYS, config);
    stage.link(0, LinkEvent::Connected);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.link(
        0,
        LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::from_secs(1),
        },
    );
    stage.link(0, LinkEvent::Connecting { attempt: 1 });
    stage.link(0, LinkEvent::Connected);
    stage.link(0, LinkEvent::Resumed);
    assert!(!stage.heard("answered again"));
    stage.wait(1000);
    stage
}

#[test]
fn a_server_that_resumes_in_silence_can_be_answered_and_the_doubt_is_told_twice() {
    let mut stage = resumed_with_a_question(Config::default());
    assert!(stage.heard("Question 1 can be answered again, and is perhaps already decided."));
    stage.wait(3000);
    assert!(stage.sent.is_empty());
    stage.lines.clear();
    stage.press('n');
    let doubt = stage
        .lines
        .iter()
        .position(|line| line.contains("Question 1 is perhaps already decided."));
    let sending = stage
        .lines
        .iter()
        .position(|line| line.contains("Rejecting question 1"));
    assert!(doubt.is_some() && doubt < sending, "{:?}", stage.lines);
    assert_eq!(stage.decision(), Some("reject"));
}

#[test]
fn no_rule_answers_what_is_perhaps_decided() {
    let mut stage = resumed_with_a_question(Config::default());
    // A rule that is there from now on would decide the question when it is raised again.
    let rule = "[[policy]]\nname = \"mine\"\ndecision = \"reject\"\n";
    stage.app.config.policy = Config::from_toml(rule).unwrap().policy;
    stage.link(
        0,
        LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::from_secs(1),
        },
    );
    stage.link(0, LinkEvent::Connecting { attempt: 1 });
    stage.link(0, LinkEvent::Connected);
    stage.link(0, LinkEvent::Resumed);
    stage.wait(5000);
    assert!(stage.sent.is_empty(), "{:?}", stage.sent);
    // Where the session is heard again there is no doubt, and the rule decides.
    stage.link(
        0,
        LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::from_secs(1),
        },
    );
    stage.link(0, LinkEvent::Connecting { attempt: 1 });
    stage.link(0, LinkEvent::Connected);
    stage.event("progress.updated", json!({"progress": {"percent": 1}}));
    assert_eq!(stage.decision(), Some("reject"));
}
