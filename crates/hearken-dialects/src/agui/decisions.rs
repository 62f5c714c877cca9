//! Asking the person about interrupts, and handling the answers.
//!
//! Responsibilities: asking about all interrupts, keeping answers, resuming the run with the last one, and the outcome.
//! Not here: building the questions (`questions`), posting the run (`runs`).

use std::time::Duration;

use crate::kit::call;
use crate::kit::permission::SentAnswer;
use crate::kit::turn_end::TurnEnd;
use crate::kit::turn_updates::{CallNews, CallStatus, Update};
use crate::link::{DeliveryFailure, Fault, Phrase, PhraseArg, Receipt};
use crate::protocol::{Answer, Reply};
use crate::{Cx, DialectOutput, QuestionEnd};

use super::client::{Agui, RunPost};
use super::interrupt::Interrupt;
use super::questions::{InterruptContinuation, InterruptForm, Interruption};

impl Agui {
    /// Handles the interrupts that ended a run, and asks about them.
    pub(super) fn interrupted(
        &mut self,
        way: InterruptForm,
        interrupts: Option<Vec<Interrupt>>,
        cx: &mut Cx<'_>,
    ) {
        if self.turn.is_none() {
            self.begin(None, cx);
        }
        let Some(asked) = interrupts.and_then(|all| Interruption::new(way, all)) else {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("agui.unasked")));
            self.history.breaks_off();
            return self.end(TurnEnd::Lost("agui.end.unasked"), cx);
        };
        if let Some(turn) = &mut self.turn {
            turn.stopping = false;
        }
        self.expires = asked.expires().map(|at| {
            let left = Duration::try_from(at.duration_since(cx.now.wall)).unwrap_or_default();
            cx.now.monotonic + left
        });
        let names = asked.names();
        self.interruption = Some(asked);
        for name in names {
            self.ask(&name, false, cx);
        }
        // The question is due now, and nothing later in the stream can answer it.
        cx.out.push(DialectOutput::Release);
    }

    /// Asks the question with this name.
    fn ask(&mut self, name: &str, next: bool, cx: &mut Cx<'_>) {
        let question = self.interruption.as_ref().and_then(|asked| {
            let known = |call: &str| self.heard_extent(call);
            asked.question(name, &known, &self.teller.words)
        });
        let Some((permission, news, is_cut)) = question else {
            return;
        };
        if is_cut {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("agui.cut")));
        }
        if let Some((turn, teller)) = self.announced_turn() {
            let asked = match news {
                Some(news) => turn.request(permission, news, teller, cx),
                None => turn.clarify(permission, next, teller, cx),
            };
            if !asked {
                cx.out
                    .push(DialectOutput::Announce(Phrase::new("agui.unasked")));
            }
        }
    }

    /// Handles an answer of the person.
    pub(super) fn answer(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        let kept = |fault| DialectOutput::Settled {
            request,
            outcome: Err(DeliveryFailure::Kept(fault)),
        };
        let unfit = || Fault::Rejected {
            reason: Phrase::new("agui.no_answer"),
            retry_after: None,
            again: false,
        };
        let turn = self
            .turn
            .as_mut()
            .filter(|_| !self.listens && !self.is_over);
        let asking = turn.and_then(|turn| turn.asked_under(reply.token.reveal()));
        let (Some(permission), Some(asked)) = (asking, self.interruption.as_mut()) else {
            return cx.out.push(kept(Fault::OneWay));
        };
        let name = permission.id.name().unwrap_or_default();
        let (choice, reason) = match &reply.answer {
            Answer::Decision {
                decision,
                rationale,
            } => {
                let choices = permission.offered.iter();
                let mut choices = choices.filter(|it| it.decision == decision.as_str());
                (choices.next().cloned(), rationale.clone())
            }
            Answer::Response(_) => (None, None),
        };
        let (then, allows) = asked.answer(&name, choice.as_ref(), &reply.answer);
        if matches!(then, InterruptContinuation::Unfit) {
            return cx.out.push(kept(unfit()));
        }
        permission.sending = Some(SentAnswer {
            request,
            allows,
            reason: None,
        });
        let placeless = !allows && !asked.takes_reason(&name);
        let reason = reason.filter(|it| placeless && !it.trim().is_empty());
        let here = DialectOutput::Settled {
            request,
            outcome: Ok(Receipt::Here),
        };
        match then {
            InterruptContinuation::Unfit => {}
            InterruptContinuation::Sends => {
                self.going = Some(RunPost::Answers(Some((request, name))));
                self.go(cx);
            }
            InterruptContinuation::Kept => {
                cx.out.push(here);
                cx.out
                    .push(DialectOutput::Announce(Phrase::new("agui.kept")));
                self.is_answered(request, cx);
            }
            InterruptContinuation::Further => {
                cx.out.push(here);
                self.ask(&name, true, cx);
                self.is_answered(request, cx);
            }
            InterruptContinuation::Again(why) => {
                cx.out.push(here);
                let why = PhraseArg::Phrase(why);
                cx.out.push(DialectOutput::Announce(
                    Phrase::new("acp.form.wrong").with("why", why),
                ));
                self.ask(&name, true, cx);
                self.is_answered(request, cx);
            }
        }
        if let Some(reason) = reason {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("acp.reason_follows")));
            self.hold(reason, cx.out);
        }
    }

    fn is_answered(&mut self, request: u64, cx: &mut Cx<'_>) {
        if let Some((turn, teller)) = self.announced_turn() {
            turn.answered(request, teller, cx);
        }
    }

    /// Handles the endpoint's acceptance of the answers: the run goes on.
    pub(super) fn answers_went(&mut self, request: Option<u64>, cx: &mut Cx<'_>) {
        let asked = self.interruption.take();
        self.expires = None;
        if let Some(request) = request {
            cx.out.push(DialectOutput::Settled {
                request,
                outcome: Ok(Receipt::Taken),
            });
            self.is_answered(request, cx);
        }
        let calls: Vec<String> = asked
            .iter()
            .flat_map(|it| it.calls().map(str::to_owned))
            .collect();
        for id in calls {
            let Some((turn, teller)) = self.announced_turn() else {
                return;
            };
            let known = turn.calls.get(&call::key(&id));
            // A call that was allowed runs now.
            if known.is_some_and(|it| it.stage == call::HeardStage::Allowed) {
                let news = CallNews {
                    id,
                    status: Some(CallStatus::InProgress),
                    ..CallNews::default()
                };
                turn.update(Update::Calls(Box::new(news)), teller, cx);
            }
        }
    }

    /// Handles answers that did not arrive, or may not have.
    pub(super) fn answers_stayed(
        &mut self,
        answer: Option<(u64, String)>,
        why: DeliveryFailure,
        cx: &mut Cx<'_>,
    ) {
        let may_have_gone = matches!(why, DeliveryFailure::Unknown(_));
        let fault = why.fault().clone();
        let was_persons = answer.is_some();
        if let Some((request, name)) = answer {
            cx.out.push(DialectOutput::Settled {
                request,
                outcome: Err(why),
            });
            if !may_have_gone {
                if let Some(asked) = &mut self.interruption {
                    asked.unanswered(&name);
                }
                if let Some((turn, teller)) = self.announced_turn() {
                    turn.unanswered(request, teller, cx);
                }
                return;
            }
        }
        if !was_persons {
            let reason = PhraseArg::Fault(fault);
            cx.out.push(DialectOutput::Announce(
                Phrase::new("agui.uncancelled").with("reason", reason),
            ));
        }
        // A run that may have begun is not posted again.
        self.history.breaks_off();
        self.end(TurnEnd::Lost("agui.end.lost"), cx);
    }

    /// Ends the turn when its open questions have expired.
    pub(super) fn lapse(&mut self, cx: &mut Cx<'_>) {
        let is_due = self.expires.is_some_and(|at| at <= cx.now.monotonic);
        let on_its_way = matches!(self.sent, Some(RunPost::Answers(_)));
        if !is_due || on_its_way {
            return;
        }
        self.expires = None;
        if let Some(RunPost::Answers(Some((request, _)))) =
            self.going.take_if(|it| matches!(it, RunPost::Answers(_)))
        {
            cx.out.push(DialectOutput::Settled {
                request,
                outcome: Err(DeliveryFailure::Kept(Fault::Rejected {
                    reason: Phrase::new("agui.lapsed"),
                    retry_after: None,
                    again: false,
                })),
            });
        }
        self.close(QuestionEnd::TakenBack, cx);
        self.history.breaks_off();
        self.end(TurnEnd::Lost("agui.end.lapsed"), cx);
    }

    /// Withdraws all open questions.
    pub(super) fn close(&mut self, how: QuestionEnd, cx: &mut Cx<'_>) {
        if let Some((turn, teller)) = self.announced_turn() {
            turn.close(how, teller, cx);
        }
    }
}
