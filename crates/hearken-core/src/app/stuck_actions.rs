//! What follows from work that is stuck: announcing it, and going on without it.
//!
//! Responsibilities: whether an agent is at work as far as is known, the announcements, another stop of work that does
//! not stop. Not here: what is due when (`stuck`), what going on means to an agent (its dialect).

use std::time::Duration;

use crate::announce::{Arg, Class, Kind};
use crate::dialect::Wish;
use crate::link::LinkId;
use crate::protocol::{AgentId, Now};
use crate::session::SessionKey;

use super::App;
use super::conversations::Conversation;
use super::stuck::{EFFECT, Quiet, Stop};

impl App {
    /// Announces what is stuck.
    pub(super) fn tick_stuck(&mut self, now: Now) {
        self.tell_silences(now);
        self.tell_stop(now);
    }

    fn tell_silences(&mut self, now: Now) {
        for (link, agent, quiet) in self.stuck.due_silences(now) {
            let next = self.is_at_work(link, agent.as_ref()).then(|| Quiet {
                told: quiet.told + 1,
                ..quiet
            });
            self.stuck.set(link, agent.as_ref(), next);
            if next.is_none() {
                continue;
            }
            let whom = match agent {
                Some(_) => Conversation { link, agent },
                None => self.meant_on(link),
            };
            let agent = self.name_of_prompted(&whom);
            let time = now.monotonic.saturating_sub(quiet.since);
            // Above a minute the seconds do not matter.
            let time = Duration::from_secs(time.as_secs() / 60 * 60);
            let args = [
                ("time", Arg::Own(self.cx.announcer.time(time))),
                ("agent", Arg::Name(agent.unwrap_or_default())),
            ];
            let (class, kind) = (Class::Outcome, Kind::Connection);
            self.cx.say(class, kind, "stuck.nothing", &args, now);
        }
    }

    /// Returns whether a prompted agent works, as far as is known, and does not wait for the person; without an agent,
    /// whether there is work of which no session is known yet.
    fn is_at_work(&self, link: LinkId, agent: Option<&AgentId>) -> bool {
        let view = self.links.get(link);
        let Some(view) = view.filter(|view| !view.is_down() && !view.is_over()) else {
            return false;
        };
        let is_meant =
            |key: &SessionKey| key.link == link && agent.is_none_or(|agent| key.agent == *agent);
        let connection = view.connection();
        let mut sessions = self.cx.sessions.iter();
        let runs = sessions.any(|session| is_meant(&session.key) && !session.is_ended());
        let works = match agent {
            Some(_) => runs,
            None => connection.in_turn && !runs,
        };
        let mut questions = self.questions().into_iter();
        connection.takes_prompts
            && works
            && !questions.any(|question| is_meant(&question.key) && question.is_answerable())
    }

    /// Notes that a stop was sent, if there is something that has to stop.
    pub(super) fn stop_sent(&mut self, whom: Conversation, number: Option<usize>, now: Now) {
        self.stuck.stop = self.is_stopping(&whom).then_some(Stop {
            whom,
            number,
            since: now.monotonic,
            told: false,
        });
    }

    /// Returns whether work there was asked to stop, and has not stopped.
    fn is_stopping(&self, whom: &Conversation) -> bool {
        let view = self.links.get(whom.link);
        view.is_some_and(|view| !view.is_over() && view.connection().is_stopping)
    }

    fn tell_stop(&mut self, now: Now) {
        let due = |stop: &&mut Stop| !stop.told && now.monotonic >= stop.since + EFFECT;
        let Some(stop) = self.stuck.stop.as_mut().filter(due) else {
            return;
        };
        stop.told = true;
        let stop = stop.clone();
        if !self.is_stopping(&stop.whom) {
            self.stuck.stop = None;
            return;
        }
        let key = self
            .cx
            .face
            .pick("stop_turn.no_effect.keys", "stop_turn.no_effect.lines");
        let agent = self.name_of_prompted(&stop.whom).unwrap_or_default();
        let number = stop.number.map(|number| number.to_string());
        let args = [
            ("agent", Arg::Name(agent)),
            ("n", Arg::Own(number.unwrap_or_default())),
        ];
        self.cx
            .say(Class::Outcome, Kind::Connection, key, &args, now);
    }

    /// Handles another stop of work that was asked to stop before; returns whether there is such work.
    pub(super) fn stop_again(&mut self, whom: &Conversation, now: Now) -> bool {
        let stop = self.stuck.stop.as_ref().filter(|stop| stop.whom == *whom);
        let Some(told) = stop.map(|stop| stop.told) else {
            return false;
        };
        if !self.is_stopping(whom) {
            self.stuck.stop = None;
            return false;
        }
        match told {
            true => {
                self.stuck.stop = None;
                self.want_of(whom, Wish::Abandon, now);
            }
            false => self.cx.respond("stop_turn.stopping", &[], now),
        }
        true
    }
}
