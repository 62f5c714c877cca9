//! AG-UI: an endpoint that is asked for one run after the other, and answers each with its events. Pure.
//!
//! Responsibilities: beginning the runs that the person wants, telling each in AAEP's terms, asking the person for what a run
//! was interrupted for and going on with what they decide. Not here: AAEP itself (`protocol`), how a turn, a call and a
//! question are told (`acp`, which has them from agents that report the same), connections (`transport`).
//!
//! # Mental model
//! There is no connection but that of a run: it is posted, its answer is the stream of its events, and that ends with the run.
//! A run that needs somebody ends as interrupted; the answers go out with the next run, in the same conversation. The person
//! hears all of these as one turn, which ends when a run ends for another reason. The endpoint may remember nothing: each run
//! carries the conversation and the state that the agent shared before, so both are kept here. A run that broke off is never
//! posted again by itself, because it may have done something.
//!
//! # Worked example
//! The person writes a prompt: it is posted as a run. TOOL_CALL_START, then RUN_FINISHED with an interrupt for that call: the
//! question is asked. The person accepts: a run is posted with `resume` and no new message, TOOL_CALL_RESULT and text come,
//! RUN_FINISHED: the turn is over.
//!
//! Sources: docs/concepts of `ag-ui-protocol/ag-ui` (events, interrupts, messages, state), sdks/python (`ag_ui.core`), and for
//! the interrupts that come as CUSTOM `on_interrupt` integrations/langgraph (`ag_ui_langgraph`).

mod asking;
mod client;
mod deciding;
mod hearing;
mod history;
mod interrupt;
mod read;
mod running;
mod shared;
#[cfg(test)]
mod tests;

pub use client::Agui;

use super::Sign;

/// Returns whether a text is an event of this protocol.
pub fn recognise(text: &str) -> Sign {
    match read::is_event(text) {
        true => Sign::Surely,
        false => Sign::No,
    }
}
