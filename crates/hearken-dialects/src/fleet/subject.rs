//! The subjects under which a bridge and its watchers meet on a NATS server.
//!
//! Responsibilities: a name as one token of a subject, the subject of an event, the subjects of requests. Not here:
//! what the messages say (`bridge_report`, `watcher_request`), the connection (the shell).
//!
//! # Mental model
//! A subject says where an event comes from, and the server guards it: a machine may publish only under its own name.
//! So the machine is read from the subject and never from the event. A token can hold any name, because whatever has a
//! meaning in subjects is escaped, and two names never give the same token.

use std::fmt;

use ring::digest::{SHA256, digest};
use serde_json::{Map, Value};

use crate::protocol::AgentId;

/// The longest token before its digest, in characters.
const LONGEST_TOKEN: usize = 64;
/// How many bytes of the hash distinguish two long names.
const DIGEST_BYTES: usize = 8;
/// Marks the digest of a name that was cut; no escaped name contains it.
const CUT: &str = "==";

/// The first tokens of the subjects of events, of presence, and of the three kinds of requests.
const EVENTS: &str = "aaep.v1";
const ALIVE: &str = "aaep-alive.v1";
const NOW: &str = "aaep-now.v1";
const REPLY: &str = "aaep-reply.v1";
const DO: &str = "aaep-do.v1";

/// The state of an agent that has asked.
const AWAITING: &str = "awaiting_input";

/// The space of machines that name none.
pub const DEFAULT_SPACE: &str = "main";

/// What an event is about, so that a watcher of many agents can leave out what it doesn't need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubjectLane {
    /// Questions and what ends them, handoffs, dangers and whatever is critical.
    Ask,
    /// Beginnings and ends.
    Life,
    /// States, progress and calls.
    Act,
    /// Text.
    Text,
}

impl SubjectLane {
    /// All lanes.
    pub const ALL: [Self; 4] = [Self::Ask, Self::Life, Self::Act, Self::Text];

    /// Returns the last token of the subject.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Life => "life",
            Self::Act => "act",
            Self::Text => "text",
        }
    }

    /// Returns the lane of an event.
    pub fn of(event: &Map<String, Value>) -> Self {
        let text = |field: &str| event.get(field).and_then(Value::as_str).unwrap_or_default();
        let kind = text("type");
        let kind = kind.strip_prefix("aaep:").unwrap_or(kind);
        let is_question = event.contains_key("reply_token") || kind.starts_with("agent.awaiting.");
        if is_question || text("urgency") == "critical" {
            return Self::Ask;
        }
        // Leaving it ends a question.
        let waits = |field: &str| text(field) == AWAITING;
        match kind {
            "agent.handoff.requested" | "hearken:closed" | "hearken:danger" => Self::Ask,
            "agent.state.changed" if waits("from_state") || waits("to_state") => Self::Ask,
            "agent.output.streaming" => Self::Text,
            _ if kind.starts_with("agent.session.") || kind.starts_with("hearken:") => Self::Life,
            _ => Self::Act,
        }
    }
}

/// A group of machines and people that share a stream.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Space(String);

impl Space {
    /// Creates the space of a name.
    pub fn named(name: &str) -> Self {
        Self(token(name))
    }

    /// Returns its token.
    pub fn token(&self) -> &str {
        &self.0
    }

    /// Returns the name of its stream.
    pub fn stream(&self) -> String {
        format!("AAEP_{}", self.0)
    }

    /// Returns the subjects of all its events.
    pub fn events(&self) -> String {
        format!("{EVENTS}.{}.>", self.0)
    }

    /// Returns the subjects of all its events in a lane.
    pub fn lane(&self, lane: SubjectLane) -> String {
        format!("{EVENTS}.{}.*.*.*.{}", self.0, lane.name())
    }

    /// Returns the subjects of the signs of life of every machine.
    pub fn alive(&self) -> String {
        format!("{ALIVE}.{}.*", self.0)
    }
}

