//! The help, from the one table of keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::announce::wrap;
use crate::keys::BINDINGS;

use super::Look;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, look: Look) {
    let entries: Vec<String> = BINDINGS
        .iter()
        .map(|binding| format!("{}: {}", binding.key, binding.does))
        .collect();
    let width = usize::from(area.width);
    let room = usize::from(area.height);
    let rows: usize = entries.iter().map(|entry| wrap(entry, width).len()).sum();
    // Where one entry a row does not fit, they run on: every key must be there.
    let lines: Vec<String> = if rows <= room {
        entries
            .iter()
            .flat_map(|entry| wrap(entry, width))
            .collect()
    } else {
        wrap(&entries.join(". "), width)
    };
    let styled: Vec<Line<'_>> = lines
        .into_iter()
        .map(|line| Line::styled(line, look.quiet()))
        .collect();
    frame.render_widget(Paragraph::new(styled), area);
}
