//! All sessions of all links, and the calls that change them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::link::LinkId;
use crate::protocol::{Attachments, Decoded, Event, NoObserver, Now, SessionId, Severity};

use super::anomaly::{Anomaly, AnomalyDetail, AnomalyKind};
use super::change::{Change, ChangeKind};
use super::context::Context;
use super::deadline_index::DeadlineIndex;
use super::fingerprint::fingerprint;
use super::key::{QuestionId, SessionKey};
use super::link_state::{EventNovelty, LinkState};
use super::machine_observer::Observer;
use super::machines::QuestionRun;
use super::model::{Phase, Session};
use super::question::{AnswerReach, CloseReason, Question};
use super::question_store::QuestionStore;
use super::session_store::SessionStore;
use super::token_memory::Tokens;
use super::waiting_lists::{EarlyEvents, EventArrival};

/// The most first departures that are remembered, over all agents.
const MOST_TOLD: usize = 4096;

/// Counts of what was dropped or forgotten because of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DroppedCounts {
    /// Ended sessions that were forgotten.
    pub sessions: u64,
    /// Running sessions that were forgotten, because more than the bound ran at once.
    pub running_sessions: u64,
    /// Duplicate events.
    pub duplicates: u64,
    /// Running tools that were forgotten because a session had too many.
    pub tools: u64,
    /// Outputs that were forgotten because a session had too many.
    pub outputs: u64,
    /// Closed questions that were forgotten.
    pub questions: u64,
    /// Questions that were never asked because too many were open.
    pub unasked: u64,
}

/// Every session, question and link; the only place that changes them.
#[derive(Debug, Clone, Default)]
pub struct Sessions {
    pub(super) sessions: SessionStore,
    /// The number of sessions begun since the program started.
    pub(super) begun: u64,
    pub(super) links: BTreeMap<LinkId, LinkState>,
    pub(super) questions: QuestionStore,
    /// The due times of the questions, computed when needed.
    pub(super) dues: RefCell<DeadlineIndex>,
    /// How many times the estimate of a link's clock changed.
    pub(super) skewed: u64,
    /// The count of question changes at which no more could be raised and none waited for the end of a replay.
    pub(super) settled: Option<u64>,
    pub(super) closed: VecDeque<QuestionId>,
    pub(super) closed_bytes: usize,
    /// The last confirmations that the person or silence decided.
    pub(super) decided: VecDeque<QuestionId>,
    /// Questions of a lost link that the replay on the new connection has shown again.
    pub(super) shown_again: Vec<QuestionId>,
    pub(super) next_prompt: u64,
    pub(super) reported_anomalies: BTreeSet<(SessionKey, AnomalyKind)>,
    pub(super) waiting: EarlyEvents,
    pub(super) tokens: BTreeMap<LinkId, Tokens>,
    pub(super) freed: Vec<QuestionId>,
    pub(super) dropped: DroppedCounts,
}

impl Sessions {
    /// Adds a link. `answerable` is false for recordings and pipes.
    pub fn add_link(&mut self, link: LinkId, answerable: bool) {
        self.links.insert(link, LinkState::new(answerable));
        self.skewed += 1;
    }

    /// Notes that the question in an upcoming event can't be answered from here.
    pub fn only_shown(&mut self, link: LinkId, event: &Event) {
        let token = event.reply_token();
        if let (Some(token), Some(state)) = (token, self.links.get_mut(&link)) {
            state.only_shows(token.clone());
        }
    }

    /// Notes that a link goes to another machine, whose clock may be wrong.
    pub fn link_leaves_machine(&mut self, link: LinkId) {
        if let Some(link) = self.links.get_mut(&link) {
            link.leave_machine();
        }
    }

    /// Notes that a link is up: old events may be replayed now.
    pub fn link_connected(&mut self, link: LinkId, now: Now) {
        if let Some(state) = self.links.get_mut(&link) {
            state.connected(now);
        }
        // Questions that waited for room because they could not be answered may have room now.
        self.settled = None;
    }

    /// Notes that a link's missed messages come next: they are old news, and one may decide a question of
    /// another.
    pub fn link_missed(&mut self, link: LinkId, now: Now) {
        if let Some(state) = self.links.get_mut(&link) {
            state.missed(now);
        }
    }

    /// Notes that the missed messages have arrived, and returns the changes: the questions that are still open
    /// are raised.
    pub fn link_caught_up(&mut self, link: LinkId, now: Now) -> Vec<Change> {
        if let Some(state) = self.links.get_mut(&link) {
            state.caught_up();
        }
        self.settled = None;
        let mut changes = Vec::new();
        self.raise_due(now, &mut changes);
        changes
    }

