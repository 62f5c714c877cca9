//! The ends of a turn's calls.
//!
//! Responsibilities: what became of a call, and its events; what a stop cut short. Not here: the words for a success
//! (`call`) and for a failure (`announce`), the end of the turn (`kit::turn_end`).
//!
//! Mental model: agents report a call that a stop cut short as completed, as failed, or not at all. What ran when the
//! person stopped the turn is stopped, whatever its agent says, unless its end proves otherwise: its program exited
//! with success, or it changed files.

use crate::event_writer::{self, EventContent, stated};
use crate::kit::call::{Call, HeardStage};
use crate::kit::oversight;
use crate::kit::turn_end::TurnEnd;
use crate::kit::turn_updates::CallStatus;
use crate::protocol::{Attachments, CallExit, Event, STOPPED};
use crate::{Cx, DialectOutput};

use super::{EventContext, MOST_OVER, MOST_PERMISSIONS, Turn};

/// The status of a call that did what it was called for (4.3.2).
const SUCCESS: &str = "success";

impl Turn {
    /// Handles the end of a call.
    pub(super) fn ended(&mut self, key: &str, teller: &mut EventContext, cx: &mut Cx<'_>) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (stage, worked) = (call.stage, call.status == CallStatus::Completed);
        if stage == HeardStage::Rejected && !worked {
            // The person rejected it, and knows.
            self.forget(key);
            return;
        }
        if matches!(stage, HeardStage::Unsaid | HeardStage::Waiting(_))
            && let Some(plan) = call.wrote_down()
        {
            let plan = plan.to_vec();
            self.forget(key);
            // The turn went on after the rejection, and after the text before this call.
            self.rejected = false;
            self.close_output(teller, cx);
            self.planned(plan, teller, cx);
            return self.enter("thinking", teller, cx);
        }
        let status = self.outcome(call);
        if stage != HeardStage::Announced {
            self.tell_call(key, teller, cx);
        }
        let Some(call) = self.calls.get_mut(key) else {
            return;
        };
        let mut attached = call.attached(false);
        attached.call = Some(call.facts(&teller.words));
        let mut completed = call.completion(status);
        if status == STOPPED {
            call.stopped = true;
            attached.output = None;
            // Its end may be reported again after its turn.
            teller.left.put(key, call.clone());
        } else if status == SUCCESS {
            self.edited.extend(call.changed_files());
            completed.summary = call.succeeded(&teller.words);
        } else if status != event_writer::NOT_STATED {
            self.failed += 1;
            let output = attached.output.iter().flat_map(|output| &output.lines);
            let output: Vec<&str> = output.map(String::as_str).collect();
            completed.error_message = stated(event_writer::short(&output.join("\n")));
        }
        let completed = Event::ToolCompleted(completed);
        self.worded(EventContent::from(completed).with(attached), teller, cx);
        self.forget(key);
        // It went on without the answer: the question is over, as the events show.
        if self
            .permission
            .as_ref()
            .is_some_and(|it| it.call == key && it.sending.is_none())
        {
            self.passed.extend(
                self.permission
                    .take()
                    .filter(|_| self.passed.len() < MOST_PERMISSIONS),
            );
            self.leave_question("thinking", teller, cx);
        } else {
            self.enter("thinking", teller, cx);
        }
    }

    /// Handles a call that the agent's own reviewer refused: it did not run, and nothing failed.
    pub fn refused_by_reviewer(
        &mut self,
        key: &str,
        reason: &str,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (stage, title) = (call.stage, call.title());
        let agent = teller.writer.name();
        let refused = oversight::reviewer_refused(agent, &title, reason);
        cx.out.push(DialectOutput::Announce(refused));
        if stage == HeardStage::Announced {
            self.leave_open(key, STOPPED, teller, cx);
        }
        self.forget(key);
        self.enter("thinking", teller, cx);
    }

