//! The trace of a stream.

use super::*;

#[test]
fn a_trace_names_every_step_and_marks_what_no_table_has() {
    let mut stream = StreamBuilder::default();
    stream
        .on("session.started", json!({}))
        .state("idle", "dreaming")
        .state("dreaming", "thinking")
        .on(
            "tool.completed",
            json!({"tool": "look", "status": "success"}),
        )
        .on(
            "output.streaming",
            json!({"chunk": "a", "position": 0, "complete": true}),
        )
        .on(
            "output.streaming",
            json!({"chunk": "b", "position": 1, "complete": false}),
        )
        .on("session.completed", json!({}))
        .on("session.started", json!({"event_id": "evt_again"}))
        .on("session.completed", json!({}));
    let trace = |format| {
        let mut tracer = Tracer::new();
        for line in &stream.lines {
            tracer.line(line);
        }
        tracer.finish(format, &english()).unwrap()
    };
    let text = trace(Format::Text);
    for words in [
        "session: no session to active, by session.started",
        "state: idle to dreaming",
        "dreaming to thinking",
        "illegal: tool look: not called does not take tool.completed success",
        "output: not begun to complete, by last chunk",
        "illegal: output: complete does not take chunk",
        "session: active to completed, by session.completed",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let steps: Vec<Value> = trace(Format::Json)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        steps
            .iter()
            .filter(|step| step["verdict"] == "illegal")
            .count()
            >= 2,
        "{steps:?}"
    );
    assert_eq!(steps.last().unwrap()["kind"], "total");
    let first = &steps[0];
    assert_eq!(
        (first["seconds"].as_f64(), first["at"].as_str()),
        (Some(0.0), Some("2026-01-01T00:00:01Z"))
    );
    assert!(trace(Format::Mermaid).contains("illegal chunk at 5.000 s"));
    assert_eq!(Tracer::new().finish(Format::Text, &english()), None);
}

#[test]
fn a_trace_names_the_line_that_an_event_stood_on() {
    let mut stream = StreamBuilder::default();
    let step = |n: u64, to: &str| json!({"sequence_number": n, "from_state": "x", "to_state": to});
    stream
        .on("session.started", json!({"sequence_number": 0}))
        .on("state.changed", step(1, "one"))
        .on("state.changed", step(3, "three"))
        .on("state.changed", step(2, "two"))
        .on("session.completed", json!({"sequence_number": 4}));
    // All have the same time: the third waits for the fourth.
    for line in &mut stream.lines {
        let mut event: Value = serde_json::from_str(line).unwrap();
        event["timestamp"] = "2026-01-01T00:00:02.000Z".into();
        *line = event.to_string();
    }
    let mut tracer = Tracer::new();
    for line in &stream.lines {
        tracer.line(line);
    }
    let lines: Vec<(String, u64)> = tracer
        .finish(Format::Json, &english())
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|step| step["kind"] == "step")
        .map(|step| {
            let to = step["to"].as_str().unwrap().to_owned();
            (to, step["line"].as_u64().unwrap())
        })
        .collect();
    let wanted = [
        ("active", 1),
        ("one", 2),
        ("two", 4),
        ("three", 3),
        ("completed", 5),
    ];
    assert_eq!(lines, wanted.map(|(to, line)| (to.to_owned(), line)));
}

/// A.9: two agents under one session id, and a session that is part of another, have separate machines.
#[test]
fn several_agents_have_a_trace_each() {
    let mut stream = StreamBuilder::default();
    let b = json!({"agent_id": "b"});
    stream
        .on("session.started", json!({}))
        .on(
            "state.changed",
            json!({"producer": b, "from_state": "idle", "to_state": "thinking"}),
        )
        .on("session.completed", json!({"producer": b}))
        .event(
            "sess_2",
            "session.started",
            json!({"extensions": {"parent_session_id": "sess_1"}}),
        )
        .event("sess_2", "session.completed", json!({}))
        .on("session.completed", json!({}));
    let (items, summary) = stream.check();
    assert!(
        items.iter().all(|item| item.severity == Severity::Note),
        "{items:?}"
    );
    assert_eq!(summary.sessions.len(), 3);
    assert!(
        summary
            .sessions
            .iter()
            .all(|session| session.ended() == "completed")
    );
    let mut tracer = Tracer::new();
    for line in &stream.lines {
        tracer.line(line);
    }
    let text = tracer.finish(Format::Mermaid, &english()).unwrap();
    assert_eq!(text.matches("stateDiagram-v2").count(), 3);
}

/// A question of a recording can't be answered, so only the timestamps of its events show that its time was up.
#[test]
fn a_trace_says_that_a_question_timed_out() {
    for (seconds, is_over) in [(59, false), (60, true), (75, true)] {
        let mut stream = StreamBuilder::default();
        stream.on("session.started", json!({}));
        let entered = json!({"from_state": "idle", "to_state": "awaiting_input"});
        stream.on("state.changed", entered);
        let asked = json!({"action": "Transfer $500.", "consequence": "Funds move.", "reply_token": "rpl_1",
            "timeout_seconds": 60, "default_decision": "reject", "risk_level": "high"});
        stream.on("awaiting.confirmation", asked);
        stream.seconds += seconds - 1;
        let left = json!({"from_state": "awaiting_input", "to_state": "calling_tool"});
        stream.on("state.changed", left);
        let trace = |format| {
            let mut tracer = Tracer::new();
            for line in &stream.lines {
                tracer.line(line);
            }
            tracer.finish(format, &english()).unwrap()
        };
        for (format, words) in [
            (
                Format::Text,
                "question 1: unanswered to timed out, by time ended; line 4, 62.000 s",
            ),
            (Format::Mermaid, "time ended at 62.000 s"),
            (Format::Json, r#""seconds":62.0"#),
        ] {
            let text = trace(format);
            assert_eq!(text.contains(words), is_over, "{seconds}: {text}");
        }
    }
}
