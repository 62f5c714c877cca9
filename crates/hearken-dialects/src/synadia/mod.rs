//! The Synadia Agent Protocol: agents on a NATS server that are discovered, prompted, and answered. Pure.
//!
//! Responsibilities: which agents are there and which fell silent, prompts and what answers them, questions. Not here:
//! the connection (`transport`), agents behind a bridge of hearken's (`nats`), which is another source even on the same
//! server.
//!
//! # Mental model
//! Every agent answers under an address of its own, and whoever prompts it gets the answer in an inbox of their own. So
//! a person hears only the answers to their own prompts: only an agent's other callers know what else it does. An
//! address is one conversation, however many programs listen there; a prompt is one turn of it, from the first part of
//! the answer to an empty message. The protocol can't stop an agent: a person can only leave the inbox. And nobody
//! confirms an answer to a question: all that is known is whether somebody waited for it.
//!
//! # Worked example
//! The person connects. `$SRV.INFO.agents` is answered by an agent whose prompts go to `agents.prompt.pi.anna.build`.
//! The person prompts it; `{"type":"status","data":"ack"}` begins the turn, a `response` is its text, a `query` asks.
//! The answer is published to the inbox that the query names, an empty message ends the turn.
//!
//! Sources: `docs/using-nats-cli.md` and `client-sdk/python/docs/protocol-mapping.md` of `synadia-ai/synadia-agents`;
//! the packages `synadia-ai-agents` 0.8.1 and `synadia-ai-agent-service` 0.5.0, against which `tests/peers/synadia`
//! runs.
//!
//! The folder: `subject` (which subjects are used), `messages` (what comes), `agent` (one of them: whether it is there,
//! and its conversation), `client` (the machine), `agent_discovery` (who is there), `prompts` (prompts, leaving),
//! `prompt_answers` (what answers them), `answers` (the person's answers).

mod agent;
mod agent_discovery;
mod answers;
mod client;
mod messages;
mod prompt_answers;
mod prompts;
mod subject;
#[cfg(test)]
mod tests;

pub use client::Synadia;
#[cfg(test)]
pub(crate) use tests::MESSAGES;

use super::Recognition;

/// Recognises no text: the messages of this dialect are known by their subjects.
pub fn recognise(_text: &str) -> Recognition {
    Recognition::No
}
