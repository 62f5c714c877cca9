//! Input on a link of this protocol that is not part of it.
//!
//! Responsibilities: recognising AAEP events in it, and counting the rest. Not here: what belongs to the protocol
//! (`binding_frames`).

use crate::{DialectOutput, ForeignFormat, NoEvent};

/// Counts a meaningless text together with others of its kind directly before it, so that a long series takes no more
/// room than one of each kind.
pub(super) fn count(why: NoEvent, out: &mut Vec<DialectOutput>) {
    for wish in out.iter_mut().rev() {
        let DialectOutput::Unread(before, times) = wish else {
            break;
        };
        if before.is_like(&why) {
            *times += 1;
            return;
        }
    }
    out.push(DialectOutput::Unread(why, 1));
}

/// Handles a text that is not of this protocol: AAEP events are heard, but cannot be answered here.
pub(super) fn other(text: &str) -> DialectOutput {
    match crate::read(text) {
        Ok(decoded) if decoded.envelope.type_name.starts_with("aaep:") => {
            DialectOutput::ViewOnly(text.to_owned())
        }
        Ok(_) => DialectOutput::Unread(NoEvent::Foreign(ForeignFormat::Typed), 1),
        Err(why) => DialectOutput::Unread(why, 1),
    }
}
