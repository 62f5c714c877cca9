//! Captures in other protocols: read by their own translators, and then treated like any other.
//!
//! Responsibilities: recognising such a capture by the first text that certainly belongs to another protocol,
//! and keeping its translator. Not here: what follows from the events (`stream_check`, `trace`), what each
//! protocol means (`dialect`).

use jiff::Timestamp;

use crate::dialect::{self, ConnectionChange, Cx, Dialect, DialectOutput, DialectSetup};
use crate::protocol::{Now, object};

/// How often a translator's clock is advanced between two texts; a waiting session needs a handful of ticks.
const MOST_TICKS: usize = 64;

/// The translator of a capture, if it needs one.
#[derive(Debug, Default)]
pub(super) struct Translator(Option<Box<dyn Dialect>>);

impl Translator {
    /// Returns whether a text is for the translator: it belongs to another protocol, or an earlier one did.
    pub(super) fn takes(&mut self, text: &str) -> bool {
        if self.0.is_none() {
            let row = dialect::recognise(text).filter(|row| !row.is_native());
            self.0 = row.map(|row| row.machine(DialectSetup::unattended()));
        }
        // A text that declares itself AAEP is AAEP, wherever it occurs.
        self.0.is_some() && dialect::recognise(text).is_none_or(|row| !row.is_native())
    }

    /// Returns whether the capture is known to be of another protocol.
    pub(super) fn is_at_work(&self) -> bool {
        self.0.is_some()
    }

    /// Translates a text.
    pub(super) fn text(&mut self, text: &str, now: Now) -> Vec<DialectOutput> {
        let mut out = Vec::new();
        if let Some(machine) = &mut self.0 {
            dialect::hear(machine.as_mut(), text, &mut Cx::new(now, &mut out));
        }
        out
    }

    /// Passes a change of the connection on.
    pub(super) fn changed(&mut self, change: ConnectionChange, now: Now) -> Vec<DialectOutput> {
        let mut out = Vec::new();
        if let Some(machine) = &mut self.0 {
            dialect::hear_change(machine.as_mut(), change, &mut Cx::new(now, &mut out));
        }
        out
    }

    /// Advances the time to a moment, in steps; each step comes with its results.
    pub(super) fn until(
        &mut self,
        now: Now,
        moment: impl Fn(std::time::Duration) -> Now,
    ) -> Vec<(Now, DialectOutput)> {
        let mut out = Vec::new();
        if let Some(machine) = &mut self.0 {
            for _ in 0..MOST_TICKS {
                let Some(due) = machine.deadline().filter(|due| *due <= now.monotonic) else {
                    break;
                };
                let (at, mut of_step) = (moment(due), Vec::new());
                machine.tick(&mut Cx::new(at, &mut of_step));
                out.extend(of_step.into_iter().map(|one| (at, one)));
            }
        }
        out
    }
}

/// Returns the timestamp of a text of another protocol: its own, or that of the message inside it.
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
