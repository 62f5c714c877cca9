//! A command in words: two different commands never sound the same.
//!
//! Responsibilities: the words with which a command is spoken. Not here: the names of the signs (`words`), how it is
//! shown (`literal`), a sentence that contains a command (`signs`).
//!
//! # Mental model
//! A command is a series of units, each a literal word or a sign, with or without a space between them. Most
//! spaces are where everyone expects them: between two words, before a dash, around a pipe. Only an unexpected
//! space is spoken, and the lack of an expected one ("joined"). So the words convey where each argument ends,
//! and extra words are seldom needed. A literal word that could be mistaken for the name of a sign has "word"
//! before it.
//!
//! # Worked example
//! `rm -rf src /` is "rm dash rf src root", `rm -rf src/` is "rm dash rf src slash", and `rm -rf src /etc` is "rm dash rf
//! src space slash etc".

use std::collections::BTreeMap;

use super::odd_characters::{Oddity, odd_at, run_around};
use super::signs::{is_run, run};
use super::words::{Words, fill};

/// The maximum number of words in a sign's name; the search does not look further ahead.
const LONGEST_NAME: usize = 8;

/// Returns the spoken words of a command, which convey its every letter, digit, sign and space.
///
/// Source: `Text into speech`.
pub fn command(text: &str, words: &Words) -> String {
    let units = CommandUnits::of(text, words);
    units.said(words)
}

/// One unit of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unit {
    text: String,
    is_literal: bool,
}

/// How a unit relates to the space next to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spacing {
    /// The start of the command, or of one of its lines.
    Begin,
    Word,
    /// It separates commands, or precedes a file: it has spaces on both sides.
    Operator,
    Dash,
    Opening,
    Closing,
    Quote {
        opens: bool,
    },
    /// It has a space before it but none after it.
    Leading,
    /// It has a space after it but none before it.
    Trailing,
    /// It has no space on either side.
    Inner,
    Slash,
    Dot,
}

/// Returns whether a space is expected between two units.
fn expects_space(before: Spacing, after: Spacing) -> bool {
    match (before, after) {
        (Spacing::Begin, _) => false,
        (Spacing::Operator, _) | (_, Spacing::Operator) => true,
        (
            _,
            Spacing::Trailing | Spacing::Inner | Spacing::Slash | Spacing::Dot | Spacing::Closing,
        ) => {
            matches!(before, Spacing::Trailing | Spacing::Quote { opens: false })
                && matches!(after, Spacing::Slash | Spacing::Dot)
        }
        (_, Spacing::Quote { opens: false }) => false,
        (
            Spacing::Dash
            | Spacing::Opening
            | Spacing::Leading
            | Spacing::Inner
            | Spacing::Quote { opens: true },
            _,
        ) => false,
        (Spacing::Slash, after) => after == Spacing::Dash,
        (Spacing::Dot, after) => matches!(after, Spacing::Dash),
        (
            Spacing::Word | Spacing::Closing | Spacing::Trailing | Spacing::Quote { opens: false },
            Spacing::Opening,
        ) => false,
        (
            Spacing::Word | Spacing::Closing | Spacing::Trailing | Spacing::Quote { opens: false },
            _,
        ) => true,
    }
}

/// The units of a command, and the state for reading further.
struct CommandUnits<'a> {
    words: &'a Words,
    units: Vec<Unit>,
    before: Spacing,
    /// The white space since the last unit.
    space: String,
    /// Which quotes are open.
    open: BTreeMap<char, bool>,
}

