//! The life of questions: raising, holding back, closing, possibly decided (chapter 6).

use std::sync::Arc;

use crate::protocol::{
    Answer, AwaitingClarification, AwaitingConfirmation, Decision, Event, Now, StateChanged,
};

use super::anomaly::{AnomalyKind, Danger};
use super::change::{Change, ChangeKind};
use super::context::Context;
use super::key::{QuestionId, SessionKey};
use super::machine_observer::Subject;
use super::machines::{AgentState, QuestionEvent, QuestionRun};
use super::question::{AnswerReach, CloseReason, Question, ReplyState, Warning};
use super::question_body::QuestionBody;
use super::sessions::Sessions;
use super::tally::asker;
use super::token_memory::TokenUse;
use super::tokens::TokenClaim;
use super::unraised_questions::MOST_OPEN;
use super::waiting_lists::UnraisedReason;

impl Sessions {
    /// Updates the open questions of a session that sends an event on a link that is back, and returns those
    /// that can be answered again. New events with ids come from the program that runs the session; events
    /// without ids may be repeated by a program that only remembers the session.
    pub(super) fn revive(&mut self, context: &Context, has_id: bool) -> Vec<QuestionId> {
        let standing = if has_id && !context.replayed {
            AnswerReach::Live
        } else {
            AnswerReach::Resumed
        };
        let mut revived = Vec::new();
        for id in self.open_of(context.key) {
            let stands = self.questions.get(id).map(|question| question.reach);
            // Most questions already have the right standing.
            if stands == Some(standing)
                || !matches!(stands, Some(AnswerReach::LinkLost | AnswerReach::Resumed))
            {
                continue;
            }
            let shown_again = &mut self.shown_again;
            self.questions.change(id, |question| match question.reach {
                // The rest of the replay may decide it, so it waits for the end of the replay.
                AnswerReach::LinkLost if context.replayed => {
                    if !shown_again.contains(&id) {
                        shown_again.push(id);
                    }
                }
                AnswerReach::LinkLost => {
                    question.reach = standing;
                    // A question that was never raised will soon be raised for the first time.
                    if question.unraised_reason.is_none() {
                        revived.push(id);
                    }
                }
                // It was already announced that it can be answered again.
                AnswerReach::Resumed => question.reach = standing,
                AnswerReach::Live | AnswerReach::NotAnswerable => {}
            });
        }
        revived
    }

    /// Notes that an event was sent again. A repetition proves nothing about now: any program that keeps a list can
    /// send it. Only a question that is itself shown again may still be open.
    pub(super) fn note_shown_again(&mut self, key: &SessionKey, event: &Event) {
        let token = event.reply_token();
        for question in self.questions.open_of(key) {
            if question.reach == AnswerReach::LinkLost
                && token.is_some()
                && question.body.token() == token
                && !self.shown_again.contains(&question.id)
            {
                self.shown_again.push(question.id);
            }
        }
    }

    /// Makes those questions answerable that a server's replay showed again, if nothing in the replay decided them.
    pub(super) fn revive_shown_again(&mut self, now: Now, changes: &mut Vec<Change>) {
        if self.shown_again.is_empty() {
            return;
        }
        let mut revived = Vec::new();
        for id in std::mem::take(&mut self.shown_again) {
            let Some(question) = self.questions.get(id) else {
                continue;
            };
            if !question.is_open() || question.reach != AnswerReach::LinkLost {
                continue;
            }
            let over = self
                .links
                .get_mut(&question.key.link)
                .is_none_or(|link| link.end_burst_if_due(now.monotonic));
            if over {
                // A question that was never raised will soon be raised for the first time.
                if question.unraised_reason.is_none() {
                    revived.push(id);
                }
                let resume = |question: &mut Question| question.reach = AnswerReach::Resumed;
                self.questions.change(id, resume);
            } else {
                self.shown_again.push(id);
            }
        }
        let answerable = (revived.iter())
            .filter_map(|id| self.questions.get(*id))
            .filter(|question| question.is_answerable())
            .map(|question| {
                self.bare_change(question, now, ChangeKind::QuestionAnswerable(question.id))
            });
        changes.extend(answerable);
    }

