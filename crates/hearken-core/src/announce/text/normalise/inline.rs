//! A line of prose: plain words quickly, marks and links where they occur.
//!
//! Responsibilities: finding the tokens, the marks around them, inline code, links. Not here: where
//! inline code is (`span`), what is inside a token (`token`), what a line is (`prose`).

use std::iter::Peekable;
use std::vec::IntoIter;

use super::code::is_shell;
use super::markup::{MarkedLine, SpokenMark, marked};
use super::signs::{self, exact, is_run, run};
use super::spoken::{SpokenText, is_stop};
use super::token;
use super::words::{SignWords, Words};
use crate::announce::text::markdown::{Span, spans};

/// What a byte can mean within a token, as bits.
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const STOP: u8 = 8;
const DASH: u8 = 16;
const HIGH: u8 = 32;
const OTHER: u8 = 64;
const SPACE: u8 = 128;

const CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [OTHER; 256];
    let mut b = 0;
    while b < 256 {
        classes[b] = match b as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b' ' => SPACE,
            b'.' | b',' | b';' | b'!' | b'?' | b'"' | b'\'' | b'(' | b')' | b':' => STOP,
            b'-' => DASH,
            0x80..=0xff => HIGH,
            _ => OTHER,
        };
        b += 1;
    }
    classes
}

/// Appends the words of a line to the spoken text.
pub(super) fn say_line(line: &str, words: &Words, spoken: &mut SpokenText) {
    // Usual words and numbers need no closer look, and most lines contain nothing else.
    let (usual, line) = line.split_at(length_of_usual(line, words));
    put(usual, &(0..usual.len()), spoken);
    if line.is_empty() {
        return spoken.gap();
    }
    let marked = marked(line, words);
    let line = marked.as_ref().map_or(line, |marked| &marked.line);
    let mut inline = Inline {
        line,
        marked: marked.as_ref(),
        words,
        linked: false,
        image: false,
        parenthesis: SignSearch::new(b')'),
        space: SignSearch::new(b' '),
        spans: None,
        compares: None,
    };
    let bytes = line.as_bytes();
    let mut at = 0;
    // A stretch of plain words with single spaces is appended in one step.
    let mut plain = 0..0;
    while at < bytes.len() {
        if bytes[at] == b' ' {
            at += 1;
            continue;
        }
        let (end, is_plain) = scan(line, at);
        if is_plain {
            if plain.is_empty() {
                plain = at..end;
            } else if plain.end + 1 == at {
                plain.end = end;
            } else {
                put(line, &plain, spoken);
                plain = at..end;
            }
            inline.linked = false;
            at = end;
        } else {
            put(line, &plain, spoken);
            plain = 0..0;
            spoken.gap();
            at = inline.token(at, end, spoken);
        }
    }
    put(line, &plain, spoken);
    spoken.gap();
}

/// Speaks a table cell; a cell that is just a sign is meant literally, and is never left out.
pub(super) fn say_cell(cell: &str, words: &Words, spoken: &mut SpokenText) {
    let name = match cell {
        "-" | "–" | "—" | "−" | "--" | "---" => words.sign('-').map(|sign| sign.one.as_ref()),
        "×" | "✕" => words.prose_sign("✗").map(|sign| sign.one.as_ref()),
        "~" | "*" => cell
            .chars()
            .next()
            .and_then(|c| words.sign(c))
            .map(|sign| sign.one.as_ref()),
        _ => None,
    };
    if let Some(name) = name {
        return spoken.word(name);
    }
    let mut said = SpokenText::with_room(cell.len(), spoken.now());
    say_line(cell, words, &mut said);
    spoken.leave_out(said.left_out());
    let is_silent = said.left_out() == 0 && !cell.is_empty() && cell.len() < 16;
    let said = said.finish();
    if is_silent && !said.contains(char::is_alphanumeric) {
        spoken.word(&exact(cell, words));
    } else {
        spoken.text(&said);
    }
}

