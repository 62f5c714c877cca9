//! One hook's way: its message to the hearken that listens, and the decision back.
//!
//! Responsibilities: reading the message, carrying it over, waiting only where something is asked, printing only what is a
//! decision. Not here: what a message means (`dialect`).
//!
//! Mental model: it decides nothing by itself. Whatever goes wrong (nobody listens, a port that hangs, an answer that is
//! none, a hearken that goes away) it prints nothing, and the agent asks in its own terminal as ever. It never waits but
//! for a permission, and for that no longer than somebody reads what it prints.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::door;
use super::transcript::last_texts;
use crate::platform::terminal::{Printed, wait_to_read};

/// The only message whose answer is waited for.
const ASKS: &str = "PermissionRequest";
/// How large a message may be, in bytes: more than any tool is called with. A larger one is only told of.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// How large an answer may be, in bytes.
const MOST_ANSWER: usize = 1024 * 1024;
/// How long everything may take that no person is waited for. A hearken that hangs costs the agent no more than this.
const SHORT: Duration = Duration::from_millis(200);
/// How long a person is waited for; the settings that are written let it wait as long.
const LONG: Duration = Duration::from_secs(60 * 60);
/// How often it is looked whether somebody still waits for what is decided.
const LOOK: Duration = Duration::from_millis(500);
/// Where messages go, behind the secret.
const HOOK: &str = "hook";
/// Where it is told that one is too large to go.
const TOO_LARGE: &str = "too-large";
/// Where in a message stands what the agent wrote last.
const TEXTS: &str = "hearken_texts";
/// The status for what is too large to be taken in.
const REFUSED_LARGE: u16 = 413;

/// Carries one message from `input` to the hearken that a folder names, and its decision to `output`.
///
/// Nothing is printed but a whole decision, and no error is one that anybody is told of.
pub fn relay(folder: &Path, input: impl Read, output: &mut (impl Write + Printed)) {
    let mut message = Vec::new();
    let read = input.take(MOST_BYTES + 1).read_to_end(&mut message);
    let Some(knock) = door::find(folder).filter(|_| read.is_ok()) else {
        return;
    };
    if message.len() as u64 > MOST_BYTES {
        return tell_too_large(&knock);
    }
    let parsed: Option<Value> = serde_json::from_slice(&message).ok();
    let name = parsed.as_ref().and_then(|it| it.get("hook_event_name"));
    let asks = name.and_then(Value::as_str) == Some(ASKS);
    let file = parsed.as_ref().and_then(|it| it.get("transcript_path"));
    let file = file.and_then(Value::as_str).filter(|_| knock.transcript);
    if let Some(file) = file {
        put_texts(&mut message, &last_texts(Path::new(file)));
    }
    drop(parsed);
    let until = Instant::now() + if asks { LONG } else { SHORT };
    let Some(answer) = post(&knock, HOOK, &message, until, output) else {
        return;
    };
    if answer.status == REFUSED_LARGE {
        return tell_too_large(&knock);
    }
    if let Some(decision) = answer.decision().filter(|_| asks) {
        // Who does not read it any more has decided otherwise.
        let _ = output.write_all(decision.as_bytes());
        let _ = output.flush();
    }
}

/// Puts what the agent wrote last into a message, of which nothing else is changed; not where that makes it too large.
fn put_texts(message: &mut Vec<u8>, texts: &[Value]) {
    let added = format!(",\"{TEXTS}\":{}}}", Value::from(texts.to_vec()));
    let whole = message.trim_ascii_end().len();
    if texts.is_empty()
        || (whole + added.len()) as u64 > MOST_BYTES
        || !message.get(..whole).is_some_and(|it| it.ends_with(b"}"))
    {
        return;
    }
    message.truncate(whole - 1);
    message.extend_from_slice(added.as_bytes());
}

fn tell_too_large(knock: &door::Knock) {
    let until = Instant::now() + SHORT;
    // Nobody reads what it would print, and nobody has to.
    let nobody = std::io::stderr();
    let _ = post(knock, TOO_LARGE, b"{}", until, &nobody);
}

/// What came back.
struct Answer {
    status: u16,
    body: Vec<u8>,
}

impl Answer {
    /// Reads an answer that is there to its end.
    fn read(bytes: &[u8]) -> Option<Self> {
        let at = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = std::str::from_utf8(bytes.get(..at)?).ok()?;
        let body = bytes.get(at + 4..)?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse().ok())?
        });
        let length: usize = length?;
        // One that was broken off is none.
        (body.len() == length).then(|| Self {
            status,
            body: body.to_vec(),
        })
    }

    /// Returns the decision, if it is one.
    fn decision(&self) -> Option<String> {
        let said: Value = serde_json::from_slice(&self.body)
            .ok()
            .filter(|_| self.status == 200)?;
        let own = said.get("hookSpecificOutput")?;
        let of = own.get("hookEventName").and_then(Value::as_str);
        let decision = own.get("decision")?;
        let behavior = decision.get("behavior").and_then(Value::as_str);
        let known = matches!(behavior, Some("allow" | "deny")) && of == Some(ASKS);
        // Only what is a decision is passed on, and nothing beside it.
        known.then(|| {
            json!({"hookSpecificOutput": {"hookEventName": ASKS, "decision": decision}}).to_string()
        })
    }
}

/// Posts a message and gives the answer; nothing where there is none until then, or nobody waits for it any more.
fn post(
    knock: &door::Knock,
    to: &str,
    message: &[u8],
    until: Instant,
    reader: &impl Printed,
) -> Option<Answer> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, knock.port));
    let mut stream = TcpStream::connect_timeout(&address, SHORT).ok()?;
    stream.set_write_timeout(Some(SHORT)).ok()?;
    stream.set_read_timeout(Some(SHORT)).ok()?;
    let head = format!(
        "POST /{}/{to} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        knock.secret,
        knock.port,
        message.len()
    );
    // One that takes too little of it may have said already why.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(message));
    let mut bytes = Vec::new();
    let mut piece = [0; 16 * 1024];
    while Instant::now() < until {
        let left = until.saturating_duration_since(Instant::now());
        if !wait_to_read(&stream, reader, LOOK.min(left))? {
            continue;
        }
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(piece.get(..count)?),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        if bytes.len() > MOST_ANSWER {
            return None;
        }
    }
    Answer::read(&bytes)
}

#[cfg(test)]
#[path = "tests/relay.rs"]
mod tests;
