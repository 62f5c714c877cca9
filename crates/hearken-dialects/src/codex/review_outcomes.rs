//! What follows from Codex's reviewer: the announcements, and the person's permission despite its refusal.
//!
//! Responsibilities: calls that wait while they are judged, refusals, asking whether Codex may try all the same. Not
//! here: what a review says (`review`), what is kept of it (`reviews`).
//!
//! Mental model: the reviewer decides for the person, so that nobody is asked. A refusal is final for that call. Codex
//! can be told that the person allows the action. That runs nothing, and begins no turn: its model reads the permission
//! with its next step and may try again, and the reviewer, which reads it, too, judges anew. So the question outlives
//! its turn, no answer means "no", and the permission takes two steps.

use serde_json::{Map, Value, json};

use crate::kit::call;
use crate::kit::call::{HeardStage, first};
use crate::kit::oversight;
use crate::kit::standalone_question::SideQuestion;
use crate::kit::turn_updates::CallStatus;
use crate::link::{DeliveryFailure, Fault, Phrase, PhraseArg, Receipt};
use crate::protocol::{
    Answer, Attachments, AwaitingConfirmation, Decision, Reply, RiskLevel, Summary,
};
use crate::{Cx, DialectOutput, QuestionEnd, event_writer};

use super::client::{AGENT, Codex, CodexRequest, ContactPhase};
use super::review::{CodexReview, Verdict};
use super::reviews::Overruling;
use super::thread::Thread;

/// Returns a phrase about an action.
fn about(key: &'static str, action: &str) -> Phrase {
    Phrase::new(key).with("title", PhraseArg::Agent(event_writer::short(action)))
}

impl Thread {
    /// Handles news of the reviewer; returns false for any other message.
    pub fn reviewed(&mut self, method: &str, params: &Map<String, Value>, cx: &mut Cx<'_>) -> bool {
        match method {
            "item/autoApprovalReview/started" | "item/autoApprovalReview/completed" => {
                let words = self.teller.words.clone();
                if let Some(review) = CodexReview::read(params, &self.teller.folder, &words) {
                    self.judged(review, cx);
                }
            }
            "autoApprovalReview/strictReviewRequired" => {
                cx.out
                    .push(DialectOutput::Announce(Phrase::new("codex.review.strict")));
            }
            "guardianWarning" => {
                let words = params.get("message").and_then(Value::as_str);
                let words = event_writer::long(words.unwrap_or_default().trim());
                if !words.is_empty()
                    && let Some(warning) = self.reviews.keep(words)
                {
                    warn([warning], cx.out);
                }
            }
            _ => return false,
        }
        true
    }

    fn judged(&mut self, review: CodexReview, cx: &mut Cx<'_>) {
        if review.verdict == Verdict::Open {
            self.reviews.begin(&review.id);
            return self.wait_for_reviewer(review.item.as_deref());
        }
        let warnings = self.reviews.end(&review.id, &review.reason);
        let action = review.action.words.as_str();
        match review.verdict {
            Verdict::Open | Verdict::Unknown => {}
            Verdict::Allowed => {
                let phrase = match review.is_dangerous() {
                    true => DialectOutput::Announce(about("codex.review.allowed_danger", action)),
                    false => DialectOutput::Detail(about("codex.review.allowed", action)),
                };
                cx.out.push(phrase);
                if let Some(one) = self.reviews.take_same(action) {
                    self.drop_overruling(one, cx);
                }
                self.go_on_after_review(review.item.as_deref(), cx);
            }
            Verdict::Refused => {
                let reason = event_writer::short(&review.reason);
                let refused = oversight::reviewer_refused(AGENT, action, &reason);
                cx.out.push(DialectOutput::Announce(refused));
            }
            Verdict::Late => cx
                .out
                .push(DialectOutput::Announce(about("codex.review.late", action))),
            Verdict::BrokenOff => {
                let broken_off = about("codex.review.broken_off", action);
                cx.out.push(match self.is_stopping() {
                    true => DialectOutput::Detail(broken_off),
                    false => DialectOutput::Announce(broken_off),
                });
            }
        }
        warn(warnings, cx.out);
        match review.verdict {
            Verdict::Refused | Verdict::Late | Verdict::BrokenOff => {
                if let Some(item) = &review.item {
                    self.reviews.refuse(item);
                }
            }
            Verdict::Open | Verdict::Allowed | Verdict::Unknown => {}
        }
        self.ask_to_overrule(review, cx);
    }

