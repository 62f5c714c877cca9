//! The machine: routes what the link reports and what the person wants.
//!
//! Responsibilities: the state kept for one endpoint, and the names of its runs and messages. Not here: runs
//! (`runs`), the events in them (`run_events`), answers (`decisions`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::event_writer::{self, EventAgent, EventWriter};
use crate::kit::turn::{EventContext, LeftCalls, Turn};
use crate::kit::turn_end::TurnEnd;
use crate::link::{Fault, Frame, Phrase, PhraseArg};
use crate::protocol::Reply;
use crate::{
    Connection, ConnectionLoss, Cx, Dialect, DialectOutput, DialectSetup, LeaveOutcome,
    PersonRequest, TransportKind,
};

use super::interrupt::Interrupt;
use super::questions::Interruption;
use super::run_history::History;
use super::shared_state::SharedState;

/// The name of this dialect.
const NAME: &str = "agui";
/// The name of an agent whose address suggests none.
const AGENT: &str = "AG-UI";
/// The longest name of an agent, in characters.
const LONGEST_AGENT: usize = 64;

/// What is about to be posted, or was posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunPost {
    /// A run for this prompt of the person.
    Prompt(String),
    /// The run that resumes with the answers; with the number of the person's last answer and the name of its question,
    /// unless all questions were closed together.
    Answers(Option<(u64, String)>),
}

/// The state of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionPhase {
    /// No connection; the transport will soon ask what to follow.
    Soon,
    /// The transport waits for something to follow.
    Waits,
    /// A run was posted, and its response has not begun.
    Posted,
    /// A run is under way.
    Open,
    /// A run is over, but its stream is still open.
    Spent,
    /// No connection; the transport is waiting before the next attempt.
    Lost,
}

/// The arguments of a call, as they arrive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CallArguments {
    pub(super) given: String,
    /// Whether all of them arrived.
    pub(super) is_whole: bool,
    /// Whether they are too long to be announced in full.
    pub(super) is_cut: bool,
}

/// The connection to one endpoint.
#[derive(Debug)]
pub struct Agui {
    pub(super) teller: EventContext,
    pub(super) listens: bool,
    pub(super) is_over: bool,
    /// Whether the endpoint ever accepted a run.
    pub(super) was_met: bool,
    /// Whether it was announced that the endpoint is ready.
    pub(super) was_ready: bool,
    pub(super) thread: String,
    pub(super) history: History,
    pub(super) shared: SharedState,
    pub(super) turn: Option<Turn>,
    pub(super) line: ConnectionPhase,
    /// When to stop waiting for the stream of a finished run to end.
    pub(super) closes: Option<Duration>,
    pub(super) going: Option<RunPost>,
    pub(super) sent: Option<RunPost>,
    /// The name of the last message sent.
    pub(super) asked_as: String,
    pub(super) held_prompts: VecDeque<String>,
    pub(super) interruption: Option<Interruption>,
    /// When the open questions expire.
    pub(super) expires: Option<Duration>,
    /// The interrupts of this run in LangGraph's form.
    pub(super) older: Vec<Interrupt>,
    /// The message being written, and whether it is the agent's.
    pub(super) message: Option<(String, bool)>,
    pub(super) call: Option<String>,
    pub(super) calls: BTreeMap<String, CallArguments>,
    pub(super) unknown: BTreeSet<String>,
    /// The generator of names for messages and runs.
    names: EventWriter,
}

