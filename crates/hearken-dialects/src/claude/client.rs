//! The machine: what the hooks' messages say, and which conversation each is about.
//!
//! Responsibilities: finding the conversation of each message, immediately answering what needs no decision, and the
//! bounds. Not here: a single conversation (`conversation`), answers (`decisions`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::event_writer::{self, EventAgent, EventWriter};
use crate::kit::directory::{Directory, mixed};
use crate::kit::turn::{EventContext, LeftCalls};
use crate::kit::turn_end::TurnEnd;
use crate::link::{DeliveryFailure, Frame, IncomingRequest, Phrase, PhraseArg, Receipt, Stream};
use crate::protocol::{AgentId, Reply};
use crate::{
    Connection, ConnectionLoss, Cx, Dialect, DialectOutput, DialectSetup, ForeignFormat,
    LeaveOutcome, NoEvent, PersonRequest, SharedWording, TransportKind,
};

use super::conversation::{ClaudeConversation, place};
use super::elicitations::ElicitingHook;
use super::harness::Harness;
use super::mcp::{HookKnowledge, ToolServerClient, ToolServers};
use super::messages::{self, CallOutcome, Hook, HookMessageError, HookNews, PermissionRequest};
use super::repeated_messages::RecentMessages;

/// The name of this dialect.
pub(super) const NAME: &str = "claude";
/// How many conversations are followed at the same time.
const MOST: usize = 64;
/// How many unknown kinds of events are reported, each once.
const MOST_UNKNOWN: usize = 64;
/// The path of hook messages.
const HOOK: &str = "/hook";
/// The path that reports a message too large to be delivered.
const TOO_LARGE: &str = "/too-large";
/// The longest time that a hook waits: the limit in the settings that hearken writes, less the time it takes to end.
pub(super) const LIMIT: Duration = Duration::from_secs(60 * 60 - 5);

/// Separates the ids of the tool servers' events from those of the conversations.
const SERVERS: u64 = u64::MAX;

/// A request that waits for the person.
#[derive(Debug)]
pub(super) struct WaitingRequest {
    /// The program that asks.
    pub harness: &'static Harness,
    /// Its conversation.
    pub conversation: String,
    /// When it began to wait.
    pub since: Duration,
    /// Whether the program's own terminal asks nothing meanwhile.
    pub only_here: bool,
}

/// The hooks of one user's Claude Code.
#[derive(Debug)]
pub struct Claude {
    pub(super) words: SharedWording,
    /// Whether answering is impossible.
    pub(super) listens: bool,
    pub(super) conversations: Directory<ClaudeConversation>,
    /// The waiting requests, by our numbers for them.
    pub(super) waiting_requests: BTreeMap<u64, WaitingRequest>,
    /// The requests being answered, by the numbers of the person's answers.
    pub(super) sending: BTreeMap<u64, u64>,
    /// The requests that were answered.
    pub(super) answered: VecDeque<u64>,
    /// How many permissions were requested.
    pub(super) permission_count: u64,
    /// After how long a question is handed back to a terminal that doesn't ask while its hook waits.
    pub(super) hand_back: Duration,
    /// Whether Gemini CLI waits for the person before a call that may change something.
    gemini_waits: bool,
    /// The stream to follow if the messages are a recording on a server.
    stream: Option<Stream>,
    unknown: BTreeSet<String>,
    repeats: RecentMessages,
    /// What tool servers ask through their agents.
    pub(super) elicited: Vec<ElicitingHook>,
    /// The tool servers that agents started.
    pub(super) servers: ToolServers,
    /// Whether the person was told that messages come twice.
    told_twice: bool,
}

impl Claude {
    /// Creates the machine.
    pub fn new(start: DialectSetup) -> Self {
        Self {
            servers: ToolServers::new(start.words.clone(), mixed(start.seed, SERVERS)),
            words: start.words,
            listens: start.carrier != TransportKind::Requests,
            conversations: Directory::new(MOST, start.seed),
            waiting_requests: BTreeMap::new(),
            sending: BTreeMap::new(),
            answered: VecDeque::new(),
            permission_count: 0,
            elicited: Vec::new(),
            hand_back: start.hand_back,
            gemini_waits: start.gemini_waits,
            stream: (start.carrier == TransportKind::EventStream).then_some(start.stream),
            unknown: BTreeSet::new(),
            repeats: RecentMessages::default(),
            told_twice: false,
        }
    }

