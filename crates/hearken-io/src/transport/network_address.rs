//! Network addresses, as the person gave them.
//!
//! Responsibilities: which ones are refused before anything is opened, whether one is on this machine, how much of one
//! may be shown. Not here: what else a SOURCE may be (`source`), what the paths of a server serve (a dialect).

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use reqwest::Url;

use super::outside_text::clean;

/// The longest name of a source on a screen, in characters: a line, not a page.
pub(crate) const NAME_CHARACTERS: usize = 120;

/// Why a SOURCE can't be used; never shows a credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// An unknown kind of address.
    #[error("{scheme} is not a kind of source; use http, https, ws, wss, unix:, a FILE or -")]
    UnknownScheme {
        /// The text before the colon, cleaned.
        scheme: String,
    },
    /// An invalid address.
    #[error("that is not a valid address; write it as http://HOST:PORT/PATH")]
    BadAddress,
    /// An address that contains a credential.
    #[error(
        "an address with a user name or a password is refused, because every program on this machine can read it; use --token-env or --token-file"
    )]
    Credential,
    /// A `unix:` without the path of a socket or the id of an agent.
    #[error("unix: needs the path of a socket or the id of an agent after it")]
    BadSocket,
    /// A Unix socket on a system without them.
    #[error("this system has no Unix sockets that hearken can use; use http:// or a program")]
    NoSockets,
    /// A program that is followed by its Unix socket, on a system without them.
    #[error(
        "this system has no Unix sockets, the only way to follow {program} in its own terminal"
    )]
    NoProgramSockets {
        /// The program, as it is typed.
        program: &'static str,
    },
    /// A program whose folder is unknown, because the person has no home folder.
    #[error("the place of {program}'s socket is not known, because there is no home folder")]
    NoProgramFolder {
        /// The program, as it is typed.
        program: &'static str,
    },
    /// A `pipe:` without the id of an agent or the full name of a pipe.
    #[error("pipe: needs the id of an agent or the whole name of a pipe after it")]
    BadPipe,
    /// A named pipe on a system without them.
    #[error("this system has no named pipes; use unix: or a program")]
    NoPipes,
    /// Plain http to another machine.
    #[error(
        "plain http or ws to {host} is refused, because anybody on the way can read and change it; use https or wss, or --allow-plain-http"
    )]
    PlainHttp {
        /// The host.
        host: String,
    },
    /// An address of a NATS server that is not valid.
    #[error("that is not a valid address of a NATS server; write it as nats://HOST:PORT/SPACE")]
    BadBroker,
    /// A NATS server on another machine, without insisting on TLS.
    #[error(
        "nats to {host} is refused, because anybody on the way can read and change it; use tls://, or --allow-plain-http"
    )]
    PlainBroker {
        /// The host.
        host: String,
    },
    /// A base address with a query.
    #[error("a base address takes no query; leave out what follows the question mark")]
    Query,
    /// No such file, and written like an address without its scheme.
    #[error("there is no file called {name}; an address begins with its kind: {address}")]
    NoKind {
        /// The text as written, cleaned.
        name: String,
        /// The address that was probably meant.
        address: String,
    },
    /// A local socket, written like a file.
    #[error("{name} is a socket; write unix:{name}")]
    IsSocket {
        /// The text as written, cleaned.
        name: String,
    },
    /// No secret could be drawn, and without one anyone could connect.
    #[error("no random number could be drawn: {why}")]
    NoSecret {
        /// The reason.
        why: String,
    },
    /// Neither an address nor an existing file.
    #[error(
        "there is no file called {name}; a source is http(s)://…, ws(s)://…, unix:…, a FILE, - for standard input, or -- and a program"
    )]
    NoSuchFile {
        /// The text as written, cleaned.
        name: String,
    },
}

/// An address as the person gave it, and separately the part after its `#`; its debug form leaves the query out.
#[derive(Clone, PartialEq, Eq)]
pub struct NetworkAddress(pub(super) Url, pub(super) Option<String>);

impl NetworkAddress {
    pub(super) fn parse(text: &str, allow_plain: bool) -> Result<Self, SourceError> {
        let mut url = Url::parse(text).map_err(|_| SourceError::BadAddress)?;
        check(&url, allow_plain)?;
        let part = part_of(&mut url);
        Ok(Self(url, part))
    }

    /// Wraps an address that has already been checked.
    pub(super) fn at(url: Url) -> Self {
        Self(url, None)
    }

    /// Returns the address itself.
    pub(super) fn url(&self) -> &Url {
        &self.0
    }
}

impl fmt::Debug for NetworkAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NetworkAddress")
            .field(&shown(&self.0))
            .finish()
    }
}

/// Removes and returns the part of an address after its `#`: it is never sent.
fn part_of(url: &mut Url) -> Option<String> {
    let part = url.fragment().map(str::to_owned);
    url.set_fragment(None);
    part.filter(|part| !part.is_empty())
}

/// Returns an address as it may be shown: without its query, which may be confidential.
pub(super) fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    clean(shown.as_str(), NAME_CHARACTERS)
}

/// Checks an address, given or redirected to: it needs a host and a safe connection, and may contain no credential.
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

/// Returns whether an address is on this machine judging by its host name alone, without a lookup.
pub(crate) fn is_loopback(url: &Url) -> bool {
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
