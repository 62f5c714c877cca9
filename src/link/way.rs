//! The ways to follow a server on the network, and what a manifest calls each.
//!
//! Responsibilities: those names. Not here: which way is tried when (`app`), the addresses of each
//! (`transport`).

/// Names a way to follow a server on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// A stream of server-sent events behind a handshake, with requests beside it (B.1).
    EventStream,
    /// A WebSocket, which carries both ways (B.2).
    WebSocket,
    /// `/events` and `/messages` without a handshake.
    PlainPair,
}

impl Way {
    /// Reads the name of a transport as manifests have it (5.10.1); `None` for those that lead to no
    /// server on the network, or that are not spoken.
    pub fn named(name: &str) -> Option<Self> {
        let is = |own: &str| name.trim().eq_ignore_ascii_case(own);
        if is("sse") {
            Some(Self::EventStream)
        } else if is("websocket") {
            Some(Self::WebSocket)
        } else {
            None
        }
    }

    /// Gives the name that a manifest has for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::EventStream | Self::PlainPair => "sse",
            Self::WebSocket => "websocket",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_ways_and_nothing_else() {
        assert_eq!(Way::named("sse"), Some(Way::EventStream));
        assert_eq!(Way::named(" WebSocket "), Some(Way::WebSocket));
        for other in [
            "",
            "stdio-jsonrpc",
            "unix-socket",
            "grpc",
            "named-pipe",
            "ws://b.example",
            "wss",
            "unix:/run/x.sock",
            "http://b.example/events",
            "sse\0",
            "plain",
        ] {
            assert_eq!(Way::named(other), None, "{other}");
        }
    }
}
