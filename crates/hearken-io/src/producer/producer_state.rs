//! The complete state of a producer, changed by one caller at a time.
//!
//! Responsibilities: sessions, subscribers, open questions and received messages, kept consistent with each other: an
//! event gets its number and reaches every queue in one step. Not here: waiting (`producer_handle`), the order of
//! events (the sessions' owner), transports.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::agreed_terms::SubscriptionRefusal;
use super::event_kinds::EventKind;
use super::event_template::Template;
use super::hub::{Hub, HubFull, ResumeOutcome, Subscriber};
use super::id_generator::Ids;
use super::pending_questions::{OpenQuestion, PendingQuestions};
use super::posted_reply::{Malformed, PostedReply};
use super::queue::{Frame, Queue};
use super::reply_judgement::{QuestionOutcome, QuestionTerms};
use super::running_session::{AgentSession, EncodedEvent};
use super::session_snapshot::{OpenSessions, Retention};
use super::subscription_handshake::Subscriptions;
use super::verdict::{PostVerdict, PostedMessage};

/// How many received messages are kept for tests to examine; at most 64 KiB each.
const KEPT_MESSAGES: usize = 128;
/// A seed modifier that keeps subscription names apart from event ids.
const SUBSCRIPTIONS: u64 = 0x5355_4253;

/// The producer's state.
#[derive(Debug)]
pub(super) struct ProducerState {
    ids: Ids,
    /// The generator of subscription names: a separate one, so that event ids do not depend on
    /// subscribers.
    names: Ids,
    sessions: BTreeMap<String, AgentSession>,
    hub: Hub,
    questions: PendingQuestions,
    subscriptions: Subscriptions,
    /// What later subscribers must know of events from outside.
    open_sessions: OpenSessions,
    received: VecDeque<PostedMessage>,
    received_count: u64,
    emitted: u64,
}

/// What a question needs in addition to its event.
pub struct QuestionExtras {
    /// What it accepts.
    pub asked: QuestionTerms,
    /// The time limit, counted from the event; `None` if no clock ends it.
    pub timeout: Option<Duration>,
    /// The number under which its outcome is reported.
    pub number: usize,
    /// Where the outcome is reported; it must have room for each open question.
    pub outcomes: mpsc::Sender<(usize, QuestionOutcome)>,
}

/// The result of posing an agent's question.
pub enum PoseOutcome {
    /// It is open, under this token.
    Open(String),
    /// No subscriber can answer it: it ended with its default.
    Decided(QuestionOutcome),
    /// Its session is over.
    TooLate,
}

impl ProducerState {
    pub(super) fn new(seed: u64, subscriptions: Subscriptions) -> Self {
        Self {
            ids: Ids::new(seed),
            sessions: BTreeMap::new(),
            hub: Hub::default(),
            questions: PendingQuestions::default(),
            subscriptions,
            open_sessions: OpenSessions::default(),
            names: Ids::new(seed ^ SUBSCRIPTIONS),
            received: VecDeque::new(),
            received_count: 0,
            emitted: 0,
        }
    }

    /// Opens a session and returns its id; its first event is still to come.
    pub(super) fn open_session(&mut self, producer: Map<String, Value>, language: &str) -> String {
        let id = self.ids.mint("sess");
        let session = AgentSession::new(id.clone(), producer, language.to_owned());
        self.sessions.insert(id.clone(), session);
        id
    }

    /// Sends an event of a session; returns false if the session is over.
    pub(super) fn emit(&mut self, session: &str, template: &Template, now: Timestamp) -> bool {
        if self.seal(session, template, now).is_none() {
            return false;
        }
        if template.kind.ends_session() {
            self.sessions.remove(session);
            self.questions.withdraw(session);
        }
        true
    }

