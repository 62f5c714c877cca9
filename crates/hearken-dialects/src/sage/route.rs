//! Which turn of which conversation a message belongs to.
//!
//! Responsibilities: conversations and their machine, the beginning and end of turns, the bounds of both. Not here: a
//! single turn (`turn_events`), answers (`answers`).

use crate::Cx;
use crate::link::{Phrase, PhraseArg};
use crate::protocol::Machine;

use super::super::DialectOutput;
use super::super::event_writer::short;
use super::Sage;
use super::message::{
    self, ConversationEnd, ItemKind, MessageOrigin, MessageSubject, SageItem, SageMessage,
};
use super::message_context::SageContext;
use super::questions::SageQuestions;
use super::state_tables::{AgentEvent, Session, SessionEvent};
use super::turn_events::SageTurn;

/// The phrase of a conversation that goes on after its end.
pub(super) const AFTER_END: &str = "sage.after_end";

/// How many turns are kept; finished ones are dropped first.
const MOST_TURNS: usize = 64;

/// How many conversations are kept; those without a running turn are dropped first.
const MOST_THREADS: usize = 64;

/// A conversation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Thread {
    machine: Session,
    /// Whether its beginning was heard, so that none of it was missed.
    is_complete: bool,
    /// The model in use.
    model: Option<String>,
    /// The prompt of the next turn.
    prompt: Option<String>,
    /// Its latest turn.
    turn: String,
    /// Whether the person was told that it goes on after its end.
    told_after_end: bool,
}

impl Sage {
    /// Handles one message.
    pub(super) fn message(&mut self, message: SageMessage, cx: &mut Cx<'_>) {
        let SageMessage { mut place, says } = message;
        let names_turn = !place.turn.is_empty();
        if place.turn.is_empty()
            && let Some(thread) = self.threads.get(&place.thread)
        {
            place.turn.clone_from(&thread.turn);
        }
        match says {
            MessageSubject::ThreadStarted { model } => {
                let thread = self.thread(&place);
                if thread.machine == Session::Ended {
                    // Begun anew.
                    thread.machine = Session::INITIAL;
                    thread.told_after_end = false;
                }
                thread.model = model.or(thread.model.take());
                thread.is_complete = true;
                self.step_thread(&place, SessionEvent::Initialized, cx);
            }
            MessageSubject::ThreadEnded { by, why } => {
                self.end_thread(&place, by, why.as_deref(), cx)
            }
            MessageSubject::Answered(answered) => self.answered_elsewhere(&place, &answered, cx),
            MessageSubject::Prompt(words) => self.prompt(&place, words, cx),
            MessageSubject::TurnStarted => self.start_turn(&place, cx),
            MessageSubject::TurnEnded(end) => {
                let begun = self.turns.get(&key(&place)).is_some_and(|turn| turn.ended);
                self.step_thread(&place, SessionEvent::AgentComplete, cx);
                if !begun {
                    self.within(&place, cx, |turn, desk, _| turn.end(desk, &end));
                    self.questions.close_turn(&place.thread, &place.turn);
                }
            }
            MessageSubject::Item(item) => self.item(&place, item, cx),
            MessageSubject::Requested(asked) => {
                self.within(&place, cx, |turn, desk, questions| {
                    questions.permission(desk, turn, &place, &asked);
                });
            }
            MessageSubject::Resolved { allowed, changed } => {
                self.resolved(&place, allowed, changed, cx)
            }
            MessageSubject::Response { accepted } => self.response(&place, accepted, "", cx),
            MessageSubject::Error(report) => self.report(&place, report, names_turn, cx),
            MessageSubject::Nothing => {}
        }
    }

    pub(super) fn prompt(&mut self, place: &MessageOrigin, words: String, cx: &mut Cx<'_>) {
        let waits = self.turns.get(&key(place)).is_some_and(|turn| !turn.ended);
        // In a program's line this is the task of the current run; in a request, that of the next turn.
        if place.thread.is_empty() && waits {
            self.within(place, cx, |turn, desk, _| turn.prompt(desk, &words));
        } else {
            self.thread(place).prompt = Some(words);
        }
    }

