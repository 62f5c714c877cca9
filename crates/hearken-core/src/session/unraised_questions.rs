//! Questions that are not raised yet: old ones that may already be answered, and ones for which there is no
//! room.
//!
//! Responsibilities: how long a replayed question is held back, how many questions of an agent are asked at once, how
//! many of a link's open questions are kept. Not here: opening and closing a question (`question_events`).
//!
//! # Mental model
//! A question that a server replays right after we connect may be answered by the next replayed events, so it
//! is held back for a moment: until the replay is over, but never for longer than [`HELD_AT_MOST`], however
//! often its link fails. A question that a broken connection may have replayed is raised as possibly answered.
//! Beyond [`MOST_OPEN`] questions of an agent, further ones wait for room; the stream is still read, so that
//! ends, withdrawals and other agents get through, and waiting questions are counted, reported, and asked in
//! order.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::link::LinkId;
use crate::protocol::{Attachments, Now, Urgency};

use super::anomaly::Danger;
use super::change::{Change, ChangeKind};
use super::key::{QuestionId, SessionKey};
use super::link_state::LinkState;
use super::question::{AnswerReach, Question};
use super::question_body::QuestionBody;
use super::sessions::Sessions;
use super::tally::{BESIDES, LinkAgent, asker};
use super::waiting_lists::UnraisedReason;

/// The most questions of one agent that are asked at once: more than any person answers in a sitting.
pub(super) const MOST_OPEN: usize = 64;
/// The longest time that a question is held back after it arrived.
const HELD_AT_MOST: Duration = Duration::from_secs(1);
/// The most memory that the open questions of one agent may take, in bytes: one as large as a frame can be.
const MOST_AGENT_BYTES: usize = 4 * 1024 * 1024;
/// The most memory that the open questions of one link may take, in bytes: agent ids can be invented freely, so the
/// bound per agent alone would not limit anything.
const MOST_LINK_BYTES: usize = 16 * 1024 * 1024;
impl Question {
    /// Returns roughly how much memory it takes, in bytes.
    pub(super) fn weight(&self) -> usize {
        self.body.weight() + self.attached.weight()
    }
}

impl Sessions {
    /// Returns whether a question has not been raised yet.
    pub(super) fn is_held(&self, id: QuestionId) -> bool {
        self.questions
            .get(id)
            .is_some_and(|question| question.unraised_reason.is_some())
    }

    /// Returns whether there is memory for one more open question of a link.
    pub(super) fn can_keep(
        &self,
        key: &SessionKey,
        body: &QuestionBody,
        attached: &Attachments,
    ) -> bool {
        let (of_agent, of_link) = self.questions.tally().bytes(&asker(key));
        let weight = body.weight() + attached.weight() + BESIDES;
        // One question of an agent is kept whatever its size, if the link has memory for it.
        (of_agent == 0 || of_agent + weight <= MOST_AGENT_BYTES)
            && (of_link == 0 || of_link + weight <= MOST_LINK_BYTES)
    }

    /// Makes a new question wait for room if its agent has too many; returns whether it waits.
    pub(super) fn waits_for_room(&mut self, id: QuestionId) -> bool {
        let Some(question) = self.questions.get(id) else {
            return false;
        };
        let (tally, whose) = (self.questions.tally(), asker(&question.key));
        // The question is not held, so it also counts. None is asked before earlier ones.
        let full = tally.raised_count(&whose) > MOST_OPEN || tally.room(&whose).len() > 0;
        if full {
            self.hold(id, UnraisedReason::Room);
        }
        full
    }

    /// Holds a question back.
    pub(super) fn hold(&mut self, id: QuestionId, why: UnraisedReason) {
        self.questions
            .change(id, |question| question.unraised_reason = Some(why));
    }

    /// Returns how many questions of an agent wait for room.
    pub(super) fn waiting_for_room(&self, key: &SessionKey) -> usize {
        self.questions.tally().room(&asker(key)).len()
    }

    /// Raises the questions that no longer need to be held back, in the order of their arrival.
    pub(super) fn raise_due(&mut self, now: Now, changes: &mut Vec<Change>) {
        if !self.questions.tally().holds_any() {
            return;
        }
        if self.is_settled() {
            debug_assert!(!self.has_room());
            return;
        }
        let links: Vec<LinkId> = self
            .links
            .iter_mut()
            .filter_map(|(id, link)| link.end_burst_if_due(now.monotonic).then_some(*id))
            .collect();
        let mut asked: BTreeMap<LinkAgent, usize> = BTreeMap::new();
        let (mut raised, mut waiting) = (Vec::new(), Vec::new());
        for id in self.due_of_held(&links, now) {
            let Some(question) = self.questions.get(id) else {
                continue;
            };
            let whose = asker(&question.key);
            let before = self.questions.tally().raised_count(&whose);
            let count = asked.entry(whose).or_insert(before);
            if *count < MOST_OPEN {
                *count += 1;
                raised.push(id);
            } else {
                waiting.push(id);
            }
        }
        for id in waiting {
            self.hold(id, UnraisedReason::Room);
        }
        for id in raised {
            self.raise(id, now, changes);
        }
        self.settled = (!self.has_room()).then_some(self.questions.changes());
    }

