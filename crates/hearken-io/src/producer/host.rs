//! Whose producer this is: an identity, and who receives what subscribers send.
//!
//! Responsibilities: the host's name and words, passing on answers, requests and prompts. Not here: the fate of an
//! answer (the host's), the questions of the producer's own sessions (`pending_questions`).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::admission::Admission;
use super::posted_reply::{Malformed, PostedReply as Form, ReplyContent};
use super::verdict::PostVerdict;
use crate::protocol::{Answer, Decision, Reply, ReplyToken, Response};

/// How long an answer may take: less than a watcher waits for it, so that the watcher hears what is known.
const ANSWER_TIME: Duration = Duration::from_secs(25);
/// The field of a prompt that has the person's words.
pub(super) const PROMPT_WORDS: &str = "user_message";

/// The receiver of answers; it must not block.
pub type AnswerReceiver = Arc<dyn Fn(Reply) + Send + Sync>;

/// Passes on a message that is neither a reply nor part of a handshake; returns where its answer comes from, or `None`
/// if the message means nothing. It must not block.
pub type RequestReceiver = Arc<dyn Fn(&str) -> Option<PendingAnswer> + Send + Sync>;

/// The receiver of what a client posts to start or to prompt an agent. It must not block.
pub type PromptReceiver = Arc<dyn Fn(&Prompt) -> PromptAnswer + Send + Sync>;

/// What a client posts to start or to prompt an agent.
#[derive(Debug, Clone)]
pub struct Prompt(Map<String, Value>);

/// The answer to a [`Prompt`].
#[derive(Debug)]
pub enum PromptAnswer {
    /// An agent has begun; the document says which.
    Begun(Value),
    /// It can't be taken.
    Refused {
        /// A short code.
        code: &'static str,
        /// An explanation for the client's author.
        message: String,
    },
    /// It can't be taken now.
    Busy(String),
    /// The agent's answer is still to come.
    Pending(PendingAnswer),
}

impl Prompt {
    pub(super) fn new(fields: Map<String, Value>) -> Self {
        Self(fields)
    }

    /// Returns a text of this name that is not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        let text = self.0.get(name).and_then(Value::as_str);
        text.filter(|text| !text.trim().is_empty())
    }

    /// Returns the person's words.
    pub fn words(&self) -> Option<&str> {
        self.text(PROMPT_WORDS)
    }
}

/// An answer that is still to come, as JSON text.
#[derive(Debug)]
pub struct PendingAnswer {
    /// Where it comes from.
    pub answer: oneshot::Receiver<String>,
    /// The answer if nothing comes from there.
    pub otherwise: String,
}

impl PendingAnswer {
    /// Waits for the answer, but no longer than its requester does.
    pub(super) async fn message(self) -> String {
        match tokio::time::timeout(ANSWER_TIME, self.answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => self.otherwise,
        }
    }
}

/// Whose producer it is.
#[derive(Clone)]
pub struct Host {
    /// The stable id in a handshake; the agents have names of their own in their events.
    pub id: String,
    /// The display name.
    pub name: String,
    /// What is at an address, for people who open it; the paths follow.
    pub about: String,
    /// The message to subscribers at the end.
    pub farewell: String,
    /// The receiver of answers; without one, they are for the questions of the producer's own sessions.
    pub answers: Option<AnswerReceiver>,
    /// The receiver of requests, if any are accepted.
    pub requests: Option<RequestReceiver>,
    /// The receiver of prompts, if any are accepted.
    pub prompts: Option<PromptReceiver>,
    /// Who is admitted at an address; `None` for a producer that is reached at none.
    pub admission: Option<Admission>,
}

impl fmt::Debug for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Host")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Passes on an answer if it is well-formed.
pub(super) fn pass_on(
    message: &Result<Value, Malformed>,
    receiver: &AnswerReceiver,
) -> PostVerdict {
    let answer = message.as_ref().map_err(|malformed| *malformed);
    match answer.and_then(|message| Form::read(message).map(|form| (message, form))) {
        Ok((message, form)) => pass_on_form(message, form, receiver),
        Err(malformed) => PostVerdict::Malformed(malformed),
    }
}

fn pass_on_form(message: &Value, form: Form, receiver: &AnswerReceiver) -> PostVerdict {
    let of = |name: &str| message.get(name).and_then(Value::as_str).map(str::to_owned);
    let answer = match form.said {
        // Not every agent can be told to do something other than it asked.
        ReplyContent::Decision { modified: true, .. } => return PostVerdict::NotAllowed,
        ReplyContent::Decision { decision, .. } => Answer::Decision {
            decision: Decision::parse(&decision),
            rationale: of("decision_rationale"),
        },
        ReplyContent::Response(Value::Bool(yes)) => Answer::Response(Response::YesNo(yes)),
        ReplyContent::Response(Value::String(text)) => Answer::Response(Response::Text(text)),
        ReplyContent::Response(value) => match value.as_f64() {
            Some(number) => Answer::Response(Response::Number(number)),
            None => return PostVerdict::Malformed(Malformed::Invalid("response")),
        },
    };
    receiver(Reply {
        token: ReplyToken::new(form.token),
        answer,
        timestamp: form.at,
        decided_by: of("decided_by").unwrap_or_default(),
    });
    PostVerdict::Taken
}
