//! Storage for the texts of ids.
//!
//! Responsibilities: storing an id so that it can be compared in place. Not here: what it identifies (`ids`).
//!
//! Mental model: with thousands of sessions taking turns, none is in the cache, and following a pointer to a
//! text takes longer than much of the work on an event. So the id of a session, an output, a call or an event
//! is stored inline: every usual one fits, with a prefix and 26 or 32 letters and digits, and a longer one is
//! shared. Agents are few, and each is named in all its events, so their texts are shared, and two equal ones
//! are nearly always the same allocation.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use arrayvec::ArrayString;

use super::text_equality::{ROW, are_one, are_same, are_same_rows};

/// The bytes of inline room: enough for `sess_` and a UUID of 32 digits, and a little more.
const ROOM: usize = ROW;
/// The padding after a shorter text, so that two texts can be compared in full.
const BEHIND: &str = match str::from_utf8(&[0; ROOM]) {
    Ok(behind) => behind,
    Err(_) => "",
};

/// A text that is nearly always short.
#[derive(Clone)]
pub struct ShortText(Storage);

#[derive(Clone)]
enum Storage {
    Here {
        /// The text, padded with zero bytes.
        whole: ArrayString<ROOM>,
        /// The length of the text in bytes.
        length: u8,
    },
    Shared(Arc<str>),
}

impl From<&str> for ShortText {
    #[inline]
    fn from(text: &str) -> Self {
        let whole = || {
            let mut whole = ArrayString::from(text).ok()?;
            whole.try_push_str(BEHIND.get(text.len()..)?).ok()?;
            let length = u8::try_from(text.len()).ok()?;
            Some(Storage::Here { whole, length })
        };
        Self(whole().unwrap_or_else(|| Storage::Shared(text.into())))
    }
}

impl Deref for ShortText {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match &self.0 {
            Storage::Here { whole, length } => {
                whole.get(..usize::from(*length)).unwrap_or_default()
            }
            Storage::Shared(text) => text,
        }
    }
}

impl PartialEq for ShortText {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (
                Storage::Here { whole, length },
                Storage::Here {
                    whole: other,
                    length: others,
                },
            ) => {
                let whole = (
                    whole.as_bytes().first_chunk(),
                    other.as_bytes().first_chunk(),
                );
                let (Some(one), Some(other)) = whole else {
                    return false;
                };
                length == others && are_same_rows(one, other)
            }
            (Storage::Shared(one), Storage::Shared(other)) => are_same(one, other),
            (Storage::Here { .. }, Storage::Shared(_))
            | (Storage::Shared(_), Storage::Here { .. }) => false,
        }
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

/// A text with many holders; two equal ones are nearly always the same allocation.
#[allow(
    clippy::derived_hash_with_manual_eq,
    reason = "what is equal here is equal there"
)]
#[derive(Debug, Clone, Eq, Hash)]
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

impl PartialEq for SharedText {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        are_one(&self.0, &other.0)
    }
}

impl Ord for SharedText {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match Arc::ptr_eq(&self.0, &other.0) {
            true => Ordering::Equal,
            false => self.0.cmp(&other.0),
        }
    }
}

impl PartialOrd for SharedText {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
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
        assert!(matches!(ShortText::from(&*id).0, Storage::Here { .. }));
        assert!(size_of::<Option<ShortText>>() <= 48, "no more than must");
    }
}
