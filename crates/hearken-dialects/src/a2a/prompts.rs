//! Sending prompts to the agent, and stopping it.
//!
//! Responsibilities: choosing the conversation, holding prompts, the task that a prompt starts, and the outcome of a
//! stop. Not here: tasks (`task`), following tasks that other clients started (`task_watch`).

use std::collections::VecDeque;

use crate::kit::post_outcome::delivered;
use crate::kit::turn_end::{self, ABANDONED, TurnEnd};
use crate::link::{DeliveryFailure, Fault, HttpAnswer, Phrase, PhraseArg};
use crate::protocol::AgentId;
use crate::{Cx, DialectOutput, PersonRequest};

use super::client::{A2a, TaskRequest, agent, refusal};
use super::messages::{self, RequestAnswer, ServerReport};
use super::outgoing_requests::OutgoingMessage;

/// How many prompts may wait; a person writing ahead writes a few.
const MOST_HELD: usize = 16;
/// How many conversations are kept for continuing.
const MOST_TALKS: usize = 256;

/// A conversation.
#[derive(Debug, Default)]
pub struct TaskConversation {
    /// The prompts to send when the current task is done.
    pub held_prompts: VecDeque<String>,
    /// Whether a prompt is being sent.
    pub sending: bool,
    /// The position of the last report about the conversation, in the order of reports.
    pub heard: u64,
    /// Whether the name is ours because the server gave none.
    pub is_unnamed: bool,
}

/// A prompt that is being sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentPrompt {
    /// The conversation; empty if the prompt starts one.
    pub context: String,
    /// The text of the prompt.
    pub words: String,
    /// Whether its answer is a stream.
    pub streams: bool,
    /// Whether an answer without a task was already announced.
    pub is_told: bool,
}

impl A2a {
    /// Records a conversation; if there are too many, a new one replaces the one that has been silent longest.
    pub(super) fn talk(&mut self, context: &str) {
        let heard = self.heard;
        if !self.talks.contains_key(context) && self.talks.len() >= MOST_TALKS {
            let idle = self
                .talks
                .iter()
                .filter(|(_, it)| it.held_prompts.is_empty() && !it.sending);
            let oldest = idle
                .min_by_key(|(_, it)| it.heard)
                .map(|(id, _)| id.clone());
            if let Some(oldest) = oldest {
                self.talks.remove(&oldest);
            }
        }
        self.talks.entry(context.to_owned()).or_default().heard = heard;
    }

    /// Sends a prompt to the conversation that was heard of last, or to a new one.
    pub(super) fn prompt(&mut self, prompt: &str, out: &mut Vec<DialectOutput>) {
        let last = self.talks.iter().max_by_key(|(_, it)| it.heard);
        let last = last.map(|(context, _)| context.clone()).unwrap_or_default();
        self.prompt_in(&last, prompt, out);
    }

