//! `hearken doctor` as a person and a script see it.

use std::io::Write;

use serde_json::Value;

use crate::support::child::command;
#[cfg(unix)]
use crate::support::pty_terminal::Terminal;
#[cfg(unix)]
use crate::support::scripted_ssip::{FakeSsip, WordsFate, address};
use crate::support::{with_demo, within};

/// An address without a speech-dispatcher.
const NOBODY: &str = "unix_socket:/nonexistent/speechd.sock";

/// Runs it in an environment whose only voice is the scripted one, and returns exit code and
/// output.
fn doctor(speechd: &str, arguments: &[&str]) -> (i32, String) {
    let nothing = tempfile::tempdir().unwrap();
    let output = command(arguments)
        .env("SPEECHD_ADDRESS", speechd)
        .env("PATH", nothing.path())
        .env("LANG", "C.UTF-8")
        .env_remove("LC_ALL")
        .env_remove("LC_CTYPE")
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), text)
}

fn has(text: &str, line: &str) {
    assert!(
        text.lines().any(|it| it == line),
        "no line {line:?} in:\n{text}"
    );
}

#[cfg(unix)]
#[test]
fn all_is_well_with_a_voice_that_speaks_and_a_source_that_opens() {
    with_demo(async |running| {
        let url = running.url();
        let server = FakeSsip::start();
        server.speech(WordsFate::Ends);
        let (code, text) = doctor(&address(&server), &["doctor", &url]);
        assert_eq!(code, 0, "{text}");
        server.wait_message("This is hearken. You hear speech-dispatcher.");
        has(
            &text,
            "Face: The linear face, because the output is not a terminal.",
        );
        assert!(
            text.contains("Voice: speech-dispatcher would speak; it said a test sentence in "),
            "{text}"
        );
        assert!(
            text.contains("/events answers and offers a handshake."),
            "{text}"
        );
        has(&text, "Result: hearken can work here.");
        within(
            "the end of its only look",
            running.producer().until_deserted(),
        )
        .await;
    });
}

#[test]
fn every_value_is_told_with_its_origin() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "[announce]\nverbosity = \"terse\"\nload = \"low\"\n").unwrap();
    let path = file.path().to_string_lossy().into_owned();
    let server = NOBODY;
    let (code, text) = doctor(
        server,
        &[
            "doctor", "--config", &path, "--load", "high", "--voice", "none",
        ],
    );
    assert_eq!(code, 0, "{text}");
    has(&text, &format!("Settings: The file is {path}."));
    has(
        &text,
        "Settings: announce.verbosity = \"terse\", from the file.",
    );
    has(
        &text,
        "Settings: announce.load = \"high\", from the flag --load.",
    );
    has(
        &text,
        "Settings: voice.engine = \"none\", from the flag --voice.",
    );
    has(
        &text,
        "Settings: screen.reader = \"no\", from the environment variable HEARKEN_SCREEN_READER.",
    );
    assert!(!text.contains("screen.width"), "{text}");
    let (_, all) = doctor(server, &["doctor", "--all", "--voice", "none"]);
    has(&all, "Settings: screen.bell = true, by default.");
}

#[test]
fn what_prevents_work_has_a_remedy_and_the_exit_code() {
    let server = NOBODY;
    let (code, text) = doctor(
        server,
        &[
            "doctor",
            "--json",
            "--face",
            "full",
            "--voice",
            "speech-dispatcher",
            "--config",
            "/nonexistent/config.toml",
            "--record",
            "/nonexistent/never/run.jsonl",
            "http://127.0.0.1:1",
            "no-such-thing",
        ],
    );
    assert_eq!(code, 1);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let broken: Vec<&Value> = lines.iter().filter(|it| it["grade"] == "broken").collect();
    let parts: Vec<&str> = broken
        .iter()
        .map(|it| it["part"].as_str().unwrap())
        .collect();
    assert_eq!(
        parts,
        ["settings", "face", "settings", "voice", "source", "source"],
        "{text}"
    );
    assert!(
        broken
            .iter()
            .all(|it| !it["remedy"].as_str().unwrap().is_empty()),
        "{text}"
    );
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["well"], &last["broken"]),
        (&Value::from(false), &Value::from(6))
    );
}

