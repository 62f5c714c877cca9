//! Caches of what is the same for line after line: labels, times of day, hearken's own words.
//!
//! Responsibilities: keeping each value for as long as its inputs stay the same. Not here: using them (`linear`).

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::announce::{Announcement, Arg, Mark, Phrases, Segment, stands_as_it_is};
use crate::app::App;

/// How many labels with a name in them are cached: the agents that speak take turns.
const MOST_NAMED: usize = 8;

/// A placeholder for the name, used to find the words around it.
const NAME: &str = "\u{E000}";

/// Labels by phrase, and by the name in them, if any.
#[derive(Debug, Default)]
pub(super) struct Labels {
    phrases: Option<Arc<Phrases>>,
    unnamed: Vec<(&'static str, Arc<str>)>,
    /// The words before and after a name.
    around: Vec<(&'static str, Option<(String, String)>)>,
    /// The most recent labels with a name in them.
    named: VecDeque<(&'static str, Arc<str>, Arc<str>)>,
}

impl Labels {
    /// Returns the label of an announcement.
    pub(super) fn of(&mut self, app: &App, told: &Announcement) -> Arc<str> {
        let (key, agent) = app.label_of(told);
        if !(self.phrases.as_ref()).is_some_and(|of| Arc::ptr_eq(of, app.phrases())) {
            *self = Self {
                phrases: Some(Arc::clone(app.phrases())),
                ..Self::default()
            };
        }
        match agent {
            Some(agent) => self.with_name(app, key, agent),
            None => self.without_name(app, key),
        }
    }

    fn without_name(&mut self, app: &App, key: &'static str) -> Arc<str> {
        if let Some((_, label)) = self.unnamed.iter().find(|(of, _)| *of == key) {
            return Arc::clone(label);
        }
        let label: Arc<str> = app.label_words(key, None).into();
        self.unnamed.push((key, Arc::clone(&label)));
        label
    }

    fn with_name(&mut self, app: &App, key: &'static str, agent: &Arc<str>) -> Arc<str> {
        // A name is one shared allocation while it stays the same.
        let is_it =
            |(of, name, _): &&(&str, Arc<str>, Arc<str>)| Arc::ptr_eq(name, agent) && *of == key;
        if let Some((.., label)) = self.named.iter().rev().find(is_it) {
            return Arc::clone(label);
        }
        // If thousands take turns, no search would hit: building a label is faster than finding it.
        let label: Arc<str> = match self.around(app, key) {
            Some((before, after)) if stands_as_it_is(agent) => {
                [before, &**agent, after].concat().into()
            }
            Some(_) | None => app.label_words(key, Some(agent)).into(),
        };
        if self.named.len() >= MOST_NAMED {
            self.named.pop_front();
        }
        let known = (key, Arc::clone(agent), Arc::clone(&label));
        self.named.push_back(known);
        label
    }

    /// Returns the words of a phrase before and after a name.
    fn around(&mut self, app: &App, key: &'static str) -> Option<(&str, &str)> {
        let at = match self.around.iter().position(|(of, _)| *of == key) {
            Some(at) => at,
            None => {
                let words = app.phrases().text(key, &[("agent", Arg::own(NAME))]);
                let around = words.split_once(NAME);
                let around = around.map(|(before, after)| (before.to_owned(), after.to_owned()));
                self.around.push((key, around));
                self.around.len() - 1
            }
        };
        let (_, around) = self.around.get(at)?;
        let (before, after) = around.as_ref()?;
        Some((before, after))
    }
}

/// The time of day in words, to the second and to the minute.
#[derive(Debug)]
pub(super) struct ClockWords {
    zone: TimeZone,
    /// The latest second, and its written form.
    known: Option<(i64, SecondText)>,
}

/// The written form of a second.
#[derive(Debug, Clone)]
pub(super) struct SecondText {
    pub(super) second: Arc<str>,
    pub(super) minute: Arc<str>,
}

impl ClockWords {
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { zone, known: None }
    }

    /// Returns the written form of the second that contains a time.
    pub(super) fn of(&mut self, time: Timestamp) -> &SecondText {
        let second = time.as_microsecond().div_euclid(1_000_000);
        let known = self.known.take().filter(|(of, _)| *of == second);
        let (_, written) = self.known.insert(known.unwrap_or_else(|| {
            let time = time.to_zoned(self.zone.clone());
            let written = |format: &str| Arc::from(time.strftime(format).to_string());
            let written = SecondText {
                second: written("%H:%M:%S"),
                minute: written("%H:%M"),
            };
            (second, written)
        }));
        written
    }
}

/// Words that only hearken uses, in one language.
#[derive(Debug, Default)]
pub(super) struct HearkenWords {
    phrases: Option<Arc<Phrases>>,
    words: WordFinder,
    /// The text under examination: its allocation is reused.
    text: String,
}

impl HearkenWords {
    /// Returns whether a row of a text, heard in isolation, could be taken for hearken's: it could begin like a label,
    /// or it contains words that hearken uses around a question.
    pub(super) fn could_be<S: Borrow<Segment>>(
        &mut self,
        phrases: &Arc<Phrases>,
        segments: &[S],
    ) -> bool {
        let text = &mut self.text;
        text.clear();
        for segment in segments {
            let segment = segment.borrow();
            if segment.mark == Mark::Agent {
                text.push_str(if text.is_empty() { "" } else { " " });
                text.push_str(segment.shown());
            }
        }
        if text.is_empty() {
            return false;
        }
        if looks_labelled(text) || names_a_key(text) {
            return true;
        }
        if !(self.phrases.as_ref()).is_some_and(|known| Arc::ptr_eq(known, phrases)) {
            let words = OURS.iter().map(|key| {
                let ours = phrases.text(key, &[("agent", Arg::own(""))]);
                ours.trim().trim_end_matches(['.', '!']).to_lowercase()
            });
            self.words = WordFinder::of(words.filter(|ours| !ours.is_empty()));
            self.phrases = Some(Arc::clone(phrases));
        }
        match text.is_ascii() {
            true => text.make_ascii_lowercase(),
            false => *text = text.to_lowercase(),
        }
        self.words.are_in(text)
    }
}

/// Finds whether a text contains any of a few words, in one pass over it.
#[derive(Debug)]
struct WordFinder {
    words: Vec<String>,
    /// The bytes they begin with.
    begins: [bool; 256],
}

impl Default for WordFinder {
    fn default() -> Self {
        Self::of(std::iter::empty())
    }
}

impl WordFinder {
    fn of(words: impl Iterator<Item = String>) -> Self {
        let words: Vec<String> = words.collect();
        let mut begins = [false; 256];
        for first in words.iter().filter_map(|word| word.bytes().next()) {
            begins[usize::from(first)] = true;
        }
        Self { words, begins }
    }

    fn are_in(&self, text: &str) -> bool {
        let text = text.as_bytes();
        let begins = |at: usize| {
            let rest = text.get(at..).unwrap_or_default();
            // Few words share the first two bytes.
            let is_it = |word: &[u8]| {
                word.get(1).is_none_or(|second| rest.get(1) == Some(second))
                    && rest.starts_with(word)
            };
            self.words.iter().any(|word| is_it(word.as_bytes()))
        };
        let mut bytes = text.iter().enumerate();
        bytes.any(|(at, byte)| self.begins[usize::from(*byte)] && begins(at))
    }
}

/// Words that only hearken uses, by their phrase keys: its name, a question, a danger, a risk.
const OURS: [&str; 7] = [
    "label.reply",
    "label.question",
    "label.danger",
    "question.risk.low",
    "question.risk.medium",
    "question.risk.high",
    "question.risk.unknown",
];

/// Returns whether a row of a text could begin like a label: a word in it ends with a colon.
fn looks_labelled(text: &str) -> bool {
    if text.is_ascii() && !text.contains(':') {
        return false;
    }
    let mut after_colon = false;
    for c in text.chars() {
        if after_colon && c.is_whitespace() {
            return true;
        }
        // Includes the colons of other scripts, and lookalikes.
        after_colon = matches!(c, ':' | '：' | '﹕' | '∶' | 'ː' | '։' | '׃' | '︓' | '꞉');
    }
    after_colon
}

/// Returns whether a text names a key as hearken types it: a letter and the number of a question.
fn names_a_key(text: &str) -> bool {
    let is_key = |word: &str| matches!(word.as_bytes(), [key] if key.is_ascii_lowercase());
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let mut words = text.split(|c: char| c.is_whitespace() || c == '"' || c == '“' || c == '`');
    let mut before = "";
    words.any(|word| is_key(std::mem::replace(&mut before, word)) && is_number(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_wherever_it_stands_and_nowhere_else() {
        let of = |words: &[&str]| WordFinder::of(words.iter().map(|word| (*word).to_owned()));
        let words = of(&["hearken", "question", "hohes risiko", "é"]);
        for (text, found) in [
            ("hearken", true),
            ("the hhearken.", true),
            ("a hearke n, quest ion", false),
            ("hohes risiko", true),
            ("ohne hohes risik", false),
            ("café", true),
            ("caf", false),
            ("", false),
        ] {
            assert_eq!(words.are_in(text), found, "{text}");
        }
        assert!(!of(&[]).are_in("hearken"));
        assert!(of(&["h"]).are_in("oho") && of(&["h"]).are_in("oh"));
    }

    #[test]
    fn a_key_is_named_by_a_letter_and_a_number() {
        for (text, names) in [
            ("y 1 accepts", true),
            ("Type “n 2”.", true),
            ("so d 1", true),
            ("y to accept", false),
            ("day 1", false),
            ("1 y", false),
            ("", false),
        ] {
            assert_eq!(names_a_key(text), names, "{text}");
        }
    }

    #[test]
    fn a_second_is_written_as_itself_whatever_was_written_before() {
        let mut clock = ClockWords::new(TimeZone::UTC);
        let mut written = |time: &str| {
            let written = clock.of(time.parse().unwrap());
            (written.second.to_string(), written.minute.to_string())
        };
        for (time, second) in [
            ("2026-01-01T10:00:50.1Z", "10:00:50"),
            ("2026-01-01T10:00:50.9Z", "10:00:50"),
            ("2026-01-01T10:00:51Z", "10:00:51"),
            ("2026-01-01T10:00:50Z", "10:00:50"),
            ("2026-01-02T10:01:50Z", "10:01:50"),
            ("1969-12-31T23:59:59.9Z", "23:59:59"),
            ("1970-01-01T00:00:00.1Z", "00:00:00"),
        ] {
            assert_eq!(written(time), (second.to_owned(), second[..5].to_owned()));
        }
    }
}
