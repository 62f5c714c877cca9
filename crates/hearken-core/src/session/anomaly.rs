//! Departures from the protocol, and dangers to the person.

use crate::protocol::{Finding, Severity};

use super::key::QuestionId;
use super::model::{Reception, ToolCall};
use super::suspicion::{Gravity, Suspicion};

/// Builds the list of departures, each with its name, section and severity, so that no departure lacks one.
macro_rules! anomaly_kinds {
    ($($(#[$about:meta])* $case:ident = $name:literal, $section:literal, $severity:ident);+ $(;)?) => {
        /// A departure from a rule that involves several events.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum AnomalyKind { $($(#[$about])* $case),+ }

        impl AnomalyKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            /// Returns the kind's name for reports, its words joined by `_`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$case => $name),+ }
            }

            /// Returns the section of AAEP that defines the rule.
            pub fn section(self) -> &'static str {
                match self { $(Self::$case => $section),+ }
            }

            /// Returns how bad the departure is: an error breaks a rule of order in the chapters, a warning another
            /// MUST or a SHOULD, and a note is merely unusual.
            pub fn severity(self) -> Severity {
                match self { $(Self::$case => Severity::$severity),+ }
            }
        }
    };
}

anomaly_kinds! {
    /// A single event breaks 3.9; its findings have the details.
    Invalid = "invalid", "3.9", Error;
    /// Two different events carry the same id; both are accepted.
    EventIdReused = "event_id_reused", "3.2.3", Error;
    /// A session begins again under the id of one that ended.
    SessionIdReused = "session_id_reused", "3.2.4", Error;
    /// An event has an earlier timestamp than the one before it.
    TimestampDecreased = "timestamp_decreased", "3.2.5", Warning;
    /// The sequence numbers have a gap.
    SequenceGap = "sequence_gap", "3.4.1", Error;
    /// Sequence numbers go back further than the reordering can repair.
    SequenceMisorder = "sequence_misorder", "3.4.1", Error;
    /// Some events of a session have sequence numbers and some have none.
    SequenceMixed = "sequence_mixed", "3.4.1", Error;
    /// The session's start does not have the number 0.
    SequenceStart = "sequence_start", "3.4.1", Error;
    /// A session starts a second time while it runs.
    SecondStart = "second_start", "4.5.1", Error;
    /// The start is not the first event of its session.
    LateStart = "late_start", "4.1.1", Error;
    /// A session ends a second time.
    SecondEnd = "second_end", "A.8.2", Error;
    /// An event comes after the session's end.
    AfterEnd = "after_end", "A.8.3", Error;
    /// The first state change does not start from `idle`.
    FirstStateNotIdle = "first_state_not_idle", "4.2.1", Error;
    /// A state change starts from a state that neither the last change nor a later event entered.
    BrokenStateChain = "broken_state_chain", "4.2.1", Error;
    /// A tool completes that was never invoked.
    CompletionWithoutInvocation = "completion_without_invocation", "A.8.1", Error;
    /// A call completes a second time.
    SecondCompletion = "second_completion", "A.3", Error;
    /// A tool is still open when the session ends.
    ToolLeftOpen = "tool_left_open", "A.3", Error;
    /// A call id is used twice.
    ReusedCallId = "reused_call_id", "4.3.1", Error;
    /// A call completes under another tool's name.
    ToolNameChanged = "tool_name_changed", "4.3.2", Error;
    /// A state after the tool is entered while the tool still runs.
    StateBeforeCompletion = "state_before_completion", "4.3.2", Warning;
    /// Calls of the same tool run side by side without ids, so they can't be told apart.
    AmbiguousCall = "ambiguous_call", "4.5.2", Warning;
    /// A tool ran although the state was never `calling_tool`.
    StateNotCallingTool = "state_not_calling_tool", "A.3", Warning;
    /// A tool is invoked in a state that the table of predecessors does not list.
    ToolOutOfState = "tool_out_of_state", "A.7.4", Note;
    /// A tool is invoked although its question was rejected.
    InvokedAfterRejection = "invoked_after_rejection", "A.8.5", Error;
    /// An action was accepted, and its tool was never invoked.
    AcceptedWithoutTool = "accepted_without_tool", "4.5.3", Warning;
    /// An action was rejected, and the agent said nothing about it before the end.
    RejectedWithoutFollowUp = "rejected_without_follow_up", "6.1", Warning;
    /// An output has no last chunk when the session ends.
    OutputNotCompleted = "output_not_completed", "4.5.4", Error;
    /// An output has two last chunks.
    OutputCompletedTwice = "output_completed_twice", "4.5.4", Error;
    /// A chunk comes after its output's last one.
    ChunkAfterComplete = "chunk_after_complete", "A.8.6", Error;
    /// A position goes back.
    PositionDecreased = "position_decreased", "A.8.7", Error;
    /// A position stays the same although text arrived.
    PositionRepeated = "position_repeated", "A.6", Warning;
    /// An output begins in a state that the table of predecessors does not list.
    OutputOutOfState = "output_out_of_state", "A.7.7", Note;
    /// A question comes without `awaiting_input` before it.
    AwaitingInputMissing = "awaiting_input_missing", "A.4", Warning;
    /// A question is over, and `awaiting_input` was never left.
    AwaitingInputNotLeft = "awaiting_input_not_left", "A.4", Warning;
    /// A question carries no token, so it can't be answered.
    QuestionWithoutToken = "question_without_token", "6.2", Error;
    /// The same question is asked again before it was released.
    QuestionRepeated = "question_repeated", "6.1", Warning;
    /// One token stands for two different questions.
    TokenReused = "token_reused", "6.2.2", Error;
}

