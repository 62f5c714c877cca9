//! All sessions of all links, and the calls by which they change.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use jiff::Timestamp;

use crate::protocol::{Answer, Decoded, Now, Severity};

use super::anomaly::{Anomaly, AnomalyKind, Danger};
use super::change::{Change, What};
use super::consent::UNASKED_AFTER;
use super::key::{LinkId, SessionKey};
use super::link::LinkState;
use super::model::{Consent, Phase, Session};
use super::prompt::{Closing, Prompt, PromptId, ReplyState, Standing};

/// How many sessions are kept; ended ones leave first, then the one that was silent longest.
const MOST_SESSIONS: usize = 256;
/// How many closed questions are kept for looking back.
const MOST_CLOSED: usize = 128;
/// How many agents' first departures are remembered.
const MOST_TOLD: usize = 4096;
/// How many questions of one link may be open before reading stops.
pub(super) const MOST_OPEN: usize = 64;

/// Counts what bounds made us forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dropped {
    /// Sessions that were forgotten.
    pub sessions: u64,
    /// Events that came twice.
    pub duplicates: u64,
    /// Running tools that were forgotten because a session had too many.
    pub tools: u64,
}

/// Holds every session, question and link, and is the only one who changes them.
#[derive(Debug, Clone, Default)]
pub struct Sessions {
    pub(super) sessions: BTreeMap<SessionKey, Session>,
    pub(super) links: BTreeMap<LinkId, LinkState>,
    pub(super) prompts: BTreeMap<PromptId, Prompt>,
    pub(super) closed: VecDeque<PromptId>,
    pub(super) held: Vec<PromptId>,
    pub(super) next_prompt: u64,
    pub(super) told: BTreeSet<(SessionKey, AnomalyKind)>,
    pub(super) dropped: Dropped,
}

impl Sessions {
    /// Makes a link known. `answerable` is false for recordings and pipes.
    pub fn add_link(&mut self, link: LinkId, answerable: bool) {
        self.links.insert(link, LinkState::new(answerable));
    }

    /// Takes the news that a link is up: old events may be replayed now.
    pub fn link_connected(&mut self, link: LinkId, now: Now) {
        if let Some(state) = self.links.get_mut(&link) {
            state.connected(now);
        }
    }

    /// Takes the news that a link is down, and gives the open questions whose fate is now unknown.
    pub fn link_lost(&mut self, link: LinkId) -> Vec<PromptId> {
        if let Some(state) = self.links.get_mut(&link) {
            state.lost();
        }
        self.held.retain(|id| {
            self.prompts
                .get(id)
                .is_some_and(|prompt| prompt.key.link != link)
        });
        let mut unsure = Vec::new();
        for prompt in self.prompts.values_mut() {
            if prompt.key.link == link && prompt.is_open() && prompt.standing == Standing::Live {
                prompt.standing = Standing::LinkLost;
                unsure.push(prompt.id);
            }
        }
        unsure
    }

    /// Applies one event and gives what changed.
    pub fn apply(&mut self, link: LinkId, decoded: Decoded, now: Now) -> Vec<Change> {
        let Decoded {
            envelope,
            event,
            findings,
        } = decoded;
        let state = self
            .links
            .entry(link)
            .or_insert_with(|| LinkState::new(true));
        if let Some(id) = &envelope.event_id
            && state.is_duplicate(&envelope.producer.agent_id, id)
        {
            self.dropped.duplicates += 1;
            // A server that sends again what it sent before is the one that asked.
            let key = SessionKey {
                link,
                agent: envelope.producer.agent_id.clone(),
                session: envelope.session_id.clone(),
            };
            return self.answerable_again(key, &envelope, now);
        }
        let replayed = state.is_replayed(envelope.timestamp, now);
        if !replayed {
            state.learn_skew(envelope.timestamp, now);
        }
        let key = SessionKey {
            link,
            agent: envelope.producer.agent_id.clone(),
            session: envelope.session_id.clone(),
        };
        let mut changes = if replayed {
            Vec::new()
        } else {
            self.raise_held(link, now)
        };
        let errors = findings
            .iter()
            .find(|finding| finding.severity == Severity::Error);
        let invalid = errors.map(ToString::to_string);
        let mut context = super::apply::Context::new(key, &envelope, now, replayed);
        if let Some(detail) = invalid {
            self.anomaly(&mut context, AnomalyKind::Invalid, detail);
        }
        self.take(&mut context, event, &envelope);
        changes.append(&mut context.into_changes());
        self.forget();
        changes
    }

