//! The handle of a producer: publishing, and everything that is asked of its state.
//!
//! Responsibilities: counts, waiting without polling, what subscribers send. Not here: listening (`producer_server`),
//! sessions of the producer's own (`local_sessions`).

use std::sync::Arc;

use serde_json::Value;

use super::admission::Admission;
use super::agreed_terms::{SharedTerms, SubscriptionRefusal};
use super::host::{self, PendingAnswer, Prompt, PromptAnswer};
use super::host_events::{AnswerKind, ProducerEvent};
use super::hub::{HubFull, Subscriber};
use super::posted_reply::Malformed;
use super::producer_state::ProducerState;
use super::session_snapshot::Retention;
use super::state_lock::{ProducerShared, Subscription};
use super::verdict::{PostVerdict, PostedMessage};

/// The handle of a producer; clones are the same one.
#[derive(Clone)]
pub struct Producer {
    shared: Arc<ProducerShared>,
}

impl Producer {
    pub(super) fn new(shared: Arc<ProducerShared>) -> Self {
        Self { shared }
    }

    pub(super) fn shared(&self) -> &ProducerShared {
        &self.shared
    }

    /// Returns the number of current subscribers.
    pub fn subscribers(&self) -> usize {
        self.shared.look(|state| state.hub().len())
    }

    /// Returns the number of subscriptions since the start, including reconnects.
    pub fn subscriptions(&self) -> u64 {
        self.shared.look(|state| state.hub().subscribed())
    }

    /// Returns the number of events dropped for slow subscribers.
    pub fn dropped(&self) -> u64 {
        self.shared.look(|state| state.hub().dropped())
    }

    /// Returns the number of events sent.
    pub fn emitted(&self) -> u64 {
        self.shared.look(ProducerState::emitted)
    }

    /// Returns the number of questions that wait for an answer.
    pub fn open_questions(&self) -> usize {
        self.shared.look(|state| state.questions().len())
    }

    /// Returns the number of sessions that have not ended.
    pub fn open_sessions(&self) -> usize {
        self.shared.look(ProducerState::open_sessions)
    }

    /// Returns the latest posted messages, oldest first; 128 are kept.
    pub fn replies(&self) -> Vec<PostedMessage> {
        self.shared.look(ProducerState::received)
    }

    /// Waits until there are at least `count` subscribers.
    pub async fn until_subscribed(&self, count: usize) {
        self.shared.until(|state| state.hub().len() >= count).await;
    }

    /// Waits until there are no subscribers.
    pub async fn until_deserted(&self) {
        self.shared.until(|state| state.hub().len() == 0).await;
    }

    /// Waits until there are exactly `count` subscribers.
    pub async fn until_subscribers_are(&self, count: usize) {
        self.shared.until(|state| state.hub().len() == count).await;
    }

    /// Waits until there have been `count` subscriptions since the start, including reconnects.
    pub async fn until_subscriptions(&self, count: u64) {
        self.shared
            .until(|state| state.hub().subscribed() >= count)
            .await;
    }

    /// Waits until at least `count` questions are open.
    pub async fn until_asked(&self, count: usize) {
        self.shared
            .until(|state| state.questions().len() >= count)
            .await;
    }

    /// Waits until `count` messages have been posted since the start.
    pub async fn until_replies(&self, count: u64) {
        self.shared
            .until(|state| state.received_count() >= count)
            .await;
    }

    /// Ends the time of all open questions; returns how many there were.
    pub fn expire_questions(&self) -> usize {
        self.shared
            .change(|state, _| state.questions_mut().expire_all())
    }

    /// Breaks every subscriber's connection, as a crash would; returns how many there were.
    pub fn cut_connections(&self) -> usize {
        self.shared.look(|state| {
            let queues = state.hub().queues();
            queues.map(|queue| queue.cut()).count()
        })
    }

    /// Sends a text to every subscriber as if it were an event, to test how a subscriber handles
    /// anything else.
    pub fn inject(&self, text: &str) {
        self.shared.change(|state, _| state.inject(text));
    }

