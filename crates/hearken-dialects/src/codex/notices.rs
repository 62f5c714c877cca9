//! What Codex reports about itself: hooks, another model, a goal, trouble.
//!
//! Responsibilities: which of it matters, and how. Not here: its reviewer (`review_outcomes`), what goes on in a turn
//! (`thread`).

use serde_json::{Map, Value};

use crate::kit::members::text;
use crate::link::{Phrase, PhraseArg};
use crate::{DialectOutput, event_writer};

use super::thread::Thread;

/// How many texts of a hook are announced.
const MOST_TEXTS: usize = 4;

impl Thread {
    /// Handles a report; returns false for any other message.
    pub fn noticed(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        match method {
            "hook/completed" => {
                let run = params.get("run").and_then(Value::as_object);
                out.extend(run.and_then(of_hook));
            }
            "model/rerouted" => {
                let name = |key: &str| {
                    PhraseArg::Name(event_writer::short(text(params, key).unwrap_or_default()))
                };
                let phrase = Phrase::new("codex.rerouted")
                    .with("from", name("fromModel"))
                    .with("to", name("toModel"));
                out.push(DialectOutput::Announce(phrase));
            }
            "thread/goal/updated" => {
                let goal = params.get("goal").and_then(Value::as_object);
                out.extend(goal.and_then(|goal| self.of_goal(goal)));
            }
            "thread/goal/cleared" => self.reviews.goal = None,
            "error" => out.extend(trouble(params)),
            // Running hooks and waiting prompts are not announced: the end of the hook and the turns of the prompts
            // are.
            "hook/started" | "thread/queue/changed" => {}
            _ => return false,
        }
        true
    }

    /// Returns the announcement of a goal: that there is one, and its progress, each once.
    fn of_goal(&mut self, goal: &Map<String, Value>) -> Option<DialectOutput> {
        let objective = event_writer::short(text(goal, "objective").unwrap_or_default());
        let status = text(goal, "status").unwrap_or_default();
        let now = (objective, event_writer::cut(status, 64));
        if self.reviews.goal.as_ref() == Some(&now) {
            // Only its counts have changed.
            return None;
        }
        let phrase = |key| Phrase::new(key).with("goal", PhraseArg::Agent(now.0.clone()));
        let said = match now.1.as_str() {
            "active" => DialectOutput::Detail(phrase("codex.goal")),
            "complete" => DialectOutput::Announce(phrase("codex.goal.reached")),
            "paused" => DialectOutput::Announce(phrase("codex.goal.paused")),
            "blocked" => DialectOutput::Announce(phrase("codex.goal.blocked")),
            "usageLimited" | "budgetLimited" => DialectOutput::Announce(phrase("codex.goal.limit")),
            _ => return None,
        };
        self.reviews.goal = Some(now);
        Some(said)
    }
}

/// Returns the announcement of a hook that has run: nothing, if it changed nothing.
fn of_hook(run: &Map<String, Value>) -> Option<DialectOutput> {
    let entries = run.get("entries").and_then(Value::as_array);
    let texts = entries.into_iter().flatten().take(MOST_TEXTS);
    let texts = texts.filter_map(|entry| text(entry.as_object()?, "text"));
    let mut texts: Vec<&str> = texts.collect();
    if texts.is_empty() {
        texts.extend(text(run, "statusMessage"));
    }
    let words = PhraseArg::Agent(event_writer::short(texts.join(" ").trim()));
    let phrase = |key| Phrase::new(key).with("words", words);
    match text(run, "status") {
        Some("blocked") => Some(DialectOutput::Announce(phrase("codex.hook.blocked"))),
        Some("stopped") => Some(DialectOutput::Announce(phrase("codex.hook.stopped"))),
        Some("failed") => Some(DialectOutput::Detail(phrase("codex.hook.failed"))),
        Some(_) | None => None,
    }
}

/// Returns the announcement of an error: the end of a failed turn states its reason, too.
fn trouble(params: &Map<String, Value>) -> Option<DialectOutput> {
    let error = params.get("error").and_then(Value::as_object);
    let words = error
        .and_then(|error| text(error, "message"))
        .unwrap_or_default();
    let again = params.get("willRetry") == Some(&Value::Bool(true));
    again.then(|| {
        let words = PhraseArg::Agent(event_writer::short(words));
        DialectOutput::Detail(Phrase::new("codex.retries").with("words", words))
    })
}
