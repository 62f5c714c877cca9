//! Telling a repeated event from another one under the same id.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::protocol::{Decoded, Event};

/// Gives a number that differs where two events differ, to tell a repeated event from another one
/// under the same id.
pub(super) fn fingerprint(decoded: &Decoded) -> u64 {
    let mut feed = Feed {
        hasher: DefaultHasher::new(),
        gathered: [0; GATHERED],
        length: 0,
    };
    let envelope = &decoded.envelope;
    envelope.type_name.hash(&mut feed);
    envelope.session_id.hash(&mut feed);
    envelope.sequence_number.hash(&mut feed);
    match &decoded.event {
        // Nearly every event is one of these, and writing it out costs more than all else that is done with it here.
        Event::OutputStreaming(event) => event.hash(&mut feed),
        Event::SessionStarted(event) => event.hash(&mut feed),
        Event::StateChanged(event) => event.hash(&mut feed),
        Event::ToolInvoked(event) => event.hash(&mut feed),
        Event::ToolCompleted(event) => event.hash(&mut feed),
        event => {
            // Writing into a hash can't fail.
            let _ = write!(feed, "{event:?}");
        }
    }
    feed.finish()
}

/// How much is gathered before it is hashed: nearly every event as a whole.
const GATHERED: usize = 512;

/// Takes what is hashed as one text, because a hash of many short ones costs several times as much.
struct Feed {
    hasher: DefaultHasher,
    gathered: [u8; GATHERED],
    length: usize,
}

impl Hasher for Feed {
    fn write(&mut self, bytes: &[u8]) {
        if bytes.len() > GATHERED - self.length {
            self.hasher.write(&self.gathered[..self.length]);
            self.length = 0;
        }
        match self
            .gathered
            .get_mut(self.length..self.length + bytes.len())
        {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.length += bytes.len();
            }
            None => self.hasher.write(bytes),
        }
    }

    fn finish(&self) -> u64 {
        let mut hasher = self.hasher.clone();
        hasher.write(&self.gathered[..self.length]);
        hasher.finish()
    }
}

impl Write for Feed {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        Hasher::write(self, text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::protocol::decode;

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
        // Beyond what is gathered, too, and where that is just full.
        let long = |length: usize, last: char| {
            let text = "x".repeat(length);
            chunk(&format!(r#""chunk":"{text}{last}","language":"{last}e""#))
        };
        let longest = 2 * GATHERED;
        let long = (0..longest).flat_map(|length| [long(length, 'a'), long(length, 'd')]);
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
