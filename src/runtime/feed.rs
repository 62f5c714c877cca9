//! The sources as the loop sees them: one channel each, so that one can be left unread.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::protocol;
use crate::session::LinkId;
use crate::transport::file::{self, Line};
use crate::transport::{self, Frame, LinkEvent, LinkSettings, LinkSink, Source};

use super::Open;

/// How many news of one source wait for the loop; then the source waits, and its server with it.
const WAITING: usize = 1024;

/// The longest pause of a recording that is kept: a night between two events is nobody's wish.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Says where events come from.
#[derive(Debug, Clone)]
pub enum Feed {
    /// A link.
    Link(Source),
    /// A recording, played at a pace.
    Recording {
        /// The file.
        path: PathBuf,
        /// How many times faster; `None` is without any wait.
        speed: Option<f64>,
    },
}

/// Holds the open sources.
pub(super) struct Feeds {
    open: Vec<Open>,
    turn: usize,
}

impl Feeds {
    pub(super) fn open(feeds: Vec<Feed>, settings: LinkSettings) -> anyhow::Result<Self> {
        let mut open = Vec::new();
        for (at, feed) in feeds.into_iter().enumerate() {
            let (sink, news) = mpsc::channel(WAITING);
            let handle = match feed {
                Feed::Link(source) => {
                    let seed = settings.seed.wrapping_add(at as u64);
                    let mut settings = settings.clone();
                    settings.seed = seed;
                    Some(transport::open(source, settings, LinkSink::new(at, sink)))
                }
                Feed::Recording { path, speed } => {
                    let limit = settings.config.max_frame_bytes;
                    tokio::spawn(play(path, speed, limit, at, sink));
                    None
                }
            };
            open.push(Open {
                id: LinkId(at),
                news,
                handle,
                reading: true,
            });
        }
        Ok(Self { open, turn: 0 })
    }

    /// Waits for the next news of any source that is read, in turns.
    pub(super) async fn next(&mut self) -> (LinkId, LinkEvent) {
        std::future::poll_fn(|context| {
            let count = self.open.len();
            for step in 0..count {
                let at = (self.turn + step) % count;
                let open = &mut self.open[at];
                if !open.reading {
                    continue;
                }
                if let std::task::Poll::Ready(Some((_, event))) = open.news.poll_recv(context) {
                    self.turn = (at + 1) % count;
                    return std::task::Poll::Ready((open.id, event));
                }
            }
            std::task::Poll::Pending
        })
        .await
    }

    pub(super) fn send(&self, link: LinkId, request: u64, body: String) {
        if let Some(handle) = self.open.get(link.0).and_then(|open| open.handle.as_ref()) {
            handle.send(request, body);
        }
    }

    pub(super) fn leave(&mut self, link: LinkId) {
        if let Some(open) = self.open.get_mut(link.0) {
            // Dropping the handle ends the link; a reply under way is answered for on the channel.
            open.handle = None;
        }
    }

    pub(super) fn reading(&mut self, link: LinkId, on: bool) {
        if let Some(open) = self.open.get_mut(link.0) {
            open.reading = on;
        }
    }

    pub(super) fn close(self) {}
}

/// Plays a recording at its own pace, by the timestamps of its events.
async fn play(
    path: PathBuf,
    speed: Option<f64>,
    limit: usize,
    index: usize,
    sink: mpsc::Sender<(usize, LinkEvent)>,
) {
    let tell = async |event: LinkEvent| sink.send((index, event)).await.is_ok();
    let lines = match file::lines(&path, limit) {
        Ok(lines) => lines,
        Err(fault) => {
            tell(LinkEvent::Failed { fault }).await;
            return;
        }
    };
    tell(LinkEvent::Connected).await;
    let mut before: Option<jiff::Timestamp> = None;
    for line in lines {
        let event = match line {
            Ok(Line::Text(text)) => {
                let stamp = protocol::decode(&text)
                    .ok()
                    .and_then(|decoded| decoded.envelope.timestamp);
                if let (Some(speed), Some(last), Some(stamp)) = (speed, before, stamp) {
                    let pause = Duration::try_from(stamp.duration_since(last)).unwrap_or_default();
                    tokio::time::sleep(pause.min(LONGEST_PAUSE).div_f64(speed)).await;
                }
                before = stamp.or(before);
                LinkEvent::Frame(Frame { text })
            }
            Ok(Line::TooLong) => LinkEvent::Dropped {
                fault: transport::Fault::TooLarge { limit },
                count: 1,
            },
            Err(error) => {
                tell(LinkEvent::Failed {
                    fault: transport::Fault::Unusable(error.to_string()),
                })
                .await;
                return;
            }
        };
        if !tell(event).await {
            return;
        }
    }
    tell(LinkEvent::Ended).await;
}
