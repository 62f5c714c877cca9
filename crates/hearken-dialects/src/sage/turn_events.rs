//! A turn of a conversation: an AAEP session.
//!
//! Responsibilities: its start, its states, the agent's speech, errors, its end. Not here: its calls (`turn_calls`),
//! its questions (`questions`), which turn a message belongs to (`route`).
//!
//! Worked example: `turn.started` arrives, and directly after it the item with the person's prompt. The start waits up
//! to a quarter of a second for the prompt, so that both are announced in one sentence; anything else that arrives
//! first releases it.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::link::{Phrase, PhraseArg};
use crate::protocol::{
    Attachments, ErrorCategory, Event, HandoffRequested, SessionCancelled, SessionCompleted,
    SessionErrored, SessionStarted, StateChanged,
};

use super::super::event_writer::{
    self, EventContent, TranslatedSession, cut, normal, short, stated,
};
use super::message::{Completeness, ErrorReport, ReportedEnd, SageTurnEnd};
use super::message_context::SageContext;
use super::state_tables::{Agent, AgentEvent};
use super::turn_calls::SageCall;

/// How long the start of a turn waits for its prompt, which follows directly.
const START_WAITS: Duration = Duration::from_millis(250);

/// How long an error waits for the end of its turn, which then reports it.
const ERROR_WAITS: Duration = Duration::from_secs(1);

/// How much of the latest speech is kept, in bytes, to recognise the result in it; anything longer is not a short
/// result.
const MOST_SAID: usize = 64 * 1024;

/// The longest result that fits the sentence of the end, in characters; a longer one is announced as speech.
const SHORT_RESULT: usize = 200;

/// How much of a turn's prompt is announced, in characters.
const FIRST_WORDS: usize = 200;

/// Whether the start was announced.
#[derive(Debug, Clone, PartialEq)]
enum StartAnnouncement {
    /// It waits for the prompt until then.
    Waits(Timestamp, Duration),
    /// It was announced, or never will be because we joined in the middle.
    Over,
}

/// The agent's current speech.
#[derive(Debug, Clone, PartialEq)]
struct CurrentSpeech {
    /// The item.
    item: Option<String>,
    /// AAEP's id for it.
    id: String,
    /// How many characters were announced.
    position: u64,
    /// The announced text of this item, while it is short enough to compare.
    text: String,
    /// Whether it came in pieces.
    in_pieces: bool,
}

/// An error that was not reported yet.
#[derive(Debug, Clone, PartialEq)]
struct PendingFault {
    report: ErrorReport,
    due: Duration,
}

/// A turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct SageTurn {
    pub thread: String,
    pub name: String,
    pub session: TranslatedSession,
    pub agent: Agent,
    state: &'static str,
    start: StartAnnouncement,
    pub calls: BTreeMap<String, SageCall>,
    /// How many calls were announced, including those no longer kept.
    pub told_calls: u64,
    /// The number of outputs and calls so far, for their names.
    pub count: u64,
    output: Option<CurrentSpeech>,
    said: String,
    /// The result according to an item, used if the end has none.
    pub result: Option<String>,
    fault: Option<PendingFault>,
    /// How many of its questions are open.
    pub open: usize,
    /// How many of these have no name, so that their end cannot be matched.
    pub nameless: u64,
    /// Whether it is over.
    pub ended: bool,
}

impl SageTurn {
    /// Begins a turn; `joined` if its beginning was missed.
    pub fn new(desk: &mut SageContext<'_>, thread: &str, name: &str, joined: bool) -> Self {
        let session = desk.writer.session(name, thread);
        let mut turn = Self {
            thread: thread.to_owned(),
            name: name.to_owned(),
            session,
            agent: Agent::Initializing,
            state: "idle",
            start: if joined {
                StartAnnouncement::Over
            } else {
                StartAnnouncement::Waits(desk.at, desk.now + START_WAITS)
            },
            calls: BTreeMap::new(),
            told_calls: 0,
            count: 0,
            output: None,
            said: String::new(),
            result: None,
            fault: None,
            open: 0,
            nameless: 0,
            ended: false,
        };
        turn.step(desk, AgentEvent::Ready);
        turn.step(desk, AgentEvent::Execute);
        if joined {
            // The state before is unknown.
            turn.state = "thinking";
        }
        turn
    }

