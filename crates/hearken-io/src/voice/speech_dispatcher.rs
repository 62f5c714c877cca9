//! speech-dispatcher over its socket: connecting, starting the daemon, reconnecting after a loss.
//!
//! Responsibilities: the socket, starting the daemon as its own clients do, backoff, and which of
//! the conversation's news the person hears as lost and recovered. Not here: the conversation
//! (`dialogue`), which socket (`engine_choice`).

use std::collections::VecDeque;
use std::future::Future;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Stdio;
use std::time::Instant;

use super::dialogue::{DaemonFault, Dialogue, DialogueEvent, Greeting, ReportedProblems};
use super::limits::Limits;
use super::useless_daemon;
use super::worker::at;
use super::{Voice, VoiceEvent};
use crate::announce::{Reason, Utterance};
use crate::config::Knob;
use crate::platform::processes::alone;
use crate::platform::sockets::UnixStream;

/// The engine's name as a person knows it.
pub(super) const NAME: &str = "speech-dispatcher";

/// The bytes read at a time.
const CHUNK: usize = 8 * 1024;

/// How often to check for a socket while the daemon starts.
const LOOK: std::time::Duration = std::time::Duration::from_millis(50);

/// Where the daemon is and how to start it.
#[derive(Debug, Clone)]
pub(super) struct DaemonFiles {
    /// The socket.
    pub socket: PathBuf,
    /// The daemon's program, if it is installed.
    pub program: Option<PathBuf>,
}

type Connecting = Pin<Box<dyn Future<Output = Result<(UnixStream, Origin), DaemonFault>>>>;

/// How the daemon was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It was already running.
    Found,
    /// It was started for this connection.
    Started,
}

/// The state of the voice's connection.
enum ConnectionState {
    /// Nothing happens until then.
    Waiting(Instant),
    /// The attempt is kept here, so that an order in between does not restart it.
    Connecting(Connecting),
    Up(Box<Connection>),
}

/// Whether the person has heard that the voice is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DaemonHealth {
    Well,
    Lost,
}

/// A voice that speaks through speech-dispatcher.
pub(super) struct SpeechDispatcher {
    place: DaemonFiles,
    greeting: Greeting,
    limits: Limits,
    told: ReportedProblems,
    state: ConnectionState,
    news: VecDeque<VoiceEvent>,
    attempt: u32,
    health: DaemonHealth,
    origin: Origin,
}

impl SpeechDispatcher {
    /// Connects, starts the daemon if necessary, and tests whether it can produce sound.
    pub(super) async fn open(
        place: DaemonFiles,
        greeting: Greeting,
        limits: Limits,
    ) -> Result<Self, DaemonFault> {
        let state = ConnectionState::Connecting(Box::pin(connect(place.clone(), limits)));
        let mut voice = Self {
            place,
            greeting,
            limits,
            told: ReportedProblems::default(),
            state,
            news: VecDeque::new(),
            attempt: 0,
            health: DaemonHealth::Well,
            origin: Origin::Found,
        };
        loop {
            let news = match voice.step().await {
                Ok(news) => news,
                Err(DaemonFault::NoSound) if voice.origin == Origin::Started => {
                    useless_daemon::end(&voice.place.socket).await;
                    return Err(DaemonFault::NoSoundOfOurs);
                }
                Err(fault) => return Err(fault),
            };
            match news {
                DialogueEvent::Opened => {
                    let adjustable = voice.adjustable();
                    voice.news.push_back(adjustable);
                    return Ok(voice);
                }
                DialogueEvent::Notice(text) => voice.news.push_back(VoiceEvent::Notice { text }),
                DialogueEvent::Begun(_)
                | DialogueEvent::Ended(_)
                | DialogueEvent::Cut(_)
                | DialogueEvent::Failed(_) => {}
            }
        }
    }

    /// Returns what can be adjusted, and the person's own settings.
    fn adjustable(&mut self) -> VoiceEvent {
        let usual = self
            .connection()
            .map(|connection| connection.dialogue.usual())
            .unwrap_or_default();
        VoiceEvent::Adjustable {
            knobs: Knob::ALL.to_vec(),
            usual,
        }
    }

