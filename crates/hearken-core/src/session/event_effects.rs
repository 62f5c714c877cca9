//! The effect of each event on the state of its session.

use std::sync::Arc;

use crate::protocol::{Event, Progress, SessionStarted, StateChanged, Summary};

use super::anomaly::{AnomalyKind, Danger};
use super::change::{ChangeKind, SessionEndEvent};
use super::context::Context;
use super::key::{QuestionId, SessionKey};
use super::machine_observer::Subject;
use super::machines::{
    AgentState, Entered, Lifecycle, LifecycleEvent, OutputEvent, ToolEvent, ToolRun,
};
use super::model::{Session, SessionEndKind, shown};
use super::question::{CloseReason, Question};
use super::sessions::Sessions;

impl Sessions {
    /// Applies one event that is not a duplicate and whose turn has come.
    pub(super) fn take(&mut self, context: &mut Context, event: Event) {
        let envelope = context.envelope;
        let happened = LifecycleEvent::of(&event);
        let starts = happened == LifecycleEvent::Started;
        if starts {
            self.renew(context);
        }
        context.place = self.sessions.place(context.key);
        if context.place.is_none() {
            self.begin(context, !starts);
        }
        let Some(session) = self.sessions.of_mut(context) else {
            return;
        };
        session.events += 1;
        session.last_event = context.now.monotonic;
        let renamed = session.take_producer(&envelope.producer) | session.take_host(envelope);
        if let Some(parent) = envelope.parent_session_id()
            && session.parent.is_none()
            && parent != context.key.session
        {
            session.parent = Some(parent);
        }
        let (life, first, late) = (
            session.phase.lifecycle(),
            session.events == 1,
            session.joined,
        );
        let number = envelope.sequence_number;
        if first && (late || (context.replayed && number.is_none())) {
            // Earlier events are unknown, and a server replays only its own selection.
            session.miss(u64::MAX);
        }
        session.only_replayed &= context.replayed;
        let before_us =
            number.is_some_and(|number| session.first_number.is_some_and(|first| number < first));
        let earlier = session
            .last_stamp
            .zip(envelope.timestamp)
            .is_some_and(|(last, stamp)| stamp < last && !before_us);
        session.last_stamp = session.last_stamp.max(envelope.timestamp);
        if renamed && let Some(place) = context.place {
            self.sessions.named_anew(place);
        }
        if earlier {
            self.anomaly(context, AnomalyKind::TimestampDecreased, String::new());
        }
        self.follow_numbers(context, number, starts);
        let revived = self.revive(context, envelope.event_id.is_some());
        // The first event has set the session's state; every other one steps its machine.
        let is_over = life != Lifecycle::Active;
        let refused =
            (!first || is_over) && context.step(Subject::Session, life, happened).is_err();
        let overtaken = starts && late && self.was_overtaken(context, number);
        if refused {
            match (starts, late) {
                (true, true) if overtaken => {}
                (true, true) => self.anomaly(context, AnomalyKind::LateStart, String::new()),
                (true, false) => self.anomaly(context, AnomalyKind::SecondStart, String::new()),
                (false, _) => self.after_end(context, &event),
            }
        } else if first && !is_over && !starts && happened != LifecycleEvent::Activity {
            // The session was joined at its very end.
            let _ = context.step(Subject::Session, life, happened);
        }
        match event {
            Event::SessionStarted(event) => self.start(context, event, refused && !overtaken),
            Event::SessionCompleted(event) => self.end(
                context,
                SessionEndKind::Completed,
                SessionEndEvent::Completed(event),
            ),
            Event::SessionErrored(event) => self.end(
                context,
                SessionEndKind::Errored,
                SessionEndEvent::Errored(event),
            ),
            Event::SessionCancelled(event) => self.end(
                context,
                SessionEndKind::Cancelled,
                SessionEndEvent::Cancelled(event),
            ),
            Event::StateChanged(event) => self.change_state(context, event),
            Event::Progress(event) => {
                if let Some(session) = self.sessions.of_mut(context) {
                    if !envelope.attached.plan.is_empty() {
                        let before = session.plan.weight();
                        session.plan = Arc::clone(&envelope.attached);
                        session.loaded += envelope.attached.weight();
                        session.loaded = session.loaded.saturating_sub(before);
                    }
                    session.progress = Some(Box::new(Progress {
                        description: event.description.as_deref().map(shown),
                        summary: Summary::default(),
                        ..event.clone()
                    }));
                }
                context.push(ChangeKind::Progress(event));
            }
            Event::ToolInvoked(event) => self.invoke(context, event),
            Event::ToolCompleted(event) => self.complete(context, event),
            Event::OutputStreaming(event) => self.output(context, event),
            Event::AwaitingConfirmation(event) => self.confirm(context, *event),
            Event::AwaitingClarification(event) => self.clarify(context, *event),
            Event::HandoffRequested(event) => {
                self.implies(context, AgentState::HandingOff);
                context.push(ChangeKind::Handoff(event));
            }
            Event::Unknown(event) => {
                context.push(ChangeKind::Unknown {
                    type_name: envelope.type_name.clone().into_owned(),
                    event,
                });
            }
        }
        for id in revived {
            if self.questions.get(id).is_some_and(Question::is_answerable) {
                context.push(ChangeKind::QuestionAnswerable(id));
            }
        }
    }

