//! What a subscriber that joins midway is told of events from outside.
//!
//! Responsibilities: remembering the start, the state and the open questions of each session. Not here: the content of
//! events (their publisher's), events of the producer's own sessions (`state`).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::queue::Frame;

/// How many sessions are remembered for later subscribers: as many as an editor has conversations.
const MOST_SESSIONS: usize = 64;
/// How many open questions of one session are remembered: more than a person can keep apart.
const MOST_QUESTIONS: usize = 64;
/// The largest event that is remembered, in bytes: far more than any question that can be spoken.
const LARGEST: usize = 256 * 1024;

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
pub struct OpenSessions {
    /// The last event of which only the last counts.
    latest: Option<Arc<Frame>>,
    sessions: BTreeMap<String, Going>,
}

impl OpenSessions {
    /// Remembers what later subscribers must know of an event.
    pub fn note(&mut self, text: &str, lasting: &Lasting) {
        self.take(text, lasting);
    }

    /// Returns the events that a new subscriber is sent first, as JSON text.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.frames().map(|frame| frame.text.as_str())
    }

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
