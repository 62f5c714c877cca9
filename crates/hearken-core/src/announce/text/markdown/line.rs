//! What kind of line begins at a place, and what a complete line contains.
//!
//! Responsibilities: headings, quotations, list items, table rows, rules and blank lines, recognised by the first
//! characters of a line; the text after their marks. Not here: what a fence is (`fence`), whether the end of a line
//! is the end of a sentence (`sentence`).

use super::fence::Fence;

/// How many bytes at the start of a line are examined before it counts as plain text; this bounds
/// the cost of each line.
pub(in crate::announce::text) use super::fence::LOOK;

/// The maximum number of digits in an item's number; more are a year or an amount.
const NUMBER: usize = 3;

/// The maximum number of hashes in a heading.
const LEVELS: usize = 6;

/// The fewest signs that form a rule or an underline.
const RULE: usize = 3;

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::announce::text) enum MarkdownLine {
    /// Nothing but spaces.
    Blank,
    /// A heading with its hashes.
    Heading,
    /// A list item with its marker.
    Item,
    /// A table row.
    Row,
    /// A line of only dashes, stars, underscores or equals signs.
    Rule,
    /// The start of a code block.
    Fence(Fence),
    /// Anything else.
    Text,
}

impl MarkdownLine {
    /// Returns what kind of line begins at the start of `rest`; `None` while too little has arrived.
    pub(in crate::announce::text) fn at(rest: &str, finished: bool) -> Option<MarkdownLine> {
        let bytes = rest.as_bytes();
        let look = bytes.len().min(LOOK);
        let whole = finished || bytes.len() > LOOK;
        let indent = bytes[..look]
            .iter()
            .take_while(|&&b| matches!(b, b' ' | b'\t' | b'\r'))
            .count();
        let Some(&first) = bytes[..look].get(indent) else {
            return whole.then_some(MarkdownLine::Blank);
        };
        let run = bytes[indent..look]
            .iter()
            .take_while(|&&b| b == first)
            .count();
        let after = bytes[..look].get(indent + run).copied();
        let unsure = after.is_none() && !whole;
        let spaced = after.is_none_or(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'));
        let line = match first {
            b'\n' => MarkdownLine::Blank,
            b'|' => MarkdownLine::Row,
            b'#' if unsure => return None,
            b'#' if run <= LEVELS && spaced => MarkdownLine::Heading,
            b'`' | b'~' | b'>' => return or_fence(MarkdownLine::Text, rest, finished),
            b'-' | b'*' | b'_' | b'=' | b'+' => {
                if unsure {
                    return None;
                }
                if run >= RULE {
                    let rest = &bytes[indent + run..look];
                    let blanks = rest
                        .iter()
                        .take_while(|&&b| matches!(b, b' ' | b'\t' | b'\r'))
                        .count();
                    match rest.get(blanks) {
                        Some(b'\n') => MarkdownLine::Rule,
                        Some(_) => MarkdownLine::Text,
                        None if whole => MarkdownLine::Rule,
                        None => return None,
                    }
                } else if run == 1 && spaced && matches!(first, b'-' | b'*' | b'+') {
                    return or_fence(MarkdownLine::Item, rest, finished);
                } else {
                    MarkdownLine::Text
                }
            }
            b'0'..=b'9' => match numbered(&bytes[indent..look], whole)? {
                MarkdownLine::Item => return or_fence(MarkdownLine::Item, rest, finished),
                line => line,
            },
            b'a'..=b'z' | b'A'..=b'Z' => return lettered(&bytes[indent..look], whole),
            128.. => match rest[indent..].chars().next() {
                Some(c) if is_bullet(c) => MarkdownLine::Item,
                Some(_) | None => MarkdownLine::Text,
            },
            _ => MarkdownLine::Text,
        };
        Some(line)
    }
}

/// Returns the fence if a line that begins with other marks opens a code block after them, or else `otherwise`.
fn or_fence(otherwise: MarkdownLine, rest: &str, finished: bool) -> Option<MarkdownLine> {
    Some(Fence::at(rest, finished)?.map_or(otherwise, MarkdownLine::Fence))
}

/// The content of a line of prose, without its marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::announce::text) enum Block<'a> {
    /// A heading.
    Heading(&'a str),
    /// A quotation.
    Quote(&'a str),
    /// A list item: its number, empty if it has a mark instead; whether its box is ticked, if it has one.
    Item {
        number: &'a str,
        done: Option<bool>,
        text: &'a str,
    },
    /// A rule across the page.
    Rule,
    /// Anything else.
    Text(&'a str),
}

/// Parses a complete line, without the blanks around it.
pub(in crate::announce::text) fn block(line: &str) -> Block<'_> {
    if let Some(behind) = line.strip_prefix('>') {
        let is_quote = behind.starts_with([' ', '>']) || behind.starts_with(char::is_alphabetic);
        return if is_quote {
            Block::Quote(line.trim_start_matches(['>', ' ']))
        } else {
            Block::Text(line)
        };
    }
    // Three signs are a rule; the signs of a longer run are counted aloud.
    if matches!(line, "---" | "***" | "___" | "- - -" | "* * *") {
        return Block::Rule;
    }
    match MarkdownLine::at(line, true) {
        Some(MarkdownLine::Heading) => {
            Block::Heading(line.trim_start_matches('#').trim_end_matches('#').trim())
        }
        Some(MarkdownLine::Item) => item(line),
        Some(
            MarkdownLine::Blank
            | MarkdownLine::Row
            | MarkdownLine::Rule
            | MarkdownLine::Fence(_)
            | MarkdownLine::Text,
        )
        | None => Block::Text(line),
    }
}

/// Parses an item; a letter, or a sign unknown to Markdown, stays in the text as its mark.
fn item(line: &str) -> Block<'_> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at(digits);
    let marks: &[&str] = if digits > 0 {
        &[". ", ") "]
    } else {
        &["- ", "* ", "+ ", "• ", "– "]
    };
    let Some(text) = marks.iter().find_map(|mark| rest.strip_prefix(mark)) else {
        return Block::Text(line);
    };
    let text = text.trim_start();
    let boxed = |mark: &str| text.strip_prefix(mark);
    let (done, text) = match (boxed("[ ] "), boxed("[x] ").or_else(|| boxed("[X] "))) {
        (Some(text), _) => (Some(false), text),
        (None, Some(text)) => (Some(true), text),
        (None, None) => (None, text),
    };
    Block::Item { number, done, text }
}

/// Returns whether digits at a line's start are an item's number.
fn numbered(bytes: &[u8], whole: bool) -> Option<MarkdownLine> {
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    marker(&bytes[digits..], digits <= NUMBER, whole)
}

/// Returns whether a single letter at a line's start is an item's letter.
fn lettered(bytes: &[u8], whole: bool) -> Option<MarkdownLine> {
    match bytes.get(1) {
        None if whole => Some(MarkdownLine::Text),
        None => None,
        Some(b')') => marker(&bytes[1..], true, whole),
        Some(b'.') if bytes[0].is_ascii_lowercase() => marker(&bytes[1..], true, whole),
        Some(_) => Some(MarkdownLine::Text),
    }
}

/// Returns whether what follows a number or a letter makes it an item's marker.
fn marker(bytes: &[u8], plausible: bool, whole: bool) -> Option<MarkdownLine> {
    let stops = bytes
        .iter()
        .take(3)
        .take_while(|b| matches!(b, b'.' | b')'))
        .count();
    match bytes.get(stops) {
        None if whole => Some(MarkdownLine::Text),
        None => None,
        Some(b' ' | b'\t') if plausible && (1..=2).contains(&stops) => Some(MarkdownLine::Item),
        Some(_) => Some(MarkdownLine::Text),
    }
}

/// Returns whether a character is a round or square glyph that begins a list item.
pub(in crate::announce::text) fn is_bullet(c: char) -> bool {
    matches!(
        c,
        '•' | '⁃'
            | '‣'
            | '◦'
            | '▪'
            | '▫'
            | '●'
            | '○'
            | '■'
            | '□'
            | '∙'
            | '⦿'
            | '⁌'
            | '⁍'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> MarkdownLine {
        MarkdownLine::at(line, true).unwrap_or(MarkdownLine::Text)
    }

    #[test]
    fn lines_are_told_by_their_beginning() {
        for (line, wanted) in [
            ("\n", MarkdownLine::Blank),
            ("   \n", MarkdownLine::Blank),
            ("# Title\n", MarkdownLine::Heading),
            ("####### no\n", MarkdownLine::Text),
            ("#tag\n", MarkdownLine::Text),
            ("- one\n", MarkdownLine::Item),
            ("  * one\n", MarkdownLine::Item),
            ("-5 degrees\n", MarkdownLine::Text),
            ("**bold** word\n", MarkdownLine::Text),
            ("---\n", MarkdownLine::Rule),
            ("=====\n", MarkdownLine::Rule),
            ("___ x\n", MarkdownLine::Text),
            ("12. twelve\n", MarkdownLine::Item),
            ("1999. Then\n", MarkdownLine::Text),
            ("> quoted\n", MarkdownLine::Text),
            ("1.) one\n", MarkdownLine::Item),
            ("1.5 metres\n", MarkdownLine::Text),
            ("a) one\n", MarkdownLine::Item),
            ("a. one\n", MarkdownLine::Item),
            ("A. Smith\n", MarkdownLine::Text),
            ("| a | b |\n", MarkdownLine::Row),
            ("• one\n", MarkdownLine::Item),
            ("`code` is\n", MarkdownLine::Text),
            ("word\n", MarkdownLine::Text),
        ] {
            assert_eq!(kind(line), wanted, "{line:?}");
        }
        assert!(matches!(kind("```rust\n"), MarkdownLine::Fence(_)));
        assert!(matches!(kind("  ~~~~\n"), MarkdownLine::Fence(_)));
        assert!(matches!(kind("- ```\n"), MarkdownLine::Fence(_)));
        assert!(matches!(kind("2. ```sh\n"), MarkdownLine::Fence(_)));
        assert!(matches!(kind("> ```\n"), MarkdownLine::Fence(_)));
        assert_eq!(kind("```x``` is inline\n"), MarkdownLine::Text);
    }

    #[test]
    fn a_kind_once_told_stays_the_same_however_the_line_goes_on() {
        for line in [
            "```rust\nx",
            "```x``` is",
            "`x` is",
            "- ```sh\nx",
            "- - 2. ```sh\nx",
            "> > y",
            "12. y",
            "--- \nz",
            "# h",
            "a) b",
            "#### x y",
            "= =",
            "**a",
        ] {
            let told: Vec<MarkdownLine> = (0..=line.len())
                .filter_map(|end| MarkdownLine::at(&line[..end], false))
                .collect();
            assert!(
                told.windows(2).all(|pair| pair[0] == pair[1]),
                "{line:?} {told:?}"
            );
        }
    }
}
