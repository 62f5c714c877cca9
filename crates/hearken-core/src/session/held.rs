//! Questions that are not raised yet: old ones that may be answered, and ones for which there is no room.
//!
//! Responsibilities: how long a replayed question is held back, how many questions of an agent are asked at
//! once, how much of a link's open questions is kept. Not here: opening and closing a question (`questions`).
//!
//! # Mental model
//! A question that a server replays right after we connect may be answered by what it replays next, so it
//! is held back for a moment: until the replay is over, but never for longer than [`HELD_AT_MOST`], however
//! its link flaps. What a broken connection may have replayed is raised as perhaps answered. Beyond
//! [`MOST_OPEN`] questions of an agent the next ones wait for room; the stream is read on, so that ends,
//! withdrawals and other agents get through, and what waits is counted, told, and asked in its order.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::link::LinkId;
use crate::protocol::{Attached, Now, Urgency};

use super::anomaly::Danger;
use super::change::{Change, What};
use super::key::{PromptId, SessionKey};
use super::link::LinkState;
use super::prompt::{Prompt, Standing};
use super::question::Question;
use super::sessions::Sessions;
use super::tally::{Asker, BESIDES, asker};
use super::waits::Held;

/// How many questions of one agent may wait for an answer at once: more than anybody answers in a sitting.
pub(super) const MOST_OPEN: usize = 64;
/// How long a question is held back at most after it came.
const HELD_AT_MOST: Duration = Duration::from_secs(1);
/// How much memory the open questions of one agent may take, in bytes: one as large as a frame can be.
const MOST_AGENT_BYTES: usize = 4 * 1024 * 1024;
/// How much memory the open questions of one link may take, in bytes: agents' ids are free, so that the
/// bound of an agent is none by itself.
const MOST_LINK_BYTES: usize = 16 * 1024 * 1024;
impl Prompt {
    /// Returns about how much memory it takes, in bytes.
    pub(super) fn weight(&self) -> usize {
        self.question.weight() + self.attached.weight()
    }
}

impl Sessions {
    /// Returns whether a question was not raised yet.
    pub(super) fn is_held(&self, id: PromptId) -> bool {
        self.prompts
            .get(id)
            .is_some_and(|prompt| prompt.held.is_some())
    }

    /// Returns whether a link's open questions leave memory for one more.
    pub(super) fn can_keep(
        &self,
        key: &SessionKey,
        question: &Question,
        attached: &Attached,
    ) -> bool {
        let (of_agent, of_link) = self.prompts.tally().bytes(&asker(key));
        let weight = question.weight() + attached.weight() + BESIDES;
        // One question of an agent is kept whatever its size, as long as the link has memory for it.
        (of_agent == 0 || of_agent + weight <= MOST_AGENT_BYTES)
            && (of_link == 0 || of_link + weight <= MOST_LINK_BYTES)
    }

    /// Lets a question that has just come wait for room, where its agent has too many; tells whether.
    pub(super) fn waits_for_room(&mut self, id: PromptId) -> bool {
        let Some(prompt) = self.prompts.get(id) else {
            return false;
        };
        let (tally, whose) = (self.prompts.tally(), asker(&prompt.key));
        // It is not held, and so counts itself. None is asked before those that came before it.
        let full = tally.asked(&whose) > MOST_OPEN || tally.room(&whose).len() > 0;
        if full {
            self.hold(id, Held::Room);
        }
        full
    }

    /// Holds a question back.
    pub(super) fn hold(&mut self, id: PromptId, why: Held) {
        self.prompts.change(id, |prompt| prompt.held = Some(why));
    }

    /// Counts the questions of an agent that wait for room.
    pub(super) fn waiting_for_room(&self, key: &SessionKey) -> usize {
        self.prompts.tally().room(&asker(key)).len()
    }

