//! Sources that a person keeps in the settings, each with its own settings.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Dialect, HandshakeConfig, LinkConfig, Load, SourceFault, SourceHandshake, Verbosity};

/// The most sources in the settings: each is a connection that is kept open.
const MOST: usize = 64;

/// A source and its differences from the other links.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceConfig {
    /// The name by which it is called and shown.
    pub name: String,
    /// Its SOURCE, as on the command line.
    pub url: Option<String>,
    /// A program and its arguments, instead of `url`.
    pub command: Vec<String>,
    /// The environment variable that holds its bearer token.
    pub token_env: Option<String>,
    /// The file that holds its bearer token.
    pub token_file: Option<PathBuf>,
    /// See [`LinkConfig::retries`].
    pub retries: Option<u32>,
    /// See [`LinkConfig::allow_plain_http`].
    pub allow_plain_http: Option<bool>,
    /// See [`LinkConfig::follow`].
    pub follow: Option<bool>,
    /// See [`LinkConfig::ca`].
    pub ca: Option<PathBuf>,
    /// See [`LinkConfig::client_cert`].
    pub client_cert: Option<PathBuf>,
    /// See [`LinkConfig::client_key`].
    pub client_key: Option<PathBuf>,
    /// See [`LinkConfig::creds`].
    pub creds: Option<PathBuf>,
    /// See [`LinkConfig::identity`].
    pub identity: Option<String>,
    /// See [`LinkConfig::identity_key`].
    pub identity_key: Option<PathBuf>,
    /// See [`LinkConfig::handler`].
    pub handler: Option<String>,
    /// See [`LinkConfig::plain_pair`].
    pub plain_pair: Option<bool>,
    /// See [`LinkConfig::dialect`].
    pub dialect: Option<Dialect>,
    /// See [`LinkConfig::connect_timeout_ms`].
    pub connect_timeout_ms: Option<u64>,
    /// See [`LinkConfig::reply_timeout_ms`].
    pub reply_timeout_ms: Option<u64>,
    /// See [`LinkConfig::silent_after_seconds`].
    pub silent_after_seconds: Option<u64>,
    /// See [`LinkConfig::max_frame_bytes`].
    pub max_frame_bytes: Option<usize>,
    /// The path on its server to which prompts are posted as `{"user_message": …}`; without it, no prompts can be sent.
    pub prompt: Option<String>,
    /// The length of its agents' announcements, whatever it is for others.
    pub verbosity: Option<Verbosity>,
    /// How much of its agents is announced, whatever the load is for others.
    pub load: Option<Load>,
    /// The languages in which its agents are announced, best first, whatever they are for others.
    pub languages: Option<Vec<String>>,
    /// Whether only urgent news of its agents is spoken; a key unmutes each agent.
    pub quiet: bool,
    /// What is requested from it before it sends anything, if it differs from the rest.
    #[serde(skip_serializing_if = "is_usual")]
    pub handshake: SourceHandshake,
}

fn is_usual(handshake: &SourceHandshake) -> bool {
    *handshake == SourceHandshake::default()
}

/// How the agents of one source are announced, if differently from the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceAnnounce {
    /// The length of each announcement.
    pub verbosity: Option<Verbosity>,
    /// How much is announced.
    pub load: Option<Load>,
    /// The languages in which they are announced, best first.
    pub languages: Option<Vec<String>>,
    /// Whether only urgent news is spoken.
    pub quiet: bool,
}

impl SourceConfig {
    /// Returns how its agents are announced, if differently from the rest.
    pub fn announce(&self) -> SourceAnnounce {
        SourceAnnounce {
            verbosity: self.verbosity,
            load: self.load,
            languages: self.languages.clone(),
            quiet: self.quiet,
        }
    }

    /// Returns the settings of all links, overridden by this source's own.
    pub fn over(&self, links: &LinkConfig) -> LinkConfig {
        let mut links = links.clone();
        if self.retries.is_some() {
            links.retries = self.retries;
        }
        if let Some(allow) = self.allow_plain_http {
            links.allow_plain_http = allow;
        }
        if let Some(follow) = self.follow {
            links.follow = follow;
        }
        if self.ca.is_some() {
            links.ca.clone_from(&self.ca);
        }
        if self.client_cert.is_some() {
            links.client_cert.clone_from(&self.client_cert);
            links.client_key.clone_from(&self.client_key);
        }
        if self.creds.is_some() {
            links.creds.clone_from(&self.creds);
        }
        if self.identity.is_some() {
            links.identity.clone_from(&self.identity);
            links.identity_key.clone_from(&self.identity_key);
            links.handler = None;
        }
        if self.handler.is_some() {
            links.handler.clone_from(&self.handler);
            (links.identity, links.identity_key) = (None, None);
        }
        if let Some(plain) = self.plain_pair {
            links.plain_pair = plain;
        }
        if let Some(dialect) = self.dialect {
            links.dialect = dialect;
        }
        if let Some(limit) = self.connect_timeout_ms {
            links.connect_timeout_ms = limit;
        }
        if let Some(limit) = self.reply_timeout_ms {
            links.reply_timeout_ms = limit;
        }
        if let Some(silence) = self.silent_after_seconds {
            links.silent_after_seconds = silence;
        }
        if let Some(limit) = self.max_frame_bytes {
            links.max_frame_bytes = limit;
        }
        links
    }
}

