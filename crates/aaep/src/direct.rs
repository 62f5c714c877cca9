//! A direct reader for frequent events that have no fault but a missing language.
//!
//! Responsibilities: returning events exactly as the nine steps do, or not at all. Not here: everything rare,
//! odd or wrong (`decode`, with `event_check` and `payload`).
//!
//! # Mental model
//! More than ninety of a hundred events are chunks, states and tools, written as the chapters ask. Checking a
//! map of their values against a table of fields finds no fault and costs many times as much as reading them.
//! So each text is first read as one of these types. If anything is not certain to be right (an unknown field,
//! a null, another spelling, a repeated name, a number in another form), the direct reader gives up, and the
//! text takes the full path.
//!
//! Two things that many sources put into every event are handled here: text for a person without hints of its
//! language (11.1), which is reported, and the extension that names the protocol it was translated from. A property
//! test compares both paths: this one returns exactly what the full path would have returned.

mod borrowed_value;
mod direct_fields;
mod extensions;

use std::borrow::Cow;
use std::sync::Arc;

use super::attachments::Attachments;
use super::decoded_message::Decoded;
use super::envelope::{Envelope, Localization, Producer, Urgency};
use super::event::{
    Event, OutputStreaming, RiskLevel, SessionStarted, StateChanged, Summary, SummaryLevel,
    ToolCompleted, ToolInvoked, ToolStatus,
};
use super::event_check::{PUBLISHED, without_hints};
use super::field_rules::LARGEST_BARE;
use super::ids::{AgentId, EventId, ToolCallId};
use super::language_tag::TextDirection;
use super::relations::looks_secret;
use super::repeated_parts::RecentValues;
use super::stamp;
use super::text_forms::{TextForm, is_id};
use super::translated_events::OWN_CONTEXT;
use super::version::CORE_CONTEXT;
use borrowed_value::{BorrowedText, ContextNames, Object, there};
use direct_fields::{DirectFields, FrequentType, TypeName};
use extensions::extensions;

/// The longest event that is read here, in bytes: nothing in it can exceed a size limit of 3.7.
const LONGEST: usize = 16 * 1024;
/// The longest name, in bytes; a longer one is shortened on the full path.
const LONGEST_NAME: usize = 256;
/// The most tools of a session that are compared with each other.
const MOST_TOOLS: usize = 32;
/// The longest name of a state, and of a short text, in bytes.
const LONGEST_STATE: usize = 64;
const LONGEST_SHORT: usize = 4096;
/// Values that are borrowed from these tables instead of copied: the states of 4.2.1, the hints of 4.3.3, the
/// usual content types.
const STATES: [&str; 7] = [
    "thinking",
    "calling_tool",
    "writing_output",
    "awaiting_input",
    "idle",
    "deciding",
    "handing_off",
];
const HINTS: [&str; 5] = ["none", "word", "sentence", "paragraph", "completion"];
const CONTENT_TYPES: [&str; 2] = ["text/plain", "text/markdown"];
/// The longest duration in milliseconds: a day.
const DAY_MS: u64 = 86_400_000;

/// The fields of `producer` that are read here.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ProducerFields<'a> {
    #[serde(borrow)]
    agent_id: BorrowedText<'a>,
    #[serde(default, deserialize_with = "there")]
    agent_name: Option<BorrowedText<'a>>,
    #[serde(default, deserialize_with = "there")]
    agent_version: Option<BorrowedText<'a>>,
    #[serde(default, deserialize_with = "there")]
    model: Option<BorrowedText<'a>>,
}

/// The fields of `localization_hints` that are read here.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Hints<'a> {
    #[serde(borrow)]
    primary_language: BorrowedText<'a>,
    #[serde(default, deserialize_with = "there")]
    text_direction: Option<BorrowedText<'a>>,
}

/// Reads a message if it is a frequent event without a fault except missing hints.
pub(super) fn read(text: &str, recent: &mut RecentValues) -> Option<Box<Decoded>> {
    if text.len() > LONGEST {
        return None;
    }
    let Object(mut fields): Object<DirectFields<'_>> = serde_json::from_str(text).ok()?;
    let TypeName(kind, name) = fields.type_name.take()?;
    if !fields.has_only_its_own(kind) {
        return None;
    }
    let findings = match &fields.localization_hints {
        None if fields.has_words() => without_hints(),
        Some(_) | None => Vec::new(),
    };
    Some(Box::new(Decoded {
        event: fields.event(kind, recent)?,
        envelope: fields.envelope(name, recent)?,
        findings,
    }))
}

