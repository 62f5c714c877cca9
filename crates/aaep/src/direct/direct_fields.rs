//! The fields of the frequent events, and the types that may have them.
//!
//! Responsibilities: reading each field once, and finding fields that the type does not have. Not here: whether a value
//! is right (`direct`).

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;

use super::borrowed_value::{BorrowedText, ContextNames, there};

/// The type of an event that is read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrequentType {
    Output,
    State,
    Invoked,
    Completed,
    Started,
}

impl FrequentType {
    /// All types with their names.
    const ALL: [(Self, &'static str); 5] = [
        (Self::Output, "aaep:agent.output.streaming"),
        (Self::State, "aaep:agent.state.changed"),
        (Self::Invoked, "aaep:agent.tool.invoked"),
        (Self::Completed, "aaep:agent.tool.completed"),
        (Self::Started, "aaep:agent.session.started"),
    ];
}

/// The name of a type that is read here. A message of another type is abandoned as soon as its type is read.
#[derive(Debug)]
pub(super) struct TypeName(pub(super) FrequentType, pub(super) &'static str);

impl<'de> Deserialize<'de> for TypeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = BorrowedText::deserialize(deserializer)?;
        let mut all = FrequentType::ALL.into_iter();
        let found = all.find(|(_, known)| *known == name.0);
        found
            .map(|(kind, name)| Self(kind, name))
            .ok_or_else(|| D::Error::custom("another type"))
    }
}

/// The fields that a message has. An unknown field, a repeated one, or a null is an error: the message then takes the
/// full path.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DirectFields<'a> {
    #[serde(rename = "@context", borrow, deserialize_with = "there")]
    pub(super) context: Option<ContextNames<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) aaep_version: Option<BorrowedText<'a>>,
    #[serde(rename = "type", deserialize_with = "there")]
    pub(super) type_name: Option<TypeName>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) event_id: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) session_id: Option<BorrowedText<'a>>,
    #[serde(deserialize_with = "there")]
    pub(super) sequence_number: Option<u64>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) timestamp: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) producer: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) urgency: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) verbosity: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) correlation_id: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) localization_hints: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) extensions: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) summary_terse: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) summary_normal: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) summary_detailed: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) chunk: Option<BorrowedText<'a>>,
    #[serde(deserialize_with = "there")]
    pub(super) position: Option<u64>,
    #[serde(deserialize_with = "there")]
    pub(super) complete: Option<bool>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) coalesce_hint: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) output_id: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) content_type: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) language: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) from_state: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) to_state: Option<BorrowedText<'a>>,
    #[serde(deserialize_with = "there")]
    pub(super) expected_duration_ms: Option<u64>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) tool: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) tool_call_id: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) description: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) args_summary: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) risk_level: Option<BorrowedText<'a>>,
    #[serde(deserialize_with = "there")]
    pub(super) irreversible: Option<bool>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) status: Option<BorrowedText<'a>>,
    #[serde(deserialize_with = "there")]
    pub(super) duration_ms: Option<u64>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) requested_by: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) request_text: Option<BorrowedText<'a>>,
    #[serde(borrow, deserialize_with = "there")]
    pub(super) tools_available: Option<Vec<BorrowedText<'a>>>,
}

impl DirectFields<'_> {
    /// Returns whether every present field belongs to this type.
    pub(super) fn has_only_its_own(&self, kind: FrequentType) -> bool {
        let has_summary = self.summary_terse.is_some()
            || self.summary_normal.is_some()
            || self.summary_detailed.is_some();
        let has_output = self.chunk.is_some()
            || self.position.is_some()
            || self.complete.is_some()
            || self.coalesce_hint.is_some()
            || self.output_id.is_some()
            || self.content_type.is_some()
            || self.language.is_some();
        let has_states = self.from_state.is_some() || self.to_state.is_some();
        let has_expected_duration = self.expected_duration_ms.is_some();
        let has_call = self.tool.is_some() || self.tool_call_id.is_some();
        let has_invocation = self.description.is_some()
            || self.args_summary.is_some()
            || self.risk_level.is_some()
            || self.irreversible.is_some();
        let has_completion = self.status.is_some() || self.duration_ms.is_some();
        let has_start = self.requested_by.is_some()
            || self.request_text.is_some()
            || self.tools_available.is_some();
        let is_call = matches!(kind, FrequentType::Invoked | FrequentType::Completed);
        let takes_time = matches!(
            kind,
            FrequentType::State | FrequentType::Invoked | FrequentType::Started
        );
        (kind != FrequentType::Output || !has_summary)
            && (kind == FrequentType::Output || !has_output)
            && (kind == FrequentType::State || !has_states)
            && (kind == FrequentType::Invoked || !has_invocation)
            && (kind == FrequentType::Completed || !has_completion)
            && (kind == FrequentType::Started || !has_start)
            && (is_call || !has_call)
            && (takes_time || !has_expected_duration)
    }
}
