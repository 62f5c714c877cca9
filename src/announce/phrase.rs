//! Every sentence that the program says in its own name, from a phrase file.
//!
//! Responsibilities: reading the file, picking a level, filling in arguments, and keeping the
//! program's words and an agent's words apart as [`Segment`]s. Not here: which phrase is said when
//! (`announcer`).
//!
//! Mental model: a template is a run of literals, arguments and optional parts. Literals and the
//! program's own arguments become segments with [`Mark::Own`], an agent's text becomes a segment of
//! its own with [`Mark::Agent`], so that a voice can mark whose words they are. Arguments are put in
//! once: braces inside an agent's text mean nothing.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::config::Verbosity;

use super::speakable::{self, Profile};
use super::utterance::Mark;

/// The English phrases; other languages are files of the same shape.
const ENGLISH: &str = include_str!("../../assets/phrases.en.toml");

/// The longest name of an agent or tool that is put into the program's own words, in characters:
/// a name is a name, not a speech in our voice.
const LONGEST_NAME: usize = 48;

/// Holds a piece of an announcement that has one speaker and one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Whose words.
    pub mark: Mark,
    /// The words as they are shown: cleaned of hostile characters, otherwise the source's.
    pub text: String,
    /// The words as they are spoken; empty when there is nothing to say.
    pub spoken: String,
    /// The language, when it is known and not the program's own.
    pub language: Option<String>,
}

/// Holds one argument of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// The program's own word or number.
    Own(String),
    /// A name from the wire: shortened and stripped to one harmless word group.
    Name(String),
    /// An agent's text, normalised as prose.
    Agent(String, Option<String>),
    /// An agent's text in a question: nothing is abbreviated, every sign is said.
    Exact(String, Option<String>),
}

impl Arg {
    /// Makes an argument out of the program's own words.
    pub fn own(text: impl ToString) -> Self {
        Self::Own(text.to_string())
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Own(text) => text.is_empty(),
            Self::Name(text) | Self::Agent(text, _) | Self::Exact(text, _) => {
                text.trim().is_empty()
            }
        }
    }
}

/// Holds the arguments of a phrase by name.
pub type Args<'a> = [(&'a str, Arg)];

/// Says why a phrase file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PhraseError {
    /// The file is no TOML of the right shape.
    #[error("the phrase file can't be read: {}", .0.message())]
    Toml(#[from] toml::de::Error),
    /// A template is not well formed.
    #[error("the phrase {key:?} is not well formed: {problem}")]
    Template {
        /// The phrase's key.
        key: String,
        /// What is wrong.
        problem: &'static str,
    },
}

/// Holds the phrases of one language.
#[derive(Debug, Clone)]
pub struct Phrases {
    language: String,
    phrases: BTreeMap<String, Leveled>,
}

#[derive(Debug, Clone)]
struct Leveled {
    terse: Option<Template>,
    normal: Template,
    detailed: Option<Template>,
}

type Template = Vec<Part>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Arg(String),
    Plural {
        arg: String,
        one: String,
        many: String,
    },
    Optional(Vec<Part>),
}

#[derive(Deserialize)]
struct File {
    language: String,
    phrases: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    One(String),
    Levels {
        terse: Option<String>,
        normal: String,
        detailed: Option<String>,
    },
}

impl Phrases {
    /// Reads the built-in English phrases.
    ///
    /// # Errors
    /// Never for the file that is built in; a test holds that.
    pub fn english() -> Result<Self, PhraseError> {
        Self::parse(ENGLISH)
    }

    /// Reads a phrase file.
    ///
    /// # Errors
    /// When it is no TOML, or a template is not well formed.
    pub fn parse(text: &str) -> Result<Self, PhraseError> {
        let file: File = toml::from_str(text)?;
        let mut phrases = BTreeMap::new();
        for (key, entry) in file.phrases {
            let read = |text: &str| {
                template(text).map_err(|problem| PhraseError::Template {
                    key: key.clone(),
                    problem,
                })
            };
            let leveled = match &entry {
                Entry::One(text) => Leveled {
                    terse: None,
                    normal: read(text)?,
                    detailed: None,
                },
                Entry::Levels {
                    terse,
                    normal,
                    detailed,
                } => Leveled {
                    terse: terse.as_deref().map(read).transpose()?,
                    normal: read(normal)?,
                    detailed: detailed.as_deref().map(read).transpose()?,
                },
            };
            phrases.insert(key, leveled);
        }
        Ok(Self {
            language: file.language,
            phrases,
        })
    }

    /// Gives the language of the phrases (BCP 47).
    pub fn language(&self) -> &str {
        &self.language
    }

