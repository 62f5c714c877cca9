//! What each event does to the state of its session.

use std::time::Duration;

use crate::protocol::{
    Envelope, Event, Now, OutputStreaming, StateChanged, TextDirection, ToolCompleted, ToolInvoked,
    ToolStatus, Urgency,
};

use super::anomaly::{AnomalyKind, Danger};
use super::change::{Change, Ended, What};
use super::key::SessionKey;
use super::model::{
    Consent, Ending, MOST_CALL_IDS, MOST_OUTPUTS, MOST_TOOLS, Phase, Sequence, Session, ToolCall,
};
use super::prompt::{Closing, Prompt, PromptId};
use super::sessions::Sessions;

/// Carries what one event brings along while it is applied, and collects its changes.
pub(super) struct Context {
    pub(super) key: SessionKey,
    pub(super) agent: String,
    pub(super) now: Now,
    pub(super) urgency: Urgency,
    pub(super) language: Option<String>,
    direction: Option<TextDirection>,
    pub(super) replayed: bool,
    changes: Vec<Change>,
}

impl Context {
    pub(super) fn new(key: SessionKey, envelope: &Envelope, now: Now, replayed: bool) -> Self {
        Self {
            key,
            agent: envelope.producer.label().to_owned(),
            now,
            urgency: envelope.urgency,
            language: envelope.localization.primary_language.clone(),
            direction: envelope.localization.text_direction,
            replayed,
            changes: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, what: What) {
        self.changes.push(Change {
            key: self.key.clone(),
            agent: self.agent.clone(),
            at: self.now,
            urgency: self.urgency,
            language: self.language.clone(),
            direction: self.direction,
            replayed: self.replayed,
            what,
        });
    }

    pub(super) fn into_changes(self) -> Vec<Change> {
        self.changes
    }
}

impl Sessions {
    /// Applies one event that is no duplicate.
    pub(super) fn take(&mut self, context: &mut Context, event: Event, envelope: &Envelope) {
        let starts = matches!(event, Event::SessionStarted(_));
        let is_new = !self.sessions.contains_key(&context.key);
        if is_new {
            let session = Session::new(
                context.key.clone(),
                context.agent.clone(),
                context.now.monotonic,
                !starts,
            );
            self.sessions.insert(context.key.clone(), session);
            if !starts {
                context.push(What::SessionJoined);
            }
        }
        let Some(session) = self.sessions.get_mut(&context.key) else {
            return;
        };
        session.events += 1;
        session.last_event = context.now.monotonic;
        session.agent.clone_from(&context.agent);
        let ended = session.is_ended();
        self.follow_sequence(context, envelope.sequence_number);
        let revived = self.revive(&context.key);
        if ended && !starts {
            self.after_end(context, &event);
        }
        match event {
            Event::SessionStarted(event) => {
                if !is_new {
                    self.anomaly(context, AnomalyKind::SecondStart, String::new());
                    // Whoever starts anew does not wait for what was asked before.
                    let open: Vec<PromptId> = self
                        .prompts
                        .values()
                        .filter(|prompt| prompt.key == context.key && prompt.is_open())
                        .map(|prompt| prompt.id)
                        .collect();
                    for id in open {
                        self.close_told(context, id, Closing::SessionEnded);
                    }
                }
                if let Some(session) = self.sessions.get_mut(&context.key) {
                    session.request.clone_from(&event.request_text);
                    if session.is_ended() {
                        // The producer uses the id again: what comes is a new life of it.
                        let fresh = Session::new(
                            context.key.clone(),
                            context.agent.clone(),
                            context.now.monotonic,
                            false,
                        );
                        *session = Session {
                            request: session.request.clone(),
                            events: 1,
                            ..fresh
                        };
                    }
                }
                self.refresh_phase(&context.key);
                context.push(What::SessionStarted(event));
            }
            Event::SessionCompleted(event) => {
                self.end(context, Ending::Completed, Ended::Completed(event))
            }
            Event::SessionErrored(event) => {
                self.end(context, Ending::Errored, Ended::Errored(event))
            }
            Event::SessionCancelled(event) => {
                self.end(context, Ending::Cancelled, Ended::Cancelled(event))
            }
            Event::StateChanged(event) => self.change_state(context, event),
            Event::Progress(event) => {
                if let Some(session) = self.sessions.get_mut(&context.key) {
                    session.progress = Some(event.clone());
                }
                context.push(What::Progress(event));
            }
            Event::ToolInvoked(event) => self.invoke(context, event),
            Event::ToolCompleted(event) => self.complete(context, event),
            Event::OutputStreaming(event) => self.output(context, event),
            Event::AwaitingConfirmation(event) => self.confirm(context, event, envelope),
            Event::AwaitingClarification(event) => self.clarify(context, event, envelope),
            Event::HandoffRequested(event) => {
                context.push(What::Handoff(event));
            }
            Event::Unknown(event) => {
                context.push(What::Unknown {
                    type_name: envelope.type_name.clone(),
                    event,
                });
            }
        }
        for id in revived {
            if self.prompts.get(&id).is_some_and(Prompt::is_answerable) {
                context.push(What::PromptAnswerable(id));
            }
        }
    }