    /// Raises the questions that need not be held back any more, in the order in which they came.
    pub(super) fn raise_due(&mut self, now: Now, changes: &mut Vec<Change>) {
        if !self.prompts.tally().holds_any() {
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
        let mut asked: BTreeMap<Asker, usize> = BTreeMap::new();
        let (mut raised, mut waiting) = (Vec::new(), Vec::new());
        for id in self.due_of_held(&links, now) {
            let Some(prompt) = self.prompts.get(id) else {
                continue;
            };
            let whose = asker(&prompt.key);
            let before = self.prompts.tally().asked(&whose);
            let count = asked.entry(whose).or_insert(before);
            if *count < MOST_OPEN {
                *count += 1;
                raised.push(id);
            } else {
                waiting.push(id);
            }
        }
        for id in waiting {
            self.hold(id, Held::Room);
        }
        for id in raised {
            self.raise(id, now, changes);
        }
        self.settled = (!self.has_room()).then_some(self.prompts.changes());
    }

    /// Returns the held questions that nothing but room can hold back any longer, in the order in which they came: of those
    /// that wait for room as many as there may be room for.
    fn due_of_held(&self, over: &[LinkId], now: Now) -> BTreeSet<PromptId> {
        let tally = self.prompts.tally();
        let mut due = BTreeSet::new();
        for (link, ids) in tally.replayed() {
            let is_over = over.contains(&link);
            let is_due = |came: Duration| is_over || now.monotonic >= came + HELD_AT_MOST;
            let of_link = ids.iter().take_while(|(came, _)| is_due(*came));
            due.extend(of_link.map(|(_, id)| *id));
        }
        for whose in tally.crowded() {
            due.extend(tally.room(whose).take(self.room_of(whose)));
        }
        due
    }

    /// Counts for how many more questions of an agent there is room. While its link is down there is none: nobody could
    /// answer them.
    fn room_of(&self, whose: &Asker) -> usize {
        match self.links.get(&whose.0).is_some_and(LinkState::is_down) {
            true => 0,
            false => MOST_OPEN.saturating_sub(self.prompts.tally().asked(whose)),
        }
    }

    /// Returns whether one that is held could be raised, or waits for the end of a replay.
    fn has_room(&self) -> bool {
        let tally = self.prompts.tally();
        let mut crowded = tally.crowded();
        tally.replayed().next().is_some() || crowded.any(|whose| self.room_of(whose) > 0)
    }

    /// Returns whether no question has changed since those that are held were found to wait for nothing but room.
    fn is_settled(&self) -> bool {
        self.settled == Some(self.prompts.changes())
    }

    fn raise(&mut self, id: PromptId, now: Now, changes: &mut Vec<Change>) {
        let links = &self.links;
        self.prompts.change(id, |prompt| {
            prompt.held = None;
            prompt.raised = now.monotonic;
            let down = links.get(&prompt.key.link).is_some_and(LinkState::is_down);
            // The connection that brought it broke; the one that is there now may know more.
            if prompt.standing == Standing::LinkLost && !down {
                prompt.standing = Standing::Resumed;
            }
        });
        let Some(prompt) = self.prompts.get(id) else {
            return;
        };
        let tell = |what| Change {
            urgency: Urgency::Critical,
            ..self.bare_change(prompt, now, what)
        };
        changes.push(tell(What::PromptOpened(id)));
        if prompt.accepts_by_silence() {
            changes.push(tell(What::Danger(Danger::AcceptsBySilence { prompt: id })));
        }
    }

    /// Returns when a replayed question is raised at the latest.
    pub(super) fn held_until(&self) -> Option<Duration> {
        if self.is_settled() {
            return None;
        }
        let replayed = self.prompts.tally().replayed();
        let due = replayed.filter_map(|(link, ids)| {
            let (came, _) = ids.first()?;
            let late = *came + HELD_AT_MOST;
            let over = self.links.get(&link).and_then(LinkState::burst_ends);
            Some(over.map_or(late, |over| over.min(late)))
        });
        due.min()
    }

    /// Lets go what is held of a link that is over: replayed questions are raised with their fate
    /// unknown, and those that waited for room are forgotten and counted.
    pub(super) fn let_go(&mut self, link: LinkId) {
        let held: Vec<(PromptId, Held)> = (self.prompts.values())
            .filter(|prompt| prompt.key.link == link)
            .filter_map(|prompt| Some((prompt.id, prompt.held?)))
            .collect();
        for (id, why) in held {
            match why {
                Held::Replay => {
                    self.prompts.change(id, |prompt| match prompt.standing {
                        // Nobody could ever answer it here: it is raised as what it is, when it is due.
                        Standing::NotAnswerable => {}
                        Standing::Live | Standing::LinkLost | Standing::Resumed => {
                            prompt.held = None;
                            prompt.standing = Standing::Live;
                        }
                    });
                }
                Held::Room => {
                    self.prompts.remove(id);
                    self.dropped.unasked += 1;
                }
            }
        }
    }
}
