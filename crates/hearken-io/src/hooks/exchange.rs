//! One exchange with the listening hearken: a message, and its answer, over HTTP on loopback.
//!
//! Responsibilities: sending the message, collecting the answer within its bound. Not here: how long to wait for it
//! (`relay`, `mcp`), what either means.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use super::hook_endpoint::HookAddress;

/// The largest answer, in bytes.
const MOST_ANSWER: usize = 1024 * 1024;

/// An exchange under way.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The connection.
    pub stream: TcpStream,
    bytes: Vec<u8>,
}

/// A step of reading an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadStep {
    /// Something arrived, and more may follow.
    More,
    /// Nothing arrived in time.
    Nothing,
    /// The connection is over, or the answer exceeds its bound.
    Over,
}

/// A parsed HTTP answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedAnswer {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
}

impl Exchange {
    /// Sends a message; `None` if nobody takes the connection. Each step of it takes at most `limit`.
    pub fn open(knock: &HookAddress, to: &str, message: &[u8], limit: Duration) -> Option<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, knock.port));
        let mut stream = TcpStream::connect_timeout(&address, limit).ok()?;
        stream.set_write_timeout(Some(limit)).ok()?;
        stream.set_read_timeout(Some(limit)).ok()?;
        let head = format!(
            "POST /{}/{to} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            knock.secret,
            knock.port,
            message.len()
        );
        // A server that reads too little of it may already have sent the reason.
        let _ = stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(message));
        Some(Self {
            stream,
            bytes: Vec::new(),
        })
    }

    /// Reads what has arrived.
    pub fn read(&mut self) -> ReadStep {
        let mut piece = [0; 16 * 1024];
        match self.stream.read(&mut piece) {
            Ok(0) => ReadStep::Over,
            Ok(count) => {
                let piece = piece.get(..count).unwrap_or_default();
                self.bytes.extend_from_slice(piece);
                match self.bytes.len() > MOST_ANSWER {
                    true => ReadStep::Over,
                    false => ReadStep::More,
                }
            }
            Err(error) => match error.kind() {
                ErrorKind::Interrupted => ReadStep::More,
                ErrorKind::WouldBlock | ErrorKind::TimedOut => ReadStep::Nothing,
                _ => ReadStep::Over,
            },
        }
    }

    /// Returns the answer, if it is complete.
    pub fn answer(&self) -> Option<ParsedAnswer> {
        let bytes = self.bytes.as_slice();
        let at = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = std::str::from_utf8(bytes.get(..at)?).ok()?;
        let body = bytes.get(at + 4..)?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse().ok())?
        });
        let length: usize = length?;
        // An answer that broke off is invalid.
        (body.len() == length).then(|| ParsedAnswer {
            status,
            body: body.to_vec(),
        })
    }
}
