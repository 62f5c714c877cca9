//! The command line as scripts see it: one clear sentence, the right exit code.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use hearken_wording::phrase;
use serde_json::Value;

use crate::support::child::{Hearken, command};
#[cfg(unix)]
use crate::support::pty_terminal::Terminal;
use crate::support::stand_in::{ProgramPipes, StandIn};
use crate::support::{with_demo, within};

/// Starts a short run of the demo.
fn tool(face: &str, more: &[&str]) -> Hearken {
    let scenario = [
        "demo",
        "--scenario",
        "tool",
        "--voice",
        "none",
        "--face",
        face,
    ];
    Hearken::start(&[&scenario[..], more].concat())
}

/// Answers every connection with the same bytes.
fn server(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = stream;
            let mut request = BufReader::new(stream.try_clone().unwrap()).lines();
            while request
                .next()
                .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
            {}
            let _ = stream.write_all(answer.as_bytes());
            // If the body stayed unread, the system would discard the answer along with it.
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    address
}

/// An address where nothing listens: a port that no test is ever given.
fn dead() -> String {
    "http://127.0.0.1:1".to_owned()
}

const HTML: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nConnection: close\r\n\r\n<html";
const DENIED: &str = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const BROKEN: &str =
    "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

fn faults() -> Vec<(String, &'static str)> {
    vec![
        (dead(), "nobody answers at that address"),
        (
            server(HTML),
            "the server answered with text/html, not with an event stream",
        ),
        (server(DENIED), "the server needs a token (status 401)"),
        (server(BROKEN), "the server has an error (status 500)"),
    ]
}

#[test]
fn each_fault_is_one_clear_sentence_in_lines_with_exit_code_1() {
    for (url, words) in faults() {
        let child = Hearken::watch(&url, "linear", &["--retries", "0"]);
        let (code, errors, lines) = child.exit();
        assert_eq!(code, 1, "{lines:?}");
        let told: Vec<&String> = lines
            .iter()
            .filter(|line| line.starts_with("Connection:"))
            .collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains(words), "{told:?}");
        assert_eq!(errors, "");
    }
}

#[test]
fn each_fault_is_one_clear_sentence_in_json_with_exit_code_1() {
    for (url, words) in faults() {
        let child = Hearken::watch(&url, "json", &["--retries", "0"]);
        let (code, _, lines) = child.exit();
        assert_eq!(code, 1);
        let told: Vec<Value> = lines
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|value| value["kind"] == "connection")
            .collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0]["spoken"].as_str().unwrap().contains(words),
            "{told:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn each_fault_is_one_clear_sentence_on_the_screen_with_exit_code_1() {
    for (url, words) in faults() {
        let mut terminal = Terminal::start(
            120,
            24,
            &[
                "watch",
                &url,
                "--face",
                "full",
                "--voice",
                "none",
                "--retries",
                "0",
            ],
        );
        terminal.wait(words);
        terminal.press("q");
        assert_eq!(terminal.exit(), 1, "{words}");
    }
}

#[test]
fn a_dead_port_is_tried_again_and_told_once() {
    let url = dead();
    let mut child = Hearken::watch(&url, "linear", &["--until", "idle:2"]);
    child.wait("the fault", |line| {
        phrase!(
            "link.unreachable",
            reason = "nobody answers at that address"
        )
        .is_in(line)
    });
    child.say("q");
    let (code, _, lines) = child.exit();
    assert_eq!(code, 0, "the person left");
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.contains("can't be reached"))
            .count(),
        1
    );
}

