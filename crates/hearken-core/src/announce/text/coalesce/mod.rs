//! Turns streamed chunks into complete spoken pieces.
//!
//! Responsibilities: for one output, which streamed text may be spoken and when: sentences,
//! the producer's hints, pauses, repeated and missing text, changes of language, bounds. Not here:
//! where sentences end (`sentence`), how they are worded (`normalise`), in which order outputs are
//! spoken (`queue`).
//!
//! # Mental model
//! All text goes through a [`Segmenter`], whose sentences wait in line. A piece leaves the line when nothing
//! holds it: no explicit `none` hint (AAEP 4.3.3), no policy that wants the whole output. A hint that a
//! sentence ends also ends the pending text, unless the text itself says otherwise (in the middle of a word, a
//! number, a code block) or has proved such hints wrong three times. The pieces, joined, are the streamed text.
//!
//! # Worked example
//! The chunks "Hel" (`sentence`), "lo the", "re. It" yield nothing, nothing, "Hello there. ": the first
//! hint is false, since the word continues.
//!
//! # Tuning by symptom
//! - speech lags behind a slow stream: lower `pause`
//! - choppy speech: raise `pause`; a producer that hints every word is not the cause, because words are joined
//! - silence until the end: the producer sends `none` with every chunk; set `relax_none`

mod clause;
mod flow;
mod position;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

pub use super::markdown::PieceStart;
use super::sentence::{Context, Segmenter, Tail};
use crate::config::Load;
pub use position::PositionNote;
use position::Positions;

/// How many bytes without an end are kept before they are spoken anyway (some fifteen minutes of
/// speech; AAEP 3.7 allows a string no more than this).
pub const UNENDED: usize = 16 * 1024;

/// How many bytes may wait for a hint or for the end of the output before they are spoken anyway; it
/// bounds the memory of an output that never completes.
pub const HELD: usize = 256 * 1024;

/// The longest chunk that is processed whole, in bytes: half an hour of speech, twice the longest text that
/// AAEP 3.7 recommends, and some ten milliseconds of sentence search, which a key may have to wait for. The
/// middle of a longer chunk is left out before this search, which is announced at its place.
pub const LONGEST_CHUNK: usize = 32 * 1024;

/// How much of [`LONGEST_CHUNK`] is taken from the end of a longer chunk: the end of a text is worth more than its
/// middle.
const END_OF_CHUNK: usize = 8 * 1024;

/// After how many pauses a hint that may be in the middle of a word is believed.
const BELIEVE: u32 = 3;

/// How many `sentence` hints within a sentence count as slips: a producer that marks every token does not
/// know where sentences end.
const SLIPS: u32 = 3;

/// The fence around an output of code; code itself hardly contains it.
const CODE_FENCE: &str = "~~~~~~~~";

/// What the producer says about a chunk's end (AAEP 4.3.3, `coalesce_hint`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hint {
    /// No hint; the coalescer decides where to cut.
    #[default]
    Absent,
    /// Explicitly in mid-sentence; not to be announced on its own.
    None,
    /// At the end of a word.
    Word,
    /// At the end of a sentence.
    Sentence,
    /// At the end of a paragraph.
    Paragraph,
    /// At the end of the output.
    Completion,
}

impl Hint {
    /// Reads a hint as a producer writes it; an unknown one counts as absent.
    pub fn of(text: Option<&str>) -> Self {
        match text {
            Some("none") => Self::None,
            Some("word") => Self::Word,
            Some("sentence") => Self::Sentence,
            Some("paragraph") => Self::Paragraph,
            Some("completion") => Self::Completion,
            Some(_) | None => Self::Absent,
        }
    }
}

/// How much is spoken in one piece (AAEP's `cognitive_load`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// Sentence by sentence.
    #[default]
    Sentences,
    /// Nothing before the output is complete.
    WholeOutput,
    /// Clause by clause, as soon as each is certain.
    EveryBoundary,
}

impl From<Load> for Policy {
    fn from(load: Load) -> Self {
        match load {
            Load::Low => Self::WholeOutput,
            Load::Medium => Self::Sentences,
            Load::High => Self::EveryBoundary,
        }
    }
}

