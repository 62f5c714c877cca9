//! The calls of a turn.
//!
//! Responsibilities: which call a message is about, holding a call back until it is known to run, its end. Not here:
//! asking for its permission (`questions`).
//!
//! Mental model: Sage reports a tool as started before it asks whether the tool may run. A person who hears "using
//! bash" while it still waits would believe that it is too late. So a call is announced as running only when it surely
//! is: its permission was given, it had an effect, or no permission was requested for a moment.

use std::time::Duration;

use crate::link::{Phrase, PhraseArg};
use crate::protocol::{
    Attachments, CallOutput, Event, STOPPED, ToolCallId, ToolCompleted, ToolInvoked, ToolStatus,
};

use super::super::event_writer::{self, EventContent, NO_END, NOT_STATED, normal, short, stated};
use super::message::{self, Completeness, SageStatus};
use super::message_context::SageContext;
use super::state_tables::{Agent, AgentEvent, Tool, ToolEvent};
use super::turn_events::SageTurn;

/// How long a started call is held back for a request for permission: Sage asks immediately.
const HELD: Duration = Duration::from_millis(300);

/// How many calls of a turn are kept; finished ones are dropped first. The same limit as `session`.
const MOST_CALLS: usize = 256;

/// What was announced of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallAnnouncement {
    /// Nothing.
    No,
    /// That it is running.
    Running,
    /// That it is over.
    Over,
}

/// A call of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct SageCall {
    /// The tool's name, in AAEP's form.
    pub tool: String,
    /// AAEP's name for the call.
    pub id: String,
    /// The call's number in the turn; 0 until an item reports it.
    number: u64,
    /// The state of its machine.
    pub machine: Tool,
    /// When it counts as running, unless it needs a permission first.
    pub due: Option<Duration>,
    /// Whether a permission is requested and not resolved yet.
    pub is_permission_requested: bool,
    arguments: Option<String>,
    shown: CallAnnouncement,
}

impl SageCall {
    /// Returns whether it was announced as running, and not yet as over.
    pub fn runs(&self) -> bool {
        self.shown == CallAnnouncement::Running
    }

    /// Returns whether it is over, by its machine or because the turn has gone on.
    pub fn is_over(&self) -> bool {
        self.machine.is_over() || self.shown == CallAnnouncement::Over
    }

    /// Returns its end with a status (4.3.2).
    fn completion(&self, status: &str) -> ToolCompleted {
        ToolCompleted {
            tool: self.tool.clone(),
            tool_call_id: Some(ToolCallId::from(self.id.as_str())),
            ..ToolCompleted::of(ToolStatus::parse(status))
        }
    }
}

impl SageTurn {
    /// Applies a message about a call.
    pub fn call(
        &mut self,
        desk: &mut SageContext<'_>,
        name: &str,
        stage: Completeness,
        said: &message::CallReport,
    ) {
        self.hush(desk);
        let known = self.adopt(name, &said.tool);
        if !known {
            self.begin_call(desk, name, &said.tool);
            if self.agent != Agent::ExecutingTools && self.agent != Agent::WaitingPermission {
                // Calls in sequence are one step of the agent.
                self.step(desk, AgentEvent::ToolCalls);
            }
        }
        let Some(call) = self.calls.get_mut(name) else {
            return;
        };
        if call.arguments.is_none() {
            call.arguments = said.arguments.clone();
        }
        match said.status {
            // A new call without a status waits to be started.
            SageStatus::Unsaid if !known && stage != Completeness::Completed => {}
            SageStatus::Started if stage == Completeness::Created => {
                self.take_up(desk, name);
                if let Some(call) = self.calls.get_mut(name)
                    && !call.is_permission_requested
                {
                    call.due = Some(desk.now + HELD);
                }
            }
            SageStatus::Started | SageStatus::Unsaid if stage != Completeness::Completed => {
                self.take_up(desk, name);
                self.run(desk, name);
                self.step_call(desk, name, ToolEvent::Progress);
            }
            SageStatus::Started | SageStatus::Unsaid => {
                self.end_call(desk, name, SageStatus::Ended, said)
            }
            SageStatus::Succeeded
            | SageStatus::Failed
            | SageStatus::TimedOut
            | SageStatus::Interrupted
            | SageStatus::Denied
            | SageStatus::Ended => self.end_call(desk, name, said.status, said),
        }
    }

    /// Finds a call by its name, or as one whose permission was requested before the call was reported.
    fn adopt(&mut self, name: &str, tool: &str) -> bool {
        if self.calls.contains_key(name) {
            return true;
        }
        let tool = event_writer::tool(tool);
        let fits = |(_, call): &(&String, &SageCall)| {
            call.number == 0 && call.tool == tool && !call.is_over()
        };
        let Some(key) = self.calls.iter().find(fits).map(|(key, _)| key.clone()) else {
            return false;
        };
        if let Some(mut call) = self.calls.remove(&key) {
            self.count += 1;
            call.number = self.count;
            self.calls.insert(name.to_owned(), call);
        }
        true
    }

