//! The person's place in material read part by part: changes, an output, a plan, an agent's whole turn.
//!
//! Responsibilities: which part is next. Not here: the parts (`announce`), opening them and reading them out
//! (`review`).

use std::sync::Arc;

use crate::announce::{
    AnnouncementId, ChangePlace, ClipboardText, Quote, QuoteKind, Segment, TurnPart, TurnText,
};
use crate::session::QuestionId;

/// What last read some of a question's changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastRead {
    announcement: AnnouncementId,
    spoken_by: AnnouncementId,
    from: ChangePlace,
}

impl LastRead {
    /// Notes that an announcement reads changes from a place, and by which one a voice says them, if by another.
    pub(super) fn new(
        announcement: AnnouncementId,
        spoken_by: Option<AnnouncementId>,
        from: ChangePlace,
    ) -> Self {
        Self {
            announcement,
            spoken_by: spoken_by.unwrap_or(announcement),
            from,
        }
    }

    /// Returns the announcement.
    pub(super) fn announcement(&self) -> AnnouncementId {
        self.announcement
    }

    /// Returns the announcement by which a voice says these words: perhaps an earlier one, of more than the screen
    /// shows.
    pub(super) fn spoken_by(&self) -> AnnouncementId {
        self.spoken_by
    }

    /// Returns where it begins.
    pub(super) fn from(&self) -> ChangePlace {
        self.from
    }
}

/// What the parts belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadingTarget {
    /// A question; reading it can't continue while another one is shown.
    Question(QuestionId),
    /// An announcement, or a plan.
    Announcement,
    /// Everything that an agent wrote in a turn.
    Turn,
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReadingStepResult {
    /// To this part.
    To(Vec<Segment>),
    /// Nowhere: the last part read was the first one.
    AtStart,
    /// Nowhere: the last part read was the last one.
    AtEnd,
}

/// The material being read, and the place in it.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    open: Option<OpenReading>,
}

#[derive(Debug, Clone)]
struct OpenReading {
    of: ReadingTarget,
    /// Whose words it contains.
    quote: Option<Quote>,
    parts: Vec<ReadingPart>,
    /// The last part read; `None` before the first step, which may go to either end.
    at: Option<usize>,
    /// The indentation of the last line of code read.
    indent: String,
    /// What is copied before the first step.
    whole: Arc<[ClipboardText]>,
    /// How many of the copies at this place were made.
    copies: usize,
}

#[derive(Debug, Clone)]
enum ReadingPart {
    Words(Vec<Segment>),
    OfTurn(TurnPart),
}

impl ReadingPart {
    fn is_landmark(&self) -> bool {
        match self {
            Self::Words(_) => false,
            Self::OfTurn(part) => part.is_landmark,
        }
    }
}

impl Reading {
    /// Opens parts for reading; without any part, opens nothing.
    pub(super) fn open(
        &mut self,
        of: ReadingTarget,
        quote: Option<Quote>,
        parts: Vec<Vec<Segment>>,
    ) {
        let parts = parts.into_iter().map(ReadingPart::Words).collect();
        self.begin(of, quote, parts, Arc::new([]));
    }

    /// Opens everything that an agent wrote in a turn.
    pub(super) fn open_turn(&mut self, turn: TurnText) {
        let parts = turn.parts.into_iter().map(ReadingPart::OfTurn).collect();
        let quote = Quote {
            agent: turn.agent,
            kind: QuoteKind::Text,
        };
        self.begin(ReadingTarget::Turn, Some(quote), parts, turn.copied);
    }

    fn begin(
        &mut self,
        of: ReadingTarget,
        quote: Option<Quote>,
        parts: Vec<ReadingPart>,
        whole: Arc<[ClipboardText]>,
    ) {
        self.open = (!parts.is_empty()).then_some(OpenReading {
            of,
            quote,
            parts,
            at: None,
            indent: String::new(),
            whole,
            copies: 0,
        });
    }

    /// Ends the reading.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// Returns what is being read.
    pub(super) fn of(&self) -> Option<ReadingTarget> {
        self.open.as_ref().map(|open| open.of)
    }

    /// Returns whose words are being read.
    pub(super) fn quote(&self) -> Option<Quote> {
        self.open.as_ref()?.quote.clone()
    }

    /// Returns the place of the last part read, and the number of parts; `None` before the first step.
    pub(super) fn place(&self) -> Option<(usize, usize)> {
        let open = self.open.as_ref()?;
        Some((open.at?, open.parts.len()))
    }

