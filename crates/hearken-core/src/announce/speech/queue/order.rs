//! Which of what waits is next, and what of it has grown too old.

use std::time::Duration;

use super::table::Lane;
use super::{Fate, Item, SpeechQueue, Waiting};
use crate::announce::announcement::{About, Kind, Weight};

/// How many announcements may wait in one lane before the oldest is counted and dropped. Alerts have
/// no bound of their own: sessions bound questions, and each agent's dangers need events.
const MOST_WAITING: usize = 512;

/// Ranks what waits in a lane, lowest first; the first of equals leaves first.
fn rank(lane: Lane, waiting: &Waiting) -> u8 {
    let Waiting::Item(item) = waiting else {
        return 0;
    };
    match lane {
        // What was begun and cut goes on before anything else of its lane.
        Lane::Alert if item.again => 0,
        Lane::Alert => alert_rank(item.announcement.kind),
        Lane::Outcome => match item.announcement.weight {
            Weight::Failure => 0,
            Weight::Plain => 1,
        },
        Lane::Response | Lane::Activity | Lane::Text | Lane::Progress => 0,
    }
}

/// Ranks alerts: questions and their warnings, dangers, errors, handoffs, everything else critical.
pub(super) fn alert_rank(kind: Kind) -> u8 {
    match kind {
        Kind::Confirmation | Kind::Clarification => 1,
        Kind::Danger => 2,
        Kind::SessionErrored => 3,
        Kind::Handoff => 4,
        Kind::SessionStarted
        | Kind::SessionCompleted
        | Kind::SessionCancelled
        | Kind::State
        | Kind::Progress
        | Kind::ToolInvoked
        | Kind::ToolCompleted
        | Kind::Output
        | Kind::Unknown
        | Kind::Connection
        | Kind::Reply
        | Kind::Anomaly
        | Kind::Hint
        | Kind::Heartbeat => 5,
    }
}

impl SpeechQueue {
    /// Takes the next of a lane: alerts by their rank, failures before successes, all else as it came.
    /// A session's end waits for what its agent still has to say: "finished" before the last words
    /// would be heard as the end of them.
    pub(super) fn take_next(&mut self, lane: Lane) -> Option<Waiting> {
        let waiting = &self.lanes[lane as usize];
        let may_leave = |waiting: &&Waiting| match lane {
            Lane::Alert => !self.waits_for_response(waiting),
            Lane::Outcome => !self.waits_for_text(waiting),
            Lane::Response | Lane::Activity | Lane::Text | Lane::Progress => true,
        };
        let (at, _) = (waiting.iter().enumerate())
            .filter(|(_, waiting)| may_leave(waiting))
            .min_by_key(|(_, waiting)| rank(lane, waiting))?;
        self.lanes[lane as usize].remove(at)
    }

    /// An alert that the answer to a key interrupted is said again after that answer, not before it. One that comes
    /// after an answer which is not begun yet waits as it would if it were, at most two seconds: else the next question
    /// would take the word away that the one before is answered.
    pub(super) fn waits_for_response(&self, waiting: &Waiting) -> bool {
        let response = self.lanes[Lane::Response as usize].front();
        match (waiting, response) {
            (Waiting::Item(item), Some(Waiting::Item(response))) => {
                item.again || item.since >= response.since
            }
            (Waiting::Fold(_), _) | (_, None | Some(Waiting::Fold(_))) => false,
        }
    }

    pub(super) fn waits_for_text(&self, waiting: &Waiting) -> bool {
        let Waiting::Item(item) = waiting else {
            return false;
        };
        if !item.ends {
            return false;
        }
        let key = &item.announcement.key;
        let plays = self.playing.as_ref().is_some_and(|playing| {
            playing.lane == Lane::Text && playing.item.announcement.key == *key
        });
        let text_waits = |text: &Waiting| match text {
            Waiting::Item(text) => text.announcement.key == *key,
            Waiting::Fold(fold) => fold.key == *key,
        };
        plays || self.lanes[Lane::Text as usize].iter().any(text_waits)
    }

