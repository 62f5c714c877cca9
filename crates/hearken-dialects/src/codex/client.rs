//! The client of one server: it greets, joins threads, prompts, stops, and returns the person's decisions.
//!
//! Responsibilities: which thread a message belongs to, messages that belong to none, requests that are for others. Not
//! here: what becomes of a thread's messages (`thread`, `answers`), joining threads (`greeting`), the person's requests
//! (`prompts`).
//!
//! # Mental model
//! Every connection begins with a greeting and the list of the loaded threads; each of them is joined, and so is each
//! thread that begins or is loaded later. A thread can be joined once something of its first turn is written: until
//! then, the server replies that it has found nothing, and is asked again. After a loss, all of this is repeated; what
//! is known of the threads is kept.

use crate::Cx;
use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::event_writer::{self, EventWriter};
use crate::kit::directory::Directory;
use crate::kit::members::text;
use crate::kit::turn::{EventContext, LeftCalls};
use crate::kit::turn_end::TurnEnd;
use crate::link::{DeliveryFailure, Fault, Frame, Phrase, PhraseArg, Receipt};
use crate::protocol::Reply;
use crate::rpc::{self, Id, PendingRequests, RpcKind, RpcMessage};
use crate::{
    Connection, ConnectionLoss, Dialect, DialectOutput, DialectSetup, ForeignFormat, LeaveOutcome,
    NoEvent, Oversight, PersonRequest, RequestNumbers, SharedWording, TransportKind,
};

use super::NAME;
use super::approvals;
use super::thread::{JoinProgress, MOST_HELD, Thread};

pub(super) const AGENT: &str = "Codex";
/// How many threads are followed; each may be an agent at work.
const MOST_THREADS: usize = 64;
/// How many warnings, and unknown kinds of messages, are reported, each once.
const MOST_TOLD: usize = 64;

/// A request of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CodexRequest {
    Greeting,
    /// A request for the loaded threads, with the number of pages read.
    List(usize),
    /// A request for everything that happens in a thread.
    Join(String),
    Last(String),
    Prompt,
    /// A request to add a prompt to a turn of a thread; if the turn is over, the prompt begins another.
    Add(String, String),
    Stop(String),
    /// A question about the kind of a thread.
    Look(String),
    /// The person's permission for what the reviewer refused.
    Overrule {
        thread: String,
        review: String,
        /// The number of the person's answer.
        request: u64,
    },
}

/// How far the contact with the server has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContactPhase {
    /// No server is there, or nothing has been sent.
    Unmet,
    Greeted,
    Met,
    /// Nothing more can be sent.
    Over,
}

/// The client of one server.
#[derive(Debug)]
pub struct Codex {
    pub(super) numbers: RequestNumbers,
    pub(super) words: SharedWording,
    pub(super) seed: u64,
    pub(super) listens: bool,
    /// The thread that the person named.
    pub(super) only: Option<String>,
    pub(super) phase: ContactPhase,
    pub(super) pending_requests: PendingRequests<CodexRequest>,
    pub(super) threads: Directory<Thread>,
    /// The thread with the latest activity.
    pub(super) last: Option<String>,
    /// How many questions about the kind of a thread have no answer yet.
    pub(super) looks: usize,
    /// The last announcement of what a thread asks; `None` before the first.
    pub(super) policy: Option<Option<Oversight>>,
    /// Whether the list of threads is complete.
    pub(super) listed: bool,
    /// Whether the number of threads was announced.
    pub(super) list_told: bool,
    pub(super) reported_phrases: BTreeSet<String>,
    /// How many prompts the server has not answered yet.
    pub(super) unanswered: u64,
    /// How many prompts were sent.
    pub(super) prompts: u64,
}

impl Codex {
    /// Creates the client of a server.
    pub fn new(start: DialectSetup) -> Self {
        Self {
            numbers: start.numbers,
            words: start.words,
            seed: start.seed,
            listens: start.carrier == TransportKind::OneWay,
            only: start.conversation,
            phase: ContactPhase::Unmet,
            pending_requests: PendingRequests::default(),
            threads: Directory::new(MOST_THREADS, start.seed),
            last: None,
            looks: 0,
            policy: None,
            listed: false,
            list_told: false,
            reported_phrases: BTreeSet::new(),
            unanswered: 0,
            prompts: 0,
        }
    }

    /// Returns the ids of the open questions.
    #[cfg(test)]
    pub(super) fn asked_now(&self) -> Vec<Id> {
        let turns = self
            .threads
            .values()
            .filter_map(|it| it.run.as_ref()?.turn.as_ref());
        turns
            .filter_map(|turn| Some(turn.permission.as_ref()?.id.clone()))
            .collect()
    }

