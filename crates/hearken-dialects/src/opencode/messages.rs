//! The frames and answers of opencode, read leniently: a member that is missing or of the wrong type counts as absent.
//!
//! Responsibilities: the events and the states of sessions, within bounds; tool calls in the form that `kit::acp_shape`
//! accepts. Not here: its questions (`question_messages`), what the events do (`client`, `conversation`).

use serde_json::{Map, Value, json};

use crate::edit_changes;
use crate::event_writer::cut;
use crate::kit::acp_shape;
use crate::kit::exit;
use crate::kit::members::text;
use crate::kit::turn_updates::CallNews;
use crate::protocol::{FileChange, PlanStep, object};

use super::question_messages::{PermissionQuery, WordsRequest, wants, wonders};

/// The longest name that is kept, in bytes: names have thirty characters.
const LONGEST_NAME: usize = 256;
/// The longest text of a failure or a retry, in characters.
pub(super) const LONGEST_WORDS: usize = 4000;

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerEvent {
    /// The stream begins.
    Hello,
    /// A conversation is new, or changed.
    About(SessionDescription),
    /// A conversation was deleted.
    Deleted(String),
    /// The state of a conversation.
    Does(String, ConversationActivity),
    /// A message is new, or changed.
    Message(String, MessageInfo),
    /// A part of a message is new, or changed.
    Part(String, MessagePart),
    /// More text of a part.
    More {
        /// The conversation.
        conversation: String,
        /// The part.
        part: String,
        /// The text.
        text: String,
    },
    /// A permission is requested.
    Asks(Box<PermissionQuery>),
    /// Answers in words are requested.
    Wonders(WordsRequest),
    /// A request that cannot be read.
    AsksUnread,
    /// A request was decided: its conversation, its name, and for a permission, whether it was allowed.
    Decided(String, String, Option<bool>),
    /// The plan of a conversation.
    Plans(String, Vec<PlanStep>),
    /// A failure, in this conversation if one is named.
    Failed(Option<String>, OpencodeFailure),
    /// Nothing worth announcing.
    Quiet,
    /// An event of an unknown kind.
    Unknown(String),
}

/// The description of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDescription {
    /// Its name.
    pub id: String,
    /// The session it works for, if it is a subagent's.
    pub parent: Option<String>,
    /// The working folder.
    pub folder: String,
}

/// The state of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationActivity {
    /// It is working.
    Works,
    /// It waits before it tries again, for this reason.
    Waits(String),
    /// It is idle.
    Nothing,
}

/// The description of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageInfo {
    /// Its name.
    pub id: String,
    /// Whether it is a person's.
    pub is_persons: bool,
    /// The message that it answers.
    pub answers: Option<String>,
    /// Whether the message is complete.
    pub is_whole: bool,
    /// Its failure, if any.
    pub failure: Option<OpencodeFailure>,
    /// The model that wrote it.
    pub model: Option<String>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessagePart {
    /// Text.
    Text {
        /// The part's name.
        id: String,
        /// The message's name.
        message: String,
        /// The whole text so far.
        text: String,
        /// Whether a program added it.
        is_made: bool,
    },
    /// A thought of the agent: the part's name.
    Thinks(String),
    /// A tool call, with its exact arguments.
    Calls(Box<CallNews>, Map<String, Value>),
    /// Nothing worth announcing.
    Quiet,
}

/// A failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpencodeFailure {
    /// It was stopped.
    Stopped,
    /// Anything else, with its error text.
    Words(String),
}

/// Returns whether a text has the form of these events, which no other protocol shares.
pub fn is_event(text: &str) -> bool {
    object(text).is_some_and(|map| is_envelope(&map))
}

fn is_envelope(map: &Map<String, Value>) -> bool {
    let named = text(map, "id").is_some_and(|id| id.starts_with("evt_"));
    let kind = text(map, "type").unwrap_or_default();
    named && kind.contains('.') && map.get("properties").is_some_and(Value::is_object)
}

