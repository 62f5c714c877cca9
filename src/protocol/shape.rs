//! What a field may hold, and the walk over an object by a table of fields.
//!
//! Responsibilities: saying of every field of a table what is wrong with its value. Not here: which
//! fields there are (`schema`), what a value means (`payload`).

use serde_json::{Map, Value};

use super::fields::kind_of;
use super::finding::{Findings, Rule};

/// Describes one field.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    required: bool,
    shape: Shape,
    section: Option<&'static str>,
}

/// Describes a field that must be there.
pub(super) const fn must(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        required: true,
        shape,
        section: None,
    }
}

/// Describes a field that may be there.
pub(super) const fn may(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        required: false,
        shape,
        section: None,
    }
}

impl Field {
    /// Names the section of the field where it is not the one of its type.
    pub(super) const fn section(mut self, section: &'static str) -> Self {
        self.section = Some(section);
        self
    }
}

/// Says what a field may hold. A `most` of 0 characters means that only 3.7 bounds it.
#[derive(Debug)]
pub(super) enum Shape {
    /// A text that says something.
    Text { most: usize },
    /// A text that may be empty.
    Free { most: usize },
    /// A text that should not be empty, by the prose alone.
    Said,
    /// A text of a certain form.
    Form(Form),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A text that should be a URI; the schemas only annotate that.
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
    /// Different texts that say something.
    Texts { each: usize, most: usize },
    /// Different texts of any kind.
    Words { least: usize, most: usize },
    /// Different texts of a form.
    Forms(Form, usize, usize),
    /// Texts of a form that may come twice.
    Chain(Form, usize),
    /// Different texts out of these, at least one.
    Kinds(&'static [&'static str]),
    /// Different objects with these fields only.
    Objects {
        each: &'static [Field],
        least: usize,
        most: usize,
    },
}

/// Names the form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `rpl_` and 1 to 64 letters or digits (6.2.1).
    ReplyToken,
    /// `call_` and 1 to 64 letters or digits.
    CallId,
    /// `out_` and 1 to 64 letters or digits.
    OutputId,
    /// A tool's name.
    Tool,
    /// A BCP 47 tag.
    Language,
    /// An ISO 15924 code.
    Script,
    /// A MIME type.
    ContentType,
    /// An error's code.
    ErrorCode,
    /// A cancellation's code.
    ReasonCode,
    /// A semantic version.
    Version,
}

impl Form {
    fn words(self) -> &'static str {
        match self {
            Self::ReplyToken => "rpl_ and 1 to 64 letters or digits",
            Self::CallId => "call_ and 1 to 64 letters or digits",
            Self::OutputId => "out_ and 1 to 64 letters or digits",
            Self::Tool => {
                "a letter or _ and up to 255 letters, digits, dots, hyphens or underscores"
            }
            Self::Language => "a BCP 47 language tag",
            Self::Script => "an ISO 15924 code such as Latn",
            Self::ContentType => "a MIME type such as text/plain",
            Self::ErrorCode => "2 to 64 capital letters, digits or underscores",
            Self::ReasonCode => "2 to 64 small letters, digits or underscores",
            Self::Version => "a semantic version such as 1.0.0",
        }
    }

    fn fits(self, text: &str) -> bool {
        match self {
            Self::ReplyToken => is_id(text, "rpl_"),
            Self::CallId => is_id(text, "call_"),
            Self::OutputId => is_id(text, "out_"),
            Self::Tool => {
                text.len() <= 256
                    && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && text
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
            }
            Self::Language => {
                let mut parts = text.split('-');
                let first = parts.next().unwrap_or_default();
                let short = |part: &str| (1..=8).contains(&part.len());
                short(first)
                    && first.bytes().all(|b| b.is_ascii_alphabetic())
                    && parts
                        .all(|part| short(part) && part.bytes().all(|b| b.is_ascii_alphanumeric()))
            }
            Self::Script => {
                text.len() == 4
                    && text.starts_with(|c: char| c.is_ascii_uppercase())
                    && text[1..].bytes().all(|b| b.is_ascii_lowercase())
            }
            Self::ContentType => {
                let part = |part: &str| {
                    part.starts_with(|c: char| c.is_ascii_alphabetic())
                        && part
                            .chars()
                            .all(|c| c.is_ascii_alphanumeric() || ".+_-".contains(c))
                };
                text.split_once('/')
                    .is_some_and(|(kind, of)| part(kind) && part(of))
            }
            Self::ErrorCode => is_code(text, |c| c.is_ascii_uppercase()),
            Self::ReasonCode => is_code(text, |c| c.is_ascii_lowercase()),
            Self::Version => is_version(text),
        }
    }
}

