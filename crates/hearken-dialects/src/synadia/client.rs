//! The machine: which agent a message is about, and what a request was for.
//!
//! Responsibilities: the agents and the requests under way, the end of the connection. Not here: each of them
//! (`agent_discovery`, `prompts`, `prompt_answers`, `answers`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::kit::directory::Directory;
use crate::kit::turn::Turn;
use crate::kit::turn_end::TurnEnd;
use crate::link::{
    Address, DeliveryFailure, Fault, Frame, HttpAnswer, Phrase, PhraseArg, ServiceCall,
    Stream as LinkStream, UnstoredSubjects,
};
use crate::protocol::Reply;
use crate::{
    BrokerPlace, Connection, ConnectionLoss, Cx, Dialect, DialectOutput, DialectSetup,
    LeaveOutcome, PersonRequest, PromptableAgent, RequestNumbers, SharedWording, TransportKind,
};

use super::agent::SynadiaAgent;
use super::agent_discovery::Discovery;

/// The name of this dialect.
pub(super) const NAME: &str = "synadia";
/// The subjects of heartbeats: those of version 0.3, and those before it.
const HEARTBEATS: [&str; 2] = ["agents.hb.*.*.*", "agents.*.*.*.heartbeat"];
/// How many agents are followed: as many as there are numbers for conversations.
const MOST_AGENTS: usize = 256;

/// What a request was for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestPurpose {
    /// Who is there.
    Discovery,
    /// A prompt to this agent.
    Prompt(String),
    /// The person's answer with this number to a question of this agent.
    Answer {
        agent: String,
        number: u64,
        name: String,
    },
}

/// The agents on one server.
#[derive(Debug)]
pub struct Synadia {
    pub(super) numbers: RequestNumbers,
    pub(super) words: SharedWording,
    place: BrokerPlace,
    /// Whether nothing can be sent.
    pub(super) listens: bool,
    pub(super) is_up: bool,
    /// The agents, by the subjects of their prompts.
    pub(super) agents: Directory<SynadiaAgent>,
    /// Those that can be prompted.
    pub(super) promptable: Vec<PromptableAgent>,
    pub(super) requests: BTreeMap<u64, RequestPurpose>,
    pub(super) discovery: Discovery,
    /// How many heartbeats came from agents other than those in their subjects.
    pub(super) forged: u64,
    /// The kinds of chunks that are not known, each reported once.
    pub(super) unknown: BTreeSet<String>,
}

impl Synadia {
    /// Creates the machine.
    pub fn new(start: DialectSetup) -> Self {
        Self {
            numbers: start.numbers,
            words: start.words,
            place: start.broker.unwrap_or_default(),
            listens: start.carrier != TransportKind::Broker,
            is_up: false,
            agents: Directory::new(MOST_AGENTS, start.seed),
            promptable: Vec::new(),
            requests: BTreeMap::new(),
            discovery: Discovery::default(),
            forged: 0,
            unknown: BTreeSet::new(),
        }
    }

    /// Makes a request under a new number.
    pub(super) fn request(
        &mut self,
        purpose: RequestPurpose,
        call: ServiceCall,
        out: &mut Vec<DialectOutput>,
    ) -> u64 {
        let request = self.numbers.fresh();
        self.requests.insert(request, purpose);
        out.push(DialectOutput::CallService { request, call });
        request
    }

    /// Ends what needed the connection.
    fn is_lost(&mut self, fault: &Fault, cx: &mut Cx<'_>) {
        self.is_up = false;
        self.discovery.stop();
        for purpose in std::mem::take(&mut self.requests).into_values() {
            if let RequestPurpose::Answer { number, .. } = purpose {
                cx.out.push(DialectOutput::Settled {
                    request: number,
                    outcome: Err(DeliveryFailure::Unknown(fault.clone())),
                });
            }
        }
        for agent in self.agents.values_mut() {
            agent.is_cut_off(fault, cx);
        }
    }

    /// Handles the end of the link: nothing more can be sent.
    fn gone(&mut self, fault: &Fault, cx: &mut Cx<'_>) {
        self.listens = true;
        self.is_lost(fault, cx);
        let held = self.agents.values_mut();
        let unsent: usize = held
            .map(|it| std::mem::take(&mut it.held_prompts).len())
            .sum();
        if unsent > 0 {
            let n = PhraseArg::Own(unsent.to_string());
            cx.out.push(DialectOutput::Announce(
                Phrase::new("prompt.unsent").with("n", n),
            ));
        }
    }
}

