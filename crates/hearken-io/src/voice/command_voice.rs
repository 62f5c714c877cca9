//! Any program as a voice: one process per utterance, with the text as its input or as an argument.
//!
//! Responsibilities: starting the program in its own process group, feeding it, ending it with all
//! its children when the speech is stopped, telling a failing program from one that speaks. Not
//! here: its command line (`speech_program`), which program it is (`engine_choice`).
//!
//! No shell is involved. A text on the program's standard input is visible to that program only; a
//! text in an argument is visible to every user of the machine (`ps`), so the input is the better
//! way if the program supports it.

use std::collections::VecDeque;
use std::future::Future;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin};

use super::limits::Limits;
use super::speech_program::Program;
use super::{Voice, VoiceEvent};
use crate::announce::{Class, Mark, Reason, Sound, Utterance, UtteranceId};
use crate::config::Knob;
use crate::platform::processes::Tree;

/// The number of consecutive failures after which the voice is lost.
const FAILURES: u32 = 3;

/// The most bytes of a program's error output that are kept; the rest is read and discarded.
const COMPLAINTS: usize = 16 * 1024;

/// The interval for checking a program that was asked to end; it is not reaped before its group has
/// been killed, because the group's number could come to mean another group then.
const LOOK: Duration = Duration::from_millis(2);

/// A program that is speaking.
#[derive(Debug)]
struct SpeakingProgram {
    id: UtteranceId,
    child: Child,
    group: Option<Tree>,
    stdin: Option<ChildStdin>,
    unwritten: Vec<u8>,
    stderr: Option<ChildStderr>,
    complaints: Vec<u8>,
    until: Instant,
}

#[derive(Debug)]
enum CommandState {
    Idle,
    Saying(Box<SpeakingProgram>),
    Ending(Box<TerminatingCommand>),
}

/// A program that has been sent SIGTERM.
#[derive(Debug)]
pub(super) struct TerminatingCommand {
    child: Child,
    group: Option<Tree>,
    /// The time at which SIGKILL follows at the latest.
    kill_at: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandHealth {
    Well,
    Lost { try_at: Instant },
}

/// The next thing that happened to a running program.
enum ProgramNews {
    Exited(std::io::Result<ExitStatus>),
    Wrote(std::io::Result<usize>),
    Complained(std::io::Result<usize>),
    Overdue,
}

/// A voice that speaks through a program.
#[derive(Debug)]
pub(super) struct CommandVoice {
    program: Program,
    limits: Limits,
    state: CommandState,
    next: Option<Utterance>,
    news: VecDeque<VoiceEvent>,
    failures: u32,
    health: CommandHealth,
}

impl CommandVoice {
    pub(super) fn new(program: Program, limits: Limits) -> Self {
        Self {
            program,
            limits,
            state: CommandState::Idle,
            next: None,
            news: VecDeque::new(),
            failures: 0,
            health: CommandHealth::Well,
        }
    }

    /// Returns which properties of its sound can be adjusted.
    pub(super) fn knobs(&self) -> Vec<Knob> {
        self.program.knobs()
    }

    pub(super) fn engine(&self) -> Reason {
        self.program.engine()
    }

    /// Speaks a blank text, to learn whether the program can produce sound.
    pub(super) async fn works(&mut self) -> bool {
        let id = UtteranceId(u64::MAX);
        self.start(Utterance {
            id,
            class: Class::Stream,
            text: " ".to_owned(),
            language: None,
            mark: Mark::Agent,
            sound: Sound::default(),
        });
        let limit = self.limits.probe;
        let outcome = async {
            loop {
                match self.news().await {
                    VoiceEvent::Ended(_) => return true,
                    VoiceEvent::Cut(_) | VoiceEvent::Lost { .. } | VoiceEvent::None { .. } => {
                        return false;
                    }
                    VoiceEvent::Begun(_)
                    | VoiceEvent::Ready { .. }
                    | VoiceEvent::Recovered { .. }
                    | VoiceEvent::Adjustable { .. }
                    | VoiceEvent::Cues { .. }
                    | VoiceEvent::Notice { .. } => {}
                }
            }
        };
        let works = tokio::time::timeout(limit, outcome).await;
        self.stop();
        self.failures = 0;
        works.unwrap_or(false)
    }

