//! Playing a scenario: which event is sent at which time.
//!
//! Responsibilities: the agents' steps in the order of their times, waiting at questions, branches by
//! outcome, the clock of timeouts (chapter 6.4). Not here: the wire form of an event, who gets it,
//! whether a reply is valid (`producer`).
//!
//! Mental model: every agent has a time at which its next step is due, counted from the start of the
//! scenario at speed 1. The performance always takes the earliest step, waits for its time (or not,
//! when stepped) and performs it. An agent that asks has no due time until its question has ended; its
//! next step's time then counts from that moment.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, sleep_until};

use super::agent_gate::Gate;
use super::demo_settings::{Pace, Timeouts};
use super::scenario::{Beat, BeatAct, Scenario};
use crate::producer::{PoseOutcome, Producer, QuestionExtras, QuestionOutcome, Template};

/// The final words of a session that its scenario left open.
const LEFT_OPEN: &str = "The agent stopped without finishing.";
/// The placeholder for the latest answer in a scenario's texts.
const ANSWER: &str = "{answer}";
/// The bounds of a speed or a factor: beyond them, a wait would vanish, or have no end in sight.
const FACTORS: std::ops::RangeInclusive<f64> = 0.01..=10_000.0;

/// One run of a scenario.
pub(super) struct Performance {
    pub(super) stage: DemoStage,
    pub(super) scenario: Arc<Scenario>,
    /// The session of each agent, in the order of the cast.
    pub(super) sessions: Vec<String>,
    /// Its place among the runs, which it returns when it is dropped.
    pub(super) _place: OwnedSemaphorePermit,
}

/// Where the agents perform; clones are the same.
#[derive(Clone)]
pub(super) struct DemoStage {
    pub(super) producer: Producer,
    pub(super) gate: Arc<Gate>,
    pub(super) pace: Pace,
    pub(super) timeouts: Timeouts,
}

/// The progress of one agent.
struct Progression {
    /// The index of the next step to take.
    cursor: usize,
    stance: PerformanceState,
    /// How the latest question ended.
    outcome: Option<QuestionOutcome>,
}

enum PerformanceState {
    /// The next step is due.
    Acting {
        due: Duration,
    },
    /// The agent waits for the end of a question.
    Asking {
        token: String,
        deadline: Option<Instant>,
    },
    Done,
}

/// What happens next.
enum NextMove {
    Act(usize),
    Resolved(usize, QuestionOutcome),
    TimeUp(String),
}

impl Performance {
    /// Plays until every agent has finished.
    pub(super) async fn play(self) {
        let cast = &self.scenario.cast;
        let mut tempo = Tempo::new(self.stage.pace);
        let (answers, mut outcomes) = mpsc::channel(cast.len().max(1));
        let mut parts: Vec<Progression> = cast
            .iter()
            .map(|role| Progression::new(&role.beats))
            .collect();
        loop {
            let next = earliest(&parts);
            let asking = parts.iter().any(Progression::is_asking);
            // In stepped mode, answers wait until nothing else is left to do, so that their order does
            // not matter.
            let takes_answers = asking && (next.is_none() || tempo.is_real());
            let turn = tokio::select! {
                biased;
                Some((index, outcome)) = outcomes.recv(), if takes_answers => NextMove::Resolved(index, outcome),
                token = first_time_up(&parts), if asking => NextMove::TimeUp(token),
                Some(index) = tempo.reach(next), if next.is_some() => NextMove::Act(index),
                else => break,
            };
            match turn {
                NextMove::Resolved(index, outcome) => {
                    if let (Some(part), Some(role)) = (parts.get_mut(index), cast.get(index)) {
                        part.outcome = Some(outcome);
                        part.go_on(&role.beats, tempo.now());
                    }
                }
                NextMove::TimeUp(token) => {
                    // The outcome comes back on the channel, as for an answer.
                    self.stage.producer.expire(&token);
                    if let Some(part) = parts.iter_mut().find(|part| part.asks(&token)) {
                        part.stance = PerformanceState::Asking {
                            token,
                            deadline: None,
                        };
                    }
                }
                NextMove::Act(index) => {
                    if let Some((due, _)) = next {
                        tempo.arrive(due);
                    }
                    if let (Some(part), Some(role)) = (parts.get_mut(index), cast.get(index))
                        && let Some(beat) = role.beats.get(part.cursor)
                    {
                        self.act(index, part, beat, &answers, &mut tempo).await;
                        part.cursor += 1;
                        if let PerformanceState::Acting { due } = part.stance {
                            part.go_on(&role.beats, due);
                        }
                    }
                }
            }
        }
        for session in &self.sessions {
            let producer = &self.stage.producer;
            producer.close_session(session, "producer", LEFT_OPEN);
        }
    }

