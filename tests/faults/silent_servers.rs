//! Servers that fall silent: one that is there is left alone, one that may not be there is left alone too, and only
//! one whose port no longer listens is considered lost. Time alone never ends a connection.

use std::net::{TcpListener, TcpStream};

use hearken_wording::phrase;

use super::fault_server::{
    BEFORE_ANSWER, FaultServer, LineStyle, ReplayedPast, STREAM, StreamScript, request,
};
use super::{heard, once, watch_with};
use std::io::Write;

/// Probes alongside the stream after a second of silence.
const SETTINGS: &str = "[links]\nbackoff_first_ms = 50\nbackoff_cap_ms = 100\n\
    reply_timeout_ms = 1000\nsilent_after_seconds = 1\n";

fn parsed(lines: &[String]) -> Vec<serde_json::Value> {
    lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_silent_server_that_answers_beside_its_stream_is_left_alone() {
    let turns: [StreamScript; 1] = [|at| {
        at.open(2).gate();
        let rest = at.log.range(2, BEFORE_ANSWER + 1);
        at.text(&rest).finish();
    }];
    let server = FaultServer::start(&turns, ReplayedPast::Resumed, LineStyle::Lf);
    let folder = tempfile::tempdir().unwrap();
    let mut child = watch_with(&server, &folder, SETTINGS, &[]);
    child.announced("session_started", "Planner is here.");
    // It was silent for more than two seconds, and each time it answered a probe alongside the stream.
    server.until(|seen| seen.others.len() >= 2);
    server.open_gate();
    child.announced("confirmation", "Send the letter");
    child.say("n 1");
    child.announced("session_completed", "Planner is done.");
    child.say("q");
    let (code, _, lines) = child.exit();
    assert_eq!(code, 0);
    let told = parsed(&lines);
    let connected = "Connected to S, without a handshake.";
    assert_eq!(heard(&told, &server), [connected]);
    once(&told, &lines.join("\n"));
    server.seen(|seen| {
        assert_eq!(seen.streams.len(), 1);
        for head in &seen.others {
            assert!(
                head.starts_with("GET /.well-known/aaep-manifest.json "),
                "{head}"
            );
        }
    });
}

/// Accepts the stream's connection and sends the first event, for a server that then plays dead.
fn open(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().unwrap();
    let (head, _) = request(&mut stream).unwrap();
    assert!(head.starts_with("GET /events "), "{head}");
    let event = super::fault_server::EventLog::new().sse(1);
    stream.write_all(STREAM.as_bytes()).unwrap();
    stream.write_all(event.as_bytes()).unwrap();
    stream
}

#[test]
fn a_half_open_connection_is_found_out_when_nobody_listens_any_more() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut child = super::watch_at(&address.to_string(), &folder, SETTINGS, &[]);
    // The stream stays open, silent and without an end; the server behind it is gone.
    let half_open = open(&listener);
    drop(listener);
    child.announced(
        "connection",
        phrase!("link.lost", reason = "nobody answers at that address"),
    );
    let server = FaultServer::on(
        TcpListener::bind(address).unwrap(),
        &[],
        ReplayedPast::Replayed,
        LineStyle::Lf,
    );
    child.announced("connection", phrase!("link.back"));
    child.announced("confirmation", "Send the letter");
    child.say("n 1");
    child.announced("session_completed", "Planner is done.");
    child.say("q");
    let (code, _, lines) = child.exit();
    assert_eq!(code, 0);
    once(&parsed(&lines), &lines.join("\n"));
    assert_eq!(server.seen(|seen| seen.replies.len()), 1);
    drop(half_open);
}

/// Waits for the announcement of an unexplained silence, and returns its length in seconds.
fn silence(child: &mut super::Hearken, address: &str) -> u64 {
    let told = child.announced("connection", phrase!("link.silent"));
    let told = told["text"].as_str().unwrap();
    let start = format!("Nothing has come from http://{address}/events for ");
    let end = " seconds; it may be gone.";
    let length = told.strip_prefix(&start).unwrap().strip_suffix(end);
    length.unwrap().parse().unwrap()
}

#[test]
fn a_server_that_may_or_may_not_be_there_is_never_cut_off() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let mut child = super::watch_at(&address, &folder, SETTINGS, &[]);
    let mut stream = open(&listener);
    // Connections are accepted and never answered, as by a machine that hangs.
    let (_unanswered, _) = listener.accept().unwrap();
    let first = silence(&mut child, &address);
    let (_again, _) = listener.accept().unwrap();
    let second = silence(&mut child, &address);
    assert!(first >= 2 && second >= 2 * first, "{first} s, {second} s");
    // It was only slow, and its events on the same connection are heard.
    let event = super::fault_server::EventLog::new().sse(2);
    stream.write_all(event.as_bytes()).unwrap();
    child.announced("state", "Grüße aus 漢字.");
    child.say("q");
    let (_, _, lines) = child.exit();
    assert!(
        !lines.iter().any(|line| line.contains("is lost")),
        "{lines:?}"
    );
}
