//! Parses messages leniently: members that are missing or of the wrong type count as absent.
//!
//! Responsibilities: the updates of a session, within bounds. Not here: their calls and plans (`kit::acp_shape`), what
//! becomes of them (`kit::turn`).

use serde_json::{Map, Value};

use crate::event_writer::{self, cut};
use crate::kit::acp_shape::{LONGEST_NAME, block, name, plan};
use crate::kit::members::{object, text};
use crate::kit::turn_updates::Update;
use crate::{KnownAgent, OfferedCommand};

use super::agent_quirks;

/// How many commands are kept; agents offer dozens.
const MOST_COMMANDS: usize = 512;

/// The kinds of updates that version 2 of the protocol added, or renamed.
const OF_VERSION_2: [&str; 8] = [
    "agent_message",
    "agent_thought",
    "plan_update",
    "state_update",
    "terminal_output_chunk",
    "terminal_update",
    "tool_call_content_chunk",
    "user_message",
];

/// Returns whether a kind of update belongs to version 2 of the protocol.
pub fn is_of_version_2(kind: &str) -> bool {
    OF_VERSION_2.contains(&kind)
}

/// Parses the parameters of `session/update` of an agent.
pub fn update(params: &Map<String, Value>, agent: Option<&KnownAgent>) -> Update {
    let Some(update) = object(params, "update") else {
        return Update::Unknown(String::new());
    };
    let kind = text(update, "sessionUpdate").unwrap_or_default();
    match kind {
        "agent_message_chunk" => says(update),
        "agent_thought_chunk" => Update::Thinks,
        "user_message_chunk" => Update::Echoes(text(update, "messageId").map(name)),
        "tool_call" | "tool_call_update" => match agent_quirks::call(update, agent) {
            Some(news) => Update::Calls(Box::new(news)),
            None => Update::Unknown(kind.to_owned()),
        },
        "plan" => Update::Plans(plan(update)),
        "current_mode_update" => {
            // One page of the protocol calls it `modeId`.
            let mode = text(update, "currentModeId").or_else(|| text(update, "modeId"));
            Update::Mode(name(mode.unwrap_or_default()))
        }
        "config_option_update" => Update::Options(update.clone()),
        "available_commands_update" => commands(update),
        "usage_update" | "session_info_update" => Update::Quiet,
        other => Update::Unknown(name(other)),
    }
}

/// Parses the commands on offer, without those whose names can't be typed.
fn commands(update: &Map<String, Value>) -> Update {
    let list = update.get("availableCommands").and_then(Value::as_array);
    let list = list.into_iter().flatten().filter_map(Value::as_object);
    let list = list.filter_map(|command| {
        let typed = |name: &&str| !name.is_empty() && !name.contains(char::is_whitespace);
        let called = text(command, "name").map(|name| name.trim_start_matches('/'));
        let called = called
            .filter(typed)
            .filter(|name| cut(name, LONGEST_NAME) == *name)?;
        let line = |text: &str| event_writer::short(&cut(text, LONGEST_NAME));
        let takes = object(command, "input").and_then(|input| text(input, "hint"));
        Some(OfferedCommand {
            name: called.to_owned(),
            description: line(text(command, "description").unwrap_or_default()),
            argument: line(takes.unwrap_or_default()),
        })
    });
    let mut offers: Vec<OfferedCommand> = list.collect();
    let left_out = offers.len().saturating_sub(MOST_COMMANDS);
    offers.truncate(MOST_COMMANDS);
    Update::Commands { offers, left_out }
}

fn says(update: &Map<String, Value>) -> Update {
    let message = text(update, "messageId").map(name);
    let Some(content) = object(update, "content") else {
        return Update::Unknown("agent_message_chunk".to_owned());
    };
    match block(content) {
        Ok(text) => Update::Says { message, text },
        Err(kind) => Update::Shows(kind),
    }
}
