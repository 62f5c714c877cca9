//! Calls that ended without success, and succeed after all.
//!
//! Responsibilities: remembering such calls, and noticing a success without a running call. Not here: the
//! danger itself (`consent`), calls that run (`tools`).
//!
//! An agent that reports an error for a call, and then a success under the same id, did carry out the call. So
//! a call that raised a suspicion, or that a question was about, is remembered beyond its end.

use crate::protocol::ToolCallId;

use super::anomaly::Danger;
use super::key::SessionKey;
use super::model::{Consent, Session, ToolCall};
use super::question::Question;
use super::sessions::Sessions;
use super::suspicion::Suspicion;

/// The most calls of a session that are remembered: more than are rejected in one.
const MOST_FAILED: usize = 16;

impl Sessions {
    /// Remembers a call that ended without success, or whose session ended, if its success would be a danger.
    pub(super) fn note_failed(&mut self, key: &SessionKey, call: ToolCall) {
        let mut all = self.questions_of_team(key).into_iter();
        let is_asked = all.any(|question| {
            let id = question.asked_id();
            id.is_some() && id == call.call_id.as_ref()
        });
        drop(all);
        if !is_asked && call.suspicion.is_none() && call.consent == Consent::NotNeeded {
            return;
        }
        let Some(session) = self.sessions.get_mut(key) else {
            return;
        };
        if session.failed.len() >= MOST_FAILED {
            session.failed.remove(0);
        }
        session.failed.push(call);
    }

    /// Returns the danger in a success of a call that does not run: because it failed before, or because its beginning
    /// was never reported.
    pub(super) fn danger_without_call(
        &mut self,
        key: &SessionKey,
        call_id: Option<&ToolCallId>,
        tool: &str,
    ) -> Option<Danger> {
        let is_it = |call: &ToolCall| match call_id {
            Some(_) => call.call_id.as_ref() == call_id,
            None => call.call_id.is_none() && call.tool == tool,
        };
        let session = self.sessions.get_mut(key)?;
        if session.only_replayed {
            return None;
        }
        let failed = session.failed.iter().position(is_it);
        let failed = failed.map(|at| session.failed.remove(at));
        let session = self.sessions.get(key)?;
        match failed {
            Some(call) => self.danger_of_success(session, &call),
            None => self.danger_of_unheard(session, call_id?, tool),
        }
    }

    /// Returns the danger in a success of a call without a beginning: its question has its id and was rejected.
    fn danger_of_unheard(&self, session: &Session, id: &ToolCallId, tool: &str) -> Option<Danger> {
        let all = self.questions_of_team(&session.key);
        let mut all = all.into_iter().rev();
        let own: &Question = all.find(|question| question.asked_id() == Some(id))?;
        let suspicion = Suspicion {
            question: own.id,
            is_sure: true,
            by_silence: !own.was_rejected(),
        };
        self.is_denied(own).then(|| Danger::DoneAfterRejection {
            tool: tool.to_owned(),
            suspicion,
        })
    }
}
