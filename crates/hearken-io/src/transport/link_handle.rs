//! One task per link: a reader and a poster in parallel, and an answer for every order.
//!
//! Responsibilities: the handle at one end, running both halves, exactly one [`LinkEvent::Replied`] for each
//! [`LinkHandle::send`] and one [`LinkEvent::Answered`] for each [`LinkHandle::call`]. Not here: what a kind of source
//! does (`sse`, `file`), the sink at the other end (`link_sink`).
//!
//! The two halves never wait for each other: a reader that waits for space in the sink does not delay a reply, and a
//! slow reply does not delay reading. The task lives until its handle is dropped or the sink's receiver is gone, even
//! after the source is over, because replies still need their answers.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use super::file::NoReplyPoster;
use super::halves::{FAREWELL, Link, Poster, REPLIES_UNDER_WAY, SourceReader};
use super::link_sink::LinkSink;
use crate::link::{
    Cause, DeliveryFailure, Fault, HttpAnswer, HttpCall, LastWords, LinkEvent, Receipt,
    ServiceAnswers, ServiceCall, Stream,
};

/// How many requests beside one stream may be under way or waiting to be reported: more than any dialect makes at the
/// same time, and few enough that their answers, however large, fit.
pub(super) const CALLS_UNDER_WAY: usize = 16;

/// How many of the requests beside a link may be answered by streams at the same time: streams last, and must leave
/// space for other requests. A dialect that follows more than this many things has to keep repeating the remaining
/// requests.
pub(super) const STREAMS_UNDER_WAY: usize = 8;

