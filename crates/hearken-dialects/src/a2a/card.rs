//! The card of an agent: who it is, and where and how to reach it (A2A 1.0, 4.4 and 8; 0.3, 5.5).
//!
//! Responsibilities: reading the card, choosing the interface, and staying on the server that the person named. Not
//! here: fetching the card (`client`).

use std::time::Duration;

use serde_json::{Map, Value};

use crate::event_writer::cut;
use crate::kit::members::text;
use crate::link::{Address, Phrase, PhraseArg, Stream};
use crate::protocol::object;

use super::outgoing_requests::Version;

/// The path of a card on its server (A2A 1.0, 8.2).
const WELL_KNOWN: &str = "/.well-known/agent-card.json";
/// How often the card is read again: often enough to notice a dead server when no other request is made.
const EVERY: Duration = Duration::from_secs(15);
/// The longest name of an agent, in characters.
const LONGEST_NAME: usize = 120;
/// The longest path, in bytes: the usual limit of servers.
const LONGEST_PATH: usize = 2048;
/// The longest tenant, in bytes.
const LONGEST_TENANT: usize = 256;
/// How many interfaces are considered.
const MOST: usize = 64;
/// The largest card that is parsed for recognition, in bytes; large cards list hundreds of skills.
const MOST_BYTES: usize = 256 * 1024;

/// How to reach an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCard {
    /// The agent's display name.
    pub name: String,
    /// The path that requests go to.
    pub path: String,
    /// The version of the protocol.
    pub version: Version,
    /// Whether the agent can stream its answers.
    pub streams: bool,
    /// What identifies the agent among several at that path; empty if the card names no tenant.
    pub tenant: String,
}

/// Returns the document that is followed instead of a stream: the card of the agent at a path.
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

/// Returns the interfaces of a 1.0 card.
fn interfaces(card: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let all = card.get("supportedInterfaces").and_then(Value::as_array);
    let all = all.into_iter().flatten().filter_map(Value::as_object);
    all.filter(|it| it.contains_key("protocolBinding"))
        .take(MOST)
}

/// Returns the address in a 0.3 card.
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

/// Reads a card that was found at an origin; without an origin, nothing is ever sent.
///
/// # Errors
/// Why this agent is unreachable, as a phrase.
pub fn read(written: &str, origin: Option<&str>) -> Result<AgentCard, Phrase> {
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
    // The newer version reports more.
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
        return Err(Phrase::new("a2a.elsewhere").with("host", PhraseArg::Name(host)));
    };
    if tenant.len() > LONGEST_TENANT {
        return Err(Phrase::new("a2a.no_interface"));
    }
    let capabilities = card.get("capabilities").and_then(Value::as_object);
    let streams = capabilities.and_then(|it| it.get("streaming"));
    let name = text(&card, "name").unwrap_or_default().trim();
    Ok(AgentCard {
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

/// Splits an address into its scheme, its host with its port, and the rest.
fn parted(url: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Some((scheme, rest.get(..end)?, rest.get(end..)?))
}

/// Returns the host of an address, or the whole text if it is not an address.
fn host(url: &str) -> &str {
    parted(url).map_or(url, |(_, place, _)| place)
}

/// Returns the host and the port of an address, normalised.
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
    // This machine has many names, and a card served from it may use any of them.
    let here = matches!(host, "localhost" | "127.0.0.1" | "::1" | "0.0.0.0" | "::");
    let host = if here { "localhost" } else { host };
    (!host.is_empty() && !host.contains('@')).then(|| (host.to_owned(), port.to_owned()))
}

/// Returns the path of an address if it is at this origin: the person's token must not go anywhere else.
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
#[path = "tests/card.rs"]
mod tests;