    /// Returns the ids of all open requests.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> Vec<Id> {
        let turns = self
            .threads
            .values()
            .filter_map(|it| it.run.as_ref()?.turn.as_ref());
        turns.flat_map(|turn| turn.requests().cloned()).collect()
    }

    pub(super) fn send(&mut self, frame: String, out: &mut Vec<DialectOutput>) {
        if !self.listens {
            let request = self.numbers.fresh();
            out.push(DialectOutput::Send { request, frame });
        }
    }

    pub(super) fn ask(
        &mut self,
        what: CodexRequest,
        method: &str,
        params: &Value,
        out: &mut Vec<DialectOutput>,
    ) {
        if !self.listens {
            let id = self.pending_requests.ask(what);
            self.send(rpc::request(id, method, &params.to_string()), out);
        }
    }

    /// Returns a thread, known or new; `None` if there are too many, or the person wants another one.
    pub(super) fn thread(&mut self, id: &str, out: &mut Vec<DialectOutput>) -> Option<&mut Thread> {
        let wanted = self.only.as_ref().is_none_or(|only| only == id);
        if id.is_empty() || id.len() > 256 || !wanted {
            return None;
        }
        let is_idle = |thread: &Thread| !thread.in_turn() && thread.answering.is_none();
        let opened = self.threads.open(id, is_idle, |seed| {
            let agent = event_writer::EventAgent {
                id: agent(id),
                name: AGENT.to_owned(),
                model: None,
            };
            let teller = EventContext {
                writer: EventWriter::new(NAME, agent, seed),
                words: self.words.clone(),
                folder: String::new(),
                answerable: !self.listens,
                left: LeftCalls::default(),
            };
            let mut thread = Thread::new(id, teller);
            if self.listens {
                thread.joined = JoinProgress::Yes;
            }
            thread
        });
        let most = PhraseArg::Own(MOST_THREADS.to_string());
        let full = Phrase::new("codex.too_many").with("n", most);
        opened.map_err(|error| error.announce_once(full, out)).ok()
    }

    fn frame(&mut self, frame: &str, cx: &mut Cx<'_>) {
        match rpc::read_bare(frame) {
            RpcKind::Rpc(message) => self.message(message, cx),
            RpcKind::Object => cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::Untyped),
                1,
            )),
            RpcKind::Other => cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::Text),
                1,
            )),
        }
    }

    pub(super) fn message(&mut self, message: RpcMessage, cx: &mut Cx<'_>) {
        match message {
            RpcMessage::Notification {
                ref method,
                ref params,
            } => {
                let map = rpc::members(params.as_deref());
                if let Some(thread) = of_thread(&map) {
                    if self.holds(&thread, &message, cx) {
                        return;
                    }
                    self.notified(&thread, method, &map, cx);
                } else {
                    self.announced(method, &map, cx.out);
                }
            }
            RpcMessage::Request {
                ref id,
                ref method,
                ref params,
            } => {
                let map = rpc::members(params.as_deref());
                let thread = of_thread(&map).unwrap_or_default();
                if !self.holds(&thread, &message, cx) {
                    self.requested(&thread, id, method, &map, cx);
                }
            }
            RpcMessage::Result { id, result } => {
                if let Some(what) = self.pending_requests.answered(id.as_ref()) {
                    self.granted(what, &rpc::members(Some(&result)), cx);
                }
            }
            RpcMessage::Error { id, code, message } => {
                match self.pending_requests.answered(id.as_ref()) {
                    Some(what) => self.refused(what, &message, cx),
                    None => {
                        let phrase = Phrase::new("acp.complaint")
                            .with("code", PhraseArg::Own(code.to_string()))
                            .with("words", PhraseArg::Agent(event_writer::short(&message)));
                        cx.out.push(DialectOutput::Announce(phrase));
                    }
                }
            }
            RpcMessage::Nothing => cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::JsonRpc),
                1,
            )),
        }
    }

    /// Queues a message while its thread is catching up; returns whether it was queued.
    fn holds(&mut self, thread: &str, message: &RpcMessage, cx: &mut Cx<'_>) -> bool {
        let Some(Thread {
            joined:
                JoinProgress::CatchingUp {
                    waiting_messages: held,
                    ..
                },
            ..
        }) = self.threads.get_mut(thread)
        else {
            return false;
        };
        held.push(message.clone());
        if held.len() >= MOST_HELD {
            self.caught_up(thread, None, false, cx);
        }
        true
    }

    /// Handles a notification about a thread.
    fn notified(&mut self, id: &str, method: &str, params: &Map<String, Value>, cx: &mut Cx<'_>) {
        match method {
            "thread/started" => {
                let thread = params.get("thread").and_then(Value::as_object);
                return self.started(id, thread, cx.out);
            }
            "thread/settings/updated" => {
                let settings = params.get("threadSettings").and_then(Value::as_object);
                if let Some(settings) = settings {
                    self.tell_policy(id, settings, cx.out);
                }
                return;
            }
            "thread/closed" | "thread/deleted" => {
                if let Some(thread) = self.threads.get_mut(id) {
                    thread.leave_reviews(cx);
                    thread.leave_run(TurnEnd::Gone, cx);
                    if thread.joined != JoinProgress::Errand {
                        thread.joined = JoinProgress::Not;
                    }
                }
                return;
            }
            "thread/status/changed" => {
                let status = params.get("status").and_then(|it| it.get("type"));
                // Another client has it loaded: what happens in it concerns us, too.
                if status.and_then(Value::as_str) != Some("notLoaded") {
                    self.join(id, cx.out);
                }
            }
            "warning" => return self.warned(params, cx.out),
            _ => {}
        }
        let Some(thread) = self.thread(id, cx.out) else {
            return;
        };
        let known = match method {
            "serverRequest/resolved" => {
                if let Some(request) = params.get("requestId") {
                    thread.resolved(request, cx);
                }
                true
            }
            method => thread.notified(method, params, cx),
        };
        if known && thread.in_turn() {
            self.last = Some(id.to_owned());
        }
        self.tell_reason(id, cx.out);
        if !known {
            let item = params.get("item").and_then(|item| item.get("type"));
            let kind = item.and_then(Value::as_str).unwrap_or(method).to_owned();
            self.not_known(&kind, cx.out);
        }
    }

    /// Handles a notification about no thread.
    fn announced(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        out: &mut Vec<DialectOutput>,
    ) {
        match method {
            "warning" | "configWarning" | "deprecationNotice" => self.warned(params, out),
            other => self.not_known(other, out),
        }
    }

    fn warned(&mut self, params: &Map<String, Value>, out: &mut Vec<DialectOutput>) {
        let words = text(params, "message").or_else(|| text(params, "summary"));
        let words = event_writer::cut(words.unwrap_or_default(), 1000);
        if !words.trim().is_empty() && self.is_new(&words) {
            let words = PhraseArg::Agent(words);
            out.push(DialectOutput::Detail(
                Phrase::new("codex.warning").with("words", words),
            ));
        }
    }

    fn requested(
        &mut self,
        thread: &str,
        id: &Id,
        method: &str,
        params: &Map<String, Value>,
        cx: &mut Cx<'_>,
    ) {
        if !approvals::is_for_a_person(method) {
            // Every client gets the same request, and the first answer counts: our refusal would take it from a client
            // that can carry it out.
            if self.is_new(method) {
                let method = PhraseArg::Name(method.to_owned());
                cx.out.push(DialectOutput::Detail(
                    Phrase::new("codex.left_to_others").with("method", method),
                ));
            }
            return;
        }
        let asked = self
            .thread(thread, cx.out)
            .is_some_and(|thread| thread.on_request(id, method, params, cx));
        if asked {
            self.last = Some(thread.to_owned());
        } else if self.only.as_ref().is_none_or(|only| only == thread) {
            // It stays open: it is not decided here, but other clients can decide it.
            let method = PhraseArg::Name(method.to_owned());
            cx.out.push(DialectOutput::Announce(
                Phrase::new("codex.not_asked").with("method", method),
            ));
        }
    }

    /// Records a text that is reported only once; returns whether it is new.
    pub(super) fn is_new(&mut self, text: &str) -> bool {
        let text = event_writer::cut(text, 200);
        if self.reported_phrases.len() >= MOST_TOLD && !self.reported_phrases.contains(&text) {
            return false;
        }
        self.reported_phrases.insert(text)
    }

    fn not_known(&mut self, kind: &str, out: &mut Vec<DialectOutput>) {
        if !is_quiet(kind) && self.is_new(kind) {
            let kind = PhraseArg::Name(kind.to_owned());
            out.push(DialectOutput::Detail(
                Phrase::new("acp.unknown").with("kind", kind),
            ));
        }
    }

    /// Handles the loss of the connection, or its end.
    fn lost(&mut self, fault: &Fault, over: bool, cx: &mut Cx<'_>) {
        self.phase = if over {
            ContactPhase::Over
        } else {
            ContactPhase::Unmet
        };
        self.looks = 0;
        for asked in self.pending_requests.forget() {
            if let CodexRequest::Overrule {
                thread, request, ..
            } = &asked
            {
                self.overruling_lost(thread, *request, fault, cx.out);
            }
            if let CodexRequest::Stop(id) = asked
                && let Some((turn, _)) = self.threads.get_mut(&id).and_then(Thread::announced_turn)
            {
                // The turn can be stopped again.
                turn.stopping = false;
                cx.out
                    .push(DialectOutput::Announce(Phrase::new("codex.stop_lost")));
            }
        }
        if std::mem::take(&mut self.unanswered) > 0 {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("codex.prompt_lost")));
        }
        for thread in self.threads.values_mut() {
            thread.lost(fault, cx);
            if over {
                thread.leave_reviews(cx);
                thread.leave_run(TurnEnd::Gone, cx);
            }
        }
    }
}

