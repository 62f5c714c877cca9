//! The links between questions and tools, and irreversible calls that run without a question.
//!
//! The rule of linking, from the surest sign to the weakest: the call id; the agent's only pending irreversible
//! call; the tool's name in the action; otherwise no link. It works in both orders: real producers invoke
//! before they ask, the chapters the other way round.

use std::time::Duration;

use crate::protocol::{Attachments, Now, ToolCallId};

use super::anomaly::Danger;
use super::change::{Change, ChangeKind};
use super::context::Context;
use super::key::{QuestionId, SessionKey};
use super::model::{Consent, Reception, Session, ToolCall};
use super::question::{Question, ToolWord};
use super::question_body::QuestionBody;
use super::sessions::Sessions;
use super::suspicion::Suspicion;
use super::waiting_lists::UNASKED_AFTER;

/// Returns whether a question is about a call of its session.
fn guards(question: &Question, call: &ToolCall) -> bool {
    let by_id = call.call_id.is_some() && call.call_id == question.call_id;
    by_id || call.consent == Consent::Asked(question.id)
}

impl Sessions {
    /// Returns whether a call waits for the person: a question about it is open and not answered here.
    pub fn waits_for_person(&self, session: &Session, call: &ToolCall) -> bool {
        let all = self.questions_of_team(&session.key);
        let mut raised = all
            .into_iter()
            .filter(|question| question.is_open() && question.unraised_reason.is_none());
        raised.any(|question| question.answer().is_none() && guards(question, call))
    }

