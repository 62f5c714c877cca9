use serde_json::{Value, json};

mod joined_captures;

use super::*;
use crate::protocol::{CORE_CONTEXT, Severity};

fn english() -> crate::announce::Phrases {
    crate::announce::Phrases::english().unwrap()
}

mod legal_streams;
mod repeated_findings;
mod session_account;
mod several_events;
mod trace;

/// A builder of streams: each event gets its envelope, and a second passes.
#[derive(Default)]
struct StreamBuilder {
    lines: Vec<String>,
    seconds: u32,
}

impl StreamBuilder {
    fn event(&mut self, session: &str, name: &str, fields: Value) -> &mut Self {
        self.seconds += 1;
        let mut event = json!({
            "@context": CORE_CONTEXT,
            "type": format!("aaep:agent.{name}"),
            "event_id": format!("evt_{}", self.seconds),
            "session_id": session,
            "timestamp": format!("2026-01-01T00:{:02}:{:02}.000Z", self.seconds / 60, self.seconds % 60),
            "producer": {"agent_id": "a", "agent_name": "Agent"},
            "urgency": "critical",
            "localization_hints": {"primary_language": "en"},
            "summary_normal": "s",
        });
        if name == "output.streaming" {
            event.as_object_mut().unwrap().remove("summary_normal");
        }
        for (key, value) in fields.as_object().unwrap() {
            event[key] = value.clone();
        }
        self.lines.push(event.to_string());
        self
    }

    fn on(&mut self, name: &str, fields: Value) -> &mut Self {
        self.event("sess_1", name, fields)
    }

    fn state(&mut self, from: &str, to: &str) -> &mut Self {
        self.on("state.changed", json!({"from_state": from, "to_state": to}))
    }

    fn check(&self) -> (Vec<ReportItem>, Summary) {
        check(&self.lines.join("\n"))
    }
}

/// Checks a stream line by line.
fn check(text: &str) -> (Vec<ReportItem>, Summary) {
    let mut checker = Checker::new();
    let mut items = Vec::new();
    for line in text.split('\n') {
        items.extend(checker.line(line));
    }
    let (last, summary) = checker.finish();
    items.extend(last);
    (items, summary)
}

#[test]
fn the_corpus_is_read() {
    for text in [
        include_str!("../../../../tests/corpus/events.jsonl"),
        include_str!("../../../../tests/corpus/odd.jsonl"),
    ] {
        assert!(check(text).1.events > 2);
    }
}

fn names(items: &[ReportItem]) -> Vec<(u64, &'static str)> {
    items.iter().map(|item| (item.line, item.rule)).collect()
}

#[test]
fn a_sound_session_is_clean() {
    let mut stream = StreamBuilder::default();
    stream
        .on("session.started", json!({}))
        .state("idle", "calling_tool")
        .on(
            "tool.invoked",
            json!({"tool": "look", "tool_call_id": "call_1"}),
        )
        .on(
            "tool.completed",
            json!({"tool": "look", "tool_call_id": "call_1", "status": "success"}),
        )
        .on("session.completed", json!({}));
    let (items, summary) = stream.check();
    assert_eq!(items, []);
    assert_eq!(summary.verdict(true), Verdict::Good);
    let session = &summary.sessions[0];
    assert_eq!(
        (session.events, session.tools, session.ended()),
        (5, 1, "completed")
    );
    assert_eq!((session.first_line, session.last_line), (1, 5));
    assert_eq!(session.time.as_secs(), 4);
}

#[test]
fn what_is_wrong_stands_at_its_line() {
    let mut stream = StreamBuilder::default();
    stream
        .on("session.started", json!({}))
        .on(
            "tool.completed",
            json!({"tool": "look", "status": "success"}),
        )
        .state("thinking", "x")
        .on("session.completed", json!({"duration_ms": -1}))
        .state("x", "y");
    let (items, summary) = stream.check();
    assert_eq!(
        names(&items),
        [
            (2, "completion_without_invocation"),
            (3, "first_state_not_idle"),
            (4, "out_of_range"),
            (5, "after_end"),
        ]
    );
    assert_eq!(
        items[0].to_text(&english()),
        "Line 2: error: tool.completed: the tool look returned without having been called (section A.8.1)"
    );
    assert_eq!(
        items[2].to_text(&english()),
        "Line 4: error: session.completed: duration_ms must be 0 to 86400000 (section 4.1.2)"
    );
    assert_eq!(summary.counts.errors, 4);
    assert_eq!(summary.sessions[0].counts.errors, 4);
    assert_eq!(summary.verdict(false), Verdict::Bad);
}

