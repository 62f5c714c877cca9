//! The twelve core event types and the unknown ones, as typed data (chapter 4).
//!
//! Values that the chapters enumerate are enums with an `Other` variant, because a subscriber must cope with
//! unknown values.

use std::borrow::Cow;
use std::sync::Arc;

use super::ids::{OutputId, ReplyToken, ToolCallId};
use super::language_tag::Variant;

/// A verbosity level of a summary (2.2.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SummaryLevel {
    /// `summary_terse`.
    Terse,
    /// `summary_normal`.
    Normal,
    /// `summary_detailed`.
    Detailed,
}

/// An event's human-readable texts at up to three levels; an empty text counts as absent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Summary {
    /// The short form.
    pub terse: Option<String>,
    /// The standard form.
    pub normal: Option<String>,
    /// The long form.
    pub detailed: Option<String>,
    /// Variants in other languages, such as `summary_normal_yo` (11.5.1): level, tag, text.
    pub variants: Vec<(SummaryLevel, String, String)>,
}

impl Summary {
    /// Returns roughly how much memory its texts take, in bytes.
    pub fn weight(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let variants: usize = self
            .variants
            .iter()
            .map(|(_, tag, text)| tag.len() + text.len())
            .sum();
        text(&self.terse) + text(&self.normal) + text(&self.detailed) + variants
    }
    /// Returns the variants of a level.
    pub fn at(&self, level: SummaryLevel) -> Vec<Variant> {
        let here = self.variants.iter().filter(|(at, ..)| *at == level);
        here.map(|(_, language, text)| Variant {
            language: language.clone(),
            text: text.clone(),
        })
        .collect()
    }
    /// Returns the text for a level; a missing one falls back first to the nearest shorter, then to the nearest longer
    /// form.
    pub fn pick(&self, level: SummaryLevel) -> Option<&str> {
        let order = match level {
            SummaryLevel::Terse => [&self.terse, &self.normal, &self.detailed],
            SummaryLevel::Normal => [&self.normal, &self.terse, &self.detailed],
            SummaryLevel::Detailed => [&self.detailed, &self.normal, &self.terse],
        };
        order.into_iter().find_map(|text| text.as_deref())
    }
}

macro_rules! open_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)+
            /// A value that the chapters don't define, as it was written.
            Other(String),
        }

        impl $name {
            /// Reads a value; an undefined one is kept as `Other`.
            pub fn parse(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)+
                    other => Self::Other(other.to_owned()),
                }
            }
            /// Returns the value as written on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }
        }
    };
}

open_enum!(
    /// What a retry would do after an error (4.1.3).
    ErrorCategory {
        /// A retry is likely to succeed.
        Transient = "transient",
        /// A retry will not help.
        Permanent = "permanent",
        /// The user must act first.
        RequiresUser = "requires_user",
        /// The producer can't tell.
        Unknown = "unknown",
    }
);
impl Default for ErrorCategory {
    /// Returns `Unknown`, the category of an error that states none.
    fn default() -> Self {
        Self::Unknown
    }
}
open_enum!(
    /// How much could go wrong (4.3.1, 4.4.1).
    RiskLevel {
        /// Little.
        Low = "low",
        /// Something.
        Medium = "medium",
        /// Much.
        High = "high",
    }
);
open_enum!(
    /// Whether an action can be undone (4.4.1).
    Reversibility {
        /// It can.
        Reversible = "reversible",
        /// It can, with effort.
        WithEffort = "reversible_with_effort",
        /// It can't.
        Irreversible = "irreversible",
    }
);
open_enum!(
    /// How a tool ended (4.3.2).
    ToolStatus {
        /// It did what it was asked to do.
        Success = "success",
        /// It failed, or was declined.
        Error = "error",
        /// It gave no result in time.
        Timeout = "timeout",
    }
);
open_enum!(
    /// A decision on a confirmation (6.3.1); a producer may allow others.
    Decision {
        /// Do it.
        Accept = "accept",
        /// Don't.
        Reject = "reject",
    }
);
open_enum!(
    /// A kind of answer to a clarification (6.5.2).
    ResponseKind {
        /// Any text.
        Freetext = "freetext",
        /// Yes or no, sent as a boolean.
        YesNo = "yes_no",
        /// One of the choices, sent as its value.
        MultipleChoice = "multiple_choice",
        /// A number.
        Numeric = "numeric",
    }
);

/// The beginning of a session (4.1.1).
#[derive(Debug, Clone, PartialEq, Default, Hash)]
pub struct SessionStarted {
    /// What the session will do.
    pub summary: Summary,
    /// How long it may take, in milliseconds.
    pub expected_duration_ms: Option<u64>,
    /// Who asked for the session.
    pub requested_by: Option<String>,
    /// The request in the user's words.
    pub request_text: Option<String>,
    /// The tools that the agent has.
    pub tools_available: Vec<String>,
}

