//! The way of a link's news to whoever takes them, bounded by their number and by their bytes.
//!
//! Responsibilities: making a link wait when its news are not taken, and its server with it. Not here: what
//! the news say (`super`), who reads which link (`runtime`).
//!
//! A number alone is no bound: a thousand frames of 4 MiB are more than a machine has. So each frame takes room by
//! its bytes, and at least so much that no more than their number find room.
//!
//! What a link has at once it hands over at once ([`LinkSink::put_all`]): waking whoever takes the news costs more than
//! taking one of them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::link::{Fault, LinkEvent};

/// How many bytes of frames of one link wait at most: four of the largest frame that the settings allow by
/// themselves, and hours of what agents really send. A frame that is larger than this waits alone.
pub const WAITING_BYTES: u32 = 16 * 1024 * 1024;

/// How much of the room is taken by what is handed over at once, at most, unless one frame alone takes more: little
/// enough that the link goes on reading while that is taken.
const AT_ONCE: u32 = WAITING_BYTES / 8;

/// News that were handed over at once, with the room that they take.
type Parcel = (VecDeque<LinkEvent>, Option<OwnedSemaphorePermit>);

/// Takes a link's news; when there is no room for more the link waits, and the server with it.
#[derive(Debug, Clone)]
pub struct LinkSink {
    index: usize,
    news: mpsc::Sender<Parcel>,
    room: Arc<Semaphore>,
    /// How much room a frame takes at least, in bytes, so that no more than their number wait.
    least: u32,
}

/// Gives a link's news in their order.
#[derive(Debug)]
pub struct LinkNews {
    index: usize,
    news: mpsc::Receiver<Parcel>,
    /// What was handed over and not taken yet.
    open: Parcel,
}

/// Says that nobody takes the news any more.
#[derive(Debug)]
pub struct SinkGone;

impl LinkSink {
    /// Makes both ends for the link that is known by `index`; `most` is how many news may wait.
    pub fn channel(index: usize, most: usize) -> (Self, LinkNews) {
        let (sender, receiver) = mpsc::channel(most);
        let sink = Self {
            index,
            news: sender,
            room: Arc::new(Semaphore::new(WAITING_BYTES as usize)),
            least: WAITING_BYTES / u32::try_from(most.max(1)).unwrap_or(u32::MAX),
        };
        let open = Parcel::default();
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

    /// Hands one piece of news over, waiting for room.
    pub async fn put(&self, event: LinkEvent) -> Result<(), SinkGone> {
        let event = within_bounds(event);
        let room = self.room_of(&event);
        self.hand_over([event].into(), room).await
    }

    /// Hands news over in their order, as many at once as find room together, and leaves none.
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

    /// Returns the room that a piece of news takes.
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

    /// Waits for a place for a piece of news that takes no room beside it.
    pub(super) async fn reserve(&self) -> Result<Room<'_>, SinkGone> {
        let place = self.news.reserve().await.map_err(|_| SinkGone)?;
        Ok(Room(place))
    }

    /// Waits until nobody takes the news any more.
    pub(super) async fn closed(&self) {
        self.news.closed().await;
    }
}

/// How many values a frame may have: read, each takes many times the two bytes that it may have in the text.
const MOST_VALUES: usize = 250_000;
/// A frame of fewer bytes than this can't have more.
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
    // What parts values, outside of texts.
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

/// A place for one piece of news.
pub(super) struct Room<'a>(mpsc::Permit<'a, Parcel>);

impl Room<'_> {
    /// Hands the piece of news over.
    pub(super) fn send(self, event: LinkEvent) {
        self.0.send(([event].into(), None));
    }
}

impl LinkNews {
    /// Waits for the next piece of news and the index of its link; nothing when the link is gone.
    pub async fn recv(&mut self) -> Option<(usize, LinkEvent)> {
        std::future::poll_fn(|context| self.poll_recv(context)).await
    }

    /// Looks for the next piece of news.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<(usize, LinkEvent)>> {
        loop {
            if let Some(event) = self.open.0.pop_front() {
                // The room is given back when all is taken: what was taken is with whoever took it.
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

/// Returns how many bytes of a piece of news count; only what a stranger sends at any length takes some.
pub fn size_of_news(event: &LinkEvent) -> u32 {
    let bytes = match event {
        LinkEvent::Frame(frame) => frame.text.len(),
        LinkEvent::Piece { text, .. } => text.len(),
        LinkEvent::Remark { line } => line.len(),
        // These wait one by one for an order of ours, or are a few words.
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
        | LinkEvent::Dropped { .. } => 0,
        LinkEvent::Request { request, .. } => request.path.len() + request.body.len(),
    };
    u32::try_from(bytes).unwrap_or(u32::MAX).min(WAITING_BYTES)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::link::Frame;

    const LARGE: usize = 4 * 1024 * 1024;

    fn frame(bytes: usize) -> LinkEvent {
        LinkEvent::Frame(Frame::of("x".repeat(bytes)))
    }

    /// Returns whether a piece of news finds room at once.
    async fn fits(sink: &LinkSink, event: LinkEvent) -> bool {
        tokio::select! {
            biased;
            put = sink.put(event) => put.is_ok(),
            () = tokio::task::yield_now() => false,
        }
    }

    /// A text may be as long as a frame; what would take many times its size in memory is left out and counted.
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
        // Small frames wait by their number, however they are handed over.
        let mut flood: VecDeque<_> = (0..1025).map(|_| frame(100)).collect();
        tokio::select! {
            biased;
            _ = sink.put_all(&mut flood) => panic!("all found room"),
            () = tokio::task::yield_now() => {}
        }
        let mut waiting = 0;
        while let Some(Some(_)) = news.recv().now_or_never() {
            waiting += 1;
        }
        assert!((900..=1024).contains(&waiting), "{waiting} waited");
        // And large ones by their bytes.
        let mut flood: VecDeque<_> = (0..8).map(|_| frame(LARGE)).collect();
        tokio::select! {
            biased;
            _ = sink.put_all(&mut flood) => panic!("all found room"),
            () = tokio::task::yield_now() => {}
        }
        let mut waiting = 0;
        while let Some(Some(_)) = news.recv().now_or_never() {
            waiting += 1;
        }
        assert_eq!(waiting, 4);
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