    /// Adds a session at its first event, its start or any other.
    fn begin(&mut self, context: &mut Context, joined: bool) {
        let mut session = Session::new(
            context.key.clone(),
            Arc::clone(context.envelope.producer.label()),
            context.now.monotonic,
            joined,
        );
        self.begun += 1;
        session.number = self.begun;
        context.place = Some(self.sessions.begin(session));
        let how = if joined {
            LifecycleEvent::Joined
        } else {
            LifecycleEvent::Started
        };
        // Both ways to begin are rows of the table.
        let _ = context.step(Subject::Session, Lifecycle::Absent, how);
        if !joined {
            self.start_in_team(context);
        } else if !self.join_team(context) {
            context.push(ChangeKind::SessionJoined);
        }
    }

    /// Forgets an ended session when a new one starts under its id.
    fn renew(&mut self, context: &mut Context) {
        let Some(session) = self.sessions.get(context.key) else {
            return;
        };
        if !session.is_ended() {
            return;
        }
        let life = session.phase.lifecycle();
        // An ended session does not accept a start; the observer is notified.
        let _ = context.step(Subject::Session, life, LifecycleEvent::Started);
        self.anomaly(context, AnomalyKind::SessionIdReused, String::new());
        for id in self.open_of(context.key) {
            self.close_told(context, id, CloseReason::SessionEnded);
        }
        self.forget_helpers(context);
        self.sessions.remove(context.key);
    }

    fn start(&mut self, context: &mut Context, event: SessionStarted, again: bool) {
        if again {
            // A producer that starts again does not wait for earlier questions.
            for id in self.open_of(context.key) {
                self.close_told(context, id, CloseReason::SessionEnded);
            }
        }
        if let Some(session) = self.sessions.of_mut(context) {
            session.joined = false;
            session.helps = false;
            session.is_aside = context.envelope.is_translated() && context.envelope.attached.aside;
            session.request = event.request_text.as_deref().map(shown);
            session.weigh_rest();
            let place = session.place;
            self.sessions.named_anew(place);
        }
        self.refresh_phase(context.key);
        context.push(ChangeKind::SessionStarted(event));
    }

    /// Returns the open questions of a session, held back or raised.
    pub(super) fn open_of(&self, key: &SessionKey) -> Vec<QuestionId> {
        let open = self.questions.open_of(key);
        open.map(|question| question.id).collect()
    }

    fn after_end(&mut self, context: &mut Context, event: &Event) {
        let kind = match LifecycleEvent::of(event) {
            LifecycleEvent::Completed | LifecycleEvent::Errored | LifecycleEvent::Cancelled => {
                AnomalyKind::SecondEnd
            }
            LifecycleEvent::Started | LifecycleEvent::Joined | LifecycleEvent::Activity => {
                AnomalyKind::AfterEnd
            }
        };
        self.anomaly(context, kind, String::new());
        if let Event::ToolInvoked(event) = event {
            context.push(ChangeKind::Danger(Danger::ActsAfterEnd {
                tool: event.tool.clone(),
            }));
        }
    }

    fn end(&mut self, context: &mut Context, ending: SessionEndKind, event: SessionEndEvent) {
        let is_lead = match self.sessions.of(context) {
            // The first ending stands; the anomaly was noted.
            Some(session) if session.is_ended() => return,
            Some(session) => !session.helps,
            None => return,
        };
        if is_lead {
            self.end_helpers(context, ending);
        }
        self.close_session(context, ending);
        context.push(ChangeKind::SessionEnded(event));
    }

