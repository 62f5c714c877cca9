//! A question in full, in parts that a person can remember.
//!
//! Responsibilities: where a long text is cut, and what each part of a question contains. Not here: what is asked
//! right away (`question_wording`), which part comes next (`app`).
//!
//! # Mental model
//! A question consists of a series of texts: the action, the consequence, the reason, what else is known. In
//! this order they fill parts of [`Question::LONGEST_PART`] characters; a text that does not fit continues in
//! the next part, under its label again. The first `needed` parts contain what a decision is about; the later
//! ones contain only what surrounds it.

use std::borrow::Cow;

use crate::config::Verbosity;
use crate::protocol::Now;
use crate::session::{Question, QuestionBody, Sessions};

use super::answerable::label_of;
use super::read_parts::QuestionParts;
use super::{Announcer, AnswerMethod};
use crate::announce::text::normalise::clean_lines;
use crate::announce::text::wrap::beginning;
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::naming;

/// A text moves to a new part rather than use the last `1 / TAIL` of a part for its beginning.
const TAIL: usize = 4;

/// One text of a question.
struct Field<'a> {
    /// The phrase that labels it.
    key: &'static str,
    /// The number of a choice; 0 for other texts.
    n: usize,
    text: Cow<'a, str>,
    /// Its language, if that differs from the question's.
    language: Option<&'a String>,
    /// The phrase that stands for a missing text.
    missing: &'static str,
    /// Whether the decision is about it.
    decides: bool,
}

impl Announcer {
    /// Returns everything known about a question, in several parts if it is long.
    pub fn question_parts(
        &self,
        question: &Question,
        sessions: &Sessions,
        now: Now,
    ) -> QuestionParts {
        let fields = fields(question);
        let mut parts: Vec<Vec<(&Field<'_>, &str)>> = vec![Vec::new()];
        let (mut room, mut needed) = (Question::LONGEST_PART, 1);
        for field in &fields {
            let mut rest = field.text.trim();
            loop {
                let length = rest.chars().count();
                // A few words of a text at the end of a part would only look torn off.
                if length > room && room < Question::LONGEST_PART / TAIL {
                    parts.push(Vec::new());
                    room = Question::LONGEST_PART;
                }
                let piece = beginning(rest, room);
                room -= piece.chars().count();
                rest = rest[piece.len()..].trim_start();
                if let Some(part) = parts.last_mut() {
                    part.push((field, piece));
                }
                if field.decides {
                    needed = parts.len();
                }
                if rest.is_empty() {
                    break;
                }
                parts.push(Vec::new());
                room = Question::LONGEST_PART;
            }
        }
        let count = parts.len();
        if count == 1 {
            let parts = vec![self.details(question, sessions, now)];
            return QuestionParts { parts, needed };
        }
        let parts = parts
            .iter()
            .enumerate()
            .map(|(at, part)| {
                let mut segments = self.phrases.say(
                    "question.part",
                    Verbosity::Normal,
                    &[
                        ("n", Arg::own(question.id.0)),
                        ("agent", self.asker(question, sessions)),
                        ("i", Arg::own(at + 1)),
                        ("count", Arg::own(count)),
                    ],
                );
                for (field, piece) in part {
                    let text = self.exact_or(question, piece, field.missing);
                    let text = match (text, field.language) {
                        (Arg::Exact(text, _), Some(_)) => {
                            self.exact_in(question, &text, field.language)
                        }
                        (text, _) => text,
                    };
                    let args = [
                        ("n", Arg::own(field.n)),
                        ("text", text),
                        ("in", self.language_name(field.language)),
                    ];
                    let words = self.phrases.say(field.key, Verbosity::Normal, &args);
                    match field.n {
                        0 => segments.extend(words),
                        _ => segments.extend(naming(words)),
                    }
                }
                if at + 1 < count {
                    segments.extend(self.phrases.say(
                        match self.manner {
                            AnswerMethod::Keys => "question.part.next.keys",
                            AnswerMethod::Lines | AnswerMethod::Program => {
                                "question.part.next.lines"
                            }
                        },
                        Verbosity::Normal,
                        &[("n", Arg::own(question.id.0))],
                    ));
                } else {
                    segments.extend(self.terms(question, sessions, now));
                }
                segments
            })
            .collect();
        QuestionParts { parts, needed }
    }
}

/// Returns the texts of a question, those that the decision is about first.
fn fields(question: &Question) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    match &question.body {
        QuestionBody::Confirmation(asked) => {
            let action = Field::new("question.part.text", &asked.action, true);
            // Nothing is removed from a command: hidden characters are named.
            let text = match question.command() {
                Some(command) => Cow::Borrowed(command),
                None => action.text.clone(),
            };
            fields.push(Field {
                missing: "question.no_action",
                text,
                ..action
            });
            if let Some(text) = &asked.consequence {
                let consequence = Field::new("question.part.consequence", text, true);
                fields.push(consequence.spoken_in(asked.consequence_in.as_ref()));
            }
            if let Some(text) = &asked.summary.detailed {
                let why = Field::new("question.part.why", text, false);
                fields.push(why.spoken_in(asked.why_in.as_ref()));
            }
            fields.extend(asked.extra_context.iter().map(|(name, text)| {
                let more = Field::new("question.part.more", "", false);
                let more = more.spoken_in(asked.more_in.as_ref());
                Field {
                    text: Cow::Owned(clean_lines(&format!("{name}: {text}")).into_owned()),
                    ..more
                }
            }));
        }
        QuestionBody::Clarification(asked) => {
            let words = Field::new("question.part.text", &asked.question, true);
            fields.push(Field {
                missing: "question.no_question",
                ..words
            });
            fields.extend(asked.choices.iter().enumerate().map(|(at, choice)| {
                let label = Field::new("question.part.choice", &choice.label, true);
                let label = label.spoken_in(choice.label_in.as_ref());
                Field { n: at + 1, ..label }
            }));
            if let Some(response) = &asked.default_response {
                let text = label_of(asked, response);
                let key = match question.attached.fails_unanswered {
                    true => "question.part.default.fails",
                    false => "question.part.default",
                };
                fields.push(Field::new(key, text, true));
            }
            if let Some(text) = &asked.context {
                let why = Field::new("question.part.why", text, true);
                fields.push(why.spoken_in(asked.why_in.as_ref()));
            }
        }
    }
    fields
}

impl<'a> Field<'a> {
    fn spoken_in(self, language: Option<&'a String>) -> Self {
        Self { language, ..self }
    }

    fn new(key: &'static str, text: &'a str, decides: bool) -> Self {
        Self {
            key,
            n: 0,
            text: clean_lines(text),
            language: None,
            missing: "question.part.empty",
            decides,
        }
    }
}
