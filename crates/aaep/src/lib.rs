//! AAEP text to typed messages and back. Pure.
//!
//! Responsibilities: reading an event with every field of the twelve types and the spellings that
//! real producers use, reporting precisely what is wrong with it, building the replies. Not here:
//! what events mean together (`session`), how a frame reached us (`transport`), other protocols
//! (`dialect`).
//!
//! Mental model: reading never fails over a detail. [`decode`] returns every readable part of the event
//! together with its [`Finding`]s; only a text that is not a JSON object, or that names no type at all, is a
//! [`DecodeError`]. [`encode`] is the inverse: its texts are read back unchanged.

mod action_data;
mod attachments;
mod call_facts;
mod clock;
mod decode;
mod decoded_message;
mod direct;
mod encode;
mod envelope;
mod event;
mod event_check;
mod field_rules;
mod fields;
mod finding;
mod handshake;
mod id_text;
mod ids;
mod json_repairs;
mod json_texts;
mod language_tag;
mod machine;
mod manifest;
mod parse;
mod payload;
mod problem;
mod relations;
mod repeated_parts;
mod reply;
mod schema;
mod stamp;
mod text_forms;
mod translated_events;
mod variants;
mod version;

pub use action_data::{ActionDetails, RejectOnly};
pub use attachments::{
    Attachments, CallOutput, ChangedLine, FileChange, Hunk, PlanStage, PlanStep,
};
pub use call_facts::{CallExit, CallFacts};
pub use clock::Now;
pub use decode::{DecodeError, decode, is_known_type, object, recordable};
pub use decoded_message::Decoded;
pub use encode::encode;
pub use envelope::{Envelope, HOST, Localization, Producer, Urgency};
pub use event::{
    AwaitingClarification, AwaitingConfirmation, Choice, Decision, ErrorCategory, Event,
    HandoffRequested, OutputStreaming, Progress, ResponseKind, Reversibility, RiskLevel,
    SessionCancelled, SessionCompleted, SessionErrored, SessionStarted, StateChanged, Summary,
    SummaryLevel, ToolCompleted, ToolInvoked, ToolStatus, UndoStatement, UnknownEvent,
};
pub use finding::{Finding, Rule, Severity};
pub use handshake::{
    Capabilities, EventFilters, HandshakeMessage, RejectionCode, SubscriptionConsent,
    SubscriptionRejection, SubscriptionRequest, close as subscription_close, is_understood,
    read_handshake, renegotiate,
};
pub use ids::{AgentId, EventId, OutputId, ReplyToken, SessionId, ToolCallId};
pub use json_texts::{JsonTexts, bare};
pub use language_tag::{LanguageMatch, TextDirection, Variant, fit, is_direction_sign};
pub use machine::{
    Machine, NamedStep, NoObserver, StateObserver, Transition, TransitionError, Watcher,
};
pub use manifest::{KeyError, KeyRing, Manifest, ManifestClaim, SignatureFault};
pub use problem::{Datum, JsonKind, Problem};
pub use repeated_parts::RecentValues;
pub use reply::{Answer, LONGEST_RATIONALE, RecordedReply, Reply, Response, user_message};
pub use text_forms::TextForm;
pub use translated_events::{NO_END, NOT_STATED, OWN_CONTEXT, STOPPED, TRANSLATED};
pub use variants::{QuestionText, UNDETERMINED, WantedLanguages, direction_of};
pub use version::{AAEP_VERSION, CORE_CONTEXT};