    /// Notes that a link is down, and returns the open questions whose fate is now unknown.
    ///
    /// An answer that was only written to the link may not have been read.
    pub fn link_lost(&mut self, link: LinkId, now: Now) -> Vec<QuestionId> {
        if let Some(state) = self.links.get_mut(&link) {
            state.lost();
        }
        let written: Vec<QuestionId> = self
            .questions
            .values()
            .filter(|question| question.key.link == link)
            .filter(|question| question.reply.run() == QuestionRun::Written)
            .map(|question| question.id)
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
        for id in self.open_on(link, AnswerReach::reaches) {
            let lost = |question: &mut Question| question.reach = AnswerReach::LinkLost;
            self.questions.change(id, lost);
            // A held question was never raised: its state is announced when it is raised.
            if !self.is_held(id) {
                unsure.push(id);
            }
        }
        unsure
    }

    /// Notes that the asking server is back: its questions can be answered.
    ///
    /// `standing` says how certain that is: [`AnswerReach::Live`] if the server recognised its own subscription,
    /// [`AnswerReach::Resumed`] if it only accepted the id of its last event.
    pub fn link_resumed(&mut self, link: LinkId, standing: AnswerReach, now: Now) -> Vec<Change> {
        let lost = self.open_on(link, |standing| standing == AnswerReach::LinkLost);
        for id in &lost {
            self.questions
                .change(*id, |question| question.reach = standing);
        }
        let back = lost.iter().filter_map(|id| self.raised(*id));
        back.filter(|question| question.is_answerable())
            .map(|question| {
                self.bare_change(question, now, ChangeKind::QuestionAnswerable(question.id))
            })
            .collect()
    }

    /// Returns the open questions of a link with a certain standing.
    fn open_on(&self, link: LinkId, is_so: impl Fn(AnswerReach) -> bool) -> Vec<QuestionId> {
        let of_it = |question: &&Question| {
            question.key.link == link && question.is_open() && is_so(question.reach)
        };
        let questions = self.questions.values().filter(of_it);
        questions.map(|question| question.id).collect()
    }

    /// Closes all questions of a link without an event. When a subscription ends, its unanswered questions are decided
    /// by their defaults (5.8.2).
    pub fn over(&mut self, link: LinkId, how: &CloseReason, now: Now) -> Vec<Change> {
        self.close_all(how, now, |question| question.key.link == link)
    }

    /// Closes the question of a link with this token as decided, while its session stays in its state.
    pub fn decided(
        &mut self,
        link: LinkId,
        token: &str,
        how: &CloseReason,
        now: Now,
    ) -> Vec<Change> {
        self.close_all(how, now, |question| {
            question.key.link == link
                && question
                    .body
                    .token()
                    .is_some_and(|own| own.reveal() == token)
        })
    }

    fn close_all(
        &mut self,
        how: &CloseReason,
        now: Now,
        is_meant: impl Fn(&Question) -> bool,
    ) -> Vec<Change> {
        let open: Vec<Question> = self
            .questions
            .values()
            .filter(|question| question.is_open() && is_meant(question))
            .cloned()
            .collect();
        let mut changes = Vec::new();
        for question in open {
            // A question that was never raised is closed silently.
            if self.is_held(question.id) {
                self.close(
                    question.id,
                    CloseReason::DecidedBefore,
                    now,
                    &mut NoObserver,
                );
                continue;
            }
            self.close(question.id, how.clone(), now, &mut NoObserver);
            let what = ChangeKind::QuestionClosed {
                question: question.id,
                reason: how.clone(),
            };
            changes.push(self.bare_change(&question, now, what));
        }
        changes
    }

    /// Notes that a link is down for good, and returns the open questions whose fate is now unknown, including those
    /// held back: no other connection will come to judge them.
    pub fn link_over(&mut self, link: LinkId, now: Now) -> Vec<QuestionId> {
        self.let_go(link);
        self.link_lost(link, now)
    }

    /// Notes that the person left a link: its running sessions are no longer followed, and its questions that were not
    /// answered here are closed. Returns the questions that are no longer asked.
    pub fn link_left(&mut self, link: LinkId, now: Now) -> Vec<QuestionId> {
        let mut over = self.link_over(link, now);
        let undecided: Vec<QuestionId> = self
            .open_questions()
            .filter(|question| question.key.link == link && question.answer().is_none())
            .map(|question| question.id)
            .collect();
        for id in &undecided {
            self.close(*id, CloseReason::LinkGone, now, &mut NoObserver);
        }
        self.sessions.leave(link);
        over.retain(|id| !undecided.contains(id));
        over.extend(undecided);
        over
    }

