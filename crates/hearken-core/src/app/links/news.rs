//! News of sources: up, down, what arrived, what was left out.
//!
//! Responsibilities: the order of a link's news, its dialect's outputs and the announcements of both; announcing
//! each change of state once. Not here: which changes there are (`source_view`), the outputs (`dialect_outputs`).

use std::time::Duration;

use crate::announce::{AnnouncementKind, Arg, Class, Segment};
use crate::dialect::{Connection, Cx, DialectOutput, PersonRequest};
use crate::link::{Fault, Frame, IncomingRequest, LinkEvent, LinkId};
use crate::protocol::{AgentId, Answer, NoObserver, Now};
use crate::session::{AnomalyKind, AnswerReach, Change, ChangeKind, QuestionId};

use super::start::StartWait;
use super::{LinkView, Links};
use crate::app::{Answerability, AppCx, AppFact, AppFacts, LinkOrder, LinkStep};

impl Links {
    /// Handles an event on a link, before its dialect does.
    pub(in crate::app) fn before_news(
        &mut self,
        id: LinkId,
        event: &LinkEvent,
        cx: &mut AppCx,
    ) -> AppFacts {
        let Some(view) = self.get_mut(id) else {
            return Vec::new();
        };
        match event {
            LinkEvent::Connecting { attempt } => view.connecting(*attempt, cx.now),
            LinkEvent::Connected => {
                view.met();
                // A connection for a single run brings nothing from earlier.
                if !view.connection().rests {
                    cx.sessions.link_connected(id, cx.now);
                }
            }
            LinkEvent::Frame(_) | LinkEvent::Piece { .. } => self.link_back(id, cx),
            LinkEvent::Lost { .. } => return vec![AppFact::Release(id)],
            LinkEvent::Missed { .. } => {
                cx.sessions.link_missed(id, cx.now);
                let from = cx.announcer.next_id();
                cx.catching_up.insert(id, from);
            }
            LinkEvent::Resumed
            | LinkEvent::Failed { .. }
            | LinkEvent::Ended
            | LinkEvent::Replied { .. }
            | LinkEvent::Answered { .. }
            | LinkEvent::Silent { .. }
            | LinkEvent::Remark { .. }
            | LinkEvent::Dropped { .. }
            | LinkEvent::Listening { .. }
            | LinkEvent::Request { .. }
            | LinkEvent::Lapsed { .. }
            | LinkEvent::Strangers { .. }
            | LinkEvent::CaughtUp
            | LinkEvent::StreamEnded => {}
        }
        Vec::new()
    }

    /// Announces what was missed, counts first, then asks the questions that are still open.
    pub(super) fn caught_up(&self, id: LinkId, cx: &mut AppCx) -> AppFacts {
        let Some(from) = cx.catching_up.get(&id).copied() else {
            return Vec::new();
        };
        // Text that still waits for the end of its sentence was also missed.
        for announcement in cx.announcer.flush_link(id, cx.now, &cx.sessions) {
            cx.emit(announcement);
        }
        cx.catching_up.remove(&id);
        let changes = cx.sessions.link_caught_up(id, cx.now);
        let asked = |change: &&Change| matches!(change.kind, ChangeKind::QuestionOpened(_));
        let open = changes.iter().filter(asked).count();
        let missed = cx
            .announcer
            .missed(from, open, &cx.sessions, |key| key.link == id);
        if let Some(args) = missed {
            cx.say(
                Class::Outcome,
                AnnouncementKind::Connection,
                "away.missed",
                &args,
            );
        }
        vec![AppFact::Changed(changes)]
    }

    /// Handles an event on a link that the person left; only the outcome of an answer still matters.
    pub(in crate::app) fn late_news(
        &mut self,
        id: LinkId,
        event: &LinkEvent,
        now: Now,
    ) -> AppFacts {
        let (LinkEvent::Replied { .. } | LinkEvent::Answered { .. }, Some(view)) =
            (event, self.get_mut(id))
        else {
            return Vec::new();
        };
        let mut out = Vec::new();
        view.dialect_mut().news(event, &mut Cx::new(now, &mut out));
        out.retain(|wish| matches!(wish, DialectOutput::Settled { .. }));
        let mut facts = has_left(event, &out);
        facts.push(AppFact::CarryOut(id, out));
        facts
    }

