//! What goes to a voice: one piece of text with its class, language and mark.
//!
//! Responsibilities: the plain data that passes from the speech queue to an engine.
//! Not here: what is worth announcing (`announcer`), in which order (`queue`), how it
//! sounds (`voice`).

use serde::Serialize;

use crate::announce::announcement::{Class, Cue};
use crate::announce::words::segment::Mark;
use crate::config::Delivery;

/// The id of an utterance within one run; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct UtteranceId(pub u64);

/// One piece of text for a voice; at most one is in an engine at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Utterance {
    /// The id to which the voice's events refer.
    pub id: UtteranceId,
    /// How urgent it is.
    pub class: Class,
    /// The words, normalised: no control characters, never empty.
    pub text: String,
    /// The BCP 47 tag of the text, if known.
    pub language: Option<String>,
    /// Whose words these are.
    pub mark: Mark,
    /// How the words are to sound.
    pub sound: Sound,
}

/// How an utterance is to sound, as the person has set it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sound {
    /// Rate, pitch, volume, voice, punctuation; absent values are the engine's own.
    pub delivery: Delivery,
    /// The base pitch of the program's own words: what the person set for everything, or, if absent, the
    /// engine's own. The pitch of an agent with its own pitch is kept apart from it.
    pub usual_pitch: Option<i32>,
    /// The short sound that comes before the words.
    pub cue: Option<Cue>,
}

impl Sound {
    /// Sets or removes the cue before the words.
    #[must_use]
    pub fn with(self, cue: Option<Cue>) -> Self {
        Self { cue, ..self }
    }
}
