//! The one door through which an agent's text passes before it is shown or spoken.
//!
//! Responsibilities: the two profiles by name, the words and the dictionary that they are read with.
//! Not here: how a text is cleaned and read (`normalise`).

use std::borrow::Cow;

use jiff::Timestamp;

use crate::protocol::is_direction_sign;

use super::coalesce::Piece;
use super::normalise::{self, Passage, Pronunciation, Readable, Reader, Words};
use super::wrap::beginning;

/// The longest path or name that is shown within other words, in characters.
const LONGEST_INLINE: usize = 160;

/// How an agent's text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// As running text: structure in words, long things short.
    Prose,
    /// As part of a question: nothing is left out, every sign is said.
    Exact,
    /// As a command: two that differ never have the same words.
    Command,
}

/// What written text is turned into speech with: the words of one language for signs and
/// structure, and the person's own dictionary.
#[derive(Debug, Clone, Default)]
pub struct Lexicon {
    words: Words,
    pronunciation: Pronunciation,
}

impl Lexicon {
    /// Makes one out of words and a dictionary.
    pub fn new(words: Words, pronunciation: Pronunciation) -> Self {
        Self {
            words,
            pronunciation,
        }
    }

    /// Puts another dictionary in the place of the present one.
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

    /// Turns a text into the words that are spoken; with `now`, moments in prose are told by their
    /// distance from it.
    pub fn speak(&self, text: &str, profile: Profile, now: Option<Timestamp>) -> String {
        let spoken = match profile {
            Profile::Prose => normalise::prose_at(text, &self.words, now),
            Profile::Exact => normalise::exact(text, &self.words),
            Profile::Command => normalise::command(text, &self.words),
        };
        self.pronounced(spoken)
    }

    /// Returns a command as it is shown: to the letter, each of its lines on a row of its own.
    pub fn literal(&self, text: &str) -> String {
        normalise::literal(text, &self.words)
    }

    /// Returns a question's text as it is shown.
    pub fn asked(&self, text: &str) -> String {
        normalise::asked(text, &self.words)
    }

    /// Returns a path, an address or a name as it is shown within other words: on one row, bounded, and in quotes where it
    /// holds spaces.
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

    /// Turns the next piece of one output into the words that are shown, lines of code on lines of their
    /// own; empty where the piece is structure only.
    pub fn show_on(&self, readable: &mut Readable, piece: &Piece) -> String {
        readable.show(passage(piece), &self.words)
    }

    /// Turns the next piece of one output into the words that are spoken; the reader remembers what is
    /// open, such as a block of code.
    pub fn read_on(&self, reader: &mut Reader, piece: &Piece, now: Option<Timestamp>) -> String {
        self.pronounced(reader.read(passage(piece), &self.words, now))
    }

    /// Turns a passage of a text that is all there into the words that are spoken, and those that are shown.
    pub fn read_whole(&self, text: &str, now: Option<Timestamp>) -> (String, String) {
        let spoken = Reader::default().read(Passage::new(text), &self.words, now);
        let shown = Readable::default().show(Passage::new(text), &self.words);
        (self.pronounced(spoken), shown)
    }

    /// Returns the name of a programming language by the words behind the marks that open a block of code.
    pub fn code_language(&self, info: &str) -> Option<String> {
        normalise::language_name(info, &self.words)
    }

    /// Spells a text sign by sign, by name; with `phonetic`, letters by words that begin with them.
    pub fn spell(&self, text: &str, phonetic: bool) -> String {
        normalise::spell(text, &self.words, phonetic)
    }

    /// Names a key by ear.
    pub fn key(&self, key: &str) -> String {
        normalise::key(key, &self.words)
    }

    /// Returns the words of a text, one of which a person may choose to have it spelled.
    pub fn spellable(text: &str) -> impl Iterator<Item = &str> {
        normalise::spellable(text)
    }

    /// Puts the dictionary's words into the program's own.
    pub fn pronounce<'a>(&self, words: &'a str) -> Cow<'a, str> {
        self.pronunciation.apply(words)
    }

    /// Puts names in the place of the signs of direction in a text: where a command stands, they could put its
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
        // Speech has one direction; what is to be said of the signs is said by their names.
        if !spoken.is_ascii() {
            spoken.retain(|c| !is_direction_sign(c));
        }
        match self.pronunciation.apply(&spoken) {
            Cow::Borrowed(_) => spoken,
            Cow::Owned(other) => other,
        }
    }
}

fn passage(piece: &Piece) -> Passage<'_> {
    Passage {
        text: &piece.text,
        begins: piece.begins,
    }
}

/// Cleans a text for the screen, a notification or a log: one line, no control or hidden characters,
/// single spaces.
pub fn one_line(text: &str) -> String {
    let clean = normalise::clean(text);
    // A sentence mostly comes with the white space behind it.
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

/// Returns whether a text, as nearly all are, is of ASCII's visible signs alone with single spaces between them.
fn is_one_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Folded, and not searched: most texts are what is asked for, and are looked at to their end.
    let visible = (bytes.iter()).fold(true, |all, byte| all & (b' '..0x7f).contains(byte));
    let spaced = (bytes.windows(2)).fold(true, |all, pair| all & (pair != b"  "));
    visible && spaced && !text.starts_with(' ') && !text.ends_with(' ')
}

/// Returns whether two texts have the same letters.
pub fn same_letters(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}

fn letters(text: &str) -> impl Iterator<Item = char> {
    let signs = text.chars().filter(|c| c.is_alphanumeric());
    signs.flat_map(char::to_lowercase)
}

/// Returns whether a text holds characters that are removed because nobody could see or hear them.
pub fn hides(text: &str) -> bool {
    normalise::hides(text)
}