    /// Returns what to copy next from an agent's turn: the last part read, or the whole turn before the first
    /// step; then the pieces in it, one by one; then from the beginning again.
    pub(super) fn copy(&mut self) -> Option<ClipboardText> {
        let open = self.open.as_mut()?;
        let of_place = match open.at.and_then(|at| open.parts.get(at)) {
            Some(ReadingPart::OfTurn(part)) => &part.copied,
            Some(ReadingPart::Words(_)) | None => &open.whole,
        };
        let copied = of_place.get(open.copies % of_place.len().max(1)).cloned();
        open.copies += 1;
        copied
    }

    /// Moves one part forward or back; before the first step, back leads to the last part.
    pub(super) fn step(&mut self, on: bool) -> Option<ReadingStepResult> {
        let open = self.open.as_mut()?;
        let last = open.parts.len() - 1;
        let to = match (open.at, on) {
            (None, true) => 0,
            (None, false) => last,
            (Some(at), true) if at == last => return Some(ReadingStepResult::AtEnd),
            (Some(at), true) => at + 1,
            (Some(0), false) => return Some(ReadingStepResult::AtStart),
            (Some(at), false) => at - 1,
        };
        Some(open.go(to))
    }

    /// Moves to the next or the previous landmark: a heading, a block of code, or what follows one.
    pub(super) fn leap(&mut self, on: bool) -> Option<ReadingStepResult> {
        let open = self.open.as_mut()?;
        let landmark = |(_, part): &(usize, &ReadingPart)| part.is_landmark();
        let mut all = open.parts.iter().enumerate();
        let found = match (on, open.at) {
            (true, at) => all
                .filter(landmark)
                .find(|(to, _)| at.is_none_or(|at| *to > at)),
            (false, at) => all.rfind(|pair| at.is_none_or(|at| pair.0 < at) && landmark(pair)),
        };
        Some(match found.map(|(to, _)| to) {
            Some(to) => open.go(to),
            None if on => ReadingStepResult::AtEnd,
            None => ReadingStepResult::AtStart,
        })
    }
}

impl Reading {
    /// Moves past the block of code being read; returns how many of its lines were not read. `None` if no code
    /// is being read.
    pub(super) fn skip_code(&mut self) -> Option<(usize, ReadingStepResult)> {
        let open = self.open.as_mut()?;
        let at = open.at?;
        let line = |at: usize| match open.parts.get(at) {
            Some(ReadingPart::OfTurn(part)) => part.code_line,
            Some(ReadingPart::Words(_)) | None => None,
        };
        let here = line(at)?;
        let next = (at + 1..).find(|next| line(*next).is_none_or(|line| line == 0))?;
        let skipped = line(next - 1)?.saturating_sub(here);
        let stepped = match next < open.parts.len() {
            true => open.go(next),
            false => {
                open.go(next - 1);
                ReadingStepResult::AtEnd
            }
        };
        Some((skipped, stepped))
    }
}

impl OpenReading {
    fn go(&mut self, to: usize) -> ReadingStepResult {
        self.at = Some(to);
        self.copies = 0;
        let words = match self.parts.get(to) {
            Some(ReadingPart::Words(words)) => words.clone(),
            Some(ReadingPart::OfTurn(part)) => {
                let mut words = Vec::new();
                match &part.indent {
                    Some((indent, said)) if *indent != self.indent => {
                        indent.clone_into(&mut self.indent);
                        words.extend(said.iter().cloned());
                    }
                    // Another block of code begins at the left edge.
                    None if part.is_landmark => self.indent.clear(),
                    Some(_) | None => {}
                }
                words.extend(part.words.iter().cloned());
                words
            }
            None => Vec::new(),
        };
        ReadingStepResult::To(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Segment {
        Segment::own("x")
    }

    #[test]
    fn parts_are_read_from_either_end_and_stop_there() {
        let part = |n: usize| vec![own(); n];
        let mut reading = Reading::default();
        assert_eq!(reading.step(true), None);
        reading.open(ReadingTarget::Announcement, None, vec![part(1), part(2)]);
        assert_eq!(reading.step(true), Some(ReadingStepResult::To(part(1))));
        assert_eq!(reading.step(false), Some(ReadingStepResult::AtStart));
        assert_eq!(reading.step(true), Some(ReadingStepResult::To(part(2))));
        assert_eq!(reading.step(true), Some(ReadingStepResult::AtEnd));
        reading.open(
            ReadingTarget::Question(QuestionId(1)),
            None,
            vec![part(1), part(2)],
        );
        assert_eq!(reading.step(false), Some(ReadingStepResult::To(part(2))));
        reading.open(ReadingTarget::Announcement, None, Vec::new());
        assert_eq!(reading.of(), None);
    }
}
