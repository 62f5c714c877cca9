//! What each event does to the state of its session.

use std::time::Duration;

use crate::protocol::{
    AwaitingClarification, AwaitingConfirmation, Envelope, Event, Now, OutputStreaming,
    StateChanged, TextDirection, ToolCompleted, ToolInvoked, ToolStatus, Urgency,
};

use super::anomaly::{AnomalyKind, Danger};
use super::change::{Change, Ended, What};
use super::key::{LinkId, SessionKey};
use super::model::{
    Consent, Ending, MOST_CALL_IDS, MOST_OUTPUTS, MOST_TOOLS, Phase, Sequence, Session, ToolCall,
};
use super::prompt::{Closing, Prompt, PromptId, Question, ReplyState, Standing, Warning};
use super::sessions::{MOST_OPEN, Sessions};

/// Carries what one event brings along while it is applied, and collects its changes.
pub(super) struct Context {
    pub(super) key: SessionKey,
    agent: String,
    now: Now,
    urgency: Urgency,
    language: Option<String>,
    direction: Option<TextDirection>,
    replayed: bool,
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

    /// Raises the questions that were held back while old events may have been replayed.
    pub(super) fn raise_held(&mut self, link: LinkId, now: Now) -> Vec<Change> {
        let over = self
            .links
            .get_mut(&link)
            .is_none_or(|state| state.end_burst_if_due(now.monotonic));
        if !over {
            return Vec::new();
        }
        let mine = |sessions: &Self, id: &PromptId| {
            sessions
                .prompts
                .get(id)
                .is_some_and(|prompt| prompt.key.link == link)
        };
        let raised: Vec<PromptId> = self
            .held
            .iter()
            .copied()
            .filter(|id| mine(self, id))
            .collect();
        self.held.retain(|id| !raised.contains(id));
        let mut changes = Vec::new();
        for prompt in raised.iter().filter_map(|id| self.prompts.get(id)) {
            let mut tell = |what| {
                changes.push(Change {
                    urgency: Urgency::Critical,
                    ..self.bare_change(prompt, now, what)
                })
            };
            tell(What::PromptOpened(prompt.id));
            if prompt.question.accepts_by_silence() {
                tell(What::Danger(Danger::AcceptsBySilence { prompt: prompt.id }));
            }
        }
        changes
    }