    /// Delays announcing a call until the reviewer has judged it.
    fn wait_for_reviewer(&mut self, item: Option<&str>) {
        let key = item.map(call::key);
        if let (Some(key), Some((turn, _))) = (key, self.announced_turn())
            && let Some(call) = turn.calls.get_mut(&key)
        {
            call.stage = match call.stage {
                HeardStage::Unsaid | HeardStage::Waiting(_) => HeardStage::Asked,
                other => other,
            };
        }
    }

    /// Announces that a call runs, because the reviewer allowed it.
    fn go_on_after_review(&mut self, item: Option<&str>, cx: &mut Cx<'_>) {
        let key = item.map(call::key);
        let Some((key, (turn, teller))) = key.and_then(|key| Some((key, self.announced_turn()?)))
        else {
            return;
        };
        let asks = turn.permission.iter().chain(&turn.waiting);
        let is_asked = asks.into_iter().any(|it| it.call == key);
        let Some(call) = turn.calls.get_mut(&key) else {
            return;
        };
        if call.stage == HeardStage::Asked && !is_asked {
            call.stage = HeardStage::Allowed;
            if call.status == CallStatus::InProgress {
                turn.tell_call(&key, teller, cx);
            }
        }
    }

    /// Asks whether Codex may try a refused action all the same.
    fn ask_to_overrule(&mut self, review: CodexReview, cx: &mut Cx<'_>) {
        let Some(refusal) = review.refusal.filter(|_| self.teller.answerable) else {
            return;
        };
        if let Some(mut same) = self.reviews.take_same(&review.action.words) {
            // The same again: the question is open, and is about the latest refusal from now on.
            (same.review, same.refusal) = (review.id, refusal);
            return self.reviews.overrulings.push(same);
        }
        let words = self.teller.words.clone();
        let same = (!review.action.is_of_call).then(|| review.action.words.clone());
        let (mut action, mut changes) = (review.action.words, Vec::new());
        if review.action.is_of_call {
            let key = review.item.as_deref().map(call::key);
            let told = key.and_then(|key| Some((key, self.announced_turn()?)));
            let Some(call) = told.and_then(|(key, (turn, _))| turn.calls.get(&key).cloned()) else {
                // Nobody can allow what they have not heard.
                return;
            };
            action = call.action(&words);
            changes = call.edits;
        }
        let mut context = review.action.context;
        // The person knows where Codex works.
        context.retain(|(name, value)| name != "cwd" || *value != self.teller.folder);
        let question = AwaitingConfirmation {
            names_action: !action.trim().is_empty(),
            action,
            consequence: Some(first(&words, "codex.overrule.then", &[])),
            risk_level: matches!(review.risk.as_str(), "high" | "critical")
                .then_some(RiskLevel::High),
            allowed_replies: vec![Decision::Accept, Decision::Reject],
            extra_context: context,
            // Heard with the refusal, and again among the details.
            summary: Summary {
                detailed: event_writer::stated(review.reason),
                ..Summary::default()
            },
            ..AwaitingConfirmation::default()
        };
        // The deed is not attached, so that the answer always takes two steps.
        let attached = Attachments {
            changes,
            ..Attachments::default()
        };
        if let Some(oldest) = self.reviews.make_room() {
            self.drop_overruling(oldest, cx);
        }
        let name = format!("review {}", review.id);
        let teller = &mut self.teller;
        let mut asked = SideQuestion::begin(&name, &self.id, "codex.overrule.asks", teller, cx);
        asked.confirm(question, attached, teller, cx);
        self.reviews.overrulings.push(Overruling {
            review: review.id,
            question: asked,
            action: same,
            refusal,
        });
    }

    fn drop_overruling(&mut self, one: Overruling, cx: &mut Cx<'_>) {
        one.question.is_over(QuestionEnd::TakenBack, cx.out);
        one.question.end(&mut self.teller, cx);
    }

    /// Closes all questions about refusals, because the thread is closed, or lost for good.
    pub fn leave_reviews(&mut self, cx: &mut Cx<'_>) {
        for one in std::mem::take(&mut self.reviews.overrulings) {
            self.drop_overruling(one, cx);
        }
        self.end_reviews(cx.out);
    }

