//! opencode as observed, and as never observed: its frames, shortened and rewritten.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod catching_up;
mod cut;
mod deciding;
mod helpers;
mod random;
mod turns;

use crate::Cx;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::every_language::EveryLanguage;
use crate::link::{Address, Fault, Frame, HttpAnswer, LinkEvent, Phrase, Way};
use crate::protocol::{AgentId, Answer, Decision, Now, Reply, ReplyToken, Response, Severity};
use crate::{Carrier, Dialect, Out, Over, Sign, Standing, Start, Wish, Words};
use hearken_core::inspect::Checker;

use super::Opencode;

/// All sentences, loaded once.
static WORDS: LazyLock<Words> = LazyLock::new(|| Words::new(EveryLanguage::best_for(&[])));

/// Feeds the machine and keeps its output, checking each event.
pub(super) struct Run {
    pub opencode: Opencode,
    checker: Checker,
    pub events: Vec<Value>,
    pub view_only: usize,
    pub told: Vec<&'static str>,
    pub phrases: Vec<Phrase>,
    /// The requests, with their numbers, methods, paths and bodies.
    pub calls: Vec<(u64, &'static str, String, String)>,
    pub settled: Vec<(u64, bool)>,
    pub over: Vec<Over>,
    pub stood: Vec<Standing>,
    pub followed: Vec<Address>,
    pub closed: Vec<Fault>,
    pub anew: usize,
    pub faults: Vec<String>,
    pub now: Now,
}

impl Run {
    /// Creates the machine of a server at a path.
    pub fn at(path: &str, carrier: Carrier) -> Self {
        let start = Start {
            carrier,
            path: path.to_owned(),
            words: WORDS.clone(),
            seed: 7,
            ..Start::unattended()
        };
        Self {
            opencode: Opencode::new(start),
            checker: Checker::new(),
            events: Vec::new(),
            view_only: 0,
            told: Vec::new(),
            phrases: Vec::new(),
            calls: Vec::new(),
            settled: Vec::new(),
            over: Vec::new(),
            stood: Vec::new(),
            followed: Vec::new(),
            closed: Vec::new(),
            anew: 0,
            faults: Vec::new(),
            now: Now {
                monotonic: Duration::ZERO,
                wall: "2026-03-07T14:30:00Z".parse().unwrap(),
            },
        }
    }

    /// Creates a run that is connected to an idle server.
    pub fn new() -> Self {
        let mut run = Self::at("/", Carrier::EventStream);
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
        run.told.clear();
        run
    }