    fn start(&mut self, utterance: Utterance) {
        let id = utterance.id;
        if let CommandHealth::Lost { try_at } = self.health
            && Instant::now() < try_at
        {
            return self.news.push_back(VoiceEvent::Cut(id));
        }
        let (mut command, input) = self.program.command(&utterance);
        match command.spawn() {
            Ok(mut child) => {
                self.news.push_back(VoiceEvent::Begun(id));
                self.state = CommandState::Saying(Box::new(SpeakingProgram {
                    id,
                    group: Tree::of(&child),
                    stdin: child.stdin.take(),
                    unwritten: input.unwrap_or_default(),
                    stderr: child.stderr.take(),
                    complaints: Vec::new(),
                    until: Instant::now() + self.limits.end_of(&utterance.text),
                    child,
                }));
            }
            Err(error) => self.failed(
                id,
                Reason::new("voice.cause.how.not_started")
                    .because("why", Reason::of_system(&error)),
            ),
        }
    }

    /// Reports an utterance that was not spoken, and the loss of the voice after one failure too many.
    fn failed(&mut self, id: UtteranceId, how: Reason) {
        self.failures = self.failures.saturating_add(1);
        self.news.push_back(VoiceEvent::Cut(id));
        if self.failures < FAILURES {
            return;
        }
        if self.health == CommandHealth::Well {
            self.news.push_back(VoiceEvent::Lost {
                reason: Reason::new("voice.cause.program.failed")
                    .with("name", self.program.name())
                    .with("n", FAILURES)
                    .because("how", how),
            });
        }
        let wait = self.limits.backoff(self.failures - FAILURES);
        self.health = CommandHealth::Lost {
            try_at: Instant::now() + wait,
        };
    }

    fn succeeded(&mut self, id: UtteranceId) {
        self.failures = 0;
        if std::mem::replace(&mut self.health, CommandHealth::Well) != CommandHealth::Well {
            self.news.push_back(VoiceEvent::Recovered {
                engine: self.engine(),
            });
        }
        self.news.push_back(VoiceEvent::Ended(id));
    }

    /// Sends the group SIGTERM and leaves the rest to [`CommandVoice::news`].
    fn end(&mut self) -> Option<UtteranceId> {
        match std::mem::replace(&mut self.state, CommandState::Idle) {
            CommandState::Idle => None,
            CommandState::Saying(saying) => {
                let SpeakingProgram {
                    id, child, group, ..
                } = *saying;
                group.iter().for_each(Tree::ask_to_end);
                let ending = TerminatingCommand::new(child, group, self.limits.term);
                self.state = CommandState::Ending(Box::new(ending));
                Some(id)
            }
            ending @ CommandState::Ending(_) => {
                self.state = ending;
                None
            }
        }
    }