/// A machine of a space, under the name that the server lets it publish.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Machine {
    space: Space,
    host: String,
}

impl Machine {
    /// Creates the machine of a name.
    pub fn named(space: &Space, name: &str) -> Self {
        Self {
            space: space.clone(),
            host: token(name),
        }
    }

    /// Reads a machine's token; `None` if the text is not a token.
    pub fn of_token(space: &Space, host: &str) -> Option<Self> {
        is_token(host).then(|| Self {
            space: space.clone(),
            host: host.to_owned(),
        })
    }

    /// Returns its name.
    pub fn name(&self) -> String {
        name_of(&self.host)
    }

    /// Returns its token.
    pub fn token(&self) -> &str {
        &self.host
    }

    /// Returns the subject of its signs of life.
    pub fn alive(&self) -> String {
        self.under(ALIVE)
    }

    /// Returns the subject that is asked for its state.
    pub fn now(&self) -> String {
        self.under(NOW)
    }

    /// Returns the subjects of the replies to its agents.
    pub fn replies(&self) -> String {
        format!("{}.*.*", self.under(REPLY))
    }

    /// Returns the subjects of prompts and stops for its agents.
    pub fn request_subjects(&self) -> String {
        format!("{}.*.*", self.under(DO))
    }

    /// Returns the subject of prompts and stops for an agent there, whatever its session.
    pub fn wish_of(&self, agent: &str) -> String {
        format!("{}.{}.{}", self.under(DO), token(agent), token(""))
    }

    fn under(&self, first: &str) -> String {
        format!("{first}.{}.{}", self.space.0, self.host)
    }

    /// Returns the machine that a sign of life comes from.
    pub fn of_alive(subject: &str) -> Option<Self> {
        let rest = subject.strip_prefix(ALIVE)?.strip_prefix('.')?;
        let (space, host) = rest.split_once('.')?;
        is_token(space).then_some(())?;
        is_token(host).then(|| Self {
            space: Space(space.to_owned()),
            host: host.to_owned(),
        })
    }
}

/// The subject of an event: its session and its lane.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventSubject {
    /// The machine.
    pub machine: Machine,
    /// The lane.
    pub lane: SubjectLane,
    agent: String,
    session: String,
}

impl EventSubject {
    /// Returns the subject of an event that a machine publishes.
    pub fn of(machine: &Machine, event: &Map<String, Value>) -> Self {
        let producer = event.get("producer").and_then(|it| it.get("agent_id"));
        let agent = producer.and_then(Value::as_str).unwrap_or_default();
        let session = event.get("session_id").and_then(Value::as_str);
        Self {
            machine: machine.clone(),
            lane: SubjectLane::of(event),
            agent: token(agent),
            session: token(session.unwrap_or_default()),
        }
    }

    /// Returns the subject of an agent whose session does not matter.
    pub fn of_agent(machine: &Machine, agent: &AgentId) -> Self {
        Self {
            machine: machine.clone(),
            lane: SubjectLane::Life,
            agent: token(agent.as_str()),
            session: token(""),
        }
    }

    /// Reads a subject; `None` if it is not an event's.
    pub fn read(subject: &str) -> Option<Self> {
        let rest = subject.strip_prefix(EVENTS)?.strip_prefix('.')?;
        let mut tokens = rest.split('.');
        let mut next = || tokens.next().filter(|token| is_token(token));
        let (space, host, agent, session, lane) = (next()?, next()?, next()?, next()?, next()?);
        let lane = SubjectLane::ALL
            .into_iter()
            .find(|one| one.name() == lane)?;
        tokens.next().is_none().then(|| Self {
            machine: Machine {
                space: Space(space.to_owned()),
                host: host.to_owned(),
            },
            lane,
            agent: agent.to_owned(),
            session: session.to_owned(),
        })
    }

    /// Returns the subject to which replies to its agent's questions are sent.
    pub fn reply(&self) -> String {
        format!(
            "{}.{}.{}",
            self.machine.under(REPLY),
            self.agent,
            self.session
        )
    }

