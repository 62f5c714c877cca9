//! Where sentences end in text that is still arriving.
//!
//! Responsibilities: a finder that accepts text piece by piece and returns each sentence as soon as no
//! further text can change where it ends; line ends of headings, items and tables; code blocks kept
//! whole. Not here: hints, positions, pauses (`coalesce`), words (`normalise`).
//!
//! # Mental model
//! A scanner goes through the text once and ignores most bytes. At a mark that might end a sentence, it looks
//! back at one word and ahead at the closing marks, the white space and the next word, all within fixed bounds.
//! If the text ends before the answer is settled, it waits there and looks again when more has arrived. So an
//! end, once returned, is final, the result is the same for every chunking, and the work is linear in the
//! length.
//!
//! # Worked example
//! `"He left the U.S. How"` yields nothing: "How" may become "Howard". A further space settles that "How" is a
//! word that starts sentences, and `"He left the U.S. "` is returned.
//!
//! # Tuning by symptom
//! - cut after an abbreviation: add it to its language in `languages`
//! - two sentences spoken as one after an abbreviation: add the second one's first word to `starters`
//! - one long silence inside quotes or brackets: lower `enclosure::REACH`

mod chars;
mod enclosure;
mod end;
mod following_text;
mod languages;
mod lines;
mod lists;
mod mark_rules;
mod segmenter;
mod tail;
#[cfg(test)]
mod tests;
mod text_scan;
mod word_ends;
#[cfg(test)]
mod wrapped_tests;

pub use end::SentenceEnd;
pub use segmenter::{Context, Segmenter, Sentence};
pub(crate) use segmenter::{is_spaceless, splits_cluster};
pub use tail::Tail;