    fn turned(&mut self, turn: ProgramNews) {
        let CommandState::Saying(saying) = &mut self.state else {
            return;
        };
        match turn {
            ProgramNews::Wrote(Ok(count)) if count > 0 => {
                saying.unwritten.drain(..count.min(saying.unwritten.len()));
                if saying.unwritten.is_empty() {
                    saying.stdin = None;
                }
            }
            // It does not read its input, perhaps for a good reason; its exit status decides.
            ProgramNews::Wrote(Ok(_) | Err(_)) => saying.stdin = None,
            ProgramNews::Complained(Ok(count)) if count > 0 => {}
            ProgramNews::Complained(Ok(_) | Err(_)) => saying.stderr = None,
            ProgramNews::Overdue => {
                if let Some(id) = self.end() {
                    self.failed(id, Reason::new("voice.cause.how.endless"));
                }
            }
            ProgramNews::Exited(status) => {
                let id = saying.id;
                let silent = self.program.confesses() && saying.has_error();
                self.state = CommandState::Idle;
                match status {
                    Ok(status) if status.success() && !silent => self.succeeded(id),
                    Ok(status) if status.success() => {
                        self.failed(id, Reason::new("voice.cause.how.no_device"));
                    }
                    Ok(status) => self.failed(
                        id,
                        Reason::new("voice.cause.how.ended").with("status", status),
                    ),
                    Err(error) => self.failed(
                        id,
                        Reason::new("voice.cause.how.not_waited")
                            .because("why", Reason::of_system(&error)),
                    ),
                }
            }
        }
    }
}

impl SpeakingProgram {
    /// Waits until the program ends, accepts some of its input, writes an error, or is overdue.
    async fn turn(&mut self) -> ProgramNews {
        let (stdin, stderr) = (&mut self.stdin, &mut self.stderr);
        let write = async {
            match stdin {
                Some(stdin) => stdin.write(&self.unwritten).await,
                None => std::future::pending().await,
            }
        };
        let complaints = &mut self.complaints;
        let complain = async {
            match stderr {
                Some(stderr) => read_some(stderr, complaints).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            status = self.child.wait() => ProgramNews::Exited(status),
            count = write => ProgramNews::Wrote(count),
            count = complain => ProgramNews::Complained(count),
            () = tokio::time::sleep_until(self.until.into()) => ProgramNews::Overdue,
        }
    }

    /// Returns whether the program reported an error, after reading its last output.
    fn has_error(&mut self) -> bool {
        while let Some(stderr) = &mut self.stderr {
            match read_some(stderr, &mut self.complaints).now_or_never() {
                Some(Ok(count)) if count > 0 => {}
                Some(Ok(_) | Err(_)) | None => self.stderr = None,
            }
        }
        self.complaints
            .split(|byte| *byte == b'\n')
            .any(|line| line.starts_with(b"error:"))
    }
}

/// Reads once and keeps up to [`COMPLAINTS`] bytes in total.
async fn read_some(stderr: &mut ChildStderr, kept: &mut Vec<u8>) -> std::io::Result<usize> {
    let mut chunk = [0; 1024];
    let count = stderr.read(&mut chunk).await?;
    let room = COMPLAINTS.saturating_sub(kept.len());
    kept.extend_from_slice(&chunk[..count.min(room)]);
    Ok(count)
}

impl TerminatingCommand {
    /// Takes over a program that was asked to end; it is killed after `wait`.
    pub(super) fn new(child: Child, group: Option<Tree>, wait: Duration) -> Self {
        Self {
            child,
            group,
            kill_at: Instant::now() + wait,
        }
    }

    /// Kills what is left of the group at once.
    pub(super) fn kill(&self) {
        self.group.iter().for_each(Tree::kill);
    }

    /// Returns whether the program has ended, without reaping it.
    fn has_ended(&mut self) -> bool {
        let group = self.group.as_ref();
        group.is_none_or(|group| group.has_ended(&mut self.child))
    }

    /// Gives the program a little time to end, kills what is left of its group, and reaps it.
    ///
    /// One that can't even be killed (it hangs in the kernel) is left to the runtime after `limit`.
    pub(super) async fn finish(&mut self, limit: Duration) -> Option<ExitStatus> {
        while !self.has_ended() && Instant::now() < self.kill_at {
            tokio::time::sleep(LOOK).await;
        }
        self.kill();
        let ended = tokio::time::timeout(limit, self.child.wait()).await;
        ended.ok()?.ok()
    }
}

impl Voice for CommandVoice {
    fn speak(&mut self, utterance: Utterance) {
        self.stop();
        match self.state {
            CommandState::Idle => self.start(utterance),
            CommandState::Saying(_) | CommandState::Ending(_) => self.next = Some(utterance),
        }
    }

    fn stop(&mut self) {
        self.next = None;
        self.news.retain(|event| !event.is_of_utterance());
        self.end();
    }

    async fn news(&mut self) -> VoiceEvent {
        loop {
            if let Some(event) = self.news.pop_front() {
                return event;
            }
            match &mut self.state {
                CommandState::Idle => match self.next.take() {
                    Some(next) => self.start(next),
                    None => std::future::pending().await,
                },
                CommandState::Saying(saying) => {
                    let turn = saying.turn().await;
                    self.turned(turn);
                }
                CommandState::Ending(ending) => {
                    ending.finish(self.limits.call).await;
                    self.state = CommandState::Idle;
                }
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = ()> {
        self.stop();
        async {
            if let CommandState::Ending(ending) = &mut self.state {
                ending.finish(self.limits.call).await;
                self.state = CommandState::Idle;
            }
        }
    }
}

impl Drop for CommandVoice {
    /// Leaves nothing speaking even if the voice was never closed.
    fn drop(&mut self) {
        match &self.state {
            CommandState::Idle => {}
            CommandState::Saying(saying) => saying.group.iter().for_each(Tree::kill),
            CommandState::Ending(ending) => ending.kill(),
        }
    }
}
