//! Dialects: one machine between the frames of a link and AAEP. Pure.
//!
//! Responsibilities: the interface of every dialect ([`Dialect`]), which takes link events, and the person's replies
//! and wishes, and returns outputs ([`Out`]); decoding a text with the one decoder ([`read`]). Not here: AAEP's own
//! rules (`protocol`), connections and their retries (`transport`), what the person is told and when, and which
//! question an answer belongs to (`app`).
//!
//! # Mental model
//! A dialect is a translator at the door. Inside the house everything is AAEP: whatever an agent sends is turned into
//! AAEP events, as text, and passes through the same decoder as the events of an AAEP producer. The person's answers
//! are translated back. A dialect knows nothing of screens, voices or wording: what it says in its own name is a phrase
//! key.
//!
//! # Worked example
//! A link connects: `news(Connected)`. If the other side waits to be spoken to, the dialect emits [`Out::Send`] with
//! its first frame and a number of its own ([`Numbers`]). A frame arrives: `news(Frame)` emits the events in it, in
//! order. One of them asks a question, under a reply token that the dialect drew from its seed. The person answers:
//! `reply(7, …)` emits [`Out::Send`] under the number 7. Its delivery is reported by `news(Replied { request: 7 })`,
//! and passed on as [`Out::Settled`].

mod a2a;
mod aaep;
mod acp;
mod agui;
mod asp;
mod claude;
mod codex;
pub mod descriptor;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#[path = "tests/every_dialect.rs"]
mod every_dialect;
#[cfg(test)]
mod every_language;
mod foreign;
mod kit;
mod meeting;
mod opencode;
mod recognise;
pub mod sage;

pub use a2a::document as a2a_card;
pub use aaep::{Addresses, WEBSOCKET};
pub use acp::{AgentListener, Decided};
pub use asp::{BadKey, Identity, tables as asp_tables};
pub use descriptor::{Credential, DIALECTS, Descriptor, Naming, Place, open};
pub use foreign::Foreign;
pub use kit::numbers::Numbers;
pub use kit::wording::{Said, Wording, Words};
pub use kit::{changes, rpc, written};
pub use opencode::events as opencode_events;
pub use recognise::{Sign, recognise};

use std::fmt::Debug;
use std::time::Duration;

use ::aaep as protocol;
use hearken_link::{config, link};

use crate::config::{HandshakeConfig, Load, Verbosity};
use crate::link::{
    Address, Call, Fault, Frame, HttpAnswer, LastWords, LinkEvent, Phrase, Receipt, Request,
    Stream, Undelivered, Way,
};
use crate::protocol::{
    AgentId, DecodeError, Decoded, KeyRing, Machine, Named, Now, Recent, Reply, TransitionError,
    Watcher, object,
};
pub use crate::protocol::{Texts, bare, recordable};

/// What a dialect is called with: the time, and where its outputs go.
#[derive(Debug)]
pub struct Cx<'a> {
    /// The time.
    pub now: Now,
    /// The outputs so far, in order.
    pub out: &'a mut Vec<Out>,
}

impl<'a> Cx<'a> {
    /// Creates the context of a call.
    pub fn new(now: Now, out: &'a mut Vec<Out>) -> Self {
        Self { now, out }
    }
}

/// The translator between the frames of one link and AAEP.
///
/// It reads no clock and draws no random number: the time is an argument, and ids grow from the seed in its [`Start`].
/// The same inputs give the same outputs.
pub trait Dialect: Debug + Send {
    /// Handles a link event: one of the methods below is called for it.
    ///
    /// Every [`LinkEvent`] comes here before it reaches the app. A dialect that answers [`Down::Failed`] with
    /// [`Out::ChangeWay`] keeps the link alive, so it has not failed; with [`Out::Close`], it has failed for that
    /// reason.
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
            LinkEvent::Lost { fault, .. } => self.on_down(Down::Lost(fault), cx),
            LinkEvent::Failed { fault } => self.on_down(Down::Failed(fault), cx),
            LinkEvent::Ended => self.on_down(Down::Ended, cx),
            LinkEvent::Silent { .. }
            | LinkEvent::Listening { .. }
            | LinkEvent::Strangers { .. }
            | LinkEvent::Remark { .. } => {}
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

