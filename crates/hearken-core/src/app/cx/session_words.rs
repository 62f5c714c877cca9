//! Sessions in words, for the status and the faces.

use std::sync::Arc;
use std::time::Duration;

use crate::announce::{Arg, Quote, QuoteKind, Segment};
use crate::session::{Phase, QuestionId, Session, SessionEndKind, ToolCall};

use super::AppCx;

/// The longest name of a running call in a status, in characters; it was said in full when the call began.
const LONGEST_CALL: usize = 60;

impl AppCx {
    /// Returns a state in words for the status: in plain words if the protocol defines it.
    fn state_words(&self, state: &str) -> Arg {
        let key = match state {
            "idle" => "status.state.idle",
            "thinking" => "status.state.thinking",
            "calling_tool" => "status.state.calling_tool",
            "writing_output" => "status.state.writing_output",
            "awaiting_input" => "status.state.awaiting_input",
            "deciding" => "status.state.deciding",
            "handing_off" => "status.state.handing_off",
            other => return Arg::Tool(other.to_owned()),
        };
        Arg::Own(self.phrases().text(key, &[]))
    }

    /// Returns whether a question was answered from here, so that it no longer waits for the person.
    fn is_answered(&self, id: QuestionId) -> bool {
        self.sessions
            .question(id)
            .is_some_and(|question| question.answer().is_some())
    }

    /// Returns the words for calls of a session, and for its progress.
    fn work_of(&self, session: &Session, calls: Vec<&ToolCall>, now: Duration) -> (String, String) {
        let phrases = self.phrases();
        let (waiting, running): (Vec<&ToolCall>, Vec<&ToolCall>) = calls
            .into_iter()
            .partition(|call| self.sessions.waits_for_person(session, call));
        let running: Vec<String> = running
            .into_iter()
            .map(|call| {
                // The session may have ended since.
                if session.is_unheard() {
                    return phrases.text("status.tool.lost", &[("tool", self.named(call))]);
                }
                let since = self.announcer.time(now.saturating_sub(call.since));
                let args = [("tool", self.named(call)), ("since", Arg::Own(since))];
                phrases.text("status.tool", &args)
            })
            .collect();
        let mut tools = Vec::new();
        if !running.is_empty() {
            let running = [("tools", Arg::Own(running.join(", ")))];
            tools.push(phrases.text("status.tools", &running));
        }
        tools.extend(
            waiting
                .into_iter()
                .map(|call| phrases.text("status.tool.waits", &[("tool", self.named(call))])),
        );
        let tools = tools.join(", ");
        let percent = session
            .progress
            .as_ref()
            .and_then(|progress| progress.percent)
            .map(|percent| format!("{percent:.0}"));
        (tools, percent.unwrap_or_default())
    }

    /// Returns one session in hearken's words, then its calls as their agent names them.
    pub(in crate::app) fn session_told(
        &self,
        session: &Session,
    ) -> (String, Vec<Segment>, Vec<Quote>) {
        let now = self.now.monotonic;
        let (titled, untitled): (Vec<&ToolCall>, Vec<&ToolCall>) =
            session.tools.iter().partition(|call| call.title.is_some());
        let (tools, percent) = self.work_of(session, untitled, now);
        let words = self.words_of_session(session, tools, percent);
        let mut segments = Vec::new();
        for call in &titled {
            let key = if self.sessions.waits_for_person(session, call) {
                "status.call.waits"
            } else if session.is_unheard() {
                "status.call.lost"
            } else {
                "status.call"
            };
            let since = self.announcer.time(now.saturating_sub(call.since));
            let title = call.title.as_deref().unwrap_or_default();
            let args = [
                ("since", Arg::Own(since)),
                ("call", Arg::Exact(beginning_of(title), None)),
            ];
            segments.extend(self.words(key, &args));
        }
        let name = (self.announcer).agent_name(&session.key, &session.agent, &self.sessions);
        let quote = |_| Quote {
            agent: Arc::clone(&name),
            kind: QuoteKind::Call,
        };
        let quotes = titled.iter().map(quote).collect();
        (words, segments, quotes)
    }

    /// Names a running call by its translator's title, shortened if necessary, or else by its tool.
    fn named(&self, call: &ToolCall) -> Arg {
        let Some(title) = &call.title else {
            return Arg::Tool(call.tool.clone());
        };
        Arg::Inline(beginning_of(title))
    }

    /// Returns one session without what changes every second: agent, phase and state.
    pub(in crate::app) fn session_head(&self, session: &Session) -> String {
        self.words_of_session(session, String::new(), String::new())
    }

    fn words_of_session(&self, session: &Session, tools: String, percent: String) -> String {
        let phrases = self.phrases();
        // A waiting agent does not work, and on a narrow row the wait would be cut off.
        let waits = session.state.as_deref() == Some("awaiting_input");
        let phase = match session.phase {
            Phase::Running if waits => "status.state.awaiting_input",
            Phase::Running => "status.phase.running",
            Phase::Waiting(id) if self.is_answered(id) => "status.phase.answered",
            Phase::Waiting(_) => "status.phase.waiting",
            Phase::Ended(SessionEndKind::Completed) => "status.phase.completed",
            Phase::Ended(SessionEndKind::Errored) => "status.phase.errored",
            Phase::Ended(SessionEndKind::Cancelled) => "status.phase.cancelled",
        };
        let state = session
            .state
            .as_deref()
            .filter(|_| session.phase == Phase::Running && !waits);
        let key = if session.is_unheard() {
            "status.session.lost"
        } else if session.is_aside {
            "status.session.aside"
        } else {
            "status.session"
        };
        let name = (self.announcer).agent_name(&session.key, &session.agent, &self.sessions);
        phrases.text(
            key,
            &[
                ("agent", Arg::Name(name.to_string())),
                ("parent", self.announcer.parent_of(session, &self.sessions)),
                ("phase", Arg::Own(phrases.text(phase, &[]))),
                (
                    "state",
                    state.map_or_else(|| Arg::own(""), |state| self.state_words(state)),
                ),
                ("tools", Arg::Own(tools)),
                ("percent", Arg::Own(percent)),
            ],
        )
    }
}

/// Returns a call's title, or the beginning of a long one.
fn beginning_of(title: &str) -> String {
    let mut start: String = title.chars().take(LONGEST_CALL).collect();
    if title.chars().nth(LONGEST_CALL).is_some() {
        start.push('…');
    }
    start
}
