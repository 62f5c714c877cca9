//! The full face: a pane in the alternate screen. Reads the app, never changes it.
//!
//! Responsibilities: laying out the app's state on any screen from 40 by 10 upwards. Not here: what is said
//! or asked, and in which words (`app`, `announce`); the terminal itself (`runtime`).
//!
//! From the top: one row with what is going on, the question if one is shown, the agents, the transcript,
//! the response to the last key, the line being typed, a status row, and the keys that matter now. They are
//! stacked, because screen readers and braille displays read by rows; only a wide screen has the agents and their
//! plan in a column beside the work (`side`). A region begins with a row of words, underlined to the edge, and has no
//! frame. The real cursor is where the person's
//! attention belongs. Nothing is conveyed by colour or by a glyph alone.
//!
//! On a small screen, a question takes all but the keys and a row for responses: its pages stay put,
//! whatever else is said (`question_block`).

mod asked_rows;
mod choices;
mod click_places;
mod edit_rows;
mod editor;
mod ended_calls;
mod guide;
mod headline;
mod help;
mod highlight;
mod kept_edits;
mod key_hints;
mod look;
mod markdown;
mod plan_rows;
mod question_block;
mod question_head;
mod reply_region;
mod reviewed_entry;
mod sample;
mod search_hits;
mod session_rows;
mod side;
mod squeezed_question;
mod text_rows;
mod times;
mod transcript;

pub use click_places::ClickPlaces;
pub use highlight::load_grammars;
pub use look::Look;
pub use sample::sample;
pub use times::stale_at;

use jiff::tz::TimeZone;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::widgets::Clear;

use crate::app::{App, QuestionVisibility};
use crate::keys::Mode;
use crate::protocol::Now;

use help::HelpRows;
use text_rows::PaneRow;

/// The smallest height with headed regions.
const ROOM_FOR_REGIONS: u16 = 18;
/// The smallest height with an empty row between two regions.
const ROOM_FOR_GAPS: u16 = 28;
/// The smallest height with a row for running sessions.
const ROOM_FOR_ONE: u16 = 5;
/// The fewest rows below which a row for the plan takes away too much of the transcript.
const ROOM_FOR_PLAN: u16 = 8;
/// The rows kept next to a question for the transcript and for responses to keys.
const BESIDE: u16 = 4;

/// The inputs of a drawing.
#[derive(Clone, Copy)]
struct View<'a> {
    app: &'a App,
    now: Now,
    zone: &'a TimeZone,
    look: Look,
    /// Whether there is room for regions.
    regions: bool,
    /// Whether the transcript is visible.
    has_transcript: bool,
    /// Whether the agents are in a column of their own.
    has_side: bool,
    /// What clicks are meant for.
    places: &'a ClickPlaces,
}

/// Draws everything, puts the cursor where attention belongs, and returns how much of the shown question is
/// visible.
pub fn draw(
    frame: &mut Frame<'_>,
    app: &App,
    now: Now,
    zone: &TimeZone,
    look: Look,
) -> QuestionVisibility {
    draw_with_places(frame, app, now, zone, look, &ClickPlaces::default())
}

/// Draws it, and notes what clicks on it are meant for.
pub fn draw_with_places(
    frame: &mut Frame<'_>,
    app: &App,
    now: Now,
    zone: &TimeZone,
    look: Look,
    places: &ClickPlaces,
) -> QuestionVisibility {
    let whole = frame.area();
    if whole.width == 0 || whole.height == 0 {
        return QuestionVisibility::SideQuestion;
    }
    highlight::begin();
    let regions = whole.height >= ROOM_FOR_REGIONS;
    let view = View {
        app,
        now,
        zone,
        look,
        regions,
        has_transcript: regions || app.shown().is_none(),
        has_side: false,
        places,
    };
    let mut area = whole;
    if app.mode() == Mode::Help {
        let first = take_top(&mut area, 1);
        let keys = take_keys(view, &mut area);
        draw_keys(frame, view, keys, QuestionVisibility::SideQuestion);
        let rows = help::draw(frame, view, area);
        draw_first(frame, view, first, rows);
        frame.set_cursor_position(Position::new(area.x, area.y));
        return QuestionVisibility::SideQuestion;
    }
    if regions || app.shown().is_none() {
        let first = take_top(&mut area, 1);
        draw_first(frame, view, first, None);
    }
    let keys = take_keys(view, &mut area);
    if regions {
        let place = take_bottom(&mut area, 1);
        let status = headline::status(app, place.width);
        text_rows::draw(frame, &[PaneRow::own(status, look.quiet())], place);
        gap_below(&mut area, whole);
    }
    let beside = side::take(view, &mut area);
    let view = View {
        has_side: beside.is_some(),
        ..view
    };
    if let Some(place) = beside {
        side::draw(frame, view, place, app.shown().is_none());
    }
    let showing = if app.shown().is_some() {
        draw_beside_question(frame, view, area, whole)
    } else {
        draw_without_question(frame, view, area, whole);
        QuestionVisibility::SideQuestion
    };
    draw_keys(frame, view, keys, showing);
    showing
}

