//! The client of one agent: it greets, opens a conversation, prompts, stops, and returns the person's decisions.
//!
//! Responsibilities: which message is sent when and under which id, and what the answer to it means. Not here: what
//! becomes of a turn (`turn`), what messages say (`messages`).
//!
//! # Mental model
//! One agent, one conversation, one turn at a time. A prompt given before the conversation is open, or during a turn,
//! is held until it can be sent, and the person is told. A stop asks the agent to end its turn, and answers every open
//! permission with `cancelled`, as the protocol wants; the stop is announced once the agent confirms it.
//!
//! In a capture, only the agent's messages are known: nothing is sent, and an answer with a stop reason ends the
//! current turn.

use crate::Cx;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::event_writer::{self, EventWriter};
use crate::link::{DeliveryFailure, Fault, Frame, Phrase, PhraseArg, Receipt};
use crate::protocol::{Answer, Reply};
use crate::rpc::{self, Id, PendingRequests, RpcKind, RpcMessage};
use crate::{
    Connection, ConnectionLoss, ConversationToContinue, Dialect, DialectOutput, DialectSetup,
    ForeignFormat, LeaveOutcome, NoEvent, OfferedCommand, PersonRequest, RequestNumbers,
    TransportKind,
};

use super::agent;
use super::agent_quirks;
use super::earlier_conversation::{ConversationAbilities, ResumeStage};
use super::forms::WaitingForm;
use super::messages::{self};
use super::mode::ModeWatch;
use super::review;
use super::setting_changes::SettingQuestion;
use super::settings::AgentSettings;
use super::sign_in::{SignInMethod, SignInState};
use crate::kit::call;
use crate::kit::members::text;
use crate::kit::options;
use crate::kit::permission::{Permission, SentAnswer};
use crate::kit::turn::{EventContext, LeftCalls, Turn};
use crate::kit::turn_updates::Update;

/// The name of this dialect.
pub(super) const NAME: &str = "acp";
/// How many unknown kinds of messages are reported, each once.
const MOST_UNKNOWN: usize = 64;

/// The name under which updates of version 2 are recorded.
const VERSION_2: &str = "version 2";

/// A request of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AcpRequest {
    /// The first message.
    Greeting,
    /// A request for a new conversation.
    Opening,
    /// A request for the list of earlier conversations.
    Listing,
    /// A request for one of them.
    Going,
    /// A request for a turn.
    Prompt,
    /// A request for a turn that the person went on without: its answer no longer matters.
    Abandoned,
    /// A request to sign the person in.
    SigningIn,
    /// A request to change a setting.
    Setting {
        /// The agent's name for the setting.
        id: String,
        /// The agent's name for the new value.
        value: String,
    },
}

/// How far the contact with the agent has got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AgentPhase {
    /// Nothing has been sent.
    Unmet,
    /// The agent was greeted, or asked for a conversation.
    Meeting,
    /// The conversation with this id is open.
    Open(String),
    /// Nothing more can be sent.
    Over,
}

/// The client of one agent.
#[derive(Debug)]
pub struct Acp {
    pub(super) numbers: RequestNumbers,
    pub(super) teller: EventContext,
    pub(super) listens: bool,
    /// Whether each message is a line.
    pub(super) in_lines: bool,
    pub(super) phase: AgentPhase,
    pub(super) pending_requests: PendingRequests<AcpRequest>,
    pub(super) ways_in: Vec<SignInMethod>,
    pub(super) signing: SignInState,
    /// The id of the last request to sign in.
    pub(super) signing_id: u64,
    pub(super) settings: AgentSettings,
    pub(super) mode: ModeWatch,
    pub(super) changing: Option<SettingQuestion>,
    pub(super) commands: Vec<OfferedCommand>,
    pub(super) elicited: Vec<WaitingForm>,
    /// The addresses that the person wanted to open: the agent's ids, with the hosts.
    pub(super) opened: VecDeque<(String, String)>,
    /// Which conversation the person wants to continue.
    pub(super) wanted: ConversationToContinue,
    /// What the agent keeps of earlier conversations.
    pub(super) keeps: ConversationAbilities,
    pub(super) earlier: ResumeStage,
    pub(super) turn: Option<Turn>,
    pub(super) held_prompts: VecDeque<String>,
    /// The latest prompt.
    pub(super) prompted: String,
    /// The number of the frame that carries this turn's prompt.
    pub(super) prompting: Option<u64>,
    pub(super) unknown: BTreeSet<String>,
}

