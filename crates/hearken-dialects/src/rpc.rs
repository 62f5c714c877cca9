//! JSON-RPC 2.0: whose id is whose, and the envelopes around what is said.
//!
//! Responsibilities: reading an envelope without reading what it carries, the ids of our requests and of the
//! other side's, writing envelopes. Not here: which methods there are and what they mean (each dialect's own).
//!
//! # Mental model
//! The two sides count for themselves: both may have a request with the id 1 under way, and the two have
//! nothing to do with each other. Ours are numbers that we gave out ([`Asked`]); theirs are whatever they wrote,
//! number or text, and go back exactly so ([`Id`]).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::protocol::object;

/// The code of JSON-RPC for a method that is not there.
pub const NO_SUCH_METHOD: i64 = -32601;

/// The code of JSON-RPC for what a method does not take.
pub const INVALID: i64 = -32602;

/// The code of JSON-RPC for what can't be done for a reason of one's own.
pub const INTERNAL: i64 = -32603;

/// The code for a request that the other side took back before it was answered.
pub const CANCELLED: i64 = -32800;

/// The longest id of the other side that is kept, in bytes: a number, or a UUID with some words around it.
const LONGEST_ID: usize = 256;

/// How much of what the data of a refusal says is kept, in characters.
const LONGEST_WORDS: usize = 1000;

/// How many of our requests are remembered until they are answered: nobody asks for so much at once, and who
/// never answers must not be remembered for ever.
const MOST_ASKED: usize = 256;

/// Reads what a message carries as an object; empty where it is none.
pub fn members(json: Option<&str>) -> Map<String, Value> {
    json.and_then(object).unwrap_or_default()
}

/// An id as the other side wrote it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

impl Id {
    /// Takes an id: a number or a text of a length that is kept.
    fn new(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let begins = |c: char| c == '"' || c == '-' || c.is_ascii_digit();
        (text.len() <= LONGEST_ID && text.starts_with(begins)).then(|| Self(text.to_owned()))
    }

    /// Takes the name of a request of another protocol that has texts for its names.
    pub fn of_name(name: &str) -> Self {
        Self(Value::from(name).to_string())
    }

    /// Returns such a name.
    pub fn name(&self) -> Option<String> {
        serde_json::from_str(&self.0).ok()
    }

    /// Returns whether it is such a name.
    pub fn is_name(&self, name: &str) -> bool {
        self.is(&Value::from(name))
    }

    /// Returns whether it is the id that stands in another message, however that writes it.
    pub fn is(&self, other: &Value) -> bool {
        serde_json::from_str::<Value>(&self.0).is_ok_and(|own| own == *other)
    }

    /// Returns it as one of our own numbers.
    fn number(&self) -> Option<u64> {
        self.0.parse().ok()
    }
}

/// An envelope with what it carries, unread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// The other side wants something to be done and answered.
    Request {
        /// Its id.
        id: Id,
        /// The method.
        method: String,
        /// What it is about, as JSON text.
        params: Option<String>,
    },
    /// The other side says something.
    Notification {
        /// The method.
        method: String,
        /// What it is about, as JSON text.
        params: Option<String>,
    },
    /// The answer to a request; where both a result and an error stand in it, the result counts.
    Result {
        /// Which request it answers.
        id: Option<Id>,
        /// The result, as JSON text.
        result: String,
    },
    /// A request was refused.
    Error {
        /// Which request it answers.
        id: Option<Id>,
        /// JSON-RPC's code, or the other side's own.
        code: i64,
        /// In words, for people.
        message: String,
    },
    /// An envelope around nothing, or with an id that is none.
    Nothing,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: Option<Value>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Refused>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Refused {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Value,
}

impl Refused {
    /// Returns what is said of it for people: the message, and what the data says beside it. The code alone stands for a
    /// message of many agents ("Internal error"), and what really went wrong stands in the data.
    fn words(self) -> String {
        let said = |data: &Value| {
            let members = ["message", "details", "detail", "reason", "error"];
            let named = || members.iter().find_map(|name| data.get(name)?.as_str());
            let words = data.as_str().or_else(named)?.trim();
            let words: String = words.chars().take(LONGEST_WORDS).collect();
            Some(words).filter(|words| !words.is_empty() && !self.message.contains(words))
        };
        let inner = || said(self.data.get("error")?);
        match said(&self.data).or_else(inner) {
            Some(more) if self.message.is_empty() => more,
            Some(more) => format!("{}: {more}", self.message.trim_end_matches([':', '.', ' '])),
            None => self.message,
        }
    }
}

