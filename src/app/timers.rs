//! Everything that time alone brings: when each is due, and what it does then.
//!
//! Responsibilities: the one table, which [`App::deadline`] is the least of and which fires what is due. Not
//! here: what each of them means (its own module).
//!
//! # Mental model
//! Time passes with every fact, so whatever is due is fired with the next one, in the order of the table;
//! a fact of its own ([`super::Input::Deadline`]) comes only where none else would. Some are stepped with every
//! fact, because more than time moves them on: speech goes on when something was said to its end, a second
//! step is over by the wall clock, too.

use std::time::Duration;

use crate::protocol::Now;

use super::{App, Effect, LinkView};

/// Makes the timers and the list of all of them of one text, so that none can be missing in it.
macro_rules! timers {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Names what time alone brings, in the order in which it comes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Timer {
            $($(#[$doc])* $name,)*
        }

        impl Timer {
            /// All of them.
            pub(super) const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

timers! {
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
    /// What was typed ahead of a question, which is thrown away once more.
    Flush,
    /// The sign of life of an agent that works in silence.
    Beat,
    /// Speech that waits for a pause, or no longer.
    Speech,
    /// The end of the run: by itself, or of waiting for the last answers.
    End,
}

/// Says with which facts a timer is fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fired {
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
    fn fired(self) -> Fired {
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
            | Self::Flush => Fired::Due,
        }
    }

    fn turn(self) -> Turn {
        match self {
            Self::Frame
            | Self::Sessions
            | Self::Stream
            | Self::Retry
            | Self::SecondStep
            | Self::Scan
            | Self::Line
            | Self::Alarm
            | Self::Steady
            | Self::Start
            | Self::Flush => Turn::First,
            Self::Beat | Self::Speech | Self::End => Turn::Last,
        }
    }
}

impl App {
    /// Gives the monotonic time at which [`super::Input::Deadline`] is due.
    pub fn deadline(&self) -> Option<Duration> {
        let due = Timer::ALL.iter().filter_map(|timer| self.due(*timer));
        due.min()
    }

    /// Gives when a timer is due.
    pub(super) fn due(&self, timer: Timer) -> Option<Duration> {
        match timer {
            Timer::Frame => self.is_reading().then_some(Duration::ZERO),
            Timer::Sessions => self.sessions.deadline(),
            Timer::Stream => self.announcer.deadline(),
            Timer::Retry => self.retry_due(),
            Timer::SecondStep => self.second_step_ends(),
            Timer::Scan => self.scan_due(),
            Timer::Line => self.holding.deadline(),
            Timer::Alarm => self.alarm_due(),
            Timer::Steady => self.links.iter().filter_map(LinkView::steady_due).min(),
            Timer::Start => self.links.iter().filter_map(LinkView::waits_until).min(),
            Timer::Flush => self.flush_at,
            Timer::Beat => self.reviewing.deadline(),
            Timer::Speech => self.queue.deadline(),
            Timer::End => self.end_due(),
        }
    }

    /// Fires what is due in a turn; `alone` where no other fact has come.
    pub(super) fn fire(&mut self, turn: Turn, alone: bool, now: Now) {
        for timer in Timer::ALL.iter().filter(|timer| timer.turn() == turn) {
            let due = self.due(*timer).is_some_and(|at| now.monotonic >= at);
            let fires = match timer.fired() {
                Fired::Due => due,
                Fired::Always => true,
                Fired::Alone => due && alone,
            };
            if fires {
                self.fire_one(*timer, now);
            }
        }
    }

    fn fire_one(&mut self, timer: Timer, now: Now) {
        match timer {
            Timer::Frame => self.read_on(now),
            Timer::Sessions => {
                let changes = self.sessions.tick(now);
                self.tell(changes, now);
            }
            Timer::Stream => {
                for announcement in self.announcer.tick(now, &self.sessions) {
                    self.emit(announcement, now);
                }
            }
            Timer::Retry => self.retry(now),
            Timer::SecondStep => self.end_second_step(now.monotonic, now),
            Timer::Scan => self.scan_on(now),
            Timer::Line => self.tick_line(now),
            Timer::Alarm => self.alarm(now),
            Timer::Steady => self.tick_links(now),
            Timer::Start => self.tick_waiting(now),
            Timer::Flush => {
                self.flush_at = None;
                self.effects.push(Effect::FlushInput);
            }
            Timer::Beat => self.beat(now),
            Timer::Speech => {
                // Last: what this fact brought is put in order before any of it is begun.
                let wishes = self.queue.tick(now.monotonic);
                self.wish(wishes);
                self.note_said(now);
            }
            Timer::End => self.check_end(now),
        }
    }
}
