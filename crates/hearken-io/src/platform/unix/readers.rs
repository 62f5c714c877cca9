//! Signs of screen readers that only the system itself can tell of.
//!
//! On macOS VoiceOver is one of its settings. On the others readers are programs and places in the file system, which is
//! looked at above (`voice::reader`).

use crate::platform::Mark;

/// The folder of processes, where the system shows them as one.
pub const PROCESSES: Option<&str> = if cfg!(target_os = "macos") {
    None
} else {
    Some("/proc")
};

/// Asks the system.
#[cfg(not(target_os = "macos"))]
pub fn marks() -> Vec<Mark> {
    Vec::new()
}

/// Asks the system; its own program for settings answers in a few hundredths of a second.
#[cfg(target_os = "macos")]
pub fn marks() -> Vec<Mark> {
    use std::process::{Command, Stdio};

    use crate::platform::Sign;
    let asked = Command::new("/usr/bin/defaults")
        .args(["read", "com.apple.universalaccess", "voiceOverOnOffKey"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let seen = asked.map(|told| told.stdout.starts_with(b"1"));
    vec![Mark {
        sign: Sign::VoiceOver,
        seen: seen.map_err(|error| error.kind()),
    }]
}
