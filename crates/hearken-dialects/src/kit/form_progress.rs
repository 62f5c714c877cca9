//! A form while it is filled in: the current part, the answers so far, and the final check.
//!
//! Responsibilities: asking a form part by part; its content. Not here: what a form wants (`form_schema`), who asks and
//! where the content goes (`forms`, and other dialects that use forms).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::SharedWording;
use crate::link::Phrase;
use crate::protocol::Response;

use super::call::first;
use super::form_schema::{self, FormKind, FormPart};
use super::standalone_question::QuestionContent;
use super::turn_end::closed;

/// The values of the choices that are ours; nobody types them by chance.
const USUAL: &str = "hearken.usual";
const WITHOUT: &str = "hearken.without";
const DECLINE: &str = "hearken.decline";
const CANCEL: &str = "hearken.cancel";

/// A form while it is filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct FormProgress {
    message: String,
    parts: Vec<FormPart>,
    values: BTreeMap<usize, Value>,
    /// The index of the current part; the number of parts at the end.
    at: usize,
    /// Whether the end was reached, so that changing a part leads back to it.
    whole: bool,
}

/// How to answer the agent's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Send what was filled in.
    Accept,
    /// Decline it.
    Decline,
    /// Close it without an answer.
    Cancel,
}

/// What to do after an answer.
#[derive(Debug)]
pub enum AfterAnswer {
    /// Nothing: it does not answer the current question.
    None,
    /// Ask the next question.
    Ask,
    /// Ask the same question again, for this reason.
    Again(Phrase),
    /// Answer the agent.
    Give(Action),
}

impl FormProgress {
    /// Creates a form with nothing filled in.
    pub fn new(message: String, parts: Vec<FormPart>) -> Self {
        Self {
            message,
            parts,
            values: BTreeMap::new(),
            at: 0,
            whole: false,
        }
    }

    /// Applies an answer to the current question.
    pub fn take(&mut self, answer: &Response) -> AfterAnswer {
        let Some(part) = self.parts.get(self.at) else {
            return self.take_end(answer);
        };
        let chosen = match answer {
            Response::Text(text) => text.as_str(),
            Response::YesNo(_) | Response::Number(_) => "",
        };
        let value = match chosen {
            DECLINE => return AfterAnswer::Give(Action::Decline),
            CANCEL => return AfterAnswer::Give(Action::Cancel),
            WITHOUT if part.required => return AfterAnswer::None,
            WITHOUT => None,
            USUAL => match &part.usual {
                Some(usual) => Some(usual.clone()),
                None => return AfterAnswer::None,
            },
            _ => match part.take(answer) {
                Ok(value) => Some(value),
                Err(wrong) => return AfterAnswer::Again(wrong),
            },
        };
        match value {
            Some(value) => self.values.insert(self.at, value),
            None => self.values.remove(&self.at),
        };
        self.at = match self.whole {
            true => self.parts.len(),
            false => self.at + 1,
        };
        self.whole |= self.at == self.parts.len();
        AfterAnswer::Ask
    }

    /// Applies an answer to the final check.
    fn take_end(&mut self, answer: &Response) -> AfterAnswer {
        let place = match answer {
            Response::Text(text) => text.parse::<usize>().ok(),
            Response::YesNo(_) | Response::Number(_) => None,
        };
        let parts = self.parts.len();
        match place {
            Some(1) => AfterAnswer::Give(Action::Accept),
            Some(at) if (2..parts + 2).contains(&at) => {
                self.at = at - 2;
                AfterAnswer::Ask
            }
            Some(at) if at == parts + 2 => AfterAnswer::Give(Action::Decline),
            Some(at) if at == parts + 3 => AfterAnswer::Give(Action::Cancel),
            Some(_) | None => AfterAnswer::None,
        }
    }

    /// Returns what was filled in.
    pub fn content(&self) -> Value {
        let values = self.values.iter().filter_map(|(at, value)| {
            let part = self.parts.get(*at)?;
            Some((part.id.clone(), value.clone()))
        });
        Value::Object(values.collect())
    }

    /// Returns the current question.
    pub fn asks(&self, words: &SharedWording) -> QuestionContent {
        match self.parts.get(self.at) {
            Some(part) => self.asks_part(part, words),
            None => self.asks_end(words),
        }
    }

