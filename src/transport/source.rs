//! What a SOURCE on the command line means.
//!
//! Responsibilities: telling addresses, files and standard input apart, refusing what is unsafe
//! before anything is opened, the two addresses of the plain pair. Not here: opening.

use std::ffi::OsString;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use reqwest::Url;

use super::clean::clean;
use super::program;
use super::unix::Socket;
use crate::config::LinkConfig;

/// The longest name of a source on a screen, in characters: a line, not a page.
const NAME_CHARACTERS: usize = 120;

/// Names something that frames can be read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A server that speaks HTTP.
    Http(HttpAddress),
    /// A server with a WebSocket.
    WebSocket(WebSocketAddress),
    /// An agent on this machine, behind a Unix socket.
    Unix(Socket),
    /// A program that is started, with its arguments, and speaks over its standard input and output.
    Program(Vec<OsString>),
    /// A capture: a file with one message a line.
    File(PathBuf),
    /// Standard input, one message a line.
    Stdin,
}

/// Says why a SOURCE can't be used; never shows a credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// A kind of address that is not known.
    #[error("{scheme} is no kind of source; use http, https, ws, wss, unix:, a FILE or -")]
    UnknownScheme {
        /// What stands before the colon, cleaned.
        scheme: String,
    },
    /// An address that can't be read.
    #[error("that is not a valid address; write it as http://HOST:PORT/PATH")]
    BadAddress,
    /// An address that holds a credential.
    #[error(
        "an address with a user name or a password is refused, because every program on this machine can read it; use --token-env or --token-file"
    )]
    Credential,
    /// A `unix:` without the path of a socket or the id of an agent.
    #[error("unix: wants the path of a socket or the id of an agent behind it")]
    BadSocket,
    /// Plain http to another machine.
    #[error(
        "plain http or ws to {host} is refused, because anybody on the way can read and change it; use https or wss, or --allow-plain-http"
    )]
    PlainHttp {
        /// The host.
        host: String,
    },
    /// A base address with a query.
    #[error("a base address takes no query; leave out what follows the question mark")]
    Query,
    /// Neither an address nor a file that is there.
    #[error(
        "there is no file called {name}; a source is http(s)://…, ws(s)://…, unix:…, a FILE, - for standard input, or -- and a program"
    )]
    NoSuchFile {
        /// What was written, cleaned.
        name: String,
    },
}

