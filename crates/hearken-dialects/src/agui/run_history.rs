//! The conversation that is sent back with the next run.
//!
//! Responsibilities: building the messages from a run's events, adopting the agent's own copy of them, and bounding
//! their size. Not here: which of them are announced (`run_events`).
//!
//! Mental model: an endpoint may remember nothing, so every run carries all messages. They grow as events arrive; a
//! MESSAGES_SNAPSHOT from the agent replaces them. When a run breaks off, its calls without a result are removed,
//! because most models refuse a conversation in which a result is missing.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::kit::members::text;

/// How many messages are kept, and how many bytes: a day's conversation, and a fraction of what a request may contain.
/// An endpoint that remembers nothing forgets what is dropped.
const MOST: usize = 512;
const MOST_BYTES: usize = 1024 * 1024;
/// How far to reduce beyond the bounds, as 1/`PART` of them, so that messages are not dropped with every run.
const PART: usize = 4;
/// The longest text of one message, in bytes.
const LONGEST: usize = 256 * 1024;

/// The messages of a conversation.
#[derive(Debug, Clone, Default)]
pub struct History {
    messages: Vec<Value>,
    /// Their approximate size, in bytes.
    bytes: usize,
    /// Whether a text was too long to be kept in full.
    is_cut: bool,
}

impl History {
    /// Returns the messages.
    pub fn messages(&self) -> &[Value] {
        &self.messages
    }

    /// Reserves room, and returns whether there was enough: an endless run grows to at most twice the bounds.
    fn has_room(&mut self, more: usize) -> bool {
        let room = self.messages.len() < 2 * MOST && self.bytes + more <= 2 * MOST_BYTES;
        match room {
            true => self.bytes += more,
            false => self.is_cut = true,
        }
        room
    }

    fn measure(&mut self) {
        self.bytes = self.messages.iter().map(|it| it.to_string().len()).sum();
    }

    fn by_name(&mut self, name: &str) -> Option<&mut Map<String, Value>> {
        let all = self.messages.iter_mut().rev();
        all.filter_map(Value::as_object_mut)
            .find(|it| text(it, "id") == Some(name))
    }

    /// Returns whether a message has this name.
    pub fn has(&self, name: &str) -> bool {
        let names = self
            .messages
            .iter()
            .filter_map(|it| text(it.as_object()?, "id"));
        names.into_iter().any(|id| id == name)
    }

    /// Adds a message of the person.
    pub fn asks(&mut self, name: &str, words: &str) {
        self.messages
            .push(json!({"id": name, "role": "user", "content": words}));
    }

    /// Removes a message of the person that was not delivered.
    pub fn takes_back(&mut self, name: &str) {
        self.messages
            .retain(|it| it.get("id").and_then(Value::as_str) != Some(name));
    }

    /// Appends to a message or a thought of the agent.
    pub fn says(&mut self, name: &str, role: &str, more: &str) {
        if !self.has_room(more.len()) {
            return;
        }
        if self.by_name(name).is_none() {
            self.messages
                .push(json!({"id": name, "role": role, "content": ""}));
        }
        let Some(message) = self.by_name(name) else {
            return;
        };
        let mut cut = false;
        match message.get_mut("content") {
            Some(Value::String(content)) => match content.len() + more.len() <= LONGEST {
                true => content.push_str(more),
                false => cut = true,
            },
            Some(_) => {}
            None => {
                message.insert("content".to_owned(), more.into());
            }
        }
        self.is_cut |= cut;
    }

    /// Adds a tool call.
    pub fn calls(&mut self, call: &str, tool: &str, message: Option<&str>) {
        if self.call(call).is_some() || !self.has_room(call.len() + tool.len()) {
            return;
        }
        let entry =
            json!({"id": call, "type": "function", "function": {"name": tool, "arguments": ""}});
        let last = self
            .messages
            .last()
            .and_then(|it| text(it.as_object()?, "id"));
        let same = message.is_some() && message == last;
        if !same {
            let name = message.filter(|name| !self.has(name)).unwrap_or(call);
            self.messages.push(json!({"id": name, "role": "assistant"}));
        }
        let Some(message) = self.messages.last_mut().and_then(Value::as_object_mut) else {
            return;
        };
        let calls = message.entry("toolCalls").or_insert_with(|| json!([]));
        if let Some(calls) = calls.as_array_mut() {
            calls.push(entry);
        }
    }

    fn call(&mut self, call: &str) -> Option<&mut Value> {
        let all = self.messages.iter_mut().rev();
        let all = all.filter_map(|it| it.get_mut("toolCalls")?.as_array_mut());
        let is = |it: &&mut Value| it.get("id").and_then(Value::as_str) == Some(call);
        all.flatten().find(is)
    }

    /// Appends to the arguments of a call.
    pub fn called_with(&mut self, call: &str, more: &str) {
        if !self.has_room(more.len()) {
            return;
        }
        let mut cut = false;
        let given = self
            .call(call)
            .and_then(|it| it.pointer_mut("/function/arguments"));
        if let Some(Value::String(given)) = given {
            match given.len() + more.len() <= LONGEST {
                true => given.push_str(more),
                false => cut = true,
            }
        }
        self.is_cut |= cut;
    }

