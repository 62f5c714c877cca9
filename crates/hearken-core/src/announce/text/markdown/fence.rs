//! Where code blocks open and close.
//!
//! Responsibilities: the fence marks, and the item or quotation that contains them. Not here: every other kind of
//! line (`line`).

/// The longest line that can open or close a block, in bytes; a longer one is text, so that nothing waits for
/// its end.
pub(in crate::announce::text) const LOOK: usize = 200;

/// The fewest marks that form a fence (CommonMark 4.5).
const FEWEST: usize = 3;

/// How many levels of nested items and quotations are searched for a code block.
const NESTED: usize = 4;

/// The maximum number of digits and marks in an item's number (CommonMark 5.2).
const NUMBER: usize = 10;

/// The white space that may precede a fence, and follow a closing one.
const BLANK: [char; 3] = [' ', '\t', '\r'];

/// Where in its output a piece of text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PieceStart {
    /// At the start of a line of prose.
    #[default]
    Line,
    /// In the middle of a line of prose.
    MidLine,
    /// At the start of a line of code.
    Code,
    /// In the middle of a line of code.
    MidCode,
}

impl PieceStart {
    /// Returns whether a code block is open there.
    pub fn in_code(self) -> bool {
        match self {
            Self::Code | Self::MidCode => true,
            Self::Line | Self::MidLine => false,
        }
    }

    /// Returns whether a line begins there.
    pub fn at_line(self) -> bool {
        match self {
            Self::Line | Self::Code => true,
            Self::MidLine | Self::MidCode => false,
        }
    }
}

/// What contains a code block, and puts its own mark before the block's first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockContainer {
    /// Nothing, or an item, whose other lines are only indented.
    Item,
    /// A quotation: each line has the quotation's mark, and the block ends with the quotation.
    Quote,
}

/// The marks that open a code block; at least as many close it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::announce::text) struct Fence {
    mark: char,
    length: usize,
    within: BlockContainer,
}

/// Whether a code block continues with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::announce::text) enum Closes {
    /// The line is code.
    Not,
    /// The line closes the block.
    Here,
    /// The quotation that contains the block ended before the line.
    Before,
}

/// The parts of a line that may open a code block.
struct FenceMarks<'a> {
    fence: Fence,
    /// The number of an item before the marks.
    before: &'a str,
    info: &'a str,
}

impl Fence {
    /// Parses a line, without its line ending, as one that opens a block; returns the fence, the words after the marks
    /// and the number before them.
    ///
    /// A line that begins with the marks and contains them again is not a fence but inline code.
    pub(in crate::announce::text) fn opened_by(line: &str) -> Option<(Self, &str, &str)> {
        let marks = Self::marks(line)?;
        (line.len() <= LOOK && !marks.info.contains(marks.fence.mark))
            .then(|| (marks.fence, marks.info.trim(), marks.before))
    }

    /// Returns the fence that the text's first line opens, if any; the outer `None` means that too little has arrived.
    pub(in crate::announce::text) fn at(rest: &str, finished: bool) -> Option<Option<Self>> {
        if let Some(line) = line_of(rest, finished) {
            return Some(Self::opened_by(line).map(|(fence, ..)| fence));
        }
        let (_, _, bare) = contents(rest);
        let mark = bare.chars().next()?;
        let behind = bare.trim_start_matches(mark);
        let run = bare.len() - behind.len();
        match mark {
            '`' | '~' if behind.is_empty() => None,
            '`' | '~' => (run < FEWEST || behind.contains(mark)).then_some(None),
            // The sign may become the mark of another item.
            '-' | '*' | '+' if bare.len() == 1 => None,
            '0'..='9'
                if bare
                    .trim_matches(|c: char| c.is_ascii_digit() || ".)".contains(c))
                    .is_empty() =>
            {
                (bare.len() > NUMBER).then_some(None)
            }
            _ => Some(None),
        }
    }

    /// Returns whether a line, without its line ending, closes the block.
    pub(in crate::announce::text) fn closes(self, line: &str) -> Closes {
        let bare = self.bare(line).trim_matches(BLANK);
        if line.len() <= LOOK
            && bare.len() >= self.length
            && bare.trim_start_matches(self.mark).is_empty()
        {
            return Closes::Here;
        }
        match self.within {
            BlockContainer::Quote if !line.trim_start_matches(BLANK).starts_with('>') => {
                Closes::Before
            }
            BlockContainer::Quote | BlockContainer::Item => Closes::Not,
        }
    }

    /// Returns a line of the block without the mark of the quotation around it.
    pub(in crate::announce::text) fn bare(self, line: &str) -> &str {
        match self.within {
            BlockContainer::Item => line,
            BlockContainer::Quote => {
                let quoted = line.trim_start_matches(BLANK).strip_prefix('>');
                quoted.map_or(line, |code| code.strip_prefix(' ').unwrap_or(code))
            }
        }
    }

