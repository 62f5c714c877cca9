//! Settings of the handshake with producers (AAEP chapter 5).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::AcceptedValues;

/// Settings for what is requested from producers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HandshakeConfig {
    /// The most events per second that are accepted, from 1 to 100000; urgent ones always arrive.
    pub max_events_per_second: u64,
    /// Where streamed text may be cut: `none`, `word`, `sentence`, `paragraph`, `completion`.
    pub boundaries: Vec<String>,
    /// Patterns of wanted types of event; a star at the end matches anything.
    pub include: Vec<String>,
    /// Patterns of unwanted types of event; they win.
    pub exclude: Vec<String>,
    /// Addresses of the extension vocabularies that producers may use.
    pub extensions: Vec<String>,
    /// The conformance levels of producers that are supported, from 1 to 3.
    pub levels: Vec<u64>,
    /// The speed of reading or speech, in words per minute, from 50 to 1000; if absent, it follows
    /// from the voice's rate.
    pub pace_wpm: Option<u64>,
    /// Whether to follow only producers whose signed manifest one of the person's keys verifies.
    pub require_signed: bool,
    /// A folder of public keys: `AGENT_ID.pem`, or `AGENT_ID/KEY_ID.pem`.
    pub keys: Option<PathBuf>,
}

impl Default for HandshakeConfig {
    fn default() -> Self {
        Self {
            max_events_per_second: 50,
            boundaries: ["sentence", "paragraph", "completion"]
                .map(str::to_owned)
                .to_vec(),
            include: ["aaep:agent.*", "hearken:*"].map(str::to_owned).to_vec(),
            exclude: Vec::new(),
            extensions: Vec::new(),
            levels: vec![1, 2, 3],
            pace_wpm: None,
            require_signed: false,
            keys: None,
        }
    }
}

impl HandshakeConfig {
    /// Returns the first setting that no producer could accept, and the values that would be valid.
    pub(super) fn fault(&self) -> Option<(&'static str, AcceptedValues)> {
        static BOUNDARIES: [&str; 5] = ["none", "word", "sentence", "paragraph", "completion"];
        if !(1..=100_000).contains(&self.max_events_per_second) {
            let takes = AcceptedValues::Between {
                least: 1,
                most: 100_000,
            };
            return Some(("handshake.max_events_per_second", takes));
        }
        if self
            .pace_wpm
            .is_some_and(|pace| !(50..=1000).contains(&pace))
        {
            let takes = AcceptedValues::Between {
                least: 50,
                most: 1000,
            };
            return Some(("handshake.pace_wpm", takes));
        }
        if self.boundaries.is_empty()
            || self
                .boundaries
                .iter()
                .any(|boundary| !BOUNDARIES.contains(&boundary.as_str()))
        {
            return Some(("handshake.boundaries", AcceptedValues::SomeOf(&BOUNDARIES)));
        }
        if self.levels.is_empty() || self.levels.iter().any(|level| !(1..=3).contains(level)) {
            return Some(("handshake.levels", AcceptedValues::SomeOf(&["1", "2", "3"])));
        }
        None
    }
}

/// The settings for one producer that differ from those for all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceHandshake {
    /// See [`HandshakeConfig::max_events_per_second`].
    pub max_events_per_second: Option<u64>,
    /// See [`HandshakeConfig::boundaries`].
    pub boundaries: Option<Vec<String>>,
    /// See [`HandshakeConfig::include`].
    pub include: Option<Vec<String>>,
    /// See [`HandshakeConfig::exclude`].
    pub exclude: Option<Vec<String>>,
    /// See [`HandshakeConfig::extensions`].
    pub extensions: Option<Vec<String>>,
    /// See [`HandshakeConfig::levels`].
    pub levels: Option<Vec<u64>>,
    /// See [`HandshakeConfig::pace_wpm`].
    pub pace_wpm: Option<u64>,
    /// Whether this producer must prove itself, even if not all must. A requirement for all can't
    /// be waived for one.
    pub require_signed: bool,
}

impl SourceHandshake {
    /// Returns the settings for all, overridden by this producer's own.
    pub fn over(&self, all: &HandshakeConfig) -> HandshakeConfig {
        let list =
            |own: &Option<Vec<String>>, all: &Vec<String>| own.as_ref().unwrap_or(all).clone();
        HandshakeConfig {
            max_events_per_second: self
                .max_events_per_second
                .unwrap_or(all.max_events_per_second),
            boundaries: list(&self.boundaries, &all.boundaries),
            include: list(&self.include, &all.include),
            exclude: list(&self.exclude, &all.exclude),
            extensions: list(&self.extensions, &all.extensions),
            levels: self.levels.as_ref().unwrap_or(&all.levels).clone(),
            pace_wpm: self.pace_wpm.or(all.pace_wpm),
            require_signed: self.require_signed || all.require_signed,
            keys: all.keys.clone(),
        }
    }
}
