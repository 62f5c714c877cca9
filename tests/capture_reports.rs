//! `check` and `trace` as scripts see them: exit codes, formats, and nothing hostile in the output.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Output, Stdio};

use hearken_wording::phrase;
use serde_json::Value;

use crate::support::child::{Hearken, command};
use crate::support::{with_demo, within};

const TOUR: &str = "tests/fixtures/tour.jsonl";

fn run(arguments: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that reads no input may exit before it is written.
    let _ = child.stdin.take().unwrap().write_all(input);
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// Returns the tour with an unknown field, and with an error.
fn spoilt() -> (String, String) {
    let tour = fs::read_to_string(TOUR).unwrap();
    let warned = tour.replacen("\"urgency\"", "\"mood\":1,\"urgency\"", 1);
    let wrong = tour.replacen("\"urgency\":\"normal\"", "\"urgency\":\"loud\"", 1);
    (warned, wrong)
}

#[test]
fn the_exit_code_says_what_was_found() {
    let (warned, wrong) = spoilt();
    for (arguments, input, wanted) in [
        (vec!["check", TOUR], "", 0),
        (vec!["check", "--strict", TOUR], "", 0),
        (vec!["check", "-"], warned.as_str(), 0),
        (vec!["check", "--strict", "-"], warned.as_str(), 1),
        (vec!["check", "-"], wrong.as_str(), 1),
        (vec!["check", "--json", "-"], wrong.as_str(), 1),
        (vec!["check", "-"], "", 2),
        (vec!["check", "-"], "hello\n", 2),
        (vec!["check", "/nonexistent.jsonl"], "", 2),
        (vec!["check", "/"], "", 2),
        (vec!["check"], "", 2),
        (vec!["trace", TOUR], "", 0),
        (vec!["trace", "-"], "hello\n", 2),
        (vec!["trace", "/nonexistent.jsonl"], "", 2),
        (vec!["trace", "--format", "picture", TOUR], "", 2),
    ] {
        let (code, out, errors) = run(&arguments, input.as_bytes());
        assert_eq!(code, wanted, "{arguments:?} {out} {errors}");
        assert_eq!(errors.is_empty(), wanted < 2, "{arguments:?} {errors}");
    }
    let (_, _, errors) = run(&["check", "/nonexistent.jsonl"], b"");
    assert!(
        errors.starts_with("hearken: /nonexistent.jsonl can't be read: "),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1);
}

#[test]
fn what_an_agent_keeps_of_its_conversations_is_named_and_not_called_a_broken_recording() {
    let rollout = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}"#;
    let stream = r#"{"type":"system","subtype":"init","session_id":"s"}"#;
    for (text, what, way) in [
        (rollout, "a rollout of Codex", "hearken run codex"),
        (
            stream,
            "the stream-json output of Claude Code",
            "hearken hooks install claude",
        ),
        (
            "{\n  \"info\": {\n    \"id\": \"ses_1\"\n  },\n  \"messages\": []\n}",
            "an export of opencode",
            "hearken run opencode",
        ),
        (
            r#"{"sessionId":"s","projectHash":"h","messages":[]}"#,
            "a chat of Gemini CLI",
            "hearken run gemini",
        ),
        (
            r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","parts":[]}}"#,
            "a chat of Qwen Code",
            "hearken run qwen",
        ),
        (
            r#"{"type":"user.message","data":{},"id":"i","timestamp":"t","parentId":null}"#,
            "a session of Copilot",
            "hearken run copilot",
        ),
        (
            r#"{"working_dir":"/x","description":"d","message_count":2}"#,
            "a session of goose",
            "hearken run goose",
        ),
        (
            "# aider chat started at 2026-01-02 10:00:00",
            "the chats of aider",
            "hearken knows no way to hear aider",
        ),
    ] {
        for command in ["check", "trace"] {
            let (code, _, errors) = run(&[command, "-"], format!("{text}\n").as_bytes());
            assert_eq!(code, 2);
            let begins =
                format!("hearken: standard input holds {what}, which hearken can't read; ");
            assert!(
                errors.starts_with(&begins) && errors.contains(way),
                "{errors}"
            );
        }
    }
}

