//! What known agents report in unusual places: a command only in a title, an exit not at all.
//!
//! Responsibilities: reading a call with its agent's row of the table. Not here: the form that all share
//! (`kit::acp_shape`), the table itself (`agent_table`).

use serde_json::{Map, Value, json};

use crate::KnownAgent;
use crate::kit::acp_shape;
use crate::kit::members::text;
use crate::kit::turn_updates::{CallNews, CallStatus};

/// The kind of a call that runs a command.
const COMMAND: &str = "execute";

/// Parses an agent's report about a call; `None` if the call has no id.
pub(super) fn call(update: &Map<String, Value>, agent: Option<&KnownAgent>) -> Option<CallNews> {
    let Some(agent) = agent.filter(|_| text(update, "kind") == Some(COMMAND)) else {
        return acp_shape::call(update);
    };
    let bare = update.get("rawInput").is_none_or(Value::is_null);
    let title = text(update, "title").filter(|title| bare && !title.trim().is_empty());
    let mut news = match title.filter(|_| agent.commands_in_titles) {
        Some(title) => {
            let mut whole = update.clone();
            whole.insert("rawInput".to_owned(), json!({"command": title}));
            acp_shape::call(&whole)
        }
        None => acp_shape::call(update),
    }?;
    if !agent.says_failure && news.status == Some(CallStatus::Completed) && news.exit.is_none() {
        news.status = Some(CallStatus::Ended);
    }
    Some(news)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_table;

    fn read(agent: &str, update: Value) -> CallNews {
        let agent = agent_table::named(agent);
        call(update.as_object().unwrap(), agent.as_ref()).unwrap()
    }

    #[test]
    fn the_title_is_the_command_only_of_an_agent_that_writes_it_there() {
        let update = json!({"toolCallId": "c", "kind": "execute", "title": "touch a.txt"});
        assert_eq!(
            read("gemini", update.clone()).command(),
            Some("touch a.txt")
        );
        assert_eq!(read("opencode", update.clone()).command(), None);
        let mut edit = update.clone();
        edit["kind"] = "edit".into();
        assert_eq!(read("gemini", edit).command(), None);
        let mut other = update;
        other["rawInput"] = json!({"command": "rm b"});
        assert_eq!(read("gemini", other).command(), Some("rm b"));
    }

    #[test]
    fn a_command_has_not_worked_because_its_agent_says_that_it_is_over() {
        let over = json!({"toolCallId": "c", "kind": "execute", "status": "completed"});
        assert_eq!(read("vibe", over.clone()).status, Some(CallStatus::Ended));
        assert_eq!(
            read("opencode", over.clone()).status,
            Some(CallStatus::Completed)
        );
        let mut edit = over;
        edit["kind"] = "edit".into();
        assert_eq!(read("vibe", edit).status, Some(CallStatus::Completed));
    }
}
