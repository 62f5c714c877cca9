//! One turn of the agent, as AAEP events.
//!
//! Responsibilities: the AAEP events that its updates become, its permissions one after the other, its end. Not here:
//! what is sent when (`client`), what is known of a call (`call`).
//!
//! Mental model: a turn is one AAEP session. While a permission is open, its state stays `awaiting_input`, whatever
//! else the agent reports, because leaving that state would mean that the question is decided. A turn whose agent is
//! done while a permission is open ends once that is answered: no question is ever lost to an end. What the agent does
//! unprompted is a turn of its own, which ends when nothing more of it comes.

mod call_ends;
mod call_start;
mod late_calls;
mod turn_questions;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::event_writer::{self, EventContent, EventWriter, stated};
use crate::link::{Phrase, PhraseArg};
use crate::protocol::{
    Attachments, Event, OutputStreaming, PlanStage, PlanStep, Progress, SessionStarted,
    StateChanged, ToolCallId, ToolInvoked,
};
use crate::{Cx, DialectOutput, SharedWording};

pub use late_calls::LeftCalls;

use super::call::{self, Call, HeardStage};
use super::permission::Permission;
use super::turn_end::TurnEnd;
use super::turn_updates::{CallNews, CallStatus, Update};

/// How many calls of a turn are followed at a time.
const MOST_CALLS: usize = 256;
/// How many finished calls are remembered, so that a late update of one is not announced as another call.
const MOST_OVER: usize = 256;
/// How many permissions may wait to be asked; further requests are answered with an error.
pub(super) const MOST_PERMISSIONS: usize = 64;
/// After how long without news an unprompted turn is over.
const QUIET: Duration = Duration::from_secs(5);
/// How many characters of a prompt go into the start event.
const LONGEST_REQUEST: usize = 4000;

/// What all turns need to write their events.
#[derive(Debug)]
pub struct EventContext {
    /// The writer of the events.
    pub writer: EventWriter,
    /// The source of the sentences.
    pub words: SharedWording,
    /// The working directory.
    pub folder: String,
    /// Whether answers can be sent.
    pub answerable: bool,
    /// The calls that earlier turns left running.
    pub left: LeftCalls,
}

/// An output that is still being written.
#[derive(Debug)]
pub(super) struct OpenOutput {
    id: String,
    message: Option<String>,
    position: u64,
    /// Whether it is so far a single piece that is complete in itself.
    is_notice: bool,
}

impl OpenOutput {
    /// Returns a piece of it that begins at its present position; `complete` if nothing follows.
    fn chunk(&self, text: &str, complete: bool) -> Event {
        Event::OutputStreaming(OutputStreaming {
            content_type: Some("text/markdown".into()),
            ..event_writer::chunk(&self.id, self.position, text, complete)
        })
    }
}

/// One turn.
#[derive(Debug)]
pub struct Turn {
    /// Whether a stop was requested.
    pub stopping: bool,
    pub(super) session: event_writer::TranslatedSession,
    pub(super) prompted: bool,
    pub(super) began: Duration,
    pub(super) heard: Duration,
    pub(super) said: String,
    /// The calls that are followed, by AAEP's ids.
    pub calls: BTreeMap<String, Call>,
    pub(super) over: VecDeque<String>,
    pub(super) output: Option<OpenOutput>,
    pub(super) outputs: u64,
    pub(super) plan: Vec<PlanStep>,
    /// The open question.
    pub permission: Option<Permission>,
    /// The questions to ask next.
    pub waiting: VecDeque<Permission>,
    /// Questions that were dropped because their calls went on without an answer; the agent may still wait for one.
    pub(super) passed: Vec<Permission>,
    pub(super) end: Option<TurnEnd>,
    /// Whether the end waits for news of calls that still run.
    open: Option<late_calls::LateDeadline>,
    pub(super) call_count: u64,
    pub(super) failed: u64,
    /// Whether the latest decision was a rejection, and no call has run since.
    pub(super) rejected: bool,
    pub(super) edited: std::collections::BTreeSet<String>,
    pub(super) left_out: u64,
    pub(super) repeats: u64,
}

