//! Listens in on an editor and its agent, and answers what the editor has not answered yet.
//!
//! Responsibilities: turning the messages of both sides into AAEP events; the person's answer as a message for the
//! agent. Not here: who answered first (the relay that carries the messages), what becomes of a turn (`turn`).
//!
//! # Mental model
//! Only a decision by the person is ever sent ([`DialectOutput::Respond`], whose `id` is the question's ticket). The
//! editor's requests are remembered by their ids, because only they show what an answer from the agent answers. A turn
//! lasts from the editor's prompt to the agent's answer to it. The relay assigns the tickets; an id of the agent may be
//! reused, a ticket never is. Asking and deciding are in `deciding`.
//!
//! Messages that could not be heard leave a gap, which is announced: a turn whose end was missed ends with the next
//! prompt.

mod decisions;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::agent_table;
use crate::event_writer::{self, EventContent, EventWriter};
use crate::rpc::{self, Id, RpcKind, RpcMessage};
use crate::{Cx, DialectOutput, KnownAgent, SharedWording};

use super::agent::{Greeting, VERSION};
use super::client::NAME;
use super::messages::{self};
use super::review;
use super::settings::AgentSettings;
use crate::kit::members::text;
use crate::kit::turn::{EventContext, LeftCalls, Turn};
use crate::kit::turn_end::TurnEnd;
use crate::kit::turn_updates::Update;

/// The type of an event with a notice of ours: AAEP has none for it, but its words are heard all the same.
const NOTICE: &str = "hearken:notice";
/// How many requests from the editor are remembered until they are answered.
const MOST_ASKED: usize = 256;
/// How many conversations are followed at a time: an editor has a few open.
const MOST_CONVERSATIONS: usize = 64;
/// How many questions are remembered by their tickets; the relay has no more open.
const MOST_TICKETS: usize = 256;
/// How many notices of ours wait for a turn in which they can be announced.
const MOST_NOTICES: usize = 16;

/// A request from the editor whose answer matters to us.
#[derive(Debug, Clone, PartialEq, Eq)]
enum EditorRequest {
    /// The first message.
    Greeting,
    /// A conversation is opened in a folder.
    Opening { folder: String },
    /// An earlier conversation is loaded: until the answer, its updates only repeat what was said before.
    Loading { conversation: String },
    /// The agent is given a prompt.
    Prompt { conversation: String },
}

impl EditorRequest {
    /// Returns whether it prompts this conversation.
    fn prompts(&self, name: &str) -> bool {
        match self {
            Self::Prompt { conversation } => conversation == name,
            Self::Greeting | Self::Opening { .. } | Self::Loading { .. } => false,
        }
    }
}

/// One conversation.
#[derive(Debug, Default)]
pub(super) struct FollowedConversation {
    folder: String,
    /// The agent's settings: their values and choices.
    pub(super) settings: AgentSettings,
    turn: Option<Turn>,
    /// Whether the editor asked to stop the turn.
    is_stopped: bool,
}

/// A question that the person may answer.
#[derive(Debug, Clone)]
struct ForwardedQuestion {
    conversation: String,
    /// The agent's own id of the question.
    id: Id,
    /// Whether it was answered, so that the agent may reuse its id.
    is_over: bool,
}

/// A notice of ours: a phrase key and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListenerNotice {
    key: &'static str,
    args: Vec<(&'static str, String)>,
}

impl From<&'static str> for ListenerNotice {
    fn from(key: &'static str) -> Self {
        Self {
            key,
            args: Vec::new(),
        }
    }
}

impl ListenerNotice {
    pub(super) fn with(mut self, name: &'static str, text: String) -> Self {
        self.args.push((name, text));
        self
    }
}

/// The outcome of a decision by the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionResult {
    /// The person's decision counts.
    Here,
    /// The editor was faster, or the question was over.
    There,
    /// No decision can be given now.
    NotNow,
}

/// A listener between an editor and its agent.
#[derive(Debug)]
pub struct AgentListener {
    pub(super) teller: EventContext,
    /// The agent's row in the table of agents.
    pub(super) known_agent: Option<KnownAgent>,
    editor_requests: BTreeMap<Id, EditorRequest>,
    conversations: BTreeMap<String, FollowedConversation>,
    loading: BTreeSet<String>,
    questions: BTreeMap<u64, ForwardedQuestion>,
    /// The notices to announce as soon as there is a turn to announce them in.
    notices: VecDeque<ListenerNotice>,
    /// Whether it was announced that there are too many conversations.
    is_crowded: bool,
    /// Whether editor and agent agreed on another version of the protocol.
    is_foreign: bool,
}

