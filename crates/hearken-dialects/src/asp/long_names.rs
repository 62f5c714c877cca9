//! Names too long to keep: the name under which a session is followed here, and the one used in an answer.
//!
//! Responsibilities: the key of a session, and for answers its own name and that of the agent that escalated. Not here:
//! announced texts (`message`), the answer itself (`handler`).

use serde_json::{Map, Value};

use super::message::{LONGEST_NAME, tame};

/// The longest name kept for an answer, in bytes: many times the length of an id or an address, and little compared to
/// a session's other texts.
const LONGEST_REAL: usize = 4096;

/// The name to use in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum AnswerName {
    /// The name that is kept here.
    #[default]
    AsKept,
    /// This name.
    Other(String),
    /// None: the name is too long to keep.
    TooLong,
}

impl AnswerName {
    fn of(raw: &str, kept: &str) -> Self {
        if raw == kept {
            Self::AsKept
        } else if raw.len() <= LONGEST_REAL {
            Self::Other(raw.to_owned())
        } else {
            Self::TooLong
        }
    }

    /// Returns the name to use in an answer, given the kept one.
    pub(super) fn name(&self, kept: &str) -> Option<String> {
        match self {
            Self::AsKept => Some(kept.to_owned()),
            Self::Other(real) => Some(real.clone()),
            Self::TooLong => None,
        }
    }
}

/// The names used to answer a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct AnswerNames {
    pub(super) session: AnswerName,
    /// The agent that escalated.
    pub(super) by: AnswerName,
}

impl AnswerNames {
    /// Records the names in a message or a frame of the session.
    pub(super) fn note(&mut self, map: &Map<String, Value>) {
        let message = inner(map);
        if let (Some(raw), Some(kept)) = (raw(message), session(message)) {
            self.session = AnswerName::of(raw, &kept);
        }
        if message.get("performative").and_then(Value::as_str) == Some("ESCALATE") {
            let sender = message.get("sender");
            let sender = sender.and_then(|it| it.as_str().or_else(|| it.get("agentId")?.as_str()));
            self.by = sender.map_or(AnswerName::AsKept, |raw| {
                AnswerName::of(raw, &tame(raw, LONGEST_NAME))
            });
        }
    }
}

/// Returns the message inside a frame, or the map itself if it is a bare message.
fn inner(map: &Map<String, Value>) -> &Map<String, Value> {
    map.get("envelope")
        .and_then(Value::as_object)
        .unwrap_or(map)
}

fn raw(map: &Map<String, Value>) -> Option<&str> {
    map.get("sessionId").and_then(Value::as_str)
}

/// Returns the name under which the session of a frame is followed, if it names one.
pub(super) fn of_frame(map: &Map<String, Value>) -> Option<String> {
    session(inner(map))
}

/// Returns the name under which a session is followed. A name that cannot be kept as it is gets a mark of the whole
/// name, so that two long names differing only at the end stay distinct.
pub(super) fn session(map: &Map<String, Value>) -> Option<String> {
    let raw = match map.get("sessionId")? {
        Value::String(raw) => raw,
        Value::Number(number) => return Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let kept = tame(raw, LONGEST_NAME);
    if kept.is_empty() || kept == *raw {
        return Some(kept).filter(|kept| !kept.is_empty());
    }
    Some(format!(
        "{} {:016x}",
        tame(raw, LONGEST_NAME - 18),
        mark(raw)
    ))
}

/// Returns a number for a text (FNV-1a): enough to distinguish names that are not deliberately alike; for those that
/// are, answers use the name heard last.
fn mark(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |mark, byte| {
        (mark ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
