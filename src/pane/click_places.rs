//! What a click on the drawn screen is meant for.

use std::cell::RefCell;

use ratatui::layout::{Position, Rect};

use crate::app::PointerTarget;

use super::text_rows::PaneRow;

/// The places on a drawn screen at which a click is meant for something.
#[derive(Debug, Default)]
pub struct ClickPlaces(RefCell<Vec<(Rect, PointerTarget)>>);

impl ClickPlaces {
    /// Returns what is at a position, from 0.
    pub fn at(&self, position: Position) -> Option<PointerTarget> {
        let places = self.0.borrow();
        let found = places
            .iter()
            .rev()
            .find(|(area, _)| area.contains(position));
        found.map(|(_, at)| *at)
    }

    /// Notes rows that are drawn from the top of an area.
    pub(super) fn note(&self, rows: &[PaneRow], area: Rect) {
        let drawn = rows.iter().zip(area.y..area.bottom());
        let places = drawn.filter_map(|(row, y)| {
            let place = Rect {
                y,
                height: 1,
                ..area
            };
            Some((place, row.at?))
        });
        self.0.borrow_mut().extend(places);
    }
}