impl Source {
    /// Reads a SOURCE as it stands on the command line.
    ///
    /// A word that ends in `.jsonl` is a file whether it is there or not; any other word is a file
    /// only if it is there.
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn parse(text: &str, config: &LinkConfig) -> Result<Self, SourceError> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        match scheme(text).as_deref() {
            Some("http" | "https") => {
                return HttpAddress::parse(text, config.allow_plain_http).map(Self::Http);
            }
            Some("ws" | "wss") => {
                return WebSocketAddress::parse(text, config.allow_plain_http).map(Self::WebSocket);
            }
            Some("unix") => {
                let (_, socket) = text.split_once(':').ok_or(SourceError::BadSocket)?;
                let socket = Socket::parse(socket).ok_or(SourceError::BadSocket)?;
                return Ok(Self::Unix(socket));
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
        if named_as_capture || path.exists() {
            Ok(Self::File(path.to_owned()))
        } else {
            Err(SourceError::NoSuchFile {
                name: clean(text, NAME_CHARACTERS),
            })
        }
    }

    /// Gives a short name that is safe on a screen: no query, no credential, no control character.
    pub fn name(&self) -> String {
        match self {
            Self::Http(HttpAddress(url)) | Self::WebSocket(WebSocketAddress(url)) => shown(url),
            Self::Unix(socket) => socket.to_string(),
            Self::Program(command) => program::name(command),
            Self::File(path) => clean(&path.to_string_lossy(), NAME_CHARACTERS),
            Self::Stdin => "standard input".to_owned(),
        }
    }

    /// Gives the name of a source whose frames are at another path of its server than the person gave.
    pub fn name_at(&self, path: &str) -> String {
        match self {
            Self::Http(HttpAddress(url)) | Self::WebSocket(WebSocketAddress(url)) => {
                let mut url = url.clone();
                url.set_path(path);
                shown(&url)
            }
            Self::Unix(_) | Self::Program(_) | Self::File(_) | Self::Stdin => self.name(),
        }
    }

    /// Gives the path of the address that the person gave, and whether a query follows it; `None` for what is
    /// no server on the network.
    pub fn path(&self) -> Option<(&str, bool)> {
        match self {
            Self::Http(HttpAddress(url)) | Self::WebSocket(WebSocketAddress(url)) => {
                Some((url.path(), url.query().is_some()))
            }
            Self::Unix(_) | Self::Program(_) | Self::File(_) | Self::Stdin => None,
        }
    }

    /// Tells whether answers can go out to it.
    pub fn takes_answers(&self) -> bool {
        match self {
            Self::Http(_) | Self::WebSocket(_) | Self::Unix(_) | Self::Program(_) => true,
            Self::File(_) | Self::Stdin => false,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// Finds what stands before the first colon, if it can be a scheme; one letter is a Windows drive.
fn scheme(text: &str) -> Option<String> {
    let (scheme, _) = text.split_once(':')?;
    let fits = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    fits.then(|| scheme.to_ascii_lowercase())
}

/// Holds an address as the person gave it, without its fragment; its debug form leaves the query out.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpAddress(Url);

impl HttpAddress {
    fn parse(text: &str, allow_plain: bool) -> Result<Self, SourceError> {
        let mut url = Url::parse(text).map_err(|_| SourceError::BadAddress)?;
        check(&url, allow_plain)?;
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// Takes an address that was checked already.
    pub(super) fn at(url: Url) -> Self {
        Self(url)
    }

    /// Gives the address itself.
    pub(super) fn url(&self) -> &Url {
        &self.0
    }
}

impl fmt::Debug for HttpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HttpAddress").field(&shown(&self.0)).finish()
    }
}

/// Gives an address as it may be shown: without its query, which may hold what is nobody's business.
fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    clean(shown.as_str(), NAME_CHARACTERS)
}

/// Holds the address of a WebSocket; its debug form leaves the query out.
#[derive(Clone, PartialEq, Eq)]
pub struct WebSocketAddress(Url);

impl WebSocketAddress {
    fn parse(text: &str, allow_plain: bool) -> Result<Self, SourceError> {
        let mut url = Url::parse(text).map_err(|_| SourceError::BadAddress)?;
        check(&url, allow_plain)?;
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// Takes an address that was checked already.
    pub(super) fn at(url: Url) -> Self {
        Self(url)
    }

    /// Gives the address itself.
    pub(super) fn url(&self) -> &Url {
        &self.0
    }
}

impl fmt::Debug for WebSocketAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WebSocketAddress")
            .field(&shown(&self.0))
            .finish()
    }
}

/// Checks an address, given or redirected to: it has a host, no credential, and is safe on the way.
pub(super) fn check(url: &Url, allow_plain: bool) -> Result<(), SourceError> {
    let host = url.host_str().ok_or(SourceError::BadAddress)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(SourceError::Credential);
    }
    if matches!(url.scheme(), "http" | "ws") && !allow_plain && !is_loopback(url) {
        return Err(SourceError::PlainHttp {
            host: clean(host, NAME_CHARACTERS),
        });
    }
    Ok(())
}

/// Tells whether an address is on this machine by its name alone, without asking anybody.
pub(super) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    if host == "localhost" {
        return true;
    }
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return address.is_loopback();
    }
    host.strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .and_then(|inner| inner.parse::<Ipv6Addr>().ok())
        .is_some_and(|address| {
            address.is_loopback()
                || address
                    .to_ipv4_mapped()
                    .is_some_and(|mapped| mapped.is_loopback())
        })
}

#[cfg(test)]
#[path = "tests/source.rs"]
mod tests;
