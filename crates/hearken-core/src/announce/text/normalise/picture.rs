//! Pictures, flags and drawings inside a text.
//!
//! Responsibilities: how far such a cluster extends and what it is called. Not here: whether it is
//! spoken at all.

use super::hidden::{is_pictograph, is_selector};
use super::words::{Words, fill};

/// A character or cluster that is not a letter.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Picture {
    /// A picture with a short name.
    Named(String),
    /// A picture or symbol without a name.
    Nameless,
    /// This many lines, blocks or braille patterns.
    Drawing(usize),
    /// A mark that only changes how its neighbour looks.
    Mark,
}

/// Returns the picture at the start of a text, and its length in bytes.
pub(super) fn picture_at(text: &str, words: &Words) -> Option<(Picture, usize)> {
    let c = text.chars().next()?;
    if c < '\u{200c}' {
        return None;
    }
    if is_drawing(c) {
        let rest = text.trim_start_matches(is_drawing);
        let length = text.len() - rest.len();
        return Some((Picture::Drawing(text[..length].chars().count()), length));
    }
    // Joined pictures are handled together below; the joiner here follows a sign that is spoken separately. A
    // joiner that `clean` has left inside a word belongs to the word.
    if c == '\u{200d}' && text.chars().nth(1).is_some_and(is_pictograph) {
        return Some((Picture::Mark, c.len_utf8()));
    }
    if is_selector(c) || matches!(c, '\u{20e3}' | '\u{1f3fb}'..='\u{1f3ff}') {
        return Some((Picture::Mark, c.len_utf8()));
    }
    if is_regional(c) {
        let letters: String = text.chars().take(2).filter_map(regional).collect();
        let length = letters.len() * c.len_utf8();
        return Some((
            Picture::Named(fill(&words.flag, &[("letters", &letters)])),
            length,
        ));
    }
    if !(is_pictograph(c) && c >= '\u{2300}' || matches!(c, '\u{2190}'..='\u{2bff}')) {
        return None;
    }
    let length = cluster(text);
    // A joined picture keeps the names of its parts.
    let names: Vec<&str> = text[..length]
        .chars()
        .filter_map(|c| words.picture(c))
        .collect();
    let picture = match names.is_empty() {
        true => Picture::Nameless,
        false => Picture::Named(names.join(" ")),
    };
    Some((picture, length))
}

/// Returns the length of a picture with its marks and everything joined to it.
fn cluster(text: &str) -> usize {
    let mut joined = true;
    text.char_indices()
        .find(|&(_, c)| match c {
            '\u{200d}' => {
                joined = true;
                false
            }
            '\u{fe0e}' | '\u{fe0f}' | '\u{20e3}' | '\u{1f3fb}'..='\u{1f3ff}' => false,
            _ => !std::mem::take(&mut joined),
        })
        .map_or(text.len(), |(at, _)| at)
}

fn is_regional(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

fn regional(c: char) -> Option<char> {
    is_regional(c)
        .then(|| u32::from(c) - 0x1f1e6 + u32::from('A'))
        .and_then(char::from_u32)
}

/// Returns whether a character is a line, box, block or shade, or a braille pattern, which spinners use.
fn is_drawing(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{25a9}' | '\u{2800}'..='\u{28ff}' | '\u{1fb00}'..='\u{1fbef}' | '\u{23ba}'..='\u{23bd}')
}
