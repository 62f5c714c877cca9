//! What a dialect is created from.

use std::time::Duration;

use crate::config::{HandshakeConfig, Load, Verbosity};
use crate::link::{Address, Stream};
use crate::protocol::KeyRing;

use super::{BrokerPlace, Identity, RequestNumbers, SharedWording, Terms, Token};

/// What carries a link's frames, as far as that decides who speaks first and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TransportKind {
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
    /// A broker, which stores messages and carries requests.
    Broker,
    /// A file or a pipe: nothing can be sent.
    #[default]
    OneWay,
}

/// Everything that a dialect is created from.
#[derive(Debug, Clone)]
pub struct DialectSetup {
    /// What carries the frames.
    pub carrier: TransportKind,
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
    pub numbers: RequestNumbers,
    /// The source of the sentences inside events.
    pub words: SharedWording,
    /// The token of the source, for protocols that want it in a message.
    pub token: Option<Token>,
    /// The identity that signs for the person, for protocols that want signed messages.
    pub identity: Option<Identity>,
    /// The working folder of an agent started here; empty if none is.
    pub folder: String,
    /// The prompt to give it right after the start.
    pub prompt: Option<String>,
    /// The path on its server that takes prompts, for protocols that don't define one.
    pub prompts_at: Option<String>,
    /// Which earlier conversation it should continue.
    pub earlier: ConversationToContinue,
    /// Whether the agent should work in the mode that asks the person most.
    pub ask_always: bool,
    /// After how long a question is handed back to an agent's own terminal that doesn't ask as long as its hook waits.
    pub hand_back: Duration,
    /// Whether Gemini CLI waits for the person before a call that may change something.
    pub gemini_waits: bool,
    /// Whether a handler carries out the person's decisions, so that they can be handed to it.
    pub handler: bool,
    /// The one conversation of the source that the person wants, if they named one.
    pub conversation: Option<String>,
    /// What to follow on a broker.
    pub broker: Option<BrokerPlace>,
}

impl DialectSetup {
    /// Returns the start of a dialect with no listener and nothing to send: for reports over a stream.
    pub fn unattended() -> Self {
        Self {
            carrier: TransportKind::OneWay,
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
            numbers: RequestNumbers::default(),
            words: SharedWording::default(),
            token: None,
            identity: None,
            folder: String::new(),
            prompt: None,
            prompts_at: None,
            earlier: ConversationToContinue::None,
            ask_always: false,
            hand_back: Duration::from_secs(5 * 60),
            gemini_waits: false,
            handler: false,
            conversation: None,
            broker: None,
        }
    }
}

/// Which earlier conversation an agent should continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ConversationToContinue {
    /// None: it starts a new one.
    #[default]
    None,
    /// The latest one in its folder.
    Last,
    /// One that the person chooses.
    Chosen,
}
