//! Other protocols through the whole program.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{self, Message};

use super::script;
use crate::support::child::Hearken;
use crate::support::stand_in::StandIn;

/// Limits a wait that would never end.
fn soon(stream: &TcpStream) {
    let patience = Some(crate::support::PATIENCE);
    stream.set_read_timeout(patience).unwrap();
}

/// Accepts one request, answers that it was accepted, and returns its first line and its body.
fn taken(listener: &TcpListener) -> (String, Value) {
    let (mut stream, _) = listener.accept().unwrap();
    soon(&stream);
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        assert!(!line.to_lowercase().starts_with("authorization"), "{line}");
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    write!(stream, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").unwrap();
    (
        first.trim().to_owned(),
        serde_json::from_slice(&body).unwrap(),
    )
}

#[test]
fn a_session_over_a_websocket_of_its_own_is_heard_and_its_handler_told_the_decision() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let desk = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}/session", server.local_addr().unwrap());
    let mut settings = tempfile::NamedTempFile::new().unwrap();
    writeln!(
        settings,
        "[[source]]\nname = \"trade\"\nurl = \"{url}\"\ndialect = \"asp\"\nhandler = \"http://{}/desk\"",
        desk.local_addr().unwrap()
    )
    .unwrap();
    let speaking = std::thread::spawn(move || {
        let (stream, _) = server.accept().unwrap();
        soon(&stream);
        // The server chooses no subprotocol, and none was offered.
        let mut socket = tungstenite::accept(stream).unwrap();
        for (_, frame) in script().frames("", &Value::Null, jiff::Timestamp::now()) {
            socket.send(Message::text(frame)).unwrap();
        }
        // Until hearken leaves; it sends nothing of its own.
        loop {
            match socket.read() {
                Ok(Message::Text(text)) => panic!("{text}"),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    });
    let path = settings.path().to_str().unwrap();
    let mut child = Hearken::start(&[
        "watch", "trade", "--face", "json", "--voice", "none", "--config", path,
    ]);
    child.announced("clarification", "Choice 1: Resume");
    child.say("o 1 1");
    let (first, told) = taken(&desk);
    assert_eq!(first, "POST /desk HTTP/1.1");
    assert_eq!(
        told["content"]["body"],
        json!({"informType": "resolution", "resolution": "resume"})
    );
    assert_eq!(told["sender"], Value::Null);
    child.say("q");
    let (code, errors, _) = child.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
    speaking.join().unwrap();
}

#[test]
fn a_program_of_another_protocol_reads_nothing_and_one_that_waits_is_asked() {
    const STARTED: &str =
        r#"{"type":"system","message":"Sage Agent starting","timestamp":"2026-06-30T00:00:00Z"}"#;
    let programs = [StandIn::beginning(STARTED, "", 0), StandIn::new("", 0)];
    let started: Vec<Hearken> = programs
        .iter()
        .map(|program| {
            let call = program.call();
            let mut arguments = vec!["watch", "--face", "linear", "--voice", "none", "--"];
            arguments.extend(call.iter().map(String::as_str));
            Hearken::start(&arguments)
        })
        .collect();
    let [mut sage, mut waits] = programs.each_ref().map(StandIn::runs);
    // The first one is silent for longer than hearken waits for a peer to speak first, the other one until
    // it is spoken to.
    let asked = waits.hear().unwrap();
    let unasked = sage.hear_for(Duration::from_millis(800));
    sage.end();
    waits.end();
    for child in started {
        let (_, errors, _) = child.exit();
        assert_eq!(errors, "");
    }
    assert_eq!(unasked, None, "a run of Sage is not spoken to in AAEP");
    assert!(asked.contains("aaep.subscribe"), "{asked}");
}
