//! The sessions, one line each: who, in which phase and state, with which tools.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::announce::wrap;
use crate::app::App;
use crate::protocol::Now;

use super::Look;

/// Gives the lines of the sessions that still run.
pub(super) fn lines(app: &App, now: Now, width: u16) -> Vec<String> {
    app.sessions()
        .iter()
        .filter(|session| !session.is_ended())
        .filter_map(|session| {
            wrap(
                &app.session_words(session, now.monotonic),
                usize::from(width),
            )
            .into_iter()
            .next()
        })
        .collect()
}

pub(super) fn draw(frame: &mut Frame<'_>, lines: &[String], area: Rect, look: Look) {
    let lines: Vec<Line<'_>> = lines
        .iter()
        .map(|line| Line::styled(line.as_str(), look.quiet()))
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}
