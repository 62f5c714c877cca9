//! Removes what no person can see or hear.
//!
//! Responsibilities: control characters, whole terminal sequences, hidden characters. Not here:
//! which characters are hidden (`hidden`), words.
//!
//! Mental model: `walk` passes the text on as runs of ordinary characters and the breaks between them, and
//! returns whether it left anything out. A sequence without an end loses only its introducer: showing its
//! content is safer than letting it swallow the rest.

use std::borrow::Cow;

use crate::protocol::is_direction_sign;

use crate::announce::text::direction::POP;

use super::hidden::{is_hidden, is_selector, joins, selects};

/// A piece of the cleaned text.
enum CleanPiece<'a> {
    /// Ordinary characters.
    Run(&'a str),
    /// The end of a line.
    Line,
    /// A tab or another control that is white space.
    Space,
}

/// How deeply isolates may be nested: a name in a quotation in a sentence takes three levels.
const DEEPEST: usize = 4;

/// How far a joiner looks past selectors for what it joins to; real text has at most one.
const LOOK_AHEAD: usize = 4;

/// Returns a text made safe for a screen, a log or a notification, on one line.
///
/// A line ending or a tab becomes a space; nothing else visible changes. The text is copied only if something
/// needs to change.
pub fn clean(text: &str) -> Cow<'_, str> {
    if is_simple(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(copy(text, ' '))
}

/// Returns a text made safe as by [`clean`], except that it keeps its lines, each ended by `\n`.
pub fn clean_lines(text: &str) -> Cow<'_, str> {
    // A fold, as in `is_simple`.
    if text.bytes().fold(true, |simple, b| {
        simple & ((b' '..0x7f).contains(&b) | (b == b'\n'))
    }) || plain(text.as_bytes()) == text.len()
    {
        return Cow::Borrowed(text);
    }
    Cow::Owned(copy(text, '\n'))
}

/// Returns whether a text contains something that a person could neither see nor hear, and that is
/// therefore left out of everything shown or spoken. White space does not count.
pub fn hides(text: &str) -> bool {
    if is_simple(text) {
        return false;
    }
    walk(text, |_| ()) || (text.contains(is_isolate) && !strays(&kept(text)).is_empty())
}

/// Returns a text without unclosed isolates and unmatched ends, line by line: they would affect text beyond it.
pub fn balance(text: &str) -> Cow<'_, str> {
    let strays = strays(text);
    if strays.is_empty() {
        return Cow::Borrowed(text);
    }
    let stays = |(at, c): (usize, char)| strays.binary_search(&at).is_err().then_some(c);
    Cow::Owned(text.char_indices().filter_map(stays).collect())
}

/// Returns the places of the isolates that are not balanced within their line, in order. An isolate nested
/// deeper than [`DEEPEST`] counts as unbalanced, with its end.
fn strays(text: &str) -> Vec<usize> {
    if !text.contains(is_isolate) {
        return Vec::new();
    }
    let mut strays = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '\n' => strays.append(&mut open),
            '\u{2066}'..='\u{2068}' => open.push(at),
            POP => match open.pop() {
                Some(began) if open.len() >= DEEPEST => strays.extend([began, at]),
                Some(_) => {}
                None => strays.push(at),
            },
            _ => {}
        }
    }
    strays.append(&mut open);
    strays.sort_unstable();
    strays
}

fn is_isolate(c: char) -> bool {
    matches!(c, '\u{2066}'..=POP)
}

fn is_simple(text: &str) -> bool {
    // A fold rather than an early exit: the compiler turns it into wide instructions.
    text.bytes()
        .fold(true, |simple, b| simple & (b' '..0x7f).contains(&b))
}

fn copy(text: &str, line: char) -> String {
    let kept = kept(text);
    // Isolates end with their line, so they are balanced before the lines are joined.
    let out = match balance(&kept) {
        Cow::Borrowed(_) => kept,
        Cow::Owned(balanced) => balanced,
    };
    if line == '\n' {
        out
    } else {
        out.replace('\n', " ")
    }
}

