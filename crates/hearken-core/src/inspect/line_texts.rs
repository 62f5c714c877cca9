//! The check of a line before its events are put in order: which texts it contains, and which of them are
//! events.
//!
//! Responsibilities: splitting several texts on a line; items about texts that are not events. Not here: the
//! events and their order (`stream_check`), gathering lines (`json_lines`).

use crate::dialect::{self, DialectOutput, NoEvent};
use crate::protocol::DecodeError;

use super::json_lines::JsonText;
use super::stream_check::Checker;
use super::stream_rules::{Fact, StreamRule};
use super::{safe_names, translated_captures};

/// The beginnings of the types of handshake messages and replies (chapters 5 and 6).
const MESSAGES: [&str; 3] = ["subscription.", "confirmation.reply", "clarification.reply"];

impl Checker {
    pub(super) fn text(&mut self, gathered: &JsonText) {
        let parts = gathered.parts();
        if parts.len() > 1 || parts.iter().any(|part| part.in_list) {
            let fact = Fact::Several(parts.len() as u64);
            self.stream(gathered.line, fact, String::new());
        }
        for part in parts {
            self.part(&part.gathered);
        }
    }

    fn part(&mut self, gathered: &JsonText) {
        if self.translator.takes(&gathered.text) {
            return self.translated(gathered);
        }
        match dialect::read(&gathered.text) {
            Ok(_) if self.is_answered_by(gathered) => {}
            Ok(decoded)
                if MESSAGES
                    .iter()
                    .any(|name| decoded.envelope.type_name.starts_with(name)) =>
            {
                let field = safe_names::name(&decoded.envelope.type_name);
                self.stream(gathered.line, Fact::Rule(StreamRule::NotAnEvent), field);
            }
            Ok(decoded) => self.event(gathered.line, decoded),
            Err(NoEvent::Broken(error)) => self.no_event(gathered, &error),
            Err(NoEvent::Foreign(what)) => {
                self.stream(gathered.line, Fact::Foreign(what), String::new());
            }
        }
    }

    /// Reads a text of another protocol with its translator.
    pub(super) fn translated(&mut self, gathered: &JsonText) {
        let now = self.clock.at(translated_captures::stamp(&gathered.text));
        let clock = self.clock.clone();
        let before = self.translator.until(now, |due| clock.moment(due));
        let before = before.into_iter().map(|(_, out)| out);
        let mut out: Vec<DialectOutput> = before.collect();
        out.extend(self.translator.text(&gathered.text, now));
        for out in out {
            match out {
                DialectOutput::Event(text) | DialectOutput::ViewOnly(text) => {
                    if let Ok(decoded) = dialect::read(&text) {
                        self.event(gathered.line, decoded);
                    }
                }
                // Only one text is read at a time, so the count does not matter.
                DialectOutput::Unread(NoEvent::Broken(error), _) => self.no_event(gathered, &error),
                DialectOutput::Unread(NoEvent::Foreign(what), _) => {
                    self.stream(gathered.line, Fact::Foreign(what), String::new());
                }
                DialectOutput::Announce(phrase) | DialectOutput::Detail(phrase) => {
                    if dialect::about_departure(phrase.key).is_some() {
                        let fact = Fact::Rule(StreamRule::Departs);
                        self.stream(gathered.line, fact, phrase.key.to_owned());
                    }
                }
                DialectOutput::Stepped(_)
                | DialectOutput::Send { .. }
                | DialectOutput::Hand { .. }
                | DialectOutput::Call { .. }
                | DialectOutput::CallService { .. }
                | DialectOutput::LeaveCall(_)
                | DialectOutput::Respond { .. }
                | DialectOutput::Follow(_)
                | DialectOutput::Refuse(_)
                | DialectOutput::Release
                | DialectOutput::LastWords(_)
                | DialectOutput::ChangeWay(_)
                | DialectOutput::Close(_)
                | DialectOutput::Settled { .. }
                | DialectOutput::Standing(_)
                | DialectOutput::Decided { .. }
                | DialectOutput::AnsweredBy { .. }
                | DialectOutput::Missed(_)
                | DialectOutput::Warn(_)
                | DialectOutput::Recalled(_)
                | DialectOutput::Over { .. }
                | DialectOutput::Answered(_)
                | DialectOutput::Proven(_) => {}
            }
        }
    }

    fn no_event(&mut self, gathered: &JsonText, error: &DecodeError) {
        let mut at = gathered.line;
        let fact = match error {
            DecodeError::Json { line, column, cut } => {
                at += line.saturating_sub(1) as u64;
                Fact::NotJson {
                    column: *column,
                    cut: *cut,
                }
            }
            DecodeError::TooDeep => Fact::Rule(StreamRule::TooDeep),
            DecodeError::NotAnObject(kind) => Fact::no_object(*kind),
            DecodeError::NoType => Fact::Rule(StreamRule::NoType),
        };
        self.stream(at, fact, String::new());
    }
}