#[test]
fn what_is_open_at_the_end_is_said() {
    let mut stream = StreamBuilder::default();
    stream
        .on("session.started", json!({}))
        .state("idle", "calling_tool")
        .on("tool.invoked", json!({"tool": "look"}))
        .state("calling_tool", "writing_output")
        .on(
            "output.streaming",
            json!({"chunk": "c", "position": 0, "complete": false}),
        )
        .state("writing_output", "awaiting_input")
        .on(
            "awaiting.clarification",
            json!({"question": "q", "reply_token": "rpl_1", "timeout_seconds": 9}),
        );
    let (items, summary) = stream.check();
    let ends: Vec<&ReportItem> = items
        .iter()
        .filter(|item| item.place == FoundIn::End)
        .collect();
    let rules: Vec<&str> = ends.iter().map(|item| item.rule).collect();
    assert_eq!(
        rules,
        ["end_missing", "tool_open", "question_open", "output_open"]
    );
    assert!(
        ends.iter()
            .all(|item| item.severity == Severity::Warning && item.line == 7)
    );
    assert_eq!(
        ends[1].to_text(&english()),
        "End: warning: look has not returned (section A.3), session sess_1"
    );
    let session = &summary.sessions[0];
    assert_eq!(
        (
            session.open_tools.as_slice(),
            session.open_questions,
            session.open_outputs
        ),
        (["look".to_owned()].as_slice(), 1, 1)
    );
    assert_eq!(summary.verdict(false), Verdict::Good);
    assert_eq!(summary.verdict(true), Verdict::Bad);
}

#[test]
fn a_danger_is_an_error_and_is_called_one() {
    let mut stream = StreamBuilder::default();
    stream
        .on("session.started", json!({}))
        .on(
            "tool.invoked",
            json!({"tool": "wipe", "irreversible": true}),
        )
        .on(
            "tool.completed",
            json!({"tool": "wipe", "status": "success"}),
        )
        .on("session.completed", json!({}));
    let (items, summary) = stream.check();
    let dangers: Vec<String> = items
        .iter()
        .filter(|item| item.place == FoundIn::Danger)
        .map(|item| item.to_text(&english()))
        .collect();
    assert_eq!(
        dangers,
        [
            "Line 3: danger: tool.completed: wipe was done, can't be undone, and you were not asked (section A.8.4)"
        ]
    );
    assert_eq!(summary.counts.dangers, 1);
    assert_eq!(summary.verdict(false), Verdict::Bad);
}

#[test]
fn time_is_the_streams_own() {
    // Two seconds without a question are a danger, reported at the first line after them.
    let mut stream = StreamBuilder::default();
    stream
        .on("session.started", json!({}))
        .on(
            "tool.invoked",
            json!({"tool": "wipe", "irreversible": true}),
        )
        .on("progress.updated", json!({"progress": {"percent": 1}}))
        .on("progress.updated", json!({"progress": {"percent": 2}}))
        .on("progress.updated", json!({"progress": {"percent": 3}}));
    let (items, _) = stream.check();
    let dangers: Vec<(u64, &str)> = items
        .iter()
        .filter(|item| item.place == FoundIn::Danger)
        .map(|item| (item.line, item.rule))
        .collect();
    assert_eq!(dangers, [(4, "unasked")]);
    assert_eq!(
        stream.check().0,
        items,
        "the same file gives the same report"
    );
}

