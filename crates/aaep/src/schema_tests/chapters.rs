//! The fields of the chapters, typed by hand from their text.

use super::*;

pub(super) fn of(name: &str) -> Vec<FieldCase> {
    let tool = |section| {
        form(
            "tool",
            section,
            true,
            &["fetch_balance", "_x", "A.b-c9"],
            &["", "9a", "a b", "a/b", "é"],
        )
    };
    let kinds = ["freetext", "yes_no", "multiple_choice", "numeric"];
    let waits = |section| integer("timeout_seconds", section, true, 1, Some(86_400));
    let risk = |field, section| words(field, section, false, &["low", "medium", "high"]);
    let choice = |value: &str| json!({"value": value, "label": value});
    let (mut cases, section, needs_summary): (Vec<FieldCase>, &str, bool) = match name {
        "agent.session.started" => (
            vec![
                integer("expected_duration_ms", "4.1.1", false, 0, DAY),
                text("requested_by", "4.1.1", false, 256),
                free("request_text", "4.1.1"),
                case("tools_available", "4.1.1", false)
                    .fits(&[json!([]), json!(["a", "b"])])
                    .breaks(WrongType, &[json!("a"), json!([1]), json!([null])])
                    .breaks(Empty, &[json!([""])])
                    .breaks(TooLong, &[json!(["x".repeat(257)])])
                    .breaks(RepeatedEntry, &[json!(["a", "a"])])
                    .breaks(
                        TooMany,
                        &[json!((0..257).map(|n| n.to_string()).collect::<Vec<_>>())],
                    ),
            ],
            "4.1.1",
            true,
        ),
        "agent.session.completed" => (
            vec![
                integer("duration_ms", "4.1.2", false, 0, DAY),
                integer("tool_invocations_count", "4.1.2", false, 0, None),
                free("output_summary", "4.1.2"),
                uri("result_uri", "4.1.2"),
            ],
            "4.1.2",
            true,
        ),
        "agent.session.errored" => (
            vec![
                words(
                    "error_category",
                    "4.1.3",
                    true,
                    &["transient", "permanent", "requires_user", "unknown"],
                ),
                form(
                    "error_code",
                    "4.1.3",
                    false,
                    &["AUTH_FAILED", "A1"],
                    &["", "A", "auth", "A B", "1A"],
                ),
                uri("error_uri", "4.1.3"),
                boolean("recoverable", "4.1.3", false),
                text("remediation_hint", "4.1.3", false, 4096),
            ],
            "4.1.3",
            true,
        ),
        "agent.session.cancelled" => (
            vec![
                words(
                    "cancelled_by",
                    "4.1.4",
                    true,
                    &["user", "producer", "timeout", "system"],
                ),
                form(
                    "cancellation_reason",
                    "4.1.4",
                    false,
                    &["user_pressed_escape", "a1"],
                    &["", "a", "User", "a b"],
                ),
                free("partial_result", "4.1.4"),
            ],
            "4.1.4",
            true,
        ),
        "agent.state.changed" => (
            vec![
                text("from_state", "4.2.1", true, 64),
                text("to_state", "4.2.1", true, 64),
                integer("expected_duration_ms", "4.2.1", false, 0, DAY),
            ],
            "4.2.1",
            false,
        ),
        "agent.progress.updated" => (
            vec![
                case("progress", "4.2.2", true)
                    .fits(&[
                        json!({"percent": 0}),
                        json!({"percent": 100}),
                        json!({"percent": 47.5}),
                        json!({"step": 1}),
                        json!({"total_steps": 1}),
                        json!({"description": "x"}),
                        json!({"percent": 60, "step": 3, "total_steps": 3, "description": "x"}),
                    ])
                    .breaks(WrongType, &[json!(60), json!("60"), json!([])])
                    .breaks(TooFew, &[json!({})]),
                case("progress.percent", "4.2.2", false)
                    .breaks(OutOfRange, &[json!(-1), json!(100.5)])
                    .breaks(WrongType, &[json!("60")]),
                case("progress.step", "4.2.2", false)
                    .breaks(OutOfRange, &[json!(0)])
                    .breaks(WrongType, &[json!(1.5)]),
                case("progress.total_steps", "4.2.2", false).breaks(OutOfRange, &[json!(0)]),
                case("progress.description", "4.2.2", false)
                    .breaks(Empty, &[json!("")])
                    .breaks(TooLong, &[json!("x".repeat(4097))]),
                bare("progress.eta", "4.2.2").breaks(UnexpectedField, &[json!(1)]),
                integer("eta_ms", "4.2.2", false, 0, DAY),
            ],
            "4.2.2",
            false,
        ),
        "agent.tool.invoked" => (
            vec![
                tool("4.3.1"),
                text("description", "4.3.1", false, 4096),
                free("args_summary", "4.3.1"),
                integer("expected_duration_ms", "4.3.1", false, 0, DAY),
                risk("risk_level", "4.3.1"),
                boolean("irreversible", "4.3.1", false),
                id("tool_call_id", "4.3.1", false, "call_"),
            ],
            "4.3.1",
            true,
        ),
        "agent.tool.completed" => (
            vec![
                tool("4.3.2"),
                words("status", "4.3.2", true, &["success", "error", "timeout"]),
                id("tool_call_id", "4.3.2", false, "call_"),
                integer("duration_ms", "4.3.2", false, 0, DAY),
                text("error_message", "4.3.2", false, 4096),
            ],
            "4.3.2",
            false,
        ),
        "agent.output.streaming" => {
            let mut chunk = free("chunk", "4.3.3");
            chunk.required = true;
            (
                vec![
                    chunk,
                    integer("position", "4.3.3", true, 0, None),
                    boolean("complete", "4.3.3", true),
                    words(
                        "coalesce_hint",
                        "4.3.3",
                        false,
                        &["none", "word", "sentence", "paragraph", "completion"],
                    ),
                    id("output_id", "4.3.3", false, "out_"),
                    form(
                        "content_type",
                        "4.3.3",
                        false,
                        &["text/plain", "application/vnd.a+json"],
                        &[
                            "",
                            "text",
                            "text/",
                            "/plain",
                            "te xt/plain",
                            "text/plain;x=y",
                        ],
                    ),
                    form(
                        "language",
                        "4.3.3",
                        false,
                        &["en", "en-US", "zh-Hant-TW", "es-419"],
                        &["", "e-", "en_US", "1", "en-", "abcdefghi"],
                    ),
                ],
                "4.3.3",
                false,
            )
        }
        "agent.awaiting.confirmation" => (
            vec![
                text("action", "4.4.1", true, LONG),
                text("consequence", "4.4.1", true, LONG),
                id("reply_token", "6.2.1", true, "rpl_"),
                waits("4.4.1"),
                words("default_decision", "4.4.1", true, &["accept", "reject"]),
                risk("risk_level", "4.4.1"),
                boolean("irreversible", "6.4.1", false),
                words(
                    "reversibility",
                    "4.4.1",
                    false,
                    &["reversible", "reversible_with_effort", "irreversible"],
                ),
                case("allowed_replies", "4.4.1", false)
                    .fits(&[json!(["accept", "reject"]), json!(["reject"])])
                    .breaks(TooFew, &[json!([])])
                    .breaks(RepeatedEntry, &[json!(["reject", "reject"])])
                    .breaks(
                        TooMany,
                        &[json!((0..33).map(|n| n.to_string()).collect::<Vec<_>>())],
                    )
                    .breaks(WrongType, &[json!("accept"), json!([1])]),
                object("extra_context", "4.4.1"),
                bare("urgency", "4.4.1")
                    .breaks(NotCritical, &[json!("normal"), json!("background")]),
            ],
            "4.4.1",
            false,
        ),
        "agent.awaiting.clarification" => (
            vec![
                text("question", "4.4.2", true, LONG),
                id("reply_token", "6.2.1", true, "rpl_"),
                waits("4.4.2"),
                case("accepted_response_kinds", "4.4.2", false)
                    .fits(&[json!(["freetext"]), json!(["yes_no", "numeric"])])
                    .breaks(TooFew, &[json!([])])
                    .breaks(UndefinedValue, &[json!(["any"])])
                    .breaks(RepeatedEntry, &[json!(["freetext", "freetext"])])
                    .breaks(
                        TooMany,
                        &[json!([kinds[0], kinds[1], kinds[2], kinds[3], kinds[0]])],
                    )
                    .breaks(WrongType, &[json!("freetext"), json!([1])]),
                case("choices", "4.4.2", false)
                    .fits(&[json!([choice("a"), choice("b")])])
                    .breaks(TooFew, &[json!([]), json!([choice("a")])])
                    .breaks(
                        TooMany,
                        &[json!(
                            (0..33).map(|n| choice(&n.to_string())).collect::<Vec<_>>()
                        )],
                    )
                    .breaks(RepeatedEntry, &[json!([choice("a"), choice("a")])])
                    .breaks(WrongType, &[json!("a"), json!(["a", "b"]), json!({})]),
                case("choices.value", "4.4.2", false)
                    .breaks(Empty, &[json!("")])
                    .breaks(TooLong, &[json!("x".repeat(257))])
                    .breaks(WrongType, &[json!(60)]),
                case("choices.label", "4.4.2", false)
                    .breaks(Empty, &[json!("")])
                    .breaks(TooLong, &[json!("x".repeat(1025))]),
                bare("choices.id", "4.4.2").breaks(UnexpectedField, &[json!("x")]),
                text("context", "4.4.2", false, 4096),
                unbounded("default_response", "4.4.2").breaks(TooLong, &[json!("x".repeat(4097))]),
                bare("urgency", "4.4.2").breaks(NotCritical, &[json!("normal")]),
            ],
            "4.4.2",
            false,
        ),
        "agent.handoff.requested" => (
            vec![
                text("reason", "4.4.3", true, LONG),
                words(
                    "target_kind",
                    "4.4.3",
                    true,
                    &["human", "specialist_agent", "escalation_queue"],
                ),
                uri("target_uri", "4.4.3"),
                object("packaged_context", "4.4.3"),
                risk("urgency_for_handoff", "4.4.3"),
                bare("urgency", "4.4.3").breaks(NotCritical, &[json!("normal")]),
            ],
            "4.4.3",
            false,
        ),
        other => panic!("{other} has no cases"),
    };
    if name != "agent.output.streaming" {
        cases.extend(summaries(section_of(section), needs_summary));
    }
    cases
}

