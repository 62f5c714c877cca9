//! Prose with Markdown in it, line by line, in spoken words.
//!
//! Responsibilities: how headings, lists, quotes and tables are spoken; the pauses between them. Not here: which
//! line is which (`markdown`), what is inside a line (`inline`).

use jiff::Timestamp;

use super::clean::{clean, clean_lines};
use super::code_language::language_name;
use super::html::Html;
use super::inline::{say_cell, say_line};
use super::math;
use super::nest::{Levels, branch, indent_of, is_drawn};
use super::spoken::SpokenText;
use super::words::{Words, fill};
use crate::announce::text::markdown::{
    Block, COLUMNS, Closes, Fence, HEADER, PieceStart, Table, block, cells, is_delimiter,
};

/// The template for text that is spoken unchanged.
const TEXT: &str = "{text}";

/// Returns a text as spoken prose: structure in words, long things shortened, signs without sound dropped.
///
/// A lone fence counts as the start of code if it names a language, and otherwise as its end. For
/// the pieces of one output, a [`ProseReader`] knows which it is. Source: `Text into speech`.
pub fn prose(text: &str, words: &Words) -> String {
    prose_at(text, words, None)
}

/// Returns a text as [`prose`] does; with `now`, moments are expressed by their distance from it.
pub fn prose_at(text: &str, words: &Words, now: Option<Timestamp>) -> String {
    let bare = text.trim();
    if bare.len() >= 3 && (bare.bytes().all(|b| b == b'`') || bare.bytes().all(|b| b == b'~')) {
        return words.end_of_code.clone().into_owned();
    }
    let mut reader = ProseReader::default();
    let mut spoken = reader.read(Passage::new(text), words, now);
    if let LineContext::Code(CodeBlock { lines: 1.., .. }) = reader.place {
        spoken.push_str(", ");
        spoken.push_str(&reader.length(words));
    }
    spoken
}

/// Reads the pieces of one output as prose, and remembers the block in which a piece ended.
#[derive(Debug, Clone, Default)]
pub struct ProseReader {
    place: LineContext,
    levels: Levels,
    html: Html,
}

/// The next piece of an output, and where it begins.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    /// The text as it was streamed.
    pub text: &'a str,
    /// Where it begins, as determined by the code that cut it.
    pub begins: PieceStart,
}

impl<'a> Passage<'a> {
    /// Creates a passage that begins with a line of prose.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            begins: PieceStart::Line,
        }
    }

    /// Returns the lines, each with whether it starts at the beginning of a line. A newline at either end of the
    /// passage only separates it from its neighbours and is not an empty line.
    pub(super) fn lines(self) -> impl Iterator<Item = (&'a str, bool)> + Clone {
        let bare = self.text.trim_start_matches(['\n', '\r']);
        let skipped = &self.text[..self.text.len() - bare.len()];
        let first = self.begins.at_line() || skipped.contains('\n');
        bare.trim_end_matches(['\n', '\r'])
            .split('\n')
            .enumerate()
            .map(move |(at, line)| (line.strip_suffix('\r').unwrap_or(line), at > 0 || first))
    }
}

/// What contains the next line.
#[derive(Debug, Clone, Default)]
pub(super) enum LineContext {
    /// Between blocks, or in a paragraph.
    #[default]
    Text,
    /// After an opening fence.
    Code(CodeBlock),
    /// After a table's first row.
    Table(Table),
    /// In a formula of several lines; `cells` if it is inside a matrix.
    Formula { cells: bool },
}

/// An open code block.
#[derive(Debug, Clone)]
pub(super) struct CodeBlock {
    pub(super) fence: Fence,
    pub(super) lines: usize,
    /// Whether its lines draw a tree, which is read like a tree outside a block.
    pub(super) drawn: bool,
}

