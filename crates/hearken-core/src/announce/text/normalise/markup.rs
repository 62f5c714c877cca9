//! Notation that is not read as written: HTML, formulas, powers, indices, units.
//!
//! Responsibilities: replacing each of these by its words before the line is read. Not here: the words for a
//! formula (`math`) or a unit (`unit`), recognising a reference (`entity`) or a tag (`tag`), reading the rest
//! of a line (`inline`).
//!
//! Mental model: the words are kept in a list, and a character that no text can contain marks their place in
//! the line; so the reader of the line inserts them unchanged, and never cuts, drops or spells them. Inline
//! code and addresses are copied unchanged. Every search ahead is bounded.

mod markup_context;

use super::clean::{clean, hides};
use super::entity::entity;
use super::math::{exponent, formula, index, names_function, script};
use super::tag::{Tag, TagKind};
use super::unit::unit_behind;
use super::words::{Words, fill};
use crate::announce::text::markdown::{Span, spans};
pub(super) use markup_context::{counts_atoms, encloses_arguments, formula_at, is_ordinal};
use markup_context::{decoded, ends_in_word, last_word, length_of_address, window};

/// The first of the characters that mark places, and how many there are. They are for private use, and cleaning removes
/// them from every text.
const FIRST: u32 = 0xf0000;
const MOST: u32 = 0xfff0;

/// The maximum length of a raised, lowered or struck-out text, or of code between tags, in bytes.
const SCRIPT: usize = 64;
const INLINE: usize = 300;

/// What is spoken at a marked place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SpokenMark {
    /// Separate words.
    Words(String),
    /// A pause.
    Pause,
    /// The end of a link.
    Link,
}

/// A line whose marked places have words.
#[derive(Debug)]
pub(super) struct MarkedLine {
    pub(super) line: String,
    said: Vec<SpokenMark>,
}

impl MarkedLine {
    /// Returns what is spoken at a character that marks a place.
    pub(super) fn at(&self, c: char) -> Option<&SpokenMark> {
        let place = u32::from(c).checked_sub(FIRST)?;
        self.said.get(usize::try_from(place).ok()?)
    }
}

/// Returns a line with words in place of such notation; `None` if it contains none.
pub(super) fn marked(line: &str, words: &Words) -> Option<MarkedLine> {
    if !may_be_marked(line, words) {
        return None;
    }
    let mut marking = MarkupPass {
        line,
        words,
        at: 0,
        out: String::with_capacity(line.len() + 16),
        said: Vec::new(),
        spans: spans(line).into_iter().peekable(),
        links: 0,
        arguments: 0,
        struck: None,
    };
    while marking.at < line.len() {
        marking.step();
    }
    (!marking.said.is_empty() || marking.out != line).then_some(MarkedLine {
        line: marking.out,
        said: marking.said,
    })
}

/// Returns whether a quick look finds a sign that could belong to such notation.
fn may_be_marked(line: &str, words: &Words) -> bool {
    let bytes = line.as_bytes();
    let is_shifted = |c: char| script(c).is_some() || matches!(c, '√' | '∛' | '∜');
    memchr::memchr3(b'<', b'&', b'$', bytes).is_some()
        || memchr::memchr2(b'\\', b'^', bytes).is_some()
        || line.contains("~~")
        || has_unit(line, words)
        || !line.is_ascii() && line.chars().any(is_shifted)
}

/// Returns whether a digit is followed by what could be a unit.
fn has_unit(line: &str, words: &Words) -> bool {
    let units = words.units_by_sign();
    let mut digits = (line.bytes().enumerate()).filter(|(_, b)| b.is_ascii_digit());
    digits.any(|(at, _)| units.may_follow(&line[at + 1..]))
}

struct MarkupPass<'a> {
    line: &'a str,
    words: &'a Words,
    at: usize,
    out: String,
    said: Vec<SpokenMark>,
    spans: std::iter::Peekable<std::vec::IntoIter<Span>>,
    /// How many links are open.
    links: usize,
    /// How many angle brackets enclose the arguments of a type.
    arguments: usize,
    /// Where the text that is struck out ends, if it is inside one.
    struck: Option<usize>,
}

impl<'a> MarkupPass<'a> {
    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    /// Copies `length` bytes unchanged.
    fn copy(&mut self, length: usize) {
        self.out.push_str(&self.rest()[..length]);
        self.at += length;
    }

    /// Marks a place for words that replace `length` bytes; copies the bytes instead if too many places are
    /// marked.
    fn say(&mut self, said: SpokenMark, length: usize) {
        let place = u32::try_from(self.said.len())
            .ok()
            .filter(|place| *place < MOST);
        match place.and_then(|place| char::from_u32(FIRST + place)) {
            Some(mark) => {
                self.out.push(mark);
                // Splitting off a sign may leave a joiner that joins nothing, which is removed.
                self.said.push(match said {
                    SpokenMark::Words(words) if hides(&words) => {
                        SpokenMark::Words(clean(&words).into_owned())
                    }
                    said => said,
                });
                self.at += length;
            }
            None => self.copy(length),
        }
    }

