//! Checks which question an answer is meant for, and whether it may be answered now.

use std::sync::Arc;

use crate::announce::{Arg, Class};
use crate::session::{AnswerReach, Question, QuestionId};

use super::Questions;
use super::arming::NotArmedReason;
use crate::app::{AnswerOrigin, AppCx};

/// The kind of answer meant: if a line must name its question, the example shown has the same decision, so that
/// a person who meant no never gets a yes to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Meant {
    /// Yes.
    Accept,
    /// The second step.
    Confirm,
    /// No.
    Reject,
    /// No, with a reason.
    RejectBecause,
    /// Words or a number.
    Text,
    /// A choice by its number; `None` if it is still to be chosen.
    Choice(Option<usize>),
}

impl Meant {
    /// Returns an example line that gives this answer to one question.
    pub(super) fn line(self, prompt: QuestionId) -> String {
        let n = prompt.0;
        match self {
            Self::Accept => format!("y {n}"),
            Self::Confirm => format!("c {n}"),
            Self::Reject => format!("n {n}"),
            // Without the sign, the number could be a part of the text.
            Self::RejectBecause => format!("r #{n} TEXT"),
            Self::Text => format!("a #{n} TEXT"),
            Self::Choice(choice) => format!("o {n} {}", choice.unwrap_or(1)),
        }
    }
}

impl Questions {
    /// Splits off the number of the question that a text is for. With several questions open, a text may begin
    /// with the number; with one, it is all text, unless the number has a sign: `#2` is always an address. A
    /// reason also names the open question. A number that may mean a question other than the open one sends
    /// nothing: then the result is `None`, and the cause is announced.
    pub(in crate::app) fn addressed(
        &self,
        number: Option<u64>,
        text: Option<String>,
        meant: Meant,
        by: AnswerOrigin,
        cx: &mut AppCx,
    ) -> Option<(Option<u64>, Option<String>)> {
        let (None, Some(whole), AnswerOrigin::Line { .. }) = (number, &text, by) else {
            return Some((number, text));
        };
        let Some((first, rest)) = whole.split_once(char::is_whitespace) else {
            return Some((number, text));
        };
        let Ok(id) = first.strip_prefix('#').unwrap_or(first).parse::<u64>() else {
            return Some((number, text));
        };
        let rest = Some(rest.trim().to_owned());
        if first.starts_with('#') {
            return Some((Some(id), rest));
        }
        let several = self.meant(cx) > 1;
        let known = cx.raised(QuestionId(id));
        let shown = self.shown_id();
        match (known, shown) {
            (Some(known), _) if several && known.is_answerable() => Some((Some(id), rest)),
            // Few reasons begin with a number, and one would only puzzle the agent.
            (_, Some(shown)) if !several && shown.0 == id && meant == Meant::RejectBecause => {
                Some((Some(id), rest))
            }
            (_, Some(shown)) if !several && shown.0 == id => Some((None, text)),
            (Some(known), Some(shown)) if !several => {
                let example = Arg::Own(meant.line(shown));
                let args = [("n", Arg::own(shown.0)), ("example", example)];
                respond_over(&known, cx);
                cx.respond("reply.over.other", &args);
                None
            }
            (Some(_), _) => Some((Some(id), rest)),
            // A reason rarely begins with a number, and a rejection of the wrong question can't be undone.
            (None, Some(shown)) if !several && meant == Meant::RejectBecause => {
                let example = Arg::Own(meant.line(shown));
                let args = [("n", Arg::own(id)), ("example", example)];
                cx.respond("reply.number_or_text", &args);
                None
            }
            (None, _) => Some((None, text)),
        }
    }

