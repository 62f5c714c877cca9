//! How a question is answered, in words: in full the first time in a run, in short after that.
//!
//! Responsibilities: which keys or lines answer a question, and when a person already knows them. Not here: what a
//! key does (`keys`), when it counts (`app`).

use crate::config::Verbosity;
use crate::protocol::{Decision, ResponseKind};
use crate::session::{Question, QuestionBody, TokenUse};

use super::answerable::{takes_two_steps, unanswerable, ways};
use super::{Announcer, Manner};
use crate::announce::words::phrase::{Arg, Args};
use crate::announce::words::segment::{Mark, Segment, join, join_spoken};

/// The length at which the ways to answer are worded.
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

    /// Returns how to answer, in short if another question has explained it in this run. A program receives the lines
    /// separately from the words, so they are not spoken there.
    pub(super) fn keys_now(&self, question: &Question) -> Segment {
        let first = ways(question).and_then(|ways| self.ways_told.get(&ways));
        let known = first.is_some_and(|first| *first != question.id);
        let length = match known {
            true => Length::Short,
            false => Length::Full,
        };
        let said = self.keys_in(question, length);
        let heard = match self.manner {
            Manner::Keys | Manner::Lines => true,
            // The reason why it can't be answered is not a way to answer.
            Manner::Program => unanswerable(question).is_some(),
        };
        let spoken = if heard { &said.spoken } else { "" };
        let mut keys = Segment::new(Mark::Own, said.text, spoken);
        keys.ways = true;
        keys
    }

    /// Records that a question was asked together with its ways to answer.
    pub(super) fn ways_were_told(&mut self, question: &Question) {
        if let Some(ways) = ways(question) {
            self.ways_told.entry(ways).or_insert(question.id);
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
            Manner::Keys => keys,
            Manner::Lines | Manner::Program => in_lines,
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
                if asked.takes(&Decision::Accept) {
                    ways.push(self.said(accept, &n()));
                }
                if asked.takes(&Decision::Reject) {
                    ways.push(self.said(reject, &n()));
                }
                // An agent's own names for its answers are never shortened.
                for (at, other) in asked.others().enumerate() {
                    let args = [
                        ("n", Arg::own(question.id.0)),
                        ("i", Arg::own(at + 1)),
                        ("answer", Arg::Own(self.decision_words(other))),
                    ];
                    let key = pick("question.keys.other", "question.lines.other");
                    ways.push(self.said(key, &args));
                }
                ways.push(self.said(details, &n()));
                self.said(all, &[("ways", KeyWords::joined(&ways, ", ").arg())])
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
    fn joined(all: &[Self], between: &str) -> Self {
        let texts: Vec<&str> = all.iter().map(|said| said.text.as_str()).collect();
        let spoken: Vec<&str> = all.iter().map(|said| said.spoken.as_str()).collect();
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
