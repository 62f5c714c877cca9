//! Decoding a text with the one decoder, and judging what is not an event.

use crate::protocol::{DecodeError, Decoded, RecentValues, object};

use super::format_names::{self, ForeignFormat};

/// Why a frame is not an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoEvent {
    /// It may be AAEP but can't be read; the error carries no payload.
    Broken(DecodeError),
    /// It is not AAEP.
    Foreign(ForeignFormat),
}

impl NoEvent {
    /// Returns whether both frames fail for the same reason, wherever in them the fault is.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Broken(one), Self::Broken(other)) => one.name() == other.name(),
            (Self::Foreign(one), Self::Foreign(other)) => one == other,
            (Self::Broken(_), Self::Foreign(_)) | (Self::Foreign(_), Self::Broken(_)) => false,
        }
    }
}

/// Decodes one text as an event, whatever came before it.
///
/// # Errors
/// If it is not AAEP, or if nothing can be said about it.
pub fn read(text: &str) -> Result<Box<Decoded>, NoEvent> {
    read_after(text, &mut RecentValues::default())
}

/// Decodes one text of a stream as an event.
///
/// # Errors
/// If it is not AAEP, or if nothing can be said about it.
pub fn read_after(text: &str, recent: &mut RecentValues) -> Result<Box<Decoded>, NoEvent> {
    match recent.decode(text) {
        // Almost every event names AAEP in its type, and is read only once.
        Ok(decoded) if decoded.envelope.type_name.starts_with("aaep:") => Ok(decoded),
        Ok(decoded) => judge(text).map_or(Ok(decoded), |what| Err(NoEvent::Foreign(what))),
        Err(error) => {
            let what = match &error {
                DecodeError::Json { .. } => format_names::of_text(text),
                DecodeError::NotAnObject(_) => Some(of_value(text)),
                DecodeError::NoType => judge(text),
                DecodeError::TooDeep => None,
            };
            Err(what.map_or(NoEvent::Broken(error), NoEvent::Foreign))
        }
    }
}

/// Judges JSON that is not an object.
fn of_value(text: &str) -> ForeignFormat {
    let list: Option<Vec<serde_json::Value>> = serde_json::from_str(text).ok();
    list.and_then(|list| format_names::of_list(&list))
        .unwrap_or(ForeignFormat::Value)
}

/// Judges an object whose type does not name AAEP.
fn judge(text: &str) -> Option<ForeignFormat> {
    ForeignFormat::of_object(&object(text)?)
}
