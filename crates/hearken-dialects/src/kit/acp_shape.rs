//! Parses calls and plans that have ACP's shape, leniently: members that are missing or of the wrong type count as
//! absent.
//!
//! Responsibilities: what they say, within bounds. Agents of other protocols have calls and plans, too; their dialects
//! put them into this shape where that is the shortest way. Not here: what becomes of them ([`super::turn`]).

use serde_json::{Map, Value};

use crate::protocol::{CallOutput, FileChange, PlanStage, PlanStep};

use super::call_inputs::{self, CallInput, CallInputs};
use super::edit_changes;
use super::event_writer::cut;
use super::exit;
use super::members::{object, text};
use super::turn_updates::{CallNews, CallStatus};

/// How many edits, places and inputs of one call are kept: each is named before it is allowed.
const MOST_PARTS: usize = 512;
/// The longest path, in characters: the limit of an operating system. A cut path could seem to lead elsewhere.
const LONGEST_PATH: usize = 4096;
/// The longest title or name that is kept, in characters.
pub const LONGEST_NAME: usize = 512;
/// Inputs that Codex's adapter adds and that are not real inputs: its own names and times, its parsing of the command,
/// and the answers, which the request has as options.
const BOOKKEEPING: [&str; 8] = [
    "available_decisions",
    "call_id",
    "parsed_cmd",
    "process_id",
    "proposed_execpolicy_amendment",
    "source",
    "started_at_ms",
    "turn_id",
];
/// How many entries of a plan are counted.
const MOST_ENTRIES: usize = 512;

/// Cuts a title or name to [`LONGEST_NAME`].
pub fn name(text: &str) -> String {
    cut(text, LONGEST_NAME)
}

fn path(text: &str) -> String {
    cut(text, LONGEST_PATH)
}

/// Parses a block of content: its text, or the kind of a block without text.
pub fn block(content: &Map<String, Value>) -> Result<String, String> {
    let kind = text(content, "type").unwrap_or_default();
    match kind {
        "text" => Ok(text(content, "text").unwrap_or_default().to_owned()),
        "resource_link" => {
            let uri = text(content, "uri").unwrap_or_default();
            let title = text(content, "title").or_else(|| text(content, "name"));
            Ok(format!("[{}]({uri})", title.unwrap_or(uri)))
        }
        "resource" => object(content, "resource")
            .and_then(|resource| text(resource, "text"))
            .map(str::to_owned)
            .ok_or_else(|| kind.to_owned()),
        other => Err(name(other)),
    }
}

/// Parses a plan.
pub fn plan(update: &Map<String, Value>) -> Vec<PlanStep> {
    let entries = update.get("entries").and_then(Value::as_array);
    entries.map(|entries| steps(entries)).unwrap_or_default()
}

/// Parses the list that a call is to write down; empty if the call has any other input.
fn list(input: &Map<String, Value>) -> Vec<PlanStep> {
    let todos = input.get("todos").and_then(Value::as_array);
    let todos = todos.filter(|_| input.len() == 1);
    todos.map(|entries| steps(entries)).unwrap_or_default()
}

/// Parses the entries of a plan.
pub fn steps(entries: &[Value]) -> Vec<PlanStep> {
    let entries = entries.iter().take(MOST_ENTRIES);
    let step = |entry: &Map<String, Value>| PlanStep {
        words: name(text(entry, "content").unwrap_or_default()),
        stage: match text(entry, "status") {
            Some("completed") => PlanStage::Done,
            Some("in_progress") => PlanStage::UnderWay,
            Some(_) | None => PlanStage::Open,
        },
    };
    entries.filter_map(Value::as_object).map(step).collect()
}

