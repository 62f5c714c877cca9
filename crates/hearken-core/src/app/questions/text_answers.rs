//! Answers in words: how they are interpreted, and what is announced if they fit no kind.

use crate::announce::{Arg, Class};
use crate::protocol::{Answer, AwaitingClarification, Decision, Response, ResponseKind};
use crate::session::{Question, QuestionBody};

use super::Questions;
use crate::app::{AppCx, AppFacts};

use super::gate::Meant;

/// How many digits survive as a JSON number, which is binary (IEEE 754): with more, the agent could receive a different
/// number from the one that the person typed.
const MOST_DIGITS: usize = 15;

impl Questions {
    /// Announces which kinds of answer a question takes.
    pub(in crate::app) fn wants(&self, question: &Question, cx: &mut AppCx) {
        let phrases = cx.phrases();
        let what = match &question.body {
            QuestionBody::Confirmation(asked) => {
                let mut kinds: Vec<String> = [Decision::Accept, Decision::Reject]
                    .iter()
                    .filter(|decision| asked.accepts(decision))
                    .map(|decision| cx.announcer.decision_words(decision))
                    .collect();
                if asked.further_decisions().next().is_some() {
                    let count = ("count", Arg::own(asked.further_decisions().count()));
                    kinds.push(phrases.text("reply.wants.choice", &[count]));
                }
                kinds
            }
            QuestionBody::Clarification(asked) => asked
                .accepted_response_kinds
                .iter()
                .map(|kind| match kind {
                    ResponseKind::MultipleChoice => phrases.text(
                        "reply.wants.choice",
                        &[("count", Arg::own(asked.choices.len()))],
                    ),
                    ResponseKind::Numeric => phrases.text("reply.wants.number", &[]),
                    ResponseKind::YesNo => phrases.text("reply.wants.yes_no", &[]),
                    ResponseKind::Freetext | ResponseKind::Other(_) => {
                        phrases.text("reply.wants.text", &[])
                    }
                })
                .collect(),
        };
        let or = phrases.text("reply.wants.or", &[]);
        let what = what.join(&format!(", {or} "));
        cx.tell_about(
            Class::Response,
            question,
            "reply.wants",
            &[("what", Arg::Own(what))],
        );
    }

    pub(super) fn yes_or_no(
        &mut self,
        question: &Question,
        asked: &AwaitingClarification,
        yes: bool,
        cx: &mut AppCx,
    ) -> AppFacts {
        if asked.accepted_response_kinds.contains(&ResponseKind::YesNo) {
            self.propose(question, Answer::Response(Response::YesNo(yes)), cx)
        } else {
            self.wants(question, cx);
            Vec::new()
        }
    }

    /// Interprets the words of a rule in a file in the same way. A file means the same on every computer, so
    /// `yes` and `no` are understood whatever the person's language is, in addition to that language's own
    /// words.
    pub(super) fn response_of_rule(
        &self,
        asked: &AwaitingClarification,
        text: &str,
        cx: &AppCx,
    ) -> Option<Response> {
        let fixed = [("yes", true), ("no", false)];
        let fixed = fixed
            .iter()
            .find(|(word, _)| word.eq_ignore_ascii_case(text));
        let yes_or_no = fixed.map(|(_, yes)| *yes);
        let free = || takes_any(asked).then(|| Response::Text(text.to_owned()));
        strictly(asked, text, yes_or_no.or_else(|| yes_or_no_in(text, cx))).or_else(free)
    }

    /// Handles a text that begins with the number of the only open question: the number addresses it, unless the whole
    /// text is an answer. If it could be either, nothing is sent.
    pub(super) fn answer_perhaps_numbered(
        &mut self,
        question: &Question,
        asked: &AwaitingClarification,
        whole: &str,
        rest: &str,
        cx: &mut AppCx,
    ) -> AppFacts {
        if strict_response_of(asked, whole, cx).is_some() {
            self.answer_with(question, asked, whole, cx)
        } else if takes_any(asked) && strict_response_of(asked, rest, cx).is_none() {
            let example = Arg::Own(Meant::Text.line(question.id));
            let args = [("n", Arg::own(question.id.0)), ("example", example)];
            cx.tell_about(Class::Response, question, "reply.number_or_text", &args);
            Vec::new()
        } else {
            self.answer_with(question, asked, rest, cx)
        }
    }

