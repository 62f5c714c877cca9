//! An agent that an editor starts: the copier's call, and the process that listens in.
//!
//! Responsibilities: the name under which it is watched, the wording of failures, the listener's loop: lines in, events
//! out to watchers and to the voice, answers back. Not here: copying (`proxy`), what the lines mean (`dialect`),
//! serving events (`producer`).
//!
//! # Mental model
//! Three processes: the copier, which the editor starts; its child, the listener, which has no terminal; and the
//! listener's child, the speaker, which reads events on standard input as `hearken watch -` does. A watcher hears and
//! answers through the socket; while one is connected, there is no speaker.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch};

use crate::announce::{Arg, Phrases, Reason};
use crate::app::{EveryLanguage, Exit};
use crate::cli::SpeechFlags;
use crate::dialect::{AgentListener, Cx, DecisionResult, DialectOutput, SharedWording};
use crate::platform::processes::leave_terminal;
use crate::platform::sockets;
use crate::producer::{
    self, Host, ListenAddress, ProducerEvent, ProducerSettings, Retention, RunningServer,
};
use crate::protocol::{Now, Reply};
use crate::proxy::{
    self, CopierProblem, DecisionOutcome, ListenerNote, ListenerNoteParser, ListenerRequest,
    Programs, Side,
};
use crate::transport;

use super::person_wording::{fault, phrases_for};
use super::request_failure::RequestFailure;

/// The longest name of a watched proxy: a socket's path has little room.
const LONGEST_NAME: usize = 48;
/// The most proxies of one name: an editor starts one for each of its windows.
const MOST_OF_A_NAME: usize = 32;
/// The most answers that may wait; no person writes more in one go.
const WAITING_ANSWERS: usize = 64;
/// The most events that may wait for the speaker, which reads faster than it speaks.
const WAITING_EVENTS: usize = 4096;
/// How often a failed speaker is restarted.
const SPEAKERS: u32 = 3;
/// How long the speaker may take to finish speaking at the end.
const LAST_WORDS: Duration = Duration::from_secs(30);
/// The size of one read, in bytes.
const PIECE: usize = 64 * 1024;

/// A proxy between an editor and its agent.
#[derive(Debug, Clone)]
pub struct ProxyListener {
    /// The name under which it is watched, if the person chose one.
    pub name: Option<String>,
    /// The agent: a program and its arguments.
    pub program: Vec<OsString>,
    /// How it speaks.
    pub speaking: SpeechFlags,
}

/// Runs between an editor and its agent until the agent has ended; returns its exit code.
///
/// # Errors
/// When the agent can't be started, or the name can't be used.
pub fn acp_proxy(wanted: ProxyListener) -> anyhow::Result<u8> {
    anyhow::ensure!(sockets::THERE, RequestFailure::new("call.proxy.no_sockets"));
    let Some((program, arguments)) = wanted.program.split_first() else {
        anyhow::bail!(RequestFailure::new("call.proxy.program"));
    };
    let name = match wanted.name {
        Some(name) => {
            let fits = name == named(Path::new(&name));
            anyhow::ensure!(
                fits,
                RequestFailure::new("call.proxy.name").with("name", name)
            );
            name
        }
        None => named(Path::new(program)),
    };
    let itself = std::env::current_exe()
        .map_err(|error| RequestFailure::new("call.itself").because(Reason::of_system(&error)))?;
    let mut listener = vec![
        itself.into_os_string(),
        "acp-listen".into(),
        "--name".into(),
    ];
    listener.push(name.into());
    listener.extend(wanted.speaking.arguments());
    let call = Programs {
        program: program.clone(),
        arguments: arguments.to_vec(),
        listener,
    };
    let speaking = wanted.speaking;
    let say = move |trouble: CopierProblem| {
        // Loaded only now: the bytes must not wait for settings to load.
        let Ok(words) = phrases_for(speaking.config.as_deref(), &speaking.language) else {
            return;
        };
        let text = match trouble {
            CopierProblem::PipeListener(error) => {
                let failure =
                    RequestFailure::new("proxy.no_listener").because(Reason::of_system(&error));
                fault(&failure.into(), &words)
            }
            CopierProblem::Again => words.text("proxy.again", &[]),
            CopierProblem::Gone => words.text("proxy.gone", &[]),
        };
        complain(&text);
    };
    proxy::copy(call, say).map_err(|error| {
        let name = super::capture_commands::shown(Path::new(program));
        let failure = RequestFailure::new("call.proxy.start").with("name", name);
        failure.because(Reason::of_system(&error)).into()
    })
}

