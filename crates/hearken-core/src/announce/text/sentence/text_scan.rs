//! The scan of the text.
//!
//! Responsibilities: skipping insignificant bytes, tracking lines, code and enclosures, asking the rules at
//! every mark. Not here: the rules.

use super::chars::{self, PLAIN, is_call, is_ordinary, is_stop, is_strong};
use super::end::SentenceEnd;
use super::mark_rules::{ScanStep, SentenceView};
use super::segmenter::{Segmenter, Sentence};
use crate::announce::text::markdown::is_bullet;
use crate::announce::text::markdown::{MarkdownLine, TICKS, may_open, ticks};

/// The maximum length of a code span in bytes; a longer one is a stray backtick.
const SPAN: u64 = 200;

/// How many bytes of a line are counted; beyond that, it is just long.
const WIDE: usize = 1024;

impl Segmenter {
    pub(super) fn scan(&mut self, finished: bool) -> Vec<Sentence> {
        let mut found = Vec::new();
        while let Some((length, end)) = self.next_end(finished) {
            let line_over = self.text[..self.start + length].ends_with('\n');
            let sentence = self.take(length, end);
            self.line_open = line_over;
            if found.is_empty() {
                // Usually a chunk ends one sentence.
                found.reserve_exact(1);
            }
            found.push(sentence);
        }
        found
    }

    /// Scans to the next certain end; returns its place, from the sentence's start, and its reason.
    fn next_end(&mut self, finished: bool) -> Option<(usize, SentenceEnd)> {
        loop {
            let text = &self.text[self.start..];
            let bytes = text.as_bytes();
            if self.line_open {
                if let Some(fence) = self.fence {
                    match fence.closing(&text[self.at..], finished)? {
                        Some(end) => {
                            self.fence = None;
                            self.line = MarkdownLine::Text;
                            let place = self.at + end;
                            if place == 0 {
                                continue;
                            }
                            if place == bytes.len() && !text.ends_with('\n') {
                                self.at = place;
                                self.line_open = false;
                                continue;
                            }
                            return Some((place, SentenceEnd::Block));
                        }
                        None => self.line_open = false,
                    }
                } else {
                    if self.at == bytes.len() {
                        return None;
                    }
                    self.line = MarkdownLine::at(&text[self.at..], finished)?;
                    self.line_open = false;
                    self.line_start = self.at;
                    self.line_before = 0;
                    if let MarkdownLine::Fence(fence) = self.line {
                        self.fence = Some(fence);
                    }
                }
            }
            if self.fence.is_some() {
                match bytes[self.at..].iter().position(|&b| b == b'\n') {
                    Some(length) => {
                        self.at += length + 1;
                        self.line_open = true;
                        continue;
                    }
                    None => {
                        self.at = bytes.len();
                        return None;
                    }
                }
            }
            if let Some((run, since)) = self.span {
                self.pass_span(run, since, finished)?;
                continue;
            }
            if matches!(self.line, MarkdownLine::Row | MarkdownLine::Rule) {
                match bytes[self.at..].iter().position(|&b| b == b'\n') {
                    Some(length) => self.at += length,
                    None => {
                        self.at = bytes.len();
                        return None;
                    }
                }
            } else {
                let rest = &bytes[self.at..];
                let plain = rest.iter().position(|&b| !PLAIN[usize::from(b)]);
                self.at += plain.unwrap_or(rest.len());
            }
            if self.at == bytes.len() {
                return None;
            }
            while self.lead < self.at {
                match text[self.lead..].chars().next() {
                    Some(c) if c.is_whitespace() => self.lead += c.len_utf8(),
                    Some(_) | None => break,
                }
            }
            match self.look(finished)? {
                ScanStep::On(place) => self.at = place,
                ScanStep::Cut(place, end) => return Some((place, end)),
            }
        }
    }

