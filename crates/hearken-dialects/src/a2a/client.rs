//! The machine: which task a message is about, and what a request was for.
//!
//! Responsibilities: the card, the known tasks and conversations, the answers to requests, and the end of the link. Not
//! here: a single task (`task`), finding and following tasks (`task_watch`), the person's answers (`answers`), prompts
//! and stops (`prompts`).

use crate::Cx;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::event_writer::{self, EventAgent, EventWriter, cut};
use crate::kit::directory::mixed;
use crate::kit::turn::{EventContext, LeftCalls, Turn};
use crate::kit::turn_end::TurnEnd;
use crate::link::{Cause, Fault, Frame, HttpAnswer, HttpCall, Phrase, PhraseArg};
use crate::protocol::Reply;
use crate::{
    Connection, ConnectionLoss, Dialect, DialectOutput, DialectSetup, ForeignFormat, LeaveOutcome,
    NoEvent, PersonRequest, RequestNumbers, SharedWording, TransportKind,
};

use super::card::{self, AgentCard};
use super::messages::{self, RequestAnswer, ServerReport};
use super::prompts::{SentPrompt, TaskConversation};
use super::task::Task;
use super::task_watch::Listing;

/// The name of this dialect, and of an agent whose card names none.
pub(super) const NAME: &str = "a2a";
/// How many tasks are followed at the same time.
pub(super) const MOST_TASKS: usize = 64;
/// How many requests besides streams may be pending: fewer than the link allows, to leave room for the person's own.
const MOST_CALLS: usize = 12;
/// How many streams a link can have open.
const MOST_STREAMS: usize = 8;

/// Returns the agent name under which a conversation appears.
pub(super) fn agent(context: &str) -> String {
    event_writer::id("a2a_", context)
}

/// The purpose of one of our requests.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TaskRequest {
    /// A page of the list of tasks.
    List,
    /// The current state of a task; with the number of reports heard before the request.
    Get(String, u64),
    /// Everything that a task has, before its end is announced.
    Fetch(String),
    /// The stream of a task; with the number of reports heard before the request.
    Stream(String, u64),
    /// The person's answer to this task.
    Answer(String),
    /// A prompt.
    Prompt(SentPrompt),
    /// Cancelling this task.
    Cancel(String),
}

/// The connection to one server.
#[derive(Debug)]
pub struct A2a {
    pub(super) numbers: RequestNumbers,
    pub(super) words: SharedWording,
    pub(super) listens: bool,
    pub(super) card: Option<AgentCard>,
    /// The followed tasks, by name.
    pub(super) tasks: BTreeMap<String, Task>,
    /// The conversations that can be continued, by name.
    pub(super) talks: BTreeMap<String, TaskConversation>,
    pub(super) pending_requests: BTreeMap<u64, TaskRequest>,
    pub(super) listing: Listing,
    /// The only task that the person wants to follow.
    pub(super) only: Option<String>,
    /// Whether the connection is up.
    pub(super) is_up: bool,
    /// Whether the connection was lost and the open questions have not been confirmed since.
    pub(super) was_lost: bool,
    pub(super) is_over: bool,
    pub(super) heard: u64,
    pub(super) told_full: bool,
    seed: u64,
    made: u64,
    path: String,
    origin: String,
}

impl A2a {
    /// Creates the machine.
    pub fn new(start: DialectSetup) -> Self {
        Self {
            numbers: start.numbers,
            words: start.words,
            listens: start.carrier != TransportKind::EventStream,
            card: None,
            tasks: BTreeMap::new(),
            talks: BTreeMap::new(),
            pending_requests: BTreeMap::new(),
            listing: Listing::default(),
            only: start.conversation,
            is_up: false,
            was_lost: false,
            is_over: false,
            heard: 0,
            told_full: false,
            seed: start.seed,
            made: 0,
            path: start.path,
            origin: start.origin,
        }
    }

    /// Draws a number that is unique in this machine.
    pub(super) fn drawn(&mut self) -> u64 {
        self.made += 1;
        mixed(self.seed, self.made)
    }

