//! The ways to a producer: which one is in use, and which one is tried when it fails (8.4, B.7.2).
//!
//! Responsibilities: the ways a manifest lists, which faults concern only the way, choosing and announcing the next
//! way, the end of the search. Not here: the addresses (`addresses`), the handshake (`subscription`).
//!
//! # Mental model
//! The address that the person gives names a way. That one is tried first, unless the manifest leaves it out. If it
//! fails, the ways in the manifest follow in order, each once; the plain pair comes last, and only if the server has no
//! place for a handshake. A way is at fault when the server says so about the way itself: nothing at that address, no
//! event stream, no WebSocket, `transport_unavailable`. A refusal, or a request to come back later, applies to every
//! way.
//!
//! # Worked example
//! `https://a.example` lists `["grpc", "websocket", "sse"]`. The event stream is tried; the subscription is accepted,
//! and the stream then answers 404. "The event stream of https://a.example/events can't be used: nothing is at that
//! address (status 404). Going on over a WebSocket." The WebSocket at `wss://a.example/aaep/v1/ws` completes the
//! handshake. If it were refused too, the source could not be used.
//!
//! When a WebSocket that the person named fails, there is no manifest yet: the origin's manifest is then requested, and
//! if it lists no event stream, the source fails with the WebSocket's own fault.
//!
//! # Tuning by symptom
//! - A server that fails on alternating ways is tried again and again: [`MOST_CHANGES`] is too high.
//! - After days, a source is given up although another way would work: it is too low.

use crate::link::{Fault, Phrase, PhraseArg};
use crate::protocol::{Manifest, SignatureFault};

use super::{Aaep, DialectOutput, Handshake, Handshakes, tell};

/// How often a link may change its way in one run: enough to use each way twice, more than any move of a server needs;
/// a server that fails on alternating ways is soon left alone.
const MOST_CHANGES: u32 = 6;

/// A way to follow a producer on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProducerRoute {
    /// A stream of server-sent events after a handshake, with separate requests (B.1).
    EventStream,
    /// A WebSocket, which is bidirectional (B.2).
    WebSocket,
    /// `/events` and `/messages` without a handshake.
    PlainPair,
}

impl ProducerRoute {
    /// Reads the name of a transport in a manifest (5.10.1); `None` for one that leads to no server on the network or
    /// is not supported.
    fn named(name: &str) -> Option<Self> {
        let is = |own: &str| name.trim().eq_ignore_ascii_case(own);
        if is("sse") {
            Some(Self::EventStream)
        } else if is("websocket") {
            Some(Self::WebSocket)
        } else {
            None
        }
    }

    /// Returns the name of the way in manifests.
    fn name(self) -> &'static str {
        match self {
            Self::EventStream | Self::PlainPair => "sse",
            Self::WebSocket => "websocket",
        }
    }
}

/// The state of the search for a way to a source.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Search {
    /// The way in use; `None` if there is only one.
    now: Option<ProducerRoute>,
    /// The ways in the manifest, in order; `None` until one was read.
    listed: Option<Vec<ProducerRoute>>,
    /// The ways that failed since one last worked, and why.
    failed: Vec<(ProducerRoute, RouteFailure)>,
    changes: u32,
    /// The manifest, and whether the person's keys vouch for it.
    manifest: Option<(Option<Manifest>, Result<(), SignatureFault>)>,
}

/// Why a way fails.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RouteFailure {
    /// The manifest does not list it.
    NotListed,
    /// The server has no place for a handshake, and answers with this status.
    NoHandshake {
        /// The status.
        status: u16,
    },
    /// The server reports that it does not serve this way.
    Unavailable,
    /// The server redirects to this one (8.4).
    Redirected,
    /// Something else answers there, or nothing.
    Fault(Fault),
}

