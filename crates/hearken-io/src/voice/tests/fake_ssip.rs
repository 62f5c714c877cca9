//! A speech-dispatcher that does what a test tells it, and records every line that it receives.
//!
//! It answers like speech-dispatcher 0.11 unless [`FakeSsip::answer`] says otherwise, on a Unix
//! socket in its own folder. When dropped, it asserts over everything that it received that no
//! client was impolite: never IMPORTANT, never PAUSE, nothing on `all`.

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::{Folder, PATIENCE};
use crate::voice::VoiceEnvironment;

/// A received line, with its kind.
#[derive(Debug, Clone)]
pub struct ReceivedLine {
    /// The time at which it was read.
    pub at: Instant,
    /// The connection, counted from 0.
    pub connection: usize,
    /// Whether it was read as a command or inside a text.
    pub kind: LineKind,
    /// The line without its line break.
    pub text: String,
}

/// How a line was interpreted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// A line outside a text.
    Command,
    /// A line between SPEAK and its dot line.
    Text,
}

/// A message that was queued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedMessage {
    /// The daemon's number for it.
    pub number: u64,
    /// The connection that it arrived on.
    pub connection: usize,
    /// The text with its doubled dots undone.
    pub text: String,
    /// Whether it is over.
    pub over: bool,
}

/// The answer to a command.
#[derive(Debug, Clone)]
pub enum CommandAnswer {
    /// These bytes, unchanged.
    Bytes(&'static [u8]),
    /// Never anything.
    Nothing,
    /// Nothing until [`FakeSsip::release`].
    Held,
    /// The connection is closed.
    Close,
}

/// The fate of messages that contain words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordsFate {
    /// They begin after the reply that numbers them and last until the test ends them.
    Begins,
    /// They begin before that reply and last until the test ends them.
    BeginsEarly,
    /// They begin and end immediately.
    Ends,
    /// They stay in the queue.
    Stuck,
}

#[derive(Debug)]
struct ServerState {
    lines: Vec<ReceivedLine>,
    messages: Vec<QueuedMessage>,
    streams: Vec<UnixStream>,
    answers: Vec<(&'static str, CommandAnswer)>,
    held: usize,
    speech: WordsFate,
    sound: bool,
    running: bool,
}

/// A server on its own threads.
pub struct FakeSsip {
    folder: Folder,
    shared: Arc<(Mutex<ServerState>, Condvar)>,
}

impl Default for FakeSsip {
    fn default() -> Self {
        Self::start()
    }
}

impl FakeSsip {
    /// Starts a server whose messages begin and wait for the test to end them.
    pub fn start() -> Self {
        let server = Self::absent();
        server.listen();
        server
    }

    /// Creates a server that does not listen yet.
    pub fn absent() -> Self {
        Self {
            folder: Folder::new(),
            shared: Arc::new((
                Mutex::new(ServerState {
                    lines: Vec::new(),
                    messages: Vec::new(),
                    streams: Vec::new(),
                    answers: Vec::new(),
                    held: 0,
                    speech: WordsFate::Begins,
                    sound: true,
                    running: false,
                }),
                Condvar::new(),
            )),
        }
    }

    /// Returns the socket's path.
    pub fn socket(&self) -> PathBuf {
        self.folder.path("speechd.sock")
    }

    /// Returns surroundings in which this server is the only voice.
    pub fn surroundings(&self) -> VoiceEnvironment {
        let mut address = std::ffi::OsString::from("unix_socket:");
        address.push(self.socket());
        VoiceEnvironment {
            speechd_address: Some(address),
            runtime_dir: None,
            path: None,
            user: "ann".to_owned(),
            executable: None,
        }
    }

    fn state(&self) -> MutexGuard<'_, ServerState> {
        lock(&self.shared)
    }

