//! `hearken check` compared with aaep-conformance from PyPI, and over captures of real producers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use hearken::inspect::{Checker, ReportItem, Summary};
use hearken_wording::phrase;
use serde_json::{Value, json};

use super::child::Hearken;
use super::{ProducerProcess, free_port, program};

fn check(text: &str) -> (Vec<ReportItem>, Summary) {
    let mut checker = Checker::new();
    let mut items: Vec<ReportItem> = text.lines().flat_map(|line| checker.line(line)).collect();
    let (last, summary) = checker.finish();
    items.extend(last);
    (items, summary)
}

fn table(text: &str) -> toml::Table {
    text.parse().unwrap()
}

fn conformance() -> toml::Table {
    table(include_str!("fixtures/conformance.toml"))
}

/// Returns the folder of the installed package.
fn package() -> PathBuf {
    let folder =
        std::env::var("HEARKEN_PEERS").expect("HEARKEN_PEERS names the virtual environment");
    let lib = PathBuf::from(folder).join("lib");
    fs::read_dir(&lib)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("site-packages/aaep_conformance"))
        .find(|path| path.is_dir())
        .expect("aaep-conformance is installed")
}

/// Every fixture of theirs: a valid one has no error, an invalid one has the error it was made for.
#[test]
fn their_fixtures_are_judged_as_they_judge_them() {
    let list = conformance();
    let broken = list["broken"].as_table().unwrap();
    let disagreements: BTreeMap<&str, &str> = list["disagreement"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["fixture"].as_str().unwrap(),
                one["rule"].as_str().unwrap(),
            )
        })
        .collect();
    let mut seen = 0;
    for kind in ["valid", "invalid"] {
        for entry in fs::read_dir(package().join("fixtures").join(kind)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let (items, summary) = check(&fs::read_to_string(&path).unwrap());
            seen += 1;
            if let Some(rule) = disagreements.get(format!("{kind}/{name}").as_str()) {
                assert_eq!(summary.counts.errors, 0, "{name}: {items:?}");
                assert!(
                    rule.is_empty() || items.iter().any(|item| item.rule == *rule),
                    "{name}"
                );
                continue;
            }
            if kind == "valid" {
                assert_eq!(summary.counts.errors, 0, "{name}: {items:?}");
                assert_eq!(summary.events, 1, "{name}");
            } else {
                let wanted = broken
                    .get(&name)
                    .unwrap_or_else(|| panic!("{name} is new: what must it break?"));
                let (rule, field) = (wanted[0].as_str().unwrap(), wanted[1].as_str().unwrap());
                assert!(
                    items
                        .iter()
                        .any(|item| item.rule == rule && item.field == field),
                    "{name}: {items:?}"
                );
            }
        }
    }
    assert!(seen >= 10, "the fixtures are there: {seen}");
}

/// The fixture that is only wrong after another event: here that other event is present.
#[test]
fn the_second_completion_is_found_where_there_is_a_first() {
    let path = package().join("fixtures/invalid/duplicate-completion-streaming.json");
    let second: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut first = second.clone();
    first["event_id"] = "evt_firstcomp001".into();
    first["position"] = 0.into();
    let (items, _) = check(&format!("{first}\n{second}"));
    assert!(
        items
            .iter()
            .any(|item| item.rule == "output_completed_twice" && item.line == 2),
        "{items:?}"
    );
}