/// Returns the id of a thread's agent.
pub(super) fn agent(thread: &str) -> String {
    event_writer::id("codex-", thread)
}

/// Returns the id of the thread that a message is about.
fn of_thread(params: &Map<String, Value>) -> Option<String> {
    let thread = params.get("thread").and_then(Value::as_object);
    let id = text(params, "threadId").or_else(|| thread.and_then(|thread| text(thread, "id")));
    id.map(str::to_owned)
}

/// Returns whether a kind of message is of no interest by itself.
fn is_quiet(method: &str) -> bool {
    let groups = [
        "thread/",
        "account/",
        "mcpServer/",
        "skills/",
        "remoteControl/",
        "app/",
        "fs/",
        "hook/",
        "model/",
        "modelProvider/",
        "project/",
        "process/",
        "command/",
        "rawResponse",
        "externalAgentConfig/",
        "fuzzyFileSearch/",
        "windows",
        "item/autoApprovalReview/",
        "autoApprovalReview/",
    ];
    let single = [
        "turn/diff/updated",
        "turn/moderationMetadata",
        "item/mcpToolCall/progress",
        "item/commandExecution/terminalInteraction",
        "item/fileChange/outputDelta",
    ];
    groups.iter().any(|group| method.starts_with(group)) || single.contains(&method)
}

