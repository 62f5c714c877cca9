//! How long the second step of accepting is waited for.
//!
//! A step that waited for ever would let a stray key accept something long after it was read; so it is
//! given up after a time that the person can set, and that is told. Both clocks count, because neither
//! tells of all time that passes: the one stands still while the machine sleeps, the other can be put back.

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
            Mode::Confirming(_) => self
                .confirming
                .as_ref()
                .map(|(since, _)| since.monotonic + patience),
            Mode::Watching
            | Mode::Editing(_)
            | Mode::Choosing(..)
            | Mode::Quitting
            | Mode::Leaving(_)
            | Mode::Searching
            | Mode::Help => None,
        }
    }

    /// Gives up waiting for a second step that had not come at a time until now, and says so.
    pub(super) fn end_second_step(&mut self, at: Duration, now: Now) {
        let patience = Duration::from_secs(self.config.questions.confirm_seconds);
        let over = self.confirming.as_ref().is_some_and(|(since, _)| {
            let ago = now.monotonic.saturating_sub(at);
            let by_wall = now.wall.duration_since(since.wall);
            let by_wall = Duration::try_from(by_wall).unwrap_or(Duration::ZERO);
            let waited = at.saturating_sub(since.monotonic);
            waited.max(by_wall.saturating_sub(ago)) >= patience
        });
        if !over {
            return;
        }
        if let Mode::Confirming(id) = self.mode {
            self.mode = Mode::Watching;
            let time = Arg::Own(self.announcer.time(patience));
            let args = [("n", Arg::own(id)), ("time", time)];
            self.respond("reply.step_over", &args, now);
        }
    }
}
