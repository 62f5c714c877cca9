//! Joining the threads of a server: the greeting, the list, what was missed, what is refused.
//!
//! Responsibilities: what the answers to our requests mean. Not here: what goes on in a thread (`thread`), everything
//! else that the server says (`client`).
//!
//! # Tuning by symptom
//! - The beginning of a new thread's first turn is missed: [`AGAIN`] is too long.
//! - A server is asked too often for a thread in which nothing happens: [`AGAIN_IDLE`] is too short.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::kit::members::text;
use crate::link::{Fault, Phrase, PhraseArg};
use crate::rpc;
use crate::{Cx, DialectOutput, event_writer};

use super::client::{Codex, CodexRequest, ContactPhase};
use super::thread::{JoinProgress, Thread};

/// How many pages of the list of threads are requested.
const MOST_PAGES: usize = 16;
/// The delay before asking again for an active thread that the server has not stored yet.
const AGAIN: Duration = Duration::from_millis(200);
/// The same delay for an idle thread.
const AGAIN_IDLE: Duration = Duration::from_secs(5);
/// How long to wait for what was missed.
const CATCH_UP: Duration = Duration::from_secs(3);
/// How long to wait for a question that the server should repeat.
const ASKED_AGAIN: Duration = Duration::from_secs(2);

impl Codex {
    /// Subscribes to everything that happens in a thread.
    pub(super) fn join(&mut self, id: &str, out: &mut Vec<DialectOutput>) {
        let met = self.phase == ContactPhase::Met;
        let Some(thread) = self.thread(id, out).filter(|_| met) else {
            return;
        };
        match thread.joined {
            JoinProgress::Not | JoinProgress::Later(_) => thread.joined = JoinProgress::Asked,
            JoinProgress::Asked
            | JoinProgress::CatchingUp { .. }
            | JoinProgress::Errand
            | JoinProgress::Yes => return,
        }
        let params = json!({"threadId": id, "excludeTurns": true});
        self.ask(
            CodexRequest::Join(id.to_owned()),
            "thread/resume",
            &params,
            out,
        );
    }

    /// Continues a thread after catching up with it; `sure` is false if what was missed stays unknown.
    pub(super) fn caught_up(
        &mut self,
        id: &str,
        last: Option<&Map<String, Value>>,
        sure: bool,
        cx: &mut Cx<'_>,
    ) {
        let Some(thread) = self.threads.get_mut(id) else {
            return;
        };
        let joined = std::mem::replace(&mut thread.joined, JoinProgress::Yes);
        let JoinProgress::CatchingUp {
            waiting_messages: held,
            joined,
            ..
        } = joined
        else {
            thread.joined = joined;
            return;
        };
        if sure {
            thread.caught_up(last, cx);
        }
        if !joined {
            thread.joined = JoinProgress::Not;
        }
        for message in held {
            self.message(message, cx);
        }
        if let Some(thread) = self.threads.get_mut(id).filter(|thread| thread.away) {
            match thread.waits {
                true => thread.away_until = Some(cx.now.monotonic + ASKED_AGAIN),
                // No question is open there: it was decided meanwhile, or went with the server.
                false => thread.lose_question(cx),
            }
        }
    }

    /// Handles the answer to a request of ours.
    pub(super) fn granted(
        &mut self,
        what: CodexRequest,
        result: &Map<String, Value>,
        cx: &mut Cx<'_>,
    ) {
        match what {
            CodexRequest::Greeting => {
                self.phase = ContactPhase::Met;
                self.send(rpc::notification("initialized", "{}"), cx.out);
                if let Some(only) = self.only.clone() {
                    self.join(&only, cx.out);
                } else {
                    self.ask(
                        CodexRequest::List(0),
                        "thread/loaded/list",
                        &json!({}),
                        cx.out,
                    );
                }
            }
            CodexRequest::List(page) => self.listed(result, page, cx),
            CodexRequest::Join(id) => self.joined(&id, result, cx),
            CodexRequest::Last(id) => {
                let turns = result.get("data").and_then(Value::as_array);
                let last = turns
                    .and_then(|turns| turns.first())
                    .and_then(Value::as_object);
                self.caught_up(&id, last, true, cx);
                self.tell_reason(&id, cx.out);
            }
            CodexRequest::Prompt | CodexRequest::Add(..) => {
                self.unanswered = self.unanswered.saturating_sub(1)
            }
            CodexRequest::Look(id) => {
                let about = result.get("thread").and_then(Value::as_object);
                self.looks = self.looks.saturating_sub(1);
                if about.is_some_and(is_passing) {
                    self.leave_aside(&id, about, cx.out);
                }
                self.tell_count(cx.out);
            }
            CodexRequest::Overrule {
                thread,
                review,
                request,
            } => self.overruled(&thread, &review, request, cx),
            CodexRequest::Stop(_) => {}
        }
    }

