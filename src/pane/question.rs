//! The question that keys are meant for, with nothing left out as long as there is room.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::announce::{Arg, Segment, wrap};
use crate::app::{App, Drawn};
use crate::protocol::Now;

use super::Look;

/// Up to this height the question has all rows to itself: it is what matters.
pub(super) const SMALL: u16 = 12;

/// Gives the rows that the question wants, leaving a row or two of the transcript in sight.
pub(super) fn height(app: &App, now: Now, area: Rect) -> u16 {
    let wanted = u16::try_from(lines(app, now, area.width).len()).unwrap_or(u16::MAX);
    if area.height <= SMALL {
        return area.height;
    }
    wanted.min(area.height.saturating_sub(2).max(area.height / 2))
}

/// Draws it, and gives the place of its first row, where the cursor belongs, and which part it is.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    app: &App,
    now: Now,
    area: Rect,
    look: Look,
) -> (Position, Option<Drawn>) {
    let page = app.shown().map_or(0, |(shown, _)| shown.page);
    let (lines, page, pages) = page_of(
        lines(app, now, area.width),
        page,
        usize::from(area.height),
        &app.phrases().text("pane.more", &[]),
    );
    let drawn = app.shown().map(|(shown, _)| Drawn {
        prompt: shown.prompt,
        page,
        pages,
    });
    let styled: Vec<Line<'_>> = lines
        .into_iter()
        .enumerate()
        .map(|(at, line)| {
            if at == 0 {
                Line::styled(line, look.alert())
            } else {
                Line::raw(line)
            }
        })
        .collect();
    frame.render_widget(Paragraph::new(styled), area);
    (Position::new(area.x, area.y), drawn)
}

/// Gives one page of a question that does not fit: each but the last ends by saying that there is
/// more, and after the last comes the first again. Gives the page's rows, its number and the count.
fn page_of(
    lines: Vec<String>,
    page: usize,
    room: usize,
    more: &str,
) -> (Vec<String>, usize, usize) {
    if lines.len() <= room {
        return (lines, 0, 1);
    }
    if room < 2 {
        // One row shows a beginning and no more, however often it is turned.
        return (lines, 0, usize::MAX);
    }
    let body = room - 1;
    let pages = lines.len().div_ceil(body);
    let page = page % pages;
    let start = page * body;
    let mut shown: Vec<String> = lines.iter().skip(start).take(body).cloned().collect();
    if start + body < lines.len() {
        shown.push(more.to_owned());
    }
    (shown, page, pages)
}

fn lines(app: &App, now: Now, width: u16) -> Vec<String> {
    let Some((_, prompt)) = app.shown() else {
        return Vec::new();
    };
    let answerable: Vec<_> = app
        .questions()
        .into_iter()
        .filter(|prompt| prompt.is_answerable())
        .collect();
    let place = answerable
        .iter()
        .position(|other| other.id == prompt.id)
        .map_or(1, |at| at + 1);
    let left = app
        .time_left(prompt, now.monotonic)
        .map(|left| app.announcer().time(left))
        .unwrap_or_default();
    let head = app.phrases().text(
        "pane.question",
        &[
            ("place", Arg::own(place)),
            ("count", Arg::own(answerable.len())),
            ("n", Arg::own(prompt.id.0)),
            ("agent", Arg::Name(app.agent_of(prompt))),
            ("left", Arg::Own(left)),
        ],
    );
    let mut lines = wrap(&head, usize::from(width));
    let words: Vec<Segment> = app.announcer().ask_again(prompt, app.sessions(), now);
    // The program's words and the agent's are never on one row, so that none can pass for the other.
    for segment in words
        .iter()
        .skip(1)
        .filter(|segment| !segment.text.is_empty())
    {
        lines.extend(wrap(&segment.text, usize::from(width)));
    }
    lines
}
