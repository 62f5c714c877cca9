//! Hooks as whole programs: a private folder for hearken's own files, and the relays that run beside it.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::PATIENCE;
use super::child::command;

/// The variable that names the folder of hearken's own files.
pub const STATE: &str = if cfg!(windows) {
    "LOCALAPPDATA"
} else {
    "XDG_STATE_HOME"
};

/// A private folder where hearken keeps its own files.
pub struct HooksFolder(tempfile::TempDir);

impl HooksFolder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Starts a hook of a sender (an agent, and an event where its messages name none) with a message.
    pub fn relay(&self, sender: &[&str], message: &Value) -> Child {
        let mut child = command(&["hooks", "relay"])
            .args(sender)
            .env(STATE, self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A hook that ends before it has read everything has decided nothing.
        let _ = stdin.write_all(message.to_string().as_bytes());
        child
    }
}

/// Waits for the end of a hook, which must come soon.
pub fn ended(child: Child) -> Output {
    ended_within(child, PATIENCE)
}

/// Waits for the end of a hook, which must come within a time.
pub fn ended_within(mut child: Child, time: Duration) -> Output {
    let until = Instant::now() + time;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() >= until {
            child.kill().unwrap();
            panic!("a hook waits for nothing");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

/// Returns what a hook printed; it must not fail or write to standard error.
pub fn printed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}