pub(super) fn is_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| {
        (1..=64).contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

fn is_code(text: &str, letter: fn(char) -> bool) -> bool {
    (2..=64).contains(&text.len())
        && text.starts_with(letter)
        && text
            .chars()
            .all(|c| letter(c) || c.is_ascii_digit() || c == '_')
}

fn is_version(text: &str) -> bool {
    let (numbers, rest) = text
        .split_once('-')
        .map_or((text, None), |(n, r)| (n, Some(r)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    numbers.split('.').count() == 3
        && numbers.split('.').all(digits)
        && rest.is_none_or(|rest| {
            !rest.is_empty()
                && rest
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || ".-".contains(c))
        })
}

/// Tells whether a text is a URI as far as its scheme and its characters go (RFC 3986).
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
                    "is missing",
                );
            }
            None => {}
        }
    }
}

/// Checks an object that may have no other fields than these.
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
                "is not allowed here",
            );
        }
    }
}

/// Checks `producer`, whose presence and kind earlier steps have seen to.
pub(super) fn check_producer(map: &Map<String, Value>, fields: &[Field], findings: &mut Findings) {
    check_closed(map, "producer", "3.2.6", fields, findings);
}

/// Checks one value of one field.
struct Walk<'a> {
    path: &'a str,
    section: &'static str,
    findings: &'a mut Findings,
}

