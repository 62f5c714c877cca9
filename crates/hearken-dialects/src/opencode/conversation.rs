//! One conversation: its turn, what of its texts was said, and what the person wants of it.
//!
//! Responsibilities: what its events do to its turn, prompts that wait, whose prompt began a turn. Not here: what is sent
//! (`client`), how a turn is told (`acp::turn`), what a request becomes (`asking`).
//!
//! Mental model: a turn lasts from the word that the conversation works to the word that it does nothing. The words that
//! began it come before; words that come meanwhile belong to it. What comes late, behind the end, begins nothing. The
//! agents that a conversation has work for it are no conversations of their own: their calls and questions are told in its
//! turn, and what they write is for the agent and said to nobody.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::acp::ending::End;
use crate::acp::read::{CallNews, Status, Update};
use crate::acp::turn::{Teller, Turn};
use crate::link::{Phrase, Word};
use crate::protocol::Now;
use crate::written;
use crate::{Out, Over};

use super::asking::Form;
use super::parts::Parts;
use super::read::{Does, Failure, Message, Part};

/// How many messages of people, requests that are over and calls are remembered.
const MOST: usize = 256;
/// How many prompts wait; a person who writes ahead writes a few.
pub const MOST_HELD: usize = 16;

/// How long a turn may take to begin for what was taken: it is told of at once, unless something went wrong.
const BEGINS: Duration = Duration::from_secs(30);

/// What was written in a conversation: its messages, the oldest first, each with its parts.
pub type Written = Vec<(Message, Vec<Part>)>;

/// Whether a turn is still to begin for what was sent last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// None is: it has begun, or nothing was sent that could begin one.
    Not,
    /// It is not known yet whether what was sent was taken.
    Sent,
    /// It was taken, and one should begin until then.
    By(Duration),
}

/// One conversation.
#[derive(Debug)]
pub struct Conversation {
    /// Its name on the other side.
    pub id: String,
    /// Its turn.
    pub turn: Option<Turn>,
    /// What its events are written with.
    pub teller: Teller,
    /// The requests of more than one question, by their names, with what was answered so far.
    pub forms: BTreeMap<String, Form>,
    /// What the person wants it to do when it is done.
    pub held: VecDeque<String>,
    /// What the person had sent, and has not come back yet.
    pub ours: VecDeque<String>,
    /// Whether a turn is still to begin for what was sent last.
    begins: Begins,
    /// What was sent, and is no longer waited for: it may still come back.
    late: VecDeque<String>,
    /// When something was last heard of it, in the order of what was heard.
    pub heard: u64,
    /// What each call is called with, to the letter, while it runs.
    pub(super) inputs: BTreeMap<String, Map<String, Value>>,
    /// The requests that are over: the same is never asked again.
    pub(super) done: VecDeque<String>,
    parts: Parts,
    persons: VecDeque<String>,
    /// The words that begin the next turn.
    next: Option<String>,
    failure: Option<Failure>,
    retry: String,
}

impl Conversation {
    /// Begins to know a conversation.
    pub fn new(id: &str, teller: Teller) -> Self {
        Self {
            id: id.to_owned(),
            turn: None,
            teller,
            forms: BTreeMap::new(),
            held: VecDeque::new(),
            ours: VecDeque::new(),
            begins: Begins::Not,
            late: VecDeque::new(),
            heard: 0,
            inputs: BTreeMap::new(),
            done: VecDeque::new(),
            parts: Parts::default(),
            persons: VecDeque::new(),
            next: None,
            failure: None,
            retry: String::new(),
        }
    }

    /// Returns its turn; one that nobody was heard to begin is begun.
    pub fn turn(&mut self, now: Now, out: &mut Vec<Out>) -> (&mut Turn, &mut Teller) {
        let teller = &mut self.teller;
        let (id, next) = (&self.id, &mut self.next);
        self.begins = Begins::Not;
        let turn = self.turn.get_or_insert_with(|| {
            let prompt = next.take();
            let mut turn = Turn::begin(id, prompt.as_deref(), teller, now, out);
            turn.will_end();
            turn
        });
        (turn, &mut self.teller)
    }

    /// Takes what it does. An agent that works for it says nothing of its own turn.
    pub fn does(&mut self, does: &Does, by: &str, now: Now, out: &mut Vec<Out>) {
        match does {
            Does::Works if by == self.id => {
                self.turn(now, out);
            }
            Does::Waits(words) if by == self.id => {
                self.turn(now, out);
                if self.retry != *words {
                    self.retry.clone_from(words);
                    let words = Word::Agent(words.clone());
                    out.push(Out::Tell(
                        Phrase::new("opencode.retry").with("words", words),
                    ));
                }
            }
            Does::Nothing if by == self.id => self.rests(now, out),
            Does::Works | Does::Waits(_) | Does::Nothing => {}
        }
    }

