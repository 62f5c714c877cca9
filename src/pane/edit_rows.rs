//! What an edit changes: its places with line numbers, signs and the changed words, below its question.
//!
//! Responsibilities: as many rows as fit, from the place that was read last, and how far they reach. Not here: which
//! place that is (`app`), what changed in a line (`announce`).
//!
//! # Mental model
//! What does not fit is not shown, and is reported as such: turning the page continues with the first line that was not
//! drawn. A line that fits nowhere is cut, and continues in the same way.

use unicode_width::UnicodeWidthStr;

use crate::announce::{Arg, ChangeInSight, ChangeItem, ChangePlace, LineInSight};
use crate::app::VisibleChange;
use crate::keys::Mode;
use crate::session::Question;

use super::View;
use super::text_rows::{self, PaneRow};

/// The fewest rows in which a change can be made out: its head, three lines and how many follow.
pub(super) const FEWEST: usize = 5;

/// The fewest rows with room for a head; with fewer, the lines themselves matter more.
const HEADED: usize = 4;

/// The rows with room for a head also where the same file goes on.
const ROOMY: usize = 8;

/// The rows of a change, and which stretch of it they show.
#[derive(Default)]
pub(super) struct ChangeRows {
    pub(super) rows: Vec<PaneRow>,
    pub(super) drawn: Option<VisibleChange>,
}

/// Returns what a question changes from the place that was read last; before any was read, only the first place. Empty
/// if it changes nothing that is known, or if there is no room.
pub(super) fn rows(view: View<'_>, question: &Question, width: u16, room: usize) -> ChangeRows {
    let places = view.app.announcer().changes_in_sight(&question.attached);
    let read = view.app.change_read();
    let from = read.map_or(ChangePlace::default(), |read| read.from);
    if places.is_empty() {
        return ChangeRows::default();
    }
    if room == 0 || read.is_none() && room < FEWEST {
        return ChangeRows {
            rows: Vec::new(),
            drawn: read.map(|_| VisibleChange { from, to: from }),
        };
    }
    let lines = places.iter().flat_map(|place| &place.items);
    let numbers = lines.filter_map(|item| match item {
        ChangeItem::Line(line) => line.number,
        ChangeItem::LeftOut(_) => None,
    });
    let digits = numbers.max().unwrap_or(0).to_string().len().max(2);
    let count: usize = places.iter().map(|place| place.items.len()).sum();
    let last = match read {
        Some(_) => count,
        None => places.first().map_or(0, |place| place.items.len()),
    };
    let is_headed = room >= HEADED;
    let lay_out = |room: usize| {
        let mut laid = EditLayout {
            rows: Vec::new(),
            from,
            to: from,
        };
        let mut first = 0;
        for place in &places {
            let begin = first;
            first += place.items.len();
            if first <= from.item || begin >= last || begin > laid.to.item {
                continue;
            }
            let part = read
                .filter(|_| laid.rows.is_empty())
                .map(|read| (read.part + 1, read.parts));
            let head = head(view, place, part, width);
            // On a small screen, a file that goes on was named before.
            let goes_on = laid.rows.is_empty() && room < ROOMY && begin < from.item;
            match laid.rows.is_empty() {
                true if is_headed && !goes_on => {
                    // The file matters more than the numbers before it.
                    let most = room / 3;
                    let head = match head.len() > most {
                        true => self::head(view, place, None, width),
                        false => head,
                    };
                    laid.rows = text_rows::fitting(head, most, width);
                }
                true => {}
                // A place begins where there is room for some of it.
                false if laid.rows.len() + FEWEST > room => break,
                false => laid.rows.extend(head),
            }
            for (at, item) in place.items.iter().enumerate() {
                let at = begin + at;
                if (from.item..=laid.to.item).contains(&at) {
                    let byte = if at == from.item { from.byte } else { 0 };
                    let place = ChangePlace { item: at, byte };
                    laid.add(view, question, item, place, (digits, width, room));
                }
            }
        }
        if laid.to.item >= count {
            laid.to = ChangePlace::END;
        }
        laid
    };
    let mut laid = lay_out(room);
    if laid.to != ChangePlace::END && room > 1 {
        // The last row says how many follow.
        laid = lay_out(room - 1);
        let left = count.saturating_sub(laid.to.item);
        let args = [("n", Arg::own(left))];
        // In other modes, the key that turns the page has another meaning.
        let turns = view.app.mode() == Mode::Watching;
        let key = match turns {
            true if width < text_rows::TINY => "pane.change.more.short",
            true => "pane.change.more",
            false => "pane.change.left",
        };
        let words = view.app.phrases().text(key, &args);
        let more = text_rows::own(&words, width, view.look.quiet());
        laid.rows.extend(text_rows::fitting(more, 1, width));
    }
    ChangeRows {
        rows: laid.rows,
        drawn: Some(VisibleChange { from, to: laid.to }),
    }
}

