//! Passing facts from one part to the parts that act on them, and firing due timers.
//!
//! Responsibilities: which part handles a fact, and in which order. Not here: commands (`commands`), what each
//! part does.
//!
//! # Mental model
//! Facts go depth first: everything that follows from one is handled before the next. So all announcements of
//! an event come before those of the next one.

use std::time::Duration;

use crate::dialect::{DialectOutput, PersonRequest};
use crate::link::{DeliveryFailure, Fault, LinkEvent, LinkId};
use crate::session::{Change, ChangeKind, SessionEndEvent, SessionKey};

use crate::announce::AnswerMethod;

use super::key_input::scanning::{Prompting, ScanScene};
use super::timers::{FiringRule, Timer, TimerTurn};
use super::{App, Effect, Exit, LinkView};
use super::{AppFact, AppFacts};

/// What dialects say of a prompt that they do not take.
const REFUSALS: [&str; 3] = ["prompt.nobody", "prompt.too_many", "prompt.only_heard"];

impl App {
    /// Has facts handled, each with everything that follows from it before the next one.
    pub(super) fn pass(&mut self, facts: AppFacts) {
        for fact in facts {
            match fact {
                AppFact::Command(command, by) => self.run(command, by),
                AppFact::Typed => self.key_input.tell_typed(&mut self.cx),
                AppFact::ItemChosen => {
                    let scene = self.scan_scene();
                    self.key_input.keep_selected(scene, &self.cx);
                }
                AppFact::StopSpeech => self.questions.stop_speech(&mut self.cx),
                AppFact::Detailed(Some(question)) => {
                    self.review.offer_changes(question, &mut self.cx);
                }
                AppFact::Detailed(None) => self.review.tell_facts(&mut self.cx),
                AppFact::Joined(conversation) => {
                    self.questions.turn_to_one_of(&conversation, &mut self.cx);
                    let facts = self.fleet.go_to(&conversation, &self.links, &mut self.cx);
                    self.pass(facts);
                }
                AppFact::Selected(link, agents) => {
                    let wishes = self.links.select(link, agents.as_deref(), self.cx.now);
                    self.carry_out(link, wishes);
                }
                AppFact::Request(link, wish) => {
                    let facts = self.fleet.wanted(link, &wish, &self.links, &mut self.cx);
                    self.pass(facts);
                    self.want(link, &wish);
                }
                AppFact::Prompted(link, wish, text, agent) => {
                    let facts = self.fleet.wanted(link, &wish, &self.links, &mut self.cx);
                    self.pass(facts);
                    self.prompt(link, &wish, &text, agent.as_deref());
                }
                AppFact::StopSent(whom, number) => {
                    self.prompts
                        .stop_sent(whom, number, &self.links, self.cx.now)
                }
                AppFact::Answered(link, request, reply) => {
                    let wishes = self.links.reply(link, request, &reply, self.cx.now);
                    self.carry_out(link, wishes);
                }
                AppFact::Submitted(question) => self.questions.submitted(question, &mut self.cx),
                AppFact::Changed(changes) => self.announce(changes),
                AppFact::Applied(link, changes, number) => self.applied(link, changes, number),
                AppFact::Release(link) => {
                    let changes = self.cx.sessions.release_link(link, self.cx.now);
                    self.announce(changes);
                }
                AppFact::CarryOut(link, wishes) => self.carry_out(link, wishes),
                AppFact::Unread(link, why, times) => {
                    for _ in 0..times {
                        let facts = self.links.unread(link, &why, &mut self.cx);
                        self.pass(facts);
                    }
                }
                AppFact::ReadOn => self.read_on(),
                AppFact::ReadOut => self.read_to_its_end(),
                AppFact::Link(link, step) => {
                    let facts = self.links.next_step(link, step, &mut self.cx);
                    self.pass(facts);
                }
                AppFact::Heard(link, agent) => self.prompts.heard(link, &agent, self.cx.now),
                AppFact::SourceActive(link) => self.prompts.stir(link, self.cx.now),
                AppFact::RequestWritten(request) => self.questions.has_left(request),
                AppFact::Settled(request, outcome) => {
                    let facts = self.questions.replied(request, outcome, &mut self.cx);
                    self.pass(facts);
                }
                AppFact::LossAnnounced(questions) => {
                    for question in questions {
                        self.questions.note_loss_told(question);
                    }
                    self.questions.note_change(self.cx.now.monotonic);
                }
                AppFact::QuestionsChanged => self.questions.note_change(self.cx.now.monotonic),
                AppFact::SourceFailed => self.run.note_failure(),
                AppFact::Quit(exit) => self.quit(exit),
            }
        }
    }