/// Reads the producer of an event.
fn producer(text: &str) -> Option<Producer> {
    let Object(maker): Object<ProducerFields<'_>> = serde_json::from_str(text).ok()?;
    if !is_name(&maker.agent_id)
        || !maker.agent_name.as_ref().is_none_or(is_name)
        || !says(maker.agent_version.as_ref())
        || !says(maker.model.as_ref())
    {
        return None;
    }
    Some(Producer {
        agent_id: AgentId::from(&*maker.agent_id.0),
        agent_name: maker.agent_name.map(|name| Arc::from(&*name.0)),
        agent_version: owned(maker.agent_version),
        model: owned(maker.model),
        manifest_uri: None,
    })
}

/// Reads the language hints of an event.
fn hints(text: &str) -> Option<Localization> {
    let Object(hints): Object<Hints<'_>> = serde_json::from_str(text).ok()?;
    if !TextForm::Language.fits(&hints.primary_language.0) {
        return None;
    }
    Some(Localization {
        primary_language: Some(Arc::from(&*hints.primary_language.0)),
        text_direction: match as_str(&hints.text_direction) {
            None => None,
            Some("ltr") => Some(TextDirection::Ltr),
            Some("rtl") => Some(TextDirection::Rtl),
            Some("auto") => Some(TextDirection::Auto),
            Some(_) => return None,
        },
        ..Localization::default()
    })
}