impl LineContext {
    /// Leaves an open code block if the next passage begins outside it.
    pub(super) fn enter(&mut self, begins: PieceStart) {
        if matches!(self, Self::Code(_)) && !begins.in_code() {
            *self = Self::Text;
        }
    }

    /// Returns whether a line is a row of the open table, or of a table that begins with it.
    pub(super) fn is_row(&self, line: &str, next: &str) -> bool {
        match self {
            Self::Table(table) => table.goes_on(line),
            Self::Text | Self::Code(_) | Self::Formula { .. } => Table::begins(line, next),
        }
    }
}

/// Whether pauses separate a line from its neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineShape {
    /// A line of a paragraph, which may continue on the next one.
    Flowing,
    /// An item, a heading, a row: a separate unit.
    Block,
}

impl ProseReader {
    /// Leaves an open code block if the next passage begins outside it.
    #[cfg(test)]
    pub(in crate::announce::text) fn enter(&mut self, begins: PieceStart) {
        self.place.enter(begins);
    }

    /// Returns whether a code block is open.
    #[cfg(test)]
    pub(in crate::announce::text) fn in_code(&self) -> bool {
        matches!(self.place, LineContext::Code(_))
    }

    /// Returns the spoken words of the output's next passage; empty inside a code block. With `now`, moments are
    /// expressed by their distance from it.
    pub fn read(&mut self, passage: Passage<'_>, words: &Words, now: Option<Timestamp>) -> String {
        self.place.enter(passage.begins);
        if passage.text.bytes().all(|b| matches!(b, b'\n' | b'\r')) {
            if passage.text.len() > 1 {
                if matches!(
                    self.place,
                    LineContext::Table(_) | LineContext::Formula { .. }
                ) {
                    self.place = LineContext::Text;
                }
                self.html.end();
            }
            return String::new();
        }
        let mut spoken =
            SpokenText::with_room(passage.text.len() + passage.text.len() / 16 + 16, now);
        if let LineContext::Text = self.place
            && let Some(line) = only_line(passage.text)
        {
            let indent = match passage.begins.at_line() {
                true => indent_of(passage.text.trim_start_matches(['\n', '\r'])),
                false => 1,
            };
            self.line(line, indent, "", LineShape::Flowing, words, &mut spoken);
            if passage.text.ends_with("\n\n") {
                self.html.end();
            }
        } else {
            self.by_lines(passage, words, &mut spoken);
        }
        let n = spoken.left_out();
        if n > 0 {
            spoken.stop(',');
            match n {
                1 => spoken.word(&words.left_out.one),
                n => spoken.word(&fill(&words.left_out.many, &[("n", &n.to_string())])),
            }
        }
        spoken.finish()
    }

