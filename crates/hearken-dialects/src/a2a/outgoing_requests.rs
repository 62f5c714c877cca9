//! The requests, in the words of either version (A2A 1.0, 9.4; 0.3, 7).
//!
//! Responsibilities: each request with its method and its members. Not here: when to send which (`client`), the answers
//! (`messages`).

use serde_json::{Value, json};

use crate::link::{Body, HttpCall};

use super::card::AgentCard;

/// How many of a task's latest messages are requested.
const HISTORY: usize = 32;
/// How many tasks a page of the list has.
const PAGE: usize = 50;
/// The largest answer about one task, in bytes: it contains all artifacts.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// A version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 1.0 and later 1.x versions.
    V1,
    /// 0.3 and earlier.
    V0_3,
}

impl Version {
    /// Reads a version; `None` if it is not supported here.
    pub fn read(written: &str) -> Option<Self> {
        match written.split('.').next()? {
            "1" => Some(Self::V1),
            "0" => Some(Self::V0_3),
            _ => None,
        }
    }

    /// Returns the version as written in the header.
    fn header(self) -> &'static str {
        match self {
            Self::V1 => "1.0",
            Self::V0_3 => "0.3",
        }
    }

    /// Chooses between the words of both versions.
    fn of<T>(self, v1: T, v0_3: T) -> T {
        match self {
            Self::V1 => v1,
            Self::V0_3 => v0_3,
        }
    }
}

/// A message of the person to the agent, or to one of its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingMessage<'a> {
    /// Our name for the message.
    pub id: &'a str,
    /// The task it is for; empty if it starts one.
    pub task: &'a str,
    /// The conversation; empty if it starts one.
    pub context: &'a str,
    /// The text of the message.
    pub words: &'a str,
}

impl AgentCard {
    fn call(&self, number: u64, (v1, v0_3): (&str, &str), mut params: Value) -> HttpCall {
        if !self.tenant.is_empty() {
            params["tenant"] = self.tenant.as_str().into();
        }
        let method = self.version.of(v1, v0_3);
        let body = json!({"jsonrpc": "2.0", "id": number, "method": method, "params": params});
        HttpCall {
            version: Some(("a2a-version", self.version.header())),
            most: MOST_BYTES,
            ..HttpCall::post(self.path.clone(), Body::json(body.to_string()))
        }
    }

    fn streamed(&self, number: u64, methods: (&str, &str), params: Value) -> HttpCall {
        HttpCall {
            streams: true,
            accept: "text/event-stream, application/json",
            ..self.call(number, methods, params)
        }
    }

    /// Returns the request that sends a message; the answer is the stream of its task if `streams`, else its current
    /// state.
    pub fn send(&self, number: u64, message: &OutgoingMessage<'_>, streams: bool) -> HttpCall {
        let version = self.version;
        let mut written = json!({
            "messageId": message.id,
            "role": version.of("ROLE_USER", "user"),
            "parts": [version.of(json!({"text": message.words}), json!({"kind": "text", "text": message.words}))],
        });
        if version == Version::V0_3 {
            written["kind"] = "message".into();
        }
        for (name, value) in [("taskId", message.task), ("contextId", message.context)] {
            if !value.is_empty() {
                written[name] = value.into();
            }
        }
        let mut params = json!({"message": written});
        if streams {
            return self.streamed(number, ("SendStreamingMessage", "message/stream"), params);
        }
        params["configuration"] = version.of(
            json!({"returnImmediately": true}),
            json!({"blocking": false}),
        );
        self.call(number, ("SendMessage", "message/send"), params)
    }

    /// Returns the request for a page of the task list; `None` for 0.3, which has no list.
    pub fn list(&self, number: u64, page: &str) -> Option<HttpCall> {
        let mut params = json!({"pageSize": PAGE, "historyLength": 0, "includeArtifacts": false});
        if !page.is_empty() {
            params["pageToken"] = page.into();
        }
        let call = self.call(number, ("ListTasks", ""), params);
        (self.version == Version::V1).then_some(call)
    }

    /// Returns the request for the current state of a task.
    pub fn get(&self, number: u64, task: &str) -> HttpCall {
        let params = json!({"id": task, "historyLength": HISTORY});
        self.call(number, ("GetTask", "tasks/get"), params)
    }

    /// Returns the request for the stream of a task.
    pub fn subscribe(&self, number: u64, task: &str) -> HttpCall {
        let methods = ("SubscribeToTask", "tasks/resubscribe");
        self.streamed(number, methods, json!({"id": task}))
    }

    /// Returns the request to cancel a task.
    pub fn cancel(&self, number: u64, task: &str) -> HttpCall {
        self.call(number, ("CancelTask", "tasks/cancel"), json!({"id": task}))
    }
}
