//! opencode, attached to its server: its events, its questions, prompts and stops. Pure.
//!
//! Responsibilities: translating the turns of its conversations into AAEP, asking the person what it asks and returning
//! the decisions, prompting and stopping it. Not here: AAEP itself (`protocol`), announcing turns, calls and
//! permissions (the kit), connections (`transport`).
//!
//! # Mental model
//! A server (`opencode serve`, or the one behind opencode's own screen) reports the events of all its conversations in
//! one stream, and is answered by separate requests. Other clients may watch, prompt and answer it at the same time.
//! The stream starts at the moment of connecting and reports nothing earlier; so open questions and active turns are
//! requested after each connection, and a question that was already asked is not asked twice.
//!
//! # Worked example
//! `server.connected` arrives. The conversations' states and open questions are requested; one conversation is working,
//! so its turn is announced as begun. `permission.asked` arrives: the question is asked. The person accepts: `POST
//! /permission/ID/reply`. The answer is 404: another client was faster, and that is announced.

mod catch_up;
mod client;
mod conversation;
mod decisions;
mod messages;
mod prompts;
mod question_messages;
mod questions;
#[cfg(test)]
mod tests;

pub use client::{Opencode, events};
#[cfg(test)]
pub(crate) use tests::MESSAGES;

use super::Recognition;

/// Returns whether a text is an event of opencode.
pub fn recognise(text: &str) -> Recognition {
    match messages::is_event(text) {
        true => Recognition::Surely,
        false => Recognition::No,
    }
}
