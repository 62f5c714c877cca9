//! Sending an answer, and following it until its fate is known.

use jiff::Timestamp;

use crate::announce::{Arg, Class, QuestionRelation, takes_two_steps};
use crate::link::{DeliveryFailure, Fault, LinkId, Receipt};
use crate::protocol::{Answer, Decision, Now, Reply, Response};
use crate::session::{AnswerReach, Question, QuestionId, QuestionRun, ReplyState};

use super::outgoing_answers::Outgoing;
use super::policy::Decider;
use super::{CHANGED, Questions};
use crate::app::{AppCx, AppFact, AppFacts, Effect, RecordedFact};

impl Questions {
    /// Reads the answer back and sends it. `named` says whether its second step named what it is for.
    pub(in crate::app) fn send(
        &mut self,
        question: &Question,
        answer: Answer,
        named: bool,
        cx: &mut AppCx,
    ) -> AppFacts {
        if question.body.token().is_none() {
            return Vec::new();
        }
        // Both values depend on what was heard before the speech is withdrawn.
        let was_named = named
            && takes_two_steps(question)
            && !cx
                .queue
                .has_unspoken(QuestionRelation::Concerns(question.id));
        let is_plain = self.is_plain(question, cx);
        cx.withdraw(question.id);
        let n = ("n", Arg::own(question.id.0));
        let subject = ("subject", cx.announcer.subject(question));
        let several = ("several", number_among_several(question, cx));
        let confirmed = matches!(
            answer,
            Answer::Decision {
                decision: Decision::Accept,
                ..
            }
        );
        // Whoever takes the second step has heard it there.
        if question.reach == AnswerReach::Resumed && !confirmed {
            let args = std::slice::from_ref(&n);
            cx.tell_about(Class::Response, question, "reply.perhaps", args);
        }
        match &answer {
            Answer::Decision {
                decision: Decision::Accept,
                ..
            } => {
                // The second step has named the action, or the question itself has just done so.
                let short = match was_named || is_plain {
                    true => "reply.accepting.confirmed",
                    false => "reply.accepting.short",
                };
                let keys = ("reply.accepting", short);
                let args = [n, subject, several];
                cx.tell_about_in_short(Class::Response, question, keys, &args);
            }
            Answer::Decision {
                decision: Decision::Reject,
                rationale,
            } => {
                // The person's own words are read back, because they go to the agent; they are not the agent's
                // words.
                let reason = rationale.as_deref().unwrap_or_default();
                let reason = ("reason", Arg::Own(cx.announcer.persons_words(reason)));
                let short = match is_plain {
                    true => "reply.rejecting.plain",
                    false => "reply.rejecting.short",
                };
                let keys = ("reply.rejecting", short);
                let args = [n, subject, reason, several];
                cx.tell_about_in_short(Class::Response, question, keys, &args);
            }
            Answer::Decision {
                decision: Decision::Other(_),
                ..
            }
            | Answer::Response(_) => {
                let words = cx.announcer.answer_words(question, &answer);
                let keys = ("reply.answering", "reply.answering.short");
                let args = [n, ("answer", Arg::Own(words)), several];
                cx.tell_about_in_short(Class::Response, question, keys, &args);
            }
        }
        self.dispatch(question, answer, Decider::Person, cx)
    }

    /// Returns whether it is obvious what an answer is for: no other question is open, this one has been shown
    /// for longer than the time in which a change may be overlooked, and nothing else was announced since.
    pub(super) fn is_plain(&self, question: &Question, cx: &AppCx) -> bool {
        let alone = number_among_several(question, cx).is_empty();
        let shown = self.shown().filter(|shown| shown.question == question.id);
        alone
            && question.reach == AnswerReach::Live
            && cx.announcer.is_in_mind(question.id, cx.now)
            && shown.is_some_and(|shown| shown.since + CHANGED <= cx.now.monotonic)
    }

