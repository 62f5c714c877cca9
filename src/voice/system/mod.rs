//! The platform's own speech, in a child process, so that its faults can't reach the pane.
//!
//! Responsibilities: starting the child, one utterance in it at a time, a time limit for every order,
//! killing it when it hangs and starting it again with backoff. Not here: the lines between the two
//! (`message`), the child's side (`child`, `platform`).
//!
//! A mental model. The child is this very program with a hidden command. It gets orders on its
//! standard input and tells on its standard output, a JSON object a line. Whatever goes wrong with it,
//! a crash, a hang, a line that is none, has one answer: it is killed with its process group, what was
//! being said is cut, and a new one is started after a wait that doubles each time. It ends by itself
//! when its orders end, so that nothing is left speaking when this program is killed.
//!
//! ```text
//! -> {"order":"speak","id":1,"text":"hello",…}
//! <- {"told":"taken","id":1}   {"told":"begun","id":1}   {"told":"ended","id":1}
//! -> {"order":"stop"}
//! <- {"told":"silent"}
//! ```

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::limits::Limits;
use super::worker::at;
use super::{Voice, VoiceEvent, ssip};
use crate::announce::utterance::{Utterance, UtteranceId};

#[cfg(any(test, feature = "system-voice", target_os = "macos", windows))]
mod child;
mod message;
#[cfg(any(feature = "system-voice", target_os = "macos", windows))]
mod platform;
#[cfg(test)]
mod tests;

use message::{Garbage, Lines, Order, Told, Words, line};

/// The hidden command of this program that makes it the child.
pub const COMMAND: &str = "system-voice";

/// How much is read at a time.
const CHUNK: usize = 8 * 1024;

/// Bounds what a child that does not read may keep waiting: two texts of the longest kind, in JSON.
const OUTGOING: usize = 1024 * 1024;

/// How long the child's engine has to fall silent when its orders have ended; then it is left to hang.
#[cfg(any(feature = "system-voice", target_os = "macos", windows))]
const FAREWELL: Duration = Duration::from_millis(300);

/// How long the child has to end after its orders were closed, before it is killed.
const LEAVE: Duration = Duration::from_millis(150);

/// Says where the child's program is.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The program; this one, but for tests.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What is put into its environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Says why the child is no voice (any more), as a plain sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// It could not be started.
    #[error("the system's speech can't be started: {0}")]
    Start(String),
    /// It ended, which only a crash does.
    #[error("the system's speech ended by itself")]
    Ended,
    /// It did not do in time what it was ordered.
    #[error("the system's speech does not answer")]
    Mute,
    /// Words were taken and never began.
    #[error("the system's speech takes the words but never begins to speak")]
    NeverBegan,
    /// Words began and did not end in many times the time they need.
    #[error("the system's speech began to speak and got stuck")]
    NeverEnded,
    /// It told something else than was agreed.
    #[error("the system's speech answers with something that is none")]
    Garbage,
    /// Its engine failed, as it says itself.
    #[error("{0}")]
    Engine(String),
}

impl From<Garbage> for Fault {
    fn from(Garbage: Garbage) -> Self {
        Self::Garbage
    }
}

/// How far what was ordered has got.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// The child has not told yet that it is there.
    Starting { until: Instant },
    /// Nothing is being said.
    Idle,
    /// The words were sent.
    Asked {
        id: u64,
        longest: Duration,
        until: Instant,
    },
    /// The engine has them.
    Queued {
        id: u64,
        longest: Duration,
        until: Instant,
    },
    /// They can be heard.
    Sounding { id: u64, until: Instant },
}

/// What a child has told, in the voice's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
enum News {
    Opened(String),
    Begun(UtteranceId),
    Ended(UtteranceId),
    Cut(UtteranceId),
    Notice(String),
}

/// One child with what it was ordered.
#[derive(Debug)]
struct Link {
    child: Child,
    group: Option<Pid>,
    stdin: ChildStdin,
    stdout: ChildStdout,
    outgoing: Vec<u8>,
    lines: Lines,
    stage: Stage,
    /// Until when a stop must be obeyed, one for each that was not yet.
    stops: VecDeque<Instant>,
    limits: Limits,
}