/// What a text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// A message of JSON-RPC.
    Rpc(Message),
    /// Another object.
    Object,
    /// No object at all.
    Other,
}

/// Reads the envelope of a text; what it carries stays unread.
pub fn read(text: &str) -> Text {
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
        return Text::Other;
    };
    if envelope.jsonrpc.is_none() {
        return Text::Object;
    }
    Text::Rpc(opened(envelope))
}

/// Reads an envelope of a protocol that leaves its version out: what has none of its members is another object.
pub fn read_bare(text: &str) -> Text {
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
        return Text::Other;
    };
    match opened(envelope) {
        Message::Nothing => Text::Object,
        message => Text::Rpc(message),
    }
}

fn opened(envelope: Envelope<'_>) -> Message {
    let id = envelope.id.map(Id::new);
    let own = |raw: &RawValue| raw.get().to_owned();
    let params = envelope.params.map(own);
    match (envelope.method, id, envelope.result, envelope.error) {
        (Some(method), None, _, _) => Message::Notification { method, params },
        (Some(method), Some(Some(id)), _, _) => Message::Request { id, method, params },
        (None, id, Some(result), _) => Message::Result {
            id: id.flatten(),
            result: own(result),
        },
        (None, id, None, Some(error)) => Message::Error {
            id: id.flatten(),
            code: error.code,
            message: error.words(),
        },
        // Nobody can be answered under an id that is none.
        (Some(_), Some(None), _, _) | (None, _, None, None) => Message::Nothing,
    }
}

/// Keeps our own requests until they are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked<T> {
    last: u64,
    open: BTreeMap<u64, T>,
}

impl<T> Default for Asked<T> {
    fn default() -> Self {
        Self {
            last: 0,
            open: BTreeMap::new(),
        }
    }
}

impl<T> Asked<T> {
    /// Returns the id of a new request; `what` comes back with its answer. The oldest is forgotten for it where
    /// too many are open.
    pub fn ask(&mut self, what: T) -> u64 {
        self.last += 1;
        self.open.insert(self.last, what);
        if self.open.len() > MOST_ASKED {
            self.open.pop_first();
        }
        self.last
    }

    /// Takes the answer to a request, and gives what was asked; once.
    pub fn answered(&mut self, id: Option<&Id>) -> Option<T> {
        self.open.remove(&id?.number()?)
    }

    /// Gives up what is open, and gives it: whoever was asked is gone. No id is given a second time.
    pub fn forget(&mut self) -> impl Iterator<Item = T> + use<T> {
        std::mem::take(&mut self.open).into_values()
    }

    /// Returns whether an id is one that we gave out at some time.
    pub fn gave(&self, id: Option<&Id>) -> bool {
        id.and_then(Id::number)
            .is_some_and(|id| (1..=self.last).contains(&id))
    }
}

/// Writes a request of ours; `params` is JSON text.
pub fn request(id: u64, method: &str, params: &str) -> String {
    let method = Value::from(method);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{params}}}")
}

/// Writes a notification; `params` is JSON text.
pub fn notification(method: &str, params: &str) -> String {
    let method = Value::from(method);
    format!("{{\"jsonrpc\":\"2.0\",\"method\":{method},\"params\":{params}}}")
}

