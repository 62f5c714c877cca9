//! The state of one session.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::{Arc, Weak};
use std::time::Duration;

use jiff::Timestamp;

use smallvec::SmallVec;

use crate::protocol::{
    Attachments, Envelope, OutputId, Producer, Progress, RiskLevel, SessionId, ToolCallId,
};

use super::action_fate::DeniedAction;
use super::calls::Calls;
use super::key::{QuestionId, SessionKey};
use super::machines::{AgentStates, Lifecycle, LifecycleEvent, OutputRun, ToolRun};
use super::suspicion::{Gravity, Suspicion};
use super::token_memory::Digest;
use super::waiting_lists::UNASKED_AFTER;

/// The most open tools that a session keeps: far more than any real agent has, few enough to bound a hostile one.
pub(super) const MOST_TOOLS: usize = 256;
/// The most outputs that a session keeps; completed ones go first.
pub(super) const MOST_OUTPUTS: usize = 64;
/// The length to which a display-only text is cut, in characters: more than any screen has room for, and little
/// enough for thousands of sessions of a hostile producer.
pub(super) const LONGEST_SHOWN: usize = 2000;

/// After this many bytes of new names, all are counted again, because old ones may be gone.
const LOADED: usize = 8 * 1024;
/// The memory of a session beyond what is counted: its entries in lists, the overhead of allocations.
const AROUND: usize = 512;

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionEndKind {
    /// Successfully.
    Completed,
    /// By an error.
    Errored,
    /// Before completion.
    Cancelled,
}

/// The phase of a session's life (A.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It works.
    Running,
    /// It is blocked by its oldest open question, given here.
    Waiting(QuestionId),
    /// It is over.
    Ended(SessionEndKind),
}

impl SessionEndKind {
    /// Returns the event that ends a session in this way.
    pub(super) fn event(self) -> LifecycleEvent {
        match self {
            Self::Completed => LifecycleEvent::Completed,
            Self::Errored => LifecycleEvent::Errored,
            Self::Cancelled => LifecycleEvent::Cancelled,
        }
    }
}

impl Phase {
    /// Returns the phase's state in the machine of A.1.
    pub fn lifecycle(self) -> Lifecycle {
        match self {
            Self::Running | Self::Waiting(_) => Lifecycle::Active,
            Self::Ended(SessionEndKind::Completed) => Lifecycle::Completed,
            Self::Ended(SessionEndKind::Errored) => Lifecycle::Errored,
            Self::Ended(SessionEndKind::Cancelled) => Lifecycle::Cancelled,
        }
    }
}

/// Whether there was a question about an irreversible call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// The call is not irreversible.
    NotNeeded,
    /// No question about it has come yet.
    Missing(Reception),
    /// No question about it has come, and this was announced.
    MissingTold(Reception),
    /// This question was about it.
    Asked(QuestionId),
}

/// How certain it is that a message not received was never sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reception {
    /// Every message that could have contained it was received.
    Complete,
    /// It may have been sent before we joined, or be among missing messages.
    Partial,
}

/// A tool call that has not returned.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// Its name for people, such as its command, if its translator gives one.
    pub title: Option<Box<str>>,
    /// The id that pairs it with its completion.
    pub call_id: Option<ToolCallId>,
    /// When it was invoked, on the monotonic clock.
    pub since: Duration,
    /// Whether it can't be undone.
    pub irreversible: bool,
    /// How much could go wrong.
    pub risk: Option<RiskLevel>,
    /// The digest of its arguments, if its event states them.
    pub(super) args: Option<Digest>,
    /// Whether a question was about it.
    pub consent: Consent,
    /// Whether it may carry out a rejected action.
    pub(super) suspicion: Option<Suspicion>,
    /// How long it may take, in milliseconds.
    pub expected_duration_ms: Option<u64>,
    /// Whether the state has been `calling_tool` at any time since.
    pub(super) in_calling_tool: bool,
    /// The epoch of its session in which it was invoked.
    pub(super) epoch: u32,
}

impl ToolCall {
    /// Returns why the person should be asked about it.
    pub(super) fn gravity(&self) -> Gravity {
        match self.irreversible {
            true => Gravity::Irreversible,
            false => Gravity::HighRisk,
        }
    }
}

/// The state of one output; its text lives in the announcer and the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The last position, in the producer's unit.
    pub position: Option<u64>,
    /// The state in its machine.
    pub run: OutputRun,
    /// Whether the last chunk had text, so that the next position must be greater.
    pub(super) had_text: bool,
    /// The epoch of its session in which its last chunk came.
    pub(super) epoch: u32,
}

