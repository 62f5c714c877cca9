//! What a server reports, read leniently and in either version: tasks, their states, messages, artifacts.
//!
//! Responsibilities: reading each of them, within bounds. Not here: what they mean (`task`).

use serde_json::{Map, Value};

use crate::event_writer::cut;
use crate::kit::members::text;
use crate::protocol::object;
use crate::rpc::{self, RpcKind, RpcMessage as Rpc};

/// The longest name of a task, a context, a message or an artifact, in bytes; usually a UUID.
const LONGEST_NAME: usize = 256;
/// How many artifacts of a task are read.
const MOST_ARTIFACTS: usize = 128;
/// How many parts of a message or an artifact are read.
const MOST_PARTS: usize = 256;
/// How many messages of a task are read.
const MOST_MESSAGES: usize = 64;
/// How many tasks are read per page.
const MOST_TASKS: usize = 100;
/// The longest data kept for reading in full, in characters.
const LONGEST_DATA: usize = 4000;
/// The longest text of a refusal, in characters.
const LONGEST_WORDS: usize = 1000;

/// The state of a task (A2A 1.0, 4.1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    /// The server accepted the task.
    Submitted,
    /// The agent is working.
    Working,
    /// The task is done.
    Completed,
    /// The task failed.
    Failed,
    /// The task was cancelled.
    Canceled,
    /// The agent wants an answer.
    InputRequired,
    /// The agent refuses the task.
    Rejected,
    /// The agent wants the person to sign in.
    AuthRequired,
    /// A state that is not known here.
    Unknown,
}

impl TaskState {
    fn read(written: &str) -> Self {
        let name = written.strip_prefix("TASK_STATE_").unwrap_or(written);
        match name.to_ascii_lowercase().replace('_', "-").as_str() {
            "submitted" => Self::Submitted,
            "working" => Self::Working,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "canceled" | "cancelled" => Self::Canceled,
            "input-required" => Self::InputRequired,
            "rejected" => Self::Rejected,
            "auth-required" => Self::AuthRequired,
            _ => Self::Unknown,
        }
    }

    /// Returns whether the state is final.
    pub fn is_last(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected => true,
            Self::Submitted
            | Self::Working
            | Self::InputRequired
            | Self::AuthRequired
            | Self::Unknown => false,
        }
    }
}

/// The content of a message or an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageContent {
    /// The texts, joined.
    pub text: String,
    /// The names or kinds of the parts that are not text.
    pub others: Vec<String>,
    /// Data as written, to be read in full.
    pub data: Vec<String>,
    /// The addresses in parts of their own.
    pub addresses: Vec<String>,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskMessage {
    /// Its name.
    pub id: String,
    /// Whether a person wrote it, or a client on the person's behalf.
    pub is_persons: bool,
    /// The content of the message.
    pub content: MessageContent,
}

/// The status of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskStatus {
    /// The state.
    pub state: TaskState,
    /// What the agent says about the state.
    pub message: Option<TaskMessage>,
    /// Since when, as the server wrote it.
    pub at: String,
}

/// An artifact, or a piece of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The artifact's name within its task.
    pub id: String,
    /// The content of the artifact.
    pub content: MessageContent,
    /// Whether more of it follows, if the server says so.
    pub goes_on: Option<bool>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its name.
    pub id: String,
    /// The conversation; empty if the server names none.
    pub context: String,
    /// The status of the task.
    pub status: TaskStatus,
    /// The results so far.
    pub artifacts: Vec<Artifact>,
    /// The messages of the task.
    pub history: Vec<TaskMessage>,
}

/// A report from a server.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerReport {
    /// The current state of a task.
    Task(Task),
    /// The new status of a task.
    Status {
        /// The task.
        task: String,
        /// The conversation of the task.
        context: String,
        /// The status.
        status: TaskStatus,
    },
    /// An artifact, or more of one.
    Artifact {
        /// The task.
        task: String,
        /// The conversation of the task.
        context: String,
        /// The artifact.
        artifact: Artifact,
        /// Whether it is appended to what was there.
        append: bool,
    },
    /// An answer without a task.
    Message {
        /// The conversation.
        context: String,
        /// The message.
        message: TaskMessage,
    },
}

/// An answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestAnswer {
    /// The result of a request that was carried out.
    Result(Map<String, Value>),
    /// A refusal, with its code and its reason.
    Refused(i64, String),
    /// Not an answer.
    Unread,
}

/// Reads an answer.
pub fn answer(body: &str) -> RequestAnswer {
    match rpc::read(body) {
        RpcKind::Rpc(Rpc::Result { result, .. }) => match object(&result) {
            Some(result) => RequestAnswer::Result(result),
            None => RequestAnswer::Unread,
        },
        RpcKind::Rpc(Rpc::Error { code, message, .. }) => {
            RequestAnswer::Refused(code, cut(message.trim(), LONGEST_WORDS))
        }
        RpcKind::Rpc(Rpc::Request { .. } | Rpc::Notification { .. } | Rpc::Nothing)
        | RpcKind::Object
        | RpcKind::Other => RequestAnswer::Unread,
    }
}

/// Returns whether a text reports on a task.
pub fn is_news(body: &str) -> bool {
    let named = ["statusUpdate", "artifactUpdate", "\"task\"", "-update\""];
    named.iter().any(|name| body.contains(name))
        && match answer(body) {
            RequestAnswer::Result(result) => news(&result).is_some_and(|news| match news {
                ServerReport::Task(_)
                | ServerReport::Status { .. }
                | ServerReport::Artifact { .. } => true,
                // Many protocols have messages.
                ServerReport::Message { .. } => false,
            }),
            RequestAnswer::Refused(..) | RequestAnswer::Unread => false,
        }
}

