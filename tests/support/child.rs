//! The program as a child process with pipes.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use hearken_wording::PhrasePattern;
use serde_json::Value;

use super::PATIENCE;

/// The shortest time that a hand takes.
const HAND: Duration = Duration::from_millis(50);

/// A running `hearken` whose lines can be waited for.
pub struct Hearken {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    seen: Vec<String>,
}

/// Returns the command, with an environment that hides the machine's user.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(
        std::env::var_os("HEARKEN_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_hearken").into()),
    );
    command
        .args(arguments)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_STATE_HOME")
        .env_remove("CLAUDE_CONFIG_DIR")
        .env_remove("CODEX_HOME")
        .env_remove("APPDATA")
        .env_remove("LOCALAPPDATA")
        .env("HOME", "/nonexistent")
        .env("TZ", "UTC")
        // A developer with a running screen reader should see what everybody else sees.
        .env("HEARKEN_SCREEN_READER", "no")
        .env_remove("NO_COLOR");
    command
}

impl Hearken {
    /// Starts it with pipes on all three ends.
    pub fn start(arguments: &[&str]) -> Self {
        Self::spawn(&mut command(arguments))
    }

    /// Starts it without a voice, watching a source in the given face, with more arguments.
    pub fn watch(source: &str, face: &str, more: &[&str]) -> Self {
        let arguments = ["watch", source, "--face", face, "--voice", "none"];
        Self::start(&[&arguments, more].concat())
    }

    /// Starts the caller's own command with pipes on all three ends.
    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self {
            child,
            stdin,
            lines,
            seen: Vec::new(),
        }
    }

    /// Types a line, no sooner than a hand could that has read the latest output: a delayed program may only learn a
    /// moment later that its own words are out, and input before that answers nothing.
    ///
    /// A program that has ended accepts no line: the test notices that when it waits for the effect.
    pub fn say(&mut self, line: &str) {
        std::thread::sleep(HAND);
        let stdin = self.stdin.as_mut().unwrap();
        if let Err(error) = writeln!(stdin, "{line}").and_then(|()| stdin.flush()) {
            assert_eq!(error.kind(), ErrorKind::BrokenPipe, "{error}");
        }
    }

    /// Leaves it, even if it asks again because an agent that it started is at work or can't be returned to.
    #[allow(
        dead_code,
        reason = "only some of the tests that share it start agents"
    )]
    pub fn leave(&mut self) {
        self.say("q");
        self.say("q");
    }

    /// Sends it a signal.
    #[cfg(unix)]
    pub fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Kills it without warning.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Returns its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Closes its standard input.
    pub fn end_input(&mut self) {
        self.stdin = None;
    }

    /// Waits for the next matching line, and returns it.
    pub fn wait(&mut self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            match self
                .lines
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if fits(&line) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let _ = self.child.kill();
                    let mut errors = String::new();
                    let _ = self
                        .child
                        .stderr
                        .take()
                        .unwrap()
                        .read_to_string(&mut errors);
                    panic!("no {what} came; seen:\n{}\n{errors}", self.seen.join("\n"));
                }
            }
        }
    }

    /// Waits for a JSON announcement of a kind whose text has certain words.
    pub fn announced(&mut self, kind: &str, words: impl Into<PhrasePattern>) -> Value {
        let words = words.into();
        let fits = |line: &str| {
            let value: Value =
                serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
            value["kind"] == kind && words.is_in(value["text"].as_str().unwrap())
        };
        let line = self.wait(&format!("{kind} with {words:?}"), fits);
        serde_json::from_str(&line).unwrap()
    }

    /// Returns its peak memory so far, in bytes; `None` if the system does not report it.
    pub fn peak(&self) -> Option<usize> {
        // Under Wine, such a file belongs to another program.
        if cfg!(windows) {
            return None;
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
        let kilobytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes * 1024)
    }

    /// Returns every line so far.
    pub fn seen(&self) -> &[String] {
        &self.seen
    }

    /// Waits for its end, and returns the exit code, its standard error and all its lines.
    pub fn exit(mut self) -> (i32, String, Vec<String>) {
        let until = Instant::now() + PATIENCE;
        loop {
            match self
                .lines
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    panic!("it does not end; seen:\n{}", self.seen.join("\n"));
                }
            }
        }
        let mut errors = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut errors)
            .unwrap();
        let status = self.child.wait().unwrap();
        (
            status.code().unwrap_or(-1),
            errors,
            std::mem::take(&mut self.seen),
        )
    }
}

impl Drop for Hearken {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