    /// Creates a name for one of our messages.
    pub(super) fn message_id(&mut self) -> String {
        let mut half = |odd: u64| {
            let mut z = self.drawn().wrapping_mul(odd);
            z ^= z >> 32;
            z.wrapping_mul(0x94d0_49bb_1331_11eb)
        };
        format!(
            "hearken-{:016x}{:016x}",
            half(0x9e37_79b9_7f4a_7c15),
            half(3)
        )
    }

    /// Returns whether there is room for another request: a stream, or any other.
    pub(super) fn has_room(&self, streams: bool) -> bool {
        let is_stream = |asked: &&TaskRequest| match asked {
            TaskRequest::Stream(..) => true,
            TaskRequest::Prompt(prompted) => prompted.streams,
            TaskRequest::List
            | TaskRequest::Get(..)
            | TaskRequest::Fetch(_)
            | TaskRequest::Answer(_)
            | TaskRequest::Cancel(_) => false,
        };
        let under_way = self.pending_requests.values().filter(is_stream).count();
        match streams {
            true => under_way < MOST_STREAMS,
            false => self.pending_requests.len() - under_way < MOST_CALLS,
        }
    }

    /// Sends a request under a number.
    pub(super) fn request(
        &mut self,
        request: u64,
        what: TaskRequest,
        call: HttpCall,
        out: &mut Vec<DialectOutput>,
    ) {
        self.pending_requests.insert(request, what);
        out.push(DialectOutput::Call { request, call });
    }

    /// Returns a task, and creates it if it is new; `None` if it is over or too many are followed.
    pub(super) fn task(
        &mut self,
        id: &str,
        context: &str,
        joins: bool,
        out: &mut Vec<DialectOutput>,
    ) -> Option<&mut Task> {
        self.heard += 1;
        let heard = self.heard;
        if !self.tasks.contains_key(id) {
            if self.listing.is_seen(id) {
                return None;
            }
            if self.tasks.len() >= MOST_TASKS {
                if !std::mem::replace(&mut self.told_full, true) {
                    let n = PhraseArg::Own(MOST_TASKS.to_string());
                    out.push(DialectOutput::Announce(
                        Phrase::new("a2a.too_many").with("n", n),
                    ));
                }
                return None;
            }
            let is_unnamed = context.is_empty();
            let context = if is_unnamed { id } else { context };
            self.talk(context);
            if let Some(talk) = self.talks.get_mut(context) {
                talk.is_unnamed = is_unnamed;
            }
            let name = self.card.as_ref().map_or(NAME, |card| card.name.as_str());
            let agent = EventAgent {
                id: agent(context),
                name: name.to_owned(),
                model: None,
            };
            let seed = self.drawn();
            let teller = EventContext {
                writer: EventWriter::new(NAME, agent, seed),
                words: self.words.clone(),
                folder: String::new(),
                answerable: !self.listens,
                left: LeftCalls::default(),
            };
            let task = Task::new(id, context, teller, joins);
            self.tasks.insert(id.to_owned(), task);
        }
        let task = self.tasks.get_mut(id)?;
        task.heard = heard;
        let context = task.context.clone();
        self.talk(&context);
        self.tasks.get_mut(id)
    }

    fn frame(&mut self, frame: &str, cx: &mut Cx<'_>) {
        if self.listens && !card::is_card(frame) {
            return self.overheard(frame, cx);
        }
        let origin = match self.listens {
            // Nothing is sent on this link, so the origin does not matter.
            true => None,
            false => Some(self.origin.as_str()),
        };
        match card::read(frame, origin) {
            Ok(card) => {
                let is_new = self
                    .card
                    .as_ref()
                    .is_none_or(|known| known.name != card.name);
                if is_new && !self.listens {
                    let name = PhraseArg::Name(card.name.clone());
                    cx.out.push(DialectOutput::Announce(
                        Phrase::new("a2a.attached").with("name", name),
                    ));
                }
                self.card = Some(card);
                if !self.is_up && !self.listens {
                    self.is_up = true;
                    self.begin(cx);
                }
            }
            Err(reason) => {
                self.gone(cx);
                self.close(reason, cx.out);
            }
        }
    }

    fn close(&mut self, reason: Phrase, out: &mut Vec<DialectOutput>) {
        out.push(DialectOutput::Close(Fault::Rejected {
            reason,
            retry_after: None,
            again: false,
        }));
    }

