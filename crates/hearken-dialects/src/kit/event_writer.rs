//! Writes AAEP events for a translating dialect.
//!
//! Responsibilities: the envelope of such an event, its ids and numbers, and fields in the form and size that AAEP
//! wants. Not here: which events to write (each dialect), reading them (`protocol`).
//!
//! Mental model: a translator states only what the other side stated. Whatever that protocol has no field for (a
//! timeout, a default, a consequence, a sentence for people) is left out, never invented: the event names the dialect
//! that it was translated from, and the decoder then treats such a field as not stated.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, json};

use crate::protocol::{
    AAEP_VERSION, AgentId, Attachments, Envelope, Event, EventId, Localization, OutputId,
    OutputStreaming, Producer, SessionId, Summary, TRANSLATED, UNDETERMINED, UnknownEvent, Urgency,
    encode,
};

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

/// The status, in a translated event, of a call whose end was not reported before its turn was over.
pub const NO_END: &str = crate::protocol::NO_END;

/// The agent that events are written for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventAgent {
    /// Its permanent name.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The model behind it, if known.
    pub model: Option<String>,
}

/// What the events of one session share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranslatedSession {
    id: String,
    thread: String,
    /// The id of its agent when it began: a session does not change hands when an agent introduces itself again.
    agent: String,
    /// The model behind it when it began: another conversation may have another one.
    model: Option<String>,
    next: u64,
    last: Option<Timestamp>,
}

impl TranslatedSession {
    /// Returns AAEP's id of the session.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// What an event states, without the envelope that every event of its session has.
#[derive(Debug, Clone, PartialEq)]
pub struct EventContent {
    event: Event,
    type_name: &'static str,
    /// What is read only on demand.
    attached: Attachments,
    /// The language of its texts; `None` if they are in words of the other side, whose language is unknown.
    language: Option<String>,
    urgency: Urgency,
}

impl From<Event> for EventContent {
    fn from(event: Event) -> Self {
        let is_critical = matches!(
            event,
            Event::AwaitingConfirmation(_)
                | Event::AwaitingClarification(_)
                | Event::HandoffRequested(_)
                | Event::SessionErrored(_)
        );
        Self {
            type_name: event.type_name().unwrap_or_default(),
            event,
            attached: Attachments::default(),
            language: None,
            urgency: match is_critical {
                true => Urgency::Critical,
                false => Urgency::Normal,
            },
        }
    }
}

impl EventContent {
    /// Creates an event of a type that AAEP does not have; only its words are heard.
    pub fn of_type(type_name: &'static str, summary: Summary) -> Self {
        let asks = false;
        Self {
            type_name,
            ..Self::from(Event::Unknown(UnknownEvent { summary, asks }))
        }
    }

    /// Adds what is read only on demand.
    pub fn with(mut self, attached: Attachments) -> Self {
        self.attached = attached;
        self
    }

    /// Sets the language of its texts.
    pub fn in_language(mut self, language: Option<String>) -> Self {
        self.language = language;
        self
    }

    /// Returns whether it has a sentence for people.
    pub fn has_summary(&self) -> bool {
        self.event.summary().is_some_and(|it| it.normal.is_some())
    }

    /// Makes the event critical: it is announced immediately (3.3.2).
    pub fn critical(mut self) -> Self {
        self.urgency = Urgency::Critical;
        self
    }
}

/// A writer of AAEP events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventWriter {
    dialect: &'static str,
    agent: EventAgent,
    state: u64,
}

impl EventWriter {
    /// Creates a writer whose ids grow from the seed.
    pub fn new(dialect: &'static str, agent: EventAgent, seed: u64) -> Self {
        Self {
            dialect,
            agent,
            state: seed,
        }
    }

    /// Sets the name that the agent gives itself; the ids continue.
    pub fn call(&mut self, agent: EventAgent) {
        self.agent = agent;
    }

    /// Sets the model of all sessions that begin from now on.
    pub fn model(&mut self, model: Option<&str>) {
        let model = model.map(|model| cut(model, 256));
        self.agent.model = model.filter(|model| !model.is_empty());
    }

    /// Returns the agent's permanent name.
    pub fn agent_id(&self) -> &str {
        &self.agent.id
    }

    /// Returns the agent's name for people.
    pub fn name(&self) -> &str {
        &self.agent.name
    }