/// The chapters print the person's replies between the events.
#[test]
fn a_reply_in_a_capture_is_the_decision() {
    let mut stream = StreamBuilder::default();
    stream
        .on("session.started", json!({}))
        .state("idle", "thinking")
        .state("thinking", "awaiting_input")
        .on(
            "awaiting.confirmation",
            json!({"action": "Transfer $500 to savings.", "consequence": "It is gone.", "reply_token": "rpl_1",
                "timeout_seconds": 60, "default_decision": "reject", "urgency": "critical"}),
        )
        .state("awaiting_input", "calling_tool")
        .on("tool.invoked", json!({"tool": "transfer_funds", "tool_call_id": "call_1", "summary_normal": "Working."}))
        .on("tool.completed", json!({"tool": "transfer_funds", "tool_call_id": "call_1", "status": "success"}));
    for (decision, wanted) in [
        ("accept", &[][..]),
        (
            "reject",
            &["invoked_after_rejection", "done_after_rejection"],
        ),
    ] {
        let reply =
            json!({"type": "confirmation.reply", "reply_token": "rpl_1", "decision": decision});
        let mut lines = stream.lines.clone();
        lines.insert(4, reply.to_string());
        let (items, _) = check(&lines.join("\n"));
        let found: Vec<&str> = items.iter().map(|item| item.rule).collect();
        let about = found.iter().filter(|rule| rule.contains("rejection"));
        assert_eq!(about.copied().collect::<Vec<_>>(), wanted, "{decision}");
        assert!(!found.contains(&"not_an_event"), "{found:?}");
        let mut tracer = Tracer::new();
        lines.iter().for_each(|line| tracer.line(line));
        let traced = tracer.finish(Format::Text, &english()).unwrap();
        assert!(
            traced.contains("unanswered to sending, by decided"),
            "{traced}"
        );
    }
}

#[test]
fn lines_that_are_no_events_are_errors_or_notes() {
    let mut stream = StreamBuilder::default();
    stream
        .on("session.started", json!({}))
        .on("session.completed", json!({}));
    let deep = "[".repeat(200) + &"]".repeat(200);
    let text = format!(
        "\u{feff}{}\nnot json\n\n[1]\n{{}}\n{{\"type\":\"a:b\",}}\n{deep}\n{{\"type\":\"subscription.request\"}}\n{{\"type\":\"confirmation.reply\"}}\n{}\n{{\"cut",
        stream.lines[0], stream.lines[1]
    );
    let (items, summary) = check(&text);
    assert_eq!(
        names(&items),
        [
            (2, "not_aaep"),
            (4, "not_aaep"),
            (5, "not_aaep"),
            (6, "not_json"),
            (7, "too_deep"),
            (8, "not_an_event"),
            (9, "not_an_event"),
            (11, "not_json"),
        ]
    );
    assert_eq!(
        items[0].problem(&english()),
        "the line is not AAEP; it looks like plain text"
    );
    assert_eq!(
        items[2].problem(&english()),
        "the line is not AAEP; it looks like JSON without a type"
    );
    assert_eq!(
        items[3].problem(&english()),
        "the line is not JSON, at column 15"
    );
    assert_eq!((summary.lines, summary.events), (11, 2));
    let mut checker = Checker::new();
    let mut repeats = RepeatedFindings::default();
    let written = ["x", "y", "{\"a\":1}", "z"].map(|line| {
        let items = checker.line(line).into_iter();
        items
            .filter(|item| repeats.take(item.clone()) == Ok(true))
            .count()
    });
    assert_eq!(written, [1, 0, 1, 0], "each kind once");
    let (_, none) = check("x\ny");
    assert_eq!(none.verdict(false), Verdict::Unusable);
    assert_eq!(check("").1.verdict(false), Verdict::Unusable);
}

#[test]
fn a_pretty_event_is_one_event() {
    let mut stream = StreamBuilder::default();
    stream.on("session.started", json!({"urgency": "loud"}));
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<Value>(&stream.lines[0]).unwrap())
            .unwrap();
    let (items, summary) = check(&format!("\n{pretty}\n"));
    assert_eq!(names(&items)[0], (2, "undefined_value"));
    assert_eq!(summary.events, 1);
}

