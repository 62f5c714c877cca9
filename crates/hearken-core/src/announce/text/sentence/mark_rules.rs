//! Whether a mark ends a sentence.
//!
//! Responsibilities: full stops, question and exclamation marks, ellipses, colons, the marks of other scripts. Not
//! here: the word before a full stop (`word_ends`), lists (`lists`), line ends (`lines`), scanning the text and
//! tracking what is open (`text_scan`), reading ahead (`following_text`).
//!
//! As in `following_text`, `None` means that the text so far does not settle the answer.

use super::chars::{
    Pair, is_arabic, is_armenian, is_call, is_east_asian, is_greek, is_number, is_stop, is_strong,
    is_unseen,
};
use super::enclosure::Enclosures;
use super::end::SentenceEnd;
use super::following_text::{EndContext, NextText, TextAhead};
use super::languages::Language;
use crate::announce::text::markdown::is_bullet;

/// How many bytes before a full stop are read as its word; no abbreviation is longer.
pub(super) const TOKEN: usize = 40;

/// How many consecutive marks count as one.
const RUN: usize = 64;

/// How many spaced full stops (". . .") count as one ellipsis.
const SPACED: usize = 8;

/// The fewest bytes after which a long Arabic sentence is cut at a comma (some forty letters).
const CHAIN: usize = 72;

/// How the scanner continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanStep {
    /// No end here; continue at this place.
    On(usize),
    /// A sentence ends before this place.
    Cut(usize, SentenceEnd),
}

/// The sentence under the scanner.
pub(super) struct SentenceView<'a> {
    /// The text from the sentence's start.
    pub text: &'a str,
    /// Whether no more text will come.
    pub finished: bool,
    /// Where the text starts in the stream.
    pub base: u64,
    /// Where the sentence's first visible character is.
    pub lead: usize,
    /// Whether the text really starts a sentence, and is not the rest of a cut one.
    pub fresh: bool,
    /// The data of the language.
    pub language: &'static Language,
}

