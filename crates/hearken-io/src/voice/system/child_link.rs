//! One child with its orders and its reports.
//!
//! Responsibilities: the process and its pipes, the stages of an order, a time limit for each, the
//! child's end. Not here: starting the next one (the module above).

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::child_messages::{
    ChildOrder, ChildReport, Garbage, MessageParser, SpokenWords, Why, line,
};
use crate::announce::{Reason, UtteranceId};
use crate::platform::processes::{Tree, alone};
use crate::voice::limits::Limits;
use crate::voice::worker::at;

/// The bytes read at a time.
const CHUNK: usize = 8 * 1024;

/// The most bytes that may wait for a child that does not read: two texts of the longest kind, in JSON.
const OUTGOING: usize = 1024 * 1024;

/// How long the child may take to end after its orders were closed, before it is killed.
const LEAVE: Duration = Duration::from_millis(150);

/// The means by which a child speaks; its faults are reported under that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::voice) enum SpeechMeans {
    /// The system's own speech.
    System,
    /// NVDA.
    Nvda,
}

impl SpeechMeans {
    /// Returns the reason for when this very program, which is also the child, was not found.
    pub(in crate::voice) fn no_file(self) -> Reason {
        Reason::new(match self {
            Self::System => "voice.cause.system.no_file",
            Self::Nvda => "voice.cause.nvda.no_file",
        })
    }
}

/// The child's program and how to start it.
#[derive(Debug, Clone)]
pub(in crate::voice) struct ChildProgram {
    /// The program; this one, except in tests.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The variables added to its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The means by which it speaks.
    pub by: SpeechMeans,
    /// The socket of the daemon that produces the sound, if one does.
    pub daemon: Option<PathBuf>,
}

/// The reason why the child can't be used as a voice (any more).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::voice) enum ChildFault {
    /// It could not be started.
    Start(Reason),
    /// It ended, which happens only in a crash.
    Ended,
    /// It did not carry out an order in time.
    Mute,
    /// Words were accepted and never began.
    NeverBegan,
    /// Words began and did not end in many times the time they need.
    NeverEnded,
    /// It sent something outside the protocol.
    Garbage,
    /// Its engine failed, by its own report.
    Engine(Why),
}

impl ChildFault {
    /// Describes it for a person, who knows the voice by what speaks.
    pub(in crate::voice) fn reason(&self, by: SpeechMeans) -> Reason {
        let key = match (self, by) {
            (Self::Engine(why), SpeechMeans::System | SpeechMeans::Nvda) => return why.reason(),
            (Self::Start(_), SpeechMeans::System) => "voice.cause.system.not_started",
            (Self::Start(_), SpeechMeans::Nvda) => "voice.cause.nvda.not_started",
            (Self::Ended, SpeechMeans::System) => "voice.cause.system.ended",
            (Self::Ended, SpeechMeans::Nvda) => "voice.cause.nvda.ended",
            (Self::Mute, SpeechMeans::System) => "voice.cause.system.mute",
            (Self::Mute, SpeechMeans::Nvda) => "voice.cause.nvda.mute",
            (Self::NeverBegan, SpeechMeans::System) => "voice.cause.system.never_began",
            (Self::NeverBegan, SpeechMeans::Nvda) => "voice.cause.nvda.never_began",
            (Self::NeverEnded, SpeechMeans::System) => "voice.cause.system.never_ended",
            (Self::NeverEnded, SpeechMeans::Nvda) => "voice.cause.nvda.never_ended",
            (Self::Garbage, SpeechMeans::System) => "voice.cause.system.garbage",
            (Self::Garbage, SpeechMeans::Nvda) => "voice.cause.nvda.garbage",
        };
        match self {
            Self::Start(why) => Reason::new(key).because("why", why.clone()),
            Self::Ended
            | Self::Mute
            | Self::NeverBegan
            | Self::NeverEnded
            | Self::Garbage
            | Self::Engine(_) => Reason::new(key),
        }
    }
}

impl From<Garbage> for ChildFault {
    fn from(Garbage: Garbage) -> Self {
        Self::Garbage
    }
}

/// The progress of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OrderStage {
    /// The child has not reported yet that it is ready.
    Starting { until: Instant },
    /// Nothing is being spoken.
    Idle,
    /// The words have been sent.
    Asked {
        id: u64,
        longest: Duration,
        until: Instant,
    },
    /// The engine has accepted them.
    Queued {
        id: u64,
        longest: Duration,
        until: Instant,
    },
    /// They can be heard.
    Sounding { id: u64, until: Instant },
}

