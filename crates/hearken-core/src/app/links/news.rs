//! News of sources: up, down, what arrived, what was left out.
//!
//! Responsibilities: the order of a link's news, its dialect's wishes and the announcements of both; announcing each
//! turn once. Not here: what the turns are (`view`), the wishes (`wishes`).

use std::time::Duration;

use crate::announce::{Arg, Class, Kind};
use crate::dialect::{Connection, Cx, Out, Wish};
use crate::link::{Fault, LinkEvent, LinkId};
use crate::protocol::{AgentId, Answer, Now, Unobserved};
use crate::session::{AnomalyKind, Change, QuestionId, Standing, What};

use super::LinkView;
use super::reading::Answerability;
use super::start::StartWait;
use crate::app::App;

impl App {
    /// Handles what happened on a link.
    pub(in crate::app) fn link(&mut self, id: LinkId, event: LinkEvent, now: Now) {
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        let mut out = Vec::new();
        if view.is_over() {
            // The person left it; only the outcome of an answer still matters.
            if let LinkEvent::Replied { .. } | LinkEvent::Answered { .. } = event {
                view.dialect_mut().news(&event, &mut Cx::new(now, &mut out));
                out.retain(|wish| matches!(wish, Out::Settled { .. }));
                self.note_left(&event, &out);
                self.carry_out(id, out, now);
            }
            return;
        }
        let event = match event {
            LinkEvent::Frame(frame) if view.dialect_mut().passes(&frame.text) => {
                self.link_back(id, now);
                self.frame(id, frame.text, Answerability::ToBeAnswered, now);
                return self.settle_over(id, now);
            }
            event => event,
        };
        match &event {
            LinkEvent::Connecting { attempt } => view.connecting(*attempt, now),
            LinkEvent::Connected => {
                view.met();
                // A connection that belongs to a single run brings nothing from before.
                if !view.connection().rests {
                    self.cx.sessions.link_connected(id, now);
                }
            }
            LinkEvent::Frame(_) | LinkEvent::Piece { .. } => self.link_back(id, now),
            LinkEvent::Lost { .. } => self.release(id, now),
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
            | LinkEvent::StreamEnded => {}
        }
        if let Some(view) = self.links.get_mut(id) {
            view.dialect_mut().news(&event, &mut Cx::new(now, &mut out));
        }
        match &event {
            LinkEvent::Frame(frame) => self.keep_raw(id, &frame.text, &out),
            LinkEvent::Piece { text, .. } => self.keep_raw(id, text, &out),
            LinkEvent::Request { request, .. } => self.keep_raw(id, &request.body, &out),
            LinkEvent::Connecting { .. }
            | LinkEvent::Connected
            | LinkEvent::Resumed
            | LinkEvent::Lost { .. }
            | LinkEvent::Failed { .. }
            | LinkEvent::Ended
            | LinkEvent::Replied { .. }
            | LinkEvent::Answered { .. }
            | LinkEvent::Silent { .. }
            | LinkEvent::Remark { .. }
            | LinkEvent::Dropped { .. }
            | LinkEvent::Listening { .. }
            | LinkEvent::Lapsed { .. }
            | LinkEvent::Strangers { .. }
            | LinkEvent::StreamEnded => {}
        }
        // Another way was found, or the reason is already announced.
        let goes_on = |wish: &Out| matches!(wish, Out::ChangeWay(_) | Out::Close(_));
        let goes_on = out.iter().any(goes_on);
        self.note_left(&event, &out);
        // The outcomes of the answers are announced once it is clear that none is sent again.
        let is_end = !goes_on && matches!(event, LinkEvent::Failed { .. } | LinkEvent::Ended);
        let is_settled = |wish: &mut Out| is_end && matches!(wish, Out::Settled { .. });
        let settled: Vec<Out> = out.extract_if(.., is_settled).collect();
        self.carry_out(id, out, now);
        if !matches!(event, LinkEvent::Frame(_)) {
            self.read_to_its_end(now);
        }
        match event {
            LinkEvent::Connected => self.connected(id, now),
            LinkEvent::Lost { fault, .. } => self.lost(id, &fault, now),
            LinkEvent::Failed { fault } => {
                if !goes_on {
                    self.failed(id, &fault, now);
                }
            }
            LinkEvent::Ended => self.ended(id, now),
            LinkEvent::Remark { line } => self.remark(id, line),
            LinkEvent::Silent { seconds } => self.silent(id, seconds, now),
            LinkEvent::Dropped { fault, count } => self.dropped(id, &fault, count, now),
            LinkEvent::Strangers { count } => {
                let args = [("count", Arg::own(count))];
                self.cx.say(Class::Outcome, Kind::Connection, "link.strangers", &args, now);
            }
            LinkEvent::Connecting { .. }
            | LinkEvent::Resumed
            | LinkEvent::Frame(_)
            | LinkEvent::Replied { .. }
            | LinkEvent::Answered { .. }
            // A listening source's requests, and what is followed next, are its dialect's business.
            | LinkEvent::Listening { .. }
            | LinkEvent::Request { .. }
            | LinkEvent::Lapsed { .. }
            | LinkEvent::Piece { .. }
            | LinkEvent::StreamEnded => {}
        }
        self.carry_out(id, settled, now);
    }