    /// Returns whether a message repeats another one, and says so once.
    fn is_repeated(&mut self, hook: &Hook, body: &str, cx: &mut Cx<'_>) -> bool {
        let conversation = self.conversations.get(&hook.conversation);
        let is_awaited = |asks: &PermissionRequest| {
            conversation.is_none_or(|it| it.awaits(&asks.call, hook.helper.as_deref()))
        };
        let is_repeated = self.repeats.meet(hook, body, is_awaited, cx.now.monotonic);
        if is_repeated && !std::mem::replace(&mut self.told_twice, true) {
            cx.out.push(DialectOutput::Announce(
                Phrase::new("claude.twice").with("agent", agent(hook.harness)),
            ));
        }
        is_repeated
    }

    /// Returns a conversation; a new one replaces the longest idle if there are too many. `None` if all are active.
    pub(super) fn conversation(
        &mut self,
        id: &str,
        harness: &'static Harness,
        out: &mut Vec<DialectOutput>,
    ) -> Option<&mut ClaudeConversation> {
        let is_idle = |conversation: &ClaudeConversation| conversation.turn.is_none();
        let opened = self.conversations.open(id, is_idle, |seed| {
            let agent = EventAgent {
                id: event_writer::id("claude_", id),
                name: harness.agent.title().to_owned(),
                model: None,
            };
            let teller = EventContext {
                writer: EventWriter::new(NAME, agent, seed),
                words: self.words.clone(),
                folder: String::new(),
                answerable: !self.listens,
                left: LeftCalls::default(),
            };
            ClaudeConversation::new(id, harness, teller)
        });
        let full = Phrase::new("claude.too_many_conversations");
        opened.map_err(|error| error.announce_once(full, out)).ok()
    }

