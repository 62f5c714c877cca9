//! Claude Code, heard by its hooks: it calls us, and waits where it asks. Pure.
//!
//! Responsibilities: telling the turns of its conversations in AAEP's terms, asking the person for what it asks and giving
//! back what they decide. Not here: AAEP itself (`protocol`), how a turn, a call and a permission are told (`acp`, which
//! has them from agents that report the same), listening (`transport`), the small command that carries a hook's message
//! (`hooks`).
//!
//! # Mental model
//! Claude Code runs in a terminal of its own and has no stream that others could follow. But at each step it runs a hook:
//! a prompt, a call, its result, a permission, the end of a turn. Each hook's message comes in as a request, is answered
//! with nothing at once, and that lets Claude Code go on. Only a permission is held until the person decides, or until it
//! is decided in that terminal, where the same question stands: whoever is first decides. Nothing can be begun or stopped
//! from here. What it writes comes whole, with the end of its turn.
//!
//! # Worked example
//! `PreToolUse` comes, and nothing is told: the permission may still be asked for. `PermissionRequest` comes, with the same
//! tool and the same input: the question is asked. The person accepts: the request that waited is answered with `allow`.
//! `PostToolUse` comes: what the call brought is told.

mod asking;
mod client;
mod conversation;
mod deciding;
mod read;
#[cfg(test)]
mod tests;
mod tools;

pub use client::Claude;

use super::Sign;

/// Returns whether a text is one of its hooks' messages.
pub fn recognise(text: &str) -> Sign {
    match read::is_message(text) {
        true => Sign::Surely,
        false => Sign::No,
    }
}
