//! Where to meet a server whose dialect is not recognised.
//!
//! Responsibilities: whether any way is left when AAEP's have failed, what to follow there and what to tell the person,
//! and where the frames were when they were recognised. Not here: recognising (`recognise`), AAEP's own ways (`aaep`).
//!
//! # Mental model
//! A server is met at AAEP's own places, in AAEP's order and on AAEP's terms. If none of them works and no handshake
//! took place, the exact address that the person gave is followed without sending anything: no path, subprotocol or
//! handshake is added. Another protocol is recognised there by its first frames. A server given by its bare address,
//! with no events there, may have them at opencode's path, or a card at A2A's: these are tried last. If nothing is
//! there either, or it turns out to be AAEP, the source fails with the fault of AAEP's own way.
//!
//! # Worked example
//! `ws://127.0.0.1:9000/session` accepts a WebSocket but does not choose `aaep.v1`. AAEP asks for the manifest; the
//! server has none. The WebSocket is opened again, without a subprotocol, and the first frame is an ASP message.

use crate::link::{
    Address, Cause, Fault, LinkEvent, NoWebSocket, Phrase, PhraseArg, ServerRoute, Stream,
};

use super::aaep::{WEBSOCKET, is_of_the_way};
use super::{DialectOutput, DialectSetup, TransportKind, a2a, opencode};

/// The place where an unrecognised source is met.
#[derive(Debug)]
pub(super) enum SearchStage {
    /// AAEP's own places.
    InAaep {
        /// The stream that was followed last on a server.
        followed: Option<Stream>,
        /// Whether a handshake took place: then the source is AAEP, whatever happens later.
        shaken: bool,
    },
    /// The exact address that the person gave.
    AsGiven {
        /// Why AAEP has no way left.
        because: Fault,
        /// Whether the person has been told.
        is_announced: bool,
        /// The stream to follow instead, if that address itself has no events.
        beside: Option<Stream>,
    },
}

impl SearchStage {
    pub(super) fn new() -> Self {
        Self::InAaep {
            followed: None,
            shaken: false,
        }
    }

    /// Returns whether it is met at the exact address that the person gave.
    pub(super) fn is_as_given(&self) -> bool {
        match self {
            Self::InAaep { .. } => false,
            Self::AsGiven { .. } => true,
        }
    }

    /// Returns whether it is met by reading a document: the one expected, or nothing.
    pub(super) fn reads_a_document(&self) -> bool {
        self.followed()
            .is_some_and(|stream| self.is_as_given() && stream.every.is_some())
    }

    /// Returns the stream that is followed at the meeting place.
    pub(super) fn followed(&self) -> Option<&Stream> {
        match self {
            Self::InAaep { followed, .. } => followed.as_ref(),
            Self::AsGiven { beside, .. } => beside.as_ref(),
        }
    }

    /// Returns why AAEP has no way to the source; `None` if it may still have one.
    pub(super) fn failed(self) -> Option<Fault> {
        match self {
            Self::InAaep { .. } => None,
            Self::AsGiven { because, .. } => Some(because),
        }
    }

    /// Records what the outputs of AAEP's machine reveal.
    pub(super) fn take_note(&mut self, wishes: &[DialectOutput]) {
        let Self::InAaep { followed, shaken } = self else {
            return;
        };
        for wish in wishes {
            if let DialectOutput::Follow(stream) = wish {
                *followed = Some(stream.clone());
            }
            *shaken |= matches!(wish, DialectOutput::LastWords(Some(_)));
        }
    }

    /// Returns why AAEP has no way left, if the exact address that the person gave should be tried now; judged from an
    /// event and the outputs of AAEP's machine.
    pub(super) fn over(
        &self,
        start: &DialectSetup,
        event: &LinkEvent,
        wishes: &[DialectOutput],
    ) -> Option<Fault> {
        let mut fault = None;
        for wish in wishes {
            if let DialectOutput::Close(closes) = wish {
                fault = Some(closes);
            }
        }
        let goes_on = wishes
            .iter()
            .any(|wish| matches!(wish, DialectOutput::ChangeWay(_)));
        // A failed WebSocket still has the way to its origin's manifest.
        if let LinkEvent::Failed { fault: failed } = event
            && !goes_on
            && start.carrier == TransportKind::EventStream
        {
            fault = fault.or(Some(failed));
        }
        fault.filter(|fault| self.may_leave(start, fault)).cloned()
    }