/// The rows so far, and the first place that is not on them.
struct EditLayout {
    rows: Vec<PaneRow>,
    from: ChangePlace,
    to: ChangePlace,
}

impl EditLayout {
    /// Adds an item from a place in it, if it fits; the first one may be cut.
    fn add(
        &mut self,
        view: View<'_>,
        question: &Question,
        item: &ChangeItem,
        place: ChangePlace,
        (digits, width, room): (usize, u16, usize),
    ) {
        let (mut rows, text) = match item {
            ChangeItem::Line(line) => {
                let text = text_from(&line.text, place.byte);
                let rows = line_rows(view, question, line, place.byte, digits, width);
                (rows, text)
            }
            ChangeItem::LeftOut(words) => {
                let text = text_from(words, place.byte);
                (text_rows::own(text, width, view.look.own()), text)
            }
        };
        let next = ChangePlace {
            item: place.item + 1,
            byte: 0,
        };
        let left = room.saturating_sub(self.rows.len());
        // A long line is cut rather than half of the rows left empty.
        let is_cut = self.to == self.from || left * 2 > room;
        if rows.len() <= left {
            self.to = next;
        } else if is_cut && left > 0 {
            rows.truncate(left);
            let margin = match item {
                ChangeItem::Line(_) => margin_width(digits, width),
                ChangeItem::LeftOut(_) => 0,
            };
            let behind = text_rows::behind(&rows, margin, text);
            let byte = place.byte + behind;
            self.to = match behind < text.len() {
                true => ChangePlace { byte, ..place },
                false => next,
            };
        } else {
            return;
        }
        self.rows.extend(rows);
    }
}

/// Returns a text from one of its bytes on.
fn text_from(text: &str, byte: usize) -> &str {
    text.get(text.floor_char_boundary(byte)..)
        .unwrap_or_default()
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

/// Returns a line from a byte of it, with its number and its sign in the margin; its further rows have an empty margin.
fn line_rows(
    view: View<'_>,
    question: &Question,
    line: &LineInSight,
    byte: usize,
    digits: usize,
    width: u16,
) -> Vec<PaneRow> {
    let number = line
        .number
        .map_or(String::new(), |number| number.to_string());
    let lead = lead(width);
    let margin = format!("{lead}{number:>digits$} {} ", line.sign);
    let empty = " ".repeat(margin.width());
    let inside = usize::from(width).saturating_sub(margin.width()).max(1);
    let inside = u16::try_from(inside).unwrap_or(width);
    let style = view.look.changed_line(line.sign);
    let text = text_from(&line.text, byte);
    let before = line.text.len() - text.len();
    let mut rows = text_rows::verbatim(text, question.direction, inside, style);
    let changed = view.look.changed_words();
    let behind = |at: usize| at.saturating_sub(before);
    let runs: Vec<_> = line
        .changed
        .iter()
        .map(|part| (behind(part.start)..behind(part.end), changed))
        .collect();
    text_rows::paint(&mut rows, "", text, &runs);
    text_rows::led_by(rows, if before == 0 { &margin } else { &empty }, &empty)
}

/// Returns what is before the number of a line.
fn lead(width: u16) -> &'static str {
    if width < text_rows::TINY { " " } else { "  " }
}

/// Returns the width of the margin before a line.
fn margin_width(digits: usize, width: u16) -> usize {
    // The sign is between two spaces.
    lead(width).len() + digits + 3
}
