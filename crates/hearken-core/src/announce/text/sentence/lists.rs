//! Where items end in a list that is written on one line.
//!
//! Responsibilities: "1. Open it 2. Read it", bullets in running text. Not here: items on separate lines
//! (`lines`).

use super::end::SentenceEnd;
use super::mark_rules::{ScanStep, SentenceView};
use crate::announce::text::markdown::is_bullet;

impl SentenceView<'_> {
    /// Decides whether a number or letter with a stop or bracket begins the next item of a list written on one
    /// line ("1. Open it 2. Read it"); the cut is before the marker.
    pub(super) fn marker(&self, at: usize) -> Option<Option<ScanStep>> {
        if !self.fresh {
            return Some(None);
        }
        let (word, begins) = self.token(at);
        if begins <= self.lead || word.is_empty() || word.len() > 4 {
            return Some(None);
        }
        let Some(list) = Marker::read(&self.text[self.lead..begins]) else {
            return Some(None);
        };
        let Some(label) = Label::read(word) else {
            return Some(None);
        };
        let ahead = self.ahead();
        let mut end = at + 1;
        let shape = match (self.text.as_bytes()[at], ahead.peek(end)?) {
            (b'.', Some(')')) => {
                end += 1;
                NumberShape::Both
            }
            (b'.', _) => NumberShape::Stop,
            (_, _) => NumberShape::Bracket,
        };
        if ahead.peek(end)? != Some(' ') || list.shape != shape {
            return Some(None);
        }
        let Some(next) = ahead.peek(end + 1)? else {
            return Some(None);
        };
        let follows = label.follows(list.label)
            || shape != NumberShape::Stop && label.is_like(list.label) && next.is_uppercase();
        if !follows || !next.is_alphabetic() {
            return Some(None);
        }
        if self.language.connects(self.word_before(begins)) {
            return Some(None);
        }
        Some(Some(self.cut(begins, SentenceEnd::Line, end)))
    }

    /// Decides whether to cut before a bullet in running text.
    pub(super) fn bullet(&self, at: usize) -> Option<ScanStep> {
        let c = self.text[at..].chars().next().unwrap_or('•');
        let end = at + c.len_utf8();
        let next = self.ahead().peek(end)?;
        let stands = self.text[..at]
            .chars()
            .next_back()
            .is_some_and(char::is_whitespace);
        let goes_on = next.is_some_and(|n| n.is_whitespace() || n.is_alphanumeric());
        Some(if at > self.lead && stands && goes_on {
            self.cut(at, SentenceEnd::Line, end)
        } else {
            ScanStep::On(end)
        })
    }
}

/// The punctuation of a list item's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberShape {
    Stop,
    Bracket,
    Both,
}

/// A list item's number or letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Number(u32),
    Letter(u8),
}

impl Label {
    fn read(word: &str) -> Option<Label> {
        match word.as_bytes() {
            [letter] if letter.is_ascii_alphabetic() => Some(Label::Letter(*letter)),
            digits if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                word.parse().ok().map(Label::Number)
            }
            _ => None,
        }
    }

    fn follows(self, other: Label) -> bool {
        match (self, other) {
            (Label::Number(this), Label::Number(that)) => that.checked_add(1) == Some(this),
            (Label::Letter(this), Label::Letter(that)) => that + 1 == this,
            (Label::Number(_), Label::Letter(_)) | (Label::Letter(_), Label::Number(_)) => false,
        }
    }

    fn is_like(self, other: Label) -> bool {
        matches!(
            (self, other),
            (Label::Number(_), Label::Number(_)) | (Label::Letter(_), Label::Letter(_))
        )
    }
}

/// The marker at the start of a sentence.
#[derive(Debug, Clone, Copy)]
struct Marker {
    label: Label,
    shape: NumberShape,
}

impl Marker {
    fn read(sentence: &str) -> Option<Marker> {
        let bare = sentence.trim_start_matches(|c: char| is_bullet(c) || c == ' ');
        let length = bare
            .bytes()
            .take(4)
            .take_while(u8::is_ascii_alphanumeric)
            .count();
        let label = Label::read(&bare[..length])?;
        let rest = &bare[length..];
        let (shape, rest) = if let Some(rest) = rest.strip_prefix(".)") {
            (NumberShape::Both, rest)
        } else if let Some(rest) = rest.strip_prefix('.') {
            (NumberShape::Stop, rest)
        } else {
            (NumberShape::Bracket, rest.strip_prefix(')')?)
        };
        rest.starts_with(' ').then_some(Marker { label, shape })
    }
}
