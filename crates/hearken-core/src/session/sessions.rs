//! All sessions of all links, and the calls by which they change.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::link::LinkId;
use crate::protocol::{Attached, Decoded, Event, Now, Severity, Unobserved};

use super::anomaly::{Anomaly, AnomalyKind, Detail};
use super::change::{Change, What};
use super::context::Context;
use super::dues::Dues;
use super::fingerprint::fingerprint;
use super::key::{PromptId, SessionKey};
use super::known::Known;
use super::link::{LinkState, Meeting};
use super::machines::QuestionRun;
use super::model::{Phase, Session};
use super::observe::Observer;
use super::prompt::{Closing, Prompt, Standing};
use super::prompts::Prompts;
use super::remembered::Tokens;
use super::waits::{Arrived, Waiting};

/// How many agents' first departures are remembered.
const MOST_TOLD: usize = 4096;

/// Counts what bounds made us forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dropped {
    /// Ended sessions that were forgotten.
    pub sessions: u64,
    /// Running sessions that were forgotten, because more than the bound ran at once.
    pub running_sessions: u64,
    /// Events that came twice.
    pub duplicates: u64,
    /// Running tools that were forgotten because a session had too many.
    pub tools: u64,
    /// Outputs that were forgotten because a session had too many.
    pub outputs: u64,
    /// Closed questions that were forgotten.
    pub questions: u64,
    /// Questions that were never asked, because too much was open.
    pub unasked: u64,
}

/// Every session, question and link, and is the only one who changes them.
#[derive(Debug, Clone, Default)]
pub struct Sessions {
    pub(super) sessions: Known,
    /// How many sessions began since this program did.
    pub(super) begun: u64,
    pub(super) links: BTreeMap<LinkId, LinkState>,
    pub(super) prompts: Prompts,
    /// When time brings something of each question, as far as it was found out.
    pub(super) dues: RefCell<Dues>,
    /// How often what was learned of a link's clock changed.
    pub(super) skewed: u64,
    /// How often questions had changed when no more could be raised, and none waited for the end of a replay.
    pub(super) settled: Option<u64>,
    pub(super) closed: VecDeque<PromptId>,
    pub(super) closed_bytes: usize,
    /// Questions of a lost link whose session was in what was replayed on the new one.
    pub(super) shown_again: Vec<PromptId>,
    pub(super) next_prompt: u64,
    pub(super) told: BTreeSet<(SessionKey, AnomalyKind)>,
    pub(super) waiting: Waiting,
    pub(super) tokens: BTreeMap<LinkId, Tokens>,
    pub(super) freed: Vec<PromptId>,
    pub(super) dropped: Dropped,
}

impl Sessions {
    /// Makes a link known. `answerable` is false for recordings and pipes.
    pub fn add_link(&mut self, link: LinkId, answerable: bool) {
        self.links.insert(link, LinkState::new(answerable));
        self.skewed += 1;
    }

    /// Takes note that what an event asks, which is about to be applied, can't be answered from here.
    pub fn only_shown(&mut self, link: LinkId, event: &Event) {
        let token = match event {
            Event::AwaitingConfirmation(asked) => asked.reply_token.as_ref(),
            Event::AwaitingClarification(asked) => asked.reply_token.as_ref(),
            Event::SessionStarted(_)
            | Event::SessionCompleted(_)
            | Event::SessionErrored(_)
            | Event::SessionCancelled(_)
            | Event::StateChanged(_)
            | Event::Progress(_)
            | Event::ToolInvoked(_)
            | Event::ToolCompleted(_)
            | Event::OutputStreaming(_)
            | Event::HandoffRequested(_)
            | Event::Unknown(_) => None,
        };
        if let (Some(token), Some(state)) = (token, self.links.get_mut(&link)) {
            state.only_shows(token.clone());
        }
    }

    /// Takes the news that a link is up: old events may be replayed now.
    pub fn link_connected(&mut self, link: LinkId, now: Now) {
        if let Some(state) = self.links.get_mut(&link) {
            state.connected(now);
        }
        // What waited for room while nobody could have answered it may have some now.
        self.settled = None;
    }

    /// Takes the news that a link is down, and gives the open questions whose fate is now unknown.
    ///
    /// What was only written to it has perhaps not been read.
    pub fn link_lost(&mut self, link: LinkId, now: Now) -> Vec<PromptId> {
        if let Some(state) = self.links.get_mut(&link) {
            state.lost();
        }
        let written: Vec<PromptId> = self
            .prompts
            .values()
            .filter(|prompt| prompt.key.link == link)
            .filter(|prompt| prompt.reply.run() == QuestionRun::Written)
            .map(|prompt| prompt.id)
            .collect();
        for id in written {
            self.doubt(id, now);
        }
        for session in self.sessions.values_mut() {
            if session.key.link == link && !session.is_ended() {
                session.connection_lost();
            }
        }
        let mut unsure = Vec::new();
        for id in self.open_on(link, Standing::reaches) {
            let lost = |prompt: &mut Prompt| prompt.standing = Standing::LinkLost;
            self.prompts.change(id, lost);
            // What is held back was never raised: what is known of it is told when it is.
            if !self.is_held(id) {
                unsure.push(id);
            }
        }
        unsure
    }

