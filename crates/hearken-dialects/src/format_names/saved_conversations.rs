//! Recognises what agents keep or print of their conversations.
//!
//! Responsibilities: a line, a list, or the beginning of a text over many lines. Not here: everything else that is not
//! AAEP (`format_names`).

use serde_json::{Map, Value};

use super::ForeignFormat;

/// The types of the lines in a rollout of Codex.
const CODEX_ROLLOUT: [&str; 5] = [
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
];

/// Recognises what an agent keeps or prints of its conversations, by members that only such lines have together.
pub(super) fn kept(map: &Map<String, Value>, kind: &str) -> Option<ForeignFormat> {
    let is_text = |name: &str| map.get(name).is_some_and(Value::is_string);
    let is_object = |name: &str| map.get(name).is_some_and(Value::is_object);
    let within = |name: &str, inner: &str| map.get(name).and_then(|it| it.get(inner)).is_some();
    let speaks = matches!(kind, "user" | "assistant") && within("message", "role");
    if CODEX_ROLLOUT.contains(&kind) && is_text("timestamp") && is_object("payload") {
        return Some(ForeignFormat::CodexRollout);
    }
    let is_item = kind.starts_with("item.") && within("item", "id") && within("item", "type");
    if is_item || (kind == "thread.started" && is_text("thread_id")) {
        return Some(ForeignFormat::CodexStream);
    }
    let ends_or_begins = matches!(kind, "system" | "result") && is_text("subtype");
    let is_part = kind == "stream_event" && within("event", "type");
    if is_text("session_id") && (speaks || ends_or_begins || is_part) {
        return Some(ForeignFormat::ClaudeStream);
    }
    // Qwen Code's entries are Claude Code's, with messages in the form of Gemini.
    let is_thread = is_text("uuid") && map.contains_key("parentUuid") && is_text("sessionId");
    if is_thread && (within("message", "parts") || map.contains_key("systemPayload")) {
        return Some(ForeignFormat::QwenChat);
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
    (is_note || (is_entry && is_text("sessionId"))).then_some(ForeignFormat::ClaudeTranscript)
}

/// Recognises what the other agents keep or print, whose lines resemble no other agent's.
fn kept_by_others(map: &Map<String, Value>, kind: &str) -> Option<ForeignFormat> {
    let is_text = |name: &str| map.get(name).is_some_and(Value::is_string);
    let is_object = |name: &str| map.get(name).is_some_and(Value::is_object);
    let is_list = |name: &str| map.get(name).is_some_and(Value::is_array);
    let is_number = |name: &str| map.get(name).is_some_and(Value::is_number);
    let in_info = |name: &str| map.get("info").is_some_and(|info| info.get(name).is_some());
    if in_info("id") && is_list("messages") {
        return Some(ForeignFormat::OpencodeExport);
    }
    if !kind.is_empty() && is_text("sessionID") && is_object("part") && is_number("timestamp") {
        return Some(ForeignFormat::OpencodeStream);
    }
    if is_text("sessionId") && is_text("projectHash") {
        let of_qwen = |message: &Value| message.get("type").is_some_and(|kind| kind == "qwen");
        let messages = map.get("messages").and_then(Value::as_array);
        return Some(match messages.is_some_and(|all| all.iter().any(of_qwen)) {
            true => ForeignFormat::QwenChat,
            false => ForeignFormat::GeminiChat,
        });
    }
    if kind == "gemini" && is_text("id") && is_text("timestamp") && map.contains_key("content") {
        return Some(ForeignFormat::GeminiChat);
    }
    if let Some(Value::Array(history)) = map.get("history")
        && let Some(ForeignFormat::GeminiCheckpoint) = of_list(history)
    {
        return Some(ForeignFormat::GeminiCheckpoint);
    }
    let is_envelope = is_text("id") && is_text("timestamp") && map.contains_key("parentId");
    if kind.contains('.') && is_object("data") && is_envelope {
        return Some(ForeignFormat::CopilotSession);
    }
    let is_session = is_number("message_count") || map.contains_key("conversation");
    let is_message = kind.is_empty() && is_text("role") && is_number("created");
    let is_goose = is_text("working_dir") && is_session || is_message && is_list("content");
    is_goose.then_some(ForeignFormat::GooseSession)
}

/// Recognises an agent's saved list of a conversation.
pub(crate) fn of_list(list: &[Value]) -> Option<ForeignFormat> {
    let is_turn = |turn: &Value| {
        let role = turn.get("role").and_then(Value::as_str);
        matches!(role, Some("user" | "model")) && turn.get("parts").is_some_and(Value::is_array)
    };
    (!list.is_empty() && list.iter().all(is_turn)).then_some(ForeignFormat::GeminiCheckpoint)
}

/// Recognises the beginning of what an agent saved as a single object that is too long to be read, or cut off.
pub(super) fn of_beginning(text: &str) -> Option<ForeignFormat> {
    let signs: String = text
        .chars()
        .take(BEGINNING)
        .filter(|c| !c.is_whitespace())
        .collect();
    if signs.starts_with("{\"info\":{\"id\":\"ses_") {
        return Some(ForeignFormat::OpencodeExport);
    }
    (signs.starts_with("{\"sessionId\":\"") && signs.contains("\",\"projectHash\":\""))
        .then_some(ForeignFormat::GeminiChat)
}

/// How many characters of a broken text are looked at.
const BEGINNING: usize = 400;
