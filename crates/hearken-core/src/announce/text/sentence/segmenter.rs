//! The finder itself: text arrives piece by piece, finished sentences leave.
//!
//! Responsibilities: keeping the unfinished sentence and returning it when it ends. Not here: the rules for an end
//! (`mark_rules`), the scan of the text (`text_scan`).

use super::enclosure::Enclosures;
use super::end::SentenceEnd;
use super::languages::Language;
use super::{chars, mark_rules};
use crate::announce::text::markdown::{Fence, MarkdownLine, PieceStart};

/// How many bytes of a table's first row are kept, to name the columns of later pieces.
const HEADER: usize = 1024;

/// What was already open when a piece of text began.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Context {
    /// Nothing.
    #[default]
    Prose,
    /// A code block, with the words after its opening marks ("rust").
    Code(String),
    /// A table, with its first row.
    Table(String),
}

/// One finished sentence with the white space around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// The text; the joined sentences of a stream are the stream.
    pub text: String,
    /// The offset of its first byte in the stream.
    pub start: u64,
    /// Why it ends where it does.
    pub end: SentenceEnd,
    /// What was open when it began; anything but prose occurs only after a forced cut.
    pub context: Context,
    /// Where it begins.
    pub begins: PieceStart,
}

impl Sentence {
    /// Returns the bytes of the stream that it covers.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.start..self.start + self.text.len() as u64
    }
}

/// Finds the ends of sentences in text that arrives piece by piece.
///
/// It keeps only the text of the unfinished sentence, which grows without a bound until an end is found or
/// [`Segmenter::cut`] is called.
#[derive(Debug, Clone)]
pub struct Segmenter {
    pub(super) language: &'static Language,
    pub(super) text: String,
    pub(super) start: usize,
    /// The scanner's place, from `start`.
    pub(super) at: usize,
    /// How many bytes of white space the sentence begins with.
    pub(super) lead: usize,
    /// The stream offset of `text`'s first byte.
    pub(super) base: u64,
    pub(super) open: Enclosures,
    pub(super) line: MarkdownLine,
    /// Whether the scanner is at the start of a line whose kind is not yet determined.
    pub(super) line_open: bool,
    /// How many characters of the line precede the sentence.
    pub(super) line_before: usize,
    /// Where the line starts, from `start`.
    pub(super) line_start: usize,
    pub(super) fence: Option<Fence>,
    pub(super) span: Option<(usize, u64)>,
    /// Whether the sentence starts where another ended, and not at a forced cut.
    pub(super) fresh: bool,
    /// Whether the sentence starts at the beginning of a line.
    pub(super) whole_line: bool,
    pub(super) context: Context,
}

impl Segmenter {
    /// Creates a finder for text in a language (BCP 47): English if `None`; an unknown one gets only the common
    /// abbreviations.
    pub fn new(language: Option<&str>) -> Self {
        Self {
            language: Language::of(language),
            text: String::new(),
            start: 0,
            at: 0,
            lead: 0,
            base: 0,
            open: Enclosures::new(),
            line: MarkdownLine::Text,
            line_open: true,
            line_before: 0,
            line_start: 0,
            fence: None,
            span: None,
            fresh: true,
            whole_line: true,
            context: Context::Prose,
        }
    }

    /// Sets the language of the text from here on.
    pub fn turn(&mut self, language: Option<&str>) {
        self.language = Language::of(language);
    }

    /// Adds text and returns the sentences that are now certain.
    pub fn push(&mut self, text: &str) -> Vec<Sentence> {
        self.text.push_str(text);
        let found = self.scan(false);
        if self.start > 0 {
            self.text.drain(..self.start);
            self.base += self.start as u64;
            self.start = 0;
        }
        found
    }

    /// Returns everything that is left, as if the text ended here, and starts afresh.
    pub fn finish(&mut self) -> Vec<Sentence> {
        let found = self.settle();
        self.fence = None;
        self.line = MarkdownLine::Text;
        self.context = Context::Prose;
        found
    }

    /// Returns everything that is left, as if a sentence ended here; an open code block stays open.
    pub fn settle(&mut self) -> Vec<Sentence> {
        let mut found = self.scan(true);
        let rest = self.text.len() - self.start;
        if rest > 0 {
            let context = if self.fence.is_some() {
                self.context_after_cut()
            } else {
                Context::Prose
            };
            found.push(self.take(rest, SentenceEnd::Text));
            self.context = context;
        }
        self.text.clear();
        self.base += self.start as u64;
        self.start = 0;
        self.line_open = true;
        self.whole_line = true;
        self.line_before = 0;
        self.line_start = 0;
        found
    }

