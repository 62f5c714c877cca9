//! How long a run lasts: what ends it, and what is then left unspoken or unsent.
//!
//! Responsibilities: whether it continues, waits for the last answers or is over; when it ends on its own; what hearken
//! forgot because of the limits in `session`; what else could be followed. The rest of the folder asks and announces:
//! `run_end` (on its own), `quit` (on request), `source_leave` (one source), `forgotten_counts`. Not here: closing
//! links (`transport`).

use std::time::Duration;

use crate::session::DroppedCounts;

use super::app_setup::EndCondition;
use super::effect::Exit;
use super::nearby::NearbyCommands;

mod forgotten_counts;
mod quit;
mod run_end;
mod source_leave;

/// The stage of the run, and the conditions for its end.
#[derive(Debug, Clone)]
pub(super) struct Run {
    until: EndCondition,
    stage: RunStage,
    /// When the last news of a link came.
    news: Duration,
    /// Whether any session was ever seen.
    seen_session: bool,
    /// Whether a session ended in an error, or its source ended before it.
    went_wrong: bool,
    /// The counts of forgotten things when they were last announced.
    forgotten: DroppedCounts,
    /// What else was found on this machine while nobody was heard.
    nearby: Option<NearbyCommands>,
}

/// The stage of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunStage {
    /// It continues.
    Going,
    /// It ends in this way as soon as the answers under way are sent, at the latest at this time.
    Parting { exit: Exit, latest: Duration },
    /// It is over.
    Over,
}

/// The state that decides whether a run ends on its own.
#[derive(Debug, Clone, Copy)]
struct RunConditions {
    /// Whether every source is over; `failed` is whether one of them failed.
    over: bool,
    failed: bool,
    /// Whether every session that was seen has ended, and none is held back.
    ended: bool,
}

/// How a run ends on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunEnd {
    /// As intended, with this exit.
    So(Exit),
    /// Because nothing has happened for a while, whatever is still open.
    Idle,
}

impl Run {
    /// Begins a run.
    pub(super) fn new(until: EndCondition) -> Self {
        Self {
            until,
            stage: RunStage::Going,
            news: Duration::ZERO,
            seen_session: false,
            went_wrong: false,
            forgotten: DroppedCounts::default(),
            nearby: None,
        }
    }

    /// Stores what else was found on this machine.
    pub(super) fn find(&mut self, nearby: NearbyCommands) {
        self.nearby = Some(nearby);
    }

    /// Returns what else was found on this machine.
    pub(super) fn nearby(&self) -> Option<&NearbyCommands> {
        self.nearby.as_ref()
    }

    /// Notes that news of a link came.
    pub(super) fn note_news(&mut self, now: Duration) {
        self.news = now;
    }

    /// Notes that a session was seen.
    pub(super) fn note_session(&mut self) {
        self.seen_session = true;
    }

    /// Notes that a session ended in an error, or that its source ended before it.
    pub(super) fn note_failure(&mut self) {
        self.went_wrong = true;
    }

    /// Returns whether it is over.
    pub(super) fn is_over(&self) -> bool {
        self.stage == RunStage::Over
    }

    fn is_parting(&self) -> bool {
        match self.stage {
            RunStage::Parting { .. } => true,
            RunStage::Going | RunStage::Over => false,
        }
    }

    /// Waits for the answers under way before ending in this way, at the latest at `latest`.
    fn part(&mut self, exit: Exit, latest: Duration) {
        if !self.is_over() {
            self.stage = RunStage::Parting { exit, latest };
        }
    }

    /// Ends the run; returns `false` if it was over before.
    pub(super) fn end(&mut self) -> bool {
        let goes_on = !self.is_over();
        self.stage = RunStage::Over;
        goes_on
    }

    /// Returns when it ends on its own or stops waiting for the last answers.
    pub(super) fn due(&self, silent: bool) -> Option<Duration> {
        let idle = match self.until {
            // Pending speech or sending ends with its own input.
            EndCondition::Idle(_) if !silent => None,
            EndCondition::Idle(wait) => Some(self.news + wait),
            EndCondition::NoSource | EndCondition::Ended | EndCondition::Asked => None,
        };
        match self.stage {
            RunStage::Going => idle,
            RunStage::Parting { latest, .. } => Some(idle.map_or(latest, |idle| idle.min(latest))),
            RunStage::Over => None,
        }
    }

    /// Returns how it ends, if it waited for the last answers and they are sent or the wait is over.
    fn parted(&self, sent: bool, now: Duration) -> Option<Exit> {
        match self.stage {
            RunStage::Parting { exit, latest } => (sent || now >= latest).then_some(exit),
            RunStage::Going | RunStage::Over => None,
        }
    }

    /// Returns how it ends on its own, once everything is spoken and sent.
    fn ends(&self, scene: RunConditions, now: Duration) -> Option<RunEnd> {
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
            EndCondition::Asked => None,
            EndCondition::Idle(wait) if now >= self.news + wait => Some(RunEnd::Idle),
            // A person who waits for the end of the work wants to know how it ended.
            EndCondition::Ended if self.seen_session && scene.ended => Some(RunEnd::So(by_work)),
            EndCondition::Ended if !scene.failed => scene.over.then_some(RunEnd::So(by_work)),
            EndCondition::NoSource | EndCondition::Ended | EndCondition::Idle(_) => {
                scene.over.then_some(RunEnd::So(no_source))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: RunConditions = RunConditions {
        over: false,
        failed: false,
        ended: false,
    };

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_run_ends_by_itself_as_it_was_wished() {
        let over = RunConditions { over: true, ..HERE };
        let failed = RunConditions {
            failed: true,
            ..over
        };
        let ended = RunConditions {
            ended: true,
            ..HERE
        };
        let clean = Some(RunEnd::So(Exit::Clean));
        for (until, scene, wanted) in [
            (EndCondition::Asked, over, None),
            (EndCondition::NoSource, HERE, None),
            (EndCondition::NoSource, ended, None),
            (EndCondition::NoSource, over, clean),
            (
                EndCondition::NoSource,
                failed,
                Some(RunEnd::So(Exit::NoSource)),
            ),
            (EndCondition::Ended, HERE, None),
            (EndCondition::Ended, ended, clean),
            (EndCondition::Ended, over, clean),
            (EndCondition::Idle(at(10)), HERE, Some(RunEnd::Idle)),
            (EndCondition::Idle(at(11)), HERE, None),
            (EndCondition::Idle(at(11)), over, clean),
        ] {
            let mut run = Run::new(until);
            run.note_session();
            run.note_news(at(5));
            assert_eq!(run.ends(scene, at(15)), wanted, "{until:?} {scene:?}");
            run.note_failure();
            let wanted = if until == EndCondition::Ended && wanted.is_some() {
                Some(RunEnd::So(Exit::Failed))
            } else {
                wanted
            };
            assert_eq!(run.ends(scene, at(15)), wanted, "{until:?} {scene:?} badly");
        }
        let unseen = Run::new(EndCondition::Ended);
        assert_eq!(unseen.ends(ended, at(15)), None, "no session was seen yet");
    }

    #[test]
    fn what_waits_for_the_last_answers_ends_when_they_are_sent_or_it_waited_enough() {
        let mut run = Run::new(EndCondition::Idle(at(60)));
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
