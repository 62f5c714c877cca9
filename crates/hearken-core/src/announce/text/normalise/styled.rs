//! A line of prose without its marks, and what the marks say about its words.
//!
//! Responsibilities: emphasis, inline code and links, for a screen that shows them and for one that only drops
//! the marks. Not here: kinds of lines (`blocks`, `readable`), HTML (`unmarked`).

use std::ops::Range;

use super::markup::formula_at;
use crate::announce::text::markdown::spans;

/// What marks say about a part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextLook {
    /// Two stars or underscores.
    Strong,
    /// One star or underscore.
    Emphasis,
    /// Two tildes.
    Struck,
    /// Backticks.
    Code,
    /// The words of a link; the address follows in parentheses.
    Link,
}

/// A text without its marks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StyledText {
    /// The words.
    pub text: String,
    /// Its marked parts, which may overlap.
    pub looks: Vec<(Range<usize>, TextLook)>,
}

impl StyledText {
    /// Adds another line of the same text.
    pub(super) fn join(&mut self, other: Self) {
        if other.text.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        let by = self.text.len();
        let moved =
            |(range, look): (Range<usize>, TextLook)| (range.start + by..range.end + by, look);
        self.text.push_str(&other.text);
        self.looks.extend(other.looks.into_iter().map(moved));
    }
}

/// Returns a line without its marks; a mark without a partner stays in place.
pub(super) fn styled(line: &str) -> StyledText {
    without_marks(line, false)
}

/// Returns a line without its marks for a face that can't show emphasis; struck-out text keeps its tildes.
pub(super) fn unstyled(line: &str) -> String {
    without_marks(line, true).text
}

/// Removes the marks in one pass over the line; `keeps_struck` leaves the tildes around struck-out text.
fn without_marks(line: &str, keeps_struck: bool) -> StyledText {
    let is_mark = |b: u8| matches!(b, b'*' | b'_' | b'`' | b'[' | b'~');
    // A fold rather than a search: most lines have none, and are scanned to the end anyway.
    if !line.bytes().fold(false, |marked, b| marked | is_mark(b)) {
        return StyledText {
            text: line.to_owned(),
            looks: Vec::new(),
        };
    }
    let StyleMarks { mut dropped, looks } = marks(line);
    if keeps_struck {
        dropped.retain(|drop| !line[drop.clone()].starts_with('~'));
    }
    let mut out = String::with_capacity(line.len());
    let mut at = 0;
    let mut drops = dropped.iter().peekable();
    let mut opening = looks.into_iter().peekable();
    // The open parts, with their beginning in the shown text and their end in the line; and the parts that
    // ended.
    let mut open: Vec<(usize, usize, TextLook)> = Vec::new();
    let mut found: Vec<(Range<usize>, TextLook)> = Vec::new();
    // The next closing parenthesis, once searched for: repeated searches would take quadratic time in a flood of links.
    let mut parenthesis: Option<Option<usize>> = None;
    while let Some(c) = line[at..].chars().next() {
        close(&mut open, &mut found, at, out.len());
        while let Some((range, look)) = opening.next_if(|(range, _)| range.start <= at) {
            if range.start == at {
                open.push((out.len(), range.end, look));
            }
        }
        if let Some(drop) = drops.peek()
            && drop.start == at
        {
            at = drop.end;
            drops.next();
            continue;
        }
        if line[at..].starts_with("](")
            && let Some(begin) = bracket(&out)
        {
            let from = at + 2;
            let end = match parenthesis {
                Some(None) => None,
                Some(Some(end)) if end >= from => Some(end),
                Some(Some(_)) | None => line[from..].find(')').map(|end| from + end),
            };
            parenthesis = Some(end);
            if let Some(end) = end {
                let address = line[from..end].split(' ').next().unwrap_or_default();
                let words = out[begin..].trim_start_matches(['!', '[']).to_owned();
                let removed = out.len() - begin - words.len();
                out.truncate(begin);
                if words == address || words.is_empty() {
                    out.push_str(address);
                    found.retain(|(range, _)| range.end <= begin);
                } else {
                    out.push_str(&words);
                    // A part that begins or ends inside the dropped brackets moves to where the words of the
                    // link begin.
                    let moved = |at: usize| match at > begin {
                        true => at.saturating_sub(removed).max(begin),
                        false => at,
                    };
                    for (range, _) in &mut found {
                        *range = moved(range.start)..moved(range.end);
                    }
                    found.push((begin..begin + words.len(), TextLook::Link));
                    out.push_str(" (");
                    out.push_str(address);
                    out.push(')');
                }
                for (start, ..) in &mut open {
                    *start = (*start).min(begin);
                }
                at = end + 1;
                while drops.peek().is_some_and(|drop| drop.start < at) {
                    drops.next();
                }
                continue;
            }
        }
        out.push(c);
        at += c.len_utf8();
    }
    close(&mut open, &mut found, usize::MAX, out.len());
    found.retain(|(range, _)| range.start < range.end);
    StyledText {
        text: out,
        looks: found,
    }
}

