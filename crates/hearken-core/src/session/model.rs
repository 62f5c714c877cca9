//! The state of one session.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::{Arc, Weak};
use std::time::Duration;

use jiff::Timestamp;

use smallvec::SmallVec;

use crate::protocol::{Attached, OutputId, Producer, Progress, RiskLevel, SessionId, ToolCallId};

use super::calls::Calls;
use super::fate::Aftermath;
use super::key::{PromptId, SessionKey};
use super::machines::{AgentStates, Lifecycle, OutputRun, ToolRun};
use super::remembered::Digest;
use super::waits::UNASKED_AFTER;

/// How many open tools a session keeps: far beyond any real agent, small enough to bound a hostile one.
pub(super) const MOST_TOOLS: usize = 256;
/// How many outputs a session keeps; completed ones leave first.
pub(super) const MOST_OUTPUTS: usize = 64;
/// How much of a text is kept that is only shown, in characters: more than any screen has room for,
/// little enough for thousands of sessions of a hostile producer.
pub(super) const LONGEST_SHOWN: usize = 2000;

/// After how many bytes of new names they are counted anew, because old ones may have left.
const LOADED: usize = 8 * 1024;
/// What a session takes beside what is counted: its places in lists, what allocations cost.
const AROUND: usize = 512;

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Successfully.
    Completed,
    /// By an error.
    Errored,
    /// Before completion.
    Cancelled,
}

/// Where a session is in its life (A.1).
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
    /// Returns the phase's place in the machine of A.1.
    pub fn lifecycle(self) -> Lifecycle {
        match self {
            Self::Running | Self::Waiting(_) => Lifecycle::Active,
            Self::Ended(Ending::Completed) => Lifecycle::Completed,
            Self::Ended(Ending::Errored) => Lifecycle::Errored,
            Self::Ended(Ending::Cancelled) => Lifecycle::Cancelled,
        }
    }
}

/// Whether an irreversible call had a question of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// The call is not irreversible.
    NotNeeded,
    /// No question about it came yet.
    Missing(Sight),
    /// No question about it came, and the person was told.
    MissingTold(Sight),
    /// This question was about it.
    Asked(PromptId),
}

/// How sure it is that what was not heard was not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// Everything was heard in which it could have been.
    Whole,
    /// It may have come before we joined, or be among messages that are missing.
    Partial,
}

/// One tool that was invoked and has not returned.
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
    /// The digest of what it is called with, as far as its event says that.
    pub(super) args: Option<Digest>,
    /// Whether there was a question about it.
    pub consent: Consent,
    /// How long it may take, in milliseconds.
    pub expected_duration_ms: Option<u64>,
    /// Whether the state was `calling_tool` at any time since.
    pub(super) in_calling_tool: bool,
    /// In which epoch of its session it was invoked.
    pub(super) epoch: u32,
}

/// What is known of one output; its text lives in the announcer and the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The last position, in the producer's unit.
    pub position: Option<u64>,
    /// Where it is in its life.
    pub run: OutputRun,
    /// Whether the last chunk had text, so that the next position must be greater.
    pub(super) had_text: bool,
    /// In which epoch of its session its last chunk came.
    pub(super) epoch: u32,
}

/// The state of one session of one agent.
///
/// The fields stand in memory as they stand here, those first that each event looks at: of thousands of sessions none is
/// near at hand, and every 64 bytes of one are fetched by themselves.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
pub struct Session {
    /// Whose.
    pub key: SessionKey,
    /// The agent's name for a person.
    pub agent: Arc<str>,
    /// Of which producer its words about its agent are: it is the same one, shared, for nearly every event.
    producer: ReadFrom,
    /// The number of the first event that was heard.
    pub(super) first_number: Option<u64>,
    pub(super) numbering: Numbering,
    /// Where it is in its life.
    pub phase: Phase,
    /// How many events it had.
    pub events: u64,
    /// Where it stands among those that are followed: another one may stand there when it is forgotten.
    pub(crate) place: usize,
    /// When its last event came.
    pub last_event: Duration,
    pub(super) last_stamp: Option<Timestamp>,
    /// The tools that run.
    pub tools: Vec<ToolCall>,
    /// The agent's last state, as it names it.
    pub state: Option<Cow<'static, str>>,
    /// How often something of it was not heard: its beginning, missing numbers, a connection that was
    /// lost. Nobody is blamed for what may have been said in between: what was last heard of in an
    /// earlier epoch may have gone on since.
    epoch: u32,
    /// The epoch of the last state.
    state_epoch: u32,
    /// The states that events since the last state change imply (4.2.1).
    pub(super) implied: AgentStates,
    /// Whether another one of the same agent ran while it did.
    pub beside: bool,
    /// Whether all of it came as old news, right after connecting.
    pub(super) only_replayed: bool,
    /// Whether we came in its middle.
    pub joined: bool,
    /// Whether a question is over and `awaiting_input` was not left yet.
    pub(super) owes_leaving: bool,
    /// At most how many bytes the names in what can grow take.
    pub(super) loaded: usize,
    /// How many they were when they were counted.
    counted: usize,
    /// How many bytes it was counted for.
    pub(super) weight: usize,
    /// How many of them lie behind this, in what few events change.
    rest: usize,
    /// In the order of their ids.
    pub(super) outputs: SmallVec<[(Option<OutputId>, Output); 1]>,
    /// What the agent's next words are introduced with.
    pub(super) aftermath: Option<Box<Aftermath>>,
    /// The last progress.
    pub progress: Option<Box<Progress>>,
    /// Which one it is of all that began since this program did, from 1; never reused.
    pub number: u64,
    /// What the person asked for, where the producer says so.
    pub request: Option<String>,
    /// The agent's model, as it names it.
    pub model: Option<String>,
    /// The agent's version, as it names it.
    pub version: Option<String>,
    /// The session that this one is a part of, where the producer says so (A.9, pattern 2).
    pub parent: Option<SessionId>,
    pub(super) calls: Calls,
    pub(super) invocations: u64,
    /// When it is looked for a call of it that nobody was asked about.
    pub(super) looked_for: Option<Duration>,
    /// How many gaps in the numbers nobody filled; past a few, nobody waits for the next one.
    pub(super) unfilled: u32,
    /// How many events it had when its connection was last lost; it has one when it begins.
    events_at_loss: Option<NonZeroU64>,
    /// How many questions may be in what was not heard.
    pub(super) unseen_questions: u64,
    /// When its first event came.
    pub since: Duration,
    /// What came with its last plan.
    pub plan: Arc<Attached>,
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

/// Remembers of which producer a session's words about its agent are; that is no part of what the session is.
#[derive(Debug, Clone, Default)]
struct ReadFrom(Weak<Producer>);

impl PartialEq for ReadFrom {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Session {
    /// Looks at it where most events will, in each 64 bytes once.
    pub(super) fn look_at(&self) {
        std::hint::black_box((
            self.events,
            self.tools.len(),
            self.loaded,
            self.aftermath.is_some(),
            self.number,
            self.calls.len(),
        ));
    }

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
            model: None,
            version: None,
            producer: ReadFrom::default(),
            tools: Vec::new(),
            plan: Attached::none(),
            progress: None,
            since: at,
            last_event: at,
            only_replayed: true,
            joined,
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

