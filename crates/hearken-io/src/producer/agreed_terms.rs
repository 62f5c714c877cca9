//! What was agreed with one subscriber, and why a subscription is refused.
//!
//! Responsibilities: a subscriber's declarations, as far as they can be honoured; their consequences for an event
//! (chapter 5). Not here: who has which terms (`subscription_handshake`), streams that keep to them (`shaper`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use super::backlog::{EventFrame, EventNumbers};
use super::event_kinds::EventKind;

/// The languages that are declared.
pub(super) const LANGUAGES: [&str; 1] = ["en-US"];
/// The declarations of a subscriber that answers confirmations, and clarifications.
const CONFIRMS: &str = "supports_confirmation_reply";
const CLARIFIES: &str = "supports_clarification_reply";
/// The declaration required to be asked each kind of question.
const QUESTIONS: [(EventKind, &str); 2] = [
    (EventKind::AwaitingConfirmation, CONFIRMS),
    (EventKind::AwaitingClarification, CLARIFIES),
];
/// Where text is cut for a subscriber that declares nothing about it (5.3.1.6).
const DEFAULT_BOUNDARIES: [&str; 2] = ["sentence", "completion"];
/// The boundaries at which text may be cut.
const BOUNDARIES: [&str; 4] = ["word", "sentence", "paragraph", "completion"];

/// Why a subscription is refused, in the terms of 5.5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SubscriptionRefusal {
    pub(super) status: u16,
    pub(super) code: &'static str,
    pub(super) message: String,
    /// The number of seconds after which to ask again.
    pub(super) retry_after: Option<u64>,
}

impl SubscriptionRefusal {
    pub(super) fn new(status: u16, code: &'static str, message: &str) -> Self {
        Self {
            status,
            code,
            message: message.to_owned(),
            retry_after: None,
        }
    }

    /// Returns the refusal of a message that does not follow chapter 5.
    pub(super) fn malformed() -> Self {
        let words = "The message is not as chapter 5 of the protocol writes it.";
        Self::new(400, "unknown", words)
    }

    /// Returns the refusal that there is no such subscription.
    pub(super) fn strange() -> Self {
        Self::new(404, "unknown", "There is no such subscription.")
    }

    /// Returns the refusal that there are too many subscribers.
    pub(super) fn busy() -> Self {
        Self {
            retry_after: Some(BUSY_SECONDS),
            ..Self::new(503, "rate_limit", "This producer has too many subscribers.")
        }
    }

    /// Returns the refusal as a message.
    pub(super) fn message(&self) -> Value {
        let mut message = json!({
            "type": "subscription.rejected",
            "reason_code": self.code,
            "reason_message": self.message,
        });
        if let (Some(seconds), Some(message)) = (self.retry_after, message.as_object_mut()) {
            message.insert("retry_after_seconds".to_owned(), seconds.into());
        }
        message
    }
}

/// When a subscriber that was turned away should try again, in seconds.
const BUSY_SECONDS: u64 = 5;

/// What was agreed with one subscriber; its stream reads it at every event.
#[derive(Debug, Default)]
pub(super) struct AgreedTerms {
    pub(super) honored: Map<String, Value>,
    /// Whether it has ended: nothing more is sent, not even waiting events (5.8.2).
    pub(super) closed: bool,
    /// The numbering of its events, over all its connections.
    pub(super) numbers: EventNumbers,
}

impl AgreedTerms {
    /// Returns the maximum number of events per second; `None` means unlimited.
    pub(super) fn rate(&self) -> Option<f64> {
        self.honored.get("max_events_per_second")?.as_f64()
    }

    /// Returns whether an event is for this subscriber. A question that it can't answer is not, urgent or not
    /// (5.3.1.4); anything else urgent is (5.5.4); its filters decide the rest.
    pub(super) fn lets_through(&self, parcel: &EventFrame) -> bool {
        // Text that is not an event passes if the subscriber accepts all of the protocol's own types.
        let kind = parcel.kind().unwrap_or("aaep:agent.");
        if EventKind::from_wire(kind).is_some_and(|kind| !self.answers(kind)) {
            return false;
        }
        parcel.critical() || self.wants(kind)
    }

    /// Returns whether this subscriber can answer a question; true for anything that is not a question.
    pub(super) fn answers(&self, kind: EventKind) -> bool {
        let asked = QUESTIONS.iter().find(|(question, _)| *question == kind);
        // A subscriber that declares nothing can't (5.3.1.4, 5.3.1.5).
        asked.is_none_or(|(_, key)| self.honored.get(*key) == Some(&Value::Bool(true)))
    }

    /// Returns whether the subscriber wants text to be cut at such a place.
    pub(super) fn cuts_at(&self, hint: &str) -> bool {
        match self
            .honored
            .get("coalesce_boundaries")
            .and_then(Value::as_array)
        {
            Some(boundaries) => boundaries.iter().any(|boundary| boundary == hint),
            None => DEFAULT_BOUNDARIES.contains(&hint),
        }
    }

