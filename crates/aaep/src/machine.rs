//! State machines as data: a table of transitions, the check against it, and observers.
//!
//! Responsibilities: what every machine of this project has in common ([`Machine`]), the macro that builds one from its
//! table (`state_machine!`), the three calls of an observer ([`StateObserver`], and [`Watcher`] for machines of any
//! kind), the diagram and the rows of a table. Not here: any machine itself; the session's are in `session`, a link's
//! in `app`, and every dialect may define its own.
//!
//! Mental model: the states and events of a machine are plain names without data. A type that carries data (a
//! phase, an answer, a call) reports its state by one of these names and steps by the table, so the table, its
//! diagram in the documentation and the running code can't differ.
//!
//! Worked example: on `Started`, `Absent` becomes `Active`. No row has `Absent` with `Completed`, so `transition`
//! returns a [`TransitionError`], the observer is notified, and the session reports an anomaly.

use std::fmt::{Debug, Write};

/// One row of a machine's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition<S, E> {
    /// The state that is left.
    pub from: S,
    /// What happens.
    pub event: E,
    /// The state that is entered.
    pub to: S,
}

/// The error that a state does not accept an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{machine} does not take {event} in the state {from}")]
pub struct TransitionError {
    /// The machine's name.
    pub machine: &'static str,
    /// The state that the machine is in and stays in.
    pub from: &'static str,
    /// What happened.
    pub event: &'static str,
}

/// An observer of a machine: one call before each event, and one after it with the result.
pub trait StateObserver<M: Machine> {
    /// Called before an event is applied.
    fn on_before_transition(&mut self, from: M, event: M::Event);
    /// Called after a legal step, into another state or the same one.
    fn on_after_transition(&mut self, from: M, to: M, event: M::Event);
    /// Called when the state does not accept the event.
    fn on_transition_error(&mut self, from: M, event: M::Event, error: &TransitionError);
}

/// An observer that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Watcher for NoObserver {
    fn before(&mut self, _: NamedStep) {}
    fn after(&mut self, _: NamedStep, _: &'static str) {}
    fn error(&mut self, _: NamedStep, _: &TransitionError) {}
}

/// One step of any machine, by its names, for observers of machines of several kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedStep {
    /// The machine's name.
    pub machine: &'static str,
    /// The state that is left.
    pub from: &'static str,
    /// What happens.
    pub event: &'static str,
}

/// An observer of machines of any kind, by the names of their steps; the observer knows the owner of each
/// machine.
pub trait Watcher {
    /// Called before an event is applied.
    fn before(&mut self, step: NamedStep);
    /// Called after the step, with the state that was entered.
    fn after(&mut self, step: NamedStep, to: &'static str);
    /// Called when the state does not accept the event; the state stays.
    fn error(&mut self, step: NamedStep, error: &TransitionError);
}

impl<M: Machine, W: Watcher> StateObserver<M> for W {
    fn on_before_transition(&mut self, from: M, event: M::Event) {
        self.before(named(from, event));
    }

    fn on_after_transition(&mut self, from: M, to: M, event: M::Event) {
        self.after(named(from, event), to.label());
    }

    fn on_transition_error(&mut self, from: M, event: M::Event, error: &TransitionError) {
        self.error(named(from, event), error);
    }
}

fn named<M: Machine>(from: M, event: M::Event) -> NamedStep {
    NamedStep {
        machine: M::NAME,
        from: from.label(),
        event: M::event_label(event),
    }
}

/// A state machine whose transitions are a table; the implementor is the state.
pub trait Machine: Copy + Eq + Debug + 'static {
    /// What may happen.
    type Event: Copy + Eq + Debug + 'static;
    /// The machine's name in traces and diagrams.
    const NAME: &'static str;
    /// The initial state.
    const INITIAL: Self;
    /// Every state.
    const STATES: &'static [Self];
    /// Every event.
    const EVENTS: &'static [Self::Event];

    /// Returns every allowed transition.
    fn valid_transitions() -> &'static [Transition<Self, Self::Event>];
    /// Returns the state's name in traces and diagrams.
    fn label(self) -> &'static str;
    /// Returns an event's name in traces and diagrams.
    fn event_label(event: Self::Event) -> &'static str;

