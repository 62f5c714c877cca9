//! A source and what its protocol makes of the address that the person gave.
//!
//! Responsibilities: reading a SOURCE, the name by which it is called, what carries its frames, what a link to it is
//! opened with. Not here:
//! which sources are meant (`chosen`), the addresses themselves (`dialect`), opening (`transport`).

use crate::config::LinkConfig;
use crate::dialect::{Addresses, Carrier, WEBSOCKET};
use crate::transport::{LinkSettings, Source, SourceError};

/// Reads a SOURCE as it stands on the command line or in the settings.
///
/// # Errors
/// See [`SourceError`].
pub(crate) fn read(text: &str, config: &LinkConfig) -> Result<Source, SourceError> {
    let source = Source::parse(text, config)?;
    match source.path() {
        Some((_, true)) if !addresses(&source).takes_query() => Err(SourceError::Query),
        Some(_) | None => Ok(source),
    }
}

/// Gives where a producer at this source has what.
pub(crate) fn addresses(source: &Source) -> Addresses {
    Addresses::given(carrier(source), path(source))
}

/// Gives the path of the address that the person gave; empty for what is no server on the network.
pub(crate) fn path(source: &Source) -> &str {
    source.path().map(|(path, _)| path).unwrap_or_default()
}

/// Says what carries the frames of a source.
pub(crate) fn carrier(source: &Source) -> Carrier {
    match source {
        Source::Http(_) => Carrier::EventStream,
        Source::WebSocket(_) => Carrier::WebSocket,
        Source::Unix(_) => Carrier::Socket,
        Source::Program(_) => Carrier::Lines,
        Source::File(_) | Source::Stdin => Carrier::OneWay,
    }
}

/// Gives the name by which a source is called: where its frames are, for a server on the network.
pub(crate) fn name(source: &Source) -> String {
    source.name_at(&addresses(source).shown())
}

/// Lays down what a link is opened with.
pub(crate) fn prepared(mut settings: LinkSettings) -> LinkSettings {
    settings.websocket = WEBSOCKET;
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
            assert_eq!(name(&parse(given).unwrap()), wanted, "{given}");
        }
    }

    #[test]
    fn a_query_on_a_base_is_refused() {
        assert_eq!(
            parse("http://localhost/?token=abc"),
            Err(SourceError::Query)
        );
        assert!(parse("http://localhost/events?token=abc").is_ok());
        assert!(parse("ws://localhost/?token=abc").is_ok());
    }
}
