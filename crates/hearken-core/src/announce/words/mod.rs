//! The program's own words: phrases, names, languages.
//!
//! Responsibilities: every sentence of the phrase files with its arguments, names from the wire made fit for these
//! sentences, which language suits the person. Not here: which words a change gets (`announcer`), an
//! agent's own text (`text`).

pub(super) mod arg;
pub(super) mod departure;
#[cfg(test)]
mod digest;
mod filled_phrase;
pub(super) mod language;
pub(super) mod naming;
pub(super) mod phrase;
pub(super) mod reason;
pub(super) mod segment;
mod settings_words;
pub(super) mod spoken_language;
mod template;
