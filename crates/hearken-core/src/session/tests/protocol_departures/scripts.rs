//! A script for each kind of departure.

use super::*;

/// Returns one script for each kind, with all resulting departures, in order.
pub(super) fn scripts() -> Vec<(AnomalyKind, Vec<RuleRow>, Vec<AnomalyKind>)> {
    use AnomalyKind as K;
    let thinking = || state("idle", "thinking");
    let calling = || state("thinking", "calling_tool");
    let writing = || state("thinking", "writing_output");
    vec![
        (
            K::Invalid,
            vec![("session.started", json!({"event_id": "no"}))],
            vec![K::Invalid],
        ),
        (
            K::EventIdReused,
            vec![
                ("session.started", json!({"event_id": "evt_same"})),
                (
                    "progress.updated",
                    json!({"event_id": "evt_same", "progress": {"percent": 1}}),
                ),
            ],
            vec![K::EventIdReused],
        ),
        (
            K::SessionIdReused,
            vec![started(), ended(), started()],
            vec![K::SessionIdReused],
        ),
        (
            K::TimestampDecreased,
            vec![
                started(),
                (
                    "state.changed",
                    json!({"from_state": "idle", "to_state": "thinking", "timestamp": "2025-12-31T23:59:59.000Z"}),
                ),
            ],
            vec![K::TimestampDecreased],
        ),
        (
            K::SequenceGap,
            vec![
                numbered(started(), 0),
                numbered(thinking(), 2),
                ("wait", json!(300)),
            ],
            vec![K::SequenceGap],
        ),
        (
            K::SequenceMisorder,
            vec![
                numbered(started(), 0),
                numbered(thinking(), 1),
                numbered(("progress.updated", json!({"progress": {"percent": 1}})), 1),
            ],
            vec![K::SequenceMisorder],
        ),
        (
            K::SequenceMixed,
            vec![numbered(started(), 0), thinking()],
            vec![K::SequenceMixed],
        ),
        (
            K::SequenceStart,
            vec![numbered(started(), 1)],
            vec![K::SequenceStart],
        ),
        (
            K::SecondStart,
            vec![started(), started()],
            vec![K::SecondStart],
        ),
        (
            K::LateStart,
            vec![
                ("progress.updated", json!({"progress": {"percent": 1}})),
                started(),
            ],
            vec![K::LateStart],
        ),
        (
            K::SecondEnd,
            vec![
                started(),
                ended(),
                (
                    "session.errored",
                    json!({"error_category": "unknown", "urgency": "critical"}),
                ),
            ],
            vec![K::SecondEnd],
        ),
        (
            K::AfterEnd,
            vec![
                started(),
                ended(),
                ("progress.updated", json!({"progress": {"percent": 1}})),
            ],
            vec![K::AfterEnd],
        ),
        (
            K::FirstStateNotIdle,
            vec![started(), state("thinking", "deciding")],
            vec![K::FirstStateNotIdle],
        ),
        (
            K::BrokenStateChain,
            vec![started(), thinking(), state("writing_output", "idle")],
            vec![K::BrokenStateChain],
        ),
        (
            K::CompletionWithoutInvocation,
            vec![started(), completed("balance", "call_1")],
            vec![K::CompletionWithoutInvocation],
        ),
        (
            K::SecondCompletion,
            vec![
                started(),
                thinking(),
                calling(),
                invoked("balance", "call_1"),
                completed("balance", "call_1"),
                completed("balance", "call_1"),
            ],
            vec![K::SecondCompletion],
        ),
        (
            K::ToolLeftOpen,
            vec![
                started(),
                thinking(),
                calling(),
                invoked("balance", "call_1"),
                ended(),
            ],
            vec![K::ToolLeftOpen],
        ),
        (
            K::ReusedCallId,
            vec![
                started(),
                thinking(),
                calling(),
                invoked("balance", "call_1"),
                completed("balance", "call_1"),
                invoked("balance", "call_1"),
                completed("balance", "call_1"),
            ],
            vec![K::ReusedCallId],
        ),
        (
            K::ToolNameChanged,
            vec![
                started(),
                thinking(),
                calling(),
                invoked("balance", "call_1"),
                completed("other", "call_1"),
            ],
            vec![K::ToolNameChanged],
        ),
        (
            K::StateBeforeCompletion,
            vec![
                started(),
                thinking(),
                calling(),
                invoked("balance", "call_1"),
                state("calling_tool", "thinking"),
                completed("balance", "call_1"),
            ],
            vec![K::StateBeforeCompletion],
        ),
        (
            K::AmbiguousCall,
            vec![
                started(),
                thinking(),
                calling(),
                ("tool.invoked", json!({"tool": "balance"})),
                ("tool.invoked", json!({"tool": "balance"})),
                (
                    "tool.completed",
                    json!({"tool": "balance", "status": "success"}),
                ),
                (
                    "tool.completed",
                    json!({"tool": "balance", "status": "success"}),
                ),
            ],
            vec![K::AmbiguousCall],
        ),
        (
            K::StateNotCallingTool,
            vec![
                started(),
                thinking(),
                invoked("balance", "call_1"),
                completed("balance", "call_1"),
            ],
            vec![K::StateNotCallingTool],
        ),
        (
            K::ToolOutOfState,
            vec![
                started(),
                thinking(),
                writing(),
                invoked("balance", "call_1"),
                state("writing_output", "calling_tool"),
                completed("balance", "call_1"),
            ],
            vec![K::ToolOutOfState],
        ),
        (
            K::InvokedAfterRejection,
            vec![
                started(),
                thinking(),
                state("thinking", "awaiting_input"),
                asked("rpl_1"),
                ("reject", json!(null)),
                state("awaiting_input", "calling_tool"),
                danger("transfer", "call_1"),
            ],
            vec![K::InvokedAfterRejection],
        ),
        (
            K::AcceptedWithoutTool,
            vec![
                started(),
                thinking(),
                state("thinking", "awaiting_input"),
                asked("rpl_1"),
                ("accept", json!(null)),
                state("awaiting_input", "thinking"),
                ended(),
            ],
            vec![K::AcceptedWithoutTool],
        ),
        (
            K::RejectedWithoutFollowUp,
            vec![
                started(),
                thinking(),
                state("thinking", "awaiting_input"),
                asked("rpl_1"),
                ("reject", json!(null)),
                ended(),
            ],
            vec![K::AwaitingInputNotLeft, K::RejectedWithoutFollowUp],
        ),
        (
            K::OutputNotCompleted,
            vec![
                started(),
                thinking(),
                writing(),
                chunk("out_1", 0, false),
                ended(),
            ],
            vec![K::OutputNotCompleted],
        ),
        (
            K::OutputCompletedTwice,
            vec![
                started(),
                thinking(),
                writing(),
                chunk("out_1", 0, true),
                chunk("out_1", 3, true),
            ],
            vec![K::OutputCompletedTwice],
        ),
        (
            K::ChunkAfterComplete,
            vec![
                started(),
                thinking(),
                writing(),
                chunk("out_1", 0, true),
                chunk("out_1", 3, false),
            ],
            vec![K::ChunkAfterComplete],
        ),
        (
            K::PositionDecreased,
            vec![
                started(),
                thinking(),
                writing(),
                chunk("out_1", 0, false),
                chunk("out_1", 50, false),
                chunk("out_1", 30, false),
            ],
            vec![K::PositionDecreased],
        ),
        (
            K::PositionRepeated,
            vec![
                started(),
                thinking(),
                writing(),
                chunk("out_1", 0, false),
                chunk("out_1", 0, true),
            ],
            vec![K::PositionRepeated],
        ),
        (
            K::OutputOutOfState,
            vec![started(), thinking(), chunk("out_1", 0, true)],
            vec![K::OutputOutOfState],
        ),
        (
            K::AwaitingInputMissing,
            vec![started(), thinking(), asked("rpl_1")],
            vec![K::AwaitingInputMissing],
        ),
        (
            K::AwaitingInputNotLeft,
            vec![
                started(),
                thinking(),
                state("thinking", "awaiting_input"),
                asked("rpl_1"),
                ("accept", json!(null)),
                danger("transfer", "call_1"),
                completed("transfer", "call_1"),
                ended(),
            ],
            vec![K::AwaitingInputNotLeft],
        ),
        (
            K::QuestionWithoutToken,
            vec![
                started(),
                thinking(),
                state("thinking", "awaiting_input"),
                (
                    "awaiting.clarification",
                    json!({"question": "Which?", "timeout_seconds": 9, "urgency": "critical"}),
                ),
            ],
            // The decoder also reports it as invalid.
            vec![K::Invalid, K::QuestionWithoutToken],
        ),
        (
            K::QuestionRepeated,
            vec![
                started(),
                thinking(),
                state("thinking", "awaiting_input"),
                asked("rpl_1"),
                asked("rpl_2"),
            ],
            vec![K::QuestionRepeated],
        ),
        (
            K::TokenReused,
            vec![
                started(),
                thinking(),
                state("thinking", "awaiting_input"),
                asked("rpl_1"),
                (
                    "awaiting.confirmation",
                    json!({"action": "Delete all", "consequence": "Gone.", "reply_token": "rpl_1", "timeout_seconds": 9,
                    "default_decision": "reject", "urgency": "critical"}),
                ),
            ],
            vec![K::TokenReused],
        ),
    ]
}
