//! Named pipes, and the user at the other end.

use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeClient, NamedPipeServer, PipeMode};

use super::native;
use crate::platform::PipeConnection;

/// Whether this system has named pipes.
pub const THERE: bool = true;

/// The system's code for a pipe whose listeners are all taken (`ERROR_PIPE_BUSY`), and how often and at what interval
/// to try again: the next listener opens within moments.
const BUSY: i32 = 231;
const TRIES: usize = 20;
const REST: Duration = Duration::from_millis(25);

/// One end of a pipe.
#[derive(Debug)]
pub enum Pipe {
    /// Our end connected.
    Client(NamedPipeClient),
    /// Our end listened.
    Server(NamedPipeServer),
}

/// Connects to a pipe by its full name.
///
/// # Errors
/// The system's error.
pub async fn connect(name: &str) -> io::Result<PipeConnection> {
    let mut tries = TRIES;
    let pipe = loop {
        match ClientOptions::new().open(name) {
            Err(error) if error.raw_os_error() == Some(BUSY) && tries > 0 => {
                tries -= 1;
                tokio::time::sleep(REST).await;
            }
            opened => break opened?,
        }
    };
    Ok(PipeConnection {
        // Its messages are read as bytes: a document shows by itself where it ends.
        of_messages: matches!(pipe.info()?.mode, PipeMode::Message),
        owner: native::server_of(pipe.as_raw_handle())?,
        pipe: Pipe::Client(pipe),
    })
}

type Coming = Pin<Box<dyn Future<Output = io::Result<NamedPipeServer>> + Send>>;

/// A listener at a pipe.
pub struct PipeListener {
    name: String,
    next: Mutex<Coming>,
}

impl PipeListener {
    /// Listens at a pipe that has no listener yet, for this person's programs alone.
    ///
    /// # Errors
    /// The system's error; `PermissionDenied` if another program listens there.
    pub fn open(name: &str) -> io::Result<Self> {
        Ok(Self {
            next: Mutex::new(coming(native::pipe_for_owner(name, true)?)),
            name: name.to_owned(),
        })
    }

    /// Accepts the next client.
    pub fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<Pipe>> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let came = std::task::ready!(next.as_mut().poll(context));
        *next = coming(native::pipe_for_owner(&self.name, false)?);
        Poll::Ready(came.map(Pipe::Server))
    }
}

fn coming(server: NamedPipeServer) -> Coming {
    Box::pin(async move {
        server.connect().await?;
        Ok(server)
    })
}

impl AsyncRead for Pipe {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Client(pipe) => Pin::new(pipe).poll_read(context, buffer),
            Self::Server(pipe) => Pin::new(pipe).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Client(pipe) => Pin::new(pipe).poll_write(context, bytes),
            Self::Server(pipe) => Pin::new(pipe).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Client(pipe) => Pin::new(pipe).poll_flush(context),
            Self::Server(pipe) => Pin::new(pipe).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Client(pipe) => Pin::new(pipe).poll_shutdown(context),
            Self::Server(pipe) => Pin::new(pipe).poll_shutdown(context),
        }
    }
}
