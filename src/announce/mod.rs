//! What is worth saying, when, and in which words. Pure: time comes in as an argument.
//!
//! Responsibilities: announcements out of changes, sentences out of streamed text, spoken words out
//! of written ones, the order of speech, the history. Not here: screens and engines.
//!
//! Mental model: `announcer` makes [`Announcement`]s, every face shows them, [`History`] keeps them,
//! and [`SpeechQueue`] gives those that are said aloud to the voice, one utterance at a time.

mod announcement;
mod announcer;
mod away;
mod brief;
pub mod coalesce;
mod delivery;
pub mod direction;
mod doubt;
mod duration;
mod facts;
mod fate;
mod fence;
mod handoff;
mod heartbeat;
mod history;
mod language;
mod naming;
pub mod normalise;
mod own;
mod phrase;
mod publish;
mod question;
mod queue;
mod reason;
mod rule;
mod segment;
pub mod sentence;
pub mod speakable;
mod template;
mod tongue;
mod trust;
pub mod utterance;
mod ways;
mod whole;
mod wording;
mod wrap;

pub use announcement::{About, Aloud, Announcement, AnnouncementId, Kind, Weight};
pub use announcer::{Announcer, Manner};
pub use delivery::Deliveries;
pub use doubt::{hides_something, takes_two_steps};
pub use facts::Facts;
pub use heartbeat::{Beat, Heartbeat, STALE as HEARTBEAT_STALE};
pub use history::History;
pub use language::best;
pub use naming::words_of;
pub use phrase::{Arg, Args, BUILT_IN, PhraseError, Phrases};
pub use question::label_of;
pub use queue::{Arrival, Lane, SpeechQueue, Unsaid, Wish, arrival};
pub use segment::{Segment, join, join_shown, join_spoken};
pub use tongue::Tongue;
pub use trust::Trust;
pub use utterance::{Class, Cue, Mark, Sound, Utterance, UtteranceId};
pub use whole::Whole;
pub use wrap::wrap;