    /// Steps the machine of the turn's agent.
    pub fn step(&mut self, desk: &mut SageContext<'_>, event: AgentEvent) {
        self.agent = desk.step(&self.thread, &self.name, self.agent, event);
    }

    /// Handles the prompt of the turn.
    pub fn prompt(&mut self, desk: &mut SageContext<'_>, words: &str) {
        match self.start {
            StartAnnouncement::Waits(..) => self.tell_start(desk, words),
            // Later messages of the person are not announced.
            StartAnnouncement::Over => {}
        }
    }

    fn tell_start(&mut self, desk: &mut SageContext<'_>, words: &str) {
        let StartAnnouncement::Waits(at, _) =
            std::mem::replace(&mut self.start, StartAnnouncement::Over)
        else {
            return;
        };
        let first = words.lines().find(|line| !line.trim().is_empty());
        let first = first.map(|line| cut(line.trim(), FIRST_WORDS));
        let started = SessionStarted {
            summary: normal(first),
            request_text: stated(cut(words, event_writer::LONGEST_TEXT)),
            ..SessionStarted::default()
        };
        let now = std::mem::replace(&mut desk.at, at);
        desk.event(&mut self.session, Event::SessionStarted(started));
        desk.at = now;
        self.enter(desk, "thinking");
    }

    /// Announces the start before anything else of the turn.
    pub fn event_first(&mut self, desk: &mut SageContext<'_>) {
        self.tell_start(desk, "");
    }

    /// Writes an event of the turn.
    pub fn event(&mut self, desk: &mut SageContext<'_>, content: impl Into<EventContent>) {
        self.tell_start(desk, "");
        desk.event(&mut self.session, content);
    }

    /// Announces the state if it changed.
    pub fn enter(&mut self, desk: &mut SageContext<'_>, state: &'static str) {
        self.tell_start(desk, "");
        if self.state == state {
            return;
        }
        let from = std::mem::replace(&mut self.state, state);
        let changed = StateChanged {
            from_state: from.into(),
            to_state: state.into(),
            ..StateChanged::default()
        };
        self.event(desk, Event::StateChanged(changed));
    }

    /// Leaves the questions that are open when the turn ends: nothing waits for an answer any more. Sage has no event
    /// for that, but AAEP requires one (A.4).
    fn leave_questions(&mut self, desk: &mut SageContext<'_>) {
        if self.open == 0 || self.state != "awaiting_input" {
            return;
        }
        self.state = "thinking";
        let unanswered = Attachments {
            unanswered: true,
            ..Attachments::default()
        };
        let changed = Event::StateChanged(StateChanged {
            from_state: "awaiting_input".into(),
            to_state: "thinking".into(),
            ..StateChanged::default()
        });
        self.event(desk, EventContent::from(changed).with(unanswered));
    }

    /// Announces the state that follows from the open questions and running calls.
    pub fn settle_state(&mut self, desk: &mut SageContext<'_>) {
        let runs = self.calls.values().any(SageCall::runs);
        self.enter(
            desk,
            match (self.open > 0, runs) {
                (true, _) => "awaiting_input",
                (false, true) => "calling_tool",
                (false, false) => "thinking",
            },
        );
    }

