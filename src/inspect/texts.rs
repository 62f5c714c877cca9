//! The check of a line before its events are put into their order: what texts it holds, and which are events.
//!
//! Responsibilities: parting several texts on a line; the items about what is no event. Not here: the events
//! and their order (`check`), gathering lines (`lines`).

use crate::dialect::{self, NoEvent};
use crate::protocol::DecodeError;

use super::check::Checker;
use super::lines::Gathered;
use super::report::count;
use super::rules::StreamRule;
use super::safe;

/// How the types of the handshake's messages and of replies begin (chapters 5 and 6).
const MESSAGES: [&str; 3] = ["subscription.", "confirmation.reply", "clarification.reply"];

impl Checker {
    pub(super) fn text(&mut self, gathered: &Gathered) {
        let parts = gathered.parts();
        if parts.len() > 1 || parts.iter().any(|part| part.in_list) {
            let problem = format!(
                "holds {}; each is read by itself",
                count(parts.len() as u64, "text")
            );
            self.stream(gathered.line, StreamRule::Several, String::new(), problem);
        }
        for part in parts {
            self.part(&part.gathered);
        }
    }

    fn part(&mut self, gathered: &Gathered) {
        match dialect::read(&gathered.text) {
            Ok(decoded)
                if MESSAGES
                    .iter()
                    .any(|name| decoded.envelope.type_name.starts_with(name)) =>
            {
                let rule = StreamRule::NotAnEvent;
                let field = safe::name(&decoded.envelope.type_name);
                self.stream(
                    gathered.line,
                    rule,
                    field,
                    "is no event; it is left alone".to_owned(),
                );
            }
            Ok(decoded) => self.event(gathered.line, decoded),
            Err(NoEvent::Broken(error)) => self.no_event(gathered, &error),
            Err(NoEvent::Foreign(what)) => {
                let problem = format!("is not AAEP; it looks like {}", what.about());
                self.stream(gathered.line, StreamRule::NotAaep, String::new(), problem);
            }
        }
    }

    fn no_event(&mut self, gathered: &Gathered, error: &DecodeError) {
        let mut at = gathered.line;
        let (rule, problem) = match error {
            DecodeError::Json { line, column, cut } => {
                at += line.saturating_sub(1) as u64;
                let how = if *cut {
                    ", where it ends too early"
                } else {
                    ""
                };
                (
                    StreamRule::NotJson,
                    format!("is no JSON, at column {column}{how}"),
                )
            }
            DecodeError::TooDeep => (
                StreamRule::TooDeep,
                "is nested deeper than 127 levels".to_owned(),
            ),
            DecodeError::NotAnObject(kind) => {
                (StreamRule::NotAaep, format!("is {kind} and no object"))
            }
            DecodeError::NoType => (StreamRule::NoType, "names no type".to_owned()),
        };
        self.stream(at, rule, String::new(), problem);
    }
}
