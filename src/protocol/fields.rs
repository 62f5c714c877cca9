//! Reads typed fields out of a JSON object and notes what is wrong with them.

use serde_json::{Map, Value};

use super::event::{Level, Summary};
use super::finding::{Finding, Severity};

/// The longest text that 3.7 recommends, in bytes; longer ones are kept and noted.
const LONGEST_TEXT: usize = 16 * 1024;

/// The longest name that is kept whole, in bytes; the chapters allow 69 for an id.
const LONGEST_NAME: usize = 256;

/// How many entries of a list or object from the wire are kept; the rest is noted as left out.
const MOST_ENTRIES: usize = 256;

/// Gives access to one JSON object, field by field, and collects findings.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    path: &'a str,
    section: &'static str,
    findings: &'a mut Vec<Finding>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(
        map: &'a Map<String, Value>,
        path: &'a str,
        section: &'static str,
        findings: &'a mut Vec<Finding>,
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

    pub(super) fn find(&mut self, severity: Severity, name: &str, problem: impl Into<String>) {
        let field = if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        };
        self.findings.push(Finding {
            severity,
            field,
            problem: problem.into(),
            section: self.section,
        });
    }

    fn wrong_type(&mut self, name: &str, wanted: &str, got: &Value) {
        self.find(
            Severity::Error,
            name,
            format!("must be {wanted}, not {}", kind_of(got)),
        );
    }

    /// Reads a text; an empty one counts as absent.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        match self.map.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if text.is_empty() => None,
            Some(Value::String(text)) => {
                if text.len() > LONGEST_TEXT {
                    self.find(Severity::Warning, name, "is longer than 16 KiB");
                }
                Some(text.clone())
            }
            Some(other) => {
                let other = other.clone();
                self.wrong_type(name, "a string", &other);
                // A number or a boolean still says something; an object does not.
                match other {
                    Value::Number(number) => Some(number.to_string()),
                    Value::Bool(boolean) => Some(boolean.to_string()),
                    Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
                }
            }
        }
    }

    /// Reads a name: an identifier or a tool's name. One that is far longer than any real one is kept
    /// by its beginning and a checksum, so that names stay apart and memory stays bounded.
    pub(super) fn name(&mut self, field: &str) -> Option<String> {
        let text = self.text(field)?;
        Some(self.shortened(field, text))
    }

    /// Reads a name that must be there.
    pub(super) fn required_name(&mut self, field: &str) -> Option<String> {
        let text = self.required_text(field)?;
        Some(self.shortened(field, text))
    }

    fn shortened(&mut self, field: &str, text: String) -> String {
        if text.len() <= LONGEST_NAME {
            return text;
        }
        self.find(
            Severity::Warning,
            field,
            "is longer than 256 bytes and is shortened",
        );
        let end = (0..=LONGEST_NAME)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        // FNV-1a: names are told apart, nothing is secret.
        let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("{}~{sum:016x}", &text[..end])
    }

    /// Reads a text that must be there.
    pub(super) fn required_text(&mut self, name: &str) -> Option<String> {
        if !self.has(name) {
            self.find(Severity::Error, name, "is missing");
            return None;
        }
        let text = self.text(name);
        if text.is_none() && self.map.get(name).is_some_and(Value::is_string) {
            self.find(Severity::Error, name, "is empty");
        }
        text
    }

    /// Reads a whole number; numbers in strings are taken too (3.8 asks for that beyond 2^53).
    pub(super) fn integer(&mut self, name: &str) -> Option<u64> {
        let value = self.map.get(name)?.clone();
        let number = match &value {
            Value::Null => return None,
            Value::Number(number) => number.as_u64().or_else(|| {
                number
                    .as_f64()
                    .filter(|float| *float >= 0.0 && float.fract() == 0.0 && *float < 9.1e15)
                    .map(|float| float as u64)
            }),
            Value::String(text) => text.trim().parse().ok(),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        match (&value, number) {
            (Value::Number(_), Some(number)) if number > 1 << 53 => {
                self.find(
                    Severity::Warning,
                    name,
                    "is beyond 2^53 and should be a string",
                );
            }
            (Value::String(_), Some(number)) if number <= 1 << 53 => {
                self.find(Severity::Warning, name, "is a number written as a string");
            }
            (_, None) => self.wrong_type(name, "a whole number of 0 or more", &value),
            _ => {}
        }
        number
    }

    /// Reads a number.
    pub(super) fn number(&mut self, name: &str) -> Option<f64> {
        let value = self.map.get(name)?.clone();
        match &value {
            Value::Null => None,
            Value::Number(number) => number.as_f64(),
            Value::String(_) | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                self.wrong_type(name, "a number", &value);
                None
            }
        }
    }

    /// Reads a boolean.
    pub(super) fn boolean(&mut self, name: &str) -> Option<bool> {
        let value = self.map.get(name)?.clone();
        match &value {
            Value::Null => None,
            Value::Bool(boolean) => Some(*boolean),
            Value::String(text) if text == "true" || text == "false" => {
                self.wrong_type(name, "a boolean", &value);
                Some(text == "true")
            }
            Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                self.wrong_type(name, "a boolean", &value);
                None
            }
        }
    }

    /// Reads an object.
    pub(super) fn object(&mut self, name: &str) -> Option<&'a Map<String, Value>> {
        match self.map.get(name)? {
            Value::Null => None,
            Value::Object(map) => Some(map),
            other => {
                let other = other.clone();
                self.wrong_type(name, "an object", &other);
                None
            }
        }
    }

    /// Reads an array.
    pub(super) fn array(&mut self, name: &str) -> Option<&'a [Value]> {
        match self.map.get(name)? {
            Value::Null => None,
            Value::Array(values) => {
                if values.len() > MOST_ENTRIES {
                    self.find(
                        Severity::Warning,
                        name,
                        format!("has more than {MOST_ENTRIES} entries; the rest is left out"),
                    );
                }
                Some(&values[..values.len().min(MOST_ENTRIES)])
            }
            other => {
                let other = other.clone();
                self.wrong_type(name, "an array", &other);
                None
            }
        }
    }

    /// Reads an array of texts.
    pub(super) fn texts(&mut self, name: &str) -> Vec<String> {
        let Some(values) = self.array(name) else {
            return Vec::new();
        };
        let mut texts = Vec::with_capacity(values.len());
        for value in values {
            match value {
                Value::String(text) => texts.push(text.clone()),
                other => self.wrong_type(name, "an array of strings", other),
            }
        }
        texts
    }

    /// Reads an object as names and texts, for context that is shown and not interpreted.
    pub(super) fn context(&mut self, name: &str) -> Vec<(String, String)> {
        let Some(map) = self.object(name) else {
            return Vec::new();
        };
        if map.len() > MOST_ENTRIES {
            self.find(
                Severity::Warning,
                name,
                format!("has more than {MOST_ENTRIES} fields; the rest is left out"),
            );
        }
        map.iter()
            .take(MOST_ENTRIES)
            .map(|(key, value)| (key.clone(), plain(value)))
            .collect()
    }

    /// Reads the summaries with their language variants.
    pub(super) fn summary(&mut self, required: bool) -> Summary {
        let normal = if required {
            self.required_text("summary_normal")
        } else {
            self.text("summary_normal")
        };
        let mut summary = Summary {
            terse: self.text("summary_terse"),
            normal,
            detailed: self.text("summary_detailed"),
            variants: Vec::new(),
        };
        for (key, value) in self.map {
            let levels = [
                ("summary_terse_", Level::Terse),
                ("summary_normal_", Level::Normal),
                ("summary_detailed_", Level::Detailed),
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

/// Says what kind of JSON value this is, for findings.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
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
