//! One connection to a NATS server.
//!
//! Responsibilities: opening it with the person's credentials and certificates, why it could not be opened, noticing
//! that it is lost. Not here: trying again (its user does), what goes over it.

use std::time::Duration;

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event};
use tokio::sync::watch;

use super::{BrokerAddress, Credentials};
use crate::link::{Cause, Fault, NoTls, RemoteText};
use crate::transport::http_client::fault_in_chain;
use crate::transport::outside_text::clean;
use crate::transport::{Secret, Tls};

/// How often a connection is checked for life.
const PING: Duration = Duration::from_secs(10);
/// The longest words of the server that are kept, in characters.
const LONGEST_WORDS: usize = 200;

/// What a connection needs.
#[derive(Debug, Clone)]
pub(crate) struct BrokerTerms {
    /// The server.
    pub(crate) address: BrokerAddress,
    /// Who connects.
    pub(crate) credentials: Option<Credentials>,
    /// The token, if the server wants one instead.
    pub(crate) token: Option<Secret>,
    /// The certificates.
    pub(crate) tls: Tls,
    /// The time limit of an attempt.
    pub(crate) limit: Duration,
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connected {
    /// The client; it is used until the connection is lost, and never again.
    pub(crate) client: Client,
    /// How the connection fares.
    pub(crate) lasts: BrokerStateWatch,
}

/// How a connection fares.
#[derive(Debug, Clone)]
pub(crate) struct BrokerStateWatch {
    state: watch::Receiver<BrokerState>,
}

#[derive(Debug, Clone, Default)]
struct BrokerState {
    over: bool,
    /// What the server last refused, in its own words.
    refused: Option<String>,
}

impl BrokerStateWatch {
    /// Waits until the connection is lost.
    pub(crate) async fn over(&mut self) {
        // Without a sender the client is gone, and with it the connection.
        let _ = self.state.wait_for(|state| state.over).await;
    }

    /// Returns what the server last refused, in its own words.
    pub(crate) fn refused(&self) -> Option<String> {
        self.state.borrow().refused.clone()
    }
}

/// Opens one connection. Answers arrive under `_INBOX.` and `inbox`: so a server can keep one client from hearing
/// another's.
pub(crate) async fn connect(
    terms: &BrokerTerms,
    name: &str,
    inbox: Option<&str>,
) -> Result<Connected, Fault> {
    let (report, state) = watch::channel(BrokerState::default());
    let mut options = ConnectOptions::new()
        .name(name)
        .connection_timeout(terms.limit)
        .request_timeout(Some(terms.limit))
        .ping_interval(PING)
        // The user of the connection tries again, and says so.
        .max_reconnects(1)
        .ignore_discovered_servers()
        .event_callback(move |event| {
            let report = report.clone();
            async move {
                match event {
                    Event::Disconnected | Event::Closed => {
                        report.send_modify(|state| state.over = true);
                    }
                    Event::ServerError(error) => {
                        let words = clean(&error.to_string(), LONGEST_WORDS);
                        report.send_modify(|state| state.refused = Some(words));
                    }
                    Event::Connected
                    | Event::LameDuckMode
                    | Event::Draining
                    | Event::SlowConsumer(_)
                    | Event::ClientError(_) => {}
                }
            }
        });
    if let Some(inbox) = inbox {
        options = options.custom_inbox_prefix(format!("_INBOX.{inbox}"));
    }
    if terms.address.is_secure() {
        options = options.require_tls(true);
    }
    // A server may demand TLS at any address.
    if let Ok(config) = terms.tls.client_config(&[]) {
        options = options.tls_client_config(config);
    } else if terms.address.is_secure() {
        return Err(Fault::Tls(NoTls::NoRoots));
    }
    options = match &terms.credentials {
        Some(Credentials::Signed(text)) => options
            .credentials(text.expose())
            .map_err(|_| Fault::Unusable(Cause::BrokerCredentials))?,
        Some(Credentials::Seed(seed)) => options.nkey(seed.expose().to_owned()),
        None => options,
    };
    if let Some(token) = terms.token.as_ref().and_then(Secret::in_message) {
        options = options.token(token.to_owned());
    }
    let connecting = options.connect(terms.address.server());
    let client = match tokio::time::timeout(terms.limit, connecting).await {
        Ok(Ok(client)) => client,
        Ok(Err(error)) => {
            let is_nobody = terms.credentials.is_none() && terms.token.is_none();
            return Err(match fault_of(&error) {
                Fault::Unusable(Cause::BrokerRefuses) if is_nobody => {
                    Fault::Unusable(Cause::BrokerWants)
                }
                fault => fault,
            });
        }
        Err(_) => return Err(Fault::TimedOut),
    };
    Ok(Connected {
        client,
        lasts: BrokerStateWatch { state },
    })
}

/// Returns the reason why a connection could not be opened.
fn fault_of(error: &async_nats::ConnectError) -> Fault {
    match error.kind() {
        ConnectErrorKind::ServerParse => Fault::Unusable(Cause::NoConnection),
        ConnectErrorKind::Dns => Fault::UnknownHost,
        ConnectErrorKind::Authentication => Fault::Unusable(Cause::BrokerCredentials),
        ConnectErrorKind::AuthorizationViolation => Fault::Unusable(Cause::BrokerRefuses),
        ConnectErrorKind::TimedOut => Fault::TimedOut,
        ConnectErrorKind::Tls => fault_in_chain(error).unwrap_or(Fault::Tls(NoTls::Handshake)),
        ConnectErrorKind::Io => fault_in_chain(error).unwrap_or(Fault::Closed),
        ConnectErrorKind::MaxReconnects => Fault::Closed,
    }
}

/// Returns the server's own words for an error, for people.
pub(crate) fn words_of(error: &dyn std::error::Error) -> Cause {
    Cause::BrokerSaid {
        words: RemoteText(clean(&error.to_string(), LONGEST_WORDS)),
    }
}
