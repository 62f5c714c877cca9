//! The direction in which text runs, and keeping it from affecting other text.
//!
//! Responsibilities: recognising right-to-left text (AAEP 11.1.1, UAX #9), the characters that isolate it. Not
//! here: where these are written (the faces), which of an agent's own direction characters are kept
//! (`normalise`).

use crate::protocol::{TextDirection, is_direction_sign};

/// Begins a right-to-left isolate.
pub const ISOLATE: char = '\u{2067}';
/// Begins a left-to-right isolate.
pub const ISOLATE_LEFT: char = '\u{2066}';
/// Ends an isolate.
pub const POP: char = '\u{2069}';

/// Returns whether a text is written from right to left: as its agent declares, or else by its first letter,
/// Unicode's own fallback (UAX #9, P2).
///
/// A text without a letter of such a script does not count, whatever the agent declares: its full stop would
/// jump to the front.
pub fn is_right_to_left(text: &str, direction: Option<TextDirection>) -> bool {
    let mut letters = text.chars().filter(|c| c.is_alphabetic());
    match direction {
        Some(TextDirection::Ltr) => false,
        Some(TextDirection::Rtl) => letters.any(runs_left),
        Some(TextDirection::Auto) | None => letters.next().is_some_and(runs_left),
    }
}

/// Returns whether a text contains a letter of a right-to-left script.
pub fn has_right_to_left(text: &str) -> bool {
    text.chars().any(runs_left)
}

/// Returns whether a text contains anything that could change the order of the text next to it.
pub fn can_reorder(text: &str) -> bool {
    text.chars().any(|c| runs_left(c) || is_direction_sign(c))
}

/// Returns the character that isolates the direction of an agent's text, ended by [`POP`]; `None` if the text
/// can't affect anything beyond itself.
pub fn isolate(text: &str, direction: Option<TextDirection>) -> Option<char> {
    if is_right_to_left(text, direction) {
        Some(ISOLATE)
    } else {
        can_reorder(text).then_some(ISOLATE_LEFT)
    }
}

/// Closes the isolates of each row at its end and reopens them on the next: a terminal orders each row
/// separately, and an isolate left open at a row's end would affect what is next to it.
pub fn balanced(rows: Vec<String>) -> Vec<String> {
    let is_isolate = |c: char| matches!(c, ISOLATE_LEFT..=POP);
    if !rows.iter().any(|row| row.contains(is_isolate)) {
        return rows;
    }
    let mut open = Vec::new();
    rows.into_iter()
        .map(|row| {
            let mut out: String = open.iter().collect();
            for c in row.chars() {
                match c {
                    POP if open.pop().is_none() => continue,
                    POP => {}
                    ISOLATE_LEFT..=POP => open.push(c),
                    _ => {}
                }
                out.push(c);
            }
            out.extend(open.iter().map(|_| POP));
            out
        })
        .collect()
}

/// Returns whether a letter belongs to a right-to-left script.
fn runs_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}'
        | '\u{fb1d}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}')
}
