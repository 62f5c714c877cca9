//! The scripted speech-dispatcher of the voice's own tests, for the whole program.
#![allow(dead_code, reason = "not every test that shares it uses all of it")]

use std::time::Duration;

#[path = "../../crates/hearken-io/src/voice/tests/fake_ssip.rs"]
mod fake_ssip;
#[path = "../../crates/hearken-io/src/voice/tests/folder.rs"]
mod folder;

pub use fake_ssip::{CommandAnswer, FakeSsip, LineKind, WordsFate};
pub use folder::Folder;

/// How long the server waits for what a test expects.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the address that leads the program to this server, away from the machine's other voices.
pub fn address(server: &FakeSsip) -> String {
    format!("unix_socket:{}", server.socket().display())
}