    pub(super) fn start_turn(&mut self, place: &MessageOrigin, cx: &mut Cx<'_>) {
        if self.thread(place).machine == Session::Initializing {
            // A prompt needs a conversation that is ready.
            self.step_thread(place, SessionEvent::Initialized, cx);
        }
        self.note_after_end(place, cx);
        self.step_thread(place, SessionEvent::Chat, cx);
        let thread = self.thread(place);
        thread.turn.clone_from(&place.turn);
        let prompt = thread.prompt.take();
        let model = thread.model.clone();
        self.writer.model(model.as_deref());
        let runs = self.turns.get(&key(place)).is_some_and(|turn| !turn.ended);
        let mut desk = SageContext::new(&mut self.writer, &mut self.reported_steps, place.at, cx);
        if runs {
            if let Some(turn) = self.turns.get_mut(&key(place)) {
                turn.step(&mut desk, AgentEvent::Execute);
            }
        } else {
            let mut turn = SageTurn::new(&mut desk, &place.thread, &place.turn, false);
            if let Some(words) = prompt {
                turn.prompt(&mut desk, &words);
            }
            self.turns.insert(key(place), turn);
            self.bound_turns();
        }
    }

    /// Ends a conversation, with the turn that runs in it.
    pub(super) fn end_thread(
        &mut self,
        place: &MessageOrigin,
        by: ConversationEnd,
        why: Option<&str>,
        cx: &mut Cx<'_>,
    ) {
        let event = match by {
            ConversationEnd::Ended => SessionEvent::End,
            ConversationEnd::Failed => SessionEvent::Error,
            ConversationEnd::TimedOut => SessionEvent::Timeout,
        };
        self.step_thread(place, event, cx);
        let mut told = by == ConversationEnd::Ended;
        let mut desk = SageContext::new(&mut self.writer, &mut self.reported_steps, place.at, cx);
        let runs = |turn: &&mut SageTurn| turn.thread == place.thread && !turn.ended;
        for turn in self.turns.values_mut().filter(runs) {
            let (how, reason) = match by {
                ConversationEnd::Ended => (message::SageTurnEnd::Interrupted, "thread_ended"),
                ConversationEnd::Failed => (message::SageTurnEnd::Failed, "thread_failed"),
                ConversationEnd::TimedOut => (message::SageTurnEnd::Failed, "thread_timed_out"),
            };
            let end = message::ReportedEnd {
                end_kind: how,
                reason: Some(reason.to_owned()),
                result: why
                    .filter(|_| by != ConversationEnd::Ended)
                    .map(str::to_owned),
                duration_ms: None,
            };
            turn.end(&mut desk, &end);
            told = true;
            self.questions.close_turn(&turn.thread, &turn.name);
        }
        if !told {
            let key = match by {
                ConversationEnd::Ended | ConversationEnd::Failed => "sage.conversation.failed",
                ConversationEnd::TimedOut => "sage.conversation.timed_out",
            };
            let why = PhraseArg::Agent(short(why.unwrap_or_default()));
            desk.announce(Phrase::new(key).with("why", why));
        }
    }

    /// Reports to the person, once, that a conversation goes on although it was ended.
    fn note_after_end(&mut self, place: &MessageOrigin, cx: &mut Cx<'_>) {
        let thread = self.thread(place);
        let over = thread.machine == Session::Ended;
        if over && !std::mem::replace(&mut thread.told_after_end, true) {
            cx.out.push(DialectOutput::Announce(Phrase::new(AFTER_END)));
        }
    }

    pub(super) fn item(&mut self, place: &MessageOrigin, item: SageItem, cx: &mut Cx<'_>) {
        let SageItem { stage, kind } = item;
        match kind {
            ItemKind::Asks(words) => {
                let mut asked = false;
                self.within(place, cx, |turn, desk, questions| {
                    asked = questions.input(desk, turn, place, &words);
                });
                if asked {
                    self.step_thread(place, SessionEvent::NeedInput, cx);
                }
            }
            ItemKind::Assistant(words) => self.within(place, cx, |turn, desk, _| {
                turn.speak(desk, place.item.as_deref(), stage, &words);
            }),
            ItemKind::User(words) => self.within(place, cx, |turn, desk, _| {
                turn.prompt(desk, &words);
            }),
            ItemKind::System(words) => self.within(place, cx, |turn, desk, _| {
                if words.starts_with("step ") {
                    turn.step(desk, AgentEvent::Continue);
                } else if !words.is_empty() {
                    let words = PhraseArg::Agent(short(&words));
                    desk.detail(Phrase::new("translated.remark").with("words", words));
                }
            }),
            ItemKind::Tool(call) => {
                let name = place.item.clone().unwrap_or_else(|| call.tool.clone());
                self.within(place, cx, |turn, desk, _| {
                    turn.call(desk, &name, stage, &call);
                });
            }
            ItemKind::Result(words) => self.within(place, cx, |turn, _, _| {
                turn.result = Some(words).filter(|words| !words.trim().is_empty());
            }),
            ItemKind::Other => {}
        }
    }

