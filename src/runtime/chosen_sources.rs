//! Resolves the sources that a call means: those on the command line, those named in the settings, or all of
//! them.

use std::ffi::OsString;

use anyhow::bail;

use crate::announce::Reason;
use crate::cli::Options;
use crate::config::{Config, Dialect, HandshakeConfig, SourceAnnounce, SourceConfig};
use crate::transport::{LinkSettings, Source, Tls};

use super::request_failure::{self, RequestFailure};
use super::{settings_file, source_links};

/// A source to follow.
#[derive(Debug)]
pub(super) struct ChosenSource {
    pub(super) source: Source,
    /// Its name in the settings.
    pub(super) name: Option<String>,
    /// Its own settings, if it is in the settings file.
    pub(super) own_settings: Option<SourceSettings>,
    /// Whether the address of another source means this one, too.
    pub(super) beside: bool,
}

/// The settings of one source.
#[derive(Debug, Clone)]
pub(super) struct SourceSettings(SourceConfig);

/// Resolves the sources meant. A word is tried as a name in the settings first.
///
/// # Errors
/// When no source is meant, or a word can't be a source.
pub(super) fn meant(
    words: &[String],
    program: Vec<OsString>,
    config: &Config,
) -> anyhow::Result<Vec<ChosenSource>> {
    let mut chosen = Vec::new();
    for word in words {
        chosen.push(match config.source.iter().find(|own| own.name == *word) {
            Some(own) => named(own, config)?,
            None => {
                let source = source_links::read(word, &config.links)
                    .map_err(|error| source_links::unknown(word, error, config))?;
                let own = source_links::with_own(word, config).filter(|_| source.is_live());
                ChosenSource {
                    source,
                    name: None,
                    own_settings: own.map(SourceSettings),
                    beside: false,
                }
            }
        });
    }
    if !program.is_empty() {
        chosen.push(ChosenSource {
            source: Source::Program(program),
            name: None,
            own_settings: None,
            beside: false,
        });
    }
    if chosen.is_empty() {
        for own in &config.source {
            chosen.push(named(own, config)?);
        }
    }
    if chosen.is_empty() {
        // As written in the file; brackets in a phrase would mean something else.
        bail!(RequestFailure::new("call.nothing").with("table", "[[source]]"));
    }
    let beside: Vec<ChosenSource> = chosen
        .iter()
        .filter_map(ChosenSource::agents_beside)
        .collect();
    chosen.extend(beside);
    Ok(chosen)
}

impl ChosenSource {
    /// Returns the agents on a server whose address means everything there: they speak another protocol than the space,
    /// and nobody who publishes in the space may be able to pass for one of them.
    fn agents_beside(&self) -> Option<Self> {
        let Source::Nats(address) = &self.source else {
            return None;
        };
        let agents = address.is_of_all().then(|| address.of_agents())?;
        let dialect = Some(Dialect::Synadia);
        let own = self
            .own_settings
            .clone()
            .map(|SourceSettings(own)| SourceSettings(SourceConfig { dialect, ..own }));
        Some(Self {
            source: Source::Nats(agents),
            name: None,
            own_settings: own,
            beside: true,
        })
    }
}

fn named(own: &SourceConfig, config: &Config) -> anyhow::Result<ChosenSource> {
    let source = match &own.url {
        Some(url) => source_links::read(url, &own.over(&config.links))
            .map_err(|error| about(&own.name, request_failure::source(&error)))?,
        None => Source::Program(own.command.iter().map(OsString::from).collect()),
    };
    Ok(ChosenSource {
        source,
        name: Some(own.name.clone()),
        own_settings: Some(SourceSettings(source_links::spelled_out(own.clone()))),
        beside: false,
    })
}

/// Returns the failure that a source in the settings can't be used.
fn about(name: &str, why: Reason) -> RequestFailure {
    RequestFailure::new("call.source.own")
        .with("name", name)
        .because(why)
}

impl SourceSettings {
    /// Returns the path on its server that accepts tasks for the agent, if one is named.
    pub(super) fn prompts_at(&self) -> Option<String> {
        self.0.prompt.clone()
    }

    /// Returns how its agents are announced, if that differs from the general settings.
    pub(super) fn announce(&self) -> SourceAnnounce {
        self.0.announce()
    }

    /// Returns the handshake settings for it.
    pub(super) fn handshake(&self, config: &Config) -> HandshakeConfig {
        self.0.handshake.over(&config.handshake)
    }

