//! Which waiting entry is next, and which ones are too old.

use std::time::Duration;

use super::lanes::{Lane, NEWS_LIFE};
use super::{QueueItem, SpeechQueue, UtteranceFate, WaitingUtterance};
use crate::announce::announcement::{
    Announcement, AnnouncementKind, Class, QuestionRelation, Weight,
};

/// How many announcements may wait in one lane before the oldest is counted and dropped. Alerts need no bound
/// here: sessions limit their questions, and every danger needs an event of its agent.
const MOST_WAITING: usize = 512;

/// Returns the rank of a waiting entry within its lane, lowest first; equals leave in the order of arrival.
fn rank(lane: Lane, waiting: &WaitingUtterance) -> u8 {
    let WaitingUtterance::Item(item) = waiting else {
        return 0;
    };
    match lane {
        // An entry that was cut continues before anything else of its lane.
        Lane::Alert if item.again => 0,
        Lane::Alert => alert_rank(item.announcement.kind),
        Lane::Outcome => match item.announcement.weight {
            Weight::Failure => 0,
            Weight::Plain | Weight::Stopped => 1,
        },
        Lane::Response | Lane::Activity | Lane::Text | Lane::Progress => 0,
    }
}

/// Returns the rank of an alert: questions and their warnings, dangers, errors, handoffs, everything else critical.
pub(super) fn alert_rank(kind: AnnouncementKind) -> u8 {
    match kind {
        AnnouncementKind::Confirmation | AnnouncementKind::Clarification => 1,
        AnnouncementKind::Danger => 2,
        AnnouncementKind::SessionErrored => 3,
        AnnouncementKind::Handoff => 4,
        AnnouncementKind::SessionStarted
        | AnnouncementKind::SessionCompleted
        | AnnouncementKind::SessionCancelled
        | AnnouncementKind::State
        | AnnouncementKind::Progress
        | AnnouncementKind::ToolInvoked
        | AnnouncementKind::ToolCompleted
        | AnnouncementKind::Output
        | AnnouncementKind::Unknown
        | AnnouncementKind::Connection
        | AnnouncementKind::Reply
        | AnnouncementKind::Anomaly
        | AnnouncementKind::Prompt
        | AnnouncementKind::Hint
        | AnnouncementKind::Heartbeat => 5,
    }
}

/// Returns whether an announcement is the outcome of an answer to another question than the one that is asked.
pub(super) fn is_of_another(told: &Announcement, asks: &Announcement) -> bool {
    let question = |told: &Announcement| told.about.map(|about| about.question());
    told.class == Class::Outcome
        && told.kind == AnnouncementKind::Reply
        && matches!(asks.about, Some(QuestionRelation::Asks(_)))
        && question(told) != question(asks)
}

impl SpeechQueue {
    /// Removes and returns the next entry of a lane: alerts by rank, failures before successes, all else in
    /// order of arrival. A session's end waits for the rest of its agent's text: "finished" before the last
    /// words would sound as if these had been spoken.
    pub(super) fn take_next(&mut self, lane: Lane) -> Option<WaitingUtterance> {
        let waiting = &self.lanes[lane as usize];
        let may_leave = |waiting: &&WaitingUtterance| match lane {
            Lane::Alert => !self.waits_for_response(waiting),
            Lane::Outcome => !self.waits_for_text(waiting),
            Lane::Text => !waiting.is_held(),
            Lane::Response | Lane::Activity | Lane::Progress => true,
        };
        let (at, _) = (waiting.iter().enumerate())
            .filter(|(_, waiting)| may_leave(waiting))
            .min_by_key(|(_, waiting)| rank(lane, waiting))?;
        self.lanes[lane as usize].remove(at)
    }

    /// Returns whether an alert waits for the response to a key. An alert that the response interrupted is
    /// repeated after it. An alert that arrives before a response has begun waits as if it had begun, for at
    /// most two seconds: otherwise the next question would cut in before the answer to the previous one is
    /// confirmed.
    pub(super) fn waits_for_response(&self, waiting: &WaitingUtterance) -> bool {
        let response = self.lanes[Lane::Response as usize].front();
        match (waiting, response) {
            (WaitingUtterance::Item(item), Some(WaitingUtterance::Item(response))) => {
                item.again || item.since >= response.since
            }
            (WaitingUtterance::Fold(_), _) | (_, None | Some(WaitingUtterance::Fold(_))) => false,
        }
    }

    pub(super) fn waits_for_text(&self, waiting: &WaitingUtterance) -> bool {
        let WaitingUtterance::Item(item) = waiting else {
            return false;
        };
        if !item.ends {
            return false;
        }
        let key = &item.announcement.key;
        let plays = self.playing.as_ref().is_some_and(|playing| {
            playing.lane == Lane::Text && playing.item.announcement.key == *key
        });
        let text_waits = |text: &WaitingUtterance| match text {
            WaitingUtterance::Item(text) => text.announcement.key == *key,
            WaitingUtterance::Fold(fold) => fold.key == *key,
        };
        let mut texts = self.lanes[Lane::Text as usize].iter();
        plays || texts.any(|text| !text.is_held() && text_waits(text))
    }