impl Dialect for Codex {
    fn on_up(&mut self, cx: &mut Cx<'_>) {
        if self.phase == ContactPhase::Unmet && !self.listens {
            self.phase = ContactPhase::Greeted;
            let info = json!({"name": "hearken", "title": "hearken", "version": env!("CARGO_PKG_VERSION")});
            let params = json!({"clientInfo": info});
            self.ask(CodexRequest::Greeting, "initialize", &params, cx.out);
        }
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        self.frame(&frame.text, cx);
    }

    fn on_sent(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) {
        if RequestNumbers::is_own(request) {
            return;
        }
        let mut settled = None;
        for thread in self.threads.values_mut() {
            if thread.replied(request, outcome, cx) {
                settled = Some(thread.id.clone());
                break;
            }
        }
        // If no thread matches, the turn is over, and the answer was settled then.
        if let Some(id) = settled {
            self.tell_reason(&id, cx.out);
        }
    }

    fn on_down(&mut self, down: ConnectionLoss<'_>, cx: &mut Cx<'_>) {
        match down {
            ConnectionLoss::Lost(fault) => self.lost(fault, false, cx),
            ConnectionLoss::Failed(fault) => self.lost(fault, true, cx),
            ConnectionLoss::Ended => self.lost(&Fault::Closed, true, cx),
        }
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        if self.overrules(request, reply, cx) {
            return;
        }
        for thread in self.threads.values_mut() {
            if thread.reply(request, reply, cx) {
                return;
            }
        }
        cx.out.push(DialectOutput::Settled {
            request,
            outcome: Err(DeliveryFailure::Kept(Fault::OneWay)),
        });
    }

    fn on_person_request(&mut self, wish: &PersonRequest, cx: &mut Cx<'_>) {
        self.wish_of(None, wish, cx);
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        let ids: Vec<String> = self.threads.keys().cloned().collect();
        for id in ids {
            let Some(thread) = self.threads.get_mut(&id) else {
                continue;
            };
            thread.tick(cx);
            match thread.joined {
                JoinProgress::Later(at) if at <= cx.now.monotonic => self.join(&id, cx.out),
                JoinProgress::CatchingUp { until, .. } if until <= cx.now.monotonic => {
                    self.caught_up(&id, None, false, cx);
                }
                JoinProgress::Later(_)
                | JoinProgress::CatchingUp { .. }
                | JoinProgress::Not
                | JoinProgress::Asked
                | JoinProgress::Errand
                | JoinProgress::Yes => {}
            }
        }
    }

    fn deadline(&self) -> Option<Duration> {
        self.threads.values().filter_map(Thread::deadline).min()
    }

    fn connection(&self) -> Connection {
        Connection {
            takes_prompts: self.phase == ContactPhase::Met && self.conversations() > 0,
            in_turn: self.unanswered > 0 || self.threads.values().any(Thread::in_turn),
            is_stopping: self.threads.values().any(Thread::is_stopping),
            converses: true,
            when_left: LeaveOutcome::Open,
            ..Connection::default()
        }
    }
}