    /// Begins a session, given the other side's names for it and its conversation.
    pub fn session(&mut self, name: &str, thread: &str) -> TranslatedSession {
        TranslatedSession {
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

    /// Returns the text of one event.
    pub fn event(
        &mut self,
        session: &mut TranslatedSession,
        at: Timestamp,
        content: impl Into<EventContent>,
    ) -> String {
        let content = content.into();
        // AAEP wants times that never go back, which the other side may not guarantee.
        let at = session.last.map_or(at, |last| last.max(at));
        session.last = Some(at);
        let number = session.next;
        session.next += 1;
        let mut own = json!({TRANSLATED: self.dialect});
        if !session.thread.is_empty() {
            own["thread"] = json!(session.thread);
        }
        let mut extensions = Map::new();
        extensions.insert("hearken".to_owned(), own);
        let envelope = Envelope {
            type_name: content.type_name.into(),
            event_id: Some(EventId::from(format!("evt_{:016x}", self.draw()))),
            session_id: SessionId::from(session.id.as_str()),
            timestamp: Some(milliseconds(at)),
            producer: Arc::new(Producer {
                agent_id: AgentId::from(session.agent.as_str()),
                agent_name: Some(self.agent.name.as_str().into()),
                agent_version: None,
                model: session.model.clone(),
                manifest_uri: None,
            }),
            urgency: content.urgency,
            verbosity: None,
            sequence_number: Some(number),
            localization: Arc::new(Localization {
                primary_language: Some(content.language.as_deref().unwrap_or(UNDETERMINED).into()),
                ..Localization::default()
            }),
            correlation_id: None,
            aaep_version: Some(AAEP_VERSION.into()),
            attached: Arc::new(content.attached),
            extensions: Some(Arc::new(extensions)),
        };
        encode(&envelope, &content.event)
    }

    /// Returns the next number of a SplitMix64 sequence: good enough for ids, which are not secret.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Builds an id in AAEP's form from a foreign name: the characters that an id allows, and a hash that distinguishes
/// names that differ in other characters.
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

/// Returns a text, unless it is blank: a field that states nothing is left out.
pub fn stated(text: impl Into<String>) -> Option<String> {
    let text = text.into();
    (!text.trim().is_empty()).then_some(text)
}

/// Returns a piece of an output that begins at a position, in characters; `complete` if nothing follows.
pub fn chunk(output: &str, position: u64, text: &str, complete: bool) -> OutputStreaming {
    OutputStreaming {
        chunk: text.to_owned(),
        position: Some(position),
        complete,
        output_id: Some(OutputId::from(output)),
        ..OutputStreaming::default()
    }
}

/// Returns a summary with only the standard form; empty without a text.
pub fn normal(text: Option<String>) -> Summary {
    Summary {
        normal: text.and_then(stated),
        ..Summary::default()
    }
}

/// Returns a time cut to milliseconds.
fn milliseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

/// Returns a duration if AAEP allows it; otherwise `None`.
pub fn duration(ms: Option<u64>) -> Option<u64> {
    ms.filter(|ms| *ms <= LONGEST_MS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{
        AwaitingConfirmation, RecentValues, ReplyToken, SessionCompleted, SessionStarted, Severity,
        StateChanged, ToolCallId, ToolCompleted, ToolInvoked, ToolStatus, decode,
    };

    fn writer() -> EventWriter {
        let agent = EventAgent {
            id: "fox".to_owned(),
            name: "Fox".to_owned(),
            model: None,
        };
        EventWriter::new("test", agent, 7)
    }

    fn state() -> StateChanged {
        StateChanged {
            from_state: "idle".into(),
            to_state: "thinking".into(),
            ..StateChanged::default()
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_written_is_valid_without_what_the_other_side_never_said() {
        let mut writer = writer();
        let mut session = writer.session("turn/1 \u{202e}", "thread");
        let token = writer.token();
        let call = || Some(ToolCallId::from(id("call_", "a_1")));
        let events = [
            Event::SessionStarted(SessionStarted::default()),
            Event::StateChanged(state()),
            Event::ToolInvoked(ToolInvoked {
                tool: tool("3 odd names!"),
                tool_call_id: call(),
                ..ToolInvoked::default()
            }),
            Event::ToolCompleted(ToolCompleted {
                tool: tool("3 odd names!"),
                tool_call_id: call(),
                ..ToolCompleted::of(ToolStatus::parse(NOT_STATED))
            }),
            Event::AwaitingConfirmation(Box::new(AwaitingConfirmation {
                action: "rm x".to_owned(),
                names_action: true,
                reply_token: Some(ReplyToken::new(token)),
                ..AwaitingConfirmation::default()
            })),
            Event::SessionCompleted(SessionCompleted::default()),
        ];
        for event in events {
            let kind = event.type_name();
            let text = writer.event(&mut session, at("2026-01-01T00:00:00Z"), event);
            let decoded = decode(&text).unwrap();
            let bad: Vec<String> = decoded
                .findings
                .iter()
                .filter(|finding| finding.severity != Severity::Note)
                .map(ToString::to_string)
                .collect();
            assert!(bad.is_empty(), "{kind:?}: {bad:?}\n{text}");
        }
    }

    #[test]
    fn what_is_frequent_is_read_at_once() {
        let mut writer = writer();
        let mut session = writer.session("turn/1", "thread");
        let mut recent = RecentValues::default();
        let call = || Some(ToolCallId::from(id("call_", "1")));
        let events = [
            Event::OutputStreaming(OutputStreaming {
                chunk: "So far. ".to_owned(),
                position: Some(0),
                output_id: Some(OutputId::from(id("out_", "1"))),
                ..OutputStreaming::default()
            }),
            Event::StateChanged(state()),
            Event::ToolInvoked(ToolInvoked {
                tool: tool("read"),
                summary: normal(Some("Read it".to_owned())),
                tool_call_id: call(),
                ..ToolInvoked::default()
            }),
            Event::ToolCompleted(ToolCompleted {
                tool: tool("read"),
                tool_call_id: call(),
                ..ToolCompleted::of(ToolStatus::Success)
            }),
        ];
        for event in events {
            let text = writer.event(&mut session, at("2026-01-01T00:00:00Z"), event);
            assert!(recent.decode_at_once(&text).is_some(), "{text}");
        }
    }

    #[test]
    fn times_never_go_back_and_numbers_go_on() {
        let mut writer = writer();
        let mut session = writer.session("a", "");
        let mut read = |stamp: &str| {
            let completed = Event::SessionCompleted(SessionCompleted::default());
            let text = writer.event(&mut session, at(stamp), completed);
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
