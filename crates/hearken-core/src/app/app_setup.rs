//! Everything that the app needs at its start.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::announce::{AnswerMethod, Phrases};
use crate::config::{Config, Dialect, HandshakeConfig, SourceAnnounce};
use crate::dialect::{BrokerPlace, ConversationToContinue, Identity, Token, TransportKind};
use crate::keys::{Keymap, Scan};
use crate::protocol::{Answer, KeyRing};

/// Where lines come from, which decides when one counts as an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineSource {
    /// A pipe: a line counts for what was written before it was read.
    Pipe,
    /// Our own editor on a terminal: a line counts from when it was begun.
    Editor,
    /// A terminal: typed-ahead input is flushed when a question appears and once more when it is armed.
    Terminal,
}

/// When the program ends on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndCondition {
    /// When no source is left.
    NoSource,
    /// When every session that was seen has ended and everything is spoken.
    Ended,
    /// When nothing has happened for this long.
    Idle(Duration),
    /// Only when asked: a face that stays open for looking back.
    Asked,
}

/// Whether hearken itself speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpeechMode {
    /// A voice is to be looked for.
    Speak,
    /// The person wants none.
    Silent,
    /// A screen reader reads the lines aloud; two voices together are worse than none.
    LeaveToReader,
}

/// Everything that the app needs at its start.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The settings.
    pub config: Config,
    /// The key assignments.
    pub keymap: Keymap,
    /// The keys of scanning, if it is on.
    pub scan: Option<Scan>,
    /// The words.
    pub phrases: Arc<Phrases>,
    /// How the person answers.
    pub manner: AnswerMethod,
    /// Where lines come from; `None` with keys, or if no person can type.
    pub lines: Option<LineSource>,
    /// The face and why it was chosen, as phrase keys: `start.face.…`, `start.why.…`.
    pub face: (&'static str, &'static str),
    /// Whether the terminal accepts text for its clipboard.
    pub copies: bool,
    /// Whether a voice is wanted at all.
    pub voice: SpeechMode,
    /// When to end automatically.
    pub until: EndCondition,
    /// The keys that signed manifests are checked against.
    pub keys: KeyRing,
    /// The seed of the random numbers that ids are made from.
    pub seed: u64,
    /// Whether messages are kept: for a recording, or for an observer that checks them ([`crate::app::Effect::Keep`]).
    pub is_recorded: bool,
    /// The sources, in the order of the command line.
    pub sources: Vec<SourceSetup>,
}

/// One source at the start.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SourceSetup {
    /// Its name for a person.
    pub name: String,
    /// Its name if its frames are at exactly the address that the person gave, not at AAEP's usual path; `None`
    /// if the two are the same.
    pub as_given: Option<String>,
    /// Whether answers can be sent to it.
    pub answerable: bool,
    /// What carries its messages.
    pub carrier: TransportKind,
    /// The path of the address that the person gave; empty if the source is not a server on the network.
    pub path: String,
    /// The origin of that address, as scheme, host and port; empty in the same case.
    pub origin: String,
    /// Which dialect it speaks.
    pub dialect: Dialect,
    /// The token of the source, for protocols that want it in a message.
    pub token: Option<Token>,
    /// The identity that signs the person's answers to it, if they are signed.
    pub identity: Option<Identity>,
    /// Whether a separate handler, with its own address, carries out the person's decisions.
    pub handler: bool,
    /// The single conversation of the source that the person wants, if they named one.
    pub conversation: Option<String>,
    /// The place followed on a broker, if it is one.
    pub broker: Option<BrokerPlace>,
    /// Whether the person wants no handshake with it.
    pub plain: bool,
    /// The folder in which its agent works, if one is started here; empty otherwise.
    pub folder: String,
    /// The first prompt for its agent, if the person gave one at the start.
    pub prompt: Option<String>,
    /// The path of its server that accepts prompts, if the person named one.
    pub prompts_at: Option<String>,
    /// The earlier conversation that its agent is to continue.
    pub earlier: ConversationToContinue,
    /// What a recording contains besides its events; `None` for a source that is not a recording.
    pub recording: Option<Recording>,
    /// Whether it is a program that this run starts.
    pub program: bool,
    /// How its agents are announced, if differently from the general settings.
    pub announce: SourceAnnounce,
    /// Its own handshake settings, if they differ from the general ones.
    pub handshake: Option<HandshakeConfig>,
}

impl SourceSetup {
    /// Returns whether its messages come from another machine, judging by its address.
    pub(super) fn leaves_machine(&self) -> bool {
        let (_, host) = self.origin.split_once("://").unwrap_or_default();
        let is_here = ["localhost", "127.", "[::1]"];
        !host.is_empty() && !is_here.iter().any(|here| host.starts_with(here))
    }

    /// Sets a name chosen by the person, which applies wherever its frames are.
    #[must_use]
    pub fn called(self, name: String) -> Self {
        Self {
            name,
            as_given: None,
            ..self
        }
    }
}

/// What a recording contains besides its events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recording {
    /// When it was made, if known.
    pub made_at: Option<Timestamp>,
    /// The answers that were sent while it was made, and when, by the number of the question's event, from 1.
    pub answers: BTreeMap<u64, (Answer, Timestamp)>,
}