    /// Handles a request; all but those that need the person's decision are answered immediately.
    fn request(&mut self, id: u64, request: &IncomingRequest, cx: &mut Cx<'_>) {
        let path = request.path.split('?').next().unwrap_or_default();
        let hooked = HookedAgents(&self.conversations);
        if self.servers.request(id, path, &request.body, &hooked, cx) {
            return;
        }
        match path.strip_prefix(HOOK) {
            Some(from) => match sender(from) {
                Some((harness, event)) => self.message(harness, event, Some(id), &request.body, cx),
                None => cx.out.push(DialectOutput::Unread(
                    NoEvent::Foreign(ForeignFormat::Typed),
                    1,
                )),
            },
            None if path == TOO_LARGE => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("claude.too_large"))),
            // A client that knows the secret but uses another path is not one of our hooks.
            None => cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::Typed),
                1,
            )),
        }
        if !self.waiting_requests.contains_key(&id) {
            self.let_once(id, cx.out);
        }
    }

    /// Answers a request with nothing, unless it was answered.
    fn let_once(&mut self, id: u64, out: &mut Vec<DialectOutput>) {
        let is_it = |wish: &DialectOutput| matches!(wish, DialectOutput::Respond { id: of, .. } if *of == id);
        if !out.iter().any(is_it) {
            self.let_go(id, out);
        }
    }

    fn message(
        &mut self,
        harness: &'static Harness,
        event: Option<&str>,
        id: Option<u64>,
        body: &str,
        cx: &mut Cx<'_>,
    ) {
        let not_asked = || DialectOutput::Announce(Phrase::new("claude.not_asked"));
        let hook = match messages::hook(harness, event, body) {
            Ok(hook) => hook,
            Err(why) => {
                if messages::asks(harness, event, body) {
                    cx.out.push(not_asked());
                }
                let foreign = match why {
                    HookMessageError::NoObject => ForeignFormat::Value,
                    HookMessageError::NoEvent
                    | HookMessageError::NoConversation
                    | HookMessageError::Halved => ForeignFormat::Typed,
                };
                return cx
                    .out
                    .push(DialectOutput::Unread(NoEvent::Foreign(foreign), 1));
            }
        };
        if self.is_repeated(&hook, body, cx) {
            return;
        }
        if let HookNews::Unknown(kind) = &hook.news {
            if self.unknown.len() < MOST_UNKNOWN && self.unknown.insert(kind.clone()) {
                let kind = PhraseArg::Name(kind.clone());
                cx.out.push(DialectOutput::Detail(
                    Phrase::new("claude.unknown").with("kind", kind),
                ));
            }
            cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::Typed),
                1,
            ));
            return;
        }
        let Some(conversation) = self.conversation(&hook.conversation, harness, cx.out) else {
            if messages::asks(harness, event, body) {
                let full = Phrase::new("claude.not_followed");
                let most = PhraseArg::Name(MOST.to_string());
                cx.out.push(DialectOutput::Announce(full.with("n", most)));
            }
            return;
        };
        conversation.stirs(cx.now);
        conversation.goes_on(&hook.news, cx);
        if !hook.folder.is_empty() {
            conversation.teller.folder.clone_from(&hook.folder);
        }
        // A subagent may work in a mode of its own.
        let mode = hook.mode.clone().filter(|_| hook.helper.is_none());
        let name = hook.conversation.clone();
        self.heard_of(id, hook, cx);
        if let (Some(mode), Some(conversation)) = (mode, self.conversations.get_mut(&name)) {
            conversation.works_in(&mode, cx.out);
        }
    }

    fn heard_of(&mut self, id: Option<u64>, mut hook: Hook, cx: &mut Cx<'_>) {
        let folder = place(&hook.folder);
        let name = agent(hook.harness);
        let tell = |key| {
            Phrase::new(key)
                .with("agent", name.clone())
                .with("folder", folder.clone())
        };
        let Some(conversation) = self.conversations.get_mut(&hook.conversation) else {
            return;
        };
        let mut over = Vec::new();
        let is_prompt = matches!(hook.news, HookNews::Prompted(_));
        if hook.helper.is_none() && !is_prompt {
            over = conversation.is_of(hook.prompt.as_ref(), cx);
        }
        // A subagent's messages contain none of the conversation's own texts.
        if hook.helper.is_none() {
            // The transcript contains the reason of a break as if the agent had written it.
            let breaks = matches!(hook.news, HookNews::Breaks(_));
            let is_old = is_prompt || breaks || conversation.turn.is_none();
            conversation.writes(std::mem::take(&mut hook.texts), is_old, cx);
        }
        match hook.news {
            HookNews::Begins { model } => {
                conversation.teller.writer.model(model.as_deref());
                cx.out.push(DialectOutput::Announce(tell("claude.begins")));
            }
            HookNews::Prompted(text) => over = conversation.prompted(&text, hook.prompt, cx),
            HookNews::Calls(made) if self.gemini_waits && hook.harness.may_change(&made.tool) => {
                let asks = PermissionRequest {
                    call: made,
                    suggestions: Vec::new(),
                    left_out: 0,
                };
                let hook = Hook {
                    news: HookNews::Quiet,
                    ..hook
                };
                self.asks(id, hook, asks, cx);
            }
            HookNews::Calls(made) => conversation.calls(made, hook.helper, cx),
            HookNews::Called(made, outcome) => {
                over.extend(conversation.called(made, &outcome, hook.helper, cx));
                if let CallOutcome::Failed {
                    interrupted: true, ..
                } = outcome
                {
                    over.extend(conversation.end(TurnEnd::Stopped { wanted: false }, cx));
                }
            }
            HookNews::Asks(asks) => {
                let hook = Hook {
                    news: HookNews::Quiet,
                    ..hook
                };
                self.asks(id, hook, *asks, cx);
            }
            HookNews::Notice { kind, words } => match kind.as_str() {
                // The question itself is asked here.
                "permission_prompt" => {}
                // It waits for the person, so its turn is over.
                "idle_prompt" if conversation.turn.as_ref().is_some_and(|turn| !turn.asks()) => {
                    over.extend(conversation.end(TurnEnd::Stopped { wanted: false }, cx));
                }
                "idle_prompt" => {}
                _ => cx.out.push(DialectOutput::Announce(
                    tell("claude.notice").with("words", PhraseArg::Agent(words)),
                )),
            },
            HookNews::AsksThere(asked) => conversation.asks_there(&asked, cx),
            HookNews::Elicits(asked) => {
                let hook = Hook {
                    news: HookNews::Quiet,
                    ..hook
                };
                self.elicits(id, &hook, &asked, cx);
            }
            HookNews::Elicited => self.was_elicited(&hook.conversation, cx),
            HookNews::Shows(shown) => {
                if hook.helper.is_none() {
                    conversation.shows(shown, cx);
                }
            }
            HookNews::Model(model) => {
                conversation.teller.writer.model(Some(&model));
                let model = PhraseArg::Name(model);
                cx.out.push(DialectOutput::Announce(
                    tell("hooks.model").with("model", model),
                ));
            }
            HookNews::Tells(key, words) => {
                cx.out.push(DialectOutput::Announce(
                    tell(key).with("words", PhraseArg::Agent(words)),
                ));
            }
            HookNews::Batch(calls) if calls > 1 => {
                let n = PhraseArg::Own(calls.to_string());
                cx.out
                    .push(DialectOutput::Detail(tell("hooks.batch").with("n", n)));
            }
            HookNews::Batch(_) => {}
            HookNews::Interrupted => {
                over.extend(conversation.end(TurnEnd::Stopped { wanted: false }, cx));
            }
            HookNews::HelperBegins(kind) => {
                cx.out.push(DialectOutput::Announce(
                    tell("claude.helper.begins").with("kind", PhraseArg::Agent(kind)),
                ));
            }
            HookNews::HelperEnds(kind) => {
                cx.out.push(DialectOutput::Announce(
                    tell("claude.helper.ends").with("kind", PhraseArg::Agent(kind)),
                ));
            }
            HookNews::Stops(text) => over.extend(conversation.stops(text, cx)),
            HookNews::Breaks(words) => {
                conversation.turn(cx);
                over.extend(conversation.end(TurnEnd::Failed(words), cx));
            }
            HookNews::Ends => {
                match conversation.turn.is_some() {
                    true => over.extend(conversation.end(TurnEnd::Gone, cx)),
                    false => cx.out.push(DialectOutput::Announce(tell("claude.ends"))),
                }
                self.leave_elicited(Some(&hook.conversation), cx);
                self.conversations.remove(&hook.conversation);
            }
            HookNews::Quiet | HookNews::Unknown(_) => {}
        }
        self.let_all_go(&over, cx.out);
    }

    /// Handles a request that may be for one agent: a prompt is handed to its channel, if it has one.
    fn wished_of(
        &mut self,
        agent: Option<&AgentId>,
        wish: &PersonRequest,
        out: &mut Vec<DialectOutput>,
    ) {
        match wish {
            PersonRequest::ForAgent(whom, wish) => self.wished_of(Some(whom), wish, out),
            PersonRequest::Prompt(text) if self.servers.prompt(agent, text, out) => {}
            PersonRequest::Prompt(_)
            | PersonRequest::Terms(_)
            | PersonRequest::Stop
            | PersonRequest::Abandon
            | PersonRequest::Set(_) => {
                wished(wish, out);
            }
        }
    }

    /// Ends everything that can no longer be heard.
    fn gone(&mut self, cx: &mut Cx<'_>) {
        self.servers.gone(cx);
        self.leave_elicited(None, cx);
        for conversation in self.conversations.values_mut() {
            conversation.end(TurnEnd::Short("claude.end.unheard"), cx);
        }
    }
}

