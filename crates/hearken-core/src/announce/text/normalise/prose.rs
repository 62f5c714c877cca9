//! Prose with Markdown in it, line by line, in spoken words.
//!
//! Responsibilities: how headings, lists, quotes and tables are spoken; the pauses between them. Not here: which
//! line is which (`markdown`), what is inside a line (`inline`).

use jiff::Timestamp;

use super::clean::clean_lines;
use super::inline::say_line;
use super::spoken::Spoken;
use super::words::{Words, fill};
use crate::announce::text::markdown::{
    Begins, Block, COLUMNS, Closes, Fence, HEADER, Table, block, cells, is_delimiter,
};

/// How many characters of a fence's language are spoken.
const LANGUAGE: usize = 20;

/// The template for text that is spoken as it is.
const TEXT: &str = "{text}";

/// Returns a text as spoken prose: structure in words, long things shortened, signs without sound dropped.
///
/// A lone fence counts as the start of code if it names a language, and otherwise as its end. For
/// the pieces of one output, a [`Reader`] knows which it is. Source: `Text into speech`.
pub fn prose(text: &str, words: &Words) -> String {
    prose_at(text, words, None)
}

/// Returns a text as [`prose`] does; with `now`, moments are expressed by their distance from it.
pub fn prose_at(text: &str, words: &Words, now: Option<Timestamp>) -> String {
    let bare = text.trim();
    if bare.len() >= 3 && (bare.bytes().all(|b| b == b'`') || bare.bytes().all(|b| b == b'~')) {
        return words.end_of_code.clone().into_owned();
    }
    let mut reader = Reader::default();
    let mut spoken = reader.read(Passage::new(text), words, now);
    if let Within::Code(Code { lines: 1.., .. }) = reader.place {
        spoken.push_str(", ");
        spoken.push_str(&reader.length(words));
    }
    spoken
}

/// Reads the pieces of one output as prose, and remembers the block in which a piece ended.
#[derive(Debug, Clone, Default)]
pub struct Reader {
    place: Within,
}

/// The next piece of an output, and where it begins.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    /// The text as it was streamed.
    pub text: &'a str,
    /// Where it begins, as determined by the code that cut it.
    pub begins: Begins,
}

impl<'a> Passage<'a> {
    /// Creates a passage that begins with a line of prose.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            begins: Begins::Line,
        }
    }

    /// Returns the lines, each with whether it starts at the beginning of a line. A newline at either end of the
    /// passage only separates it from its neighbours and is not an empty line.
    pub(super) fn lines(self) -> impl Iterator<Item = (&'a str, bool)> {
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
pub(super) enum Within {
    /// Between blocks, or in a paragraph.
    #[default]
    Text,
    /// After an opening fence.
    Code(Code),
    /// After a table's first row.
    Table(Table),
}

/// An open code block.
#[derive(Debug, Clone)]
pub(super) struct Code {
    pub(super) fence: Fence,
    pub(super) lines: usize,
}

impl Within {
    /// Leaves an open code block if the next passage begins outside it.
    pub(super) fn enter(&mut self, begins: Begins) {
        if matches!(self, Self::Code(_)) && !begins.in_code() {
            *self = Self::Text;
        }
    }

    /// Returns whether a line is a row of the open table, or of a table that begins with it.
    pub(super) fn is_row(&self, line: &str, next: &str) -> bool {
        match self {
            Self::Table(table) => table.goes_on(line),
            Self::Text | Self::Code(_) => Table::begins(line, next),
        }
    }
}

/// Whether pauses separate a line from its neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A line of a paragraph, which may continue on the next one.
    Flowing,
    /// An item, a heading, a row: a unit of its own.
    Block,
}

impl Reader {
    /// Leaves an open code block if the next passage begins outside it.
    #[cfg(test)]
    pub(in crate::announce::text) fn enter(&mut self, begins: Begins) {
        self.place.enter(begins);
    }

    /// Returns whether a code block is open.
    #[cfg(test)]
    pub(in crate::announce::text) fn in_code(&self) -> bool {
        matches!(self.place, Within::Code(_))
    }

    /// Returns the spoken words of the output's next passage; empty inside a code block. With `now`, moments are
    /// expressed by their distance from it.
    pub fn read(&mut self, passage: Passage<'_>, words: &Words, now: Option<Timestamp>) -> String {
        self.place.enter(passage.begins);
        if passage.text.bytes().all(|b| matches!(b, b'\n' | b'\r')) {
            if passage.text.len() > 1 && matches!(self.place, Within::Table(_)) {
                self.place = Within::Text;
            }
            return String::new();
        }
        let mut spoken = Spoken::with_room(passage.text.len() + passage.text.len() / 16 + 16, now);
        if let Within::Text = self.place
            && let Some(line) = only_line(passage.text)
        {
            self.line(line, "", Shape::Flowing, words, &mut spoken);
        } else {
            self.by_lines(passage, words, &mut spoken);
        }
        spoken.finish()
    }

