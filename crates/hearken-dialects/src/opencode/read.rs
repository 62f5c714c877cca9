//! What the frames and the answers of opencode say, read leniently: what is missing or of another kind is as if it were
//! not there.
//!
//! Responsibilities: the events, the states of sessions, within bounds; calls of tools in the form that `acp::read` takes.
//! Not here: what is asked (`requests`), what becomes of them (`client`, `conversation`).

use serde_json::{Map, Value, json};

use crate::acp::read::{self as acp, CallNews, text};
use crate::changes;
use crate::protocol::{FileChange, PlanStep, object};
use crate::written::cut;

use super::requests::{Wants, Wonders, wants, wonders};

/// The longest name that is kept, in bytes: theirs have thirty letters.
const LONGEST_NAME: usize = 256;
/// The longest text of a failure or a wait, in characters.
pub(super) const LONGEST_WORDS: usize = 4000;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// The stream begins.
    Hello,
    /// A conversation is there, or changed.
    About(About),
    /// A conversation was deleted.
    Deleted(String),
    /// What a conversation does.
    Does(String, Does),
    /// A message is there, or changed.
    Message(String, Message),
    /// A part of a message is there, or changed.
    Part(String, Part),
    /// More text of a part.
    More {
        /// In which conversation.
        conversation: String,
        /// Of which part.
        part: String,
        /// The text.
        text: String,
    },
    /// Somebody is asked for a permission.
    Asks(Box<Wants>),
    /// Somebody is asked for answers in words.
    Wonders(Wonders),
    /// Somebody is asked something that can't be read.
    AsksUnread,
    /// A request is decided: in which conversation, which one, and whether it was allowed, where that is a permission.
    Decided(String, String, Option<bool>),
    /// What a conversation has planned.
    Plans(String, Vec<PlanStep>),
    /// Something went wrong.
    Failed(Option<String>, Failure),
    /// Nothing that anybody needs to hear.
    Quiet,
    /// An event of a kind that is not known here.
    Unknown(String),
}

/// What is said of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub id: String,
    /// The conversation for which it works, where it is an agent's own.
    pub parent: Option<String>,
    /// The folder in which it works.
    pub folder: String,
}

/// What a conversation does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Does {
    /// It works.
    Works,
    /// It waits until it tries again, for this reason.
    Waits(String),
    /// Nothing.
    Nothing,
}

/// What is said of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its name.
    pub id: String,
    /// Whether it is a person's.
    pub is_persons: bool,
    /// The message that it answers.
    pub answers: Option<String>,
    /// Whether its end was said.
    pub is_whole: bool,
    /// What went wrong with it.
    pub failure: Option<Failure>,
    /// The model that wrote it.
    pub model: Option<String>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text.
    Text {
        /// The part's name.
        id: String,
        /// The message's name.
        message: String,
        /// All of it, as far as it is written.
        text: String,
        /// Whether a program added it and nobody wrote it.
        is_made: bool,
    },
    /// What the agent thinks: the part's name.
    Thinks(String),
    /// A call of a tool, and what it is called with to the letter.
    Calls(Box<CallNews>, Map<String, Value>),
    /// Nothing that anybody needs to hear.
    Quiet,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Somebody stopped it.
    Stopped,
    /// Something else, in its words.
    Words(String),
}

/// Returns whether a text has the form of these events, and of no other's.
pub fn is_event(text: &str) -> bool {
    object(text).is_some_and(|map| is_envelope(&map))
}

fn is_envelope(map: &Map<String, Value>) -> bool {
    let named = text(map, "id").is_some_and(|id| id.starts_with("evt_"));
    let kind = text(map, "type").unwrap_or_default();
    named && kind.contains('.') && map.get("properties").is_some_and(Value::is_object)
}