    /// Hands an event on a link to its dialect, and returns the facts that follow.
    pub(in crate::app) fn news(
        &mut self,
        id: LinkId,
        event: LinkEvent,
        cx: &mut AppCx,
    ) -> AppFacts {
        let Some(view) = self.get_mut(id) else {
            return Vec::new();
        };
        let mut out = Vec::new();
        let event = match event {
            LinkEvent::Frame(frame) if view.dialect_mut().passes(&frame.text) => {
                let mut facts = self.frame(id, frame.text, Answerability::ToBeAnswered, cx);
                facts.push(AppFact::CarryOut(id, Vec::new()));
                return facts;
            }
            event => event,
        };
        view.dialect_mut()
            .news(&event, &mut Cx::new(cx.now, &mut out));
        if let LinkEvent::Frame(Frame { text, .. })
        | LinkEvent::Piece { text, .. }
        | LinkEvent::Request {
            request: IncomingRequest { body: text, .. },
            ..
        } = &event
        {
            self.keep_raw(id, text, &out, cx);
        }
        // Another way was found, or the reason is already announced.
        let goes_on = |wish: &DialectOutput| {
            matches!(wish, DialectOutput::ChangeWay(_) | DialectOutput::Close(_))
        };
        let goes_on = out.iter().any(goes_on);
        let mut facts = has_left(&event, &out);
        // The outcomes of the answers are announced once it is clear that none is sent again.
        let is_end = !goes_on && matches!(event, LinkEvent::Failed { .. } | LinkEvent::Ended);
        let is_settled =
            |wish: &mut DialectOutput| is_end && matches!(wish, DialectOutput::Settled { .. });
        let settled: Vec<DialectOutput> = out.extract_if(.., is_settled).collect();
        facts.push(AppFact::CarryOut(id, out));
        if !matches!(event, LinkEvent::Frame(_)) {
            facts.push(AppFact::ReadOut);
        }
        if !(goes_on && matches!(event, LinkEvent::Failed { .. })) {
            facts.push(AppFact::Link(id, LinkStep::After(event)));
        }
        facts.push(AppFact::CarryOut(id, settled));
        facts
    }

    /// Handles an event on a link, after its dialect has.
    fn after_news(&mut self, id: LinkId, event: LinkEvent, cx: &mut AppCx) -> AppFacts {
        match event {
            LinkEvent::Connected => self.connected(id, cx),
            LinkEvent::Lost { fault, .. } => {
                let mut facts = self.caught_up(id, cx);
                facts.extend(self.lost(id, &fault, cx));
                return facts;
            }
            LinkEvent::Failed { fault } => {
                let mut facts = self.caught_up(id, cx);
                facts.extend(self.fail(id, fault));
                return facts;
            }
            LinkEvent::Ended => {
                let mut facts = self.caught_up(id, cx);
                facts.extend(self.end(id));
                return facts;
            }
            LinkEvent::Remark { line } => self.remark(id, line),
            LinkEvent::Silent { seconds } => self.silent(id, seconds, cx),
            LinkEvent::Dropped { fault, count } => self.dropped(id, &fault, count, cx),
            LinkEvent::Strangers { count } => {
                let args = [("count", Arg::own(count))];
                let (class, kind) = (Class::Outcome, AnnouncementKind::Connection);
                cx.say(class, kind, "link.strangers", &args);
            }
            LinkEvent::Connecting { .. }
            | LinkEvent::Resumed
            // Only the dialect knows whether everything under way has also arrived.
            | LinkEvent::Missed { .. }
            | LinkEvent::CaughtUp
            | LinkEvent::Frame(_)
            | LinkEvent::Replied { .. }
            | LinkEvent::Answered { .. }
            // The dialect handles a listening source's requests, and what to follow next.
            | LinkEvent::Listening { .. }
            | LinkEvent::Request { .. }
            | LinkEvent::Lapsed { .. }
            | LinkEvent::Piece { .. }
            | LinkEvent::StreamEnded => {}
        }
        Vec::new()
    }

    /// Does what comes next on a link, once everything before it is handled.
    pub(in crate::app) fn next_step(
        &mut self,
        id: LinkId,
        step: LinkStep,
        cx: &mut AppCx,
    ) -> AppFacts {
        match step {
            LinkStep::After(event) => self.after_news(id, event, cx),
            LinkStep::Within(wish) => self.carry_out_within(id, wish, cx),
            LinkStep::Event(decoded, asks) => self.event(id, decoded, asks, cx),
            LinkStep::Judge(why) => self.judge_alone(id, &why, cx),
            LinkStep::ForeignLeft => self.leave_foreign(id, cx),
            LinkStep::ChangeWay(way) => self.change_way(id, way, cx),
            LinkStep::Fail(fault) => self.failed(id, &fault, cx),
            LinkStep::End => self.ended(id, cx),
            LinkStep::Close => {
                cx.order(id, LinkOrder::Close);
                Vec::new()
            }
            LinkStep::Resumed(standing) => resumed(id, standing, cx),
            LinkStep::Left => self.left(id, cx),
        }
    }