/// Returns whether a piece of text is a complete sentence or more: models write a word or part of one at a time, with
/// the space before it.
fn is_notice(text: &str) -> bool {
    text.ends_with(['.', '!', '?']) && text.split_whitespace().count() >= 4
}

impl Turn {
    /// Begins a turn with the prompt given to the agent; without one, for what it does by itself.
    pub fn begin(
        conversation: &str,
        prompt: Option<&str>,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) -> Self {
        let mut turn = Self {
            stopping: false,
            session: teller.writer.session(conversation, conversation),
            prompted: prompt.is_some(),
            began: cx.now.monotonic,
            heard: cx.now.monotonic,
            said: "idle".to_owned(),
            calls: BTreeMap::new(),
            over: VecDeque::new(),
            output: None,
            outputs: 0,
            plan: Vec::new(),
            permission: None,
            waiting: VecDeque::new(),
            passed: Vec::new(),
            end: None,
            open: None,
            call_count: 0,
            failed: 0,
            rejected: false,
            edited: std::collections::BTreeSet::new(),
            left_out: 0,
            repeats: 0,
        };
        let request = prompt.map(|text| event_writer::cut(text, LONGEST_REQUEST));
        let started = SessionStarted {
            requested_by: Some("user".to_owned()),
            request_text: request.and_then(stated),
            ..SessionStarted::default()
        };
        turn.event(Event::SessionStarted(started), teller, cx);
        turn.enter("thinking", teller, cx);
        turn
    }

    /// Notes that the end of the turn will be reported, even if it began unprompted.
    pub fn will_end(&mut self) {
        self.prompted = true;
    }

    /// Applies an update to the turn.
    pub fn update(&mut self, update: Update, teller: &mut EventContext, cx: &mut Cx<'_>) {
        self.heard = cx.now.monotonic;
        match update {
            Update::Says { message, text } => self.says(message, &text, teller, cx),
            Update::Shows(kind) => {
                let phrase = Phrase::new("acp.shows").with("kind", PhraseArg::Name(kind));
                cx.out.push(DialectOutput::Announce(phrase));
            }
            Update::Thinks => {
                self.close_output(teller, cx);
                self.enter("thinking", teller, cx);
            }
            Update::Calls(news) => self.call(*news, teller, cx),
            Update::Plans(plan) => self.planned(plan, teller, cx),
            // None of these concerns the turn.
            Update::Echoes(_)
            | Update::Mode(_)
            | Update::Options(_)
            | Update::Commands { .. }
            | Update::Quiet
            | Update::Unknown(_) => {}
        }
        self.await_more(cx.now.monotonic);
    }

    fn says(
        &mut self,
        message: Option<String>,
        text: &str,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) {
        if text.is_empty() {
            return;
        }
        // A notice of the agent's program comes in one piece, and what the model writes follows without a break.
        let fresh = text.starts_with(|c: char| c.is_uppercase() || "#`*|>".contains(c));
        let other = |output: &OpenOutput| {
            (message.is_some() && output.message != message) || (output.is_notice && fresh)
        };
        if self.output.as_ref().is_some_and(other) {
            self.close_output(teller, cx);
        }
        self.enter("writing_output", teller, cx);
        let outputs = &mut self.outputs;
        let output = self.output.get_or_insert_with(|| {
            *outputs += 1;
            OpenOutput {
                id: format!("out_{outputs}"),
                message,
                position: 0,
                is_notice: false,
            }
        });
        output.is_notice = output.position == 0 && is_notice(text);
        let chunk = output.chunk(text, false);
        output.position += text.chars().count() as u64;
        self.event(chunk, teller, cx);
    }

    pub(super) fn close_output(&mut self, teller: &mut EventContext, cx: &mut Cx<'_>) {
        if let Some(output) = self.output.take() {
            self.event(output.chunk("", true), teller, cx);
        }
    }

