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

use std::collections::BTreeMap;
use std::time::Duration;

use crate::link::LinkId;
use crate::protocol::{AgentId, Attached, Now, Urgency};

use super::anomaly::Danger;
use super::change::{Change, What};
use super::key::{PromptId, SessionKey};
use super::link::LinkState;
use super::prompt::{Prompt, Question, ReplyState, Standing};
use super::sessions::Sessions;
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
/// How much memory a question takes besides its texts, in bytes, at least.
const BESIDES: usize = 1024;

/// Names an agent of a link.
type Asker = (LinkId, AgentId);

fn asker(key: &SessionKey) -> Asker {
    (key.link, key.agent.clone())
}

impl Prompt {
    /// Gives about how much memory it takes, in bytes.
    pub(super) fn weight(&self) -> usize {
        self.question.weight() + self.attached.weight()
    }
}

impl Sessions {
    /// Tells whether a question was not raised yet.
    pub(super) fn is_held(&self, id: PromptId) -> bool {
        self.held.contains_key(&id)
    }

    /// Tells whether a link's open questions leave memory for one more.
    pub(super) fn can_keep(
        &self,
        key: &SessionKey,
        question: &Question,
        attached: &Attached,
    ) -> bool {
        let (mut of_link, mut of_agent) = (0_usize, 0_usize);
        for prompt in self.prompts.values().filter(|prompt| prompt.is_open()) {
            if prompt.key.link == key.link {
                let weight = prompt.weight() + BESIDES;
                of_link += weight;
                if prompt.key.agent == key.agent {
                    of_agent += weight;
                }
            }
        }
        let weight = question.weight() + attached.weight() + BESIDES;
        // One question of an agent is kept whatever its size, as long as the link has memory for it.
        (of_agent == 0 || of_agent + weight <= MOST_AGENT_BYTES)
            && (of_link == 0 || of_link + weight <= MOST_LINK_BYTES)
    }

    /// Tells whether a question was raised and waits for an answer.
    fn is_asked(&self, prompt: &Prompt) -> bool {
        let waits = prompt.is_answerable() && prompt.reply == ReplyState::Unanswered;
        waits && !self.is_held(prompt.id)
    }

    /// Counts the questions of each agent that were raised and wait for an answer.
    fn asked_now(&self) -> BTreeMap<Asker, usize> {
        let mut counts = BTreeMap::new();
        for prompt in self.prompts.values() {
            if self.is_asked(prompt) {
                *counts.entry(asker(&prompt.key)).or_insert(0) += 1;
            }
        }
        counts
    }

    /// Lets a question that has just come wait for room, where its agent has too many; tells whether.
    pub(super) fn waits_for_room(&mut self, id: PromptId) -> bool {
        let Some(prompt) = self.prompts.get(id) else {
            return false;
        };
        let own = |other: &&Prompt| {
            other.key.link == prompt.key.link && other.key.agent == prompt.key.agent
        };
        // It is not held, and so counts itself.
        let asked = self.prompts.values().filter(own);
        let full = asked.filter(|own| self.is_asked(own)).count() > MOST_OPEN;
        if full {
            self.held.insert(id, Held::Room);
            self.prompts.note_change();
        }
        full
    }

    /// Counts the questions of an agent that wait for room.
    pub(super) fn waiting_for_room(&self, key: &SessionKey) -> usize {
        self.held
            .iter()
            .filter(|(_, held)| **held == Held::Room)
            .filter_map(|(id, _)| self.prompts.get(*id))
            .filter(|prompt| prompt.key.link == key.link && prompt.key.agent == key.agent)
            .count()
    }

    /// Raises the questions that need not be held back any more, in the order in which they came.
    pub(super) fn raise_due(&mut self, now: Now, changes: &mut Vec<Change>) {
        if self.held.is_empty() {
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
        let mut asked = self.asked_now();
        let mut raised = Vec::new();
        let mut waiting = Vec::new();
        for (id, held) in &self.held {
            let Some(prompt) = self.prompts.get(*id) else {
                continue;
            };
            let late = now.monotonic >= prompt.opened.monotonic + HELD_AT_MOST;
            if *held == Held::Replay && !late && !links.contains(&prompt.key.link) {
                continue;
            }
            let count = asked.entry(asker(&prompt.key)).or_insert(0);
            if *count < MOST_OPEN {
                *count += 1;
                raised.push(*id);
            } else {
                waiting.push(*id);
            }
        }
        for id in waiting {
            self.held.insert(id, Held::Room);
        }
        for id in raised {
            self.raise(id, now, changes);
        }
        let waits_for_room = self.held.values().all(|held| *held == Held::Room);
        self.settled = waits_for_room.then_some(self.prompts.changes());
    }

    /// Tells whether one that is held could be raised, or waits for the end of a replay.
    fn has_room(&self) -> bool {
        let asked = self.asked_now();
        let full = |prompt: &Prompt| asked.get(&asker(&prompt.key)) >= Some(&MOST_OPEN);
        let waits = |(id, held): (&PromptId, &Held)| {
            *held == Held::Room && self.prompts.get(*id).is_none_or(full)
        };
        !self.held.iter().all(waits)
    }

    /// Tells whether no question has changed since those that are held were found to wait for nothing but room.
    fn is_settled(&self) -> bool {
        self.settled == Some(self.prompts.changes())
    }

    fn raise(&mut self, id: PromptId, now: Now, changes: &mut Vec<Change>) {
        self.held.remove(&id);
        let Some(prompt) = self.prompts.get_mut(id) else {
            return;
        };
        prompt.raised = now.monotonic;
        let down = self
            .links
            .get(&prompt.key.link)
            .is_some_and(LinkState::is_down);
        // The connection that brought it broke; the one that is there now may know more.
        if prompt.standing == Standing::LinkLost && !down {
            prompt.standing = Standing::Resumed;
        }
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

    /// Gives when a replayed question is raised at the latest.
    pub(super) fn held_until(&self) -> Option<Duration> {
        if self.is_settled() {
            return None;
        }
        let replayed = self
            .held
            .iter()
            .filter(|(_, held)| **held == Held::Replay)
            .filter_map(|(id, _)| self.prompts.get(*id));
        let due = |prompt: &Prompt| {
            let late = prompt.opened.monotonic + HELD_AT_MOST;
            let over = self
                .links
                .get(&prompt.key.link)
                .and_then(LinkState::burst_ends);
            over.map_or(late, |over| over.min(late))
        };
        replayed.map(due).min()
    }

    /// Lets go what is held of a link that is over: replayed questions are raised with their fate
    /// unknown, and those that waited for room are forgotten and counted.
    pub(super) fn let_go(&mut self, link: LinkId) {
        let held = std::mem::take(&mut self.held);
        for (id, why) in held {
            let Some(prompt) = self.prompts.get_mut(id) else {
                continue;
            };
            match why {
                _ if prompt.key.link != link => {
                    self.held.insert(id, why);
                }
                // Nobody could ever answer it here: it is raised as what it is, when it is due.
                Held::Replay if prompt.standing == Standing::NotAnswerable => {
                    self.held.insert(id, why);
                }
                Held::Replay => prompt.standing = Standing::Live,
                Held::Room => {
                    self.prompts.remove(id);
                    self.dropped.unasked += 1;
                }
            }
        }
    }
}
