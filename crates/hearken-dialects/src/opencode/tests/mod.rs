//! opencode as observed, and as never observed: its frames, shortened and rewritten.

mod catch_up;
mod cut_input;
mod decisions;
mod random;
mod subagents;
mod turns;

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::rig::{self, MachineRig, RigPeer};
use crate::link::{Address, Fault, HttpAnswer, LinkEvent, ServerRoute};
use crate::protocol::AgentId;
use crate::{
    Dialect, DialectOutput, DialectSetup, OpenQuestionsChange, PersonRequest, QuestionEnd,
    Recognition, TransportKind,
};

use super::Opencode;

/// Messages of this dialect, for the tests that all dialects share. The first ones identify it.
pub(crate) const MESSAGES: &[&str] = &[
    r#"{"id":"evt_1","type":"session.status","properties":{"sessionID":"ses_1","status":{"type":"busy"}}}"#,
    r#"{"id":"evt_2","type":"message.part.updated","properties":{"part":{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"Good morning."}}}"#,
    r#"{"id":"evt_1","type":"server.connected","properties":{}}"#,
    r#"{"id":"evt_2","type":"session.status","properties":{"sessionID":"ses_1","status":{"type":"busy"}}}"#,
    r#"{"id":"evt_3","type":"message.part.updated","properties":{"part":{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"Good morning."}}}"#,
    r#"{"id":"evt_4","type":"permission.asked","properties":{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["touch a"],"metadata":{"command":"touch a"},"always":["touch *"]}}"#,
    r#"{"id":"evt_5","type":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"once"}}"#,
    r#"{"id":"evt_6","type":"session.idle","properties":{"sessionID":"ses_1"}}"#,
];

/// The machine with Opencode's other side.
pub(super) type OpencodeRig = MachineRig<Opencode, OpencodeServer>;

/// What the machine sent.
#[derive(Debug, Default)]
pub(super) struct OpencodeServer {
    /// The requests, with their numbers, methods, paths and bodies.
    pub calls: Vec<(u64, &'static str, String, String)>,
    pub followed: Vec<Address>,
    pub anew: usize,
}

impl RigPeer for OpencodeServer {
    fn take(&mut self, out: DialectOutput) {
        match out {
            DialectOutput::Call { request, call } => {
                let body = call.body.map(|body| body.text).unwrap_or_default();
                self.calls
                    .push((request, call.method.name(), call.path, body));
            }
            DialectOutput::Follow(stream) => self.followed.push(stream.at),
            DialectOutput::ChangeWay(ServerRoute::AsGiven) => self.anew += 1,
            other => panic!("{other:?}"),
        }
    }
}

impl OpencodeRig {
    /// Creates the machine of a server at a path.
    pub fn at(path: &str, carrier: TransportKind) -> Self {
        let start = DialectSetup {
            carrier,
            path: path.to_owned(),
            ..rig::start()
        };
        Self::of(Opencode::new(start))
    }

    /// Creates a run that is connected to an idle server.
    pub fn new() -> Self {
        let mut run = Self::at("/", TransportKind::EventStream);
        run.connects(&json!({}), &json!([]), &json!([]));
        run
    }

    /// Connects to a server with these lists.
    pub fn connects(&mut self, does: &Value, wants: &Value, wonders: &Value) {
        self.says("server.connected", json!({}));
        for (path, answer) in [
            ("/session/status", does),
            ("/permission", wants),
            ("/question", wonders),
        ] {
            self.answers(path, 200, answer);
        }
    }

    /// Creates a run with an active turn of the conversation `ses_a`.
    pub fn busy() -> Self {
        let mut run = Self::new();
        run.person("msg_1", "do it");
        run.works("ses_a");
        run.phrase_keys.clear();
        run
    }

    pub fn says(&mut self, kind: &str, what: Value) {
        self.frame(json!({"id": "evt_1", "type": kind, "properties": what}));
    }

    pub fn works(&mut self, id: &str) {
        self.says(
            "session.status",
            json!({"sessionID": id, "status": {"type": "busy"}}),
        );
    }

    pub fn rests(&mut self, id: &str) {
        self.says(
            "session.status",
            json!({"sessionID": id, "status": {"type": "idle"}}),
        );
        self.says("session.idle", json!({"sessionID": id}));
    }

    /// Reports a person's message in the conversation `ses_a`.
    pub fn person(&mut self, message: &str, text: &str) {
        self.says("message.updated", json!({"sessionID": "ses_a", "info": {"id": message, "role": "user", "sessionID": "ses_a"}}));
        self.part(json!({"id": format!("prt_{message}"), "messageID": message, "type": "text", "text": text}));
    }

    /// Reports a part; of the conversation `ses_a` if it names none.
    pub fn part(&mut self, mut part: Value) {
        if part.get("sessionID").is_none() {
            part["sessionID"] = "ses_a".into();
        }
        self.says(
            "message.part.updated",
            json!({"sessionID": part["sessionID"].clone(), "part": part}),
        );
    }

    pub fn text(&mut self, id: &str, text: &str) {
        self.part(json!({"id": id, "messageID": "msg_2", "type": "text", "text": text}));
    }

    pub fn more(&mut self, id: &str, text: &str) {
        self.says(
            "message.part.delta",
            json!({"sessionID": "ses_a", "messageID": "msg_2", "partID": id, "field": "text", "delta": text}),
        );
    }

    /// Reports a shell call in a state.
    pub fn shell(&mut self, call: &str, status: &str) {
        let mut state = json!({"status": status, "input": {"command": "touch a.txt"}});
        match status {
            "pending" => state["input"] = json!({}),
            "completed" => state["output"] = "(no output)".into(),
            "error" => state["error"] = "not allowed".into(),
            _ => {}
        }
        self.part(json!({"id": "prt_t", "messageID": "msg_2", "type": "tool", "tool": "bash", "callID": call, "state": state}));
    }

