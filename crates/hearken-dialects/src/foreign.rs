//! Names what a text that is not AAEP looks like.
//!
//! Responsibilities: deciding whether a message is AAEP at all, and if not, what it seems to be. Not here: reading it.
//!
//! AAEP is recognised by its context, by a type in its namespace, by one of its types together with an envelope's ids,
//! or by a complete envelope. An unknown type may still be AAEP (3.2.2): its sender shows that by the context.

use serde_json::{Map, Value};

use crate::protocol::is_known_type;

/// What something that is not AAEP looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Foreign {
    /// A web page.
    Html,
    /// Text that is not JSON.
    Text,
    /// Bytes that are not text.
    Binary,
    /// JSON that is not an object: a list, a number, a text.
    Value,
    /// An object without a type.
    Untyped,
    /// An object of a type that is not AAEP's.
    Typed,
    /// JSON-RPC of an unknown protocol.
    JsonRpc,
    /// The Agent Client Protocol.
    Acp,
    /// The Model Context Protocol.
    Mcp,
    /// The events of opencode.
    OpenCode,
    /// The Agent User Interaction Protocol.
    AgUi,
    /// CloudEvents.
    CloudEvents,
    /// The token stream of a model itself.
    Model,
    /// What Codex keeps of a conversation.
    CodexRollout,
    /// What `codex exec --json` prints.
    CodexStream,
    /// What Claude Code keeps of a conversation.
    ClaudeTranscript,
    /// What `claude --output-format stream-json` prints.
    ClaudeStream,
    /// What `opencode export` writes.
    OpencodeExport,
    /// What `opencode run --format json` prints.
    OpencodeStream,
    /// What Gemini CLI keeps of a conversation.
    GeminiChat,
    /// What Gemini CLI, or a program built on it, saves with `/chat save`.
    GeminiCheckpoint,
    /// What Qwen Code keeps of a conversation.
    QwenChat,
    /// What Copilot CLI keeps of a conversation.
    CopilotSession,
    /// What goose keeps or exports of a conversation.
    GooseSession,
    /// What aider keeps of its conversations.
    AiderChat,
}

/// The phrases for what an agent keeps or prints of its conversations, with the way in which that agent is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptFormat {
    /// The sentence about a source.
    pub source: &'static str,
    /// The failure of a command.
    pub call: &'static str,
}

impl Foreign {
    /// Judges an object; `None` if it is AAEP.
    pub(super) fn of_object(map: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| map.get(name).and_then(Value::as_str);
        let has = |name: &str| map.contains_key(name);
        let kind = text("type").unwrap_or_default();
        if is_aaep(map, kind) {
            return None;
        }
        Some(if let Some(kept) = kept(map, kind) {
            kept
        } else if has("jsonrpc") {
            Self::of_method(text("method").unwrap_or_default())
        } else if has("specversion") && has("source") {
            Self::CloudEvents
        } else if kind.is_empty() {
            match text("object") {
                Some(object) if object.contains("completion") || object.starts_with("response") => {
                    Self::Model
                }
                Some(_) | None => Self::Untyped,
            }
        } else if kind.contains('.') && matches!(map.get("properties"), Some(Value::Object(_))) {
            Self::OpenCode
        } else if AG_UI.iter().any(|prefix| kind.starts_with(prefix)) {
            Self::AgUi
        } else if MODEL.iter().any(|prefix| kind.starts_with(prefix)) {
            Self::Model
        } else {
            Self::Typed
        })
    }

    /// Judges a JSON-RPC message by its method.
    pub(super) fn of_method(method: &str) -> Self {
        let one_of = |list: &[&str]| list.iter().any(|prefix| method.starts_with(prefix));
        if one_of(&ACP) {
            Self::Acp
        } else if one_of(&MCP) {
            Self::Mcp
        } else {
            Self::JsonRpc
        }
    }