    /// Handles a text that was recorded elsewhere.
    fn overheard(&mut self, text: &str, cx: &mut Cx<'_>) {
        let news = match messages::answer(text) {
            RequestAnswer::Result(result) => messages::news(&result),
            RequestAnswer::Refused(..) | RequestAnswer::Unread => None,
        };
        match news {
            Some(news) => {
                self.tells(news, cx);
            }
            None => cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::Typed),
                1,
            )),
        }
    }

    /// Applies a report to its task and returns the task's name; `None` for an answer without a task.
    pub(super) fn tells(&mut self, news: ServerReport, cx: &mut Cx<'_>) -> Option<String> {
        let (id, context) = match &news {
            ServerReport::Task(task) => (task.id.clone(), task.context.clone()),
            ServerReport::Status { task, context, .. }
            | ServerReport::Artifact { task, context, .. } => (task.clone(), context.clone()),
            ServerReport::Message { .. } => return None,
        };
        let task = self.task(&id, &context, false, cx.out)?;
        match news {
            ServerReport::Task(whole) => task.apply(whole, cx),
            ServerReport::Status { status, .. } => task.status(status, cx),
            ServerReport::Artifact {
                artifact, append, ..
            } => task.artifact(artifact, append, cx),
            ServerReport::Message { .. } => {}
        }
        task.look.stirs += 1;
        self.fetch(&id, cx);
        self.rests(&id, cx.out);
        Some(id)
    }

    /// Forgets a task that is over, and sends the prompts that waited for its end.
    pub(super) fn rests(&mut self, id: &str, out: &mut Vec<DialectOutput>) {
        let Some(task) = self.tasks.get(id).filter(|task| task.is_over) else {
            return;
        };
        let context = task.context.clone();
        self.tasks.remove(id);
        self.listing.see(id);
        self.told_full = false;
        self.send_held(&context, out);
    }

    /// Handles an event of a stream that answers one of our requests.
    fn piece(&mut self, request: u64, text: &str, cx: &mut Cx<'_>) {
        let Some(asked) = self.pending_requests.get(&request).cloned() else {
            return;
        };
        match messages::answer(text) {
            RequestAnswer::Result(result) => match messages::news(&result) {
                Some(news) => self.streamed(request, asked, news, cx),
                None => cx.out.push(DialectOutput::Unread(
                    NoEvent::Foreign(ForeignFormat::Typed),
                    1,
                )),
            },
            // A server may open a stream before it refuses the request.
            RequestAnswer::Refused(..) => {
                self.pending_requests.remove(&request);
                let answer = HttpAnswer {
                    status: 200,
                    location: None,
                    retry_after: None,
                    body: text.to_owned(),
                };
                self.carried_out(request, asked, &Ok(answer), cx);
            }
            RequestAnswer::Unread => cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::Typed),
                1,
            )),
        }
    }

    fn streamed(&mut self, request: u64, asked: TaskRequest, news: ServerReport, cx: &mut Cx<'_>) {
        match asked {
            TaskRequest::Stream(id, _) => {
                // If two streams report the same task, only the first is heard.
                let follows = self
                    .tasks
                    .get(&id)
                    .is_some_and(|it| it.look.stream == Some(request));
                if follows {
                    self.tells(news, cx);
                    self.settle_back(&id, cx.out);
                }
            }
            TaskRequest::Prompt(prompted) => self.prompt_begins(request, prompted, news, cx),
            // These have no streams.
            TaskRequest::List
            | TaskRequest::Get(..)
            | TaskRequest::Fetch(_)
            | TaskRequest::Answer(_)
            | TaskRequest::Cancel(_) => {}
        }
    }

    /// Handles the outcome of one of our requests.
    fn carried_out(
        &mut self,
        request: u64,
        asked: TaskRequest,
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        if let Ok(HttpAnswer {
            status: status @ (401 | 403),
            ..
        }) = outcome
        {
            if let TaskRequest::Answer(id) = asked {
                self.answer_went(request, &id, outcome, cx);
            }
            self.gone(cx);
            return cx.out.push(DialectOutput::Close(Fault::Status {
                status: *status,
                retry_after: None,
            }));
        }
        match asked {
            TaskRequest::List => self.listed(outcome, cx),
            TaskRequest::Get(id, stirs) => self.looked(&id, stirs, outcome, cx),
            TaskRequest::Fetch(id) => self.fetched(&id, outcome, cx),
            TaskRequest::Stream(id, stirs) => self.stream_ended(request, &id, stirs, outcome, cx),
            TaskRequest::Answer(id) => self.answer_went(request, &id, outcome, cx),
            TaskRequest::Prompt(prompted) => self.prompt_went(prompted, outcome, cx),
            TaskRequest::Cancel(id) => self.cancel_went(&id, outcome, cx),
        }
    }

    /// Ends everything that can no longer be followed.
    fn gone(&mut self, cx: &mut Cx<'_>) {
        self.is_over = true;
        self.is_up = false;
        for task in self.tasks.values_mut() {
            task.end(TurnEnd::Gone, cx);
        }
        self.tasks.clear();
        let held = self.talks.values_mut();
        let unsent: usize = held
            .map(|talk| std::mem::take(&mut talk.held_prompts).len())
            .sum();
        if unsent > 0 {
            let n = PhraseArg::Own(unsent.to_string());
            cx.out.push(DialectOutput::Announce(
                Phrase::new("prompt.unsent").with("n", n),
            ));
        }
    }
}

