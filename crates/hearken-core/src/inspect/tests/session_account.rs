//! What a session says about itself, compared with what it does: listed tools, counted calls, positions in a text.

use hearken_wording::phrase;

use super::*;

fn found(stream: &StreamBuilder) -> Vec<(u64, &'static str)> {
    let mut found = names(&stream.check().0);
    found.retain(|(_, rule)| ["position_gap", "count_differs", "tool_not_listed"].contains(rule));
    found
}

fn call(stream: &mut StreamBuilder, tool: &str) {
    stream
        .on("tool.invoked", json!({"tool": tool}))
        .on("tool.completed", json!({"tool": tool, "status": "success"}));
}

fn chunk(stream: &mut StreamBuilder, text: &str, position: u64, output: &str) {
    stream.on(
        "output.streaming",
        json!({"chunk": text, "position": position, "complete": false, "output_id": output}),
    );
}

#[test]
fn a_text_that_is_missing_before_a_chunk_is_found() {
    let mut stream = StreamBuilder::default();
    stream.on("session.started", json!({}));
    chunk(&mut stream, "Grüße", 0, "out_1");
    chunk(&mut stream, ", you", 9, "out_1");
    assert_eq!(found(&stream), [(3, "position_gap")]);
    let (items, _) = stream.check();
    let gap = items
        .iter()
        .find(|item| item.rule == "position_gap")
        .unwrap();
    assert!(
        gap.to_text(&english())
            .contains("text is missing before the chunk, 2 or more")
    );
}

#[test]
fn positions_in_any_unit_and_over_all_outputs_have_no_gap() {
    // Counted in characters, and in bytes.
    for next in [5, 7] {
        let mut stream = StreamBuilder::default();
        stream.on("session.started", json!({}));
        chunk(&mut stream, "Grüße", 0, "out_1");
        chunk(&mut stream, ", you", next, "out_1");
        assert_eq!(found(&stream), [], "{next}");
    }
    let mut stream = StreamBuilder::default();
    stream.on("session.started", json!({}));
    chunk(&mut stream, "One. ", 0, "out_1");
    chunk(&mut stream, "Two. ", 5, "out_2");
    chunk(&mut stream, "Three. ", 10, "out_1");
    assert_eq!(found(&stream), []);
}

#[test]
fn a_count_of_calls_that_differs_from_those_that_were_seen_is_found_in_a_whole_session() {
    for (stated, wanted) in [(2, vec![]), (3, vec![(6, "count_differs")])] {
        let mut stream = StreamBuilder::default();
        stream.on("session.started", json!({}));
        call(&mut stream, "look");
        call(&mut stream, "see");
        let end = json!({"tool_invocations_count": stated});
        stream.on("session.completed", end);
        assert_eq!(found(&stream), wanted, "{stated}");
        let (items, _) = stream.check();
        for item in items.iter().filter(|item| item.rule == "count_differs") {
            let text = item.to_text(&english());
            assert!(
                phrase!("check.count_differs", stated = 3, seen = 2).is_in(&text),
                "{text}"
            );
        }
        // If the stream was joined later, lost an event or has unreadable lines, the missing part may explain
        // the difference.
        stream.lines[1] = "{".repeat(3);
        assert_eq!(found(&stream), [], "{stated}");
        stream.lines.drain(..2);
        assert_eq!(found(&stream), [], "{stated}");
    }
}

#[test]
fn a_count_may_include_the_calls_of_helpers() {
    let mut stream = StreamBuilder::default();
    stream.on("session.started", json!({}));
    call(&mut stream, "look");
    for (name, fields) in [
        ("tool.invoked", json!({"tool": "see"})),
        (
            "tool.completed",
            json!({"tool": "see", "status": "success"}),
        ),
    ] {
        let mut fields = fields;
        fields["producer"] = json!({"agent_id": "b"});
        stream.on(name, fields);
    }
    stream.on("session.completed", json!({"tool_invocations_count": 2}));
    assert_eq!(found(&stream), []);
}

