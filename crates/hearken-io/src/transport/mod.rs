//! Bytes to frames: one task per link, which reconnects by itself and never reads a frame.
//!
//! Responsibilities: opening sources, keeping them open, passing whole frames and news of the link to a sink, posting
//! replies, recording what arrived. Not here: what a frame means (`dialect`, `protocol`), what the person hears about a
//! link (`app`, `announce`), reading settings or tokens (`cli`, `runtime`).
//!
//! [`open`] turns a [`Source`] into a `Link`: a reader that reports to the [`LinkSink`] until it is over, and a poster
//! that accepts replies. Each kind of source is one such pair; the driver, which runs the two in parallel and answers
//! every [`LinkHandle::send`], is shared by all. [`listen`] builds a link from requests that arrive on this machine.

mod backoff;
pub mod capture;
mod duplex;
pub mod file;
mod framing;
mod growing_file;
mod halves;
pub(crate) mod http_client;
mod http_server;
mod link_handle;
mod link_opening;
mod link_sink;
mod local_websocket;
mod nats;
pub(crate) mod network_address;
mod opened_file;
pub(crate) mod outside_text;
mod pipe;
mod program;
mod recording_meta;
mod request_listener;
mod secret;
mod source;
mod sse;
#[cfg(test)]
mod tests;
mod tls;
mod transport_settings;
mod unix_socket;
mod way;
mod websocket;
mod write;

pub use backoff::Backoff;
pub use capture::{RecordError, Recorder};
pub use link_handle::LinkHandle;
pub use link_opening::open;
pub use link_sink::{LinkNews, LinkSink, WAITING_BYTES, size_of_news};
pub use local_websocket::LocalWebSocket;
pub use network_address::{NetworkAddress, SourceError};
pub use outside_text::readable;
pub use pipe::PipeName;
pub use program::end_all_now;
pub use recording_meta::{RecordedAnswer, RecordedNews, RecordingInfo, links_beside};
pub use request_listener::{Listening, listen};
pub use secret::Secret;
pub use source::Source;
pub use sse::EventStream;
pub use tls::{Tls, TlsError};
pub use transport_settings::LinkSettings;
pub use unix_socket::{Socket, agents as socket_agents, folders as socket_folders};
