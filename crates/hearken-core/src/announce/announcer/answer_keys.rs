//! The parts of a question that are said once per run: how it is answered, and that its agent states no risk.
//!
//! Responsibilities: which keys or lines answer a question, and what a person already knows. Not here: what a
//! key does (`keys`), when it counts (`app`).

use crate::config::Verbosity;
use crate::protocol::{AwaitingConfirmation, Decision, ResponseKind, RiskLevel, UndoStatement};
use crate::session::{Question, QuestionBody, TokenUse};

use super::answerable::{takes_two_steps, unanswerable, ways};
use super::{Announcer, AnswerMethod};
use crate::announce::words::phrase::{Arg, Args};
use crate::announce::words::segment::{Mark, Segment, join, join_spoken};

/// How fully the ways to answer are worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// What each key does.
    Full,
    /// The keys alone, in the same order.
    Short,
}

impl Announcer {
    /// Returns how to answer, or why it can't be answered.
    pub fn keys(&self, question: &Question) -> String {
        self.keys_in(question, Length::Full).text
    }

    /// Returns how to answer. If another question of this run has explained it, it is only shown, in short
    /// form; the help repeats it. A program receives the lines separately from the words, so there they are not
    /// spoken.
    pub(super) fn keys_now(&self, question: &Question) -> Segment {
        let first = ways(question).and_then(|ways| self.explained.ways.get(&ways));
        let known = first.is_some_and(|first| *first != question.id);
        self.keys_as(question, known)
    }

    /// Returns how to answer, in full, for whoever asks.
    pub fn keys_in_full(&self, question: &Question) -> Segment {
        self.keys_as(question, false)
    }

    /// Returns the decisions of a question beyond accepting and rejecting, by their numbers.
    pub(super) fn choices_in_sight(&self, question: &Question) -> String {
        let QuestionBody::Confirmation(asked) = &question.body else {
            return String::new();
        };
        let choice = |(at, other): (usize, &Decision)| {
            let args = [
                ("n", Arg::own(at + 1)),
                ("label_in", Arg::own("")),
                ("label", Arg::Own(self.decision_words(other))),
            ];
            self.phrases.text("question.choice", &args)
        };
        let choices: Vec<String> = asked.further_decisions().enumerate().map(choice).collect();
        choices.join(" ")
    }

    fn keys_as(&self, question: &Question, known: bool) -> Segment {
        let length = match known {
            true => Length::Short,
            false => Length::Full,
        };
        let said = self.keys_in(question, length);
        let heard = match self.manner {
            AnswerMethod::Keys | AnswerMethod::Lines => true,
            // The reason why a question can't be answered is not a way to answer it.
            AnswerMethod::Program => unanswerable(question).is_some(),
        };
        let spoken = if heard { &said.spoken } else { "" };
        let mut keys = Segment::new(Mark::Own, said.text, spoken);
        keys.ways = true;
        keys
    }

    /// Records that a question was asked together with its ways to answer and its risk.
    pub(super) fn was_explained(&mut self, question: &Question) {
        if let Some(ways) = ways(question) {
            self.explained.ways.entry(ways).or_insert(question.id);
        }
        if let QuestionBody::Confirmation(asked) = &question.body
            && matches!(asked.risk_level, Some(RiskLevel::Other(_)) | None)
        {
            self.explained.note_risk(question);
        }
    }

    /// Returns the words for an unknown risk. They are spoken once per agent, because an agent that omits the
    /// risk always does, and shown with every question.
    pub(super) fn unknown_risk(&self, question: &Question) -> Arg {
        let text = self.phrases.text("question.risk.unknown", &[]);
        let agent = (question.key.link, question.key.agent.clone());
        let first = self.explained.risks.get(&agent);
        match first.is_some_and(|first| *first != question.id) {
            true => Arg::Sounding {
                text,
                spoken: String::new(),
            },
            false => Arg::Own(text),
        }
    }

