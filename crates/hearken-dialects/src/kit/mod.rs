//! The kit for dialects: what agents of every protocol have, once. Pure.
//!
//! Responsibilities: turns and their calls, permissions and their options, forms, plans, endings, the sentences of
//! events, diffs, JSON-RPC, ids. Not here: the messages of any one protocol, except for what has ACP's shape
//! ([`shape`]), because other dialects put their calls into it.
//!
//! # Mental model
//! A dialect reads its agent's messages into the kit's types ([`update`], [`permission`], [`form`]); the kit turns them
//! into AAEP events and questions, and the person's answers back into decisions. No module here imports a dialect, and
//! no dialect imports another.
//!
//! # Worked example
//! An agent begins to work: [`turn::Turn::begin`]. It says something: [`turn::Turn::update`]. It asks before it runs a
//! command: [`shape::call`] reads the call, [`permission::Permission::consent`] makes the question with its answers,
//! and [`turn::Turn::request`] asks it. The person answers: [`turn::Turn::asked_under`] finds the question by its
//! token, its `sending` notes the answer, and once that is delivered, [`turn::Turn::answered`] goes on. The agent is
//! done: [`turn::Turn::end`], and [`turn::Turn::finish`] once [`turn::Turn::is_over`]. In tests, `rig` plays all this.

pub mod address;
pub mod aside;
pub mod call;
pub mod changes;
pub mod delivery;
pub mod directory;
pub mod ending;
pub mod exit;
pub mod filling;
pub mod form;
pub mod input;
pub mod members;
pub mod numbers;
pub mod options;
pub mod oversight;
pub mod parts;
pub mod permission;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
pub mod rig;
pub mod rpc;
pub mod shape;
pub mod shell;
pub mod turn;
pub mod update;
pub mod wording;
pub mod written;
