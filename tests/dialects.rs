//! Other protocols from end to end: heard through the app in every face, answered, checked and traced.

mod asp;
mod codex;
#[cfg(unix)]
mod codex_socket;
mod sage;
mod unnamed_servers;
mod whole_programs;

use std::time::Duration;

use clap::ValueEnum as _;
use hearken::config::{Config, Dialect, Verbosity};
use hearken::demo;
use hearken::dialect::{DIALECTS, Identity, asp_tables, descriptor};
use hearken::inspect::{Checker, Format, Tracer};
use hearken::protocol::Severity;
use serde_json::{Value, json};

use crate::documents::holds_generated;
use crate::support::stage::Stage;

/// A key that is used nowhere else.
const KEY: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f
-----END PRIVATE KEY-----
";

fn start() -> jiff::Timestamp {
    "2026-03-07T14:30:00Z".parse().unwrap()
}

fn script() -> &'static demo::Script {
    demo::script("asp").unwrap()
}

/// Plays the demo's negotiation; when it escalates, the person hears the question and chooses.
fn negotiation(verbosity: Verbosity, choice: char, heard: &str) -> (Stage, String) {
    let mut config = Config::default();
    config.announce.verbosity = verbosity;
    let identity = Identity::new(demo::PERSON, KEY).unwrap();
    negotiation_of(Some(identity), config, choice, heard)
}

/// Plays it with an identity that speaks for the person, or with a handler.
fn negotiation_of(
    identity: Option<Identity>,
    config: Config,
    choice: char,
    heard: &str,
) -> (Stage, String) {
    let mut stage = Stage::speaking(config, start(), Dialect::Asp, identity);
    let taken = stage.play_script(script(), "", &Value::Null, 0);
    stage.wait_for_silence();
    let asked = stage.screen(100, 30);
    assert!(stage.sent.is_empty(), "nothing goes out unasked");
    stage.press('o');
    stage.press(choice);
    stage.wait(Duration::from_secs(1));
    if stage.sent.is_empty() {
        stage.wait(Duration::from_secs(8));
        stage.press('c');
        stage.wait(Duration::from_secs(1));
    }
    if !heard.is_empty() {
        let sent: Value = serde_json::from_str(&stage.sent[0].1).unwrap();
        stage.play_script(script(), heard, &sent, taken);
    }
    stage.wait_for_silence();
    (stage, asked)
}

fn golden(name: &str, verbosity: Verbosity) {
    let (stage, asked) = negotiation(verbosity, '1', "resume");
    insta::assert_snapshot!(format!("asp_{name}_script"), stage.script.join("\n"));
    insta::assert_snapshot!(format!("asp_{name}_lines"), stage.lines.concat());
    insta::assert_snapshot!(format!("asp_{name}_question_100x30"), asked);
    insta::assert_snapshot!(format!("asp_{name}_last_100x30"), stage.screen(100, 30));
}

