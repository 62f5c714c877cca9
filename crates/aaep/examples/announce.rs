//! Prints what an agent does, one line per event.
//!
//! ```text
//! pip install aaep-minimal-producer && aaep-minimal-producer --port 18080 &
//! cargo run -p aaep --example announce -- 127.0.0.1:18080 &
//! curl -H 'content-type: application/json' -d '{"user_message":"Send an email to bob"}' http://127.0.0.1:18080/sessions
//! ```
#![allow(clippy::print_stdout, reason = "an example that prints")]

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use aaep::{Event, RecentValues, SummaryLevel};

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("which HOST:PORT?")?;
    let mut server = TcpStream::connect(&address)?;
    write!(server, "GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    let mut stream = RecentValues::default();
    for line in BufReader::new(server).lines() {
        let line = line?;
        if line.starts_with("HTTP/1.1 200") {
            println!("Following {address}.");
        }
        // Of an event stream, these producers use only the data lines.
        let Some(data) = line.strip_prefix("data: ") else {
            continue;
        };
        match stream.decode(data) {
            Ok(decoded) => {
                let agent = decoded.envelope.producer.label();
                println!("{agent}: {}", words(&decoded.event));
                for finding in &decoded.findings {
                    println!("  {finding}");
                }
            }
            Err(error) => println!("not an event: {}", error.name()),
        }
    }
    Ok(())
}

/// Returns what to say about an event: the agent's own words, or the type's name.
fn words(event: &Event) -> String {
    let name = event.type_name().unwrap_or("something new");
    match event {
        Event::OutputStreaming(output) => output.chunk.clone(),
        Event::AwaitingConfirmation(asked) => format!("May I? {}", asked.action),
        Event::AwaitingClarification(asked) => asked.question.clone(),
        other => {
            let said = other
                .summary()
                .and_then(|words| words.pick(SummaryLevel::Normal));
            said.unwrap_or(name).to_owned()
        }
    }
}