    /// Adds a call.
    fn begin_call(&mut self, desk: &mut SageContext<'_>, name: &str, tool: &str) {
        self.bound_calls(desk);
        self.count += 1;
        let number = self.count;
        self.insert_call(name, tool, number);
    }

    fn insert_call(&mut self, name: &str, tool: &str, number: u64) {
        let call = SageCall {
            tool: event_writer::tool(tool),
            // Two turns may use the same name for their calls, and so may one turn.
            id: format!("{}{}", event_writer::id("call_", name), self.calls.len()),
            number,
            machine: Tool::Pending,
            due: None,
            is_permission_requested: false,
            arguments: None,
            shown: CallAnnouncement::No,
        };
        self.calls.insert(name.to_owned(), call);
    }

    /// Makes room: a finished call is kept only so that its name is recognised.
    fn bound_calls(&mut self, desk: &mut SageContext<'_>) {
        if self.calls.len() < MOST_CALLS {
            return;
        }
        let oldest = self
            .calls
            .iter()
            .min_by_key(|(_, call)| (!call.is_over(), call.number))
            .map(|(name, _)| name.clone());
        if let Some(name) = oldest {
            if self.calls.get(&name).is_some_and(SageCall::runs) {
                self.end_call(
                    desk,
                    &name,
                    SageStatus::Ended,
                    &message::CallReport::default(),
                );
            }
            self.calls.remove(&name);
        }
    }

    /// Finds the call that a permission is for, or creates one that was not reported otherwise.
    pub fn call_to_permit(
        &mut self,
        desk: &mut SageContext<'_>,
        request: &str,
        tool: &str,
    ) -> String {
        self.hush(desk);
        let named = event_writer::tool(tool);
        let fits = |call: &&SageCall| {
            call.tool == named && !call.is_over() && !call.is_permission_requested
        };
        let found = self
            .calls
            .iter()
            .filter(|(_, call)| fits(call))
            .max_by_key(|(_, call)| (call.machine.is_held(), call.number));
        let key = match found {
            Some((key, _)) => key.clone(),
            None => {
                self.bound_calls(desk);
                // No item has a name like this, and a request may come twice.
                self.count += 1;
                let key = format!("permission\n{request}\n{}", self.count);
                self.insert_call(&key, tool, 0);
                key
            }
        };
        self.take_up(desk, &key);
        if let Some(call) = self.calls.get_mut(&key) {
            call.is_permission_requested = true;
            call.due = None;
        }
        key
    }

    fn step_call(&mut self, desk: &mut SageContext<'_>, name: &str, event: ToolEvent) {
        if let Some(call) = self.calls.get_mut(name) {
            call.machine = desk.step(&self.thread, &call.id, call.machine, event);
        }
    }

    /// Steps a call to the check of its permission: Sage does not report the steps in between.
    fn take_up(&mut self, desk: &mut SageContext<'_>, name: &str) {
        for (at, event) in [
            (Tool::Pending, ToolEvent::Start),
            (Tool::Queued, ToolEvent::PermitAcquired),
        ] {
            if self.calls.get(name).is_some_and(|call| call.machine == at) {
                self.step_call(desk, name, event);
            }
        }
    }

    /// Marks a call as running, and announces it.
    pub fn run(&mut self, desk: &mut SageContext<'_>, name: &str) {
        self.take_up(desk, name);
        let Some(call) = self.calls.get_mut(name) else {
            return;
        };
        call.due = None;
        call.is_permission_requested = false;
        if call.machine == Tool::CheckingPermission {
            self.step_call(desk, name, ToolEvent::PermissionAllowed);
        }
        self.tell_call(desk, name);
    }

    fn tell_call(&mut self, desk: &mut SageContext<'_>, name: &str) {
        let Some(call) = self
            .calls
            .get_mut(name)
            .filter(|call| call.shown == CallAnnouncement::No)
        else {
            return;
        };
        call.shown = CallAnnouncement::Running;
        self.told_calls += 1;
        let invoked = ToolInvoked {
            tool: call.tool.clone(),
            tool_call_id: Some(ToolCallId::from(call.id.as_str())),
            args_summary: call
                .arguments
                .as_deref()
                .map(event_writer::long)
                .and_then(stated),
            ..ToolInvoked::default()
        };
        if self.open == 0 {
            self.enter(desk, "calling_tool");
        }
        self.event(desk, Event::ToolInvoked(invoked));
    }

    /// Handles a denied permission: the call never runs.
    pub fn deny_call(&mut self, desk: &mut SageContext<'_>, name: &str) {
        self.take_up(desk, name);
        self.step_call(desk, name, ToolEvent::PermissionDenied);
        if let Some(call) = self.calls.get_mut(name) {
            call.due = None;
            call.is_permission_requested = false;
        }
    }

