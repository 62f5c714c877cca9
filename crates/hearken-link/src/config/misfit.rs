//! Why a line of the settings can't be used, as data.
//!
//! Responsibilities: making that of what the reader of TOML says, and of the line it says it about. Not here:
//! the words (`announce`).

/// How many characters of what a person wrote are shown.
const LONGEST: usize = 60;

/// What does not fit on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// A setting has a value that is none of those it takes.
    Value {
        /// The setting.
        name: String,
        /// What is there.
        given: String,
        /// What may be there.
        allowed: Vec<String>,
    },
    /// There is no such setting.
    Name {
        /// What is there.
        given: String,
        /// The setting that it is closest to, where one is close.
        close: Option<String>,
    },
    /// A setting has a value of another kind than it takes.
    Kind {
        /// The setting.
        name: String,
        /// What is there.
        given: String,
    },
    /// A setting takes a list, and has a single value.
    List {
        /// The setting.
        name: String,
        /// What is there.
        given: String,
    },
    /// A setting that is needed is not there.
    Missing {
        /// The setting.
        name: String,
    },
    /// It is no TOML.
    Syntax,
}

impl Misfit {
    /// Makes it of the reader's message and the line.
    pub(super) fn of(message: &str, line: &str) -> Self {
        let quoted: Vec<String> = message
            .split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect();
        let (name, given) = match line.split_once('=') {
            Some((name, given)) => (bare(name), bare(given)),
            None => (String::new(), bare(line)),
        };
        match quoted.split_first() {
            Some((given, allowed)) if message.starts_with("unknown variant") => Self::Value {
                name,
                given: shown(given),
                allowed: allowed.to_vec(),
            },
            Some((given, known)) if message.starts_with("unknown field") => Self::Name {
                close: closest(given, known.iter().map(String::as_str)),
                given: shown(given),
            },
            Some((name, _)) if message.starts_with("missing field") => {
                Self::Missing { name: name.clone() }
            }
            _ if message.starts_with("invalid ") && !name.is_empty() => {
                if message.ends_with("expected a sequence") {
                    Self::List { name, given }
                } else {
                    Self::Kind { name, given }
                }
            }
            Some(_) | None => Self::Syntax,
        }
    }
}

/// Takes the blanks, the quotes and a comment from a piece of a line.
fn bare(text: &str) -> String {
    let text = text.split(" #").next().unwrap_or_default();
    shown(text.trim().trim_matches(['"', '\'', '[', ']']))
}

/// Makes what a person wrote fit to be shown: short, and without anything unseen.
fn shown(text: &str) -> String {
    let seen = text.chars().filter(|c| !c.is_control());
    let mut short: String = seen.clone().take(LONGEST).collect();
    if seen.count() > LONGEST {
        short.push('…');
    }
    short
}

/// Finds the name that one is probably meant for: at most a third of its letters differ.
pub fn closest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .min_by_key(|name| steps(given, name))
        .filter(|name| steps(given, name) * 3 <= name.chars().count().max(3))
        .map(str::to_owned)
}

/// Counts the letters that have to be put in, taken out or changed to make one word of another.
fn steps(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(LONGEST).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().take(LONGEST).enumerate() {
        let mut last = at;
        if let Some(first) = row.first_mut() {
            *first = at + 1;
        }
        for (place, wanted) in other.iter().enumerate() {
            let change = last + usize::from(letter != *wanted);
            last = row.get(place + 1).copied().unwrap_or_default();
            let left = row.get(place).copied().unwrap_or_default();
            if let Some(cell) = row.get_mut(place + 1) {
                *cell = change.min(last + 1).min(left + 1);
            }
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::config::{Config, ConfigError};

    fn misfit(text: &str) -> (usize, Misfit) {
        match Config::from_toml(text) {
            Err(ConfigError::Toml { line, misfit }) => (line, misfit),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_does_not_fit_is_told_by_its_setting() {
        assert_eq!(
            misfit("[announce]\nverbosity = \"loud\" # as loud as can be\n"),
            (
                2,
                Misfit::Value {
                    name: "verbosity".into(),
                    given: "loud".into(),
                    allowed: vec!["terse".into(), "normal".into(), "detailed".into()],
                }
            )
        );
        assert_eq!(
            misfit("[announce]\nverbosty = \"terse\"\n"),
            (
                2,
                Misfit::Name {
                    given: "verbosty".into(),
                    close: Some("verbosity".into()),
                }
            )
        );
        let (line, far) = misfit("colour = 1\n");
        assert_eq!(line, 1);
        assert!(matches!(far, Misfit::Name { given, close: None } if given == "colour"));
        assert_eq!(
            misfit("[questions]\narm_ms = \"long\"\n"),
            (
                2,
                Misfit::Kind {
                    name: "arm_ms".into(),
                    given: "long".into(),
                }
            )
        );
        assert_eq!(
            misfit("[announce]\nlanguages = \"en\"\n").1,
            Misfit::List {
                name: "languages".into(),
                given: "en".into(),
            }
        );
        assert_eq!(misfit("[announce\n").1, Misfit::Syntax);
        assert_eq!(misfit("[announce]\nverbosity = loud\n").1, Misfit::Syntax);
    }

    #[test]
    fn what_is_shown_is_short_and_harmless() {
        let long = format!("[announce]\nverbosity = \"{}\"\n", "x".repeat(500));
        let (_, Misfit::Value { given, .. }) = misfit(&long) else {
            panic!("no value");
        };
        assert_eq!(given.chars().count(), LONGEST + 1);
        assert_eq!(shown("a\u{1b}[2J"), "a[2J");
    }
}
