//! What `sage --stream-json` writes: lines of JSON, and between them what a person at a terminal would see.
//!
//! Responsibilities: the seven kinds of JSON lines; the terminal's control sequences, the spinner, the agent's speech
//! and the tools in the text between. Not here: what that means for its turn (`turn_events` and its neighbours).
//!
//! In practice only `system`, `error` and `result` come as JSON; everything else is written as to a terminal:
//!
//! ```text
//! CR ESC[K ⠋ Thinking...            the spinner, erased by what follows: not announced
//! CR ESC[K ⏺ The first line          the agent speaks; further lines of it are indented by two spaces
//!   and the second
//! CR ESC[K                            a blank line, then
//! ⏺ bash(cargo test)                 a tool, with its parameters in brackets if it has any
//!   ⎿ 12 passed                       its output; red if it failed, unknown without colours
//! ```
//!
//! The two lines with the dot differ: nothing is erased on a tool's line before the dot. A line that could be either
//! counts as a tool only if it is a name, with or without brackets.

use serde_json::{Map, Value};

use super::message::{
    CallReport, Completeness, ErrorReport, ItemKind, MessageOrigin, MessageSubject, ReportedEnd,
    SageItem, SageMessage, SageStatus, SageTurnEnd, brief, failure, said, stamp, text,
};

/// The sign before the agent's speech, and before a tool.
const DOT: char = '⏺';

/// The sign before a tool's output.
const CORNER: char = '⎿';

/// The two sentences of a run that the person stopped.
const STOPPED: [&str; 2] = ["Task interrupted by user", "Task cancelled by user"];

/// The sentence of a run that reached its limit of steps.
const MOST_STEPS: &str = "Task reached maximum steps";

/// The sentence of a run that has nothing else to report.
const NO_WORDS: &str = "Task completed successfully";

/// The text before the question of a run that ends with one.
const WAITS: &str = "Waiting for input: ";

/// The text before an error.
const ERROR: &str = "Error: ";

/// The text before the task, in the second line.
const TASK: &str = "Task: ";

/// The reader of one program's lines, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineReader {
    /// What the text before this line belongs to.
    within: LineOwner,
}

/// What the text before a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LineOwner {
    /// Nothing.
    #[default]
    Nothing,
    /// The agent's speech.
    Speech,
    /// A tool's output.
    Result,
    /// A call, possibly without output yet.
    Tool,
}

/// The content of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum LineContent {
    /// A message.
    Message(SageMessage),
    /// The agent begins to speak.
    Speaks(String),
    /// The agent goes on with this line.
    GoesOn(String),
    /// A tool is called, with these parameters.
    Uses(String, Option<String>),
    /// The last tool's output.
    Gave(String, SageStatus),
    /// A further line of that output.
    GaveMore(String),
    /// Nothing worth announcing.
    Nothing,
    /// Text that is none of these.
    Foreign,
}

/// Returns whether an object is a line of `--stream-json`: other programs use the same types with other fields.
pub fn is_line(map: &Map<String, Value>) -> bool {
    let has = |name: &str| matches!(map.get(name), Some(Value::String(_)));
    let field = match text(map, "type") {
        Some("system" | "error") => "message",
        Some("assistant" | "user_prompt" | "result") => "content",
        Some("tool_call_start" | "tool_call_result") => "call_id",
        Some(_) | None => return false,
    };
    has(field) && has("timestamp") && !map.contains_key("event_id")
}

/// Returns whether a text is what Sage writes between its JSON lines.
pub fn is_sign(text: &str) -> bool {
    let seen = seen(text);
    let spins = |c: char| ('\u{2800}'..='\u{28ff}').contains(&c);
    text.contains("\u{1b}[K") && seen.starts_with(|c| c == DOT || spins(c))
}

impl LineReader {
    /// Reads a line.
    pub fn read(&mut self, line: &str) -> LineContent {
        let rubbed = line.contains("\u{1b}[K");
        let seen = seen(line);
        if let Some(object) = object(&seen) {
            self.within = LineOwner::Nothing;
            return match json(&object) {
                Some(message) => LineContent::Message(message),
                None => LineContent::Foreign,
            };
        }
        let (read, within) = self.text(line, &seen, rubbed);
        self.within = within;
        read
    }

    fn text(&self, raw: &str, seen: &str, rubbed: bool) -> (LineContent, LineOwner) {
        if let Some(words) = seen.strip_prefix(DOT) {
            let words = words.strip_prefix(' ').unwrap_or(words);
            return match used(words) {
                Some((tool, parameters)) if !rubbed => {
                    (LineContent::Uses(tool, parameters), LineOwner::Tool)
                }
                Some(_) | None => (LineContent::Speaks(words.to_owned()), LineOwner::Speech),
            };
        }
        if let Some(words) = seen.trim_start().strip_prefix(CORNER) {
            let before = raw.split(CORNER).next().unwrap_or_default();
            // The colours are the only sign of the outcome.
            let status = if before.contains("[31m") {
                failure(None, Some(words.trim()))
            } else if before.contains("[2m") {
                SageStatus::Succeeded
            } else {
                match failure(None, Some(words.trim())) {
                    SageStatus::Failed => SageStatus::Ended,
                    told => told,
                }
            };
            return (
                LineContent::Gave(words.trim().to_owned(), status),
                LineOwner::Result,
            );
        }
        let spins = |c: char| ('\u{2800}'..='\u{28ff}').contains(&c);
        match self.within {
            // A blank line within speech is indented like the others.
            LineOwner::Speech if seen.starts_with("  ") => {
                (LineContent::GoesOn(seen[2..].to_owned()), LineOwner::Speech)
            }
            LineOwner::Result if seen.starts_with("    ") => (
                LineContent::GaveMore(seen.trim().to_owned()),
                LineOwner::Result,
            ),
            within if seen.trim().is_empty() || seen.starts_with(spins) => {
                let within = match within {
                    LineOwner::Speech | LineOwner::Nothing | LineOwner::Result => {
                        LineOwner::Nothing
                    }
                    LineOwner::Tool => LineOwner::Tool,
                };
                (LineContent::Nothing, within)
            }
            LineOwner::Nothing | LineOwner::Speech | LineOwner::Result | LineOwner::Tool => {
                (LineContent::Foreign, LineOwner::Nothing)
            }
        }
    }
}