/// Returns a program's name in the form of a proxy name.
fn named(program: &Path) -> String {
    let stem = program.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = stem
        .chars()
        .filter(|c| plain(*c))
        .take(LONGEST_NAME)
        .collect();
    match name.trim_start_matches(['.', '-']) {
        "" => "agent".to_owned(),
        name => name.to_owned(),
    }
}

/// Writes to standard error; if that is closed, the text is lost.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "hearken: {text}");
}

/// Runs the process that listens in, until the copier is gone.
///
/// # Errors
/// When no socket is available.
pub async fn acp_listen(name: &str, speaking: SpeechFlags) -> anyhow::Result<Exit> {
    leave_terminal();
    let words = phrases_for(speaking.config.as_deref(), &speaking.language)?;
    let seed = super::run_plan::seed()?;
    let (answer, mut answers) = mpsc::channel(WAITING_ANSWERS);
    let (tell, mut there) = watch::channel(0);
    let (running, place) = serve(name, seed, &words, answer, tell).await?;
    let watched = format!("unix:{place}");
    complain(&words.text("proxy.at", &[("source", Arg::Own(watched))]));
    let languages = match speaking.language.is_empty() {
        true => super::settings_file::load(speaking.config.as_deref())
            .map_or_else(|_| Vec::new(), |config| config.announce.languages),
        false => speaking.language.clone(),
    };
    let sentences = SharedWording::new(EveryLanguage::best_for(&languages));
    let mut listener = ListenerState {
        along: AgentListener::new(name, sentences, seed),
        started: Instant::now(),
        requests: 0,
        running,
        speaker: Speaker::new(place, speaking),
    };
    listener.speaker.begin(&listener.running);
    let mut input = tokio::io::stdin();
    let mut output = tokio::io::stdout();
    let mut notes = ListenerNoteParser::default();
    let mut piece = vec![0; PIECE];
    loop {
        let deadline = listener.along.deadline();
        let deadline = deadline.and_then(|at| listener.started.checked_add(at));
        let wishes = tokio::select! {
            read = input.read(&mut piece) => match read {
                Ok(count @ 1..) => {
                    notes.take(&piece[..count]);
                    let mut wishes = Vec::new();
                    loop {
                        match notes.next_note() {
                            Ok(Some(note)) => wishes.extend(listener.note(&note)),
                            Ok(None) => break wishes,
                            Err(error) => return Err(error.into()),
                        }
                    }
                }
                Ok(0) | Err(_) => break,
            },
            Some(reply) = answers.recv() => listener.reply(&reply),
            () = super::until(deadline) => listener.tick(),
            Ok(()) = there.changed() => {
                let watches = *there.borrow_and_update() > 0;
                listener.watched(watches);
                Vec::new()
            }
            () = listener.speaker.ended() => {
                listener.speaker.again(&listener.running);
                Vec::new()
            }
        };
        for wish in wishes {
            output.write_all(&wish.write()).await?;
        }
        output.flush().await?;
    }
    // The copier may be gone already.
    let _ = output.write_all(&ListenerRequest::Leave.write()).await;
    let _ = output.flush().await;
    listener.end().await;
    Ok(Exit::Clean)
}