    /// Answers the last request of a path.
    pub fn answers(&mut self, path: &str, status: u16, body: &Value) {
        let call = self.calls.iter().rev().find(|call| call.2 == path);
        let request = call
            .unwrap_or_else(|| panic!("{path} in {:?}", self.calls))
            .0;
        let outcome = Ok(HttpAnswer {
            status,
            location: None,
            retry_after: None,
            body: body.to_string(),
        });
        self.news(&LinkEvent::Answered { request, outcome });
    }

    /// Fails the last request of a path.
    pub fn fails(&mut self, path: &str, fault: Fault) {
        let call = self.calls.iter().rev().find(|call| call.2 == path);
        let request = call.unwrap().0;
        self.news(&LinkEvent::Answered {
            request,
            outcome: Err(fault),
        });
    }

    /// Returns the path and body of the last POST request.
    pub fn posted(&self) -> (&str, Value) {
        let call = self
            .calls
            .iter()
            .rev()
            .find(|call| call.1 == "POST")
            .unwrap();
        (&call.2, serde_json::from_str(&call.3).unwrap())
    }
}

/// A request for the permission to run a command.
pub(super) fn touch(id: &str, call: &str) -> Value {
    json!({"id": id, "sessionID": "ses_a", "permission": "bash", "patterns": ["touch a.txt"],
        "metadata": {"command": "touch a.txt"}, "always": ["touch *"], "tool": {"messageID": "msg_2", "callID": call}})
}

/// A request for two answers.
pub(super) fn two(id: &str) -> Value {
    json!({"id": id, "sessionID": "ses_a", "questions": [
        {"question": "Which colour?", "header": "Colour", "options": [
            {"label": "Red", "description": "like a fox"}, {"label": "Blue", "description": ""}]},
        {"question": "Which files?", "header": "Files", "multiple": true, "options": [
            {"label": "a.txt", "description": ""}, {"label": "b.txt", "description": ""}]},
    ]})
}

#[test]
fn it_is_known_by_its_envelope_and_never_by_a_type() {
    for (text, wanted) in [
        (
            r#"{"id":"evt_1","type":"server.connected","properties":{}}"#,
            Recognition::Surely,
        ),
        (
            r#"{"id":"evt_2","type":"session.status","properties":{"sessionID":"s"}}"#,
            Recognition::Surely,
        ),
        (
            r#"{"type":"server.connected","properties":{}}"#,
            Recognition::No,
        ),
        (r#"{"id":"evt_1","type":"session.status"}"#, Recognition::No),
        (
            r#"{"id":"1","type":"session.status","properties":{}}"#,
            Recognition::No,
        ),
        ("evt_1", Recognition::No),
    ] {
        assert_eq!(super::recognise(text), wanted, "{text}");
    }
}

#[test]
fn its_events_are_followed_beside_the_address_that_was_given() {
    for (path, wanted) in [
        ("", "/event"),
        ("/", "/event"),
        ("/event", "/event"),
        ("/oc/", "/oc/event"),
    ] {
        let mut run = OpencodeRig::at(path, TransportKind::EventStream);
        run.news(&LinkEvent::Connecting { attempt: 1 });
        assert_eq!(run.followed, [Address::GivenAt(wanted.to_owned())]);
        run.says("server.connected", json!({}));
        let base = wanted.trim_end_matches("/event");
        assert_eq!(run.calls[0].2, format!("{base}/session/status"));
    }
}

#[test]
fn a_stream_that_is_not_there_in_time_is_asked_for_anew() {
    let mut run = OpencodeRig::at("/", TransportKind::EventStream);
    run.news(&LinkEvent::Connecting { attempt: 1 });
    assert!(run.machine.deadline().is_some());
    run.after(Duration::from_secs(4));
    assert_eq!(run.anew, 0);
    run.after(Duration::from_secs(1));
    run.after(Duration::from_secs(60));
    assert_eq!(run.anew, 1);
    // An open stream may be silent, and the transport has its own delay before the next attempt.
    run.news(&LinkEvent::Connecting { attempt: 1 });
    run.news(&LinkEvent::Connected);
    run.after(Duration::from_secs(60));
    run.news(&LinkEvent::Connecting { attempt: 1 });
    let fault = Fault::Refused;
    let retry_in = Duration::from_secs(30);
    run.news(&LinkEvent::Lost { fault, retry_in });
    run.after(Duration::from_secs(60));
    assert_eq!((run.anew, run.machine.deadline()), (1, None));
}

#[test]
fn nothing_is_asked_for_where_nothing_can_be_sent() {
    let mut run = OpencodeRig::at("", TransportKind::OneWay);
    run.connects_alone();
    run.works("ses_a");
    run.says("permission.asked", touch("per_1", "c"));
    run.decide(1, "accept", None);
    run.person_request(&PersonRequest::Prompt("x".to_owned()));
    run.person_request(&PersonRequest::Stop);
    assert!(run.calls.is_empty() && run.view_only == 1);
    assert_eq!(run.settled, [(1, false)]);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_password_that_is_wanted_is_told_with_its_remedy() {
    let mut run = OpencodeRig::at("", TransportKind::EventStream);
    let fault = Fault::Status {
        status: 401,
        retry_after: None,
    };
    run.news(&LinkEvent::Failed { fault });
    let Fault::Rejected {
        reason,
        again: false,
        ..
    } = &run.closed[0]
    else {
        panic!("{:?}", run.closed);
    };
    assert_eq!(reason.key, "opencode.password");
}

impl OpencodeRig {
    fn connects_alone(&mut self) {
        self.says("server.connected", json!({}));
    }
}