impl AgentListener {
    /// Creates a listener; `agent` is the agent's name until it gives its own.
    pub fn new(agent: &str, words: SharedWording, seed: u64) -> Self {
        let agent = event_writer::EventAgent {
            id: agent.to_owned(),
            name: agent.to_owned(),
            model: None,
        };
        Self {
            teller: EventContext {
                writer: EventWriter::new(NAME, agent, seed),
                words,
                folder: String::new(),
                answerable: true,
                left: LeftCalls::default(),
            },
            known_agent: None,
            editor_requests: BTreeMap::new(),
            conversations: BTreeMap::new(),
            loading: BTreeSet::new(),
            questions: BTreeMap::new(),
            notices: VecDeque::new(),
            is_crowded: false,
            is_foreign: false,
        }
    }

    /// Handles a message from the editor.
    pub fn editor(&mut self, line: &str, cx: &mut Cx<'_>) {
        if self.is_foreign {
            return;
        }
        match rpc::read(line) {
            RpcKind::Rpc(RpcMessage::Request { id, method, params }) => {
                self.wanted(id, &method, &rpc::members(params.as_deref()), cx);
            }
            RpcKind::Rpc(RpcMessage::Notification { method, params })
                if method == "session/cancel" =>
            {
                let params = rpc::members(params.as_deref());
                let conversation = text(&params, "sessionId").unwrap_or_default();
                if let Some(conversation) = self.conversations.get_mut(conversation) {
                    conversation.is_stopped = conversation.turn.is_some();
                }
            }
            // Its answers to requests that can't be answered from here, and everything that does not concern us.
            RpcKind::Rpc(_) | RpcKind::Object | RpcKind::Other => {}
        }
    }

    fn wanted(&mut self, id: Id, method: &str, params: &Map<String, Value>, cx: &mut Cx<'_>) {
        let of = |name: &str| text(params, name).unwrap_or_default().to_owned();
        let theirs = match method {
            "initialize" => EditorRequest::Greeting,
            "session/new" => EditorRequest::Opening { folder: of("cwd") },
            "session/load" => EditorRequest::Loading {
                conversation: of("sessionId"),
            },
            "session/resume" => {
                self.folder_of(&of("sessionId"), of("cwd"), cx.out);
                return;
            }
            "session/prompt" => EditorRequest::Prompt {
                conversation: of("sessionId"),
            },
            _ => return,
        };
        match &theirs {
            EditorRequest::Loading { conversation } => {
                self.folder_of(conversation, of("cwd"), cx.out);
                if self.loading.len() < MOST_CONVERSATIONS {
                    self.loading.insert(conversation.clone());
                }
            }
            EditorRequest::Prompt { conversation } => {
                let prompt = prompt(params);
                self.prompted(conversation, &prompt, cx);
            }
            EditorRequest::Greeting | EditorRequest::Opening { .. } => {}
        }
        if self.editor_requests.len() >= MOST_ASKED {
            // Requests that are never answered must not pile up.
            self.editor_requests.pop_first();
        }
        self.editor_requests.insert(id, theirs);
    }

    /// Returns a conversation, adding it if there is room.
    pub(super) fn conversation(&mut self, name: &str) -> Option<&mut FollowedConversation> {
        if !self.conversations.contains_key(name) && self.conversations.len() >= MOST_CONVERSATIONS
        {
            let idle = self.conversations.iter().find(|(_, it)| it.turn.is_none());
            let idle = idle.map(|(name, _)| name.clone());
            match idle {
                Some(idle) => drop(self.conversations.remove(&idle)),
                None => {
                    if !std::mem::replace(&mut self.is_crowded, true) {
                        let n = MOST_CONVERSATIONS.to_string();
                        self.notice(ListenerNotice::from("acp.along.crowded").with("n", n));
                    }
                    return None;
                }
            }
        }
        Some(self.conversations.entry(name.to_owned()).or_default())
    }

    fn folder_of(&mut self, conversation: &str, folder: String, _: &mut Vec<DialectOutput>) {
        if let Some(conversation) = self.conversation(conversation) {
            conversation.folder = folder;
        }
    }

    fn prompted(&mut self, name: &str, prompt: &str, cx: &mut Cx<'_>) {
        let Some(conversation) = self.conversation(name) else {
            return;
        };
        let turn = conversation.turn.take();
        let folder = conversation.folder.clone();
        conversation.is_stopped = false;
        self.teller.folder = folder;
        // A prompt comes after the previous turn is over, whether we heard its end or not.
        self.loading.remove(name);
        self.editor_requests
            .retain(|_, theirs| !theirs.prompts(name));
        let turn = match turn {
            // Its open question must stay answerable.
            Some(mut turn) if turn.asks() => {
                turn.will_end();
                turn
            }
            before => {
                if let Some(mut before) = before {
                    before.end(TurnEnd::Short("acp.along.end.unheard"));
                    close(before, &mut self.teller, cx);
                }
                Turn::begin(name, Some(prompt), &mut self.teller, cx)
            }
        };
        if let Some(conversation) = self.conversations.get_mut(name) {
            conversation.turn = Some(turn);
        }
        self.tell_notices(cx);
    }

