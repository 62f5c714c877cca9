//! The program in a pseudo-terminal, for the peers.

#[path = "../support/terminal.rs"]
#[allow(dead_code, reason = "not every test that shares it uses all of it")]
pub mod terminal;

use super::PATIENCE;

/// Returns the program.
fn program() -> std::ffi::OsString {
    std::env::var_os("HEARKEN_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_hearken").into())
}
