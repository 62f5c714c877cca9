//! Parses the items of a turn leniently: members that are missing or of the wrong type count as absent.
//!
//! Responsibilities: what an item says and does, within bounds. Not here: what becomes of it (`thread`).

use serde_json::{Map, Value};

use crate::event_writer::cut;
use crate::kit::call::{first, inside};
use crate::kit::call_inputs::{CallInput, CallInputs};
use crate::kit::exit;
use crate::kit::members::text;
use crate::kit::shell::unwrapped;
use crate::kit::turn_updates::{CallNews, CallStatus};
use crate::protocol::{CallOutput, FileChange, PlanStage, PlanStep};
use crate::{SharedWording, edit_changes};

/// How many changes of one item are kept: each is named before it is allowed.
pub const MOST_CHANGES: usize = 512;
/// The longest path, in characters: the limit of an operating system.
const LONGEST_PATH: usize = 4096;
/// How many parts of a result are kept.
const MOST_PARTS: usize = 64;
/// How many steps of a plan are counted.
const MOST_STEPS: usize = 512;
/// The longest name or title, in characters.
const LONGEST_NAME: usize = 512;

/// One item of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnItem {
    /// A prompt to the agent, from any client.
    Prompt {
        /// The words.
        words: String,
        /// The id that the prompt's client gave it, if any.
        client: Option<String>,
    },
    /// The agent's text, as far as it is written.
    Says(String),
    /// The agent's thinking; never presented as addressed to the person.
    Thinks,
    /// A tool call.
    Calls {
        /// What is said about it.
        news: Box<CallNews>,
        /// Whether it was declined.
        declined: bool,
    },
    /// Something other than text.
    Shows(&'static str),
    /// An item of no interest by itself.
    Quiet,
    /// An unknown kind of item.
    Unknown(String),
}

/// Parses an item: its id and contents. `over` says whether it is done.
pub fn read(
    item: &Map<String, Value>,
    over: bool,
    folder: &str,
    words: &SharedWording,
) -> Option<(String, TurnItem)> {
    let id = cut(text(item, "id")?, LONGEST_NAME);
    let kind = text(item, "type").unwrap_or_default();
    let news = CallNews {
        id: id.clone(),
        status: Some(status(item, over)),
        ..CallNews::default()
    };
    let declined = text(item, "status") == Some("declined");
    let call = |news: CallNews| TurnItem::Calls {
        news: Box::new(news),
        declined,
    };
    let named = |key: &str| cut(text(item, key).unwrap_or_default(), LONGEST_NAME);
    let read = match kind {
        "userMessage" => TurnItem::Prompt {
            words: prompt(item),
            client: text(item, "clientId").map(str::to_owned),
        },
        "agentMessage" | "plan" => {
            TurnItem::Says(text(item, "text").unwrap_or_default().to_owned())
        }
        "exitedReviewMode" => TurnItem::Says(text(item, "review").unwrap_or_default().to_owned()),
        "reasoning" => TurnItem::Thinks,
        "commandExecution" => call(CallNews {
            output: CallOutput::of(text(item, "aggregatedOutput").unwrap_or_default().trim()),
            exit: exit::stated(item.get("exitCode"), None),
            ..command(item, news)
        }),
        "fileChange" => call(changed(item.get("changes"), news, folder, words)),
        "mcpToolCall" => call(CallNews {
            title: Some(format!("{}: {}", named("server"), named("tool"))),
            kind: Some(format!("{}.{}", named("server"), named("tool"))),
            inputs: item
                .get("arguments")
                .and_then(Value::as_object)
                .map(CallInputs::read),
            output: Some(result(item)),
            ..news
        }),
        "dynamicToolCall" | "collabAgentToolCall" => call(CallNews {
            title: Some(named("tool")),
            kind: Some(named("tool")),
            inputs: item
                .get("arguments")
                .and_then(Value::as_object)
                .map(CallInputs::read),
            ..news
        }),
        "webSearch" => call(CallNews {
            title: Some(named("query")),
            kind: Some("search".to_owned()),
            ..news
        }),
        "imageView" => call(CallNews {
            title: Some(named("path")),
            kind: Some("read".to_owned()),
            ..news
        }),
        "imageGeneration" if over => TurnItem::Shows("image"),
        "imageGeneration" | "hookPrompt" | "functionCallOutput" | "subAgentActivity" | "sleep"
        | "enteredReviewMode" | "contextCompaction" => TurnItem::Quiet,
        other => TurnItem::Unknown(cut(other, LONGEST_NAME)),
    };
    Some((id, read))
}