/// A successful end (4.1.2).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionCompleted {
    /// What was accomplished.
    pub summary: Summary,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// How many tools were called.
    pub tool_invocations_count: Option<u64>,
    /// The final output, in brief.
    pub output_summary: Option<String>,
    /// The address of a richer result.
    pub result_uri: Option<String>,
}

/// An end by an error (4.1.3).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionErrored {
    /// What happened.
    pub summary: Summary,
    /// What a retry would do.
    pub category: ErrorCategory,
    /// The producer's short code.
    pub code: Option<String>,
    /// The address of help.
    pub uri: Option<String>,
    /// Whether the session could succeed if tried again.
    pub recoverable: Option<bool>,
    /// What the user can do.
    pub remediation_hint: Option<String>,
    /// The `error_message` that some producers send outside the spec.
    pub message: Option<String>,
}

/// An end before completion (4.1.4).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionCancelled {
    /// Why it was cancelled.
    pub summary: Summary,
    /// By whom: user, producer, timeout, system, or what the producer wrote.
    pub cancelled_by: Option<String>,
    /// The producer's reason code.
    pub reason: Option<String>,
    /// The result so far.
    pub partial_result: Option<String>,
}

/// A new internal state (4.2.1). Any text is a legal state.
#[derive(Debug, Clone, PartialEq, Hash, Default)]
pub struct StateChanged {
    /// The new state in words.
    pub summary: Summary,
    /// The state that is left.
    pub from_state: Cow<'static, str>,
    /// The state that is entered.
    pub to_state: Cow<'static, str>,
    /// How long it may last, in milliseconds.
    pub expected_duration_ms: Option<u64>,
}

/// Progress (4.2.2), from the spec's `progress` object or from the unofficial top-level fields.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// The progress in words.
    pub summary: Summary,
    /// Per cent, 0 to 100.
    pub percent: Option<f64>,
    /// The current step.
    pub step: Option<u64>,
    /// The number of steps.
    pub total_steps: Option<u64>,
    /// The current step in words.
    pub description: Option<String>,
    /// Time left, in milliseconds.
    pub eta_ms: Option<u64>,
}

/// The news that a tool is about to be called (4.3.1).
#[derive(Debug, Clone, PartialEq, Hash, Default)]
pub struct ToolInvoked {
    /// The tool's name.
    pub tool: String,
    /// What is being done.
    pub summary: Summary,
    /// What the tool does in general.
    pub description: Option<String>,
    /// The arguments, in brief.
    pub args_summary: Option<String>,
    /// How long it may take, in milliseconds.
    pub expected_duration_ms: Option<u64>,
    /// How much could go wrong; an absent value is never read as "low".
    pub risk_level: Option<RiskLevel>,
    /// Whether it can't be undone, by `irreversible` or by a `reversibility` to that effect.
    pub irreversible: Option<bool>,
    /// The id that pairs it with its completion.
    pub tool_call_id: Option<ToolCallId>,
}

/// The news that a tool returned (4.3.2).
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct ToolCompleted {
    /// The tool's name.
    pub tool: String,
    /// The result in words.
    pub summary: Summary,
    /// How it ended.
    pub status: ToolStatus,
    /// The id that pairs it with its invocation.
    pub tool_call_id: Option<ToolCallId>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// What went wrong; a declined tool reports it here and has no summary.
    pub error_message: Option<String>,
}

impl ToolCompleted {
    /// Creates an end that states only a status.
    pub fn of(status: ToolStatus) -> Self {
        Self {
            tool: String::new(),
            summary: Summary::default(),
            status,
            tool_call_id: None,
            duration_ms: None,
            error_message: None,
        }
    }
}

/// A chunk of user-facing output (4.3.3).
#[derive(Debug, Clone, PartialEq, Hash, Default)]
pub struct OutputStreaming {
    /// The text.
    pub chunk: String,
    /// Where the chunk begins in its output; the unit differs by producer.
    pub position: Option<u64>,
    /// Whether it is the last chunk.
    pub complete: bool,
    /// The hint on when to announce it, as the producer wrote it.
    pub coalesce_hint: Option<Cow<'static, str>>,
    /// The output that it belongs to; absent means the session's only one.
    pub output_id: Option<OutputId>,
    /// The MIME type; absent means `text/plain`.
    pub content_type: Option<Cow<'static, str>>,
    /// The language of this chunk.
    pub language: Option<Arc<str>>,
}