    /// Takes the news that the server which asked is there again: its questions can be answered.
    ///
    /// `standing` is how sure that is: [`Standing::Live`] where the server knows its own subscription,
    /// [`Standing::Resumed`] where it only took the id of its last event.
    pub fn link_resumed(&mut self, link: LinkId, standing: Standing, now: Now) -> Vec<Change> {
        let lost = self.open_on(link, |standing| standing == Standing::LinkLost);
        for id in &lost {
            self.prompts
                .change(*id, |prompt| prompt.standing = standing);
        }
        let back = lost.iter().filter_map(|id| self.raised(*id));
        back.filter(|prompt| prompt.is_answerable())
            .map(|prompt| self.bare_change(prompt, now, What::PromptAnswerable(prompt.id)))
            .collect()
    }

    /// Returns the open questions of a link whose standing is so.
    fn open_on(&self, link: LinkId, is_so: impl Fn(Standing) -> bool) -> Vec<PromptId> {
        let of_it = |prompt: &&Prompt| {
            prompt.key.link == link && prompt.is_open() && is_so(prompt.standing)
        };
        let prompts = self.prompts.values().filter(of_it);
        prompts.map(|prompt| prompt.id).collect()
    }

    /// Takes the news that what a link asks is over without an event that says so. Where a subscription has
    /// ended, what was asked in it and not answered is decided by its default (5.8.2).
    pub fn over(&mut self, link: LinkId, how: &Closing, now: Now) -> Vec<Change> {
        self.close_all(how, now, |prompt| prompt.key.link == link)
    }

    /// Takes the news that the question of a link under this token is decided, while its session stays where it is.
    pub fn decided(&mut self, link: LinkId, token: &str, how: &Closing, now: Now) -> Vec<Change> {
        self.close_all(how, now, |prompt| {
            prompt.key.link == link
                && prompt
                    .question
                    .token()
                    .is_some_and(|own| own.reveal() == token)
        })
    }

    fn close_all(
        &mut self,
        how: &Closing,
        now: Now,
        is_meant: impl Fn(&Prompt) -> bool,
    ) -> Vec<Change> {
        let open: Vec<Prompt> = self
            .prompts
            .values()
            .filter(|prompt| prompt.is_open() && is_meant(prompt))
            .cloned()
            .collect();
        let mut changes = Vec::new();
        for prompt in open {
            // What was never raised is closed without a word.
            if self.is_held(prompt.id) {
                self.close(prompt.id, Closing::DecidedBefore, now, &mut Unobserved);
                continue;
            }
            self.close(prompt.id, how.clone(), now, &mut Unobserved);
            let what = What::PromptClosed {
                prompt: prompt.id,
                how: how.clone(),
            };
            changes.push(self.bare_change(&prompt, now, what));
        }
        changes
    }

    /// Takes the news that a link is down for good, and gives the open questions whose fate is now
    /// unknown, those included that were held back: no other connection comes to judge them.
    pub fn link_over(&mut self, link: LinkId, now: Now) -> Vec<PromptId> {
        self.let_go(link);
        self.link_lost(link, now)
    }

    /// Takes the news that the person left a link: what runs there is no longer followed, and the questions
    /// that nobody answered here are over for them. Gives the questions that are not asked any more.
    pub fn link_left(&mut self, link: LinkId, now: Now) -> Vec<PromptId> {
        let mut over = self.link_over(link, now);
        let undecided: Vec<PromptId> = self
            .open_prompts()
            .filter(|prompt| prompt.key.link == link && prompt.answer().is_none())
            .map(|prompt| prompt.id)
            .collect();
        for id in &undecided {
            self.close(*id, Closing::LinkGone, now, &mut Unobserved);
        }
        self.sessions.leave(link);
        over.retain(|id| !undecided.contains(id));
        over.extend(undecided);
        over
    }

    /// Looks at the session of an event that is applied soon, so that it is near by then; gives it where it is known.
    pub fn look_at(&self, link: LinkId, decoded: &Decoded) -> Option<&Session> {
        let envelope = &decoded.envelope;
        self.sessions
            .look_at(link, &envelope.producer.agent_id, &envelope.session_id)
    }

