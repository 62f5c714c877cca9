//! Prose with Markdown in it, made readable on a screen, in braille and by a screen reader.
//!
//! Responsibilities: removing the marks that only a renderer needs, while keeping every word, number and
//! sign of the text. Not here: spoken words (`prose`).
//!
//! # Mental model
//! Lines are read by eye, by finger and by another program's voice: "star star" before a word is noise to all
//! three. A heading says that it is one, a table cell comes with its column's header, a link is its words
//! followed by the address, a fence says where code begins and ends. Code itself is unchanged. What only looks
//! like a mark (`2 * 3`, `snake_case`, a lone star) stays.
//!
//! # Worked example
//! `**Careful:** see [the guide](https://a.example/x).` is shown as
//! `Careful: see the guide (https://a.example/x).`

use super::clean::clean_lines;
use super::code_language::language_name;
use super::prose::{CodeBlock, LineContext, Passage, only_line};
use super::styled::unstyled;
use super::unmarked::without_html;
use super::words::{Words, fill};
use crate::announce::text::markdown::{
    Block, COLUMNS, Closes, Fence, HEADER, Table, block, cells, is_delimiter,
};

/// Shows the pieces of one output, and remembers the block in which a piece ended.
#[derive(Debug, Clone, Default)]
pub struct OutputDisplay {
    place: LineContext,
}

impl OutputDisplay {
    /// Returns the output's next passage as shown: prose on one line, each line of code on a separate line.
    /// Empty if the passage is structure only.
    pub fn show(&mut self, passage: Passage<'_>, words: &Words) -> String {
        self.place.enter(passage.begins);
        if let LineContext::Text = self.place
            && let Some(line) = only_line(passage.text)
        {
            let shown = self.line(line, "", words);
            let is_spaced = shown.contains("  ") || shown.trim().len() < shown.len();
            if !is_spaced {
                return shown;
            }
        }
        self.by_lines(passage, words)
    }

    /// Shows a passage of any number of lines.
    fn by_lines(&mut self, passage: Passage<'_>, words: &Words) -> String {
        let mut out = ShownText {
            text: String::with_capacity(passage.text.len()),
            closed: false,
        };
        let mut lines = passage.lines().peekable();
        while let Some((raw, whole)) = lines.next() {
            let clean = clean_lines(raw);
            if let LineContext::Code(code) = &self.place {
                let closes = if whole {
                    code.fence.closes(raw)
                } else {
                    Closes::Not
                };
                match closes {
                    Closes::Not => {
                        for line in clean
                            .split('\n')
                            .map(|line| code.fence.bare(line).trim_end())
                        {
                            if !line.is_empty() {
                                // The indentation of a line of code shows what it belongs to.
                                out.line(line);
                            }
                        }
                    }
                    Closes::Here | Closes::Before => {
                        out.line(&sentence(&words.end_of_code));
                        self.place = LineContext::Text;
                    }
                }
                if closes != Closes::Before {
                    continue;
                }
            }
            if let Some((fence, info, number)) = Fence::opened_by(raw).filter(|_| whole) {
                if !number.is_empty() {
                    out.prose(&format!("{number}."));
                }
                let start = match language_name(info, words) {
                    Some(name) => format!("{}, {name}:", words.code_block),
                    None => format!("{}:", words.code_block),
                };
                out.line(&capital(&start));
                self.place = LineContext::Code(CodeBlock {
                    fence,
                    lines: 0,
                    drawn: false,
                });
                continue;
            }
            let below = lines.peek().map_or("", |(line, _)| line.trim());
            let mut lines = clean.split('\n').map(str::trim).peekable();
            while let Some(line) = lines.next() {
                if line.is_empty() {
                    self.place = LineContext::Text;
                    continue;
                }
                let next = lines.peek().copied().unwrap_or(below);
                let shown = self.line(line, next, words);
                out.prose(&shown);
            }
        }
        out.text
    }

