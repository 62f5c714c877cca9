//! JSON-RPC 2.0 as a framing: what a line carries, and how a message is put into one (AAEP B.6).
//!
//! Responsibilities: telling JSON-RPC from bare messages by what comes, unwrapping events and results,
//! wrapping what goes out by its type, answering liveness checks. Not here: reading lines, what a message
//! means.
//!
//! | message type | goes out as |
//! |---|---|
//! | `subscription.request` | request `aaep.subscribe` |
//! | `subscription.renegotiate` | request `aaep.renegotiate` |
//! | `subscription.close` | notification `aaep.close` |
//! | every reply | notification `aaep.reply` |
//!
//! A program that does not know the method `aaep.subscribe` has no handshake, which is no refusal; every other
//! error is one.
//!
//! Until the program has said something it is taken for one that speaks JSON-RPC, because there the
//! subscriber speaks first. A program whose first line is a bare message gets bare messages.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Is what a line carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// A message, as it came.
    Message(String),
    /// The line that answers this one.
    Wanted(String),
    /// The program says that it knows no subscriptions.
    NoSubscriptions,
    /// Nothing that anybody needs to know.
    Nothing,
}

/// Says how a program speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Speech {
    /// It said nothing yet.
    #[default]
    Silent,
    /// JSON-RPC 2.0.
    Rpc,
    /// One message a line, without an envelope.
    Bare,
}

/// Keeps what is known of the way a program speaks.
#[derive(Debug, Default)]
pub(super) struct Dialogue {
    speech: Speech,
    last_id: u64,
    /// The id of the request for a subscription, until it is answered.
    subscribing: Option<u64>,
}

/// Is the envelope of a line; what it carries is not read.
#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: Option<Value>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<RpcError>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RpcError {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

/// The method by which a subscription is asked for.
const SUBSCRIBE: &str = "aaep.subscribe";

/// JSON-RPC's code for a method that is not there.
const NO_SUCH_METHOD: i64 = -32601;

impl Dialogue {
    /// Reads a line.
    pub(super) fn read(&mut self, line: String) -> Line {
        let envelope = match serde_json::from_str::<Envelope<'_>>(&line) {
            Ok(envelope) if envelope.jsonrpc.is_some() => envelope,
            Ok(_) => {
                if self.speech == Speech::Silent {
                    self.speech = Speech::Bare;
                }
                return Line::Message(line);
            }
            // A greeting for people tells nothing about the way it speaks to us.
            Err(_) => return Line::Message(line),
        };
        self.speech = Speech::Rpc;
        let answers = |asked: Option<u64>| {
            let id = envelope.id.and_then(|id| id.get().parse::<u64>().ok());
            id.is_some() && id == asked
        };
        if envelope.method.is_none() && answers(self.subscribing) {
            self.subscribing = None;
            let missing = |error: &RpcError| error.code == NO_SUCH_METHOD;
            if envelope.result.is_none() && envelope.error.as_ref().is_some_and(missing) {
                return Line::NoSubscriptions;
            }
        }
        let id = envelope.id.and_then(|id| id.get().parse::<u64>().ok());
        let ours = id.is_some_and(|id| (1..=self.last_id).contains(&id));
        let text = |raw: &RawValue| Line::Message(raw.get().to_owned());
        match (envelope.method.as_deref(), envelope.id) {
            (Some("aaep.event" | "aaep.close"), None) => {
                envelope.params.map_or(Line::Nothing, text)
            }
            (Some("aaep.event"), Some(_)) => envelope.params.map_or(Line::Nothing, text),
            (Some("aaep.ping"), Some(id)) => Line::Wanted(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}",
                id.get()
            )),
            (Some(_), Some(id)) => Line::Wanted(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{{\"code\":{NO_SUCH_METHOD},\
                 \"message\":\"a subscriber does not know this method\"}}}}",
                id.get()
            )),
            // A notification of another method is no message of ours; an unknown event is one.
            (Some(_), None) => Line::Nothing,
            (None, _) => match (envelope.result, envelope.error) {
                (Some(result), _) => text(result),
                (None, Some(error)) if ours => Line::Message(refusal(&error)),
                // It is about no request of ours, and ends nothing.
                (None, Some(_) | None) => Line::Nothing,
            },
        }
    }

    /// Puts a message into the line that carries it, without the line's end.
    pub(super) fn wrap(&mut self, message: &str) -> String {
        let message = one_line(message);
        if self.speech == Speech::Bare {
            return message;
        }
        let method = match kind(&message).as_str() {
            "subscription.request" => Method::Request(SUBSCRIBE),
            "subscription.renegotiate" => Method::Request("aaep.renegotiate"),
            "subscription.close" => Method::Notification("aaep.close"),
            _ => Method::Notification("aaep.reply"),
        };
        match method {
            Method::Request(method) => {
                self.last_id += 1;
                let id = self.last_id;
                if method == SUBSCRIBE {
                    self.subscribing = Some(id);
                }
                format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{message}}}"
                )
            }
            Method::Notification(method) => {
                format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{message}}}")
            }
        }
    }
}