impl Acp {
    /// Creates the client of an agent.
    pub fn new(start: DialectSetup) -> Self {
        let agent = event_writer::EventAgent {
            id: "agent".to_owned(),
            name: "agent".to_owned(),
            model: None,
        };
        let listens = start.carrier == TransportKind::OneWay;
        Self {
            numbers: start.numbers,
            teller: EventContext {
                writer: EventWriter::new(NAME, agent, start.seed),
                words: start.words,
                folder: start.folder,
                answerable: !listens,
                left: LeftCalls::default(),
            },
            listens,
            in_lines: start.carrier == TransportKind::Lines,
            phase: AgentPhase::Unmet,
            pending_requests: PendingRequests::default(),
            ways_in: Vec::new(),
            signing: SignInState::Idle,
            signing_id: 0,
            settings: AgentSettings::default(),
            mode: ModeWatch::new(start.ask_always),
            changing: None,
            commands: Vec::new(),
            elicited: Vec::new(),
            opened: VecDeque::new(),
            wanted: start.earlier,
            keeps: ConversationAbilities::default(),
            earlier: ResumeStage::Idle,
            turn: None,
            held_prompts: start.prompt.into_iter().collect(),
            prompted: String::new(),
            prompting: None,
            unknown: BTreeSet::new(),
        }
    }

    pub(super) fn send(&mut self, frame: String, out: &mut Vec<DialectOutput>) -> u64 {
        let request = self.numbers.fresh();
        if !self.listens {
            out.push(DialectOutput::Send { request, frame });
        }
        request
    }

