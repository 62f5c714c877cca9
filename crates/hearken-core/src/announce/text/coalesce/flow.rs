//! How text moves through a coalescer.
//!
//! Responsibilities: accepting text, ending pieces, holding and releasing them. Not here: the types
//! and the entry points (`mod`), the places of cuts (`clause`).

use std::sync::Arc;

use super::{
    Belief, Boundary, CODE_FENCE, Coalescer, END_OF_CHUNK, Flush, HELD, LONGEST_CHUNK, Policy,
    PositionNote, SLIPS, SpokenPiece, UNENDED, clause,
};
use crate::announce::text::sentence::{Sentence, SentenceEnd, Tail, is_spaceless, splits_cluster};

/// How many characters at the start of a new language's text may belong to the last character of the old one.
const JOINED: usize = 16;

impl Coalescer {
    pub(super) fn note(&mut self, note: PositionNote) {
        let kind = std::mem::discriminant(&note);
        let known = |(old, _): &(PositionNote, bool)| std::mem::discriminant(old) == kind;
        if !self.notes.iter().any(known) {
            self.notes.push((note, false));
        }
    }

    /// Ends the pending text if the language changes; returns the text in the new language.
    pub(super) fn turn_language<'a>(
        &mut self,
        language: Option<&Arc<str>>,
        text: &'a str,
    ) -> &'a str {
        let Some(language) = language else {
            return text;
        };
        // It is nearly always the same shared string.
        let same = |own: &Arc<str>| Arc::ptr_eq(own, language) || own == language;
        if self.language.as_ref().is_some_and(same) || text.is_empty() {
            return text;
        }
        let joined = self.joined_to_pending(text);
        self.take_in(&text[..joined]);
        // White space between the languages goes with what follows; an open code block continues.
        self.end_here(Boundary::Language);
        self.segmenter.turn(Some(language));
        self.language = Some(Arc::clone(language));
        &text[joined..]
    }

    /// Returns how many bytes of a text belong to the last character before it.
    fn joined_to_pending(&self, text: &str) -> usize {
        let pending = self.segmenter.pending();
        if pending.is_empty() {
            return 0;
        }
        let mut both = last_chars(pending).to_owned();
        let start = both.len();
        both.extend(text.chars().take(JOINED));
        text.chars()
            .take(JOINED)
            .scan(0, |length, c| {
                let here = *length;
                *length += c.len_utf8();
                Some((here, *length))
            })
            .take_while(|&(here, _)| splits_cluster(&both, start + here))
            .last()
            .map_or(0, |(_, beyond)| beyond)
    }

    /// Judges the last hint that a sentence ended by what came after it: a lower-case letter, a comma or the
    /// rest of a word continues the sentence.
    pub(super) fn weigh(&mut self, text: &str) {
        let Belief::Given {
            slips,
            last: Some(tail),
        } = self.belief
        else {
            return;
        };
        let bare = text.trim_start();
        let Some(c) = bare.chars().next() else { return };
        let spaced = bare.len() < text.len() || tail == Tail::Gap;
        let goes_on = c.is_lowercase()
            || matches!(c, ',' | ';' | ')')
            || !spaced && c.is_alphanumeric() && !is_spaceless(c);
        let slips = slips + u32::from(goes_on);
        self.belief = if slips < SLIPS {
            Belief::Given { slips, last: None }
        } else {
            self.note(PositionNote::Unbelieved);
            Belief::Lost
        };
    }

    /// Remembers the end of the text at a hint that a sentence ends, unless one does end there.
    fn remember_hint(&mut self, tail: Tail) {
        if let Belief::Given { slips, .. } = self.belief {
            let own_line = self.segmenter.pending().ends_with('\n');
            let last = match tail {
                Tail::Gap if !own_line => Some(tail),
                Tail::Word => Some(tail),
                Tail::Gap | Tail::Nothing | Tail::Sentence | Tail::Abbreviation => None,
            };
            self.belief = Belief::Given { slips, last };
        }
    }

    /// Decides on a doubted hint by the first character that arrived after it.
    pub(super) fn settle_doubt(&mut self, text: &str) {
        let Some(c) = text.chars().next() else { return };
        let Some(boundary) = self.doubted.take() else {
            return;
        };
        let pending = self.segmenter.pending();
        let Some(last) = pending.chars().next_back() else {
            return;
        };
        if self.segmenter.tail() == Tail::Abbreviation || self.joined_to_pending(text) > 0 {
            return;
        }
        let ends = c.is_whitespace()
            || is_spaceless(last) && c.is_alphanumeric()
            || !last.is_ascii() && !is_word(last) && c.is_alphanumeric();
        if ends {
            self.end_here(boundary);
        }
    }

    /// Processes a chunk: all of it, or, if it is far longer than anyone listens to, its beginning and its end.
    pub(super) fn take_bounded(&mut self, text: &str) {
        if text.len() <= LONGEST_CHUNK {
            return self.take_in(text);
        }
        let first = clause::bound(text, LONGEST_CHUNK - END_OF_CHUNK, true);
        let last = end_from(text, END_OF_CHUNK);
        let left_out = text[first..last].chars().count();
        self.take_in(&text[..first]);
        // The part that is left out may close what is open here, such as a code block.
        let found = self.segmenter.finish();
        let boundary = Boundary::LeftOut(left_out);
        if found.is_empty()
            && let Some((_, piece)) = self.line.back_mut()
        {
            piece.ends = boundary;
        }
        self.queue_all(found, Some(boundary));
        self.take_in(&text[last..]);
        if let Some((_, to)) = &mut self.held {
            *to = self.came.min(*to);
        }
    }

    /// Processes text: queues the sentences that are certain, and cuts text without an end.
    pub(super) fn take_in(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let mut length = rest.len().min(UNENDED);
            while !rest.is_char_boundary(length) {
                length -= 1;
            }
            let (part, later) = rest.split_at(length);
            rest = later;
            self.came += part.len() as u64;
            let found = self.segmenter.push(part);
            self.queue_all(found, None);
            while self.segmenter.pending().len() > UNENDED {
                let pending = self.segmenter.pending();
                let place = clause::bound(pending, UNENDED, self.segmenter.in_block());
                self.note(PositionNote::Unended);
                self.cut(place, Boundary::Bound);
            }
        }
    }

    fn queue_all(&mut self, found: Vec<Sentence>, last: Option<Boundary>) {
        let count = found.len();
        for (index, sentence) in found.into_iter().enumerate() {
            let ends = match sentence.end {
                SentenceEnd::Sentence | SentenceEnd::Text => Boundary::Sentence,
                SentenceEnd::Line => Boundary::Line,
                SentenceEnd::Paragraph => Boundary::Paragraph,
                SentenceEnd::Block => Boundary::Block,
                SentenceEnd::Cut => Boundary::Clause,
            };
            let ends = match last {
                Some(boundary) if index + 1 == count => boundary,
                Some(_) | None => ends,
            };
            self.queue(sentence, ends);
        }
    }

    fn queue(&mut self, sentence: Sentence, ends: Boundary) {
        let end = sentence.range().end;
        self.waiting += sentence.text.len();
        let piece = SpokenPiece {
            text: sentence.text,
            language: self.language.clone(),
            ends,
            context: sentence.context,
            begins: sentence.begins,
        };
        if self.line.capacity() == 0 {
            // Usually one waits at a time, and room for four would add up across thousands of queues.
            self.line.reserve_exact(1);
        }
        self.line.push_back((end, piece));
    }

    /// Follows a hint that a sentence, a paragraph or the output ends here.
    pub(super) fn hinted(&mut self, boundary: Boundary) {
        self.held = None;
        let last = boundary == Boundary::Completion;
        if self.segmenter.in_block() && !last {
            // In code, a full stop or an empty line ends nothing.
            return;
        }
        let tail = self.segmenter.tail();
        if boundary == Boundary::Sentence {
            self.remember_hint(tail);
        }
        match tail {
            Tail::Nothing => {}
            Tail::Sentence | Tail::Gap => self.end_here(boundary),
            Tail::Abbreviation if boundary != Boundary::Sentence => self.end_here(boundary),
            Tail::Word | Tail::Abbreviation => self.doubted = Some(boundary),
        }
    }

    /// Ends the pending text here; mere white space stays with what follows.
    pub(super) fn end_here(&mut self, boundary: Boundary) {
        self.doubted = None;
        if self.segmenter.tail() == Tail::Nothing {
            return;
        }
        let found = self.segmenter.settle();
        self.queue_all(found, Some(boundary));
    }

    /// Ends the output.
    pub(super) fn close_text(&mut self) {
        self.doubted = None;
        self.held = None;
        self.complete = true;
        if std::mem::take(&mut self.is_code) {
            let ended = matches!(
                self.segmenter.pending().chars().next_back(),
                Some('\n') | None
            );
            let before = if ended { "" } else { "\n" };
            self.take_in(&format!("{before}{CODE_FENCE}\n"));
        }
        let found = self.segmenter.finish();
        if found.is_empty() {
            if let Some((_, piece)) = self.line.back_mut() {
                piece.ends = Boundary::Completion;
            }
        } else {
            self.queue_all(found, Some(Boundary::Completion));
        }
    }

    pub(super) fn cut(&mut self, place: usize, boundary: Boundary) {
        if let Some(sentence) = self.segmenter.cut(place) {
            self.queue(sentence, boundary);
        }
    }

    /// Cuts after every clause whose following character is known.
    pub(super) fn cut_clauses(&mut self) {
        let pending = self.segmenter.pending();
        let start = self.came - pending.len() as u64;
        let mut from = self.looked.saturating_sub(start).min(pending.len() as u64) as usize;
        while !pending.is_char_boundary(from) {
            from -= 1;
        }
        let from = pending[..from]
            .char_indices()
            .next_back()
            .map_or(0, |(at, _)| at);
        self.looked = self.came;
        let news = &pending[from..];
        if self.segmenter.in_block() || !news.contains(clause::is_mark) {
            return;
        }
        if let Some(place) = clause::clause(pending)
            && place < pending.len()
            && clause::is_worth(&pending[..place])
            && !splits_cluster(pending, place)
        {
            self.cut(place, Boundary::Clause);
        }
    }

    /// Returns whether a pause can release any pending text.
    pub(super) fn may_flush(&self) -> bool {
        !(self.complete
            || self.settings.policy == Policy::WholeOutput
            || !self.line.is_empty()
            || self.segmenter.in_block()
            || self.free() == 0)
    }

    /// Returns how many bytes of the pending text are not held.
    fn free(&self) -> usize {
        let pending = self.segmenter.pending().len();
        match self.held {
            Some((from, _)) => {
                let start = self.came - pending as u64;
                from.saturating_sub(start).min(pending as u64) as usize
            }
            None => pending,
        }
    }

    /// Returns how a pause would cut the pending text, if at all.
    pub(super) fn flush_place(&self) -> Option<Flush> {
        let segmenter = &self.segmenter;
        if !self.may_flush() {
            return None;
        }
        let pending = segmenter.pending();
        let free = self.free();
        let whole = free == pending.len();
        // A lone carriage return may be the first half of a line ending.
        let text = pending[..free].trim_end_matches('\r');
        if text.is_empty() {
            return None;
        }
        let clause = |text: &str| {
            clause::pause(text)
                .filter(|&place| !splits_cluster(pending, place))
                .map(Flush::Clause)
        };
        match segmenter.tail() {
            _ if !whole => clause(text),
            Tail::Nothing => None,
            Tail::Sentence => Some(Flush::Sentence),
            Tail::Gap if text.ends_with('\n') => Some(Flush::Sentence),
            Tail::Gap if !text.ends_with(char::is_whitespace) => Some(Flush::Clause(text.len())),
            Tail::Word | Tail::Abbreviation if self.doubted.is_some() => {
                let joins = |c: char| matches!(c, '\r' | '\u{200D}' | '\u{1F1E6}'..='\u{1F1FF}');
                (!pending.ends_with(joins)).then_some(Flush::Sentence)
            }
            Tail::Gap | Tail::Word | Tail::Abbreviation => clause(text),
        }
    }

    /// Removes and returns the pieces that nothing holds any more.
    pub(super) fn release(&mut self) -> Vec<SpokenPiece> {
        if self.waiting > HELD {
            self.overfull = true;
        }
        // A boundary found after the held text is what the text waits for.
        if let (Some((_, to)), Some(&(end, _))) = (self.held, self.line.back())
            && end > to
        {
            self.held = None;
        }
        let mut out = Vec::new();
        while let Some(&(end, _)) = self.line.front() {
            if !self.is_free(end) {
                break;
            }
            let Some((_, piece)) = self.line.pop_front() else {
                break;
            };
            self.waiting -= piece.text.len();
            if out.is_empty() {
                out.reserve_exact(1 + self.line.len());
            }
            out.push(piece);
        }
        self.overfull = false;
        out
    }

    fn is_free(&mut self, end: u64) -> bool {
        if self.complete {
            return true;
        }
        let free = self.settings.policy != Policy::WholeOutput
            && match self.held {
                None => true,
                Some((from, _)) => end <= from,
            };
        if !free && self.overfull {
            self.note(PositionNote::Held);
        }
        free || self.overfull
    }
}

/// Returns where the last `length` bytes of a text begin, or slightly later: never inside what a person sees as
/// one character, judging by a few characters.
fn end_from(text: &str, length: usize) -> usize {
    let mut from = text.len().saturating_sub(length + JOINED);
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let near = &text[from..];
    let far_enough = |at: usize| near.len() - at <= length;
    near.char_indices()
        .map(|(at, _)| at)
        .skip_while(|at| !far_enough(*at))
        .take(JOINED)
        .find(|at| !splits_cluster(near, *at))
        .map_or(text.len(), |at| from + at)
}

/// Returns the last few characters of a text.
fn last_chars(text: &str) -> &str {
    let start = text
        .char_indices()
        .rev()
        .take(JOINED)
        .last()
        .map_or(0, |(at, _)| at);
    &text[start..]
}

/// Returns whether a character is part of a word: a letter, a digit, or a combining mark.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || splits_cluster(&format!("a{c}"), 1)
}
