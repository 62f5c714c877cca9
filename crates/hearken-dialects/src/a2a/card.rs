//! The card of an agent: who it is, and where and how it is spoken with (A2A 1.0, 4.4 and 8; 0.3, 5.5).
//!
//! Responsibilities: reading it, choosing the interface, keeping it at the server that the person named. Not here: fetching
//! it (`client`).

use std::time::Duration;

use serde_json::{Map, Value};

use crate::acp::read::text;
use crate::link::{Address, Phrase, Stream, Word};
use crate::protocol::object;
use crate::written::cut;

use super::wire::Version;

/// Where a card is on its server (A2A 1.0, 8.2).
const WELL_KNOWN: &str = "/.well-known/agent-card.json";
/// How often it is read anew: often enough that a server which went away is noticed, where nothing else is asked of it.
const EVERY: Duration = Duration::from_secs(15);
/// The longest name of an agent, in characters.
const LONGEST_NAME: usize = 120;
/// The longest path, in bytes: what servers take as a rule.
const LONGEST_PATH: usize = 2048;
/// The longest tenant, in bytes.
const LONGEST_TENANT: usize = 256;
/// How many interfaces are looked at.
const MOST: usize = 64;
/// The largest card that is read to recognise it, in bytes; large ones list skills by the hundred.
const MOST_BYTES: usize = 256 * 1024;

/// How an agent is spoken with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its name for people.
    pub name: String,
    /// The path to which requests go.
    pub path: String,
    /// Which protocol it is.
    pub version: Version,
    /// Whether it answers by streams.
    pub streams: bool,
    /// What names the agent among several at that path; empty where nothing does.
    pub tenant: String,
}

/// Returns the document that is followed in the place of a stream: the card of the agent at a path.
pub fn document(path: &str) -> Stream {
    let at = match path.ends_with(".json") {
        true => path.to_owned(),
        false => format!("{}{WELL_KNOWN}", path.trim_end_matches('/')),
    };
    Stream {
        every: Some(EVERY),
        ..Stream::at(Address::GivenAt(at))
    }
}

/// Returns whether a text is a card.
pub fn is_card(text: &str) -> bool {
    let is_it = |card: &Map<String, Value>| {
        card.get("capabilities").is_some_and(Value::is_object)
            && (interfaces(card).next().is_some() || old(card).is_some())
    };
    text.len() <= MOST_BYTES
        && text.contains("\"capabilities\"")
        && object(text).is_some_and(|card| is_it(&card))
}

/// Returns the interfaces of a card of 1.0.
fn interfaces(card: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let all = card.get("supportedInterfaces").and_then(Value::as_array);
    let all = all.into_iter().flatten().filter_map(Value::as_object);
    all.filter(|it| it.contains_key("protocolBinding"))
        .take(MOST)
}

/// Returns the address of a card of 0.3.
fn old(card: &Map<String, Value>) -> Option<&str> {
    let is_jsonrpc = |name: &str| name.eq_ignore_ascii_case("JSONRPC");
    text(card, "protocolVersion")?;
    if text(card, "preferredTransport").is_none_or(is_jsonrpc) {
        return text(card, "url");
    }
    let more = card.get("additionalInterfaces").and_then(Value::as_array);
    let mut more = more
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .take(MOST);
    more.find(|it| text(it, "transport").is_some_and(is_jsonrpc))
        .and_then(|it| text(it, "url"))
}

/// Reads a card that was found at an origin; where none is given, nothing is sent.
///
/// # Errors
/// Why this agent can't be spoken with, as a phrase.
pub fn read(written: &str, origin: Option<&str>) -> Result<Card, Phrase> {
    let Some(card) = object(written).filter(|_| is_card(written)) else {
        return Err(Phrase::new("a2a.no_card"));
    };
    let new = interfaces(&card).filter_map(|it| {
        let jsonrpc = text(it, "protocolBinding")?.eq_ignore_ascii_case("JSONRPC");
        let version = Version::read(text(it, "protocolVersion").unwrap_or("1.0"));
        let tenant = text(it, "tenant").unwrap_or_default();
        Some((text(it, "url")?, version?, tenant)).filter(|_| jsonrpc)
    });
    let old = old(&card).map(|url| (url, Version::V0_3, ""));
    let mut all: Vec<_> = new.chain(old).collect();
    // The newer version has more to tell.
    all.sort_by_key(|(_, version, _)| *version == Version::V0_3);
    let Some(first) = all.first() else {
        return Err(Phrase::new("a2a.no_interface"));
    };
    let here = all.iter().find_map(|(url, version, tenant)| {
        let path = match origin {
            Some(origin) => path_of(url, origin)?,
            None => String::new(),
        };
        Some((path, *version, *tenant))
    });
    let Some((path, version, tenant)) = here else {
        let host = cut(host(first.0), LONGEST_NAME);
        return Err(Phrase::new("a2a.elsewhere").with("host", Word::Name(host)));
    };
    if tenant.len() > LONGEST_TENANT {
        return Err(Phrase::new("a2a.no_interface"));
    }
    let capabilities = card.get("capabilities").and_then(Value::as_object);
    let streams = capabilities.and_then(|it| it.get("streaming"));
    let name = text(&card, "name").unwrap_or_default().trim();
    Ok(Card {
        name: match name.is_empty() {
            true => "A2A".to_owned(),
            false => cut(name, LONGEST_NAME),
        },
        path,
        version,
        streams: streams == Some(&Value::Bool(true)),
        tenant: tenant.to_owned(),
    })
}

/// Parts an address into its scheme, its host with its port, and the rest.
fn parted(url: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Some((scheme, rest.get(..end)?, rest.get(end..)?))
}

/// Returns the host that an address is at, as far as it is one.
fn host(url: &str) -> &str {
    parted(url).map_or(url, |(_, place, _)| place)
}

/// Returns the host and the port of an address, in one form for all that mean the same.
fn place(scheme: &str, authority: &str) -> Option<(String, String)> {
    let authority = authority.to_ascii_lowercase();
    let in_brackets = authority
        .strip_prefix('[')
        .and_then(|it| it.split_once(']'));
    let (host, port) = match in_brackets {
        Some((host, port)) => (host, port.strip_prefix(':').unwrap_or(port)),
        None => authority.split_once(':').unwrap_or((&authority, "")),
    };
    let usual = if scheme == "https" { "443" } else { "80" };
    let port = if port.is_empty() { usual } else { port };
    // This machine has many names, and who serves a card on it writes any of them.
    let here = matches!(host, "localhost" | "127.0.0.1" | "::1" | "0.0.0.0" | "::");
    let host = if here { "localhost" } else { host };
    (!host.is_empty() && !host.contains('@')).then(|| (host.to_owned(), port.to_owned()))
}

/// Returns the path of an address, where that is at this origin: no token of the person's goes anywhere else.
fn path_of(url: &str, origin: &str) -> Option<String> {
    let path = if url.starts_with('/') && !url.starts_with("//") {
        url
    } else {
        let (scheme, authority, rest) = parted(url)?;
        let scheme = scheme.to_ascii_lowercase();
        let (own_scheme, own, _) = parted(origin)?;
        if scheme != own_scheme || place(&scheme, authority)? != place(own_scheme, own)? {
            return None;
        }
        rest
    };
    let path = path.split('#').next().unwrap_or_default();
    let path = match path.starts_with('/') {
        true => path.to_owned(),
        false => format!("/{path}"),
    };
    (path.len() <= LONGEST_PATH && path.bytes().all(|it| it.is_ascii_graphic())).then_some(path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#[path = "tests/card.rs"]
mod tests;
