//! The channel from a link to the receiver of its news, bounded by the number of items and by their bytes.
//!
//! Responsibilities: making a link, and with it its server, wait until its news is received. Not here: what the news
//! means (`super`), who reads which link (`runtime`).
//!
//! A number alone is no bound: a thousand frames of 4 MiB exceed a machine's memory. So each frame takes as much space
//! as it has bytes, and at least enough that no more than the permitted number fit.
//!
//! Items that a link has together are passed on together ([`LinkSink::put_all`]): waking the receiver costs more than
//! receiving one of them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::link::{Fault, LinkEvent};

/// The most bytes of one link's frames that wait: four of the largest frame that the settings allow by default, and
/// hours of what agents really send. A frame larger than this waits alone.
pub const WAITING_BYTES: u32 = 16 * 1024 * 1024;

/// The most space that frames passed on together may take, unless a single frame takes more: small enough that the link
/// goes on reading while they are received.
const AT_ONCE: u32 = WAITING_BYTES / 8;

/// News passed on together, with its reserved space.
type NewsBatch = (VecDeque<LinkEvent>, Option<OwnedSemaphorePermit>);

/// The sending end for a link's news; if there is no space, the link waits, and the server with it.
#[derive(Debug, Clone)]
pub struct LinkSink {
    index: usize,
    news: mpsc::Sender<NewsBatch>,
    room: Arc<Semaphore>,
    /// The least space that a frame takes, in bytes, so that no more than the permitted number wait.
    least: u32,
}

/// The receiving end for a link's news, in order.
#[derive(Debug)]
pub struct LinkNews {
    index: usize,
    news: mpsc::Receiver<NewsBatch>,
    /// The news that was passed on but not yet received.
    open: NewsBatch,
}

/// The receiver of the news is gone.
#[derive(Debug)]
pub struct SinkGone;

impl LinkSink {
    /// Creates both ends for the link with the given index; `most` is how many items may wait.
    pub fn channel(index: usize, most: usize) -> (Self, LinkNews) {
        let (sender, receiver) = mpsc::channel(most);
        let sink = Self {
            index,
            news: sender,
            room: Arc::new(Semaphore::new(WAITING_BYTES as usize)),
            least: WAITING_BYTES / u32::try_from(most.max(1)).unwrap_or(u32::MAX),
        };
        let open = NewsBatch::default();
        let news = LinkNews {
            index,
            news: receiver,
            open,
        };
        (sink, news)
    }

    /// Returns the link's index.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Sends one item of news, waiting for space.
    pub async fn put(&self, event: LinkEvent) -> Result<(), SinkGone> {
        let event = within_bounds(event);
        let room = self.room_of(&event);
        self.hand_over([event].into(), room).await
    }

    /// Sends news in order, in batches as large as space permits, until none is left.
    pub async fn put_all(&self, news: &mut VecDeque<LinkEvent>) -> Result<(), SinkGone> {
        for event in news.iter_mut() {
            if has_too_many_values(event) {
                *event = too_many_values();
            }
        }
        while !news.is_empty() {
            let mut room = 0;
            let mut count = 0;
            for event in news.iter() {
                let more = room + self.room_of(event);
                if count > 0 && more > AT_ONCE {
                    break;
                }
                room = more;
                count += 1;
            }
            let rest = news.split_off(count);
            self.hand_over(std::mem::replace(news, rest), room).await?;
        }
        Ok(())
    }

    /// Returns the space that an item of news takes.
    fn room_of(&self, event: &LinkEvent) -> u32 {
        match size_of_news(event) {
            0 => 0,
            bytes => bytes.max(self.least).min(WAITING_BYTES),
        }
    }

    async fn hand_over(&self, news: VecDeque<LinkEvent>, room: u32) -> Result<(), SinkGone> {
        let room = match room {
            0 => None,
            room => {
                let room = Arc::clone(&self.room).acquire_many_owned(room);
                tokio::select! {
                    biased;
                    room = room => Some(room.map_err(|_| SinkGone)?),
                    () = self.news.closed() => return Err(SinkGone),
                }
            }
        };
        self.news.send((news, room)).await.map_err(|_| SinkGone)
    }

