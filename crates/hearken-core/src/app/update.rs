//! Passing what one part has found out to the parts that act on it.

use std::time::Duration;

use crate::dialect::{Out, Wish};
use crate::link::{Fault, LinkEvent, LinkId, Undelivered};
use crate::protocol::Now;
use crate::session::{Change, Ended, SessionKey, What};

use super::fact::AppFact;
use super::hands::scanning::ScanScene;
use super::timers::{Fired, Timer, TimerTurn};
use super::{App, Effect, Exit, LinkView};

impl App {
    /// Has facts handled, each with everything that follows from it before the next.
    pub(super) fn pass(&mut self, facts: Vec<AppFact>, now: Now) {
        for fact in facts {
            match fact {
                AppFact::Command(command, by) => self.run(command, by, now),
                AppFact::Typed => self.hands.tell_typed(&mut self.cx, now),
                AppFact::StopSpeech => self.questions.stop_speech(&mut self.cx, now),
                AppFact::Detailed(Some(question)) => {
                    self.review.offer_changes(question, &mut self.cx, now);
                }
                AppFact::Detailed(None) => self.review.tell_facts(&mut self.cx, now),
                AppFact::Joined(conversation) => {
                    self.questions
                        .turn_to_one_of(&conversation, &mut self.cx, now)
                }
                AppFact::Wanted(link, wish) => self.want(link, &wish, now),
                AppFact::StopSent(whom, number) => {
                    self.prompts.stop_sent(whom, number, &self.links, now)
                }
                AppFact::Answered(link, request, reply) => {
                    let wishes = self.links.reply(link, request, &reply, now);
                    self.carry_out(link, wishes, now);
                }
                AppFact::Submitted(question) => self.questions.submitted(question, &mut self.cx),
                AppFact::Changed(changes) => self.tell(changes, now),
                AppFact::Applied(link, changes, number) => self.applied(link, changes, number, now),
                AppFact::Release(link) => {
                    let changes = self.cx.sessions.release_link(link, now);
                    self.tell(changes, now);
                }
                AppFact::CarryOut(link, wishes) => self.carry_out(link, wishes, now),
                AppFact::Unread(link, why, times) => {
                    for _ in 0..times {
                        let facts = self.links.unread(link, &why, &mut self.cx, now);
                        self.pass(facts, now);
                    }
                }
                AppFact::ReadOn => self.read_on(now),
                AppFact::ReadOut => self.read_to_its_end(now),
                AppFact::Link(link, step) => {
                    let facts = self.links.go_on(link, step, &mut self.cx, now);
                    self.pass(facts, now);
                }
                AppFact::Heard(link, agent) => self.prompts.heard(link, &agent, now),
                AppFact::Stirred(link) => self.prompts.stir(link, now),
                AppFact::HasLeft(request) => self.questions.has_left(request),
                AppFact::Settled(request, outcome) => {
                    let facts = self.questions.replied(request, outcome, &mut self.cx, now);
                    self.pass(facts, now);
                }
                AppFact::LossTold(questions) => {
                    for question in questions {
                        self.questions.note_loss_told(question);
                    }
                    self.questions.note_change(now.monotonic);
                }
                AppFact::QuestionsChanged => self.questions.note_change(now.monotonic),
                AppFact::WentWrong => self.run.note_failure(),
                AppFact::Quit(exit) => self.quit(exit, now),
            }
        }
    }

    /// Returns what scanning has to know of the questions.
    pub(super) fn scan_scene(&self) -> ScanScene {
        ScanScene::new(self.questions.shown_id(), self.questions.meant(&self.cx))
    }

    fn want(&mut self, link: LinkId, wish: &Wish, now: Now) {
        for wish in self.links.want(link, wish, now) {
            match wish {
                Out::Tell(phrase) => {
                    let args = self.links.told_args(link, &phrase, &self.cx);
                    self.cx.respond(phrase.key, &args, now);
                }
                other => self.carry_out(link, vec![other], now),
            }
        }
    }

    /// Settles the answers on a link that is over: its dialect is not asked again, so what it has not reported by now
    /// stays unknown. For requests that the transport still holds, its own report follows.
    pub(super) fn settle_over(&mut self, link: LinkId, now: Now) {
        if self.links.get(link).is_none_or(|view| !view.is_over()) {
            return;
        }
        for request in self.questions.left_on(link) {
            let unknown = Err(Undelivered::Unknown(Fault::Closed));
            let facts = self.questions.replied(request, unknown, &mut self.cx, now);
            self.pass(facts, now);
        }
    }

