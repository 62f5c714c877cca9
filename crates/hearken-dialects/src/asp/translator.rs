//! The translator of a link: frames in, AAEP events out, and a person's decision back.
//!
//! Responsibilities: matching frames to sessions, bounding how many are followed, sending a resolution and learning its
//! outcome. Not here: what a session's messages become (`conversation`), what is sent (`handler`).
//!
//! Mental model: hearken only listens to other agents' sessions. It sends nothing but a person's decision about an
//! escalation, and only in the name of an identity configured for it, or to a handler. A decision sent in the name of
//! an identity is applied to the session once the server has accepted it, or, without acknowledgements, once it was
//! written. A handler's decision is heard in the session like any other message.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::kit::directory::mixed;
use crate::link::{Cause, DeliveryFailure, Fault, Frame, Phrase, PhraseArg, Receipt};
use crate::protocol::{Answer, Now, Reply, Response, object};
use crate::{
    Connection, ConnectionLoss, Cx, Dialect, DialectOutput, DialectSetup, JsonTexts, PersonRequest,
    TransportKind,
};

use super::authentication::Admission;
use super::binding_frames::{self, FrameContent};
use super::capture_clock::MessageClock;
use super::conversation::AspConversation;
use super::decision_delivery::{AnswerStage, SentDecision};
use super::escalation::QuestionPhase;
use super::followed_session::FollowedSession;
use super::foreign_input::{count, other};
use super::handler::Decision;
use super::long_names;
use super::message::AspMessage;
use super::performatives::Performative;
use super::session::Negotiation;
use super::states::State;

/// How many sessions of one link are followed: more is beyond what one person can listen to.
const MOST_SESSIONS: usize = 64;
/// The version assumed for a session that states none.
const VERSION: &str = "asp/0.1";

/// The translator for the frames of one link.
#[derive(Debug)]
pub struct Asp {
    pub(super) start: DialectSetup,
    pub(super) sessions: BTreeMap<String, FollowedSession>,
    /// The session of frames that name none.
    current: String,
    /// Whether messages come in frames of the WebSocket binding, once that is known.
    framed: Option<bool>,
    pub(super) entry: Admission,
    pub(super) version: String,
    greeted: bool,
    pub(super) sending: Vec<SentDecision>,
    made: u64,
    clock: MessageClock,
}

impl Asp {
    /// Creates the translator of a link.
    pub fn new(start: DialectSetup) -> Self {
        Self {
            start,
            sessions: BTreeMap::new(),
            current: String::new(),
            framed: None,
            entry: Admission::default(),
            version: VERSION.to_owned(),
            greeted: false,
            sending: Vec::new(),
            made: 0,
            clock: MessageClock::default(),
        }
    }

    /// Returns, for each running session, whether it waits for a person, and whether one is or will be asked.
    #[cfg(test)]
    pub fn waiting(&self) -> Vec<(bool, bool)> {
        let running = self
            .sessions
            .values()
            .filter(|followed| !followed.conversation.is_over());
        let waits = running.map(|followed| {
            let state = followed.conversation.negotiation.standing().state();
            (
                state == State::Escalated,
                followed.conversation.question.is_some(),
            )
        });
        waits.collect()
    }

    /// Reads every text of a frame.
    fn frame(&mut self, frame: &str, cx: &mut Cx<'_>) {
        let mut texts = JsonTexts::default();
        while let Some(text) = texts.next(frame) {
            let map = object(text);
            match map.as_ref().and_then(binding_frames::read) {
                Some(incoming) => {
                    if let Some(version) = map.as_ref().and_then(version) {
                        self.version = version;
                    }
                    self.greet(cx.out);
                    if let Some(map) = &map {
                        self.note_frame(map, &incoming, cx);
                    }
                    self.incoming(incoming, cx);
                    if let Some(map) = &map {
                        self.note_names(map);
                    }
                }
                None => match other(text) {
                    DialectOutput::Unread(why, _) => count(why, cx.out),
                    event => cx.out.push(event),
                },
            }
        }
    }

