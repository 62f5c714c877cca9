//! The relay in front of listeners of all kinds, none of which may make it decide or wait.

use std::net::{Ipv4Addr, TcpListener};

use super::*;
use crate::hooks::hook_endpoint::HookEndpoint;

const ALLOW: &str = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#;
const ASK: &str = r#"{"hook_event_name":"PermissionRequest","session_id":"s"}"#;

const CLAUDE: HookSender<'_> = HookSender {
    agent: HookedAgent::Claude,
    event: None,
};
const WITH_TEXTS: HookTerms = HookTerms {
    transcript: true,
    hand_back: Duration::from_secs(300),
    gemini_waits: true,
};

/// Listens once, reads a whole request and answers with these bytes; returns the request.
fn listener(
    answer: impl AsRef<[u8]> + Send + 'static,
) -> (
    tempfile::TempDir,
    HookEndpoint,
    std::thread::JoinHandle<String>,
) {
    let folder = tempfile::tempdir().unwrap();
    let mut door = HookEndpoint::take(folder.path()).unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    door.open(listener.local_addr().unwrap().port(), "s3cret", WITH_TEXTS)
        .unwrap();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = Vec::new();
        let mut piece = [0; 4096];
        loop {
            let count = stream.read(&mut piece).unwrap();
            heard.extend_from_slice(&piece[..count]);
            let text = String::from_utf8_lossy(&heard).into_owned();
            let length = text
                .lines()
                .find_map(|line| line.strip_prefix("Content-Length: "));
            let body = text.split_once("\r\n\r\n").map(|(_, body)| body.len());
            if count == 0 || body.is_some() && body == length.and_then(|it| it.parse().ok()) {
                let _ = stream.write_all(answer.as_ref());
                return text;
            }
        }
    });
    (folder, door, heard)
}

/// Runs the relay; returns its output.
fn printed(folder: &Path, message: &str) -> String {
    let (mut read, mut output) = std::io::pipe().unwrap();
    relay(folder, CLAUDE, message.as_bytes(), &mut output);
    drop(output);
    let mut text = String::new();
    read.read_to_string(&mut text).unwrap();
    text
}

fn answer(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn a_decision_is_printed_and_the_message_goes_behind_the_secret() {
    let (folder, _door, heard) = listener(answer("200 OK", ALLOW));
    assert_eq!(printed(folder.path(), ASK), ALLOW);
    let heard = heard.join().unwrap();
    assert!(
        heard.starts_with("POST /s3cret/hook HTTP/1.1\r\nHost: 127.0.0.1:"),
        "{heard}"
    );
    assert!(heard.ends_with(ASK), "{heard}");
}

#[test]
fn the_answer_to_a_form_is_printed_without_anything_beside_it() {
    let asks = r#"{"hook_event_name":"Elicitation","session_id":"s"}"#;
    let said = |output: Value| json!({"hookSpecificOutput": output}).to_string();
    let accept = json!({"hookEventName": "Elicitation", "action": "accept", "content": {"a": 1}});
    let mut more = accept.clone();
    more["decision"] = json!({"behavior": "allow"});
    let decline = json!({"hookEventName": "Elicitation", "action": "decline"});
    for (output, printed_as) in [
        (accept.clone(), said(accept.clone())),
        (more, said(accept)),
        (decline.clone(), said(decline)),
        (
            json!({"hookEventName": "Elicitation", "action": "allow"}),
            String::new(),
        ),
        (
            json!({"hookEventName": "PermissionRequest", "action": "accept"}),
            String::new(),
        ),
        (json!({"hookEventName": "Elicitation"}), String::new()),
    ] {
        let (folder, _door, heard) = listener(answer("200 OK", &said(output)));
        assert_eq!(printed(folder.path(), asks), printed_as);
        heard.join().unwrap();
    }
    // A decision about a permission does not answer a form.
    let (folder, _door, heard) = listener(answer("200 OK", ALLOW));
    assert_eq!(printed(folder.path(), asks), "");
    heard.join().unwrap();
}

#[test]
fn whatever_is_no_decision_decides_nothing() {
    let deny = ALLOW.replace("\"allow\"", "\"ask\"");
    let other = ALLOW.replace("PermissionRequest", "PreToolUse");
    for (bytes, message) in [
        (answer("200 OK", "{}"), ASK),
        (answer("200 OK", "allow"), ASK),
        (answer("200 OK", &deny), ASK),
        (answer("200 OK", &other), ASK),
        (answer("500 No", ALLOW), ASK),
        (answer("404 Not Found", ALLOW), ASK),
        // An answer that broke off: hearken went away in the middle of it.
        (
            answer("200 OK", ALLOW).trim_end_matches('}').to_owned(),
            ASK,
        ),
        (String::new(), ASK),
        ("garbage".to_owned(), ASK),
        // Other events ask nothing, whatever the answer is.
        (
            answer("200 OK", ALLOW),
            r#"{"hook_event_name":"PreToolUse"}"#,
        ),
        (answer("200 OK", ALLOW), "no json"),
    ] {
        let (folder, _door, heard) = listener(bytes.clone());
        assert_eq!(printed(folder.path(), message), "", "{bytes}");
        heard.join().unwrap();
    }
}

#[test]
fn where_nobody_listens_it_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let began = Instant::now();
    assert_eq!(printed(folder.path(), ASK), "");
    // A port without a listener, although the file names it.
    let mut door = HookEndpoint::take(folder.path()).unwrap();
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    door.open(port, "s3cret", HookTerms::default()).unwrap();
    assert_eq!(printed(folder.path(), ASK), "");
    assert!(began.elapsed() < SHORT);
}

