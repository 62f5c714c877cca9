//! The line editor of the linear face on a terminal: keys in, a line and the bytes of its echo out.
//!
//! Responsibilities: what is typed, when it was begun, and how it is shown. Not here: the terminal's modes (`runtime`),
//! what a line means (`keys::line`), what waits meanwhile (`app`).
//!
//! # Mental model
//! A line is open from its first character until Enter, Escape or the loss of its last character. Meanwhile
//! nothing else is written, so that a braille display stays where the person types. Only the end of a line can
//! be changed: that needs no cursor addressing, so it works on a dumb terminal, on paper, and with every screen
//! reader.
//!
//! The bytes: the characters themselves; for a deletion, backspaces, spaces and backspaces; a line feed at the end, and
//! before a line that is rewritten because it no longer fits its row; a bell when the line is full. Never an escape
//! sequence.
//!
//! # Worked example
//! `n`, `2`, Backspace, Enter write `n`, `2`, `\b \b`, `\n` and give the line `n`, begun with its `n`.
//!
//! # Tuning by symptom
//! Lines are refused as typed too early although the person thought first: `questions.arm_ms` is too long.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The longest line, in bytes: longer than any answer that a person types by hand.
const LONGEST: usize = 8 * 1024;

/// A line that is being typed.
#[derive(Debug, Clone, Default)]
pub struct TypedLine {
    text: String,
    /// When the open line was begun.
    begun: Duration,
    /// When the last key came.
    last: Option<Duration>,
    /// When the burst of the last key began.
    burst: Duration,
    /// Keys that come closer than this belong to one burst.
    quiet: Duration,
}

/// The effect of a key on the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditEffect {
    /// Nothing that matters elsewhere.
    Same,
    /// A line was begun.
    Begun,
    /// The line was abandoned.
    Left,
    /// The line is complete.
    Done {
        /// The line.
        text: String,
        /// When the burst of its first key began, on the monotonic clock.
        begun: Duration,
    },
}

impl TypedLine {
    /// Creates an empty line; keys that come closer than `quiet` form a burst.
    pub fn new(quiet: Duration) -> Self {
        Self {
            quiet,
            ..Self::default()
        }
    }

    /// Returns whether a line is open.
    pub fn is_open(&self) -> bool {
        !self.text.is_empty()
    }

    /// Notes a key that was discarded: a key that closely follows it belongs to the same burst.
    pub fn note(&mut self, now: Duration) {
        if self.last.is_none_or(|last| now >= last + self.quiet) {
            self.burst = now;
        }
        self.last = Some(now);
    }