    /// Ends a session with everything that is open in it.
    pub(super) fn close_session(&mut self, context: &mut Context, ending: SessionEndKind) {
        let Some(session) = self.sessions.of_mut(context) else {
            return;
        };
        session.phase = super::model::Phase::Ended(ending);
        session.progress = None;
        let owes_leaving = std::mem::take(&mut session.owes_leaving);
        let open: Vec<_> = session.tools.drain(..).collect();
        let (epoch, whole) = (session.epoch(), session.is_whole());
        let outputs: Vec<_> = session
            .outputs
            .iter()
            .map(|(id, output)| (id.clone(), output.run, output.epoch))
            .collect();
        self.sessions.end(context.key);
        let asked = self.open_of(context.key);
        // Not leaving `awaiting_input` is a fault only if the agent goes on to the end (6.8).
        let not_left =
            ending == SessionEndKind::Completed && whole && (owes_leaving || !asked.is_empty());
        // The session's questions are closed before the announcement of its end, so that none outlives it.
        for id in asked {
            self.close_told(context, id, CloseReason::SessionEnded);
        }
        for call in open {
            let subject = Subject::Tool {
                name: &call.tool,
                call: call.call_id.as_ref(),
            };
            if context
                .step(subject, ToolRun::Running, ToolEvent::SessionEnded)
                .is_err()
                && call.epoch == epoch
            {
                self.anomaly(context, AnomalyKind::ToolLeftOpen, call.tool.clone());
            }
            self.note_failed(context.key, call);
        }
        for (id, run, heard) in outputs {
            let subject = Subject::Output(id.as_ref());
            if context
                .step(subject, run, OutputEvent::SessionEnded)
                .is_err()
                && heard == epoch
            {
                self.anomaly(context, AnomalyKind::OutputNotCompleted, String::new());
            }
        }
        if not_left {
            self.anomaly(context, AnomalyKind::AwaitingInputNotLeft, String::new());
        }
        if ending == SessionEndKind::Completed && whole {
            self.check_consequences(context);
        }
        self.note_end_of_turn(context.key);
    }

    fn change_state(&mut self, context: &mut Context, event: StateChanged) {
        let Some(session) = self.sessions.of_mut(context) else {
            return;
        };
        let from = AgentState::named(&event.from_state);
        let to = AgentState::named(&event.to_state);
        let implied = session.implied.contains(from) && from != AgentState::Other;
        let found = match session.sure_state() {
            Some(state)
                if state != event.from_state && state != shown(&event.from_state) && !implied =>
            {
                Some(AnomalyKind::BrokenStateChain)
            }
            None if session.is_whole() && !session.helps && event.from_state != "idle" => {
                Some(AnomalyKind::FirstStateNotIdle)
            }
            Some(_) | None => None,
        };
        // Beside another call, or once one has returned, the agent may continue, and it may write while a call
        // runs: it has a single state for all that (A.3).
        let is_alone = session.tools.len() == 1 && !session.implied.contains(AgentState::Thinking);
        session.enter(event.to_state.clone());
        // "Fifty per cent" of the previous state means nothing in this one.
        session.progress = None;
        session.implied.clear();
        if from == AgentState::AwaitingInput {
            session.owes_leaving = false;
        }
        let mut too_early = None;
        let epoch = session.epoch();
        for call in &mut session.tools {
            match to {
                AgentState::CallingTool => call.in_calling_tool = true,
                AgentState::Thinking | AgentState::Idle | AgentState::Deciding
                    if is_alone
                        && call.in_calling_tool
                        && call.epoch == epoch
                        && from == AgentState::CallingTool =>
                {
                    too_early = Some(call.tool.clone());
                }
                AgentState::Thinking
                | AgentState::WritingOutput
                | AgentState::Idle
                | AgentState::Deciding
                | AgentState::AwaitingInput
                | AgentState::HandingOff
                | AgentState::Other => {}
            }
        }
        let name = Subject::State {
            name: &event.to_state,
        };
        // The typical flow of A.2 is not a rule: departures from it only show in a trace.
        let _ = context.step(name, from, Entered::state(to));
        if to == AgentState::Idle {
            self.note_end_of_turn(context.key);
        }
        if let Some(kind) = found {
            self.anomaly(context, kind, shown(&event.from_state));
        }
        if let Some(tool) = too_early {
            self.anomaly(context, AnomalyKind::StateBeforeCompletion, tool);
        }
        // The consequence for a question comes first: the person is waiting for it.
        if from == AgentState::AwaitingInput {
            self.left_awaiting(context, &event);
        } else if to != AgentState::AwaitingInput {
            self.perhaps_resolved(context);
        }
        context.push(ChangeKind::StateChanged(event));
    }

    /// Notes a state that an event implies without a state change (4.2.1).
    pub(super) fn implies(&mut self, context: &Context, state: AgentState) {
        if let Some(session) = self.sessions.of_mut(context) {
            session.implied.insert(state);
        }
    }
}