    /// Lists everything that is not stated about a risk, however often it was said.
    pub(super) fn with_all_risks(
        &self,
        asked: &AwaitingConfirmation,
        args: &mut [(&'static str, Arg)],
    ) {
        for (name, arg) in args {
            match (*name, &*arg) {
                ("risk", Arg::Sounding { text, .. }) => *arg = Arg::own(text.clone()),
                ("reversibility", Arg::Own(text)) if asked.undoing() == UndoStatement::Unknown => {
                    let unstated = self.phrases.text("question.reversibility.unstated", &[]);
                    let known = self.phrases.text("question.reversibility.unknown", &[]);
                    let more = text.strip_prefix(&known).unwrap_or(text).trim();
                    *arg = Arg::Own(format!("{unstated} {more}").trim_end().to_owned());
                }
                _ => {}
            }
        }
    }

    fn said(&self, key: &str, args: &Args<'_>) -> KeyWords {
        let segments = self.phrases.say(key, Verbosity::Normal, args);
        KeyWords {
            text: join(&segments),
            spoken: join_spoken(&segments),
        }
    }

    fn keys_in(&self, question: &Question, length: Length) -> KeyWords {
        let n = || [("n", Arg::own(question.id.0))];
        if let TokenUse::Shared { with } = question.token_use {
            let with = ("with", Arg::own(with.0));
            return self.said("question.shared", &[with]);
        }
        if let Some(key) = unanswerable(question) {
            return self.said(key, &[]);
        }
        let pick = |keys: &'static str, in_lines: &'static str| match self.manner {
            AnswerMethod::Keys => keys,
            AnswerMethod::Lines | AnswerMethod::Program => in_lines,
        };
        match &question.body {
            QuestionBody::Confirmation(asked) => {
                let two = takes_two_steps(question);
                let accept = match (length, two) {
                    (Length::Full, true) => {
                        pick("question.keys.accept_twice", "question.lines.accept_twice")
                    }
                    (Length::Full, false) => pick("question.keys.accept", "question.lines.accept"),
                    (Length::Short, true) => pick(
                        "question.keys.accept_twice.short",
                        "question.lines.accept_twice.short",
                    ),
                    (Length::Short, false) => {
                        pick("question.keys.accept.short", "question.lines.accept.short")
                    }
                };
                let (reject, details, all) = match length {
                    Length::Full => (
                        pick("question.keys.reject", "question.lines.reject"),
                        pick("question.keys.details", "question.lines.details"),
                        pick("question.keys.confirm", "question.lines.confirm"),
                    ),
                    Length::Short => (
                        pick("question.keys.reject.short", "question.lines.reject.short"),
                        pick(
                            "question.keys.details.short",
                            "question.lines.details.short",
                        ),
                        "question.keys.short",
                    ),
                };
                let mut ways = Vec::new();
                if asked.accepts(&Decision::Accept) {
                    ways.push(self.said(accept, &n()).told(length));
                }
                if asked.accepts(&Decision::Reject) {
                    ways.push(self.said(reject, &n()).told(length));
                }
                // The usual keys are not said again, and the others are never the only ones said.
                let usual = asked.accepts(&Decision::Accept) && asked.accepts(&Decision::Reject);
                let mut before = (usual && length == Length::Short)
                    .then(|| self.phrases.text("question.keys.before", &[]));
                // An agent's own names for its answers are never shortened.
                for (at, other) in asked.further_decisions().enumerate() {
                    let args = [
                        ("n", Arg::own(question.id.0)),
                        ("i", Arg::own(at + 1)),
                        ("answer", Arg::Own(self.decision_words(other))),
                    ];
                    let key = pick("question.keys.other", "question.lines.other");
                    let mut way = self.said(key, &args);
                    if let Some(before) = before.take() {
                        way.spoken = format!("{before}, {}", way.spoken);
                    }
                    ways.push(way);
                }
                ways.push(self.said(details, &n()).told(length));
                let ways = KeyWords::joined(&ways, ", ");
                let silent = ways.spoken.is_empty();
                let mut all = self.said(all, &[("ways", ways.arg())]);
                if silent {
                    all.spoken.clear();
                }
                all
            }
            QuestionBody::Clarification(asked) => {
                let ways: Vec<KeyWords> = asked
                    .accepted_response_kinds
                    .iter()
                    .map(|kind| match kind {
                        ResponseKind::MultipleChoice => {
                            pick("question.keys.choice", "question.lines.choice")
                        }
                        ResponseKind::YesNo => {
                            pick("question.keys.yes_no", "question.lines.yes_no")
                        }
                        ResponseKind::Numeric => {
                            pick("question.keys.number", "question.lines.number")
                        }
                        ResponseKind::Freetext | ResponseKind::Other(_) => {
                            pick("question.keys.text", "question.lines.text")
                        }
                    })
                    .map(|key| self.said(key, &n()))
                    .collect();
                let or = self.phrases.text("question.or", &[]);
                KeyWords::joined(&ways, &format!(" {or} "))
            }
        }
    }
}

/// Words as written and as spoken.
struct KeyWords {
    text: String,
    spoken: String,
}

impl KeyWords {
    /// Returns the words for a usual way to answer; known ways are only shown.
    fn told(mut self, length: Length) -> Self {
        if length == Length::Short {
            self.spoken.clear();
        }
        self
    }

    fn joined(all: &[Self], between: &str) -> Self {
        let texts: Vec<&str> = all.iter().map(|said| said.text.as_str()).collect();
        let spoken = all.iter().map(|said| said.spoken.as_str());
        let spoken: Vec<&str> = spoken.filter(|spoken| !spoken.is_empty()).collect();
        Self {
            text: texts.join(between),
            spoken: spoken.join(between),
        }
    }

    fn arg(self) -> Arg {
        Arg::Sounding {
            text: self.text,
            spoken: self.spoken,
        }
    }
}
