//! The payload of each core type (chapter 4), with the spellings of real producers.
//!
//! Responsibilities: turning values into types, leniently. Not here: what is wrong with them (`schema`,
//! `event_check`).

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::event::*;
use super::fields::{Fields, plain};
use super::finding::Findings;
use super::ids::{OutputId, ReplyToken, ToolCallId};
use super::language_tag::Variant;
use super::schema::CoreType;
use super::variants::{QuestionText, variants};

/// The most allowed replies that are kept, as many as the schema allows; more is a finding
/// (`schema`).
const MOST_REPLIES: usize = 32;

/// Reads the payload of an event.
pub(super) fn payload(
    core: Option<&CoreType>,
    map: &Map<String, Value>,
    findings: &mut Findings,
) -> Event {
    let section = core.map_or("7.4.1", |core| core.section);
    let mut fields = Fields::new(map, "", section, findings);
    let fields = &mut fields;
    match core.map(|core| core.name) {
        Some("agent.session.started") => Event::SessionStarted(SessionStarted {
            summary: fields.summary(),
            expected_duration_ms: fields.integer("expected_duration_ms"),
            requested_by: fields.text("requested_by"),
            request_text: fields.text("request_text"),
            tools_available: fields.texts("tools_available"),
        }),
        Some("agent.session.completed") => Event::SessionCompleted(SessionCompleted {
            summary: fields.summary(),
            duration_ms: fields.integer("duration_ms"),
            tool_invocations_count: fields.integer("tool_invocations_count"),
            output_summary: fields.text("output_summary"),
            result_uri: fields.text("result_uri"),
        }),
        Some("agent.session.errored") => Event::SessionErrored(errored(fields)),
        Some("agent.session.cancelled") => Event::SessionCancelled(SessionCancelled {
            summary: fields.summary(),
            cancelled_by: fields.text("cancelled_by"),
            reason: fields.text("cancellation_reason"),
            partial_result: fields.text("partial_result"),
        }),
        Some("agent.state.changed") => Event::StateChanged(StateChanged {
            summary: fields.summary(),
            from_state: fields.name("from_state").unwrap_or_default().into(),
            to_state: fields.name("to_state").unwrap_or_default().into(),
            expected_duration_ms: fields.integer("expected_duration_ms"),
        }),
        Some("agent.progress.updated") => Event::Progress(progress(fields)),
        Some("agent.tool.invoked") => Event::ToolInvoked(tool_invoked(fields)),
        Some("agent.tool.completed") => Event::ToolCompleted(tool_completed(fields)),
        Some("agent.output.streaming") => Event::OutputStreaming(output(fields)),
        Some("agent.awaiting.confirmation") => {
            Event::AwaitingConfirmation(Box::new(confirmation(fields)))
        }
        Some("agent.awaiting.clarification") => {
            Event::AwaitingClarification(Box::new(clarification(fields)))
        }
        Some("agent.handoff.requested") => Event::HandoffRequested(handoff(fields)),
        _ => Event::Unknown(UnknownEvent {
            summary: fields.summary(),
            asks: fields.has("reply_token"),
        }),
    }
}

/// Returns whether either field says that an action can't be undone.
pub(super) fn reads_as_irreversible(map: &Map<String, Value>) -> bool {
    let stated = matches!(map.get("irreversible"), Some(Value::Bool(true)))
        || map.get("irreversible").and_then(Value::as_str) == Some("true");
    stated || map.get("reversibility").and_then(Value::as_str) == Some("irreversible")
}

fn errored(fields: &mut Fields<'_, '_>) -> SessionErrored {
    let category = fields
        .text("error_category")
        .map(|text| ErrorCategory::parse(&text));
    SessionErrored {
        summary: fields.summary(),
        category: category.unwrap_or(ErrorCategory::Unknown),
        code: fields.text("error_code"),
        uri: fields.text("error_uri"),
        recoverable: fields.boolean("recoverable"),
        remediation_hint: fields.text("remediation_hint"),
        message: fields.text("error_message"),
    }
}

