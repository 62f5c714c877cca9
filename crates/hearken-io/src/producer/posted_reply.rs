//! The form of the replies that a subscriber posts.
//!
//! Responsibilities: parsing `confirmation.reply` and `clarification.reply` exactly as chapters 6.3
//! and 6.5 define them, and reporting what is malformed. Not here: whether the token is outstanding
//! (`pending_questions`) and whether the answer fits its question (`reply_judgement`). An error names a field, never
//! its content.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// The longest free-text answer, in characters (the schema of `clarification.reply`).
const MAX_RESPONSE_CHARS: usize = 16_384;
/// The longest `decision_rationale`, in characters (the schema of `confirmation.reply`).
const MAX_RATIONALE_CHARS: usize = 4_096;
/// The longest `decided_by`, in characters (both schemas).
const MAX_DECIDED_BY_CHARS: usize = 256;
/// The longest id after its prefix, in characters (chapters 6.2.1 and 5.4.1).
const MAX_ID_CHARS: usize = 64;

/// A well-formed reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PostedReply {
    pub(super) token: String,
    pub(super) said: ReplyContent,
    pub(super) at: Timestamp,
}

/// The content of a reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReplyContent {
    /// A decision, and whether it came with a modified action.
    Decision { decision: String, modified: bool },
    /// An answer of any type.
    Response(Value),
}

/// What is wrong with the form of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The body is not JSON.
    #[error("the body is not valid JSON")]
    NotJson,
    /// The JSON is not an object.
    #[error("the message must be a JSON object")]
    NotAnObject,
    /// `type` is absent or not accepted here.
    #[error("the type must be confirmation.reply or clarification.reply")]
    UnknownType,
    /// A required field is absent.
    #[error("the field {0} is missing")]
    Missing(&'static str),
    /// A field has the wrong type or form.
    #[error("the field {0} has the wrong type or form")]
    Invalid(&'static str),
    /// The message has a field that the schema does not have.
    #[error("the message has a field that is not part of this type")]
    UnknownField,
}

impl Malformed {
    /// Returns the short code used in `error`.
    pub fn code(self) -> &'static str {
        match self {
            Malformed::NotJson => "invalid_json",
            Malformed::NotAnObject | Malformed::Invalid(_) => "invalid_message",
            Malformed::UnknownType => "unknown_type",
            Malformed::Missing(_) => "missing_field",
            Malformed::UnknownField => "unknown_field",
        }
    }
}

impl PostedReply {
    /// Parses a reply; returns the first fault found.
    pub(super) fn read(message: &Value) -> Result<Self, Malformed> {
        let fields = message.as_object().ok_or(Malformed::NotAnObject)?;
        let read_said: fn(&Map<String, Value>) -> Result<ReplyContent, Malformed>;
        let own: &[&str];
        match fields.get("type").and_then(Value::as_str) {
            Some("confirmation.reply") => {
                own = &["decision", "decision_rationale", "modified_action"];
                read_said = decision;
            }
            Some("clarification.reply") => {
                own = &["response", "confidence"];
                read_said = response;
            }
            Some(_) | None => return Err(Malformed::UnknownType),
        }
        const SHARED: [&str; 6] = [
            "type",
            "reply_token",
            "subscription_id",
            "timestamp",
            "decided_by",
            "correlation_id",
        ];
        if fields
            .keys()
            .any(|key| !SHARED.contains(&key.as_str()) && !own.contains(&key.as_str()))
        {
            return Err(Malformed::UnknownField);
        }
        let token = id(fields, "reply_token", "rpl_")?;
        id(fields, "subscription_id", "sub_")?;
        let at = timestamp(text(fields, "timestamp")?).ok_or(Malformed::Invalid("timestamp"))?;
        optional_text(fields, "decided_by", 1..=MAX_DECIDED_BY_CHARS)?;
        optional_text(fields, "correlation_id", 0..=usize::MAX)?;
        Ok(Self {
            token: token.to_owned(),
            said: read_said(fields)?,
            at,
        })
    }
}