    /// Handles a key, and returns the bytes to write and the effect on the line. `columns` is the terminal's width, 0
    /// if unknown.
    pub fn key(&mut self, key: KeyEvent, now: Duration, columns: u16) -> (String, EditEffect) {
        if key.kind == KeyEventKind::Release {
            return (String::new(), EditEffect::Same);
        }
        self.note(now);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let word = control || key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter => self.done(),
            KeyCode::Esc => self.left(columns),
            KeyCode::Char('u') if control => self.left(columns),
            KeyCode::Char('w') if control => self.delete(DeletionUnit::Word, columns),
            KeyCode::Char('h') if control => self.delete(DeletionUnit::Character, columns),
            KeyCode::Backspace if word => self.delete(DeletionUnit::Word, columns),
            KeyCode::Backspace => self.delete(DeletionUnit::Character, columns),
            KeyCode::Char('l' | 'r') if control => (self.again(), EditEffect::Same),
            KeyCode::Char(c) if !word => self.insert(&c.to_string()),
            _ => (String::new(), EditEffect::Same),
        }
    }

    /// Adds pasted text to the line; its line breaks become spaces, so that it never answers a question.
    pub fn paste(&mut self, text: &str, now: Duration) -> (String, EditEffect) {
        self.note(now);
        let text: String = text
            .trim()
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        self.insert(&text)
    }

    /// Returns the bytes that rewrite the open line on a separate row.
    pub fn again(&self) -> String {
        if self.is_open() {
            format!("\n{}", self.text)
        } else {
            String::new()
        }
    }

    /// Abandons the line without erasing it, because something urgent must be written; returns the bytes.
    pub fn abandon(&mut self) -> (String, EditEffect) {
        if !self.is_open() {
            return (String::new(), EditEffect::Same);
        }
        self.text.clear();
        ("\n".to_owned(), EditEffect::Left)
    }

    fn insert(&mut self, text: &str) -> (String, EditEffect) {
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        if text.is_empty() {
            return (String::new(), EditEffect::Same);
        }
        if self.text.len() + text.len() > LONGEST {
            return ("\x07".to_owned(), EditEffect::Same);
        }
        let typed = if self.is_open() {
            EditEffect::Same
        } else {
            self.begun = self.burst;
            EditEffect::Begun
        };
        self.text.push_str(&text);
        (text, typed)
    }

    fn done(&mut self) -> (String, EditEffect) {
        if !self.is_open() {
            return (String::new(), EditEffect::Same);
        }
        let text = std::mem::take(&mut self.text);
        let begun = self.begun;
        ("\n".to_owned(), EditEffect::Done { text, begun })
    }

    fn left(&mut self, columns: u16) -> (String, EditEffect) {
        if !self.is_open() {
            return (String::new(), EditEffect::Same);
        }
        let bytes = self.cut(0, columns);
        (bytes, EditEffect::Left)
    }

    fn delete(&mut self, span: DeletionUnit, columns: u16) -> (String, EditEffect) {
        if !self.is_open() {
            return (String::new(), EditEffect::Same);
        }
        let keep = match span {
            DeletionUnit::Character => self
                .text
                .grapheme_indices(true)
                .next_back()
                .map_or(0, |(at, _)| at),
            DeletionUnit::Word => {
                let trimmed = self.text.trim_end();
                trimmed.rfind(char::is_whitespace).map_or(0, |at| {
                    at + trimmed[at..].chars().next().map_or(0, char::len_utf8)
                })
            }
        };
        let bytes = self.cut(keep, columns);
        let typed = if self.is_open() {
            EditEffect::Same
        } else {
            EditEffect::Left
        };
        (bytes, typed)
    }

    /// Shortens the line, and returns the bytes that show it.
    fn cut(&mut self, keep: usize, columns: u16) -> String {
        let whole = self.text.width();
        let gone = self.text.get(keep..).map_or(0, UnicodeWidthStr::width);
        self.text.truncate(keep);
        let columns = usize::from(columns);
        if columns != 0 && whole >= columns {
            // A backspace can't go back past the edge of a row.
            return format!("\n{}", self.text);
        }
        let back = "\x08".repeat(gone);
        format!("{back}{}{back}", " ".repeat(gone))
    }
}

