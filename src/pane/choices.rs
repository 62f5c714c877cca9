//! The choices of a question while one is being made: the cursor on the focused one, and what hearken found and the
//! question visible above them.

use ratatui::layout::Rect;

use crate::announce::Arg;
use crate::session::Question;

use super::asked_rows::{AskedRows, asked};
use super::question_head::head;
use super::text_rows::{self, PaneRow};
use super::{View, squeezed_question};

/// The rows for what hearken found and for what the agent asks, at least one each.
const WORDS: usize = 2;

/// The choices in rows, and which of these the focused one has, or else the first one.
struct ChoiceRows {
    rows: Vec<PaneRow>,
    focus: usize,
    length: usize,
}

/// Returns the choices under the head and the words of their question, and the row of the focus. The focused one is
/// complete if it leaves rows for these words; else it ends with a sign.
pub(super) fn rows(
    view: View<'_>,
    question: &Question,
    mut above: Vec<PaneRow>,
    width: u16,
    room: usize,
) -> (Vec<PaneRow>, usize) {
    let ChoiceRows {
        rows: choices,
        focus,
        length,
    } = choices(view, question, width);
    let left = room.saturating_sub(above.len());
    let half = (left / 2)
        .min(left.saturating_sub(length))
        .max(WORDS.min(left.saturating_sub(1)));
    let for_asked = left.saturating_sub(choices.len()).max(half);
    let AskedRows { found, subject, .. } = asked(view, question, width);
    let words = (found.concat(), subject);
    above.extend(squeezed_question::subject(view, words, for_asked, width));
    let room = room.saturating_sub(above.len());
    // The focused choice is fully visible, or from its beginning.
    let end = (focus + length.min(room)).max(room).min(choices.len());
    let start = end.saturating_sub(room);
    let row = above.len() + focus.saturating_sub(start);
    let mut visible: Vec<PaneRow> = choices.into_iter().skip(start).collect();
    match length > room {
        true => visible = text_rows::fitting(visible, room, width),
        false => visible.truncate(room),
    }
    above.extend(visible);
    (above, row)
}

/// Builds the same beside a response, for which it leaves as many rows as it can.
pub(super) fn beside(
    view: View<'_>,
    question: &Question,
    place: Rect,
    response: usize,
) -> Vec<PaneRow> {
    let width = place.width.min(text_rows::WIDEST);
    let room = usize::from(place.height);
    let head = head(view, question, place.width, None);
    let least = head.len() + WORDS + choices(view, question, width).length;
    let kept = room.saturating_sub(response).max(least).min(room);
    rows(view, question, head, width, kept).0
}

fn choices(view: View<'_>, question: &Question, width: u16) -> ChoiceRows {
    let (app, look) = (view.app, view.look);
    let focus = app.choice_in_focus();
    let mut choices = ChoiceRows {
        rows: Vec::new(),
        focus: 0,
        length: 1,
    };
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
        if focused || focus.is_none() && at == 0 {
            choices.focus = choices.rows.len();
            choices.length = row.len();
        }
        choices.rows.extend(row);
    }
    choices
}
