//! Events on a link, and the outputs of its dialect.
//!
//! Responsibilities: passing link events to the dialect, carrying out what follows, telling watchers that a source was
//! lost, is back, failed or has ended. Not here: what its events mean (`session`), who may answer (`watcher_answers`).

use std::collections::VecDeque;
use std::time::Duration;

use crate::app::{LinkOrder, SourceSetup};
use crate::dialect::fleet::{AnsweredBy, BridgeReport, Closed};
use crate::dialect::{
    self, Connection, Cx, Dialect, DialectOutput, DialectSetup, NoEvent, OpenQuestionsChange,
    QuestionEnd, recordable,
};
use crate::link::{Fault, LinkEvent, LinkId, Phrase, PhraseArg};
use crate::protocol::{Now, RecentValues, ReplyToken};
use crate::session::{self, CloseReason};

use super::Bridge;

/// How long events wait for the outcome of the answer that caused them.
const OUTCOME_TIME: Duration = Duration::from_secs(1);
/// The maximum number of events that wait for it.
const MOST_HELD: usize = 256;

/// One source of a bridge.
#[derive(Debug)]
pub(super) struct BridgedLink {
    pub(super) name: String,
    pub(super) machine: Box<dyn Dialect>,
    state: LinkState,
    /// Values shared by recent events, for reading the next.
    recent: RecentValues,
    /// How many messages could not be read.
    unread: u64,
    /// The events that wait for the outcome of an answer, and whether the question of each can only be seen
    /// here.
    held_events: VecDeque<(String, bool)>,
    /// When they wait no longer.
    held_until: Option<Duration>,
}

/// How far a source has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkState {
    /// It was never reached.
    New,
    /// It was reached and not lost.
    Up,
    /// It was lost.
    Lost,
    /// Nothing more comes.
    Over,
}

impl BridgedLink {
    pub(super) fn new(source: SourceSetup, start: DialectSetup) -> Self {
        Self {
            machine: dialect::open(source.dialect, start),
            name: source.name,
            state: LinkState::New,
            recent: RecentValues::default(),
            unread: 0,
            held_events: VecDeque::new(),
            held_until: None,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.state == LinkState::Over
    }

    /// Returns whether it was reached and not lost since.
    pub(super) fn is_up(&self) -> bool {
        self.state == LinkState::Up
    }

    pub(super) fn connection(&self) -> Connection {
        self.machine.connection()
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let machine = self.machine_due();
        [machine, self.held_until].into_iter().flatten().min()
    }

    fn machine_due(&self) -> Option<Duration> {
        self.machine.deadline().filter(|_| !self.is_over())
    }
}

impl Bridge {
    /// Handles what happened on a link.
    pub(super) fn link(&mut self, id: LinkId, event: LinkEvent, now: Now) {
        let Some(link) = self.links.get_mut(id.0) else {
            return;
        };
        let mut out = Vec::new();
        let cx = &mut Cx::new(now, &mut out);
        if link.is_over() {
            // Only the outcome of an answer still matters.
            if let LinkEvent::Replied { .. } | LinkEvent::Answered { .. } = event {
                link.machine.news(&event, cx);
                out.retain(|one| matches!(one, DialectOutput::Settled { .. }));
                self.carry_out(id, out, now);
            }
            return;
        }
        if let LinkEvent::Frame(frame) = &event
            && link.machine.passes(&frame.text)
        {
            out.push(DialectOutput::Event(frame.text.clone()));
            return self.carry_out(id, out, now);
        }
        link.machine.news(&event, cx);
        let goes_on = |one: &DialectOutput| {
            matches!(one, DialectOutput::ChangeWay(_) | DialectOutput::Close(_))
        };
        let goes_on = out.iter().any(goes_on);
        let rests = link.connection().rests;
        if matches!(event, LinkEvent::Connected) && !rests {
            self.sessions.link_connected(id, now);
        }
        if matches!(event, LinkEvent::Lost { .. }) {
            self.release(id, now);
        }
        self.carry_out(id, out, now);
        match event {
            LinkEvent::Connected => self.connected(id, now),
            LinkEvent::Lost { fault, .. } => self.lost(id, fault, now),
            LinkEvent::Failed { fault } if !goes_on => self.failed(id, fault, now),
            LinkEvent::Ended => self.ended(id, now),
            LinkEvent::Dropped { fault, count } => {
                let phrase = Phrase::new("link.dropped")
                    .with("count", PhraseArg::Own(count.to_string()))
                    .with("reason", PhraseArg::Fault(fault));
                self.notice(id, &phrase, now);
            }
            LinkEvent::Strangers { count } => {
                let count = PhraseArg::Own(count.to_string());
                let phrase = Phrase::new("link.strangers").with("count", count);
                self.notice(id, &phrase, now);
            }
            LinkEvent::Connecting { .. }
            | LinkEvent::Failed { .. }
            | LinkEvent::Resumed
            | LinkEvent::Frame(_)
            | LinkEvent::Replied { .. }
            | LinkEvent::Answered { .. }
            | LinkEvent::Silent { .. }
            | LinkEvent::Remark { .. }
            | LinkEvent::Missed { .. }
            | LinkEvent::CaughtUp
            | LinkEvent::Listening { .. }
            | LinkEvent::Request { .. }
            | LinkEvent::Lapsed { .. }
            | LinkEvent::Piece { .. }
            | LinkEvent::StreamEnded => {}
        }
    }

