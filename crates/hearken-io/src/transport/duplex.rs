//! Two-way sources: answers go out over the same connection that is read.
//!
//! Responsibilities: one connection after another (attempts, waits, giving up), reading and writing in parallel, an
//! outcome for each answer, a goodbye. Not here: what a connection is (`websocket`, `unix_socket`, `program`), how long
//! to wait (`Backoff`).
//!
//! Reading and writing never wait for each other: an agent that does not read can't delay its events, and a person who
//! reads slowly can't delay an answer. An answer is written at most once, and only to the connection that existed when
//! it was given: without one it fails immediately. An answer whose writing started but did not finish may have arrived;
//! one that was never started has not been sent.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

use super::backoff::Backoff;
use super::halves::{Link, Poster, REPLIES_UNDER_WAY, SourceReader};
use super::link_sink::{LinkSink, SinkGone};
use super::transport_settings::LinkSettings;
use crate::link::{DeliveryFailure, Fault, Frame, LastWords, LinkEvent, Receipt};

/// How long a silent connection must last to count as good (see `sse`).
const GOOD_AFTER: Duration = Duration::from_secs(5);

/// How long to wait for the reason of a broken connection: a server that refuses states why and hangs up, and anything
/// written meanwhile fails before that reason is read.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Something that a connection delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Delivered {
    /// A complete message.
    Frame(String),
    /// Something was skipped.
    Dropped(Fault),
    /// A line meant for people, outside the messages.
    Remark(String),
    /// A sign of life without content.
    Alive,
    /// The end, orderly or not.
    End(Result<(), Fault>),
}

/// The reading half of one connection.
pub(super) trait Inward: Send {
    /// Waits for the next arrival; not called again after [`Delivered::End`].
    fn next(&mut self) -> impl Future<Output = Delivered> + Send;
}

/// The writing half of one connection.
pub(super) trait Outward: Send {
    /// Writes one message completely; a partly written message may have arrived.
    fn send(&mut self, message: String)
    -> impl Future<Output = Result<(), DeliveryFailure>> + Send;

    /// Returns a count of all input so far, in any unit, including the part of an unfinished message, which is a sign
    /// of life, too.
    fn read_so_far(&self) -> u64 {
        0
    }

    /// Requests a sign of life.
    fn ping(&mut self) -> impl Future<Output = Result<(), Fault>> + Send {
        std::future::ready(Ok(()))
    }

    /// Says goodbye and ends the connection.
    fn leave(&mut self) -> impl Future<Output = ()> + Send;
}

/// A way to open connections of one kind.
pub(super) trait Dial: Send + 'static {
    /// The half for reading.
    type Inward: Inward;
    /// The half for writing.
    type Outward: Outward;

    /// Opens one connection; the caller sets the time limit.
    fn dial(&mut self)
    -> impl Future<Output = Result<(Self::Inward, Self::Outward), Fault>> + Send;

    /// Returns how often to request a sign of life from a silent connection, if the kind supports it.
    fn heartbeat(&self) -> Option<Duration> {
        None
    }

    /// Returns whether another connection may be opened after one has ended.
    fn again(&self) -> bool {
        true
    }

    /// Records that a connection has ended.
    fn note_end(&mut self) {}

    /// Returns whether the last connection only showed that the other side is spoken to in another way: then the next
    /// one is opened at once, and nothing was lost.
    fn speaks_otherwise(&self) -> bool {
        false
    }
}

/// How long the last message may take before the connection is closed without it.
const SAYING_SO: Duration = Duration::from_millis(1500);
/// How long the other side gets to carry out a last request.
const CARRYING_OUT: Duration = Duration::from_millis(500);

/// A command to the writing half.
#[derive(Debug)]
enum WriteOrder {
    Send {
        message: String,
        done: oneshot::Sender<Result<(), DeliveryFailure>>,
    },
    /// The app rejects this connection: it ends, with these last words.
    GiveUp {
        fault: Fault,
        words: Option<String>,
    },
    Leave {
        done: oneshot::Sender<()>,
    },
}

impl WriteOrder {
    /// Answers a command that no connection is there for.
    fn refuse(self) -> RefusedCommand {
        match self {
            Self::Send { done, .. } => {
                // The sender may have stopped waiting, which is not an error.
                let _ = done.send(Err(DeliveryFailure::Kept(Fault::Closed)));
                RefusedCommand::Send
            }
            Self::GiveUp { .. } => RefusedCommand::Send,
            Self::Leave { done } => {
                let _ = done.send(());
                RefusedCommand::Leave
            }
        }
    }
}

