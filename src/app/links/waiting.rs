//! Sources that keep the person waiting at their start: nothing connects, or nothing comes.
//!
//! Responsibilities: telling each of the two once, so that nobody sits before a silence that could be a
//! typing mistake, a broken server or an agent without work. Not here: connections that fail or are lost
//! (`news`), a stream that falls silent later (`news`).

use std::time::Duration;

use crate::announce::{Arg, Class, Kind};
use crate::link::LinkId;
use crate::protocol::Now;

use super::stream::LinkPhase;
use super::view::LinkView;
use crate::app::App;

/// After how long it is said that a source still connects: a handshake with a far server takes a second
/// or two, and who hears nothing for longer begins to look for a fault.
const SLOW_TO_CONNECT: Duration = Duration::from_secs(4);

/// After how long it is said that nothing came over a connection that is there: longer than a server
/// takes to show what runs, and than the words of the start take to be heard.
const SLOW_TO_SEND: Duration = Duration::from_secs(10);

/// Says what the start of a source is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// No attempt was made yet.
    Unbegun,
    /// It is to connect, and is told of when it has not until then.
    ToConnect { until: Duration },
    /// It is to connect, and the person knows that it has not.
    Known,
    /// It is connected, and is told of when nothing came until then.
    ToSend { until: Duration },
    /// It began, or everything was told.
    Over,
}

impl Waiting {
    /// Takes an attempt; only the first one begins the time.
    pub(super) fn connecting(&mut self, now: Now) {
        match self {
            Self::Unbegun => {
                *self = Self::ToConnect {
                    until: now.monotonic + SLOW_TO_CONNECT,
                };
            }
            Self::ToConnect { .. } | Self::Known | Self::ToSend { .. } | Self::Over => {}
        }
    }

    /// Takes the connection; one by another way begins the time anew.
    pub(super) fn connected(&mut self, now: Now) {
        match self {
            Self::Unbegun | Self::ToConnect { .. } | Self::Known | Self::ToSend { .. } => {
                *self = Self::ToSend {
                    until: now.monotonic + SLOW_TO_SEND,
                };
            }
            Self::Over => {}
        }
    }

    /// Takes a loss, which is told with its reason.
    pub(super) fn lost(&mut self) {
        *self = match self {
            Self::Unbegun | Self::ToConnect { .. } | Self::Known => Self::Known,
            Self::ToSend { .. } | Self::Over => Self::Over,
        };
    }
}

impl LinkView {
    /// Gives when its start has lasted so long that it is told.
    pub(super) fn waits_until(&self) -> Option<Duration> {
        match (self.waiting, self.phase) {
            (
                Waiting::ToConnect { until },
                LinkPhase::Disconnected | LinkPhase::Connecting { .. },
            )
            | (Waiting::ToSend { until }, LinkPhase::Connected) => Some(until),
            (
                Waiting::ToConnect { .. },
                LinkPhase::Connected
                | LinkPhase::Streaming
                | LinkPhase::Completed
                | LinkPhase::Failed,
            )
            | (
                Waiting::ToSend { .. },
                LinkPhase::Disconnected
                | LinkPhase::Connecting { .. }
                | LinkPhase::Streaming
                | LinkPhase::Completed
                | LinkPhase::Failed,
            )
            | (Waiting::Unbegun | Waiting::Known | Waiting::Over, _) => None,
        }
    }
}

impl App {
    /// Tells of sources whose start has lasted long.
    pub(in crate::app) fn tick_waiting(&mut self, now: Now) {
        let due: Vec<LinkId> = self
            .links
            .iter()
            .filter(|view| view.waits_until().is_some_and(|at| now.monotonic >= at))
            .map(|view| view.id)
            .collect();
        for id in due {
            let late = self.announcer.phrases().text("link.connecting.late", &[]);
            let Some(view) = self.links.get_mut(id) else {
                continue;
            };
            let (key, next) = match view.waiting {
                Waiting::ToConnect { .. } => ("link.connecting", Waiting::Known),
                Waiting::ToSend { .. } => ("link.nothing_yet", Waiting::Over),
                Waiting::Unbegun | Waiting::Known | Waiting::Over => continue,
            };
            view.waiting = next;
            let why = if view.connection().may_answer_late {
                late
            } else {
                String::new()
            };
            let args = [
                ("source", Arg::Own(view.name.clone())),
                ("why", Arg::Own(why)),
            ];
            self.say(Class::Outcome, Kind::Connection, key, &args, now);
        }
    }
}