    fn dropped(&mut self, id: LinkId, fault: &Fault, count: u64, cx: &mut AppCx) {
        let reason = cx.fault_words(fault);
        let Some(view) = self.get_mut(id) else {
            return;
        };
        view.wait(StartWait::Over);
        view.dropped += count;
        let args = [
            ("count", Arg::own(count)),
            ("source", Arg::Own(view.name.clone())),
            ("reason", Arg::Own(reason)),
        ];
        cx.say(
            Class::Outcome,
            AnnouncementKind::Connection,
            "link.dropped",
            &args,
        );
    }

    fn connected(&mut self, id: LinkId, cx: &mut AppCx) {
        let Some(view) = self.get_mut(id) else {
            return;
        };
        if view.is_over() || !view.connected(cx.now) {
            return;
        }
        let how = match (view.answerable, view.connection().method) {
            (true, Some(how)) => cx.phrases().text(how, &[]),
            (false, _) | (true, None) => String::new(),
        };
        let made = view.recording.as_ref().map(|recording| recording.made_at);
        let source = ("source", Arg::Own(view.name.clone()));
        match made {
            None => {
                let args = [source, ("how", Arg::Own(how))];
                // A single source needs no name, and how it connected is a detail.
                let short = match self.named() {
                    0 | 1 => "link.connected.only",
                    _ => "link.connected.short",
                };
                let announcement = cx.announcer.say_in_short(
                    (Class::Outcome, AnnouncementKind::Connection),
                    ("link.connected", short),
                    &args,
                    cx.now,
                );
                cx.emit(announcement);
            }
            Some(made) => {
                let made = made.map(|made| made.strftime("%Y-%m-%d %H:%M UTC").to_string());
                let made = ("made", Arg::own(made.unwrap_or_default()));
                let key = "replay.started";
                cx.say(
                    Class::Outcome,
                    AnnouncementKind::Connection,
                    key,
                    &[source, made],
                );
            }
        }
    }

    /// Announces that a link is back.
    fn link_back(&mut self, id: LinkId, cx: &mut AppCx) {
        let Some(view) = self.get_mut(id) else {
            return;
        };
        if view.is_back() {
            let args = [("source", Arg::Own(view.name.clone()))];
            cx.say(
                Class::Outcome,
                AnnouncementKind::Connection,
                "link.back",
                &args,
            );
        }
    }

    /// Announces the links that stayed up long enough to count as back.
    pub(in crate::app) fn tick_links(&mut self, cx: &mut AppCx) -> AppFacts {
        let steady = self.iter().filter(|view| view.is_steady(cx.now));
        let steady: Vec<LinkId> = steady.map(|view| view.id).collect();
        for id in steady {
            self.link_back(id, cx);
        }
        let all = self.all.iter_mut();
        let all_resumed = all.filter_map(|view| Some((view.id, view.take_resumed(cx.now)?)));
        let resumed = |(id, standing)| AppFact::Link(id, LinkStep::Resumed(standing));
        all_resumed.map(resumed).collect()
    }

    /// Returns the links whose dialects are due.
    pub(in crate::app) fn due_dialects(&self, now: Now) -> Vec<LinkId> {
        let due = |view: &&LinkView| view.dialect_due().is_some_and(|at| now.monotonic >= at);
        let due = self.iter().filter(due);
        due.map(|view| view.id).collect()
    }

    /// Calls a dialect that is due.
    pub(in crate::app) fn tick_dialect(&mut self, id: LinkId, now: Now) -> AppFact {
        let mut out = Vec::new();
        if let Some(view) = self.get_mut(id) {
            view.dialect_mut().tick(&mut Cx::new(now, &mut out));
        }
        AppFact::CarryOut(id, out)
    }

    /// Announces which answer was sent while a recording was made.
    pub(in crate::app) fn tell_recorded(
        &self,
        id: LinkId,
        number: u64,
        question: QuestionId,
        cx: &mut AppCx,
    ) -> AppFacts {
        let answer = self
            .get(id)
            .and_then(|view| view.recording.as_ref()?.answers.get(&number))
            .map(|(answer, _)| answer.clone());
        match answer {
            Some(answer) => self.tell_recorded_answer(question, answer, cx),
            None => Vec::new(),
        }
    }

    /// Announces the answer to a question, as a recording or a capture shows it.
    pub(super) fn tell_recorded_answer(
        &self,
        question: QuestionId,
        answer: Answer,
        cx: &mut AppCx,
    ) -> AppFacts {
        let Some(question) = cx.sessions.shared(question) else {
            return Vec::new();
        };
        let words = cx.announcer.answer_words(&question, &answer);
        let args = [("n", Arg::own(question.id.0)), ("answer", Arg::Own(words))];
        cx.tell_about(Class::Alert, &question, "question.recorded", &args);
        let id = question.id;
        let changes = cx
            .sessions
            .answered_before(id, answer, cx.now, &mut NoObserver);
        vec![AppFact::Changed(changes)]
    }

