//! The address for hooks: the port and the secret of the listening hearken, in a file for the person alone.
//!
//! Responsibilities: allowing only one hearken at a time, writing the file completely, removing it, finding it. Not
//! here: listening there (`transport`).
//!
//! Mental model: the listening hearken holds a lock for as long as it lives; the system releases the lock however the
//! process ends. So a file left behind by a crash never directs a hook to a port that belongs to another program by
//! now: without the lock, the file counts for nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::platform::files::{create_for_owner, folder_for_owner, is_shared, untrusted};
use crate::platform::put_for_owner;

/// The file with the address.
const FILE: &str = "claude.json";
/// The file that is locked while a hearken listens; it stays, because a lock on a removed file means nothing.
const LOCK: &str = "claude.lock";
/// The most bytes to read of the file: a port and a secret.
const MOST_BYTES: u64 = 4096;
/// How often, and with which pause, to try the lock: a hook that checks it holds it for a moment.
const TRIES: (u32, Duration) = (20, Duration::from_millis(25));

/// Why the address can't be claimed.
#[derive(Debug, thiserror::Error)]
pub enum HookEndpointError {
    /// Another hearken has it.
    #[error("another hearken listens already")]
    Taken,
    /// Others may write to its folder.
    #[error("{0}: others may write there")]
    Shared(PathBuf),
    /// A file or folder can't be used.
    #[error("{path}: {error}")]
    Place {
        /// The path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// The address, held by the listening hearken; it is withdrawn when this is dropped.
#[derive(Debug)]
pub struct HookEndpoint {
    path: PathBuf,
    /// The content of the file, once written.
    written: Option<String>,
    /// Kept only for its lock.
    _lock: File,
}

/// The address, and what a hook must send to be admitted.
#[derive(Clone, PartialEq, Eq)]
pub struct HookAddress {
    /// The port on loopback.
    pub port: u16,
    /// The secret, which is the first part of every path.
    pub secret: String,
    /// What is wanted of the hooks.
    pub terms: HookTerms,
}

/// What the listening hearken wants of the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HookTerms {
    /// Whether the texts from the agent's transcript are wanted, too.
    pub transcript: bool,
    /// How long a question is open here at most, where the agent's own terminal asks nothing meanwhile.
    pub hand_back: Duration,
    /// Whether Gemini CLI waits before each call.
    pub gemini_waits: bool,
}

impl HookEndpoint {
    /// Claims the address in a folder, which is created if it is missing.
    ///
    /// # Errors
    /// If another hearken has it, or the folder can't be used.
    pub fn take(folder: &Path) -> Result<Self, HookEndpointError> {
        let at = |path: &Path, error| HookEndpointError::Place {
            path: path.to_owned(),
            error,
        };
        folder_for_owner(folder).map_err(|error| at(folder, error))?;
        if is_shared(folder) {
            return Err(HookEndpointError::Shared(folder.to_owned()));
        }
        let path = folder.join(LOCK);
        let lock = match create_for_owner(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                OpenOptions::new().write(true).open(&path)
            }
            made => made,
        };
        let lock = lock.map_err(|error| at(&path, error))?;
        let (tries, rest) = TRIES;
        for left in (0..tries).rev() {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if left == 0 => return Err(HookEndpointError::Taken),
                Err(TryLockError::WouldBlock) => std::thread::sleep(rest),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {
                    std::thread::sleep(rest);
                }
                Err(TryLockError::Error(error)) => return Err(at(&path, error)),
            }
        }
        Ok(Self {
            path: folder.join(FILE),
            written: None,
            _lock: lock,
        })
    }

    /// Publishes the address in a file that only the person can read, in one atomic step.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn open(&mut self, port: u16, secret: &str, terms: HookTerms) -> io::Result<()> {
        let text = json!({"port": port, "secret": secret, "transcript": terms.transcript,
            "hand_back": terms.hand_back.as_secs(), "gemini_waits": terms.gemini_waits})
        .to_string();
        put_for_owner(&self.path, &text)?;
        self.written = Some(text);
        Ok(())
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for HookEndpoint {
    fn drop(&mut self) {
        // A person may have replaced the file by hand: theirs stays.
        if self.written.is_some() && read(&self.path) == self.written {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = File::open(path).ok()?;
    // Another user who could write the file could redirect the agent's messages to themselves.
    if untrusted(&file.metadata().ok()?).is_some() {
        return None;
    }
    file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Finds the address in a folder; `None` if no hearken is listening.
pub fn find(folder: &Path) -> Option<HookAddress> {
    let lock = File::open(folder.join(LOCK)).ok()?;
    // If the lock is free, the hearken that listened is gone.
    if lock.try_lock_shared().is_ok() {
        return None;
    }
    let said: Value = serde_json::from_str(&read(&folder.join(FILE))?).ok()?;
    let port = said.get("port").and_then(Value::as_u64)?;
    let secret = said.get("secret").and_then(Value::as_str)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (!secret.is_empty() && secret.chars().all(plain)).then_some(HookAddress {
        port: u16::try_from(port).ok().filter(|port| *port > 0)?,
        secret: secret.to_owned(),
        terms: HookTerms {
            transcript: said.get("transcript").and_then(Value::as_bool) == Some(true),
            hand_back: Duration::from_secs(
                said.get("hand_back")
                    .and_then(Value::as_u64)
                    .unwrap_or_default(),
            ),
            gemini_waits: said.get("gemini_waits").and_then(Value::as_bool) == Some(true),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_door_and_only_while_it_listens_is_it_found() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("state/hearken");
        assert!(find(&folder).is_none(), "nobody was ever there");
        let mut door = HookEndpoint::take(&folder).unwrap();
        assert!(find(&folder).is_none(), "it is not open yet");
        door.open(4711, "s3cret", HookTerms::default()).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(door.path()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        let knock = find(&folder).unwrap();
        assert_eq!((knock.port, knock.secret.as_str()), (4711, "s3cret"));
        assert_eq!(knock.terms, HookTerms::default());
        let terms = HookTerms {
            transcript: true,
            hand_back: Duration::from_secs(300),
            gemini_waits: true,
        };
        door.open(4711, "s3cret", terms).unwrap();
        assert_eq!(find(&folder).unwrap().terms, terms);
        assert!(matches!(
            HookEndpoint::take(&folder),
            Err(HookEndpointError::Taken)
        ));
        drop(door);
        assert!(find(&folder).is_none());
        assert!(!folder.join(FILE).exists(), "it is taken away");
        HookEndpoint::take(&folder).unwrap();
    }

    #[test]
    fn what_a_crash_left_behind_leads_nowhere_and_what_is_no_door_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(folder.join(FILE), r#"{"port":1,"secret":"left"}"#).unwrap();
        std::fs::write(folder.join(LOCK), "").unwrap();
        assert!(find(folder).is_none(), "nobody holds the lock");
        let door = HookEndpoint::take(folder).unwrap();
        assert!(find(folder).is_some());
        for odd in [
            "",
            "{",
            "[]",
            r#"{"port":0,"secret":"x"}"#,
            r#"{"port":70000,"secret":"x"}"#,
            r#"{"port":1,"secret":"a/b"}"#,
        ] {
            std::fs::write(folder.join(FILE), odd).unwrap();
            assert!(find(folder).is_none(), "{odd}");
        }
        drop(door);
        assert!(folder.join(FILE).exists(), "somebody else wrote it");
    }
}
