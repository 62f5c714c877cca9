//! The program in a pseudo-terminal, for the peers.

#[path = "../support/pty_terminal.rs"]
#[allow(dead_code, reason = "not every test that shares it uses all of it")]
pub mod pty_terminal;

use super::PATIENCE;

/// Returns the program.
fn program() -> std::ffi::OsString {
    std::env::var_os("HEARKEN_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_hearken").into())
}
