//! An agent's Markdown as rows: headings, lists, quotations, tables and code.
//!
//! Responsibilities: indentation, folding tables that do not fit, the looks of words. Not here: parsing it
//! (`announce`), the kinds of words in code (`highlight`), whose rows they are (`transcript`).

use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use crate::announce::Arg;
use crate::announce::direction::isolate;
use crate::announce::normalise::{BlockKind, StyledText, TextBlock, TextTable};
use crate::protocol::TextDirection;

use super::text_rows::{self, PaneRow};
use super::{View, highlight};

/// The indentation of a level of lists, and of code.
const STEP: usize = 2;
/// What is between two columns of a table.
const BETWEEN: &str = " │ ";
/// The narrowest column that a table is folded into; with less room, its rows become lists.
const NARROWEST: usize = 12;
/// What precedes each level of a quotation.
const QUOTED: &str = "│ ";
/// The longest line across the page.
const RULE: usize = 40;

/// How the rows of a text are laid out.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// The direction that the agent declares.
    pub(super) direction: Option<TextDirection>,
    /// The width of the rows.
    pub(super) width: u16,
    /// How many rows at the end are wanted: the others of a long block need not be made.
    pub(super) tail: usize,
}

/// Returns the rows of blocks.
pub(super) fn rows(view: View<'_>, blocks: &[TextBlock], layout: Layout) -> Vec<PaneRow> {
    let mut all: Vec<PaneRow> = Vec::new();
    let mut last: Option<&TextBlock> = None;
    for block in blocks {
        let is_list = |block: &TextBlock| matches!(block.is, BlockKind::Item(..));
        let items = last.is_some_and(|last| is_list(last) && is_list(block));
        let stands_alone = |block: &TextBlock| match block.is {
            BlockKind::Heading(..) | BlockKind::Table(_) | BlockKind::Code(..) => true,
            BlockKind::Paragraph(_)
            | BlockKind::Item(..)
            | BlockKind::Quote(..)
            | BlockKind::Rule => false,
        };
        let gap = last.is_some_and(|last| {
            let follows_head = matches!(last.is, BlockKind::Heading(..)) && !block.apart;
            let apart = block.apart || stands_alone(block) || stands_alone(last);
            apart && !items && !follows_head
        });
        if gap && view.regions {
            all.push(PaneRow::own(String::new(), Style::new()));
        }
        all.extend(block_rows(view, block, layout));
        last = Some(block);
    }
    all
}

fn block_rows(view: View<'_>, block: &TextBlock, layout: Layout) -> Vec<PaneRow> {
    let by = (block.level * STEP).min(usize::from(layout.width) / 3);
    let within = Layout {
        width: narrower(layout.width, by),
        ..layout
    };
    match &block.is {
        BlockKind::Heading(hashes, text) => {
            let mark = format!("{} ", "#".repeat(*hashes));
            text_rows(view, &mark, text, within, view.look.heading())
        }
        BlockKind::Paragraph(text) => {
            let rows = text_rows(view, "", text, within, view.look.text());
            text_rows::set_in(rows, columns(by))
        }
        BlockKind::Item(mark, text) => {
            let before = by.saturating_sub(STEP);
            let mark = match mark.split_once(' ') {
                // A box says that it is an item.
                Some((_, ticked)) => format!("{} ", ticked.trim()),
                None if matches!(mark.as_str(), "-" | "*" | "+") => "• ".to_owned(),
                None => format!("{mark} "),
            };
            let width = narrower(layout.width, before + mark.width());
            let rows = text_rows(view, "", text, Layout { width, ..layout }, view.look.text());
            let rows = text_rows::led_by(rows, &mark, &" ".repeat(mark.width()));
            text_rows::set_in(rows, columns(before))
        }
        BlockKind::Quote(depth, text) => {
            let mark = QUOTED.repeat(*depth);
            let width = narrower(within.width, mark.width());
            let rows = text_rows(view, "", text, Layout { width, ..within }, view.look.text());
            text_rows::set_in(text_rows::led_by(rows, &mark, &mark), columns(by))
        }
        BlockKind::Table(table) => text_rows::set_in(table_rows(view, table, within), columns(by)),
        BlockKind::Code(info, lines) => {
            text_rows::set_in(code_rows(view, info, lines, within), columns(by))
        }
        BlockKind::Rule => {
            let line = "─".repeat(usize::from(layout.width).min(RULE));
            vec![PaneRow::own(line, view.look.text())]
        }
    }
}

/// Returns the rows of a text with its marked words.
pub(super) fn text_rows(
    view: View<'_>,
    before: &str,
    text: &StyledText,
    layout: Layout,
    style: Style,
) -> Vec<PaneRow> {
    let mut rows = text_rows::mixed(
        before,
        &text.text,
        "",
        layout.direction,
        layout.width,
        style,
    );
    paint(view, &mut rows, before, text);
    rows
}

/// Styles the marked words of a text.
pub(super) fn paint(view: View<'_>, rows: &mut [PaneRow], before: &str, text: &StyledText) {
    let looks = text.looks.iter();
    let runs: Vec<_> = looks
        .map(|(range, look)| (range.clone(), view.look.words(*look)))
        .collect();
    text_rows::paint(rows, before, &text.text, &runs);
}