    /// Handles the end of a call.
    fn end_call(
        &mut self,
        desk: &mut SageContext<'_>,
        name: &str,
        how: SageStatus,
        said: &message::CallReport,
    ) {
        let Some(call) = self.calls.get(name) else {
            return;
        };
        let held = call.machine.is_held();
        let over = call.is_over();
        let is_denied = call.machine == Tool::Denied;
        let failure = || {
            said.error
                .as_deref()
                .or(said.output.as_deref())
                .unwrap_or_default()
        };
        if held && matches!(how, SageStatus::Denied | SageStatus::Interrupted) {
            // It never ran, so it is not announced as running.
            if how == SageStatus::Denied {
                let tool = call.tool.clone();
                self.deny_call(desk, name);
                desk.announce(denied(Some(&tool), failure()));
            } else {
                self.step_call(desk, name, ToolEvent::Cancel);
            }
        } else {
            if held {
                // It had an effect, so it ran.
                self.run(desk, name);
            }
            if is_denied && how == SageStatus::Succeeded {
                // It ran all the same.
                self.tell_call(desk, name);
            }
            // If only its end is known, the machine has no event for it.
            if let Some(event) = event_of(how) {
                self.step_call(desk, name, event);
            }
            if let Some(call) = self.calls.get_mut(name) {
                call.due = None;
                // A second end has no effect.
                let was_told = call.runs();
                call.shown = CallAnnouncement::Over;
                let (status, summary, error) = match how {
                    SageStatus::Succeeded => ("success", said.output.as_deref(), None),
                    SageStatus::TimedOut => ("timeout", None, Some(failure())),
                    SageStatus::Failed | SageStatus::Denied => ("error", None, Some(failure())),
                    // Sage interrupts a call only with its turn, for a person.
                    SageStatus::Interrupted => (STOPPED, None, None),
                    SageStatus::Ended | SageStatus::Started | SageStatus::Unsaid => {
                        (NOT_STATED, said.output.as_deref(), None)
                    }
                };
                // The cause of a failure is often at the end of a report that is too long for a
                // field.
                let failed = error.filter(|error| error.trim().contains('\n'));
                let attached = Attachments {
                    output: failed.and_then(CallOutput::of),
                    ..Attachments::default()
                };
                let completed = Event::ToolCompleted(ToolCompleted {
                    summary: normal(summary.map(event_writer::long)),
                    error_message: error.map(short).and_then(stated),
                    duration_ms: event_writer::duration(said.duration_ms),
                    ..call.completion(status)
                });
                if was_told {
                    self.event(desk, EventContent::from(completed).with(attached));
                }
            }
        }
        self.step(desk, AgentEvent::ToolComplete);
        let open = self.calls.values().any(|call| !call.is_over());
        if !open && self.agent == Agent::ExecutingTools {
            self.step(desk, AgentEvent::ToolsComplete);
        }
        if !over {
            self.settle_state(desk);
        }
    }

    /// Lets go of the calls that still run when the turn ends; whether they go on is unknown.
    pub fn leave_calls(&mut self, desk: &mut SageContext<'_>) {
        let open: Vec<String> = self
            .calls
            .iter_mut()
            .map(|(name, call)| {
                call.due = None;
                (name, call)
            })
            .filter(|(_, call)| call.runs())
            .map(|(name, _)| name.clone())
            .collect();
        for name in open {
            if let Some(call) = self.calls.get_mut(&name) {
                let completed = call.completion(NO_END);
                call.shown = CallAnnouncement::Over;
                self.event(desk, Event::ToolCompleted(completed));
            }
        }
    }

    /// Marks held-back calls as running if no permission was requested for them.
    pub fn tick_calls(&mut self, desk: &mut SageContext<'_>) {
        let due: Vec<String> = self
            .calls
            .iter()
            .filter(|(_, call)| call.due.is_some_and(|due| desk.now >= due))
            .map(|(name, _)| name.clone())
            .collect();
        for name in due {
            self.run(desk, &name);
        }
    }
}

/// Returns the phrase for a denied tool.
pub fn denied(tool: Option<&str>, reason: &str) -> Phrase {
    let phrase = match tool {
        Some(tool) => {
            Phrase::new("translated.denied").with("tool", PhraseArg::Name(tool.to_owned()))
        }
        None => Phrase::new("translated.denied.some"),
    };
    phrase.with("reason", PhraseArg::Agent(short(reason)))
}

fn event_of(how: SageStatus) -> Option<ToolEvent> {
    match how {
        SageStatus::Succeeded => Some(ToolEvent::Complete),
        SageStatus::Failed => Some(ToolEvent::Fail),
        SageStatus::TimedOut => Some(ToolEvent::Timeout),
        SageStatus::Interrupted => Some(ToolEvent::Cancel),
        SageStatus::Denied => Some(ToolEvent::PermissionDenied),
        SageStatus::Ended | SageStatus::Started | SageStatus::Unsaid => None,
    }
}
