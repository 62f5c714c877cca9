//! One run of the tool server: what its agent announced, asks, relays, and is told.
//!
//! Responsibilities: the AAEP events of all that, the open questions and their answers, the prompts that wait for its
//! channel. Not here: finding the run (`mcp`), reading its messages (`messages`).

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use crate::event_writer::{self, EventAgent, EventContent, TranslatedSession};
use crate::kit::call::{Call, first, key};
use crate::kit::options::OptionChoice;
use crate::kit::standalone_question::QuestionContent;
use crate::kit::turn::EventContext;
use crate::link::{Phrase, PhraseArg};
use crate::protocol::{
    Answer, Attachments, AwaitingClarification, AwaitingConfirmation, Event, OutputStreaming,
    ReplyToken, Response, SessionCompleted, SessionStarted, StateChanged,
};
use crate::{Cx, DialectOutput, QuestionEnd, SharedWording};

use super::super::harness::Harness;
use super::super::questions;
use super::super::tool_calls;
use super::messages::{RelayedCall, ToolServerClient};

/// How many questions of one agent may be open; further ones are refused.
const MOST_OPEN: usize = 16;
/// How many prompts may wait until the agent takes them.
const MOST_PROMPTS: usize = 16;
/// The choices that are ours: to give no answer, and to leave it to the agent.
const DECLINE: &str = "hearken.decline";
const LEAVE: &str = "hearken.leave";
/// How long a channel may be silent between two requests of its tool server.
const PAUSE: Duration = Duration::from_secs(5);

/// One run of the tool server.
#[derive(Debug)]
pub struct ToolServerRun {
    /// The agent that started it.
    pub client: ToolServerClient,
    pub(super) teller: EventContext,
    session: Option<RunSession>,
    /// The question that is asked.
    question: Option<OpenQuestion>,
    /// The questions to ask next.
    waiting: VecDeque<OpenQuestion>,
    /// Its connection, while there is one.
    channel: Option<PromptChannel>,
}

/// The AAEP session of everything that an agent says and asks by its tools.
#[derive(Debug)]
struct RunSession {
    session: TranslatedSession,
    state: &'static str,
    outputs: u64,
}

/// A question that waits for the person.
#[derive(Debug)]
pub struct OpenQuestion {
    /// Our number of the request that waits for the answer.
    pub id: u64,
    /// Its token; empty until it is asked.
    pub token: String,
    /// The number of the person's answer under way.
    pub sending: Option<u64>,
    pub subject: QuestionSubject,
    /// The person's reason for a rejection, which follows as a prompt.
    pub reason: Option<String>,
}

/// What is asked.
#[derive(Debug)]
pub enum QuestionSubject {
    /// What the agent asks by itself, with the answers to choose from.
    Words {
        question: String,
        choices: Vec<String>,
    },
    /// Whether a call may run, with the possible answers.
    Call {
        call: RelayedCall,
        offered: Vec<OptionChoice>,
    },
}

/// What an answer of the person leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum AnswerBody {
    /// This answer to the tool server, and the person's reason, which it has no place for.
    Send(String, Option<String>),
    /// Nothing: it is none of the possible answers.
    None,
}

/// The connection of a run, which is also the way to an agent that takes prompts.
#[derive(Debug, Default)]
struct PromptChannel {
    /// Whether the agent takes prompts.
    takes: bool,
    /// Our number of the request that waits for prompts, or for the end of the run.
    waits: Option<u64>,
    /// The prompts that it has not confirmed.
    prompts: VecDeque<String>,
    /// How many it has confirmed.
    taken: u64,
    /// When it is given up, because nothing waits here.
    gone_at: Option<Duration>,
}

impl RunSession {
    /// Writes an event.
    fn event(
        &mut self,
        content: impl Into<EventContent>,
        teller: &mut EventContext,
        cx: &mut Cx<'_>,
    ) -> String {
        teller.writer.event(&mut self.session, cx.now.wall, content)
    }

