//! What comes on a link of this protocol and is nothing of it.
//!
//! Responsibilities: events of AAEP among it, counting the rest. Not here: what is of this protocol (`frames`).

use crate::{Foreign, NoEvent, Out};

/// Counts a text that means nothing with those of its kind that came directly before it: a long list of nothing takes
/// no more room than one of each kind.
pub(super) fn count(why: NoEvent, out: &mut Vec<Out>) {
    for wish in out.iter_mut().rev() {
        let Out::Unread(before, times) = wish else {
            break;
        };
        if before.is_like(&why) {
            *times += 1;
            return;
        }
    }
    out.push(Out::Unread(why, 1));
}

/// Takes a text that is nothing of this protocol: what says that it is AAEP is heard, and nobody here can answer it.
pub(super) fn other(text: &str) -> Out {
    match crate::read(text) {
        Ok(decoded) if decoded.envelope.type_name.starts_with("aaep:") => {
            Out::ViewOnly(text.to_owned())
        }
        Ok(_) => Out::Unread(NoEvent::Foreign(Foreign::Typed), 1),
        Err(why) => Out::Unread(why, 1),
    }
}
