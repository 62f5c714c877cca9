//! JSON-RPC 2.0: the ids of both sides, and the envelopes of messages.
//!
//! Responsibilities: reading an envelope without reading its contents, tracking the ids of our requests and of the
//! other side's, and writing envelopes. Not here: which methods exist and what they mean (each dialect).
//!
//! # Mental model
//! The two sides count separately: both may have a request with the id 1 under way, and the two are unrelated. Our ids
//! are numbers that we assigned ([`PendingRequests`]); theirs are whatever they wrote, number or text, and go back
//! exactly as written ([`Id`]).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::protocol::object;

/// JSON-RPC's code for a method that does not exist.
pub const NO_SUCH_METHOD: i64 = -32601;

/// JSON-RPC's code for parameters that a method does not accept.
pub const INVALID: i64 = -32602;

/// JSON-RPC's code for a failure inside the answering side.
pub const INTERNAL: i64 = -32603;

/// The code for a request that the other side withdrew before it was answered.
pub const CANCELLED: i64 = -32800;

/// The longest id of the other side that is kept, in bytes: a number, or a UUID with some words around it.
const LONGEST_ID: usize = 256;

/// The most characters kept of the words in an error's data.
const LONGEST_WORDS: usize = 1000;

/// How many of our open requests are remembered: no dialect has so many at a time, and requests that are never answered
/// must not pile up.
const MOST_ASKED: usize = 256;

/// Parses a message's contents as an object; empty if they are not one.
pub fn members(json: Option<&str>) -> Map<String, Value> {
    json.and_then(object).unwrap_or_default()
}

/// An id as the other side wrote it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

impl Id {
    /// Creates an id from a number or a text, if it is short enough to keep.
    fn new(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let begins = |c: char| c == '"' || c == '-' || c.is_ascii_digit();
        (text.len() <= LONGEST_ID && text.starts_with(begins)).then(|| Self(text.to_owned()))
    }

    /// Returns whether another id has the same value, however each is written (`1` and `1.0`).
    pub fn has_value_of(&self, other: &Self) -> bool {
        let value = |id: &Self| serde_json::from_str::<Value>(&id.0).unwrap_or_default();
        let (one, two) = (value(self), value(other));
        match (one.as_f64(), two.as_f64()) {
            (Some(one), Some(two)) => one == two,
            _ => one == two,
        }
    }

    /// Creates an id from a request's name in a protocol that uses texts.
    pub fn of_name(name: &str) -> Self {
        Self(Value::from(name).to_string())
    }

    /// Returns the name in such an id.
    pub fn name(&self) -> Option<String> {
        serde_json::from_str(&self.0).ok()
    }

    /// Returns whether the id is this name.
    pub fn is_name(&self, name: &str) -> bool {
        self.is(&Value::from(name))
    }

    /// Returns whether it equals an id in another message, however that is written.
    pub fn is(&self, other: &Value) -> bool {
        serde_json::from_str::<Value>(&self.0).is_ok_and(|own| own == *other)
    }

    /// Parses it as one of our own ids.
    fn number(&self) -> Option<u64> {
        self.0.parse().ok()
    }
}

/// An envelope with its contents, unread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RpcMessage {
    /// The other side wants something done and answered.
    Request {
        /// Its id.
        id: Id,
        /// The method.
        method: String,
        /// Its parameters, as JSON text.
        params: Option<String>,
    },
    /// The other side reports something.
    Notification {
        /// The method.
        method: String,
        /// Its parameters, as JSON text.
        params: Option<String>,
    },
    /// The answer to a request; if it has both a result and an error, the result counts.
    Result {
        /// The request that it answers.
        id: Option<Id>,
        /// The result, as JSON text.
        result: String,
    },
    /// The refusal of a request.
    Error {
        /// The request that it answers.
        id: Option<Id>,
        /// JSON-RPC's code, or the other side's own.
        code: i64,
        /// The reason, in words for people.
        message: String,
    },
    /// An envelope without contents, or with an invalid id.
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
    error: Option<RpcRefusal>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RpcRefusal {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Value,
}

impl RpcRefusal {
    /// Returns the reason for people: the message, followed by what the data adds. Many agents send a message that only
    /// restates the code ("Internal error"), and put what really went wrong into the data.
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

/// The kind of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RpcKind {
    /// A JSON-RPC message.
    Rpc(RpcMessage),
    /// An object other than a JSON-RPC message.
    Object,
    /// Anything but an object.
    Other,
}

/// Reads the envelope of a text; its contents stay unread.
pub fn read(text: &str) -> RpcKind {
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
        return RpcKind::Other;
    };
    if envelope.jsonrpc.is_none() {
        return RpcKind::Object;
    }
    RpcKind::Rpc(opened(envelope))
}

