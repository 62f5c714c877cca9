//! The text after a possible end of a sentence.
//!
//! Responsibilities: closing marks, white space and the first character or word after them, read
//! from text that may still be incomplete. Not here: the decision (`mark_rules`).
//!
//! Every function returns `None` until the text that has arrived settles its answer; after that, no further
//! text changes it. This makes the finder's ends final.

use super::chars::{is_east_asian, is_unseen};
use super::enclosure::Enclosures;
use crate::announce::text::markdown::MarkdownLine;
use crate::announce::text::markdown::is_bullet;

/// How many closing marks may follow an end; more are not prose.
const CLOSERS: usize = 16;

/// How many bytes of white space are examined; a longer run is itself an end.
const SPACE: usize = 64;

/// How many opening marks may precede a sentence's first word.
const OPENERS: usize = 6;

/// How many bytes of a word are read; no word in the tables is longer.
const WORD: usize = 32;

/// The text after a possible end.
#[derive(Clone, Copy)]
pub(super) struct TextAhead<'a> {
    text: &'a str,
    finished: bool,
}

/// What kind of text comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextText {
    /// The end of the text.
    End,
    /// An empty line, or more white space than occurs inside a sentence.
    Gap,
    /// A separate line: a heading, an item, a row, a fence.
    Block,
    /// A capital letter.
    Upper,
    /// A lower-case letter.
    Lower,
    /// A digit, or a currency sign or minus before one.
    Digit,
    /// A letter of a script without capitals.
    Letter,
    /// A path, a flag, a code span.
    Code,
    /// An emoji or another symbol.
    Symbol,
    /// A mark that continues the sentence.
    Stop,
    /// Another full stop.
    Dot,
}

/// The analysed text after a possible end.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndContext {
    /// Where the closing marks end.
    pub closed: usize,
    /// Where the next sentence would begin.
    pub begin: usize,
    /// Whether white space follows, or nothing at all.
    pub spaced: bool,
    /// Whether there were closing marks.
    pub closers: bool,
    /// Whether a closing mark was a quotation mark.
    pub quoted: bool,
    /// Whether something is still open.
    pub enclosed: bool,
    /// What comes next.
    pub next: NextText,
    /// Where the next word begins, after opening marks.
    pub word: usize,
    /// Whether the next word follows an opening bracket.
    pub bracketed: bool,
}

impl<'a> TextAhead<'a> {
    /// Creates a view of a sentence's text; more of it may arrive unless it is finished.
    pub(super) fn new(text: &'a str, finished: bool) -> Self {
        Self { text, finished }
    }

    /// Returns the character at a place: `None` if unknown, `Some(None)` at the end.
    pub(super) fn peek(&self, at: usize) -> Option<Option<char>> {
        match self.text.get(at..).and_then(|rest| rest.chars().next()) {
            Some(c) => Some(Some(c)),
            None if self.finished => Some(None),
            None => None,
        }
    }

