//! The machine: what the stream and the answers report, and which conversation each is about.
//!
//! Responsibilities: finding the conversation of each event, the subagents of each conversation, and the bounds. Not
//! here: a single conversation (`conversation`), the requests after connecting (`catch_up`), answers (`decisions`),
//! prompts and stops (`prompts`).

use crate::Cx;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::event_writer::{self, EventAgent, EventWriter};
use crate::kit::directory::Directory;
use crate::kit::turn::{EventContext, LeftCalls, Turn};
use crate::kit::turn_end::TurnEnd;
use crate::kit::turn_updates::Update;
use crate::link::{
    Address, Fault, Frame, HttpAnswer, HttpCall, Phrase, PhraseArg, ServerRoute, Stream,
};
use crate::protocol::Reply;
use crate::{
    Connection, ConnectionLoss, Dialect, DialectOutput, DialectSetup, ForeignFormat, LeaveOutcome,
    NoEvent, PersonRequest, RequestNumbers, SharedWording, TransportKind,
};

use super::catch_up::{CatchUp, CatchUpRequest};
use super::conversation::OpencodeConversation;
use super::messages::{self, OpencodeFailure, ServerEvent, SessionDescription};

/// The name of this dialect, and of its agent.
const NAME: &str = "opencode";
/// The path of the events.
const EVENTS: &str = "/event";
/// How many conversations are followed at the same time.
const MOST: usize = 64;
/// How many subagents are remembered.
const MOST_HELPERS: usize = 512;
/// How many levels of subagents a conversation may have.
const DEEPEST: usize = 8;
/// How many unknown kinds of events are reported, each once.
const MOST_UNKNOWN: usize = 64;
/// How long the stream may take to open. Usually it opens immediately, but a server that is still starting accepts the
/// request and may never answer it.
const MEETS: Duration = Duration::from_secs(5);
/// How many requests may be pending.
const MOST_CALLS: usize = 256;

/// Returns the path of a server, given as its own path or as that of its events.
fn base(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.strip_suffix(EVENTS).unwrap_or(path)
}

/// Returns the agent name under which a conversation appears.
pub(super) fn agent(conversation: &str) -> String {
    event_writer::id("opencode_", conversation)
}

/// Returns the event stream of the server at a path.
pub fn events(path: &str) -> Stream {
    Stream::at(Address::GivenAt(format!("{}{EVENTS}", base(path))))
}

/// The purpose of one of our requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestPurpose {
    /// Catching up.
    Missed(CatchUpRequest),
    /// The person's answer in this conversation to the request of this name.
    Answer(String, String),
    /// A new conversation, for this prompt.
    Opening(String),
    /// This prompt, in this conversation.
    Prompt(String, String),
    /// Stopping the turn of this conversation.
    Stop(String),
}

/// The connection to one server.
#[derive(Debug)]
pub struct Opencode {
    pub(super) numbers: RequestNumbers,
    pub(super) words: SharedWording,
    pub(super) listens: bool,
    pub(super) conversations: Directory<OpencodeConversation>,
    /// The parent of each subagent.
    pub(super) parents: BTreeMap<String, String>,
    pub(super) pending_requests: BTreeMap<u64, RequestPurpose>,
    pub(super) catch_up: Option<CatchUp>,
    /// Whether the connection was lost and the open questions have not been confirmed since.
    pub(super) was_lost: bool,
    pub(super) is_over: bool,
    /// When the stream must be open.
    unmet: Option<Duration>,
    base: String,
    unknown: BTreeSet<String>,
}

impl Opencode {
    /// Creates the machine.
    pub fn new(start: DialectSetup) -> Self {
        Self {
            numbers: start.numbers,
            words: start.words,
            listens: start.carrier != TransportKind::EventStream,
            conversations: Directory::new(MOST, start.seed),
            parents: BTreeMap::new(),
            pending_requests: BTreeMap::new(),
            catch_up: None,
            was_lost: false,
            is_over: false,
            unmet: None,
            base: base(&start.path).to_owned(),
            unknown: BTreeSet::new(),
        }
    }

    /// Sends a request under a new number.
    pub(super) fn call(
        &mut self,
        what: RequestPurpose,
        call: HttpCall,
        out: &mut Vec<DialectOutput>,
    ) -> Option<u64> {
        if self.listens || self.pending_requests.len() >= MOST_CALLS {
            return None;
        }
        let request = self.numbers.fresh();
        self.request(request, what, call, out);
        Some(request)
    }

    /// Sends a request under a given number.
    pub(super) fn request(
        &mut self,
        request: u64,
        what: RequestPurpose,
        call: HttpCall,
        out: &mut Vec<DialectOutput>,
    ) {
        self.pending_requests.insert(request, what);
        let path = format!("{}{}", self.base, call.path);
        let call = HttpCall { path, ..call };
        out.push(DialectOutput::Call { request, call });
    }

