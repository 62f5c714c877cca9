//! An AAEP producer over every transport: what `hearken demo`, `hearken bridge` and `hearken acp-proxy` serve.
//!
//! Responsibilities: subscribers, handshakes and their terms, streams, replies, prompts and requests, over HTTP,
//! WebSocket, Unix sockets, named pipes and a pair of pipes; sessions of agents in this program. Not here: what an
//! agent does and when (`demo`), what a watcher may ask of a bridge (`hearken_core::bridge`), anything that a
//! subscriber does.
//!
//! ```text
//! publish, sessions -> producer_state -> hub -> queue -> shaper -> sse_body, duplex_subscription -> socket
//!                        |  ^
//!            host <------'  '-- pending_questions <- posted_reply <- routes, duplex_subscription <- socket
//! ```
//!
//! The state is behind one lock and knows no transport. `routes` has the plain pair of today's producers and the
//! handshake's (`admission` decides who may come, `subscription_handshake` keeps its terms, `shaper` keeps a stream to
//! them, `backlog` is what waits for its budget). A WebSocket (`websocket_upgrade`), a Unix socket and pipes
//! (`byte_framing`) carry the same in both directions, each in a `duplex_subscription`.

mod admission;
mod agreed_terms;
mod backlog;
mod byte_framing;
mod duplex_subscription;
mod endpoints;
mod event_kinds;
mod event_template;
mod host;
mod host_events;
mod hub;
mod id_generator;
mod local_sessions;
mod manifest_key;
mod pending_questions;
mod posted_reply;
mod producer_handle;
mod producer_server;
mod producer_settings;
mod producer_state;
mod queue;
mod reply_judgement;
mod routes;
mod running_session;
mod session_snapshot;
mod shaper;
mod sse_body;
mod state_lock;
mod subscription_handshake;
mod verdict;
mod websocket_upgrade;

pub use admission::Admission;
pub use endpoints::ListenAddress;
pub use event_kinds::{CRITICAL, EventKind};
pub use event_template::Template;
pub use host::{
    AnswerReceiver, Host, PendingAnswer, Prompt, PromptAnswer, PromptReceiver, RequestReceiver,
};
pub use host_events::{AnswerKind, Hearer, ProducerEvent};
pub use manifest_key::{NoKey, Signer};
pub use posted_reply::Malformed;
pub use producer_handle::Producer;
pub use producer_server::{RunningServer, serve};
pub use producer_settings::{ProducerSettings, TimeSource};
pub use producer_state::{PoseOutcome, QuestionExtras};
pub use reply_judgement::{AskedChoice, QuestionOutcome, QuestionTerms, ResponseKind};
pub use routes::PROMPTS;
pub use session_snapshot::{OpenSessions, Retention};
pub use verdict::{PostVerdict, PostedMessage};
