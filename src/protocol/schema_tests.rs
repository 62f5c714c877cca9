//! Every field of the envelope and of the twelve types with values that fit and values that don't,
//! written by hand from the chapters, so that the tables of `schema` are held by something else.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use serde_json::{Map, json};

use super::super::CORE_CONTEXT;
use super::super::finding::Severity;
use super::super::schema::CORE;
use super::*;
use Rule::{
    BadForm, BareLargeNumber, Empty, EmptyText, Missing, NoUri, NotCritical, Null, OutOfRange,
    RepeatedEntry, TooFew, TooLong, TooMany, UndefinedValue, UnexpectedField, WrongType,
};

/// One field: where it stands, values that fit, values that don't with the rule they break.
struct Case {
    field: &'static str,
    section: &'static str,
    required: bool,
    fits: Vec<Value>,
    breaks: Vec<(Value, Rule)>,
}

fn case(field: &'static str, section: &'static str, required: bool) -> Case {
    Case {
        field,
        section,
        required,
        fits: vec![],
        breaks: vec![(json!(null), Null)],
    }
}

/// A field that breaks another rule than its own: it is not there, or its value is not enough.
fn bare(field: &'static str, section: &'static str) -> Case {
    Case {
        field,
        section,
        required: false,
        fits: vec![],
        breaks: vec![],
    }
}

impl Case {
    fn fits(mut self, values: &[Value]) -> Self {
        self.fits.extend_from_slice(values);
        self
    }
    fn breaks(mut self, rule: Rule, values: &[Value]) -> Self {
        self.breaks
            .extend(values.iter().map(|value| (value.clone(), rule)));
        self
    }
}

fn text(field: &'static str, section: &'static str, required: bool, most: usize) -> Case {
    let case = case(field, section, required)
        .fits(&[json!("x"), json!("Ẹ ku àárọ̀")])
        .breaks(WrongType, &[json!(1), json!([]), json!({}), json!(true)])
        .breaks(Empty, &[json!("")]);
    if most == 0 {
        case
    } else {
        case.fits(&[json!("ó".repeat(most))])
            .breaks(TooLong, &[json!("x".repeat(most + 1))])
    }
}

fn free(field: &'static str, section: &'static str) -> Case {
    case(field, section, false)
        .fits(&[json!("x"), json!("")])
        .breaks(WrongType, &[json!(1), json!(["x"])])
}

fn said(field: &'static str, section: &'static str) -> Case {
    case(field, section, false)
        .fits(&[json!("x")])
        .breaks(WrongType, &[json!(1)])
        .breaks(EmptyText, &[json!("")])
}

fn uri(field: &'static str, section: &'static str) -> Case {
    case(field, section, false)
        .fits(&[
            json!("https://example.com/a?b=c#d"),
            json!("queue://customer-service/financial-advisor"),
            json!("urn:x:1"),
        ])
        .breaks(
            NoUri,
            &[
                json!(""),
                json!("no uri"),
                json!("a b:c"),
                json!("http://a b"),
            ],
        )
        .breaks(WrongType, &[json!(1)])
}

fn words(field: &'static str, section: &'static str, required: bool, allowed: &[&str]) -> Case {
    let fits: Vec<Value> = allowed.iter().map(|word| json!(word)).collect();
    case(field, section, required)
        .fits(&fits)
        .breaks(
            UndefinedValue,
            &[json!(""), json!("other"), json!(allowed[0].to_uppercase())],
        )
        .breaks(WrongType, &[json!(1), json!([allowed[0]])])
}

fn form(
    field: &'static str,
    section: &'static str,
    required: bool,
    good: &[&str],
    bad: &[&str],
) -> Case {
    let values = |texts: &[&str]| -> Vec<Value> { texts.iter().map(|text| json!(text)).collect() };
    case(field, section, required)
        .fits(&values(good))
        .breaks(BadForm, &values(bad))
        .breaks(WrongType, &[json!(1), json!({})])
}

fn id(field: &'static str, section: &'static str, required: bool, prefix: &str) -> Case {
    let longest = format!("{prefix}{}", "a".repeat(64));
    let beyond = format!("{prefix}{}", "a".repeat(65));
    let short = format!("{prefix}Az09");
    let (dash, accent) = (format!("{prefix}a-b"), format!("{prefix}é"));
    form(
        field,
        section,
        required,
        &[&short, &longest],
        &["", prefix, &beyond, &dash, &accent, "x"],
    )
}

