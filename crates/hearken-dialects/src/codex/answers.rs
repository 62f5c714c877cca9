//! The server's requests about a thread, and the person's answers to them.
//!
//! Responsibilities: each request as a question, asked once however often it comes; each answer as one message,
//! delivered when the server confirms it; questions that are answered elsewhere, or are gone. Not here: what requests
//! say (`approvals`, `input_questions`).
//!
//! Mental model: the server forgets no open request: over a new connection, it repeats what it asked before, under the
//! same id. A restarted server counts its ids anew, so an id means something only together with the question. An answer
//! is never sent to a server that has not asked the question over the present connection.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::kit::call;
use crate::kit::call::first;
use crate::kit::members::text;
use crate::kit::permission::{Permission, SentAnswer};
use crate::kit::turn_updates::{CallNews, CallStatus};
use crate::link::{DeliveryFailure, Fault, Phrase, PhraseArg, Receipt};
use crate::protocol::{Answer, Reply};
use crate::rpc::{self, Id};
use crate::{Cx, DialectOutput, OpenQuestionsChange, QuestionEnd};

use super::approvals::{self, ApprovalRequest, CodexQuestion};
use super::input_questions::{CodexForm, FormContinuation};
use super::items::MOST_CHANGES;
use super::thread::{JoinProgress, Thread};

/// How long to wait for the server to confirm an answer; after that, only the writing of it is certain.
const CONFIRMED: Duration = Duration::from_secs(3);

/// An answer from the person that is under way.
#[derive(Debug)]
pub struct AnswerUnderWay {
    /// The number of the person's answer.
    request: u64,
    /// The server's id of the request that it answers.
    id: Id,
    /// The question for words, as it was before this answer.
    before: Option<CodexForm>,
    stage: AnswerProgress,
}

/// How far an answer has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerProgress {
    /// The transport has not reported on it yet.
    Leaving,
    /// The same, and the server says that the request is decided.
    LeavingLate,
    /// It was written; the server's confirmation is awaited until this time.
    Written(Duration),
    /// It was written, and no confirmation came.
    Unconfirmed,
}

impl AnswerUnderWay {
    /// Returns when the wait for the server's confirmation ends.
    pub fn deadline(&self) -> Option<Duration> {
        match self.stage {
            AnswerProgress::Written(until) => Some(until),
            AnswerProgress::Leaving | AnswerProgress::LeavingLate | AnswerProgress::Unconfirmed => {
                None
            }
        }
    }
}

impl Thread {
    /// Handles a request that needs a person's answer; returns false if it can't be asked.
    pub fn on_request(
        &mut self,
        id: &Id,
        method: &str,
        params: &Map<String, Value>,
        cx: &mut Cx<'_>,
    ) -> bool {
        let words = self.teller.words.clone();
        let Some(ask) = approvals::read(method, params, &words) else {
            return false;
        };
        let turn = text(params, "turnId").map(str::to_owned);
        let turn = turn.or_else(|| self.run.as_ref().map(|run| run.id.clone()));
        // A question outside any turn gets a turn of its own.
        let turn = turn.unwrap_or_else(|| "asked".to_owned());
        if !self.runs(&turn, cx) {
            return false;
        }
        match ask {
            CodexQuestion::Consent(consent) => self.asked_consent(id, *consent, cx),
            CodexQuestion::Words(form) => self.asked_words(id, form, cx),
        }
    }

    fn asked_consent(&mut self, id: &Id, ask: ApprovalRequest, cx: &mut Cx<'_>) -> bool {
        let ApprovalRequest {
            mut news,
            mut choices,
            mut left_out,
            mut context,
            tool: of,
        } = ask;
        let of = of.map(|(server, tool)| format!("{server}.{tool}"));
        let tools = self.run.as_ref().map(|run| run.tools.as_slice());
        let mut same = tools
            .unwrap_or_default()
            .iter()
            .filter(|(_, tool)| Some(tool) == of.as_ref());
        if let (Some((item, _)), None) = (same.next(), same.next()) {
            // It is about a call that is already known by its own id.
            context.extend(
                news.title
                    .take()
                    .map(|title| ("question".to_owned(), title)),
            );
            news = CallNews {
                id: item.clone(),
                status: Some(CallStatus::InProgress),
                ..CallNews::default()
            };
        }
        let key = call::key(&news.id);
        if let Some(again) = self.asked_before(id, &key, cx) {
            return again;
        }
        let known = self
            .announced_turn()
            .is_some_and(|(turn, _)| turn.calls.contains_key(&key));
        if !known && news.command().is_none() && news.title.is_none() {
            // What it does was said before we joined, and nobody can allow what they have not heard.
            let edits = news.kind.as_deref() == Some("edit");
            let key = if edits {
                "codex.unseen"
            } else {
                "codex.unseen.call"
            };
            news.title = Some(first(&self.teller.words, key, &[]));
            left_out += approvals::unallowed(&mut choices);
        } else {
            let call = self
                .announced_turn()
                .and_then(|(turn, _)| turn.calls.get(&key));
            let many = call.is_some_and(|call| call.change_count() >= MOST_CHANGES);
            if many || approvals::is_cut(&news) {
                let title = news.title.clone();
                context.extend(title.map(|title| ("question".to_owned(), title)));
                left_out += approvals::unallowed(&mut choices);
            }
        }
        if left_out > 0 {
            let n = PhraseArg::Own(left_out.to_string());
            cx.out.push(DialectOutput::Announce(
                Phrase::new("codex.left_out").with("n", n),
            ));
        }
        let permission = Permission::consent(id.clone(), &key, choices, context);
        let asked = self.turn(None, cx);
        asked.is_some_and(|(turn, teller)| turn.request(permission, news, teller, cx))
    }

