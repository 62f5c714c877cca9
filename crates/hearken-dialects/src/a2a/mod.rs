//! A2A, versions 1.0 and 0.3: an agent on a server, its tasks heard, answered, begun and cancelled. Pure.
//!
//! Responsibilities: reading who the agent is, following its tasks, telling each in AAEP's terms, sending what the person
//! answers and wants. Not here: AAEP itself (`protocol`), how a turn is told (`acp`, which has turns from agents that report
//! the same), connections (`transport`).
//!
//! # Mental model
//! An agent says by a card where and how it is spoken with. There every word is a request, and there is no stream of the
//! whole server: each task has its own, which begins with all that is known of it. So the card is what the link follows; it
//! is there for as long as the card can be read. Tasks are found in a list (1.0), are named by the person, or are begun
//! here. Each task is a session of AAEP, and the context that it belongs to is its conversation. A task that has no stream
//! is looked at again and again.
//!
//! # Worked example
//! The card comes: version 1.0, JSON-RPC at `/rpc`. `ListTasks` tells of a task at work, and `SubscribeToTask` is answered
//! by its stream: the task as it stands, then what changes. Its state becomes `TASK_STATE_INPUT_REQUIRED`: the message is a
//! question. The person answers: `SendMessage` with the task's name. The state becomes `TASK_STATE_WORKING`, an artifact
//! grows and is said as it does, and the state `TASK_STATE_COMPLETED` ends the session.

mod answering;
mod asking;
mod card;
mod client;
mod following;
mod prompting;
mod read;
mod task;
#[cfg(test)]
mod tests;
mod wire;

pub use card::document;
pub use client::A2a;

use super::Sign;

/// Returns whether a text is an agent's card, or tells of a task.
pub fn recognise(text: &str) -> Sign {
    match card::is_card(text) || read::is_news(text) {
        true => Sign::Surely,
        false => Sign::No,
    }
}