    /// Returns the conversation that a session belongs to; a subagent has a session of its own.
    pub(super) fn root(&self, id: &str) -> String {
        let mut root = id;
        for _ in 0..DEEPEST {
            match self.parents.get(root) {
                Some(parent) => root = parent,
                None => break,
            }
        }
        root.to_owned()
    }

    /// Returns whether a session is known.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.conversations.contains_key(id) || self.parents.contains_key(id)
    }

    /// Returns a conversation; a new one replaces a finished one if there are too many. `None` if all are active.
    pub(super) fn conversation(
        &mut self,
        id: &str,
        out: &mut Vec<DialectOutput>,
    ) -> Option<&mut OpencodeConversation> {
        let root = self.root(id);
        let opened = self
            .conversations
            .open(&root, OpencodeConversation::is_idle, |seed| {
                let agent = EventAgent {
                    id: agent(&root),
                    name: NAME.to_owned(),
                    model: None,
                };
                let teller = EventContext {
                    writer: EventWriter::new(NAME, agent, seed),
                    words: self.words.clone(),
                    folder: String::new(),
                    answerable: !self.listens,
                    left: LeftCalls::default(),
                };
                OpencodeConversation::new(&root, teller)
            });
        let full = Phrase::new("opencode.too_many_conversations");
        opened.map_err(|error| error.announce_once(full, out)).ok()
    }

    fn frame(&mut self, frame: &str, cx: &mut Cx<'_>) {
        let Some(news) = messages::event(frame) else {
            return cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::Typed),
                1,
            ));
        };
        match news {
            ServerEvent::Hello => self.begin_to_catch_up(cx.out),
            ServerEvent::About(about) => self.about(about),
            ServerEvent::Deleted(id) => self.deleted(&id, cx),
            ServerEvent::Does(id, does) => {
                if let Some(catch_up) = &mut self.catch_up {
                    catch_up.stirs(&id);
                }
                if let Some(conversation) = self.conversation(&id, cx.out) {
                    conversation.does(&does, &id, cx);
                }
                self.send_held(&id, cx.out);
            }
            ServerEvent::Message(id, message) => {
                let own = self.root(&id) == id;
                if let Some(conversation) = self.conversation(&id, cx.out).filter(|_| own) {
                    conversation.message(&message);
                }
            }
            ServerEvent::Part(id, part) => {
                if let Some(conversation) = self.conversation(&id, cx.out) {
                    conversation.part(part, &id, cx);
                }
            }
            ServerEvent::More {
                conversation: id,
                part,
                text,
            } => {
                if let Some(conversation) = self.conversation(&id, cx.out) {
                    conversation.more(&part, text, &id, cx);
                }
            }
            ServerEvent::Plans(id, plan) => {
                let own = self.root(&id) == id;
                if let Some(conversation) = self.conversation(&id, cx.out).filter(|_| own) {
                    let plan = Update::Plans(plan);
                    conversation.update(plan, cx);
                }
            }
            ServerEvent::Failed(Some(id), failure) => {
                let own = self.root(&id) == id;
                if let Some(conversation) = self.conversation(&id, cx.out).filter(|_| own) {
                    conversation.failed(failure, cx.out);
                    self.send_held(&id, cx.out);
                }
            }
            ServerEvent::Failed(None, failure) => {
                if let OpencodeFailure::Words(words) = failure {
                    let words = PhraseArg::Agent(words);
                    cx.out.push(DialectOutput::Announce(
                        Phrase::new("opencode.complaint").with("words", words),
                    ));
                }
            }
            ServerEvent::Asks(wants) => self.wants(*wants, cx),
            ServerEvent::Wonders(wonders) => self.wonders(wonders, cx),
            ServerEvent::AsksUnread => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("opencode.unread"))),
            ServerEvent::Decided(id, request, allowed) => self.decided(&id, &request, allowed, cx),
            ServerEvent::Quiet => {}
            ServerEvent::Unknown(kind) => {
                if self.unknown.len() < MOST_UNKNOWN && self.unknown.insert(kind.clone()) {
                    let kind = PhraseArg::Name(kind);
                    cx.out.push(DialectOutput::Detail(
                        Phrase::new("acp.unknown").with("kind", kind),
                    ));
                }
            }
        }
    }

    /// Records the description of a session: its parent and its folder.
    pub(super) fn about(&mut self, about: SessionDescription) {
        match about.parent {
            Some(parent) if parent != about.id => {
                if self.parents.len() < MOST_HELPERS || self.parents.contains_key(&about.id) {
                    self.parents.insert(about.id, parent);
                }
            }
            Some(_) | None => {
                let mut out = Vec::new();
                if let Some(conversation) = self.conversation(&about.id, &mut out) {
                    conversation.teller.folder = about.folder;
                }
            }
        }
    }

    fn deleted(&mut self, id: &str, cx: &mut Cx<'_>) {
        self.parents.remove(id);
        if let Some(mut conversation) = self.conversations.remove(id) {
            conversation.end(TurnEnd::Stopped { wanted: false }, cx);
        }
    }

    fn answered(&mut self, request: u64, outcome: &Result<HttpAnswer, Fault>, cx: &mut Cx<'_>) {
        match self.pending_requests.remove(&request) {
            Some(RequestPurpose::Missed(piece)) => self.caught(request, piece, outcome, cx),
            Some(RequestPurpose::Answer(id, name)) => {
                self.answer_went(request, (&id, &name), outcome, cx)
            }
            Some(RequestPurpose::Opening(prompt)) => self.opened(prompt, outcome, cx.out),
            Some(RequestPurpose::Prompt(id, prompt)) => self.prompt_went(&id, &prompt, outcome, cx),
            Some(RequestPurpose::Stop(id)) => self.stop_went(&id, outcome, cx),
            None => {}
        }
    }

    /// Ends everything that can no longer be followed.
    fn gone(&mut self, cx: &mut Cx<'_>) {
        self.is_over = true;
        self.unmet = None;
        let mut unsent = 0;
        for conversation in self.conversations.values_mut() {
            conversation.end(TurnEnd::Gone, cx);
            unsent += std::mem::take(&mut conversation.held_prompts).len();
        }
        if unsent > 0 {
            let n = PhraseArg::Own(unsent.to_string());
            cx.out.push(DialectOutput::Announce(
                Phrase::new("prompt.unsent").with("n", n),
            ));
        }
    }
}