    pub(super) fn listed(&mut self, result: &Map<String, Value>, page: usize, cx: &mut Cx<'_>) {
        let ids = result.get("data").and_then(Value::as_array);
        let ids: Vec<String> = ids
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        for id in &ids {
            self.join(id, cx.out);
        }
        if let Some(cursor) = text(result, "nextCursor").filter(|_| page < MOST_PAGES) {
            let params = json!({"cursor": cursor});
            return self.ask(
                CodexRequest::List(page + 1),
                "thread/loaded/list",
                &params,
                cx.out,
            );
        }
        // Open turns of threads that are no longer loaded must come to an end.
        let open = self
            .threads
            .values()
            .filter(|it| it.in_turn() && it.joined == JoinProgress::Not);
        let open: Vec<String> = open.map(|thread| thread.id.clone()).collect();
        for id in open {
            self.catch_up(&id, cx);
        }
        self.listed = true;
        self.tell_count(cx.out);
    }

    /// Announces once how many conversations are open, as soon as it is known which threads are conversations.
    fn tell_count(&mut self, out: &mut Vec<DialectOutput>) {
        let is_asked = |thread: &Thread| thread.joined == JoinProgress::Asked;
        let is_open = self.looks > 0 || self.threads.values().any(is_asked);
        if !self.listed || self.list_told || is_open {
            return;
        }
        self.list_told = true;
        out.push(DialectOutput::Announce(match self.conversations() {
            0 => Phrase::new("codex.no_thread"),
            n => Phrase::new("codex.attached").with("n", PhraseArg::Own(n.to_string())),
        }));
    }

    /// Returns the number of threads in which somebody talks with Codex.
    pub(super) fn conversations(&self) -> usize {
        let threads = self.threads.values();
        threads
            .filter(|thread| thread.joined != JoinProgress::Errand)
            .count()
    }

    /// Handles the news that a thread has begun.
    pub(super) fn started(
        &mut self,
        id: &str,
        about: Option<&Map<String, Value>>,
        out: &mut Vec<DialectOutput>,
    ) {
        if about.is_some_and(is_passing) {
            self.leave_aside(id, about, out);
        } else {
            self.join(id, out);
        }
    }

    /// Leaves aside a thread that is never stored: the server offers no way to follow it.
    fn leave_aside(
        &mut self,
        id: &str,
        about: Option<&Map<String, Value>>,
        out: &mut Vec<DialectOutput>,
    ) {
        let Some(thread) = self.thread(id, out) else {
            return;
        };
        thread.joined = JoinProgress::Errand;
        // A person's own conversation is missed; an errand of Codex, such as finding a title, is not.
        let whose = about.and_then(|about| text(about, "threadSource"));
        let is_own = whose.is_none_or(|whose| whose == "user");
        if is_own && self.is_new(id) {
            out.push(DialectOutput::Announce(Phrase::new("codex.not_stored")));
        }
    }

    /// Requests what was missed in a thread.
    pub(super) fn catch_up(&mut self, id: &str, cx: &mut Cx<'_>) {
        let params =
            json!({"threadId": id, "limit": 1, "sortDirection": "desc", "itemsView": "full"});
        if let Some(thread) = self.threads.get_mut(id) {
            thread.joined = JoinProgress::CatchingUp {
                waiting_messages: Vec::new(),
                until: cx.now.monotonic + CATCH_UP,
                joined: thread.joined != JoinProgress::Not,
            };
            self.ask(
                CodexRequest::Last(id.to_owned()),
                "thread/turns/list",
                &params,
                cx.out,
            );
        }
    }

