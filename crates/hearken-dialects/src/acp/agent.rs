//! What the agent says of itself when it is met.
//!
//! Responsibilities: its name, the version it speaks, the ways in which one signs in, what it keeps. Not here: when it is met
//! (`client`).

use serde_json::{Map, Value, json};

use crate::protocol::object;
use crate::written::{self, cut};

use super::earlier::Keeps;
use super::read::text;
use super::signing::WayIn;

/// The version of the protocol that is spoken.
pub const VERSION: u64 = 1;
/// The longest name, in characters.
const LONGEST: usize = 200;

/// What it says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Greeting {
    /// The version that it wants to speak.
    pub version: u64,
    /// Whose events they are.
    pub agent: written::Agent,
    /// The ways to sign in.
    pub ways_in: Vec<WayIn>,
    /// What it keeps of the conversations of before.
    pub keeps: Keeps,
}

/// Returns whether a result is the answer to the greeting.
pub fn is_greeting(result: &str) -> bool {
    object(result).is_some_and(|map| {
        map.get("protocolVersion").is_some_and(Value::is_u64)
            && map.contains_key("agentCapabilities")
    })
}

/// Writes what we say of ourselves. Files and commands are not offered: they are the agent's own business, and each of its
/// requests for one would be a deed in the person's name. Nor is a terminal to sign in from, which would have to be given over.
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
    /// Reads the answer to the greeting.
    pub fn read(map: &Map<String, Value>) -> Self {
        let info = map.get("agentInfo").and_then(Value::as_object);
        let of_info = |name: &str| info.and_then(|info| text(info, name)).unwrap_or_default();
        let id = of_info("name");
        let name = Some(of_info("title")).filter(|title| !title.trim().is_empty());
        let name = name.unwrap_or(id);
        Self {
            version: map
                .get("protocolVersion")
                .and_then(Value::as_u64)
                .unwrap_or_default(),
            agent: written::Agent {
                id: named(id),
                name: named(name),
                model: None,
            },
            keeps: Keeps::read(map.get("agentCapabilities").and_then(Value::as_object)),
            ways_in: WayIn::read(map),
        }
    }
}

/// Returns a name, or a word where there is none.
fn named(name: &str) -> String {
    let name = name.trim();
    if name.is_empty() {
        "agent".to_owned()
    } else {
        cut(name, LONGEST)
    }
}
