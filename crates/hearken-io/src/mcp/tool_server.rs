//! The Model Context Protocol's side of a tool server. Pure: lines and outcomes in, steps out.
//!
//! Responsibilities: meeting the agent and agreeing on a version, its calls of tools and their ends, Claude Code's
//! channel. Not here: the tools (`served_tools`), reading, writing and waiting (`mcp`).
//!
//! # The channel
//! A research preview of Claude Code 2.1, as read from the program: the server names the capabilities `claude/channel`
//! and `claude/channel/permission` as experimental. `notifications/claude/channel {content, meta?}` brings a prompt.
//! `notifications/claude/channel/permission_request {request_id, tool_name, description, input_preview}` asks, and
//! `notifications/claude/channel/permission {request_id, behavior: allow|deny}` answers. Nothing is confirmed.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::listener_call::ListenerCallOutcome;
use super::served_tools::{CHANNEL, INSTRUCTIONS, Tool, ToolResult};

/// The versions of the protocol that are spoken, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// How many calls and relayed permissions may be under way.
const MOST_CALLS: usize = 32;
/// How many messages one line may hold.
const MOST_IN_A_LINE: usize = 64;
/// The longest name of an agent that is kept, in bytes.
const LONGEST_NAME: usize = 256;
/// The longest name of a request, in bytes.
const LONGEST_ID: usize = 256;
/// Errors of JSON-RPC.
const UNREADABLE: i64 = -32700;
const INVALID: i64 = -32600;
const UNKNOWN: i64 = -32601;
const BAD_PARAMS: i64 = -32602;
/// The methods of the channel.
const PROMPT: &str = "notifications/claude/channel";
const ASKS: &str = "notifications/claude/channel/permission_request";
const DECIDES: &str = "notifications/claude/channel/permission";

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum McpStep {
    /// Write this message to the agent.
    Write(Value),
    /// Send this message to the listening hearken, and report what became of it under the number.
    Send {
        /// The number.
        key: u64,
        /// The path.
        to: &'static str,
        /// The message.
        body: Value,
    },
    /// Give up what was sent under the number.
    Cancel(u64),
    /// Begin to wait for the listening hearken, which thereby notices when the agent is gone; with a channel, also for
    /// the person's prompts.
    Listen,
}

/// What an agent says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AboutAgent {
    /// Its name.
    pub name: String,
    /// Its name for people; empty if it gives none.
    pub title: String,
}

/// What is under way at the listening hearken.
#[derive(Debug, Clone, PartialEq)]
enum ToolRequest {
    /// A call of a tool.
    Call {
        id: Value,
        tool: Tool,
        /// The agent's token for reports of progress, and how many were sent.
        progress: Option<(Value, u64)>,
    },
    /// A permission that is relayed, by the agent's name for it.
    Permission(String),
}

/// The state of the server.
#[derive(Debug, Default)]
pub(super) struct McpServer {
    channel: bool,
    listens: bool,
    about: AboutAgent,
    next: u64,
    under_way: BTreeMap<u64, ToolRequest>,
}

impl McpServer {
    /// Creates a server that has met nobody.
    pub fn new(channel: bool) -> Self {
        Self {
            channel,
            ..Self::default()
        }
    }

    /// Returns whether the agent can be told what to do.
    pub fn has_channel(&self) -> bool {
        self.channel
    }

    /// Returns what the agent says about itself.
    pub fn about(&self) -> AboutAgent {
        self.about.clone()
    }

    /// Handles a line of the agent.
    pub fn line(&mut self, line: &str) -> Vec<McpStep> {
        if line.trim().is_empty() {
            return Vec::new();
        }
        match serde_json::from_str::<Value>(line) {
            Ok(Value::Object(message)) => self.message(&message),
            Ok(Value::Array(all)) if all.len() <= MOST_IN_A_LINE && !all.is_empty() => {
                let all = all.iter().flat_map(|one| match one.as_object() {
                    Some(message) => self.message(message),
                    None => vec![error(&Value::Null, INVALID, "not a message")],
                });
                all.collect()
            }
            Ok(_) => vec![error(&Value::Null, INVALID, "not a message")],
            Err(_) => vec![error(&Value::Null, UNREADABLE, "not JSON")],
        }
    }

