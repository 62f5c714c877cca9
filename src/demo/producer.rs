//! The handle of the demo's agents: starting them, and everything a test wants to see or do.
//!
//! Responsibilities: starting scenarios, waiting for events without polling. Not here: listening
//! (`server`) and what happens when (`perform`).

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc;

use super::admission::Admission;
use super::catalogue;
use super::hub::{Full, Subscriber};
use super::live::{Lasting, PendingAnswer};
use super::news::{AnswerKind, DemoEvent};
use super::perform::Performance;
use super::reply::Malformed;
use super::scenario::Scenario;
use super::shared::{ProducerShared, Subscription};
use super::stage::ProducerState;
use super::terms::{Refusal, SharedTerms};
use super::verdict::{PostVerdict, PostedMessage};

/// The message to subscribers when the demo ends.
const STOPPING: &str = "The demo is stopping.";

/// Why a scenario can't be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// No scenario has that name.
    #[error("there is no scenario of that name")]
    Unknown,
    /// The maximum number of scenarios is already running.
    #[error("too many scenarios are running")]
    TooMany,
    /// The producer has stopped.
    #[error("the demo has stopped")]
    Stopped,
}

/// Starts and watches the demo's agents; clones are the same producer.
#[derive(Clone)]
pub struct Producer {
    shared: Arc<ProducerShared>,
    performances: mpsc::Sender<Performance>,
}

/// A run of a scenario.
#[derive(Clone)]
pub struct SessionRef {
    shared: Arc<ProducerShared>,
    scenario: String,
    ids: Vec<String>,
}

impl Producer {
    pub(super) fn new(
        shared: Arc<ProducerShared>,
        performances: mpsc::Sender<Performance>,
    ) -> Self {
        Self {
            shared,
            performances,
        }
    }

    /// Starts a scenario by its name.
    ///
    /// # Errors
    /// The [`StartError`] says why it does not start.
    pub fn start(&self, name: &str) -> Result<SessionRef, StartError> {
        self.play(catalogue::named(name).ok_or(StartError::Unknown)?)
    }

    /// Starts the scenario that a person's words ask for, the default one if they match none.
    ///
    /// # Errors
    /// The [`StartError`] says why it does not start.
    pub fn start_for(&self, request: &str) -> Result<SessionRef, StartError> {
        self.play(catalogue::for_request(request).ok_or(StartError::Unknown)?)
    }

    /// Starts a scenario of the caller's own.
    ///
    /// # Errors
    /// The [`StartError`] says why it does not start.
    pub fn start_scenario(&self, scenario: Scenario) -> Result<SessionRef, StartError> {
        self.play(&Arc::new(scenario))
    }

