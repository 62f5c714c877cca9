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

use crate::ForeignFormat;
use crate::rpc::{self, NO_SUCH_METHOD, PendingRequests, RpcKind, RpcMessage};

/// The content of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProgramLine {
    /// A message, as it arrived.
    Message(String),
    /// The line that answers this one.
    Answer(String),
    /// The program reports that it has no subscriptions.
    NoSubscriptions,
    /// A request of another protocol that cannot be answered on the person's behalf.
    NotMine(ForeignFormat),
    /// Nothing of interest.
    Nothing,
}

/// How a program writes its messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum MessageStyle {
    /// It has written nothing yet.
    #[default]
    Silent,
    /// JSON-RPC 2.0.
    Rpc,
    /// One message per line, without an envelope.
    Bare,
}

/// A request to a program that waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AskedProgram {
    Subscribe,
    Renegotiate,
}

/// How a program writes, as far as known.
#[derive(Debug, Default)]
pub(super) struct WritingStyle {
    speech: MessageStyle,
    pending_requests: PendingRequests<AskedProgram>,
}

impl WritingStyle {
    /// Reads a line.
    pub(super) fn read(&mut self, line: &str) -> ProgramLine {
        let message = match rpc::read(line) {
            RpcKind::Rpc(message) => message,
            RpcKind::Object => {
                if self.speech == MessageStyle::Silent {
                    self.speech = MessageStyle::Bare;
                }
                return ProgramLine::Message(line.to_owned());
            }
            // A greeting for people does not show how the program speaks to us.
            RpcKind::Other => return ProgramLine::Message(line.to_owned()),
        };
        self.speech = MessageStyle::Rpc;
        match message {
            RpcMessage::Notification { method, params } => match method.as_str() {
                "aaep.event" | "aaep.close" => {
                    params.map_or(ProgramLine::Nothing, ProgramLine::Message)
                }
                // A notification of another method is not for us; an unknown event is.
                _ => ProgramLine::Nothing,
            },
            RpcMessage::Request { id, method, params } => match method.as_str() {
                "aaep.event" => params.map_or(ProgramLine::Nothing, ProgramLine::Message),
                "aaep.ping" => ProgramLine::Answer(rpc::result(&id, "{}")),
                method => match ForeignFormat::of_method(method) {
                    // Reporting the method as missing could be taken for the person's answer.
                    ForeignFormat::Acp => ProgramLine::NotMine(ForeignFormat::Acp),
                    _ => ProgramLine::Answer(rpc::error(
                        &id,
                        NO_SUCH_METHOD,
                        "a subscriber does not know this method",
                    )),
                },
            },
            RpcMessage::Result { id, result } => {
                self.pending_requests.answered(id.as_ref());
                ProgramLine::Message(result)
            }
            RpcMessage::Error { id, code, message } => {
                let ours = self.pending_requests.gave(id.as_ref());
                match self.pending_requests.answered(id.as_ref()) {
                    Some(AskedProgram::Subscribe) if code == NO_SUCH_METHOD => {
                        ProgramLine::NoSubscriptions
                    }
                    Some(AskedProgram::Subscribe | AskedProgram::Renegotiate) => {
                        ProgramLine::Message(refusal(code, &message))
                    }
                    None if ours => ProgramLine::Message(refusal(code, &message)),
                    // It answers no request of ours, and ends nothing.
                    None => ProgramLine::Nothing,
                }
            }
            RpcMessage::Nothing => ProgramLine::Nothing,
        }
    }

    /// Wraps a message into a line, without the line's end.
    pub(super) fn wrap(&mut self, message: &str) -> String {
        let message = one_line(message);
        if self.speech == MessageStyle::Bare {
            return message;
        }
        let (request, method) = match kind(&message).as_str() {
            "subscription.request" => (AskedProgram::Subscribe, "aaep.subscribe"),
            "subscription.renegotiate" => (AskedProgram::Renegotiate, "aaep.renegotiate"),
            "subscription.close" => return rpc::notification("aaep.close", &message),
            _ => return rpc::notification("aaep.reply", &message),
        };
        rpc::request(self.pending_requests.ask(request), method, &message)
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
    struct MessageKind {
        r#type: String,
    }
    serde_json::from_str::<MessageKind>(message)
        .map(|kind| kind.r#type)
        .unwrap_or_default()
}

/// Returns a message without line breaks, which in JSON never occur inside a string.
fn one_line(message: &str) -> String {
    message.replace(['\n', '\r'], " ")
}

#[cfg(test)]
#[path = "tests/program_lines.rs"]
mod tests;
