//! Names that are too long to be kept as they are: by which of them a session is known here, and by which it is answered.
//!
//! Responsibilities: the name under which a session is followed, its own name and that of who escalated for an answer.
//! Not here: texts that are told (`message`), the answer itself (`handler`).

use serde_json::{Map, Value};

use super::message::{LONGEST_NAME, tame};

/// The longest name that is kept for an answer, in bytes: many times what an id or an address comes to, and little
/// beside a session's other texts.
const LONGEST_REAL: usize = 4096;

/// Says by which name something is answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Real {
    /// By the one that is kept here.
    #[default]
    AsKept,
    /// By this one.
    Other(String),
    /// By none: it is too long to be kept.
    TooLong,
}

impl Real {
    fn of(raw: &str, kept: &str) -> Self {
        if raw == kept {
            Self::AsKept
        } else if raw.len() <= LONGEST_REAL {
            Self::Other(raw.to_owned())
        } else {
            Self::TooLong
        }
    }

    /// Returns the name for an answer, by the one that is kept.
    pub(super) fn name(&self, kept: &str) -> Option<String> {
        match self {
            Self::AsKept => Some(kept.to_owned()),
            Self::Other(real) => Some(real.clone()),
            Self::TooLong => None,
        }
    }
}

/// The names of a session for an answer to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Names {
    pub(super) session: Real,
    /// Who escalated.
    pub(super) by: Real,
}

impl Names {
    /// Takes note of a message or a frame of the session.
    pub(super) fn note(&mut self, map: &Map<String, Value>) {
        let message = inner(map);
        if let (Some(raw), Some(kept)) = (raw(message), session(message)) {
            self.session = Real::of(raw, &kept);
        }
        if message.get("performative").and_then(Value::as_str) == Some("ESCALATE") {
            let sender = message.get("sender");
            let sender = sender.and_then(|it| it.as_str().or_else(|| it.get("agentId")?.as_str()));
            self.by = sender.map_or(Real::AsKept, |raw| Real::of(raw, &tame(raw, LONGEST_NAME)));
        }
    }
}

/// Returns the message in a frame, or what stands bare.
fn inner(map: &Map<String, Value>) -> &Map<String, Value> {
    map.get("envelope")
        .and_then(Value::as_object)
        .unwrap_or(map)
}

fn raw(map: &Map<String, Value>) -> Option<&str> {
    map.get("sessionId").and_then(Value::as_str)
}

/// Returns the name under which the session of a frame is followed, where it names one.
pub(super) fn of_frame(map: &Map<String, Value>) -> Option<String> {
    session(inner(map))
}

/// Returns the name under which a session is followed. One that can't be kept as it is gets a mark of its whole, so that
/// two long ones that only end differently stay two.
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

/// Makes a number of a text (FNV-1a): enough to tell names apart that nobody chose to look alike; those who did are
/// answered by the name that was heard last.
fn mark(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |mark, byte| {
        (mark ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
