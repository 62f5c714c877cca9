//! What proves to a NATS server who connects.
//!
//! Responsibilities: reading a file of credentials, of either kind. Not here: a token, which a source may have anyway.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::link::{Cause, Fault};
use crate::platform::files::open_to_read;
use crate::transport::Secret;
use crate::transport::network_address::NAME_CHARACTERS;
use crate::transport::outside_text::clean;

/// The largest file that is read, in bytes: a signed identity takes a few hundred.
const LARGEST: u64 = 64 * 1024;
/// The line that begins a signed identity.
const SIGNED: &str = "BEGIN NATS USER JWT";

/// Why a file of credentials can't be used; never shows its content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsError {
    /// It can't be read.
    #[error("{path} can't be read: {kind}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The kind of error.
        kind: std::io::ErrorKind,
    },
    /// It holds neither a signed identity nor a seed.
    #[error("{path} holds no NATS credentials")]
    NoCredentials {
        /// The file.
        path: PathBuf,
    },
}

impl CredentialsError {
    /// Returns the reason for people.
    pub(crate) fn fault(&self) -> Fault {
        let name = |path: &Path| clean(&path.to_string_lossy(), NAME_CHARACTERS);
        Fault::Unusable(match self {
            Self::Unreadable { path, kind } => match kind {
                ErrorKind::NotFound => Cause::NoFile { name: name(path) },
                ErrorKind::PermissionDenied => Cause::FileForbidden { name: name(path) },
                why => Cause::FileNotOpened {
                    name: name(path),
                    why: *why,
                },
            },
            Self::NoCredentials { path } => Cause::NoBrokerCredentials { name: name(path) },
        })
    }
}

/// What proves to a NATS server who connects; its debug form shows nothing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// A signed identity with its key, as `nsc` writes it (`.creds`).
    Signed(Secret),
    /// A key's seed alone (`.nk`).
    Seed(Secret),
}

impl Credentials {
    /// Reads a file; blocks while reading.
    ///
    /// # Errors
    /// See [`CredentialsError`].
    pub fn load(path: &Path) -> Result<Self, CredentialsError> {
        let unreadable = |error: &std::io::Error| CredentialsError::Unreadable {
            path: path.to_owned(),
            kind: error.kind(),
        };
        let file = open_to_read(path).map_err(|error| unreadable(&error))?;
        let mut text = String::new();
        file.take(LARGEST)
            .read_to_string(&mut text)
            .map_err(|error| unreadable(&error))?;
        if text.contains(SIGNED) {
            return Ok(Self::Signed(Secret::new(&text)));
        }
        let seed = text.lines().map(str::trim).find(|line| is_seed(line));
        match seed {
            Some(seed) => Ok(Self::Seed(Secret::new(seed))),
            None => Err(CredentialsError::NoCredentials {
                path: path.to_owned(),
            }),
        }
    }
}

/// Returns whether a line is the seed of a user's key.
fn is_seed(line: &str) -> bool {
    line.len() == 58
        && line.starts_with("SU")
        && line
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_kind_is_read_and_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let seed = format!("SU{}", "A".repeat(56));
        for (text, kind) in [
            (format!("# anna's\n{seed}\n"), "Seed(…)"),
            (
                format!("-----BEGIN NATS USER JWT-----\nx\n{seed}"),
                "Signed(…)",
            ),
        ] {
            let path = folder.path().join("x");
            std::fs::write(&path, text).unwrap();
            let credentials = Credentials::load(&path).unwrap();
            assert_eq!(format!("{credentials:?}"), kind);
        }
        let path = folder.path().join("y");
        assert!(matches!(
            Credentials::load(&path),
            Err(CredentialsError::Unreadable { .. })
        ));
        std::fs::write(&path, "hello").unwrap();
        assert!(matches!(
            Credentials::load(&path),
            Err(CredentialsError::NoCredentials { .. })
        ));
    }
}
