//! Questions: nothing is left out, every sign that a shell knows is spoken.
//!
//! Responsibilities: which sign is a word and which is a pause. Not here: the signs' names
//! (`words`), pictures (`picture`).
//!
//! Mental model: letters and digits pass unchanged. A sign passes as punctuation only if it can be nothing
//! else; in doubt, its name is spoken. Too many words are a nuisance; an unheard sign is a danger.

use super::clean::clean_lines;
use super::markup::encloses_arguments;
use super::odd_characters::{masked_letter, run_around};
use super::picture::{Picture, picture_at};
use super::spoken::SpokenText;
use super::words::{Words, fill};

/// The length from which a run of one sign is counted instead of spoken one by one.
const RUN: usize = 4;

/// How a sign is spoken.
enum SignFate {
    /// By its name.
    Said,
    /// Unchanged.
    Kept,
    /// As a pause after the last word.
    Pause,
    /// As a gap between two words.
    Gap,
}

/// Returns a question's text in spoken words: an action, a consequence, a choice.
///
/// Every letter and digit is kept, and Markdown is not treated as markup. Sentence punctuation stays
/// punctuation, every other sign is spoken by its name. Source: `Text into speech`.
pub fn exact(text: &str, words: &Words) -> String {
    SignPass::whole(text, Language::Shell, words)
}

/// Returns code of a language other than the shell's in spoken words, sign by sign.
pub(super) fn code(text: &str, words: &Words) -> String {
    SignPass::whole(text, Language::Other, words)
}

/// The language whose names the signs get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Shell,
    Other,
}

/// One pass through a text.
struct SignPass<'a> {
    text: &'a str,
    words: &'a Words,
    language: Language,
    /// How many angle brackets enclose the arguments of a type.
    arguments: usize,
    /// Whether the text has signs that occur only in commands, so that brackets are spoken too.
    commandish: bool,
    /// Where the current run of characters without white space began.
    token: usize,
    /// Whether a single quote was spoken and awaits its partner.
    quoted: bool,
    before: Option<char>,
    spoken: SpokenText,
}

impl<'a> SignPass<'a> {
    /// Reads a whole text.
    fn whole(text: &str, language: Language, words: &Words) -> String {
        // Tabs are spoken, and cleaning would turn them into spaces.
        let clean: Vec<_> = text.split('\t').map(clean_lines).collect();
        let clean = clean.join("\t");
        let text = clean.trim();
        let mut reading = SignPass {
            text,
            words,
            language,
            arguments: 0,
            commandish: is_commandish(text),
            token: 0,
            quoted: false,
            before: None,
            spoken: SpokenText::with_room(text.len() + text.len() / 4, None),
        };
        let mut at = 0;
        while at < text.len() {
            at = reading.step(at);
        }
        reading.spoken.finish()
    }

    /// Speaks the sign or text at a place; returns the place after it.
    fn step(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let Some(c) = rest.chars().next() else {
            return self.text.len();
        };
        let end = if c.is_ascii_alphanumeric() {
            let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            self.spoken.text(&rest[..length]);
            at + length
        } else if c.is_whitespace() {
            let after = rest.trim_start();
            let space = &rest[..rest.len() - after.len()];
            self.spoken.gap();
            self.white_space(space);
            self.token = self.text.len() - after.len();
            self.token
        } else if c.is_ascii() {
            self.sign(at, rest, c)
        } else {
            self.foreign(at, rest, c)
        };
        self.before = self.text[..end].chars().next_back();
        end
    }

    /// Speaks line endings, tabs, and runs of spaces.
    fn white_space(&mut self, space: &str) {
        let mut rest = space;
        while let Some(c) = rest.chars().next() {
            let after = rest.trim_start_matches(c);
            let count = (rest.len() - after.len()) / c.len_utf8();
            let n = count.to_string();
            match c {
                '\n' => {
                    self.spoken.stop(',');
                    self.spoken.word(&self.words.new_line);
                    self.spoken.stop(',');
                }
                '\t' if count == 1 => self.spoken.word(&self.words.tab.one),
                '\t' => self.spoken.word(&fill(&self.words.tab.many, &[("n", &n)])),
                _ if count > 1 => self.spoken.word(&fill(&self.words.spaces, &[("n", &n)])),
                _ => {}
            }
            rest = after;
        }
    }

