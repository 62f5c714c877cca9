//! What answers the last key, in a place of its own.

use ratatui::style::Style;

use crate::announce::{About, Announcement};
use crate::keys::Mode;

use super::rows::Row;
use super::{View, transcript};

/// Returns its rows; none where there is nothing to show that is not in sight elsewhere.
pub(super) fn rows(view: View<'_>, width: u16, style: Style) -> Vec<Row> {
    let shown = view.app.shown().map(|(shown, _)| shown.prompt);
    let has_a_place = |told: &Announcement| match told.about {
        // The question itself is in sight, and its details are where it is.
        Some(About::Asks(id)) => Some(id) == shown,
        Some(About::Tells(_)) | None => {
            // What is looked back at is marked where it stands.
            view.app.review() == Some(told.id) && view.has_transcript
        }
    };
    let answers = view.app.answers();
    let last = match view.app.mode() {
        // One row is left beside the choices.
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
        .flat_map(|told| transcript::entry(view, told, "", width, style))
        .collect()
}
