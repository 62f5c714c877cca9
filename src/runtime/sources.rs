//! A source and what its protocol makes of the address that the person gave.
//!
//! Responsibilities: reading a SOURCE, the name by which it is called, what carries its frames, what a link to it is
//! opened with, what a word that is no source was probably meant for. Not here: which sources are meant (`chosen`),
//! the addresses themselves (`dialect`), opening (`transport`).

use std::path::Path;

use crate::announce::normalise::clean;
use crate::config::{Config, Dialect, LinkConfig, SourceConfig, closest};
use crate::dialect::{Addresses, Carrier, WEBSOCKET, opencode_events};
use crate::link::{Stream, WebSocketTerms};
use crate::platform::files;
use crate::transport::{LinkSettings, Listening, Secret, Source, SourceError};

use super::failure::{self, Failure};

/// How many sources of the settings an error names.
const MOST_LISTED: usize = 8;

/// What stands before an address whose protocol is named with it.
const PREFIXES: [(&str, Dialect); 4] = [
    ("opencode:", Dialect::Opencode),
    ("codex:", Dialect::Codex),
    ("agui:", Dialect::Agui),
    ("a2a:", Dialect::A2a),
];

/// The SOURCE that is no address: Claude Code calls us, by its hooks.
pub(crate) const CLAUDE: &str = "claude";

/// What Claude Code is called.
const CLAUDE_CODE: &str = "Claude Code";

/// Parts a SOURCE from the protocol that is named before it.
fn parted(text: &str) -> (Option<Dialect>, &str) {
    if text == CLAUDE {
        return (Some(Dialect::Claude), text);
    }
    let named = PREFIXES
        .iter()
        .find_map(|(prefix, dialect)| Some((*dialect, text.strip_prefix(prefix)?)));
    named.map_or((None, text), |(dialect, rest)| (Some(dialect), rest))
}

/// Returns a source of the settings with the protocol apart that stands before its address.
pub(crate) fn spelled_out(mut own: SourceConfig) -> SourceConfig {
    if let (Some(dialect), rest) = own.url.as_deref().map_or((None, ""), parted) {
        (own.dialect, own.url) = (Some(dialect), Some(rest.to_owned()));
    }
    own
}

/// Returns a word of the command line that needs settings of its own, as a source of the settings: its protocol is named
/// with it, or is one for all that has passwords.
pub(crate) fn with_own(word: &str, config: &Config) -> Option<SourceConfig> {
    let (named, url) = parted(word);
    let for_all = Some(config.links.dialect).filter(|dialect| *dialect == Dialect::Opencode);
    Some(SourceConfig {
        name: word.to_owned(),
        url: Some(url.to_owned()),
        dialect: Some(named.or(for_all)?),
        ..SourceConfig::default()
    })
}

/// Reads a SOURCE as it stands on the command line or in the settings.
///
/// # Errors
/// See [`SourceError`].
pub(crate) fn read(text: &str, config: &LinkConfig) -> Result<Source, SourceError> {
    let (named, text) = parted(text);
    if text == CLAUDE {
        return Ok(Source::Requests(listening()?));
    }
    let source = Source::parse(text, config)?;
    let dialect = named.unwrap_or(config.dialect);
    if let (Some(Dialect::Agui), Source::WebSocket(_)) = (named, &source) {
        // Its runs are posted, and answered by event streams.
        return Err(SourceError::UnknownScheme {
            scheme: "agui:ws".to_owned(),
        });
    }
    match source.path() {
        Some((_, true)) if is_met_in_aaep(dialect) && !addresses(&source).takes_query() => {
            Err(SourceError::Query)
        }
        Some(_) | None => Ok(source),
    }
}

/// Makes a place at which only those are let in who are told its secret.
fn listening() -> Result<Listening, SourceError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| SourceError::NoSecret {
        why: error.to_string(),
    })?;
    let secret = bytes.iter().fold(String::new(), |secret, byte| {
        secret + &format!("{byte:02x}")
    });
    Listening::new(0, Secret::new(&secret)).ok_or(SourceError::BadAddress)
}