    /// Returns the ids of the agent's open requests.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> Vec<Id> {
        let turn = self.turn.iter();
        let permissions = turn.flat_map(Turn::requests).cloned();
        permissions.chain(self.waiting_elicited()).collect()
    }

    pub(super) fn ask(
        &mut self,
        what: AcpRequest,
        method: &str,
        params: &str,
        out: &mut Vec<DialectOutput>,
    ) -> u64 {
        let id = self.pending_requests.ask(what);
        self.send(rpc::request(id, method, params), out)
    }

    fn frame(&mut self, frame: &str, cx: &mut Cx<'_>) {
        match rpc::read(frame) {
            RpcKind::Rpc(RpcMessage::Notification { method, params }) => {
                self.notified(&method, &rpc::members(params.as_deref()), cx);
            }
            RpcKind::Rpc(RpcMessage::Request { id, method, params }) => {
                self.requested(&id, &method, &rpc::members(params.as_deref()), cx);
            }
            RpcKind::Rpc(RpcMessage::Result { id, result }) => {
                let what = self.pending_requests.answered(id.as_ref());
                self.granted(what, &rpc::members(Some(&result)), cx);
            }
            RpcKind::Rpc(RpcMessage::Error { id, code, message }) => {
                match self.pending_requests.answered(id.as_ref()) {
                    Some(what) => self.refused(what, code, &message, cx),
                    None => self.complained(code, &message, cx.out),
                }
            }
            RpcKind::Rpc(RpcMessage::Nothing) => cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::JsonRpc),
                1,
            )),
            RpcKind::Object => cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::Untyped),
                1,
            )),
            RpcKind::Other => cx.out.push(DialectOutput::Unread(
                NoEvent::Foreign(ForeignFormat::Text),
                1,
            )),
        }
    }

    fn notified(&mut self, method: &str, params: &Map<String, Value>, cx: &mut Cx<'_>) {
        match method {
            "session/update" => self.updated(params, cx),
            "$/cancel_request" => self.took_back(params, cx),
            "elicitation/complete" => self.opened_and_done(params, cx.out),
            // A private protocol beside this one, which a client need not know.
            other if !other.starts_with("session/") && !other.starts_with("elicitation/") => {}
            other => self.not_known(other, cx.out),
        }
    }

    fn updated(&mut self, params: &Map<String, Value>, cx: &mut Cx<'_>) {
        let update = params.get("update").and_then(Value::as_object);
        if let Some(review) = update.and_then(review::review) {
            return self.reviewed(review, cx.out);
        }
        let update = messages::update(params, self.mode.known_agent());
        if self.said_before(&update) {
            return;
        }
        match update {
            Update::Commands { offers, left_out } => {
                self.commands = offers;
                if left_out > 0 {
                    let n = PhraseArg::Own(left_out.to_string());
                    cx.out.push(DialectOutput::Announce(
                        Phrase::new("acp.commands_left_out").with("n", n),
                    ));
                }
            }
            Update::Mode(mode) => self.in_mode(&mode, cx.out),
            Update::Options(options) => self.has_options(&options, cx.out),
            Update::Unknown(kind) if messages::is_of_version_2(&kind) => {
                if self.notes(VERSION_2) {
                    cx.out
                        .push(DialectOutput::Announce(Phrase::new("acp.mixed")));
                }
            }
            Update::Unknown(kind) => self.not_known(&kind, cx.out),
            Update::Echoes(_) | Update::Quiet => {}
            Update::Calls(news) if self.turn.is_none() && self.teller.left.is_outdated(&news) => {}
            update @ (Update::Says { .. }
            | Update::Shows(_)
            | Update::Thinks
            | Update::Calls(_)
            | Update::Plans { .. }) => {
                let conversation = text(params, "sessionId").unwrap_or_default().to_owned();
                let (turn, teller) = self.turn(&conversation, cx);
                turn.update(update, teller, cx);
                self.go_on(cx);
            }
        }
    }

    /// Returns the current turn, beginning one for what an agent does unprompted.
    fn turn(&mut self, conversation: &str, cx: &mut Cx<'_>) -> (&mut Turn, &mut EventContext) {
        let teller = &mut self.teller;
        let turn = self
            .turn
            .get_or_insert_with(|| Turn::begin(conversation, None, teller, cx));
        (turn, &mut self.teller)
    }

    fn requested(&mut self, id: &Id, method: &str, params: &Map<String, Value>, cx: &mut Cx<'_>) {
        if method == "elicitation/create" {
            return self.elicited(id, params, cx);
        }
        if method != "session/request_permission" {
            // Files and terminals were not offered, and an agent may try what only its own editor supports: it manages
            // without, so the person need not hear of it.
            self.send(
                rpc::error(id, rpc::NO_SUCH_METHOD, "Method not found"),
                cx.out,
            );
            return;
        }
        let call = params.get("toolCall").and_then(Value::as_object);
        let known = self.mode.known_agent();
        let Some(news) = call.and_then(|call| agent_quirks::call(call, known)) else {
            // Without a call, it is unclear what would be allowed.
            self.send(
                rpc::error(id, rpc::INTERNAL, "there is no tool call in it"),
                cx.out,
            );
            cx.out.push(DialectOutput::Announce(Phrase::new(
                "acp.permission_unread",
            )));
            return;
        };
        let offer = options::read(params, &self.teller.words);
        if offer.left_out > 0 {
            let n = PhraseArg::Own(offer.left_out.to_string());
            cx.out.push(DialectOutput::Announce(
                Phrase::new("acp.options_left_out").with("n", n),
            ));
        }
        let key = call::key(&news.id);
        let mut permission = Permission::consent(id.clone(), &key, offer.choices, Vec::new());
        permission.note_offer(&offer.shared, offer.has_namesakes);
        permission.can_cancel = true;
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.stopping) {
            // The protocol wants this answer to every request in a turn that is being stopped.
            turn.was_cancelled(&permission.call);
            self.send(permission.cancelled(), cx.out);
            cx.out
                .push(DialectOutput::Detail(Phrase::new("acp.cancelled_too")));
            return;
        }
        let conversation = text(params, "sessionId").unwrap_or_default().to_owned();
        let (turn, teller) = self.turn(&conversation, cx);
        if !turn.request(permission, news, teller, cx) {
            self.send(
                rpc::error(id, rpc::INTERNAL, "too many requests wait"),
                cx.out,
            );
            cx.out
                .push(DialectOutput::Announce(Phrase::new("acp.too_many")));
        }
    }

    /// Handles the agent's withdrawal of a request.
    fn took_back(&mut self, params: &Map<String, Value>, cx: &mut Cx<'_>) {
        let Some(id) = params.get("requestId") else {
            return;
        };
        if self.took_back_elicited(id, cx) {
            return;
        }
        let Some(turn) = &mut self.turn else {
            return;
        };
        let Some(permission) = turn.withdrawn(id, &mut self.teller, cx) else {
            return;
        };
        self.send(
            rpc::error(&permission.id, rpc::CANCELLED, "Request cancelled"),
            cx.out,
        );
        self.go_on(cx);
    }

    /// Handles the answer to a request of ours.
    fn granted(&mut self, what: Option<AcpRequest>, result: &Map<String, Value>, cx: &mut Cx<'_>) {
        match what {
            Some(AcpRequest::Greeting) => self.greeted(result, cx.out),
            Some(AcpRequest::Opening) => self.opened(result, cx),
            Some(AcpRequest::Listing) => self.listed(result, cx),
            Some(AcpRequest::Going) => self.went_on(result, cx),
            Some(AcpRequest::Prompt) => self.turn_ends(result, cx),
            Some(AcpRequest::Abandoned) => {}
            Some(AcpRequest::SigningIn) => self.signed_in(cx),
            Some(AcpRequest::Setting { id, value }) => {
                self.is_set(&id, &value, result, cx.out);
                self.go_on(cx);
            }
            None if self.listens => match text(result, "sessionId") {
                Some(_) => {}
                None if result.contains_key("stopReason") => self.turn_ends(result, cx),
                None if result.contains_key("protocolVersion") => self.greeted(result, cx.out),
                None => {}
            },
            None => self.not_known("result", cx.out),
        }
    }

    /// Records an unknown kind of message; returns whether it is new.
    fn notes(&mut self, kind: &str) -> bool {
        if self.unknown.len() >= MOST_UNKNOWN && !self.unknown.contains(kind) {
            return false;
        }
        self.unknown.insert(event_writer::cut(kind, 200))
    }

    fn not_known(&mut self, kind: &str, out: &mut Vec<DialectOutput>) {
        if self.notes(kind) {
            let phrase = Phrase::new("acp.unknown").with("kind", PhraseArg::Name(kind.to_owned()));
            out.push(DialectOutput::Detail(phrase));
        }
    }
}