    fn play(&self, scenario: &Arc<Scenario>) -> Result<SessionRef, StartError> {
        let ids = self.shared.change(|stage, _| {
            stage.begin_run().then(|| {
                scenario
                    .cast
                    .iter()
                    .map(|role| stage.open_session(role.producer.clone(), &scenario.language))
                    .collect::<Vec<String>>()
            })
        });
        let ids = ids.ok_or(StartError::TooMany)?;
        let performance =
            Performance::new(Arc::clone(&self.shared), Arc::clone(scenario), ids.clone());
        // A performance that can't be handed over returns its place and its sessions when it is dropped.
        self.performances
            .try_send(performance)
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => StartError::TooMany,
                mpsc::error::TrySendError::Closed(_) => StartError::Stopped,
            })?;
        self.shared.tell(DemoEvent::Started {
            scenario: scenario.info.name.clone(),
        });
        Ok(SessionRef {
            shared: Arc::clone(&self.shared),
            scenario: scenario.info.name.clone(),
            ids,
        })
    }

    /// Returns the number of current subscribers.
    pub fn subscribers(&self) -> usize {
        self.shared.look(|stage| stage.hub().len())
    }

    /// Returns the number of subscriptions since the start, including reconnects.
    pub fn subscriptions(&self) -> u64 {
        self.shared.look(|stage| stage.hub().subscribed())
    }

    /// Returns the number of events dropped for slow subscribers.
    pub fn dropped(&self) -> u64 {
        self.shared.look(|stage| stage.hub().dropped())
    }

    /// Returns the number of events sent.
    pub fn emitted(&self) -> u64 {
        self.shared.look(ProducerState::emitted)
    }

    /// Returns the number of questions that wait for an answer.
    pub fn open_questions(&self) -> usize {
        self.shared.look(|stage| stage.questions().len())
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
        self.shared.until(|stage| stage.hub().len() >= count).await;
    }

    /// Waits until there are no subscribers.
    pub async fn until_deserted(&self) {
        self.shared.until(|stage| stage.hub().len() == 0).await;
    }

    /// Waits until there are exactly `count` subscribers.
    pub async fn until_subscribers_are(&self, count: usize) {
        self.shared.until(|stage| stage.hub().len() == count).await;
    }

    /// Waits until there have been `count` subscriptions since the start, including reconnects.
    pub async fn until_subscriptions(&self, count: u64) {
        self.shared
            .until(|stage| stage.hub().subscribed() >= count)
            .await;
    }

    /// Waits until at least `count` questions are open.
    pub async fn until_asked(&self, count: usize) {
        self.shared
            .until(|stage| stage.questions().len() >= count)
            .await;
    }

    /// Waits until `count` messages have been posted since the start.
    pub async fn until_replies(&self, count: u64) {
        self.shared
            .until(|stage| stage.received_count() >= count)
            .await;
    }

    /// Ends the time of all open questions; returns how many there were.
    pub fn expire_questions(&self) -> usize {
        self.shared
            .change(|stage, _| stage.questions_mut().expire_all())
    }

    /// Breaks every subscriber's connection, as a crash would; returns how many there were.
    pub fn cut_connections(&self) -> usize {
        self.shared.look(|stage| {
            let queues = stage.hub().queues();
            queues.map(|queue| queue.cut()).count()
        })
    }

    /// Holds every agent before its next event.
    pub fn pause(&self) {
        self.shared.gate.shut();
    }

    /// Holds every agent only before events of a type, such as `aaep:agent.awaiting.confirmation`.
    pub fn hold_before(&self, event_type: &str) {
        self.shared.gate.shut_for(event_type);
    }

    /// Waits until an agent is held by the latest [`Producer::pause`] or [`Producer::hold_before`].
    pub async fn until_held(&self) {
        self.shared.gate.until_held().await;
    }

    /// Lets every agent go on.
    pub fn resume(&self) {
        self.shared.gate.open();
    }

    /// Sends a text to every subscriber as if it were an event, to test how a subscriber handles
    /// anything else.
    pub fn inject(&self, text: &str) {
        self.shared.change(|stage, _| stage.inject(text));
    }

    /// Sends an event from outside to every subscriber; later subscribers are told whatever in it still applies.
    pub fn publish(&self, text: &str, lasting: &Lasting) {
        self.shared.change(|stage, _| stage.publish(text, lasting));
    }

    /// Returns the outside events that a new subscriber would be told.
    pub fn standing(&self) -> Vec<String> {
        self.shared.look(ProducerState::standing)
    }

    /// Returns the message to subscribers at the end.
    pub(super) fn farewell(&self) -> &str {
        let host = self.shared.settings.host.as_ref();
        host.map_or(STOPPING, |host| &host.farewell)
    }

    pub(super) fn receive(&self, message: Result<Value, Malformed>) -> PostVerdict {
        let answer = AnswerKind::of(message.as_ref().ok());
        let verdict = match (&self.shared.settings.host, &message) {
            (Some(host), Ok(message)) => host.take(message),
            (Some(_), Err(malformed)) => PostVerdict::Malformed(*malformed),
            (None, _) => self.shared.change(|stage, _| stage.receive(message)),
        };
        self.shared.tell(DemoEvent::Answered { answer, verdict });
        verdict
    }

    /// Returns whether agents from outside are behind this producer, and no scenarios.
    pub(super) fn is_hosted(&self) -> bool {
        self.shared.settings.host.is_some()
    }

    /// Returns who is admitted at an address; `None` if everyone is.
    pub(super) fn admission(&self) -> Option<&Admission> {
        self.shared.settings.host.as_ref()?.admission.as_ref()
    }

    /// Prompts an agent behind this producer; `None` if it accepts no prompts.
    pub(super) fn prompt(&self, text: &str) -> Option<PendingAnswer> {
        let (_, prompts) = self.shared.settings.host.as_ref()?.requests.as_ref()?;
        Some(prompts(text))
    }

    /// Passes a message on as a request; `None` if it is none.
    pub(super) fn request(&self, message: &Value) -> Option<PendingAnswer> {
        let (requests, _) = self.shared.settings.host.as_ref()?.requests.as_ref()?;
        requests(&message.to_string())
    }

    /// Returns the manifest (5.10.1).
    pub(super) fn manifest(&self) -> Value {
        self.shared.manifest.clone()
    }

    /// Agrees on terms with a subscriber; returns the subscription's name and the consent.
    pub(super) fn agree(&self, message: &Value) -> Result<(String, Value), Refusal> {
        self.shared.change(|stage, _| stage.agree(message))
    }

    /// Changes the terms of a subscription.
    pub(super) fn renegotiate(&self, message: &Value) -> Result<Value, Refusal> {
        self.shared.change(|stage, _| stage.renegotiate(message))
    }

    /// Ends a subscription. If no subscriber is left that could answer, open questions are decided by
    /// their defaults, as if their time were up (5.8.2).
    pub(super) fn close(&self, message: &Value) -> Result<(), Refusal> {
        self.shared
            .change(|stage, _| stage.close_subscription(message))
    }

    /// Returns the terms of a subscription.
    pub(super) fn terms(&self, id: &str) -> Option<SharedTerms> {
        self.shared.look(|stage| stage.subscriptions().terms(id))
    }

    /// Returns the number of subscriptions that were agreed and not closed.
    pub fn agreed(&self) -> usize {
        self.shared.look(|stage| stage.subscriptions().len())
    }

    /// Adds a subscriber, which continues after the event that `last` names.
    pub(super) fn subscribe(
        &self,
        last: Option<&str>,
        listener: Subscriber,
    ) -> Result<Subscription, Full> {
        let agreed = matches!(listener, Subscriber::Agreed(_));
        let (number, queue, there) = self.shared.change(|stage, now| {
            let (number, queue) = stage.subscribe(last, listener, now)?;
            Ok((number, queue, stage.hub().len()))
        })?;
        self.shared.tell(DemoEvent::Came {
            number: number + 1,
            agreed,
            there,
        });
        Ok(Subscription::new(Arc::clone(&self.shared), number, queue))
    }
}

impl SessionRef {
    /// Returns the name of the scenario.
    pub fn scenario(&self) -> &str {
        &self.scenario
    }

    /// Returns the session ids, one per agent, in the order of the scenario's header.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Waits until all its sessions have ended.
    pub async fn until_ended(&self) {
        self.shared.until(|stage| !stage.any_open(&self.ids)).await;
    }
}
