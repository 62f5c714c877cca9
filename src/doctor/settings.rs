//! The settings: which file, and where each value came from.
//!
//! Responsibilities: reading the file as a run would, and telling for each setting whether its value
//! is the default, the file's, or the command line's. Not here: what settings mean (`config`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::report::{Finding, Part};
use crate::config::Config;
use crate::runtime::{self, settings};

/// The longest value that is shown, in characters: a line is to be listened to.
const LONGEST_VALUE: usize = 80;

/// Says where a setting's value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything else.
    Default,
    /// The settings file.
    File,
    /// What hearken was asked to remember of the voice.
    Remembered,
    /// A flag or an environment variable, in words.
    Said(String),
}

impl Origin {
    /// Words it.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::Default => "by default",
            Self::File => "from the file",
            Self::Remembered => "as hearken was asked to remember",
            Self::Said(how) => how,
        }
    }
}

/// Holds the settings of a run with the origin of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What a run would have; the defaults where the file can't be read.
    pub config: Config,
    /// Each setting by its dotted name: its value as TOML writes it, and its origin.
    pub origins: BTreeMap<String, (String, Origin)>,
    /// What is to be said of the file.
    file: Finding,
    /// What is wrong with what was remembered.
    memory: Option<Finding>,
}

impl Settings {
    /// Reads the file and lays over it what was remembered, and what was said on the command line.
    ///
    /// `recall` lays what was remembered over the settings; `said` names settings with the flag or
    /// variable that set each, and `lay` puts the values in.
    pub fn read(
        named: Option<&Path>,
        said: &[(String, String)],
        recall: impl FnOnce(&mut Config) -> anyhow::Result<()>,
        lay: impl FnOnce(&mut Config),
    ) -> Self {
        let (base, file) = match settings::text(named) {
            Ok(Some((path, text))) => match Config::from_toml(&text) {
                Ok(config) => (Some((config, text)), found(&path)),
                Err(error) => {
                    let why = runtime::phrases(Some(&path)).map_or_else(
                        |error| error.to_string(),
                        |phrases| phrases.settings_fault(&error),
                    );
                    (None, unreadable(&path, &why))
                }
            },
            Ok(None) => (None, absent(settings::own_file())),
            Err(error) => {
                let place = named.map(Path::to_owned).or_else(settings::own_file);
                let place = place.unwrap_or_default();
                (None, unreadable(&place, &error.root_cause().to_string()))
            }
        };
        let (base, text) = base.unwrap_or_default();
        let mut remembered = base.clone();
        let memory = recall(&mut remembered).err().map(|error| {
            Finding::broken(
                Part::Settings,
                format!("{error:#}"),
                "remove that file; then the settings hold again",
            )
        });
        let mut config = remembered.clone();
        lay(&mut config);
        let written = toml::from_str::<toml::Table>(&text).unwrap_or_default();
        let origins = origins([&base, &remembered, &config], &flatten(&written), said);
        Self {
            config,
            origins,
            file,
            memory,
        }
    }

    /// Gives what is to be said: the file, then each setting that is not its default, or each at all.
    pub fn findings(&self, all: bool) -> Vec<Finding> {
        let mut found = vec![self.file.clone()];
        found.extend(self.memory.clone());
        let mut untold = 0;
        for (name, (value, origin)) in &self.origins {
            if *origin == Origin::Default && !all {
                untold += 1;
                continue;
            }
            found.push(Finding::fine(
                Part::Settings,
                format!("{name} = {}, {}", shortened(value), origin.words()),
            ));
        }
        if untold > 0 {
            found.push(Finding::fine(
                Part::Settings,
                format!("{untold} others have their defaults; --all names them"),
            ));
        }
        found
    }
}

fn found(path: &Path) -> Finding {
    Finding::fine(Part::Settings, format!("the file is {}", path.display()))
}

fn absent(own: Option<PathBuf>) -> Finding {
    let text = match own {
        Some(path) => format!("there is no file; it would be {}", path.display()),
        None => "there is no file, and no place for one: neither XDG_CONFIG_HOME nor HOME is set"
            .to_owned(),
    };
    Finding::fine(Part::Settings, text)
}

fn unreadable(path: &Path, why: &str) -> Finding {
    Finding::broken(
        Part::Settings,
        format!("{} can't be used: {why}", path.display()),
        "mend that place, or name another file with --config; assets/config.toml shows every setting with its default",
    )
}

pub(super) fn shortened(value: &str) -> String {
    if value.chars().count() <= LONGEST_VALUE {
        return value.to_owned();
    }
    let start: String = value.chars().take(LONGEST_VALUE).collect();
    format!("{start} and more")
}

