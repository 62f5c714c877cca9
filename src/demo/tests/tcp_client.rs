//! A small client on a bare TCP stream, so that the server is not checked with its own library.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::demo::{DemoSettings, ServedDemo, serve};

/// Waits for something that must happen, with a time limit.
pub(super) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("it happens in time")
}

/// Serves on a free port of this machine.
pub(super) async fn server(settings: DemoSettings) -> ServedDemo {
    serve("127.0.0.1:0", settings).await.unwrap()
}

/// One server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SseEvent {
    pub(super) event: Option<String>,
    pub(super) id: Option<String>,
    pub(super) data: String,
}

impl SseEvent {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

/// A reader of an event stream. HTTP/1.0 has no chunks: the body is everything up to the end.
pub(super) struct EventStreamReader {
    reader: BufReader<TcpStream>,
    pub(super) status: u16,
    pub(super) head: String,
}

impl EventStreamReader {
    pub(super) async fn open(addr: SocketAddr, last: Option<&str>) -> Self {
        Self::open_at(addr, "/events", last).await
    }

    async fn open_at(addr: SocketAddr, path: &str, last: Option<&str>) -> Self {
        let last = last.map_or(String::new(), |id| format!("Last-Event-ID: {id}\r\n"));
        let mut tcp = TcpStream::connect(addr).await.unwrap();
        let request = format!("GET {path} HTTP/1.0\r\nAccept: text/event-stream\r\n{last}\r\n");
        tcp.write_all(request.as_bytes()).await.unwrap();
        let mut reader = BufReader::new(tcp);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(within(reader.read_line(&mut head)).await.unwrap(), 0);
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self {
            reader,
            status,
            head: head.to_lowercase(),
        }
    }

    /// Opens a stream at another path and reads its greeting.
    pub(super) async fn greeted_at(addr: SocketAddr, path: &str) -> Self {
        Self::open_at(addr, path, None).await.greet().await
    }

    /// Returns to a stream at another path after an event, and reads its greeting.
    pub(super) async fn resumed_at(addr: SocketAddr, path: &str, last: &str) -> Self {
        Self::open_at(addr, path, Some(last)).await.greet().await
    }

    /// Opens a stream and reads its greeting.
    pub(super) async fn greeted(addr: SocketAddr, last: Option<&str>) -> Self {
        Self::open(addr, last).await.greet().await
    }

    async fn greet(self) -> Self {
        let mut stream = self;
        assert_eq!(stream.status, 200);
        assert_eq!(stream.block().await.unwrap(), [": connected"]);
        stream
    }

    /// Reads the lines up to an empty one; `None` at the end of the stream.
    async fn block(&mut self) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            // A broken connection ends like a closed one.
            let read = within(self.reader.read_line(&mut line)).await.unwrap_or(0);
            if read == 0 {
                return None;
            }
            match line.trim_end_matches('\n') {
                "" => return Some(lines),
                line => lines.push(line.to_owned()),
            }
        }
    }

    /// Reads the next event; `None` at the end of the stream.
    pub(super) async fn next(&mut self) -> Option<SseEvent> {
        loop {
            let block = self.block().await?;
            let field = |name: &str| {
                let mut values = block
                    .iter()
                    .filter_map(|line| line.strip_prefix(&format!("{name}: ")))
                    .peekable();
                values.peek()?;
                Some(values.collect::<Vec<_>>().join("\n"))
            };
            if let Some(data) = field("data") {
                return Some(SseEvent {
                    event: field("event"),
                    id: field("id"),
                    data,
                });
            }
        }
    }

    /// Reads the next event's payload.
    pub(super) async fn event(&mut self) -> Value {
        self.next().await.expect("the stream goes on").json()
    }

    /// Reads up to an event of a type, and returns all of them.
    pub(super) async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let event = self.event().await;
            let found = event["type"] == format!("aaep:agent.{kind}");
            events.push(event);
            if found {
                return events;
            }
        }
    }

    /// Reads the rest.
    pub(super) async fn rest(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(sent) = self.next().await {
            events.push(sent.json());
        }
        events
    }
}

/// Sends one request and reads the answer: status, lower-cased head, body.
pub(super) async fn request(
    addr: SocketAddr,
    method: &str,
    path: &str,
    body: &str,
) -> (u16, String, String) {
    let mut tcp = TcpStream::connect(addr).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: demo\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    // The server may answer and close before it has read a body that is too large.
    let _ = tcp.write_all(request.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = within(tcp.read_to_end(&mut answer)).await;
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_lowercase(), body.to_owned())
}

/// Posts JSON and reads JSON.
pub(super) async fn post(addr: SocketAddr, path: &str, body: &Value) -> (u16, Value) {
    let (status, _, body) = request(addr, "POST", path, &body.to_string()).await;
    (status, serde_json::from_str(&body).unwrap())
}

/// Builds a reply to a question; its decision was made at the time of the question.
pub(super) fn decision(question: &Value, decision: &str) -> Value {
    json!({"type": "confirmation.reply", "reply_token": question["reply_token"], "decision": decision,
           "subscription_id": "sub_test", "timestamp": question["timestamp"], "decided_by": "user:test"})
}

/// Builds an answer to a clarification.
pub(super) fn response(question: &Value, response: Value) -> Value {
    json!({"type": "clarification.reply", "reply_token": question["reply_token"], "response": response,
           "subscription_id": "sub_test", "timestamp": question["timestamp"], "decided_by": "user:test"})
}
