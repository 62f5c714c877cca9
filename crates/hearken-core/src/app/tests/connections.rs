//! Links that are lost, come back, carry garbage or are left.

use super::*;

/// Loses the first source's connection, and has it back at once.
fn lose_and_return(stage: &mut Stage) {
    let lost = LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::from_secs(1),
    };
    stage.link(0, lost);
    stage.link(0, LinkEvent::Connecting { attempt: 1 });
    stage.link(0, LinkEvent::Connected);
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
            .filter(|line| phrase!("link.lost").is_in(line))
            .count(),
        1
    );
    assert_eq!(
        stage
            .lines
            .iter()
            .filter(|line| phrase!("question.unsure.*").is_in(line))
            .count(),
        1
    );
    stage.type_line("y 1");
    assert!(stage.sent.is_empty());
    stage.assert_heard(phrase!("reply.lost"));
    stage.link(0, LinkEvent::Connected);
    stage.wait(1000);
    assert_eq!(
        stage
            .lines
            .iter()
            .filter(|line| phrase!("link.back").is_in(line))
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
    stage.assert_heard(phrase!("quit.default.reject", n = 1));
    stage.press('j');
    stage.assert_heard(phrase!("quit.stay"));
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
    stage.assert_heard(phrase!("leave.open", source = "one"));
    stage.type_line("x");
    stage.assert_heard("Left one");
    stage.event_on(0, "session.completed", json!({"summary_normal": "late"}));
    stage.assert_not_heard("late");
    stage.event_on(1, "session.started", json!({"summary_normal": "other"}));
    stage.assert_heard("other");
}

#[test]
fn garbage_is_told_and_the_stream_goes_on() {
    let mut stage = Stage::new(PIPE);
    for _ in 0..100 {
        stage.link(0, LinkEvent::Frame(Frame::of("{nonsense")));
    }
    let told: Vec<&String> = stage
        .lines
        .iter()
        .filter(|line| phrase!("anomaly.undecodable.*").is_in(line))
        .collect();
    assert_eq!(
        told.len(),
        3,
        "the first, the tenth, the hundredth: {told:?}"
    );
    assert!(
        phrase!("anomaly.undecodable.more", count = 10).is_in(told[1])
            && phrase!("anomaly.undecodable.more", count = 100).is_in(told[2])
    );
    assert_eq!(stage.app.links()[0].garbage, 100);
    stage.event("session.started", json!({"summary_normal": "Hello"}));
    stage.assert_heard("Hello");
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
            "needs a token",
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
        stage.assert_heard(words);
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
    assert!(
        phrase!("link.back").is_in(&stage.lines[1]),
        "{:?}",
        stage.lines
    );
}

#[test]
fn leaving_waits_for_an_answer_that_is_under_way() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("n 1");
    stage.type_line("q");
    assert_eq!(stage.quit, None);
    stage.assert_heard(phrase!("quit.sending"));
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
fn an_agent_with_too_many_questions_keeps_nobody_else_from_being_heard() {
    let mut stage = Stage::new(PIPE);
    for n in 0..80 {
        stage.ask(&format!("rpl_{n}"));
    }
    assert_eq!(stage.app.sessions().open_questions().count(), 64);
    let waiting: Vec<&String> = stage
        .lines
        .iter()
        .filter(|line| phrase!("question.waiting").is_in(line))
        .collect();
    assert_eq!(waiting.len(), 2, "at 1 and at 10: {waiting:?}");
    // Another agent's question is asked, its irreversible tool is announced, its end comes through.
    let other = json!({"agent_id": "b", "agent_name": "Builder"});
    stage.ask_with(
        "rpl_b",
        json!({"producer": other, "session_id": "sess_b", "action": "Deploy"}),
    );
    assert!(stage.heard("Deploy"), "{:?}", stage.lines.last());
    stage.event(
        "tool.invoked",
        json!({"producer": other, "session_id": "sess_b", "tool": "wipe", "irreversible": true}),
    );
    stage.wait(2000);
    assert!(stage.heard("wipe"), "{:?}", stage.lines.last());
    stage.event(
        "session.completed",
        json!({"producer": other, "session_id": "sess_b", "summary_normal": "Built."}),
    );
    stage.assert_heard("Built.");
    // Once there is room, the next one is asked, in order.
    stage.assert_not_heard("Send rpl_64");
    stage.wait(3000);
    stage.type_line("n 5");
    assert!(stage.heard("Send rpl_64") && !stage.heard("Send rpl_65"));
    // The end of its session closes all of them, asked or not.
    stage.event("session.completed", json!({"summary_normal": "Done."}));
    stage.wait(3000);
    assert_eq!(stage.app.sessions().open_questions().count(), 0);
    stage.assert_not_heard("Send rpl_65");
}

