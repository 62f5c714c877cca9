//! Whether the end of a line is the end of a sentence.
//!
//! Responsibilities: headings, items, tables, empty lines; lines broken by hand in mid-sentence. Not
//! here: what kind of line begins at a place (`line`).

use super::chars::is_east_asian;
use super::enclosure::Enclosures;
use super::end::SentenceEnd;
use super::mark_rules::{ScanStep, SentenceView, TOKEN};
use crate::announce::text::markdown::{LOOK, MarkdownLine};

/// The narrowest and the widest line, in characters, that counts as broken by hand in the middle
/// of a sentence.
const WRAPPED: std::ops::RangeInclusive<usize> = 50..=200;

/// The shortest line, counted with the word after it, from which that word can have been moved for lack of
/// room: nobody breaks prose at fewer characters, and the lines of addresses and unmarked lists are shorter.
const FULL: usize = 60;

/// How many leading spaces make a line preformatted text (CommonMark 4.4).
const INDENT: usize = 4;

impl SentenceView<'_> {
    /// Decides at the end of a line; `width` is the line's length in characters.
    pub(super) fn newline(
        &self,
        at: usize,
        line: MarkdownLine,
        width: usize,
        open: &Enclosures,
    ) -> Option<ScanStep> {
        let begin = at + 1;
        if at <= self.lead {
            return Some(ScanStep::On(begin));
        }
        let rest = &self.text[begin..];
        let next = MarkdownLine::at(rest, self.finished)?;
        let step = |cut: bool, end: SentenceEnd| {
            Some(if cut {
                self.cut(begin, end, begin)
            } else {
                ScanStep::On(begin)
            })
        };
        match (line, next) {
            (_, MarkdownLine::Blank) => {
                let Some(stop) = rest.bytes().take(LOOK).position(|b| b == b'\n') else {
                    return Some(ScanStep::On(begin));
                };
                Some(ScanStep::Cut(begin + stop + 1, SentenceEnd::Paragraph))
            }
            (MarkdownLine::Row, MarkdownLine::Row) => step(false, SentenceEnd::Line),
            (MarkdownLine::Row, _) => step(true, SentenceEnd::Block),
            (MarkdownLine::Heading | MarkdownLine::Rule | MarkdownLine::Fence(_), _) => {
                step(true, SentenceEnd::Line)
            }
            (
                _,
                MarkdownLine::Heading
                | MarkdownLine::Item
                | MarkdownLine::Row
                | MarkdownLine::Rule
                | MarkdownLine::Fence(_),
            ) => step(true, SentenceEnd::Line),
            (MarkdownLine::Item | MarkdownLine::Text | MarkdownLine::Blank, MarkdownLine::Text) => {
                let indent = rest.bytes().take_while(|&b| b == b' ').count();
                let wrapped = (line == MarkdownLine::Item || indent < INDENT)
                    && self.wrapped(at, begin, width, open)?;
                step(!wrapped, SentenceEnd::Line)
            }
        }
    }

    /// Returns whether a line was broken in mid-sentence and the next one continues it.
    fn wrapped(&self, at: usize, begin: usize, width: usize, open: &Enclosures) -> Option<bool> {
        let above = self.window(at).trim_end_matches('\r');
        let trimmed = above.trim_end();
        let trailing = above.len() - trimmed.len();
        let last = trimmed.chars().next_back();
        let mut here = begin;
        let ahead = self.ahead();
        let next = loop {
            match ahead.peek(here)? {
                Some(c) if (c.is_whitespace() || c == '>') && here - begin < TOKEN => {
                    here += c.len_utf8();
                }
                Some(c) => break c,
                None => return Some(true),
            }
        };
        if last.is_some_and(is_east_asian) && is_east_asian(next) {
            // A line that ends in a particle is broken, not complete.
            return Some(last.is_some_and(|c| "のはをにでとがもへや".contains(c)));
        }
        if matches!(last, Some('、' | '，')) {
            return Some(true);
        }
        let caseless = next.is_alphabetic() && !next.is_uppercase() && !next.is_lowercase();
        if caseless {
            return Some(WRAPPED.contains(&width) && last.is_some_and(char::is_alphabetic));
        }
        let word = self.word_before(at);
        if next.is_lowercase() {
            return Some(
                trailing == 1
                    || last == Some(',')
                    || WRAPPED.contains(&width)
                    || self.language.connects(word)
                    || open.top().is_some(),
            );
        }
        // A capital may begin a sentence, a name or a German noun; only the room left on the line shows which.
        let may_go_on = next.is_ascii() || next.is_alphanumeric() || "„“”«»‚‘’".contains(next);
        if !may_go_on || last == Some(':') {
            return Some(false);
        }
        if self.language.connects(word) {
            return Some(true);
        }
        if WRAPPED.contains(&width) {
            self.is_full(here, width)
        } else {
            Some(false)
        }
    }

    /// Returns whether the word at a place would have made a line of this width too long.
    fn is_full(&self, mut here: usize, width: usize) -> Option<bool> {
        let ahead = self.ahead();
        let mut full = width + 1;
        while full <= FULL {
            match ahead.peek(here)? {
                Some(c) if !c.is_whitespace() => {
                    here += c.len_utf8();
                    full += 1;
                }
                Some(_) | None => return Some(false),
            }
        }
        Some(true)
    }
}
