//! The trace of a stream: every step of every state machine, with its time (appendix A.10).
//!
//! Responsibilities: watching the machines, and writing what they did session by session as text, JSON or, in
//! `mermaid`, as diagrams. Not here: the machines (`session`).
//!
//! A step that leads back to its own state (one more event, one more chunk) is counted on the step before it,
//! so that the length of a trace does not depend on how much was said.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use crate::dialect::{self, ConnectionChange, DialectOutput, DialectStep, ForeignFormat, NoEvent};
use crate::protocol::{Answer, Decoded, Envelope, Machine, Now, RecordedReply, TransitionError};
use crate::session::{AgentState, LinkId, MachineStep, Observer, SessionKey, Sessions, Subject};

use super::json_lines::{Gatherer, JsonText};
use super::machine_steps::{MachineLane, RecordedStep, SessionTrace, verdict};
use super::recorded_answers::RecordedAnswers;
use super::recorded_links::{LinkHistory, Links, RecordedExtra};
use super::report_wording::Wording;
use super::stream_clock::StreamClock;
use super::translated_captures::{self, Translator};
use super::{mermaid, safe_names};

/// The most steps that are kept; the rest are counted and reported.
const MOST_STEPS: usize = 50_000;
/// The most sessions that are traced; the rest are counted and reported.
const MOST_SESSIONS: usize = 1000;
/// How often the clock of the sessions is advanced between two events.
const MOST_TICKS: usize = 64;

/// The number of events whose lines are remembered: twice as many as may wait for others.
const MOST_LINES: usize = 128;

/// The agent name for the machines of another protocol, whose conversations belong to no single agent.
const OTHER: &str = "the other protocol";

const LINK: LinkId = LinkId(0);

/// The format of a written trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Plain lines.
    Text,
    /// Markdown with one Mermaid diagram per session.
    Mermaid,
    /// One JSON object per line.
    Json,
}

/// The collected steps.
#[derive(Debug, Clone, Default)]
struct StepLog {
    line: u64,
    /// The lines of the last numbered events: some events are applied later than they arrive.
    stood: VecDeque<((SessionKey, u64), u64)>,
    known: BTreeMap<SessionKey, usize>,
    sessions: Vec<SessionTrace>,
    steps: usize,
    more_steps: u64,
    more_sessions: u64,
}

impl StepLog {
    fn keep(&mut self, step: &MachineStep<'_>, to: Option<&'static str>) {
        let (line, full) = (self.line_of(step), self.steps >= MOST_STEPS);
        let Some(trace) = self.trace(step) else {
            self.more_steps += 1;
            return;
        };
        let since = step.at.monotonic.saturating_sub(trace.begin);
        let (lane, name) = lane_of(step);
        let in_place = to == Some(step.named.from);
        if in_place
            && name.is_none()
            && let Some(last) = trace
                .last
                .get(&lane)
                .and_then(|at| trace.steps.get_mut(*at))
            && !last.refused
        {
            // The end of the session changes nothing for a machine that is complete.
            if step.named.event != "session ends" {
                last.repeats += 1;
                last.until = since;
            }
            return;
        }
        // The state is shown under the producer's own name for it.
        let from = match (
            &name,
            trace.last.get(&lane).and_then(|at| trace.steps.get(*at)),
        ) {
            (Some(_), Some(last)) => last.to.clone(),
            (Some(_), None) | (None, _) => step.named.from.to_owned(),
        };
        if full {
            self.more_steps += 1;
            return;
        }
        // A producer may enter any state; only the typical flow lacks the step.
        let entered = name.unwrap_or_else(|| to.unwrap_or(step.named.from).to_owned());
        trace.last.insert(lane.clone(), trace.steps.len());
        trace.steps.push(RecordedStep {
            line,
            since,
            wall: step.at.wall,
            lane,
            from,
            event: step.named.event,
            to: entered,
            refused: to.is_none(),
            repeats: 0,
            until: since,
        });
        self.steps += 1;
    }

    /// Records a step of another protocol's own machine.
    fn stepped(&mut self, line: u64, stepped: &DialectStep, now: Now) {
        self.line = line;
        let key = SessionKey {
            link: LINK,
            agent: OTHER.into(),
            session: stepped.conversation.as_str().into(),
        };
        let lane = MachineLane {
            machine: stepped.named.machine,
            subject: safe_names::name(&stepped.subject),
        };
        if self.steps >= MOST_STEPS {
            self.more_steps += 1;
            return;
        }
        let Some(trace) = self.trace_of(&key, now, stepped.named.machine) else {
            self.more_steps += 1;
            return;
        };
        let since = now.monotonic.saturating_sub(trace.begin);
        trace.last.insert(lane.clone(), trace.steps.len());
        trace.steps.push(RecordedStep {
            line,
            since,
            wall: now.wall,
            lane,
            from: stepped.named.from.to_owned(),
            event: stepped.named.event,
            to: stepped.to.unwrap_or(stepped.named.from).to_owned(),
            refused: stepped.to.is_none(),
            repeats: 0,
            until: since,
        });
        self.steps += 1;
    }

