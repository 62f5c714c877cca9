//! Writes AAEP events for a translating dialect.
//!
//! Responsibilities: the envelope of such an event, its ids and numbers, and fields in the form and size that AAEP
//! wants. Not here: which events to write (each dialect), reading them (`protocol`).
//!
//! Mental model: a translator states only what the other side stated. Whatever that protocol has no field for (a
//! timeout, a default, a consequence, a sentence for people) is left out, never invented: the event names the dialect
//! that it was translated from, and the decoder then treats such a field as not stated.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::protocol::{AAEP_VERSION, CORE_CONTEXT, OWN_CONTEXT, TRANSLATED, UNDETERMINED};

/// The field of an event whose members go into its own extension (`protocol::Attached`).
pub const ATTACHED: &str = "hearken";

/// The most characters of a text in a field that AAEP bounds at 4096, with room for the mark of a cut.
const LONGEST: usize = 4000;

/// The most characters of any other text: the number that 3.7 recommends in bytes.
pub const LONGEST_TEXT: usize = 16 * 1024;

/// The most characters of a foreign name that go into an id: enough to recognise it.
const LONGEST_NAME: usize = 40;

/// The most characters of a tool's name (4.3.1).
const LONGEST_TOOL: usize = 256;

/// The longest duration that AAEP allows, in milliseconds: a day.
const LONGEST_MS: u64 = 86_400_000;

/// The status, in a translated event, of a call known only to have ended.
pub const NOT_STATED: &str = crate::protocol::NOT_STATED;

/// The agent that events are written for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agent {
    /// Its permanent name.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The model behind it, if known.
    pub model: Option<String>,
}

/// What the events of one session share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    id: String,
    thread: String,
    /// The id of its agent when it began: a session does not change hands when an agent introduces itself again.
    agent: String,
    /// The model behind it when it began: another conversation may have another one.
    model: Option<String>,
    next: u64,
    last: Option<Timestamp>,
}

impl Session {
    /// Returns AAEP's id of the session.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// A writer of AAEP events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    dialect: &'static str,
    agent: Agent,
    state: u64,
}

impl Writer {
    /// Creates a writer whose ids grow from the seed.
    pub fn new(dialect: &'static str, agent: Agent, seed: u64) -> Self {
        Self {
            dialect,
            agent,
            state: seed,
        }
    }

    /// Sets the name that the agent gives itself; the ids continue.
    pub fn call(&mut self, agent: Agent) {
        self.agent = agent;
    }

    /// Sets the model of all sessions that begin from now on.
    pub fn model(&mut self, model: Option<&str>) {
        let model = model.map(|model| cut(model, 256));
        self.agent.model = model.filter(|model| !model.is_empty());
    }

    /// Returns the agent's name for people.
    pub fn name(&self) -> &str {
        &self.agent.name
    }

    /// Begins a session, given the other side's names for it and its conversation.
    pub fn session(&mut self, name: &str, thread: &str) -> Session {
        Session {
            // The same name may be reused after its session is over.
            id: format!("{}{:08x}", id("sess_", name), self.draw() as u32),
            thread: cut(thread, 256),
            agent: self.agent.id.clone(),
            model: self.agent.model.clone(),
            next: 0,
            last: None,
        }
    }

    /// Creates a reply token for a question.
    pub fn token(&mut self) -> String {
        format!("rpl_{:016x}{:016x}", self.draw(), self.draw())
    }

    /// Writes one event; null or empty fields are left out.
    pub fn event(
        &mut self,
        session: &mut Session,
        kind: &str,
        at: Timestamp,
        fields: Value,
    ) -> String {
        // AAEP wants times that never go back, which the other side may not guarantee.
        let at = session.last.map_or(at, |last| last.max(at));
        session.last = Some(at);
        let number = session.next;
        session.next += 1;
        let mut map = Map::new();
        let mut producer = json!({"agent_id": session.agent, "agent_name": self.agent.name});
        if let Some(model) = &session.model {
            producer["model"] = json!(model);
        }
        let mut own = json!({TRANSLATED: self.dialect});
        if !session.thread.is_empty() {
            own["thread"] = json!(session.thread);
        }
        let mut put = |name: &str, value: Value| {
            map.insert(name.to_owned(), value);
        };
        put("@context", json!([CORE_CONTEXT, OWN_CONTEXT]));
        // An event that AAEP does not have carries a type of its own.
        let kind = match kind.contains(':') {
            true => kind.to_owned(),
            false => format!("aaep:agent.{kind}"),
        };
        put("type", json!(kind));
        put("event_id", json!(format!("evt_{:016x}", self.draw())));
        put("session_id", json!(session.id));
        put("timestamp", json!(format!("{at:.3}")));
        put("producer", producer);
        put("aaep_version", json!(AAEP_VERSION));
        put("sequence_number", json!(number));
        put(
            "localization_hints",
            json!({"primary_language": UNDETERMINED}),
        );
        let mut fields = fields;
        // What is read only on demand goes beside the name of the dialect.
        if let Some(Value::Object(attached)) =
            fields.as_object_mut().and_then(|it| it.remove(ATTACHED))
            && let Some(own) = own.as_object_mut()
        {
            own.extend(attached);
        }
        put("extensions", json!({"hearken": own}));
        let own = kind.strip_prefix("aaep:agent.").unwrap_or_default();
        let critical =
            own.starts_with("awaiting.") || own == "handoff.requested" || own == "session.errored";
        if critical {
            put("urgency", json!("critical"));
        }
        if let Value::Object(fields) = fields {
            for (name, value) in fields {
                let empty = match &value {
                    Value::Null => true,
                    Value::String(text) => text.trim().is_empty(),
                    Value::Array(list) => list.is_empty(),
                    Value::Object(inner) => inner.is_empty(),
                    Value::Bool(_) | Value::Number(_) => false,
                };
                // A chunk of text may consist of spaces only.
                if !empty || name == "chunk" {
                    put(&name, value);
                }
            }
        }
        Value::Object(map).to_string()
    }

