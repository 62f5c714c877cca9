//! What is going on when the person joins.
//!
//! Responsibilities: finding the machines of the space, asking each for a snapshot (its running sessions and open
//! questions), holding back what the broker delivers meanwhile; questions that a machine no longer knows. Not here:
//! what an event means (`delivered_events`).
//!
//! # Mental model
//! What the person missed is delivered from where they left off, and the snapshots show what is going on now; both
//! overlap. While the snapshots are on their way, deliveries are held. Then comes what only the snapshots have (what
//! was going on already), and after that the deliveries in their order. The broker's deliveries that follow need no
//! order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::Value;

use super::Nats;
use crate::fleet::Machine;
use crate::link::{Frame, ServiceAnswers, ServiceCall};
use crate::protocol::object;
use crate::{CatchUpPhase, Cx, DialectOutput, QuestionEnd};

/// The subject under which the bridges of all machines answer.
const DISCOVERY: &str = "$SRV.PING.aaep-bridge";
/// How long to wait for the bridges' answers.
const DISCOVERY_TIME: Duration = Duration::from_secs(1);
/// How long a machine may take for its snapshot.
const SNAPSHOT_TIME: Duration = Duration::from_secs(5);
/// The longest time for which deliveries are held back.
const HELD_AT_MOST: Duration = Duration::from_secs(2);
/// The most events that are held back, and the most events of snapshots.
const MOST_HELD: usize = 4096;
/// How many machines are asked at the same time: fewer than the transport carries out.
const AT_ONCE: usize = 4;
/// How many machines may wait to be asked.
const MOST_WAITING: usize = 16_384;

/// A machine's snapshot, as far as it has arrived.
#[derive(Debug)]
struct Snapshot {
    machine: Machine,
    /// The ids of its events.
    events: BTreeSet<String>,
    /// Its events that wait for what is held back.
    waiting: Vec<String>,
    /// The position in the stream that it reflects.
    position: Option<u64>,
}

/// The requests under way, and what waits for their answers.
#[derive(Debug, Default)]
pub(super) struct SnapshotRequests {
    /// The request that finds the machines.
    discovery: Option<u64>,
    snapshots: BTreeMap<u64, Snapshot>,
    /// The machines that are to be asked for a snapshot.
    waiting: VecDeque<Machine>,
    /// The snapshots that arrived while events were held back.
    arrived: Vec<Snapshot>,
    held: VecDeque<Frame>,
    /// Until when events are held back.
    held_until: Option<Duration>,
    /// Whether everything that was missed is among what is held back.
    is_caught_up: bool,
}

impl SnapshotRequests {
    /// Returns whether a request is one of these.
    pub(super) fn is_of(&self, request: u64) -> bool {
        self.discovery == Some(request) || self.snapshots.contains_key(&request)
    }

    pub(super) fn due(&self) -> Option<Duration> {
        self.held_until
    }

    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.held_until.is_some_and(|until| now >= until)
    }

    fn is_over(&self) -> bool {
        self.discovery.is_none() && self.snapshots.is_empty() && self.waiting.is_empty()
    }
}

impl Nats {
    /// Searches for the machines, and holds back what is delivered meanwhile.
    pub(super) fn join(&mut self, cx: &mut Cx<'_>) {
        let request = self.numbers.fresh();
        self.joining.discovery = Some(request);
        self.joining.held_until = Some(cx.now.monotonic + HELD_AT_MOST);
        let call = ServiceCall {
            answers: ServiceAnswers::Gathered(DISCOVERY_TIME),
            ..ServiceCall::new(DISCOVERY, "")
        };
        cx.out.push(DialectOutput::CallService { request, call });
    }

    /// Asks a machine for a snapshot.
    pub(super) fn inquire(&mut self, machine: Machine, cx: &mut Cx<'_>) {
        let joining = &mut self.joining;
        let asked = joining.snapshots.values().map(|asked| &asked.machine);
        let is_asked = asked.chain(&joining.waiting).any(|one| *one == machine);
        if !is_asked && joining.waiting.len() < MOST_WAITING {
            joining.waiting.push_back(machine);
        }
        self.inquire_next(cx);
    }

    fn inquire_next(&mut self, cx: &mut Cx<'_>) {
        while self.joining.snapshots.len() < AT_ONCE {
            let Some(machine) = self.joining.waiting.pop_front() else {
                return;
            };
            let request = self.numbers.fresh();
            let call = ServiceCall {
                answers: ServiceAnswers::Gathered(SNAPSHOT_TIME),
                ..ServiceCall::new(machine.now(), "")
            };
            cx.out.push(DialectOutput::CallService { request, call });
            let snapshot = Snapshot {
                machine,
                events: BTreeSet::new(),
                waiting: Vec::new(),
                position: None,
            };
            self.joining.snapshots.insert(request, snapshot);
        }
    }

