//! The client against agents that behave and agents that do not.

mod call_outcomes;
mod described_commands;
mod earlier_conversation;
mod editor_listener;
mod forms;
mod greeting;
mod late_updates;
mod mode;
mod permissions;
mod protocol_schema;
mod setting_changes;
mod sign_in;
mod streams;
mod turns;

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::rig::{self, MachineRig, RigPeer};
use crate::link::{Fault, LinkEvent};
use crate::protocol::{Answer, Decision, Now, Reply, ReplyToken, Severity};
use crate::{
    ConversationToContinue, Dialect, DialectOutput, DialectSetup, PersonRequest, QuestionEnd,
    SharedWording, TransportKind,
};

use super::Acp;

/// Messages of this dialect, for the tests that all dialects share. The first ones identify it.
pub(crate) const MESSAGES: &[&str] = &[
    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Good morning."}}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"fox"}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#,
    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Touch","kind":"execute","status":"pending","rawInput":{"command":"touch x"}}}}"#,
    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"once","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}"#,
    r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#,
    r#"{"jsonrpc":"2.0","id":10,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}"#,
];

/// The machine with Acp's other side.
pub(super) type AcpRig = MachineRig<Acp, AcpAgent>;

/// What the machine sent.
#[derive(Debug, Default)]
pub(super) struct AcpAgent {
    pub sent: Vec<(u64, String)>,
}

impl RigPeer for AcpAgent {
    fn take(&mut self, out: DialectOutput) {
        match out {
            DialectOutput::Send { request, frame } => {
                protocol_schema::hold(&frame);
                self.sent.push((request, frame));
            }
            other => panic!("{other:?}"),
        }
    }
}

impl AcpRig {
    /// Creates the client of an agent that has not been met.
    pub fn new(carrier: TransportKind) -> Self {
        Self::wanting(carrier, ConversationToContinue::None)
    }

    /// Creates a client that should continue an earlier conversation.
    pub fn wanting(carrier: TransportKind, earlier: ConversationToContinue) -> Self {
        let start = DialectSetup {
            carrier,
            earlier,
            folder: "/work/a".to_owned(),
            ..rig::start()
        };
        Self::of(Acp::new(start))
    }

    /// Creates a client whose conversation `s` is open.
    pub fn open() -> Self {
        let mut run = Self::new(TransportKind::Lines);
        run.news(&LinkEvent::Connected);
        run.frame(json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {},
            "agentInfo": {"name": "fox", "title": "Fox"}}}));
        run.frame(json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s"}}));
        run.sent.clear();
        run.phrase_keys.clear();
        run
    }

    /// Creates a client that was prompted; the id of that prompt is 3.
    pub fn prompted() -> Self {
        let mut run = Self::open();
        run.person_request(&PersonRequest::Prompt("do it".to_owned()));
        run.sent.clear();
        run
    }

    pub fn update(&mut self, update: Value) {
        self.frame(
            json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}),
        );
    }

    /// Has the agent request a permission, with options for once, always and no.
    pub fn asks(&mut self, id: &Value, call: &Value) {
        let options = json!([
            {"optionId": "once", "name": "Yes", "kind": "allow_once"},
            {"optionId": "always", "name": "Every touch", "kind": "allow_always"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]);
        self.frame(
            json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": call, "options": options}}),
        );
    }

    /// Answers the latest question with yes or no.
    pub fn yes(&mut self, request: u64, yes: bool) {
        self.respond(request, yes);
    }

    /// Answers the latest question with a number.
    pub fn number(&mut self, request: u64, number: f64) {
        self.respond(request, number);
    }

    /// Returns the frames sent.
    pub fn frames(&self) -> Vec<&str> {
        self.sent.iter().map(|(_, frame)| frame.as_str()).collect()
    }
}

/// Returns a call that touches a file.
pub(super) fn touch(status: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Touch a file", "kind": "execute",
        "status": status, "rawInput": {"command": "touch x"}})
}
