//! The token of a source, for protocols that want it in a message of their own.
//!
//! Responsibilities: keeping it out of every log, error and debug view. Not here: where it is read from, and sending it
//! as a header (`transport`).

use std::fmt;

/// A token; its debug form is `…` and it has no display form.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Wraps a token.
    pub fn new(token: &str) -> Self {
        Self(token.to_owned())
    }

    /// Reveals the token, for the one message that contains it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_not_printed() {
        assert_eq!(format!("{:?}", Token::new("s3cret")), "…");
    }
}
