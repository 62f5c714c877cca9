//! Signs of screen readers that only the system itself can report.
//!
//! On macOS, VoiceOver is one of its settings. On other systems, readers are found as programs and by their places in
//! the file system, one layer up (`voice::screen_reader`).

use crate::platform::SignCheck;

/// The folder that shows processes, on systems that have one.
pub const PROCESSES: Option<&str> = if cfg!(target_os = "macos") {
    None
} else {
    Some("/proc")
};

/// Returns the signs that the system reports: none here.
#[cfg(not(target_os = "macos"))]
pub fn marks() -> Vec<SignCheck> {
    Vec::new()
}

/// Asks the system; its own settings program answers within a few hundredths of a second.
#[cfg(target_os = "macos")]
pub fn marks() -> Vec<SignCheck> {
    use std::process::{Command, Stdio};

    use crate::platform::ReaderSign;
    let asked = Command::new("/usr/bin/defaults")
        .args(["read", "com.apple.universalaccess", "voiceOverOnOffKey"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let seen = asked.map(|told| told.stdout.starts_with(b"1"));
    vec![SignCheck {
        sign: ReaderSign::VoiceOver,
        seen: seen.map_err(|error| error.kind()),
    }]
}
