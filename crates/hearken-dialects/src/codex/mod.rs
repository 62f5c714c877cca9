//! Codex's app-server: the conversations of a Codex that runs elsewhere, heard, answered, prompted and stopped. Pure.
//!
//! Responsibilities: attaching to its threads, telling their turns in AAEP's terms, asking the person what it asks its
//! clients, giving back what they decide. Not here: what a turn becomes (`acp`, which tells it in the same way), AAEP
//! itself (`protocol`), the connection (`transport`).
//!
//! # Mental model
//! A server has threads; a thread has one turn at a time; a turn is one session of AAEP, and each thread is an agent of
//! its own. Every client of a thread hears the same, and is asked the same under the same id; whoever answers first
//! decides, and `serverRequest/resolved` tells the others. So an answer is delivered when the server says that, and not
//! when it was written. A thread that is joined in the middle, or again after a loss, is caught up with first: what comes
//! meanwhile waits, and nothing is told or asked twice.
//!
//! # Worked example
//! `item/started` names a command, and `item/commandExecution/requestApproval` with the id 0 asks for it. It becomes a
//! question with the decisions that the server takes. The connection breaks; over the next one `thread/resume` brings the
//! same request with the same id: the question can be answered again. Somebody else answers: `serverRequest/resolved`
//! closes it here.

mod answering;
mod asks;
mod client;
mod form;
mod items;
mod meeting;
mod talking;
#[cfg(test)]
mod tests;
mod thread;

pub use client::Codex;

use super::Sign;
use super::rpc::{self, Message, Text};

/// The name of this dialect.
const NAME: &str = "codex";

/// Returns whether a text is of this protocol: the server speaks only when it was spoken to, so this is for captures.
pub fn recognise(text: &str) -> Sign {
    // Another protocol on JSON-RPC says its version, which this one leaves out.
    if !matches!(rpc::read(text), Text::Object) {
        return Sign::No;
    }
    match rpc::read_bare(text) {
        Text::Rpc(
            Message::Notification { method, params } | Message::Request { method, params, .. },
        ) => {
            let known = method.starts_with("thread/")
                || method.starts_with("turn/")
                || method.starts_with("item/")
                || method == "serverRequest/resolved";
            let of_thread = params.is_some_and(|params| params.contains("\"threadId\""));
            if known && of_thread {
                Sign::Surely
            } else {
                Sign::No
            }
        }
        Text::Rpc(Message::Result { .. } | Message::Error { .. } | Message::Nothing)
        | Text::Object
        | Text::Other => Sign::No,
    }
}