    /// Handles frames that could not be read from the link.
    fn on_dropped(&mut self, _cx: &mut Cx<'_>) {}

    /// Handles the end of the stream that answers a request.
    fn on_stream_end(&mut self, _cx: &mut Cx<'_>) {}

    /// Handles what became of a frame or message that was sent under this number.
    fn on_sent(
        &mut self,
        _request: u64,
        _outcome: &Result<Receipt, Undelivered>,
        _cx: &mut Cx<'_>,
    ) {
    }

    /// Handles the answer to a [`Call`].
    fn on_answer(&mut self, _request: u64, _outcome: &Result<HttpAnswer, Fault>, _cx: &mut Cx<'_>) {
    }

    /// Handles a piece of an answer that is a stream.
    fn on_piece(&mut self, _request: u64, _text: &str, _cx: &mut Cx<'_>) {}

    /// Handles an incoming request.
    fn on_request(&mut self, _id: u64, _request: &Request, _cx: &mut Cx<'_>) {}

    /// Handles an incoming request whose sender no longer waits for an answer.
    fn on_lapsed(&mut self, _id: u64, _cx: &mut Cx<'_>) {}

    /// Handles the end of a connection.
    fn on_down(&mut self, _down: Down<'_>, _cx: &mut Cx<'_>) {}

    /// Returns whether a frame already is an AAEP event, with nothing else in it for the dialect. That frame then skips
    /// [`Dialect::news`] and need not be copied into an output.
    fn passes(&mut self, _frame: &str) -> bool {
        false
    }

    /// Returns whether frames may pass unchanged at present, so that decoding one before [`Dialect::passes`] pays off.
    fn may_pass(&self) -> bool {
        false
    }

    /// Sends an answer from the person. [`Out::Settled`] with this number must follow, now or later, exactly once.
    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>);

    /// Carries out any other wish of the person to the agent.
    fn wish(&mut self, _wish: &Wish, _cx: &mut Cx<'_>) {}

    /// Handles the passing of time, at [`Dialect::deadline`] or later.
    fn tick(&mut self, _cx: &mut Cx<'_>) {}

    /// Returns the monotonic time of the next [`Dialect::tick`].
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// Returns the present state of the connection.
    fn connection(&self) -> Connection;

    /// Returns the commands that the agent accepts instead of a prompt.
    fn offers(&self) -> &[Offered] {
        &[]
    }
}

/// How a connection ended.
#[derive(Debug, Clone, Copy)]
pub enum Down<'a> {
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

/// An output of a dialect: what it wants done, or reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Out {
    /// An AAEP event, as JSON text. Whatever its dialect, the one decoder reads it.
    Event(String),
    /// An AAEP event with a question that can be seen here, but not answered.
    ViewOnly(String),
    /// A frame that means nothing in this dialect, or the number of consecutive frames that mean nothing for the same
    /// reason: they are counted and reported, never skipped in silence.
    Unread(NoEvent, u64),
    /// Send this frame; the outcome is reported as [`LinkEvent::Replied`] with this number.
    Send {
        /// The app's number of a reply, or one of the dialect's own [`Numbers`].
        request: u64,
        /// The frame, without line ending or length prefix.
        frame: String,
    },
    /// Hand this message to the handler that carries out the person's decisions instead of the source; the outcome is
    /// reported as [`LinkEvent::Replied`] with this number.
    Hand {
        /// The app's number of a reply.
        request: u64,
        /// The message, as JSON.
        message: String,
    },
    /// Make one request beside the stream; its answer is reported as [`LinkEvent::Answered`] with this number.
    Call {
        /// The app's number of a reply, or one of the dialect's own [`Numbers`].
        request: u64,
        /// The request to make.
        call: Call,
    },
    /// Answer an incoming request ([`LinkEvent::Request`]). If the answer is the person's, the outcome is reported as
    /// [`LinkEvent::Replied`] with their number.
    Respond {
        /// Our number of the incoming request.
        id: u64,
        /// The number of the person's answer; `None` if the answer is not theirs.
        request: Option<u64>,
        /// The answer, as JSON.
        body: String,
    },
    /// Follow this stream in the connection attempt under way.
    Follow(Stream),
    /// The connection attempt under way has failed for this reason, which also decides whether and when to retry.
    Refuse(Fault),
    /// Release the events held back for their order: nothing more is coming that they could wait for.
    Release,
    /// Send this when the link closes, for whatever reason; it replaces the previous last words.
    LastWords(Option<LastWords>),
    /// Leave the connection and follow the source another way.
    ChangeWay(Way),
    /// Give up and close the source: it can't be used, for this reason.
    Close(Fault),
    /// The outcome of an answer from the person.
    Settled {
        /// The number of the reply.
        request: u64,
        /// Whether it was delivered, as far as that is known.
        outcome: Result<Receipt, Undelivered>,
    },
    /// What became of the open questions.
    Standing(Standing),
    /// The question under this token is decided. For the only open question of a session, the session's change of state
    /// already shows that; if others are open, the session keeps its state, and only this output reports it.
    Decided {
        /// The token of the question.
        token: String,
        /// The state that its session would have entered.
        to: &'static str,
    },
    /// The question under this token is over for a reason that no event states.
    Over {
        /// The token of the question.
        token: String,
        /// The reason.
        how: Over,
    },
    /// The name proven over this connection; `None` if none is.
    Proven(Option<String>),
    /// Tell the person this; `source` is filled in with the source's name.
    Tell(Phrase),
    /// Tell this only to people who want every detail; others can look it up.
    Detail(Phrase),
    /// One of the dialect's own state machines took a step, or refused one.
    Stepped(Stepped),
}

/// One step of a dialect's own state machine, for tracing, checking and counting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stepped {
    /// The other side's name for the conversation; empty for the link itself.
    pub conversation: String,
    /// The other side's name for the part of the conversation concerned; empty for the whole.
    pub subject: String,
    /// The names of the machine, of the state left, and of the event.
    pub named: Named,
    /// The state entered; `None` if the state does not accept the event, and stays.
    pub to: Option<&'static str>,
}

impl Stepped {
    /// Steps a machine and records the outcome: the next state, or a refusal.
    pub fn step<M: Machine>(
        conversation: &str,
        subject: &str,
        from: M,
        event: M::Event,
        out: &mut Vec<Out>,
    ) -> Result<M, TransitionError> {
        let mut note = Note {
            conversation,
            subject,
            out,
        };
        from.observed(event, &mut note)
    }
}

/// A machine's observer that turns steps into outputs.
struct Note<'a> {
    conversation: &'a str,
    subject: &'a str,
    out: &'a mut Vec<Out>,
}

impl Note<'_> {
    fn keep(&mut self, named: Named, to: Option<&'static str>) {
        self.out.push(Out::Stepped(Stepped {
            conversation: self.conversation.to_owned(),
            subject: self.subject.to_owned(),
            named,
            to,
        }));
    }
}

impl Watcher for Note<'_> {
    fn before(&mut self, _: Named) {}

    fn after(&mut self, step: Named, to: &'static str) {
        self.keep(step, Some(to));
    }

    fn error(&mut self, step: Named, _: &TransitionError) {
        self.keep(step, None);
    }
}

/// What became of a link's open questions, if no event states it, or not as exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// After a loss: the same agent that asked is back, so they can be answered.
    Back,
    /// After a loss: an agent resumed where the stream broke off, so answers may still reach the one that asked.
    PerhapsBack,
    /// The agreement under which they were asked has ended: their defaults decide them.
    Decided,
}