    /// Handles a line that is too long to be read.
    pub fn too_long(&self) -> Vec<McpStep> {
        vec![error(&Value::Null, INVALID, "the message is too long")]
    }

    fn message(&mut self, message: &Map<String, Value>) -> Vec<McpStep> {
        let nothing = Value::Null;
        let params = message.get("params").unwrap_or(&nothing);
        let method = message.get("method").and_then(Value::as_str);
        match (method, message.get("id")) {
            (Some(method), Some(id)) => {
                let is_name = match id {
                    Value::String(name) => name.len() <= LONGEST_ID,
                    Value::Number(_) => true,
                    Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
                };
                match is_name {
                    true => self.request(method, id, params),
                    false => vec![error(
                        &Value::Null,
                        INVALID,
                        "id must be a text or a number",
                    )],
                }
            }
            (Some(method), None) => self.notice(method, params),
            // The agent is asked nothing, so its answers mean nothing.
            (None, Some(_)) if message.contains_key("result") || message.contains_key("error") => {
                Vec::new()
            }
            (None, id) => {
                let id = id.filter(|id| id.is_string() || id.is_number());
                vec![error(id.unwrap_or(&nothing), INVALID, "no method")]
            }
        }
    }

    fn request(&mut self, method: &str, id: &Value, params: &Value) -> Vec<McpStep> {
        match method {
            "initialize" => vec![result(id, &self.meets(params))],
            "ping" => vec![result(id, &json!({}))],
            "tools/list" => {
                let tools = Tool::ALL.map(Tool::described);
                vec![result(id, &json!({"tools": tools}))]
            }
            "tools/call" => self.call(id, params),
            _ => vec![error(id, UNKNOWN, "unknown method")],
        }
    }

    /// Meets the agent, and agrees on a version: its own, if that is spoken here.
    fn meets(&mut self, params: &Value) -> Value {
        let said = |pointer: &str| params.pointer(pointer).and_then(Value::as_str);
        let name = |pointer: &str| {
            let name = said(pointer).filter(|name| name.len() <= LONGEST_NAME);
            name.unwrap_or_default().to_owned()
        };
        self.about = AboutAgent {
            name: name("/clientInfo/name"),
            title: name("/clientInfo/title"),
        };
        let wanted = said("/protocolVersion").unwrap_or_default();
        let spoken = VERSIONS.into_iter().find(|version| *version == wanted);
        let mut capabilities = json!({"tools": {}});
        let mut instructions = INSTRUCTIONS.to_owned();
        if self.channel {
            capabilities["experimental"] =
                json!({"claude/channel": {}, "claude/channel/permission": {}});
            instructions = format!("{instructions} {CHANNEL}");
        }
        json!({
            "protocolVersion": spoken.unwrap_or(VERSIONS[0]),
            "capabilities": capabilities,
            "serverInfo": {"name": "hearken", "title": "hearken", "version": env!("CARGO_PKG_VERSION")},
            "instructions": instructions,
        })
    }

    fn call(&mut self, id: &Value, params: &Value) -> Vec<McpStep> {
        let name = params.get("name").and_then(Value::as_str);
        let name = name.unwrap_or_default();
        let Some(tool) = Tool::ALL.into_iter().find(|tool| tool.name() == name) else {
            return vec![error(id, BAD_PARAMS, "unknown tool")];
        };
        let is_same = |it: &ToolRequest| matches!(it, ToolRequest::Call { id: of, .. } if of == id);
        if self.under_way.values().any(is_same) {
            return vec![error(id, INVALID, "this id is in use")];
        }
        let refused = |words: String| vec![result(id, &tool_result(&(words, true)))];
        let nothing = Value::Null;
        let body = match tool.message(params.get("arguments").unwrap_or(&nothing)) {
            Ok(body) => body,
            Err(wrong) => return refused(format!("{wrong}.")),
        };
        if self.under_way.len() >= MOST_CALLS {
            return refused("Too many calls are under way.".to_owned());
        }
        let token = params.pointer("/_meta/progressToken");
        let token = token.filter(|it| it.is_string() || it.is_number());
        let call = ToolRequest::Call {
            id: id.clone(),
            tool,
            progress: token.map(|token| (token.clone(), 0)),
        };
        let mut steps = self.listen();
        steps.push(self.send(call, tool.path(), body));
        steps
    }

