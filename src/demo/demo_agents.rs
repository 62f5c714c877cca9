//! The handle of the demo's agents: starting scenarios, and holding them where a test wants them.
//!
//! Responsibilities: a place and sessions for each run. Not here: what happens when (`performance`), serving
//! (`producer`).

use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};

use super::agent_gate::Gate;
use super::catalogue;
use super::demo_settings::{DemoSettings, StartHearer};
use super::performance::{DemoStage, Performance};
use super::scenario::Scenario;
use crate::producer::Producer;

/// How many scenarios run at once.
const MAX_RUNS: usize = 16;

/// Why a scenario can't be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// No scenario has that name.
    #[error("there is no scenario of that name")]
    Unknown,
    /// The maximum number of scenarios is already running.
    #[error("too many scenarios are running")]
    TooMany,
    /// The demo has stopped.
    #[error("the demo has stopped")]
    Stopped,
}

/// Starts the demo's agents; clones start the same ones.
#[derive(Clone)]
pub struct DemoAgents {
    stage: DemoStage,
    performances: mpsc::Sender<Performance>,
    places: Arc<Semaphore>,
    starts: Option<StartHearer>,
}

/// A run of a scenario.
#[derive(Clone)]
pub struct SessionRef {
    producer: Producer,
    scenario: String,
    ids: Vec<String>,
}

impl DemoAgents {
    /// Returns the agents of a producer, and the performances that are to be played.
    pub(super) fn new(
        producer: Producer,
        settings: &DemoSettings,
    ) -> (Self, mpsc::Receiver<Performance>) {
        let (performances, waiting) = mpsc::channel(MAX_RUNS);
        let agents = Self {
            stage: DemoStage {
                producer,
                gate: Arc::new(Gate::new()),
                pace: settings.pace,
                timeouts: settings.timeouts,
            },
            performances,
            places: Arc::new(Semaphore::new(MAX_RUNS)),
            starts: settings.starts.clone(),
        };
        (agents, waiting)
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
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| StartError::TooMany)?;
        let producer = &self.stage.producer;
        let cast = scenario.cast.iter();
        let ids: Vec<String> = cast
            .map(|role| producer.open_session(role.producer.clone(), &scenario.language))
            .collect();
        let performance = Performance {
            stage: self.stage.clone(),
            scenario: Arc::clone(scenario),
            sessions: ids.clone(),
            _place: place,
        };
        // A performance that can't be handed over returns its place and its sessions when it is dropped.
        self.performances
            .try_send(performance)
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => StartError::TooMany,
                mpsc::error::TrySendError::Closed(_) => StartError::Stopped,
            })?;
        let name = &scenario.info.name;
        if let Some(starts) = &self.starts {
            starts(name);
        }
        Ok(SessionRef {
            producer: producer.clone(),
            scenario: name.clone(),
            ids,
        })
    }

    /// Holds every agent before its next event.
    pub fn pause(&self) {
        self.stage.gate.shut();
    }

    /// Holds every agent only before events of a type, such as `aaep:agent.awaiting.confirmation`.
    pub fn hold_before(&self, event_type: &str) {
        self.stage.gate.shut_for(event_type);
    }

    /// Waits until an agent is held by the latest [`DemoAgents::pause`] or [`DemoAgents::hold_before`].
    pub async fn until_held(&self) {
        self.stage.gate.until_held().await;
    }

    /// Lets every agent go on.
    pub fn resume(&self) {
        self.stage.gate.open();
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
        self.producer.until_ended(&self.ids).await;
    }
}
