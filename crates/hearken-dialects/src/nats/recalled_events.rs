//! What the stream still holds about an agent that the person selects.
//!
//! Responsibilities: reading it, one agent after another, and its last texts and calls. Not here: showing them (the
//! app).
//!
//! # Mental model
//! The person's own place in the stream only moves forward, so the past is read through a consumer of its own, which
//! the broker forgets after some seconds. The past is history: it must not change what is known about the agent now, so
//! its events are reduced to their words. If an agent wrote more than is read at a time, reading starts later.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use super::Nats;
use crate::fleet::{EventSubject, SubjectLane};
use crate::link::{Fault, HttpAnswer, Phrase, PhraseArg, ServiceAnswers, ServiceCall};
use crate::protocol::{AgentId, Now, object};
use crate::{AgentPast, Cx, DialectOutput};

/// How far back to read, the longest span first; `None` for everything.
const SPANS: [Option<Duration>; 3] = [
    None,
    Some(Duration::from_secs(3600)),
    Some(Duration::from_secs(300)),
];
/// How many messages are read at most.
const MOST_READ: u64 = 10_000;
/// How many of their texts are kept: the last ones.
const MOST_TEXTS: usize = 200;
/// The longest text, in characters; the rest of a longer one is the next.
const LONGEST_TEXT: usize = 4000;
/// How long the messages may take to arrive.
const READING_TIME: Duration = Duration::from_secs(10);
/// How long the broker remembers the consumer that reads them.
const REMEMBERED: Duration = Duration::from_secs(15);
/// How many agents may wait to be read.
const MOST_WAITING: usize = 32;

/// An agent's past, as far as it was read.
#[derive(Debug)]
struct Recall {
    agent: AgentId,
    subject: EventSubject,
    /// Which of the spans is tried.
    span: usize,
    step: RecallProgress,
    /// The request of the step.
    request: u64,
    /// How many messages there are.
    count: u64,
    texts: VecDeque<String>,
    /// Whether the last text goes on.
    goes_on: bool,
    /// How many texts were left out.
    left_out: u64,
}

/// How far reading has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecallProgress {
    /// The consumer is being created.
    Create,
    /// Messages arrive.
    Read,
    /// The consumer is being deleted, because there is too much; the next span follows.
    Shorten,
}

/// The agents whose past is read.
#[derive(Debug, Default)]
pub(super) struct RecalledAgents {
    waiting: VecDeque<(AgentId, EventSubject)>,
    under_way: Option<Recall>,
}

impl RecalledAgents {
    /// Returns whether a request is one of these.
    pub(super) fn is_of(&self, request: u64) -> bool {
        self.under_way
            .as_ref()
            .is_some_and(|one| one.request == request)
    }
}

impl Recall {
    fn push(&mut self, text: &str, goes_on: bool) {
        let mut rest: String = text.to_owned();
        if self.goes_on
            && let Some(last) = self.texts.back_mut()
        {
            last.push_str(&rest);
            rest = self.texts.pop_back().unwrap_or_default();
        }
        self.goes_on = goes_on;
        while let Some((at, _)) = rest.char_indices().nth(LONGEST_TEXT) {
            let after = rest.split_off(at);
            self.texts.push_back(std::mem::replace(&mut rest, after));
        }
        if !rest.is_empty() {
            self.texts.push_back(rest);
        }
        while self.texts.len() > MOST_TEXTS {
            self.texts.pop_front();
            self.left_out += 1;
        }
    }

    /// Adds the text of an event.
    fn take(&mut self, text: &str) {
        let Some(event) = object(text) else {
            return;
        };
        let words = |field: &str| event.get(field).and_then(Value::as_str);
        if let Some(chunk) = words("chunk") {
            let is_complete = event.get("complete").and_then(Value::as_bool) == Some(true);
            return self.push(chunk, !is_complete);
        }
        self.goes_on = false;
        if let Some(said) = words("summary_normal").filter(|said| !said.trim().is_empty()) {
            self.push(said, false);
        }
    }
}

impl Nats {
    /// Starts to read an agent's past, or queues it.
    pub(super) fn recall(&mut self, agent: AgentId, subject: EventSubject, cx: &mut Cx<'_>) {
        let recalling = &mut self.recalling;
        if recalling.waiting.len() < MOST_WAITING {
            recalling.waiting.push_back((agent, subject));
        }
        self.recall_next(cx);
    }

    fn recall_next(&mut self, cx: &mut Cx<'_>) {
        if self.recalling.under_way.is_some() {
            return;
        }
        let Some((agent, subject)) = self.recalling.waiting.pop_front() else {
            return;
        };
        let recall = Recall {
            agent,
            subject,
            span: 0,
            step: RecallProgress::Create,
            request: 0,
            count: 0,
            texts: VecDeque::new(),
            goes_on: false,
            left_out: 0,
        };
        self.create(recall, cx);
    }

