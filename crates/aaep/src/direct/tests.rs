//! Direct reading gives the same as the nine steps.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::read;
use crate::decode::decode_step_by_step;
use crate::repeated_parts::RecentValues;

/// Returns an event of a type, written as the chapters ask.
fn event(type_name: &str, payload: Value) -> Value {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": format!("aaep:agent.{type_name}"),
        "event_id": "evt_1a",
        "session_id": "sess_1a",
        "timestamp": "2026-05-24T14:22:11.342Z",
        "producer": {"agent_id": "com.example.a", "agent_name": "A", "agent_version": "1", "model": "m"},
        "localization_hints": {"primary_language": "en-US", "text_direction": "ltr"},
        "urgency": "background",
        "verbosity": "terse",
        "sequence_number": 7,
        "correlation_id": "",
        "aaep_version": "1.0.0",
    });
    let whole = event.as_object_mut().unwrap();
    whole.extend(payload.as_object().unwrap().clone());
    event
}

fn frequent() -> Vec<Value> {
    vec![
        event(
            "output.streaming",
            json!({"chunk": "Grüße 😀 \"x\"\n", "position": 3, "complete": false, "coalesce_hint": "word",
                "output_id": "out_1", "content_type": "text/markdown", "language": "de"}),
        ),
        event(
            "output.streaming",
            json!({"chunk": "", "position": 0, "complete": true}),
        ),
        event(
            "state.changed",
            json!({"from_state": "idle", "to_state": "thinking", "summary_terse": "t", "summary_normal": "n",
                "summary_detailed": "d", "expected_duration_ms": 5}),
        ),
        event(
            "tool.invoked",
            json!({"tool": "read_file", "summary_normal": "n", "description": "d", "args_summary": "path=/x",
                "expected_duration_ms": 0, "tool_call_id": "call_1", "risk_level": "high", "irreversible": true}),
        ),
        event(
            "tool.completed",
            json!({"tool": "read_file", "status": "success", "summary_normal": "n", "tool_call_id": "call_1",
                "duration_ms": 86_400_000}),
        ),
        event(
            "session.started",
            json!({"summary_terse": "t", "summary_normal": "n", "summary_detailed": "d", "expected_duration_ms": 1,
                "requested_by": "user:local", "request_text": "Check it.", "tools_available": ["a", "b"]}),
        ),
        event(
            "session.started",
            json!({"summary_normal": "n", "request_text": ""}),
        ),
        event(
            "output.streaming",
            json!({"chunk": "c", "position": 0, "complete": false, "output_id": "out_1",
                "localization_hints": {"primary_language": "und"},
                "@context": ["https://aaep-protocol.org/context/v1", "urn:hearken:context:v1"],
                "extensions": {"hearken": {"translated": "acp", "thread": "th_1"}}}),
        ),
    ]
}

/// Returns whether a text is read directly, and asserts that the nine steps read it the same way.
fn is_direct(text: &str) -> bool {
    is_direct_after(text, &mut RecentValues::default())
}

/// The same in a stream, after other events.
fn is_direct_after(text: &str, recent: &mut RecentValues) -> bool {
    let Some(direct) = read(text, recent) else {
        return false;
    };
    let whole = decode_step_by_step(text).unwrap();
    assert_eq!(direct, whole, "{text}");
    true
}

#[test]
fn the_frequent_events_are_read_directly() {
    for event in frequent() {
        let text = event.to_string();
        assert!(is_direct(&text), "{text}");
        // Spaced as Python writes it.
        let spaced = text.replace("\":", "\": ").replace(",\"", ", \"");
        assert!(is_direct(&spaced), "{spaced}");
        // On several lines.
        assert!(is_direct(&serde_json::to_string_pretty(&event).unwrap()));
    }
}

#[test]
fn an_event_without_hints_is_read_directly_and_told_where_it_has_words() {
    let mut words = Vec::new();
    for mut event in frequent() {
        event.as_object_mut().unwrap().remove("localization_hints");
        // Without hints, it is the language of the whole event.
        event.as_object_mut().unwrap().remove("language");
        let text = event.to_string();
        assert!(is_direct(&text), "{text}");
        let direct = read(&text, &mut RecentValues::default()).unwrap();
        words.push(direct.findings.len());
    }
    // The second name is the end of a string, with no colon after it.
    assert_eq!(words, [1, 0, 1, 1, 1, 1, 1, 1]);
    let mut odd = frequent().remove(0);
    odd.as_object_mut().unwrap().remove("localization_hints");
    assert!(!is_direct(&odd.to_string()));
}

