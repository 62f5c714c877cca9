//! The vocabulary that transport, dialects and the app share. Pure.
//!
//! Responsibilities: naming a link, what arrives over it ([`Frame`], [`LinkEvent`]), what goes wrong ([`Fault`]), the
//! outcome of a reply ([`Receipt`], [`Undelivered`]), requests beside a stream and their answers, sentences that are
//! not put into words yet ([`Phrase`]). Not here: anything that acts: bytes and connections (`transport`), what a
//! message means (`dialect`), what the person hears (`app`).

mod call;
mod cause;
mod delivery;
mod fault;
mod news;
mod opening;

pub use call::{
    Body, HttpAnswer, HttpCall, IncomingRequest, LastWords, Method, ServiceAnswers, ServiceCall,
};
pub use cause::{Cause, Detail, NoTls, NoWebSocket, TheirWords};
pub use delivery::{Receipt, Undelivered};
pub use fault::{Fault, Phrase, PhraseArg, Reason};
pub use news::{Frame, LinkEvent};
pub use opening::{Address, Consumer, Passing, Stream, Subprotocol, Way, WebSocketTerms};

/// The number of a source; sources are ordered as on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub usize);