    fn connected(&mut self, id: LinkId, now: Now) {
        let was = self.enter(id, LinkState::Up);
        if was == Some(LinkState::Lost) {
            self.notice(id, &Phrase::new("link.back"), now);
        }
    }

    fn lost(&mut self, id: LinkId, fault: Fault, now: Now) {
        self.sessions.link_lost(id, now);
        let key = match self.enter(id, LinkState::Lost) {
            Some(LinkState::New) => "link.unreachable",
            Some(LinkState::Up) => "link.lost",
            Some(LinkState::Lost | LinkState::Over) | None => return,
        };
        let phrase = Phrase::new(key).with("reason", PhraseArg::Fault(fault));
        self.notice(id, &phrase, now);
    }

    fn failed(&mut self, id: LinkId, fault: Fault, now: Now) {
        self.sessions.link_over(id, now);
        self.enter(id, LinkState::Over);
        let phrase = Phrase::new("link.failed").with("reason", PhraseArg::Fault(fault));
        self.notice(id, &phrase, now);
        self.settle_over(id);
        self.publish_held(id);
        self.end_without_sources();
    }

    fn ended(&mut self, id: LinkId, now: Now) {
        self.sessions.link_over(id, now);
        self.enter(id, LinkState::Over);
        self.notice(id, &Phrase::new("link.ended"), now);
        self.settle_over(id);
        self.publish_held(id);
        self.end_without_sources();
    }

    /// Moves a link to a state and returns the previous one.
    fn enter(&mut self, id: LinkId, state: LinkState) -> Option<LinkState> {
        let link = self.links.get_mut(id.0)?;
        // A source that was never reached is not lost.
        let was = link.state;
        link.state = match (was, state) {
            (LinkState::New, LinkState::Lost) => LinkState::Lost,
            (_, state) => state,
        };
        Some(was)
    }

    /// Calls the dialects that are due.
    pub(super) fn tick_links(&mut self, now: Now) {
        for at in 0..self.links.len() {
            let link = &mut self.links[at];
            if link.held_until.is_some_and(|until| now.monotonic >= until) {
                self.publish_held(LinkId(at));
            }
            let link = &mut self.links[at];
            if link.machine_due().is_none_or(|due| now.monotonic < due) {
                continue;
            }
            let mut out = Vec::new();
            link.machine.tick(&mut Cx::new(now, &mut out));
            self.carry_out(LinkId(at), out, now);
        }
    }