impl<'a> SentenceView<'a> {
    pub(super) fn ahead(&self) -> TextAhead<'a> {
        TextAhead::new(self.text, self.finished)
    }

    pub(super) fn place(&self, at: usize) -> u64 {
        self.base + at as u64
    }

    pub(super) fn char_before(&self, at: usize) -> Option<char> {
        self.window(at).chars().rev().find(|&c| !is_unseen(c))
    }

    /// Returns the last few bytes before a place, so that looking back costs the same everywhere.
    pub(super) fn window(&self, end: usize) -> &'a str {
        let mut floor = end.saturating_sub(TOKEN);
        while !self.text.is_char_boundary(floor) {
            floor += 1;
        }
        &self.text[floor..end]
    }

    /// Returns the word before the one that begins at a place.
    pub(super) fn word_before(&self, begins: usize) -> &'a str {
        let window = self.window(begins);
        let gap = window.len() - window.trim_end().len();
        self.token(begins - gap).0
    }

    /// Returns a cut at a place, unless it would split a grapheme cluster.
    pub(super) fn cut(&self, at: usize, end: SentenceEnd, on: usize) -> ScanStep {
        if splits_cluster(self.text, at) {
            ScanStep::On(on)
        } else {
            ScanStep::Cut(at, end)
        }
    }

    /// Returns the word that ends at a place, without opening marks, and where it begins.
    pub(super) fn token(&self, end: usize) -> (&'a str, usize) {
        let window = self.window(end);
        let start = window
            .char_indices()
            .rev()
            .find(|(_, c)| c.is_whitespace())
            .map_or(0, |(at, c)| at + c.len_utf8());
        let word = &window[start..];
        let bare = word.trim_start_matches(|c: char| {
            matches!(
                c,
                '(' | '['
                    | '{'
                    | '"'
                    | '\''
                    | '“'
                    | '‘'
                    | '„'
                    | '«'
                    | '»'
                    | '¿'
                    | '¡'
                    | '*'
                    | '_'
                    | '`'
            ) || is_unseen(c)
                || is_bullet(c)
        });
        let begins = end - bare.len();
        (bare.trim_end_matches(is_unseen), begins)
    }

    /// Returns whether a word that begins at a place is the sentence's first.
    pub(super) fn is_first(&self, begins: usize) -> bool {
        self.fresh
            && begins.saturating_sub(self.lead) <= TOKEN
            && self.text[self.lead.min(begins)..begins]
                .chars()
                .all(|c| !c.is_alphanumeric())
    }

    /// Decides at a mark that always ends a sentence.
    pub(super) fn strong(&self, at: usize, open: &Enclosures) -> Option<ScanStep> {
        let end = self.run_end(at)?;
        let after = self.ahead().after(end, open, self.place(at))?;
        let on = ScanStep::On(end);
        if after.enclosed || after.next == NextText::End || after.next == NextText::Stop {
            return Some(on);
        }
        if after.quoted && !after.spaced && self.ahead().carries_on(after.closed)? {
            return Some(on);
        }
        Some(self.cut(after.begin, end_of(&after), end))
    }

    /// Decides at an exclamation or question mark.
    pub(super) fn call(&self, at: usize, open: &Enclosures) -> Option<ScanStep> {
        let end = self.run_end(at)?;
        if self.text[at..end].chars().any(is_strong) {
            return self.strong(at, open);
        }
        let after = self.ahead().after(end, open, self.place(at))?;
        let on = ScanStep::On(end);
        let asks = self.text[at..end].contains('?') && !self.text[at..end].contains('!');
        let ends = match after.next {
            NextText::End | NextText::Stop | NextText::Dot => false,
            NextText::Lower => asks && !after.closers && !after.bracketed,
            NextText::Gap
            | NextText::Block
            | NextText::Upper
            | NextText::Digit
            | NextText::Letter
            | NextText::Code
            | NextText::Symbol => true,
        };
        // Chinese and Japanese text often has Latin marks without spaces.
        let east = !after.spaced
            && self.char_before(at).is_some_and(is_east_asian)
            && after.next == NextText::Letter;
        if !ends || after.enclosed || !(after.spaced || east) {
            return Some(on);
        }
        Some(self.cut(after.begin, end_of(&after), end))
    }

    /// Decides at one or more full stops.
    pub(super) fn stop(&self, at: usize, open: &Enclosures) -> Option<ScanStep> {
        if self.is_inside(at) {
            return Some(ScanStep::On(at + 1));
        }
        let end = self.run_end(at)?;
        let run = &self.text[at..end];
        if run.chars().any(is_strong) {
            return self.strong(at, open);
        }
        if run.chars().any(is_call) {
            return self.call(at, open);
        }
        // "[...]" stands for words that were left out.
        if matches!(open.top(), Some(Pair::Square | Pair::Round))
            && self.text[..at].ends_with(['[', '('])
            && matches!(self.ahead().peek(end)?, Some(']' | ')'))
        {
            return Some(ScanStep::On(end));
        }
        let dots: usize = run.chars().map(|c| if c == '…' { 3 } else { 1 }).sum();
        if dots == 1 {
            if let Some(step) = self.marker(at)? {
                return Some(step);
            }
            if let Some(step) = self.spaced_dots(at, open)? {
                return Some(step);
            }
        }
        let after = self.ahead().after(end, open, self.place(at))?;
        let on = ScanStep::On(end);
        let east = !after.spaced
            && after.next == NextText::Letter
            && self.char_before(at).is_some_and(is_east_asian);
        if after.enclosed || after.next == NextText::End || !(after.spaced || east) {
            return Some(on);
        }
        if matches!(after.next, NextText::Gap | NextText::Block) {
            let (word, begins) = self.token(at);
            let number = dots == 1 && is_number(word) && self.is_first(begins);
            return Some(if number && after.next == NextText::Block {
                on
            } else {
                self.cut(after.begin, end_of(&after), end)
            });
        }
        let ends = if dots >= 2 {
            self.ellipsis_ends(at, dots, &after)
        } else {
            self.stop_ends(at, &after)?
        };
        Some(if ends {
            self.cut(after.begin, end_of(&after), end)
        } else {
            on
        })
    }

    /// Returns whether a full stop is between an ASCII character and an ASCII letter or digit, as in file names.
    fn is_inside(&self, at: usize) -> bool {
        let bytes = self.text.as_bytes();
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        bytes[at] == b'.'
            && before.is_some_and(u8::is_ascii)
            && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
    }

    fn ellipsis_ends(&self, at: usize, dots: usize, after: &EndContext) -> bool {
        let attached = self
            .char_before(at)
            .is_some_and(|c| !c.is_whitespace() && !is_stop(c));
        match after.next {
            NextText::Upper | NextText::Letter | NextText::Symbol => attached || dots >= 3,
            NextText::Digit | NextText::Code => attached && dots >= 3,
            NextText::Lower
            | NextText::Stop
            | NextText::Dot
            | NextText::End
            | NextText::Gap
            | NextText::Block => false,
        }
    }

    /// Decides at ". . ."; the inner `None` means that no spaced ellipsis begins here.
    fn spaced_dots(&self, at: usize, open: &Enclosures) -> Option<Option<ScanStep>> {
        let ahead = self.ahead();
        let mut end = at + 1;
        let mut more = 0;
        while more < SPACED && matches!(ahead.peek(end)?, Some(' ' | '\u{A0}')) && {
            let space = ahead.peek(end)?.map_or(0, char::len_utf8);
            let next = ahead.peek(end + space)? == Some('.');
            if next {
                end += space + 1;
            }
            next
        } {
            more += 1;
        }
        if more == 0 {
            return Some(None);
        }
        let attached = self.text[..at]
            .chars()
            .next_back()
            .is_some_and(|c| !c.is_whitespace());
        let after = ahead.after(end, open, self.place(at))?;
        let on = Some(Some(ScanStep::On(end)));
        let starts = matches!(
            after.next,
            NextText::Upper | NextText::Letter | NextText::Gap | NextText::Block
        ) || after.closers && after.next == NextText::Digit;
        if after.enclosed || !after.spaced || !starts {
            return on;
        }
        if attached && more >= 3 && !after.closers {
            // "compounds. . . . The practice": the first stop ends the sentence, the others stand for words
            // left out of the next.
            let space = ahead.peek(at + 1)?.map_or(0, char::len_utf8);
            return Some(Some(self.cut(at + 1 + space, SentenceEnd::Sentence, end)));
        }
        if more + 1 >= 4 || attached {
            return Some(Some(self.cut(after.begin, end_of(&after), end)));
        }
        on
    }

    /// Decides at a colon or semicolon, which end sentences only in some scripts.
    pub(super) fn colon(&self, at: usize, open: &Enclosures) -> Option<ScanStep> {
        let end = at + 1;
        let on = Some(ScanStep::On(end));
        let Some(before) = self.char_before(at) else {
            return on;
        };
        let ends = match self.text.as_bytes()[at] {
            b';' => is_greek(before),
            _ => is_arabic(before) || is_armenian(before),
        };
        if !ends {
            return on;
        }
        let after = self.ahead().after(end, open, self.place(at))?;
        if after.enclosed || !after.spaced || matches!(after.next, NextText::Stop | NextText::End) {
            return on;
        }
        Some(self.cut(after.begin, end_of(&after), end))
    }

    /// Decides at a comma in a language that chains its sentences by commas.
    pub(super) fn comma(&self, at: usize, open: &Enclosures) -> Option<ScanStep> {
        let end = at + self.text[at..].chars().next().map_or(1, char::len_utf8);
        let on = Some(ScanStep::On(end));
        if !self.language.comma_chains || at - self.lead < CHAIN {
            return on;
        }
        let ahead = self.ahead();
        let after = ahead.after(end, open, self.place(at))?;
        if after.enclosed || !after.spaced || after.next != NextText::Letter {
            return on;
        }
        let word = ahead.word(after.word)?;
        if ahead.peek(after.word + word.len())? == Some('،') {
            return on;
        }
        Some(self.cut(after.begin, end_of(&after), end))
    }

    /// Returns the end of a run of sentence-ending marks, up to a bound.
    fn run_end(&self, at: usize) -> Option<usize> {
        let mut end = at;
        for c in self.text[at..].chars() {
            if !(is_stop(c) || is_call(c) || is_strong(c)) || end - at >= RUN {
                return Some(end);
            }
            end += c.len_utf8();
        }
        self.finished.then_some(end)
    }
}