/// Our rules, and their fields, that correspond to a check of theirs; an empty field means any.
const SAME: &[(&str, &[(&str, &str)])] = &[
    ("check_session_terminates", &[("end_missing", "")]),
    (
        "check_terminal_event_types",
        &[("end_missing", ""), ("second_end", "")],
    ),
    (
        "check_lifecycle_ordering",
        &[("second_start", ""), ("late_start", ""), ("after_end", "")],
    ),
    ("check_session_started_present", &[("start_missing", "")]),
    (
        "check_tool_invoked_before_completed",
        &[("completion_without_invocation", "")],
    ),
    (
        "check_tool_call_id_pairing",
        &[
            ("reused_call_id", ""),
            ("completion_without_invocation", ""),
            ("second_completion", ""),
            ("tool_left_open", ""),
            ("tool_open", ""),
        ],
    ),
    ("check_tool_status_enum", &[("", "status")]),
    ("check_tool_name_consistency", &[("tool_name_changed", "")]),
    (
        "check_position_monotonic",
        &[
            ("position_decreased", ""),
            ("missing", "position"),
            ("null", "position"),
            ("wrong_type", "position"),
        ],
    ),
    (
        "check_exactly_one_completion",
        &[
            ("output_not_completed", ""),
            ("output_open", ""),
            ("output_completed_twice", ""),
        ],
    ),
    (
        "check_no_chunks_after_completion",
        &[("chunk_after_complete", ""), ("output_completed_twice", "")],
    ),
    ("check_coalesce_hint_valid", &[("", "coalesce_hint")]),
    ("check_content_type_format", &[("", "content_type")]),
    ("check_reply_token_format", &[("", "reply_token")]),
    (
        "check_default_decision_enum",
        &[
            ("missing", "default_decision"),
            ("null", "default_decision"),
            ("wrong_type", "default_decision"),
            ("undefined_value", "default_decision"),
        ],
    ),
    (
        "check_confirmation_has_required_fields",
        &[
            ("missing", "action"),
            ("missing", "consequence"),
            ("missing", "reply_token"),
            ("missing", "timeout_seconds"),
            ("missing", "default_decision"),
        ],
    ),
    ("check_timeout_seconds_valid", &[("", "timeout_seconds")]),
    (
        "check_irreversible_high_risk_rule",
        &[("unsafe_default", "")],
    ),
    (
        "check_critical_urgency_on_confirmation",
        &[("not_critical", "")],
    ),
    ("check_critical_urgency_on_errored", &[]),
    ("check_critical_urgency_on_clarification", &[]),
    ("check_critical_urgency_on_handoff", &[]),
    (
        "check_envelope_required_fields",
        &[
            ("missing", "@context"),
            ("missing", "type"),
            ("missing", "event_id"),
            ("missing", "session_id"),
            ("missing", "timestamp"),
            ("missing", "producer"),
        ],
    ),
    ("check_event_id_format", &[("", "event_id")]),
    ("check_session_id_format", &[("", "session_id")]),
    ("check_timestamp_format", &[("", "timestamp")]),
    (
        "check_producer_field",
        &[
            ("missing", "producer"),
            ("null", "producer"),
            ("wrong_type", "producer"),
            ("", "producer.agent_id"),
        ],
    ),
    (
        "check_tool_invoked_before_side_effect",
        &[("invoked_before_asking", "")],
    ),
];

/// A stream with one fault: its description, and its events.
type FaultyStream = (String, Vec<Value>);

/// Returns every stream that differs from the demo's tour by one small fault: each event missing, repeated,
/// or moved to the end, and each field of each event with another value.
fn faults() -> Vec<FaultyStream> {
    let mut events: Vec<Value> = include_str!("fixtures/tour.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for event in &mut events {
        // Their checks ignore sequence numbers, which every fault would break, too.
        event.as_object_mut().unwrap().remove("sequence_number");
    }
    let mut all: Vec<FaultyStream> = vec![("nothing".to_owned(), events.clone())];
    for at in 1..events.len() {
        let name = events[at]["type"].as_str().unwrap().to_owned();
        let mut less = events.clone();
        let taken = less.remove(at);
        all.push((format!("{at} {name} is missing"), less.clone()));
        less.push(taken);
        all.push((format!("{at} {name} comes last"), less));
        let mut twice = events.clone();
        let mut copy = events[at].clone();
        copy["event_id"] = "evt_copy".into();
        twice.insert(at + 1, copy);
        all.push((format!("{at} {name} comes twice"), twice));
        for field in events[at].as_object().unwrap().keys() {
            if field == "type" {
                continue;
            }
            for value in [
                json!(null),
                json!(-1),
                json!("bad value"),
                json!(""),
                json!(100_000),
                json!([]),
                json!({}),
            ] {
                let mut other = events.clone();
                other[at][field] = value.clone();
                all.push((format!("{at} {name}: {field} is {value}"), other));
            }
            let mut without = events.clone();
            without[at].as_object_mut().unwrap().remove(field);
            all.push((format!("{at} {name}: no {field}"), without));
        }
    }
    for (name, changes) in [
        (
            "accepts by silence",
            json!({"default_decision": "accept", "irreversible": true}),
        ),
        ("urgency is normal", json!({"urgency": "normal"})),
        ("waits two days", json!({"timeout_seconds": 172_800})),
        ("token with a dash", json!({"reply_token": "rpl_a-b"})),
    ] {
        let mut other = events.clone();
        let asked = other
            .iter_mut()
            .find(|event| event["type"] == "aaep:agent.awaiting.confirmation")
            .unwrap();
        for (key, value) in changes.as_object().unwrap() {
            asked[key] = value.clone();
        }
        all.push((name.to_owned(), other));
    }
    all
}

