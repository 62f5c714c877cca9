//! How long the second step of accepting is waited for.
//!
//! A step that waited for ever would let a stray key accept something long after it was read; so it is
//! given up after a time that the person can set, and that is told.

use std::time::Duration;

use crate::announce::Arg;
use crate::keys::Mode;
use crate::protocol::Now;

use super::App;

impl App {
    /// Gives when the second step is no longer waited for.
    pub(super) fn second_step_ends(&self) -> Option<Duration> {
        let patience = Duration::from_secs(self.config.questions.confirm_seconds);
        match self.mode {
            Mode::Confirming(_) => self.confirming.as_ref().map(|(since, _)| *since + patience),
            Mode::Watching
            | Mode::Editing(_)
            | Mode::Choosing(..)
            | Mode::Quitting
            | Mode::Leaving(_)
            | Mode::Searching
            | Mode::Help => None,
        }
    }

    /// Gives up waiting for a second step that did not come, and says so.
    pub(super) fn end_second_step(&mut self, now: Now) {
        if self.second_step_ends().is_none_or(|at| now.monotonic < at) {
            return;
        }
        if let Mode::Confirming(id) = self.mode {
            self.mode = Mode::Watching;
            let patience = Duration::from_secs(self.config.questions.confirm_seconds);
            let time = Arg::Own(self.announcer.time(patience));
            let args = [("n", Arg::own(id)), ("time", time)];
            self.respond("reply.step_over", &args, now);
        }
    }
}