    /// Returns the link's settings: its own, else those of the call. `alone` is true if no other source is
    /// followed.
    pub(super) fn settings(
        &self,
        options: &Options,
        config: &Config,
        alone: bool,
    ) -> anyhow::Result<LinkSettings> {
        let links = self.0.over(&config.links);
        let of_the_call =
            || settings_file::token(options.token_env.as_deref(), options.token_file.as_deref());
        let about = |why: Reason| about(&self.0.name, why);
        let token = settings_file::token_of(&self.0, of_the_call, alone)
            .and_then(|token| settings_file::credential(links.dialect, token))
            .map_err(|failure| about(failure.reason().clone()))?;
        let tls = Tls::load(&links).map_err(|error| about(request_failure::tls(&error)))?;
        // The seed is set when the link is opened.
        Ok(LinkSettings::new(links, token, tls, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config::from_toml(
            "[[source]]\nname = \"planner\"\nurl = \"ws://far.example/x\"\nallow_plain_http = true\n\
             [[source]]\nname = \"helper\"\ncommand = [\"helper\", \"--stdio\"]\n",
        )
        .unwrap()
    }

    fn names(words: &[&str], config: &Config) -> anyhow::Result<Vec<String>> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let chosen = meant(&words, Vec::new(), config)?;
        Ok(chosen
            .into_iter()
            .map(|one| {
                one.name.unwrap_or_else(|| {
                    source_links::name(&one.source, crate::config::Dialect::Auto)
                })
            })
            .collect())
    }

    fn told(error: &anyhow::Error) -> String {
        crate::runtime::fault(error, &crate::announce::Phrases::english().unwrap())
    }

    #[test]
    fn a_word_is_a_name_first_and_none_means_all() {
        let config = config();
        assert_eq!(
            names(&["helper", "-"], &config).unwrap(),
            ["helper", "standard input"]
        );
        assert_eq!(names(&[], &config).unwrap(), ["planner", "helper"]);
        let nothing = names(&[], &Config::default()).unwrap_err();
        assert!(told(&nothing).contains("nothing to watch"));
    }

    #[test]
    fn a_name_that_is_nearly_one_of_the_settings_is_told_which() {
        let config = config();
        for (word, words) in [
            ("plannr", "did you mean planner?"),
            ("Helper", "did you mean helper?"),
            ("zebra", "the sources there are planner, helper"),
        ] {
            let error = told(&names(&[word], &config).unwrap_err());
            assert!(
                error.contains(words) && error.contains("nor a source of your settings"),
                "{error}"
            );
        }
        let error = told(&names(&["localhost:80"], &config).unwrap_err());
        assert!(error.ends_with("http://localhost:80"), "{error}");
        let alone = names(&["plannr"], &Config::default()).unwrap_err();
        assert!(told(&alone).starts_with("there is no file called plannr; a source is"));
    }

    #[test]
    fn an_address_of_all_on_a_server_means_its_agents_too_with_the_same_settings() {
        let settings =
            "[[source]]\nname = \"fleet\"\nurl = \"nats://127.0.0.1:1\"\ncreds = \"/a\"\n";
        let config = Config::from_toml(settings).unwrap();
        let agents = "agents+nats://127.0.0.1:1";
        assert_eq!(names(&["fleet"], &config).unwrap(), ["fleet", agents]);
        for (word, wanted) in [
            ("nats://127.0.0.1:1", &["nats://127.0.0.1:1", agents][..]),
            ("nats://127.0.0.1:1/main", &["nats://127.0.0.1:1/main"]),
            (agents, &[agents]),
        ] {
            assert_eq!(names(&[word], &config).unwrap(), wanted, "{word}");
        }
        let chosen = meant(&["fleet".to_owned()], Vec::new(), &config).unwrap();
        let creds = |one: &ChosenSource| {
            one.own_settings
                .as_ref()
                .and_then(|own| own.0.creds.clone())
        };
        assert_eq!(creds(&chosen[0]), creds(&chosen[1]));
        assert!(creds(&chosen[0]).is_some() && !chosen[0].beside && chosen[1].beside);
        let dialect = |one: &ChosenSource| one.own_settings.as_ref().and_then(|own| own.0.dialect);
        assert_eq!(dialect(&chosen[1]), Some(Dialect::Synadia));
    }

    #[test]
    fn what_is_allowed_to_one_source_is_allowed_to_no_other() {
        let config = config();
        assert!(names(&["planner"], &config).is_ok());
        assert!(names(&["ws://far.example/x"], &config).is_err());
    }
}
