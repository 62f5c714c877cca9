//! What goes against the protocol, and what goes against the person.

use crate::protocol::Severity;

use super::prompt::PromptId;

/// Names a departure from the rules that need more than one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnomalyKind {
    /// An event alone breaks 3.9; its findings say how.
    Invalid,
    /// A session starts a second time (A.1, 4.5.1).
    SecondStart,
    /// A session ends a second time (A.8.2).
    SecondEnd,
    /// An event comes after the session's end (A.8.3).
    AfterEnd,
    /// A tool completes that was never invoked (A.8.1, 4.5.2).
    CompletionWithoutInvocation,
    /// A tool is still open when the session ends (A.3).
    ToolLeftOpen,
    /// A call id is used twice (4.3.1).
    ReusedCallId,
    /// An output has no last chunk when the session ends (A.6, 4.5.4).
    OutputNotCompleted,
    /// A chunk comes after its output's last one (A.8.6).
    ChunkAfterComplete,
    /// A position goes back (A.8.7).
    PositionDecreased,
    /// The first state change does not leave `idle` (4.2.1).
    FirstStateNotIdle,
    /// A state change does not leave the state that was entered last (4.2.1).
    BrokenStateChain,
    /// A question comes without `awaiting_input` before it (A.4).
    AwaitingInputMissing,
    /// A question carries no token, so nobody can answer it (6.2).
    QuestionWithoutToken,
    /// The same question is asked again before it was released (6.1).
    QuestionRepeated,
    /// Sequence numbers leave something out (3.4.1).
    SequenceGap,
    /// Sequence numbers go back (3.4.1).
    SequenceMisorder,
    /// Some events of a session have sequence numbers and some have none (3.4.1).
    SequenceMixed,
}

impl AnomalyKind {
    /// Gives the section of AAEP that the rule stands in.
    pub fn section(self) -> &'static str {
        match self {
            Self::Invalid => "3.9",
            Self::SecondStart => "4.5.1",
            Self::SecondEnd => "A.8.2",
            Self::AfterEnd => "A.8.3",
            Self::CompletionWithoutInvocation => "A.8.1",
            Self::ToolLeftOpen => "A.3",
            Self::ReusedCallId => "4.3.1",
            Self::OutputNotCompleted => "4.5.4",
            Self::ChunkAfterComplete => "A.8.6",
            Self::PositionDecreased => "A.8.7",
            Self::FirstStateNotIdle | Self::BrokenStateChain => "4.2.1",
            Self::AwaitingInputMissing => "A.4",
            Self::QuestionWithoutToken => "6.2",
            Self::QuestionRepeated => "6.1",
            Self::SequenceGap | Self::SequenceMisorder | Self::SequenceMixed => "3.4.1",
        }
    }

    /// Grades the departure: errors may have cost information, warnings have not.
    pub fn severity(self) -> Severity {
        match self {
            Self::SequenceGap | Self::QuestionWithoutToken => Severity::Error,
            Self::SecondStart
            | Self::SecondEnd
            | Self::AfterEnd
            | Self::CompletionWithoutInvocation
            | Self::ToolLeftOpen
            | Self::ReusedCallId
            | Self::OutputNotCompleted
            | Self::ChunkAfterComplete
            | Self::PositionDecreased
            | Self::FirstStateNotIdle
            | Self::BrokenStateChain
            | Self::QuestionRepeated
            | Self::SequenceMisorder
            | Self::SequenceMixed => Severity::Warning,
            Self::Invalid | Self::AwaitingInputMissing => Severity::Note,
        }
    }
}

/// Reports one departure from the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anomaly {
    /// Which rule.
    pub kind: AnomalyKind,
    /// What it concerns: a tool's or state's name, a field, a count; may be empty.
    pub detail: String,
    /// Whether this is the first of its kind from this agent on this link; only that one is told.
    pub first: bool,
}

/// Reports what endangers the person. Dangers are always told, at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Danger {
    /// An irreversible call runs, or succeeded, and nobody was asked (A.8.4).
    Unasked {
        /// The tool.
        tool: String,
        /// Whether it already succeeded.
        done: bool,
    },
    /// A call succeeded although its question was rejected (A.8.5).
    DoneAfterRejection {
        /// The tool.
        tool: String,
        /// The question.
        prompt: PromptId,
    },
    /// Silence would accept something irreversible of medium or high risk (6.4.1).
    AcceptsBySilence {
        /// The question.
        prompt: PromptId,
    },
    /// The person's answer went out when the session had already ended.
    AnsweredAfterEnd {
        /// The question.
        prompt: PromptId,
    },
    /// A tool is invoked in a session that had ended (A.8.3).
    ActsAfterEnd {
        /// The tool.
        tool: String,
    },
}
