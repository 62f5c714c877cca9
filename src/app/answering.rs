//! What the person decides, how it goes out, and what becomes of it.

use std::time::Duration;

use crate::announce::{Arg, Class};
use crate::keys::{Edit, Mode};
use crate::protocol::{Answer, AwaitingClarification, Decision, Now, Response, ResponseKind};
use crate::session::{Prompt, PromptId, Question, ReplyState, Standing};

use super::App;
use super::asking::NotYet;

/// The second step counts only this long after the first: a burst of keys is no decision.
const STEP_APART: Duration = Duration::from_millis(150);

/// Says where an answer came from, which decides how it is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A key; the last key before it was pressed then.
    Key {
        /// When.
        before: Option<Duration>,
    },
    /// A line, read then.
    Line {
        /// When.
        read: Duration,
    },
}

impl App {
    /// Accepts, or says yes.
    pub(super) fn accept(&mut self, number: Option<u64>, by: By, now: Now) {
        let Some(prompt) = self.ready(number, by, now) else {
            return;
        };
        if matches!(by, By::Key { .. }) && self.is_partly_unseen(&prompt) {
            self.respond_not_yet("reply.not_yet.seen", prompt.id, now);
            return;
        }
        match &prompt.question {
            Question::Confirmation(asked) if !asked.takes(&Decision::Accept) => {
                self.wants(&prompt, now);
            }
            Question::Confirmation(_) if prompt.wants_second_step() => {
                self.ask_to_confirm(&prompt, Decision::Accept, now);
            }
            Question::Confirmation(_) => self.decide(&prompt, Decision::Accept, None, now),
            Question::Clarification(asked) => self.yes_or_no(&prompt, asked, true, now),
        }
    }

    /// Asks for the second step.
    fn ask_to_confirm(&mut self, prompt: &Prompt, decision: Decision, now: Now) {
        self.mode = Mode::Confirming(prompt.id.0);
        let mut args = vec![
            ("n", Arg::own(prompt.id.0)),
            ("subject", self.announcer.subject(prompt)),
        ];
        let key = if decision == Decision::Accept {
            self.by_manner("reply.second_step.keys", "reply.second_step.lines")
        } else {
            let words = self.announcer.decision_words(&decision);
            args.push(("answer", Arg::Own(words)));
            self.by_manner(
                "reply.second_step.other.keys",
                "reply.second_step.other.lines",
            )
        };
        self.confirming = Some((now.monotonic, decision));
        self.tell_about(Class::Response, prompt, key, &args, now);
    }

    /// Takes the second step.
    pub(super) fn confirm(&mut self, number: Option<u64>, by: By, now: Now) {
        let Mode::Confirming(waiting) = self.mode else {
            // Without a first step there is nothing to confirm; the question says what it wants.
            if let Some(prompt) = self.ready(number, by, now) {
                let keys = self.announcer.keys(&prompt);
                self.respond("fault.other", &[("reason", Arg::Own(keys))], now);
            }
            return;
        };
        if number.is_some_and(|number| number != waiting) {
            self.stay_open(now);
            return;
        }
        let Some((since, decision)) = self.confirming.clone() else {
            self.stay_open(now);
            return;
        };
        let too_soon = now.monotonic < since + STEP_APART;
        if too_soon && matches!(by, By::Key { .. }) {
            self.stay_open(now);
            return;
        }
        let Some(prompt) = self.ready(
            Some(waiting),
            By::Line {
                read: now.monotonic,
            },
            now,
        ) else {
            self.mode = Mode::Watching;
            return;
        };
        self.mode = Mode::Watching;
        self.decide(&prompt, decision, None, now);
    }

