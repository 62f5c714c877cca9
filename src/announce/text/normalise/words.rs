//! The words that signs and structure are spoken with.
//!
//! Responsibilities: one value that holds every word, with the English ones as its default; looking
//! a sign up. Not here: when a word is said (`prose`, `signs`).

use std::borrow::Cow;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// A word or a template; borrowed when it is one of the program's own.
pub type Word = Cow<'static, str>;

/// Holds what one sign is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sign {
    /// The sign, one or more characters.
    pub sign: Word,
    /// Its name, once.
    pub one: Word,
    /// Its name after a number, as in "10 equals".
    pub many: Word,
}

/// Holds every word that the normaliser adds to a text.
///
/// A template has its places in braces; text that fills a place is put in once, so that braces
/// inside it mean nothing. A file may give some fields: the others stay English.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Words {
    /// The start of a fenced block.
    pub code_block: Word,
    /// The end of a fenced block.
    pub end_of_code: Word,
    /// The length of one line.
    pub one_line: Word,
    /// A length of `{n}` lines.
    pub many_lines: Word,
    /// A heading's text in `{text}`.
    pub heading: Word,
    /// A numbered list's item: `{n}`, `{text}`.
    pub item: Word,
    /// A task that is not done: `{text}`.
    pub task_open: Word,
    /// A task that is done: `{text}`.
    pub task_done: Word,
    /// A quoted paragraph: `{text}`.
    pub quote: Word,
    /// A table's header row: `{text}`.
    pub table: Word,
    /// What follows a link's text or host.
    pub link: Word,
    /// What comes before an image's text.
    pub image: Word,
    /// A shortened id: its start in `{start}`.
    pub id: Word,
    /// A port after a host: `{n}`.
    pub port: Word,
    /// A run of one sign: `{n}`, and the sign's name in `{sign}`.
    pub run: Word,
    /// A day: `{day}`, `{month}`, `{year}`.
    pub date: Word,
    /// A day with a time: `{date}`, `{time}`.
    pub moment: Word,
    /// Universal time.
    pub utc: Word,
    /// A moment less than a minute ago.
    pub just_now: Word,
    /// A moment less than a minute ahead.
    pub soon: Word,
    /// A moment that is past: its distance in `{time}`.
    pub past: Word,
    /// A moment to come: its distance in `{time}`.
    pub future: Word,
    /// A distance of minutes: one, and `{n}` of them.
    pub minutes: Sign,
    /// A distance of hours.
    pub hours: Sign,
    /// A distance of days.
    pub days: Sign,
    /// The months, January first.
    pub months: [Word; 12],
    /// A reference such as "#12" in prose: `{n}`.
    pub number: Word,
    /// A line's end inside a question or command.
    pub new_line: Word,
    /// What stands for a name that holds nothing to be said.
    pub unnamed: Word,
    /// A symbol without a name of its own, where nothing may be left out.
    pub symbol: Word,
    /// A flag: its country's letters in `{letters}`.
    pub flag: Word,
    /// Line-drawing, block and braille characters, where nothing may be left out.
    pub drawing: Sign,
    /// A letter that is a key, by ear: the letter in `{letter}`.
    pub letter: Word,
    /// A capital, when a text is spelled: the letter in `{letter}`.
    pub capital: Word,
    /// A space, when a text is spelled.
    pub space: Word,
    /// What of a long text was not spelled: `{n}` signs.
    pub unspelled: Sign,
    /// The words that letters are told apart by.
    pub phonetic: Vec<Sign>,
    /// Words behind which a moment is told by its date: "at 11 hours ago" is none.
    pub before_times: Vec<Word>,
    /// Abbreviations with stops inside that are no file names.
    pub abbreviations: Vec<Word>,
    /// Programming languages: the tag behind a fence, and how it is said.
    pub languages: Vec<Sign>,
    /// The signs as they are said in questions and commands.
    pub signs: Vec<Sign>,
    /// The signs that are said otherwise in prose, where they are no commands.
    pub prose: Vec<Sign>,
    /// Short names of picture characters.
    pub pictures: Vec<Sign>,
    /// What the signs begin with; made at the first look, after which the tables must not change.
    #[serde(skip)]
    pub(super) firsts: OnceLock<Firsts>,
}