    /// Enters another state.
    fn enter(&mut self, to: &'static str, teller: &mut EventContext, cx: &mut Cx<'_>) {
        if self.state == to {
            return;
        }
        let changed = StateChanged {
            from_state: self.state.into(),
            to_state: to.into(),
            ..StateChanged::default()
        };
        self.state = to;
        let event = self.event(Event::StateChanged(changed), teller, cx);
        cx.out.push(DialectOutput::Event(event));
    }
}

impl ToolServerRun {
    /// Creates the record of a run.
    pub fn new(client: ToolServerClient, teller: EventContext) -> Self {
        Self {
            client,
            teller,
            session: None,
            question: None,
            waiting: VecDeque::new(),
            channel: None,
        }
    }

    /// Returns whether it may be forgotten.
    pub fn is_idle(&self) -> bool {
        !self.asks() && self.channel.is_none()
    }

    /// Returns whether its agent takes prompts.
    pub fn takes_prompts(&self) -> bool {
        self.channel.as_ref().is_some_and(|it| it.takes)
    }

    /// Returns whether a question of it is open.
    pub fn asks(&self) -> bool {
        self.question.is_some()
    }

    /// Gives its agent the identity that the same agent has by its hooks, unless it has spoken under its own.
    pub fn is_also(&mut self, id: String) {
        if self.session.is_none() {
            let name = self.teller.writer.name().to_owned();
            self.teller.writer.call(EventAgent {
                id,
                name,
                model: None,
            });
        }
    }

    /// Returns its session, and begins it if nothing was heard of it.
    fn session(&mut self, cx: &mut Cx<'_>) -> (&mut RunSession, &mut EventContext) {
        let (client, teller) = (&self.client, &mut self.teller);
        let session = self.session.get_or_insert_with(|| {
            let mut session = RunSession {
                session: teller.writer.session("tools", &client.session),
                state: "idle",
                outputs: 0,
            };
            let args = [("agent", teller.writer.name())];
            let started = SessionStarted {
                summary: teller.words.summary("mcp.speaks", &args),
                ..SessionStarted::default()
            };
            let started = EventContent::from(Event::SessionStarted(started));
            let started = started.in_language(teller.words.language());
            let event = session.event(started, teller, cx);
            cx.out.push(DialectOutput::Event(event));
            session
        });
        (session, &mut self.teller)
    }

    /// Announces what the agent says.
    pub fn announce(&mut self, text: &str, cx: &mut Cx<'_>) {
        let asks = self.asks();
        let (session, teller) = self.session(cx);
        if !asks {
            session.enter("writing_output", teller, cx);
        }
        session.outputs += 1;
        let output = OutputStreaming {
            content_type: Some("text/markdown".into()),
            ..event_writer::chunk(&format!("out_{}", session.outputs), 0, text, true)
        };
        let event = session.event(Event::OutputStreaming(output), teller, cx);
        cx.out.push(DialectOutput::Event(event));
        if !asks {
            session.enter("idle", teller, cx);
        }
    }

    /// Returns whether one more question can be asked.
    pub fn has_room(&self) -> bool {
        self.waiting.len() + usize::from(self.asks()) < MOST_OPEN
    }

    /// Asks something as soon as no earlier question is open.
    fn put(&mut self, id: u64, subject: QuestionSubject, cx: &mut Cx<'_>) {
        self.waiting.push_back(OpenQuestion {
            id,
            token: String::new(),
            sending: None,
            subject,
            reason: None,
        });
        if !self.asks() {
            self.ask_next(cx);
        }
    }

    /// Asks the agent's own question.
    pub fn ask(&mut self, id: u64, question: String, choices: Vec<String>, cx: &mut Cx<'_>) {
        self.put(id, QuestionSubject::Words { question, choices }, cx);
    }

