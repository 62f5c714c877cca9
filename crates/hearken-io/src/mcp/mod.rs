//! The tool server that an agent starts: its tools let the agent speak and ask in the listening hearken.
//!
//! Responsibilities: reading lines from the agent and writing lines to it, one thread for each call under way, asking
//! the listening hearken (`listener_call`), waiting for the person's prompts. Not here: the Model Context Protocol
//! itself (`tool_server`, which is pure), what a message means (`dialect`).
//!
//! # Mental model
//! The process lives as long as its agent and holds no state that matters: each call looks for a listening hearken
//! anew. If there is none, the call fails in words and nothing waits. All lines are written by one thread.

mod listener_call;
mod served_tools;
mod tool_server;

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use listener_call::{ListenerCall, ListenerCallOutcome};
use tool_server::{McpServer, McpStep};

/// The longest line that is read, in bytes: longer than any call of a tool.
const LONGEST_LINE: u64 = 4 * 1024 * 1024;
/// How many facts may wait for the thread that writes.
const MOST_WAITING: usize = 64;
/// How often a call that waits for the person reports that it waits, so that its agent goes on waiting.
const PROGRESS: Duration = Duration::from_secs(15);
/// How long to pause before another hearken is looked for.
const PAUSE: Duration = Duration::from_secs(2);
/// How long a farewell may take.
const FAREWELL: Duration = Duration::from_millis(200);

/// A fact for the thread that writes.
#[derive(Debug)]
enum McpFact {
    /// A line of the agent; `None` if it was too long.
    Line(Option<String>),
    /// The agent is gone.
    End,
    /// What became of an errand.
    Done(u64, ListenerCallOutcome),
    /// An errand still waits for the person.
    Waits(u64),
    /// Prompts of the person.
    Prompts(Vec<String>),
}

/// Serves an agent until it closes its end; `folder` is where a listening hearken has its address, and `channel`
/// whether the agent can be told what to do.
///
/// # Errors
/// If the agent can't be read or written to.
pub fn serve(
    folder: &Path,
    channel: bool,
    input: impl Read + Send + 'static,
    output: &mut impl Write,
) -> io::Result<()> {
    let (sender, facts) = sync_channel(MOST_WAITING);
    let lines = sender.clone();
    thread::Builder::new()
        .name("mcp lines".to_owned())
        .spawn(move || read_lines(input, &lines))?;
    let mut desk = McpDesk {
        server: McpServer::new(channel),
        folder: folder.to_owned(),
        run: run_name(),
        sender,
        cancelled: HashMap::new(),
        taken: Arc::default(),
    };
    let served = desk.work(&facts, output);
    desk.leave();
    served
}

/// Returns a name for this run that no other run of this user has.
fn run_name() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = since.map_or(0, |since| since.as_nanos());
    format!("{}-{since:x}", std::process::id())
}

fn read_lines(input: impl Read, facts: &SyncSender<McpFact>) {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        let read = (&mut input)
            .take(LONGEST_LINE + 1)
            .read_until(b'\n', &mut line);
        let fact = match read {
            Ok(0) | Err(_) => McpFact::End,
            Ok(_) if line.len() as u64 > LONGEST_LINE && !line.ends_with(b"\n") => {
                match skip_line(&mut input) {
                    true => McpFact::Line(None),
                    false => McpFact::End,
                }
            }
            Ok(_) => McpFact::Line(Some(String::from_utf8_lossy(&line).into_owned())),
        };
        let is_over = matches!(fact, McpFact::End);
        if facts.send(fact).is_err() || is_over {
            return;
        }
    }
}

