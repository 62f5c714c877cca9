//! The JSON face conforms to its schema, and the linear face contains everything that is announced.

use std::collections::BTreeSet;

use hearken::announce::{AnnouncementKind, Class, Mark, Presentation};
use hearken::config::{Config, TimesChoice};
use hearken::demo;
use hearken::linear;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::support::child::Hearken;
use crate::support::stage::Stage;
use crate::support::{with_demo, within};

fn schema() -> Value {
    serde_json::from_str(include_str!("../docs/announcements.schema.json")).unwrap()
}

/// Runs a scenario of the demo with the real program, answers each question with its first line that needs no
/// text, and returns the announcements and the events as recorded.
fn run(scenario: &str) -> (Vec<Value>, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.jsonl");
    let record = file.to_string_lossy().into_owned();
    let lines = with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let arguments = [
            "watch",
            &running.url(),
            "--face",
            "json",
            "--voice",
            "none",
            "--until",
            "ended",
            "--record",
            &record,
        ];
        let mut hearken = Hearken::start(&arguments);
        within("subscriber", producer.until_subscribed(1)).await;
        agents.start(scenario).unwrap();
        let mut answered = BTreeSet::new();
        loop {
            let line = hearken.wait(scenario, |line| {
                let told: Value = serde_json::from_str(line).unwrap();
                told["asks"]["answerable"] == true || is_end(&told)
            });
            let told: Value = serde_json::from_str(&line).unwrap();
            let Some(number) = told["question"]
                .as_u64()
                .filter(|_| told["asks"].is_object())
            else {
                if producer.open_sessions() == 0 {
                    break;
                }
                continue;
            };
            if answered.insert(number) {
                let first = told["keys"][0].as_str().unwrap().replace("TEXT", "42");
                hearken.say(&first);
                if told["asks"]["second_step"] == true {
                    hearken.say(&format!("c {number}"));
                }
            }
        }
        let (_, errors, lines) = hearken.exit();
        assert_eq!(errors, "");
        lines
    });
    let told = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    (told, std::fs::read_to_string(file).unwrap())
}

fn is_end(told: &Value) -> bool {
    ["session_completed", "session_errored", "session_cancelled"]
        .contains(&told["kind"].as_str().unwrap())
}

/// Strips the labels and the time, and returns the words. On a narrow page the time is left out if it would cost a
/// row. The first row has a label, in which a time may stand, and continuations without a label are indented.
fn words_of(lines: &str, width: u16, labels: &[String], ours: bool) -> String {
    let mut is_timed = false;
    // A label without room beside it has rows of its own.
    let beside = labels.iter().fold(format!("\n{lines}"), |lines, label| {
        let rows = hearken::announce::wrap(&format!("{label}:"), usize::from(width));
        lines.replace(&format!("\n{}\n", rows.join("\n  ")), "\n")
    });
    let beside = beside.strip_prefix('\n').unwrap();
    let had_alone = beside.len() < lines.len();
    let lines = beside;
    let messages: Vec<&str> = lines
        .lines()
        .enumerate()
        .map(|(at, line)| {
            // A choice's number is in its label, and is announced.
            if line.starts_with("Choice ") {
                return line;
            }
            let labelled = labels.iter().find_map(|label| {
                let rest = line.strip_prefix(label.as_str())?;
                let timed = rest.strip_prefix(" (").filter(|_| at == 0);
                let timed = timed.and_then(|rest| rest.split_once("): "));
                if let Some((time, words)) = timed.filter(|(time, _)| is_time(time)) {
                    is_timed |= !time.is_empty();
                    return Some(words);
                }
                rest.strip_prefix(": ")
            });
            match (labelled, line.strip_prefix("  ")) {
                (Some(words), _) => words,
                (None, Some(words)) if at > 0 || had_alone => words,
                // Only the greeting, the first line of all, begins with hearken's name instead of a label.
                (None, None) if ours && line.starts_with("hearken, ") => line,
                (None, _) => {
                    panic!("neither a label nor set in: {line:?} of {labels:?} in\n{lines}")
                }
            }
        })
        .collect();
    let joined = messages.join(" ");
    let at_end = joined.strip_suffix(')').and_then(|it| it.rsplit_once(" ("));
    match at_end {
        Some((words, time)) if is_time(time) => words.to_owned(),
        _ if is_timed => joined,
        _ if (1..60).contains(&width) => joined,
        _ => panic!("the time in the label or at the end of {joined}"),
    }
}

fn is_time(time: &str) -> bool {
    time.len() == "00:00:00".len() && time.chars().filter(char::is_ascii_digit).count() == 6
}

