//! An AAEP producer over every transport: what `hearken demo`, `hearken bridge` and `hearken acp-proxy` serve.
//!
//! Responsibilities: subscribers, handshakes and their terms, streams, replies, prompts and requests, over HTTP,
//! WebSocket, Unix sockets, named pipes and a pair of pipes; sessions of agents in this program. Not here: what an agent
//! does and when (`demo`), what a watcher may ask of a bridge (`hearken_core::bridge`), anything that a subscriber does.
//!
//! ```text
//! publish, sessions -> state -> hub -> queue -> shaper -> body, dialogue -> socket
//!                        |  ^
//!            host <------'  '-- questions <- reply <- routes, dialogue <- socket
//! ```
//! The state is behind one lock and knows no transport. `routes` has the plain pair of today's producers and the
//! handshake's (`admission` decides who may come, `agreed` keeps its terms, `shaper` keeps a stream to them, `backlog` is
//! what waits for its budget). A WebSocket (`upgrade`), a Unix socket and pipes (`framed`) carry the same in both
//! directions, each in a `dialogue`.

mod admission;
mod agreed;
mod ask;
mod backlog;
mod body;
mod dialogue;
mod doors;
mod framed;
mod handle;
mod host;
mod hub;
mod ids;
mod kind;
mod news;
mod questions;
mod queue;
mod reply;
mod routes;
mod server;
mod session;
mod sessions;
mod settings;
mod shaper;
mod shared;
mod signing;
mod standing;
mod state;
mod template;
mod terms;
mod upgrade;
mod verdict;

pub use admission::Admission;
pub use ask::{AskedChoice, QuestionOutcome, QuestionTerms, ResponseKind};
pub use doors::Entrance;
pub use handle::Producer;
pub use host::{
    AnswerReceiver, Host, PendingAnswer, Prompt, PromptAnswer, PromptReceiver, RequestReceiver,
};
pub use kind::{CRITICAL, EventKind};
pub use news::{AnswerKind, Hearer, ProducerEvent};
pub use reply::Malformed;
pub use routes::PROMPTS;
pub use server::{Running, serve};
pub use settings::{ProducerSettings, TimeSource};
pub use signing::{NoKey, Signer};
pub use standing::{Lasting, OpenSessions};
pub use state::{Asking, Posed};
pub use template::Template;
pub use verdict::{PostVerdict, PostedMessage};
