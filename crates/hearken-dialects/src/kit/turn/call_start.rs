//! When a call counts as running.
//!
//! Responsibilities: from what an agent says or leaves out, the time at which its call is announced as running. Not
//! here: announcing it (`turn`), its end (`call_ends`).
//!
//! Mental model: an agent reports a call as running before it asks for permission, or never. So a call that is reported
//! as running waits a moment, for the request; and one that was allowed waits a moment, for the report.

use std::time::Duration;

use crate::Cx;
use crate::kit::call::{Call, GRACE, HeardStage};

use super::{EventContext, Turn};

impl Turn {
    /// Handles a call that runs: it is announced if it was allowed, otherwise after a while.
    pub(super) fn runs(&mut self, key: &str, teller: &mut EventContext, cx: &mut Cx<'_>) {
        let Some(call) = self.calls.get_mut(key) else {
            return;
        };
        match call.stage {
            HeardStage::Unsaid => call.stage = HeardStage::Waiting(cx.now.monotonic + GRACE),
            HeardStage::Allowed => self.tell_call(key, teller, cx),
            HeardStage::Waiting(_)
            | HeardStage::Asked
            | HeardStage::Rejected
            | HeardStage::Announced => {}
        }
    }

    /// Returns when a call that is not announced yet counts as running; `None` if it does not.
    pub(super) fn runs_from(call: &Call) -> Option<Duration> {
        match call.stage {
            HeardStage::Waiting(until) => Some(until),
            HeardStage::Allowed => call.runs_at,
            HeardStage::Unsaid
            | HeardStage::Asked
            | HeardStage::Rejected
            | HeardStage::Announced => None,
        }
    }
}
