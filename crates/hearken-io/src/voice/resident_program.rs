//! A speech program that stays between utterances, so that what it has loaded, such as a neural voice, stays loaded.
//!
//! Responsibilities: one utterance at a time, a stop that is obeyed or enforced, starting the program again when it
//! ends or hangs, and repeating what that cut. Not here: its messages (`program_messages`), its pipes
//! (`speech_process`), programs with one process for each utterance (`command_voice`).
//!
//! # Mental model
//! No order is given before the last one is over: by the program's report, or because the program and its children are
//! gone. So two programs never speak at once.

mod program_messages;
mod speech_process;

use std::collections::VecDeque;
use std::future::Future;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::process::Command;

use super::command_voice::TerminatingCommand;
use super::limits::Limits;
use super::speech_program::plain;
use super::{Voice, VoiceEvent, pitch, ssip};
use crate::announce::{Mark, Reason, Utterance, UtteranceId};
use program_messages::{ProgramReport, SayOrder, StopOrder, line};
use speech_process::{ProcessNews, SpeechProcess};

/// How many utterances in a row may fail before the voice is lost.
const FAILURES: u32 = 3;

/// How often the person is told that the program was started again, or writes meaningless lines.
const TELL_AGAIN: Duration = Duration::from_secs(60);

/// A speech program that stays, and how its own words are to sound.
#[derive(Debug, Clone)]
pub(super) struct LastingProgram {
    /// The program.
    pub path: PathBuf,
    /// Its name as given.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// How much higher the program's own words are.
    pub own_pitch: i32,
}

/// What is ordered.
#[derive(Debug)]
enum PendingOrder {
    Nothing,
    /// To say this.
    Say(Box<HeldUtterance>),
    /// To stop saying this.
    Stop {
        id: UtteranceId,
        until: Instant,
    },
}

/// An utterance that the program has.
#[derive(Debug)]
struct HeldUtterance {
    utterance: Utterance,
    begun: bool,
    /// Whether it was cut by the program's end and is said once more.
    again: bool,
    until: Instant,
}

/// Why a program was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TerminationReason {
    /// It ended by itself.
    Over,
    /// It did not finish.
    Endless,
    /// It did not fall silent.
    Unstoppable,
}

#[derive(Debug)]
enum ProgramState {
    Not,
    Running(Box<SpeechProcess>),
    Ending(Box<TerminatingProgram>),
}

/// A program that ends.
#[derive(Debug)]
struct TerminatingProgram {
    program: TerminatingCommand,
    why: TerminationReason,
    complaint: String,
    /// What it was saying.
    unfinished: Option<HeldUtterance>,
}

/// When the person was last told something that may recur.
#[derive(Debug, Default)]
struct LastNotice(Option<Instant>);

impl LastNotice {
    /// Returns whether it is to be told now, and notes that.
    fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let due = self.0.is_none_or(|at| now >= at + TELL_AGAIN);
        if due {
            self.0 = Some(now);
        }
        due
    }
}

/// A voice that speaks through a program that stays.
#[derive(Debug)]
pub(super) struct LastingVoice {
    program: LastingProgram,
    limits: Limits,
    run: ProgramState,
    /// Whether the running program has reported anything yet.
    proved: bool,
    ordered: PendingOrder,
    next: Option<Utterance>,
    news: VecDeque<VoiceEvent>,
    failures: u32,
    /// When a lost program is tried again.
    lost_until: Option<Instant>,
    told_restart: LastNotice,
    told_unknown: LastNotice,
}

impl LastingVoice {
    /// Starts the program, so that it is loaded when the first words come.
    pub(super) fn new(program: LastingProgram, limits: Limits) -> Self {
        let mut voice = Self {
            program,
            limits,
            run: ProgramState::Not,
            proved: false,
            ordered: PendingOrder::Nothing,
            next: None,
            news: VecDeque::new(),
            failures: 0,
            lost_until: None,
            told_restart: LastNotice::default(),
            told_unknown: LastNotice::default(),
        };
        // The first words report why it can't be started.
        let _ = voice.start();
        voice
    }

    /// Returns its name as shown to a person.
    pub(super) fn engine(&self) -> Reason {
        Reason::new("voice.engine.program").with("name", &self.program.name)
    }

    /// Returns what a person should know about it before it speaks.
    pub(super) fn notice(&self) -> Option<Reason> {
        let alike = Reason::new("voice.cause.lasting.alike").with("name", &self.program.name);
        (self.program.own_pitch != 0).then_some(alike)
    }

    fn start(&mut self) -> std::io::Result<()> {
        let mut command = Command::new(&self.program.path);
        command.args(&self.program.arguments);
        self.run = ProgramState::Running(Box::new(SpeechProcess::start(command)?));
        self.proved = false;
        Ok(())
    }

