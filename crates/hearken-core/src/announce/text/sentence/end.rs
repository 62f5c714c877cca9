//! Why a sentence ends where it does.

/// Why a sentence ends where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentenceEnd {
    /// At a mark that ends sentences.
    Sentence,
    /// At the end of a line: a heading, a list item, a separate line.
    Line,
    /// At an empty line.
    Paragraph,
    /// At the end of a code block or a table.
    Block,
    /// Where the caller asked for a cut.
    Cut,
    /// Where the text ends.
    Text,
}
