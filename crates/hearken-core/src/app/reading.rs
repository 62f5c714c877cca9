//! Where the person is in what is read part by part: changes, an output, a plan, all that an agent wrote.
//!
//! Responsibilities: which part is next. Not here: the parts (`announce`), who opens it and what is said (`review`).

use std::sync::Arc;

use crate::announce::{Copied, Segment, Turn, TurnPart};
use crate::session::PromptId;

/// What the parts belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// A question; with another one shown nobody reads on in this one.
    Question(PromptId),
    /// Something that was told, or a plan.
    Told,
    /// All that an agent wrote in a turn.
    Turn,
}

/// Where a step led.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stepped {
    /// To this part.
    To(Vec<Segment>),
    /// Nowhere: the first part is the one that was read last.
    AtStart,
    /// Nowhere: the last part is.
    AtEnd,
}

/// What is read part by part, and where.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    open: Option<Open>,
}

#[derive(Debug, Clone)]
struct Open {
    of: Of,
    parts: Vec<Part>,
    /// The part that was read last; before the first step none, and then the ends are equally near.
    at: Option<usize>,
    /// How far the line of code was moved to the right that was read last.
    indent: String,
    /// What is copied before the first step.
    whole: Arc<[Copied]>,
    /// How many of what the place has were copied.
    copies: usize,
}

#[derive(Debug, Clone)]
enum Part {
    Words(Vec<Segment>),
    OfTurn(TurnPart),
}

impl Part {
    fn is_landmark(&self) -> bool {
        match self {
            Self::Words(_) => false,
            Self::OfTurn(part) => part.is_landmark,
        }
    }
}

impl Reading {
    /// Opens something to be read; without a part there is nothing to open.
    pub(super) fn open(&mut self, of: Of, parts: Vec<Vec<Segment>>) {
        let parts = parts.into_iter().map(Part::Words).collect();
        self.begin(of, parts, Arc::new([]));
    }

    /// Opens all that an agent wrote.
    pub(super) fn open_turn(&mut self, turn: Turn) {
        let parts = turn.parts.into_iter().map(Part::OfTurn).collect();
        self.begin(Of::Turn, parts, turn.copied);
    }

    fn begin(&mut self, of: Of, parts: Vec<Part>, whole: Arc<[Copied]>) {
        self.open = (!parts.is_empty()).then_some(Open {
            of,
            parts,
            at: None,
            indent: String::new(),
            whole,
            copies: 0,
        });
    }

    /// Leaves it.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// Returns what is read.
    pub(super) fn of(&self) -> Option<Of> {
        self.open.as_ref().map(|open| open.of)
    }

    /// Returns what is copied now of all that an agent wrote: the part that was read last, before the first step all of it;
    /// then what stands in that, one by one, and from the beginning again.
    pub(super) fn copy(&mut self) -> Option<Copied> {
        let open = self.open.as_mut()?;
        let of_place = match open.at.and_then(|at| open.parts.get(at)) {
            Some(Part::OfTurn(part)) => &part.copied,
            Some(Part::Words(_)) | None => &open.whole,
        };
        let copied = of_place.get(open.copies % of_place.len().max(1)).cloned();
        open.copies += 1;
        copied
    }

    /// Goes a part on, or back: from before the first, back leads to the last.
    pub(super) fn step(&mut self, on: bool) -> Option<Stepped> {
        let open = self.open.as_mut()?;
        let last = open.parts.len() - 1;
        let to = match (open.at, on) {
            (None, true) => 0,
            (None, false) => last,
            (Some(at), true) if at == last => return Some(Stepped::AtEnd),
            (Some(at), true) => at + 1,
            (Some(0), false) => return Some(Stepped::AtStart),
            (Some(at), false) => at - 1,
        };
        Some(open.go(to))
    }

    /// Goes to the next heading or block of code or what follows one, or to the one before.
    pub(super) fn leap(&mut self, on: bool) -> Option<Stepped> {
        let open = self.open.as_mut()?;
        let landmark = |(_, part): &(usize, &Part)| part.is_landmark();
        let mut all = open.parts.iter().enumerate();
        let found = match (on, open.at) {
            (true, at) => all
                .filter(landmark)
                .find(|(to, _)| at.is_none_or(|at| *to > at)),
            (false, at) => all.rfind(|pair| at.is_none_or(|at| pair.0 < at) && landmark(pair)),
        };
        Some(match found.map(|(to, _)| to) {
            Some(to) => open.go(to),
            None if on => Stepped::AtEnd,
            None => Stepped::AtStart,
        })
    }
}

impl Open {
    fn go(&mut self, to: usize) -> Stepped {
        self.at = Some(to);
        self.copies = 0;
        let words = match self.parts.get(to) {
            Some(Part::Words(words)) => words.clone(),
            Some(Part::OfTurn(part)) => {
                let mut words = Vec::new();
                match &part.indent {
                    Some((indent, said)) if *indent != self.indent => {
                        indent.clone_into(&mut self.indent);
                        words.extend(said.iter().cloned());
                    }
                    // Another block of code begins at the edge.
                    None if part.is_landmark => self.indent.clear(),
                    Some(_) | None => {}
                }
                words.extend(part.words.iter().cloned());
                words
            }
            None => Vec::new(),
        };
        Stepped::To(words)
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
        reading.open(Of::Told, vec![part(1), part(2)]);
        assert_eq!(reading.step(true), Some(Stepped::To(part(1))));
        assert_eq!(reading.step(false), Some(Stepped::AtStart));
        assert_eq!(reading.step(true), Some(Stepped::To(part(2))));
        assert_eq!(reading.step(true), Some(Stepped::AtEnd));
        reading.open(Of::Question(PromptId(1)), vec![part(1), part(2)]);
        assert_eq!(reading.step(false), Some(Stepped::To(part(2))));
        reading.open(Of::Told, Vec::new());
        assert_eq!(reading.of(), None);
    }
}
