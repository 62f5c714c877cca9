//! How a question, its warnings and its end are worded. Nothing in a question is abbreviated.

use std::time::Duration;

use crate::config::Verbosity;
use crate::protocol::{
    Answer, AwaitingClarification, AwaitingConfirmation, Decision, Now, Response, RiskLevel,
    UndoStatement,
};
use crate::session::{AnswerReach, Question, QuestionBody, Sessions};

use super::answerable::label_of;
use super::time_left::{TimeLeft, headed, stated_time_left};
use super::{Announcer, AnswerMethod};
use crate::announce::announcement::AnnouncementKind;
use crate::announce::text::speakable;
use crate::announce::text::wrap::beginning;
use crate::announce::words::phrase::{Arg, Args};
use crate::announce::words::segment::{Segment, naming};

impl Announcer {
    pub(super) fn kind_of(&self, question: &Question) -> AnnouncementKind {
        match question.body {
            QuestionBody::Confirmation(_) => AnnouncementKind::Confirmation,
            QuestionBody::Clarification(_) => AnnouncementKind::Clarification,
        }
    }

    /// Words a question in full: who asks, for what, the consequence, the risk, what silence does, which keys answer.
    /// P0 includes all of this at every verbosity.
    pub(super) fn ask(
        &self,
        question: &Question,
        sessions: &Sessions,
        now: Now,
        again: bool,
    ) -> Vec<Segment> {
        let left = stated_time_left(question, sessions, now);
        let mut segments = self.asked(question, sessions, again, left, Question::LONGEST_PART);
        if question.is_cut() && !again {
            let cut = Segment::own(self.cut_words(question, sessions, now));
            // How to answer comes last, so that a person who knows need not listen to it.
            let ways = segments.iter().rposition(|segment| segment.ways);
            segments.insert(ways.unwrap_or(segments.len()), cut);
        }
        segments
    }

    /// Words a question for a face that shows it page by page, without the usual keys.
    pub(super) fn asked_in_sight(&self, question: &Question, sessions: &Sessions) -> Vec<Segment> {
        let left = headed(question, sessions);
        let asked = self.asked(question, sessions, false, left, usize::MAX);
        self.without_keys(question, asked)
    }

    /// Words everything known about a question for the same face.
    pub fn details_in_sight(&self, question: &Question, sessions: &Sessions) -> Vec<Segment> {
        let details = self.all_of(question, sessions, headed(question, sessions));
        self.without_keys(question, details)
    }

    /// Leaves out the keys, which such a face shows in rows, but neither the further decisions nor why the
    /// question can't be answered.
    fn without_keys(&self, question: &Question, mut segments: Vec<Segment>) -> Vec<Segment> {
        if !question.is_answerable() {
            return segments;
        }
        let choices = self.choices_in_sight(question);
        for segment in segments.iter_mut().filter(|segment| segment.ways) {
            *segment = Segment::own(choices.clone());
        }
        segments
    }

    /// Announces that a question has more words than these, and how to hear them.
    pub(super) fn cut_words(&self, question: &Question, sessions: &Sessions, now: Now) -> String {
        let how = match self.manner {
            AnswerMethod::Keys => "question.details.keys",
            AnswerMethod::Lines | AnswerMethod::Program => "question.details.lines",
        };
        let count = self.question_parts(question, sessions, now).parts.len();
        let args = [("n", Arg::own(question.id.0)), ("count", Arg::own(count))];
        let details = ("details", Arg::Own(self.phrases.text(how, &args)));
        self.phrases.text("question.cut", &[details])
    }

    fn asked(
        &self,
        question: &Question,
        sessions: &Sessions,
        again: bool,
        left: Option<TimeLeft>,
        longest: usize,
    ) -> Vec<Segment> {
        if again {
            let key = match question.reach {
                AnswerReach::Resumed => "question.again.perhaps",
                AnswerReach::Live | AnswerReach::LinkLost | AnswerReach::NotAnswerable => {
                    "question.again"
                }
            };
            return self.phrases.say(
                key,
                Verbosity::Normal,
                &[
                    ("n", Arg::own(question.id.0)),
                    ("subject", self.subject(question)),
                ],
            );
        }
        let agent = self.asker(question, sessions);
        match &question.body {
            QuestionBody::Confirmation(asked) => {
                let mut args = self.confirmation_args(question, asked, agent, left, longest);
                args.push(("doubts", Arg::Own(self.doubts(question).join(" "))));
                args.push(("unsaid", Arg::Own(self.left_unsaid(question))));
                self.judged(question, "question.confirmation", &args)
            }
            QuestionBody::Clarification(asked) => {
                let doubts = Arg::Own(self.doubts(question).join(" "));
                self.clarification(question, asked, (agent, doubts), left, longest)
            }
        }
    }