    fn asks_part(&self, part: &FormPart, words: &SharedWording) -> QuestionContent {
        let several = self.parts.len() > 1;
        let number = |n: usize| {
            if several {
                n.to_string()
            } else {
                String::new()
            }
        };
        let (n, count) = (number(self.at + 1), number(self.parts.len()));
        // The purpose of the form is stated once.
        let message = match self.at == 0 && !self.whole {
            true => closed(&self.message),
            false => String::new(),
        };
        let args = [
            ("message", message.as_str()),
            ("n", &n),
            ("count", &count),
            ("name", &closed(&part.name)),
            ("says", &closed(&part.description)),
            ("wants", &part.wants(words)),
        ];
        let mut asks = QuestionContent {
            question: first(words, "acp.form.part", &args),
            ..QuestionContent::default()
        };
        let mut offer = |offers: &[form_schema::OfferedValue]| {
            let numbered = offers.iter().enumerate();
            asks.choices
                .extend(numbered.map(|(at, it)| ((at + 1).to_string(), it.label.clone())));
        };
        match &part.kind {
            FormKind::Text { .. } => asks.kinds.push("freetext"),
            FormKind::Number { .. } => asks.kinds.push("numeric"),
            FormKind::YesNo => asks.kinds.push("yes_no"),
            FormKind::One(offers) | FormKind::Several { offers, .. } => {
                match offers.len() > form_schema::MOST_OFFERED {
                    true => asks.kinds.push("freetext"),
                    false => offer(offers),
                }
            }
        }
        asks.several = matches!(part.kind, FormKind::Several { .. }) && !asks.choices.is_empty();
        if asks.several {
            // If no key can pick them, the person types their numbers.
            asks.kinds.push("freetext");
        }
        asks.kinds.push("multiple_choice");
        if let Some(usual) = &part.usual {
            let usual = part.words(usual, &yes_no(words));
            let label = first(words, "acp.form.usual", &[("value", &usual)]);
            asks.choices.push((USUAL.to_owned(), label));
        }
        if !part.required {
            let label = first(words, "acp.form.without", &[]);
            asks.choices.push((WITHOUT.to_owned(), label));
        }
        for (value, key) in [(DECLINE, "acp.form.decline"), (CANCEL, "acp.form.cancel")] {
            asks.choices
                .push((value.to_owned(), first(words, key, &[])));
        }
        asks
    }

    fn asks_end(&self, words: &SharedWording) -> QuestionContent {
        let said: Vec<(String, String)> = self
            .parts
            .iter()
            .enumerate()
            .map(|(at, part)| {
                let value = self.values.get(&at);
                let value = value.map(|value| part.words(value, &yes_no(words)));
                let nothing = || first(words, "acp.form.nothing", &[]);
                (part.name.clone(), value.unwrap_or_else(nothing))
            })
            .collect();
        let all: Vec<String> = said
            .iter()
            .map(|(name, value)| first(words, "acp.form.said", &[("name", name), ("value", value)]))
            .collect();
        let mut labels = vec![first(words, "acp.form.send", &[])];
        labels.extend(
            said.iter()
                .map(|(name, _)| first(words, "acp.form.change", &[("name", name)])),
        );
        labels.push(first(words, "acp.form.decline", &[]));
        labels.push(first(words, "acp.form.cancel", &[]));
        let all = all.join("; ");
        QuestionContent::one_of(
            first(words, "acp.form.whole_form", &[("all", &all)]),
            labels,
        )
    }
}

impl FormPart {
    /// Describes what the part accepts, unless its choices show that.
    fn wants(&self, words: &SharedWording) -> String {
        let bounds = |key, least: Option<String>, most: Option<String>| {
            let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
            match least.is_empty() && most.is_empty() {
                true => String::new(),
                false => first(words, key, &[("least", &least), ("most", &most)]),
            }
        };
        let of = |bound: &Option<u64>| bound.map(|it| it.to_string());
        match &self.kind {
            FormKind::Text { length, format } => {
                let length = bounds("acp.form.length", of(&length.0), of(&length.1));
                match format {
                    form_schema::Format::Any => length,
                    form_schema::Format::Mail
                    | form_schema::Format::Address
                    | form_schema::Format::Day
                    | form_schema::Format::Moment => first(words, format.wanted(), &[]),
                }
            }
            FormKind::Number { range, .. } => bounds(
                "acp.form.range",
                range.0.map(|it| it.to_string()),
                range.1.map(|it| it.to_string()),
            ),
            FormKind::Several { count, .. } => {
                let count = bounds("acp.form.count", of(&count.0), of(&count.1));
                first(words, "acp.form.several", &[("count", &count)])
            }
            FormKind::YesNo | FormKind::One(_) => String::new(),
        }
    }
}

fn yes_no(words: &SharedWording) -> impl Fn(bool) -> String {
    |yes| first(words, if yes { "answer.yes" } else { "answer.no" }, &[])
}