impl Search {
    pub(super) fn new(now: Option<ProducerRoute>) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    /// Returns the name of the current way in manifests.
    pub(super) fn name(&self) -> Option<&'static str> {
        self.now.map(ProducerRoute::name)
    }

    /// Returns the manifest that was read beside another way, and its proof.
    pub(super) fn manifest(&self) -> (Option<Manifest>, Result<(), SignatureFault>) {
        self.manifest.clone().unwrap_or((None, Ok(())))
    }

    /// Records that the way works, and forgets earlier failures.
    pub(super) fn works(&mut self) {
        self.failed.clear();
    }

    /// Returns whether the plain pair is followed without a handshake request.
    pub(super) fn is_plain_pair(&self) -> bool {
        self.now == Some(ProducerRoute::PlainPair)
    }

    /// Returns whether a stream of server-sent events is followed.
    pub(super) fn is_stream(&self) -> bool {
        match self.now {
            Some(ProducerRoute::EventStream | ProducerRoute::PlainPair) => true,
            Some(ProducerRoute::WebSocket) | None => false,
        }
    }

    /// Returns whether the way is tried only because a WebSocket failed, without a sign that it exists.
    pub(super) fn is_doubtful(&self) -> bool {
        self.doubt().is_some()
    }

    /// Returns whether the manifest lists another way that was not tried.
    pub(super) fn has_another_listed(&self) -> bool {
        let untried = |way: &ProducerRoute| Some(*way) != self.now && !self.has_failed(*way);
        self.listed.iter().flatten().any(untried)
    }

    fn has_failed(&self, way: ProducerRoute) -> bool {
        self.failed.iter().any(|(failed, _)| *failed == way)
    }

    /// Returns why a WebSocket that the person named fails, until a manifest shows whether there is another way.
    fn doubt(&self) -> Option<&RouteFailure> {
        let [(ProducerRoute::WebSocket, failing)] = self.failed.as_slice() else {
            return None;
        };
        (self.now == Some(ProducerRoute::EventStream) && self.listed.is_none()).then_some(failing)
    }

    /// Returns the way to try after the current one has failed.
    fn next(&self) -> Option<ProducerRoute> {
        if self.changes >= MOST_CHANGES {
            return None;
        }
        let untried = |way: &ProducerRoute| Some(*way) != self.now && !self.has_failed(*way);
        match (&self.listed, self.now) {
            (Some(listed), _) => {
                let listed = listed.iter().copied().find(untried);
                let last = self
                    .is_without_handshake()
                    .then_some(ProducerRoute::PlainPair);
                listed.or(last.filter(untried))
            }
            // The manifest, which is requested on that way, shows whether it exists.
            (None, Some(ProducerRoute::WebSocket)) => {
                Some(ProducerRoute::EventStream).filter(untried)
            }
            (None, Some(ProducerRoute::EventStream | ProducerRoute::PlainPair) | None) => None,
        }
    }

    /// Returns whether the server has no place for a handshake beside a stream.
    fn is_without_handshake(&self) -> bool {
        self.failed
            .iter()
            .any(|(_, failing)| matches!(failing, RouteFailure::NoHandshake { .. }))
    }
}

/// Returns where the handshake takes place on a way.
fn handshakes(way: ProducerRoute) -> Handshakes {
    match way {
        ProducerRoute::EventStream => Handshakes::Beside,
        ProducerRoute::WebSocket => Handshakes::Inside,
        ProducerRoute::PlainPair => Handshakes::Nowhere,
    }
}

