//! Codex's reviewer: what it judges and how, read leniently.
//!
//! Responsibilities: the action, the verdict and its reason; the form in which Codex accepts an action that the person
//! allows all the same. Not here: what becomes of a review (`review_outcomes`).

use serde_json::{Map, Value, json};

use crate::SharedWording;
use crate::event_writer::cut;
use crate::kit::call::{first, inside};
use crate::kit::call_inputs::word;
use crate::kit::members::text;
use crate::kit::shell::{script, unwrapped};

use super::approvals;

/// The longest text of an action that can be put to the person, in characters: the limit of an AAEP field.
const LONGEST: usize = 4000;
/// How many files or words of an action are read.
const MOST_PARTS: usize = 512;
/// The longest name, in characters.
const LONGEST_NAME: usize = 512;
/// How deep the members of an action are read.
const DEEPEST: usize = 16;

/// What the reviewer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet.
    Open,
    /// The action may run.
    Allowed,
    /// The action may not run.
    Refused,
    /// Nothing in time, so that the action does not run.
    Late,
    /// Nothing any more: the review was broken off.
    BrokenOff,
    /// Something unknown.
    Unknown,
}

/// One review.
#[derive(Debug, Clone, PartialEq)]
pub struct CodexReview {
    /// The server's id of it.
    pub id: String,
    /// The item that it is about.
    pub item: Option<String>,
    pub verdict: Verdict,
    /// Why, in the reviewer's words; empty if it says nothing.
    pub reason: String,
    /// How dangerous it is, by the reviewer's words; empty if it says nothing.
    pub risk: String,
    /// What is judged.
    pub action: ReviewedAction,
    /// The refusal, as Codex wants it back with the person's permission; `None` if that can't be given.
    pub refusal: Option<Value>,
}

impl CodexReview {
    /// Parses a notification; `None` if it names no review.
    pub fn read(params: &Map<String, Value>, folder: &str, words: &SharedWording) -> Option<Self> {
        let id = text(params, "reviewId").filter(|id| !id.is_empty())?;
        let review = params.get("review").and_then(Value::as_object)?;
        let of_review = |name: &str| cut(text(review, name).unwrap_or_default(), LONGEST);
        let verdict = match text(review, "status") {
            Some("inProgress") => Verdict::Open,
            Some("approved") => Verdict::Allowed,
            Some("denied") => Verdict::Refused,
            Some("timedOut") => Verdict::Late,
            Some("aborted") => Verdict::BrokenOff,
            Some(_) | None => Verdict::Unknown,
        };
        let none = Map::new();
        let raw = params.get("action").and_then(Value::as_object);
        let action = ReviewedAction::read(raw.unwrap_or(&none), folder, words);
        let refused = verdict == Verdict::Refused && action.is_whole;
        let refusal = raw
            .filter(|_| refused)
            .and_then(|raw| refusal(params, review, raw));
        Some(Self {
            id: cut(id, LONGEST_NAME),
            item: text(params, "targetItemId").map(|item| cut(item, LONGEST_NAME)),
            verdict,
            reason: of_review("rationale").trim().to_owned(),
            risk: of_review("riskLevel"),
            action,
            refusal,
        })
    }

    /// Returns whether the reviewer sees much danger.
    pub fn is_dangerous(&self) -> bool {
        matches!(self.risk.as_str(), "high" | "critical")
    }
}

/// What a review is about.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReviewedAction {
    /// It in words, or the exact command.
    pub words: String,
    /// What else is known of it, to be read in full.
    pub context: Vec<(String, String)>,
    /// Whether the words leave nothing out, so that they can be allowed.
    pub is_whole: bool,
    /// Whether only its call says all that it does.
    pub is_of_call: bool,
}