/// Returns why a word on the command line is no source: where it is no address, it may be meant for the name of one
/// that the person's settings have.
pub(crate) fn unknown(word: &str, error: SourceError, config: &Config) -> Failure {
    match error {
        SourceError::NoSuchFile { name } if !config.source.is_empty() => {
            let names = || config.source.iter().map(|own| own.name.as_str());
            let failure = match closest(word, names()) {
                Some(close) => Failure::new("call.source.close").with("close", close),
                None => Failure::new("call.source.names").with("names", listed(names())),
            };
            failure.with("name", name)
        }
        error @ (SourceError::NoSuchFile { .. }
        | SourceError::UnknownScheme { .. }
        | SourceError::BadAddress
        | SourceError::Credential
        | SourceError::BadSocket
        | SourceError::NoSockets
        | SourceError::NoPipes
        | SourceError::BadPipe
        | SourceError::PlainHttp { .. }
        | SourceError::Query
        | SourceError::NoKind { .. }
        | SourceError::NoSecret { .. }
        | SourceError::IsSocket { .. }) => failure::source(&error).into(),
    }
}

/// Refuses an address where a capture is read, with what helps.
///
/// # Errors
/// When it is one.
pub(crate) fn only_captures(file: &Path, command: &str) -> anyhow::Result<()> {
    let text = file.to_string_lossy();
    let read = read(&text, &LinkConfig::default());
    let address = match read {
        Ok(source) => source.is_live(),
        Err(SourceError::NoSuchFile { .. }) => false,
        Err(_) => true,
    };
    anyhow::ensure!(
        !address || file.is_file(),
        Failure::new("call.no_file")
            .with("command", command)
            .with("address", clean(&text))
    );
    Ok(())
}

/// Returns whether there is a socket at a path.
pub(crate) fn is_socket(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| files::is_socket(&about))
}

/// Lists names, as many as somebody reads.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = names.collect();
    let more = if all.len() > MOST_LISTED { ", …" } else { "" };
    let first = all.iter().take(MOST_LISTED);
    first.copied().collect::<Vec<_>>().join(", ") + more
}

/// Returns where a producer at this source has what.
pub(crate) fn addresses(source: &Source) -> Addresses {
    Addresses::given(carrier(source), path(source))
}

/// Returns the path of the address that the person gave; empty for what is no server on the network.
pub(crate) fn path(source: &Source) -> &str {
    source.path().map(|(path, _)| path).unwrap_or_default()
}

/// Returns the stream of a source whose protocol has a place of its own for it.
pub(crate) fn own_stream(source: &Source, dialect: Dialect) -> Option<Stream> {
    match dialect {
        Dialect::Opencode => Some(opencode_events(path(source))),
        Dialect::Auto
        | Dialect::Aaep
        | Dialect::Asp
        | Dialect::Sage
        | Dialect::Acp
        | Dialect::Codex
        | Dialect::Claude
        | Dialect::Agui
        | Dialect::A2a => None,
    }
}

/// Returns what carries the frames of a source.
pub(crate) fn carrier(source: &Source) -> Carrier {
    match source {
        Source::Http(_) => Carrier::EventStream,
        Source::WebSocket(_) => Carrier::WebSocket,
        Source::Unix(_) | Source::Pipe(_) => Carrier::Socket,
        Source::Program(_) => Carrier::Lines,
        Source::Requests(_) => Carrier::Requests,
        Source::File(_) | Source::Stdin => Carrier::OneWay,
    }
}

/// Returns whether a source is met as AAEP has it; else its address is where its frames are, and nothing is added.
fn is_met_in_aaep(dialect: Dialect) -> bool {
    match dialect {
        Dialect::Auto | Dialect::Aaep => true,
        Dialect::Asp
        | Dialect::Sage
        | Dialect::Acp
        | Dialect::Opencode
        | Dialect::Codex
        | Dialect::Claude
        | Dialect::Agui
        | Dialect::A2a => false,
    }
}

