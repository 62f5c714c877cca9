//! What every part of the translator needs while one fact is taken.
//!
//! Responsibilities: writing events and phrases in order, stepping machines under the eyes of whoever traces, telling an
//! illegal step once. Not here: what a fact means (`turn`, `calls`, `questions`).

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::link::{Phrase, Word};
use crate::protocol::{Machine, Now};

use super::super::written::{Session, Writer};
use super::super::{Out, Stepped};

/// Remembers which illegal steps were told: there are as many as the tables have pairs.
pub type Told = BTreeSet<(&'static str, &'static str, &'static str)>;

/// The phrase of an illegal step.
pub const ILLEGAL: &str = "translated.illegal";

/// Where one fact is worked at.
pub struct Desk<'a> {
    pub writer: &'a mut Writer,
    pub out: &'a mut Vec<Out>,
    pub told: &'a mut Told,
    /// When the message was written; when it came, where it does not say.
    pub at: Timestamp,
    /// When it came.
    pub now: Duration,
}

impl<'a> Desk<'a> {
    /// Sets up for a fact that happened `at` and came `now`.
    pub fn new(
        writer: &'a mut Writer,
        told: &'a mut Told,
        at: Option<Timestamp>,
        now: Now,
        out: &'a mut Vec<Out>,
    ) -> Self {
        Self {
            writer,
            out,
            told,
            at: at.unwrap_or(now.wall),
            now: now.monotonic,
        }
    }

    /// Steps a machine, and gives the state that it is in then: the same one, where the step is illegal.
    pub fn step<M: Machine>(&mut self, thread: &str, subject: &str, from: M, event: M::Event) -> M {
        match Stepped::step(thread, subject, from, event, self.out) {
            Ok(to) => to,
            Err(error) => {
                // Once of each kind: a program that does it again does it for ever.
                if self.told.insert((error.machine, error.from, error.event)) {
                    let phrase = Phrase::new(ILLEGAL)
                        .with("machine", Word::Own(error.machine.to_owned()))
                        .with("state", Word::Own(error.from.to_owned()))
                        .with("event", Word::Own(error.event.to_owned()));
                    self.out.push(Out::Detail(phrase));
                }
                from
            }
        }
    }

    /// Writes an event.
    pub fn event(&mut self, session: &mut Session, kind: &str, fields: Value) {
        let text = self.writer.event(session, kind, self.at, fields);
        self.out.push(Out::Event(text));
    }

    /// Writes an event that asks what can't be answered from here.
    pub fn view_only(&mut self, session: &mut Session, kind: &str, fields: Value) {
        let text = self.writer.event(session, kind, self.at, fields);
        self.out.push(Out::ViewOnly(text));
    }

    /// Says that one of several questions is decided.
    pub fn decided(&mut self, token: &str, to: &'static str) {
        let token = token.to_owned();
        self.out.push(Out::Decided { token, to });
    }

    /// Tells the person something.
    pub fn tell(&mut self, phrase: Phrase) {
        self.out.push(Out::Tell(phrase));
    }

    /// Tells it to whoever wants every detail.
    pub fn detail(&mut self, phrase: Phrase) {
        self.out.push(Out::Detail(phrase));
    }
}
