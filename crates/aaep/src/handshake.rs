//! The messages of the subscription handshake (chapter 5), with exactly the keys that it allows.
//!
//! Responsibilities: writing `subscription.request`, `.renegotiate` and `.close`; reading
//! `subscription.accepted` and `.rejected`, whatever else a stranger adds. Not here: when they are sent and
//! what follows (`dialect`), how they travel (`transport`).

use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde_json::{Map, Value};

use super::decode;
use super::event::SummaryLevel;
use super::text_forms::is_id;
use super::version::AAEP_VERSION;

/// The most of a producer's notes and names that is kept, in characters: a sentence or two.
const LONGEST_WORDS: usize = 300;
/// The most entries of a list that are kept; the chapter's own lists have at most 32 (languages).
const LONGEST_LIST: usize = 64;

/// The types of event that a subscriber wants (5.3.1.7).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventFilters {
    /// Patterns of wanted types.
    pub include: Vec<String>,
    /// Patterns of unwanted types; they win.
    pub exclude: Vec<String>,
}

/// What a subscriber can handle (5.3); an absent field is left to the producer or, in a renegotiation, is
/// unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// `max_events_per_second`, from 1.
    pub max_events_per_second: Option<u64>,
    /// `preferred_verbosity`.
    pub preferred_verbosity: Option<SummaryLevel>,
    /// `languages`, best first.
    pub languages: Option<Vec<String>>,
    /// `supports_confirmation_reply`.
    pub supports_confirmation_reply: Option<bool>,
    /// `supports_clarification_reply`.
    pub supports_clarification_reply: Option<bool>,
    /// `coalesce_boundaries`.
    pub coalesce_boundaries: Option<Vec<String>>,
    /// `event_filters`.
    pub event_filters: Option<EventFilters>,
    /// `supported_conformance_levels`.
    pub supported_conformance_levels: Option<Vec<u64>>,
    /// `supported_extensions`, as addresses of vocabularies.
    pub supported_extensions: Option<Vec<String>>,
    /// `cognitive_load`: low, medium or high.
    pub cognitive_load: Option<String>,
    /// `pace_wpm`, in words per minute, 50 to 1000.
    pub pace_wpm: Option<u64>,
    /// `accept_signed_manifests_only`.
    pub accept_signed_manifests_only: Option<bool>,
}

/// Passes the name of every capability to a macro.
macro_rules! each_capability {
    ($with:ident) => {
        $with!(
            max_events_per_second,
            preferred_verbosity,
            languages,
            supports_confirmation_reply,
            supports_clarification_reply,
            coalesce_boundaries,
            event_filters,
            supported_conformance_levels,
            supported_extensions,
            cognitive_load,
            pace_wpm,
            accept_signed_manifests_only
        )
    };
}

