//! What opens and closes a block of code.
//!
//! Responsibilities: the one answer to it, for who cuts a text into sentences while it arrives and for
//! who turns it into words: if they differed, all that follows would be held back, or be read as code.
//! Not here: every other kind of line (`sentence::line`, `normalise::prose`).

/// How many bytes a line that opens or closes a block may have; a longer one is text, so that no line
/// has to be waited for.
pub(super) const LOOK: usize = 200;

/// The fewest marks that make a fence (CommonMark 4.5).
const FEWEST: usize = 3;

/// What may stand before the marks of a fence, and behind those that close a block.
const BLANK: [char; 3] = [' ', '\t', '\r'];

/// Says where in its output a piece of text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Begins {
    /// Where a line of prose begins.
    #[default]
    Line,
    /// In the middle of a line of prose.
    MidLine,
    /// Where a line of code begins.
    Code,
    /// In the middle of a line of code.
    MidCode,
}

impl Begins {
    /// Tells whether a block of code is open there.
    pub fn in_code(self) -> bool {
        match self {
            Self::Code | Self::MidCode => true,
            Self::Line | Self::MidLine => false,
        }
    }

    /// Tells whether a line begins there.
    pub fn at_line(self) -> bool {
        match self {
            Self::Line | Self::Code => true,
            Self::MidLine | Self::MidCode => false,
        }
    }
}

/// Describes the marks that open a block of code; as many of them close it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// Reads a line, without its end, as one that opens a block; gives the words behind the marks.
    ///
    /// A line that begins with the marks and has them again is inline code.
    pub(super) fn opened_by(line: &str) -> Option<(Self, &str)> {
        let (fence, info) = Self::marks(line)?;
        (line.len() <= LOOK && !info.contains(fence.mark)).then(|| (fence, info.trim()))
    }

    /// Tells whether the text begins with a line that opens a block; `None` while too little is there.
    pub(super) fn at(rest: &str, finished: bool) -> Option<Option<Self>> {
        if let Some(line) = line_of(rest, finished) {
            return Some(Self::opened_by(line).map(|(fence, _)| fence));
        }
        match Self::marks(rest) {
            Some((fence, info)) if info.contains(fence.mark) => Some(None),
            Some(_) | None => None,
        }
    }

    /// Tells whether a line, without its end, closes the block.
    pub(super) fn is_closed_by(self, line: &str) -> bool {
        let bare = line.trim_matches(BLANK);
        line.len() <= LOOK
            && bare.len() >= self.length
            && bare.trim_start_matches(self.mark).is_empty()
    }

    /// Says whether the text begins with a line that closes the block, and where that line ends, after
    /// its newline; `None` while too little is there.
    pub(super) fn closing(self, rest: &str, finished: bool) -> Option<Option<usize>> {
        if let Some(line) = line_of(rest, finished) {
            let end = rest.len().min(line.len() + 1);
            return Some(self.is_closed_by(line).then_some(end));
        }
        let bare = rest.trim_start_matches(BLANK);
        let other = bare.trim_start_matches(self.mark).trim_start_matches(BLANK);
        (!other.is_empty()).then_some(None)
    }

    fn marks(line: &str) -> Option<(Self, &str)> {
        let bare = line.trim_start_matches(BLANK);
        let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = bare.trim_start_matches(mark);
        let length = bare.len() - info.len();
        (length >= FEWEST).then_some((Self { mark, length }, info))
    }
}

/// Gives the first line once it is whole, or longer than any that is looked at.
fn line_of(rest: &str, finished: bool) -> Option<&str> {
    let look = &rest.as_bytes()[..rest.len().min(LOOK + 1)];
    match look.iter().position(|&b| b == b'\n') {
        Some(end) => Some(&rest[..end]),
        None => (finished || rest.len() > LOOK).then_some(rest),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
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
        ] {
            assert_eq!(Fence::opened_by(line).map(|(_, info)| info), info, "{line}");
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
                        assert_eq!(told.is_some(), fence.is_closed_by(line), "{text} {end}");
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
