//! Why something does not work, where a kind of fault has several reasons: typed until they are worded.
//!
//! Responsibilities: each reason, what it names, and the key of its words. Not here: what follows from a fault
//! (`fault`), the words (`announce`).

/// Is what stands in the words of a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// A name, a number or an address, as it can be said.
    Own(String),
}

/// Says why what answers is no WebSocket that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoWebSocket {
    /// It is something else.
    SomethingElse,
    /// It sends whoever comes elsewhere, which is not followed.
    Redirects,
    /// It speaks none of the subprotocols that it must speak.
    Without {
        /// What was offered, best first.
        offered: &'static [&'static str],
    },
    /// It chose a subprotocol that was not offered.
    NotOffered,
}

impl NoWebSocket {
    /// Gives the key of its words.
    pub fn key(self) -> &'static str {
        match self {
            Self::SomethingElse => "cause.websocket.none",
            Self::Redirects => "cause.websocket.redirects",
            Self::Without { .. } => "cause.websocket.without",
            Self::NotOffered => "cause.websocket.not_offered",
        }
    }

    /// Gives what stands in them.
    pub fn details(self) -> Vec<(&'static str, Detail)> {
        match self {
            Self::Without { offered } => vec![("protocol", Detail::Own(offered.join(", ")))],
            Self::SomethingElse | Self::Redirects | Self::NotOffered => Vec::new(),
        }
    }
}