#[test]
fn bad_usage_is_one_sentence_with_exit_code_2() {
    for (arguments, words) in [
        (vec!["watch"], "SOURCE"),
        (vec!["watch", "http://user:secret@127.0.0.1:1/"], "refused"),
        (vec!["watch", "http://example.com/"], "http"),
        (vec!["watch", "gopher://x"], "gopher"),
        (
            vec!["demo", "--scenario", "nonsense"],
            "there is no scenario",
        ),
        (
            vec!["watch", "http://127.0.0.1:1", "--until", "never"],
            "ended",
        ),
        (
            vec![
                "watch",
                "http://127.0.0.1:1",
                "--config",
                "/nonexistent/x.toml",
            ],
            "can't be read",
        ),
        (
            vec![
                "watch",
                "http://127.0.0.1:1",
                "--token-env",
                "HEARKEN_NO_SUCH",
            ],
            "is not set",
        ),
    ] {
        let output = command(&arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(words), "{arguments:?}: {errors}");
        assert!(!errors.contains("secret"), "{errors}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn the_end_of_standard_input_changes_nothing() {
    let mut child = tool("linear", &[]);
    child.end_input();
    let (code, _, lines) = child.exit();
    assert_eq!(code, 0);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("Session: Finished")),
        "{lines:?}"
    );
    assert!(
        lines[0].starts_with("hearken, plain lines, no voice. ? help, q quit. ("),
        "{lines:?}"
    );
}

/// Asserts that only the owner may read a file. Windows permissions are tested separately.
fn is_private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(path.is_file());
}

#[test]
fn a_recording_is_private_and_plays_into_the_same_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let file = path.to_string_lossy().into_owned();
    let child = tool("json", &["--record", &file]);
    let (code, _, live) = child.exit();
    assert_eq!(code, 0);
    is_private(&path);
    let recorded = std::fs::read_to_string(&path).unwrap();
    for line in recorded.lines() {
        assert!(serde_json::from_str::<Value>(line).unwrap()["event_id"].is_string());
    }
    let (code, _, again) = Hearken::start(&[
        "replay",
        &file,
        "--no-delay",
        "--face",
        "json",
        "--voice",
        "none",
    ])
    .exit();
    assert_eq!(code, 0);
    let texts = |lines: &[String]| -> Vec<String> {
        lines
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|value| value["kind"] != "connection" && value["kind"] != "hint")
            .map(|value| format!("{} {} {}", value["kind"], value["class"], value["text"]))
            .collect()
    };
    assert_eq!(texts(&again), texts(&live));
    let (code, errors, _) = tool("json", &["--record", &file]).exit();
    assert_eq!(code, 2, "an existing recording is never overwritten");
    assert!(errors.contains("exists"), "{errors}");
}

#[test]
fn json_lines_keep_their_contract() {
    let child = Hearken::start(&[
        "demo",
        "--scenario",
        "question",
        "--face",
        "json",
        "--voice",
        "none",
        "--until",
        "idle:3",
    ]);
    let (_, _, lines) = child.exit();
    let classes = ["alert", "response", "outcome", "activity", "stream"];
    let mut asked = 0;
    for line in &lines {
        let value: Value = serde_json::from_str(line).unwrap();
        assert!(
            value["at"]
                .as_str()
                .unwrap()
                .parse::<jiff::Timestamp>()
                .is_ok()
        );
        assert!(
            classes.contains(&value["class"].as_str().unwrap()),
            "{line}"
        );
        for key in ["kind", "text", "spoken", "language"] {
            assert!(value[key].is_string(), "{key}: {line}");
        }
        for key in ["session", "agent"] {
            assert!(value.get(key).is_some(), "{key}: {line}");
        }
        if value.get("reply_token").is_some_and(Value::is_string) {
            asked += 1;
            assert_eq!(value["question"], 1);
            assert!(
                value["keys"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|key| key == "y 1"),
                "{line}"
            );
        }
    }
    assert_eq!(asked, 1);
    assert!(
        lines
            .last()
            .unwrap()
            .contains("Question 1 will be rejected"),
        "what is left open is named at the end"
    );
}

#[test]
fn lines_of_a_width_keep_to_it() {
    let child = tool("linear", &["--width", "40"]);
    let (code, _, lines) = child.exit();
    assert_eq!(code, 0);
    assert!(lines.len() > 8);
    assert_eq!(lines[0], "hearken, plain lines, no voice. ? help,");
    for line in &lines {
        assert!(line.chars().count() <= 40, "{line}");
    }
    for line in &lines[2..] {
        // A continuation is indented.
        let told = line.contains(": ") || line.starts_with("  ");
        assert!(told, "every line has its label: {line}");
    }
}