    fn sign(&mut self, at: usize, rest: &str, c: char) -> usize {
        if is_run(rest, c)
            && let Some(sign) = self.words.sign(c)
        {
            let length = rest.len() - rest.trim_start_matches(c).len();
            self.spoken.word(&run(self.words, length, &sign.many));
            return at + length;
        }
        let next = rest[1..].chars().next();
        if self.language == Language::Other && self.argument(rest, c) {
            return at + 1;
        }
        let fate = self.in_question(at, rest, c, next);
        match fate {
            SignFate::Said => return at + self.say(rest, c),
            SignFate::Kept => self.spoken.letter(c),
            SignFate::Pause => self.spoken.stop(c),
            SignFate::Gap => self.spoken.gap(),
        }
        at + 1
    }

    /// Speaks a bracket around the arguments of a type; returns whether there was one.
    fn argument(&mut self, rest: &str, c: char) -> bool {
        match c {
            '<' if is_word(self.before) && encloses_arguments(rest) => {
                self.arguments += 1;
                self.spoken.word(&self.words.type_argument);
                true
            }
            '>' if self.arguments > 0 => {
                self.arguments -= 1;
                self.spoken.gap();
                true
            }
            _ => false,
        }
    }

    /// Speaks the sign at the start of a text by its name; returns its length in bytes.
    fn say(&mut self, rest: &str, c: char) -> usize {
        let sign = match self.language {
            Language::Shell => self.words.sign_at(rest),
            Language::Other => self.words.code_sign_at(rest),
        };
        match sign {
            Some(sign) => {
                self.spoken.word(&sign.one);
                sign.sign.len()
            }
            None => {
                self.spoken.letter(c);
                c.len_utf8()
            }
        }
    }

    fn in_question(&mut self, at: usize, rest: &str, c: char, next: Option<char>) -> SignFate {
        let before = self.before;
        let inside = is_word(before) && is_word(next);
        let between_digits = is_digit(before) && is_digit(next);
        match c {
            '-' if between_digits => SignFate::Said,
            '-' if inside => {
                let is_flag = self.text[self.token..].starts_with('-');
                if is_flag || is_digit(before) || is_digit(next) {
                    SignFate::Gap
                } else {
                    SignFate::Kept
                }
            }
            '_' if inside => SignFate::Gap,
            '.' | ',' | ':' if between_digits => SignFate::Kept,
            '.' if is_word(before) && rest.starts_with("...") && ends(rest[3..].chars().next()) => {
                SignFate::Kept
            }
            '.' if before == Some('.') && self.spoken.last() == Some('.') => SignFate::Kept,
            '.' if inside && self.in_abbreviation(at) => SignFate::Kept,
            '.' | ',' | ':' | '!' if closes(before) && ends(next) => SignFate::Pause,
            '?' if closes(before) && ends(next) && !self.goes_on(rest) => SignFate::Pause,
            '(' | ')' if !self.commandish => SignFate::Kept,
            '\'' if inside || (is_word(before) && !self.quoted && !self.commandish) => {
                SignFate::Kept
            }
            '\'' => {
                self.quoted = !self.quoted;
                SignFate::Said
            }
            '$' if is_digit(next) && !self.is_parameter(rest) => SignFate::Kept,
            '%' if is_digit(before) && !is_word(next) => SignFate::Kept,
            _ => SignFate::Said,
        }
    }

    /// Returns whether a question mark is inside a sentence, as in a pattern for file names.
    fn goes_on(&self, rest: &str) -> bool {
        let after = rest[1..].trim_start();
        after
            .chars()
            .next()
            .is_some_and(|c| c.is_lowercase() || matches!(c, '-' | '/' | '.' | '~'))
    }

    fn in_abbreviation(&self, at: usize) -> bool {
        let token = &self.text[self.token..];
        let token = token.strip_prefix('(').unwrap_or(token);
        let begins = self.text.len() - token.len();
        let is_it = |word: &super::WordOrTemplate| {
            token.starts_with(word.as_ref()) && at < begins + word.len()
        };
        begins <= at && self.words.abbreviations.iter().any(is_it)
    }

