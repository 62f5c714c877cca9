//! What the demo's agents do, defined in JSON Lines.
//!
//! Responsibilities: the format of `assets/demo/NAME.jsonl` and its parsed form. Not here: parsing it
//! (`scenario_reader`), the files themselves (`catalogue`) and playing them (`performance`).
//!
//! # The format
//! One JSON object per line; blank lines are skipped. The first line is the header:
//!
//! | key | meaning |
//! |---|---|
//! | `scenario` | the name, as in the file's name |
//! | `title`, `description` | for people: a few words; one or two sentences |
//! | `format` | where this page is; not read by the program |
//! | `language` | the language of every text, BCP 47 |
//! | `keywords` | lower-case words of a request that ask for this scenario |
//! | `agents` | the cast: a list of `producer` objects (chapter 3.2.6); each agent has a session of its own |
//!
//! Every other line is a step of one agent:
//!
//! | key | meaning |
//! |---|---|
//! | `agent` | the agent whose step it is, by `agent_id`; absent means the first agent |
//! | `after_ms` | the time since the agent's previous step (or answer); absent means 0 |
//! | `on` | the step is taken only if the agent's latest question ended that way; see below; absent means always |
//! | `event` | an event's payload, `type` included, without envelope fields |
//! | `ask` | a confirmation or clarification; the agent stops here until it is answered or timed out |
//! | `say` | a whole streamed output; see below |
//!
//! `say` is `{"output":LABEL,"tokens":{"per_second":60,"lines":[…]}}` or
//! `{"output":LABEL,"sentences":{"every_ms":700,"texts":[…]}}`, with `content_type` if it is not plain text.
//!
//! A line has exactly one of `event`, `ask` and `say`. `on` is one of these words or a list of them: a decision that
//! the question allows (`accept`, `reject`), `answer` (a clarification was answered), `answer=VALUE` (with that
//! choice), `timeout` (no answer came).
//!
//! Agents run side by side; within an agent, the order of the lines is the order of the events. The server fills in the
//! envelope, `urgency` if the line has none, `localization_hints` if there is text, `reply_token`, `position`, and, if
//! known, `duration_ms` and `tool_invocations_count`. `tool_call_id` and `output_id` are labels that pair lines with
//! each other; the wire carries ids generated for them. In texts, `{answer}` is replaced by the latest answer, in
//! words.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::producer::{QuestionOutcome, QuestionTerms, Template};

/// What a person is told about a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioInfo {
    /// The name that selects it.
    pub name: String,
    /// What it shows, in a few words.
    pub title: String,
    /// What happens in it, in a sentence or two.
    pub description: String,
}

/// The whole content of a scenario, validated.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub(super) info: ScenarioInfo,
    pub(super) language: String,
    pub(super) keywords: Vec<String>,
    pub(super) cast: Vec<Role>,
}

/// One agent and its steps.
#[derive(Debug, Clone)]
pub(super) struct Role {
    /// The `producer` object of its events.
    pub(super) producer: Map<String, Value>,
    pub(super) beats: Vec<Beat>,
}

/// One future event.
#[derive(Debug, Clone)]
pub(super) struct Beat {
    pub(super) after: Duration,
    /// Empty means always.
    pub(super) on: Vec<EndLabel>,
    pub(super) act: BeatAct,
}

/// What an agent does at a beat.
#[derive(Debug, Clone)]
pub(super) enum BeatAct {
    Emit(Template),
    Ask {
        template: Template,
        asked: QuestionTerms,
        timeout: Duration,
    },
}

/// A way in which a question can end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EndLabel {
    Decided(String),
    Answered,
    Chose(String),
    TimedOut,
}

/// The line of a scenario that can't be used, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ScenarioError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl BeatAct {
    pub(super) fn template(&self) -> &Template {
        match self {
            BeatAct::Emit(template) | BeatAct::Ask { template, .. } => template,
        }
    }
}

impl EndLabel {
    /// Returns whether the label matches the outcome of a question.
    pub(super) fn fits(&self, outcome: &QuestionOutcome) -> bool {
        match (self, outcome) {
            (EndLabel::Decided(label), QuestionOutcome::Decided(decision)) => label == decision,
            (EndLabel::Answered, QuestionOutcome::Answered { .. })
            | (EndLabel::TimedOut, QuestionOutcome::TimedOut { .. }) => true,
            (EndLabel::Chose(label), QuestionOutcome::Answered { chose, .. }) => {
                chose.as_ref() == Some(label)
            }
            (
                EndLabel::Decided(_),
                QuestionOutcome::Answered { .. } | QuestionOutcome::TimedOut { .. },
            )
            | (
                EndLabel::Answered | EndLabel::Chose(_),
                QuestionOutcome::Decided(_) | QuestionOutcome::TimedOut { .. },
            )
            | (
                EndLabel::TimedOut,
                QuestionOutcome::Decided(_) | QuestionOutcome::Answered { .. },
            ) => false,
        }
    }
}

impl Scenario {
    /// Returns the name, the title and the description.
    pub fn info(&self) -> &ScenarioInfo {
        &self.info
    }
}