    /// Asks whether a call may run.
    pub fn relay(&mut self, id: u64, call: RelayedCall, cx: &mut Cx<'_>) {
        let offered = Vec::new();
        self.put(id, QuestionSubject::Call { call, offered }, cx);
    }

    /// Asks the next question; without one, the agent is idle.
    fn ask_next(&mut self, cx: &mut Cx<'_>) {
        let next = self.waiting.pop_front();
        let folder = self.client.folder.clone();
        let (session, teller) = self.session(cx);
        let Some(mut next) = next else {
            return session.enter("idle", teller, cx);
        };
        next.token = teller.writer.token();
        let token = Some(ReplyToken::new(next.token.as_str()));
        let content = match &mut next.subject {
            QuestionSubject::Words { question, choices } => {
                let question = AwaitingClarification {
                    reply_token: token,
                    ..in_words(question, choices, &teller.words).question()
                };
                EventContent::from(Event::AwaitingClarification(Box::new(question)))
            }
            QuestionSubject::Call { call, offered } => {
                let (question, attached) = about(next.id, call, &folder, offered, teller, cx);
                let question = AwaitingConfirmation {
                    reply_token: token,
                    ..question
                };
                EventContent::from(Event::AwaitingConfirmation(Box::new(question))).with(attached)
            }
        };
        session.enter("awaiting_input", teller, cx);
        let event = session.event(content, teller, cx);
        cx.out.push(DialectOutput::Event(event));
        self.question = Some(next);
    }

    /// Leaves the open question, and asks the next one.
    fn leave(&mut self, cx: &mut Cx<'_>) {
        let (session, teller) = self.session(cx);
        session.enter("thinking", teller, cx);
        self.ask_next(cx);
    }

    /// Returns the open question under a token, if no answer is under way.
    pub fn asked_under(&mut self, token: &str) -> Option<&mut OpenQuestion> {
        let asking = self.question.as_mut();
        asking.filter(|it| it.token == token && it.sending.is_none())
    }

    /// Ends a question that is over without an answer; returns whether it was open.
    pub fn take_back(&mut self, id: u64, cx: &mut Cx<'_>) -> bool {
        if let Some(at) = self.waiting.iter().position(|it| it.id == id) {
            self.waiting.remove(at);
            return true;
        }
        let open = |it: &mut OpenQuestion| it.id == id && it.sending.is_none();
        let Some(question) = self.question.take_if(open) else {
            return false;
        };
        cx.out.push(question.over());
        self.leave(cx);
        true
    }

    /// Returns the requests that ask about a call, and have no answer under way.
    pub fn relayed(&self, is_it: impl Fn(&RelayedCall) -> bool) -> Option<u64> {
        let mut open = self.question.iter().chain(&self.waiting);
        let found = open.find(|it| match &it.subject {
            QuestionSubject::Call { call, .. } => it.sending.is_none() && is_it(call),
            QuestionSubject::Words { .. } => false,
        });
        found.map(|it| it.id)
    }

