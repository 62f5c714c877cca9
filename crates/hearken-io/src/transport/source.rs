//! The meaning of a SOURCE on the command line.
//!
//! Responsibilities: telling addresses, files and standard input apart, the name of each. Not here:
//! which addresses are refused (`network_address`), opening (`link_opening`).

use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use reqwest::Url;

use super::local_websocket::LocalWebSocket;
use super::network_address::{NAME_CHARACTERS, NetworkAddress, SourceError, shown};
use super::outside_text::clean;
use super::pipe::PipeName;
use super::program;
use super::request_listener::Listening;
use super::unix_socket::Socket;
use crate::broker::BrokerAddress;
use crate::config::LinkConfig;
use crate::platform::files::is_socket;
use crate::platform::{pipes, sockets};

/// A source of frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A server that speaks HTTP.
    Http(NetworkAddress),
    /// A server with a WebSocket.
    WebSocket(NetworkAddress),
    /// An agent on this machine, behind a Unix socket.
    Unix(Socket),
    /// An agent on this machine, with a WebSocket behind a Unix socket.
    LocalWebSocket(LocalWebSocket),
    /// An agent on this machine, behind a named pipe.
    Pipe(PipeName),
    /// A program to start, with its arguments, that speaks over its standard input and output.
    Program(Vec<OsString>),
    /// A capture: a file with one message per line.
    File(PathBuf),
    /// Standard input, one message per line.
    Stdin,
    /// Requests from programs on this machine.
    Requests(Listening),
    /// A space on a NATS server, or the agents there.
    Nats(BrokerAddress),
}