    /// Returns the question that an answer is meant for, if it may be answered now; otherwise announces why not.
    pub(in crate::app) fn ready(
        &mut self,
        number: Option<u64>,
        meant: Meant,
        by: AnswerOrigin,
        cx: &mut AppCx,
    ) -> Option<Arc<Question>> {
        let answerable = self.meant(cx);
        let shown = self.shown_id();
        let wanted = number.map(QuestionId).or(shown);
        let Some(id) = wanted else {
            let open = self.questions(cx).first().map(|question| question.id);
            match open.and_then(|id| cx.sessions.shared(id)) {
                Some(question) => explain(&question, cx),
                None => self.respond_none(cx),
            }
            return None;
        };
        let Some(question) = cx.raised(id) else {
            cx.respond("reply.no_such", &[("n", Arg::own(id.0))]);
            return None;
        };
        if !question.is_open() {
            respond_over(&question, cx);
            return None;
        }
        if !question.is_answerable() {
            explain(&question, cx);
            return None;
        }
        if let AnswerOrigin::Line { read } = by
            && number.is_none()
        {
            let changed = self.had_changed(read);
            if answerable > 1 {
                cx.respond(
                    "reply.which",
                    &[
                        ("count", Arg::own(answerable)),
                        ("example", Arg::Own(meant.line(question.id))),
                    ],
                );
                return None;
            }
            if changed {
                let args = [
                    ("n", Arg::own(question.id.0)),
                    ("example", Arg::Own(meant.line(question.id))),
                ];
                cx.respond("reply.changed", &args);
                return None;
            }
        }
        self.note_said(cx);
        let (senses, held, at) = (
            self.senses(cx),
            cx.is_unwritten(&question),
            cx.now.monotonic,
        );
        let not_yet = match by {
            AnswerOrigin::Key(press) => {
                self.key_not_yet(&question, press, meant == Meant::Confirm, senses)
            }
            AnswerOrigin::Line { read } => self.line_not_yet(&question, read, held, senses, at),
            AnswerOrigin::Begun => self.begun_not_yet(&question, held, senses, at),
        };
        let Some(why) = not_yet else {
            return Some(question);
        };
        let key = match why {
            NotArmedReason::Keys => "reply.not_yet.keys",
            NotArmedReason::Word => "reply.not_yet.word",
            NotArmedReason::Unsaid => "reply.not_yet.said",
            NotArmedReason::Early => "reply.not_yet.early",
            NotArmedReason::Soon => "reply.not_yet.soon",
            NotArmedReason::Held => "reply.not_yet.held",
            NotArmedReason::Drawing => "reply.not_yet.drawing",
            NotArmedReason::Unshown => "reply.not_yet.unshown",
        };
        self.respond_not_yet(key, question.id, cx);
        None
    }

    /// Returns the question that the person has begun to answer, if it is still open.
    pub(super) fn still_there(
        &mut self,
        number: u64,
        meant: Meant,
        cx: &mut AppCx,
    ) -> Option<Arc<Question>> {
        self.ready(Some(number), meant, AnswerOrigin::Begun, cx)
    }

    pub(super) fn respond_not_yet(&self, why: &str, id: QuestionId, cx: &mut AppCx) {
        let why = cx.announcer.phrases().text(why, &[("n", Arg::own(id.0))]);
        cx.respond("reply.not_yet", &[("why", Arg::Own(why))]);
    }

    /// Announces that no question is open, and what became of the one that was shown until just now.
    fn respond_none(&self, cx: &mut AppCx) {
        let last = self.just_shown(cx.now.monotonic);
        match last.and_then(|id| cx.sessions.shared(id)) {
            Some(question) => respond_over(&question, cx),
            None => cx.respond("reply.no_question", &[]),
        }
    }
}

/// Announces why an open question takes no answer.
fn explain(question: &Question, cx: &mut AppCx) {
    let n = ("n", Arg::own(question.id.0));
    match (question.answer(), question.reach) {
        (Some(answer), _) if question.reply.perhaps().is_none() => {
            let answer = cx.announcer.answer_words(question, answer);
            cx.tell_about(
                Class::Response,
                question,
                "reply.under_way",
                &[n, ("answer", Arg::Own(answer))],
            );
        }
        (_, AnswerReach::LinkLost) => cx.tell_about(Class::Response, question, "reply.lost", &[n]),
        (_, AnswerReach::NotAnswerable | AnswerReach::Live | AnswerReach::Resumed) => {
            let keys = cx.announcer.keys(question);
            cx.tell_about(
                Class::Response,
                question,
                "fault.other",
                &[("reason", Arg::Own(keys))],
            );
        }
    }
}

/// Announces that an answer comes too late for a question, or that no such question is open.
fn respond_over(question: &Question, cx: &mut AppCx) {
    if question.is_open() {
        explain(question, cx);
        return;
    }
    let key = match question.reply.given() {
        Some(_) => "reply.over.answered",
        None => "reply.over",
    };
    let args = [("fate", Arg::Own(cx.announcer.over(question)))];
    cx.tell_about(Class::Response, question, key, &args);
}
