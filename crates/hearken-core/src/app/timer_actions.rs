//! When each timer is due, and what it does then.
//!
//! Responsibilities: [`App::deadline`], the earliest time in the table, and firing what is due by the same table. Not
//! here: what each timer means (its own module).

use std::time::Duration;

use crate::protocol::Now;
use crate::session::SessionKey;

use super::timers::{Fired, Timer, TimerTurn};
use super::{App, Effect, LinkView};

impl App {
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