#[test]
fn order_of_delivery_is_told_as_it_is() {
    let mut stream = StreamBuilder::default();
    stream
        .on("session.started", json!({"sequence_number": 0}))
        .on(
            "progress.updated",
            json!({"sequence_number": 1, "progress": {"percent": 1}}),
        )
        .on(
            "progress.updated",
            json!({"sequence_number": 2, "progress": {"percent": 2}}),
        )
        .on("session.completed", json!({"sequence_number": 3}));
    let same = "2026-01-01T00:00:02.000Z";
    for line in &mut stream.lines[1..] {
        let mut event: Value = serde_json::from_str(line).unwrap();
        event["timestamp"] = same.into();
        *line = event.to_string();
    }
    stream.lines.swap(1, 2);
    let copy = stream.lines[0].clone();
    stream.lines.push(copy);
    let (items, summary) = stream.check();
    assert_eq!(names(&items), [(2, "held"), (5, "duplicate")]);
    assert!(items.iter().all(|item| item.severity == Severity::Note));
    assert_eq!(summary.sessions[0].ended(), "completed");
}

#[test]
fn nothing_of_a_payload_and_nothing_unseen_is_in_a_report() {
    let secret = "hunter2";
    let mut stream = StreamBuilder::default();
    let nasty = format!("\u{1b}[2J\u{202e}\n{}", "x".repeat(5000));
    stream
        .on(
            "session.started",
            json!({"summary_normal": secret, "request_text": secret, nasty.as_str(): secret}),
        )
        .event(
            "sess_\u{1b}]0;x\u{7}",
            "state.changed",
            json!({"from_state": nasty, "to_state": nasty, "summary_terse": 7}),
        )
        .event(
            "sess_2",
            "tool.completed",
            json!({"tool": nasty, "status": secret, "error_message": secret}),
        )
        .event(
            &nasty,
            "tool.invoked",
            json!({"tool": nasty, "args_summary": secret, "risk_level": secret}),
        )
        .event(
            "sess_3",
            "awaiting.confirmation",
            json!({"action": secret, "reply_token": secret, "timeout_seconds": 1}),
        );
    stream
        .lines
        .push(json!({"type": format!("subscription.{nasty}")}).to_string());
    stream.lines.push(format!("{secret} {nasty}"));
    let (items, summary) = stream.check();
    let mut all = summary.to_text(false, &english()) + &summary.to_json(false);
    for item in &items {
        all += &format!(
            "{}\n{}\n",
            item.to_text(&english()),
            item.to_json(&english())
        );
    }
    let mut tracer = Tracer::new();
    let mut drawn = Tracer::new();
    for line in stream.lines.join("\n").split('\n') {
        tracer.line(line);
        drawn.line(line);
    }
    all += &tracer.finish(Format::Text, &english()).unwrap();
    all += &drawn.finish(Format::Mermaid, &english()).unwrap();
    assert!(!all.contains(secret));
    assert!(
        all.chars()
            .all(|c| c == '\n' || !c.is_control() && c != '\u{202e}')
    );
    for line in all.lines() {
        assert!(line.len() < 4000, "{line}");
    }
    assert!(all.lines().all(|line| !line.starts_with("xxx")));
}

#[test]
fn memory_stays_bounded_whatever_comes() {
    let mut checker = Checker::new();
    let mut stream = StreamBuilder::default();
    for n in 0..1500 {
        stream.lines.clear();
        stream.event(&format!("sess_{n}"), "session.started", json!({}));
        checker.line(&stream.lines[0]);
    }
    let (_, summary) = checker.finish();
    assert_eq!((summary.sessions.len(), summary.more_sessions), (1000, 500));
    assert!(summary.to_text(false, &english()).contains("1500 sessions"));
}

#[test]
fn every_name_of_a_rule_is_one_rules() {
    let mut all: Vec<&str> = crate::protocol::Rule::ALL
        .iter()
        .map(|rule| rule.name())
        .collect();
    all.extend(
        crate::session::AnomalyKind::ALL
            .iter()
            .map(|kind| kind.name()),
    );
    all.extend(StreamRule::ALL.iter().map(|rule| rule.name()));
    let distinct: std::collections::BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(distinct.len(), all.len());
}
