//! Dialects: one machine between the frames of a link and AAEP. Pure.
//!
//! Responsibilities: the interface of every dialect ([`Dialect`]), which takes link events, and the person's replies
//! and requests, and returns outputs ([`DialectOutput`]); decoding a text with the one decoder ([`read`]). Not here:
//! AAEP's own rules (`protocol`), connections and their retries (`transport`), what the person is told and when, and
//! which question an answer belongs to (`app`).
//!
//! # Mental model
//! A dialect is a translator. Behind it, everything is AAEP: whatever an agent sends is turned into AAEP events, as
//! text, and passes through the same decoder as the events of an AAEP producer. The person's answers are translated
//! back. A dialect knows nothing of screens, voices or wording: what it says in its own name is a phrase key.
//!
//! # Worked example
//! A link connects: [`Dialect::on_up`]. If the other side waits to be spoken to, the dialect emits
//! [`DialectOutput::Send`] with its first frame and a number of its own ([`RequestNumbers`]). A frame arrives:
//! [`Dialect::on_frame`] emits the events in it, in order. One of them asks a question, under a reply token that the
//! dialect drew from its seed. The person answers: `reply(7, …)` emits [`DialectOutput::Send`] under the number 7. Its
//! delivery is reported by `on_sent(7, …)`, and passed on as [`DialectOutput::Settled`].

mod a2a;
mod aaep;
mod acp;
mod agent_table;
mod agui;
mod asp;
mod claude;
mod codex;
mod connection;
pub mod descriptor;
mod event_decoding;
#[cfg(test)]
#[path = "tests/every_dialect.rs"]
mod every_dialect;
#[cfg(test)]
mod every_language;
pub mod fleet;
mod format_names;
mod kit;
mod machine_output;
mod machine_start;
mod nats;
mod opencode;
mod person_request;
mod recognise;
pub mod sage;
mod source_token;
mod synadia;
mod unrecognised_server;

pub use a2a::document as a2a_card;
pub use aaep::{Addresses, WEBSOCKET};
pub use acp::{AgentListener, DecisionResult};
pub use agent_table::{
    AgentProgram, FormerPackage, KeptMode, KnownAgent, SignIn, TRIED_NODE, known_agents, major,
    version_in,
};
pub use asp::{BadKey, Identity, tables as asp_tables};
pub use connection::{Connection, LeaveOutcome, OfferedCommand, PromptableAgent, RemoteMachine};
pub use descriptor::{Credential, DIALECTS, Descriptor, FramesAt, Naming, open};
pub use event_decoding::{NoEvent, read, read_after};
pub use format_names::{ForeignFormat, KeptFormat};
pub use kit::event_wording::{SharedWording, WordedSentence, Wording, summary as in_summary};
pub use kit::oversight::Oversight;
pub use kit::request_numbers::RequestNumbers;
pub use kit::{edit_changes, event_writer, rpc};
pub use machine_output::{
    AgentPast, CatchUpPhase, DialectOutput, DialectStep, OpenQuestionsChange, QuestionEnd,
};
pub use machine_start::{ConversationToContinue, DialectSetup, TransportKind};
pub use nats::BrokerPlace;
pub use opencode::events as opencode_events;
pub use person_request::{PersonRequest, Terms};
pub use recognise::{Recognition, recognise};
pub use source_token::Token;

use std::fmt::Debug;
use std::time::Duration;

use ::aaep as protocol;
use hearken_link::{config, link};

use crate::link::{DeliveryFailure, Fault, Frame, HttpAnswer, IncomingRequest, LinkEvent, Receipt};
use crate::protocol::{AgentId, Now, Reply};
pub use crate::protocol::{JsonTexts, bare, recordable};

/// What a dialect is called with: the time, and where its outputs go.
#[derive(Debug)]
pub struct Cx<'a> {
    /// The time.
    pub now: Now,
    /// The outputs so far, in order.
    pub out: &'a mut Vec<DialectOutput>,
}

impl<'a> Cx<'a> {
    /// Creates the context of a call.
    pub fn new(now: Now, out: &'a mut Vec<DialectOutput>) -> Self {
        Self { now, out }
    }
}

