//! Every sentence that the program says in its own name, from a phrase file.
//!
//! Responsibilities: reading the file as the build digested it, and picking a phrase and its level. Not here:
//! inserting arguments into it (`filled_phrase`), which phrase is used when (`announcer`).
//!
//! Mental model: a phrase stays as built-in text, and is parsed only when it is used: of a thousand phrases, a
//! run uses few.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use jiff::Timestamp;

use memchr::memchr;

use crate::config::Verbosity;

pub use super::arg::{Arg, Args};
use super::filled_phrase::Filled;
use super::language;
use super::naming::{answer_of, name_of};
use super::scanned::SCANNED;
use super::segment::Segment;
use super::spoken_language::SpokenLanguage;
use crate::announce::text::normalise::{Pronunciation, Words};
use crate::announce::text::speakable::Lexicon;

// The phrase files, as found by the build: a new language only needs a file in `assets`.
include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// A phrase file as the build digested it (`digest`).
#[derive(Debug)]
pub struct BuiltIn {
    /// The language (BCP 47).
    pub tag: &'static str,
    phrases: &'static str,
    rest: &'static str,
}

impl BuiltIn {
    /// Returns the phrases by their keys.
    fn index(&self) -> PhraseIndex {
        let lines = self.phrases.lines();
        lines.filter_map(|line| line.split_once('\t')).collect()
    }
}

/// The texts of each phrase, by its key.
type PhraseIndex = HashMap<&'static str, &'static str, RandomState>;

/// Why a phrase file can't be used.
#[derive(Debug, thiserror::Error)]
#[error("the phrase file can't be read: {}", .0.message())]
pub struct PhraseError(#[from] toml::de::Error);

/// The phrases of one language.
#[derive(Debug, Clone)]
pub struct Phrases {
    tongue: Arc<SpokenLanguage>,
    index: Arc<PhraseIndex>,
    /// The names of the person's keys, by their commands; a missing command has its usual key.
    keys: BTreeMap<String, String>,
    /// Whether sentences name scanned items instead of keys.
    is_scanned: bool,
    help: BTreeMap<String, String>,
    lexicon: Lexicon,
}

/// A phrase at every level.
#[derive(Debug, Clone, Copy)]
struct Leveled {
    normal: &'static str,
    /// The texts of other levels, each preceded by a tab and its letter.
    others: &'static str,
}

impl Leveled {
    /// Parses the text after a phrase's key.
    fn of(texts: &'static str) -> Self {
        let end = memchr(b'\t', texts.as_bytes()).unwrap_or(texts.len());
        let (normal, others) = texts.split_at(end);
        Self { normal, others }
    }

    /// Returns the text of a level, or else the normal one.
    fn at(self, level: Verbosity) -> &'static str {
        // Most phrases have one text.
        if self.others.is_empty() {
            return self.normal;
        }
        let letter = match level {
            Verbosity::Terse => 't',
            Verbosity::Normal => return self.normal,
            Verbosity::Detailed => 'd',
        };
        let mut others = self.others.split('\t');
        let own = others.find_map(|text| text.strip_prefix(letter));
        own.unwrap_or(self.normal)
    }
}

/// The part of a phrase file after the phrases.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OtherSections {
    /// The help's words, by the English ones in the table of keys.
    #[serde(default)]
    help: BTreeMap<String, String>,
    /// The normaliser's words; a file without them has the English ones.
    #[serde(default)]
    words: Words,
}

impl Phrases {
    /// Returns the built-in English phrases.
    ///
    /// # Errors
    /// Never for the built-in file; a test ensures that.
    pub fn english() -> Result<Self, PhraseError> {
        Self::built_in(&BUILT_IN[0])
    }

    /// Returns the built-in phrases that suit the person's languages best (11.1.3); English if none
    /// does.
    ///
    /// # Errors
    /// Never for the built-in files; a test ensures that.
    pub fn for_languages(wanted: &[String]) -> Result<Self, PhraseError> {
        let offered = BUILT_IN.each_ref().map(|file| file.tag);
        let Some((at, tag)) = language::best(wanted, &offered) else {
            return Self::english();
        };
        let file = BUILT_IN.get(at).unwrap_or(&BUILT_IN[0]);
        let phrases = Self::built_in(file)?;
        // English is left to the engine's own default voice, which the person may have chosen with care; any
        // other language must be requested, or the voice reads it as English.
        Ok(if file.tag == "en" {
            phrases
        } else {
            phrases.voiced(tag)
        })
    }

    /// Sets the person's dictionary, which is applied to all spoken words.
    pub fn pronouncing(self, pronunciation: Pronunciation) -> Self {
        Self {
            lexicon: self.lexicon.pronouncing(pronunciation),
            ..self
        }
    }

