//! An agent outside the demo: events from elsewhere, and answers passed on to it.
//!
//! Responsibilities: that agent's identity, what a subscriber that joins midway is given first, passing on replies. Not
//! here: the content of events, the fate of an answer (both with the publisher).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

use super::admission::Admission;
use super::queue::Frame;
use super::reply::{Malformed, Reply as Form, ReplyContent};
use super::verdict::PostVerdict;
use crate::protocol::{Answer, Decision, Reply, ReplyToken, Response};

/// How many sessions are remembered for later subscribers: as many as an editor has conversations.
const MOST_SESSIONS: usize = 64;
/// How long an answer may take: less than a watcher waits for it, so that the watcher hears what is known.
const ANSWER_TIME: Duration = Duration::from_secs(25);
/// How many open questions of one session are remembered: more than a person can keep apart.
const MOST_QUESTIONS: usize = 64;
/// The largest event that is remembered, in bytes: far more than any question that can be spoken.
const LARGEST: usize = 256 * 1024;

/// The receiver of answers; it must not block.
pub type AnswerReceiver = Arc<dyn Fn(Reply) + Send + Sync>;

/// Passes on a message that is neither a reply nor part of a handshake; returns where its answer comes from, or `None`
/// if the message means nothing. It must not block.
pub type RequestReceiver = Arc<dyn Fn(&str) -> Option<PendingAnswer> + Send + Sync>;

/// Prompts an agent with a person's words, in the same way.
pub type PromptReceiver = Arc<dyn Fn(&str) -> PendingAnswer + Send + Sync>;

/// An answer that is still to come, as JSON text.
#[derive(Debug)]
pub struct PendingAnswer {
    /// Where it comes from.
    pub answer: oneshot::Receiver<String>,
    /// The answer if nothing comes from there.
    pub otherwise: String,
}

impl PendingAnswer {
    /// Waits for the answer, but not for longer than whoever requested it does.
    pub(super) async fn message(self) -> String {
        match tokio::time::timeout(ANSWER_TIME, self.answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => self.otherwise,
        }
    }
}

/// What later subscribers must know of an event from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lasting {
    /// What an event of AAEP says: the start, the state and the open questions of its session.
    AsItsType,
    /// It replaces the last one of its kind.
    Latest,
    /// The question that the event with this id asked is over.
    Closes(String),
    /// Nothing.
    Passing,
}

/// The agent whose events are published instead of scenarios.
#[derive(Clone)]
pub struct Host {
    /// Its stable id.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// The message to subscribers at the end.
    pub farewell: String,
    /// The receiver of answers.
    pub answers: AnswerReceiver,
    /// The receiver of requests and of prompts, if it accepts any.
    pub requests: Option<(RequestReceiver, PromptReceiver)>,
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

impl Host {
    /// Passes on an answer if it is well-formed.
    pub(super) fn take(&self, message: &Value) -> PostVerdict {
        let form = match Form::read(message) {
            Ok(form) => form,
            Err(malformed) => return PostVerdict::Malformed(malformed),
        };
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
        (self.answers)(Reply {
            token: ReplyToken::new(form.token),
            answer,
            timestamp: form.at,
            decided_by: of("decided_by").unwrap_or_default(),
        });
        PostVerdict::Taken
    }
}

/// The state of a session: what a subscriber that joins later needs.
#[derive(Debug, Default)]
struct Going {
    started: Option<Arc<Frame>>,
    state: Option<Arc<Frame>>,
    /// The open questions, in the order in which they were asked.
    questions: Vec<Arc<Frame>>,
}

/// The state of all sessions that are still open.
#[derive(Debug, Default)]
pub(super) struct OpenSessions {
    /// The last event of which only the last counts.
    latest: Option<Arc<Frame>>,
    sessions: BTreeMap<String, Going>,
}

impl OpenSessions {
    /// Builds a frame from an event, and remembers what later subscribers must know of it.
    pub(super) fn take(&mut self, text: &str, lasting: &Lasting) -> Arc<Frame> {
        let event: Value = serde_json::from_str(text).unwrap_or_default();
        let of = |name: &str| event.get(name).and_then(Value::as_str);
        let frame = Arc::new(Frame {
            event_id: of("event_id").map(str::to_owned),
            critical: of("urgency") == Some("critical"),
            text: text.to_owned(),
        });
        match lasting {
            Lasting::AsItsType => {}
            Lasting::Latest => self.latest = Some(Arc::clone(&frame)),
            Lasting::Closes(event) => self.close(event),
            Lasting::Passing => {}
        }
        if *lasting != Lasting::AsItsType {
            return frame;
        }
        let Some(session) = of("session_id") else {
            return frame;
        };
        let kind = of("type").unwrap_or_default();
        let kind = kind.strip_prefix("aaep:agent.").unwrap_or_default();
        if matches!(
            kind,
            "session.completed" | "session.errored" | "session.cancelled"
        ) {
            self.sessions.remove(session);
            return frame;
        }
        if !self.sessions.contains_key(session) && self.sessions.len() >= MOST_SESSIONS {
            self.sessions.pop_first();
        }
        let going = self.sessions.entry(session.to_owned()).or_default();
        let kept = || Some(Arc::clone(&frame)).filter(|_| text.len() <= LARGEST);
        match kind {
            "session.started" => going.started = kept(),
            "state.changed" => {
                going.state = from_idle(&event);
                if of("to_state") != Some("awaiting_input") {
                    going.questions.clear();
                }
            }
            "awaiting.confirmation" | "awaiting.clarification" => {
                let token = event.get("reply_token");
                going
                    .questions
                    .retain(|asked| token_of(asked).as_ref() != token);
                if going.questions.len() < MOST_QUESTIONS {
                    going.questions.extend(kept());
                }
            }
            _ => {}
        }
        frame
    }

    /// Forgets a question that is over, although its session may keep its state.
    fn close(&mut self, event: &str) {
        for going in self.sessions.values_mut() {
            let is_it = |asked: &Arc<Frame>| asked.event_id.as_deref() == Some(event);
            going.questions.retain(|asked| !is_it(asked));
        }
    }

    /// Returns the frames that a new subscriber is sent first.
    pub(super) fn frames(&self) -> impl Iterator<Item = &Arc<Frame>> {
        let sessions = self.sessions.values().flat_map(|it| {
            let before = [&it.started, &it.state].into_iter().flatten();
            before.chain(&it.questions)
        });
        self.latest.iter().chain(sessions)
    }
}

/// Returns the reply token of the event in a frame.
fn token_of(frame: &Frame) -> Option<Value> {
    let event: Value = serde_json::from_str(&frame.text).ok()?;
    event.get("reply_token").cloned()
}

/// Returns a state change as the first that a subscriber hears, starting from idle: earlier states were not for it.
fn from_idle(event: &Value) -> Option<Arc<Frame>> {
    let mut event = event.clone();
    event
        .as_object_mut()?
        .insert("from_state".to_owned(), "idle".into());
    Some(Arc::new(Frame {
        event_id: event.get("event_id")?.as_str().map(str::to_owned),
        critical: false,
        text: event.to_string(),
    }))
}
