//! What a test expects to be said: a phrase by its key, with the facts that it must state.
//!
//! Responsibilities: finding an English phrase in a text, whatever its wording is. Not here: filling it in as the
//! program does (`hearken-core`), and what the wording should be (the phrase file, golden transcripts).
//!
//! # Mental model
//! `phrase!("reply.still_open", n = 1)` is found in "Not confirmed. Question 1 is still open." for as long as the
//! phrase is worded so. An argument that is left out may be anything; one that is set to `""` must be missing, with the
//! optional part around it. `reply.second_step.*` is any phrase of that family: in lines, by keys, in short. A key or
//! an argument that the phrase file does not have panics, so that no test passes because of a misspelled one.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::{Debug, Display, Formatter};
use std::sync::OnceLock;

use regex::Regex;
use toml::{Table, Value};

/// Returns the pattern of a phrase by its key, with the facts that it must state.
#[macro_export]
macro_rules! phrase {
    ($key:expr $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::PhrasePattern::new($key)$(.with(stringify!($name), &$value))*
    };
}

/// What was said, in lines, in which a test looks for phrases.
pub trait Transcript {
    /// Returns the lines, oldest first.
    fn lines(&self) -> Vec<&str>;

    /// Returns whether a line has certain words.
    fn heard(&self, words: impl Into<PhrasePattern>) -> bool {
        let words = words.into();
        self.lines().iter().any(|line| words.is_in(line))
    }

    /// Fails with all lines unless one has certain words.
    #[track_caller]
    fn assert_heard(&self, words: impl Into<PhrasePattern>) {
        let words = words.into();
        assert!(
            self.heard(words.clone()),
            "{words:?} not in {:#?}",
            self.lines()
        );
    }

    /// Fails with all lines if one has certain words.
    #[track_caller]
    fn assert_not_heard(&self, words: impl Into<PhrasePattern>) {
        let words = words.into();
        assert!(
            !self.heard(words.clone()),
            "{words:?} in {:#?}",
            self.lines()
        );
    }
}

impl Transcript for str {
    fn lines(&self) -> Vec<&str> {
        vec![self]
    }
}

fn phrases() -> &'static Table {
    static PHRASES: OnceLock<Table> = OnceLock::new();
    PHRASES.get_or_init(|| {
        let file: Table = include_str!("../../../assets/phrases.en.toml")
            .parse()
            .unwrap();
        file["phrases"].as_table().unwrap().clone()
    })
}

/// A phrase, or literal words, to be found in a text.
#[derive(Clone)]
pub struct PhrasePattern {
    /// The phrases; one of them is to be found.
    texts: Vec<String>,
    facts: Vec<(&'static str, String)>,
    is_literal: bool,
    /// What finds it, once it was looked for.
    anywhere: OnceLock<Regex>,
}

impl PhrasePattern {
    /// Creates the pattern of a phrase with any arguments; `key.*` is any phrase whose key begins so.
    ///
    /// # Panics
    /// Panics if there is no such phrase.
    pub fn new(key: &str) -> Self {
        let fits = |known: &str| match key.strip_suffix(".*") {
            Some(first) => known
                .strip_prefix(first)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
            None => known == key,
        };
        let texts = phrases().iter().filter(|(known, _)| fits(known));
        let texts = texts.map(|(_, phrase)| match phrase {
            Value::Table(levels) => &levels["normal"],
            text => text,
        });
        let texts: Vec<String> = texts
            .map(|text| text.as_str().unwrap().to_owned())
            .filter(|text| has_words(text))
            .collect();
        assert!(!texts.is_empty(), "no phrase with words has the key {key}");
        Self {
            texts,
            facts: Vec::new(),
            is_literal: false,
            anywhere: OnceLock::new(),
        }
    }

    /// Sets an argument; an empty one must be missing.
    ///
    /// # Panics
    /// Panics if the phrase has no such argument.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &dyn Display) -> Self {
        let has = |text: &String| ['}', '#'].map(|end| text.contains(&format!("{{{name}{end}")));
        self.texts.retain(|text| has(text).contains(&true));
        assert!(!self.texts.is_empty(), "it has no argument {name}");
        self.facts.push((name, value.to_string()));
        self
    }