    /// Records the outcome of an answer; returns false if it answers no question of this run.
    pub fn went(&mut self, request: u64, arrived: bool, cx: &mut Cx<'_>) -> bool {
        let is_it = |it: &mut OpenQuestion| it.sending == Some(request);
        let Some(question) = self.question.take_if(is_it) else {
            return false;
        };
        self.leave(cx);
        if let Some(reason) = question.reason.filter(|_| arrived) {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("codex.reason_follows")));
            self.prompt(&reason, cx.out);
        }
        true
    }

    /// Ends everything in the run, because its agent is gone.
    pub fn end(&mut self, cx: &mut Cx<'_>) {
        self.waiting.clear();
        if let Some(question) = self.question.take() {
            if question.sending.is_none() {
                cx.out.push(question.over());
            }
            self.leave(cx);
        }
        if let Some(mut session) = self.session.take() {
            let completed = SessionCompleted {
                summary: self.teller.words.summary("mcp.leaves", &[]),
                ..SessionCompleted::default()
            };
            let completed = EventContent::from(Event::SessionCompleted(completed))
                .in_language(self.teller.words.language());
            let event = session.event(completed, &mut self.teller, cx);
            cx.out.push(DialectOutput::Event(event));
        }
        self.close_channel(cx.out);
    }

    /// Returns a phrase about its agent.
    fn about(&self, key: &'static str) -> Phrase {
        let folder = super::super::conversation::place(&self.client.folder);
        let name = self.teller.writer.name().to_owned();
        Phrase::new(key)
            .with("agent", PhraseArg::Name(name))
            .with("folder", folder)
    }

    /// Records a request that waits for the end of the run, and for prompts if `takes`; `taken` prompts were passed on
    /// to the agent.
    pub fn listens(&mut self, id: u64, takes: bool, taken: u64, out: &mut Vec<DialectOutput>) {
        if takes && !self.takes_prompts() {
            out.push(DialectOutput::Announce(self.about("mcp.channel")));
        }
        let channel = self.channel.get_or_insert_default();
        channel.takes = takes;
        channel.gone_at = None;
        while channel.taken < taken && channel.prompts.pop_front().is_some() {
            channel.taken += 1;
        }
        // A tool server that got prompts from an earlier hearken continues that count.
        if channel.prompts.is_empty() {
            channel.taken = taken;
        }
        if let Some(older) = channel.waits.replace(id) {
            out.push(respond(older, &json!({})));
        }
        channel.hand_over(out);
    }

    /// Hands a prompt to the channel.
    pub fn prompt(&mut self, text: &str, out: &mut Vec<DialectOutput>) {
        let told = match self.channel.as_mut().filter(|it| it.takes) {
            None => "prompt.only_heard",
            Some(channel) if channel.prompts.len() >= MOST_PROMPTS => "prompt.too_many",
            Some(channel) => {
                channel.prompts.push_back(text.to_owned());
                channel.hand_over(out);
                "mcp.prompted"
            }
        };
        out.push(DialectOutput::Announce(self.about(told)));
    }

    /// Notes that a request lapsed; returns whether it waited for the end of the run.
    pub fn stops_listening(&mut self, id: u64, now: Duration) -> bool {
        let channel = self.channel.as_mut().filter(|it| it.waits == Some(id));
        let Some(channel) = channel else {
            return false;
        };
        channel.waits = None;
        channel.gone_at = Some(now + PAUSE);
        true
    }

    /// Returns when its channel is given up.
    pub fn deadline(&self) -> Option<Duration> {
        self.channel.as_ref()?.gone_at
    }

    /// Ends everything in the run if no request has waited for too long: its process is gone then.
    pub fn tick(&mut self, cx: &mut Cx<'_>) {
        if self.deadline().is_some_and(|at| at <= cx.now.monotonic) {
            self.end(cx);
        }
    }

    fn close_channel(&mut self, out: &mut Vec<DialectOutput>) {
        let Some(channel) = self.channel.take() else {
            return;
        };
        if let Some(id) = channel.waits {
            out.push(respond(id, &json!({})));
        }
        if channel.takes {
            out.push(DialectOutput::Announce(self.about("mcp.channel.over")));
        }
        if !channel.prompts.is_empty() {
            let n = PhraseArg::Own(channel.prompts.len().to_string());
            out.push(DialectOutput::Announce(
                Phrase::new("mcp.prompts_lost").with("n", n),
            ));
        }
    }
}

impl PromptChannel {
    /// Answers the waiting request with all that was not confirmed.
    fn hand_over(&mut self, out: &mut Vec<DialectOutput>) {
        if self.prompts.is_empty() {
            return;
        }
        if let Some(id) = self.waits.take() {
            let body = json!({"from": self.taken, "prompts": self.prompts});
            out.push(respond(id, &body));
        }
    }
}

impl OpenQuestion {
    /// Reports that it is over without an answer.
    fn over(&self) -> DialectOutput {
        DialectOutput::Over {
            token: self.token.clone(),
            reason: QuestionEnd::TakenBack,
        }
    }