/// The chapters don't say whether the calls of linked sessions count (4.1.2, A.9).
#[test]
fn a_count_may_include_the_calls_of_linked_sessions() {
    for (stated, differs) in [(1, false), (2, true), (3, false), (4, true)] {
        for joined in [false, true] {
            let mut stream = StreamBuilder::default();
            stream.on("session.started", json!({}));
            call(&mut stream, "look");
            for (session, parent) in [("sess_2", "sess_1"), ("sess_3", "sess_2")] {
                let of = |mut fields: Value| {
                    fields["extensions"] = json!({"parent_session_id": parent});
                    fields["producer"] = json!({"agent_id": "b"});
                    fields
                };
                if !joined {
                    stream.event(session, "session.started", of(json!({})));
                }
                stream.event(session, "tool.invoked", of(json!({"tool": "see"})));
                let done = json!({"tool": "see", "status": "success"});
                stream.event(session, "tool.completed", of(done));
                let end = of(json!({"tool_invocations_count": 1}));
                stream.event(session, "session.completed", end);
            }
            stream.on(
                "session.completed",
                json!({"tool_invocations_count": stated}),
            );
            let found = found(&stream);
            let rules: Vec<&str> = found.iter().map(|(_, rule)| *rule).collect();
            // A call of a joined session may have been missed.
            let wanted: &[&str] = if differs && !joined {
                &["count_differs"]
            } else {
                &[]
            };
            assert_eq!(rules, wanted, "{stated} {joined}");
        }
    }
}

#[test]
fn a_tool_that_the_start_does_not_list_is_found() {
    let mut stream = StreamBuilder::default();
    stream.on("session.started", json!({"tools_available": ["look"]}));
    call(&mut stream, "look");
    call(&mut stream, "rm");
    assert_eq!(found(&stream), [(4, "tool_not_listed")]);
    let (items, _) = stream.check();
    let item = items
        .iter()
        .find(|item| item.rule == "tool_not_listed")
        .unwrap();
    assert_eq!(item.field, "rm");
    let mut stream = StreamBuilder::default();
    stream.on("session.started", json!({}));
    call(&mut stream, "rm");
    assert_eq!(found(&stream), []);
}

#[test]
fn two_starts_are_found_whichever_agent_sends_the_second() {
    for agent in ["a", "b"] {
        let mut stream = StreamBuilder::default();
        stream.on("session.started", json!({}));
        let second = json!({"producer": {"agent_id": agent}});
        stream.on("session.started", second);
        let found = names(&stream.check().0);
        assert!(found.contains(&(2, "second_start")), "{agent}: {found:?}");
    }
}

#[test]
fn a_reply_in_a_capture_counts_and_a_call_after_its_rejection_is_found() {
    for (decision, wanted) in [("reject", true), ("accept", false)] {
        let mut stream = StreamBuilder::default();
        stream.on("session.started", json!({})).on(
            "awaiting.confirmation",
            json!({"action": "Send the email", "consequence": "It is sent", "reply_token": "rpl_1",
                "timeout_seconds": 60, "default_decision": "reject", "risk_level": "high"}),
        );
        let reply = json!({"type": "confirmation.reply", "reply_token": "rpl_1", "decision": decision,
            "subscription_id": "sub_1", "timestamp": "2026-01-01T00:00:03.000Z"});
        stream.lines.push(reply.to_string());
        stream.seconds = 3;
        stream.on(
            "tool.invoked",
            json!({"tool": "send_email", "tool_call_id": "call_1", "irreversible": true}),
        );
        let found = names(&stream.check().0);
        let has = found.contains(&(4, "invoked_after_rejection"));
        assert_eq!(has, wanted, "{decision}: {found:?}");
    }
}

#[test]
fn a_start_that_comes_late_is_one_fault() {
    let mut stream = StreamBuilder::default();
    stream
        .state("idle", "thinking")
        .on("session.started", json!({}))
        .on("session.completed", json!({}));
    let found = names(&stream.check().0);
    assert_eq!(found, [(2, "late_start")]);
}
