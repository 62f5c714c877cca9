//! A form that an agent wants filled in: what its schema asks for, and whether an answer fits.
//!
//! Responsibilities: parsing a schema within bounds, checking the answer to one part. Not here: asking it (`forms`).
//!
//! # Mental model
//! A form is asked part by part, and each part accepts one kind of answer. A form that can't be asked completely is not
//! asked at all: an answer with a part missing would state in the person's name what they never saw.

use serde_json::{Map, Value};

use crate::event_writer::{self, cut};
use crate::link::{Phrase, PhraseArg};
use crate::protocol::Response;

use super::members::text;
use super::standalone_question::MOST_CHOICES;

/// How many parts a form may have: the final check offers each of them, and three more choices.
pub const MOST_PARTS: usize = 29;
/// How many values of a part are offered by number, beside four choices of ours; if there are more, one is typed.
pub const MOST_OFFERED: usize = MOST_CHOICES - 4;
/// How many values a part may offer; each is checked.
const MOST_VALUES: usize = 1000;
/// The longest name, in characters.
const LONGEST: usize = 200;
/// The longest text about a part, in characters.
const LONGEST_TEXT: usize = 1000;
/// The longest value that is returned, in characters; nobody would choose a longer one.
const LONGEST_VALUE: usize = 4000;

/// One part of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormPart {
    /// The agent's name for the part.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The agent's description.
    pub description: String,
    /// Whether the form can't be sent without it.
    pub required: bool,
    /// The agent's default value.
    pub usual: Option<Value>,
    /// What it accepts.
    pub kind: FormKind,
}

/// What a part accepts.
#[derive(Debug, Clone, PartialEq)]
pub enum FormKind {
    /// A text.
    Text {
        /// The least and the most characters.
        length: (Option<u64>, Option<u64>),
        /// The format that it must have, if one is given.
        format: Format,
    },
    /// A number.
    Number {
        /// Whether it must be an integer.
        is_integer: bool,
        /// The least and the greatest value.
        range: (Option<f64>, Option<f64>),
    },
    /// Yes or no.
    YesNo,
    /// One of several values.
    One(Vec<OfferedValue>),
    /// Several of the values.
    Several {
        /// The values.
        offers: Vec<OfferedValue>,
        /// The least and the most values.
        count: (Option<u64>, Option<u64>),
    },
}

/// The format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Any text, or a format that only the agent can check.
    Any,
    /// An email address.
    Mail,
    /// A URI.
    Address,
    /// A date.
    Day,
    /// A date and time.
    Moment,
}

/// A value that a part offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedValue {
    /// The value that is returned.
    pub value: String,
    /// The label that is heard.
    pub label: String,
}

/// Parses a schema; `None` if any of it can't be asked.
pub fn read(schema: &Map<String, Value>) -> Option<Vec<FormPart>> {
    let properties = schema.get("properties").and_then(Value::as_object)?;
    let required: Vec<&str> = match schema.get("required") {
        None | Some(Value::Null) => Vec::new(),
        Some(list) => {
            let list = list.as_array()?.iter().map(Value::as_str);
            list.collect::<Option<Vec<&str>>>()?
        }
    };
    let known = |name: &&str| properties.contains_key(*name);
    if properties.is_empty() || properties.len() > MOST_PARTS || !required.iter().all(known) {
        return None;
    }
    let parts = properties.iter().map(|(id, property)| {
        let needed = required.contains(&id.as_str());
        part(id, property.as_object()?, needed)
    });
    parts.collect()
}

fn part(id: &str, map: &Map<String, Value>, required: bool) -> Option<FormPart> {
    if id.chars().count() > LONGEST {
        return None;
    }
    let bounds = |least: &str, most: &str| {
        let number = |name: &str| map.get(name).and_then(Value::as_u64);
        (number(least), number(most))
    };
    let kind = match text(map, "type")? {
        "string" => match offers(map, "oneOf").or_else(|| offers(map, "enum")) {
            Some(offers) => FormKind::One(offers?),
            None => FormKind::Text {
                length: bounds("minLength", "maxLength"),
                format: match text(map, "format") {
                    Some("email") => Format::Mail,
                    Some("uri") => Format::Address,
                    Some("date") => Format::Day,
                    Some("date-time") => Format::Moment,
                    Some(_) | None => Format::Any,
                },
            },
        },
        kind @ ("number" | "integer") => {
            let number = |name: &str| map.get(name).and_then(Value::as_f64);
            FormKind::Number {
                is_integer: kind == "integer",
                range: (number("minimum"), number("maximum")),
            }
        }
        "boolean" => FormKind::YesNo,
        "array" => {
            let items = map.get("items").and_then(Value::as_object)?;
            let titled = offers(items, "anyOf").or_else(|| offers(items, "oneOf"));
            FormKind::Several {
                offers: titled.or_else(|| offers(items, "enum"))??,
                count: bounds("minItems", "maxItems"),
            }
        }
        _ => return None,
    };
    let name = text(map, "title").filter(|title| !title.trim().is_empty());
    let mut part = FormPart {
        id: id.to_owned(),
        name: one_line(name.unwrap_or(id), LONGEST),
        description: one_line(text(map, "description").unwrap_or_default(), LONGEST_TEXT),
        required,
        usual: None,
        kind,
    };
    // A default has to satisfy the same checks as the person's answer.
    let usual = map.get("default").filter(|value| part.allows(value));
    part.usual = usual.cloned();
    Some(part)
}

fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&words.join(" "), most)
}

/// Parses the values that a part offers; the inner `None` is a list that can't be asked.
fn offers(map: &Map<String, Value>, name: &str) -> Option<Option<Vec<OfferedValue>>> {
    let list = map.get(name).filter(|list| !list.is_null())?;
    let Some(list) = list
        .as_array()
        .filter(|it| !it.is_empty() && it.len() <= MOST_VALUES)
    else {
        return Some(None);
    };
    let offers = list.iter().map(|entry| {
        let (value, label) = match entry {
            Value::String(value) => (value.as_str(), value.as_str()),
            Value::Object(entry) => (text(entry, "const")?, text(entry, "title")?),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
        };
        let short = value.chars().count() <= LONGEST_VALUE;
        short.then(|| OfferedValue {
            value: value.to_owned(),
            label: one_line(label, LONGEST),
        })
    });
    Some(offers.collect())
}

/// What is wrong with an answer, as a phrase.
pub type FieldFault = Phrase;

impl FormPart {
    /// Returns whether the part accepts a value.
    fn allows(&self, value: &Value) -> bool {
        match (&self.kind, value) {
            (FormKind::Text { length, .. }, Value::String(text)) => within(length, text),
            (
                FormKind::Number {
                    is_integer: whole,
                    range,
                },
                Value::Number(number),
            ) => {
                (number.is_i64() || number.is_u64() || !whole)
                    && number.as_f64().is_some_and(|it| is_in(range, it))
            }
            (FormKind::YesNo, Value::Bool(_)) => true,
            (FormKind::One(offers), Value::String(text)) => {
                offers.iter().any(|it| it.value == *text)
            }
            (FormKind::Several { offers, count }, Value::Array(list)) => {
                let known = |value: &Value| offers.iter().any(|it| *value == it.value.as_str());
                counts(count, list.len()) && list.iter().all(known)
            }
            (
                FormKind::Text { .. }
                | FormKind::Number { .. }
                | FormKind::YesNo
                | FormKind::One(_)
                | FormKind::Several { .. },
                _,
            ) => false,
        }
    }

