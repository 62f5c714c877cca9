//! The events of a run: announced in its turn, and kept for the next run.
//!
//! Responsibilities: what each event does to the turn and to the conversation, and what is announced only once. Not
//! here: how a run starts and what follows its end (`runs`), its questions (`decisions`).
//!
//! Mental model: text is announced as it streams; text that was not streamed is announced when the agent's own copy of
//! the conversation contains it. Of a subagent, only the calls are announced; its words are for the agent. Thoughts and
//! shared state are not announced.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::kit::call;
use crate::kit::members::text;
use crate::kit::turn::{EventContext, Turn};
use crate::kit::turn_end::TurnEnd;
use crate::kit::turn_updates::{CallNews, CallStatus, Update};
use crate::link::{Phrase, PhraseArg};
use crate::protocol::CallOutput;
use crate::{Cx, DialectOutput, ForeignFormat, NoEvent};

use super::client::{Agui, CallArguments, ConnectionPhase};
use super::interrupt;
use super::messages::{self, AguiEvent, RunOutcome};
use super::questions::{self, HeardExtent, InterruptForm};

/// How many unknown kinds of events are reported, each once.
const MOST_UNKNOWN: usize = 64;
/// How many calls of a turn are kept with their arguments.
const MOST_CALLS: usize = 256;
/// The most that is kept of one call's arguments, in bytes: a question could not contain more in full.
const LONGEST_GIVEN: usize = 64 * 1024;
/// How many interrupts in LangGraph's form are kept per run.
const MOST_OLDER: usize = questions::MOST + 1;