    /// Words a question under a separate head, so that a face with its own head can leave out just that.
    fn headed(&self, head: &str, key: &str, args: &Args<'_>) -> Vec<Segment> {
        let mut segments = self.phrases.say(head, Verbosity::Normal, args);
        segments.extend(self.phrases.say(key, Verbosity::Normal, args));
        segments
    }

    /// Repeats a question as it was first asked, with the time that remains.
    pub fn ask_again(&self, question: &Question, sessions: &Sessions, now: Now) -> Vec<Segment> {
        self.ask(question, sessions, now, false)
    }

    /// Repeats a question in short: the risk, what it is about, how to answer.
    pub fn remind(&self, question: &Question, sessions: &Sessions, now: Now) -> Vec<Segment> {
        let (QuestionBody::Confirmation(asked), false) = (&question.body, question.is_cut()) else {
            return self.ask_again(question, sessions, now);
        };
        let agent = self.asker(question, sessions);
        let mut args = self.confirmation_args(question, asked, agent, None, usize::MAX);
        args.push(("doubts", Arg::Own(self.doubts(question).join(" "))));
        args.push(("unsaid", Arg::Own(self.left_unsaid(question))));
        self.judged(question, "question.reminder", &args)
    }

    /// Words a question, with the findings about its action before everything that the agent says.
    fn judged(&self, question: &Question, key: &str, args: &Args<'_>) -> Vec<Segment> {
        let mut segments = self.phrases.say("question.head", Verbosity::Normal, args);
        segments.extend(self.found(question, false));
        segments.extend(self.phrases.say(key, Verbosity::Normal, args));
        segments.push(self.keys_now(question));
        segments
    }

    /// Words everything known about a question, without any cut.
    pub fn details(&self, question: &Question, sessions: &Sessions, now: Now) -> Vec<Segment> {
        self.all_of(
            question,
            sessions,
            stated_time_left(question, sessions, now),
        )
    }

    fn all_of(
        &self,
        question: &Question,
        sessions: &Sessions,
        left: Option<TimeLeft>,
    ) -> Vec<Segment> {
        let agent = self.asker(question, sessions);
        let mut segments = match &question.body {
            QuestionBody::Confirmation(asked) => {
                let mut args = self.confirmation_args(question, asked, agent, left, usize::MAX);
                self.with_all_risks(asked, &mut args);
                let head = "question.details.head";
                let mut segments = self.headed(head, "question.details", &args);
                segments.extend(self.found(question, true));
                segments.push(self.keys_in_full(question));
                segments
            }
            QuestionBody::Clarification(asked) => {
                let asker = (agent, Arg::own(""));
                self.clarification(question, asked, asker, left, usize::MAX)
            }
        };
        segments.extend(self.doubts(question).into_iter().map(Segment::own));
        segments
    }

    /// Returns what surrounds the words of a question: the risk, what silence does, which keys answer.
    pub(super) fn terms(&self, question: &Question, sessions: &Sessions, now: Now) -> Vec<Segment> {
        let left = stated_time_left(question, sessions, now);
        match &question.body {
            QuestionBody::Confirmation(asked) => {
                let none = Arg::own("");
                let longest = Question::LONGEST_PART;
                let mut args = self.confirmation_args(question, asked, none, left, longest);
                self.with_all_risks(asked, &mut args);
                let mut segments = self.phrases.say("question.terms", Verbosity::Normal, &args);
                segments.extend(self.found(question, true));
                segments.push(self.keys_in_full(question));
                segments
            }
            QuestionBody::Clarification(asked) => {
                self.clarification_terms(question, asked, left, Question::LONGEST_PART)
            }
        }
    }