/// Says which bytes the signs of each table begin with: almost every look-up ends here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Firsts {
    signs: [bool; 256],
    prose: [bool; 256],
}

impl Firsts {
    fn of(words: &Words) -> Self {
        let firsts = |signs: &[Sign]| {
            let mut firsts = [false; 256];
            for sign in signs {
                if let Some(first) = sign.sign.as_bytes().first() {
                    firsts[usize::from(*first)] = true;
                }
            }
            firsts
        };
        Self {
            signs: firsts(&words.signs),
            prose: firsts(&words.prose),
        }
    }
}

impl Words {
    /// Finds the longest sign of a question or command that a text begins with.
    pub(super) fn sign_at(&self, text: &str) -> Option<&Sign> {
        let first = *text.as_bytes().first()?;
        self.firsts().signs[usize::from(first)]
            .then(|| longest(&self.signs, text))
            .flatten()
    }

    /// Finds the longest sign of prose, two characters or more, that a text begins with.
    pub(super) fn prose_sign_at(&self, text: &str) -> Option<&Sign> {
        let first = *text.as_bytes().first()?;
        self.firsts().prose[usize::from(first)]
            .then(|| longest(&self.prose, text))
            .flatten()
            .filter(|sign| sign.sign.len() > 1)
    }

    fn firsts(&self) -> &Firsts {
        self.firsts.get_or_init(|| Firsts::of(self))
    }

    /// Finds the name of a fence's language.
    pub(super) fn language(&self, tag: &str) -> Option<&str> {
        let is_it = |sign: &&Sign| sign.sign.eq_ignore_ascii_case(tag);
        self.languages
            .iter()
            .find(is_it)
            .map(|sign| sign.one.as_ref())
    }

    /// Finds the name of a whole token in prose.
    pub(super) fn prose_sign(&self, token: &str) -> Option<&Sign> {
        let first = *token.as_bytes().first()?;
        self.firsts().prose[usize::from(first)]
            .then(|| exactly(&self.prose, token))
            .flatten()
    }

    /// Finds the name of a sign that a run consists of.
    pub(in crate::announce) fn sign(&self, c: char) -> Option<&Sign> {
        let mut bytes = [0; 4];
        exactly(&self.signs, c.encode_utf8(&mut bytes))
    }

    /// Finds a picture's name.
    pub(super) fn picture(&self, c: char) -> Option<&str> {
        let mut bytes = [0; 4];
        exactly(&self.pictures, c.encode_utf8(&mut bytes)).map(|sign| sign.one.as_ref())
    }
}

/// Finds the longest sign that a text begins with; most are ruled out by their first byte.
fn longest<'a>(signs: &'a [Sign], text: &str) -> Option<&'a Sign> {
    let first = *text.as_bytes().first()?;
    signs
        .iter()
        .filter(|sign| sign.begins_with(first) && text.starts_with(sign.sign.as_ref()))
        .max_by_key(|sign| sign.sign.len())
}

fn exactly<'a>(signs: &'a [Sign], text: &str) -> Option<&'a Sign> {
    let first = *text.as_bytes().first()?;
    signs
        .iter()
        .find(|sign| sign.begins_with(first) && sign.sign == text)
}

impl Sign {
    fn begins_with(&self, byte: u8) -> bool {
        self.sign.as_bytes().first() == Some(&byte)
    }
}

/// Fills a template's places.
pub(super) fn fill(template: &str, places: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, place) = rest.split_at(open);
        out.push_str(before);
        let found = place.find('}').and_then(|close| {
            let name = &place[1..close];
            let known = places.iter().find(|(known, _)| *known == name);
            known.map(|(_, text)| (*text, close + 1))
        });
        let (text, used) = found.unwrap_or(("{", 1));
        out.push_str(text);
        rest = &place[used..];
    }
    out.push_str(rest);
    out
}