fn progress(fields: &mut Fields<'_, '_>) -> Progress {
    let summary = fields.summary();
    let eta_ms = fields
        .integer("eta_ms")
        .or_else(|| fields.integer("estimated_remaining_ms"));
    let wild_percent = fields.number("progress_percent");
    let wild_message = fields.text("progress_message");
    let mut read = Progress {
        summary,
        percent: None,
        step: None,
        total_steps: None,
        description: None,
        eta_ms,
    };
    if let Some(map) = fields.object("progress") {
        let mut none = Findings::new();
        let mut inner = Fields::new(map, "progress", "4.2.2", &mut none);
        read.percent = inner.number("percent");
        read.step = inner.integer("step");
        read.total_steps = inner.integer("total_steps");
        read.description = inner.text("description");
    }
    read.percent = read
        .percent
        .or(wild_percent)
        .map(|percent| percent.clamp(0.0, 100.0));
    read.description = read.description.or(wild_message);
    read
}

fn risk(fields: &mut Fields<'_, '_>) -> Option<RiskLevel> {
    fields
        .text("risk_level")
        .map(|text| RiskLevel::parse(&text))
}

fn reversibility(fields: &mut Fields<'_, '_>) -> Option<Reversibility> {
    fields
        .text("reversibility")
        .map(|text| Reversibility::parse(&text))
}

fn tool_invoked(fields: &mut Fields<'_, '_>) -> ToolInvoked {
    let stated = fields.boolean("irreversible");
    let irreversible = match (stated, reversibility(fields)) {
        (Some(true), _) | (_, Some(Reversibility::Irreversible)) => Some(true),
        (stated, _) => stated,
    };
    ToolInvoked {
        tool: fields.name("tool").unwrap_or_default(),
        summary: fields.summary(),
        description: fields.text("description"),
        args_summary: fields.text("args_summary"),
        expected_duration_ms: fields.integer("expected_duration_ms"),
        risk_level: risk(fields),
        irreversible,
        tool_call_id: fields.name("tool_call_id").map(ToolCallId::from),
    }
}

fn tool_completed(fields: &mut Fields<'_, '_>) -> ToolCompleted {
    let status = fields.text("status").map(|text| ToolStatus::parse(&text));
    ToolCompleted {
        tool: fields.name("tool").unwrap_or_default(),
        summary: fields.summary(),
        // A missing status must not be announced as a success.
        status: status.unwrap_or_else(|| ToolStatus::Other(String::new())),
        tool_call_id: fields.name("tool_call_id").map(ToolCallId::from),
        duration_ms: fields.integer("duration_ms"),
        error_message: fields.text("error_message"),
    }
}

fn output(fields: &mut Fields<'_, '_>) -> OutputStreaming {
    OutputStreaming {
        chunk: fields.text("chunk").unwrap_or_default(),
        position: fields.integer("position"),
        complete: fields.boolean("complete").unwrap_or(false),
        coalesce_hint: fields.text("coalesce_hint").map(Cow::Owned),
        output_id: fields.name("output_id").map(OutputId::from),
        content_type: fields.text("content_type").map(Cow::Owned),
        language: fields.text("language").map(Arc::from),
    }
}

/// The longest believed timeout of a question, in seconds: a year.
pub(super) const LONGEST_TIMEOUT: u64 = 31_536_000;

fn timeout(fields: &mut Fields<'_, '_>) -> Option<u64> {
    fields
        .integer("timeout_seconds")
        .map(|seconds| seconds.min(LONGEST_TIMEOUT))
}

fn confirmation(fields: &mut Fields<'_, '_>) -> AwaitingConfirmation {
    let summary = fields.summary();
    let action = fields.text("action");
    AwaitingConfirmation {
        names_action: action
            .as_deref()
            .is_some_and(|text| !text.trim().is_empty()),
        // Without an action, the summary is the best text there is; the finding stays.
        action: action
            .or_else(|| summary.pick(SummaryLevel::Normal).map(str::to_owned))
            .unwrap_or_default(),
        consequence: fields.text("consequence"),
        reply_token: fields.text("reply_token").map(ReplyToken::new),
        timeout_seconds: timeout(fields),
        default_decision: fields
            .text("default_decision")
            .map(|text| Decision::parse(&text)),
        risk_level: risk(fields),
        reversibility: reversibility(fields),
        irreversible: fields.boolean("irreversible"),
        allowed_replies: fields
            .texts("allowed_replies")
            .iter()
            .take(MOST_REPLIES)
            .map(|text| Decision::parse(text))
            .collect(),
        extra_context: fields.context("extra_context"),
        tool_call_id: fields.name("tool_call_id").map(ToolCallId::from),
        tool: fields.name("tool"),
        actions: match fields.has("action") {
            true => fields.variants(QuestionText::Action),
            false => summary.at(SummaryLevel::Normal),
        },
        consequences: fields.variants(QuestionText::Consequence),
        consequence_in: None,
        why_in: None,
        more_in: None,
        summary,
    }
}

