//! What each agent is doing: phases, tools, questions, outputs. Pure.
//!
//! Responsibilities: turning decoded events into [`Change`]s of per-session state, pairing events and linking
//! questions with calls, noticing what breaks the protocol ([`Anomaly`]) and what endangers the person
//! ([`Danger`]). Not here: how any of it is worded (`announce`), frames and links as such (`transport`).
//!
//! Mental model: [`Sessions::apply`] applies one event of one link and returns what changed, in the order in
//! which a person should hear it. [`Sessions::tick`] does the same for changes caused by time alone (warnings,
//! probable timeouts, a tool that runs without a question); [`Sessions::deadline`] returns when to call it.
//! Identifiers are scoped to a link and an agent, so that no source can touch another's state.

mod action_fate;
mod aftermath;
mod anomaly;
mod answer_path;
mod calls;
mod change;
mod clock_skew;
mod consent;
mod context;
mod deadline_index;
mod event_effects;
mod event_order;
mod failed_calls;
mod fingerprint;
mod journal;
mod key;
mod keyed_slab;
mod link_state;
mod machine_observer;
mod machines;
mod model;
mod one_step;
mod outputs;
mod question;
mod question_body;
mod question_events;
mod question_store;
mod question_time;
mod rejection;
mod session_store;
mod sessions;
mod suspicion;
mod tally;
mod team;
mod timed_transitions;
mod token_memory;
mod tokens;
mod tools;
mod transition_data;
mod unraised_questions;
mod waiting_lists;

// Re-exported because session keys name their source.
pub use crate::link::LinkId;
pub use action_fate::{DenialReason, DeniedAction};
pub use anomaly::{Anomaly, AnomalyDetail, AnomalyKind, Danger};
pub use change::{Change, ChangeKind, SessionEndEvent};
pub use key::{QuestionId, SessionKey};
pub(crate) use keyed_slab::{KeyName, KeyedItem, KeyedSlab};
pub use machine_observer::{MachineStep, Observer, Subject};
pub use machines::{
    AgentState, Entered, Lifecycle, LifecycleEvent, OutputEvent, OutputRun, QuestionEvent,
    QuestionRun, ToolEvent, ToolRun,
};
pub use model::{Consent, Output, Phase, Reception, Session, SessionEndKind, ToolCall};
pub use question::{
    AnswerReach, CloseReason, GivenAnswer, Question, ReplyState, ToolWord, Warning,
};
pub use question_body::QuestionBody;
pub use sessions::{DroppedCounts, Sessions};
pub use suspicion::{Gravity, Suspicion};
pub use token_memory::TokenUse;

#[cfg(test)]
mod tests;
