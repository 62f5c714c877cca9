//! AG-UI as observed, and as never observed: its events, shortened and rewritten.

mod questions;
mod random;
mod runs;

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::rig::{self, MachineRig, RigPeer};
use crate::link::{Fault, Frame, LinkEvent, ServerRoute, Stream};
use crate::protocol::Response;
use crate::{
    Dialect, DialectOutput, DialectSetup, PersonRequest, QuestionEnd, Recognition, TransportKind,
};

use super::Agui;

/// Messages of this dialect, for the tests that all dialects share. The first ones identify it.
pub(crate) const MESSAGES: &[&str] = &[
    r#"{"type":"RUN_STARTED","threadId":"t1","runId":"r1"}"#,
    r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Good morning."}"#,
    r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"touch"}"#,
    r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#,
    r#"{"type":"RUN_FINISHED","threadId":"t1","runId":"r1","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"confirmation","toolCallId":"c","message":"Well?"}]}}"#,
];

/// The machine with Agui's other side.
pub(super) type AguiRig = MachineRig<Agui, AguiServer>;

/// What the machine sent.
#[derive(Debug, Default)]
pub(super) struct AguiServer {
    /// The posted runs.
    pub posts: Vec<Value>,
    pub anew: usize,
    /// Whether the transport waits for something to follow.
    pub waits: bool,
}

impl RigPeer for AguiServer {
    fn take(&mut self, out: DialectOutput) {
        match out {
            DialectOutput::Follow(Stream { opened_by, .. }) => {
                assert!(std::mem::take(&mut self.waits), "nobody waits for it");
                let body = opened_by.unwrap().text;
                self.posts.push(serde_json::from_str(&body).unwrap());
            }
            DialectOutput::ChangeWay(way) => {
                assert_eq!(way, ServerRoute::AsGiven);
                self.anew += 1;
                self.waits = false;
            }
            other => panic!("{other:?}"),
        }
    }
}

impl AguiRig {
    /// Creates the machine for a capture, or for an endpoint that has no run yet.
    pub fn at(path: &str, carrier: TransportKind) -> Self {
        let start = DialectSetup {
            carrier,
            path: path.to_owned(),
            ..rig::start()
        };
        Self::of(Agui::new(start))
    }

    /// Creates a run whose transport waits for a first post.
    pub fn new() -> Self {
        let mut run = Self::at("/", TransportKind::EventStream);
        run.connecting();
        run.phrase_keys.clear();
        run
    }

    /// Creates a run that is under way.
    pub fn busy() -> Self {
        let mut run = Self::new();
        run.prompt("do it");
        run.taken();
        run
    }

    pub fn connecting(&mut self) {
        self.waits = true;
        self.news(&LinkEvent::Connecting { attempt: 1 });
    }

    /// Lets the endpoint accept what was posted.
    pub fn taken(&mut self) {
        self.news(&LinkEvent::Connected);
        self.says(json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r"}));
    }

    /// Ends the stream of a run, and asks what to follow next.
    pub fn closes(&mut self) {
        self.news(&LinkEvent::StreamEnded);
        self.connecting();
    }

    pub fn lost(&mut self, fault: Fault) {
        self.news(&LinkEvent::Lost {
            fault,
            retry_in: Duration::from_secs(1),
        });
    }

    pub fn says(&mut self, event: Value) {
        self.news(&LinkEvent::Frame(Frame::of(event.to_string())));
    }

    pub fn finishes(&mut self, outcome: Value) {
        self.says(
            json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": outcome}),
        );
        self.closes();
    }

    /// Reports a call with its arguments.
    pub fn calls(&mut self, call: &str, tool: &str, given: &str) {
        self.says(json!({"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": tool}));
        self.says(json!({"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": given}));
        self.says(json!({"type": "TOOL_CALL_END", "toolCallId": call}));
    }

    pub fn brings(&mut self, call: &str, content: &str) {
        self.says(json!({"type": "TOOL_CALL_RESULT", "messageId": format!("r_{call}"), "toolCallId": call, "content": content}));
    }

    pub fn text(&mut self, message: &str, text: &str) {
        self.says(json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": text}));
    }

    /// Ends the run with these interrupts.
    pub fn interrupts(&mut self, interrupts: Value) {
        self.finishes(json!({"type": "interrupt", "interrupts": interrupts}));
    }
}