#[test]
fn the_demo_serves_others_and_two_sources_are_followed_at_once() {
    let mut first = Hearken::start(&["demo", "--serve", "127.0.0.1:0"]);
    let mut second = Hearken::start(&["demo", "--serve", "127.0.0.1:0"]);
    let address = |line: String| {
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"))
            .unwrap();
        url.trim_end_matches('.').to_owned()
    };
    let one = address(first.wait("an address", |line| phrase!("serve.at").is_in(line)));
    let two = address(second.wait("an address", |line| phrase!("serve.at").is_in(line)));
    let mut child = Hearken::start(&["watch", &one, &two, "--face", "json", "--voice", "none"]);
    child.announced("connection", phrase!("link.connected.*"));
    child.announced("connection", phrase!("link.connected.*"));
    for (url, scenario) in [(&one, "tool"), (&two, "handoff")] {
        let mut stream = std::net::TcpStream::connect(url.trim_start_matches("http://")).unwrap();
        let body = format!("{{\"scenario\": \"{scenario}\"}}");
        let head = "POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n";
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    }
    child.announced("session_started", "");
    child.announced("session_started", "");
    child.announced("handoff", "");
    child.announced("session_completed", "");
}

#[test]
fn a_reader_that_stops_reading_does_not_stop_the_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.jsonl");
    let mut file = std::fs::File::create(&path).unwrap();
    for n in 0..4000 {
        let event = serde_json::json!({
            "@context": "https://aaep-protocol.org/context/v1", "type": "aaep:agent.output.streaming", "event_id": format!("evt_{n}"),
            "session_id": "sess_1", "timestamp": "2026-01-01T00:00:00.000Z", "producer": {"agent_id": "a"},
            "chunk": format!("Sentence {n} {} .\n\n", "word ".repeat(50)), "position": n * 300, "complete": false,
        });
        writeln!(file, "{event}").unwrap();
    }
    let path = path.to_str().unwrap();
    let mut child = command(&[
        "replay",
        path,
        "--no-delay",
        "--face",
        "linear",
        "--voice",
        "none",
    ])
    .stdin(std::process::Stdio::piped())
    .stdout(std::process::Stdio::piped())
    .spawn()
    .unwrap();
    // Its output, which is far more than a pipe holds, is never read.
    let mut first = [0; 1];
    let mut out = child.stdout.take().unwrap();
    std::io::Read::read_exact(&mut out, &mut first).unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "q").unwrap();
    let until = std::time::Instant::now() + crate::support::PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(std::time::Instant::now() < until, "q did not end it");
        std::thread::yield_now();
    };
    assert_eq!(status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn with_a_screen_reader_the_first_line_says_lines_and_no_voice_of_its_own() {
    let arguments = ["demo", "--scenario", "tool", "--screen-reader", "yes"];
    let mut terminal = Terminal::start(100, 30, &arguments);
    let first = "hearken, plain lines, your screen reader speaks.";
    terminal.wait_until("the first line", |screen| {
        let screen: String = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        screen.contains(first)
    });
}

#[test]
fn keys_that_cannot_be_used_are_told_before_anything_starts() {
    use std::io::Write;
    for (text, words) in [
        (
            "accept = [\"n\"]",
            "the key n is given to both accept and reject",
        ),
        ("accept = []", "accept has no key"),
        ("jump = [\"j\"]", "there is no command \"jump\""),
        (
            "accept = \"y\"",
            "line 1: accept takes a list; put y into square brackets",
        ),
        ("accept = [", "line 1 can't be read; a setting is written"),
    ] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "{text}").unwrap();
        let path = file.path().to_string_lossy().into_owned();
        let hearken = crate::support::child::Hearken::start(&[
            "demo", "--keys", &path, "--voice", "none", "--face", "linear",
        ]);
        let (code, errors, _) = hearken.exit();
        assert!(code == 2 || code == 1, "{code}");
        assert!(errors.contains(words), "{text}: {errors}");
        assert_eq!(errors.trim_end().lines().count(), 1, "{errors}");
    }
}

