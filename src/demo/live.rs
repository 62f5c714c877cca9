//! An agent outside the demo: events from elsewhere, and answers passed on to it.
//!
//! Responsibilities: that agent's identity, what a subscriber that joins midway is given first, passing on replies. Not
//! here: the content of events, the fate of an answer (both with the publisher).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::queue::Frame;
use super::reply::{Malformed, Reply as Form, ReplyContent};
use super::verdict::PostVerdict;
use crate::protocol::{Answer, Decision, Reply, ReplyToken, Response};

/// How many sessions are remembered for later subscribers: as many as an editor has conversations.
const MOST_SESSIONS: usize = 64;
/// The largest event that is remembered, in bytes: far more than any question that can be spoken.
const LARGEST: usize = 256 * 1024;

/// The receiver of answers; it must not block.
pub type AnswerReceiver = Arc<dyn Fn(Reply) + Send + Sync>;

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
    question: Option<Arc<Frame>>,
}

/// The state of all sessions that are still open.
#[derive(Debug, Default)]
pub(super) struct OpenSessions(BTreeMap<String, Going>);

impl OpenSessions {
    /// Builds a frame from an event, and remembers what later subscribers must know of it.
    pub(super) fn take(&mut self, text: &str) -> Arc<Frame> {
        let event: Value = serde_json::from_str(text).unwrap_or_default();
        let of = |name: &str| event.get(name).and_then(Value::as_str);
        let frame = Arc::new(Frame {
            event_id: of("event_id").map(str::to_owned),
            critical: of("urgency") == Some("critical"),
            text: text.to_owned(),
        });
        let Some(session) = of("session_id") else {
            return frame;
        };
        let kind = of("type").unwrap_or_default();
        let kind = kind.strip_prefix("aaep:agent.").unwrap_or_default();
        if matches!(
            kind,
            "session.completed" | "session.errored" | "session.cancelled"
        ) {
            self.0.remove(session);
            return frame;
        }
        if !self.0.contains_key(session) && self.0.len() >= MOST_SESSIONS {
            self.0.pop_first();
        }
        let going = self.0.entry(session.to_owned()).or_default();
        let kept = || Some(Arc::clone(&frame)).filter(|_| text.len() <= LARGEST);
        match kind {
            "session.started" => going.started = kept(),
            "state.changed" => {
                going.state = from_idle(&event);
                going.question = None;
            }
            "awaiting.confirmation" | "awaiting.clarification" => going.question = kept(),
            _ => {}
        }
        frame
    }

    /// Returns the frames that a new subscriber is sent first.
    pub(super) fn frames(&self) -> impl Iterator<Item = &Arc<Frame>> {
        let all = self.0.values();
        all.flat_map(|it| [&it.started, &it.state, &it.question])
            .flatten()
    }
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