/// The kind of command that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefusedCommand {
    Send,
    Leave,
}

/// Builds the link over connections of one kind.
pub(super) fn link<D: Dial>(dial: D, settings: LinkSettings) -> Link<Follower<D>, ReplySender> {
    // The handle limits the replies under way; a farewell comes on top.
    let (orders, taken) = mpsc::channel(REPLIES_UNDER_WAY + 2);
    Link {
        reader: Follower {
            dial,
            settings,
            taken,
        },
        poster: ReplySender {
            orders,
            last_words: Arc::default(),
        },
    }
}

/// The sender of answers to the current connection.
#[derive(Debug, Clone)]
pub(super) struct ReplySender {
    orders: mpsc::Sender<WriteOrder>,
    /// The message to send before the connection is closed, and whether it is to be carried out, too.
    last_words: Arc<Mutex<Option<(String, bool)>>>,
}

impl Poster for ReplySender {
    fn post(
        &self,
        message: String,
    ) -> impl Future<Output = Result<Receipt, DeliveryFailure>> + Send + 'static {
        let orders = self.orders.clone();
        async move {
            let (done, outcome) = oneshot::channel();
            let order = WriteOrder::Send { message, done };
            let kept = |_| DeliveryFailure::Kept(Fault::Closed);
            orders.send(order).await.map_err(kept)?;
            // The writer is gone and did not report how far it got.
            let written = outcome
                .await
                .unwrap_or(Err(DeliveryFailure::Unknown(Fault::Closed)));
            written.map(|()| Receipt::Written)
        }
    }

    fn last_words(&self, words: Option<LastWords>) {
        let message = words.and_then(|words| match words {
            LastWords::Message(message) => Some((message, false)),
            LastWords::Request(message) => Some((message, true)),
            // A two-way connection has no separate requests.
            LastWords::Call(_) => None,
        });
        *self
            .last_words
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = message;
    }

    fn refuse(&self, fault: Fault) {
        let words = self
            .last_words
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let words = words.map(|(message, _)| message);
        let orders = self.orders.clone();
        tokio::spawn(async move {
            // This fails only if the link is over, and then there is nothing to give up.
            let _ = orders.send(WriteOrder::GiveUp { fault, words }).await;
        });
    }

    fn farewell(&self) -> impl Future<Output = ()> + Send + 'static {
        let this = self.clone();
        async move {
            let words = this
                .last_words
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            if let Some((message, is_request)) = words {
                // A closing side can only try to say so; the other side notices the end by itself.
                let _ = timeout(SAYING_SO, this.post(message)).await;
                if is_request {
                    // Some programs end with their input, whatever of it is not handled yet.
                    tokio::time::sleep(CARRYING_OUT).await;
                }
            }
            let orders = this.orders;
            let (done, left) = oneshot::channel();
            if orders.send(WriteOrder::Leave { done }).await.is_ok() {
                let _ = left.await;
            }
        }
    }
}

/// The reader that follows connections of one kind, one after another.
#[derive(Debug)]
pub(super) struct Follower<D> {
    dial: D,
    settings: LinkSettings,
    taken: mpsc::Receiver<WriteOrder>,
}

/// The outcome of one connection.
struct DuplexOutcome {
    end: ConnectionEnd,
    good: bool,
    /// Whether there was a connection that ended.
    ended: bool,
}

/// Why a connection ended.
#[derive(Debug)]
enum ConnectionEnd {
    /// The source reached its end in good order.
    Over,
    Fault(Fault),
    /// The app rejected it.
    GivenUp(Fault),
    /// The person left.
    Left,
}

impl<D: Dial> SourceReader for Follower<D> {
    async fn read(mut self, sink: LinkSink) {
        // An error only means that the receiver is gone.
        let _ = self.follow(&sink).await;
        // Later commands get the answer that there is no connection.
        self.taken.close();
        while let Some(order) = self.taken.recv().await {
            order.refuse();
        }
    }
}