    /// Applies one event and returns what changed.
    pub fn apply(&mut self, link: LinkId, decoded: Box<Decoded>, now: Now) -> Vec<Change> {
        self.apply_observed(link, decoded, now, &mut NoObserver)
    }

    /// Applies one event, notifies an observer, and returns what changed.
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
        let mut arrived = EventArrival::Live;
        if let Some(id) = &envelope.event_id {
            match state.meet(&key.agent, id, fingerprint(&decoded)) {
                EventNovelty::First => {}
                EventNovelty::Again => {
                    self.dropped.duplicates += 1;
                    self.note_shown_again(&key, &decoded.event);
                    let mut changes = Vec::new();
                    self.revive_shown_again(now, &mut changes);
                    return changes;
                }
                EventNovelty::Different => arrived = EventArrival::UnderUsedId,
            }
        }
        let young = state.is_young(envelope.timestamp);
        // Nearly every event causes one change, and by default a list begins with room for four.
        let mut changes = Vec::with_capacity(1);
        if state.is_replayed(envelope.timestamp, now) {
            self.take_in_turn(
                &key,
                decoded,
                now,
                EventArrival::Replayed,
                observer,
                &mut changes,
            );
            changes
                .iter_mut()
                .for_each(|change| change.replayed &= !young);
            self.take_followers(&key, now, observer, &mut changes);
        } else {
            let is_news = state.skews.learn(envelope.host(), envelope.timestamp, now);
            self.skewed += u64::from(is_news);
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
        arrived: EventArrival,
        observer: &mut dyn Observer,
        changes: &mut Vec<Change>,
    ) {
        // Only the payload is moved; the envelope stays in place.
        let event = decoded.event;
        let (envelope, findings) = (&decoded.envelope, &decoded.findings);
        let replayed = arrived == EventArrival::Replayed;
        let mut context = Context::new(key, envelope, now, replayed, observer, changes);
        let invalid = findings
            .iter()
            .find(|finding| finding.severity == Severity::Error)
            .cloned();
        if let Some(finding) = invalid {
            self.anomaly(
                &mut context,
                AnomalyKind::Invalid,
                AnomalyDetail::Finding(finding),
            );
        }
        if arrived == EventArrival::UnderUsedId {
            self.anomaly(&mut context, AnomalyKind::EventIdReused, String::new());
        }
        self.take(&mut context, event);
    }

    /// Handles what is due by time alone.
    pub fn tick(&mut self, now: Now) -> Vec<Change> {
        self.tick_observed(now, &mut NoObserver)
    }

    /// Handles what is due by time alone, and notifies an observer of the steps.
    pub fn tick_observed(&mut self, now: Now, observer: &mut dyn Observer) -> Vec<Change> {
        let mut changes = Vec::new();
        self.release_overdue(now, observer, &mut changes);
        self.revive_shown_again(now, &mut changes);
        self.raise_due(now, &mut changes);
        self.tick_questions(now, &mut changes);
        self.tick_unasked(now, &mut changes);
        self.tell_freed(now, &mut changes);
        changes
    }

    /// Returns the monotonic time at which [`Sessions::tick`] has something to do.
    pub fn deadline(&self) -> Option<Duration> {
        let shown_again = self.shown_again.iter().filter_map(|id| {
            self.links
                .get(&self.questions.get(*id)?.key.link)?
                .burst_ends()
        });
        let questions = self.questions_due();
        let unasked = self.unasked_due();
        (questions.into_iter())
            .chain(unasked)
            .chain(shown_again)
            .chain(self.held_until())
            .chain(self.waiting.deadline())
            .min()
    }

    /// Returns a count that grows with each change of a question.
    pub fn questions_version(&self) -> u64 {
        self.questions.changes()
    }

    /// Returns the questions that changed since an earlier count; `None` if there were more than are
    /// remembered.
    pub fn asked_since(&self, asking: u64) -> Option<impl Iterator<Item = QuestionId>> {
        self.questions.changed_since(asking)
    }

    /// Returns the sessions in a stable order.
    pub fn iter(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    /// Returns how many sessions are running.
    pub fn running(&self) -> usize {
        self.sessions.running_count()
    }

    /// Returns one session.
    pub fn get(&self, key: &SessionKey) -> Option<&Session> {
        self.sessions.get(key)
    }

    /// Returns one question, open or closed, while it is remembered.
    pub fn question(&self, id: QuestionId) -> Option<&Question> {
        self.questions.get(id)
    }

    /// Returns the current state of a question, open or closed, which later changes do not affect.
    pub fn shared(&self, id: QuestionId) -> Option<Arc<Question>> {
        self.questions.shared(id)
    }

    /// Returns the open questions that were raised, in the order in which they were asked.
    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.raised()
    }

