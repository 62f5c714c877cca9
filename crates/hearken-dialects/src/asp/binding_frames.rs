//! The input of a link of this protocol: bare messages, and the frames of its WebSocket binding.
//!
//! Responsibilities: telling the frames apart, and recognising the protocol. Not here: the content of a message
//! (`message`), the effect of a frame (`translator`).

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::Recognition;
use crate::protocol::object;

use super::long_names;
use super::message::{self, AspMessage, tame};
use super::states::State;

/// The longest announced text of an error frame, in characters: a sentence or two.
const LONGEST_ERROR: usize = 500;

/// The content of one frame.
#[derive(Debug, Clone, PartialEq)]
pub enum FrameContent {
    /// A message of the session.
    Message(Box<AspMessage>),
    /// The server lets us in, and reports the session's state.
    Let {
        /// The session.
        session: String,
        /// Its state, if it is one of the nine.
        state: Option<State>,
        /// The participants.
        participants: Vec<String>,
    },
    /// The server accepted one of our messages.
    Taken {
        /// The id of the message.
        message: String,
    },
    /// The server reports the session's state.
    At {
        /// The session, if the frame names one.
        session: Option<String>,
        /// Its state.
        state: State,
        /// The time of the report.
        stamp: Option<Timestamp>,
        /// Whether it is only a heartbeat.
        heartbeat: bool,
    },
    /// A heartbeat without a state.
    Alive,
    /// How far a participant is trusted.
    Trust {
        /// The participant.
        agent: String,
        /// The score, as written.
        score: String,
    },
    /// The server reports an error.
    Complaint {
        /// The short code.
        code: String,
        /// The text.
        words: String,
    },
    /// A client's frame, which captures of both directions contain.
    FromClient,
}

/// The types of the binding's frames, each with the fields that it must have: other protocols use the same type names.
const FRAMES: [(&str, &[&str]); 10] = [
    ("auth_ok", &["sessionId", "state", "participants"]),
    ("message", &["envelope"]),
    ("ack", &["messageId"]),
    ("session_state", &["state"]),
    ("trust_update", &["agentId"]),
    ("heartbeat", &["state", "timestamp"]),
    ("error", &["code"]),
    ("auth", &["token", "dpopProof"]),
    ("send", &["envelope"]),
    ("pong", &[]),
];

/// The frames that only this protocol sends in this form.
const SURE: [&str; 5] = [
    "auth_ok",
    "message",
    "send",
    "session_state",
    "trust_update",
];

/// Returns whether a text is of this protocol.
pub fn recognise(text: &str) -> Recognition {
    object(text).map_or(Recognition::No, |map| looks(&map))
}

/// Judges whether an object is of this protocol.
fn looks(map: &Map<String, Value>) -> Recognition {
    if map.contains_key("@context") || map.contains_key("jsonrpc") {
        return Recognition::No;
    }
    if message::looks_like_one(map) {
        return Recognition::Surely;
    }
    let Some(kind) = map.get("type").and_then(Value::as_str) else {
        return Recognition::No;
    };
    let known = FRAMES
        .iter()
        .find(|(name, _)| *name == kind)
        .is_some_and(|(_, fields)| {
            fields.is_empty() || fields.iter().any(|field| map.contains_key(*field))
        });
    let envelope = map.get("envelope").and_then(Value::as_object);
    match known {
        false => Recognition::No,
        true if envelope.is_some_and(message::looks_like_one) => Recognition::Surely,
        true if map.contains_key("envelope") => Recognition::Perhaps,
        true if SURE.contains(&kind) && state(map).is_some_and(|it| it.is_some()) => {
            Recognition::Surely
        }
        true if kind == "trust_update" && map.contains_key("score") => Recognition::Surely,
        true => Recognition::Perhaps,
    }
}

/// Reads a frame; `None` if it is not of this protocol.
pub fn read(map: &Map<String, Value>) -> Option<FrameContent> {
    let text = |key: &str, most: usize| {
        map.get(key)
            .and_then(Value::as_str)
            .map(|text| tame(text, most))
            .filter(|text| !text.is_empty())
    };
    let name = |key: &str| text(key, message::LONGEST_NAME);
    if map.contains_key("performative") {
        return AspMessage::read(map)
            .map(Box::new)
            .map(FrameContent::Message);
    }
    let stamp = || name("timestamp").and_then(|text| text.parse().ok());
    Some(match map.get("type")?.as_str()? {
        "message" => {
            let envelope = map.get("envelope")?.as_object()?;
            FrameContent::Message(Box::new(AspMessage::read(envelope)?))
        }
        "auth_ok" => FrameContent::Let {
            session: long_names::session(map).unwrap_or_default(),
            state: state(map).flatten(),
            participants: map
                .get("participants")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|it| it.as_str().or_else(|| it.get("agentId")?.as_str()))
                .map(|it| tame(it, message::LONGEST_NAME))
                .take(8)
                .collect(),
        },
        "ack" => FrameContent::Taken {
            message: name("messageId")?,
        },
        kind @ ("session_state" | "heartbeat") => match state(map).flatten() {
            Some(state) => FrameContent::At {
                session: long_names::session(map),
                state,
                stamp: stamp(),
                heartbeat: kind == "heartbeat",
            },
            None if kind == "heartbeat" => FrameContent::Alive,
            None => return None,
        },
        "trust_update" => FrameContent::Trust {
            agent: name("agentId")?,
            score: match map.get("score")? {
                Value::Number(number) => number.to_string(),
                Value::String(text) => tame(text, 32),
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
            },
        },
        "error" => FrameContent::Complaint {
            code: name("code").unwrap_or_default(),
            words: text("message", LONGEST_ERROR).unwrap_or_default(),
        },
        "auth" | "send" | "pong" => FrameContent::FromClient,
        _ => return None,
    })
}