    /// Returns the state that follows.
    ///
    /// # Errors
    /// If the state does not accept the event.
    fn transition(self, event: Self::Event) -> Result<Self, TransitionError> {
        Self::valid_transitions()
            .iter()
            .find(|row| row.from == self && row.event == event)
            .map(|row| row.to)
            .ok_or(TransitionError {
                machine: Self::NAME,
                from: self.label(),
                event: Self::event_label(event),
            })
    }

    /// Returns whether the state accepts an event.
    fn can_transition(self, event: Self::Event) -> bool {
        self.transition(event).is_ok()
    }

    /// Returns every pair of a state and an event that has no row, in order of declaration.
    fn illegal_pairs() -> Vec<(Self, Self::Event)> {
        let all = Self::STATES
            .iter()
            .flat_map(|from| Self::EVENTS.iter().map(|event| (*from, *event)));
        all.filter(|(from, event)| !from.can_transition(*event))
            .collect()
    }

    /// Returns whether the machine never leaves this state.
    fn is_final(self) -> bool {
        Self::valid_transitions()
            .iter()
            .all(|row| row.from != self || row.to == self)
    }

    /// Returns the state that follows, and notifies an observer.
    ///
    /// # Errors
    /// If the state does not accept the event; the observer has been notified.
    fn observed<O>(self, event: Self::Event, observer: &mut O) -> Result<Self, TransitionError>
    where
        O: StateObserver<Self> + ?Sized,
    {
        observer.on_before_transition(self, event);
        let result = self.transition(event);
        match &result {
            Ok(to) => observer.on_after_transition(self, *to, event),
            Err(error) => observer.on_transition_error(self, event, error),
        }
        result
    }

    /// Returns the table as a Mermaid state diagram: labels are our own names, so nothing in them needs
    /// escaping.
    fn diagram() -> String {
        let name = |state: Self| state.label().replace(' ', "_");
        let mut text = format!("stateDiagram-v2\n    [*] --> {}\n", name(Self::INITIAL));
        let rows = Self::valid_transitions();
        let mut ends: Vec<Self> = Vec::new();
        for row in rows {
            // Writing into a string can't fail.
            let _ = writeln!(
                text,
                "    {} --> {}: {}",
                name(row.from),
                name(row.to),
                Self::event_label(row.event)
            );
            if row.to.is_final() && !ends.contains(&row.to) {
                ends.push(row.to);
            }
        }
        for end in ends {
            let _ = writeln!(text, "    {} --> [*]", name(end));
        }
        text
    }
}