    /// Performs one step of one agent.
    async fn act(
        &self,
        index: usize,
        part: &mut Progression,
        beat: &Beat,
        answers: &mpsc::Sender<(usize, QuestionOutcome)>,
        tempo: &mut Tempo,
    ) {
        let Some(session) = self.sessions.get(index) else {
            return;
        };
        let template = with_answer(beat.act.template(), part.answer());
        let held = Instant::now();
        self.stage.gate.pass(template.kind.wire()).await;
        tempo.shift(held.elapsed());
        if !tempo.is_real() {
            self.stage.producer.until_room().await;
        }
        match &beat.act {
            BeatAct::Emit(_) => {
                if !self.stage.producer.emit(session, &template) {
                    part.stance = PerformanceState::Done;
                }
            }
            BeatAct::Ask { asked, timeout, .. } => {
                let timeout = self.timeout(*timeout);
                let asking = QuestionExtras {
                    asked: asked.clone(),
                    timeout,
                    number: index,
                    outcomes: answers.clone(),
                };
                match self.stage.producer.ask(session, &template, asking) {
                    PoseOutcome::Open(token) => {
                        let deadline =
                            timeout.and_then(|timeout| Instant::now().checked_add(timeout));
                        part.stance = PerformanceState::Asking { token, deadline };
                    }
                    PoseOutcome::Decided(outcome) => part.outcome = Some(outcome),
                    PoseOutcome::TooLate => part.stance = PerformanceState::Done,
                }
            }
        }
    }

    /// Returns how long a question stays open; `None` if no clock ends it.
    fn timeout(&self, written: Duration) -> Option<Duration> {
        match self.stage.timeouts {
            Timeouts::AsWritten => Some(written),
            Timeouts::Scaled(factor) => Some(written.mul_f64(bounded(factor))),
            Timeouts::OnDemand => None,
        }
    }
}

impl Drop for Performance {
    /// Forgets its sessions if it was broken off.
    fn drop(&mut self) {
        self.stage.producer.forget_sessions(&self.sessions);
    }
}

impl Progression {
    fn new(beats: &[Beat]) -> Self {
        let mut part = Self {
            cursor: 0,
            stance: PerformanceState::Done,
            outcome: None,
        };
        part.go_on(beats, Duration::ZERO);
        part
    }

    /// Schedules the next step that fits the branch, counted from a point in time.
    fn go_on(&mut self, beats: &[Beat], from: Duration) {
        let fits = |beat: &Beat| match &self.outcome {
            None => beat.on.is_empty(),
            Some(outcome) => beat.on.is_empty() || beat.on.iter().any(|label| label.fits(outcome)),
        };
        let rest = beats.get(self.cursor..).unwrap_or_default();
        match rest.iter().position(fits) {
            Some(skipped) => {
                self.cursor += skipped;
                let after = rest.get(skipped).map_or(Duration::ZERO, |beat| beat.after);
                self.stance = PerformanceState::Acting { due: from + after };
            }
            None => self.stance = PerformanceState::Done,
        }
    }

    fn is_asking(&self) -> bool {
        match self.stance {
            PerformanceState::Asking { .. } => true,
            PerformanceState::Acting { .. } | PerformanceState::Done => false,
        }
    }

    fn asks(&self, asked: &str) -> bool {
        match &self.stance {
            PerformanceState::Asking { token, .. } => token == asked,
            PerformanceState::Acting { .. } | PerformanceState::Done => false,
        }
    }