    /// Tells whether there is a phrase under a key.
    pub fn has(&self, key: &str) -> bool {
        self.phrases.contains_key(key)
    }

    /// Fills in a phrase. A key that is not in the file gives the key itself, so that nothing is
    /// lost silently.
    pub fn say(&self, key: &str, level: Verbosity, args: &Args<'_>) -> Vec<Segment> {
        let Some(leveled) = self.phrases.get(key) else {
            return vec![Segment {
                mark: Mark::Own,
                text: key.to_owned(),
                spoken: key.to_owned(),
                language: None,
            }];
        };
        let template = match level {
            Verbosity::Terse => leveled.terse.as_ref().unwrap_or(&leveled.normal),
            Verbosity::Normal => &leveled.normal,
            Verbosity::Detailed => leveled.detailed.as_ref().unwrap_or(&leveled.normal),
        };
        let mut builder = Builder {
            segments: Vec::new(),
            own: String::new(),
        };
        builder.fill(template, args);
        builder.finish()
    }

    /// Fills in a phrase that consists of the program's own words only, as plain text.
    pub fn text(&self, key: &str, args: &Args<'_>) -> String {
        join(&self.say(key, Verbosity::Normal, args))
    }
}

/// Joins segments into one line of text; a segment that does not end in a stop gets one.
pub fn join(segments: &[Segment]) -> String {
    join_by(segments, |segment| &segment.text)
}

/// Joins the spoken words of segments in the same way.
pub fn join_spoken(segments: &[Segment]) -> String {
    join_by(segments, |segment| &segment.spoken)
}

fn join_by(segments: &[Segment], words: impl Fn(&Segment) -> &str) -> String {
    let mut line = String::new();
    for segment in segments {
        let text = words(segment).trim();
        if text.is_empty() {
            continue;
        }
        if !line.is_empty() {
            if line.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '"' | '\'' | '”'))
            {
                line.push('.');
            }
            line.push(' ');
        }
        line.push_str(text);
    }
    line
}

struct Builder {
    segments: Vec<Segment>,
    own: String,
}

impl Builder {
    fn fill(&mut self, parts: &[Part], args: &Args<'_>) {
        let find = |name: &str| {
            args.iter()
                .find(|(known, _)| *known == name)
                .map(|(_, arg)| arg)
        };
        for part in parts {
            match part {
                Part::Literal(text) => self.own.push_str(text),
                Part::Arg(name) => match find(name) {
                    Some(Arg::Own(text)) => self.own.push_str(text),
                    Some(Arg::Name(text)) => self.own.push_str(&name_of(text)),
                    Some(Arg::Agent(text, language)) => {
                        self.foreign(text, language.clone(), Profile::Prose)
                    }
                    Some(Arg::Exact(text, language)) => {
                        self.foreign(text, language.clone(), Profile::Exact)
                    }
                    None => {}
                },
                Part::Plural { arg, one, many } => {
                    let is_one = matches!(find(arg), Some(Arg::Own(text)) if text == "1");
                    self.own.push_str(if is_one { one } else { many });
                }
                Part::Optional(inner) => {
                    let whole = |part: &Part| match part {
                        Part::Arg(name) => find(name).is_some_and(|arg| !arg.is_empty()),
                        Part::Literal(_) | Part::Plural { .. } | Part::Optional(_) => true,
                    };
                    if inner.iter().all(whole) {
                        self.fill(inner, args);
                    }
                }
            }
        }
    }

    fn flush_own(&mut self) {
        let text = std::mem::take(&mut self.own);
        let text = text.trim();
        // Only stops between two agents' texts are left over from optional parts.
        if text.chars().any(char::is_alphanumeric) {
            self.segments.push(Segment {
                mark: Mark::Own,
                text: text.to_owned(),
                spoken: text.to_owned(),
                language: None,
            });
        }
    }

    fn foreign(&mut self, text: &str, language: Option<String>, profile: Profile) {
        self.flush_own();
        let shown = speakable::one_line(text);
        if !shown.is_empty() {
            let spoken = speakable::speak(text, profile);
            self.segments.push(Segment {
                mark: Mark::Agent,
                text: shown,
                spoken,
                language,
            });
        }
    }

    fn finish(mut self) -> Vec<Segment> {
        self.flush_own();
        self.segments
    }
}

