//! What takes minutes: an hour of agents, and a soak of everything that can go wrong (`soak`).
//!
//! An hour of three agents at 60 tokens a second, as fast as the program accepts it: how much memory
//! it needs, and what is left afterwards. `HEARKEN_BINARY` names the program under test (`.ci/run`
//! sets its release build); by default, it is the one that cargo built for the tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells its figures"
)]

use hearken_wording::phrase;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use hearken::voice;
use serde_json::{Value, json};

#[path = "endurance/soak.rs"]
mod soak;
#[allow(
    dead_code,
    unused_imports,
    reason = "the hermetic tests use the rest of it"
)]
mod support;

const AGENTS: usize = 3;
const SECONDS: usize = 3600;
const TOKENS: usize = 60;
/// The limit set in the issue, in KiB.
const MOST_KIB: u64 = 64 * 1024;
/// How long one step may take: enough for a minute of the stream on a busy machine, but not for a
/// hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with the plain pair: what is put in is sent as events, what is posted comes back.
struct PairServer {
    address: String,
    events: Sender<String>,
    posted: Receiver<Value>,
}

impl PairServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (events, outgoing) = channel::<String>();
        let (sender, posted) = channel();
        std::thread::spawn(move || {
            let mut outgoing = Some(outgoing);
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let (head, body) = request(&mut stream);
                if head.starts_with("GET /events") {
                    let Some(outgoing) = outgoing.take() else {
                        continue;
                    };
                    std::thread::spawn(move || {
                        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
                        let mut stream = std::io::BufWriter::with_capacity(1 << 16, stream);
                        stream.write_all(head.as_bytes()).unwrap();
                        stream.flush().unwrap();
                        while let Ok(event) = outgoing.recv() {
                            write!(stream, "data: {event}\n\n").unwrap();
                            for event in outgoing.try_iter() {
                                write!(stream, "data: {event}\n\n").unwrap();
                            }
                            stream.flush().unwrap();
                        }
                    });
                } else if head.starts_with("POST /messages") {
                    sender.send(serde_json::from_slice(&body).unwrap()).unwrap();
                    let answer = "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
                    stream.write_all(answer.as_bytes()).unwrap();
                } else {
                    let answer =
                        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                    stream.write_all(answer.as_bytes()).unwrap();
                }
            }
        });
        Self {
            address,
            events,
            posted,
        }
    }
}

/// Returns the program under test.
fn binary() -> String {
    support::program().to_string_lossy().into_owned()
}

/// Reads one request: its head and its body.
fn request(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, body)
}

/// Builds the events of the three agents.
struct AgentEvents {
    count: u64,
    start: jiff::Timestamp,
    at: Duration,
}

impl AgentEvents {
    fn event(&mut self, agent: usize, kind: &str, fields: Value) -> String {
        self.count += 1;
        let stamp = self.start + self.at;
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{kind}"),
            "event_id": format!("evt_{}", self.count), "session_id": format!("sess_{agent}"), "timestamp": format!("{stamp:.3}"),
            "producer": {"agent_id": format!("agent-{agent}"), "agent_name": format!("Agent {agent}")},
        });
        for (key, value) in fields.as_object().unwrap() {
            event[key] = value.clone();
        }
        event.to_string()
    }

    fn ask(&mut self, agent: usize, token: &str, action: &str) -> String {
        let fields = json!({
            "action": action, "consequence": "It can't be called back.", "reply_token": token, "timeout_seconds": 86_400,
            "default_decision": "reject", "risk_level": "high", "irreversible": true, "urgency": "critical",
        });
        self.event(agent, "awaiting.confirmation", fields)
    }
}