    /// Applies one event and gives what changed.
    pub fn apply(&mut self, link: LinkId, decoded: Box<Decoded>, now: Now) -> Vec<Change> {
        self.apply_observed(link, decoded, now, &mut Unobserved)
    }

    /// Applies one event under an observer's eyes and gives what changed.
    pub fn apply_observed(
        &mut self,
        link: LinkId,
        decoded: Box<Decoded>,
        now: Now,
        observer: &mut dyn Observer,
    ) -> Vec<Change> {
        let envelope = &decoded.envelope;
        let agent = &envelope.producer.agent_id;
        let key = self.sessions.key(link, agent, &envelope.session_id);
        let state = self
            .links
            .entry(link)
            .or_insert_with(|| LinkState::new(true));
        let mut arrived = Arrived::Live;
        if let Some(id) = &envelope.event_id {
            match state.meet(&key.agent, id, fingerprint(&decoded)) {
                Meeting::First => {}
                Meeting::Again => {
                    self.dropped.duplicates += 1;
                    self.note_shown_again(&key, &decoded.event);
                    let mut changes = Vec::new();
                    self.revive_shown_again(now, &mut changes);
                    return changes;
                }
                Meeting::Different => arrived = Arrived::UnderUsedId,
            }
        }
        let young = state.is_young(envelope.timestamp);
        // Nearly every event brings one, and a list that grows by itself begins with room for four.
        let mut changes = Vec::with_capacity(1);
        if state.is_replayed(envelope.timestamp, now) {
            self.take_in_turn(
                &key,
                decoded,
                now,
                Arrived::Replayed,
                observer,
                &mut changes,
            );
            changes
                .iter_mut()
                .for_each(|change| change.replayed &= !young);
            self.take_followers(&key, now, observer, &mut changes);
        } else {
            let skew = state.skew();
            state.learn_skew(envelope.timestamp, now);
            self.skewed += u64::from(state.skew() != skew);
            self.revive_shown_again(now, &mut changes);
            self.raise_due(now, &mut changes);
            self.in_order(&key, decoded, arrived, now, observer, &mut changes);
        }
        self.tell_freed(now, &mut changes);
        self.sessions.weigh(&key);
        let forgotten = self.sessions.forget();
        self.dropped.sessions += forgotten.ended;
        self.dropped.running_sessions += forgotten.running;
        changes
    }

    /// Applies one event whose turn it is.
    pub(super) fn take_in_turn(
        &mut self,
        key: &SessionKey,
        decoded: Box<Decoded>,
        now: Now,
        arrived: Arrived,
        observer: &mut dyn Observer,
        changes: &mut Vec<Change>,
    ) {
        // Only what happened is moved: who, when and where stay where they are.
        let event = decoded.event;
        let (envelope, findings) = (&decoded.envelope, &decoded.findings);
        let replayed = arrived == Arrived::Replayed;
        let mut context = Context::new(key, envelope, now, replayed, observer, changes);
        let invalid = findings
            .iter()
            .find(|finding| finding.severity == Severity::Error)
            .cloned();
        if let Some(finding) = invalid {
            self.anomaly(&mut context, AnomalyKind::Invalid, Detail::Finding(finding));
        }
        if arrived == Arrived::UnderUsedId {
            self.anomaly(&mut context, AnomalyKind::EventIdReused, String::new());
        }
        self.take(&mut context, event);
    }

    /// Brings what only time brings.
    pub fn tick(&mut self, now: Now) -> Vec<Change> {
        self.tick_observed(now, &mut Unobserved)
    }

    /// Brings what only time brings; what goes on by it does so under an observer's eyes.
    pub fn tick_observed(&mut self, now: Now, observer: &mut dyn Observer) -> Vec<Change> {
        let mut changes = Vec::new();
        self.release_overdue(now, observer, &mut changes);
        self.revive_shown_again(now, &mut changes);
        self.raise_due(now, &mut changes);
        self.tick_prompts(now, &mut changes);
        self.tick_unasked(now, &mut changes);
        self.tell_freed(now, &mut changes);
        changes
    }

    /// Returns the monotonic time at which [`Sessions::tick`] has something to do.
    pub fn deadline(&self) -> Option<Duration> {
        let shown_again = self.shown_again.iter().filter_map(|id| {
            self.links
                .get(&self.prompts.get(*id)?.key.link)?
                .burst_ends()
        });
        let prompts = self.prompts_due();
        let unasked = self.unasked_due();
        (prompts.into_iter())
            .chain(unasked)
            .chain(shown_again)
            .chain(self.held_until())
            .chain(self.waiting.deadline())
            .min()
    }

    /// Returns a number that is another one after each change of a question.
    pub fn asking(&self) -> u64 {
        self.prompts.changes()
    }

