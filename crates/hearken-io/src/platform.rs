//! What differs between the systems that hearken runs on, each behind the same names.
//!
//! Responsibilities: files for the owner alone, programs, where they are, all that they started and what they take of the machine,
//! signals, the terminal, sockets of this machine, its time zone. Not here: any decision, any word.
//!
//! Mental model: one folder a system, with the same files and the same names in them, and nowhere else a word about
//! which system it is. What a system does not have is absent there in a way that the compiler knows (a type without
//! values, a constant that says so), so that nobody can pretend to have it; the rooms above say it in words.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

mod memory;
pub mod places;
pub mod strays;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{
    files, keyboard, numbered, nvda, pipes, processes, readers, signals, sockets, spending,
    stdout::take_stdout, terminal, zone,
};
#[cfg(windows)]
pub use windows::{
    files, keyboard, numbered, nvda, pipes, processes, readers, signals, sockets, spending,
    stdout::take_stdout, terminal, zone,
};

/// Names a sign of a screen reader that the system itself tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "each system has signs of its own")]
pub enum Sign {
    /// NVDA has a window.
    Nvda,
    /// JAWS has one.
    Jaws,
    /// Narrator has written down that it runs.
    Narrator,
    /// VoiceOver is on in the settings.
    VoiceOver,
    /// Some reader has set the flag of Windows.
    Flag,
}

/// Such a sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Which it is.
    pub sign: Sign,
    /// Whether it was seen, or why it could not be looked for.
    pub seen: Result<bool, io::ErrorKind>,
}

/// Whose a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "not every system has pipes")]
pub enum Owner {
    /// This person's.
    Own,
    /// The system's.
    System,
    /// Somebody else's.
    Another,
}

/// A connection over a named pipe.
#[derive(Debug)]
pub struct Piped {
    /// The connection.
    pub pipe: pipes::Pipe,
    /// Whether a write is a message there; else it is a part of a stream of bytes.
    pub of_messages: bool,
    /// Whose program listens there.
    pub owner: Owner,
}

/// What a program has taken of the machine; what the system does not tell is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// The processor time of all its threads, in the system too.
    pub processor: Option<Duration>,
    /// The most memory that it held, in bytes.
    pub peak: Option<u64>,
}

/// Whether this system has a speech of its own that every build can use.
pub const SPEAKS: bool = cfg!(any(windows, target_os = "macos"));

/// The voice that a person here names who wants hearken to speak beside a screen reader.
pub const OWN_VOICE: &str = if SPEAKS {
    "system"
} else {
    "speech-dispatcher"
};

/// Puts a text in the place of a file, whole and for its owner alone: it is written beside it first, so that no crash leaves
/// half a file.
///
/// # Errors
/// What the system says; the file is as it was then.
pub fn put_for_owner(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension(format!("new-{}", std::process::id()));
    // What a crash left there could be open to others.
    let _ = std::fs::remove_file(&beside);
    let outcome = files::create_for_owner(&beside)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&beside, path));
    if outcome.is_err() {
        // What could not be finished must not lie about; the first fault is the one that counts.
        let _ = std::fs::remove_file(&beside);
    }
    outcome
}
