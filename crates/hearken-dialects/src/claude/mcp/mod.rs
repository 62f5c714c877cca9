//! The tool server that an agent starts (`hearken mcp`): what the agent says and asks by its tools, and its channel.
//!
//! Responsibilities: which run a message is from, the person's answers and prompts, calls that a hook asks about, too.
//! Not here: a single run (`session`), the messages (`messages`), the Model Context Protocol (`mcp` of hearken-io).
//!
//! # Mental model
//! Whatever an agent says or asks by a tool is the agent's own: it is heard under its name, and an answer decides
//! nothing but that question. Only what Claude Code relays over its channel is a permission. The same call may be asked
//! about by a hook, which knows all of it: so a relayed call waits for a moment, and the hook's question is the one
//! that counts. The channel confirms neither prompts nor answers.

mod messages;
mod session;

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::event_writer::{self, EventAgent, EventWriter};
use crate::kit::directory::Directory;
use crate::kit::turn::{EventContext, LeftCalls};
use crate::link::{DeliveryFailure, Fault, Phrase, Receipt};
use crate::protocol::{AgentId, Reply};
use crate::{Cx, DialectOutput, ForeignFormat, NoEvent, SharedWording};

use super::messages::ToolUse;
use messages::{RelayedCall, ToolServerRequest};
use session::{AnswerBody, respond};

pub use messages::ToolServerClient;
pub use session::ToolServerRun;

/// How many runs are followed at the same time.
const MOST: usize = 64;
/// How many relayed calls wait for a hook at the same time.
const MOST_PENDING: usize = 64;
/// How long a relayed call waits for the hook of the same call: both are sent at the same moment.
const HOOK_FIRST: Duration = Duration::from_millis(500);
/// The path of these messages.
const PATH: &str = "/mcp/";

/// The runs of the tool server.
#[derive(Debug)]
pub struct ToolServers {
    words: SharedWording,
    runs: Directory<ToolServerRun>,
    pending: Vec<PendingCall>,
}

/// A relayed call that waits for the hook of the same call.
#[derive(Debug)]
struct PendingCall {
    id: u64,
    run: String,
    call: RelayedCall,
    due: Duration,
}

/// What is known from hooks about the agents of tool servers.
pub trait HookKnowledge {
    /// Returns the id of the agent that is heard by its hooks, if it is the only one of that name in that folder.
    fn agent(&self, client: &ToolServerClient) -> Option<String>;
    /// Returns whether a hook asked about a call that is not over.
    fn asks(&self, is_it: &dyn Fn(&str, &Map<String, Value>) -> bool) -> bool;
}

impl ToolServers {
    /// Creates it without any run.
    pub fn new(words: SharedWording, seed: u64) -> Self {
        Self {
            words,
            runs: Directory::new(MOST, seed),
            pending: Vec::new(),
        }
    }