    /// Carries out a request for one of the conversations.
    pub(super) fn wish_of(&mut self, whom: &AgentId, wish: &PersonRequest, cx: &mut Cx<'_>) {
        let mut all = self.talks.keys();
        let context = all.find(|context| agent(context) == whom.as_str()).cloned();
        match (wish, context) {
            (PersonRequest::Prompt(prompt), Some(context)) => {
                self.prompt_in(&context, prompt, cx.out)
            }
            (PersonRequest::Prompt(_), None) => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("prompt.nobody"))),
            (PersonRequest::Stop, Some(context)) => self.stop_in(&context, cx.out),
            (PersonRequest::Abandon, Some(context)) => self.abandon_in(&context, cx),
            (PersonRequest::Stop | PersonRequest::Abandon, None) => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("stop_turn.none"))),
            (PersonRequest::ForAgent(whom, wish), _) => self.wish_of(whom, wish, cx),
            (PersonRequest::Set(_), _) => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("settings.none"))),
            (PersonRequest::Terms(_), _) => {}
        }
    }

    fn prompt_in(&mut self, context: &str, prompt: &str, out: &mut Vec<DialectOutput>) {
        if self.listens || self.is_over || self.card.is_none() {
            return out.push(DialectOutput::Announce(Phrase::new("prompt.nobody")));
        }
        let is_busy = self.works(context);
        let mut tasks = self.tasks.values();
        let is_stopping = tasks.any(|it| it.context == context && it.is_stopping());
        let talk = self.talks.entry(context.to_owned()).or_default();
        if talk.held_prompts.len() >= MOST_HELD {
            return out.push(DialectOutput::Announce(Phrase::new("prompt.too_many")));
        }
        talk.held_prompts.push_back(prompt.to_owned());
        let key = match (is_stopping, is_busy || talk.sending) {
            (true, _) => Some("prompt.after_stop"),
            (false, true) => Some("prompt.held"),
            (false, false) => None,
        };
        out.extend(key.map(|key| DialectOutput::Announce(Phrase::new(key))));
        self.send_held(context, out);
    }

    /// Returns whether a conversation has an active task.
    fn works(&self, context: &str) -> bool {
        self.tasks.values().any(|task| task.context == context)
    }

    /// Sends the prompts that waited for the connection.
    pub(super) fn send_all_held(&mut self, out: &mut Vec<DialectOutput>) {
        let all: Vec<String> = self.talks.keys().cloned().collect();
        for context in all {
            self.send_held(&context, out);
        }
    }

    /// Sends the next prompt that waited for a conversation to be done.
    pub(super) fn send_held(&mut self, context: &str, out: &mut Vec<DialectOutput>) {
        let is_busy = self.works(context) || !self.is_up;
        let can_stream = self.has_room(true);
        let Some(card) = self.card.clone() else {
            return;
        };
        let Some(talk) = self
            .talks
            .get_mut(context)
            .filter(|it| !it.sending && !is_busy)
        else {
            return;
        };
        let Some(words) = talk.held_prompts.pop_front() else {
            return;
        };
        talk.sending = true;
        let streams = card.streams && can_stream;
        let is_unnamed = talk.is_unnamed;
        let name = self.message_id();
        let message = OutgoingMessage {
            id: &name,
            task: "",
            context: if is_unnamed { "" } else { context },
            words: &words,
        };
        let number = self.numbers.fresh();
        let call = card.send(number, &message, streams);
        let prompted = SentPrompt {
            context: context.to_owned(),
            words,
            streams,
            is_told: false,
        };
        self.request(number, TaskRequest::Prompt(prompted), call, out);
    }

    /// Handles the first report of a prompt's stream: the task, or an answer without one.
    pub(super) fn prompt_begins(
        &mut self,
        request: u64,
        prompted: SentPrompt,
        news: ServerReport,
        cx: &mut Cx<'_>,
    ) {
        if prompted.is_told {
            return;
        }
        let begun = self.began(&prompted, news, cx);
        let asked = match begun {
            Some(id) => {
                if let Some(task) = self
                    .tasks
                    .get_mut(&id)
                    .filter(|it| it.look.stream.is_none())
                {
                    task.look.stream = Some(request);
                    task.look.next = None;
                }
                TaskRequest::Stream(id, 0)
            }
            None => TaskRequest::Prompt(SentPrompt {
                is_told: true,
                ..prompted
            }),
        };
        self.pending_requests.insert(request, asked);
    }

    /// Applies the first report about a prompt, and returns its task.
    fn began(
        &mut self,
        prompted: &SentPrompt,
        news: ServerReport,
        cx: &mut Cx<'_>,
    ) -> Option<String> {
        let (id, context) = match &news {
            ServerReport::Task(task) => (task.id.clone(), task.context.clone()),
            ServerReport::Status { task, context, .. }
            | ServerReport::Artifact { task, context, .. } => (task.clone(), context.clone()),
            ServerReport::Message { context, .. } => (String::new(), context.clone()),
        };
        self.sent(prompted, &context);
        if let ServerReport::Message { message, .. } = news {
            // It is announced as a task that is over immediately.
            let context = if context.is_empty() {
                prompted.context.clone()
            } else {
                context
            };
            let name = self.message_id();
            if let Some(task) = self.task(&name, &context, false, cx.out) {
                task.began_with(&prompted.words);
                task.replies(&message, cx);
                task.end(TurnEnd::Done, cx);
            }
            self.rests(&name, cx.out);
            return None;
        }
        if let Some(task) = self
            .task(&id, &context, false, cx.out)
            .filter(|it| it.turn.is_none())
        {
            task.began_with(&prompted.words);
        }
        self.tells(news, cx);
        Some(id)
    }

    /// Records that a prompt is no longer being sent, and which conversation it started.
    fn sent(&mut self, prompted: &SentPrompt, context: &str) {
        let mut waits = VecDeque::new();
        if let Some(talk) = self.talks.get_mut(&prompted.context) {
            talk.sending = false;
            if prompted.context.is_empty() && !context.is_empty() {
                // Prompts written after it continue the conversation that it started.
                waits = std::mem::take(&mut talk.held_prompts);
            }
        }
        if prompted.context.is_empty() && !context.is_empty() {
            self.talks.remove("");
            self.heard += 1;
            self.talk(context);
            if let Some(talk) = self.talks.get_mut(context) {
                talk.held_prompts.append(&mut waits);
            }
        }
    }

    /// Handles the outcome of a prompt whose stream reported no task.
    pub(super) fn prompt_went(
        &mut self,
        prompted: SentPrompt,
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        if prompted.is_told {
            return;
        }
        let undelivered = match delivered(outcome) {
            Ok(_) => match outcome
                .as_ref()
                .map(|answer| messages::answer(&answer.body))
            {
                Ok(RequestAnswer::Result(result)) => match messages::news(&result) {
                    Some(news) => {
                        if let Some(id) = self.began(&prompted, news, cx)
                            && let Some(task) = self.tasks.get_mut(&id)
                        {
                            task.look.next = Some(cx.now.monotonic);
                        }
                        return self.look_at_what_is_due(cx);
                    }
                    None => DeliveryFailure::Unknown(Fault::Closed),
                },
                Ok(RequestAnswer::Refused(_, words)) => DeliveryFailure::Refused(refusal(&words)),
                Ok(RequestAnswer::Unread) | Err(_) => DeliveryFailure::Unknown(Fault::Closed),
            },
            Err(undelivered) => undelivered,
        };
        let key = match &undelivered {
            DeliveryFailure::Kept(_) | DeliveryFailure::Refused(_) => "prompt.not_taken",
            DeliveryFailure::Unknown(_) => "prompt.perhaps_taken",
        };
        let reason = PhraseArg::Fault(undelivered.fault().clone());
        cx.out.push(DialectOutput::Announce(
            Phrase::new(key).with("reason", reason),
        ));
        self.sent(&prompted, "");
        self.doubt(undelivered.fault(), cx.out);
        self.send_held(&prompted.context, cx.out);
    }

    /// Stops the work in the conversation that was heard of last.
    pub(super) fn stop(&mut self, out: &mut Vec<DialectOutput>) {
        let last = self.tasks.values().max_by_key(|task| task.heard);
        let sending = || self.talks.iter().find(|(_, talk)| talk.sending);
        let last = last.map(|task| task.context.clone());
        match last.or_else(|| sending().map(|(context, _)| context.clone())) {
            Some(context) => self.stop_in(&context, out),
            None => out.push(DialectOutput::Announce(Phrase::new("stop_turn.none"))),
        }
    }

    /// Goes on without the tasks that do not stop, in the conversation that was heard of last.
    pub(super) fn abandon(&mut self, cx: &mut Cx<'_>) {
        let stopping = self.tasks.values().filter(|task| task.is_stopping());
        let last = stopping.max_by_key(|task| task.heard);
        let context = last.map(|task| task.context.clone()).unwrap_or_default();
        self.abandon_in(&context, cx);
    }

    fn abandon_in(&mut self, context: &str, cx: &mut Cx<'_>) {
        let tasks = self.tasks.values_mut();
        let meant = tasks.filter(|task| task.context == context && task.is_stopping());
        let mut left = Vec::new();
        for task in meant {
            task.end(ABANDONED, cx);
            left.push(task.id.clone());
        }
        if left.is_empty() {
            return cx
                .out
                .push(DialectOutput::Announce(Phrase::new("stop_turn.none")));
        }
        let nothing_waits = self
            .talks
            .get(context)
            .is_none_or(|it| it.held_prompts.is_empty());
        turn_end::sends_what_waits(nothing_waits || !self.is_up, cx.out);
        for id in left {
            self.rests(&id, cx.out);
        }
    }

    /// Stops waiting for a prompt that no task has answered; returns whether there was one.
    fn give_up_prompt(&mut self, context: &str, out: &mut Vec<DialectOutput>) -> bool {
        let Some(talk) = self.talks.get_mut(context).filter(|talk| talk.sending) else {
            return false;
        };
        talk.sending = false;
        let nothing_waits = talk.held_prompts.is_empty();
        self.pending_requests.retain(|_, asked| {
            !matches!(asked, TaskRequest::Prompt(it) if it.context == context && !it.is_told)
        });
        turn_end::gave_up_prompt(out);
        turn_end::sends_what_waits(nothing_waits || !self.is_up, out);
        self.send_held(context, out);
        true
    }

    /// Stops every task of a conversation.
    fn stop_in(&mut self, context: &str, out: &mut Vec<DialectOutput>) {
        let nothing_waits = self
            .talks
            .get(context)
            .is_none_or(|it| it.held_prompts.is_empty());
        let tasks = self
            .tasks
            .values_mut()
            // One whose end is known only waits for its answer.
            .filter(|task| task.context == context && task.ending.is_none());
        let mut stopped = Vec::new();
        let mut already = false;
        for task in tasks {
            if let Some(turn) = &mut task.turn {
                match std::mem::replace(&mut turn.stopping, true) {
                    true => already = true,
                    false => stopped.push(task.id.clone()),
                }
            }
        }
        if stopped.is_empty() {
            if !already && self.give_up_prompt(context, out) {
                return;
            }
            let key = if already {
                "stop_turn.stopping"
            } else {
                "stop_turn.none"
            };
            return out.push(DialectOutput::Announce(Phrase::new(key)));
        }
        out.push(DialectOutput::Announce(turn_end::asked_to_stop(
            nothing_waits,
        )));
        let Some(card) = self.card.clone() else {
            return;
        };
        for id in stopped {
            let number = self.numbers.fresh();
            let call = card.cancel(number, &id);
            self.request(number, TaskRequest::Cancel(id), call, out);
        }
    }

    /// Handles the outcome of a stop; the task itself reports when it has stopped.
    pub(super) fn cancel_went(
        &mut self,
        id: &str,
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        let Some(task) = self.tasks.get_mut(id) else {
            return;
        };
        let fault = match delivered(outcome) {
            Ok(_) => match outcome
                .as_ref()
                .map(|answer| messages::answer(&answer.body))
            {
                Ok(RequestAnswer::Result(result)) => {
                    // A task with a stream reports it there, in order.
                    let alone = task.look.stream.is_none();
                    if let Some(news) = messages::news(&result).filter(|_| alone) {
                        self.tells(news, cx);
                    }
                    return;
                }
                Ok(RequestAnswer::Refused(_, words)) => refusal(&words),
                Ok(RequestAnswer::Unread) | Err(_) => Fault::Closed,
            },
            Err(undelivered) => undelivered.fault().clone(),
        };
        if let Some(turn) = &mut task.turn {
            turn.stopping = false;
        }
        let reason = PhraseArg::Fault(fault.clone());
        cx.out.push(DialectOutput::Announce(
            Phrase::new("a2a.stop_failed").with("reason", reason),
        ));
        if task.look.stream.is_none() {
            task.look.next = Some(cx.now.monotonic);
        }
        self.doubt(&fault, cx.out);
        self.look_at_what_is_due(cx);
    }
}