    /// Brings what only time brings.
    pub fn tick(&mut self, now: Now) -> Vec<Change> {
        let mut changes = Vec::new();
        let links: Vec<LinkId> = self.links.keys().copied().collect();
        for link in links {
            changes.extend(self.raise_held(link, now));
        }
        self.tick_prompts(now, &mut changes);
        self.tick_unasked(now, &mut changes);
        changes
    }

    /// Gives the monotonic time at which [`Sessions::tick`] has something to do.
    pub fn deadline(&self) -> Option<Duration> {
        let bursts = self
            .links
            .iter()
            .filter(|(link, _)| {
                self.held.iter().any(|id| {
                    self.prompts
                        .get(id)
                        .is_some_and(|prompt| prompt.key.link == **link)
                })
            })
            .filter_map(|(_, state)| state.burst_ends());
        let prompts = self
            .prompts
            .values()
            .filter(|prompt| self.counts(prompt))
            .filter_map(|prompt| {
                let expires = prompt.expires(self.skew(prompt.key.link))?;
                Some(
                    prompt
                        .next_warning()
                        .map_or(expires, |(left, _)| expires.saturating_sub(left)),
                )
            });
        let unasked = self
            .sessions
            .values()
            .flat_map(|session| &session.tools)
            .filter(|call| call.consent == Consent::Missing)
            .map(|call| call.since + UNASKED_AFTER);
        bursts.chain(prompts).chain(unasked).min()
    }