/// The control of a running link; dropping it ends the link immediately.
#[derive(Debug)]
pub struct LinkHandle {
    orders: mpsc::UnboundedSender<HandleOrder>,
    room: Arc<Semaphore>,
    calls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    // Kept only to be dropped: the link notices that its handle is gone when this end closes.
    open: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl LinkHandle {
    /// Passes on a reply without waiting; `request` comes back in its [`LinkEvent::Replied`].
    ///
    /// Exactly one `Replied` follows, whatever happens: [`DeliveryFailure::Unknown`] if the link is closed before the
    /// server answers, [`DeliveryFailure::Kept`] if too many replies are under way. Nothing is sent twice: whether to
    /// try again is the caller's decision.
    pub fn send(&self, request: u64, body: String) {
        let order = match Arc::clone(&self.room).try_acquire_owned() {
            Ok(room) => HandleOrder::Post {
                request,
                body,
                room,
            },
            Err(_) => HandleOrder::RefusePost { request },
        };
        // This fails only if the sink's receiver is gone.
        let _ = self.orders.send(order);
    }

    /// Posts a decision to the handler that carries out this link's decisions, without waiting, as [`LinkHandle::send`]
    /// does.
    pub fn hand(&self, request: u64, body: String) {
        let order = match Arc::clone(&self.room).try_acquire_owned() {
            Ok(room) => HandleOrder::Hand {
                request,
                body,
                room,
            },
            Err(_) => HandleOrder::RefusePost { request },
        };
        let _ = self.orders.send(order);
    }

    /// Makes one request beside the stream, without waiting; `request` comes back in its
    /// [`LinkEvent::Answered`], exactly once, as with [`LinkHandle::send`].
    pub fn call(&self, request: u64, call: HttpCall) {
        let room = match call.streams {
            true => &self.streams,
            false => &self.calls,
        };
        let order = match Arc::clone(room).try_acquire_owned() {
            Ok(room) => HandleOrder::Call {
                request,
                call,
                room,
            },
            Err(_) => HandleOrder::RefuseCall { request },
        };
        let _ = self.orders.send(order);
    }

    /// Makes one request to a service behind a broker, as [`LinkHandle::call`] does.
    pub fn call_service(&self, request: u64, call: ServiceCall) {
        let room = match call.answers {
            ServiceAnswers::Gathered(_) | ServiceAnswers::Streamed => &self.streams,
            ServiceAnswers::One | ServiceAnswers::Unanswered => &self.calls,
        };
        let order = match Arc::clone(room).try_acquire_owned() {
            Ok(room) => HandleOrder::CallService {
                request,
                call,
                room,
            },
            Err(_) => HandleOrder::RefuseCall { request },
        };
        let _ = self.orders.send(order);
    }

    /// Waits no longer for the answers to a request to a service; its [`LinkEvent::Answered`] follows at once, with
    /// [`Fault::Closed`]. Has no effect if it was answered.
    pub fn leave_call(&self, request: u64) {
        let _ = self.orders.send(HandleOrder::LeaveCall { request });
    }

    /// Sets what the current attempt follows; each [`LinkEvent::Connecting`] of an HTTP server requires either this or
    /// [`LinkHandle::refuse`], exactly once.
    pub fn follow(&self, stream: Stream) {
        let _ = self.orders.send(HandleOrder::Follow(stream));
    }

    /// Declares the current attempt failed or the current connection useless: it is given up for this reason, which
    /// also determines whether and when to try again.
    pub fn refuse(&self, fault: Fault) {
        let _ = self.orders.send(HandleOrder::Refuse(fault));
    }

    /// Sets the message or request for when the link is closed, replacing any earlier one.
    pub fn last_words(&self, words: Option<LastWords>) {
        let _ = self.orders.send(HandleOrder::LastWords(words));
    }

    /// Answers an incoming request ([`LinkEvent::Request`]); has no effect if it has lapsed or has already been
    /// answered. If a number is given, a [`LinkEvent::Replied`] with it reports whether the requester was still
    /// waiting.
    pub fn respond(&self, id: u64, status: u16, body: String, request: Option<u64>) {
        let _ = self.orders.send(HandleOrder::Respond {
            id,
            status,
            body,
            request,
        });
    }

    /// Ends the link: the connection says goodbye and is dropped, and replies still under way are answered with
    /// [`Fault::Closed`]; they may or may not have reached the server. While the sink is full, those answers wait for
    /// space; nothing else of the link is left then.
    ///
    /// The returned task finishes when nothing is left, including a started program.
    pub fn close(self) -> JoinHandle<()> {
        drop(self.open);
        drop(self.orders);
        self.task
    }
}

/// A command from the handle. The queue needs no bound of its own: large commands are limited by permits, and the rest
/// are a few words from our own side.
#[derive(Debug)]
pub(super) enum HandleOrder {
    Post {
        request: u64,
        body: String,
        room: OwnedSemaphorePermit,
    },
    RefusePost {
        request: u64,
    },
    Hand {
        request: u64,
        body: String,
        room: OwnedSemaphorePermit,
    },
    Call {
        request: u64,
        call: HttpCall,
        room: OwnedSemaphorePermit,
    },
    CallService {
        request: u64,
        call: ServiceCall,
        room: OwnedSemaphorePermit,
    },
    LeaveCall {
        request: u64,
    },
    RefuseCall {
        request: u64,
    },
    Follow(Stream),
    Refuse(Fault),
    LastWords(Option<LastWords>),
    Respond {
        id: u64,
        status: u16,
        body: String,
        request: Option<u64>,
    },
}

/// Starts a link's task and returns its handle.
pub(super) fn launch<F: Future<Output = ()> + Send + 'static>(
    run: impl FnOnce(mpsc::UnboundedReceiver<HandleOrder>, watch::Receiver<()>) -> F,
) -> LinkHandle {
    let (orders, taken) = mpsc::unbounded_channel();
    let (open, closing) = watch::channel(());
    LinkHandle {
        orders,
        room: Arc::new(Semaphore::new(REPLIES_UNDER_WAY)),
        calls: Arc::new(Semaphore::new(CALLS_UNDER_WAY)),
        streams: Arc::new(Semaphore::new(STREAMS_UNDER_WAY)),
        open,
        task: tokio::spawn(run(taken, closing)),
    }
}