/// A request for consent to one action; the agent blocks until the answer arrives (4.4.1).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AwaitingConfirmation {
    /// What would be done.
    pub action: String,
    /// Whether the agent names the action; otherwise `action` is empty or taken from the summary.
    pub names_action: bool,
    /// What happens if it is done.
    pub consequence: Option<String>,
    /// The token that an answer must echo; without one the question can't be answered.
    pub reply_token: Option<ReplyToken>,
    /// The seconds until the default is applied.
    pub timeout_seconds: Option<u64>,
    /// The decision that is then applied.
    pub default_decision: Option<Decision>,
    /// The question in words.
    pub summary: Summary,
    /// How much could go wrong; an absent value is never read as "low".
    pub risk_level: Option<RiskLevel>,
    /// Whether the action can be undone.
    pub reversibility: Option<Reversibility>,
    /// The unofficial `irreversible`; it counts as much as `reversibility`.
    pub irreversible: Option<bool>,
    /// The decisions that the producer accepts; if empty, accept and reject.
    pub allowed_replies: Vec<Decision>,
    /// Further context, as pairs of name and text.
    pub extra_context: Vec<(String, String)>,
    /// The call that it guards, if the producer names it.
    pub tool_call_id: Option<ToolCallId>,
    /// The tool that it guards, if the producer names it.
    pub tool: Option<String>,
    /// The action in other languages, until one is picked (11.5.1).
    pub actions: Vec<Variant>,
    /// The consequence in other languages, until one is picked.
    pub consequences: Vec<Variant>,
    /// The language of the consequence, if it differs from the action's.
    pub consequence_in: Option<String>,
    /// The language of the detailed summary, if it differs from the action's.
    pub why_in: Option<String>,
    /// The language of the further context, if it differs from the action's.
    pub more_in: Option<String>,
}

impl AwaitingConfirmation {
    /// Returns whether the producer accepts a decision; if it lists none, it accepts accept and reject (6.3.4).
    pub fn accepts(&self, decision: &Decision) -> bool {
        match decision {
            Decision::Accept | Decision::Reject if self.allowed_replies.is_empty() => true,
            Decision::Accept | Decision::Reject | Decision::Other(_) => {
                self.allowed_replies.contains(decision)
            }
        }
    }

    /// Returns the decisions besides accept and reject that the producer accepts, in its order.
    pub fn further_decisions(&self) -> impl Iterator<Item = &Decision> {
        self.allowed_replies
            .iter()
            .filter(|decision| matches!(decision, Decision::Other(_)))
    }

    /// Returns whether either field says that the action can't be undone.
    pub fn is_irreversible(&self) -> bool {
        self.undoing() == UndoStatement::Irreversible
    }

    /// Reads both fields together: the worse one counts, and a value that is not understood gives
    /// [`UndoStatement::Unknown`].
    pub fn undoing(&self) -> UndoStatement {
        match (&self.reversibility, self.irreversible) {
            (_, Some(true)) | (Some(Reversibility::Irreversible), _) => UndoStatement::Irreversible,
            (Some(Reversibility::Other(_)), _) | (None, None) => UndoStatement::Unknown,
            (Some(Reversibility::WithEffort), _) => UndoStatement::WithEffort,
            (Some(Reversibility::Reversible), _) | (None, Some(false)) => UndoStatement::Reversible,
        }
    }
}

/// Whether an action can be undone, read from two fields of its question: the single reading that the words,
/// the second step, rules and programs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoStatement {
    /// It can be undone.
    Reversible,
    /// It can be undone with effort.
    WithEffort,
    /// It can't be undone.
    Irreversible,
    /// The producer says nothing that is understood: this is never taken for harmless.
    Unknown,
}

/// One choice of a clarification (4.4.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The value that is sent.
    pub value: String,
    /// The label that is announced.
    pub label: String,
    /// The label in other languages, until one is picked (11.5.1).
    pub labels: Vec<Variant>,
    /// The language of the label, if it differs from the question's.
    pub label_in: Option<String>,
}

impl Choice {
    /// Creates a choice with a label in the question's language.
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            label: label.into(),
            labels: Vec::new(),
            label_in: None,
        }
    }
}

/// A request for information; the agent blocks until the answer arrives (4.4.2).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AwaitingClarification {
    /// The question.
    pub question: String,
    /// The token that an answer must echo; without one the question can't be answered.
    pub reply_token: Option<ReplyToken>,
    /// The seconds until the producer continues without an answer.
    pub timeout_seconds: Option<u64>,
    /// The question in words.
    pub summary: Summary,
    /// The kinds of answer that the producer accepts; derived from the choices if absent.
    pub accepted_response_kinds: Vec<ResponseKind>,
    /// The choices, from the spec's `choices` or the unofficial `options`.
    pub choices: Vec<Choice>,
    /// Whether several of them may be chosen (the unofficial `multi_select`).
    pub takes_several: bool,
    /// Why the question is asked.
    pub context: Option<String>,
    /// What the producer assumes if there is no answer.
    pub default_response: Option<String>,
    /// The question in other languages, until one is picked (11.5.1).
    pub questions: Vec<Variant>,
    /// The context in other languages, until one is picked.
    pub contexts: Vec<Variant>,
    /// The language of the context, if it differs from the question's.
    pub why_in: Option<String>,
}