    /// Returns whether a type of event is wanted; a star at the end of a pattern matches anything.
    fn wants(&self, kind: &str) -> bool {
        let Some(filters) = self.honored.get("event_filters") else {
            return true;
        };
        let patterns = |key: &str| filters.get(key).and_then(Value::as_array);
        let matched = |patterns: &Vec<Value>| {
            let patterns = patterns.iter().filter_map(Value::as_str);
            patterns
                .map(|pattern| (pattern, pattern.strip_suffix('*')))
                .any(|(pattern, start)| match start {
                    Some(start) => kind.starts_with(start),
                    None => kind == pattern,
                })
        };
        patterns("include").is_none_or(matched) && !patterns("exclude").is_some_and(matched)
    }

    /// Returns in words what a subscriber may not have expected (5.4.2); `None` if there is nothing.
    pub(super) fn notes(&self) -> Option<String> {
        let withheld: Vec<&str> = QUESTIONS
            .into_iter()
            .filter(|(kind, _)| !self.answers(*kind))
            .map(|(_, key)| key)
            .collect();
        (!withheld.is_empty()).then(|| {
            let keys = withheld.join(" and ");
            format!(
                "Without {keys} such questions are not sent here, and where nobody else can answer \
                 them, what they default to happens at once."
            )
        })
    }

    /// Applies a subscriber's declarations to the terms, as far as they can be honoured.
    pub(super) fn amend(
        &mut self,
        declared: &Map<String, Value>,
        signs: bool,
    ) -> Result<(), SubscriptionRefusal> {
        let mut honored = self.honored.clone();
        for (key, value) in declared {
            let kept = match key.as_str() {
                "max_events_per_second" => value.as_u64().filter(|n| *n > 0).map(Value::from),
                "preferred_verbosity" => one_of(value, &["terse", "normal", "detailed"]),
                "cognitive_load" => one_of(value, &["low", "medium", "high"]),
                "languages" => some_of(value, &LANGUAGES),
                "coalesce_boundaries" => some_of(value, &BOUNDARIES),
                CONFIRMS | CLARIFIES => value.as_bool().map(Value::from),
                "event_filters" => value.as_object().map(|_| value.clone()),
                "supported_conformance_levels" => value.as_array().map(|levels| {
                    let known = levels.iter().filter(|l| matches!(l.as_u64(), Some(1..=3)));
                    Value::Array(known.cloned().collect())
                }),
                "supported_extensions" => {
                    if let Some(prefix) = value.as_array().and_then(|all| collision(all)) {
                        let words = format!("Two extensions declare the prefix {prefix}.");
                        return Err(SubscriptionRefusal::new(
                            400,
                            "capabilities_incompatible",
                            &words,
                        ));
                    }
                    value.as_array().map(|_| json!([]))
                }
                "pace_wpm" => value
                    .as_u64()
                    .filter(|n| (50..=1000).contains(n))
                    .map(Value::from),
                "accept_signed_manifests_only" => value.as_bool().map(Value::from),
                // An extension's own declarations have no effect here (5.3.2), but must be objects.
                _ => match value {
                    Value::Object(_) => continue,
                    _ => None,
                },
            };
            honored.insert(
                key.clone(),
                kept.ok_or_else(SubscriptionRefusal::malformed)?,
            );
        }
        if !signs && honored.get("accept_signed_manifests_only") == Some(&Value::Bool(true)) {
            let words = "This producer signs no manifest.";
            return Err(SubscriptionRefusal::new(
                403,
                "manifest_signature_required",
                words,
            ));
        }
        self.honored = honored;
        Ok(())
    }
}

/// Returns a prefix that two of these extensions share (7.3.1). The producer reads no vocabularies: it takes the last
/// meaningful part of an address, as in the chapter's own examples. Two versions of one vocabulary may coexist
/// (7.9.1).
fn collision(addresses: &[Value]) -> Option<&str> {
    let read = |address: &'_ Value| -> Option<(String, String)> {
        let address = address.as_str()?;
        let version = |part: &str| {
            part.strip_prefix('v')
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        };
        let parts: Vec<&str> = address.split('/').filter(|part| !version(part)).collect();
        let prefix = parts
            .iter()
            .rfind(|part| !part.is_empty() && !["context", "extensions"].contains(part))?;
        Some(((*prefix).to_owned(), parts.join("/")))
    };
    let read: Vec<(String, String)> = addresses.iter().filter_map(read).collect();
    let shared = read.iter().enumerate().find_map(|(at, (prefix, whole))| {
        let before = read.iter().take(at);
        let shared = before.filter(|(other, _)| other == prefix);
        shared
            .map(|(_, other)| other)
            .any(|other| other != whole)
            .then(|| prefix.clone())
    })?;
    addresses
        .iter()
        .filter_map(Value::as_str)
        .flat_map(|address| address.split('/'))
        .find(|part| *part == shared)
}

fn one_of(value: &Value, allowed: &[&str]) -> Option<Value> {
    let word = value.as_str()?;
    allowed.contains(&word).then(|| word.into())
}

fn some_of(value: &Value, offered: &[&str]) -> Option<Value> {
    let asked = value.as_array()?;
    let kept = asked
        .iter()
        .filter(|word| word.as_str().is_some_and(|word| offered.contains(&word)));
    Some(Value::Array(kept.cloned().collect()))
}

/// The terms of one subscription; its stream reads them at every event.
pub(super) type SharedTerms = Arc<Mutex<AgreedTerms>>;

pub(super) fn lock(terms: &SharedTerms) -> MutexGuard<'_, AgreedTerms> {
    terms.lock().unwrap_or_else(PoisonError::into_inner)
}