/// Gives each value with its origin, from the file's settings, those with what was remembered, and
/// those of the run.
fn origins(
    stages: [&Config; 3],
    written: &BTreeMap<String, String>,
    said: &[(String, String)],
) -> BTreeMap<String, (String, Origin)> {
    let [base, remembered, config] = stages.map(|config| {
        let table = toml::Table::try_from(config);
        table.map(|table| flatten(&table)).unwrap_or_default()
    });
    config
        .into_iter()
        .map(|(name, value)| {
            let how = said.iter().find(|(setting, _)| *setting == name);
            let origin = match how {
                Some((_, how)) => Origin::Said(format!("from {how}")),
                None if remembered.get(&name) != Some(&value) => {
                    Origin::Said("from the command line".to_owned())
                }
                None if base.get(&name) != Some(&value) => Origin::Remembered,
                None if written.contains_key(&name) => Origin::File,
                None => Origin::Default,
            };
            (name, (value, origin))
        })
        .collect()
}

/// Gives each value of a table by its dotted name.
pub(super) fn flatten(table: &toml::Table) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    for (name, value) in table {
        match value {
            toml::Value::Table(inner) => {
                for (below, value) in flatten(inner) {
                    flat.insert(format!("{name}.{below}"), value);
                }
            }
            // Entries may hold a program's arguments, which are nobody else's business.
            toml::Value::Array(entries) if entries.iter().any(toml::Value::is_table) => {
                flat.insert(name.clone(), format!("{} entries", entries.len()));
            }
            other => {
                flat.insert(name.clone(), other.to_string());
            }
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::Write as _;

    use super::*;
    use crate::config::Verbosity;
    use crate::doctor::report::Grade;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    fn origin<'a>(settings: &'a Settings, name: &str) -> &'a Origin {
        &settings.origins[name].1
    }

    #[test]
    fn each_value_has_the_origin_that_won() {
        let file = file("[announce]\nverbosity = \"terse\"\nfold = true\n[voice]\nrate = 10\n");
        let said = [(
            "announce.verbosity".to_owned(),
            "the flag --verbosity".to_owned(),
        )];
        let recall = |config: &mut Config| {
            config.voice.volume = Some(30);
            Ok(())
        };
        let settings = Settings::read(Some(file.path()), &said, recall, |config| {
            config.announce.verbosity = Verbosity::Detailed;
            config.announce.quiet = true;
        });
        assert_eq!(
            *origin(&settings, "announce.verbosity"),
            Origin::Said("from the flag --verbosity".to_owned())
        );
        assert_eq!(*origin(&settings, "voice.rate"), Origin::File);
        assert_eq!(
            *origin(&settings, &["voice", "volume"].join(".")),
            Origin::Remembered
        );
        assert_eq!(
            *origin(&settings, "announce.fold"),
            Origin::File,
            "written, though equal to the default"
        );
        assert_eq!(
            *origin(&settings, "announce.quiet"),
            Origin::Said("from the command line".to_owned()),
            "a value that nobody names a flag for is no default"
        );
        assert_eq!(*origin(&settings, "screen.width"), Origin::Default);
        let lines: Vec<String> = settings.findings(false).iter().map(Finding::line).collect();
        assert!(lines.iter().any(|line| line
            == "Settings: announce.verbosity = \"detailed\", from the flag --verbosity.\n"));
        let all = settings.findings(true).len();
        assert_eq!(
            all,
            settings.origins.len() + 1,
            "every setting and the file"
        );
        assert!(all > 30 && lines.len() == 7, "{lines:?}");
    }

    #[test]
    fn a_memory_that_can_not_be_used_is_a_problem() {
        let file = file("");
        let recall = |_: &mut Config| Err(anyhow::anyhow!("the memory can't be used"));
        let settings = Settings::read(Some(file.path()), &[], recall, |_| {});
        let found = settings.findings(false);
        assert!(found[1].text.contains("memory"), "{found:?}");
        assert!(matches!(found[1].grade, Grade::Broken { .. }), "{found:?}");
    }

    #[test]
    fn a_file_that_can_not_be_used_is_a_problem_with_its_place() {
        for (text, words) in [
            ("[announce]\nfold = 7\n", "line 2"),
            ("[voice]\nrate = 500\n", "-100 to 100"),
        ] {
            let file = file(text);
            let settings = Settings::read(Some(file.path()), &[], |_| Ok(()), |_| {});
            let first = &settings.findings(false)[0];
            assert!(matches!(first.grade, Grade::Broken { .. }), "{first:?}");
            assert!(first.text.contains(words), "{first:?}");
            assert_eq!(settings.config, Config::default());
        }
        let nowhere = Settings::read(
            Some(Path::new("/nonexistent/config.toml")),
            &[],
            |_| Ok(()),
            |_| {},
        );
        let first = &nowhere.findings(false)[0];
        assert!(first.text.contains("/nonexistent/config.toml"), "{first:?}");
        assert!(matches!(first.grade, Grade::Broken { .. }), "{first:?}");
    }
}