/// Returns what remains of a text, isolates included, with its lines.
fn kept(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    walk(text, |piece| match piece {
        CleanPiece::Run(run) => out.push_str(run),
        CleanPiece::Line => out.push('\n'),
        CleanPiece::Space => out.push(' '),
    });
    out
}

/// Passes on what a person can see; returns whether anything else was removed.
fn walk<'a>(text: &'a str, mut take: impl FnMut(CleanPiece<'a>)) -> bool {
    let mut removed = false;
    // The last character of the previous run, unless white space came between.
    let mut handed = None;
    let mut start = 0;
    let mut at = 0;
    loop {
        at += plain(&text.as_bytes()[at..]);
        let Some(c) = text[at..].chars().next() else {
            break;
        };
        let next = at + c.len_utf8();
        // The last remaining character, which combining marks attach to.
        let before = || text[start..at].chars().next_back().or(handed);
        let (stays, end, piece) = match c {
            '\r' if text[next..].starts_with('\n') => (false, next + 1, Some(CleanPiece::Line)),
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                (false, next, Some(CleanPiece::Line))
            }
            '\t' | '\u{b}' | '\u{c}' => (false, next, Some(CleanPiece::Space)),
            '\u{1b}' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}' => {
                (false, sequence(text, at), None)
            }
            '\u{200c}' | '\u{200d}' => {
                // A selector in between may be removed, so the joiner is judged by the character after it.
                let after = text[next..]
                    .chars()
                    .take(LOOK_AHEAD)
                    .find(|c| !is_selector(*c));
                (joins(c, before(), after), next, None)
            }
            c if is_selector(c) => {
                let after = text[next..].chars().next();
                (selects(c, before(), after), next, None)
            }
            // Right-to-left prose needs these; whether isolates are balanced is checked at the end.
            c if is_direction_sign(c) => (true, next, None),
            c => (!is_hidden(c), next, None),
        };
        if !stays {
            handed = before();
            if start < at {
                take(CleanPiece::Run(&text[start..at]));
            }
            start = end;
            match piece {
                Some(piece) => {
                    handed = None;
                    take(piece);
                }
                None => removed = true,
            }
        }
        at = end;
    }
    if start < text.len() {
        take(CleanPiece::Run(&text[start..]));
    }
    removed
}

/// Returns the length in bytes of the beginning that consists only of characters which are visible in any
/// context: printable ASCII, and letters of the most common scripts.
fn plain(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&first) = bytes.get(at) {
        let length = match first {
            b' '..=b'~' => 1,
            0xc3..=0xdb => 2,
            0xe0..=0xef => 3,
            _ => break,
        };
        // The first byte decides for most characters; the others need the bytes after it.
        let is_visible = match first {
            // U+00C0 to U+023F; U+03C0 to U+04FF; U+0640 to U+06BF.
            b' '..=b'~' | 0xc3..=0xc8 | 0xcf..=0xd3 | 0xd9 | 0xda => true,
            // U+5000 to U+9FFF; U+B000 to U+CFFF.
            0xe5..=0xe9 | 0xeb | 0xec => true,
            _ => bytes
                .get(at + 1..at + length)
                .is_some_and(|rest| is_visible(first, rest)),
        };
        if !is_visible {
            break;
        }
        at += length;
    }
    at
}