    /// Notes that the transport has reported on an answer, if that alone settles nothing.
    fn note_left(&mut self, event: &LinkEvent, out: &[Out]) {
        let LinkEvent::Replied { request, .. } = event else {
            return;
        };
        let settles =
            |wish: &Out| matches!(wish, Out::Settled { request: of, .. } if of == request);
        if !out.iter().any(settles) {
            self.questions.has_left(*request);
        }
    }

    fn dropped(&mut self, id: LinkId, fault: &Fault, count: u64, now: Now) {
        let reason = self.cx.fault_words(fault);
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        view.wait(StartWait::Over);
        view.dropped += count;
        let args = [
            ("count", Arg::own(count)),
            ("source", Arg::Own(view.name.clone())),
            ("reason", Arg::Own(reason)),
        ];
        self.cx
            .say(Class::Outcome, Kind::Connection, "link.dropped", &args, now);
    }

    fn connected(&mut self, id: LinkId, now: Now) {
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        if view.is_over() || !view.connected(now) {
            return;
        }
        let how = match (view.answerable, view.connection().how) {
            (true, Some(how)) => self.cx.phrases().text(how, &[]),
            (false, _) | (true, None) => String::new(),
        };
        let made = view.recording.as_ref().map(|recording| recording.made);
        let source = ("source", Arg::Own(view.name.clone()));
        match made {
            None => {
                let args = [source, ("how", Arg::Own(how))];
                // A single source needs no name; how it connected is a detail.
                let short = match self.links.len() {
                    0 | 1 => "link.connected.only",
                    _ => "link.connected.short",
                };
                let announcement = self.cx.announcer.say_in_short(
                    (Class::Outcome, Kind::Connection),
                    ("link.connected", short),
                    &args,
                    now,
                );
                self.cx.emit(announcement, now);
            }
            Some(made) => {
                let made = made.map(|made| made.strftime("%Y-%m-%d %H:%M UTC").to_string());
                let made = ("made", Arg::own(made.unwrap_or_default()));
                let key = "replay.started";
                self.cx
                    .say(Class::Outcome, Kind::Connection, key, &[source, made], now);
            }
        }
    }

    /// Announces that a link is back.
    fn link_back(&mut self, id: LinkId, now: Now) {
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        if view.is_back() {
            let args = [("source", Arg::Own(view.name.clone()))];
            self.cx
                .say(Class::Outcome, Kind::Connection, "link.back", &args, now);
        }
    }

    /// Announces the links that stayed up long enough to count as back.
    pub(in crate::app) fn tick_links(&mut self, now: Now) {
        let steady: Vec<LinkId> = self
            .links
            .iter()
            .filter(|view| view.is_steady(now))
            .map(|view| view.id)
            .collect();
        for id in steady {
            self.link_back(id, now);
        }
        let resumed: Vec<(LinkId, Standing)> = self
            .links
            .all
            .iter_mut()
            .filter_map(|view| Some((view.id, view.take_resumed(now)?)))
            .collect();
        for (id, standing) in resumed {
            // A server that waits for the answer sends nothing more by itself: without this, the person could not give
            // it. A server that knows its own subscription is the one that asked. One that resumes after the id of an
            // event would have had to report its state if it could not (B.1.5), but may simply not know better.
            let changes = self.cx.sessions.link_resumed(id, standing, now);
            if !changes.is_empty() {
                self.questions.note_change(now.monotonic);
            }
            self.tell(changes, now);
        }
    }

    /// Ticks the dialects that are due.
    pub(in crate::app) fn tick_dialects(&mut self, now: Now) {
        let due: Vec<LinkId> = self
            .links
            .iter()
            .filter(|view| view.dialect_due().is_some_and(|at| now.monotonic >= at))
            .map(|view| view.id)
            .collect();
        for id in due {
            let mut out = Vec::new();
            if let Some(view) = self.links.get_mut(id) {
                view.dialect_mut().tick(&mut Cx::new(now, &mut out));
            }
            self.carry_out(id, out, now);
        }
    }

