//! Sessions of the producer's own, for agents that run in this program.
//!
//! Responsibilities: opening a session, its events and its questions, ending it. Not here: what an agent does and when,
//! events of agents elsewhere ([`Producer::publish`]).

use std::sync::Arc;

use serde_json::{Map, Value};

use super::event_template::Template;
use super::producer_handle::Producer;
use super::producer_state::{PoseOutcome, QuestionExtras};

impl Producer {
    /// Opens a session of the agent that this `producer` object describes (chapter 3.2.6) and returns its id; its first
    /// event is still to come.
    pub fn open_session(&self, producer: Map<String, Value>, language: &str) -> String {
        self.shared()
            .change(|state, _| state.open_session(producer, language))
    }

    /// Sends an event of a session; returns false if the session is over.
    pub fn emit(&self, session: &str, template: &Template) -> bool {
        self.shared()
            .change(|state, now| state.emit(session, template, now))
    }

    /// Sends a question of a session and opens it. If every subscriber has declared that it can't answer one of its
    /// kind, it is not asked: it immediately ends with its default (5.3.1.4, 5.3.1.5).
    pub fn ask(&self, session: &str, template: &Template, asking: QuestionExtras) -> PoseOutcome {
        self.shared()
            .change(|state, now| state.ask(session, template, asking, now))
    }

    /// Ends a question as if its time were up; nothing happens if an answer came first.
    pub fn expire(&self, token: &str) {
        self.shared()
            .change(|state, _| state.questions_mut().expire(token));
    }

    /// Ends a session that is still open with a cancellation; does nothing if it is over.
    pub fn close_session(&self, session: &str, by: &str, words: &str) {
        self.shared()
            .change(|state, now| state.close_session(session, by, words, now));
    }

    /// Drops sessions silently, as a crash does.
    pub fn forget_sessions(&self, sessions: &[String]) {
        self.shared()
            .change(|state, _| state.forget_sessions(sessions));
    }

    /// Waits until no subscriber's queue is full.
    pub async fn until_room(&self) {
        let queues: Vec<_> = self
            .shared()
            .look(|state| state.hub().queues().map(Arc::clone).collect());
        for queue in queues {
            queue.until_room().await;
        }
    }

    /// Waits until all of these sessions have ended.
    pub async fn until_ended(&self, sessions: &[String]) {
        self.shared().until(|state| !state.any_open(sessions)).await;
    }

    /// Waits until the producer accepts no more subscribers, because it is stopping.
    pub async fn until_stopping(&self) {
        self.shared().until(|state| state.hub().is_over()).await;
    }
}