    /// Applies what an arrival does to those of its kind that wait.
    pub(super) fn make_room(&mut self, lane: Lane, arrived: &Item) {
        let arriving = &*arrived.announcement;
        let same_topic = |waiting: &Waiting| match waiting {
            Waiting::Item(item) => {
                item.mark == arrived.mark
                    && item.announcement.key == arriving.key
                    && item.announcement.topic.is_some()
                    && item.announcement.topic == arriving.topic
            }
            Waiting::Fold(_) => false,
        };
        match lane {
            // The answer to an older key is of no use any more.
            Lane::Response => self.clear(Lane::Response, Fate::Replaced),
            Lane::Activity => self.replace(arrived, same_topic),
            Lane::Progress => {
                self.take_out(Lane::Progress, Fate::Replaced, |waiting| match waiting {
                    Waiting::Item(item) => item.announcement.key == arriving.key,
                    Waiting::Fold(_) => false,
                });
            }
            // A tool's result makes its start that was not yet said superfluous.
            Lane::Outcome => self.replace(arrived, same_topic),
            // What a question is about waits for the person from then on, and so does its agent: that it begins, or
            // thinks, is no longer true when it would be said.
            Lane::Alert if matches!(arriving.about, Some(About::Asks(_))) => {
                // The same question asked anew says all that is left to say of it.
                self.take_out(Lane::Alert, Fate::Replaced, |waiting| match waiting {
                    Waiting::Item(item) => item.announcement.about == arriving.about,
                    Waiting::Fold(_) => false,
                });
                let of_agent = |waiting: &Waiting| match waiting {
                    Waiting::Item(item) => {
                        item.announcement.kind == Kind::State
                            && item.announcement.key == arriving.key
                    }
                    Waiting::Fold(_) => false,
                };
                self.take_out(Lane::Activity, Fate::Replaced, |waiting| {
                    same_topic(waiting) || of_agent(waiting)
                });
            }
            Lane::Alert | Lane::Text => {}
        }
    }

    /// Takes out what was to be said of an agent's activity before, and is of the mark of what arrives.
    fn replace(&mut self, arrived: &Item, is_it: impl Fn(&Waiting) -> bool) {
        if self.lanes[Lane::Activity as usize].of_mark(arrived.mark) > 0 {
            self.take_out(Lane::Activity, Fate::Replaced, is_it);
        }
    }

    pub(super) fn bound(&mut self, lane: Lane) {
        if lane != Lane::Alert && self.lanes[lane as usize].len() > MOST_WAITING {
            let oldest = self.lanes[lane as usize].pop_front();
            let gone = oldest.map_or(0, |oldest| oldest.counts());
            self.ledger.note(lane, Fate::Expired, gone);
        }
    }

    /// Takes note of an item that comes into a lane: hundreds may wait there, and are only looked at when one may be too old.
    pub(super) fn note_age(&mut self, lane: Lane, item: &Item) {
        let looked_at = &mut self.looked_at[lane as usize];
        *looked_at = item.looked_at(lane).min(*looked_at);
    }

    pub(super) fn expire(&mut self, now: Duration) {
        for lane in [
            Lane::Response,
            Lane::Outcome,
            Lane::Activity,
            Lane::Progress,
        ] {
            if now < self.looked_at[lane as usize] {
                continue;
            }
            let mut waiting = std::mem::take(&mut self.lanes[lane as usize]);
            let before = waiting.len();
            let mut looked_at = Duration::MAX;
            waiting.retain(|waiting| {
                let held = self.waits_for_text(waiting);
                let Waiting::Item(item) = waiting else {
                    return true;
                };
                // What waits for text is as fresh as that text.
                if held {
                    item.since = now;
                }
                let stays = item.too_old_at(lane).is_none_or(|at| now < at);
                if stays {
                    looked_at = item.looked_at(lane).min(looked_at);
                }
                stays
            });
            let gone = (before - waiting.len()) as u64;
            self.lanes[lane as usize] = waiting;
            self.looked_at[lane as usize] = looked_at;
            self.ledger.note(lane, Fate::Expired, gone);
            if lane == Lane::Outcome {
                self.expired_outcomes += gone;
            }
        }
    }
}

impl Item {
    /// Returns when it is too old for its lane. A count of what grew too old is said, however late.
    fn too_old_at(&self, lane: Lane) -> Option<Duration> {
        let life = lane.life().filter(|_| self.counts() > 0)?;
        Some(self.since + life)
    }

    /// Returns when it is looked whether it is too old: each time where it may wait for text, because it is as fresh as that.
    fn looked_at(&self, lane: Lane) -> Duration {
        match self.too_old_at(lane) {
            Some(_) if self.ends => Duration::ZERO,
            Some(at) => at,
            None => Duration::MAX,
        }
    }
}
