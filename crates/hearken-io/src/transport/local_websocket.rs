//! The address of a WebSocket behind a Unix socket.
//!
//! Responsibilities: the socket, and the part of what is there that the person named. Not here: which dialects have a
//! WebSocket there (`dialect`), connecting (`websocket`, `unix_socket`).

use std::fmt;
use std::path::PathBuf;

use super::unix_socket::Socket;

/// A WebSocket behind a Unix socket, and separately the part after the `#` of its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalWebSocket(pub(super) Socket, pub(super) Option<String>);

impl LocalWebSocket {
    /// Returns the WebSocket behind a socket that the person named. What follows the last `#` of a path names a part,
    /// unless there is a socket of that very name.
    pub fn at(socket: Socket) -> Self {
        let (Socket::Path(path) | Socket::Program { path, .. }) = &socket else {
            return Self(socket, None);
        };
        let text = path.to_string_lossy();
        match text.rsplit_once('#') {
            Some((before, part)) if !part.contains('/') && !path.exists() => Self(
                Socket::Path(PathBuf::from(before)),
                Some(part.to_owned()).filter(|part| !part.is_empty()),
            ),
            Some(_) | None => Self(socket, None),
        }
    }

    /// Returns the WebSocket behind the socket that a program makes when it starts; `part` names a part of what is
    /// there.
    pub fn of(program: &'static str, path: PathBuf, part: Option<&str>) -> Self {
        let part = part.filter(|part| !part.is_empty());
        Self(Socket::Program { program, path }, part.map(str::to_owned))
    }
}

impl fmt::Display for LocalWebSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_what_is_there_is_told_from_the_path() {
        for (given, path, part) in [
            ("/no/a.sock", "/no/a.sock", None),
            ("/no/a.sock#t-1", "/no/a.sock", Some("t-1")),
            ("/no/a.sock#", "/no/a.sock", None),
            ("/no/#a/b.sock", "/no/#a/b.sock", None),
            ("/no/#a/b.sock#t", "/no/#a/b.sock", Some("t")),
        ] {
            let LocalWebSocket(socket, named) = LocalWebSocket::at(Socket::Path(given.into()));
            assert_eq!(socket, Socket::Path(path.into()), "{given}");
            assert_eq!(named.as_deref(), part, "{given}");
        }
    }
}