    /// Takes the word that it does nothing any more.
    fn rests(&mut self, now: Now, out: &mut Vec<Out>) {
        let end = match self.failure.take() {
            None => End::Done,
            Some(Failure::Stopped) => End::Stopped {
                wanted: self.turn.as_ref().is_some_and(|turn| turn.stopping),
            },
            Some(Failure::Words(words)) => End::Failed(words),
        };
        if self.turn.is_some() {
            // What did not come back in it never will.
            self.ours.clear();
            self.late.clear();
        }
        self.end(end, now, out);
    }

    /// Ends its turn; what is still asked in it is over with it.
    pub fn end(&mut self, end: End, now: Now, out: &mut Vec<Out>) {
        let Some(mut turn) = self.turn.take() else {
            return;
        };
        let how = match turn.stopping {
            true => Over::Stopped,
            false => Over::TakenBack,
        };
        for request in turn.close(how, &mut self.teller, now, out) {
            self.is_done(&request);
        }
        self.forms.clear();
        self.inputs.clear();
        self.retry.clear();
        turn.end(end);
        turn.finish(&mut self.teller, now, out);
    }

    /// Takes note that a request is over.
    pub fn is_done(&mut self, request: &str) {
        self.forms.remove(request);
        if self.done.len() == MOST {
            self.done.pop_front();
        }
        self.done.push_back(request.to_owned());
    }