    /// Returns whether a message of ours needs the binding's `send` frame: over a WebSocket it does, unless the server
    /// sends bare messages.
    pub(super) fn is_framed(&self) -> bool {
        let usual = self.start.carrier == TransportKind::WebSocket;
        self.framed.unwrap_or(usual)
    }

    /// Notes what a frame shows about the connection, and what time it is by the messages of a capture.
    fn note_frame(&mut self, map: &Map<String, Value>, incoming: &FrameContent, cx: &mut Cx<'_>) {
        if map.contains_key("performative") {
            self.framed.get_or_insert(false);
        } else {
            self.framed = Some(true);
        }
        let stamp = match incoming {
            FrameContent::Message(message) => message.stamp,
            FrameContent::At { stamp, .. } => *stamp,
            FrameContent::Complaint { .. } | FrameContent::Alive | FrameContent::FromClient => {
                return;
            }
            FrameContent::Let { .. } | FrameContent::Taken { .. } | FrameContent::Trust { .. } => {
                None
            }
        };
        self.let_in(cx);
        if let Some(stamp) = stamp.filter(|_| self.start.carrier == TransportKind::OneWay) {
            self.clock.hears(stamp, &mut cx.now);
            for followed in self.sessions.values_mut() {
                followed.conversation.tick(&mut Cx::new(
                    Now {
                        wall: stamp,
                        ..cx.now
                    },
                    cx.out,
                ));
            }
        }
    }

    /// Records the names used to answer a session.
    fn note_names(&mut self, map: &Map<String, Value>) {
        let session = long_names::of_frame(map).unwrap_or_default();
        if let Some(followed) = self.sessions.get_mut(&session) {
            followed.names.note(map);
        }
    }

    /// Announces at the start what the person cannot do.
    fn greet(&mut self, out: &mut Vec<DialectOutput>) {
        if std::mem::replace(&mut self.greeted, true) {
            return;
        }
        let can_send = self.start.carrier != TransportKind::OneWay;
        if can_send && !self.decides() {
            out.push(DialectOutput::Announce(Phrase::new("asp.view_only")));
        }
    }

    /// Returns whether a decision of the person can be carried out.
    fn decides(&self) -> bool {
        self.start.identity.is_some() || self.start.handler
    }

    fn incoming(&mut self, incoming: FrameContent, cx: &mut Cx<'_>) {
        match incoming {
            FrameContent::Message(message) => self.message(&message, cx),
            FrameContent::Let {
                session,
                state,
                participants,
            } => {
                self.current.clone_from(&session);
                let agent = participants
                    .first()
                    .cloned()
                    .unwrap_or_else(|| session.clone());
                if let Some(state) = state.filter(|state| *state != State::Idle) {
                    self.follow(&session, &agent, || Negotiation::joined_in(state));
                    self.at(&session, state, cx);
                }
            }
            FrameContent::At {
                session,
                state,
                heartbeat,
                ..
            } => {
                if heartbeat {
                    self.pong(cx);
                }
                let session = session.unwrap_or_else(|| self.current.clone());
                if self.sessions.contains_key(&session) {
                    self.at(&session, state, cx);
                }
            }
            FrameContent::Taken { message } => {
                self.settle(|sending| sending.id == message, Ok(Receipt::Taken), cx);
            }
            FrameContent::Complaint { code, words } => {
                cx.out.push(DialectOutput::Announce(
                    Phrase::new("asp.complaint")
                        .with("code", PhraseArg::Name(code))
                        .with("words", PhraseArg::Agent(words)),
                ));
                // It names no message, so it proves nothing about a message of ours that was written.
                let complains = Fault::Other(Cause::Complaint);
                self.settle(
                    |sending| matches!(sending.stage, AnswerStage::Written(_)),
                    Err(DeliveryFailure::Unknown(complains)),
                    cx,
                );
            }
            FrameContent::Trust { agent, score } => {
                let name = super::report_phrases::name(&agent);
                let phrase = Phrase::new("asp.trust")
                    .with("sender", PhraseArg::Name(name))
                    .with("score", PhraseArg::Own(score));
                cx.out.push(DialectOutput::Detail(phrase));
            }
            FrameContent::Alive => self.pong(cx),
            FrameContent::FromClient => {}
        }
    }

