//! Claude Code as observed, and as never observed: the messages of its hooks, shortened and rewritten.

mod elicitations;
mod harnesses;
mod modes;
mod questions;
mod random;
mod repeated_messages;
mod tool_servers;
mod turns;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::rig::{self, MachineRig, RigPeer};
use crate::link::{Frame, IncomingRequest, LinkEvent, Method};
use crate::{
    Dialect, DialectOutput, DialectSetup, PersonRequest, QuestionEnd, Recognition, TransportKind,
};

use super::Claude;

/// Messages of this dialect, for the tests that all dialects share. The first ones identify it.
pub(crate) const MESSAGES: &[&str] = &[
    r#"{"session_id":"s1","cwd":"/w","hook_event_name":"Stop","last_assistant_message":"Good morning."}"#,
    r#"{"session_id":"s1","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":"do it","prompt_id":"p"}"#,
    r#"{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c"}"#,
    r#"{"session_id":"s1","cwd":"/w","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
    r#"{"session_id":"s1","cwd":"/w","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c","tool_response":{"stdout":"a"}}"#,
];

/// The machine with Claude's other side.
pub(super) type ClaudeRig = MachineRig<Claude, ClaudeHooks>;

/// What the machine sent.
#[derive(Debug, Default)]
pub(super) struct ClaudeHooks {
    /// The answers to requests, by our numbers for them, each with the number of the person's answer.
    pub answers: BTreeMap<u64, (Option<u64>, Value)>,
    pub next: u64,
    /// The conversation that sends the next message.
    pub who: &'static str,
    /// The rest of the path of its messages.
    pub from: &'static str,
}

impl RigPeer for ClaudeHooks {
    fn take(&mut self, out: DialectOutput) {
        match out {
            DialectOutput::Respond { id, request, body } => {
                let body = serde_json::from_str(&body).unwrap();
                let before = self.answers.insert(id, (request, body));
                assert_eq!(before, None, "{id} is answered twice");
            }
            other => panic!("{other:?}"),
        }
    }
}

impl ClaudeRig {
    pub fn over(carrier: TransportKind) -> Self {
        let start = DialectSetup {
            carrier,
            ..rig::start()
        };
        let mut run = Self::of(Claude::new(start));
        run.who = "s1";
        run
    }

    /// Creates a run that listens.
    pub fn new() -> Self {
        Self::over(TransportKind::Requests)
    }

    /// Creates a run with an active turn.
    pub fn busy() -> Self {
        let mut run = Self::new();
        run.prompted("do it");
        run
    }

    /// Delivers a request; returns our number for it.
    pub fn post(&mut self, path: &str, body: impl ToString) -> u64 {
        self.next += 1;
        let request = IncomingRequest {
            method: Method::Post,
            path: path.to_owned(),
            body: body.to_string(),
        };
        self.news(&LinkEvent::Request {
            id: self.next,
            request,
        });
        self.next
    }

    /// Sends a hook's message; returns our number for the request.
    pub fn hook(&mut self, event: &str, mut more: Value) -> u64 {
        let own = json!({"session_id": self.who, "transcript_path": "/t.jsonl", "cwd": "/work/a", "hook_event_name": event});
        for (key, value) in own.as_object().unwrap() {
            more[key] = value.clone();
        }
        let path = format!("/hook{}", self.from);
        self.post(&path, more)
    }

    pub fn prompted(&mut self, text: &str) -> u64 {
        self.hook(
            "UserPromptSubmit",
            json!({"prompt": text, "prompt_id": text}),
        )
    }

    /// Reports a shell call, or its end.
    pub fn shell(&mut self, event: &str, call: &str, command: &str) -> u64 {
        let mut what = json!({"tool_name": "Bash", "tool_input": {"command": command, "description": "Makes a file"},
            "tool_use_id": call});
        match event {
            "PostToolUse" => what["tool_response"] = json!({"stdout": "made\n", "stderr": ""}),
            "PostToolUseFailure" => what["error"] = "Exit code 1".into(),
            "PermissionDenied" => what["reason"] = "not here".into(),
            _ => {}
        }
        self.hook(event, what)
    }

    /// Requests the permission to run a command.
    pub fn asks(&mut self, command: &str) -> u64 {
        self.hook(
            "PermissionRequest",
            json!({"tool_name": "Bash", "tool_input": {"command": command, "description": "Makes a file"},
                "permission_suggestions": [
                    {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch *"}], "behavior": "allow", "destination": "localSettings"},
                    {"type": "setMode", "mode": "acceptEdits", "destination": "session"}]}),
        )
    }

    pub fn stops(&mut self, text: &str) -> u64 {
        self.hook(
            "Stop",
            json!({"stop_hook_active": false, "last_assistant_message": text}),
        )
    }

    /// Returns whether a request was let go without a decision.
    pub fn let_go(&self, id: u64) -> bool {
        self.answers.get(&id) == Some(&(None, json!({})))
    }

    pub fn is_held(&self, id: u64) -> bool {
        !self.answers.contains_key(&id)
    }

    /// Returns the decision that a request was answered with.
    pub fn decision(&self, id: u64) -> &Value {
        let own = &self.answers[&id].1["hookSpecificOutput"];
        assert_eq!(own["hookEventName"], "PermissionRequest");
        &own["decision"]
    }
}

#[test]
fn it_is_known_by_the_event_and_the_conversation() {
    for (text, wanted) in [
        (
            r#"{"session_id":"s","hook_event_name":"Stop"}"#,
            Recognition::Surely,
        ),
        (
            r#"{"session_id":"s","hook_event_name":""}"#,
            Recognition::No,
        ),
        (r#"{"hook_event_name":"Stop"}"#, Recognition::No),
        (
            r#"{"session_id":"","hook_event_name":"Stop"}"#,
            Recognition::No,
        ),
        ("Stop", Recognition::No),
    ] {
        assert_eq!(super::recognise(text), wanted, "{text}");
    }
}