    /// Gives the sessions in a stable order.
    pub fn iter(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    /// Gives one session.
    pub fn get(&self, key: &SessionKey) -> Option<&Session> {
        self.sessions.get(key)
    }

    /// Gives one question, open or closed, while it is remembered.
    pub fn prompt(&self, id: PromptId) -> Option<&Prompt> {
        self.prompts.get(&id)
    }

    /// Gives the raised questions that are open, in the order in which they were asked.
    pub fn open_prompts(&self) -> impl Iterator<Item = &Prompt> {
        self.prompts
            .values()
            .filter(|prompt| prompt.is_open() && !self.held.contains(&prompt.id))
    }

    /// Gives one question that was raised: what is held back is nobody's business yet.
    pub fn raised(&self, id: PromptId) -> Option<&Prompt> {
        self.prompts
            .get(&id)
            .filter(|prompt| !self.held.contains(&prompt.id))
    }

    /// Tells whether a link has so many questions waiting for an answer that nothing more may be read
    /// from it. What can't be answered, or has timed out, does not count: nobody could free its place.
    pub fn is_full(&self, link: LinkId) -> bool {
        let waiting = |prompt: &&Prompt| {
            prompt.key.link == link
                && prompt.is_answerable()
                && matches!(prompt.reply, ReplyState::Unanswered)
        };
        self.prompts.values().filter(waiting).count() >= MOST_OPEN
    }

    /// Gives when a question's time is over, on the monotonic clock.
    pub fn expires(&self, prompt: &Prompt) -> Option<Duration> {
        prompt.expires(self.skew(prompt.key.link))
    }

    /// Counts the distinct agents of all links.
    pub fn agents(&self) -> usize {
        self.sessions
            .keys()
            .map(|key| (key.link, &key.agent))
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// Gives the counters of what was forgotten.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// Notes that an answer goes out, and gives its number of attempt.
    pub fn reply_sending(&mut self, id: PromptId, answer: Answer, decided: Timestamp) -> u32 {
        let Some(prompt) = self.prompts.get_mut(&id) else {
            return 0;
        };
        let attempt = match &prompt.reply {
            ReplyState::Sending { attempt, .. } | ReplyState::Retrying { attempt, .. } => {
                attempt + 1
            }
            ReplyState::Unanswered
            | ReplyState::Sent { .. }
            | ReplyState::TimedOut
            | ReplyState::Resolved { .. }
            | ReplyState::Withdrawn { .. } => 1,
        };
        prompt.reply = ReplyState::Sending {
            answer,
            decided,
            attempt,
        };
        // What the agent says next must not be heard as the deed; its words may come before the
        // server's receipt.
        if prompt.was_rejected()
            && let Some(session) = self.sessions.get_mut(&prompt.key)
        {
            session.rejected = Some(prompt.question.subject().to_owned());
        }
        attempt
    }

    /// Notes that the server took an answer, and tells of the danger that it came after the end.
    pub fn reply_sent(&mut self, id: PromptId, now: Now) -> Vec<Change> {
        let Some(prompt) = self.prompts.get_mut(&id) else {
            return Vec::new();
        };
        match &prompt.reply {
            ReplyState::Sending {
                answer, decided, ..
            }
            | ReplyState::Retrying {
                answer, decided, ..
            } => {
                prompt.reply = ReplyState::Sent {
                    answer: answer.clone(),
                    decided: *decided,
                };
                Vec::new()
            }
            ReplyState::Withdrawn {
                how: Closing::SessionEnded,
            }
            | ReplyState::Resolved {
                how: Closing::SessionEnded,
                ..
            } => {
                let prompt = prompt.clone();
                vec![self.bare_change(
                    &prompt,
                    now,
                    What::Danger(Danger::AnsweredAfterEnd { prompt: id }),
                )]
            }
            ReplyState::Unanswered
            | ReplyState::Sent { .. }
            | ReplyState::TimedOut
            | ReplyState::Resolved { .. }
            | ReplyState::Withdrawn { .. } => Vec::new(),
        }
    }

    /// Notes that an attempt to send failed and another one comes.
    pub fn reply_retrying(&mut self, id: PromptId) {
        if let Some(prompt) = self.prompts.get_mut(&id)
            && let ReplyState::Sending {
                answer,
                decided,
                attempt,
            } = &prompt.reply
        {
            prompt.reply = ReplyState::Retrying {
                answer: answer.clone(),
                decided: *decided,
                attempt: *attempt,
            };
        }
    }

    /// Notes that an answer could not be sent and won't be tried again: the question is open as before.
    pub fn reply_failed(&mut self, id: PromptId) {
        if let Some(prompt) = self.prompts.get_mut(&id)
            && matches!(
                prompt.reply,
                ReplyState::Sending { .. } | ReplyState::Retrying { .. }
            )
        {
            prompt.reply = ReplyState::Unanswered;
            if let Some(session) = self.sessions.get_mut(&prompt.key) {
                session.rejected = None;
            }
        }
    }

    /// Notes a departure of a whole frame that no session can be blamed for, and tells whether it is
    /// the first of its link.
    pub(super) fn anomaly(
        &mut self,
        context: &mut super::apply::Context,
        kind: AnomalyKind,
        detail: String,
    ) {
        let about = SessionKey {
            session: crate::protocol::SessionId(String::new()),
            ..context.key.clone()
        };
        // Past the bound an agent's departures are no news any more.
        let first = self.told.len() < MOST_TOLD && self.told.insert((about, kind));
        context.push(What::Anomaly(Anomaly {
            kind,
            detail,
            first,
        }));
    }

    pub(super) fn skew(&self, link: LinkId) -> Option<i64> {
        self.links.get(&link).and_then(LinkState::skew)
    }

    /// Tells whether a question's time still matters: until it is answered here, and as long as its
    /// link is lost. After an answer only the agent's events tell the end.
    fn counts(&self, prompt: &Prompt) -> bool {
        let matters = match prompt.standing {
            Standing::Live => matches!(prompt.reply, ReplyState::Unanswered),
            Standing::LinkLost => prompt.is_open(),
            Standing::NotAnswerable => false,
        };
        matters && !self.held.contains(&prompt.id)
    }

    fn tick_prompts(&mut self, now: Now, changes: &mut Vec<Change>) {
        let counting: Vec<Prompt> = self
            .prompts
            .values()
            .filter(|prompt| self.counts(prompt))
            .cloned()
            .collect();
        for prompt in counting {
            let Some(expires) = self.expires(&prompt) else {
                continue;
            };
            let left = expires.saturating_sub(now.monotonic);
            let id = prompt.id;
            if left.is_zero() {
                if prompt.standing == Standing::Live {
                    self.set_reply(id, ReplyState::TimedOut);
                    changes.push(self.bare_change(&prompt, now, What::PromptTimedOut(id)));
                } else {
                    self.close(id, Closing::LinkGone);
                    changes.push(self.bare_change(
                        &prompt,
                        now,
                        What::PromptClosed {
                            prompt: id,
                            how: Closing::LinkGone,
                        },
                    ));
                }
            } else if let Some((_, which)) = prompt.next_warning().filter(|(at, _)| left <= *at) {
                if let Some(prompt) = self.prompts.get_mut(&id) {
                    prompt.warned = which;
                }
                if prompt.standing == Standing::Live {
                    changes.push(self.bare_change(
                        &prompt,
                        now,
                        What::PromptWarning {
                            prompt: id,
                            remaining: left,
                        },
                    ));
                }
            }
        }
    }

    fn set_reply(&mut self, id: PromptId, reply: ReplyState) {
        if let Some(prompt) = self.prompts.get_mut(&id) {
            prompt.reply = reply;
        }
    }

    pub(super) fn bare_change(&self, prompt: &Prompt, now: Now, what: What) -> Change {
        Change {
            key: prompt.key.clone(),
            agent: prompt.agent.clone(),
            at: now,
            urgency: crate::protocol::Urgency::Normal,
            language: None,
            direction: None,
            replayed: false,
            what,
        }
    }

    /// Closes a question for good and keeps the session's phase true.
    pub(super) fn close(&mut self, id: PromptId, how: Closing) {
        self.held.retain(|held| *held != id);
        let Some(prompt) = self.prompts.get_mut(&id) else {
            return;
        };
        if !prompt.is_open() {
            return;
        }
        let undelivered = matches!(prompt.reply, ReplyState::Retrying { .. });
        prompt.reply = match prompt.answer().filter(|_| !undelivered).cloned() {
            Some(answer) => ReplyState::Resolved { answer, how },
            None => ReplyState::Withdrawn { how },
        };
        let key = prompt.key.clone();
        self.closed.push_back(id);
        if self.closed.len() > MOST_CLOSED
            && let Some(oldest) = self.closed.pop_front()
        {
            self.prompts.remove(&oldest);
        }
        self.refresh_phase(&key);
    }

    pub(super) fn refresh_phase(&mut self, key: &SessionKey) {
        let waiting = self
            .prompts
            .values()
            .find(|prompt| prompt.is_open() && prompt.key == *key)
            .map(|prompt| prompt.id);
        if let Some(session) = self.sessions.get_mut(key)
            && !session.is_ended()
        {
            session.phase = waiting.map_or(Phase::Running, Phase::Waiting);
        }
    }

    /// Keeps the number of sessions within its bound.
    fn forget(&mut self) {
        while self.sessions.len() > MOST_SESSIONS {
            let oldest = self
                .sessions
                .values()
                .min_by_key(|session| {
                    (
                        !session.is_ended(),
                        matches!(session.phase, Phase::Waiting(_)),
                        session.last_event,
                    )
                })
                .map(|session| session.key.clone());
            let Some(key) = oldest else { return };
            self.sessions.remove(&key);
            self.dropped.sessions += 1;
        }
    }
}