/// Writes the answer to a request of the other side; `result` is JSON text.
pub fn result(id: &Id, result: &str) -> String {
    let id = &id.0;
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

/// Writes the refusal of a request of the other side.
pub fn error(id: &Id, code: i64, message: &str) -> String {
    let (id, message) = (&id.0, Value::from(message));
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message}}}}}"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn id(text: &str) -> Option<Id> {
        match read(&format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"m"}}"#)) {
            Text::Rpc(Message::Request { id, .. }) => Some(id),
            _ => None,
        }
    }

    #[test]
    fn an_id_of_theirs_goes_back_exactly_as_it_came() {
        for written in ["7", "-3", "1.50", "\"a b\"", "\"\\u0041\"", "\"1\""] {
            let id = id(written).unwrap();
            assert_eq!(
                result(&id, "{}"),
                format!(r#"{{"jsonrpc":"2.0","id":{written},"result":{{}}}}"#)
            );
        }
        let long = format!("\"{}\"", "x".repeat(LONGEST_ID));
        for none in ["{}", "[1]", "true", long.as_str()] {
            assert_eq!(id(none), None, "{none}");
        }
    }

    #[test]
    fn an_id_is_known_again_in_another_message() {
        let known = |written: &str, other: Value| id(written).unwrap().is(&other);
        assert!(known("7", Value::from(7)) && known("\"\\u0041\"", Value::from("A")));
        assert!(!known("7", Value::from("7")) && !known("\"a\"", Value::Null));
    }

    #[test]
    fn what_the_data_of_a_refusal_says_is_told_behind_its_message() {
        for (error, words) in [
            (
                r#"{"code":-32603,"message":"Internal error"}"#,
                "Internal error",
            ),
            (
                r#"{"code":-32603,"message":"Internal error","data":{"details":"no quota is left"}}"#,
                "Internal error: no quota is left",
            ),
            (
                r#"{"code":-32603,"message":"Internal error.","data":{"message":"rate limit"}}"#,
                "Internal error: rate limit",
            ),
            (
                r#"{"code":1,"message":"No","data":"because"}"#,
                "No: because",
            ),
            (r#"{"code":1,"data":"because"}"#, "because"),
            (
                r#"{"code":1,"message":"Bad","data":{"error":{"message":"deep"}}}"#,
                "Bad: deep",
            ),
            (
                r#"{"code":1,"message":"It is deep","data":"deep"}"#,
                "It is deep",
            ),
            (r#"{"code":1,"message":"No","data":{"stack":["x"]}}"#, "No"),
            (r#"{"code":1,"message":"No","data":7}"#, "No"),
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
            match read(&text) {
                Text::Rpc(Message::Error { message, .. }) => assert_eq!(message, words, "{error}"),
                other => panic!("{other:?}"),
            }
        }
        let long = "x".repeat(10 * LONGEST_WORDS);
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":1,"data":"{long}"}}}}"#);
        assert!(
            matches!(read(&text), Text::Rpc(Message::Error { message, .. }) if message.len() == LONGEST_WORDS)
        );
    }

    #[test]
    fn the_two_sides_count_for_themselves() {
        let mut asked = Asked::default();
        assert_eq!(asked.ask("ours"), 1);
        // Their request 1 is none of ours, and answers nothing.
        let theirs = id("1").unwrap();
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#),
            Text::Rpc(Message::Request { .. })
        ));
        assert_eq!(asked.answered(Some(&theirs)), Some("ours"), "by the number");
        assert_eq!(asked.answered(Some(&theirs)), None, "only once");
        assert!(asked.gave(Some(&theirs)) && !asked.gave(None));
        for other in ["2", "0", "\"1\"", "-1", "1.0"] {
            assert!(!asked.gave(Some(&id(other).unwrap())), "{other}");
        }
    }

    #[test]
    fn who_never_answers_is_not_remembered_for_ever() {
        let mut asked = Asked::default();
        for number in 0..MOST_ASKED + 10 {
            asked.ask(number);
        }
        assert_eq!(asked.open.len(), MOST_ASKED);
        assert_eq!(asked.answered(id("1").as_ref()), None);
        assert_eq!(asked.answered(id("11").as_ref()), Some(10));
    }

    #[test]
    fn each_envelope_is_told_from_the_others() {
        for (text, wanted) in [
            ("no JSON", Text::Other),
            ("[1]", Text::Other),
            (r#"{"type":"x"}"#, Text::Object),
            (r#"{"jsonrpc":"2.0"}"#, Text::Rpc(Message::Nothing)),
            (
                r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
                Text::Rpc(Message::Nothing),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"m","params":{"n":1.50}}"#,
                Text::Rpc(Message::Notification {
                    method: "m".into(),
                    params: Some(r#"{"n":1.50}"#.into()),
                }),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1}}"#,
                Text::Rpc(Message::Error {
                    id: None,
                    code: -1,
                    message: String::new(),
                }),
            ),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_written_can_be_read_whatever_stands_in_it() {
        let text = error(&id("\"x\"").unwrap(), NO_SUCH_METHOD, "no \"such\"\nthing");
        assert!(!text.contains('\n'));
        let Text::Rpc(Message::Error {
            code, message, id, ..
        }) = read(&text)
        else {
            panic!("{text}");
        };
        assert_eq!(
            (code, message.as_str()),
            (NO_SUCH_METHOD, "no \"such\"\nthing")
        );
        assert_eq!(id, self::id("\"x\""));
        for text in [request(3, "a.b", "{}"), notification("a.b", "[1]")] {
            assert!(matches!(
                read(&text),
                Text::Rpc(Message::Request { .. } | Message::Notification { .. })
            ));
        }
    }
}
