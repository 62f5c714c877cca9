//! The addresses of an AAEP producer, derived from the one that the person gave (B.1, B.2).
//!
//! Responsibilities: the paths of the handshake and of the plain pair, the request for each, the terms of the
//! WebSocket. Not here: the host and sending requests (`transport`), the order of requests (the handshake).
//!
//! | given | base | plain pair | handshake | WebSocket |
//! |---|---|---|---|---|
//! | `http://h/x` | `/x` | `/x/events`, `/x/messages` | `/x/aaep/v1/…` | `/x/aaep/v1/ws` |
//! | `http://h/x/events?k=1` | `/x` | that, `/x/messages` | `/x/aaep/v1/…` | `/x/aaep/v1/ws` |
//! | `ws://h/x/aaep/v1/ws` | `/x` | `/x/events`, `/x/messages` | `/x/aaep/v1/…` | that |
//! | `ws://h/own` | | `/events`, `/messages` | `/aaep/v1/…` | that |
//!
//! A deployment may serve the handshake under another prefix than `/aaep/v1` (B.1.1). The given path is then that
//! prefix itself: where nothing is at `/x/aaep/v1/…`, the handshake is looked for at `/x/…`.
//!
//! The manifest is at `/.well-known/aaep-manifest.json`, regardless of the base.

use super::producer_routes::ProducerRoute;
use crate::TransportKind;
use crate::link;
use crate::link::{Address, Body, HttpCall, Stream, Subprotocol, WebSocketTerms};

/// The path prefix of the handshake (B.1.1).
const PREFIX: &str = "/aaep/v1";

/// The path of the manifest (5.10.2).
const MANIFEST: &str = "/.well-known/aaep-manifest.json";

/// The accepted content types: a signed manifest comes as JOSE.
const ACCEPT: &str = "application/json, application/jose";

/// The largest answer that is read, in bytes: a signed manifest has a few kilobytes, a message of the protocol at most
/// 64 KiB (3.7).
const ANSWER_BYTES: usize = 256 * 1024;

/// AAEP's requirements for a WebSocket (B.2).
pub const WEBSOCKET: WebSocketTerms = WebSocketTerms {
    on_sockets: false,
    path: "/aaep/v1/ws",
    // Both sides must name it (B.2.1).
    subprotocol: Subprotocol::Required(&["aaep.v1"]),
    // The stream has ended, or the subscriber has ended the subscription (B.2.6).
    over: &[4000, 4005],
    // Rejected, unknown, not allowed, or evicted: asking again would not help.
    turned_away: &[4001, 4002, 4003, 4004],
    leaving: 4005,
};

/// The addresses of one producer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Addresses {
    /// The prefix of the protocol's paths; empty for the root.
    base: String,
    /// The prefix of the plain pair's paths.
    plain: String,
    /// Whether the given path itself is the prefix of the handshake.
    is_prefix: bool,
    /// The stream of the plain pair, if the person named it.
    named: Option<Address>,
    /// The WebSocket, if the person named it.
    socket: Option<String>,
}

impl Addresses {
    /// Reads the path of the given address; only a server on the network has one.
    pub fn given(carrier: TransportKind, path: &str) -> Self {
        match carrier {
            TransportKind::EventStream => Self::of_http(path),
            TransportKind::WebSocket => Self::of_websocket(path),
            TransportKind::Socket
            | TransportKind::Lines
            | TransportKind::Requests
            | TransportKind::Broker
            | TransportKind::OneWay => Self::default(),
        }
    }

    /// Reads the path of an http or https address.
    fn of_http(path: &str) -> Self {
        let whole = path.trim_end_matches('/');
        let (plain, named) = match whole.strip_suffix("/events") {
            Some(plain) if whole == path => (plain, Some(Address::Given)),
            Some(plain) => (plain, Some(Address::GivenAt(whole.to_owned()))),
            None => (whole, None),
        };
        Self {
            base: plain.strip_suffix(PREFIX).unwrap_or(plain).to_owned(),
            plain: plain.to_owned(),
            is_prefix: false,
            named,
            socket: None,
        }
    }

    /// Reads the path of a ws or wss address. A path of the server's own choice does not show where the rest is, so the
    /// usual place is assumed.
    fn of_websocket(path: &str) -> Self {
        let path = match path {
            "" | "/" => WEBSOCKET.path,
            path => path,
        };
        let base = path.strip_suffix(WEBSOCKET.path).unwrap_or_default();
        Self {
            base: base.to_owned(),
            plain: base.to_owned(),
            is_prefix: false,
            named: None,
            socket: Some(path.to_owned()),
        }
    }