    /// Reads an answer in words as one of the kinds that the question takes, the strictest first.
    pub(super) fn answer_with(
        &mut self,
        question: &Question,
        asked: &AwaitingClarification,
        text: &str,
        cx: &mut AppCx,
    ) -> AppFacts {
        let response = response_of(asked, text, cx);
        let takes = |kind: &ResponseKind| asked.accepted_response_kinds.contains(kind);
        match response {
            Some(response) => return self.propose(question, Answer::Response(response), cx),
            None if takes(&ResponseKind::Numeric) && asked.accepted_response_kinds.len() == 1 => {
                let key = match number_of(text) {
                    Err(NotANumber::TooLong) => "reply.number.long",
                    Ok(_) | Err(NotANumber::Malformed) => "reply.number",
                };
                let text = crate::announce::speakable::one_line(text);
                cx.tell_about(Class::Response, question, key, &[("text", Arg::Own(text))]);
            }
            None => self.wants(question, cx),
        }
        Vec::new()
    }
}

/// Reads words as one of the kinds that not every text matches; `yes_or_no` is their meaning for a yes-or-no question.
fn strictly(
    asked: &AwaitingClarification,
    text: &str,
    yes_or_no: Option<bool>,
) -> Option<Response> {
    let takes = |kind: &ResponseKind| asked.accepted_response_kinds.contains(kind);
    let is = |label: &str| label.eq_ignore_ascii_case(text);
    let choice = asked
        .choices
        .iter()
        .find(|choice| is(&choice.value) || is(&choice.label));
    if let (true, Some(choice)) = (takes(&ResponseKind::MultipleChoice), choice) {
        Some(Response::Text(choice.value.clone()))
    } else if let (true, Ok(number)) = (takes(&ResponseKind::Numeric), number_of(text)) {
        Some(Response::Number(number))
    } else if let (true, Some(yes)) = (takes(&ResponseKind::YesNo), yes_or_no) {
        Some(Response::YesNo(yes))
    } else {
        None
    }
}

/// Returns whether a question takes any text.
fn takes_any(asked: &AwaitingClarification) -> bool {
    let mut kinds = asked.accepted_response_kinds.iter();
    kinds.any(|kind| matches!(kind, ResponseKind::Freetext | ResponseKind::Other(_)))
}

/// Why a text is not a number that can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotANumber {
    /// It is not written as a number.
    Malformed,
    /// It has more digits than can be carried.
    TooLong,
}

/// Parses a number as people write it in plain digits: a sign, digits, a point and digits. A comma is refused, because
/// it marks thousands for some and a fraction for others.
fn number_of(text: &str) -> Result<f64, NotANumber> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(whole) || !plain(fraction) {
        return Err(NotANumber::Malformed);
    }
    let meant = whole.trim_start_matches('0').len() + fraction.trim_end_matches('0').len();
    if meant > MOST_DIGITS {
        return Err(NotANumber::TooLong);
    }
    text.parse().map_err(|_| NotANumber::Malformed)
}

/// Reads words in the person's language as yes or no.
fn yes_or_no_in(text: &str, cx: &AppCx) -> Option<bool> {
    let is = |key| {
        let word = cx.phrases().text(key, &[]);
        word.eq_ignore_ascii_case(text)
    };
    match (is("answer.yes"), is("answer.no")) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// Reads words as one of the kinds that not every text matches.
fn strict_response_of(asked: &AwaitingClarification, text: &str, cx: &AppCx) -> Option<Response> {
    strictly(asked, text, yes_or_no_in(text, cx))
}

/// Reads words as one of the kinds that a question takes, the strictest first.
fn response_of(asked: &AwaitingClarification, text: &str, cx: &AppCx) -> Option<Response> {
    let free = || takes_any(asked).then(|| Response::Text(text.to_owned()));
    strict_response_of(asked, text, cx).or_else(free)
}