/// Runs a link that carries out its own decisions.
pub(super) async fn drive<R: SourceReader, P: Poster>(
    link: Link<R, P>,
    sink: LinkSink,
    orders: mpsc::UnboundedReceiver<HandleOrder>,
    closing: watch::Receiver<()>,
) {
    drive_with(link, NoReplyPoster, sink, orders, closing).await;
}

/// Runs a link until its handle is dropped and every reply is answered, or the receiver is gone; decisions go to
/// `handler`.
pub(super) async fn drive_with<R: SourceReader, P: Poster, H: Poster>(
    link: Link<R, P>,
    handler: H,
    sink: LinkSink,
    orders: mpsc::UnboundedReceiver<HandleOrder>,
    closing: watch::Receiver<()>,
) {
    let Link { reader, poster } = link;
    let farewell = poster.farewell();
    let (taken, all_taken) = oneshot::channel();
    let leaving = async {
        closed(closing.clone()).await;
        let farewell = async {
            // The last orders before closing may include the last words.
            let _ = all_taken.await;
            farewell.await;
        };
        // A farewell that takes too long is dropped.
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
    };
    let reading = async {
        let mut leaving = std::pin::pin!(leaving);
        tokio::select! {
            () = leaving.as_mut() => {}
            // A source that is over must still be closed in good order: a server that accepted a
            // subscription and has no stream for it would keep it.
            () = reader.read(sink.clone()) => leaving.await,
        }
    };
    let wishes = OrderQueue { orders, taken };
    let answering = answer(poster, handler, sink.clone(), wishes, closing.clone());
    tokio::select! {
        biased;
        () = sink.closed() => {}
        _ = async { tokio::join!(reading, answering) } => {}
    }
}

/// Waits until the handle is dropped.
async fn closed(mut closing: watch::Receiver<()>) {
    while closing.changed().await.is_ok() {}
}

/// Waits for the outcome of a post, or for the end of the link.
async fn posted(
    request: u64,
    post: impl Future<Output = Result<Receipt, DeliveryFailure>>,
    closing: watch::Receiver<()>,
    room: OwnedSemaphorePermit,
) -> (LinkEvent, Option<OwnedSemaphorePermit>) {
    let outcome = tokio::select! {
        biased;
        // It may have been sent long ago.
        () = closed(closing) => Err(DeliveryFailure::Unknown(Fault::Closed)),
        outcome = post => outcome,
    };
    (LinkEvent::Replied { request, outcome }, Some(room))
}

/// Waits for the answer to a request, or for the end of the link.
async fn called_for(
    request: u64,
    call: impl Future<Output = Result<HttpAnswer, Fault>>,
    closing: watch::Receiver<()>,
    room: OwnedSemaphorePermit,
) -> (LinkEvent, Option<OwnedSemaphorePermit>) {
    let outcome = tokio::select! {
        biased;
        () = closed(closing) => Err(Fault::Closed),
        outcome = call => outcome,
    };
    (LinkEvent::Answered { request, outcome }, Some(room))
}

/// Waits for the answer to a request, unless it is left.
async fn unless_left(
    call: impl Future<Output = Result<HttpAnswer, Fault>>,
    left: oneshot::Receiver<()>,
) -> Result<HttpAnswer, Fault> {
    tokio::select! {
        biased;
        // It never comes if the other end is only dropped.
        Ok(()) = left => Err(Fault::Closed),
        outcome = call => outcome,
    }
}

/// The orders for a link, and a signal for when all of them have been received.
struct OrderQueue {
    orders: mpsc::UnboundedReceiver<HandleOrder>,
    taken: oneshot::Sender<()>,
}

