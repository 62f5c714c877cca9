//! NATS: one connection to a broker, for a bridge that publishes and for watchers.
//!
//! Responsibilities: the address and the credentials ([`BrokerAddress`], [`Credentials`]), one connection (`connect`), a
//! bridge's outgoing events and incoming requests ([`offer`]), a report for `doctor` ([`inspect`]). Not here: the
//! subjects and what the messages say (`dialect::fleet`), following (`transport`).
//!
//! A single machine needs none of this and starts none of it.

mod address;
mod connect;
mod credentials;
mod discovery;
mod inspect;
mod offer;
mod outbox;
mod publishing;
mod serving;

pub use address::BrokerAddress;
pub(crate) use connect::{BrokerTerms, Connected, Lasts, connect, words_of};
pub use credentials::{Credentials, CredentialsError};
pub use inspect::{InspectedSpace, Inspection, inspect};
pub use offer::{Broker, BrokerEvent, BrokerOffer, offer};
pub use outbox::{Precedence, Publication};
pub use serving::{BrokerRequest, RequestKind};