/// Returns the harness, and what happened, from the rest of a message's path; `None` if it is none of ours.
fn sender(from: &str) -> Option<(&'static Harness, Option<&str>)> {
    if from.is_empty() {
        return Some((Harness::first(), None));
    }
    let (name, event) = match from.strip_prefix('/')?.split_once('/') {
        Some((name, event)) => (name, Some(event)),
        None => (from.strip_prefix('/')?, None),
    };
    Some((Harness::named(name)?, event))
}

/// Returns a harness's name for people, as an argument of a phrase.
pub(super) fn agent(harness: &Harness) -> PhraseArg {
    PhraseArg::Name(harness.agent.title().to_owned())
}

/// The agents that are heard by their hooks.
struct HookedAgents<'a>(&'a Directory<ClaudeConversation>);

impl HookKnowledge for HookedAgents<'_> {
    fn agent(&self, client: &ToolServerClient) -> Option<String> {
        let is_it = |it: &&ClaudeConversation| {
            it.harness.agent.title() == client.agent && it.teller.folder == client.folder
        };
        let mut found = self.0.values().filter(is_it);
        let only = found.next().filter(|_| found.next().is_none());
        only.map(|it| it.teller.writer.agent_id().to_owned())
    }

    fn asks(&self, is_it: &dyn Fn(&str, &Map<String, Value>) -> bool) -> bool {
        self.0.values().any(|it| it.asks_about(is_it))
    }
}

