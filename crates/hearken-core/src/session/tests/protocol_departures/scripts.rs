//! A script for each kind of departure.

use super::*;

/// Returns one script for each kind, with all resulting departures, in order.
pub(super) fn scripts() -> Vec<(AnomalyKind, Vec<RuleRow>, Vec<AnomalyKind>)> {
    use AnomalyKind as K;
    let thinking = || state("idle", "thinking");
    let calling = || state("thinking", "calling_tool");
    let writing = || state("thinking", "writing_output");
    let call = || invoked("balance", "call_1");
    let done = || completed("balance", "call_1");
    let at_call = |rest| [vec![started(), thinking(), calling()], rest].concat();
    let at_output = |rest| [vec![started(), thinking(), writing()], rest].concat();
    let waiting = || state("thinking", "awaiting_input");
    let asking = |rest| [vec![started(), thinking(), waiting(), asked("rpl_1")], rest].concat();
    let only = |kind, script| (kind, script, vec![kind]);
    vec![
        only(
            K::Invalid,
            vec![("session.started", json!({"event_id": "no"}))],
        ),
        only(
            K::EventIdReused,
            vec![
                ("session.started", json!({"event_id": "evt_same"})),
                (
                    "progress.updated",
                    json!({"event_id": "evt_same", "progress": {"percent": 1}}),
                ),
            ],
        ),
        only(K::SessionIdReused, vec![started(), ended(), started()]),
        only(
            K::TimestampDecreased,
            vec![
                started(),
                (
                    "state.changed",
                    json!({"from_state": "idle", "to_state": "thinking", "timestamp": "2025-12-31T23:59:59.000Z"}),
                ),
            ],
        ),
        only(
            K::SequenceGap,
            vec![
                numbered(started(), 0),
                numbered(thinking(), 2),
                ("wait", json!(300)),
            ],
        ),
        only(
            K::SequenceMisorder,
            vec![
                numbered(started(), 0),
                numbered(thinking(), 1),
                numbered(("progress.updated", json!({"progress": {"percent": 1}})), 1),
            ],
        ),
        only(K::SequenceMixed, vec![numbered(started(), 0), thinking()]),
        only(K::SequenceStart, vec![numbered(started(), 1)]),
        only(K::SecondStart, vec![started(), started()]),
        only(
            K::LateStart,
            vec![
                ("progress.updated", json!({"progress": {"percent": 1}})),
                started(),
            ],
        ),
        only(
            K::SecondEnd,
            vec![
                started(),
                ended(),
                (
                    "session.errored",
                    json!({"error_category": "unknown", "urgency": "critical"}),
                ),
            ],
        ),
        only(
            K::AfterEnd,
            vec![
                started(),
                ended(),
                ("progress.updated", json!({"progress": {"percent": 1}})),
            ],
        ),
        only(
            K::FirstStateNotIdle,
            vec![started(), state("thinking", "deciding")],
        ),
        only(
            K::BrokenStateChain,
            vec![started(), thinking(), state("writing_output", "idle")],
        ),
        only(K::CompletionWithoutInvocation, vec![started(), done()]),
        only(K::SecondCompletion, at_call(vec![call(), done(), done()])),
        only(K::ToolLeftOpen, at_call(vec![call(), ended()])),
        only(
            K::ReusedCallId,
            at_call(vec![call(), done(), call(), done()]),
        ),
        only(
            K::ToolNameChanged,
            at_call(vec![call(), completed("other", "call_1")]),
        ),
        only(
            K::StateBeforeCompletion,
            at_call(vec![call(), state("calling_tool", "thinking"), done()]),
        ),
        only(
            K::AmbiguousCall,
            at_call(vec![
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
            ]),
        ),
        only(
            K::StateNotCallingTool,
            vec![started(), thinking(), call(), done()],
        ),
        only(
            K::ToolOutOfState,
            at_output(vec![
                call(),
                state("writing_output", "calling_tool"),
                done(),
            ]),
        ),
        only(
            K::InvokedAfterRejection,
            asking(vec![
                ("reject", json!(null)),
                state("awaiting_input", "calling_tool"),
                danger("transfer", "call_1"),
            ]),
        ),
        only(
            K::AcceptedWithoutTool,
            asking(vec![
                ("accept", json!(null)),
                state("awaiting_input", "thinking"),
                ended(),
            ]),
        ),
        (
            K::RejectedWithoutFollowUp,
            asking(vec![("reject", json!(null)), ended()]),
            vec![K::AwaitingInputNotLeft, K::RejectedWithoutFollowUp],
        ),
        only(
            K::OutputNotCompleted,
            at_output(vec![chunk("out_1", 0, false), ended()]),
        ),
        only(
            K::OutputCompletedTwice,
            at_output(vec![chunk("out_1", 0, true), chunk("out_1", 3, true)]),
        ),
        only(
            K::ChunkAfterComplete,
            at_output(vec![chunk("out_1", 0, true), chunk("out_1", 3, false)]),
        ),
        only(
            K::PositionDecreased,
            at_output(vec![
                chunk("out_1", 0, false),
                chunk("out_1", 50, false),
                chunk("out_1", 30, false),
            ]),
        ),
        only(
            K::PositionRepeated,
            at_output(vec![chunk("out_1", 0, false), chunk("out_1", 0, true)]),
        ),
        only(
            K::OutputOutOfState,
            vec![started(), thinking(), chunk("out_1", 0, true)],
        ),
        only(
            K::AwaitingInputMissing,
            vec![started(), thinking(), asked("rpl_1")],
        ),
        only(
            K::AwaitingInputNotLeft,
            asking(vec![
                ("accept", json!(null)),
                danger("transfer", "call_1"),
                completed("transfer", "call_1"),
                ended(),
            ]),
        ),
        (
            K::QuestionWithoutToken,
            vec![
                started(),
                thinking(),
                waiting(),
                (
                    "awaiting.clarification",
                    json!({"question": "Which?", "timeout_seconds": 9, "urgency": "critical"}),
                ),
            ],
            // The decoder also reports it as invalid.
            vec![K::Invalid, K::QuestionWithoutToken],
        ),
        only(K::QuestionRepeated, asking(vec![asked("rpl_2")])),
        only(
            K::TokenReused,
            asking(vec![(
                "awaiting.confirmation",
                json!({"action": "Delete all", "consequence": "Gone.", "reply_token": "rpl_1", "timeout_seconds": 9,
                    "default_decision": "reject", "urgency": "critical"}),
            )]),
        ),
    ]
}
