//! Tool calls: their pairing (A.3, 4.5.2), and their effect on questions.

use crate::protocol::{RiskLevel, ToolCallId, ToolCompleted, ToolInvoked, ToolStatus};

use super::anomaly::AnomalyKind;
use super::change::ChangeKind;
use super::context::Context;
use super::key::{QuestionId, SessionKey};
use super::machine_observer::Subject;
use super::machines::{AgentState, ToolEvent, ToolRun};
use super::model::{Consent, MOST_TOOLS, Session, ToolCall, shown};
use super::question::{CloseReason, Question};
use super::sessions::Sessions;
use super::token_memory::digest_of_text;

impl Session {
    /// Returns the state of the call with an id, if it is remembered.
    fn run_of(&self, id: Option<&ToolCallId>) -> ToolRun {
        id.and_then(|id| self.calls.run(id))
            .unwrap_or(ToolRun::Absent)
    }

    /// Records the state of the call with an id.
    fn remember_run(&mut self, id: Option<&ToolCallId>, run: ToolRun) {
        let Some(id) = id else { return };
        if self.calls.put(id, run) {
            self.loaded += id.as_str().len();
            self.weigh_rest();
        }
    }
}

impl Sessions {
    pub(super) fn invoke(&mut self, context: &mut Context, event: ToolInvoked) {
        let irreversible = event.irreversible == Some(true);
        let linked = self.linked_question(context.key, event.tool_call_id.as_ref(), &event.tool);
        // Chapter 2 requires a question for high risk, A.8.4 for what can't be undone.
        let is_high = event.risk_level == Some(RiskLevel::High);
        let consent = if irreversible || is_high && !self.has_asked(context.key) {
            self.consent_for(context.key, &event.tool, event.tool_call_id.as_ref())
        } else {
            Consent::NotNeeded
        };
        let facts = context.envelope.attached.call.as_ref();
        let title = facts.map(|facts| shown(&facts.title));
        let title = title.filter(|title| !title.trim().is_empty());
        let title = title.map(String::into_boxed_str);
        let suspicion = self.suspicion(context.key, &event, context.envelope, context.now);
        let Some(session) = self.sessions.of_mut(context) else {
            return;
        };
        let id = event.tool_call_id.as_ref();
        let subject = Subject::Tool {
            name: &event.tool,
            call: id,
        };
        let mut found = Vec::new();
        if context
            .step(subject, session.run_of(id), ToolEvent::Invoked)
            .is_err()
        {
            found.push(AnomalyKind::ReusedCallId);
        }
        session.remember_run(id, ToolRun::Running);
        let epoch = session.epoch();
        let twin = |call: &ToolCall| call.call_id.is_none() && call.tool == event.tool;
        if id.is_none() {
            // The end of the other call of the same name may have been missed.
            session
                .tools
                .retain(|call| !twin(call) || call.epoch == epoch);
        }
        if id.is_none() && session.tools.iter().any(twin) {
            found.push(AnomalyKind::AmbiguousCall);
        }
        let state = session.sure_state().map(AgentState::named);
        match state {
            None | Some(AgentState::CallingTool | AgentState::Thinking | AgentState::Deciding) => {}
            // An accepted question is a legal predecessor (A.7.4), whatever the state still is.
            Some(_) if matches!(consent, Consent::Asked(_)) || linked.is_some() => {}
            Some(
                AgentState::Idle
                | AgentState::WritingOutput
                | AgentState::AwaitingInput
                | AgentState::HandingOff
                | AgentState::Other,
            ) => found.push(AnomalyKind::ToolOutOfState),
        }
        session.invocations += 1;
        session.loaded += event.tool.len() + id.map_or(0, |id| id.as_str().len());
        session.loaded += title.as_ref().map_or(0, |title| title.len());
        if session.tools.is_empty() {
            // Most agents call one tool at a time; by default a list has room for four, which is a lot in thousands of
            // lists.
            session.tools.reserve_exact(1);
        }
        session.tools.push(ToolCall {
            tool: event.tool.clone(),
            title,
            call_id: event.tool_call_id.clone(),
            since: context.now.monotonic,
            irreversible,
            risk: event.risk_level.clone(),
            args: event.args_summary.as_deref().map(digest_of_text),
            consent,
            suspicion,
            expected_duration_ms: event.expected_duration_ms,
            // While a question is open, the state can't say that a tool runs.
            in_calling_tool: matches!(
                state,
                Some(AgentState::CallingTool | AgentState::AwaitingInput)
            ),
            epoch,
        });
        if session.tools.len() > MOST_TOOLS {
            // An irreversible call is the last to be dropped.
            let oldest = session
                .tools
                .iter()
                .position(|call| !call.irreversible)
                .unwrap_or(0);
            session.tools.remove(oldest);
            self.dropped.tools += 1;
        }
        if matches!(consent, Consent::Missing(_)) {
            self.sessions.look_for_unasked(context.key);
        }
        let asked = match consent {
            Consent::Asked(id) => self.questions.get(id).is_some_and(Question::was_rejected),
            Consent::NotNeeded | Consent::Missing(_) | Consent::MissingTold(_) => false,
        };
        if asked || suspicion.is_some_and(|it| it.is_sure && !it.by_silence) {
            found.push(AnomalyKind::InvokedAfterRejection);
        }
        self.implies(context, AgentState::CallingTool);
        for kind in found {
            self.anomaly(context, kind, event.tool.clone());
        }
        let tool = event.tool.clone();
        let call_id = event.tool_call_id.clone();
        let args = event.args_summary.clone();
        context.push(ChangeKind::ToolInvoked(event));
        if let Some(danger) = self.ran_otherwise(context, &tool, args.as_deref(), call_id.as_ref())
        {
            context.push(ChangeKind::Danger(danger));
        }
        if let Consent::Asked(id) = consent {
            self.was_done(id);
        }
        match (linked, consent) {
            (Some(id), _) | (None, Consent::Asked(id)) => {
                if self.questions.get(id).is_some_and(Question::is_open) {
                    let how = ToolEvent::Invoked;
                    self.close_told(context, id, CloseReason::ToolWentOn { event: how });
                }
            }
            (None, Consent::NotNeeded | Consent::Missing(_) | Consent::MissingTold(_)) => {
                self.perhaps_resolved(context)
            }
        }
    }