/// A request that somebody else take over (4.4.3).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HandoffRequested {
    /// Why the agent hands over.
    pub reason: String,
    /// To whom: human, specialist_agent, escalation_queue, or what the producer wrote.
    pub target_kind: Option<String>,
    /// The handoff in words.
    pub summary: Summary,
    /// The exact address of the target.
    pub target_uri: Option<String>,
    /// What the target is told, as pairs of name and text.
    pub packaged_context: Vec<(String, String)>,
    /// How urgent the handoff is.
    pub urgency: Option<String>,
}

/// An event of an unknown type (3.2.2, 7.4.1).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnknownEvent {
    /// Its texts; `summary_normal` is spoken if present.
    pub summary: Summary,
    /// Whether it carries a reply token: then the agent waits, and we never answer by ourselves.
    pub asks: bool,
}

/// One event, decoded.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// `agent.session.started`
    SessionStarted(SessionStarted),
    /// `agent.session.completed`
    SessionCompleted(SessionCompleted),
    /// `agent.session.errored`
    SessionErrored(SessionErrored),
    /// `agent.session.cancelled`
    SessionCancelled(SessionCancelled),
    /// `agent.state.changed`
    StateChanged(StateChanged),
    /// `agent.progress.updated`
    Progress(Progress),
    /// `agent.tool.invoked`
    ToolInvoked(ToolInvoked),
    /// `agent.tool.completed`
    ToolCompleted(ToolCompleted),
    /// `agent.output.streaming`
    OutputStreaming(OutputStreaming),
    /// `agent.awaiting.confirmation`
    AwaitingConfirmation(Box<AwaitingConfirmation>),
    /// `agent.awaiting.clarification`
    AwaitingClarification(Box<AwaitingClarification>),
    /// `agent.handoff.requested`
    HandoffRequested(HandoffRequested),
    /// Any other type.
    Unknown(UnknownEvent),
}

impl Event {
    /// Returns the event's texts for people; `None` for a chunk of output, which has none.
    pub fn summary(&self) -> Option<&Summary> {
        Some(match self {
            Self::SessionStarted(started) => &started.summary,
            Self::SessionCompleted(completed) => &completed.summary,
            Self::SessionErrored(errored) => &errored.summary,
            Self::SessionCancelled(cancelled) => &cancelled.summary,
            Self::StateChanged(changed) => &changed.summary,
            Self::Progress(progress) => &progress.summary,
            Self::ToolInvoked(invoked) => &invoked.summary,
            Self::ToolCompleted(completed) => &completed.summary,
            Self::OutputStreaming(_) => return None,
            Self::AwaitingConfirmation(asked) => &asked.summary,
            Self::AwaitingClarification(asked) => &asked.summary,
            Self::HandoffRequested(handoff) => &handoff.summary,
            Self::Unknown(unknown) => &unknown.summary,
        })
    }

    /// Returns the token of the question that the event asks, if it asks one and names one.
    pub fn reply_token(&self) -> Option<&ReplyToken> {
        match self {
            Self::AwaitingConfirmation(asked) => asked.reply_token.as_ref(),
            Self::AwaitingClarification(asked) => asked.reply_token.as_ref(),
            Self::SessionStarted(_)
            | Self::SessionCompleted(_)
            | Self::SessionErrored(_)
            | Self::SessionCancelled(_)
            | Self::StateChanged(_)
            | Self::Progress(_)
            | Self::ToolInvoked(_)
            | Self::ToolCompleted(_)
            | Self::OutputStreaming(_)
            | Self::HandoffRequested(_)
            | Self::Unknown(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_falls_back_in_both_directions() {
        let only = |terse: &str, normal: &str, detailed: &str| Summary {
            terse: (!terse.is_empty()).then(|| terse.to_owned()),
            normal: (!normal.is_empty()).then(|| normal.to_owned()),
            detailed: (!detailed.is_empty()).then(|| detailed.to_owned()),
            variants: vec![],
        };
        assert_eq!(only("t", "n", "d").pick(SummaryLevel::Normal), Some("n"));
        assert_eq!(only("t", "", "d").pick(SummaryLevel::Normal), Some("t"));
        assert_eq!(only("", "", "d").pick(SummaryLevel::Terse), Some("d"));
        assert_eq!(only("t", "", "").pick(SummaryLevel::Detailed), Some("t"));
        assert_eq!(only("", "", "").pick(SummaryLevel::Detailed), None);
    }
}