fn is_visible(first: u8, rest: &[u8]) -> bool {
    match (first, rest) {
        // Greek from U+03A3, Hebrew letters, Arabic from U+0620.
        (0xce, [0xa3..=0xbf]) | (0xd7, [0x90..=0xaa]) | (0xd8, [0xa0..=0xbf]) => true,
        // Devanagari.
        (0xe0, [0xa4 | 0xa5, _]) => true,
        // Dashes and curved quotation marks, U+2010 to U+2027.
        (0xe2, [0x80, 0x90..=0xa7]) => true,
        // Arrows, mathematical and technical signs up to U+23FF; pictures, U+2600 to U+27BF.
        (0xe2, [0x86, 0x90..=0xbf] | [0x87..=0x8f | 0x98..=0x9e, _]) => true,
        // U+3001 and U+3002, Hiragana, Katakana.
        (0xe3, [0x80, 0x81 | 0x82] | [0x81, 0x81..=0xbf] | [0x83, 0x80..=0xbe]) => true,
        (0xe3, [0x82, 0x80..=0x96 | 0xa1..=0xbf]) => true,
        // U+4E00 to U+4FFF.
        (0xe4, [0xb8..=0xbf, _]) => true,
        // Full-width Chinese and Japanese punctuation.
        (0xef, [0xbc, 0x81..=0xbf]) => true,
        _ => false,
    }
}

/// Returns the end of the terminal sequence that begins at `at` with ESC or a C1 introducer.
///
/// Each search ends at the next control character, so a text of introducers takes linear time.
fn sequence(text: &str, at: usize) -> usize {
    let mut chars = text[at..].char_indices();
    let introducer = chars.next().map(|(_, c)| c);
    let kind = match introducer {
        Some('\u{1b}') => chars.next().map(|(_, c)| c),
        Some('\u{9b}') => Some('['),
        _ => Some(']'),
    };
    let body = at + chars.offset();
    match kind {
        Some('[') => control_sequence(&text[body..]).map_or(body, |length| body + length),
        Some(']' | 'P' | 'X' | '^' | '_' | 'k') => {
            control_string(&text[body..]).map_or(body, |length| body + length)
        }
        // A choice of character set, or another sequence with intermediate bytes.
        Some(' '..='/') => {
            let rest = text[body..].trim_start_matches(|c| matches!(c, ' '..='/'));
            match rest.chars().next() {
                Some('0'..='~') => text.len() - rest.len() + 1,
                _ => body,
            }
        }
        Some('0'..='~') => body,
        // ESC before anything else is a sequence on its own.
        _ => at + 1,
    }
}

/// Returns the length of the rest of a control sequence: parameters, intermediates, one final byte.
fn control_sequence(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let parameters = bytes
        .iter()
        .take_while(|b| (0x30..0x40).contains(*b))
        .count();
    let between = bytes[parameters..]
        .iter()
        .take_while(|b| (0x20..0x30).contains(*b))
        .count();
    let last = parameters + between;
    bytes
        .get(last)
        .filter(|b| (0x40..0x7f).contains(*b))
        .map(|_| last + 1)
}

