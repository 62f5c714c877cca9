//! Sources that a person keeps in the settings, each with its own.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::LinkConfig;

/// How many sources the settings may hold: each is a connection that is kept open.
const MOST: usize = 64;

/// Describes a source and what is different for it from the other links.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceConfig {
    /// The name by which it is called and shown.
    pub name: String,
    /// Its SOURCE, as on the command line.
    pub url: Option<String>,
    /// Instead of that, a program and its arguments.
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
}

impl SourceConfig {
    /// Lays this source's own settings over those of all links.
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
        links
    }
}

/// Finds what is wrong with the sources of the settings, in words.
pub(super) fn fault(sources: &[SourceConfig]) -> Option<String> {
    if sources.len() > MOST {
        return Some(format!("there are more than {MOST} sources"));
    }
    let mut names = BTreeSet::new();
    for source in sources {
        let name = source.name.as_str();
        if name.trim().is_empty() || name.contains([':', '/']) || name.starts_with('-') {
            return Some("each source wants a name, without a colon or a slash".to_owned());
        }
        if !names.insert(name) {
            return Some(format!("two sources are called {name:?}"));
        }
        if source.url.is_some() != source.command.is_empty() {
            return Some(format!("{name:?} wants either a url or a command"));
        }
        if source.token_env.is_some() && source.token_file.is_some() {
            return Some(format!(
                "{name:?} wants either token_env or token_file, not both"
            ));
        }
        if source.client_cert.is_some() != source.client_key.is_some() {
            return Some(format!(
                "{name:?} wants client_cert and client_key together"
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

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
    fn what_can_not_be_used_is_told_in_one_line() {
        for (text, words) in [
            ("url = \"x\"", "wants a name"),
            ("name = \"a:b\"\nurl = \"x\"", "wants a name"),
            ("name = \"a\"", "either a url or a command"),
            (
                "name = \"a\"\nurl = \"x\"\ncommand = [\"y\"]",
                "either a url or",
            ),
            (
                "name = \"a\"\nurl = \"x\"\ntoken_env = \"T\"\ntoken_file = \"f\"",
                "not both",
            ),
            ("name = \"a\"\nurl = \"x\"\nclient_key = \"k\"", "together"),
            (
                "name = \"a\"\nurl = \"x\"\n[[source]]\nname = \"a\"\nurl = \"y\"",
                "two sources are called",
            ),
            (
                "name = \"a\"\nurl = \"x\"\ntoken = \"s3cret\"",
                "unknown field",
            ),
        ] {
            let error = Config::from_toml(&format!("[[source]]\n{text}\n"))
                .unwrap_err()
                .to_string();
            assert!(error.contains(words), "{error}");
            assert!(
                !error.contains('\n') && !error.contains("s3cret"),
                "{error}"
            );
        }
    }
}
