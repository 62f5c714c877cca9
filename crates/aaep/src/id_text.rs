//! Storage for the texts of ids.
//!
//! Responsibilities: storing an id so that it can be compared in place. Not here: what it identifies (`ids`).
//!
//! Mental model: with thousands of sessions taking turns, none is in the cache, and following a pointer to a
//! text takes longer than much of the work on an event. So the id of a session, an output, a call or an event
//! is stored inline: every usual one fits, with a prefix and 26 or 32 letters and digits, and a longer one is
//! shared. Agents are few, and each is named in all its events, so their texts are shared.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use arrayvec::ArrayString;

/// The bytes of inline room: enough for `sess_` and a UUID of 32 digits, and a little more.
const ROOM: usize = 40;

/// A text that is nearly always short.
#[derive(Clone)]
pub struct ShortText(Storage);

#[derive(Clone)]
enum Storage {
    Here(ArrayString<ROOM>),
    Shared(Arc<str>),
}

impl From<&str> for ShortText {
    fn from(text: &str) -> Self {
        Self(match ArrayString::from(text) {
            Ok(text) => Storage::Here(text),
            Err(_) => Storage::Shared(text.into()),
        })
    }
}

impl Deref for ShortText {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match &self.0 {
            Storage::Here(text) => text,
            Storage::Shared(text) => text,
        }
    }
}

impl PartialEq for ShortText {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for ShortText {}

impl Ord for ShortText {
    fn cmp(&self, other: &Self) -> Ordering {
        str::cmp(self, other)
    }
}

impl PartialOrd for ShortText {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for ShortText {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        str::hash(self, state);
    }
}

impl fmt::Debug for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A text with many holders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedText(pub(super) Arc<str>);

impl From<&str> for SharedText {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl Deref for SharedText {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn it_is_the_text_however_long(one in "[aé\\x00]{0,50}", other in "[aé\\x00]{0,50}") {
            let (short, other_short) = (ShortText::from(&*one), ShortText::from(&*other));
            assert_eq!(&*short, &*one);
            assert_eq!(short.cmp(&other_short), one.cmp(&other));
            assert_eq!(short == other_short, one == other);
            assert_eq!(format!("{short:?}"), format!("{one:?}"));
            assert_ne!(short, ShortText::from(&*format!("{one}\0")));
        }
    }

    #[test]
    fn a_usual_id_stands_where_it_is() {
        let id = format!("sess_{}", "0".repeat(32));
        assert!(matches!(ShortText::from(&*id).0, Storage::Here(_)));
        assert!(size_of::<Option<ShortText>>() <= 48, "no more than must");
    }
}