    /// Returns the open question that guards exactly this call.
    fn linked_question(
        &self,
        key: &SessionKey,
        call_id: Option<&ToolCallId>,
        tool: &str,
    ) -> Option<QuestionId> {
        let same_call = |question: &&Question| match (&question.call_id, call_id) {
            (Some(mine), Some(theirs)) => mine == theirs,
            (None, None) => question.tool.as_deref() == Some(tool),
            (Some(_), None) | (None, Some(_)) => false,
        };
        let all = self.questions_of_team(key);
        let mut open = all.into_iter().filter(|question| question.is_open());
        open.find(same_call).map(|question| question.id)
    }

    pub(super) fn complete(&mut self, context: &mut Context, event: ToolCompleted) {
        let linked = self.linked_question(context.key, event.tool_call_id.as_ref(), &event.tool);
        let Some(session) = self.sessions.of_mut(context) else {
            return;
        };
        let id = event.tool_call_id.as_ref();
        let call = session
            .find_tool(id, &event.tool)
            .map(|index| session.tools.remove(index));
        let run = match &call {
            Some(_) => ToolRun::Running,
            // A call that was forgotten because there were too many is not the producer's fault.
            None => session.run_of(id),
        };
        let subject = Subject::Tool {
            name: &event.tool,
            call: id,
        };
        let mut found = Vec::new();
        let mut unheard = false;
        match context.step(subject, run, ToolEvent::completed(&event.status)) {
            Ok(to) => session.remember_run(id, to),
            Err(_) if run != ToolRun::Absent => found.push(AnomalyKind::SecondCompletion),
            // It may have been called before we joined, or in a missing message.
            Err(_) if !session.is_whole() => unheard = true,
            Err(_) => found.push(AnomalyKind::CompletionWithoutInvocation),
        }
        if let Some(call) = &call {
            if call.tool != event.tool {
                found.push(AnomalyKind::ToolNameChanged);
            }
            if !call.in_calling_tool && session.state.is_some() && session.is_whole() {
                found.push(AnomalyKind::StateNotCallingTool);
            }
        }
        if unheard {
            self.note_unheard_call(context.key, &event.tool, id);
        }
        let succeeded = event.status == ToolStatus::Success;
        let danger = match (&call, self.sessions.of(context)) {
            // An action done before we joined is old news.
            (Some(_), Some(session)) if session.only_replayed => None,
            (Some(call), Some(session)) if succeeded => self.danger_of_success(session, call),
            (None, _) if succeeded && run != ToolRun::Succeeded => {
                self.danger_without_call(context.key, id, &event.tool)
            }
            (Some(_) | None, Some(_) | None) => None,
        };
        if let Some(ToolCall {
            consent: Consent::Asked(id),
            ..
        }) = &call
            && succeeded
        {
            self.was_done(*id);
        }
        if succeeded {
            self.note_success(context.key);
        }
        let elapsed = call
            .as_ref()
            .map(|call| context.now.monotonic.saturating_sub(call.since));
        if let Some(call) = call.filter(|_| !succeeded) {
            self.note_failed(context.key, call);
        }
        self.implies(context, AgentState::Thinking);
        for kind in found {
            self.anomaly(context, kind, event.tool.clone());
        }
        if let Some(danger) = danger {
            // A repeated success of the same call is not news.
            if let Some(session) = self.sessions.of_mut(context) {
                session.remember_run(id, ToolRun::Succeeded);
            }
            context.push(ChangeKind::Danger(danger));
        }
        if let Some(danger) = self.ran_otherwise(context, &event.tool, None, id.cloned().as_ref()) {
            context.push(ChangeKind::Danger(danger));
        }
        let how = ToolEvent::completed(&event.status);
        context.push(ChangeKind::ToolCompleted { event, elapsed });
        match linked {
            Some(id) => self.close_told(context, id, CloseReason::ToolWentOn { event: how }),
            None => self.perhaps_resolved(context),
        }
    }
}
