//! A permission that the agent requests: the question that it becomes, and the answers to it.
//!
//! Responsibilities: the fields of the question, the answers to the letter. Not here: when it is asked, and what is known
//! of its call (`turn`).

use serde_json::{Map, Value, json};

use crate::dialect::rpc::{self, Id};
use crate::dialect::written;
use crate::dialect::{Out, Over, Words};

use super::call::Call;
use super::options::Choice;

/// Holds a request for a permission, or for an answer in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    /// The agent's id of the request.
    pub id: Id,
    /// The call that it is for, by AAEP's name; empty where it is for none.
    pub call: String,
    /// What is asked in words, as fields of a clarification; absent where it is a permission.
    pub clarifies: Option<Map<String, Value>>,
    /// What else is known of it, to be read in full.
    pub context: Vec<(String, String)>,
    /// What can be answered.
    pub choices: Vec<Choice>,
    /// Under which token it is asked; empty before.
    pub token: String,
    /// The answer that is on its way.
    pub sending: Option<Sending>,
}

/// Holds an answer of the person that is on its way.
#[derive(Debug, Clone, PartialEq)]
pub struct Sending {
    /// The number of the person's answer.
    pub request: u64,
    /// Whether it allows the call.
    pub allows: bool,
    /// Why it was rejected, in the person's words.
    pub reason: Option<String>,
}

impl Permission {
    /// Gives what it is asked as, with its fields.
    pub fn asks(&self, call: &Call, words: &Words) -> (&'static str, Map<String, Value>) {
        match &self.clarifies {
            None => ("awaiting.confirmation", self.question(call, words)),
            Some(fields) => {
                let mut fields = fields.clone();
                fields.insert("reply_token".to_owned(), self.token.as_str().into());
                ("awaiting.clarification", fields)
            }
        }
    }

    /// Tells whether anything can be answered.
    pub fn takes_answers(&self) -> bool {
        match &self.clarifies {
            Some(fields) => fields.contains_key("accepted_response_kinds"),
            None => !self.choices.is_empty(),
        }
    }

    /// Says why its question is over.
    pub fn over(&self, how: Over) -> Out {
        Out::Over {
            token: self.token.clone(),
            how,
        }
    }

    /// Gives the fields of the question.
    fn question(&self, call: &Call, words: &Words) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| {
            fields.insert(name.to_owned(), value);
        };
        put("action", call.action(words).into());
        put("tool", call.tool().into());
        put("tool_call_id", call.key.as_str().into());
        put("reply_token", self.token.as_str().into());
        let decisions: Vec<&str> = self
            .choices
            .iter()
            .map(|choice| choice.decision.as_str())
            .collect();
        put("allowed_replies", decisions.into());
        let mut more = call.more();
        for (key, value) in &self.context {
            let mut name = key.clone();
            // What the tool is called with may be called the same, and is something else.
            while more
                .get(&name)
                .is_some_and(|other| other.as_str() != Some(value.as_str()))
            {
                name = format!("request_{name}");
            }
            more.insert(name, value.as_str().into());
        }
        put("extra_context", Value::Object(more));
        put(written::ATTACHED, call.attached(true));
        fields
    }

    /// Writes the answer that selects an option.
    pub fn selected(&self, choice: &Choice) -> String {
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": choice.option}});
        rpc::result(&self.id, &outcome.to_string())
    }

    /// Writes the answer that a stopped turn calls for.
    pub fn cancelled(&self) -> String {
        rpc::result(
            &self.id,
            &json!({"outcome": {"outcome": "cancelled"}}).to_string(),
        )
    }
}
