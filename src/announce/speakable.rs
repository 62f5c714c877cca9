//! The one door through which an agent's text passes before it is shown or spoken.
//!
//! Responsibilities: the two profiles by name, the program's default words. Not here: how a text is
//! cleaned and read (`normalise`).

use std::sync::LazyLock;

use super::normalise::{self, Reader, Words};

/// The words of the program's own language.
static WORDS: LazyLock<Words> = LazyLock::new(Words::default);

/// Says how an agent's text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// As running text: structure in words, long things short.
    Prose,
    /// As part of a question: nothing is left out, every sign is said.
    Exact,
}

/// Cleans a text for the screen, a notification or a log: one line, no control or hidden characters,
/// single spaces.
pub fn one_line(text: &str) -> String {
    let clean = normalise::clean(text);
    let mut out = String::with_capacity(clean.len());
    for word in clean.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Turns a text into the words that are spoken.
pub fn speak(text: &str, profile: Profile) -> String {
    speak_with(text, profile, &WORDS)
}

/// Turns a text into the words that are spoken, in the words of a given language.
pub fn speak_with(text: &str, profile: Profile, words: &Words) -> String {
    match profile {
        Profile::Prose => normalise::prose(text, words),
        Profile::Exact => normalise::exact(text, words),
    }
}

/// Turns the next piece of one output into the words that are spoken; the reader remembers what is
/// open, such as a block of code.
pub fn read_on(reader: &mut Reader, piece: &str) -> String {
    reader.read(piece, &WORDS)
}

/// Tells whether a text holds characters that are removed because nobody could see or hear them.
pub fn hides(text: &str) -> bool {
    normalise::hides(text)
}
