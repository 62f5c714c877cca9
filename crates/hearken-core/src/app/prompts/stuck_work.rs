//! Stuck work: it has fallen silent, or it was asked to stop and does not.
//!
//! Responsibilities: how long nothing new has come, which stop was sent, and when to announce either. Not here:
//! announcing it and leaving the work behind (`stuck_actions`), the sign of life while an agent works
//! (`tuning`).
//!
//! # Mental model
//! A prompt may never be answered, and nothing then shows whether the agent still works. So the time since the
//! last news is announced, at growing intervals, as long as work is under way and no question waits for the
//! person. The heartbeat's word rests then, because nobody knows whether it is true. A stop is a request: if it
//! has no effect for a while, the person hears that, and one more stop leaves the work behind. Before that,
//! another stop only repeats what is known: an agent gets time to stop.
//!
//! # Tuning by symptom
//! Slow work is announced as silence: lengthen [`SILENCE`]. Agents that take long to stop are reported: lengthen
//! [`EFFECT`].

use std::collections::BTreeMap;
use std::time::Duration;

use crate::link::LinkId;
use crate::protocol::{AgentId, Now};

use crate::app::Conversation;

/// The silence before the first announcement; before each further one, it is three times as long.
const SILENCE: Duration = Duration::from_secs(60);
/// How many times the silence is tripled: up to about four hours.
const TRIPLINGS: u32 = 5;
/// How many agents of a source are watched: a person prompts a few.
const MOST_AGENTS: usize = 64;
/// How long a stop may take until it counts as without effect.
const EFFECT: Duration = Duration::from_secs(5);

/// How long nothing new has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuietPeriod {
    since: Duration,
    /// How often it was announced.
    times_announced: u32,
}

impl QuietPeriod {
    fn new(now: Now) -> Self {
        Self {
            since: now.monotonic,
            times_announced: 0,
        }
    }

    /// Returns since when nothing new has come.
    pub(super) fn since(self) -> Duration {
        self.since
    }

    /// Notes one more announcement of the silence.
    pub(super) fn told_again(self) -> Self {
        let told = self.times_announced + 1;
        Self {
            times_announced: told,
            ..self
        }
    }

    fn due(self) -> Duration {
        self.since + SILENCE * 3_u32.pow(self.times_announced.min(TRIPLINGS))
    }
}

/// A stop that was sent.
#[derive(Debug, Clone)]
pub(super) struct SentStop {
    conversation: Conversation,
    /// The number that the person used, if any.
    number: Option<usize>,
    since: Duration,
    /// Whether it was announced that it has no effect.
    is_failure_announced: bool,
}

impl SentStop {
    pub(super) fn new(whom: Conversation, number: Option<usize>, since: Duration) -> Self {
        let told = false;
        Self {
            conversation: whom,
            number,
            since,
            is_failure_announced: told,
        }
    }

    /// Returns the conversation that is to stop.
    pub(super) fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Returns the number that the person used, if any.
    pub(super) fn number(&self) -> Option<usize> {
        self.number
    }

    /// Returns whether it was announced that it has no effect.
    pub(super) fn is_told(&self) -> bool {
        self.is_failure_announced
    }
}

/// How long nothing new has come from a source.
#[derive(Debug, Clone, Default)]
struct SourceQuiet {
    /// For work without a known session.
    unbegun: Option<QuietPeriod>,
    /// By agent.
    agents: BTreeMap<AgentId, QuietPeriod>,
}

/// Which work may be stuck.
#[derive(Debug, Clone, Default)]
pub(super) struct StuckWork {
    /// By source.
    quiet: Vec<SourceQuiet>,
    stop: Option<SentStop>,
}

impl StuckWork {
    /// Notes that a source received a request, or that it reported something as a whole.
    pub(super) fn stir(&mut self, link: LinkId, now: Now) {
        if let Some(source) = self.source(link) {
            source.unbegun = Some(QuietPeriod::new(now));
            for quiet in source.agents.values_mut() {
                *quiet = QuietPeriod::new(now);
            }
        }
    }

    /// Notes that something new came from an agent.
    pub(super) fn heard(&mut self, link: LinkId, agent: &AgentId, now: Now) {
        let Some(source) = self.source(link) else {
            return;
        };
        if let Some(quiet) = source.agents.get_mut(agent) {
            *quiet = QuietPeriod::new(now);
        } else if source.agents.len() < MOST_AGENTS {
            source.agents.insert(agent.clone(), QuietPeriod::new(now));
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
        quiet.is_some_and(|quiet| quiet.times_announced > 0)
    }

    /// Returns the stop that was sent last.
    pub(super) fn stop(&self) -> Option<&SentStop> {
        self.stop.as_ref()
    }

    /// Replaces the stop that was sent last.
    pub(super) fn set_stop(&mut self, stop: Option<SentStop>) {
        self.stop = stop;
    }

    /// Returns the stop that was sent to a conversation, if it was the last one.
    pub(super) fn stop_of(&self, whom: &Conversation) -> Option<&SentStop> {
        self.stop.as_ref().filter(|stop| stop.conversation == *whom)
    }

    /// Returns, once, the stop that has had no effect for long.
    pub(super) fn take_due_stop(&mut self, now: Now) -> Option<SentStop> {
        let due = |stop: &&mut SentStop| {
            !stop.is_failure_announced && now.monotonic >= stop.since + EFFECT
        };
        let stop = self.stop.as_mut().filter(due)?;
        stop.is_failure_announced = true;
        Some(stop.clone())
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
        let stop = self.stop.iter().filter(|stop| !stop.is_failure_announced);
        quiet.chain(stop.map(|stop| stop.since + EFFECT)).min()
    }

    /// Returns the silences that are due for announcement.
    pub(super) fn due_silences(&self, now: Now) -> Vec<(LinkId, Option<AgentId>, QuietPeriod)> {
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

    /// Replaces the record of a silence; `None` ends it.
    pub(super) fn set(
        &mut self,
        link: LinkId,
        agent: Option<&AgentId>,
        quiet: Option<QuietPeriod>,
    ) {
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