    /// Returns whether the given address may have a query: a query belongs to a stream or a WebSocket, so the address
    /// must name one.
    pub fn takes_query(&self) -> bool {
        self.named.is_some() || self.socket.is_some()
    }

    /// Returns the path shown to the person as the source: its WebSocket, or its events without a handshake.
    pub fn shown(&self) -> String {
        match &self.socket {
            Some(socket) => socket.clone(),
            None => self.events(),
        }
    }

    /// Returns the link's form of a way.
    pub(super) fn way(&self, way: ProducerRoute) -> link::ServerRoute {
        match (way, &self.socket) {
            (ProducerRoute::WebSocket, Some(socket)) => {
                link::ServerRoute::WebSocket(socket.clone())
            }
            (ProducerRoute::WebSocket, None) => link::ServerRoute::WebSocket(self.handshake("ws")),
            (ProducerRoute::EventStream | ProducerRoute::PlainPair, _) => {
                link::ServerRoute::EventStream(self.events())
            }
        }
    }

    fn events(&self) -> String {
        format!("{}/events", self.plain)
    }

    fn handshake(&self, what: &str) -> String {
        match self.is_prefix {
            true => format!("{}/{what}", self.plain),
            false => format!("{}{PREFIX}/{what}", self.base),
        }
    }

    /// Notes where the server says that its WebSocket is.
    pub(super) fn is_at(&mut self, socket: String) {
        self.socket = Some(socket);
    }

    /// Uses the given path as the prefix of the handshake, because nothing was found under the usual one. Returns
    /// whether that is another place.
    pub(super) fn tries_as_prefix(&mut self) -> bool {
        let own = !self.plain.is_empty() && self.plain == self.base;
        self.is_prefix = own && !self.is_prefix;
        self.is_prefix
    }

    /// Returns the request for the manifest.
    pub fn manifest(&self) -> HttpCall {
        of_the_handshake(HttpCall::get(MANIFEST))
    }

    /// Returns the request for a subscription with this message.
    pub(super) fn subscribe(&self, message: String) -> HttpCall {
        let path = self.handshake("subscriptions");
        of_the_handshake(HttpCall::post(path, Body::json(message)))
    }

    /// Returns the request that sends a message to the subscription.
    pub(super) fn tell(&self, message: String) -> HttpCall {
        of_the_handshake(HttpCall::post(
            self.handshake("replies"),
            Body::json(message),
        ))
    }

    /// Returns the stream of the plain pair.
    pub fn plain(&self) -> Stream {
        let at = self.named.clone();
        Stream {
            replies: Some(format!("{}/messages", self.plain)),
            probe: Some(MANIFEST.to_owned()),
            ..Stream::at(at.unwrap_or_else(|| Address::Path(self.events())))
        }
    }

    /// Returns the stream of a subscription, at the server's location or at its usual place. A subscription from an
    /// earlier connection may have been forgotten.
    pub(super) fn subscription(&self, id: &str, location: Option<&str>, resumed: bool) -> Stream {
        let at = match location {
            Some(location) => Address::Named(location.to_owned()),
            None => {
                let mut path = self.handshake("events?subscription_id=");
                path.extend(id.bytes().map(escaped));
                Address::Path(path)
            }
        };
        Stream {
            replies: Some(self.handshake("replies")),
            probe: Some(MANIFEST.to_owned()),
            every: None,
            may_be_forgotten: resumed,
            ..Stream::at(at)
        }
    }
}

/// Sets what every request of the handshake accepts.
fn of_the_handshake(call: HttpCall) -> HttpCall {
    HttpCall {
        accept: ACCEPT,
        most: ANSWER_BYTES,
        ..call
    }
}

