//! The client against agents that behave and agents that do not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod along;
mod changing;
mod earlier;
mod forms;
mod meeting;
mod permissions;
mod schema;
mod signing;
mod streams;
mod turns;

use crate::Cx;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::every_language::EveryLanguage;
use crate::link::{Fault, Frame, LinkEvent, Receipt, Undelivered};
use crate::protocol::{Answer, Decision, Now, Reply, ReplyToken, Response, Severity};
use crate::{Carrier, Dialect, Earlier, Out, Over, Start, Wish, Words};
use hearken_core::inspect::Checker;

use super::Acp;

/// Every sentence, loaded once.
static WORDS: LazyLock<Words> = LazyLock::new(|| Words::new(EveryLanguage::best_for(&[])));

/// A bench that feeds the client and keeps its outputs, checking each event.
pub(super) struct Run {
    pub acp: Acp,
    checker: Checker,
    pub events: Vec<Value>,
    pub view_only: usize,
    pub told: Vec<&'static str>,
    pub phrases: Vec<crate::link::Phrase>,
    pub sent: Vec<(u64, String)>,
    pub settled: Vec<(u64, bool)>,
    pub faults: Vec<String>,
    pub closed: Vec<Fault>,
    pub over: Vec<Over>,
    pub now: Now,
}

impl Run {
    /// Creates the client of an agent that has not been met.
    pub fn new(carrier: Carrier) -> Self {
        Self::wanting(carrier, Earlier::None)
    }

    /// Creates a client that should continue an earlier conversation.
    pub fn wanting(carrier: Carrier, earlier: Earlier) -> Self {
        let start = Start {
            carrier,
            words: WORDS.clone(),
            seed: 7,
            earlier,
            folder: "/work/a".to_owned(),
            ..Start::unattended()
        };
        Self {
            acp: Acp::new(start),
            checker: Checker::new(),
            events: Vec::new(),
            view_only: 0,
            told: Vec::new(),
            phrases: Vec::new(),
            sent: Vec::new(),
            settled: Vec::new(),
            faults: Vec::new(),
            closed: Vec::new(),
            over: Vec::new(),
            now: Now {
                monotonic: Duration::ZERO,
                wall: "2026-03-07T14:30:00Z".parse().unwrap(),
            },
        }
    }

    /// Creates a client whose conversation `s` is open.
    pub fn open() -> Self {
        let mut run = Self::new(Carrier::Lines);
        run.news(&LinkEvent::Connected);
        run.frame(json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {},
            "agentInfo": {"name": "fox", "title": "Fox"}}}));
        run.frame(json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s"}}));
        run.sent.clear();
        run.told.clear();
        run
    }

    /// Creates a client that was prompted; the id of that prompt is 3.
    pub fn prompted() -> Self {
        let mut run = Self::open();
        run.wish(&Wish::Prompt("do it".to_owned()));
        run.sent.clear();
        run
    }

    pub fn news(&mut self, event: &LinkEvent) {
        let mut out = Vec::new();
        self.acp.news(event, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    pub fn frame(&mut self, text: impl ToString) {
        self.news(&LinkEvent::Frame(Frame::of(text.to_string())));
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

    pub fn wish(&mut self, wish: &Wish) {
        let mut out = Vec::new();
        self.acp.wish(wish, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    pub fn after(&mut self, time: Duration) {
        self.now = self.now.after(time);
        let mut out = Vec::new();
        self.acp.tick(&mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    /// Decides the latest question.
    pub fn decide(&mut self, request: u64, decision: &str, reason: Option<&str>) {
        let reply = Reply {
            token: ReplyToken::new(self.token()),
            answer: Answer::Decision {
                decision: Decision::parse(decision),
                rationale: reason.map(str::to_owned),
            },
            timestamp: self.now.wall,
            decided_by: "user:local".to_owned(),
        };
        let mut out = Vec::new();
        self.acp
            .reply(request, &reply, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    /// Answers a question other than a permission.
    pub fn respond(&mut self, request: u64, token: &str, value: &str) {
        self.answer(request, token, Response::Text(value.to_owned()));
    }

    /// Answers the latest question with yes or no.
    pub fn yes(&mut self, request: u64, yes: bool) {
        self.answer(request, &self.token(), Response::YesNo(yes));
    }

    /// Answers the latest question with a number.
    pub fn number(&mut self, request: u64, number: f64) {
        self.answer(request, &self.token(), Response::Number(number));
    }

    fn answer(&mut self, request: u64, token: &str, response: Response) {
        let reply = Reply {
            token: ReplyToken::new(token.to_owned()),
            answer: Answer::Response(response),
            timestamp: self.now.wall,
            decided_by: "user:local".to_owned(),
        };
        let mut out = Vec::new();
        self.acp
            .reply(request, &reply, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    /// Reports to the client that an answer was written, or was not.
    pub fn written(&mut self, request: u64, went: bool) {
        let outcome = match went {
            true => Ok(Receipt::Written),
            false => Err(Undelivered::Kept(Fault::Closed)),
        };
        self.news(&LinkEvent::Replied { request, outcome });
    }

    fn take(&mut self, out: Vec<Out>) {
        for out in out {
            match out {
                Out::ViewOnly(text) => {
                    self.view_only += 1;
                    self.event(&text);
                }
                Out::Event(text) => self.event(&text),
                Out::Send { request, frame } => {
                    schema::hold(&frame);
                    self.sent.push((request, frame));
                }
                Out::Settled { request, outcome } => self.settled.push((request, outcome.is_ok())),
                Out::Tell(phrase) | Out::Detail(phrase) => {
                    self.told.push(phrase.key);
                    self.phrases.push(phrase);
                }
                Out::Over { how, .. } => self.over.push(how),
                Out::Close(fault) => self.closed.push(fault),
                Out::Unread(..) | Out::LastWords(_) => {}
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

    /// Returns the token of the latest question.
    pub fn token(&self) -> String {
        let mut asked = self.events.iter().rev();
        let asked = asked.find_map(|event| event["reply_token"].as_str());
        asked.unwrap_or("none").to_owned()
    }

    /// Returns the frames sent.
    pub fn frames(&self) -> Vec<&str> {
        self.sent.iter().map(|(_, frame)| frame.as_str()).collect()
    }

    /// Returns the kinds of the events; for a change of state, the new state.
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
}

/// Returns a call that touches a file.
pub(super) fn touch(status: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Touch a file", "kind": "execute",
        "status": status, "rawInput": {"command": "touch x"}})
}