/// Says how a message goes out.
enum Method {
    Request(&'static str),
    Notification(&'static str),
}

/// Turns an error into the message that says the same in the protocol's own terms (5.4): the error
/// response is how JSON-RPC carries a rejection.
fn refusal(error: &RpcError) -> String {
    let message = json!({
        "type": "subscription.rejected",
        "reason_code": "unknown",
        "reason_message": format!("{} (JSON-RPC error {})", error.message, error.code),
    });
    message.to_string()
}

/// Reads the type of one of our own messages.
fn kind(message: &str) -> String {
    #[derive(Deserialize)]
    struct Kind {
        r#type: String,
    }
    serde_json::from_str::<Kind>(message)
        .map(|kind| kind.r#type)
        .unwrap_or_default()
}

/// Gives a message without line breaks; in JSON they never stand inside a string.
fn one_line(message: &str) -> String {
    message.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn what_comes_is_unwrapped_as_it_came() {
        let mut dialogue = Dialogue::default();
        let event = r#"{"type":"aaep:agent.state.changed","n":1.50,"x":"é"}"#;
        let line = format!(r#"{{"jsonrpc":"2.0","method":"aaep.event","params":{event}}}"#);
        assert_eq!(dialogue.read(line), Line::Message(event.to_owned()));
        let accepted = r#"{"type":"subscription.accepted"}"#;
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{accepted}}}"#);
        assert_eq!(dialogue.read(line), Line::Message(accepted.to_owned()));
        let close = r#"{"type":"subscription.close"}"#;
        let line = format!(r#"{{"jsonrpc":"2.0","method":"aaep.close","params":{close}}}"#);
        assert_eq!(dialogue.read(line), Line::Message(close.to_owned()));
        let other = r#"{"jsonrpc":"2.0","method":"$/progress","params":{}}"#;
        assert_eq!(dialogue.read(other.to_owned()), Line::Nothing);
    }

    #[test]
    fn a_liveness_check_and_an_unknown_request_are_answered() {
        let mut dialogue = Dialogue::default();
        for id in ["7", "\"a b\""] {
            let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"aaep.ping"}}"#);
            let wanted = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
            assert_eq!(dialogue.read(ping), Line::Wanted(wanted));
        }
        let ask = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        match dialogue.read(ask.to_owned()) {
            Line::Wanted(answer) => {
                let answer: Value = serde_json::from_str(&answer).unwrap();
                assert_eq!(answer["error"]["code"], NO_SUCH_METHOD);
            }
            other => panic!("{other:?}"),
        }
    }

    /// Asks for a subscription and reads the line that answers.
    fn answered(line: &str) -> Line {
        let mut dialogue = Dialogue::default();
        dialogue.wrap(r#"{"type":"subscription.request"}"#);
        dialogue.read(line.to_owned())
    }

    #[test]
    fn an_error_to_our_request_is_a_rejection_and_one_to_nobodys_ends_nothing() {
        let busy = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"busy"}}"#;
        let Line::Message(text) = answered(busy) else {
            panic!("{:?}", answered(busy));
        };
        let message: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(message["type"], "subscription.rejected");
        assert_eq!(message["reason_message"], "busy (JSON-RPC error -32000)");
        for id in ["null", "2", "0", "\"1\""] {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"what?"}}}}"#
            );
            assert_eq!(answered(&line), Line::Nothing, "{line}");
        }
    }

    #[test]
    fn a_program_that_does_not_know_the_method_has_no_subscriptions() {
        let missing = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}"#;
        assert_eq!(answered(missing), Line::NoSubscriptions);
        // Once answered, the id means nothing any more.
        let mut dialogue = Dialogue::default();
        dialogue.wrap(r#"{"type":"subscription.request"}"#);
        dialogue.read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned());
        assert!(matches!(
            dialogue.read(missing.to_owned()),
            Line::Message(_)
        ));
        // A result that comes along counts more than the error beside it.
        let both = r#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":{"code":-32601}}"#;
        assert_eq!(answered(both), Line::Message(r#"{"a":1}"#.to_owned()));
    }

    #[test]
    fn what_goes_out_is_wrapped_by_its_type() {
        let mut dialogue = Dialogue::default();
        for (kind, method, id) in [
            ("subscription.request", "aaep.subscribe", Some(1)),
            ("subscription.renegotiate", "aaep.renegotiate", Some(2)),
            ("subscription.close", "aaep.close", None),
            ("confirmation.reply", "aaep.reply", None),
            ("clarification.reply", "aaep.reply", None),
        ] {
            let message = format!("{{\"type\":\"{kind}\",\n\"text\":\"a\\nb\"}}");
            let line = dialogue.wrap(&message);
            assert!(!line.contains('\n'));
            let line: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(line["jsonrpc"], "2.0");
            assert_eq!(line["method"], method);
            assert_eq!(line.get("id").and_then(Value::as_u64), id);
            assert_eq!(line["params"]["type"], kind);
            assert_eq!(line["params"]["text"], "a\nb");
        }
    }

    #[test]
    fn a_program_that_speaks_bare_is_answered_bare() {
        let mut dialogue = Dialogue::default();
        let event = r#"{"type":"aaep:agent.session.started"}"#;
        assert_eq!(
            dialogue.read(event.to_owned()),
            Line::Message(event.to_owned())
        );
        let reply = r#"{"type":"confirmation.reply"}"#;
        assert_eq!(dialogue.wrap(reply), reply);
        assert_eq!(
            dialogue.read("no JSON".to_owned()),
            Line::Message("no JSON".to_owned())
        );
    }

    #[test]
    fn a_greeting_for_people_does_not_decide_how_a_program_speaks() {
        let mut dialogue = Dialogue::default();
        for greeting in ["Loading the model", "50%", "[1, 2]", "\"ready\"", "{"] {
            assert_eq!(
                dialogue.read(greeting.to_owned()),
                Line::Message(greeting.to_owned())
            );
        }
        let line = dialogue.wrap(r#"{"type":"confirmation.reply"}"#);
        assert!(line.contains("aaep.reply"), "{line}");
    }
}