/// Draws the question, and whatever fits next to it.
fn draw_beside_question(
    frame: &mut Frame<'_>,
    view: View<'_>,
    mut area: Rect,
    whole: Rect,
) -> QuestionVisibility {
    let (app, look) = (view.app, view.look);
    let Some((shown, question)) = app.shown() else {
        return QuestionVisibility::SideQuestion;
    };
    // The place does not depend on typing or responses, so that no page is divided anew.
    let beside = match app.mode() {
        _ if view.regions => BESIDE,
        // Nothing is typed beside the second step, and what is confirmed needs the row.
        Mode::Confirming(_) => 0,
        _ => 1.min(area.height.saturating_sub(2)),
    };
    let place = Rect {
        height: area.height - beside,
        ..area
    };
    let block = question_block::block(view, shown, question, place);
    let height = u16::try_from(block.rows.len()).unwrap_or(u16::MAX);
    let place = take_top(&mut area, height.min(place.height));
    text_rows::draw(frame, &block.rows, place);
    let row = u16::try_from(block.focus).unwrap_or(u16::MAX);
    let row = row.min(place.height.saturating_sub(1));
    let mut cursor = Position::new(place.x, place.y + row);
    let mut showing = block.showing;
    if editor::is_open(app) {
        let line = take_bottom(&mut area, 1);
        let at = editor::draw(frame, app, line, look);
        if !matches!(app.mode(), Mode::Choosing(..)) {
            cursor = at;
        }
    }
    if !matches!(app.mode(), Mode::Confirming(_)) {
        let width = area.width.min(text_rows::WIDEST);
        let mut rows = reply_region::rows(view, width, look.heading());
        if let Some(mark) = headline::looking_back(app)
            && (app.hit().is_none() || rows.is_empty())
            && !view.regions
        {
            let mark = headline::cut(&mark, area.width);
            rows.insert(0, PaneRow::head(mark, look.alert()));
        }
        // On a small screen, a longer response temporarily covers a part of the question; but not before the question
        // was visible, and then what it covers does not count as shown.
        let is_room = rows.len() <= usize::from(area.height);
        if !is_room && !view.regions && !app.wants_sight() {
            showing = QuestionVisibility::SideQuestion;
            area.y = place.y;
            area.height += place.height;
            frame.render_widget(Clear, area);
            let kept = match app.mode() {
                // The choice in focus stays as well.
                Mode::Choosing(..) => choices::beside(view, question, area, rows.len()),
                _ => squeezed_question::beside(view, question, area, rows.len()),
            };
            let height = u16::try_from(kept.len()).unwrap_or(u16::MAX);
            let place = take_top(&mut area, height);
            text_rows::draw(frame, &kept, place);
        }
        let height = u16::try_from(rows.len()).unwrap_or(u16::MAX);
        let answer = take_bottom(&mut area, height);
        if answer.height > 0 {
            gap_below(&mut area, whole);
        }
        let rows = text_rows::fitting(rows, usize::from(answer.height), width);
        text_rows::draw(frame, &rows, answer);
        if app.mode() == Mode::Watching && answer.height > 0 {
            cursor = Position::new(answer.x, answer.y);
        }
    }
    // A person looking back needs the rows for what they look at.
    if view.regions && !app.is_looking_back() {
        gap_above(&mut area, whole);
        draw_agents(frame, view, &mut area, whole, false);
        draw_plan(frame, view, &mut area, whole);
    }
    let at = draw_transcript(frame, view, area);
    // A person looking back next to a question has their place there.
    if let (Mode::Watching, true, Some(at)) = (app.mode(), app.is_looking_back(), at) {
        cursor = at;
    }
    frame.set_cursor_position(cursor);
    showing
}

/// Draws agents, transcript and responses over the whole area.
fn draw_without_question(frame: &mut Frame<'_>, view: View<'_>, mut area: Rect, whole: Rect) {
    let (app, look) = (view.app, view.look);
    let mut cursor = None;
    if editor::is_open(app) {
        let line = take_bottom(&mut area, 1);
        cursor = Some(editor::draw(frame, app, line, look));
    }
    draw_agents(frame, view, &mut area, whole, true);
    draw_plan(frame, view, &mut area, whole);
    let width = area.width.min(text_rows::WIDEST);
    let rows = reply_region::rows(view, width, look.heading());
    let most = area.height.div_ceil(2);
    let height = u16::try_from(rows.len()).unwrap_or(u16::MAX).min(most);
    let place = take_bottom(&mut area, height);
    let rows = text_rows::fitting(rows, usize::from(height), width);
    text_rows::draw(frame, &rows, place);
    if height > 0 {
        gap_below(&mut area, whole);
        if !app.is_looking_back() {
            cursor = cursor.or(Some(Position::new(place.x, place.y)));
        }
    }
    let at = draw_transcript(frame, view, area);
    frame.set_cursor_position(cursor.or(at).unwrap_or(Position::new(area.x, area.y)));
}

