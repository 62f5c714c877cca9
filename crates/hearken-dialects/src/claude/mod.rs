//! Claude Code, heard through its hooks: it calls us, and waits when it asks. Pure.
//!
//! Responsibilities: translating the turns of its conversations into AAEP, asking the person what it asks, and
//! returning the decisions. Not here: AAEP itself (`protocol`), announcing turns, calls and permissions (`acp`, whose
//! agents report the same), listening (`transport`), the small command that relays a hook's message (`hooks`).
//!
//! # Mental model
//! Claude Code runs in a terminal of its own and has no stream to follow. But it runs a hook at each step: a prompt, a
//! call, its result, a permission, the end of a turn. Each hook's message arrives as a request and is answered
//! immediately with nothing, which lets Claude Code go on. Only a permission is held, until the person decides here or
//! in that terminal, which shows the same question: the first decision counts. Nothing can be started or stopped from
//! here. Its texts arrive whole, with the next hook or the end of the turn.
//!
//! # Worked example
//! `PreToolUse` arrives, and nothing is announced: a permission may follow. `PermissionRequest` arrives, with the same
//! tool and the same input: the question is asked. The person accepts: the waiting request is answered with `allow`.
//! `PostToolUse` arrives: the result of the call is announced.

mod client;
mod conversation;
mod decisions;
mod elicitations;
mod harness;
mod mcp;
mod messages;
mod questions;
mod repeated_messages;
mod streamed_text;
#[cfg(test)]
mod tests;
mod tool_calls;

pub use client::Claude;
#[cfg(test)]
pub(crate) use tests::MESSAGES;

use super::Recognition;

/// Returns whether a text is a message of its hooks.
pub fn recognise(text: &str) -> Recognition {
    match messages::is_message(text) {
        true => Recognition::Surely,
        false => Recognition::No,
    }
}
