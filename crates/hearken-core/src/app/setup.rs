//! What the program is told at its start.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::announce::{Manner, Phrases};
use crate::config::{Config, Dialect, HandshakeConfig, SourceAnnounce};
use crate::dialect::{Carrier, Earlier, Identity};
use crate::keys::{Keymap, Scan};
use crate::protocol::{Answer, KeyRing};

/// Where lines come from, which decides when one counts as an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineSource {
    /// A pipe: a line counts for what was written before it was read.
    Pipe,
    /// Our own editor on a terminal: a line counts by when it was begun.
    Editor,
    /// A terminal: typed-ahead input is flushed when a question appears and once more when it is armed.
    Terminal,
}

/// When the program ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Until {
    /// When no source remains.
    NoSource,
    /// When every session that was seen has ended and all is said.
    Ended,
    /// When nothing happened for so long.
    Idle(Duration),
    /// Never: a face that stays open to look back.
    Asked,
}

/// Whether hearken speaks by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VoiceWish {
    /// A voice is to be looked for.
    Speak,
    /// The person wants none.
    Silent,
    /// A screen reader reads these lines aloud; two voices at once are worse than none.
    LeaveToReader,
}

/// What the program is told at its start.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The settings.
    pub config: Config,
    /// Which keys stand for what.
    pub keymap: Keymap,
    /// The keys of scanning, where it is on.
    pub scan: Option<Scan>,
    /// The words.
    pub phrases: Arc<Phrases>,
    /// How the person answers.
    pub manner: Manner,
    /// Where lines come from; `None` with keys, or when there is nobody to type.
    pub lines: Option<LineSource>,
    /// The face and why it was chosen, as phrase keys: `start.face.…`, `start.why.…`.
    pub face: (&'static str, &'static str),
    /// Whether the terminal takes what is to be copied.
    pub copies: bool,
    /// Whether a voice is wanted at all.
    pub voice: VoiceWish,
    /// When to end by itself.
    pub until: Until,
    /// The keys by which signed manifests are believed.
    pub keys: KeyRing,
    /// The first random number; ids come from it.
    pub seed: u64,
    /// Whether somebody keeps what comes and goes: a recording, or who checks it ([`crate::app::Effect::Keep`]).
    pub keeps: bool,
    /// The sources, in the order of the command line.
    pub sources: Vec<SourceSetup>,
}

/// Describes one source at the start.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SourceSetup {
    /// Its name for a person.
    pub name: String,
    /// Its name where its frames are at the very address that the person gave, and not where AAEP has them; absent
    /// where that is the same.
    pub as_given: Option<String>,
    /// Whether answers can be sent to it.
    pub answerable: bool,
    /// What carries its messages.
    pub carrier: Carrier,
    /// The path of the address that the person gave; empty for what is no server on the network.
    pub path: String,
    /// The scheme, the host and the port of that address, as one text; empty likewise.
    pub origin: String,
    /// Which dialect it speaks.
    pub dialect: Dialect,
    /// Who speaks for the person to it, where its answers are signed.
    pub identity: Option<Identity>,
    /// Whether somebody else carries the person's decisions out, who has an address of their own.
    pub handler: bool,
    /// The one conversation of the source that the person wants, where they name one.
    pub conversation: Option<String>,
    /// Whether the person wants no handshake with it.
    pub plain: bool,
    /// The folder in which its agent works, where one is started here; else empty.
    pub folder: String,
    /// What its agent is to do at once, where the person said so at the start.
    pub prompt: Option<String>,
    /// The path of its server that takes what its agent is to do, where the person named one.
    pub prompts_at: Option<String>,
    /// Which conversation of before its agent is to go on with.
    pub earlier: Earlier,
    /// What a recording tells beside its events; absent for everything that is none.
    pub recording: Option<Recording>,
    /// Whether it is a program that is started for this.
    pub program: bool,
    /// How its agents are announced, where that is not as for all.
    pub announce: SourceAnnounce,
    /// What is asked of it, where that is not as for all.
    pub handshake: Option<HandshakeConfig>,
}

impl SourceSetup {
    /// Calls it by a name that the person chose, wherever its frames are.
    #[must_use]
    pub fn called(self, name: String) -> Self {
        Self {
            name,
            as_given: None,
            ..self
        }
    }
}

/// What a recording tells beside its events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recording {
    /// When it was made, where that is known.
    pub made: Option<Timestamp>,
    /// The answers that went out while it was made and when, by the number of the question's event,
    /// from 1.
    pub answers: BTreeMap<u64, (Answer, Timestamp)>,
}
