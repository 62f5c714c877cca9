//! The settings: which file, and where each value came from.
//!
//! Responsibilities: reading the file as a run would, and reporting for each setting whether its value
//! is the default, the file's, or the command line's. Not here: what settings mean (`config`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::finding_lines::{DoctorFinding, DoctorTopic, because, own};
use crate::config::{Config, SettingSource};
use crate::link::{Phrase, PhraseArg};
use crate::runtime::{self, RequestFailure, settings_file};

/// The longest value that is shown, in characters: a line is for listening.
const LONGEST_VALUE: usize = 80;

/// Where a setting's value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Not set anywhere.
    Default,
    /// The settings file.
    File,
    /// The remembered voice settings.
    Remembered,
    /// A flag or an environment variable.
    Said(SettingSource),
}

impl Origin {
    /// Returns it as used in a sentence.
    pub(super) fn word(&self) -> PhraseArg {
        let phrase = match self {
            Self::Default => Phrase::new("doctor.origin.default"),
            Self::File => Phrase::new("doctor.origin.file"),
            Self::Remembered => Phrase::new("doctor.origin.remembered"),
            Self::Said(SettingSource::Flag(name)) => {
                Phrase::new("doctor.origin.flag").with("name", own(name))
            }
            Self::Said(SettingSource::Variable(name)) => {
                Phrase::new("doctor.origin.variable").with("name", own(name))
            }
            Self::Said(SettingSource::Call) => Phrase::new("doctor.origin.call"),
        };
        PhraseArg::Phrase(phrase)
    }
}

/// A setting's value as reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportedValue {
    /// As TOML writes it.
    Text(String),
    /// Tables; only their number is reported, because they may contain a program's arguments, which are private.
    Entries(usize),
}

impl ReportedValue {
    /// Returns it as used in a sentence, shortened to a length fit for listening.
    pub(super) fn word(&self) -> PhraseArg {
        let text = match self {
            Self::Entries(n) => {
                return PhraseArg::Phrase(Phrase::new("doctor.value.entries").with("n", own(n)));
            }
            Self::Text(text) => text,
        };
        if text.chars().count() <= LONGEST_VALUE {
            return own(text);
        }
        let start: String = text.chars().take(LONGEST_VALUE).collect();
        PhraseArg::Phrase(Phrase::new("doctor.value.more").with("start", PhraseArg::Own(start)))
    }
}

/// The settings of a run, with the origin of each.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSettings {
    /// The settings that a run would have; the defaults if the file can't be read.
    pub config: Config,
    /// Each setting by its dotted name: its value as TOML writes it, and its origin.
    pub origins: BTreeMap<String, (ReportedValue, Origin)>,
    /// The finding about the file.
    file: DoctorFinding,
    /// The problem with the remembered voice settings, if any.
    memory: Option<DoctorFinding>,
}