    /// Returns the questions that changed since the number was this one; `None` where they are too many to be remembered.
    pub fn asked_since(&self, asking: u64) -> Option<impl Iterator<Item = PromptId>> {
        self.prompts.changed_since(asking)
    }

    /// Returns the sessions in a stable order.
    pub fn iter(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    /// Returns one session.
    pub fn get(&self, key: &SessionKey) -> Option<&Session> {
        self.sessions.get(key)
    }

    /// Returns one question, open or closed, while it is remembered.
    pub fn prompt(&self, id: PromptId) -> Option<&Prompt> {
        self.prompts.get(id)
    }

    /// Returns the raised questions that are open, in the order in which they were asked.
    pub fn open_prompts(&self) -> impl Iterator<Item = &Prompt> {
        self.prompts.raised()
    }

    /// Returns those of them that can be answered, in that order.
    pub fn answerable_prompts(&self) -> impl Iterator<Item = &Prompt> {
        let answerable = self.prompts.tally().answerable().iter();
        answerable.filter_map(|id| self.prompts.get(*id))
    }

    /// Counts those that can be answered, without those that are left out.
    pub fn answerable_without(&self, left_out: impl Iterator<Item = PromptId>) -> usize {
        let answerable = self.prompts.tally().answerable();
        let left_out = left_out.filter(|id| answerable.contains(id));
        answerable.len() - left_out.count()
    }

    /// Returns one question that was raised: what is held back is nobody's business yet.
    pub fn raised(&self, id: PromptId) -> Option<&Prompt> {
        self.prompts.get(id).filter(|prompt| prompt.held.is_none())
    }

    /// Counts the actions of a session that the person rejected here.
    pub fn rejections(&self, key: &SessionKey) -> usize {
        let of = self.prompts.of(key);
        of.filter(|prompt| prompt.was_rejected()).count()
    }

    /// Returns when a question's time is over, on the monotonic clock.
    pub fn expires(&self, prompt: &Prompt) -> Option<Duration> {
        prompt.expires(self.skew(prompt.key.link))
    }

    /// Returns the session that another one is a part of (A.9, pattern 2), while it is remembered.
    pub fn parent(&self, session: &Session) -> Option<&Session> {
        self.sessions
            .of_any_agent(session.key.link, session.parent.as_ref()?)
    }

    /// Returns a number that changes with everything by which agents and their runs are told apart: which there are, what
    /// they are called, and what was asked of them.
    pub fn naming(&self) -> u64 {
        self.sessions.naming()
    }

    /// Returns where that was since the number was this one, and the session that stands there now; `None` where it was too
    /// often to be remembered, and all have to be looked at.
    pub fn named_since(
        &self,
        naming: u64,
    ) -> Option<impl Iterator<Item = (usize, Option<&Session>)>> {
        self.sessions.named_since(naming)
    }

    /// Returns whether what is said has to say of whom: there are several agents, or two runs of one at a time.
    pub fn several(&self) -> bool {
        self.sessions.are_several()
    }

    /// Returns whether any session goes on.
    pub fn any_goes_on(&self) -> bool {
        self.sessions.any_goes_on()
    }

    /// Returns the counters of what was forgotten.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// Notes a departure of a whole frame that no session can be blamed for, and tells whether it is
    /// the first of its link.
    pub(super) fn anomaly(
        &mut self,
        context: &mut Context,
        kind: AnomalyKind,
        detail: impl Into<Detail>,
    ) {
        let about = SessionKey {
            session: crate::protocol::SessionId::from(""),
            ..context.key.clone()
        };
        // Past the bound an agent's departures are no news any more.
        let first = self.told.len() < MOST_TOLD && self.told.insert((about, kind));
        context.push(What::Anomaly(Anomaly {
            kind,
            detail: detail.into(),
            first,
        }));
    }

    pub(super) fn skew(&self, link: LinkId) -> Option<i64> {
        self.links.get(&link).and_then(LinkState::skew)
    }

    pub(super) fn bare_change(&self, prompt: &Prompt, now: Now, what: What) -> Change {
        Change {
            key: prompt.key.clone(),
            agent: prompt.agent.clone(),
            at: now,
            urgency: crate::protocol::Urgency::Normal,
            language: None,
            fallbacks: Vec::new(),
            direction: None,
            replayed: false,
            attached: Attached::none(),
            what,
        }
    }

    pub(super) fn refresh_phase(&mut self, key: &SessionKey) {
        let waiting = self.prompts.open_of(key).next().map(|prompt| prompt.id);
        if let Some(session) = self.sessions.get_mut(key)
            && !session.is_ended()
        {
            session.phase = waiting.map_or(Phase::Running, Phase::Waiting);
        }
    }
}
