//! What is handed to a voice: one piece of text with its class, language and mark.
//!
//! Responsibilities: the plain data that crosses from the announcer to the speech queue and from
//! there to an engine. Not here: what is worth saying (`policy`), in which order (`queue`), how it
//! sounds (`voice`).

use serde::Serialize;

use crate::config::{CueConfig, Delivery};

/// Says how urgent an announcement is; the order is the order in which waiting speech leaves.
///
/// The classes are P0 to P4 of the project's announcing rules (`docs/speech.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// P0: questions and their warnings, dangers, errored sessions, handoffs, anything critical.
    Alert,
    /// P1: the answer to a key press.
    Response,
    /// P2: starts and ends, tool results, resolved questions, links lost and back.
    Outcome,
    /// P3: a tool's start, a state change.
    Activity,
    /// P4: streamed text and progress.
    Stream,
}

impl Class {
    /// Lists every class, most urgent first.
    pub const ALL: [Class; 5] = [
        Class::Alert,
        Class::Response,
        Class::Outcome,
        Class::Activity,
        Class::Stream,
    ];
}

/// Says whose words an utterance carries, so that an agent can never speak in the program's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// The program's own words; an engine gives them a pitch that agents' text never has.
    Own,
    /// Text that an agent wrote.
    Agent,
}

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

/// Holds how an utterance is to sound, as far as the person has said so.
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

/// Names a short sound of the program's own, which no agent can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cue {
    /// A question waits for an answer.
    Question,
    /// Something went wrong.
    Error,
    /// A session ended well.
    Done,
    /// A silent agent works.
    Tick,
    /// A source is lost.
    Lost,
    /// A source is back.
    Back,
}

impl Cue {
    /// Tells whether it is wanted.
    pub fn is_on(self, cues: &CueConfig) -> bool {
        match self {
            Self::Question => cues.question,
            Self::Error => cues.error,
            Self::Done => cues.done,
            Self::Tick => cues.tick,
            Self::Lost => cues.lost,
            Self::Back => cues.back,
        }
    }

    /// Lists every cue.
    pub const ALL: [Self; 6] = [
        Self::Question,
        Self::Error,
        Self::Done,
        Self::Tick,
        Self::Lost,
        Self::Back,
    ];
}