    /// Rejects, or says no.
    pub(super) fn reject(
        &mut self,
        number: Option<u64>,
        rationale: Option<String>,
        by: By,
        now: Now,
    ) {
        self.mode = Mode::Watching;
        let (number, rationale) = self.addressed(number, rationale, by);
        let Some(prompt) = self.ready(number, by, now) else {
            return;
        };
        match &prompt.question {
            Question::Confirmation(_) => self.decide(&prompt, Decision::Reject, rationale, now),
            Question::Clarification(asked) => self.yes_or_no(&prompt, asked, false, now),
        }
    }

    /// Opens the editor for the reason of a rejection; what is sent is a rejection and nothing else.
    pub(super) fn explain_rejection(&mut self, number: Option<u64>, by: By, now: Now) {
        let Some(prompt) = self.ready(number, by, now) else {
            return;
        };
        match &prompt.question {
            Question::Confirmation(asked) if asked.takes(&Decision::Reject) => {
                self.mode = Mode::Editing(prompt.id.0);
                self.editor.reset();
                self.tell_about(Class::Response, &prompt, "reply.reason", &[], now);
            }
            Question::Confirmation(_) | Question::Clarification(_) => self.wants(&prompt, now),
        }
    }

    /// Answers a clarification in words or with a number; without a text, opens the editor.
    pub(super) fn answer(&mut self, number: Option<u64>, text: Option<String>, by: By, now: Now) {
        let (number, text) = self.addressed(number, text, by);
        let Some(prompt) = self.ready(number, by, now) else {
            return;
        };
        let Question::Clarification(asked) = &prompt.question else {
            self.wants(&prompt, now);
            return;
        };
        match text {
            Some(text) => self.answer_with(&prompt, asked, &text, now),
            None => {
                self.mode = Mode::Editing(prompt.id.0);
                self.editor.reset();
                self.tell_about(Class::Response, &prompt, "reply.editing", &[], now);
            }
        }
    }

    /// Takes a choice by its number; without one, waits for digits.
    pub(super) fn choose(&mut self, number: Option<u64>, choice: Option<usize>, by: By, now: Now) {
        let Some(prompt) = self.ready(number, by, now) else {
            return;
        };
        if prompt.question.choices() == 0 {
            self.wants(&prompt, now);
            return;
        }
        let Some(choice) = choice else {
            self.open_choices(&prompt, now);
            return;
        };
        self.mode = Mode::Watching;
        let Some(at) = choice.checked_sub(1) else {
            self.wants(&prompt, now);
            return;
        };
        match &prompt.question {
            Question::Clarification(asked) => match asked.choices.get(at) {
                Some(choice) => {
                    let answer = Answer::Response(Response::Text(choice.value.clone()));
                    self.send(&prompt, answer, now);
                }
                None => self.wants(&prompt, now),
            },
            // Nobody knows what another decision does: it always takes the second step.
            Question::Confirmation(asked) => match asked.others().nth(at).cloned() {
                Some(_) if self.is_partly_unseen(&prompt) => {
                    self.respond_not_yet("reply.not_yet.seen", prompt.id, now);
                }
                Some(decision) => self.ask_to_confirm(&prompt, decision, now),
                None => self.wants(&prompt, now),
            },
        }
    }

    /// Takes a digit of a choice: it is taken at once when no longer number could be meant.
    pub(super) fn digit(&mut self, digit: usize, by: By, now: Now) {
        let Mode::Choosing(id, so_far) = self.mode else {
            return;
        };
        let choice = so_far * 10 + digit;
        let count = self
            .sessions
            .prompt(PromptId(id))
            .map_or(0, |prompt| prompt.question.choices());
        if choice * 10 > count {
            // The keys for a choice were armed when it was begun.
            let _ = by;
            self.choose(
                Some(id),
                Some(choice),
                By::Line {
                    read: now.monotonic,
                },
                now,
            );
        } else {
            self.mode = Mode::Choosing(id, choice);
        }
    }

    /// Changes or sends what is being typed.
    pub(super) fn edit(&mut self, edit: Edit, now: Now) {
        match (edit, self.mode) {
            (Edit::Submit, Mode::Choosing(id, typed)) => self.take_choice(id, typed, now),
            (Edit::Submit, _) => self.submit(now),
            (edit, _) => self.change_line(edit, now),
        }
    }