    /// Returns the subject to which prompts and stops for its agent are sent.
    pub fn request_subject(&self) -> String {
        format!("{}.{}.{}", self.machine.under(DO), self.agent, self.session)
    }

    /// Returns the subjects of everything in a lane that its agent publishes, whatever its session.
    pub fn all_of_agent(&self, lane: SubjectLane) -> String {
        let events = self.machine.under(EVENTS);
        format!("{events}.{}.*.{}", self.agent, lane.name())
    }

    /// Returns whether another subject is of the same agent.
    pub fn is_of_agent(&self, other: &Self) -> bool {
        (&self.machine, &self.agent) == (&other.machine, &other.agent)
    }

    /// Returns whether another subject is of the same session.
    pub fn is_of_session(&self, other: &Self) -> bool {
        (&self.machine, &self.agent, &self.session)
            == (&other.machine, &other.agent, &other.session)
    }
}

impl fmt::Display for EventSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (agent, session) = (&self.agent, &self.session);
        let lane = self.lane.name();
        write!(f, "{}.{agent}.{session}.{lane}", self.machine.under(EVENTS))
    }
}

/// Returns the name of the agent in the subject of a reply or a request; `None` if it was cut.
pub fn agent_of_request(subject: &str) -> Option<String> {
    let agent = subject.rsplit('.').nth(1)?;
    (!agent.contains(CUT)).then(|| name_of(agent))
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Returns whether a text can be one token.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| is_plain(byte) || byte == b'=')
}

/// Returns a name as one token of a subject.
pub fn token(name: &str) -> String {
    let mut token = String::new();
    for byte in name.bytes() {
        let escaped = match is_plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("={byte:02X}"),
        };
        if token.len() + escaped.len() > LONGEST_TOKEN {
            let hash = digest(&SHA256, name.as_bytes());
            token.push_str(CUT);
            for byte in hash.as_ref().iter().take(DIGEST_BYTES) {
                token.push_str(&format!("{byte:02x}"));
            }
            return token;
        }
        token.push_str(&escaped);
    }
    if token.is_empty() {
        // No subject has an empty token.
        token.push('=');
    }
    token
}

