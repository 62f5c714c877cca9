//! The frequent events, where nothing is wrong with them, straight from their text.
//!
//! Responsibilities: being as good as the nine steps for what it gives, and giving nothing else. Not here: everything that is
//! rare, odd or wrong (`decode`, with `check` and `payload`).
//!
//! # Mental model
//! Of a hundred events of a stream, ninety-odd are chunks, states and tools, written as the chapters ask. For these the walk
//! over a map of values by a table of fields finds nothing, and costs many times what reading them takes. So a text is
//! first read as one of these types. Whatever this does not know for certain to be right, an unknown field, a null, another
//! spelling, a name twice, a number of another form, makes it give up, and the whole way is gone. A property holds both to
//! each other: what comes from here is what would have come from there, without a finding.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Map;

use super::check::PUBLISHED;
use super::envelope::{Envelope, Localization, Producer, Urgency};
use super::event::{
    Event, Level, OutputStreaming, RiskLevel, StateChanged, Summary, ToolCompleted, ToolInvoked,
    ToolStatus,
};
use super::form::{Form, is_id};
use super::ids::{AgentId, EventId, OutputId, SessionId, ToolCallId};
use super::language::TextDirection;
use super::relations::looks_secret;
use super::shape::LARGEST_BARE;
use super::stamp;
use super::version::CORE_CONTEXT;

/// The longest event that is read here, in bytes: nothing in it is beyond any limit of 3.7.
const LONGEST: usize = 16 * 1024;
/// The longest name, in bytes; a longer one is shortened elsewhere.
const LONGEST_NAME: usize = 256;
/// The longest name of a state, and of a short text, in bytes.
const LONGEST_STATE: usize = 64;
const LONGEST_SHORT: usize = 4096;
/// The longest duration in milliseconds: a day.
const DAY_MS: u64 = 86_400_000;

/// Is a text, as it stands in the message where it is there without escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

/// Is what is written as an object; a derived reader takes a list of the fields' values for one, too.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Reader(PhantomData))
    }
}

/// Reads a field that is there; null is nothing that may stand there.
fn there<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Holds the fields of the types that are read here, and no others.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields<'a> {
    #[serde(rename = "@context", borrow)]
    context: Text<'a>,
    #[serde(rename = "type")]
    type_name: Text<'a>,
    event_id: Text<'a>,
    session_id: Text<'a>,
    timestamp: Text<'a>,
    #[serde(borrow)]
    producer: Object<Maker<'a>>,
    #[serde(borrow)]
    localization_hints: Object<Hints<'a>>,
    #[serde(default, deserialize_with = "there")]
    urgency: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    verbosity: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    sequence_number: Option<u64>,
    #[serde(default, deserialize_with = "there")]
    correlation_id: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    aaep_version: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    summary_terse: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    summary_normal: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    summary_detailed: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    chunk: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    position: Option<u64>,
    #[serde(default, deserialize_with = "there")]
    complete: Option<bool>,
    #[serde(default, deserialize_with = "there")]
    coalesce_hint: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    output_id: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    content_type: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    language: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    from_state: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    to_state: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    expected_duration_ms: Option<u64>,
    #[serde(default, deserialize_with = "there")]
    tool: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    tool_call_id: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    description: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    args_summary: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    risk_level: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    irreversible: Option<bool>,
    #[serde(default, deserialize_with = "there")]
    status: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    duration_ms: Option<u64>,
}

/// Holds the fields of `producer` that are read here.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Maker<'a> {
    #[serde(borrow)]
    agent_id: Text<'a>,
    #[serde(default, deserialize_with = "there")]
    agent_name: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    agent_version: Option<Text<'a>>,
    #[serde(default, deserialize_with = "there")]
    model: Option<Text<'a>>,
}

/// Holds the fields of `localization_hints` that are read here.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Hints<'a> {
    #[serde(borrow)]
    primary_language: Text<'a>,
    #[serde(default, deserialize_with = "there")]
    text_direction: Option<Text<'a>>,
}

/// Says which of the types an event is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    State,
    Invoked,
    Completed,
    Output,
}

/// Reads a message, if it is one of the frequent events and nothing is wrong with it.
pub(super) fn read(text: &str) -> Option<(Envelope, Event)> {
    if text.len() > LONGEST {
        return None;
    }
    let Object(mut fields): Object<Fields<'_>> = serde_json::from_str(text).ok()?;
    let kind = match &*fields.type_name.0 {
        "aaep:agent.output.streaming" => Type::Output,
        "aaep:agent.state.changed" => Type::State,
        "aaep:agent.tool.invoked" => Type::Invoked,
        "aaep:agent.tool.completed" => Type::Completed,
        _ => return None,
    };
    if !fields.has_only_its_own(kind) {
        return None;
    }
    let event = fields.event(kind)?;
    Some((fields.envelope()?, event))
}