impl<'a> CommandUnits<'a> {
    fn of(text: &str, words: &'a Words) -> Self {
        let mut units = Self {
            words,
            units: Vec::new(),
            before: Spacing::Begin,
            space: String::new(),
            open: BTreeMap::new(),
        };
        let text = trimmed(text);
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            at += units.take(text, at, rest);
        }
        let end = std::mem::take(&mut units.space);
        if !end.is_empty() {
            units.white_space(&end);
        }
        units
    }

    /// Reads the unit at the start of `rest`; returns its length in bytes.
    fn take(&mut self, text: &str, at: usize, rest: &str) -> usize {
        let Some(c) = rest.chars().next() else {
            return 1;
        };
        if matches!(c, ' ' | '\t' | '\n') {
            self.space.push(c);
            return c.len_utf8();
        }
        let run = run_around(text, at);
        if let Some(odd) = odd_at(c, run) {
            let known = self.words.sign_at(rest).filter(|_| odd == Oddity::Other);
            let name = known.map_or_else(|| odd.name(c, self.words), |sign| sign.one.to_string());
            self.sign(Spacing::Inner, &name);
            return known.map_or(c.len_utf8(), |sign| sign.sign.len());
        }
        if let Some(length) = self.composite(text, at, rest) {
            return length;
        }
        if c.is_alphanumeric() {
            return self.literal(text, at, rest);
        }
        self.ascii_sign(rest, c)
    }

    /// Reads a frequent combination such as `2>&1`, if it stands alone.
    fn composite(&mut self, text: &str, at: usize, rest: &str) -> Option<usize> {
        let before = text.get(..at).unwrap_or_default().chars().next_back();
        if before.is_some_and(|c| !matches!(c, ' ' | '\t' | '\n' | '(' | ')')) {
            return None;
        }
        let composites = &self.words.composites;
        let found = composites
            .iter()
            .filter(|it| rest.starts_with(it.sign.as_ref()))
            .max_by_key(|it| it.sign.len())?;
        let behind = rest
            .get(found.sign.len()..)
            .unwrap_or_default()
            .chars()
            .next();
        if behind.is_some_and(|c| !matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&' | ')')) {
            return None;
        }
        let (name, length) = (found.one.to_string(), found.sign.len());
        self.sign(Spacing::Word, &name);
        Some(length)
    }

    /// Reads letters and digits, split where capitals begin.
    fn literal(&mut self, text: &str, at: usize, rest: &str) -> usize {
        let mut length = 0;
        for c in rest.chars() {
            let here = at + length;
            let joins = c.is_alphanumeric() && odd_at(c, run_around(text, here)).is_none();
            if !joins {
                break;
            }
            length += c.len_utf8();
        }
        let token = rest.get(..length).unwrap_or_default().to_owned();
        for (at, (capitals, piece)) in pieces(&token).into_iter().enumerate() {
            let inner = at > 0
                || (self.space.is_empty()
                    && self.before != Spacing::Begin
                    && self.before == Spacing::Word);
            let [capital, all, inner_capital, inner_all] = &self.words.capitals;
            let name = match (capitals, inner) {
                (0, _) => None,
                (1, false) => Some(capital),
                (1, true) => Some(inner_capital),
                (_, false) => Some(all),
                (_, true) => Some(inner_all),
            };
            match name {
                Some(name) if inner => self.push(name.clone().into_owned(), false),
                Some(name) => {
                    let name = name.clone().into_owned();
                    self.sign(Spacing::Word, &name);
                }
                None if at > 0 => {
                    let joined = self.words.joined.clone().into_owned();
                    self.push(joined, false);
                }
                None => self.part(Spacing::Word),
            }
            self.push(piece.to_owned(), true);
            self.before = Spacing::Word;
        }
        length
    }

    fn ascii_sign(&mut self, rest: &str, c: char) -> usize {
        let Some(sign) = self.words.sign_at(rest) else {
            let name = Oddity::Other.name(c, self.words);
            self.sign(Spacing::Inner, &name);
            return c.len_utf8();
        };
        let one = self.words.sign(c);
        if let Some(one) = one.filter(|one| is_run(rest, c) && one.many != one.one) {
            let length = rest.len() - rest.trim_start_matches(c).len();
            let name = run(self.words, length, &one.many);
            let edge = self.edge(c, length);
            self.sign(edge, &name);
            return length;
        }
        let (name, length) = (sign.one.to_string(), sign.sign.len());
        let edge = match self.edge(c, length) {
            // Inside quotes it is an ordinary sign, and `<<` directly precedes the delimiter of its
            // here-document.
            Spacing::Operator if self.is_quoted() => Spacing::Inner,
            Spacing::Operator if rest.starts_with("<<") => Spacing::Leading,
            edge => edge,
        };
        let begins = !self.space.is_empty() || self.before == Spacing::Begin;
        let is_path = rest[length..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if c == '/' && begins && !is_path {
            // The folder above all: the name implies that a word begins with this sign.
            let root = self.words.root.clone().into_owned();
            self.space_before(Spacing::Slash, true);
            self.push(root, false);
            self.before = Spacing::Slash;
            return length;
        }
        if c == '-' && !begins && expects_space(self.before, Spacing::Dash) {
            let inner = self.words.inner_dash.clone().into_owned();
            self.push(inner, false);
            self.before = Spacing::Dash;
            return length;
        }
        self.sign(edge, &name);
        length
    }

    fn is_quoted(&self) -> bool {
        self.open.values().any(|open| *open)
    }

    /// Returns how a sign relates to the space next to it; quotes open and close in turn.
    fn edge(&mut self, c: char, length: usize) -> Spacing {
        match c {
            '-' => Spacing::Dash,
            '|' | '<' | '>' => Spacing::Operator,
            '&' if length > 1 => Spacing::Operator,
            '&' | '~' | '$' | '*' | '#' | '{' => Spacing::Leading,
            ';' | ',' | ']' | '}' => Spacing::Trailing,
            '(' | '[' => Spacing::Opening,
            ')' => Spacing::Closing,
            '"' | '\'' | '`' => {
                let open = self.open.entry(c).or_default();
                for _ in 0..length {
                    *open = !*open;
                }
                Spacing::Quote { opens: *open }
            }
            '/' => Spacing::Slash,
            '.' => Spacing::Dot,
            '\\' => Spacing::Leading,
            _ => Spacing::Inner,
        }
    }

    /// Adds a sign, preceded by words for its space if necessary.
    fn sign(&mut self, edge: Spacing, name: &str) {
        self.part(edge);
        self.push(name.to_owned(), false);
        self.before = edge;
    }

    /// Adds words for an unexpected space before a unit, or for the lack of an expected one.
    fn part(&mut self, edge: Spacing) {
        self.space_before(edge, false);
    }

    /// Does the same; `is_said` means that the unit's name already implies a single space.
    fn space_before(&mut self, edge: Spacing, is_said: bool) {
        let space = std::mem::take(&mut self.space);
        let expected = expects_space(self.before, edge);
        match space.as_str() {
            "" if expected => {
                let joined = self.words.joined.clone().into_owned();
                self.push(joined, false);
            }
            "" => {}
            " " if is_said || expected => {}
            _ => self.white_space(&space),
        }
    }

    /// Adds words for all of the white space.
    fn white_space(&mut self, space: &str) {
        let mut rest = space;
        while let Some(c) = rest.chars().next() {
            let after = rest.trim_start_matches(c);
            let count = rest.len() - after.len();
            let name = match (c, count) {
                ('\n', _) => self.words.new_line.clone().into_owned(),
                ('\t', 1) => self.words.tab.one.clone().into_owned(),
                ('\t', _) => fill(&self.words.tab.many, &[("n", &count.to_string())]),
                (_, 1) => self.words.space.clone().into_owned(),
                (_, _) => fill(&self.words.spaces, &[("n", &count.to_string())]),
            };
            let times = if c == '\n' { count } else { 1 };
            for _ in 0..times {
                self.push(name.clone(), false);
            }
            rest = after;
        }
        self.before = Spacing::Begin;
    }

    fn push(&mut self, text: String, is_literal: bool) {
        self.units.push(Unit { text, is_literal });
    }

    /// Returns the words; a literal that could be mistaken for the name of a sign is marked.
    fn said(&self, words: &Words) -> String {
        let names = words.names();
        let mut said = String::new();
        let mut marked = vec![false; self.units.len()];
        for (at, unit) in self.units.iter().enumerate() {
            let ahead: Vec<String> = self
                .units
                .iter()
                .skip(at)
                .flat_map(|unit| unit.text.split_whitespace())
                .take(LONGEST_NAME)
                .map(str::to_lowercase)
                .collect();
            let own = unit.text.split_whitespace().count();
            let taken = names.longest(&ahead);
            let mark = unit.is_literal && (taken > 0 || marked.get(at) == Some(&true));
            if !unit.is_literal && taken > own {
                // The sign's name would seem to continue in the literal words after it.
                let next = self
                    .units
                    .iter()
                    .skip(at + 1)
                    .position(|unit| unit.is_literal);
                if let Some(marked) = next.and_then(|next| marked.get_mut(at + 1 + next)) {
                    *marked = true;
                }
            }
            if mark {
                put(&mut said, &words.literal);
            }
            let is_break = !unit.is_literal && unit.text == words.new_line;
            if is_break && !said.is_empty() {
                said.push(',');
            }
            put(&mut said, &unit.text);
            if is_break {
                said.push(',');
            }
        }
        said
    }
}