    /// Handles a message from the agent that asks the person nothing.
    pub fn agent(&mut self, line: &str, cx: &mut Cx<'_>) {
        if self.is_foreign {
            return;
        }
        match rpc::read(line) {
            RpcKind::Rpc(RpcMessage::Notification { method, params })
                if method == "session/update" =>
            {
                self.updated(&rpc::members(params.as_deref()), cx);
            }
            RpcKind::Rpc(RpcMessage::Request { method, .. }) if method == "elicitation/create" => {
                self.notice("acp.along.form".into());
                self.tell_notices(cx);
            }
            RpcKind::Rpc(RpcMessage::Request { method, .. })
                if method == "session/request_permission" =>
            {
                self.notice("acp.along.editors".into());
                self.tell_notices(cx);
            }
            RpcKind::Rpc(RpcMessage::Result { id, result }) => {
                let theirs = id.and_then(|id| self.editor_requests.remove(&id));
                self.granted(theirs, &rpc::members(Some(&result)), cx);
            }
            RpcKind::Rpc(RpcMessage::Error { id, message, .. }) => {
                match id.and_then(|id| self.editor_requests.remove(&id)) {
                    Some(EditorRequest::Prompt { conversation }) => {
                        self.ends(&conversation, |_| TurnEnd::Failed(message), cx);
                    }
                    Some(EditorRequest::Loading { conversation }) => {
                        self.loading.remove(&conversation);
                    }
                    Some(EditorRequest::Greeting | EditorRequest::Opening { .. }) | None => {}
                }
            }
            // Its requests to the editor alone, and everything that does not concern us.
            RpcKind::Rpc(
                RpcMessage::Notification { .. } | RpcMessage::Request { .. } | RpcMessage::Nothing,
            )
            | RpcKind::Object
            | RpcKind::Other => {}
        }
    }

    fn granted(
        &mut self,
        theirs: Option<EditorRequest>,
        result: &Map<String, Value>,
        cx: &mut Cx<'_>,
    ) {
        match theirs {
            Some(EditorRequest::Greeting) => {
                let greeting = Greeting::read(result);
                self.known_agent = agent_table::calling_itself(&greeting.agent.id);
                self.teller.writer.call(greeting.agent);
                if greeting.version > VERSION {
                    self.is_foreign = true;
                    self.turn("", cx);
                    self.ends("", |_| TurnEnd::Short("acp.along.version"), cx);
                }
            }
            Some(EditorRequest::Opening { folder }) => {
                if let Some(name) = text(result, "sessionId") {
                    self.folder_of(name, folder, cx.out);
                    self.takes_settings(name, result, cx);
                }
            }
            Some(EditorRequest::Loading { conversation }) => {
                self.loading.remove(&conversation);
                self.takes_settings(&conversation, result, cx);
            }
            Some(EditorRequest::Prompt { conversation }) => {
                let reason = text(result, "stopReason").unwrap_or_default();
                let end = |stopped: bool| match stopped && reason == "cancelled" {
                    true => TurnEnd::Left("acp.along.end.stopped"),
                    false => TurnEnd::by_reason(reason, false),
                };
                self.ends(&conversation, end, cx);
            }
            None => {}
        }
    }

    fn ends(&mut self, name: &str, end: impl FnOnce(bool) -> TurnEnd, cx: &mut Cx<'_>) {
        if let Some(conversation) = self.conversations.get_mut(name)
            && let Some(turn) = &mut conversation.turn
        {
            turn.end_after_calls(end(conversation.is_stopped), cx.now.monotonic);
        }
        self.finish(cx);
    }

    /// Ends the turns that are over.
    fn finish(&mut self, cx: &mut Cx<'_>) {
        for conversation in self.conversations.values_mut() {
            if let Some(turn) = conversation.turn.take_if(|turn| turn.is_over()) {
                self.teller.folder.clone_from(&conversation.folder);
                close(turn, &mut self.teller, cx);
            }
        }
    }