/// Returns the fault for a request refused with these words.
pub(super) fn refusal(words: &str) -> Fault {
    Fault::Rejected {
        reason: Phrase::new("a2a.refused").with("words", PhraseArg::Agent(cut(words, 400))),
        retry_after: None,
        again: false,
    }
}

impl Dialect for A2a {
    fn on_connecting(&mut self, cx: &mut Cx<'_>) {
        self.is_up = false;
        cx.out
            .push(DialectOutput::Follow(card::document(&self.path)));
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        if !self.is_over {
            self.frame(&frame.text, cx);
        }
    }

    fn on_piece(&mut self, request: u64, text: &str, cx: &mut Cx<'_>) {
        self.piece(request, text, cx);
    }

    fn on_answer(&mut self, request: u64, outcome: &Result<HttpAnswer, Fault>, cx: &mut Cx<'_>) {
        if let Some(asked) = self.pending_requests.remove(&request) {
            self.carried_out(request, asked, outcome, cx);
        }
    }

    fn on_dropped(&mut self, cx: &mut Cx<'_>) {
        self.look_again(cx.now);
    }

    fn on_down(&mut self, down: ConnectionLoss<'_>, cx: &mut Cx<'_>) {
        match down {
            ConnectionLoss::Lost(_) => {
                self.is_up = false;
                self.was_lost = true;
                for task in self.tasks.values_mut() {
                    task.interrupt();
                }
            }
            ConnectionLoss::Failed(fault) => {
                self.gone(cx);
                let is_none = matches!(
                    fault,
                    Fault::Status { status: 404, .. } | Fault::Unusable(Cause::NoDocument)
                );
                if is_none {
                    self.close(Phrase::new("a2a.no_card"), cx.out);
                }
            }
            ConnectionLoss::Ended => self.gone(cx),
        }
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        self.answer(request, reply, cx.out);
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
        for task in self.tasks.values_mut() {
            if let Some(turn) = &mut task.turn {
                turn.tick(&mut task.teller, cx);
            }
        }
        self.look_at_what_is_due(cx);
        self.fetch_what_is_due(cx);
    }

    fn deadline(&self) -> Option<Duration> {
        let turns = self.tasks.values().filter_map(|it| it.turn.as_ref());
        let turns = turns.filter_map(Turn::deadline);
        turns.chain(self.next_look()).chain(self.next_fetch()).min()
    }

    fn connection(&self) -> Connection {
        Connection {
            takes_prompts: !self.listens && !self.is_over && self.card.is_some(),
            converses: true,
            when_left: LeaveOutcome::Kept,
            in_turn: self.tasks.values().any(|it| it.turn.is_some())
                || self.talks.values().any(|talk| talk.sending),
            is_stopping: self.tasks.values().any(Task::is_stopping),
            ..Connection::default()
        }
    }
}