    /// Returns the next number of a SplitMix64 sequence: good enough for ids, which are no secret.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Builds an id in AAEP's form from a foreign name: the characters that an id allows, and a hash that keeps names apart
/// that differ in the others.
pub fn id(prefix: &str, name: &str) -> String {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(LONGEST_NAME)
        .collect();
    // FNV-1a: it only keeps the names of one program apart, and guards no secret.
    let sum = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{prefix}{plain}{:08x}", (sum ^ (sum >> 32)) as u32)
}

/// Turns a tool's name into AAEP's form.
pub fn tool(name: &str) -> String {
    let mut plain: String = name
        .trim()
        .chars()
        .take(LONGEST_TOOL - 1)
        .map(|c| {
            if c.is_ascii_alphanumeric() || "_.-".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    if !plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        plain.insert(0, '_');
    }
    plain
}

/// Cuts a text after a number of characters, with an ellipsis that shows the cut.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Cuts a text to the size of a field that AAEP bounds.
pub fn short(text: &str) -> String {
    cut(text, LONGEST)
}

/// Cuts a text to the recommended size, for any other field.
pub fn long(text: &str) -> String {
    cut(text, LONGEST_TEXT)
}

/// Returns a duration if AAEP allows it; otherwise `None`.
pub fn duration(ms: Option<u64>) -> Option<u64> {
    ms.filter(|ms| *ms <= LONGEST_MS)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::protocol::{Recent, Severity, decode};

    fn writer() -> Writer {
        let agent = Agent {
            id: "fox".to_owned(),
            name: "Fox".to_owned(),
            model: None,
        };
        Writer::new("test", agent, 7)
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_written_is_valid_without_what_the_other_side_never_said() {
        let mut writer = writer();
        let mut session = writer.session("turn/1 \u{202e}", "thread");
        let token = writer.token();
        for (kind, fields) in [
            ("session.started", json!({"request_text": ""})),
            (
                "state.changed",
                json!({"from_state": "idle", "to_state": "thinking"}),
            ),
            (
                "tool.invoked",
                json!({"tool": tool("3 odd names!"), "tool_call_id": id("call_", "a_1")}),
            ),
            (
                "tool.completed",
                json!({"tool": tool("3 odd names!"), "tool_call_id": id("call_", "a_1"), "status": NOT_STATED}),
            ),
            (
                "awaiting.confirmation",
                json!({"action": "rm x", "reply_token": token}),
            ),
            ("session.completed", json!({"summary_normal": null})),
        ] {
            let text = writer.event(&mut session, kind, at("2026-01-01T00:00:00Z"), fields);
            let decoded = decode(&text).unwrap();
            let bad: Vec<String> = decoded
                .findings
                .iter()
                .filter(|finding| finding.severity != Severity::Note)
                .map(ToString::to_string)
                .collect();
            assert!(bad.is_empty(), "{kind}: {bad:?}\n{text}");
        }
    }

    #[test]
    fn what_is_frequent_is_read_at_once() {
        let mut writer = writer();
        let mut session = writer.session("turn/1", "thread");
        let mut recent = Recent::default();
        for (kind, fields) in [
            (
                "output.streaming",
                json!({"chunk": "So far. ", "position": 0, "complete": false, "output_id": id("out_", "1")}),
            ),
            (
                "state.changed",
                json!({"from_state": "idle", "to_state": "thinking"}),
            ),
            (
                "tool.invoked",
                json!({"tool": tool("read"), "summary_normal": "Read it", "tool_call_id": id("call_", "1")}),
            ),
            (
                "tool.completed",
                json!({"tool": tool("read"), "tool_call_id": id("call_", "1"), "status": "success"}),
            ),
        ] {
            let text = writer.event(&mut session, kind, at("2026-01-01T00:00:00Z"), fields);
            assert!(recent.decode_at_once(&text).is_some(), "{text}");
        }
    }

    #[test]
    fn times_never_go_back_and_numbers_go_on() {
        let mut writer = writer();
        let mut session = writer.session("a", "");
        let mut read = |stamp: &str| {
            let text = writer.event(&mut session, "session.completed", at(stamp), json!({}));
            let envelope = decode(&text).unwrap().envelope;
            (envelope.sequence_number, envelope.timestamp.unwrap())
        };
        let first = read("2026-01-01T00:00:05Z");
        let second = read("2026-01-01T00:00:01Z");
        assert_eq!((first.0, second.0), (Some(0), Some(1)));
        assert_eq!(first.1, second.1);
    }

    #[test]
    fn names_that_differ_make_ids_that_differ() {
        assert_ne!(id("call_", "a_1"), id("call_", "a1"));
        assert_eq!(id("call_", "a_1"), id("call_", "a_1"));
        assert!(id("call_", &"ä".repeat(100)).len() <= 16);
        assert_ne!(writer().session("a", "").id, {
            let mut writer = writer();
            writer.session("a", "");
            writer.session("a", "").id
        });
    }
}
