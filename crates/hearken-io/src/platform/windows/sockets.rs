//! Local sockets: none can be reached here, so the types have no values.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Whether this system supports these sockets.
pub const THERE: bool = false;

fn none<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns a number that no user has: users have no numbers here.
pub fn user() -> u32 {
    u32::MAX
}

/// Never called: there is no stream.
///
/// # Errors
/// Never.
pub fn peer(stream: &UnixStream) -> io::Result<u32> {
    match stream.0 {}
}

/// Always fails.
///
/// # Errors
/// Always.
pub fn connect_abstract(_name: &str) -> io::Result<BlockingStream> {
    none()
}

/// A type without values.
#[derive(Debug)]
pub enum UnixListener {}

impl UnixListener {
    /// Always fails.
    ///
    /// # Errors
    /// Always.
    pub fn bind(_path: impl AsRef<Path>) -> io::Result<Self> {
        none()
    }

    /// Never called: the type has no values.
    pub fn poll_accept(&self, _context: &mut Context<'_>) -> Poll<io::Result<(UnixStream, ())>> {
        match *self {}
    }
}

/// A type without values, which only this module can see: code written for systems with sockets compiles here, too.
#[derive(Debug)]
pub struct UnixStream(Infallible);

impl UnixStream {
    /// Always fails.
    ///
    /// # Errors
    /// Always.
    pub async fn connect(_path: impl AsRef<Path>) -> io::Result<Self> {
        none()
    }

    /// Returns both halves.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        match self.0 {}
    }

    /// Waits until something can be read.
    pub async fn readable(&self) -> io::Result<()> {
        match self.0 {}
    }

    /// Waits until something can be written.
    pub async fn writable(&self) -> io::Result<()> {
        match self.0 {}
    }

    /// Reads what is there.
    pub fn try_read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    /// Writes what fits.
    pub fn try_write(&self, _buffer: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

/// A type without values, like its stream.
#[derive(Debug)]
pub struct OwnedReadHalf(Infallible);

/// A type without values, like its stream.
#[derive(Debug)]
pub struct OwnedWriteHalf(Infallible);

/// A type without values.
#[derive(Debug)]
pub enum BlockingListener {}

impl BlockingListener {
    /// Always fails.
    ///
    /// # Errors
    /// Always.
    pub fn bind(_path: impl AsRef<Path>) -> io::Result<Self> {
        none()
    }

    /// Never called: the type has no values.
    pub fn accept(&self) -> io::Result<(BlockingStream, ())> {
        match *self {}
    }
}

/// A type without values.
#[derive(Debug)]
pub enum BlockingStream {}

impl BlockingStream {
    /// Always fails.
    ///
    /// # Errors
    /// Always.
    pub fn connect(_path: impl AsRef<Path>) -> io::Result<Self> {
        none()
    }

    /// Returns a second handle to the same stream.
    pub fn try_clone(&self) -> io::Result<Self> {
        match *self {}
    }

    /// Limits how long a read may take.
    pub fn set_read_timeout(&self, _limit: Option<Duration>) -> io::Result<()> {
        match *self {}
    }

    /// Limits how long a write may take.
    pub fn set_write_timeout(&self, _limit: Option<Duration>) -> io::Result<()> {
        match *self {}
    }
}

impl Read for BlockingStream {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

impl Write for BlockingStream {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}

macro_rules! reads {
    ($name:ty) => {
        impl AsyncRead for $name {
            fn poll_read(
                self: Pin<&mut Self>,
                _: &mut Context<'_>,
                _: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                match self.0 {}
            }
        }
    };
}

macro_rules! writes {
    ($name:ty) => {
        impl AsyncWrite for $name {
            fn poll_write(
                self: Pin<&mut Self>,
                _: &mut Context<'_>,
                _: &[u8],
            ) -> Poll<io::Result<usize>> {
                match self.0 {}
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                match self.0 {}
            }

            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                match self.0 {}
            }
        }
    };
}

reads!(UnixStream);
writes!(UnixStream);
reads!(OwnedReadHalf);
writes!(OwnedWriteHalf);