    /// An event of the asking session on a link that is back: the same server is there.
    fn revive(&mut self, key: &SessionKey) -> Vec<PromptId> {
        let mut revived = Vec::new();
        for prompt in self.prompts.values_mut() {
            if prompt.key == *key && prompt.is_open() && prompt.standing == Standing::LinkLost {
                prompt.standing = Standing::Live;
                revived.push(prompt.id);
            }
        }
        revived
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

    /// Closes a question and tells it, unless it was never raised.
    fn close_told(&mut self, context: &mut Context, id: PromptId, how: Closing) {
        if self.held.contains(&id) {
            self.close(id, Closing::DecidedBefore);
            return;
        }
        self.close(id, how.clone());
        context.push(What::PromptClosed { prompt: id, how });
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

    /// The agent left `awaiting_input`: the question that blocked it is decided. With several open
    /// only an answered one can be told apart; otherwise each is only perhaps decided.
    fn left_awaiting(&mut self, context: &mut Context, event: &StateChanged) {
        let open: Vec<&Prompt> = self
            .prompts
            .values()
            .filter(|prompt| prompt.key == context.key && prompt.is_open())
            .collect();
        let how = Closing::StateLeft {
            to: event.to_state.clone(),
        };
        let answered = open
            .iter()
            .find(|prompt| prompt.answer().is_some())
            .map(|prompt| prompt.id);
        let chosen = match (open.as_slice(), answered) {
            ([], _) => {
                if let Some(session) = self.sessions.get_mut(&context.key) {
                    session.unseen_questions = session.unseen_questions.saturating_add(1).min(8);
                }
                return;
            }
            ([only], _) => Some(only.id),
            (_, answered) => answered,
        };
        match chosen {
            Some(id) => self.close_told(context, id, how),
            None => self.perhaps_resolved(context),
        }
    }

    /// Something else happened in a session that should be blocked: its questions may be decided.
    fn perhaps_resolved(&mut self, context: &mut Context) {
        let mut told = Vec::new();
        for prompt in self.prompts.values_mut() {
            if prompt.key == context.key
                && prompt.is_open()
                && !prompt.perhaps_told
                && !self.held.contains(&prompt.id)
            {
                prompt.perhaps_told = true;
                told.push(prompt.id);
            }
        }
        for id in told {
            context.push(What::PromptPerhapsResolved(id));
        }
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
            session.tools.remove(0);
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

    fn confirm(&mut self, context: &mut Context, event: AwaitingConfirmation, envelope: &Envelope) {
        let question = Question::Confirmation(event);
        let accepts_by_silence = question.accepts_by_silence();
        let id = self.open(context, question, envelope);
        if let Some(id) = id {
            self.link_question(id);
            if accepts_by_silence && !self.held.contains(&id) {
                context.push(What::Danger(Danger::AcceptsBySilence { prompt: id }));
            }
        }
    }

    fn clarify(
        &mut self,
        context: &mut Context,
        event: AwaitingClarification,
        envelope: &Envelope,
    ) {
        self.open(context, Question::Clarification(event), envelope);
    }

    /// Opens a question; `None` when it is one that we already have under the same token.
    fn open(
        &mut self,
        context: &mut Context,
        question: Question,
        envelope: &Envelope,
    ) -> Option<PromptId> {
        let same_token = |prompt: &&mut Prompt| {
            prompt.key == context.key
                && question.token().is_some()
                && prompt.question.token() == question.token()
        };
        if let Some(known) = self.prompts.values_mut().find(same_token) {
            // The same question under a new event id: it lives, and is not raised a second time.
            if known.is_open() && known.standing == Standing::LinkLost {
                known.standing = Standing::Live;
            }
            self.anomaly(context, AnomalyKind::QuestionRepeated, String::new());
            return None;
        }
        let asked_again: Vec<PromptId> = self
            .prompts
            .values()
            .filter(|prompt| {
                prompt.key == context.key
                    && prompt.is_open()
                    && prompt.question.subject() == question.subject()
            })
            .map(|prompt| prompt.id)
            .collect();
        for id in asked_again {
            self.close_told(context, id, Closing::AskedAgain);
        }
        let awaiting = self
            .sessions
            .get(&context.key)
            .and_then(|session| session.state.as_deref())
            == Some("awaiting_input");
        if !awaiting {
            self.anomaly(context, AnomalyKind::AwaitingInputMissing, String::new());
        }
        if question.token().is_none() {
            self.anomaly(context, AnomalyKind::QuestionWithoutToken, String::new());
        }
        self.next_prompt += 1;
        let id = PromptId(self.next_prompt);
        let answerable = self
            .links
            .get(&context.key.link)
            .is_none_or(super::link::LinkState::is_answerable);
        self.prompts.insert(
            id,
            Prompt {
                id,
                key: context.key.clone(),
                agent: context.agent.clone(),
                question,
                language: context.language.clone(),
                opened: context.now,
                asked: envelope.timestamp,
                reply: ReplyState::Unanswered,
                standing: if answerable {
                    Standing::Live
                } else {
                    Standing::NotAnswerable
                },
                tool: None,
                call_id: None,
                warned: Warning::None,
                perhaps_told: false,
            },
        );
        self.bound_unsure(context.key.link);
        self.refresh_phase(&context.key);
        if context.replayed {
            self.held.push(id);
        } else {
            context.push(What::PromptOpened(id));
        }
        Some(id)
    }

    /// Questions whose link was lost may have no end of their own; the oldest leave.
    fn bound_unsure(&mut self, link: LinkId) {
        let unsure: Vec<PromptId> = self
            .prompts
            .values()
            .filter(|prompt| {
                prompt.key.link == link && prompt.is_open() && prompt.standing == Standing::LinkLost
            })
            .map(|prompt| prompt.id)
            .collect();
        for id in unsure.iter().rev().skip(MOST_OPEN) {
            self.close(*id, Closing::LinkGone);
        }
    }

    /// Gives the time since an agent said anything, for the heartbeat and the status.
    pub fn silence(&self, key: &SessionKey, now: Duration) -> Option<Duration> {
        self.sessions
            .get(key)
            .map(|session| now.saturating_sub(session.last_event))
    }
}