    /// Closes a question and reports it, unless it was never raised.
    pub(super) fn close_told(&mut self, context: &mut Context, id: QuestionId, how: CloseReason) {
        let (key, now) = (context.key.clone(), context.now);
        if self.is_held(id) {
            self.close(id, CloseReason::DecidedBefore, now, context.observer);
            return;
        }
        match how {
            CloseReason::ToolWentOn { .. } => {
                if let Some(session) = self.sessions.get_mut(&key) {
                    session.owes_leaving = true;
                }
            }
            CloseReason::StateLeft { .. }
            | CloseReason::SessionEnded
            | CloseReason::AskedAgain
            | CloseReason::Changed
            | CloseReason::DecidedBefore
            | CloseReason::Unsubscribed
            | CloseReason::Stopped
            | CloseReason::TakenBack
            | CloseReason::AnsweredBy { .. }
            | CloseReason::LinkGone
            | CloseReason::Forgotten
            | CloseReason::Unheard => {}
        }
        let overdue = self.is_overdue(id);
        self.questions
            .change(id, |question| question.overdue = overdue);
        if self.lapses(id) {
            self.questions.change(id, |question| question.lapsed = true);
            self.note_decided(id);
        }
        if overdue && !matches!(how, CloseReason::Changed | CloseReason::AskedAgain) {
            self.note_end_of_time(id, context);
        }
        self.close(id, how.clone(), now, context.observer);
        self.follow_closing(id, overdue);
        context.push(ChangeKind::QuestionClosed {
            question: id,
            reason: how,
        });
    }

    /// Checks, at a session's successful end, for answers that had no consequence.
    pub(super) fn check_consequences(&mut self, context: &mut Context) {
        let Some(session) = self.sessions.of(context) else {
            return;
        };
        let is_translated = context.envelope.is_translated();
        let mut found = Vec::new();
        for question in self.questions.of(context.key) {
            let decision = match question.answer() {
                Some(Answer::Decision { decision, .. }) => decision,
                Some(Answer::Response(_)) | None => continue,
            };
            // If the translator names no call, none is expected to follow: the person answered without
            // releasing a call.
            let is_of_call = !is_translated || question.names_a_call();
            let called = !is_of_call
                || question.tool.is_some()
                || question.beside_a_tool
                || session.invocations > question.invocations;
            // The session's end itself counts as one event.
            let silent = question
                .events_at_answer
                .is_some_and(|events| session.events <= events + 1);
            match decision {
                Decision::Accept if !called => found.push(AnomalyKind::AcceptedWithoutTool),
                Decision::Reject if silent => found.push(AnomalyKind::RejectedWithoutFollowUp),
                Decision::Accept | Decision::Reject | Decision::Other(_) => {}
            }
        }
        for kind in found {
            self.anomaly(context, kind, String::new());
        }
    }

    /// Handles the agent leaving `awaiting_input`: the question that blocked it is decided. If several are
    /// open, only an answered one can be identified; otherwise each counts as possibly decided.
    pub(super) fn left_awaiting(&mut self, context: &mut Context, event: &StateChanged) {
        // A translator says so if the other protocol ends a turn together with its questions.
        if context.envelope.is_translated() && context.envelope.attached.unanswered {
            for id in self.open_of(context.key) {
                self.close_told(context, id, CloseReason::SessionEnded);
            }
            return;
        }
        let open: Vec<&Question> = self.questions.open_of(context.key).collect();
        let how = CloseReason::StateLeft {
            to: event.to_state.to_string(),
        };
        let answered = open
            .iter()
            .find(|question| question.answer().is_some())
            .map(|question| question.id);
        let chosen = match (open.as_slice(), answered) {
            ([], _) => return,
            ([only], _) => Some(only.id),
            (_, answered) => answered,
        };
        match chosen {
            Some(id) => self.close_told(context, id, how),
            None => self.perhaps_resolved(context),
        }
    }

