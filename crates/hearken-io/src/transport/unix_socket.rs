//! Agents on this machine behind a Unix socket (AAEP B.4).
//!
//! Responsibilities: where the protocol's sockets are, who may own them, messages in either framing. Not here: telling
//! the framings apart (`framing`), reconnecting (`duplex`).
//!
//! The peer must be this user or root: any user can put a socket into a world-writable folder. The framing that the
//! other side reads is known once it has sent something. Until then it gets the protocol's recommendation; if it hangs
//! up, the other framing is tried at once, as part of the same attempt: nothing was lost. If it stays silent, that is
//! reported and then the other framing is tried. A peer that is silent on both is left alone after that: it may simply
//! have nothing to say yet.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::sleep;

use super::duplex::{Delivered, Dial, Inward, Outward};
use super::framing::{Framer, Framing, StreamElement};
use super::outside_text::clean;
use super::write::write_whole;
use crate::link::{Cause, DeliveryFailure, Fault};
use crate::platform::sockets::{self, OwnedReadHalf, OwnedWriteHalf, UnixStream};

/// The longest id of an agent in a file name, in bytes: within the limits of file systems, with `.sock`.
const ID_BYTES: usize = 200;

/// The longest name of a socket in a fault, in characters.
const NAME_CHARACTERS: usize = 120;

/// How many agents a fault names, and how many sockets of a folder are examined for that.
const NAMED: usize = 12;

/// How long a peer that got its first message in the recommended framing may stay silent before the
/// other framing is tried: a subscription is answered immediately.
const FIRST_ANSWER: Duration = Duration::from_secs(5);

/// A socket, named by its path or by the agent behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Socket {
    /// A path.
    Path(PathBuf),
    /// An agent's id and the folders that may contain its socket, best first.
    Agent {
        /// The id.
        id: String,
        /// The folders.
        folders: Vec<PathBuf>,
    },
    /// The path of the socket that a program makes when it starts.
    Program {
        /// The program, as it is typed.
        program: &'static str,
        /// The path.
        path: PathBuf,
    },
}

impl Socket {
    /// Parses the text after `unix:`; a word without a slash is an agent's id.
    ///
    /// Returns `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.contains('/') {
            return Some(Self::Path(PathBuf::from(text)));
        }
        is_id(text).then(|| Self::Agent {
            id: text.to_owned(),
            folders: folders(),
        })
    }

    /// Returns the socket's path.
    fn find(&self) -> Result<PathBuf, Fault> {
        let (id, folders) = match self {
            Self::Path(path) | Self::Program { path, .. } => return Ok(path.clone()),
            Self::Agent { id, folders } => (id, folders),
        };
        let found = folders
            .iter()
            .map(|folder| folder.join(format!("{id}.sock")))
            .find(|path| path.exists());
        found.ok_or_else(|| {
            let there = agents(folders);
            let (id, there) = (id.clone(), there.join(", "));
            // The agent may start any moment, so this is no reason to give up.
            Fault::Other(match there.is_empty() {
                true => Cause::NoAgents { id },
                false => Cause::OtherAgents { id, there },
            })
        })
    }
}

impl Socket {
    /// Connects to the socket, if its owner is the user `own` or the system.
    pub(super) async fn connect(&self, own: u32) -> Result<UnixStream, Fault> {
        let path = self.find()?;
        let stream = UnixStream::connect(&path)
            .await
            .map_err(|error| self.fault(&error, &path))?;
        let user = sockets::peer(&stream).map_err(|_| Fault::Unusable(Cause::SocketOfNobody))?;
        if !is_trusted(user, own) {
            return Err(Fault::Unusable(Cause::SocketOfAnother { user }));
        }
        Ok(stream)
    }

    fn fault(&self, error: &io::Error, path: &Path) -> Fault {
        match (self, error.kind()) {
            // Without its program there is no socket, or a stale one.
            (
                Self::Program { program, .. },
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused,
            ) => Fault::Other(Cause::NoProgramAtSocket {
                program: (*program).to_owned(),
                name: clean(&path.to_string_lossy(), NAME_CHARACTERS),
            }),
            (Self::Path(_) | Self::Agent { .. } | Self::Program { .. }, _) => fault(error, path),
        }
    }
}

/// Returns whether a text can be an agent's id as part of a system name.
pub(super) fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= ID_BYTES
        && !text.starts_with('.')
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '@'))
}

