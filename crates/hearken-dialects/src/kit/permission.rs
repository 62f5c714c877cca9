//! A permission that the agent requests: the question that it becomes, and the answers to it.
//!
//! Responsibilities: the fields of the question, the exact answers. Not here: when it is asked, and what is known of
//! its call (`turn`).

use serde_json::{Map, Value, json};

use crate::protocol::{Deed, RejectOnly};
use crate::rpc::{self, Id};
use crate::written;
use crate::{Out, Over, Words};

use super::call::Call;
use super::options::Choice;

/// A request for a permission, or for an answer in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    /// The agent's id of the request.
    pub id: Id,
    /// AAEP's id of the call that it is for; empty if it is for none.
    pub call: String,
    /// The fields of a clarification, for a question in words; `None` for a permission.
    pub clarifies: Option<Map<String, Value>>,
    /// What else is known of it, to be read in full.
    pub context: Vec<(String, String)>,
    /// All possible answers.
    pub choices: Vec<Choice>,
    /// The answers that are offered as it is asked now.
    pub offered: Vec<Choice>,
    /// Whether the request can be cancelled if no choice rejects it.
    pub can_cancel: bool,
    /// The token of the question; empty until it is asked.
    pub token: String,
    /// The fields asked under the token; empty until it is asked.
    pub asked: Map<String, Value>,
    /// AAEP's id of the call that it was last asked about.
    pub asked_about: Option<String>,
    /// The names of what has changed since it was last asked.
    pub changed: Vec<String>,
    /// The reason why it can only be rejected, if there is one.
    pub reject_only: Option<RejectOnly>,
    /// What the other request with the same id asks, or the options that share one id; empty if there are none.
    pub other: String,
    /// Whether its answers are easy to confuse, so that one step is never enough.
    pub is_doubtful: bool,
    /// The answer under way.
    pub sending: Option<Sending>,
}

/// An answer from the person under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Sending {
    /// The number of the person's answer.
    pub request: u64,
    /// Whether it allows the call.
    pub allows: bool,
    /// The reason for a rejection, in the person's words.
    pub reason: Option<String>,
}

impl Permission {
    /// Creates a request for a permission.
    pub fn consent(
        id: Id,
        call: &str,
        choices: Vec<Choice>,
        context: Vec<(String, String)>,
    ) -> Self {
        Self {
            id,
            call: call.to_owned(),
            clarifies: None,
            context,
            choices,
            offered: Vec::new(),
            can_cancel: false,
            token: String::new(),
            asked: Map::new(),
            asked_about: None,
            changed: Vec::new(),
            reject_only: None,
            other: String::new(),
            is_doubtful: false,
            sending: None,
        }
    }

    /// Creates a request for an answer in words, with the fields of its clarification.
    pub fn words(id: Id, fields: Map<String, Value>) -> Self {
        Self {
            clarifies: Some(fields),
            ..Self::consent(id, "", Vec::new(), Vec::new())
        }
    }

    /// Notes what is wrong with the options: some share one id, or have the same name.
    pub fn note_offer(&mut self, shared: &[String], has_namesakes: bool) {
        if !shared.is_empty() {
            self.reject_only = Some(RejectOnly::SharedOption);
            self.other = shared.join(", ");
        }
        self.is_doubtful |= has_namesakes;
    }

    /// Returns the type of event that asks it, and its fields.
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

    /// Returns whether it can be answered at all.
    pub fn takes_answers(&self) -> bool {
        match &self.clarifies {
            Some(fields) => fields.contains_key("accepted_response_kinds"),
            None => !self.offered.is_empty(),
        }
    }

    /// Returns the output that reports its question as over.
    pub fn over(&self, how: Over) -> Out {
        Out::Over {
            token: self.token.clone(),
            how,
        }
    }