/// Encodes a byte of a value for a query.
fn escaped(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_stands_below_what_the_person_gave() {
        for (given, base, plain) in [
            ("/", "", ""),
            ("", "", ""),
            ("/x", "/x", "/x"),
            ("/x/", "/x", "/x"),
            ("/aaep/v1", "", "/aaep/v1"),
            ("/events", "", ""),
            ("/x/events/", "/x", "/x"),
            ("/aaep/v1/events", "", "/aaep/v1"),
            // Only a whole segment counts.
            ("/myevents", "/myevents", "/myevents"),
        ] {
            let addresses = Addresses::of_http(given);
            let subscribe = addresses.subscribe("{}".to_owned());
            assert_eq!(
                subscribe.path,
                format!("{base}/aaep/v1/subscriptions"),
                "{given}"
            );
            assert_eq!(addresses.manifest().path, MANIFEST, "{given}");
            let tell = addresses.tell("{}".to_owned());
            assert_eq!(tell.path, format!("{base}/aaep/v1/replies"), "{given}");
            assert_eq!(
                addresses.way(ProducerRoute::WebSocket),
                link::ServerRoute::WebSocket(format!("{base}/aaep/v1/ws")),
                "{given}"
            );
            assert_eq!(addresses.shown(), format!("{plain}/events"), "{given}");
            let replies = addresses.plain().replies.unwrap();
            assert_eq!(replies, format!("{plain}/messages"), "{given}");
        }
    }

    #[test]
    fn a_given_path_may_be_the_prefix_itself() {
        let mut addresses = Addresses::of_http("/my/prefix/");
        assert!(addresses.tries_as_prefix());
        let subscribe = addresses.subscribe("{}".to_owned());
        assert_eq!(subscribe.path, "/my/prefix/subscriptions");
        let tell = addresses.tell("{}".to_owned());
        assert_eq!(tell.path, "/my/prefix/replies");
        assert_eq!(
            addresses.way(ProducerRoute::WebSocket),
            link::ServerRoute::WebSocket("/my/prefix/ws".to_owned())
        );
        let usual = addresses.subscription("sub_1", None, false);
        let at = "/my/prefix/events?subscription_id=sub_1";
        assert_eq!(usual.at, Address::Path(at.to_owned()));
        // Nothing is there either: the next attempt looks at the usual place again.
        assert!(!addresses.tries_as_prefix());
        let subscribe = addresses.subscribe("{}".to_owned());
        assert_eq!(subscribe.path, "/my/prefix/aaep/v1/subscriptions");
        for path in ["", "/", "/aaep/v1", "/x/aaep/v1/", "/events"] {
            assert!(!Addresses::of_http(path).tries_as_prefix(), "{path}");
        }
    }

    #[test]
    fn a_path_that_ends_in_events_is_the_stream_itself() {
        for (given, at) in [
            ("/x/events", Address::Given),
            ("/x/events/", Address::GivenAt("/x/events".to_owned())),
            ("/x", Address::Path("/x/events".to_owned())),
            ("/myevents", Address::Path("/myevents/events".to_owned())),
        ] {
            let addresses = Addresses::of_http(given);
            assert_eq!(
                addresses.takes_query(),
                given.contains("x/events"),
                "{given}"
            );
            assert_eq!(addresses.plain().at, at, "{given}");
        }
    }

    #[test]
    fn a_websocket_says_where_the_rest_is_only_at_its_usual_place() {
        for (given, socket, base) in [
            ("/", "/aaep/v1/ws", ""),
            ("/x/aaep/v1/ws", "/x/aaep/v1/ws", "/x"),
            ("/own/path", "/own/path", ""),
        ] {
            let addresses = Addresses::of_websocket(given);
            assert!(addresses.takes_query());
            assert_eq!(addresses.shown(), socket);
            assert_eq!(
                addresses.way(ProducerRoute::WebSocket),
                link::ServerRoute::WebSocket(socket.to_owned())
            );
            assert_eq!(
                addresses.way(ProducerRoute::PlainPair),
                link::ServerRoute::EventStream(format!("{base}/events"))
            );
        }
    }

    #[test]
    fn a_subscription_is_where_the_server_says_else_at_its_usual_place() {
        let addresses = Addresses::of_http("/a");
        let named = addresses.subscription("sub_1", Some("/x?y=1"), true);
        assert_eq!(named.at, Address::Named("/x?y=1".to_owned()));
        assert!(named.may_be_forgotten);
        let usual = addresses.subscription("s&b 1é", None, false);
        assert_eq!(
            usual.at,
            Address::Path("/a/aaep/v1/events?subscription_id=s%26b%201%C3%A9".to_owned())
        );
        assert!(!usual.may_be_forgotten);
        assert!(!addresses.plain().may_be_forgotten);
    }
}