/// Reads an envelope of a protocol that omits the version: a text with none of an envelope's members is another object.
pub fn read_bare(text: &str) -> RpcKind {
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
        return RpcKind::Other;
    };
    match opened(envelope) {
        RpcMessage::Nothing => RpcKind::Object,
        message => RpcKind::Rpc(message),
    }
}

fn opened(envelope: Envelope<'_>) -> RpcMessage {
    let id = envelope.id.map(Id::new);
    let own = |raw: &RawValue| raw.get().to_owned();
    let params = envelope.params.map(own);
    match (envelope.method, id, envelope.result, envelope.error) {
        (Some(method), None, _, _) => RpcMessage::Notification { method, params },
        (Some(method), Some(Some(id)), _, _) => RpcMessage::Request { id, method, params },
        (None, id, Some(result), _) => RpcMessage::Result {
            id: id.flatten(),
            result: own(result),
        },
        (None, id, None, Some(error)) => RpcMessage::Error {
            id: id.flatten(),
            code: error.code,
            message: error.words(),
        },
        // A request with an invalid id can't be answered.
        (Some(_), Some(None), _, _) | (None, _, None, None) => RpcMessage::Nothing,
    }
}

/// Our own requests that are not answered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingRequests<T> {
    last: u64,
    open: BTreeMap<u64, T>,
}

impl<T> Default for PendingRequests<T> {
    fn default() -> Self {
        Self {
            last: 0,
            open: BTreeMap::new(),
        }
    }
}

impl<T> PendingRequests<T> {
    /// Returns the id of a new request; its answer gives `what` back. If too many are open, the oldest is forgotten.
    pub fn ask(&mut self, what: T) -> u64 {
        self.last += 1;
        self.open.insert(self.last, what);
        if self.open.len() > MOST_ASKED {
            self.open.pop_first();
        }
        self.last
    }

    /// Closes an answered request and returns what was asked; only once.
    pub fn answered(&mut self, id: Option<&Id>) -> Option<T> {
        self.open.remove(&id?.number()?)
    }

    /// Replaces what is known of certain open requests.
    pub fn replace(&mut self, is_meant: impl Fn(&T) -> bool, what: &T)
    where
        T: Clone,
    {
        for asked in self.open.values_mut().filter(|asked| is_meant(asked)) {
            asked.clone_from(what);
        }
    }

    /// Drops and returns all open requests, because the other side is gone. No id is used twice.
    pub fn forget(&mut self) -> impl Iterator<Item = T> + use<T> {
        std::mem::take(&mut self.open).into_values()
    }

    /// Returns whether we ever assigned this id.
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
    use super::*;

    fn id(text: &str) -> Option<Id> {
        match read(&format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"m"}}"#)) {
            RpcKind::Rpc(RpcMessage::Request { id, .. }) => Some(id),
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
                RpcKind::Rpc(RpcMessage::Error { message, .. }) => {
                    assert_eq!(message, words, "{error}")
                }
                other => panic!("{other:?}"),
            }
        }
        let long = "x".repeat(10 * LONGEST_WORDS);
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":1,"data":"{long}"}}}}"#);
        assert!(
            matches!(read(&text), RpcKind::Rpc(RpcMessage::Error { message, .. }) if message.len() == LONGEST_WORDS)
        );
    }

    #[test]
    fn the_two_sides_count_for_themselves() {
        let mut asked = PendingRequests::default();
        assert_eq!(asked.ask("ours"), 1);
        // Their request 1 is not one of ours, and answers nothing.
        let theirs = id("1").unwrap();
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#),
            RpcKind::Rpc(RpcMessage::Request { .. })
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
        let mut asked = PendingRequests::default();
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
            ("no JSON", RpcKind::Other),
            ("[1]", RpcKind::Other),
            (r#"{"type":"x"}"#, RpcKind::Object),
            (r#"{"jsonrpc":"2.0"}"#, RpcKind::Rpc(RpcMessage::Nothing)),
            (
                r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
                RpcKind::Rpc(RpcMessage::Nothing),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"m","params":{"n":1.50}}"#,
                RpcKind::Rpc(RpcMessage::Notification {
                    method: "m".into(),
                    params: Some(r#"{"n":1.50}"#.into()),
                }),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1}}"#,
                RpcKind::Rpc(RpcMessage::Error {
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
        let RpcKind::Rpc(RpcMessage::Error {
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
                RpcKind::Rpc(RpcMessage::Request { .. } | RpcMessage::Notification { .. })
            ));
        }
    }
}
