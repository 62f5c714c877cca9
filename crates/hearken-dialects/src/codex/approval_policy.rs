//! Who decides in a thread: Codex's approval policy, its reviewer and its sandbox.
//!
//! Responsibilities: what these settings of a thread ask the person, and announcing it. Not here: what the reviewer
//! decides (`review_outcomes`), the sentences (`kit::oversight`).

use serde_json::{Map, Value};

use crate::DialectOutput;
use crate::kit::members::text;
use crate::kit::oversight::{self, Oversight};

use super::client::Codex;

/// Returns what a thread with these settings asks; `None` if that is not known.
fn oversight_of(settings: &Map<String, Value>) -> Option<Oversight> {
    let sandbox = settings.get("sandbox").or(settings.get("sandboxPolicy"));
    let sandbox = sandbox
        .and_then(Value::as_object)
        .and_then(|it| text(it, "type"));
    let is_reviewed = text(settings, "approvalsReviewer").is_some_and(|it| it != "user");
    match text(settings, "approvalPolicy")? {
        "never" => Some(Oversight::Never),
        _ if is_reviewed => Some(Oversight::Reviews),
        "untrusted" => Some(Oversight::Asks),
        "on-request" => match sandbox? {
            "readOnly" => Some(Oversight::Asks),
            "workspaceWrite" => Some(Oversight::Folder),
            // Without a sandbox it asks only where it sees a reason itself.
            "dangerFullAccess" => Some(Oversight::Reviews),
            _ => None,
        },
        _ => None,
    }
}

impl Codex {
    /// Announces who decides in a thread: at its start, unless the same was said of the last one, and at each change.
    pub(super) fn tell_policy(
        &mut self,
        id: &str,
        settings: &Map<String, Value>,
        out: &mut Vec<DialectOutput>,
    ) {
        if !settings.contains_key("approvalPolicy") {
            return;
        }
        let Some(thread) = self.threads.get_mut(id) else {
            return;
        };
        let now = oversight_of(settings);
        let agent = thread.teller.writer.name();
        let phrase = match (thread.oversight.replace(now), now) {
            (Some(before), _) if before == now => return,
            (None, _) if self.policy == Some(now) => return,
            (_, None) => oversight::not_known(agent),
            (Some(before), Some(_)) => oversight::changed_to(agent, "", before, now),
            (None, Some(_)) => oversight::starts_in(agent, "", now, false),
        };
        out.push(DialectOutput::Announce(phrase));
        self.policy = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_policy_the_reviewer_and_the_sandbox_say_together_who_decides() {
        for (policy, reviewer, sandbox, asks) in [
            (
                json!("never"),
                "user",
                "workspaceWrite",
                Some(Oversight::Never),
            ),
            (
                json!("on-request"),
                "auto_review",
                "workspaceWrite",
                Some(Oversight::Reviews),
            ),
            (
                json!("on-request"),
                "guardian_subagent",
                "readOnly",
                Some(Oversight::Reviews),
            ),
            (
                json!("untrusted"),
                "user",
                "dangerFullAccess",
                Some(Oversight::Asks),
            ),
            (
                json!("on-request"),
                "user",
                "readOnly",
                Some(Oversight::Asks),
            ),
            (
                json!("on-request"),
                "user",
                "workspaceWrite",
                Some(Oversight::Folder),
            ),
            (
                json!("on-request"),
                "user",
                "dangerFullAccess",
                Some(Oversight::Reviews),
            ),
            (json!("on-request"), "user", "externalSandbox", None),
            (json!({"granular": {}}), "user", "readOnly", None),
        ] {
            let settings = json!({"approvalPolicy": policy, "approvalsReviewer": reviewer, "sandbox": {"type": sandbox}});
            assert_eq!(
                oversight_of(settings.as_object().unwrap()),
                asks,
                "{settings}"
            );
        }
    }
}