/// The settings of a coalescer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoalesceSettings {
    /// How much is spoken in one piece.
    pub policy: Policy,
    /// How long a stream may pause in mid-sentence before what has arrived is spoken.
    pub pause: Duration,
    /// Whether an explicit `none` is treated as no hint.
    pub relax_none: bool,
    /// Whether hints that a sentence ends are believed; the agent's earlier outputs may have forfeited that.
    pub believe: bool,
}

impl Default for CoalesceSettings {
    fn default() -> Self {
        Self {
            policy: Policy::Sentences,
            pause: Duration::from_millis(900),
            relax_none: false,
            believe: true,
        }
    }
}

/// One streamed chunk of an output.
#[derive(Debug, Clone, Copy, Default)]
pub struct Chunk<'a> {
    /// The text, possibly empty.
    pub text: &'a str,
    /// Where the producer says that it begins, in the producer's own unit.
    pub position: Option<u64>,
    /// What the producer says about its end.
    pub hint: Hint,
    /// Whether it is the last of its output.
    pub complete: bool,
    /// The text's language (BCP 47); `None` means the same as before.
    pub language: Option<&'a Arc<str>>,
}

/// Where a piece ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// At the end of a sentence, found or hinted.
    Sentence,
    /// At the end of a line: a heading, a list item.
    Line,
    /// At the end of a paragraph, found or hinted.
    Paragraph,
    /// At the end of a code block or table.
    Block,
    /// At the end of the output.
    Completion,
    /// At a clause, because the stream paused or every boundary is wanted.
    Clause,
    /// Where the language changes.
    Language,
    /// At the limit for text without an end.
    Bound,
    /// Where this many characters were left out of a chunk that is too long to listen to.
    LeftOut(usize),
}

/// Text that may be spoken now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpokenPiece {
    /// The text as streamed, with the surrounding white space; it may be white space alone.
    pub text: String,
    /// Its language, if the producer declared one.
    pub language: Option<Arc<str>>,
    /// Where it ends.
    pub ends: Boundary,
    /// What was open when it began.
    pub context: Context,
    /// Whether it begins a line, and in code or prose.
    pub begins: PieceStart,
}

/// How a pause cuts the pending text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flush {
    /// All of it is spoken, as a sentence.
    Sentence,
    /// The first bytes of it are spoken.
    Clause(usize),
}

/// Whether a producer's hints that a sentence ends are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Belief {
    /// They are believed.
    Given {
        /// How many hints turned out to be in the middle of a sentence.
        slips: u32,
        /// How the text ended at the last hint, if what follows may prove it a slip.
        last: Option<Tail>,
    },
    /// They are no longer believed in this output.
    Lost,
}

/// Turns the chunks of one output into pieces.
#[derive(Debug, Clone)]
pub struct Coalescer {
    settings: CoalesceSettings,
    segmenter: Segmenter,
    /// How many bytes have arrived, not counting repeats.
    came: u64,
    language: Option<Arc<str>>,
    /// The pieces in line, each with the stream offset of its end.
    line: VecDeque<(u64, SpokenPiece)>,
    waiting: usize,
    /// The range of text that an explicit `none` holds.
    held: Option<(u64, u64)>,
    /// A possibly false hint at the end of the pending text.
    doubted: Option<Boundary>,
    /// Whether the producer's hints that a sentence ends are believed.
    belief: Belief,
    complete: bool,
    /// Whether the whole output is declared as code, so that a code block was opened for it.
    is_code: bool,
    /// Whether waiting pieces are released although they should wait.
    overfull: bool,
    last: Option<Duration>,
    /// How far the text has been searched for clauses.
    looked: u64,
    positions: Positions,
    /// The notes so far, and whether each was returned.
    notes: Vec<(PositionNote, bool)>,
}

impl Coalescer {
    /// Creates a coalescer for one output.
    pub fn new(settings: CoalesceSettings) -> Self {
        Self {
            settings,
            segmenter: Segmenter::new(None),
            came: 0,
            language: None,
            line: VecDeque::new(),
            waiting: 0,
            held: None,
            doubted: None,
            belief: if settings.believe {
                Belief::Given {
                    slips: 0,
                    last: None,
                }
            } else {
                Belief::Lost
            },
            complete: false,
            is_code: false,
            overfull: false,
            last: None,
            looked: 0,
            positions: Positions::default(),
            notes: Vec::new(),
        }
    }

