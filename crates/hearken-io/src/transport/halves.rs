//! The shape of every source: a half that reads and a half that answers.
//!
//! Responsibilities: both halves' interfaces and their common bounds. Not here: any kind of source (`sse`, `duplex`,
//! `file`, `request_listener`), running the halves in parallel (`link_handle`).

use std::future::Future;
use std::time::Duration;

use super::link_sink::LinkSink;
use crate::link::{
    DeliveryFailure, Fault, HttpAnswer, HttpCall, LastWords, Receipt, ServiceCall, Stream,
};

/// How many replies of one link may be under way or waiting to be reported. A person answers one at a time, and a link
/// has at most 64 open questions.
pub(super) const REPLIES_UNDER_WAY: usize = 64;

/// How long the farewell may take: a program is interrupted, then asked to end, then killed, with two seconds after
/// each of the first two.
pub(super) const FAREWELL: Duration = Duration::from_secs(5);

/// The half that reads a source and reports to the sink, until the source is over for good.
///
/// A reader reconnects by itself, reports its last news ([`LinkEvent::Ended`](crate::link::LinkEvent::Ended) or
/// [`LinkEvent::Failed`](crate::link::LinkEvent::Failed)) exactly once and then returns. When the link is closed, it is
/// dropped at any point.
pub(super) trait SourceReader: Send + 'static {
    /// Runs the reader.
    fn read(self, sink: LinkSink) -> impl Future<Output = ()> + Send;
}

/// The half that delivers replies to the other side; several may be under way at the same time.
pub(super) trait Poster: Send + Sync + 'static {
    /// Delivers one reply, once, within its own time limit.
    fn post(
        &self,
        body: String,
    ) -> impl Future<Output = Result<Receipt, DeliveryFailure>> + Send + 'static;

    /// Says goodbye to the other side while the reader still runs; takes at most [`FAREWELL`].
    fn farewell(&self) -> impl Future<Output = ()> + Send + 'static {
        std::future::ready(())
    }

    /// Makes one request beside the stream, if the kind of source supports it.
    fn call(
        &self,
        call: HttpCall,
    ) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        drop(call);
        std::future::ready(Err(Fault::OneWay))
    }

    /// Makes one request beside the stream whose answer may itself be a stream: each of its events goes to the sink as
    /// a [`LinkEvent::Piece`](crate::link::LinkEvent::Piece).
    fn stream(
        &self,
        request: u64,
        call: HttpCall,
        sink: LinkSink,
    ) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        drop((request, call, sink));
        std::future::ready(Err(Fault::OneWay))
    }

    /// Makes one request to a service behind a broker; if it waits for several answers, each goes to the sink as a
    /// [`LinkEvent::Piece`](crate::link::LinkEvent::Piece).
    fn call_service(
        &self,
        request: u64,
        call: ServiceCall,
        sink: LinkSink,
    ) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        drop((request, call, sink));
        std::future::ready(Err(Fault::OneWay))
    }

    /// Sets the stream that the current attempt follows; ignored by kinds without a choice.
    fn follow(&self, stream: Stream) {
        drop(stream);
    }

    /// Declares the current attempt or connection failed.
    fn refuse(&self, fault: Fault) {
        drop(fault);
    }

    /// Sets the last words for when the link is closed.
    fn last_words(&self, words: Option<LastWords>) {
        drop(words);
    }

    /// Answers an incoming request; ignored by kinds without incoming requests.
    ///
    /// Returns whether the requester was still waiting.
    fn respond(&self, id: u64, status: u16, body: String) -> bool {
        drop((id, status, body));
        false
    }
}

/// A source of one kind, ready to run: its reading and its answering half.
///
/// For a kind whose replies go over the connection that is read (a WebSocket, a socket, a child
/// process), the poster gets a channel into its reader.
pub(super) struct Link<R, P> {
    pub(super) reader: R,
    pub(super) poster: P,
}
