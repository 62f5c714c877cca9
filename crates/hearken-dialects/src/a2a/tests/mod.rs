//! Servers as observed, and as never observed: their messages, shortened and rewritten.

mod answers;
mod prompts;
mod random;
mod task_results;
mod task_watch;
mod tasks;

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::rig::{self, MachineRig, RigPeer};
use crate::link::{Address, Fault, Frame, HttpAnswer, LinkEvent};
use crate::protocol::AgentId;
use crate::{
    DialectOutput, DialectSetup, OpenQuestionsChange, PersonRequest, QuestionEnd, Recognition,
    TransportKind,
};

use super::A2a;

/// Messages of this dialect, for the tests that all dialects share. The first ones identify it.
pub(crate) const MESSAGES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}"#,
    r#"{"name":"Fox","capabilities":{"streaming":true},"supportedInterfaces":[{"url":"http://localhost:1/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"Well?"}]}}}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"tasks":[],"nextPageToken":""}}"#,
];

/// One request as sent.
#[derive(Debug, Clone)]
pub(super) struct SentRequest {
    pub number: u64,
    pub method: String,
    pub params: Value,
    pub streams: bool,
    pub is_over: bool,
}

/// The machine with A2a's other side.
pub(super) type A2aRig = MachineRig<A2a, A2aServer>;

/// What the machine sent.
#[derive(Debug, Default)]
pub(super) struct A2aServer {
    pub calls: Vec<SentRequest>,
    pub followed: Vec<Address>,
    pub refused: Vec<Fault>,
}

impl RigPeer for A2aServer {
    fn take(&mut self, out: DialectOutput) {
        match out {
            DialectOutput::Call { request, call } => {
                assert_eq!(call.path, "/rpc");
                let body: Value = serde_json::from_str(&call.body.unwrap().text).unwrap();
                self.calls.push(SentRequest {
                    number: request,
                    method: body["method"].as_str().unwrap().to_owned(),
                    params: body["params"].clone(),
                    streams: call.streams,
                    is_over: false,
                });
            }
            DialectOutput::Follow(stream) => self.followed.push(stream.at),
            DialectOutput::Refuse(fault) => self.refused.push(fault),
            other => panic!("{other:?}"),
        }
    }
}

pub(super) fn card(version: &str, streams: bool) -> Value {
    json!({"name": "Fox", "capabilities": {"streaming": streams},
        "supportedInterfaces": [{"url": "http://localhost:1/rpc", "protocolBinding": "JSONRPC", "protocolVersion": version}]})
}

impl A2aRig {
    pub fn over(carrier: TransportKind, conversation: Option<&str>) -> Self {
        let start = DialectSetup {
            carrier,
            path: "/".to_owned(),
            origin: "http://127.0.0.1:1".to_owned(),
            conversation: conversation.map(str::to_owned),
            ..rig::start()
        };
        Self::of(A2a::new(start))
    }

    /// Connects to a server whose list was not requested yet.
    pub fn connects(&mut self, card: &Value) {
        self.news(&LinkEvent::Connecting { attempt: 1 });
        self.news(&LinkEvent::Connected);
        self.news(&LinkEvent::Frame(Frame::of(card.to_string())));
    }

    /// Creates a run connected to an idle 1.0 server.
    pub fn new() -> Self {
        let mut run = Self::over(TransportKind::EventStream, None);
        run.connects(&card("1.0", true));
        run.answers("ListTasks", json!({"tasks": [], "nextPageToken": ""}));
        run.phrase_keys.clear();
        run
    }

    /// Creates a run with the task `t1`, started here, active and streaming; returns the stream's number.
    pub fn busy() -> (Self, u64) {
        let mut run = Self::new();
        run.person_request(&PersonRequest::Prompt("do it".to_owned()));
        let stream = run.call("SendStreamingMessage").number;
        run.piece(stream, json!({"task": task("t1", "SUBMITTED", "")}));
        (run, stream)
    }

    /// Returns the last pending request of a method.
    pub fn call(&self, method: &str) -> SentRequest {
        let mut calls = self.calls.iter().rev();
        let call = calls.find(|call| call.method == method && !call.is_over);
        call.unwrap_or_else(|| panic!("{method} in {:?}", self.calls))
            .clone()
    }

    pub fn waits(&self, method: &str) -> bool {
        self.calls
            .iter()
            .any(|call| call.method == method && !call.is_over)
    }

    pub fn made(&self, method: &str) -> usize {
        self.calls
            .iter()
            .filter(|call| call.method == method)
            .count()
    }

    pub fn answered(&mut self, number: u64, outcome: Result<String, Fault>) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.number == number) {
            call.is_over = true;
        }
        let outcome = outcome.map(|body| HttpAnswer {
            status: 200,
            location: None,
            retry_after: None,
            body,
        });
        self.news(&LinkEvent::Answered {
            request: number,
            outcome,
        });
    }

    /// Answers the last request of a method with a result.
    pub fn answers(&mut self, method: &str, result: Value) {
        let number = self.call(method).number;
        let body = json!({"jsonrpc": "2.0", "id": 1, "result": result});
        self.answered(number, Ok(body.to_string()));
    }

    /// Refuses the last request of a method.
    pub fn refuses(&mut self, method: &str, code: i64) {
        let number = self.call(method).number;
        self.answered(number, Ok(refusal(code)));
    }

    pub fn piece(&mut self, request: u64, result: Value) {
        let text = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
        self.news(&LinkEvent::Piece { request, text });
    }

    /// Ends a stream normally.
    pub fn ends(&mut self, request: u64) {
        self.answered(request, Ok(String::new()));
    }

    pub fn lost(&mut self) {
        self.news(&LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::from_secs(1),
        });
        let open: Vec<u64> = self
            .calls
            .iter()
            .filter(|it| !it.is_over)
            .map(|it| it.number)
            .collect();
        for number in open {
            self.answered(number, Err(Fault::Closed));
        }
    }
}

/// A refusal with a code.
pub(super) fn refusal(code: i64) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no"}}).to_string()
}

/// A state with a message, or without one if the words are empty; all states have the same time.
pub(super) fn status(state: &str, words: &str) -> Value {
    let mut status =
        json!({"state": format!("TASK_STATE_{state}"), "timestamp": "2026-03-07T14:30:01Z"});
    if !words.is_empty() {
        status["message"] = message(&format!("m {words}"), "AGENT", words);
    }
    status
}

pub(super) fn message(id: &str, role: &str, words: &str) -> Value {
    json!({"messageId": id, "role": format!("ROLE_{role}"), "parts": [{"text": words}]})
}

/// A task in the context `c1`.
pub(super) fn task(id: &str, state: &str, words: &str) -> Value {
    json!({"id": id, "contextId": "c1", "status": status(state, words)})
}

/// A state change of a task in the context `c1`.
pub(super) fn stands(id: &str, state: &str, words: &str) -> Value {
    json!({"statusUpdate": {"taskId": id, "contextId": "c1", "status": status(state, words)}})
}

/// A piece of the artifact `a` of a task.
pub(super) fn grows(id: &str, text: &str, append: bool) -> Value {
    json!({"artifactUpdate": {"taskId": id, "contextId": "c1", "append": append,
        "artifact": {"artifactId": "a", "parts": [{"text": text}]}}})
}