    /// Handles speech of the agent.
    pub fn speak(
        &mut self,
        desk: &mut SageContext<'_>,
        item: Option<&str>,
        stage: Completeness,
        words: &str,
    ) {
        let in_pieces = stage == Completeness::Updated;
        let same = self.output.as_ref().is_some_and(|output| {
            // Pieces may come as separate items.
            output.item.as_deref() == item || (output.in_pieces && in_pieces)
        });
        if !same {
            if words.is_empty() {
                return;
            }
            self.hush(desk);
            // Sage repeats the whole of a speech after its pieces.
            if !in_pieces && !self.said.is_empty() && self.said.trim() == words.trim() {
                return;
            }
            self.begin_output(item, in_pieces);
            self.step(desk, AgentEvent::TextOutput);
            if self.state == "thinking" || self.state == "idle" {
                self.enter(desk, "writing_output");
            }
        }
        self.tell_start(desk, "");
        let Some(output) = &mut self.output else {
            return;
        };
        let known = output.item.as_deref() == item && !output.text.is_empty();
        let rest = match words.strip_prefix(output.text.as_str()) {
            // The item repeats its earlier text; only the rest is new.
            Some(rest) if known => rest,
            Some(_) | None => words,
        };
        if !rest.is_empty() {
            let chunk = output.chunk(rest, false);
            output.position += rest.chars().count() as u64;
            if output.text.len() + rest.len() <= MOST_SAID {
                output.text.push_str(rest);
            }
            desk.event(&mut self.session, chunk);
        }
        if stage == Completeness::Completed {
            self.hush(desk);
        }
    }

    fn begin_output(&mut self, item: Option<&str>, in_pieces: bool) {
        self.count += 1;
        self.output = Some(CurrentSpeech {
            item: item.map(str::to_owned),
            id: format!("out_{}", self.count),
            position: 0,
            text: String::new(),
            in_pieces,
        });
    }

    /// Ends the current speech because something else follows.
    pub fn hush(&mut self, desk: &mut SageContext<'_>) {
        let Some(output) = self.output.take() else {
            return;
        };
        let end = output.chunk("", true);
        self.said = output.text;
        self.event(desk, end);
        if self.state == "writing_output" {
            self.enter(desk, "thinking");
        }
    }

    /// Handles an error; the end of the turn reports it if it comes soon.
    pub fn went_wrong(&mut self, desk: &mut SageContext<'_>, report: ErrorReport) {
        self.tell_fault(desk);
        self.fault = Some(PendingFault {
            report,
            due: desk.now + ERROR_WAITS,
        });
    }

    fn tell_fault(&mut self, desk: &mut SageContext<'_>) {
        if let Some(fault) = self.fault.take() {
            let message = PhraseArg::Agent(short(&fault.report.message));
            desk.announce(Phrase::new("translated.error").with("message", message));
        }
    }

    /// Handles the end of the connection: a pending error has ended the turn.
    pub fn cut_off(&mut self, desk: &mut SageContext<'_>) {
        if let Some(fault) = &self.fault {
            let end = ReportedEnd {
                end_kind: SageTurnEnd::Failed,
                reason: Some(fault.report.code.clone()).filter(|code| !code.is_empty()),
                result: None,
                duration_ms: None,
            };
            self.end(desk, &end);
        } else {
            self.hush(desk);
        }
    }

    /// Ends the turn with its calls and questions.
    pub fn end(&mut self, desk: &mut SageContext<'_>, end: &ReportedEnd) {
        self.tell_start(desk, "");
        self.hush(desk);
        self.leave_questions(desk);
        self.leave_calls(desk);
        let fault = self.fault.take().map(|fault| fault.report);
        self.ended = true;
        self.open = 0;
        self.nameless = 0;
        let kept = self.result.take();
        let result = end.result.as_deref().or(kept.as_deref());
        let result = result.map(str::trim).unwrap_or_default();
        match end.end_kind {
            SageTurnEnd::Completed => {
                self.step(desk, AgentEvent::Complete);
                self.complete(desk, result, end.duration_ms);
                // The end did not report the error.
                self.fault = fault.map(|report| PendingFault {
                    report,
                    due: desk.now,
                });
                self.tell_fault(desk);
            }
            SageTurnEnd::Failed => {
                self.step(desk, AgentEvent::Error);
                let errored = failed(end, result, fault.as_ref());
                self.event(desk, Event::SessionErrored(errored));
            }
            SageTurnEnd::Interrupted => {
                self.step(desk, AgentEvent::Cancel);
                let by_the_person = matches!(
                    end.reason.as_deref(),
                    None | Some("interrupted" | "user_cancelled")
                );
                let by = if by_the_person { "user" } else { "system" };
                let reason = code(end.reason.as_deref());
                let cancelled = SessionCancelled {
                    summary: normal(fault.map(|report| short(&report.message))),
                    cancelled_by: Some(by.to_owned()),
                    reason: reason.map(|code| code.to_lowercase()),
                    partial_result: stated(short(result)),
                };
                self.event(desk, Event::SessionCancelled(cancelled));
            }
            SageTurnEnd::AsksForInput => {
                self.step(desk, AgentEvent::Cancel);
                // A finished turn takes no answer: the person continues in a new one.
                let reason = if result.is_empty() {
                    "needs_user_input"
                } else {
                    result
                };
                let handoff = HandoffRequested {
                    reason: reason.to_owned(),
                    target_kind: Some("human".to_owned()),
                    ..HandoffRequested::default()
                };
                self.enter(desk, "handing_off");
                self.event(desk, Event::HandoffRequested(handoff));
                let cancelled = SessionCancelled {
                    cancelled_by: Some("producer".to_owned()),
                    reason: Some("needs_user_input".to_owned()),
                    ..SessionCancelled::default()
                };
                self.event(desk, Event::SessionCancelled(cancelled));
            }
        }
    }

