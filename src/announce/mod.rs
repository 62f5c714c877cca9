//! What is worth saying, when, and in which words. Pure: time comes in as an argument.
//!
//! Responsibilities: announcements out of changes, sentences out of streamed text, spoken words out
//! of written ones, the order of speech, the history. Not here: screens and engines.
//!
//! Mental model: `announcer` makes [`Announcement`]s, every face shows them, [`History`] keeps them,
//! and [`SpeechQueue`] gives those that are said aloud to the voice, one utterance at a time.

mod announcement;
mod announcer;
pub mod coalesce;
mod history;
mod language;
pub mod normalise;
mod phrase;
mod question;
mod queue;
pub mod sentence;
pub mod speakable;
pub mod utterance;
mod wording;
mod wrap;

pub use announcement::{About, Aloud, Announcement, AnnouncementId, Kind};
pub use announcer::{Announcer, Manner};
pub use history::History;
pub use phrase::{Arg, Args, PhraseError, Phrases, Segment, join, join_spoken, name_of};
pub use question::label_of;
pub use queue::{SpeechQueue, Unsaid, Wish};
pub use utterance::{Class, Mark, Utterance, UtteranceId};
pub use wrap::wrap;
