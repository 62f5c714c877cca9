//! One conversation: its turn, which of its texts were announced, and its prompts.
//!
//! Responsibilities: what its events do to its turn, prompts that wait, whose prompt began a turn. Not here: what is
//! sent (`client`), announcing a turn (`kit::turn`), building questions (`questions`).
//!
//! Mental model: a turn lasts from the report that the conversation works to the report that it is idle. The prompt
//! that began it comes before; prompts that come meanwhile belong to it. Events after the end begin nothing. The
//! subagents of a conversation are no conversations of their own: their calls and questions are announced in its turn;
//! what they write is for the agent and is not announced.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::event_writer;
use crate::kit::turn::{EventContext, Turn};
use crate::kit::turn_end::TurnEnd;
use crate::kit::turn_updates::{CallNews, CallStatus, Update};
use crate::link::{Phrase, PhraseArg};
use crate::protocol::Now;
use crate::{Cx, DialectOutput, QuestionEnd};

use super::messages::{ConversationActivity, MessageInfo, MessagePart, OpencodeFailure};
use super::questions::QuestionForm;
use crate::kit::announced_parts::ConversationParts;

/// How many messages of people, finished requests and calls are remembered.
const MOST: usize = 256;
/// How many prompts may wait; a person writing ahead writes a few.
pub const MOST_HELD: usize = 16;

/// How long a turn may take to begin after its prompt was accepted: it is reported immediately unless something failed.
const BEGINS: Duration = Duration::from_secs(30);

/// The messages of a conversation, the oldest first, each with its parts.
pub type MessageLog = Vec<(MessageInfo, Vec<MessagePart>)>;

/// Whether a turn is expected for the last prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnExpectation {
    /// No turn is expected: it has begun, or nothing was sent that could begin one.
    Not,
    /// It is not known yet whether the prompt was accepted.
    Sent,
    /// The prompt was accepted, and a turn should begin before this time.
    By(Duration),
}

/// One conversation.
#[derive(Debug)]
pub struct OpencodeConversation {
    /// Its name on the server.
    pub id: String,
    /// Its turn.
    pub turn: Option<Turn>,
    /// The writer of its events.
    pub teller: EventContext,
    /// The requests for answers in words, by name, with the answers so far.
    pub forms: BTreeMap<String, QuestionForm>,
    /// The prompts to send when the current turn is over.
    pub held_prompts: VecDeque<String>,
    /// The prompts that were sent but did not come back as messages yet.
    pub ours: VecDeque<String>,
    /// Whether a turn is expected for the last prompt.
    begins: TurnExpectation,
    /// The prompts that it no longer waits for, but that may still come back.
    late: VecDeque<String>,
    /// The exact arguments of each call while it runs.
    pub(super) inputs: BTreeMap<String, Map<String, Value>>,
    /// The requests that are over: they are never asked again.
    pub(super) done: VecDeque<String>,
    parts: ConversationParts,
    persons: VecDeque<String>,
    /// The prompt of the next turn.
    next: Option<String>,
    failure: Option<OpencodeFailure>,
    retry: String,
}

impl OpencodeConversation {
    /// Creates the record of a conversation.
    pub fn new(id: &str, teller: EventContext) -> Self {
        Self {
            id: id.to_owned(),
            turn: None,
            teller,
            forms: BTreeMap::new(),
            held_prompts: VecDeque::new(),
            ours: VecDeque::new(),
            begins: TurnExpectation::Not,
            late: VecDeque::new(),
            inputs: BTreeMap::new(),
            done: VecDeque::new(),
            parts: ConversationParts::default(),
            persons: VecDeque::new(),
            next: None,
            failure: None,
            retry: String::new(),
        }
    }

