//! How long a run goes on: what ends it, and what is left unsaid or unsent then.
//!
//! Responsibilities: whether it goes on, waits for the last answers or is over; when it ends by itself; what
//! the bounds of the session room made us forget. The rest of the folder asks and tells: `ending` (by
//! itself), `quitting` (by wish), `leaving` (one source), `programs` (what they wrote), `forgotten`. Not here:
//! closing links (`transport`).

use std::time::Duration;

use crate::session::Dropped;

use super::effect::Exit;
use super::setup::Until;

mod ending;
mod forgotten;
mod leaving;
mod programs;
mod quitting;
pub(super) mod remarks;

/// Holds how long the run goes on.
#[derive(Debug, Clone)]
pub(super) struct Run {
    until: Until,
    stage: Stage,
    /// When news of a link came last.
    news: Duration,
    /// Whether a session was ever seen.
    seen_session: bool,
    /// What was forgotten when that was told last.
    forgotten: Dropped,
}

/// Says where the run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It goes on.
    Going,
    /// It ends so as soon as the answers under way are sent, at the latest then.
    Parting { exit: Exit, latest: Duration },
    /// It is over.
    Over,
}

/// Tells what a run that ends by itself looks at.
#[derive(Debug, Clone, Copy)]
struct Scene {
    /// Whether every source is over, and one of them by a failure.
    over: bool,
    failed: bool,
    /// Whether every session that was seen has ended, and none is held back.
    ended: bool,
}

/// Says how a run comes to its end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// As it was to be.
    So(Exit),
    /// Because nothing happened any more, whatever is still open.
    Idle,
}

impl Run {
    /// Begins a run.
    pub(super) fn new(until: Until) -> Self {
        Self {
            until,
            stage: Stage::Going,
            news: Duration::ZERO,
            seen_session: false,
            forgotten: Dropped::default(),
        }
    }

    /// Takes note that news of a link came.
    pub(super) fn note_news(&mut self, now: Duration) {
        self.news = now;
    }

    /// Takes note that a session was seen.
    pub(super) fn note_session(&mut self) {
        self.seen_session = true;
    }

    /// Tells whether it is over.
    pub(super) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    fn is_parting(&self) -> bool {
        match self.stage {
            Stage::Parting { .. } => true,
            Stage::Going | Stage::Over => false,
        }
    }

    /// Waits for the answers under way before it ends so, at the latest until then.
    fn part(&mut self, exit: Exit, latest: Duration) {
        if !self.is_over() {
            self.stage = Stage::Parting { exit, latest };
        }
    }

    /// Ends it; `false` where it was over before.
    fn end(&mut self) -> bool {
        let goes_on = !self.is_over();
        self.stage = Stage::Over;
        goes_on
    }

    /// Gives when it ends by itself or stops waiting for the last answers.
    fn due(&self, silent: bool) -> Option<Duration> {
        let idle = match self.until {
            // Whatever still has to be said or sent ends with an input of its own.
            Until::Idle(_) if !silent => None,
            Until::Idle(wait) => Some(self.news + wait),
            Until::NoSource | Until::Ended | Until::Asked => None,
        };
        match self.stage {
            Stage::Going => idle,
            Stage::Parting { latest, .. } => Some(idle.map_or(latest, |idle| idle.min(latest))),
            Stage::Over => None,
        }
    }

    /// Gives how it ends where it waited for the last answers, and they are sent or it waited long enough.
    fn parted(&self, sent: bool, now: Duration) -> Option<Exit> {
        match self.stage {
            Stage::Parting { exit, latest } => (sent || now >= latest).then_some(exit),
            Stage::Going | Stage::Over => None,
        }
    }

    /// Gives how it comes to its end by itself, once all is said and sent.
    fn ends(&self, scene: Scene, now: Duration) -> Option<Ends> {
        let no_source = if scene.failed {
            Exit::NoSource
        } else {
            Exit::Clean
        };
        match self.until {
            Until::Asked => None,
            Until::Idle(wait) if now >= self.news + wait => Some(Ends::Idle),
            Until::Ended if self.seen_session && scene.ended => Some(Ends::So(Exit::Clean)),
            Until::NoSource | Until::Ended | Until::Idle(_) => {
                scene.over.then_some(Ends::So(no_source))
            }
        }
    }
}
