//! The line that is being typed.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::app::App;
use crate::keys::Mode;

use super::Look;

/// Returns whether a line is being typed.
pub(super) fn is_open(app: &App) -> bool {
    match app.mode() {
        Mode::Editing(_) | Mode::Searching | Mode::Prompting(_) | Mode::Choosing(..) => true,
        Mode::Watching | Mode::Confirming(_) | Mode::Quitting | Mode::Leaving(_) | Mode::Help => {
            false
        }
    }
}

/// Draws it, and returns the cursor position.
pub(super) fn draw(frame: &mut Frame<'_>, app: &App, area: Rect, look: Look) -> Position {
    let label = app.phrases().text(app.editor_label(), &[]);
    let (text, cursor) = match app.mode() {
        Mode::Choosing(_, 0) => (String::new(), 0),
        Mode::Choosing(_, so_far) => (so_far.to_string(), so_far.to_string().len()),
        Mode::Watching
        | Mode::Confirming(_)
        | Mode::Editing(_)
        | Mode::Searching
        | Mode::Prompting(_)
        | Mode::Quitting
        | Mode::Leaving(_)
        | Mode::Help => {
            let (text, cursor) = app.editor();
            // A row holds no line breaks; they are shown as signs, and were announced.
            (text.replace('\n', "↵"), cursor)
        }
    };
    let before: String = text.chars().take(cursor).collect();
    let room = usize::from(area.width).saturating_sub(label.width() + 2);
    // If the answer is longer than the line, the part around the cursor is shown.
    let skipped = before.width().saturating_sub(room);
    let mut left = 0;
    let visible: String = text
        .chars()
        .skip_while(|c| {
            let hidden = left < skipped;
            left += UnicodeWidthChar::width(*c).unwrap_or(0);
            hidden
        })
        .collect();
    frame.render_widget(
        Paragraph::new(Line::styled(format!("{label} {visible}"), look.heading())),
        area,
    );
    let x = label.width() + 1 + before.width().min(room);
    let x = area.x.saturating_add(u16::try_from(x).unwrap_or(u16::MAX));
    Position::new(x.min(area.right().saturating_sub(1)), area.y)
}