/// Reads an event; `None` if it is not one.
pub fn event(frame: &str) -> Option<ServerEvent> {
    let map = object(frame)?;
    let kind = text(&map, "type")?;
    let what = map.get("properties")?.as_object()?;
    Some(match kind {
        "server.connected" => ServerEvent::Hello,
        "session.created" | "session.updated" => match member(what, "info").and_then(about) {
            Some(about) => ServerEvent::About(about),
            None => ServerEvent::Quiet,
        },
        "session.deleted" => match member(what, "info").and_then(about) {
            Some(about) => ServerEvent::Deleted(about.id),
            None => ServerEvent::Quiet,
        },
        "session.status" => match (name(what, "sessionID"), member(what, "status")) {
            (Some(id), Some(status)) => ServerEvent::Does(id, does(status)),
            _ => ServerEvent::Quiet,
        },
        "session.idle" => match name(what, "sessionID") {
            Some(id) => ServerEvent::Does(id, ConversationActivity::Nothing),
            None => ServerEvent::Quiet,
        },
        "session.error" => match member(what, "error") {
            Some(error) => ServerEvent::Failed(name(what, "sessionID"), failure(error)),
            None => ServerEvent::Quiet,
        },
        "message.updated" => {
            let message = member(what, "info").and_then(|info| Some((info, message(info)?)));
            match message.and_then(|(info, it)| Some((of(what, info)?, it))) {
                Some((conversation, message)) => ServerEvent::Message(conversation, message),
                None => ServerEvent::Quiet,
            }
        }
        "message.part.updated" => {
            let found = member(what, "part").and_then(|it| Some((of(what, it)?, part(it))));
            match found {
                Some((conversation, part)) => ServerEvent::Part(conversation, part),
                None => ServerEvent::Quiet,
            }
        }
        "message.part.delta" if text(what, "field") == Some("text") => {
            match (
                name(what, "sessionID"),
                name(what, "partID"),
                text(what, "delta"),
            ) {
                (Some(conversation), Some(part), Some(more)) => ServerEvent::More {
                    conversation,
                    part,
                    text: more.to_owned(),
                },
                _ => ServerEvent::Quiet,
            }
        }
        "permission.asked" => wants(what).map_or(ServerEvent::AsksUnread, |it| {
            ServerEvent::Asks(Box::new(it))
        }),
        "question.asked" => wonders(what).map_or(ServerEvent::AsksUnread, ServerEvent::Wonders),
        "permission.replied" | "question.replied" | "question.rejected" => {
            let allowed = text(what, "reply").map(|reply| reply != "reject");
            match (name(what, "sessionID"), name(what, "requestID")) {
                (Some(conversation), Some(id)) => ServerEvent::Decided(conversation, id, allowed),
                _ => ServerEvent::Quiet,
            }
        }
        "todo.updated" => match name(what, "sessionID") {
            Some(id) => ServerEvent::Plans(id, plan(what)),
            None => ServerEvent::Quiet,
        },
        known if is_quiet(known) => ServerEvent::Quiet,
        other => ServerEvent::Unknown(cut(other, LONGEST_NAME)),
    })
}

/// Returns whether events of a kind are not worth announcing: they concern the program, its files and its screens, or
/// repeat other events in a newer form.
fn is_quiet(kind: &str) -> bool {
    const GROUPS: [&str; 23] = [
        "server",
        "plugin",
        "catalog",
        "integration",
        "reference",
        "file",
        "lsp",
        "pty",
        "mcp",
        "tui",
        "installation",
        "project",
        "vcs",
        "workspace",
        "worktree",
        "command",
        "models-dev",
        "global",
        "account",
        "ide",
        "app",
        "config",
        "storage",
    ];
    const KINDS: [&str; 7] = [
        "message.part.delta",
        "message.part.removed",
        "message.removed",
        "session.diff",
        "session.compacted",
        "permission.updated",
        "question.updated",
    ];
    let group = kind.split('.').next().unwrap_or_default();
    let again = ["session.next.", "permission.v2.", "question.v2."];
    GROUPS.contains(&group) || KINDS.contains(&kind) || again.iter().any(|it| kind.starts_with(it))
}

