//! Permissions that are requested twice, or two at the same time.

use serde_json::{Value, json};

use crate::protocol::Decision;

use super::super::super::{DialectOutput, TransportKind};
use super::document_examples::{asks, begun, decision, message, reply, resolved};
use super::{SageBench, briefs, events};

#[test]
fn a_permission_that_is_asked_again_is_of_the_same_call() {
    let mut bench = SageBench::new(TransportKind::Lines);
    let mut out = Vec::new();
    for frame in [
        asks(),
        resolved("allow"),
        asks(),
        message("turn.completed", json!({}), json!({"status": "failed"})),
    ] {
        out.extend(bench.frame(&frame));
    }
    let kinds: Vec<String> = briefs(&out)
        .iter()
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds,
        [
            "state.changed",
            "awaiting.confirmation",
            "state.changed",
            "tool.invoked",
            "state.changed",
            "awaiting.confirmation",
            "state.changed",
            "tool.completed",
            "session.errored"
        ]
    );
}

/// Every way in which a turn may end leaves its questions first, and says that they stay without an answer.
#[test]
fn a_turn_that_ends_with_open_questions_leaves_them_first() {
    for payload in [
        json!({"status": "completed", "result": "Cleaned."}),
        json!({"status": "failed"}),
        json!({"status": "interrupted"}),
        json!({"status": "failed", "reason": "needs_user_input"}),
    ] {
        for asked in [1, 2] {
            let mut bench = begun();
            bench.frame(&asks());
            if asked == 2 {
                let fields = json!({"request_id": "r/2", "item_id": "c2"});
                let second = json!({"tool_name": "bash", "risk": "high", "input_redacted": false,
                    "input": {"cmd": "touch c2"}});
                bench.frame(&message("permission.requested", fields, second));
            }
            let out = bench.frame(&message("turn.completed", json!({}), payload.clone()));
            let all = events(&out);
            let left = |event: &&Value| event["from_state"] == "awaiting_input";
            let left: Vec<&Value> = all.iter().filter(left).collect();
            assert_eq!(left.len(), 1, "{payload} {asked}: {:?}", briefs(&out));
            assert_eq!(left[0]["extensions"]["hearken"]["unanswered"], true);
            assert_eq!(left[0]["to_state"], "thinking");
            assert_eq!(all[0], *left[0], "{payload} {asked}: {:?}", briefs(&out));
        }
    }
}

#[test]
fn of_two_permissions_that_are_open_only_the_one_that_is_resolved_is_over() {
    let ask = |request: &str, item: &str| {
        let payload = json!({"tool_name": "bash", "risk": "high", "input_redacted": false,
            "input": {"cmd": format!("touch {item}")}});
        let fields = json!({"request_id": request, "item_id": item});
        message("permission.requested", fields, payload)
    };
    let over = |request: &str, decision: &str| {
        let fields = json!({"request_id": request});
        message("permission.resolved", fields, json!({"decision": decision}))
    };
    let left = |out: &[DialectOutput]| {
        let all = events(out);
        let left = |event: &Value| event["from_state"] == "awaiting_input";
        all.iter().any(left)
    };
    let decided = |out: &[DialectOutput]| -> Vec<String> {
        let tokens = out.iter().filter_map(|wish| match wish {
            DialectOutput::Decided { token, .. } => Some(token.clone()),
            _ => None,
        });
        tokens.collect()
    };
    for word in ["allow", "deny"] {
        let mut bench = begun();
        let first = bench.frame(&ask("r/1", "c1"));
        let token = reply(&first, decision(Decision::Accept, None)).token;
        bench.frame(&ask("r/2", "c2"));
        let out = bench.frame(&over("r/1", word));
        assert_eq!(decided(&out), [token.reveal()], "{word}");
        assert!(!left(&out), "{word}: {:?}", briefs(&out));
        // A repeat concerns no open question.
        let out = bench.frame(&over("r/1", word));
        assert!(
            decided(&out).is_empty() && !left(&out),
            "{word}: {:?}",
            briefs(&out)
        );
        let out = bench.frame(&over("r/2", word));
        assert!(
            decided(&out).is_empty() && left(&out),
            "{word}: {:?}",
            briefs(&out)
        );
    }
}

#[test]
fn a_call_that_is_denied_and_done_all_the_same_is_announced() {
    let item = |kind: &str, status: &str, more: Value| {
        let mut payload = json!({"item_type": "tool_call", "tool_name": "bash", "status": status});
        for (name, value) in more.as_object().unwrap() {
            payload[name] = value.clone();
        }
        message(kind, json!({"item_id": "p"}), payload)
    };
    for (success, wanted) in [
        (true, &["tool.invoked", "tool.completed"][..]),
        (false, &[]),
    ] {
        let mut bench = begun();
        let status = if success { "completed" } else { "failed" };
        let mut out = Vec::new();
        for frame in [
            item(
                "item.created",
                "started",
                json!({"arguments": {"cmd": "rm -r build"}}),
            ),
            asks(),
            resolved("deny"),
            item(
                "item.completed",
                status,
                json!({"success": success, "output": "removed 12 files"}),
            ),
        ] {
            out.extend(bench.frame(&frame));
        }
        let tools = events(&out).into_iter().filter_map(|event| {
            let kind = event["type"].as_str()?.strip_prefix("aaep:agent.")?;
            kind.starts_with("tool.").then(|| kind.to_owned())
        });
        assert_eq!(tools.collect::<Vec<_>>(), wanted);
    }
}