    /// Returns what scanning needs to know about the questions and the agents.
    pub(super) fn scan_scene(&self) -> ScanScene {
        let (prompts, links) = (&self.prompts, &self.links);
        let prompting = match prompts.takes_prompts(links) {
            false => Prompting::Never,
            true if prompts.stops_work(links) => Prompting::Stoppable,
            true if prompts.is_idle(links, &self.cx) => Prompting::Idle,
            true => Prompting::Busy,
        };
        ScanScene::new(
            self.questions.shown_id(),
            self.questions.has_told_shown_whole(&self.cx),
            self.questions.meant(&self.cx),
            prompting,
        )
    }

    /// Sends a prompt. The history keeps it unless it is refused at once, and whoever listens hears that it is sent.
    fn prompt(&mut self, link: LinkId, wish: &PersonRequest, text: &str, agent: Option<&str>) {
        let wishes = self.links.want(link, wish, self.cx.now);
        let answers = || {
            wishes.iter().filter_map(|wish| match wish {
                DialectOutput::Announce(phrase) => Some(phrase.key),
                _ => None,
            })
        };
        if !answers().any(|key| REFUSALS.contains(&key)) {
            self.cx.keep_prompt(text, agent);
        }
        let by_ear = self.cx.has_voice() || self.cx.face.manner() == AnswerMethod::Lines;
        if by_ear && agent.is_none() && answers().next().is_none() {
            self.cx.answer_heard("prompt.sent", &[]);
        }
        self.carry_out_wish(link, wishes);
    }

    fn want(&mut self, link: LinkId, wish: &PersonRequest) {
        let wishes = self.links.want(link, wish, self.cx.now);
        self.carry_out_wish(link, wishes);
    }

    /// Carries out what a dialect makes of a wish of the person.
    fn carry_out_wish(&mut self, link: LinkId, wishes: Vec<DialectOutput>) {
        for wish in wishes {
            match wish {
                DialectOutput::Announce(phrase) => {
                    let args = self.links.told_args(link, &phrase, &self.cx);
                    self.cx.respond(phrase.key, &args);
                }
                other => self.carry_out(link, vec![other]),
            }
        }
    }

    /// Settles the answers on a link that is over: its dialect is not called again, so what it has not reported
    /// by now stays unknown. For requests that the transport still holds, its own report follows.
    pub(super) fn settle_over(&mut self, link: LinkId) {
        if self.links.get(link).is_none_or(|view| !view.is_over()) {
            return;
        }
        for request in self.questions.left_on(link) {
            let unknown = Err(DeliveryFailure::Unknown(Fault::Closed));
            let facts = self.questions.replied(request, unknown, &mut self.cx);
            self.pass(facts);
        }
    }

    /// Sends again what could not be sent.
    pub(super) fn retry(&mut self) {
        for sent in self.questions.take_due(self.cx.now) {
            let facts = self.questions.try_again(sent, &mut self.cx);
            self.pass(facts);
        }
    }

    /// Handles news of a link.
    pub(super) fn link(&mut self, link: LinkId, event: LinkEvent) {
        if self.links.get(link).is_some_and(LinkView::is_over) {
            let facts = self.links.late_news(link, &event, self.cx.now);
            return self.pass(facts);
        }
        let facts = self.links.before_news(link, &event, &mut self.cx);
        self.pass(facts);
        let facts = self.links.news(link, event, &mut self.cx);
        self.pass(facts);
    }

    /// Carries out the outputs of a dialect.
    fn carry_out(&mut self, link: LinkId, wishes: Vec<DialectOutput>) {
        for wish in wishes {
            // Input after a frame of many events must not overtake them.
            self.read_to_its_end();
            let facts = self.links.carry_out(link, wish, &mut self.cx);
            self.pass(facts);
        }
        self.settle_over(link);
    }

    /// Reads the next texts of a frame that holds many: each is handled separately.
    pub(super) fn read_on(&mut self) {
        let Some(mut step) = self.links.begin_step() else {
            return;
        };
        while let Some((facts, rest)) = self.links.next_in_step(step, self.cx.now) {
            self.pass(facts);
            step = rest;
        }
    }

    /// Reads the rest of a frame, because the next input must not overtake it.
    pub(super) fn read_to_its_end(&mut self) {
        while self.is_reading() {
            self.read_on();
        }
    }

