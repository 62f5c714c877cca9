//! The choices of a question while one is being made: one row each, the cursor on the one in focus.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};

use crate::announce::Arg;
use crate::app::App;
use crate::session::Prompt;

use super::Look;
use super::rows::{self, Row};

/// Draws them under the head of their question. Gives what is left of the area and the place of the focus.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    app: &App,
    prompt: &Prompt,
    mut head: Vec<Row>,
    area: Rect,
    look: Look,
) -> (Rect, Position) {
    head.truncate(usize::from(area.height).saturating_sub(1).min(2));
    let room = usize::from(area.height).saturating_sub(head.len());
    let focus = app.choice_in_focus();
    let labels = app.choice_labels(prompt);
    let mut rows: Vec<Row> = Vec::new();
    let mut place = (0, 1);
    for (at, label) in labels.iter().enumerate() {
        let focused = focus == Some(at);
        let key = match (focused, app.is_picked(at)) {
            (true, Some(true)) => "pane.choice.focused.picked",
            (true, Some(false) | None) => "pane.choice.focused",
            (false, Some(true)) => "pane.choice.picked",
            (false, Some(false) | None) => "pane.choice",
        };
        let before = app.phrases().text(key, &[("n", Arg::own(at + 1))]);
        let style = if focused { look.alert() } else { look.text() };
        let row = rows::mixed(
            &format!("{before} "),
            label,
            "",
            prompt.direction,
            area.width,
            style,
        );
        if focused {
            place = (rows.len(), row.len());
        }
        rows.extend(row);
    }
    // The focused choice is in sight whole, or from its beginning.
    let end = (place.0 + place.1.min(room)).max(room).min(rows.len());
    let start = end.saturating_sub(room);
    let shown = head.len();
    head.extend(rows.into_iter().skip(start).take(room));
    let height = u16::try_from(head.len())
        .unwrap_or(u16::MAX)
        .min(area.height);
    rows::draw(frame, &head, area);
    let rest = Rect {
        y: area.y + height,
        height: area.height - height,
        ..area
    };
    let row = u16::try_from(shown + place.0.saturating_sub(start)).unwrap_or(u16::MAX);
    let y = area.y + row.min(area.height.saturating_sub(1));
    (rest, Position::new(area.x, y))
}
