//! The possible problems of a field, as data.
//!
//! Responsibilities: the list of possible problems, each with its name and its data. Not here: the words, which depend
//! on the person's language (`announce`), and how bad a problem is (`finding`).

use serde_json::Value;

use super::text_forms::TextForm;

/// A kind of JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// Null.
    Null,
    /// True or false.
    Boolean,
    /// Any number.
    Number,
    /// A number without a fraction.
    WholeNumber,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
    /// A string, or an array of them.
    StringOrStrings,
    /// Several objects.
    Objects,
    /// Several strings.
    Strings,
}

impl JsonKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::Null,
        Self::Boolean,
        Self::Number,
        Self::WholeNumber,
        Self::String,
        Self::Array,
        Self::Object,
        Self::StringOrStrings,
        Self::Objects,
        Self::Strings,
    ];

    /// Returns the kind of a value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// Returns the kind's name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::WholeNumber => "whole_number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
            Self::StringOrStrings => "string_or_strings",
            Self::Objects => "objects",
            Self::Strings => "strings",
        }
    }
}

/// One piece of data of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Datum<'a> {
    /// A number, or the prefix that a name must have.
    Plain(String),
    /// A kind of value.
    Kind(JsonKind),
    /// A form.
    Form(TextForm),
    /// One of these words.
    OneOf(&'a [&'static str]),
}

/// Builds the list of problems: those that their name describes fully, and those with data.
macro_rules! problems {
    (
        alone { $($plain:ident = $plain_name:literal;)+ }
        with { $($about:ident { $($field:ident: $type:ty),+ } = $name:literal;)+ }
    ) => {
        /// What is wrong with a field. It never carries the field's value.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[allow(missing_docs, reason = "their words stand in the phrase files, under their names")]
        pub enum Problem { $($plain,)+ $($about { $($field: $type),+ },)+ }

        impl Problem {
            /// The names of all problems.
            pub const NAMES: &'static [&'static str] = &[$($plain_name,)+ $($name),+];

            /// Returns its name, which is the key of its words.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$plain => $plain_name,)+ $(Self::$about { .. } => $name),+ }
            }

            /// Returns its data, by the names of the placeholders in its words.
            pub fn about(&self) -> Vec<(&'static str, Datum<'_>)> {
                match self {
                    $(Self::$plain)|+ => Vec::new(),
                    $(Self::$about { $($field),+ } => {
                        vec![$((stringify!($field), Datum::from($field))),+]
                    })+
                }
            }
        }
    };
}

impl From<&JsonKind> for Datum<'_> {
    fn from(kind: &JsonKind) -> Self {
        Self::Kind(*kind)
    }
}

impl From<&TextForm> for Datum<'_> {
    fn from(form: &TextForm) -> Self {
        Self::Form(*form)
    }
}

impl<'a> From<&&'a [&'static str]> for Datum<'a> {
    fn from(words: &&'a [&'static str]) -> Self {
        Self::OneOf(words)
    }
}

impl From<&&str> for Datum<'_> {
    fn from(text: &&str) -> Self {
        Self::Plain((*text).to_owned())
    }
}

impl From<&String> for Datum<'_> {
    fn from(text: &String) -> Self {
        Self::Plain(text.clone())
    }
}

impl From<&usize> for Datum<'_> {
    fn from(number: &usize) -> Self {
        Self::Plain(number.to_string())
    }
}

impl From<&u64> for Datum<'_> {
    fn from(number: &u64) -> Self {
        Self::Plain(number.to_string())
    }
}

problems! {
    alone {
    Missing = "missing";
    NotAllowedHere = "not_allowed_here";
    Empty = "empty";
    ThereAndEmpty = "there_and_empty";
    NoUri = "no_uri";
    NotWhole = "not_whole";
    WholeInText = "whole_in_text";
    BareLarge = "bare_large";
    EntryTwice = "entry_twice";
    LooksSecret = "looks_secret";
    NoReason = "no_reason";
    MustReject = "must_reject";
    ShouldReject = "should_reject";
    ShouldRejectUnknown = "should_reject_unknown";
    OtherDecision = "other_decision";
    NoReject = "no_reject";
    ChoicesNeeded = "choices_needed";
    EmptyProgress = "empty_progress";
    BeyondTotal = "beyond_total";
    NoNumber = "no_number";
    RawControl = "raw_control";
    HalfCharacter = "half_character";
    NameTwice = "name_twice";
    OtherContext = "other_context";
    ContextNotFirst = "context_not_first";
    StringsOnly = "strings_only";
    FullUri = "full_uri";
    NoCoreType = "no_core_type";
    NoTypeForm = "no_type_form";
    UndeclaredExtension = "undeclared_extension";
    UnknownExtension = "unknown_extension";
    NoTime = "no_time";
    FractionDigits = "fraction_digits";
    Placeholder = "placeholder";
    MustBeCritical = "must_be_critical";
    OtherSpelling = "other_spelling";
    ReservedName = "reserved_name";
    NotAtTop = "not_at_top";
    NoLanguage = "no_language";
    NoNamespace = "no_namespace";
    ReservedPrefix = "reserved_prefix";
    NotDeclared = "not_declared";
    UnsurePrefix = "unsure_prefix";
    EventTooLarge = "event_too_large";
    ManyEnvelopeFields = "many_envelope_fields";
    NestedDeep = "nested_deep";
    LongText = "long_text";
    ManyLanguages = "many_languages";
    LongerThanYear = "longer_than_year";
    UnknownVersion = "unknown_version";
    NotStated = "not_stated";
    }
    with {
    Null { wanted: JsonKind } = "null";
    NullOrAbsent { wanted: JsonKind } = "null_or_absent";
    WrongKind { wanted: JsonKind, found: JsonKind } = "wrong_kind";
    WrongEntries { wanted: JsonKind, found: JsonKind } = "wrong_entries";
    Range { least: String, most: String } = "range";
    AtLeast { least: u64 } = "at_least";
    LongerThan { most: usize } = "longer_than";
    FewEntries { least: usize } = "few_entries";
    ManyEntries { most: usize } = "many_entries";
    BadForm { form: TextForm } = "bad_form";
    OneOf { words: &'static [&'static str] } = "one_of";
    BadId { prefix: &'static str } = "bad_id";
    NameShortened { most: usize } = "name_shortened";
    EntriesLeftOut { most: usize } = "entries_left_out";
    FieldsLeftOut { most: usize } = "fields_left_out";
    More { count: usize } = "more";
    }
}
