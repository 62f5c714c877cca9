//! The identifiers of the wire, each with its own type, so that none can be mistaken for another.
//!
//! Not here: storing their texts (`id_text`).

use std::fmt;

use super::id_text::{SharedText, ShortText};
use super::text_forms::is_id;

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident($text:ty), $prefix:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Eq, PartialEq, Ord, PartialOrd, Hash)]
        pub struct $name(pub(super) $text);

        impl $name {
            /// Returns whether the text has the form that the chapters ask for.
            pub fn is_well_formed(&self) -> bool {
                well_formed(&self.0, $prefix)
            }
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
    EventId(ShortText),
    Some("evt_")
);
identifier!(
    /// The id of a session within its producer (3.2.4): `sess_` and 1 to 64 letters or digits.
    SessionId(ShortText),
    Some("sess_")
);
identifier!(
    /// The id that pairs a tool's invocation with its completion (4.3.1).
    ToolCallId(ShortText),
    Some("call_")
);
identifier!(
    /// The id that groups the chunks of one output (4.3.3).
    OutputId(ShortText),
    Some("out_")
);
identifier!(
    /// The id of an agent within its deployment (3.2.6.1): any text that is not empty.
    AgentId(SharedText),
    None
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
    /// Returns whether the text has the form of 6.2.1.
    pub fn is_well_formed(&self) -> bool {
        well_formed(&self.0, Some("rpl_"))
    }
}

impl fmt::Debug for ReplyToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplyToken(…)")
    }
}

fn well_formed(text: &str, prefix: Option<&str>) -> bool {
    match prefix {
        None => !text.is_empty(),
        Some(prefix) => is_id(text, prefix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_apart() {
        for (text, ok) in [
            ("evt_a", true),
            ("evt_", false),
            ("evt_a-b", false),
            ("sess_a", false),
            ("EVT_a", false),
        ] {
            assert_eq!(EventId::from(text).is_well_formed(), ok, "{text}");
        }
        assert!(!EventId::from(format!("evt_{}", "a".repeat(65))).is_well_formed());
        assert!(AgentId::from("com.example").is_well_formed());
        assert!(!AgentId::from("").is_well_formed());
    }

    #[test]
    fn a_token_is_never_printed() {
        assert_eq!(
            format!("{:?}", ReplyToken::new("rpl_secret")),
            "ReplyToken(…)"
        );
    }
}