    /// Runs `work` in the turn of a message; a turn that is unknown or over begins here.
    pub(super) fn within(
        &mut self,
        place: &MessageOrigin,
        cx: &mut Cx<'_>,
        work: impl FnOnce(&mut SageTurn, &mut SageContext<'_>, &mut SageQuestions),
    ) {
        let known = self.turns.get(&key(place)).map(|turn| turn.ended);
        if known != Some(false) {
            self.note_after_end(place, cx);
            let thread = self.thread(place);
            let whole = known.is_some() || thread.is_complete;
            thread.turn.clone_from(&place.turn);
            let model = thread.model.clone();
            self.writer.model(model.as_deref());
            let mut desk =
                SageContext::new(&mut self.writer, &mut self.reported_steps, place.at, cx);
            if known == Some(true) {
                // An agent that is done does nothing more, so this step is illegal.
                if let Some(over) = self.turns.get_mut(&key(place)) {
                    over.step(&mut desk, AgentEvent::Continue);
                }
            }
            let turn = SageTurn::new(&mut desk, &place.thread, &place.turn, !whole);
            self.turns.insert(key(place), turn);
            self.bound_turns();
        }
        let mut desk = SageContext::new(&mut self.writer, &mut self.reported_steps, place.at, cx);
        if let Some(turn) = self.turns.get_mut(&key(place)) {
            work(turn, &mut desk, &mut self.questions);
        }
    }

    pub(super) fn thread(&mut self, place: &MessageOrigin) -> &mut Thread {
        if !self.threads.contains_key(&place.thread) && self.threads.len() >= MOST_THREADS {
            let runs = |thread: &&String| {
                self.turns
                    .values()
                    .any(|turn| turn.thread == **thread && !turn.ended)
            };
            let idle = self.threads.keys().find(|thread| !runs(thread)).cloned();
            let over = self
                .threads
                .iter()
                .find(|(_, thread)| thread.machine == Session::Ended);
            let over = over.map(|(name, _)| name.clone());
            let leaves = over
                .or(idle)
                .or_else(|| self.threads.keys().next().cloned());
            if let Some(leaves) = leaves {
                self.threads.remove(&leaves);
            }
        }
        self.threads
            .entry(place.thread.clone())
            .or_insert_with(|| Thread {
                machine: Session::INITIAL,
                is_complete: false,
                model: None,
                prompt: None,
                turn: String::new(),
                told_after_end: false,
            })
    }

    pub(super) fn step_thread(
        &mut self,
        place: &MessageOrigin,
        event: SessionEvent,
        cx: &mut Cx<'_>,
    ) {
        let from = self.thread(place).machine;
        let mut desk = SageContext::new(&mut self.writer, &mut self.reported_steps, place.at, cx);
        let to = desk.step(&place.thread, "", from, event);
        self.thread(place).machine = to;
    }

    pub(super) fn bound_turns(&mut self) {
        while self.turns.len() > MOST_TURNS {
            let of_thread = |turn: &SageTurn| {
                let thread = self.threads.get(&turn.thread);
                thread.is_some_and(|thread| thread.turn == turn.name)
            };
            let leaves = self
                .turns
                .iter()
                .min_by_key(|(_, turn)| (!turn.ended, turn.open > 0, of_thread(turn)))
                .map(|(key, _)| key.clone());
            let Some(leaves) = leaves else { return };
            self.turns.remove(&leaves);
        }
    }
}

pub(super) fn key(place: &MessageOrigin) -> (String, String) {
    (place.thread.clone(), place.turn.clone())
}
