//! The sources as the loop sees them: one channel each, so that any one can be left unread.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::app::{Input, LinkOrder};
use crate::dialect;
use crate::hooks::hook_endpoint::{HookEndpoint, HookTerms};
use crate::link::{
    Cause, Fault, HttpCall, LastWords, LinkEvent, LinkId, ServerRoute, ServiceCall, Stream,
};
use crate::transport::file;
use crate::transport::{self, LinkHandle, LinkNews, LinkSettings, LinkSink, Listening, Source};

use super::capture_commands::shown;
use super::{OpenSource, hook_commands, source_links};

/// The most events of one source that wait for the loop, in addition to the bound on their bytes; beyond that, the
/// source and its server wait.
const WAITING: usize = 1024;

/// The status of a reply to an incoming request.
const TAKEN: u16 = 200;

/// The longest pause kept when replaying a recording: nobody wants to wait out a night between two events.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Where events come from.
#[derive(Debug, Clone)]
pub enum SourceFeed {
    /// A link, with its own settings if it has any.
    Link(Source, Option<Box<LinkSettings>>),
    /// A recording, replayed at a given pace.
    Recording {
        /// The file.
        path: PathBuf,
        /// The speed-up factor; `None` means without any wait.
        speed: Option<f64>,
    },
}

/// The open sources.
#[derive(Default)]
pub(super) struct SourceFeeds {
    open: Vec<OpenSource>,
    turn: usize,
    /// The channels of connections that another way has replaced; they still report the outcome of replies sent over
    /// them.
    parted: Vec<LinkNews>,
    /// The tasks that close the sources that were left.
    leaving: Vec<JoinHandle<()>>,
    /// The doors where hooks knock, for sources that listen, and what each wants of them.
    doors: BTreeMap<LinkId, (HookEndpoint, Listening, HookTerms)>,
}

impl SourceFeeds {
    pub(super) fn open(feeds: Vec<SourceFeed>, settings: LinkSettings) -> anyhow::Result<Self> {
        let mut open = Vec::new();
        let mut doors = BTreeMap::new();
        for (at, feed) in feeds.into_iter().enumerate() {
            let (sink, news) = LinkSink::channel(at, WAITING);
            let mut origin = None;
            let handle = match feed {
                SourceFeed::Link(source, own) => {
                    let seed = settings.seed.wrapping_add(at as u64);
                    let mut settings = own.map_or_else(|| settings.clone(), |own| *own);
                    if let Source::Requests(listening) = &source {
                        let terms = HookTerms {
                            transcript: settings.config.transcript,
                            hand_back: Duration::from_secs(settings.config.hand_back_seconds),
                            gemini_waits: settings.config.gemini_waits,
                        };
                        doors.insert(
                            LinkId(at),
                            (hook_commands::door()?, listening.clone(), terms),
                        );
                    }
                    settings.seed = seed;
                    origin = Some((source.clone(), settings.clone()));
                    let settings = source_links::prepared(settings);
                    Some(transport::open(source, settings, sink))
                }
                SourceFeed::Recording { path, speed } => {
                    let limit = settings.config.max_frame_bytes;
                    tokio::spawn(play(path, speed, limit, sink));
                    None
                }
            };
            open.push(OpenSource {
                id: LinkId(at),
                news,
                handle,
                origin,
            });
        }
        Ok(Self {
            open,
            doors,
            ..Self::default()
        })
    }

    /// Waits for the next event of any source, taking the sources in turn.
    pub(super) async fn next(&mut self) -> Input {
        let (link, event) = std::future::poll_fn(|context| self.poll_next(context)).await;
        Input::Link { link, event }
    }

