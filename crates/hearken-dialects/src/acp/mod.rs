//! The Agent Client Protocol: an agent that runs below us and is prompted, stopped and answered. Pure.
//!
//! Responsibilities: being the client of such an agent, telling its turns in AAEP's terms, asking the person for its
//! permissions and giving back what they decide. Not here: AAEP itself (`protocol`), starting the agent (`transport`), what
//! is said in the end (`announce`).
//!
//! # Mental model
//! One turn (a prompt and everything until the agent is done with it) is one session of AAEP; the conversation that it
//! belongs to is named in its events. A permission that the agent requests is a question of AAEP, asked one after the
//! other. Nothing is ever answered in the person's name: what they did not decide stays open, but for `cancelled` after
//! they stopped the turn, and for a refusal of what the agent itself withdrew.
//!
//! A turn, its calls and its permissions are what other agents have, too, whose protocols say the same in other messages:
//! `codex` and `opencode` tell their turns with what stands here.

pub mod address;
mod agent;
mod along;
pub(super) mod aside;
mod asking;
pub(super) mod call;
mod changing;
mod client;
mod earlier;
pub(super) mod ending;
pub(super) mod filling;
pub(super) mod form;
mod forms;
pub(super) mod input;
mod meeting;
pub(super) mod options;
pub(super) mod permission;
mod prompting;
pub(super) mod read;
mod settings;
mod signing;
#[cfg(test)]
mod tests;
pub(super) mod turn;

pub use along::{Along, Decided};
pub use client::Acp;

use super::Sign;
use super::rpc::{self, Message, Text};

/// Returns whether a text is of this protocol.
pub fn recognise(text: &str) -> Sign {
    let Text::Rpc(message) = rpc::read(text) else {
        return Sign::No;
    };
    match message {
        Message::Notification { method, .. } | Message::Request { method, .. }
            if method == "session/update" || method == "session/request_permission" =>
        {
            Sign::Surely
        }
        Message::Result { result, .. } if agent::is_greeting(&result) => Sign::Surely,
        Message::Notification { .. }
        | Message::Request { .. }
        | Message::Result { .. }
        | Message::Error { .. }
        | Message::Nothing => Sign::No,
    }
}