    /// Handles a part of an answer.
    pub(super) fn answer_part(&mut self, request: u64, text: &str, cx: &mut Cx<'_>) {
        let Some(part) = object(text) else {
            return;
        };
        if self.joining.discovery == Some(request) {
            let of = |name: &str| part.get("metadata")?.get(name)?.as_str();
            let (Some(space), Some(host)) = (of("space"), of("host")) else {
                return;
            };
            if space == self.space.token()
                && let Some(machine) = Machine::of_token(&self.space, host)
            {
                self.machines.alive(&machine, None, cx.now.monotonic);
                self.inquire(machine, cx);
            }
            return;
        }
        let is_holding = self.joining.held_until.is_some();
        let Some(snapshot) = self.joining.snapshots.get_mut(&request) else {
            return;
        };
        snapshot.position = part.get("sequence").and_then(Value::as_u64);
        let events = part.get("events").and_then(Value::as_array);
        let texts: Vec<String> = events.into_iter().flatten().map(Value::to_string).collect();
        let ids = events.into_iter().flatten().filter_map(event_id);
        snapshot.events.extend(ids);
        if is_holding && snapshot.waiting.len() < MOST_HELD {
            return snapshot.waiting.extend(texts);
        }
        let machine = snapshot.machine.clone();
        for text in texts {
            self.hear_state(&machine, &text, cx);
        }
    }

    /// Handles the end of an answer, or its absence.
    pub(super) fn answer_end(&mut self, request: u64, cx: &mut Cx<'_>) {
        if self.joining.discovery == Some(request) {
            self.joining.discovery = None;
        }
        if let Some(snapshot) = self.joining.snapshots.remove(&request) {
            match self.joining.held_until {
                Some(_) => self.joining.arrived.push(snapshot),
                None => self.forget_gone(&snapshot, cx),
            }
        }
        self.inquire_next(cx);
        if self.joining.is_over() {
            self.release(cx);
        }
    }

    /// Reports the questions that a machine asked and no longer knows: the bridge that asked them is gone.
    fn forget_gone(&self, snapshot: &Snapshot, cx: &mut Cx<'_>) {
        let Some(until) = snapshot.position else {
            return;
        };
        let gone = self.watching.all_asked().filter(|(event, asked)| {
            let subject = asked.subject.as_ref();
            subject.is_some_and(|subject| subject.machine == snapshot.machine)
                && asked.position.is_some_and(|position| position <= until)
                && !snapshot.events.contains(*event)
        });
        for (_, asked) in gone {
            cx.out.push(DialectOutput::Over {
                token: asked.token.clone(),
                reason: QuestionEnd::Forgotten,
            });
        }
    }

    /// Keeps a frame for later while snapshots are still arriving. Returns whether it was kept.
    pub(super) fn hold(&mut self, frame: &Frame, cx: &mut Cx<'_>) -> bool {
        if self.joining.held_until.is_none() {
            return false;
        }
        self.joining.held.push_back(frame.clone());
        if self.joining.held.len() >= MOST_HELD {
            self.release(cx);
        }
        true
    }

    /// Notes that everything that was missed has been delivered.
    pub(super) fn caught_up(&mut self, cx: &mut Cx<'_>) {
        match self.joining.held_until {
            Some(_) => self.joining.is_caught_up = true,
            None => cx.out.push(DialectOutput::Missed(CatchUpPhase::IsOver)),
        }
    }

    /// Hears what was held back, after what only the snapshots have.
    pub(super) fn release(&mut self, cx: &mut Cx<'_>) {
        if self.joining.held_until.take().is_none() {
            return;
        }
        let held = std::mem::take(&mut self.joining.held);
        let is_event = |frame: &&Frame| frame.position.is_some();
        let delivered: BTreeSet<String> = held
            .iter()
            .filter(is_event)
            .filter_map(|frame| event_id(&Value::Object(object(&frame.text)?)))
            .collect();
        let mut arrived = std::mem::take(&mut self.joining.arrived);
        let under_way = self.joining.snapshots.values_mut();
        let standing: Vec<(Machine, Vec<String>)> = arrived
            .iter_mut()
            .chain(under_way)
            .map(|one| (one.machine.clone(), std::mem::take(&mut one.waiting)))
            .collect();
        for (machine, texts) in standing {
            let is_delivered = |text: &&String| {
                let id = object(text).and_then(|event| event_id(&Value::Object(event)));
                id.is_some_and(|id| delivered.contains(&id))
            };
            for text in texts.iter().filter(|text| !is_delivered(text)) {
                self.hear_state(&machine, text, cx);
            }
        }
        cx.out.push(DialectOutput::Missed(CatchUpPhase::Begins));
        for frame in held {
            self.frame(&frame, cx);
        }
        for snapshot in arrived {
            self.forget_gone(&snapshot, cx);
        }
        if std::mem::take(&mut self.joining.is_caught_up) {
            cx.out.push(DialectOutput::Missed(CatchUpPhase::IsOver));
        }
    }
}

fn event_id(event: &Value) -> Option<String> {
    event.get("event_id")?.as_str().map(str::to_owned)
}
