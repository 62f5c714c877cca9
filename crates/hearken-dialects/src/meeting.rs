//! Where a server is met that nothing has recognised.
//!
//! Responsibilities: whether there is a way left when those of AAEP have failed, what is followed there and what is told
//! of it, where frames were when they were recognised. Not here: recognising (`recognise`), AAEP's own ways (`aaep`).
//!
//! # Mental model
//! A server is met where AAEP has its things, in AAEP's order and with AAEP's words. Where none of these ways works, and
//! nobody has shaken hands there, the very address that the person gave is followed without a word: no path, no
//! subprotocol and no handshake are added. Another protocol is recognised there by its first frames. A server that was
//! named alone, and has no events at its very address, may have them where opencode has its own, or a card where A2A has
//! them: these are looked for last. What is not there either, or turns out to be AAEP's, fails for the reason that AAEP's way had.
//!
//! # Worked example
//! `ws://127.0.0.1:9000/session` accepts a WebSocket and does not choose `aaep.v1`. AAEP asks for the manifest; there is
//! none. The WebSocket is opened anew, without a subprotocol, and the first frame is a message of ASP.

use crate::link::{Address, Cause, Fault, LinkEvent, NoWebSocket, Phrase, Stream, Way, Word};

use super::aaep::{WEBSOCKET, is_of_the_way};
use super::{Carrier, Out, Start, a2a, opencode};

/// Where a source is met that is not recognised.
#[derive(Debug)]
pub(super) enum Meeting {
    /// Where AAEP has its things.
    InAaep {
        /// What was followed there last, on a server's stream.
        followed: Option<Stream>,
        /// Whether hands were shaken: then it is AAEP's, whatever becomes of it.
        shaken: bool,
    },
    /// At the very address that the person gave.
    AsGiven {
        /// Why AAEP has no way left.
        because: Fault,
        /// Whether the person knows.
        told: bool,
        /// What is followed instead, where no events are at that address itself.
        beside: Option<Stream>,
    },
}

impl Meeting {
    pub(super) fn new() -> Self {
        Self::InAaep {
            followed: None,
            shaken: false,
        }
    }

    /// Returns whether it is met at the very address that the person gave.
    pub(super) fn is_as_given(&self) -> bool {
        match self {
            Self::InAaep { .. } => false,
            Self::AsGiven { .. } => true,
        }
    }

    /// Returns whether a document is read there, which is what is looked for or nothing.
    pub(super) fn reads_a_document(&self) -> bool {
        self.followed()
            .is_some_and(|stream| self.is_as_given() && stream.every.is_some())
    }

    /// Returns what was followed where it is met.
    pub(super) fn followed(&self) -> Option<&Stream> {
        match self {
            Self::InAaep { followed, .. } => followed.as_ref(),
            Self::AsGiven { beside, .. } => beside.as_ref(),
        }
    }

    /// Returns why AAEP has no way to it, where it has none.
    pub(super) fn failed(self) -> Option<Fault> {
        match self {
            Self::InAaep { .. } => None,
            Self::AsGiven { because, .. } => Some(because),
        }
    }

    /// Takes note of what AAEP's machine wishes.
    pub(super) fn take_note(&mut self, wishes: &[Out]) {
        let Self::InAaep { followed, shaken } = self else {
            return;
        };
        for wish in wishes {
            if let Out::Follow(stream) = wish {
                *followed = Some(stream.clone());
            }
            *shaken |= matches!(wish, Out::LastWords(Some(_)));
        }
    }

    /// Returns why AAEP has no way left, when the very address that the person gave is to be tried now: after what happened,
    /// and what AAEP's machine wishes.
    pub(super) fn over(&self, start: &Start, event: &LinkEvent, wishes: &[Out]) -> Option<Fault> {
        let mut fault = None;
        for wish in wishes {
            if let Out::Close(closes) = wish {
                fault = Some(closes);
            }
        }
        let goes_on = wishes.iter().any(|wish| matches!(wish, Out::ChangeWay(_)));
        // A WebSocket that fails has the way to its origin's manifest left.
        if let LinkEvent::Failed { fault: failed } = event
            && !goes_on
            && start.carrier == Carrier::EventStream
        {
            fault = fault.or(Some(failed));
        }
        fault.filter(|fault| self.may_leave(start, fault)).cloned()
    }

    /// Leaves AAEP's ways for the address that the person gave.
    pub(super) fn leave(&mut self, because: Fault) {
        *self = Self::AsGiven {
            because,
            told: false,
            beside: None,
        };
    }

