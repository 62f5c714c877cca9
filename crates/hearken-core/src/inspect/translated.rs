//! Captures in other protocols: read by their own translators, and then like any other.
//!
//! Responsibilities: recognising such a capture by its first text that is surely of another protocol, and keeping its
//! translator. Not here: what comes of the events (`check`, `trace`), what each protocol says (`dialect`).

use jiff::Timestamp;

use crate::dialect::{self, Dialect, Kind, Out, Start};
use crate::protocol::{Now, object};

/// How often a translator is told of the time between two texts; a waiting session needs a handful.
const MOST_TICKS: usize = 64;

/// Keeps the translator of a capture that needs one.
#[derive(Debug, Default)]
pub(super) struct Translator(Option<Box<dyn Dialect>>);

impl Translator {
    /// Returns whether a text is for the translator: it is of another protocol, or one before it was.
    pub(super) fn takes(&mut self, text: &str) -> bool {
        if self.0.is_none() {
            match dialect::recognise(text) {
                Some(Kind::Aaep) | None => {}
                Some(kind) => self.0 = Some(kind.machine(Start::unattended())),
            }
        }
        // What says that it is AAEP is AAEP, wherever it stands.
        self.0.is_some() && dialect::recognise(text) != Some(Kind::Aaep)
    }

    /// Returns whether the capture is known to be of another protocol.
    pub(super) fn is_at_work(&self) -> bool {
        self.0.is_some()
    }

    /// Translates a text.
    pub(super) fn text(&mut self, text: &str, now: Now) -> Vec<Out> {
        let mut out = Vec::new();
        if let Some(machine) = &mut self.0 {
            dialect::hear(machine.as_mut(), text, now, &mut out);
        }
        out
    }

    /// Lets the time pass up to a moment, given as moments in between; each with what came of it.
    pub(super) fn until(
        &mut self,
        now: Now,
        moment: impl Fn(std::time::Duration) -> Now,
    ) -> Vec<Out> {
        let mut out = Vec::new();
        if let Some(machine) = &mut self.0 {
            for _ in 0..MOST_TICKS {
                let Some(due) = machine.deadline().filter(|due| *due <= now.monotonic) else {
                    break;
                };
                machine.tick(moment(due), &mut out);
            }
        }
        out
    }
}

/// Finds the time that a text of another protocol says: its own, or the one of the message in it.
pub(super) fn stamp(text: &str) -> Option<Timestamp> {
    let map = object(text)?;
    let inner = map
        .get("envelope")
        .and_then(|envelope| envelope.get("timestamp"));
    inner
        .or_else(|| map.get("timestamp"))?
        .as_str()?
        .parse()
        .ok()
}
