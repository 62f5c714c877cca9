//! Prose with Markdown in it: what a line is.
//!
//! Responsibilities: fences, headings, lists, quotes, tables; the pauses between them. Not here:
//! what is inside a line (`inline`).

use jiff::Timestamp;

use super::clean::clean_lines;
use super::inline::say_line;
use super::spoken::Spoken;
use super::words::{Words, fill};

/// How many columns of a table are remembered; a wider one is heard without its later headers.
pub(super) const COLUMNS: usize = 32;

/// How many characters of a column's header are repeated in each row, so that a long header and
/// many short rows do not grow out of proportion.
pub(super) const HEADER: usize = 40;

/// How many characters of a fence's language are said.
const LANGUAGE: usize = 20;

/// The largest number of a list's item; more digits are a year or an amount.
const NUMBER_DIGITS: usize = 3;

/// Speaks a text as prose: structure in words, long things short, signs without sound dropped.
///
/// A fence alone is told as the start of code when it names a language, and else as its end. For
/// the pieces of one output a [`Reader`] knows better. Source: `Text into speech`.
pub fn prose(text: &str, words: &Words) -> String {
    prose_at(text, words, None)
}

/// Speaks a text like [`prose`]; with `now`, moments are told by their distance from it.
pub fn prose_at(text: &str, words: &Words, now: Option<Timestamp>) -> String {
    let bare = text.trim();
    if bare.len() >= 3 && (bare.bytes().all(|b| b == b'`') || bare.bytes().all(|b| b == b'~')) {
        return words.end_of_code.clone().into_owned();
    }
    let mut reader = Reader::default();
    let mut spoken = reader.read_at(text, words, now);
    if let Place::Code(Fence { lines: 1.., .. }) = reader.place {
        spoken.push_str(", ");
        spoken.push_str(&reader.length(words));
    }
    spoken
}

/// Reads the pieces of one output as prose and remembers the block that a piece broke off in.
#[derive(Debug, Clone, Default)]
pub struct Reader {
    place: Place,
}

/// What the next line stands in.
#[derive(Debug, Clone, Default)]
pub(super) enum Place {
    /// Between blocks, or in a paragraph.
    #[default]
    Text,
    /// Behind a fence.
    Code(Fence),
    /// Behind a table's first row: its headers.
    Table(Vec<String>),
}

/// An open fence.
#[derive(Debug, Clone)]
pub(super) struct Fence {
    sign: char,
    length: usize,
    lines: usize,
}

/// Says whether a line keeps a pause from its neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A paragraph's line, which may go on in the next.
    Flowing,
    /// An item, a heading, a row: a thing of its own.
    Block,
}

impl Reader {
    /// Speaks the next piece of the output; empty inside a block of code.
    pub fn read(&mut self, piece: &str, words: &Words) -> String {
        self.read_at(piece, words, None)
    }

    /// Speaks the next piece like [`Reader::read`]; with `now`, moments are told by their distance
    /// from it.
    pub fn read_at(&mut self, piece: &str, words: &Words, now: Option<Timestamp>) -> String {
        let clean = clean_lines(piece);
        // A piece ends or begins with the line's end that parts it from its neighbour: no empty line.
        let text = clean.trim_matches('\n');
        if text.is_empty() {
            if clean.len() > 1 && matches!(self.place, Place::Table(_)) {
                self.place = Place::Text;
            }
            return String::new();
        }
        let mut spoken = Spoken::with_room(text.len() + text.len() / 16 + 16, now);
        let mut last = Shape::Flowing;
        let mut opened_here = false;
        let mut lines = text.split('\n').map(str::trim).peekable();
        while let Some(line) = lines.next() {
            if let Place::Code(fence) = &mut self.place {
                if fence.is_closed_by(line) {
                    self.close(opened_here, words, &mut spoken);
                    last = Shape::Block;
                } else {
                    fence.lines = fence.lines.saturating_add(1);
                }
                continue;
            }
            if line.is_empty() {
                self.place = Place::Text;
                last = Shape::Block;
                continue;
            }
            if let Some((fence, language)) = fence(line) {
                spoken.stop('.');
                say_opening(language, words, &mut spoken);
                self.place = Place::Code(fence);
                opened_here = true;
                continue;
            }
            let next = lines.peek().copied().unwrap_or_default();
            let shape = self.line(line, next, last, words, &mut spoken);
            last = shape;
        }
        spoken.finish()
    }

    fn close(&mut self, opened_here: bool, words: &Words, spoken: &mut Spoken) {
        let length = self.length(words);
        spoken.stop(if opened_here { ',' } else { '.' });
        spoken.word(&length);
        if !opened_here {
            spoken.stop(',');
            spoken.word(&words.end_of_code);
        }
        self.place = Place::Text;
    }