/// Nothing in the report is left in English, except what it quotes by name.
#[test]
fn the_report_speaks_the_persons_language() {
    let server = NOBODY;
    let mut arguments = vec![
        "doctor",
        "--all",
        "--face",
        "full",
        "--voice",
        "speech-dispatcher",
        "--record",
        "/nonexistent/never/run.jsonl",
        "--screen-reader",
        "no",
        "--language",
    ];
    arguments.push("de");
    let rest = ["http://127.0.0.1:1", "no-such-thing", "-"];
    let (code, text) = doctor(server, &[&arguments[..], &rest].concat());
    assert_eq!(code, 1, "{text}");
    for line in [
        "Terminal: Weder Eingabe noch Ausgabe ist ein Terminal, darum werden Zeilen gelesen und geschrieben.",
        "Einstellungen: announce.languages = [\"de\"], durch die Option --language.",
        "Einstellungen: screen.bell = true, wie üblich.",
        "Bildschirmleser: Keiner ist am Werk, wie Sie sagen (durch die Option --screen-reader); nichts wurde angesehen.",
        "Quelle: Die Standardeingabe wird nicht versucht, weil fort wäre, was von ihr gelesen wird.",
    ] {
        has(&text, line);
    }
    assert!(
        text.contains("Abhilfe: Starten Sie den Agenten, oder prüfen Sie Rechner und Port."),
        "{text}"
    );
    assert!(
        text.lines()
            .last()
            .unwrap()
            .starts_with("Ergebnis: 5 Probleme hindern hearken"),
        "{text}"
    );
    arguments.pop();
    arguments.push("es");
    let (_, spanish) = doctor(server, &[&arguments[..], &rest].concat());
    for text in [text, spanish] {
        for line in text.lines().filter(|line| !line.contains(" = ")) {
            let english = [
                " the ", " is ", " are ", " and ", " not ", " it ", "Remedy", "Result:",
            ];
            let left = english.iter().find(|word| line.contains(**word));
            assert!(left.is_none(), "{left:?} in {line}");
        }
    }
}

#[cfg(unix)]
#[test]
fn no_sentence_is_said_where_that_was_asked_or_the_reader_speaks() {
    for arguments in [
        &["doctor", "--silent"][..],
        &["doctor", "--screen-reader", "yes"][..],
    ] {
        let server = FakeSsip::start();
        server.speech(WordsFate::Ends);
        let (code, text) = doctor(&address(&server), arguments);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("No test sentence was said"), "{text}");
        let said = server
            .transcript()
            .iter()
            .any(|line| line.contains("This is hearken"));
        assert!(!said, "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_terminal_is_described_as_it_is() {
    let server = NOBODY;
    let mut terminal = Terminal::start_with(
        97,
        45,
        &["doctor", "--voice", "none"],
        &[
            ("TERM", "xterm-256color"),
            ("SPEECHD_ADDRESS", server),
            ("PATH", "/nonexistent"),
        ],
    );
    assert_eq!(terminal.exit(), 0);
    for words in [
        "Input and output are a terminal.",
        "The size is 97 columns by 45 rows.",
        "TERM is xterm-256color",
        "The full face, because this is a terminal.",
    ] {
        let screen = terminal.screen();
        assert!(screen.contains(words), "{words}:\n{screen}");
    }
}

/// A reader that has gone reads no code and no words: neither Rust's, nor ours.
#[test]
fn a_closed_pipe_ends_it_in_silence() {
    let nothing = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(&["doctor", "--silent", "--voice", "none"])
        .env("SPEECHD_ADDRESS", NOBODY)
        .env("PATH", nothing.path())
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}