    fn updated(&mut self, params: &Map<String, Value>, cx: &mut Cx<'_>) {
        let name = text(params, "sessionId").unwrap_or_default();
        if self.loading.contains(name) {
            return;
        }
        let members = params.get("update").and_then(Value::as_object);
        if let Some(review) = members.and_then(review::review) {
            return self.reviewed(review, cx);
        }
        let update = messages::update(params, self.known_agent.as_ref());
        let phrase = match &update {
            Update::Shows(kind) => {
                Some(ListenerNotice::from("acp.along.shows").with("kind", kind.clone()))
            }
            Update::Says { .. } | Update::Thinks | Update::Calls(_) | Update::Plans(_) => None,
            Update::Mode(mode) => return self.works_in(name, mode, cx),
            Update::Options(options) => return self.takes_settings(name, options, cx),
            // Commands and usage can be seen in the editor.
            Update::Echoes(_) | Update::Commands { .. } | Update::Quiet | Update::Unknown(_) => {
                return;
            }
        };
        if let Some((turn, teller)) = self.turn(name, cx) {
            turn.update(update, teller, cx);
        }
        if let Some(phrase) = phrase {
            self.notice(phrase);
        }
        self.tell_notices(cx);
        self.finish(cx);
    }

    /// Returns the turn of a conversation, beginning one for what an agent does unprompted.
    fn turn(&mut self, name: &str, cx: &mut Cx<'_>) -> Option<(&mut Turn, &mut EventContext)> {
        self.conversation(name)?;
        let conversation = self.conversations.get_mut(name)?;
        let teller = &mut self.teller;
        teller.folder.clone_from(&conversation.folder);
        let turn = conversation
            .turn
            .get_or_insert_with(|| Turn::begin(name, None, teller, cx));
        Some((turn, teller))
    }

    /// Notes that the editor's answer was withheld, because the person had decided.
    pub fn withheld(&mut self, chose: bool, cx: &mut Cx<'_>) {
        if chose {
            self.notice("acp.along.withheld".into());
            self.tell_notices(cx);
        }
    }

    /// Notes how many messages of each side were not heard.
    pub fn missed(&mut self, editor: u32, agent: u32, cx: &mut Cx<'_>) {
        let number = |n: u32| if n == 0 { String::new() } else { n.to_string() };
        let missed = ListenerNotice::from("acp.along.missed").with("editor", number(editor));
        self.notice(missed.with("agent", number(agent)));
        self.tell_notices(cx);
    }

    /// Handles the end of the agent, or of the editor.
    pub fn gone(&mut self, cx: &mut Cx<'_>) {
        for conversation in self.conversations.values_mut() {
            if let Some(turn) = conversation.turn.take() {
                self.teller.folder.clone_from(&conversation.folder);
                close(turn, &mut self.teller, cx);
            }
        }
        self.questions.clear();
    }

    /// Handles the passing of time.
    pub fn tick(&mut self, cx: &mut Cx<'_>) {
        for conversation in self.conversations.values_mut() {
            if let Some(turn) = &mut conversation.turn {
                self.teller.folder.clone_from(&conversation.folder);
                turn.tick(&mut self.teller, cx);
            }
        }
        self.finish(cx);
    }

    /// Returns when time next matters.
    pub fn deadline(&self) -> Option<Duration> {
        let turns = self.conversations.values();
        turns.filter_map(|it| it.turn.as_ref()?.deadline()).min()
    }

    /// Queues a notice until there is a turn to announce it in.
    pub(super) fn notice(&mut self, phrase: ListenerNotice) {
        if self.notices.len() < MOST_NOTICES {
            self.notices.push_back(phrase);
        }
    }

    pub(super) fn tell_notices(&mut self, cx: &mut Cx<'_>) {
        let mut turns = self.conversations.values_mut();
        let Some(turn) = turns.find_map(|it| it.turn.as_mut()) else {
            return;
        };
        for phrase in std::mem::take(&mut self.notices) {
            notice(turn, &phrase, &mut self.teller, cx);
        }
    }
}

/// Announces a notice within a turn: AAEP has no event for it, so its event has a type of its own, whose words are
/// heard.
fn notice(turn: &mut Turn, notice: &ListenerNotice, teller: &mut EventContext, cx: &mut Cx<'_>) {
    let args = notice.args.iter();
    let args: Vec<(&str, &str)> = args.map(|(name, text)| (*name, text.as_str())).collect();
    let summary = teller.words.summary(notice.key, &args);
    turn.worded(EventContent::of_type(NOTICE, summary), teller, cx);
}

/// Ends a turn, first announcing what could not be followed in it: after its end there is no turn to announce it in.
fn close(mut turn: Turn, teller: &mut EventContext, cx: &mut Cx<'_>) {
    if turn.calls_left_out() > 0 {
        let n = turn.calls_left_out().to_string();
        let left_out = ListenerNotice::from("acp.calls_left_out").with("n", n);
        notice(&mut turn, &left_out, teller, cx);
    }
    turn.finish(teller, cx);
}

/// Returns the text of the editor's prompt.
fn prompt(params: &Map<String, Value>) -> String {
    let blocks = params.get("prompt").and_then(Value::as_array);
    let blocks = blocks.into_iter().flatten().filter_map(Value::as_object);
    let texts: Vec<&str> = blocks.filter_map(|block| text(block, "text")).collect();
    texts.join("\n")
}