    /// Returns where the block ends if the text's first line closes it: after that line's newline, or before
    /// the line; the outer `None` means that too little has arrived.
    pub(in crate::announce::text) fn closing(
        self,
        rest: &str,
        finished: bool,
    ) -> Option<Option<usize>> {
        if let Some(line) = line_of(rest, finished) {
            return Some(match self.closes(line) {
                Closes::Here => Some(rest.len().min(line.len() + 1)),
                Closes::Before => Some(0),
                Closes::Not => None,
            });
        }
        let begun = rest.trim_start_matches(BLANK);
        let quoted = begun.starts_with('>');
        let bare = self.bare(rest).trim_start_matches(BLANK);
        let other = bare.trim_start_matches(self.mark).trim_start_matches(BLANK);
        if other.is_empty() {
            return None;
        }
        match self.within {
            BlockContainer::Quote if !quoted => Some(Some(0)),
            BlockContainer::Quote | BlockContainer::Item => Some(None),
        }
    }

    fn marks(line: &str) -> Option<FenceMarks<'_>> {
        let (within, before, bare) = contents(line);
        let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = bare.trim_start_matches(mark);
        let length = bare.len() - info.len();
        let fence = Self {
            mark,
            length,
            within,
        };
        (length >= FEWEST).then_some(FenceMarks {
            fence,
            before,
            info,
        })
    }
}

/// Strips the marks of items and quotations from the start of a line; returns what contains the rest, the
/// number of the item, and the rest.
fn contents(line: &str) -> (BlockContainer, &str, &str) {
    let mut within = BlockContainer::Item;
    let mut number = "";
    let mut rest = line.trim_start_matches(BLANK);
    for _ in 0..NESTED {
        let inner = if let Some(quoted) = rest.strip_prefix('>') {
            within = BlockContainer::Quote;
            quoted
        } else if let Some(item) = ["- ", "* ", "+ "]
            .iter()
            .find_map(|mark| rest.strip_prefix(mark))
        {
            item
        } else {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (before, behind) = rest.split_at(digits);
            let behind = behind
                .strip_prefix(". ")
                .or_else(|| behind.strip_prefix(") "));
            match behind {
                Some(behind) if (1..NUMBER).contains(&digits) => {
                    number = before;
                    behind
                }
                Some(_) | None => break,
            }
        };
        rest = inner.trim_start_matches(BLANK);
    }
    (within, number, rest)
}

/// Returns the first line once it is complete, or longer than the limit.
fn line_of(rest: &str, finished: bool) -> Option<&str> {
    let look = &rest.as_bytes()[..rest.len().min(LOOK + 1)];
    match look.iter().position(|&b| b == b'\n') {
        Some(end) => Some(&rest[..end]),
        None => (finished || rest.len() > LOOK).then_some(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_closes_its_marks_opens_nothing() {
        for (line, info) in [
            ("```", Some("")),
            ("  ```rust\r", Some("rust")),
            ("~~~~ text with words", Some("text with words")),
            ("~~~ `x`", Some("`x`")),
            ("```x``` is inline", None),
            ("``` a ` b", None),
            ("~~~gone~~~", None),
            ("``rust", None),
            ("text ```", None),
            ("- ```rust", Some("rust")),
            ("  2. ```", Some("")),
            ("> - ~~~ x", Some("x")),
            ("- ```x``` is inline", None),
            ("-```", None),
            ("2024 ```", None),
        ] {
            assert_eq!(
                Fence::opened_by(line).map(|(_, info, _)| info),
                info,
                "{line}"
            );
        }
        assert!(Fence::opened_by(&format!("```{}", "x".repeat(LOOK))).is_none());
    }

    #[test]
    fn what_is_told_of_a_line_that_arrives_is_what_is_told_of_the_whole_line() {
        let fence = Fence::opened_by("```").unwrap().0;
        let long = format!("```{}\n", "x".repeat(LOOK + 20));
        for text in [
            "```rust\nx",
            "```x``` is\n",
            "````\n",
            " ``` \n",
            "```` y\n",
            "```x",
            &long,
        ] {
            let line = text.split('\n').next().unwrap();
            for end in 0..=text.len() {
                for finished in [false, true] {
                    if let Some(told) = Fence::at(&text[..end], finished && end == text.len()) {
                        assert_eq!(told, Fence::opened_by(line).map(|f| f.0), "{text} {end}");
                    }
                    let closes = fence.closing(&text[..end], finished && end == text.len());
                    if let Some(told) = closes {
                        assert_eq!(
                            told.is_some(),
                            fence.closes(line) == Closes::Here,
                            "{text} {end}"
                        );
                    }
                }
            }
            assert!(Fence::at(text, true).is_some() && fence.closing(text, true).is_some());
        }
        assert_eq!(fence.closing("```\nx", false), Some(Some(4)));
        assert_eq!(fence.closing("```", true), Some(Some(3)));
        assert_eq!(fence.closing("```", false), None);
    }
}
