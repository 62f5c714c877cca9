//! The questions of a turn: one request after the other, and the outcome of each.
//!
//! Responsibilities: asking, the person's answer and whether it arrived, requests that are decided elsewhere, withdrawn
//! or stopped. Not here: the wording of a question (`permission`), the other events of a turn (`turn`).

use serde_json::Value;

use crate::protocol::{CallOutput, RejectOnly};
use crate::rpc::Id;
use crate::{Cx, DialectOutput, QuestionEnd, SharedWording};

use super::{EventContext, MOST_PERMISSIONS, Turn};
use crate::kit::call::{Call, GRACE, HeardStage};
use crate::kit::permission::Permission;
use crate::kit::turn_updates::{CallNews, CallStatus};

/// The longest part of the text that accompanies a question, in characters: the limit of an AAEP field.
const LONGEST_PART: usize = 4000;

/// Splits the text that accompanies a question into fields, with the number of lines left out.
fn parts(written: CallOutput) -> Vec<(String, String)> {
    let left_out = written.count.saturating_sub(written.lines.len() as u64);
    let text: Vec<char> = written.lines.join("\n").chars().collect();
    let parts = text.chunks(LONGEST_PART).enumerate();
    let mut parts: Vec<(String, String)> = parts
        .map(|(at, part)| {
            let name = match at {
                0 => "content".to_owned(),
                at => format!("content_{}", at + 1),
            };
            (name, part.iter().collect())
        })
        .collect();
    if left_out > 0 {
        parts.push(("content_lines_left_out".to_owned(), left_out.to_string()));
    }
    parts
}

impl Turn {
    /// Queues a request for a permission, to be asked when no earlier one is open. Returns false if there is no room.
    pub fn request(
        &mut self,
        mut permission: Permission,
        mut news: CallNews,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) -> bool {
        self.heard = cx.now.monotonic;
        if self.waiting.len() >= MOST_PERMISSIONS {
            return false;
        }
        let key = permission.call.clone();
        let has_twin = self.requests().any(|id| id.has_value_of(&permission.id));
        let mut open = self.permission.iter().chain(&self.waiting);
        let is_open = !key.is_empty() && open.any(|it| it.call == key && it.id != permission.id);
        let before = self.calls.get(&key).map(Call::digest);
        // Text that comes with a question is not the output of its call, which has not run.
        let written = news.output.take().filter(|it| it.count > 0);
        permission
            .context
            .extend(written.into_iter().flat_map(parts));
        // A question about a call that was over means another call.
        let again = self.over.contains(&key);
        self.over.retain(|over| *over != key);
        if !self.know(&key, news, &teller.folder) {
            return false;
        }
        let shares_call = is_open && self.calls.get(&key).map(Call::digest) != before;
        if again && let Some(call) = self.calls.get_mut(&key) {
            self.repeats += 1;
            call.begin_again(self.repeats);
        }
        if let Some(call) = self.calls.get_mut(&key) {
            call.stage = match call.stage {
                HeardStage::Announced => HeardStage::Announced,
                HeardStage::Unsaid
                | HeardStage::Waiting(_)
                | HeardStage::Asked
                | HeardStage::Allowed
                | HeardStage::Rejected => HeardStage::Asked,
            };
        }
        if shares_call {
            // The first question was about something other than what its call now says.
            let same: Vec<Id> = self
                .permission
                .iter()
                .chain(&self.waiting)
                .filter(|it| it.call == key)
                .map(|it| it.id.clone())
                .collect();
            let action = self.calls.get(&key).map(|call| call.action(&teller.words));
            let action = action.unwrap_or_default();
            permission.reject_only = Some(RejectOnly::SharedId);
            permission.other_request.clone_from(&action);
            for id in same {
                self.share_id(&id, &action, teller, cx);
            }
        }
        if has_twin {
            // An answer under this id may count for either of them.
            permission.reject_only = Some(RejectOnly::SharedId);
            permission.other_request = self.actions_of(&permission.id, &teller.words);
            let action = self.calls.get(&key).map(|call| call.action(&teller.words));
            let id = permission.id.clone();
            self.share_id(&id, &action.unwrap_or_default(), teller, cx);
        }
        self.waiting.push_back(permission);
        self.ask_next(teller, cx);
        true
    }