    /// Returns the phrases for it, if it is what an agent keeps or prints of its conversations.
    pub fn kept(self) -> Option<KeptFormat> {
        match self {
            Self::CodexRollout | Self::CodexStream => Some(KeptFormat {
                source: "link.kept.codex",
                call: "call.kept.codex",
            }),
            Self::ClaudeTranscript | Self::ClaudeStream => Some(KeptFormat {
                source: "link.kept.claude",
                call: "call.kept.claude",
            }),
            Self::OpencodeExport | Self::OpencodeStream => Some(KeptFormat {
                source: "link.kept.opencode",
                call: "call.kept.opencode",
            }),
            Self::GeminiChat | Self::GeminiCheckpoint => Some(KeptFormat {
                source: "link.kept.gemini",
                call: "call.kept.gemini",
            }),
            Self::QwenChat => Some(KeptFormat {
                source: "link.kept.qwen",
                call: "call.kept.qwen",
            }),
            Self::CopilotSession => Some(KeptFormat {
                source: "link.kept.copilot",
                call: "call.kept.copilot",
            }),
            Self::GooseSession => Some(KeptFormat {
                source: "link.kept.goose",
                call: "call.kept.goose",
            }),
            Self::AiderChat => Some(KeptFormat {
                source: "link.kept.aider",
                call: "call.kept.aider",
            }),
            Self::Html
            | Self::Text
            | Self::Binary
            | Self::Value
            | Self::Untyped
            | Self::Typed
            | Self::JsonRpc
            | Self::Acp
            | Self::Mcp
            | Self::OpenCode
            | Self::AgUi
            | Self::CloudEvents
            | Self::Model => None,
        }
    }

    /// Returns the key of the phrase for what it looks like.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Html => "foreign.html",
            Self::Text => "foreign.text",
            Self::Binary => "foreign.binary",
            Self::Value => "foreign.value",
            Self::Untyped => "foreign.untyped",
            Self::Typed => "foreign.typed",
            Self::JsonRpc => "foreign.json_rpc",
            Self::Acp => "foreign.acp",
            Self::Mcp => "foreign.mcp",
            Self::OpenCode => "foreign.opencode",
            Self::AgUi => "foreign.ag_ui",
            Self::CloudEvents => "foreign.cloud_events",
            Self::Model => "foreign.model",
            Self::CodexRollout => "foreign.codex_rollout",
            Self::CodexStream => "foreign.codex_stream",
            Self::ClaudeTranscript => "foreign.claude_transcript",
            Self::ClaudeStream => "foreign.claude_stream",
            Self::OpencodeExport => "foreign.opencode_export",
            Self::OpencodeStream => "foreign.opencode_stream",
            Self::GeminiChat => "foreign.gemini_chat",
            Self::GeminiCheckpoint => "foreign.gemini_checkpoint",
            Self::QwenChat => "foreign.qwen_chat",
            Self::CopilotSession => "foreign.copilot_session",
            Self::GooseSession => "foreign.goose_session",
            Self::AiderChat => "foreign.aider_chat",
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        self.phrase().trim_start_matches("foreign.")
    }
}

/// Recognises what an agent keeps or prints of its conversations, by members that only such lines have together.
fn kept(map: &Map<String, Value>, kind: &str) -> Option<Foreign> {
    let is_text = |name: &str| map.get(name).is_some_and(Value::is_string);
    let is_object = |name: &str| map.get(name).is_some_and(Value::is_object);
    let within = |name: &str, inner: &str| map.get(name).and_then(|it| it.get(inner)).is_some();
    let speaks = matches!(kind, "user" | "assistant") && within("message", "role");
    if CODEX_ROLLOUT.contains(&kind) && is_text("timestamp") && is_object("payload") {
        return Some(Foreign::CodexRollout);
    }
    let is_item = kind.starts_with("item.") && within("item", "id") && within("item", "type");
    if is_item || (kind == "thread.started" && is_text("thread_id")) {
        return Some(Foreign::CodexStream);
    }
    let ends_or_begins = matches!(kind, "system" | "result") && is_text("subtype");
    let is_part = kind == "stream_event" && within("event", "type");
    if is_text("session_id") && (speaks || ends_or_begins || is_part) {
        return Some(Foreign::ClaudeStream);
    }
    // Qwen Code's entries are Claude Code's, with messages in the form of Gemini.
    let is_thread = is_text("uuid") && map.contains_key("parentUuid") && is_text("sessionId");
    if is_thread && (within("message", "parts") || map.contains_key("systemPayload")) {
        return Some(Foreign::QwenChat);
    }
    if let Some(other) = kept_by_others(map, kind) {
        return Some(other);
    }
    let is_entry =
        (speaks || kind == "system") && is_text("uuid") && map.contains_key("parentUuid");
    let is_note = match kind {
        "summary" => is_text("summary") && is_text("leafUuid"),
        "file-history-snapshot" => is_text("messageId") && is_object("snapshot"),
        "queue-operation" => is_text("operation") && is_text("timestamp"),
        _ => false,
    };
    (is_note || (is_entry && is_text("sessionId"))).then_some(Foreign::ClaudeTranscript)
}

