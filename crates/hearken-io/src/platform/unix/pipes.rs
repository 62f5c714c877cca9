//! Named pipes: only Windows has them, so no program can be reached through one here.

use std::io;
use std::task::{Context, Poll};

use crate::platform::PipeConnection;

/// Whether this system has named pipes.
pub const THERE: bool = false;

/// A stand-in for the pipe type of systems that have pipes.
pub type Pipe = tokio::io::DuplexStream;

/// Always fails.
///
/// # Errors
/// Always.
pub async fn connect(_name: &str) -> io::Result<PipeConnection> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A type without values.
#[derive(Debug)]
pub enum PipeListener {}

impl PipeListener {
    /// Always fails.
    ///
    /// # Errors
    /// Always.
    pub fn open(_name: &str) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Never called: the type has no values.
    pub fn poll_accept(&self, _context: &mut Context<'_>) -> Poll<io::Result<Pipe>> {
        match *self {}
    }
}
