//! How much of a question's changes the person has seen.

use crate::announce::{ChangeInSight, ChangeItem, ChangePlace};

/// The stretch of a question's changes that is in sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisibleChange {
    /// Where it begins.
    pub from: ChangePlace,
    /// The first place after it; equal to `from` if there is no room for any of it.
    pub to: ChangePlace,
}

impl VisibleChange {
    /// All of the changes.
    pub const WHOLE: Self = Self {
        from: ChangePlace { item: 0, byte: 0 },
        to: ChangePlace::END,
    };
}

/// How the person follows the changes of the shown question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeVisibility {
    /// By ear, or in lines: part by part.
    ByEar,
    /// On a screen; `None` until it has reported what it shows.
    BySight(Option<VisibleChange>),
}

/// All stretches of a question's changes that were in sight, in order and without overlap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SeenChanges(Vec<VisibleChange>);

impl SeenChanges {
    /// Adds a stretch.
    pub(super) fn add(&mut self, mut drawn: VisibleChange) {
        self.0.retain(|seen| {
            let apart = seen.to < drawn.from || drawn.to < seen.from;
            if !apart {
                drawn.from = drawn.from.min(seen.from);
                drawn.to = drawn.to.max(seen.to);
            }
            apart
        });
        let at = self.0.partition_point(|seen| seen.to < drawn.from);
        self.0.insert(at, drawn);
    }

    /// Counts the lines whose ends were never in sight.
    pub(super) fn unseen(&self, places: &[ChangeInSight<'_>]) -> usize {
        let items = places.iter().flat_map(|place| &place.items);
        let is_unseen = |(at, item): &(usize, &ChangeItem)| {
            let from = ChangePlace { item: *at, byte: 0 };
            let to = ChangePlace {
                item: at + 1,
                byte: 0,
            };
            let shows = |seen: &VisibleChange| seen.from <= from && to <= seen.to;
            matches!(item, ChangeItem::Line(_)) && !self.0.iter().any(shows)
        };
        items.enumerate().filter(is_unseen).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce::LineInSight;

    fn at(item: usize, byte: usize) -> ChangePlace {
        ChangePlace { item, byte }
    }

    #[test]
    fn a_line_is_seen_once_its_stretches_meet() {
        let line = || {
            ChangeItem::Line(LineInSight {
                number: None,
                sign: ' ',
                text: String::new(),
                changed: Vec::new(),
            })
        };
        let place = ChangeInSight {
            path: "a",
            is_new: false,
            n: 1,
            count: 1,
            items: vec![line(), line(), line(), ChangeItem::LeftOut(String::new())],
        };
        let mut seen = SeenChanges::default();
        let mut sees = |from, to| {
            seen.add(VisibleChange { from, to });
            seen.unseen(std::slice::from_ref(&place))
        };
        assert_eq!(sees(at(0, 0), at(0, 0)), 3);
        assert_eq!(sees(at(2, 5), ChangePlace::END), 3);
        assert_eq!(sees(at(0, 0), at(1, 7)), 2);
        assert_eq!(sees(at(1, 7), at(2, 4)), 1);
        assert_eq!(sees(at(2, 4), at(2, 5)), 0);
        assert_eq!(seen.0.len(), 1);
    }
}