    /// Returns the actions that the open requests with an id ask about.
    pub fn actions_of(&self, id: &Id, words: &SharedWording) -> String {
        let all = self.permissions();
        let calls = all
            .filter(|it| it.id.has_value_of(id))
            .filter_map(|it| self.calls.get(&it.call));
        let actions: Vec<String> = calls.map(|call| call.action(words)).collect();
        actions.join("; ")
    }

    /// Marks a request whose id another open request shares: it can only be rejected, and is asked again.
    pub fn share_id(&mut self, id: &Id, other: &str, teller: &mut EventContext, cx: &mut Cx<'_>) {
        for waiting in self.waiting.iter_mut().filter(|it| it.id.has_value_of(id)) {
            waiting.reject_only = Some(RejectOnly::SharedId);
            other.clone_into(&mut waiting.other_request);
        }
        let is_asked = |it: &Permission| {
            it.id.has_value_of(id) && it.sending.is_none() && it.clarifies.is_none()
        };
        if let Some(mut asking) = self.permission.take_if(|it| is_asked(it)) {
            asking.reject_only = Some(RejectOnly::SharedId);
            other.clone_into(&mut asking.other_request);
            asking.changed = vec!["id".to_owned()];
            self.ask_changed(asking, teller, cx);
        }
    }