impl<D: Dial> Follower<D> {
    async fn follow(&mut self, sink: &LinkSink) -> Result<(), SinkGone> {
        let config = self.settings.config.clone();
        let mut backoff = Backoff::new(
            Duration::from_millis(config.backoff_first_ms),
            Duration::from_millis(config.backoff_cap_ms),
            self.settings.seed.wrapping_add(sink.index() as u64),
        );
        let mut attempt: u32 = 1;
        let mut tried_again: u32 = 0;
        loop {
            sink.put(LinkEvent::Connecting { attempt }).await?;
            let dialled = timeout(config.connect_timeout(), self.dial.dial());
            let dialled = without_connection(&mut self.taken, dialled).await;
            let outcome = match dialled {
                None => return Ok(()),
                Some(Err(_elapsed)) => DuplexOutcome {
                    end: ConnectionEnd::Fault(Fault::TimedOut),
                    good: false,
                    ended: false,
                },
                Some(Ok(Err(fault))) => DuplexOutcome {
                    end: ConnectionEnd::Fault(fault),
                    good: false,
                    ended: false,
                },
                Some(Ok(Ok((inward, outward)))) => self.connection(inward, outward, sink).await?,
            };
            let hung_up =
                outcome.ended && matches!(outcome.end, ConnectionEnd::Fault(Fault::Closed));
            if hung_up && self.dial.speaks_otherwise() {
                continue;
            }
            if outcome.good {
                backoff.reset();
                attempt = 0;
                tried_again = 0;
            }
            let fault = match outcome.end {
                ConnectionEnd::Over => return sink.put(LinkEvent::Ended).await,
                ConnectionEnd::Left => return Ok(()),
                ConnectionEnd::Fault(fault) | ConnectionEnd::GivenUp(fault) => fault,
            };
            let over = fault.is_final() || !self.dial.again();
            if over || config.retries.is_some_and(|most| tried_again >= most) {
                return sink.put(LinkEvent::Failed { fault }).await;
            }
            let retry_in = backoff.next(fault.retry_after());
            sink.put(LinkEvent::Lost { fault, retry_in }).await?;
            let pause = tokio::time::sleep(retry_in);
            if without_connection(&mut self.taken, pause).await.is_none() {
                return Ok(());
            }
            attempt = attempt.saturating_add(1);
            tried_again = tried_again.saturating_add(1);
        }
    }

    /// Follows one connection until it ends.
    async fn connection(
        &mut self,
        mut inward: D::Inward,
        mut outward: D::Outward,
        sink: &LinkSink,
    ) -> Result<DuplexOutcome, SinkGone> {
        let since = Instant::now();
        let heard = ArrivalCounts::default();
        let heartbeat = self.dial.heartbeat();
        let limit = self.settings.config.reply_timeout();
        sink.put(LinkEvent::Connected).await?;
        let end = {
            let reading = read(&mut inward, sink, &heard);
            let writing = write(&mut outward, &mut self.taken, &heard, heartbeat, limit);
            let mut reading = std::pin::pin!(reading);
            let mut writing = std::pin::pin!(writing);
            tokio::select! {
                end = reading.as_mut() => {
                    let end = end?;
                    // A refusal looks like one message and then the end; the app has read the message and decides
                    // whether, and when, to try again.
                    let answered = heard.frames.load(Ordering::Relaxed) == 1;
                    match answered {
                        true => match timeout(LAST_WORDS, writing).await {
                            Ok(given_up @ ConnectionEnd::GivenUp(_)) => given_up,
                            Ok(ConnectionEnd::Left) => ConnectionEnd::Left,
                            Ok(ConnectionEnd::Over | ConnectionEnd::Fault(_)) | Err(_) => end,
                        },
                        false => end,
                    }
                }
                end = writing.as_mut() => match end {
                    ConnectionEnd::Fault(fault) => match timeout(LAST_WORDS, reading).await {
                        Ok(end) => end?,
                        Err(_elapsed) => ConnectionEnd::Fault(fault),
                    },
                    ConnectionEnd::Over | ConnectionEnd::Left | ConnectionEnd::GivenUp(_) => end,
                },
            }
        };
        let frames = heard.frames.load(Ordering::Relaxed);
        self.dial.note_end();
        // A refusal is also a message, but must not lead to rapid retries.
        let given_up = matches!(end, ConnectionEnd::GivenUp(_));
        Ok(DuplexOutcome {
            end,
            good: !given_up && (frames > 0 || since.elapsed() >= GOOD_AFTER),
            ended: true,
        })
    }
}