impl Dialect for Opencode {
    fn on_connecting(&mut self, cx: &mut Cx<'_>) {
        cx.out.push(DialectOutput::Follow(events(&self.base)));
        self.unmet = Some(cx.now.monotonic + MEETS).filter(|_| !self.listens);
    }

    fn on_up(&mut self, _: &mut Cx<'_>) {
        self.unmet = None;
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        self.frame(&frame.text, cx);
    }

    fn on_answer(&mut self, request: u64, outcome: &Result<HttpAnswer, Fault>, cx: &mut Cx<'_>) {
        self.answered(request, outcome, cx);
    }

    fn on_dropped(&mut self, cx: &mut Cx<'_>) {
        for conversation in self.conversations.values_mut() {
            conversation.interrupt();
        }
        self.begin_to_catch_up(cx.out);
    }

    fn on_down(&mut self, down: ConnectionLoss<'_>, cx: &mut Cx<'_>) {
        match down {
            ConnectionLoss::Lost(_) => {
                self.was_lost = true;
                self.unmet = None;
                self.catch_up = None;
                for conversation in self.conversations.values_mut() {
                    conversation.is_lost();
                }
            }
            ConnectionLoss::Failed(fault) => {
                self.gone(cx);
                if let Fault::Status { status: 401, .. } = fault {
                    cx.out.push(DialectOutput::Close(Fault::Rejected {
                        reason: Phrase::new("opencode.password"),
                        retry_after: None,
                        again: false,
                    }));
                }
            }
            ConnectionLoss::Ended => self.gone(cx),
        }
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        self.answer(request, reply, cx);
    }

    fn on_person_request(&mut self, wish: &PersonRequest, cx: &mut Cx<'_>) {
        match wish {
            PersonRequest::Prompt(prompt) => self.prompt(prompt, cx.out),
            PersonRequest::Stop => self.stop(cx.out),
            PersonRequest::Abandon => self.abandon(cx),
            PersonRequest::Set(_) => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("settings.none"))),
            PersonRequest::ForAgent(agent, wish) => self.wish_of(agent, wish, cx),
            // The protocol has no words for how a person wants to be addressed.
            PersonRequest::Terms(_) => {}
        }
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        if self.unmet.take_if(|at| *at <= cx.now.monotonic).is_some() {
            // The stream is requested again.
            cx.out.push(DialectOutput::ChangeWay(ServerRoute::AsGiven));
        }
        for conversation in self.conversations.values_mut() {
            if let Some(turn) = &mut conversation.turn {
                turn.tick(&mut conversation.teller, cx);
            }
        }
        let over_time: Vec<String> = (self.conversations.iter_mut())
            .filter_map(|(id, it)| it.is_over_time(cx).then(|| id.clone()))
            .collect();
        for id in over_time {
            self.send_held(&id, cx.out);
        }
    }

    fn deadline(&self) -> Option<Duration> {
        let turns = self
            .conversations
            .values()
            .filter_map(|it| it.turn.as_ref());
        let begin = self
            .conversations
            .values()
            .filter_map(OpencodeConversation::begins_by);
        (turns.filter_map(Turn::deadline).chain(begin))
            .chain(self.unmet)
            .min()
    }

    fn connection(&self) -> Connection {
        Connection {
            takes_prompts: !self.listens && !self.is_over,
            converses: true,
            when_left: LeaveOutcome::Open,
            in_turn: self
                .conversations
                .values()
                .any(OpencodeConversation::is_at_work),
            is_stopping: self
                .conversations
                .values()
                .any(OpencodeConversation::is_stopping),
            ..Connection::default()
        }
    }
}
