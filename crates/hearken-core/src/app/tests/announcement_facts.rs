//! What events contain besides their words: in detail, on request, and copied.

use super::*;
use crate::config::Verbosity;

fn errored() -> Value {
    json!({"urgency": "critical", "summary_normal": "The mail could not be sent.",
        "error_category": "unknown", "error_code": "TOOL_TIMEOUT", "recoverable": true,
        "error_uri": "https://aid.example/timeouts"})
}

fn detailed() -> Config {
    let mut config = Config::default();
    config.announce.verbosity = Verbosity::Detailed;
    config
}

#[test]
fn what_is_known_beside_the_words_is_told_when_it_is_asked_for_and_copied() {
    let mut stage = Stage::new(PIPE);
    stage.event("session.started", json!({"summary_normal": "Sending"}));
    stage.type_line("d");
    stage.assert_heard(phrase!("reply.no_question"));
    stage.event("session.errored", errored());
    assert!(!stage.heard("TOOL_TIMEOUT") && !stage.heard("aid.example"));
    stage.type_line("d");
    for words in [
        "Error code: TOOL_TIMEOUT.",
        "It can be tried again.",
        "Help: https://aid.example/timeouts",
    ] {
        assert!(stage.heard(words), "{words}: {:?}", stage.lines);
    }
    stage.type_line("z");
    stage.assert_heard(phrase!(
        "copy.done",
        address = "https://aid.example/timeouts"
    ));
    assert_eq!(stage.copied, ["https://aid.example/timeouts"]);
}

#[test]
fn in_detail_every_field_is_told() {
    for (kind, fields, told) in [
        (
            "session.started",
            json!({"expected_duration_ms": 30000, "producer": {"agent_id": "agent_1",
                "agent_name": "Agent", "agent_version": "2.3", "model": "large-1"}}),
            "It may take 30 seconds. Model: large-1. Version: 2.3.",
        ),
        (
            "progress.updated",
            json!({"progress": {"percent": 10, "step": 3, "total_steps": 5}}),
            "Step 3 of 5.",
        ),
        (
            "progress.updated",
            json!({"progress": {"percent": 10, "step": 3, "total_steps": 5, "description": "Comparing prices"},
                "summary_normal": "Nearly there"}),
            "10 percent. Step 3 of 5. Comparing prices",
        ),
        (
            "session.completed",
            json!({"result_uri": "https://r.example/1"}),
            "The result: https://r.example/1",
        ),
        (
            "session.errored",
            errored(),
            "Error code: TOOL_TIMEOUT. It can be tried again. Help: https://aid.example/timeouts",
        ),
        (
            "session.cancelled",
            json!({"cancelled_by": "user", "cancellation_reason": "user_pressed_escape"}),
            "Reason: user pressed escape.",
        ),
        (
            "state.changed",
            json!({"from_state": "idle", "to_state": "thinking", "expected_duration_ms": 4000}),
            "It may last 4 seconds.",
        ),
        (
            "progress.updated",
            json!({"progress": {"percent": 10}, "eta_ms": 12000}),
            "About 12 seconds left.",
        ),
        (
            "progress.updated",
            json!({"progress": {"percent": 20}, "estimated_remaining_ms": 5000}),
            "About 5 seconds left.",
        ),
        (
            "tool.invoked",
            json!({"tool": "look", "risk_level": "high", "expected_duration_ms": 2000}),
            "High risk. It may take 2 seconds.",
        ),
        (
            "handoff.requested",
            json!({"urgency": "critical", "reason": "A person must look.", "target_kind": "human",
                "urgency_for_handoff": "high", "target_uri": "queue://advisors/1"}),
            "It is urgent. It goes to: queue://advisors/1",
        ),
    ] {
        for (config, is_told) in [(detailed(), true), (Config::default(), false)] {
            let mut stage = Stage::with(PIPE, config);
            if kind != "session.started" {
                stage.event("session.started", json!({}));
            }
            stage.event(kind, fields.clone());
            assert_eq!(
                stage.heard(told),
                is_told,
                "{kind} {told}: {:?}",
                stage.lines
            );
        }
    }
}

#[test]
fn the_status_tells_what_is_at_stake_and_how_long_it_takes() {
    let mut stage = Stage::new(PIPE);
    stage.event(
        "session.started",
        json!({"producer": {"agent_id": "agent_1",
        "agent_name": "Agent", "model": "large-1"}}),
    );
    stage.event(
        "progress.updated",
        json!({"progress": {"percent": 10}, "eta_ms": 12000}),
    );
    stage.event(
        "tool.invoked",
        json!({"tool": "look_up", "risk_level": "medium", "expected_duration_ms": 2000}),
    );
    stage.lines.clear();
    stage.type_line("t");
    stage.assert_heard("About 12 seconds left. look up: Medium risk. It may take 2 seconds.");
    stage.assert_not_heard("large-1");
}

#[test]
fn only_an_address_is_copied_clean_and_where_there_is_a_terminal() {
    let mut stage = Stage::new(PIPE);
    stage.type_line("z");
    stage.assert_heard(phrase!("copy.nothing"));
    stage.event("session.started", json!({}));
    stage.event(
        "session.completed",
        json!({"result_uri": "https://r.example/\u{1b}]52;c;AAAA\u{7}\u{202e}1"}),
    );
    stage.type_line("z");
    assert_eq!(stage.copied, ["https://r.example/1"]);

    let mut stage = Stage::new(PIPE);
    stage.event("session.started", json!({}));
    let long = format!("https://r.example/{}", "x".repeat(3000));
    stage.event("session.completed", json!({"result_uri": long}));
    stage.type_line("z");
    stage.assert_heard(phrase!("copy.too_long"));

    let face = ("start.face.linear", "start.why.asked");
    stage.app.cx.face = Face::new(AnswerMethod::Lines, Some(LineSource::Pipe), face, false);
    stage.type_line("z");
    stage.assert_heard(phrase!("copy.nowhere"));
    assert!(stage.copied.is_empty());
}