    fn message(&mut self, message: &AspMessage, cx: &mut Cx<'_>) {
        // An event happened when its sender says; our own timers count from now.
        let here = cx.now;
        let cx = &mut Cx::new(
            Now {
                wall: message.stamp.unwrap_or(here.wall),
                ..here
            },
            cx.out,
        );
        self.current.clone_from(&message.session);
        // Number 0 without a predecessor is the first message; otherwise we joined in the middle.
        let is_first = message.invites()
            || message.sequence == Some(0) && message.integrity.previous.is_none();
        let begin = || match is_first {
            true => Negotiation::default(),
            false => Negotiation::joined(message),
        };
        if let Some(followed) = self.follow(&message.session, &message.sender, begin) {
            followed.conversation.message(message, cx);
            if message.performative == Some(Performative::Escalate) {
                followed.still_waits(&mut Cx::new(here, cx.out));
            }
        }
        // Our own message came back: the server has it.
        if let Some(id) = &message.id {
            self.settle(|sending| sending.id == *id, Ok(Receipt::Taken), cx);
        }
    }

    fn at(&mut self, session: &str, state: State, cx: &mut Cx<'_>) {
        if let Some(followed) = self.sessions.get_mut(session) {
            followed.conversation.on_reported_state(state, cx);
            followed.still_waits(cx);
        }
    }

    /// Returns a session, and starts following it if it is new.
    fn follow(
        &mut self,
        name: &str,
        agent: &str,
        begin: impl FnOnce() -> Negotiation,
    ) -> Option<&mut FollowedSession> {
        self.made += 1;
        let (made, decides) = (self.made, self.decides());
        if !self.sessions.contains_key(name) {
            if self.sessions.len() >= MOST_SESSIONS {
                self.forget();
            }
            let told = AspConversation::new(
                name,
                agent,
                begin(),
                mixed(self.start.seed, made),
                self.start.words.clone(),
                decides,
            );
            self.sessions
                .insert(name.to_owned(), FollowedSession::new(told, made));
        }
        let followed = self.sessions.get_mut(name)?;
        followed.heard = made;
        Some(followed)
    }

    /// Makes room: first sessions that are over, then the longest silent; those with an open question last.
    fn forget(&mut self) {
        let oldest = self.sessions.iter().min_by_key(|(_, followed)| {
            let asks = followed.conversation.question.is_some();
            (asks, !followed.conversation.is_over(), followed.heard)
        });
        if let Some(name) = oldest.map(|(name, _)| name.clone()) {
            self.sessions.remove(&name);
        }
    }

    /// Settles what was on its way when the link went down, and remembers the open questions.
    fn gone(&mut self, cx: &mut Cx<'_>) {
        for followed in self.sessions.values_mut() {
            followed.lose();
        }
        let unknown = Err(DeliveryFailure::Unknown(Fault::Closed));
        self.settle(
            |sending| matches!(sending.stage, AnswerStage::Written(_)),
            unknown,
            cx,
        );
        let kept = Err(DeliveryFailure::Kept(Fault::Closed));
        self.settle(|sending| sending.stage == AnswerStage::Held, kept, cx);
        self.entry = Admission::Unasked;
    }
}

impl Dialect for Asp {
    fn on_connecting(&mut self, cx: &mut Cx<'_>) {
        // The stream is at the address that the person gave, or where it was found first.
        cx.out
            .push(DialectOutput::Follow(self.start.stream.clone()));
    }