    /// Takes what an agent says of itself with every event; tells whether it has another name than before.
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

    /// Returns whether the session is over.
    pub fn is_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended(_))
    }

    /// Returns whether everything of it was heard, from its start on.
    pub fn is_whole(&self) -> bool {
        self.epoch == 0
    }

    /// Returns when the first call that nobody was asked about is told to be one.
    pub(super) fn unasked_due(&self) -> Option<Duration> {
        let missing = |call: &&ToolCall| matches!(call.consent, Consent::Missing(_));
        let due = self.tools.iter().filter(missing);
        due.map(|call| call.since + UNASKED_AFTER).min()
    }

    /// Returns how many bytes it takes, a little too many rather than too few.
    pub(super) fn weigh(&mut self) -> usize {
        self.counted = self.counted.min(self.loaded);
        if self.loaded > self.counted + LOADED {
            let of = |id: Option<&ToolCallId>| id.map_or(0, |id| id.as_str().len());
            let tools = self.tools.iter();
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
        // Its key stands in it, in the index, and with its agent; maps and lists have room to grow.
        AROUND
            + size_of::<Self>()
            + 4 * key
            + self.agent.len()
            + state
            + described.map_or(0, String::len)
            + 2 * size_of::<ToolCall>() * self.tools.len()
            + 2 * size_of::<(OutputId, Output)>() * self.outputs.len()
            + self.rest
            + self.loaded
    }

    /// Weighs anew what stands behind what each event looks at; whoever changes it has it done.
    pub(super) fn weigh_rest(&mut self) {
        let texts = [&self.request, &self.model, &self.version];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        self.rest = texts + 2 * size_of::<(ToolCallId, ToolRun)>() * self.calls.len();
    }

    /// Returns the epoch that it is in; see the field.
    pub(super) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Notes that something of it was not heard, in which so many questions may have been.
    pub(super) fn miss(&mut self, questions: u64) {
        self.epoch = self.epoch.saturating_add(1);
        self.unseen_questions = self.unseen_questions.saturating_add(questions);
        self.owes_leaving = false;
        for call in &mut self.tools {
            if self.unseen_questions == 0 {
                break;
            }
            let unsure = match call.consent {
                Consent::Missing(Sight::Whole) => Consent::Missing(Sight::Partial),
                Consent::MissingTold(Sight::Whole) => Consent::MissingTold(Sight::Partial),
                Consent::NotNeeded
                | Consent::Missing(Sight::Partial)
                | Consent::MissingTold(Sight::Partial)
                | Consent::Asked(_) => continue,
            };
            call.consent = unsure;
            self.unseen_questions -= 1;
        }
    }

    /// Notes that its connection was lost: numbers will show what is missing, without them anything may be.
    pub(super) fn connection_lost(&mut self) {
        self.events_at_loss = NonZeroU64::new(self.events);
        match self.numbering {
            Numbering::Next(_) => {}
            Numbering::Unknown | Numbering::Absent | Numbering::Mixed => self.miss(u64::MAX),
        }
    }

    /// Returns whether its connection was lost and nothing of it came since: what it does now is not known.
    pub fn is_unheard(&self) -> bool {
        !self.is_ended()
            && self
                .events_at_loss
                .is_some_and(|events| events.get() == self.events)
    }

    /// Notes the state that the agent says it is in.
    pub(super) fn enter(&mut self, state: Cow<'static, str>) {
        self.state = Some(match state.len() <= LONGEST_SHOWN {
            true => state,
            false => Cow::Owned(shown(&state)),
        });
        self.state_epoch = self.epoch;
    }

    /// Returns the state where nothing can have changed it unheard.
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

    /// Returns where an output stands among the others, or where it would.
    pub(super) fn place_of_output(&self, id: &Option<OutputId>) -> Result<usize, usize> {
        // Most write one, and its id is the same text, shared.
        match &*self.outputs {
            [(known, _)] if known == id => Ok(0),
            outputs => outputs.binary_search_by(|(known, _)| known.cmp(id)),
        }
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
            None => {
                // One without an id is meant before one with an id, and one that was heard of since
                // something was missed before one that may be over.
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

/// Cuts a text that is only shown.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