/// The state of one session of one agent.
///
/// The fields are laid out in memory as declared, those that each event reads first: with thousands of sessions none is
/// in the cache, and each 64 bytes of one are fetched separately.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
pub struct Session {
    /// The session's identity.
    pub key: SessionKey,
    /// The agent's display name.
    pub agent: Arc<str>,
    /// The producer from which the agent's details were read: nearly every event shares the same one.
    producer: ReadFrom,
    /// The number of the first event that was received.
    pub(super) first_number: Option<u64>,
    pub(super) numbering: Numbering,
    /// The phase of its life.
    pub phase: Phase,
    /// The number of its events.
    pub events: u64,
    /// Its place among the followed sessions: another session may get the place when this one is forgotten.
    pub(crate) place: usize,
    /// When its last event came.
    pub last_event: Duration,
    pub(super) last_stamp: Option<Timestamp>,
    /// The running tools.
    pub tools: Vec<ToolCall>,
    /// The last calls that ended without success and whose success would be a danger.
    pub(super) failed: Vec<ToolCall>,
    /// The agent's last state, as the agent names it.
    pub state: Option<Cow<'static, str>>,
    /// How many times a part of it was not received: its beginning, missing numbers, a lost connection. The
    /// agent is not blamed for the lack of messages that it may have sent: whatever was last heard in an
    /// earlier epoch may have continued since.
    epoch: u32,
    /// The epoch of the last state.
    state_epoch: u32,
    /// The states that events since the last state change imply (4.2.1).
    pub(super) implied: AgentStates,
    /// Whether another session of the same agent ran at the same time.
    pub beside: bool,
    /// Whether all of it so far was old news, right after connecting.
    pub(super) only_replayed: bool,
    /// Whether we joined it in the middle.
    pub joined: bool,
    /// Whether another agent began the session, and this one works in it (A.9, pattern 1).
    pub helps: bool,
    /// Whether it is a dialog of this program's own with the person, in which no agent works.
    pub is_aside: bool,
    /// Whether it is among the agents that are followed as a team.
    pub(super) in_team: bool,
    /// Whether a question is over but `awaiting_input` has not been left yet.
    pub(super) owes_leaving: bool,
    /// An upper bound on the bytes of the names in its growing parts.
    pub(super) loaded: usize,
    /// The bytes of these names at the last count.
    counted: usize,
    /// The bytes with which the session was last counted.
    pub(super) weight: usize,
    /// How many of these bytes belong to the fields below, which few events change.
    rest: usize,
    /// The outputs, sorted by id.
    pub(super) outputs: SmallVec<[(Option<OutputId>, Output); 1]>,
    /// The introduction of the agent's next words.
    pub(super) aftermath: Option<Box<DeniedAction>>,
    /// The last progress.
    pub progress: Option<Box<Progress>>,
    /// Its number among all sessions since the program started, from 1; never reused.
    pub number: u64,
    /// What the person asked for, if the producer states it.
    pub request: Option<String>,
    /// The machine on which it runs, if a bridge states it.
    pub host: Option<Arc<str>>,
    /// The agent's model, as the agent names it.
    pub model: Option<String>,
    /// The agent's version, as the agent names it.
    pub version: Option<String>,
    /// The session that this one is a part of, if the producer states it (A.9, pattern 2).
    pub parent: Option<SessionId>,
    pub(super) calls: Calls,
    pub(super) invocations: u64,
    /// When to check the session for a call without a question.
    pub(super) looked_for: Option<Duration>,
    /// How many gaps in the numbers were never filled; after a few, gaps are no longer waited for.
    pub(super) unfilled: u32,
    /// The number of its events when its connection was last lost; a session has at least one.
    events_at_loss: Option<NonZeroU64>,
    /// How many questions may be among the messages not received.
    pub(super) unseen_questions: u64,
    /// When its first event arrived.
    pub since: Duration,
    /// The extra data of its last plan.
    pub plan: Arc<Attachments>,
}

/// The state of a session's sequence numbers (3.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbering {
    /// Nothing seen yet.
    Unknown,
    /// The session has no numbers.
    Absent,
    /// The expected next number.
    Next(u64),
    /// Only some events have numbers; reported once.
    Mixed,
    /// It continues the numbers of its lead.
    Shared,
}