#[test]
fn how_the_work_ended_is_the_exit_code_of_who_waits_for_its_end() {
    let stand_in = StandIn::new("", 0);
    let says = Arc::new(Mutex::new(String::new()));
    let text = Arc::clone(&says);
    stand_in.plays(move |mut talk: ProgramPipes| {
        talk.say(&text.lock().unwrap());
        talk.end();
    });
    let tour = include_str!("fixtures/tour.jsonl");
    let first: Vec<&str> = tour.lines().take(8).collect();
    let cut = first.join("\n");
    let mut errored: Value = serde_json::from_str(tour.lines().last().unwrap()).unwrap();
    errored["type"] = "aaep:agent.session.errored".into();
    errored["error_category"] = "internal_error".into();
    errored["error_message"] = "The disk is full".into();
    errored["recoverable"] = false.into();
    let errored = format!("{cut}\n{errored}");
    let not_done = format!(
        "{} has ended. Morning Assistant was not done.",
        stand_in.name()
    );
    let not_done = not_done.as_str();
    let call = stand_in.call();
    for (text, until, wanted, words) in [
        (tour, "ended", 0, None),
        (cut.as_str(), "ended", 1, Some(not_done)),
        (cut.as_str(), "idle:60", 0, Some(not_done)),
        (errored.as_str(), "ended", 1, None),
    ] {
        text.clone_into(&mut says.lock().unwrap());
        let mut arguments = vec![
            "watch", "--face", "linear", "--voice", "none", "--until", until, "--",
        ];
        arguments.extend(call.iter().map(String::as_str));
        let (code, errors, lines) = Hearken::start(&arguments).exit();
        assert_eq!((code, errors.as_str()), (wanted, ""), "{until}: {lines:?}");
        let told = lines
            .iter()
            .any(|line| phrase!("link.cut_short").is_in(line));
        assert_eq!(told, words.is_some(), "{until}: {lines:?}");
        assert!(
            words.is_none_or(|words| lines.iter().any(|line| line.contains(words))),
            "{lines:?}"
        );
    }
}

#[test]
fn answers_that_cannot_be_used_are_told_before_anything_connects() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    for (text, words) in [
        ("", "there is no [[answer]] in it"),
        ("[[answer]\n", "line 1 can't be read"),
        (
            "[[answer]]\nname = \"a\"\nkind = \"confirmation\"\nanswer = \"accept\"\nrisks = [\"high\"]\n",
            "the rule a takes a risk: it has to name a tool, or the whole text of the action",
        ),
    ] {
        std::fs::write(path, text).unwrap();
        let arguments = [
            "demo",
            "--answers",
            path,
            "--face",
            "json",
            "--voice",
            "none",
        ];
        let (code, errors, lines) = Hearken::start(&arguments).exit();
        assert_eq!((code, lines.len()), (2, 0), "{text}: {errors}");
        assert!(errors.contains(words), "{text}: {errors}");
        assert_eq!(errors.trim_end().lines().count(), 1, "{errors}");
    }
}

#[test]
fn a_script_answers_the_demo_by_rules_and_is_told_what_it_left_open() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        file.path(),
        "[[answer]]\nname = \"tidy\"\nkind = \"confirmation\"\ntext = \"move\"\nanswer = \"accept\"\n",
    )
    .unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let mut child = Hearken::start(&[
            "watch",
            &running.url(),
            "--answers",
            &path,
            "--face",
            "json",
            "--voice",
            "none",
        ]);
        within("subscriber", producer.until_subscribed(1)).await;
        agents.start("question").unwrap();
        let words = phrase!("policy.accepts", rule = "tidy", n = 1);
        child.announced("confirmation", words);
        child.announced("session_completed", "");
        agents.start("email").unwrap();
        let told = child.announced("confirmation", phrase!("answers.none", n = 2));
        assert_eq!(told["question"], 2);
        // A line only answers what was shown before it was written.
        let words = phrase!("question.head", n = 2, agent = "Mail Assistant");
        child.announced("confirmation", words);
        child.say("n 2");
        child.announced("session_completed", "");
        child.say("q");
        let (code, errors, _) = child.exit();
        assert_eq!((code, errors.as_str()), (0, ""));
    });
}
