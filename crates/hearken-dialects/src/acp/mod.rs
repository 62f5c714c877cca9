//! The Agent Client Protocol: an agent that hearken runs, prompts, stops and answers. Pure.
//!
//! Responsibilities: being the client of such an agent, reporting its turns as AAEP events, asking the person for the
//! permissions that it requests, and returning the decisions. Not here: AAEP itself (`protocol`), starting the agent
//! (`transport`), the final wording (`announce`).
//!
//! # Mental model
//! One turn (a prompt and everything until the agent is done with it) is one AAEP session; its events name the
//! conversation that it belongs to. A permission that the agent requests is an AAEP question, and questions are asked
//! one at a time. Nothing is ever answered in the person's name: what they have not decided stays open, except for
//! `cancelled` after they stopped the turn, and a refusal of what the agent itself withdrew.
//!
//! Turns, calls, permissions and forms are not ACP's alone: the code for them is the kit's.

mod agent;
mod agent_quirks;
mod client;
mod earlier_conversation;
mod editor_listener;
mod forms;
mod greeting;
mod listener_mode;
mod messages;
mod mode;
mod prompts;
mod review;
mod setting_changes;
mod settings;
mod sign_in;
#[cfg(test)]
mod tests;

pub use client::Acp;
pub use editor_listener::{AgentListener, DecisionResult};
#[cfg(test)]
pub(crate) use tests::MESSAGES;

use super::Recognition;
use super::rpc::{self, RpcKind, RpcMessage};

/// Returns whether a text belongs to this protocol.
pub fn recognise(text: &str) -> Recognition {
    let RpcKind::Rpc(message) = rpc::read(text) else {
        return Recognition::No;
    };
    match message {
        RpcMessage::Notification { method, .. } | RpcMessage::Request { method, .. }
            if method == "session/update" || method == "session/request_permission" =>
        {
            Recognition::Surely
        }
        RpcMessage::Result { result, .. } if agent::is_greeting(&result) => Recognition::Surely,
        RpcMessage::Notification { .. }
        | RpcMessage::Request { .. }
        | RpcMessage::Result { .. }
        | RpcMessage::Error { .. }
        | RpcMessage::Nothing => Recognition::No,
    }
}
