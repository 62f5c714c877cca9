//! Claude Code as observed, and as never observed: the messages of its hooks, shortened and rewritten.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod asking;
mod random;
mod turns;

use crate::Cx;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::every_language::EveryLanguage;
use crate::link::{Fault, Frame, LinkEvent, Method, Receipt, Request, Undelivered};
use crate::protocol::{Answer, Decision, Now, Reply, ReplyToken, Severity};
use crate::{Carrier, Dialect, Out, Over, Sign, Start, Wish, Words};
use hearken_core::inspect::Checker;

use super::Claude;

/// All sentences, loaded once.
static WORDS: LazyLock<Words> = LazyLock::new(|| Words::new(EveryLanguage::best_for(&[])));

/// Feeds the machine and keeps its output, checking each event.
pub(super) struct Run {
    pub claude: Claude,
    checker: Checker,
    pub events: Vec<Value>,
    pub view_only: usize,
    pub told: Vec<&'static str>,
    /// The answers to requests, by our numbers for them, each with the number of the person's answer.
    pub answers: BTreeMap<u64, (Option<u64>, Value)>,
    pub settled: Vec<(u64, bool)>,
    pub over: Vec<Over>,
    pub unread: u64,
    pub faults: Vec<String>,
    pub now: Now,
    pub next: u64,
    /// The conversation that sends the next message.
    pub who: &'static str,
}

impl Run {
    pub fn over(carrier: Carrier) -> Self {
        let start = Start {
            carrier,
            words: WORDS.clone(),
            seed: 7,
            ..Start::unattended()
        };
        Self {
            claude: Claude::new(start),
            checker: Checker::new(),
            events: Vec::new(),
            view_only: 0,
            told: Vec::new(),
            answers: BTreeMap::new(),
            settled: Vec::new(),
            over: Vec::new(),
            unread: 0,
            faults: Vec::new(),
            now: Now {
                monotonic: Duration::ZERO,
                wall: "2026-03-07T14:30:00Z".parse().unwrap(),
            },
            next: 0,
            who: "s1",
        }
    }

    /// Creates a run that listens.
    pub fn new() -> Self {
        Self::over(Carrier::Requests)
    }

    /// Creates a run with an active turn.
    pub fn busy() -> Self {
        let mut run = Self::new();
        run.prompted("do it");
        run
    }

    pub fn news(&mut self, event: &LinkEvent) {
        let mut out = Vec::new();
        self.claude.news(event, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    /// Delivers a request; returns our number for it.
    pub fn post(&mut self, path: &str, body: impl ToString) -> u64 {
        self.next += 1;
        let request = Request {
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
        self.post("/hook", more)
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

    pub fn after(&mut self, time: Duration) {
        self.now = self.now.after(time);
        let mut out = Vec::new();
        self.claude.tick(&mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    pub fn wish(&mut self, wish: &Wish) {
        let mut out = Vec::new();
        self.claude.wish(wish, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    /// Decides the last question.
    pub fn decide(&mut self, request: u64, decision: &str, reason: Option<&str>) {
        let mut asked = self.events.iter().rev();
        let token = asked.find_map(|event| event["reply_token"].as_str());
        let token = token.unwrap_or("none").to_owned();
        self.decide_under(request, &token, decision, reason);
    }

    pub fn decide_under(
        &mut self,
        request: u64,
        token: &str,
        decision: &str,
        reason: Option<&str>,
    ) {
        let reply = Reply {
            token: ReplyToken::new(token.to_owned()),
            answer: Answer::Decision {
                decision: Decision::parse(decision),
                rationale: reason.map(str::to_owned),
            },
            timestamp: self.now.wall,
            decided_by: "user:local".to_owned(),
        };
        let mut out = Vec::new();
        self.claude
            .reply(request, &reply, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    /// Reports an answer as sent, or as undeliverable.
    pub fn went(&mut self, request: u64, went: bool) {
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
                Out::Respond { id, request, body } => {
                    let body = serde_json::from_str(&body).unwrap();
                    let before = self.answers.insert(id, (request, body));
                    assert_eq!(before, None, "{id} is answered twice");
                }
                Out::Settled { request, outcome } => self.settled.push((request, outcome.is_ok())),
                Out::Tell(phrase) | Out::Detail(phrase) => self.told.push(phrase.key),
                Out::Over { how, .. } => self.over.push(how),
                Out::Unread(_, times) => self.unread += times,
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
            event["to_state"].as_str().unwrap_or(kind).to_owned()
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

    pub fn said(&self) -> String {
        self.events
            .iter()
            .filter_map(|event| event["chunk"].as_str())
            .collect()
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
            Sign::Surely,
        ),
        (r#"{"session_id":"s","hook_event_name":""}"#, Sign::No),
        (r#"{"hook_event_name":"Stop"}"#, Sign::No),
        (r#"{"session_id":"","hook_event_name":"Stop"}"#, Sign::No),
        ("Stop", Sign::No),
    ] {
        assert_eq!(super::recognise(text), wanted, "{text}");
    }
}