    /// Sends an event from outside to every subscriber; later subscribers are told whatever in it still applies.
    pub fn publish(&self, text: &str, lasting: &Retention) {
        self.shared.change(|state, _| state.publish(text, lasting));
    }

    /// Returns how many open questions from outside no later subscriber is told of, because there was no room for them.
    pub fn questions_left_out(&self) -> u64 {
        self.shared.look(ProducerState::questions_left_out)
    }

    /// Returns the outside events that a new subscriber would be told.
    pub fn lasting_events(&self) -> Vec<String> {
        self.shared.look(ProducerState::lasting_events)
    }

    /// Returns the message to subscribers at the end.
    pub(super) fn farewell(&self) -> &str {
        &self.shared.settings.host.farewell
    }

    /// Returns what is at an address, for people who open it.
    pub(super) fn about(&self) -> &str {
        &self.shared.settings.host.about
    }

    pub(super) fn receive(&self, message: Result<Value, Malformed>) -> PostVerdict {
        let answer = AnswerKind::of(message.as_ref().ok());
        let verdict = match &self.shared.settings.host.answers {
            Some(answers) => host::pass_on(&message, answers),
            None => self.shared.change(|state, _| state.receive(message)),
        };
        self.shared
            .tell(ProducerEvent::Answered { answer, verdict });
        verdict
    }

    /// Returns who is admitted at an address; `None` if everyone is.
    pub(super) fn admission(&self) -> Option<&Admission> {
        self.shared.settings.host.admission.as_ref()
    }

    /// Passes a prompt on; `None` if none are accepted.
    pub(super) fn prompt(&self, prompt: &Prompt) -> Option<PromptAnswer> {
        let prompts = self.shared.settings.host.prompts.as_ref()?;
        Some(prompts(prompt))
    }

    /// Passes a message on as a request; `None` if it is not one.
    pub(super) fn request(&self, message: &Value) -> Option<PendingAnswer> {
        let requests = self.shared.settings.host.requests.as_ref()?;
        requests(&message.to_string())
    }

    /// Returns the manifest (5.10.1).
    pub(super) fn manifest(&self) -> Value {
        self.shared.manifest.clone()
    }

    /// Agrees on terms with a subscriber; returns the subscription's name and the consent.
    pub(super) fn agree(&self, message: &Value) -> Result<(String, Value), SubscriptionRefusal> {
        self.shared.change(|state, _| state.agree(message))
    }

    /// Changes the terms of a subscription.
    pub(super) fn renegotiate(&self, message: &Value) -> Result<Value, SubscriptionRefusal> {
        self.shared.change(|state, _| state.renegotiate(message))
    }

    /// Ends a subscription. If no subscriber is left that could answer, open questions are decided by
    /// their defaults, as if their time were up (5.8.2).
    pub(super) fn close(&self, message: &Value) -> Result<(), SubscriptionRefusal> {
        self.shared
            .change(|state, _| state.close_subscription(message))
    }

    /// Returns the terms of a subscription.
    pub(super) fn terms(&self, id: &str) -> Option<SharedTerms> {
        self.shared.look(|state| state.subscriptions().terms(id))
    }

    /// Returns the number of subscriptions that were agreed and not closed.
    pub fn agreed(&self) -> usize {
        self.shared.look(|state| state.subscriptions().len())
    }

    /// Adds a subscriber, which continues after the event that `last` names.
    pub(super) fn subscribe(
        &self,
        last: Option<&str>,
        listener: Subscriber,
    ) -> Result<Subscription, HubFull> {
        let agreed = matches!(listener, Subscriber::Agreed(_));
        let (number, queue, there) = self.shared.change(|state, now| {
            let (number, queue) = state.subscribe(last, listener, now)?;
            Ok((number, queue, state.hub().len()))
        })?;
        self.shared.tell(ProducerEvent::Came {
            number: number + 1,
            agreed,
            there,
        });
        Ok(Subscription::new(Arc::clone(&self.shared), number, queue))
    }
}
