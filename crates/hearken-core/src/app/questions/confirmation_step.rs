//! The second step of an answer: asking for it and handling it.

use crate::announce::{AnswerMethod, Arg, Class, Presentation, Segment};
use crate::protocol::{Answer, Decision};
use crate::session::{AnswerReach, Question};

use super::Questions;
use super::answer_commands::contrary;
use super::gate::Meant;
use crate::app::activity::second_step::{EndedStep, SecondStep};
use crate::app::{Activity, AnswerOrigin, AppCx, AppFacts};

impl Questions {
    /// Asks for the second step.
    pub(super) fn ask_to_confirm(&self, question: &Question, answer: Answer, cx: &mut AppCx) {
        // If it is obvious what is being answered, the question has just named its action.
        let is_plain = self.is_plain(question, cx) && cx.face.manner() != AnswerMethod::Program;
        let words = cx.announcer.answer_words(question, &answer);
        let mut args = vec![
            ("n", Arg::own(question.id.0)),
            ("subject", cx.announcer.subject(question)),
            ("answer", Arg::Own(words)),
        ];
        let accepts = matches!(
            answer,
            Answer::Decision {
                decision: Decision::Accept,
                ..
            }
        );
        let key = if let Some(earlier) = contrary(question, &answer) {
            let earlier = cx.announcer.answer_words(question, earlier);
            args.push(("earlier", Arg::Own(earlier)));
            cx.face.pick(
                "reply.second_step.contrary.keys",
                "reply.second_step.contrary.lines",
            )
        } else if accepts && is_plain {
            cx.face.pick(
                "reply.second_step.keys.short",
                "reply.second_step.lines.short",
            )
        } else if accepts {
            cx.face
                .pick("reply.second_step.keys", "reply.second_step.lines")
        } else {
            cx.face.pick(
                "reply.second_step.other.keys",
                "reply.second_step.other.lines",
            )
        };
        let rejects = matches!(
            answer,
            Answer::Decision {
                decision: Decision::Reject,
                ..
            }
        );
        cx.doing = Activity::Confirming(SecondStep::new(
            question.id,
            answer,
            cx.now,
            !is_plain || !accepts,
        ));
        if question.reach == AnswerReach::Resumed {
            let args = [("n", Arg::own(question.id.0))];
            cx.tell_about(Class::Response, question, "reply.perhaps", &args);
        }
        let mut words = cx.words(key, &args);
        // A program was told its line along with the question, so it need not be spoken here.
        if accepts
            && cx.face.manner() == AnswerMethod::Program
            && let Some(how) = words.first_mut()
        {
            let spoken = cx.phrases().text("reply.second_step.program", &[]);
            *how = Segment::new(how.mark, how.text(), &spoken);
        }
        let unseen = self.unseen_lines(question, cx);
        if unseen > 0 && !rejects {
            let args = [("n", Arg::own(unseen))];
            words.extend(cx.words("reply.second_step.unseen", &args));
        }
        cx.tell_of(
            Class::Response,
            question,
            key,
            (words, Presentation::Spoken),
        );
    }

    /// Handles the second step.
    pub(in crate::app) fn confirm(
        &mut self,
        number: Option<u64>,
        by: AnswerOrigin,
        cx: &mut AppCx,
    ) -> AppFacts {
        let Some(step) = cx.doing.second_step() else {
            if self.tell_ended(number, cx) {
                return Vec::new();
            }
            // Without a first step there is nothing to confirm; the person hears what the question needs.
            if let Some(question) = self.ready(number, Meant::Confirm, by, cx) {
                let keys = cx.announcer.keys(&question);
                cx.respond("fault.other", &[("reason", Arg::Own(keys))]);
            }
            return Vec::new();
        };
        let (waiting, answer) = (step.question().0, step.answer().clone());
        let named = step.names();
        let early = matches!(by, AnswerOrigin::Key(press) if step.is_too_soon(press.read));
        if early || number.is_some_and(|number| number != waiting) {
            cx.stay_open();
            return Vec::new();
        }
        let question = self.still_there(waiting, Meant::Confirm, cx);
        cx.doing = Activity::Watching;
        let Some(question) = question else {
            return Vec::new();
        };
        self.send(&question, answer, named, cx)
    }

    /// Announces that the second step that is confirmed is over, and how to begin again; returns `false` if none was
    /// open a moment ago.
    fn tell_ended(&self, number: Option<u64>, cx: &mut AppCx) -> bool {
        let ended = cx.ended_step().map(EndedStep::question);
        let meant = ended.filter(|id| number.is_none_or(|number| number == id.0));
        let question = meant.and_then(|id| cx.sessions.shared(id));
        let Some(question) = question.filter(|question| question.is_answerable()) else {
            return false;
        };
        let n = ("n", Arg::own(question.id.0));
        let keys = ("keys", Arg::Own(cx.announcer.keys(&question)));
        cx.tell_about(Class::Response, &question, "reply.step_ended", &[n, keys]);
        true
    }
}
