//! The messages of hooks, read leniently: a member that is missing or of the wrong type counts as absent.
//!
//! Responsibilities: the event and conversation of a message, and its content within bounds. Not here: what a tool call
//! does (`tool_calls`), the effect of a message (`conversation`).

use serde_json::{Map, Value};

use crate::event_writer::cut;
use crate::kit::members::{object as object_in, text};
use crate::protocol::object;

use super::harness::{self, Harness};

/// The longest name that is kept, in bytes: names are UUIDs.
const LONGEST_NAME: usize = 256;
/// The longest text of a person's prompt or a notice that is kept, in characters.
const LONGEST_WORDS: usize = 4000;
/// The member in which the relay adds transcript texts.
pub const TEXTS: &str = "hearken_texts";
/// How many transcript texts one message carries.
pub const MOST_TEXTS: usize = 64;
/// How many suggestions of a permission are considered.
const MOST_SUGGESTIONS: usize = 64;

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// The program that it is from.
    pub harness: &'static Harness,
    /// The conversation.
    pub conversation: String,
    /// The prompt that it belongs to, if stated.
    pub prompt: Option<String>,
    /// The subagent that it is from, if any.
    pub helper: Option<String>,
    /// The working folder.
    pub folder: String,
    /// The mode that Claude Code works in, by its id.
    pub mode: Option<String>,
    /// The latest texts of the transcript, each with its name.
    pub texts: Vec<(String, String)>,
    /// What happened.
    pub news: HookNews,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum HookNews {
    /// A conversation begins, or is resumed.
    Begins {
        /// The model in use.
        model: Option<String>,
    },
    /// The person sent a prompt in Claude Code's own terminal.
    Prompted(String),
    /// It is about to call a tool.
    Calls(ToolUse),
    /// A call is over.
    Called(ToolUse, CallOutcome),
    /// It asks for a permission.
    Asks(Box<PermissionRequest>),
    /// It wants the person's attention.
    Notice {
        /// The kind of the notice.
        kind: String,
        /// The text.
        words: String,
    },
    /// It asks in its own terminal, and can't be answered from here.
    AsksThere(TerminalQuestion),
    /// A tool server asks the person through it.
    Elicits(Box<ServerQuestion>),
    /// What a tool server asked was answered.
    Elicited,
    /// It shows a part of a message.
    Shows(ShownText),
    /// It works with another model.
    Model(String),
    /// Something to announce: the phrase, and the words in it.
    Tells(&'static str, String),
    /// This many calls of one step are over.
    Batch(usize),
    /// The person interrupted its turn.
    Interrupted,
    /// A subagent of this type has begun.
    HelperBegins(String),
    /// A subagent of this type is done.
    HelperEnds(String),
    /// Its turn is over; with its final text.
    Stops(String),
    /// Its turn broke off; with the reason.
    Breaks(String),
    /// The conversation is over.
    Ends,
    /// An event not worth announcing.
    Quiet,
    /// An event of an unknown kind.
    Unknown(String),
}

/// What is asked only in another terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalQuestion {
    /// Whether to run this command.
    Command(String),
    /// Whether to change this file.
    Edit(String),
    /// Something else, in the agent's words.
    Words(String),
}

/// What a tool server asks the person through the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerQuestion {
    /// The name of the server.
    pub server: String,
    /// Its words.
    pub message: String,
    /// What it wants.
    pub request: ElicitationRequest,
}

/// What a tool server wants of the person.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationRequest {
    /// That a form be filled in, by its schema.
    Form(Map<String, Value>),
    /// That an address be opened.
    Open(String),
}

/// A part of a message, as it is shown while the agent writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownText {
    /// The name of the message.
    pub message: String,
    /// The text.
    pub text: String,
    /// Whether the text is all of the message so far, not only what was added.
    pub is_all: bool,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolUse {
    /// Its name; empty if it has none.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub input: Map<String, Value>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    /// It succeeded, with this result.
    Worked(Value),
    /// It is over, with this result; whether it worked is unknown.
    Over(Value),
    /// It failed.
    Failed {
        /// The error text.
        words: String,
        /// Whether the person interrupted it in Claude Code's own terminal.
        interrupted: bool,
    },
    /// It was refused before it ran.
    Refused(String),
}

/// A request for a permission.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionRequest {
    /// The call; it has no name here.
    pub call: ToolUse,
    /// What could be allowed for longer.
    pub suggestions: Vec<Value>,
    /// How many further suggestions were left out.
    pub left_out: usize,
}

/// Why a message can't be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookMessageError {
    /// It is not a JSON object.
    NoObject,
    /// It does not name an event.
    NoEvent,
    /// It does not name a conversation.
    NoConversation,
    /// Something that the event needs is missing.
    Halved,
}