/// Why a question is over, if no event states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Over {
    /// The person stopped the agent's work, and that cancelled it.
    Stopped,
    /// The agent withdrew it.
    TakenBack,
}

/// A command that an agent accepts instead of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Offered {
    /// Its name, without the leading slash.
    pub name: String,
    /// What it does, in the agent's words.
    pub says: String,
    /// The agent's description of its argument; empty if it has none.
    pub takes: String,
}

/// What the person wants of an agent, apart from answering it.
#[derive(Debug, Clone, PartialEq)]
pub enum Wish {
    /// Report on other terms.
    Terms(Terms),
    /// Do this, in the person's words.
    Prompt(String),
    /// Stop the work under way.
    Stop,
    /// Change a setting: the name that the person used, if they named one.
    Set(Option<String>),
    /// Address a wish to one of several agents behind the source.
    Of(AgentId, Box<Wish>),
}

/// Which earlier conversation an agent should continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Earlier {
    /// None: it starts a new one.
    #[default]
    None,
    /// The latest one in its folder.
    Last,
    /// One that the person chooses.
    Chosen,
}

/// How the person wants to hear an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// How long each announcement is.
    pub verbosity: Verbosity,
    /// How much is announced.
    pub load: Load,
    /// The languages, best first.
    pub languages: Vec<String>,
    /// The current speech rate, -100 to 100, if the person has set one.
    pub rate: Option<i32>,
}

