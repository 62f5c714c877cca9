//! Codex's app-server: the conversations of a Codex that runs elsewhere, heard, answered, prompted and stopped. Pure.
//!
//! Responsibilities: attaching to its threads, reporting their turns as AAEP events, asking the person what it asks its
//! clients, and returning the decisions. Not here: what becomes of a turn (`acp`, whose code is shared), AAEP itself
//! (`protocol`), the connection (`transport`).
//!
//! # Mental model
//! A server has threads; a thread has one turn at a time; a turn is one AAEP session, and each thread is an agent of
//! its own. All clients of a thread hear the same, and are asked the same under the same id; the first answer decides,
//! and `serverRequest/resolved` informs the others. So an answer counts as delivered when the server confirms it, not
//! when it was written. A thread that is joined in the middle, or again after a loss, is first caught up with: new
//! messages wait meanwhile, and nothing is announced or asked twice.
//!
//! # Worked example
//! `item/started` names a command, and `item/commandExecution/requestApproval` with the id 0 asks for it. It becomes a
//! question with the decisions that the server accepts. The connection breaks; over the next one, `thread/resume`
//! repeats the request under the same id: the question can be answered again. Another client answers:
//! `serverRequest/resolved` closes the question here.

mod answers;
mod approval_policy;
mod approvals;
mod client;
mod greeting;
mod input_questions;
mod items;
mod notices;
mod prompts;
mod review;
mod review_outcomes;
mod reviews;
#[cfg(test)]
mod tests;
mod thread;

pub use client::Codex;
#[cfg(test)]
pub(crate) use tests::MESSAGES;

use super::Recognition;
use super::rpc::{self, RpcKind, RpcMessage};

/// The name of this dialect.
const NAME: &str = "codex";

/// Returns whether a text belongs to this protocol. For captures only: a server speaks only when it is spoken to.
pub fn recognise(text: &str) -> Recognition {
    // Other protocols on JSON-RPC state its version, which this one omits.
    if !matches!(rpc::read(text), RpcKind::Object) {
        return Recognition::No;
    }
    match rpc::read_bare(text) {
        RpcKind::Rpc(
            RpcMessage::Notification { method, params }
            | RpcMessage::Request { method, params, .. },
        ) => {
            let known = method.starts_with("thread/")
                || method.starts_with("turn/")
                || method.starts_with("item/")
                || method == "serverRequest/resolved";
            let of_thread = params.is_some_and(|params| params.contains("\"threadId\""));
            if known && of_thread {
                Recognition::Surely
            } else {
                Recognition::No
            }
        }
        RpcKind::Rpc(
            RpcMessage::Result { .. } | RpcMessage::Error { .. } | RpcMessage::Nothing,
        )
        | RpcKind::Object
        | RpcKind::Other => Recognition::No,
    }
}