impl Fields<'_> {
    /// Tells whether no field is there that belongs to another type.
    fn has_only_its_own(&self, kind: Type) -> bool {
        let (state, invoked) = (kind == Type::State, kind == Type::Invoked);
        let (completed, output) = (kind == Type::Completed, kind == Type::Output);
        let (is_tool, has_words) = (invoked || completed, !output);
        let strangers = [
            (has_words, self.summary_terse.is_some()),
            (has_words, self.summary_normal.is_some()),
            (has_words, self.summary_detailed.is_some()),
            (output, self.chunk.is_some()),
            (output, self.position.is_some()),
            (output, self.complete.is_some()),
            (output, self.coalesce_hint.is_some()),
            (output, self.output_id.is_some()),
            (output, self.content_type.is_some()),
            (output, self.language.is_some()),
            (state, self.from_state.is_some()),
            (state, self.to_state.is_some()),
            (state || invoked, self.expected_duration_ms.is_some()),
            (is_tool, self.tool.is_some()),
            (is_tool, self.tool_call_id.is_some()),
            (invoked, self.description.is_some()),
            (invoked, self.args_summary.is_some()),
            (invoked, self.risk_level.is_some()),
            (invoked, self.irreversible.is_some()),
            (completed, self.status.is_some()),
            (completed, self.duration_ms.is_some()),
        ];
        strangers.iter().all(|(own, there)| *own || !there)
    }

    fn envelope(self) -> Option<Envelope> {
        let Object(producer) = self.producer;
        let Object(hints) = self.localization_hints;
        if self.context.0 != CORE_CONTEXT
            || !is_id(&self.event_id.0, "evt_")
            || !is_id(&self.session_id.0, "sess_")
            || !is_name(&producer.agent_id)
            || !producer.agent_name.as_ref().is_none_or(is_name)
            || !says(producer.agent_version.as_ref())
            || !says(producer.model.as_ref())
            || !Form::Language.fits(&hints.primary_language.0)
            || self.sequence_number.is_some_and(|it| it > LARGEST_BARE)
        {
            return None;
        }
        let aaep_version = owned(self.aaep_version);
        let known =
            |version: &String| PUBLISHED.contains(&version.as_str()) && Form::Version.fits(version);
        if !aaep_version.as_ref().is_none_or(known) {
            return None;
        }
        Some(Envelope {
            type_name: self.type_name.0.into_owned(),
            event_id: Some(EventId::from(&*self.event_id.0)),
            session_id: SessionId::from(&*self.session_id.0),
            timestamp: Some(stamp::good(&self.timestamp.0)?),
            producer: Producer {
                agent_id: AgentId::from(&*producer.agent_id.0),
                agent_name: owned(producer.agent_name),
                agent_version: owned(producer.agent_version),
                model: owned(producer.model),
                manifest_uri: None,
            },
            urgency: match as_str(&self.urgency) {
                None | Some("normal") => Urgency::Normal,
                Some("background") => Urgency::Background,
                Some("critical") => Urgency::Critical,
                Some(_) => return None,
            },
            verbosity: match as_str(&self.verbosity) {
                None => None,
                Some("terse") => Some(Level::Terse),
                Some("normal") => Some(Level::Normal),
                Some("detailed") => Some(Level::Detailed),
                Some(_) => return None,
            },
            sequence_number: self.sequence_number,
            localization: Localization {
                primary_language: Some(hints.primary_language.0.into_owned()),
                text_direction: match as_str(&hints.text_direction) {
                    None => None,
                    Some("ltr") => Some(TextDirection::Ltr),
                    Some("rtl") => Some(TextDirection::Rtl),
                    Some("auto") => Some(TextDirection::Auto),
                    Some(_) => return None,
                },
                ..Localization::default()
            },
            // An empty one is as good as none.
            correlation_id: owned(self.correlation_id).filter(|id| !id.is_empty()),
            aaep_version,
            attached: Arc::default(),
            extensions: Map::new(),
        })
    }

    fn event(&mut self, kind: Type) -> Option<Event> {
        Some(match kind {
            Type::Output => Event::OutputStreaming(self.output()?),
            Type::State => Event::StateChanged(self.state()?),
            Type::Invoked => Event::ToolInvoked(self.invoked()?),
            Type::Completed => Event::ToolCompleted(self.completed()?),
        })
    }

    fn output(&mut self) -> Option<OutputStreaming> {
        let position = self.position.filter(|at| *at <= LARGEST_BARE)?;
        let hint = owned(self.coalesce_hint.take());
        let hints = ["none", "word", "sentence", "paragraph", "completion"];
        if !hint.as_deref().is_none_or(|it| hints.contains(&it)) {
            return None;
        }
        Some(OutputStreaming {
            chunk: owned(self.chunk.take())?,
            position: Some(position),
            complete: self.complete?,
            coalesce_hint: hint,
            output_id: formed(self.output_id.take(), Form::OutputId)?.map(OutputId::from),
            content_type: formed(self.content_type.take(), Form::ContentType)?,
            language: formed(self.language.take(), Form::Language)?,
        })
    }

    fn state(&mut self) -> Option<StateChanged> {
        let state = |text: Option<Text<'_>>| {
            owned(text).filter(|name| !name.is_empty() && name.len() <= LONGEST_STATE)
        };
        Some(StateChanged {
            from_state: state(self.from_state.take())?,
            to_state: state(self.to_state.take())?,
            summary: self.summary()?,
            expected_duration_ms: duration(self.expected_duration_ms)?,
        })
    }

    fn invoked(&mut self) -> Option<ToolInvoked> {
        let args_summary = owned(self.args_summary.take());
        if args_summary.as_deref().is_some_and(looks_secret) {
            return None;
        }
        let summary = self.summary()?;
        summary.normal.as_ref()?;
        Some(ToolInvoked {
            tool: formed(self.tool.take(), Form::Tool)??,
            summary,
            description: short(self.description.take())?,
            args_summary: args_summary.filter(|text| !text.is_empty()),
            expected_duration_ms: duration(self.expected_duration_ms)?,
            risk_level: match as_str(&self.risk_level) {
                None => None,
                Some("low") => Some(RiskLevel::Low),
                Some("medium") => Some(RiskLevel::Medium),
                Some("high") => Some(RiskLevel::High),
                Some(_) => return None,
            },
            irreversible: self.irreversible,
            tool_call_id: formed(self.tool_call_id.take(), Form::CallId)?.map(ToolCallId::from),
        })
    }

    fn completed(&mut self) -> Option<ToolCompleted> {
        // Whatever went wrong with a tool is looked at the whole way.
        if as_str(&self.status) != Some("success") {
            return None;
        }
        Some(ToolCompleted {
            tool: formed(self.tool.take(), Form::Tool)??,
            summary: self.summary()?,
            status: ToolStatus::Success,
            tool_call_id: formed(self.tool_call_id.take(), Form::CallId)?.map(ToolCallId::from),
            duration_ms: duration(self.duration_ms)?,
            error_message: None,
        })
    }

    fn summary(&mut self) -> Option<Summary> {
        let normal = owned(self.summary_normal.take());
        let detailed = owned(self.summary_detailed.take());
        let says = |text: &Option<String>| text.as_ref().is_none_or(|text| !text.is_empty());
        if !says(&normal) || !says(&detailed) {
            return None;
        }
        Some(Summary {
            terse: short(self.summary_terse.take())?,
            normal,
            detailed,
            variants: Vec::new(),
        })
    }
}

