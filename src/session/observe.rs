//! Who watches the machines: one observer for all of them, told whose machine it is.
//!
//! Responsibilities: the three calls with the names that a trace shows, and the way from a machine's
//! typed steps to them. Not here: the machines (`machines`), what a trace looks like (`inspect`).

use crate::protocol::{
    Machine, Now, OutputId, StateObserver, ToolCallId, TransitionError, Unobserved,
};

use super::key::SessionKey;
use super::prompt::PromptId;

/// Says what a machine belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// The session itself.
    Session,
    /// The agent's state.
    State {
        /// The state as the producer names it.
        name: &'a str,
    },
    /// One call of a tool.
    Tool {
        /// The tool's name.
        name: &'a str,
        /// The call's name, where it has one.
        call: Option<&'a ToolCallId>,
    },
    /// A question.
    Question(PromptId),
    /// An output; absent is the session's nameless one.
    Output(Option<&'a OutputId>),
}

/// Describes one step of one machine, done or refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step<'a> {
    /// Whose session.
    pub key: &'a SessionKey,
    /// When.
    pub at: Now,
    /// The sequence number of the event by which it came, where it has one: such an event may have waited
    /// for others.
    pub number: Option<u64>,
    /// What of the session.
    pub subject: Subject<'a>,
    /// The machine's name.
    pub machine: &'static str,
    /// The state that is left.
    pub from: &'static str,
    /// What happens.
    pub event: &'static str,
}

/// Watches every machine of every session.
pub trait Observer {
    /// Takes the news that an event is about to be applied.
    fn before(&mut self, step: &Step<'_>);
    /// Takes the news that the step was done, and which state was entered.
    fn after(&mut self, step: &Step<'_>, to: &'static str);
    /// Takes the news that the state does not take the event; the state stays.
    fn error(&mut self, step: &Step<'_>, error: &TransitionError);
}

impl Observer for Unobserved {
    fn before(&mut self, _: &Step<'_>) {}
    fn after(&mut self, _: &Step<'_>, _: &'static str) {}
    fn error(&mut self, _: &Step<'_>, _: &TransitionError) {}
}

/// Hands a machine's steps on to an observer, with the names that it does not know itself.
pub(super) struct Relay<'a> {
    pub(super) key: &'a SessionKey,
    pub(super) at: Now,
    pub(super) number: Option<u64>,
    pub(super) subject: Subject<'a>,
    pub(super) observer: &'a mut dyn Observer,
}

impl<M: Machine> StateObserver<M> for Relay<'_> {
    fn on_before_transition(&mut self, from: M, event: M::Event) {
        let step = self.step(from, event);
        self.observer.before(&step);
    }

    fn on_after_transition(&mut self, from: M, to: M, event: M::Event) {
        let step = self.step(from, event);
        self.observer.after(&step, to.label());
    }

    fn on_transition_error(&mut self, from: M, event: M::Event, error: &TransitionError) {
        let step = self.step(from, event);
        self.observer.error(&step, error);
    }
}

impl<'a> Relay<'a> {
    fn step<M: Machine>(&self, from: M, event: M::Event) -> Step<'a> {
        Step {
            key: self.key,
            at: self.at,
            number: self.number,
            subject: self.subject,
            machine: M::NAME,
            from: from.label(),
            event: M::event_label(event),
        }
    }
}