/// Skips the rest of a line; returns false at the end of the input.
fn skip_line(input: &mut impl BufRead) -> bool {
    loop {
        let Ok(piece) = input.fill_buf() else {
            return false;
        };
        if piece.is_empty() {
            return false;
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let count = end.map_or(piece.len(), |at| at + 1);
        input.consume(count);
        if end.is_some() {
            return true;
        }
    }
}

/// The thread that writes, and what it starts.
struct McpDesk {
    server: McpServer,
    folder: PathBuf,
    run: String,
    sender: SyncSender<McpFact>,
    /// The errands under way, with whether each is cancelled.
    cancelled: HashMap<u64, Arc<AtomicBool>>,
    /// How many prompts were passed on.
    taken: Arc<AtomicU64>,
}

impl McpDesk {
    fn work(&mut self, facts: &Receiver<McpFact>, output: &mut impl Write) -> io::Result<()> {
        while let Ok(fact) = facts.recv() {
            let steps = match fact {
                McpFact::End => return Ok(()),
                McpFact::Line(Some(line)) => self.server.line(&line),
                McpFact::Line(None) => self.server.too_long(),
                McpFact::Waits(key) => self.server.waits(key),
                McpFact::Done(key, outcome) => {
                    self.cancelled.remove(&key);
                    self.server.done(key, outcome)
                }
                McpFact::Prompts(prompts) => {
                    let count = prompts.len() as u64;
                    let steps = self.server.prompts(prompts);
                    self.carry_out(steps, output)?;
                    self.taken.fetch_add(count, Ordering::SeqCst);
                    continue;
                }
            };
            self.carry_out(steps, output)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, steps: Vec<McpStep>, output: &mut impl Write) -> io::Result<()> {
        for step in steps {
            match step {
                McpStep::Write(message) => {
                    writeln!(output, "{message}")?;
                    output.flush()?;
                }
                McpStep::Send { key, to, body } => self.send(key, to, body),
                McpStep::Cancel(key) => {
                    if let Some(cancelled) = self.cancelled.remove(&key) {
                        cancelled.store(true, Ordering::SeqCst);
                    }
                }
                McpStep::Listen => self.listen(),
            }
        }
        Ok(())
    }

    /// Returns a message with what is known about the agent.
    fn signed(&self, mut body: Value) -> Value {
        let about = self.server.about();
        body["session"] = self.run.as_str().into();
        body["agent"] = about.name.into();
        body["title"] = about.title.into();
        let folder = std::env::current_dir().unwrap_or_default();
        body["folder"] = folder.to_string_lossy().into();
        body
    }

    /// Sends a message to the listening hearken, and waits for its answer in a thread.
    fn send(&mut self, key: u64, to: &'static str, body: Value) {
        let cancelled = Arc::new(AtomicBool::new(false));
        let errand = ListenerCall {
            folder: self.folder.clone(),
            to,
            body: self.signed(body).to_string(),
            cancelled: Arc::clone(&cancelled),
        };
        self.cancelled.insert(key, cancelled);
        let facts = self.sender.clone();
        let mut told = Instant::now();
        let run = {
            let facts = facts.clone();
            move || {
                let outcome = errand.run(&mut || {
                    if told.elapsed() >= PROGRESS {
                        told = Instant::now();
                        // If the thread that writes is gone, so is the process.
                        let _ = facts.try_send(McpFact::Waits(key));
                    }
                });
                let _ = facts.send(McpFact::Done(key, outcome));
            }
        };
        let started = thread::Builder::new()
            .name("mcp call".to_owned())
            .spawn(run);
        if started.is_err() {
            let _ = facts.try_send(McpFact::Done(key, ListenerCallOutcome::Nobody));
        }
    }

    /// Waits for the listening hearken and the person's prompts, for as long as the process lives.
    fn listen(&self) {
        let (facts, folder) = (self.sender.clone(), self.folder.clone());
        let about = json!({"channel": self.server.has_channel()});
        let (taken, signed) = (Arc::clone(&self.taken), self.signed(about));
        let run = move || {
            loop {
                let mut body = signed.clone();
                body["taken"] = taken.load(Ordering::SeqCst).into();
                let errand = ListenerCall {
                    folder: folder.clone(),
                    to: "mcp/listen",
                    body: body.to_string(),
                    cancelled: Arc::default(),
                };
                match errand.run(&mut || {}) {
                    ListenerCallOutcome::Answered(said) => {
                        let fresh = new_prompts(&said, taken.load(Ordering::SeqCst));
                        let count = fresh.len() as u64;
                        let before = taken.load(Ordering::SeqCst);
                        if count > 0 && facts.send(McpFact::Prompts(fresh)).is_err() {
                            return;
                        }
                        // The next request confirms them, so they have to be written first.
                        while taken.load(Ordering::SeqCst) < before + count {
                            thread::sleep(Duration::from_millis(5));
                        }
                        if count == 0 {
                            thread::sleep(PAUSE);
                        }
                    }
                    ListenerCallOutcome::Unanswered => {}
                    ListenerCallOutcome::Nobody
                    | ListenerCallOutcome::Lost
                    | ListenerCallOutcome::Refused
                    | ListenerCallOutcome::Cancelled => thread::sleep(PAUSE),
                }
            }
        };
        // Without the thread, the agent only can't be told what to do, and its end is noticed only if it says so.
        let _ = thread::Builder::new()
            .name("mcp channel".to_owned())
            .spawn(run);
    }

    /// Says goodbye to the listening hearken, if there is one.
    fn leave(&self) {
        let until = Instant::now() + FAREWELL;
        let cancelled = Arc::new(AtomicBool::new(false));
        let errand = ListenerCall {
            folder: self.folder.clone(),
            to: "mcp/leave",
            body: self.signed(json!({})).to_string(),
            cancelled: Arc::clone(&cancelled),
        };
        errand.run(&mut || {
            cancelled.store(Instant::now() >= until, Ordering::SeqCst);
        });
    }
}

/// Returns the prompts of an answer that were not passed on before.
fn new_prompts(said: &Value, taken: u64) -> Vec<String> {
    let from = said.get("from").and_then(Value::as_u64).unwrap_or_default();
    let prompts = said.get("prompts").and_then(Value::as_array);
    let prompts = prompts.into_iter().flatten().filter_map(Value::as_str);
    let old = usize::try_from(taken.saturating_sub(from)).unwrap_or(usize::MAX);
    prompts.skip(old).map(str::to_owned).collect()
}

#[cfg(test)]
#[path = "tests/serving.rs"]
mod tests;
