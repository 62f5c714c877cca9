//! The client against servers that behave and servers that do not; the frames are the real server's, shortened.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod joining;
mod questions;
mod streams;
mod turns;

use crate::Cx;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::every_language::EveryLanguage;
use crate::link::{Fault, Frame, LinkEvent, Phrase, Receipt, Undelivered};
use crate::protocol::{AgentId, Answer, Decision, Now, Reply, ReplyToken, Response, Severity};
use crate::{Carrier, Dialect, Out, Over, Standing, Start, Wish, Words};
use hearken_core::inspect::Checker;

use super::Codex;

/// Every sentence, loaded once.
static WORDS: LazyLock<Words> = LazyLock::new(|| Words::new(EveryLanguage::best_for(&[])));

/// A bench that feeds the client and keeps its outputs, checking each event.
pub(super) struct Run {
    pub codex: Codex,
    checker: Checker,
    pub events: Vec<Value>,
    pub view_only: usize,
    pub told: Vec<&'static str>,
    pub phrases: Vec<Phrase>,
    pub sent: Vec<(u64, Value)>,
    pub settled: Vec<(u64, Result<Receipt, Undelivered>)>,
    pub faults: Vec<String>,
    pub closed: Vec<Fault>,
    pub over: Vec<Over>,
    pub back: usize,
    pub unread: usize,
    pub now: Now,
}

impl Run {
    pub fn new(carrier: Carrier, only: Option<&str>) -> Self {
        let start = Start {
            carrier,
            words: WORDS.clone(),
            seed: 7,
            conversation: only.map(str::to_owned),
            ..Start::unattended()
        };
        Self {
            codex: Codex::new(start),
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
            back: 0,
            unread: 0,
            now: Now {
                monotonic: Duration::ZERO,
                wall: "2026-03-07T14:30:00Z".parse().unwrap(),
            },
        }
    }

    /// Creates a client that follows the thread `t`, in which nothing happens.
    pub fn joined() -> Self {
        let mut run = Self::new(Carrier::WebSocket, None);
        run.connect(&["t"]);
        run.grant("thread/resume", &resumed("idle"));
        run.sent.clear();
        run.told.clear();
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

    pub fn news(&mut self, event: &LinkEvent) {
        let mut out = Vec::new();
        self.codex.news(event, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    pub fn frame(&mut self, text: impl ToString) {
        self.news(&LinkEvent::Frame(Frame::of(text.to_string())));
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

    pub fn wish(&mut self, wish: &Wish) {
        let mut out = Vec::new();
        self.codex.wish(wish, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    pub fn after(&mut self, time: Duration) {
        self.now = self.now.after(time);
        let mut out = Vec::new();
        self.codex.tick(&mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    /// Decides the latest question.
    pub fn decide(&mut self, request: u64, decision: &str, reason: Option<&str>) {
        let answer = Answer::Decision {
            decision: Decision::parse(decision),
            rationale: reason.map(str::to_owned),
        };
        self.reply(request, answer);
    }

    pub fn respond(&mut self, request: u64, response: Response) {
        self.reply(request, Answer::Response(response));
    }

    fn reply(&mut self, request: u64, answer: Answer) {
        let reply = Reply {
            token: ReplyToken::new(self.last_token()),
            answer,
            timestamp: self.now.wall,
            decided_by: "user:local".to_owned(),
        };
        let mut out = Vec::new();
        self.codex
            .reply(request, &reply, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    pub fn written(&mut self, request: u64, went: bool) {
        let outcome = match went {
            true => Ok(Receipt::Written),
            false => Err(Undelivered::Kept(Fault::Closed)),
        };
        self.news(&LinkEvent::Replied { request, outcome });
    }

    pub fn lose(&mut self) {
        self.news(&LinkEvent::Lost {
            fault: Fault::Closed,
            retry_in: Duration::from_secs(1),
        });
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
                    self.sent
                        .push((request, serde_json::from_str(&frame).unwrap()));
                }
                Out::Settled { request, outcome } => self.settled.push((request, outcome)),
                Out::Tell(phrase) | Out::Detail(phrase) => {
                    self.told.push(phrase.key);
                    self.phrases.push(phrase);
                }
                Out::Over { how, .. } => self.over.push(how),
                Out::Standing(Standing::Back) => self.back += 1,
                Out::Close(fault) => self.closed.push(fault),
                Out::Unread(_, times) => self.unread += times as usize,
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

    pub fn last_token(&self) -> String {
        let mut asked = self.events.iter().rev();
        let asked = asked.find_map(|event| event["reply_token"].as_str());
        asked.unwrap_or("none").to_owned()
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

    pub fn count(&self, kind: &str) -> usize {
        self.kinds().iter().filter(|it| *it == kind).count()
    }

    pub fn last(&self, kind: &str) -> &Value {
        let is = |event: &&Value| event["type"] == format!("aaep:agent.{kind}");
        self.events.iter().rev().find(is).unwrap()
    }

    /// Returns all text that was announced.
    pub fn text(&self) -> String {
        let chunks = self
            .events
            .iter()
            .filter_map(|event| event["chunk"].as_str());
        chunks.collect()
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
