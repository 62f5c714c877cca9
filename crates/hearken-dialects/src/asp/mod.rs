//! The Agent Session Protocol: sessions of negotiating agents, as AAEP events. Pure.
//!
//! Responsibilities: reading messages and frames, following each session by the document's tables, translating what
//! happens into AAEP, and sending a person's resolution of an escalation. Not here: AAEP itself (`protocol`), the final
//! wording of announcements (`announce`).

mod authentication;
mod binding_frames;
mod capture_clock;
mod chain;
mod conversation;
mod decision_delivery;
mod document_tables;
mod escalation;
mod followed_session;
mod foreign_input;
mod handler;
mod long_names;
mod message;
mod message_meaning;
mod negotiated_terms;
mod performatives;
mod report_phrases;
mod sentences;
mod session;
mod session_rules;
mod states;
#[cfg(test)]
mod tests;
mod timeouts;
mod translator;

pub use authentication::WEBSOCKET;
pub use binding_frames::recognise;
pub use document_tables::tables;
pub use handler::{BadKey, Identity};
pub use report_phrases::about;
#[cfg(test)]
pub(crate) use tests::MESSAGES;
pub use translator::Asp;
