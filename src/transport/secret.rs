//! A credential that can't be printed by accident.
//!
//! Responsibilities: holding a bearer token so that no log, error or debug view shows it. Not here:
//! where the token is read from.

use std::fmt;

/// Holds a bearer token; its debug form is `…` and it has no display form.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a token, without the white space around it (a token file usually ends in a line break).
    pub fn new(token: &str) -> Self {
        Self(token.trim().to_owned())
    }

    /// Shows the token, for the one place that sends it.
    pub(super) fn expose(&self) -> &str {
        &self.0
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
        assert_eq!(format!("{secret:?}"), "…");
    }
}