/// Returns the fault in the settings' sources, if any.
pub(super) fn fault(sources: &[SourceConfig]) -> Option<SourceFault> {
    if sources.len() > MOST {
        return Some(SourceFault::TooMany(MOST));
    }
    let mut names = BTreeSet::new();
    for source in sources {
        let name = source.name.as_str();
        if name.trim().is_empty() || name.contains([':', '/']) || name.starts_with('-') {
            return Some(SourceFault::Name);
        }
        let named = || name.to_owned();
        if !names.insert(name) {
            return Some(SourceFault::Twice(named()));
        }
        if source.url.is_some() != source.command.is_empty() {
            return Some(SourceFault::Address(named()));
        }
        if source.token_env.is_some() && source.token_file.is_some() {
            return Some(SourceFault::OneOf {
                name: named(),
                settings: ["token_env", "token_file"],
            });
        }
        if source.client_cert.is_some() != source.client_key.is_some() {
            return Some(SourceFault::Both {
                name: named(),
                settings: ["client_cert", "client_key"],
            });
        }
        if source.identity.is_some() != source.identity_key.is_some() {
            return Some(SourceFault::Both {
                name: named(),
                settings: ["identity", "identity_key"],
            });
        }
        if source.identity.is_some() && source.handler.is_some() {
            return Some(SourceFault::OneOf {
                name: named(),
                settings: ["identity", "handler"],
            });
        }
        if source.prompt.as_deref().is_some_and(|path| !is_path(path))
            || source.prompt.is_some() && !on_a_server(source)
        {
            return Some(SourceFault::Prompt(named()));
        }
        if source.languages.as_ref().is_some_and(Vec::is_empty) {
            return Some(SourceFault::Languages(named()));
        }
        let own = source.over(&LinkConfig::default());
        let asked = source.handshake.over(&HandshakeConfig::default());
        if let Some((setting, takes)) = own.fault().or_else(|| asked.fault()) {
            let setting = setting.trim_start_matches("links.");
            return Some(SourceFault::Range {
                name: named(),
                setting,
                takes,
            });
        }
    }
    None
}

/// Returns whether a text is an absolute path on a server.
fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && c != '#';
    text.starts_with('/') && !text.starts_with("//") && text.chars().all(plain)
}

/// Returns whether a source is a server on the network that can receive other requests.
fn on_a_server(source: &SourceConfig) -> bool {
    let schemes = ["http://", "https://", "ws://", "wss://"];
    let url = source.url.as_deref().unwrap_or_default();
    schemes.iter().any(|scheme| url.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;
    #[test]
    fn each_source_has_settings_of_its_own() {
        let config = Config::from_toml(
            "[links]\nretries = 3\nca = \"/all.pem\"\n\
             [[source]]\nname = \"a\"\nurl = \"https://a\"\nretries = 5\nfollow = true\n\
             [[source]]\nname = \"b\"\ncommand = [\"b\", \"--stdio\"]\nca = \"/b.pem\"\n",
        )
        .unwrap();
        let own: Vec<LinkConfig> = config
            .source
            .iter()
            .map(|source| source.over(&config.links))
            .collect();
        assert_eq!((own[0].retries, own[0].follow), (Some(5), true));
        assert_eq!((own[1].retries, own[1].follow), (Some(3), false));
        assert_eq!(own[0].ca, Some("/all.pem".into()));
        assert_eq!(own[1].ca, Some("/b.pem".into()));
    }

    #[test]
    fn what_is_said_and_asked_of_a_source_is_its_own_too() {
        let config = Config::from_toml(
            "[handshake]\nexclude = [\"x\"]\npace_wpm = 300\n[links]\nplain_pair = true\n\
             [[source]]\nname = \"a\"\nurl = \"https://a\"\nverbosity = \"terse\"\nload = \"low\"\n\
             languages = [\"de\", \"en\"]\nquiet = true\nplain_pair = false\nsilent_after_seconds = 5\n\
             connect_timeout_ms = 7\nreply_timeout_ms = 8\nmax_frame_bytes = 70000\n\
             [source.handshake]\nmax_events_per_second = 2\nboundaries = [\"completion\"]\nlevels = [1, 2]\nrequire_signed = true\n\
             [[source]]\nname = \"b\"\nurl = \"https://b\"\n",
        )
        .unwrap();
        let (a, b) = (&config.source[0], &config.source[1]);
        assert_eq!(
            a.announce(),
            SourceAnnounce {
                verbosity: Some(Verbosity::Terse),
                load: Some(Load::Low),
                languages: Some(vec!["de".into(), "en".into()]),
                quiet: true,
            }
        );
        assert_eq!(b.announce(), SourceAnnounce::default());
        let links = a.over(&config.links);
        assert_eq!((links.plain_pair, links.silent_after_seconds), (false, 5));
        assert_eq!((links.connect_timeout_ms, links.reply_timeout_ms), (7, 8));
        assert_eq!(links.max_frame_bytes, 70_000);
        assert_eq!(b.over(&config.links), config.links);
        let asked = a.handshake.over(&config.handshake);
        assert_eq!(
            asked,
            HandshakeConfig {
                max_events_per_second: 2,
                boundaries: vec!["completion".into()],
                levels: vec![1, 2],
                require_signed: true,
                ..config.handshake.clone()
            }
        );
        assert_eq!(b.handshake.over(&config.handshake), config.handshake);
        let all = HandshakeConfig {
            require_signed: true,
            ..HandshakeConfig::default()
        };
        assert!(
            b.handshake.over(&all).require_signed,
            "proof that is asked of all is waived for nobody"
        );
    }
}