    /// Returns the held questions that only a lack of room can still hold back, in the order of their arrival;
    /// among those that wait for room, at most as many as there may be room for.
    fn due_of_held(&self, over: &[LinkId], now: Now) -> BTreeSet<QuestionId> {
        let tally = self.questions.tally();
        let mut due = BTreeSet::new();
        for (link, ids) in tally.replayed() {
            let is_over = over.contains(&link);
            let held = self.held_at_most(link);
            let is_due =
                |came: Duration| is_over || held.is_some_and(|held| now.monotonic >= came + held);
            let of_link = ids.iter().take_while(|(came, _)| is_due(*came));
            due.extend(of_link.map(|(_, id)| *id));
        }
        for whose in tally.crowded() {
            due.extend(tally.room(whose).take(self.room_of(whose)));
        }
        due
    }

    /// Returns how long a question of a link is held back; `None` until the missed messages have arrived.
    fn held_at_most(&self, link: LinkId) -> Option<Duration> {
        let state = self.links.get(&link);
        let is_catching_up = state.is_some_and(LinkState::is_catching_up);
        (!is_catching_up).then_some(HELD_AT_MOST)
    }

    /// Returns for how many more questions of an agent there is room: none while its link is down, because they could
    /// not be answered.
    fn room_of(&self, whose: &LinkAgent) -> usize {
        match self.links.get(&whose.0).is_some_and(LinkState::is_down) {
            true => 0,
            false => MOST_OPEN.saturating_sub(self.questions.tally().raised_count(whose)),
        }
    }

    /// Returns whether a held question could be raised, or one waits for the end of a replay.
    fn has_room(&self) -> bool {
        let tally = self.questions.tally();
        let mut crowded = tally.crowded();
        tally.replayed().next().is_some() || crowded.any(|whose| self.room_of(whose) > 0)
    }

    /// Returns whether no question has changed since all held ones were found to wait only for room.
    fn is_settled(&self) -> bool {
        self.settled == Some(self.questions.changes())
    }

    fn raise(&mut self, id: QuestionId, now: Now, changes: &mut Vec<Change>) {
        let links = &self.links;
        self.questions.change(id, |question| {
            question.unraised_reason = None;
            question.raised = now.monotonic;
            let down = links
                .get(&question.key.link)
                .is_some_and(LinkState::is_down);
            // The connection that delivered it broke; the current one may know more.
            if question.reach == AnswerReach::LinkLost && !down {
                question.reach = AnswerReach::Resumed;
            }
        });
        let Some(question) = self.questions.get(id) else {
            return;
        };
        let tell = |what| Change {
            urgency: Urgency::Critical,
            ..self.bare_change(question, now, what)
        };
        changes.push(tell(ChangeKind::QuestionOpened(id)));
        if question.accepts_by_silence() {
            changes.push(tell(ChangeKind::Danger(Danger::AcceptsBySilence {
                question: id,
            })));
        }
    }

    /// Returns the latest time at which a replayed question is raised.
    pub(super) fn held_until(&self) -> Option<Duration> {
        if self.is_settled() {
            return None;
        }
        let replayed = self.questions.tally().replayed();
        let due = replayed.filter_map(|(link, ids)| {
            let (came, _) = ids.first()?;
            let late = self.held_at_most(link).map(|held| *came + held);
            let over = self.links.get(&link).and_then(LinkState::burst_ends);
            late.into_iter().chain(over).min()
        });
        due.min()
    }

    /// Releases the held questions of a link that is over: replayed ones are raised with their fate unknown, and those
    /// that waited for room are forgotten and counted.
    pub(super) fn let_go(&mut self, link: LinkId) {
        let held: Vec<(QuestionId, UnraisedReason)> = (self.questions.values())
            .filter(|question| question.key.link == link)
            .filter_map(|question| Some((question.id, question.unraised_reason?)))
            .collect();
        for (id, why) in held {
            match why {
                UnraisedReason::Replay => {
                    self.questions.change(id, |question| match question.reach {
                        // It could never be answered here, and is raised as such when it is due.
                        AnswerReach::NotAnswerable => {}
                        AnswerReach::Live | AnswerReach::LinkLost | AnswerReach::Resumed => {
                            question.unraised_reason = None;
                            question.reach = AnswerReach::Live;
                        }
                    });
                }
                UnraisedReason::Room => {
                    self.questions.remove(id);
                    self.dropped.unasked += 1;
                }
            }
        }
    }
}
