//! The state of one session.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::protocol::{OutputId, Progress, RiskLevel, ToolCallId};

use super::key::SessionKey;
use super::prompt::PromptId;

/// How many open tools a session keeps: far beyond any real agent, small enough to bound a hostile one.
pub(super) const MOST_TOOLS: usize = 256;
/// How many outputs a session keeps; completed ones leave first.
pub(super) const MOST_OUTPUTS: usize = 64;
/// How many used call ids are remembered to notice a second use.
pub(super) const MOST_CALL_IDS: usize = 512;

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
}

/// Holds what is known of one output; its text lives in the announcer and the history.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The last position, in the producer's unit.
    pub position: Option<u64>,
    /// Whether the last chunk came.
    pub complete: bool,
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
    pub(super) call_ids: VecDeque<ToolCallId>,
    pub(super) sequence: Sequence,
    pub(super) rejected: Option<String>,
    pub(super) unseen_questions: u32,
    pub(super) state_changes: u64,
}

/// Follows a session's sequence numbers (3.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sequence {
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
            state: None,
            request: None,
            tools: Vec::new(),
            progress: None,
            since: at,
            last_event: at,
            joined,
            events: 0,
            outputs: BTreeMap::new(),
            call_ids: VecDeque::new(),
            sequence: Sequence::Unknown,
            rejected: None,
            unseen_questions: 0,
            state_changes: 0,
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
