//! A Markdown text as blocks, for a screen that lays them out.
//!
//! Responsibilities: headings, paragraphs, lists, quotations, tables and code, each with its depth. Not here: which
//! line is which (`markdown`), rows and looks (the full face), the same text in words (`prose`) and in lines
//! (`readable`).
//!
//! # Worked example
//! `# Files`, an empty line, `- a` and `  - b` are a heading, an item of level 1 and an item of level 2.

use super::clean::{clean, clean_lines};
use super::nest::indent_of;
use super::styled::{StyledText, styled};
use super::unmarked::without_html;
use crate::announce::text::markdown::{
    Block as Line, COLUMNS, Is, Table, block, cells, is_delimiter, outline,
};

/// How many levels of lists and quotations are distinguished.
const DEEPEST: usize = 8;

/// A block of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextBlock {
    /// What it is.
    pub is: BlockKind,
    /// The number of list items that contain it; for an item, its own level.
    pub level: usize,
    /// Whether an empty line precedes it.
    pub apart: bool,
}

/// What a block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// A heading, with its number of hashes.
    Heading(usize, StyledText),
    /// Lines of prose.
    Paragraph(StyledText),
    /// An item of a list, with its mark, number or box as written.
    Item(String, StyledText),
    /// A quotation, with its depth.
    Quote(usize, StyledText),
    /// A table.
    Table(TextTable),
    /// Code: the words after its marks, and its lines.
    Code(String, Vec<String>),
    /// A line across the page.
    Rule,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextTable {
    /// Whether the first row has the headers.
    pub headed: bool,
    /// The rows of cells.
    pub rows: Vec<Vec<StyledText>>,
    /// Which columns are aligned to the right.
    pub right: Vec<bool>,
}

/// Returns a text as blocks.
pub fn blocks(text: &str) -> Vec<TextBlock> {
    let mut reader = Reader::default();
    for section in outline(text) {
        reader.apart = true;
        match section.is {
            Is::Heading | Is::Paragraph => reader.lines(section.written),
            Is::Code { info, lines } => {
                let level = reader.level_at(indent_of(section.written));
                let lines = lines.iter().map(|line| code_line(line)).collect();
                reader.push(BlockKind::Code(clean(info).into_owned(), lines), level);
            }
        }
        reader.joins = false;
    }
    reader.blocks
}

/// Cleans a line of code, and keeps its indentation; a tab is four columns wide.
fn code_line(line: &str) -> String {
    let bare = line.trim_start_matches([' ', '\t']);
    let mut code = " ".repeat(indent_of(line));
    code.push_str(clean(&bare.replace('\t', "    ")).trim_end());
    code
}

#[derive(Debug, Default)]
struct Reader {
    blocks: Vec<TextBlock>,
    /// The indentations of the open list items.
    indents: Vec<usize>,
    /// Whether an empty line precedes the next block.
    apart: bool,
    /// Whether the next line of prose continues the last block.
    joins: bool,
    table: Option<Table>,
}

impl Reader {
    fn push(&mut self, is: BlockKind, level: usize) {
        let apart = std::mem::take(&mut self.apart) && !self.blocks.is_empty();
        self.joins = matches!(
            is,
            BlockKind::Paragraph(_) | BlockKind::Item(..) | BlockKind::Quote(..)
        );
        self.blocks.push(TextBlock { is, level, apart });
    }

    /// Returns the number of open items that contain a line with this indentation.
    fn level_at(&mut self, indent: usize) -> usize {
        while self.indents.last().is_some_and(|last| *last + 1 >= indent) {
            self.indents.pop();
        }
        self.indents.len()
    }

    /// Returns the level of an item with this indentation.
    fn enter(&mut self, indent: usize) -> usize {
        while self.indents.len() > 1 && self.indents.last().is_some_and(|last| *last > indent) {
            self.indents.pop();
        }
        let is_deeper = self.indents.last().is_none_or(|last| indent >= last + 2);
        if is_deeper && self.indents.len() < DEEPEST {
            self.indents.push(indent);
        }
        self.indents.len()
    }

    fn lines(&mut self, written: &str) {
        self.table = None;
        let mut lines = written.lines().peekable();
        while let Some(raw) = lines.next() {
            let indent = indent_of(raw);
            let below = lines.peek().map_or("", |line| line.trim());
            let clean = clean_lines(raw);
            let mut parts = clean.split('\n').map(str::trim).peekable();
            while let Some(line) = parts.next() {
                if !line.is_empty() {
                    let next = parts.peek().copied().unwrap_or(below);
                    self.line(&without_html(line), indent, next);
                }
            }
            // Two spaces at the end of a line end it (CommonMark 6.7).
            self.joins &= !raw.ends_with("  ");
        }
    }

    fn line(&mut self, line: &str, indent: usize, next: &str) {
        if is_delimiter(line) {
            self.align(line);
            return;
        }
        let is_row = match &self.table {
            Some(table) => table.goes_on(line),
            None => Table::begins(line, next),
        };
        if is_row {
            self.row(line, indent, next);
            return;
        }
        self.table = None;
        if self.underlines(line) {
            return;
        }
        match block(line) {
            Line::Rule => self.push(BlockKind::Rule, 0),
            Line::Heading(text) => {
                let hashes = line.len() - line.trim_start_matches('#').len();
                self.indents.clear();
                self.push(BlockKind::Heading(hashes, styled(text)), 0);
            }
            Line::Quote(text) => {
                let marks = line.len() - text.len();
                let marks = line.get(..marks).unwrap_or_default();
                let depth = marks.matches('>').count().clamp(1, DEEPEST);
                let text = styled(text);
                match self.blocks.last_mut() {
                    Some(TextBlock {
                        is: BlockKind::Quote(last, before),
                        ..
                    }) if self.joins && *last == depth => before.join(text),
                    _ => {
                        let level = self.level_at(indent);
                        self.push(BlockKind::Quote(depth, text), level);
                    }
                }
            }
            Line::Item { text, .. } => {
                let mark = line.get(..line.len() - text.len()).unwrap_or_default();
                let level = self.enter(indent);
                self.push(
                    BlockKind::Item(mark.trim_end().to_owned(), styled(text)),
                    level,
                );
            }
            Line::Text(text) => self.text(styled(text), indent),
        }
    }