    fn submit(&mut self, now: Now) {
        if self.mode == Mode::Searching {
            self.submit_search(now);
            return;
        }
        let Mode::Editing(id) = self.mode else { return };
        let text = self.editor.value().trim().to_owned();
        if text.is_empty() {
            self.respond("reply.empty", &[], now);
            return;
        }
        // Whoever typed an answer and pressed Enter means it; only the question must still be there.
        let Some(prompt) = self.ready(
            Some(id),
            By::Line {
                read: now.monotonic,
            },
            now,
        ) else {
            self.mode = Mode::Watching;
            return;
        };
        match &prompt.question {
            Question::Clarification(asked) => self.answer_with(&prompt, asked, &text, now),
            Question::Confirmation(_) => self.decide(&prompt, Decision::Reject, Some(text), now),
        }
        if self
            .sessions
            .prompt(prompt.id)
            .is_some_and(|prompt| !prompt.is_answerable())
        {
            self.mode = Mode::Watching;
            self.editor.reset();
        }
    }

    /// With several questions open, a text may begin with the number of the one that it is for; with
    /// one, all of it is the text, unless the number carries a sign: `#2` is an address always.
    fn addressed(
        &self,
        number: Option<u64>,
        text: Option<String>,
        by: By,
    ) -> (Option<u64>, Option<String>) {
        let several = self.meant() > 1;
        if let (None, Some(whole), By::Line { .. }) = (number, &text, by)
            && let Some((first, rest)) = whole.split_once(char::is_whitespace)
            && (several || first.starts_with('#'))
            && let Ok(id) = first.strip_prefix('#').unwrap_or(first).parse::<u64>()
            && self
                .sessions
                .raised(PromptId(id))
                .is_some_and(Prompt::is_answerable)
        {
            return (Some(id), Some(rest.trim().to_owned()));
        }
        (number, text)
    }

    /// Finds the question that an answer is meant for, if it may be answered now; says why not.
    pub(super) fn ready(&mut self, number: Option<u64>, by: By, now: Now) -> Option<Prompt> {
        let answerable = self.meant();
        let shown = self.shown.as_ref().map(|shown| shown.prompt);
        let wanted = number.map(PromptId).or(shown);
        let Some(id) = wanted else {
            let open = self.questions().first().map(|prompt| prompt.id);
            match open.and_then(|id| self.sessions.prompt(id)).cloned() {
                Some(prompt) => self.explain(&prompt, now),
                None => self.respond("reply.no_question", &[], now),
            }
            return None;
        };
        let Some(prompt) = self
            .sessions
            .raised(id)
            .filter(|prompt| prompt.is_open())
            .cloned()
        else {
            self.respond("reply.no_such", &[("n", Arg::own(id.0))], now);
            return None;
        };
        if !prompt.is_answerable() {
            self.explain(&prompt, now);
            return None;
        }
        if let By::Line { read } = by
            && number.is_none()
        {
            let changed = self
                .questions_changed
                .is_some_and(|at| read < at + super::asking::CHANGED);
            if answerable > 1 {
                self.respond(
                    "reply.which",
                    &[
                        ("count", Arg::own(answerable)),
                        ("example", Arg::Own(example(&prompt))),
                    ],
                    now,
                );
                return None;
            }
            if changed {
                let args = [
                    ("n", Arg::own(prompt.id.0)),
                    ("example", Arg::Own(example(&prompt))),
                ];
                self.respond("reply.changed", &args, now);
                return None;
            }
        }
        if self.is_unwritten(&prompt) {
            self.respond_not_yet("reply.not_yet.held", prompt.id, now);
            return None;
        }
        if let By::Line { read } = by
            && read <= self.written_at(&prompt)
        {
            self.respond_not_yet("reply.not_yet.early", prompt.id, now);
            return None;
        }
        let not_yet = match by {
            By::Key { before } => self.key_not_yet(&prompt, before, now),
            By::Line { .. } => self.unsaid(&prompt, now),
        };
        match not_yet {
            None => Some(prompt),
            Some(NotYet::Keys) => {
                self.respond_not_yet("reply.not_yet.keys", prompt.id, now);
                None
            }
            Some(NotYet::Unsaid) => {
                self.respond_not_yet("reply.not_yet.said", prompt.id, now);
                None
            }
        }
    }