    /// Returns the status of a call that is over.
    fn outcome(&self, call: &Call) -> &'static str {
        if self.is_stopped(call) {
            return STOPPED;
        }
        match (call.status, &call.exit) {
            (CallStatus::Completed, _) => SUCCESS,
            (CallStatus::Failed, Some(CallExit::TimedOut)) => "timeout",
            (CallStatus::Failed, _) => "error",
            (CallStatus::Pending | CallStatus::InProgress | CallStatus::Ended, _) => {
                event_writer::NOT_STATED
            }
        }
    }

    /// Returns whether a call was cut short by a stop. A rejected call must not run at all, and a stop never excuses
    /// it.
    fn is_stopped(&self, call: &Call) -> bool {
        if call.exit == Some(CallExit::Stopped) {
            return true;
        }
        let ran = match call.stage {
            HeardStage::Unsaid
            | HeardStage::Waiting(_)
            | HeardStage::Allowed
            | HeardStage::Announced => !call.rejected,
            HeardStage::Asked | HeardStage::Rejected => false,
        };
        self.stopping && ran && !call.proves_success()
    }

    /// Announces that the calls which still run are over with their turn: stopped with it, or without an end that their
    /// agent has reported.
    pub(in crate::kit) fn leave_calls(
        &mut self,
        end: &TurnEnd,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) {
        let is_stop = match end {
            TurnEnd::Stopped { .. } => true,
            TurnEnd::Done | TurnEnd::Short(_) | TurnEnd::Failed(_) | TurnEnd::Refused(_) => {
                self.stopping
            }
            TurnEnd::Gone | TurnEnd::Left(_) | TurnEnd::Lost(_) => false,
        };
        let runs = |call: &Call| match call.stage {
            HeardStage::Announced => true,
            HeardStage::Allowed | HeardStage::Waiting(_) => is_stop,
            HeardStage::Unsaid | HeardStage::Asked | HeardStage::Rejected => false,
        };
        let running = self.calls.iter().filter(|(_, call)| runs(call));
        let running: Vec<String> = running.map(|(key, _)| key.clone()).collect();
        for key in running {
            if self.calls.get(&key).map(|call| call.stage) != Some(HeardStage::Announced) {
                self.tell_call(&key, teller, cx);
            }
            let status = if is_stop {
                STOPPED
            } else {
                event_writer::NO_END
            };
            self.leave_open(&key, status, teller, cx);
            if let Some(mut call) = self.calls.remove(&key) {
                call.stopped = is_stop;
                teller.left.put(&key, call);
            }
        }
    }

    /// Handles a declined call; returns its title if that is news to the person.
    pub fn declined(
        &mut self,
        key: &str,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) -> Option<String> {
        let call = self.calls.get(key)?;
        // A person who rejected it here knows.
        let is_known = call.rejected || call.stage == HeardStage::Rejected;
        let (is_told, title) = (call.stage == HeardStage::Announced, call.title());
        if is_told {
            self.leave_open(key, event_writer::NOT_STATED, teller, cx);
        }
        self.forget(key);
        if is_told {
            self.enter("thinking", teller, cx);
        }
        (!is_known).then_some(title)
    }

    /// Announces that nothing more is heard of a call, with the status that says why.
    fn leave_open(
        &mut self,
        key: &str,
        status: &'static str,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) {
        if let Some(call) = self.calls.get(key) {
            let completed = Event::ToolCompleted(call.completion(status));
            let attached = Attachments {
                call: Some(call.facts(&teller.words)),
                ..Attachments::default()
            };
            self.event(EventContent::from(completed).with(attached), teller, cx);
        }
    }

    /// Treats a call as over, and ignores further updates of it.
    pub fn forget(&mut self, key: &str) {
        self.calls.remove(key);
        self.over.push_back(key.to_owned());
        if self.over.len() > MOST_OVER {
            self.over.pop_front();
        }
    }
}