    fn release(&mut self, id: LinkId, now: Now) {
        self.sessions.release_link(id, now);
    }

    /// Carries out one thing that a dialect wants.
    pub(super) fn carry_out_one(&mut self, id: LinkId, out: DialectOutput, now: Now) {
        let link = id;
        match out {
            DialectOutput::Event(text) => self.events(id, &text, false, now),
            DialectOutput::ViewOnly(text) => self.events(id, &text, true, now),
            DialectOutput::Unread(why, times) => {
                for _ in 0..times {
                    self.unread(id, &why, now);
                }
            }
            DialectOutput::Send { request, frame } => {
                let body = frame;
                self.order(link, LinkOrder::Send { request, body });
            }
            DialectOutput::Hand { request, message } => {
                self.order(link, LinkOrder::Hand { request, message });
            }
            DialectOutput::Call { request, call } => {
                self.order(link, LinkOrder::Call { request, call })
            }
            DialectOutput::CallService { request, call } => {
                self.order(link, LinkOrder::CallService { request, call });
            }
            DialectOutput::LeaveCall(request) => self.order(link, LinkOrder::LeaveCall(request)),
            DialectOutput::Respond { id, request, body } => {
                self.order(link, LinkOrder::Respond { id, request, body });
            }
            DialectOutput::Follow(stream) => self.order(link, LinkOrder::Follow(stream)),
            DialectOutput::Refuse(fault) => self.order(link, LinkOrder::Refuse(fault)),
            DialectOutput::LastWords(words) => self.order(link, LinkOrder::LastWords(words)),
            DialectOutput::Release => self.release(id, now),
            DialectOutput::ChangeWay(way) => {
                self.release(id, now);
                self.sessions.link_lost(id, now);
                self.order(link, LinkOrder::ChangeWay(way));
            }
            DialectOutput::Close(fault) => {
                self.order(link, LinkOrder::Close);
                self.failed(id, fault, now);
            }
            DialectOutput::Settled { request, outcome } => {
                self.settled(request, outcome, now);
                if !self.awaits_outcome(id) {
                    self.publish_held(id);
                }
            }
            DialectOutput::Standing(OpenQuestionsChange::Back) => {
                self.sessions
                    .link_resumed(id, session::AnswerReach::Live, now);
            }
            DialectOutput::Standing(OpenQuestionsChange::PerhapsBack) => {
                self.sessions
                    .link_resumed(id, session::AnswerReach::Resumed, now);
            }
            DialectOutput::Standing(OpenQuestionsChange::Decided) => {
                for token in self.open_on(id) {
                    self.close(id, &token, CloseReason::Unsubscribed, Closed::Default, now);
                }
            }
            DialectOutput::Decided { token, to } => {
                let how = CloseReason::StateLeft { to: to.clone() };
                self.close(
                    id,
                    &ReplyToken::new(token),
                    how,
                    Closed::Decided { to },
                    now,
                );
            }
            DialectOutput::Over { token, reason: how } => {
                let (how, closed) = match how {
                    QuestionEnd::Stopped => (CloseReason::Stopped, Closed::Stopped),
                    QuestionEnd::TakenBack => (CloseReason::TakenBack, Closed::TakenBack),
                    QuestionEnd::Default => (CloseReason::Unsubscribed, Closed::Default),
                    QuestionEnd::Forgotten => (CloseReason::Forgotten, Closed::TakenBack),
                };
                self.close(id, &ReplyToken::new(token), how, closed, now);
            }
            DialectOutput::AnsweredBy {
                token,
                person,
                answer,
            } => {
                let how = CloseReason::answered_by(person.as_deref(), &answer);
                let answered = AnsweredBy {
                    person,
                    answer,
                    at: now.wall,
                };
                let closed = Closed::Answered(answered);
                self.close(id, &ReplyToken::new(token), how, closed, now);
            }
            DialectOutput::Announce(phrase) | DialectOutput::Warn(phrase) => {
                self.notice(id, &phrase, now)
            }
            // These matter only to a person on this machine or to an observer: details, a capture's answers, a
            // name proven to this machine, steps of the dialect's own machines, what a person missed.
            DialectOutput::Detail(_)
            | DialectOutput::Missed(_)
            | DialectOutput::Recalled(_)
            | DialectOutput::Answered(_)
            | DialectOutput::Proven(_)
            | DialectOutput::Stepped(_) => {}
        }
    }

