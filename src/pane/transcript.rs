//! What was told, newest at the bottom, or around the entry that is being looked back at.
//!
//! While a question is shown, the transcript stands still: what is told meanwhile waits, and one line says
//! so. Only what answers a key and what is urgent is still added.

use jiff::tz::TimeZone;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::announce::{About, Aloud, Announcement, Class, Kind};
use crate::app::App;
use crate::session::PromptId;

use super::Look;
use super::rows::{self, Row};

/// Draws it, and gives the place of the last row, or of the entry that is looked back at.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    app: &App,
    zone: &TimeZone,
    area: Rect,
    look: Look,
) -> Position {
    if area.height == 0 {
        return Position::new(area.x, area.y);
    }
    match app.review() {
        Some(_) => draw_review(frame, app, zone, area, look),
        None => draw_newest(frame, app, zone, area, look),
    }
}

/// Draws the newest entries, or the newest of before the question that is shown.
fn draw_newest(
    frame: &mut Frame<'_>,
    app: &App,
    zone: &TimeZone,
    area: Rect,
    look: Look,
) -> Position {
    let room = usize::from(area.height);
    let shown = app.shown().map(|(shown, _)| (shown.prompt, shown.since));
    let mut held = false;
    // From the end backwards, no further than the rows reach: a long history costs nothing.
    let mut entries: Vec<Vec<Row>> = Vec::new();
    let mut count = 0;
    for told in app.history().iter().rev() {
        if !is_shown(told) || shown.is_some_and(|(prompt, _)| asks(told, prompt)) {
            continue;
        }
        let waits = |since| told.at.monotonic > since && !goes_through(told);
        if shown.is_some_and(|(_, since)| waits(since)) {
            held = true;
            continue;
        }
        let entry = entry(
            app,
            told,
            (zone, Time::IfItFits),
            area.width,
            style(told, look),
        );
        count += entry.len();
        entries.push(entry);
        if count >= room {
            break;
        }
    }
    let focus = entries.first().map_or(1, Vec::len);
    let mut all: Vec<Row> = entries.into_iter().rev().flatten().collect();
    if held {
        let words = app.phrases().text("pane.held", &[]);
        all.extend(rows::own(&words, area.width, look.quiet()));
    }
    let over = all.len().saturating_sub(room);
    let first = all.len().saturating_sub(focus).saturating_sub(over);
    rows::draw(frame, &all[over..], area);
    at(area, first)
}

/// Draws the entry that is looked at from its beginning, with as much before it as there is room for. An
/// entry that is longer than the screen is read on page by page.
fn draw_review(
    frame: &mut Frame<'_>,
    app: &App,
    zone: &TimeZone,
    area: Rect,
    look: Look,
) -> Position {
    let room = usize::from(area.height);
    let mut before = app
        .history()
        .iter()
        .rev()
        .skip_while(|told| app.review().is_some_and(|review| told.id > review))
        .filter(|told| is_shown(told));
    let Some(told) = before.next() else {
        return Position::new(area.x, area.y);
    };
    let mut all = entry(app, told, (zone, Time::Always), area.width, look.alert());
    if all.len() > room {
        let more = app.phrases().text("pane.more_review", &[]);
        let body = room.saturating_sub(1).max(1);
        // After the last part comes the first again.
        let pages = isize::try_from(all.len().div_ceil(body)).unwrap_or(isize::MAX);
        let page = app.review_page().rem_euclid(pages);
        let start = usize::try_from(page).unwrap_or(0) * body;
        let last = start + body >= all.len();
        let mut page: Vec<Row> = all.into_iter().skip(start).take(body).collect();
        if !last && room > 1 {
            page.push(Row::own(more, look.quiet()));
        }
        rows::draw(frame, &page, area);
        return Position::new(area.x, area.y);
    }
    let mut first = 0;
    for told in before {
        if all.len() >= room {
            break;
        }
        let style = style(told, look);
        let mut earlier = entry(app, told, (zone, Time::IfItFits), area.width, style);
        // Only the end of the oldest one, if that is all that there is room for.
        let cut = earlier.len().saturating_sub(room - all.len());
        let mut earlier = earlier.split_off(cut);
        first += earlier.len();
        earlier.append(&mut all);
        all = earlier;
    }
    rows::draw(frame, &all, area);
    at(area, first)
}

fn at(area: Rect, row: usize) -> Position {
    let row = u16::try_from(row).unwrap_or(u16::MAX);
    Position::new(area.x, area.y + row.min(area.height - 1))
}

/// Tells whether an entry is for the screen at all.
fn is_shown(told: &Announcement) -> bool {
    match told.aloud {
        Aloud::Yes | Aloud::Shown | Aloud::Seen => !told.shown().is_empty(),
        Aloud::Echo | Aloud::Heard | Aloud::Kept => false,
    }
}

/// Tells whether an entry asks the question that has a place of its own above. What a key brought forth of
/// it is more than stands there.
fn asks(told: &Announcement, prompt: PromptId) -> bool {
    told.about == Some(About::Asks(prompt)) && told.class != Class::Response
}

/// Tells whether an entry is shown although a question wants the person's attention.
fn goes_through(told: &Announcement) -> bool {
    match told.class {
        Class::Response | Class::Alert => true,
        Class::Outcome | Class::Activity | Class::Stream => false,
    }
}

/// From how many columns on a time may have a row to itself: on a smaller screen each row counts.
const TIMED_FROM: u16 = 60;

/// Says whether an entry must have its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Time {
    Always,
    /// Not where it would take a row of its own on a narrow screen.
    IfItFits,
}

fn entry(
    app: &App,
    told: &Announcement,
    (zone, timed): (&TimeZone, Time),
    width: u16,
    style: Style,
) -> Vec<Row> {
    let time = told.at.wall.to_zoned(zone.clone()).strftime("%H:%M:%S");
    let label = format!("{}: ", app.label(told));
    let after = format!(" ({time})");
    let shown = told.shown();
    // Where our words are among the agent's, the row is ours and its direction too.
    let direction = told.direction.filter(|_| told.is_agents_text());
    let lines: Vec<&str> = shown.lines().collect();
    // The lines of code stay lines; what goes on is set in, so that it is never taken for a new entry.
    lines
        .iter()
        .enumerate()
        .flat_map(|(at, line)| {
            let before = if at == 0 { label.as_str() } else { "  " };
            let after = if at + 1 == lines.len() {
                after.as_str()
            } else {
                ""
            };
            let rows = rows::mixed(before, line, after, direction, width, style);
            let alone = rows.len() > 1 && rows.last().is_some_and(|row| row.text == after.trim());
            match timed {
                Time::IfItFits if alone && width < TIMED_FROM && !after.is_empty() => {
                    rows::mixed(before, line, "", direction, width, style)
                }
                Time::IfItFits | Time::Always => rows,
            }
        })
        .collect()
}

fn style(told: &Announcement, look: Look) -> Style {
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
        | Kind::Unknown => look.text(),
    }
}
