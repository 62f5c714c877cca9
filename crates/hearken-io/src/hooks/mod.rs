//! Hooks: the small commands by which another program's agent reports what it does, and asks.
//!
//! Responsibilities: finding the listening hearken ([`hook_endpoint`]), carrying one message to it and its decision
//! back ([`relay`], `exchange`) with the agent's latest texts (`transcript_end`), writing hooks into an agent's
//! settings and removing them ([`hook_settings`]), whether the installed hooks work ([`hooks_state`]). Not here: what a
//! message means (`dialect`), listening (`transport`), words (`runtime`).
//!
//! Mental model: a hook runs in the middle of another program's work and must never be in its way. Whatever goes wrong,
//! it ends immediately, decides nothing and prints nothing; then the agent continues as if there were no hook.

pub(crate) mod exchange;
pub mod hook_endpoint;
pub mod hook_settings;
pub mod hooks_state;
mod json_edit;
pub mod layout;
pub mod relay;
mod transcript_end;