    /// Returns whether it stands anywhere in a text.
    pub fn is_in(&self, text: &str) -> bool {
        let anywhere = self.anywhere.get_or_init(|| {
            let texts = self.texts.iter().map(|text| self.without_any_end(text));
            self.expression("", &texts.collect::<Vec<_>>(), "")
        });
        anywhere.is_match(text)
    }

    /// Returns whether a text is this and nothing else.
    pub fn is_all_of(&self, text: &str) -> bool {
        self.expression(r"\A(?:", &self.texts, r")\z")
            .is_match(text)
    }

    fn expression(&self, before: &str, texts: &[String], after: &str) -> Regex {
        let expressed = |text: &String| match self.is_literal {
            true => regex::escape(text),
            false => self.expressed(text, false).0,
        };
        let inner: Vec<String> = texts.iter().map(expressed).collect();
        let inner = inner.join("|");
        Regex::new(&format!("{before}{inner}{after}")).unwrap()
    }

    /// Returns a phrase without a last argument that may be anything: it may stand in the next line.
    fn without_any_end(&self, text: &str) -> String {
        let end = text.rsplit_once(" {").filter(|(_, end)| {
            let name = end.strip_suffix('}');
            name.is_some_and(|name| self.fact(name).is_none() && !name.contains(['}', '#', '=']))
        });
        end.map_or(text, |(words, _)| words).to_owned()
    }

    fn fact(&self, name: &str) -> Option<&str> {
        let fact = self.facts.iter().find(|(known, _)| *known == name);
        fact.map(|(_, value)| value.as_str())
    }

    /// Returns the expression of a part of a phrase, and whether it must be there: `None` if it can't.
    fn expressed(&self, text: &str, mut after_argument: bool) -> (String, Option<bool>) {
        let (mut found, mut is_stated, mut is_missing) = (String::new(), false, false);
        let mut rest = text;
        while let Some(sign) = rest.chars().next() {
            let was_after = std::mem::take(&mut after_argument);
            let end = match sign {
                '[' => {
                    let end = closing(rest);
                    let (inner, is_there) = self.expressed(&rest[1..end], was_after);
                    match is_there {
                        Some(true) => found += &inner,
                        Some(false) => found += &format!("(?:{inner})?"),
                        None => {}
                    }
                    is_stated |= is_there == Some(true);
                    after_argument = true;
                    end + 1
                }
                '{' => {
                    let end = rest.find('}').unwrap();
                    let inner = &rest[1..end];
                    let mut parts = inner.split('#');
                    let name = parts.next().unwrap();
                    if let Some(typed) = name.strip_prefix("type:") {
                        found += &literal(typed);
                    } else if let Some((_, key)) = name.split_once('=') {
                        // Who scans hears the name of an item instead.
                        found += &format!("(?:{}|“[^”]+”)", literal(key));
                    } else if let (Some(one), Some(many)) = (parts.next(), parts.next()) {
                        found += &match self.fact(name) {
                            Some("1") => literal(one),
                            Some(_) => literal(many),
                            None => format!("(?:{}|{})", literal(one), literal(many)),
                        };
                    } else {
                        is_missing |= self.fact(name) == Some("");
                        is_stated |= self.fact(name).is_some();
                        found += &self
                            .fact(name)
                            .map_or_else(|| "(?s:.+?)".to_owned(), literal);
                        after_argument = true;
                    }
                    end + 1
                }
                _ => {
                    let end = rest.find(['[', '{']).unwrap_or(rest.len());
                    let words = &rest[..end];
                    // What an argument brings may end in a stop of its own, or get one.
                    let without = words.strip_prefix('.').filter(|_| was_after);
                    found += match was_after {
                        true => r"\.?",
                        false => "",
                    };
                    found += &literal(without.unwrap_or(words));
                    end
                }
            };
            rest = &rest[end..];
        }
        (found, (!is_missing).then_some(is_stated))
    }
}

/// Returns whether a phrase has words beside its arguments, by which it is found.
fn has_words(text: &str) -> bool {
    let outside = text.split('{').map(|part| part.rsplit('}').next().unwrap());
    text.contains('#') || outside.flat_map(str::chars).any(char::is_alphabetic)
}