/// The state of the connection to the other side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Connection {
    /// How it connected, as a phrase key; `None` while unknown.
    pub how: Option<&'static str>,
    /// Where the terms differ from the person's wishes, one phrase each.
    pub terms: Vec<Phrase>,
    /// Whether a healthy one may stay silent until its first event.
    pub may_answer_late: bool,
    /// Whether it was asked to omit some events, so that a gap is not its fault.
    pub leaves_out: bool,
    /// Whether it accepts prompts and can be stopped.
    pub takes_prompts: bool,
    /// Whether each agent behind it is a separate conversation, so that a wish needs an addressee.
    pub converses: bool,
    /// Whether work is under way that can be stopped.
    pub in_turn: bool,
    /// Whether it accepts prompts but can't be stopped, because its protocol has no way to.
    pub never_stops: bool,
    /// Whether its agents can be heard and answered, but neither prompted nor stopped, because their protocol has no
    /// way to.
    pub only_heard: bool,
    /// What happens to its questions when the person leaves it.
    pub when_left: WhenLeft,
    /// Whether each piece of its work has a connection of its own, made on demand. Having no connection in between is
    /// normal, and its questions stay open.
    pub rests: bool,
    /// Whether it was started and is not yet ready for prompts.
    pub gets_ready: bool,
}

/// What happens to an open question when the person leaves its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WhenLeft {
    /// Its agent goes on without an answer.
    #[default]
    Default,
    /// It is cancelled, and its agent ends.
    Cancelled,
    /// It stays open: the agent asks it in its own program, too.
    Open,
    /// It stays open where it was asked, and is asked nowhere else.
    Kept,
}

/// What carries a link's frames, as far as that decides who speaks first and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Carrier {
    /// A stream of server-sent events, with requests beside it.
    EventStream,
    /// A WebSocket.
    WebSocket,
    /// A local socket.
    Socket,
    /// A program's standard input and output, one frame per line.
    Lines,
    /// Requests from local programs, each of which waits for its answer.
    Requests,
    /// A file or a pipe: nothing can be sent.
    #[default]
    OneWay,
}

