//! The vocabulary that transport, dialects and the app share. Pure.
//!
//! Responsibilities: naming a link, what arrives over it ([`Frame`], [`LinkEvent`]), what goes wrong
//! ([`Fault`]), the outcome of a reply ([`Receipt`], [`DeliveryFailure`]), requests beside a stream and their
//! answers, sentences that are not yet worded ([`Phrase`]). Not here: bytes and connections (`transport`), what
//! a message means (`dialect`), what the person hears (`app`).

mod cause;
mod link_events;
mod link_fault;
mod link_requests;
mod opening;
mod send_outcome;

pub use cause::{Cause, CauseValue, NoTls, NoWebSocket, RemoteText};
pub use link_events::{Frame, LinkEvent};
pub use link_fault::{Fault, Phrase, PhraseArg, Reason};
pub use link_requests::{
    Body, HttpAnswer, HttpCall, IncomingRequest, LastWords, Method, ServiceAnswers, ServiceCall,
};
pub use opening::{
    Address, Consumer, ServerRoute, Stream, Subprotocol, UnstoredSubjects, WebSocketTerms,
};
pub use send_outcome::{DeliveryFailure, Receipt};

/// The number of a source; sources are ordered as on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub usize);