impl RunSettings {
    /// Reads the file, and applies the remembered voice settings and the command line to it.
    ///
    /// `recall` applies the remembered voice settings; `said` names settings with the flag or variable
    /// that set each, and `lay` applies their values.
    pub fn read(
        named: Option<&Path>,
        said: &[(String, SettingSource)],
        recall: impl FnOnce(&mut Config) -> Result<(), RequestFailure>,
        lay: impl FnOnce(&mut Config),
    ) -> Self {
        let (base, file) = match settings_file::text(named) {
            Ok(Some((path, text))) => match Config::from_toml(&text) {
                Ok(config) => (Some((config, text)), found(&path)),
                Err(error) => {
                    let why = runtime::phrases(Some(&path)).map_or_else(
                        |error| error.to_string(),
                        |phrases| phrases.settings_fault(&error),
                    );
                    (None, unreadable(&path, own(why)))
                }
            },
            Ok(None) => (None, absent(settings_file::own_file())),
            Err(error) => {
                let place = named.map(Path::to_owned).or_else(settings_file::own_file);
                let place = place.unwrap_or_default();
                (None, unreadable(&place, because(error.cause())))
            }
        };
        let (base, text) = base.unwrap_or_default();
        let mut remembered = base.clone();
        let memory = recall(&mut remembered).err().map(|error| {
            DoctorFinding::broken(
                DoctorTopic::Settings,
                Phrase::new("fault.other").with("reason", because(error.reason())),
                "doctor.memory.remedy",
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

    /// Returns the findings: the file, then each setting that is not at its default, or all of them.
    pub fn findings(&self, all: bool) -> Vec<DoctorFinding> {
        let mut found = vec![self.file.clone()];
        found.extend(self.memory.clone());
        let mut untold = 0;
        for (name, (value, origin)) in &self.origins {
            if *origin == Origin::Default && !all {
                untold += 1;
                continue;
            }
            found.push(DoctorFinding::fine(
                DoctorTopic::Settings,
                Phrase::new("doctor.setting")
                    .with("name", own(name))
                    .with("value", value.word())
                    .with("origin", origin.word()),
            ));
        }
        if untold > 0 {
            found.push(DoctorFinding::fine(
                DoctorTopic::Settings,
                Phrase::new("doctor.settings.others").with("n", own(untold)),
            ));
        }
        found
    }
}

fn found(path: &Path) -> DoctorFinding {
    let text = Phrase::new("doctor.file").with("path", own(path.display()));
    DoctorFinding::fine(DoctorTopic::Settings, text)
}

fn absent(place: Option<PathBuf>) -> DoctorFinding {
    let text = match place {
        Some(path) => Phrase::new("doctor.file.none").with("path", own(path.display())),
        None => Phrase::new("doctor.file.nowhere"),
    };
    DoctorFinding::fine(DoctorTopic::Settings, text)
}

fn unreadable(path: &Path, why: PhraseArg) -> DoctorFinding {
    DoctorFinding::broken(
        DoctorTopic::Settings,
        Phrase::new("doctor.file.unusable")
            .with("path", own(path.display()))
            .with("why", why),
        "doctor.file.remedy",
    )
}

/// Returns each value with its origin. The stages are the file's settings, those with the remembered
/// voice settings, and those of the run.
fn origins(
    stages: [&Config; 3],
    written: &BTreeMap<String, ReportedValue>,
    said: &[(String, SettingSource)],
) -> BTreeMap<String, (ReportedValue, Origin)> {
    let [base, remembered, config] = stages.map(|config| {
        let table = toml::Table::try_from(config);
        table.map(|table| flatten(&table)).unwrap_or_default()
    });
    config
        .into_iter()
        .map(|(name, value)| {
            let how = said.iter().find(|(setting, _)| *setting == name);
            let origin = match how {
                Some((_, how)) => Origin::Said(how.clone()),
                None if remembered.get(&name) != Some(&value) => Origin::Said(SettingSource::Call),
                None if base.get(&name) != Some(&value) => Origin::Remembered,
                None if written.contains_key(&name) => Origin::File,
                None => Origin::Default,
            };
            (name, (value, origin))
        })
        .collect()
}

/// Returns each value of a table by its dotted name.
pub(super) fn flatten(table: &toml::Table) -> BTreeMap<String, ReportedValue> {
    let mut flat = BTreeMap::new();
    for (name, value) in table {
        match value {
            toml::Value::Table(inner) => {
                for (below, value) in flatten(inner) {
                    flat.insert(format!("{name}.{below}"), value);
                }
            }
            toml::Value::Array(entries) if entries.iter().any(toml::Value::is_table) => {
                flat.insert(name.clone(), ReportedValue::Entries(entries.len()));
            }
            other => {
                flat.insert(name.clone(), ReportedValue::Text(other.to_string()));
            }
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::config::Verbosity;
    use crate::doctor::finding_lines::Grade;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    fn line(finding: &DoctorFinding) -> String {
        finding.line(&crate::announce::Phrases::english().unwrap())
    }

    fn origin<'a>(settings: &'a RunSettings, name: &str) -> &'a Origin {
        &settings.origins[name].1
    }

    #[test]
    fn each_value_has_the_origin_that_won() {
        let file = file("[announce]\nverbosity = \"terse\"\nfold = true\n[voice]\nrate = 10\n");
        let said = [(
            "announce.verbosity".to_owned(),
            SettingSource::Flag("--verbosity".to_owned()),
        )];
        let recall = |config: &mut Config| {
            config.voice.volume = Some(30);
            Ok(())
        };
        let settings = RunSettings::read(Some(file.path()), &said, recall, |config| {
            config.announce.verbosity = Verbosity::Detailed;
            config.announce.quiet = true;
        });
        assert_eq!(
            *origin(&settings, "announce.verbosity"),
            Origin::Said(SettingSource::Flag("--verbosity".to_owned()))
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
            Origin::Said(SettingSource::Call),
            "a value that nobody names a flag for is no default"
        );
        assert_eq!(*origin(&settings, "screen.bell"), Origin::Default);
        let lines: Vec<String> = settings.findings(false).iter().map(line).collect();
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
        let recall = |_: &mut Config| {
            let why = crate::announce::Reason::new("call.memory.range");
            Err(RequestFailure::new("call.memory")
                .with("path", "x")
                .because(why))
        };
        let settings = RunSettings::read(Some(file.path()), &[], recall, |_| {});
        let found = settings.findings(false);
        assert!(line(&found[1]).contains("remembered"), "{found:?}");
        assert!(matches!(found[1].grade, Grade::Broken { .. }), "{found:?}");
    }

    #[test]
    fn a_file_that_can_not_be_used_is_a_problem_with_its_place() {
        for (text, words) in [
            ("[announce]\nfold = 7\n", "line 2"),
            ("[voice]\nrate = 500\n", "-100 to 100"),
        ] {
            let file = file(text);
            let settings = RunSettings::read(Some(file.path()), &[], |_| Ok(()), |_| {});
            let first = &settings.findings(false)[0];
            assert!(matches!(first.grade, Grade::Broken { .. }), "{first:?}");
            assert!(line(first).contains(words), "{first:?}");
            assert_eq!(settings.config, Config::default());
        }
        let nowhere = RunSettings::read(
            Some(Path::new("/nonexistent/config.toml")),
            &[],
            |_| Ok(()),
            |_| {},
        );
        let first = &nowhere.findings(false)[0];
        assert!(
            line(first).contains("/nonexistent/config.toml"),
            "{first:?}"
        );
        assert!(matches!(first.grade, Grade::Broken { .. }), "{first:?}");
    }
}
