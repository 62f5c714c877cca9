//! Servers of another protocol that was not named: what they are asked, and that they are heard.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::Value;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocket};
use tokio_tungstenite::tungstenite::{Message, http::Method};

use super::script;
use crate::support::PATIENCE;
use crate::support::child::Hearken;

const NOT_FOUND: &[u8] =
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const STREAM: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// Returns the first frames of the negotiation.
fn frames() -> Vec<String> {
    let frames = script().frames("", &Value::Null, jiff::Timestamp::now());
    frames.into_iter().map(|(_, frame)| frame).collect()
}

/// Accepts one request: returns its first line, and its headers by lower-case name.
fn request(listener: &TcpListener) -> (TcpStream, String, Vec<(String, String)>) {
    let (stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let headers = lines
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_lowercase(), value.trim().to_owned()))
        });
    let headers = headers.collect();
    (stream, first, headers)
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

fn watch(url: &str, settings: &tempfile::NamedTempFile) -> Hearken {
    let settings = settings.path().to_str().unwrap();
    Hearken::watch(url, "json", &["--config", settings])
}

fn quick() -> tempfile::NamedTempFile {
    let mut settings = tempfile::NamedTempFile::new().unwrap();
    let links = "[links]\nbackoff_first_ms = 50\nbackoff_cap_ms = 100\n";
    settings.write_all(links.as_bytes()).unwrap();
    settings
}

#[test]
fn a_websocket_that_does_not_speak_aaep_is_recognised_at_the_address_itself() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}/session", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let mut asked = Vec::new();
        loop {
            let (mut stream, first, headers) = request(&listener);
            let offered = header(&headers, "sec-websocket-protocol").map(str::to_owned);
            asked.push((first.clone(), offered.clone()));
            let Some(key) = header(&headers, "sec-websocket-key") else {
                stream.write_all(NOT_FOUND).unwrap();
                continue;
            };
            // A server that knows no subprotocol accepts the connection and chooses none.
            write!(
                stream,
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                 Sec-WebSocket-Accept: {}\r\n\r\n",
                derive_accept_key(key.as_bytes())
            )
            .unwrap();
            if offered.is_some() {
                continue;
            }
            let mut socket = WebSocket::from_raw_socket(stream, Role::Server, None);
            for frame in frames() {
                socket.send(Message::text(frame)).unwrap();
            }
            loop {
                match socket.read() {
                    Ok(Message::Text(text)) => panic!("nobody asked for {text}"),
                    Ok(_) => {}
                    Err(_) => return asked,
                }
            }
        }
    });
    let settings = quick();
    let mut child = watch(&url, &settings);
    child.announced("connection", "Listening for another protocol");
    child.announced("clarification", "Choice 1: Resume");
    child.say("q");
    child.say("q");
    let (code, errors, _) = child.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
    let aaep = Some("aaep.v1".to_owned());
    assert_eq!(
        serving.join().unwrap(),
        [
            ("GET /session HTTP/1.1".to_owned(), aaep),
            (
                "GET /.well-known/aaep-manifest.json HTTP/1.1".to_owned(),
                None
            ),
            ("GET /session HTTP/1.1".to_owned(), None),
        ]
    );
}

/// The stream of a bare address is at `/events`, that of any other at the exact address: there it is followed again.
#[test]
fn a_stream_of_another_protocol_is_followed_again_where_it_was_recognised() {
    for (given, at) in [("", "/events"), ("/live", "/live")] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}{given}", listener.local_addr().unwrap());
        let serving = std::thread::spawn(move || {
            let wanted = format!("{} {at} HTTP/1.1", Method::GET);
            let mut frames = frames().into_iter();
            let mut rest = Vec::new();
            for frame in [frames.next(), frames.next()].into_iter().flatten() {
                rest = frames.clone().collect();
                loop {
                    let (mut stream, first, _) = request(&listener);
                    if first != wanted {
                        stream.write_all(NOT_FOUND).unwrap();
                        continue;
                    }
                    stream.write_all(STREAM).unwrap();
                    write!(stream, "data: {frame}\n\n").unwrap();
                    break;
                }
            }
            let (mut stream, first, _) = request(&listener);
            assert_eq!(first, wanted, "nothing else is asked for any more");
            stream.write_all(STREAM).unwrap();
            for frame in rest {
                write!(stream, "data: {frame}\n\n").unwrap();
            }
            let _ = std::io::Read::read(&mut stream, &mut [0]);
        });
        let settings = quick();
        let mut child = watch(&url, &settings);
        child.announced("clarification", "Choice 1: Resume");
        child.say("q");
        child.say("q");
        let (code, errors, lines) = child.exit();
        assert_eq!((code, errors.as_str()), (0, ""), "{lines:?}");
        serving.join().unwrap();
    }
}
