//! The faults of a message, precisely enough to act on.
//!
//! Responsibilities: the list of rules that one message can break, and the collector that keeps the findings within
//! bounds. Not here: the checks themselves (`event_check`, `field_rules`), and rules that need more than one message
//! (`session`).

use std::fmt;

use super::problem::Problem;

/// How bad a [`Finding`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A remark: an unofficial spelling that is accepted, or something to know.
    Note,
    /// A SHOULD, or a MUST outside the nine steps and the schemas, is not met.
    Warning,
    /// Validation by 3.9 fails, or a schema or a rule of order is broken.
    Error,
}

impl Severity {
    /// Returns the grade's name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Builds the list of rules, each with its name, severity and meaning, so that no rule lacks one.
macro_rules! rules {
    ($($case:ident = $name:literal, $severity:ident, $about:literal);+ $(;)?) => {
        /// A rule that one message alone can break.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $(#[doc = $about] $case),+ }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            /// Returns the rule's name for reports, its words joined by `_`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$case => $name),+ }
            }

            /// Returns how bad a breach of the rule is.
            pub fn severity(self) -> Severity {
                match self { $(Self::$case => Severity::$severity),+ }
            }

            /// Returns a sentence that describes a breach of the rule.
            pub fn about(self) -> &'static str {
                match self { $(Self::$case => $about),+ }
            }
        }
    };
}

rules! {
    Missing = "missing", Error, "A required field is missing.";
    Null = "null", Error, "A field is null where it should have a value or be left out.";
    Empty = "empty", Error, "A required text is empty.";
    WrongType = "wrong_type", Error, "A field has the wrong kind of JSON value.";
    UndefinedValue = "undefined_value", Error, "A field has a value that the chapters do not define.";
    BadForm = "bad_form", Error, "A text does not have the form of its field.";
    OutOfRange = "out_of_range", Error, "A number is too small or too large for its field.";
    TooLong = "too_long", Error, "A text is too long for its schema.";
    TooFew = "too_few", Error, "A list has too few entries.";
    TooMany = "too_many", Error, "A list has too many entries.";
    RepeatedEntry = "repeated_entry", Error, "A list holds an entry twice.";
    UnexpectedField = "unexpected_field", Error, "An object holds a field that its schema does not allow.";
    BadContext = "bad_context", Error, "@context does not name the core context, or not first.";
    UnknownCoreType = "unknown_core_type", Error, "The type is in AAEP's namespace but is not one of the twelve.";
    UndeclaredType = "undeclared_type", Error, "The type is an extension's, and @context declares no extension.";
    NotCritical = "not_critical", Error, "The event must be critical and is not.";
    UnsafeDefault = "unsafe_default", Error, "Silence would accept something irreversible of medium or high risk.";
    RiskyDefault = "risky_default", Warning, "Silence would accept something irreversible, or of high risk.";
    ForbiddenField = "forbidden_field", Warning, "A field at the top of the event belongs in extensions.";
    ReservedField = "reserved_field", Warning, "A field has a reserved name.";
    ReservedPrefix = "reserved_prefix", Warning, "An extension uses a reserved prefix.";
    UndeclaredPrefix = "undeclared_prefix", Warning, "An extension is used, and @context declares none.";
    NoLanguage = "no_language", Warning, "The event has text for a person, and states no language.";
    BareLargeNumber = "bare_large_number", Warning, "A whole number beyond 2^53 is not written as a string.";
    NoNumber = "no_number", Error, "A field is NaN or Infinity; it is read as absent.";
    RawControl = "raw_control", Error, "A text holds an unescaped control character; it is read anyway.";
    LoneSurrogate = "lone_surrogate", Warning, "A text holds half of a character; it is replaced.";
    RepeatedName = "repeated_name", Warning, "A JSON object holds a name twice; the last one counts.";
    NoUri = "no_uri", Warning, "A field that should hold a URI holds none.";
    EmptyText = "empty_text", Warning, "An optional text is there but empty.";
    Placeholder = "placeholder", Warning, "The timestamp is a placeholder.";
    FullType = "full_type", Warning, "The type is a full URI; the compact form is preferred.";
    BeyondLimit = "beyond_limit", Warning, "The event is larger, deeper or longer than recommended.";
    NoChoices = "no_choices", Warning, "One of several choices is asked for, and there are none.";
    StepBeyondTotal = "step_beyond_total", Warning, "The current step is beyond the number of steps.";
    PossibleSecret = "possible_secret", Warning, "The arguments may hold a secret.";
    NotStated = "not_stated", Note, "The event was translated, and its protocol does not state the field.";
    OtherSpelling = "other_spelling", Note, "The chapters do not name the field for this type; it is read anyway.";
    UnknownType = "unknown_type", Note, "The type is an extension's that hearken does not know.";
    UnsurePrefix = "unsure_prefix", Note, "No context names the extension's prefix; one of them may define it.";
    UnknownVersion = "unknown_version", Note, "hearken does not know the claimed version as published.";
    Shortened = "shortened", Note, "Part of the field is left out when it is read.";
    CustomReply = "custom_reply", Note, "A decision other than accept and reject is allowed.";
    NoReject = "no_reject", Note, "The question can't be rejected by an answer.";
    NoReason = "no_reason", Note, "A tool failed, and no error_message says why.";
    MoreFindings = "more_findings", Note, "More is wrong with the event than is listed.";
}