    /// Sends an answer that was read back.
    pub(super) fn dispatch(
        &mut self,
        question: &Question,
        answer: Answer,
        by: Decider,
        cx: &mut AppCx,
    ) -> AppFacts {
        let Some(token) = question.body.token() else {
            return Vec::new();
        };
        let user = cx.config.questions.user.trim();
        let reply = Reply {
            token: token.clone(),
            answer: answer.clone(),
            timestamp: cx.now.wall,
            decided_by: match by {
                Decider::Rule(rule) => format!("auto:{rule}"),
                Decider::Person if user.is_empty() => "user:local".to_owned(),
                Decider::Person => format!("user:{user}"),
            },
        };
        let request = self.next_request();
        let attempt = cx
            .sessions
            .reply_sending(question.id, answer, cx.now.wall, cx.now);
        let sent = Outgoing::new(question.id, question.key.link, reply, attempt);
        self.note_change(cx.now.monotonic);
        self.go_out(request, sent, cx)
    }

    /// Adds an answer to those under way, and hands it to its link.
    fn go_out(&mut self, request: u64, sent: Outgoing, cx: &mut AppCx) -> AppFacts {
        let (link, reply) = (sent.link(), sent.reply().clone());
        keep_reply(link, request, &reply, cx);
        self.under_way.add(request, sent);
        vec![AppFact::Answered(link, request, reply)]
    }

    /// Handles the outcome of an attempt to send.
    pub(in crate::app) fn replied(
        &mut self,
        request: u64,
        outcome: Result<Receipt, DeliveryFailure>,
        cx: &mut AppCx,
    ) -> AppFacts {
        let Some(sent) = self.under_way.take(request) else {
            return Vec::new();
        };
        let Some(question) = cx.sessions.shared(sent.question()) else {
            return Vec::new();
        };
        match outcome {
            Ok(receipt) => {
                // If the agent's events came first, they have already announced the outcome.
                if question.is_open() && receipt != Receipt::Here {
                    let n = ("n", Arg::own(question.id.0));
                    let several = ("several", number_among_several(&question, cx));
                    let keys = ("reply.sent", "reply.sent.short");
                    cx.tell_about_in_short(Class::Outcome, &question, keys, &[n, several]);
                }
                let changes = match receipt {
                    Receipt::Taken | Receipt::Here => {
                        cx.sessions.reply_sent(sent.question(), cx.now)
                    }
                    Receipt::Written => cx.sessions.reply_written(sent.question(), cx.now),
                };
                vec![AppFact::Changed(changes)]
            }
            Err(undelivered) => {
                self.undelivered(request, sent, &question, &undelivered, cx);
                Vec::new()
            }
        }
    }

    /// Notes that the transport has reported all it knows of a request, while its dialect has yet to report the
    /// outcome.
    pub(in crate::app) fn has_left(&mut self, request: u64) {
        self.under_way.note_left(request);
    }

    /// Returns the requests on a link that only its dialect could report more about.
    pub(in crate::app) fn left_on(&self, link: LinkId) -> Vec<u64> {
        self.under_way.left_on(link)
    }

    /// Handles an attempt without a receipt, and tries again while that can help.
    fn undelivered(
        &mut self,
        request: u64,
        mut sent: Outgoing,
        question: &Question,
        undelivered: &DeliveryFailure,
        cx: &mut AppCx,
    ) {
        let id = question.id;
        let fault = undelivered.fault();
        match undelivered {
            DeliveryFailure::Kept(_) | DeliveryFailure::Refused(_) => {
                cx.sessions.reply_not_delivered(id, cx.now);
            }
            DeliveryFailure::Unknown(_) => cx.sessions.reply_unknown(id, cx.now),
        }
        let lives = question.is_open() && question.reach.reaches() && !is_over(question, cx);
        let again = lives && !fault.is_final();
        if !again {
            cx.sessions.reply_given_up(id, cx.now);
        }
        let Some(after) = cx.sessions.shared(id) else {
            return;
        };
        let refusal = refuses_for_good(undelivered);
        let was_settling = question.reply.run() == QuestionRun::Settling;
        let key = match &after.reply {
            ReplyState::Retrying(given) if is_refusal(&given.answer) => cx
                .face
                .pick("reply.failed.rejected.keys", "reply.failed.rejected.lines"),
            ReplyState::Retrying(_) => cx.face.pick("reply.failed.keys", "reply.failed.lines"),
            ReplyState::RetryingAgain(_) => "reply.unconfirmed",
            ReplyState::Perhaps(_) if refusal => "reply.perhaps.refused",
            ReplyState::Perhaps(_) if sent.is_loss_told() => "reply.perhaps.not_again",
            ReplyState::Perhaps(_) => "reply.perhaps.given_up",
            ReplyState::Unanswered if !after.reach.reaches() => "reply.given_up.lost",
            ReplyState::Unanswered if refusal => "reply.given_up.refused",
            ReplyState::Unanswered => "reply.given_up",
            ReplyState::Withdrawn(_) => "reply.too_late",
            ReplyState::PerhapsResolved(..) if was_settling => "reply.too_late.unknown",
            // Whether the answer may have closed the question was announced when it closed.
            ReplyState::PerhapsResolved(..) => return,
            ReplyState::Sending(_)
            | ReplyState::SendingAgain(_)
            | ReplyState::Written(_)
            | ReplyState::Sent(_)
            | ReplyState::TimedOut
            | ReplyState::Settling(..)
            | ReplyState::Resolved(..) => return,
        };
        let state = after.reply.run();
        if sent.tell(state) {
            let args = answer_args(&after, &sent.reply().answer, fault, cx);
            cx.tell_about(Class::Alert, &after, key, &args);
        }
        if again {
            sent.wait(cx.now.monotonic);
            self.under_way.add(request, sent);
        } else if after.is_open() {
            self.ask_instead_of_rule(id, cx);
        }
    }

