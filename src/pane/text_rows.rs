//! Rows of text on the screen: broken at words, and correct in both writing directions.
//!
//! Responsibilities: which part of a row is an agent's, and isolating its direction. Not here: the content
//! of a row.
//!
//! # Mental model
//! A terminal that reorders right-to-left text does so row by row, and an agent's text would drag our
//! label, the time and the punctuation along. So the agent's part of each row is isolated (UAX #9, 6.3) in
//! the direction of the whole text, and only if that is right to left: everywhere else, nothing is written
//! that a terminal could show as a sign. The isolates are in the cells of the first and the last
//! character, because a screen has no place for characters without width.

use std::ops::Range;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::announce::direction::{POP, balanced, isolate};
use crate::announce::normalise::balance;
use crate::announce::{wrap, wrap_exact};
use crate::app::PointerTarget;
use crate::protocol::{TextDirection, is_direction_sign};

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PaneRow {
    /// The text.
    pub(super) text: String,
    /// How it looks.
    pub(super) style: Style,
    /// Whether the style continues to the edge.
    pub(super) whole: bool,
    /// The first and last columns of a text with an isolated direction, and the character that begins the
    /// isolate.
    isolated: Option<(u16, u16, char)>,
    /// Parts with a look of their own, laid over that of the row: the first column, the column after the last, the
    /// look.
    marks: Vec<(u16, u16, Style)>,
    /// What a click on the row is meant for.
    pub(super) at: Option<PointerTarget>,
}

impl PaneRow {
    /// Creates a row of the program's own words.
    pub(super) fn own(text: String, style: Style) -> Self {
        Self {
            text,
            style,
            whole: false,
            isolated: None,
            marks: Vec::new(),
            at: None,
        }
    }

    /// Styles a part of the row.
    pub(super) fn mark(&mut self, from: usize, to: usize, style: Style) {
        let column = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
        self.marks.push((column(from), column(to), style));
    }

    /// Returns whether more of the program's own words fit after the row's, which run from left to right.
    pub(super) fn has_room(&self, more: &str, width: u16) -> bool {
        let ends_in_words = self
            .text
            .ends_with(|c: char| c.is_alphanumeric() || c.is_ascii_punctuation());
        let fits = self.text.width() + more.width() <= usize::from(width);
        self.isolated.is_none() && ends_in_words && fits
    }

    /// Creates the head of a region or a question, which continues to the edge.
    pub(super) fn head(text: String, style: Style) -> Self {
        Self {
            whole: true,
            ..Self::own(text, style)
        }
    }
}

/// What precedes the item that a switch would select, and a row with searched words.
const SCANNED: &str = "» ";

/// Marks rows as the item that a switch would select: by a sign and in reverse video. They must leave room for it.
pub(super) fn scanned(rows: Vec<PaneRow>) -> Vec<PaneRow> {
    let reversed = |row: PaneRow| PaneRow {
        style: row.style.add_modifier(Modifier::REVERSED),
        ..row
    };
    let rows = led_by(rows, SCANNED, "  ");
    rows.into_iter().map(reversed).collect()
}

/// Puts the same sign before a row, or room for it.
pub(super) fn led_by_sign(row: PaneRow, has_sign: bool) -> Vec<PaneRow> {
    let lead = if has_sign { SCANNED } else { "  " };
    led_by(vec![row], lead, lead)
}

/// Returns how wide such rows may be.
pub(super) fn beside_sign(width: u16) -> u16 {
    width.saturating_sub(SCANNED.width() as u16)
}

/// Breaks the program's own words into rows.
pub(super) fn own(text: &str, width: u16, style: Style) -> Vec<PaneRow> {
    mixed("", text, "", None, width, style)
}

/// Breaks an agent's text, with our words before and after it, into rows.
///
/// `direction` is what the agent declares for its text (AAEP 11.2).
pub(super) fn mixed(
    before: &str,
    text: &str,
    after: &str,
    direction: Option<TextDirection>,
    width: u16,
    style: Style,
) -> Vec<PaneRow> {
    let text = balance(text);
    let whole = format!("{before}{text}{after}");
    let rows = balanced(wrap(&whole, usize::from(width)));
    isolated(rows, before, &text, direction, style)
}

