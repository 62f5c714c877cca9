//! Lists, tables and headings written in HTML.
//!
//! Responsibilities: HTML's block elements, tag by tag, however their lines are cut. Not here: tags inside a
//! sentence (`markup`), what a tag is (`tag`).

use super::inline::{say_cell, say_line};
use super::nest::Levels;
use super::spoken::SpokenText;
use super::tag::{Tag, TagKind};
use super::words::{Words, fill};
use crate::announce::text::markdown::{COLUMNS, HEADER, spans};

/// How many lists may be nested.
const DEEPEST: usize = 16;

/// What is open at a place.
#[derive(Debug, Clone, Default)]
pub(super) struct Html {
    /// The open lists: for a numbered one, how many items it has had.
    lists: Vec<Option<usize>>,
    table: Option<Table>,
    /// Whether the last line was empty, after which only another tag continues.
    ended: bool,
}

#[derive(Debug, Clone, Default)]
struct Table {
    headers: Vec<String>,
    /// Whether a row was complete before this one.
    has_row: bool,
    /// The open cell's number in its row, and whether any of its text was spoken.
    cell: usize,
    begun: bool,
    in_cell: bool,
    /// Whether this row has a cell that was spoken.
    spoken: bool,
}

impl Html {
    /// Returns whether a list or a table is open.
    pub(super) fn is_open(&self) -> bool {
        !self.lists.is_empty() || self.table.is_some()
    }

    /// Returns whether the next line belongs to the HTML.
    pub(super) fn takes(&self, line: &str) -> bool {
        let is_tagged =
            memchr::memchr(b'<', line.as_bytes()).is_some() && structure(line, 0).is_some();
        is_tagged || self.is_open() && !self.ended
    }

    /// Notes an empty line.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Closes everything that is open.
    pub(super) fn leave(&mut self) {
        *self = Self::default();
    }

    /// Speaks a line.
    pub(super) fn say(
        &mut self,
        line: &str,
        levels: &mut Levels,
        words: &Words,
        spoken: &mut SpokenText,
    ) {
        self.ended = false;
        let mut at = 0;
        while let Some((place, tag)) = structure(line, at) {
            self.text(&line[at..place], words, spoken);
            at = place + tag.length;
            self.tag(&tag, levels, words, spoken);
        }
        self.text(&line[at..], words, spoken);
    }

    fn text(&mut self, text: &str, words: &Words, spoken: &mut SpokenText) {
        if text.trim().is_empty() {
            return;
        }
        let Some(table) = self.table.as_mut().filter(|table| table.in_cell) else {
            return say_line(text.trim(), words, spoken);
        };
        let mut cell = SpokenText::with_room(text.len(), spoken.now());
        say_cell(text.trim(), words, &mut cell);
        spoken.leave_out(cell.left_out());
        let cell = cell.finish();
        if cell.is_empty() {
            return;
        }
        if !table.has_row {
            if !table.spoken {
                spoken.word(fill(&words.table, &[("text", "")]).trim());
            } else if !table.begun {
                spoken.stop(',');
            }
            if table.cell <= COLUMNS {
                table.headers.resize(table.cell, String::new());
                if let Some(header) = table.headers.last_mut() {
                    header.extend(cell.chars().take(HEADER.saturating_sub(header.len())));
                }
            }
        } else if !table.begun {
            if table.spoken {
                spoken.stop(',');
            }
            if let Some(header) = table
                .headers
                .get(table.cell - 1)
                .filter(|header| !header.is_empty())
            {
                spoken.word(header);
                spoken.stop(':');
            }
        }
        table.begun = true;
        table.spoken = true;
        spoken.word(&cell);
    }

    fn tag(&mut self, tag: &Tag<'_>, levels: &mut Levels, words: &Words, spoken: &mut SpokenText) {
        let prefix = |template: &str| fill(template, &[("text", "")]).trim().to_owned();
        match (tag.kind, tag.closes) {
            (TagKind::Heading, false) => {
                spoken.stop('.');
                spoken.word(&prefix(&words.heading));
            }
            (TagKind::List, false) => {
                spoken.stop('.');
                if self.lists.len() < DEEPEST {
                    self.lists
                        .push(tag.name.eq_ignore_ascii_case("ol").then_some(0));
                }
            }
            (TagKind::List, true) => {
                self.lists.pop();
                spoken.pause('.');
                if self.lists.is_empty() {
                    levels.leave();
                }
            }
            (TagKind::Item, false) => {
                spoken.stop('.');
                let depth = self.lists.len().max(1);
                if let Some(level) = levels.enter(2 * depth) {
                    let level = level.to_string();
                    spoken.word(fill(&words.level, &[("n", &level), ("text", "")]).trim());
                }
                if let Some(Some(count)) = self.lists.last_mut() {
                    *count += 1;
                    let n = count.to_string();
                    spoken.word(fill(&words.item, &[("n", &n), ("text", "")]).trim());
                }
            }
            (TagKind::Table, false) => {
                spoken.stop('.');
                self.table = Some(Table::default());
            }
            (TagKind::Table, true) => {
                self.table = None;
                spoken.pause('.');
            }
            (TagKind::Row, false) => {
                let table = self.table.get_or_insert_default();
                table.has_row |= table.spoken;
                table.cell = 0;
                table.in_cell = false;
                table.spoken = false;
                spoken.stop('.');
            }
            (TagKind::Cell, false) => {
                let table = self.table.get_or_insert_default();
                table.cell += 1;
                table.in_cell = true;
                table.begun = false;
            }
            (TagKind::Cell | TagKind::Row, true) => {
                if let Some(table) = &mut self.table {
                    table.in_cell = false;
                }
            }
            (TagKind::Block, false) if tag.name.eq_ignore_ascii_case("blockquote") => {
                spoken.stop('.');
                spoken.word(&prefix(&words.quote));
            }
            (TagKind::Block | TagKind::Item | TagKind::Heading, _) => spoken.pause('.'),
            (
                TagKind::Inline
                | TagKind::Raised
                | TagKind::Lowered
                | TagKind::Code
                | TagKind::Link
                | TagKind::Image
                | TagKind::Break,
                _,
            ) => {}
        }
    }
}

/// Returns the next tag of a block element at or after a place, and where it is.
fn structure(line: &str, from: usize) -> Option<(usize, Tag<'_>)> {
    let spans = if line.contains('`') {
        spans(line)
    } else {
        Vec::new()
    };
    let mut at = from;
    while let Some(ahead) = line[at..].find('<') {
        at += ahead;
        let in_code = spans.iter().find(|span| span.start <= at && at < span.end);
        if let Some(span) = in_code {
            at = span.end;
            continue;
        }
        match Tag::at(&line[at..]) {
            Some(tag)
                if matches!(
                    tag.kind,
                    TagKind::Block
                        | TagKind::Heading
                        | TagKind::List
                        | TagKind::Item
                        | TagKind::Table
                        | TagKind::Row
                        | TagKind::Cell
                ) =>
            {
                return Some((at, tag));
            }
            Some(tag) => at += tag.length,
            None => at += 1,
        }
    }
    None
}
