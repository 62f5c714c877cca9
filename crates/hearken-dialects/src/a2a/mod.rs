//! A2A, versions 1.0 and 0.3: following, answering, starting and cancelling the tasks of an agent on a server. Pure.
//!
//! Responsibilities: reading who the agent is, following its tasks, translating them into AAEP, and sending the
//! person's answers and prompts. Not here: AAEP itself (`protocol`), announcing a turn (`acp`, whose agents report the
//! same turns), connections (`transport`).
//!
//! # Mental model
//! An agent's card says where and how to reach it. Everything else is a request. No stream covers the whole server:
//! each task has its own, which starts with everything known about the task. So the link follows the card, and is up as
//! long as the card can be read. Tasks come from a list (1.0), are named by the person, or start here. Each task is an
//! AAEP session, and its context is the conversation. A task without a stream is polled.
//!
//! # Worked example
//! The card arrives: version 1.0, JSON-RPC at `/rpc`. `ListTasks` returns an active task, and `SubscribeToTask` opens
//! its stream: first the task's current state, then its changes. The state becomes `TASK_STATE_INPUT_REQUIRED`: its
//! message is a question. The person answers: `SendMessage` with the task's name. The state becomes
//! `TASK_STATE_WORKING`, an artifact grows and is read out as it does, and the state `TASK_STATE_COMPLETED` ends the
//! session. If that state came before the artifact, the task is fetched first, so that its answer is heard before its
//! end.

mod answers;
mod card;
mod client;
mod heard_texts;
mod messages;
mod outgoing_requests;
mod prompts;
mod questions;
mod task;
mod task_results;
mod task_watch;
#[cfg(test)]
mod tests;

pub use card::document;
pub use client::A2a;
#[cfg(test)]
pub(crate) use tests::MESSAGES;

use super::Recognition;

/// Returns whether a text is an agent's card, or reports on a task.
pub fn recognise(text: &str) -> Recognition {
    match card::is_card(text) || messages::is_news(text) {
        true => Recognition::Surely,
        false => Recognition::No,
    }
}