    /// Handles the texts of one or more events.
    fn events(&mut self, id: LinkId, text: &str, only_seen: bool, now: Now) {
        for text in recordable(text) {
            let Some(link) = self.links.get_mut(id.0) else {
                return;
            };
            match dialect::read_after(&text, &mut link.recent) {
                Ok(decoded) => {
                    if only_seen {
                        self.sessions.only_shown(id, &decoded.event);
                    }
                    let changes = self.sessions.apply(id, decoded, now);
                    self.publish_in_order(id, text, only_seen, now);
                    self.report_changes(&changes, now);
                }
                Err(why) => self.unread(id, &why, now),
            }
        }
    }

    /// Publishes an event, but not before a report on who answered the question that it closes: an agent may
    /// act on an answer before confirming it.
    fn publish_in_order(&mut self, id: LinkId, text: String, only_seen: bool, now: Now) {
        let waits = self.awaits_outcome(id);
        let Some(link) = self.links.get_mut(id.0) else {
            return;
        };
        if !waits && link.held_events.is_empty() {
            return self.publish(id, &text, only_seen);
        }
        link.held_events.push_back((text, only_seen));
        link.held_until.get_or_insert(now.monotonic + OUTCOME_TIME);
        if link.held_events.len() > MOST_HELD {
            self.publish_held(id);
        }
    }

    /// Publishes the events of a link that waited for the outcome of an answer.
    pub(super) fn publish_held(&mut self, id: LinkId) {
        let Some(link) = self.links.get_mut(id.0) else {
            return;
        };
        link.held_until = None;
        for (text, only_seen) in std::mem::take(&mut link.held_events) {
            self.publish(id, &text, only_seen);
        }
    }

    /// Counts an unreadable message, and tells watchers of the first, the tenth, the hundredth …
    fn unread(&mut self, id: LinkId, why: &NoEvent, now: Now) {
        let Some(link) = self.links.get_mut(id.0) else {
            return;
        };
        link.unread += 1;
        let count = link.unread;
        let digits = count.checked_ilog10().unwrap_or_default();
        if 10_u64.checked_pow(digits) != Some(count) {
            return;
        }
        let key = match why {
            NoEvent::Foreign(_) => "bridge.unread.foreign",
            NoEvent::Broken(_) => "bridge.unread",
        };
        let count = PhraseArg::Own(count.to_string());
        self.notice(id, &Phrase::new(key).with("n", count), now);
    }

    /// Closes a question, and reports how it ended.
    fn close(
        &mut self,
        id: LinkId,
        token: &ReplyToken,
        how: CloseReason,
        closed: Closed,
        now: Now,
    ) {
        self.sessions.decided(id, token.reveal(), &how, now);
        if let Some(question) = self.answers.closed(id, token, &closed) {
            let how = closed;
            self.report(
                BridgeReport::Closed {
                    question,
                    reason: how,
                },
                now,
            );
        }
    }

    /// Returns the tokens of the open questions of a link.
    fn open_on(&self, id: LinkId) -> Vec<ReplyToken> {
        let open = self.sessions.open_questions();
        let of_it = open.filter(|question| question.key.link == id);
        of_it
            .filter_map(|question| question.body.token().cloned())
            .collect()
    }
}