/// Returns the name in a token; what was cut off a long one is shown by dots.
fn name_of(token: &str) -> String {
    let (start, is_cut) = match token.split_once(CUT) {
        Some((start, _)) => (start, true),
        None => (token, false),
    };
    let mut bytes = Vec::new();
    let mut rest = start.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = after.get(..2).filter(|_| *first == b'=');
        let escaped = escaped.and_then(|pair| std::str::from_utf8(pair).ok());
        match escaped.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    let name = String::from_utf8_lossy(&bytes);
    let mut name: String = name.chars().filter(|sign| !sign.is_control()).collect();
    if is_cut {
        name.push('…');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::object;
    use proptest::prelude::*;

    fn event(text: &str) -> Map<String, Value> {
        object(text).unwrap()
    }

    #[test]
    fn a_name_is_one_token_and_is_read_back() {
        for (name, wanted) in [
            ("build-3", "build-3"),
            ("a.b", "a=2Eb"),
            ("*", "=2A"),
            (">", "=3E"),
            ("a=b", "a=3Db"),
            ("é", "=C3=A9"),
            ("", "="),
        ] {
            assert_eq!(token(name), wanted);
            let back = if name.is_empty() { "=" } else { name };
            assert_eq!(name_of(&token(name)), back);
        }
    }

    #[test]
    fn long_names_are_told_apart_by_a_digest() {
        let long = "x".repeat(64);
        assert_eq!(token(&long), long);
        let one = token(&format!("{long}1"));
        let other = token(&format!("{long}2"));
        assert_ne!(one, other);
        assert_eq!(one.len(), LONGEST_TOKEN + CUT.len() + 2 * DIGEST_BYTES);
        assert_eq!(name_of(&one), format!("{long}…"));
        // An escape is not cut in two.
        let cut = token(&format!("{}é", "x".repeat(63)));
        assert!(cut.starts_with(&format!("{}==", "x".repeat(63))));
    }

    #[test]
    fn each_event_has_its_lane() {
        for (text, lane) in [
            (
                r#"{"type":"aaep:agent.awaiting.confirmation"}"#,
                SubjectLane::Ask,
            ),
            (
                r#"{"type":"aaep:agent.handoff.requested"}"#,
                SubjectLane::Ask,
            ),
            (
                r#"{"type":"aaep:agent.state.changed","urgency":"critical"}"#,
                SubjectLane::Ask,
            ),
            (
                r#"{"type":"x:own","reply_token":"rpl_1"}"#,
                SubjectLane::Ask,
            ),
            (r#"{"type":"hearken:closed"}"#, SubjectLane::Ask),
            (r#"{"type":"hearken:danger"}"#, SubjectLane::Ask),
            (
                r#"{"type":"aaep:agent.state.changed","from_state":"awaiting_input"}"#,
                SubjectLane::Ask,
            ),
            (
                r#"{"type":"aaep:agent.state.changed","to_state":"awaiting_input"}"#,
                SubjectLane::Ask,
            ),
            (
                r#"{"type":"aaep:agent.state.changed","to_state":"thinking"}"#,
                SubjectLane::Act,
            ),
            (r#"{"type":"hearken:standing"}"#, SubjectLane::Life),
            (
                r#"{"type":"aaep:agent.session.started"}"#,
                SubjectLane::Life,
            ),
            (r#"{"type":"agent.tool.invoked"}"#, SubjectLane::Act),
            (
                r#"{"type":"aaep:agent.progress.updated"}"#,
                SubjectLane::Act,
            ),
            (
                r#"{"type":"aaep:agent.output.streaming"}"#,
                SubjectLane::Text,
            ),
            ("{}", SubjectLane::Act),
        ] {
            assert_eq!(SubjectLane::of(&event(text)), lane, "{text}");
        }
    }

    #[test]
    fn the_subject_of_an_event_leads_to_its_requests() {
        let machine = Machine::named(&Space::named("team a"), "build.3");
        let event = event(
            r#"{"type":"aaep:agent.output.streaming","session_id":"sess_1","producer":{"agent_id":"open>code"}}"#,
        );
        let subject = EventSubject::of(&machine, &event);
        let text = "aaep.v1.team=20a.build=2E3.open=3Ecode.sess_1.text";
        assert_eq!(subject.to_string(), text);
        assert_eq!(EventSubject::read(text), Some(subject.clone()));
        assert_eq!(
            subject.reply(),
            "aaep-reply.v1.team=20a.build=2E3.open=3Ecode.sess_1"
        );
        assert_eq!(
            agent_of_request(&subject.reply()),
            Some("open>code".to_owned())
        );
        assert_eq!(subject.machine.name(), "build.3");
        assert_eq!(Machine::of_alive(&machine.alive()), Some(machine));
    }

    #[test]
    fn what_is_no_subject_of_an_event_is_none() {
        for text in [
            "",
            "aaep.v1",
            "aaep.v1.a.b.c.d",
            "aaep.v1.a.b.c.d.e",
            "aaep.v1.a.b.c.d.ask.x",
            "aaep.v1.a..c.d.ask",
            "aaep.v1.a.b*.c.d.ask",
            "aaep-reply.v1.a.b.c.d.ask",
        ] {
            assert_eq!(EventSubject::read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_name_is_one_token_and_no_two_names_share_one(one in ".{0,80}", other in ".{0,80}") {
            let token_of_one = token(&one);
            prop_assert!(is_token(&token_of_one));
            prop_assert!(token_of_one.len() <= LONGEST_TOKEN + CUT.len() + 2 * DIGEST_BYTES);
            prop_assert_eq!(token_of_one == token(&other), one == other);
        }
    }
}