/// What the voice is doing about its child.
#[derive(Debug)]
enum State {
    /// Nothing until then.
    Waiting(Instant),
    Up(Box<Link>),
}

/// Whether the person was told that the voice is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Well,
    Lost,
}

/// Speaks by the platform's own speech.
#[derive(Debug)]
pub(super) struct SystemVoice {
    place: Place,
    own_pitch: i32,
    limits: Limits,
    state: State,
    engine: String,
    news: VecDeque<VoiceEvent>,
    attempt: u32,
    health: Health,
}

impl SystemVoice {
    /// Starts the child and waits for its engine.
    pub(super) async fn open(place: Place, own_pitch: i32, limits: Limits) -> Result<Self, Fault> {
        let mut voice = Self {
            state: State::Up(Box::new(Link::start(&place, limits)?)),
            place,
            own_pitch,
            limits,
            engine: String::new(),
            news: VecDeque::new(),
            attempt: 0,
            health: Health::Well,
        };
        loop {
            match voice.step().await? {
                News::Opened(engine) => {
                    voice.engine = engine;
                    return Ok(voice);
                }
                News::Notice(text) => voice.news.push_back(VoiceEvent::Notice { text }),
                News::Begun(_) | News::Ended(_) | News::Cut(_) => {}
            }
        }
    }

    /// Gives the engine's name as the child told it.
    pub(super) fn engine(&self) -> String {
        self.engine.clone()
    }

    /// Waits for the child's next news, starting one first where that is needed.
    async fn step(&mut self) -> Result<News, Fault> {
        loop {
            match &mut self.state {
                State::Waiting(until) => {
                    at(Some(*until)).await;
                    self.state = State::Up(Box::new(Link::start(&self.place, self.limits)?));
                }
                State::Up(link) => return link.turn().await,
            }
        }
    }

    /// Kills the child and plans the next one; gives what the person is told.
    fn lost(&mut self, fault: &Fault) -> Option<VoiceEvent> {
        let wait = self.limits.backoff(self.attempt);
        self.attempt = self.attempt.saturating_add(1);
        self.state = State::Waiting(Instant::now() + wait);
        match std::mem::replace(&mut self.health, Health::Lost) {
            Health::Well => Some(VoiceEvent::Lost {
                reason: fault.to_string(),
            }),
            Health::Lost => None,
        }
    }

    fn tell(&mut self, news: News) -> Option<VoiceEvent> {
        match news {
            News::Opened(engine) => {
                self.engine.clone_from(&engine);
                match std::mem::replace(&mut self.health, Health::Well) {
                    Health::Well => None,
                    Health::Lost => Some(VoiceEvent::Recovered { engine }),
                }
            }
            News::Begun(id) => {
                self.attempt = 0;
                Some(VoiceEvent::Begun(id))
            }
            News::Ended(id) => Some(VoiceEvent::Ended(id)),
            News::Cut(id) => Some(VoiceEvent::Cut(id)),
            News::Notice(text) => Some(VoiceEvent::Notice { text }),
        }
    }

    fn link(&mut self) -> Option<&mut Link> {
        match &mut self.state {
            State::Up(link) => match link.stage {
                Stage::Starting { .. } => None,
                Stage::Idle
                | Stage::Asked { .. }
                | Stage::Queued { .. }
                | Stage::Sounding { .. } => Some(link),
            },
            State::Waiting(_) => None,
        }
    }
}

impl Voice for SystemVoice {
    fn speak(&mut self, utterance: Utterance) {
        let own_pitch = self.own_pitch;
        let id = utterance.id;
        // What is nothing but control characters has nothing to say; an empty text hangs the engine.
        let text = ssip::clean(&utterance.text).replace('\n', " ");
        if text.trim().is_empty() {
            return self.news.push_back(VoiceEvent::Ended(id));
        }
        match self.link() {
            Some(link) => link.speak(Words::of(utterance, text, own_pitch)),
            None => self.news.push_back(VoiceEvent::Cut(id)),
        }
    }