    pub(super) fn confirmation_args(
        &self,
        question: &Question,
        asked: &AwaitingConfirmation,
        agent: Arg,
        left: Option<TimeLeft>,
        longest: usize,
    ) -> Vec<(&'static str, Arg)> {
        let text = |key: &str| self.phrases.text(key, &[]);
        let risk = match &asked.risk_level {
            Some(RiskLevel::Low) => Arg::Own(text("question.risk.low")),
            Some(RiskLevel::Medium) => Arg::Own(text("question.risk.medium")),
            Some(RiskLevel::High) => Arg::Own(text("question.risk.high")),
            Some(RiskLevel::Other(_)) | None => self.unknown_risk(question),
        };
        let states_risk = !matches!(asked.risk_level, Some(RiskLevel::Other(_)) | None);
        let mut reversibility = match asked.undoing() {
            UndoStatement::Reversible => text("question.reversibility.reversible"),
            UndoStatement::WithEffort => text("question.reversibility.effort"),
            UndoStatement::Irreversible => text("question.reversibility.irreversible"),
            UndoStatement::Unknown if states_risk => text("question.reversibility.unknown"),
            // The words for an unknown risk include it.
            UndoStatement::Unknown => String::new(),
        };
        let more: Vec<String> = asked
            .extra_context
            .iter()
            .map(|(key, value)| format!("{key}: {value}"))
            .collect();
        let tool_says = self.tool_says(question);
        if !tool_says.is_empty() && !reversibility.is_empty() {
            reversibility.push(' ');
        }
        reversibility.push_str(&tool_says);
        vec![
            ("n", Arg::own(question.id.0)),
            ("agent", agent),
            (
                "action",
                self.exact_or(question, &cut(&asked.action, longest), "question.no_action"),
            ),
            (
                "consequence",
                self.exact_in(
                    question,
                    &cut(asked.consequence.as_deref().unwrap_or_default(), longest),
                    asked.consequence_in.as_ref(),
                ),
            ),
            (
                "consequence_in",
                self.language_name(asked.consequence_in.as_ref()),
            ),
            ("risk", risk),
            ("reversibility", Arg::Own(reversibility)),
            ("timeout", Arg::Own(self.timeout(question, left))),
            (
                "context",
                self.exact_in(
                    question,
                    asked.summary.detailed.as_deref().unwrap_or_default(),
                    asked.why_in.as_ref(),
                ),
            ),
            ("why_in", self.language_name(asked.why_in.as_ref())),
            (
                "more",
                self.exact_in(question, &more.join(". "), asked.more_in.as_ref()),
            ),
            ("more_in", self.language_name(asked.more_in.as_ref())),
        ]
    }

    fn clarification(
        &self,
        question: &Question,
        asked: &AwaitingClarification,
        (agent, doubts): (Arg, Arg),
        left: Option<TimeLeft>,
        longest: usize,
    ) -> Vec<Segment> {
        let args = [
            ("doubts", doubts),
            ("n", Arg::own(question.id.0)),
            ("agent", agent),
            (
                "question",
                self.exact_or(
                    question,
                    &cut(&asked.question, longest),
                    "question.no_question",
                ),
            ),
            (
                "context",
                self.exact_in(
                    question,
                    &cut(asked.context.as_deref().unwrap_or_default(), longest),
                    asked.why_in.as_ref(),
                ),
            ),
            ("why_in", self.language_name(asked.why_in.as_ref())),
        ];
        let mut segments = self
            .phrases
            .say("question.clarification", Verbosity::Normal, &args);
        let mut room = longest;
        for (index, choice) in asked.choices.iter().enumerate() {
            let length = choice.label.chars().count();
            let Some(left) = room.checked_sub(length) else {
                break;
            };
            room = left;
            let args = [
                ("n", Arg::own(index + 1)),
                (
                    "label",
                    self.exact_in(question, &choice.label, choice.label_in.as_ref()),
                ),
                ("label_in", self.language_name(choice.label_in.as_ref())),
            ];
            let words = self
                .phrases
                .say("question.choice", Verbosity::Normal, &args);
            segments.extend(naming(words));
        }
        segments.extend(self.clarification_terms(question, asked, left, longest));
        segments
    }