fn integer(
    field: &'static str,
    section: &'static str,
    required: bool,
    least: u64,
    most: Option<u64>,
) -> Case {
    let case = case(field, section, required)
        .fits(&[json!(least), json!(least + 1), json!(least as f64 + 2.0)])
        .breaks(
            WrongType,
            &[json!("5"), json!(1.5), json!("x"), json!(true), json!([])],
        )
        .breaks(OutOfRange, &[json!(-1)]);
    let case = if least > 0 {
        case.breaks(OutOfRange, &[json!(least - 1)])
    } else {
        case
    };
    match most {
        Some(most) => case.fits(&[json!(most)]).breaks(
            OutOfRange,
            &[json!(most + 1), json!(1e300), json!("9007199254740993")],
        ),
        None => case
            .fits(&[json!("9007199254740993"), json!(1_u64 << 53)])
            .breaks(BareLargeNumber, &[json!((1_u64 << 53) + 1), json!(1e16)]),
    }
}

fn boolean(field: &'static str, section: &'static str, required: bool) -> Case {
    case(field, section, required)
        .fits(&[json!(true), json!(false)])
        .breaks(WrongType, &[json!("true"), json!(0)])
}

fn object(field: &'static str, section: &'static str) -> Case {
    case(field, section, false)
        .fits(&[json!({}), json!({"a": [1, {"b": null}]})])
        .breaks(WrongType, &[json!([]), json!("x"), json!(1)])
}

fn summaries(section: &'static str, required: bool) -> [Case; 3] {
    [
        text("summary_terse", section, false, 4096),
        text("summary_normal", section, required, 0),
        text("summary_detailed", section, false, 0),
    ]
}

const DAY: Option<u64> = Some(86_400_000);