fn decision(fields: &Map<String, Value>) -> Result<ReplyContent, Malformed> {
    let decision = text(fields, "decision")?;
    if decision.is_empty() {
        return Err(Malformed::Invalid("decision"));
    }
    optional_text(fields, "decision_rationale", 1..=MAX_RATIONALE_CHARS)?;
    let modified = match fields.get("modified_action") {
        None => false,
        Some(Value::Object(_)) => true,
        Some(_) => return Err(Malformed::Invalid("modified_action")),
    };
    Ok(ReplyContent::Decision {
        decision: decision.to_owned(),
        modified,
    })
}

fn response(fields: &Map<String, Value>) -> Result<ReplyContent, Malformed> {
    let response = match fields.get("response") {
        None => return Err(Malformed::Missing("response")),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => value,
        Some(value @ Value::String(text))
            if (1..=MAX_RESPONSE_CHARS).contains(&text.chars().count()) =>
        {
            value
        }
        Some(Value::String(_) | Value::Null | Value::Array(_) | Value::Object(_)) => {
            return Err(Malformed::Invalid("response"));
        }
    };
    let confident = fields.get("confidence").is_none_or(|value| {
        value
            .as_f64()
            .is_some_and(|value| (0.0..=1.0).contains(&value))
    });
    if !confident {
        return Err(Malformed::Invalid("confidence"));
    }
    Ok(ReplyContent::Response(response.clone()))
}

fn text<'a>(fields: &'a Map<String, Value>, name: &'static str) -> Result<&'a str, Malformed> {
    fields
        .get(name)
        .ok_or(Malformed::Missing(name))?
        .as_str()
        .ok_or(Malformed::Invalid(name))
}

fn optional_text(
    fields: &Map<String, Value>,
    name: &'static str,
    length: std::ops::RangeInclusive<usize>,
) -> Result<(), Malformed> {
    let fits = match fields.get(name) {
        None => true,
        Some(value) => value
            .as_str()
            .is_some_and(|text| length.contains(&text.chars().count())),
    };
    if fits {
        Ok(())
    } else {
        Err(Malformed::Invalid(name))
    }
}

fn id<'a>(
    fields: &'a Map<String, Value>,
    name: &'static str,
    prefix: &str,
) -> Result<&'a str, Malformed> {
    let id = text(fields, name)?;
    let rest = id.strip_prefix(prefix).ok_or(Malformed::Invalid(name))?;
    let fits = (1..=MAX_ID_CHARS).contains(&rest.len())
        && rest.bytes().all(|sign| sign.is_ascii_alphanumeric());
    if fits {
        Ok(id)
    } else {
        Err(Malformed::Invalid(name))
    }
}

