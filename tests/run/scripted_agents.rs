//! Agents for tests that speak the Agent Client Protocol: each returns its messages for an input line.

use serde_json::{Value, json};

/// An agent that asks once per turn.
#[derive(Default)]
pub struct AskingAgent {
    prompt: Value,
}

/// An agent that requires a sign-in, has modes and commands, and requests a form and an address in its turn.
#[derive(Default)]
pub struct SignInAgent {
    prompt: Value,
    is_signed_in: bool,
}

/// An agent that speaks nothing but version 2 of the protocol, as its draft has it.
#[derive(Default)]
pub struct DraftAgent;

/// An agent.
pub trait ScriptedAgent: Default + 'static {
    /// Returns its messages in answer to a message.
    fn answer(&mut self, message: &Value) -> Vec<Value>;
}

fn result(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn fails(id: &Value, code: i32, words: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": words}})
}

fn asks(id: &str, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn update(update: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": update}})
}

fn says(words: &str) -> Value {
    update(
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}),
    )
}

fn tool(status: &str) -> Value {
    update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": status}))
}

fn ends(id: &Value, reason: &str) -> Value {
    result(id, json!({"stopReason": reason}))
}

/// Returns its introduction, with the ways to sign in.
fn introduces(id: &Value, ways: Value) -> Value {
    let who = json!({"name": "mock", "title": "Mock"});
    result(
        id,
        json!({"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": who, "authMethods": ways}),
    )
}

impl ScriptedAgent for DraftAgent {
    fn answer(&mut self, message: &Value) -> Vec<Value> {
        let who = json!({"name": "my-agent", "title": "My Agent", "version": "1.0.0"});
        let can = json!({"session": {"prompt": {"image": {}}, "mcp": {"stdio": {}, "http": {}}}});
        let greeting = json!({"protocolVersion": 2, "capabilities": can, "info": who});
        vec![result(&message["id"], greeting)]
    }
}

impl ScriptedAgent for AskingAgent {
    fn answer(&mut self, message: &Value) -> Vec<Value> {
        let id = &message["id"];
        match message["method"].as_str() {
            Some("initialize") => vec![introduces(id, json!([]))],
            Some("session/new") => vec![result(id, json!({"sessionId": "s1"}))],
            Some("session/prompt") => {
                self.prompt = id.clone();
                vec![
                    says("I look at it.\n\n"),
                    update(json!({"sessionUpdate": "plan", "entries": [
                        {"content": "look", "priority": "high", "status": "completed"},
                        {"content": "touch it", "priority": "high", "status": "in_progress"}]})),
                    update(
                        json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Touch a file",
                        "kind": "execute", "status": "pending", "rawInput": {"command": "touch notes.txt"}}),
                    ),
                    tool("in_progress"),
                    asks(
                        "p-1",
                        "session/request_permission",
                        json!({"sessionId": "s1", "toolCall": {"toolCallId": "c1"}, "options": [
                            {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
                            {"optionId": "always", "name": "Every touch", "kind": "allow_always"},
                            {"optionId": "no", "name": "Reject", "kind": "reject_once"}]}),
                    ),
                ]
            }
            None if id == "p-1" => {
                let outcome = &message["result"]["outcome"];
                match (outcome["outcome"].as_str(), outcome["optionId"].as_str()) {
                    (Some("selected"), Some("no")) => vec![
                        tool("failed"),
                        says("Then not."),
                        ends(&self.prompt, "end_turn"),
                    ],
                    (Some("selected"), _) => vec![
                        tool("completed"),
                        says("It is done."),
                        ends(&self.prompt, "end_turn"),
                    ],
                    _ => vec![ends(&self.prompt, "cancelled")],
                }
            }
            _ => Vec::new(),
        }
    }
}

impl ScriptedAgent for SignInAgent {
    fn answer(&mut self, message: &Value) -> Vec<Value> {
        let id = &message["id"];
        match message["method"].as_str() {
            Some("initialize") => vec![introduces(
                id,
                json!([{"id": "page", "name": "A page", "description": "Opens a page"},
                    {"id": "key", "name": "A key", "type": "env_var", "vars": [{"name": "MOCK_KEY"}]}]),
            )],
            Some("authenticate") if message["params"]["methodId"] == "key" => {
                vec![fails(id, -32603, "MOCK_KEY is not set")]
            }
            Some("authenticate") => {
                self.is_signed_in = true;
                vec![result(id, json!({}))]
            }
            Some("session/new") if !self.is_signed_in => {
                vec![fails(id, -32000, "Authentication required")]
            }
            Some("session/new") => vec![
                result(
                    id,
                    json!({"sessionId": "s1", "modes": {"currentModeId": "ask", "availableModes": [
                        {"id": "ask", "name": "Ask"},
                        {"id": "yolo", "name": "Yolo", "description": "Approves everything by itself."}]}}),
                ),
                update(
                    json!({"sessionUpdate": "available_commands_update", "availableCommands":
                    [{"name": "review", "description": "Reviews what changed"}]}),
                ),
            ],
            Some("session/set_mode") => vec![
                result(id, json!({})),
                update(json!({"sessionUpdate": "current_mode_update", "currentModeId": "yolo"})),
            ],
            Some("session/prompt") => {
                self.prompt = id.clone();
                let wanted = json!({"type": "object", "required": ["count", "how"], "properties": {
                    "count": {"type": "integer", "title": "How many", "minimum": 1, "maximum": 5},
                    "how": {"type": "string", "enum": ["slowly", "fast"]}}});
                vec![asks(
                    "f-1",
                    "elicitation/create",
                    json!({"sessionId": "s1", "mode": "form", "message": "How shall I do it?", "requestedSchema": wanted}),
                )]
            }
            None if id == "f-1" => vec![asks(
                "u-1",
                "elicitation/create",
                json!({"sessionId": "s1", "mode": "url", "elicitationId": "e1", "url": "https://mock.example/connect",
                    "message": "Allow it there."}),
            )],
            None if id == "u-1" => vec![
                json!({"jsonrpc": "2.0", "method": "elicitation/complete", "params": {"elicitationId": "e1"}}),
                says("Then I do it so."),
                ends(&self.prompt, "end_turn"),
            ],
            _ => Vec::new(),
        }
    }
}