    /// Returns the name of the consumer that reads the past: no person's own consumer has it, because an escaped name
    /// has no `=p`.
    fn past(&self) -> String {
        let own = self.durable.as_deref().unwrap_or("hearken-nobody");
        format!("{own}=past")
    }

    fn api(&self, call: &str) -> String {
        let (stream, consumer) = (self.space.stream(), self.past());
        format!("$JS.API.CONSUMER.{call}.{stream}.{consumer}")
    }

    fn create(&mut self, mut recall: Recall, cx: &mut Cx<'_>) {
        let subject = &recall.subject;
        let subjects = [SubjectLane::Act, SubjectLane::Text].map(|lane| subject.all_of_agent(lane));
        let mut config = json!({
            "name": self.past(), "ack_policy": "none", "mem_storage": true,
            "inactive_threshold": REMEMBERED.as_nanos() as u64,
            "filter_subjects": subjects,
        });
        let span = SPANS.get(recall.span).copied().flatten();
        match span.and_then(|span| since(cx.now, span)) {
            Some(since) => {
                config["deliver_policy"] = "by_start_time".into();
                config["opt_start_time"] = since.into();
            }
            None => config["deliver_policy"] = "all".into(),
        }
        let body = json!({"stream_name": self.space.stream(), "config": config});
        let call = ServiceCall::new(self.api("CREATE"), body.to_string());
        recall.step = RecallProgress::Create;
        self.send(recall, call, cx);
    }

    fn send(&mut self, mut recall: Recall, call: ServiceCall, cx: &mut Cx<'_>) {
        let request = self.numbers.fresh();
        recall.request = request;
        cx.out.push(DialectOutput::CallService { request, call });
        self.recalling.under_way = Some(recall);
    }

    /// Handles one message of the past.
    pub(super) fn recalled_part(&mut self, text: &str) {
        if let Some(recall) = &mut self.recalling.under_way {
            recall.take(text);
        }
    }

    /// Handles the end of a step, or its failure.
    pub(super) fn recall_answered(&mut self, outcome: &Result<HttpAnswer, Fault>, cx: &mut Cx<'_>) {
        let Some(mut recall) = self.recalling.under_way.take() else {
            return;
        };
        let answer = match outcome {
            Ok(answer) => answer,
            Err(fault) => return self.not_recalled(&recall, fault.clone(), cx),
        };
        match recall.step {
            RecallProgress::Create => {
                let body = object(&answer.body).unwrap_or_default();
                let Some(count) = body.get("num_pending").and_then(Value::as_u64) else {
                    let reason = body.get("error").and_then(|error| error.get("description"));
                    let reason = reason.and_then(Value::as_str).unwrap_or_default();
                    let phrase = Phrase::new("fleet.refuses")
                        .with("words", PhraseArg::Agent(reason.to_owned()));
                    return self.not_recalled(&recall, Fault::Declined(phrase), cx);
                };
                recall.count = count;
                if count > MOST_READ && recall.span + 1 < SPANS.len() {
                    recall.step = RecallProgress::Shorten;
                    let call = ServiceCall::new(self.api("DELETE"), "");
                    return self.send(recall, call, cx);
                }
                if count == 0 {
                    return self.recall_next(cx);
                }
                recall.step = RecallProgress::Read;
                let body = json!({"batch": count.min(MOST_READ), "no_wait": true});
                let call = ServiceCall {
                    answers: ServiceAnswers::Gathered(READING_TIME),
                    ..ServiceCall::new(self.api("MSG.NEXT"), body.to_string())
                };
                self.send(recall, call, cx);
            }
            RecallProgress::Shorten => {
                recall.span += 1;
                self.create(recall, cx);
            }
            RecallProgress::Read => {
                let unread = recall.count.saturating_sub(MOST_READ);
                cx.out.push(DialectOutput::Recalled(AgentPast {
                    agent: recall.agent,
                    texts: recall.texts.into(),
                    left_out: recall.left_out + unread,
                }));
                // Another agent's past is read under the same name.
                let request = self.numbers.fresh();
                let call = ServiceCall::new(self.api("DELETE"), "");
                cx.out.push(DialectOutput::CallService { request, call });
                self.recall_next(cx);
            }
        }
    }

    fn not_recalled(&mut self, recall: &Recall, fault: Fault, cx: &mut Cx<'_>) {
        let phrase = Phrase::new("fleet.not_recalled")
            .with("agent", PhraseArg::Name(recall.agent.as_str().to_owned()))
            .with("reason", PhraseArg::Fault(fault));
        cx.out.push(DialectOutput::Announce(phrase));
        self.recall_next(cx);
    }
}

/// Returns the time that lies a span back.
fn since(now: Now, span: Duration) -> Option<String> {
    let since = now.wall.checked_sub(span).ok()?;
    Some(since.to_string())
}
