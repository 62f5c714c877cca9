//! Questions for words: what the agent asks the person, and what a tool server asks through it.
//!
//! Responsibilities: the fields, each asked as an AAEP question of its own, one after the other; the single answer that
//! they form. Not here: whether something may be done (`approvals`), when it is asked (`thread`).
//!
//! Mental model: the protocol wants one answer for all fields, so it is sent after the last one. If some fields are
//! required, the optional ones are left out, so that the person is asked nothing unnecessary.

use serde_json::{Map, Value, json};

use crate::SharedWording;
use crate::event_writer::{cut, short};
use crate::kit::call::first;
use crate::kit::members::text;
use crate::protocol::{Answer, AwaitingClarification, Choice, Response, ResponseKind};

/// How many fields are asked; Codex asks at most three, and a tool server's form has a handful.
const MOST_FIELDS: usize = 16;
/// How many choices a field may have: AAEP allows 32.
const MOST_CHOICES: usize = 28;
/// The longest name of a choice, in characters.
const LONGEST_LABEL: usize = 350;
/// The values of the choices that answer the whole form instead of a field.
const DECLINE: &str = "hearken:decline";
const CANCEL: &str = "hearken:cancel";

/// The sender of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormSender {
    /// The agent.
    Agent,
    /// A tool server.
    Server,
}

/// What a field accepts.
#[derive(Debug, Clone, PartialEq)]
enum FieldInput {
    /// Any text.
    Text,
    /// One of several values, and any other text if that is allowed.
    OneOf {
        /// The value and the label of each.
        choices: Vec<(String, String)>,
        /// Whether another text is accepted, too.
        other: bool,
        /// Whether the value is sent inside a list.
        listed: bool,
    },
    /// Yes or no.
    YesNo,
    /// A number.
    Number {
        /// Whether it must be an integer.
        is_integer: bool,
    },
    /// A secret, which is never typed where it would be spoken and recorded.
    Secret,
}

#[derive(Debug, Clone, PartialEq)]
struct FormField {
    name: String,
    question: String,
    takes: FieldInput,
}

/// A form: its fields, and the values given so far.
#[derive(Debug, Clone, PartialEq)]
pub struct CodexForm {
    by: FormSender,
    fields: Vec<FormField>,
    given: Vec<Value>,
}

/// What to do after an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum FormContinuation {
    /// Ask the next field.
    Next,
    /// Send this result.
    Send(String),
    /// Nothing: it does not answer this field.
    Nothing,
}

impl CodexForm {
    /// Parses the agent's questions.
    pub fn input(params: &Map<String, Value>, words: &SharedWording) -> Option<Self> {
        let all = params.get("questions").and_then(Value::as_array)?;
        let total = all.len();
        let field = |(at, question): (usize, &Map<String, Value>)| {
            let name = text(question, "id")?.to_owned();
            let said = |name: &str| text(question, name).filter(|text| !text.trim().is_empty());
            let asked = said("question").or_else(|| said("header"))?;
            let is = |name: &str| question.get(name) == Some(&Value::Bool(true));
            let options = question.get("options").and_then(Value::as_array);
            let options = options.into_iter().flatten().take(MOST_CHOICES);
            let options = options.filter_map(|option| {
                let option = option.as_object()?;
                let label = text(option, "label").filter(|label| !label.trim().is_empty())?;
                let more = text(option, "description").filter(|it| !it.trim().is_empty());
                let said = more.map_or_else(|| label.to_owned(), |more| format!("{label}: {more}"));
                Some((label.to_owned(), cut(&said, LONGEST_LABEL)))
            });
            let mut choices: Vec<(String, String)> = Vec::new();
            for (value, said) in options {
                if !choices.iter().any(|(known, _)| *known == value) {
                    choices.push((value, said));
                }
            }
            let mut asked = asked.to_owned();
            if choices.len() == 1 {
                // A single option is no choice: it is read out, and any answer is accepted.
                for (_, said) in choices.drain(..) {
                    asked = format!("{asked} {said}");
                }
            }
            Some(FormField {
                name,
                question: numbered(&asked, at, total, words),
                takes: match choices.is_empty() {
                    _ if is("isSecret") => FieldInput::Secret,
                    true => FieldInput::Text,
                    false => FieldInput::OneOf {
                        choices,
                        other: is("isOther"),
                        listed: false,
                    },
                },
            })
        };
        let fields = all.iter().filter_map(Value::as_object).enumerate();
        let fields: Vec<FormField> = fields.take(MOST_FIELDS).filter_map(field).collect();
        Self::of(FormSender::Agent, fields, total)
    }

