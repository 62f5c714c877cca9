//! What calls the person back: bell, notification and title for an unanswered question, a notification for an agent
//! that is done.
//!
//! Responsibilities: when each is sent, again and more urgently the longer a question waits, and when it is withdrawn.
//! Not here: the sequences of a terminal (`runtime`).
//!
//! # Mental model
//! The bell rings whether or not the person looks at the terminal: without a voice it may be all that they
//! notice. A notification is for a person who looks elsewhere. It never carries an agent's words, not even its
//! name: it appears where nothing tells our words from an agent's, possibly on a locked screen.

use crate::announce::Arg;
use crate::protocol::RiskLevel;
use crate::session::{AnswerReach, LinkId, Question, QuestionBody, QuestionId, SessionEndEvent};

use super::Questions;
use super::shown_question::ALARMS;
use crate::app::{AppCx, Effect, Notice, Noticed};

impl Questions {
    /// Rings for a newly raised question.
    pub(in crate::app) fn ring(&mut self, id: QuestionId, cx: &mut AppCx) {
        let Some(question) = cx.sessions.shared(id) else {
            return;
        };
        if question.is_answerable() {
            self.call(&question, cx);
        } else if question.reach == AnswerReach::LinkLost && cx.config.screen.bell {
            // Its connection is gone again: it can't be answered now, and its time is running.
            cx.effects.push(Effect::Bell);
        }
    }

    /// Rings again for an unanswered question.
    pub(in crate::app) fn alarm(&mut self, cx: &mut AppCx) {
        let Some(shown) = self.shown.as_mut() else {
            return;
        };
        shown.ring_again();
        let id = shown.question;
        self.ring(id, cx);
    }

    fn call(&mut self, question: &Question, cx: &mut AppCx) {
        if cx.config.screen.bell {
            cx.effects.push(Effect::Bell);
        }
        if self.calls.is_focused() {
            return;
        }
        let phrases = cx.phrases();
        let waited = cx.now.monotonic.saturating_sub(question.raised);
        let again = waited >= ALARMS[0];
        let mut args = vec![("n", Arg::own(question.id.0))];
        let high = match &question.body {
            QuestionBody::Confirmation(_) => {
                if question.risk() == Some(&RiskLevel::High) {
                    args.push(("risk", Arg::Own(phrases.text("question.risk.high", &[]))));
                }
                question.risk() == Some(&RiskLevel::High) || question.is_irreversible()
            }
            QuestionBody::Clarification(_) => false,
        };
        if again {
            args.push(("time", Arg::Own(cx.announcer.time(waited))));
        }
        let key = if again {
            "notice.again"
        } else {
            "notice.question"
        };
        let text = phrases.text(key, &args);
        let about = Noticed::Question(question.id);
        self.calls.notify(about);
        cx.effects.push(Effect::Notify(Notice {
            about,
            text,
            urgent: again || high,
        }));
    }

    /// Withdraws the notifications for questions that no longer need an answer.
    pub(in crate::app) fn withdraw_notices(&mut self, cx: &mut AppCx) {
        let (sessions, rules) = (&cx.sessions, &self.rules);
        let seen = !self.calls.is_elsewhere();
        let over = self.calls.withdraw(|about| match about {
            Noticed::Question(id) => {
                let question = sessions.question(id);
                !question.is_some_and(Question::is_answerable) || rules.leave(id)
            }
            Noticed::Turn(_) => seen,
        });
        for about in over {
            cx.effects.push(Effect::Withdraw(about));
        }
    }

    /// Notifies a person who is certainly looking elsewhere that an agent that they prompted has finished its work.
    pub(in crate::app) fn turn_ended(
        &mut self,
        link: LinkId,
        ended: &SessionEndEvent,
        cx: &mut AppCx,
    ) {
        if !self.calls.is_elsewhere() {
            return;
        }
        let key = match ended {
            SessionEndEvent::Completed(_) => "notice.turn.done",
            SessionEndEvent::Errored(_) => "notice.turn.failed",
            SessionEndEvent::Cancelled(_) => "notice.turn.stopped",
        };
        let about = Noticed::Turn(link);
        self.calls.notify(about);
        cx.effects.push(Effect::Notify(Notice {
            about,
            text: cx.phrases().text(key, &[]),
            urgent: matches!(ended, SessionEndEvent::Errored(_)),
        }));
    }

    /// Updates the terminal's title if the number of open questions has changed.
    pub(in crate::app) fn refresh_title(&mut self, cx: &mut AppCx) {
        if !cx.config.screen.title {
            return;
        }
        let open = self.waiting(cx);
        if self.calls.title(open) {
            let args = [("n", Arg::own(open))];
            let title = (open > 0).then(|| cx.phrases().text("title.questions", &args));
            cx.effects.push(Effect::Title(title));
        }
    }
}
