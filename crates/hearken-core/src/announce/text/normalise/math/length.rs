//! How long the next part of a formula is.
//!
//! Responsibilities: numbers, and letters with their marks. Not here: how they are spoken (`math`).

use unicode_normalization::char::is_combining_mark;

use crate::announce::text::normalise::hidden::is_selector;

/// Returns the length of a character with the marks that combine with it.
pub(super) fn cluster(text: &str, length: usize) -> usize {
    let joins =
        |c: &char| is_combining_mark(*c) || is_selector(*c) || matches!(c, '\u{200c}' | '\u{200d}');
    let marks = text[length..].chars().take_while(joins);
    length + marks.map(char::len_utf8).sum::<usize>()
}

/// Returns the length of the number at the start of a text.
pub(super) fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(b) = bytes.get(at) {
        let goes_on =
            matches!(b, b'.' | b',') && at > 0 && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        // "1,2" is a list; "1,000" is a number.
        let grouped = *b != b','
            || bytes[at + 1..]
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .count()
                == 3;
        if !(b.is_ascii_digit() || goes_on && grouped) {
            break;
        }
        at += 1;
    }
    at
}
