//! The settings of the demo.
//!
//! Responsibilities: the pace and the timeouts, the seed and the clock, all parameters so that a test can fix them. Not
//! here: their effects (`performance`, `producer`).

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use crate::producer::{Hearer, Signer, TimeSource};

/// How fast scenarios run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// As written, times a speed (2.0 is twice as fast).
    RealTime {
        /// The factor; kept between 0.01 and 10000.
        speed: f64,
    },
    /// Without any wait and without loss: every step immediately follows the previous one, several agents keep the
    /// order of their written times, the demo waits for a slow subscriber, and an answer is handled when nothing else
    /// is left to do. The same replies produce the same events.
    Stepped,
}

/// What ends a question that nobody answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Timeouts {
    /// The clock, after `timeout_seconds`.
    AsWritten,
    /// The clock, after `timeout_seconds` times a factor; the event still says `timeout_seconds`.
    Scaled(f64),
    /// Only [`Producer::expire_questions`](crate::producer::Producer::expire_questions); replies are then never late.
    OnDemand,
}

/// The receiver of the name of each scenario that starts; it must not block.
pub type StartHearer = Arc<dyn Fn(&str) + Send + Sync>;

/// The settings of the demo.
#[derive(Clone)]
pub struct DemoSettings {
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
    /// The receiver of news about scenarios, if any.
    pub starts: Option<StartHearer>,
}

impl DemoSettings {
    /// Returns the settings for people: real time, timeouts as written, the system's clock.
    pub fn live(seed: u64) -> Self {
        Self {
            pace: Pace::RealTime { speed: 1.0 },
            timeouts: Timeouts::AsWritten,
            seed,
            clock: Arc::new(Timestamp::now),
            signer: None,
            hearer: None,
            starts: None,
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

impl fmt::Debug for DemoSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("DemoSettings")
            .field("pace", &self.pace)
            .field("timeouts", &self.timeouts)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
