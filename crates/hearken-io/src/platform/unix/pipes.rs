//! Named pipes: they are of Windows, so nobody can be reached by one.

use std::io;
use std::task::{Context, Poll};

use crate::platform::Piped;

/// Whether this system has them.
pub const THERE: bool = false;

/// A pipe on systems that have some.
pub type Pipe = tokio::io::DuplexStream;

/// Connects to nothing.
///
/// # Errors
/// Always.
pub async fn connect(_name: &str) -> io::Result<Piped> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Has no values.
#[derive(Debug)]
pub enum Listener {}

impl Listener {
    /// Listens nowhere.
    ///
    /// # Errors
    /// Always.
    pub fn open(_name: &str) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Takes nobody.
    pub fn poll_accept(&self, _context: &mut Context<'_>) -> Poll<io::Result<Pipe>> {
        match *self {}
    }
}