fn clarification(fields: &mut Fields<'_, '_>) -> AwaitingClarification {
    let mut choices = choices(fields, "choices");
    if choices.is_empty() {
        choices = self::choices(fields, "options");
    }
    let mut kinds: Vec<ResponseKind> = fields
        .texts("accepted_response_kinds")
        .iter()
        .map(|text| ResponseKind::parse(text))
        .collect();
    let free = fields.boolean("free_form_allowed");
    if kinds.is_empty() {
        if !choices.is_empty() {
            kinds.push(ResponseKind::MultipleChoice);
        }
        if choices.is_empty() || free == Some(true) {
            kinds.push(ResponseKind::Freetext);
        }
    }
    AwaitingClarification {
        question: fields.text("question").unwrap_or_default(),
        reply_token: fields.text("reply_token").map(ReplyToken::new),
        timeout_seconds: timeout(fields),
        summary: fields.summary(),
        accepted_response_kinds: kinds,
        choices,
        takes_several: fields.boolean("multi_select") == Some(true),
        context: fields.text("context"),
        default_response: fields.text("default_response"),
        questions: fields.variants(QuestionText::Question),
        contexts: fields.variants(QuestionText::Context),
        why_in: None,
    }
}

fn choices(fields: &mut Fields<'_, '_>, name: &str) -> Vec<Choice> {
    let entries = fields.array(name).unwrap_or_default();
    let mut choices: Vec<Choice> = entries.iter().filter_map(choice).collect();
    // The variants of plain texts are in a list of the same length.
    if choices.len() == entries.len() {
        for (language, labels) in fields.lists(name, choices.len()) {
            for (choice, text) in choices.iter_mut().zip(labels) {
                let language = language.clone();
                choice.labels.push(Variant { language, text });
            }
        }
    }
    choices
}

/// Reads one choice, an object or a plain value.
fn choice(value: &Value) -> Option<Choice> {
    match value {
        Value::String(text) => Some(Choice {
            value: text.clone(),
            label: text.clone(),
            labels: Vec::new(),
            label_in: None,
        }),
        Value::Object(map) => {
            let first = |names: &[&str]| {
                names
                    .iter()
                    .find_map(|name| map.get(*name))
                    .map(plain)
                    .filter(|text| !text.is_empty())
            };
            let label = first(&["label", "title", "text", "name", "description"]);
            let value = first(&["value", "id", "key"]).or_else(|| label.clone());
            value.map(|value| Choice {
                label: label.unwrap_or_else(|| value.clone()),
                labels: variants(map, "label"),
                label_in: None,
                value,
            })
        }
        Value::Number(_) | Value::Bool(_) => Some(Choice {
            value: plain(value),
            label: plain(value),
            labels: Vec::new(),
            label_in: None,
        }),
        Value::Null | Value::Array(_) => None,
    }
}

fn handoff(fields: &mut Fields<'_, '_>) -> HandoffRequested {
    let mut packaged_context = fields.context("packaged_context");
    if let Some(context) = fields.text("context_summary") {
        packaged_context.push(("summary".to_owned(), context));
    }
    HandoffRequested {
        reason: fields.text("reason").unwrap_or_default(),
        target_kind: fields
            .text("target_kind")
            .or_else(|| fields.text("handoff_target")),
        summary: fields.summary(),
        target_uri: fields.text("target_uri"),
        packaged_context,
        urgency: fields.text("urgency_for_handoff"),
    }
}
