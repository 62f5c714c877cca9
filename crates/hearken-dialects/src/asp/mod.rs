//! The Agent Session Protocol: sessions of negotiating agents, as AAEP events. Pure.
//!
//! Responsibilities: reading messages and frames, following each session by the document's tables, translating what
//! happens into AAEP, and sending a person's resolution of an escalation. Not here: AAEP itself (`protocol`), the final
//! wording of announcements (`announce`).

mod chain;
mod clock;
mod conversation;
mod document;
mod entry;
mod escalation;
mod followed;
mod frames;
mod handler;
mod meaning;
mod message;
mod naming;
mod offer;
mod rules;
mod sending;
mod sentences;
mod session;
mod states;
#[cfg(test)]
mod tests;
mod told;
mod translate;
mod unread;
mod waits;
mod words;

pub use document::tables;
pub use entry::WEBSOCKET;
pub use frames::recognise;
pub use handler::{BadKey, Identity};
#[cfg(test)]
pub(crate) use tests::MESSAGES;
pub use told::about;
pub use translate::Asp;
