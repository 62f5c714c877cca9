//! Other protocols' frames to AAEP and back. Pure.
//!
//! Responsibilities: the door through which every frame passes before anybody reads it. Not here:
//! AAEP itself (`protocol`). AAEP is the only dialect of this version; its frames pass as they are.

use crate::protocol::{DecodeError, Decoded, decode};

/// Reads one frame.
///
/// # Errors
/// When nothing can be said about it; the error carries no payload.
pub fn read(text: &str) -> Result<Decoded, DecodeError> {
    decode(text)
}