    /// Cuts the pending text after `length` bytes; `None` if that is zero, too long, or inside a character.
    ///
    /// An open code block, table or quotation stays open, and the rest does not count as the start of a
    /// sentence.
    pub fn cut(&mut self, length: usize) -> Option<Sentence> {
        let pending = self.pending();
        if length == 0 || length > pending.len() || !pending.is_char_boundary(length) {
            return None;
        }
        let context = self.context_after_cut();
        let at = self.at.saturating_sub(length);
        let (open, span) = (self.open, self.span);
        let line_start = self.line_start;
        let before = if length > line_start {
            self.line_before + pending[line_start..length].chars().count()
        } else {
            0
        };
        let line_open = self.line_open && self.at >= length;
        let sentence = self.take(length, SentenceEnd::Cut);
        self.at = at;
        self.open = open;
        self.span = span;
        self.line_open = line_open;
        self.line_before = before;
        self.line_start = line_start.saturating_sub(length);
        self.fresh = false;
        self.context = context;
        if self.start > 0 {
            self.text.drain(..self.start);
            self.base += self.start as u64;
            self.start = 0;
        }
        Some(sentence)
    }

    /// Returns the text that is not yet part of a finished sentence.
    pub fn pending(&self) -> &str {
        &self.text[self.start..]
    }

    /// Returns whether the end of the pending text is inside a code block or a table.
    pub fn in_block(&self) -> bool {
        self.fence.is_some() || self.line == MarkdownLine::Row
    }

    /// Returns the stream offset of the first pending byte.
    pub fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    pub(super) fn language(&self) -> &'static Language {
        self.language
    }

    pub(super) fn context_after_cut(&self) -> Context {
        if self.fence.is_some() {
            return match &self.context {
                Context::Code(info) => Context::Code(info.clone()),
                Context::Prose | Context::Table(_) => Context::Code(fence_info(self.pending())),
            };
        }
        if self.line == MarkdownLine::Row {
            return match &self.context {
                Context::Table(header) => Context::Table(header.clone()),
                Context::Prose | Context::Code(_) => {
                    let first = self.pending().trim_start().lines().next().unwrap_or("");
                    let mut end = first.len().min(HEADER);
                    while !first.is_char_boundary(end) {
                        end -= 1;
                    }
                    Context::Table(first[..end].to_owned())
                }
            };
        }
        Context::Prose
    }

    /// Removes the first `length` bytes of the pending text, and returns them as a sentence.
    pub(super) fn take(&mut self, length: usize, end: SentenceEnd) -> Sentence {
        let context = std::mem::take(&mut self.context);
        let begins = match (&context, self.whole_line) {
            (Context::Code(_), true) => PieceStart::Code,
            (Context::Code(_), false) => PieceStart::MidCode,
            (Context::Prose | Context::Table(_), true) => PieceStart::Line,
            (Context::Prose | Context::Table(_), false) => PieceStart::MidLine,
        };
        let sentence = Sentence {
            text: self.text[self.start..self.start + length].to_owned(),
            start: self.offset(),
            end,
            context,
            begins,
        };
        self.whole_line = sentence.text.ends_with('\n');
        // A sentence that ends in mid-line leaves part of that line before the next sentence.
        self.line_before = if sentence.text.ends_with('\n') {
            0
        } else {
            let part = self.line_start.min(length);
            self.line_before + sentence.text[part..].chars().count()
        };
        self.line_start = 0;
        self.start += length;
        self.at = 0;
        self.lead = 0;
        self.open = Enclosures::new();
        self.span = None;
        self.fresh = true;
        sentence
    }
}

/// Returns whether a cut at a place would split what a reader sees as one character.
pub(crate) fn splits_cluster(text: &str, at: usize) -> bool {
    mark_rules::splits_cluster(text, at)
}

/// Returns whether a character belongs to a script without visible word ends.
pub(crate) fn is_spaceless(c: char) -> bool {
    chars::is_east_asian(c)
}

/// Returns the words after a code block's opening marks.
fn fence_info(block: &str) -> String {
    let first = block.trim_start().lines().next().unwrap_or("");
    let info = Fence::opened_by(first).map_or("", |(_, info, _)| info);
    info.chars().take(64).collect()
}