    fn asked_words(&mut self, id: &Id, form: CodexForm, cx: &mut Cx<'_>) -> bool {
        if let Some(again) = self.asked_before(id, "", cx) {
            return again;
        }
        self.forms.insert(id.clone(), form);
        self.ask_form(id, false, cx)
    }

    /// Asks the next field of a form.
    fn ask_form(&mut self, id: &Id, next: bool, cx: &mut Cx<'_>) -> bool {
        let words = self.teller.words.clone();
        let question = self.forms.get(id).and_then(|form| form.question(&words));
        let Some(question) = question else {
            return false;
        };
        let permission = Permission::words(id.clone(), question);
        let asked = self.turn(None, cx);
        asked.is_some_and(|(turn, teller)| turn.clarify(permission, next, teller, cx))
    }

    /// Returns the result for a request that is open already; `None` if it is new.
    fn asked_before(&mut self, id: &Id, key: &str, cx: &mut Cx<'_>) -> Option<bool> {
        let (turn, _) = self.announced_turn()?;
        if turn.waiting.iter().any(|it| it.id == *id && it.call == key) {
            return Some(true);
        }
        let asking = turn.permission.as_ref().filter(|it| it.id == *id)?;
        if asking.call != key {
            // The same id for another question: the server that asked the first is gone.
            self.lose_question(cx);
            return None;
        }
        if std::mem::take(&mut self.away) {
            self.away_until = None;
            if std::mem::take(&mut self.doubted) {
                if let Some((turn, teller)) = self.announced_turn() {
                    turn.ask_again(teller, cx);
                }
            } else {
                cx.out
                    .push(DialectOutput::Standing(OpenQuestionsChange::Back));
            }
        }
        Some(true)
    }

