//! What the agent says of itself when it is met.
//!
//! Responsibilities: its name, the version it speaks, the ways in which one signs in, its modes. Not here: when it is met
//! (`client`).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::dialect::written::{self, cut};
use crate::protocol::object;

use super::earlier::Keeps;
use super::read::text;

/// The version of the protocol that is spoken.
pub const VERSION: u64 = 1;
/// How many ways to sign in, or modes, are known; no agent has nearly as many.
const MOST: usize = 32;
/// The longest name, in characters.
const LONGEST: usize = 200;

/// Holds what it says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Greeting {
    /// The version that it wants to speak.
    pub version: u64,
    /// Whose events they are.
    pub agent: written::Agent,
    /// The names of the ways to sign in.
    pub ways_in: Vec<String>,
    /// What it keeps of the conversations of before.
    pub keeps: Keeps,
}

/// Tells whether a result is the answer to the greeting.
pub fn is_greeting(result: &str) -> bool {
    object(result).is_some_and(|map| {
        map.get("protocolVersion").is_some_and(Value::is_u64)
            && map.contains_key("agentCapabilities")
    })
}

/// Writes what we say of ourselves. No capability is offered: files and commands are the agent's own business, and each
/// of its requests for one would be a deed in the person's name.
pub fn greeting() -> String {
    json!({
        "protocolVersion": VERSION,
        "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false},
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
        let ways = map.get("authMethods").and_then(Value::as_array);
        let ways = ways.into_iter().flatten().filter_map(Value::as_object);
        let ways = ways.filter_map(|way| text(way, "name").or_else(|| text(way, "id")));
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
            ways_in: ways.take(MOST).map(|way| cut(way, LONGEST)).collect(),
        }
    }
}

/// Gives a name, or a word where there is none.
fn named(name: &str) -> String {
    let name = name.trim();
    if name.is_empty() {
        "agent".to_owned()
    } else {
        cut(name, LONGEST)
    }
}

/// Reads the modes of a session: the name of each, and the one that it is in. An agent may have them among its options.
pub fn modes(map: &Map<String, Value>) -> (BTreeMap<String, String>, Option<String>) {
    let modes = map.get("modes").and_then(Value::as_object);
    let options = map.get("configOptions").and_then(Value::as_array);
    let options = options.into_iter().flatten().filter_map(Value::as_object);
    let mut options = options.filter(|option| text(option, "category") == Some("mode"));
    let (all, now) = match (modes, options.next()) {
        (Some(modes), _) => (
            named_by(modes, "availableModes", "id"),
            text(modes, "currentModeId"),
        ),
        (None, Some(option)) => (
            named_by(option, "options", "value"),
            text(option, "currentValue"),
        ),
        (None, None) => (BTreeMap::new(), None),
    };
    (all, now.map(|now| cut(now, LONGEST)))
}

fn named_by(map: &Map<String, Value>, list: &str, id: &str) -> BTreeMap<String, String> {
    let all = map
        .get(list)
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let all = all.filter_map(Value::as_object).filter_map(|mode| {
        let id = text(mode, id)?;
        let name = text(mode, "name").unwrap_or(id);
        Some((cut(id, LONGEST), cut(name, LONGEST)))
    });
    all.take(MOST).collect()
}
