//! Observation of the machines: one observer for all, which learns the owner of each.
//!
//! Responsibilities: stating the owner and the time of each step. Not here: the machines (`machines`), the
//! names of a step (`protocol::NamedStep`), what a trace looks like (`inspect`).

use crate::protocol::{NamedStep, NoObserver, Now, OutputId, ToolCallId, TransitionError, Watcher};

use super::key::{QuestionId, SessionKey};

/// The owner of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// The session itself.
    Session,
    /// The agent's state.
    State {
        /// The state, as the producer names it.
        name: &'a str,
    },
    /// One call of a tool.
    Tool {
        /// The tool's name.
        name: &'a str,
        /// The call's id, if it has one.
        call: Option<&'a ToolCallId>,
    },
    /// A question.
    Question(QuestionId),
    /// An output; absent means the session's nameless one.
    Output(Option<&'a OutputId>),
}

/// One step of one machine, taken or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineStep<'a> {
    /// The session.
    pub key: &'a SessionKey,
    /// The time of the step.
    pub at: Now,
    /// The sequence number of the event that caused it, if it has one: the event may have waited for others.
    pub number: Option<u64>,
    /// The owner within the session.
    pub subject: Subject<'a>,
    /// The step, by its names.
    pub named: NamedStep,
}

/// An observer of every machine of every session.
pub trait Observer {
    /// Returns whether it wants to be notified at all.
    fn watches(&self) -> bool {
        true
    }
    /// Called before an event is applied.
    fn before(&mut self, step: &MachineStep<'_>);
    /// Called after the step, with the state that was entered.
    fn after(&mut self, step: &MachineStep<'_>, to: &'static str);
    /// Called when the state does not accept the event; the state stays.
    fn error(&mut self, step: &MachineStep<'_>, error: &TransitionError);
}

impl Observer for NoObserver {
    fn watches(&self) -> bool {
        false
    }
    fn before(&mut self, _: &MachineStep<'_>) {}
    fn after(&mut self, _: &MachineStep<'_>, _: &'static str) {}
    fn error(&mut self, _: &MachineStep<'_>, _: &TransitionError) {}
}

/// Passes a machine's steps on to an observer, with the context that the machine itself lacks.
pub(super) struct Relay<'a> {
    pub(super) key: &'a SessionKey,
    pub(super) at: Now,
    pub(super) number: Option<u64>,
    pub(super) subject: Subject<'a>,
    pub(super) observer: &'a mut dyn Observer,
}

impl Watcher for Relay<'_> {
    fn before(&mut self, named: NamedStep) {
        let step = self.step(named);
        self.observer.before(&step);
    }

    fn after(&mut self, named: NamedStep, to: &'static str) {
        let step = self.step(named);
        self.observer.after(&step, to);
    }

    fn error(&mut self, named: NamedStep, error: &TransitionError) {
        let step = self.step(named);
        self.observer.error(&step, error);
    }
}

impl<'a> Relay<'a> {
    fn step(&self, named: NamedStep) -> MachineStep<'a> {
        MachineStep {
            key: self.key,
            at: self.at,
            number: self.number,
            subject: self.subject,
            named,
        }
    }
}