/// Returns the rows of code: its language, and its lines indented below.
fn code_rows(view: View<'_>, info: &str, lines: &[String], layout: Layout) -> Vec<PaneRow> {
    let language = view.app.phrases().lexicon().code_language(info);
    let args = [("language", Arg::Own(language.unwrap_or_default()))];
    let words = view.app.phrases().text("pane.code", &args);
    let mut all = text_rows::own(&words, layout.width, view.look.quiet());
    let inks = match view.look.has_colours() {
        true => highlight::inks(info, lines),
        false => Vec::new(),
    };
    let inside = narrower(layout.width, STEP);
    let first = lines.len().saturating_sub(layout.tail);
    for (at, line) in lines.iter().enumerate().skip(first) {
        let mut rows = text_rows::verbatim(line, layout.direction, inside, view.look.text());
        let inks = inks.get(at).into_iter().flatten();
        let runs: Vec<_> = inks
            .map(|(range, ink)| (range.clone(), view.look.ink(*ink)))
            .collect();
        text_rows::paint(&mut rows, "", line, &runs);
        all.extend(text_rows::set_in(rows, columns(STEP)));
    }
    all
}

/// Returns the rows of a table, its cells folded if it is too wide; as lists if that leaves no room for words, or if a
/// text from right to left needs rows of its own.
fn table_rows(view: View<'_>, table: &TextTable, layout: Layout) -> Vec<PaneRow> {
    let count = table.rows.iter().map(Vec::len).max().unwrap_or(0);
    let turns = table.rows.iter().flatten();
    let turns = turns
        .filter(|cell| isolate(&cell.text, layout.direction).is_some())
        .count();
    let widths = column_widths(table, count, usize::from(layout.width));
    let Some(widths) = widths.filter(|_| turns == 0) else {
        return as_lists(view, table, layout);
    };
    let mut all = Vec::new();
    for (at, row) in table.rows.iter().enumerate() {
        let is_head = table.headed && at == 0;
        let style = if is_head {
            view.look.heading()
        } else {
            view.look.text()
        };
        let empty = StyledText::default();
        let cells: Vec<text_rows::TableCell> = (0..count)
            .map(|column| {
                let width = widths.get(column).copied().unwrap_or(1);
                let cell = row.get(column).unwrap_or(&empty);
                let within = Layout {
                    width: columns(width),
                    ..layout
                };
                text_rows::TableCell {
                    rows: text_rows(view, "", cell, within, style),
                    width,
                    right: table.right.get(column).copied().unwrap_or(false),
                }
            })
            .collect();
        all.extend(text_rows::beside(&cells, BETWEEN, view.look.text()));
        if is_head {
            let line: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            all.push(PaneRow::own(line.join("─┼─"), view.look.text()));
        }
    }
    all
}

/// Returns the width of each column of a table; `None` if they can't be made narrow enough.
fn column_widths(table: &TextTable, count: usize, width: usize) -> Option<Vec<usize>> {
    let room = width.checked_sub(BETWEEN.width() * count.saturating_sub(1))?;
    let of_column = |column: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| cell.text.width())
            .max()
            .unwrap_or(0)
            .max(1)
    };
    let mut widths: Vec<usize> = (0..count).map(of_column).collect();
    let least: usize = widths.iter().map(|width| (*width).min(NARROWEST)).sum();
    if least > room {
        return None;
    }
    // The widest column gives way first, to where the next one begins to.
    while let over @ 1.. = widths.iter().sum::<usize>().saturating_sub(room) {
        let widest = widths.iter().copied().max().unwrap_or(0);
        let next = widths.iter().copied().filter(|width| *width < widest).max();
        let as_wide = widths.iter().filter(|width| **width == widest).count();
        let by = (widest - next.unwrap_or(0).max(NARROWEST))
            .min(over.div_ceil(as_wide))
            .max(1);
        for width in widths.iter_mut().filter(|width| **width == widest) {
            *width -= by;
        }
    }
    Some(widths)
}

/// Returns a table as lists: each row has its first cell at the edge and the others indented, after their headers.
fn as_lists(view: View<'_>, table: &TextTable, layout: Layout) -> Vec<PaneRow> {
    let (head, body) = match table.rows.split_first() {
        Some((head, body)) if table.headed && !body.is_empty() => (head.as_slice(), body),
        Some(_) | None => (&[][..], table.rows.as_slice()),
    };
    let mut all = Vec::new();
    for row in body {
        let cells = row
            .iter()
            .enumerate()
            .filter(|(_, cell)| !cell.text.is_empty());
        for (nth, (column, cell)) in cells.enumerate() {
            let header = head.get(column).filter(|header| !header.text.is_empty());
            let label = header.map_or(String::new(), |header| format!("{}: ", header.text));
            let by = if nth == 0 { 0 } else { STEP };
            let width = narrower(layout.width, by + STEP);
            let mut rows = text_rows::mixed(
                &label,
                &cell.text,
                "",
                layout.direction,
                width,
                view.look.text(),
            );
            paint(view, &mut rows, &label, cell);
            if let Some(first) = rows.first_mut() {
                first.mark(0, label.trim_end().width(), view.look.heading());
            }
            let rest = rows.split_off(1.min(rows.len()));
            rows.extend(text_rows::set_in(rest, columns(STEP)));
            all.extend(text_rows::set_in(rows, columns(by)));
        }
    }
    all
}

fn columns(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

fn narrower(width: u16, by: usize) -> u16 {
    width.saturating_sub(columns(by)).max(1)
}
