//! The rest of a mouse report whose beginning was given up: none of it may pass for a key.
//!
//! # Mental model
//! A report is ten bytes or so, and a slow line may pause within it for longer than a sequence may take. By then its
//! ESC has counted as Escape, or its numbers as noise. What follows within [`SOON`] and looks like the rest belongs to
//! it: so the last `m` of a click does not mute an agent.

use std::time::Duration;

/// How long the rest of a report is expected: after that, the keyboard belongs to the person again.
const SOON: Duration = Duration::from_secs(5);

/// Where a report was torn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TornAt {
    /// Behind its ESC, which counted as a key.
    Escape,
    /// Behind `ESC [`, which counted as a key.
    Bracket,
    /// Within its numbers.
    Numbers,
    /// Before this many bytes of the old form.
    Bytes(u8),
}

impl TornAt {
    /// Returns where a report was torn whose last known byte counted as a key.
    pub(super) fn behind(byte: u8) -> Self {
        match byte {
            b'<' => Self::Numbers,
            b'M' => Self::Bytes(3),
            _ => Self::Bracket,
        }
    }
}

/// What a byte is, judged by a torn report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TornByte {
    /// Nothing of the report.
    Other,
    /// A part of the report.
    Part,
    /// A byte that goes on with a report if the next one does, too.
    Perhaps,
}

/// A report that was torn, if there was one a moment ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TornReport(Option<(TornAt, Duration)>);

impl TornReport {
    /// Notes that a report, or what may be one, was given up.
    pub(super) fn tear(&mut self, at: TornAt, now: Duration) {
        self.0 = Some((at, now + SOON));
    }

    /// Handles the next byte that was read on its own.
    pub(super) fn take(&mut self, byte: u8, now: Duration) -> TornByte {
        let Some((at, until)) = self.0.take().filter(|(_, until)| now < *until) else {
            return TornByte::Other;
        };
        match (at, byte) {
            (TornAt::Escape, b'[') | (TornAt::Bracket, b'<' | b'M') => TornByte::Perhaps,
            (TornAt::Numbers, b'0'..=b'9' | b';' | b'<') => {
                self.0 = Some((TornAt::Numbers, until));
                TornByte::Part
            }
            // Whatever ends it: one key too few does no harm.
            (TornAt::Numbers, 0x40..=0x7e) => TornByte::Part,
            (TornAt::Bytes(left), 0x20..) => {
                self.0 = (left > 1).then_some((TornAt::Bytes(left - 1), until));
                TornByte::Part
            }
            (_, _) => TornByte::Other,
        }
    }
}
