//! In which direction words run, and keeping that to themselves.
//!
//! Responsibilities: telling a text from right to left (AAEP 11.1.1, UAX #9), the signs that isolate it.
//! Not here: where they are written (the faces), and an agent's own signs of direction, which never get
//! this far (`normalise`), but for marks and balanced isolates.

use crate::protocol::{TextDirection, is_direction_sign};

/// Begins an isolate from right to left.
pub const ISOLATE: char = '\u{2067}';
/// Begins an isolate from left to right.
pub const ISOLATE_LEFT: char = '\u{2066}';
/// Ends an isolate.
pub const POP: char = '\u{2069}';

/// Returns whether a text is written from right to left: as its agent says, else by its first letter, as
/// Unicode does where nothing else is known (UAX #9, P2).
///
/// A text without any letter of such a script is left alone whatever the agent says: its full stop would
/// jump to the front.
pub fn is_right_to_left(text: &str, direction: Option<TextDirection>) -> bool {
    let mut letters = text.chars().filter(|c| c.is_alphabetic());
    match direction {
        Some(TextDirection::Ltr) => false,
        Some(TextDirection::Rtl) => letters.any(runs_left),
        Some(TextDirection::Auto) | None => letters.next().is_some_and(runs_left),
    }
}

/// Returns whether a text has a letter of a script that is written from right to left.
pub fn has_right_to_left(text: &str) -> bool {
    text.chars().any(runs_left)
}

/// Returns whether a text holds anything that could put what stands beside it into another order.
pub fn can_reorder(text: &str) -> bool {
    text.chars().any(|c| runs_left(c) || is_direction_sign(c))
}

/// Returns what an agent's text is begun with to keep its direction to itself, ended by [`POP`]; nothing where it
/// can't reach beyond itself.
pub fn isolate(text: &str, direction: Option<TextDirection>) -> Option<char> {
    if is_right_to_left(text, direction) {
        Some(ISOLATE)
    } else {
        can_reorder(text).then_some(ISOLATE_LEFT)
    }
}

/// Ends the isolates of each row with it and begins them again on the next: a terminal orders each row by itself,
/// and what is open at a row's end would take along what stands beside it.
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

/// Returns whether a letter is of a script that is written from right to left.
fn runs_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}'
        | '\u{fb1d}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}')
}
