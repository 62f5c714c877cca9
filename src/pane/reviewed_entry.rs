//! The entry under review, with as much before it as fits.
//!
//! Responsibilities: which page of a long entry is shown, and that a search shows what it found. Not here: which entry
//! is under review (`app`), marking the searched words (`search_hits`).

use ratatui::Frame;
use ratatui::layout::{Position, Rect};

use crate::announce::Announcement;
use crate::config::TimesChoice;

use super::ended_calls::EndedCalls;
use super::kept_edits::{self, Extent};
use super::text_rows::{self, PaneRow};
use super::transcript::{at, entry, is_shown, paragraphs, time};
use super::{View, search_hits};

/// Draws the entry under review from its beginning, or from the page that a search found; returns where it begins. An
/// entry longer than the screen is read page by page.
pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) -> Position {
    let app = view.app;
    let room = usize::from(area.height);
    let width = area.width.min(text_rows::WIDEST);
    let mut before = app
        .history()
        .iter()
        .rev()
        .skip_while(|told| app.review().is_some_and(|review| told.id > review));
    // It may have no row otherwise: what was left out of the screen can still be found.
    let Some(told) = before.next() else {
        return Position::new(area.x, area.y);
    };
    let (mut all, found) = entry_under_review(view, told, width);
    all.extend(kept_edits::rows(view, told, width, Extent::Whole));
    let turned = app.review_page();
    if all.len() > room {
        let more = app.phrases().text("pane.more_review", &[]);
        let body = room.saturating_sub(1).max(1);
        // After the last part, the first follows again.
        let pages = isize::try_from(all.len().div_ceil(body)).unwrap_or(isize::MAX);
        let begins = isize::try_from(found.unwrap_or(0) / body).unwrap_or(0);
        let page = begins.saturating_add(turned).rem_euclid(pages);
        let start = usize::try_from(page).unwrap_or(0) * body;
        let last = start + body >= all.len();
        let mut page: Vec<PaneRow> = all.into_iter().skip(start).take(body).collect();
        if !last && room > 1 {
            page.push(PaneRow::own(more, view.look.quiet()));
        }
        text_rows::draw(frame, &page, area);
        return Position::new(area.x, area.y);
    }
    let length = all.len();
    if turned != 0 {
        let whole = app.phrases().text("pane.whole_review", &[]);
        all.extend(text_rows::own(&whole, width, view.look.quiet()));
        all.truncate(room.max(length));
    }
    let left = room - all.len().min(room);
    let mut earlier: Vec<PaneRow> = Vec::new();
    if left > 0 {
        let mut ended = EndedCalls::default();
        ended.is_said_by_end(told);
        let shown = before.filter(|told| is_shown(view, told) && !ended.is_said_by_end(told));
        earlier = paragraphs(view, shown, left, width)
            .into_iter()
            .flatten()
            .collect();
        // If there is no room for all of the oldest one, only its end is shown.
        earlier = earlier.split_off(earlier.len().saturating_sub(left));
    }
    let first = earlier.len();
    earlier.append(&mut all);
    view.places.note(&earlier, area);
    text_rows::draw(frame, &earlier, area);
    at(area, first)
}

/// Lays out the entry under review; if a search found it, with a sign before each row that has the searched words, and
/// the number of the first such row.
fn entry_under_review(
    view: View<'_>,
    announcement: &Announcement,
    width: u16,
) -> (Vec<PaneRow>, Option<usize>) {
    let after = match view.app.config().screen.times {
        TimesChoice::Always | TimesChoice::Minute => time(view, announcement, "%H:%M:%S"),
        TimesChoice::Never => String::new(),
    };
    let laid_out = |width| entry(view, announcement, &after, width, view.look.alert());
    let searched = view.app.searched().filter(|_| view.app.hit().is_some());
    let label = view.app.label(announcement);
    searched
        .and_then(|searched| {
            let rows = laid_out(text_rows::beside_sign(width));
            let (rows, first) = search_hits::mark(rows, &label, &searched, view.look.hit())?;
            Some((rows, Some(first)))
        })
        .unwrap_or_else(|| (laid_out(width), None))
}
