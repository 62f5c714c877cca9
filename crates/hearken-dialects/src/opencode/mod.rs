//! opencode, attached to where it runs: its events, what it asks, prompts and stops. Pure.
//!
//! Responsibilities: telling the turns of its conversations in AAEP's terms, asking the person for what it asks and giving
//! back what they decide, prompting and stopping it. Not here: AAEP itself (`protocol`), how a turn, a call and a
//! permission are told (`acp`, which has them from agents that report the same), connections (`transport`).
//!
//! # Mental model
//! A server (`opencode serve`, or the one behind its screen) tells what happens in all its conversations by one stream of
//! events, and is answered by requests beside it. Others may look at it, prompt it and answer it at the same time. The
//! stream begins where one connects and says nothing of before; so whatever is asked and under way is asked for after each
//! connection, and what is asked already is not asked twice.
//!
//! # Worked example
//! `server.connected` comes. What the conversations do, and what is asked, is requested; a conversation works, so its turn
//! is told as begun. `permission.asked` comes: the question is asked. The person accepts: `POST /permission/ID/reply`. It is
//! answered with 404: somebody at another screen was faster, and that is told.

mod asking;
mod catch_up;
mod client;
mod conversation;
mod deciding;
pub(crate) mod parts;
mod prompting;
mod read;
mod requests;
#[cfg(test)]
mod tests;

pub use client::{Opencode, events};
pub use deciding::delivered;

use super::Sign;

/// Returns whether a text is one of these events.
pub fn recognise(text: &str) -> Sign {
    match read::is_event(text) {
        true => Sign::Surely,
        false => Sign::No,
    }
}