/// Parses what is said about a call; `None` if it has no id.
pub fn call(update: &Map<String, Value>) -> Option<CallNews> {
    let id = text(update, "toolCallId")?.to_owned();
    let content = update.get("content").and_then(Value::as_array);
    let parts: Option<Vec<&Map<String, Value>>> =
        content.map(|parts| parts.iter().filter_map(Value::as_object).collect());
    let input = update.get("rawInput");
    let kind = text(update, "kind").unwrap_or_default();
    let given = input.and_then(Value::as_object);
    let found = given.and_then(|given| call_inputs::command(given, kind));
    let (command, said_by_command) = match found {
        Some((command, said)) => (Some(command), said),
        None => (None, Vec::new()),
    };
    let said_by_edits = match (given, parts.as_deref()) {
        (Some(given), Some(parts)) => texts(parts).flat_map(|edit| edit.says(given)).collect(),
        (Some(_) | None, _) => Vec::new(),
    };
    let exit = exit::of_call(update);
    let meta = object(update, "_meta");
    let wrote = |name: &str| object(meta?, name).and_then(|wrote| text(wrote, "data"));
    // Codex's adapter, and pi's.
    let wrote = wrote("terminal_output_delta")
        .or_else(|| wrote("terminal_output").map(|written| exit::ended(written).0))
        .filter(|wrote| !wrote.is_empty());
    Some(CallNews {
        id,
        title: text(update, "title").map(name),
        kind: text(update, "kind").map(name),
        status: text(update, "status").and_then(|status| match status {
            "pending" => Some(CallStatus::Pending),
            "in_progress" => Some(CallStatus::InProgress),
            "completed" => Some(CallStatus::Completed),
            "failed" => Some(CallStatus::Failed),
            _ => None,
        }),
        edits: parts.as_deref().map(edits),
        output: match (update.get("rawOutput"), parts.as_deref()) {
            // Its parts also describe the shell, as a table.
            (Some(raw), _) if is_shell_result(raw) => Some(brought(raw).unwrap_or_default()),
            (_, Some(parts)) if !parts.is_empty() => Some(output(parts)),
            (raw, parts) => raw.and_then(brought).or(parts.map(output)),
        },
        wrote: wrote.map(str::to_owned),
        exit,
        makes_file: object(update, "rawOutput")
            .and_then(makes_file)
            .or_else(|| adds_file(parts.as_deref()?)),
        places: update
            .get("locations")
            .and_then(Value::as_array)
            .map(|list| {
                let paths = list.iter().filter_map(Value::as_object);
                let paths = paths.filter_map(|place| text(place, "path"));
                paths.take(MOST_PARTS).map(path).collect()
            }),
        inputs: input.and_then(|input| match input {
            Value::Object(input) => {
                let CallInputs { mut all, .. } = CallInputs::read(input);
                if is_of_codex(input) {
                    all.retain(|input| !BOOKKEEPING.contains(&input.name.as_str()));
                }
                let said = [said_by_command, said_by_edits].concat();
                Some(CallInputs { all, command, said })
            }
            Value::Null => None,
            // A custom tool may accept any value.
            other => Some(CallInputs::from_iter([CallInput::new("input", other)])),
        }),
        is_too_much: is_too_much(update),
        also: None,
        deletes: Vec::new(),
        instead: false,
        plan: input.and_then(Value::as_object).map(list),
    })
}

/// Returns whether a call has more of something than is read; `None` if it has none.
fn is_too_much(update: &Map<String, Value>) -> Option<bool> {
    let input = update.get("rawInput").and_then(Value::as_object);
    let counts = [
        input.map(|input| (input.len(), call_inputs::MOST)),
        ["content", "locations"]
            .into_iter()
            .filter_map(|name| update.get(name)?.as_array())
            .map(|list| (list.len(), MOST_PARTS))
            .max(),
    ];
    let counts: Vec<(usize, usize)> = counts.into_iter().flatten().collect();
    (!counts.is_empty()).then(|| counts.iter().any(|(count, most)| count > most))
}

/// Returns whether Codex's adapter wrote the inputs of a call. Elsewhere, an input with one of these names is a real
/// one.
fn is_of_codex(input: &Map<String, Value>) -> bool {
    let own = ["call_id", "turn_id", "parsed_cmd"];
    own.iter().all(|key| input.contains_key(*key)) && call_inputs::command(input, "").is_some()
}