    /// Handles a request; returns false if it is not a tool server's.
    pub fn request(
        &mut self,
        id: u64,
        path: &str,
        body: &str,
        hooks: &dyn HookKnowledge,
        cx: &mut Cx<'_>,
    ) -> bool {
        let Some(kind) = path.strip_prefix(PATH) else {
            return false;
        };
        let Some((client, request)) = messages::read(kind, body) else {
            cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::Typed),
                1,
            ));
            cx.out
                .push(respond(id, &json!({"error": "it can't be read"})));
            return true;
        };
        let name = client.session.clone();
        let agent = hooks.agent(&client);
        let Some(run) = self.run(client, cx.out) else {
            cx.out
                .push(respond(id, &json!({"error": "too many agents are heard"})));
            return true;
        };
        if let Some(agent) = agent {
            run.is_also(agent);
        }
        match request {
            ToolServerRequest::Announces(text) => {
                run.announce(&text, cx);
                cx.out.push(respond(id, &json!({"announced": true})));
            }
            ToolServerRequest::Asks { .. } if !run.has_room() => {
                let error = json!({"error": "too many questions are open"});
                cx.out.push(respond(id, &error));
            }
            ToolServerRequest::Asks { question, choices } => run.ask(id, question, choices, cx),
            ToolServerRequest::Relays(call) => self.relayed(id, name, call, hooks, cx),
            ToolServerRequest::Listens { takes, taken } => {
                run.listens(id, takes, taken, cx.out);
            }
            ToolServerRequest::Leaves => {
                run.end(cx);
                self.runs.remove(&name);
                let over = self.pending.extract_if(.., |it| it.run == name);
                for pending in over {
                    cx.out.push(respond(pending.id, &json!({})));
                }
                cx.out.push(respond(id, &json!({})));
            }
        }
        true
    }

    /// Returns a run; `None` if all others have open questions, and there is no room.
    fn run(
        &mut self,
        client: ToolServerClient,
        out: &mut Vec<DialectOutput>,
    ) -> Option<&mut ToolServerRun> {
        let words = &self.words;
        let name = client.session.clone();
        let opened = self.runs.open(&name, ToolServerRun::is_idle, |seed| {
            let unnamed = || crate::kit::call::first(words, "mcp.unnamed", &[]);
            let agent = EventAgent {
                id: event_writer::id("mcp_", &client.session),
                name: match client.agent.is_empty() {
                    true => unnamed(),
                    false => client.agent.clone(),
                },
                model: None,
            };
            let teller = EventContext {
                writer: EventWriter::new(super::client::NAME, agent, seed),
                words: words.clone(),
                folder: client.folder.clone(),
                answerable: true,
                left: LeftCalls::default(),
            };
            ToolServerRun::new(client, teller)
        });
        let full = Phrase::new("claude.too_many_conversations");
        opened.map_err(|error| error.announce_once(full, out)).ok()
    }

    fn relayed(
        &mut self,
        id: u64,
        run: String,
        call: RelayedCall,
        hooks: &dyn HookKnowledge,
        cx: &mut Cx<'_>,
    ) {
        if hooks.asks(&|tool, input| call.is_about(tool, input)) {
            return cx.out.push(respond(id, &json!({})));
        }
        if self.pending.len() >= MOST_PENDING {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("claude.too_many")));
            return cx.out.push(respond(id, &json!({})));
        }
        self.pending.push(PendingCall {
            id,
            run,
            call,
            due: cx.now.monotonic + HOOK_FIRST,
        });
    }

    /// Leaves a call to the hook that asks about it.
    pub fn hook_asks(&mut self, made: &ToolUse, cx: &mut Cx<'_>) {
        let is_it = |call: &RelayedCall| call.is_about(&made.tool, &made.input);
        // One hook asks about one call; another that is the same has a hook of its own.
        if let Some(at) = self.pending.iter().position(|it| is_it(&it.call)) {
            let pending = self.pending.remove(at);
            return cx.out.push(respond(pending.id, &json!({})));
        }
        for run in self.runs.values_mut() {
            if let Some(id) = run.relayed(is_it) {
                run.take_back(id, cx);
                return cx.out.push(respond(id, &json!({})));
            }
        }
    }

    /// Sends an answer of the person; returns false if it answers nothing here.
    pub fn answer(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) -> bool {
        let token = reply.token.reveal();
        let mut runs = self.runs.values_mut();
        let Some(question) = runs.find_map(|run| run.asked_under(token)) else {
            return false;
        };
        match question.take(&reply.answer) {
            AnswerBody::None => {
                let reason = Phrase::new("claude.no_answer");
                cx.out.push(DialectOutput::Settled {
                    request,
                    outcome: Err(DeliveryFailure::Kept(Fault::Rejected {
                        reason,
                        retry_after: None,
                        again: false,
                    })),
                });
            }
            AnswerBody::Send(body, reason) => {
                question.sending = Some(request);
                question.reason = reason;
                cx.out.push(DialectOutput::Respond {
                    id: question.id,
                    request: Some(request),
                    body,
                });
            }
        }
        true
    }

    /// Handles the outcome of sending an answer; returns false if it answers no question here.
    pub fn answered(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) -> bool {
        let arrived = outcome.is_ok();
        for run in self.runs.values_mut() {
            if run.went(request, arrived, cx) {
                cx.out.push(super::decisions::delivered(request, arrived));
                return true;
            }
        }
        false
    }

    /// Handles a request that no longer waits; returns false if it is not a tool server's.
    pub fn lapsed(&mut self, id: u64, cx: &mut Cx<'_>) -> bool {
        if let Some(at) = self.pending.iter().position(|it| it.id == id) {
            self.pending.remove(at);
            return true;
        }
        let now = cx.now.monotonic;
        self.runs
            .values_mut()
            .any(|run| run.take_back(id, cx) || run.stops_listening(id, now))
    }

    /// Returns whether any agent takes prompts.
    pub fn takes_prompts(&self) -> bool {
        self.runs.values().any(ToolServerRun::takes_prompts)
    }

    /// Returns whether an agent's own question is open, which is asked nowhere else.
    pub fn asks(&self) -> bool {
        self.runs.values().any(ToolServerRun::asks)
    }

    /// Hands a prompt to the agent that is meant, or to the only one. Returns false if the agent takes none.
    pub fn prompt(
        &mut self,
        agent: Option<&AgentId>,
        text: &str,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        let is_meant = |run: &ToolServerRun| {
            let id = agent.is_none_or(|whom| run.teller.writer.agent_id() == whom.as_str());
            id && run.takes_prompts()
        };
        let names = self.runs.iter().filter(|(_, run)| is_meant(run));
        let names: Vec<String> = names.map(|(name, _)| name.clone()).collect();
        match names.as_slice() {
            [] => return false,
            [only] => {
                if let Some(run) = self.runs.get_mut(only) {
                    run.prompt(text, out);
                }
            }
            [_, _, ..] => out.push(DialectOutput::Announce(Phrase::new("codex.which"))),
        }
        true
    }

    /// Returns when time next matters.
    pub fn deadline(&self) -> Option<Duration> {
        let pending = self.pending.iter().map(|it| it.due);
        let runs = self.runs.values().filter_map(ToolServerRun::deadline);
        pending.chain(runs).min()
    }

    /// Handles the passing of time.
    pub fn tick(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now.monotonic;
        let due: Vec<PendingCall> = self.pending.extract_if(.., |it| it.due <= now).collect();
        for pending in due {
            match self.runs.get_mut(&pending.run).filter(|it| it.has_room()) {
                Some(run) => run.relay(pending.id, pending.call, cx),
                None => {
                    cx.out
                        .push(DialectOutput::Announce(Phrase::new("claude.too_many")));
                    cx.out.push(respond(pending.id, &json!({})));
                }
            }
        }
        for run in self.runs.values_mut() {
            run.tick(cx);
        }
    }

    /// Ends everything that can no longer be heard.
    pub fn gone(&mut self, cx: &mut Cx<'_>) {
        for run in self.runs.values_mut() {
            run.end(cx);
        }
        self.pending.clear();
    }
}