    /// Waits for a place for an item of news that takes no space.
    pub(super) async fn reserve(&self) -> Result<ReservedSlot<'_>, SinkGone> {
        let place = self.news.reserve().await.map_err(|_| SinkGone)?;
        Ok(ReservedSlot(place))
    }

    /// Returns whether everything that was sent has been received.
    pub(super) fn is_received(&self) -> bool {
        self.news.capacity() == self.news.max_capacity()
    }

    /// Waits until the receiver is gone.
    pub(super) async fn closed(&self) {
        self.news.closed().await;
    }
}

/// The most values that a frame may contain: parsed, each takes many times the two bytes that it may have in the text.
const MOST_VALUES: usize = 250_000;
/// A frame of fewer bytes than this can't contain more.
const CAN_HAVE_TOO_MANY: usize = 2 * MOST_VALUES;

fn within_bounds(event: LinkEvent) -> LinkEvent {
    match has_too_many_values(&event) {
        true => too_many_values(),
        false => event,
    }
}

fn too_many_values() -> LinkEvent {
    let fault = Fault::TooManyValues { limit: MOST_VALUES };
    LinkEvent::Dropped { fault, count: 1 }
}

fn has_too_many_values(event: &LinkEvent) -> bool {
    let LinkEvent::Frame(frame) = event else {
        return false;
    };
    if frame.text.len() < CAN_HAVE_TOO_MANY {
        return false;
    }
    // Counts the separators between values, outside strings.
    let (mut values, mut in_text, mut escaped) = (0, false, false);
    for byte in frame.text.bytes() {
        match (in_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b',' | b'[' | b'{') => values += 1,
            (true | false, _) => {}
        }
    }
    values > MOST_VALUES
}

/// A reserved place for one item of news.
pub(super) struct ReservedSlot<'a>(mpsc::Permit<'a, NewsBatch>);

impl ReservedSlot<'_> {
    /// Sends the item of news.
    pub(super) fn send(self, event: LinkEvent) {
        self.0.send(([event].into(), None));
    }
}

impl LinkNews {
    /// Waits for the next item of news and the index of its link; `None` if the link is gone.
    pub async fn recv(&mut self) -> Option<(usize, LinkEvent)> {
        std::future::poll_fn(|context| self.poll_recv(context)).await
    }