    /// Processes a chunk that arrived at `now` (monotonic) and returns the pieces that may be spoken.
    pub fn push(&mut self, chunk: Chunk<'_>, now: Duration) -> Vec<SpokenPiece> {
        let (text, note) = self.positions.accept(chunk.text, chunk.position);
        if let Some(note) = note {
            self.note(note);
        }
        if !text.is_empty() || chunk.hint != Hint::Absent {
            self.last = Some(now);
        }
        let late = self.complete && !text.is_empty();
        if late {
            self.note(PositionNote::Late);
        }
        let text = self.turn_language(chunk.language, text);
        self.weigh(text);
        self.settle_doubt(text);
        let hint = match chunk.hint {
            Hint::None if self.settings.relax_none => Hint::Absent,
            // A word ends there; the text decides whether a sentence does.
            Hint::Sentence if self.belief == Belief::Lost => Hint::Word,
            hint => hint,
        };
        if hint == Hint::None && !text.is_empty() {
            let from = self.held.map_or(self.came, |(from, _)| from);
            self.held = Some((from, self.came + text.len() as u64));
        }
        self.take_bounded(text);
        match hint {
            Hint::Absent | Hint::None => {}
            Hint::Word => self.held = None,
            Hint::Sentence => self.hinted(Boundary::Sentence),
            Hint::Paragraph => self.hinted(Boundary::Paragraph),
            Hint::Completion => self.hinted(Boundary::Completion),
        }
        if self.settings.policy == Policy::EveryBoundary {
            self.cut_clauses();
        }
        if chunk.complete || late {
            self.close_text();
        }
        self.release()
    }

    /// Reads the rest of the output as a code block in this language. Has no effect in the middle of an output.
    pub fn begin_code(&mut self, language: &str) {
        if !self.is_code && (self.came == 0 || self.complete) {
            self.is_code = true;
            self.take_in(&format!("{CODE_FENCE} {language}\n"));
        }
    }

    /// Returns the pieces to speak because the stream has paused until `now`.
    pub fn flush_due(&mut self, now: Duration) -> Vec<SpokenPiece> {
        if self.patient_until().is_none_or(|until| now < until) {
            return Vec::new();
        }
        match self.flush_place() {
            Some(Flush::Sentence) => {
                let boundary = self.doubted.take().unwrap_or(Boundary::Sentence);
                self.end_here(boundary);
            }
            Some(Flush::Clause(place)) => self.cut(place, Boundary::Clause),
            None => return Vec::new(),
        }
        // One flush per pause: the rest waits for more text.
        self.last = None;
        self.release()
    }

    /// Returns when [`Coalescer::flush_due`] may have work if nothing arrives before; only then is it decided
    /// what is spoken.
    pub fn looked_at(&self) -> Option<Duration> {
        self.patient_until().filter(|_| self.may_flush())
    }

    /// Returns how many bytes of text are waiting.
    pub fn weight(&self) -> usize {
        self.segmenter.pending().len() + self.waiting
    }

    /// Returns until when to wait for more of the text.
    fn patient_until(&self) -> Option<Duration> {
        let pauses = if self.doubted.is_some() { BELIEVE } else { 1 };
        Some(
            self.last?
                .saturating_add(self.settings.pause.saturating_mul(pauses)),
        )
    }

    /// Returns everything that is left, for example if a session ends without completing the output.
    pub fn close(&mut self) -> Vec<SpokenPiece> {
        self.close_text();
        self.release()
    }

    /// Sets how much is spoken in one piece, and returns what waited only because of the old policy.
    pub fn set_policy(&mut self, policy: Policy) -> Vec<SpokenPiece> {
        self.settings.policy = policy;
        if policy == Policy::EveryBoundary {
            self.cut_clauses();
        }
        self.release()
    }

    /// Returns whether the output is complete.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Returns the notes since the last call; each kind occurs once per output.
    pub fn take_notes(&mut self) -> Vec<PositionNote> {
        let new = self.notes.iter().filter(|(_, told)| !told);
        let new: Vec<PositionNote> = new.map(|(note, _)| *note).collect();
        for (_, told) in &mut self.notes {
            *told = true;
        }
        new
    }
}