    /// Returns the next event if one is ready. After `None`, the caller must wait with [`SourceFeeds::next`] for more.
    pub(super) fn try_next(&mut self) -> Option<Input> {
        let mut context = Context::from_waker(Waker::noop());
        match self.poll_next(&mut context) {
            Poll::Ready((link, event)) => Some(Input::Link { link, event }),
            Poll::Pending => None,
        }
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<(LinkId, LinkEvent)> {
        if let Some(news) = self.poll_parted(context) {
            return Poll::Ready(news);
        }
        let count = self.open.len();
        for step in 0..count {
            let at = (self.turn + step) % count;
            let open = &mut self.open[at];
            if let Poll::Ready(Some((_, event))) = open.news.poll_recv(context) {
                self.turn = (at + 1) % count;
                let id = open.id;
                return Poll::Ready((id, self.at_the_door(id, event)));
            }
        }
        Poll::Pending
    }

    /// Writes a source's listening port into its door file; a source that cannot be found is of no use.
    fn at_the_door(&mut self, id: LinkId, event: LinkEvent) -> LinkEvent {
        let (LinkEvent::Listening { port }, Some((door, listening, terms))) =
            (&event, self.doors.get_mut(&id))
        else {
            return event;
        };
        match door.open(*port, listening.secret(), *terms) {
            Ok(()) => event,
            Err(error) => LinkEvent::Failed {
                fault: Fault::Unusable(Cause::NoListening {
                    name: shown(door.path()),
                    why: error.kind(),
                }),
            },
        }
    }

    /// Polls the replaced connections: only the outcome of a reply still matters.
    fn poll_parted(&mut self, context: &mut Context<'_>) -> Option<(LinkId, LinkEvent)> {
        let mut found = None;
        self.parted.retain_mut(|news| {
            while found.is_none() {
                match news.poll_recv(context) {
                    Poll::Ready(Some((at, event @ LinkEvent::Replied { .. }))) => {
                        found = Some((LinkId(at), event));
                    }
                    Poll::Ready(Some(_)) => {}
                    Poll::Ready(None) => return false,
                    Poll::Pending => return true,
                }
            }
            true
        });
        found
    }

    /// Leaves a link's connection and follows the same server by another way.
    fn change_way(&mut self, link: LinkId, way: &ServerRoute) {
        let Some(open) = self.open.get_mut(link.0) else {
            return;
        };
        let Some((source, settings)) = &open.origin else {
            return;
        };
        let (sink, news) = LinkSink::channel(link.0, WAITING);
        let Some(source) = source.with_route(way) else {
            return;
        };
        let settings = match way {
            // The link's settings with nothing added.
            ServerRoute::AsGiven => settings.clone(),
            ServerRoute::EventStream(_) | ServerRoute::WebSocket(_) => {
                source_links::prepared(settings.clone())
            }
        };
        let handle = transport::open(source, settings, sink);
        self.parted.push(std::mem::replace(&mut open.news, news));
        if let Some(left) = open.handle.replace(handle) {
            self.leaving.push(left.close());
        }
    }

    /// Carries out an order on a link.
    pub(super) fn carry_out(&mut self, link: LinkId, order: LinkOrder) {
        match order {
            LinkOrder::Send { request, body } => self.send(link, request, body),
            LinkOrder::Hand { request, message } => self.hand(link, request, message),
            LinkOrder::Call { request, call } => self.call(link, request, call),
            LinkOrder::CallService { request, call } => self.call_service(link, request, call),
            LinkOrder::LeaveCall(request) => self.leave_call(link, request),
            LinkOrder::Respond { id, request, body } => self.respond(link, id, request, body),
            LinkOrder::Follow(stream) => self.follow(link, stream),
            LinkOrder::Refuse(fault) => self.refuse(link, fault),
            LinkOrder::LastWords(words) => self.last_words(link, words),
            LinkOrder::ChangeWay(way) => self.change_way(link, &way),
            LinkOrder::Close => self.leave(link),
        }
    }

    fn send(&self, link: LinkId, request: u64, body: String) {
        if let Some(handle) = self.handle(link) {
            handle.send(request, body);
        }
    }

    /// Posts a decision to the link's decision handler.
    fn hand(&self, link: LinkId, request: u64, message: String) {
        if let Some(handle) = self.open.get(link.0).and_then(|open| open.handle.as_ref()) {
            handle.hand(request, message);
        }
    }

    fn leave(&mut self, link: LinkId) {
        self.doors.remove(&link);
        if let Some(open) = self.open.get_mut(link.0) {
            // Dropping the handle ends the link; the outcome of a reply under way still arrives on the channel.
            if let Some(handle) = open.handle.take() {
                self.leaving.push(handle.close());
            }
        }
    }

    /// Returns the handle of an open link.
    fn handle(&self, link: LinkId) -> Option<&LinkHandle> {
        self.open.get(link.0)?.handle.as_ref()
    }

    /// Makes a request alongside a stream.
    fn call(&self, link: LinkId, request: u64, call: HttpCall) {
        if let Some(handle) = self.handle(link) {
            handle.call(request, call);
        }
    }

    /// Makes a request to a service behind a broker.
    fn call_service(&self, link: LinkId, request: u64, call: ServiceCall) {
        if let Some(handle) = self.handle(link) {
            handle.call_service(request, call);
        }
    }

    fn leave_call(&self, link: LinkId, request: u64) {
        if let Some(handle) = self.handle(link) {
            handle.leave_call(request);
        }
    }

    /// Replies to an incoming request.
    fn respond(&self, link: LinkId, id: u64, request: Option<u64>, body: String) {
        if let Some(handle) = self.handle(link) {
            handle.respond(id, TAKEN, body, request);
        }
    }

    /// Sets the stream that a connection attempt follows.
    fn follow(&self, link: LinkId, stream: Stream) {
        if let Some(handle) = self.handle(link) {
            handle.follow(stream);
        }
    }

    /// Rejects a connection attempt.
    fn refuse(&self, link: LinkId, fault: Fault) {
        if let Some(handle) = self.handle(link) {
            handle.refuse(fault);
        }
    }

    /// Sets the message that a link sends when it is closed.
    fn last_words(&self, link: LinkId, words: Option<LastWords>) {
        if let Some(handle) = self.handle(link) {
            handle.last_words(words);
        }
    }

    /// Leaves every source, and waits until all are closed, including started programs.
    pub(super) async fn close(mut self) {
        self.doors.clear();
        for open in self.open {
            self.leaving.extend(open.handle.map(LinkHandle::close));
            self.parted.push(open.news);
        }
        for mut news in self.parted {
            // Remaining events are dropped, and must not hold up the closing.
            tokio::spawn(async move { while news.recv().await.is_some() {} });
        }
        for task in self.leaving {
            // Each task has its own time limit.
            let _ = task.await;
        }
    }
}

/// Returns how long a replay waits before an event: the recorded pause divided by `speed`. An event stamped earlier
/// than the previous one comes immediately, and does not delay the next.
fn pause(
    speed: Option<f64>,
    before: Option<jiff::Timestamp>,
    stamp: Option<jiff::Timestamp>,
) -> Option<Duration> {
    let passed = stamp?.duration_since(before?);
    let passed = Duration::try_from(passed).unwrap_or_default();
    Some(passed.min(LONGEST_PAUSE).div_f64(speed?))
}

/// Replays a recording at its own pace, by its events' timestamps.
async fn play(path: PathBuf, speed: Option<f64>, limit: usize, sink: LinkSink) {
    let mut before: Option<jiff::Timestamp> = None;
    // A pipe may be silent for any length of time, and a remote disk for a while.
    let mut news = file::news(path, limit);
    while let Some(mut read) = news.recv().await {
        // Without pauses, the timestamps need not be read.
        if speed.is_none() {
            if sink.put_all(&mut read).await.is_err() {
                return;
            }
            continue;
        }
        for event in read {
            if let LinkEvent::Frame(frame) = &event {
                let decoded = dialect::read(dialect::bare(&frame.text)).ok();
                let stamp = decoded.and_then(|decoded| decoded.envelope.timestamp);
                if let Some(pause) = pause(speed, before, stamp) {
                    tokio::time::sleep(pause).await;
                }
                before = before.max(stamp);
            }
            if sink.put(event).await.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::bench::Flood;
    use crate::link::Frame;

    fn two() -> (SourceFeeds, [LinkSink; 2]) {
        let mut feeds = SourceFeeds::default();
        let sinks = [0, 1].map(|at| {
            let (sink, news) = LinkSink::channel(at, WAITING);
            feeds.open.push(OpenSource {
                id: LinkId(at),
                news,
                handle: None,
                origin: None,
            });
            sink
        });
        (feeds, sinks)
    }

    fn of(input: &Input) -> (LinkId, LinkEvent) {
        if let Input::Link { link, event } = input {
            (*link, event.clone())
        } else {
            panic!("{input:?}")
        }
    }

    fn now() -> crate::protocol::Now {
        crate::protocol::Now {
            monotonic: Duration::ZERO,
            wall: "2026-11-26T00:00:00Z".parse().unwrap(),
        }
    }

    #[tokio::test]
    async fn events_are_taken_once_each_and_in_their_order() {
        let (mut feeds, [one, _two]) = two();
        let texts: Vec<String> = Flood::new(3, now().wall).take(100).collect();
        for text in &texts {
            let frame = LinkEvent::Frame(Frame::of(text.clone()));
            one.put(frame).await.unwrap();
        }
        // The scheduler's per-task budget is not what this test is about.
        tokio::task::yield_now().await;
        let mut taken = Vec::new();
        let mut next = Some(feeds.next().await);
        while let Some(input) = next {
            taken.push(of(&input));
            next = feeds.try_next();
        }
        let wanted = texts
            .into_iter()
            .map(|text| (LinkId(0), LinkEvent::Frame(Frame::of(text))));
        assert!(taken.into_iter().eq(wanted));
    }

    #[test]
    fn a_replay_keeps_the_recorded_pace() {
        let at = |text: &str| Some(text.parse::<jiff::Timestamp>().unwrap());
        let first = at("2026-01-01T00:00:00.000Z");
        let later = at("2026-01-01T00:00:04.500Z");
        assert_eq!(
            pause(Some(1.0), first, later),
            Some(Duration::from_millis(4500))
        );
        assert_eq!(
            pause(Some(3.0), first, later),
            Some(Duration::from_millis(1500))
        );
        assert_eq!(pause(None, first, later), None, "without any wait");
        assert_eq!(
            pause(Some(1.0), None, later),
            None,
            "the first one comes at once"
        );
        assert_eq!(
            pause(Some(1.0), later, first),
            Some(Duration::ZERO),
            "out of order"
        );
        assert_eq!(
            pause(Some(2.0), first, at("2026-01-02T00:00:00Z")),
            Some(LONGEST_PAUSE / 2),
            "a night is cut"
        );
    }
}