    /// Gives when a line may at the earliest have been meant for a question.
    fn written_at(&self, prompt: &Prompt) -> Duration {
        let shown = self.shown_since(prompt);
        let written = self.released_at(prompt).map_or(shown, |at| at.max(shown));
        match self.lines {
            // What was typed before that was flushed.
            Some(super::LineSource::Terminal | super::LineSource::Editor) => {
                written + Duration::from_millis(self.config.questions.arm_ms)
            }
            Some(super::LineSource::Pipe) | None => written,
        }
    }

    fn respond_not_yet(&mut self, why: &str, id: PromptId, now: Now) {
        let why = self.announcer.phrases().text(why, &[("n", Arg::own(id.0))]);
        self.respond("reply.not_yet", &[("why", Arg::Own(why))], now);
    }

    /// Says why an open question takes no answer.
    fn explain(&mut self, prompt: &Prompt, now: Now) {
        let n = ("n", Arg::own(prompt.id.0));
        match (&prompt.reply, prompt.standing) {
            (
                ReplyState::Sending { answer, .. }
                | ReplyState::Retrying { answer, .. }
                | ReplyState::Sent { answer, .. },
                _,
            ) => {
                let answer = self.announcer.answer_words(prompt, answer);
                self.tell_about(
                    Class::Response,
                    prompt,
                    "reply.under_way",
                    &[n, ("answer", Arg::Own(answer))],
                    now,
                );
            }
            (_, Standing::LinkLost) => {
                self.tell_about(Class::Response, prompt, "reply.lost", &[n], now)
            }
            (_, Standing::NotAnswerable | Standing::Live) => {
                let keys = self.announcer.keys(prompt);
                self.tell_about(
                    Class::Response,
                    prompt,
                    "fault.other",
                    &[("reason", Arg::Own(keys))],
                    now,
                );
            }
        }
    }

