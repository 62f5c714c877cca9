//! The handshake's server side: subscriptions and their terms.
//!
//! Responsibilities: reading `subscription.request`, `.renegotiate` and `.close` (chapter 5), the terms
//! that are honoured, the manifest. Not here: routes and addresses (`routes`), streams that keep to their
//! terms (`shaper`), what agents do.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::agreed_terms::{AgreedTerms, LANGUAGES, SharedTerms, SubscriptionRefusal, lock};
use super::endpoints::ListenAddress;
use super::event_kinds::EventKind;
use super::host::Host;
use super::running_session::AAEP_VERSION;

/// The maximum number of subscriptions; one more makes the producer forget the oldest, whose subscriber then
/// notices and asks again.
const MAX_SUBSCRIPTIONS: usize = 64;

/// The subscriptions by name.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    known: BTreeMap<String, SharedTerms>,
    order: VecDeque<String>,
    /// The signed manifest, which is part of every consent.
    signed: Option<String>,
    /// The host's stable id, and its display name.
    host: (String, String),
}

impl Subscriptions {
    pub(super) fn new(host: &Host, signed: Option<String>) -> Self {
        Self {
            signed,
            host: (host.id.clone(), host.name.clone()),
            ..Self::default()
        }
    }

    /// Opens a subscription under a free name, and returns the consent.
    pub(super) fn open(
        &mut self,
        id: String,
        message: &Value,
    ) -> Result<Value, SubscriptionRefusal> {
        let text = |key: &str| message.get(key).and_then(Value::as_str);
        if text("type") != Some("subscription.request")
            || text("subscriber_id").is_none_or(str::is_empty)
        {
            return Err(SubscriptionRefusal::malformed());
        }
        match text("aaep_version") {
            Some(version) if version == AAEP_VERSION => {}
            Some(_) => {
                let words = "This producer speaks 1.0.0.";
                return Err(SubscriptionRefusal::new(400, "version_unsupported", words));
            }
            None => return Err(SubscriptionRefusal::malformed()),
        }
        let declared = message
            .get("capabilities")
            .and_then(Value::as_object)
            .ok_or_else(SubscriptionRefusal::malformed)?;
        let mut terms = AgreedTerms::default();
        terms.amend(declared, self.signed.is_some())?;
        let consent = self.consent(&id, &terms);
        if self.order.len() >= MAX_SUBSCRIPTIONS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.order.push_back(id.clone());
        self.known.insert(id, Arc::new(Mutex::new(terms)));
        Ok(consent)
    }

    /// Changes the terms of a subscription, and returns the consent.
    pub(super) fn renegotiate(&mut self, message: &Value) -> Result<Value, SubscriptionRefusal> {
        let (id, terms) = self.named(message)?;
        let declared = message
            .get("capabilities")
            .and_then(Value::as_object)
            .ok_or_else(SubscriptionRefusal::malformed)?;
        let mut terms = lock(&terms);
        match terms.amend(declared, self.signed.is_some()) {
            Ok(()) => Ok(self.consent(&id, &terms)),
            Err(refusal) => {
                drop(terms);
                // A refused change ends the subscription (5.7).
                self.forget(&id);
                Err(refusal)
            }
        }
    }

    /// Ends a subscription.
    pub(super) fn close(&mut self, message: &Value) -> Result<(), SubscriptionRefusal> {
        let (id, _) = self.named(message)?;
        self.forget(&id);
        Ok(())
    }

    /// Returns the terms of a subscription.
    pub(super) fn terms(&self, id: &str) -> Option<SharedTerms> {
        self.known.get(id).cloned()
    }

    /// Returns whether any of the subscriptions can answer such a question.
    pub(super) fn any_answers(&self, kind: EventKind) -> bool {
        self.known.values().any(|terms| lock(terms).answers(kind))
    }

    /// Returns the number of subscriptions.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    fn named(&self, message: &Value) -> Result<(String, SharedTerms), SubscriptionRefusal> {
        let id = message.get("subscription_id").and_then(Value::as_str);
        let id = id.ok_or_else(SubscriptionRefusal::malformed)?;
        let terms = self.terms(id).ok_or_else(SubscriptionRefusal::strange)?;
        Ok((id.to_owned(), terms))
    }

    fn consent(&self, id: &str, terms: &AgreedTerms) -> Value {
        let (agent_id, agent_name) = &self.host;
        let mut consent = json!({
            "type": "subscription.accepted",
            "subscription_id": id,
            "aaep_version": AAEP_VERSION,
            "producer": {"agent_id": agent_id, "agent_name": agent_name},
            "honored_capabilities": terms.honored,
        });
        let optional = [
            ("signed_manifest", self.signed.clone()),
            ("negotiation_notes", terms.notes()),
        ];
        for (key, value) in optional {
            if let (Some(value), Some(consent)) = (value, consent.as_object_mut()) {
                consent.insert(key.to_owned(), value.into());
            }
        }
        consent
    }

    fn forget(&mut self, id: &str) {
        if let Some(terms) = self.known.remove(id) {
            lock(&terms).closed = true;
        }
        self.order.retain(|known| known != id);
    }
}

/// Returns the producer's manifest (5.10.1).
pub(super) fn manifest(host: &Host, places: &[ListenAddress]) -> Value {
    let mut transports = Vec::new();
    for place in places {
        transports.extend_from_slice(match place {
            ListenAddress::Address(_) => &["sse", "websocket"][..],
            ListenAddress::Socket(_) => &["unix-socket"],
            ListenAddress::Pipe(_) => &["named-pipe"],
            ListenAddress::Pipes => &["stdio-jsonrpc"],
        });
    }
    json!({
        "@context": "https://aaep-protocol.org/context/v1",
        "type": "aaep:producer.manifest",
        "agent_id": host.id,
        "agent_version": env!("CARGO_PKG_VERSION"),
        "agent_name": host.name,
        "aaep_versions_supported": [AAEP_VERSION],
        "conformance_levels_supported": [1, 2, 3],
        "transports_supported": transports,
        "languages_supported": LANGUAGES,
        "event_types_emitted": ["aaep:agent.*"],
        "extensions_supported": [],
        "default_verbosity": "normal",
        "max_concurrent_subscriptions": super::hub::MAX_SUBSCRIBERS,
    })
}