    /// Parses a tool server's form.
    pub fn elicitation(params: &Map<String, Value>, words: &SharedWording) -> Option<Self> {
        let schema = params.get("requestedSchema").and_then(Value::as_object)?;
        let properties = schema.get("properties").and_then(Value::as_object)?;
        let needed = schema.get("required").and_then(Value::as_array);
        let needed: Vec<&str> = needed
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let asked = |name: &str| needed.is_empty() || needed.contains(&name);
        let asked: Vec<(&String, &Value)> =
            properties.iter().filter(|(name, _)| asked(name)).collect();
        let total = asked.len();
        let server = text(params, "serverName").unwrap_or_default();
        let message = text(params, "message").unwrap_or_default();
        let field = |(at, (name, property)): (usize, (&String, &Value))| {
            let property = property.as_object()?;
            let title = text(property, "title").unwrap_or(name);
            let args = [
                ("server", server),
                ("message", message),
                ("field", title),
                ("about", text(property, "description").unwrap_or_default()),
            ];
            let question = first(words, "codex.form.field", &args);
            Some(FormField {
                name: name.clone(),
                question: numbered(&question, at, total, words),
                takes: takes(property)?,
            })
        };
        let fields: Vec<FormField> = asked
            .into_iter()
            .enumerate()
            .take(MOST_FIELDS)
            .filter_map(field)
            .collect();
        Self::of(FormSender::Server, fields, total)
    }

    /// Builds a form if all its fields can be asked: an answer without one of them would be incomplete.
    fn of(by: FormSender, fields: Vec<FormField>, total: usize) -> Option<Self> {
        let whole = total > 0 && fields.len() == total;
        whole.then(|| Self {
            by,
            fields,
            given: Vec::new(),
        })
    }

    /// Returns AAEP's question for the next field. One for a secret accepts no answer here.
    pub fn question(&self, words: &SharedWording) -> Option<AwaitingClarification> {
        let field = self.fields.get(self.given.len())?;
        let mut choices: Vec<Choice> = Vec::new();
        let mut kinds: Vec<ResponseKind> = Vec::new();
        match &field.takes {
            FieldInput::Text => kinds.push(ResponseKind::Freetext),
            FieldInput::OneOf {
                choices: all,
                other,
                listed: _,
            } => {
                choices.extend(all.iter().map(|(value, label)| Choice::new(value, label)));
                kinds.push(ResponseKind::MultipleChoice);
                kinds.extend(other.then_some(ResponseKind::Freetext));
            }
            FieldInput::YesNo => kinds.push(ResponseKind::YesNo),
            FieldInput::Number { .. } => kinds.push(ResponseKind::Numeric),
            FieldInput::Secret => {
                let question = first(words, "codex.form.secret", &[("question", &field.question)]);
                return Some(AwaitingClarification {
                    question: short(&question),
                    ..AwaitingClarification::default()
                });
            }
        }
        match self.by {
            FormSender::Agent => {}
            FormSender::Server => {
                // A tool server may be refused.
                let say = |key: &str| first(words, key, &[]);
                choices.push(Choice::new(DECLINE, say("codex.form.decline")));
                choices.push(Choice::new(CANCEL, say("codex.form.cancel")));
                if !kinds.contains(&ResponseKind::MultipleChoice) {
                    kinds.push(ResponseKind::MultipleChoice);
                }
            }
        }
        Some(AwaitingClarification {
            question: short(&field.question),
            accepted_response_kinds: kinds,
            choices,
            ..AwaitingClarification::default()
        })
    }