/// Returns the name by which a source is called: where its frames are, for a server on the network.
pub(crate) fn name(source: &Source, dialect: Dialect) -> String {
    match (source, is_met_in_aaep(dialect)) {
        (Source::Requests(_), _) => CLAUDE_CODE.to_owned(),
        (_, true) => source.name_at(&addresses(source).shown()),
        (_, false) => name_as_given(source),
    }
}

/// Returns the name of a source whose frames are at the very address that the person gave.
pub(crate) fn name_as_given(source: &Source) -> String {
    source.name_at(path(source))
}

/// Lays down what a link is opened with.
pub(crate) fn prepared(mut settings: LinkSettings) -> LinkSettings {
    settings.websocket = match is_met_in_aaep(settings.config.dialect) {
        true => WEBSOCKET,
        false => WebSocketTerms::PLAIN,
    };
    settings
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn parse(text: &str) -> Result<Source, SourceError> {
        read(text, &LinkConfig::default())
    }

    #[test]
    fn a_source_is_called_by_where_its_frames_are() {
        for (given, wanted) in [
            ("http://localhost:8080", "http://localhost:8080/events"),
            ("http://localhost:8080/", "http://localhost:8080/events"),
            ("HTTP://127.0.0.1:1", "http://127.0.0.1:1/events"),
            ("http://127.5.5.5/a/b/", "http://127.5.5.5/a/b/events"),
            ("http://[::1]:9/x", "http://[::1]:9/x/events"),
            (
                "https://agents.example/x#part",
                "https://agents.example/x/events",
            ),
            (
                "http://localhost/events/?key=s3cret",
                "http://localhost/events",
            ),
            (
                "http://localhost/myevents",
                "http://localhost/myevents/events",
            ),
            ("ws://localhost:1", "ws://localhost:1/aaep/v1/ws"),
            ("WSS://example.com/", "wss://example.com/aaep/v1/ws"),
            ("ws://[::1]:9/own?key=s3cret#x", "ws://[::1]:9/own"),
            ("-", "standard input"),
        ] {
            assert_eq!(
                name(&parse(given).unwrap(), Dialect::Auto),
                wanted,
                "{given}"
            );
        }
    }

    #[test]
    fn a_named_protocol_is_met_at_the_very_address_and_without_aaeps_subprotocol() {
        let source = parse("ws://localhost:1/session").unwrap();
        for (dialect, shown, terms) in [
            (Dialect::Auto, "ws://localhost:1/session", WEBSOCKET),
            (
                Dialect::Asp,
                "ws://localhost:1/session",
                WebSocketTerms::PLAIN,
            ),
            (
                Dialect::Sage,
                "ws://localhost:1/session",
                WebSocketTerms::PLAIN,
            ),
        ] {
            let config = LinkConfig {
                dialect,
                ..LinkConfig::default()
            };
            assert_eq!(name(&source, dialect), shown);
            let settings = LinkSettings::new(config, None, crate::transport::Tls::default(), 1);
            let settings = prepared(settings);
            assert_eq!(settings.websocket, terms);
        }
        let stream = parse("http://localhost:1/x").unwrap();
        assert_eq!(name(&stream, Dialect::Asp), "http://localhost:1/x");
    }

    #[test]
    fn a_query_on_a_base_is_refused() {
        assert_eq!(
            parse("http://localhost/?token=abc"),
            Err(SourceError::Query)
        );
        assert!(parse("http://localhost/events?token=abc").is_ok());
        assert!(parse("ws://localhost/?token=abc").is_ok());
        // Where nothing is added to it, it is the address itself.
        let named = LinkConfig {
            dialect: Dialect::Asp,
            ..LinkConfig::default()
        };
        assert!(read("http://localhost/?token=abc", &named).is_ok());
    }
}
