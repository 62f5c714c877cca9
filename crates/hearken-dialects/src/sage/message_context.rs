//! What every part of the translator needs while it handles one message.
//!
//! Responsibilities: writing events and phrases in order, stepping machines visibly for the trace, reporting each
//! illegal step once. Not here: what a message means (`turn_events`, `turn_calls`, `questions`).

use crate::Cx;
use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use crate::link::{Phrase, PhraseArg};
use crate::protocol::Machine;

use super::super::event_writer::{EventContent, EventWriter, TranslatedSession};
use super::super::{DialectOutput, DialectStep};

/// The illegal steps reported so far: at most as many as the tables have pairs.
pub type ReportedSteps = BTreeSet<(&'static str, &'static str, &'static str)>;

/// The phrase of an illegal step.
pub const ILLEGAL: &str = "translated.illegal";

/// The context in which one message is handled.
pub struct SageContext<'a> {
    pub writer: &'a mut EventWriter,
    pub out: &'a mut Vec<DialectOutput>,
    pub reported_steps: &'a mut ReportedSteps,
    /// When the message was written, or when it arrived if it does not say.
    pub at: Timestamp,
    /// When the message arrived.
    pub now: Duration,
}

impl<'a> SageContext<'a> {
    /// Creates the context of a message that was written `at` and arrived `now`.
    pub fn new(
        writer: &'a mut EventWriter,
        told: &'a mut ReportedSteps,
        at: Option<Timestamp>,
        cx: &'a mut Cx<'_>,
    ) -> Self {
        Self {
            writer,
            reported_steps: told,
            at: at.unwrap_or(cx.now.wall),
            now: cx.now.monotonic,
            out: &mut *cx.out,
        }
    }

    /// Steps a machine, and returns its new state; an illegal step leaves it unchanged.
    pub fn step<M: Machine>(&mut self, thread: &str, subject: &str, from: M, event: M::Event) -> M {
        match DialectStep::step(thread, subject, from, event, self.out) {
            Ok(to) => to,
            Err(error) => {
                // Reported once per kind: a program that does it twice does it forever.
                if self
                    .reported_steps
                    .insert((error.machine, error.from, error.event))
                {
                    let phrase = Phrase::new(ILLEGAL)
                        .with("machine", PhraseArg::Own(error.machine.to_owned()))
                        .with("state", PhraseArg::Own(error.from.to_owned()))
                        .with("event", PhraseArg::Own(error.event.to_owned()));
                    self.out.push(DialectOutput::Detail(phrase));
                }
                from
            }
        }
    }

    /// Writes an event.
    pub fn event(&mut self, session: &mut TranslatedSession, content: impl Into<EventContent>) {
        let text = self.writer.event(session, self.at, content);
        self.out.push(DialectOutput::Event(text));
    }

    /// Writes an event with a question that cannot be answered from here.
    pub fn view_only(&mut self, session: &mut TranslatedSession, content: impl Into<EventContent>) {
        let text = self.writer.event(session, self.at, content);
        self.out.push(DialectOutput::ViewOnly(text));
    }

    /// Reports one of several questions as decided.
    pub fn decided(&mut self, token: &str, to: &'static str) {
        let (token, to) = (token.to_owned(), to.to_owned());
        self.out.push(DialectOutput::Decided { token, to });
    }

    /// Announces something to the person.
    pub fn announce(&mut self, phrase: Phrase) {
        self.out.push(DialectOutput::Announce(phrase));
    }

    /// Announces something at the most detailed level.
    pub fn detail(&mut self, phrase: Phrase) {
        self.out.push(DialectOutput::Detail(phrase));
    }
}
