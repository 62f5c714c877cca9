//! The door: between the frames of a link and AAEP stands one machine. Pure.
//!
//! Responsibilities: what every dialect is ([`Dialect`]): it is fed what happens on a link and what the person
//! wants, and answers with wishes ([`Out`]); judging a text by the one decoder ([`read`]). Not here: AAEP's own
//! rules (`protocol`), connections and their retries (`transport`), what the person is told when, and which
//! question an answer is for (`app`).
//!
//! # Mental model
//! A dialect is a translator at the door. Inside the house everybody speaks AAEP: whatever an agent sends is
//! turned into AAEP events, as texts, and judged by the same decoder as what an AAEP producer sends. Whatever
//! the person answers is turned back. A dialect knows no screen, no voice and no words: what it has to say in
//! its own name are phrase keys.
//!
//! # Worked example
//! A link connects: `news(Connected)`. A dialect whose other side waits to be spoken to gives [`Out::Send`]
//! with its first frame and a number of its own ([`Numbers`]). A frame comes: `news(Frame)`, and out come the
//! events in it, in order. One of them asks, under a reply token that the dialect made from its seed. The
//! person answers: `reply(7, …)`, and out comes [`Out::Send`] under the number 7. That it went out comes back
//! as `news(Replied { request: 7 })`, and is passed on as [`Out::Settled`].

mod a2a;
mod aaep;
mod acp;
mod agui;
mod asp;
pub mod changes;
mod claude;
mod codex;
#[cfg(test)]
mod every_language;
mod foreign;
mod meeting;
mod numbers;
mod opencode;
mod recognise;
pub mod rpc;
pub mod sage;
mod shell;
mod wording;
pub mod written;

pub use a2a::document as a2a_card;
pub use aaep::{Addresses, WEBSOCKET};
pub use acp::{Along, Decided};
pub use asp::{BadKey, Identity, tables as asp_tables};
pub use foreign::Foreign;
pub use numbers::Numbers;
pub use opencode::events as opencode_events;
pub use recognise::{Kind, Sign, open, recognise};
pub use wording::{Said, Wording, Words};

use std::fmt::Debug;
use std::time::Duration;

use ::aaep as protocol;
use hearken_link::{config, link};

use crate::config::{HandshakeConfig, Load, Verbosity};
use crate::link::{
    Address, Call, Fault, Frame, LastWords, LinkEvent, Phrase, Receipt, Stream, Undelivered, Way,
};
use crate::protocol::{
    AgentId, DecodeError, Decoded, KeyRing, Machine, Named, Now, Recent, Reply, TransitionError,
    Watcher, object,
};
pub use crate::protocol::{Texts, bare, recordable};

/// Stands between the frames of one link and AAEP.
///
/// It reads no clock and draws no number: the time comes as an argument, ids come from a seed that it was made
/// with. The same facts give the same wishes.
pub trait Dialect: Debug + Send {
    /// Takes what happened on the link. Of what a frame holds, nothing is lost and nothing is told twice.
    ///
    /// Every [`LinkEvent`] comes here before the app takes it. Where a [`LinkEvent::Failed`] is answered with
    /// [`Out::ChangeWay`], the link goes on and has not failed; with [`Out::Close`], it has failed for that reason.
    fn news(&mut self, event: &LinkEvent, now: Now, out: &mut Vec<Out>);

    /// Returns whether a frame is an event in AAEP's terms as it stands, with nothing else in it for the dialect: then it is
    /// told here alone, does not come to [`Dialect::news`], and need not be copied into a wish.
    fn passes(&mut self, _frame: &str) -> bool {
        false
    }

    /// Returns whether frames may pass as they stand at present: then it is worth reading one before [`Dialect::passes`] is asked.
    fn may_pass(&self) -> bool {
        false
    }

    /// Sends an answer of the person; [`Out::Settled`] with this number must follow, now or later, exactly once.
    fn reply(&mut self, request: u64, reply: &Reply, now: Now, out: &mut Vec<Out>);

    /// Takes what else the person wants of the agent.
    fn wish(&mut self, wish: &Wish, now: Now, out: &mut Vec<Out>);

