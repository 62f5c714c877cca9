//! Work that is stuck: nothing more is heard of it, or it was asked to stop and does not.
//!
//! Responsibilities: announcing a long silence of an agent that was prompted, and a stop without effect; letting the
//! person go on without it. Not here: the sign of life while an agent works (`tuning`), what going on means to an agent
//! (its dialect).
//!
//! # Mental model
//! A prompt may never be answered, and nothing then shows whether the agent still works. So the time since the last
//! news is announced, ever more rarely, as long as work is under way and no question waits for the person. The word of
//! the heartbeat rests then, because nobody knows whether it is true. A stop is a request: after a while without effect
//! the person hears so, and one more stop leaves the work behind. Before that, another stop only repeats what is known:
//! an agent gets time to stop.
//!
//! # Tuning by symptom
//! Slow work is announced as silence: lengthen [`SILENCE`]. Agents that take long to stop are reported: lengthen
//! [`EFFECT`].

use std::time::Duration;

use crate::announce::{Arg, Class, Kind};
use crate::dialect::Wish;
use crate::link::LinkId;
use crate::protocol::Now;

use super::App;
use super::conversations::Conversation;

/// The silence after which it is announced for the first time; each further one after three times as long.
const SILENCE: Duration = Duration::from_secs(60);
/// How often the silence is tripled: up to about four hours.
const TRIPLINGS: u32 = 5;
/// How long a stop may take until it counts as without effect.
const EFFECT: Duration = Duration::from_secs(5);

/// How long nothing new has come from a source.
#[derive(Debug, Clone, Copy)]
struct Quiet {
    since: Duration,
    /// How often it was announced.
    told: u32,
}

impl Quiet {
    fn due(self) -> Duration {
        self.since + SILENCE * 3_u32.pow(self.told.min(TRIPLINGS))
    }
}

/// A stop that was sent.
#[derive(Debug, Clone)]
struct Stop {
    whom: Conversation,
    /// The number that the person used, if any.
    number: Option<usize>,
    since: Duration,
    /// Whether it was announced that it has no effect.
    told: bool,
}

/// Which work may be stuck.
#[derive(Debug, Clone, Default)]
pub(super) struct Stuck {
    /// By source.
    quiet: Vec<Option<Quiet>>,
    stop: Option<Stop>,
}

impl Stuck {
    /// Notes that something new came from a source, or was asked of it.
    pub(super) fn stir(&mut self, link: LinkId, now: Now) {
        if self.quiet.len() <= link.0 {
            self.quiet.resize(link.0 + 1, None);
        }
        if let Some(quiet) = self.quiet.get_mut(link.0) {
            *quiet = Some(Quiet {
                since: now.monotonic,
                told: 0,
            });
        }
    }

    /// Returns whether the silence of a source was announced.
    pub(super) fn is_told(&self, link: LinkId) -> bool {
        let quiet = self.quiet.get(link.0).copied().flatten();
        quiet.is_some_and(|quiet| quiet.told > 0)
    }

    /// Returns when something is due.
    pub(super) fn due(&self) -> Option<Duration> {
        let quiet = self.quiet.iter().flatten().map(|quiet| quiet.due());
        let stop = self.stop.iter().filter(|stop| !stop.told);
        quiet.chain(stop.map(|stop| stop.since + EFFECT)).min()
    }
}

impl App {
    /// Announces what is stuck.
    pub(super) fn tick_stuck(&mut self, now: Now) {
        self.tell_silences(now);
        self.tell_stop(now);
    }

    fn tell_silences(&mut self, now: Now) {
        for at in 0..self.stuck.quiet.len() {
            let quiet = self.stuck.quiet.get(at).copied().flatten();
            let Some(quiet) = quiet.filter(|quiet| now.monotonic >= quiet.due()) else {
                continue;
            };
            let link = LinkId(at);
            let next = self.is_at_work(link).then(|| Quiet {
                told: quiet.told + 1,
                ..quiet
            });
            if let Some(entry) = self.stuck.quiet.get_mut(at) {
                *entry = next;
            }
            if next.is_some() {
                let agent = self.name_of_prompted(&self.meant_on(link));
                let time = now.monotonic.saturating_sub(quiet.since);
                // Above a minute the seconds do not matter.
                let time = Duration::from_secs(time.as_secs() / 60 * 60);
                let args = [
                    ("time", Arg::Own(self.announcer.time(time))),
                    ("agent", Arg::Name(agent.unwrap_or_default())),
                ];
                let (class, kind) = (Class::Outcome, Kind::Connection);
                self.say(class, kind, "stuck.nothing", &args, now);
            }
        }
    }

    /// Returns whether a prompted agent there works, as far as is known, and does not wait for the person.
    fn is_at_work(&self, link: LinkId) -> bool {
        let view = self.links.get(link);
        let Some(view) = view.filter(|view| !view.is_down() && !view.is_over()) else {
            return false;
        };
        let connection = view.connection();
        let runs = || {
            let mut sessions = self.sessions.iter();
            sessions.any(|session| session.key.link == link && !session.is_ended())
        };
        let mut questions = self.questions().into_iter();
        connection.takes_prompts
            && (connection.in_turn || runs())
            && !questions.any(|prompt| prompt.key.link == link && prompt.is_answerable())
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
            .face
            .pick("stop_turn.no_effect.keys", "stop_turn.no_effect.lines");
        let agent = self.name_of_prompted(&stop.whom).unwrap_or_default();
        let number = stop.number.map(|number| number.to_string());
        let args = [
            ("agent", Arg::Name(agent)),
            ("n", Arg::Own(number.unwrap_or_default())),
        ];
        self.say(Class::Outcome, Kind::Connection, key, &args, now);
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
            false => self.respond("stop_turn.stopping", &[], now),
        }
        true
    }
}