/// Reads the report in a result; `None` if it is of no known kind.
pub fn news(result: &Map<String, Value>) -> Option<ServerReport> {
    let member = |name: &str| result.get(name).and_then(Value::as_object);
    if let Some(kind) = text(result, "kind") {
        return match kind {
            "task" => task(result).map(ServerReport::Task),
            "status-update" => status_update(result),
            "artifact-update" => artifact_update(result),
            "message" => said(result),
            _ => None,
        };
    }
    if let Some(it) = member("task") {
        return task(it).map(ServerReport::Task);
    }
    if let Some(it) = member("statusUpdate") {
        return status_update(it);
    }
    if let Some(it) = member("artifactUpdate") {
        return artifact_update(it);
    }
    if let Some(it) = member("message") {
        return said(it);
    }
    // GetTask and CancelTask return the task itself.
    task(result).map(ServerReport::Task)
}

/// Reads a page of the task list, and the name of the next page; empty if there is none.
pub fn page(result: &Map<String, Value>) -> Option<(Vec<Task>, String)> {
    let tasks = match result.get("tasks") {
        Some(Value::Array(tasks)) => tasks.as_slice(),
        // An empty list may be left out.
        None | Some(Value::Null) if result.contains_key("nextPageToken") => &[],
        Some(_) | None => return None,
    };
    let next = text(result, "nextPageToken").unwrap_or_default();
    let tasks = tasks
        .iter()
        .filter_map(Value::as_object)
        .filter_map(task)
        .take(MOST_TASKS)
        .collect();
    Some((tasks, next.to_owned()))
}

fn name(map: &Map<String, Value>, key: &str) -> Option<String> {
    let name = text(map, key)?;
    (!name.is_empty() && name.len() <= LONGEST_NAME).then(|| name.to_owned())
}

fn task(map: &Map<String, Value>) -> Option<Task> {
    let list = |key: &str| {
        let all = map.get(key).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(Value::as_object)
    };
    // The latest messages matter most.
    let said = list("history").count().saturating_sub(MOST_MESSAGES);
    Some(Task {
        id: name(map, "id")?,
        context: name(map, "contextId").unwrap_or_default(),
        status: status(map.get("status")?.as_object()?),
        artifacts: list("artifacts")
            .filter_map(artifact)
            .take(MOST_ARTIFACTS)
            .collect(),
        history: list("history").skip(said).map(message).collect(),
    })
}

fn status(map: &Map<String, Value>) -> TaskStatus {
    let said = map.get("message").and_then(Value::as_object);
    TaskStatus {
        state: TaskState::read(text(map, "state").unwrap_or_default()),
        message: said
            .map(message)
            .filter(|it| it.content != MessageContent::default()),
        at: cut(text(map, "timestamp").unwrap_or_default(), LONGEST_NAME),
    }
}

fn status_update(map: &Map<String, Value>) -> Option<ServerReport> {
    Some(ServerReport::Status {
        task: name(map, "taskId")?,
        context: name(map, "contextId").unwrap_or_default(),
        status: status(map.get("status")?.as_object()?),
    })
}

fn artifact_update(map: &Map<String, Value>) -> Option<ServerReport> {
    let mut artifact = artifact(map.get("artifact")?.as_object()?)?;
    let is_last = map.get("lastChunk").and_then(Value::as_bool);
    artifact.goes_on = is_last.map(|is_last| !is_last);
    Some(ServerReport::Artifact {
        task: name(map, "taskId")?,
        context: name(map, "contextId").unwrap_or_default(),
        artifact,
        append: map.get("append") == Some(&Value::Bool(true)),
    })
}

fn said(map: &Map<String, Value>) -> Option<ServerReport> {
    map.contains_key("parts").then(|| ServerReport::Message {
        context: name(map, "contextId").unwrap_or_default(),
        message: message(map),
    })
}

fn artifact(map: &Map<String, Value>) -> Option<Artifact> {
    Some(Artifact {
        id: name(map, "artifactId")?,
        content: content(map),
        goes_on: None,
    })
}

fn message(map: &Map<String, Value>) -> TaskMessage {
    let role = text(map, "role").unwrap_or_default();
    TaskMessage {
        id: name(map, "messageId").unwrap_or_default(),
        is_persons: matches!(role, "ROLE_USER" | "user"),
        content: content(map),
    }
}

/// Reads the parts of a message or an artifact: texts, files and data.
fn content(map: &Map<String, Value>) -> MessageContent {
    let mut content = MessageContent::default();
    let parts = map.get("parts").and_then(Value::as_array);
    let parts = parts.into_iter().flatten().filter_map(Value::as_object);
    for part in parts.take(MOST_PARTS) {
        let file = part.get("file").and_then(Value::as_object).unwrap_or(part);
        let called = ["filename", "name", "mediaType", "mimeType"];
        let called = called
            .iter()
            .find_map(|key| text(file, key).filter(|it| !it.is_empty()));
        if let Some(text) = text(part, "text") {
            content.text.push_str(text);
        } else if let Some(data) = part.get("data") {
            content.data.push(cut(&data.to_string(), LONGEST_DATA));
            content.others.push("data".to_owned());
        } else {
            let address = ["url", "uri"].iter().find_map(|key| text(file, key));
            content.addresses.extend(address.map(str::to_owned));
            let called = called.unwrap_or("file");
            content.others.push(cut(called, LONGEST_NAME));
        }
    }
    content
}
