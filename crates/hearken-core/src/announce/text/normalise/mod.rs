//! Written text into spoken words.
//!
//! Responsibilities: cleaning a text for every output, and three readings of it: prose (structure
//! in words, long things shortened), questions (nothing left out) and commands (every sign spoken). Not
//! here: where sentences end (`sentence`), when they are spoken (`queue`).
//!
//! Mental model: every reading cleans first, then goes through the text once from left to right and puts words
//! into `spoken::SpokenText`, which takes care of the spaces. No reading looks back, and every look ahead is
//! remembered, so the time is linear, whatever an agent sends. Every word that is not in the text comes from
//! [`Words`].

mod blocks;
mod clean;
mod code;
mod code_language;
mod command;
mod english;
mod entity;
mod hidden;
mod html;
mod identifier;
mod inline;
mod literal;
mod markup;
mod math;
mod moment;
mod nest;
mod odd_characters;
mod picture;
mod pronunciation;
mod prose;
mod readable;
mod signs;
mod spell;
mod spoken;
mod styled;
mod tag;
mod token;
mod unit;
mod unmarked;
mod words;

#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;

pub use blocks::{BlockKind, TextBlock, TextTable, blocks};
pub use clean::{balance, clean, clean_lines, hides};
pub use code_language::language_name;
pub use command::command;
pub use hidden::is_hidden;
pub use literal::{inline, literal, question_text};
pub use odd_characters::unmasked;
pub use pronunciation::Pronunciation;
pub use prose::{Passage, ProseReader, prose, prose_at};
pub use readable::OutputDisplay;
pub use signs::exact;
pub use spell::{key, spell, spellable};
pub use styled::{StyledText, TextLook};
pub use words::{SignWords, WordOrTemplate, Words};
