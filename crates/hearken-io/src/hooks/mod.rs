//! Hooks: the small commands by which another program's agent tells what it does, and asks.
//!
//! Responsibilities: where a hearken that listens is found ([`door`]), carrying one message to it and its decision back
//! ([`relay`]) with what the agent wrote meanwhile (`transcript`), writing hooks into an agent's settings and taking them out again ([`settings`]), whether those that stand
//! there work ([`standing`]). Not here: what a message means (`dialect`), listening (`transport`), words (`runtime`).
//!
//! Mental model: a hook runs in the middle of somebody else's work and must never be in its way. Whatever goes wrong, it
//! ends at once, decides nothing and says nothing; then the agent goes on as if there were no hook.

pub mod door;
pub mod relay;
pub mod settings;
pub mod standing;
mod text;
mod transcript;
