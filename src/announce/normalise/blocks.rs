//! The lines of prose: headings, items, quotations, tables, code blocks.
//!
//! Responsibilities: what each line is and how the lines are joined. Not here: what stands in a line
//! (`inline`).

use jiff::Timestamp;

use super::inline;
use super::words::{Words, fill};
use crate::announce::sentence::Context;

/// How many columns of a table are said; wider tables are for other eyes.
const COLUMNS: usize = 64;

/// The longest rule of dashes that is passed over in silence; a longer one is counted.
const RULE: usize = 4;

/// Says a text of one or more lines.
pub(super) fn said(
    words: &Words,
    text: &str,
    context: &Context,
    now: Option<Timestamp>,
    out: &mut String,
) {
    let mut blocks = Blocks { words, now, out };
    let mut lines = text.lines().peekable();
    match context {
        Context::Prose => {}
        Context::Code(info) => blocks.code(&mut lines, info, None),
        Context::Table(header) => blocks.table(&mut lines, Some(header)),
    }
    while let Some(line) = lines.next() {
        let bare = line.trim();
        if bare.is_empty() {
            continue;
        }
        if let Some(marks) = fence(bare) {
            let info = bare[marks.len()..].trim();
            blocks.code(&mut lines, info, Some(marks));
        } else if bare.starts_with('|') && bare.len() > 1 {
            let mut rows = std::iter::once(line).chain(std::iter::from_fn(|| {
                lines.next_if(|next| next.trim_start().starts_with('|'))
            }));
            let rows: Vec<&str> = rows.by_ref().collect();
            blocks.table(&mut rows.into_iter().peekable(), None);
        } else {
            let wrapped = blocks.line(bare);
            blocks.wrapped(wrapped, lines.peek().copied());
        }
    }
}

/// Gives the marks at a line's start that open or close a code block.
fn fence(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let end = line.find(|c| c != mark).unwrap_or(line.len());
    // Backticks with more backticks after them are a code span.
    (end >= 3 && !(mark == '`' && line[end..].contains('`'))).then(|| &line[..end])
}

/// Says how the line before goes on.
#[derive(PartialEq)]
enum Flow {
    /// It is plain text and may have been broken by hand.
    Text,
    /// It stands for itself.
    Own,
}

struct Blocks<'w, 'o> {
    words: &'w Words,
    now: Option<Timestamp>,
    out: &'o mut String,
}