    /// Sends again what could not be sent.
    pub(super) fn retry(&mut self, now: Now) {
        for sent in self.questions.take_due(now) {
            let facts = self.questions.try_again(sent, &mut self.cx, now);
            self.pass(facts, now);
        }
    }

    /// Handles news of a link.
    pub(super) fn link(&mut self, link: LinkId, event: LinkEvent, now: Now) {
        if self.links.get(link).is_some_and(LinkView::is_over) {
            let facts = self.links.late_news(link, &event, now);
            return self.pass(facts, now);
        }
        let facts = self.links.before_news(link, &event, &mut self.cx, now);
        self.pass(facts, now);
        let facts = self.links.news(link, event, &mut self.cx, now);
        self.pass(facts, now);
    }

    /// Carries out the wishes of a dialect.
    fn carry_out(&mut self, link: LinkId, wishes: Vec<Out>, now: Now) {
        for wish in wishes {
            // What comes after a frame of many events must not overtake them.
            self.read_to_its_end(now);
            let facts = self.links.carry_out(link, wish, &mut self.cx, now);
            self.pass(facts, now);
        }
        self.settle_over(link, now);
    }

    /// Reads the next texts of a frame that holds many: each is handled separately.
    pub(super) fn read_on(&mut self, now: Now) {
        let Some(mut step) = self.links.begin_step() else {
            return;
        };
        while let Some((facts, rest)) = self.links.next_in_step(step, now) {
            self.pass(facts, now);
            step = rest;
        }
    }

    /// Reads the rest of a frame, because something comes that must not overtake it.
    pub(super) fn read_to_its_end(&mut self, now: Now) {
        while self.is_reading() {
            self.read_on(now);
        }
    }

    /// Handles what an event changed.
    fn applied(&mut self, link: LinkId, changes: Vec<Change>, number: u64, now: Now) {
        let asked = changes.iter().find_map(|change| {
            if let What::QuestionOpened(question) = change.what {
                Some(question)
            } else {
                None
            }
        });
        self.tell(changes, now);
        self.run.tell_forgotten(&mut self.cx, now);
        if let Some(question) = asked {
            let facts = self
                .links
                .tell_recorded(link, number, question, &mut self.cx, now);
            self.pass(facts, now);
        }
    }

    /// Passes the person's current terms on to every source.
    pub(super) fn change_terms(&mut self, now: Now) {
        for at in 0..self.links.len() {
            let fact = self.links.tell_terms(LinkId(at), &mut self.cx, now);
            self.pass(vec![fact], now);
        }
    }

    /// Ticks the dialects that are due.
    pub(super) fn tick_dialects(&mut self, now: Now) {
        for link in self.links.due_dialects(now) {
            let fact = self.links.tick_dialect(link, now);
            self.pass(vec![fact], now);
        }
    }

    /// Returns whether nothing waits to be read, spoken or sent.
    pub(super) fn is_silent(&self) -> bool {
        !self.is_reading() && self.cx.queue.is_idle() && self.questions.is_all_sent()
    }

    /// Ends the run by itself if its condition is met and everything is spoken.
    pub(super) fn end_if_over(&mut self, now: Now) {
        let facts =
            self.run
                .check_parting(self.questions.is_all_sent(), &self.links, &mut self.cx, now);
        self.pass(facts, now);
        if self.is_silent() {
            let facts = self.run.check_end(&self.links, &mut self.cx, now);
            self.pass(facts, now);
        }
    }

    /// Ends the run; what is being spoken may finish if there is time.
    fn quit(&mut self, exit: Exit, now: Now) {
        let exit = self.run.exit(exit, &self.links, &self.cx);
        // An answer that is left behind is always announced, whichever way the run ends.
        if !self.run.is_over() {
            self.questions.tell_undelivered(&mut self.cx, now);
        }
        if self.run.end() {
            // After leaving, the person can no longer answer what these call for.
            for about in self.questions.stop_calling() {
                self.cx.effects.push(Effect::Withdraw(about));
            }
            self.cx.release_all(now);
            self.cx.effects.push(Effect::Quit(exit));
        }
    }

