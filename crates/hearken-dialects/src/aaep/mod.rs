//! AAEP as a dialect: the handshake, its terms and its ends, as one machine.
//!
//! Responsibilities: the order of requests to a producer and the meaning of its answers; the manifest and the
//! subscription first, the plain pair second; whether a signed manifest is believed; passing events on unchanged. Not
//! here: the messages (`protocol`), sending them (`transport`), announcing a link that comes and goes (`app`).
//!
//! ```text
//! Connecting -> request the manifest -> request a subscription -> 201 -> follow it
//!      |            (any answer)                 | 404, 405 or no handshake -> follow the plain pair
//!      |                                         '-- refused -> the attempt fails, with its remedy
//!      '- agreed before -> follow it again; if the server forgot it, the next attempt starts over
//! ```
//! On a bidirectional connection, the request is the first message after `Connected`, and the consent the first message
//! that arrives; a producer that sends events instead has no handshake.
//!
//! The folder: `bridge_reports` (a producer that is a bridge), `subscription` (from the first request to the consent),
//! `agreement` (the agreement, and whether it is kept), `terms` (the terms to ask for), `refusal`, `proof`, `prompts`
//! (prompts to the agent), `producer_routes` (which way is tried next), `program_lines` (JSON-RPC in a program's
//! lines), `addresses` (where a producer serves its endpoints).

mod addresses;
mod agreement;
mod bridge_reports;
mod producer_routes;
mod program_lines;
mod prompts;
mod proof;
mod refusal;
mod returned_producer;
mod subscription;
mod terms;

use crate::{ConnectionLoss, Cx};
use std::collections::BTreeSet;
use std::time::Duration;
#[cfg(test)]
pub(crate) use tests::MESSAGES;

use crate::config::HandshakeConfig;
use crate::link::{
    DeliveryFailure, Fault, Frame, HttpAnswer, LastWords, Phrase, PhraseArg, Receipt,
};
use crate::protocol::{
    Capabilities, KeyRing, Manifest, RecordedReply, Reply, SignatureFault, object,
};

use super::rpc::{self, RpcKind, RpcMessage};
use super::{
    Connection, Dialect, DialectOutput, DialectSetup, ForeignFormat, LeaveOutcome,
    OpenQuestionsChange, PersonRequest, Recognition, RequestNumbers, Terms, TransportKind, bare,
};
pub use addresses::{Addresses, WEBSOCKET};

use agreement::Agreement;
use bridge_reports::BridgeState;
pub(super) use producer_routes::is_of_the_way;
use producer_routes::{ProducerRoute, Search};
use program_lines::{ProgramLine, WritingStyle};
use prompts::Prompts;
use returned_producer::ReturnedProducer;
use terms::Difference;

/// How many answers to the other side's requests may wait to be written: when that many are queued, the queue itself
/// answers a liveness check.
const MOST_ANSWERS: usize = 8;

/// Where the handshake takes place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handshakes {
    /// Nowhere: a file, a pipe, or the plain pair.
    Nowhere,
    /// By requests beside the stream, before it is opened (B.1).
    Beside,
    /// By the first messages on the connection itself (B.2 to B.6).
    Inside,
}

/// The progress of the handshake, with the data of each step; a new attempt starts over.
#[derive(Debug, Clone, PartialEq)]
enum Handshake {
    /// Nothing is under way.
    Idle,
    /// The manifest was requested.
    Manifest { request: u64 },
    /// A subscription was requested.
    Asked(Box<PendingSubscription>),
    /// The producer has no handshake.
    Plain,
    /// The terms are agreed.
    Agreed(Box<Agreement>),
}

/// A pending request for a subscription.
#[derive(Debug, Clone, PartialEq)]
struct PendingSubscription {
    request: u64,
    version: String,
    /// The requested terms.
    terms: Capabilities,
    manifest: Option<Manifest>,
    proof: Result<(), SignatureFault>,
}

/// The machine of one link.
#[derive(Debug)]
pub(super) struct Aaep {
    /// Where the handshake takes place on the current way.
    at: Handshakes,
    handshake: Handshake,
    /// Whether the connection is up.
    up: bool,
    /// Whether its frames come from a capture, which may also contain the person's replies.
    is_capture: bool,
    addresses: Addresses,
    /// The subscription name in replies: ours, until the producer gives one.
    subscription: String,
    ways: Search,
    /// The reader of a program's lines; `None` on any other carrier.
    lines: Option<WritingStyle>,
    /// What the settings ask of the producer.
    asks: HandshakeConfig,
    /// What the person wants now.
    wanted_terms: Terms,
    keys: KeyRing,
    numbers: RequestNumbers,
    /// The answers to the other side's requests that are not written yet.
    answers: BTreeSet<u64>,
    /// The extensions that the producer cannot tell apart, and that are no longer requested.
    left_out: Vec<String>,
    /// The terms before a change whose rejection ended the subscription, and that change.
    kept_terms: Option<(Capabilities, Capabilities)>,
    /// What the producer noted about the terms.
    notes: Option<String>,
    /// The agent whose signed manifest proved its name.
    proven: Option<String>,
    /// The differences last announced.
    terms_told: Vec<Difference>,
    /// The kind of connection last reported, if it shows only on the connection itself.
    way_told: Option<&'static str>,
    /// The prompts to the agent.
    prompts: Prompts,
    /// Whether the producer that is back is the one that asked.
    returning: ReturnedProducer,
    /// What is known of a producer that is a bridge.
    bridged: BridgeState,
}

