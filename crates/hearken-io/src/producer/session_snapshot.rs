//! What a subscriber that joins midway is told of events from outside.
//!
//! Responsibilities: remembering the start, the state and the open questions of each session. Not here: the content of
//! events (their publisher's), events of the producer's own sessions (`producer_state`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use super::queue::{Frame, QUEUE_EVENTS};

/// How many sessions are remembered for later subscribers: more than one machine runs.
const MOST_SESSIONS: usize = 1024;
/// How many bytes of events are remembered for them.
const MOST_BYTES: usize = 32 << 20;
/// How many open questions of one session are remembered: more than a person can keep apart.
const MOST_QUESTIONS: usize = 64;
/// How many open questions of all sessions are remembered: fewer than the events that may wait for one subscriber, who
/// would be cut off by more, since no question is dropped.
const MOST_ASKED: usize = QUEUE_EVENTS - 24;
/// The largest event that is remembered, in bytes: far more than any question that can be spoken.
const LARGEST: usize = 256 * 1024;

/// What later subscribers must know of an event from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retention {
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
struct SessionSnapshot {
    started: Option<Arc<Frame>>,
    state: Option<Arc<Frame>>,
    /// The open questions, in the order in which they were asked.
    questions: Vec<Arc<Frame>>,
}

impl SessionSnapshot {
    fn size(&self) -> usize {
        let frames = self
            .started
            .iter()
            .chain(&self.state)
            .chain(&self.questions);
        frames.map(|frame| frame.text.len()).sum()
    }
}

/// The state of all sessions that are still open. If there are too many, those that ask nothing are forgotten first,
/// the oldest before others: later subscribers hear of such a session with its next event.
#[derive(Debug, Default)]
pub struct OpenSessions {
    /// The last event of the kind that each new one replaces.
    latest: Option<Arc<Frame>>,
    sessions: BTreeMap<String, SessionSnapshot>,
    /// Their ids, the oldest first.
    order: VecDeque<String>,
    bytes: usize,
    /// How many open questions no later subscriber is told of, because there was no room for them.
    questions_left_out: u64,
}

impl OpenSessions {
    /// Returns how many open questions no later subscriber is told of, because there was no room for them.
    pub fn questions_left_out(&self) -> u64 {
        self.questions_left_out
    }

    /// Remembers what later subscribers must know of an event.
    pub fn note(&mut self, text: &str, lasting: &Retention) {
        self.take(text, lasting);
    }

