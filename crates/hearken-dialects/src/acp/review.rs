//! The reviewer that decides in the person's place, as Codex's adapter reports it: a call without a tool.
//!
//! Responsibilities: recognising such a call, and what its verdict says. Not here: the sentence about a refusal
//! (`kit::oversight`).
//!
//! # Mental model
//! The adapter reports each review as a call of kind `think` with a name of its own kind, whose text holds the verdict
//! in lines: "Status: Denied", "Action: …", "Rationale: …". This is not a real call: nothing runs, and nothing failed.

use serde_json::{Map, Value};

use crate::event_writer::short;
use crate::kit::members::text;

/// How the ids of reviews begin.
const REVIEW: &str = "guardian_assessment:";

/// What a reviewer decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewVerdict {
    /// Nothing that keeps a call from running, or nothing yet.
    Passes,
    /// It refused an action, for a reason.
    Refused {
        /// The action.
        action: String,
        /// The reason; empty if none is given.
        reason: String,
    },
    /// It reached no decision, so the action does not run.
    Undecided {
        /// The action.
        action: String,
    },
}

/// Reads an update as a review; `None` if it is anything else.
pub fn review(update: &Map<String, Value>) -> Option<ReviewVerdict> {
    let is_review = text(update, "toolCallId").is_some_and(|id| id.starts_with(REVIEW));
    if !is_review {
        return None;
    }
    let content = update.get("content").and_then(Value::as_array);
    let texts = content.into_iter().flatten();
    let texts = texts.filter_map(|part| part.pointer("/content/text").and_then(Value::as_str));
    let said: Vec<&str> = texts.flat_map(str::lines).collect();
    let line = |name: &str| {
        let found = said.iter().find_map(|line| line.strip_prefix(name));
        found.map(|rest| short(rest.trim())).unwrap_or_default()
    };
    let action = line("Action:");
    // How it would have run the command does not matter.
    let bare = ["shell ", "exec "]
        .iter()
        .find_map(|way| action.strip_prefix(way));
    let action = bare.map(str::to_owned).unwrap_or(action);
    Some(match line("Status:").as_str() {
        "Denied" => ReviewVerdict::Refused {
            action,
            reason: line("Rationale:"),
        },
        "Aborted" | "Timed out" => ReviewVerdict::Undecided { action },
        _ => ReviewVerdict::Passes,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(id: &str, said: &str) -> Option<ReviewVerdict> {
        let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "failed",
            "content": [{"type": "content", "content": {"type": "text", "text": said}}]});
        review(update.as_object().unwrap())
    }

    #[test]
    fn a_review_says_what_was_refused_and_why() {
        let said =
            "Status: Denied\nAction: shell touch hello\nRisk: high\nRationale: It writes outside.";
        assert_eq!(
            read("guardian_assessment:1", said),
            Some(ReviewVerdict::Refused {
                action: "touch hello".to_owned(),
                reason: "It writes outside.".to_owned(),
            })
        );
        assert_eq!(
            read("guardian_assessment:1", "Status: Timed out"),
            Some(ReviewVerdict::Undecided {
                action: String::new()
            })
        );
        for said in [
            "Status: Approved\nAction: x",
            "Status: In progress",
            "",
            "Denied",
        ] {
            assert_eq!(
                read("guardian_assessment:1", said),
                Some(ReviewVerdict::Passes)
            );
        }
        assert_eq!(read("call_1", "Status: Denied"), None);
    }
}