/// Breaks a text with rows of its own, verbatim.
pub(super) fn exact(
    text: &str,
    direction: Option<TextDirection>,
    width: u16,
    style: Style,
) -> Vec<PaneRow> {
    let text = balance(text);
    let rows = balanced(wrap_exact(&text, usize::from(width)));
    isolated(rows, "", &text, direction, style)
}

/// Breaks a line of code into rows that keep every character, including spaces; a row ends after a space if there is
/// one near its end.
pub(super) fn verbatim(
    text: &str,
    direction: Option<TextDirection>,
    width: u16,
    style: Style,
) -> Vec<PaneRow> {
    let text = balance(text);
    let width = usize::from(width).max(1);
    let mut pieces: Vec<String> = Vec::new();
    let mut rest = &*text;
    loop {
        let mut used = 0;
        let fits = rest.grapheme_indices(true).take_while(|(_, sign)| {
            used += sign.width();
            used <= width
        });
        let end = fits.last().map_or(0, |(at, sign)| at + sign.len());
        let end = match rest.graphemes(true).next() {
            // A sign that is wider than the row.
            Some(first) if end == 0 => first.len(),
            Some(_) | None => end,
        };
        let (piece, behind) = rest.split_at(end);
        let space = piece.rfind(' ').map(|at| at + 1);
        let space = space.filter(|at| !behind.is_empty() && *at > end - end / 3);
        let (piece, behind) = rest.split_at(space.unwrap_or(end));
        pieces.push(piece.to_owned());
        if behind.is_empty() {
            break;
        }
        rest = behind;
    }
    isolated(balanced(pieces), "", &text, direction, style)
}

/// Returns the byte of a text after its first rows, which have margins of a width.
pub(super) fn behind(rows: &[PaneRow], margin: usize, text: &str) -> usize {
    let of_text = rows
        .iter()
        .map(|row| row.text.get(margin..).unwrap_or_default());
    let signs = |text: &str| text.graphemes(true).filter(|sign| counts(sign)).count();
    let drawn: usize = of_text.map(signs).sum();
    let mut all = text.grapheme_indices(true).filter(|(_, sign)| counts(sign));
    all.nth(drawn).map_or(text.len(), |(at, _)| at)
}

/// Marks the agent's columns in rows whose direction is isolated.
fn isolated(
    rows: Vec<String>,
    before: &str,
    text: &str,
    direction: Option<TextDirection>,
    style: Style,
) -> Vec<PaneRow> {
    let Some(begin) = isolate(text, direction) else {
        return rows
            .into_iter()
            .map(|row| PaneRow::own(row, style))
            .collect();
    };
    // Breaking drops spaces and adds isolates: everything else is counted.
    let signs = |text: &str| text.graphemes(true).filter(|sign| counts(sign)).count();
    let from = signs(before);
    let to = from + signs(text);
    let mut counted = 0;
    rows.into_iter()
        .map(|row| {
            let mut column = 0;
            let mut isolated: Option<(u16, u16, char)> = None;
            for sign in row.graphemes(true) {
                let here = column;
                column += u16::try_from(sign.width()).unwrap_or(0);
                if !counts(sign) {
                    continue;
                }
                if (from..to).contains(&counted) {
                    isolated = Some((isolated.map_or(here, |(start, ..)| start), here, begin));
                }
                counted += 1;
            }
            PaneRow {
                isolated,
                ..PaneRow::own(row, style)
            }
        })
        .collect()
}

