//! The ways to a producer: which one is gone, and which one is tried when it does not work (8.4, B.7.2).
//!
//! Responsibilities: what a manifest lists, which faults are the way's, the next way and the word of it,
//! the end of the search. Not here: the addresses (`transport`), the handshake (`handshake`).
//!
//! # Mental model
//! The person names a way by the address that they give, and that one is tried first, as long as the
//! manifest does not leave it out. When it does not work, those that the manifest lists follow in its order,
//! each once; the plain pair comes last, and only where the server has no place to shake hands. A way is at
//! fault when the server says so of the way itself: nothing at that address, no event stream, no WebSocket,
//! `transport_unavailable`. Who is refused, or told to come again, is that on every way.
//!
//! # Worked example
//! `https://a.example` lists `["grpc", "websocket", "sse"]`. The event stream is tried; the subscription is
//! taken, and the stream then answers 404. "The event stream of https://a.example/events can't be used: nothing
//! is at that address (status 404). Going on over a WebSocket." The WebSocket at `wss://a.example/aaep/v1/ws`
//! shakes hands. Were it refused too, the source could not be used.
//!
//! A WebSocket that was named has no manifest yet when it fails: the origin's manifest is asked for then, and
//! where it lists no event stream the source fails with the WebSocket's own fault.
//!
//! # Tuning by symptom
//! - A server is asked again and again by turns: [`MOST_CHANGES`] is too high.
//! - After days, a source that could go on by another way is given up: it is too low.

use crate::announce::{Arg, Class, Kind};
use crate::link::{Fault, LinkId, Way};
use crate::protocol::{Manifest, Now, SignatureFault};

use super::handshake::Handshake;
use super::stream::StreamEvent;
use super::{App, Door, Effect};

/// How often a link may change its way in one run: each one twice over is more than any move of a server
/// needs, and a server that fails by turns is left alone soon.
const MOST_CHANGES: u32 = 6;

/// Holds what is known of the ways to a source.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Ways {
    /// The one that is gone; absent where there is only one.
    pub(super) now: Option<Way>,
    /// Those that the manifest lists, in its order; absent until one was read.
    listed: Option<Vec<Way>>,
    /// Those that did not work since one did last, and why.
    failed: Vec<(Way, Failing)>,
    changes: u32,
    /// What the manifest says, and whether the person's keys vouch for it.
    manifest: Option<(Option<Manifest>, Result<(), SignatureFault>)>,
}

/// Says why a way does not work.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Failing {
    /// The manifest does not list it.
    NotListed,
    /// The server has no place to shake hands, and says so with this status.
    NoHandshake {
        /// The status.
        status: u16,
    },
    /// The server says that it does not serve this way.
    Unavailable,
    /// What answers there is something else, or nothing.
    Fault(Fault),
}

/// Says what follows from a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Going {
    /// This way is gone on.
    On,
    /// It was left for another one, or the source was given up.
    Elsewhere,
}

impl Ways {
    pub(super) fn new(now: Option<Way>) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    /// Gives the name that manifests have for the way that is gone.
    pub(super) fn name(&self) -> Option<&'static str> {
        self.now.map(Way::name)
    }

    /// Gives the manifest that was read beside another way, and its proof.
    pub(super) fn manifest(&self) -> (Option<Manifest>, Result<(), SignatureFault>) {
        self.manifest.clone().unwrap_or((None, Ok(())))
    }

    /// Takes note that the way works: what failed before is over.
    pub(super) fn works(&mut self) {
        self.failed.clear();
    }

    fn has_failed(&self, way: Way) -> bool {
        self.failed.iter().any(|(failed, _)| *failed == way)
    }

    /// Gives why a WebSocket that was named does not work, as long as no manifest has said whether there
    /// is another way.
    fn doubt(&self) -> Option<&Failing> {
        let [(Way::WebSocket, failing)] = self.failed.as_slice() else {
            return None;
        };
        (self.now == Some(Way::EventStream) && self.listed.is_none()).then_some(failing)
    }

    /// Finds the way that comes after the one that is gone has failed.
    fn next(&self) -> Option<Way> {
        if self.changes >= MOST_CHANGES {
            return None;
        }
        let untried = |way: &Way| Some(*way) != self.now && !self.has_failed(*way);
        match (&self.listed, self.now) {
            (Some(listed), _) => {
                let listed = listed.iter().copied().find(untried);
                let last = self.is_without_handshake().then_some(Way::PlainPair);
                listed.or(last.filter(untried))
            }
            // Whether there is one stands in the manifest, which is asked for on the way there.
            (None, Some(Way::WebSocket)) => Some(Way::EventStream).filter(untried),
            (None, Some(Way::EventStream | Way::PlainPair) | None) => None,
        }
    }

    /// Tells whether the server has no place to shake hands beside a stream.
    fn is_without_handshake(&self) -> bool {
        self.failed
            .iter()
            .any(|(_, failing)| matches!(failing, Failing::NoHandshake { .. }))
    }
}

/// Gives the way in which a source shakes hands that is followed by one of the ways.
fn door(way: Way) -> Door {
    match way {
        Way::EventStream => Door::Beside,
        Way::WebSocket => Door::Inside,
        Way::PlainPair => Door::Open,
    }
}

/// Tells whether a fault that ends a link is one of its way, so that another way may do. Who wants a token,
/// refuses access, is busy or has an error says that of whoever asks, however they come.
fn is_of_the_way(fault: &Fault) -> bool {
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
        | Fault::ClosedWith { .. }
        | Fault::Exited { .. }
        | Fault::Killed { .. }
        | Fault::Unusable(_)
        | Fault::Rejected { .. }
        | Fault::OneWay
        | Fault::Other(_) => false,
    }
}

