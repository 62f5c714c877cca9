//! The response to the last key, in its own region.

use ratatui::style::Style;

use crate::announce::{Announcement, AnnouncementKind, Presentation, QuestionRelation};
use crate::keys::Mode;
use crate::session::Question;

use super::text_rows::{PaneRow, beside_sign, scanned};
use super::{View, search_hits, transcript};

/// Returns its rows; none if everything in it is visible elsewhere.
pub(super) fn rows(view: View<'_>, width: u16, style: Style) -> Vec<PaneRow> {
    let shown = view.app.shown().map(|(shown, _)| shown.question);
    // An entry under review is marked where it is.
    let is_reviewed =
        |told: &Announcement| view.app.review() == Some(told.id) && view.has_transcript;
    let has_a_place = |told: &Announcement| match told.about {
        // Said because a screen shows it anyway.
        _ if told.aloud == Presentation::Heard => true,
        // Where there is room, it is in the transcript.
        _ if told.kind == AnnouncementKind::Danger && view.regions => true,
        _ if is_reviewed(told) || is_overtaken(view, told) => true,
        // The question itself is visible, and its details appear in its place.
        Some(QuestionRelation::Asks(id)) => Some(id) == shown,
        // A part of what the question changes is visible below its words, or in their place.
        Some(QuestionRelation::Concerns(id)) if Some(id) == shown && is_read(view, told) => true,
        Some(QuestionRelation::Concerns(_)) | None => false,
    };
    let answers = view.app.answers();
    let last = match view.app.mode() {
        // While a switch steps through items, only the one that it has reached matters.
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
            false => response(view, told, width, style),
        })
        .collect()
}

/// Lays out a response; of an entry that a search found, the row with the searched words follows the first one, because
/// there may be room for no more.
fn response(view: View<'_>, told: &Announcement, width: u16, style: Style) -> Vec<PaneRow> {
    let searched = view.app.searched();
    let is_found = view.app.hit().is_some() && view.app.review() == Some(told.id);
    if let Some(searched) = searched.filter(|_| is_found) {
        let label = view.app.label(told);
        let rows = transcript::entry(view, told, "", beside_sign(width), style);
        if let Some((mut rows, first)) = search_hits::mark(rows, &label, &searched, view.look.hit())
        {
            rows.drain(1..first.max(1));
            return rows;
        }
    }
    transcript::entry(view, told, "", width, style)
}

/// Returns whether the asking agent's turn ended after a response to its question: below the end it would read as if
/// something were still under way.
pub(super) fn is_overtaken(view: View<'_>, told: &Announcement) -> bool {
    let Some(QuestionRelation::Concerns(id)) = told.about else {
        return false;
    };
    let question = view.app.question(id);
    let ends = |entry: &Announcement| {
        matches!(
            entry.kind,
            AnnouncementKind::SessionCompleted
                | AnnouncementKind::SessionErrored
                | AnnouncementKind::SessionCancelled
        ) && question.is_none_or(|question| entry.key.as_ref() == Some(&question.key))
    };
    let entries = view.app.history().iter().rev();
    let mut newer = entries.take_while(|entry| entry.id > told.id);
    !question.is_some_and(Question::is_open) && newer.any(|entry| ends(entry))
}

/// Returns whether an answer reads the part of a change that is on display.
fn is_read(view: View<'_>, told: &Announcement) -> bool {
    view.app
        .change_read()
        .is_some_and(|read| read.announcement == told.id)
}