    /// Waits for the conversation's next news, connecting first if necessary.
    async fn step(&mut self) -> Result<DialogueEvent, DaemonFault> {
        loop {
            match &mut self.state {
                ConnectionState::Waiting(until) => {
                    at(Some(*until)).await;
                    self.state = ConnectionState::Connecting(Box::pin(connect(
                        self.place.clone(),
                        self.limits,
                    )));
                }
                ConnectionState::Connecting(attempt) => {
                    let stream = attempt.as_mut().await;
                    let told = self.told.clone();
                    let now = Instant::now();
                    let dialogue = Dialogue::new(self.greeting.clone(), told, self.limits, now);
                    // The finished attempt must not be polled again, whatever its outcome.
                    self.state = ConnectionState::Waiting(now);
                    let (stream, origin) = stream?;
                    self.origin = origin;
                    self.state = ConnectionState::Up(Box::new(Connection {
                        stream,
                        dialogue,
                        opened: false,
                    }));
                }
                ConnectionState::Up(connection) => match connection.turn().await {
                    DialogueEvent::Failed(fault) => return Err(fault),
                    DialogueEvent::Opened => {
                        connection.opened = true;
                        return Ok(DialogueEvent::Opened);
                    }
                    news @ (DialogueEvent::Begun(_)
                    | DialogueEvent::Ended(_)
                    | DialogueEvent::Cut(_)
                    | DialogueEvent::Notice(_)) => {
                        return Ok(news);
                    }
                },
            }
        }
    }

    /// Drops the connection and schedules the next attempt.
    fn retire(&mut self) {
        let wait = self.limits.backoff(self.attempt);
        self.attempt = self.attempt.saturating_add(1);
        let state = std::mem::replace(
            &mut self.state,
            ConnectionState::Waiting(Instant::now() + wait),
        );
        if let ConnectionState::Up(mut connection) = state {
            // A last CANCEL keeps a stuck daemon from speaking old words when it recovers.
            connection.push();
            self.told = connection.dialogue.into_told();
        }
    }

    /// Translates the conversation's news into the voice's.
    fn tell(&mut self, news: DialogueEvent) -> Option<VoiceEvent> {
        match news {
            DialogueEvent::Opened => {
                match std::mem::replace(&mut self.health, DaemonHealth::Well) {
                    DaemonHealth::Well => None,
                    DaemonHealth::Lost => Some(VoiceEvent::Recovered {
                        engine: Reason::said(NAME),
                    }),
                }
            }
            DialogueEvent::Begun(id) => {
                self.attempt = 0;
                Some(VoiceEvent::Begun(id))
            }
            DialogueEvent::Ended(id) => Some(VoiceEvent::Ended(id)),
            DialogueEvent::Cut(id) => Some(VoiceEvent::Cut(id)),
            DialogueEvent::Notice(text) => Some(VoiceEvent::Notice { text }),
            DialogueEvent::Failed(fault) => self.lost(&fault),
        }
    }

    fn lost(&mut self, fault: &DaemonFault) -> Option<VoiceEvent> {
        self.retire();
        match std::mem::replace(&mut self.health, DaemonHealth::Lost) {
            DaemonHealth::Well => Some(VoiceEvent::Lost {
                reason: fault.reason(),
            }),
            DaemonHealth::Lost => None,
        }
    }

    fn connection(&mut self) -> Option<&mut Connection> {
        match &mut self.state {
            ConnectionState::Up(connection) if connection.opened => Some(connection),
            ConnectionState::Up(_)
            | ConnectionState::Connecting(_)
            | ConnectionState::Waiting(_) => None,
        }
    }
}

impl Voice for SpeechDispatcher {
    fn speak(&mut self, utterance: Utterance) {
        match self.connection() {
            Some(connection) => {
                connection.dialogue.speak(utterance, Instant::now());
                connection.push();
            }
            None => self.news.push_back(VoiceEvent::Cut(utterance.id)),
        }
    }

    fn stop(&mut self) {
        if let Some(connection) = self.connection() {
            connection.dialogue.stop(Instant::now());
            connection.push();
        }
    }

    async fn news(&mut self) -> VoiceEvent {
        loop {
            if let Some(event) = self.news.pop_front() {
                return event;
            }
            let event = match self.step().await {
                Ok(news) => self.tell(news),
                Err(fault) => self.lost(&fault),
            };
            if let Some(event) = event {
                return event;
            }
        }
    }

    async fn close(&mut self) {
        let Some(connection) = self.connection() else {
            return;
        };
        connection.dialogue.stop(Instant::now());
        connection.push();
        while !connection.dialogue.is_quiet() {
            if let DialogueEvent::Failed(_) = connection.turn_until_quiet().await {
                return;
            }
        }
        connection.dialogue.quit(Instant::now());
        connection.push();
    }
}

/// One connection and its conversation.
struct Connection {
    stream: UnixStream,
    dialogue: Dialogue,
    opened: bool,
}