/// Everything that a dialect is created from.
#[derive(Debug, Clone)]
pub struct Start {
    /// What carries the frames.
    pub carrier: Carrier,
    /// The path of the address that the person gave; empty unless it is a server on the network.
    pub path: String,
    /// The scheme, host and port of that address, as one text; empty likewise.
    pub origin: String,
    /// The stream to follow if frames are at the address that the person gave, or where they were when the dialect was
    /// recognised.
    pub stream: Stream,
    /// Whether the person wants no handshake.
    pub plain: bool,
    /// What to ask of the source.
    pub handshake: HandshakeConfig,
    /// The keys that verify signed manifests.
    pub keys: KeyRing,
    /// How the person wants to hear it.
    pub terms: Terms,
    /// The seed of the dialect's ids.
    pub seed: u64,
    /// The numbers of its own requests.
    pub numbers: Numbers,
    /// The source of the sentences inside events.
    pub words: Words,
    /// The identity that signs for the person, for protocols that want signed messages.
    pub identity: Option<Identity>,
    /// The working folder of an agent started here; empty if none is.
    pub folder: String,
    /// The prompt to give it right after the start.
    pub prompt: Option<String>,
    /// The path on its server that takes prompts, for protocols that don't define one.
    pub prompts_at: Option<String>,
    /// Which earlier conversation it should continue.
    pub earlier: Earlier,
    /// Whether a handler carries out the person's decisions, so that they can be handed to it.
    pub handler: bool,
    /// The one conversation of the source that the person wants, if they named one.
    pub conversation: Option<String>,
}

impl Start {
    /// Returns the start of a dialect with no listener and nothing to send: for reports over a stream.
    pub fn unattended() -> Self {
        Self {
            carrier: Carrier::OneWay,
            path: String::new(),
            origin: String::new(),
            stream: Stream::at(Address::Given),
            plain: true,
            handshake: HandshakeConfig::default(),
            keys: KeyRing::default(),
            terms: Terms {
                verbosity: Verbosity::Normal,
                load: Load::High,
                languages: Vec::new(),
                rate: None,
            },
            seed: 1,
            numbers: Numbers::default(),
            words: Words::default(),
            identity: None,
            folder: String::new(),
            prompt: None,
            prompts_at: None,
            earlier: Earlier::None,
            handler: false,
            conversation: None,
        }
    }
}

/// Why a frame is not an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoEvent {
    /// It may be AAEP but can't be read; the error carries no payload.
    Broken(DecodeError),
    /// It is not AAEP.
    Foreign(Foreign),
}

impl NoEvent {
    /// Returns whether both frames fail for the same reason, wherever in them the fault is.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Broken(one), Self::Broken(other)) => one.name() == other.name(),
            (Self::Foreign(one), Self::Foreign(other)) => one == other,
            (Self::Broken(_), Self::Foreign(_)) | (Self::Foreign(_), Self::Broken(_)) => false,
        }
    }
}

/// Returns the sentence for the phrase key of a departure from another protocol's rules; for reports, which hold no
/// payload.
pub fn about_departure(key: &str) -> Option<&'static str> {
    asp::about(key).or_else(|| sage::about(key))
}

/// Decodes one text as an event, whatever came before it.
///
/// # Errors
/// If it is not AAEP, or if nothing can be said about it.
pub fn read(text: &str) -> Result<Box<Decoded>, NoEvent> {
    read_after(text, &mut Recent::default())
}

/// Decodes one text of a stream as an event.
///
/// # Errors
/// If it is not AAEP, or if nothing can be said about it.
pub fn read_after(text: &str, recent: &mut Recent) -> Result<Box<Decoded>, NoEvent> {
    match recent.decode(text) {
        // Almost every event names AAEP in its type, and is read only once.
        Ok(decoded) if decoded.envelope.type_name.starts_with("aaep:") => Ok(decoded),
        Ok(decoded) => judge(text).map_or(Ok(decoded), |what| Err(NoEvent::Foreign(what))),
        Err(error) => {
            let what = match &error {
                DecodeError::Json { .. } => foreign::of_text(text),
                DecodeError::NotAnObject(_) => Some(Foreign::Value),
                DecodeError::NoType => judge(text),
                DecodeError::TooDeep => None,
            };
            Err(what.map_or(NoEvent::Broken(error), NoEvent::Foreign))
        }
    }
}

/// Judges an object whose type does not name AAEP.
fn judge(text: &str) -> Option<Foreign> {
    Foreign::of_object(&object(text)?)
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