    /// Starts listening.
    pub fn listen(&self) {
        let listener = UnixListener::bind(self.socket()).unwrap();
        self.state().running = true;
        let shared = Arc::clone(&self.shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let connection = {
                    let mut state = lock(&shared);
                    if !state.running {
                        return;
                    }
                    state.streams.push(stream.try_clone().unwrap());
                    state.streams.len() - 1
                };
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(&shared, stream, connection));
            }
        });
    }

    /// Closes every connection and stops listening, as a killed daemon does.
    pub fn die(&self) {
        {
            let mut state = self.state();
            state.running = false;
            for stream in &state.streams {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        // A last connection wakes the listener's thread, which then ends.
        let _ = UnixStream::connect(self.socket());
        let _ = std::fs::remove_file(self.socket());
    }

    /// Answers commands that begin with `prefix` in another way from now on.
    ///
    /// "TEXT" means the reply to a text that contains words.
    pub fn answer(&self, prefix: &'static str, answer: CommandAnswer) {
        let mut state = self.state();
        state.answers.retain(|(known, _)| *known != prefix);
        state.answers.push((prefix, answer));
    }

    /// Answers commands that begin with `prefix` in the usual way again.
    pub fn answer_as_usual(&self, prefix: &str) {
        self.state().answers.retain(|(known, _)| *known != prefix);
    }

    /// Waits until an answer is held.
    pub fn wait_held(&self) {
        let end = Instant::now() + PATIENCE;
        let mut state = self.state();
        while state.held == 0 {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no answer is held");
            state = self.shared.1.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits until an answer is held, and releases it in the usual form.
    pub fn release(&self) {
        self.wait_held();
        self.state().held -= 1;
        self.shared.1.notify_all();
    }

    /// Sets the fate of messages from now on.
    pub fn speech(&self, speech: WordsFate) {
        self.state().speech = speech;
    }

    /// Sets whether the silent sound test finishes.
    pub fn sound(&self, sound: bool) {
        self.state().sound = sound;
    }

    /// Sends an event about a message to the client that it belongs to.
    pub fn event(&self, code: u16, number: u64) {
        let mut state = self.state();
        let message = state
            .messages
            .iter_mut()
            .find(|message| message.number == number)
            .expect("a message of that number");
        message.over |= matches!(code, 702 | 703);
        let connection = message.connection;
        let mut stream = &state.streams[connection];
        stream
            .write_all(event(code, number, connection).as_bytes())
            .unwrap();
    }

    /// Sends bytes to the latest client.
    pub fn send(&self, bytes: &[u8]) {
        let state = self.state();
        let mut stream = state.streams.last().expect("a client");
        let _ = stream.write_all(bytes);
    }

    /// Waits until the received lines and messages satisfy a condition.
    pub fn wait<T>(
        &self,
        what: &str,
        mut find: impl FnMut(&[ReceivedLine], &[QueuedMessage]) -> Option<T>,
    ) -> T {
        let end = Instant::now() + PATIENCE;
        let mut state = self.state();
        loop {
            if let Some(found) = find(&state.lines, &state.messages) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "waited in vain for {what}; received: {:#?}",
                state.lines
            );
            state = self.shared.1.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits for the n-th command that begins with `prefix`, counted from 1.
    pub fn wait_command(&self, prefix: &str, nth: usize) -> ReceivedLine {
        self.wait(prefix, |lines, _| {
            lines
                .iter()
                .filter(|line| line.kind == LineKind::Command && line.text.starts_with(prefix))
                .nth(nth - 1)
                .cloned()
        })
    }

    /// Waits for the message with this text.
    pub fn wait_message(&self, text: &str) -> QueuedMessage {
        self.wait(text, |_, messages| {
            messages
                .iter()
                .find(|message| message.text == text)
                .cloned()
        })
    }

    /// Returns the commands so far, without the lines of texts.
    pub fn commands(&self) -> Vec<String> {
        let state = self.state();
        let commands = state
            .lines
            .iter()
            .filter(|line| line.kind == LineKind::Command);
        commands.map(|line| line.text.clone()).collect()
    }

    /// Returns how many commands so far begin with `prefix`.
    pub fn count(&self, prefix: &str) -> usize {
        let state = self.state();
        let fits =
            |line: &&ReceivedLine| line.kind == LineKind::Command && line.text.starts_with(prefix);
        state.lines.iter().filter(fits).count()
    }

    /// Returns every line so far.
    pub fn transcript(&self) -> Vec<String> {
        let state = self.state();
        state.lines.iter().map(|line| line.text.clone()).collect()
    }

    /// Asserts that everything so far was polite to the other clients of the machine.
    pub fn assert_polite(&self) {
        for command in self.commands() {
            let words: Vec<String> = command.split(' ').map(str::to_uppercase).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let polite = match words.as_slice() {
                ["SET", "SELF", "PRIORITY", priority] => {
                    matches!(*priority, "MESSAGE" | "TEXT" | "NOTIFICATION")
                }
                ["SET", "SELF", what, ..] => matches!(
                    *what,
                    "CLIENT_NAME"
                        | "NOTIFICATION"
                        | "SSML_MODE"
                        | "LANGUAGE"
                        | "PITCH"
                        | "RATE"
                        | "VOLUME"
                        | "VOICE_TYPE"
                        | "SYNTHESIS_VOICE"
                        | "PUNCTUATION"
                ),
                ["LIST" | "GET", ..]
                | ["HISTORY", "GET", "CLIENT_ID"]
                | ["CANCEL", "SELF"]
                | ["SPEAK"]
                | ["QUIT"] => true,
                _ => false,
            };
            assert!(polite, "impolite: {command}");
        }
    }
}

impl Drop for FakeSsip {
    fn drop(&mut self) {
        self.die();
        if !std::thread::panicking() {
            self.assert_polite();
        }
    }
}

/// Locks the state; a test that failed while holding the lock must not hide the reason.
fn lock(shared: &(Mutex<ServerState>, Condvar)) -> MutexGuard<'_, ServerState> {
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

fn event(code: u16, number: u64, connection: usize) -> String {
    let word = match code {
        701 => "BEGIN",
        702 => "END",
        703 => "CANCELED",
        704 => "PAUSED",
        705 => "RESUMED",
        _ => "INDEX MARK",
    };
    format!("{code}-{number}\r\n{code}-{connection}\r\n{code} {word}\r\n")
}

/// Reads one line and records it.
fn hear(
    shared: &(Mutex<ServerState>, Condvar),
    reader: &mut BufReader<UnixStream>,
    connection: usize,
    kind: LineKind,
) -> Option<String> {
    let mut bytes = Vec::new();
    if reader.read_until(b'\n', &mut bytes).ok()? == 0 {
        return None;
    }
    let at = Instant::now();
    assert!(bytes.ends_with(b"\r\n"), "a line without CR LF: {bytes:?}");
    let text = String::from_utf8(bytes).expect("UTF-8");
    let text = text.strip_suffix("\r\n").unwrap_or(&text).to_owned();
    assert!(
        !text.contains(|sign: char| sign.is_control()),
        "a control character in {text:?}"
    );
    lock(shared).lines.push(ReceivedLine {
        at,
        connection,
        kind,
        text: text.clone(),
    });
    shared.1.notify_all();
    Some(text)
}

/// Serves one client until either side ends.
fn serve(shared: &(Mutex<ServerState>, Condvar), stream: UnixStream, connection: usize) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(command) = hear(shared, &mut reader, connection, LineKind::Command) {
        match scripted(shared, &command) {
            None | Some(CommandAnswer::Held) => {}
            Some(CommandAnswer::Bytes(bytes)) => {
                if writer.write_all(bytes).is_err() {
                    return;
                }
                continue;
            }
            Some(CommandAnswer::Nothing) => continue,
            Some(CommandAnswer::Close) => {
                let _ = writer.shutdown(Shutdown::Both);
                return;
            }
        }
        let done = match usual(&command) {
            Some(reply) => writer.write_all(reply.as_bytes()),
            None if command == "CANCEL SELF" => cancel(shared, &mut writer, connection),
            None if command == "SPEAK" => {
                match take_text(shared, &mut reader, &mut writer, connection) {
                    Some(done) => done,
                    None => return,
                }
            }
            None => writer.write_all(b"500 ERR INVALID COMMAND\r\n"),
        };
        if done.is_err() || command == "QUIT" {
            let _ = writer.shutdown(Shutdown::Both);
            return;
        }
    }
}

/// Returns the test's own answer to a command, if it has one; waits here for a held one.
fn scripted(shared: &(Mutex<ServerState>, Condvar), command: &str) -> Option<CommandAnswer> {
    let mut state = lock(shared);
    let known = state
        .answers
        .iter()
        .find(|(prefix, _)| command.starts_with(prefix));
    let answer = known.map(|(_, answer)| answer.clone())?;
    if matches!(answer, CommandAnswer::Held) {
        state.held += 1;
        let held = state.held;
        shared.1.notify_all();
        while state.held >= held && state.running {
            state = shared.1.wait_timeout(state, PATIENCE).unwrap().0;
        }
    }
    Some(answer)
}

/// Returns the reply to a command that needs no state.
fn usual(command: &str) -> Option<&'static str> {
    Some(match command {
        "LIST OUTPUT_MODULES" => "250-espeak-ng\r\n250-dummy\r\n250 OK MODULE LIST SENT\r\n",
        "GET OUTPUT_MODULE" => "251-espeak-ng\r\n251 OK GET RETURNED\r\n",
        "GET LANGUAGE" => "251-en-us\r\n251 OK GET RETURNED\r\n",
        "GET PITCH" => "251-10\r\n251 OK GET RETURNED\r\n",
        "GET RATE" => "251-15\r\n251 OK GET RETURNED\r\n",
        "GET VOLUME" => "251-100\r\n251 OK GET RETURNED\r\n",
        "GET VOICE_TYPE" => "251-FEMALE1\r\n251 OK GET RETURNED\r\n",
        "GET PUNCTUATION" => "251-none\r\n251 OK GET RETURNED\r\n",
        "LIST SYNTHESIS_VOICES" => {
            "249-German\tde\tnone\r\n249-Greek\tel\tnone\r\n249-English\ten-GB\tnone\r\n249 OK VOICE LIST SENT\r\n"
        }
        "QUIT" => "231 HAPPY HACKING\r\n",
        set if set.starts_with("SET SELF CLIENT_NAME ") => "208 OK CLIENT NAME SET\r\n",
        set if set.starts_with("SET SELF NOTIFICATION ") => "220 OK NOTIFICATION SET\r\n",
        set if set.starts_with("SET SELF SSML_MODE ") => "219 OK SSML MODE SET\r\n",
        set if set.starts_with("SET SELF PRIORITY ") => "202 OK PRIORITY SET\r\n",
        set if set.starts_with("SET SELF LANGUAGE ") => "201 OK LANGUAGE SET\r\n",
        set if set.starts_with("SET SELF PITCH ") => "204 OK PITCH SET\r\n",
        set if set.starts_with("SET SELF VOLUME ") => "218 OK VOLUME SET\r\n",
        set if set.starts_with("SET SELF PUNCTUATION ") => "205 OK PUNCTUATION SET\r\n",
        set if set.starts_with("SET SELF VOICE_TYPE ") => "209 OK VOICE SET\r\n",
        set if set.starts_with("SET SELF SYNTHESIS_VOICE ") => "209 OK VOICE SET\r\n",
        set if set.starts_with("SET SELF RATE ") => "203 OK RATE SET\r\n",
        _ => return None,
    })
}

fn cancel(
    shared: &(Mutex<ServerState>, Condvar),
    writer: &mut UnixStream,
    connection: usize,
) -> std::io::Result<()> {
    let mut reply = "213 OK CANCELED\r\n".to_owned();
    let mut state = lock(shared);
    for message in &mut state.messages {
        if message.connection == connection && !message.over {
            message.over = true;
            reply.push_str(&event(703, message.number, connection));
        }
    }
    drop(state);
    writer.write_all(reply.as_bytes())
}

/// Reads a text and handles it as the test wishes; `None` means that the client is gone.
fn take_text(
    shared: &(Mutex<ServerState>, Condvar),
    reader: &mut BufReader<UnixStream>,
    writer: &mut UnixStream,
    connection: usize,
) -> Option<std::io::Result<()>> {
    writer.write_all(b"230 OK RECEIVING DATA\r\n").ok()?;
    let mut lines = Vec::new();
    loop {
        let line = hear(shared, reader, connection, LineKind::Text)?;
        if line == "." {
            break;
        }
        lines.push(line.strip_prefix('.').unwrap_or(&line).to_owned());
    }
    let text = lines.join("\n");
    if text.is_empty() {
        return Some(writer.write_all(b"227 OK MESSAGE CANCELED\r\n"));
    }
    let blank = text.trim().is_empty();
    let mut state = lock(shared);
    let number = state.messages.len() as u64 + 1;
    let speech = match (blank, state.sound) {
        (true, true) => WordsFate::Ends,
        (true, false) => WordsFate::Stuck,
        (false, _) => state.speech,
    };
    state.messages.push(QueuedMessage {
        number,
        connection,
        text,
        over: speech == WordsFate::Ends,
    });
    drop(state);
    shared.1.notify_all();
    let usual = format!("225-{number}\r\n225 OK MESSAGE QUEUED\r\n");
    let queued = match scripted(shared, "TEXT").filter(|_| !blank) {
        None | Some(CommandAnswer::Held) => usual,
        Some(CommandAnswer::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Some(CommandAnswer::Nothing) => String::new(),
        Some(CommandAnswer::Close) => return None,
    };
    let begin = event(701, number, connection);
    let end = event(702, number, connection);
    let bytes = match speech {
        WordsFate::Begins => queued + &begin,
        WordsFate::BeginsEarly => {
            let (first, second) = queued.split_at(queued.find('\n').map_or(0, |at| at + 1));
            format!("{first}{begin}{second}")
        }
        WordsFate::Ends => begin + &queued + &end,
        WordsFate::Stuck => queued,
    };
    Some(writer.write_all(bytes.as_bytes()))
}