fn owned(text: Option<Text<'_>>) -> Option<String> {
    text.map(|text| text.0.into_owned())
}

fn as_str<'a>(text: &'a Option<Text<'_>>) -> Option<&'a str> {
    text.as_ref().map(|text| &*text.0)
}

fn is_name(text: &Text<'_>) -> bool {
    (1..=LONGEST_NAME).contains(&text.0.len())
}

/// Tells whether a text is absent or says something.
fn says(text: Option<&Text<'_>>) -> bool {
    text.is_none_or(|text| !text.0.is_empty())
}

/// Gives a text of a form where it is there; nothing where it has another.
fn formed(text: Option<Text<'_>>, form: Form) -> Option<Option<String>> {
    let text = owned(text);
    text.as_ref()
        .is_none_or(|text| form.fits(text))
        .then_some(text)
}

/// Gives a short text where it is there; nothing where it is empty or too long.
fn short(text: Option<Text<'_>>) -> Option<Option<String>> {
    let text = owned(text);
    text.as_ref()
        .is_none_or(|text| (1..=LONGEST_SHORT).contains(&text.len()))
        .then_some(text)
}

/// Gives a duration where it is there; nothing where it is too long.
fn duration(ms: Option<u64>) -> Option<Option<u64>> {
    ms.is_none_or(|ms| ms <= DAY_MS).then_some(ms)
}

#[cfg(test)]
#[path = "direct_tests.rs"]
mod tests;