/// Removes what lines may change: spaces, and a full stop that would have a line to itself.
fn squeezed(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace() && *c != '.')
        .collect()
}
#[test]
fn every_announcement_of_every_scenario_keeps_the_contract_and_is_whole_in_lines() {
    let schema = schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut kinds = BTreeSet::new();
    let mut statuses = BTreeSet::new();
    let mut asked = 0;
    for info in demo::list() {
        let (told, events) = run(&info.name);
        for announcement in &told {
            let faults: Vec<String> = validator
                .iter_errors(announcement)
                .map(|fault| format!("{} at {}", fault, fault.instance_path()))
                .collect();
            assert!(
                faults.is_empty(),
                "{}: {faults:?}\n{announcement:#}",
                info.name
            );
            let kind = announcement["kind"].as_str().unwrap();
            kinds.insert(kind.to_owned());
            // Hints are hearken's own, and so are some responses to a line.
            let of_a_source = announcement["source"]
                .as_str()
                .is_some_and(|source| source.contains("127.0.0.1"));
            match kind {
                "hint" => assert!(announcement["source"].is_null(), "{announcement:#}"),
                "reply" => {}
                _ => assert!(of_a_source, "{announcement:#}"),
            }
            if kind == "tool_completed" {
                let status = announcement["status"].as_str().unwrap();
                let name = announcement["tool"].as_str().unwrap();
                let told = |line: &&str| {
                    let event: Value = serde_json::from_str(line).unwrap();
                    event["tool"] == name && event["status"] == status
                };
                assert!(
                    events.lines().any(|line| told(&line)),
                    "{name} ended with {status}: {announcement:#}"
                );
                statuses.insert(status.to_owned());
            }
            asked += usize::from(announcement["asks"].is_object());
        }
        let start = "2026-01-01T00:00:00Z".parse().unwrap();
        let mut config = Config::default();
        config.screen.times = TimesChoice::Always;
        let mut stage = Stage::new(config, start);
        for event in events.lines() {
            stage.frame(event);
        }
        for told in stage.app.history().iter() {
            for width in [0, 20, 40, 80] {
                let page = linear::Page::plain(width);
                let lines = linear::LineWriter::new(page, TimeZone::UTC).write(&stage.app, told);
                let mut labels = vec![
                    stage.app.label(told),
                    stage.app.label_without_name(told),
                    "asks".to_owned(),
                ];
                labels.extend(told.agent.iter().map(|agent| format!("{agent} asks")));
                // Around a question, the agent's words have its label in every row.
                let ours =
                    told.about.is_some() || told.segments.iter().all(|part| part.mark == Mark::Own);
                if told.shown().is_empty()
                    || matches!(told.aloud, Presentation::Seen | Presentation::Echo)
                {
                    // Pure structure, such as the line under a table's headers; or something that other words
                    // say.
                    assert_eq!(lines, "");
                    continue;
                }
                assert_eq!(
                    squeezed(&words_of(&lines, width, &labels, ours)),
                    squeezed(&told.shown()),
                    "{width}: {lines}"
                );
                assert!(
                    !lines
                        .trim_end_matches('\n')
                        .chars()
                        .any(|c| c.is_control() && c != '\n')
                );
            }
        }
    }
    assert!(asked >= 8, "only {asked} questions were asked");
    assert!(
        statuses.contains("success") && statuses.len() > 1,
        "{statuses:?}"
    );
    for kind in [
        "confirmation",
        "clarification",
        "output",
        "handoff",
        "tool_invoked",
        "reply",
        "connection",
    ] {
        assert!(kinds.contains(kind), "no {kind} in {kinds:?}");
    }
}

#[test]
fn the_schema_has_exactly_the_classes_and_kinds_of_the_code() {
    let schema = schema();
    let listed = |name: &str| -> BTreeSet<String> {
        schema["properties"][name]["enum"]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_str().unwrap().to_owned())
            .collect()
    };
    let name = |value: serde_json::Value| value.as_str().unwrap().to_owned();
    let classes = [
        Class::Alert,
        Class::Response,
        Class::Outcome,
        Class::Activity,
        Class::Stream,
    ];
    let classes: BTreeSet<String> = classes
        .iter()
        .map(|class| name(serde_json::to_value(class).unwrap()))
        .collect();
    assert_eq!(listed("class"), classes);
    use AnnouncementKind::*;
    let kinds = [
        SessionStarted,
        SessionCompleted,
        SessionErrored,
        SessionCancelled,
        State,
        Progress,
        ToolInvoked,
        ToolCompleted,
        Output,
        Prompt,
        Confirmation,
        Clarification,
        Handoff,
        Unknown,
        Connection,
        Reply,
        Danger,
        Anomaly,
        Hint,
    ];
    let kinds: BTreeSet<String> = kinds
        .iter()
        .map(|kind| name(serde_json::to_value(kind).unwrap()))
        .collect();
    assert_eq!(listed("kind"), kinds);
}

#[test]
fn the_schema_refuses_what_is_no_announcement() {
    let schema = schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let good = serde_json::json!({
        "at": "2026-01-01T00:00:00.000Z", "class": "alert", "kind": "danger", "session": null, "agent": null,
        "source": null, "text": "x", "spoken": "x", "language": "en", "direction": "ltr", "own_words": true,
    });
    assert!(validator.is_valid(&good));
    for (field, value) in [
        ("class", "loud".into()),
        ("own_words", "yes".into()),
        ("extra", 1.into()),
        ("keys", Value::Array(vec![])),
        ("status", "success".into()),
        ("kind", "tool_completed".into()),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        assert!(!validator.is_valid(&bad), "{field}");
    }
}