/// Returns the name under which `fixtures/conformance.toml` explains why the two may differ here.
fn difference(check: &str, what: &str, items: &[ReportItem]) -> Option<&'static str> {
    let has = |rule: &str| items.iter().any(|item| item.rule == rule);
    let at = |rule: &str, field: &str| {
        items
            .iter()
            .any(|item| item.rule == rule && item.field == field)
    };
    let of = |field: &str| {
        what.contains(&format!(": {field} is ")) || what.ends_with(&format!(": no {field}"))
    };
    let about_identity = matches!(
        check,
        "check_session_id_format" | "check_producer_field" | "check_envelope_required_fields"
    );
    if (of("session_id") || of("producer")) && !about_identity {
        return Some("identity");
    }
    if has("after_end") && check != "check_lifecycle_ordering" {
        return Some("after_end");
    }
    match check {
        "check_coalesce_hint_valid" | "check_content_type_format" if what.ends_with("is null") => {
            Some("null_is_absent")
        }
        "check_tool_call_id_pairing"
        | "check_tool_name_consistency"
        | "check_tool_invoked_before_completed"
            if of("tool_call_id") || of("tool") =>
        {
            Some("pairing_fields")
        }
        "check_exactly_one_completion"
        | "check_no_chunks_after_completion"
        | "check_position_monotonic"
            if of("output_id") || of("complete") =>
        {
            Some("pairing_fields")
        }
        "check_tool_invoked_before_side_effect" if at("wrong_type", "irreversible") => {
            Some("truth_of_any_value")
        }
        "check_tool_invoked_before_side_effect" if has("reused_call_id") => {
            Some("question_of_its_own")
        }
        "check_position_monotonic" if at("out_of_range", "position") => Some("below_zero"),
        "check_irreversible_high_risk_rule" if of("default_decision") => Some("no_default"),
        _ => None,
    }
}

#[test]
fn their_checks_and_ours_agree_on_every_small_fault() {
    let faults = faults();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("streams.jsonl");
    let lines: Vec<String> = faults
        .iter()
        .map(|(_, events)| json!(events).to_string())
        .collect();
    fs::write(&file, lines.join("\n")).unwrap();
    let output = Command::new(program("python").get_program())
        .arg("tests/fixtures/oracle.py")
        .arg(&file)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let answers: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), faults.len());
    let mut compared = 0;
    let mut both_found: BTreeSet<&str> = BTreeSet::new();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let mut wrong = Vec::new();
    for ((what, events), theirs) in faults.iter().zip(&answers) {
        let text: Vec<String> = events.iter().map(ToString::to_string).collect();
        let (items, _) = check(&text.join("\n"));
        for (name, rules) in SAME {
            let reason = difference(name, what, &items);
            let found = !theirs[name].as_bool().unwrap();
            let ours = items.iter().any(|item| {
                item.severity != hearken::protocol::Severity::Note
                    && rules.iter().any(|(rule, field)| {
                        (rule.is_empty() || item.rule == *rule)
                            && (field.is_empty() || item.field == *field)
                    })
            });
            if found && ours {
                both_found.insert(name);
            }
            if let Some(reason) = reason {
                if found != ours {
                    used.insert(reason);
                }
                continue;
            }
            compared += 1;
            if found != ours {
                let rules: Vec<&str> = items.iter().map(|item| item.rule).collect();
                wrong.push(format!(
                    "{what}: {name}: theirs {found}, ours {ours}: {rules:?}"
                ));
            }
        }
    }
    assert!(
        compared > 50_000,
        "{compared} comparisons of {} streams",
        faults.len()
    );
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
    assert!(both_found.len() >= 20, "{both_found:?}");
    let list = conformance();
    let listed: BTreeSet<&str> = list["differences"]
        .as_table()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        used, listed,
        "each difference is explained, and none that is gone"
    );
}