impl fmt::Display for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => f.write_str(&clean(&path.to_string_lossy(), NAME_CHARACTERS)),
            Self::Program { program, .. } => f.write_str(program),
            Self::Agent { id, .. } => f.write_str(id),
        }
    }
}

/// Returns the folders of the protocol's sockets, best first (B.4.1).
pub fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    if let Some(runtime) = absolute("XDG_RUNTIME_DIR") {
        folders.push(runtime.join("aaep"));
    }
    if cfg!(target_os = "macos")
        && let Some(home) = absolute("HOME")
    {
        folders.push(home.join("Library/Application Support/AAEP"));
    }
    let user = sockets::user();
    folders.push(std::env::temp_dir().join(format!("aaep-{user}")));
    folders
}

/// Returns the names of the agents that have a socket in one of the folders, sorted; of very many only the first.
pub fn agents(folders: &[PathBuf]) -> Vec<String> {
    let mut found: Vec<String> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flat_map(|entries| entries.filter_map(Result::ok).take(NAMED))
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some(OsStr::new("sock")))
        .filter_map(|path| Some(clean(&path.file_stem()?.to_string_lossy(), NAME_CHARACTERS)))
        .collect();
    found.sort();
    found.dedup();
    found.truncate(NAMED);
    found
}

/// The way to connect to a socket.
#[derive(Debug)]
pub(super) struct UnixDial {
    socket: Socket,
    limit: usize,
    /// The number of the user that this program runs as.
    own: u32,
    /// How long a first message waits for any answer.
    patience: Duration,
    /// The framing of the first message, while the other side has sent nothing.
    first: Framing,
    /// How many connections in a row got a message and never answered.
    unanswered: u32,
    /// The state of the conversation on the last connection.
    talk: watch::Sender<PeerFraming>,
}

/// The number of framings to try.
const FRAMINGS: u32 = 2;

impl UnixDial {
    /// Creates the dialer; `limit` is the largest message, in bytes.
    pub(super) fn new(socket: Socket, limit: usize) -> Self {
        Self {
            socket,
            limit,
            own: sockets::user(),
            patience: FIRST_ANSWER,
            first: Framing::Lengths,
            unanswered: 0,
            talk: watch::Sender::new(PeerFraming::Silent),
        }
    }
}

/// What is currently known about the other side's framing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PeerFraming {
    /// Neither side has sent anything.
    Silent,
    /// This side has sent something, and the other has not answered.
    Asked,
    /// The other side has sent something.
    Known(Framing),
}

/// Returns whether a peer may be trusted: this user's programs and the system's own.
fn is_trusted(peer: u32, own: u32) -> bool {
    peer == own || peer == 0
}

impl Dial for UnixDial {
    type Inward = SocketReader<OwnedReadHalf>;
    type Outward = SocketWriter<OwnedWriteHalf>;

    async fn dial(&mut self) -> Result<(Self::Inward, Self::Outward), Fault> {
        let stream = self.socket.connect(self.own).await?;
        let (reading, writing) = stream.into_split();
        self.talk = watch::Sender::new(PeerFraming::Silent);
        Ok((
            SocketReader {
                reading,
                framer: Framer::either(self.limit),
                limit: self.limit,
                patience: (self.unanswered < FRAMINGS).then_some(self.patience),
                talk: self.talk.clone(),
                seen: self.talk.subscribe(),
            },
            SocketWriter {
                writing,
                first: self.first,
                talk: self.talk.clone(),
            },
        ))
    }

    fn note_end(&mut self) {
        // It was sent a message and never replied: perhaps it did not understand.
        let talk = *self.talk.borrow();
        match talk {
            PeerFraming::Asked => {
                self.first = self.first.other();
                self.unanswered = self.unanswered.saturating_add(1);
            }
            PeerFraming::Known(framing) => {
                self.first = framing;
                self.unanswered = 0;
            }
            PeerFraming::Silent => self.unanswered = 0,
        }
    }

    fn speaks_otherwise(&self) -> bool {
        // The other framing has not been tried yet, and the other side has answered nothing that could be lost.
        self.unanswered == 1
    }
}

