//! What a task wants from a person, as AAEP questions: an answer in words, or a sign-in.
//!
//! Responsibilities: the question for each, and the address to sign in at. Not here: when to ask (`task`), and the
//! outcome of the answer (`answers`).
//!
//! Mental model: the protocol asks with a message attached to a state, and accepts any message as the answer. A sign-in
//! becomes a handoff to the place where it is done, with the host before the full address. After a sign-in the agent
//! may go on by itself or wait for a word, so the person gets both the handoff and a question. Nothing here opens an
//! address or asks for a password.

use serde_json::Value;

use crate::SharedWording;
use crate::event_writer::{self, cut, stated};
use crate::kit::call::first;
use crate::kit::permission::Permission;
use crate::kit::web_address::Address;
use crate::protocol::{AwaitingClarification, HandoffRequested, ResponseKind};
use crate::rpc::Id;

use super::messages::{MessageContent, TaskMessage};

/// The longest question, in characters; the rest is read on demand.
const LONGEST: usize = 3600;
/// How deep to search data for an address.
const DEEPEST: usize = 6;

/// Builds the question that asks for an answer in words.
pub fn question(name: &str, message: Option<&TaskMessage>, words: &SharedWording) -> Permission {
    let content = message.map(|message| &message.content);
    let text = content.map_or("", |content| content.text.trim());
    let asked = match text.is_empty() {
        true => first(words, "a2a.asks", &[]),
        false => cut(text, LONGEST),
    };
    clarification(name, &asked, &more(content, asked.as_str()))
}

/// Returns what accompanies a question, to be read in full.
fn more(content: Option<&MessageContent>, asked: &str) -> String {
    let Some(content) = content else {
        return String::new();
    };
    let rest = content.text.trim();
    let rest = if rest == asked { "" } else { rest };
    let mut all: Vec<&str> = Some(rest).into_iter().filter(|it| !it.is_empty()).collect();
    all.extend(content.data.iter().map(String::as_str));
    all.extend(content.addresses.iter().map(String::as_str));
    event_writer::short(&all.join(" "))
}

fn clarification(name: &str, question: &str, context: &str) -> Permission {
    let question = AwaitingClarification {
        question: question.to_owned(),
        accepted_response_kinds: vec![ResponseKind::Freetext],
        context: stated(context),
        ..AwaitingClarification::default()
    };
    Permission::words(Id::of_name(name), question)
}

/// Builds the handoff for a sign-in, and the question whether it is done.
pub fn sign_in(
    name: &str,
    message: Option<&TaskMessage>,
    words: &SharedWording,
) -> (HandoffRequested, Permission) {
    let content = message.map(|message| &message.content);
    let text = content.map_or("", |content| content.text.trim());
    let address = content.and_then(address);
    let host = address.as_ref().map_or("", |it| it.host.as_str());
    let odd = address.as_ref().map(|it| it.odd(words)).unwrap_or_default();
    let whole = address.as_ref().map_or("", |it| it.text.as_str());
    // An address that the agent's own text contains is not repeated.
    let unsaid = if text.contains(whole) { "" } else { whole };
    let args = [("host", host), ("odd", &odd), ("address", unsaid)];
    let handoff = HandoffRequested {
        summary: words.summary("a2a.sign_in", &args),
        reason: match text.is_empty() {
            true => first(words, "a2a.sign_in.reason", &[]),
            false => event_writer::short(text),
        },
        target_kind: Some("human".to_owned()),
        target_uri: stated(whole),
        ..HandoffRequested::default()
    };
    let asked = first(words, "a2a.sign_in.asks", &[("host", host)]);
    (handoff, clarification(name, &asked, &more(content, text)))
}

/// Finds the first address in a message: in a part of its own, then in its text, then in its data.
fn address(content: &MessageContent) -> Option<Address> {
    let own = content
        .addresses
        .iter()
        .find_map(|it| Address::read(it, ""));
    let in_data = || {
        let all = content
            .data
            .iter()
            .filter_map(|it| serde_json::from_str(it).ok());
        all.into_iter()
            .find_map(|data: Value| in_data(&data, DEEPEST))
    };
    own.or_else(|| in_text(&content.text)).or_else(in_data)
}

fn in_text(text: &str) -> Option<Address> {
    let begins = |word: &str| word.find("https://").or_else(|| word.find("http://"));
    text.split_whitespace().find_map(|word| {
        let word = word.get(begins(word)?..)?;
        let end = word
            .find(['"', '<', '>', '`', ')', ']'])
            .unwrap_or(word.len());
        let word = word
            .get(..end)?
            .trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*']);
        Address::read(word, "")
    })
}

fn in_data(data: &Value, depth: usize) -> Option<Address> {
    let deeper = depth.checked_sub(1)?;
    match data {
        Value::String(text) => in_text(text),
        Value::Array(all) => all.iter().find_map(|it| in_data(it, deeper)),
        Value::Object(all) => all.values().find_map(|it| in_data(it, deeper)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_where_agents_write_it() {
        let found = |content: MessageContent| address(&content).map(|it| (it.host, it.text));
        let wanted = |host: &str, whole: &str| Some((host.to_owned(), whole.to_owned()));
        let text = |text: &str| MessageContent {
            text: text.to_owned(),
            ..MessageContent::default()
        };
        assert_eq!(
            found(text("Sign in at https://login.example/d?c=1, then go on.")),
            wanted("login.example", "https://login.example/d?c=1")
        );
        assert_eq!(
            found(text("[here](https://a.example/x) or http://b.example")),
            wanted("a.example", "https://a.example/x")
        );
        assert_eq!(found(text("Ask your admin. ftp://a.example")), None);
        assert_eq!(found(text("https://")), None);
        let data = MessageContent {
            data: vec![r#"{"auth":{"url":"https://c.example/"}}"#.to_owned()],
            ..text("Sign in.")
        };
        assert_eq!(found(data), wanted("c.example", "https://c.example/"));
        let own = MessageContent {
            addresses: vec!["javascript:x".to_owned(), "https://d.example/y".to_owned()],
            ..text("https://e.example")
        };
        assert_eq!(found(own), wanted("d.example", "https://d.example/y"));
    }
}