    /// Announces a plan if it differs from the previous one.
    fn planned(&mut self, plan: Vec<PlanStep>, teller: &mut EventContext, cx: &mut Cx<'_>) {
        if plan.is_empty() || self.plan == plan {
            return;
        }
        self.plan = plan;
        let is = |stage: PlanStage| move |step: &&PlanStep| step.stage == stage;
        let done = self.plan.iter().filter(is(PlanStage::Done)).count();
        let at = self.plan.iter().find(is(PlanStage::UnderWay));
        let step = done + usize::from(at.is_some());
        let progress = Event::Progress(Progress {
            step: Some(step as u64),
            total_steps: Some(self.plan.len() as u64),
            description: at.and_then(|at| stated(at.words.as_str())),
            ..Progress::default()
        });
        let attached = Attachments {
            plan: self.plan.clone(),
            ..Attachments::default()
        };
        self.event(EventContent::from(progress).with(attached), teller, cx);
    }

    /// Records the agent's words for what it is doing now, for people who ask.
    pub fn does(&mut self, words: &str, teller: &mut EventContext, cx: &mut Cx<'_>) {
        self.heard = cx.now.monotonic;
        let progress = Progress {
            description: stated(words),
            ..Progress::default()
        };
        self.event(Event::Progress(progress), teller, cx);
    }

    fn call(&mut self, news: CallNews, teller: &mut EventContext, cx: &mut Cx<'_>) {
        let key = call::key(&news.id);
        if self.over.contains(&key) {
            return;
        }
        let status = news.status;
        if teller.left.is_outdated(&news) {
            return;
        }
        self.take_up(&key, teller);
        if !self.know(&key, news, &teller.folder) {
            return;
        }
        self.ask_if_changed(&key, teller, cx);
        match status {
            None | Some(CallStatus::Pending) => {}
            Some(CallStatus::InProgress) => self.runs(&key, teller, cx),
            Some(CallStatus::Completed | CallStatus::Failed | CallStatus::Ended) => {
                self.ended(&key, teller, cx);
            }
        }
    }

    /// Applies an update to a call; returns whether there is room for it.
    pub(super) fn know(&mut self, key: &str, mut news: CallNews, folder: &str) -> bool {
        if !self.calls.contains_key(key) && self.calls.len() >= MOST_CALLS {
            self.left_out += 1;
            return false;
        }
        // Paths in the working directory are named relative to it, as people do.
        for edit in news.edits.iter_mut().flatten() {
            edit.path = call::inside(&edit.path, folder).to_owned();
        }
        for place in news.places.iter_mut().flatten() {
            *place = call::inside(place, folder).to_owned();
        }
        news.title = news.title.map(|title| call::titled(&title, folder));
        let call = self.calls.entry(key.to_owned());
        let call = call.or_insert_with(|| Call::new(key));
        call.set_folder(folder);
        call.take(news);
        true
    }

    /// Announces that a call runs.
    pub fn tell_call(&mut self, key: &str, teller: &mut EventContext, cx: &mut Cx<'_>) {
        let Some(call) = self.calls.get_mut(key) else {
            return;
        };
        call.stage = HeardStage::Announced;
        call.invoked_as = Some(call.tool());
        // The turn went on after the rejection.
        self.rejected = false;
        let attached = Attachments {
            action_details: Some(call.action_details()),
            call: Some(call.facts(&teller.words)),
            ..Attachments::default()
        };
        let (summary, is_ours) = call.begun(&teller.words);
        let invoked = Event::ToolInvoked(ToolInvoked {
            tool: call.tool(),
            tool_call_id: Some(ToolCallId::from(call.key.as_str())),
            summary,
            ..ToolInvoked::default()
        });
        let content = EventContent::from(invoked).with(attached);
        self.call_count += 1;
        self.close_output(teller, cx);
        self.enter("calling_tool", teller, cx);
        match is_ours {
            true => self.worded(content, teller, cx),
            false => self.event(content, teller, cx),
        }
    }

