//! One message of the tool server to the listening hearken, and what becomes of it.
//!
//! Responsibilities: finding the listening hearken, waiting for its answer until the errand is cancelled. Not here:
//! what the answer means (`tool_server`).

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::hooks::exchange::{Exchange, ReadStep};
use crate::hooks::hook_endpoint;

/// How often to look whether the errand was cancelled.
const LOOK: Duration = Duration::from_millis(100);
/// The status of an answer, and that of a request which waited for it in vain.
const OK: u16 = 200;
const WAITED_IN_VAIN: u16 = 504;

/// A message on its way.
#[derive(Debug)]
pub(super) struct ListenerCall {
    /// The folder in which a listening hearken has its address.
    pub folder: PathBuf,
    /// The path, after the secret.
    pub to: &'static str,
    /// The message.
    pub body: String,
    /// Whether it was cancelled.
    pub cancelled: Arc<AtomicBool>,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ListenerCallOutcome {
    /// No hearken listens.
    Nobody,
    /// It was answered.
    Answered(Value),
    /// The time for an answer is up.
    Unanswered,
    /// The listening hearken ended before it answered.
    Lost,
    /// The listening hearken does not take it.
    Refused,
    /// It was cancelled.
    Cancelled,
}

impl ListenerCall {
    /// Sends the message and waits for its answer; `waits` is called again and again meanwhile.
    pub fn run(&self, waits: &mut impl FnMut()) -> ListenerCallOutcome {
        let Some(knock) = hook_endpoint::find(&self.folder) else {
            return ListenerCallOutcome::Nobody;
        };
        let exchange = Exchange::open(&knock, self.to, self.body.as_bytes(), LOOK);
        let Some(mut exchange) = exchange else {
            return ListenerCallOutcome::Nobody;
        };
        loop {
            if self.cancelled.load(Ordering::SeqCst) {
                return ListenerCallOutcome::Cancelled;
            }
            match exchange.read() {
                ReadStep::More => {}
                ReadStep::Nothing => waits(),
                ReadStep::Over => break,
            }
        }
        let Some(answer) = exchange.answer() else {
            return ListenerCallOutcome::Lost;
        };
        match (answer.status, serde_json::from_slice(&answer.body)) {
            (OK, Ok(said)) => ListenerCallOutcome::Answered(said),
            (WAITED_IN_VAIN, _) => ListenerCallOutcome::Unanswered,
            _ => ListenerCallOutcome::Refused,
        }
    }
}