impl Aaep {
    pub(super) fn new(start: DialectSetup) -> Self {
        let DialectSetup {
            carrier,
            path,
            plain,
            handshake,
            keys,
            terms,
            seed,
            numbers,
            // AAEP has its own streams and words, and its answers are not signed.
            stream: _,
            origin: _,
            words: _,
            token: _,
            identity: _,
            folder: _,
            prompt: _,
            prompts_at,
            earlier: _,
            handler: _,
            conversation: _,
            broker: _,
            ask_always: _,
            hand_back: _,
            gemini_waits: _,
        } = start;
        let mut seed = seed;
        let (at, way) = match carrier {
            TransportKind::OneWay | TransportKind::Requests | TransportKind::Broker => {
                (Handshakes::Nowhere, None)
            }
            // A healthy server's first event may be as late here as with a handshake.
            TransportKind::EventStream if plain => {
                (Handshakes::Nowhere, Some(ProducerRoute::PlainPair))
            }
            TransportKind::WebSocket | TransportKind::Socket | TransportKind::Lines if plain => {
                (Handshakes::Nowhere, None)
            }
            TransportKind::EventStream => (Handshakes::Beside, Some(ProducerRoute::EventStream)),
            TransportKind::WebSocket => (Handshakes::Inside, Some(ProducerRoute::WebSocket)),
            TransportKind::Socket | TransportKind::Lines => (Handshakes::Inside, None),
        };
        Self {
            at,
            handshake: Handshake::Idle,
            up: false,
            is_capture: carrier == TransportKind::OneWay,
            addresses: Addresses::given(carrier, &path),
            subscription: format!("sub_{:016x}{:016x}", random(&mut seed), random(&mut seed)),
            ways: Search::new(way),
            lines: (carrier == TransportKind::Lines).then(WritingStyle::default),
            asks: handshake,
            wanted_terms: terms,
            keys,
            numbers,
            answers: BTreeSet::new(),
            left_out: Vec::new(),
            kept_terms: None,
            notes: None,
            proven: None,
            terms_told: Vec::new(),
            way_told: None,
            prompts: Prompts::at(prompts_at),
            returning: ReturnedProducer::default(),
            bridged: BridgeState::default(),
        }
    }

    /// Moves to a step of the handshake.
    fn step(&mut self, to: Handshake, out: &mut Vec<DialectOutput>) {
        if to == Handshake::Plain {
            // A producer without a handshake has proven nothing.
            out.push(DialectOutput::Proven(None));
        }
        self.handshake = to;
    }

    /// Sends one of our own messages on the connection.
    fn send(&mut self, message: &str, out: &mut Vec<DialectOutput>) -> u64 {
        let request = self.numbers.fresh();
        let frame = self.wrap(message);
        out.push(DialectOutput::Send { request, frame });
        request
    }

    /// Wraps a message into a frame of the connection.
    fn wrap(&mut self, message: &str) -> String {
        match &mut self.lines {
            Some(lines) => lines.wrap(message),
            None => message.to_owned(),
        }
    }

    /// Sets what is sent when the link is closed.
    fn last_words(&mut self, message: Option<String>, out: &mut Vec<DialectOutput>) {
        let words = message.map(|message| match self.at {
            Handshakes::Beside => LastWords::Call(self.addresses.tell(message)),
            Handshakes::Inside | Handshakes::Nowhere => LastWords::Message(self.wrap(&message)),
        });
        out.push(DialectOutput::LastWords(words));
    }

    fn frame(&mut self, text: &str, cx: &mut Cx<'_>) {
        let text = bare(text);
        let Some(lines) = &mut self.lines else {
            return self.message(text, cx);
        };
        match lines.read(text) {
            ProgramLine::Message(text) => self.message(&text, cx),
            ProgramLine::NoSubscriptions => self.no_subscriptions(cx.out),
            ProgramLine::Answer(frame) => {
                if self.answers.len() < MOST_ANSWERS {
                    let request = self.numbers.fresh();
                    self.answers.insert(request);
                    cx.out.push(DialectOutput::Send { request, frame });
                }
            }
            ProgramLine::NotMine(what) => cx
                .out
                .push(DialectOutput::Unread(super::NoEvent::Foreign(what), 1)),
            ProgramLine::Nothing => {}
        }
    }

