//! NATS: one connection to a broker, for a bridge that publishes and for watchers.
//!
//! Responsibilities: the address and the credentials ([`BrokerAddress`], [`Credentials`]), one connection
//! (`broker_connection`), a bridge's outgoing events and incoming requests ([`offer`]), a report for `doctor`
//! ([`inspect`]). Not here: the subjects and what the messages say (`dialect::fleet`), following (`transport`).
//!
//! A single machine needs none of this and starts none of it.

mod bridge_discovery;
mod bridge_service;
mod broker_address;
mod broker_connection;
mod broker_offer;
mod broker_report;
mod credentials;
mod outbox;
mod publisher;

pub use bridge_service::{BrokerRequest, RequestKind};
pub use broker_address::BrokerAddress;
pub(crate) use broker_connection::{BrokerStateWatch, BrokerTerms, Connected, connect, words_of};
pub use broker_offer::{Broker, BrokerEvent, BrokerOffer, offer};
pub use broker_report::{InspectedSpace, Inspection, inspect};
pub use credentials::{Credentials, CredentialsError};
pub use outbox::{Precedence, Publication};