/// Returns whether a text is a message of a hook.
pub fn is_message(text_: &str) -> bool {
    object(text_).is_some_and(|map| {
        let named = text(&map, "hook_event_name").is_some_and(|name| !name.is_empty());
        named && name(&map, "session_id").is_some()
    })
}

/// Returns a name; `None` if it is empty or too long to be one.
fn name(map: &Map<String, Value>, key: &str) -> Option<String> {
    let found = text(map, key)?;
    (!found.is_empty() && found.len() <= LONGEST_NAME).then(|| found.to_owned())
}

/// Returns a text, cut to its bound; empty if absent.
fn words(map: &Map<String, Value>, key: &str) -> String {
    cut(text(map, key).unwrap_or_default(), LONGEST_WORDS)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads a message of a harness; `event` is what happened, if its path says it.
pub fn hook(
    harness: &'static Harness,
    event: Option<&str>,
    body: &str,
) -> Result<Hook, HookMessageError> {
    let map = object(body).ok_or(HookMessageError::NoObject)?;
    let map = harness.in_common_form(event, map);
    let event = text(&map, "hook_event_name").ok_or(HookMessageError::NoEvent)?;
    let what = what(event, &map)?;
    let conversation = name(&map, "session_id").ok_or(HookMessageError::NoConversation)?;
    Ok(Hook {
        harness,
        // Two programs may use the same name.
        conversation: match *harness == *Harness::first() {
            true => conversation,
            false => format!("{} {conversation}", harness.agent.name()),
        },
        prompt: name(&map, "prompt_id"),
        helper: match what {
            // In these events the name is that of the subagent itself.
            HookNews::HelperBegins(_) | HookNews::HelperEnds(_) => None,
            HookNews::Begins { .. }
            | HookNews::Prompted(_)
            | HookNews::Calls(_)
            | HookNews::Called(..)
            | HookNews::Asks(_)
            | HookNews::Notice { .. }
            | HookNews::AsksThere(_)
            | HookNews::Elicits(_)
            | HookNews::Elicited
            | HookNews::Shows(_)
            | HookNews::Model(_)
            | HookNews::Tells(..)
            | HookNews::Batch(_)
            | HookNews::Interrupted
            | HookNews::Stops(_)
            | HookNews::Breaks(_)
            | HookNews::Ends
            | HookNews::Quiet
            | HookNews::Unknown(_) => name(&map, "agent_id"),
        },
        folder: words(&map, "cwd"),
        mode: name(&map, "permission_mode"),
        texts: texts(&map),
        news: what,
    })
}

/// Reads the transcript texts that the relay added.
fn texts(map: &Map<String, Value>) -> Vec<(String, String)> {
    let all = map.get(TEXTS).and_then(Value::as_array);
    let all = all.into_iter().flatten().filter_map(Value::as_object);
    let all = all.filter_map(|it| Some((name(it, "id")?, text(it, "text")?.to_owned())));
    all.take(MOST_TEXTS).collect()
}

fn what(event: &str, map: &Map<String, Value>) -> Result<HookNews, HookMessageError> {
    let made = || made(map).ok_or(HookMessageError::Halved);
    Ok(match event {
        "SessionStart" => HookNews::Begins {
            model: name(map, "model"),
        },
        "UserPromptSubmit" => HookNews::Prompted(
            text(map, "prompt")
                .ok_or(HookMessageError::Halved)?
                .to_owned(),
        ),
        "PreToolUse" => HookNews::Calls(made()?),
        "PostToolUse" => {
            let brought = map.get("tool_response").cloned().unwrap_or_default();
            HookNews::Called(made()?, CallOutcome::Worked(brought))
        }
        harness::OVER => {
            let brought = map.get("tool_response").cloned().unwrap_or_default();
            HookNews::Called(made()?, CallOutcome::Over(brought))
        }
        "PostToolUseFailure" => HookNews::Called(
            made()?,
            CallOutcome::Failed {
                // Its bounds are those of an output: the cause of a failure is often at its end.
                words: text(map, "error").unwrap_or_default().to_owned(),
                interrupted: map.get("is_interrupt") == Some(&Value::Bool(true)),
            },
        ),
        "PermissionDenied" => HookNews::Called(made()?, CallOutcome::Refused(words(map, "reason"))),
        "PermissionRequest" => {
            let all = map.get("permission_suggestions").and_then(Value::as_array);
            let all = all.map_or(&[][..], Vec::as_slice);
            HookNews::Asks(Box::new(PermissionRequest {
                call: made()?,
                suggestions: all.iter().take(MOST_SUGGESTIONS).cloned().collect(),
                left_out: all.len().saturating_sub(MOST_SUGGESTIONS),
            }))
        }
        "Elicitation" => HookNews::Elicits(Box::new(ServerQuestion {
            server: name(map, "mcp_server_name").unwrap_or_default(),
            message: one_line(&words(map, "message")),
            request: match text(map, "mode") {
                Some("url") => ElicitationRequest::Open(
                    text(map, "url").ok_or(HookMessageError::Halved)?.to_owned(),
                ),
                Some(_) | None => ElicitationRequest::Form(
                    object_in(map, "requested_schema")
                        .ok_or(HookMessageError::Halved)?
                        .clone(),
                ),
            },
        })),
        "ElicitationResult" => HookNews::Elicited,
        "Notification" if text(map, "notification_type") == Some("ToolPermission") => {
            HookNews::AsksThere(asked_there(map))
        }
        "Notification" => HookNews::Notice {
            kind: name(map, "notification_type").unwrap_or_default(),
            words: words(map, "message"),
        },
        "SubagentStart" => HookNews::HelperBegins(words(map, "agent_type")),
        "SubagentStop" => HookNews::HelperEnds(words(map, "agent_type")),
        "Stop" => HookNews::Stops(
            text(map, "last_assistant_message")
                .unwrap_or_default()
                .to_owned(),
        ),
        "StopFailure" => {
            let said = words(map, "last_assistant_message");
            HookNews::Breaks(if said.trim().is_empty() {
                words(map, "error")
            } else {
                said
            })
        }
        "SessionEnd" => HookNews::Ends,
        "Interrupt" => HookNews::Interrupted,
        "MessageDisplay" => HookNews::Shows(shown(map).ok_or(HookMessageError::Halved)?),
        "TaskCreated" => HookNews::Tells("hooks.task.created", words(map, "task_subject")),
        "TaskCompleted" => HookNews::Tells("hooks.task.completed", words(map, "task_subject")),
        "TeammateIdle" => HookNews::Tells("hooks.teammate.idle", words(map, "teammate_name")),
        "PostModelSwitch" => HookNews::Model(words(map, "to_model")),
        "PostToolBatch" => {
            let calls = map.get("tool_calls").and_then(Value::as_array);
            HookNews::Batch(calls.map_or(0, Vec::len))
        }
        // What the agent reads, where it works and what it compacts changes nothing for the person.
        "PreCompact"
        | "PostCompact"
        | "PreModelSwitch"
        | "PreModelRequest"
        | "PostModelRequest"
        | "PreSkillShellCommand"
        | "InstructionsLoaded"
        | "ConfigChange"
        | "CwdChanged"
        | "DirectoryAdded"
        | "FileChanged"
        | "WorktreeCreate"
        | "WorktreeRemove"
        | "SessionDelete"
        | "Setup"
        | "UserPromptExpansion" => HookNews::Quiet,
        other => HookNews::Unknown(cut(other, LONGEST_NAME)),
    })
}

fn made(map: &Map<String, Value>) -> Option<ToolUse> {
    let tool = name(map, "tool_name")?;
    let input = match map.get("tool_input") {
        Some(Value::Object(input)) => input.clone(),
        None | Some(Value::Null) => Map::new(),
        // A custom tool's arguments may be of any type.
        Some(other) => [("input".to_owned(), other.clone())].into_iter().collect(),
    };
    Some(ToolUse {
        id: name(map, "tool_use_id").unwrap_or_default(),
        tool,
        input,
    })
}

/// Reads what an agent asks only in its own terminal.
fn asked_there(map: &Map<String, Value>) -> TerminalQuestion {
    let details = map.get("details").and_then(Value::as_object);
    let detail = |key: &str| details.and_then(|it| text(it, key));
    match (detail("command"), detail("filePath")) {
        (Some(command), _) => TerminalQuestion::Command(cut(command, LONGEST_WORDS)),
        (None, Some(path)) => TerminalQuestion::Edit(cut(path, LONGEST_WORDS)),
        (None, None) => TerminalQuestion::Words(words(map, "message")),
    }
}

/// Reads a part of a message: what was added (Claude Code), or all of it so far (Qwen Code).
fn shown(map: &Map<String, Value>) -> Option<ShownText> {
    let added = text(map, "delta");
    Some(ShownText {
        message: name(map, "message_id")?,
        text: added.or_else(|| text(map, "displayed_text"))?.to_owned(),
        is_all: added.is_none(),
    })
}

/// Returns whether a message asks the person something, whatever else it contains.
pub fn asks(harness: &Harness, event: Option<&str>, body: &str) -> bool {
    object(body).is_some_and(|map| {
        let map = harness.in_common_form(event, map);
        let event = text(&map, "hook_event_name");
        matches!(event, Some("PermissionRequest" | "Elicitation"))
    })
}