    /// Orders an utterance; nothing else is ordered.
    fn begin(&mut self, utterance: Utterance, again: bool) {
        let id = utterance.id;
        if self.lost_until.is_some_and(|at| Instant::now() < at) {
            return self.news.push_back(VoiceEvent::Cut(id));
        }
        if matches!(self.run, ProgramState::Not)
            && let Err(error) = self.start()
        {
            let how = Reason::new("voice.cause.how.not_started");
            return self.failed(id, how.because("why", Reason::of_system(&error)));
        }
        let order = self.order(&utterance);
        let sent = match &mut self.run {
            ProgramState::Running(process) => process.send(&order),
            ProgramState::Not | ProgramState::Ending(_) => false,
        };
        if !sent {
            return self.failed(id, Reason::new("voice.cause.how.endless"));
        }
        let loads = match self.proved {
            true => Duration::ZERO,
            false => self.limits.load,
        };
        let longest = self.limits.end_of(&utterance.text);
        self.ordered = PendingOrder::Say(Box::new(HeldUtterance {
            utterance,
            begun: false,
            again,
            until: Instant::now() + loads + longest,
        }));
    }

    fn order(&self, utterance: &Utterance) -> Vec<u8> {
        let delivery = &utterance.sound.delivery;
        line(&SayOrder {
            say: utterance.id.0,
            text: &plain(&utterance.text),
            mark: match utterance.mark {
                Mark::Own => "own",
                Mark::Agent => "agent",
            },
            pitch: pitch::of(utterance.mark, &utterance.sound, 0, self.program.own_pitch),
            rate: delivery.rate,
            volume: delivery.volume,
            voice: delivery.voice.as_deref().map(ssip::one_line),
            language: utterance.language.as_deref().and_then(ssip::language),
            punctuation: delivery.punctuation.map(|level| level.name()),
        })
    }

    /// Reports an utterance that was not spoken, and the loss of the voice after one failure too many.
    fn failed(&mut self, id: UtteranceId, how: Reason) {
        self.failures = self.failures.saturating_add(1);
        self.news.push_back(VoiceEvent::Cut(id));
        if self.failures < FAILURES {
            return;
        }
        if self.lost_until.is_none() {
            self.news.push_back(VoiceEvent::Lost {
                reason: Reason::new("voice.cause.program.failed")
                    .with("name", &self.program.name)
                    .with("n", FAILURES)
                    .because("how", how),
            });
        }
        let wait = self.limits.backoff(self.failures - FAILURES);
        self.lost_until = Some(Instant::now() + wait);
    }

    fn reported(&mut self, report: ProgramReport) {
        self.proved |= !matches!(report, ProgramReport::Unknown(_));
        match report {
            ProgramReport::Begin(id) => {
                let longest = |saying: &HeldUtterance| self.limits.end_of(&saying.utterance.text);
                if let PendingOrder::Say(saying) = &mut self.ordered
                    && saying.utterance.id.0 == id
                    && !saying.begun
                {
                    saying.begun = true;
                    saying.until = Instant::now() + longest(saying);
                    self.news.push_back(VoiceEvent::Begun(saying.utterance.id));
                }
            }
            ProgramReport::End(id) => {
                if let Some(saying) = self.over(id) {
                    self.succeeded(&saying);
                }
            }
            ProgramReport::Failed(id, why) => {
                if let Some(saying) = self.over(id) {
                    let how = Reason::new("voice.cause.how.reports").with("why", why);
                    self.failed(saying.utterance.id, how);
                }
            }
            ProgramReport::Unknown(text) => {
                if self.told_unknown.is_due() {
                    let text = Reason::new("voice.cause.lasting.unknown")
                        .with("name", &self.program.name)
                        .with("text", text);
                    self.news.push_back(VoiceEvent::Notice { text });
                }
            }
        }
    }

    /// Ends what was ordered under a number; returns the utterance if it was not to be stopped.
    fn over(&mut self, id: u64) -> Option<HeldUtterance> {
        match std::mem::replace(&mut self.ordered, PendingOrder::Nothing) {
            PendingOrder::Say(saying) if saying.utterance.id.0 == id => Some(*saying),
            PendingOrder::Stop { id: stopped, .. } if stopped.0 == id => None,
            // A report about something else changes nothing.
            other => {
                self.ordered = other;
                None
            }
        }
    }

    fn succeeded(&mut self, saying: &HeldUtterance) {
        let id = saying.utterance.id;
        self.failures = 0;
        if self.lost_until.take().is_some() {
            self.news.push_back(VoiceEvent::Recovered {
                engine: self.engine(),
            });
        }
        if !saying.begun {
            self.news.push_back(VoiceEvent::Begun(id));
        }
        self.news.push_back(VoiceEvent::Ended(id));
    }

    /// Ends the program with its children; what it was saying is said once more after that.
    fn end(&mut self, why: TerminationReason) {
        let run = std::mem::replace(&mut self.run, ProgramState::Not);
        let ProgramState::Running(mut process) = run else {
            self.run = run;
            return;
        };
        let unfinished = match std::mem::replace(&mut self.ordered, PendingOrder::Nothing) {
            PendingOrder::Say(saying) => Some(*saying),
            PendingOrder::Stop { .. } | PendingOrder::Nothing => None,
        };
        self.run = ProgramState::Ending(Box::new(TerminatingProgram {
            complaint: process.complaint(),
            program: process.end(self.limits.term),
            why,
            unfinished,
        }));
    }

