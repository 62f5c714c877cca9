//! The state of one session.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use jiff::Timestamp;

use crate::protocol::{OutputId, Progress, RiskLevel, SessionId, ToolCallId};

use super::key::SessionKey;
use super::machines::{AgentState, Lifecycle, OutputRun, ToolRun};
use super::prompt::PromptId;

/// How many open tools a session keeps: far beyond any real agent, small enough to bound a hostile one.
pub(super) const MOST_TOOLS: usize = 256;
/// How many outputs a session keeps; completed ones leave first.
pub(super) const MOST_OUTPUTS: usize = 64;
/// How many used call ids are remembered to notice a second use.
pub(super) const MOST_CALL_IDS: usize = 512;
/// How much of a text is kept that is only shown, in characters: more than any screen has room for,
/// little enough for 256 sessions of a hostile producer.
pub(super) const LONGEST_SHOWN: usize = 2000;

/// Says how a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Successfully.
    Completed,
    /// By an error.
    Errored,
    /// Before completion.
    Cancelled,
}

/// Says where a session is in its life (A.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It works.
    Running,
    /// It is blocked by the given, oldest open question.
    Waiting(PromptId),
    /// It is over.
    Ended(Ending),
}

impl Phase {
    /// Gives the phase's place in the machine of A.1.
    pub fn lifecycle(self) -> Lifecycle {
        match self {
            Self::Running | Self::Waiting(_) => Lifecycle::Active,
            Self::Ended(Ending::Completed) => Lifecycle::Completed,
            Self::Ended(Ending::Errored) => Lifecycle::Errored,
            Self::Ended(Ending::Cancelled) => Lifecycle::Cancelled,
        }
    }
}

/// Says whether an irreversible call had a question of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// The call is not irreversible, or its question was before our time.
    NotNeeded,
    /// Nobody was asked yet.
    Missing,
    /// Nobody was asked, and the person was told.
    MissingTold,
    /// This question was about it.
    Asked(PromptId),
}

/// Holds one tool that was invoked and has not returned.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// What pairs it with its completion.
    pub call_id: Option<ToolCallId>,
    /// When it was invoked, on the monotonic clock.
    pub since: Duration,
    /// Whether it can't be taken back.
    pub irreversible: bool,
    /// How much could go wrong.
    pub risk: Option<RiskLevel>,
    /// Whether there was a question about it.
    pub consent: Consent,
    /// How long it may take, in milliseconds.
    pub expected_duration_ms: Option<u64>,
    /// Whether the state was `calling_tool` at any time since.
    pub(super) in_calling_tool: bool,
}

/// Holds what is known of one output; its text lives in the announcer and the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The last position, in the producer's unit.
    pub position: Option<u64>,
    /// Where it is in its life.
    pub run: OutputRun,
    /// Whether the last chunk had text, so that the next position must be greater.
    pub(super) had_text: bool,
}

/// Holds the state of one session of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Whose.
    pub key: SessionKey,
    /// The agent's name for a person.
    pub agent: String,
    /// Where it is in its life.
    pub phase: Phase,
    /// The session that this one is a part of, where the producer says so (A.9, pattern 2).
    pub parent: Option<SessionId>,
    /// The agent's last state, as it names it.
    pub state: Option<String>,
    /// What the person asked for, where the producer says so.
    pub request: Option<String>,
    /// The tools that run.
    pub tools: Vec<ToolCall>,
    /// The last progress.
    pub progress: Option<Progress>,
    /// When its first event came.
    pub since: Duration,
    /// When its last event came.
    pub last_event: Duration,
    /// Whether we came in its middle.
    pub joined: bool,
    /// How many events it had.
    pub events: u64,
    pub(super) outputs: BTreeMap<Option<OutputId>, Output>,
    pub(super) calls: VecDeque<(ToolCallId, ToolRun)>,
    pub(super) numbering: Numbering,
    /// How many gaps in the numbers nobody filled; past a few, nobody waits for the next one.
    pub(super) unfilled: u32,
    pub(super) last_stamp: Option<Timestamp>,
    /// The states that events since the last state change imply (4.2.1).
    pub(super) implied: BTreeSet<AgentState>,
    pub(super) rejected: Option<String>,
    pub(super) unseen_questions: u32,
    pub(super) state_changes: u64,
    pub(super) invocations: u64,
    /// Whether a question is over and `awaiting_input` was not left yet.
    pub(super) owes_leaving: bool,
}

/// Follows a session's sequence numbers (3.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbering {
    /// Nothing seen yet.
    Unknown,
    /// The session has none.
    Absent,
    /// The next number should be this.
    Next(u64),
    /// It has them on some events only; told once.
    Mixed,
}

impl Session {
    pub(super) fn new(key: SessionKey, agent: String, at: Duration, joined: bool) -> Self {
        Self {
            key,
            agent,
            phase: Phase::Running,
            parent: None,
            state: None,
            request: None,
            tools: Vec::new(),
            progress: None,
            since: at,
            last_event: at,
            joined,
            events: 0,
            outputs: BTreeMap::new(),
            calls: VecDeque::new(),
            numbering: Numbering::Unknown,
            unfilled: 0,
            last_stamp: None,
            implied: BTreeSet::new(),
            rejected: None,
            unseen_questions: 0,
            state_changes: 0,
            invocations: 0,
            owes_leaving: false,
        }
    }

    /// Tells whether the session is over.
    pub fn is_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended(_))
    }

    /// Gives the outputs with their ids.
    pub fn outputs(&self) -> impl Iterator<Item = (Option<&OutputId>, &Output)> {
        self.outputs
            .iter()
            .map(|(id, output)| (id.as_ref(), output))
    }

    /// Finds the running tool that an event means: by call id where there is one, else by name.
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
            None => self.tools.iter().position(|call| call.tool == tool),
        }
    }
}

/// Cuts a text that is only shown.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
