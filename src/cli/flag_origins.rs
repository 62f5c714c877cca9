//! Which settings a command line sets, and by which flag or variable.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::parser::ValueSource;

use super::Cli;
use crate::config::SettingSource;

/// The settings that flags set, by the flag's id; a flag that is missing here is reported as coming from the command
/// line.
const SETTINGS: [(&str, &str); 16] = [
    ("face", "screen.face"),
    ("screen_reader", "screen.reader"),
    ("voice", "voice.engine"),
    ("verbosity", "announce.verbosity"),
    ("load", "announce.load"),
    ("language", "announce.languages"),
    ("width", "screen.width"),
    ("retries", "links.retries"),
    ("allow_plain_http", "links.allow_plain_http"),
    ("quiet", "announce.quiet"),
    ("follow", "links.follow"),
    ("dialect", "links.dialect"),
    ("ca", "links.ca"),
    ("client_cert", "links.client_cert"),
    ("client_key", "links.client_key"),
    ("creds", "links.creds"),
];

/// Returns the settings that a command line or the environment sets, each with its flag or variable.
///
/// Returns none for an invalid command line.
pub fn said(arguments: impl IntoIterator<Item = OsString>) -> Vec<(String, SettingSource)> {
    let command = Cli::command();
    let Ok(matches) = command.clone().try_get_matches_from(arguments) else {
        return Vec::new();
    };
    let Some((name, matches)) = matches.subcommand() else {
        return Vec::new();
    };
    let Some(command) = command.find_subcommand(name) else {
        return Vec::new();
    };
    let mut said = Vec::new();
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        let Some((_, setting)) = SETTINGS.iter().find(|(known, _)| *known == id) else {
            continue;
        };
        let how = match matches.value_source(id) {
            Some(ValueSource::CommandLine) => {
                SettingSource::Flag(format!("--{}", argument.get_long().unwrap_or(id)))
            }
            Some(ValueSource::EnvVariable) => {
                let variable = argument.get_env().unwrap_or_default().to_string_lossy();
                SettingSource::Variable(variable.into_owned())
            }
            Some(_) | None => continue,
        };
        said.push(((*setting).to_owned(), how));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_settings_flag_or_variable_is_named() {
        let said = |line: &str| said(line.split(' ').map(OsString::from));
        let flags = "hearken doctor --face linear --quiet --language de,en --screen-reader no";
        let names = [
            ("screen.face", "--face"),
            ("screen.reader", "--screen-reader"),
            ("announce.languages", "--language"),
            ("announce.quiet", "--quiet"),
        ];
        let mut wanted =
            names.map(|(name, flag)| (name.to_owned(), SettingSource::Flag(flag.to_owned())));
        let mut found = said(flags);
        wanted.sort();
        found.sort();
        assert_eq!(found, wanted);
        assert!(said("hearken doctor --nonsense").is_empty());
        let command = Cli::command();
        let doctor = command.find_subcommand("doctor");
        let settings = toml::Table::try_from(Config {
            links: crate::config::LinkConfig {
                retries: Some(1),
                ca: Some("a".into()),
                client_cert: Some("b".into()),
                client_key: Some("c".into()),
                creds: Some("d".into()),
                ..Default::default()
            },
            screen: crate::config::ScreenConfig {
                width: Some(40),
                ..Default::default()
            },
            ..Default::default()
        });
        for (id, setting) in SETTINGS {
            assert!(
                doctor.is_some_and(|doctor| doctor.get_arguments().any(|it| it.get_id() == id)),
                "{id} is no flag"
            );
            let (section, name) = setting.split_once('.').unwrap_or_default();
            assert!(
                settings
                    .as_ref()
                    .is_ok_and(|settings| settings[section].get(name).is_some()),
                "{setting} is no setting"
            );
        }
    }
}