    /// Notes the line of an event.
    fn stands(&mut self, line: u64, envelope: &Envelope) {
        self.line = line;
        let Some(number) = envelope.sequence_number else {
            return;
        };
        let key = SessionKey {
            link: LINK,
            agent: envelope.producer.agent_id.clone(),
            session: envelope.session_id.clone(),
        };
        if self.stood.len() >= MOST_LINES {
            self.stood.pop_front();
        }
        self.stood.push_back(((key, number), line));
    }

    /// Returns the line of the event that caused a step; for a step caused by time, the last line.
    fn line_of(&self, step: &MachineStep<'_>) -> u64 {
        let of = |number: u64| {
            let same =
                |((key, stood), _): &&((SessionKey, u64), u64)| *stood == number && key == step.key;
            self.stood.iter().rev().find(same).map(|(_, line)| *line)
        };
        step.number.and_then(of).unwrap_or(self.line)
    }

    fn trace(&mut self, step: &MachineStep<'_>) -> Option<&mut SessionTrace> {
        self.trace_of(step.key, step.at, step.named.machine)
    }

    fn trace_of(
        &mut self,
        key: &SessionKey,
        at: Now,
        machine: &'static str,
    ) -> Option<&mut SessionTrace> {
        let index = match self.known.get(key) {
            Some(index) => *index,
            None if self.sessions.len() >= MOST_SESSIONS => {
                self.more_sessions += u64::from(machine == "session");
                return None;
            }
            None => {
                self.known.insert(key.clone(), self.sessions.len());
                self.sessions.push(SessionTrace {
                    agent: safe_names::name(key.agent.as_str()),
                    session: safe_names::name(key.session.as_str()),
                    begin: at.monotonic,
                    steps: Vec::new(),
                    last: BTreeMap::new(),
                });
                self.sessions.len() - 1
            }
        };
        self.sessions.get_mut(index)
    }
}

/// Returns the machine of a step and, for the agent's state, the producer's name for it.
fn lane_of(step: &MachineStep<'_>) -> (MachineLane, Option<String>) {
    let (subject, name) = match step.subject {
        Subject::Session => (String::new(), None),
        Subject::State { name } => (String::new(), Some(safe_names::name(name))),
        Subject::Tool { name, call: None } => (safe_names::name(name), None),
        Subject::Tool {
            name,
            call: Some(call),
        } => (
            format!(
                "{} {}",
                safe_names::name(name),
                safe_names::name(call.as_str())
            ),
            None,
        ),
        Subject::Question(id) => (id.0.to_string(), None),
        Subject::Output(None) => (String::new(), None),
        Subject::Output(Some(id)) => (safe_names::name(id.as_str()), None),
    };
    let lane = MachineLane {
        machine: step.named.machine,
        subject,
    };
    (lane, name)
}

impl Observer for StepLog {
    fn before(&mut self, _: &MachineStep<'_>) {}

    fn after(&mut self, step: &MachineStep<'_>, to: &'static str) {
        self.keep(step, Some(to));
    }

    fn error(&mut self, step: &MachineStep<'_>, _: &TransitionError) {
        self.keep(step, None);
    }
}

/// The tracer of a stream, line by line.
#[derive(Debug, Default)]
pub struct Tracer {
    gatherer: Gatherer,
    sessions: Sessions,
    clock: StreamClock,
    log: StepLog,
    translator: Translator,
    answers: RecordedAnswers,
    links: Links,
    lines: u64,
    events: u64,
    unread: u64,
    kept: Option<ForeignFormat>,
}

impl Tracer {
    /// Creates a tracer for one stream.
    pub fn new() -> Self {
        let mut tracer = Self::default();
        tracer.sessions.add_link(LINK, false);
        tracer
    }

    /// Creates a tracer for a recording whose answers are known: what was sent and when, by the line of its question.
    pub fn of_recording(answers: BTreeMap<u64, (Answer, Timestamp)>) -> Self {
        let mut tracer = Self::new();
        tracer.answers = RecordedAnswers::new(answers);
        tracer
    }

    /// Adds what the recording contains beside its events, in the order in which it happened.
    #[must_use]
    pub fn with_links(self, beside: Vec<RecordedExtra>) -> Self {
        Self {
            links: Links::new(beside),
            ..self
        }
    }

