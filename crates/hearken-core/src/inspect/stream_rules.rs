//! The rules about lines and about the end of a stream; the rules about single events and their order are in
//! `protocol` and `session`.

use crate::dialect::ForeignFormat;
use crate::protocol::{JsonKind, Severity};

use super::report_wording::Wording;

/// Builds the list of rules, each with its name, section, severity and meaning.
macro_rules! rules {
    ($($case:ident = $name:literal, $section:literal, $severity:ident, $about:literal);+ $(;)?) => {
        /// What is wrong with a line, or open at the end of a stream.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum StreamRule { $(#[doc = $about] $case),+ }

        impl StreamRule {
            /// Every rule.
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            /// Returns the rule's name for reports, its words joined by `_`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$case => $name),+ }
            }

            /// Returns the section of AAEP that defines it.
            pub fn section(self) -> &'static str {
                match self { $(Self::$case => $section),+ }
            }

            /// Returns how bad a breach of the rule is.
            pub fn severity(self) -> Severity {
                match self { $(Self::$case => Severity::$severity),+ }
            }

            /// Returns a sentence that describes the rule.
            pub fn about(self) -> &'static str {
                match self { $(Self::$case => $about),+ }
            }
        }
    };
}

rules! {
    NotJson = "not_json", "3.8", Error, "A line is not JSON.";
    Several = "several", "3.8", Error, "A line holds several events, or a list of them; each is read.";
    TooDeep = "too_deep", "3.7", Error, "A line is nested too deeply to be read.";
    TooLong = "too_long_line", "3.7", Error, "A line is longer than hearken reads.";
    NotAaep = "not_aaep", "3.2", Error, "A line is not AAEP; the first of each kind is written, the rest counted.";
    Departs = "departs", "", Warning, "A message departs from the rules of its own protocol; the field names which.";
    NoType = "no_type", "3.2.2", Error, "An object names no type.";
    NotUtf8 = "not_utf8", "3.8", Error, "A line is not UTF-8; what can't be read is replaced.";
    NotAnEvent = "not_an_event", "5", Note, "A line is a message of the handshake, or a reply to no open question; it is left alone.";
    Duplicate = "duplicate", "3.2.3", Note, "An event came twice, word for word; the second is left alone.";
    Held = "held", "3.4.1", Note, "An event came before its turn, and was put in order.";
    BeforeAsking = "invoked_before_asking", "4.3.1", Error, "An irreversible tool is invoked before anybody was asked.";
    PositionGap = "position_gap", "4.3.3", Warning, "A chunk begins after the end of the one before: at least as much text is missing as the field says.";
    CountDiffers = "count_differs", "4.1.2", Warning, "A complete session ends with a count of tool calls that is wrong.";
    ToolNotListed = "tool_not_listed", "4.1.1", Warning, "A called tool is not among the available ones of the session's start.";
    StartMissing = "start_missing", "4.1.1", Warning, "A session has no start; the capture may have begun later.";
    EndMissing = "end_missing", "4.5.1", Warning, "A session has no end; the capture may have ended before.";
    ToolOpen = "tool_open", "A.3", Warning, "A tool has not returned at the end of the stream.";
    QuestionOpen = "question_open", "6.1", Warning, "A question is not decided at the end of the stream.";
    OutputOpen = "output_open", "4.5.4", Warning, "An output has no last chunk at the end of the stream.";
}

impl StreamRule {
    /// Returns whether the fault may hide an event.
    pub(super) fn hides_an_event(self) -> bool {
        matches!(
            self,
            Self::NotJson | Self::TooDeep | Self::TooLong | Self::NotUtf8 | Self::NoType
        )
    }
}

/// What is wrong with a line, or open at the end of a stream, as data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// A rule without further data.
    Rule(StreamRule),
    /// A line contains this many texts.
    Several(u64),
    /// A line stops being JSON at a column.
    NotJson {
        /// The column, from 1.
        column: usize,
        /// Whether it is valid JSON up to its end but ends too early.
        cut: bool,
    },
    /// A line belongs to another protocol, or to none.
    Foreign(ForeignFormat),
    /// A line is JSON of this kind, but not an object.
    NoObject(KindName),
    /// A session's end states a different number of tool calls from the one seen.
    CountDiffers {
        /// The stated number.
        stated: u64,
        /// The number of calls that were seen.
        seen: u64,
    },
}

/// The name of a kind of JSON value.
pub type KindName = &'static str;

impl Fact {
    /// Returns the fact that a line is a JSON value but not an object.
    pub(super) fn no_object(kind: JsonKind) -> Self {
        Self::NoObject(kind.name())
    }

    /// Returns the rule that it breaks.
    pub fn rule(&self) -> StreamRule {
        match self {
            Self::Rule(rule) => *rule,
            Self::Several(_) => StreamRule::Several,
            Self::NotJson { .. } => StreamRule::NotJson,
            Self::Foreign(_) | Self::NoObject(_) => StreamRule::NotAaep,
            Self::CountDiffers { .. } => StreamRule::CountDiffers,
        }
    }

    /// Returns it in words; the name is safe to show.
    pub(super) fn words(&self, name: &str, wording: &dyn Wording) -> String {
        let text = |key: &str, args: &[(&str, String)]| wording.text(key, args);
        match self {
            // The name is a key for programs; people get its meaning.
            Self::Rule(StreamRule::Departs) => {
                let what = text(&format!("check.departs.{name}"), &[]);
                text("check.departs", &[("name", what)])
            }
            Self::Rule(rule) => text(
                &format!("check.{}", rule.name()),
                &[("name", name.to_owned())],
            ),
            Self::Several(n) => text("check.several", &[("n", n.to_string())]),
            Self::NotJson { column, cut } => {
                let key = if *cut {
                    "check.not_json_cut"
                } else {
                    "check.not_json"
                };
                text(key, &[("column", column.to_string())])
            }
            Self::Foreign(what) => {
                let what = text(what.phrase(), &[]);
                text("check.foreign", &[("what", what)])
            }
            Self::NoObject(kind) => {
                let kind = text(&format!("finding.kind.{kind}"), &[]);
                text("check.no_object", &[("kind", kind)])
            }
            Self::CountDiffers { stated, seen } => {
                let numbers = [("stated", stated.to_string()), ("seen", seen.to_string())];
                text("check.count_differs", &numbers)
            }
        }
    }
}