    fn clarification_terms(
        &self,
        question: &Question,
        asked: &AwaitingClarification,
        left: Option<TimeLeft>,
        longest: usize,
    ) -> Vec<Segment> {
        let mut segments = Vec::new();
        if asked.takes_several {
            segments.push(Segment::own(self.phrases.text("question.several", &[])));
        }
        segments.extend(self.timeout_segments(question, asked, left, longest));
        segments.push(self.keys_now(question));
        segments
    }

    fn timeout_segments(
        &self,
        question: &Question,
        asked: &AwaitingClarification,
        left: Option<TimeLeft>,
        longest: usize,
    ) -> Vec<Segment> {
        let Some(left) = left.filter(|_| question.reach.reaches()) else {
            return Vec::new();
        };
        if let TimeLeft::Unknown = left {
            return vec![Segment::own(self.default(question))];
        }
        let mut args = self.time_args(left);
        let fails = question.attached.fails_unanswered;
        let key = match (&asked.default_response, left) {
            (Some(_), TimeLeft::Told(_)) if fails => "question.timeout.fails",
            (Some(_), TimeLeft::Headed) if fails => "question.silence.fails",
            (Some(_), TimeLeft::Told(_)) => "question.timeout.response",
            (Some(_), TimeLeft::Headed) => "question.silence.response",
            (None, TimeLeft::Told(_)) => "question.timeout.none",
            (None, TimeLeft::Headed) => "question.silence.none",
            (_, TimeLeft::Over | TimeLeft::Unknown) => "question.timeout.over",
        };
        if let Some(response) = &asked.default_response
            && !matches!(left, TimeLeft::Over)
        {
            let response = cut(label_of(asked, response), longest);
            args.push(("response", self.exact(question, &response)));
        }
        self.phrases.say(key, Verbosity::Normal, &args)
    }

    /// Returns what silence does; empty for questions that no answer can reach any more.
    fn timeout(&self, question: &Question, left: Option<TimeLeft>) -> String {
        let QuestionBody::Confirmation(asked) = &question.body else {
            return String::new();
        };
        let Some(left) = left.filter(|_| question.reach.reaches()) else {
            return String::new();
        };
        let key = match (&asked.default_decision, left) {
            (Some(Decision::Reject), TimeLeft::Told(_)) => "question.timeout.reject",
            (Some(Decision::Reject), TimeLeft::Headed) => "question.silence.reject",
            (Some(Decision::Accept), TimeLeft::Told(_)) => "question.timeout.accept",
            (Some(Decision::Accept), TimeLeft::Headed) => "question.silence.accept",
            (Some(Decision::Other(_)) | None, TimeLeft::Told(_)) => "question.timeout.other",
            (Some(Decision::Other(_)) | None, TimeLeft::Headed) => "question.silence.other",
            (_, TimeLeft::Over) => "question.timeout.over",
            (_, TimeLeft::Unknown) => return self.default(question),
        };
        self.phrases.text(key, &self.time_args(left))
    }

    fn time_args(&self, left: TimeLeft) -> Vec<(&'static str, Arg)> {
        match left {
            TimeLeft::Told(left) => vec![("time", Arg::Own(self.time(left)))],
            TimeLeft::Headed | TimeLeft::Over | TimeLeft::Unknown => Vec::new(),
        }
    }

    pub(super) fn warn(
        &self,
        question: &Question,
        remaining: Duration,
        sessions: &Sessions,
        now: Now,
    ) -> Vec<Segment> {
        let mut segments = self.phrases.say(
            "question.warning",
            Verbosity::Normal,
            &[
                ("n", Arg::own(question.id.0)),
                ("time", Arg::Own(self.time(remaining))),
                ("subject", {
                    let subject = cut(question.body.subject(), Question::LONGEST_PART);
                    self.exact_or(question, &subject, "question.no_action")
                }),
                ("timeout", Arg::Own(self.default(question))),
            ],
        );
        if question.is_cut() {
            segments.push(Segment::own(self.cut_words(question, sessions, now)));
        }
        segments
    }

    pub(super) fn timed_out(&self, question: &Question) -> Vec<Segment> {
        self.phrases.say(
            "question.timed_out",
            Verbosity::Normal,
            &[
                ("n", Arg::own(question.id.0)),
                ("default", Arg::Own(self.default(question))),
            ],
        )
    }