    /// Returns the value for an answer from the person: a text, a number, yes or no. A choice is given by its number,
    /// from 1.
    ///
    /// # Errors
    /// What is wrong with the answer.
    pub fn take(&self, answer: &Response) -> Result<Value, FieldFault> {
        let wrong = |key| Phrase::new(key);
        match (&self.kind, answer) {
            (FormKind::Text { length, format }, answer) => {
                let text = match answer {
                    Response::Text(text) => text.clone(),
                    Response::Number(number) => number.to_string(),
                    Response::YesNo(yes) => yes.to_string(),
                };
                if !within(length, &text) {
                    return Err(bounded("acp.form.length", length.0, length.1));
                }
                match format.fits(&text) {
                    true => Ok(Value::String(text)),
                    false => Err(wrong(format.wanted())),
                }
            }
            (
                FormKind::Number {
                    is_integer: whole,
                    range,
                },
                Response::Number(number),
            ) => {
                if !is_in(range, *number) {
                    return Err(bounded("acp.form.range", range.0, range.1));
                }
                match (whole, whole_number(*number)) {
                    (true, None) => Err(wrong("acp.form.whole")),
                    (_, Some(number)) => Ok(number.into()),
                    (false, None) => {
                        let number = serde_json::Number::from_f64(*number);
                        number.map(Value::Number).ok_or(wrong("acp.form.whole"))
                    }
                }
            }
            (FormKind::YesNo, Response::YesNo(yes)) => Ok((*yes).into()),
            (FormKind::One(offers), Response::Text(text)) => {
                let found = chosen(offers, text).ok_or(wrong("acp.form.none_of_them"))?;
                Ok(found.value.as_str().into())
            }
            (FormKind::Several { offers, count }, Response::Text(text)) => {
                let mut found: Vec<&OfferedValue> = Vec::new();
                for one in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
                    let offer = chosen(offers, one).ok_or(wrong("acp.form.none_of_them"))?;
                    if !found.contains(&offer) {
                        found.push(offer);
                    }
                }
                match counts(count, found.len()) {
                    true => Ok(found.iter().map(|offer| offer.value.as_str()).collect()),
                    false => Err(bounded("acp.form.count", count.0, count.1)),
                }
            }
            (
                FormKind::Number { .. }
                | FormKind::YesNo
                | FormKind::One(_)
                | FormKind::Several { .. },
                Response::Text(_) | Response::YesNo(_) | Response::Number(_),
            ) => Err(wrong("acp.form.none_of_them")),
        }
    }

    /// Words a value for people.
    pub fn words(&self, value: &Value, yes_no: &dyn Fn(bool) -> String) -> String {
        let label = |value: &Value| {
            let offers = match &self.kind {
                FormKind::One(offers) | FormKind::Several { offers, .. } => offers.as_slice(),
                FormKind::Text { .. } | FormKind::Number { .. } | FormKind::YesNo => &[],
            };
            let found = offers.iter().find(|it| *value == it.value.as_str());
            found.map(|it| it.label.clone())
        };
        match value {
            Value::Bool(yes) => yes_no(*yes),
            Value::Array(list) => {
                let list: Vec<String> = list.iter().filter_map(label).collect();
                list.join(", ")
            }
            Value::String(text) => {
                label(value).unwrap_or_else(|| event_writer::cut(text, LONGEST_TEXT))
            }
            Value::Null | Value::Number(_) | Value::Object(_) => value.to_string(),
        }
    }
}

impl Format {
    /// Returns whether a text has this format, as far as can be checked here.
    fn fits(self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Mail => text.split_once('@').is_some_and(|(name, host)| {
                !name.is_empty() && !host.is_empty() && !text.contains(char::is_whitespace)
            }),
            Self::Address => text.split_once(':').is_some_and(|(scheme, rest)| {
                let plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
                scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                    && scheme.chars().all(plain)
                    && !rest.is_empty()
                    && !text.contains(char::is_whitespace)
            }),
            Self::Day => {
                text.parse::<jiff::civil::Date>().is_ok() && text.len() == "2026-01-31".len()
            }
            Self::Moment => text.parse::<jiff::Timestamp>().is_ok(),
        }
    }

    /// Returns the key of the phrase that describes the format.
    pub fn wanted(self) -> &'static str {
        match self {
            Self::Any => "acp.form.any",
            Self::Mail => "acp.form.mail",
            Self::Address => "acp.form.address",
            Self::Day => "acp.form.day",
            Self::Moment => "acp.form.moment",
        }
    }
}

/// Returns the phrase for the bounds of an answer.
pub fn bounded(
    key: &'static str,
    least: Option<impl ToString>,
    most: Option<impl ToString>,
) -> Phrase {
    let word = |bound: Option<String>| PhraseArg::Own(bound.unwrap_or_default());
    Phrase::new(key)
        .with("least", word(least.map(|it| it.to_string())))
        .with("most", word(most.map(|it| it.to_string())))
}

fn chosen<'a>(offers: &'a [OfferedValue], text: &str) -> Option<&'a OfferedValue> {
    // A number picks a value if values are offered by number; otherwise, it may be the name of one.
    let by_place = text.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
    let by_place = by_place.filter(|_| offers.len() <= MOST_OFFERED);
    let by_name = || {
        let is = |it: &&OfferedValue| it.value == text || it.label.eq_ignore_ascii_case(text);
        offers.iter().find(is)
    };
    by_place.and_then(|at| offers.get(at)).or_else(by_name)
}

fn within((least, most): &(Option<u64>, Option<u64>), text: &str) -> bool {
    counts(&(*least, *most), text.chars().count()) && text.chars().count() <= LONGEST_VALUE
}

fn counts((least, most): &(Option<u64>, Option<u64>), count: usize) -> bool {
    let count = count as u64;
    least.is_none_or(|least| count >= least) && most.is_none_or(|most| count <= most)
}

fn is_in((least, most): &(Option<f64>, Option<f64>), number: f64) -> bool {
    number.is_finite()
        && least.is_none_or(|least| number >= least)
        && most.is_none_or(|most| number <= most)
}

/// Returns a number without a fraction as an integer; `None` if digits would be lost.
fn whole_number(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}