    /// Speaks a passage of any number of lines.
    fn by_lines(&mut self, passage: Passage<'_>, words: &Words, spoken: &mut Spoken) {
        let mut last = Shape::Flowing;
        let mut opened_here = false;
        let mut lines = passage.lines().peekable();
        while let Some((line, whole)) = lines.next() {
            if let Within::Code(code) = &mut self.place {
                let closes = if whole {
                    code.fence.closes(line)
                } else {
                    Closes::Not
                };
                match closes {
                    Closes::Not => code.lines = code.lines.saturating_add(1),
                    Closes::Here | Closes::Before => {
                        self.close(opened_here, words, spoken);
                        last = Shape::Block;
                    }
                }
                if closes != Closes::Before {
                    continue;
                }
            }
            if let Some((fence, info, number)) = Fence::opened_by(line).filter(|_| whole) {
                spoken.stop('.');
                if !number.is_empty() {
                    spoken.word(number);
                    spoken.stop(',');
                }
                say_opening(info, words, spoken);
                self.place = Within::Code(Code { fence, lines: 0 });
                opened_here = true;
                continue;
            }
            let below = lines.peek().map_or("", |(line, _)| line.trim());
            let clean = clean_lines(line);
            // The cleaned line may contain line endings of other kinds.
            let mut lines = clean.split('\n').map(str::trim).peekable();
            while let Some(line) = lines.next() {
                if line.is_empty() {
                    self.place = Within::Text;
                    last = Shape::Block;
                    continue;
                }
                let next = lines.peek().copied().unwrap_or(below);
                last = self.line(line, next, last, words, spoken);
            }
        }
    }

    fn close(&mut self, opened_here: bool, words: &Words, spoken: &mut Spoken) {
        let length = self.length(words);
        spoken.stop(if opened_here { ',' } else { '.' });
        spoken.word(&length);
        if !opened_here {
            spoken.stop(',');
            spoken.word(&words.end_of_code);
        }
        self.place = Within::Text;
    }

    fn length(&self, words: &Words) -> String {
        let lines = match &self.place {
            Within::Code(code) => code.lines,
            Within::Text | Within::Table(_) => 0,
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
        next: &str,
        last: Shape,
        words: &Words,
        spoken: &mut Spoken,
    ) -> Shape {
        let first = line.as_bytes().first().copied().unwrap_or_default();
        // Almost every line begins with a letter and has no bar.
        if first.is_ascii_alphabetic() && matches!(self.place, Within::Text) && !is_delimiter(next)
        {
            pause(last, Shape::Flowing, spoken);
            say_line(line, words, spoken);
            return Shape::Flowing;
        }
        if is_delimiter(line) {
            return Shape::Block;
        }
        if self.place.is_row(line, next) {
            pause(last, Shape::Block, spoken);
            self.row(line, words, spoken);
            return Shape::Block;
        }
        self.place = Within::Text;
        let (template, number, text) = match block(line) {
            Block::Rule => return Shape::Block,
            Block::Text(line) => {
                pause(last, Shape::Flowing, spoken);
                say_line(line, words, spoken);
                return Shape::Flowing;
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
                (template, number, text)
            }
        };
        pause(last, Shape::Block, spoken);
        let mut inner = Spoken::with_room(text.len(), spoken.now());
        say_line(text, words, &mut inner);
        let inner = inner.finish();
        if template == TEXT {
            spoken.word(&inner);
        } else if !inner.is_empty() {
            spoken.word(&fill(template, &[("n", number), ("text", &inner)]));
        }
        Shape::Block
    }

    /// Speaks a table row: the first one as the headers, the others each with its header.
    fn row(&mut self, line: &str, words: &Words, spoken: &mut Spoken) {
        let now = spoken.now();
        let cells = cells(line).map(|cell| {
            let mut cell_spoken = Spoken::with_room(cell.len(), now);
            say_line(&cell, words, &mut cell_spoken);
            cell_spoken.finish()
        });
        match &self.place {
            Within::Table(Table { headers, .. }) => {
                for (at, cell) in cells.enumerate().filter(|(_, cell)| !cell.is_empty()) {
                    spoken.stop(',');
                    if let Some(header) = headers.get(at).filter(|header| !header.is_empty()) {
                        spoken.word(header);
                        spoken.stop(':');
                    }
                    spoken.word(&cell);
                }
            }
            Within::Text | Within::Code(_) => {
                let mut headers = Vec::new();
                let mut all = Spoken::default();
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
                self.place = Within::Table(Table::headed(line, headers));
            }
        }
    }
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

fn say_opening(info: &str, words: &Words, spoken: &mut Spoken) {
    spoken.word(&words.code_block);
    if let Some(name) = language_name(info, words) {
        spoken.stop(',');
        spoken.word(&name);
    }
}

/// Returns the name of a programming language, given the words after a fence.
pub fn language_name(info: &str, words: &Words) -> Option<String> {
    let tag: String = info
        .chars()
        .take_while(|c| c.is_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.'))
        .take(LANGUAGE)
        .collect();
    let mut letters = tag.chars();
    let first = letters.next()?;
    Some(match words.language(&tag) {
        Some(name) => name.to_owned(),
        None => first.to_uppercase().collect::<String>() + letters.as_str(),
    })
}

fn pause(last: Shape, here: Shape, spoken: &mut Spoken) {
    if last == Shape::Block || here == Shape::Block {
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
            // Any signs, or mostly marks around nothing.
            text in "[ \n]{0,2}[a-z]([ -~]{0,40}|[a`*_~ ]{0,12})[ \n]{0,2}"
        ) {
            let words = Words::default();
            let passage = Passage::new(&text);
            prop_assert!(only_line(&text).is_some());
            let mut spoken = Spoken::default();
            Reader::default().by_lines(passage, &words, &mut spoken);
            prop_assert_eq!(Reader::default().read(passage, &words, None), spoken.finish());
        }
    }
}