/// Only where the system shows whether there is a reader.
#[cfg(unix)]
#[test]
fn a_listener_that_hangs_holds_up_a_permission_only_while_somebody_reads() {
    let folder = tempfile::tempdir().unwrap();
    let mut door = HookEndpoint::take(folder.path()).unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    door.open(listener.local_addr().unwrap().port(), "s3cret", WITH_TEXTS)
        .unwrap();
    // The reader of the decision is gone.
    let (read, mut output) = std::io::pipe().unwrap();
    drop(read);
    let began = Instant::now();
    relay(folder.path(), CLAUDE, ASK.as_bytes(), &mut output);
    assert!(began.elapsed() < SHORT, "{:?}", began.elapsed());
}

#[test]
fn a_listener_that_hangs_holds_up_nothing_but_a_permission() {
    let folder = tempfile::tempdir().unwrap();
    let mut door = HookEndpoint::take(folder.path()).unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    door.open(listener.local_addr().unwrap().port(), "s3cret", WITH_TEXTS)
        .unwrap();
    let began = Instant::now();
    assert_eq!(printed(folder.path(), r#"{"hook_event_name":"Stop"}"#), "");
    assert!(began.elapsed() < SHORT * 2);
}

#[test]
fn what_is_too_large_is_only_told_of() {
    let (folder, _door, heard) = listener(answer("200 OK", "{}"));
    let large = "x".repeat(MOST_BYTES as usize + 1);
    assert_eq!(printed(folder.path(), &large), "");
    let heard = heard.join().unwrap();
    assert!(
        heard.starts_with("POST /s3cret/too-large "),
        "{}",
        &heard[..100]
    );
}

#[test]
fn what_the_agent_wrote_goes_along_where_it_is_wanted_and_changes_nothing_else() {
    let (folder, _door, heard) = listener(answer("200 OK", "{}"));
    let path = folder.path().join("t.jsonl");
    let said = r#"{"type":"assistant","uuid":"u","message":{"content":[{"type":"text","text":"I look."}]}}"#;
    std::fs::write(&path, said).unwrap();
    let message = format!(
        r#"{{"hook_event_name":"PreToolUse","n":1.00,"transcript_path":{}}}"#,
        json!(path)
    );
    assert_eq!(printed(folder.path(), &format!("{message}\n")), "");
    let heard = heard.join().unwrap();
    let wanted = r#","hearken_texts":[{"id":"u/0","text":"I look."}]}"#;
    let begun = message.strip_suffix('}').unwrap();
    assert!(heard.ends_with(&format!("{begun}{wanted}")), "{heard}");
    for whole in [&b""[..], b"[]", b"{"] {
        let mut message = whole.to_vec();
        put_texts(&mut message, &[json!({"id": "a", "text": "b"})]);
        assert_eq!(message, whole);
    }
}