    fn message(&mut self, text: &str, cx: &mut Cx<'_>) {
        if self.handshake_frame(text, cx) {
            return;
        }
        if let Some(reply) = self.recorded_reply(text) {
            return cx.out.push(DialectOutput::Answered(reply));
        }
        if self.bridge_message(text, cx) {
            return self.ways.works();
        }
        self.ways.works();
        // Unreadable text says nothing about the way: it may be a greeting for people.
        // What was under way when a subscription ended shows nothing about the handshake either.
        if self.awaits_consent_inside()
            && self.kept_terms.is_none()
            && super::read(text).is_ok()
            && !self.without_handshake(cx.out)
        {
            return;
        }
        self.watch_rate(text, cx);
        cx.out.push(DialectOutput::Event(text.to_owned()));
    }
}

impl Aaep {
    /// Reads a reply in a capture: a producer sends none.
    fn recorded_reply(&self, text: &str) -> Option<RecordedReply> {
        RecordedReply::read(text).filter(|_| self.is_capture)
    }
}

impl Dialect for Aaep {
    fn may_pass(&self) -> bool {
        // A subscription must be inspected: for its consent, and for its rate.
        let subscribes = matches!(self.handshake, Handshake::Asked(_) | Handshake::Agreed(_));
        !subscribes && self.lines.is_none()
    }

    fn passes(&mut self, frame: &str) -> bool {
        let is_bare = bare(frame).len() == frame.len();
        let is_message = self.is_handshake(frame) || self.recorded_reply(frame).is_some();
        if !is_bare || !self.may_pass() || is_message {
            return false;
        }
        self.ways.works();
        true
    }

    fn on_connecting(&mut self, cx: &mut Cx<'_>) {
        self.begin(cx.out);
    }

    fn on_up(&mut self, cx: &mut Cx<'_>) {
        self.up = true;
        self.shake_hands_inside(cx.out);
        if let Handshake::Agreed(agreed) = &self.handshake
            && agreed.followed_again
        {
            cx.out
                .push(DialectOutput::Standing(OpenQuestionsChange::Back));
        }
        self.reached_plain(cx.out);
        // Includes what the person changed while the connection was down.
        self.renew_terms(cx.out);
    }

    fn on_resumed(&mut self, cx: &mut Cx<'_>) {
        match self.handshake {
            // Without a subscription, nothing else shows that this producer asked the question.
            Handshake::Idle | Handshake::Plain => {
                cx.out
                    .push(DialectOutput::Standing(OpenQuestionsChange::PerhapsBack));
            }
            // Following a subscription again proves more; a new one proves that the old one was forgotten.
            Handshake::Manifest { .. } | Handshake::Asked(_) | Handshake::Agreed(_) => {}
        }
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        self.frame(&frame.text, cx);
    }

    fn on_sent(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) {
        if self.request_left(request, outcome, cx.out) {
            return;
        }
        if RequestNumbers::is_own(request) {
            self.answers.remove(&request);
        } else {
            let outcome = outcome.clone();
            cx.out.push(DialectOutput::Settled { request, outcome });
        }
    }

    fn on_answer(&mut self, request: u64, outcome: &Result<HttpAnswer, Fault>, cx: &mut Cx<'_>) {
        if self.request_answered(request, outcome, cx.out) {
            return;
        }
        if !self.prompts.answered(request, outcome, cx.out) {
            self.answered(request, outcome.clone(), cx);
        }
    }

    fn on_down(&mut self, down: ConnectionLoss<'_>, cx: &mut Cx<'_>) {
        self.up = false;
        self.bridge_gone(cx.out);
        match down {
            ConnectionLoss::Lost(fault) => {
                self.note_lost();
                self.loosen(fault, cx.out);
            }
            ConnectionLoss::Failed(fault) => self.other_way_after(fault, cx.out),
            ConnectionLoss::Ended => {}
        }
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        if self.reply_to_bridge(request, reply, cx) {
            return;
        }
        let message = reply.to_json(&self.subscription);
        let frame = self.wrap(&message);
        cx.out.push(DialectOutput::Send { request, frame });
    }

