//! What broken rules of order and dangers are called in a report, without the names they concern.

use crate::session::{AnomalyKind, Danger};

/// Says what went against the order.
pub(super) fn of_order(kind: AnomalyKind) -> &'static str {
    match kind {
        AnomalyKind::Invalid => "the event is not valid by itself",
        AnomalyKind::EventIdReused => "two different events carry the same event_id",
        AnomalyKind::SessionIdReused => "a session begins under the session_id of one that ended",
        AnomalyKind::TimestampDecreased => "the timestamp is earlier than one before it",
        AnomalyKind::SequenceGap => "that many sequence numbers are missing",
        AnomalyKind::SequenceMisorder => "the sequence number goes back",
        AnomalyKind::SequenceMixed => "only some events of the session have a sequence number",
        AnomalyKind::SequenceStart => "the session starts with this sequence number and not with 0",
        AnomalyKind::SecondStart => "the session starts a second time",
        AnomalyKind::LateStart => "the start is not the first event of its session",
        AnomalyKind::SecondEnd => "the session ends a second time",
        AnomalyKind::AfterEnd => "the event comes after the end of its session",
        AnomalyKind::FirstStateNotIdle => "the first state change leaves this state and not idle",
        AnomalyKind::BrokenStateChain => {
            "the state change leaves this state, which was not the state"
        }
        AnomalyKind::CompletionWithoutInvocation => "the tool completes and was never invoked",
        AnomalyKind::SecondCompletion => "the tool completes a second time",
        AnomalyKind::ToolLeftOpen => "the session ends while the tool still runs",
        AnomalyKind::ReusedCallId => "the tool_call_id was used before",
        AnomalyKind::ToolNameChanged => "the call completes under another tool's name",
        AnomalyKind::StateBeforeCompletion => "the state goes on while the tool still runs",
        AnomalyKind::AmbiguousCall => "calls run side by side without a tool_call_id",
        AnomalyKind::StateNotCallingTool => "the tool ran and the state was never calling_tool",
        AnomalyKind::ToolOutOfState => "the tool is invoked in an unusual state",
        AnomalyKind::InvokedAfterRejection => {
            "the tool is invoked although its question was rejected"
        }
        AnomalyKind::AcceptedWithoutTool => "an action was accepted and its tool never invoked",
        AnomalyKind::RejectedWithoutFollowUp => "an action was rejected and nothing was said of it",
        AnomalyKind::OutputNotCompleted => "the session ends and an output has no last chunk",
        AnomalyKind::OutputCompletedTwice => "the output has a second last chunk",
        AnomalyKind::ChunkAfterComplete => "a chunk comes after the last one of its output",
        AnomalyKind::PositionDecreased => "the position in the output goes back",
        AnomalyKind::PositionRepeated => "the position in the output stays although text came",
        AnomalyKind::OutputOutOfState => "the output begins in an unusual state",
        AnomalyKind::AwaitingInputMissing => "the question comes without the state awaiting_input",
        AnomalyKind::AwaitingInputNotLeft => "a question is over and awaiting_input was not left",
        AnomalyKind::QuestionWithoutToken => "the question has no token, so nobody can answer it",
        AnomalyKind::QuestionRepeated => "the same question is asked again before it was released",
        AnomalyKind::TokenReused => "the reply token was used for another question",
    }
}

/// Says what endangers the person.
pub(super) fn of_danger(danger: &Danger) -> &'static str {
    match danger {
        Danger::Unasked { done: false, .. } => "an irreversible tool runs, and nobody was asked",
        Danger::Unasked { done: true, .. } => {
            "an irreversible tool succeeded, and nobody was asked"
        }
        Danger::PerhapsUnasked { done: false, .. } => {
            "an irreversible tool runs, and perhaps nobody was asked: not everything is in the stream"
        }
        Danger::PerhapsUnasked { done: true, .. } => {
            "an irreversible tool succeeded, and perhaps nobody was asked: not everything is in the stream"
        }
        Danger::PerhapsUnaskedLost { .. } => {
            "an irreversible tool had begun when the stream ended, and perhaps nobody was asked"
        }
        Danger::DoneAfterRejection { .. } => "the tool succeeded although it was rejected",
        Danger::AcceptsBySilence { .. } => {
            "silence accepts something irreversible of medium or high risk"
        }
        Danger::AnsweredAfterEnd { .. } => "an answer went out after the end of the session",
        Danger::ActsAfterEnd { .. } => "a tool is invoked after the end of the session",
    }
}