    fn line(&mut self, line: &str, next: &str, words: &Words) -> String {
        let line = &*without_html(line);
        if is_delimiter(line) {
            return String::new();
        }
        if self.place.is_row(line, next) {
            return self.row(line, words);
        }
        self.place = LineContext::Text;
        match block(line) {
            Block::Rule => String::new(),
            Block::Heading(text) => capital(&fill(&words.heading, &[("text", &inline(text))])),
            Block::Quote(text) => capital(&fill(&words.quote, &[("text", &inline(text))])),
            // An item's mark and number are shown as well as spoken.
            Block::Item { .. } | Block::Text(_) => inline(line),
        }
    }

    fn row(&mut self, line: &str, words: &Words) -> String {
        let cells: Vec<String> = cells(line).map(|cell| inline(&cell)).collect();
        if let LineContext::Table(Table { headers, .. }) = &self.place {
            let shown: Vec<String> = cells
                .iter()
                .enumerate()
                .filter(|(_, cell)| !cell.is_empty())
                .map(|(at, cell)| match headers.get(at) {
                    Some(header) if !header.is_empty() => format!("{header}: {cell}"),
                    Some(_) | None => cell.clone(),
                })
                .collect();
            return sentences(shown);
        }
        let all = cells.iter().filter(|cell| !cell.is_empty()).cloned();
        let all = sentences(all);
        let headers = cells
            .iter()
            .take(COLUMNS)
            .map(|cell| cell.chars().take(HEADER).collect())
            .collect();
        self.place = LineContext::Table(Table::headed(line, headers));
        if all.is_empty() {
            all
        } else {
            capital(&fill(&words.table, &[("text", &all)]))
        }
    }
}

/// Ends each cell of a row like a sentence: by ear, commas would not separate the cells.
fn sentences(cells: impl IntoIterator<Item = String>) -> String {
    let mut row = String::new();
    for cell in cells {
        if !row.is_empty() {
            row.push(' ');
        }
        row.push_str(&cell);
        if !cell.ends_with(['.', '!', '?', ':', ';', '…', '。', '؟', '।']) {
            row.push('.');
        }
    }
    row
}

/// The shown text, line by line.
#[derive(Debug, Default)]
struct ShownText {
    text: String,
    /// Whether the last line is closed, so that prose starts a new one.
    closed: bool,
}

impl ShownText {
    /// Continues in prose, with one space between words.
    fn prose(&mut self, text: &str) {
        for word in text.split_whitespace() {
            if !self.text.is_empty() {
                self.text.push(if self.closed { '\n' } else { ' ' });
            }
            self.closed = false;
            self.text.push_str(word);
        }
    }