    /// Sends a question and opens it. If every subscriber has declared that it can't answer one of
    /// this kind, it is not asked: it immediately ends with its default (5.3.1.4, 5.3.1.5).
    pub(super) fn ask(
        &mut self,
        session: &str,
        template: &Template,
        asking: QuestionExtras,
        now: Timestamp,
    ) -> PoseOutcome {
        let kind = asking.asked.kind();
        // With no subscribers at all it is asked: a later one may yet answer it.
        if self.subscriptions.len() > 0 && self.is_deaf_to(kind) {
            return PoseOutcome::Decided(asking.asked.timed_out());
        }
        let Some((sealed, frame)) = self.seal(session, template, now) else {
            return PoseOutcome::TooLate;
        };
        let Some(token) = sealed.token else {
            return PoseOutcome::TooLate;
        };
        let question = OpenQuestion {
            session: session.to_owned(),
            asked: asking.asked,
            expires: asking
                .timeout
                .and_then(|timeout| sealed.at.checked_add(timeout).ok()),
            frame,
            number: asking.number,
            outcomes: asking.outcomes,
        };
        self.questions.open(token.clone(), question);
        PoseOutcome::Open(token)
    }

    /// Returns whether no subscriber could answer such a question.
    fn is_deaf_to(&self, kind: EventKind) -> bool {
        self.hub.plain() == 0 && !self.subscriptions.any_answers(kind)
    }

    /// Ends the open questions that no remaining subscriber can answer, with their defaults (5.8.2).
    fn let_go_of_what_nobody_answers(&mut self) {
        for kind in [
            EventKind::AwaitingConfirmation,
            EventKind::AwaitingClarification,
        ] {
            if self.is_deaf_to(kind) {
                self.questions.expire_all_of(kind);
            }
        }
    }

    fn seal(
        &mut self,
        session: &str,
        template: &Template,
        now: Timestamp,
    ) -> Option<(EncodedEvent, Arc<Frame>)> {
        let mut sealed = self
            .sessions
            .get_mut(session)?
            .seal(template, &mut self.ids, now);
        let frame = Arc::new(Frame {
            event_id: Some(sealed.event_id.clone()),
            critical: sealed.critical,
            text: std::mem::take(&mut sealed.json),
        });
        self.hub.publish(&frame);
        self.emitted += 1;
        Some((sealed, frame))
    }

    /// Sends a text that need not be an event, unchanged.
    pub(super) fn inject(&mut self, text: &str) {
        let frame = Arc::new(Frame {
            event_id: None,
            critical: false,
            text: text.to_owned(),
        });
        self.hub.publish(&frame);
    }

    /// Sends an event from outside.
    pub(super) fn publish(&mut self, text: &str, lasting: &Retention) {
        let frame = self.open_sessions.take(text, lasting);
        self.hub.publish(&frame);
        self.emitted += 1;
    }

    /// Returns how many open questions from outside no later subscriber is told of.
    pub(super) fn questions_left_out(&self) -> u64 {
        self.open_sessions.questions_left_out()
    }

    /// Returns what a new subscriber must know of events from outside.
    pub(super) fn lasting_events(&self) -> Vec<String> {
        self.open_sessions
            .frames()
            .map(|it| it.text.clone())
            .collect()
    }

    /// Ends a session that is still open; does nothing if it is over.
    pub(super) fn close_session(&mut self, id: &str, by: &str, words: &str, now: Timestamp) {
        let Some(session) = self.sessions.get(id) else {
            return;
        };
        for template in session.ending(by, words) {
            self.emit(id, &template, now);
        }
        // A session that has not begun has nothing to send and is merely forgotten.
        self.sessions.remove(id);
        self.questions.withdraw(id);
    }

    /// Drops sessions silently, as a crash does.
    pub(super) fn forget_sessions(&mut self, ids: &[String]) {
        for id in ids {
            self.sessions.remove(id);
            self.questions.withdraw(id);
        }
    }

    /// Ends every session and every stream.
    pub(super) fn close(&mut self, words: &str, now: Timestamp) {
        let open: Vec<String> = self.sessions.keys().cloned().collect();
        for id in open {
            self.close_session(&id, "system", words, now);
        }
        self.hub.end();
    }

    /// Agrees on terms with a subscriber; returns the subscription's name and the consent.
    pub(super) fn agree(
        &mut self,
        message: &Value,
    ) -> Result<(String, Value), SubscriptionRefusal> {
        let id = self.names.mint("sub");
        let consent = self.subscriptions.open(id.clone(), message)?;
        Ok((id, consent))
    }