    /// Leaves AAEP's ways for the address that the person gave.
    pub(super) fn leave(&mut self, because: Fault) {
        *self = Self::AsGiven {
            because,
            is_announced: false,
            beside: None,
        };
    }

    /// Returns whether, if AAEP fails for this reason, another protocol may be at the address that the person gave.
    fn may_leave(&self, start: &DialectSetup, fault: &Fault) -> bool {
        let Self::InAaep { followed, shaken } = self else {
            return false;
        };
        if *shaken || start.plain || start.handshake.require_signed {
            return false;
        }
        match start.carrier {
            TransportKind::EventStream => {
                let elsewhere = |stream: &Stream| stream.at != Address::Given;
                is_of_the_way(fault) && followed.as_ref().is_some_and(elsewhere)
            }
            // An address that is AAEP's own place means AAEP.
            TransportKind::WebSocket if start.path.ends_with(WEBSOCKET.path) => false,
            TransportKind::WebSocket => {
                refuses_aaep(fault, matches!(start.path.as_str(), "" | "/"))
            }
            TransportKind::Socket
            | TransportKind::Lines
            | TransportKind::Requests
            | TransportKind::Broker
            | TransportKind::OneWay => false,
        }
    }

    /// Handles an event at the address that the person gave.
    pub(super) fn met(
        &mut self,
        event: &LinkEvent,
        start: &DialectSetup,
        out: &mut Vec<DialectOutput>,
    ) {
        let Self::AsGiven {
            because,
            is_announced: told,
            beside,
        } = self
        else {
            return;
        };
        match event {
            LinkEvent::Connecting { .. } => {
                let stream = beside.as_ref().unwrap_or(&start.stream);
                out.push(DialectOutput::Follow(stream.clone()));
            }
            LinkEvent::Connected => {
                if !std::mem::replace(told, true) {
                    let reason = PhraseArg::Fault(because.clone());
                    let key = match beside {
                        None => "link.as_given",
                        Some(stream) if stream.every.is_some() => "link.card",
                        Some(_) => "link.beside",
                    };
                    out.push(DialectOutput::Announce(
                        Phrase::new(key).with("reason", reason),
                    ));
                }
            }
            // A server that turns us away says why; a wrong document in place of a card is no such refusal.
            LinkEvent::Failed { fault }
                if !is_of_the_way(fault) && *fault != Fault::Unusable(Cause::NoDocument) => {}
            LinkEvent::Failed { .. } => {
                let alone = matches!(start.path.as_str(), "" | "/");
                let alone = alone && start.carrier == TransportKind::EventStream;
                let next = match beside {
                    None => Some(opencode::events(&start.path)),
                    Some(stream) if stream.every.is_none() => Some(a2a::document(&start.path)),
                    Some(_) => None,
                };
                match next.filter(|_| alone) {
                    Some(next) => {
                        *beside = Some(next);
                        out.push(DialectOutput::ChangeWay(ServerRoute::AsGiven));
                    }
                    // Nothing is there either.
                    None => out.push(DialectOutput::Close(because.clone())),
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
            | LinkEvent::Missed { .. }
            | LinkEvent::CaughtUp
            | LinkEvent::Request { .. }
            | LinkEvent::Lapsed { .. }
            | LinkEvent::Strangers { .. }
            | LinkEvent::Piece { .. }
            | LinkEvent::StreamEnded => {}
        }
    }
}

/// Returns whether a WebSocket refuses only what AAEP wants of it, and not every WebSocket; `elsewhere` means that AAEP
/// looked for it at a place of its own.
fn refuses_aaep(fault: &Fault, elsewhere: bool) -> bool {
    match fault {
        Fault::NotWebSocket(why) => match why {
            NoWebSocket::Without { .. } => true,
            NoWebSocket::SomethingElse
            | NoWebSocket::Redirects
            | NoWebSocket::RedirectsTo { .. }
            | NoWebSocket::NotOffered => false,
        },
        // Some servers answer an unknown subprotocol with 400.
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
        | Fault::Declined(_)
        | Fault::OneWay
        | Fault::Other(_) => false,
    }
}

#[cfg(test)]
#[path = "tests/unrecognised_server.rs"]
mod tests;