    /// Returns whether another protocol may be at the address that the person gave, where AAEP fails for this reason.
    fn may_leave(&self, start: &Start, fault: &Fault) -> bool {
        let Self::InAaep { followed, shaken } = self else {
            return false;
        };
        if *shaken || start.plain || start.handshake.require_signed {
            return false;
        }
        match start.carrier {
            Carrier::EventStream => {
                let elsewhere = |stream: &Stream| stream.at != Address::Given;
                is_of_the_way(fault) && followed.as_ref().is_some_and(elsewhere)
            }
            // Who names AAEP's own place means AAEP.
            Carrier::WebSocket if start.path.ends_with(WEBSOCKET.path) => false,
            Carrier::WebSocket => refuses_aaep(fault, matches!(start.path.as_str(), "" | "/")),
            Carrier::Socket | Carrier::Lines | Carrier::Requests | Carrier::OneWay => false,
        }
    }

    /// Takes what happens at the address that the person gave.
    pub(super) fn met(&mut self, event: &LinkEvent, start: &Start, out: &mut Vec<Out>) {
        let Self::AsGiven {
            because,
            told,
            beside,
        } = self
        else {
            return;
        };
        match event {
            LinkEvent::Connecting { .. } => {
                let stream = beside.as_ref().unwrap_or(&start.stream);
                out.push(Out::Follow(stream.clone()));
            }
            LinkEvent::Connected => {
                if !std::mem::replace(told, true) {
                    let reason = Word::Fault(because.clone());
                    let key = match beside {
                        None => "link.as_given",
                        Some(stream) if stream.every.is_some() => "link.card",
                        Some(_) => "link.beside",
                    };
                    out.push(Out::Tell(Phrase::new(key).with("reason", reason)));
                }
            }
            // Who is there and turns us away says why; that something else is where a card was looked for turns nobody away.
            LinkEvent::Failed { fault }
                if !is_of_the_way(fault) && *fault != Fault::Unusable(Cause::NoDocument) => {}
            LinkEvent::Failed { .. } => {
                let alone = matches!(start.path.as_str(), "" | "/");
                let alone = alone && start.carrier == Carrier::EventStream;
                let next = match beside {
                    None => Some(opencode::events(&start.path)),
                    Some(stream) if stream.every.is_none() => Some(a2a::document(&start.path)),
                    Some(_) => None,
                };
                match next.filter(|_| alone) {
                    Some(next) => {
                        *beside = Some(next);
                        out.push(Out::ChangeWay(Way::AsGiven));
                    }
                    // Nobody is there either.
                    None => out.push(Out::Close(because.clone())),
                }
            }
            LinkEvent::Frame(_)
            | LinkEvent::Lost { .. }
            | LinkEvent::Ended
            | LinkEvent::Resumed
            | LinkEvent::Replied { .. }
            | LinkEvent::Answered { .. }
            | LinkEvent::Silent { .. }
            | LinkEvent::Remark { .. }
            | LinkEvent::Dropped { .. }
            | LinkEvent::Listening { .. }
            | LinkEvent::Request { .. }
            | LinkEvent::Lapsed { .. }
            | LinkEvent::Strangers { .. }
            | LinkEvent::Piece { .. }
            | LinkEvent::StreamEnded => {}
        }
    }
}

/// Returns whether a WebSocket refuses what AAEP wants of it, and not every WebSocket; `elsewhere` where AAEP looked for it
/// at a place of its own.
fn refuses_aaep(fault: &Fault, elsewhere: bool) -> bool {
    match fault {
        Fault::NotWebSocket(why) => match why {
            NoWebSocket::Without { .. } => true,
            NoWebSocket::SomethingElse | NoWebSocket::Redirects | NoWebSocket::NotOffered => false,
        },
        // Some refuse with 400 whoever asks for a subprotocol that they do not know.
        Fault::Status { status, .. } => *status == 400 || elsewhere && is_of_the_way(fault),
        Fault::Refused
        | Fault::UnknownHost
        | Fault::TimedOut
        | Fault::Closed
        | Fault::NotEventStream { .. }
        | Fault::Tls(_)
        | Fault::TooLarge { .. }
        | Fault::TooManyValues { .. }
        | Fault::ClosedWith { .. }
        | Fault::Exited { .. }
        | Fault::Killed { .. }
        | Fault::Unusable(_)
        | Fault::Rejected { .. }
        | Fault::OneWay
        | Fault::Other(_) => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#[path = "tests/meeting.rs"]
mod tests;
