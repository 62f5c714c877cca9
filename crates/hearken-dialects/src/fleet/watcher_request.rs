//! A watcher's requests to a bridge, and their outcomes.

use serde_json::{Map, Value};

use super::bridge_report::AnsweredBy;
use super::{LONGEST_SENTENCE, name};
use crate::link::Receipt;
use crate::protocol::{AgentId, object};

const REQUEST: &str = "hearken.request";
const RESULT: &str = "hearken.result";
/// The longest id of a request, in characters.
const LONGEST_ID: usize = 64;

/// One request of a watcher.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The watcher's name for it.
    pub id: String,
    /// What it wants.
    pub content: RequestContent,
}

/// What a watcher wants.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestContent {
    /// Answer a question.
    Reply {
        /// The reply, as AAEP defines it.
        reply: Value,
        /// The digest of the question that the person was shown; `None` if it was not given.
        digest: Option<String>,
    },
    /// Prompt an agent; without a name, the only one that accepts prompts.
    Prompt {
        /// The agent.
        agent: Option<AgentId>,
        /// The person's words.
        text: String,
    },
    /// Stop an agent's work; without a name, the only agent's.
    Stop {
        /// The agent.
        agent: Option<AgentId>,
    },
    /// Change a setting of an agent; without a name, of the only agent.
    Set {
        /// The agent.
        agent: Option<AgentId>,
        /// The name of the setting, if the person gave one.
        setting: Option<String>,
    },
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestOutcome {
    /// It was passed on to the agent.
    Taken(Receipt),
    /// The question has changed since, and is asked again.
    Changed,
    /// Somebody else answered before.
    Decided(AnsweredBy),
    /// The question is over without an answer.
    Closed,
    /// No question was ever asked with this token.
    Unknown,
    /// It may have reached the agent.
    Perhaps(RequestFault),
    /// It was not passed on.
    NotTaken(RequestFault),
}

/// Why a request was not passed on, or perhaps not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestFault {
    /// The connection to the agent is lost.
    Lost,
    /// The question can be seen there, but not answered.
    OnlySeen,
    /// The agent accepts no prompts and has no settings.
    NoPrompts,
    /// It is not clear which agent is meant.
    WhichAgent,
    /// Nothing is under way that could be stopped.
    NothingUnderWay,
    /// The agent can't be stopped from outside.
    NeverStops,
    /// Another person's answer perhaps arrived.
    PerhapsAnother,
    /// Too many answers to the same question are under way.
    Busy,
    /// The bridge ends.
    Ending,
    /// Anything else, in the bridge's words.
    Other(String),
}

impl RequestFault {
    /// The reasons that have a name of their own on the wire.
    const NAMES: [(Self, &'static str); 9] = [
        (Self::Lost, "lost"),
        (Self::OnlySeen, "only_seen"),
        (Self::NoPrompts, "no_prompts"),
        (Self::WhichAgent, "which_agent"),
        (Self::NothingUnderWay, "nothing_under_way"),
        (Self::NeverStops, "never_stops"),
        (Self::PerhapsAnother, "perhaps_another"),
        (Self::Busy, "busy"),
        (Self::Ending, "ending"),
    ];

    /// Returns the name on the wire, and the words of a reason that has no name.
    fn write(&self) -> (&str, Option<&str>) {
        let named = Self::NAMES.iter().find(|(reason, _)| reason == self);
        match (named, self) {
            (Some((_, name)), _) => (name, None),
            (None, Self::Other(words)) => ("other", Some(words)),
            (None, _) => ("other", None),
        }
    }

    fn read(name: &str, words: String) -> Self {
        let named = Self::NAMES.iter().find(|(_, known)| *known == name);
        match named {
            Some((reason, _)) => reason.clone(),
            None => Self::Other(words),
        }
    }
}

impl Request {
    /// Returns the message as JSON text for the subscription that carries it.
    pub fn to_json(&self, subscription: &str) -> String {
        let mut message = Map::new();
        let mut put = |field: &str, value: Value| {
            message.insert(field.to_owned(), value);
        };
        put("type", REQUEST.into());
        put("subscription_id", subscription.into());
        put("request_id", self.id.as_str().into());
        let agent = |agent: &Option<AgentId>| {
            let id = agent.as_ref().map(AgentId::as_str);
            id.map(Value::from)
        };
        match &self.content {
            RequestContent::Reply { reply, digest } => {
                put("reply", reply.clone());
                if let Some(digest) = digest {
                    put("digest", digest.as_str().into());
                }
            }
            RequestContent::Prompt { agent: to, text } => {
                put("prompt", text.as_str().into());
                if let Some(id) = agent(to) {
                    put("agent_id", id);
                }
            }
            RequestContent::Set {
                agent: of,
                setting: what,
            } => {
                put("set", what.as_deref().unwrap_or_default().into());
                if let Some(id) = agent(of) {
                    put("agent_id", id);
                }
            }
            RequestContent::Stop { agent: of } => {
                put("stop", true.into());
                if let Some(id) = agent(of) {
                    put("agent_id", id);
                }
            }
        }
        Value::Object(message).to_string()
    }