    /// Handles any other event in a session that should be blocked: its questions may be decided.
    pub(super) fn perhaps_resolved(&mut self, context: &mut Context) {
        let untold = self.questions.open_of(context.key).filter(|question| {
            !question.perhaps_told
                && question.unraised_reason.is_none()
                && !question.reply.run().is_delivered()
        });
        let untold: Vec<QuestionId> = untold.map(|question| question.id).collect();
        for id in untold {
            self.questions
                .change(id, |question| question.perhaps_told = true);
            context.push(ChangeKind::QuestionPerhapsResolved(id));
        }
    }

    pub(super) fn confirm(&mut self, context: &mut Context, event: AwaitingConfirmation) {
        let id = self.open(context, QuestionBody::Confirmation(event));
        if let Some(id) = id {
            self.link_question(id);
            if self.raised(id).is_some_and(Question::accepts_by_silence) {
                context.push(ChangeKind::Danger(Danger::AcceptsBySilence {
                    question: id,
                }));
            }
        }
    }

    pub(super) fn clarify(&mut self, context: &mut Context, event: AwaitingClarification) {
        self.open(context, QuestionBody::Clarification(event));
    }

    /// Opens a question; returns `None` if it is already known under the same token.
    pub(super) fn open(&mut self, context: &mut Context, body: QuestionBody) -> Option<QuestionId> {
        let envelope = context.envelope;
        let body = body.narrowed(envelope.attached.action_details.as_ref());
        if !self.can_keep(context.key, &body, &envelope.attached) {
            self.dropped.unasked += 1;
            return None;
        }
        let mut replaces = self.changed_by(context, &body);
        let token_use = match self.claim_token(context.key, &body) {
            TokenClaim::Repeats(id) => {
                // It is the same question under a new event id: it stays open and is not raised a second time.
                // A server that shows it again after an interruption breaks no rule.
                let sure = self.questions.get(id).map(|known| known.reach);
                if !context.replayed && sure == Some(AnswerReach::Live) {
                    self.anomaly(context, AnomalyKind::QuestionRepeated, String::new());
                }
                if self.doubt(id, context.now) {
                    context.push(ChangeKind::QuestionUnheard(id));
                }
                return None;
            }
            TokenClaim::Changes(id) => {
                replaces = Some(id);
                TokenUse::UsedBefore
            }
            TokenClaim::Use(token_use) => token_use,
        };
        if let Some(id) = replaces {
            self.close_told(context, id, CloseReason::Changed);
        }
        if let TokenUse::Shared { with } = token_use {
            // The receiver of an answer identifies the question by the token: the answer may count for either.
            self.questions
                .change(with, |first| first.shares_token = true);
            context.push(ChangeKind::QuestionDoubted(with));
        }
        if token_use != TokenUse::Own {
            self.anomaly(context, AnomalyKind::TokenReused, String::new());
        }
        let asked_again: Vec<QuestionId> = self
            .questions
            .open_of(context.key)
            .filter(|question| {
                question.body.token() != body.token()
                    && asks_the_same(&question.body, &body)
                    && !self.is_beside_its_like(question)
            })
            .map(|question| question.id)
            .collect();
        for id in asked_again {
            self.anomaly(context, AnomalyKind::QuestionRepeated, String::new());
            self.close_told(context, id, CloseReason::AskedAgain);
        }
        let awaiting =
            self.sessions
                .get(context.key)
                .is_none_or(|session| match session.sure_state() {
                    Some(state) => state == "awaiting_input",
                    // The state may have been announced in a message that we missed.
                    None => !session.is_whole(),
                });
        let unanswerable = body.token().is_none();
        self.next_prompt += 1;
        let id = QuestionId(self.next_prompt);
        let (invocations, beside_a_tool, epoch) =
            self.sessions
                .get(context.key)
                .map_or((0, false, 0), |session| {
                    let beside_a_tool = !session.tools.is_empty();
                    (session.invocations, beside_a_tool, session.epoch())
                });
        // A new question can always be asked.
        let _ = context.step(
            Subject::Question(id),
            QuestionRun::Absent,
            QuestionEvent::Asked,
        );
        let answerable = self
            .links
            .get_mut(&context.key.link)
            .is_none_or(|link| link.takes_answer(body.token()));
        self.questions.insert(Question {
            id,
            key: context.key.clone(),
            agent: Arc::clone(envelope.producer.label()),
            body,
            attached: Arc::clone(&envelope.attached),
            language: envelope.localization.primary_language.clone(),
            direction: envelope.localization.text_direction,
            opened: context.now,
            raised: context.now.monotonic,
            token_use,
            asked_at: envelope.timestamp,
            reply: ReplyState::Unanswered,
            reach: if answerable {
                AnswerReach::Live
            } else {
                AnswerReach::NotAnswerable
            },
            eased: false,
            ran_otherwise: false,
            lapsed: false,
            overdue: false,
            was_followed: false,
            shares_token: false,
            replaces,
            tool: None,
            tool_word: None,
            call_id: None,
            warned: Warning::None,
            unraised_reason: None,
            perhaps_told: false,
            introduced: false,
            replayed: context.replayed,
            epoch,
            invocations,
            beside_a_tool,
            events_at_answer: None,
        });
        self.bound_unsure(context);
        self.refresh_phase(context.key);
        if context.replayed {
            self.hold(id, UnraisedReason::Replay);
        } else if self.waits_for_room(id) {
            let waiting = self.waiting_for_room(context.key);
            context.push(ChangeKind::QuestionsWaiting { waiting });
        } else {
            context.push(ChangeKind::QuestionOpened(id));
        }
        // The question comes first: its faults must not delay it.
        self.implies(context, AgentState::AwaitingInput);
        if !awaiting {
            self.anomaly(context, AnomalyKind::AwaitingInputMissing, String::new());
        }
        if unanswerable {
            self.anomaly(context, AnomalyKind::QuestionWithoutToken, String::new());
        }
        Some(id)
    }