    /// Announces which answer was sent while a recording was made.
    pub(super) fn tell_recorded(
        &mut self,
        id: LinkId,
        number: u64,
        question: QuestionId,
        now: Now,
    ) {
        let answer = self
            .links
            .get(id)
            .and_then(|view| view.recording.as_ref()?.answers.get(&number))
            .map(|(answer, _)| answer.clone());
        if let Some(answer) = answer {
            self.tell_recorded_answer(question, answer, now);
        }
    }

    /// Announces the answer to a question, as a recording or a capture shows it.
    pub(super) fn tell_recorded_answer(&mut self, question: QuestionId, answer: Answer, now: Now) {
        if let Some(question) = self.cx.sessions.question(question).cloned() {
            let words = self.cx.announcer.answer_words(&question, &answer);
            let args = [("n", Arg::own(question.id.0)), ("answer", Arg::Own(words))];
            self.cx
                .tell_about(Class::Alert, &question, "question.recorded", &args, now);
            let id = question.id;
            let changes = self
                .cx
                .sessions
                .answered_before(id, answer, now, &mut Unobserved);
            self.tell(changes, now);
        }
    }

    /// Releases what a link still held back, because nothing more comes that it could wait for.
    pub(in crate::app) fn release(&mut self, id: LinkId, now: Now) {
        let changes = self.cx.sessions.release_link(id, now);
        self.tell(changes, now);
    }

    fn lost(&mut self, id: LinkId, fault: &Fault, now: Now) {
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        let rests = view.connection().rests;
        // The dialect reports what a lost run was for; nothing is retried automatically.
        if let Some(key) = view.lost().filter(|_| !rests) {
            let args = [
                ("source", Arg::Own(view.name.clone())),
                ("reason", Arg::Own(self.cx.fault_words(fault))),
            ];
            self.cx
                .say(Class::Outcome, Kind::Connection, key, &args, now);
        }
        self.unsure(id, now);
    }

    pub(super) fn failed(&mut self, id: LinkId, fault: &Fault, now: Now) {
        self.end_beginning(id, now);
        self.release(id, now);
        self.say_rest(id, now);
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        view.failed();
        let name = view.name.clone();
        let program = view.program;
        // The fate of an agent behind a network is unknown; a program's agent is gone with it.
        let cut = if program {
            self.cut_short(id)
        } else {
            String::new()
        };
        let remedy = remedy(fault).map(|key| self.cx.phrases().text(key, &[]));
        let more = [remedy.unwrap_or_default(), cut, self.has_remarked(id)];
        let more: Vec<String> = more.into_iter().filter(|it| !it.is_empty()).collect();
        let args = [
            ("source", Arg::Own(name)),
            ("reason", Arg::Own(self.cx.fault_words(fault))),
            ("more", Arg::Own(more.join(" "))),
        ];
        self.cx
            .say(Class::Outcome, Kind::Connection, "link.failed", &args, now);
        self.unsure(id, now);
    }

    fn ended(&mut self, id: LinkId, now: Now) {
        self.end_beginning(id, now);
        self.release(id, now);
        self.say_rest(id, now);
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        view.ended();
        let key = if view.recording.is_some() {
            "replay.ended"
        } else {
            "link.ended"
        };
        let source = ("source", Arg::Own(view.name.clone()));
        let args = [source, ("more", Arg::Own(self.cut_short(id)))];
        self.cx
            .say(Class::Outcome, Kind::Connection, key, &args, now);
        self.unsure(id, now);
    }

    /// Announces the rest of an agent's texts, before the news that nothing more comes.
    fn say_rest(&mut self, id: LinkId, now: Now) {
        for told in self.cx.announcer.flush_link(id, now, &self.cx.sessions) {
            self.cx.emit(told, now);
        }
    }

    /// Announces the fate of each question whose link is gone.
    pub(super) fn unsure(&mut self, id: LinkId, now: Now) {
        let over = self.links.get(id).is_some_and(LinkView::is_over);
        let rests = |view: &LinkView| view.connection().rests;
        if !over && self.links.get(id).is_some_and(rests) {
            // Questions there depend on no connection.
            return;
        }
        let unsure = if over {
            self.cx.sessions.link_over(id, now)
        } else {
            self.cx.sessions.link_lost(id, now)
        };
        for question in unsure {
            let Some(question) = self.cx.sessions.question(question).cloned() else {
                continue;
            };
            let wishes = self.cx.queue.withdraw(question.id, now.monotonic);
            self.cx.wish(wishes);
            let (key, args) = self.cx.announcer.unsure(&question);
            self.cx.tell_about(Class::Alert, &question, key, &args, now);
            self.questions.note_loss_told(question.id);
        }
        self.questions.note_change(now.monotonic);
    }