#[test]
fn an_hour_of_three_agents_stays_within_64_mib_and_loses_nothing_that_matters() {
    let server = PairServer::start();
    let url = format!("http://{}", server.address);
    let mut child = Command::new(binary())
        .args(["watch", &url, "--face", "linear", "--voice", "none"])
        .env("HOME", "/nonexistent")
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let (sender, lines) = channel();
    let stdout = child.stdout.take().unwrap();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let wait = |words: &str| -> String {
        let until = Instant::now() + PATIENCE;
        let mut last = String::new();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = lines
                .recv_timeout(left)
                .unwrap_or_else(|_| panic!("no line with {words:?}; the last one was {last:?}"));
            last.clone_from(&line);
            if line.contains(words) {
                return line;
            }
        }
    };
    let mut agents = AgentEvents {
        count: 0,
        start: jiff::Timestamp::now(),
        at: Duration::ZERO,
    };
    let put = |event: String| server.events.send(event).unwrap();
    for agent in 0..AGENTS {
        put(agents.event(
            agent,
            "session.started",
            json!({"summary_normal": "Going."}),
        ));
    }
    put(agents.ask(0, "rpl_first", "Send the first letter"));
    wait("d 1 for details");
    // The keys are armed a moment after the question was written.
    std::thread::sleep(Duration::from_millis(600));
    writeln!(stdin, "n 1").unwrap();
    wait("Sent.");
    let reply = server.posted.recv_timeout(PATIENCE).unwrap();
    assert_eq!(
        (&reply["reply_token"], &reply["decision"]),
        (&json!("rpl_first"), &json!("reject"))
    );
    put(agents.event(
        0,
        "state.changed",
        json!({"from_state": "awaiting_input", "to_state": "thinking"}),
    ));
    put(agents.ask(1, "rpl_second", "Wipe the archive"));
    wait("n 2, d 2.");

    let words: Vec<&str> =
        "The quick brown fox jumps over the lazy dog while nobody looks at it again. "
            .split_inclusive(' ')
            .collect();
    let started = Instant::now();
    let mut positions = [0; AGENTS];
    let mut sent = 0u64;
    for second in 0..SECONDS {
        for token in 0..TOKENS {
            agents.at = Duration::from_millis((second * 1000 + token * 16) as u64);
            for agent in [0, 2] {
                let chunk = words[(second * TOKENS + token) % words.len()];
                put(agents.event(
                    agent,
                    "output.streaming",
                    json!({"chunk": chunk, "position": positions[agent], "complete": false, "output_id": format!("out_{}", second / 30),
                           "coalesce_hint": "word"}),
                ));
                positions[agent] += chunk.len();
                sent += 1;
            }
            // The third one waits for its answer and reports how long.
            put(agents.event(
                1,
                "progress.updated",
                json!({"progress": {"percent": 1, "description": format!("waiting {second}")}}),
            ));
            sent += 1;
        }
        // The measurement must not include what the test has prepared.
        if second % 60 == 59 {
            for agent in [0, 2] {
                let call = json!({"tool": "look", "tool_call_id": format!("call_{second}")});
                put(agents.event(agent, "tool.invoked", call.clone()));
                let mut done = call;
                done["status"] = json!("success");
                done["summary_normal"] = json!(format!("Looked at minute {}", second / 60));
                put(agents.event(agent, "tool.completed", done));
                positions[agent] = 0;
            }
            wait(&format!("Looked at minute {}", second / 60));
        }
    }
    put(agents.event(2, "output.streaming", json!({"chunk": "The hour is over.", "position": 0, "complete": true, "output_id": "out_end"})));
    wait("The hour is over.");
    let took = started.elapsed();

    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak: u64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok())
        .unwrap();
    println!(
        "{sent} events in {:.1} s, peak {:.1} MiB",
        took.as_secs_f64(),
        peak as f64 / 1024.0
    );
    assert!(peak < MOST_KIB, "{peak} KiB");

    writeln!(stdin, "t").unwrap();
    let status = wait("1 question is open");
    assert!(phrase!("status.forgotten").is_in(&status), "{status}");
    writeln!(stdin, "h").unwrap();
    wait("The hour is over.");
    writeln!(stdin, "d 2").unwrap();
    wait("Wipe the archive");
    writeln!(stdin, "n 2").unwrap();
    let reply = server.posted.recv_timeout(PATIENCE).unwrap();
    assert_eq!(
        (&reply["reply_token"], &reply["decision"]),
        (&json!("rpl_second"), &json!("reject"))
    );
    child.kill().unwrap();
    child.wait().unwrap();
}
