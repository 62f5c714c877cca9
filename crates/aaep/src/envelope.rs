//! The fields that every event carries (chapter 3).

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::attachments::Attachments;
use super::event::SummaryLevel;
use super::ids::{AgentId, EventId, SessionId};
use super::language_tag::TextDirection;

/// How urgent the producer thinks an event is (2.2.9, 3.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Urgency {
    /// May be delayed, merged or dropped.
    Background,
    /// Delivered in turn; also the meaning of an absent or unknown value.
    #[default]
    Normal,
    /// Announced immediately, and never suppressed.
    Critical,
}

/// The language of an event's texts (3.3.3, chapter 11).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Localization {
    /// The BCP 47 tag of the texts; the unofficial top-level `language` counts too.
    pub primary_language: Option<Arc<str>>,
    /// The direction of the texts.
    pub text_direction: Option<TextDirection>,
    /// Languages that the producer could use.
    pub available_languages: Vec<String>,
    /// Languages to try, in this order, if the primary one can't be used.
    pub fallback_chain: Vec<String>,
    /// The ISO 15924 code of the script, if the tag does not state it.
    pub script: Option<String>,
    /// The calendar for dates.
    pub calendar: Option<String>,
}

/// The empty localization, which most producers' events have.
static NONE: LazyLock<Arc<Localization>> = LazyLock::new(Arc::default);

impl Localization {
    /// Returns the shared empty localization, for an event without hints.
    pub fn none() -> Arc<Self> {
        Arc::clone(&NONE)
    }
}

/// The producer of an event (3.2.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Producer {
    /// The stable identifier; `unknown` when the event has none.
    pub agent_id: AgentId,
    /// The name that is announced.
    pub agent_name: Option<Arc<str>>,
    /// The producer's version.
    pub agent_version: Option<String>,
    /// The producer's model.
    pub model: Option<String>,
    /// The address of its manifest.
    pub manifest_uri: Option<String>,
}

impl Producer {
    /// Returns the name that is announced.
    pub fn label(&self) -> &Arc<str> {
        self.agent_name.as_ref().unwrap_or(&self.agent_id.0.0)
    }
}

/// The readable fields of one event's envelope.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// The type as it was written, for example `aaep:agent.tool.invoked`.
    pub type_name: Cow<'static, str>,
    /// The event's id; if it is missing, duplicates can't be recognised.
    pub event_id: Option<EventId>,
    /// The session's id; empty if missing: such events share one nameless session per agent.
    pub session_id: SessionId,
    /// When the producer emitted the event, by its own account.
    pub timestamp: Option<Timestamp>,
    /// Who emitted it.
    pub producer: Arc<Producer>,
    /// How urgent it is.
    pub urgency: Urgency,
    /// The verbosity that the producer recommends.
    pub verbosity: Option<SummaryLevel>,
    /// Its place in the session, counted from 0.
    pub sequence_number: Option<u64>,
    /// The language of its texts.
    pub localization: Arc<Localization>,
    /// A trace identifier.
    pub correlation_id: Option<Arc<str>>,
    /// The version that the producer claims to speak.
    pub aaep_version: Option<Cow<'static, str>>,
    /// Extra data that is read on demand.
    pub attached: Arc<Attachments>,
    /// Extension fields by prefix, if any.
    pub extensions: Option<Arc<Map<String, Value>>>,
}

impl Envelope {
    /// Returns the session that this one is a part of, if an extension states it: directly in `extensions` or
    /// in any of its namespaces (A.9, pattern 2).
    pub fn parent_session_id(&self) -> Option<SessionId> {
        let extensions = self.extensions.as_ref()?;
        let direct = extensions.get(PARENT);
        let spaced = || extensions.values().find_map(|space| space.get(PARENT));
        direct
            .or_else(spaced)
            .and_then(Value::as_str)
            // A text longer than any id is not an id.
            .filter(|id| !id.is_empty() && id.len() <= 256)
            .map(SessionId::from)
    }
}

impl Envelope {
    /// Returns the name of the machine on which the session runs, if a bridge states it in its extension.
    pub fn host(&self) -> Option<&str> {
        let own = self.extensions.as_ref()?.get("hearken")?;
        let host = own.get(HOST)?.as_str()?;
        Some(host).filter(|host| !host.is_empty() && host.len() <= 256)
    }
}

/// The field of the extension `hearken` that names the machine on which a session runs.
pub const HOST: &str = "host";

/// The extension field by which producers link sessions (A.9).
const PARENT: &str = "parent_session_id";