/// Indents rows, as an agent's words are unless they follow a label: text at the edge is the program's own
/// or has a label.
pub(super) fn set_in(rows: Vec<PaneRow>, by: u16) -> Vec<PaneRow> {
    let spaces = " ".repeat(usize::from(by));
    rows.into_iter()
        .map(|row| PaneRow {
            text: format!("{spaces}{}", row.text),
            isolated: row
                .isolated
                .map(|(first, last, begin)| (first + by, last + by, begin)),
            marks: row
                .marks
                .into_iter()
                .map(|(from, to, style)| (from + by, to + by, style))
                .collect(),
            ..row
        })
        .collect()
}

/// Begins rows with a sign of the program's own or of a list: the first with `first`, the others with `rest`, which is
/// as wide.
pub(super) fn led_by(rows: Vec<PaneRow>, first: &str, rest: &str) -> Vec<PaneRow> {
    let width = u16::try_from(first.width()).unwrap_or(0);
    let led = set_in(rows, width).into_iter().enumerate();
    led.map(|(at, row)| {
        let lead = if at == 0 { first } else { rest };
        let text = row.text.get(usize::from(width)..).unwrap_or_default();
        PaneRow {
            text: format!("{lead}{text}"),
            ..row
        }
    })
    .collect()
}

/// A cell of a table.
pub(super) struct TableCell {
    /// Its rows, none wider than the cell.
    pub(super) rows: Vec<PaneRow>,
    /// Its width.
    pub(super) width: usize,
    /// Whether it is aligned to the right.
    pub(super) right: bool,
}

/// Puts cells beside each other. Their text has no direction of its own.
pub(super) fn beside(cells: &[TableCell], between: &str, style: Style) -> Vec<PaneRow> {
    let height = cells.iter().map(|cell| cell.rows.len()).max().unwrap_or(0);
    let empty = PaneRow::own(String::new(), style);
    let rows = (0..height).map(|y| {
        let mut row = empty.clone();
        let mut column = 0;
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                row.text.push_str(between);
                column += between.width();
            }
            let part = cell.rows.get(y).unwrap_or(&empty);
            let left = cell.width.saturating_sub(part.text.width());
            let (before, after) = if cell.right { (left, 0) } else { (0, left) };
            row.text.extend(std::iter::repeat_n(' ', before));
            row.text.push_str(&part.text);
            row.text.extend(std::iter::repeat_n(' ', after));
            let from = column + before;
            let end = if part.whole {
                column + cell.width
            } else {
                from + part.text.width()
            };
            row.mark(from, end, part.style);
            for (first, last, style) in &part.marks {
                row.mark(
                    from + usize::from(*first),
                    from + usize::from(*last),
                    *style,
                );
            }
            column += cell.width;
        }
        row.text.truncate(row.text.trim_end().len());
        row
    });
    rows.collect()
}

/// Styles parts of a text that was broken into rows. `before` is what precedes the text on the
/// rows.
pub(super) fn paint(
    rows: &mut [PaneRow],
    before: &str,
    text: &str,
    runs: &[(Range<usize>, Style)],
) {
    if runs.is_empty() {
        return;
    }
    // Breaking drops spaces and adds isolates: everything else is counted.
    let mut looks: Vec<Vec<Style>> = Vec::new();
    looks.resize(
        before.graphemes(true).filter(|sign| counts(sign)).count(),
        Vec::new(),
    );
    for (at, sign) in text.grapheme_indices(true) {
        if counts(sign) {
            let of_it = runs.iter().filter(|(range, _)| range.contains(&at));
            looks.push(of_it.map(|(_, style)| *style).collect());
        }
    }
    let mut looks = looks.into_iter();
    for row in rows {
        let mut column = 0;
        // A space between two parts that look the same looks like them.
        let mut open: Option<(usize, usize, Vec<Style>)> = None;
        let mut found = Vec::new();
        for sign in row.text.graphemes(true) {
            let here = column;
            column += sign.width();
            if !counts(sign) {
                continue;
            }
            let look = looks.next().unwrap_or_default();
            match &mut open {
                Some((_, to, last)) if *last == look => *to = column,
                _ => {
                    found.extend(open.take());
                    open = Some((here, column, look));
                }
            }
        }
        found.extend(open);
        for (from, to, look) in found {
            for style in look {
                row.mark(from, to, style);
            }
        }
    }
}

