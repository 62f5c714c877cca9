//! Who watches the machines: one observer for all of them, told whose machine it is.
//!
//! Responsibilities: saying of each step whose it is and when it was. Not here: the machines (`machines`),
//! the names of a step (`protocol::Named`), what a trace looks like (`inspect`).

use crate::protocol::{Named, Now, OutputId, ToolCallId, TransitionError, Unobserved, Watcher};

use super::key::{PromptId, SessionKey};

/// What a machine belongs to.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// The step by its names.
    pub named: Named,
}

/// Watches every machine of every session.
pub trait Observer {
    /// Returns whether it wants to be told at all.
    fn watches(&self) -> bool {
        true
    }
    /// Takes the news that an event is about to be applied.
    fn before(&mut self, step: &Step<'_>);
    /// Takes the news that the step was done, and which state was entered.
    fn after(&mut self, step: &Step<'_>, to: &'static str);
    /// Takes the news that the state does not take the event; the state stays.
    fn error(&mut self, step: &Step<'_>, error: &TransitionError);
}

impl Observer for Unobserved {
    fn watches(&self) -> bool {
        false
    }
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

impl Watcher for Relay<'_> {
    fn before(&mut self, named: Named) {
        let step = self.step(named);
        self.observer.before(&step);
    }

    fn after(&mut self, named: Named, to: &'static str) {
        let step = self.step(named);
        self.observer.after(&step, to);
    }

    fn error(&mut self, named: Named, error: &TransitionError) {
        let step = self.step(named);
        self.observer.error(&step, error);
    }
}

impl<'a> Relay<'a> {
    fn step(&self, named: Named) -> Step<'a> {
        Step {
            key: self.key,
            at: self.at,
            number: self.number,
            subject: self.subject,
            named,
        }
    }
}
