//! The texts that explain how to call hearken: help, manual pages, completions, and what is wrong with a
//! call.
//!
//! Responsibilities: the command line's own texts in the person's language, the manual pages in roff, what a
//! shell offers for a half-typed word, a one-sentence explanation of an invalid call. Not here: the flags
//! themselves and their English texts (`cli`), other languages' words (`announce`), what a command does
//! (`runtime`).
//!
//! Mental model: `cli` contains every text once, in English. Each of these pages is that command line again,
//! read by clap's own means, with each text looked up in the phrase file's `[help]`.

mod completion;
mod help_texts;
mod invalid_call;
mod manual;

pub use completion::{VARIABLE, completable, script};
pub use help_texts::worded;
pub use invalid_call::fault;
pub use manual::{Sheet, sheet, sheets};