fn draw_first(frame: &mut Frame<'_>, view: View<'_>, place: Rect, help: Option<HelpRows>) {
    let first = headline::first(view, place.width, help);
    text_rows::draw(frame, &[PaneRow::own(first, view.look.heading())], place);
}

/// Returns the keys, beside what is drawn of a question. On a small screen, its own come first.
fn key_units(view: View<'_>, showing: QuestionVisibility) -> Vec<String> {
    let mut units = if view.regions || view.app.mode() != Mode::Watching {
        Vec::new()
    } else {
        key_hints::of_question(view.app, showing)
    };
    units.extend(key_hints::of_mode(view.app));
    units
}

/// Takes the place of the keys. On a small screen, a question has a fixed number of rows for them.
fn take_keys(view: View<'_>, area: &mut Rect) -> Rect {
    let most = usize::from((area.height / 4).max(1));
    let height = if view.app.shown().is_some() && !view.regions {
        most.min(if area.width < text_rows::NARROW { 2 } else { 1 })
    } else {
        let units = key_units(view, QuestionVisibility::SideQuestion);
        let lines = key_hints::lines("", &units, area.width);
        lines.len().clamp(1, most)
    };
    take_bottom(area, u16::try_from(height).unwrap_or(1))
}

/// Draws as many keys as fit.
fn draw_keys(frame: &mut Frame<'_>, view: View<'_>, place: Rect, showing: QuestionVisibility) {
    let units = key_units(view, showing);
    let lines = key_hints::fitting(view.app, units, place);
    key_hints::draw(frame, lines, place, view.look);
}

/// Draws the running sessions, if any, on at most a quarter of the screen.
fn draw_agents(frame: &mut Frame<'_>, view: View<'_>, area: &mut Rect, whole: Rect, timed: bool) {
    if view.has_side || view.regions && session_rows::is_in_headline(view.app) {
        return;
    }
    let share = if view.regions {
        whole.height / 4
    } else {
        area.height / 4
    };
    let room = share
        .max(u16::from(whole.height >= ROOM_FOR_ONE))
        .min(area.height.saturating_sub(1));
    let running = session_rows::rows(
        view,
        area.width.min(text_rows::WIDEST),
        usize::from(room),
        timed,
    );
    if running.is_empty() {
        return;
    }
    if view.regions {
        // A head alone is useless.
        if area.height < 2 {
            return;
        }
        if !session_rows::is_named_above(view, timed) {
            draw_head(frame, view, "pane.agents", area);
        }
    }
    let height = u16::try_from(running.len()).unwrap_or(u16::MAX);
    let place = take_top(area, height);
    view.places.note(&running, place);
    text_rows::draw(frame, &running, place);
    if view.regions {
        gap_above(area, whole);
    }
}

/// Draws the step of the plan that is under way, if there is room and no column that has the plan.
fn draw_plan(frame: &mut Frame<'_>, view: View<'_>, area: &mut Rect, whole: Rect) {
    if !view.regions || view.has_side || area.height < ROOM_FOR_PLAN {
        return;
    }
    let rows = plan_rows::row(view, area.width.min(text_rows::WIDEST));
    if !rows.is_empty() {
        let place = take_top(area, 1);
        text_rows::draw(frame, &rows, place);
        gap_above(area, whole);
    }
}

/// Draws the transcript under its head, which says what is being viewed, and returns the position of its
/// focus.
fn draw_transcript(frame: &mut Frame<'_>, view: View<'_>, mut area: Rect) -> Option<Position> {
    if !view.has_transcript {
        return None;
    }
    if view.regions && area.height > 1 {
        match headline::looking_back(view.app) {
            Some(mark) => {
                let place = take_top(&mut area, 1);
                let mark = headline::cut(&mark, place.width);
                text_rows::draw(frame, &[PaneRow::head(mark, view.look.alert())], place);
            }
            None => draw_head(frame, view, "pane.transcript", &mut area),
        }
    }
    (area.height > 0).then(|| transcript::draw(frame, view, area))
}

fn draw_head(frame: &mut Frame<'_>, view: View<'_>, key: &str, area: &mut Rect) {
    let place = take_top(area, 1);
    let words = view.app.phrases().text(key, &[]);
    text_rows::draw(frame, &[PaneRow::head(words, view.look.region())], place);
}

/// Leaves an empty row above the remaining area, if there is room.
fn gap_above(area: &mut Rect, whole: Rect) {
    if whole.height >= ROOM_FOR_GAPS && area.height > 1 {
        take_top(area, 1);
    }
}

/// Leaves an empty row below the remaining area, if there is room.
fn gap_below(area: &mut Rect, whole: Rect) {
    if whole.height >= ROOM_FOR_GAPS && area.height > 1 {
        take_bottom(area, 1);
    }
}

/// Cuts rows off the top of an area, and returns them.
fn take_top(area: &mut Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    let taken = Rect { height, ..*area };
    area.y += height;
    area.height -= height;
    taken
}

/// Cuts rows off the bottom of an area, and returns them.
fn take_bottom(area: &mut Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    area.height -= height;
    Rect {
        y: area.y + area.height,
        height,
        ..*area
    }
}

#[cfg(test)]
mod tests;