    /// Returns the turn, and begins it if its beginning was not heard.
    pub fn turn(&mut self, cx: &mut Cx<'_>) -> (&mut Turn, &mut EventContext) {
        let teller = &mut self.teller;
        let (id, next) = (&self.id, &mut self.next);
        self.begins = TurnExpectation::Not;
        let turn = self.turn.get_or_insert_with(|| {
            let prompt = next.take();
            let mut turn = Turn::begin(id, prompt.as_deref(), teller, cx);
            turn.will_end();
            turn
        });
        (turn, &mut self.teller)
    }

    /// Applies the conversation's state. The state of a subagent says nothing about the turn.
    pub fn does(&mut self, does: &ConversationActivity, by: &str, cx: &mut Cx<'_>) {
        match does {
            ConversationActivity::Works if by == self.id => {
                self.turn(cx);
            }
            ConversationActivity::Waits(words) if by == self.id => {
                self.turn(cx);
                if self.retry != *words {
                    self.retry.clone_from(words);
                    let words = PhraseArg::Agent(words.clone());
                    cx.out.push(DialectOutput::Announce(
                        Phrase::new("opencode.retry").with("words", words),
                    ));
                }
            }
            ConversationActivity::Nothing if by == self.id => self.rests(cx),
            ConversationActivity::Works
            | ConversationActivity::Waits(_)
            | ConversationActivity::Nothing => {}
        }
    }

    /// Handles the report that the conversation is idle.
    fn rests(&mut self, cx: &mut Cx<'_>) {
        let end = match self.failure.take() {
            None => TurnEnd::Done,
            Some(OpencodeFailure::Stopped) => TurnEnd::Stopped {
                wanted: self.turn.as_ref().is_some_and(|turn| turn.stopping),
            },
            Some(OpencodeFailure::Words(words)) => TurnEnd::Failed(words),
        };
        if self.turn.is_some() {
            // Prompts that did not come back in the turn never will.
            self.ours.clear();
            self.late.clear();
        }
        self.end(end, cx);
    }

    /// Ends the turn and closes its open questions.
    pub fn end(&mut self, end: TurnEnd, cx: &mut Cx<'_>) {
        let Some(mut turn) = self.turn.take() else {
            return;
        };
        let how = match turn.stopping {
            true => QuestionEnd::Stopped,
            false => QuestionEnd::TakenBack,
        };
        for request in turn.close(how, &mut self.teller, cx) {
            self.is_done(&request);
        }
        self.forms.clear();
        self.inputs.clear();
        self.retry.clear();
        turn.end(end);
        turn.finish(&mut self.teller, cx);
    }

    /// Records that a request is over.
    pub fn is_done(&mut self, request: &str) {
        self.forms.remove(request);
        if self.done.len() == MOST {
            self.done.pop_front();
        }
        self.done.push_back(request.to_owned());
    }

    /// Handles a new or changed message.
    pub fn message(&mut self, message: &MessageInfo) {
        if message.is_persons {
            self.note_person(&message.id);
            return;
        }
        self.teller.writer.model(message.model.as_deref());
        if let Some(failure) = message.failure.clone().filter(|_| self.turn.is_some()) {
            self.failure = Some(failure);
        }
    }

    fn note_person(&mut self, message: &str) {
        if self.persons.iter().any(|known| known == message) {
            return;
        }
        if self.persons.len() == MOST {
            self.persons.pop_front();
        }
        self.persons.push_back(message.to_owned());
    }

    /// Handles a failure in the turn, or before one could begin.
    pub fn failed(&mut self, failure: OpencodeFailure, out: &mut Vec<DialectOutput>) {
        if self.turn.is_some() {
            self.failure = Some(failure);
            return;
        }
        let OpencodeFailure::Words(words) = failure else {
            // The stop of a turn that is already over.
            return;
        };
        let key = match self.ours.is_empty() {
            true => "opencode.complaint",
            false => "opencode.no_turn",
        };
        (self.next, self.begins) = (None, TurnExpectation::Not);
        self.ours.clear();
        let words = PhraseArg::Agent(words);
        out.push(DialectOutput::Announce(
            Phrase::new(key).with("words", words),
        ));
    }

