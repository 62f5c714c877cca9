//! The help, from the table of keys, by groups.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::View;
use super::rows::{self, PaneRow};

/// Draws it, scrolled so that every key can be reached on the smallest screen.
pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let (app, look) = (view.app, view.look);
    let width = area.width.min(rows::WIDEST);
    let mut all: Vec<PaneRow> = Vec::new();
    for (group, entries) in app.keymap().help_in_groups() {
        let head = app.phrases().help(group).to_owned();
        all.push(PaneRow::head(head, look.region()));
        for (keys, does) in entries {
            let words = format!("{keys}: {}", app.phrases().help(does));
            all.extend(rows::own(&words, width, look.text()));
        }
    }
    let first = app
        .help_scroll()
        .min(all.len().saturating_sub(usize::from(area.height)));
    rows::draw(frame, &all[first..], area);
}