/// Recognises what the agents keep or print whose lines resemble nobody else's.
fn kept_by_others(map: &Map<String, Value>, kind: &str) -> Option<Foreign> {
    let is_text = |name: &str| map.get(name).is_some_and(Value::is_string);
    let is_object = |name: &str| map.get(name).is_some_and(Value::is_object);
    let is_list = |name: &str| map.get(name).is_some_and(Value::is_array);
    let is_number = |name: &str| map.get(name).is_some_and(Value::is_number);
    let in_info = |name: &str| map.get("info").is_some_and(|info| info.get(name).is_some());
    if in_info("id") && is_list("messages") {
        return Some(Foreign::OpencodeExport);
    }
    if !kind.is_empty() && is_text("sessionID") && is_object("part") && is_number("timestamp") {
        return Some(Foreign::OpencodeStream);
    }
    if is_text("sessionId") && is_text("projectHash") {
        let of_qwen = |message: &Value| message.get("type").is_some_and(|kind| kind == "qwen");
        let messages = map.get("messages").and_then(Value::as_array);
        return Some(match messages.is_some_and(|all| all.iter().any(of_qwen)) {
            true => Foreign::QwenChat,
            false => Foreign::GeminiChat,
        });
    }
    if kind == "gemini" && is_text("id") && is_text("timestamp") && map.contains_key("content") {
        return Some(Foreign::GeminiChat);
    }
    if let Some(Value::Array(history)) = map.get("history")
        && let Some(Foreign::GeminiCheckpoint) = of_list(history)
    {
        return Some(Foreign::GeminiCheckpoint);
    }
    let is_envelope = is_text("id") && is_text("timestamp") && map.contains_key("parentId");
    if kind.contains('.') && is_object("data") && is_envelope {
        return Some(Foreign::CopilotSession);
    }
    let is_session = is_number("message_count") || map.contains_key("conversation");
    let is_message = kind.is_empty() && is_text("role") && is_number("created");
    let is_goose = is_text("working_dir") && is_session || is_message && is_list("content");
    is_goose.then_some(Foreign::GooseSession)
}

/// Recognises a list that an agent saved of a conversation.
pub(super) fn of_list(list: &[Value]) -> Option<Foreign> {
    let is_turn = |turn: &Value| {
        let role = turn.get("role").and_then(Value::as_str);
        matches!(role, Some("user" | "model")) && turn.get("parts").is_some_and(Value::is_array)
    };
    (!list.is_empty() && list.iter().all(is_turn)).then_some(Foreign::GeminiCheckpoint)
}

/// Recognises the beginning of what an agent saved as a single object that is too long to be read, or cut off.
fn of_beginning(text: &str) -> Option<Foreign> {
    let signs: String = text
        .chars()
        .take(BEGINNING)
        .filter(|c| !c.is_whitespace())
        .collect();
    if signs.starts_with("{\"info\":{\"id\":\"ses_") {
        return Some(Foreign::OpencodeExport);
    }
    (signs.starts_with("{\"sessionId\":\"") && signs.contains("\",\"projectHash\":\""))
        .then_some(Foreign::GeminiChat)
}

/// How many characters of a broken text are looked at.
const BEGINNING: usize = 400;

/// How the first line of a chat of aider begins.
const AIDER: &str = "# aider chat started at ";

/// The types of the lines in a rollout of Codex.
const CODEX_ROLLOUT: [&str; 5] = [
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
];

