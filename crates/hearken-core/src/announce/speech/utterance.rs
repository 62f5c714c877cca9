//! What is handed to a voice: one piece of text with its class, language and mark.
//!
//! Responsibilities: the plain data that crosses from the announcer to the speech queue and from
//! there to an engine. Not here: what is worth saying (`announcer`), in which order (`queue`), how it
//! sounds (`voice`).

use serde::Serialize;

use crate::announce::announcement::{Class, Cue};
use crate::announce::words::segment::Mark;
use crate::config::Delivery;

/// Identifies an utterance within one run; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct UtteranceId(pub u64);

/// Carries one piece of text to a voice: at most one is in an engine at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Utterance {
    /// The id that the voice's news refer to.
    pub id: UtteranceId,
    /// How urgent it is.
    pub class: Class,
    /// The words, normalised: no control characters, never empty.
    pub text: String,
    /// The BCP 47 tag of the text, when known.
    pub language: Option<String>,
    /// Whose words these are.
    pub mark: Mark,
    /// How they are to sound.
    pub sound: Sound,
}

/// How an utterance is to sound, as far as the person has said so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sound {
    /// Rate, pitch, volume, voice, punctuation; what is absent is the engine's own.
    pub delivery: Delivery,
    /// The pitch that the program's own words lie above: what the person set for everything, or in
    /// absence the engine's own. An agent with a pitch of its own is kept apart from that mark.
    pub usual_pitch: Option<i32>,
    /// The short mark that comes before the words.
    pub cue: Option<Cue>,
}

impl Sound {
    /// Puts a cue before it, or none.
    #[must_use]
    pub fn with(self, cue: Option<Cue>) -> Self {
        Self { cue, ..self }
    }
}