    /// Removes the waiting entries that an arrival makes obsolete.
    pub(super) fn make_room(&mut self, lane: Lane, arrived: &QueueItem) {
        let arriving = &*arrived.announcement;
        let same_topic = |waiting: &WaitingUtterance| match waiting {
            WaitingUtterance::Item(item) => {
                item.mark == arrived.mark
                    && item.announcement.key == arriving.key
                    && item.announcement.topic.is_some()
                    && item.announcement.topic == arriving.topic
            }
            WaitingUtterance::Fold(_) => false,
        };
        match lane {
            // The response to an earlier key is no longer of use.
            Lane::Response => self.clear(Lane::Response, UtteranceFate::Replaced),
            Lane::Activity => self.replace(arrived, same_topic),
            Lane::Progress => {
                self.take_out(
                    Lane::Progress,
                    UtteranceFate::Replaced,
                    |waiting| match waiting {
                        WaitingUtterance::Item(item) => item.announcement.key == arriving.key,
                        WaitingUtterance::Fold(_) => false,
                    },
                );
            }
            // A tool's result makes its unspoken start superfluous.
            Lane::Outcome => self.replace(arrived, same_topic),
            // From here on, the agent and its call wait for the person: "starting" or "thinking" would be
            // outdated by the time it was spoken.
            Lane::Alert if matches!(arriving.about, Some(QuestionRelation::Asks(_))) => {
                // A repeated question says all that is left to say about it.
                self.take_out(
                    Lane::Alert,
                    UtteranceFate::Replaced,
                    |waiting| match waiting {
                        WaitingUtterance::Item(item) => item.announcement.about == arriving.about,
                        WaitingUtterance::Fold(_) => false,
                    },
                );
                // "Sent." would be taken for the question that was asked since.
                self.take_out(Lane::Outcome, UtteranceFate::Replaced, |waiting| {
                    matches!(waiting, WaitingUtterance::Item(item) if is_of_another(&item.announcement, arriving))
                });
                let of_agent = |waiting: &WaitingUtterance| match waiting {
                    WaitingUtterance::Item(item) => {
                        item.announcement.kind == AnnouncementKind::State
                            && item.announcement.key == arriving.key
                    }
                    WaitingUtterance::Fold(_) => false,
                };
                self.take_out(Lane::Activity, UtteranceFate::Replaced, |waiting| {
                    same_topic(waiting) || of_agent(waiting)
                });
            }
            Lane::Alert | Lane::Text => {}
        }
    }

    /// Removes waiting entries that match an arrival and have its mark.
    fn replace(&mut self, arrived: &QueueItem, is_it: impl Fn(&WaitingUtterance) -> bool) {
        if self.lanes[Lane::Activity as usize].of_mark(arrived.mark) > 0 {
            self.take_out(Lane::Activity, UtteranceFate::Replaced, is_it);
        }
    }

    pub(super) fn bound(&mut self, lane: Lane) {
        if lane != Lane::Alert && self.lanes[lane as usize].len() > MOST_WAITING {
            let oldest = self.lanes[lane as usize].pop_front();
            let Some(WaitingUtterance::Item(oldest)) = oldest else {
                return;
            };
            let gone = oldest.counts();
            self.ledger.note(oldest.home, UtteranceFate::Expired, gone);
            // Entries that wait for the person, or that they asked for, are never dropped silently.
            if oldest.held || oldest.asked {
                self.skipped += gone;
            }
        }
    }

    /// Records when an item added to a lane expires: hundreds may wait there, and they are checked only when
    /// one may have expired.
    pub(super) fn note_age(&mut self, lane: Lane, item: &QueueItem) {
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
                let WaitingUtterance::Item(item) = waiting else {
                    return true;
                };
                // An entry that waits for text is as fresh as that text.
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
            self.ledger.note(lane, UtteranceFate::Expired, gone);
            if lane == Lane::Outcome {
                self.expired_outcomes += gone;
            }
        }
    }
}

impl QueueItem {
    /// Returns when it is too old for its lane. A count of expired announcements is spoken, however late.
    fn too_old_at(&self, lane: Lane) -> Option<Duration> {
        let life = lane.life().filter(|_| self.counts() > 0)?;
        // Nothing else reports the content of a sentence about a state.
        let is_news = lane == Lane::Outcome && self.announcement.kind == AnnouncementKind::State;
        let life = if is_news { NEWS_LIFE } else { life };
        Some(self.since + life)
    }

    /// Returns when to check its age: at every check if it may wait for text, because it is as fresh as that text.
    fn looked_at(&self, lane: Lane) -> Duration {
        match self.too_old_at(lane) {
            Some(_) if self.ends => Duration::ZERO,
            Some(at) => at,
            None => Duration::MAX,
        }
    }
}
