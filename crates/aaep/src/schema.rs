//! The fields of the envelope and of the twelve types, and what chapters 3, 4, 6 and 11 and the JSON schemas
//! allow in each, as data.
//!
//! Responsibilities: the tables. Not here: checking an event against them (`field_rules`), reading values into types
//! (`payload`), rules that relate two fields (`event_check`).
//!
//! Where prose and schema differ, the prose counts: a text of more than 16 KiB only exceeds a limit (3.7), and
//! `irreversible` of a confirmation, which only the schema and 6.4.1 define, is not an unknown field.

use super::field_rules::{Field, FieldShape, may, must};
use super::text_forms::TextForm;

/// The longest duration in milliseconds: a day.
const DAY_MS: u64 = 86_400_000;
/// The longest timeout in seconds: a day.
const DAY_S: u64 = 86_400;
/// The largest number of a field without a bound.
const ANY: u64 = u64::MAX;

const DURATION: FieldShape = FieldShape::Integer {
    least: 0,
    most: DAY_MS,
};
const RISK: FieldShape = FieldShape::OneOf(&["low", "medium", "high"]);
const TOOL: FieldShape = FieldShape::Form(TextForm::Tool);
const CALL: FieldShape = FieldShape::Form(TextForm::CallId);
const TOKEN: FieldShape = FieldShape::Form(TextForm::ReplyToken);
const TIMEOUT: FieldShape = FieldShape::Integer {
    least: 1,
    most: DAY_S,
};
/// A text that must not be empty and is bounded only by 3.7.
const UNBOUNDED: FieldShape = FieldShape::Text { most: 0 };
/// A text that must not be empty.
const TEXT: FieldShape = FieldShape::Text { most: LONG };
/// A short text that must not be empty.
const SHORT: FieldShape = FieldShape::Text { most: 4096 };
/// A text that may be empty.
const FREE: FieldShape = FieldShape::Free { most: LONG };
/// A text that may be empty and is bounded only by 3.7.
const FREE_UNBOUNDED: FieldShape = FieldShape::Free { most: 0 };
/// The most characters of a long text.
pub(super) const LONG: usize = 16 * 1024;

const TERSE: Field = may("summary_terse", SHORT);
const NORMAL: Field = may("summary_normal", TEXT);
const NORMAL_MUST: Field = must("summary_normal", TEXT);
const DETAILED: Field = may("summary_detailed", TEXT);

/// One of the twelve types.
pub(super) struct CoreType {
    /// Its local name.
    pub(super) name: &'static str,
    /// The section that defines it.
    pub(super) section: &'static str,
    /// Its payload.
    pub(super) fields: &'static [Field],
    /// The unofficial spellings of real producers that are also read.
    pub(super) wild: &'static [&'static str],
    /// Whether its events must be critical.
    pub(super) critical: bool,
}

/// The optional fields of the envelope (3.3, 3.4); steps 2 to 6 check the others.
pub(super) const ENVELOPE: &[Field] = &[
    may(
        "verbosity",
        FieldShape::OneOf(&["terse", "normal", "detailed"]),
    )
    .section("3.3.1"),
    may(
        "urgency",
        FieldShape::OneOf(&["background", "normal", "critical"]),
    )
    .section("3.3.2"),
    may("localization_hints", FieldShape::Inner(LOCALIZATION)).section("11.1.1"),
    may(
        "sequence_number",
        FieldShape::Integer {
            least: 0,
            most: ANY,
        },
    )
    .section("3.4.1"),
    may("correlation_id", FREE_UNBOUNDED).section("3.4.2"),
    may("extensions", FieldShape::Object).section("3.4.3"),
    may("aaep_version", FieldShape::Form(TextForm::Version)).section("3.4.4"),
];

/// The fields of `producer` (3.2.6).
pub(super) const PRODUCER: &[Field] = &[
    must("agent_id", UNBOUNDED).section("3.2.6.1"),
    may("agent_version", FieldShape::Said).section("3.2.6.2"),
    may("agent_name", FieldShape::Said).section("3.2.6.3"),
    may("model", FieldShape::Said).section("3.2.6.4"),
    may("manifest_uri", FieldShape::Uri).section("3.2.6.5"),
];

