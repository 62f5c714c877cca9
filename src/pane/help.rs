//! The help, from the one table of keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::announce::wrap;
use crate::app::App;

use super::Look;

/// Draws it, scrolled so that every key can be reached on the smallest screen.
pub(super) fn draw(frame: &mut Frame<'_>, app: &App, area: Rect, look: Look) {
    let rows: Vec<String> = app
        .keymap()
        .help()
        .flat_map(|(keys, does)| {
            wrap(
                &format!("{}: {}", keys, app.phrases().help(does)),
                usize::from(area.width),
            )
        })
        .collect();
    let first = app
        .help_scroll()
        .min(rows.len().saturating_sub(usize::from(area.height)));
    let lines: Vec<Line<'_>> = rows
        .into_iter()
        .skip(first)
        .map(|row| Line::styled(row, look.quiet()))
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}
