//! The full face: a pane in the alternate screen. Reads the app, never changes it.
//!
//! Responsibilities: laying out what the app holds on any size from 40 by 10 upwards. Not here: what
//! is said or asked, and in which words (`app`, `announce`); the terminal itself (`runtime`).
//!
//! From the top: one line that says what is going on, the question if one is shown, the sessions
//! where there is room, the transcript, what is being typed, and one line of keys. The real cursor
//! stands where the person's attention belongs, because a screen reader and a braille display follow
//! it. Nothing is told by colour or by a glyph alone.

mod choices;
mod help;
mod look;
mod question;
mod rows;
mod sessions;
mod times;
mod transcript;

pub use look::Look;
pub use times::stale_at;

use jiff::tz::TimeZone;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::announce::{About, Announcement, Arg, takes_two_steps, wrap};
use crate::app::{App, Drawn};
use crate::keys::Mode;
use crate::protocol::{Now, ResponseKind};
use crate::session::{Prompt, Question};

/// From this height on the sessions have rows beside a question.
const ROOM_FOR_SESSIONS: u16 = 18;
/// From this height on there is a row for what runs.
const ROOM_FOR_ONE: u16 = 5;

/// Draws everything, puts the cursor where attention belongs, and gives which part of the shown
/// question is in sight.
pub fn draw(
    frame: &mut Frame<'_>,
    app: &App,
    now: Now,
    zone: &TimeZone,
    look: Look,
) -> Option<Drawn> {
    let mut area = frame.area();
    if area.width == 0 || area.height == 0 {
        return None;
    }
    let top = take_top(&mut area, 1);
    let height = keys_height(app, area);
    let keys = take_bottom(&mut area, height);
    frame.render_widget(
        Paragraph::new(Line::styled(headline(app, top.width), look.heading())),
        top,
    );
    draw_keys(frame, app, keys, look);
    if app.mode() == Mode::Help {
        help::draw(frame, app, area, look);
        frame.set_cursor_position(Position::new(area.x, area.y));
        return None;
    }
    let mut cursor = None;
    let mut drawn = None;
    if matches!(
        app.mode(),
        Mode::Editing(_) | Mode::Searching | Mode::Choosing(..)
    ) {
        let line = take_bottom(&mut area, 1);
        cursor = Some(draw_editor(frame, app, line, look));
    }
    let crowded = app.shown().is_some() && area.height <= question::SMALL;
    let asks = |told: &Announcement| matches!(told.about, Some(About::Asks(_)));
    if let Some(reply) = app
        .answers()
        .last()
        .filter(|told| !asks(told))
        .map(|told| told.shown())
        && (crowded || app.is_looking_back())
    {
        // Where the last lines of the transcript are not in sight, what hearken answers to a key still
        // has a place. A second step shows all that is accepted.
        // No more of a long one than could fill the screen.
        let reply: String = reply
            .chars()
            .take(usize::from(area.width) * usize::from(area.height))
            .collect();
        let rows = rows::own(&reply, area.width, look.heading());
        let most = match app.mode() {
            Mode::Confirming(_) => area.height.saturating_sub(1),
            // The choices themselves matter more, and what the keys do stands below.
            Mode::Choosing(..) => 1,
            Mode::Watching
            | Mode::Editing(_)
            | Mode::Searching
            | Mode::Help
            | Mode::Quitting
            | Mode::Leaving(_) => area.height.div_ceil(2),
        };
        let height = u16::try_from(rows.len()).unwrap_or(u16::MAX).min(most);
        let place = take_bottom(&mut area, height);
        rows::draw_from(frame, rows, place);
    }
    if app.shown().is_some() {
        let (rest, at, part) = question::draw(frame, app, now, area, look);
        area = rest;
        cursor = cursor.or(Some(at));
        drawn = part;
    }
    let room = match app.shown() {
        // On a small screen one row says who does what; beside a question there is none for that.
        None => (area.height / 4).max(u16::from(area.height >= ROOM_FOR_ONE)),
        Some(_) if frame.area().height >= ROOM_FOR_SESSIONS => area.height / 4,
        Some(_) => 0,
    };
    let timed = app.shown().is_none();
    let running = sessions::rows(app, now, area.width, usize::from(room), timed, look);
    let height = u16::try_from(running.len()).unwrap_or(u16::MAX).min(room);
    let place = take_top(&mut area, height);
    rows::draw(frame, &running, place);
    let at = transcript::draw(frame, app, zone, area, look);
    // While somebody looks back beside a question, that is where they are.
    let focus = match (app.mode(), app.is_looking_back()) {
        (Mode::Watching, true) => Some(at),
        _ => None,
    };
    frame.set_cursor_position(focus.or(cursor).unwrap_or(at));
    drawn
}

/// Takes rows from the top of an area.
fn take_top(area: &mut Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    let taken = Rect { height, ..*area };
    area.y += height;
    area.height -= height;
    taken
}

/// Takes rows from the bottom of an area.
fn take_bottom(area: &mut Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    area.height -= height;
    Rect {
        y: area.y + area.height,
        height,
        ..*area
    }
}