/// Returns the length of the rest of a control string with its terminator: BEL, ESC and a backslash, or U+009C.
fn control_string(text: &str) -> Option<usize> {
    let end = text.find(|c: char| c.is_control())?;
    let rest = &text[end..];
    ["\u{7}", "\u{1b}\\", "\u{9c}"]
        .iter()
        .find(|terminator| rest.starts_with(**terminator))
        .map(|terminator| end + terminator.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_do_takes_no_copy() {
        assert!(matches!(clean("Just words."), Cow::Borrowed(_)));
        assert!(matches!(clean_lines("Two\nlines."), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_passed_over_is_visible_wherever_it_stands() {
        let mut passed = 0;
        for c in '\0'..=char::MAX {
            let mut bytes = [0; 4];
            let text = c.encode_utf8(&mut bytes);
            match plain(text.as_bytes()) {
                0 => {}
                length => {
                    assert_eq!(length, text.len(), "{c:?}");
                    assert!(!is_hidden(c) && !is_selector(c), "{c:?}");
                    assert!(!c.is_whitespace() || c == ' ', "{c:?}");
                    passed += 1;
                }
            }
        }
        assert!(passed > 29_000, "{passed}");
    }

    #[test]
    fn whole_sequences_go() {
        for (raw, shown) in [
            ("\x1b[31mred\x1b[0m", "red"),
            ("\u{9b}1;31mred\u{9b}0m", "red"),
            ("\x1b]0;title\x07text", "text"),
            (
                "\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\",
                "link",
            ),
            ("\u{9d}0;title\u{9c}text", "text"),
            ("\x1bPq#0;2\x1b\\text", "text"),
            ("\x1b(Btext", "text"),
            ("\x1bctext", "text"),
            ("\x1b[?25l\x1b[2Jtext", "text"),
            ("a\x1b", "a"),
            ("\x1bé", "é"),
            ("\x1b[31", "31"),
        ] {
            assert_eq!(clean(raw), shown, "{raw:?}");
            assert!(hides(raw), "{raw:?}");
        }
    }

    #[test]
    fn a_sequence_without_an_end_hides_no_words() {
        assert_eq!(clean("\x1b]0;rm -rf / and more"), "0;rm -rf / and more");
        assert_eq!(clean("\x1b]0;rm -rf /\nnext\x07"), "0;rm -rf / next");
    }

    #[test]
    fn white_space_becomes_a_space_and_hides_nothing() {
        assert_eq!(clean("a\tb\r\nc\nd\u{2028}e\rf"), "a b c d e f");
        assert_eq!(clean_lines("a\tb\r\nc\u{2029}d"), "a b\nc\nd");
        assert!(!hides("a\tb\r\nc\nd\u{2028}e"));
    }

    #[test]
    fn hidden_characters_go_and_are_told() {
        for raw in [
            "pay\u{202e}load",
            "pay\u{200b}load",
            "pay\u{ad}load",
            "pay\u{2060}load",
            "\u{feff}payload",
            "pay\u{e0041}\u{e0042}load",
            "pay\u{3164}load",
            "pay\u{2800}load",
            "payload\0",
            "pay\u{8}load",
            "pay\u{200d}load",
            "pay\u{200c}load",
            "pay\u{fe0f}load",
            "pay\u{e000}load",
            "pay\u{378}load",
            "pay\u{2066}load",
            "payload\u{2069}",
            "\u{2069}pay\u{2066}load",
            "pay\u{202b}load\u{202c}",
            "\u{2067}payload\x1b]0;\u{2069}\x07",
            "payload\u{fff9}",
        ] {
            assert_eq!(clean(raw), "payload", "{raw:?}");
            assert!(hides(raw), "{raw:?}");
        }
    }

    #[test]
    fn marks_and_balanced_isolates_stay_and_hide_nothing() {
        for text in [
            "\u{200f}שלום, \u{2066}README.md\u{2069}!",
            "\u{2067}א \u{2068}b\u{2069} ג\u{2069}",
            "مرحبا\u{61c} 12",
            "a\u{200e}b",
        ] {
            assert_eq!(clean(text), text);
            assert!(!hides(text), "{text:?}");
        }
        // An isolate ends with its line, and excessive nesting is removed.
        assert_eq!(clean_lines("\u{2067}a\nb\u{2069}"), "a\nb");
        assert_eq!(clean("\u{2067}a\nb\u{2069}"), "a b");
        let deep = format!("{}x{}", "\u{2067}".repeat(9), "\u{2069}".repeat(9));
        let kept = format!("{}x{}", "\u{2067}".repeat(4), "\u{2069}".repeat(4));
        assert_eq!(clean(&deep), kept);
        assert!(hides(&deep));
    }

    #[test]
    fn joiners_and_selectors_stay_where_they_work() {
        for text in [
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "👩\u{200d}💻",
            "❤\u{fe0f}\u{200d}🔥",
            "⚠\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "葛\u{e0100}",
            "🏳\u{fe0f}\u{200d}🌈",
            "👍🏽",
            "日本語",
            "ไทย",
            "é e\u{301}",
        ] {
            assert_eq!(clean(text), text);
            assert!(!hides(text), "{text:?}");
        }
        // A chain of selectors can carry bytes.
        assert_eq!(clean("😀\u{fe0f}\u{fe0f}\u{e0101}"), "😀\u{fe0f}");
        assert_eq!(clean("😀\u{e0101}\u{e0102}"), "😀");
        assert_eq!(clean("👩\u{200d}"), "👩");
    }
}
