//! The inputs and effects of a bridge.

use crate::app::{Exit, LinkOrder};
use crate::dialect::fleet::{BridgeReport, Request, RequestOutcome};
use crate::link::{LinkEvent, LinkId, Phrase};
use crate::protocol::Reply;

/// A fact for a bridge.
#[derive(Debug, Clone, PartialEq)]
pub enum BridgeInput {
    /// The bridge begins.
    Start,
    /// Something happened on a link.
    Link {
        /// The link.
        link: LinkId,
        /// What happened.
        event: LinkEvent,
    },
    /// A watcher requests something.
    Request {
        /// The shell's number of the request.
        number: u64,
        /// The request.
        request: Request,
    },
    /// A subscriber answers as plain AAEP defines it: without a digest, and without being told the outcome.
    Reply(Reply),
    /// Tell watchers this about the connection to them.
    Announce(Phrase),
    /// More questions are open than can be repeated to later watchers.
    Forgets,
    /// The time of [`Bridge::deadline`](super::Bridge::deadline) has come.
    Deadline,
    /// The bridge is about to end.
    End,
}

/// A request of a bridge to the outside world.
#[derive(Debug, Clone, PartialEq)]
pub enum BridgeEffect {
    /// Carry this out on a link.
    Link {
        /// The link.
        link: LinkId,
        /// What to do.
        order: LinkOrder,
    },
    /// Send this event of a source to every subscriber.
    Publish(String),
    /// Send this report of the bridge's own to every subscriber.
    Report {
        /// The text of the event.
        text: String,
        /// What it reports.
        report: BridgeReport,
    },
    /// Tell the watcher that made a request what became of it. Each request has exactly one outcome.
    Outcome {
        /// The number of the request.
        number: u64,
        /// The outcome.
        outcome: RequestOutcome,
    },
    /// End: no source is left that could still speak.
    Over(Exit),
}
