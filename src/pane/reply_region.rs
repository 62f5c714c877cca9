//! The response to the last key, in its own region.

use ratatui::style::Style;

use crate::announce::{About, Aloud, Announcement};
use crate::keys::Mode;

use super::text_rows::{PaneRow, beside_sign, scanned};
use super::{View, transcript};

/// Returns its rows; none if everything in it is visible elsewhere.
pub(super) fn rows(view: View<'_>, width: u16, style: Style) -> Vec<PaneRow> {
    let shown = view.app.shown().map(|(shown, _)| shown.question);
    let has_a_place = |told: &Announcement| match told.about {
        // Said because a screen shows it anyway.
        _ if told.aloud == Aloud::Heard => true,
        // The question itself is visible, and its details appear in its place.
        Some(About::Asks(id)) => Some(id) == shown,
        // A part of what the question changes is visible below its words, or in their place.
        Some(About::Tells(id)) if Some(id) == shown && is_read(view, told) => true,
        Some(About::Tells(_)) | None => {
            // An entry under review is marked where it is.
            view.app.review() == Some(told.id) && view.has_transcript
        }
    };
    let answers = view.app.answers();
    let last = match view.app.mode() {
        // Where a switch steps, only the item that it has reached matters.
        _ if view.app.scanned().is_some() => answers.len().saturating_sub(1),
        // One row is left next to the choices.
        Mode::Choosing(..) => answers.len().saturating_sub(1),
        Mode::Watching
        | Mode::Confirming(_)
        | Mode::Editing(_)
        | Mode::Searching
        | Mode::Prompting(_)
        | Mode::Quitting
        | Mode::Leaving(_)
        | Mode::Help => 0,
    };
    answers
        .iter()
        .skip(last)
        .filter(|told| !has_a_place(told))
        .flat_map(|told| match view.app.scanned() == Some(told.id) {
            true => scanned(transcript::entry(view, told, "", beside_sign(width), style)),
            false => transcript::entry(view, told, "", width, style),
        })
        .collect()
}

/// Returns whether an answer reads the part of a change that is on display.
fn is_read(view: View<'_>, told: &Announcement) -> bool {
    view.app
        .change_read()
        .is_some_and(|read| read.told == told.id)
}