fn of(name: &str) -> Vec<Case> {
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
    let (mut cases, section, needs_summary): (Vec<Case>, &str, bool) =
        match name {
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
            "agent.progress.updated" => {
                (
                    vec![
                case("progress", "4.2.2", true)
                    .fits(&[
                        json!({"percent": 0}), json!({"percent": 100}), json!({"percent": 47.5}),
                        json!({"step": 1}), json!({"total_steps": 1}), json!({"description": "x"}),
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
                )
            }
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
                    text("action", "4.4.1", true, 0),
                    text("consequence", "4.4.1", true, 0),
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
                    text("question", "4.4.2", true, 0),
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
                    free("default_response", "4.4.2").breaks(TooLong, &[json!("x".repeat(4097))]),
                    bare("urgency", "4.4.2").breaks(NotCritical, &[json!("normal")]),
                ],
                "4.4.2",
                false,
            ),
            "agent.handoff.requested" => (
                vec![
                    text("reason", "4.4.3", true, 0),
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

fn envelope_cases() -> Vec<Case> {
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
        free("localization_hints.calendar", "11.1.1"),
        bare("localization_hints.mood", "11.1.1").breaks(UnexpectedField, &[json!("x")]),
        bare("producer.mood", "3.2.6").breaks(UnexpectedField, &[json!("x")]),
        integer("sequence_number", "3.4.1", false, 0, None),
        free("correlation_id", "3.4.2"),
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

/// An event of a type with every required field and no finding.
fn sound(name: &str) -> Value {
    let mut event = json!({
        "@context": CORE_CONTEXT,
        "type": format!("aaep:{name}"),
        "event_id": "evt_1", "session_id": "sess_1",
        "timestamp": "2026-05-24T14:22:11.342Z",
        "producer": {"agent_id": "a"},
        "localization_hints": {"primary_language": "en"},
        "summary_normal": "s",
    });
    let more = match name {
        "agent.session.errored" => json!({"error_category": "transient", "urgency": "critical"}),
        "agent.session.cancelled" => json!({"cancelled_by": "user"}),
        "agent.state.changed" => json!({"from_state": "idle", "to_state": "thinking"}),
        "agent.progress.updated" => json!({"progress": {"percent": 1}}),
        "agent.tool.invoked" => json!({"tool": "t"}),
        "agent.tool.completed" => json!({"tool": "t", "status": "success"}),
        "agent.output.streaming" => json!({"chunk": "c", "position": 0, "complete": false}),
        "agent.awaiting.confirmation" => json!({
            "urgency": "critical", "action": "a", "consequence": "c", "reply_token": "rpl_1",
            "timeout_seconds": 60, "default_decision": "reject",
        }),
        "agent.awaiting.clarification" => json!({
            "urgency": "critical", "question": "q", "reply_token": "rpl_1", "timeout_seconds": 60,
        }),
        "agent.handoff.requested" => {
            json!({"urgency": "critical", "reason": "r", "target_kind": "human"})
        }
        _ => json!({}),
    };
    merge(&mut event, more.as_object().unwrap());
    if name == "agent.output.streaming" {
        // Its text is the chunk; it has no summaries.
        remove(&mut event, "summary_normal");
    }
    event
}

fn merge(event: &mut Value, more: &Map<String, Value>) {
    for (key, value) in more {
        event[key] = value.clone();
    }
}

/// Puts a value at a dotted place.
fn put(event: &mut Value, field: &str, value: Value) {
    match field.split_once('.') {
        None => event[field] = value,
        Some(("choices", inner)) => {
            event["choices"] = json!([{"value": "a", "label": "a"}, {"value": "b", "label": "b"}]);
            event["choices"][1][inner] = value;
        }
        Some((outer, inner)) => event[outer][inner] = value,
    }
}

fn remove(event: &mut Value, field: &str) {
    let (outer, inner) = field
        .split_once('.')
        .map_or((None, field), |(o, i)| (Some(o), i));
    let map = match outer {
        Some(outer) => event[outer].as_object_mut(),
        None => event.as_object_mut(),
    };
    map.unwrap().remove(inner);
}

fn found(event: &Value) -> Vec<Finding> {
    decode(&event.to_string()).unwrap().findings
}

fn hold(name: &str, case: &Case) {
    for value in &case.fits {
        let mut event = sound(name);
        put(&mut event, case.field, value.clone());
        let found: Vec<Finding> = found(&event)
            .into_iter()
            .filter(|finding| finding.field.starts_with(case.field))
            // A default that is refused by 6.4.1 and a version that is not published fit by form.
            .filter(|finding| finding.severity == Severity::Error)
            .collect();
        assert_eq!(found, [], "{name} {} {value}", case.field);
    }
    for (value, rule) in &case.breaks {
        let mut event = sound(name);
        put(&mut event, case.field, value.clone());
        let found = found(&event);
        let hit = found.iter().any(|finding| {
            let section = if *rule == BareLargeNumber {
                "3.8"
            } else {
                case.section
            };
            let outer = case.field.split('.').next().unwrap();
            let place =
                case.field == finding.field || (outer == "choices" && finding.field == outer);
            finding.rule == *rule && place && finding.section == section
        });
        assert!(hit, "{name} {} {value} {rule:?}: {found:#?}", case.field);
    }
    if case.required {
        let mut event = sound(name);
        remove(&mut event, case.field);
        let found = found(&event);
        assert!(
            found.iter().any(|finding| finding.rule == Missing
                && finding.field == case.field
                && finding.section == case.section),
            "{name} without {}: {found:?}",
            case.field
        );
    } else if !case.field.contains('.') {
        let mut event = sound(name);
        remove(&mut event, case.field);
        assert!(
            !found(&event)
                .iter()
                .any(|finding| finding.rule == Missing && finding.field == case.field),
            "{name} does not need {}",
            case.field
        );
    }
}

#[test]
fn a_sound_event_of_every_type_has_no_finding() {
    for core in &CORE {
        assert_eq!(found(&sound(core.name)), [], "{}", core.name);
    }
}

#[test]
fn every_field_of_every_type_is_held() {
    for core in &CORE {
        let cases = of(core.name);
        for case in &cases {
            hold(core.name, case);
        }
        let tested: BTreeSet<&str> = cases.iter().map(|case| case.field).collect();
        for field in core.fields {
            assert!(
                tested.contains(field.name),
                "{} {} has no case",
                core.name,
                field.name
            );
        }
    }
}

#[test]
fn every_field_of_the_envelope_is_held() {
    for case in envelope_cases() {
        hold("agent.session.started", &case);
        hold("agent.output.streaming", &case);
    }
    let cases = envelope_cases();
    let tested: BTreeSet<&str> = cases.iter().map(|case| case.field).collect();
    for field in super::super::schema::ENVELOPE {
        assert!(tested.contains(field.name), "{}", field.name);
    }
    for field in super::super::schema::PRODUCER {
        assert!(
            tested.contains(format!("producer.{}", field.name).as_str()),
            "{}",
            field.name
        );
    }
}

/// Values outside the lists survive, and so does everything around them.
#[test]
fn nothing_readable_is_dropped_whatever_one_field_holds() {
    for core in &CORE {
        for case in of(core.name).iter().chain(&envelope_cases()) {
            for (value, _) in &case.breaks {
                let mut event = sound(core.name);
                put(&mut event, case.field, value.clone());
                let decoded = decode(&event.to_string()).unwrap();
                assert!(
                    !matches!(decoded.event, Event::Unknown(_)),
                    "{} {} {value}",
                    core.name,
                    case.field
                );
            }
        }
    }
}
