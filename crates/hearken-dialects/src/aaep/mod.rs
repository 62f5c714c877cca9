//! AAEP as a dialect: the handshake, its terms and its ends, as one machine.
//!
//! Responsibilities: what is asked of a producer in which order and what its answers mean; the manifest and the
//! subscription first, the plain pair second; whether a signed manifest is believed; passing events on as they
//! are. Not here: the messages (`protocol`), how they travel (`transport`), what the person is told of a link
//! that comes and goes (`app`).
//!
//! ```text
//! Connecting -> ask the manifest -> ask a subscription -> 201 -> follow it
//!      |               (any answer)            | 404, 405 or no handshake -> follow the plain pair
//!      |                                       '-- refused -> this attempt has failed, with its remedy
//!      '- agreed before -> follow it again; a server that forgot it is asked anew at the next attempt
//! ```
//! On a connection that carries both ways the request is the first message after `Connected`, and the
//! consent the first one that comes; a producer that sends events instead has no handshake.
//!
//! The folder: `handshake` (from the first request to the consent), `agreement` (what was agreed, and whether it
//! is kept), `terms` (what is asked for), `refusal`, `proof`, `prompts` (what the agent is told to do), `ways` (which way is tried next), `lines` (JSON-RPC
//! of a program's lines), `addresses` (where a producer has what).

mod addresses;
mod agreement;
mod handshake;
mod lines;
mod prompts;
mod proof;
mod refusal;
mod terms;
mod ways;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::config::HandshakeConfig;
use crate::link::{LastWords, LinkEvent, Phrase};
use crate::protocol::{Capabilities, KeyRing, Manifest, Now, Reply, SignatureFault, object};

use super::rpc::{self, Message, Text};
use super::{
    Carrier, Connection, Dialect, Foreign, Numbers, Out, Sign, Standing, Start, Terms, WhenLeft,
    Wish, bare,
};
pub use addresses::{Addresses, WEBSOCKET};

use agreement::Agreement;
use lines::{Line, Lines};
use prompts::Prompts;
use terms::Difference;
pub(super) use ways::is_of_the_way;
use ways::{Search, Way};

/// How many answers to requests of the other side may wait to be written: where so much is to be written
/// already, a liveness check has its answer in that.
const MOST_ANSWERS: usize = 8;

/// Where hands are shaken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handshakes {
    /// Nowhere: a file, a pipe, or the plain pair.
    Nowhere,
    /// By requests beside the stream, before it is opened (B.1).
    Beside,
    /// By the first messages on the connection itself (B.2 to B.6).
    Inside,
}

/// How far the handshake is, with what that step needs; a new attempt begins it anew.
#[derive(Debug, Clone, PartialEq)]
enum Handshake {
    /// Nothing is under way.
    Idle,
    /// The manifest was asked for.
    Manifest { request: u64 },
    /// A subscription was asked for.
    Asked(Box<Asked>),
    /// The producer has no handshake.
    Plain,
    /// The terms are agreed.
    Agreed(Box<Agreement>),
}

/// A request for a subscription that is under way.
#[derive(Debug, Clone, PartialEq)]
struct Asked {
    request: u64,
    version: String,
    /// The terms that were asked for.
    terms: Capabilities,
    manifest: Option<Manifest>,
    proof: Result<(), SignatureFault>,
}

/// The machine of one link.
#[derive(Debug)]
pub(super) struct Aaep {
    /// Where hands are shaken on the way that is in use.
    at: Handshakes,
    handshake: Handshake,
    /// Whether the connection is there.
    up: bool,
    addresses: Addresses,
    /// By which name replies go: ours, until the producer gave one.
    subscription: String,
    ways: Search,
    /// How a program's lines are read; absent for everything else.
    lines: Option<Lines>,
    /// What is asked of the producer by the settings.
    asks: HandshakeConfig,
    /// What the person wants now.
    wanted: Terms,
    keys: KeyRing,
    numbers: Numbers,
    /// The answers to requests of the other side that are not written yet.
    answers: BTreeSet<u64>,
    /// Extensions that the producer can't tell from others, and that are not asked for any more.
    left_out: Vec<String>,
    /// The differences that were told last.
    terms_told: Vec<Difference>,
    /// Which way it was last told to go, where that shows only on the connection itself.
    way_told: Option<&'static str>,
    /// What the agent is told to do.
    prompts: Prompts,
}

