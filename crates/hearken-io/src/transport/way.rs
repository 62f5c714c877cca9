//! The ways to reach one server on the network: the address for a way other than the one that the person named.
//!
//! Responsibilities: the source that follows the same server by another way. Not here: which way is tried when, and at
//! which path (a dialect), following it (`sse`, `websocket`).
//!
//! Host, port and whether the way is secure stay as the person gave them, so that a token can't be misdirected and
//! nothing on this machine can be opened. A query is left out, because it was meant for the address that it is part of.

use reqwest::Url;

use super::network_address::NetworkAddress;
use super::source::Source;
use crate::link::ServerRoute;

impl Source {
    /// Returns the source for the same server by another way; `None` for anything but a server on the network.
    pub fn with_route(&self, way: &ServerRoute) -> Option<Self> {
        let at = |url: &Url, secure: &str, plain: &str, path: &str| {
            let mut url = url.clone();
            let is_secure = matches!(url.scheme(), "https" | "wss");
            url.set_scheme(if is_secure { secure } else { plain })
                .ok()?;
            url.set_path(path);
            url.set_query(None);
            // It is as safe as the address that was checked: the same host, and secure if that one is.
            Some(url)
        };
        match (self, way) {
            (Self::Http(_), ServerRoute::EventStream(_) | ServerRoute::AsGiven)
            | (Self::WebSocket(_), ServerRoute::WebSocket(_) | ServerRoute::AsGiven) => {
                Some(self.clone())
            }
            (Self::Http(address), ServerRoute::WebSocket(path)) => {
                let url = at(address.url(), "wss", "ws", path)?;
                Some(Self::WebSocket(NetworkAddress::at(url)))
            }
            (Self::WebSocket(address), ServerRoute::EventStream(path)) => {
                let url = at(address.url(), "https", "http", path)?;
                Some(Self::Http(NetworkAddress::at(url)))
            }
            (
                Self::Unix(_)
                | Self::LocalWebSocket(_)
                | Self::Pipe(_)
                | Self::Program(_)
                | Self::File(_)
                | Self::Stdin
                | Self::Requests(_)
                | Self::Nats(_),
                _,
            ) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LinkConfig;

    fn by(source: &str, way: fn(String) -> ServerRoute) -> String {
        let config = LinkConfig {
            allow_plain_http: true,
            ..LinkConfig::default()
        };
        let source = Source::parse(source, &config).unwrap();
        match source.with_route(&way("/own/ws".to_owned())).unwrap() {
            Source::Http(address) => address.url().to_string(),
            Source::WebSocket(address) => address.url().to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn host_port_and_security_stay_as_the_person_gave_them() {
        type AddressCase = (&'static str, fn(String) -> ServerRoute, &'static str);
        let cases: [AddressCase; 10] = [
            (
                "http://127.0.0.1:8080",
                ServerRoute::WebSocket,
                "ws://127.0.0.1:8080/own/ws",
            ),
            (
                "https://a.example",
                ServerRoute::WebSocket,
                "wss://a.example/own/ws",
            ),
            (
                "https://a.example:444/x/events?key=1",
                ServerRoute::WebSocket,
                "wss://a.example:444/own/ws",
            ),
            (
                "http://[::1]:1/",
                ServerRoute::WebSocket,
                "ws://[::1]:1/own/ws",
            ),
            (
                "wss://a.example:444/x?key=1#f",
                ServerRoute::EventStream,
                "https://a.example:444/own/ws",
            ),
            (
                "ws://b.example",
                ServerRoute::EventStream,
                "http://b.example/own/ws",
            ),
            // The way that the person named stays unchanged.
            (
                "https://a.example/events?key=1",
                ServerRoute::EventStream,
                "https://a.example/events?key=1",
            ),
            (
                "wss://a.example/own?key=1",
                ServerRoute::WebSocket,
                "wss://a.example/own?key=1",
            ),
            (
                "ws://b.example/?k=1",
                |_| ServerRoute::AsGiven,
                "ws://b.example/?k=1",
            ),
            (
                "https://a.example/x",
                |_| ServerRoute::AsGiven,
                "https://a.example/x",
            ),
        ];
        for (source, way, address) in cases {
            assert_eq!(by(source, way), address, "{source}");
        }
    }

    #[test]
    fn what_is_no_server_on_the_network_has_one_way() {
        let config = LinkConfig::default();
        for source in [
            #[cfg(unix)]
            "unix:/tmp/a.sock",
            #[cfg(unix)]
            "unix:planner",
            "-",
            "a.jsonl",
        ] {
            let source = Source::parse(source, &config).unwrap();
            for way in [
                ServerRoute::EventStream("/".to_owned()),
                ServerRoute::WebSocket("/".to_owned()),
                ServerRoute::AsGiven,
            ] {
                assert_eq!(source.with_route(&way), None);
            }
        }
    }
}