/// Carries out the orders and reports each outcome once, until the handle is gone and everything is reported.
async fn answer<P: Poster, H: Poster>(
    poster: P,
    handler: H,
    sink: LinkSink,
    OrderQueue { mut orders, taken }: OrderQueue,
    closing: watch::Receiver<()>,
) {
    let mut taking = true;
    let mut taken = Some(taken);
    let mut under_way = FuturesUnordered::new();
    let mut handed = FuturesUnordered::new();
    let mut called = FuturesUnordered::new();
    let mut streamed = FuturesUnordered::new();
    let mut served = FuturesUnordered::new();
    // What ends the wait for a service's answers early.
    let mut leavable: BTreeMap<u64, oneshot::Sender<()>> = BTreeMap::new();
    // Outcomes wait here for space in the sink, so that a full sink stops no post that is under way.
    let mut done: VecDeque<(LinkEvent, Option<OwnedSemaphorePermit>)> = VecDeque::new();
    loop {
        tokio::select! {
            order = orders.recv(), if taking => match order {
                Some(HandleOrder::Post { request, body, room }) => {
                    under_way.push(posted(request, poster.post(body), closing.clone(), room));
                }
                Some(HandleOrder::Hand { request, body, room }) => {
                    handed.push(posted(request, handler.post(body), closing.clone(), room));
                }
                Some(HandleOrder::RefusePost { request }) => {
                    let fault = Fault::Other(Cause::TooManyReplies);
                    let outcome = Err(DeliveryFailure::Kept(fault));
                    done.push_back((LinkEvent::Replied { request, outcome }, None));
                }
                Some(HandleOrder::Call { request, call, room }) => {
                    match call.streams {
                        true => {
                            let calling = poster.stream(request, call, sink.clone());
                            streamed.push(called_for(request, calling, closing.clone(), room));
                        }
                        false => {
                            let calling = poster.call(call);
                            called.push(called_for(request, calling, closing.clone(), room));
                        }
                    }
                }
                Some(HandleOrder::CallService { request, call, room }) => {
                    let (leave, left) = oneshot::channel();
                    leavable.insert(request, leave);
                    let calling = poster.call_service(request, call, sink.clone());
                    let calling = unless_left(calling, left);
                    served.push(called_for(request, calling, closing.clone(), room));
                }
                Some(HandleOrder::LeaveCall { request }) => {
                    if let Some(leave) = leavable.remove(&request) {
                        // This fails only if it has just been answered.
                        let _ = leave.send(());
                    }
                }
                Some(HandleOrder::RefuseCall { request }) => {
                    let outcome = Err(Fault::Other(Cause::TooManyRequests));
                    done.push_back((LinkEvent::Answered { request, outcome }, None));
                }
                Some(HandleOrder::Follow(stream)) => poster.follow(stream),
                Some(HandleOrder::Refuse(fault)) => poster.refuse(fault),
                Some(HandleOrder::LastWords(words)) => poster.last_words(words),
                Some(HandleOrder::Respond { id, status, body, request }) => {
                    let outcome = match poster.respond(id, status, body) {
                        true => Ok(Receipt::Written),
                        // No requester was left, so not a byte of it was sent.
                        false => Err(DeliveryFailure::Kept(Fault::Closed)),
                    };
                    if let Some(request) = request {
                        done.push_back((LinkEvent::Replied { request, outcome }, None));
                    }
                }
                None => {
                taking = false;
                // The task that waits for it may be gone.
                let _ = taken.take().map(|taken| taken.send(()));
            }
            },
            Some(outcome) = under_way.next(), if !under_way.is_empty() => done.push_back(outcome),
            Some(outcome) = handed.next(), if !handed.is_empty() => done.push_back(outcome),
            Some(answer) = called.next(), if !called.is_empty() => done.push_back(answer),
            Some(answer) = streamed.next(), if !streamed.is_empty() => done.push_back(answer),
            Some(answer) = served.next(), if !served.is_empty() => {
                if let (LinkEvent::Answered { request, .. }, _) = &answer {
                    leavable.remove(request);
                }
                done.push_back(answer);
            }
            place = sink.reserve(), if !done.is_empty() => match place {
                Ok(place) => {
                    if let Some((event, _room)) = done.pop_front() {
                        place.send(event);
                    }
                }
                Err(_) => return,
            },
            else => return,
        }
    }
}

#[cfg(test)]
#[path = "tests/link_handle.rs"]
mod tests;