/// The translator between the frames of one link and AAEP.
///
/// It reads no clock and draws no random number: the time is an argument, and ids grow from the seed in its
/// [`DialectSetup`]. The same inputs give the same outputs.
pub trait Dialect: Debug + Send {
    /// Handles a link event: one of the methods below is called for it.
    ///
    /// Every [`LinkEvent`] comes here before it reaches the app. A dialect that answers [`ConnectionLoss::Failed`] with
    /// [`DialectOutput::ChangeWay`] keeps the link alive, so it has not failed; with [`DialectOutput::Close`], it has
    /// failed for that reason.
    fn news(&mut self, event: &LinkEvent, cx: &mut Cx<'_>) {
        match event {
            LinkEvent::Connecting { .. } => self.on_connecting(cx),
            LinkEvent::Connected => self.on_up(cx),
            LinkEvent::Resumed => self.on_resumed(cx),
            LinkEvent::Frame(frame) => self.on_frame(frame, cx),
            LinkEvent::Dropped { .. } => self.on_dropped(cx),
            LinkEvent::StreamEnded => self.on_stream_end(cx),
            LinkEvent::Replied { request, outcome } => self.on_sent(*request, outcome, cx),
            LinkEvent::Answered { request, outcome } => self.on_answer(*request, outcome, cx),
            LinkEvent::Piece { request, text } => self.on_piece(*request, text, cx),
            LinkEvent::Request { id, request } => self.on_request(*id, request, cx),
            LinkEvent::Lapsed { id } => self.on_lapsed(*id, cx),
            LinkEvent::Lost { fault, .. } => self.on_down(ConnectionLoss::Lost(fault), cx),
            LinkEvent::Failed { fault } => self.on_down(ConnectionLoss::Failed(fault), cx),
            LinkEvent::Ended => self.on_down(ConnectionLoss::Ended, cx),
            LinkEvent::Silent { .. }
            | LinkEvent::Listening { .. }
            | LinkEvent::Strangers { .. }
            | LinkEvent::Missed { .. }
            | LinkEvent::Remark { .. } => {}
            LinkEvent::CaughtUp => self.on_caught_up(cx),
        }
    }

