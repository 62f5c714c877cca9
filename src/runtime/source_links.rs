//! A source, and how its protocol interprets the address that the person gave.
//!
//! Responsibilities: parsing a SOURCE, its name, what carries its frames, how a link to it is opened, what an invalid
//! source was probably meant to be. Not here: which sources are meant (`chosen_sources`), the addresses themselves
//! (`dialect`), opening (`transport`).

use std::path::Path;

use crate::announce::normalise::clean;
use crate::config::{Config, Dialect, LinkConfig, SourceConfig, closest};
use crate::dialect::{
    Addresses, Credential, DIALECTS, Descriptor, FramesAt, Naming, TransportKind, WEBSOCKET,
};
use crate::link::Stream;
use crate::platform::{files, sockets};
use crate::transport::{LinkSettings, Listening, LocalWebSocket, Secret, Source, SourceError};

use super::codex_home;
use super::request_failure::{self, RequestFailure};

/// The most sources of the settings that an error names.
const MOST_LISTED: usize = 8;

/// Splits a SOURCE from the name of its protocol.
fn parted(text: &str) -> (Option<&'static Descriptor>, &str) {
    let named = DIALECTS
        .iter()
        .find_map(|row| Some((row, row.strip(text)?)));
    named.map_or((None, text), |(row, rest)| (Some(row), rest))
}

/// Returns whether agents of a protocol connect to us, instead of being reached at an address.
fn connects_to_us(row: &Descriptor) -> bool {
    matches!(row.named, Naming::Words(_))
}

/// Returns a source of the settings with the protocol prefix moved from its address to `dialect`.
pub(crate) fn spelled_out(mut own: SourceConfig) -> SourceConfig {
    if let (Some(row), rest) = own.url.as_deref().map_or((None, ""), parted) {
        (own.dialect, own.url) = (Some(row.dialect), Some(rest.to_owned()));
    }
    own
}

/// Returns a word of the command line as a source of the settings, if it needs settings of its own: it names its
/// protocol, or the protocol set for all sources has passwords.
pub(crate) fn with_own(word: &str, config: &Config) -> Option<SourceConfig> {
    let (named, url) = parted(word);
    let for_all = Descriptor::of(config.links.dialect)
        .filter(|row| matches!(row.credential, Credential::Password { .. }));
    Some(SourceConfig {
        name: word.to_owned(),
        url: Some(url.to_owned()),
        dialect: Some(named.or(for_all)?.dialect),
        ..SourceConfig::default()
    })
}

/// Parses a SOURCE as given on the command line or in the settings.
pub(crate) fn read(text: &str, config: &LinkConfig) -> Result<Source, SourceError> {
    let (named, text) = parted(text);
    if named.is_some_and(connects_to_us) {
        return Ok(Source::Requests(listening()?));
    }
    if let Some(part) = named.and_then(|row| row.part_of_program(text)) {
        return program_of_codex(part);
    }
    let dialect = named.map_or(config.dialect, |row| row.dialect);
    let source = match Source::parse(text, config)? {
        Source::Unix(socket) if has_local_websocket(dialect) => {
            Source::LocalWebSocket(LocalWebSocket::at(socket))
        }
        source => source,
    };
    if let (Some(row), Source::WebSocket(_)) = (named, &source)
        && let (FramesAt::Posted, Naming::Prefix(prefix)) = (row.place, row.named)
    {
        return Err(SourceError::UnknownScheme {
            scheme: format!("{prefix}ws"),
        });
    }
    match source.path() {
        Some((_, true)) if is_met_in_aaep(dialect) && !addresses(&source).takes_query() => {
            Err(SourceError::Query)
        }
        Some(_) | None => Ok(source),
    }
}

/// Returns whether the agents of a protocol have a WebSocket behind a Unix socket.
fn has_local_websocket(dialect: Dialect) -> bool {
    Descriptor::of(dialect).is_some_and(|row| row.websocket.on_sockets)
}

/// Returns the source for Codex as it runs in a terminal of this machine.
fn program_of_codex(part: &str) -> Result<Source, SourceError> {
    let program = codex_home::PROGRAM;
    if !sockets::THERE {
        return Err(SourceError::NoProgramSockets { program });
    }
    let path = codex_home::socket().ok_or(SourceError::NoProgramFolder { program })?;
    let address = LocalWebSocket::of(program, path, Some(part));
    Ok(Source::LocalWebSocket(address))
}

/// Creates a listening place that admits only clients with its secret.
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

/// Returns why a word on the command line is not a source: if it is not an address, it may be meant as the name of a
/// source in the person's settings.
pub(crate) fn unknown(word: &str, error: SourceError, config: &Config) -> RequestFailure {
    match error {
        SourceError::NoSuchFile { name } if !config.source.is_empty() => {
            let names = || config.source.iter().map(|own| own.name.as_str());
            let failure = match closest(word, names()) {
                Some(close) => RequestFailure::new("call.source.close").with("close", close),
                None => RequestFailure::new("call.source.names").with("names", listed(names())),
            };
            failure.with("name", name)
        }
        error @ (SourceError::NoSuchFile { .. }
        | SourceError::UnknownScheme { .. }
        | SourceError::BadAddress
        | SourceError::Credential
        | SourceError::BadSocket
        | SourceError::BadBroker
        | SourceError::PlainBroker { .. }
        | SourceError::NoSockets
        | SourceError::NoProgramSockets { .. }
        | SourceError::NoProgramFolder { .. }
        | SourceError::NoPipes
        | SourceError::BadPipe
        | SourceError::PlainHttp { .. }
        | SourceError::Query
        | SourceError::NoKind { .. }
        | SourceError::NoSecret { .. }
        | SourceError::IsSocket { .. }) => request_failure::source(&error).into(),
    }
}