    /// Handles what an event changed.
    fn applied(&mut self, link: LinkId, changes: Vec<Change>, number: u64) {
        let asked = changes.iter().find_map(|change| {
            if let ChangeKind::QuestionOpened(question) = change.kind {
                Some(question)
            } else {
                None
            }
        });
        self.announce(changes);
        // Many sessions may come in one fact.
        let facts = self.fleet.count(&self.links, &mut self.cx);
        self.pass(facts);
        self.run.tell_forgotten(&mut self.cx);
        if let Some(question) = asked {
            let facts = self
                .links
                .tell_recorded(link, number, question, &mut self.cx);
            self.pass(facts);
        }
    }

    /// Passes the person's current terms on to every source.
    pub(super) fn change_terms(&mut self) {
        for at in 0..self.links.len() {
            let fact = self.links.tell_terms(LinkId(at), &self.cx);
            self.pass(vec![fact]);
        }
    }

    /// Ticks the dialects that are due.
    pub(super) fn tick_dialects(&mut self) {
        for link in self.links.due_dialects(self.cx.now) {
            let fact = self.links.tick_dialect(link, self.cx.now);
            self.pass(vec![fact]);
        }
    }

    /// Returns whether nothing waits to be read, spoken or sent. Text that the person stopped still waits.
    pub(super) fn is_silent(&self) -> bool {
        let spoken = self.cx.queue.is_idle() && self.cx.queue.silenced() == 0;
        !self.is_reading() && spoken && self.questions.is_all_sent()
    }

    /// Ends the run automatically if its condition is met and everything is spoken.
    pub(super) fn end_if_over(&mut self) {
        let facts = self
            .run
            .check_parting(self.questions.is_all_sent(), &self.links, &mut self.cx);
        self.pass(facts);
        if self.is_silent() {
            let facts = self.run.check_end(&self.links, &mut self.cx);
            self.pass(facts);
        }
    }

    /// Ends the run; what is being spoken may finish if there is time.
    fn quit(&mut self, exit: Exit) {
        let exit = self.run.exit(exit, &self.links, &self.cx);
        // An answer that is left behind is always announced, whichever way the run ends.
        if !self.run.is_over() {
            self.questions.tell_undelivered(&mut self.cx);
        }
        if self.run.end() {
            // After leaving, the person can no longer respond to these.
            for about in self.questions.stop_calling() {
                self.cx.effects.push(Effect::Withdraw(about));
            }
            self.cx.release_all();
            self.cx.effects.push(Effect::Quit(exit));
        }
    }

    /// Turns changes of sessions into announcements, with everything that depends on them.
    fn announce(&mut self, mut changes: Vec<Change>) {
        for change in &mut changes {
            self.links.excuse(change);
            self.prompts.number_session(&change.key, &self.links);
            if matches!(
                change.kind,
                ChangeKind::SessionStarted(_)
                    | ChangeKind::SessionJoined
                    | ChangeKind::HelperJoined
            ) {
                self.run.note_session();
            }
            if let ChangeKind::SessionEnded(SessionEndEvent::Errored(_)) = &change.kind {
                self.run.note_failure();
            }
            if let ChangeKind::QuestionClosed { question, .. } = &change.kind {
                // Any speech about the question is cut short; its outcome follows.
                self.cx.withdraw(*question);
                self.questions.note_change(self.cx.now.monotonic);
            }
            if let ChangeKind::QuestionOpened(question)
            | ChangeKind::QuestionAnswerable(question)
            | ChangeKind::QuestionFreed(question)
            | ChangeKind::QuestionUnheard(question) = &change.kind
            {
                self.questions.ease(*question, &mut self.cx);
                if let Some(facts) = self.questions.by_policy(*question, &mut self.cx) {
                    self.pass(facts);
                    continue;
                }
                self.questions.question_opened(*question, &mut self.cx);
            }
            if let ChangeKind::SessionEnded(ended) = &change.kind {
                let link = change.key.link;
                let prompted = |view: &LinkView| view.connection().takes_prompts;
                if self.links.get(link).is_some_and(prompted) {
                    self.questions.turn_ended(link, ended, &mut self.cx);
                }
            }
            if let ChangeKind::QuestionWarning { question, .. } = &change.kind
                && self.questions.is_left_alone(*question)
            {
                continue;
            }
            for announcement in self.cx.announcer.announce(change, &self.cx.sessions) {
                self.cx.emit(announcement);
            }
            if let ChangeKind::QuestionDoubted(id) = &change.kind
                && self.questions.shown_id() == Some(*id)
            {
                // The person may have been about to answer without knowing this, so the question is armed
                // again.
                self.questions.show(Some(*id), false, &mut self.cx);
            }
        }
    }