    /// Handles the beginning of an attempt to connect.
    fn on_connecting(&mut self, _cx: &mut Cx<'_>) {}

    /// Handles a connection that is up.
    fn on_up(&mut self, _cx: &mut Cx<'_>) {}

    /// Handles a stream that continues where it broke off.
    fn on_resumed(&mut self, _cx: &mut Cx<'_>) {}

    /// Handles a frame. Nothing in it is lost, and nothing is reported twice.
    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>);

    /// Handles the end of the messages that were missed.
    fn on_caught_up(&mut self, _cx: &mut Cx<'_>) {}

    /// Handles frames that could not be read from the link.
    fn on_dropped(&mut self, _cx: &mut Cx<'_>) {}

    /// Handles the end of the stream that answers a request.
    fn on_stream_end(&mut self, _cx: &mut Cx<'_>) {}

    /// Handles what became of a frame or message that was sent under this number.
    fn on_sent(
        &mut self,
        _request: u64,
        _outcome: &Result<Receipt, DeliveryFailure>,
        _cx: &mut Cx<'_>,
    ) {
    }

    /// Handles the answer to an [`DialectOutput::Call`].
    fn on_answer(&mut self, _request: u64, _outcome: &Result<HttpAnswer, Fault>, _cx: &mut Cx<'_>) {
    }

    /// Handles a piece of an answer that is a stream.
    fn on_piece(&mut self, _request: u64, _text: &str, _cx: &mut Cx<'_>) {}

    /// Handles an incoming request.
    fn on_request(&mut self, _id: u64, _request: &IncomingRequest, _cx: &mut Cx<'_>) {}

    /// Handles an incoming request whose sender no longer waits for an answer.
    fn on_lapsed(&mut self, _id: u64, _cx: &mut Cx<'_>) {}

    /// Handles the end of a connection.
    fn on_down(&mut self, _down: ConnectionLoss<'_>, _cx: &mut Cx<'_>) {}

    /// Returns whether a frame already is an AAEP event, with nothing else in it for the dialect. That frame then skips
    /// [`Dialect::news`] and need not be copied into an output.
    fn passes(&mut self, _frame: &str) -> bool {
        false
    }

    /// Returns whether frames may pass unchanged at present, so that decoding one before [`Dialect::passes`] pays off.
    fn may_pass(&self) -> bool {
        false
    }

    /// Sends an answer from the person. [`DialectOutput::Settled`] with this number must follow, now or later, exactly
    /// once.
    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>);

    /// Carries out any other request of the person to the agent.
    fn on_person_request(&mut self, _wish: &PersonRequest, _cx: &mut Cx<'_>) {}

    /// Returns which machines are there, if the source has several.
    fn machines(&self) -> Option<Vec<RemoteMachine>> {
        None
    }

    /// Reports the selected agents in full, and of all others only what matters: questions, dangers, starts and ends;
    /// `None` for all in full. Only a dialect whose connection says that it selects is asked.
    fn select(&mut self, _agents: Option<&[AgentId]>, _cx: &mut Cx<'_>) {}

    /// Handles the passing of time, at [`Dialect::deadline`] or later.
    fn tick(&mut self, _cx: &mut Cx<'_>) {}

    /// Returns the monotonic time of the next [`Dialect::tick`].
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// Returns the present state of the connection.
    fn connection(&self) -> Connection;

    /// Returns the commands that the agent accepts instead of a prompt.
    fn offers(&self) -> &[OfferedCommand] {
        &[]
    }

    /// Returns the agents that accept prompts, if they are known before anything is heard of them.
    fn promptable(&self) -> &[PromptableAgent] {
        &[]
    }

    /// Returns the mode that the agent works in, as the agent names it, if that is known.
    fn mode(&self) -> Option<String> {
        None
    }
}

/// How a connection ended.
#[derive(Debug, Clone, Copy)]
pub enum ConnectionLoss<'a> {
    /// It was lost, and is attempted again.
    Lost(&'a Fault),
    /// It failed, and is not attempted again.
    Failed(&'a Fault),
    /// The source is at its end.
    Ended,
}

/// Feeds one bare text to a dialect, as if it had come in a frame of its own.
pub fn hear(machine: &mut dyn Dialect, text: &str, cx: &mut Cx<'_>) {
    machine.news(&LinkEvent::Frame(Frame::of(text)), cx);
}

/// A change of a connection, as a recording names it: without its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionChange {
    /// A connection is attempted.
    Connecting,
    /// It is up.
    Connected,
    /// It was lost, and is attempted again.
    Lost,
    /// It failed, and is not attempted again.
    Failed,
    /// The source is at its end.
    Ended,
}

/// Passes a change of its connection to a dialect.
pub fn hear_change(machine: &mut dyn Dialect, change: ConnectionChange, cx: &mut Cx<'_>) {
    let fault = Fault::Closed;
    let event = match change {
        ConnectionChange::Connecting => LinkEvent::Connecting { attempt: 1 },
        ConnectionChange::Connected => LinkEvent::Connected,
        ConnectionChange::Lost => LinkEvent::Lost {
            fault,
            retry_in: Duration::ZERO,
        },
        ConnectionChange::Failed => LinkEvent::Failed { fault },
        ConnectionChange::Ended => LinkEvent::Ended,
    };
    machine.news(&event, cx);
}

/// Returns the sentence for the phrase key of a departure from another protocol's rules; for reports, which hold no
/// payload.
pub fn about_departure(key: &str) -> Option<&'static str> {
    asp::about(key).or_else(|| sage::about(key))
}

#[cfg(test)]
mod tests {
    /// Returns how many of a test's random runs to do: all if `HEARKEN_ALL_RUNS` is in the environment, as in
    /// `.ci/deep`, else a share that takes seconds.
    pub(crate) fn runs(all: u32) -> u32 {
        match std::env::var_os("HEARKEN_ALL_RUNS") {
            Some(_) => all,
            None => all / 5,
        }
    }
}
