//! The settings of a producer.
//!
//! Responsibilities: whose it is, the seed and the clock, which are parameters so that a test can fix them. Not here:
//! their effects (`host`, `id_generator`, `running_session`).

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use super::host::Host;
use super::host_events::Hearer;
use super::manifest_key::Signer;

/// The source of the current time; a parameter, so that tests can fix it.
pub type TimeSource = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The settings of a producer.
#[derive(Clone)]
pub struct ProducerSettings {
    /// Whose producer it is.
    pub host: Host,
    /// The seed of all ids; the same seed gives the same ids.
    pub seed: u64,
    /// The source of timestamps.
    pub clock: TimeSource,
    /// The signer of the manifest; without one it is not signed.
    pub signer: Option<Arc<Signer>>,
    /// The receiver of news about subscribers and answers, if any.
    pub hearer: Option<Hearer>,
}

impl ProducerSettings {
    /// Returns the settings of a host: the system's clock, no signer, no hearer.
    pub fn new(host: Host, seed: u64) -> Self {
        Self {
            host,
            seed,
            clock: Arc::new(Timestamp::now),
            signer: None,
            hearer: None,
        }
    }
}

impl fmt::Debug for ProducerSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ProducerSettings")
            .field("host", &self.host)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