#[test]
fn what_came_before_changes_nothing_of_what_is_read() {
    let mut texts = Vec::new();
    for event in frequent() {
        for (field, value) in [
            ("type", event["type"].clone()),
            ("producer", json!({"agent_id": "com.example.b"})),
            (
                "producer",
                json!({"agent_id": "com.example.a", "agent_name": "B"}),
            ),
            ("producer", json!({"agent_id": ""})),
            ("localization_hints", json!({"primary_language": "de"})),
            ("localization_hints", json!({"primary_language": "de-"})),
            ("session_id", json!("sess_2")),
            ("session_id", json!("sess_")),
            ("output_id", json!("out_2")),
            ("output_id", json!("out_")),
            ("extensions", json!({"hearken": {"translated": "acp"}})),
        ] {
            let mut event = event.clone();
            event[field] = value;
            texts.push(event.to_string());
        }
        let mut event = event.clone();
        event.as_object_mut().unwrap().remove("localization_hints");
        event.as_object_mut().unwrap().remove("language");
        texts.push(event.to_string());
    }
    // Each text after each other one, and after one that differs from it only by a space.
    for before in &texts {
        for text in &texts {
            let mut recent = RecentValues::default();
            let alone = is_direct(text);
            is_direct_after(before, &mut recent);
            assert_eq!(is_direct_after(text, &mut recent), alone, "{text}");
            let spaced = text.replace("\":", "\": ");
            assert_eq!(is_direct_after(&spaced, &mut recent), is_direct(&spaced));
            assert_eq!(is_direct_after(text, &mut recent), alone, "{text}");
        }
    }
}

#[test]
fn what_is_rare_odd_or_wrong_goes_the_whole_way() {
    let event = frequent().remove(0);
    for (field, value) in [
        ("type", json!("aaep:agent.session.started")),
        ("type", json!("aaep:agent.session.completed")),
        (
            "type",
            json!("https://aaep-protocol.org/types/agent.output.streaming"),
        ),
        ("@context", json!(["https://aaep-protocol.org/context/v1"])),
        ("event_id", json!("1")),
        ("session_id", json!("sess_")),
        ("timestamp", json!("2026-05-24T14:22:11.34Z")),
        ("timestamp", json!("1970-01-01T00:00:00Z")),
        ("producer", json!({"agent_id": ""})),
        ("producer", json!(["a", "a", "a", "a"])),
        ("producer", json!({"agent_id": "x".repeat(300)})),
        ("producer", json!({"agent_id": "a", "agent_name": ""})),
        (
            "producer",
            json!({"agent_id": "a", "manifest_uri": "https://example.com"}),
        ),
        ("localization_hints", json!({})),
        ("localization_hints", json!(["en", "ltr"])),
        (
            "localization_hints",
            json!({"primary_language": "english-"}),
        ),
        ("urgency", json!("urgent")),
        ("verbosity", Value::Null),
        ("sequence_number", json!("7")),
        ("sequence_number", json!(1_u64 << 60)),
        ("aaep_version", json!("9.0.0")),
        ("extensions", json!({})),
        ("chunk", json!("x".repeat(20_000))),
        ("position", json!(1.0)),
        ("complete", json!("false")),
        ("coalesce_hint", json!("never")),
        ("output_id", json!("1")),
        ("summary_normal", json!("n")),
        ("tool", json!("x")),
        ("more", json!(1)),
    ] {
        let mut odd = event.clone();
        odd[field] = value;
        assert!(!is_direct(&odd.to_string()), "{odd}");
    }
    for text in ["", "[]", "{}", "{\"type\":\"aaep:agent.state.changed\"}"] {
        assert!(!is_direct(text), "{text}");
    }
    // The values of an event, in the order of the fields below.
    let values = json!([
        event["@context"],
        event["type"],
        event["event_id"],
        event["session_id"],
        event["timestamp"],
        event["producer"],
        event["localization_hints"],
        "normal",
        "terse",
        1,
        "c",
        "1.0.0",
        "t",
        "n",
        "d",
        "chunk",
        0,
        false,
        "word",
        "out_1",
        "text/plain",
        "en",
        "a",
        "b",
        1,
        "t",
        "call_1",
        "d",
        "a",
        "low",
        false,
        "success",
        1,
        "user:local",
        "Check it.",
        ["a"]
    ]);
    assert!(read(&values.to_string(), &mut RecentValues::default()).is_none());
    let text = event.to_string();
    assert!(!is_direct(
        &text.replace("\"position\":3", "\"position\":3,\"position\":3")
    ));
    assert!(!is_direct(
        &text.replace("\"chunk\":\"", "\"chunk\":\"\\ud83d")
    ));
    let secret = frequent()[3].to_string().replace("path=", "password=");
    assert!(!is_direct(&secret));
}