    /// Notes the steps that follow from incidents beside the events, up to a number of lines, or up to the end.
    fn beside(&mut self, lines: Option<u64>) {
        while let Some(one) = self.links.next(lines) {
            let now = self.clock.clone().at(Some(one.at));
            let out = self.links.feed(&one, &mut self.translator, now);
            // The text that arrived became the next event.
            let line = match one.history {
                LinkHistory::Arrived(_) => one.after + 1,
                LinkHistory::Changed(_) => one.after.max(1),
            };
            self.steps_of(out, line, now);
        }
    }

    /// Notes the steps of another protocol's own machines; the events are in the recording itself.
    fn steps_of(&mut self, out: Vec<DialectOutput>, line: u64, now: Now) {
        let line_before = self.log.line;
        for out in out {
            if let DialectOutput::Stepped(stepped) = out {
                self.log.stepped(line, &stepped, now);
            }
        }
        self.log.line = line_before;
    }

    fn answer(&mut self, before: Option<Timestamp>) {
        for (id, answer, at) in self.answers.before(before) {
            // At the end, the answer's clock may be far from the events' clock.
            let now = self.clock.at(before.and(Some(at)));
            self.sessions
                .answered_before(id, answer, now, &mut self.log);
        }
    }

    /// Traces the next line, without its line end.
    pub fn line(&mut self, text: &str) {
        self.beside(Some(self.lines));
        self.lines += 1;
        if self.translator.is_at_work() && self.gatherer.passes(text) {
            return self.translated(&JsonText {
                line: self.lines,
                text: text.to_owned(),
            });
        }
        for gathered in self.gatherer.take(self.lines, text) {
            self.text(&gathered);
        }
    }

    /// Records that the next line can't be read.
    pub fn unreadable(&mut self) {
        self.lines += 1;
        self.unread += 1;
    }

    fn text(&mut self, gathered: &JsonText) {
        for part in gathered.parts() {
            self.part(&part.gathered);
        }
    }

    fn part(&mut self, gathered: &JsonText) {
        if self.translator.takes(&gathered.text) {
            return self.translated(gathered);
        }
        if let Some(reply) = RecordedReply::read(&gathered.text)
            && let Some(question) = self.sessions.open_under(LINK, &reply.token)
        {
            let now = self.clock.at(reply.timestamp);
            self.sessions
                .answered_before(question, reply.answer, now, &mut self.log);
            return;
        }
        match dialect::read(&gathered.text) {
            Ok(decoded) => self.event(gathered.line, decoded),
            Err(NoEvent::Foreign(what)) if what.kept().is_some() => {
                self.unread += 1;
                self.kept.get_or_insert(what);
            }
            Err(_) => self.unread += 1,
        }
    }

    /// Reads a text of another protocol with its translator, and notes the steps of that protocol's own machines.
    fn translated(&mut self, gathered: &JsonText) {
        let now = self.clock.at(translated_captures::stamp(&gathered.text));
        let clock = self.clock.clone();
        let mut out = self.translator.until(now, |due| clock.moment(due));
        let text = self.translator.text(&gathered.text, now).into_iter();
        out.extend(text.map(|one| (now, one)));
        for (now, out) in out {
            match out {
                DialectOutput::Event(text) | DialectOutput::ViewOnly(text) => {
                    if let Ok(decoded) = dialect::read(&text) {
                        self.event(gathered.line, decoded);
                    }
                }
                DialectOutput::Unread(_, times) => self.unread += times,
                DialectOutput::Stepped(stepped) => self.log.stepped(gathered.line, &stepped, now),
                DialectOutput::Announce(_)
                | DialectOutput::Detail(_)
                | DialectOutput::Send { .. }
                | DialectOutput::Hand { .. }
                | DialectOutput::Call { .. }
                | DialectOutput::CallService { .. }
                | DialectOutput::LeaveCall(_)
                | DialectOutput::Respond { .. }
                | DialectOutput::Follow(_)
                | DialectOutput::Refuse(_)
                | DialectOutput::Release
                | DialectOutput::LastWords(_)
                | DialectOutput::ChangeWay(_)
                | DialectOutput::Close(_)
                | DialectOutput::Settled { .. }
                | DialectOutput::Standing(_)
                | DialectOutput::Decided { .. }
                | DialectOutput::AnsweredBy { .. }
                | DialectOutput::Missed(_)
                | DialectOutput::Warn(_)
                | DialectOutput::Recalled(_)
                | DialectOutput::Over { .. }
                | DialectOutput::Answered(_)
                | DialectOutput::Proven(_) => {}
            }
        }
    }