#[test]
fn json_is_one_object_a_line() {
    let (_, wrong) = spoilt();
    let (_, out, _) = run(&["check", "--json", "-"], wrong.as_bytes());
    let lines: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["finding", "session", "total"]);
    assert_eq!(
        (&lines[0]["line"], &lines[0]["rule"], &lines[0]["section"]),
        (&1.into(), &"undefined_value".into(), &"3.3.2".into())
    );
    assert_eq!(lines[2]["result"], "errors");
    let (_, out, _) = run(&["trace", "--format", "json", TOUR], b"");
    assert!(
        out.lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok())
    );
}

#[test]
fn nothing_hostile_reaches_the_terminal() {
    let hostile = "{\"type\":\"aaep:agent.tool.invoked\",\"session_id\":\"\\u001b[2J\\nLine 1: fake\",\"producer\":\
                   {\"agent_id\":\"\\u202e\\u0007\"},\"tool\":\"\\u009b31m\",\"\\u001b]0;x\\u0007\":1}\n\u{1b}[2J not json \u{202e}\n";
    for arguments in [
        vec!["check", "-"],
        vec!["check", "--json", "-"],
        vec!["trace", "-"],
        vec!["trace", "--format", "mermaid", "-"],
        vec!["trace", "--format", "json", "-"],
    ] {
        let (_, out, errors) = run(&arguments, hostile.as_bytes());
        assert!(!out.is_empty(), "{arguments:?}");
        for c in out.chars().chain(errors.chars()) {
            assert!(
                c == '\n' || !c.is_control() && c != '\u{202e}',
                "{arguments:?}: {c:?}"
            );
        }
    }
}

/// The input may be a pipe that never ends, whatever its name.
#[test]
fn a_finding_is_told_as_it_comes() {
    let tour = fs::read_to_string(TOUR).unwrap();
    // It waits for nothing before it, and does not say which state is entered.
    let third = tour.split_inclusive('\n').nth(2).unwrap();
    let third = third.replace("\"to_state\"", "\"to_stat\"");
    let mut calls = vec![vec!["check", "-"], vec!["check", "--json", "-"]];
    if cfg!(unix) {
        calls.push(vec!["check", "--json", "/dev/stdin"]);
    }
    for call in calls {
        let mut child = command(&call)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(third.as_bytes()).unwrap();
        let (told, news) = std::sync::mpsc::channel();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || told.send(output.next()));
        let line = news.recv_timeout(std::time::Duration::from_secs(20));
        assert!(
            line.unwrap().unwrap().unwrap().contains("4.2.1"),
            "{call:?}"
        );
        drop(input);
        child.wait().unwrap();
    }
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let mut child = command(&["trace", TOUR])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}

#[test]
fn the_tour_is_checked_and_traced() {
    let (warned, _) = spoilt();
    // Three lines fewer: a tool is still open, an end is missing.
    let cut: Vec<&str> = warned.lines().take(15).collect();
    insta::assert_snapshot!("check_tour", run(&["check", TOUR], b"").1);
    insta::assert_snapshot!(
        "check_tour_cut",
        run(&["check", "-"], cut.join("\n").as_bytes()).1
    );
    insta::assert_snapshot!("trace_tour", run(&["trace", TOUR], b"").1);
    insta::assert_snapshot!(
        "trace_tour_mermaid",
        run(&["trace", "--format", "mermaid", TOUR], b"").1
    );
}

/// Next to one of our recordings is a file with the answers sent: they are part of what happened.
#[test]
fn a_recordings_answers_are_in_its_trace_and_its_check() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let name = path.to_str().unwrap();
    let tour = fs::read_to_string(TOUR).unwrap();
    fs::write(&path, &tour).unwrap();
    let beside = |decision: &str| {
        let reply = serde_json::json!({
            "at": "2026-11-21T02:51:39.000Z", "link": 0, "kind": "reply", "request": 1, "asked": 13,
            "body": {"type": "confirmation.reply", "decision": decision},
        });
        fs::write(format!("{name}.meta.jsonl"), format!("{reply}\n")).unwrap();
    };
    assert!(
        run(&["trace", name], b"")
            .1
            .contains("question 1: unanswered to withdrawn")
    );
    beside("accept");
    let (_, trace, _) = run(&["trace", name], b"");
    for step in [
        "unanswered to sending",
        "sending to sent",
        "sent to resolved",
    ] {
        assert!(
            trace.contains(&format!("question 1: {step}")),
            "{step}: {trace}"
        );
    }
    assert_eq!(run(&["check", name], b"").0, 0);
    // The same events after a rejection are the sequence of A.8.5.
    beside("reject");
    let (code, check, _) = run(&["check", name], b"");
    assert_eq!(code, 1, "{check}");
    assert!(check.contains("A.8.5"), "{check}");
    assert!(check.contains("1 danger"), "{check}");
}