fn put(line: &str, plain: &std::ops::Range<usize>, spoken: &mut SpokenText) {
    if !plain.is_empty() {
        spoken.gap();
        spoken.text(&line[plain.clone()]);
        spoken.gap();
    }
}

/// Returns a token's end, and whether it is a word that can be spoken unchanged.
fn scan(line: &str, start: usize) -> (usize, bool) {
    match end_of_usual(line.as_bytes(), start) {
        Some(end) => (end, true),
        None => scan_any(line, start),
    }
}

fn scan_any(line: &str, start: usize) -> (usize, bool) {
    let bytes = line.as_bytes();
    let mut at = start;
    let mut seen = 0;
    let mut odd = false;
    let mut last = 0;
    let mut capitals = 0_usize;
    while at < bytes.len() {
        let class = CLASSES[usize::from(bytes[at])];
        if class == SPACE {
            break;
        }
        // Odd are a capital after a lower-case letter, two stops in a row, and a letter after a stop.
        odd |= (class == UPPER && last == LOWER) || (last == STOP && class == STOP);
        odd |= last == STOP && class != STOP && (bytes[at - 1] == b':' || bytes[at - 1] == b'.');
        capitals += usize::from(class == UPPER);
        seen |= class;
        last = class;
        at += 1;
    }
    let letters = seen & (LOWER | UPPER | HIGH) != 0;
    let is_odd = odd
        || seen & OTHER != 0
        || seen & LOWER != 0 && capitals > 1
        || seen & DIGIT != 0 && (letters || seen & DASH != 0)
        || seen & DASH != 0
            && (bytes[start] == b'-' || last == DASH || line[start..at].contains("--"))
        || seen == STOP
        || bytes[start] == b'.'
        || seen & HIGH != 0 && !is_foreign_word(&line[start..at]);
    (at, !is_odd)
}

/// Returns the end of a token that consists of lower-case letters, possibly with an initial capital and a final
/// stop: most tokens do, and all of these can be spoken unchanged.
fn end_of_usual(bytes: &[u8], start: usize) -> Option<usize> {
    let class = |at: usize| bytes.get(at).map(|b| CLASSES[usize::from(*b)]);
    if class(start)? & (LOWER | UPPER) == 0 {
        return None;
    }
    let mut at = start + 1;
    while class(at) == Some(LOWER) {
        at += 1;
    }
    if class(at) == Some(STOP) {
        at += 1;
    }
    matches!(class(at), None | Some(SPACE)).then_some(at)
}

/// Returns the end of a number that consists of digits, possibly with a final stop, and has no unit.
fn end_of_bare_number(line: &str, start: usize, words: &Words) -> Option<usize> {
    let class = |at: usize| line.as_bytes().get(at).map(|b| CLASSES[usize::from(*b)]);
    let mut at = start;
    while class(at) == Some(DIGIT) {
        at += 1;
    }
    if at == start || words.units_by_sign().may_follow(&line[at..]) {
        return None;
    }
    if class(at) == Some(STOP) {
        at += 1;
    }
    matches!(class(at), None | Some(SPACE)).then_some(at)
}

/// Returns the length of the usual words and bare numbers at the start of a line, with single spaces between them.
fn length_of_usual(line: &str, words: &Words) -> usize {
    let mut length = 0;
    let mut start = 0;
    while let Some(end) =
        end_of_usual(line.as_bytes(), start).or_else(|| end_of_bare_number(line, start, words))
    {
        length = end;
        start = end + 1;
    }
    length
}

/// Returns whether a token contains only letters of any script and ordinary punctuation.
fn is_foreign_word(token: &str) -> bool {
    let bytes = token.as_bytes();
    let mut at = 0;
    while let Some(&first) = bytes.get(at) {
        at += match first {
            0..0x80 => 1,
            // U+0100 to U+0FFF, U+4000 to U+D7FF, recognised by their first bytes: almost everything that
            // occurs.
            0xc4..=0xdf => 2,
            0xe0 | 0xe4..=0xed => 3,
            _ => match token[at..].chars().next().filter(|c| is_ordinary(*c)) {
                Some(c) => c.len_utf8(),
                None => return false,
            },
        };
    }
    true
}