    /// Speaks a passage of any number of lines.
    fn by_lines(&mut self, passage: Passage<'_>, words: &Words, spoken: &mut SpokenText) {
        let mut last = LineShape::Flowing;
        let mut opened_here = false;
        let mut lines = passage.lines().peekable();
        while let Some((line, whole)) = lines.next() {
            let mut around = None;
            if let LineContext::Code(code) = &mut self.place {
                let closes = if whole {
                    code.fence.closes(line)
                } else {
                    Closes::Not
                };
                match closes {
                    Closes::Not if code.drawn => around = Some(code.clone()),
                    Closes::Not => code.lines = code.lines.saturating_add(1),
                    Closes::Here | Closes::Before => {
                        match code.drawn {
                            true => self.levels.leave(),
                            false => self.close(opened_here, words, spoken),
                        }
                        self.place = LineContext::Text;
                        last = LineShape::Block;
                    }
                }
                if closes != Closes::Before && around.is_none() {
                    continue;
                }
            }
            let opening = Fence::opened_by(line).filter(|_| whole && around.is_none());
            if let Some((fence, info, number)) = opening {
                spoken.stop('.');
                if !number.is_empty() {
                    spoken.word(number);
                    spoken.stop(',');
                }
                let inside = lines.clone().map(|(line, _)| line);
                let inside = inside.take_while(|line| fence.closes(line) == Closes::Not);
                let drawn = is_plain(info) && is_drawn(inside.map(|line| fence.bare(line)));
                match drawn {
                    true => self.levels.leave(),
                    false => say_opening(info, words, spoken),
                }
                self.place = LineContext::Code(CodeBlock {
                    fence,
                    lines: 0,
                    drawn,
                });
                opened_here = true;
                continue;
            }
            let line = match &around {
                Some(code) => {
                    self.place = LineContext::Text;
                    code.fence.bare(line)
                }
                None => line,
            };
            let indent = if whole { indent_of(line) } else { 1 };
            let below = lines.peek().map_or("", |(line, _)| line.trim());
            let clean = clean_lines(line);
            // The cleaned line may contain line endings of other kinds.
            let mut lines = clean.split('\n').map(str::trim).peekable();
            while let Some(line) = lines.next() {
                if line.is_empty() {
                    self.place = LineContext::Text;
                    self.html.end();
                    last = LineShape::Block;
                    continue;
                }
                let next = lines.peek().copied().unwrap_or(below);
                last = self.line(line, indent, next, last, words, spoken);
            }
            if let Some(code) = around {
                self.place = LineContext::Code(code);
            }
        }
        if passage.text.ends_with("\n\n") {
            if let LineContext::Formula { .. } = self.place {
                self.place = LineContext::Text;
            }
            self.html.end();
        }
    }

    fn close(&mut self, opened_here: bool, words: &Words, spoken: &mut SpokenText) {
        let length = self.length(words);
        spoken.stop(if opened_here { ',' } else { '.' });
        spoken.word(&length);
        if !opened_here {
            spoken.stop(',');
            spoken.word(&words.end_of_code);
        }
    }

    fn length(&self, words: &Words) -> String {
        let lines = match &self.place {
            LineContext::Code(code) => code.lines,
            LineContext::Text | LineContext::Table(_) | LineContext::Formula { .. } => 0,
        };
        if lines == 1 {
            words.one_line.clone().into_owned()
        } else {
            fill(&words.many_lines, &[("n", &lines.to_string())])
        }
    }

    /// Speaks one line outside code.
    fn line(
        &mut self,
        line: &str,
        indent: usize,
        next: &str,
        last: LineShape,
        words: &Words,
        spoken: &mut SpokenText,
    ) -> LineShape {
        let first = line.as_bytes().first().copied().unwrap_or_default();
        if let LineContext::Formula { cells } = self.place {
            return self.formula(line, cells, words, spoken);
        }
        if self.html.takes(line) {
            // Inside HTML, the tags make the pauses.
            if !self.html.is_open() {
                pause(last, LineShape::Block, spoken);
            }
            spoken.gap();
            self.html.say(line, &mut self.levels, words, spoken);
            return LineShape::Block;
        }
        if self.html.is_open() {
            self.html.leave();
        }
        if indent == 0 && first.is_ascii_alphabetic() {
            self.levels.leave();
        }
        // Almost every line begins with a letter and has no bar.
        if first.is_ascii_alphabetic()
            && matches!(self.place, LineContext::Text)
            && !is_delimiter(next)
        {
            pause(last, LineShape::Flowing, spoken);
            say_line(line, words, spoken);
            return LineShape::Flowing;
        }
        if let Some((column, text)) = branch(line) {
            self.place = LineContext::Text;
            pause(last, LineShape::Block, spoken);
            let hidden = if line.starts_with(['│', '┃', '|']) {
                0
            } else {
                indent
            };
            self.item(hidden + column, TEXT, "", text, words, spoken);
            return LineShape::Block;
        }
        if let Some(inside) = opens_formula(line) {
            pause(last, LineShape::Block, spoken);
            self.place = LineContext::Formula { cells: false };
            return self.formula(inside, false, words, spoken);
        }
        if is_delimiter(line) {
            return LineShape::Block;
        }
        if self.place.is_row(line, next) {
            pause(last, LineShape::Block, spoken);
            self.row(line, words, spoken);
            return LineShape::Block;
        }
        self.place = LineContext::Text;
        let (template, number, text) = match block(line) {
            Block::Rule => return LineShape::Block,
            Block::Text(line) => {
                if indent == 0 {
                    self.levels.leave();
                }
                pause(last, LineShape::Flowing, spoken);
                say_line(line, words, spoken);
                return LineShape::Flowing;
            }
            Block::Heading(text) => (words.heading.as_ref(), "", text),
            Block::Quote(text) => (words.quote.as_ref(), "", text),
            Block::Item { number, done, text } => {
                let template = match done {
                    Some(false) => words.task_open.as_ref(),
                    Some(true) => words.task_done.as_ref(),
                    None if number.is_empty() => TEXT,
                    None => words.item.as_ref(),
                };
                pause(last, LineShape::Block, spoken);
                self.item(indent, template, number, text, words, spoken);
                return LineShape::Block;
            }
        };
        self.levels.leave();
        pause(last, LineShape::Block, spoken);
        say_as(template, number, text, words, spoken);
        LineShape::Block
    }

