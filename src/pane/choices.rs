//! The choices of a question while one is being made: one row each, the cursor on the focused one, and the
//! question visible above them.

use crate::announce::Arg;
use crate::session::Question;

use super::View;
use super::text_rows::{self, PaneRow};

/// Returns the choices under the head and the words of their question, and the row of the focus. At least half
/// of the space is for the choices.
pub(super) fn rows(
    view: View<'_>,
    question: &Question,
    (mut above, asked): (Vec<PaneRow>, Vec<PaneRow>),
    width: u16,
    room: usize,
) -> (Vec<PaneRow>, usize) {
    let (app, look) = (view.app, view.look);
    let focus = app.choice_in_focus();
    let mut choices: Vec<PaneRow> = Vec::new();
    let mut place = (0, 1);
    for (at, label) in app.choice_labels(question).iter().enumerate() {
        let focused = focus == Some(at);
        let key = match (focused, app.is_picked(at)) {
            (true, Some(true)) => "pane.choice.focused.picked",
            (true, Some(false) | None) => "pane.choice.focused",
            (false, Some(true)) => "pane.choice.picked",
            (false, Some(false) | None) => "pane.choice",
        };
        let before = app.phrases().text(key, &[("n", Arg::own(at + 1))]);
        let style = if focused { look.alert() } else { look.text() };
        let before = format!("{before} ");
        let inside = width.saturating_sub(text_rows::HANG).max(1);
        let row = if focused {
            text_rows::hanging(&before, label, "", question.direction, width, style)
        } else {
            text_rows::set_in(
                text_rows::mixed(&before, label, "", question.direction, inside, style),
                text_rows::HANG,
            )
        };
        if focused {
            place = (choices.len(), row.len());
        }
        choices.extend(row);
    }
    let left = room.saturating_sub(above.len());
    let for_asked = left.saturating_sub(choices.len()).max(left / 2);
    above.extend(text_rows::fitting(asked, for_asked, width));
    let room = room.saturating_sub(above.len());
    // The focused choice is fully visible, or from its beginning.
    let end = (place.0 + place.1.min(room)).max(room).min(choices.len());
    let start = end.saturating_sub(room);
    let focus = above.len() + place.0.saturating_sub(start);
    above.extend(choices.into_iter().skip(start).take(room));
    (above, focus)
}
