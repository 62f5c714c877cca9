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

mod accounts;
mod ending;
mod forgotten;
mod leaving;
mod programs;
mod quitting;
pub(super) mod remarks;

/// How long the run goes on.
#[derive(Debug, Clone)]
pub(super) struct Run {
    until: Until,
    stage: Stage,
    /// When news of a link came last.
    news: Duration,
    /// Whether a session was ever seen.
    seen_session: bool,
    /// Whether one of them ended in an error, or its source ended before it.
    went_wrong: bool,
    /// What was forgotten when that was told last.
    forgotten: Dropped,
}

/// Where the run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It goes on.
    Going,
    /// It ends so as soon as the answers under way are sent, at the latest then.
    Parting { exit: Exit, latest: Duration },
    /// It is over.
    Over,
}

/// What a run that ends by itself looks at.
#[derive(Debug, Clone, Copy)]
struct Scene {
    /// Whether every source is over, and one of them by a failure.
    over: bool,
    failed: bool,
    /// Whether every session that was seen has ended, and none is held back.
    ended: bool,
}

/// How a run comes to its end by itself.
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
            went_wrong: false,
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

    /// Takes note that a session ended in an error, or that its source ended before it.
    pub(super) fn note_failure(&mut self) {
        self.went_wrong = true;
    }

    /// Returns whether it is over.
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

    /// Returns when it ends by itself or stops waiting for the last answers.
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

    /// Returns how it ends where it waited for the last answers, and they are sent or it waited long enough.
    fn parted(&self, sent: bool, now: Duration) -> Option<Exit> {
        match self.stage {
            Stage::Parting { exit, latest } => (sent || now >= latest).then_some(exit),
            Stage::Going | Stage::Over => None,
        }
    }

    /// Returns how it comes to its end by itself, once all is said and sent.
    fn ends(&self, scene: Scene, now: Duration) -> Option<Ends> {
        let no_source = if scene.failed {
            Exit::NoSource
        } else {
            Exit::Clean
        };
        let by_work = if self.went_wrong {
            Exit::Failed
        } else {
            Exit::Clean
        };
        match self.until {
            Until::Asked => None,
            Until::Idle(wait) if now >= self.news + wait => Some(Ends::Idle),
            // Whoever waits for the end of the work wants to know how it ended.
            Until::Ended if self.seen_session && scene.ended => Some(Ends::So(by_work)),
            Until::Ended if !scene.failed => scene.over.then_some(Ends::So(by_work)),
            Until::NoSource | Until::Ended | Until::Idle(_) => {
                scene.over.then_some(Ends::So(no_source))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Scene = Scene {
        over: false,
        failed: false,
        ended: false,
    };

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_run_ends_by_itself_as_it_was_wished() {
        let over = Scene { over: true, ..HERE };
        let failed = Scene {
            failed: true,
            ..over
        };
        let ended = Scene {
            ended: true,
            ..HERE
        };
        let clean = Some(Ends::So(Exit::Clean));
        for (until, scene, wanted) in [
            (Until::Asked, over, None),
            (Until::NoSource, HERE, None),
            (Until::NoSource, ended, None),
            (Until::NoSource, over, clean),
            (Until::NoSource, failed, Some(Ends::So(Exit::NoSource))),
            (Until::Ended, HERE, None),
            (Until::Ended, ended, clean),
            (Until::Ended, over, clean),
            (Until::Idle(at(10)), HERE, Some(Ends::Idle)),
            (Until::Idle(at(11)), HERE, None),
            (Until::Idle(at(11)), over, clean),
        ] {
            let mut run = Run::new(until);
            run.note_session();
            run.note_news(at(5));
            assert_eq!(run.ends(scene, at(15)), wanted, "{until:?} {scene:?}");
            run.note_failure();
            let wanted = if until == Until::Ended && wanted.is_some() {
                Some(Ends::So(Exit::Failed))
            } else {
                wanted
            };
            assert_eq!(run.ends(scene, at(15)), wanted, "{until:?} {scene:?} badly");
        }
        let unseen = Run::new(Until::Ended);
        assert_eq!(unseen.ends(ended, at(15)), None, "no session was seen yet");
    }

    #[test]
    fn what_waits_for_the_last_answers_ends_when_they_are_sent_or_it_waited_enough() {
        let mut run = Run::new(Until::Idle(at(60)));
        assert_eq!(run.due(true), Some(at(60)));
        assert_eq!(run.due(false), None);
        run.part(Exit::Interrupted, at(10));
        assert!(run.is_parting());
        assert_eq!(run.due(false), Some(at(10)));
        assert_eq!(run.parted(false, at(9)), None);
        assert_eq!(run.parted(true, at(9)), Some(Exit::Interrupted));
        assert_eq!(run.parted(false, at(10)), Some(Exit::Interrupted));
        assert!(run.end() && !run.end(), "once");
        run.part(Exit::Clean, at(20));
        assert!(run.is_over() && !run.is_parting(), "over for good");
        assert_eq!((run.due(true), run.parted(true, at(30))), (None, None));
    }
}