/// Serves the events under the first free name; returns that name.
async fn serve(
    name: &str,
    seed: u64,
    words: &Phrases,
    answers: mpsc::Sender<Reply>,
    there: watch::Sender<usize>,
) -> anyhow::Result<(RunningServer, String)> {
    let host = Host {
        id: name.to_owned(),
        name: name.to_owned(),
        // It is served at no address.
        about: String::new(),
        farewell: words.text("proxy.over", &[]),
        // When too many wait, the answer is dropped, and its sender sees that nothing came of it.
        answers: Some(Arc::new(move |reply| drop(answers.try_send(reply)))),
        requests: None,
        prompts: None,
        admission: None,
    };
    let mut settings = ProducerSettings::new(host, seed);
    settings.hearer = Some(Arc::new(move |event| match event {
        ProducerEvent::Came { there: count, .. } | ProducerEvent::Left { there: count, .. } => {
            there.send_replace(count);
        }
        ProducerEvent::Answered { .. } => {}
    }));
    let folder: PathBuf = transport::socket_folders()
        .into_iter()
        .next()
        .unwrap_or_default();
    let mut number = 1;
    loop {
        let name = match number {
            1 => name.to_owned(),
            _ => format!("{name}-{number}"),
        };
        let place = ListenAddress::Socket(folder.join(format!("{name}.sock")));
        super::demo_server::of_owner(&place)?;
        match producer::serve(&[place], settings.clone()).await {
            Ok(running) => return Ok((running, name)),
            // The name is taken: by another window of the editor.
            Err(error)
                if error.kind() == std::io::ErrorKind::AddrInUse && number < MOST_OF_A_NAME =>
            {
                number += 1;
            }
            Err(error) => {
                let failure =
                    RequestFailure::new("call.listening").with("names", format!("unix:{name}"));
                return Err(failure.because(Reason::of_system(&error)).into());
            }
        }
    }
}

/// The state of the listener.
struct ListenerState {
    along: AgentListener,
    started: Instant,
    /// How many answers have arrived so far.
    requests: u64,
    running: RunningServer,
    speaker: Speaker,
}

impl ListenerState {
    fn now(&self) -> Now {
        Now {
            monotonic: self.started.elapsed(),
            wall: jiff::Timestamp::now(),
        }
    }

    /// Handles a message from the copier.
    fn note(&mut self, note: &ListenerNote) -> Vec<ListenerRequest> {
        let (now, mut out) = (self.now(), Vec::new());
        let cx = &mut Cx::new(now, &mut out);
        let text = String::from_utf8_lossy;
        let along = &mut self.along;
        match note {
            ListenerNote::Line(Side::Editor, line) => along.editor(&text(line), cx),
            ListenerNote::Line(Side::Agent, line) => along.agent(&text(line), cx),
            ListenerNote::Asked { ticket, line } => along.on_question(*ticket, &text(line), cx),
            ListenerNote::Answered { ticket, line } => along.answered(*ticket, &text(line), cx),
            ListenerNote::Left(ticket) | ListenerNote::TakenBack(ticket) => {
                along.left(*ticket, None, cx);
            }
            ListenerNote::Withheld(_, chose) => along.withheld(*chose, cx),
            ListenerNote::Became(request, verdict) => {
                let how = match verdict {
                    DecisionOutcome::Decides => DecisionResult::Here,
                    DecisionOutcome::TooLate => DecisionResult::There,
                    DecisionOutcome::Full | DecisionOutcome::Unwritable => DecisionResult::NotNow,
                };
                along.became(*request, how, cx);
            }
            ListenerNote::Missed { editor, agent } => along.missed(*editor, *agent, cx),
            ListenerNote::Standing { last, open } => along.standing(*last, open, cx),
        }
        self.carry_out(out)
    }

    fn reply(&mut self, reply: &Reply) -> Vec<ListenerRequest> {
        self.requests += 1;
        let (now, mut out) = (self.now(), Vec::new());
        self.along
            .reply(self.requests, reply, &mut Cx::new(now, &mut out));
        self.carry_out(out)
    }

    fn tick(&mut self) -> Vec<ListenerRequest> {
        let (now, mut out) = (self.now(), Vec::new());
        self.along.tick(&mut Cx::new(now, &mut out));
        self.carry_out(out)
    }

    fn carry_out(&mut self, out: Vec<DialectOutput>) -> Vec<ListenerRequest> {
        let mut wishes = Vec::new();
        for out in out {
            match out {
                DialectOutput::Event(text) | DialectOutput::ViewOnly(text) => {
                    self.running
                        .producer()
                        .publish(&text, &Retention::AsItsType);
                    self.speaker.tell(text);
                }
                DialectOutput::Respond { id, request, body } => {
                    wishes.push(ListenerRequest::Decide {
                        ticket: id,
                        request: request.unwrap_or_default(),
                        line: body.into_bytes(),
                    })
                }
                // A watcher learns it from the events alone: the protocol has no reply to an answer.
                DialectOutput::Settled { .. }
                | DialectOutput::Announce(_)
                | DialectOutput::Detail(_)
                | DialectOutput::Over { .. }
                | DialectOutput::Decided { .. }
                | DialectOutput::AnsweredBy { .. }
                | DialectOutput::Missed(_)
                | DialectOutput::Recalled(_)
                | DialectOutput::Warn(_)
                | DialectOutput::Unread(..)
                | DialectOutput::Send { .. }
                | DialectOutput::Hand { .. }
                | DialectOutput::Call { .. }
                | DialectOutput::CallService { .. }
                | DialectOutput::LeaveCall(_)
                | DialectOutput::Follow(_)
                | DialectOutput::Refuse(_)
                | DialectOutput::Release
                | DialectOutput::LastWords(_)
                | DialectOutput::ChangeWay(_)
                | DialectOutput::Close(_)
                | DialectOutput::Standing(_)
                | DialectOutput::Answered(_)
                | DialectOutput::Proven(_)
                | DialectOutput::Stepped(_) => {}
            }
        }
        wishes
    }

