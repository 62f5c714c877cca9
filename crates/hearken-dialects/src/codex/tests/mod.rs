//! The client against servers that behave and servers that do not; the frames are the real server's, shortened.

mod answers;
mod approval_policy;
mod greeting;
mod questions;
mod reviews;
mod streams;
mod turns;

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::rig::{self, MachineRig, RigPeer};
use crate::link::{DeliveryFailure, LinkEvent, Receipt};
use crate::protocol::{AgentId, Response};
use crate::{Dialect, DialectOutput, DialectSetup, PersonRequest, QuestionEnd, TransportKind};

use super::Codex;

/// Messages of this dialect, for the tests that all dialects share. The first ones identify it.
pub(crate) const MESSAGES: &[&str] = &[
    r#"{"method":"item/agentMessage/delta","params":{"threadId":"t1","turnId":"u1","itemId":"m1","delta":"Good morning."},"emittedAtMs":1}"#,
    r#"{"id":1,"result":{"userAgent":"hearken/0.169.0"}}"#,
    r#"{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","items":[],"status":"inProgress"}},"emittedAtMs":1}"#,
    r#"{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"commandExecution","id":"i","command":"touch a","cwd":"/w","status":"inProgress"}},"emittedAtMs":1}"#,
    r#"{"id":9,"method":"item/commandExecution/requestApproval","params":{"kind":"command","threadId":"t","turnId":"u","itemId":"i","command":"touch a","cwd":"/w","availableDecisions":["accept","cancel"]}}"#,
    r#"{"method":"serverRequest/resolved","params":{"threadId":"t","requestId":9},"emittedAtMs":1}"#,
    r#"{"method":"item/autoApprovalReview/started","params":{"threadId":"t","turnId":"u","reviewId":"r","targetItemId":"i","startedAtMs":1,"review":{"status":"inProgress"},"action":{"type":"command","source":"shell","command":"touch a","cwd":"/w"}},"emittedAtMs":1}"#,
    r#"{"method":"guardianWarning","params":{"threadId":"t","message":"Too often."},"emittedAtMs":1}"#,
    r#"{"method":"item/autoApprovalReview/completed","params":{"threadId":"t","turnId":"u","reviewId":"r","targetItemId":"i","startedAtMs":1,"completedAtMs":2,"decisionSource":"agent","review":{"status":"denied","riskLevel":"high","rationale":"No."},"action":{"type":"command","source":"shell","command":"touch a","cwd":"/w"}},"emittedAtMs":1}"#,
    r#"{"method":"thread/goal/updated","params":{"threadId":"t","goal":{"objective":"win","status":"active"}},"emittedAtMs":1}"#,
    r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","items":[],"status":"completed","error":null}},"emittedAtMs":1}"#,
];

/// The machine with Codex's other side.
pub(super) type CodexRig = MachineRig<Codex, CodexServer>;

/// What the machine sent.
#[derive(Debug, Default)]
pub(super) struct CodexServer {
    pub sent: Vec<(u64, Value)>,
}

impl RigPeer for CodexServer {
    fn take(&mut self, out: DialectOutput) {
        match out {
            DialectOutput::Send { request, frame } => {
                let frame = serde_json::from_str(&frame).unwrap();
                self.sent.push((request, frame));
            }
            other => panic!("{other:?}"),
        }
    }
}

impl CodexRig {
    pub fn new(carrier: TransportKind, only: Option<&str>) -> Self {
        let start = DialectSetup {
            carrier,
            conversation: only.map(str::to_owned),
            ..rig::start()
        };
        Self::of(Codex::new(start))
    }

    /// Creates a client that follows the thread `t`, in which nothing happens.
    pub fn joined() -> Self {
        let mut run = Self::new(TransportKind::WebSocket, None);
        run.connect(&["t"]);
        run.grant("thread/resume", &resumed("idle"));
        run.sent.clear();
        run.phrase_keys.clear();
        run
    }

    /// Creates a client that follows the thread `t`, in which the turn `u` runs.
    pub fn in_turn() -> Self {
        let mut run = Self::joined();
        run.begins("u", "do it");
        run
    }

