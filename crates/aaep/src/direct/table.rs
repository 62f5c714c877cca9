//! The fields of the frequent events: their names, their targets, and the types that may have them.
//!
//! Responsibilities: reading each field into its target, once. Not here: whether its value is right (`direct`).
//!
//! # Mental model
//! One table defines everything. A field's name is looked up by its length and three of its letters, which tell all
//! names of the table apart (otherwise the build fails), and compared once. A bit for each field records that it was
//! present, so a field that is repeated, or that the type does not have, is found by comparing numbers.

use super::scan::{Context, Scan, Text, Value, Written};
use crate::recent::{FieldOrder, Raw};
use crate::same::are_same;

/// The type of an event; each is one bit, so that a number can hold several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Type {
    Output = 1,
    State = 2,
    Invoked = 4,
    Completed = 8,
    Started = 16,
}

const OUTPUT: u8 = Type::Output as u8;
const STATE: u8 = Type::State as u8;
const INVOKED: u8 = Type::Invoked as u8;
const COMPLETED: u8 = Type::Completed as u8;
const STARTED: u8 = Type::Started as u8;
/// Type sets: those of a call, those with an expected duration, those with a summary, and all.
const CALL: u8 = INVOKED | COMPLETED;
const TAKES_TIME: u8 = STATE | INVOKED | STARTED;
const SUMMARY: u8 = STATE | CALL | STARTED;
const ALL: u8 = SUMMARY | OUTPUT;

macro_rules! table {
    ($($field:ident: $value:ty = $name:literal in $types:ident,)*) => {
        /// The fields that a message has.
        #[derive(Debug, Default)]
        pub(super) struct Fields<'a> {
            /// The fields that were present, one bit each.
            seen: u64,
            $(pub(super) $field: Option<$value>,)*
        }

        #[allow(non_camel_case_types, reason = "each is named as the field that it is the place of")]
        #[derive(Clone, Copy)]
        #[repr(u8)]
        enum Place {
            $($field,)*
        }

        /// The fields in order: each with its name, its usual spelling in a message, its target, and the types that
        /// have it.
        const TABLE: &[(&str, Written, Place, u8)] = &[
            $(($name, Written::new(concat!("\"", $name, "\":")), Place::$field, $types),)*
        ];

        impl<'a> Fields<'a> {
            /// Reads the fields of a message, if all of them are known here. Earlier objects and the usual order of the
            /// fields are recognized.
            pub(super) fn read(
                &mut self,
                text: &'a str,
                known: [Option<&str>; 3],
                order: &mut FieldOrder,
            ) -> Option<()> {
                let mut scan = Scan::open(text, known)?;
                let mut before = TABLE.len();
                loop {
                    let place = Place::next(before, &mut scan, order)?;
                    before = place as usize;
                    let bit = 1 << place as u8;
                    if self.seen & bit != 0 {
                        return None;
                    }
                    self.seen |= bit;
                    match place {
                        $(Place::$field => self.$field = Some(<$value>::take(&mut scan)?),)*
                    }
                    if !scan.goes_on()? {
                        return scan.is_over().then_some(());
                    }
                }
            }
        }
    };
}

table! {
    context: Context<'a> = "@context" in ALL,
    aaep_version: Text<'a> = "aaep_version" in ALL,
    type_name: Named = "type" in ALL,
    event_id: Text<'a> = "event_id" in ALL,
    session_id: Text<'a> = "session_id" in ALL,
    sequence_number: u64 = "sequence_number" in ALL,
    timestamp: Text<'a> = "timestamp" in ALL,
    producer: Raw<'a> = "producer" in ALL,
    urgency: Text<'a> = "urgency" in ALL,
    verbosity: Text<'a> = "verbosity" in ALL,
    correlation_id: Text<'a> = "correlation_id" in ALL,
    localization_hints: Raw<'a> = "localization_hints" in ALL,
    extensions: Raw<'a> = "extensions" in ALL,
    summary_terse: Text<'a> = "summary_terse" in SUMMARY,
    summary_normal: Text<'a> = "summary_normal" in SUMMARY,
    summary_detailed: Text<'a> = "summary_detailed" in SUMMARY,
    chunk: Text<'a> = "chunk" in OUTPUT,
    position: u64 = "position" in OUTPUT,
    complete: bool = "complete" in OUTPUT,
    coalesce_hint: Text<'a> = "coalesce_hint" in OUTPUT,
    output_id: Text<'a> = "output_id" in OUTPUT,
    content_type: Text<'a> = "content_type" in OUTPUT,
    language: Text<'a> = "language" in OUTPUT,
    from_state: Text<'a> = "from_state" in STATE,
    to_state: Text<'a> = "to_state" in STATE,
    expected_duration_ms: u64 = "expected_duration_ms" in TAKES_TIME,
    tool: Text<'a> = "tool" in CALL,
    tool_call_id: Text<'a> = "tool_call_id" in CALL,
    description: Text<'a> = "description" in INVOKED,
    args_summary: Text<'a> = "args_summary" in INVOKED,
    risk_level: Text<'a> = "risk_level" in INVOKED,
    irreversible: bool = "irreversible" in INVOKED,
    status: Text<'a> = "status" in COMPLETED,
    duration_ms: u64 = "duration_ms" in COMPLETED,
    requested_by: Text<'a> = "requested_by" in STARTED,
    request_text: Text<'a> = "request_text" in STARTED,
    tools_available: Vec<Text<'a>> = "tools_available" in STARTED,
}