impl Agui {
    /// Handles an event.
    pub(super) fn frame(&mut self, frame: &str, cx: &mut Cx<'_>) {
        let Some((news, by)) = messages::event(frame) else {
            return cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::Typed),
                1,
            ));
        };
        match self.line {
            ConnectionPhase::Open => {}
            // Nothing after the end of a run belongs to it.
            ConnectionPhase::Spent if !self.listens => return,
            // The peer sends events without a request: they are heard, but no run can be posted here.
            ConnectionPhase::Soon
            | ConnectionPhase::Waits
            | ConnectionPhase::Posted
            | ConnectionPhase::Lost
            | ConnectionPhase::Spent => {
                self.listens = true;
                self.teller.answerable = false;
            }
        }
        match news {
            AguiEvent::Begins(words) => {
                if self.listens {
                    self.end(TurnEnd::Lost("agui.end.unsaid"), cx);
                    self.begin(words.as_deref(), cx);
                }
                self.older.clear();
                return;
            }
            AguiEvent::Ended(outcome) => return self.ended(outcome, cx),
            AguiEvent::Failed(words) => return self.failed(words, cx),
            AguiEvent::State(value) => {
                if self.shared.set(value) {
                    cx.out
                        .push(DialectOutput::Announce(Phrase::new("agui.state_lost")));
                }
                return;
            }
            AguiEvent::Changes(changes) => {
                if self.shared.change(&changes) {
                    cx.out
                        .push(DialectOutput::Announce(Phrase::new("agui.state_lost")));
                }
                return;
            }
            AguiEvent::Interrupts { value, id } => {
                if self.older.len() < MOST_OLDER {
                    self.older.push(interrupt::older(&value, id));
                }
                return;
            }
            AguiEvent::Custom(name) => return self.told_once("agui.custom", name, cx.out),
            AguiEvent::Unknown(kind) => return self.told_once("acp.unknown", kind, cx.out),
            AguiEvent::Quiet => return,
            AguiEvent::Step(_)
            | AguiEvent::Reopening { .. }
            | AguiEvent::Says { .. }
            | AguiEvent::Calls { .. }
            | AguiEvent::Called(_)
            | AguiEvent::CallOutput { .. }
            | AguiEvent::Thinks(_)
            | AguiEvent::Sealed { .. }
            | AguiEvent::Messages(_)
            | AguiEvent::Shows(_)
            | AguiEvent::Helper(_)
            | AguiEvent::HelperFailed(_) => {}
        }
        if self.turn.is_none() && self.listens {
            self.begin(None, cx);
        }
        self.hears(news, by.as_deref(), cx);
    }

    /// Reports an event of this kind in detail, once.
    fn told_once(&mut self, key: &'static str, kind: String, out: &mut Vec<DialectOutput>) {
        let known = format!("{key} {kind}");
        if self.unknown.len() < MOST_UNKNOWN && self.unknown.insert(known) {
            let kind = PhraseArg::Name(kind);
            out.push(DialectOutput::Detail(Phrase::new(key).with("kind", kind)));
        }
    }

    fn update(&mut self, update: Update, cx: &mut Cx<'_>) {
        if let Some((turn, teller)) = self.announced_turn() {
            turn.update(update, teller, cx);
        }
    }

    /// Returns the turn and its teller.
    pub(super) fn announced_turn(&mut self) -> Option<(&mut Turn, &mut EventContext)> {
        Some((self.turn.as_mut()?, &mut self.teller))
    }

    fn hears(&mut self, news: AguiEvent, by: Option<&str>, cx: &mut Cx<'_>) {
        match news {
            AguiEvent::Reopening { message, is_agents } => {
                if by.is_none() {
                    self.message = Some((message, is_agents));
                }
            }
            AguiEvent::Says {
                message,
                is_agents,
                text,
            } if by.is_none() => self.says(message, is_agents, text, cx),
            AguiEvent::Thinks(thought) if by.is_none() => {
                if let Some((message, more)) = thought {
                    self.history.says(&message, "reasoning", &more);
                }
                self.update(Update::Thinks, cx);
            }
            // A subagent's words and thoughts are for the agent.
            AguiEvent::Says { .. } | AguiEvent::Thinks(_) => {}
            AguiEvent::Calls {
                call,
                tool,
                message,
                piece,
            } => {
                let Some(call) = call.or_else(|| self.call.clone()) else {
                    return;
                };
                self.calls(&call, tool, message.as_deref().filter(|_| by.is_none()), cx);
                self.gives(&call, &piece);
                if by.is_none() {
                    self.history.called_with(&call, &piece);
                }
                self.call = Some(call);
            }
            AguiEvent::Called(call) => self.called(&call, cx),
            AguiEvent::CallOutput {
                call,
                message,
                content,
            } => {
                if by.is_none() {
                    self.history.brought(&message, &call, &content);
                }
                self.brought(&call, &content, cx);
            }
            AguiEvent::Sealed { of, value } => self.history.sealed(&of, &value),
            AguiEvent::Messages(messages) => self.messages(messages, cx),
            AguiEvent::Step(step) => {
                if let Some((turn, teller)) = self.announced_turn().filter(|_| is_named(&step)) {
                    turn.does(&step, teller, cx);
                }
            }
            AguiEvent::Shows(kind) => self.told_once("agui.activity", kind, cx.out),
            AguiEvent::Helper(name) => {
                let name = PhraseArg::Name(name);
                cx.out.push(DialectOutput::Detail(
                    Phrase::new("agui.helper").with("name", name),
                ));
            }
            AguiEvent::HelperFailed(words) => {
                let words = PhraseArg::Agent(words);
                cx.out.push(DialectOutput::Announce(
                    Phrase::new("agui.helper_failed").with("words", words),
                ));
            }
            AguiEvent::Begins(_)
            | AguiEvent::Ended(_)
            | AguiEvent::Failed(_)
            | AguiEvent::State(_)
            | AguiEvent::Changes(_)
            | AguiEvent::Interrupts { .. }
            | AguiEvent::Custom(_)
            | AguiEvent::Unknown(_)
            | AguiEvent::Quiet => {}
        }
    }

    fn says(
        &mut self,
        message: Option<String>,
        is_agents: Option<bool>,
        text: String,
        cx: &mut Cx<'_>,
    ) {
        if let Some(message) = message {
            let same = self
                .message
                .as_ref()
                .is_some_and(|(known, _)| *known == message);
            if !same {
                self.message = Some((message, is_agents.unwrap_or(true)));
            }
        }
        let Some((message, true)) = self.message.clone() else {
            return;
        };
        if text.is_empty() {
            return;
        }
        self.history.says(&message, "assistant", &text);
        let message = Some(message);
        self.update(Update::Says { message, text }, cx);
    }

    /// Applies a call, or more of one.
    fn calls(&mut self, call: &str, tool: Option<String>, message: Option<&str>, cx: &mut Cx<'_>) {
        let Some(tool) = tool else {
            return;
        };
        if self.calls.contains_key(call) || self.calls.len() >= MOST_CALLS {
            return;
        }
        self.calls.insert(call.to_owned(), CallArguments::default());
        self.history.calls(call, &tool, message);
        let news = CallNews {
            id: call.to_owned(),
            kind: Some(tool),
            status: Some(CallStatus::Pending),
            ..CallNews::default()
        };
        self.update(Update::Calls(Box::new(news)), cx);
    }

    fn gives(&mut self, call: &str, piece: &str) {
        let Some(known) = self.calls.get_mut(call).filter(|it| !it.is_whole) else {
            return;
        };
        match known.given.len() + piece.len() <= LONGEST_GIVEN {
            true => known.given.push_str(piece),
            false => known.is_cut = true,
        }
    }

    /// Handles the end of a call's arguments: as far as known, the call runs now.
    fn called(&mut self, call: &str, cx: &mut Cx<'_>) {
        let Some(known) = self.calls.get_mut(call).filter(|it| !it.is_whole) else {
            return;
        };
        known.is_whole = true;
        let given = match known.given.trim() {
            "" => Ok(Value::Null),
            text => serde_json::from_str(text),
        };
        let given = given.unwrap_or_else(|_| known.given.as_str().into());
        let mut news = CallNews {
            id: call.to_owned(),
            status: Some(CallStatus::InProgress),
            ..CallNews::default()
        };
        known.is_cut |= !questions::inputs(&given, &mut news);
        known.given.clear();
        self.update(Update::Calls(Box::new(news)), cx);
    }

    fn brought(&mut self, call: &str, content: &Value, cx: &mut Cx<'_>) {
        self.called(call, cx);
        let news = CallNews {
            id: call.to_owned(),
            // The protocol does not report whether the call succeeded.
            status: Some(CallStatus::Ended),
            output: Some(CallOutput::of(messages::plain(content).trim()).unwrap_or_default()),
            ..CallNews::default()
        };
        self.update(Update::Calls(Box::new(news)), cx);
    }

    /// Adopts the agent's own copy of the conversation, and announces what was not heard yet.
    fn messages(&mut self, messages: Vec<Value>, cx: &mut Cx<'_>) {
        let heard: BTreeSet<String> = self
            .history
            .messages()
            .iter()
            .filter_map(|it| text(it.as_object()?, "content"))
            .map(|text| text.trim().to_owned())
            .collect();
        let is_persons = |it: &Value| it.get("role").and_then(Value::as_str) == Some("user");
        let last = messages.iter().rposition(is_persons).map_or(0, |at| at + 1);
        let before = std::mem::take(&mut self.history);
        self.history.is(messages.clone());
        for message in messages.iter().skip(last).filter_map(Value::as_object) {
            let name = text(message, "id").unwrap_or_default();
            let by = text(message, "subagentRunId");
            match text(message, "role") {
                Some("assistant") => {
                    let calls = message.get("toolCalls").and_then(Value::as_array);
                    if !before.has(name) && by.is_none() {
                        let text = text(message, "content").unwrap_or_default();
                        if !text.trim().is_empty() && !heard.contains(text.trim()) {
                            let message = Some(name.to_owned());
                            let text = text.to_owned();
                            self.update(Update::Says { message, text }, cx);
                        }
                    }
                    for call in calls.into_iter().flatten() {
                        let part =
                            |at: &str| call.pointer(at).and_then(Value::as_str).map(str::to_owned);
                        let Some(id) = part("/id").filter(|id| !self.calls.contains_key(id)) else {
                            continue;
                        };
                        self.calls(&id, part("/function/name"), None, cx);
                        self.gives(&id, &part("/function/arguments").unwrap_or_default());
                        self.called(&id, cx);
                    }
                }
                Some("tool") => {
                    let call = text(message, "toolCallId").unwrap_or_default().to_owned();
                    let content = message.get("content").unwrap_or(&Value::Null);
                    if self.calls.contains_key(&call) {
                        self.brought(&call, content, cx);
                    }
                }
                Some(_) | None => {}
            }
        }
    }

    /// Returns how much was heard of a call of this turn.
    pub(super) fn heard_extent(&self, call: &str) -> HeardExtent {
        let told = self.turn.as_ref();
        let told = told.is_some_and(|turn| turn.calls.contains_key(&call::key(call)));
        match self.calls.get(call) {
            Some(known) if told && known.is_whole && !known.is_cut => HeardExtent::Whole,
            Some(_) if told => HeardExtent::Cut,
            Some(_) | None => HeardExtent::No,
        }
    }

    /// Handles the end of a run.
    fn ended(&mut self, outcome: RunOutcome, cx: &mut Cx<'_>) {
        self.run_is_over();
        let older = std::mem::take(&mut self.older);
        let stopped = self.turn.as_ref().is_some_and(|turn| turn.stopping);
        match outcome {
            RunOutcome::Interrupted(values) => {
                let interrupts: Vec<_> = values
                    .iter()
                    .take(MOST_OLDER)
                    .filter_map(interrupt::typed)
                    .collect();
                let all = (interrupts.len() == values.len()).then_some(interrupts);
                self.interrupted(InterruptForm::Typed, all, cx);
            }
            RunOutcome::Done if !older.is_empty() => {
                self.interrupted(InterruptForm::Older, Some(older), cx)
            }
            RunOutcome::Done if stopped => self.end(TurnEnd::Stopped { wanted: true }, cx),
            RunOutcome::Done => self.end(TurnEnd::Done, cx),
            RunOutcome::Cancelled => self.end(TurnEnd::Stopped { wanted: stopped }, cx),
        }
    }

    fn failed(&mut self, words: String, cx: &mut Cx<'_>) {
        self.run_is_over();
        self.older.clear();
        self.history.breaks_off();
        self.end(TurnEnd::Failed(words), cx);
    }
}

/// Returns whether a step's name is meant for people; frameworks start internal names with two underscores.
fn is_named(step: &str) -> bool {
    !step.trim().is_empty() && !step.starts_with("__")
}