#[test]
fn questions_beyond_the_memory_of_a_link_are_told_and_counted() {
    let mut stage = Stage::new(PIPE);
    for n in 0..18 {
        let by = json!({"agent_id": format!("a{n}"), "agent_name": "Mailer"});
        let long = "x".repeat(1 << 20);
        stage.ask_with(
            &format!("rpl_{n}"),
            json!({"producer": by, "action": format!("Send {n}"), "extra_context": {"note": long}}),
        );
    }
    stage.assert_heard(phrase!("forgotten.questions", count = 1));
    let unasked = stage.app.sessions().dropped().unasked;
    assert!((2..=3).contains(&unasked), "{unasked}");
}

#[test]
fn a_question_over_a_link_that_flaps_is_told_and_rung_for_within_a_second() {
    let mut stage = Stage::new(PIPE);
    stage.link(
        0,
        LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::from_millis(300),
        },
    );
    let asked = stage.now;
    // The server replays its question over each connection, which stays up for 0.2 s.
    let question = json!({
        "action": "Pay 500 euros", "reply_token": "rpl_1", "timeout_seconds": 60, "event_id": "evt_q",
        "default_decision": "accept", "risk_level": "low", "irreversible": false, "urgency": "critical",
        "timestamp": format!("{:.3}", asked.wall),
    });
    let mut told_after = None;
    for _ in 0..6 {
        stage.wait(300);
        stage.link(0, LinkEvent::Connecting { attempt: 1 });
        stage.link(0, LinkEvent::Connected);
        let came = stage.now.monotonic;
        stage.event("awaiting.confirmation", question.clone());
        stage.wait(200);
        stage.link(
            0,
            LinkEvent::Lost {
                fault: Fault::Closed,
                retry_in: Duration::from_millis(300),
            },
        );
        if told_after.is_none() && stage.heard("Pay 500 euros") {
            told_after = Some(stage.now.monotonic - came);
        }
    }
    stage.wait(10);
    assert!(stage.bells >= 1, "it rings");
    let told = stage
        .lines
        .iter()
        .find(|line| line.contains("Pay 500 euros"));
    let told = told.unwrap();
    assert!(phrase!("question.perhaps_answered").is_in(told), "{told}");
    assert!(told_after.is_some());
}

#[test]
fn a_question_that_nobody_can_answer_waits_for_no_room() {
    let mut stage = Stage::new(PIPE);
    for n in 0..200 {
        stage.ask_with(
            "rpl_1",
            json!({"reply_token": null, "action": format!("Send {n}")}),
        );
    }
    assert!(stage.app.sessions().open_questions().count() <= 65);
    stage.assert_not_heard(phrase!("question.waiting"));
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
    stage.assert_heard(phrase!("question.head", n = 1));
}

#[test]
fn what_a_bound_makes_us_forget_is_told_and_counted() {
    let mut stage = Stage::new(PIPE);
    let long = "\u{20000}".repeat(2000);
    let id = "x".repeat(900);
    let mut begun = 0;
    let forgotten = loop {
        begun += 1;
        assert!(begun < 20_000, "nothing bounds them");
        stage.event(
            "session.started",
            json!({"session_id": format!("sess_{begun}{id}"), "summary_normal": "x", "request_text": long}),
        );
        let forgotten = stage.app.sessions().dropped().running_sessions;
        if forgotten > 0 {
            break forgotten;
        }
        stage.lines.clear();
    };
    let kept = stage.app.sessions().iter().count() as u64;
    assert_eq!(kept + forgotten, begun);
    let told = stage.lines.iter();
    let told = told.filter(|line| phrase!("forgotten.sessions").is_in(line));
    assert_eq!(told.count(), 1);
    let words = stage.app.cx.forgotten_words().unwrap();
    let counted = format!("Counted and not kept: running sessions: {forgotten}.");
    assert_eq!(words, counted);
}

/// Loses the connection with a question open, and gets it back from a server that silently resumes after its last
/// event.
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
    stage.assert_not_heard(phrase!("question.again.*"));
    stage.wait(1000);
    stage
}

#[test]
fn what_is_known_only_after_the_first_message_counts_as_well() {
    let mut stage = Stage::with(KEYS, Config::default());
    stage.link(0, LinkEvent::Connected);
    stage.ask("rpl_1");
    stage.wait(3000);
    lose_and_return(&mut stage);
    stage.link(0, LinkEvent::Frame(crate::link::Frame::of("[]")));
    stage.assert_heard(phrase!("link.back"));
    stage.link(0, LinkEvent::Resumed);
    stage.wait(1000);
    stage.assert_heard(phrase!("question.again.perhaps", n = 1));
}

#[test]
fn a_server_that_resumes_in_silence_can_be_answered_and_the_doubt_is_told_twice() {
    let mut stage = resumed_with_a_question(Config::default());
    stage.assert_heard(phrase!("question.again.perhaps", n = 1));
    stage.wait(3000);
    assert!(stage.sent.is_empty());
    stage.lines.clear();
    stage.press('n');
    let doubt = stage
        .lines
        .iter()
        .position(|line| phrase!("reply.perhaps", n = 1).is_in(line));
    let sending = stage
        .lines
        .iter()
        .position(|line| phrase!("reply.rejecting.short").is_in(line));
    assert!(doubt.is_some() && doubt < sending, "{:?}", stage.lines);
    assert_eq!(stage.decision(), Some("reject"));
}

