//! The settings of single sources, and where each value came from.
//!
//! Responsibilities: reporting, for each source in question, every setting of its own, and on request those
//! that it shares with all sources. Not here: whether a source opens (`source_checks`), the general settings
//! (`settings_checks`).
//!
//! A source's address, its program with the arguments and the token itself are never reported.

use super::finding_lines::{DoctorFinding, DoctorTopic, own as name_of};
use super::settings_checks::{ReportedValue, RunSettings, flatten};
use crate::config::SourceConfig;
use crate::link::Phrase;

/// The settings that a source may have of its own, each with the general setting that it overrides.
const OF_ALL: [(&str, &str); 26] = [
    ("verbosity", "announce.verbosity"),
    ("load", "announce.load"),
    ("languages", "announce.languages"),
    ("retries", "links.retries"),
    ("connect_timeout_ms", "links.connect_timeout_ms"),
    ("reply_timeout_ms", "links.reply_timeout_ms"),
    ("silent_after_seconds", "links.silent_after_seconds"),
    ("max_frame_bytes", "links.max_frame_bytes"),
    ("allow_plain_http", "links.allow_plain_http"),
    ("plain_pair", "links.plain_pair"),
    ("follow", "links.follow"),
    ("ca", "links.ca"),
    ("client_cert", "links.client_cert"),
    ("client_key", "links.client_key"),
    ("creds", "links.creds"),
    ("identity", "links.identity"),
    ("identity_key", "links.identity_key"),
    ("handler", "links.handler"),
    (
        "handshake.max_events_per_second",
        "handshake.max_events_per_second",
    ),
    ("handshake.boundaries", "handshake.boundaries"),
    ("handshake.include", "handshake.include"),
    ("handshake.exclude", "handshake.exclude"),
    ("handshake.extensions", "handshake.extensions"),
    ("handshake.levels", "handshake.levels"),
    ("handshake.pace_wpm", "handshake.pace_wpm"),
    ("handshake.require_signed", "handshake.require_signed"),
];

/// The keys in a source's table that are not settings, or are private.
const UNTOLD: [&str; 3] = ["name", "url", "command"];

/// Returns the findings about the named sources; if none is named, about all sources in the settings.
pub fn findings(settings: &RunSettings, words: &[String], all: bool) -> Vec<DoctorFinding> {
    let meant = settings
        .config
        .source
        .iter()
        .filter(|own| words.is_empty() || words.contains(&own.name));
    meant.flat_map(|own| of(own, settings, all)).collect()
}

fn of(own: &SourceConfig, settings: &RunSettings, all: bool) -> Vec<DoctorFinding> {
    let written = toml::Table::try_from(own).unwrap_or_default();
    let mut flat = flatten(&written);
    // A switch that can only be turned on is not worth reporting when off.
    flat.retain(|name, value| {
        let off = matches!(name.as_str(), "quiet" | "handshake.require_signed")
            && *value == ReportedValue::Text("false".to_owned());
        !off && !UNTOLD.contains(&name.as_str())
    });
    let tell = |key, name: &str, value: &ReportedValue| {
        Phrase::new(key)
            .with("source", name_of(&own.name))
            .with("name", name_of(name))
            .with("value", value.word())
    };
    let mut found: Vec<DoctorFinding> = flat
        .iter()
        .map(|(name, value)| tell("doctor.own", name, value))
        .map(|text| DoctorFinding::fine(DoctorTopic::Settings, text))
        .collect();
    let as_all = OF_ALL
        .iter()
        .filter(|(name, _)| !flat.contains_key(*name))
        .filter_map(|(name, of_all)| Some((name, settings.origins.get(*of_all)?)));
    if all {
        found.extend(as_all.map(|(name, (value, origin))| {
            let text = tell("doctor.own.as_all", name, value).with("origin", origin.word());
            DoctorFinding::fine(DoctorTopic::Settings, text)
        }));
    } else if found.is_empty() {
        let text = Phrase::new("doctor.own.none").with("source", name_of(&own.name));
        found.push(DoctorFinding::fine(DoctorTopic::Settings, text));
    }
    found
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::config::SettingSource;

    fn settings(text: &str) -> RunSettings {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let said = [(
            "announce.load".to_owned(),
            SettingSource::Flag("--load".to_owned()),
        )];
        RunSettings::read(
            Some(file.path()),
            &said,
            |_| Ok(()),
            |config| config.announce.load = crate::config::Load::High,
        )
    }

    fn lines(settings: &RunSettings, words: &[&str], all: bool) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        findings(settings, &words, all)
            .iter()
            .map(|finding| finding.line(&crate::announce::Phrases::english().unwrap()))
            .collect()
    }

    const FILE: &str = "[links]\nretries = 3\n\
        [[source]]\nname = \"a\"\nurl = \"https://me:secret@a\"\nverbosity = \"terse\"\ntoken_env = \"A\"\n\
        [source.handshake]\nexclude = []\npace_wpm = 200\n\
        [[source]]\nname = \"b\"\ncommand = [\"b\", \"--password\", \"secret\"]\n";

    #[test]
    fn what_is_its_own_and_what_is_as_for_all_is_told_with_its_origin() {
        let settings = settings(FILE);
        assert_eq!(
            lines(&settings, &["a"], false),
            [
                "Settings: a: handshake.exclude = [], its own, from the file.\n",
                "Settings: a: handshake.pace_wpm = 200, its own, from the file.\n",
                "Settings: a: token_env = \"A\", its own, from the file.\n",
                "Settings: a: verbosity = \"terse\", its own, from the file.\n",
            ]
        );
        let some = lines(&settings, &[], false);
        assert_eq!(
            some.last().unwrap(),
            "Settings: b: everything is as for all sources.\n"
        );
        let all = lines(&settings, &["b"], true).concat();
        for words in [
            "b: load = \"high\", as for all, from the flag --load.",
            "b: retries = 3, as for all, from the file.",
            "b: verbosity = \"normal\", as for all, by default.",
        ] {
            assert!(all.contains(words), "{words} in {all}");
        }
        assert!(!(some.concat() + &all).contains("secret"));
    }

    #[test]
    fn each_name_is_a_setting_of_a_source_and_of_all() {
        let text = "[links]\nretries = 1\nca = \"a\"\nclient_cert = \"b\"\nclient_key = \"c\"\ncreds = \"g\"\nidentity = \"d\"\nidentity_key = \"e\"\nhandler = \"f\"\n\
                    [handshake]\npace_wpm = 100\n";
        let settings = settings(text);
        for (name, of_all) in OF_ALL {
            assert!(settings.origins.contains_key(of_all), "{of_all}");
            let unknown = match name.split_once('.') {
                Some((_, name)) => format!("[source.handshake]\n{name} = {{}}\n"),
                None => format!("{name} = {{}}\n"),
            };
            let file = format!("[[source]]\nname = \"a\"\nurl = \"x\"\n{unknown}");
            let error = crate::config::Config::from_toml(&file).unwrap_err();
            assert!(
                !error.to_string().contains("unknown field"),
                "{name}: {error}"
            );
        }
    }
}