/// One fault in one field of one message. It never carries the field's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The broken rule.
    pub rule: Rule,
    /// How bad it is: the rule's severity.
    pub severity: Severity,
    /// The field, dotted from the top of the message; empty for the message as a whole. Names from the wire are
    /// shortened, and invisible characters in them are escaped.
    pub field: String,
    /// What was wrong.
    pub problem: Problem,
    /// The section of AAEP that defines it.
    pub section: &'static str,
    /// Which of the nine steps of 3.9 found it, from 1.
    pub step: u8,
}

/// For developers, in a failing test; people read the finding in their own language.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = self.problem.name();
        write!(
            f,
            "{}: {} {problem} (section {})",
            self.severity, self.field, self.section
        )
    }
}

/// The most findings of one message that are kept: a real message has a handful, a hostile one could have
/// millions, one per field.
const MOST_FINDINGS: usize = 64;

/// The most characters of a name from the wire that a finding shows.
const LONGEST_FIELD: usize = 64;

/// The findings of one message, collected step by step.
#[derive(Debug)]
pub(super) struct Findings {
    list: Vec<Finding>,
    step: u8,
    more: usize,
}

impl Findings {
    pub(super) fn new() -> Self {
        Self {
            list: Vec::new(),
            step: 1,
            more: 0,
        }
    }

    /// Sets the step of 3.9 that the next findings belong to.
    pub(super) fn step(&mut self, step: u8) {
        self.step = step;
    }

    pub(super) fn find(
        &mut self,
        rule: Rule,
        section: &'static str,
        field: &str,
        problem: Problem,
    ) {
        if self.list.len() >= MOST_FINDINGS {
            self.more += 1;
            return;
        }
        self.list.push(Finding {
            rule,
            severity: rule.severity(),
            field: shown(field),
            problem,
            section,
            step: self.step,
        });
    }

    /// Returns whether a field broke a rule.
    pub(super) fn has(&self, rule: Rule, field: &str) -> bool {
        let mut list = self.list.iter();
        list.any(|found| found.rule == rule && found.field == field)
    }

    /// Changes the rule of some findings.
    pub(super) fn restate(
        &mut self,
        which: impl Fn(&Finding) -> bool,
        rule: Rule,
        problem: &Problem,
    ) {
        for finding in self.list.iter_mut().filter(|finding| which(finding)) {
            finding.rule = rule;
            finding.severity = rule.severity();
            finding.problem = problem.clone();
        }
    }

    pub(super) fn into_list(mut self) -> Vec<Finding> {
        if self.more > 0 {
            let problem = Problem::More { count: self.more };
            self.list.push(Finding {
                rule: Rule::MoreFindings,
                severity: Rule::MoreFindings.severity(),
                field: String::new(),
                problem,
                section: "3.9",
                step: self.step,
            });
        }
        self.list
    }
}

/// Returns a field's name fit for display: short, on one line, and without invisible characters.
fn shown(field: &str) -> String {
    let is_plain = |c: char| c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric();
    let mut out = String::with_capacity(field.len().min(LONGEST_FIELD));
    for (count, c) in field.chars().enumerate() {
        if count == LONGEST_FIELD {
            out.push('…');
            break;
        }
        if is_plain(c) {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_the_wire_are_shown_safely() {
        assert_eq!(shown("producer.agent_id"), "producer.agent_id");
        assert_eq!(shown("a\u{1b}[2J\u{202e}"), "a\\u{1b}[2J\\u{202e}");
        assert_eq!(shown(&"x".repeat(100)).chars().count(), LONGEST_FIELD + 1);
    }

    #[test]
    fn what_is_not_listed_is_counted() {
        let mut findings = Findings::new();
        for _ in 0..100 {
            findings.find(Rule::ForbiddenField, "3.5", "x", Problem::NotAllowedHere);
        }
        let list = findings.into_list();
        assert_eq!(list.len(), MOST_FINDINGS + 1);
        let last = list.last().map(|finding| &finding.problem);
        assert_eq!(last, Some(&Problem::More { count: 36 }));
    }

    #[test]
    fn names_of_rules_are_distinct() {
        let names: std::collections::BTreeSet<&str> =
            Rule::ALL.iter().map(|rule| rule.name()).collect();
        assert_eq!(names.len(), Rule::ALL.len());
    }
}
