//! What each agent is doing: phases, tools, questions, outputs. Pure.
//!
//! Responsibilities: turning decoded events into [`Change`]s of per-session state, pairing and
//! linking what belongs together, noticing what breaks the protocol ([`Anomaly`]) and what
//! endangers the person ([`Danger`]). Not here: how any of it is worded (`announce`), frames and
//! links as such (`transport`).
//!
//! Mental model: [`Sessions::apply`] applies one event of one link and returns what changed, in the
//! order in which a person should hear it. [`Sessions::tick`] does the same for changes caused by
//! time alone (warnings, probable timeouts, a tool that runs unasked); [`Sessions::deadline`]
//! returns when to call it. Identifiers are scoped to a link and an agent, so that no source can
//! touch another's state.

mod aftermath;
mod anomaly;
mod answers;
mod apply;
mod calls;
mod change;
mod clock_skew;
mod consent;
mod context;
mod deadline_index;
mod failed;
mod fate;
mod fingerprint;
mod journal;
mod key;
mod keyed_slab;
mod link;
mod machines;
mod model;
mod observe;
mod one_step;
mod order;
mod outputs;
mod question;
mod question_body;
mod question_store;
mod question_time;
mod questions;
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
mod unraised;
mod waiting_lists;

// A session names its source; this re-export spares users of sessions the other module.
pub use crate::link::LinkId;
pub use anomaly::{Anomaly, AnomalyKind, Danger, Detail};
pub use change::{Change, Ended, What};
pub use fate::{Aftermath, Fate};
pub use key::{QuestionId, SessionKey};
pub(crate) use keyed_slab::{Keyed, KeyedSlab, Names};
pub use machines::{
    AgentState, Entered, Lifecycle, LifecycleEvent, OutputEvent, OutputRun, QuestionEvent,
    QuestionRun, ToolEvent, ToolRun,
};
pub use model::{Consent, Ending, Output, Phase, Session, Sight, ToolCall};
pub use observe::{Observer, Step, Subject};
pub use question::{Closing, Given, Question, ReplyState, Standing, ToolWord, Warning};
pub use question_body::QuestionBody;
pub use sessions::{Dropped, Sessions};
pub use suspicion::{Gravity, Suspicion};
pub use token_memory::TokenUse;

#[cfg(test)]
mod tests;
