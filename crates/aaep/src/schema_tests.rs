//! Every field of the envelope and of the twelve types, with valid and invalid values written by hand from the
//! chapters, as an independent check of the tables in `schema`.

use std::collections::BTreeSet;

use serde_json::{Map, json};

use super::super::CORE_CONTEXT;
use super::super::event::Event;
use super::super::finding::{Finding, Severity};
use super::super::schema::CORE;
use super::*;
use Rule::{
    BadForm, BareLargeNumber, Empty, EmptyText, Missing, NoUri, NotCritical, Null, OutOfRange,
    RepeatedEntry, TooFew, TooLong, TooMany, UndefinedValue, UnexpectedField, WrongType,
};

#[path = "schema_tests/chapters.rs"]
mod chapters;

use chapters::{envelope_cases, of};

/// One field: its place, valid values, and invalid ones, each with the rule that it breaks.
struct FieldCase {
    field: &'static str,
    section: &'static str,
    required: bool,
    fits: Vec<Value>,
    breaks: Vec<(Value, Rule)>,
}

fn case(field: &'static str, section: &'static str, required: bool) -> FieldCase {
    FieldCase {
        field,
        section,
        required,
        fits: vec![],
        breaks: vec![(json!(null), Null)],
    }
}

/// Returns a case without values, to which the caller adds the invalid ones.
fn bare(field: &'static str, section: &'static str) -> FieldCase {
    FieldCase {
        field,
        section,
        required: false,
        fits: vec![],
        breaks: vec![],
    }
}

impl FieldCase {
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

fn text(field: &'static str, section: &'static str, required: bool, most: usize) -> FieldCase {
    let case = case(field, section, required)
        .fits(&[json!("x"), json!("Ẹ ku àárọ̀")])
        .breaks(WrongType, &[json!(1), json!([]), json!({}), json!(true)])
        .breaks(Empty, &[json!("")]);
    if most == 0 {
        case
    } else {
        // Two-byte letters would take a long text beyond the limit of 3.7.
        let letter = if most < LONG { "ó" } else { "x" };
        case.fits(&[json!(letter.repeat(most))])
            .breaks(TooLong, &[json!("x".repeat(most + 1))])
    }
}

/// The most characters of a long text in the schemas.
const LONG: usize = 16_384;

fn free(field: &'static str, section: &'static str) -> FieldCase {
    unbounded(field, section)
        .fits(&[json!("x".repeat(LONG))])
        .breaks(TooLong, &[json!("x".repeat(LONG + 1))])
}

fn unbounded(field: &'static str, section: &'static str) -> FieldCase {
    case(field, section, false)
        .fits(&[json!("x"), json!("")])
        .breaks(WrongType, &[json!(1), json!(["x"])])
}

fn said(field: &'static str, section: &'static str) -> FieldCase {
    case(field, section, false)
        .fits(&[json!("x")])
        .breaks(WrongType, &[json!(1)])
        .breaks(EmptyText, &[json!("")])
}

fn uri(field: &'static str, section: &'static str) -> FieldCase {
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

fn words(
    field: &'static str,
    section: &'static str,
    required: bool,
    allowed: &[&str],
) -> FieldCase {
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
) -> FieldCase {
    let values = |texts: &[&str]| -> Vec<Value> { texts.iter().map(|text| json!(text)).collect() };
    case(field, section, required)
        .fits(&values(good))
        .breaks(BadForm, &values(bad))
        .breaks(WrongType, &[json!(1), json!({})])
}

fn id(field: &'static str, section: &'static str, required: bool, prefix: &str) -> FieldCase {
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
) -> FieldCase {
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

fn boolean(field: &'static str, section: &'static str, required: bool) -> FieldCase {
    case(field, section, required)
        .fits(&[json!(true), json!(false)])
        .breaks(WrongType, &[json!("true"), json!(0)])
}

fn object(field: &'static str, section: &'static str) -> FieldCase {
    case(field, section, false)
        .fits(&[json!({}), json!({"a": [1, {"b": null}]})])
        .breaks(WrongType, &[json!([]), json!("x"), json!(1)])
}

fn summaries(section: &'static str, required: bool) -> [FieldCase; 3] {
    [
        text("summary_terse", section, false, 4096),
        text("summary_normal", section, required, LONG),
        text("summary_detailed", section, false, LONG),
    ]
}

const DAY: Option<u64> = Some(86_400_000);

/// Returns an event of a type with every required field and no finding.
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
        // Its text is the chunk; this type has no summaries.
        remove(&mut event, "summary_normal");
    }
    event
}

fn merge(event: &mut Value, more: &Map<String, Value>) {
    for (key, value) in more {
        event[key] = value.clone();
    }
}

/// Sets the value at a dotted path.
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

fn hold(name: &str, case: &FieldCase) {
    for value in &case.fits {
        let mut event = sound(name);
        put(&mut event, case.field, value.clone());
        let found: Vec<Finding> = found(&event)
            .into_iter()
            .filter(|finding| finding.field.starts_with(case.field))
            // A default that 6.4.1 refuses and an unpublished version still have the right form.
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

/// Values outside the lists are kept, and so is everything around them.
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
