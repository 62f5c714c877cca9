//! What is worth saying, when, and in which words. Pure: time is an argument.
//!
//! Responsibilities: turning changes into announcements, streamed text into sentences and written words into
//! spoken ones; the order of speech; the history. Not here: screens and engines.
//!
//! Mental model: `announcer` creates [`Announcement`]s, every face shows them, [`History`] keeps them, and
//! [`SpeechQueue`] passes the spoken ones to the voice, one utterance at a time.

mod announcement;
mod announcer;
mod findings;
mod history;
mod speech;
mod text;
mod voice_event;
mod words;

pub use announcement::{
    Announcement, AnnouncementId, AnnouncementKind, Class, Cue, EventFacts, Presentation,
    QuestionRelation, Quote, QuoteKind, Tool, Topic, Weight,
};
pub use announcer::{
    Announcer, AnswerMethod, AttachedMaterial, ChangeInSight, ChangeItem, ChangePlace,
    ClipboardText, KeptChange, KeptLine, LineInSight, NewAnnouncements, QuestionInSight,
    QuestionParts, Trust, TurnPart, TurnText, hides_something, label_of, source_of,
    takes_two_steps,
};
pub use history::History;
pub use speech::delivery::Deliveries;
pub use speech::heartbeat::{Beat, Heartbeat, STALE as HEARTBEAT_STALE};
pub use speech::queue::{
    Lane, Ledger, Preemption, RewindUnit, SpeechQueue, UtteranceFate, VoiceCommand, arrival,
};
pub use speech::utterance::{Sound, Utterance, UtteranceId};
pub use text::wrap::{wrap, wrap_exact};
pub use text::{coalesce, direction, normalise, sentence, speakable};
pub use voice_event::{MissingVoice, VoiceEvent};
pub use words::departure::{args_of as danger_args, key_of as danger_key};
pub use words::language::best;
pub use words::naming::{stands_as_it_is, words_of};
pub use words::phrase::{Arg, Args, BUILT_IN, BuiltIn, PhraseError, Phrases};
pub use words::reason::{Detail, Reason};
pub use words::scanned::{SCANNED, scanned};
pub use words::segment::{Mark, Segment, join, join_shown, join_spoken};
pub use words::spoken_language::SpokenLanguage;
