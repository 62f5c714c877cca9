//! What was told, newest at the bottom, or around the entry that is being looked back at.

use jiff::tz::TimeZone;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::announce::{Aloud, Announcement, Kind, wrap};
use crate::app::App;

use super::Look;

/// Draws it, and gives the place of the last row, or of the entry that is looked back at.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    app: &App,
    zone: &TimeZone,
    area: Rect,
    look: Look,
) -> Position {
    let room = usize::from(area.height);
    if room == 0 {
        return Position::new(area.x, area.y);
    }
    // From the end backwards, no further than the rows reach: a long history costs nothing.
    let mut rows: Vec<(String, Style)> = Vec::new();
    let mut focus = 0;
    for told in app.history().iter().rev() {
        if matches!(told.aloud, Aloud::Kept | Aloud::Heard) {
            continue;
        }
        if app.review().is_some_and(|review| told.id > review) {
            continue;
        }
        if told.shown().is_empty() {
            continue;
        }
        let reviewed = app.review() == Some(told.id);
        let style = style(told, look, reviewed);
        let entry = entry(app, told, zone, area.width);
        if rows.is_empty() {
            focus = entry.len() - 1;
        }
        rows.extend(entry.into_iter().rev().map(|line| (line, style)));
        if rows.len() >= room {
            break;
        }
    }
    rows.truncate(room);
    let shown = rows.len();
    let lines: Vec<Line<'_>> = rows
        .into_iter()
        .rev()
        .map(|(line, style)| Line::styled(line, style))
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
    let row = shown.saturating_sub(1 + focus);
    Position::new(
        area.x,
        area.y + u16::try_from(row).unwrap_or(0).min(area.height - 1),
    )
}

fn entry(app: &App, told: &Announcement, zone: &TimeZone, width: u16) -> Vec<String> {
    let time = told.at.wall.to_zoned(zone.clone()).strftime("%H:%M:%S");
    let label = app.label(told);
    // The lines of code stay lines; what goes on is set in, so that it is never taken for a new entry.
    format!("{label}: {} ({time})", told.shown())
        .lines()
        .enumerate()
        .flat_map(|(at, line)| {
            let line = if at == 0 {
                line.to_owned()
            } else {
                format!("  {line}")
            };
            wrap(&line, usize::from(width))
        })
        .collect()
}

fn style(told: &Announcement, look: Look, reviewed: bool) -> Style {
    if reviewed {
        return look.alert();
    }
    match told.kind {
        Kind::Danger | Kind::SessionErrored => look.danger(),
        Kind::Confirmation | Kind::Clarification | Kind::Handoff => look.heading(),
        Kind::State
        | Kind::Progress
        | Kind::Anomaly
        | Kind::Hint
        | Kind::Heartbeat
        | Kind::Connection
        | Kind::Reply => look.quiet(),
        Kind::SessionStarted
        | Kind::SessionCompleted
        | Kind::SessionCancelled
        | Kind::ToolInvoked
        | Kind::ToolCompleted
        | Kind::Output
        | Kind::Unknown => Style::new(),
    }
}
