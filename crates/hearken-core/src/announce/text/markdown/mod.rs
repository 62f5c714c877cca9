//! What Markdown's marks mean: the one reader of them.
//!
//! Responsibilities: what kind of line begins at a place, what opens and closes a block of code, where inline
//! code begins and ends, which cells a table's row has; told alike to who cuts a text into sentences while it
//! arrives (`sentence`, `coalesce`) and to who turns it into words (`normalise`). If they differed, all that
//! follows would be held back, or be read as code. Not here: what is said or shown of any of it.
//!
//! # Mental model
//! Every answer is given for a text that still arrives, too: it is not given before no further text can change
//! it, and it is then the one that the whole line would get.

mod fence;
mod line;
mod outline;
mod span;
mod table;
#[cfg(test)]
mod tests;

pub use fence::Begins;
pub(super) use fence::{Closes, Fence};
pub(super) use line::{Block, LOOK, Line, block, is_bullet};
pub(in crate::announce) use outline::{Is, inline_code, outline};
pub(super) use span::{Span, TICKS, may_open, spans, ticks, unclosed};
pub(super) use table::{COLUMNS, HEADER, Table, cells, is_delimiter};