    fn complete(&mut self, desk: &mut SageContext<'_>, result: &str, duration_ms: Option<u64>) {
        let known = result.is_empty() || self.said.trim() == result;
        let is_short = result.chars().nth(SHORT_RESULT).is_none() && !result.contains('\n');
        if !known && !is_short {
            // It was not announced before, and is longer than a sentence.
            self.speak(desk, None, Completeness::Completed, result);
        }
        let completed = SessionCompleted {
            summary: normal((!known && is_short).then(|| result.to_owned())),
            duration_ms: event_writer::duration(duration_ms),
            tool_invocations_count: Some(self.told_calls),
            ..SessionCompleted::default()
        };
        self.event(desk, Event::SessionCompleted(completed));
    }

    /// Handles the timers that are due.
    pub fn tick(&mut self, desk: &mut SageContext<'_>) {
        if matches!(self.start, StartAnnouncement::Waits(_, due) if desk.now >= due) {
            self.tell_start(desk, "");
        }
        if self
            .fault
            .as_ref()
            .is_some_and(|fault| desk.now >= fault.due)
        {
            self.tell_fault(desk);
        }
        self.tick_calls(desk);
    }

    /// Returns when the next timer is due.
    pub fn deadline(&self) -> Option<Duration> {
        let start = match self.start {
            StartAnnouncement::Waits(_, due) => Some(due),
            StartAnnouncement::Over => None,
        };
        let fault = self.fault.as_ref().map(|fault| fault.due);
        let calls = self.calls.values().filter_map(|call| call.due);
        calls.chain(start).chain(fault).min()
    }
}

impl CurrentSpeech {
    /// Returns a piece of it that begins at its present position; `complete` if nothing follows.
    fn chunk(&self, text: &str, complete: bool) -> Event {
        Event::OutputStreaming(event_writer::chunk(&self.id, self.position, text, complete))
    }
}

/// Returns an end by an error.
fn failed(end: &ReportedEnd, result: &str, fault: Option<&ErrorReport>) -> SessionErrored {
    let known = fault.map(|report| report.code.as_str());
    let reason = end.reason.as_deref().or(known);
    let message = fault.map(|report| report.message.as_str());
    let words = if result.is_empty() {
        message.unwrap_or_default()
    } else {
        result
    };
    let category = match (reason, fault.and_then(|report| report.retryable)) {
        (_, Some(true)) => ErrorCategory::Transient,
        (_, Some(false)) | (Some("invalid_request"), None) => ErrorCategory::Permanent,
        (Some("permission_denied" | "needs_user_input"), None) => ErrorCategory::RequiresUser,
        (Some(_) | None, None) => ErrorCategory::Unknown,
    };
    SessionErrored {
        summary: normal(Some(event_writer::long(words))),
        category,
        code: code(reason),
        ..SessionErrored::default()
    }
}

/// Returns a code in AAEP's form; `None` if nothing of it fits.
fn code(reason: Option<&str>) -> Option<String> {
    let code: String = reason?
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .take(64)
        .collect();
    let fits = code.len() >= 2 && code.starts_with(|c: char| c.is_ascii_uppercase());
    fits.then_some(code)
}