    /// Sends an answer from the person, if it belongs to a question of this thread.
    pub fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) -> bool {
        let free = self.answering.is_none() && !self.away && self.joined == JoinProgress::Yes;
        let forms = &mut self.forms;
        let turn = self.run.as_mut().and_then(|run| run.turn.as_mut());
        let asked = turn.and_then(|turn| turn.asked_under(reply.token.reveal()));
        let Some(permission) = asked else {
            return false;
        };
        let kept = |fault| DialectOutput::Settled {
            request,
            outcome: Err(DeliveryFailure::Kept(fault)),
        };
        if !free || !self.teller.answerable {
            // The server that asked is not there; the answer can be tried again.
            cx.out.push(kept(Fault::Closed));
            return true;
        }
        let (mut before, mut next) = (None, false);
        let found = match (&permission.clarifies, &reply.answer) {
            (
                None,
                Answer::Decision {
                    decision,
                    rationale,
                },
            ) => {
                let choice = permission
                    .offered
                    .iter()
                    .find(|it| it.decision == decision.as_str());
                choice.map(|choice| (choice.option.clone(), choice.allows, rationale.clone()))
            }
            (Some(_), answer) => forms.get_mut(&permission.id).and_then(|form| {
                before = Some(form.clone());
                match form.answer(answer) {
                    FormContinuation::Send(result) => Some((result, false, None)),
                    FormContinuation::Next => {
                        next = true;
                        Some((String::new(), false, None))
                    }
                    FormContinuation::Nothing => None,
                }
            }),
            (None, Answer::Response(_)) => None,
        };
        let Some((result, allows, reason)) = found else {
            cx.out.push(kept(Fault::OneWay));
            return true;
        };
        let id = permission.id.clone();
        permission.sending = Some(SentAnswer {
            request,
            allows,
            reason,
        });
        if next {
            // It is sent with the others, after the last one.
            cx.out.push(DialectOutput::Settled {
                request,
                outcome: Ok(Receipt::Here),
            });
            self.ask_form(&id, true, cx);
            if let Some((turn, teller)) = self.announced_turn() {
                turn.answered(request, teller, cx);
            }
            return true;
        }
        cx.out.push(DialectOutput::Send {
            request,
            frame: rpc::result(&id, &result),
        });
        self.answering = Some(AnswerUnderWay {
            request,
            id,
            before,
            stage: AnswerProgress::Leaving,
        });
        true
    }

    /// Handles the outcome of an answer, if it belongs to this thread.
    pub fn replied(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) -> bool {
        let Some(answering) = self.answering.as_mut().filter(|it| it.request == request) else {
            return false;
        };
        match (outcome, answering.stage) {
            (Ok(_), AnswerProgress::LeavingLate) => {
                // The decision came first, so it may be another client's.
                cx.out.push(DialectOutput::Settled {
                    request,
                    outcome: Ok(Receipt::Written),
                });
                self.answering = None;
                // The reason for the rejection is sent, whoever decided.
                let asking = self
                    .announced_turn()
                    .and_then(|(turn, _)| turn.permission.as_ref());
                let sending = asking.and_then(|asking| asking.sending.as_ref());
                let reason = sending.and_then(|sending| sending.reason.clone());
                self.reason = reason.filter(|reason| !reason.trim().is_empty());
                self.decided_elsewhere(true, cx);
            }
            (
                Ok(_),
                AnswerProgress::Leaving | AnswerProgress::Written(_) | AnswerProgress::Unconfirmed,
            ) => answering.stage = AnswerProgress::Written(cx.now.monotonic + CONFIRMED),
            (Err(undelivered), stage) => {
                let undelivered = undelivered.clone();
                self.undelivered(undelivered, cx);
                if stage == AnswerProgress::LeavingLate {
                    self.decided_elsewhere(true, cx);
                }
            }
        }
        self.go_on(cx);
        true
    }

    /// Reopens a question whose answer did not arrive, or may not have.
    fn undelivered(&mut self, why: DeliveryFailure, cx: &mut Cx<'_>) {
        let Some(answering) = self.answering.take() else {
            return;
        };
        if answering.stage != AnswerProgress::Unconfirmed {
            cx.out.push(DialectOutput::Settled {
                request: answering.request,
                outcome: Err(why),
            });
        }
        if let Some(before) = answering.before {
            self.forms.insert(answering.id, before);
        }
        if let Some((turn, teller)) = self.announced_turn() {
            turn.unanswered(answering.request, teller, cx);
        }
    }

    /// Handles the server's confirmation that our answer is the decision.
    fn confirmed(&mut self, cx: &mut Cx<'_>) {
        let Some(answering) = self.answering.take() else {
            return;
        };
        if answering.stage != AnswerProgress::Unconfirmed {
            cx.out.push(DialectOutput::Settled {
                request: answering.request,
                outcome: Ok(Receipt::Taken),
            });
        }
        self.forms.remove(&answering.id);
        if let Some((turn, teller)) = self.announced_turn() {
            let reason = turn.answered(answering.request, teller, cx);
            self.reason = reason.filter(|reason| !reason.trim().is_empty());
        }
    }

    /// Handles the server's report that a request is decided.
    pub fn resolved(&mut self, id: &Value, cx: &mut Cx<'_>) {
        if let Some(answering) = self.answering.as_mut().filter(|it| it.id.is(id)) {
            match answering.stage {
                AnswerProgress::Leaving | AnswerProgress::LeavingLate => {
                    answering.stage = AnswerProgress::LeavingLate
                }
                AnswerProgress::Written(_) | AnswerProgress::Unconfirmed => self.confirmed(cx),
            }
        } else if let Some((turn, _)) = self.announced_turn() {
            let asking = turn.permission.as_ref().is_some_and(|it| it.id.is(id));
            if let Some(at) = turn.waiting.iter().position(|it| it.id.is(id)) {
                let gone = turn.waiting.remove(at);
                self.forms
                    .retain(|known, _| gone.as_ref().is_none_or(|gone| gone.id != *known));
                if let Some(gone) = gone {
                    self.wait_for_call(&gone.call, cx.now);
                }
            }
            if asking {
                self.decided_elsewhere(true, cx);
            }
        }
        self.go_on(cx);
    }

    /// Leaves the open question: it was decided elsewhere, or is over with its turn. `there` says whether the asking
    /// server is still there, so that the call may run now.
    fn decided_elsewhere(&mut self, there: bool, cx: &mut Cx<'_>) {
        let over = self.run.as_ref().is_some_and(|run| run.last_word.is_some());
        let asking = self
            .announced_turn()
            .and_then(|(turn, _)| turn.permission.clone());
        let Some(asking) = asking else {
            return;
        };
        self.forms.remove(&asking.id);
        (self.away, self.away_until, self.doubted) = (false, None, false);
        if over {
            cx.out.push(asking.over(QuestionEnd::TakenBack));
        } else if there {
            self.wait_for_call(&asking.call, cx.now);
        }
        if let Some((turn, teller)) = self.announced_turn() {
            turn.leave_question("thinking", teller, cx);
        }
    }

    /// Leaves the open question, because no server asks it any more.
    pub fn lose_question(&mut self, cx: &mut Cx<'_>) {
        if self
            .announced_turn()
            .is_some_and(|(turn, _)| turn.permission.is_some())
        {
            self.undelivered(DeliveryFailure::Unknown(Fault::Closed), cx);
            self.decided_elsewhere(false, cx);
        }
        (self.away, self.away_until, self.doubted) = (false, None, false);
        self.go_on(cx);
    }

    /// Handles a declined call.
    pub fn declined(&mut self, news: CallNews, cx: &mut Cx<'_>) {
        let key = call::key(&news.id);
        let asked = |it: &Permission| it.call == key && it.sending.is_none();
        if self
            .announced_turn()
            .is_some_and(|(turn, _)| turn.permission.as_ref().is_some_and(asked))
        {
            self.decided_elsewhere(true, cx);
        }
        // Whose refusal it was has been announced.
        let is_known = self.reviews.has_refused(&news.id);
        let Some((turn, teller)) = self.turn(None, cx) else {
            return;
        };
        turn.waiting.retain(|waiting| waiting.call != key);
        if let Some(title) = turn.declined(&key, teller, cx).filter(|_| !is_known) {
            let title = PhraseArg::Agent(title);
            cx.out.push(DialectOutput::Announce(
                Phrase::new("codex.declined").with("title", title),
            ));
        }
    }

    /// Handles the loss of the connection.
    pub fn lost(&mut self, fault: &Fault, cx: &mut Cx<'_>) {
        self.joined = JoinProgress::Not;
        self.looked_at = false;
        (self.active, self.waits) = (false, false);
        let stage = self.answering.as_ref().map(|it| it.stage);
        match stage {
            // The transport will report what became of it.
            None | Some(AnswerProgress::Leaving | AnswerProgress::LeavingLate) => {}
            Some(AnswerProgress::Written(_)) => {
                self.undelivered(DeliveryFailure::Unknown(fault.clone()), cx);
            }
            Some(AnswerProgress::Unconfirmed) => {
                self.doubted = true;
                self.undelivered(DeliveryFailure::Unknown(fault.clone()), cx);
            }
        }
        let asking = match self.announced_turn() {
            Some((turn, _)) => {
                // The server repeats requests that were not asked yet.
                turn.waiting.clear();
                turn.permission.as_ref().map(|it| it.id.clone())
            }
            None => None,
        };
        self.forms.retain(|id, _| Some(id) == asking.as_ref());
        self.away = asking.is_some();
        self.away_until = None;
    }

    /// Settles the answer under way, because its turn is over.
    pub fn settle_lost(&mut self, out: &mut Vec<DialectOutput>) {
        if let Some(answering) = self.answering.take()
            && answering.stage != AnswerProgress::Unconfirmed
        {
            out.push(DialectOutput::Settled {
                request: answering.request,
                outcome: Err(DeliveryFailure::Unknown(Fault::Closed)),
            });
        }
    }

    /// Handles the passing of time: ends the wait for the server's confirmation.
    pub fn tick_answer(&mut self, cx: &mut Cx<'_>) {
        if let Some(answering) = &mut self.answering
            && answering
                .deadline()
                .is_some_and(|until| until <= cx.now.monotonic)
        {
            answering.stage = AnswerProgress::Unconfirmed;
            cx.out.push(DialectOutput::Settled {
                request: answering.request,
                outcome: Ok(Receipt::Written),
            });
        }
    }

    /// Stops the turn, whereupon the server cancels its open question.
    pub fn stop(&mut self, cx: &mut Cx<'_>) {
        if let Some((turn, teller)) = self.announced_turn() {
            turn.stop(teller, cx);
        }
        self.forms.clear();
        (self.away, self.away_until, self.doubted) = (false, None, false);
    }
}