impl Capabilities {
    /// Returns the JSON object, with the present keys.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(key.to_owned(), value);
            }
        };
        put(
            "max_events_per_second",
            self.max_events_per_second.map(Value::from),
        );
        put(
            "preferred_verbosity",
            self.preferred_verbosity
                .as_ref()
                .map(|level| level_word(level).into()),
        );
        put("languages", self.languages.clone().map(Value::from));
        put(
            "supports_confirmation_reply",
            self.supports_confirmation_reply.map(Value::from),
        );
        put(
            "supports_clarification_reply",
            self.supports_clarification_reply.map(Value::from),
        );
        put(
            "coalesce_boundaries",
            self.coalesce_boundaries.clone().map(Value::from),
        );
        put(
            "event_filters",
            self.event_filters.as_ref().map(|filters| {
                let mut object = Map::new();
                object.insert("include".to_owned(), filters.include.clone().into());
                object.insert("exclude".to_owned(), filters.exclude.clone().into());
                Value::Object(object)
            }),
        );
        put(
            "supported_conformance_levels",
            self.supported_conformance_levels.clone().map(Value::from),
        );
        put(
            "supported_extensions",
            self.supported_extensions.clone().map(Value::from),
        );
        put(
            "cognitive_load",
            self.cognitive_load.clone().map(Value::from),
        );
        put("pace_wpm", self.pace_wpm.map(Value::from));
        put(
            "accept_signed_manifests_only",
            self.accept_signed_manifests_only.map(Value::from),
        );
        Value::Object(map)
    }

    /// Reads the JSON object leniently: a value of the wrong type counts as absent.
    pub fn from_value(value: &Value) -> Self {
        let texts = |value: &Value| -> Option<Vec<String>> {
            Some(
                value
                    .as_array()?
                    .iter()
                    .filter_map(Value::as_str)
                    .take(LONGEST_LIST)
                    .map(cut)
                    .collect(),
            )
        };
        let list = |key: &str| value.get(key).and_then(texts);
        let flag = |key: &str| value.get(key).and_then(Value::as_bool);
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        Self {
            max_events_per_second: number("max_events_per_second"),
            preferred_verbosity: value
                .get("preferred_verbosity")
                .and_then(Value::as_str)
                .and_then(level_of),
            languages: list("languages"),
            supports_confirmation_reply: flag("supports_confirmation_reply"),
            supports_clarification_reply: flag("supports_clarification_reply"),
            coalesce_boundaries: list("coalesce_boundaries"),
            event_filters: value
                .get("event_filters")
                .filter(|filters| filters.is_object())
                .map(|filters| EventFilters {
                    include: filters.get("include").and_then(texts).unwrap_or_default(),
                    exclude: filters.get("exclude").and_then(texts).unwrap_or_default(),
                }),
            supported_conformance_levels: value
                .get("supported_conformance_levels")
                .and_then(Value::as_array)
                .map(|levels| {
                    levels
                        .iter()
                        .filter_map(Value::as_u64)
                        .take(LONGEST_LIST)
                        .collect()
                }),
            supported_extensions: list("supported_extensions"),
            cognitive_load: value
                .get("cognitive_load")
                .and_then(Value::as_str)
                .filter(|load| ["low", "medium", "high"].contains(load))
                .map(str::to_owned),
            pace_wpm: number("pace_wpm"),
            accept_signed_manifests_only: flag("accept_signed_manifests_only"),
        }
    }

    /// Returns these capabilities, overridden by those present in `change` (5.7.1).
    pub fn amended(&self, change: &Self) -> Self {
        macro_rules! over {
            ($($field:ident),*) => {
                Self { $($field: change.$field.clone().or_else(|| self.$field.clone())),* }
            };
        }
        each_capability!(over)
    }

    /// Returns the part of `wanted` that differs from these: the least that a renegotiation has to name
    /// (5.7.1); `None` if nothing differs.
    pub fn lacking(&self, wanted: &Self) -> Option<Self> {
        macro_rules! lack {
            ($($field:ident),*) => {
                Self { $($field: wanted.$field.clone().filter(|one| self.$field.as_ref() != Some(one))),* }
            };
        }
        let lacking = each_capability!(lack);
        (lacking != Self::default()).then_some(lacking)
    }
}

fn level_word(level: &SummaryLevel) -> &'static str {
    match level {
        SummaryLevel::Terse => "terse",
        SummaryLevel::Normal => "normal",
        SummaryLevel::Detailed => "detailed",
    }
}

fn level_of(word: &str) -> Option<SummaryLevel> {
    match word {
        "terse" => Some(SummaryLevel::Terse),
        "normal" => Some(SummaryLevel::Normal),
        "detailed" => Some(SummaryLevel::Detailed),
        _ => None,
    }
}

/// A request for a subscription (5.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionRequest {
    /// `aaep_version`: the requested version.
    pub version: String,
    /// `subscriber_id`: the same from run to run.
    pub subscriber_id: String,
    /// The program's own version.
    pub subscriber_version: String,
    /// What the subscriber can handle.
    pub capabilities: Capabilities,
}

impl SubscriptionRequest {
    /// Returns the message as JSON text.
    pub fn to_json(&self) -> String {
        object([
            ("type", "subscription.request".into()),
            ("aaep_version", self.version.as_str().into()),
            ("subscriber_id", self.subscriber_id.as_str().into()),
            ("subscriber_name", "hearken".into()),
            (
                "subscriber_version",
                self.subscriber_version.as_str().into(),
            ),
            ("capabilities", self.capabilities.to_value()),
        ])
    }
}

/// Returns a `subscription.renegotiate` (5.7.1): absent capabilities stay as they were.
pub fn renegotiate(subscription_id: &str, change: &Capabilities) -> String {
    object([
        ("type", "subscription.renegotiate".into()),
        ("subscription_id", subscription_id.into()),
        ("capabilities", change.to_value()),
    ])
}

/// Returns a `subscription.close` (5.8.1).
pub fn close(subscription_id: &str) -> String {
    object([
        ("type", "subscription.close".into()),
        ("subscription_id", subscription_id.into()),
        ("reason_code", "subscriber_shutdown".into()),
        ("reason_message", "hearken is closing.".into()),
    ])
}

fn object<const N: usize>(pairs: [(&str, Value); N]) -> String {
    let map: Map<String, Value> = pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    Value::Object(map).to_string()
}

/// Why a producer refuses a subscription (5.5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RejectionCode {
    /// It does not speak the requested version.
    VersionUnsupported,
    /// A signed manifest was requested, and it has none.
    ManifestSignatureRequired,
    /// It can offer none of what was requested.
    CapabilitiesIncompatible,
    /// It has too many subscribers.
    RateLimit,
    /// It requires credentials.
    AuthenticationRequired,
    /// The credentials do not allow it.
    AuthorizationDenied,
    /// It does not serve over this transport.
    TransportUnavailable,
    /// It gives no code, or one that the chapter does not define.
    Unknown,
}