    /// Applies an answer to the current field.
    pub fn answer(&mut self, answer: &Answer) -> FormContinuation {
        let (Answer::Response(response), Some(field)) = (answer, self.fields.get(self.given.len()))
        else {
            return FormContinuation::Nothing;
        };
        if let (FormSender::Server, Response::Text(text)) = (self.by, response) {
            let action = match text.as_str() {
                DECLINE => Some("decline"),
                CANCEL => Some("cancel"),
                _ => None,
            };
            if let Some(action) = action {
                let answer = json!({"action": action, "content": null, "_meta": null});
                return FormContinuation::Send(answer.to_string());
            }
        }
        let value = match (&field.takes, response) {
            (FieldInput::OneOf { listed: true, .. }, Response::Text(text)) => json!([text]),
            (FieldInput::Text | FieldInput::OneOf { .. }, Response::Text(text)) => json!(text),
            (FieldInput::YesNo, Response::YesNo(yes)) => json!(yes),
            (FieldInput::Number { is_integer: true }, Response::Number(n)) if n.fract() == 0.0 => {
                json!(*n as i64)
            }
            (FieldInput::Number { is_integer: false }, Response::Number(n)) => json!(n),
            (
                FieldInput::Text
                | FieldInput::OneOf { .. }
                | FieldInput::YesNo
                | FieldInput::Number { .. }
                | FieldInput::Secret,
                Response::Text(_) | Response::YesNo(_) | Response::Number(_),
            ) => return FormContinuation::Nothing,
        };
        self.given.push(value);
        if self.given.len() < self.fields.len() {
            return FormContinuation::Next;
        }
        let all = self.fields.iter().zip(&self.given);
        let answer = match self.by {
            FormSender::Agent => {
                let all =
                    all.map(|(field, value)| (field.name.clone(), json!({"answers": [value]})));
                json!({"answers": all.collect::<Map<String, Value>>()})
            }
            FormSender::Server => {
                let all = all.map(|(field, value)| (field.name.clone(), value.clone()));
                json!({"action": "accept", "content": all.collect::<Map<String, Value>>(), "_meta": null})
            }
        };
        FormContinuation::Send(answer.to_string())
    }
}

/// Numbers a question if there are several.
fn numbered(question: &str, at: usize, total: usize, words: &SharedWording) -> String {
    if total < 2 {
        return question.to_owned();
    }
    let (n, all) = ((at + 1).to_string(), total.to_string());
    let args = [
        ("n", n.as_str()),
        ("all", all.as_str()),
        ("question", question),
    ];
    first(words, "codex.form.of", &args)
}

/// Parses what a property accepts; `None` if that can't be asked.
fn takes(property: &Map<String, Value>) -> Option<FieldInput> {
    let list = |value: Option<&Value>, names: Option<&Value>| -> Option<Vec<(String, String)>> {
        let values = value?.as_array()?;
        let names = names.and_then(Value::as_array);
        let one = |(at, value): (usize, &Value)| {
            let (value, name) = match value {
                Value::Object(map) => (text(map, "const")?, text(map, "title")),
                value => {
                    let name = names
                        .and_then(|names| names.get(at))
                        .and_then(Value::as_str);
                    (value.as_str()?, name)
                }
            };
            let name = name.filter(|name| !name.trim().is_empty());
            let said = cut(name.unwrap_or(value), LONGEST_LABEL);
            (!value.trim().is_empty()).then(|| (value.to_owned(), said))
        };
        let all: Vec<(String, String)> = values.iter().enumerate().filter_map(one).collect();
        ((1..=MOST_CHOICES).contains(&all.len()) && all.len() == values.len()).then_some(all)
    };
    let one_of = |choices: Vec<(String, String)>, listed: bool| FieldInput::OneOf {
        choices,
        other: false,
        listed,
    };
    match text(property, "type") {
        Some("boolean") => Some(FieldInput::YesNo),
        Some("integer") => Some(FieldInput::Number { is_integer: true }),
        Some("number") => Some(FieldInput::Number { is_integer: false }),
        Some("array") => {
            let items = property.get("items")?;
            let choices = list(items.get("enum").or_else(|| items.get("anyOf")), None)?;
            Some(one_of(choices, true))
        }
        Some("string") => {
            let values = property.get("enum").or_else(|| property.get("oneOf"));
            match values {
                None => Some(FieldInput::Text),
                values => list(values, property.get("enumNames")).map(|it| one_of(it, false)),
            }
        }
        Some(_) | None => None,
    }
}