#[test]
fn what_belongs_to_a_translated_event_goes_the_whole_way() {
    let event = frequent().remove(7);
    for (field, value) in [
        (
            "extensions",
            json!({"hearken": {"translated": "acp", "deed": {"command": "rm x"}}}),
        ),
        (
            "extensions",
            json!({"hearken": {"translated": "acp"}, "other": {}}),
        ),
        ("extensions", json!({"hearken": {"thread": "t"}})),
        ("extensions", json!({"hearken": ["acp"]})),
        ("extensions", json!({"hearken": {"translated": null}})),
        (
            "extensions",
            json!({"hearken": {"translated": "acp", "thread": null}}),
        ),
        ("@context", json!("https://aaep-protocol.org/context/v1")),
        ("@context", json!(["urn:hearken:context:v1"])),
        ("@context", json!([])),
    ] {
        let mut odd = event.clone();
        odd[field] = value;
        assert!(!is_direct(&odd.to_string()), "{odd}");
    }
    let mut without_thread = event;
    without_thread["extensions"] = json!({"hearken": {"translated": "acp"}});
    assert!(is_direct(&without_thread.to_string()));
}

/// Returns values as they occur in events, right and wrong ones.
fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0_u64..100_000_000).prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z]{0,8}".prop_map(Value::from),
        "(evt|sess|call|out)_[a-z0-9_]{0,3}".prop_map(Value::from),
        (60_usize..70).prop_map(|count| Value::from("s".repeat(count))),
        (4090_usize..4100).prop_map(|count| Value::from("d".repeat(count))),
        (250_usize..260).prop_map(|count| Value::from("ü".repeat(count))),
        prop_oneof![
            Just("critical"),
            Just("normal"),
            Just("background"),
            Just("terse"),
            Just("detailed"),
            Just("rtl"),
            Just("success"),
            Just("error"),
            Just("timeout"),
            Just("word"),
            Just("low"),
            Just("medium"),
            Just("huge"),
            Just("text/plain"),
            Just("de-AT"),
            Just("1.0.0"),
            Just("0.1.0"),
            Just("api_key=1"),
            Just("api_key=***"),
            Just("2026-05-24T14:22:11Z"),
            Just("2026-05-24T14:22:11.1Z"),
            Just("aaep:agent.state.changed"),
            Just("aaep:agent.tool.invoked"),
            Just("aaep:agent.tool.completed"),
            Just("aaep:agent.output.streaming"),
            Just("aaep:agent.session.started"),
            Just("aaep:agent.nothing"),
        ]
        .prop_map(Value::from),
        Just(json!({"agent_id": "a"})),
        Just(json!({"agent_id": "a", "model": "", "more": 1})),
        Just(json!({"primary_language": "pt", "text_direction": "auto"})),
        Just(json!({"primary_language": "pt", "script": "Latn"})),
        Just(json!({"hearken": {"translated": "acp"}})),
        Just(json!({"hearken": {"translated": "acp", "output": {"lines": ["a"]}}})),
        Just(json!({"other": {"translated": "acp"}})),
        Just(json!([
            "https://aaep-protocol.org/context/v1",
            "urn:hearken:context:v1"
        ])),
        Just(json!(["a", "a"])),
        Just(json!(["a", "b"])),
        Just(json!(["a", ""])),
        Just(json!(["a", 1])),
    ]
}

const NAMES: [&str; 39] = [
    "@context",
    "type",
    "event_id",
    "session_id",
    "timestamp",
    "producer",
    "localization_hints",
    "urgency",
    "verbosity",
    "sequence_number",
    "correlation_id",
    "aaep_version",
    "summary_terse",
    "summary_normal",
    "summary_detailed",
    "chunk",
    "position",
    "complete",
    "coalesce_hint",
    "output_id",
    "content_type",
    "language",
    "from_state",
    "to_state",
    "expected_duration_ms",
    "tool",
    "tool_call_id",
    "description",
    "args_summary",
    "status",
    "duration_ms",
    "error_message",
    "irreversible",
    "risk_level",
    "extensions",
    "summary_normal_de",
    "requested_by",
    "request_text",
    "tools_available",
];

proptest! {
    #[test]
    fn whatever_is_changed_both_ways_agree(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(values())), 0..4),
        inner in prop::option::of((any::<bool>(), "[a-z_]{0,3}", values())),
    ) {
        let mut event = which.get(&frequent()).clone();
        for (name, value) in changes {
            let name = *name.get(&NAMES);
            match value {
                Some(value) => event[name] = value,
                None => {
                    event.as_object_mut().unwrap().remove(name);
                }
            }
        }
        if let Some((hints, name, value)) = inner {
            let whole = if hints { "localization_hints" } else { "producer" };
            if let Some(map) = event.get_mut(whole).and_then(Value::as_object_mut) {
                map.insert(name, value);
            }
        }
        is_direct(&event.to_string());
    }

    #[test]
    fn whatever_is_done_to_the_text_both_ways_agree(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        with in "[\\{\\}\\[\\],:\"\\\\u0-9a-e \\.-]{0,3}",
        length in 0_usize..4,
    ) {
        let text: Vec<char> = which.get(&frequent()).to_string().chars().collect();
        let at = at.index(text.len());
        let rest = text[at..].iter().skip(length);
        is_direct(&text[..at].iter().copied().chain(with.chars()).chain(rest.copied()).collect::<String>());
    }
}