/// Returns the texts of files before and after.
fn texts<'a>(parts: &'a [&Map<String, Value>]) -> impl Iterator<Item = call_inputs::Edit<'a>> {
    let diffs = parts
        .iter()
        .filter(|part| text(part, "type") == Some("diff"));
    let edits = diffs.filter_map(|part| {
        Some(call_inputs::Edit {
            path: text(part, "path")?,
            before: text(part, "oldText"),
            after: text(part, "newText")?,
        })
    });
    edits.take(MOST_PARTS)
}

fn edits(parts: &[&Map<String, Value>]) -> Vec<FileChange> {
    let edits = texts(parts);
    edits
        .map(|edit| edit_changes::between(&path(edit.path), edit.before, edit.after))
        .collect()
}

fn output(parts: &[&Map<String, Value>]) -> CallOutput {
    let texts = parts.iter().filter_map(|part| {
        let content = object(part, "content").filter(|_| text(part, "type") == Some("content"))?;
        block(content).ok()
    });
    let texts: Vec<String> = texts.take(MOST_PARTS).collect();
    CallOutput::of(bare(&texts.join("\n"))).unwrap_or_default()
}

/// Returns an output without what agents put around it for a screen: a fence, and Copilot's line about its shell.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let last = text.rfind('\n').map_or(0, |at| at + 1);
    let is_of_shell = text[last..].starts_with("<shellId: ") && text.ends_with('>');
    let text = if is_of_shell { &text[..last] } else { text }.trim();
    let inner = text.strip_prefix("```").and_then(|rest| {
        let (_, rest) = rest.split_once('\n')?;
        rest.strip_suffix("```")
    });
    match inner {
        Some(inner) if !inner.contains("```") => inner.trim(),
        Some(_) | None => text,
    }
}

/// Returns whether a raw output is Qwen's report of a shell.
fn is_shell_result(raw: &Value) -> bool {
    raw.get("type").and_then(Value::as_str) == Some("shell_result")
}

/// Returns whether the file that a call wrote is new, if its agent says so: opencode by a member, Copilot by a patch.
fn makes_file(raw: &Map<String, Value>) -> Option<bool> {
    let exists = object(raw, "metadata").and_then(|metadata| metadata.get("exists"));
    let patch = || text(raw, "detailedContent").filter(|text| text.contains("\ndiff --git "));
    let is_new = |patch: &str| {
        let head = patch.lines().take(8);
        let mut marks = head.map(|line| line.starts_with("create file mode "));
        marks.any(|is_mark| is_mark)
    };
    // Mistral Vibe's member.
    let exists = exists.or_else(|| raw.get("fileExisted"));
    let exists = exists.and_then(Value::as_bool).map(|exists| !exists);
    exists.or_else(|| patch().map(is_new))
}

/// Returns whether a change creates its file, if the agent says so beside it, as Gemini CLI does.
fn adds_file(parts: &[&Map<String, Value>]) -> Option<bool> {
    let mut diffs = parts
        .iter()
        .filter(|part| text(part, "type") == Some("diff"));
    let kind = |part: &Map<String, Value>| {
        object(part, "_meta")
            .and_then(|it| text(it, "kind"))
            .map(|it| it == "add")
    };
    let first = kind(diffs.next()?)?;
    diffs.next().is_none().then_some(first)
}

/// Parses a call's output if its agent has not put it into blocks: each agent has its own member for it.
fn brought(raw: &Value) -> Option<CallOutput> {
    let whole = ["aggregated_output", "formatted_output", "output"];
    let parts = ["stdout", "stderr", "error", "message"];
    let said = match raw {
        Value::String(text) => text.clone(),
        Value::Object(map) => {
            let of = |name: &&str| text(map, name).filter(|text| !text.trim().is_empty());
            let whole = whole.iter().find_map(of).map(str::to_owned);
            whole.unwrap_or_else(|| parts.iter().filter_map(of).collect::<Vec<_>>().join("\n"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    CallOutput::of(said.trim())
}
