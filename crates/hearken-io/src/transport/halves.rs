//! What every kind of source is: a half that reads and a half that answers.
//!
//! Responsibilities: the shape of both and their common bounds. Not here: any kind of source (`sse`, `duplex`,
//! `file`, `listening`), running the halves side by side (`handle`).

use std::future::Future;
use std::time::Duration;

use super::sink::LinkSink;
use crate::link::{Call, Fault, HttpAnswer, LastWords, Receipt, Stream, Undelivered};

/// How many replies of one link may be under way or waiting to be reported. A person answers one at a
/// time, and a link has at most 64 open questions.
pub(super) const REPLIES_UNDER_WAY: usize = 64;

/// How long taking leave may last: a program is interrupted, then told to end, then killed, and gets two
/// seconds after each of the first two.
pub(super) const FAREWELL: Duration = Duration::from_secs(5);

/// Reads a source and tells the sink, until the source is over for good.
///
/// A reader reconnects by itself, tells its last news ([`LinkEvent::Ended`](crate::link::LinkEvent::Ended) or
/// [`LinkEvent::Failed`](crate::link::LinkEvent::Failed)) exactly once and then returns. It is dropped in the
/// middle of anything when the link is closed.
pub(super) trait Reader: Send + 'static {
    /// Runs the reader.
    fn read(self, sink: LinkSink) -> impl Future<Output = ()> + Send;
}

/// Takes replies to the other side; several may be under way at once.
pub(super) trait Poster: Send + Sync + 'static {
    /// Takes one reply, once, within its own time limit.
    fn post(
        &self,
        body: String,
    ) -> impl Future<Output = Result<Receipt, Undelivered>> + Send + 'static;

    /// Takes leave of the other side, while the reader still runs; at most [`FAREWELL`] long.
    fn farewell(&self) -> impl Future<Output = ()> + Send + 'static {
        std::future::ready(())
    }

    /// Makes one request beside the stream, where there is such a thing.
    fn call(&self, call: Call) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        drop(call);
        std::future::ready(Err(Fault::OneWay))
    }

    /// Makes one request beside the stream whose answer may be a stream itself: each of its events goes to the sink as a
    /// [`LinkEvent::Piece`](crate::link::LinkEvent::Piece).
    fn stream(
        &self,
        request: u64,
        call: Call,
        sink: LinkSink,
    ) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        drop((request, call, sink));
        std::future::ready(Err(Fault::OneWay))
    }

    /// Takes the order what the attempt under way follows; kinds without a choice have nothing to do with it.
    fn follow(&self, stream: Stream) {
        drop(stream);
    }

    /// Takes the order that the attempt or the connection under way has failed.
    fn refuse(&self, fault: Fault) {
        drop(fault);
    }

    /// Takes what is said when the link is closed.
    fn last_words(&self, words: Option<LastWords>) {
        drop(words);
    }

    /// Answers a request that came in; kinds at which none come in have nothing to do with it.
    ///
    /// Tells whether somebody still waited for it.
    fn respond(&self, id: u64, status: u16, body: String) -> bool {
        drop((id, status, body));
        false
    }
}

/// One kind of source, ready to run: how it is read and how it is answered.
///
/// A kind whose replies go over the connection that is being read (a WebSocket, a socket, a child
/// process) gives its poster a channel into its reader.
pub(super) struct Link<R, P> {
    pub(super) reader: R,
    pub(super) poster: P,
}