impl Blocks<'_, '_> {
    /// Sets what comes off from what was said.
    fn pause(&mut self) {
        let end = self.out.trim_end().len();
        self.out.truncate(end);
        if self
            .out
            .ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '"' | '%' | '\''))
        {
            self.out.push('.');
        }
        inline::space(self.out);
    }

    fn push(&mut self, text: &str) {
        self.pause();
        self.out.push_str(text);
    }

    fn inline(&self, text: &str) -> String {
        let mut said = String::new();
        inline::said(self.words, text, self.now, &mut said);
        said.truncate(said.trim_end().len());
        said
    }

    /// Sets the next line off, unless it carries this one on.
    fn wrapped(&mut self, flow: Flow, next: Option<&str>) {
        let Some(next) = next else { return };
        let goes_on = next.trim_start().starts_with(char::is_lowercase);
        if flow == Flow::Text && goes_on {
            inline::space(self.out);
        } else {
            self.pause();
        }
    }

    fn line(&mut self, line: &str) -> Flow {
        let hashes = line.bytes().take_while(|&b| b == b'#').count();
        if (1..=6).contains(&hashes) && line[hashes..].starts_with([' ', '\t']) {
            let text = self.inline(line[hashes..].trim().trim_end_matches('#').trim_end());
            self.push(&fill(&self.words.heading, &[("text", &text)]));
            return Flow::Own;
        }
        if let Some(quoted) = line.strip_prefix('>') {
            let text = self.inline(quoted.trim_start_matches(['>', ' ']));
            if !text.is_empty() {
                self.push(&fill(&self.words.quote, &[("text", &text)]));
            }
            return Flow::Own;
        }
        if is_rule(line) {
            return Flow::Own;
        }
        if let Some((marker, text)) = item(line) {
            let (template, text) = match (text.strip_prefix("[ ] "), done(text)) {
                (Some(text), _) => (&self.words.open, text),
                (None, Some(text)) => (&self.words.done, text),
                (None, None) if marker.is_empty() => (&self.words.bullet, text),
                (None, None) => (&self.words.item, text),
            };
            let text = self.inline(text);
            let said = fill(template, &[("number", marker), ("text", &text)]);
            self.push(&said);
            return Flow::Own;
        }
        inline::said(self.words, line, self.now, self.out);
        Flow::Text
    }

    /// Counts the lines of a code block; `marks` opened it, if that was in this text.
    fn code<'a>(
        &mut self,
        lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
        info: &str,
        marks: Option<&str>,
    ) {
        let mut count = 0;
        let mut only = "";
        for line in lines.by_ref() {
            let bare = line.trim();
            let closes = match (marks, fence(bare)) {
                (_, None) => false,
                (None, Some(found)) => found.len() == bare.len(),
                (Some(open), Some(found)) => found.starts_with(open) && found.len() == bare.len(),
            };
            if closes {
                break;
            }
            count += 1;
            only = bare;
        }
        let amount = self.words.lines.of(count);
        if marks.is_none() {
            if count > 0 {
                self.push(&fill(&self.words.code_rest, &[("lines", &amount)]));
                self.pause();
            }
            return;
        }
        let language = language(self.words, info);
        let mut said = if language.is_empty() {
            fill(&self.words.code_plain, &[("lines", &amount)])
        } else {
            fill(
                &self.words.code,
                &[("language", &language), ("lines", &amount)],
            )
        };
        if count == 1 && !only.is_empty() {
            // A single line is most often a command to run; it is worth hearing.
            let mut text = String::new();
            super::command::said(self.words, only, &mut text);
            said = fill(&self.words.code_line, &[("block", &said), ("text", &text)]);
        }
        self.push(&said);
        self.pause();
    }

    /// Says the rows of a table; the first row names the columns unless a header is given.
    fn table<'a>(
        &mut self,
        rows: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
        header: Option<&str>,
    ) {
        let mut names: Vec<String> = header.map_or_else(Vec::new, |row| self.cells(row));
        let mut said = Vec::new();
        while let Some(row) =
            rows.next_if(|row| row.trim_start().starts_with('|') || header.is_some())
        {
            if is_delimiter(row) {
                continue;
            }
            let cells = self.cells(row);
            if names.is_empty() {
                names = cells;
                continue;
            }
            let row: Vec<String> = cells
                .iter()
                .enumerate()
                .filter(|(_, value)| !value.is_empty())
                .map(|(index, value)| match names.get(index) {
                    Some(name) if !name.is_empty() => {
                        fill(&self.words.cell, &[("header", name), ("value", value)])
                    }
                    Some(_) | None => value.clone(),
                })
                .collect();
            said.push(row.join(", "));
        }
        if header.is_none() {
            if said.is_empty() {
                // A single row is no table.
                self.push(&names.join(", "));
                return;
            }
            let rows = self.words.rows.of(said.len() as u64);
            self.push(&fill(&self.words.table, &[("rows", &rows)]));
        }
        for row in said {
            self.push(&row);
        }
        self.pause();
    }

    fn cells(&self, row: &str) -> Vec<String> {
        let row = row.trim();
        let row = row.strip_prefix('|').unwrap_or(row);
        let row = row.strip_suffix('|').unwrap_or(row);
        let mut cells = Vec::new();
        let mut start = 0;
        let mut escaped = false;
        for (at, c) in row.char_indices() {
            if c == '|' && !escaped {
                cells.push(&row[start..at]);
                start = at + 1;
            }
            escaped = c == '\\' && !escaped;
        }
        cells.push(&row[start..]);
        cells
            .into_iter()
            .take(COLUMNS)
            .map(|cell| self.inline(cell.trim()))
            .collect()
    }
}

/// Says whether a row is the line of dashes under a table's header.
fn is_delimiter(row: &str) -> bool {
    row.contains('-')
        && row
            .bytes()
            .all(|b| matches!(b, b'|' | b'-' | b':' | b' ' | b'\t' | b'\r'))
}

/// Says whether a line is a short rule, which is passed over.
fn is_rule(line: &str) -> bool {
    let bytes = line.as_bytes();
    matches!(bytes.first(), Some(b'-' | b'*' | b'_' | b'='))
        && (3..=RULE).contains(&bytes.len())
        && bytes.iter().all(|b| b == &bytes[0])
}

fn done(text: &str) -> Option<&str> {
    text.strip_prefix("[x] ")
        .or_else(|| text.strip_prefix("[X] "))
}

/// Gives an item's number or letter (empty for a bullet) and its text.
fn item(line: &str) -> Option<(&str, &str)> {
    let mut chars = line.chars();
    let first = chars.next()?;
    let rest = chars.as_str();
    if matches!(first, '-' | '*' | '+') && rest.starts_with([' ', '\t']) {
        return Some(("", rest.trim_start()));
    }
    if matches!(first, '•' | '⁃' | '‣' | '◦' | '▪' | '●' | '■' | '○') {
        let text = rest.trim_start();
        // "• 9. The ninth" has a number after all.
        return Some(numbered(text).unwrap_or(("", text)));
    }
    numbered(line)
}

fn numbered(line: &str) -> Option<(&str, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let length = if digits == 0 {
        usize::from(line.as_bytes().first().is_some_and(u8::is_ascii_lowercase))
    } else {
        digits
    };
    if !(1..=9).contains(&length) {
        return None;
    }
    let rest = &line[length..];
    let text = rest
        .strip_prefix(".)")
        .or_else(|| rest.strip_prefix('.'))
        .or_else(|| rest.strip_prefix(')'))?;
    text.starts_with([' ', '\t'])
        .then(|| (&line[..length], text.trim_start()))
}

/// Gives a code block's language as it is said: "rust" is "Rust".
fn language(words: &Words, info: &str) -> String {
    let name = info
        .trim_start_matches(['{', '.'])
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | ':'))
        .next()
        .unwrap_or("");
    if let Some(said) = words.code_languages.get(&name.to_lowercase()) {
        return said.clone();
    }
    let mut chars = name.chars().take(32);
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}