    /// Takes the passing of time, at [`Dialect::deadline`] or later.
    fn tick(&mut self, now: Now, out: &mut Vec<Out>);

    /// Returns the monotonic time at which [`Dialect::tick`] is to be called next.
    fn deadline(&self) -> Option<Duration>;

    /// Returns how the other side is spoken with at present, for whoever looks.
    fn connection(&self) -> Connection;

    /// Returns the commands that it takes in the place of a prompt.
    fn offers(&self) -> &[Offered] {
        &[]
    }
}

/// Hands a text that stands for itself to a dialect, as the frame that it came in.
pub fn hear(machine: &mut dyn Dialect, text: &str, now: Now, out: &mut Vec<Out>) {
    machine.news(&LinkEvent::Frame(Frame::of(text)), now, out);
}

/// What a dialect wishes.
#[derive(Debug, Clone, PartialEq)]
pub enum Out {
    /// An event in AAEP's terms, as JSON text. Whatever dialect it comes from, it is judged by the one decoder.
    Event(String),
    /// An event in AAEP's terms that asks something which can be seen, and not be answered from here.
    ViewOnly(String),
    /// A frame that means nothing in this dialect, or so many that follow each other and mean nothing for the same
    /// reason: they are counted and told, never passed over in silence.
    Unread(NoEvent, u64),
    /// Send this frame; what becomes of it comes back as [`LinkEvent::Replied`] with this number.
    Send {
        /// A number of the app's, which a reply came with, or one of the dialect's own [`Numbers`].
        request: u64,
        /// The frame, without its line's end or length.
        frame: String,
    },
    /// Post this to whoever carries the person's decisions out in the place of the source; what becomes of it comes
    /// back as [`LinkEvent::Replied`] with this number.
    Hand {
        /// A number of the app's, which a reply came with.
        request: u64,
        /// The message, in JSON.
        message: String,
    },
    /// Make one request beside the stream; its answer comes back as [`LinkEvent::Answered`] with this number.
    Call {
        /// A number of the app's, which a reply came with, or one of the dialect's own [`Numbers`].
        request: u64,
        /// Which.
        call: Call,
    },
    /// Answer a request that came in ([`LinkEvent::Request`]); where a number of an answer of the person is given,
    /// what becomes of it comes back as [`LinkEvent::Replied`] with that.
    Respond {
        /// Our number of the request that came in.
        id: u64,
        /// The number that the person's answer came with; none where it is no answer of theirs.
        request: Option<u64>,
        /// The answer, in JSON.
        body: String,
    },
    /// Follow this in the attempt to connect that is under way.
    Follow(Stream),
    /// The attempt that is under way has failed for this reason, which also says whether and when another is made.
    Refuse(Fault),
    /// Nothing more comes that what is held back for its order could wait for.
    Release,
    /// Send this when the link is closed, on whatever way out; it takes the place of the one before.
    LastWords(Option<LastWords>),
    /// Leave the connection and follow the source by another way.
    ChangeWay(Way),
    /// The source can't be used, for this reason: it is given up and closed.
    Close(Fault),
    /// This is what became of an answer of the person.
    Settled {
        /// The number that the reply came with.
        request: u64,
        /// Whether it is where it belongs, as far as that is known.
        outcome: Result<Receipt, Undelivered>,
    },
    /// What became of the questions that are open.
    Standing(Standing),
    /// The question under this token is decided. Where it is the only one of its session, the state that the session
    /// leaves says so; where others are open, the session stays where it is, and only this does.
    Decided {
        /// The token that it was asked under.
        token: String,
        /// The state that its session would have gone to.
        to: &'static str,
    },
    /// The question under this token is over for a reason that no event says.
    Over {
        /// The token that it was asked under.
        token: String,
        /// Why.
        how: Over,
    },
    /// Who has proven their name over this connection; `None` when nobody has.
    Proven(Option<String>),
    /// Tell the person this; `source` is filled in with the source's name.
    Tell(Phrase),
    /// Tell this to whoever wants everything in detail; others find it by looking.
    Detail(Phrase),
    /// A machine of the dialect's own made a step, or refused one.
    Stepped(Stepped),
}

