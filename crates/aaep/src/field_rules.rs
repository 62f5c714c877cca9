//! The values that a field may hold, and the check of an object against a table of fields.
//!
//! Responsibilities: reporting what is wrong with the value of each field of a table. Not here:
//! which fields exist (`schema`), what a value means (`payload`).

use serde_json::{Map, Value};

use super::finding::{Findings, Rule};
use super::problem::{JsonKind, Problem};
use super::text_forms::TextForm;

/// One field of a table.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    required: bool,
    shape: FieldShape,
    section: Option<&'static str>,
}

/// Returns a required field.
pub(super) const fn must(name: &'static str, shape: FieldShape) -> Field {
    Field {
        name,
        required: true,
        shape,
        section: None,
    }
}

/// Returns an optional field.
pub(super) const fn may(name: &'static str, shape: FieldShape) -> Field {
    Field {
        name,
        required: false,
        shape,
        section: None,
    }
}

impl Field {
    /// Sets the section of the field if it differs from that of its type.
    pub(super) const fn section(mut self, section: &'static str) -> Self {
        self.section = Some(section);
        self
    }
}

/// The values that a field may hold. A `most` of 0 characters means that only 3.7 bounds it.
#[derive(Debug)]
pub(super) enum FieldShape {
    /// A text that must not be empty.
    Text { most: usize },
    /// A text that may be empty.
    Free { most: usize },
    /// A text that should not be empty, according to the prose alone.
    Said,
    /// A text of a certain form.
    Form(TextForm),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A text that should be a URI; the schemas only annotate this.
    Uri,
    /// A whole number.
    Integer { least: u64, most: u64 },
    /// A number.
    Number { least: f64, most: f64 },
    /// A boolean.
    Boolean,
    /// Any object.
    Object,
    /// An object with these fields only.
    Inner(&'static [Field]),
    /// Distinct texts, none of them empty.
    Texts { each: usize, most: usize },
    /// Distinct texts of any kind.
    Words { least: usize, most: usize },
    /// Distinct texts of a form.
    Forms(TextForm, usize, usize),
    /// Texts of a form, repeats allowed.
    Chain(TextForm, usize),
    /// Distinct texts from this list, at least one.
    Kinds(&'static [&'static str]),
    /// Distinct objects with these fields only.
    Objects {
        each: &'static [Field],
        least: usize,
        most: usize,
    },
}

/// Returns whether a text is a URI, judged by its scheme and its characters (RFC 3986).
fn is_uri(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
            && !rest.is_empty()
            && rest
                .chars()
                .all(|c| c.is_ascii_graphic() && !"\"<>\\^`{|}".contains(c))
    })
}

/// Joins the path of an object and the name of a field.
fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// Checks the fields of one object.
pub(super) fn check(
    map: &Map<String, Value>,
    path: &str,
    section: &'static str,
    fields: &[Field],
    findings: &mut Findings,
) {
    for field in fields {
        let section = field.section.unwrap_or(section);
        match map.get(field.name) {
            Some(value) => {
                Walk {
                    path: &join(path, field.name),
                    section,
                    findings,
                }
                .value(value, &field.shape);
            }
            None if field.required => {
                findings.find(
                    Rule::Missing,
                    section,
                    &join(path, field.name),
                    Problem::Missing,
                );
            }
            None => {}
        }
    }
}

/// Checks an object that may have no fields other than these.
fn check_closed(
    map: &Map<String, Value>,
    path: &str,
    section: &'static str,
    fields: &[Field],
    findings: &mut Findings,
) {
    check(map, path, section, fields, findings);
    for name in map.keys() {
        if !fields.iter().any(|field| field.name == name) {
            findings.find(
                Rule::UnexpectedField,
                section,
                &join(path, name),
                Problem::NotAllowedHere,
            );
        }
    }
}

/// Checks `producer`, whose presence and kind earlier steps have checked.
pub(super) fn check_producer(map: &Map<String, Value>, fields: &[Field], findings: &mut Findings) {
    check_closed(map, "producer", "3.2.6", fields, findings);
}

/// The check of one value of one field.
struct Walk<'a> {
    path: &'a str,
    section: &'static str,
    findings: &'a mut Findings,
}