impl DirectFields<'_> {
    /// Returns whether the event names the core context alone, or the core context and that of our own extension.
    fn names_its_contexts(&self) -> bool {
        match &self.context {
            Some(ContextNames::One(one)) => one.0 == CORE_CONTEXT && self.extensions.is_none(),
            Some(ContextNames::List(list)) => {
                (list.iter().map(|it| &*it.0)).eq([CORE_CONTEXT, OWN_CONTEXT])
            }
            None => false,
        }
    }

    /// Returns whether there is text for a person (11.1).
    fn has_words(&self) -> bool {
        let texts = [
            &self.chunk,
            &self.summary_normal,
            &self.summary_terse,
            &self.summary_detailed,
            &self.description,
            &self.args_summary,
            &self.request_text,
        ];
        let says =
            |text: &Option<BorrowedText<'_>>| text.as_ref().is_some_and(|text| !text.0.is_empty());
        texts.into_iter().any(says)
    }

    #[inline]
    fn envelope(&mut self, type_name: &'static str, recent: &mut RecentValues) -> Option<Envelope> {
        let event_id = as_str(&self.event_id).filter(|id| is_id(id, "evt_"))?;
        if !self.names_its_contexts() || self.sequence_number.is_some_and(|it| it > LARGEST_BARE) {
            return None;
        }
        let aaep_version = match as_str(&self.aaep_version) {
            None => None,
            Some(version) => Some(PUBLISHED.into_iter().find(|known| *known == version)?),
        };
        Some(Envelope {
            type_name: Cow::Borrowed(type_name),
            event_id: Some(EventId::from(event_id)),
            session_id: recent.session(as_str(&self.session_id)?, |id| is_id(id, "sess_"))?,
            timestamp: Some(stamp::examine(as_str(&self.timestamp)?).ok()?),
            producer: recent.producer(self.producer?.get(), producer)?,
            urgency: match as_str(&self.urgency) {
                None | Some("normal") => Urgency::Normal,
                Some("background") => Urgency::Background,
                Some("critical") => Urgency::Critical,
                Some(_) => return None,
            },
            verbosity: match as_str(&self.verbosity) {
                None => None,
                Some("terse") => Some(SummaryLevel::Terse),
                Some("normal") => Some(SummaryLevel::Normal),
                Some("detailed") => Some(SummaryLevel::Detailed),
                Some(_) => return None,
            },
            sequence_number: self.sequence_number,
            localization: match &self.localization_hints {
                Some(raw) => recent.hints(raw.get(), hints)?,
                None => Localization::none(),
            },
            // An empty id counts as absent.
            correlation_id: owned(self.correlation_id.take())
                .filter(|id| !id.is_empty())
                .map(Arc::from),
            aaep_version: aaep_version.map(Cow::Borrowed),
            attached: Attachments::none(),
            extensions: match &self.extensions {
                Some(raw) => Some(recent.extensions(raw.get(), extensions)?),
                None => None,
            },
        })
    }

    #[inline]
    fn event(&mut self, kind: FrequentType, recent: &mut RecentValues) -> Option<Event> {
        Some(match kind {
            FrequentType::Output => Event::OutputStreaming(self.output(recent)?),
            FrequentType::State => Event::StateChanged(self.state()?),
            FrequentType::Invoked => Event::ToolInvoked(self.invoked()?),
            FrequentType::Completed => Event::ToolCompleted(self.completed()?),
            FrequentType::Started => Event::SessionStarted(self.started()?),
        })
    }

    fn output(&mut self, recent: &mut RecentValues) -> Option<OutputStreaming> {
        let position = self.position.filter(|at| *at <= LARGEST_BARE)?;
        // Without hints, this would also be the language of the whole event.
        if self.language.is_some() && self.localization_hints.is_none() {
            return None;
        }
        let hint = match as_str(&self.coalesce_hint) {
            None => None,
            Some(hint) => Some(Cow::Borrowed(known(hint, &HINTS)?)),
        };
        let output_id = match self.output_id.take() {
            None => None,
            Some(id) => Some(recent.output(&id.0, |id| TextForm::OutputId.fits(id))?),
        };
        Some(OutputStreaming {
            chunk: owned(self.chunk.take())?,
            position: Some(position),
            complete: self.complete?,
            coalesce_hint: hint,
            output_id,
            content_type: match as_str(&self.content_type) {
                None => None,
                Some(usual) if let Some(usual) = known(usual, &CONTENT_TYPES) => {
                    Some(Cow::Borrowed(usual))
                }
                Some(_) => formed(self.content_type.take(), TextForm::ContentType)?.map(Cow::Owned),
            },
            language: formed(self.language.take(), TextForm::Language)?.map(Arc::from),
        })
    }

    fn state(&mut self) -> Option<StateChanged> {
        let state = |text: Option<BorrowedText<'_>>| match known(as_str(&text)?, &STATES) {
            Some(state) => Some(Cow::Borrowed(state)),
            None => {
                let fits = |name: &String| (1..=LONGEST_STATE).contains(&name.len());
                owned(text).filter(fits).map(Cow::Owned)
            }
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
            tool: formed(self.tool.take(), TextForm::Tool)??,
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
            tool_call_id: formed(self.tool_call_id.take(), TextForm::CallId)?.map(ToolCallId::from),
        })
    }

    fn completed(&mut self) -> Option<ToolCompleted> {
        // A tool that did not succeed takes the full path.
        if as_str(&self.status) != Some("success") {
            return None;
        }
        Some(ToolCompleted {
            tool: formed(self.tool.take(), TextForm::Tool)??,
            summary: self.summary()?,
            status: ToolStatus::Success,
            tool_call_id: formed(self.tool_call_id.take(), TextForm::CallId)?.map(ToolCallId::from),
            duration_ms: duration(self.duration_ms)?,
            error_message: None,
        })
    }

    fn started(&mut self) -> Option<SessionStarted> {
        let summary = self.summary()?;
        summary.normal.as_ref()?;
        let by = self.requested_by.take();
        let tools = self.tools_available.take().unwrap_or_default();
        let comes_again = |(at, tool): (usize, &BorrowedText<'_>)| {
            let mut before = tools[..at].iter();
            before.any(|before| before.0 == tool.0)
        };
        if !by.as_ref().is_none_or(is_name)
            || tools.len() > MOST_TOOLS
            || !tools.iter().all(is_name)
            || tools.iter().enumerate().any(comes_again)
        {
            return None;
        }
        Some(SessionStarted {
            summary,
            expected_duration_ms: duration(self.expected_duration_ms)?,
            requested_by: owned(by),
            request_text: owned(self.request_text.take()).filter(|text| !text.is_empty()),
            tools_available: (tools.into_iter())
                .map(|tool| tool.0.into_owned())
                .collect(),
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

/// Returns the listed text that equals the given one.
fn known(text: &str, those: &[&'static str]) -> Option<&'static str> {
    (those.iter().copied()).find(|known| *known == text)
}

fn owned(text: Option<BorrowedText<'_>>) -> Option<String> {
    text.map(|text| text.0.into_owned())
}

fn as_str<'a>(text: &'a Option<BorrowedText<'_>>) -> Option<&'a str> {
    text.as_ref().map(|text| &*text.0)
}

fn is_name(text: &BorrowedText<'_>) -> bool {
    (1..=LONGEST_NAME).contains(&text.0.len())
}

/// Returns whether a text is absent or not empty.
fn says(text: Option<&BorrowedText<'_>>) -> bool {
    text.is_none_or(|text| !text.0.is_empty())
}

/// Returns a text if it is absent or has the form; the outer `None` means that its form is wrong.
fn formed(text: Option<BorrowedText<'_>>, form: TextForm) -> Option<Option<String>> {
    let text = owned(text);
    text.as_ref()
        .is_none_or(|text| form.fits(text))
        .then_some(text)
}

/// Returns a text if it is absent or short; the outer `None` means that it is empty or too long.
fn short(text: Option<BorrowedText<'_>>) -> Option<Option<String>> {
    let text = owned(text);
    text.as_ref()
        .is_none_or(|text| (1..=LONGEST_SHORT).contains(&text.len()))
        .then_some(text)
}

/// Returns a duration if it is absent or short enough; the outer `None` means that it is too long.
fn duration(ms: Option<u64>) -> Option<Option<u64>> {
    ms.is_none_or(|ms| ms <= DAY_MS).then_some(ms)
}

#[cfg(test)]
mod tests;