/// The number of slots for names.
const SLOTS: usize = 128;
/// The value of an unused slot.
const NOBODY: u8 = u8::MAX;

/// Returns the slot of a name, which must not be empty.
#[allow(
    clippy::indexing_slicing,
    reason = "it is not empty, and its middle lies in it"
)]
const fn slot(name: &[u8]) -> usize {
    let (first, middle, last) = (name[0], name[name.len() / 2], name[name.len() - 1]);
    (name.len() + first as usize * 5 + middle as usize + last as usize * 7) % SLOTS
}

/// The index into the table for each slot.
#[allow(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "worked out as it is built, which fails where it is wrong"
)]
const PLACES: [u8; SLOTS] = {
    let mut places = [NOBODY; SLOTS];
    let mut at = 0;
    while at < TABLE.len() {
        let slot = slot(TABLE[at].0.as_bytes());
        assert!(places[slot] == NOBODY, "two names fall on one slot");
        places[slot] = at as u8;
        at += 1;
    }
    places
};

impl Place {
    /// Consumes the name of the next field. It tries the expected name first: most producers write their fields in a
    /// fixed order.
    #[inline]
    fn next(before: usize, scan: &mut Scan<'_, '_>, order: &mut FieldOrder) -> Option<Self> {
        if let Some((_, written, place, _)) = TABLE.get(order.behind(before))
            && scan.passes(written)
        {
            return Some(*place);
        }
        let place = Self::named(scan.name()?)?;
        order.note(before, place as usize);
        Some(place)
    }

    fn named(name: &str) -> Option<Self> {
        if name.is_empty() {
            return None;
        }
        let place = *PLACES.get(slot(name.as_bytes()))?;
        let (known, _, place, _) = TABLE.get(usize::from(place))?;
        are_same(known, name).then_some(*place)
    }
}

/// The name of a type that is read here. A message of another type is given up as soon as its type is read.
#[derive(Debug)]
pub(super) struct Named(pub(super) Type, pub(super) &'static str);

impl<'a> Value<'a> for Named {
    #[inline]
    fn take(scan: &mut Scan<'a, '_>) -> Option<Self> {
        let name = scan.plain()?;
        let mut all = Type::ALL.into_iter();
        let (kind, name) = all.find(|(_, known)| are_same(known, name))?;
        Some(Self(kind, name))
    }
}

impl Type {
    /// All types with their names.
    const ALL: [(Self, &'static str); 5] = [
        (Self::Output, "aaep:agent.output.streaming"),
        (Self::State, "aaep:agent.state.changed"),
        (Self::Invoked, "aaep:agent.tool.invoked"),
        (Self::Completed, "aaep:agent.tool.completed"),
        (Self::Started, "aaep:agent.session.started"),
    ];

    /// Returns the fields that the type may have, one bit each.
    const fn fields(self) -> u64 {
        let mut fields = 0;
        let mut left = TABLE;
        while let [(_, _, place, types), rest @ ..] = left {
            if *types & self as u8 != 0 {
                fields |= 1 << *place as u8;
            }
            left = rest;
        }
        fields
    }
}

impl Fields<'_> {
    /// Returns whether every field that is present belongs to this type.
    pub(super) fn has_only_its_own(&self, kind: Type) -> bool {
        let own = match kind {
            Type::Output => const { Type::Output.fields() },
            Type::State => const { Type::State.fields() },
            Type::Invoked => const { Type::Invoked.fields() },
            Type::Completed => const { Type::Completed.fields() },
            Type::Started => const { Type::Started.fields() },
        };
        self.seen & !own == 0
    }
}