/// The producer from which an agent's details were read; it does not count when sessions are compared.
#[derive(Debug, Clone, Default)]
struct ReadFrom(Weak<Producer>);

impl PartialEq for ReadFrom {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Session {
    pub(super) fn new(key: SessionKey, agent: Arc<str>, at: Duration, joined: bool) -> Self {
        Self {
            key,
            agent,
            number: 0,
            place: 0,
            beside: false,
            phase: Phase::Running,
            parent: None,
            state: None,
            request: None,
            host: None,
            model: None,
            version: None,
            producer: ReadFrom::default(),
            tools: Vec::new(),
            failed: Vec::new(),
            plan: Attachments::none(),
            progress: None,
            since: at,
            last_event: at,
            only_replayed: true,
            joined,
            helps: false,
            is_aside: false,
            in_team: false,
            events: 0,
            outputs: SmallVec::new(),
            calls: Calls::default(),
            numbering: Numbering::Unknown,
            unfilled: 0,
            last_stamp: None,
            implied: AgentStates::default(),
            aftermath: None,
            epoch: 0,
            state_epoch: 0,
            events_at_loss: None,
            unseen_questions: 0,
            first_number: None,
            invocations: 0,
            owes_leaving: false,
            looked_for: None,
            loaded: 0,
            counted: 0,
            weight: 0,
            rest: 0,
        }
    }

    /// Reads what an agent states about itself in every event; returns whether its name has changed.
    pub(super) fn take_producer(&mut self, producer: &Arc<Producer>) -> bool {
        if std::ptr::eq(self.producer.0.as_ptr(), Arc::as_ptr(producer)) {
            return false;
        }
        self.producer = ReadFrom(Arc::downgrade(producer));
        let keep = |kept: &mut Option<String>, said: Option<&str>| {
            if kept.as_deref() != said {
                *kept = said.map(shown);
            }
        };
        keep(&mut self.model, producer.model.as_deref());
        keep(&mut self.version, producer.agent_version.as_deref());
        self.weigh_rest();
        let renamed = self.agent != *producer.label();
        self.agent.clone_from(producer.label());
        renamed
    }

    /// Reads on which machine it runs, as a bridge states it; returns whether that is news.
    pub(super) fn take_host(&mut self, envelope: &Envelope) -> bool {
        if self.host.is_some() {
            return false;
        }
        self.host = envelope.host().map(|host| shown(host).into());
        self.host.is_some()
    }