    /// Announces an unexplained silence, at growing intervals.
    fn silent(&mut self, id: LinkId, seconds: u64, cx: &mut AppCx) {
        let Some(view) = self.get_mut(id) else {
            return;
        };
        if !view.is_long_silent(seconds) {
            return;
        }
        let source = ("source", Arg::Own(view.name.clone()));
        // Above a minute, seconds do not matter.
        let whole = seconds.checked_rem(60).filter(|_| seconds >= 60);
        let time = Duration::from_secs(seconds.saturating_sub(whole.unwrap_or(0)));
        let args = [source, ("time", Arg::Own(cx.announcer.time(time)))];
        cx.say(
            Class::Outcome,
            AnnouncementKind::Connection,
            "link.silent",
            &args,
        );
    }

    /// Passes the person's current terms on to a source.
    pub(in crate::app) fn tell_terms(&mut self, id: LinkId, cx: &AppCx) -> AppFact {
        let terms = super::terms(&cx.announcer, &cx.queue, id);
        AppFact::CarryOut(id, self.want(id, &PersonRequest::Terms(terms), cx.now))
    }

    /// Keeps gaps from being announced as faults on a source that was asked to leave events out (5.3.1.7): gaps
    /// in its numbers look like lost events, and go only to the history.
    pub(in crate::app) fn excuse(&self, change: &mut Change) {
        let excused = |id: LinkId| {
            let view = self.get(id);
            view.is_some_and(|view| view.connection().leaves_out)
        };
        if let ChangeKind::Anomaly(anomaly) = &mut change.kind
            && anomaly.kind == AnomalyKind::SequenceGap
            && excused(change.key.link)
        {
            anomaly.first = false;
        }
    }

    /// Returns how a connected source is followed and which of its terms differ, for the status.
    pub(in crate::app) fn connection_words(
        &self,
        view: &LinkView,
        cx: &AppCx,
    ) -> Option<Vec<Segment>> {
        let Connection {
            method: how,
            terms,
            facts: known,
            ..
        } = view.connection();
        let how = how.filter(|_| view.answerable)?;
        let phrases = cx.phrases();
        let args = [
            ("source", Arg::Own(view.name.clone())),
            ("how", Arg::Own(phrases.text(how, &[]))),
            ("terms", Arg::Own(self.all_words(&terms, cx))),
        ];
        let mut words = vec![Segment::own(phrases.text("status.connection", &args))];
        for phrase in &known {
            let known = self.told_args(view.id, phrase, cx);
            words.extend(cx.words(phrase.key, &known));
        }
        Some(words)
    }

    /// Announces, once per source, that an agent uses a name that was not proved there (10.4).
    pub(super) fn tell_claim(&mut self, id: LinkId, agent: &AgentId, name: &str, cx: &mut AppCx) {
        if !cx.announcer.trust().doubts(id, agent, name) {
            return;
        }
        let Some(view) = self.get_mut(id) else {
            return;
        };
        if !view.warns_of_claim() {
            return;
        }
        let args = [
            ("source", Arg::Own(view.name.clone())),
            ("agent", Arg::Name(name.to_owned())),
        ];
        cx.say(
            Class::Outcome,
            AnnouncementKind::Connection,
            "proof.claim",
            &args,
        );
    }
}

/// Returns the fact that the transport has reported on an answer, if that report alone settles nothing.
fn has_left(event: &LinkEvent, out: &[DialectOutput]) -> AppFacts {
    let LinkEvent::Replied { request, .. } = event else {
        return Vec::new();
    };
    let settles = |wish: &DialectOutput| matches!(wish, DialectOutput::Settled { request: of, .. } if of == request);
    match out.iter().any(settles) {
        true => Vec::new(),
        false => vec![AppFact::RequestWritten(*request)],
    }
}

fn resumed(id: LinkId, standing: AnswerReach, cx: &mut AppCx) -> AppFacts {
    // A server that waits for an answer sends nothing more unprompted, so without this the person could not
    // answer. A server that knows its own subscription is the one that asked. A server that claims to resume
    // after an event's id must say so if it can't (B.1.5), but may be wrong.
    let changes = cx.sessions.link_resumed(id, standing, cx.now);
    if changes.is_empty() {
        return Vec::new();
    }
    vec![AppFact::QuestionsChanged, AppFact::Changed(changes)]
}