    /// Returns the latest answer as it may be repeated.
    fn answer(&self) -> Option<&str> {
        match &self.outcome {
            Some(QuestionOutcome::Answered { words, .. }) => Some(words),
            Some(QuestionOutcome::TimedOut { words }) => words.as_deref(),
            Some(QuestionOutcome::Decided(_)) | None => None,
        }
    }
}

/// Returns the agent whose next step is due first; if tied, the first in the cast.
fn earliest(parts: &[Progression]) -> Option<(Duration, usize)> {
    parts
        .iter()
        .enumerate()
        .filter_map(|(index, part)| match part.stance {
            PerformanceState::Acting { due } => Some((due, index)),
            PerformanceState::Asking { .. } | PerformanceState::Done => None,
        })
        .min()
}

/// Waits for the first question whose time is up; forever if no clock ends any.
async fn first_time_up(parts: &[Progression]) -> String {
    let first = parts
        .iter()
        .filter_map(|part| match &part.stance {
            PerformanceState::Asking {
                token,
                deadline: Some(deadline),
            } => Some((*deadline, token)),
            PerformanceState::Asking { deadline: None, .. }
            | PerformanceState::Acting { .. }
            | PerformanceState::Done => None,
        })
        .min();
    match first {
        Some((deadline, token)) => {
            sleep_until(deadline).await;
            token.clone()
        }
        None => pending().await,
    }
}

/// The clock of a performance.
enum Tempo {
    Real {
        /// When the scenario began, moved forward by every hold.
        origin: Instant,
        speed: f64,
    },
    Stepped {
        /// The latest due time reached.
        reached: Duration,
    },
}

impl Tempo {
    fn new(pace: Pace) -> Self {
        match pace {
            Pace::RealTime { speed } => Tempo::Real {
                origin: Instant::now(),
                speed: bounded(speed),
            },
            Pace::Stepped => Tempo::Stepped {
                reached: Duration::ZERO,
            },
        }
    }

    fn is_real(&self) -> bool {
        match self {
            Tempo::Real { .. } => true,
            Tempo::Stepped { .. } => false,
        }
    }

    fn now(&self) -> Duration {
        match self {
            Tempo::Real { origin, speed } => origin.elapsed().mul_f64(*speed),
            Tempo::Stepped { reached } => *reached,
        }
    }

    /// Waits until a step is due and returns its agent.
    async fn reach(&self, next: Option<(Duration, usize)>) -> Option<usize> {
        let (due, index) = next?;
        match self {
            Tempo::Real { origin, speed } => sleep_until(*origin + due.div_f64(*speed)).await,
            // This lets connections write in between on a single-threaded runtime.
            Tempo::Stepped { .. } => tokio::task::yield_now().await,
        }
        Some(index)
    }

    /// Notes that a step's time has come.
    fn arrive(&mut self, due: Duration) {
        match self {
            Tempo::Real { .. } => {}
            Tempo::Stepped { reached } => *reached = due.max(*reached),
        }
    }

    /// Excludes the time during which agents were held, so that they do not rush afterwards.
    fn shift(&mut self, held: Duration) {
        match self {
            Tempo::Real { origin, .. } => *origin += held,
            Tempo::Stepped { .. } => {}
        }
    }
}

/// Clamps a factor to its bounds; NaN counts as 1.
fn bounded(factor: f64) -> f64 {
    if factor.is_nan() {
        1.0
    } else {
        factor.clamp(*FACTORS.start(), *FACTORS.end())
    }
}

/// Fills the latest answer into a template's texts.
fn with_answer(template: &Template, answer: Option<&str>) -> Template {
    let mut template = template.clone();
    if let Some(answer) = answer {
        fill(&mut template.fields, answer);
    }
    template
}

fn fill(fields: &mut Map<String, Value>, answer: &str) {
    for (_, value) in fields.iter_mut() {
        match value {
            Value::String(text) if text.contains(ANSWER) => *text = text.replace(ANSWER, answer),
            Value::Object(inner) => fill(inner, answer),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {}
        }
    }
}