impl RejectionCode {
    /// Returns the code as written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::VersionUnsupported => "version_unsupported",
            Self::ManifestSignatureRequired => "manifest_signature_required",
            Self::CapabilitiesIncompatible => "capabilities_incompatible",
            Self::RateLimit => "rate_limit",
            Self::AuthenticationRequired => "authentication_required",
            Self::AuthorizationDenied => "authorization_denied",
            Self::TransportUnavailable => "transport_unavailable",
            Self::Unknown => "unknown",
        }
    }

    /// All codes, in the chapter's order.
    pub const ALL: [Self; 8] = [
        Self::VersionUnsupported,
        Self::ManifestSignatureRequired,
        Self::CapabilitiesIncompatible,
        Self::RateLimit,
        Self::AuthenticationRequired,
        Self::AuthorizationDenied,
        Self::TransportUnavailable,
        Self::Unknown,
    ];

    fn parse(text: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|code| code.as_str() == text)
            .unwrap_or(Self::Unknown)
    }
}

/// A producer's consent (5.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionConsent {
    /// The producer's id for the subscription, which every reply carries.
    pub subscription_id: String,
    /// The version that the producer uses; if absent, as in B.6.2, it is the requested one.
    pub version: Option<String>,
    /// `producer.agent_id`; absent if it is missing or not a text.
    pub agent_id: Option<String>,
    /// The terms that the producer agrees to.
    pub honored: Capabilities,
    /// A manifest as a compact JWS.
    pub signed_manifest: Option<String>,
    /// The producer's own words about the terms, cut to the bound.
    pub notes: Option<String>,
}

/// A producer's refusal (5.5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionRejection {
    /// Why it refuses.
    pub code: RejectionCode,
    /// The producer's own words, cut to the bound.
    pub message: String,
    /// After how many seconds it may be asked again.
    pub retry_after: Option<u64>,
}

/// A producer's message in a handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandshakeMessage {
    /// It consents.
    Accepted(Box<SubscriptionConsent>),
    /// It refuses.
    Rejected(SubscriptionRejection),
    /// It ends the subscription (5.8).
    Closed {
        /// The subscription that ends; absent if the message does not name it.
        subscription: Option<String>,
        /// The producer's own words, cut to the bound.
        reason: String,
    },
}

/// Reads a message of the handshake; returns `None` for anything else, above all for events.
pub fn read_handshake(text: &str) -> Option<HandshakeMessage> {
    // Events are many and handshakes few: this check spares most texts a second parse.
    static NAMED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("subscription."));
    NAMED.find(text.as_bytes())?;
    let value = decode::object(text)?;
    let words = |key: &str| value.get(key).and_then(Value::as_str).map(cut);
    match value.get("type")?.as_str()? {
        "subscription.accepted" => {
            Some(HandshakeMessage::Accepted(Box::new(SubscriptionConsent {
                // An id that no reply could echo is no consent.
                subscription_id: value
                    .get("subscription_id")?
                    .as_str()
                    .filter(|id| is_id(id, "sub_"))?
                    .to_owned(),
                version: words("aaep_version"),
                agent_id: value
                    .get("producer")
                    .and_then(|producer| producer.get("agent_id")?.as_str())
                    .filter(|id| !id.is_empty() && id.len() <= 256)
                    .map(str::to_owned),
                honored: value
                    .get("honored_capabilities")
                    .map(Capabilities::from_value)
                    .unwrap_or_default(),
                signed_manifest: value
                    .get("signed_manifest")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
                notes: words("negotiation_notes").filter(|notes| !notes.trim().is_empty()),
            })))
        }
        "subscription.rejected" => Some(HandshakeMessage::Rejected(SubscriptionRejection {
            code: words("reason_code")
                .map_or(RejectionCode::Unknown, |code| RejectionCode::parse(&code)),
            message: words("reason_message").unwrap_or_default(),
            retry_after: value.get("retry_after_seconds").and_then(Value::as_u64),
        })),
        "subscription.close" => Some(HandshakeMessage::Closed {
            subscription: value
                .get("subscription_id")
                .and_then(Value::as_str)
                .map(str::to_owned),
            reason: words("reason_message").unwrap_or_default(),
        }),
        _ => None,
    }
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST_WORDS).collect()
}

/// Returns whether a producer's version can be understood: it has the same major number (12.2).
pub fn is_understood(version: &str) -> bool {
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    // The chapters' own drafts call themselves 0.1, and the programs built on them 1.0.0.
    version.starts_with("0.1") || major(version) == major(AAEP_VERSION)
}

#[cfg(test)]
#[path = "handshake_tests.rs"]
mod tests;
