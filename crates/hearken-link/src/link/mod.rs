//! The plain words that transport, dialects and the app share. Pure.
//!
//! Responsibilities: naming a link, what comes in over it ([`Frame`], [`LinkEvent`]), what goes wrong
//! ([`Fault`]), what became of a reply ([`Receipt`], [`Undelivered`]), requests beside a stream and their
//! answers, what is to be said and not worded yet ([`Phrase`]). Not here: anything that does something: bytes and connections (`transport`), what a message
//! means (`dialect`), what the person is told (`app`).

mod call;
mod cause;
mod delivery;
mod fault;
mod news;
mod opening;

pub use call::{Body, Call, HttpAnswer, LastWords, Method, Request};
pub use cause::{Cause, Detail, NoTls, NoWebSocket, TheirWords};
pub use delivery::{Receipt, Undelivered};
pub use fault::{Fault, Phrase, Reason, Word};
pub use news::{Frame, LinkEvent};
pub use opening::{Address, Stream, Subprotocol, Way, WebSocketTerms};

/// Names a source; the order is the order on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub usize);
