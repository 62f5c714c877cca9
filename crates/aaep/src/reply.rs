//! The replies to a producer (6.3, 6.5), with exactly the keys that the chapter allows.

use std::sync::LazyLock;

use jiff::Timestamp;
use memchr::memmem::Finder;
use serde_json::{Map, Value};

use super::decode;
use super::event::Decision;
use super::ids::ReplyToken;

/// The answer to a clarification, typed as 6.5.2 asks.
#[derive(Debug, Clone, PartialEq)]
pub enum Response {
    /// Free text, or the value of a choice.
    Text(String),
    /// Yes or no.
    YesNo(bool),
    /// A number.
    Number(f64),
}

/// The longest `decision_rationale`, in characters, as in the protocol's schema of replies.
pub const LONGEST_RATIONALE: usize = 4096;

/// A person's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A decision on a confirmation, with the person's reason if they gave one.
    Decision {
        /// The decision.
        decision: Decision,
        /// `decision_rationale`.
        rationale: Option<String>,
    },
    /// An answer to a clarification.
    Response(Response),
}

/// One reply, ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The question's token, unchanged.
    pub token: ReplyToken,
    /// The answer.
    pub answer: Answer,
    /// When the person decided; a retry keeps it.
    pub timestamp: Timestamp,
    /// Who decided: `user:…` or `auto:…`.
    pub decided_by: String,
}

impl Reply {
    /// Returns the message as JSON text for the subscription that carries it.
    pub fn to_json(&self, subscription_id: &str) -> String {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| {
            map.insert(key.to_owned(), value);
        };
        let kind = match &self.answer {
            Answer::Decision { .. } => "confirmation.reply",
            Answer::Response(_) => "clarification.reply",
        };
        put("type", kind.into());
        put("reply_token", self.token.reveal().into());
        match &self.answer {
            Answer::Decision {
                decision,
                rationale,
            } => {
                put("decision", decision.as_str().into());
                if let Some(rationale) = rationale {
                    put("decision_rationale", rationale.as_str().into());
                }
            }
            Answer::Response(response) => put(
                "response",
                match response {
                    Response::Text(text) => text.as_str().into(),
                    Response::YesNo(yes) => (*yes).into(),
                    Response::Number(number) => number_value(*number),
                },
            ),
        }
        put("subscription_id", subscription_id.into());
        put("timestamp", rfc3339(self.timestamp).into());
        put("decided_by", self.decided_by.as_str().into());
        Value::Object(map).to_string()
    }
}

/// A reply in a capture.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedReply {
    /// The question's token.
    pub token: ReplyToken,
    /// The answer.
    pub answer: Answer,
    /// When the person decided, if the reply says so.
    pub timestamp: Option<Timestamp>,
}

impl RecordedReply {
    /// Reads a reply (6.3, 6.5); `None` if the text is not a reply.
    pub fn read(text: &str) -> Option<Self> {
        // Events are many and replies few: this check spares most texts a second parse.
        static NAMED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(".reply\""));
        NAMED.find(text.as_bytes())?;
        let value = decode::object(text)?;
        let words = |key: &str| value.get(key).and_then(Value::as_str);
        let answer = match (words("type")?, value.get("response")) {
            ("confirmation.reply", _) => Answer::Decision {
                decision: Decision::parse(words("decision")?),
                rationale: words("decision_rationale").map(str::to_owned),
            },
            ("clarification.reply", Some(Value::String(text))) => {
                Answer::Response(Response::Text(text.clone()))
            }
            ("clarification.reply", Some(Value::Bool(yes))) => {
                Answer::Response(Response::YesNo(*yes))
            }
            ("clarification.reply", Some(Value::Number(number))) => {
                Answer::Response(Response::Number(number.as_f64()?))
            }
            _ => return None,
        };
        Some(Self {
            token: ReplyToken::new(words("reply_token")?),
            answer,
            timestamp: words("timestamp").and_then(|time| time.parse().ok()),
        })
    }
}

/// Returns the message with which a person asks an agent to do something, in the form that the servers of AAEP's public
/// producers accept. The protocol itself defines none.
pub fn user_message(text: &str) -> String {
    let mut map = Map::new();
    map.insert("user_message".to_owned(), text.into());
    Value::Object(map).to_string()
}

/// Returns a whole number without a fraction, because a person who types 67 means 67.
fn number_value(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9.0e15 {
        Value::from(number as i64)
    } else {
        Value::from(number)
    }
}

/// Returns a time with milliseconds, as 3.2.5 recommends.
fn rfc3339(time: Timestamp) -> String {
    format!("{time:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(answer: Answer) -> Value {
        let reply = Reply {
            token: ReplyToken::new("rpl_1"),
            answer,
            timestamp: "2026-05-24T14:22:24.812345Z".parse().unwrap(),
            decided_by: "user:local".into(),
        };
        serde_json::from_str(&reply.to_json("sub_1")).unwrap()
    }

    fn keys(value: &Value) -> Vec<String> {
        value.as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn a_confirmation_has_exactly_its_keys() {
        let value = reply(Answer::Decision {
            decision: Decision::Accept,
            rationale: None,
        });
        assert_eq!(
            keys(&value),
            [
                "type",
                "reply_token",
                "decision",
                "subscription_id",
                "timestamp",
                "decided_by"
            ]
        );
        assert_eq!(value["type"], "confirmation.reply");
        assert_eq!(value["decision"], "accept");
        assert_eq!(value["timestamp"], "2026-05-24T14:22:24.812Z");
        let value = reply(Answer::Decision {
            decision: Decision::Reject,
            rationale: Some("too much".into()),
        });
        assert_eq!(value["decision_rationale"], "too much");
    }

    #[test]
    fn a_clarification_keeps_its_type() {
        for (response, wanted) in [
            (Response::Text("67".into()), Value::from("67")),
            (Response::YesNo(true), Value::from(true)),
            (Response::Number(67.0), Value::from(67)),
            (Response::Number(2.5), Value::from(2.5)),
        ] {
            let value = reply(Answer::Response(response));
            assert_eq!(value["response"], wanted);
            assert_eq!(
                keys(&value),
                [
                    "type",
                    "reply_token",
                    "response",
                    "subscription_id",
                    "timestamp",
                    "decided_by"
                ]
            );
        }
    }
}
