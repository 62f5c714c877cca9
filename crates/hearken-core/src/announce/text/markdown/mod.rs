//! The only parser of Markdown's marks.
//!
//! Responsibilities: what kind of line begins at a place, what opens and closes a code block, where inline code
//! begins and ends, which cells a table row has. Its answers are the same for the code that cuts arriving text
//! into sentences (`sentence`, `coalesce`) and for the code that turns it into words (`normalise`). If these
//! differed, all following text would be held back, or read as code. Not here: how any of this is spoken or
//! shown.
//!
//! # Mental model
//! Every question can also be asked about text that is still arriving: it is answered only when no further text can
//! change the answer, which is then the same as for the complete line.

mod fence;
mod line;
mod outline;
mod span;
mod table;
#[cfg(test)]
mod tests;

pub use fence::PieceStart;
pub(super) use fence::{Closes, Fence};
pub(super) use line::{Block, LOOK, MarkdownLine, block, is_bullet};
pub(in crate::announce) use outline::{Is, inline_code, items, outline};
pub(super) use span::{Span, TICKS, may_open, spans, ticks, unclosed};
pub(super) use table::{COLUMNS, HEADER, Table, cells, is_delimiter};
