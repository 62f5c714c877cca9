//! The table of everything that the passing of time triggers, in order.
//!
//! Responsibilities: which timers exist, with which facts and in which order each is fired. Not here: when each
//! is due and what it then does (`update`).
//!
//! # Mental model
//! Time passes with every fact, so whatever is due is fired with the next one, in the order of the table; a
//! separate fact ([`super::Input::Deadline`]) comes only if no other does. Some timers are fired with every
//! fact, because they depend on more than time: speech continues when an utterance has ended, and a second step
//! can also lapse by the wall clock.

/// Generates the timers and the lists of them from one text, so that no list can miss one.
macro_rules! timers {
    (First { $($(#[$doc:meta])* $name:ident,)* } Last { $($(#[$last_doc:meta])* $last:ident,)* }) => {
        /// The timers, in the order in which they are fired.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Timer {
            $($(#[$doc])* $name,)*
            $($(#[$last_doc])* $last,)*
        }

        impl Timer {
            /// All timers.
            pub(super) const ALL: &[Self] = &[$(Self::$name,)* $(Self::$last,)*];
        }

        impl TimerTurn {
            /// Returns the timers that are fired in this turn.
            pub(super) fn timers(self) -> &'static [Timer] {
                match self {
                    Self::First => &[$(Timer::$name,)*],
                    Self::Last => &[$(Timer::$last,)*],
                }
            }
        }
    };
}

timers! {
    First {
        /// The next step of a frame that is read in steps.
        Frame,
        /// The time limit of a question, a call without a question, events that arrived before their turn.
        Sessions,
        /// A streamed text that has paused.
        Stream,
        /// A new attempt to send an answer.
        Retry,
        /// The second step of an answer, which lapses.
        SecondStep,
        /// The next automatic step of scanning.
        Scan,
        /// The notice that something urgent waits for a line.
        Line,
        /// The repeated bell for an unanswered question.
        Alarm,
        /// A link that came back, and has stayed up.
        Steady,
        /// A link whose start takes long.
        Start,
        /// What the dialect of a link waits for.
        Dialect,
        /// Work that falls silent, or that does not stop.
        Stuck,
        /// An agent that waits for the first prompt.
        Invite,
        /// Input typed ahead of a question, which is discarded a second time.
        Flush,
    }
    Last {
        /// The sign of life of an agent that works in silence.
        Beat,
        /// Speech that waits for a pause, or that expires.
        Speech,
        /// The end of the run, or of the wait for the last answers.
        End,
    }
}

/// The facts that a timer is fired with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FiringRule {
    /// With the first one after it is due.
    Due,
    /// With every one: the timer itself finds out what there is to do.
    Always,
    /// Only if nothing else has come: a key takes precedence.
    Alone,
}

/// The turn in which a timer is fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimerTurn {
    /// Before the shown question is chosen.
    First,
    /// After everything that can change has changed.
    Last,
}

impl Timer {
    /// Returns the facts that it is fired with.
    pub(super) fn fired(self) -> FiringRule {
        match self {
            Self::Frame => FiringRule::Alone,
            Self::Sessions
            | Self::SecondStep
            | Self::Line
            | Self::Beat
            | Self::Speech
            | Self::End => FiringRule::Always,
            Self::Stream
            | Self::Retry
            | Self::Scan
            | Self::Alarm
            | Self::Steady
            | Self::Start
            | Self::Dialect
            | Self::Stuck
            | Self::Invite
            | Self::Flush => FiringRule::Due,
        }
    }
}
