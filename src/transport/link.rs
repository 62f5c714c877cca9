//! One task a link: a reader and a poster side by side, and an answer for every reply.
//!
//! Responsibilities: the shape that every kind of source has ([`Link`]), the handle at its one end,
//! running both halves, and exactly one [`LinkEvent::Replied`] for each [`LinkHandle::send`]. Not here:
//! what a kind of source does (`sse`, `file`), the sink at the other end (`sink`).
//!
//! The two halves never wait for each other: a reader that waits for room in the sink does not hold
//! up a reply, and a slow reply does not hold up reading. The task lives until its handle is dropped
//! or the sink's receiver is gone, also after the source is over, because replies still want their
//! answer.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinHandle;

use super::duplex;
use super::exchange::Ways;
use super::file::{FileReader, OneWay};
use super::http::{HttpPoster, SharedClient};
use super::program::ProgramDial;
use super::secret::Secret;
use super::sink::LinkSink;
use super::source::Source;
use super::sse::SseReader;
use super::tls::Tls;
use super::unix::UnixDial;
use super::websocket::WebSocketDial;
use crate::config::LinkConfig;
use crate::link::{Ask, Course, Fault, HttpAnswer, LinkEvent, Receipt, Undelivered};

/// How many replies of one link may be under way or waiting to be reported. A person answers one at a
/// time, and a link has at most 64 open questions.
pub(super) const REPLIES_UNDER_WAY: usize = 64;

/// How long taking leave may last: a program is interrupted, then told to end, then killed, and gets two
/// seconds after each of the first two.
pub(super) const FAREWELL: Duration = Duration::from_secs(5);

/// Holds what a link needs to know besides its source.
///
/// Clone it for each link, so that all links share one HTTP client.
#[derive(Debug, Clone)]
pub struct LinkSettings {
    /// The person's settings of links.
    pub config: LinkConfig,
    /// The bearer token, when the source wants one.
    pub token: Option<Secret>,
    /// Where the jitter of the waits starts; randomness is an input.
    pub seed: u64,
    pub(super) client: SharedClient,
}

impl LinkSettings {
    /// Puts settings together; nothing is opened and no client is built before it is needed.
    pub fn new(config: LinkConfig, token: Option<Secret>, tls: Tls, seed: u64) -> Self {
        let client = SharedClient::new(config.connect_timeout(), tls);
        Self {
            config,
            token,
            seed,
            client,
        }
    }
}