/// Reads a tool's line: its name, and its parameters in brackets.
fn used(words: &str) -> Option<(String, Option<String>)> {
    let words = words.trim_end();
    let (name, rest) = match words.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')')?)),
        None => (words, None),
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let parameters = rest.filter(|rest| !rest.is_empty()).map(str::to_owned);
    is_name.then(|| (name.to_owned(), parameters))
}

/// Returns what a person would see of a line: without erased text and colours.
pub fn seen(line: &str) -> String {
    let line = line.trim_end_matches(['\r', '\n']);
    let left = match line.rfind("\r\u{1b}[K") {
        Some(at) => &line[at + "\r\u{1b}[K".len()..],
        None => line.rsplit('\r').next().unwrap_or(line),
    };
    let mut shown = String::with_capacity(left.len());
    let mut signs = left.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\u{1b}' if signs.peek() == Some(&'[') => {
                signs.next();
                // A sequence ends with a letter or one of a few other characters.
                for part in signs.by_ref() {
                    if ('\u{40}'..='\u{7e}').contains(&part) {
                        break;
                    }
                }
            }
            '\u{1b}' => {}
            '\t' => shown.push('\t'),
            other if other.is_control() => {}
            other => shown.push(other),
        }
    }
    shown
}

fn object(seen: &str) -> Option<Map<String, Value>> {
    let text = seen.trim();
    if !text.starts_with('{') {
        return None;
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Some(map),
        Ok(_) | Err(_) => None,
    }
}

/// Reads a JSON line.
fn json(map: &Map<String, Value>) -> Option<SageMessage> {
    if !is_line(map) {
        return None;
    }
    let item = |stage: Completeness, kind: ItemKind| MessageSubject::Item(SageItem { stage, kind });
    let content = || said(map, "content").unwrap_or_default();
    let says = match text(map, "type")? {
        "system" => {
            let words = said(map, "message").unwrap_or_default();
            match words.strip_prefix(TASK) {
                Some(task) => MessageSubject::Prompt(task.to_owned()),
                None => item(Completeness::Created, ItemKind::System(words)),
            }
        }
        "assistant" => item(Completeness::Completed, ItemKind::Assistant(content())),
        "user_prompt" => item(Completeness::Created, ItemKind::User(content())),
        "tool_call_start" => item(
            Completeness::Created,
            ItemKind::Tool(Box::new(CallReport {
                status: SageStatus::Started,
                ..call(map)
            })),
        ),
        "tool_call_result" => item(Completeness::Completed, ItemKind::Tool(Box::new(call(map)))),
        "error" => MessageSubject::Error(ErrorReport {
            code: text(map, "code").unwrap_or_default().to_owned(),
            message: said(map, "message").unwrap_or_default(),
            tool: None,
            retryable: None,
        }),
        "result" => MessageSubject::TurnEnded(ReportedEnd {
            duration_ms: map.get("duration_ms").and_then(Value::as_u64),
            ..outcome(&content())
        }),
        _ => return None,
    };
    Some(SageMessage {
        place: MessageOrigin {
            item: text(map, "call_id").map(str::to_owned),
            at: stamp(map),
            ..MessageOrigin::default()
        },
        says,
    })
}

fn call(map: &Map<String, Value>) -> CallReport {
    let error = said(map, "error");
    let status = match map.get("success").and_then(Value::as_bool) {
        Some(true) => SageStatus::Succeeded,
        Some(false) => failure(None, error.as_deref()),
        None => SageStatus::Ended,
    };
    CallReport {
        tool: said(map, "tool_name").unwrap_or_default(),
        status,
        arguments: map.get("arguments").and_then(brief),
        output: said(map, "output"),
        error,
        duration_ms: map.get("duration_ms").and_then(Value::as_u64),
    }
}

/// Determines how a run ended: only the line's words show it.
pub fn outcome(words: &str) -> ReportedEnd {
    let end = |how: SageTurnEnd, reason: Option<&str>, result: Option<&str>| ReportedEnd {
        end_kind: how,
        reason: reason.map(str::to_owned),
        result: result
            .filter(|result| !result.trim().is_empty())
            .map(str::to_owned),
        duration_ms: None,
    };
    if let Some(question) = words.strip_prefix(WAITS) {
        end(
            SageTurnEnd::AsksForInput,
            Some("needs_user_input"),
            Some(question),
        )
    } else if STOPPED.contains(&words) {
        end(SageTurnEnd::Interrupted, Some("user_cancelled"), None)
    } else if words == MOST_STEPS {
        end(SageTurnEnd::Failed, Some("max_steps"), Some(words))
    } else if let Some(error) = words.strip_prefix(ERROR) {
        end(SageTurnEnd::Failed, None, Some(error))
    } else if words == NO_WORDS {
        end(SageTurnEnd::Completed, None, None)
    } else {
        end(SageTurnEnd::Completed, None, Some(words))
    }
}
