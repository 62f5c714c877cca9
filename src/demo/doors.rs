//! Where the demo can be reached: addresses for HTTP and WebSocket, Unix sockets, named pipes, a pair of pipes.
//!
//! Responsibilities: binding, taking away what was bound, letting in only the same user on a Unix
//! socket (B.4.5). Not here: what is spoken there (`plain`, `dialogue`), the life of connections
//! (`server`).

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll};

use tokio::net::{TcpListener, TcpStream};

use crate::platform::files::keep_for_owner;
use crate::platform::pipes;
use crate::platform::sockets::{self, UnixListener, UnixStream};

/// Names a place where the demo can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entrance {
    /// A host and a port, for HTTP and WebSocket; port 0 takes any free one.
    Address(String),
    /// A Unix socket's path.
    Socket(PathBuf),
    /// The whole name of a named pipe.
    Pipe(String),
    /// The program's own standard input and output; the server stops with the input.
    Pipes,
}

impl fmt::Display for Entrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(f, "http://{address}"),
            Self::Socket(path) => write!(f, "unix:{}", path.display()),
            Self::Pipe(name) => write!(f, "pipe:{name}"),
            Self::Pipes => f.write_str("the standard input and output"),
        }
    }
}

/// A place that is listened at.
pub(super) enum Door {
    Tcp(TcpListener),
    Unix {
        listener: UnixListener,
        /// Held only to be dropped.
        _file: SocketFile,
    },
    Pipe(pipes::Listener),
}

/// Removes a socket's file with its listener.
pub(super) struct SocketFile {
    path: PathBuf,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody may have tidied it away already.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Somebody who came in.
pub(super) enum Caller {
    Tcp(TcpStream),
    Unix(UnixStream),
    Pipe(pipes::Pipe),
}

impl Door {
    /// Opens a place; gives it as it turned out to be. Pipes have no door.
    ///
    /// # Errors
    /// The address can't be resolved or bound, or the path is taken.
    pub(super) async fn open(place: &Entrance) -> io::Result<(Option<Self>, Entrance)> {
        match place {
            Entrance::Address(address) => {
                let listener = TcpListener::bind(address).await?;
                let bound = Entrance::Address(listener.local_addr()?.to_string());
                Ok((Some(Self::Tcp(listener)), bound))
            }
            Entrance::Socket(path) => {
                make_room(path).await?;
                let listener = UnixListener::bind(path)?;
                let _file = SocketFile { path: path.clone() };
                // Only its owner may connect (B.4.2); who comes is looked at besides.
                keep_for_owner(path)?;
                Ok((Some(Self::Unix { listener, _file }), place.clone()))
            }
            Entrance::Pipe(name) => {
                // Its rights are this person's alone (B.3.2).
                Ok((
                    Some(Self::Pipe(pipes::Listener::open(name)?)),
                    place.clone(),
                ))
            }
            Entrance::Pipes => Ok((None, Entrance::Pipes)),
        }
    }

    /// Takes the next caller; one of another user is turned away without a word.
    pub(super) fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<Caller>> {
        match self {
            Self::Tcp(listener) => listener
                .poll_accept(context)
                .map_ok(|(stream, _)| Caller::Tcp(stream)),
            Self::Pipe(listener) => listener.poll_accept(context).map_ok(Caller::Pipe),
            Self::Unix { listener, .. } => loop {
                match listener.poll_accept(context) {
                    Poll::Ready(Ok((stream, _))) => {
                        if sockets::peer(&stream).is_ok_and(|peer| peer == sockets::user()) {
                            return Poll::Ready(Ok(Caller::Unix(stream)));
                        }
                    }
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => return Poll::Pending,
                }
            },
        }
    }
}

/// Makes the folder of a socket, for this user alone, and takes a socket away that nobody listens at.
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