    /// Goes on after the program's end.
    fn ended(&mut self, status: Option<ExitStatus>) {
        let run = std::mem::replace(&mut self.run, ProgramState::Not);
        let ProgramState::Ending(ending) = run else {
            self.run = run;
            return;
        };
        let how = match (ending.why, status) {
            (TerminationReason::Over, Some(status)) if ending.complaint.is_empty() => {
                Reason::new("voice.cause.how.ended").with("status", status)
            }
            (TerminationReason::Over, Some(status)) => Reason::new("voice.cause.how.ended_saying")
                .with("status", status)
                .with("text", &ending.complaint),
            (TerminationReason::Unstoppable, _) => Reason::new("voice.cause.how.unstoppable"),
            (TerminationReason::Over | TerminationReason::Endless, _) => {
                Reason::new("voice.cause.how.endless")
            }
        };
        if self.told_restart.is_due() {
            let text = Reason::new("voice.cause.lasting.again")
                .with("name", &self.program.name)
                .because("how", how.clone());
            self.news.push_back(VoiceEvent::Notice { text });
        }
        match ending.unfinished {
            Some(saying) if !saying.again => self.begin(saying.utterance, true),
            Some(saying) => self.failed(saying.utterance.id, how),
            // Loaded again before the next words, unless it ends all the time.
            None if self.next.is_none() && self.proved => {
                let _ = self.start();
            }
            None => {}
        }
    }

    /// Returns when what was ordered takes too long.
    fn limit(&self) -> Option<Instant> {
        match &self.ordered {
            PendingOrder::Nothing => None,
            PendingOrder::Say(saying) => Some(saying.until),
            PendingOrder::Stop { until, .. } => Some(*until),
        }
    }

    fn overdue(&mut self) {
        let why = match &self.ordered {
            PendingOrder::Stop { .. } => TerminationReason::Unstoppable,
            PendingOrder::Say(_) | PendingOrder::Nothing => TerminationReason::Endless,
        };
        self.end(why);
    }
}

impl Voice for LastingVoice {
    fn speak(&mut self, utterance: Utterance) {
        self.stop();
        match (&self.ordered, &self.run) {
            (PendingOrder::Nothing, ProgramState::Not | ProgramState::Running(_)) => {
                self.begin(utterance, false)
            }
            (PendingOrder::Say(_) | PendingOrder::Stop { .. }, _)
            | (_, ProgramState::Ending(_)) => {
                self.next = Some(utterance);
            }
        }
    }

    fn stop(&mut self) {
        self.next = None;
        self.news.retain(|event| !event.is_of_utterance());
        if let ProgramState::Ending(ending) = &mut self.run {
            ending.unfinished = None;
        }
        let PendingOrder::Say(saying) = &self.ordered else {
            return;
        };
        let id = saying.utterance.id;
        let order = line(&StopOrder { stop: id.0 });
        let sent = match &mut self.run {
            ProgramState::Running(process) => process.send(&order),
            ProgramState::Not | ProgramState::Ending(_) => false,
        };
        let patience = match (sent, self.proved) {
            // A program that no longer takes orders is ended at once.
            (false, _) => Duration::ZERO,
            // A program that is still loading makes no sound, and would have to load again.
            (true, false) => self.limits.load,
            (true, true) => self.limits.hush,
        };
        self.ordered = PendingOrder::Stop {
            id,
            until: Instant::now() + patience,
        };
    }

    async fn news(&mut self) -> VoiceEvent {
        loop {
            if let Some(event) = self.news.pop_front() {
                return event;
            }
            let free = matches!(self.ordered, PendingOrder::Nothing);
            if free
                && !matches!(self.run, ProgramState::Ending(_))
                && let Some(next) = self.next.take()
            {
                self.begin(next, false);
                continue;
            }
            let limit = self.limit();
            match &mut self.run {
                ProgramState::Not => std::future::pending().await,
                ProgramState::Running(process) => match process.news(limit).await {
                    ProcessNews::Report(report) => self.reported(report),
                    ProcessNews::Over => self.end(TerminationReason::Over),
                    ProcessNews::Overdue => self.overdue(),
                },
                ProgramState::Ending(ending) => {
                    let status = ending.program.finish(self.limits.call).await;
                    self.ended(status);
                }
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = ()> {
        self.stop();
        self.end(TerminationReason::Over);
        async {
            if let ProgramState::Ending(ending) = &mut self.run {
                let _ = ending.program.finish(self.limits.call).await;
                self.run = ProgramState::Not;
            }
        }
    }
}

impl Drop for LastingVoice {
    /// Leaves nothing speaking even if the voice was never closed.
    fn drop(&mut self) {
        match &self.run {
            ProgramState::Not => {}
            ProgramState::Running(process) => process.kill(),
            ProgramState::Ending(ending) => ending.program.kill(),
        }
    }
}