    /// Speaks an item of a list or of a tree, with its level if that changes.
    fn item(
        &mut self,
        indent: usize,
        template: &str,
        number: &str,
        text: &str,
        words: &Words,
        spoken: &mut SpokenText,
    ) {
        match self.levels.enter(indent) {
            Some(level) => {
                let levelled = fill(
                    &words.level,
                    &[("n", &level.to_string()), ("text", template)],
                );
                say_as(&levelled, number, text, words, spoken);
            }
            None => say_as(template, number, text, words, spoken),
        }
    }

    /// Speaks a line of a multi-line formula, and any text after its end.
    fn formula(
        &mut self,
        line: &str,
        cells: bool,
        words: &Words,
        spoken: &mut SpokenText,
    ) -> LineShape {
        let ends = [
            "$$",
            "\\]",
            "\\end{equation",
            "\\end{align",
            "\\end{gather",
            "\\end{displaymath",
            "\\end{multline",
            "\\end{eqnarray",
        ];
        let end = ends
            .iter()
            .filter_map(|end| Some((line.find(end)?, end.len())))
            .min();
        let inside = end.map_or(line, |(at, _)| &line[..at]);
        let (said, cells) = math::line(inside, cells, words);
        if !said.is_empty() {
            spoken.word(&clean(&said));
        }
        self.place = match end {
            Some(_) => LineContext::Text,
            None => LineContext::Formula { cells },
        };
        if let Some((at, length)) = end {
            let behind = &line[at + length..];
            // The name of an environment goes with its end.
            let behind = match line[at..].starts_with("\\end") {
                true => behind.split_once('}').map_or("", |(_, behind)| behind),
                false => behind,
            };
            say_line(behind.trim(), words, spoken);
            return LineShape::Block;
        }
        LineShape::Flowing
    }

    /// Speaks a table row: the first one as the headers, the others each with its header.
    fn row(&mut self, line: &str, words: &Words, spoken: &mut SpokenText) {
        let now = spoken.now();
        let left_out = std::cell::Cell::new(0);
        let cells = cells(line).map(|cell| {
            let mut cell_spoken = SpokenText::with_room(cell.len(), now);
            say_cell(&cell, words, &mut cell_spoken);
            left_out.set(left_out.get() + cell_spoken.left_out());
            cell_spoken.finish()
        });
        match &self.place {
            LineContext::Table(Table { headers, .. }) => {
                for (at, cell) in cells.enumerate().filter(|(_, cell)| !cell.is_empty()) {
                    spoken.stop(',');
                    if let Some(header) = headers.get(at).filter(|header| !header.is_empty()) {
                        spoken.word(header);
                        spoken.stop(':');
                    }
                    spoken.word(&cell);
                }
            }
            LineContext::Text | LineContext::Code(_) | LineContext::Formula { .. } => {
                let mut headers = Vec::new();
                let mut all = SpokenText::default();
                for cell in cells {
                    if !cell.is_empty() {
                        all.stop(',');
                        all.word(&cell);
                    }
                    if headers.len() < COLUMNS {
                        headers.push(cell.chars().take(HEADER).collect());
                    }
                }
                let all = all.finish();
                if !all.is_empty() {
                    spoken.word(&fill(&words.table, &[("text", &all)]));
                }
                self.place = LineContext::Table(Table::headed(line, headers));
            }
        }
        spoken.leave_out(left_out.get());
    }
}

