//! What a tool call does, in the form of the Agent Client Protocol.
//!
//! Responsibilities: the command, the edits, the paths and all other arguments of a call; its result; whether all of it
//! can be announced in full. Not here: when a call is announced (`kit::turn`).

use serde_json::{Map, Value, json};

use crate::SharedWording;
use crate::edit_changes;
use crate::event_writer::cut;
use crate::kit::acp_shape;
use crate::kit::call::first;
use crate::kit::call_inputs::CallInputs;
use crate::kit::members::text;
use crate::kit::turn_updates::{CallNews, CallStatus};
use crate::protocol::{CallExit, CallOutput, FileChange};

use super::messages::{CallOutcome, ToolUse};

/// The bounds within which no argument is cut or left out (`kit::acp_shape`): characters of one, and how many.
const LONGEST_INPUT: usize = 4000;
const MOST_INPUTS: usize = 512;
/// The longest name of an argument, and the longest path.
const LONGEST_NAME: usize = 512;
const LONGEST_PATH: usize = 4096;
/// The longest command that is judged in full, and how much text of an edit is read in parts, in bytes
/// (`protocol::Attached`).
const LONGEST_COMMAND: usize = 8 * 1024;
const LONGEST_EDIT: usize = 24 * 1024;
/// The arguments that summarise a call, the best first.
const ABOUT: [&str; 12] = [
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "url",
    "query",
    "description",
    "subject",
    "skill",
    "name",
    "prompt",
    "id",
];
/// How many parts of a patch are read; the rest is not announced.
const MOST_PLACES: usize = 512;

/// Reads a call; the second value is whether nothing of it is left out.
pub fn call(id: &str, made: &ToolUse, words: &SharedWording) -> (CallNews, bool) {
    let (tool, input) = (made.tool.as_str(), &made.input);
    let form = json!({"toolCallId": id, "kind": tool, "rawInput": input});
    let read = form.as_object().and_then(acp_shape::call);
    let mut news = read.unwrap_or_default();
    // For any other tool, a member of that name is an ordinary argument.
    if tool != "Bash" {
        news.inputs = Some(CallInputs::read(input));
    }
    news.id = id.to_owned();
    news.status = Some(CallStatus::InProgress);
    let change = edit(tool, input);
    let mut covered: &[&str] = if news.command().is_some() {
        &["command"]
    } else {
        &[]
    };
    if let Some(change) = change {
        if tool == "Write" {
            let lines = change.added.to_string();
            let args = [("path", change.path.as_str()), ("lines", lines.as_str())];
            news.also = Some(vec![first(words, "claude.writes", &args)]);
            news.instead = true;
        }
        covered = &["old_string", "new_string", "content"];
        news.edits = Some(vec![change]);
        news.places = Some(Vec::new());
    }
    news.title = news.command().is_none().then(|| title(tool, input));
    (news, is_whole(input, covered))
}

/// Returns a short description of a call.
fn title(tool: &str, input: &Map<String, Value>) -> String {
    let about = ABOUT
        .iter()
        .find_map(|key| text(input, key).filter(|it| !it.trim().is_empty()));
    match about {
        Some(about) => cut(&format!("{tool}: {about}"), LONGEST_NAME),
        None => tool.to_owned(),
    }
}

/// Reads the file change of a call, if it does nothing else.
fn edit(tool: &str, input: &Map<String, Value>) -> Option<FileChange> {
    let path = text(input, "file_path").filter(|path| path.chars().count() <= LONGEST_PATH)?;
    match tool {
        // Whether the file is new is not stated.
        "Write" => Some(edit_changes::between(
            path,
            Some(""),
            text(input, "content")?,
        )),
        // `replace_all` changes an unknown number of places, so that call is described by its arguments.
        "Edit" if input.get("replace_all") != Some(&Value::Bool(true)) => {
            Some(edit_changes::between(
                path,
                Some(text(input, "old_string")?),
                text(input, "new_string")?,
            ))
        }
        _ => None,
    }
}

/// Returns whether no argument is left out, except those `covered` in another way.
fn is_whole(input: &Map<String, Value>, covered: &[&str]) -> bool {
    let fits = |value: &Value| match value {
        Value::String(text) => text.chars().count() <= LONGEST_INPUT,
        other => other.to_string().chars().count() <= LONGEST_INPUT,
    };
    let command = covered.contains(&"command");
    let bytes = covered
        .iter()
        .filter_map(|key| text(input, key))
        .map(str::len)
        .sum::<usize>();
    bytes
        <= if command {
            LONGEST_COMMAND
        } else {
            LONGEST_EDIT
        }
        && input.len() <= MOST_INPUTS
        && input.iter().all(|(key, value)| {
            key.chars().count() <= LONGEST_NAME && (covered.contains(&key.as_str()) || fits(value))
        })
}

/// Reads the end of a call.
pub fn ended(id: &str, made: &ToolUse, outcome: &CallOutcome, words: &SharedWording) -> CallNews {
    let (mut news, _) = call(id, made, words);
    let (status, brought) = match outcome {
        CallOutcome::Worked(brought) => (CallStatus::Completed, self::brought(brought)),
        CallOutcome::Over(brought) => (CallStatus::Ended, self::brought(brought)),
        CallOutcome::Failed { words, .. } | CallOutcome::Refused(words) => {
            (CallStatus::Failed, words.clone())
        }
    };
    news.status = Some(status);
    news.output = CallOutput::of(brought.trim());
    if let CallOutcome::Failed {
        interrupted: true, ..
    } = outcome
    {
        news.exit = Some(CallExit::Stopped);
    }
    if let CallOutcome::Worked(Value::Object(brought)) = outcome
        && let Some(change) = patched(brought)
    {
        news.edits = Some(vec![change]);
        news.output = None;
        news.also = None;
    }
    news
}

/// Returns the text of a result.
fn brought(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts = parts.iter().filter_map(Value::as_object);
            let texts = parts
                .filter_map(|part| text(part, "text"))
                .take(MOST_PLACES);
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(map) => {
            let both = ["stdout", "stderr"].iter().filter_map(|key| text(map, key));
            let both: Vec<&str> = both.filter(|text| !text.trim().is_empty()).collect();
            if !both.is_empty() {
                return both.join("\n");
            }
            let inner = ["content", "result", "output", "file"]
                .iter()
                .find_map(|key| map.get(*key));
            inner.map(brought).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// Reads which lines of a file changed, if stated.
fn patched(brought: &Map<String, Value>) -> Option<FileChange> {
    let path = text(brought, "filePath")?;
    if text(brought, "type") == Some("create") {
        return Some(edit_changes::between(path, None, text(brought, "content")?));
    }
    let places = brought.get("structuredPatch")?.as_array()?;
    let mut patch = "--- a\n+++ b\n".to_owned();
    for place in places.iter().take(MOST_PLACES).filter_map(Value::as_object) {
        let number = |key: &str| place.get(key).and_then(Value::as_u64).unwrap_or_default();
        let (old, new) = (number("oldStart"), number("newStart"));
        let lines = place.get("lines").and_then(Value::as_array);
        let lines: Vec<&str> = lines
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let of = |signs: [char; 2]| lines.iter().filter(|line| line.starts_with(signs)).count();
        let (gone, come) = (of(['-', ' ']), of(['+', ' ']));
        patch.push_str(&format!("@@ -{old},{gone} +{new},{come} @@\n"));
        for line in lines {
            patch.push_str(line);
            patch.push('\n');
        }
    }
    let mut change = edit_changes::of_patch(&patch).into_iter().next()?;
    path.clone_into(&mut change.path);
    (change.places > 0).then_some(change)
}