    /// Polls for the next item of news.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<(usize, LinkEvent)>> {
        loop {
            if let Some(event) = self.open.0.pop_front() {
                // The space is freed when every item is received: from then on, the receiver accounts for them.
                if self.open.0.is_empty() {
                    self.open.1 = None;
                }
                return Poll::Ready(Some((self.index, event)));
            }
            match self.news.poll_recv(context) {
                Poll::Ready(Some(parcel)) => self.open = parcel,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// Returns how many bytes of an item of news count; only text of arbitrary length from outside takes any.
pub fn size_of_news(event: &LinkEvent) -> u32 {
    let bytes = match event {
        LinkEvent::Frame(frame) => frame.text.len(),
        LinkEvent::Piece { text, .. } => text.len(),
        LinkEvent::Remark { line } => line.len(),
        // These wait one by one for an order of ours, or are a few words long.
        LinkEvent::Connecting { .. }
        | LinkEvent::Connected
        | LinkEvent::Resumed
        | LinkEvent::Lost { .. }
        | LinkEvent::Failed { .. }
        | LinkEvent::Ended
        | LinkEvent::Replied { .. }
        | LinkEvent::Answered { .. }
        | LinkEvent::Silent { .. }
        | LinkEvent::Listening { .. }
        | LinkEvent::Lapsed { .. }
        | LinkEvent::Strangers { .. }
        | LinkEvent::StreamEnded
        | LinkEvent::Missed { .. }
        | LinkEvent::CaughtUp
        | LinkEvent::Dropped { .. } => 0,
        LinkEvent::Request { request, .. } => request.path.len() + request.body.len(),
    };
    u32::try_from(bytes).unwrap_or(u32::MAX).min(WAITING_BYTES)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::link::Frame;

    const LARGE: usize = 4 * 1024 * 1024;

    fn frame(bytes: usize) -> LinkEvent {
        LinkEvent::Frame(Frame::of("x".repeat(bytes)))
    }

    /// Returns whether an item of news finds space immediately.
    async fn fits(sink: &LinkSink, event: LinkEvent) -> bool {
        tokio::select! {
            biased;
            put = sink.put(event) => put.is_ok(),
            () = tokio::task::yield_now() => false,
        }
    }

    /// A text may be as long as a frame; a frame that would take many times its size in memory is skipped and counted.
    #[tokio::test]
    async fn a_frame_of_too_many_values_is_left_out() {
        let (sink, mut news) = LinkSink::channel(0, 8);
        let long = format!("[\"{}\"]", "a, [b] \\\" {".repeat(200_000));
        let many = format!("[{}1]", "1,".repeat(MOST_VALUES));
        let few = format!("[{}1]", "1,  ".repeat(MOST_VALUES - 1));
        let frames = [long, many.clone(), few].map(|text| LinkEvent::Frame(Frame::of(text)));
        for event in frames {
            sink.put(event).await.unwrap();
        }
        sink.put_all(&mut [LinkEvent::Frame(Frame::of(many))].into())
            .await
            .unwrap();
        let mut left_out = Vec::new();
        for _ in 0..4 {
            let (_, event) = news.recv().await.unwrap();
            left_out.push(matches!(
                event,
                LinkEvent::Dropped {
                    fault: Fault::TooManyValues { .. },
                    count: 1
                }
            ));
        }
        assert_eq!(left_out, [false, true, false, true]);
    }

    #[tokio::test]
    async fn a_flood_of_large_frames_waits_by_its_bytes_and_small_ones_by_their_number() {
        let (sink, mut news) = LinkSink::channel(0, 1024);
        for _ in 0..4 {
            assert!(fits(&sink, frame(LARGE)).await);
        }
        assert!(!fits(&sink, frame(1)).await, "16 MiB wait");
        assert!(fits(&sink, LinkEvent::Connected).await, "news of the link");
        assert!(news.recv().await.is_some());
        assert!(fits(&sink, frame(LARGE)).await, "what is taken makes room");
        let (sink, _news) = LinkSink::channel(0, 1024);
        for _ in 0..1024 {
            assert!(fits(&sink, frame(100)).await);
        }
        assert!(!fits(&sink, frame(100)).await);
    }

    #[tokio::test]
    async fn a_frame_larger_than_all_room_waits_alone_and_comes() {
        let (sink, mut news) = LinkSink::channel(0, 1024);
        assert!(fits(&sink, frame(5 * LARGE)).await);
        assert!(!fits(&sink, frame(1)).await);
        assert!(news.recv().await.is_some());
        assert!(fits(&sink, frame(1)).await);
    }

    #[tokio::test]
    async fn what_is_handed_over_together_comes_in_order_and_takes_no_more_room_than_one_by_one() {
        let (sink, mut news) = LinkSink::channel(0, 1024);
        let of = |count: usize| -> VecDeque<LinkEvent> {
            (0..count)
                .map(|n| LinkEvent::Silent { seconds: n as u64 })
                .collect()
        };
        let mut together = of(3);
        together.push_back(frame(LARGE));
        together.extend(of(2));
        let wanted = together.clone();
        sink.put_all(&mut together).await.unwrap();
        assert!(together.is_empty());
        for wanted in wanted {
            assert_eq!(news.recv().await, Some((0, wanted)));
        }
        let mut waiting = |mut flood: VecDeque<_>| {
            assert!(
                sink.put_all(&mut flood).now_or_never().is_none(),
                "all found room"
            );
            std::iter::from_fn(|| news.recv().now_or_never().flatten()).count()
        };
        // Small frames are limited by number, however they are passed on.
        let small = waiting((0..1025).map(|_| frame(100)).collect());
        assert!((900..=1024).contains(&small), "{small} waited");
        // Large ones are limited by bytes.
        let large = waiting((0..8).map(|_| frame(LARGE)).collect());
        assert_eq!(large, 4);
    }

    #[tokio::test]
    async fn who_waits_for_room_hears_that_nobody_takes_the_news() {
        let (sink, news) = LinkSink::channel(0, 1024);
        assert!(fits(&sink, frame(5 * LARGE)).await);
        let waiting = tokio::spawn(async move { sink.put(frame(1)).await.is_err() });
        drop(news);
        assert!(waiting.await.unwrap());
    }
}