/// Parses RFC 3339 and nothing looser: date, `T`, time with seconds, `Z` or an offset.
fn timestamp(text: &str) -> Option<Timestamp> {
    let shape: String = text
        .chars()
        .map(|sign| if sign.is_ascii_digit() { '0' } else { sign })
        .collect();
    let rest = shape
        .strip_prefix("0000-00-00T00:00:00")
        .or_else(|| shape.strip_prefix("0000-00-00t00:00:00"))?;
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => {
            let zone = fraction.trim_start_matches('0');
            (zone.len() < fraction.len()).then_some(zone)?
        }
        None => rest,
    };
    matches!(zone, "Z" | "z" | "+00:00" | "-00:00")
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn accept() -> Value {
        json!({"type": "confirmation.reply", "reply_token": "rpl_ab12", "decision": "accept",
               "subscription_id": "sub_1", "timestamp": "2026-05-24T14:22:24.812Z"})
    }

    fn with(mut message: Value, name: &str, value: Value) -> Value {
        message[name] = value;
        message
    }

    fn without(mut message: Value, name: &str) -> Value {
        message.as_object_mut().unwrap().remove(name);
        message
    }

    #[test]
    fn a_reply_with_every_field_is_read() {
        let mut message = accept();
        message["decided_by"] = json!("user:local");
        message["decision_rationale"] = json!("because");
        message["correlation_id"] = json!("");
        let reply = PostedReply::read(&message).unwrap();
        assert_eq!(reply.token, "rpl_ab12");
        assert_eq!(
            reply.said,
            ReplyContent::Decision {
                decision: "accept".to_owned(),
                modified: false
            }
        );
        message["modified_action"] = json!({"amount": 300});
        assert_eq!(
            PostedReply::read(&message).unwrap().said,
            ReplyContent::Decision {
                decision: "accept".to_owned(),
                modified: true
            }
        );
    }

    #[test]
    fn every_fault_of_form_is_named() {
        use Malformed::*;
        let answer = json!({"type": "clarification.reply", "reply_token": "rpl_ab12", "response": "x",
                            "subscription_id": "sub_1", "timestamp": "2026-05-24T14:22:24Z"});
        assert!(PostedReply::read(&answer).is_ok());
        for (message, fault) in [
            (json!([1]), NotAnObject),
            (json!("confirmation.reply"), NotAnObject),
            (without(accept(), "type"), UnknownType),
            (
                with(accept(), "type", json!("subscription.close")),
                UnknownType,
            ),
            (with(accept(), "extra", json!(1)), UnknownField),
            (with(accept(), "response", json!("x")), UnknownField),
            (
                with(answer.clone(), "decision", json!("accept")),
                UnknownField,
            ),
            (without(accept(), "reply_token"), Missing("reply_token")),
            (
                with(accept(), "reply_token", json!(5)),
                Invalid("reply_token"),
            ),
            (
                with(accept(), "reply_token", json!("rpl_")),
                Invalid("reply_token"),
            ),
            (
                with(accept(), "reply_token", json!("rpl_a-b")),
                Invalid("reply_token"),
            ),
            (
                with(
                    accept(),
                    "reply_token",
                    json!(format!("rpl_{}", "a".repeat(65))),
                ),
                Invalid("reply_token"),
            ),
            (
                without(accept(), "subscription_id"),
                Missing("subscription_id"),
            ),
            (
                with(accept(), "subscription_id", json!("x")),
                Invalid("subscription_id"),
            ),
            (without(accept(), "timestamp"), Missing("timestamp")),
            (
                with(accept(), "timestamp", json!("yesterday")),
                Invalid("timestamp"),
            ),
            (without(accept(), "decision"), Missing("decision")),
            (with(accept(), "decision", json!("")), Invalid("decision")),
            (with(accept(), "decision", json!(true)), Invalid("decision")),
            (
                with(accept(), "modified_action", json!("x")),
                Invalid("modified_action"),
            ),
            (
                with(accept(), "decided_by", json!("")),
                Invalid("decided_by"),
            ),
            (
                with(accept(), "decision_rationale", json!("x".repeat(4097))),
                Invalid("decision_rationale"),
            ),
            (without(answer.clone(), "response"), Missing("response")),
            (
                with(answer.clone(), "response", json!("")),
                Invalid("response"),
            ),
            (
                with(answer.clone(), "response", json!(null)),
                Invalid("response"),
            ),
            (
                with(answer.clone(), "response", json!(["x"])),
                Invalid("response"),
            ),
            (
                with(answer.clone(), "response", json!("x".repeat(16_385))),
                Invalid("response"),
            ),
            (
                with(answer.clone(), "confidence", json!(1.5)),
                Invalid("confidence"),
            ),
        ] {
            assert_eq!(PostedReply::read(&message), Err(fault), "{message}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_in_any_field_makes_it_panic(
            field in "type|reply_token|decision|subscription_id|timestamp|decided_by|response",
            text in "\\PC{0,40}|[0-9TZtz:.+-]{0,40}",
        ) {
            let _ = PostedReply::read(&with(accept(), &field, json!(text)));
            let _ = timestamp(&text);
        }
    }

    #[test]
    fn only_rfc_3339_is_a_timestamp() {
        for good in [
            "2026-05-24T14:22:24Z",
            "2026-05-24T14:22:24.812Z",
            "2026-05-24T14:22:24.812345+01:00",
            "2026-05-24t14:22:24z",
        ] {
            assert!(timestamp(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "2026-05-24",
            "2026-05-24 14:22:24Z",
            "2026-05-24T14:22Z",
            "2026-05-24T14:22:24",
            "2026-05-24T14:22:24.Z",
            "2026-13-24T14:22:24Z",
            "2026-05-24T14:22:24+0100",
            "2026-05-24T14:22:24Z[Europe/Paris]",
            "+002026-05-24T14:22:24Z",
        ] {
            assert!(timestamp(bad).is_none(), "{bad}");
        }
    }
}