/// Announces that hooks cannot fulfil a request.
fn wished(wish: &PersonRequest, out: &mut Vec<DialectOutput>) {
    match wish {
        PersonRequest::Prompt(_) => {
            out.push(DialectOutput::Announce(Phrase::new("prompt.only_heard")))
        }
        PersonRequest::Stop | PersonRequest::Abandon => {
            out.push(DialectOutput::Announce(Phrase::new("stop_turn.only_heard")))
        }
        PersonRequest::Set(_) => out.push(DialectOutput::Announce(Phrase::new("settings.none"))),
        // The same for any agent.
        PersonRequest::ForAgent(_, wish) => wished(wish, out),
        // The hooks have no words for how a person wants to be addressed.
        PersonRequest::Terms(_) => {}
    }
}

impl Dialect for Claude {
    fn on_connecting(&mut self, cx: &mut Cx<'_>) {
        cx.out
            .extend(self.stream.clone().map(DialectOutput::Follow));
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        self.message(Harness::first(), None, None, &frame.text, cx);
    }

    fn on_request(&mut self, id: u64, request: &IncomingRequest, cx: &mut Cx<'_>) {
        self.request(id, request, cx);
    }

    fn on_lapsed(&mut self, id: u64, cx: &mut Cx<'_>) {
        if !self.servers.lapsed(id, cx) {
            self.lapsed(id, cx);
        }
    }

    fn on_sent(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) {
        let is_other = self.servers.answered(request, outcome, cx)
            || self.filled_in_went(request, outcome, cx);
        if !is_other {
            self.answered(request, outcome, cx);
        }
    }

    fn on_down(&mut self, down: ConnectionLoss<'_>, cx: &mut Cx<'_>) {
        match down {
            ConnectionLoss::Failed(_) | ConnectionLoss::Ended => self.gone(cx),
            ConnectionLoss::Lost(_) => {}
        }
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        if !self.servers.answer(request, reply, cx) && !self.fills_in(request, reply, cx) {
            self.answer(request, reply, cx);
        }
    }

    fn on_person_request(&mut self, wish: &PersonRequest, cx: &mut Cx<'_>) {
        self.wished_of(None, wish, cx.out);
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        self.servers.tick(cx);
        for conversation in self.conversations.values_mut() {
            conversation.tick(cx);
        }
        self.hand_back_due(cx);
    }

    fn deadline(&self) -> Option<Duration> {
        let conversations = self.conversations.values();
        let silent = conversations.filter_map(ClaudeConversation::deadline);
        silent
            .chain(self.hand_back_at())
            .chain(self.servers.deadline())
            .min()
    }

    fn connection(&self) -> Connection {
        let takes_prompts = self.servers.takes_prompts();
        Connection {
            converses: true,
            // What an agent asks by its tool is asked nowhere else, and it goes on without an answer.
            when_left: match self.servers.asks() {
                true => LeaveOutcome::Default,
                false => LeaveOutcome::Open,
            },
            takes_prompts,
            never_stops: takes_prompts,
            only_heard: !self.listens && !takes_prompts,
            ..Connection::default()
        }
    }
}