    fn text(&mut self, text: StyledText, indent: usize) {
        let open = self.blocks.last_mut().filter(|_| self.joins);
        if let Some(TextBlock {
            is:
                BlockKind::Paragraph(before) | BlockKind::Item(_, before) | BlockKind::Quote(_, before),
            ..
        }) = open
        {
            before.join(text);
            return;
        }
        let level = self.level_at(indent);
        self.push(BlockKind::Paragraph(text), level);
    }

    /// Makes the single line above a heading, if this line underlines it.
    fn underlines(&mut self, line: &str) -> bool {
        let hashes = match line.chars().next() {
            Some('=') => 1,
            Some('-') => 2,
            _ => return false,
        };
        let only = line.len() >= 3 && line.chars().all(|c| line.starts_with(c));
        let Some(last) = self.blocks.last_mut().filter(|_| only && self.joins) else {
            return false;
        };
        let BlockKind::Paragraph(text) = &mut last.is else {
            return false;
        };
        last.is = BlockKind::Heading(hashes, std::mem::take(text));
        self.joins = false;
        true
    }

    fn row(&mut self, line: &str, indent: usize, next: &str) {
        let row: Vec<StyledText> = cells(line)
            .take(COLUMNS)
            .map(|cell| styled(&cell))
            .collect();
        let goes_on = self.table.is_some();
        match self.blocks.last_mut() {
            Some(TextBlock {
                is: BlockKind::Table(table),
                ..
            }) if goes_on => table.rows.push(row),
            _ => {
                self.table = Some(Table::headed(line, Vec::new()));
                let level = self.level_at(indent);
                let table = TextTable {
                    headed: is_delimiter(next),
                    rows: vec![row],
                    right: Vec::new(),
                };
                self.push(BlockKind::Table(table), level);
            }
        }
    }

    /// Aligns the columns of the open table.
    fn align(&mut self, line: &str) {
        if let Some(TextBlock {
            is: BlockKind::Table(table),
            ..
        }) = self.blocks.last_mut()
            && table.rows.len() == 1
        {
            let right =
                |cell: std::borrow::Cow<'_, str>| cell.ends_with(':') && !cell.starts_with(':');
            table.right = cells(line).take(COLUMNS).map(right).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(text: &str) -> Vec<String> {
        let all = blocks(text).into_iter();
        all.map(|block| {
            let is = match block.is {
                BlockKind::Heading(n, text) => format!("h{n} {}", text.text),
                BlockKind::Paragraph(text) => format!("p {}", text.text),
                BlockKind::Item(mark, text) => format!("i {mark} {}", text.text),
                BlockKind::Quote(n, text) => format!("q{n} {}", text.text),
                BlockKind::Code(info, lines) => format!("c {info} {}", lines.join("/")),
                BlockKind::Rule => "r".to_owned(),
                BlockKind::Table(table) => {
                    let row = |row: &Vec<StyledText>| {
                        let cells = row.iter().map(|cell| cell.text.as_str());
                        cells.collect::<Vec<_>>().join(";")
                    };
                    let rows: Vec<String> = table.rows.iter().map(row).collect();
                    format!("t {} {:?} {}", table.headed, table.right, rows.join("/"))
                }
            };
            format!("{}{}{is}", block.level, if block.apart { "+" } else { " " })
        })
        .collect()
    }

    #[test]
    fn a_text_is_laid_out_in_blocks() {
        let text = "Here *is*\nit.\n\n# Files\n\n| File | Lines |\n|---|---:|\n| a.py | 12 |\n\n- one\n  goes on\n  - two\n\n    more of two\n- [x] three\n1. four\n\n> quoted\n> on\n>> deeper\n\n```python\ndef a():\n\treturn 1\n```\nEnd\n===\n---\nlast";
        assert_eq!(
            told(text),
            [
                "0 p Here is it.",
                "0+h1 Files",
                "0+t true [false, true] File;Lines/a.py;12",
                "1+i - one goes on",
                "2 i - two",
                "2+p more of two",
                "1 i - [x] three",
                "1 i 1. four",
                "0+q1 quoted on",
                "0 q2 deeper",
                "0+c python def a():/    return 1",
                "0+h1 End",
                "0 r",
                "0 p last",
            ]
        );
    }

    #[test]
    fn code_within_an_item_has_the_items_level() {
        let text = "- run\n\n  ```sh\n  ls\n  ```\n- then";
        assert_eq!(told(text), ["1 i - run", "1+c sh ls", "1+i - then"]);
        assert_eq!(told("a  \nb"), ["0 p a", "0 p b"]);
        assert_eq!(told("- a\n\nb"), ["1 i - a", "0+p b"]);
    }

    proptest! {
        /// No letter or digit is lost, whatever surrounds it.
        #[test]
        fn no_letter_is_lost(text in "[a-z0-9*_`~|>#\\[\\]! \n-]{0,120}") {
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            let blocks = told(&text).concat();
            // The words after a fence are also kept.
            for word in text.split(|c: char| !c.is_alphanumeric()) {
                prop_assert!(letters(&blocks).contains(word), "{} {}", word, blocks);
            }
        }
    }
}