    fn on_up(&mut self, cx: &mut Cx<'_>) {
        self.enter(cx);
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        self.frame(&frame.text, &mut Cx::new(self.clock.now(cx.now), cx.out));
    }

    fn on_sent(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) {
        self.replied(request, outcome, cx);
    }

    fn on_down(&mut self, down: ConnectionLoss<'_>, cx: &mut Cx<'_>) {
        self.note_turned_away(down, cx);
        self.gone(cx);
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        let token = reply.token.reveal().to_owned();
        let asked = self.sessions.iter().find(|(_, followed)| {
            let question = followed.conversation.question.as_ref();
            question.is_some_and(|question| {
                question.token == token && question.phase == QuestionPhase::Asked
            })
        });
        let session = asked.map(|(name, _)| name.clone());
        let choice = match &reply.answer {
            Answer::Response(Response::Text(text)) => Some(text.as_str()),
            Answer::Response(Response::YesNo(_) | Response::Number(_))
            | Answer::Decision { .. } => None,
        };
        match (session, choice) {
            (Some(session), Some("resume")) => {
                self.send(request, (&session, &token), Decision::Resume, reply, cx);
            }
            (Some(session), Some("close")) => {
                self.send(request, (&session, &token), Decision::Close, reply, cx);
            }
            (Some(session), Some("later")) => {
                // Nothing is sent.
                cx.out.push(DialectOutput::Settled {
                    request,
                    outcome: Ok(Receipt::Here),
                });
                if let Some(followed) = self.sessions.get_mut(&session) {
                    followed.conversation.later(cx);
                }
            }
            (Some(session), Some(words)) if !words.trim().is_empty() => {
                let decision = Decision::Words(words.to_owned());
                self.send(request, (&session, &token), decision, reply, cx);
            }
            (Some(_), Some(_) | None) | (None, _) => cx.out.push(DialectOutput::Settled {
                request,
                outcome: Err(DeliveryFailure::Kept(Fault::Other(Cause::QuestionOver))),
            }),
        }
    }

    fn on_person_request(&mut self, wish: &PersonRequest, _: &mut Cx<'_>) {
        match wish {
            // The events already contain every sentence at each verbosity and in each language. A listener neither
            // prompts nor stops the sessions of others.
            PersonRequest::Terms(_)
            | PersonRequest::Prompt(_)
            | PersonRequest::Stop
            | PersonRequest::Abandon
            | PersonRequest::Set(_)
            | PersonRequest::ForAgent(..) => {}
        }
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        let shifted = self.clock.now(cx.now);
        for followed in self.sessions.values_mut() {
            followed.conversation.tick(&mut Cx::new(shifted, cx.out));
        }
        let now = cx.now.monotonic;
        let over = |sending: &SentDecision| matches!(sending.stage, AnswerStage::Written(until) if until <= now);
        self.settle(over, Ok(Receipt::Written), cx);
    }

    fn deadline(&self) -> Option<Duration> {
        let sessions = self
            .sessions
            .values()
            .filter_map(|followed| followed.conversation.deadline())
            .map(|due| self.clock.real(due));
        let acks = self
            .sending
            .iter()
            .filter_map(|sending| match sending.stage {
                AnswerStage::Written(until) => Some(until),
                AnswerStage::Held | AnswerStage::Leaving | AnswerStage::Kept => None,
            });
        sessions.chain(acks).min()
    }

    fn connection(&self) -> Connection {
        Connection::default()
    }
}

/// Returns the version that a message states.
fn version(map: &Map<String, Value>) -> Option<String> {
    let envelope = map
        .get("envelope")
        .and_then(|it| it.as_object())
        .unwrap_or(map);
    let version = envelope.get("version")?.as_str()?;
    version
        .starts_with("asp/")
        .then(|| super::message::tame(version, 16))
}