/// Speaks a line within a template.
fn say_as(template: &str, number: &str, text: &str, words: &Words, spoken: &mut SpokenText) {
    let mut inner = SpokenText::with_room(text.len(), spoken.now());
    say_line(text, words, &mut inner);
    spoken.leave_out(inner.left_out());
    let inner = inner.finish();
    if template == TEXT {
        spoken.word(&inner);
    } else if !inner.is_empty() {
        spoken.word(&fill(template, &[("n", number), ("text", &inner)]));
    }
}

/// Returns the text after the opening of a formula that does not end on its line.
fn opens_formula(line: &str) -> Option<&str> {
    const BEGINS: [&str; 9] = [
        "\\begin{equation",
        "\\begin{align",
        "\\begin{gather",
        "\\begin{displaymath",
        "\\begin{multline",
        "\\begin{eqnarray",
        "$$",
        "\\[",
        "\\begin{split",
    ];
    let begin = BEGINS.iter().find(|begin| line.starts_with(**begin))?;
    let inside = &line[begin.len()..];
    let (inside, end) = match *begin {
        "$$" => (inside, "$$"),
        "\\[" => (inside, "\\]"),
        _ => (inside.split_once('}')?.1, "\\end{"),
    };
    (!inside.contains(end)).then_some(inside)
}

/// Returns the line of a passage that is one line of ASCII characters and begins with a letter, as nearly all are: it
/// opens no block and needs no cleaning.
pub(super) fn only_line(text: &str) -> Option<&str> {
    let line = text.trim_ascii();
    let begins = line.as_bytes().first()?.is_ascii_alphabetic();
    // A fold, as in `clean`.
    let is_plain = |plain, b| plain & (b' '..0x7f).contains(&b);
    (begins && line.bytes().fold(true, is_plain)).then_some(line)
}

/// Returns whether the words after a fence name no language.
fn is_plain(info: &str) -> bool {
    ["", "text", "txt", "plaintext", "plain", "tree"]
        .iter()
        .any(|plain| info.eq_ignore_ascii_case(plain))
}

fn say_opening(info: &str, words: &Words, spoken: &mut SpokenText) {
    spoken.word(&words.code_block);
    if let Some(name) = language_name(info, words) {
        spoken.stop(',');
        spoken.word(&name);
    }
}

fn pause(last: LineShape, here: LineShape, spoken: &mut SpokenText) {
    if last == LineShape::Block || here == LineShape::Block {
        spoken.stop('.');
    } else {
        spoken.gap();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        /// A passage of one plain line is spoken as it would be line by line.
        #[test]
        fn one_line_is_said_as_lines_are(
            // Any signs, or mostly empty pairs of marks.
            text in "[ \n]{0,2}[a-z]([ -~]{0,40}|[a`*_~ ]{0,12})[ \n]{0,2}"
        ) {
            let words = Words::default();
            let passage = Passage::new(&text);
            prop_assert!(only_line(&text).is_some());
            let mut spoken = SpokenText::default();
            ProseReader::default().by_lines(passage, &words, &mut spoken);
            prop_assert_eq!(ProseReader::default().read(passage, &words, None), spoken.finish());
        }
    }
}