    pub fn news(&mut self, event: &LinkEvent) {
        let mut out = Vec::new();
        self.opencode.news(event, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    pub fn frame(&mut self, text: impl ToString) {
        self.news(&LinkEvent::Frame(Frame::of(text.to_string())));
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

    pub fn wish(&mut self, wish: &Wish) {
        let mut out = Vec::new();
        self.opencode.wish(wish, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    pub fn after(&mut self, time: Duration) {
        self.now = self.now.after(time);
        let mut out = Vec::new();
        self.opencode.tick(&mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    /// Decides the last question.
    pub fn decide(&mut self, request: u64, decision: &str, reason: Option<&str>) {
        let answer = Answer::Decision {
            decision: Decision::parse(decision),
            rationale: reason.map(str::to_owned),
        };
        self.reply(request, answer);
    }

    /// Answers the last question in words.
    pub fn respond(&mut self, request: u64, text: &str) {
        self.reply(request, Answer::Response(Response::Text(text.to_owned())));
    }

    fn reply(&mut self, request: u64, answer: Answer) {
        let mut asked = self.events.iter().rev();
        let token = asked.find_map(|event| event["reply_token"].as_str());
        let reply = Reply {
            token: ReplyToken::new(token.unwrap_or("none").to_owned()),
            answer,
            timestamp: self.now.wall,
            decided_by: "user:local".to_owned(),
        };
        let mut out = Vec::new();
        self.opencode
            .reply(request, &reply, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    fn take(&mut self, out: Vec<Out>) {
        for out in out {
            match out {
                Out::ViewOnly(text) => {
                    self.view_only += 1;
                    self.event(&text);
                }
                Out::Event(text) => self.event(&text),
                Out::Call { request, call } => {
                    let body = call.body.map(|body| body.text).unwrap_or_default();
                    self.calls
                        .push((request, call.method.name(), call.path, body));
                }
                Out::Settled { request, outcome } => self.settled.push((request, outcome.is_ok())),
                Out::Tell(phrase) | Out::Detail(phrase) => {
                    let said = WORDS.say(phrase.key, &[]);
                    assert!(said.iter().all(|it| it.normal != phrase.key), "{phrase:?}");
                    self.told.push(phrase.key);
                    self.phrases.push(phrase);
                }
                Out::Standing(standing) => self.stood.push(standing),
                Out::Over { how, .. } => self.over.push(how),
                Out::Follow(stream) => self.followed.push(stream.at),
                Out::ChangeWay(Way::AsGiven) => self.anew += 1,
                Out::Close(fault) => self.closed.push(fault),
                Out::Unread(..) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn event(&mut self, text: &str) {
        for item in self.checker.line(text) {
            if item.severity == Severity::Error {
                self.faults.push(format!("{item:?}\n{text}"));
            }
        }
        self.events.push(serde_json::from_str(text).unwrap());
    }

    /// Returns the kinds of the events, with the state for state events.
    pub fn kinds(&self) -> Vec<String> {
        let kind = |event: &Value| {
            let kind = event["type"].as_str().unwrap();
            let kind = kind.trim_start_matches("aaep:agent.");
            match event["to_state"].as_str() {
                Some(to) => to.to_owned(),
                None => kind.to_owned(),
            }
        };
        self.events.iter().map(kind).collect()
    }

    pub fn last(&self, kind: &str) -> &Value {
        let is = |event: &&Value| event["type"] == format!("aaep:agent.{kind}");
        self.events.iter().rev().find(is).unwrap()
    }

    pub fn count(&self, kind: &str) -> usize {
        self.kinds().iter().filter(|it| *it == kind).count()
    }

    /// Returns all streamed text.
    pub fn said(&self) -> String {
        self.events
            .iter()
            .filter_map(|event| event["chunk"].as_str())
            .collect()
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
            Sign::Surely,
        ),
        (
            r#"{"id":"evt_2","type":"session.status","properties":{"sessionID":"s"}}"#,
            Sign::Surely,
        ),
        (r#"{"type":"server.connected","properties":{}}"#, Sign::No),
        (r#"{"id":"evt_1","type":"session.status"}"#, Sign::No),
        (
            r#"{"id":"1","type":"session.status","properties":{}}"#,
            Sign::No,
        ),
        ("evt_1", Sign::No),
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
        let mut run = Run::at(path, Carrier::EventStream);
        run.news(&LinkEvent::Connecting { attempt: 1 });
        assert_eq!(run.followed, [Address::GivenAt(wanted.to_owned())]);
        run.says("server.connected", json!({}));
        let base = wanted.trim_end_matches("/event");
        assert_eq!(run.calls[0].2, format!("{base}/session/status"));
    }
}

#[test]
fn a_stream_that_is_not_there_in_time_is_asked_for_anew() {
    let mut run = Run::at("/", Carrier::EventStream);
    run.news(&LinkEvent::Connecting { attempt: 1 });
    assert!(run.opencode.deadline().is_some());
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
    assert_eq!((run.anew, run.opencode.deadline()), (1, None));
}

#[test]
fn nothing_is_asked_for_where_nothing_can_be_sent() {
    let mut run = Run::at("", Carrier::OneWay);
    run.connects_alone();
    run.works("ses_a");
    run.says("permission.asked", touch("per_1", "c"));
    run.decide(1, "accept", None);
    run.wish(&Wish::Prompt("x".to_owned()));
    run.wish(&Wish::Stop);
    assert!(run.calls.is_empty() && run.view_only == 1);
    assert_eq!(run.settled, [(1, false)]);
    assert_eq!(run.faults, Vec::<String>::new());
}

#[test]
fn a_password_that_is_wanted_is_told_with_its_remedy() {
    let mut run = Run::at("", Carrier::EventStream);
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

impl Run {
    fn connects_alone(&mut self) {
        self.says("server.connected", json!({}));
    }
}