    fn step(&mut self) {
        if let Some(span) = self.spans.next_if(|span| span.start <= self.at) {
            if span.start == self.at {
                return self.copy(span.end - span.start);
            }
            return;
        }
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return };
        match c {
            '&' => self.reference(),
            '<' => self.angle(),
            '>' if self.arguments > 0 => {
                self.arguments -= 1;
                self.at += 1;
                if rest[1..].starts_with(|c: char| c.is_alphanumeric()) {
                    self.out.push(' ');
                }
            }
            '$' => self.dollar(),
            '\\' => self.backslash(),
            '^' => self.caret(),
            '~' => self.tildes(),
            ']' if rest.starts_with("](") => self.copy(length_of_address(rest)),
            ':' if rest.starts_with("://") => self.copy(length_of_address(rest)),
            '0'..='9' => self.number(),
            c if c.is_ascii() => {
                // Nothing before the next of these signs matters.
                let means = |b: u8| matches!(b, b'&' | b'<' | b'>' | b'$' | b'\\' | b'^' | b'~' | b']' | b':' | b'`' | b'0'..=b'9' | 0x80..);
                let plain = rest.bytes().skip(1).take_while(|b| !means(*b)).count();
                self.copy(1 + plain);
            }
            '√' | '∛' | '∜' => {
                let behind = &rest[c.len_utf8()..];
                let parenthesis = behind
                    .bytes()
                    .take(SCRIPT)
                    .position(|b| b == b')')
                    .filter(|_| behind.starts_with('('));
                let length = match parenthesis {
                    Some(end) => end + 1,
                    None => behind
                        .bytes()
                        .take_while(|b| b.is_ascii_alphanumeric() || *b == b'.')
                        .count(),
                };
                let written = rest[..c.len_utf8() + length].trim_end_matches('.');
                match length {
                    0 => self.copy(c.len_utf8()),
                    _ => self.formula(written, written.len()),
                }
            }
            c => match script(c) {
                Some((_, raised)) => {
                    let mut written = String::new();
                    let mut length = 0;
                    for c in rest.chars() {
                        match script(c).filter(|(_, up)| *up == raised) {
                            Some((shown, _)) => written.push(shown),
                            None => break,
                        }
                        length += c.len_utf8();
                    }
                    self.shifted(&written, raised, length);
                }
                None => self.copy(c.len_utf8()),
            },
        }
    }

    fn reference(&mut self) {
        match entity(self.rest()) {
            Some((None, length)) => self.at += length,
            Some((Some('`' | '|' | '*' | '_' | '[' | ']' | '~' | '#' | '\\' | '$'), length)) => {
                // A decoded sign is not a mark.
                let name = entity(self.rest()).and_then(|(c, _)| self.words.sign(c?));
                let name = name
                    .map(|sign| sign.one.clone().into_owned())
                    .unwrap_or_default();
                self.say(SpokenMark::Words(name), length);
            }
            Some((Some('<'), length)) if self.is_written_tag(length) => {
                let name = self
                    .words
                    .prose_sign("<")
                    .map(|sign| sign.one.clone().into_owned());
                self.say(SpokenMark::Words(name.unwrap_or_default()), length);
            }
            Some((Some(c), length)) => {
                self.out.push(c);
                self.at += length;
            }
            None => self.copy(1),
        }
    }

    /// Returns whether a reference of `length` bytes would open a tag if it were decoded.
    fn is_written_tag(&self, length: usize) -> bool {
        let inside = window(&self.rest()[length..], SCRIPT);
        Tag::at(&format!("<{}", inside.replacen("&gt;", ">", 1))).is_some()
    }

    fn angle(&mut self) {
        let rest = self.rest();
        if let Some(tag) = Tag::at(rest) {
            return self.tag(&tag);
        }
        let begins = rest[1..]
            .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '&' | '\'' | '['));
        if begins && ends_in_word(&self.out) && encloses_arguments(rest) {
            self.arguments += 1;
            let of = self.words.type_argument.clone().into_owned();
            return self.say(SpokenMark::Words(of), 1);
        }
        self.copy(1);
    }

    fn tag(&mut self, tag: &Tag<'_>) {
        let length = tag.length;
        match (tag.kind, tag.closes) {
            (TagKind::Raised | TagKind::Lowered, false) => {
                let rest = &self.rest()[length..];
                let end = rest.bytes().take(SCRIPT).position(|b| b == b'<');
                let written = end.map_or("", |end| &rest[..end]);
                let raised = tag.kind == TagKind::Raised;
                let closing = if raised { "</sup>" } else { "</sub>" };
                if rest[written.len()..].starts_with(closing) && !written.is_empty() {
                    let decoded = decoded(written);
                    self.shifted(&decoded, raised, length + written.len() + closing.len());
                } else {
                    self.at += length;
                    self.out.push(' ');
                }
            }
            (TagKind::Code, false) => {
                let rest = &self.rest()[length..];
                let end = rest
                    .bytes()
                    .take(INLINE)
                    .position(|b| matches!(b, b'<' | b'`'));
                let written = end.map_or("", |end| &rest[..end]);
                let closing = format!("</{}>", tag.name);
                if rest[written.len()..].starts_with(&closing) && !written.is_empty() {
                    let code = decoded(written);
                    self.at += length + written.len() + closing.len();
                    if code.contains('`') {
                        self.out.push_str(&code);
                    } else {
                        self.out.push('`');
                        self.out.push_str(&code);
                        self.out.push('`');
                    }
                } else {
                    self.at += length;
                }
            }
            (TagKind::Link, false) => {
                self.links += usize::from(tag.value("href").is_some());
                self.at += length;
            }
            (TagKind::Link, true) if self.links > 0 => {
                self.links -= 1;
                self.say(SpokenMark::Link, length);
            }
            (TagKind::Image, _) => {
                let text = tag.value("alt").map(decoded).unwrap_or_default();
                let words = format!("{} {text}", self.words.image);
                self.say(SpokenMark::Words(words.trim().to_owned()), length);
            }
            (
                TagKind::Break
                | TagKind::Block
                | TagKind::Heading
                | TagKind::List
                | TagKind::Item
                | TagKind::Table
                | TagKind::Row
                | TagKind::Cell,
                _,
            ) => {
                self.say(SpokenMark::Pause, length);
            }
            (
                TagKind::Raised
                | TagKind::Lowered
                | TagKind::Code
                | TagKind::Link
                | TagKind::Inline,
                _,
            ) => self.at += length,
        }
    }

    /// Speaks a raised or lowered text, in place of `length` bytes.
    fn shifted(&mut self, written: &str, raised: bool, length: usize) {
        let written = written.trim();
        if raised {
            let is_number = self.out.ends_with(|c: char| c.is_ascii_digit());
            self.raised(written, length);
            self.unit(is_number);
        } else {
            self.lowered(written, length);
        }
    }

    /// Speaks the unit after a power of a number.
    fn unit(&mut self, is_number: bool) {
        let found = unit_behind("", self.rest(), self.words).filter(|_| is_number);
        if let Some((said, length)) = found {
            self.say(SpokenMark::Words(said), length);
        }
    }

    fn raised(&mut self, written: &str, length: usize) {
        let before = self.out.chars().next_back();
        let word = last_word(&self.out);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let noted = written.trim_matches(['[', ']', '(', ')']);
        let is_note = is_number(noted)
            && (noted.len() < written.len()
                || word.chars().count() > 2
                    && word.chars().all(char::is_alphabetic)
                    && !names_function(word)
                || before.is_some_and(|c| matches!(c, '.' | ',' | '"' | '”')));
        let is_ordinal = is_ordinal(&self.out, written);
        let is_base =
            before.is_some_and(|c| c.is_alphanumeric() || c == ')' || u32::from(c) >= FIRST);
        if is_note {
            self.say(
                SpokenMark::Words(fill(&self.words.note, &[("n", noted)])),
                length,
            );
        } else if is_ordinal || !is_base && written.chars().all(char::is_alphanumeric) {
            self.out.push_str(written);
            self.at += length;
        } else if written.ends_with(['+', '-', '−', '–']) {
            // The charge of an ion may have a dash as its minus.
            let charge = formula(&written.replace('–', "-"), self.words);
            self.say(SpokenMark::Words(charge), length);
        } else if written.chars().count() > 1 && written.chars().all(char::is_uppercase) {
            self.say(SpokenMark::Words(written.to_owned()), length);
        } else {
            self.say(SpokenMark::Words(exponent(written, self.words)), length);
        }
    }

    fn lowered(&mut self, written: &str, length: usize) {
        let word = last_word(&self.out);
        let in_compound = counts_atoms(&self.out, written);
        if in_compound {
            self.out.push_str(written);
            self.at += length;
        } else if word == "log" {
            self.out.truncate(self.out.len() - word.len());
            let name = self.words.math_sign("log").unwrap_or("log");
            let said = formula(written, self.words);
            let mut text = fill(&self.words.base, &[("log", name), ("n", &said)]);
            let after = self.line[self.at + length..].trim_start();
            if after.starts_with(|c: char| c.is_ascii_digit() || c == '(')
                || after.bytes().take_while(u8::is_ascii_alphabetic).count() == 1
            {
                text.push(' ');
                text.push_str(fill(&self.words.apply, &[("text", "")]).trim());
            }
            self.say(SpokenMark::Words(text), length);
        } else {
            self.say(SpokenMark::Words(index(written, self.words)), length);
        }
    }

    fn caret(&mut self) {
        let rest = &self.rest()[1..];
        let word = last_word(&self.out);
        let is_base = word.chars().filter(|c| c.is_alphabetic()).count() <= 2 && !word.is_empty()
            || self.out.ends_with(')');
        let inside = |open: char, close: char| {
            let inner = rest.strip_prefix(open)?;
            let end = inner.bytes().take(SCRIPT).position(|b| b == close as u8)?;
            inner.get(..end).map(|inner| (inner, end + 2))
        };
        let found = inside('{', '}').or_else(|| inside('(', ')')).or_else(|| {
            let sign = usize::from(rest.starts_with(['-', '+']));
            let length = rest[sign..]
                .bytes()
                .take_while(u8::is_ascii_alphanumeric)
                .count();
            let written = rest.get(..sign + length)?;
            let is_one = length == 1
                || rest[sign..sign + length]
                    .bytes()
                    .all(|b| b.is_ascii_digit());
            (length > 0 && is_one).then_some((written, sign + length))
        });
        match found.filter(|_| is_base) {
            Some((written, length)) => {
                let is_number = self.out.ends_with(|c: char| c.is_ascii_digit());
                let words = exponent(written, self.words);
                self.say(SpokenMark::Words(words), 1 + length);
                self.unit(is_number);
            }
            None => self.copy(1),
        }
    }

    /// Announces that a text between pairs of tildes is struck out.
    fn tildes(&mut self) {
        let rest = self.rest();
        let run = rest.bytes().take_while(|b| *b == b'~').count();
        if self.struck.take_if(|end| *end == self.at).is_some() {
            return self.say(SpokenMark::Pause, 2);
        }
        let inside = rest.get(2..).filter(|_| run == 2 && self.struck.is_none());
        let end = inside.and_then(|inside| window(inside, INLINE).find("~~"));
        let is_tight = inside.is_some_and(|inside| !inside.starts_with(char::is_whitespace));
        match end.filter(|end| *end > 0 && is_tight) {
            Some(end) => {
                self.struck = Some(self.at + 2 + end);
                let words = self.words.struck.to_string();
                self.say(SpokenMark::Words(words), 2);
            }
            None => self.copy(run),
        }
    }

    fn dollar(&mut self) {
        match formula_at(self.rest()) {
            Some((inside, length)) => self.formula(inside, length),
            None => self.copy(1 + usize::from(self.rest().starts_with("$$"))),
        }
    }

    fn backslash(&mut self) {
        let rest = self.rest();
        if let Some((inside, length)) = formula_at(rest) {
            return self.formula(inside, length);
        }
        // An escaped sign is not a mark.
        let escaped = rest[1..]
            .chars()
            .next()
            .filter(|c| matches!(c, '$' | '*' | '_' | '<' | '>' | '#' | '~' | '&'));
        let begins = !self
            .out
            .ends_with(|c: char| c.is_alphanumeric() || matches!(c, ':' | '\\'));
        match escaped {
            Some('*' | '_' | '~') if begins => {
                let name = escaped
                    .and_then(|c| self.words.sign(c))
                    .map(|sign| sign.one.clone().into_owned());
                self.say(SpokenMark::Words(name.unwrap_or_default()), 2);
            }
            Some(c) if begins => {
                self.out.push(c);
                self.at += 2;
            }
            Some(_) | None => self.copy(1),
        }
    }

    fn formula(&mut self, inside: &str, length: usize) {
        let said = formula(inside, self.words);
        self.say(SpokenMark::Words(said), length);
        let rest = self.rest();
        // As in "x-axis".
        if rest.starts_with('-') && rest[1..].starts_with(|c: char| c.is_alphabetic()) {
            self.out.push(' ');
            self.at += 1;
        }
    }

    fn number(&mut self) {
        let rest = self.rest();
        let run = rest
            .bytes()
            .take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b','))
            .count();
        let number = rest[..run].trim_end_matches(['.', ',']);
        let mut before = self.line[..self.at].chars().rev();
        let begins = match before.next() {
            Some('-' | '/') => before
                .next()
                .is_none_or(|c| c.is_ascii_digit() || c.is_whitespace()),
            Some(c) => !(c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '#')),
            None => true,
        };
        let unit = begins
            .then(|| unit_behind(number, &rest[number.len()..], self.words))
            .flatten();
        match unit {
            Some((said, length)) => {
                self.copy(number.len());
                self.out.push(' ');
                self.say(SpokenMark::Words(said), length);
            }
            None if begins => self.copy(run),
            // Letters and digits together are a name.
            None => {
                let name = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
                self.copy(name);
            }
        }
    }
}
