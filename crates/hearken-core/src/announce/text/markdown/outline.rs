//! The outline of a whole text: headings, paragraphs, code blocks.
//!
//! Responsibilities: cutting a complete text into the sections that a person steps through. Not here: how they
//! are spoken (`announce::announcer`).

use super::fence::{Closes, Fence};
use super::line::{Block, MarkdownLine, block};
use super::span::spans;

/// One section of a text that a person can go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::announce) struct Section<'a> {
    /// The whole section, as written.
    pub(in crate::announce) written: &'a str,
    /// What it is.
    pub(in crate::announce) is: Is<'a>,
}

/// The kind of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::announce) enum Is<'a> {
    /// A heading.
    Heading,
    /// Lines of prose, items or a table, up to the next empty line.
    Paragraph,
    /// A code block.
    Code {
        /// The words after the opening marks.
        info: &'a str,
        /// The lines between the marks.
        lines: Vec<&'a str>,
    },
}

/// What is open at the current line.
enum OpenBlocks<'a> {
    Nothing,
    Paragraph {
        start: usize,
    },
    Code {
        start: usize,
        fence: Fence,
        /// The indentation of the opening marks.
        indent: usize,
        info: &'a str,
        lines: Vec<&'a str>,
    },
}

/// Returns a paragraph in pieces, each item of a list separately.
pub(in crate::announce) fn items(paragraph: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    for line in paragraph.split_inclusive('\n') {
        let is_item = matches!(block(line.trim()), Block::Item { .. });
        if is_item && at > from {
            pieces.extend(paragraph.get(from..at));
            from = at;
        }
        at += line.len();
    }
    pieces.extend(paragraph.get(from..).filter(|rest| !rest.is_empty()));
    pieces
}

/// Returns the sections of a text, in order; a code block without an end extends to the end of the text.
pub(in crate::announce) fn outline(text: &str) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    let mut open = OpenBlocks::Nothing;
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let start = at;
        at += whole.len();
        let line = whole.trim_end_matches(['\n', '\r']);
        if let OpenBlocks::Code {
            fence,
            indent,
            lines,
            ..
        } = &mut open
        {
            match fence.closes(line) {
                Closes::Not => {
                    lines.push(moved_back(fence.bare(line), *indent));
                    continue;
                }
                Closes::Here => {
                    close(&mut open, text, at, &mut sections);
                    continue;
                }
                Closes::Before => close(&mut open, text, start, &mut sections),
            }
        }
        if let Some((fence, info, _)) = Fence::opened_by(line) {
            close(&mut open, text, start, &mut sections);
            let indent = line.find(['`', '~']).unwrap_or_default();
            let quoted = line.trim_start().starts_with('>');
            open = OpenBlocks::Code {
                start,
                fence,
                indent: if quoted { 0 } else { indent },
                info,
                lines: Vec::new(),
            };
            continue;
        }
        match MarkdownLine::at(line, true) {
            Some(MarkdownLine::Blank) => close(&mut open, text, start, &mut sections),
            Some(MarkdownLine::Heading) => {
                close(&mut open, text, start, &mut sections);
                sections.push(Section {
                    written: line,
                    is: Is::Heading,
                });
            }
            Some(
                MarkdownLine::Item
                | MarkdownLine::Row
                | MarkdownLine::Rule
                | MarkdownLine::Fence(_)
                | MarkdownLine::Text,
            )
            | None => {
                if let OpenBlocks::Nothing = open {
                    open = OpenBlocks::Paragraph { start };
                }
            }
        }
    }
    close(&mut open, text, text.len(), &mut sections);
    sections
}

/// Returns the inline code of a paragraph, without its marks.
pub(in crate::announce) fn inline_code(text: &str) -> Vec<&str> {
    let of_line = |line| {
        let all = spans(line).into_iter();
        all.filter_map(move |span| line.get(span.inner).map(str::trim))
    };
    text.lines().flat_map(of_line).collect()
}

fn close<'a>(
    open: &mut OpenBlocks<'a>,
    text: &'a str,
    end: usize,
    sections: &mut Vec<Section<'a>>,
) {
    let (start, is) = match std::mem::replace(open, OpenBlocks::Nothing) {
        OpenBlocks::Nothing => return,
        OpenBlocks::Paragraph { start } => (start, Is::Paragraph),
        OpenBlocks::Code {
            start, info, lines, ..
        } => (start, Is::Code { info, lines }),
    };
    let written = text
        .get(start..end)
        .unwrap_or_default()
        .trim_end_matches(['\n', '\r']);
    sections.push(Section { written, is });
}

/// Removes as many spaces from the start of a line of code as precede the opening marks (CommonMark 4.5).
fn moved_back(line: &str, indent: usize) -> &str {
    let spaces = line.bytes().take(indent).take_while(|b| *b == b' ').count();
    line.get(spaces..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_falls_into_its_items() {
        for (text, pieces) in [
            ("One.\nTwo.", &["One.\nTwo."][..]),
            ("- a\n  more\n- b\n", &["- a\n  more\n", "- b\n"]),
            (
                "So:\n1. a\n   * b\n2. c",
                &["So:\n", "1. a\n", "   * b\n", "2. c"],
            ),
            ("", &[]),
        ] {
            assert_eq!(items(text), pieces, "{text}");
        }
    }

    #[test]
    fn a_text_falls_into_headings_paragraphs_and_code() {
        let text = "# One\nfirst\nstill first\n\n- a\n- b\n```rust\nfn x() {\n\n    y\n}\n```\nbehind\n\n  ```\n    z\n  ```\r\n> ```sh\n> ls\nafter\n```\nno end";
        let all: Vec<String> = outline(text)
            .into_iter()
            .map(|section| match section.is {
                Is::Heading => "heading".to_owned(),
                Is::Paragraph => section.written.to_owned(),
                Is::Code { info, lines } => format!("code {info}: {}", lines.join("/")),
            })
            .collect();
        assert_eq!(
            all,
            [
                "heading",
                "first\nstill first",
                "- a\n- b",
                "code rust: fn x() {//    y/}",
                "behind",
                "code :   z",
                "code sh: ls",
                "after",
                "code : no end",
            ]
        );
        assert_eq!(outline("\n \n"), []);
    }

    #[test]
    fn nothing_that_was_written_is_lost_between_sections() {
        for text in [
            "a\n\nb",
            "# h\nx\n```\ny\n```\nz",
            "> ```\n> a\nb\n",
            "1. ```\n   x\n   ```\n",
        ] {
            let kept: usize = outline(text)
                .iter()
                .map(|section| section.written.trim().len())
                .sum();
            let all: String = text.split_whitespace().collect();
            let of_sections: String = outline(text)
                .iter()
                .flat_map(|section| section.written.split_whitespace())
                .collect();
            assert_eq!(of_sections, all, "{text:?}");
            assert!(kept <= text.len());
        }
    }
}