    fn after_end(&mut self, context: &mut Context, event: &Event) {
        let kind = match event {
            Event::SessionCompleted(_) | Event::SessionErrored(_) | Event::SessionCancelled(_) => {
                AnomalyKind::SecondEnd
            }
            Event::SessionStarted(_)
            | Event::StateChanged(_)
            | Event::Progress(_)
            | Event::ToolInvoked(_)
            | Event::ToolCompleted(_)
            | Event::OutputStreaming(_)
            | Event::AwaitingConfirmation(_)
            | Event::AwaitingClarification(_)
            | Event::HandoffRequested(_)
            | Event::Unknown(_) => AnomalyKind::AfterEnd,
        };
        self.anomaly(context, kind, String::new());
        if let Event::ToolInvoked(event) = event {
            context.push(What::Danger(Danger::ActsAfterEnd {
                tool: event.tool.clone(),
            }));
        }
    }

    fn follow_sequence(&mut self, context: &mut Context, number: Option<u64>) {
        let Some(session) = self.sessions.get_mut(&context.key) else {
            return;
        };
        let (next, found) = match (session.sequence, number) {
            (Sequence::Mixed, _) => (Sequence::Mixed, None),
            (Sequence::Unknown, Some(number)) => (Sequence::Next(number.saturating_add(1)), None),
            (Sequence::Unknown | Sequence::Absent, None) => (Sequence::Absent, None),
            (Sequence::Absent, Some(_)) | (Sequence::Next(_), None) => (
                Sequence::Mixed,
                Some((AnomalyKind::SequenceMixed, String::new())),
            ),
            (Sequence::Next(wanted), Some(number)) if number > wanted => (
                Sequence::Next(number.saturating_add(1)),
                Some((AnomalyKind::SequenceGap, (number - wanted).to_string())),
            ),
            (Sequence::Next(wanted), Some(number)) if number < wanted => (
                Sequence::Next(wanted),
                Some((AnomalyKind::SequenceMisorder, number.to_string())),
            ),
            (Sequence::Next(_), Some(number)) => (Sequence::Next(number.saturating_add(1)), None),
        };
        session.sequence = next;
        if let Some((kind, detail)) = found {
            self.anomaly(context, kind, detail);
        }
    }

    fn end(&mut self, context: &mut Context, ending: Ending, event: Ended) {
        let Some(session) = self.sessions.get_mut(&context.key) else {
            return;
        };
        if session.is_ended() {
            // The first ending stands; the anomaly was noted.
            return;
        }
        session.phase = Phase::Ended(ending);
        session.progress = None;
        let open: Vec<String> = session.tools.drain(..).map(|call| call.tool).collect();
        let unfinished = session
            .outputs
            .values()
            .filter(|output| !output.complete)
            .count();
        // One announcement tells the end; its questions are closed before it, so that none outlives it.
        let prompts: Vec<PromptId> = self
            .prompts
            .values()
            .filter(|prompt| prompt.key == context.key && prompt.is_open())
            .map(|prompt| prompt.id)
            .collect();
        for id in prompts {
            self.close_told(context, id, Closing::SessionEnded);
        }
        for tool in open {
            self.anomaly(context, AnomalyKind::ToolLeftOpen, tool);
        }
        if unfinished > 0 {
            self.anomaly(context, AnomalyKind::OutputNotCompleted, String::new());
        }
        context.push(What::SessionEnded(event));
    }

    fn change_state(&mut self, context: &mut Context, event: StateChanged) {
        let Some(session) = self.sessions.get_mut(&context.key) else {
            return;
        };
        let found = match &session.state {
            Some(state) if *state != event.from_state => Some(AnomalyKind::BrokenStateChain),
            None if !session.joined && event.from_state != "idle" => {
                Some(AnomalyKind::FirstStateNotIdle)
            }
            Some(_) | None => None,
        };
        session.state = Some(event.to_state.clone());
        session.state_changes += 1;
        if let Some(kind) = found {
            self.anomaly(context, kind, event.from_state.clone());
        }
        // What it means for a question comes first: it is what the person waits for.
        if event.from_state == "awaiting_input" {
            self.left_awaiting(context, &event);
        } else if event.to_state != "awaiting_input" {
            self.perhaps_resolved(context);
        }
        context.push(What::StateChanged(event));
    }

