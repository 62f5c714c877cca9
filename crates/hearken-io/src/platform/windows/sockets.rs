//! Sockets of this machine: there are none that could be reached here, so the types have no values.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Whether this system has them as it is reached here.
pub const THERE: bool = false;

fn none<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns a number that no user has: nobody here has one.
pub fn user() -> u32 {
    u32::MAX
}

/// Returns the number of the user who is at the other end.
///
/// # Errors
/// None: nobody can be there.
pub fn peer(stream: &UnixStream) -> io::Result<u32> {
    match stream.0 {}
}

/// Connects to nothing.
///
/// # Errors
/// Always.
pub fn connect_abstract(_name: &str) -> io::Result<BlockingStream> {
    none()
}

/// Has no values.
#[derive(Debug)]
pub enum UnixListener {}

impl UnixListener {
    /// Listens nowhere.
    ///
    /// # Errors
    /// Always.
    pub fn bind(_path: impl AsRef<Path>) -> io::Result<Self> {
        none()
    }

    /// Takes nobody.
    pub fn poll_accept(&self, _context: &mut Context<'_>) -> Poll<io::Result<(UnixStream, ())>> {
        match *self {}
    }
}

/// Has no values, which this room alone sees: what is written for systems that have some is code there as here.
#[derive(Debug)]
pub struct UnixStream(Infallible);

impl UnixStream {
    /// Connects to nothing.
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

/// Has no values, as its stream.
#[derive(Debug)]
pub struct OwnedReadHalf(Infallible);

/// Has no values, as its stream.
#[derive(Debug)]
pub struct OwnedWriteHalf(Infallible);

/// Has no values.
#[derive(Debug)]
pub enum BlockingListener {}

impl BlockingListener {
    /// Listens nowhere.
    ///
    /// # Errors
    /// Always.
    pub fn bind(_path: impl AsRef<Path>) -> io::Result<Self> {
        none()
    }

    /// Takes nobody.
    pub fn accept(&self) -> io::Result<(BlockingStream, ())> {
        match *self {}
    }
}

/// Has no values.
#[derive(Debug)]
pub enum BlockingStream {}

impl BlockingStream {
    /// Connects to nothing.
    ///
    /// # Errors
    /// Always.
    pub fn connect(_path: impl AsRef<Path>) -> io::Result<Self> {
        none()
    }

    /// Returns the same stream once more.
    pub fn try_clone(&self) -> io::Result<Self> {
        match *self {}
    }

    /// Bounds a read.
    pub fn set_read_timeout(&self, _limit: Option<Duration>) -> io::Result<()> {
        match *self {}
    }

    /// Bounds a write.
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
