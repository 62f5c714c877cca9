//! The column beside the work on a wide screen: the conversations, and the plan of the one that the person is in.
//!
//! Responsibilities: when there is one, and its width. Not here: what an agent does in words (`session_rows`), the
//! steps (`plan_rows`).

use ratatui::Frame;
use ratatui::layout::Rect;

use super::text_rows::{self, PaneRow};
use super::{View, plan_rows, session_rows};

/// The narrowest screen with a column beside the work.
const WIDE: u16 = 110;
/// The least and the most columns that it has.
const WIDTH: (u16, u16) = (34, 60);
/// The columns between the work and it.
const BETWEEN: u16 = 2;

/// Splits the column off the right of an area, on a screen with room for it. A screen reader would read rows across
/// both, so there is no column beside one.
pub(super) fn take(view: View<'_>, area: &mut Rect) -> Option<Rect> {
    if area.width < WIDE || !view.regions || view.look.stacked {
        return None;
    }
    // One agent alone is in the first row, with what it does above the work.
    if !has_several(view) && plan_rows::planned(view).is_none() {
        return None;
    }
    let width = area.width.saturating_sub(text_rows::WIDEST + BETWEEN);
    let width = width.clamp(WIDTH.0, WIDTH.1);
    area.width -= width + BETWEEN;
    Some(Rect {
        x: area.right() + BETWEEN,
        width,
        ..*area
    })
}

/// Draws the column. Without times, nothing in it moves.
pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect, timed: bool) {
    let planned = plan_rows::planned(view);
    let room = usize::from(area.height);
    let for_agents = match planned {
        Some(_) => room / 2,
        None => room,
    };
    let mut all = Vec::new();
    if has_several(view) || !session_rows::is_in_headline(view.app) {
        let words = view.app.phrases().text("pane.agents", &[]);
        all.push(PaneRow::head(words, view.look.region()));
        let rows = session_rows::rows(view, area.width, for_agents.saturating_sub(1), timed);
        all.extend(rows);
    }
    if let Some(session) = planned {
        if !all.is_empty() {
            all.push(PaneRow::own(String::new(), view.look.text()));
        }
        let left = room.saturating_sub(all.len());
        all.extend(plan_rows::rows(view, session, area.width, left, timed));
    }
    view.places.note(&all, area);
    text_rows::draw(frame, &all, area);
}

/// Returns whether several agents work.
fn has_several(view: View<'_>) -> bool {
    let sessions = view.app.sessions().iter();
    sessions.filter(|session| !session.is_ended()).count() > 1
}
