//! Outside text, made safe for a screen, a voice and a log.
//!
//! Responsibilities: decoding bytes as text; removing controls and invisible marks from the few outside words that a
//! fault or a name may carry, and shortening them. Not here: the text of frames, which is cleaned where it is displayed
//! and spoken.

use std::borrow::Cow;

/// The replacement for a character that must not reach a screen.
const REPLACEMENT: char = '\u{FFFD}';

/// Replaces controls, direction marks and other invisible characters, and keeps at most `max` characters.
pub(crate) fn clean(text: &str, max: usize) -> String {
    text.chars()
        .take(max)
        .map(|c| if is_unsafe(c) { REPLACEMENT } else { c })
        .collect()
}

/// Decodes bytes as text and replaces invalid ones. Almost all are valid, and checking that first is faster.
pub fn readable(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use super::{clean, readable};

    #[test]
    fn bytes_are_read_as_the_library_reads_them() {
        for bytes in [
            &b"plain"[..],
            "Grüße".as_bytes(),
            b"",
            b"a\xFFb",
            b"\xE6\xBC",
        ] {
            assert_eq!(readable(bytes), String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn controls_and_direction_marks_are_replaced_and_length_is_cut() {
        assert_eq!(clean("a\u{1b}[2Jb", 64), "a\u{FFFD}[2Jb");
        assert_eq!(clean("x\u{202E}y\u{E0041}", 64), "x\u{FFFD}y\u{FFFD}");
        assert_eq!(clean("äöü", 2), "äö");
    }
}