/// Waits for something while there is no connection; `None` if the person left meanwhile.
async fn without_connection<F: Future>(
    taken: &mut mpsc::Receiver<WriteOrder>,
    what: F,
) -> Option<F::Output> {
    let mut what = std::pin::pin!(what);
    loop {
        tokio::select! {
            biased;
            outcome = what.as_mut() => return Some(outcome),
            Some(order) = taken.recv() => if order.refuse() == RefusedCommand::Leave {
                return None;
            },
        }
    }
}

/// Counts of what has arrived, for the writing half.
#[derive(Debug, Default)]
struct ArrivalCounts {
    signs: AtomicU64,
    frames: AtomicU64,
    /// Whether reading is waiting for the sink and so can't hear anything.
    waits: AtomicBool,
}

async fn read<I: Inward>(
    inward: &mut I,
    sink: &LinkSink,
    heard: &ArrivalCounts,
) -> Result<ConnectionEnd, SinkGone> {
    loop {
        // A flood of empty messages must not starve other tasks.
        tokio::task::consume_budget().await;
        let arrival = inward.next().await;
        heard.signs.fetch_add(1, Ordering::Relaxed);
        let news = match arrival {
            Delivered::Frame(text) => {
                heard.frames.fetch_add(1, Ordering::Relaxed);
                LinkEvent::Frame(Frame::of(text))
            }
            Delivered::Dropped(fault) => LinkEvent::Dropped { fault, count: 1 },
            Delivered::Remark(line) => LinkEvent::Remark { line },
            Delivered::Alive => continue,
            Delivered::End(Ok(())) => return Ok(ConnectionEnd::Over),
            Delivered::End(Err(fault)) => return Ok(ConnectionEnd::Fault(fault)),
        };
        heard.waits.store(true, Ordering::Relaxed);
        let put = sink.put(news).await;
        heard.waits.store(false, Ordering::Relaxed);
        put?;
    }
}

async fn write<O: Outward>(
    outward: &mut O,
    taken: &mut mpsc::Receiver<WriteOrder>,
    heard: &ArrivalCounts,
    heartbeat: Option<Duration>,
    limit: Duration,
) -> ConnectionEnd {
    let mut heard_before = None;
    loop {
        let order = match heartbeat {
            Some(beat) => match timeout(beat, taken.recv()).await {
                Ok(order) => order,
                Err(_elapsed) => {
                    let signs = (heard.signs.load(Ordering::Relaxed), outward.read_so_far());
                    // A sign was requested one beat ago and none has come since: the peer is gone.
                    if heard_before == Some(signs) && !heard.waits.load(Ordering::Relaxed) {
                        return ConnectionEnd::Fault(Fault::TimedOut);
                    }
                    heard_before = Some(signs);
                    match timeout(limit, outward.ping()).await {
                        Ok(Ok(())) => continue,
                        Ok(Err(fault)) => return ConnectionEnd::Fault(fault),
                        Err(_elapsed) => return ConnectionEnd::Fault(Fault::TimedOut),
                    }
                }
            },
            None => taken.recv().await,
        };
        let written = match order {
            Some(WriteOrder::Send { done, .. }) if done.is_closed() => continue,
            Some(WriteOrder::Send { message, done }) => {
                let written = timeout(limit, outward.send(message)).await;
                let outcome = written.unwrap_or(Err(DeliveryFailure::Unknown(Fault::TimedOut)));
                let fault = outcome.as_ref().err().map(|kept| kept.fault().clone());
                // The sender may have stopped waiting.
                let _ = done.send(outcome);
                fault.map_or(Ok(()), Err)
            }
            Some(WriteOrder::GiveUp { fault, words }) => {
                if let Some(words) = words {
                    // A closing side can only try to say so.
                    let _ = timeout(SAYING_SO, outward.send(words)).await;
                }
                let _ = timeout(SAYING_SO, outward.leave()).await;
                return ConnectionEnd::GivenUp(fault);
            }
            Some(WriteOrder::Leave { done }) => {
                outward.leave().await;
                let _ = done.send(());
                return ConnectionEnd::Left;
            }
            // The handle is gone; the link is about to be dropped.
            None => std::future::pending().await,
        };
        // Half a message may have been written, so nothing more can follow it.
        if let Err(fault) = written {
            return ConnectionEnd::Fault(fault);
        }
    }
}

#[cfg(test)]
#[path = "tests/duplex.rs"]
mod tests;