    /// Returns a call's name within the conversation: subagents may use the same names for their calls.
    pub(super) fn call_name(&self, by: &str, call: &str) -> String {
        match by == self.id {
            true => call.to_owned(),
            false => format!("{by} {call}"),
        }
    }

    /// Keeps the arguments of a call until it is over.
    fn note_inputs(&mut self, news: &CallNews, inputs: Map<String, Value>) {
        if matches!(
            news.status,
            Some(CallStatus::Completed | CallStatus::Failed | CallStatus::Ended)
        ) {
            self.inputs.remove(&news.id);
        } else if !inputs.is_empty()
            && (self.inputs.len() < MOST || self.inputs.contains_key(&news.id))
        {
            self.inputs.insert(news.id.clone(), inputs);
        }
    }

    /// Handles a part of a message, from the conversation itself or a subagent.
    pub fn part(&mut self, part: MessagePart, by: &str, cx: &mut Cx<'_>) {
        let own = by == self.id;
        match part {
            MessagePart::Text {
                id,
                message,
                text,
                is_made,
            } => {
                if !own {
                    return;
                }
                if self.persons.contains(&message) {
                    self.asked_to(&id, &text, is_made, cx.out);
                } else if !is_made && self.turn.is_some() {
                    let rest = self.parts.unannounced_text(&id, &text).to_owned();
                    self.says(&id, rest, cx);
                }
            }
            MessagePart::Thinks(id) => {
                self.parts.thinks(&id);
                if own {
                    self.update(Update::Thinks, cx);
                }
            }
            MessagePart::Calls(mut news, inputs) => {
                if self.turn.is_none() {
                    return;
                }
                news.id = self.call_name(by, &news.id);
                self.note_inputs(&news, inputs);
                self.update(Update::Calls(news), cx);
            }
            MessagePart::Quiet => {}
        }
    }

    /// Handles more text of a part.
    pub fn more(&mut self, part: &str, text: String, by: &str, cx: &mut Cx<'_>) {
        if by == self.id && self.turn.is_some() && self.parts.more(part, &text) {
            self.says(part, text, cx);
        }
    }

    fn says(&mut self, part: &str, text: String, cx: &mut Cx<'_>) {
        let message = Some(part.to_owned());
        self.update(Update::Says { message, text }, cx);
    }

    /// Applies an update to the current turn; without one, the update is ignored.
    pub fn update(&mut self, update: Update, cx: &mut Cx<'_>) {
        if let Some(turn) = &mut self.turn {
            turn.update(update, &mut self.teller, cx);
        }
    }

    /// Handles a person's prompt: this person's, or another client's.
    fn asked_to(&mut self, part: &str, text: &str, is_made: bool, out: &mut Vec<DialectOutput>) {
        // It comes again whenever something about its message changes.
        if is_made || text.trim().is_empty() || self.parts.unannounced_text(part, text).is_empty() {
            return;
        }
        let is_ours = [&mut self.ours, &mut self.late].into_iter().any(|sent| {
            let at = sent.iter().position(|own| own.trim() == text.trim());
            at.and_then(|at| sent.remove(at)).is_some()
        });
        let begins = self.turn.is_none() && self.next.is_none();
        let key = match (is_ours, begins) {
            (true, _) => None,
            (false, true) => Some("opencode.prompted"),
            (false, false) => Some("opencode.prompted_too"),
        };
        if let Some(key) = key {
            let words = PhraseArg::Agent(event_writer::short(text));
            out.push(DialectOutput::Announce(
                Phrase::new(key).with("words", words),
            ));
        }
        if begins {
            self.next = Some(text.to_owned());
        }
    }