/// Returns whether a sign is neither a space nor a sign of direction, which breaking drops and adds.
fn counts(sign: &str) -> bool {
    sign != " " && !sign.starts_with(is_direction_sign)
}

/// Breaks a text like [`mixed`]; rows after the first are indented.
pub(super) fn hanging(
    before: &str,
    text: &str,
    after: &str,
    direction: Option<TextDirection>,
    width: u16,
    style: Style,
) -> Vec<PaneRow> {
    let narrow = width.saturating_sub(HANG).max(1);
    let mut rows = mixed(before, text, after, direction, narrow, style);
    let rest = rows.split_off(rows.len().min(1));
    rows.extend(set_in(rest, HANG));
    rows
}

/// Returns as many rows as fit, and marks the last of them if more follow.
pub(super) fn fitting(mut rows: Vec<PaneRow>, room: usize, width: u16) -> Vec<PaneRow> {
    if rows.len() > room {
        rows.truncate(room);
        if let Some(last) = rows.last_mut() {
            let before = last.text.len() - last.text.trim_start().len();
            let narrow = usize::from(width.saturating_sub(2)).saturating_sub(before);
            let cut = balanced(wrap(last.text.trim_start(), narrow));
            let first = cut.first().map_or("", String::as_str);
            last.text = format!("{}{first} …", " ".repeat(before));
            let end = u16::try_from(before + first.width()).unwrap_or(u16::MAX);
            last.marks.retain(|(from, ..)| *from < end);
            for (_, to, _) in &mut last.marks {
                *to = end.min(*to);
            }
            last.isolated = last
                .isolated
                .map(|(from, to, begin)| (from, to.min(end.saturating_sub(1)), begin))
                .filter(|(from, to, _)| from <= to);
        }
    }
    rows
}

/// The maximum width of a text, in columns: longer rows are hard to follow.
pub(super) const WIDEST: u16 = 90;

/// The width below which each row counts.
pub(super) const NARROW: u16 = 60;

/// The width below which hearken's own words are shorter as well.
pub(super) const TINY: u16 = 30;

/// The indentation of a continuation row.
pub(super) const HANG: u16 = 2;

/// Draws rows from the top of an area; what does not fit is left out.
pub(super) fn draw(frame: &mut Frame<'_>, rows: &[PaneRow], area: Rect) {
    let buffer = frame.buffer_mut();
    for (row, y) in rows.iter().zip(area.y..area.bottom()) {
        if row.whole {
            let place = Rect {
                y,
                height: 1,
                ..area
            };
            buffer.set_style(place, row.style);
        }
        buffer.set_stringn(area.x, y, &row.text, usize::from(area.width), row.style);
        for (from, to, style) in &row.marks {
            let place = Rect {
                x: area.x + from.min(&area.width),
                y,
                width: to.min(&area.width).saturating_sub(*from),
                height: 1,
            };
            buffer.set_style(place, *style);
        }
        put_signs(buffer, row, area, y);
        if let Some((first, last, begin)) = row.isolated.filter(|(_, last, _)| *last < area.width) {
            if let Some(cell) = buffer.cell_mut((area.x + first, y)) {
                let symbol = format!("{begin}{}", cell.symbol());
                cell.set_symbol(&symbol);
            }
            if let Some(cell) = buffer.cell_mut((area.x + last, y)) {
                let symbol = format!("{}{POP}", cell.symbol());
                cell.set_symbol(&symbol);
            }
        }
    }
}