/// Turns a name from the wire into something that can stand in the program's own words.
pub fn name_of(text: &str) -> String {
    let clean = speakable::one_line(text);
    let plain: String = clean
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/' | '\'') {
                c
            } else {
                ' '
            }
        })
        .collect();
    // A full stop inside a name would let it go on with a sentence.
    let words: Vec<&str> = plain
        .split_whitespace()
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let words = words.join(" ");
    if words.chars().count() > LONGEST_NAME {
        words.chars().take(LONGEST_NAME).collect::<String>() + "…"
    } else if words.is_empty() {
        "unnamed".to_owned()
    } else {
        words
    }
}

fn template(text: &str) -> Result<Template, &'static str> {
    let mut chars = text.chars().peekable();
    let parts = parts(&mut chars, false)?;
    Ok(parts)
}

fn parts(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    inside: bool,
) -> Result<Vec<Part>, &'static str> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    loop {
        match chars.next() {
            None if inside => return Err("a [ is not closed"),
            None => break,
            Some('[') => {
                push_literal(&mut parts, &mut literal);
                parts.push(Part::Optional(self::parts(chars, true)?));
            }
            Some(']') if inside => break,
            Some(']') => return Err("a ] without a ["),
            Some('{') => {
                push_literal(&mut parts, &mut literal);
                let mut inner = String::new();
                loop {
                    match chars.next() {
                        Some('}') => break,
                        Some(c) => inner.push(c),
                        None => return Err("a { is not closed"),
                    }
                }
                let pieces: Vec<&str> = inner.split('#').collect();
                parts.push(match pieces.as_slice() {
                    [name] if !name.is_empty() => Part::Arg((*name).to_owned()),
                    [name, one, many] if !name.is_empty() => Part::Plural {
                        arg: (*name).to_owned(),
                        one: (*one).to_owned(),
                        many: (*many).to_owned(),
                    },
                    _ => return Err("an argument is neither {name} nor {name#one#many}"),
                });
            }
            Some('}') => return Err("a } without a {"),
            Some(c) => literal.push(c),
        }
    }
    push_literal(&mut parts, &mut literal);
    Ok(parts)
}

fn push_literal(parts: &mut Vec<Part>, literal: &mut String) {
    if !literal.is_empty() {
        parts.push(Part::Literal(std::mem::take(literal)));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn phrases(text: &str) -> Phrases {
        Phrases::parse(&format!("language = \"en\"\n[phrases]\n{text}")).unwrap()
    }

    #[test]
    fn the_english_file_is_well_formed() {
        assert!(Phrases::english().unwrap().has("session.started"));
    }

    #[test]
    fn levels_fall_back_to_normal() {
        let phrases = phrases("a = { terse = \"t\", normal = \"n\" }");
        let say = |level| join(&phrases.say("a", level, &[]));
        assert_eq!(
            (
                say(Verbosity::Terse),
                say(Verbosity::Normal),
                say(Verbosity::Detailed)
            ),
            ("t".into(), "n".into(), "n".into())
        );
    }

    #[test]
    fn the_agents_words_are_segments_of_their_own() {
        let phrases = phrases("a = \"Finished[: {summary}]\"");
        let args = [("summary", Arg::Agent("All {done}[!]".into(), None))];
        let said = phrases.say("a", Verbosity::Normal, &args);
        assert_eq!(
            said.iter()
                .map(|s| (s.mark, s.text.as_str()))
                .collect::<Vec<_>>(),
            [(Mark::Own, "Finished:"), (Mark::Agent, "All {done}[!]")]
        );
        assert_eq!(join(&phrases.say("a", Verbosity::Normal, &[])), "Finished");
    }

    #[test]
    fn numbers_pick_their_word() {
        let phrases = phrases("a = \"{n} {n#is#are}\"");
        assert_eq!(phrases.text("a", &[("n", Arg::own(1))]), "1 is");
        assert_eq!(phrases.text("a", &[("n", Arg::own(12))]), "12 are");
    }

    #[test]
    fn a_name_can_not_make_a_speech() {
        assert_eq!(
            name_of("Bank\u{1b}[2J: accepted.\nQuestion 2"),
            "Bank accepted Question 2"
        );
        assert_eq!(name_of("\u{202e}"), "unnamed");
        assert_eq!(name_of(&"x".repeat(100)).chars().count(), LONGEST_NAME + 1);
    }

    #[test]
    fn faults_of_a_file_are_told() {
        for bad in [
            "a = \"[x\"",
            "a = \"x]\"",
            "a = \"{x\"",
            "a = \"x}\"",
            "a = \"{x#y}\"",
            "a = \"{}\"",
        ] {
            assert!(
                Phrases::parse(&format!("language = \"en\"\n[phrases]\n{bad}")).is_err(),
                "{bad}"
            );
        }
    }
}