/// A child's report, in the voice's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SpeechReport {
    Opened(Reason),
    Begun(UtteranceId),
    Ended(UtteranceId),
    Cut(UtteranceId),
    Notice(Reason),
}

/// One child with its orders.
#[derive(Debug)]
pub(super) struct Link {
    child: Child,
    group: Option<Tree>,
    stdin: ChildStdin,
    stdout: ChildStdout,
    outgoing: Vec<u8>,
    lines: MessageParser,
    pub(super) stage: OrderStage,
    /// The deadlines of the stops that have not been obeyed yet.
    stops: VecDeque<Instant>,
    /// The latest end of the words that the engine has, if any.
    pub(super) busy: Option<Instant>,
    /// The latest end of a predecessor's words.
    leftover: Option<Instant>,
    limits: Limits,
}

impl Link {
    pub(super) fn start(
        place: &ChildProgram,
        limits: Limits,
        leftover: Option<Instant>,
    ) -> Result<Self, ChildFault> {
        let mut command = Command::new(&place.program);
        command
            .args(&place.arguments)
            .envs(place.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mut child = alone(&mut command)
            .spawn()
            .map_err(|error| ChildFault::Start(Reason::of_system(&error)))?;
        let group = Tree::of(&child);
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(ChildFault::Start(Reason::new(
                "voice.cause.system.no_pipes",
            )));
        };
        Ok(Self {
            child,
            group,
            stdin,
            stdout,
            outgoing: Vec::new(),
            lines: MessageParser::default(),
            stage: OrderStage::Starting {
                until: Instant::now() + limits.spawn,
            },
            stops: VecDeque::new(),
            busy: None,
            leftover,
            limits,
        })
    }

    pub(super) fn speak(&mut self, words: SpokenWords) {
        self.stop();
        let longest = self.limits.end_of(&words.text);
        let until = Instant::now() + self.limits.call;
        self.busy = Some(until + self.limits.begin + longest);
        self.stage = OrderStage::Asked {
            id: words.id,
            longest,
            until,
        };
        self.outgoing.extend(line(&ChildOrder::Speak(words)));
    }

    pub(super) fn stop(&mut self) {
        match self.stage {
            OrderStage::Starting { .. } | OrderStage::Idle => {}
            OrderStage::Asked { .. } | OrderStage::Queued { .. } | OrderStage::Sounding { .. } => {
                self.stage = OrderStage::Idle;
                self.stops.push_back(Instant::now() + self.limits.call);
                self.outgoing.extend(line(&ChildOrder::Stop));
            }
        }
    }

    /// Returns the next time limit for the child, and the fault of missing it.
    fn deadline(&self) -> Option<(Instant, ChildFault)> {
        let stage = match self.stage {
            OrderStage::Starting { until } | OrderStage::Asked { until, .. } => {
                Some((until, ChildFault::Mute))
            }
            OrderStage::Queued { until, .. } => Some((until, ChildFault::NeverBegan)),
            OrderStage::Sounding { until, .. } => Some((until, ChildFault::NeverEnded)),
            OrderStage::Idle => None,
        };
        let stop = self.stops.front().map(|until| (*until, ChildFault::Mute));
        [stage, stop]
            .into_iter()
            .flatten()
            .min_by_key(|(until, _)| *until)
    }

    /// Transfers bytes both ways until there is news; may be dropped at any time.
    pub(super) async fn turn(&mut self) -> Result<SpeechReport, ChildFault> {
        loop {
            while let Some(told) = self.lines.next()? {
                if let Some(news) = self.hear(told)? {
                    return Ok(news);
                }
            }
            if self.outgoing.len() > OUTGOING {
                return Err(ChildFault::Mute);
            }
            self.exchange().await?;
        }
    }