    /// Takes news of a message.
    pub fn message(&mut self, message: &Message) {
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

    /// Takes what went wrong in its turn, or before one could begin.
    pub fn failed(&mut self, failure: Failure, out: &mut Vec<Out>) {
        if self.turn.is_some() {
            self.failure = Some(failure);
            return;
        }
        let Failure::Words(words) = failure else {
            // The stop of a turn that has ended.
            return;
        };
        let key = match self.ours.is_empty() {
            true => "opencode.complaint",
            false => "opencode.no_turn",
        };
        (self.next, self.begins) = (None, Begins::Not);
        self.ours.clear();
        let words = Word::Agent(words);
        out.push(Out::Tell(Phrase::new(key).with("words", words)));
    }

    /// Names a call by who makes it: the agents that work for a conversation may give their calls the names of its own.
    pub(super) fn call_name(&self, by: &str, call: &str) -> String {
        match by == self.id {
            true => call.to_owned(),
            false => format!("{by} {call}"),
        }
    }

    /// Takes what a call is called with, for as long as it is not over.
    fn note_inputs(&mut self, news: &CallNews, inputs: Map<String, Value>) {
        if matches!(
            news.status,
            Some(Status::Completed | Status::Failed | Status::Ended)
        ) {
            self.inputs.remove(&news.id);
        } else if !inputs.is_empty()
            && (self.inputs.len() < MOST || self.inputs.contains_key(&news.id))
        {
            self.inputs.insert(news.id.clone(), inputs);
        }
    }

    /// Takes a part of a message, of its own or of an agent that works for it.
    pub fn part(&mut self, part: Part, by: &str, now: Now, out: &mut Vec<Out>) {
        let own = by == self.id;
        match part {
            Part::Text {
                id,
                message,
                text,
                is_made,
            } => {
                if !own {
                    return;
                }
                if self.persons.contains(&message) {
                    self.asked_to(&id, &text, is_made, out);
                } else if !is_made && self.turn.is_some() {
                    let rest = self.parts.whole(&id, &text).to_owned();
                    self.says(&id, rest, now, out);
                }
            }
            Part::Thinks(id) => {
                self.parts.thinks(&id);
                if own {
                    self.update(Update::Thinks, now, out);
                }
            }
            Part::Calls(mut news, inputs) => {
                if self.turn.is_none() {
                    return;
                }
                news.id = self.call_name(by, &news.id);
                self.note_inputs(&news, inputs);
                self.update(Update::Calls(news), now, out);
            }
            Part::Quiet => {}
        }
    }

    /// Takes more of a part.
    pub fn more(&mut self, part: &str, text: String, by: &str, now: Now, out: &mut Vec<Out>) {
        if by == self.id && self.turn.is_some() && self.parts.more(part, &text) {
            self.says(part, text, now, out);
        }
    }

    fn says(&mut self, part: &str, text: String, now: Now, out: &mut Vec<Out>) {
        let message = Some(part.to_owned());
        self.update(Update::Says { message, text }, now, out);
    }

    /// Takes an update of the turn that is under way; there is none of another.
    pub fn update(&mut self, update: Update, now: Now, out: &mut Vec<Out>) {
        if let Some(turn) = &mut self.turn {
            turn.update(update, &mut self.teller, now, out);
        }
    }

    /// Takes what a person asked it to do: this one, or somebody at another screen.
    fn asked_to(&mut self, part: &str, text: &str, is_made: bool, out: &mut Vec<Out>) {
        // It comes again when something beside it changes.
        if is_made || text.trim().is_empty() || self.parts.whole(part, text).is_empty() {
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
            let words = Word::Agent(written::short(text));
            out.push(Out::Tell(Phrase::new(key).with("words", words)));
        }
        if begins {
            self.next = Some(text.to_owned());
        }
    }

    /// Takes what was written before anybody listened, where a turn is under way: its words are those that were last
    /// said to it, and what it said before is not said again.
    pub fn joins(&mut self, written: Written, now: Now, out: &mut Vec<Out>) {
        for (message, parts) in &written {
            self.message(message);
            for part in parts {
                if let Part::Text {
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
        self.turn(now, out);
        for part in written.into_iter().flat_map(|(_, parts)| parts) {
            match part {
                Part::Thinks(id) => self.parts.thinks(&id),
                // What is over was over before.
                Part::Calls(news, inputs) if news.is_under_way() => {
                    self.note_inputs(&news, inputs);
                    self.update(Update::Calls(news), now, out);
                }
                Part::Text { .. } | Part::Calls(..) | Part::Quiet => {}
            }
        }
    }

    /// Takes what was written meanwhile, where its turn is still the one that was heard before.
    pub fn goes_on(&mut self, written: Written, now: Now, out: &mut Vec<Out>) {
        let is_known = |(message, _): &(Message, Vec<Part>)| self.persons.contains(&message.id);
        let begins = written.iter().rposition(is_known).unwrap_or(written.len());
        for (message, parts) in written.into_iter().skip(begins) {
            let known = self.persons.contains(&message.id);
            self.message(&message);
            let id = self.id.clone();
            for part in parts {
                if !known {
                    self.part(part, &id, now, out);
                }
            }
        }
    }

    /// Takes note that what is said may be missed from now on.
    pub fn interrupt(&mut self) {
        self.parts.interrupt();
    }

    /// Takes note of what the person sends.
    pub fn sends(&mut self, prompt: &str) {
        self.ours.push_back(prompt.to_owned());
        self.begins = Begins::Sent;
    }

    /// Takes note that what was sent was taken: a turn should begin for it, if none did.
    pub fn accepts(&mut self, now: Now) {
        if self.begins == Begins::Sent {
            self.begins = Begins::By(now.monotonic + BEGINS);
        }
    }

    /// Takes note that what was sent was not taken, or perhaps not: nothing is waited for.
    pub fn declines(&mut self, prompt: &str) {
        self.ours.retain(|own| own != prompt);
        self.begins = Begins::Not;
    }

    /// Takes note that the connection was lost: whatever became of what was sent, it begins nothing that is waited for.
    pub fn is_lost(&mut self) {
        self.ours.clear();
        self.begins = Begins::Not;
        self.interrupt();
    }

    /// Returns by when a turn should have begun.
    pub fn begins_by(&self) -> Option<Duration> {
        match self.begins {
            Begins::By(at) => Some(at),
            Begins::Sent | Begins::Not => None,
        }
    }

    /// Takes the passing of time; tells whether that is up in which a turn should have begun.
    pub fn is_over_time(&mut self, now: Now, out: &mut Vec<Out>) -> bool {
        if self.begins_by().is_none_or(|at| now.monotonic < at) {
            return false;
        }
        self.begins = Begins::Not;
        self.late.append(&mut self.ours);
        let most = self.late.len().saturating_sub(MOST_HELD);
        self.late.drain(..most);
        out.push(Out::Tell(Phrase::new(match self.held.is_empty() {
            true => "opencode.not_begun",
            false => "opencode.not_begun.next",
        })));
        true
    }

    /// Returns whether it is done with everything, so that it can be forgotten.
    pub fn is_idle(&self) -> bool {
        self.turn.is_none()
            && self.held.is_empty()
            && self.ours.is_empty()
            && self.begins == Begins::Not
    }
}
