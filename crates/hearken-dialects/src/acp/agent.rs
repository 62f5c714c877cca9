//! What the agent says about itself in its greeting.
//!
//! Responsibilities: its name, the protocol version that it speaks, its ways to sign in, which conversations it keeps.
//! Not here: the exchange of greetings (`client`).

use serde_json::{Map, Value, json};

use crate::event_writer::{self, cut};
use crate::protocol::object;

use super::earlier_conversation::ConversationAbilities;
use super::sign_in::SignInMethod;
use crate::kit::members::text;

/// The protocol version that we speak.
pub const VERSION: u64 = 1;
/// The longest name, in characters.
const LONGEST: usize = 200;

/// What an agent says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Greeting {
    /// The version that it wants to speak.
    pub version: u64,
    /// The agent that events are written for.
    pub agent: event_writer::EventAgent,
    /// Its ways to sign in.
    pub ways_in: Vec<SignInMethod>,
    /// What it keeps of earlier conversations.
    pub keeps: ConversationAbilities,
}

/// Returns whether a result is the answer to our greeting.
pub fn is_greeting(result: &str) -> bool {
    object(result).is_some_and(|map| {
        // Version 2 has shorter names.
        let says = |name: &str| map.contains_key(name);
        map.get("protocolVersion").is_some_and(Value::is_u64)
            && (says("agentCapabilities") || says("capabilities"))
    })
}

/// Writes our own greeting. It offers no files and no commands: those are the agent's own business, and each request
/// for one would be an act in the person's name. Nor does it offer a terminal for signing in, which would have to be
/// handed over.
pub fn greeting() -> String {
    json!({
        "protocolVersion": VERSION,
        "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false,
            "session": {"configOptions": {"boolean": {}}}, "elicitation": {"form": {}, "url": {}}},
        "clientInfo": {"name": "hearken", "title": "hearken", "version": env!("CARGO_PKG_VERSION")},
    })
    .to_string()
}

impl Greeting {
    /// Parses the answer to our greeting.
    pub fn read(map: &Map<String, Value>) -> Self {
        let info = map.get("agentInfo").or_else(|| map.get("info"));
        let info = info.and_then(Value::as_object);
        let of_info = |name: &str| info.and_then(|info| text(info, name)).unwrap_or_default();
        let id = of_info("name");
        let name = Some(of_info("title")).filter(|title| !title.trim().is_empty());
        let name = name.unwrap_or(id);
        Self {
            version: map
                .get("protocolVersion")
                .and_then(Value::as_u64)
                .unwrap_or_default(),
            agent: event_writer::EventAgent {
                id: named(id),
                name: named(name),
                model: None,
            },
            keeps: ConversationAbilities::read(
                map.get("agentCapabilities").and_then(Value::as_object),
            ),
            ways_in: SignInMethod::read(map),
        }
    }
}

/// Returns the name, or "agent" if it is empty.
fn named(name: &str) -> String {
    let name = name.trim();
    if name.is_empty() {
        "agent".to_owned()
    } else {
        cut(name, LONGEST)
    }
}