/// The most languages that 3.7 recommends.
pub(super) const MOST_LANGUAGES: usize = 32;

const LOCALIZATION: &[Field] = &[
    may("primary_language", FieldShape::Form(TextForm::Language)).section("11.1.2"),
    may("text_direction", FieldShape::OneOf(&["ltr", "rtl", "auto"])).section("11.1.1"),
    // Its bound is that of 3.7.
    may(
        "available_languages",
        FieldShape::Forms(TextForm::Language, 0, usize::MAX),
    )
    .section("11.1.2"),
    may("fallback_chain", FieldShape::Chain(TextForm::Language, 16)).section("11.1.2"),
    may("script", FieldShape::Form(TextForm::Script)).section("11.1.1"),
    may("calendar", FREE_UNBOUNDED).section("11.1.1"),
];

const PROGRESS: &[Field] = &[
    may(
        "percent",
        FieldShape::Number {
            least: 0.0,
            most: 100.0,
        },
    ),
    may(
        "step",
        FieldShape::Integer {
            least: 1,
            most: ANY,
        },
    ),
    may(
        "total_steps",
        FieldShape::Integer {
            least: 1,
            most: ANY,
        },
    ),
    may("description", SHORT),
];

const CHOICE: &[Field] = &[
    must("value", FieldShape::Text { most: 256 }),
    must("label", FieldShape::Text { most: 1024 }),
];

