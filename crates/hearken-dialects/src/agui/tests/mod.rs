//! AG-UI as observed, and as never observed: its events, shortened and rewritten.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod asking;
mod random;
mod runs;

use crate::Cx;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::every_language::EveryLanguage;
use crate::link::{Fault, Frame, LinkEvent, Phrase, Stream, Way};
use crate::protocol::{Answer, Decision, Now, Reply, ReplyToken, Response, Severity};
use crate::{Carrier, Dialect, Out, Over, Sign, Start, Wish, Words};
use hearken_core::inspect::Checker;

use super::Agui;

/// All sentences, loaded once.
static WORDS: LazyLock<Words> = LazyLock::new(|| Words::new(EveryLanguage::best_for(&[])));

/// Feeds the machine and keeps its output, checking each event.
pub(super) struct Run {
    pub agui: Agui,
    checker: Checker,
    pub events: Vec<Value>,
    pub view_only: usize,
    pub told: Vec<&'static str>,
    pub phrases: Vec<Phrase>,
    /// The posted runs.
    pub posts: Vec<Value>,
    pub settled: Vec<(u64, bool)>,
    pub over: Vec<Over>,
    pub anew: usize,
    /// Whether the transport waits for something to follow.
    pub waits: bool,
    pub faults: Vec<String>,
    pub now: Now,
}

impl Run {
    /// Creates the machine for a capture, or for an endpoint that has no run yet.
    pub fn at(path: &str, carrier: Carrier) -> Self {
        let start = Start {
            carrier,
            path: path.to_owned(),
            words: WORDS.clone(),
            seed: 7,
            ..Start::unattended()
        };
        Self {
            agui: Agui::new(start),
            checker: Checker::new(),
            events: Vec::new(),
            view_only: 0,
            told: Vec::new(),
            phrases: Vec::new(),
            posts: Vec::new(),
            settled: Vec::new(),
            over: Vec::new(),
            anew: 0,
            waits: false,
            faults: Vec::new(),
            now: Now {
                monotonic: Duration::ZERO,
                wall: "2026-03-07T14:30:00Z".parse().unwrap(),
            },
        }
    }

    /// Creates a run whose transport waits for a first post.
    pub fn new() -> Self {
        let mut run = Self::at("/", Carrier::EventStream);
        run.connecting();
        run.told.clear();
        run
    }

    /// Creates a run that is under way.
    pub fn busy() -> Self {
        let mut run = Self::new();
        run.prompt("do it");
        run.taken();
        run
    }

    pub fn news(&mut self, event: &LinkEvent) {
        let mut out = Vec::new();
        self.agui.news(event, &mut Cx::new(self.now, &mut out));
        self.take(out);
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

    pub fn wish(&mut self, wish: &Wish) {
        let mut out = Vec::new();
        self.agui.wish(wish, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    pub fn prompt(&mut self, words: &str) {
        self.wish(&Wish::Prompt(words.to_owned()));
    }

    fn reply(&mut self, request: u64, answer: Answer) {
        let questions = self.events.iter().rev();
        let mut tokens = questions.filter_map(|it| it["reply_token"].as_str());
        let token = tokens.next().unwrap_or("none").to_owned();
        let reply = Reply {
            token: ReplyToken::new(token),
            answer,
            timestamp: self.now.wall,
            decided_by: "user:local".to_owned(),
        };
        let mut out = Vec::new();
        self.agui
            .reply(request, &reply, &mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    pub fn decide(&mut self, request: u64, decision: &str, rationale: Option<&str>) {
        self.reply(
            request,
            Answer::Decision {
                decision: Decision::parse(decision),
                rationale: rationale.map(str::to_owned),
            },
        );
    }

    pub fn respond(&mut self, request: u64, response: Response) {
        self.reply(request, Answer::Response(response));
    }

    pub fn after(&mut self, time: Duration) {
        self.now.monotonic += time;
        self.now.wall += jiff::SignedDuration::try_from(time).unwrap();
        let mut out = Vec::new();
        self.agui.tick(&mut Cx::new(self.now, &mut out));
        self.take(out);
    }

    fn take(&mut self, out: Vec<Out>) {
        for wish in out {
            match wish {
                Out::Event(text) => self.event(&text),
                Out::ViewOnly(text) => {
                    self.view_only += 1;
                    self.event(&text);
                }
                Out::Tell(phrase) => {
                    let said = WORDS.say(phrase.key, &[]);
                    assert!(said.iter().all(|it| it.normal != phrase.key), "{phrase:?}");
                    self.told.push(phrase.key);
                    self.phrases.push(phrase);
                }
                Out::Follow(Stream { opened_by, .. }) => {
                    assert!(std::mem::take(&mut self.waits), "nobody waits for it");
                    let body = opened_by.unwrap().text;
                    self.posts.push(serde_json::from_str(&body).unwrap());
                }
                Out::ChangeWay(way) => {
                    assert_eq!(way, Way::AsGiven);
                    self.anew += 1;
                    self.waits = false;
                }
                Out::Settled { request, outcome } => self.settled.push((request, outcome.is_ok())),
                Out::Over { how, .. } => self.over.push(how),
                Out::Detail(_) | Out::Release | Out::Unread(..) => {}
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
        let decoded = crate::protocol::decode(text).unwrap();
        for finding in decoded
            .findings
            .iter()
            .filter(|it| it.severity != Severity::Note)
        {
            self.faults.push(format!("{finding}\n{text}"));
        }
        self.events.push(serde_json::from_str(text).unwrap());
    }

    pub fn kinds(&self) -> Vec<&str> {
        let kinds = self.events.iter().map(|it| it["type"].as_str().unwrap());
        kinds
            .map(|kind| kind.strip_prefix("aaep:agent.").unwrap())
            .collect()
    }

    pub fn last(&self, kind: &str) -> &Value {
        let all = self.kinds();
        let at = all.iter().rposition(|it| *it == kind);
        &self.events[at.unwrap_or_else(|| panic!("no {kind} in {all:?}"))]
    }

    pub fn count(&self, kind: &str) -> usize {
        self.kinds().iter().filter(|it| **it == kind).count()
    }

    /// Returns all announced text, in order.
    pub fn said(&self) -> String {
        let chunks = self.events.iter().filter_map(|it| it["chunk"].as_str());
        chunks.collect()
    }
}