    fn on_person_request(&mut self, wish: &PersonRequest, cx: &mut Cx<'_>) {
        match wish {
            PersonRequest::Terms(terms) => {
                self.wanted_terms = terms.clone();
                self.renew_terms(cx.out);
            }
            PersonRequest::Prompt(text) if self.bridged.abilities().is_some() => {
                self.prompt_through_bridge(None, text, cx);
            }
            PersonRequest::Stop if self.bridged.abilities().is_some() => {
                self.stop_through_bridge(None, cx)
            }
            PersonRequest::Set(what) if self.bridged.abilities().is_some() => {
                self.set_through_bridge(None, what.clone(), cx);
            }
            PersonRequest::ForAgent(agent, wish) if self.bridged.abilities().is_some() => {
                match &**wish {
                    PersonRequest::Prompt(text) => {
                        self.prompt_through_bridge(Some(agent.clone()), text, cx)
                    }
                    PersonRequest::Stop => self.stop_through_bridge(Some(agent.clone()), cx),
                    PersonRequest::Set(what) => {
                        self.set_through_bridge(Some(agent.clone()), what.clone(), cx)
                    }
                    PersonRequest::Terms(_)
                    | PersonRequest::Abandon
                    | PersonRequest::ForAgent(..) => self.on_person_request(wish, cx),
                }
            }
            PersonRequest::Prompt(text) => self.prompts.send(text, &mut self.numbers, cx.out),
            // The protocol has no word for it, and stopping is not offered.
            PersonRequest::Stop | PersonRequest::Abandon => {}
            PersonRequest::Set(_) => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("settings.none"))),
            // Where prompts are accepted, each starts a run of its own.
            PersonRequest::ForAgent(_, wish) => self.on_person_request(wish, cx),
        }
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        self.tick_requests(cx);
    }

    fn deadline(&self) -> Option<Duration> {
        // The handshake has no timers: the transport gives up unanswered requests.
        self.bridged.due()
    }

    fn connection(&self) -> Connection {
        let (how, asked) = match &self.handshake {
            Handshake::Idle | Handshake::Plain => (Some("link.plain_pair"), true),
            Handshake::Agreed(_) => (Some("link.handshake"), true),
            Handshake::Manifest { .. } | Handshake::Asked(_) => (None, false),
        };
        let agrees = matches!(self.handshake, Handshake::Agreed(_));
        let proven = self.proven.clone().filter(|_| agrees).map(|agent| {
            let phrase = Phrase::new("status.proven");
            phrase.with("agent", PhraseArg::Name(agent))
        });
        let notes = self.notes.clone().filter(|_| agrees).map(|text| {
            let phrase = Phrase::new("status.notes");
            phrase.with("text", PhraseArg::Agent(text))
        });
        let bridge = self.bridged.abilities();
        Connection {
            method: how,
            facts: proven.into_iter().chain(notes).collect(),
            terms: self.terms_told.iter().map(Difference::phrase).collect(),
            // On a stream that was requested, a healthy server may respond only with its first event.
            may_answer_late: asked && self.ways.is_stream(),
            leaves_out: self.leaves_out(),
            takes_prompts: bridge.map_or(self.prompts.are_taken(), |bridge| bridge.prompts),
            in_turn: bridge.is_some_and(|bridge| bridge.working),
            is_stopping: false,
            selects: false,
            never_stops: bridge.map_or(self.prompts.are_taken(), |bridge| !bridge.stops),
            is_only_left: false,
            when_left: match bridge {
                Some(_) => LeaveOutcome::Kept,
                None => LeaveOutcome::Default,
            },
            loses_conversation: false,
            gets_ready: bridge.is_some_and(|bridge| bridge.starting),
            host: bridge
                .map(|bridge| bridge.host.clone())
                .filter(|host| !host.is_empty()),
            rests: false,
            converses: bridge.is_some_and(|bridge| bridge.several),
            only_heard: bridge.is_some_and(|bridge| !bridge.prompts),
        }
    }
}

/// Returns the next number of a SplitMix64 sequence: good enough for ids, which are not secret.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns whether a text is AAEP's: by its context or its type, bare or in a JSON-RPC envelope.
pub(super) fn recognise(text: &str) -> Recognition {
    let is_ours =
        |text: &str| object(text).is_some_and(|map| ForeignFormat::of_object(&map).is_none());
    let surely = match rpc::read(text) {
        RpcKind::Rpc(
            RpcMessage::Request { method, .. } | RpcMessage::Notification { method, .. },
        ) => method.starts_with("aaep."),
        RpcKind::Rpc(RpcMessage::Result { result, .. }) => is_ours(&result),
        RpcKind::Rpc(RpcMessage::Error { .. } | RpcMessage::Nothing) | RpcKind::Other => false,
        RpcKind::Object => is_ours(text),
    };
    if surely {
        Recognition::Surely
    } else {
        Recognition::No
    }
}

/// Returns a phrase without arguments.
fn tell(key: &'static str) -> Phrase {
    Phrase::new(key)
}

#[cfg(test)]
mod tests;
