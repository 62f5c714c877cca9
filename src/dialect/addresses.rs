//! Where a producer of AAEP has what, told from the address that the person gave (B.1, B.2).
//!
//! Responsibilities: the paths of the handshake and of the plain pair, what is asked of each, the terms of the
//! WebSocket. Not here: which host that is and asking it (`transport`), what is asked when (the handshake).
//!
//! | given | base | plain pair | handshake | WebSocket |
//! |---|---|---|---|---|
//! | `http://h/x` | `/x` | `/x/events`, `/x/messages` | `/x/aaep/v1/…` | `/x/aaep/v1/ws` |
//! | `http://h/x/events?k=1` | `/x` | that, `/x/messages` | `/x/aaep/v1/…` | `/x/aaep/v1/ws` |
//! | `ws://h/x/aaep/v1/ws` | `/x` | `/x/events`, `/x/messages` | `/x/aaep/v1/…` | that |
//! | `ws://h/own` | | `/events`, `/messages` | `/aaep/v1/…` | that |
//!
//! The manifest is at `/.well-known/aaep-manifest.json`, whatever the base.

use crate::link::{
    Address, Ask, Body, Call, Course, Fault, LastWords, Stream, Subprotocol, Way, WebSocketTerms,
};

/// Where producers put the handshake (B.1.1).
const PREFIX: &str = "/aaep/v1";

/// Where producers put their manifest (5.10.2).
const MANIFEST: &str = "/.well-known/aaep-manifest.json";

/// What a request understands: a signed manifest comes as JOSE.
const ACCEPT: &str = "application/json, application/jose";

/// The largest answer that is taken in, in bytes: a signed manifest is a few kilobytes, a message of the
/// protocol at most 64 KiB (3.7).
const ANSWER_BYTES: usize = 256 * 1024;

/// What AAEP wants of a WebSocket (B.2).
pub const WEBSOCKET: WebSocketTerms = WebSocketTerms {
    path: "/aaep/v1/ws",
    // Both sides must name it (B.2.1).
    subprotocol: Subprotocol::Required {
        names: &["aaep.v1"],
        without: "the server does not speak aaep.v1 over its WebSocket",
    },
    // The end of the stream, and of the subscription as the subscriber wished (B.2.6).
    over: &[4000, 4005],
    // Rejected, not known, not allowed, thrown out: asking again changes nothing of that.
    turned_away: &[4001, 4002, 4003, 4004],
    leaving: 4005,
};

/// Knows where a producer has what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Addresses {
    /// What stands before the paths of the protocol; empty for the root.
    base: String,
    /// What stands before the plain pair.
    plain: String,
    /// The stream of the plain pair, where the person named that itself.
    named: Option<Address>,
    /// The WebSocket, where the person named that.
    socket: Option<String>,
}

impl Addresses {
    /// Reads the path of an address that was given for http or https.
    pub fn of_http(path: &str) -> Self {
        let whole = path.trim_end_matches('/');
        let (plain, named) = match whole.strip_suffix("/events") {
            Some(plain) if whole == path => (plain, Some(Address::Given)),
            Some(plain) => (plain, Some(Address::GivenAt(whole.to_owned()))),
            None => (whole, None),
        };
        Self {
            base: plain.strip_suffix(PREFIX).unwrap_or(plain).to_owned(),
            plain: plain.to_owned(),
            named,
            socket: None,
        }
    }

    /// Reads the path of an address that was given for ws or wss. One of its own says nothing about where the
    /// rest is: the usual place is tried.
    pub fn of_websocket(path: &str) -> Self {
        let path = match path {
            "" | "/" => WEBSOCKET.path,
            path => path,
        };
        let base = path.strip_suffix(WEBSOCKET.path).unwrap_or_default();
        Self {
            base: base.to_owned(),
            plain: base.to_owned(),
            named: None,
            socket: Some(path.to_owned()),
        }
    }

    /// Tells whether a query of the address that was given would go nowhere: it belongs to a stream, and this
    /// names none.
    pub fn takes_query(&self) -> bool {
        self.named.is_some() || self.socket.is_some()
    }

    /// Gives the path by which the source is called for a person: where its frames are without a handshake, or
    /// its WebSocket.
    pub fn shown(&self) -> String {
        match &self.socket {
            Some(socket) => socket.clone(),
            None => self.events(),
        }
    }

    /// Gives the path of a way.
    pub fn of(&self, way: Way) -> String {
        match (way, &self.socket) {
            (Way::WebSocket, Some(socket)) => socket.clone(),
            (Way::WebSocket, None) => format!("{}{}", self.base, WEBSOCKET.path),
            (Way::EventStream | Way::PlainPair, _) => self.events(),
        }
    }