fn fault(error: &io::Error, path: &Path) -> Fault {
    let name = clean(&path.to_string_lossy(), NAME_CHARACTERS);
    match error.kind() {
        io::ErrorKind::NotFound => Fault::Other(Cause::NoSocket { name }),
        io::ErrorKind::PermissionDenied => Fault::Unusable(Cause::SocketForbidden { name }),
        io::ErrorKind::ConnectionRefused => Fault::Refused,
        io::ErrorKind::InvalidInput => Fault::Unusable(Cause::SocketPath),
        _ if path.exists() => Fault::Unusable(Cause::SocketUnusable { name }),
        why => Fault::Other(Cause::SocketUnreachable { name, why }),
    }
}

/// The reading half of a socket.
#[derive(Debug)]
pub(super) struct SocketReader<Reading> {
    reading: Reading,
    framer: Framer,
    limit: usize,
    /// How long a first message waits for any answer; `None` for unlimited.
    patience: Option<Duration>,
    talk: watch::Sender<PeerFraming>,
    seen: watch::Receiver<PeerFraming>,
}

impl<Reading: AsyncRead + Unpin + Send + 'static> Inward for SocketReader<Reading> {
    async fn next(&mut self) -> Delivered {
        loop {
            let piece = self.framer.piece();
            // An answer that has only begun is an answer.
            if let Some(framing) = self.framer.framing() {
                let known = PeerFraming::Known(framing);
                self.talk.send_if_modified(|talk| {
                    let changes = *talk != known;
                    *talk = known;
                    changes
                });
            }
            if let Some(piece) = piece {
                return match piece {
                    StreamElement::Message(text) => Delivered::Frame(text),
                    StreamElement::TooLarge => {
                        Delivered::Dropped(Fault::TooLarge { limit: self.limit })
                    }
                    StreamElement::Neither => {
                        Delivered::End(Err(Fault::Unusable(Cause::NeitherFraming)))
                    }
                    // A new connection starts at a message again.
                    StreamElement::OutOfStep => Delivered::End(Err(Fault::Other(Cause::OutOfStep))),
                };
            }
            // A read can be cancelled between two bytes.
            let read = tokio::select! {
                read = self.reading.read_buf(self.framer.room()) => read,
                () = unanswered(&mut self.seen, self.patience) => {
                    return Delivered::End(Err(Fault::TimedOut));
                }
            };
            match read {
                Ok(0) | Err(_) => return Delivered::End(Err(Fault::Closed)),
                Ok(_) => {}
            }
        }
    }
}

/// Returns both halves of a connection whose framing is known, or is detected from its first bytes.
pub(super) fn halves<Reading, Writing>(
    (reading, writing): (Reading, Writing),
    framer: Framer,
    first: Framing,
    limit: usize,
) -> (SocketReader<Reading>, SocketWriter<Writing>) {
    let talk = watch::Sender::new(PeerFraming::Silent);
    let incoming = SocketReader {
        reading,
        framer,
        limit,
        patience: None,
        talk: talk.clone(),
        seen: talk.subscribe(),
    };
    let outgoing = SocketWriter {
        writing,
        first,
        talk,
    };
    (incoming, outgoing)
}

/// Waits until a first message has gone unanswered for `patience`; waits forever if it is answered or has no limit.
async fn unanswered(seen: &mut watch::Receiver<PeerFraming>, patience: Option<Duration>) {
    let Some(patience) = patience else {
        return std::future::pending().await;
    };
    // The sender lives in the same half, so this waits and does not fail.
    let _ = seen.wait_for(|talk| *talk != PeerFraming::Silent).await;
    let asked = *seen.borrow() == PeerFraming::Asked;
    if asked {
        sleep(patience).await;
    } else {
        std::future::pending().await
    }
}

/// The writing half of a socket.
#[derive(Debug)]
pub(super) struct SocketWriter<Writing> {
    writing: Writing,
    first: Framing,
    talk: watch::Sender<PeerFraming>,
}

impl<Writing: AsyncWrite + Unpin + Send + 'static> Outward for SocketWriter<Writing> {
    async fn send(&mut self, message: String) -> Result<(), DeliveryFailure> {
        let talk = *self.talk.borrow();
        let framing = match talk {
            PeerFraming::Known(framing) => framing,
            PeerFraming::Silent | PeerFraming::Asked => {
                self.talk.send_replace(PeerFraming::Asked);
                self.first
            }
        };
        write_whole(&mut self.writing, &framing.wrap(&message)).await
    }

    async fn leave(&mut self) {
        // The other side may already be gone.
        let _ = self.writing.shutdown().await;
    }
}

#[cfg(test)]
#[cfg(unix)]
#[path = "tests/unix_socket.rs"]
mod tests;