    fn stop(&mut self) {
        if let Some(link) = self.link() {
            link.stop();
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
        let state = std::mem::replace(&mut self.state, State::Waiting(Instant::now()));
        if let State::Up(link) = state {
            link.close().await;
        }
    }
}

impl Link {
    fn start(place: &Place, limits: Limits) -> Result<Self, Fault> {
        let mut child = Command::new(&place.program)
            .args(&place.arguments)
            .envs(place.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Fault::Start(error.to_string()))?;
        let group = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Fault::Start("it has no input or output".to_owned()));
        };
        Ok(Self {
            child,
            group,
            stdin,
            stdout,
            outgoing: Vec::new(),
            lines: Lines::default(),
            stage: Stage::Starting {
                until: Instant::now() + limits.spawn,
            },
            stops: VecDeque::new(),
            limits,
        })
    }

    fn speak(&mut self, words: Words) {
        self.stop();
        self.stage = Stage::Asked {
            id: words.id,
            longest: self.limits.end_of(&words.text),
            until: Instant::now() + self.limits.call,
        };
        self.outgoing.extend(line(&Order::Speak(words)));
    }

    fn stop(&mut self) {
        match self.stage {
            Stage::Starting { .. } | Stage::Idle => {}
            Stage::Asked { .. } | Stage::Queued { .. } | Stage::Sounding { .. } => {
                self.stage = Stage::Idle;
                self.stops.push_back(Instant::now() + self.limits.call);
                self.outgoing.extend(line(&Order::Stop));
            }
        }
    }

    /// Gives the moment at which the child has missed a time limit, and which one.
    fn deadline(&self) -> Option<(Instant, Fault)> {
        let stage = match self.stage {
            Stage::Starting { until } | Stage::Asked { until, .. } => Some((until, Fault::Mute)),
            Stage::Queued { until, .. } => Some((until, Fault::NeverBegan)),
            Stage::Sounding { until, .. } => Some((until, Fault::NeverEnded)),
            Stage::Idle => None,
        };
        let stop = self.stops.front().map(|until| (*until, Fault::Mute));
        [stage, stop]
            .into_iter()
            .flatten()
            .min_by_key(|(until, _)| *until)
    }

    /// Carries bytes both ways until there is news; it may be dropped at any time.
    async fn turn(&mut self) -> Result<News, Fault> {
        loop {
            while let Some(told) = self.lines.next()? {
                if let Some(news) = self.hear(told)? {
                    return Ok(news);
                }
            }
            if self.outgoing.len() > OUTGOING {
                return Err(Fault::Mute);
            }
            self.exchange().await?;
        }
    }

    /// Writes and reads once, or finds that a time limit has passed.
    async fn exchange(&mut self) -> Result<(), Fault> {
        let deadline = self.deadline();
        let waiting = !self.outgoing.is_empty();
        let mut chunk = [0; CHUNK];
        tokio::select! {
            biased;
            wrote = self.stdin.write(&self.outgoing), if waiting => match wrote {
                Ok(count) if count > 0 => {
                    self.outgoing.drain(..count);
                }
                Ok(_) | Err(_) => return Err(Fault::Ended),
            },
            read = self.stdout.read(&mut chunk) => match read {
                Ok(count) if count > 0 => self.lines.feed(&chunk[..count]),
                Ok(_) | Err(_) => return Err(Fault::Ended),
            },
            () = at(deadline.as_ref().map(|(until, _)| *until)), if deadline.is_some() => {
                if let Some((_, fault)) = deadline {
                    return Err(fault);
                }
            }
        }
        // A child that never pauses must not keep the thread from a stop.
        tokio::task::yield_now().await;
        Ok(())
    }

    /// Takes what the child told; what it tells of words that were stopped is no news any more.
    fn hear(&mut self, told: Told) -> Result<Option<News>, Fault> {
        let now = Instant::now();
        let limits = self.limits;
        match told {
            Told::Ready { engine } => {
                if matches!(self.stage, Stage::Starting { .. }) {
                    self.stage = Stage::Idle;
                    return Ok(Some(News::Opened(engine)));
                }
            }
            Told::Taken { id } => {
                if let Stage::Asked {
                    id: ours, longest, ..
                } = self.stage
                    && ours == id
                {
                    self.stage = Stage::Queued {
                        id,
                        longest,
                        until: now + limits.begin,
                    };
                }
            }
            Told::Begun { id } => {
                if let Stage::Asked {
                    id: ours, longest, ..
                }
                | Stage::Queued {
                    id: ours, longest, ..
                } = self.stage
                    && ours == id
                {
                    self.stage = Stage::Sounding {
                        id,
                        until: now + longest,
                    };
                    return Ok(Some(News::Begun(UtteranceId(id))));
                }
            }
            Told::Ended { id } if self.is_about(id) => {
                self.stage = Stage::Idle;
                return Ok(Some(News::Ended(UtteranceId(id))));
            }
            Told::Cut { id } if self.is_about(id) => {
                self.stage = Stage::Idle;
                return Ok(Some(News::Cut(UtteranceId(id))));
            }
            Told::Ended { .. } | Told::Cut { .. } => {}
            Told::Silent => {
                self.stops.pop_front();
            }
            Told::Looking => {
                // The list of voices takes its time, for the words and for a stop behind them.
                if let Stage::Asked { until, .. } = &mut self.stage {
                    *until = now + limits.list;
                }
                for until in &mut self.stops {
                    *until = now + limits.list;
                }
            }
            Told::Notice { text } => return Ok(Some(News::Notice(text))),
            Told::Failed { reason } => return Err(Fault::Engine(reason)),
        }
        Ok(None)
    }

    fn is_about(&self, id: u64) -> bool {
        match self.stage {
            Stage::Asked { id: ours, .. }
            | Stage::Queued { id: ours, .. }
            | Stage::Sounding { id: ours, .. } => ours == id,
            Stage::Starting { .. } | Stage::Idle => false,
        }
    }

    /// Stops, closes the orders, and waits a moment for the child's own end; then it is killed.
    async fn close(mut self) {
        self.stop();
        while !self.outgoing.is_empty() || !self.stops.is_empty() {
            match self.lines.next() {
                Ok(Some(told)) => {
                    if self.hear(told).is_err() {
                        return;
                    }
                }
                Ok(None) => {
                    if self.exchange().await.is_err() {
                        return;
                    }
                }
                Err(Garbage) => return,
            }
        }
        let Self {
            child,
            group,
            stdin,
            stdout,
            ..
        } = &mut self;
        let _ = stdin.shutdown().await;
        let gone = async {
            let mut chunk = [0; CHUNK];
            while let Ok(count) = stdout.read(&mut chunk).await {
                if count == 0 {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(LEAVE, gone).await;
        kill(*group);
        let _ = child.wait().await;
    }
}

impl Drop for Link {
    /// Leaves no child behind, whatever became of it.
    fn drop(&mut self) {
        // A child that was waited for has no id any more, and its group's number may be another's.
        if self.child.id().is_some() {
            kill(self.group);
        }
    }
}

fn kill(group: Option<Pid>) {
    if let Some(group) = group
        && let Err(error) = rustix::process::kill_process_group(group, Signal::KILL)
    {
        tracing::debug!(%error, "the system's speech could not be killed");
    }
}

/// Is the child: obeys the orders on standard input until they end, with the platform's own speech.
#[cfg(any(feature = "system-voice", target_os = "macos", windows))]
pub fn run_child() -> ExitCode {
    let farewell = || {
        std::thread::sleep(FAREWELL);
        // The engine hangs in a call. Nothing of it may outlive the program.
        std::process::exit(1);
    };
    let mut output = std::io::stdout();
    child::serve(
        std::io::stdin(),
        &mut output,
        platform::Platform::open,
        farewell,
    );
    // Without destructors: an engine's may hang, and what it said was stopped.
    std::process::exit(0)
}

/// Is the child of a build that has no platform's own speech: says so and ends.
#[cfg(not(any(feature = "system-voice", target_os = "macos", windows)))]
pub fn run_child() -> ExitCode {
    use std::io::Write as _;
    let told = Told::Failed {
        reason: NOT_BUILT.to_owned(),
    };
    match std::io::stdout().write_all(&line(&told)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// What a build without the platform's own speech tells.
#[cfg(not(any(feature = "system-voice", target_os = "macos", windows)))]
const NOT_BUILT: &str = "this hearken was built without the system's own speech; build it with --features system-voice, which wants the packages libspeechd-dev and libclang-dev, or use --voice speech-dispatcher";