/// Reads an event; nothing where it is none.
pub fn event(frame: &str) -> Option<News> {
    let map = object(frame)?;
    let kind = text(&map, "type")?;
    let what = map.get("properties")?.as_object()?;
    Some(match kind {
        "server.connected" => News::Hello,
        "session.created" | "session.updated" => match member(what, "info").and_then(about) {
            Some(about) => News::About(about),
            None => News::Quiet,
        },
        "session.deleted" => match member(what, "info").and_then(about) {
            Some(about) => News::Deleted(about.id),
            None => News::Quiet,
        },
        "session.status" => match (name(what, "sessionID"), member(what, "status")) {
            (Some(id), Some(status)) => News::Does(id, does(status)),
            _ => News::Quiet,
        },
        "session.idle" => match name(what, "sessionID") {
            Some(id) => News::Does(id, Does::Nothing),
            None => News::Quiet,
        },
        "session.error" => match member(what, "error") {
            Some(error) => News::Failed(name(what, "sessionID"), failure(error)),
            None => News::Quiet,
        },
        "message.updated" => {
            let message = member(what, "info").and_then(|info| Some((info, message(info)?)));
            match message.and_then(|(info, it)| Some((of(what, info)?, it))) {
                Some((conversation, message)) => News::Message(conversation, message),
                None => News::Quiet,
            }
        }
        "message.part.updated" => {
            let found = member(what, "part").and_then(|it| Some((of(what, it)?, part(it))));
            match found {
                Some((conversation, part)) => News::Part(conversation, part),
                None => News::Quiet,
            }
        }
        "message.part.delta" if text(what, "field") == Some("text") => {
            match (
                name(what, "sessionID"),
                name(what, "partID"),
                text(what, "delta"),
            ) {
                (Some(conversation), Some(part), Some(more)) => News::More {
                    conversation,
                    part,
                    text: more.to_owned(),
                },
                _ => News::Quiet,
            }
        }
        "permission.asked" => wants(what).map_or(News::AsksUnread, |it| News::Asks(Box::new(it))),
        "question.asked" => wonders(what).map_or(News::AsksUnread, News::Wonders),
        "permission.replied" | "question.replied" | "question.rejected" => {
            let allowed = text(what, "reply").map(|reply| reply != "reject");
            match (name(what, "sessionID"), name(what, "requestID")) {
                (Some(conversation), Some(id)) => News::Decided(conversation, id, allowed),
                _ => News::Quiet,
            }
        }
        "todo.updated" => match name(what, "sessionID") {
            Some(id) => News::Plans(id, plan(what)),
            None => News::Quiet,
        },
        known if is_quiet(known) => News::Quiet,
        other => News::Unknown(cut(other, LONGEST_NAME)),
    })
}

/// Returns whether events of a kind are of no interest to whoever listens: they are about the program, its files and its
/// screens, or say again in a newer form what others say.
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

/// Returns a name; nothing where it is empty or longer than any of theirs, or is of dots alone: in an address, that is the
/// way to another place, however it is written.
pub(super) fn name(map: &Map<String, Value>, key: &str) -> Option<String> {
    let found = text(map, key)?;
    let is_place = !found.bytes().all(|byte| byte == b'.');
    (is_place && found.len() <= LONGEST_NAME).then(|| found.to_owned())
}

/// Returns the conversation of something that stands in an event.
fn of(what: &Map<String, Value>, inner: &Map<String, Value>) -> Option<String> {
    name(inner, "sessionID").or_else(|| name(what, "sessionID"))
}

/// Reads what is said of a conversation.
pub fn about(info: &Map<String, Value>) -> Option<About> {
    Some(About {
        id: name(info, "id")?,
        parent: name(info, "parentID"),
        folder: cut(text(info, "directory").unwrap_or_default(), LONGEST_WORDS),
    })
}

fn does(status: &Map<String, Value>) -> Does {
    match text(status, "type") {
        Some("idle") => Does::Nothing,
        Some("retry") => Does::Waits(words(status)),
        Some(_) | None => Does::Works,
    }
}

/// Reads what every conversation does that does something.
pub fn all_does(answer: &str) -> Option<Vec<(String, Does)>> {
    let all = object(answer)?;
    let each = all.iter().filter_map(|(id, status)| {
        let fits = !id.is_empty() && id.len() <= LONGEST_NAME;
        Some((id.clone(), does(status.as_object().filter(|_| fits)?)))
    });
    Some(each.filter(|(_, does)| *does != Does::Nothing).collect())
}