/// Loses a connection with a question open, and connects again to a server that sends nothing unprompted.
fn back_in_silence(carrier: crate::dialect::TransportKind) -> Stage {
    let source = SourceSetup {
        name: "one".into(),
        answerable: true,
        plain: true,
        carrier,
        ..SourceSetup::default()
    };
    let mut stage = Stage::of(KEYS, vec![source]);
    stage.link(0, LinkEvent::Connected);
    stage.wait(2000);
    stage.ask("rpl_1");
    stage.wait(3000);
    lose_and_return(&mut stage);
    stage.wait(1500);
    stage
}

#[test]
fn a_server_without_a_replay_that_is_back_can_be_answered_with_a_doubt_in_two_steps() {
    use crate::dialect::TransportKind;
    for carrier in [
        TransportKind::EventStream,
        TransportKind::WebSocket,
        TransportKind::Socket,
    ] {
        let mut stage = back_in_silence(carrier);
        assert!(
            stage.heard(phrase!("question.again.perhaps", n = 1)),
            "{carrier:?}: {:?}",
            stage.lines
        );
        stage.wait(3000);
        stage.press('y');
        stage.assert_heard(phrase!("reply.perhaps", n = 1));
        assert_eq!(stage.decision(), None, "the first step sends nothing");
        stage.wait(1000);
        stage.press('c');
        assert_eq!(stage.decision(), Some("accept"), "{carrier:?}");
    }
    // A restarted program has not asked anything.
    let mut stage = back_in_silence(TransportKind::Lines);
    stage.wait(3000);
    stage.assert_not_heard(phrase!("question.again.*"));
    stage.press('n');
    assert_eq!(stage.decision(), None);
}

#[test]
fn no_rule_answers_what_is_perhaps_decided() {
    let mut stage = resumed_with_a_question(Config::default());
    // A newly added rule would decide the question when it is raised again.
    let rule = "[[policy]]\nname = \"mine\"\ndecision = \"reject\"\n";
    stage.app.cx.config.policy = Config::from_toml(rule).unwrap().policy;
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
    // Once the session is heard again there is no doubt, and the rule decides.
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

#[test]
fn a_source_that_ends_before_its_agents_is_told_with_their_names_and_is_no_clean_end() {
    let ends = |agents: &[&str], event: fn() -> LinkEvent, program: bool| {
        let source = SourceSetup {
            name: "one".into(),
            program,
            ..SourceSetup::default()
        };
        let until = Options {
            until: EndCondition::Ended,
            ..PIPE
        };
        let mut stage = Stage::of(until, vec![source]);
        stage.link(0, LinkEvent::Connected);
        for agent in agents {
            let producer = json!({"agent_id": agent, "agent_name": agent});
            let session = format!("sess_{agent}");
            let fields =
                json!({"session_id": session, "summary_normal": "s", "producer": producer});
            stage.event("session.started", fields);
        }
        stage.link(0, event());
        (stage.lines.last().cloned().unwrap_or_default(), stage.quit)
    };
    let failed: fn() -> LinkEvent = || LinkEvent::Failed {
        fault: Fault::Refused,
    };
    let ended: fn() -> LinkEvent = || LinkEvent::Ended;
    let (told, exit) = ends(&[], ended, true);
    assert!(told.ends_with("one has ended."), "{told}");
    assert_eq!(exit, Some(Exit::Clean), "nothing was under way");
    let (told, exit) = ends(&["Ann"], ended, false);
    assert!(told.ends_with("one has ended. Ann was not done."), "{told}");
    assert_eq!(exit, Some(Exit::Failed));
    let (told, _) = ends(&["Ann", "Bo"], ended, true);
    assert!(told.ends_with("Ann, Bo were not done."), "{told}");
    let (told, _) = ends(&["Ann", "Bo", "Cy", "Di"], ended, true);
    assert!(told.ends_with("4 runs were not done."), "{told}");
    let (told, exit) = ends(&["Ann"], failed, true);
    assert!(told.ends_with("Ann was not done."), "{told}");
    assert_eq!(exit, Some(Exit::NoSource));
    let (told, _) = ends(&["Ann"], failed, false);
    assert!(
        !phrase!("link.cut_short.*").is_in(&told),
        "behind a network it may go on: {told}"
    );
}

#[test]
fn who_waits_for_the_end_of_the_sessions_learns_that_one_ended_in_an_error() {
    for (until, wanted) in [
        (EndCondition::Ended, Some(Exit::Failed)),
        (
            EndCondition::Idle(Duration::from_secs(5)),
            Some(Exit::Clean),
        ),
    ] {
        let mut stage = Stage::new(Options { until, ..PIPE });
        stage.event("session.started", json!({"summary_normal": "s"}));
        let error = json!({"error_category": "internal", "error_message": "broken", "summary_normal": "It broke"});
        stage.event("session.errored", error);
        stage.wait(6000);
        assert_eq!(stage.quit, wanted, "{until:?}");
    }
}
