//! The only gateway from an agent's text to what is shown or spoken.
//!
//! Responsibilities: the profiles by name, the words and the dictionary with which they are read.
//! Not here: how a text is cleaned and read (`normalise`).

use std::borrow::Cow;

use jiff::Timestamp;

use crate::protocol::is_direction_sign;

use super::coalesce::SpokenPiece;
use super::normalise::{self, OutputDisplay, Passage, Pronunciation, ProseReader, Words};
use super::wrap::beginning;

/// The longest path or name that is shown within other words, in characters.
const LONGEST_INLINE: usize = 160;

/// How an agent's text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// As running text: structure in words, long things shortened.
    Prose,
    /// As part of a question: nothing is left out, every sign is spoken.
    Exact,
    /// As a command: two different commands never have the same words.
    Command,
}

/// What turns written text into speech: one language's words for signs and
/// structure, and the person's own dictionary.
#[derive(Debug, Clone, Default)]
pub struct Lexicon {
    words: Words,
    pronunciation: Pronunciation,
}

impl Lexicon {
    /// Creates a lexicon from words and a dictionary.
    pub fn new(words: Words, pronunciation: Pronunciation) -> Self {
        Self {
            words,
            pronunciation,
        }
    }

    /// Replaces the dictionary.
    pub fn pronouncing(self, pronunciation: Pronunciation) -> Self {
        Self {
            pronunciation,
            ..self
        }
    }

    /// Returns the words.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// Returns the spoken words of a text; with `now`, moments in prose are expressed by their
    /// distance from it.
    pub fn speak(&self, text: &str, profile: Profile, now: Option<Timestamp>) -> String {
        let spoken = match profile {
            Profile::Prose => normalise::prose_at(text, &self.words, now),
            Profile::Exact => normalise::exact(text, &self.words),
            Profile::Command => normalise::command(text, &self.words),
        };
        self.pronounced(spoken)
    }

    /// Returns a command as shown: exactly as written, each line on a separate row.
    pub fn literal(&self, text: &str) -> String {
        normalise::literal(text, &self.words)
    }

    /// Returns a question's text as it is shown.
    pub fn question_text(&self, text: &str) -> String {
        normalise::question_text(text, &self.words)
    }

    /// Returns a path, an address or a name as shown within other words: on one row, bounded, and quoted if it
    /// contains spaces.
    pub fn inline(&self, text: &str) -> String {
        let shown = normalise::inline(beginning(text, LONGEST_INLINE), &self.words);
        let cut = if text.chars().count() > LONGEST_INLINE {
            "…"
        } else {
            ""
        };
        match shown.contains(' ') {
            true => format!("“{shown}{cut}”"),
            false => format!("{shown}{cut}"),
        }
    }

    /// Returns the shown words of an output's next piece, with lines of code kept separate; empty if the piece
    /// is structure only.
    pub fn show_on(&self, readable: &mut OutputDisplay, piece: &SpokenPiece) -> String {
        readable.show(passage(piece), &self.words)
    }

    /// Returns the spoken words of an output's next piece; the reader remembers what is
    /// open, such as a code block.
    pub fn read_on(
        &self,
        reader: &mut ProseReader,
        piece: &SpokenPiece,
        now: Option<Timestamp>,
    ) -> String {
        self.pronounced(reader.read(passage(piece), &self.words, now))
    }

    /// Returns the spoken words and the shown words of a passage from a complete text.
    pub fn read_whole(&self, text: &str, now: Option<Timestamp>) -> (String, String) {
        let spoken = ProseReader::default().read(Passage::new(text), &self.words, now);
        let shown = OutputDisplay::default().show(Passage::new(text), &self.words);
        (self.pronounced(spoken), shown)
    }

    /// Returns the name of a programming language, given the words after the marks that open a code block.
    pub fn code_language(&self, info: &str) -> Option<String> {
        normalise::language_name(info, &self.words)
    }

    /// Returns a text spelled sign by sign; with `phonetic`, letters are replaced by words that begin with them.
    pub fn spell(&self, text: &str, phonetic: bool) -> String {
        normalise::spell(text, &self.words, phonetic)
    }

    /// Returns the spoken name of a key.
    pub fn key(&self, key: &str) -> String {
        normalise::key(key, &self.words)
    }

    /// Returns the words of a text that a person can have spelled.
    pub fn spellable(text: &str) -> impl Iterator<Item = &str> {
        normalise::spellable(text)
    }

    /// Returns the program's own words as the dictionary pronounces them.
    pub fn pronounce<'a>(&self, words: &'a str) -> Cow<'a, str> {
        self.pronunciation.apply(words)
    }

    /// Returns a text with its direction characters replaced by their names: in a command, they could put the
    /// parts into another order.
    pub fn name_directions<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !text.contains(is_direction_sign) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len() + 32);
        for c in text.chars() {
            match self.words.sign(c).filter(|_| is_direction_sign(c)) {
                Some(sign) => {
                    out.push('[');
                    out.push_str(&sign.one);
                    out.push(']');
                }
                None => out.push(c),
            }
        }
        Cow::Owned(out)
    }

    fn pronounced(&self, mut spoken: String) -> String {
        // Speech has one direction; the direction characters that matter are spoken by name.
        if !spoken.is_ascii() {
            spoken.retain(|c| !is_direction_sign(c));
        }
        match self.pronunciation.apply(&spoken) {
            Cow::Borrowed(_) => spoken,
            Cow::Owned(other) => other,
        }
    }
}

fn passage(piece: &SpokenPiece) -> Passage<'_> {
    Passage {
        text: &piece.text,
        begins: piece.begins,
    }
}

/// Returns a text cleaned for the screen, a notification or a log: one line, no control or hidden characters,
/// single spaces.
pub fn one_line(text: &str) -> String {
    let clean = normalise::clean(text);
    // A sentence usually includes the white space after it.
    let within = clean.trim();
    if is_one_line(within) {
        return within.to_owned();
    }
    let mut out = String::with_capacity(clean.len());
    for word in clean.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Returns whether a text, as nearly all do, consists of visible ASCII characters with single spaces between them.
fn is_one_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Folds rather than searches: most texts qualify, and are scanned to the end anyway.
    let visible = (bytes.iter()).fold(true, |all, byte| all & (b' '..0x7f).contains(byte));
    let spaced = (bytes.windows(2)).fold(true, |all, pair| all & (pair != b"  "));
    visible && spaced && !text.starts_with(' ') && !text.ends_with(' ')
}

/// Returns whether two texts have the same letters and digits, ignoring case.
pub fn same_letters(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}

fn letters(text: &str) -> impl Iterator<Item = char> {
    let signs = text.chars().filter(|c| c.is_alphanumeric());
    signs.flat_map(char::to_lowercase)
}

/// Returns whether a text contains characters that are removed because nobody could see or hear them.
pub fn hides(text: &str) -> bool {
    normalise::hides(text)
}
