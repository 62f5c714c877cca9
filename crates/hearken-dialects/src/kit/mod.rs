//! The kit for dialects: what agents of all protocols have in common. Pure.
//!
//! Responsibilities: turns and their calls, permissions and their options, forms, plans, endings, the sentences of
//! events, diffs, JSON-RPC, ids. Not here: the messages of any one protocol, except for what has ACP's shape
//! ([`acp_shape`]), because other dialects put their calls into it.
//!
//! # Mental model
//! A dialect reads its agent's messages into the kit's types ([`turn_updates`], [`permission`], [`form_schema`]); the
//! kit turns them into AAEP events and questions, and the person's answers back into decisions. No module here imports
//! a dialect, and no dialect imports another.
//!
//! # Worked example
//! An agent begins to work: [`turn::Turn::begin`]. It says something: [`turn::Turn::update`]. It asks before it runs a
//! command: [`acp_shape::call`] reads the call, [`permission::Permission::consent`] makes the question with its
//! answers, and [`turn::Turn::request`] asks it. The person answers: [`turn::Turn::asked_under`] finds the question by
//! its token, its `sending` notes the answer, and once that is delivered, [`turn::Turn::answered`] goes on. The agent
//! is done: [`turn::Turn::end`], and [`turn::Turn::finish`] once [`turn::Turn::is_over`]. In tests, `rig` plays all
//! this.

pub mod acp_shape;
pub mod announced_parts;
pub mod call;
pub mod call_inputs;
pub mod directory;
pub mod edit_changes;
pub mod event_wording;
pub mod event_writer;
pub mod exit;
pub mod form_progress;
pub mod form_schema;
pub mod members;
pub mod options;
pub mod oversight;
pub mod permission;
pub mod post_outcome;
pub mod request_numbers;
#[cfg(test)]
pub mod rig;
pub mod rpc;
pub mod shell;
pub mod standalone_question;
pub mod turn;
pub mod turn_end;
pub mod turn_updates;
pub mod web_address;
