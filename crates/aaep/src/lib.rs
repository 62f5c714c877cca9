//! AAEP text to typed messages and back. Pure.
//!
//! Responsibilities: reading an event with every field of the twelve types and the spellings that
//! real producers use, reporting precisely what is wrong with it, building the replies. Not here:
//! what events mean together (`session`), how a frame reached us (`transport`), other protocols
//! (`dialect`).
//!
//! Mental model: reading never fails over a detail. [`decode`] returns the event, as far as it can
//! be understood, together with its [`Finding`]s; only a text that is not a JSON object, or that
//! names no type at all, is a [`DecodeError`]. [`encode`] is the inverse: what it writes is read
//! back unchanged.

mod attached;
mod call_facts;
mod check;
mod clock;
mod decode;
mod decoded;
mod deed;
mod direct;
mod encode;
mod envelope;
mod event;
mod fields;
mod finding;
mod form;
mod handshake;
mod ids;
mod kept;
mod language;
mod machine;
mod manifest;
mod mend;
mod parse;
mod payload;
mod problem;
mod recent;
mod relations;
mod reply;
mod same;
mod schema;
mod shape;
mod stamp;
mod texts;
mod translated;
mod variants;
mod version;

pub use attached::{Attached, CallOutput, ChangedLine, FileChange, Hunk, PlanStage, PlanStep};
pub use call_facts::{CallExit, CallFacts};
pub use clock::Now;
pub use decode::{DecodeError, decode, is_known_type, object, recordable};
pub use decoded::Decoded;
pub use deed::{Deed, RejectOnly};
pub use encode::encode;
pub use envelope::{Envelope, HOST, Localization, Producer, Urgency};
pub use event::{
    AwaitingClarification, AwaitingConfirmation, Choice, Decision, ErrorCategory, Event,
    HandoffRequested, Level, OutputStreaming, Progress, ResponseKind, Reversibility, RiskLevel,
    SessionCancelled, SessionCompleted, SessionErrored, SessionStarted, StateChanged, Summary,
    ToolCompleted, ToolInvoked, ToolStatus, Undoing, UnknownEvent,
};
pub use finding::{Finding, Rule, Severity};
pub use form::TextForm;
pub use handshake::{
    Accepted, Capabilities, EventFilters, HandshakeMessage, Rejected, RejectionCode,
    SubscriptionRequest, close as subscription_close, is_understood, read_handshake, renegotiate,
};
pub use ids::{AgentId, EventId, OutputId, ReplyToken, SessionId, ToolCallId};
pub use language::{Fit, TextDirection, Variant, fit, is_direction_sign};
pub use machine::{
    Machine, Named, StateObserver, Transition, TransitionError, Unobserved, Watcher,
};
pub use manifest::{Claim, KeyError, KeyRing, Manifest, SignatureFault};
pub use problem::{Datum, JsonKind, Problem};
pub use recent::Recent;
pub use reply::{Answer, LONGEST_RATIONALE, RecordedReply, Reply, Response, user_message};
pub use same::{are_one, are_same};
pub use texts::{Texts, bare};
pub use translated::{NO_END, NOT_STATED, OWN_CONTEXT, STOPPED, TRANSLATED};
pub use variants::{QuestionText, UNDETERMINED, Wanted, direction_of};
pub use version::{AAEP_VERSION, CORE_CONTEXT};
