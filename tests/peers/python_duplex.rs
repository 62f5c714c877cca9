//! Our subscriber against a small Python producer that implements appendices B.2 and B.6 as printed: the
//! handshake, an event, a question, its answer, a renegotiation and the farewell, each checked there field
//! by field.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use hearken_wording::phrase;
use serde_json::{Value, json};

use super::PATIENCE;
use super::child::Hearken;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/duplex.py");

/// Ends the producer with the test.
struct PythonDuplexProducer(Child);

impl Drop for PythonDuplexProducer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Plays the story and returns the producer's report.
fn story(source: &[&str], report: &str) -> Vec<Value> {
    let mut arguments = vec!["watch", "--face", "json", "--voice", "none"];
    arguments.extend(source);
    let mut hearken = Hearken::start(&arguments);
    hearken.announced("connection", phrase!("terms.rate", honored = 3, asked = 50));
    hearken.announced("session_started", "Session started.");
    hearken.announced("confirmation", "Transfer");
    hearken.say("y 1");
    super::answered(&mut hearken);
    hearken.say("v");
    until(report, |line| {
        line["message"]["type"] == "subscription.renegotiate"
    });
    hearken.say("x");
    hearken.say("x");
    let (code, errors, lines) = hearken.exit();
    assert_eq!((code, errors.as_str()), (0, ""), "{}", lines.join("\n"));
    until(report, |line| line.get("left").is_some())
}

/// Waits for a line of the report.
fn until(report: &str, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
    let end = Instant::now() + PATIENCE;
    loop {
        let text = std::fs::read_to_string(report).unwrap_or_default();
        // The last line may be incomplete.
        let lines: Vec<Value> = text
            .lines()
            .map_while(|line| serde_json::from_str(line).ok())
            .collect();
        if lines.iter().any(&fits) {
            return lines;
        }
        assert!(Instant::now() < end, "not in the report: {text}");
        std::thread::yield_now();
    }
}

/// Checks that no message was wrong, and which ones arrived.
fn judge(report: &[Value], left: &Value) {
    for line in report {
        if let Some(faults) = line.get("faults") {
            assert_eq!(faults, &json!([]), "{line}");
        }
    }
    let kinds: Vec<&str> = report
        .iter()
        .filter_map(|line| line["message"]["type"].as_str())
        .collect();
    assert_eq!(
        kinds,
        [
            "subscription.request",
            "confirmation.reply",
            "subscription.renegotiate",
            "subscription.close"
        ]
    );
    assert_eq!(&report[report.len() - 1]["left"], left);
}

#[test]
fn over_a_websocket_every_message_is_as_the_appendix_prints_it() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report").to_str().unwrap().to_owned();
    let mut child = Command::new("python3")
        .args([SCRIPT, "ws", &report])
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is there");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let _producer = PythonDuplexProducer(child);
    let port = lines.next().unwrap().unwrap();
    let lines = story(&[&format!("ws://127.0.0.1:{port}")], &report);
    assert_eq!(lines[0]["upgrade"], "GET /aaep/v1/ws HTTP/1.1");
    judge(&lines, &json!(4005));
}

#[test]
fn over_standard_input_every_message_is_as_the_appendix_prints_it() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report").to_str().unwrap().to_owned();
    let lines = story(&["--", "python3", SCRIPT, "stdio", &report], &report);
    judge(&lines, &json!("end of input"));
    let methods: Vec<&Value> = lines.iter().filter_map(|line| line.get("how")).collect();
    assert_eq!(
        methods,
        [
            "aaep.subscribe",
            "aaep.reply",
            "aaep.renegotiate",
            "aaep.close"
        ]
    );
}
