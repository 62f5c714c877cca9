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

use std::collections::BTreeMap;
use std::time::Duration;

use crate::announce::{Arg, Class, Kind};
use crate::dialect::Wish;
use crate::link::LinkId;
use crate::protocol::{AgentId, Now};
use crate::session::SessionKey;

use super::App;
use super::conversations::Conversation;

/// The silence after which it is announced for the first time; each further one after three times as long.
const SILENCE: Duration = Duration::from_secs(60);
/// How often the silence is tripled: up to about four hours.
const TRIPLINGS: u32 = 5;
/// How many agents of a source are watched: a person prompts a few.
const MOST_AGENTS: usize = 64;
/// How long a stop may take until it counts as without effect.
const EFFECT: Duration = Duration::from_secs(5);

/// How long nothing new has come.
#[derive(Debug, Clone, Copy)]
struct Quiet {
    since: Duration,
    /// How often it was announced.
    told: u32,
}

impl Quiet {
    fn new(now: Now) -> Self {
        Self {
            since: now.monotonic,
            told: 0,
        }
    }

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

/// How long nothing new has come from a source.
#[derive(Debug, Clone, Default)]
struct SourceQuiet {
    /// For work of which no session is known yet.
    unbegun: Option<Quiet>,
    /// By agent.
    agents: BTreeMap<AgentId, Quiet>,
}

/// Which work may be stuck.
#[derive(Debug, Clone, Default)]
pub(super) struct Stuck {
    /// By source.
    quiet: Vec<SourceQuiet>,
    stop: Option<Stop>,
}

impl Stuck {
    /// Notes that something was asked of a source, or said about it as a whole.
    pub(super) fn stir(&mut self, link: LinkId, now: Now) {
        if let Some(source) = self.source(link) {
            source.unbegun = Some(Quiet::new(now));
            for quiet in source.agents.values_mut() {
                *quiet = Quiet::new(now);
            }
        }
    }

    /// Notes that something new came from an agent.
    pub(super) fn heard(&mut self, link: LinkId, agent: &AgentId, now: Now) {
        let Some(source) = self.source(link) else {
            return;
        };
        if let Some(quiet) = source.agents.get_mut(agent) {
            *quiet = Quiet::new(now);
        } else if source.agents.len() < MOST_AGENTS {
            source.agents.insert(agent.clone(), Quiet::new(now));
        }
    }

    fn source(&mut self, link: LinkId) -> Option<&mut SourceQuiet> {
        if self.quiet.len() <= link.0 {
            self.quiet.resize_with(link.0 + 1, SourceQuiet::default);
        }
        self.quiet.get_mut(link.0)
    }

    /// Returns whether the silence of an agent was announced.
    pub(super) fn is_told(&self, link: LinkId, agent: &AgentId) -> bool {
        let source = self.quiet.get(link.0);
        let quiet = source.and_then(|source| source.agents.get(agent));
        quiet.is_some_and(|quiet| quiet.told > 0)
    }

    /// Returns when something is due.
    pub(super) fn due(&self) -> Option<Duration> {
        let all = |source: &SourceQuiet| {
            source
                .unbegun
                .iter()
                .chain(source.agents.values())
                .map(|quiet| quiet.due())
                .min()
        };
        let quiet = self.quiet.iter().filter_map(all);
        let stop = self.stop.iter().filter(|stop| !stop.told);
        quiet.chain(stop.map(|stop| stop.since + EFFECT)).min()
    }

    /// Returns whose silence is due, with what is known of it.
    fn due_silences(&self, now: Now) -> Vec<(LinkId, Option<AgentId>, Quiet)> {
        let mut due = Vec::new();
        for (at, source) in self.quiet.iter().enumerate() {
            let unbegun = source.unbegun.iter().map(|quiet| (None, quiet));
            let agents = source
                .agents
                .iter()
                .map(|(agent, quiet)| (Some(agent), quiet));
            let all = unbegun.chain(agents);
            due.extend(
                all.filter(|(_, quiet)| now.monotonic >= quiet.due())
                    .map(|(agent, quiet)| (LinkId(at), agent.cloned(), *quiet)),
            );
        }
        due
    }

    /// Replaces what is known of a silence; without anything, it is waited for no more.
    fn set(&mut self, link: LinkId, agent: Option<&AgentId>, quiet: Option<Quiet>) {
        let Some(source) = self.source(link) else {
            return;
        };
        match (agent, quiet) {
            (None, quiet) => source.unbegun = quiet,
            (Some(agent), Some(quiet)) => {
                source.agents.insert(agent.clone(), quiet);
            }
            (Some(agent), None) => {
                source.agents.remove(agent);
            }
        }
    }
}

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
                ("time", Arg::Own(self.announcer.time(time))),
                ("agent", Arg::Name(agent.unwrap_or_default())),
            ];
            let (class, kind) = (Class::Outcome, Kind::Connection);
            self.say(class, kind, "stuck.nothing", &args, now);
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
        let mut sessions = self.sessions.iter();
        let runs = sessions.any(|session| is_meant(&session.key) && !session.is_ended());
        let works = match agent {
            Some(_) => runs,
            None => connection.in_turn && !runs,
        };
        let mut questions = self.questions().into_iter();
        connection.takes_prompts
            && works
            && !questions.any(|prompt| is_meant(&prompt.key) && prompt.is_answerable())
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
