//! Captures that begin in the middle of a run.

use super::*;

/// Wherever a legal run is joined, it gives no error and no danger.
#[test]
fn a_legal_capture_has_no_error_wherever_it_begins() {
    let steps = [
        ("session.started", json!({})),
        (
            "state.changed",
            json!({"from_state": "idle", "to_state": "thinking"}),
        ),
        (
            "state.changed",
            json!({"from_state": "thinking", "to_state": "awaiting_input"}),
        ),
        (
            "awaiting.confirmation",
            json!({"action": "Call wipe", "consequence": "All is gone.", "reply_token": "rpl_0123456789abcdef", "timeout_seconds": 300, "default_decision": "reject",
                   "risk_level": "high", "irreversible": true}),
        ),
        (
            "state.changed",
            json!({"from_state": "awaiting_input", "to_state": "calling_tool"}),
        ),
        (
            "tool.invoked",
            json!({"tool": "wipe", "tool_call_id": "call_1", "irreversible": true}),
        ),
        (
            "tool.completed",
            json!({"tool": "wipe", "tool_call_id": "call_1", "status": "success"}),
        ),
        (
            "state.changed",
            json!({"from_state": "calling_tool", "to_state": "writing_output"}),
        ),
        (
            "output.streaming",
            json!({"output_id": "out_1", "chunk": "It is ", "position": 0, "complete": false}),
        ),
        (
            "output.streaming",
            json!({"output_id": "out_1", "chunk": "done.", "position": 6, "complete": true}),
        ),
        ("session.completed", json!({})),
    ];
    for joined in 0..steps.len() {
        let mut stream = StreamBuilder::default();
        for (number, (name, fields)) in steps.iter().enumerate().skip(joined) {
            let mut fields = fields.clone();
            fields["sequence_number"] = json!(number);
            stream.on(name, fields);
        }
        let (items, summary) = stream.check();
        assert_eq!(summary.verdict(false), Verdict::Good, "{joined}: {items:?}");
        let mut order: Vec<&str> = items
            .iter()
            .filter(|item| item.place == FoundIn::Order)
            .map(|item| item.rule)
            .collect();
        order.sort_unstable();
        let wanted: &[&str] = match joined {
            0 => &[],
            // The question lies before the first line.
            4 | 5 => &["perhaps_unasked_done", "start_missing"],
            _ => &["start_missing"],
        };
        assert_eq!(order, wanted, "{joined}");
    }
}