    /// Adds the result of a call.
    pub fn brought(&mut self, name: &str, call: &str, content: &Value) {
        let has = |it: &Value| it.get("toolCallId").and_then(Value::as_str) == Some(call);
        let bytes = content.to_string().len();
        if self.messages.iter().any(has) || !self.has_room(bytes) {
            return;
        }
        let content = match content {
            Value::String(_) | Value::Array(_) => content.clone(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "".into(),
        };
        let message = json!({"id": name, "role": "tool", "toolCallId": call, "content": content});
        self.messages.push(message);
    }

    /// Keeps what a provider wants returned with a message or a call.
    pub fn sealed(&mut self, of: &str, value: &str) {
        if value.len() > LONGEST || !self.has_room(value.len()) {
            self.is_cut = true;
            return;
        }
        let key = || "encryptedValue".to_owned();
        if let Some(message) = self.by_name(of) {
            message.insert(key(), value.into());
        } else if let Some(call) = self.call(of).and_then(Value::as_object_mut) {
            call.insert(key(), value.into());
        }
    }

    /// Adopts the agent's own copy of the conversation; anything that is not a message is left out.
    pub fn is(&mut self, messages: Vec<Value>) {
        let named = |it: &Value| it.get("id").is_some_and(Value::is_string);
        let role = |it: &Value| it.get("role").is_some_and(Value::is_string);
        self.messages = messages;
        self.messages.retain(|it| named(it) && role(it));
        self.measure();
    }

    /// Removes the calls that will never have a result.
    pub fn breaks_off(&mut self) {
        let results = self
            .messages
            .iter()
            .filter_map(|it| it.get("toolCallId")?.as_str());
        let results: BTreeSet<String> = results.map(str::to_owned).collect();
        for message in self.messages.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(Value::Array(calls)) = message.get_mut("toolCalls") {
                calls.retain(|it| {
                    it.get("id")
                        .and_then(Value::as_str)
                        .is_some_and(|id| results.contains(id))
                });
                if calls.is_empty() {
                    message.remove("toolCalls");
                }
            }
        }
        let empty = |it: &Value| {
            let is_agents = it.get("role").and_then(Value::as_str) == Some("assistant");
            let says = it
                .get("content")
                .and_then(Value::as_str)
                .is_some_and(|text| !text.is_empty());
            is_agents && !says && it.get("toolCalls").is_none()
        };
        self.messages.retain(|it| !empty(it));
    }

    /// Drops the oldest messages to fit the bounds, never keeping an answer without its prompt; returns how many.
    pub fn bound(&mut self) -> usize {
        let bytes = |it: &Value| it.to_string().len();
        self.measure();
        let mut all = self.bytes;
        if self.messages.len() <= MOST && all <= MOST_BYTES {
            return 0;
        }
        let (most, most_bytes) = (MOST - MOST / PART, MOST_BYTES - MOST_BYTES / PART);
        let is_persons = |it: &Value| it.get("role").and_then(Value::as_str) == Some("user");
        let last = self.messages.iter().rposition(is_persons).unwrap_or(0);
        let mut out = 0;
        for (at, message) in self.messages.iter().enumerate().take(last) {
            let fits = self.messages.len() - at <= most && all <= most_bytes;
            // The conversation must begin with a message of the person.
            if fits && is_persons(message) {
                break;
            }
            all -= bytes(message);
            out = at + 1;
        }
        self.messages.drain(..out);
        self.measure();
        out
    }

    /// Returns, once, whether something was too long to be kept in full.
    pub fn was_cut(&mut self) -> bool {
        std::mem::take(&mut self.is_cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_become_messages_as_the_protocol_has_them() {
        let mut history = History::default();
        history.asks("u", "go");
        history.says("m", "assistant", "I ");
        history.says("m", "assistant", "look.");
        history.calls("c", "find", Some("m"));
        history.called_with("c", "{\"a\"");
        history.called_with("c", ":1}");
        history.calls("d", "find", Some("m"));
        history.brought("r", "c", &json!("one"));
        history.brought("r", "c", &json!("one"));
        history.calls("e", "find", Some("m"));
        let call = |id: &str, given: &str| json!({"id": id, "type": "function", "function": {"name": "find", "arguments": given}});
        let wanted = json!([
            {"id": "u", "role": "user", "content": "go"},
            {"id": "m", "role": "assistant", "content": "I look.", "toolCalls": [call("c", "{\"a\":1}"), call("d", "")]},
            {"id": "r", "role": "tool", "toolCallId": "c", "content": "one"},
            {"id": "e", "role": "assistant", "toolCalls": [call("e", "")]},
        ]);
        assert_eq!(json!(history.messages()), wanted);
        history.breaks_off();
        let left = json!([
            {"id": "u", "role": "user", "content": "go"},
            {"id": "m", "role": "assistant", "content": "I look.", "toolCalls": [call("c", "{\"a\":1}")]},
            {"id": "r", "role": "tool", "toolCallId": "c", "content": "one"},
        ]);
        assert_eq!(json!(history.messages()), left);
    }

    #[test]
    fn what_is_kept_is_bounded_and_begins_with_a_persons_words() {
        let mut history = History::default();
        for n in 0..MOST - 1 {
            history.asks(&format!("u{n}"), "words");
            history.says(&format!("m{n}"), "assistant", "words");
        }
        let out = history.bound();
        assert!(out > MOST, "{out}");
        assert_eq!(history.messages().len(), 2 * MOST - 2 - out);
        assert_eq!(history.messages()[0]["role"], "user");
        assert_eq!(history.bound(), 0);
        for n in 0..8 {
            history.says(&format!("long{n}"), "assistant", &"x".repeat(LONGEST));
            history.says(&format!("long{n}"), "assistant", "x");
        }
        assert!(history.was_cut() && !history.was_cut());
        history.asks("last", "words");
        assert!(history.bound() > 0);
        let bytes: usize = history
            .messages()
            .iter()
            .map(|it| it.to_string().len())
            .sum();
        assert!(bytes <= MOST_BYTES, "{bytes}");
        assert_eq!(
            history.messages().last().map(|it| it["id"].clone()),
            Some("last".into())
        );
    }
}