    fn event(&mut self, line: u64, decoded: Box<Decoded>) {
        self.events += 1;
        self.answer(decoded.envelope.timestamp);
        let now = self.clock.at(decoded.envelope.timestamp);
        for _ in 0..MOST_TICKS {
            let Some(due) = self.sessions.deadline().filter(|due| *due <= now.monotonic) else {
                break;
            };
            let due = self.clock.moment(due);
            self.sessions.tick_observed(due, &mut self.log);
        }
        self.log.stands(line, &decoded.envelope);
        let changes = self
            .sessions
            .apply_observed(LINK, decoded, now, &mut self.log);
        self.answers.note(line, &changes);
    }

    /// Returns the format of an agent's own files or output, if a line has one.
    pub fn kept(&self) -> Option<ForeignFormat> {
        self.kept
    }

    /// Ends the stream and returns the trace; nothing if there was no event.
    pub fn finish(mut self, format: Format, wording: &dyn Wording) -> Option<String> {
        if let Some(cut) = self.gatherer.end() {
            self.text(&cut);
        }
        self.answer(None);
        let had_links = self.links.had_any();
        self.beside(None);
        let now = self.clock.now();
        if !had_links {
            // If a capture records nothing about its connection, it ends where the connection did.
            let out = self.translator.changed(ConnectionChange::Ended, now);
            self.steps_of(out, self.lines, now);
        }
        self.sessions
            .release_link_observed(LINK, now, &mut self.log);
        if self.events == 0 {
            return None;
        }
        Some(match format {
            Format::Text => self.to_text(wording),
            Format::Mermaid => mermaid::write(&self.log.sessions, &self.left_out(wording), wording),
            Format::Json => self.to_json(),
        })
    }

    /// Returns what the trace does not show.
    fn left_out(&self, wording: &dyn Wording) -> Vec<String> {
        let told = [
            ("trace.unread", self.unread, 0),
            ("trace.more_steps", self.log.more_steps, MOST_STEPS),
            ("trace.more_sessions", self.log.more_sessions, MOST_SESSIONS),
        ];
        told.into_iter()
            .filter(|(_, n, _)| *n > 0)
            .map(|(key, n, most)| {
                wording.text(key, &[("n", n.to_string()), ("most", most.to_string())])
            })
            .collect()
    }

    fn to_text(&self, wording: &dyn Wording) -> String {
        let mut lines = Vec::new();
        for trace in &self.log.sessions {
            let args = [
                ("agent", trace.agent.clone()),
                ("session", trace.session.clone()),
            ];
            lines.push(wording.text("trace.session", &args));
            lines.extend(trace.steps.iter().map(|step| step_text(step, wording)));
        }
        let left_out = self.left_out(wording).into_iter();
        lines.extend(left_out.map(|told| wording.text("trace.note", &[("told", told)])));
        lines.join("\n") + "\n"
    }

    fn to_json(&self) -> String {
        let mut out = String::new();
        for trace in &self.log.sessions {
            for step in &trace.steps {
                let line = json!({
                    "kind": "step",
                    "agent": trace.agent,
                    "session": trace.session,
                    "line": step.line,
                    "seconds": step.since.as_secs_f64(),
                    "at": step.wall.to_string(),
                    "machine": step.lane.machine,
                    "subject": step.lane.subject,
                    "from": step.from,
                    "event": step.event,
                    "to": step.to,
                    "verdict": verdict(step),
                    "repeats": step.repeats,
                    "until_seconds": step.until.as_secs_f64(),
                });
                out.push_str(&line.to_string());
                out.push('\n');
            }
        }
        let total = json!({
            "kind": "total",
            "lines": self.lines,
            "events": self.events,
            "sessions": self.log.sessions.len(),
            "steps_not_shown": self.log.more_steps,
            "lines_not_read": self.unread,
        });
        out + &total.to_string() + "\n"
    }
}

fn step_text(step: &RecordedStep, wording: &dyn Wording) -> String {
    let seconds = |time: Duration| format!("{:.3}", time.as_secs_f64());
    let key = match verdict(step) {
        "illegal" => "trace.illegal",
        "unusual" => "trace.unusual",
        // The events of this machine are named after the states that they enter.
        _ if step.lane.machine == AgentState::NAME => "trace.state",
        _ => "trace.step",
    };
    let what = wording.text(
        key,
        &[
            ("lane", step.lane.label()),
            ("from", step.from.clone()),
            ("to", step.to.clone()),
            ("event", step.event.to_owned()),
        ],
    );
    let what = if step.repeats > 0 {
        wording.text(
            "trace.repeats",
            &[
                ("what", what),
                ("n", step.repeats.to_string()),
                ("until", seconds(step.until)),
            ],
        )
    } else {
        what
    };
    wording.text(
        "trace.where",
        &[
            ("what", what),
            ("line", step.line.to_string()),
            ("since", seconds(step.since)),
            ("wall", step.wall.to_string()),
        ],
    )
}
