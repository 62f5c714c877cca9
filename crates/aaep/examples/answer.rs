//! Waits for an agent's first question, and sends the answer that is typed: `accept` or `reject`.
//!
//! ```text
//! aaep-minimal-producer --port 18080 &
//! cargo run -p aaep --example answer -- 127.0.0.1:18080
//! ```
#![allow(clippy::print_stdout, reason = "an example that prints")]

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use aaep::{Answer, AwaitingConfirmation, Decision, Event, Reply, decode};

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("which HOST:PORT?")?;
    let asked = question(&address)?;
    let consequence = asked.consequence.as_deref().unwrap_or_default();
    println!("{} {consequence} (accept or reject)", asked.action);
    let mut typed = String::new();
    std::io::stdin().read_line(&mut typed)?;
    let reply = Reply {
        token: asked.reply_token.ok_or("it can't be answered")?,
        answer: Answer::Decision {
            decision: Decision::parse(typed.trim()),
            rationale: None,
        },
        timestamp: jiff::Timestamp::now(),
        decided_by: "user:example".to_owned(),
    };
    // These producers open no subscriptions, so any id will do.
    let message = reply.to_json("sub_example");
    let mut server = TcpStream::connect(&address)?;
    let length = format!("Content-Length: {}", message.len());
    let kind = "Content-Type: application/json\r\nConnection: close";
    let head = format!("POST /messages HTTP/1.1\r\nHost: {address}\r\n{kind}\r\n{length}");
    write!(server, "{head}\r\n\r\n{message}")?;
    println!(
        "{}",
        BufReader::new(server).lines().next().ok_or("no answer")??
    );
    Ok(())
}

/// Follows the agent until it asks for consent.
fn question(address: &str) -> Result<Box<AwaitingConfirmation>, Box<dyn Error>> {
    let mut server = TcpStream::connect(address)?;
    write!(server, "GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    for line in BufReader::new(server).lines() {
        let line = line?;
        if line.starts_with("HTTP/1.1 200") {
            println!("Following {address}.");
        }
        let decoded = line.strip_prefix("data: ").and_then(|it| decode(it).ok());
        if let Some(Event::AwaitingConfirmation(asked)) = decoded.map(|it| it.event) {
            return Ok(asked);
        }
    }
    Err("the agent ended without a question".into())
}
