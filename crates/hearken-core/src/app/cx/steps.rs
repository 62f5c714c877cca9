//! The second step of an answer, as far as it ends without one.
//!
//! Responsibilities: when it lapses, leaving it open, and announcing both. Not here: taking it (`questions`).

use std::time::Duration;

use crate::announce::Arg;
use crate::protocol::Now;

use super::AppCx;
use crate::app::activity::Doing;
use crate::app::activity::second_step::SecondStep;

impl AppCx {
    /// Returns when the second step lapses.
    pub(in crate::app) fn second_step_ends(&self) -> Option<Duration> {
        let step = self.doing.second_step()?;
        Some(step.ends(self.patience()))
    }

    /// Gives up on a second step that had not come by `at`, and announces that.
    pub(in crate::app) fn end_second_step(&mut self, at: Duration, now: Now) {
        let patience = self.patience();
        let over = |step: &&SecondStep| step.was_over(at, now, patience);
        let Some(step) = self.doing.second_step().filter(over) else {
            return;
        };
        let n = Arg::own(step.question().0);
        self.doing = Doing::Watching;
        let time = Arg::Own(self.announcer.time(patience));
        self.respond("reply.step_over", &[("n", n), ("time", time)], now);
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(self.config.questions.confirm_seconds)
    }

    /// Leaves a second step or a choice without a decision, and announces that.
    pub(in crate::app) fn stay_open(&mut self, now: Now) {
        let id = match &self.doing {
            Doing::Confirming(step) => step.question(),
            Doing::Choosing(choices) => choices.question(),
            Doing::Watching
            | Doing::Answering { .. }
            | Doing::Searching(_)
            | Doing::Prompting { .. }
            | Doing::Helping { .. }
            | Doing::Quitting
            | Doing::Leaving(_) => return,
        };
        self.doing = Doing::Watching;
        self.respond("reply.still_open", &[("n", Arg::own(id.0))], now);
    }
}