impl App {
    /// Takes note of what a manifest lists, or that there is none, and leaves a way that it leaves out.
    pub(super) fn ways_listed(
        &mut self,
        id: LinkId,
        manifest: Option<&Manifest>,
        proof: Result<(), SignatureFault>,
        now: Now,
    ) -> Going {
        let Some(view) = self.links.get_mut(id.0) else {
            return Going::On;
        };
        let Some(way) = view.ways.now else {
            return Going::On;
        };
        let mut listed: Vec<Way> = Vec::new();
        for transport in manifest.iter().flat_map(|manifest| &manifest.transports) {
            listed.extend(Way::named(transport).filter(|way| !listed.contains(way)));
        }
        let doubt = view.ways.doubt().cloned();
        let left_out = !listed.is_empty() && !listed.contains(&way);
        let there = listed.contains(&way);
        view.ways.manifest = Some((manifest.cloned(), proof));
        view.ways.listed = Some(listed);
        match doubt {
            Some(failing) if there => self.tell_way_changed(id, Way::WebSocket, &failing, now),
            Some(failing) => {
                self.give_way_up(id, failing, now);
                return Going::Elsewhere;
            }
            None if left_out && self.other_way(id, Failing::NotListed, now) => {
                return Going::Elsewhere;
            }
            None => {}
        }
        Going::On
    }

    /// Tells whether a way is only tried because a WebSocket failed, and nobody has said that it exists.
    pub(super) fn is_way_doubtful(&self, id: LinkId) -> bool {
        self.links
            .get(id.0)
            .is_some_and(|view| view.ways.doubt().is_some())
    }

    /// Tells whether the manifest lists another way that was not tried.
    pub(super) fn has_another_listed(&self, id: LinkId) -> bool {
        self.links.get(id.0).is_some_and(|view| {
            let ways = &view.ways;
            let untried = |way: &Way| Some(*way) != ways.now && !ways.has_failed(*way);
            ways.listed.iter().flatten().any(untried)
        })
    }

    /// Goes on by another way where the fault that ends a link is one of its way; `false` where it is not,
    /// or where there is none left.
    pub(super) fn other_way_after(&mut self, id: LinkId, fault: &Fault, now: Now) -> bool {
        is_of_the_way(fault) && self.other_way(id, Failing::Fault(fault.clone()), now)
    }

    /// Goes on by the next way, if there is one.
    pub(super) fn other_way(&mut self, id: LinkId, failing: Failing, now: Now) -> bool {
        let Some(view) = self.links.get_mut(id.0) else {
            return false;
        };
        let Some(from) = view.ways.now else {
            return false;
        };
        view.ways.failed.push((from, failing.clone()));
        let Some(to) = view.ways.next() else {
            view.ways.failed.pop();
            return false;
        };
        view.ways.now = Some(to);
        view.ways.changes += 1;
        view.door = door(to);
        view.handshake = Handshake::Idle;
        view.refused = None;
        view.resumes = false;
        view.steady_at = None;
        view.resumed_at = None;
        view.phase.step(StreamEvent::Disconnect, 0);
        self.release(id, now);
        self.unsure(id, now);
        // Of a way that may not even exist nothing is said.
        if !self.is_way_doubtful(id) {
            self.tell_way_changed(id, from, &failing, now);
        }
        self.effects.push(Effect::ChangeWay { link: id, way: to });
        true
    }

    fn tell_way_changed(&mut self, id: LinkId, from: Way, failing: &Failing, now: Now) {
        let Some(to) = self.links.get(id.0).and_then(|view| view.ways.now) else {
            return;
        };
        let phrases = self.phrases();
        let reason = match failing {
            Failing::NotListed => None,
            Failing::NoHandshake { status } => {
                Some(phrases.text("fault.no_subscriptions", &[("status", Arg::own(status))]))
            }
            Failing::Unavailable => Some(phrases.text("fault.way_unavailable", &[])),
            Failing::Fault(fault) => Some(self.fault_words(fault)),
        };
        let from = match (from, &reason) {
            (Way::EventStream | Way::PlainPair, None) => "way.none.event_stream",
            (Way::WebSocket, None) => "way.none.websocket",
            (Way::EventStream | Way::PlainPair, Some(_)) => "way.from.event_stream",
            (Way::WebSocket, Some(_)) => "way.from.websocket",
        };
        let to = match to {
            Way::EventStream => "way.to.event_stream",
            Way::WebSocket => "way.to.websocket",
            Way::PlainPair => "way.to.plain_pair",
        };
        let key = match reason {
            Some(_) => "link.way_changed",
            None => "link.way_left_out",
        };
        let args = [
            ("source", Arg::Own(self.source_name(id))),
            ("from", Arg::Own(phrases.text(from, &[]))),
            ("to", Arg::Own(phrases.text(to, &[]))),
            ("reason", Arg::Own(reason.unwrap_or_default())),
        ];
        self.say(Class::Outcome, Kind::Connection, key, &args, now);
    }

    /// Gives a source up whose only way has failed.
    fn give_way_up(&mut self, id: LinkId, failing: Failing, now: Now) {
        let fault = match failing {
            Failing::Fault(fault) => fault,
            Failing::NoHandshake { status } => Fault::Status {
                status,
                retry_after: None,
            },
            Failing::Unavailable => Fault::Rejected {
                reason: self.phrases().text("rejected.transport_unavailable", &[]),
                retry_after: None,
                again: false,
            },
            Failing::NotListed => return,
        };
        self.failed(id, &fault, now);
        self.effects.push(Effect::Close(id));
    }
}