    /// Returns the word at a place, up to a bound; `None` while its end is unknown.
    pub(super) fn word(&self, at: usize) -> Option<&'a str> {
        let rest = self.text.get(at..)?;
        let mut end = 0;
        for c in rest.chars() {
            if !(c.is_alphanumeric() || matches!(c, '\'' | '’')) {
                return Some(&rest[..end]);
            }
            end += c.len_utf8();
            if end > WORD {
                return Some(&rest[..end]);
            }
        }
        self.finished.then_some(rest)
    }

    /// Reads what follows a possible end at `at`.
    pub(super) fn after(&self, at: usize, open: &Enclosures, place: u64) -> Option<EndContext> {
        let mut open = *open;
        let mut closed = at;
        let mut quoted = false;
        let mut left = CLOSERS;
        while left > 0 {
            let Some(c) = self.peek(closed)? else { break };
            if let Some(end) = self.note(closed)? {
                closed = end;
            } else if is_unseen(c) {
                closed += c.len_utf8();
            } else if is_closer(c) {
                open.shut(c);
                quoted |= is_quote(c);
                closed += c.len_utf8();
            } else {
                break;
            }
            left -= 1;
        }
        let closers = closed > at;
        let mut after = EndContext {
            closed,
            begin: closed,
            spaced: false,
            closers,
            quoted,
            enclosed: open.holds(place),
            next: NextText::End,
            word: closed,
            bracketed: false,
        };
        let mut newline = false;
        let mut here = closed;
        loop {
            match self.peek(here)? {
                None => {
                    after.spaced = true;
                    after.begin = here;
                    return Some(after);
                }
                Some('\n') => {
                    after.spaced = true;
                    here += 1;
                    if newline {
                        after.begin = here;
                        after.next = NextText::Gap;
                        return Some(after);
                    }
                    newline = true;
                    after.begin = here;
                }
                Some(c) if c.is_whitespace() => {
                    after.spaced = true;
                    here += c.len_utf8();
                    if here - closed > SPACE {
                        after.begin = here;
                        after.next = NextText::Gap;
                        return Some(after);
                    }
                }
                Some(_) => break,
            }
        }
        if newline {
            match MarkdownLine::at(&self.text[after.begin..], self.finished)? {
                MarkdownLine::Heading
                | MarkdownLine::Item
                | MarkdownLine::Row
                | MarkdownLine::Rule
                | MarkdownLine::Fence(_) => {
                    after.next = NextText::Block;
                    return Some(after);
                }
                MarkdownLine::Blank | MarkdownLine::Text => {}
            }
        } else {
            after.begin = here;
        }
        self.start(here, after)
    }

    /// Reads the first character of the next sentence after its opening marks.
    fn start(&self, mut here: usize, mut after: EndContext) -> Option<EndContext> {
        let mut left = OPENERS;
        loop {
            let Some(c) = self.peek(here)? else {
                after.next = NextText::Symbol;
                return Some(after);
            };
            let beyond = here + c.len_utf8();
            let opening = match c {
                '(' | '[' | '{' | '（' => {
                    after.bracketed = true;
                    true
                }
                '"' | '\'' | '“' | '‘' | '„' | '«' | '»' | '‹' | '¿' | '¡' | '「' | '『' | '*'
                | '_' => true,
                '-' | '–' | '—' => {
                    match self.peek(beyond)? {
                        Some(d) if d.is_ascii_digit() => after.next = NextText::Digit,
                        Some(d) if c == '-' && !d.is_whitespace() => after.next = NextText::Code,
                        Some(_) | None => {
                            if left > 0 {
                                left -= 1;
                                here = self.skip_space(beyond)?;
                                continue;
                            }
                            after.next = NextText::Stop;
                        }
                    }
                    after.word = here;
                    return Some(after);
                }
                _ => is_unseen(c),
            };
            if opening && left > 0 {
                left -= 1;
                here = beyond;
                continue;
            }
            after.word = here;
            after.next = match c {
                '$' | '€' | '£' | '¥' => match self.peek(beyond)? {
                    Some(d) if d.is_ascii_digit() => NextText::Digit,
                    Some(_) | None => NextText::Code,
                },
                '`' | '~' | '@' | '#' | '<' | '\\' => NextText::Code,
                '/' => match self.peek(beyond)? {
                    Some(d) if !d.is_whitespace() => NextText::Code,
                    Some(_) | None => NextText::Stop,
                },
                '.' | '…' => NextText::Dot,
                // Han letters are checked first, because the checks below look up tables.
                '\u{4e00}'..='\u{9fff}' => NextText::Letter,
                c if c.is_numeric() => NextText::Digit,
                c if c.is_uppercase() => NextText::Upper,
                c if c.is_lowercase() => NextText::Lower,
                c if c.is_alphabetic() => NextText::Letter,
                c if c.is_ascii() => NextText::Stop,
                c if is_bullet(c) => NextText::Block,
                ')' | '、' | '，' | '：' | '；' | '،' | '·' => NextText::Stop,
                c if is_closer(c) => NextText::Stop,
                _ => NextText::Symbol,
            };
            return Some(after);
        }
    }

    fn skip_space(&self, mut at: usize) -> Option<usize> {
        for _ in 0..OPENERS {
            match self.peek(at)? {
                Some(c) if matches!(c, ' ' | '\u{A0}') => at += c.len_utf8(),
                Some(_) | None => break,
            }
        }
        Some(at)
    }

    /// Returns the end of a footnote number such as "[12]" at a place, if there is one.
    fn note(&self, at: usize) -> Option<Option<usize>> {
        if self.peek(at)? != Some('[') {
            return Some(None);
        }
        let mut here = at + 1;
        while here <= at + 3 {
            match self.peek(here)? {
                Some(c) if c.is_ascii_digit() => here += 1,
                Some(']') if here > at + 1 => return Some(Some(here + 1)),
                Some(_) | None => break,
            }
        }
        match self.peek(here)? {
            Some(']') if here > at + 1 => Some(Some(here + 1)),
            Some(_) | None => Some(None),
        }
    }

    /// Returns whether the character after a closing quotation mark continues the sentence, as a
    /// Japanese particle or a Chinese verb of saying after a quote does.
    pub(super) fn carries_on(&self, at: usize) -> Option<bool> {
        let Some(c) = self.peek(at)? else {
            return Some(false);
        };
        if matches!(c, '\u{3041}'..='\u{309F}' | '、' | '，') {
            return Some(true);
        }
        let mut here = at;
        for _ in 0..3 {
            match self.peek(here)? {
                Some('说' | '說' | '道' | '问' | '問' | '答' | '喊' | '叫') => {
                    return Some(true);
                }
                Some(c) if is_east_asian(c) => here += c.len_utf8(),
                Some(_) | None => return Some(false),
            }
        }
        Some(false)
    }
}

fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '“' | '”' | '’' | '«' | '»' | '›' | '」' | '』'
    )
}

fn is_closer(c: char) -> bool {
    is_quote(c)
        || matches!(
            c,
            ')' | ']' | '}' | '*' | '_' | '~' | '）' | '】' | '》' | '〉' | '〕' | '］' | '｝'
        )
}
