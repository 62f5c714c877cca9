//! A space on a NATS server: the agents of many machines, each behind its bridge. Pure.
//!
//! Responsibilities: which part of the space is delivered; who is there and what is going on there, when the person
//! joins; events, answers, prompts and stops over subjects; machines that go away and come back. Not here: the subjects
//! and the messages (`fleet`), the connection and what the broker remembers (`transport`), the bridges (the core).
//!
//! # Mental model
//! The broker stores events and delivers them; whatever is asked of a machine goes to the machine itself, as a request.
//! So an answer's fate is known at once: its bridge reports it, or nobody is there to answer. A machine's name is read
//! from the subject, which the broker guards, and never from an event. Two machines may have agents of the same name;
//! the second then gets the name of its machine added, so that no answer goes to the wrong one.
//!
//! # Worked example
//! The person connects. The bridges are asked who is there, and each that answers is asked for its running sessions and
//! open questions; what the broker delivers meanwhile waits for that, and for a second at most. Then a question arrives
//! on `aaep.v1.main.build-3.opencode.sess_1.ask`. The person accepts: the reply goes to
//! `aaep-reply.v1.main.build-3.opencode.sess_1`, with the digest of what they were shown. `build-3` answers `taken`.
//!
//! The folder: `machine_list` (who is there), `shared_names` (what several machines call the same), `snapshots` (what
//! is going on when the person joins), `selection` (whom the person follows in full), `recalled_events` (what a
//! selected agent did before), `delivered_events` (events), `machine_requests` (answers, prompts and stops).

mod delivered_events;
mod machine_list;
mod machine_requests;
mod recalled_events;
mod selection;
mod shared_names;
mod snapshots;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::fleet::{DEFAULT_SPACE, Space, WatcherMemory};
use crate::link::{Fault, Frame, HttpAnswer};
use crate::protocol::{AgentId, Reply};
use crate::{
    Connection, ConnectionLoss, Cx, Dialect, DialectSetup, LeaveOutcome, PersonRequest,
    Recognition, RemoteMachine, RequestNumbers, Terms,
};

use delivered_events::AgentIndex;
use machine_list::Machines;
use recalled_events::RecalledAgents;
use selection::Selection;
use snapshots::SnapshotRequests;
#[cfg(test)]
pub(crate) use tests::MESSAGES;

/// A place on a broker: what to follow there, and as whom.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BrokerPlace {
    /// The name of the space; empty for the usual one.
    pub space: String,
    /// The name under which the broker remembers what the person has received; `None` if it is to remember nothing.
    pub durable: Option<String>,
    /// Whether it is followed only because an address without a space means all that is on its server.
    pub beside: bool,
}

/// The machine of one link.
#[derive(Debug)]
pub(super) struct Nats {
    space: Space,
    durable: Option<String>,
    /// Whether the person named no space, so that there may be none.
    may_be_missing: bool,
    wanted: Terms,
    numbers: RequestNumbers,
    machines: Machines,
    agents: AgentIndex,
    joining: SnapshotRequests,
    selection: Selection,
    recalling: RecalledAgents,
    watching: WatcherMemory,
    /// How many events were not what their subjects say.
    forged: u64,
}

impl Nats {
    pub(super) fn new(start: DialectSetup) -> Self {
        let place = start.broker.unwrap_or_default();
        let space = match place.space.as_str() {
            "" => DEFAULT_SPACE,
            named => named,
        };
        Self {
            may_be_missing: place.space.is_empty(),
            space: Space::named(space),
            durable: place.durable,
            wanted: start.terms,
            numbers: start.numbers,
            machines: Machines::default(),
            agents: AgentIndex::default(),
            joining: SnapshotRequests::default(),
            selection: Selection::default(),
            recalling: RecalledAgents::default(),
            watching: WatcherMemory::default(),
            forged: 0,
        }
    }
}

impl Dialect for Nats {
    fn on_connecting(&mut self, cx: &mut Cx<'_>) {
        self.follow(cx.out);
    }

    fn on_up(&mut self, cx: &mut Cx<'_>) {
        self.join(cx);
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        self.frame(frame, cx);
    }

    fn on_caught_up(&mut self, cx: &mut Cx<'_>) {
        self.caught_up(cx);
    }

    fn on_piece(&mut self, request: u64, text: &str, cx: &mut Cx<'_>) {
        if self.recalling.is_of(request) {
            return self.recalled_part(text);
        }
        self.answer_part(request, text, cx);
    }

    fn on_answer(&mut self, request: u64, outcome: &Result<HttpAnswer, Fault>, cx: &mut Cx<'_>) {
        if self.joining.is_of(request) {
            return self.answer_end(request, cx);
        }
        if self.recalling.is_of(request) {
            return self.recall_answered(outcome, cx);
        }
        self.outcome(request, outcome, cx.out);
    }

    fn on_down(&mut self, _down: ConnectionLoss<'_>, cx: &mut Cx<'_>) {
        self.release(cx);
        self.joining = SnapshotRequests::default();
        self.recalling = RecalledAgents::default();
        self.machines.unknown();
        self.watching.gone(cx.out);
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        self.answer(request, reply, cx);
    }

    fn on_person_request(&mut self, wish: &PersonRequest, cx: &mut Cx<'_>) {
        match wish {
            PersonRequest::Terms(terms) => self.wanted = terms.clone(),
            PersonRequest::ForAgent(agent, wish) => self.want(Some(agent), wish, cx),
            PersonRequest::Prompt(_)
            | PersonRequest::Stop
            | PersonRequest::Abandon
            | PersonRequest::Set(_) => {
                self.want(None, wish, cx);
            }
        }
    }

    fn machines(&self) -> Option<Vec<RemoteMachine>> {
        Some(self.machines.machines())
    }

    fn select(&mut self, agents: Option<&[AgentId]>, cx: &mut Cx<'_>) {
        self.select_agents(agents, cx);
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        self.watching.tick(cx.now.monotonic, cx.out);
        self.tell_away(cx);
        if self.joining.is_due(cx.now.monotonic) {
            self.release(cx);
        }
    }

    fn deadline(&self) -> Option<Duration> {
        let dues = [self.watching.due(), self.machines.due(), self.joining.due()];
        dues.into_iter().flatten().min()
    }

    fn connection(&self) -> Connection {
        let all = self.machines.abilities();
        Connection {
            method: Some("link.broker"),
            may_answer_late: true,
            leaves_out: true,
            takes_prompts: all.prompts,
            converses: true,
            in_turn: all.working,
            selects: true,
            never_stops: !all.stops,
            only_heard: !all.prompts,
            when_left: LeaveOutcome::Kept,
            ..Connection::default()
        }
    }
}

/// Recognises no text: what an event is about is in its subject.
pub(super) fn recognise(_text: &str) -> Recognition {
    Recognition::No
}