fn end_of(after: &EndContext) -> SentenceEnd {
    match after.next {
        NextText::Gap => SentenceEnd::Paragraph,
        NextText::Block
        | NextText::End
        | NextText::Upper
        | NextText::Lower
        | NextText::Digit
        | NextText::Letter
        | NextText::Code
        | NextText::Symbol
        | NextText::Stop
        | NextText::Dot => SentenceEnd::Sentence,
    }
}

/// Returns whether a cut at a place would split what a reader sees as one character.
pub(super) fn splits_cluster(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    match (at.checked_sub(1).and_then(|b| bytes.get(b)), bytes.get(at)) {
        (Some(b'\r'), Some(b'\n')) => true,
        (_, Some(0..128) | None) => false,
        (Some(b'\n'), _) => false,
        // A Han character never combines with the Chinese or Japanese mark before it.
        (Some(_), Some(0xe5..=0xe9)) if ends_in_ideographic_mark(&bytes[..at]) => false,
        _ => {
            let mut cursor = unicode_segmentation::GraphemeCursor::new(at, text.len(), true);
            !cursor.is_boundary(text, 0).unwrap_or(true)
        }
    }
}

/// Returns whether a text ends with a Chinese or Japanese stop or mark (U+3001, U+3002, U+FF00 to
/// U+FF3F).
fn ends_in_ideographic_mark(bytes: &[u8]) -> bool {
    matches!(bytes, [.., 0xe3, 0x80, 0x81 | 0x82] | [.., 0xef, 0xbc, _])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_to_a_cluster_gives_what_the_tables_give() {
        for before in ["。", "、", "！", "？", "，", "ｎ"] {
            for after in [
                "个", "这", "的", "鿿", "\u{3099}", "\u{200d}", "\u{fe0f}", "a",
            ] {
                let text = format!("{before}{after}");
                let mut cursor =
                    unicode_segmentation::GraphemeCursor::new(before.len(), text.len(), true);
                let splits = !cursor.is_boundary(&text, 0).unwrap_or(true);
                assert_eq!(splits_cluster(&text, before.len()), splits, "{text:?}");
            }
        }
    }
}