/// Records one run of a real producer with `watch --record`, and returns the file's text.
fn capture(program: &str, message: &str, answer: Option<&str>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder
        .path()
        .join("run.jsonl")
        .to_string_lossy()
        .into_owned();
    let peer = ProducerProcess::start(program, free_port(), &[]);
    let mut hearken = Hearken::watch(
        &peer.url(),
        "json",
        &["--until", "ended", "--record", &file],
    );
    hearken.announced("connection", phrase!("link.connected.*"));
    peer.ask(message);
    match answer {
        Some("accept") => {
            hearken.announced("confirmation", "send_email");
            hearken.say("y 1");
            hearken.announced("reply", phrase!("reply.second_step.*"));
            hearken.say("c 1");
        }
        Some(_) => {
            hearken.announced("confirmation", "send_email");
            hearken.say("n 1");
        }
        None => {}
    }
    hearken.announced("session_completed", "");
    let (code, errors, _) = hearken.exit();
    assert_eq!(code, 0, "{errors}");
    fs::read_to_string(&file).unwrap()
}

#[test]
fn captures_of_real_producers_have_exactly_the_departures_that_are_listed() {
    let list = table(include_str!("fixtures/departures.toml"));
    for run in list["run"].as_array().unwrap() {
        let (program, message) = (
            run["program"].as_str().unwrap(),
            run["message"].as_str().unwrap(),
        );
        let answer = run.get("answer").and_then(toml::Value::as_str);
        let text = capture(program, message, answer);
        let (items, summary) = check(&text);
        let wanted: BTreeSet<(&str, &str)> = run["departures"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one[0].as_str().unwrap(), one[1].as_str().unwrap()))
            .collect();
        let found: BTreeSet<(&str, &str)> =
            items.iter().map(|item| (item.rule, item.section)).collect();
        assert_eq!(found, wanted, "{program} {message} {answer:?}: {items:#?}");
        assert_eq!(
            Some(summary.counts.dangers as i64),
            run["dangers"].as_integer(),
            "{program} {message} {answer:?}"
        );
        assert_eq!(summary.sessions.len(), 1);
        assert_eq!(summary.sessions[0].ended(), "completed");
    }
}

/// The demo's own scenarios that need no answer break no rule, by their checks or by ours.
#[test]
fn the_demos_scenarios_are_clean() {
    let folder = tempfile::tempdir().unwrap();
    // A session that ends in an error has its own exit code.
    for (scenario, ended) in [("tool", 0), ("error", 1), ("handoff", 0)] {
        let file = folder.path().join(scenario).to_string_lossy().into_owned();
        let child = Hearken::start(&[
            "demo",
            "--scenario",
            scenario,
            "--face",
            "json",
            "--voice",
            "none",
            "--until",
            "ended",
            "--record",
            &file,
        ]);
        let (code, errors, _) = child.exit();
        assert_eq!(code, ended, "{scenario}: {errors}");
        let text = fs::read_to_string(&file).unwrap();
        let (items, summary) = check(&text);
        assert_eq!(items, [], "{scenario}");
        assert!(summary.events > 3);
        let events: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let streams = folder.path().join("streams");
        fs::write(&streams, json!(events).to_string()).unwrap();
        let output = Command::new(program("python").get_program())
            .arg("tests/fixtures/oracle.py")
            .arg(&streams)
            .output()
            .unwrap();
        let theirs: Value = serde_json::from_slice(&output.stdout).unwrap();
        let failed: Vec<&String> = theirs
            .as_object()
            .unwrap()
            .iter()
            .filter(|(_, passed)| passed.as_bool() == Some(false))
            .map(|(name, _)| name)
            .collect();
        assert!(failed.is_empty(), "{scenario}: {failed:?}");
    }
}