    /// Handles the news that a thread is joined.
    pub(super) fn joined(&mut self, id: &str, result: &Map<String, Value>, cx: &mut Cx<'_>) {
        let Some(thread) = self.threads.get_mut(id) else {
            return;
        };
        let about = result.get("thread").and_then(Value::as_object);
        let folder = text(result, "cwd").or_else(|| about.and_then(|it| text(it, "cwd")));
        thread.teller.folder = event_writer::cut(folder.unwrap_or_default(), 4096);
        thread.teller.writer.model(text(result, "model"));
        let status = about
            .and_then(|it| it.get("status"))
            .and_then(Value::as_object);
        thread.status(status, cx);
        let active = status.and_then(|status| text(status, "type")) == Some("active");
        if active || thread.in_turn() {
            self.catch_up(id, cx);
        } else {
            thread.joined = JoinProgress::Yes;
        }
        self.tell_count(cx.out);
        self.tell_policy(id, result, cx.out);
    }

    /// Handles the refusal of a request of ours.
    pub(super) fn refused(&mut self, what: CodexRequest, message: &str, cx: &mut Cx<'_>) {
        let words = PhraseArg::Agent(event_writer::short(message));
        if let CodexRequest::Prompt | CodexRequest::Add(..) = what {
            self.unanswered = self.unanswered.saturating_sub(1);
        }
        match what {
            CodexRequest::Greeting => {
                self.phase = ContactPhase::Over;
                cx.out.push(DialectOutput::Close(Fault::Rejected {
                    reason: Phrase::new("acp.no_start").with("words", words),
                    retry_after: None,
                    again: false,
                }));
            }
            CodexRequest::Join(id) => {
                let Some(thread) = self.threads.get_mut(&id) else {
                    return;
                };
                // Nothing of its first turn is written yet.
                if message.contains("no rollout found") {
                    let wait = if thread.active { AGAIN } else { AGAIN_IDLE };
                    thread.joined = JoinProgress::Later(cx.now.monotonic + wait);
                    if std::mem::replace(&mut thread.looked_at, true) {
                        return;
                    }
                    // Perhaps nothing ever will be.
                    self.looks += 1;
                    let params = json!({"threadId": id, "includeTurns": false});
                    return self.ask(CodexRequest::Look(id), "thread/read", &params, cx.out);
                }
                thread.joined = JoinProgress::Not;
                if self.is_new(&id) {
                    cx.out.push(DialectOutput::Announce(
                        Phrase::new("codex.not_joined").with("words", words),
                    ));
                }
                self.tell_count(cx.out);
            }
            CodexRequest::Look(_) => {
                self.looks = self.looks.saturating_sub(1);
                self.tell_count(cx.out);
            }
            CodexRequest::Overrule {
                thread,
                review,
                request,
            } => self.not_overruled(&thread, &review, request, words, cx),
            CodexRequest::Last(id) => self.caught_up(&id, None, true, cx),
            CodexRequest::Add(thread, prompt) => {
                // The turn was over before the prompt arrived.
                self.begin_turn(&thread, &prompt, cx.out);
            }
            CodexRequest::Stop(id) => {
                cx.out.push(DialectOutput::Announce(
                    Phrase::new("codex.refused").with("words", words),
                ));
                // Joining again brings back its questions, and it can be stopped again.
                if let Some(thread) = self.threads.get_mut(&id) {
                    thread.joined = JoinProgress::Not;
                    if let Some((turn, _)) = thread.announced_turn() {
                        turn.stopping = false;
                    }
                }
                self.join(&id, cx.out);
            }
            CodexRequest::List(_) | CodexRequest::Prompt => {
                cx.out.push(DialectOutput::Announce(
                    Phrase::new("codex.refused").with("words", words),
                ));
            }
        }
    }
}

/// Returns whether a thread is never stored.
fn is_passing(about: &Map<String, Value>) -> bool {
    about.get("ephemeral") == Some(&Value::Bool(true))
}