/// Builds a state machine from its table.
///
/// The state and the event become plain enums, and the state implements [`Machine`]. A row may list several states,
/// separated by `|`, from which the event leads to the same state.
#[macro_export]
macro_rules! state_machine {
    (
        $(#[$about:meta])*
        machine $state:ident = $name:literal;
        $(#[$about_event:meta])*
        events $event:ident { $($(#[$event_doc:meta])* $event_case:ident = $event_label:literal),+ $(,)? }
        states { $($(#[$state_doc:meta])* $state_case:ident = $state_label:literal),+ $(,)? }
        initial $initial:ident;
        transitions { $($($from:ident)|+, $on:ident => $to:ident);+ $(;)? }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $state { $($(#[$state_doc])* $state_case),+ }

        $(#[$about_event])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $event { $($(#[$event_doc])* $event_case),+ }

        impl $crate::Machine for $state {
            type Event = $event;
            const NAME: &'static str = $name;
            const INITIAL: Self = Self::$initial;
            const STATES: &'static [Self] = &[$(Self::$state_case),+];
            const EVENTS: &'static [$event] = &[$($event::$event_case),+];

            fn valid_transitions() -> &'static [$crate::Transition<Self, $event>] {
                &[$($($crate::Transition { from: $state::$from, event: $event::$on, to: $state::$to }),+),+]
            }

            fn label(self) -> &'static str {
                match self { $(Self::$state_case => $state_label),+ }
            }

            fn event_label(event: $event) -> &'static str {
                match event { $($event::$event_case => $event_label),+ }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    state_machine! {
        /// A door.
        machine Door = "door";
        /// What happens to it.
        events Push { /// It is opened.
            Open = "open", /// It is shut.
            Shut = "shut", /// It is broken down.
            Break = "break" }
        states { /// Shut.
            Closed = "closed", /// Not shut.
            Ajar = "half open", /// No more.
            Gone = "gone" }
        initial Closed;
        transitions {
            Closed, Open => Ajar;
            Ajar, Shut => Closed;
            Ajar, Open => Ajar;
            Closed | Ajar, Break => Gone;
        }
    }

    #[derive(Default)]
    struct Diary(Vec<String>);

    impl StateObserver<Door> for Diary {
        fn on_before_transition(&mut self, from: Door, event: Push) {
            self.0.push(format!("before {from:?} {event:?}"));
        }
        fn on_after_transition(&mut self, from: Door, to: Door, event: Push) {
            self.0.push(format!("after {from:?} {event:?} {to:?}"));
        }
        fn on_transition_error(&mut self, from: Door, event: Push, error: &TransitionError) {
            self.0.push(format!("error {from:?} {event:?}: {error}"));
        }
    }

    #[test]
    fn the_table_decides() {
        assert_eq!(Door::INITIAL, Door::Closed);
        assert_eq!(Door::valid_transitions().len(), 5);
        assert!(Door::Closed.can_transition(Push::Open));
        assert!(!Door::Closed.can_transition(Push::Shut));
        assert_eq!(Door::Ajar.transition(Push::Shut), Ok(Door::Closed));
        assert!(Door::Gone.is_final());
        assert!(!Door::Ajar.is_final());
    }

    #[test]
    fn the_observer_hears_of_everything_once_before_and_once_after() {
        let mut diary = Diary::default();
        assert_eq!(
            Door::Closed.observed(Push::Open, &mut diary),
            Ok(Door::Ajar)
        );
        assert!(Door::Gone.observed(Push::Shut, &mut diary).is_err());
        assert_eq!(
            diary.0,
            [
                "before Closed Open",
                "after Closed Open Ajar",
                "before Gone Shut",
                "error Gone Shut: door does not take shut in the state gone",
            ]
        );
    }

    #[test]
    fn what_is_in_no_row_is_an_illegal_pair() {
        assert_eq!(
            Door::illegal_pairs(),
            [
                (Door::Closed, Push::Shut),
                (Door::Gone, Push::Open),
                (Door::Gone, Push::Shut),
                (Door::Gone, Push::Break),
            ]
        );
    }

    /// An observer of machines of any kind that records names.
    #[derive(Default)]
    struct NameRecorder(Vec<String>);

    impl Watcher for NameRecorder {
        fn before(&mut self, step: NamedStep) {
            self.0.push(format!("before {step:?}"));
        }
        fn after(&mut self, step: NamedStep, to: &'static str) {
            self.0.push(format!(
                "{}: {} to {to} by {}",
                step.machine, step.from, step.event
            ));
        }
        fn error(&mut self, _: NamedStep, error: &TransitionError) {
            self.0.push(error.to_string());
        }
    }

    #[test]
    fn a_watcher_of_any_machine_hears_the_names() {
        let mut names = NameRecorder::default();
        assert_eq!(Door::Ajar.observed(Push::Break, &mut names), Ok(Door::Gone));
        assert!(Door::Closed.observed(Push::Shut, &mut names).is_err());
        assert_eq!(names.0.len(), 4);
        assert_eq!(names.0[1], "door: half open to gone by break");
        assert_eq!(names.0[3], "door does not take shut in the state closed");
    }

    #[test]
    fn the_diagram_is_the_table() {
        assert_eq!(
            Door::diagram(),
            "stateDiagram-v2\n    [*] --> closed\n    closed --> half_open: open\n    half_open --> closed: shut\n    \
             half_open --> half_open: open\n    closed --> gone: break\n    half_open --> gone: break\n    gone --> [*]\n"
        );
    }
}