/// Returns what a program that follows along reads: from each line the fields that identify it; other tests cover
/// the rest.
fn for_programs(stage: &Stage) -> String {
    const FIELDS: [&str; 10] = [
        "at",
        "class",
        "kind",
        "session",
        "agent",
        "text",
        "question",
        "reply_token",
        "keys",
        "asks",
    ];
    let line = |line: &String| {
        let mut whole: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
        whole.retain(|name, _| FIELDS.contains(&name.as_str()));
        Value::Object(whole).to_string()
    };
    stage
        .objects
        .iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The input of a program that follows along, including the person's resolution.
#[test]
fn the_negotiation_for_programs() {
    let (stage, _) = negotiation(Verbosity::Normal, '1', "resume");
    insta::assert_snapshot!("asp_json", for_programs(&stage));
}

#[test]
fn the_negotiation_tersely() {
    golden("terse", Verbosity::Terse);
}

#[test]
fn the_negotiation_normally() {
    golden("normal", Verbosity::Normal);
}

#[test]
fn the_negotiation_in_detail() {
    golden("detailed", Verbosity::Detailed);
}

#[test]
fn the_persons_resolution_goes_out_byte_for_byte() {
    let (stage, _) = negotiation(Verbosity::Normal, '1', "resume");
    let sent: Vec<&str> = stage.sent.iter().map(|(_, frame)| frame.as_str()).collect();
    insta::assert_snapshot!("asp_resume_frames", sent.join("\n"));
    let (stage, _) = negotiation(Verbosity::Normal, '2', "close");
    let sent: Vec<&str> = stage.sent.iter().map(|(_, frame)| frame.as_str()).collect();
    insta::assert_snapshot!("asp_close_frames", sent.join("\n"));
    let (stage, _) = negotiation(Verbosity::Normal, '3', "");
    assert!(stage.sent.is_empty(), "later sends nothing");
}

#[test]
fn a_handler_is_told_the_persons_resolution_byte_for_byte_and_the_session_nothing() {
    let (stage, _) = negotiation_of(None, Config::default(), '1', "");
    assert_eq!(stage.sent, []);
    let told: Vec<&str> = stage.handed.iter().map(|(_, told)| told.as_str()).collect();
    insta::assert_snapshot!("asp_handler", told.join("\n"));
}

fn capture() -> String {
    let sent = json!({"integrity": {"hash": "sha256:person"}});
    let frames = script().frames("resume", &sent, start());
    frames.into_iter().map(|(_, frame)| frame + "\n").collect()
}

#[test]
fn a_capture_is_checked_by_its_own_rules() {
    let check = |text: &str| {
        let mut checker = Checker::new();
        let mut items = Vec::new();
        for line in text.lines() {
            items.extend(checker.line(line));
        }
        items.extend(checker.finish().0);
        items
    };
    let fine = capture();
    assert!(
        check(&fine)
            .iter()
            .all(|item| item.severity == Severity::Note || item.rule == "departs")
    );
    let errors: Vec<_> = check(&fine)
        .into_iter()
        .filter(|item| item.severity == Severity::Error)
        .collect();
    assert_eq!(errors, []);
    // The person's own message is missing from the other sides' messages, so the chain shows where it was.
    let fields: Vec<String> = check(&fine)
        .into_iter()
        .filter(|item| item.rule == "departs")
        .map(|item| item.field)
        .collect();
    assert!(
        fields.contains(&"asp.departure.link".to_owned()),
        "{fields:?}"
    );
    let last = fine.lines().last().unwrap();
    let late = last
        .replace("\"performative\":\"CLOSE\"", "\"performative\":\"QUERY\"")
        .replace("000000000012", "000000000099");
    let items = check(&format!("{fine}{late}\n"));
    assert!(
        items
            .iter()
            .any(|item| item.field == "asp.departure.after_end"),
        "{items:?}"
    );
}

#[test]
fn a_capture_is_traced_by_its_own_states() {
    let mut tracer = Tracer::new();
    let text = capture();
    for line in text.lines() {
        tracer.line(line);
    }
    let traced = tracer
        .finish(
            Format::Text,
            &hearken::announce::Phrases::english().unwrap(),
        )
        .unwrap();
    for step in [
        "ASP session: IDLE to INVITED, by invitation",
        "ASP session: CONVERSING to ESCALATED, by ESCALATE",
    ] {
        assert!(traced.contains(step), "{traced}");
    }
}

/// The page has what a reader needs; ASP's own rules are kept as snapshots.
#[test]
fn the_tables_in_the_documentation_are_the_codes() {
    for (name, table) in asp_tables() {
        match name {
            "asp transitions" => insta::assert_snapshot!("asp_transitions", table),
            "asp performatives" => insta::assert_snapshot!("asp_performatives", table),
            "asp events" => insta::assert_snapshot!("asp_events", table),
            "asp departures" => insta::assert_snapshot!("asp_departures", table),
            name => holds_generated("docs/dialects.md", name, &table),
        }
    }
    holds_generated("docs/dialects.md", "dialects", &descriptor::table());
}

#[test]
fn each_dialect_that_the_settings_know_has_one_row() {
    for dialect in Dialect::value_variants() {
        let rows = DIALECTS.iter().filter(|row| row.dialect == *dialect);
        let wanted = usize::from(*dialect != Dialect::Auto);
        assert_eq!(rows.count(), wanted, "{dialect:?}");
    }
}

/// The code behind the dialects contains no word of their protocols; the phrase files are exempt.
#[test]
fn no_room_behind_the_door_knows_a_word_of_another_protocol() {
    const WORDS: [&str; 11] = [
        "sage",
        "waitingpermission",
        "executingtools",
        "asp",
        "performative",
        "escalate",
        "escalation",
        "previoushash",
        "negotiation",
        "informtype",
        "commitment",
    ];
    let mut found = Vec::new();
    let mut stack: Vec<std::path::PathBuf> = [
        "crates/hearken-core/src/session",
        "crates/hearken-core/src/announce",
        "crates/hearken-core/src/app",
        "crates/hearken-core/src/app.rs",
        "src/pane",
        "src/linear",
        "src/linear.rs",
    ]
    .map(Into::into)
    .into();
    while let Some(path) = stack.pop() {
        if path.is_dir() {
            stack.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = std::fs::read_to_string(&path).unwrap().to_lowercase();
            for word in text
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| WORDS.contains(word))
            {
                found.push(format!("{}: {word}", path.display()).replace('\\', "/"));
            }
        }
    }
    // AAEP has a handover queue of that name (4.4.3).
    found.retain(|one| !(one.ends_with(": escalation") && one.contains("/announce/")));
    assert!(found.is_empty(), "{found:?}");
}