/// Returns whether a character beyond ASCII is a letter of any script, or ordinary punctuation.
fn is_ordinary(c: char) -> bool {
    match c {
        '×' | '÷' | '\u{a0}' | '¬' | '°' => false,
        '\u{a1}'..='\u{1fff}' => !c.is_whitespace(),
        '‘' | '’' | '“' | '”' | '…' | '—' => true,
        '\u{2c00}'..='\u{2dff}' | '\u{3001}'..='\u{302f}' | '\u{3031}'..='\u{303c}' => true,
        '\u{ff01}'..='\u{ff60}' => true,
        '\u{3040}'..='\u{3295}' | '\u{3400}'..='\u{d7ff}' | '\u{f900}'..='\u{fb4f}' => true,
        c => c.is_alphanumeric(),
    }
}

/// The place of the next occurrence of a sign, remembered so that looking ahead stays linear.
struct SignSearch {
    sign: u8,
    found: Option<usize>,
    searched: bool,
}

impl SignSearch {
    fn new(sign: u8) -> Self {
        Self {
            sign,
            found: None,
            searched: false,
        }
    }

    /// Returns the first occurrence at or after a place; places must not decrease.
    fn from(&mut self, line: &str, at: usize) -> Option<usize> {
        let is_stale = self.found.is_some_and(|found| found < at);
        if !self.searched || is_stale {
            self.searched = true;
            let here = line.as_bytes()[at..].iter().position(|b| *b == self.sign);
            self.found = here.map(|offset| at + offset);
        }
        self.found
    }
}

struct Inline<'a> {
    line: &'a str,
    /// The words for the marked places of the line.
    marked: Option<&'a MarkedLine>,
    words: &'a Words,
    /// Whether the last word was "link".
    linked: bool,
    /// Whether the current place is between an image's brackets.
    image: bool,
    parenthesis: SignSearch,
    space: SignSearch,
    /// The line's inline code that was not reached yet; computed at the first backtick.
    spans: Option<Peekable<IntoIter<Span>>>,
    /// Whether something is compared on the line; computed on demand.
    compares: Option<bool>,
}

impl<'a> Inline<'a> {
    /// Speaks the text between two places; returns the place to continue from, which is after a link's
    /// address if the token had one.
    fn token(&mut self, start: usize, end: usize, spoken: &mut SpokenText) -> usize {
        let mut from = start;
        let mut at = start;
        while at < end {
            // Only these signs can begin a mark; each is one byte, except those of marked places.
            let marks = |b: &u8| matches!(b, b'`' | b']' | b'!' | 0xf3);
            let Some(ahead) = self.line.as_bytes()[at..end].iter().position(marks) else {
                break;
            };
            at += ahead;
            let rest = &self.line[at..end];
            if rest.starts_with('`') {
                self.part(from, at, spoken);
                at = match self.span(at) {
                    Some(span) => {
                        self.code(&self.line[span.inner], spoken);
                        self.linked = false;
                        span.end
                    }
                    None => self.line.len() - self.line[at..].trim_start_matches('`').len(),
                };
                from = at;
            } else if rest.starts_with("](") {
                if let Some(close) = self.destination(at + 2) {
                    self.part(from, at, spoken);
                    if !self.image && !self.linked {
                        spoken.word(&self.words.link);
                        self.linked = true;
                    }
                    self.image = false;
                    // Stops are handled here; other text that follows without a space is left to the next
                    // round.
                    return self.stops(close + 1, spoken);
                }
                at += 2;
            } else if rest.starts_with("![") {
                self.part(from, at, spoken);
                spoken.word(&self.words.image);
                self.image = true;
                at += 2;
                from = at;
            } else if let Some((said, length)) = self.said(rest) {
                self.part(from, at, spoken);
                match said {
                    SpokenMark::Words(words) => {
                        spoken.word(words);
                        self.linked = false;
                    }
                    SpokenMark::Pause => spoken.pause(','),
                    SpokenMark::Link => {
                        spoken.word(&self.words.link);
                        self.linked = true;
                    }
                }
                at += length;
                from = at;
            } else if !rest.is_char_boundary(1) {
                at += rest.chars().next().map_or(1, char::len_utf8);
            } else {
                at += 1;
            }
        }
        // Code may extend beyond the token; what follows it is left to the next round.
        if from < end {
            self.part(from, end, spoken);
        }
        end.max(from)
    }

