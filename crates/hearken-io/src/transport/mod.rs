//! Bytes to frames: one task per link, which reconnects by itself and never reads a frame.
//!
//! Responsibilities: opening sources, keeping them open, passing whole frames and news of the link to a sink, posting
//! replies, recording what arrived. Not here: what a frame means (`dialect`, `protocol`), what the person hears about a
//! link (`app`, `announce`), reading settings or tokens (`cli`, `runtime`).
//!
//! [`open`] turns a [`Source`] into a `Link`: a reader that reports to the [`LinkSink`] until it is over, and a poster
//! that accepts replies. Each kind of source is one such pair; the driver, which runs the two in parallel and answers
//! every [`LinkHandle::send`], is shared by all. [`listen`] builds a link from requests that arrive on this machine.

pub(crate) mod address;
mod backoff;
pub mod capture;
pub(crate) mod clean;
pub(crate) mod client;
mod duplex;
pub mod file;
mod follow;
mod framing;
mod halves;
mod handle;
mod listening;
mod local;
mod nats;
mod open;
mod opened;
mod pipe;
mod program;
mod recorded;
mod secret;
mod server;
mod settings;
mod sink;
mod source;
mod sse;
#[cfg(test)]
mod tests;
mod tls;
mod unix;
mod way;
mod websocket;
mod write;

pub use address::{HttpAddress, SourceError, WebSocketAddress};
pub use backoff::Backoff;
pub use capture::{RecordError, Recorder};
pub use clean::readable;
pub use handle::LinkHandle;
pub use listening::{Listening, listen};
pub use local::LocalWebSocket;
pub use open::open;
pub use pipe::PipeName;
pub use program::end_all_now;
pub use recorded::{Recorded, RecordedAnswer, RecordedNews, links_beside};
pub use secret::Secret;
pub use settings::LinkSettings;
pub use sink::{LinkNews, LinkSink, WAITING_BYTES, size_of_news};
pub use source::Source;
pub use sse::EventStream;
pub use tls::{Tls, TlsError};
pub use unix::{Socket, agents as socket_agents, folders as socket_folders};
