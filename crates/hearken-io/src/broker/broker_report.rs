//! What `doctor` reports about a NATS server.
//!
//! Responsibilities: one connection, and what it shows: the server's version, whom it admits, the stream, the machines,
//! whether this person may publish events. Not here: what is wrong with that, and the remedies (`doctor`).

use std::collections::BTreeSet;
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream;
use serde_json::Value;

use super::BrokerAddress;
use super::bridge_discovery::Discovery;
use super::broker_connection::connect;
use crate::link::Fault;
use crate::transport::LinkSettings;
use crate::transport::outside_text::clean;

/// How long to wait for the bridges' answers.
const DISCOVERY: Duration = Duration::from_secs(1);
/// The most machines that are counted.
const MOST_MACHINES: usize = 100_000;
/// The subject under which a server reports what a user may do.
const USER_INFO: &str = "$SYS.REQ.USER.INFO";
/// The longest version that is kept, in characters.
const LONGEST_VERSION: usize = 40;
/// The first versions of their lines without known holes (CVE-2026-27571, 33218, 33219, 58253).
const SAFE: [(u32, u32, u32); 2] = [(2, 11, 16), (2, 12, 7)];

/// The names of a space that an inspection needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedSpace {
    /// The token of the space.
    pub token: String,
    /// The stream.
    pub stream: String,
    /// The subject of an event that a machine could publish there.
    pub event: String,
    /// The prefix of the subjects for answers; `None` if any will do.
    pub inbox: Option<String>,
}

/// What a server shows about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Its version.
    pub version: String,
    /// Whether the version has known holes.
    pub is_old: bool,
    /// Whether it admits anybody.
    pub admits_anybody: bool,
    /// Whether it insists on TLS.
    pub has_tls: bool,
    /// Whether it stores anything at all.
    pub has_streams: bool,
    /// Whether the space has been published in.
    pub has_stream: bool,
    /// How many machines are there.
    pub machines: usize,
    /// Whether this person may publish events; `None` if the server doesn't tell.
    pub may_publish: Option<bool>,
}

/// Connects once and returns what the server shows.
///
/// # Errors
/// The reason why there is no connection.
pub async fn inspect(
    address: &BrokerAddress,
    settings: &LinkSettings,
    space: &InspectedSpace,
) -> Result<Inspection, Fault> {
    let terms = settings.broker_terms(address)?;
    let connected = connect(&terms, "hearken doctor", space.inbox.as_deref()).await?;
    let client = connected.client;
    let server = client.server_info();
    let context = jetstream::new(client.clone());
    let has_stream = context.get_stream(&space.stream).await.is_ok();
    Ok(Inspection {
        is_old: is_old(&server.version),
        version: clean(&server.version, LONGEST_VERSION),
        admits_anybody: !server.auth_required,
        has_tls: server.tls_required,
        has_streams: server.jetstream,
        has_stream,
        machines: machines(&client, &space.token).await,
        may_publish: may_publish(&client, &space.event).await,
    })
}

/// Returns whether a version has known holes; one that can't be read is taken for a newer one.
fn is_old(version: &str) -> bool {
    let mut parts = version.split(['.', '-', '+']).map(str::parse::<u32>);
    let mut next = || parts.next().and_then(Result::ok);
    let (Some(major), Some(minor), Some(patch)) = (next(), next(), next()) else {
        return false;
    };
    let [older, newer] = SAFE;
    let found = (major, minor, patch);
    found < older || (found > (older.0, older.1, u32::MAX) && found < newer)
}

/// Returns how many machines answer in a space.
async fn machines(client: &Client, space: &str) -> usize {
    let Some(mut bridges) = Discovery::begin(client, space).await else {
        return 0;
    };
    let mut hosts = BTreeSet::new();
    let gather = async {
        while let Some(host) = bridges.next().await {
            if hosts.len() < MOST_MACHINES {
                hosts.insert(host);
            }
        }
    };
    // The answers end with the time limit.
    let _ = tokio::time::timeout(DISCOVERY, gather).await;
    hosts.len()
}

/// Returns whether this user may publish under a subject; `None` if the server doesn't tell.
async fn may_publish(client: &Client, subject: &str) -> Option<bool> {
    let answer = client.request(USER_INFO, "".into());
    let answer = tokio::time::timeout(DISCOVERY, answer).await.ok()?.ok()?;
    let answer: Value = serde_json::from_slice(&answer.payload).ok()?;
    let user = answer.get("data")?;
    let Some(publish) = user.get("permissions").and_then(|all| all.get("publish")) else {
        return Some(true);
    };
    let listed = |list: &str| {
        let patterns = publish.get(list)?.as_array()?;
        let mut patterns = patterns.iter().filter_map(Value::as_str);
        Some(patterns.any(|pattern| covers(pattern, subject)))
    };
    Some(listed("allow").unwrap_or(true) && !listed("deny").unwrap_or(false))
}

/// Returns whether a pattern of subjects covers a subject.
fn covers(pattern: &str, subject: &str) -> bool {
    let mut wanted = pattern.split('.');
    let mut tokens = subject.split('.');
    loop {
        match (wanted.next(), tokens.next()) {
            (Some(">"), Some(_)) | (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(one), Some(other)) if one == other => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_with_known_holes_are_recognised() {
        for old in ["2.9.10", "2.11.15", "2.12.0", "2.12.6", "1.4.1"] {
            assert!(is_old(old), "{old}");
        }
        for safe in [
            "2.11.16",
            "2.11.99",
            "2.12.7",
            "2.15.1",
            "2.13.0-RC.1",
            "dev",
        ] {
            assert!(!is_old(safe), "{safe}");
        }
    }

    #[test]
    fn a_pattern_covers_what_the_server_would_let_through() {
        let subject = "aaep.v1.main.host.agent.session.ask";
        for pattern in [">", "aaep.>", "aaep.v1.main.*.*.*.ask", subject] {
            assert!(covers(pattern, subject), "{pattern}");
        }
        for pattern in [
            "aaep",
            "aaep.v1.main.*",
            "aaep-reply.>",
            "aaep.v1.main.other.>",
        ] {
            assert!(!covers(pattern, subject), "{pattern}");
        }
        assert!(!covers("aaep.v1.>", "aaep.v1"));
    }
}
