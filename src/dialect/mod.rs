//! Other protocols' frames to AAEP and back. Pure.
//!
//! Responsibilities: the door through which every frame passes before anybody reads it; what is not AAEP
//! stays outside, by name; the texts in a frame that holds several. Not here: AAEP itself (`protocol`). AAEP is the only dialect of this version; its
//! frames pass as they are.

mod foreign;

pub use foreign::Foreign;

use crate::protocol::{DecodeError, Decoded, decode, object};
pub use crate::protocol::{Texts, bare, recordable};

/// Says why a frame holds no event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoEvent {
    /// It may be AAEP and can't be read; the error carries no payload.
    Broken(DecodeError),
    /// It is something else.
    Foreign(Foreign),
}

/// Reads one text: an event.
///
/// # Errors
/// When it is not AAEP, or when nothing can be said about it.
pub fn read(text: &str) -> Result<Decoded, NoEvent> {
    match decode(text) {
        // Almost every frame says so itself, and is read only once.
        Ok(decoded) if decoded.envelope.type_name.starts_with("aaep:") => Ok(decoded),
        Ok(decoded) => judge(text).map_or(Ok(decoded), |what| Err(NoEvent::Foreign(what))),
        Err(error) => {
            let what = match &error {
                DecodeError::Json { .. } => foreign::of_text(text),
                DecodeError::NotAnObject(_) => Some(Foreign::Value),
                DecodeError::NoType => judge(text),
                DecodeError::TooDeep => None,
            };
            Err(what.map_or(NoEvent::Broken(error), NoEvent::Foreign))
        }
    }
}

/// Judges an object whose type does not say that it is AAEP.
fn judge(text: &str) -> Option<Foreign> {
    foreign::of_object(&object(text)?)
}