/// Says in one line what is going on: open questions first, then agents, then what is not as usual, as far
/// as there is room for whole parts.
fn headline(app: &App, width: u16) -> String {
    use unicode_width::UnicodeWidthStr;
    let open = app
        .questions()
        .iter()
        .filter(|prompt| prompt.is_answerable())
        .count();
    let running = app
        .sessions()
        .iter()
        .filter(|session| !session.is_ended())
        .count();
    let mut parts = Vec::new();
    if app.is_looking_back() {
        let args = [("n", Arg::own(app.newer()))];
        parts.push(app.phrases().text("headline.review", &args));
    }
    if open > 0 {
        parts.push(
            app.phrases()
                .text("headline.questions", &[("n", Arg::own(open))]),
        );
    }
    parts.push(
        app.phrases()
            .text("headline.sessions", &[("n", Arg::own(running))]),
    );
    let down = app.links().iter().filter(|link| link.is_down()).count();
    if down > 0 {
        parts.push(
            app.phrases()
                .text("headline.down", &[("n", Arg::own(down))]),
        );
    }
    parts.push(app.voice_words());
    let mut line = "hearken".to_owned();
    for part in parts {
        if line.width() + 2 + part.width() > usize::from(width) {
            break;
        }
        line.push_str("  ");
        line.push_str(&part);
    }
    line
}

/// Lists the keys that matter now, as many as fit.
fn key_words(app: &App) -> Vec<&'static str> {
    match app.mode() {
        Mode::Help => vec!["keys.help"],
        Mode::Editing(_) => vec!["keys.editing"],
        Mode::Searching => vec!["keys.searching"],
        Mode::Choosing(..) => vec!["keys.choosing"],
        Mode::Confirming(_) => vec!["keys.confirming"],
        Mode::Quitting => vec!["keys.quitting"],
        Mode::Leaving(_) => vec!["keys.leaving"],
        Mode::Watching => {
            let mut words = app
                .shown()
                .map(|(_, prompt)| answer_keys(prompt))
                .unwrap_or_default();
            if app
                .questions()
                .iter()
                .filter(|prompt| prompt.is_answerable())
                .count()
                > 1
            {
                words.push("keys.more");
            }
            words.push("keys.always");
            words
        }
    }
}

fn answer_keys(prompt: &Prompt) -> Vec<&'static str> {
    match &prompt.question {
        Question::Confirmation(_) if takes_two_steps(prompt) => vec!["keys.confirmation_twice"],
        Question::Confirmation(_) => vec!["keys.confirmation"],
        Question::Clarification(asked) => {
            let mut words: Vec<&'static str> = asked
                .accepted_response_kinds
                .iter()
                .map(|kind| match kind {
                    ResponseKind::MultipleChoice => "keys.choice",
                    ResponseKind::YesNo => "keys.yes_no",
                    ResponseKind::Freetext | ResponseKind::Numeric | ResponseKind::Other(_) => {
                        "keys.text"
                    }
                })
                .collect();
            words.dedup();
            words
        }
    }
}

/// Gives the keys that matter now, none of them apart from what it does.
fn key_lines(app: &App, width: u16) -> Vec<String> {
    use unicode_width::UnicodeWidthStr;
    let width = usize::from(width);
    let mut lines: Vec<String> = Vec::new();
    for words in key_words(app) {
        let words = app.phrases().text(words, &[]);
        // The phrases hold several keys, two spaces between them.
        for key in words.split(BETWEEN_KEYS).filter(|key| !key.is_empty()) {
            match lines.last_mut() {
                Some(line) if line.width() + BETWEEN_KEYS.len() + key.width() <= width => {
                    line.push_str(BETWEEN_KEYS);
                    line.push_str(key);
                }
                Some(_) | None => lines.extend(wrap(key, width)),
            }
        }
    }
    lines
}

/// What stands between two keys.
const BETWEEN_KEYS: &str = "  ";

fn keys_height(app: &App, area: Rect) -> u16 {
    let lines = key_lines(app, area.width).len();
    u16::try_from(lines)
        .unwrap_or(1)
        .clamp(1, (area.height / 4).max(1))
}

fn draw_keys(frame: &mut Frame<'_>, app: &App, area: Rect, look: Look) {
    let lines: Vec<Line<'_>> = key_lines(app, area.width)
        .into_iter()
        .map(|line| Line::styled(line, look.quiet()))
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// Draws what is being typed, and gives the cursor's place.
fn draw_editor(frame: &mut Frame<'_>, app: &App, area: Rect, look: Look) -> Position {
    use unicode_width::UnicodeWidthStr;
    let label = app.phrases().text(app.editor_label(), &[]);
    let (text, cursor) = match app.mode() {
        Mode::Choosing(_, 0) => (String::new(), 0),
        Mode::Choosing(_, so_far) => (so_far.to_string(), so_far.to_string().len()),
        Mode::Watching
        | Mode::Confirming(_)
        | Mode::Editing(_)
        | Mode::Searching
        | Mode::Quitting
        | Mode::Leaving(_)
        | Mode::Help => {
            let (text, cursor) = app.editor();
            (text.to_owned(), cursor)
        }
    };
    let before: String = text.chars().take(cursor).collect();
    let room = usize::from(area.width).saturating_sub(label.width() + 2);
    // The part around the cursor is shown when the answer is longer than the line.
    let skipped = before.width().saturating_sub(room);
    let mut left = 0;
    let visible: String = text
        .chars()
        .skip_while(|c| {
            let hidden = left < skipped;
            left += unicode_width::UnicodeWidthChar::width(*c).unwrap_or(0);
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

#[cfg(test)]
mod tests;