    fn events(&self) -> String {
        format!("{}/events", self.plain)
    }

    fn handshake(&self, what: &str) -> String {
        format!("{}{PREFIX}/{what}", self.base)
    }

    /// Makes a request of the handshake.
    pub fn call(&self, ask: Ask) -> Call {
        let call = match ask {
            Ask::Manifest => Call::get(MANIFEST),
            Ask::Subscribe(body) => Call::post(self.handshake("subscriptions"), Body::json(body)),
            Ask::Tell(body) => self.tell(body),
            Ask::Call(call) => return call,
        };
        Call {
            accept: ACCEPT,
            most: ANSWER_BYTES,
            ..call
        }
    }

    fn tell(&self, body: String) -> Call {
        Call::post(self.handshake("replies"), Body::json(body))
    }

    /// Gives what is told to a producer when its event stream is left.
    pub fn last_words(&self, message: String) -> LastWords {
        LastWords::Call(self.tell(message))
    }

    /// Gives the stream of the plain pair.
    pub fn plain(&self) -> Stream {
        let at = self.named.clone();
        Stream {
            replies: Some(format!("{}/messages", self.plain)),
            probe: Some(MANIFEST.to_owned()),
            ..Stream::at(at.unwrap_or_else(|| Address::Path(self.events())))
        }
    }

    /// Gives the stream that a course means.
    ///
    /// # Errors
    /// The fault by which the attempt has failed.
    pub fn stream(&self, course: Course) -> Result<Stream, Fault> {
        let (id, location, resumed) = match course {
            Course::Plain => return Ok(self.plain()),
            Course::Stream(stream) => return Ok(stream),
            Course::Refused(fault) => return Err(fault),
            Course::Subscription {
                id,
                location,
                resumed,
            } => (id, location, resumed),
        };
        let at = match location {
            Some(location) => Address::Named(location),
            None => {
                let mut path = self.handshake("events?subscription_id=");
                path.extend(id.bytes().map(escaped));
                Address::Path(path)
            }
        };
        Ok(Stream {
            replies: Some(self.handshake("replies")),
            probe: Some(MANIFEST.to_owned()),
            may_be_forgotten: resumed,
            ..Stream::at(at)
        })
    }
}

/// Writes a byte of a value as a query may hold it.
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
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

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
            let subscribe = addresses.call(Ask::Subscribe("{}".to_owned()));
            assert_eq!(
                subscribe.path,
                format!("{base}/aaep/v1/subscriptions"),
                "{given}"
            );
            assert_eq!(addresses.call(Ask::Manifest).path, MANIFEST, "{given}");
            let tell = addresses.call(Ask::Tell("{}".to_owned()));
            assert_eq!(tell.path, format!("{base}/aaep/v1/replies"), "{given}");
            assert_eq!(
                addresses.of(Way::WebSocket),
                format!("{base}/aaep/v1/ws"),
                "{given}"
            );
            assert_eq!(addresses.shown(), format!("{plain}/events"), "{given}");
            let replies = addresses.plain().replies.unwrap();
            assert_eq!(replies, format!("{plain}/messages"), "{given}");
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
            assert_eq!(addresses.of(Way::WebSocket), socket);
            assert_eq!(addresses.of(Way::PlainPair), format!("{base}/events"));
        }
    }

    #[test]
    fn a_subscription_is_where_the_server_says_else_at_its_usual_place() {
        let addresses = Addresses::of_http("/a");
        let course = |id: &str, location: Option<&str>| Course::Subscription {
            id: id.to_owned(),
            location: location.map(str::to_owned),
            resumed: true,
        };
        let named = addresses.stream(course("sub_1", Some("/x?y=1"))).unwrap();
        assert_eq!(named.at, Address::Named("/x?y=1".to_owned()));
        assert!(named.may_be_forgotten);
        let usual = addresses.stream(course("s&b 1é", None)).unwrap();
        assert_eq!(
            usual.at,
            Address::Path("/a/aaep/v1/events?subscription_id=s%26b%201%C3%A9".to_owned())
        );
        assert_eq!(
            addresses.stream(Course::Refused(Fault::Refused)),
            Err(Fault::Refused)
        );
        assert!(!addresses.plain().may_be_forgotten);
    }

    #[test]
    fn what_is_none_of_aaep_goes_through_as_it_is() {
        let addresses = Addresses::of_http("/a");
        let call = Call::post("/rpc", Body::json("{}"));
        assert_eq!(addresses.call(Ask::Call(call.clone())), call);
        let stream = Stream {
            opened_by: Some(Body::json("{}")),
            ..Stream::at(Address::Given)
        };
        assert_eq!(addresses.stream(Course::Stream(stream.clone())), Ok(stream));
    }
}