/// The detail of a departure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnomalyDetail {
    /// A tool's or state's name, or a count; may be empty.
    Name(String),
    /// What is wrong with an event on its own.
    Finding(Finding),
}

impl AnomalyDetail {
    /// Returns the name or the count; empty if there is none.
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Finding(_) => "",
        }
    }
}

impl From<String> for AnomalyDetail {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

/// One departure from the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anomaly {
    /// The rule.
    pub kind: AnomalyKind,
    /// What it concerns.
    pub detail: AnomalyDetail,
    /// Whether it is the first of its kind from this agent on this link; only the first is announced.
    pub first: bool,
}

/// A danger to the person. Dangers are always announced immediately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Danger {
    /// An irreversible call runs, or succeeded, without a question (A.8.4).
    Unasked {
        /// The tool.
        tool: String,
        /// Whether it already succeeded.
        done: bool,
        /// Why the person should have been asked.
        gravity: Gravity,
    },
    /// An irreversible call runs, or succeeded, and no question about it was received; but some messages are
    /// missing.
    PerhapsUnasked {
        /// The tool.
        tool: String,
        /// Whether it already succeeded.
        done: bool,
        /// Why the person should have been asked.
        gravity: Gravity,
    },
    /// An irreversible call had begun when its connection was lost, and no question about it had been received.
    PerhapsUnaskedLost {
        /// The tool.
        tool: String,
        /// Why the person should have been asked.
        gravity: Gravity,
    },
    /// A call succeeded although its question was rejected (A.8.5).
    DoneAfterRejection {
        /// The tool.
        tool: String,
        /// The question, and how certain the link to it is.
        suspicion: Suspicion,
    },
    /// A call does something other than what was accepted.
    RanOtherwise {
        /// The tool.
        tool: String,
        /// The question.
        question: QuestionId,
        /// What it runs, if that is known.
        ran: String,
    },
    /// Silence would accept something irreversible of medium or high risk (6.4.1).
    AcceptsBySilence {
        /// The question.
        question: QuestionId,
    },
    /// The person's answer was sent after the session had ended (6.8).
    AnsweredAfterEnd {
        /// The question.
        question: QuestionId,
    },
    /// A tool is invoked in a session that had ended (A.8.3).
    ActsAfterEnd {
        /// The tool.
        tool: String,
    },
}

impl Danger {
    /// Returns the danger of an irreversible call for which no question was received.
    pub(super) fn unasked(call: &ToolCall, done: bool, sight: Reception) -> Self {
        let (tool, gravity) = (call.tool.clone(), call.gravity());
        match sight {
            Reception::Complete => Self::Unasked {
                tool,
                done,
                gravity,
            },
            Reception::Partial => Self::PerhapsUnasked {
                tool,
                done,
                gravity,
            },
        }
    }

    /// Returns the danger's name for reports, in words joined by `_`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unasked { done: false, .. } => "unasked",
            Self::Unasked { done: true, .. } => "unasked_done",
            Self::PerhapsUnasked { done: false, .. } => "perhaps_unasked",
            Self::PerhapsUnasked { done: true, .. } => "perhaps_unasked_done",
            Self::PerhapsUnaskedLost { .. } => "perhaps_unasked_lost",
            Self::DoneAfterRejection { suspicion, .. } if suspicion.is_sure => {
                "done_after_rejection"
            }
            Self::DoneAfterRejection { .. } => "perhaps_done_after_rejection",
            Self::RanOtherwise { .. } => "ran_otherwise",
            Self::AcceptsBySilence { .. } => "accepts_by_silence",
            Self::AnsweredAfterEnd { .. } => "answered_after_end",
            Self::ActsAfterEnd { .. } => "acts_after_end",
        }
    }

    /// Returns the question that it is about, if any.
    pub fn question(&self) -> Option<QuestionId> {
        match self {
            Self::DoneAfterRejection { suspicion, .. } => Some(suspicion.question),
            Self::RanOtherwise { question, .. }
            | Self::AcceptsBySilence { question }
            | Self::AnsweredAfterEnd { question } => Some(*question),
            Self::Unasked { .. }
            | Self::PerhapsUnasked { .. }
            | Self::PerhapsUnaskedLost { .. }
            | Self::ActsAfterEnd { .. } => None,
        }
    }

    /// Returns the section of AAEP whose rule protects the person from it.
    pub fn section(&self) -> &'static str {
        match self {
            Self::Unasked { .. }
            | Self::PerhapsUnasked { .. }
            | Self::PerhapsUnaskedLost { .. } => "A.8.4",
            Self::DoneAfterRejection { .. } => "A.8.5",
            Self::RanOtherwise { .. } => "6.3.2",
            Self::AcceptsBySilence { .. } => "6.4.1",
            Self::AnsweredAfterEnd { .. } => "6.8",
            Self::ActsAfterEnd { .. } => "A.8.3",
        }
    }

    /// Returns the tool that it is about, if one is named.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Unasked { tool, .. }
            | Self::PerhapsUnasked { tool, .. }
            | Self::PerhapsUnaskedLost { tool, .. }
            | Self::DoneAfterRejection { tool, .. }
            | Self::RanOtherwise { tool, .. }
            | Self::ActsAfterEnd { tool } => Some(tool),
            Self::AcceptsBySilence { .. } | Self::AnsweredAfterEnd { .. } => None,
        }
    }
}