impl Source {
    /// Parses a SOURCE from the command line.
    ///
    /// A word that ends in `.jsonl` is a file whether it exists or not; any other word is a file only if it exists.
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn parse(text: &str, config: &LinkConfig) -> Result<Self, SourceError> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        match scheme(text).as_deref() {
            Some("http" | "https") => {
                return NetworkAddress::parse(text, config.allow_plain_http).map(Self::Http);
            }
            Some("ws" | "wss") => {
                return NetworkAddress::parse(text, config.allow_plain_http).map(Self::WebSocket);
            }
            Some("nats" | "tls" | "agents+nats" | "agents+tls") if text.contains("://") => {
                return BrokerAddress::parse_source(text, config.allow_plain_http).map(Self::Nats);
            }
            Some("unix") if !sockets::THERE => return Err(SourceError::NoSockets),
            Some("unix") => {
                let (_, socket) = text.split_once(':').ok_or(SourceError::BadSocket)?;
                let socket = Socket::parse(socket).ok_or(SourceError::BadSocket)?;
                return Ok(Self::Unix(socket));
            }
            Some("pipe") if !pipes::THERE => return Err(SourceError::NoPipes),
            Some("pipe") => {
                let name = text
                    .split_once(':')
                    .and_then(|(_, name)| PipeName::parse(name));
                return name.map(Self::Pipe).ok_or(SourceError::BadPipe);
            }
            Some(other) if text.contains("://") => {
                return Err(SourceError::UnknownScheme {
                    scheme: other.to_owned(),
                });
            }
            Some(_) | None => {}
        }
        let path = Path::new(text);
        let named_as_capture = path.extension().is_some_and(|e| e == "jsonl");
        let name = clean(text, NAME_CHARACTERS);
        match path.metadata() {
            Ok(about) if is_socket(&about) => Err(SourceError::IsSocket { name }),
            Ok(_) => Ok(Self::File(path.to_owned())),
            Err(_) if named_as_capture => Ok(Self::File(path.to_owned())),
            Err(_) => Err(match without_kind(text) {
                Some(kind) => SourceError::NoKind {
                    address: format!("{kind}://{name}"),
                    name,
                },
                None => SourceError::NoSuchFile { name },
            }),
        }
    }

    /// Returns whether a SOURCE is read over a connection, so that it exists only while it is followed,
    /// and answers can be sent to it.
    pub fn is_live(&self) -> bool {
        !matches!(self, Self::File(_) | Self::Stdin)
    }

    /// Returns a short name that is safe on a screen: no query, no credential, no control character.
    pub fn name(&self) -> String {
        match self {
            Self::Http(address) | Self::WebSocket(address) => shown(address.url()),
            Self::Unix(socket) => socket.to_string(),
            Self::LocalWebSocket(address) => address.to_string(),
            Self::Pipe(name) => name.to_string(),
            Self::Program(command) => program::name(command),
            Self::File(path) => clean(&path.to_string_lossy(), NAME_CHARACTERS),
            Self::Stdin => "standard input".to_owned(),
            Self::Requests(_) => "requests".to_owned(),
            Self::Nats(address) => address.to_string(),
        }
    }

    /// Returns the address of a server on the network.
    fn url(&self) -> Option<&Url> {
        match self {
            Self::Http(address) | Self::WebSocket(address) => Some(address.url()),
            Self::Unix(_)
            | Self::LocalWebSocket(_)
            | Self::Pipe(_)
            | Self::Program(_)
            | Self::File(_)
            | Self::Stdin
            | Self::Nats(_)
            | Self::Requests(_) => None,
        }
    }

    /// Returns the name of a source whose frames are at a path of its server other than the one that the person gave.
    pub fn name_at(&self, path: &str) -> String {
        let Some(url) = self.url() else {
            return self.name();
        };
        let mut url = url.clone();
        url.set_path(path);
        shown(&url)
    }

    /// Returns the path of the address that the person gave, and whether a query follows it; `None` for anything but a
    /// server on the network.
    pub fn path(&self) -> Option<(&str, bool)> {
        let url = self.url()?;
        Some((url.path(), url.query().is_some()))
    }

    /// Returns the scheme, host and port of a server on the network, as one text.
    pub fn origin(&self) -> Option<String> {
        Some(self.url()?.origin().ascii_serialization())
    }

    /// Returns the part after the `#` of the address that the person gave: it is never sent, and selects a part of what
    /// is there.
    pub fn fragment(&self) -> Option<&str> {
        match self {
            Self::Http(NetworkAddress(_, part)) | Self::WebSocket(NetworkAddress(_, part)) => {
                part.as_deref()
            }
            Self::LocalWebSocket(LocalWebSocket(_, part)) => part.as_deref(),
            Self::Unix(_)
            | Self::Pipe(_)
            | Self::Program(_)
            | Self::File(_)
            | Self::Stdin
            | Self::Nats(_)
            | Self::Requests(_) => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// Returns the scheme that was left out, if the text looks like an address: a host with a port or a path, `localhost`,
/// or an IP address. Text that contains a credential never matches.
fn without_kind(text: &str) -> Option<&'static str> {
    let (host, rest) = match text.find('/') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let (name, port) = match host.strip_prefix('[').and_then(|it| it.split_once(']')) {
        Some((name, after)) => (name, after.strip_prefix(':')),
        None => match host.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (host, None),
        },
    };
    let number = name.parse::<IpAddr>();
    let is_host = number.is_ok()
        || (name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')));
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    let here = name == "localhost" || number.as_ref().is_ok_and(IpAddr::is_loopback);
    let far = name.contains('.') && !rest.is_empty();
    let fits = is_host && port.is_none_or(is_port);
    (fits && (port.is_some() || here || number.is_ok() || far)).then_some(if here {
        "http"
    } else {
        "https"
    })
}

/// Returns the text before the first colon, if it can be a scheme; a single letter is a Windows drive.
fn scheme(text: &str) -> Option<String> {
    let (scheme, _) = text.split_once(':')?;
    let fits = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    fits.then(|| scheme.to_ascii_lowercase())
}

#[cfg(test)]
#[path = "tests/source.rs"]
mod tests;