impl Agui {
    /// Creates the machine.
    pub fn new(start: DialectSetup) -> Self {
        let listens = start.carrier != TransportKind::EventStream;
        let called = start.path.trim_end_matches('/').rsplit('/').next();
        let called = called.filter(|name| !name.is_empty() && *name != "agent");
        let agent = EventAgent {
            id: event_writer::id("agui_", &start.path),
            name: event_writer::cut(called.unwrap_or(AGENT), LONGEST_AGENT),
            model: None,
        };
        let teller = EventContext {
            writer: EventWriter::new(NAME, agent.clone(), start.seed),
            words: start.words,
            folder: String::new(),
            answerable: !listens,
            left: LeftCalls::default(),
        };
        let mut agui = Self {
            teller,
            listens,
            is_over: false,
            was_met: false,
            was_ready: false,
            thread: String::new(),
            history: History::default(),
            shared: SharedState::default(),
            turn: None,
            line: ConnectionPhase::Soon,
            closes: None,
            going: start.prompt.map(RunPost::Prompt),
            sent: None,
            asked_as: String::new(),
            held_prompts: VecDeque::new(),
            interruption: None,
            expires: None,
            older: Vec::new(),
            message: None,
            call: None,
            calls: BTreeMap::new(),
            unknown: BTreeSet::new(),
            names: EventWriter::new(NAME, agent, start.seed ^ 0x5851_f42d_4c95_7f2d),
        };
        agui.thread = agui.fresh();
        agui
    }

    /// Creates a name in the form of a UUID, which some endpoints require.
    pub(super) fn fresh(&mut self) -> String {
        let token = self.names.token();
        let hex: Vec<char> = token.chars().filter(char::is_ascii_hexdigit).collect();
        let part = |from: usize, to: usize| {
            hex.get(from..to)
                .unwrap_or_default()
                .iter()
                .collect::<String>()
        };
        format!(
            "{}-{}-4{}-8{}-{}",
            part(0, 8),
            part(8, 12),
            part(12, 15),
            part(15, 18),
            part(18, 30)
        )
    }

    /// Handles the end of the link: nothing more can be posted.
    fn gone(&mut self, fault: &Fault, cx: &mut Cx<'_>) {
        self.is_over = true;
        let unsent =
            self.held_prompts.len() + usize::from(matches!(self.going, Some(RunPost::Prompt(_))));
        self.going = None;
        self.held_prompts.clear();
        self.is_lost(fault, cx);
        self.end(TurnEnd::Lost("agui.end.lost"), cx);
        if unsent > 0 {
            let n = PhraseArg::Own(unsent.to_string());
            cx.out.push(DialectOutput::Announce(
                Phrase::new("prompt.unsent").with("n", n),
            ));
        }
    }
}

impl Dialect for Agui {
    fn on_connecting(&mut self, cx: &mut Cx<'_>) {
        self.is_asked(cx);
    }

    fn on_up(&mut self, cx: &mut Cx<'_>) {
        self.is_taken(cx);
    }

    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        self.frame(&frame.text, cx);
    }

    fn on_stream_end(&mut self, cx: &mut Cx<'_>) {
        self.is_whole(cx);
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
        match wish {
            PersonRequest::Prompt(words) => self.prompt(words, cx),
            PersonRequest::Stop | PersonRequest::Abandon => self.stop(cx),
            PersonRequest::Set(_) => cx
                .out
                .push(DialectOutput::Announce(Phrase::new("settings.none"))),
            PersonRequest::ForAgent(_, wish) => self.on_person_request(wish, cx),
            // The protocol has no words for how a person wants to be addressed.
            PersonRequest::Terms(_) => {}
        }
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        if let Some((turn, teller)) = self.announced_turn() {
            turn.tick(teller, cx);
        }
        self.lapse(cx);
        if self.closes.is_some_and(|at| at <= cx.now.monotonic) {
            self.is_kept_open(cx.out);
        }
    }

    fn deadline(&self) -> Option<Duration> {
        let turn = self.turn.as_ref().and_then(Turn::deadline);
        let lapses = self.expires.filter(|_| self.sent.is_none());
        [turn, lapses, self.closes].into_iter().flatten().min()
    }

    fn connection(&self) -> Connection {
        let can = !self.listens && !self.is_over;
        Connection {
            takes_prompts: can,
            in_turn: self.turn.is_some() || self.sent.is_some() || self.going.is_some(),
            rests: can,
            when_left: LeaveOutcome::Kept,
            ..Connection::default()
        }
    }
}