    /// Handles the end of a turn: nothing more comes of its reviews.
    pub fn end_reviews(&mut self, out: &mut Vec<DialectOutput>) {
        warn(self.reviews.end_all(), out);
    }
}

fn warn(warnings: impl IntoIterator<Item = String>, out: &mut Vec<DialectOutput>) {
    for warning in warnings {
        let words = PhraseArg::Agent(warning);
        out.push(DialectOutput::Announce(
            Phrase::new("codex.warning").with("words", words),
        ));
    }
}

impl Codex {
    /// Carries out the person's answer about a refusal; returns false if it answers something else.
    pub(super) fn overrules(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) -> bool {
        let is_met = self.phase == ContactPhase::Met;
        let token = reply.token.reveal();
        let mut threads = self.threads.values_mut();
        let found = threads.find_map(|thread| {
            let id = thread.id.clone();
            thread.reviews.asked_under(token).map(|one| (id, one))
        });
        let Some((thread, one)) = found else {
            return false;
        };
        let settle = |outcome| DialectOutput::Settled { request, outcome };
        let allows = match &reply.answer {
            Answer::Decision { decision, .. } => match decision {
                Decision::Accept => true,
                Decision::Reject => false,
                Decision::Other(_) => {
                    cx.out
                        .push(settle(Err(DeliveryFailure::Kept(Fault::OneWay))));
                    return true;
                }
            },
            Answer::Response(_) => {
                cx.out
                    .push(settle(Err(DeliveryFailure::Kept(Fault::OneWay))));
                return true;
            }
        };
        let review = one.review.clone();
        if !allows {
            // The refusal stands, and Codex waits for no answer.
            cx.out.push(settle(Ok(Receipt::Here)));
            self.end_overruling(&thread, &review, cx);
            return true;
        }
        if !is_met {
            cx.out
                .push(settle(Err(DeliveryFailure::Kept(Fault::Closed))));
            return true;
        }
        one.question.sends(request);
        let params = json!({"threadId": thread, "event": one.refusal});
        let what = CodexRequest::Overrule {
            thread,
            review,
            request,
        };
        self.ask(what, "thread/approveGuardianDeniedAction", &params, cx.out);
        true
    }

    fn end_overruling(&mut self, thread: &str, review: &str, cx: &mut Cx<'_>) {
        if let Some(thread) = self.threads.get_mut(thread)
            && let Some(one) = thread.reviews.take(review)
        {
            one.question.end(&mut thread.teller, cx);
        }
    }

    /// Handles the news that Codex was told of the person's permission.
    pub(super) fn overruled(&mut self, thread: &str, review: &str, request: u64, cx: &mut Cx<'_>) {
        cx.out.push(DialectOutput::Settled {
            request,
            outcome: Ok(Receipt::Taken),
        });
        self.end_overruling(thread, review, cx);
        let in_turn = self.threads.get(thread).is_some_and(Thread::in_turn);
        cx.out
            .push(DialectOutput::Announce(Phrase::new(match in_turn {
                true => "codex.overrule.told",
                false => "codex.overrule.waits",
            })));
    }

    /// Handles the news that Codex does not take the person's permission.
    pub(super) fn not_overruled(
        &mut self,
        thread: &str,
        review: &str,
        request: u64,
        words: PhraseArg,
        cx: &mut Cx<'_>,
    ) {
        let fault = Fault::Rejected {
            reason: Phrase::new("codex.refused").with("words", words),
            retry_after: None,
            again: false,
        };
        cx.out.push(DialectOutput::Settled {
            request,
            outcome: Err(DeliveryFailure::Refused(fault)),
        });
        if let Some(thread) = self.threads.get_mut(thread)
            && let Some(one) = thread.reviews.take(review)
        {
            thread.drop_overruling(one, cx);
        }
    }

    /// Handles the loss of the connection while the person's permission was under way.
    pub(super) fn overruling_lost(
        &mut self,
        thread: &str,
        request: u64,
        fault: &Fault,
        out: &mut Vec<DialectOutput>,
    ) {
        out.push(DialectOutput::Settled {
            request,
            outcome: Err(DeliveryFailure::Unknown(fault.clone())),
        });
        if let Some(thread) = self.threads.get_mut(thread) {
            for one in &mut thread.reviews.overrulings {
                one.question.went(request);
            }
        }
    }
}
