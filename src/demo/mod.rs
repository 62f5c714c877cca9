//! An AAEP producer inside the program: agents that act out scenarios, on loopback.
//!
//! Responsibilities: giving `hearken demo`, `hearken demo --serve` and the tests an agent that needs no key, no network
//! and no model, and keeps every rule of the protocol; its pace, clock and ids are parameters. Not here: anything a
//! subscriber does; the two meet on a socket only.
//!
//! ```text
//! assets/demo/*.jsonl -> reader -> scenario -> perform -> stage -> hub -> queue -> body -> socket
//!                                     ^ outcome             | session (envelope), questions (tokens)
//!                                     '---------------------'<- reply <- plain <- socket
//! ```
//! The stage holds all state behind one lock and knows no transport; `plain` is the pair of routes that
//! today's producers have, and the handshake's (`admission` decides who may come, `agreed` keeps its terms, `shaper` keeps a stream to them,
//! `backlog` is what waits for its budget). A WebSocket (`upgrade`), a Unix socket and pipes (`framed`) carry
//! the same in both directions, each in a `dialogue`.
//!
//! Tests use [`ProducerSettings::stepped`] and wait with [`Producer`]'s `until_…` methods, none of which polls; wrap
//! them in a time limit.

mod admission;
mod agreed;
mod ask;
mod backlog;
mod body;
mod catalogue;
mod dialogue;
mod doors;
mod framed;
mod gate;
mod hub;
mod ids;
mod kind;
mod live;
mod news;
mod perform;
mod plain;
mod producer;
mod questions;
mod queue;
mod reader;
mod reply;
mod say;
mod scenario;
mod script;
mod server;
mod session;
mod settings;
mod shaper;
mod shared;
mod signing;
mod stage;
mod terms;
#[cfg(test)]
mod tests;
mod upgrade;
mod verdict;

pub use admission::Admission;
pub use catalogue::{DEFAULT, list, names, script, scripts};
pub use doors::Entrance;
pub use live::{AnswerReceiver, Host, Lasting, PendingAnswer, PromptReceiver, RequestReceiver};
pub use news::{AnswerKind, DemoEvent, Hearer};
pub use plain::PROMPTS;
pub use producer::{Producer, SessionRef, StartError};
pub use reply::Malformed;
pub use scenario::{Scenario, ScenarioError, ScenarioInfo};
pub use script::Script;
pub use server::{Running, serve, serve_at};
pub use settings::{Pace, ProducerSettings, TimeSource, Timeouts};
pub use signing::{NoKey, PERSON, Signer, private_key};
pub use verdict::{PostVerdict, PostedMessage};
