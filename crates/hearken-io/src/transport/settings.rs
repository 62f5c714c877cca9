//! What a link needs to know besides its source.
//!
//! Responsibilities: holding it together. Not here: where settings and tokens are read (`runtime`).

use std::path::PathBuf;

use super::client::SharedClient;
use super::secret::Secret;
use super::tls::Tls;
use crate::config::LinkConfig;
use crate::link::WebSocketTerms;

/// What a link needs to know besides its source.
///
/// Clone it for each link, so that all links share one HTTP client.
#[derive(Debug, Clone)]
pub struct LinkSettings {
    /// The person's settings of links.
    pub config: LinkConfig,
    /// The bearer token, when the source wants one.
    pub token: Option<Secret>,
    /// Where the jitter of the waits starts; randomness is an input.
    pub seed: u64,
    /// What is wanted of a WebSocket.
    pub websocket: WebSocketTerms,
    /// The folder in which a program is started; else this program's own.
    pub folder: Option<PathBuf>,
    pub(super) client: SharedClient,
}

impl LinkSettings {
    /// Puts settings together; nothing is opened and no client is built before it is needed.
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
}
