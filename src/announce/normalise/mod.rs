//! Raw text into spoken words.
//!
//! Responsibilities: removing what is hostile; structure, addresses, identifiers and signs in words,
//! in three profiles; a person's own pronunciations. Not here: which text is said (`policy`), the
//! program's own sentences (`phrase`).
//!
//! # Mental model
//! - prose is made pleasant: Markdown becomes structure in words, long things become short ones
//! - a command is made audible: every sign is said, nothing is left out
//! - a question's text is exact: its words stay, the signs of commands, flags and paths are said
//!
//! All words come from [`Words`], so that another language replaces them; the logic has none.
//!
//! # Worked example
//! "Run `git commit --no-verify`, see https://example.com/docs" is said "Run git commit dash dash no
//! verify, see example.com link".
//!
//! # Tuning by symptom
//! - a word is said wrongly: add it to `[pronunciation]`
//! - a sign is silent in a command: give it a name in `Words::signs`
//! - a name is torn apart that should not be: `token::identifier`

mod blocks;
mod clean;
mod command;
mod emoji;
mod exact;
mod inline;
mod prose;
mod symbols;
#[cfg(test)]
mod tests;
mod time;
mod token;
mod words;

use std::borrow::Cow;

use jiff::Timestamp;

use super::sentence::Context;
pub use clean::{Cleaned, Lines, clean};
pub use words::{Amount, Pronunciation, Sign, Words, fill};

/// Holds words to be spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken<'a> {
    /// The words; empty when there is nothing to say.
    pub text: Cow<'a, str>,
    /// Whether characters that can deceive were removed.
    pub hidden: bool,
}

/// Turns raw text into spoken words.
#[derive(Debug, Clone, Default)]
pub struct Normaliser {
    words: Words,
    pronunciation: Pronunciation,
    names: Pronunciation,
}

impl Normaliser {
    /// Makes a normaliser with a language's words and a person's pronunciations.
    pub fn new(words: Words, pronunciation: Pronunciation) -> Self {
        let names = pronunciation.of_names();
        Self {
            words,
            pronunciation,
            names,
        }
    }

    /// Says prose: an agent's streamed text.
    ///
    /// `context` is what was open when the text began ([`Context::Prose`] for whole texts); with
    /// `now`, times near it are said by their distance.
    pub fn prose<'a>(
        &self,
        text: &'a str,
        context: &Context,
        now: Option<Timestamp>,
    ) -> Spoken<'a> {
        let cleaned = clean(text, Lines::Keep);
        let hidden = cleaned.hidden;
        let trimmed = cleaned.text.trim();
        let plain =
            *context == Context::Prose && self.pronunciation.is_empty() && prose::is_plain(trimmed);
        if plain {
            return Spoken {
                text: trim(cleaned.text),
                hidden,
            };
        }
        // What was kept of the block's beginning is as hostile as the rest.
        let context = &match context {
            Context::Prose => Context::Prose,
            Context::Code(info) => Context::Code(clean(info, Lines::Space).text.into_owned()),
            Context::Table(row) => Context::Table(clean(row, Lines::Space).text.into_owned()),
        };
        let named = self.names.apply(trimmed);
        let source = named.as_deref().unwrap_or(trimmed);
        let mut out = String::with_capacity(source.len() + source.len() / 4);
        blocks::said(&self.words, source, context, now, &mut out);
        let audible = |c: char| c.is_alphanumeric();
        if !out.contains(audible) && trimmed.chars().any(clean::is_emoji) {
            out.clone_from(&self.words.emoji);
        }
        self.finish(out, hidden)
    }

    /// Says a command: every sign in words, nothing shortened or left out.
    pub fn command(&self, text: &str) -> Spoken<'static> {
        let cleaned = clean(text, Lines::Keep);
        let mut out = String::with_capacity(cleaned.text.len() * 2);
        command::said(&self.words, &cleaned.text, &mut out);
        self.finish(out, cleaned.hidden)
    }

    /// Says a question's text: its words as they are, with the signs of commands, flags and paths.
    pub fn exact(&self, text: &str) -> Spoken<'static> {
        let cleaned = clean(text, Lines::Keep);
        let mut out = String::with_capacity(cleaned.text.len() * 2);
        exact::said(&self.words, &cleaned.text, &mut out);
        self.finish(out, cleaned.hidden)
    }

    fn finish(&self, out: String, hidden: bool) -> Spoken<'static> {
        let said = self.pronunciation.apply(&out).unwrap_or(out);
        Spoken {
            text: trim(Cow::Owned(said)),
            hidden,
        }
    }
}

fn trim(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(mut text) => {
            text.truncate(text.trim_end().len());
            let lead = text.len() - text.trim_start().len();
            text.drain(..lead);
            Cow::Owned(text)
        }
    }
}
