//! The rest of a mouse report whose beginning was given up: none of it may pass for a key.
//!
//! # Mental model
//! A report is ten bytes or so, and a slow line may pause within it for longer than a sequence may take. By
//! then its ESC has counted as Escape, or its numbers as noise. Bytes within [`SOON`] that look like the rest
//! belong to it: so the last `m` of a click does not mute an agent.

use std::time::Duration;

/// Returns how many bytes at the beginning of a read are the rest of a report whose beginning was dropped, as what was
/// typed ahead is: no hand is so fast. Only where something `begins`.
pub(super) fn headless(bytes: &[u8], begins: bool) -> usize {
    let is_part = |byte: &u8| matches!(byte, b'[' | b'<' | b';' | b'0'..=b'9');
    let length = bytes.iter().take_while(|byte| is_part(byte)).count();
    let parts = bytes.get(..length).unwrap_or_default();
    let ends = matches!(bytes.get(length), Some(b'M' | b'm'));
    let is_report = parts.iter().any(|byte| matches!(byte, b';' | b'<'));
    match begins && ends && is_report {
        true => length + 1,
        false => 0,
    }
}

/// How long the rest of a report is expected: after that, the keyboard belongs to the person again.
const SOON: Duration = Duration::from_secs(5);

/// Where a report was torn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TornAt {
    /// After its ESC, which counted as a key.
    Escape,
    /// After `ESC [`, which counted as a key.
    Bracket,
    /// Within its numbers.
    Numbers,
    /// Before this many bytes of the old form.
    Bytes(u8),
}

impl TornAt {
    /// Returns where a report was torn, given its last byte, which counted as a key.
    pub(super) fn behind(byte: u8) -> Self {
        match byte {
            b'<' => Self::Numbers,
            b'M' => Self::Bytes(3),
            _ => Self::Bracket,
        }
    }
}

/// What a byte is to a torn report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TornByte {
    /// Not a part of the report.
    Other,
    /// A part of the report.
    Part,
    /// A byte that continues a report if the next one does, too.
    Perhaps,
}

/// A recently torn report, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TornReport(Option<(TornAt, Duration)>);

impl TornReport {
    /// Notes that a report, or what may be one, was given up.
    pub(super) fn tear(&mut self, at: TornAt, now: Duration) {
        self.0 = Some((at, now + SOON));
    }

    /// Handles the next byte that was read separately.
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
            // Any final byte: one key too few does no harm.
            (TornAt::Numbers, 0x40..=0x7e) => TornByte::Part,
            (TornAt::Bytes(left), 0x20..) => {
                self.0 = (left > 1).then_some((TornAt::Bytes(left - 1), until));
                TornByte::Part
            }
            (_, _) => TornByte::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::headless;

    #[test]
    fn the_rest_of_a_report_is_found_wherever_its_beginning_was_dropped() {
        for report in ["[<0;12;3M", "<64;1;1M", "0;12;3m", ";12;3M", "2;3M", ";3M"] {
            assert_eq!(headless(report.as_bytes(), true), report.len(), "{report}");
            let more = format!("{report}y");
            assert_eq!(headless(more.as_bytes(), true), report.len(), "{report}");
        }
        for other in ["m", "M", "3M", "[M", "12", ";;y", "<", "a;3M", ""] {
            assert_eq!(headless(other.as_bytes(), true), 0, "{other}");
        }
    }
}