pub(super) fn member<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a Map<String, Value>> {
    map.get(key)?.as_object()
}

/// Returns a name; `None` if it is empty, too long to be one, or consists of dots alone: in a URL path, dots lead
/// elsewhere, however they are encoded.
pub(super) fn name(map: &Map<String, Value>, key: &str) -> Option<String> {
    let found = text(map, key)?;
    let is_place = !found.bytes().all(|byte| byte == b'.');
    (is_place && found.len() <= LONGEST_NAME).then(|| found.to_owned())
}

/// Returns the conversation of an event, from the inner object or the event itself.
fn of(what: &Map<String, Value>, inner: &Map<String, Value>) -> Option<String> {
    name(inner, "sessionID").or_else(|| name(what, "sessionID"))
}

/// Reads the description of a session.
pub fn about(info: &Map<String, Value>) -> Option<SessionDescription> {
    Some(SessionDescription {
        id: name(info, "id")?,
        parent: name(info, "parentID"),
        folder: cut(text(info, "directory").unwrap_or_default(), LONGEST_WORDS),
    })
}

fn does(status: &Map<String, Value>) -> ConversationActivity {
    match text(status, "type") {
        Some("idle") => ConversationActivity::Nothing,
        Some("retry") => ConversationActivity::Waits(words(status)),
        Some(_) | None => ConversationActivity::Works,
    }
}

/// Reads the states of all conversations that are not idle.
pub fn all_does(answer: &str) -> Option<Vec<(String, ConversationActivity)>> {
    let all = object(answer)?;
    let each = all.iter().filter_map(|(id, status)| {
        let fits = !id.is_empty() && id.len() <= LONGEST_NAME;
        Some((id.clone(), does(status.as_object().filter(|_| fits)?)))
    });
    Some(
        each.filter(|(_, does)| *does != ConversationActivity::Nothing)
            .collect(),
    )
}

fn words(map: &Map<String, Value>) -> String {
    cut(text(map, "message").unwrap_or_default(), LONGEST_WORDS)
}

fn failure(error: &Map<String, Value>) -> OpencodeFailure {
    let kind = text(error, "name").unwrap_or_default();
    if kind == "MessageAbortedError" {
        return OpencodeFailure::Stopped;
    }
    let said = member(error, "data").map(words).unwrap_or_default();
    OpencodeFailure::Words(if said.trim().is_empty() {
        cut(kind, LONGEST_NAME)
    } else {
        said
    })
}

fn message(info: &Map<String, Value>) -> Option<MessageInfo> {
    let time = member(info, "time");
    Some(MessageInfo {
        id: name(info, "id")?,
        is_persons: text(info, "role") == Some("user"),
        answers: name(info, "parentID"),
        is_whole: time.is_some_and(|time| time.contains_key("completed")),
        failure: member(info, "error").map(failure),
        model: name(info, "modelID"),
    })
}

fn part(part: &Map<String, Value>) -> MessagePart {
    let id = name(part, "id").unwrap_or_default();
    match text(part, "type") {
        Some("text") => MessagePart::Text {
            id,
            message: name(part, "messageID").unwrap_or_default(),
            text: text(part, "text").unwrap_or_default().to_owned(),
            is_made: ["synthetic", "ignored"]
                .iter()
                .any(|flag| part.get(*flag) == Some(&Value::Bool(true))),
        },
        Some("reasoning") => MessagePart::Thinks(id),
        Some("tool") => call(part).map_or(MessagePart::Quiet, |(news, input)| {
            MessagePart::Calls(Box::new(news), input)
        }),
        Some(_) | None => MessagePart::Quiet,
    }
}