/// How much is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeletionUnit {
    Character,
    Word,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUIET: Duration = Duration::from_millis(400);

    fn key(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    fn control(c: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)
    }

    /// Types keys a second apart, and returns all that was written and the last effect on the line.
    fn typed(keys: &[KeyEvent], columns: u16) -> (String, EditEffect) {
        let mut typing = TypedLine::new(QUIET);
        let mut out = String::new();
        let mut last = EditEffect::Same;
        for (at, key) in keys.iter().enumerate() {
            let (bytes, became) = typing.key(*key, Duration::from_secs(at as u64), columns);
            out.push_str(&bytes);
            last = became;
        }
        (out, last)
    }

    fn letters(text: &str) -> Vec<KeyEvent> {
        text.chars().map(|c| key(KeyCode::Char(c))).collect()
    }

    #[test]
    fn a_line_is_echoed_mended_and_done() {
        let mut keys = letters("n2");
        keys.extend([key(KeyCode::Backspace), key(KeyCode::Enter)]);
        let done = EditEffect::Done {
            text: "n".into(),
            begun: Duration::ZERO,
        };
        assert_eq!(typed(&keys, 80), ("n2\x08 \x08\n".into(), done));
    }

    #[test]
    fn escape_and_emptying_let_the_line_go() {
        for last in [key(KeyCode::Esc), control('u'), control('w')] {
            let mut keys = letters("ab");
            keys.push(last);
            let (bytes, became) = typed(&keys, 80);
            assert_eq!(bytes, "ab\x08\x08  \x08\x08");
            assert_eq!(became, EditEffect::Left);
        }
        let keys = [key(KeyCode::Char('x')), key(KeyCode::Backspace)];
        assert_eq!(typed(&keys, 80).1, EditEffect::Left);
    }

    #[test]
    fn enter_and_escape_without_a_line_do_nothing() {
        for code in [
            KeyCode::Enter,
            KeyCode::Esc,
            KeyCode::Backspace,
            KeyCode::Up,
        ] {
            assert_eq!(typed(&[key(code)], 80), (String::new(), EditEffect::Same));
        }
    }

    #[test]
    fn wide_and_combined_characters_are_erased_whole() {
        let mut keys = letters("語");
        keys.push(key(KeyCode::Backspace));
        assert_eq!(typed(&keys, 80).0, "語\x08\x08  \x08\x08");
        let mut keys = letters("ae\u{301}");
        keys.push(key(KeyCode::Backspace));
        assert_eq!(typed(&keys, 80).0, "ae\u{301}\x08 \x08");
    }

    #[test]
    fn a_line_longer_than_its_row_is_written_anew() {
        let mut keys = letters("abcdefghijkl");
        keys.push(key(KeyCode::Backspace));
        assert_eq!(typed(&keys, 10).0, "abcdefghijkl\nabcdefghijk");
    }

    #[test]
    fn a_line_is_as_old_as_the_burst_that_it_is_part_of() {
        let mut typing = TypedLine::new(QUIET);
        let ms = Duration::from_millis;
        typing.key(key(KeyCode::Char('n')), ms(1000), 80);
        typing.key(key(KeyCode::Enter), ms(1100), 80);
        typing.key(key(KeyCode::Char('y')), ms(1300), 80);
        let (_, done) = typing.key(key(KeyCode::Enter), ms(1400), 80);
        assert_eq!(
            done,
            EditEffect::Done {
                text: "y".into(),
                begun: ms(1000)
            }
        );
        typing.key(key(KeyCode::Char('y')), ms(1800), 80);
        let (_, done) = typing.key(key(KeyCode::Enter), ms(1900), 80);
        assert_eq!(
            done,
            EditEffect::Done {
                text: "y".into(),
                begun: ms(1800)
            }
        );
    }

    #[test]
    fn pasted_lines_are_one_line_that_waits_for_enter() {
        let mut typing = TypedLine::new(QUIET);
        let (bytes, became) = typing.paste("y\nc\r\n", Duration::ZERO);
        assert_eq!((bytes.as_str(), became), ("y c", EditEffect::Begun));
    }

    #[test]
    fn what_is_too_long_rings() {
        let mut typing = TypedLine::new(QUIET);
        typing.paste(&"x".repeat(LONGEST), Duration::ZERO);
        let (bytes, became) = typing.key(key(KeyCode::Char('x')), Duration::ZERO, 80);
        assert_eq!((bytes.as_str(), became), ("\x07", EditEffect::Same));
    }

    proptest! {
        #[test]
        fn no_escape_is_ever_written(codes in proptest::collection::vec(any::<char>(), 0..40), columns in 0u16..12) {
            let mut typing = TypedLine::new(QUIET);
            for (at, c) in codes.into_iter().enumerate() {
                let event = match at % 5 {
                    3 => key(KeyCode::Backspace),
                    4 => KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL),
                    _ => key(KeyCode::Char(c)),
                };
                let (bytes, _) = typing.key(event, Duration::from_millis(at as u64), columns);
                prop_assert!(bytes.chars().all(|c| !c.is_control() || "\x08\n\x07".contains(c)), "{bytes:?}");
            }
        }
    }
}
