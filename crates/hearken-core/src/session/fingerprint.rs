//! Distinguishing a repeated event from a different one under the same id.

use std::fmt::{self, Write};
use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::quality::{FixedState, FoldHasher};

use crate::protocol::{Decoded, Event, StateChanged};

/// Returns a number that differs if two events differ, to distinguish a repeated event from a different one under the
/// same id.
///
/// It is the same in every run, so a sender can construct two events with the same number; one of its own two
/// events would then not be announced.
pub(super) fn fingerprint(decoded: &Decoded) -> u64 {
    let mut feed = HashWriter(FixedState::default().build_hasher());
    let envelope = &decoded.envelope;
    envelope.type_name.hash(&mut feed.0);
    envelope.session_id.hash(&mut feed.0);
    envelope.sequence_number.hash(&mut feed.0);
    match &decoded.event {
        // Nearly every event is one of these, and formatting it would cost more than all other work on it here.
        Event::OutputStreaming(event) => event.hash(&mut feed.0),
        Event::SessionStarted(event) => event.hash(&mut feed.0),
        // A bridge that reports a session from its middle on begins with `idle`.
        Event::StateChanged(StateChanged {
            summary,
            from_state: _,
            to_state,
            expected_duration_ms,
        }) => (summary, to_state, expected_duration_ms).hash(&mut feed.0),
        Event::ToolInvoked(event) => event.hash(&mut feed.0),
        Event::ToolCompleted(event) => event.hash(&mut feed.0),
        event => {
            // Writing into a hash can't fail.
            let _ = write!(feed, "{event:?}");
        }
    }
    feed.0.finish()
}

/// A writer that hashes what is written.
struct HashWriter(FoldHasher<'static>);

impl Write for HashWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::decode;

    #[test]
    fn a_state_told_from_its_middle_is_the_same() {
        let from = |state: &str| {
            let text = format!(
                r#"{{"type":"aaep:agent.state.changed","session_id":"s","from_state":"{state}","to_state":"executing"}}"#
            );
            fingerprint(&decode(&text).unwrap())
        };
        assert_eq!(from("thinking"), from("idle"));
    }

    #[test]
    fn whatever_differs_in_two_events_is_seen() {
        let chunk = |part: &str| {
            format!(
                r#"{{"type":"aaep:agent.output.streaming","session_id":"sess_1","sequence_number":1,{part}}}"#
            )
        };
        let texts = [
            chunk(r#""chunk":"a""#),
            chunk(r#""chunk":"b""#),
            chunk(r#""chunk":"a","position":1"#),
            chunk(r#""chunk":"a","complete":true"#),
            chunk(r#""chunk":"a","output_id":"out_1""#),
            chunk(r#""chunk":"a","content_type":"out_1""#),
            chunk(r#""chunk":"a","language":"out_1""#),
            chunk(r#""chunk":"a","coalesce_hint":"out_1""#),
            chunk(r#""chunk":"a""#).replace("sess_1", "sess_2"),
            chunk(r#""chunk":"a""#).replace(":1", ":2"),
            chunk(r#""chunk":"a""#).replace("output.streaming", "state.changed"),
            chunk(r#""to_state":"a""#).replace("output.streaming", "state.changed"),
        ];
        // The same for every length.
        let long = |length: usize, last: char| {
            let text = "x".repeat(length);
            chunk(&format!(r#""chunk":"{text}{last}","language":"{last}e""#))
        };
        let long = (0..1024).flat_map(|length| [long(length, 'a'), long(length, 'd')]);
        let texts: Vec<String> = texts.into_iter().chain(long).collect();
        let numbers: std::collections::BTreeSet<u64> = texts
            .iter()
            .map(|text| fingerprint(&decode(text).unwrap()))
            .collect();
        assert_eq!(numbers.len(), texts.len());
        for text in &texts {
            let (one, other) = (decode(text).unwrap(), decode(text).unwrap());
            assert_eq!(fingerprint(&one), fingerprint(&other));
        }
    }
}