impl Dialect for Acp {
    fn on_up(&mut self, cx: &mut Cx<'_>) {
        if self.phase == AgentPhase::Unmet && !self.listens {
            self.phase = AgentPhase::Meeting;
            self.ask(
                AcpRequest::Greeting,
                "initialize",
                &agent::greeting(),
                cx.out,
            );
        }
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        self.frame(&frame.text, cx);
    }

    fn on_sent(
        &mut self,
        request: u64,
        outcome: &Result<Receipt, DeliveryFailure>,
        cx: &mut Cx<'_>,
    ) {
        self.replied(request, outcome, cx);
    }

    fn on_down(&mut self, _: ConnectionLoss<'_>, cx: &mut Cx<'_>) {
        self.gone(cx);
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        let (decision, reason) = match &reply.answer {
            Answer::Decision {
                decision,
                rationale,
            } => (decision.as_str(), rationale.clone()),
            Answer::Response(_) => ("", None),
        };
        if let Some(frame) = self.chosen(request, reply.token.reveal(), &reply.answer) {
            cx.out.push(DialectOutput::Send { request, frame });
            return;
        }
        let (token, answer) = (reply.token.reveal(), &reply.answer);
        if !self.listens
            && (self.signs_in(request, token, answer, cx)
                || self.changes(request, token, answer, cx)
                || self.fills_in(request, token, answer, cx))
        {
            return;
        }
        let turn = self.turn.as_mut();
        let permission = turn.and_then(|turn| turn.asked_under(reply.token.reveal()));
        let found = permission.and_then(|permission| {
            let choice = permission.offered.iter().find(|it| it.decision == decision);
            let choice = choice.cloned()?;
            let frame = permission.selected(&choice);
            permission.sending = Some(SentAnswer {
                request,
                allows: choice.allows,
                reason,
            });
            Some(frame)
        });
        cx.out.push(match found {
            Some(frame) if !self.listens => DialectOutput::Send { request, frame },
            Some(_) | None => DialectOutput::Settled {
                request,
                outcome: Err(DeliveryFailure::Kept(Fault::OneWay)),
            },
        });
    }

    fn on_person_request(&mut self, wish: &PersonRequest, cx: &mut Cx<'_>) {
        match wish {
            PersonRequest::Prompt(prompt) => self.prompt(prompt, cx),
            PersonRequest::Stop => self.stop(cx),
            PersonRequest::Abandon => self.abandon(cx),
            PersonRequest::Set(what) => self.change(what.as_deref(), cx),
            // There is only one agent.
            PersonRequest::ForAgent(_, wish) => self.on_person_request(wish, cx),
            // The protocol has no message for how a person wants to hear an agent.
            PersonRequest::Terms(_) => {}
        }
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        if let Some(turn) = &mut self.turn {
            turn.tick(&mut self.teller, cx);
        }
        self.tick_mode(cx);
        self.go_on(cx);
    }

    fn deadline(&self) -> Option<Duration> {
        let turn = self.turn.as_ref().and_then(Turn::deadline);
        [turn, self.mode.deadline()].into_iter().flatten().min()
    }

    fn connection(&self) -> Connection {
        Connection {
            takes_prompts: !self.listens && self.phase != AgentPhase::Over,
            in_turn: self.turn.as_ref().is_some_and(|turn| !turn.is_ending())
                || matches!(self.signing, SignInState::Waits { .. }),
            is_stopping: self.turn.as_ref().is_some_and(|turn| turn.stopping),
            when_left: match self.listens {
                true => LeaveOutcome::Default,
                false => LeaveOutcome::Cancelled,
            },
            loses_conversation: !self.listens
                && !self.prompted.is_empty()
                && !self.keeps.can_continue(),
            gets_ready: !self.listens
                && (matches!(self.phase, AgentPhase::Unmet | AgentPhase::Meeting)
                    || self.mode.holds_prompts()),
            ..Connection::default()
        }
    }

    fn mode(&self) -> Option<String> {
        let mode = self.settings.mode()?;
        Some(self.value_words(mode, &mode.now))
    }

    fn offers(&self) -> &[OfferedCommand] {
        &self.commands
    }
}
