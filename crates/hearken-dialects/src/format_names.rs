//! Names the format of a text that is not AAEP.
//!
//! Responsibilities: deciding whether a message is AAEP at all, and if not, what it seems to be. Not here: reading it.
//!
//! AAEP is recognised by its context, by a type in its namespace, by one of its types together with an envelope's ids,
//! or by a complete envelope. An unknown type may still be AAEP (3.2.2): its sender shows that by the context.

use serde_json::{Map, Value};

use crate::protocol::is_known_type;

mod saved_conversations;

pub(super) use saved_conversations::of_list;
use saved_conversations::{kept, of_beginning};

/// The format of something that is not AAEP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ForeignFormat {
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

impl ForeignFormat {
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

    /// Recognises the beginning of a single object that an agent saved over many lines.
    pub fn of_beginning(text: &str) -> Option<Self> {
        of_beginning(text)
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

    /// Returns the key of the phrase for the format.
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

/// How the first line of a chat of aider begins.
const AIDER: &str = "# aider chat started at ";

/// Judges text that is not JSON; `None` if it begins like JSON but is broken, because that may be AAEP.
pub(super) fn of_text(text: &str) -> Option<ForeignFormat> {
    let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let begins = |word: &str| {
        text.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    match text.chars().next() {
        Some('{' | '[') => of_beginning(text),
        Some('#') if begins(AIDER) => Some(ForeignFormat::AiderChat),
        Some('<') if begins("<!doctype html") || begins("<html") || begins("<head") => {
            Some(ForeignFormat::Html)
        }
        Some(_) if !is_legible(text) => Some(ForeignFormat::Binary),
        Some(_) | None => Some(ForeignFormat::Text),
    }
}

/// Returns whether a person could read it: something in it is visible, and it has no characters that text never has.
/// The debris of a message read with the wrong length fails on both counts.
fn is_legible(text: &str) -> bool {
    // Line, column and page breaks, and the sequences of programs that colour their output.
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
mod tests;