/// Every core type (chapter 4).
pub(super) const CORE: [CoreType; 12] = [
    CoreType {
        name: "agent.session.started",
        section: "4.1.1",
        fields: &[
            NORMAL_MUST,
            TERSE,
            DETAILED,
            may("expected_duration_ms", DURATION),
            may("requested_by", FieldShape::Text { most: 256 }),
            may("request_text", FREE),
            may(
                "tools_available",
                FieldShape::Texts {
                    each: 256,
                    most: 256,
                },
            ),
        ],
        wild: &[],
        critical: false,
    },
    CoreType {
        name: "agent.session.completed",
        section: "4.1.2",
        fields: &[
            NORMAL_MUST,
            TERSE,
            DETAILED,
            may("duration_ms", DURATION),
            may(
                "tool_invocations_count",
                FieldShape::Integer {
                    least: 0,
                    most: ANY,
                },
            ),
            may("output_summary", FREE),
            may("result_uri", FieldShape::Uri),
        ],
        wild: &[],
        critical: false,
    },
    CoreType {
        name: "agent.session.errored",
        section: "4.1.3",
        fields: &[
            must(
                "error_category",
                FieldShape::OneOf(&["transient", "permanent", "requires_user", "unknown"]),
            ),
            NORMAL_MUST,
            TERSE,
            DETAILED,
            may("error_code", FieldShape::Form(TextForm::ErrorCode)),
            may("error_uri", FieldShape::Uri),
            may("recoverable", FieldShape::Boolean),
            may("remediation_hint", SHORT),
        ],
        wild: &["error_message"],
        critical: true,
    },
    CoreType {
        name: "agent.session.cancelled",
        section: "4.1.4",
        fields: &[
            must(
                "cancelled_by",
                FieldShape::OneOf(&["user", "producer", "timeout", "system"]),
            ),
            NORMAL_MUST,
            TERSE,
            DETAILED,
            may(
                "cancellation_reason",
                FieldShape::Form(TextForm::ReasonCode),
            ),
            may("partial_result", FREE),
        ],
        wild: &[],
        critical: false,
    },
    CoreType {
        name: "agent.state.changed",
        section: "4.2.1",
        fields: &[
            must("from_state", FieldShape::Text { most: 64 }),
            must("to_state", FieldShape::Text { most: 64 }),
            TERSE,
            NORMAL,
            DETAILED,
            may("expected_duration_ms", DURATION),
        ],
        wild: &[],
        critical: false,
    },
    CoreType {
        name: "agent.progress.updated",
        section: "4.2.2",
        fields: &[
            must("progress", FieldShape::Inner(PROGRESS)),
            TERSE,
            NORMAL,
            DETAILED,
            may("eta_ms", DURATION),
        ],
        wild: &[
            "progress_percent",
            "progress_message",
            "estimated_remaining_ms",
        ],
        critical: false,
    },
    CoreType {
        name: "agent.tool.invoked",
        section: "4.3.1",
        fields: &[
            must("tool", TOOL),
            NORMAL_MUST,
            TERSE,
            DETAILED,
            may("description", SHORT),
            may("args_summary", FREE),
            may("expected_duration_ms", DURATION),
            may("risk_level", RISK),
            may("irreversible", FieldShape::Boolean),
            may("tool_call_id", CALL),
        ],
        wild: &["reversibility"],
        critical: false,
    },
    CoreType {
        name: "agent.tool.completed",
        section: "4.3.2",
        fields: &[
            must("tool", TOOL),
            must(
                "status",
                FieldShape::OneOf(&["success", "error", "timeout"]),
            ),
            TERSE,
            NORMAL,
            DETAILED,
            may("tool_call_id", CALL),
            may("duration_ms", DURATION),
            may("error_message", SHORT),
        ],
        wild: &[],
        critical: false,
    },
    CoreType {
        name: "agent.output.streaming",
        section: "4.3.3",
        fields: &[
            must("chunk", FREE),
            must(
                "position",
                FieldShape::Integer {
                    least: 0,
                    most: ANY,
                },
            ),
            must("complete", FieldShape::Boolean),
            may(
                "coalesce_hint",
                FieldShape::OneOf(&["none", "word", "sentence", "paragraph", "completion"]),
            ),
            may("output_id", FieldShape::Form(TextForm::OutputId)),
            may("content_type", FieldShape::Form(TextForm::ContentType)),
            may("language", FieldShape::Form(TextForm::Language)),
        ],
        wild: &[],
        critical: false,
    },
    CoreType {
        name: "agent.awaiting.confirmation",
        section: "4.4.1",
        fields: &[
            must("action", TEXT),
            must("consequence", TEXT),
            must("reply_token", TOKEN).section("6.2.1"),
            must("timeout_seconds", TIMEOUT),
            must("default_decision", FieldShape::OneOf(&["accept", "reject"])),
            TERSE,
            NORMAL,
            DETAILED,
            may("risk_level", RISK),
            may("irreversible", FieldShape::Boolean).section("6.4.1"),
            may(
                "reversibility",
                FieldShape::OneOf(&["reversible", "reversible_with_effort", "irreversible"]),
            ),
            may("allowed_replies", FieldShape::Words { least: 1, most: 32 }),
            may("extra_context", FieldShape::Object),
        ],
        wild: &["tool", "tool_call_id"],
        critical: true,
    },
    CoreType {
        name: "agent.awaiting.clarification",
        section: "4.4.2",
        fields: &[
            must("question", TEXT),
            must("reply_token", TOKEN).section("6.2.1"),
            must("timeout_seconds", TIMEOUT),
            TERSE,
            NORMAL,
            DETAILED,
            may(
                "accepted_response_kinds",
                FieldShape::Kinds(&["freetext", "yes_no", "multiple_choice", "numeric"]),
            ),
            may(
                "choices",
                FieldShape::Objects {
                    each: CHOICE,
                    least: 2,
                    most: 32,
                },
            ),
            may("context", SHORT),
            may("default_response", FieldShape::Free { most: 4096 }),
        ],
        wild: &["options", "multi_select", "free_form_allowed"],
        critical: true,
    },
    CoreType {
        name: "agent.handoff.requested",
        section: "4.4.3",
        fields: &[
            must("reason", TEXT),
            must(
                "target_kind",
                FieldShape::OneOf(&["human", "specialist_agent", "escalation_queue"]),
            ),
            TERSE,
            NORMAL,
            DETAILED,
            may("target_uri", FieldShape::Uri),
            may("packaged_context", FieldShape::Object),
            may("urgency_for_handoff", RISK),
        ],
        wild: &["handoff_target", "context_summary"],
        critical: true,
    },
];

/// The summaries of an unknown type (7.4.1).
pub(super) const SUMMARIES: &[Field] = &[TERSE, NORMAL, DETAILED];

/// Returns a core type by its local name.
pub(super) fn core(local: &str) -> Option<&'static CoreType> {
    CORE.iter().find(|core| core.name == local)
}