/// Answers every connection with the same bytes, and closes it.
fn server(kind: &str, body: &str) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = BufReader::new(stream.try_clone().unwrap()).lines();
            while request
                .next()
                .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
            {}
            let _ = stream.write_all(answer.as_bytes());
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    address
}

#[test]
fn a_live_stream_is_checked_until_its_sessions_have_ended() {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let hearken = Hearken::start(&["check", &running.url(), "--until", "ended"]);
        within("subscriber", producer.until_subscribed(1)).await;
        agents.start("tool").unwrap();
        let (code, errors, lines) = hearken.exit();
        assert_eq!(code, 0, "{lines:?} {errors}");
        assert!(errors.starts_with("hearken: Connected to "), "{errors}");
        let total = lines.iter().find(|line| line.starts_with("Total: "));
        assert!(
            total.is_some_and(|line| phrase!("check.total", sessions = 1).is_in(line)
                && line.contains("0 errors")),
            "{lines:?}"
        );
    });
}

#[test]
fn a_live_stream_has_the_findings_and_the_exit_code_of_its_capture() {
    let (_, wrong) = spoilt();
    let stream: String = wrong
        .lines()
        .map(|line| format!("data: {line}\n\n"))
        .collect();
    let url = server("text/event-stream", &format!("{stream}data: hello\n\n"));
    let (code, out, errors) = run(&["check", &url], b"");
    assert_eq!(code, 1, "{out} {errors}");
    let (_, of_capture, _) = run(&["check", "-"], format!("{wrong}hello\n").as_bytes());
    let found = |out: &str| -> Vec<String> {
        let rules = out.lines().filter(|line| line.starts_with("Rule: "));
        rules.map(str::to_owned).collect()
    };
    assert_eq!(found(&out), found(&of_capture), "{out}");
    assert!(!found(&out).is_empty(), "{out}");
}

#[test]
fn what_is_no_stream_of_events_is_told_with_what_helps() {
    let page = server("text/html", "<html></html>");
    let other = server("application/json", "{\"hello\":\"world\"}");
    for (arguments, words) in [
        (vec!["check", &page], "text/html"),
        (vec!["check", &other], "application/json"),
    ] {
        let (code, _, errors) = run(&arguments, b"");
        assert_eq!(code, 2, "{errors}");
        assert!(
            errors.contains(&format!("the server answered with {words}, not with an event stream. Check host, port and path.")),
            "{errors}"
        );
        assert!(
            phrase!("call.no_event", name = "http://").is_in(&errors),
            "{errors}"
        );
    }
    for (arguments, words) in [
        (
            vec!["check", "localhost:80"],
            "an address begins with its kind: http://localhost:80",
        ),
        (
            vec!["trace", "http://localhost:80"],
            "trace reads a FILE; record the stream first with: hearken watch http://localhost:80 --record FILE",
        ),
        (vec!["check", "src"], "src can't be read: it is a folder"),
        (
            vec!["trace", "/nonexistent.jsonl"],
            "/nonexistent.jsonl can't be read: there is no such file",
        ),
        (
            vec!["watch", "src", "--config", "src"],
            "src can't be read: it is a folder",
        ),
        (
            vec![
                "watch",
                "src",
                "--config",
                "assets/config.toml",
                "--token-file",
                "src",
            ],
            "src can't be read: it is a folder",
        ),
        (
            vec!["watch", "src", "--ca", "src"],
            "src can't be read: it is a folder",
        ),
        (
            vec!["demo", "--scenario", "emal"],
            "there is no scenario \"emal\"; did you mean email?",
        ),
        (
            vec!["watch", "127.0.0.1:80"],
            "an address begins with its kind: http://127.0.0.1:80",
        ),
        (
            vec!["replay", "ws://localhost:80"],
            "replay reads a FILE; record the stream first",
        ),
    ] {
        let (code, _, errors) = run(&arguments, b"");
        assert_eq!(code, 2, "{arguments:?} {errors}");
        assert!(errors.contains(words), "{arguments:?} {errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(!errors.contains("os error"), "{errors}");
    }
}