    fn length(&self, words: &Words) -> String {
        let lines = match &self.place {
            Place::Code(fence) => fence.lines,
            Place::Text | Place::Table(_) => 0,
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
        if first.is_ascii_alphabetic() && matches!(self.place, Place::Text) && !is_delimiter(next) {
            pause(last, Shape::Flowing, spoken);
            say_line(line, words, spoken);
            return Shape::Flowing;
        }
        if is_delimiter(line) {
            return Shape::Block;
        }
        if first == b'|'
            || line.contains('|') && (is_delimiter(next) || matches!(self.place, Place::Table(_)))
        {
            pause(last, Shape::Block, spoken);
            self.row(line, words, spoken);
            return Shape::Block;
        }
        self.place = Place::Text;
        if is_rule(line) {
            return Shape::Block;
        }
        let (template, number, text) = match block(line, words) {
            Some(found) => found,
            None => {
                pause(last, Shape::Flowing, spoken);
                say_line(line, words, spoken);
                return Shape::Flowing;
            }
        };
        pause(last, Shape::Block, spoken);
        let mut inner = Spoken::with_room(text.len(), spoken.now());
        say_line(text, words, &mut inner);
        let inner = inner.finish();
        if !inner.is_empty() {
            spoken.word(&fill(template, &[("n", number), ("text", &inner)]));
        }
        Shape::Block
    }

    /// Speaks a table's row: the first one as its headers, the others by them.
    fn row(&mut self, line: &str, words: &Words, spoken: &mut Spoken) {
        let now = spoken.now();
        let cells = line.trim_matches('|').split('|').map(|cell| {
            let mut cell_spoken = Spoken::with_room(cell.len(), now);
            say_line(cell.trim_end_matches('\\').trim(), words, &mut cell_spoken);
            cell_spoken.finish()
        });
        match &self.place {
            Place::Table(headers) => {
                for (at, cell) in cells.enumerate().filter(|(_, cell)| !cell.is_empty()) {
                    spoken.stop(',');
                    if let Some(header) = headers.get(at).filter(|header| !header.is_empty()) {
                        spoken.word(header);
                        spoken.stop(':');
                    }
                    spoken.word(&cell);
                }
            }
            Place::Text | Place::Code(_) => {
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
                self.place = Place::Table(headers);
            }
        }
    }
}

impl Fence {
    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        line.len() >= self.length
            && line.trim_start_matches(self.sign).is_empty()
            && !line.is_empty()
    }
}

/// Reads a line as the start of a block of code: its fence and its language.
pub(super) fn fence(line: &str) -> Option<(Fence, &str)> {
    let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(sign);
    let length = line.len() - info.len();
    // Three backticks with more of them behind are inline code.
    (length >= 3 && !info.contains('`')).then(|| {
        let language = info.split_whitespace().next().unwrap_or_default();
        (
            Fence {
                sign,
                length,
                lines: 0,
            },
            language,
        )
    })
}

fn say_opening(language: &str, words: &Words, spoken: &mut Spoken) {
    spoken.word(&words.code_block);
    if let Some(name) = language_name(language, words) {
        spoken.stop(',');
        spoken.word(&name);
    }
}

/// Gives the name of a programming language by the tag behind a fence.
pub(super) fn language_name(language: &str, words: &Words) -> Option<String> {
    let tag: String = language
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

/// Tells whether a line parts a table's headers from its rows.
pub(super) fn is_delimiter(line: &str) -> bool {
    line.bytes().all(|b| b"|-: ".contains(&b)) && line.contains("--") && line.contains('|')
}

/// Tells whether a line is a rule across the page: three signs, no more, which are then counted.
pub(super) fn is_rule(line: &str) -> bool {
    matches!(line, "---" | "***" | "___" | "- - -" | "* * *")
}

/// Reads a line as a block of its own: its template, number and text.
fn block<'a>(line: &'a str, words: &'a Words) -> Option<(&'a str, &'a str, &'a str)> {
    let after = |mark: &str| line.strip_prefix(mark).map(str::trim_start);
    if line.starts_with('#') {
        let text = line.trim_start_matches('#');
        let is_heading = line.len() - text.len() <= 6 && (text.starts_with(' ') || text.is_empty());
        return is_heading.then(|| {
            (
                words.heading.as_ref(),
                "",
                text.trim_end_matches('#').trim(),
            )
        });
    }
    if line.starts_with('>') {
        let text = line.trim_start_matches(['>', ' ']);
        let is_quote = line.starts_with("> ") || line.starts_with(">>");
        return is_quote.then_some((words.quote.as_ref(), "", text));
    }
    if let Some(text) = ["- ", "* ", "+ ", "• ", "– "].into_iter().find_map(after) {
        return Some(task(text, "{text}", "", words));
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at(digits);
    let text = rest
        .strip_prefix(". ")
        .or_else(|| rest.strip_prefix(") "))?;
    (1..=NUMBER_DIGITS)
        .contains(&digits)
        .then(|| task(text.trim_start(), &words.item, number, words))
}

/// Reads an item's text, with its box when it has one.
fn task<'a>(
    text: &'a str,
    template: &'a str,
    number: &'a str,
    words: &'a Words,
) -> (&'a str, &'a str, &'a str) {
    if let Some(text) = text.strip_prefix("[ ] ") {
        (&words.task_open, number, text)
    } else if let Some(text) = text
        .strip_prefix("[x] ")
        .or_else(|| text.strip_prefix("[X] "))
    {
        (&words.task_done, number, text)
    } else {
        (template, number, text)
    }
}