    /// Returns the open questions that can be answered, in the same order.
    pub fn answerable_questions(&self) -> impl Iterator<Item = &Question> {
        let answerable = self.questions.tally().answerable().iter();
        answerable.filter_map(|id| self.questions.get(*id))
    }

    /// Returns how many open questions can be answered, not counting the given ones.
    pub fn answerable_without(&self, left_out: impl Iterator<Item = QuestionId>) -> usize {
        let answerable = self.questions.tally().answerable();
        let left_out = left_out.filter(|id| answerable.contains(id));
        answerable.len() - left_out.count()
    }

    /// Returns one question if it was raised: held questions are not to be shown yet.
    pub fn raised(&self, id: QuestionId) -> Option<&Question> {
        self.questions
            .get(id)
            .filter(|question| question.unraised_reason.is_none())
    }

    /// Returns how many actions of a session the person rejected here.
    pub fn rejections(&self, key: &SessionKey) -> usize {
        let of = self.questions.of(key);
        of.filter(|question| question.was_rejected()).count()
    }

    /// Returns the session that another one is a part of (A.9, pattern 2), while it is remembered.
    pub fn parent(&self, session: &Session) -> Option<&Session> {
        if session.helps {
            return self.lead_of(&session.key);
        }
        let parent = session.parent.as_ref()?;
        self.sessions.of_any_agent(session.key.link, parent).next()
    }

    /// Returns the remembered sessions that work for another one under their own ids, directly or indirectly
    /// (A.9, pattern 2).
    pub fn linked_to(&self, key: &SessionKey) -> Vec<SessionId> {
        let mut all = vec![key.session.clone()];
        let mut at = 0;
        while let Some(parent) = all.get(at).cloned() {
            let of_link = self.sessions.values().filter(|it| it.key.link == key.link);
            let children = of_link.filter(|it| it.parent.as_ref() == Some(&parent));
            for child in children {
                if !all.contains(&child.key.session) {
                    all.push(child.key.session.clone());
                }
            }
            at += 1;
        }
        all.remove(0);
        all
    }

    /// Returns a count that grows with every change in what distinguishes agents and their runs: which exist, their
    /// names, and their requests.
    pub fn naming_version(&self) -> u64 {
        self.sessions.naming()
    }

    /// Returns the places of such changes since an earlier count, with the sessions there now; `None` if there
    /// were more than are remembered, and all have to be read again.
    pub fn named_since(
        &self,
        naming: u64,
    ) -> Option<impl Iterator<Item = (usize, Option<&Session>)>> {
        self.sessions.named_since(naming)
    }

    /// Returns whether announcements must name their agent or run: there are several agents, or two simultaneous runs
    /// of one.
    pub fn several(&self) -> bool {
        self.sessions.are_several()
    }

    /// Returns whether any session is still running.
    pub fn any_goes_on(&self) -> bool {
        self.sessions.any_goes_on()
    }

    /// Returns the counts of what was forgotten.
    pub fn dropped(&self) -> DroppedCounts {
        self.dropped
    }

    /// Reports a departure in the context's event, marked if it is the first of its kind from this agent on
    /// this link.
    pub(super) fn anomaly(
        &mut self,
        context: &mut Context,
        kind: AnomalyKind,
        detail: impl Into<AnomalyDetail>,
    ) {
        let about = SessionKey {
            session: crate::protocol::SessionId::from(""),
            ..context.key.clone()
        };
        // Beyond the bound, an agent's departures are no longer news.
        let first = self.reported_anomalies.len() < MOST_TOLD
            && self.reported_anomalies.insert((about, kind));
        context.push(ChangeKind::Anomaly(Anomaly {
            kind,
            detail: detail.into(),
            first,
        }));
    }

    pub(super) fn bare_change(&self, question: &Question, now: Now, what: ChangeKind) -> Change {
        Change {
            key: question.key.clone(),
            agent: question.agent.clone(),
            at: now,
            urgency: crate::protocol::Urgency::Normal,
            language: None,
            fallbacks: Vec::new(),
            direction: None,
            replayed: false,
            attached: Attachments::none(),
            correlation: None,
            kind: what,
        }
    }

    pub(super) fn refresh_phase(&mut self, key: &SessionKey) {
        let waiting = self
            .questions
            .open_of(key)
            .next()
            .map(|question| question.id);
        if let Some(session) = self.sessions.get_mut(key)
            && !session.is_ended()
        {
            session.phase = waiting.map_or(Phase::Running, Phase::Waiting);
        }
    }
}