    /// Returns whether the session is over.
    pub fn is_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended(_))
    }

    /// Returns how it ended.
    pub fn ending(&self) -> Option<SessionEndKind> {
        match self.phase {
            Phase::Ended(ending) => Some(ending),
            Phase::Running | Phase::Waiting(_) => None,
        }
    }

    /// Returns whether all of it was received, from its start on.
    pub fn is_whole(&self) -> bool {
        self.epoch == 0
    }

    /// Returns when the first call without a question is to be reported.
    pub(super) fn unasked_due(&self) -> Option<Duration> {
        let missing = |call: &&ToolCall| matches!(call.consent, Consent::Missing(_));
        let due = self.tools.iter().filter(missing);
        due.map(|call| call.since + UNASKED_AFTER).min()
    }

    /// Returns an estimate of its memory in bytes, on the high side.
    pub(super) fn weigh(&mut self) -> usize {
        self.counted = self.counted.min(self.loaded);
        if self.loaded > self.counted + LOADED {
            let of = |id: Option<&ToolCallId>| id.map_or(0, |id| id.as_str().len());
            let tools = self.tools.iter().chain(&self.failed);
            let tools: usize = tools
                .map(|call| call.tool.len() + of(call.call_id.as_ref()))
                .sum();
            let calls: usize = self.calls.ids().map(|id| id.as_str().len()).sum();
            let outputs = self.outputs.iter().filter_map(|(id, _)| id.as_ref());
            let outputs: usize = outputs.map(|id| id.as_str().len()).sum();
            self.loaded = tools + calls + outputs + self.plan.weight();
            self.counted = self.loaded;
        }
        let state = self.state.as_deref().map_or(0, str::len);
        let progress = self.progress.as_ref();
        let described = progress.and_then(|progress| progress.description.as_ref());
        let key = self.key.agent.as_str().len() + self.key.session.as_str().len();
        // Its key is in the session, in the index, and with its agent; maps and lists have room to grow.
        AROUND
            + size_of::<Self>()
            + 4 * key
            + self.agent.len()
            + state
            + described.map_or(0, String::len)
            + 2 * size_of::<ToolCall>() * (self.tools.len() + self.failed.len())
            + 2 * size_of::<(OutputId, Output)>() * self.outputs.len()
            + self.rest
            + self.loaded
    }

    /// Measures the rarely changed fields again; to be called after each change to them.
    pub(super) fn weigh_rest(&mut self) {
        let texts = [&self.request, &self.model, &self.version];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        self.rest = texts + 2 * size_of::<(ToolCallId, ToolRun)>() * self.calls.len();
    }

    /// Returns its current epoch; see the field.
    pub(super) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Notes that a part of it was not received, which may include this many questions.
    pub(super) fn miss(&mut self, questions: u64) {
        self.epoch = self.epoch.saturating_add(1);
        self.unseen_questions = self.unseen_questions.saturating_add(questions);
        self.owes_leaving = false;
        for call in &mut self.tools {
            if self.unseen_questions == 0 {
                break;
            }
            let unsure = match call.consent {
                Consent::Missing(Reception::Complete) => Consent::Missing(Reception::Partial),
                Consent::MissingTold(Reception::Complete) => {
                    Consent::MissingTold(Reception::Partial)
                }
                Consent::NotNeeded
                | Consent::Missing(Reception::Partial)
                | Consent::MissingTold(Reception::Partial)
                | Consent::Asked(_) => continue,
            };
            call.consent = unsure;
            self.unseen_questions -= 1;
        }
    }

    /// Notes that its connection was lost: numbers will show what is missing; without numbers, anything may be
    /// missing.
    pub(super) fn connection_lost(&mut self) {
        self.events_at_loss = NonZeroU64::new(self.events);
        match self.numbering {
            Numbering::Next(_) => {}
            Numbering::Unknown | Numbering::Absent | Numbering::Mixed | Numbering::Shared => {
                self.miss(u64::MAX)
            }
        }
    }

    /// Returns whether its connection was lost and it has sent nothing since: what it is doing now is unknown.
    pub fn is_unheard(&self) -> bool {
        !self.is_ended()
            && self
                .events_at_loss
                .is_some_and(|events| events.get() == self.events)
    }

    /// Notes the state that the agent reports.
    pub(super) fn enter(&mut self, state: Cow<'static, str>) {
        self.state = Some(match state.len() <= LONGEST_SHOWN {
            true => state,
            false => Cow::Owned(shown(&state)),
        });
        self.state_epoch = self.epoch;
    }

    /// Returns the state if it can't have changed unnoticed.
    pub(super) fn sure_state(&self) -> Option<&str> {
        self.state
            .as_deref()
            .filter(|_| self.state_epoch == self.epoch)
    }

    /// Returns the outputs with their ids.
    pub fn outputs(&self) -> impl Iterator<Item = (Option<&OutputId>, &Output)> {
        self.outputs
            .iter()
            .map(|(id, output)| (id.as_ref(), output))
    }

    /// Returns the index of an output, or the index where it belongs.
    pub(super) fn place_of_output(&self, id: &Option<OutputId>) -> Result<usize, usize> {
        // Most sessions have one output, and its id is usually the same shared text.
        match &*self.outputs {
            [(known, _)] if known == id => Ok(0),
            outputs => outputs.binary_search_by(|(known, _)| known.cmp(id)),
        }
    }

    /// Finds the running tool of an event: by call id if there is one, otherwise by name.
    pub(super) fn find_tool(&self, call_id: Option<&ToolCallId>, tool: &str) -> Option<usize> {
        match call_id {
            Some(id) => self
                .tools
                .iter()
                .position(|call| call.call_id.as_ref() == Some(id))
                .or_else(|| {
                    // A producer may name the call on one side only.
                    self.tools
                        .iter()
                        .position(|call| call.call_id.is_none() && call.tool == tool)
                }),
            None => {
                // A call without an id goes before one with an id, and one heard since the last gap before one
                // that may be over.
                let fit = |call: &ToolCall| (call.call_id.is_some(), call.epoch != self.epoch);
                let named = self.tools.iter().enumerate();
                let named = named.filter(|(_, call)| call.tool == tool);
                named
                    .min_by_key(|(at, call)| (fit(call), *at))
                    .map(|(at, _)| at)
            }
        }
    }
}

/// Cuts a display-only text.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