    /// Joins an active turn: its prompt is the latest message of a person, and earlier text is not announced.
    pub fn joins(&mut self, written: MessageLog, cx: &mut Cx<'_>) {
        for (message, parts) in &written {
            self.message(message);
            for part in parts {
                if let MessagePart::Text {
                    id, text, is_made, ..
                } = part
                {
                    if message.is_persons && !is_made && !text.trim().is_empty() {
                        self.next = Some(text.clone());
                    }
                    self.parts.pass_over(id, text);
                }
            }
        }
        self.ours.clear();
        self.turn(cx);
        for part in written.into_iter().flat_map(|(_, parts)| parts) {
            match part {
                MessagePart::Thinks(id) => self.parts.thinks(&id),
                // Calls that are over were over before.
                MessagePart::Calls(news, inputs) if news.is_under_way() => {
                    self.note_inputs(&news, inputs);
                    self.update(Update::Calls(news), cx);
                }
                MessagePart::Text { .. } | MessagePart::Calls(..) | MessagePart::Quiet => {}
            }
        }
    }

    /// Announces what was written meanwhile, if the turn is still the same as before.
    pub fn goes_on(&mut self, written: MessageLog, cx: &mut Cx<'_>) {
        let is_known =
            |(message, _): &(MessageInfo, Vec<MessagePart>)| self.persons.contains(&message.id);
        let begins = written.iter().rposition(is_known).unwrap_or(written.len());
        for (message, parts) in written.into_iter().skip(begins) {
            let known = self.persons.contains(&message.id);
            self.message(&message);
            let id = self.id.clone();
            for part in parts {
                if !known {
                    self.part(part, &id, cx);
                }
            }
        }
    }

    /// Records that text may be missed from now on.
    pub fn interrupt(&mut self) {
        self.parts.interrupt();
    }

    /// Records that a prompt is being sent.
    pub fn sends(&mut self, prompt: &str) {
        self.ours.push_back(prompt.to_owned());
        self.begins = TurnExpectation::Sent;
    }

    /// Records that the prompt was accepted: a turn should begin unless one has.
    pub fn accepts(&mut self, now: Now) {
        if self.begins == TurnExpectation::Sent {
            self.begins = TurnExpectation::By(now.monotonic + BEGINS);
        }
    }

    /// Records that the prompt was not accepted, or perhaps not: no turn is expected.
    pub fn declines(&mut self, prompt: &str) {
        self.ours.retain(|own| own != prompt);
        self.begins = TurnExpectation::Not;
    }

    /// Records that the connection was lost: whatever happened to a prompt, no turn is expected.
    pub fn is_lost(&mut self) {
        self.ours.clear();
        self.begins = TurnExpectation::Not;
        self.interrupt();
    }

    /// Returns by when a turn should have begun.
    pub fn begins_by(&self) -> Option<Duration> {
        match self.begins {
            TurnExpectation::By(at) => Some(at),
            TurnExpectation::Sent | TurnExpectation::Not => None,
        }
    }

    /// Checks the timer; returns whether the time for a turn to begin has run out.
    pub fn is_over_time(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.begins_by().is_none_or(|at| cx.now.monotonic < at) {
            return false;
        }
        self.gives_up();
        cx.out.push(DialectOutput::Announce(Phrase::new(
            match self.held_prompts.is_empty() {
                true => "opencode.not_begun",
                false => "opencode.not_begun.next",
            },
        )));
        true
    }

    /// Returns whether a turn is under way or expected.
    pub fn is_at_work(&self) -> bool {
        self.turn.is_some() || self.begins != TurnExpectation::Not
    }

    /// Returns whether its turn was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.stopping)
    }

    /// Stops waiting for a turn that has not begun; its prompt may still come back.
    pub fn gives_up(&mut self) {
        self.begins = TurnExpectation::Not;
        self.late.append(&mut self.ours);
        let most = self.late.len().saturating_sub(MOST_HELD);
        self.late.drain(..most);
    }

    /// Returns whether nothing is pending, so that the conversation can be forgotten.
    pub fn is_idle(&self) -> bool {
        self.turn.is_none()
            && self.held_prompts.is_empty()
            && self.ours.is_empty()
            && self.begins == TurnExpectation::Not
    }
}