    /// Turns changes of sessions into announcements, with everything that depends on them.
    fn tell(&mut self, mut changes: Vec<Change>, now: Now) {
        for change in &mut changes {
            self.links.excuse(change);
            if matches!(
                change.what,
                What::SessionStarted(_) | What::SessionJoined | What::HelperJoined
            ) {
                self.run.note_session();
            }
            if let What::SessionEnded(Ended::Errored(_)) = &change.what {
                self.run.note_failure();
            }
            if let What::QuestionClosed { question, .. } = &change.what {
                // Speech about it that is still under way is cut short; its outcome follows.
                let wishes = self.cx.queue.withdraw(*question, now.monotonic);
                self.cx.wish(wishes);
                self.questions.note_change(now.monotonic);
            }
            if let What::QuestionOpened(question)
            | What::QuestionAnswerable(question)
            | What::QuestionFreed(question)
            | What::QuestionUnheard(question) = &change.what
            {
                self.questions.ease(*question, &mut self.cx);
                if let Some(facts) = self.questions.by_policy(*question, &mut self.cx, now) {
                    self.pass(facts, now);
                    continue;
                }
                self.questions.question_opened(*question, &mut self.cx, now);
            }
            if let What::SessionEnded(ended) = &change.what {
                let link = change.key.link;
                let prompted = |view: &LinkView| view.connection().takes_prompts;
                if self.links.get(link).is_some_and(prompted) {
                    self.questions.turn_ended(link, ended, &mut self.cx);
                }
            }
            if let What::QuestionWarning { question, .. } = &change.what
                && self.questions.is_left_alone(*question)
            {
                continue;
            }
            for announcement in self.cx.announcer.tell(change, &self.cx.sessions) {
                self.cx.emit(announcement, now);
            }
            if let What::QuestionDoubted(id) = &change.what
                && self.questions.shown_id() == Some(*id)
            {
                // A person who was about to answer it did not know that.
                self.questions.show(Some(*id), false, &mut self.cx, now);
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
            Timer::Scan if self.hands.is_automatic() => {
                self.hands.scan_due(self.scan_scene(), &self.cx)
            }
            Timer::Scan => None,
            Timer::Line => {
                let both = [self.cx.holding.deadline(), self.cx.holding.decided_by()];
                both.into_iter().flatten().min()
            }
            Timer::Alarm => self.questions.alarm_due(),
            Timer::Steady => self.links.steady_due(),
            Timer::Start => self.links.start_due(),
            Timer::Dialect => self.links.dialects_due(),
            Timer::Stuck => self.prompts.stuck_due(),
            Timer::Flush => self.questions.flush_due(),
            Timer::Beat => self.cx.signals.beat_due(),
            Timer::Speech => self.cx.queue.deadline(),
            Timer::End => self.run.due(self.is_silent()),
        }
    }

    /// Fires what is due in a turn; `alone` if no other fact has come.
    pub(super) fn fire(&mut self, turn: TimerTurn, alone: bool, now: Now) {
        for timer in turn.timers() {
            let due = || self.due(*timer).is_some_and(|at| now.monotonic >= at);
            let fires = match timer.fired() {
                Fired::Due => due(),
                Fired::Always => true,
                Fired::Alone => alone && due(),
            };
            if fires {
                self.fire_one(*timer, now);
            }
        }
    }

    fn fire_one(&mut self, timer: Timer, now: Now) {
        match timer {
            Timer::Frame => self.read_on(now),
            Timer::Sessions => {
                let changes = self.cx.sessions.tick(now);
                self.tell(changes, now);
            }
            Timer::Stream => {
                for announcement in self.cx.announcer.tick(now, &self.cx.sessions) {
                    self.cx.emit(announcement, now);
                }
            }
            Timer::Retry => self.retry(now),
            Timer::SecondStep => self.cx.end_second_step(now.monotonic, now),
            Timer::Scan => self.hands.scan_on(self.scan_scene(), &mut self.cx, now),
            Timer::Line => self.cx.tick_line(now),
            Timer::Alarm => self.questions.alarm(&mut self.cx, now),
            Timer::Steady => {
                let facts = self.links.tick_links(&mut self.cx, now);
                self.pass(facts, now);
            }
            Timer::Start => self.links.tick_waiting(&mut self.cx, now),
            Timer::Dialect => self.tick_dialects(now),
            Timer::Stuck => self.prompts.tick_stuck(&self.links, &mut self.cx, now),
            Timer::Flush => {
                self.questions.flushed();
                self.cx.effects.push(Effect::FlushInput);
            }
            Timer::Beat => {
                let (links, prompts) = (&self.links, &self.prompts);
                let is_heard = |key: &SessionKey, in_words: bool| {
                    let is_up = |link: &LinkView| !link.is_down() && !link.is_over();
                    links.get(key.link).is_some_and(is_up)
                        // What is known of it was said: that nothing is.
                        && !(in_words && prompts.is_silence_told(key))
                };
                self.tuning.beat(is_heard, &mut self.cx, now);
            }
            Timer::Speech => {
                // Last: everything that this fact caused is put in order before any speech begins.
                let wishes = self.cx.queue.tick(now.monotonic);
                self.cx.wish(wishes);
                self.questions.note_said(&mut self.cx, now);
            }
            Timer::End => self.end_if_over(now),
        }
    }
}
