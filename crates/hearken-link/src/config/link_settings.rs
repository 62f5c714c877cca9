//! Settings of the links to sources.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::AcceptedValues;

/// The dialect that a source speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// The one that its first messages belong to
    #[default]
    Auto,
    /// The Agent Accessibility Event Protocol
    Aaep,
    /// The Agent Session Protocol
    Asp,
    /// Sage, in either of its forms
    Sage,
    /// The Agent Client Protocol
    Acp,
    /// opencode, attached to its server
    Opencode,
    /// Codex, attached to its app-server
    Codex,
    /// Claude Code, heard by its hooks
    Claude,
    /// AG-UI, which is asked for one run after another
    Agui,
    /// A2A, attached to an agent on a server
    A2a,
    /// A space on a NATS server, with the agents of many machines
    Nats,
    /// The agents on a NATS server that speak the Synadia Agent Protocol
    Synadia,
}

/// Settings of the links to sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkConfig {
    /// How often a link is retried before it is given up; absent means for ever.
    pub retries: Option<u32>,
    /// The wait before the first retry, in milliseconds.
    pub backoff_first_ms: u64,
    /// The longest wait between attempts, in milliseconds.
    pub backoff_cap_ms: u64,
    /// How long a connection attempt may take, in milliseconds.
    pub connect_timeout_ms: u64,
    /// How long the server may take to accept a reply, in milliseconds.
    pub reply_timeout_ms: u64,
    /// How long a stream may be silent, without even a comment, before a separate request checks that the
    /// server is alive, in seconds; 0 never checks. On a WebSocket the check is a ping.
    pub silent_after_seconds: u64,
    /// The largest message that is accepted, in bytes.
    pub max_frame_bytes: usize,
    /// Whether plain http is allowed to hosts other than this machine.
    pub allow_plain_http: bool,
    /// Whether servers are followed without a handshake, through `/events` and `/messages` alone.
    pub plain_pair: bool,
    /// The dialect that the sources speak.
    pub dialect: Dialect,
    /// Whether a file is followed as it grows, instead of read to its end.
    pub follow: bool,
    /// Whether to read what Claude Code writes between two calls, from the transcript that its hooks name.
    pub transcript: bool,
    /// How many seconds without an answer until a question goes back to an agent's own terminal, for agents
    /// whose terminal does not ask while the question is open here.
    pub hand_back_seconds: u64,
    /// Whether Gemini CLI waits before a call that may change something, so that the person can reject it.
    pub gemini_waits: bool,
    /// A file of certificates (PEM) that are trusted in addition to the system's.
    pub ca: Option<PathBuf>,
    /// A file with the certificate (PEM) that identifies this program to servers; requires `client_key`.
    pub client_cert: Option<PathBuf>,
    /// A file with the private key (PEM) of `client_cert`.
    pub client_key: Option<PathBuf>,
    /// A file with the credentials for NATS servers: a signed identity (`.creds`), or the seed of a key.
    pub creds: Option<PathBuf>,
    /// The sender address of signed answers, for protocols that require them; requires `identity_key`.
    pub identity: Option<String>,
    /// A file with that identity's private Ed25519 key (PKCS #8, PEM).
    pub identity_key: Option<PathBuf>,
    /// The address to which decisions are posted, for a protocol where another program carries them out; excludes
    /// `identity`.
    pub handler: Option<String>,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            retries: None,
            backoff_first_ms: 500,
            backoff_cap_ms: 30_000,
            connect_timeout_ms: 10_000,
            reply_timeout_ms: 10_000,
            silent_after_seconds: 60,
            max_frame_bytes: 4 * 1024 * 1024,
            allow_plain_http: false,
            plain_pair: false,
            dialect: Dialect::Auto,
            follow: false,
            transcript: false,
            hand_back_seconds: 5 * 60,
            gemini_waits: false,
            ca: None,
            client_cert: None,
            client_key: None,
            creds: None,
            identity: None,
            identity_key: None,
            handler: None,
        }
    }
}

impl LinkConfig {
    /// Returns the time limit of a connection attempt.
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }
    /// Returns the time limit of a reply.
    pub fn reply_timeout(&self) -> Duration {
        Duration::from_millis(self.reply_timeout_ms)
    }

    /// Returns the first setting out of range, if any, and its valid values.
    pub(super) fn fault(&self) -> Option<(&'static str, AcceptedValues)> {
        let ranges = [
            (
                self.max_frame_bytes >= 64 * 1024,
                "links.max_frame_bytes",
                AcceptedValues::AtLeast(64 * 1024),
            ),
            (
                (10..=3000).contains(&self.hand_back_seconds),
                "links.hand_back_seconds",
                AcceptedValues::Between {
                    least: 10,
                    most: 3000,
                },
            ),
            (
                self.backoff_first_ms >= 50,
                "links.backoff_first_ms",
                AcceptedValues::AtLeast(50),
            ),
            (
                self.backoff_cap_ms >= self.backoff_first_ms,
                "links.backoff_cap_ms",
                AcceptedValues::AtLeastThatOf("links.backoff_first_ms"),
            ),
        ];
        let found = ranges.into_iter().find(|(fits, ..)| !fits);
        found.map(|(_, name, takes)| (name, takes))
    }
}
