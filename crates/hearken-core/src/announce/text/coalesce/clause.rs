//! Where unfinished text may be cut when something has to be spoken.
//!
//! Responsibilities: the best place to cut at a pause, at a clause or at a bound; never inside a word, a code
//! span, a link's text or a grapheme cluster. Not here: when to cut (`coalesce`).

use crate::announce::text::markdown::unclosed;
use crate::announce::text::sentence::splits_cluster;

/// How far back from the end to look for a place, in bytes.
const LOOK: usize = 2048;

/// The fewest words that are spoken on their own without the end of a clause.
const WORDS: usize = 3;

/// Returns whether a character may end a clause.
pub(super) fn is_mark(c: char) -> bool {
    matches!(
        c,
        ',' | ';'
            | ':'
            | ')'
            | ']'
            | '»'
            | '”'
            | '،'
            | '؛'
            | '·'
            | '—'
            | '–'
            | '-'
            | '\n'
            | '，'
            | '、'
            | '；'
            | '：'
    )
}

/// Returns whether a text is long enough to be spoken as a separate clause.
pub(super) fn is_worth(text: &str) -> bool {
    has_words(text, WORDS)
}

/// Returns the place after the last clause in the text, if one has ended.
pub(super) fn clause(text: &str) -> Option<usize> {
    last_clause(window(text, open_from(text)))
}

/// Returns the place at which a pause cuts: after the last clause, or else before the last word, which may be
/// unfinished, if enough words precede it.
pub(super) fn pause(text: &str) -> Option<usize> {
    let near = window(text, open_from(text));
    last_clause(near).or_else(|| last_word(near))
}

fn last_clause((start, text): (usize, &str)) -> Option<usize> {
    let mut later: Option<char> = None;
    for (at, c) in text.char_indices().rev() {
        let after = at + c.len_utf8();
        let ends = match c {
            ',' | ';' | ':' | ')' | ']' | '»' | '”' | '،' | '؛' | '·' | '—' | '–' => {
                later.is_some_and(char::is_whitespace)
            }
            '\n' => true,
            '，' | '、' | '；' | '：' => later.is_some(),
            '-' => {
                later.is_some_and(char::is_whitespace)
                    && text[..at]
                        .chars()
                        .next_back()
                        .is_some_and(char::is_whitespace)
            }
            _ => false,
        };
        if ends {
            let spaces = text[after..].len() - text[after..].trim_start().len();
            let place = start + after + spaces;
            if has_words(&text[..after], 1) {
                return Some(place);
            }
        }
        later = Some(c);
    }
    None
}

fn last_word((start, text): (usize, &str)) -> Option<usize> {
    let (at, space) = text.char_indices().rev().find(|(_, c)| c.is_whitespace())?;
    has_words(&text[..at], WORDS).then_some(start + at + space.len_utf8())
}

/// Returns the best place within the first `limit` bytes of text that has no end; never zero.
pub(super) fn bound(text: &str, limit: usize, lines: bool) -> usize {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    let least = end / 2;
    let space = || {
        head.rfind(char::is_whitespace)
            .map(|at| at + head[at..].chars().next().map_or(1, char::len_utf8))
    };
    let place = if lines {
        head.rfind('\n').map(|at| at + 1).or_else(space)
    } else {
        clause(head).filter(|&at| at > least).or_else(space)
    };
    let mut place = place.filter(|&at| at > least).unwrap_or(end);
    // A hostile producer may make a cluster arbitrarily long; such a cluster is cut after all.
    let wanted = place;
    while place > least && splits_cluster(text, place) {
        place -= 1;
        while !text.is_char_boundary(place) {
            place -= 1;
        }
    }
    if place > least { place } else { wanted.max(1) }
}

/// Returns how far cuts are harmless: up to the start of a code span or link that is still open.
fn open_from(text: &str) -> usize {
    let mut floor = text.len().saturating_sub(LOOK);
    while !text.is_char_boundary(floor) {
        floor += 1;
    }
    let recent = &text[floor..];
    let line = recent.rfind('\n').map_or(0, |at| at + 1);
    let recent = &recent[line..];
    let mut end = recent.len();
    if let Some(code) = unclosed(recent) {
        end = code;
    }
    if let Some(bracket) = recent.rfind('[')
        && !recent[bracket..].contains(']')
    {
        end = end.min(bracket);
    }
    if let Some(formula) = open_formula(recent) {
        end = end.min(formula);
    }
    floor + line + end
}

/// Returns where a formula or an HTML tag begins that has not ended yet.
fn open_formula(line: &str) -> Option<usize> {
    let open = |opens: &str, closes: &str| {
        let at = line.rfind(opens)?;
        (!line[at..].contains(closes)).then_some(at)
    };
    let tag = || {
        let at = open("<", ">")?;
        line[at + 1..]
            .starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
            .then_some(at)
    };
    let dollar = || {
        let at = line.rfind('$')?;
        let is_odd = line.bytes().filter(|b| *b == b'$').count() % 2 == 1;
        let is_price =
            line[at + 1..].starts_with(|c: char| c.is_ascii_digit() || c.is_whitespace());
        (is_odd && !is_price).then_some(at)
    };
    [open("\\(", "\\)"), open("\\[", "\\]"), tag(), dollar()]
        .into_iter()
        .flatten()
        .min()
}

/// Returns up to [`LOOK`] bytes before `end`, and where they start.
fn window(text: &str, end: usize) -> (usize, &str) {
    let mut start = end.saturating_sub(LOOK);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    (start, &text[start..end])
}

/// Returns whether a text has at least `count` words.
fn has_words(text: &str, count: usize) -> bool {
    text.split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .nth(count - 1)
        .is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_clause_is_found() {
        for (text, wanted) in [
            ("I looked, and it", Some("I looked, ")),
            ("One, two; three", Some("One, two; ")),
            ("It costs 1,000", None),
            ("At 12:30 we", None),
            ("He left (at noon) by", Some("He left (at noon) ")),
            ("It is - I think", Some("It is - ")),
            ("well-known thing", None),
            ("看看，然后", Some("看看，")),
            ("see `a, b", None),
            ("see, `a, b", Some("see, ")),
            ("so, [the docs, here", Some("so, ")),
            ("so, $x_{1, 2", Some("so, ")),
            ("so, \\(a, b", Some("so, ")),
            ("so, <a title=\"b, c", Some("so, ")),
            ("so, $x$, and", Some("so, $x$, ")),
            ("for $5, and", Some("for $5, ")),
            (", and", None),
            ("first line\nsecond", Some("first line\n")),
        ] {
            assert_eq!(clause(text).map(|at| &text[..at]), wanted, "{text:?}");
        }
    }

    #[test]
    fn words_alone_are_said_only_when_there_are_some() {
        assert_eq!(pause("let me look at th"), Some(15));
        assert_eq!(pause("let me"), None);
        assert_eq!(pause("a b c"), None);
        assert_eq!(pause("well, let me look at th"), Some(6), "a clause");
    }

    #[test]
    fn a_bound_always_gives_a_place() {
        for text in [
            "a".repeat(100),
            "é".repeat(50),
            "e\u{301}\u{301}".repeat(20),
            "x ".repeat(50),
        ] {
            for limit in [4, 5, 33, 1000] {
                let at = bound(&text, limit, false);
                assert!(at > 0 && at <= text.len() && text.is_char_boundary(at));
            }
        }
        assert_eq!(bound("one\ntwo\nthree", 10, true), 8);
    }
}