    /// Returns the monotonic time at which [`super::Input::Deadline`] is due.
    pub fn deadline(&self) -> Option<Duration> {
        let due = Timer::ALL.iter().filter_map(|timer| self.due(*timer));
        due.min()
    }

    /// Returns when a timer is due.
    pub(super) fn due(&self, timer: Timer) -> Option<Duration> {
        match timer {
            Timer::Frame => self.is_reading().then_some(Duration::ZERO),
            Timer::Sessions => self.cx.sessions.deadline(),
            Timer::Stream => self.cx.announcer.deadline(),
            Timer::Retry => self.questions.retry_due(),
            Timer::SecondStep => self.cx.second_step_ends(),
            Timer::Scan if self.key_input.is_automatic() => {
                self.key_input.scan_due(self.scan_scene(), &self.cx)
            }
            Timer::Scan => None,
            Timer::Line => {
                let both = [
                    self.cx.held_announcements.deadline(),
                    self.cx.held_announcements.decided_by(),
                ];
                both.into_iter().flatten().min()
            }
            Timer::Alarm => self.questions.alarm_due(),
            Timer::Steady => self.links.steady_due(),
            Timer::Start => self.links.start_due(),
            Timer::Dialect => self.links.dialects_due(),
            Timer::Stuck => self.prompts.stuck_due(),
            Timer::Invite => self.prompts.invitation_due(),
            Timer::Flush => self.questions.flush_due(),
            Timer::Beat => self.cx.signals.beat_due(),
            Timer::Speech => self.cx.queue.deadline(),
            Timer::End => self.run.due(self.is_silent()),
        }
    }

    /// Fires what is due in a turn; `alone` if no other fact has come.
    pub(super) fn fire(&mut self, turn: TimerTurn, alone: bool) {
        for timer in turn.timers() {
            let due = || {
                self.due(*timer)
                    .is_some_and(|at| self.cx.now.monotonic >= at)
            };
            let fires = match timer.fired() {
                FiringRule::Due => due(),
                FiringRule::Always => true,
                FiringRule::Alone => alone && due(),
            };
            if fires {
                self.fire_one(*timer);
            }
        }
    }

    fn fire_one(&mut self, timer: Timer) {
        match timer {
            Timer::Frame => self.read_on(),
            Timer::Sessions => {
                let changes = self.cx.sessions.tick(self.cx.now);
                self.announce(changes);
            }
            Timer::Stream => {
                for announcement in self.cx.announcer.tick(self.cx.now, &self.cx.sessions) {
                    self.cx.emit(announcement);
                }
            }
            Timer::Retry => self.retry(),
            Timer::SecondStep => self.cx.end_second_step(self.cx.now.monotonic),
            Timer::Scan => self.key_input.scan_on(self.scan_scene(), &mut self.cx),
            Timer::Line => self.cx.tick_line(),
            Timer::Alarm => self.questions.alarm(&mut self.cx),
            Timer::Steady => {
                let facts = self.links.tick_links(&mut self.cx);
                self.pass(facts);
            }
            Timer::Start => self.links.tick_waiting(&mut self.cx),
            Timer::Dialect => self.tick_dialects(),
            Timer::Stuck => self.prompts.tick_stuck(&self.links, &mut self.cx),
            Timer::Invite => self.prompts.invite(&self.links, &mut self.cx),
            Timer::Flush => {
                self.questions.flushed();
                self.cx.effects.push(Effect::FlushInput);
            }
            Timer::Beat => {
                let (links, prompts) = (&self.links, &self.prompts);
                let is_heard = |key: &SessionKey, in_words: bool| {
                    let is_up = |link: &LinkView| !link.is_down() && !link.is_over();
                    links.get(key.link).is_some_and(is_up)
                        // The silence was announced, so it is known that nothing is known.
                        && !(in_words && prompts.is_silence_told(key))
                };
                self.tuning.beat(is_heard, &mut self.cx);
            }
            Timer::Speech => {
                // Last: everything that this fact caused is put in order before any speech begins.
                self.cx.queue.note_answering(self.questions.is_answering());
                let wishes = self.cx.queue.tick(self.cx.now.monotonic);
                self.cx.command_voice(wishes);
                self.questions.note_said(&mut self.cx);
            }
            Timer::End => self.end_if_over(),
        }
    }
}
