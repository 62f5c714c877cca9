//! How the end of a question is worded, and what is known about the answer to it.
//!
//! Responsibilities: whether the person's answer closed a question, may have closed it, or something else did.
//! Not here: how a question is asked (`question_wording`), what is said about an answer on its way (`app`).

use crate::config::Verbosity;
use crate::protocol::{Answer, Decision};
use crate::session::{CloseReason, GivenAnswer, Question, QuestionBody, ReplyState};

use super::Announcer;
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::Segment;

impl Announcer {
    pub(super) fn closed(&self, question: &Question, how: &CloseReason) -> Vec<Segment> {
        let (key, args) = self.closed_phrase(question, how);
        self.phrases.say(key, Verbosity::Normal, &args)
    }

    /// Words the end of a question, for a person who answers it too late; empty if it is still open.
    pub fn over(&self, question: &Question) -> String {
        let Some(how) = question.reply.close_reason() else {
            return String::new();
        };
        let (closed, args) = self.closed_phrase(question, how);
        let key = match closed {
            "question.closed.elsewhere" | "question.closed.session" if question.ran_out() => {
                "question.over"
            }
            "question.closed.accepted" if question.ran_out() => "question.over.accepted",
            "question.closed.rejected" if question.ran_out() => "question.over.rejected",
            _ => closed,
        };
        self.phrases.text(key, &args)
    }

