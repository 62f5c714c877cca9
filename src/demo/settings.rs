//! The settings of a producer.
//!
//! Responsibilities: the pace, the timeouts, the seed and the clock, all parameters so that a test can fix
//! them. Not here: their effects (`perform`, `ids`, `session`).

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use super::live::Host;
use super::news::Hearer;
use super::signing::Signer;

/// The source of the current time; a parameter, so that tests can fix it.
pub type TimeSource = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How fast scenarios run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// As written, times a speed (2.0 is twice as fast).
    RealTime {
        /// The factor; kept between 0.01 and 10000.
        speed: f64,
    },
    /// Without any wait and without loss: every step immediately follows the previous one, several agents
    /// keep the order of their written times, a slow subscriber is waited for, and an answer is handled
    /// when nothing else is left to do. The same replies produce the same events.
    Stepped,
}

/// What ends a question that nobody answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Timeouts {
    /// The clock, after `timeout_seconds`.
    AsWritten,
    /// The clock, after `timeout_seconds` times a factor; the event still says `timeout_seconds`.
    Scaled(f64),
    /// Only [`Producer::expire_questions`](super::Producer::expire_questions); replies are then never late.
    OnDemand,
}

/// The settings of a producer.
#[derive(Clone)]
pub struct ProducerSettings {
    /// How fast scenarios run.
    pub pace: Pace,
    /// What ends unanswered questions.
    pub timeouts: Timeouts,
    /// The seed of all ids; the same seed gives the same ids.
    pub seed: u64,
    /// The source of timestamps.
    pub clock: TimeSource,
    /// The signer of the manifest; without one it is not signed.
    pub signer: Option<Arc<Signer>>,
    /// The receiver of news about subscribers and answers, if any.
    pub hearer: Option<Hearer>,
    /// The agent whose events are published instead of scenarios, if it is not the demo's own.
    pub host: Option<Host>,
}

impl ProducerSettings {
    /// Returns the settings for people: real time, timeouts as written, the system's clock.
    pub fn live(seed: u64) -> Self {
        Self {
            pace: Pace::RealTime { speed: 1.0 },
            timeouts: Timeouts::AsWritten,
            seed,
            clock: Arc::new(Timestamp::now),
            signer: None,
            hearer: None,
            host: None,
        }
    }

    /// Returns the settings for tests: stepped, timeouts on demand, the system's clock.
    pub fn stepped(seed: u64) -> Self {
        Self {
            pace: Pace::Stepped,
            timeouts: Timeouts::OnDemand,
            ..Self::live(seed)
        }
    }
}

impl fmt::Debug for ProducerSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Settings")
            .field("pace", &self.pace)
            .field("timeouts", &self.timeouts)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