#[test]
fn a_state_is_labelled_once_and_a_picture_has_its_name() {
    for (fields, shown, spoken) in [
        (
            json!({"to_state": "pondering"}),
            "pondering.",
            "State: pondering.",
        ),
        (
            json!({"to_state": "\u{1f914}"}),
            "thinking.",
            "State: thinking.",
        ),
        (
            json!({"to_state": "looking", "summary_normal": "State: looking around"}),
            "looking around",
            "looking around",
        ),
    ] {
        let mut stage = Stage::with(PIPE, detailed());
        let mut event = json!({"from_state": "idle"});
        for (name, value) in fields.as_object().unwrap() {
            event[name] = value.clone();
        }
        stage.event("state.changed", event);
        let mut told = stage.app.history().iter();
        let state = |told: &&std::sync::Arc<crate::announce::Announcement>| {
            told.kind == crate::announce::AnnouncementKind::State
        };
        let told = told.rfind(state).unwrap();
        assert_eq!(
            (told.shown().as_str(), told.spoken().as_str()),
            (shown, spoken)
        );
    }
}

#[test]
fn the_message_beside_the_summary_of_an_error_is_told_or_waits_to_be_asked_for() {
    let fields = || json!({"urgency": "critical", "summary_normal": "It failed.", "error_message": "550 no such box"});
    let mut stage = Stage::with(PIPE, detailed());
    stage.event("session.errored", fields());
    stage.assert_heard("It failed. 550 no such box");
    let mut config = Config::default();
    config.announce.verbosity = Verbosity::Terse;
    let mut stage = Stage::with(PIPE, config);
    stage.event("session.errored", fields());
    assert!(stage.heard("It failed.") && !stage.heard("550"));
    stage.type_line("d");
    stage.assert_heard(phrase!("fact.error", message = "550 no such box"));
}

#[test]
fn whether_trying_again_helps_is_never_said_both_ways() {
    let promises = [
        "trying again may help",
        "Trying again will not help",
        "trying again will not help",
        "can be tried again",
    ];
    for (category, recoverable, wanted) in [
        (
            "transient",
            Some(false),
            &["Trying again will not help"][..],
        ),
        ("permanent", Some(true), &["can be tried again"]),
        ("transient", Some(true), &["trying again may help"]),
        ("permanent", Some(false), &["trying again will not help"]),
        ("transient", None, &["trying again may help"]),
    ] {
        let mut stage = Stage::with(PIPE, detailed());
        stage.event("session.started", json!({"summary_normal": "Sending"}));
        let mut event =
            json!({"urgency": "critical", "summary_normal": "No.", "error_category": category});
        if let Some(recoverable) = recoverable {
            event["recoverable"] = recoverable.into();
        }
        stage.lines.clear();
        stage.event("session.errored", event);
        let said = stage.lines.concat();
        let found: Vec<&str> = promises
            .into_iter()
            .filter(|words| said.contains(words))
            .collect();
        assert_eq!(found, wanted, "{category} {recoverable:?}: {said}");
    }
}

#[test]
fn a_question_whose_time_is_over_promises_nothing_for_less_than_a_second() {
    let mut stage = Stage::new(PIPE);
    stage.event("session.started", json!({"summary_normal": "Sending"}));
    stage.event(
        "awaiting.clarification",
        json!({"question": "Which one?", "reply_token": "rpl_1", "timeout_seconds": 30,
            "default_response": "the first", "urgency": "critical"}),
    );
    stage.assert_heard(phrase!(
        "question.timeout.response",
        time = "30 seconds",
        response = "the first"
    ));
    stage.wait(31_000);
    stage.lines.clear();
    stage.type_line("d 1");
    stage.type_line("? 1");
    let said = stage.lines.concat();
    assert!(said.contains("Which one?"), "{said}");
    assert!(!phrase!("time.instant").is_in(&said), "{said}");
    assert!(!said.contains("In 0"), "{said}");
}

#[test]
fn everything_that_is_kept_is_given_to_who_asks_at_any_verbosity() {
    let started = json!({"requested_by": "user:folake", "tools_available": ["fetch_balance", "draft"],
        "correlation_id": "00-4bf9-01"});
    let called = json!({"tool": "draft", "summary_normal": "Drafting", "description": "Writes a plan.",
        "correlation_id": "00-4bf9-02"});
    for verbosity in [Verbosity::Terse, Verbosity::Normal, Verbosity::Detailed] {
        let mut config = Config::default();
        config.announce.verbosity = verbosity;
        let mut stage = Stage::with(PIPE, config);
        stage.event("session.started", started.clone());
        assert!(
            !stage.heard("00-4bf9-01") && !stage.heard("fetch balance"),
            "{:?}",
            stage.lines
        );
        stage.type_line("d");
        for words in [
            "Asked for by user folake.",
            "It can use 2 tools: fetch balance, draft.",
            "Correlation id: 00-4bf9-01",
        ] {
            assert!(
                stage.heard(words),
                "{verbosity:?} {words}: {:?}",
                stage.lines
            );
        }
        stage.event("tool.invoked", called.clone());
        stage.type_line("d");
        for words in ["Writes a plan.", "Correlation id: 00-4bf9-02"] {
            assert!(
                stage.heard(words),
                "{verbosity:?} {words}: {:?}",
                stage.lines
            );
        }
    }
}