    /// Reads a message: `None` if it is not meant as a request, an error with the id that it gives if it is malformed.
    pub fn read(text: &str) -> Option<Result<Self, String>> {
        if !text.contains(REQUEST) {
            return None;
        }
        let message = Value::Object(object(text)?);
        if message.get("type")?.as_str()? != REQUEST {
            return None;
        }
        Some(Self::of(&message).ok_or_else(|| {
            let id = message.get("request_id").and_then(Value::as_str);
            id.unwrap_or_default().chars().take(LONGEST_ID).collect()
        }))
    }

    fn of(message: &Value) -> Option<Self> {
        let text = |field: &str| message.get(field).and_then(Value::as_str);
        let id = text("request_id")?;
        let is_plain = |id: &str| {
            (1..=LONGEST_ID).contains(&id.len())
                && id
                    .bytes()
                    .all(|sign| sign.is_ascii_alphanumeric() || sign == b'_')
        };
        let agent = || match message.get("agent_id") {
            None => Some(None),
            Some(id) => {
                let id = id.as_str().filter(|id| !id.is_empty() && id.len() <= 256)?;
                Some(Some(AgentId::from(id)))
            }
        };
        let wants = ["reply", "prompt", "stop", "set"];
        let mut wants = wants
            .into_iter()
            .filter_map(|field| Some((field, message.get(field)?)));
        let content = match (wants.next()?, wants.next()) {
            (("reply", reply @ Value::Object(_)), None) => RequestContent::Reply {
                reply: reply.clone(),
                digest: Some(text("digest")?.to_owned()),
            },
            (("prompt", Value::String(words)), None) if !words.trim().is_empty() => {
                RequestContent::Prompt {
                    agent: agent()?,
                    text: words.clone(),
                }
            }
            (("stop", Value::Bool(true)), None) => RequestContent::Stop { agent: agent()? },
            (("set", Value::String(what)), None) => RequestContent::Set {
                agent: agent()?,
                setting: name(what, LONGEST_SENTENCE),
            },
            _ => return None,
        };
        let id = is_plain(id).then(|| id.to_owned())?;
        Some(Self { id, content })
    }
}

impl RequestOutcome {
    /// Returns the message for the watcher that made the request.
    pub fn to_json(&self, request: &str) -> String {
        let mut message = self.fields();
        message.insert("type".to_owned(), RESULT.into());
        message.insert("request_id".to_owned(), request.into());
        Value::Object(message).to_string()
    }

    /// Returns the answer to a request that needs no name, because it goes back the way the request came.
    pub fn to_result(&self) -> String {
        Value::Object(self.fields()).to_string()
    }

    fn fields(&self) -> Map<String, Value> {
        let mut message = Map::new();
        let mut put = |field: &str, value: Value| {
            message.insert(field.to_owned(), value);
        };
        let result = match self {
            Self::Taken(receipt) => {
                if *receipt == Receipt::Written {
                    // The agent confirms nothing.
                    put("confirmed", false.into());
                }
                "taken"
            }
            Self::Changed => "changed",
            Self::Decided(answered) => {
                if let Value::Object(fields) = answered.write() {
                    for (field, value) in fields {
                        put(&field, value);
                    }
                }
                "decided"
            }
            Self::Closed => "closed",
            Self::Unknown => "unknown",
            Self::Perhaps(reason) | Self::NotTaken(reason) => {
                let (name, words) = reason.write();
                put("reason", name.into());
                if let Some(words) = words {
                    put("words", words.into());
                }
                match self {
                    Self::Perhaps(_) => "perhaps",
                    _ => "not_taken",
                }
            }
        };
        put("result", result.into());
        message
    }

    /// Reads a message: the request that it is about, and what became of it. `None` for anything else.
    pub fn read(text: &str) -> Option<(String, Self)> {
        if !text.contains(RESULT) {
            return None;
        }
        let message = Value::Object(object(text)?);
        let words = |field: &str| message.get(field).and_then(Value::as_str);
        if words("type")? != RESULT {
            return None;
        }
        Some((words("request_id")?.to_owned(), Self::of(&message)?))
    }