    /// Writes and reads once, or detects that a time limit has passed.
    async fn exchange(&mut self) -> Result<(), ChildFault> {
        let deadline = self.deadline();
        let waiting = !self.outgoing.is_empty();
        let mut chunk = [0; CHUNK];
        tokio::select! {
            biased;
            wrote = self.stdin.write(&self.outgoing), if waiting => match wrote {
                Ok(count) if count > 0 => {
                    self.outgoing.drain(..count);
                }
                Ok(_) | Err(_) => return Err(ChildFault::Ended),
            },
            read = self.stdout.read(&mut chunk) => match read {
                Ok(count) if count > 0 => self.lines.feed(&chunk[..count]),
                Ok(_) | Err(_) => return Err(ChildFault::Ended),
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

    /// Handles the child's report; a report about stopped words is no longer news.
    fn hear(&mut self, told: ChildReport) -> Result<Option<SpeechReport>, ChildFault> {
        let now = Instant::now();
        let limits = self.limits;
        match told {
            ChildReport::Ready { engine } => {
                if matches!(self.stage, OrderStage::Starting { .. }) {
                    self.stage = OrderStage::Idle;
                    return Ok(Some(SpeechReport::Opened(engine.reason())));
                }
            }
            ChildReport::Taken { id } => {
                if let OrderStage::Asked {
                    id: ours, longest, ..
                } = self.stage
                    && ours == id
                {
                    self.stage = OrderStage::Queued {
                        id,
                        longest,
                        until: self.leftover.map_or(now, |until| until.max(now)) + limits.begin,
                    };
                }
            }
            ChildReport::Begun { id } => {
                if let OrderStage::Asked {
                    id: ours, longest, ..
                }
                | OrderStage::Queued {
                    id: ours, longest, ..
                } = self.stage
                    && ours == id
                {
                    self.stage = OrderStage::Sounding {
                        id,
                        until: now + longest,
                    };
                    return Ok(Some(SpeechReport::Begun(UtteranceId(id))));
                }
            }
            ChildReport::Ended { id } if self.is_about(id) => {
                self.rest();
                return Ok(Some(SpeechReport::Ended(UtteranceId(id))));
            }
            ChildReport::Cut { id } if self.is_about(id) => {
                self.rest();
                return Ok(Some(SpeechReport::Cut(UtteranceId(id))));
            }
            ChildReport::Ended { .. } | ChildReport::Cut { .. } => {}
            ChildReport::Silent => {
                self.stops.pop_front();
                if self.stops.is_empty() && self.stage == OrderStage::Idle {
                    self.busy = None;
                }
            }
            ChildReport::Looking => {
                // The list of voices takes its time, for the words and for a stop after them.
                if let OrderStage::Asked { until, .. } = &mut self.stage {
                    *until = now + limits.list;
                }
                for until in &mut self.stops {
                    *until = now + limits.list;
                }
            }
            ChildReport::Notice { what } => return Ok(Some(SpeechReport::Notice(what.reason()))),
            ChildReport::Failed { why } => return Err(ChildFault::Engine(why)),
        }
        Ok(None)
    }

    fn rest(&mut self) {
        self.stage = OrderStage::Idle;
        self.busy = None;
    }

    fn is_about(&self, id: u64) -> bool {
        match self.stage {
            OrderStage::Asked { id: ours, .. }
            | OrderStage::Queued { id: ours, .. }
            | OrderStage::Sounding { id: ours, .. } => ours == id,
            OrderStage::Starting { .. } | OrderStage::Idle => false,
        }
    }

    /// Stops, closes the orders, and waits a moment for the child to end; then kills it.
    pub(super) async fn close(mut self) {
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
        group.iter().for_each(Tree::kill);
        let _ = child.wait().await;
    }
}

impl Drop for Link {
    /// Leaves no child behind, whatever its state.
    fn drop(&mut self) {
        // A reaped child has no id any more, and its group's number may mean another group.
        if self.child.id().is_some() {
            self.group.iter().for_each(Tree::kill);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce::Phrases;

    #[test]
    fn each_fault_names_who_speaks_in_every_language() {
        let faults = [
            ChildFault::Start(Reason::said("no")),
            ChildFault::Ended,
            ChildFault::Mute,
            ChildFault::NeverBegan,
            ChildFault::NeverEnded,
            ChildFault::Garbage,
            ChildFault::Engine(Why::NvdaLost),
        ];
        for tag in ["en", "de", "es"] {
            let words = Phrases::for_languages(&[tag.to_owned()]).unwrap();
            let mut told: Vec<String> = faults
                .iter()
                .map(|fault| words.because(&fault.reason(SpeechMeans::Nvda)))
                .collect();
            told.push(words.because(&SpeechMeans::Nvda.no_file()));
            for reason in told {
                assert!(reason.contains("NVDA"), "{tag}: {reason}");
                assert!(
                    !reason.to_lowercase().contains("system") && !reason.contains("sistema"),
                    "{tag}: {reason}"
                );
            }
            let own = words.because(&ChildFault::Mute.reason(SpeechMeans::System));
            assert!(!own.contains("NVDA"), "{tag}: {own}");
        }
    }
}