    /// Asks again if an open question has changed. An answer under way belongs to the question as it was asked.
    pub(super) fn ask_if_changed(&mut self, key: &str, teller: &mut EventContext, cx: &mut Cx<'_>) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let is_over = matches!(
            call.status,
            CallStatus::Completed | CallStatus::Failed | CallStatus::Ended
        );
        let mut changed = match &self.permission {
            Some(asking) if asking.call == key && asking.sending.is_none() && !is_over => {
                asking.differences(call, &teller.words)
            }
            Some(_) | None => return,
        };
        // Text that comes while the question is open replaces the text that came with it.
        let written = (call.output.count > 0).then(|| parts(call.output.clone()));
        if let (Some(written), Some(asking)) = (written, &mut self.permission) {
            let is_old =
                |(name, _): &(String, String)| name == "content" || name.starts_with("content_");
            let old: Vec<(String, String)> = asking
                .context
                .iter()
                .filter(|it| is_old(it))
                .cloned()
                .collect();
            if old != written {
                asking.context.retain(|it| !is_old(it));
                asking.context.extend(written);
                changed.push("content".to_owned());
            }
        }
        if changed.is_empty() {
            return;
        }
        if let Some(mut asking) = self.permission.take() {
            asking.changed = changed;
            self.ask_changed(asking, teller, cx);
        }
    }

    /// Asks a changed question under a new token, so that an answer to the old one counts for nothing.
    fn ask_changed(&mut self, mut asking: Permission, teller: &mut EventContext, cx: &mut Cx<'_>) {
        // Under another call's id, it would not be recognised as replacing the earlier question.
        let key = self.calls.get(&asking.call).map(|call| call.key.as_str());
        if asking.asked_about.as_deref() != key {
            cx.out.push(asking.over(QuestionEnd::TakenBack));
            self.change_state("thinking", teller, cx);
            self.change_state("awaiting_input", teller, cx);
        }
        asking.token = teller.writer.token();
        self.put_question(asking, teller, cx);
    }

    fn ask_next(&mut self, teller: &mut EventContext, cx: &mut Cx<'_>) {
        if self.permission.is_some() {
            return;
        }
        let Some(mut permission) = self.waiting.pop_front() else {
            return;
        };
        permission.token = teller.writer.token();
        self.close_output(teller, cx);
        self.enter("awaiting_input", teller, cx);
        self.put_question(permission, teller, cx);
    }

    fn put_question(
        &mut self,
        mut permission: Permission,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) {
        let unknown = Call::new(&permission.call);
        let call = self.calls.get(&permission.call).unwrap_or(&unknown);
        let question = permission.asks(call, &teller.words);
        permission.note_asked(call, &teller.words);
        let answerable = teller.answerable && permission.takes_answers();
        self.permission = Some(permission);
        let text = teller
            .writer
            .event(&mut self.session, cx.now.wall, question);
        cx.out.push(if answerable {
            DialectOutput::Event(text)
        } else {
            DialectOutput::ViewOnly(text)
        });
    }

    /// Repeats the open question under its present token, because the agent repeated the request.
    pub fn ask_again(&mut self, teller: &mut EventContext, cx: &mut Cx<'_>) {
        if let Some(asking) = self.permission.take() {
            self.put_question(asking, teller, cx);
        }
    }

    /// Repeats a question whose answer did not arrive, under a new token: to listeners the question seems answered, and
    /// the old token used.
    pub fn ask_anew(&mut self, teller: &mut EventContext, cx: &mut Cx<'_>) {
        if let Some(asking) = self.permission.take() {
            self.change_state("thinking", teller, cx);
            self.waiting.push_front(asking);
            self.ask_next(teller, cx);
        }
    }

    /// Queues a request for an answer in words, to be asked when no earlier one is open, or `next` if it continues the
    /// open question. Returns false if there is no room.
    pub fn clarify(
        &mut self,
        request: Permission,
        next: bool,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) -> bool {
        self.heard = cx.now.monotonic;
        match next {
            true => self.waiting.push_front(request),
            false if self.waiting.len() >= MOST_PERMISSIONS => return false,
            false => self.waiting.push_back(request),
        }
        self.ask_next(teller, cx);
        true
    }

    /// Returns the open permission with this token, unless an answer to it is under way.
    pub fn asked_under(&mut self, token: &str) -> Option<&mut Permission> {
        let open = |it: &&mut Permission| it.token == token && it.sending.is_none();
        self.permission.as_mut().filter(open)
    }

    /// Notes that an answer was delivered; returns the person's reason for a rejection, if they gave one.
    ///
    /// A call that was allowed is announced once the agent reports it, or after a moment. If the turn can end before
    /// that, report the call as running, or it seems that the agent never made it.
    pub fn answered(
        &mut self,
        request: u64,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) -> Option<String> {
        let is_it = |it: &&Permission| it.sending.as_ref().is_some_and(|it| it.request == request);
        let permission = self.permission.as_ref().filter(is_it)?;
        let (key, sending) = (permission.call.clone(), permission.sending.clone()?);
        self.heard = cx.now.monotonic;
        if permission.clarifies.is_none() {
            self.rejected = !sending.allows;
        }
        let mut runs = false;
        if let Some(call) = self.calls.get_mut(&key) {
            call.rejected = !sending.allows;
            if call.stage != HeardStage::Announced {
                runs = sending.allows && call.status == CallStatus::InProgress;
                call.runs_at = sending.allows.then_some(cx.now.monotonic + GRACE);
                call.stage = match sending.allows {
                    true => HeardStage::Allowed,
                    false => HeardStage::Rejected,
                };
            }
        }
        let to = if sending.allows {
            "calling_tool"
        } else {
            "thinking"
        };
        self.leave_question(to, teller, cx);
        if runs {
            self.tell_call(&key, teller, cx);
        }
        sending.reason
    }

    /// Notes that an answer was not delivered, so that it can be given again. In a turn that is being stopped, it is
    /// too late for that: the permission is then over, and is returned.
    pub fn unanswered(
        &mut self,
        request: u64,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) -> Option<Permission> {
        let asking = self.permission.as_mut()?;
        asking.sending.take_if(|it| it.request == request)?;
        let over = self.permission.clone().filter(|_| self.stopping)?;
        cx.out.push(over.over(QuestionEnd::Stopped));
        self.leave_question("thinking", teller, cx);
        Some(over)
    }

    /// Removes a permission that the agent withdraws; returns it if it was open and not answered.
    pub fn withdrawn(
        &mut self,
        id: &Value,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) -> Option<Permission> {
        if let Some(at) = self.waiting.iter().position(|it| it.id.is(id)) {
            return self.waiting.remove(at);
        }
        if let Some(at) = self.passed.iter().position(|it| it.id.is(id)) {
            return Some(self.passed.remove(at));
        }
        let open = |it: &&Permission| it.id.is(id) && it.sending.is_none();
        let permission = self.permission.as_ref().filter(open)?.clone();
        cx.out.push(permission.over(QuestionEnd::TakenBack));
        self.leave_question("thinking", teller, cx);
        Some(permission)
    }

    /// Removes a request that was decided elsewhere; `allowed` is `None` if the decision is unknown. Returns whether it
    /// was open. A request with the person's own answer under way stays open until the outcome of that is known.
    pub fn decided_elsewhere(
        &mut self,
        name: &str,
        allowed: Option<bool>,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) -> bool {
        let before = self.waiting.len() + self.passed.len();
        let gone: Vec<String> = self
            .waiting
            .iter()
            .filter(|it| it.id.is_name(name))
            .map(|it| it.call.clone())
            .collect();
        self.waiting.retain(|it| !it.id.is_name(name));
        self.passed.retain(|it| !it.id.is_name(name));
        for call in gone {
            self.let_go(&call, allowed);
        }
        if self.waiting.len() + self.passed.len() < before {
            return true;
        }
        let open = |it: &&Permission| it.id.is_name(name) && it.sending.is_none();
        let Some(call) = self
            .permission
            .as_ref()
            .filter(open)
            .map(|it| it.call.clone())
        else {
            return false;
        };
        self.let_go(&call, allowed);
        let to = if allowed == Some(true) {
            "calling_tool"
        } else {
            "thinking"
        };
        self.leave_question(to, teller, cx);
        true
    }

    /// Notes how a call was decided elsewhere: it is announced when it runs, or has failed.
    fn let_go(&mut self, key: &str, allowed: Option<bool>) {
        self.rejected = allowed == Some(false);
        if let Some(call) = self
            .calls
            .get_mut(key)
            .filter(|it| it.stage == HeardStage::Asked)
        {
            call.stage = match allowed {
                Some(false) => HeardStage::Rejected,
                Some(true) | None => HeardStage::Allowed,
            };
        }
    }

    /// Notes that a request was over before the person's answer arrived: another answer was faster.
    pub fn too_late(&mut self, request: u64, teller: &mut EventContext, cx: &mut Cx<'_>) {
        let is_it = |it: &Permission| it.sending.as_ref().is_some_and(|it| it.request == request);
        let Some(call) = self
            .permission
            .as_ref()
            .filter(|it| is_it(it))
            .map(|it| it.call.clone())
        else {
            return;
        };
        self.let_go(&call, None);
        self.leave_question("thinking", teller, cx);
    }

    /// Returns the ids of all open requests.
    pub fn requests(&self) -> impl Iterator<Item = &Id> {
        let all = self.permissions();
        all.map(|permission| &permission.id)
    }

    /// Returns whether this request is the open question.
    pub fn is_asked(&self, name: &str) -> bool {
        self.permission
            .as_ref()
            .is_some_and(|it| it.id.is_name(name))
    }

    /// Returns whether a question is open.
    pub fn asks(&self) -> bool {
        self.permission.is_some()
    }

    /// Closes all open requests, which can't be answered any more, and returns their names.
    pub fn close(
        &mut self,
        how: QuestionEnd,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) -> Vec<String> {
        let open = self.waiting.drain(..).chain(self.passed.drain(..));
        let mut names: Vec<String> = open.filter_map(|it| it.id.name()).collect();
        if let Some(asking) = self.permission.take() {
            names.extend(asking.id.name());
            if asking.sending.is_none() {
                cx.out.push(asking.over(how));
            }
            self.change_state("thinking", teller, cx);
        }
        names
    }

    /// Begins to stop the turn; returns the open permissions, which are to be answered as cancelled.
    pub fn stop(&mut self, teller: &mut EventContext, cx: &mut Cx<'_>) -> Vec<Permission> {
        self.stopping = true;
        let mut open: Vec<Permission> = self.waiting.drain(..).collect();
        open.append(&mut self.passed);
        // An answer under way is the person's, and remains valid.
        if let Some(asking) = self.permission.as_ref().filter(|it| it.sending.is_none()) {
            cx.out.push(asking.over(QuestionEnd::Stopped));
            open.insert(0, asking.clone());
            self.leave_question("thinking", teller, cx);
        }
        for permission in &open {
            self.was_cancelled(&permission.call);
        }
        open
    }

    /// Notes that a call was cancelled before it was allowed: it is announced only if it runs all the same.
    pub fn was_cancelled(&mut self, key: &str) {
        if let Some(call) = self.calls.get_mut(key) {
            call.stage = match call.stage {
                HeardStage::Announced => HeardStage::Announced,
                HeardStage::Allowed => HeardStage::Allowed,
                HeardStage::Unsaid
                | HeardStage::Waiting(_)
                | HeardStage::Asked
                | HeardStage::Rejected => HeardStage::Rejected,
            };
        }
    }

    /// Leaves the open question, and asks the next one.
    pub fn leave_question(&mut self, to: &str, teller: &mut EventContext, cx: &mut Cx<'_>) {
        self.permission = None;
        self.change_state(to, teller, cx);
        self.ask_next(teller, cx);
        // Other calls may run.
        self.enter(to, teller, cx);
    }
}
