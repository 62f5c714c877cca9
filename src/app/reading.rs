//! Where the person is in what is read part by part: changes, an output, a plan.
//!
//! Responsibilities: which part is next. Not here: the parts (`announce`), who opens it and what is said (`review`).

use crate::announce::Segment;
use crate::session::PromptId;

/// Says what the parts belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// A question; with another one shown nobody reads on in this one.
    Question(PromptId),
    /// Something that was told, or a plan.
    Told,
}

/// Says where a step led.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stepped {
    /// To this part.
    To(Vec<Segment>),
    /// Nowhere: the first part is the one that was read last.
    AtStart,
    /// Nowhere: the last part is.
    AtEnd,
}

/// Holds what is read part by part, and where.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    open: Option<Open>,
}

#[derive(Debug, Clone)]
struct Open {
    of: Of,
    parts: Vec<Vec<Segment>>,
    /// The part that was read last; before the first step none, and then the ends are equally near.
    at: Option<usize>,
}

impl Reading {
    /// Opens something to be read; without a part there is nothing to open.
    pub(super) fn open(&mut self, of: Of, parts: Vec<Vec<Segment>>) {
        self.open = (!parts.is_empty()).then_some(Open {
            of,
            parts,
            at: None,
        });
    }

    /// Leaves it.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// Gives what is read.
    pub(super) fn of(&self) -> Option<Of> {
        self.open.as_ref().map(|open| open.of)
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
        open.at = Some(to);
        let part = open.parts.get(to).cloned();
        Some(Stepped::To(part.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Segment {
        Segment {
            mark: crate::announce::Mark::Own,
            text: "x".to_owned(),
            shown: None,
            spoken: "x".to_owned(),
            language: None,
            ways: false,
        }
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
