//! AG-UI: an endpoint that takes one run after another, and answers each with its events. Pure.
//!
//! Responsibilities: starting the runs that the person wants, translating them into AAEP, asking the person about
//! interrupts, and resuming with the answers. Not here: AAEP itself (`protocol`), announcing turns, calls and questions
//! (`acp`, whose agents report the same), connections (`transport`).
//!
//! # Mental model
//! Every connection belongs to a run: the run is posted, the response is the stream of its events, and the stream ends
//! with the run. A run that needs the person ends as interrupted; the answers go out with the next run of the same
//! conversation. The person hears these runs as one turn, which ends when a run ends for any other reason. The endpoint
//! may remember nothing: each run carries the conversation and the state that the agent has shared, so both are kept
//! here. A run that broke off is never posted again automatically, because it may have had effects.
//!
//! # Worked example
//! The person writes a prompt, and it is posted as a run. TOOL_CALL_START arrives, then RUN_FINISHED with an interrupt
//! for that call: the question is asked. The person accepts: a run is posted with `resume` and no new message,
//! TOOL_CALL_RESULT and text arrive, then RUN_FINISHED: the turn is over.
//!
//! Sources: docs/concepts of `ag-ui-protocol/ag-ui` (events, interrupts, messages, state), sdks/python (`ag_ui.core`),
//! and integrations/langgraph (`ag_ui_langgraph`) for the interrupts sent as CUSTOM `on_interrupt`.

mod client;
mod decisions;
mod interrupt;
mod messages;
mod questions;
mod run_events;
mod run_history;
mod runs;
mod shared_state;
#[cfg(test)]
mod tests;

pub use client::Agui;
#[cfg(test)]
pub(crate) use tests::MESSAGES;

use super::Recognition;

/// Returns whether a text is an event of this protocol.
pub fn recognise(text: &str) -> Recognition {
    match messages::is_event(text) {
        true => Recognition::Surely,
        false => Recognition::No,
    }
}