impl SynadiaAgent {
    /// Handles the loss of the answers to prompts, which can't be heard any more.
    fn is_cut_off(&mut self, fault: &Fault, cx: &mut Cx<'_>) {
        let was_answered = self.answering.take().is_some();
        if self.turn.is_some() {
            self.end(TurnEnd::Lost("agui.end.lost"), cx);
        } else if was_answered {
            let reason = PhraseArg::Fault(fault.clone());
            let phrase = Phrase::new("prompt.perhaps_taken").with("reason", reason);
            cx.out.push(DialectOutput::Announce(phrase));
        }
    }
}

impl Dialect for Synadia {
    fn on_connecting(&mut self, cx: &mut Cx<'_>) {
        let passing = UnstoredSubjects {
            subjects: HEARTBEATS.map(str::to_owned).to_vec(),
            person: self.place.durable.clone(),
        };
        let stream = LinkStream::at(Address::Passing(passing));
        cx.out.push(DialectOutput::Follow(stream));
    }

    fn on_up(&mut self, cx: &mut Cx<'_>) {
        self.is_up = !self.listens;
        for agent in self.agents.values_mut() {
            agent.wait_anew(cx.now);
        }
        self.discover(cx);
        self.send_all_held(cx);
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        self.frame(frame, cx);
    }

    fn on_piece(&mut self, request: u64, text: &str, cx: &mut Cx<'_>) {
        match self.requests.get(&request).cloned() {
            Some(RequestPurpose::Discovery) => self.discovered(text, cx),
            Some(RequestPurpose::Prompt(agent)) => self.hear(&agent, text, cx),
            // Neither answers nor requests that were left have parts.
            Some(RequestPurpose::Answer { .. }) | None => {}
        }
    }

    fn on_answer(&mut self, request: u64, outcome: &Result<HttpAnswer, Fault>, cx: &mut Cx<'_>) {
        match self.requests.remove(&request) {
            Some(RequestPurpose::Discovery) => self.all_discovered(cx),
            Some(RequestPurpose::Prompt(agent)) => self.heard_all(&agent, outcome, cx),
            Some(RequestPurpose::Answer {
                agent,
                number,
                name,
            }) => {
                self.answer_went((&agent, &name), number, outcome, cx);
            }
            None => {}
        }
    }

    fn on_down(&mut self, down: ConnectionLoss<'_>, cx: &mut Cx<'_>) {
        match down {
            ConnectionLoss::Lost(fault) => self.is_lost(fault, cx),
            ConnectionLoss::Failed(fault) => self.gone(fault, cx),
            ConnectionLoss::Ended => self.gone(&Fault::Closed, cx),
        }
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        self.answer(request, reply, cx);
    }

    fn on_person_request(&mut self, wish: &PersonRequest, cx: &mut Cx<'_>) {
        self.want(None, wish, cx);
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        for agent in self.agents.values_mut() {
            if let Some(turn) = &mut agent.turn {
                turn.tick(&mut agent.teller, cx);
            }
        }
        self.tell_silent(cx);
        self.tell_away(cx);
        if self.discovery.is_due(cx.now) {
            self.discover(cx);
        }
    }

    fn deadline(&self) -> Option<Duration> {
        let turns = |agent: &SynadiaAgent| agent.turn.as_ref().and_then(Turn::deadline);
        let due = |agent: &SynadiaAgent| {
            let away = agent.away_at().filter(|_| self.is_up);
            [away, agent.silent_at(), turns(agent)]
        };
        let all = self.agents.values().flat_map(due);
        let discovery = self.discovery.due().filter(|_| self.is_up);
        all.chain([discovery]).flatten().min()
    }

    fn connection(&self) -> Connection {
        Connection {
            method: Some("link.broker"),
            may_answer_late: true,
            takes_prompts: !self.listens && !self.agents.is_empty(),
            converses: true,
            in_turn: self.agents.values().any(SynadiaAgent::is_at_work),
            is_only_left: true,
            when_left: LeaveOutcome::Kept,
            ..Connection::default()
        }
    }

    fn promptable(&self) -> &[PromptableAgent] {
        &self.promptable
    }
}