/// Judges text that is not JSON; `None` if it begins like JSON but is broken, because that may be AAEP.
pub(super) fn of_text(text: &str) -> Option<Foreign> {
    let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let begins = |word: &str| {
        text.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    match text.chars().next() {
        Some('{' | '[') => of_beginning(text),
        Some('#') if begins(AIDER) => Some(Foreign::AiderChat),
        Some('<') if begins("<!doctype html") || begins("<html") || begins("<head") => {
            Some(Foreign::Html)
        }
        Some(_) if !is_legible(text) => Some(Foreign::Binary),
        Some(_) | None => Some(Foreign::Text),
    }
}

/// Returns whether a person could read it: something in it is visible, and it has no characters that text never has.
/// The debris of a message read with the wrong length fails on both counts.
fn is_legible(text: &str) -> bool {
    // Line, column and page breaks, and what programs send that colour their output.
    let usual = |c: char| c.is_whitespace() || matches!(c, '\u{7}' | '\u{8}' | '\u{1b}');
    let seen = |c: char| !c.is_control() && !c.is_whitespace() && c != char::REPLACEMENT_CHARACTER;
    text.chars().any(seen) && !text.chars().any(|c| c.is_control() && !usual(c))
}

/// The prefixes of AG-UI's event types.
const AG_UI: [&str; 10] = [
    "RUN_",
    "STEP_",
    "TEXT_MESSAGE_",
    "TOOL_CALL_",
    "STATE_",
    "MESSAGES_SNAPSHOT",
    "ACTIVITY_",
    "REASONING_",
    "THINKING_",
    "CUSTOM",
];

/// The prefixes of the event types in model streams.
const MODEL: [&str; 3] = ["message_", "content_block_", "response."];

/// The prefixes of ACP's methods.
const ACP: [&str; 3] = ["session/", "fs/", "terminal/"];

/// The prefixes of MCP's methods.
const MCP: [&str; 7] = [
    "tools/",
    "resources/",
    "prompts/",
    "notifications/",
    "sampling/",
    "roots/",
    "logging/",
];

fn is_aaep(map: &Map<String, Value>, kind: &str) -> bool {
    let named = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| text.to_ascii_lowercase().contains("aaep"))
    };
    let context = match map.get("@context") {
        Some(Value::Array(list)) => list.iter().any(named),
        Some(one) => named(one),
        None => false,
    };
    let is_text = |name: &str| matches!(map.get(name), Some(Value::String(_)));
    let agent = map
        .get("producer")
        .and_then(|producer| producer.get("agent_id"));
    context
        || kind.starts_with("aaep:")
        || kind.to_ascii_lowercase().contains("aaep-protocol")
        || is_known_type(kind) && (is_text("event_id") || is_text("session_id"))
        || ["subscription.", "confirmation.reply", "clarification.reply"]
            .iter()
            .any(|message| kind.starts_with(message))
        || is_text("event_id") && is_text("session_id") && agent.is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(value: Value) -> Option<Foreign> {
        match value {
            Value::Object(map) => Foreign::of_object(&map),
            _ => None,
        }
    }

    #[test]
    fn what_is_not_aaep_is_named_and_what_is_passes() {
        for (value, wanted) in [
            (
                json!({"@context": "https://aaep-protocol.org/context/v1", "type": "x:y"}),
                None,
            ),
            (
                json!({"@context": ["https://a.example", "https://aaep-protocol.org/context/v1"]}),
                None,
            ),
            (json!({"type": "aaep:agent.purple.flamingo"}), None),
            (
                json!({"type": "agent.session.started", "session_id": "s"}),
                None,
            ),
            (
                json!({"type": "medai:thing", "event_id": "e", "session_id": "s", "producer": {"agent_id": "a"}}),
                None,
            ),
            (json!({"type": "subscription.accepted"}), None),
            (json!({"a": 1}), Some(Foreign::Untyped)),
            (
                json!({"type": "result", "session_id": "s"}),
                Some(Foreign::Typed),
            ),
            (
                json!({"jsonrpc": "2.0", "method": "session/update"}),
                Some(Foreign::Acp),
            ),
            (
                json!({"jsonrpc": "2.0", "method": "tools/call"}),
                Some(Foreign::Mcp),
            ),
            (
                json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
                Some(Foreign::JsonRpc),
            ),
            (
                json!({"type": "message.part.updated", "properties": {}}),
                Some(Foreign::OpenCode),
            ),
            (
                json!({"type": "TEXT_MESSAGE_CONTENT", "delta": "a"}),
                Some(Foreign::AgUi),
            ),
            (
                json!({"specversion": "1.0", "type": "a.b", "source": "/x"}),
                Some(Foreign::CloudEvents),
            ),
            (
                json!({"object": "chat.completion.chunk"}),
                Some(Foreign::Model),
            ),
            (json!({"type": "content_block_delta"}), Some(Foreign::Model)),
            (
                json!({"timestamp": "t", "type": "session_meta", "payload": {"id": "x"}}),
                Some(Foreign::CodexRollout),
            ),
            (
                json!({"type": "event_msg", "payload": {}}),
                Some(Foreign::Typed),
            ),
            (
                json!({"type": "thread.started", "thread_id": "x"}),
                Some(Foreign::CodexStream),
            ),
            (
                json!({"type": "item.completed", "item": {"id": "i", "type": "agent_message"}}),
                Some(Foreign::CodexStream),
            ),
            (
                json!({"type": "system", "subtype": "init", "session_id": "s"}),
                Some(Foreign::ClaudeStream),
            ),
            (
                json!({"type": "assistant", "session_id": "s", "message": {"role": "assistant"}}),
                Some(Foreign::ClaudeStream),
            ),
            (
                json!({"type": "user", "uuid": "u", "parentUuid": null, "sessionId": "s", "message": {"role": "user"}}),
                Some(Foreign::ClaudeTranscript),
            ),
            (
                json!({"type": "summary", "summary": "x", "leafUuid": "u"}),
                Some(Foreign::ClaudeTranscript),
            ),
            (
                json!({"type": "system", "message": "x", "timestamp": "t"}),
                Some(Foreign::Typed),
            ),
            (
                json!({"hook_event_name": "Stop", "session_id": "s"}),
                Some(Foreign::Untyped),
            ),
            (
                json!({"info": {"id": "ses_1", "title": "x"}, "messages": []}),
                Some(Foreign::OpencodeExport),
            ),
            (
                json!({"type": "text", "timestamp": 1, "sessionID": "ses_1", "part": {"id": "p"}}),
                Some(Foreign::OpencodeStream),
            ),
            (
                json!({"sessionId": "s", "projectHash": "h", "startTime": "t", "messages": [{"type": "gemini"}]}),
                Some(Foreign::GeminiChat),
            ),
            (
                json!({"sessionId": "s", "projectHash": "h", "messages": [{"type": "qwen"}]}),
                Some(Foreign::QwenChat),
            ),
            (
                json!({"id": "i", "timestamp": "t", "type": "gemini", "content": "x"}),
                Some(Foreign::GeminiChat),
            ),
            (
                json!({"history": [{"role": "user", "parts": [{"text": "x"}]}], "authType": "x"}),
                Some(Foreign::GeminiCheckpoint),
            ),
            (json!({"history": []}), Some(Foreign::Untyped)),
            (
                json!({"type": "assistant", "uuid": "u", "parentUuid": "p", "sessionId": "s", "message": {"role": "model", "parts": []}}),
                Some(Foreign::QwenChat),
            ),
            (
                json!({"type": "user", "uuid": "u", "parentUuid": null, "sessionId": "s", "message": {"role": "user", "parts": []}}),
                Some(Foreign::QwenChat),
            ),
            (
                json!({"type": "user.message", "data": {"content": "x"}, "id": "i", "timestamp": "t", "parentId": null}),
                Some(Foreign::CopilotSession),
            ),
            (
                json!({"type": "user.message", "data": {}, "id": "i"}),
                Some(Foreign::Typed),
            ),
            (
                json!({"working_dir": "/x", "description": "d", "message_count": 2}),
                Some(Foreign::GooseSession),
            ),
            (
                json!({"id": "m", "role": "user", "created": 1, "content": [{"type": "text"}]}),
                Some(Foreign::GooseSession),
            ),
            (
                json!({"type": "aaep:system", "subtype": "init", "session_id": "s"}),
                None,
            ),
        ] {
            assert_eq!(judged(value.clone()), wanted, "{value}");
        }
        for (text, wanted) in [
            ("<!DOCTYPE html><html>", Some(Foreign::Html)),
            ("  <html lang=en>", Some(Foreign::Html)),
            ("Compiling x", Some(Foreign::Text)),
            (
                "# aider chat started at 2026-01-02 10:00:00",
                Some(Foreign::AiderChat),
            ),
            ("# aider", Some(Foreign::Text)),
            (
                "{\n  \"info\": {\n    \"id\": \"ses_1\",",
                Some(Foreign::OpencodeExport),
            ),
            (
                "{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"h\",",
                Some(Foreign::GeminiChat),
            ),
            ("", Some(Foreign::Text)),
            ("{\"type\": \"aaep:", None),
            (
                "\u{1b}[1mGr\u{fffd}\u{fffd}e\u{1b}[0m\r",
                Some(Foreign::Text),
            ),
            ("\u{1}/", Some(Foreign::Binary)),
            ("\u{fffd}\u{fffd}", Some(Foreign::Binary)),
        ] {
            assert_eq!(of_text(text), wanted, "{text}");
        }
    }
}