    /// Adds a separate line, unchanged.
    fn line(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.closed = true;
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn sentence(text: &str) -> String {
    capital(text) + "."
}

/// Returns a line without its marks: emphasis, backticks, links.
fn inline(line: &str) -> String {
    unstyled(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::announce::text::markdown::PieceStart;

    fn show(text: &str) -> String {
        OutputDisplay::default().show(Passage::new(text), &Words::default())
    }

    #[test]
    fn marks_go_and_words_stay() {
        for (text, shown) in [
            ("**Careful:** now", "Careful: now"),
            ("a *very* _good_ ***day***", "a very good day"),
            ("run `cargo test` now", "run cargo test now"),
            ("``a`b``", "a`b"),
            ("keep `**args` as it is", "keep **args as it is"),
            ("2 * 3 * 4 = 24", "2 * 3 * 4 = 24"),
            ("snake_case_name and __init__", "snake_case_name and init"),
            ("*args alone", "*args alone"),
            ("a ~~bad~~ good ~ idea", "a ~~bad~~ good ~ idea"),
            (
                r"$\sum_{i=1}^{n} i$ and $\lim_{x\to 0} a*b*c$",
                r"$\sum_{i=1}^{n} i$ and $\lim_{x\to 0} a*b*c$",
            ),
            (r"\sum_{i} and x_{j}", r"\sum_{i} and x_{j}"),
            (
                "see [the guide](https://a.example/x).",
                "see the guide (https://a.example/x).",
            ),
            (
                "[https://a.example](https://a.example)",
                "https://a.example",
            ),
            ("![a cat](cat.png)", "a cat (cat.png)"),
            ("[**bold**](u) *x*", "bold (u) x"),
            ("a [note] b](c", "a [note] b](c"),
            ("array[0](1)", "array0 (1)"),
            ("10<sup>6</sup> and x<sub>1</sub>", "10^6 and x_1"),
            ("CO<sub>2</sub> on the 1<sup>st</sup>", "CO2 on the 1st"),
            ("p &lt; 0.05 &amp; more", "p < 0.05 & more"),
            ("see <a href=\"u.example\">it</a>.", "see it (u.example)."),
            ("keep `<b>&lt;` as it is", "keep <b>&lt; as it is"),
            ("<ul><li>one</li><li>two</li></ul>", "one, two"),
            ("# Light first", "Heading: Light first"),
            ("#hashtag", "#hashtag"),
            ("- item *one*", "- item one"),
            ("3. third", "3. third"),
            ("---", ""),
        ] {
            assert_eq!(show(text), shown, "{text}");
        }
    }

    #[test]
    fn a_table_is_read_by_its_headers_and_code_is_left_alone() {
        let words = Words::default();
        let mut readable = OutputDisplay::default();
        let mut begins = PieceStart::Line;
        let mut shown = |text, next| {
            let passage = Passage { text, begins };
            begins = next;
            readable.show(passage, &words)
        };
        assert_eq!(
            shown("| Name | **Age** |\n", PieceStart::Line),
            "Table: Name. Age."
        );
        assert_eq!(shown("|---|---|\n", PieceStart::Line), "");
        assert_eq!(
            shown("| Ann | 7 |\n", PieceStart::Line),
            "Name: Ann. Age: 7."
        );
        assert_eq!(shown("\nThen:\n", PieceStart::Line), "Then:");
        assert_eq!(shown("```rust\n", PieceStart::Code), "Code block, Rust:");
        assert_eq!(
            shown("let a = *b * c_d; // **x**\n", PieceStart::Code),
            "let a = *b * c_d; // **x**"
        );
        assert_eq!(shown("```\n", PieceStart::Line), "End of code.");
        assert_eq!(shown("*after*", PieceStart::Line), "after");
        assert_eq!(
            shown(
                "It is:\n```python\nif a:\n    b()\n```\nSo *be* it.\n",
                PieceStart::Line
            ),
            "It is:\nCode block, Python:\nif a:\n    b()\nEnd of code.\nSo be it."
        );
    }

    proptest! {
        /// A passage of one plain line is shown as it would be line by line.
        #[test]
        fn one_line_is_shown_as_lines_are(
            // Any signs, or mostly empty pairs of marks.
            text in "[ \n]{0,2}[a-z]([ -~]{0,40}|[a`*_~ ]{0,12})[ \n]{0,2}"
        ) {
            let words = Words::default();
            let passage = Passage::new(&text);
            let whole = OutputDisplay::default().by_lines(passage, &words);
            prop_assert_eq!(OutputDisplay::default().show(passage, &words), whole);
        }

        /// No letter or digit of any text is ever lost, whatever marks surround it.
        #[test]
        fn no_letter_is_lost(text in "[a-z0-9*_`~\\[\\]()!#| \n>-]{0,80}") {
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            let shown = show(&text);
            // The program's own words are added only for headings, tables, quotes and code.
            if !text.contains(['#', '|', '>']) && !text.contains("```") && !text.contains("~~~") {
                // A link's title is not read.
                if !text.contains("](") {
                    prop_assert_eq!(letters(&shown), letters(&text));
                }
            }
            // Only code has separate lines.
            prop_assert!(!shown.contains('\n') || text.contains("```") || text.contains("~~~"));
        }
    }

    #[test]
    fn a_flood_of_marks_is_taken_in_its_stride() {
        for flood in ["*a ", "[x](", "`", "_a", "**", "![", "a|", "~~a"] {
            let text = flood.repeat(40_000);
            let began = std::time::Instant::now();
            show(&text);
            assert!(began.elapsed().as_secs() < 10, "{flood}");
        }
    }
}
