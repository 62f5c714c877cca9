//! The differences between the systems that hearken runs on, behind one set of names.
//!
//! Responsibilities: owner-only files, programs, where to find them, everything they started and the resources they
//! used, signals, the terminal, local sockets, the local time zone. Not here: any decision or wording.
//!
//! Mental model: one folder per system, each with the same files and names; no other code mentions which system it runs
//! on. A feature that a system lacks is absent in a way that the compiler checks (a type without values, a constant),
//! so no code can pretend to have it; the layers above put its absence into words.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

mod memory;
pub mod program_places;
pub mod stray_processes;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{
    files, keyboard, nvda_client, pipes, process_number, processes, reader_signs, resource_use,
    sockets, stdout::take_stdout, system_signals, terminal, zone,
};
#[cfg(windows)]
pub use windows::{
    files, keyboard, nvda_client, pipes, process_number, processes, reader_signs, resource_use,
    sockets, stdout::take_stdout, system_signals, terminal, zone,
};

/// A sign of a screen reader that the system itself reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "each system has signs of its own")]
pub enum ReaderSign {
    /// NVDA has a window.
    Nvda,
    /// JAWS has a window.
    Jaws,
    /// Narrator has recorded that it is running.
    Narrator,
    /// VoiceOver is on in the settings.
    VoiceOver,
    /// Some reader has set the Windows screen-reader flag.
    Flag,
}

/// The result of looking for one sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignCheck {
    /// The sign.
    pub sign: ReaderSign,
    /// Whether it was seen, or why it could not be checked.
    pub seen: Result<bool, io::ErrorKind>,
}

/// The owner of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "not every system has pipes")]
pub enum Owner {
    /// The current user.
    Own,
    /// The system.
    System,
    /// Another user.
    Another,
}

/// A connection over a named pipe.
#[derive(Debug)]
pub struct PipeConnection {
    /// The connection.
    pub pipe: pipes::Pipe,
    /// Whether each write is a message; otherwise a write is part of a byte stream.
    pub of_messages: bool,
    /// The owner of the program that listens at the other end.
    pub owner: Owner,
}

/// The resources that a program has used so far; values that the system does not report are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResourceUse {
    /// The processor time of all its threads, including time in the kernel.
    pub processor: Option<Duration>,
    /// The peak memory use, in bytes.
    pub peak: Option<u64>,
}

/// Whether this system has speech of its own that every build can use.
pub const SPEAKS: bool = cfg!(any(windows, target_os = "macos"));

/// The voice to name in the settings so that hearken speaks alongside a screen reader.
pub const OWN_VOICE: &str = if SPEAKS {
    "system"
} else {
    "speech-dispatcher"
};

/// Returns the name of this machine without its domain; empty if the system states none.
pub fn machine_name() -> String {
    #[cfg(unix)]
    let whole = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    #[cfg(windows)]
    let whole = std::env::var("COMPUTERNAME").unwrap_or_default();
    whole.split('.').next().unwrap_or_default().to_owned()
}

/// Replaces a file with a text, completely and for its owner alone: the text is first written to a file beside it, so
/// that a crash never leaves half a file.
///
/// # Errors
/// The system's error; the file is then unchanged.
pub fn put_for_owner(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension(format!("new-{}", std::process::id()));
    // A file that a crash left there could be open to others.
    let _ = std::fs::remove_file(&beside);
    let outcome = files::create_for_owner(&beside)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&beside, path));
    if outcome.is_err() {
        // An unfinished file must not stay behind; the first error is the one to report.
        let _ = std::fs::remove_file(&beside);
    }
    outcome
}