/// Returns whether a fault that ends a link belongs to its way, so that another way may work. A server that requires a
/// token, refuses access, is busy or has an error does so on every way.
pub(crate) fn is_of_the_way(fault: &Fault) -> bool {
    match fault {
        Fault::Status { status, .. } => {
            matches!(status, 400 | 404 | 405 | 406 | 410 | 415 | 426 | 501)
        }
        Fault::NotEventStream { .. } | Fault::NotWebSocket(_) => true,
        Fault::Refused
        | Fault::UnknownHost
        | Fault::TimedOut
        | Fault::Closed
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

impl Aaep {
    /// Records which ways a manifest lists, if there is one, and leaves a way that is not listed; returns whether the
    /// attempt goes on with the current way.
    pub(super) fn stays_after(
        &mut self,
        manifest: Option<&Manifest>,
        proof: Result<(), SignatureFault>,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        let Some(way) = self.ways.now else {
            return true;
        };
        let mut listed: Vec<ProducerRoute> = Vec::new();
        for transport in manifest.iter().flat_map(|manifest| &manifest.transports) {
            listed.extend(ProducerRoute::named(transport).filter(|way| !listed.contains(way)));
        }
        let doubt = self.ways.doubt().cloned();
        let left_out = !listed.is_empty() && !listed.contains(&way);
        let there = listed.contains(&way);
        self.ways.manifest = Some((manifest.cloned(), proof));
        self.ways.listed = Some(listed);
        match doubt {
            Some(failing) if there => self.tell_way_changed(ProducerRoute::WebSocket, failing, out),
            Some(failing) => {
                give_way_up(failing, out);
                return false;
            }
            None if left_out && self.other_way(RouteFailure::NotListed, out) => return false,
            None => {}
        }
        true
    }

    /// Continues on another way if the fault that ends a link belongs to its way and one is left.
    pub(super) fn other_way_after(&mut self, fault: &Fault, out: &mut Vec<DialectOutput>) {
        if is_of_the_way(fault) {
            self.other_way(RouteFailure::Fault(fault.clone()), out);
        }
    }

    /// Continues on the next way, if there is one.
    pub(super) fn other_way(
        &mut self,
        failing: RouteFailure,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        let Some(from) = self.ways.now else {
            return false;
        };
        self.ways.failed.push((from, failing.clone()));
        let Some(to) = self.ways.next() else {
            self.ways.failed.pop();
            return false;
        };
        self.go(from, to, failing, out);
        true
    }

    /// Continues over a WebSocket to which the server redirects a request for a subscription (8.4); returns whether it
    /// does. The transport passes on only redirects within the server.
    pub(super) fn follows_to_websocket(
        &mut self,
        location: Option<&str>,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        let to = ProducerRoute::WebSocket;
        let path = location.and_then(websocket_path);
        let goes_on = self.ways.changes < MOST_CHANGES && !self.ways.has_failed(to);
        let (Some(path), Some(from), true) = (path, self.ways.now, goes_on) else {
            return false;
        };
        self.addresses.is_at(path.to_owned());
        let failing = RouteFailure::Redirected;
        self.ways.failed.push((from, failing.clone()));
        self.go(from, to, failing, out);
        true
    }

    fn go(
        &mut self,
        from: ProducerRoute,
        to: ProducerRoute,
        failing: RouteFailure,
        out: &mut Vec<DialectOutput>,
    ) {
        self.ways.now = Some(to);
        self.ways.changes += 1;
        self.at = handshakes(to);
        self.handshake = Handshake::Idle;
        self.up = false;
        out.push(DialectOutput::ChangeWay(self.addresses.way(to)));
        // A change to a way that may not exist is not announced.
        if !self.ways.is_doubtful() {
            self.tell_way_changed(from, failing, out);
        }
    }

    fn tell_way_changed(
        &self,
        from: ProducerRoute,
        failing: RouteFailure,
        out: &mut Vec<DialectOutput>,
    ) {
        let Some(to) = self.ways.now else {
            return;
        };
        let reason = match failing {
            RouteFailure::NotListed => None,
            RouteFailure::NoHandshake { status } => Some(PhraseArg::Phrase(
                Phrase::new("fault.no_subscriptions")
                    .with("status", PhraseArg::Own(status.to_string())),
            )),
            RouteFailure::Unavailable => {
                Some(PhraseArg::Phrase(Phrase::new("fault.way_unavailable")))
            }
            RouteFailure::Redirected => {
                Some(PhraseArg::Phrase(Phrase::new("fault.way_redirected")))
            }
            RouteFailure::Fault(fault) => Some(PhraseArg::Fault(fault)),
        };
        let from = match (from, &reason) {
            (ProducerRoute::EventStream | ProducerRoute::PlainPair, None) => {
                "way.none.event_stream"
            }
            (ProducerRoute::WebSocket, None) => "way.none.websocket",
            (ProducerRoute::EventStream | ProducerRoute::PlainPair, Some(_)) => {
                "way.from.event_stream"
            }
            (ProducerRoute::WebSocket, Some(_)) => "way.from.websocket",
        };
        let to = match to {
            ProducerRoute::EventStream => "way.to.event_stream",
            ProducerRoute::WebSocket => "way.to.websocket",
            ProducerRoute::PlainPair => "way.to.plain_pair",
        };
        let key = match reason {
            Some(_) => "link.way_changed",
            None => "link.way_left_out",
        };
        let told = tell(key)
            .with("from", PhraseArg::Phrase(Phrase::new(from)))
            .with("to", PhraseArg::Phrase(Phrase::new(to)))
            .with("reason", reason.unwrap_or(PhraseArg::Own(String::new())));
        out.push(DialectOutput::Announce(told));
    }
}

/// Returns the path of a WebSocket's address, without a query.
fn websocket_path(location: &str) -> Option<&str> {
    let rest = (location.strip_prefix("ws://")).or_else(|| location.strip_prefix("wss://"))?;
    let address = rest.split(['?', '#']).next()?;
    let path = address.find('/').and_then(|at| address.get(at..));
    Some(path.unwrap_or("/"))
}

/// Gives up a source whose only way has failed.
fn give_way_up(failing: RouteFailure, out: &mut Vec<DialectOutput>) {
    let fault = match failing {
        RouteFailure::Fault(fault) => fault,
        RouteFailure::NoHandshake { status } => Fault::Status {
            status,
            retry_after: None,
        },
        RouteFailure::Unavailable => Fault::Rejected {
            reason: Phrase::new("rejected.transport_unavailable"),
            retry_after: None,
            again: false,
        },
        RouteFailure::NotListed | RouteFailure::Redirected => return,
    };
    out.push(DialectOutput::Close(fault));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_ways_and_nothing_else() {
        assert_eq!(
            ProducerRoute::named("sse"),
            Some(ProducerRoute::EventStream)
        );
        assert_eq!(
            ProducerRoute::named(" WebSocket "),
            Some(ProducerRoute::WebSocket)
        );
        for other in [
            "",
            "stdio-jsonrpc",
            "unix-socket",
            "grpc",
            "named-pipe",
            "ws://b.example",
            "wss",
            "unix:/run/x.sock",
            "http://b.example/events",
            "sse\0",
            "plain",
        ] {
            assert_eq!(ProducerRoute::named(other), None, "{other}");
        }
    }
}