    /// Says what kind of answer a question takes.
    fn wants(&mut self, prompt: &Prompt, now: Now) {
        let phrases = self.announcer.phrases();
        let what = match &prompt.question {
            Question::Confirmation(asked) => {
                let mut kinds: Vec<String> = [Decision::Accept, Decision::Reject]
                    .iter()
                    .filter(|decision| asked.takes(decision))
                    .map(|decision| self.announcer.decision_words(decision))
                    .collect();
                if asked.others().next().is_some() {
                    let count = ("count", Arg::own(asked.others().count()));
                    kinds.push(phrases.text("reply.wants.choice", &[count]));
                }
                kinds
            }
            Question::Clarification(asked) => asked
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
        self.tell_about(
            Class::Response,
            prompt,
            "reply.wants",
            &[("what", Arg::Own(what))],
            now,
        );
    }

    fn yes_or_no(&mut self, prompt: &Prompt, asked: &AwaitingClarification, yes: bool, now: Now) {
        if asked.accepted_response_kinds.contains(&ResponseKind::YesNo) {
            self.send(prompt, Answer::Response(Response::YesNo(yes)), now);
        } else {
            self.wants(prompt, now);
        }
    }

    /// Reads an answer in words as one of the kinds that the question takes, the strictest first.
    fn answer_with(
        &mut self,
        prompt: &Prompt,
        asked: &AwaitingClarification,
        text: &str,
        now: Now,
    ) {
        let takes = |kind: &ResponseKind| asked.accepted_response_kinds.contains(kind);
        let is = |label: &str| label.eq_ignore_ascii_case(text);
        let choice = asked
            .choices
            .iter()
            .find(|choice| is(&choice.value) || is(&choice.label));
        let yes = self.announcer.phrases().text("answer.yes", &[]);
        let no = self.announcer.phrases().text("answer.no", &[]);
        let number = number_of(text);
        let response = if let (true, Some(choice)) = (takes(&ResponseKind::MultipleChoice), choice)
        {
            Some(Response::Text(choice.value.clone()))
        } else if let (true, Ok(number)) = (takes(&ResponseKind::Numeric), number) {
            Some(Response::Number(number))
        } else if takes(&ResponseKind::YesNo) && (is(&yes) || is(&no)) {
            Some(Response::YesNo(is(&yes)))
        } else if takes(&ResponseKind::Freetext)
            || asked
                .accepted_response_kinds
                .iter()
                .any(|kind| matches!(kind, ResponseKind::Other(_)))
        {
            Some(Response::Text(text.to_owned()))
        } else {
            None
        };
        match response {
            Some(response) => self.send(prompt, Answer::Response(response), now),
            None if takes(&ResponseKind::Numeric) && asked.accepted_response_kinds.len() == 1 => {
                let key = match number {
                    Err(NotANumber::TooLong) => "reply.number.long",
                    Ok(_) | Err(NotANumber::Malformed) => "reply.number",
                };
                let text = crate::announce::speakable::one_line(text);
                self.tell_about(
                    Class::Response,
                    prompt,
                    key,
                    &[("text", Arg::Own(text))],
                    now,
                );
            }
            None => self.wants(prompt, now),
        }
    }

    fn decide(&mut self, prompt: &Prompt, decision: Decision, rationale: Option<String>, now: Now) {
        let Question::Confirmation(asked) = &prompt.question else {
            return;
        };
        if !asked.takes(&decision) {
            let answer = self.announcer.decision_words(&decision);
            let args = [("answer", Arg::Own(answer))];
            self.tell_about(Class::Response, prompt, "reply.not_allowed", &args, now);
            return;
        }
        self.send(
            prompt,
            Answer::Decision {
                decision,
                rationale,
            },
            now,
        );
    }

    /// Picks between the wording for keys and the one for lines.
    pub(super) fn by_manner(&self, keys: &'static str, lines: &'static str) -> &'static str {
        match self.manner {
            crate::announce::Manner::Keys => keys,
            crate::announce::Manner::Lines => lines,
        }
    }

    /// Leaves a second step or a choice without a decision, and says so.
    pub(super) fn stay_open(&mut self, now: Now) {
        if let Mode::Confirming(id) | Mode::Choosing(id, _) = self.mode {
            self.mode = Mode::Watching;
            self.respond("reply.still_open", &[("n", Arg::own(id))], now);
        }
    }
}

/// How many digits survive the way through a JSON number, which is binary (IEEE 754): with more, the
/// agent could get another number than the person typed.
const MOST_DIGITS: usize = 15;

/// Says why a text is no number that can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotANumber {
    /// It is not written as one.
    Malformed,
    /// It has more digits than can be carried.
    TooLong,
}

/// Reads a number as people write it in plain digits: a sign, digits, a point and digits. A comma is
/// refused, because it means thousands to some and a fraction to others.
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

/// Gives a line that answers a question by its number.
fn example(prompt: &Prompt) -> String {
    let n = prompt.id.0;
    match &prompt.question {
        Question::Confirmation(_) => format!("y {n}"),
        Question::Clarification(asked)
            if asked
                .accepted_response_kinds
                .contains(&ResponseKind::MultipleChoice) =>
        {
            format!("o {n} 1")
        }
        Question::Clarification(asked)
            if asked.accepted_response_kinds.contains(&ResponseKind::YesNo) =>
        {
            format!("y {n}")
        }
        // Without the sign, the number could be the answer.
        Question::Clarification(_) => format!("a #{n} TEXT"),
    }
}