    /// Changes the terms of a subscription.
    pub(super) fn renegotiate(&mut self, message: &Value) -> Result<Value, SubscriptionRefusal> {
        let answer = self.subscriptions.renegotiate(message);
        self.end_streams(message);
        self.let_go_of_what_nobody_answers();
        answer
    }

    /// Ends a subscription; after the last one that could answer, open questions end with their
    /// defaults (5.8.2).
    pub(super) fn close_subscription(
        &mut self,
        message: &Value,
    ) -> Result<(), SubscriptionRefusal> {
        self.subscriptions.close(message)?;
        self.end_streams(message);
        self.let_go_of_what_nobody_answers();
        Ok(())
    }

    /// Ends the streams of the subscription that a message names, if it is over.
    fn end_streams(&self, message: &Value) {
        let id = message.get("subscription_id").and_then(Value::as_str);
        if let Some(id) = id.filter(|id| self.subscriptions.terms(id).is_none()) {
            self.hub.end_of(id);
        }
    }

    pub(super) fn subscriptions(&self) -> &Subscriptions {
        &self.subscriptions
    }

    /// Handles a posted message: parses, judges and remembers it.
    pub(super) fn receive(&mut self, message: Result<Value, Malformed>) -> PostVerdict {
        let (message, verdict) = match message {
            Ok(message) => {
                let verdict = match PostedReply::read(&message) {
                    Ok(reply) => self.questions.settle(&reply),
                    Err(malformed) => PostVerdict::Malformed(malformed),
                };
                (message, verdict)
            }
            Err(malformed) => (Value::Null, PostVerdict::Malformed(malformed)),
        };
        if self.received.len() >= KEPT_MESSAGES {
            self.received.pop_front();
        }
        self.received.push_back(PostedMessage { message, verdict });
        self.received_count += 1;
        verdict
    }

    /// Adds a subscriber. One that missed more than is kept gets the open questions again, as the same
    /// events, and learns the sessions' states from an event sent to all (appendix B.1.5).
    pub(super) fn subscribe(
        &mut self,
        last: Option<&str>,
        listener: Subscriber,
        now: Timestamp,
    ) -> Result<(u64, Arc<Queue>), HubFull> {
        let (number, queue, resumed) = self.hub.subscribe(last, listener)?;
        match resumed {
            ResumeOutcome::Whole => {}
            ResumeOutcome::Fresh => {
                for frame in self.open_sessions.frames() {
                    queue.push(Arc::clone(frame));
                }
            }
            ResumeOutcome::AgedOut => {
                for frame in self.open_sessions.frames().chain(self.questions.frames()) {
                    queue.push(Arc::clone(frame));
                }
                let summaries: Vec<(String, Template)> = self
                    .sessions
                    .iter()
                    .filter_map(|(id, session)| Some((id.clone(), session.summary()?)))
                    .collect();
                for (id, summary) in summaries {
                    self.emit(&id, &summary, now);
                }
            }
        }
        Ok((number, queue))
    }

    pub(super) fn hub(&self) -> &Hub {
        &self.hub
    }

    pub(super) fn hub_mut(&mut self) -> &mut Hub {
        &mut self.hub
    }

    pub(super) fn questions(&self) -> &PendingQuestions {
        &self.questions
    }

    pub(super) fn questions_mut(&mut self) -> &mut PendingQuestions {
        &mut self.questions
    }

    /// Returns whether any of these sessions is still open.
    pub(super) fn any_open(&self, sessions: &[String]) -> bool {
        sessions.iter().any(|id| self.sessions.contains_key(id))
    }

    /// Returns the number of open sessions.
    pub(super) fn open_sessions(&self) -> usize {
        self.sessions.len()
    }

    pub(super) fn received(&self) -> Vec<PostedMessage> {
        self.received.iter().cloned().collect()
    }

    /// Returns the number of messages received since the start, including those no longer kept.
    pub(super) fn received_count(&self) -> u64 {
        self.received_count
    }

    /// Returns the number of events sent since the start.
    pub(super) fn emitted(&self) -> u64 {
        self.emitted
    }
}