    /// Sets the end of the turn, which takes effect at [`Turn::is_over`], once no question is open.
    pub fn end(&mut self, end: TurnEnd) {
        self.end.get_or_insert(end);
    }

    /// Returns its permissions that the agent may still wait for.
    pub fn permissions(&self) -> impl Iterator<Item = &Permission> {
        self.permission
            .iter()
            .chain(&self.waiting)
            .chain(&self.passed)
    }

    /// Returns whether no call has begun in it.
    pub fn has_no_calls(&self) -> bool {
        self.call_count == 0
    }

    /// Returns how many calls could not be followed, because too many ran at a time.
    pub fn calls_left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns whether it has ended, and no question is open.
    pub fn is_over(&self) -> bool {
        self.end.is_some()
            && self.open.is_none()
            && self.permission.is_none()
            && self.waiting.is_empty()
    }

    /// Returns whether it is unprompted and has no open question.
    pub fn is_idle(&self) -> bool {
        !self.prompted && self.permission.is_none() && self.waiting.is_empty()
    }

    /// Returns when time next matters.
    pub fn deadline(&self) -> Option<Duration> {
        let calls = self.calls.values().filter_map(Self::runs_from);
        calls
            .chain(self.quiet_at())
            .chain(self.open.map(|open| open.until))
            .min()
    }

    /// Returns when it ends for lack of news.
    fn quiet_at(&self) -> Option<Duration> {
        let busy = self.permission.is_some()
            || self
                .calls
                .values()
                .any(|it| it.stage == HeardStage::Announced);
        (!self.prompted && !busy).then(|| self.heard + QUIET)
    }

    /// Handles the passing of time.
    pub fn tick(&mut self, teller: &mut EventContext, cx: &mut Cx<'_>) {
        let now = cx.now.monotonic;
        let due = |call: &Call| Self::runs_from(call).is_some_and(|at| at <= now);
        let due = self.calls.iter().filter(|(_, call)| due(call));
        let due: Vec<String> = due.map(|(key, _)| key.clone()).collect();
        for key in due {
            self.tell_call(&key, teller, cx);
        }
        if self.open.is_some_and(|open| open.until <= cx.now.monotonic) {
            self.leave_late();
        }
        if self.quiet_at().is_some_and(|at| at <= cx.now.monotonic) {
            self.end(TurnEnd::Done);
        }
    }

    /// Announces another state of the agent, unless a question is open. An agent that thinks while a call runs is still
    /// calling a tool (A.3).
    pub(super) fn enter(&mut self, to: &str, teller: &mut EventContext, cx: &mut Cx<'_>) {
        let runs = |call: &Call| call.stage == HeardStage::Announced;
        let is_calling = to == "thinking" && self.calls.values().any(runs);
        self.change_state(if is_calling { "calling_tool" } else { to }, teller, cx);
    }

    /// Announces exactly this state of the agent, unless a question is open: how a question is left says how it was
    /// decided.
    pub(super) fn change_state(&mut self, to: &str, teller: &mut EventContext, cx: &mut Cx<'_>) {
        if self.permission.is_some() || self.said == to {
            return;
        }
        let changed = StateChanged {
            from_state: self.said.clone().into(),
            to_state: to.to_owned().into(),
            ..StateChanged::default()
        };
        to.clone_into(&mut self.said);
        self.event(Event::StateChanged(changed), teller, cx);
    }

    /// Writes an event whose sentences are ours.
    pub(crate) fn worded(
        &mut self,
        content: impl Into<EventContent>,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) {
        let content = content.into();
        let language = teller.words.language().filter(|_| content.has_summary());
        self.event(content.in_language(language), teller, cx);
    }

    pub(super) fn event(
        &mut self,
        content: impl Into<EventContent>,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) {
        let text = teller.writer.event(&mut self.session, cx.now.wall, content);
        cx.out.push(DialectOutput::Event(text));
    }
}
