//! The identifiers of the wire, each with its own type, so that none can be mistaken for another.
//!
//! Not here: storing their texts (`id_text`).

use std::fmt;

use super::id_text::{SharedText, ShortText};

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident($text:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Eq, PartialEq, Ord, PartialOrd, Hash)]
        pub struct $name(pub(super) $text);

        impl $name {
            /// Returns the text.
            #[inline]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            #[inline]
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::from(&*text)
            }
        }
    };
}

identifier!(
    /// The id of an event within its producer (3.2.3): `evt_` and 1 to 64 letters or digits.
    EventId(ShortText)
);
identifier!(
    /// The id of a session within its producer (3.2.4): `sess_` and 1 to 64 letters or digits.
    SessionId(ShortText)
);
identifier!(
    /// The id that pairs a tool's invocation with its completion (4.3.1).
    ToolCallId(ShortText)
);
identifier!(
    /// The id that groups the chunks of one output (4.3.3).
    OutputId(ShortText)
);
identifier!(
    /// The id of an agent within its deployment (3.2.6.1): any text that is not empty.
    AgentId(SharedText)
);

/// The token of a question, which its answer echoes unchanged (6.2): opaque, and never shown in a log.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ReplyToken(String);

impl ReplyToken {
    /// Creates a token from its text, unchanged.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
    /// Returns the token's text, only for the reply itself, a digest, and the contract of the JSON face.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ReplyToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplyToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_printed() {
        assert_eq!(
            format!("{:?}", ReplyToken::new("rpl_secret")),
            "ReplyToken(…)"
        );
    }
}
