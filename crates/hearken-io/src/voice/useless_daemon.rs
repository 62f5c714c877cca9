//! A daemon that was started from here and is useless.
//!
//! Responsibilities: identifying its process beyond doubt, and ending it. Not here: starting it, judging it
//! (`speech_dispatcher`).
//!
//! A speech-dispatcher without a sound device does not end by itself as configured: 0.11 and 0.12 wait forever for one
//! of their own threads, behind a socket that is already gone. Each start of hearken would leave another one behind.

use std::path::Path;
use std::time::Duration;

use crate::platform::process_number::ProcessNumber;

/// Where the daemon records its process number, below the folder of its socket.
pub(super) const NOTE: &str = "pid/speech-dispatcher.pid";

/// The interval and number of checks whether it has ended, before it is killed.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: usize = 10;

/// Ends the daemon that was started for this socket: asks it, then kills it.
pub(super) async fn end(socket: &Path) {
    let note = socket.parent().map(|folder| folder.join(NOTE));
    let noted = note.and_then(|note| std::fs::read_to_string(note).ok());
    let number = noted.and_then(|text| text.trim().parse().ok());
    let Some(process) = number.and_then(ProcessNumber::new) else {
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

/// Returns whether a process was started as the daemon of this socket: the number may mean another process by now.
fn is_ours(process: ProcessNumber, socket: &Path) -> bool {
    let Some(call) = process.call() else {
        return false;
    };
    let mut words = call.iter();
    words.any(|word| word == b"--spawn")
        && words.any(|word| word == socket.as_os_str().as_encoded_bytes())
}