/// Describes one step of a machine of a dialect's own, for whoever traces, checks or counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stepped {
    /// The other side's name for the conversation that it belongs to; empty for the link itself.
    pub conversation: String,
    /// What of the conversation it is about, by the other side's name; empty for the whole.
    pub subject: String,
    /// The machine, the state that is left, and what happened, by their names.
    pub named: Named,
    /// The state that was entered; absent where the state does not take the event, and stays.
    pub to: Option<&'static str>,
}

impl Stepped {
    /// Steps a machine and notes what became of it: the state that follows, or the same where the step is refused.
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

/// Makes wishes of what a machine's observer hears.
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

/// What became of the open questions of a link, where an event does not, or not so exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// After a loss: the very one that asked is there again, so they can be answered.
    Back,
    /// After a loss: whoever is there went on where it had broken off, so answers perhaps reach the one that
    /// asked.
    PerhapsBack,
    /// The agreement under which they were asked has ended: they are decided by their defaults.
    Decided,
}

/// Why a question is over, where no event says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Over {
    /// The person stopped what the agent did, and that cancelled it.
    Stopped,
    /// The agent took it back.
    TakenBack,
}

/// A command that an agent takes in the place of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Offered {
    /// Its name, without the slash before it.
    pub name: String,
    /// What it does, in the agent's words.
    pub says: String,
    /// What is written behind it, in the agent's words; empty where nothing is.
    pub takes: String,
}

/// What the person wants of an agent beside answering it.
#[derive(Debug, Clone, PartialEq)]
pub enum Wish {
    /// To hear it in other terms.
    Terms(Terms),
    /// That it does this, in the person's words.
    Prompt(String),
    /// That it stops what it does.
    Stop,
    /// That something is set otherwise: what the person calls it, where they said so.
    Set(Option<String>),
    /// That one of several agents behind the source does what is wished.
    Of(AgentId, Box<Wish>),
}

/// Which conversation of before an agent is to go on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Earlier {
    /// None: it begins a new one.
    #[default]
    None,
    /// The last one in its folder.
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
    /// In which languages, best first.
    pub languages: Vec<String>,
    /// The speech rate of this moment, -100 to 100, where the person has set one.
    pub rate: Option<i32>,
}

/// How the other side is spoken with, for whoever looks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Connection {
    /// How it connected, as a phrase; absent while that is not known.
    pub how: Option<&'static str>,
    /// What differs from what the person wants, one phrase each.
    pub terms: Vec<Phrase>,
    /// Whether one that is well may give no answer until its first event.
    pub may_answer_late: bool,
    /// Whether it was asked to leave some events out, so that a gap is no fault of its.
    pub leaves_out: bool,
    /// Whether it can be told what to do, and to stop.
    pub takes_prompts: bool,
    /// Whether each agent behind it is a conversation of its own, so that it matters whom a wish is for.
    pub converses: bool,
    /// Whether it does something that can be stopped.
    pub in_turn: bool,
    /// Whether it can be told what to do, and not to stop, because its protocol has no way for that.
    pub never_stops: bool,
    /// Whether its agents are heard and answered, and can be neither told what to do nor stopped, because their protocol
    /// has no way for that.
    pub only_heard: bool,
    /// What becomes of what it asks when the person leaves it.
    pub when_left: WhenLeft,
    /// Whether each thing that it does has a connection of its own, made when the person wants it: between them there is none,
    /// nothing is wrong with that, and what it asked stays open.
    pub rests: bool,
    /// Whether it was started and has yet to say that it can be told what to do.
    pub gets_ready: bool,
}

/// What becomes of an open question when the person leaves its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WhenLeft {
    /// Its agent does what it does without an answer.
    #[default]
    Default,
    /// It is cancelled, and its agent ends.
    Cancelled,
    /// It stays open: the agent asks it in its own program, too.
    Open,
    /// It stays open where it was asked, and nobody else is asked.
    Kept,
}