    /// Returns the events that a new subscriber is sent first, as JSON text.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.frames().map(|frame| frame.text.as_str())
    }

    /// Builds a frame from an event, and remembers what later subscribers must know of it.
    pub(super) fn take(&mut self, text: &str, lasting: &Retention) -> Arc<Frame> {
        let event: Value = serde_json::from_str(text).unwrap_or_default();
        let of = |name: &str| event.get(name).and_then(Value::as_str);
        let frame = Arc::new(Frame {
            event_id: of("event_id").map(str::to_owned),
            // Without the last report, a subscriber would not know whom it follows.
            critical: of("urgency") == Some("critical") || *lasting == Retention::Latest,
            text: text.to_owned(),
        });
        match lasting {
            Retention::AsItsType => {}
            Retention::Latest => self.latest = Some(Arc::clone(&frame)),
            Retention::Closes(event) => self.close(event),
            Retention::Passing => {}
        }
        if *lasting != Retention::AsItsType {
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
            self.forget(session);
            return frame;
        }
        if !self.sessions.contains_key(session) {
            self.order.push_back(session.to_owned());
        }
        let going = self.sessions.entry(session.to_owned()).or_default();
        let before = going.size();
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
                match kept().filter(|_| going.questions.len() < MOST_QUESTIONS) {
                    Some(asked) => going.questions.push(asked),
                    None => self.questions_left_out += 1,
                }
            }
            _ => {}
        }
        self.bytes = self.bytes + going.size() - before;
        while self.sessions.len() > MOST_SESSIONS || self.bytes > MOST_BYTES {
            let asks_nothing = |id: &&String| {
                let going = self.sessions.get(*id);
                going.is_some_and(|going| going.questions.is_empty())
            };
            let oldest = self.order.iter().find(asks_nothing);
            let Some(oldest) = oldest.or(self.order.front()).cloned() else {
                break;
            };
            let lost = self.sessions.get(&oldest);
            self.questions_left_out += lost.map_or(0, |going| going.questions.len()) as u64;
            self.forget(&oldest);
        }
        if frame.critical {
            self.limit_questions();
        }
        frame
    }

    /// Forgets the oldest questions of the oldest sessions beyond what a new subscriber can be sent.
    fn limit_questions(&mut self) {
        let asked: usize = self.sessions.values().map(|it| it.questions.len()).sum();
        for _ in MOST_ASKED..asked {
            let asks = |id: &&String| {
                let going = self.sessions.get(*id);
                going.is_some_and(|going| !going.questions.is_empty())
            };
            let oldest = self.order.iter().find(asks).cloned();
            let Some(going) = oldest.and_then(|id| self.sessions.get_mut(&id)) else {
                break;
            };
            self.bytes -= going.questions.remove(0).text.len();
            self.questions_left_out += 1;
        }
    }

    fn forget(&mut self, session: &str) {
        if let Some(going) = self.sessions.remove(session) {
            self.bytes -= going.size();
            self.order.retain(|one| one != session);
        }
    }

    /// Forgets a question that is over, although its session may keep its state.
    fn close(&mut self, event: &str) {
        for going in self.sessions.values_mut() {
            let before = going.size();
            let is_it = |asked: &Arc<Frame>| asked.event_id.as_deref() == Some(event);
            going.questions.retain(|asked| !is_it(asked));
            self.bytes -= before - going.size();
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(session: usize, kind: &str, more: &str) -> String {
        json!({
            "type": format!("aaep:agent.{kind}"), "session_id": format!("sess_{session}"),
            "event_id": format!("evt_{session}_{kind}"), "reply_token": format!("rpl_{session}"), "more": more,
            "urgency": if kind.starts_with("awaiting") { "critical" } else { "normal" },
        })
        .to_string()
    }

    fn note(open: &mut OpenSessions, session: usize, kind: &str, more: &str) {
        open.note(&event(session, kind, more), &Retention::AsItsType);
    }

    #[test]
    fn of_too_many_sessions_those_that_ask_are_remembered() {
        let mut open = OpenSessions::default();
        note(&mut open, 0, "session.started", "");
        note(&mut open, 0, "awaiting.confirmation", "");
        for session in 1..=MOST_SESSIONS {
            note(&mut open, session, "session.started", "");
        }
        assert_eq!(open.sessions.len(), MOST_SESSIONS);
        assert_eq!(open.order.len(), MOST_SESSIONS);
        assert!(
            open.texts()
                .any(|text| text.contains("awaiting.confirmation"))
        );
        assert!(
            !open.sessions.contains_key("sess_1"),
            "the oldest that asks nothing"
        );
        for session in 0..=MOST_SESSIONS {
            note(&mut open, session, "session.completed", "");
        }
        assert_eq!(
            (open.sessions.len(), open.order.len(), open.bytes),
            (0, 0, 0)
        );
    }

    #[test]
    fn questions_that_no_later_subscriber_is_told_of_are_counted() {
        let asked = |open: &OpenSessions| {
            let asks = |text: &&str| text.contains("agent.awaiting.");
            open.texts().filter(asks).count()
        };
        let mut open = OpenSessions::default();
        for session in 0..MOST_ASKED {
            note(&mut open, session, "awaiting.confirmation", "");
        }
        assert_eq!((open.questions_left_out(), asked(&open)), (0, MOST_ASKED));
        note(&mut open, MOST_ASKED, "awaiting.confirmation", "");
        assert_eq!((open.questions_left_out(), asked(&open)), (1, MOST_ASKED));
        assert!(!open.texts().any(|text| text.contains("rpl_0\"")));
        note(&mut open, 1, "awaiting.clarification", &"x".repeat(LARGEST));
        assert_eq!(open.questions_left_out(), 2, "too large");
        for session in 0..=MOST_ASKED {
            note(&mut open, session, "session.completed", "");
        }
        for n in 0..=MOST_QUESTIONS {
            let mut asked: Value =
                serde_json::from_str(&event(7, "awaiting.confirmation", "")).unwrap();
            asked["reply_token"] = json!(format!("rpl_{n}"));
            open.note(&asked.to_string(), &Retention::AsItsType);
        }
        assert_eq!(open.questions_left_out(), 3, "too many of one session");
        note(&mut open, 7, "session.completed", "");
        assert_eq!((open.sessions.len(), open.bytes), (0, 0));
    }

    #[test]
    fn what_is_remembered_has_a_bound_in_bytes() {
        let mut open = OpenSessions::default();
        let long = "x".repeat(200 * 1024);
        for session in 0..400 {
            note(&mut open, session, "session.started", &long);
        }
        assert!(open.bytes <= MOST_BYTES);
        let counted: usize = open.texts().map(str::len).sum();
        assert_eq!(open.bytes, counted);
        note(&mut open, 500, "awaiting.confirmation", "");
        open.note(
            "{}",
            &Retention::Closes("evt_500_awaiting.confirmation".to_owned()),
        );
        let counted: usize = open.texts().map(str::len).sum();
        assert_eq!(open.bytes + 2 * usize::from(open.latest.is_some()), counted);
    }
}