/// Is the way to a running link; dropping it ends the link at once.
#[derive(Debug)]
pub struct LinkHandle {
    orders: mpsc::UnboundedSender<Order>,
    room: Arc<Semaphore>,
    // Held only to be dropped: the link sees its handle go by this end going.
    open: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl LinkHandle {
    /// Hands a reply over, without waiting; `request` comes back in its [`LinkEvent::Replied`].
    ///
    /// Exactly one `Replied` follows, whatever happens: [`Undelivered::Unknown`] when the link is closed
    /// before the server answered, [`Undelivered::Kept`] when too many are under way. Nothing is sent
    /// twice: whether to try again is the caller's decision.
    pub fn send(&self, request: u64, body: String) {
        let order = match Arc::clone(&self.room).try_acquire_owned() {
            Ok(room) => Order::Post {
                request,
                body,
                room,
            },
            Err(_) => Order::Refuse { request },
        };
        // This fails only when the sink's receiver is gone, and then there is nobody to tell.
        let _ = self.orders.send(order);
    }

    /// Makes one request beside the stream, without waiting; `request` comes back in its
    /// [`LinkEvent::Answered`], exactly once, as with [`LinkHandle::send`].
    pub fn ask(&self, request: u64, ask: Ask) {
        // The app asks one thing of a link at a time, so the queue needs no bound.
        let _ = self.orders.send(Order::Ask { request, ask });
    }

    /// Says what the attempt under way follows; each [`LinkEvent::Connecting`] of a link with a
    /// handshake wants exactly one.
    pub fn follow(&self, course: Course) {
        let _ = self.orders.send(Order::Follow(course));
    }

    /// Leaves a message that is sent when the link is closed, in place of the one before.
    pub fn last_words(&self, words: Option<String>) {
        let _ = self.orders.send(Order::LastWords(words));
    }

    /// Ends the link: the connection takes its leave and is dropped, and replies still under way are
    /// answered with [`Fault::Closed`]; they may or may not have reached the server. While the sink is
    /// full those answers wait for room; nothing else of the link is left then.
    ///
    /// The task that is given back is over when nothing is left, a started program included.
    pub fn close(self) -> JoinHandle<()> {
        drop(self.open);
        drop(self.orders);
        self.task
    }
}

/// Is a wish of the handle. The queue needs no bound of its own: bodies are bounded by the room, and
/// a refusal is a number that our own side made up.
#[derive(Debug)]
pub(super) enum Order {
    Post {
        request: u64,
        body: String,
        room: OwnedSemaphorePermit,
    },
    Refuse {
        request: u64,
    },
    Ask {
        request: u64,
        ask: Ask,
    },
    Follow(Course),
    LastWords(Option<String>),
}

/// Reads a source and tells the sink, until the source is over for good.
///
/// A reader reconnects by itself, tells its last news ([`LinkEvent::Ended`] or [`LinkEvent::Failed`])
/// exactly once and then returns. It is dropped in the middle of anything when the link is closed.
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
    fn ask(&self, ask: Ask) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        drop(ask);
        std::future::ready(Err(Fault::OneWay))
    }

    /// Takes the order what to follow; kinds without a choice have nothing to do with it.
    fn follow(&self, course: Course) {
        drop(course);
    }

    /// Takes what is sent when the link is closed.
    fn last_words(&self, words: Option<String>) {
        drop(words);
    }
}

/// Is one kind of source, ready to run: how it is read and how it is answered.
///
/// A kind whose replies go over the connection that is being read (a WebSocket, a socket, a child
/// process) gives its poster a channel into its reader.
pub(super) struct Link<R, P> {
    pub(super) reader: R,
    pub(super) poster: P,
}

/// Opens a source and follows it in one task of its own; news goes to `sink`, replies to the handle.
///
/// It never fails: what is wrong is told as [`LinkEvent::Failed`]. Must be called inside a tokio
/// runtime. Opening a file or standard input also starts one detached thread, which can't hold up the
/// program's end.
pub fn open(source: Source, settings: LinkSettings, sink: LinkSink) -> LinkHandle {
    let limit = settings.config.max_frame_bytes;
    match source {
        Source::Http(endpoints) => {
            let (ways, courses) = Ways::new(&endpoints, &settings);
            let courses = (!settings.config.plain_pair).then_some(courses);
            let link = Link {
                poster: HttpPoster::new(ways.clone(), &settings),
                reader: SseReader::new(&endpoints, ways, courses, settings),
            };
            launch(|orders, closing| drive(link, sink, orders, closing))
        }
        Source::WebSocket(address) => {
            let link = duplex::link(WebSocketDial::new(&address, &settings), settings);
            launch(|orders, closing| drive(link, sink, orders, closing))
        }
        Source::Unix(socket) => {
            let link = duplex::link(UnixDial::new(socket, limit), settings);
            launch(|orders, closing| drive(link, sink, orders, closing))
        }
        Source::Program(command) => {
            let link = duplex::link(ProgramDial::new(command, limit), settings);
            launch(|orders, closing| drive(link, sink, orders, closing))
        }
        Source::File(path) => {
            let link = Link {
                reader: if settings.config.follow {
                    FileReader::growing(path, limit)
                } else {
                    FileReader::file(path, limit)
                },
                poster: OneWay,
            };
            launch(|orders, closing| drive(link, sink, orders, closing))
        }
        Source::Stdin => {
            let link = Link {
                reader: FileReader::stdin(limit),
                poster: OneWay,
            };
            launch(|orders, closing| drive(link, sink, orders, closing))
        }
    }
}