impl ReviewedAction {
    fn read(action: &Map<String, Value>, folder: &str, words: &SharedWording) -> Self {
        let of = |name: &str| text(action, name).unwrap_or_default();
        let listed = |name: &str| {
            let all = action.get(name).and_then(Value::as_array);
            all.map(Vec::as_slice).unwrap_or_default()
        };
        let mut context = Vec::new();
        let (mut is_whole, mut is_of_call) = (true, false);
        let said = match of("type") {
            "command" => unwrapped(of("command")),
            "execve" => {
                let (program, all) = (of("program"), listed("argv"));
                is_whole = all.len() <= MOST_PARTS && all.iter().all(Value::is_string);
                let plain: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
                match script(&plain) {
                    Some(script) => script.to_owned(),
                    // The program runs, whatever name it is given.
                    None => std::iter::once(&json!(program))
                        .chain(all.iter().skip(1).take(MOST_PARTS))
                        .map(word)
                        .collect::<Vec<_>>()
                        .join(" "),
                }
            }
            "writeStdin" => {
                is_whole = false;
                first(words, "codex.stdin", &[("command", of("stdin"))])
            }
            "applyPatch" => {
                let all = listed("files");
                is_whole = all.len() <= MOST_PARTS && all.iter().all(Value::is_string);
                let all = all.iter().take(MOST_PARTS).filter_map(Value::as_str);
                is_of_call = true;
                let files: Vec<&str> = all.map(|file| inside(file, folder)).collect();
                first(words, "codex.review.files", &[("files", &files.join(", "))])
            }
            "networkAccess" => {
                let port = action.get("port").and_then(Value::as_u64);
                let host = match port {
                    Some(port) => format!("{}:{port}", of("host")),
                    None => of("host").to_owned(),
                };
                context.extend(stated("target", of("target")));
                let args = [("host", host.as_str()), ("protocol", of("protocol"))];
                first(words, "codex.network", &args)
            }
            "mcpToolCall" => {
                context.extend(stated("title", of("toolTitle")));
                context.extend(stated("connector", of("connectorName")));
                // The tool's arguments are not part of the review.
                is_of_call = true;
                format!("{}: {}", of("server"), of("toolName"))
            }
            "requestPermissions" => {
                let wanted = action.get("permissions").and_then(Value::as_object);
                let (rights, _) = approvals::rights(wanted.unwrap_or(&Map::new()), words);
                context.extend(stated("reason", of("reason")));
                first(words, "codex.rights", &[("rights", &rights)])
            }
            other => {
                is_whole = false;
                cut(other, LONGEST_NAME)
            }
        };
        if matches!(of("type"), "command" | "execve") {
            // This name marks it as a command, whose effects are then described.
            context.extend(stated("command", &said));
        }
        context.extend(stated("cwd", of("cwd")));
        is_whole &= !said.trim().is_empty() && said.chars().nth(LONGEST).is_none();
        Self {
            words: cut(&said, LONGEST),
            context,
            is_whole,
            is_of_call,
        }
    }
}

fn stated(name: &str, value: &str) -> Option<(String, String)> {
    (!value.trim().is_empty()).then(|| (name.to_owned(), cut(value, LONGEST)))
}

/// Writes a refusal as Codex's core does: its members and kinds are in snake case there.
fn refusal(
    params: &Map<String, Value>,
    review: &Map<String, Value>,
    action: &Map<String, Value>,
) -> Option<Value> {
    let mut event = Map::new();
    let mut put = |name: &str, value: Option<&Value>| {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            event.insert(name.to_owned(), value.clone());
        }
    };
    put("id", params.get("reviewId"));
    put("target_item_id", params.get("targetItemId"));
    put("turn_id", params.get("turnId"));
    put("started_at_ms", params.get("startedAtMs"));
    put("completed_at_ms", params.get("completedAtMs"));
    put("status", review.get("status"));
    put("risk_level", review.get("riskLevel"));
    put("user_authorization", review.get("userAuthorization"));
    put("rationale", review.get("rationale"));
    let source = text(params, "decisionSource").map(|source| json!(snake(source)));
    put("decision_source", source.as_ref());
    let action = in_snake_case(action, DEEPEST)?;
    event.insert("action".to_owned(), action);
    Some(Value::Object(event))
}

/// Returns an object with its members, and the kinds that they name, in snake case; `None` if it is nested too deeply.
fn in_snake_case(map: &Map<String, Value>, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let members = map.iter().map(|(name, value)| {
        let value = match value {
            Value::String(kind) if matches!(name.as_str(), "type" | "source" | "protocol") => {
                json!(snake(kind))
            }
            other => nested(other, depth)?,
        };
        Some((snake(name), value))
    });
    members.collect::<Option<Map<_, _>>>().map(Value::Object)
}