    /// Returns what an answer of the person leads to.
    pub fn take(&self, answer: &Answer) -> AnswerBody {
        let send = |body: Value| AnswerBody::Send(body.to_string(), None);
        match (&self.subject, answer) {
            (QuestionSubject::Words { choices, .. }, Answer::Response(response)) => {
                let said = match response {
                    Response::Text(text) => text.clone(),
                    Response::YesNo(yes) => if *yes { "yes" } else { "no" }.to_owned(),
                    Response::Number(number) => number.to_string(),
                };
                match said.as_str() {
                    DECLINE => return send(json!({"declined": true})),
                    LEAVE => return send(json!({"left": true})),
                    _ => {}
                }
                if choices.is_empty() {
                    return send(json!({"answer": said}));
                }
                let place = said.parse::<usize>().ok().and_then(|it| it.checked_sub(1));
                match place.and_then(|at| choices.get(at)) {
                    Some(choice) => send(json!({"answer": choice})),
                    None => AnswerBody::None,
                }
            }
            (
                QuestionSubject::Call { offered, .. },
                Answer::Decision {
                    decision,
                    rationale,
                },
            ) => {
                let mut offered = offered.iter();
                match offered.find(|it| it.decision == decision.as_str()) {
                    Some(choice) => {
                        let reason = rationale.clone().filter(|it| !it.trim().is_empty());
                        let reason = reason.filter(|_| !choice.allows);
                        AnswerBody::Send(choice.option.clone(), reason)
                    }
                    None => AnswerBody::None,
                }
            }
            (QuestionSubject::Words { .. }, Answer::Decision { .. })
            | (QuestionSubject::Call { .. }, Answer::Response(_)) => AnswerBody::None,
        }
    }
}

/// Returns an answer that is not the person's.
pub(super) fn respond(id: u64, body: &Value) -> DialectOutput {
    DialectOutput::Respond {
        id,
        request: None,
        body: body.to_string(),
    }
}

/// Builds the question that an agent asks by itself, with two answers of ours.
fn in_words(question: &str, choices: &[String], words: &SharedWording) -> QuestionContent {
    let mut content = match choices.is_empty() {
        true => QuestionContent {
            question: question.to_owned(),
            kinds: vec!["freetext", "multiple_choice"],
            ..QuestionContent::default()
        },
        false => QuestionContent::one_of(question.to_owned(), choices.to_vec()),
    };
    for (value, key) in [(LEAVE, "mcp.leave"), (DECLINE, "mcp.decline")] {
        let label = first(words, key, &[]);
        content.choices.push((value.to_owned(), label));
    }
    content
}

/// Builds the question whether a call may run. A call whose input is cut can only be rejected.
fn about(
    id: u64,
    call: &RelayedCall,
    folder: &str,
    offered: &mut Vec<OptionChoice>,
    teller: &EventContext,
    cx: &mut Cx<'_>,
) -> (AwaitingConfirmation, Attachments) {
    let name = format!("relayed {id}");
    let (news, is_whole) = tool_calls::call(&name, &call.known_call(), &teller.words);
    let is_whole = is_whole && call.complete_call().is_some();
    if !is_whole {
        cx.out.push(DialectOutput::Announce(Phrase::new("mcp.cut")));
    }
    let key = key(&name);
    let mut asked = Call::new(&key);
    asked.set_folder(folder);
    asked.take(news);
    let (mut permission, _) =
        questions::permission(Harness::first(), id, &key, &[], is_whole, &teller.words);
    permission.note_asked(&asked, &teller.words);
    let (question, attached) = permission.question_about(&asked, &teller.words);
    *offered = permission.offered;
    let question = AwaitingConfirmation {
        // The channel does not report what becomes of the call, so none is awaited. The action names the tool.
        tool: None,
        tool_call_id: None,
        ..question
    };
    (question, attached)
}