/// Ends the parts that end at a place of the line.
fn close(
    open: &mut Vec<(usize, usize, TextLook)>,
    found: &mut Vec<(Range<usize>, TextLook)>,
    at: usize,
    shown: usize,
) {
    if open.is_empty() {
        return;
    }
    open.retain(|(start, end, look)| {
        let ends = *end <= at;
        if ends {
            found.push((*start..shown, *look));
        }
        !ends
    });
}

/// Returns the bracket at which the words of a link begin, in the text shown so far.
fn bracket(out: &str) -> Option<usize> {
    let open = out.rfind('[')?;
    Some(match out[..open].strip_suffix('!') {
        Some(before) => before.len(),
        None => open,
    })
}

/// The marks of a line that have a partner.
struct StyleMarks {
    /// The places of the marks.
    dropped: Vec<Range<usize>>,
    /// The text between two marks, by its beginning.
    looks: Vec<(Range<usize>, TextLook)>,
}

/// Returns the marks of emphasis and inline code that have a partner on the line.
fn marks(line: &str) -> StyleMarks {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut looks = Vec::new();
    // Marks that await their partner: the sign, how many, where.
    let mut open: Vec<(char, usize, usize)> = Vec::new();
    let mut spans = spans(line).into_iter().peekable();
    let mut before = None;
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        if let Some(code) = spans.next_if(|code| code.start == at) {
            // Nothing inside code is a mark.
            found.push(code.start..code.inner.start);
            found.push(code.inner.end..code.end);
            looks.push((code.inner.clone(), TextLook::Code));
            before = line[..code.end].chars().next_back();
            at = code.end;
            continue;
        }
        if matches!(c, '$' | '\\')
            && let Some((_, length)) = formula_at(&line[at..])
        {
            // Nothing inside a formula is a mark either.
            before = line[..at + length].chars().next_back();
            at += length;
            continue;
        }
        if !matches!(c, '*' | '_' | '~') {
            before = Some(c);
            at += c.len_utf8();
            continue;
        }
        let run = line[at..].len() - line[at..].trim_start_matches(c).len();
        let end = at + run;
        let after = line[end..].chars().next();
        if c != '~' || run == 2 {
            let opens = after.is_some_and(|c| !c.is_whitespace());
            let closes = before.is_some_and(|c: char| !c.is_whitespace());
            // An underscore after a word opens nothing, and one before a word closes nothing: it is part of a
            // name.
            let (opens, closes) = match c {
                '_' => (
                    opens && !before.is_some_and(char::is_alphanumeric),
                    closes && !after.is_some_and(char::is_alphanumeric),
                ),
                _ => (opens, closes),
            };
            if run <= 3 {
                let partner = open
                    .iter()
                    .rposition(|(sign, length, _)| *sign == c && *length == run);
                match partner {
                    Some(place) if closes => {
                        let (_, length, start) = open[place];
                        open.truncate(place);
                        found.push(start..start + length);
                        found.push(at..end);
                        let look = match (c, run) {
                            ('~', _) => TextLook::Struck,
                            (_, 1) => TextLook::Emphasis,
                            (_, _) => TextLook::Strong,
                        };
                        looks.push((start + length..at, look));
                    }
                    Some(_) | None if opens && open.len() < MOST_OPEN => open.push((c, run, at)),
                    Some(_) | None => {}
                }
            }
        }
        before = Some(c);
        at = end;
    }
    found.sort_by_key(|drop| drop.start);
    looks.sort_by_key(|(range, _)| range.start);
    StyleMarks {
        dropped: found,
        looks,
    }
}

/// How many marks may await their partner: more are not real writing, and searching all of them would
/// take quadratic time in a flood of marks.
const MOST_OPEN: usize = 16;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_marks_say_belongs_to_the_words_between_them() {
        for (line, wanted) in [
            ("a **b c** d", "b c=Strong"),
            ("*a* `b*c` ~~d~~", "a=Emphasis, b*c=Code, d=Struck"),
            ("see [the guide](https://a.example/x) now", "the guide=Link"),
            (
                "[**bold** words](u) *x*",
                "bold=Strong, bold words=Link, x=Emphasis",
            ),
            ("**see [it](u)!**", "it=Link, see it (u)!=Strong"),
            ("[u](u) `c`", "c=Code"),
            ("2 * 3 and snake_case", ""),
            ("*([*é](u)", "(=Emphasis, é=Link"),
            ("*a [b*é](u)", "a b=Emphasis, bé=Link"),
            ("**a *b* c**", "b=Emphasis, a b c=Strong"),
        ] {
            let styled = styled(line);
            let looks = styled.looks.iter();
            let looks =
                looks.map(|(range, look)| format!("{}={look:?}", &styled.text[range.clone()]));
            assert_eq!(looks.collect::<Vec<_>>().join(", "), wanted, "{line}");
        }
    }

    proptest! {
        #[test]
        fn every_look_lies_within_its_text(line in "[a-zé*_`~\\[\\]()! ]{0,60}") {
            let styled = styled(&line);
            for (range, _) in &styled.looks {
                prop_assert!(styled.text.get(range.clone()).is_some(), "{:?}", styled);
            }
        }
    }
}