    /// Returns the fields of the question.
    fn question(&self, call: &Call, words: &Words) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| {
            fields.insert(name.to_owned(), value);
        };
        put("action", call.action(words).into());
        put("tool", call.tool().into());
        put("tool_call_id", call.key.as_str().into());
        put("reply_token", self.token.as_str().into());
        let reject_only = self.only(call);
        let offer = self.offer(call);
        let decisions: Vec<&str> = offer
            .iter()
            .map(|choice| choice.decision.as_str())
            .collect();
        put("allowed_replies", decisions.into());
        let mut more = call.more();
        for (key, value) in &self.context {
            let mut name = key.clone();
            // An input of the tool may have the same name, and is something else.
            while more
                .get(&name)
                .is_some_and(|other| other.as_str() != Some(value.as_str()))
            {
                name = format!("request_{name}");
            }
            more.insert(name, value.as_str().into());
        }
        put("extra_context", Value::Object(more));
        let mut attached = call.attached(true);
        let deed = call.deed();
        attached.deed = Some(Deed {
            changed: self.changed.clone(),
            reject_only,
            other: self.other.clone(),
            is_cut: deed.is_cut || self.is_doubtful,
            ..deed
        });
        put(written::ATTACHED, Value::Object(attached.write()));
        fields
    }

    /// Returns the reason why a call can only be rejected, if there is one.
    fn only(&self, call: &Call) -> Option<RejectOnly> {
        self.reject_only
            .or(call.is_silent().then_some(RejectOnly::Silent))
            .or(call.is_too_much().then_some(RejectOnly::TooMuch))
    }

    /// Returns the answers that are possible for a call as it is now.
    fn offer(&self, call: &Call) -> Vec<Choice> {
        let only = self.only(call);
        let choices = self
            .choices
            .iter()
            .filter(|choice| only.is_none() || choice.rejects);
        let mut offer: Vec<Choice> = choices.cloned().collect();
        let rejects = offer.iter().any(|choice| choice.decision == "reject");
        if only.is_some() && self.can_cancel && !rejects {
            offer.push(Choice::cancel());
        }
        offer
    }

    /// Records the question as asked, to detect later changes.
    pub fn note_asked(&mut self, call: &Call, fields: &Map<String, Value>) {
        self.asked = comparable(fields);
        self.asked_about = Some(call.key.clone());
        self.offered = self.offer(call);
    }

    /// Returns the names of what differs between the call as asked and as it is now.
    pub fn differences(&self, call: &Call, words: &Words) -> Vec<String> {
        if self.clarifies.is_some() {
            return Vec::new();
        }
        let (before, now) = (&self.asked, comparable(&self.question(call, words)));
        let mut names: Vec<String> = Vec::new();
        for field in ["action", "tool", "allowed_replies"] {
            if before.get(field) != now.get(field) {
                names.push(match field {
                    "action" if call.has_command() => "command".to_owned(),
                    "action" | "tool" => "action".to_owned(),
                    _ => "answers".to_owned(),
                });
            }
        }
        let inner = |fields: &Map<String, Value>| {
            fields
                .get("extra_context")
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default()
        };
        let (then, current) = (inner(before), inner(&now));
        let all = then.keys().chain(current.keys());
        names.extend(
            all.filter(|name| then.get(*name) != current.get(*name))
                .cloned(),
        );
        if before.get(written::ATTACHED) != now.get(written::ATTACHED) && names.is_empty() {
            names.push("content".to_owned());
        }
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// Writes the answer that selects an option.
    pub fn selected(&self, choice: &Choice) -> String {
        if choice.cancels {
            return self.cancelled();
        }
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": choice.option}});
        rpc::result(&self.id, &outcome.to_string())
    }

    /// Writes the answer that stopping a turn requires.
    pub fn cancelled(&self) -> String {
        rpc::result(
            &self.id,
            &json!({"outcome": {"outcome": "cancelled"}}).to_string(),
        )
    }
}

/// Returns the fields of a question without those that only belong to the act of asking.
fn comparable(fields: &Map<String, Value>) -> Map<String, Value> {
    let mut fields = fields.clone();
    fields.remove("reply_token");
    let deed = fields
        .get_mut(written::ATTACHED)
        .and_then(|attached| attached.get_mut("deed"));
    if let Some(deed) = deed.and_then(Value::as_object_mut) {
        deed.remove("changed");
    }
    fields
}
