//! Events on their way out: the name of the machine is added, and names that two sources share are made
//! distinct.
//!
//! Responsibilities: a session id or a reply token that is in use by another source gets a suffix, so that no watcher
//! mistakes one for the other. Not here: which question a token belongs to (`watcher_answers`).

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value, json};

use crate::dialect::fleet::{VIEW_ONLY, digest};
use crate::link::LinkId;
use crate::protocol::{EventId, HOST, OWN_CONTEXT, ReplyToken, object};

use super::watcher_answers::PublishedQuestion;
use super::{Bridge, BridgeEffect};

/// How many session ids are remembered with their sources: more than all sources together run in a week.
const MOST_SESSIONS: usize = 16_384;

/// The source of each session id.
#[derive(Debug, Default)]
pub(super) struct SessionOwners {
    owners: BTreeMap<(String, String), LinkId>,
    order: VecDeque<(String, String)>,
}

impl SessionOwners {
    /// Returns the id under which a session goes out: its own, unless another source has the same.
    fn session(&mut self, link: LinkId, agent: &str, session: &str) -> String {
        let name = (agent.to_owned(), session.to_owned());
        match self.owners.get(&name) {
            Some(owner) if *owner == link => session.to_owned(),
            Some(_) => apart(session, link),
            None => {
                self.owners.insert(name.clone(), link);
                self.order.push_back(name);
                if self.order.len() > MOST_SESSIONS
                    && let Some(oldest) = self.order.pop_front()
                {
                    self.owners.remove(&oldest);
                }
                session.to_owned()
            }
        }
    }
}

/// Returns a name unique to this source, in the form of an AAEP id.
pub(super) fn apart(name: &str, link: LinkId) -> String {
    format!("{name}x{}", link.0 + 1)
}

impl Bridge {
    /// Publishes an event of a source.
    pub(super) fn publish(&mut self, link: LinkId, text: &str, only_seen: bool) {
        // It was read before, so it is an object.
        let Some(mut event) = object(text) else {
            return;
        };
        let words = |event: &Map<String, Value>, field: &str| {
            let value = event.get(field).and_then(Value::as_str);
            value.map(str::to_owned)
        };
        let agent = event
            .get("producer")
            .and_then(|producer| producer.get("agent_id")?.as_str())
            .unwrap_or_default()
            .to_owned();
        if let Some(session) = words(&event, "session_id") {
            let outside = self.published.session(link, &agent, &session);
            event.insert("session_id".to_owned(), outside.into());
        }
        // In a chain of bridges, the one next to the agent knows its machine; an agent itself is not believed.
        let beside = self
            .links
            .get(link.0)
            .and_then(|link| link.connection().host);
        let host = beside.unwrap_or_else(|| self.host.clone());
        extend(&mut event, HOST, host.into());
        if only_seen {
            extend(&mut event, VIEW_ONLY, true.into());
        }
        if let Some(token) = words(&event, "reply_token") {
            let outside = self.answers.outside(link, &token);
            event.insert("reply_token".to_owned(), outside.as_str().into());
            let asked = PublishedQuestion {
                link,
                token: ReplyToken::new(token),
                event: EventId::from(words(&event, "event_id").unwrap_or_default()),
                digest: digest(&event),
                text: Value::Object(event.clone()).to_string(),
            };
            self.answers.remember_question(outside, asked);
        }
        let text = Value::Object(event).to_string();
        self.effects.push(BridgeEffect::Publish(text));
    }
}

/// Sets a field of the extension `hearken` of an event.
fn extend(event: &mut Map<String, Value>, field: &str, value: Value) {
    let extensions = event.entry("extensions").or_insert_with(|| json!({}));
    let own = extensions
        .as_object_mut()
        .map(|extensions| extensions.entry("hearken").or_insert_with(|| json!({})));
    let Some(own) = own.and_then(Value::as_object_mut) else {
        return;
    };
    own.insert(field.to_owned(), value);
    let declared = match event.remove("@context") {
        Some(Value::Array(mut all)) => {
            if !all.iter().any(|one| one == OWN_CONTEXT) {
                all.push(OWN_CONTEXT.into());
            }
            Value::Array(all)
        }
        Some(one @ Value::String(_)) => json!([one, OWN_CONTEXT]),
        Some(other) => other,
        None => return,
    };
    event.insert("@context".to_owned(), declared);
}
