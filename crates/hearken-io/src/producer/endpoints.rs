//! Where a producer can be reached: addresses for HTTP and WebSocket, Unix sockets, named pipes, a pair of pipes.
//!
//! Responsibilities: binding, removing what was bound, admitting only the same user on a Unix socket (B.4.5).
//! Not here: what is spoken there (`routes`, `duplex_subscription`), the life of connections (`producer_server`).

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll};

use tokio::net::{TcpListener, TcpStream};

use crate::platform::files::keep_for_owner;
use crate::platform::pipes;
use crate::platform::sockets::{self, UnixListener, UnixStream};

/// A place where a producer can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenAddress {
    /// A host and a port, for HTTP and WebSocket; port 0 means any free one.
    Address(String),
    /// The path of a Unix socket.
    Socket(PathBuf),
    /// The full name of a named pipe.
    Pipe(String),
    /// The program's own standard input and output; the server stops with the input.
    Pipes,
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(f, "http://{address}"),
            Self::Socket(path) => write!(f, "unix:{}", path.display()),
            Self::Pipe(name) => write!(f, "pipe:{name}"),
            Self::Pipes => f.write_str("the standard input and output"),
        }
    }
}

/// A place with a listener.
pub(super) enum BoundListener {
    Tcp(TcpListener),
    Unix {
        listener: UnixListener,
        /// Held only to be dropped.
        _file: SocketFile,
    },
    Pipe(pipes::PipeListener),
}

/// Removes a socket's file with its listener.
pub(super) struct SocketFile {
    path: PathBuf,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // It may have been removed already.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// An accepted connection.
pub(super) enum AcceptedConnection {
    Tcp(TcpStream),
    Unix(UnixStream),
    Pipe(pipes::Pipe),
}

impl BoundListener {
    /// Opens a place; returns the place as resolved. Pipes have no door.
    ///
    /// # Errors
    /// When the address can't be resolved or bound, or the path is taken.
    pub(super) async fn open(place: &ListenAddress) -> io::Result<(Option<Self>, ListenAddress)> {
        match place {
            ListenAddress::Address(address) => {
                let listener = TcpListener::bind(address).await?;
                let bound = ListenAddress::Address(listener.local_addr()?.to_string());
                Ok((Some(Self::Tcp(listener)), bound))
            }
            ListenAddress::Socket(path) => {
                make_room(path).await?;
                let listener = UnixListener::bind(path)?;
                let _file = SocketFile { path: path.clone() };
                // Only its owner may connect (B.4.2); the caller's user is checked as well.
                keep_for_owner(path)?;
                Ok((Some(Self::Unix { listener, _file }), place.clone()))
            }
            ListenAddress::Pipe(name) => {
                // Only this person has access to it (B.3.2).
                Ok((
                    Some(Self::Pipe(pipes::PipeListener::open(name)?)),
                    place.clone(),
                ))
            }
            ListenAddress::Pipes => Ok((None, ListenAddress::Pipes)),
        }
    }

    /// Accepts the next caller at the door; one of another user is turned away without a word.
    pub(super) fn poll_accept(
        &self,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<AcceptedConnection>> {
        match self {
            Self::Tcp(listener) => listener
                .poll_accept(context)
                .map_ok(|(stream, _)| AcceptedConnection::Tcp(stream)),
            Self::Pipe(listener) => listener
                .poll_accept(context)
                .map_ok(AcceptedConnection::Pipe),
            Self::Unix { listener, .. } => loop {
                match listener.poll_accept(context) {
                    Poll::Ready(Ok((stream, _))) => {
                        if sockets::peer(&stream).is_ok_and(|peer| peer == sockets::user()) {
                            return Poll::Ready(Ok(AcceptedConnection::Unix(stream)));
                        }
                    }
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => return Poll::Pending,
                }
            },
        }
    }
}

/// Creates the folder of a socket, for this user alone, and removes a socket without a listener.
async fn make_room(path: &Path) -> io::Result<()> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        && !folder.exists()
    {
        std::fs::create_dir_all(folder)?;
        keep_for_owner(folder)?;
    }
    let left_over = UnixStream::connect(path)
        .await
        .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if left_over {
        std::fs::remove_file(path)?;
    }
    Ok(())
}