    /// Connects to a server that has these threads loaded.
    pub fn connect(&mut self, threads: &[&str]) {
        self.news(&LinkEvent::Connected);
        self.grant("initialize", &json!({"userAgent": "hearken/0.169.0"}));
        self.grant(
            "thread/loaded/list",
            &json!({"data": threads, "nextCursor": null}),
        );
    }

    /// Has the server send a notification about the thread `t`.
    pub fn says(&mut self, method: &str, params: Value) {
        let mut params = params;
        params["threadId"] = json!("t");
        self.frame(json!({"method": method, "params": params, "emittedAtMs": 1}));
    }

    /// Has a turn begin with a prompt.
    pub fn begins(&mut self, turn: &str, prompt: &str) {
        self.says(
            "turn/started",
            json!({"turn": {"id": turn, "items": [], "status": "inProgress"}}),
        );
        let item = json!({"type": "userMessage", "id": format!("p{turn}"), "clientId": null,
            "content": [{"type": "text", "text": prompt, "text_elements": []}]});
        self.item("item/started", turn, item.clone());
        self.item("item/completed", turn, item);
    }

    pub fn ends(&mut self, turn: &str, status: &str) {
        let turn = json!({"id": turn, "items": [], "status": status, "error": null});
        self.says("turn/completed", json!({"turn": turn}));
    }

    pub fn item(&mut self, method: &str, turn: &str, item: Value) {
        self.says(method, json!({"item": item, "turnId": turn}));
    }

    /// Has the server ask for approval of an item's command.
    pub fn asks(&mut self, id: Value, item: &str) {
        self.item("item/started", "u", touch(item, "inProgress"));
        self.asks_again(id, item);
    }

    pub fn asks_again(&mut self, id: Value, item: &str) {
        self.frame(json!({"method": "item/commandExecution/requestApproval", "id": id, "params": {
            "kind": "command", "threadId": "t", "turnId": "u", "itemId": item, "startedAtMs": 1,
            "reason": "Do you want to make the file?", "command": "/bin/bash -lc 'touch a.txt'", "cwd": "/work/a",
            "proposedExecpolicyAmendment": ["touch"],
            "availableDecisions": ["accept", {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch"]}}, "cancel"]}}));
    }

    pub fn request(&mut self, id: Value, method: &str, params: Value) {
        let mut params = params;
        params["threadId"] = json!("t");
        self.frame(json!({"id": id, "method": method, "params": params}));
    }

    pub fn resolved(&mut self, id: Value) {
        self.says("serverRequest/resolved", json!({"requestId": id}));
    }

    /// Grants our latest request with this method.
    pub fn grant(&mut self, method: &str, result: &Value) {
        let id = self.asked(method);
        self.frame(json!({"id": id, "result": result}));
    }

    pub fn refuse(&mut self, method: &str, message: &str) {
        let id = self.asked(method);
        self.frame(json!({"id": id, "error": {"code": -32600, "message": message}}));
    }

    fn asked(&self, method: &str) -> Value {
        let mut sent = self.sent.iter().rev();
        let sent = sent.find(|(_, frame)| frame["method"] == method);
        sent.unwrap_or_else(|| panic!("{method} was not sent")).1["id"].clone()
    }

    /// Returns the answers sent to requests from the server.
    pub fn answers(&self) -> Vec<(Value, Value)> {
        let answers = self
            .sent
            .iter()
            .filter(|(_, frame)| frame.get("method").is_none());
        answers
            .map(|(_, frame)| {
                let answer = frame.get("result").unwrap_or(&frame["error"]);
                (frame["id"].clone(), answer.clone())
            })
            .collect()
    }
}

/// Returns the answer to `thread/resume`.
pub(super) fn resumed(status: &str) -> Value {
    let flags = match status {
        "waiting" => json!({"type": "active", "activeFlags": ["waitingOnApproval"]}),
        "active" => json!({"type": "active", "activeFlags": []}),
        other => json!({"type": other}),
    };
    json!({"thread": {"id": "t", "status": flags, "cwd": "/work/a"}, "model": "m", "cwd": "/work/a"})
}

/// Returns a command that touches a file.
pub(super) fn touch(item: &str, status: &str) -> Value {
    json!({"type": "commandExecution", "id": item, "command": "/bin/bash -lc 'touch a.txt'", "cwd": "/work/a",
        "source": "agent", "status": status, "aggregatedOutput": null, "exitCode": null})
}