fn put(said: &mut String, word: &str) {
    if !said.is_empty() {
        said.push(' ');
    }
    said.push_str(word);
}

/// Removes the white space around a command; blanks after a backslash or a here-document belong to it.
pub(super) fn trimmed(text: &str) -> &str {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\n');
    let text = text.trim_start_matches(blank);
    let short = text.trim_end_matches(blank);
    // In a here-document, blanks after the delimiter keep it from ending there.
    match short.ends_with('\\') || text.contains("<<") {
        true => text,
        false => short,
    }
}

/// Splits a word where capitals begin; returns the number of capitals at the start of each part, and the part.
fn pieces(token: &str) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let mut rest = token;
    while !rest.is_empty() {
        let capitals: Vec<(usize, char)> = rest
            .char_indices()
            .take_while(|(_, c)| c.is_uppercase())
            .collect();
        let behind = rest.chars().nth(capitals.len());
        let goes_on = behind.is_some_and(char::is_lowercase);
        let (count, length) = match capitals.as_slice() {
            [] => (0, rest.find(char::is_uppercase).unwrap_or(rest.len())),
            [_] => (
                1,
                rest.char_indices()
                    .skip(1)
                    .find(|(_, c)| c.is_uppercase())
                    .map_or(rest.len(), |(at, _)| at),
            ),
            // The last of several capitals begins the next part: `HTTPServer`.
            [_, .., (last, _)] if goes_on && capitals.len() > 2 => (capitals.len() - 1, *last),
            [_, (last, _)] if goes_on => (1, *last),
            all => {
                let end = rest
                    .char_indices()
                    .skip(all.len())
                    .find(|(_, c)| c.is_alphabetic());
                (all.len(), end.map_or(rest.len(), |(at, _)| at))
            }
        };
        let (piece, after) = rest.split_at(length);
        pieces.push((count, piece));
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests;