impl Walk<'_> {
    fn find(&mut self, rule: Rule, problem: Problem) {
        self.findings.find(rule, self.section, self.path, problem);
    }

    fn wrong_type(&mut self, wanted: JsonKind, value: &Value) {
        if value.is_null() {
            self.find(Rule::Null, Problem::NullOrAbsent { wanted });
        } else {
            self.find(
                Rule::WrongType,
                Problem::WrongKind {
                    wanted,
                    found: JsonKind::of(value),
                },
            );
        }
    }

    fn value(&mut self, value: &Value, shape: &FieldShape) {
        match shape {
            FieldShape::Text { .. }
            | FieldShape::Free { .. }
            | FieldShape::Said
            | FieldShape::Form(_)
            | FieldShape::OneOf(_)
            | FieldShape::Uri => match value {
                Value::String(text) => self.text(text, shape),
                other => self.wrong_type(JsonKind::String, other),
            },
            FieldShape::Integer { least, most } => self.integer(value, *least, *most),
            FieldShape::Number { least, most } => match value.as_f64() {
                Some(number) if (*least..=*most).contains(&number) => {}
                Some(_) => self.find(
                    Rule::OutOfRange,
                    Problem::Range {
                        least: least.to_string(),
                        most: most.to_string(),
                    },
                ),
                None => self.wrong_type(JsonKind::Number, value),
            },
            FieldShape::Boolean => {
                if !value.is_boolean() {
                    self.wrong_type(JsonKind::Boolean, value);
                }
            }
            FieldShape::Object => {
                if !value.is_object() {
                    self.wrong_type(JsonKind::Object, value);
                }
            }
            FieldShape::Inner(fields) => match value {
                Value::Object(map) => {
                    check_closed(map, self.path, self.section, fields, self.findings);
                }
                other => self.wrong_type(JsonKind::Object, other),
            },
            FieldShape::Texts { .. }
            | FieldShape::Words { .. }
            | FieldShape::Forms(..)
            | FieldShape::Chain(..)
            | FieldShape::Kinds(_)
            | FieldShape::Objects { .. } => match value {
                Value::Array(values) => self.list(values, shape),
                other => self.wrong_type(JsonKind::Array, other),
            },
        }
    }

    fn text(&mut self, text: &str, shape: &FieldShape) {
        match shape {
            FieldShape::Text { most } => {
                if text.is_empty() {
                    self.find(Rule::Empty, Problem::Empty);
                }
                self.length(text, *most);
            }
            FieldShape::Free { most } => self.length(text, *most),
            FieldShape::Said => {
                if text.is_empty() {
                    self.find(Rule::EmptyText, Problem::ThereAndEmpty);
                }
            }
            FieldShape::Form(form) => {
                if !form.fits(text) {
                    self.find(Rule::BadForm, Problem::BadForm { form: *form });
                }
            }
            FieldShape::OneOf(words) => {
                if !words.contains(&text) {
                    self.find(Rule::UndefinedValue, Problem::OneOf { words });
                }
            }
            FieldShape::Uri => {
                if !is_uri(text) {
                    self.find(Rule::NoUri, Problem::NoUri);
                }
            }
            FieldShape::Integer { .. }
            | FieldShape::Number { .. }
            | FieldShape::Boolean
            | FieldShape::Object
            | FieldShape::Inner(_)
            | FieldShape::Texts { .. }
            | FieldShape::Words { .. }
            | FieldShape::Forms(..)
            | FieldShape::Chain(..)
            | FieldShape::Kinds(_)
            | FieldShape::Objects { .. } => {}
        }
    }

    fn length(&mut self, text: &str, most: usize) {
        if most > 0 && text.len() > most && text.chars().count() > most {
            self.find(Rule::TooLong, Problem::LongerThan { most });
        }
    }

    fn integer(&mut self, value: &Value, least: u64, most: u64) {
        let range = |number: u64| (least..=most).contains(&number);
        let out = if most == u64::MAX {
            Problem::AtLeast { least }
        } else {
            Problem::Range {
                least: least.to_string(),
                most: most.to_string(),
            }
        };
        match value {
            Value::Number(number) => match number.as_u64() {
                Some(whole) => {
                    if whole > LARGEST_BARE {
                        self.findings.find(
                            Rule::BareLargeNumber,
                            "3.8",
                            self.path,
                            Problem::BareLarge,
                        );
                    }
                    if !range(whole) {
                        self.find(Rule::OutOfRange, out);
                    }
                }
                None => match number.as_f64() {
                    // In JSON, 3.0 is also a whole number.
                    Some(float) if float.fract() != 0.0 => {
                        self.find(Rule::WrongType, Problem::NotWhole);
                    }
                    Some(float) if float >= least as f64 && float <= most as f64 => {
                        if float > LARGEST_BARE as f64 {
                            self.findings.find(
                                Rule::BareLargeNumber,
                                "3.8",
                                self.path,
                                Problem::BareLarge,
                            );
                        }
                    }
                    Some(_) | None => self.find(Rule::OutOfRange, out),
                },
            },
            Value::String(text) => match text.parse::<u64>() {
                Ok(number) if number > LARGEST_BARE => {
                    if !range(number) {
                        self.find(Rule::OutOfRange, out);
                    }
                }
                Ok(_) | Err(_) => self.find(Rule::WrongType, Problem::WholeInText),
            },
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                self.wrong_type(JsonKind::WholeNumber, value);
            }
        }
    }

    fn list(&mut self, values: &[Value], shape: &FieldShape) {
        let (least, most, different) = match shape {
            FieldShape::Texts { most, .. } => (0, *most, true),
            FieldShape::Words { least, most } => (*least, *most, true),
            FieldShape::Forms(_, least, most) => (*least, *most, true),
            FieldShape::Chain(_, most) => (0, *most, false),
            FieldShape::Kinds(words) => (1, words.len(), true),
            FieldShape::Objects { least, most, .. } => (*least, *most, true),
            FieldShape::Text { .. }
            | FieldShape::Free { .. }
            | FieldShape::Said
            | FieldShape::Form(_)
            | FieldShape::OneOf(_)
            | FieldShape::Uri
            | FieldShape::Integer { .. }
            | FieldShape::Number { .. }
            | FieldShape::Boolean
            | FieldShape::Object
            | FieldShape::Inner(_) => return,
        };
        if values.len() < least {
            self.find(Rule::TooFew, Problem::FewEntries { least });
        }
        if values.len() > most {
            self.find(Rule::TooMany, Problem::ManyEntries { most });
        }
        // Only the allowed number of values is compared, so that the time stays bounded.
        let seen = &values[..values.len().min(MOST_COMPARED)];
        let repeated = |(at, value): (usize, &Value)| seen[..at].contains(value);
        if different && seen.iter().enumerate().any(repeated) {
            self.find(Rule::RepeatedEntry, Problem::EntryTwice);
        }
        for value in values.iter().take(MOST_COMPARED) {
            self.entry(value, shape);
        }
    }

    fn entry(&mut self, value: &Value, shape: &FieldShape) {
        match (shape, value) {
            (FieldShape::Texts { each, .. }, Value::String(text)) => {
                self.text(text, &FieldShape::Text { most: *each });
            }
            (FieldShape::Forms(form, ..) | FieldShape::Chain(form, _), Value::String(text)) => {
                self.text(text, &FieldShape::Form(*form));
            }
            (FieldShape::Kinds(words), Value::String(text)) => {
                self.text(text, &FieldShape::OneOf(words))
            }
            (FieldShape::Words { .. }, Value::String(_)) => {}
            (FieldShape::Objects { each, .. }, Value::Object(map)) => {
                check_closed(map, self.path, self.section, each, self.findings);
            }
            (FieldShape::Objects { .. }, other) => self.entry_type(JsonKind::Objects, other),
            (_, other) => self.entry_type(JsonKind::Strings, other),
        }
    }

    fn entry_type(&mut self, wanted: JsonKind, value: &Value) {
        self.find(
            Rule::WrongType,
            Problem::WrongEntries {
                wanted,
                found: JsonKind::of(value),
            },
        );
    }
}

/// The largest whole number that JSON may write as a number (3.8).
pub(super) const LARGEST_BARE: u64 = 1 << 53;

/// The most entries of a list that are checked one by one: the longest list that a schema allows.
const MOST_COMPARED: usize = 256;