/// Starts a link's task and gives the way to it.
pub(super) fn launch<F: Future<Output = ()> + Send + 'static>(
    run: impl FnOnce(mpsc::UnboundedReceiver<Order>, watch::Receiver<()>) -> F,
) -> LinkHandle {
    let (orders, taken) = mpsc::unbounded_channel();
    let (open, closing) = watch::channel(());
    LinkHandle {
        orders,
        room: Arc::new(Semaphore::new(REPLIES_UNDER_WAY)),
        open,
        task: tokio::spawn(run(taken, closing)),
    }
}

/// Runs a link until its handle is dropped and every reply is answered, or nobody listens.
pub(super) async fn drive<R: Reader, P: Poster>(
    link: Link<R, P>,
    sink: LinkSink,
    orders: mpsc::UnboundedReceiver<Order>,
    closing: watch::Receiver<()>,
) {
    let Link { reader, poster } = link;
    let farewell = poster.farewell();
    let leaving = async {
        closed(closing.clone()).await;
        // Whoever does not let go in time is dropped.
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
    };
    let reading = async {
        let mut leaving = std::pin::pin!(leaving);
        tokio::select! {
            () = leaving.as_mut() => {}
            // A source that is over still wants to be left in good order: a server that took a
            // subscription and has no stream for it would keep it.
            () = reader.read(sink.clone()) => leaving.await,
        }
    };
    let answering = answer(poster, sink.clone(), orders, closing.clone());
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

/// Posts what is ordered and reports each outcome once, until the handle is gone and all is reported.
async fn answer<P: Poster>(
    poster: P,
    sink: LinkSink,
    mut orders: mpsc::UnboundedReceiver<Order>,
    closing: watch::Receiver<()>,
) {
    let mut taking = true;
    let mut under_way = FuturesUnordered::new();
    let mut asked = FuturesUnordered::new();
    // An outcome waits here for room in the sink, so that a full sink stops no post that is under way.
    let mut done: VecDeque<(LinkEvent, Option<OwnedSemaphorePermit>)> = VecDeque::new();
    loop {
        tokio::select! {
            order = orders.recv(), if taking => match order {
                Some(Order::Post { request, body, room }) => {
                    let post = poster.post(body);
                    let closing = closing.clone();
                    under_way.push(async move {
                        let outcome = tokio::select! {
                            biased;
                            // It may have been on its way for long.
                            () = closed(closing) => Err(Undelivered::Unknown(Fault::Closed)),
                            outcome = post => outcome,
                        };
                        (LinkEvent::Replied { request, outcome }, Some(room))
                    });
                }
                Some(Order::Refuse { request }) => {
                    let fault = Fault::Other("too many replies are under way".to_owned());
                    let outcome = Err(Undelivered::Kept(fault));
                    done.push_back((LinkEvent::Replied { request, outcome }, None));
                }
                Some(Order::Ask { request, ask }) => {
                    let asking = poster.ask(ask);
                    let closing = closing.clone();
                    asked.push(async move {
                        let outcome = tokio::select! {
                            biased;
                            () = closed(closing) => Err(Fault::Closed),
                            outcome = asking => outcome,
                        };
                        LinkEvent::Answered { request, outcome }
                    });
                }
                Some(Order::Follow(course)) => poster.follow(course),
                Some(Order::LastWords(words)) => poster.last_words(words),
                None => taking = false,
            },
            Some(outcome) = under_way.next(), if !under_way.is_empty() => done.push_back(outcome),
            Some(answer) = asked.next(), if !asked.is_empty() => done.push_back((answer, None)),
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
#[path = "tests/link.rs"]
mod tests;
