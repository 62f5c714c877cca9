//! The running sessions: who, in which phase and state, and their tools with the time they take.
//!
//! A bar next to a tool or a progress only repeats the words on its row.

use std::time::Duration;

use ratatui::style::Style;

use crate::announce::Arg;
use crate::app::{App, PointerTarget};
use crate::protocol::Now;
use crate::session::{Session, ToolCall};

use super::View;
use super::text_rows::{self, PaneRow};
use super::times;

/// The width of a bar between its brackets, in columns.
const BAR: usize = 10;

/// Returns the rows of the running sessions, at most `room` of them: if there is more than one, the last
/// counts those left out. In the column beside the work, each has the number that goes to it, and that is their order.
/// Without times, nothing in them moves.
pub(super) fn rows(view: View<'_>, width: u16, room: usize, timed: bool) -> Vec<PaneRow> {
    let (app, now, look) = (view.app, view.now, view.look);
    let running = app.sessions().iter().filter(|session| !session.is_ended());
    let numbered = |session| (app.conversation_number(session), session);
    let mut running: Vec<(Option<usize>, &Session)> = running.map(numbered).collect();
    if view.has_side {
        running.sort_by_key(|(number, _)| *number);
    }
    let is_named_above = is_named_above(view, timed);
    let mut all: Vec<PaneRow> = Vec::new();
    for (number, session) in running {
        let mut head = app.session_head(session);
        let first = all.len();
        if let Some(number) = number.filter(|_| view.has_side) {
            let args = [("n", Arg::own(number)), ("words", Arg::Own(head))];
            head = app.phrases().text("conversation", &args);
        }
        // Whole minutes, so that the screen stays still.
        let ran =
            Duration::from_secs(now.monotonic.saturating_sub(session.since).as_secs() / 60 * 60);
        if timed && !ran.is_zero() {
            let args = [("time", Arg::Own(app.announcer().time(ran)))];
            head.push(' ');
            head.push_str(&app.phrases().text("pane.since", &args));
        }
        if !is_named_above {
            all.extend(
                text_rows::own(&head, width, look.text())
                    .into_iter()
                    .take(2),
            );
        }
        if let Some(percent) = percent_of(session) {
            let words = app
                .phrases()
                .text("pane.progress", &[("percent", Arg::own(percent))]);
            let row = format!("{} {words}", bar(percent));
            all.extend(below(&row, width, look.quiet()));
        }
        for call in &session.tools {
            let row = tool(
                app,
                call,
                app.sessions().waits_for_person(session, call),
                timed.then_some(now),
            );
            all.extend(below(&row, width, look.quiet()));
        }
        for row in all.iter_mut().skip(first) {
            row.at = number.map(PointerTarget::Conversation);
        }
    }
    if all.len() > room && room == 1 {
        // One row says who does what; the headline says how many run.
        all.truncate(1);
        if let Some(row) = all.first_mut() {
            row.text = shortened(&row.text, width);
        }
    } else if all.len() > room && room > 0 {
        let left = all.len() - (room - 1);
        all.truncate(room - 1);
        let words = app
            .phrases()
            .text("pane.more_sessions", &[("n", Arg::own(left))]);
        all.push(PaneRow::own(words, look.quiet()));
    }
    all
}

/// Returns whether the rows follow the first row, which names the only agent at work and what it does: without a
/// question between them.
pub(super) fn is_named_above(view: View<'_>, timed: bool) -> bool {
    let running = view.app.sessions().iter();
    let running = running.filter(|session| !session.is_ended()).count();
    view.regions && timed && !view.has_side && running == 1
}

/// Returns whether the first row says all that is known of the only agent at work.
pub(super) fn is_in_headline(app: &App) -> bool {
    let mut running = app.sessions().iter().filter(|session| !session.is_ended());
    match (running.next(), running.next()) {
        (Some(only), None) => only.tools.is_empty() && percent_of(only).is_none(),
        (_, _) => false,
    }
}

/// Returns a row for a session's current activity, indented below it.
fn below(text: &str, width: u16, style: Style) -> Vec<PaneRow> {
    let inside = width.saturating_sub(text_rows::HANG).max(1);
    let rows = text_rows::fitting(text_rows::own(text, inside, style), 1, inside);
    text_rows::set_in(rows, text_rows::HANG)
}

/// Marks a row to show that more follows.
fn shortened(text: &str, width: u16) -> String {
    let whole = text.ends_with('.');
    let rows = crate::announce::wrap(text, usize::from(width.saturating_sub(2)));
    match rows.first() {
        Some(first) if !whole => format!("{first} …"),
        Some(_) | None => text.to_owned(),
    }
}

fn percent_of(session: &Session) -> Option<u64> {
    let percent = session.progress.as_ref()?.percent?;
    // A value beyond the producer's own scale is not progress.
    (0.0..=100.0)
        .contains(&percent)
        .then(|| format!("{percent:.0}").parse().ok())
        .flatten()
}

/// Returns the words for a tool: its name, how long it has run, and the expected time.
fn tool(app: &App, call: &ToolCall, waits: bool, now: Option<Now>) -> String {
    let mut args = vec![("tool", Arg::Tool(call.tool.clone()))];
    let mut drawn = String::new();
    if waits {
        return app.phrases().text("pane.tool.waits", &args);
    }
    if let Some(now) = now {
        let since = times::passed(now.monotonic.saturating_sub(call.since));
        if !since.is_zero() {
            args.push(("since", Arg::Own(app.announcer().short_time(since))));
        }
        if let Some(expected) = call.expected_duration_ms.filter(|ms| *ms > 0) {
            let expected = Duration::from_millis(expected);
            args.push(("expected", Arg::Own(app.announcer().short_time(expected))));
            let percent = since.as_millis().saturating_mul(100) / expected.as_millis().max(1);
            drawn = format!(" {}", bar(u64::try_from(percent.min(100)).unwrap_or(100)));
        }
    }
    format!("{}{drawn}", app.phrases().text("pane.tool", &args))
}

/// Returns a percentage as a bar of plain characters.
pub(super) fn bar(percent: u64) -> String {
    let full = usize::try_from(percent).unwrap_or(100).min(100) * BAR / 100;
    format!("[{}{}]", "#".repeat(full), "-".repeat(BAR - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_part_and_never_longer_than_its_brackets() {
        assert_eq!(bar(0), "[----------]");
        assert_eq!(bar(9), "[----------]");
        assert_eq!(bar(50), "[#####-----]");
        assert_eq!(bar(100), "[##########]");
        assert_eq!(bar(4000), "[##########]");
    }
}