/// Refuses an address where a capture is expected, with a helpful error.
///
/// # Errors
/// When it is an address.
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
        RequestFailure::new("call.no_file")
            .with("command", command)
            .with("address", clean(&text))
    );
    Ok(())
}

/// Returns whether the path is a socket.
pub(crate) fn is_socket(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| files::is_socket(&about))
}

/// Lists names, as many as are worth reading.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = names.collect();
    let more = if all.len() > MOST_LISTED { ", …" } else { "" };
    let first = all.iter().take(MOST_LISTED);
    first.copied().collect::<Vec<_>>().join(", ") + more
}

/// Returns the addresses of a producer at this source.
pub(crate) fn addresses(source: &Source) -> Addresses {
    Addresses::given(carrier(source), path(source))
}

/// Returns the path of the address that the person gave; empty if the source is not a network server.
pub(crate) fn path(source: &Source) -> &str {
    source.path().map(|(path, _)| path).unwrap_or_default()
}

/// Returns the stream of a source whose protocol has its own place for it.
pub(crate) fn own_stream(source: &Source, dialect: Dialect) -> Option<Stream> {
    match Descriptor::of(dialect)?.place {
        FramesAt::Own(stream) => Some(stream(path(source))),
        FramesAt::Negotiated | FramesAt::AsGiven | FramesAt::Posted => None,
    }
}

/// Returns what carries the frames of a source.
pub(crate) fn carrier(source: &Source) -> TransportKind {
    match source {
        Source::Http(_) => TransportKind::EventStream,
        Source::WebSocket(_) | Source::LocalWebSocket(_) => TransportKind::WebSocket,
        Source::Unix(_) | Source::Pipe(_) => TransportKind::Socket,
        Source::Program(_) => TransportKind::Lines,
        Source::Requests(_) => TransportKind::Requests,
        Source::Nats(_) => TransportKind::Broker,
        Source::File(_) | Source::Stdin => TransportKind::OneWay,
    }
}

/// Returns whether a source is approached by AAEP's rules; otherwise its frames are at the address itself, and nothing
/// is added.
fn is_met_in_aaep(dialect: Dialect) -> bool {
    Descriptor::of(dialect).is_none_or(|row| matches!(row.place, FramesAt::Negotiated))
}

/// Returns the name of a source; for a network server, the place of its frames.
pub(crate) fn name(source: &Source, dialect: Dialect) -> String {
    match (source, is_met_in_aaep(dialect)) {
        (Source::Requests(_), _) => {
            let row = DIALECTS.iter().find(|row| connects_to_us(row));
            row.map(|row| row.title).unwrap_or_default().to_owned()
        }
        (_, true) => source.name_at(&addresses(source).shown()),
        (_, false) => name_as_given(source),
    }
}

/// Returns the name of a source whose frames are at the exact address that the person gave.
pub(crate) fn name_as_given(source: &Source) -> String {
    source.name_at(path(source))
}

/// Completes the settings with which a link is opened.
pub(crate) fn prepared(mut settings: LinkSettings) -> LinkSettings {
    // Until a dialect is recognised, a WebSocket is approached by AAEP's rules.
    let row = Descriptor::of(settings.config.dialect);
    settings.websocket = row.map_or(WEBSOCKET, |row| row.websocket);
    settings
}

#[cfg(test)]
mod tests {
    use crate::link::WebSocketTerms;

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
                // Whoever is not let in need not ask again.
                WebSocketTerms {
                    turned_away: &[4001],
                    ..WebSocketTerms::PLAIN
                },
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

    #[cfg(unix)]
    #[test]
    fn a_socket_of_codex_carries_a_websocket_however_it_is_named() {
        let of = |text: &str| match parse(text).unwrap() {
            Source::LocalWebSocket(address) => {
                let source = Source::LocalWebSocket(address);
                assert!(source.is_live());
                assert_eq!(carrier(&source), TransportKind::WebSocket);
                let part = source.fragment().map(str::to_owned);
                (name(&source, Dialect::Codex), part)
            }
            other => panic!("{other:?}"),
        };
        let told = |name: &str, part: Option<&str>| (name.to_owned(), part.map(str::to_owned));
        assert_eq!(of("codex"), told("codex", None));
        assert_eq!(of("codex#t-1"), told("codex", Some("t-1")));
        assert_eq!(of("codex:unix:/no/a"), told("/no/a", None));
        assert_eq!(of("codex:unix:/no/a#t"), told("/no/a", Some("t")));
        let set = LinkConfig {
            dialect: Dialect::Codex,
            ..LinkConfig::default()
        };
        let source = read("unix:/no/a", &set);
        assert!(matches!(source, Ok(Source::LocalWebSocket(_))));
        // For any other protocol, nothing changes.
        assert!(matches!(parse("unix:/no/a"), Ok(Source::Unix(_))));
    }

    #[cfg(not(unix))]
    #[test]
    fn codex_in_its_terminal_is_refused_by_name_where_there_are_no_sockets() {
        let program = codex_home::PROGRAM;
        let refused = Err(SourceError::NoProgramSockets { program });
        assert_eq!(parse("codex"), refused);
    }

    #[test]
    fn a_query_on_a_base_is_refused() {
        assert_eq!(
            parse("http://localhost/?token=abc"),
            Err(SourceError::Query)
        );
        assert!(parse("http://localhost/events?token=abc").is_ok());
        assert!(parse("ws://localhost/?token=abc").is_ok());
        // With nothing added, it is the address itself.
        let named = LinkConfig {
            dialect: Dialect::Asp,
            ..LinkConfig::default()
        };
        assert!(read("http://localhost/?token=abc", &named).is_ok());
    }
}
