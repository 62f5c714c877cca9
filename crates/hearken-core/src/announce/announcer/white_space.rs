//! What the words of a streamed text alone don't convey: its lines, and the white space before them.
//!
//! Responsibilities: when a piece is kept as it was written, and with which text before it. Not here: what is
//! read out and copied (`turn_text`).

/// How much white space between two pieces is kept, in bytes: it separates paragraphs and lines of code.
const MOST_BLANK: usize = 256;

/// Returns a piece of text as it was written, if its words alone don't convey that.
pub(super) fn written(before: &str, piece: &str, bare: &str) -> Option<String> {
    let same = before.is_empty() && !piece.contains('\n') && piece.trim_end() == bare;
    (!same).then(|| [before, piece].concat())
}

/// Keeps white space that arrived without words.
pub(super) fn keep_blank(kept: &mut String, blank: &str) {
    if kept.len() + blank.len() <= MOST_BLANK {
        kept.push_str(blank);
    }
}