impl Connection {
    /// Writes as much as possible without waiting.
    fn push(&mut self) {
        while !self.dialogue.outgoing().is_empty() {
            match self.stream.try_write(self.dialogue.outgoing()) {
                Ok(0) => return self.dialogue.fail(DaemonFault::Closed),
                Ok(count) => self.dialogue.wrote(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => return self.dialogue.fail(fault_of(&error)),
            }
        }
    }

    /// Reads what is available without waiting.
    fn pull(&mut self) {
        let mut chunk = [0; CHUNK];
        match self.stream.try_read(&mut chunk) {
            Ok(0) => self.dialogue.fail(DaemonFault::Closed),
            Ok(count) => self.dialogue.receive(&chunk[..count], Instant::now()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => self.dialogue.fail(fault_of(&error)),
        }
    }

    /// Transfers bytes both ways until there is news; may be dropped at any time.
    async fn turn(&mut self) -> DialogueEvent {
        loop {
            if let Some(news) = self.dialogue.news() {
                return news;
            }
            self.exchange().await;
        }
    }

    /// Transfers bytes both ways until there is news or nothing more to wait for.
    async fn turn_until_quiet(&mut self) -> DialogueEvent {
        loop {
            if let Some(news) = self.dialogue.news() {
                return news;
            }
            if self.dialogue.is_quiet() {
                return DialogueEvent::Opened;
            }
            self.exchange().await;
        }
    }

    async fn exchange(&mut self) {
        self.push();
        let waiting = !self.dialogue.outgoing().is_empty();
        let deadline = self.dialogue.deadline();
        tokio::select! {
            biased;
            ready = self.stream.readable() => match ready {
                Ok(()) => self.pull(),
                Err(error) => self.dialogue.fail(fault_of(&error)),
            },
            ready = self.stream.writable(), if waiting => {
                if let Err(error) = ready {
                    self.dialogue.fail(fault_of(&error));
                }
            }
            () = at(deadline), if deadline.is_some() => {}
        }
        self.dialogue.expire(Instant::now());
        // A daemon that never pauses must not keep the thread from a stop.
        tokio::task::yield_now().await;
    }
}

fn fault_of(error: &std::io::Error) -> DaemonFault {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => DaemonFault::Closed,
        kind => DaemonFault::Broken(kind),
    }
}

/// Connects, starting the daemon if it is not listening and its program is installed.
async fn connect(place: DaemonFiles, limits: Limits) -> Result<(UnixStream, Origin), DaemonFault> {
    let error = match attempt(&place.socket, limits).await {
        Ok(stream) => return Ok((stream, Origin::Found)),
        Err(error) => error,
    };
    if !matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::ConnectionRefused
    ) {
        return Err(DaemonFault::Unreachable(Reason::of_system(&error)));
    }
    let Some(program) = &place.program else {
        return Err(DaemonFault::Unreachable(Reason::new(
            "voice.cause.daemon.not_installed",
        )));
    };
    let started = async {
        spawn(program, &place.socket).await?;
        // The program returns when the daemon is up, but the socket may appear a little later.
        loop {
            match attempt(&place.socket, limits).await {
                Ok(stream) => return Ok((stream, Origin::Started)),
                Err(_) => tokio::time::sleep(LOOK).await,
            }
        }
    };
    match tokio::time::timeout(limits.spawn, started).await {
        Ok(stream) => stream,
        Err(_) => Err(DaemonFault::Unreachable(
            Reason::new("voice.cause.daemon.slow").with("n", limits.spawn.as_secs()),
        )),
    }
}

async fn attempt(socket: &Path, limits: Limits) -> std::io::Result<UnixStream> {
    tokio::time::timeout(limits.call, UnixStream::connect(socket))
        .await
        .unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

/// How many seconds a daemon that we started stays without any client: long enough for the next program to find it, and
/// short enough that nothing of ours is left behind. Its own settings may say "forever".
const CLIENTLESS: &str = "10";

/// Starts the daemon with the flags that its own client library uses, and the time after which it ends by itself when
/// no client is left. We do not end it, because a screen reader may be using it by then; only a daemon without sound,
/// which is useless to any client, is ended (`useless_daemon`).
///
/// It puts itself into the background; the person may have forbidden the start (`DisableAutoSpawn`), which shows as an
/// exit status.
async fn spawn(program: &Path, socket: &Path) -> Result<(), DaemonFault> {
    let mut command = tokio::process::Command::new(program);
    command
        .arg("--spawn")
        .args(["--timeout", CLIENTLESS])
        .args(["--communication-method", "unix_socket"])
        .arg("--socket-path")
        .arg(socket)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let status = alone(&mut command).status().await.map_err(|error| {
        DaemonFault::Unreachable(
            Reason::new("voice.cause.daemon.not_started").because("why", Reason::of_system(&error)),
        )
    })?;
    if status.success() {
        Ok(())
    } else {
        Err(DaemonFault::Unreachable(
            Reason::new("voice.cause.daemon.does_not_start").with("status", status),
        ))
    }
}
