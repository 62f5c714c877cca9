//! Everything a link needs besides its source.
//!
//! Responsibilities: grouping it. Not here: where settings and tokens are read (`runtime`).

use std::path::PathBuf;
use std::time::Duration;

use super::backoff::Backoff;
use super::http_client::SharedClient;
use super::secret::Secret;
use super::tls::Tls;
use crate::broker::{BrokerAddress, BrokerTerms, Credentials};
use crate::config::LinkConfig;
use crate::link::{Fault, WebSocketTerms};

/// Everything a link needs besides its source.
///
/// Clone it for each link, so that all links share one HTTP client.
#[derive(Debug, Clone)]
pub struct LinkSettings {
    /// The person's link settings.
    pub config: LinkConfig,
    /// The bearer token, if the source requires one.
    pub token: Option<Secret>,
    /// The seed for the jitter of the waits; randomness is an input.
    pub seed: u64,
    /// The requirements for a WebSocket.
    pub websocket: WebSocketTerms,
    /// The folder in which to start a program; if absent, this program's own.
    pub folder: Option<PathBuf>,
    pub(super) client: SharedClient,
}

impl LinkSettings {
    /// Groups the settings; nothing is opened, and clients are built only when needed.
    pub fn new(config: LinkConfig, token: Option<Secret>, tls: Tls, seed: u64) -> Self {
        let client = SharedClient::new(config.connect_timeout(), tls);
        Self {
            config,
            token,
            seed,
            websocket: WebSocketTerms::PLAIN,
            folder: None,
            client,
        }
    }

    /// Returns what a connection to a NATS server needs; the credentials are read anew, because they may be replaced.
    ///
    /// # Errors
    /// [`Fault::Unusable`] if they can't be read.
    pub(crate) fn broker_terms(&self, address: &BrokerAddress) -> Result<BrokerTerms, Fault> {
        let credentials = self.config.creds.as_deref().map(Credentials::load);
        let credentials = credentials.transpose().map_err(|error| error.fault())?;
        Ok(BrokerTerms {
            address: address.clone(),
            credentials,
            token: self.token.clone(),
            tls: self.client.own_tls().clone(),
            limit: self.config.connect_timeout(),
        })
    }

    /// Returns the waits between attempts.
    pub(crate) fn backoff(&self) -> Backoff {
        let first = Duration::from_millis(self.config.backoff_first_ms);
        let cap = Duration::from_millis(self.config.backoff_cap_ms);
        Backoff::new(first, cap, self.seed)
    }
}
