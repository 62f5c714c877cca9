//! Reads typed fields from a JSON object, leniently.
//!
//! Responsibilities: values within their bounds; what exceeds a bound is left out and noted. Not here: what is wrong
//! with a value (`field_rules`).

use serde_json::{Map, Value};

use super::event::{Summary, SummaryLevel};
use super::finding::{Findings, Rule};
use super::language_tag::Variant;
use super::problem::Problem;
use super::variants::{QuestionText, tag_of, variants};

/// The longest name that is kept whole, in bytes; the chapters allow 69 for an id.
const LONGEST_NAME: usize = 256;

/// The most entries of a list or object from the wire that are kept; an omission is noted.
const MOST_ENTRIES: usize = 256;

/// The most languages that are kept of a list of choices: more than any person lists.
const MOST_LISTS: usize = 32;

/// Access to one JSON object, field by field.
pub(super) struct Fields<'a, 'f> {
    map: &'a Map<String, Value>,
    path: &'static str,
    section: &'static str,
    findings: &'f mut Findings,
}

impl<'a, 'f> Fields<'a, 'f> {
    pub(super) fn new(
        map: &'a Map<String, Value>,
        path: &'static str,
        section: &'static str,
        findings: &'f mut Findings,
    ) -> Self {
        Self {
            map,
            path,
            section,
            findings,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.map.get(name).is_some_and(|value| !value.is_null())
    }

    /// Notes that part of a field was left out.
    fn shortened(&mut self, name: &str, problem: Problem) {
        let field = if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        };
        self.findings
            .find(Rule::Shortened, self.section, &field, problem);
    }

    /// Reads a text; an empty one counts as absent. A number or a boolean is read as its text.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        match self.map.get(name)? {
            Value::String(text) => (!text.is_empty()).then(|| text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(boolean) => Some(boolean.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Reads a name: an identifier or a tool's name. A name far longer than any real one is kept as its
    /// beginning and a checksum, so that names stay distinct and memory bounded.
    pub(super) fn name(&mut self, field: &str) -> Option<String> {
        let text = self.text(field)?;
        Some(self.cut(field, text))
    }

    /// Shortens a name that is longer than any real one.
    pub(super) fn cut(&mut self, field: &str, text: String) -> String {
        if text.len() <= LONGEST_NAME {
            return text;
        }
        self.shortened(field, Problem::NameShortened { most: LONGEST_NAME });
        let end = (0..=LONGEST_NAME)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        // FNV-1a: it only has to distinguish names, and nothing is secret.
        let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("{}~{sum:016x}", &text[..end])
    }

    /// Reads a whole number; a number in a string is also accepted (3.8 asks for strings beyond 2^53).
    pub(super) fn integer(&mut self, name: &str) -> Option<u64> {
        match self.map.get(name)? {
            Value::Number(number) => number.as_u64().or_else(|| {
                number
                    .as_f64()
                    .filter(|float| *float >= 0.0 && float.fract() == 0.0 && *float < 9.1e15)
                    .map(|float| float as u64)
            }),
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Reads a number.
    pub(super) fn number(&mut self, name: &str) -> Option<f64> {
        self.map.get(name)?.as_f64()
    }

    /// Reads a boolean.
    pub(super) fn boolean(&mut self, name: &str) -> Option<bool> {
        match self.map.get(name)? {
            Value::Bool(boolean) => Some(*boolean),
            Value::String(text) if text == "true" => Some(true),
            Value::String(text) if text == "false" => Some(false),
            Value::Null
            | Value::String(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        }
    }

    /// Reads an object.
    pub(super) fn object(&mut self, name: &str) -> Option<&'a Map<String, Value>> {
        self.map.get(name)?.as_object()
    }

    /// Reads an array.
    pub(super) fn array(&mut self, name: &str) -> Option<&'a [Value]> {
        let values = self.map.get(name)?.as_array()?;
        if values.len() > MOST_ENTRIES {
            self.shortened(name, Problem::EntriesLeftOut { most: MOST_ENTRIES });
        }
        Some(&values[..values.len().min(MOST_ENTRIES)])
    }

    /// Reads an array of texts.
    pub(super) fn texts(&mut self, name: &str) -> Vec<String> {
        self.array(name)
            .unwrap_or_default()
            .iter()
            .filter_map(|value| value.as_str().map(str::to_owned))
            .collect()
    }

    /// Reads an object as pairs of name and text, for context that is shown and not interpreted.
    pub(super) fn context(&mut self, name: &str) -> Vec<(String, String)> {
        let Some(map) = self.object(name) else {
            return Vec::new();
        };
        if map.len() > MOST_ENTRIES {
            self.shortened(name, Problem::FieldsLeftOut { most: MOST_ENTRIES });
        }
        let entries = map.iter().flat_map(|(key, value)| match value {
            // A tool's arguments are often in a separate object.
            Value::Object(inner) if !inner.is_empty() => {
                let inner = inner.iter();
                inner
                    .map(|(name, value)| (format!("{key}.{name}"), plain(value)))
                    .collect()
            }
            value => vec![(key.clone(), plain(value))],
        });
        entries.take(MOST_ENTRIES).collect()
    }

    /// Reads the variants of a question's text in other languages (11.5.1).
    pub(super) fn variants(&self, part: QuestionText) -> Vec<Variant> {
        variants(self.map, part.field())
    }

    /// Reads the language variants of a list of texts, if they have the same length as the list.
    pub(super) fn lists(&self, name: &str, length: usize) -> Vec<(String, Vec<String>)> {
        let lists = self.map.iter().filter_map(|(field, value)| {
            let tag = tag_of(field, name)?;
            let texts = value.as_array()?.iter().map(Value::as_str);
            let texts: Option<Vec<&str>> = texts.collect();
            let texts = texts.filter(|texts| texts.len() == length)?;
            Some((tag, texts.into_iter().map(str::to_owned).collect()))
        });
        lists.take(MOST_LISTS).collect()
    }

    /// Reads the summaries with their language variants.
    pub(super) fn summary(&mut self) -> Summary {
        let mut summary = Summary {
            terse: self.text("summary_terse"),
            normal: self.text("summary_normal"),
            detailed: self.text("summary_detailed"),
            variants: Vec::new(),
        };
        for (key, value) in self.map {
            let levels = [
                ("summary_terse_", SummaryLevel::Terse),
                ("summary_normal_", SummaryLevel::Normal),
                ("summary_detailed_", SummaryLevel::Detailed),
            ];
            for (prefix, level) in levels {
                if let (Some(tag), Value::String(text)) = (key.strip_prefix(prefix), value)
                    && !text.is_empty()
                    && summary.variants.len() < MOST_ENTRIES
                {
                    summary
                        .variants
                        .push((level, tag.replace('_', "-"), text.clone()));
                }
            }
        }
        summary
    }
}

/// Turns a JSON value into one line of plain text.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(boolean) => boolean.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| format!("{key}: {}", plain(value)))
            .collect::<Vec<_>>()
            .join(", "),
    }
}