impl Aaep {
    pub(super) fn new(start: Start) -> Self {
        let Start {
            carrier,
            path,
            plain,
            handshake,
            keys,
            terms,
            seed,
            numbers,
            // It knows where its own streams are, its events bring their own words, and its answers are not signed.
            stream: _,
            origin: _,
            words: _,
            identity: _,
            folder: _,
            prompt: _,
            prompts_at,
            earlier: _,
            handler: _,
            conversation: _,
        } = start;
        let mut seed = seed;
        let (at, way) = match carrier {
            Carrier::OneWay | Carrier::Requests => (Handshakes::Nowhere, None),
            // A server that is well may still be as late here as with a handshake.
            Carrier::EventStream if plain => (Handshakes::Nowhere, Some(Way::PlainPair)),
            Carrier::WebSocket | Carrier::Socket | Carrier::Lines if plain => {
                (Handshakes::Nowhere, None)
            }
            Carrier::EventStream => (Handshakes::Beside, Some(Way::EventStream)),
            Carrier::WebSocket => (Handshakes::Inside, Some(Way::WebSocket)),
            Carrier::Socket | Carrier::Lines => (Handshakes::Inside, None),
        };
        Self {
            at,
            handshake: Handshake::Idle,
            up: false,
            addresses: Addresses::given(carrier, &path),
            subscription: format!("sub_{:016x}{:016x}", random(&mut seed), random(&mut seed)),
            ways: Search::new(way),
            lines: (carrier == Carrier::Lines).then(Lines::default),
            asks: handshake,
            wanted: terms,
            keys,
            numbers,
            answers: BTreeSet::new(),
            left_out: Vec::new(),
            terms_told: Vec::new(),
            way_told: None,
            prompts: Prompts::at(prompts_at),
        }
    }

    /// Goes to a step of the handshake.
    fn step(&mut self, to: Handshake, out: &mut Vec<Out>) {
        if to == Handshake::Plain {
            // Whoever has no handshake has proven nothing.
            out.push(Out::Proven(None));
        }
        self.handshake = to;
    }

    /// Sends a message of our own on the connection.
    fn send(&mut self, message: &str, out: &mut Vec<Out>) -> u64 {
        let request = self.numbers.fresh();
        let frame = self.wrap(message);
        out.push(Out::Send { request, frame });
        request
    }

    /// Puts a message into the frame that carries it.
    fn wrap(&mut self, message: &str) -> String {
        match &mut self.lines {
            Some(lines) => lines.wrap(message),
            None => message.to_owned(),
        }
    }

    /// Says what is sent when the link is closed.
    fn last_words(&mut self, message: Option<String>, out: &mut Vec<Out>) {
        let words = message.map(|message| match self.at {
            Handshakes::Beside => LastWords::Call(self.addresses.tell(message)),
            Handshakes::Inside | Handshakes::Nowhere => LastWords::Message(self.wrap(&message)),
        });
        out.push(Out::LastWords(words));
    }

    fn frame(&mut self, text: &str, now: Now, out: &mut Vec<Out>) {
        let text = bare(text);
        let Some(lines) = &mut self.lines else {
            return self.message(text, now, out);
        };
        match lines.read(text) {
            Line::Message(text) => self.message(&text, now, out),
            Line::NoSubscriptions => self.no_subscriptions(out),
            Line::Answer(frame) => {
                if self.answers.len() < MOST_ANSWERS {
                    let request = self.numbers.fresh();
                    self.answers.insert(request);
                    out.push(Out::Send { request, frame });
                }
            }
            Line::NotMine(what) => out.push(Out::Unread(super::NoEvent::Foreign(what), 1)),
            Line::Nothing => {}
        }
    }

    fn message(&mut self, text: &str, now: Now, out: &mut Vec<Out>) {
        if self.handshake_frame(text, now, out) {
            return;
        }
        self.ways.works();
        // What can't be read says nothing about the way: it may be a greeting for people.
        if self.awaits_consent_inside() && super::read(text).is_ok() && !self.without_handshake(out)
        {
            return;
        }
        self.watch_rate(text, now, out);
        out.push(Out::Event(text.to_owned()));
    }
}

impl Dialect for Aaep {
    fn may_pass(&self) -> bool {
        // Of a subscription more is to be known: whether it comes, and whether the agent keeps to it.
        let subscribes = matches!(self.handshake, Handshake::Asked(_) | Handshake::Agreed(_));
        !subscribes && self.lines.is_none()
    }

    fn passes(&mut self, frame: &str) -> bool {
        let is_bare = bare(frame).len() == frame.len();
        if !is_bare || !self.may_pass() || self.is_handshake(frame) {
            return false;
        }
        self.ways.works();
        true
    }