    /// Returns what is spoken at a marked place at the start of a text, and the length of the mark.
    fn said(&self, rest: &str) -> Option<(&'a SpokenMark, usize)> {
        let c = rest.chars().next()?;
        Some((self.marked?.at(c)?, c.len_utf8()))
    }

    /// Returns the inline code that begins with the backticks at a place; places must not decrease.
    fn span(&mut self, at: usize) -> Option<Span> {
        let line = self.line;
        let spans = self
            .spans
            .get_or_insert_with(|| spans(line).into_iter().peekable());
        while spans.next_if(|span| span.start < at).is_some() {}
        spans.next_if(|span| span.start == at)
    }

    /// Speaks inline code: a shell command as in a question, a name or an address as everywhere else, anything
    /// else sign by sign.
    fn code(&self, code: &str, spoken: &mut SpokenText) {
        let code = code.trim();
        let name = code.strip_suffix("()").unwrap_or(code);
        if token::is_name(name) || token::address(code) == Some(0) && !code.contains(' ') {
            token::say(name, false, self.words, spoken);
        } else if is_shell(code) {
            spoken.text(&exact(code, self.words));
        } else {
            spoken.text(&signs::code(code, self.words));
        }
    }

    /// Returns the parenthesis that closes a link's address.
    fn destination(&mut self, at: usize) -> Option<usize> {
        let mut close = self.parenthesis.from(self.line, at)?;
        let is_titled = |space: usize| self.line[space..].trim_start().starts_with(['"', '\'']);
        if self
            .space
            .from(self.line, at)
            .is_some_and(|space| space < close && !is_titled(space))
        {
            return None;
        }
        // An address may itself contain pairs of parentheses.
        let opened = self.line[at..close].bytes().filter(|b| *b == b'(').count();
        for _ in 0..opened {
            if self.line.as_bytes().get(close + 1) != Some(&b')') {
                break;
            }
            close += 1;
        }
        Some(close)
    }

    /// Appends stops directly to the last word; returns the place after them.
    fn stops(&mut self, at: usize, spoken: &mut SpokenText) -> usize {
        let rest = &self.line[at..];
        let after = rest.trim_start_matches(['*', '_', ')', '.', ',', ';', ':', '!', '?']);
        let stops = &rest[..rest.len() - after.len()];
        if let Some(stop) = stops.chars().find(|c| is_stop(*c)) {
            spoken.stop(stop);
        }
        at + stops.len()
    }

