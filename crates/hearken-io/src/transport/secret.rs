//! A credential that can't be printed by accident.
//!
//! Responsibilities: keeping a bearer token, or the password of a user, out of every log, error and debug view. Not
//! here: where it is read from.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A bearer token or a password; its debug form is `…` and it has no display form.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    text: String,
    /// The user that a password belongs to; a token has none.
    user: Option<String>,
}

impl Secret {
    /// Wraps a token, without the white space around it (a token file usually ends in a line break).
    pub fn new(token: &str) -> Self {
        Self {
            text: token.trim().to_owned(),
            user: None,
        }
    }

    /// Turns it into the password of a user, for a server that wants both (RFC 7617).
    #[must_use]
    pub fn of_user(self, user: &str) -> Self {
        Self {
            user: Some(user.to_owned()),
            ..self
        }
    }

    /// Reveals the secret, for comparing it with one that a client sent and for a library that proves it.
    pub(crate) fn expose(&self) -> &str {
        &self.text
    }

    /// Returns a token for a protocol that wants it in a message, too; a password never goes there.
    pub fn in_message(&self) -> Option<&str> {
        self.user.is_none().then_some(&self.text)
    }

    /// Returns the value of the `Authorization` header, for the one place that sends it.
    pub(super) fn header(&self) -> String {
        match &self.user {
            None => format!("Bearer {}", self.text),
            Some(user) => format!("Basic {}", STANDARD.encode(format!("{user}:{}", self.text))),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_is_trimmed_and_never_printed() {
        let secret = Secret::new("  s3cret\n");
        assert_eq!(secret.expose(), "s3cret");
        assert_eq!(secret.header(), "Bearer s3cret");
        assert_eq!(secret.in_message(), Some("s3cret"));
        assert_eq!(secret.clone().of_user("ada").in_message(), None);
        assert_eq!(format!("{secret:?}"), "…");
        let password = secret.of_user("opencode");
        assert_eq!(password.header(), "Basic b3BlbmNvZGU6czNjcmV0");
        assert_eq!(format!("{password:?}"), "…");
    }
}