/// Returns the place of the bracket that closes the first one.
fn closing(text: &str) -> usize {
    let (mut depth, mut in_braces) = (0, false);
    let end = text.bytes().position(|byte| {
        match byte {
            b'}' => in_braces = false,
            b'{' => in_braces = true,
            b'[' if !in_braces => depth += 1,
            b']' if !in_braces => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.unwrap()
}

/// Returns the expression of words; they may be broken into rows.
fn literal(words: &str) -> String {
    regex::escape(words).replace(' ', r"[ \n]+")
}

impl Debug for PhrasePattern {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:?}", self.texts)?;
        match self.facts.is_empty() {
            true => Ok(()),
            false => write!(out, " with {:?}", self.facts),
        }
    }
}

impl From<&str> for PhrasePattern {
    fn from(words: &str) -> Self {
        Self {
            texts: vec![words.to_owned()],
            facts: Vec::new(),
            is_literal: true,
            anywhere: OnceLock::new(),
        }
    }
}

impl From<&String> for PhrasePattern {
    fn from(words: &String) -> Self {
        Self::from(words.as_str())
    }
}

impl PartialEq<PhrasePattern> for str {
    fn eq(&self, pattern: &PhrasePattern) -> bool {
        pattern.is_all_of(self)
    }
}

impl PartialEq<PhrasePattern> for &str {
    fn eq(&self, pattern: &PhrasePattern) -> bool {
        pattern.is_all_of(self)
    }
}

impl PartialEq<PhrasePattern> for String {
    fn eq(&self, pattern: &PhrasePattern) -> bool {
        pattern.is_all_of(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str, facts: &[(&'static str, &str)]) -> PhrasePattern {
        let pattern = PhrasePattern {
            texts: vec![text.to_owned()],
            facts: Vec::new(),
            is_literal: false,
            anywhere: OnceLock::new(),
        };
        (facts.iter()).fold(pattern, |pattern, (name, value)| pattern.with(name, value))
    }

    #[test]
    fn a_phrase_is_found_with_its_facts_and_with_no_others() {
        let open = "Question {n}[ from {agent}] is open[, for {left#a second#seconds}]. {action}";
        let said = "Not yet. Question 1 from Mailer is open. Send it.";
        for (facts, is_there) in [
            (&[][..], true),
            (
                &[("n", "1"), ("agent", "Mailer"), ("action", "Send it.")],
                true,
            ),
            (&[("n", "2")], false),
            (&[("agent", "Writer")], false),
            (&[("n", "1"), ("agent", "")], false),
            (&[("action", "Send")], true),
            (&[("action", "Sent")], false),
        ] {
            assert_eq!(pattern(open, facts).is_in(said), is_there, "{facts:?}");
        }
        let unnamed = "Question 1 is open. Send it.";
        assert!(pattern(open, &[("agent", "")]).is_in(unnamed));
        assert!(!pattern(open, &[("agent", "Mailer")]).is_in(unnamed));
        assert!(!pattern(open, &[]).is_in("Question 1 is closed. Send it."));
        assert!(unnamed == pattern(open, &[("action", "Send it.")]));
        assert!(said != pattern(open, &[("action", "Send it.")]));
    }

    #[test]
    fn numbers_keys_stops_and_rows_are_as_the_program_writes_them() {
        let left = "{n} {n#line#lines} left of {name}. {key:next=Tab} goes on, {type:[x]} ends.";
        let says = |facts, said| pattern(left, facts).is_in(said);
        let said = "1 line left of this file? Tab goes on,\n[x] ends.";
        assert!(says(&[], said) && says(&[("n", "1"), ("name", "this file?")], said));
        assert!(!says(
            &[("n", "1")],
            "1 lines left of it. Tab goes on, [x] ends."
        ));
        assert!(!says(
            &[("n", "2")],
            "2 line left of it. Tab goes on, [x] ends."
        ));
        // What an agent wrote is ended with a stop.
        assert!(
            pattern("It says {text} and goes.", &[("text", "Go")]).is_in("It says Go. and goes.")
        );
    }

    #[test]
    #[should_panic(expected = "it has no argument m")]
    fn a_fact_that_the_phrase_can_not_state_is_a_fault_of_the_test() {
        let _ = pattern("{n} left", &[("m", "1")]);
    }

    #[test]
    #[should_panic(expected = "has the key")]
    fn a_key_without_a_phrase_is_a_fault_of_the_test() {
        let _ = phrase!("there.is.no.such.phrase");
    }
}