    fn news(&mut self, event: &LinkEvent, now: Now, out: &mut Vec<Out>) {
        match event {
            LinkEvent::Connecting { .. } => self.begin(out),
            LinkEvent::Connected => {
                self.up = true;
                self.shake_hands_inside(out);
                if let Handshake::Agreed(agreed) = &self.handshake
                    && agreed.followed_again
                {
                    out.push(Out::Standing(Standing::Back));
                }
                // What the person changed while nobody was there.
                self.renew_terms(out);
            }
            LinkEvent::Resumed => match self.handshake {
                // Without a subscription this is all there is to tell that it is the one that asked.
                Handshake::Idle | Handshake::Plain => {
                    out.push(Out::Standing(Standing::PerhapsBack));
                }
                // A subscription that is followed again proves more; a new one, that the old is forgotten.
                Handshake::Manifest { .. } | Handshake::Asked(_) | Handshake::Agreed(_) => {}
            },
            LinkEvent::Frame(frame) => self.frame(&frame.text, now, out),
            LinkEvent::Lost { fault, .. } => {
                self.up = false;
                self.loosen(fault, out);
            }
            LinkEvent::Failed { fault } => {
                self.up = false;
                self.other_way_after(fault, out);
            }
            LinkEvent::Ended => self.up = false,
            LinkEvent::Replied { request, outcome } => {
                if Numbers::is_own(*request) {
                    self.answers.remove(request);
                } else {
                    out.push(Out::Settled {
                        request: *request,
                        outcome: outcome.clone(),
                    });
                }
            }
            LinkEvent::Answered { request, outcome } => {
                if !self.prompts.answered(*request, outcome, out) {
                    self.answered(*request, outcome.clone(), now, out);
                }
            }
            LinkEvent::Remark { .. }
            | LinkEvent::Silent { .. }
            | LinkEvent::Dropped { .. }
            | LinkEvent::Listening { .. }
            | LinkEvent::Request { .. }
            | LinkEvent::Lapsed { .. }
            | LinkEvent::Strangers { .. }
            | LinkEvent::Piece { .. }
            | LinkEvent::StreamEnded => {}
        }
    }

    fn reply(&mut self, request: u64, reply: &Reply, _now: Now, out: &mut Vec<Out>) {
        let message = reply.to_json(&self.subscription);
        let frame = self.wrap(&message);
        out.push(Out::Send { request, frame });
    }

    fn wish(&mut self, wish: &Wish, _now: Now, out: &mut Vec<Out>) {
        match wish {
            Wish::Terms(terms) => {
                self.wanted = terms.clone();
                self.renew_terms(out);
            }
            Wish::Prompt(text) => self.prompts.send(text, &mut self.numbers, out),
            // The protocol has no word for it, and nobody is told that it can be done.
            Wish::Stop => {}
            Wish::Set(_) => out.push(Out::Tell(Phrase::new("settings.none"))),
            // Where prompts are taken, a run of its own begins with each.
            Wish::Of(_, wish) => self.wish(wish, _now, out),
        }
    }

    fn tick(&mut self, _now: Now, _out: &mut Vec<Out>) {}

    fn deadline(&self) -> Option<Duration> {
        // Nothing in the handshake waits for a time: transport gives up what nobody answers.
        None
    }

    fn connection(&self) -> Connection {
        let (how, asked) = match &self.handshake {
            Handshake::Idle | Handshake::Plain => (Some("link.plain_pair"), true),
            Handshake::Agreed(_) => (Some("link.handshake"), true),
            Handshake::Manifest { .. } | Handshake::Asked(_) => (None, false),
        };
        Connection {
            how,
            terms: self.terms_told.iter().map(Difference::phrase).collect(),
            // Only where a stream was asked for, a server that is well may answer with its first event.
            may_answer_late: asked && self.ways.is_stream(),
            leaves_out: self.leaves_out(),
            takes_prompts: self.prompts.are_taken(),
            in_turn: false,
            never_stops: self.prompts.are_taken(),
            when_left: WhenLeft::Default,
            gets_ready: false,
            rests: false,
            converses: false,
            only_heard: false,
        }
    }
}

/// Returns the next number of a SplitMix64 sequence: enough for ids, which are no secrets.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns whether a text is AAEP's: by its context or its type, by itself or in an envelope of JSON-RPC.
pub(super) fn recognise(text: &str) -> Sign {
    let is_ours = |text: &str| object(text).is_some_and(|map| Foreign::of_object(&map).is_none());
    let surely = match rpc::read(text) {
        Text::Rpc(Message::Request { method, .. } | Message::Notification { method, .. }) => {
            method.starts_with("aaep.")
        }
        Text::Rpc(Message::Result { result, .. }) => is_ours(&result),
        Text::Rpc(Message::Error { .. } | Message::Nothing) | Text::Other => false,
        Text::Object => is_ours(text),
    };
    if surely { Sign::Surely } else { Sign::No }
}

/// Tells the person something.
fn tell(key: &'static str) -> Phrase {
    Phrase::new(key)
}

#[cfg(test)]
mod tests;
