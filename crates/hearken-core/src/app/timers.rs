//! The table of everything that time alone brings, in its order.
//!
//! Responsibilities: which timers there are, with which facts and in which turn each is fired. Not here: when
//! each is due and what it does then (`firing`).
//!
//! # Mental model
//! Time passes with every fact, so whatever is due is fired with the next one, in the order of the table;
//! a fact of its own ([`super::Input::Deadline`]) comes only where none else would. Some are stepped with every
//! fact, because more than time moves them on: speech goes on when something was said to its end, a second
//! step is over by the wall clock, too.

/// Makes the timers and the lists of them of one text, so that none can be missing in one.
macro_rules! timers {
    (First { $($(#[$doc:meta])* $name:ident,)* } Last { $($(#[$last_doc:meta])* $last:ident,)* }) => {
        /// Names what time alone brings, in the order in which it comes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Timer {
            $($(#[$doc])* $name,)*
            $($(#[$last_doc])* $last,)*
        }

        impl Timer {
            /// All of them.
            pub(super) const ALL: &[Self] = &[$(Self::$name,)* $(Self::$last,)*];
        }

        impl Turn {
            /// Returns the timers that are fired in it.
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
        /// A question's time, a call that nobody was asked about, events before their turn.
        Sessions,
        /// A text that streams and has not gone on.
        Stream,
        /// A new attempt to send an answer.
        Retry,
        /// The second step of an answer, which is given up.
        SecondStep,
        /// The next step of scanning, by itself.
        Scan,
        /// The notice that something urgent waits for a line.
        Line,
        /// The bell, again, for a question that nobody answers.
        Alarm,
        /// A link that came back, and has held.
        Steady,
        /// A link whose start lasts long.
        Start,
        /// What the dialect of a link waits for.
        Dialect,
        /// What was typed ahead of a question, which is thrown away once more.
        Flush,
    }
    Last {
        /// The sign of life of an agent that works in silence.
        Beat,
        /// Speech that waits for a pause, or no longer.
        Speech,
        /// The end of the run: by itself, or of waiting for the last answers.
        End,
    }
}

/// Says with which facts a timer is fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fired {
    /// With the first one after it is due.
    Due,
    /// With every one: it looks for itself what is to be done.
    Always,
    /// Only where nothing else has come: a key goes before it.
    Alone,
}

/// Says in which turn a timer is fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Before the shown question is chosen.
    First,
    /// When everything that can change has changed.
    Last,
}

impl Timer {
    /// Returns with which facts it is fired.
    pub(super) fn fired(self) -> Fired {
        match self {
            Self::Frame => Fired::Alone,
            Self::Sessions
            | Self::SecondStep
            | Self::Line
            | Self::Beat
            | Self::Speech
            | Self::End => Fired::Always,
            Self::Stream
            | Self::Retry
            | Self::Scan
            | Self::Alarm
            | Self::Steady
            | Self::Start
            | Self::Dialect
            | Self::Flush => Fired::Due,
        }
    }
}