    /// Returns whether a dollar sign and a digit are a shell parameter rather than a price.
    fn is_parameter(&self, rest: &str) -> bool {
        self.commandish
            && !rest[2..].starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','))
    }

    fn foreign(&mut self, at: usize, rest: &str, c: char) -> usize {
        let next = rest[c.len_utf8()..].chars().next();
        let is_pause = match c {
            '…' | '—' => is_word(self.before) || self.before == Some(' '),
            '–' => is_word(self.before) || next == Some(' '),
            '‐' | '‑' => is_word(self.before) && is_word(next),
            _ => false,
        };
        if is_pause {
            self.spoken.letter(c);
            return at + c.len_utf8();
        }
        if let Some(odd) = masked_letter(c, run_around(self.text, at)) {
            self.spoken.word(&odd.name(c, self.words));
            return at + c.len_utf8();
        }
        if c.is_alphanumeric() {
            self.spoken.letter(c);
            return at + c.len_utf8();
        }
        if self.words.sign_at(rest).is_some() {
            return at + self.say(rest, c);
        }
        let plain = rest.get(..c.len_utf8()).unwrap_or_default();
        match picture_at(rest, self.words) {
            Some((Picture::Nameless, _)) if self.words.math_sign(plain).is_some() => {
                self.spoken
                    .word(self.words.math_sign(plain).unwrap_or(plain));
                at + c.len_utf8()
            }
            Some((picture, length)) => {
                match picture {
                    Picture::Named(name) => self.spoken.word(&name),
                    Picture::Nameless => self.spoken.word(&self.words.symbol),
                    Picture::Drawing(1) => self.spoken.word(&self.words.drawing.one),
                    Picture::Drawing(n) => {
                        let many = run(self.words, n, &self.words.drawing.many);
                        self.spoken.word(&many);
                    }
                    Picture::Mark => {}
                }
                at + length
            }
            None => {
                self.spoken.letter(c);
                at + c.len_utf8()
            }
        }
    }
}

/// Returns whether a text begins with a run of an ASCII sign that is long enough to be counted.
pub(super) fn is_run(text: &str, c: char) -> bool {
    text.len() >= RUN && text.chars().take(RUN).all(|other| other == c)
}

/// Returns words for the number of signs in a run.
pub(super) fn run(words: &Words, n: usize, name: &str) -> String {
    fill(&words.run, &[("n", &n.to_string()), ("sign", name)])
}

/// Returns whether a text contains a sign that sentences do without.
fn is_commandish(text: &str) -> bool {
    let bytes = text.as_bytes();
    let pair = |a: u8, b: u8| match (a, b) {
        (b' ' | b'\n' | b'`' | b'"' | b'\'', b'-') => false,
        (b'$', b) => b.is_ascii_alphabetic() || matches!(b, b'{' | b'(' | b'?' | b'!' | b'@'),
        (b'&', b'&') => true,
        (a, b'(') => a.is_ascii_alphanumeric(),
        _ => false,
    };
    let is_flag = |three: &[u8]| {
        three[0] == b' ' && three[1] == b'-' && (three[2] == b'-' || three[2].is_ascii_alphabetic())
    };
    bytes.iter().any(|b| b"|`<>\\*={}~^;".contains(b))
        || bytes.windows(2).any(|two| pair(two[0], two[1]))
        || bytes.windows(3).any(is_flag)
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

fn is_digit(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_ascii_digit())
}

/// Returns whether a stop can follow this character.
fn closes(c: Option<char>) -> bool {
    c.is_some_and(|c| {
        c.is_alphanumeric()
            || matches!(c, ')' | '"' | '\'' | '`' | '”' | '’' | '»' | '%')
            || !c.is_ascii() && !c.is_whitespace()
    })
}

/// Returns whether a stop can precede this character.
fn ends(c: Option<char>) -> bool {
    c.is_none_or(|c| c.is_whitespace() || matches!(c, ')' | '"' | '\'' | '”' | '’' | '»'))
}