fn words(map: &Map<String, Value>) -> String {
    cut(text(map, "message").unwrap_or_default(), LONGEST_WORDS)
}

fn failure(error: &Map<String, Value>) -> Failure {
    let kind = text(error, "name").unwrap_or_default();
    if kind == "MessageAbortedError" {
        return Failure::Stopped;
    }
    let said = member(error, "data").map(words).unwrap_or_default();
    Failure::Words(if said.trim().is_empty() {
        cut(kind, LONGEST_NAME)
    } else {
        said
    })
}

fn message(info: &Map<String, Value>) -> Option<Message> {
    let time = member(info, "time");
    Some(Message {
        id: name(info, "id")?,
        is_persons: text(info, "role") == Some("user"),
        answers: name(info, "parentID"),
        is_whole: time.is_some_and(|time| time.contains_key("completed")),
        failure: member(info, "error").map(failure),
        model: name(info, "modelID"),
    })
}

fn part(part: &Map<String, Value>) -> Part {
    let id = name(part, "id").unwrap_or_default();
    match text(part, "type") {
        Some("text") => Part::Text {
            id,
            message: name(part, "messageID").unwrap_or_default(),
            text: text(part, "text").unwrap_or_default().to_owned(),
            is_made: ["synthetic", "ignored"]
                .iter()
                .any(|flag| part.get(*flag) == Some(&Value::Bool(true))),
        },
        Some("reasoning") => Part::Thinks(id),
        Some("tool") => call(part).map_or(Part::Quiet, |(news, input)| {
            Part::Calls(Box::new(news), input)
        }),
        Some(_) | None => Part::Quiet,
    }
}

/// Reads the messages of a conversation, the oldest first: each with its parts.
pub fn messages(answer: &str) -> Option<Vec<(Message, Vec<Part>)>> {
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

/// Returns whether a tool is one whose calls are told otherwise: by its question, or by the plan.
fn is_told_otherwise(tool: &str) -> bool {
    matches!(tool, "question" | "todowrite" | "todoread")
}

/// Reads a call of a tool, in the form in which the Agent Client Protocol has it.
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
    let mut news = acp::call(form.as_object()?)?;
    // What it brought says nothing of what it changes.
    news.edits = edits(metadata, input);
    if news.edits.is_some() {
        news.places = Some(Vec::new());
    }
    Some((news, input.cloned().unwrap_or_default()))
}

/// Returns the files that are named among what a call was given.
pub(super) fn places(input: &Map<String, Value>) -> Value {
    let named = ["filePath", "filepath", "path"]
        .iter()
        .find_map(|key| text(input, key));
    named.map_or(Value::Null, |path| json!([{"path": path}]))
}

/// Reads what is changed in files: by the patch where there is one, else by what is written into a new one.
pub(super) fn edits(
    metadata: &Map<String, Value>,
    input: Option<&Map<String, Value>>,
) -> Option<Vec<FileChange>> {
    let path =
        text(metadata, "filepath").or_else(|| input.and_then(|input| text(input, "filePath")));
    if let Some(patch) = text(metadata, "diff") {
        let mut edits = changes::of_patch(patch);
        if let ([edit], Some(path)) = (edits.as_mut_slice(), path) {
            path.clone_into(&mut edit.path);
        }
        return (!edits.is_empty()).then_some(edits);
    }
    let is_new = metadata.get("exists") == Some(&Value::Bool(false));
    let content = input
        .and_then(|input| text(input, "content"))
        .filter(|_| is_new)?;
    Some(vec![changes::between(path?, None, content)])
}

fn plan(what: &Map<String, Value>) -> Vec<PlanStep> {
    let form = json!({"update": {"sessionUpdate": "plan", "entries": what.get("todos")}});
    match form.as_object().map(acp::update) {
        Some(acp::Update::Plans(steps)) => steps,
        Some(_) | None => Vec::new(),
    }
}