    /// Reads the answer to a request, which need not name it; `None` if it is not one.
    pub fn of_result(text: &str) -> Option<Self> {
        Self::of(&Value::Object(object(text)?))
    }

    fn of(message: &Value) -> Option<Self> {
        let words = |field: &str| message.get(field).and_then(Value::as_str);
        let reason = || {
            let said = name(words("words").unwrap_or_default(), LONGEST_SENTENCE);
            RequestFault::read(
                words("reason").unwrap_or_default(),
                said.unwrap_or_default(),
            )
        };
        Some(match words("result")? {
            "taken" if message.get("confirmed") == Some(&Value::Bool(false)) => {
                Self::Taken(Receipt::Written)
            }
            "taken" => Self::Taken(Receipt::Taken),
            "changed" => Self::Changed,
            "decided" => Self::Decided(AnsweredBy::read(message)?),
            "closed" => Self::Closed,
            "unknown" => Self::Unknown,
            "perhaps" => Self::Perhaps(reason()),
            "not_taken" => Self::NotTaken(reason()),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::{Answer, Decision};

    #[test]
    fn a_request_is_read_back_as_it_was_written() {
        for content in [
            RequestContent::Reply {
                reply: json!({"type": "confirmation.reply"}),
                digest: Some("ab".to_owned()),
            },
            RequestContent::Prompt {
                agent: None,
                text: "say hello".to_owned(),
            },
            RequestContent::Prompt {
                agent: Some(AgentId::from("opencode")),
                text: "say hello".to_owned(),
            },
            RequestContent::Stop { agent: None },
            RequestContent::Stop {
                agent: Some(AgentId::from("opencode")),
            },
            RequestContent::Set {
                agent: None,
                setting: None,
            },
            RequestContent::Set {
                agent: Some(AgentId::from("opencode")),
                setting: Some("mode".to_owned()),
            },
        ] {
            let request = Request {
                id: "req_1".to_owned(),
                content,
            };
            let text = request.to_json("sub_1");
            assert!(text.contains(r#""subscription_id":"sub_1""#), "{text}");
            assert_eq!(Request::read(&text), Some(Ok(request)));
        }
    }

    #[test]
    fn a_malformed_request_is_an_error_and_any_other_message_none() {
        let with = |fields: Value| {
            let mut message = json!({"type": REQUEST, "request_id": "r1"});
            let fields = fields.as_object().unwrap().clone();
            message.as_object_mut().unwrap().extend(fields);
            message.to_string()
        };
        let read = Request::read(&with(json!({"stop": true})));
        assert!(matches!(read, Some(Ok(_))));
        assert_eq!(Request::read(&with(json!({"type": "x"}))), None);
        assert_eq!(Request::read("hearken.request"), None);
        for fields in [
            json!({}),
            json!({"stop": false}),
            json!({"stop": true, "prompt": "x"}),
            json!({"prompt": " "}),
            json!({"reply": {}}),
            json!({"reply": 1, "digest": "x"}),
            json!({"stop": true, "agent_id": 1}),
            json!({"stop": true, "agent_id": ""}),
            json!({"stop": true, "request_id": "a b"}),
            json!({"stop": true, "request_id": ""}),
        ] {
            let read = Request::read(&with(fields.clone()));
            assert!(matches!(read, Some(Err(_))), "{fields}");
        }
    }

    #[test]
    fn an_outcome_is_read_back_as_it_was_written() {
        let reason = || RequestFault::Other("the connection was lost".to_owned());
        for outcome in [
            RequestOutcome::Taken(Receipt::Taken),
            RequestOutcome::Taken(Receipt::Written),
            RequestOutcome::Changed,
            RequestOutcome::Decided(AnsweredBy {
                person: Some("anna".to_owned()),
                answer: Answer::Decision {
                    decision: Decision::Reject,
                    rationale: None,
                },
                at: "2026-01-01T00:00:00Z".parse().unwrap(),
            }),
            RequestOutcome::Closed,
            RequestOutcome::Unknown,
            RequestOutcome::Perhaps(reason()),
            RequestOutcome::NotTaken(reason()),
            RequestOutcome::Perhaps(RequestFault::Ending),
            RequestOutcome::NotTaken(RequestFault::Lost),
        ] {
            let text = outcome.to_json("req_1");
            let read = RequestOutcome::read(&text);
            assert_eq!(read, Some(("req_1".to_owned(), outcome)), "{text}");
        }
        assert_eq!(RequestOutcome::read("{}"), None);
        let other = r#"{"type":"hearken.result","request_id":"x","result":"maybe"}"#;
        assert_eq!(RequestOutcome::read(other), None);
    }
}