fn nested(value: &Value, depth: usize) -> Option<Value> {
    match value {
        Value::Object(map) => in_snake_case(map, depth),
        Value::Array(all) => {
            let depth = depth.checked_sub(1)?;
            let all = all.iter().map(|value| nested(value, depth));
            all.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        other => Some(other.clone()),
    }
}

fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::rig::WORDS;

    fn read(status: &str, action: &Value) -> CodexReview {
        let params = json!({"threadId": "t", "turnId": "u", "startedAtMs": 1, "completedAtMs": 2, "reviewId": "r",
            "targetItemId": "i", "decisionSource": "agent", "action": action,
            "review": {"status": status, "riskLevel": "high", "userAuthorization": null, "rationale": " Too much. "}});
        CodexReview::read(params.as_object().unwrap(), "/w", &WORDS).unwrap()
    }

    #[test]
    fn each_action_has_words_and_goes_back_in_the_form_of_codexs_core() {
        for (action, words, core) in [
            (
                json!({"type": "command", "source": "unifiedExec", "command": "/bin/bash -lc 'touch a'", "cwd": "/w"}),
                "touch a",
                Some(
                    json!({"type": "command", "source": "unified_exec", "command": "/bin/bash -lc 'touch a'", "cwd": "/w"}),
                ),
            ),
            (
                json!({"type": "execve", "source": "shell", "program": "/bin/rm", "argv": ["ls", "a b"], "cwd": "/w"}),
                "/bin/rm 'a b'",
                Some(
                    json!({"type": "execve", "source": "shell", "program": "/bin/rm", "argv": ["ls", "a b"], "cwd": "/w"}),
                ),
            ),
            (
                json!({"type": "applyPatch", "cwd": "/w", "files": ["/w/a", "/x/b"]}),
                "Changes a, /x/b",
                Some(json!({"type": "apply_patch", "cwd": "/w", "files": ["/w/a", "/x/b"]})),
            ),
            (
                json!({"type": "networkAccess", "target": "https://a:443", "host": "a", "protocol": "socks5Tcp", "port": 443}),
                "Connects to a:443 by socks5Tcp",
                Some(
                    json!({"type": "network_access", "target": "https://a:443", "host": "a", "protocol": "socks5_tcp", "port": 443}),
                ),
            ),
            (
                json!({"type": "requestPermissions", "reason": null, "permissions": {"network": null,
                    "fileSystem": {"entries": [{"access": "write", "path": {"type": "globPattern", "pattern": "/a/*"}}]}}}),
                "Gets more rights for this turn: write in /a/*",
                Some(
                    json!({"type": "request_permissions", "reason": null, "permissions": {"network": null,
                    "file_system": {"entries": [{"access": "write", "path": {"type": "glob_pattern", "pattern": "/a/*"}}]}}}),
                ),
            ),
            (
                json!({"type": "mcpToolCall", "server": "s", "toolName": "t"}),
                "s: t",
                Some(json!({"type": "mcp_tool_call", "server": "s", "tool_name": "t"})),
            ),
            // Nobody can allow what is not said in full, nor what Codex does not take back.
            (
                json!({"type": "writeStdin", "stdin": "yes", "approvalId": "a", "processId": "1", "cwd": "/w"}),
                "Types into a running program: yes",
                None,
            ),
            (json!({"type": "command", "command": " "}), " ", None),
            (json!({"type": "new"}), "new", None),
            (json!({}), "", None),
        ] {
            let review = read("denied", &action);
            assert_eq!(review.action.words, words);
            let refusal = review.refusal.clone();
            let sent = refusal.as_ref().map(|refusal| refusal["action"].clone());
            assert_eq!(sent, core, "{action}");
            if let Some(mut refusal) = refusal {
                refusal["action"] = Value::Null;
                let wanted = json!({"id": "r", "target_item_id": "i", "turn_id": "u", "started_at_ms": 1,
                    "completed_at_ms": 2, "status": "denied", "risk_level": "high", "rationale": " Too much. ",
                    "decision_source": "agent", "action": null});
                assert_eq!(refusal, wanted);
            }
            for other in ["approved", "inProgress", "timedOut", "aborted", "new"] {
                assert_eq!(read(other, &action).refusal, None, "{other}");
            }
        }
    }

    #[test]
    fn what_is_too_long_or_too_deep_can_not_be_allowed() {
        let long = "a".repeat(LONGEST + 1);
        let review = read("denied", &json!({"type": "command", "command": long}));
        assert_eq!(review.action.words.chars().count(), LONGEST);
        assert_eq!(review.refusal, None);
        let mut deep = json!({"network": {"enabled": true}});
        for _ in 0..DEEPEST {
            deep = json!({"network": deep});
        }
        let review = read(
            "denied",
            &json!({"type": "requestPermissions", "permissions": deep}),
        );
        assert_eq!(review.refusal, None);
        let none = json!({"review": {"status": "denied"}});
        assert_eq!(
            CodexReview::read(none.as_object().unwrap(), "/w", &WORDS),
            None
        );
    }
}