impl Walk<'_> {
    fn find(&mut self, rule: Rule, problem: impl Into<String>) {
        self.findings.find(rule, self.section, self.path, problem);
    }

    fn wrong_type(&mut self, wanted: &str, value: &Value) {
        if value.is_null() {
            self.find(
                Rule::Null,
                format!("is null; it must be {wanted} or be left out"),
            );
        } else {
            self.find(
                Rule::WrongType,
                format!("must be {wanted}, not {}", kind_of(value)),
            );
        }
    }

    fn value(&mut self, value: &Value, shape: &Shape) {
        match shape {
            Shape::Text { .. }
            | Shape::Free { .. }
            | Shape::Said
            | Shape::Form(_)
            | Shape::OneOf(_)
            | Shape::Uri => match value {
                Value::String(text) => self.text(text, shape),
                other => self.wrong_type("a string", other),
            },
            Shape::Integer { least, most } => self.integer(value, *least, *most),
            Shape::Number { least, most } => match value.as_f64() {
                Some(number) if (*least..=*most).contains(&number) => {}
                Some(_) => self.find(Rule::OutOfRange, format!("must be {least} to {most}")),
                None => self.wrong_type("a number", value),
            },
            Shape::Boolean => {
                if !value.is_boolean() {
                    self.wrong_type("a boolean", value);
                }
            }
            Shape::Object => {
                if !value.is_object() {
                    self.wrong_type("an object", value);
                }
            }
            Shape::Inner(fields) => match value {
                Value::Object(map) => {
                    check_closed(map, self.path, self.section, fields, self.findings);
                }
                other => self.wrong_type("an object", other),
            },
            Shape::Texts { .. }
            | Shape::Words { .. }
            | Shape::Forms(..)
            | Shape::Chain(..)
            | Shape::Kinds(_)
            | Shape::Objects { .. } => match value {
                Value::Array(values) => self.list(values, shape),
                other => self.wrong_type("an array", other),
            },
        }
    }

    fn text(&mut self, text: &str, shape: &Shape) {
        match shape {
            Shape::Text { most } => {
                if text.is_empty() {
                    self.find(Rule::Empty, "is empty");
                }
                self.length(text, *most);
            }
            Shape::Free { most } => self.length(text, *most),
            Shape::Said => {
                if text.is_empty() {
                    self.find(Rule::EmptyText, "is there and empty");
                }
            }
            Shape::Form(form) => {
                if !form.fits(text) {
                    self.find(Rule::BadForm, format!("must be {}", form.words()));
                }
            }
            Shape::OneOf(words) => {
                if !words.contains(&text) {
                    self.find(Rule::UndefinedValue, format!("must be {}", either(words)));
                }
            }
            Shape::Uri => {
                if !is_uri(text) {
                    self.find(Rule::NoUri, "is no URI");
                }
            }
            Shape::Integer { .. }
            | Shape::Number { .. }
            | Shape::Boolean
            | Shape::Object
            | Shape::Inner(_)
            | Shape::Texts { .. }
            | Shape::Words { .. }
            | Shape::Forms(..)
            | Shape::Chain(..)
            | Shape::Kinds(_)
            | Shape::Objects { .. } => {}
        }
    }

    fn length(&mut self, text: &str, most: usize) {
        if most > 0 && text.len() > most && text.chars().count() > most {
            self.find(Rule::TooLong, format!("is longer than {most} characters"));
        }
    }

    fn integer(&mut self, value: &Value, least: u64, most: u64) {
        let range = |number: u64| (least..=most).contains(&number);
        let out = if most == u64::MAX {
            format!("must be {least} or more")
        } else {
            format!("must be {least} to {most}")
        };
        match value {
            Value::Number(number) => match number.as_u64() {
                Some(whole) => {
                    if whole > LARGEST_BARE {
                        self.findings.find(
                            Rule::BareLargeNumber,
                            "3.8",
                            self.path,
                            "is beyond 2^53 and must be written as a string",
                        );
                    }
                    if !range(whole) {
                        self.find(Rule::OutOfRange, out);
                    }
                }
                None => match number.as_f64() {
                    // 3.0 is a whole number in JSON, too.
                    Some(float) if float.fract() != 0.0 => {
                        self.find(Rule::WrongType, "must be a whole number");
                    }
                    Some(float) if float >= least as f64 && float <= most as f64 => {
                        if float > LARGEST_BARE as f64 {
                            self.findings.find(
                                Rule::BareLargeNumber,
                                "3.8",
                                self.path,
                                "is beyond 2^53 and must be written as a string",
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
                Ok(_) | Err(_) => self.find(
                    Rule::WrongType,
                    "must be a whole number; only one beyond 2^53 is written as a string (3.8)",
                ),
            },
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                self.wrong_type("a whole number", value);
            }
        }
    }

    fn list(&mut self, values: &[Value], shape: &Shape) {
        let (least, most, different) = match shape {
            Shape::Texts { most, .. } => (0, *most, true),
            Shape::Words { least, most } => (*least, *most, true),
            Shape::Forms(_, least, most) => (*least, *most, true),
            Shape::Chain(_, most) => (0, *most, false),
            Shape::Kinds(words) => (1, words.len(), true),
            Shape::Objects { least, most, .. } => (*least, *most, true),
            Shape::Text { .. }
            | Shape::Free { .. }
            | Shape::Said
            | Shape::Form(_)
            | Shape::OneOf(_)
            | Shape::Uri
            | Shape::Integer { .. }
            | Shape::Number { .. }
            | Shape::Boolean
            | Shape::Object
            | Shape::Inner(_) => return,
        };
        if values.len() < least {
            self.find(Rule::TooFew, format!("must have {least} or more entries"));
        }
        if values.len() > most {
            self.find(Rule::TooMany, format!("has more than {most} entries"));
        }
        // Only as many as are allowed are compared, so that the time stays bounded.
        let seen = &values[..values.len().min(MOST_COMPARED)];
        let repeated = |(at, value): (usize, &Value)| seen[..at].contains(value);
        if different && seen.iter().enumerate().any(repeated) {
            self.find(Rule::RepeatedEntry, "holds an entry twice");
        }
        for value in values.iter().take(MOST_COMPARED) {
            self.entry(value, shape);
        }
    }

    fn entry(&mut self, value: &Value, shape: &Shape) {
        match (shape, value) {
            (Shape::Texts { each, .. }, Value::String(text)) => {
                self.text(text, &Shape::Text { most: *each });
            }
            (Shape::Forms(form, ..) | Shape::Chain(form, _), Value::String(text)) => {
                self.text(text, &Shape::Form(*form));
            }
            (Shape::Kinds(words), Value::String(text)) => self.text(text, &Shape::OneOf(words)),
            (Shape::Words { .. }, Value::String(_)) => {}
            (Shape::Objects { each, .. }, Value::Object(map)) => {
                check_closed(map, self.path, self.section, each, self.findings);
            }
            (Shape::Objects { .. }, other) => self.entry_type("objects", other),
            (_, other) => self.entry_type("strings", other),
        }
    }

    fn entry_type(&mut self, wanted: &str, value: &Value) {
        self.find(
            Rule::WrongType,
            format!("must hold {wanted}, not {}", kind_of(value)),
        );
    }
}

/// The largest whole number that JSON may write as a number (3.8).
pub(super) const LARGEST_BARE: u64 = 1 << 53;

/// How many entries of a list are looked at one by one: the longest list that a schema allows.
const MOST_COMPARED: usize = 256;

/// Names the values that are allowed.
fn either(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}