    /// Finds the open question of the same call that a question replaces because it has changed.
    fn changed_by(&self, context: &Context, body: &QuestionBody) -> Option<QuestionId> {
        let QuestionBody::Confirmation(asked) = body else {
            return None;
        };
        let deed = context.envelope.attached.action_details.as_ref()?;
        let call = asked
            .tool_call_id
            .as_ref()
            .filter(|_| !deed.changed.is_empty())?;
        let is_of_call = |question: &&Question| match &question.body {
            QuestionBody::Confirmation(before) => before.tool_call_id.as_ref() == Some(call),
            QuestionBody::Clarification(_) => false,
        };
        let mut open = self.questions.open_of(context.key);
        open.find(is_of_call).map(|question| question.id)
    }

    /// Bounds the questions that can't be answered here, which may never end by themselves; the oldest are dropped,
    /// with a report.
    fn bound_unsure(&mut self, context: &mut Context) {
        let unsure = self.questions.tally().unsure(&asker(context.key));
        let leave: Vec<QuestionId> = unsure.rev().skip(MOST_OPEN).collect();
        for id in leave {
            let Some(question) = self.questions.get(id) else {
                continue;
            };
            // The question may belong to another session, so this event's context does not apply.
            let how = CloseReason::LinkGone;
            let what = ChangeKind::QuestionClosed {
                question: id,
                reason: how.clone(),
            };
            let change = self.bare_change(question, context.now, what);
            let was_raised = !self.is_held(id);
            self.close(id, how, context.now, context.observer);
            if was_raised {
                context.add(change);
            }
        }
    }
}

/// Returns whether two questions are the same one asked twice: same words, same call, same outcome.
fn asks_the_same(one: &QuestionBody, other: &QuestionBody) -> bool {
    if one.subject().is_empty() || one.subject() != other.subject() {
        return false;
    }
    match (one, other) {
        (QuestionBody::Confirmation(one), QuestionBody::Confirmation(other)) => {
            one.tool_call_id == other.tool_call_id && one.consequence == other.consequence
        }
        (QuestionBody::Clarification(_), QuestionBody::Clarification(_)) => true,
        (QuestionBody::Confirmation(_), QuestionBody::Clarification(_))
        | (QuestionBody::Clarification(_), QuestionBody::Confirmation(_)) => false,
    }
}