    /// Decides at the mark under the scanner.
    fn look(&mut self, finished: bool) -> Option<ScanStep> {
        let view = SentenceView {
            text: &self.text[self.start..],
            finished,
            base: self.base + self.start as u64,
            lead: self.lead,
            fresh: self.fresh,
            language: self.language,
        };
        let at = self.at;
        let c = view.text[at..].chars().next()?;
        let place = view.base + at as u64;
        let on = ScanStep::On(at + c.len_utf8());
        if is_ordinary(c) {
            // Skips whole words of scripts whose first bytes don't distinguish letters from marks.
            let rest = &view.text[at..];
            let length = rest.find(|c| !is_ordinary(c)).unwrap_or(rest.len());
            return Some(ScanStep::On(at + length));
        }
        match c {
            '\n' => {
                let from = self.line_start.min(at);
                let width = self.line_before
                    + if at - from > WIDE {
                        WIDE
                    } else {
                        view.text[from..at].chars().count()
                    };
                let step = view.newline(at, self.line, width, &self.open)?;
                if let ScanStep::On(_) = step {
                    self.line_open = true;
                }
                Some(step)
            }
            '.' => view.stop(at, &self.open),
            '!' | '?' => view.call(at, &self.open),
            ':' | ';' => {
                if at > 0 && view.text.as_bytes()[at - 1] >= 128 {
                    view.colon(at, &self.open)
                } else {
                    Some(on)
                }
            }
            '`' => {
                let rest = &view.text.as_bytes()[at..];
                let run = ticks(rest);
                if run == rest.len() && run < TICKS && !finished {
                    return None;
                }
                if may_open(view.text[..at].chars().next_back()) {
                    self.span = Some((run, place));
                }
                Some(ScanStep::On(at + run))
            }
            ')' => {
                self.open.holds(place);
                if !self.open.would_shut(chars::Pair::Round)
                    && let Some(step) = view.marker(at)?
                {
                    return Some(step);
                }
                self.open.mark(c, None, place);
                Some(on)
            }
            c if is_strong(c) => view.strong(at, &self.open),
            c if is_stop(c) => view.stop(at, &self.open),
            c if is_call(c) => view.call(at, &self.open),
            c if is_bullet(c) => view.bullet(at),
            '،' => view.comma(at, &self.open),
            c => {
                if is_mark(c) {
                    let before = view.text[..at].chars().next_back();
                    self.open.mark(c, before, place);
                }
                Some(on)
            }
        }
    }

    /// Skips a code span; abandons it at the end of a line or if it is too long.
    fn pass_span(&mut self, run: usize, since: u64, finished: bool) -> Option<()> {
        let bytes = &self.text.as_bytes()[self.start..];
        let here = self.base + self.start as u64;
        let limit = (since + SPAN).saturating_sub(here) as usize;
        loop {
            let upto = limit.max(self.at).min(bytes.len());
            let Some(step) = bytes[self.at..upto]
                .iter()
                .position(|&b| b == b'`' || b == b'\n')
            else {
                self.at = upto;
                if upto >= limit || finished {
                    self.span = None;
                    // The limit may be inside a character.
                    while !self.text.is_char_boundary(self.start + self.at) {
                        self.at += 1;
                    }
                    return (self.start + self.at < self.text.len() || !finished).then_some(());
                }
                return None;
            };
            self.at += step;
            if bytes[self.at] == b'\n' {
                self.span = None;
                return Some(());
            }
            let marks = ticks(&bytes[self.at..]);
            if self.at + marks == bytes.len() && marks < TICKS && !finished {
                return None;
            }
            self.at += marks;
            if marks == run {
                self.span = None;
                return Some(());
            }
        }
    }
}

/// Returns whether a character may open or close an enclosure.
fn is_mark(c: char) -> bool {
    chars::opens(c).is_some()
        || chars::closes(c).is_some()
        || matches!(c, '"' | '“' | '”' | '‘' | '’' | '«' | '»' | '‹' | '›')
}