    /// Returns the answers that are due to be sent again.
    pub(in crate::app) fn take_due(&mut self, now: Now) -> Vec<Outgoing> {
        self.under_way.take_due(now.monotonic)
    }

    /// Sends again what could not be sent, with the timestamp of the decision.
    pub(in crate::app) fn try_again(&mut self, mut sent: Outgoing, cx: &mut AppCx) -> AppFacts {
        let Some(question) = cx.sessions.shared(sent.question()) else {
            return Vec::new();
        };
        if !question.is_open() || !question.reach.reaches() {
            not_again(&sent, &question, cx);
            return Vec::new();
        }
        let decided: Timestamp = sent.reply().timestamp;
        let answer = sent.reply().answer.clone();
        let attempt = (cx.sessions).reply_sending(question.id, answer, decided, cx.now);
        sent.try_again(attempt);
        let request = self.next_request();
        self.go_out(request, sent, cx)
    }

    fn next_request(&mut self) -> u64 {
        self.last_request += 1;
        self.last_request
    }

    /// Announces, at the end of a run, the answers that are not known to have arrived.
    pub(in crate::app) fn tell_undelivered(&self, cx: &mut AppCx) {
        let left: Vec<(QuestionId, Answer)> = self
            .under_way
            .iter()
            .map(|sent| (sent.question(), sent.reply().answer.clone()))
            .collect();
        for (id, answer) in left {
            let Some(question) = cx.sessions.question(id) else {
                continue;
            };
            let key = match question.reply {
                ReplyState::Retrying(_) => "quit.not_delivered",
                ReplyState::Unanswered
                | ReplyState::Sending(_)
                | ReplyState::SendingAgain(_)
                | ReplyState::RetryingAgain(_)
                | ReplyState::Perhaps(_)
                | ReplyState::Written(_)
                | ReplyState::Sent(_)
                | ReplyState::TimedOut
                | ReplyState::Settling(..)
                | ReplyState::Resolved(..)
                | ReplyState::PerhapsResolved(..)
                | ReplyState::Withdrawn(_) => "quit.unconfirmed",
            };
            let answer = cx.announcer.answer_words(question, &answer);
            let args = [("n", Arg::own(id.0)), ("answer", Arg::Own(answer))];
            let words = cx.phrases().text(key, &args);
            cx.leave_word(words.clone());
            cx.respond("fault.other", &[("reason", Arg::Own(words))]);
        }
    }