    /// Announces an unexplained silence, ever more rarely.
    fn silent(&mut self, id: LinkId, seconds: u64, now: Now) {
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        if !view.is_long_silent(seconds) {
            return;
        }
        let source = ("source", Arg::Own(view.name.clone()));
        // Above a minute the seconds do not matter.
        let whole = seconds.checked_rem(60).filter(|_| seconds >= 60);
        let time = Duration::from_secs(seconds.saturating_sub(whole.unwrap_or(0)));
        let args = [source, ("time", Arg::Own(self.cx.announcer.time(time)))];
        self.cx
            .say(Class::Outcome, Kind::Connection, "link.silent", &args, now);
    }

    /// Passes the person's current terms on to every source.
    pub(in crate::app) fn change_terms(&mut self, now: Now) {
        for at in 0..self.links.len() {
            let id = LinkId(at);
            let terms = super::terms(&self.cx.announcer, &self.cx.queue, id);
            let out = self.links.want(id, &Wish::Terms(terms), now);
            self.carry_out(id, out, now);
        }
    }

    /// Keeps missing events of a source that was asked to leave some out (5.3.1.7) from being announced as a fault: the
    /// gaps in its numbers look like lost events, and go to the history alone.
    pub(in crate::app) fn excuse(&self, change: &mut Change) {
        let excused = |id: LinkId| {
            let view = self.links.get(id);
            view.is_some_and(|view| view.connection().leaves_out)
        };
        if let What::Anomaly(anomaly) = &mut change.what
            && anomaly.kind == AnomalyKind::SequenceGap
            && excused(change.key.link)
        {
            anomaly.first = false;
        }
    }

    /// Returns how a connected source is followed and which of its terms differ, for the status.
    pub(in crate::app) fn connection_words(&self, view: &LinkView) -> Option<String> {
        let Connection {
            how, terms, known, ..
        } = view.connection();
        let how = how.filter(|_| view.answerable)?;
        let phrases = self.cx.phrases();
        let args = [
            ("source", Arg::Own(view.name.clone())),
            ("how", Arg::Own(phrases.text(how, &[]))),
            ("terms", Arg::Own(self.all_words(&terms))),
        ];
        let mut words = phrases.text("status.connection", &args);
        for phrase in &known {
            let known = self.told_args(view.id, phrase);
            words.push(' ');
            words.push_str(&phrases.text(phrase.key, &known));
        }
        Some(words)
    }

    /// Announces, once per source, that an agent uses a name that was not proved there (10.4).
    pub(super) fn tell_claim(&mut self, id: LinkId, agent: &AgentId, name: &str, now: Now) {
        if !self.cx.announcer.trust().doubts(id, agent, name) {
            return;
        }
        let Some(view) = self.links.get_mut(id) else {
            return;
        };
        if !view.warns_of_claim() {
            return;
        }
        let args = [
            ("source", Arg::Own(view.name.clone())),
            ("agent", Arg::Name(name.to_owned())),
        ];
        self.cx
            .say(Class::Outcome, Kind::Connection, "proof.claim", &args, now);
    }
}

/// Returns the phrase key of the remedy for an unusable source, if one is known.
fn remedy(fault: &Fault) -> Option<&'static str> {
    match fault {
        // Whatever answers there is no agent that hearken can listen to.
        Fault::Status { status: 404, .. }
        | Fault::NotEventStream { .. }
        | Fault::NotWebSocket(_) => Some("remedy.address"),
        Fault::Status { status: 401, .. } => Some("remedy.token.status"),
        Fault::ClosedWith { code: 4002, .. } => Some("remedy.token"),
        Fault::Refused
        | Fault::UnknownHost
        | Fault::TimedOut
        | Fault::Closed
        | Fault::Status { .. }
        | Fault::Tls(_)
        | Fault::TooLarge { .. }
        | Fault::TooManyValues { .. }
        | Fault::Unusable(_)
        | Fault::ClosedWith { .. }
        | Fault::Exited { .. }
        | Fault::Killed { .. }
        | Fault::Rejected { .. }
        | Fault::OneWay
        | Fault::Other(_) => None,
    }
}