    /// Handles a change in whether anyone is watching: the voice is the watcher's.
    fn watched(&mut self, watches: bool) {
        match watches {
            true => self.speaker.rest(),
            false => self.speaker.begin(&self.running),
        }
    }

    /// Announces the end, and lets pending speech finish.
    async fn end(mut self) {
        let (now, mut out) = (self.now(), Vec::new());
        self.along.gone(&mut Cx::new(now, &mut out));
        self.carry_out(out);
        self.running.stop().await;
        self.speaker.end().await;
    }
}

/// Speaks the events while there is no watcher.
struct Speaker {
    name: String,
    speaking: SpeechFlags,
    running: Option<(Child, mpsc::Sender<String>)>,
    started: u32,
}

impl Speaker {
    fn new(name: String, speaking: SpeechFlags) -> Self {
        Self {
            name,
            speaking,
            running: None,
            started: 0,
        }
    }

    /// Starts speaking, from the current state.
    fn begin(&mut self, source: &RunningServer) {
        if self.running.is_some() || self.speaking.is_silent() || self.started > SPEAKERS {
            return;
        }
        let child = std::env::current_exe().and_then(|itself| {
            Command::new(itself)
                .args(["acp-speak", "--name", &self.name])
                .args(self.speaking.arguments())
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .kill_on_drop(true)
                .spawn()
        });
        let mut child = match child {
            Ok(child) => child,
            Err(error) => {
                self.started += 1;
                return complain(&error.to_string());
            }
        };
        let Some(mut input) = child.stdin.take() else {
            return;
        };
        let (events, mut waiting) = mpsc::channel::<String>(WAITING_EVENTS);
        for text in source.producer().lasting_events() {
            // All of them fit: the channel is new.
            let _ = events.try_send(text);
        }
        tokio::spawn(async move {
            while let Some(mut text) = waiting.recv().await {
                text.push('\n');
                // A process that is gone is restarted after `ended`.
                if input.write_all(text.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        self.running = Some((child, events));
    }

    /// Stops speaking immediately.
    fn rest(&mut self) {
        // Dropping it ends the process.
        self.running = None;
    }

    /// Passes it an event; a speaker that accepts none is of no use.
    fn tell(&mut self, text: String) {
        if let Some((child, events)) = &mut self.running
            && events.try_send(text).is_err()
        {
            // It has ended by now, or it hangs; `ended` handles the rest.
            let _ = child.start_kill();
        }
    }

    /// Waits until it ends by itself.
    async fn ended(&mut self) {
        match &mut self.running {
            Some((child, _)) => {
                let _ = child.wait().await;
            }
            None => std::future::pending().await,
        }
    }

    /// Restarts it, up to a limit.
    fn again(&mut self, source: &RunningServer) {
        self.running = None;
        self.started += 1;
        self.begin(source);
    }

    /// Sends it no more events, and waits until it has finished speaking.
    async fn end(self) {
        if let Some((mut child, events)) = self.running {
            drop(events);
            let _ = tokio::time::timeout(LAST_WORDS, child.wait()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_a_name_that_can_be_watched() {
        for (program, name) in [
            ("opencode", "opencode"),
            ("/usr/bin/claude-agent-acp", "claude-agent-acp"),
            ("./my agent.sh", "myagent"),
            ("--", "agent"),
            ("", "agent"),
            ("agents/é.x", "agent"),
        ] {
            assert_eq!(named(Path::new(program)), name, "{program}");
        }
        assert_eq!(named(Path::new(&"x".repeat(99))).len(), LONGEST_NAME);
    }
}