    fn invoke(&mut self, context: &mut Context, event: ToolInvoked) {
        let irreversible = event.irreversible == Some(true);
        let linked = self.linked_prompt(&context.key, event.tool_call_id.as_ref(), &event.tool);
        let consent = if irreversible {
            self.consent_for(&context.key, &event.tool, event.tool_call_id.as_ref())
        } else {
            Consent::NotNeeded
        };
        let Some(session) = self.sessions.get_mut(&context.key) else {
            return;
        };
        let reused = event
            .tool_call_id
            .as_ref()
            .is_some_and(|id| session.call_ids.contains(id));
        if let Some(id) = &event.tool_call_id {
            session.call_ids.push_back(id.clone());
            if session.call_ids.len() > MOST_CALL_IDS {
                session.call_ids.pop_front();
            }
        }
        session.tools.push(ToolCall {
            tool: event.tool.clone(),
            call_id: event.tool_call_id.clone(),
            since: context.now.monotonic,
            irreversible,
            risk: event.risk_level.clone(),
            // What was replayed happened before our time; its question may have, too.
            consent: if context.replayed {
                Consent::NotNeeded
            } else {
                consent
            },
            expected_duration_ms: event.expected_duration_ms,
        });
        if session.tools.len() > MOST_TOOLS {
            // What can't be undone is kept as long as anything else can leave.
            let oldest = session
                .tools
                .iter()
                .position(|call| !call.irreversible)
                .unwrap_or(0);
            session.tools.remove(oldest);
            self.dropped.tools += 1;
        }
        if reused {
            self.anomaly(context, AnomalyKind::ReusedCallId, event.tool.clone());
        }
        context.push(What::ToolInvoked(event));
        match (linked, consent) {
            (Some(id), _) | (None, Consent::Asked(id)) => {
                if self.prompts.get(&id).is_some_and(Prompt::is_open) {
                    self.close_told(context, id, Closing::ToolWentOn);
                }
            }
            (None, Consent::NotNeeded | Consent::Missing | Consent::MissingTold) => {
                self.perhaps_resolved(context)
            }
        }
    }

    /// Finds the open question that guards exactly this call.
    fn linked_prompt(
        &self,
        key: &SessionKey,
        call_id: Option<&crate::protocol::ToolCallId>,
        tool: &str,
    ) -> Option<PromptId> {
        let linked = |prompt: &&Prompt| {
            let same_call = match (&prompt.call_id, call_id) {
                (Some(mine), Some(theirs)) => mine == theirs,
                (None, None) => prompt.tool.as_deref() == Some(tool),
                (Some(_), None) | (None, Some(_)) => false,
            };
            prompt.key == *key && prompt.is_open() && same_call
        };
        self.prompts.values().find(linked).map(|prompt| prompt.id)
    }

    fn complete(&mut self, context: &mut Context, event: ToolCompleted) {
        let linked = self.linked_prompt(&context.key, event.tool_call_id.as_ref(), &event.tool);
        let Some(session) = self.sessions.get_mut(&context.key) else {
            return;
        };
        let call = session
            .find_tool(event.tool_call_id.as_ref(), &event.tool)
            .map(|index| session.tools.remove(index));
        let joined = session.joined;
        let succeeded = event.status == ToolStatus::Success;
        let danger = match (&call, self.sessions.get(&context.key)) {
            (Some(call), Some(session)) if succeeded => self.danger_of_success(session, call),
            _ => None,
        };
        let elapsed = call
            .as_ref()
            .map(|call| context.now.monotonic.saturating_sub(call.since));
        if call.is_none() && !joined {
            self.anomaly(
                context,
                AnomalyKind::CompletionWithoutInvocation,
                event.tool.clone(),
            );
        }
        if let Some(danger) = danger {
            context.push(What::Danger(danger));
        }
        context.push(What::ToolCompleted { event, elapsed });
        match linked {
            Some(id) => self.close_told(context, id, Closing::ToolWentOn),
            None => self.perhaps_resolved(context),
        }
    }

    fn output(&mut self, context: &mut Context, event: OutputStreaming) {
        let Some(session) = self.sessions.get_mut(&context.key) else {
            return;
        };
        let mut found = Vec::new();
        if session.outputs.len() >= MOST_OUTPUTS && !session.outputs.contains_key(&event.output_id)
        {
            let oldest = session
                .outputs
                .iter()
                .max_by_key(|(_, output)| output.complete)
                .map(|(id, _)| id.clone());
            if let Some(oldest) = oldest {
                session.outputs.remove(&oldest);
            }
        }
        let output = session.outputs.entry(event.output_id.clone()).or_default();
        if output.complete {
            found.push(AnomalyKind::ChunkAfterComplete);
        } else if let (Some(before), Some(now)) = (output.position, event.position)
            && now < before
        {
            found.push(AnomalyKind::PositionDecreased);
        }
        output.position = event.position.or(output.position);
        output.complete |= event.complete;
        let after_rejection = if event.chunk.trim().is_empty() {
            None
        } else {
            session.rejected.take()
        };
        for kind in found {
            self.anomaly(context, kind, String::new());
        }
        let has_text = !event.chunk.is_empty();
        context.push(What::Output {
            output: event.output_id.clone(),
            event,
            after_rejection,
        });
        if has_text {
            self.perhaps_resolved(context);
        }
    }

    /// Gives the time since an agent said anything, for the heartbeat and the status.
    pub fn silence(&self, key: &SessionKey, now: Duration) -> Option<Duration> {
        self.sessions
            .get(key)
            .map(|session| now.saturating_sub(session.last_event))
    }
}
