//! One agent: whether it is there, and the conversation with it.
//!
//! Responsibilities: the programs that run it and their signs of life, the prompt under way, the held ones, the open
//! questions. Not here: finding it (`agent_discovery`), what is sent to it (`prompts`, `answers`).

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::kit::turn::{EventContext, Turn};
use crate::protocol::Now;

use super::messages::AgentInfo;
use super::subject;

/// How many intervals an agent may give no sign of life.
const MISSED: u32 = 3;
/// The interval of an agent that has not given one: the protocol's usual one.
const USUAL: Duration = Duration::from_secs(30);
/// The most programs of one agent that are distinguished.
const MOST_INSTANCES: usize = 16;
/// How long the answer to a prompt may be silent. An agent at work gives a sign of it every half minute.
const SILENT_AFTER: Duration = Duration::from_secs(60);

/// The signs of life of one program.
#[derive(Debug, Clone, Copy)]
struct Instance {
    alive: Duration,
    interval: Duration,
}

impl Instance {
    fn until(&self) -> Duration {
        self.alive + self.interval * MISSED
    }
}

/// What answers a prompt.
#[derive(Debug)]
pub(super) struct PromptAnswerer {
    /// The number of the request.
    pub(super) request: u64,
    /// When something last came.
    pub(super) heard: Duration,
    /// Whether its silence was reported.
    pub(super) is_silence_told: bool,
}

/// A question that can be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnswerableQuestion {
    /// The agent's name for it.
    pub(super) id: String,
    /// Where the answer goes.
    pub(super) reply_subject: String,
    pub(super) text: String,
}

/// One agent.
#[derive(Debug)]
pub(super) struct SynadiaAgent {
    /// Where its prompts go.
    pub(super) subject: String,
    /// Its name for a person.
    pub(super) name: String,
    owner: String,
    /// The largest prompt that it takes, in bytes, if it says so.
    pub(super) most: Option<usize>,
    instances: BTreeMap<String, Instance>,
    /// Whether it was announced as away.
    pub(super) is_away: bool,
    pub(super) teller: EventContext,
    pub(super) turn: Option<Turn>,
    /// The prompt that is being answered.
    pub(super) answering: Option<PromptAnswerer>,
    /// The words of that prompt, until its turn begins.
    pub(super) prompt: String,
    pub(super) held_prompts: VecDeque<String>,
    /// The questions of the turn, by our names for them.
    pub(super) questions: BTreeMap<String, AnswerableQuestion>,
    /// How many questions the turn had.
    pub(super) asked_count: u64,
    /// How many of them could not be asked.
    pub(super) unasked: u64,
}

impl SynadiaAgent {
    pub(super) fn new(info: &AgentInfo, name: String, teller: EventContext) -> Self {
        Self {
            subject: info.subject.clone(),
            name,
            owner: info.owner.clone(),
            most: info.most,
            instances: BTreeMap::new(),
            is_away: false,
            teller,
            turn: None,
            answering: None,
            prompt: String::new(),
            held_prompts: VecDeque::new(),
            questions: BTreeMap::new(),
            asked_count: 0,
            unasked: 0,
        }
    }

    /// Notes that a program was found; returns whether the agent was away.
    pub(super) fn found(&mut self, info: &AgentInfo, now: Now) -> bool {
        self.most = info.most;
        let known = self.instances.get(&info.instance);
        let interval = known.map_or(USUAL, |known| known.interval);
        self.lives(&info.instance, interval, now)
    }

    /// Notes a sign of life of a known program; returns `None` if it is not known, else whether the agent was away.
    pub(super) fn beats(&mut self, instance: &str, interval: Duration, now: Now) -> Option<bool> {
        self.instances.get(instance)?;
        Some(self.lives(instance, interval, now))
    }

    fn lives(&mut self, instance: &str, interval: Duration, now: Now) -> bool {
        let alive = now.monotonic;
        if self.instances.len() < MOST_INSTANCES || self.instances.contains_key(instance) {
            let life = Instance { alive, interval };
            self.instances.insert(instance.to_owned(), life);
        }
        std::mem::take(&mut self.is_away)
    }

    /// Returns whether a heartbeat under a subject can be its own.
    pub(super) fn beats_under(&self, beat: &str) -> bool {
        let Some(beat) = subject::of_heartbeat(beat) else {
            return false;
        };
        match subject::of_prompts(&self.subject) {
            Some(tokens) => beat == tokens,
            // In an address of another form, only the owner is known.
            None => beat.owner == self.owner,
        }
    }

    /// Returns whether a program with this id runs it.
    pub(super) fn has_instance(&self, instance: &str) -> bool {
        self.instances.contains_key(instance)
    }

    /// Returns when it counts as away, unless it does already.
    pub(super) fn away_at(&self) -> Option<Duration> {
        let last = self.instances.values().map(Instance::until).max();
        last.filter(|_| !self.is_away)
    }

    /// Returns whether it counts as away from now on.
    pub(super) fn goes_away(&mut self, now: Now) -> bool {
        self.instances
            .retain(|_, life| now.monotonic < life.until());
        let goes = self.instances.is_empty() && !self.is_away;
        self.is_away |= goes;
        goes
    }

    /// Counts the time without a sign of life from now on: something came from it, or nothing could come before.
    pub(super) fn wait_anew(&mut self, now: Now) {
        for life in self.instances.values_mut() {
            life.alive = now.monotonic;
        }
    }

    /// Returns when the silence of what answers a prompt is to be reported. While the person is asked, it is their
    /// turn.
    pub(super) fn silent_at(&self) -> Option<Duration> {
        let answering = self.answering.as_ref()?;
        let is_asking = self.turn.as_ref().is_some_and(Turn::asks);
        (!answering.is_silence_told && !is_asking).then(|| answering.heard + SILENT_AFTER)
    }

    /// Returns whether nothing is under way, so that it can be forgotten once it is away.
    pub(super) fn is_idle(&self) -> bool {
        self.turn.is_none() && self.answering.is_none() && self.held_prompts.is_empty()
    }

    /// Returns whether it works for the person, as far as is known.
    pub(super) fn is_at_work(&self) -> bool {
        self.turn.is_some() || self.answering.is_some()
    }
}