/// What carries a link's frames, as far as that matters to who speaks first and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Carrier {
    /// A stream of server-sent events, with requests beside it.
    EventStream,
    /// A WebSocket.
    WebSocket,
    /// A socket of this machine.
    Socket,
    /// The standard input and output of a program, a line a frame.
    Lines,
    /// Requests of programs on this machine, each of which waits for its answer.
    Requests,
    /// A file or a pipe: nothing can be sent.
    #[default]
    OneWay,
}

/// What a dialect is made from.
#[derive(Debug, Clone)]
pub struct Start {
    /// What carries the frames.
    pub carrier: Carrier,
    /// The path of the address that the person gave; empty for what is no server on the network.
    pub path: String,
    /// The scheme, the host and the port of that address, as one text; empty likewise.
    pub origin: String,
    /// What is followed where frames are at the address that the person gave, or where they were when their dialect was
    /// recognised.
    pub stream: Stream,
    /// Whether the person wants no handshake.
    pub plain: bool,
    /// What is asked of the source.
    pub handshake: HandshakeConfig,
    /// The keys by which signed manifests are believed.
    pub keys: KeyRing,
    /// How the person wants to hear it.
    pub terms: Terms,
    /// Where the dialect's ids come from.
    pub seed: u64,
    /// The numbers of its own requests.
    pub numbers: Numbers,
    /// The way to the sentences that stand in events.
    pub words: Words,
    /// Who speaks for the person where a protocol wants its messages signed.
    pub identity: Option<Identity>,
    /// The folder in which an agent works that is started here; empty where nobody is.
    pub folder: String,
    /// What it is to do at once.
    pub prompt: Option<String>,
    /// The path of its server that takes what it is to do, where no protocol says how it is told.
    pub prompts_at: Option<String>,
    /// Which conversation of before it is to go on with.
    pub earlier: Earlier,
    /// Whether somebody else carries the person's decisions out, to whom they can be handed.
    pub handler: bool,
    /// The one conversation of the source that the person wants, where they name one.
    pub conversation: Option<String>,
}

impl Start {
    /// Returns what a dialect is made from where nobody listens and nothing can be sent: for reports over a stream.
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

/// Why a frame holds no event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoEvent {
    /// It may be AAEP and can't be read; the error carries no payload.
    Broken(DecodeError),
    /// It is something else.
    Foreign(Foreign),
}

impl NoEvent {
    /// Returns whether another frame holds none for the same reason, wherever in it the fault is.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Broken(one), Self::Broken(other)) => one.name() == other.name(),
            (Self::Foreign(one), Self::Foreign(other)) => one == other,
            (Self::Broken(_), Self::Foreign(_)) | (Self::Foreign(_), Self::Broken(_)) => false,
        }
    }
}

/// Says in a sentence what a departure from another protocol's own rules is, by its phrase; for reports, which hold no
/// payload.
pub fn about_departure(key: &str) -> Option<&'static str> {
    asp::about(key).or_else(|| sage::about(key))
}

/// Reads one text, whatever came before: an event.
///
/// # Errors
/// When it is not AAEP, or when nothing can be said about it.
pub fn read(text: &str) -> Result<Box<Decoded>, NoEvent> {
    read_after(text, &mut Recent::default())
}

/// Reads one text of a stream: an event.
///
/// # Errors
/// When it is not AAEP, or when nothing can be said about it.
pub fn read_after(text: &str, recent: &mut Recent) -> Result<Box<Decoded>, NoEvent> {
    match recent.decode(text) {
        // Almost every frame says so itself, and is read only once.
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

/// Judges an object whose type does not say that it is AAEP.
fn judge(text: &str) -> Option<Foreign> {
    Foreign::of_object(&object(text)?)
}

#[cfg(test)]
mod tests {
    /// Returns how many of so many random runs are made: all of them where the environment has `HEARKEN_ALL_RUNS`, as in
    /// `.ci/deep`, else a part that takes seconds.
    pub(crate) fn runs(all: u32) -> u32 {
        match std::env::var_os("HEARKEN_ALL_RUNS") {
            Some(_) => all,
            None => all / 5,
        }
    }
}