    /// Withdraws an answer that waits for its next attempt, if the person now says the opposite: `n` withdraws
    /// anything but a rejection, `y` a rejection. This sends nothing; the question is asked again.
    ///
    /// Without a number, the only waiting answer is meant; nothing is withdrawn while a question is shown, because the
    /// key could be for that.
    pub(super) fn take_back(&mut self, number: Option<u64>, rejects: bool, cx: &mut AppCx) -> bool {
        let wanted = number.map(QuestionId);
        if wanted.is_none() && self.shown().is_some() {
            return false;
        }
        let opposite = |sent: &Outgoing| is_refusal(&sent.reply().answer) != rejects;
        let request = match self.under_way.only_waiting(wanted) {
            Some((request, sent)) if opposite(sent) => request,
            Some(_) | None => return false,
        };
        let Some(sent) = self.under_way.take(request) else {
            return false;
        };
        cx.sessions.reply_given_up(sent.question(), cx.now);
        let Some(question) = cx.sessions.shared(sent.question()) else {
            return false;
        };
        let words = cx.announcer.answer_words(&question, &sent.reply().answer);
        let args = [("n", Arg::own(question.id.0)), ("answer", Arg::Own(words))];
        let key = if question.reply.perhaps().is_some() {
            "reply.taken_back.perhaps"
        } else {
            "reply.taken_back"
        };
        cx.tell_about(Class::Response, &question, key, &args);
        self.refresh_shown(cx);
        self.ask(question.id, Class::Alert, cx);
        true
    }
}

/// Returns whether an answer says no.
fn is_refusal(answer: &Answer) -> bool {
    match answer {
        Answer::Decision { decision, .. } => *decision == Decision::Reject,
        Answer::Response(response) => *response == Response::YesNo(false),
    }
}

/// Returns whether a server reports that it does not know the token, or no longer does, or declines the answer:
/// then the question may be decided already.
fn refuses_for_good(undelivered: &DeliveryFailure) -> bool {
    match undelivered {
        DeliveryFailure::Refused(Fault::Status { status, .. }) => matches!(status, 404 | 409 | 410),
        DeliveryFailure::Refused(Fault::Declined(_)) => true,
        DeliveryFailure::Refused(_) | DeliveryFailure::Kept(_) | DeliveryFailure::Unknown(_) => {
            false
        }
    }
}

/// Returns a question's number if others are also open; otherwise an empty text.
fn number_among_several(question: &Question, cx: &AppCx) -> Arg {
    let open = cx.sessions.open_questions();
    let mut others = open.filter(|other| other.id != question.id);
    Arg::own(match others.next() {
        None => String::new(),
        Some(_) => question.id.0.to_string(),
    })
}

/// Records a reply that is about to be sent.
fn keep_reply(link: LinkId, request: u64, reply: &Reply, cx: &mut AppCx) {
    if !cx.is_recorded {
        return;
    }
    // The link's dialect decides which subscription it is sent on.
    let body = reply.to_json("");
    let kept = RecordedFact::Reply { request, body };
    cx.effects.push(Effect::Keep { link, kept });
}

/// Returns the arguments of the sentences about an answer on its way.
fn answer_args(
    question: &Question,
    answer: &Answer,
    fault: &Fault,
    cx: &AppCx,
) -> [(&'static str, Arg); 3] {
    [
        ("n", Arg::own(question.id.0)),
        (
            "answer",
            Arg::Own(cx.announcer.answer_words(question, answer)),
        ),
        ("reason", Arg::Own(cx.fault_words(fault))),
    ]
}

fn is_over(question: &Question, cx: &AppCx) -> bool {
    cx.sessions
        .expires(question)
        .is_some_and(|at| cx.now.monotonic >= at)
}

/// Announces the fate of an answer that can no longer be tried again.
fn not_again(sent: &Outgoing, question: &Question, cx: &mut AppCx) {
    cx.sessions.reply_given_up(sent.question(), cx.now);
    let Some(after) = cx.sessions.shared(sent.question()) else {
        return;
    };
    let key = match &after.reply {
        ReplyState::Unanswered => "reply.given_up.lost",
        ReplyState::Perhaps(_) if sent.is_loss_told() => "reply.perhaps.not_again",
        ReplyState::Perhaps(_) => "reply.perhaps.given_up",
        ReplyState::Withdrawn(_) => "reply.too_late",
        // Whether the answer may have closed the question was announced when it closed.
        ReplyState::PerhapsResolved(..)
        | ReplyState::Sending(_)
        | ReplyState::Retrying(_)
        | ReplyState::SendingAgain(_)
        | ReplyState::RetryingAgain(_)
        | ReplyState::Written(_)
        | ReplyState::Sent(_)
        | ReplyState::TimedOut
        | ReplyState::Settling(..)
        | ReplyState::Resolved(..) => return,
    };
    let args = answer_args(question, &sent.reply().answer, &Fault::Closed, cx);
    cx.tell_about(Class::Alert, &after, key, &args);
}