fn status(item: &Map<String, Value>, over: bool) -> CallStatus {
    match text(item, "status") {
        Some("failed" | "declined") => CallStatus::Failed,
        Some("completed") => CallStatus::Completed,
        Some(_) | None if over => CallStatus::Completed,
        Some(_) | None => CallStatus::InProgress,
    }
}

fn prompt(item: &Map<String, Value>) -> String {
    let content = item.get("content").and_then(Value::as_array);
    let parts = content.into_iter().flatten().take(MOST_PARTS);
    let texts = parts.filter_map(|part| text(part.as_object()?, "text"));
    texts.collect::<Vec<_>>().join("\n")
}

/// Parses the command of an item, or of a request for approval.
pub fn command(map: &Map<String, Value>, news: CallNews) -> CallNews {
    let folder = map.get("cwd").filter(|cwd| cwd.is_string());
    let folder = folder.map(|cwd| CallInput::new("cwd", cwd));
    CallNews {
        kind: Some("execute".to_owned()),
        inputs: Some(CallInputs {
            command: text(map, "command")
                .filter(|command| !command.trim().is_empty())
                .map(unwrapped),
            ..folder.into_iter().collect()
        }),
        ..news
    }
}

/// Parses the changes to files.
pub fn changed(
    changes: Option<&Value>,
    news: CallNews,
    folder: &str,
    words: &SharedWording,
) -> CallNews {
    let all = changes.and_then(Value::as_array);
    let all = all.into_iter().flatten().take(MOST_CHANGES);
    let (mut edits, mut also, mut places, mut deletes) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for change in all.filter_map(Value::as_object) {
        let path = cut(text(change, "path").unwrap_or_default(), LONGEST_PATH);
        let near = inside(&path, folder).to_owned();
        let diff = text(change, "diff").unwrap_or_default();
        let kind = change.get("kind").and_then(Value::as_object);
        let moved = kind.and_then(|kind| text(kind, "move_path"));
        match kind.and_then(|kind| text(kind, "type")) {
            Some("add") => edits.push(edit_changes::between(&path, None, diff)),
            Some("delete") => {
                let lines = diff.lines().count();
                let lines = if lines == 0 {
                    String::new()
                } else {
                    lines.to_string()
                };
                let args = [("path", near.as_str()), ("lines", lines.as_str())];
                also.push(first(words, "codex.deletes", &args));
                deletes.push(near.clone());
                places.push(near);
            }
            Some(_) | None => {
                let edit = of_diff(&path, diff);
                // A file that is only moved has no changed lines.
                if moved.is_none() || !edit.hunks.is_empty() {
                    edits.push(edit);
                }
            }
        }
        if let Some(to) = moved {
            let to = cut(to, LONGEST_PATH);
            let to = inside(&to, folder).to_owned();
            let from = inside(&path, folder);
            also.push(first(words, "codex.moves", &[("path", from), ("to", &to)]));
            places.push(to);
        }
    }
    CallNews {
        kind: Some("edit".to_owned()),
        // If no line changes, this is all there is to say.
        title: edits.is_empty().then(|| also.join("; ")),
        edits: Some(edits),
        also: Some(also),
        deletes,
        places: Some(places),
        ..news
    }
}

/// Parses the hunks that change one file.
fn of_diff(path: &str, diff: &str) -> FileChange {
    let patch = format!("--- a\n+++ a\n{diff}");
    let change = edit_changes::of_patch(&patch).into_iter().next();
    FileChange {
        path: path.to_owned(),
        is_new: false,
        ..change.unwrap_or_default()
    }
}

/// Parses the output of any other tool.
fn result(item: &Map<String, Value>) -> CallOutput {
    let error = item.get("error").and_then(Value::as_object);
    let error = error.and_then(|error| text(error, "message"));
    let content = item.get("result").and_then(|result| result.get("content"));
    let content = content.and_then(Value::as_array);
    let texts = content.into_iter().flatten().take(MOST_PARTS);
    let texts = texts.filter_map(|part| text(part.as_object()?, "text"));
    let all: Vec<&str> = error.into_iter().chain(texts).collect();
    CallOutput::of(all.join("\n").trim()).unwrap_or_default()
}

/// Parses a plan.
pub fn plan(params: &Map<String, Value>) -> Vec<PlanStep> {
    let steps = params.get("plan").and_then(Value::as_array);
    let steps = steps.into_iter().flatten().take(MOST_STEPS);
    let step = |step: &Map<String, Value>| PlanStep {
        words: cut(text(step, "step").unwrap_or_default(), LONGEST_NAME),
        stage: match text(step, "status") {
            Some("completed") => PlanStage::Done,
            Some("inProgress") => PlanStage::UnderWay,
            Some(_) | None => PlanStage::Open,
        },
    };
    steps.filter_map(Value::as_object).map(step).collect()
}
