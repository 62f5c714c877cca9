//! What an edit changes: its places with line numbers, signs and the changed words, below its question.
//!
//! Responsibilities: as many rows as fit, from the part that was read last. Not here: which part that is (`app`), what
//! changed in a line (`announce`).

use unicode_width::UnicodeWidthStr;

use crate::announce::{Arg, ChangeInSight, LineInSight};
use crate::session::Question;

use super::View;
use super::text_rows::{self, PaneRow};

/// The fewest rows in which a change can be made out: its head, three lines and how many follow.
pub(super) const FEWEST: usize = 5;

/// Returns the rows of what a question changes, from the part that was read last; before any was read, of the first
/// place alone. Empty if it changes nothing that is known, or if there is no room.
pub(super) fn rows(view: View<'_>, question: &Question, width: u16, room: usize) -> Vec<PaneRow> {
    let places = view.app.announcer().changes_in_sight(&question.attached);
    if places.is_empty() || room == 0 {
        return Vec::new();
    }
    if room < FEWEST {
        let words = view.app.phrases().text("pane.change.hidden", &[]);
        return text_rows::fitting(
            text_rows::own(&words, width, view.look.quiet()),
            room,
            width,
        );
    }
    let read = view.app.change_read();
    let begins = read.and_then(|read| {
        let parts = view.app.announcer().places_of_parts(&question.attached);
        parts.get(read.part).copied()
    });
    let (first, number) = begins.unwrap_or((0, 0));
    let first = first.min(places.len() - 1);
    let last = match read {
        Some(_) => places.len(),
        None => 1,
    };
    let shown = places.get(first..last).unwrap_or_default();
    let digits = shown.iter().flat_map(|place| &place.lines);
    let digits = digits.filter_map(|line| line.number).max().unwrap_or(0);
    let digits = digits.to_string().len().max(2);
    let mut all: Vec<PaneRow> = Vec::new();
    let mut left = 0;
    for (at, place) in shown.iter().enumerate() {
        let from = match at {
            0 => place.lines.iter().position(|line| line.at >= number),
            _ => Some(0),
        };
        // The last row says how many follow.
        if at > 0 && all.len() + FEWEST > room {
            left += place.lines.len();
            continue;
        }
        let part = read
            .filter(|_| at == 0)
            .map(|read| (read.part + 1, read.parts));
        all.extend(head(view, place, part, width));
        for line in place.lines.iter().skip(from.unwrap_or(0)) {
            let rows = line_rows(view, question, line, digits, width);
            if left > 0 || all.len() + rows.len() >= room {
                left += 1;
            } else {
                all.extend(rows);
            }
        }
        if place.left_out > 0 && left == 0 {
            let args = [("n", Arg::own(place.left_out))];
            let words = view.app.phrases().text("reading.left_out", &args);
            all.extend(text_rows::own(&words, width, view.look.own()));
        }
    }
    let hidden = places.get(last..).unwrap_or_default();
    left += hidden.iter().map(|place| place.lines.len()).sum::<usize>();
    all.truncate(room);
    if left > 0 {
        all.truncate(room - 1);
        let args = [("n", Arg::own(left))];
        let words = view.app.phrases().text("pane.change.more", &args);
        all.extend(text_rows::fitting(
            text_rows::own(&words, width, view.look.quiet()),
            1,
            width,
        ));
    }
    all
}

/// Returns the row above a place: which one of how many, and its file.
fn head(
    view: View<'_>,
    place: &ChangeInSight<'_>,
    part: Option<(usize, usize)>,
    width: u16,
) -> Vec<PaneRow> {
    let part = part.filter(|(_, parts)| *parts > 1);
    let number = |n: Option<usize>| n.map_or(Arg::own(""), Arg::own);
    let new = match place.is_new {
        true => view.app.phrases().text("pane.change.new", &[]),
        false => String::new(),
    };
    let args = [
        ("n", number(Some(place.n).filter(|_| place.count > 1))),
        ("count", Arg::own(place.count)),
        ("part", number(part.map(|(part, _)| part))),
        ("parts", number(part.map(|(_, parts)| parts))),
        ("new", Arg::Own(new)),
    ];
    let label = format!("{} ", view.app.phrases().text("pane.change", &args));
    text_rows::hanging(&label, place.path, "", None, width, view.look.own())
}

/// Returns a line with its number and its sign in the margin; its further rows have an empty margin.
fn line_rows(
    view: View<'_>,
    question: &Question,
    line: &LineInSight,
    digits: usize,
    width: u16,
) -> Vec<PaneRow> {
    let number = line
        .number
        .map_or(String::new(), |number| number.to_string());
    let margin = format!("  {number:>digits$} {} ", line.sign);
    let empty = " ".repeat(margin.width());
    let inside = usize::from(width).saturating_sub(margin.width()).max(1);
    let inside = u16::try_from(inside).unwrap_or(width);
    let style = view.look.changed_line(line.sign);
    let mut rows = text_rows::verbatim(&line.text, question.direction, inside, style);
    let changed = view.look.changed_words();
    let runs: Vec<_> = line
        .changed
        .iter()
        .map(|part| (part.clone(), changed))
        .collect();
    text_rows::paint(&mut rows, "", &line.text, &runs);
    text_rows::led_by(rows, &margin, &empty)
}