/// Writes an agent's own direction marks into the cells next to them, always inside the isolate: a screen
/// has no place for characters without width.
fn put_signs(buffer: &mut Buffer, row: &PaneRow, area: Rect, y: u16) {
    if !row.text.contains(is_direction_sign) || row.text.width() > usize::from(area.width) {
        // A row that is cut off shows none: half an isolate would reach beyond it.
        return;
    }
    let isolated = |column: u16| {
        row.isolated
            .is_some_and(|(first, last, _)| (first..=last).contains(&column))
    };
    let mut column = 0;
    let mut last = None;
    let mut before = String::new();
    for sign in row.text.graphemes(true) {
        let width = u16::try_from(sign.width()).unwrap_or(0);
        if width > 0 {
            if let Some(cell) = buffer.cell_mut((area.x + column, y)) {
                let symbol = format!("{before}{}", cell.symbol());
                cell.set_symbol(&symbol);
            }
            before.clear();
            last = Some(column);
            column += width;
            continue;
        }
        let begins = matches!(sign.chars().next(), Some('\u{2066}'..='\u{2068}'));
        match last.filter(|column| !begins && before.is_empty() && isolated(*column)) {
            Some(at) => {
                if let Some(cell) = buffer.cell_mut((area.x + at, y)) {
                    let symbol = format!("{}{sign}", cell.symbol());
                    cell.set_symbol(&symbol);
                }
            }
            None => before.push_str(sign),
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    fn drawn(rows: &[PaneRow], width: u16) -> Vec<String> {
        let height = u16::try_from(rows.len()).unwrap();
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal
            .draw(|frame| draw(frame, rows, frame.area()))
            .unwrap();
        let buffer = terminal.backend().buffer().clone();
        (0..height)
            .map(|y| {
                let row: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
                row.trim_end().to_owned()
            })
            .collect()
    }

    #[test]
    fn an_agents_text_from_right_to_left_keeps_to_itself_on_each_row() {
        let rows = mixed(
            "Bot says: ",
            "שלום עולם טוב",
            " (10:00:00)",
            None,
            18,
            Style::new(),
        );
        assert_eq!(
            drawn(&rows, 18),
            [
                "Bot says: \u{2067}שלום\u{2069}",
                "\u{2067}עולם טוב\u{2069}",
                "(10:00:00)"
            ]
        );
    }

    #[test]
    fn a_text_from_left_to_right_is_written_as_it_is() {
        for direction in [None, Some(TextDirection::Auto), Some(TextDirection::Ltr)] {
            let text = "hello there";
            let rows = mixed(
                "Bot says: ",
                text,
                " (10:00:00)",
                direction,
                60,
                Style::new(),
            );
            assert_eq!(drawn(&rows, 60), ["Bot says: hello there (10:00:00)"]);
        }
    }

    #[test]
    fn what_the_agent_says_of_its_texts_direction_goes_before_the_first_letter() {
        let (rtl, ltr) = (Some(TextDirection::Rtl), Some(TextDirection::Ltr));
        let row = |text, direction| {
            let rows = mixed("Bot says: ", text, "", direction, 60, Style::new());
            drawn(&rows, 60).concat()
        };
        assert_eq!(row("API שלום", rtl), "Bot says: \u{2067}API שלום\u{2069}");
        assert_eq!(row("שלום API", ltr), "Bot says: \u{2066}שלום API\u{2069}");
        assert_eq!(row("Done.", rtl), "Bot says: Done.");
    }

    #[test]
    fn an_agents_own_signs_of_direction_stay_in_its_text_on_each_row() {
        let text = "see \u{2067}אחד שתיים שלוש\u{2069} now\u{200f}";
        let rows = mixed("Bot says: ", text, " (10:00:00)", None, 18, Style::new());
        assert_eq!(
            drawn(&rows, 18),
            [
                "Bot says: \u{2066}see \u{2067}אחד\u{2069}\u{2069}",
                "\u{2066}\u{2067}שתיים שלוש\u{2069} now\u{200f}\u{2069}",
                "(10:00:00)",
            ]
        );
    }

    #[test]
    fn wide_signs_and_combining_marks_keep_their_columns() {
        let rows = mixed("", "日本語 e\u{301}te\u{301} नि", "", None, 6, Style::new());
        let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        assert_eq!(texts, ["日本語", "e\u{301}te\u{301} नि"]);
        assert!(rows.iter().all(|row| row.text.width() <= 6));
    }
}