    /// Sets names of keys that replace the usual ones, by the commands' names; an empty name means that the
    /// command has no key.
    pub fn keyed(self, keys: &BTreeMap<String, String>) -> Self {
        let none = self.text("key.none", &[]);
        let none = none.trim_end_matches('.');
        let called = |key: &String| if key.is_empty() { none } else { key }.to_owned();
        let keys = keys
            .iter()
            .map(|(command, key)| (command.clone(), called(key)));
        Self {
            keys: keys.collect(),
            ..self
        }
    }

    /// Names scanned items instead of keys, for people with switches; a phrase that ends in `.scan` replaces
    /// the one without it.
    pub fn scanned(mut self) -> Self {
        for (command, phrase) in SCANNED {
            let item = Arg::Own(self.text(phrase, &[]));
            let name = self.text("scan.name", &[("item", item)]);
            self.keys.insert((*command).to_owned(), name);
        }
        self.is_scanned = true;
        self
    }

    /// Returns whether sentences name scanned items instead of keys.
    pub fn is_scanned(&self) -> bool {
        self.is_scanned
    }

    /// Reads a built-in phrase file.
    ///
    /// # Errors
    /// Never; a test ensures that.
    pub fn built_in(file: &'static BuiltIn) -> Result<Self, PhraseError> {
        // English has nothing here: its other words are in the code.
        let rest = match file.rest {
            "" => OtherSections::default(),
            rest => toml::from_str(rest)?,
        };
        Ok(Self {
            tongue: Arc::new(SpokenLanguage {
                language: file.tag.to_owned(),
                voice: None,
            }),
            index: Arc::new(file.index()),
            keys: BTreeMap::new(),
            is_scanned: false,
            help: rest.help,
            lexicon: Lexicon::new(rest.words, Pronunciation::default()),
        })
    }

    /// Returns the language of the phrases (BCP 47).
    pub fn language(&self) -> &str {
        &self.tongue.language
    }

    /// Returns the tag for a voice that speaks the program's own words; `None` leaves it to the
    /// engine's default.
    pub fn voice_language(&self) -> Option<&str> {
        self.tongue.voice.as_deref()
    }

    /// Returns the language of the phrases and that of their voice.
    pub fn tongue(&self) -> &Arc<SpokenLanguage> {
        &self.tongue
    }

    /// Sets the language of the voice that speaks the phrases.
    pub fn voiced(self, tag: &str) -> Self {
        let tongue = SpokenLanguage {
            language: self.tongue.language.clone(),
            voice: Some(tag.to_owned()),
        };
        Self {
            tongue: Arc::new(tongue),
            ..self
        }
    }

    /// Returns the help for a key in the language of the phrases; English help is returned unchanged.
    pub fn help<'a>(&'a self, does: &'a str) -> &'a str {
        self.help.get(does).map_or(does, String::as_str)
    }

    /// Returns a name from the wire in a form that is safe within the program's own words.
    pub fn name_of<'a>(&self, text: &'a str) -> Cow<'a, str> {
        name_of(text, &self.lexicon.words().unnamed)
    }

    /// Returns an agent's name for an answer in a form that is safe within a phrase.
    pub fn answer_of(&self, text: &str) -> String {
        answer_of(text, &self.lexicon.words().unnamed)
    }

    /// Returns the lexicon that turns an agent's text into speech.
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    fn find(&self, key: &str) -> Option<Leveled> {
        let scanned = self
            .is_scanned
            .then(|| self.index.get([key, ".scan"].concat().as_str()));
        let found = scanned.flatten().or_else(|| self.index.get(key));
        found.map(|texts| Leveled::of(texts))
    }

    /// Returns whether a key has a phrase.
    pub fn has(&self, key: &str) -> bool {
        self.index.contains_key(key)
    }

    /// Returns a filled-in phrase. A key that is not in the file yields the key itself, so that nothing is
    /// lost silently.
    pub fn say(&self, key: &str, level: Verbosity, args: &Args<'_>) -> Vec<Segment> {
        self.say_at(key, level, args, None)
    }

    /// Returns a phrase as [`Phrases::say`] does; with `now`, moments in an agent's prose are expressed by
    /// their distance from it.
    pub fn say_at(
        &self,
        key: &str,
        level: Verbosity,
        args: &Args<'_>,
        now: Option<Timestamp>,
    ) -> Vec<Segment> {
        match self.find(key) {
            Some(leveled) => self.filled(leveled.at(level), args, now).into_segments(),
            None => vec![Segment::own(key)],
        }
    }

    fn filled(&self, phrase: &str, args: &Args<'_>, now: Option<Timestamp>) -> Filled<'_> {
        let mut filled = Filled::new(&self.lexicon, &self.keys, now);
        filled.fill(phrase, args);
        filled
    }

    /// Returns a filled-in phrase that contains only the program's own words, as plain text.
    pub fn text(&self, key: &str, args: &Args<'_>) -> String {
        let Some(leveled) = self.find(key) else {
            return key.to_owned();
        };
        (self.filled(leveled.at(Verbosity::Normal), args, None)).into_text()
    }
}

#[cfg(test)]
mod tests;
