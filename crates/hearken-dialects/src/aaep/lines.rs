//! The lines of a program: JSON-RPC around AAEP's messages, or bare messages (B.6).
//!
//! Responsibilities: telling JSON-RPC from bare messages, unwrapping events and results, wrapping outgoing messages by
//! type, answering a program's other requests. Not here: envelopes and ids (`rpc`), what a message means.
//!
//! | message type | goes out as |
//! |---|---|
//! | `subscription.request` | request `aaep.subscribe` |
//! | `subscription.renegotiate` | request `aaep.renegotiate` |
//! | `subscription.close` | notification `aaep.close` |
//! | every reply | notification `aaep.reply` |
//!
//! A program that does not know the method `aaep.subscribe` has no handshake, which is not a refusal; every other error
//! is one.
//!
//! A program that has written nothing yet is assumed to speak JSON-RPC, because there the subscriber speaks first. A
//! program whose first line is a bare message gets bare messages.

use serde::Deserialize;
use serde_json::json;

use crate::Foreign;
use crate::rpc::{self, Message, NO_SUCH_METHOD, PendingRequests, Text};

/// The content of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// A message, as it arrived.
    Message(String),
    /// The line that answers this one.
    Answer(String),
    /// The program reports that it has no subscriptions.
    NoSubscriptions,
    /// A request of another protocol that cannot be answered on the person's behalf.
    NotMine(Foreign),
    /// Nothing of interest.
    Nothing,
}

/// How a program writes its messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Speech {
    /// It has written nothing yet.
    #[default]
    Silent,
    /// JSON-RPC 2.0.
    Rpc,
    /// One message per line, without an envelope.
    Bare,
}

/// The pending requests to a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Request {
    Subscribe,
    Renegotiate,
}

/// How a program writes, as far as known.
#[derive(Debug, Default)]
pub(super) struct Lines {
    speech: Speech,
    asked: PendingRequests<Request>,
}

impl Lines {
    /// Reads a line.
    pub(super) fn read(&mut self, line: &str) -> Line {
        let message = match rpc::read(line) {
            Text::Rpc(message) => message,
            Text::Object => {
                if self.speech == Speech::Silent {
                    self.speech = Speech::Bare;
                }
                return Line::Message(line.to_owned());
            }
            // A greeting for people does not show how the program speaks to us.
            Text::Other => return Line::Message(line.to_owned()),
        };
        self.speech = Speech::Rpc;
        match message {
            Message::Notification { method, params } => match method.as_str() {
                "aaep.event" | "aaep.close" => params.map_or(Line::Nothing, Line::Message),
                // A notification of another method is not for us; an unknown event is.
                _ => Line::Nothing,
            },
            Message::Request { id, method, params } => match method.as_str() {
                "aaep.event" => params.map_or(Line::Nothing, Line::Message),
                "aaep.ping" => Line::Answer(rpc::result(&id, "{}")),
                method => match Foreign::of_method(method) {
                    // Reporting the method as missing could be taken for the person's answer.
                    Foreign::Acp => Line::NotMine(Foreign::Acp),
                    _ => Line::Answer(rpc::error(
                        &id,
                        NO_SUCH_METHOD,
                        "a subscriber does not know this method",
                    )),
                },
            },
            Message::Result { id, result } => {
                self.asked.answered(id.as_ref());
                Line::Message(result)
            }
            Message::Error { id, code, message } => {
                let ours = self.asked.gave(id.as_ref());
                match self.asked.answered(id.as_ref()) {
                    Some(Request::Subscribe) if code == NO_SUCH_METHOD => Line::NoSubscriptions,
                    Some(Request::Subscribe | Request::Renegotiate) => {
                        Line::Message(refusal(code, &message))
                    }
                    None if ours => Line::Message(refusal(code, &message)),
                    // It answers no request of ours, and ends nothing.
                    None => Line::Nothing,
                }
            }
            Message::Nothing => Line::Nothing,
        }
    }

    /// Wraps a message into a line, without the line's end.
    pub(super) fn wrap(&mut self, message: &str) -> String {
        let message = one_line(message);
        if self.speech == Speech::Bare {
            return message;
        }
        let (request, method) = match kind(&message).as_str() {
            "subscription.request" => (Request::Subscribe, "aaep.subscribe"),
            "subscription.renegotiate" => (Request::Renegotiate, "aaep.renegotiate"),
            "subscription.close" => return rpc::notification("aaep.close", &message),
            _ => return rpc::notification("aaep.reply", &message),
        };
        rpc::request(self.asked.ask(request), method, &message)
    }
}

/// Turns an error into a rejection in the protocol's own terms (5.4): JSON-RPC carries a rejection as an error
/// response.
fn refusal(code: i64, message: &str) -> String {
    let message = json!({
        "type": "subscription.rejected",
        "reason_code": "unknown",
        "reason_message": format!("{message} (JSON-RPC error {code})"),
    });
    message.to_string()
}

/// Returns the type of one of our own messages.
fn kind(message: &str) -> String {
    #[derive(Deserialize)]
    struct Kind {
        r#type: String,
    }
    serde_json::from_str::<Kind>(message)
        .map(|kind| kind.r#type)
        .unwrap_or_default()
}

/// Returns a message without line breaks, which in JSON never occur inside a string.
fn one_line(message: &str) -> String {
    message.replace(['\n', '\r'], " ")
}

#[cfg(test)]
#[path = "tests/lines.rs"]
mod tests;
