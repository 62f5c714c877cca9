//! The door at which hooks knock: the port and the secret of the hearken that listens, in a file for the person alone.
//!
//! Responsibilities: that one hearken at a time has it, writing it whole, taking it away, finding it. Not here:
//! listening there (`transport`).
//!
//! Mental model: whoever listens holds a lock as long as it lives, which the system lets go of whatever becomes of it. So
//! a file that was left behind by a crash leads nobody to a port that somebody else has by now: without the lock it
//! counts for nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::platform::files::{create_for_owner, folder_for_owner, is_shared, untrusted};
use crate::platform::put_for_owner;

/// The file that says where the door is.
const FILE: &str = "claude.json";
/// The file that is locked while somebody listens; it stays, because a lock on a file that is taken away means nothing.
const LOCK: &str = "claude.lock";
/// How much of the file is read: a port and a secret.
const MOST_BYTES: u64 = 4096;
/// How often, and with which rest between, the lock is asked for: a hook that looks holds it for a moment.
const TRIES: (u32, Duration) = (20, Duration::from_millis(25));

/// Why there is no door.
#[derive(Debug, thiserror::Error)]
pub enum NoDoor {
    /// Another one has it.
    #[error("another hearken listens already")]
    Taken,
    /// Others may write to its folder.
    #[error("{0}: others may write there")]
    Shared(PathBuf),
    /// Its place can't be used.
    #[error("{path}: {error}")]
    Place {
        /// The place.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// The door, for the one who listens; it is closed when this is dropped.
#[derive(Debug)]
pub struct Door {
    path: PathBuf,
    /// What stands in the file, once it was written.
    written: Option<String>,
    /// Held only to be locked.
    _lock: File,
}

/// Where the door is, and what is said to be let in.
#[derive(Clone, PartialEq, Eq)]
pub struct Knock {
    /// The port on loopback.
    pub port: u16,
    /// The secret: the first part of every path.
    pub secret: String,
    /// Whether what the agent wrote is wanted, too, from its transcript.
    pub transcript: bool,
}

impl Door {
    /// Takes the door in a folder, which is made where there is none.
    ///
    /// # Errors
    /// When another one has it, or the folder can't be used.
    pub fn take(folder: &Path) -> Result<Self, NoDoor> {
        let at = |path: &Path, error| NoDoor::Place {
            path: path.to_owned(),
            error,
        };
        folder_for_owner(folder).map_err(|error| at(folder, error))?;
        if is_shared(folder) {
            return Err(NoDoor::Shared(folder.to_owned()));
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
                Err(TryLockError::WouldBlock) if left == 0 => return Err(NoDoor::Taken),
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

    /// Says at the door where it is: in a file that the person alone can read, put in its place whole.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn open(&mut self, port: u16, secret: &str, transcript: bool) -> io::Result<()> {
        let text = json!({"port": port, "secret": secret, "transcript": transcript}).to_string();
        put_for_owner(&self.path, &text)?;
        self.written = Some(text);
        Ok(())
    }

    /// Returns where it is said.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // Somebody may have put another one there by hand: that is theirs.
        if self.written.is_some() && read(&self.path) == self.written {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = File::open(path).ok()?;
    // Whoever else could write it would be told what the agent does.
    if untrusted(&file.metadata().ok()?).is_some() {
        return None;
    }
    file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Finds the door in a folder; nothing where nobody listens.
pub fn find(folder: &Path) -> Option<Knock> {
    let lock = File::open(folder.join(LOCK)).ok()?;
    // Who can have the lock is alone: whoever listened is gone.
    if lock.try_lock_shared().is_ok() {
        return None;
    }
    let said: Value = serde_json::from_str(&read(&folder.join(FILE))?).ok()?;
    let port = said.get("port").and_then(Value::as_u64)?;
    let secret = said.get("secret").and_then(Value::as_str)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (!secret.is_empty() && secret.chars().all(plain)).then_some(Knock {
        port: u16::try_from(port).ok().filter(|port| *port > 0)?,
        secret: secret.to_owned(),
        transcript: said.get("transcript").and_then(Value::as_bool) == Some(true),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_door_and_only_while_it_listens_is_it_found() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("state/hearken");
        assert!(find(&folder).is_none(), "nobody was ever there");
        let mut door = Door::take(&folder).unwrap();
        assert!(find(&folder).is_none(), "it is not open yet");
        door.open(4711, "s3cret", false).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(door.path()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        let knock = find(&folder).unwrap();
        assert_eq!((knock.port, knock.secret.as_str()), (4711, "s3cret"));
        assert!(!knock.transcript);
        door.open(4711, "s3cret", true).unwrap();
        assert!(find(&folder).unwrap().transcript);
        assert!(matches!(Door::take(&folder), Err(NoDoor::Taken)));
        drop(door);
        assert!(find(&folder).is_none());
        assert!(!folder.join(FILE).exists(), "it is taken away");
        Door::take(&folder).unwrap();
    }

    #[test]
    fn what_a_crash_left_behind_leads_nowhere_and_what_is_no_door_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(folder.join(FILE), r#"{"port":1,"secret":"left"}"#).unwrap();
        std::fs::write(folder.join(LOCK), "").unwrap();
        assert!(find(folder).is_none(), "nobody holds the lock");
        let door = Door::take(folder).unwrap();
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