    /// Returns the call that a question is about, if it has begun.
    pub fn call_of(&self, question: &Question) -> Option<&ToolCall> {
        let of_session = |session: &'_ Session| {
            let mut calls = session.tools.iter();
            calls.position(|call| guards(question, call))
        };
        let own = self.sessions.get(&question.key).into_iter();
        let mut team = own.chain(self.sessions.team(&question.key));
        team.find_map(|session| session.tools.get(of_session(session)?))
    }

    /// Returns whether a question is about a tool: because the producer says so, by a running call, or, more weakly, by
    /// the tool's name in the action.
    pub fn is_about(question: &Question, tool: &str, weakly: bool) -> bool {
        let QuestionBody::Confirmation(asked) = &question.body else {
            return false;
        };
        match question.tool.as_deref().or(asked.tool.as_deref()) {
            Some(known) => known == tool,
            None => weakly && names(&asked.action, tool),
        }
    }

    /// Returns whether the call of an open question runs beside another call of the same tool that no question is about
    /// yet: if the same question arrives now, it is about that other call.
    pub(super) fn is_beside_its_like(&self, question: &Question) -> bool {
        let Some(session) = self.sessions.get(&question.key) else {
            return false;
        };
        let own = |call: &&ToolCall| call.call_id.is_some() && call.call_id == question.call_id;
        let Some(own) = session.tools.iter().find(own) else {
            return false;
        };
        let asked = self.asked_calls(&question.key);
        session.tools.iter().any(|call| {
            call.tool == own.tool && call.call_id.as_ref().is_some_and(|id| !asked.contains(&id))
        })
    }

    /// Returns the calls of a session that an open question is about.
    fn asked_calls(&self, key: &SessionKey) -> Vec<&ToolCallId> {
        let open = self.questions.open_of(key);
        open.filter_map(|question| question.call_id.as_ref())
            .collect()
    }

    /// Links a new question to a tool that already runs.
    ///
    /// A call of its own agent comes before those of other agents in the same session.
    pub(super) fn link_question(&mut self, id: QuestionId) {
        let Some(question) = self.questions.get(id) else {
            return;
        };
        for key in self.team_from(&question.key) {
            if self.link_question_in(&key, id) {
                return;
            }
        }
    }

    /// Links a new question to a running tool of a session; returns whether there was one.
    fn link_question_in(&mut self, key: &SessionKey, id: QuestionId) -> bool {
        let Some(question) = self.questions.get(id) else {
            return false;
        };
        let QuestionBody::Confirmation(asked) = &question.body else {
            return false;
        };
        let taken: Vec<ToolCallId> = self.asked_calls(key).into_iter().cloned().collect();
        // An accepted call runs already: a question that names no call is about another one.
        let all = self.questions_of_team(key);
        let accepted: Vec<QuestionId> = all
            .into_iter()
            .filter(|question| question.was_accepted())
            .map(|question| question.id)
            .collect();
        let runs_accepted = |call: &ToolCall| match call.consent {
            Consent::Asked(id) => accepted.contains(&id),
            Consent::NotNeeded | Consent::Missing(_) | Consent::MissingTold(_) => false,
        };
        let Some(session) = self.sessions.get_mut(key) else {
            return false;
        };
        let epoch = session.epoch();
        // A call whose last event came before a gap may be over.
        let pending = |call: &&mut ToolCall| {
            call.epoch == epoch
                && matches!(call.consent, Consent::Missing(_) | Consent::MissingTold(_))
        };
        let pending_calls = session.tools.iter_mut().filter(pending).count();
        let by_id = asked.tool_call_id.is_some();
        let fits = |call: &&mut ToolCall| {
            if by_id {
                call.call_id == asked.tool_call_id
            } else if pending_calls == 1 {
                pending(call)
            } else if runs_accepted(call) {
                false
            } else {
                names(&asked.action, &call.tool) || asked.tool.as_deref() == Some(&call.tool)
            }
        };
        // Calls that no question is about are preferred to calls that another question is about.
        let is_taken = |call: &ToolCall| {
            let id = call.call_id.as_ref();
            id.is_some_and(|id| taken.contains(id))
        };
        let fitting = session.tools.iter_mut().filter(fits);
        let Some(call) = fitting.min_by_key(|call| is_taken(call)) else {
            return false;
        };
        if call.consent != Consent::NotNeeded {
            match call.consent {
                // Its question came after all, so it is not among those that may be missing.
                Consent::Missing(Reception::Partial) | Consent::MissingTold(Reception::Partial) => {
                    session.unseen_questions = session.unseen_questions.saturating_add(1);
                }
                Consent::NotNeeded
                | Consent::Missing(Reception::Complete)
                | Consent::MissingTold(Reception::Complete)
                | Consent::Asked(_) => {}
            }
            call.consent = Consent::Asked(id);
        }
        let (tool, call_id) = (call.tool.clone(), call.call_id.clone());
        let word = ToolWord {
            irreversible: call.irreversible,
            risk: call.risk.clone(),
            args: call.args,
        };
        self.questions.change(id, |question| {
            question.tool_word = Some(word);
            question.tool = Some(tool);
            question.call_id = call_id;
        });
        true
    }

    /// Returns whether a session has a question that was not rejected: a reversible call of high risk may be
    /// the call of that question.
    pub(super) fn has_asked(&self, key: &SessionKey) -> bool {
        let all = self.questions_of_team(key);
        all.into_iter().any(|question| {
            matches!(question.body, QuestionBody::Confirmation(_)) && !self.is_denied(question)
        })
    }

    /// Finds the question about a call that begins now, and marks it as used.
    pub(super) fn consent_for(
        &mut self,
        key: &SessionKey,
        tool: &str,
        call_id: Option<&ToolCallId>,
    ) -> Consent {
        match self.question_about(key, tool, call_id, true) {
            Some(id) => {
                self.use_question(id, tool, call_id);
                Consent::Asked(id)
            }
            None => match self.sessions.get_mut(key) {
                Some(session) if session.unseen_questions > 0 => {
                    session.unseen_questions -= 1;
                    Consent::Missing(Reception::Partial)
                }
                Some(_) | None => Consent::Missing(Reception::Complete),
            },
        }
    }

    /// Handles the end of a call whose beginning was not received: no other call can use its question.
    pub(super) fn note_unheard_call(
        &mut self,
        key: &SessionKey,
        tool: &str,
        call_id: Option<&ToolCallId>,
    ) {
        if let Some(id) = self.question_about(key, tool, call_id, false) {
            self.use_question(id, tool, call_id);
        }
    }

    fn use_question(&mut self, id: QuestionId, tool: &str, call_id: Option<&ToolCallId>) {
        self.questions.change(id, |question| {
            question.tool = Some(tool.to_owned());
            question.call_id = call_id.cloned();
        });
    }

    /// Finds the question about a call that was not running when the question was asked: by its call id, else by the
    /// tool's name, else, if `only` allows it, because it is the only question.
    fn question_about(
        &self,
        key: &SessionKey,
        tool: &str,
        call_id: Option<&ToolCallId>,
        only: bool,
    ) -> Option<QuestionId> {
        let epoch = self.sessions.get(key).map(Session::epoch);
        let mut stated = None;
        let mut named = None;
        let mut unused = Vec::new();
        for question in self.questions_of_team(key) {
            let QuestionBody::Confirmation(asked) = &question.body else {
                continue;
            };
            match &asked.tool_call_id {
                Some(of) if Some(of) == call_id => stated = Some(question.id),
                // Its producer names another call.
                Some(_) if call_id.is_some() => continue,
                Some(_) | None => {}
            }
            if question.call_id.is_none() && question.tool.is_none() {
                if names(&asked.action, tool) || asked.tool.as_deref() == Some(tool) {
                    named = Some(question.id);
                }
                unused.push(question);
            }
        }
        // An irreversible call does not wait for a rejected question if there is another.
        if unused.len() > 1 {
            unused.retain(|question| !question.was_rejected());
        }
        // The only unused question of this session must be about the only irreversible call; after a gap, it
        // may have been about a call that was not received.
        let only = match unused.as_slice() {
            [one] if only && Some(one.epoch) == epoch => Some(one.id),
            [] | [_] | [_, ..] => None,
        };
        stated.or(named).or(only)
    }

    /// Finds the accepted question of a call that does something other than what was accepted; each is reported once.
    pub(super) fn ran_otherwise(
        &mut self,
        context: &Context,
        tool: &str,
        args: Option<&str>,
        call_id: Option<&ToolCallId>,
    ) -> Option<Danger> {
        let deed = context.envelope.attached.action_details.as_ref();
        let is_of_call = |question: &&Question| match &question.body {
            QuestionBody::Confirmation(asked) => {
                call_id.is_some() && asked.tool_call_id.as_ref() == call_id
            }
            QuestionBody::Clarification(_) => false,
        };
        // The latest question is the one that was accepted.
        let all = self.questions_of_team(context.key);
        let of_call = all.into_iter().rev().find(is_of_call)?;
        let differs = match (deed, of_call.attached.action_details.as_ref()) {
            (Some(deed), Some(asked)) => deed.differs_from(asked),
            // Without a translator's data, the names and arguments in the events decide.
            (Some(_) | None, Some(_) | None) => of_call.is_for_another(tool, args),
        };
        if !of_call.was_accepted() || of_call.ran_otherwise || !differs {
            return None;
        }
        let question = of_call.id;
        self.questions
            .change(question, |question| question.ran_otherwise = true);
        Some(Danger::RanOtherwise {
            tool: tool.to_owned(),
            question,
            ran: match deed {
                Some(deed) => deed.commands.join("; "),
                None => args.unwrap_or_default().to_owned(),
            },
        })
    }

    /// Returns the danger in a tool's success, if any.
    pub(super) fn danger_of_success(&self, session: &Session, call: &ToolCall) -> Option<Danger> {
        // Real producers invoke a call before they ask about it.
        let began_before = |question: &&Question| {
            question.tool.as_deref() == Some(call.tool.as_str()) && call.since <= question.raised
        };
        let is_of_call = |question: &&Question| match question.asked_id() {
            Some(id) => call.call_id.as_ref() == Some(id),
            None => began_before(question),
        };
        let all = self.questions_of_team(&session.key);
        let own = all.into_iter().rev().find(is_of_call);
        let own = own.filter(|question| self.is_denied(question));
        let rejected = own.map(|question| Suspicion {
            question: question.id,
            is_sure: true,
            by_silence: !question.was_rejected(),
        });
        if let Some(suspicion) = rejected.or(call.suspicion) {
            let tool = call.tool.clone();
            return Some(Danger::DoneAfterRejection { tool, suspicion });
        }
        match call.consent {
            Consent::Missing(sight) | Consent::MissingTold(sight) => {
                Some(Danger::unasked(call, true, sight))
            }
            Consent::NotNeeded | Consent::Asked(_) => None,
        }
    }

    /// Reports irreversible calls that run without a question.
    pub(super) fn tick_unasked(&mut self, now: Now, changes: &mut Vec<Change>) {
        let mut looked = Vec::new();
        while let Some(key) = self.sessions.take_unasked(now.monotonic) {
            looked.push(key.clone());
            // The events that wait for their turn will soon show whether messages are missing.
            if self.waiting.holds(&key) {
                continue;
            }
            let Some(session) = self.sessions.get_mut(&key) else {
                continue;
            };
            let (key, agent) = (session.key.clone(), session.agent.clone());
            let unheard = session.is_unheard();
            for call in &mut session.tools {
                let Consent::Missing(sight) = call.consent else {
                    continue;
                };
                if now.monotonic >= call.since + UNASKED_AFTER {
                    call.consent = Consent::MissingTold(sight);
                    let danger = if unheard {
                        Danger::PerhapsUnaskedLost {
                            tool: call.tool.clone(),
                            gravity: call.gravity(),
                        }
                    } else {
                        Danger::unasked(call, false, sight)
                    };
                    changes.push(Change {
                        key: key.clone(),
                        agent: agent.clone(),
                        at: now,
                        urgency: crate::protocol::Urgency::Critical,
                        language: None,
                        fallbacks: Vec::new(),
                        direction: None,
                        replayed: false,
                        attached: Attachments::none(),
                        correlation: None,
                        kind: ChangeKind::Danger(danger),
                    });
                }
            }
        }
        for key in looked {
            self.sessions.look_for_unasked(&key);
        }
    }

    /// Returns when the first call without a question is reported.
    pub(super) fn unasked_due(&self) -> Option<Duration> {
        self.sessions.unasked_due(|key| !self.waiting.holds(key))
    }
}

/// Returns whether a text contains a tool's name as a whole word; `_` and `-` count as spaces too.
fn names(action: &str, tool: &str) -> bool {
    if tool.is_empty() {
        return false;
    }
    let plain = |text: &str| -> String {
        text.chars()
            .map(|c| {
                if c.is_alphanumeric() {
                    c.to_ascii_lowercase()
                } else {
                    ' '
                }
            })
            .collect()
    };
    let words = |text: &str| {
        plain(text)
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (action, tool) = (words(action), words(tool));
    !tool.is_empty() && action.windows(tool.len()).any(|window| window == tool)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_tool_is_named_as_a_whole_word() {
        assert!(names("Call send_email with arguments: to=a", "send_email"));
        assert!(names("I would like to Send Email now", "send_email"));
        assert!(!names("resend_emails", "send_email"));
        assert!(!names("anything", ""));
        assert!(!names("anything", "___"));
    }
}