    /// Begins to wait for the listening hearken, once.
    fn listen(&mut self) -> Vec<McpStep> {
        match std::mem::replace(&mut self.listens, true) {
            true => Vec::new(),
            false => vec![McpStep::Listen],
        }
    }

    fn send(&mut self, what: ToolRequest, to: &'static str, body: Value) -> McpStep {
        self.next += 1;
        let key = self.next;
        self.under_way.insert(key, what);
        McpStep::Send { key, to, body }
    }

    fn notice(&mut self, method: &str, params: &Value) -> Vec<McpStep> {
        match method {
            "notifications/initialized" if self.channel => self.listen(),
            "notifications/cancelled" => {
                let wanted = params.get("requestId");
                let is_it = |it: &ToolRequest| matches!(it, ToolRequest::Call { id, .. } if Some(id) == wanted);
                let found = self.under_way.iter().find(|(_, it)| is_it(it));
                let Some(key) = found.map(|(key, _)| *key) else {
                    return Vec::new();
                };
                // A cancelled request is not answered.
                self.under_way.remove(&key);
                vec![McpStep::Cancel(key)]
            }
            ASKS if self.channel => {
                let request = params.get("request_id").and_then(Value::as_str);
                let request = request.filter(|it| !it.is_empty() && it.len() <= LONGEST_ID);
                let (Some(request), true) = (request, self.under_way.len() < MOST_CALLS) else {
                    // Claude Code asks in its own terminal, too.
                    return Vec::new();
                };
                let mut body = json!({});
                for member in ["tool_name", "description", "input_preview"] {
                    body[member] = params.get(member).cloned().unwrap_or_default();
                }
                let what = ToolRequest::Permission(request.to_owned());
                vec![self.send(what, "mcp/permission", body)]
            }
            _ => Vec::new(),
        }
    }

    /// Reports to the agent that a call still waits for the person, if it wants to know.
    pub fn waits(&mut self, key: u64) -> Vec<McpStep> {
        let Some(ToolRequest::Call {
            progress: Some((token, count)),
            ..
        }) = self.under_way.get_mut(&key)
        else {
            return Vec::new();
        };
        *count += 1;
        let params = json!({"progressToken": token, "progress": *count,
            "message": "Waiting for the person's answer."});
        vec![notice("notifications/progress", &params)]
    }

    /// Handles the outcome of the message sent under a number.
    pub fn done(&mut self, key: u64, outcome: ListenerCallOutcome) -> Vec<McpStep> {
        match self.under_way.remove(&key) {
            None => Vec::new(),
            Some(ToolRequest::Call { id, tool, .. }) => {
                vec![result(&id, &tool_result(&tool.result(&outcome)))]
            }
            Some(ToolRequest::Permission(request)) => {
                let ListenerCallOutcome::Answered(said) = outcome else {
                    return Vec::new();
                };
                let behavior = said.get("behavior").and_then(Value::as_str);
                let Some(behavior @ ("allow" | "deny")) = behavior else {
                    return Vec::new();
                };
                let params = json!({"request_id": request, "behavior": behavior});
                vec![notice(DECIDES, &params)]
            }
        }
    }

    /// Passes the person's prompts on to the agent.
    pub fn prompts(&self, prompts: Vec<String>) -> Vec<McpStep> {
        let prompts = prompts.into_iter();
        prompts
            .map(|text| notice(PROMPT, &json!({"content": text})))
            .collect()
    }
}

fn result(id: &Value, result: &Value) -> McpStep {
    McpStep::Write(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn error(id: &Value, code: i64, message: &str) -> McpStep {
    let error = json!({"code": code, "message": message});
    McpStep::Write(json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

fn notice(method: &str, params: &Value) -> McpStep {
    McpStep::Write(json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

fn tool_result((words, is_error): &ToolResult) -> Value {
    json!({"content": [{"type": "text", "text": words}], "isError": is_error})
}

#[cfg(test)]
#[path = "tests/tool_server.rs"]
mod tests;