    fn closed_phrase(
        &self,
        question: &Question,
        how: &CloseReason,
    ) -> (&'static str, [(&'static str, Arg); 6]) {
        let words = |answer: &Answer| self.answer_words(question, answer);
        let given = question.reply.given();
        let earlier = given.and_then(|given| given.earlier.as_ref());
        let args = [
            ("n", Arg::own(question.id.0)),
            ("default", Arg::Own(self.default(question))),
            (
                "answer",
                Arg::Own(given.map(|given| words(&given.answer)).unwrap_or_default()),
            ),
            ("earlier", Arg::Own(earlier.map(words).unwrap_or_default())),
            ("perhaps", Arg::Own(self.perhaps_words(question))),
            ("by", self.person(how)),
        ];
        let key = match how {
            CloseReason::SessionEnded => "question.closed.session",
            CloseReason::AskedAgain => "question.closed.asked_again",
            CloseReason::Changed => "question.closed.changed",
            CloseReason::Unsubscribed if given.is_some() => "question.closed.unsubscribed.answered",
            CloseReason::Unsubscribed => "question.closed.unsubscribed",
            CloseReason::Stopped => "question.closed.stopped",
            CloseReason::TakenBack => "question.closed.taken_back",
            CloseReason::AnsweredBy { decision, .. } => match decision {
                Some(Decision::Accept) => "question.closed.by.accepted",
                Some(Decision::Reject) => "question.closed.by.rejected",
                Some(Decision::Other(_)) | None => "question.closed.by.answered",
            },
            CloseReason::LinkGone => "question.closed.link",
            CloseReason::Unheard => "question.closed.unheard",
            CloseReason::Forgotten => "question.closed.forgotten",
            CloseReason::StateLeft { .. }
            | CloseReason::ToolWentOn { .. }
            | CloseReason::DecidedBefore => match &question.reply {
                ReplyState::Settling(..) | ReplyState::Resolved(..) => "question.closed.answered",
                ReplyState::PerhapsResolved(given, _) if speaks_against(how, given) => {
                    "question.closed.against"
                }
                ReplyState::PerhapsResolved(..) => "question.closed.perhaps",
                ReplyState::Unanswered
                | ReplyState::Sending(_)
                | ReplyState::Retrying(_)
                | ReplyState::SendingAgain(_)
                | ReplyState::RetryingAgain(_)
                | ReplyState::Perhaps(_)
                | ReplyState::Written(_)
                | ReplyState::Sent(_)
                | ReplyState::TimedOut
                | ReplyState::Withdrawn(_) => match (how.implied(), &question.body) {
                    (Some(Decision::Accept), QuestionBody::Confirmation(_)) if question.lapsed => {
                        "question.closed.lapsed"
                    }
                    (Some(Decision::Accept), QuestionBody::Confirmation(_)) => {
                        "question.closed.accepted"
                    }
                    (Some(Decision::Reject), QuestionBody::Confirmation(_)) => {
                        "question.closed.rejected"
                    }
                    (
                        Some(Decision::Accept | Decision::Reject | Decision::Other(_)) | None,
                        QuestionBody::Confirmation(_) | QuestionBody::Clarification(_),
                    ) => "question.closed.elsewhere",
                },
            },
        };
        (key, args)
    }

    /// Names the person who answered a question instead of this one; empty if nobody did.
    fn person(&self, how: &CloseReason) -> Arg {
        match how {
            CloseReason::AnsweredBy {
                person: Some(name), ..
            } => Arg::Name(name.to_string()),
            CloseReason::AnsweredBy { person: None, .. } => {
                Arg::Own(self.phrases.text("person.other", &[]))
            }
            CloseReason::StateLeft { .. }
            | CloseReason::ToolWentOn { .. }
            | CloseReason::SessionEnded
            | CloseReason::AskedAgain
            | CloseReason::Changed
            | CloseReason::DecidedBefore
            | CloseReason::Unsubscribed
            | CloseReason::Stopped
            | CloseReason::TakenBack
            | CloseReason::LinkGone
            | CloseReason::Forgotten
            | CloseReason::Unheard => Arg::own(""),
        }
    }

    /// Words a question whose connection was lost, as a phrase key and its arguments. The agent's default is
    /// mentioned only if no answer went out.
    pub fn unsure(&self, question: &Question) -> (&'static str, Vec<(&'static str, Arg)>) {
        let n = ("n", Arg::own(question.id.0));
        match &question.reply {
            ReplyState::Sending(given) => {
                let answer = Arg::Own(self.answer_words(question, &given.answer));
                ("question.unsure.sending", vec![n, ("answer", answer)])
            }
            ReplyState::Sent(given) => {
                let answer = Arg::Own(self.answer_words(question, &given.answer));
                ("question.unsure.answered", vec![n, ("answer", answer)])
            }
            ReplyState::Unanswered
            | ReplyState::Retrying(_)
            | ReplyState::SendingAgain(_)
            | ReplyState::RetryingAgain(_)
            | ReplyState::Perhaps(_)
            | ReplyState::Written(_)
            | ReplyState::TimedOut
            | ReplyState::Settling(..)
            | ReplyState::Resolved(..)
            | ReplyState::PerhapsResolved(..)
            | ReplyState::Withdrawn(_) => (
                "question.unsure",
                vec![
                    n,
                    ("subject", self.subject(question)),
                    ("default", Arg::Own(self.default(question))),
                    ("perhaps", Arg::Own(self.perhaps_untold(question))),
                ],
            ),
        }
    }

    /// Returns [`Self::perhaps_words`], or nothing if the answer waits for another attempt or is being sent again:
    /// they were said when the earlier attempt failed.
    fn perhaps_untold(&self, question: &Question) -> String {
        let is_again = matches!(
            question.reply,
            ReplyState::SendingAgain(_) | ReplyState::RetryingAgain(_)
        );
        match is_again {
            true => String::new(),
            false => self.perhaps_words(question),
        }
    }

    /// Reports that an unacknowledged answer may have arrived; empty for every other answer.
    pub fn perhaps_words(&self, question: &Question) -> String {
        match &question.reply {
            ReplyState::SendingAgain(given)
            | ReplyState::RetryingAgain(given)
            | ReplyState::Perhaps(given)
            | ReplyState::PerhapsResolved(given, _) => {
                let answer = (
                    "answer",
                    Arg::Own(self.answer_words(question, &given.answer)),
                );
                self.phrases.text("reply.perhaps_arrived", &[answer])
            }
            ReplyState::Unanswered
            | ReplyState::Sending(_)
            | ReplyState::Retrying(_)
            | ReplyState::Written(_)
            | ReplyState::Sent(_)
            | ReplyState::TimedOut
            | ReplyState::Settling(..)
            | ReplyState::Resolved(..)
            | ReplyState::Withdrawn(_) => String::new(),
        }
    }
}

/// Returns whether a question closed in a way that implies a different decision from the one given.
fn speaks_against(how: &CloseReason, given: &GivenAnswer) -> bool {
    match (&given.answer, how.implied()) {
        (Answer::Decision { decision, .. }, Some(implied)) => *decision != implied,
        (Answer::Decision { .. } | Answer::Response(_), _) => false,
    }
}