    /// Returns words for what the agent does without an answer.
    pub fn default(&self, question: &Question) -> String {
        match &question.body {
            QuestionBody::Confirmation(asked) => {
                let key = match &asked.default_decision {
                    Some(Decision::Reject) => "question.default.reject",
                    Some(Decision::Accept) => "question.default.accept",
                    Some(Decision::Other(_)) | None => "question.default.other",
                };
                self.phrases.text(key, &[])
            }
            QuestionBody::Clarification(_) if question.attached.fails_unanswered => {
                self.phrases.text("question.default.fails", &[])
            }
            QuestionBody::Clarification(asked) => match &asked.default_response {
                Some(response) => self.phrases.text(
                    "question.default.response",
                    &[("response", self.exact(question, label_of(asked, response)))],
                ),
                None => self.phrases.text("question.default.other", &[]),
            },
        }
    }

    /// Words a decision.
    pub fn decision_words(&self, decision: &Decision) -> String {
        match decision {
            Decision::Accept => self.phrases.text("answer.accept", &[]),
            Decision::Reject => self.phrases.text("answer.reject", &[]),
            // Producers write these as identifiers, and an engine would spell the signs between their words. In a
            // sentence, a sign is part of a path or a command.
            Decision::Other(text) => match self.phrases.answer_of(text) {
                sentence if sentence.contains(char::is_whitespace) => sentence,
                name => name.replace('_', " "),
            },
        }
    }

    /// Words an answer for reading it back.
    pub fn answer_words(&self, question: &Question, answer: &Answer) -> String {
        match answer {
            Answer::Decision { decision, .. } => self.decision_words(decision),
            Answer::Response(Response::YesNo(true)) => self.phrases.text("answer.yes", &[]),
            Answer::Response(Response::YesNo(false)) => self.phrases.text("answer.no", &[]),
            Answer::Response(Response::Number(number)) => number.to_string(),
            Answer::Response(Response::Text(text)) => {
                let label = match &question.body {
                    QuestionBody::Clarification(asked) => asked
                        .choices
                        .iter()
                        .find(|choice| choice.value == *text)
                        .map(|choice| choice.label.as_str()),
                    QuestionBody::Confirmation(_) => None,
                };
                self.persons_words(label.unwrap_or(text))
            }
        }
    }

    /// Returns what the person wrote or chose, for a sentence of the program's own.
    pub fn persons_words(&self, text: &str) -> String {
        let text = speakable::one_line(text);
        self.phrases.lexicon().name_directions(&text).into_owned()
    }

    /// Returns what a question is about, as an argument that is read exactly as written; if the question does
    /// not say, the words state that.
    pub fn subject(&self, question: &Question) -> Arg {
        let missing = match &question.body {
            QuestionBody::Confirmation(_) => "question.no_action",
            QuestionBody::Clarification(_) => "question.no_question",
        };
        self.exact_or(question, question.body.subject(), missing)
    }

    /// Returns the name of the asking agent, or nothing if there is only one agent.
    pub(super) fn asker(&self, question: &Question, sessions: &Sessions) -> Arg {
        if self.is_named(&question.key, &question.agent, sessions) {
            Arg::Name(
                self.agent_name(&question.key, &question.agent, sessions)
                    .to_string(),
            )
        } else {
            Arg::own("")
        }
    }

    /// Returns a text as written, or else the phrase that stands for a missing one.
    pub(super) fn exact_or(&self, question: &Question, text: &str, missing: &str) -> Arg {
        if speakable::one_line(text).is_empty() {
            Arg::Own(self.phrases.text(missing, &[]))
        } else {
            self.exact(question, text)
        }
    }

    /// Returns a question's text as an argument that is read exactly as written.
    pub fn exact(&self, question: &Question, text: &str) -> Arg {
        match question
            .command()
            .is_some_and(|command| command.contains(text.trim()))
        {
            true => Arg::Command(text.to_owned()),
            false => Arg::Exact(text.to_owned(), question.language.clone()),
        }
    }
}

fn cut(text: &str, longest: usize) -> String {
    let beginning = beginning(text, longest);
    if beginning.len() < text.len() {
        format!("{beginning}…")
    } else {
        text.to_owned()
    }
}
