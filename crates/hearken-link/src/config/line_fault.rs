//! Why a line of the settings can't be used, as data.
//!
//! Responsibilities: deriving that from the TOML reader's message and the line in question. Not here: the words
//! (`announce`).

/// The most characters of a person's text that are shown.
const LONGEST: usize = 60;

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// A setting has a value that it does not accept.
    Value {
        /// The setting.
        name: String,
        /// The given value.
        given: String,
        /// The values that are allowed.
        allowed: Vec<String>,
    },
    /// There is no such setting.
    Name {
        /// The given name.
        given: String,
        /// The closest setting, if one is close.
        close: Option<String>,
    },
    /// A setting has a value of the wrong kind.
    Kind {
        /// The setting.
        name: String,
        /// The given value.
        given: String,
    },
    /// A setting needs a list but has a single value.
    List {
        /// The setting.
        name: String,
        /// The given value.
        given: String,
    },
    /// A required setting is missing.
    Missing {
        /// The setting.
        name: String,
    },
    /// The line is not valid TOML.
    Syntax,
}

impl Misfit {
    /// Creates it from the reader's message and the line.
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

/// Returns a piece of a line without blanks, quotes and comment.
fn bare(text: &str) -> String {
    let text = text.split(" #").next().unwrap_or_default();
    shown(text.trim().trim_matches(['"', '\'', '[', ']']))
}

/// Returns a person's text fit for display: short, and without control characters.
fn shown(text: &str) -> String {
    let seen = text.chars().filter(|c| !c.is_control());
    let mut short: String = seen.clone().take(LONGEST).collect();
    if seen.count() > LONGEST {
        short.push('…');
    }
    short
}

/// Returns the name that was probably meant: at most a third of its letters differ.
pub fn closest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .min_by_key(|name| steps(given, name))
        .filter(|name| steps(given, name) * 3 <= name.chars().count().max(3))
        .map(str::to_owned)
}

/// Returns how many letters must be inserted, removed or changed to turn one word into the other.
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