fn section_of(section: &str) -> &'static str {
    CORE.iter()
        .map(|core| core.section)
        .find(|known| *known == section)
        .unwrap()
}

pub(super) fn envelope_cases() -> Vec<FieldCase> {
    let tag = |field| form(field, "11.1.2", false, &["en", "yo-NG"], &["", "en_US"]);
    vec![
        id("event_id", "3.2.3", true, "evt_"),
        id("session_id", "3.2.4", true, "sess_"),
        form(
            "timestamp",
            "3.2.5",
            true,
            &["2026-05-24T14:22:11Z", "2026-05-24T15:22:11.342567+01:00"],
            &["", "May 24, 2026 14:22:11", "2026-05-24T14:22:11.3Z"],
        ),
        case("producer", "3.2.6", true)
            .fits(&[json!({"agent_id": "a"})])
            .breaks(WrongType, &[json!("a"), json!([]), json!(1)]),
        text("producer.agent_id", "3.2.6.1", true, 0),
        said("producer.agent_version", "3.2.6.2"),
        said("producer.agent_name", "3.2.6.3"),
        said("producer.model", "3.2.6.4"),
        uri("producer.manifest_uri", "3.2.6.5"),
        words(
            "verbosity",
            "3.3.1",
            false,
            &["terse", "normal", "detailed"],
        ),
        words(
            "urgency",
            "3.3.2",
            false,
            &["background", "normal", "critical"],
        ),
        case("localization_hints", "11.1.1", false)
            .fits(&[json!({"primary_language": "en"})])
            .breaks(WrongType, &[json!("en"), json!([])]),
        tag("localization_hints.primary_language"),
        words(
            "localization_hints.text_direction",
            "11.1.1",
            false,
            &["ltr", "rtl", "auto"],
        ),
        case("localization_hints.available_languages", "11.1.2", false)
            .fits(&[json!([]), json!(["en", "yo-NG"])])
            .breaks(BadForm, &[json!(["en_US"]), json!([""])])
            .breaks(RepeatedEntry, &[json!(["en", "en"])])
            .breaks(WrongType, &[json!("en"), json!([1])]),
        case("localization_hints.fallback_chain", "11.1.2", false)
            .fits(&[json!(["en", "en"])])
            .breaks(BadForm, &[json!(["en_US"])])
            .breaks(TooMany, &[json!(vec!["en"; 17])])
            .breaks(WrongType, &[json!({}), json!([1])]),
        form(
            "localization_hints.script",
            "11.1.1",
            false,
            &["Latn"],
            &["", "latn", "LATN", "Latin", "Ábcd"],
        ),
        unbounded("localization_hints.calendar", "11.1.1"),
        bare("localization_hints.mood", "11.1.1").breaks(UnexpectedField, &[json!("x")]),
        bare("producer.mood", "3.2.6").breaks(UnexpectedField, &[json!("x")]),
        integer("sequence_number", "3.4.1", false, 0, None),
        unbounded("correlation_id", "3.4.2"),
        case("extensions", "3.4.3", false)
            .fits(&[json!({}), json!({"medai": {"a": [1]}})])
            .breaks(WrongType, &[json!([]), json!("x"), json!(1)]),
        form(
            "aaep_version",
            "3.4.4",
            false,
            &["1.0.0", "0.1.0-draft"],
            &["", "1.0", "1.0.0-", "v1.0.0", "1.0.x"],
        ),
    ]
}