    /// Speaks a part of a token that contains no link or backtick.
    fn part(&mut self, start: usize, end: usize, spoken: &mut SpokenText) {
        let part = &self.line[start..end];
        if part.is_empty() {
            return;
        }
        let was_linked = std::mem::take(&mut self.linked);
        if self.repeated(part, spoken) {
            return;
        }
        // A pair of angle brackets encloses a type argument, a mark or an address; a single one compares or
        // redirects.
        let angled = match part.bytes().position(|b| b == b'<') {
            Some(open) => part.as_bytes()[open..].contains(&b'>'),
            None => false,
        };
        if let Some(sign) = self.sign_of_code(part, end) {
            spoken.word(&sign.one);
            return;
        }
        if self.words.prose_sign(part).is_some() {
            token::say(part, angled, self.words, spoken);
            return;
        }
        // A star before a dot means any name; it is not emphasis unless it is closed.
        let glob = part.starts_with("*.") && !part[1..].contains('*');
        let marks = move |c| c == '_' || c == '*' && !glob;
        let opens = move |c| matches!(c, '[' | '{') || c == '<' && angled || marks(c);
        let inner = part.trim_start_matches(opens);
        let opening = &inner[..inner.len()
            - inner
                .trim_start_matches(['(', '"', '“', '‘', '«', '¿', '¡'])
                .len()];
        let inner = inner[opening.len()..].trim_start_matches(opens);
        let closes = move |c| matches!(c, ']' | '}') || c == '>' && angled || marks(c);
        let is_stop_like = |c| {
            matches!(
                c,
                ')' | '"' | '\'' | '”' | '’' | '»' | '.' | ',' | ';' | ':' | '!' | '?' | '…'
            )
        };
        let mut middle = inner.trim_end_matches(|c| closes(c) || is_stop_like(c));
        if inner[middle.len()..].starts_with(')') && middle.ends_with('(') {
            middle = &middle[..middle.len() - 1];
        }
        let closing = inner[middle.len()..]
            .strip_prefix("()")
            .unwrap_or(&inner[middle.len()..]);
        spoken.open(opening);
        token::say(middle, angled, self.words, spoken);
        self.linked = was_linked && middle.is_empty() || spoken_link(middle);
        self.closing(closing, closes, spoken);
    }

    /// Returns the sign that a token consists of, if it joins amounts or conditions rather than commands.
    fn sign_of_code(&mut self, part: &str, end: usize) -> Option<&'a SignWords> {
        let joins = match part {
            "<<" | ">>" => {
                let next = self.line[end..]
                    .split_whitespace()
                    .next()
                    .unwrap_or_default();
                next.starts_with(|c: char| c.is_ascii_digit())
                    || next.trim_end_matches(['.', ',']).len() == 1
            }
            "&&" | "||" => self.compares(),
            _ => false,
        };
        self.words.code_sign_at(part).filter(|_| joins)
    }

    /// Returns whether something is compared on the line.
    fn compares(&mut self) -> bool {
        let line = self.line;
        *self.compares.get_or_insert_with(|| {
            let signs = [" < ", " > ", " <= ", " >= ", " == ", " != ", " = "];
            signs.iter().any(|sign| line.contains(sign))
        })
    }

    fn closing(&self, closing: &str, closes: impl Fn(char) -> bool, spoken: &mut SpokenText) {
        if closing.len() > 2 && closing.contains("...") {
            spoken.stop('…');
        }
        let mut last = None;
        for c in closing.chars().filter(|c| !closes(*c)) {
            if is_stop(c) {
                if last != Some(c) {
                    spoken.stop(c);
                }
            } else {
                spoken.close(c);
            }
            last = Some(c);
        }
    }

    /// Speaks a token that is a run of one sign; returns whether it was one.
    fn repeated(&self, part: &str, spoken: &mut SpokenText) -> bool {
        let Some(c) = part.chars().next().filter(|c| !c.is_alphanumeric()) else {
            return false;
        };
        if !is_run(part, c) || !part.trim_start_matches(c).is_empty() {
            return false;
        }
        match self.words.sign(c) {
            Some(sign) if !matches!(c, '!' | '?' | '.' | '…') => {
                spoken.word(&run(self.words, part.len() / c.len_utf8(), &sign.many));
                true
            }
            Some(_) | None => false,
        }
    }
}

fn spoken_link(middle: &str) -> bool {
    middle.as_bytes().contains(&b':') && middle.contains("://") || middle.starts_with("www.")
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_usual_word_is_one_by_every_rule(line in "[a-cA-C]{0,3}[-a-cA-C0-9.,:;!?'\"()_é ]{0,6}") {
            if let Some(end) = end_of_usual(line.as_bytes(), 0) {
                assert_eq!(scan_any(&line, 0), (end, true), "{line:?}");
            }
        }
    }
}