/// Reads the messages of a conversation, the oldest first, each with its parts.
pub fn messages(answer: &str) -> Option<Vec<(MessageInfo, Vec<MessagePart>)>> {
    let all: Vec<Value> = serde_json::from_str(answer).ok()?;
    let each = all.iter().filter_map(|it| {
        let parts = it.get("parts").and_then(Value::as_array);
        let parts = parts.into_iter().flatten().filter_map(Value::as_object);
        Some((
            message(it.get("info")?.as_object()?)?,
            parts.map(part).collect(),
        ))
    });
    Some(each.collect())
}

/// Returns whether a tool's calls are announced in another way: as a question, or as the plan.
fn is_told_otherwise(tool: &str) -> bool {
    matches!(tool, "question" | "todowrite" | "todoread")
}

/// Reads a tool call, in the form of the Agent Client Protocol.
fn call(part: &Map<String, Value>) -> Option<(CallNews, Map<String, Value>)> {
    let tool = text(part, "tool").unwrap_or_default();
    let state = member(part, "state")?;
    let id = name(part, "callID")?;
    if is_told_otherwise(tool) {
        return None;
    }
    let (status, brought) = match text(state, "status") {
        Some("pending") => ("pending", None),
        Some("running") => ("in_progress", None),
        Some("completed") => ("completed", text(state, "output")),
        Some("error") => ("failed", text(state, "error")),
        Some(_) | None => ("", None),
    };
    let empty = Map::new();
    let input = member(state, "input").filter(|input| !input.is_empty());
    let metadata = member(state, "metadata").unwrap_or(&empty);
    let mut form = json!({"toolCallId": id, "kind": tool, "status": status});
    if let Some(title) = text(state, "title") {
        form["title"] = title.into();
    }
    if let Some(input) = input {
        form["rawInput"] = Value::Object(input.clone());
        form["locations"] = places(input);
    }
    if let Some(brought) = brought {
        form["content"] =
            json!([{"type": "content", "content": {"type": "text", "text": brought}}]);
    }
    let mut news = acp_shape::call(form.as_object()?)?;
    news.exit = exit::of_metadata(metadata, brought.unwrap_or_default());
    // The output does not describe the changes: the metadata and the arguments do.
    news.edits = edits(metadata, input);
    if news.edits.is_some() {
        news.places = Some(Vec::new());
    }
    Some((news, input.cloned().unwrap_or_default()))
}

/// Returns the file named in the arguments of a call.
pub(super) fn places(input: &Map<String, Value>) -> Value {
    let named = ["filePath", "filepath", "path"]
        .iter()
        .find_map(|key| text(input, key));
    named.map_or(Value::Null, |path| json!([{"path": path}]))
}

/// Reads the changes to files: from the patch if there is one, else from what is written into a new file.
pub(super) fn edits(
    metadata: &Map<String, Value>,
    input: Option<&Map<String, Value>>,
) -> Option<Vec<FileChange>> {
    let path =
        text(metadata, "filepath").or_else(|| input.and_then(|input| text(input, "filePath")));
    if let Some(patch) = text(metadata, "diff") {
        let mut edits = edit_changes::of_patch(patch);
        if let ([edit], Some(path)) = (edits.as_mut_slice(), path) {
            path.clone_into(&mut edit.path);
        }
        return (!edits.is_empty()).then_some(edits);
    }
    let is_new = metadata.get("exists") == Some(&Value::Bool(false));
    let content = input
        .and_then(|input| text(input, "content"))
        .filter(|_| is_new)?;
    Some(vec![edit_changes::between(path?, None, content)])
}

fn plan(what: &Map<String, Value>) -> Vec<PlanStep> {
    let todos = what.get("todos").and_then(Value::as_array);
    todos
        .map(|todos| acp_shape::steps(todos))
        .unwrap_or_default()
}
