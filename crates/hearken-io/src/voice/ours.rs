//! A daemon that was started from here and is of no use to anybody.
//!
//! Responsibilities: finding its process without a doubt, and ending it. Not here: starting it, judging it
//! (`speech_dispatcher`).
//!
//! A speech-dispatcher without a sound device does not end by itself as it was told to: 0.11 and 0.12 wait for a
//! thread of theirs for ever, behind a socket that is gone already. Each start of hearken would leave one more.

use std::path::Path;
use std::time::Duration;

use crate::platform::numbered::Numbered;

/// Where the daemon notes its process, below the folder of its socket.
pub(super) const NOTE: &str = "pid/speech-dispatcher.pid";

/// How often it is looked whether it has ended, and how many times, before it is made to.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: usize = 10;

/// Ends the daemon that was started for this socket: it is asked, and then made to.
pub(super) async fn end(socket: &Path) {
    let note = socket.parent().map(|folder| folder.join(NOTE));
    let noted = note.and_then(|note| std::fs::read_to_string(note).ok());
    let number = noted.and_then(|text| text.trim().parse().ok());
    let Some(process) = number.and_then(Numbered::new) else {
        return;
    };
    if !is_ours(process, socket) {
        return;
    }
    process.ask_to_end();
    for _ in 0..LOOKS {
        tokio::time::sleep(LOOK).await;
        if !is_ours(process, socket) {
            return;
        }
    }
    process.kill();
}

/// Returns whether a process was called to be the daemon of this socket: a number may be somebody else's by now.
fn is_ours(process: Numbered, socket: &Path) -> bool {
    let Some(call) = process.call() else {
        return false;
    };
    let mut words = call.iter();
    words.any(|word| word == b"--spawn")
        && words.any(|word| word == socket.as_os_str().as_encoded_bytes())
}