/// Reads the state of a frame; the outer `None` means that the field is missing.
fn state(map: &Map<String, Value>) -> Option<Option<State>> {
    let text = map.get("state")?.as_str()?;
    Some(State::read(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn looks_like(value: Value) -> Recognition {
        looks(value.as_object().unwrap())
    }

    #[test]
    fn it_is_known_by_what_nothing_else_sends() {
        let message =
            json!({"version": "asp/0.1", "messageId": "m", "performative": "QUERY", "sender": "a"});
        for (value, wanted) in [
            (message.clone(), Recognition::Surely),
            (
                json!({"performative": "QUERY", "sequenceNumber": 1}),
                Recognition::Surely,
            ),
            (
                json!({"type": "message", "envelope": message}),
                Recognition::Surely,
            ),
            (
                json!({"type": "auth_ok", "sessionId": "s", "state": "CONVERSING", "participants": []}),
                Recognition::Surely,
            ),
            (
                json!({"type": "session_state", "state": "CLOSED", "previous": "CONVERSING"}),
                Recognition::Surely,
            ),
            (
                json!({"type": "trust_update", "agentId": "a", "score": 3}),
                Recognition::Surely,
            ),
            (
                json!({"type": "ack", "messageId": "m"}),
                Recognition::Perhaps,
            ),
            (
                json!({"type": "error", "code": "x", "message": "y"}),
                Recognition::Perhaps,
            ),
            (json!({"type": "pong"}), Recognition::Perhaps),
            (json!({"type": "message", "text": "hi"}), Recognition::No),
            (json!({"type": "error", "message": "y"}), Recognition::No),
            (json!({"performative": "QUERY"}), Recognition::No),
            (
                json!({"performative": "QUERY", "messageId": "m", "@context": "https://aaep-protocol.org/context/v1"}),
                Recognition::No,
            ),
            (
                json!({"jsonrpc": "2.0", "performative": "QUERY", "messageId": "m"}),
                Recognition::No,
            ),
            (
                json!({"type": "purple", "session_id": "s"}),
                Recognition::No,
            ),
        ] {
            assert_eq!(looks_like(value.clone()), wanted, "{value}");
        }
    }

    #[test]
    fn every_frame_of_the_binding_is_read() {
        let read = |value: Value| read(value.as_object().unwrap());
        assert_eq!(
            read(
                json!({"type": "auth_ok", "sessionId": "s", "state": "ESCALATED", "participants": ["a", {"agentId": "b"}, 3]})
            ),
            Some(FrameContent::Let {
                session: "s".to_owned(),
                state: Some(State::Escalated),
                participants: vec!["a".to_owned(), "b".to_owned()],
            })
        );
        assert_eq!(
            read(json!({"type": "ack", "messageId": "m", "sequenceNumber": 1})),
            Some(FrameContent::Taken {
                message: "m".to_owned()
            })
        );
        assert_eq!(
            read(json!({"type": "heartbeat", "timestamp": "x"})),
            Some(FrameContent::Alive)
        );
        assert!(matches!(
            read(json!({"type": "heartbeat", "state": "CLOSED"})),
            Some(FrameContent::At {
                state: State::Closed,
                heartbeat: true,
                ..
            })
        ));
        assert_eq!(
            read(json!({"type": "session_state", "state": "PURPLE"})),
            None
        );
        assert_eq!(
            read(json!({"type": "trust_update", "agentId": "a", "score": 70.5})),
            Some(FrameContent::Trust {
                agent: "a".to_owned(),
                score: "70.5".to_owned()
            })
        );
        assert!(matches!(
            read(json!({"type": "error", "code": "c", "message": "m"})),
            Some(FrameContent::Complaint { .. })
        ));
        for kind in ["auth", "send", "pong"] {
            assert_eq!(read(json!({"type": kind})), Some(FrameContent::FromClient));
        }
        assert_eq!(read(json!({"type": "message", "envelope": {"x": 1}})), None);
        assert_eq!(read(json!({"type": "purple"})), None);
    }
}
