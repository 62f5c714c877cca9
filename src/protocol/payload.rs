//! The payload of each core type (chapter 4), with the spellings of real producers: step 7 of 3.9.

use serde_json::{Map, Value};

use super::event::*;
use super::fields::{Fields, plain};
use super::finding::{Finding, Severity};
use super::ids::{OutputId, ReplyToken, ToolCallId};

/// Every core type with its payload fields (chapter 4) and, after a `~`, the spellings of real
/// producers that we read too.
pub(super) const CORE: [(&str, &str); 12] = [
    (
        "agent.session.started",
        "expected_duration_ms requested_by request_text tools_available",
    ),
    (
        "agent.session.completed",
        "duration_ms tool_invocations_count output_summary result_uri",
    ),
    (
        "agent.session.errored",
        "error_category error_code error_uri recoverable remediation_hint ~error_message",
    ),
    (
        "agent.session.cancelled",
        "cancelled_by cancellation_reason partial_result",
    ),
    (
        "agent.state.changed",
        "from_state to_state expected_duration_ms",
    ),
    (
        "agent.progress.updated",
        "progress eta_ms ~progress_percent ~progress_message ~estimated_remaining_ms",
    ),
    (
        "agent.tool.invoked",
        "tool description args_summary expected_duration_ms risk_level irreversible tool_call_id ~reversibility",
    ),
    (
        "agent.tool.completed",
        "tool status tool_call_id duration_ms error_message",
    ),
    (
        "agent.output.streaming",
        "chunk position complete coalesce_hint output_id content_type language",
    ),
    (
        "agent.awaiting.confirmation",
        "action consequence reply_token timeout_seconds default_decision risk_level reversibility allowed_replies extra_context ~irreversible ~tool ~tool_call_id",
    ),
    (
        "agent.awaiting.clarification",
        "question reply_token timeout_seconds accepted_response_kinds choices context default_response ~options ~multi_select ~free_form_allowed",
    ),
    (
        "agent.handoff.requested",
        "reason target_kind target_uri packaged_context urgency_for_handoff ~handoff_target ~context_summary",
    ),
];

pub(super) fn payload(
    local: Option<&str>,
    map: &Map<String, Value>,
    findings: &mut Vec<Finding>,
) -> Event {
    let section = match local {
        Some("agent.session.started") => "4.1.1",
        Some("agent.session.completed") => "4.1.2",
        Some("agent.session.errored") => "4.1.3",
        Some("agent.session.cancelled") => "4.1.4",
        Some("agent.state.changed") => "4.2.1",
        Some("agent.progress.updated") => "4.2.2",
        Some("agent.tool.invoked") => "4.3.1",
        Some("agent.tool.completed") => "4.3.2",
        Some("agent.output.streaming") => "4.3.3",
        Some("agent.awaiting.confirmation") => "4.4.1",
        Some("agent.awaiting.clarification") => "4.4.2",
        Some("agent.handoff.requested") => "4.4.3",
        _ => "7.4.1",
    };
    let mut fields = Fields::new(map, "", section, findings);
    let fields = &mut fields;
    match section {
        "4.1.1" => Event::SessionStarted(SessionStarted {
            summary: fields.summary(true),
            expected_duration_ms: fields.integer("expected_duration_ms"),
            requested_by: fields.text("requested_by"),
            request_text: fields.text("request_text"),
            tools_available: fields.texts("tools_available"),
        }),
        "4.1.2" => Event::SessionCompleted(SessionCompleted {
            summary: fields.summary(true),
            duration_ms: fields.integer("duration_ms"),
            tool_invocations_count: fields.integer("tool_invocations_count"),
            output_summary: fields.text("output_summary"),
            result_uri: fields.text("result_uri"),
        }),
        "4.1.3" => Event::SessionErrored(errored(fields)),
        "4.1.4" => Event::SessionCancelled(SessionCancelled {
            summary: fields.summary(true),
            cancelled_by: fields.required_text("cancelled_by"),
            reason: fields.text("cancellation_reason"),
            partial_result: fields.text("partial_result"),
        }),
        "4.2.1" => Event::StateChanged(StateChanged {
            summary: fields.summary(false),
            from_state: fields.required_name("from_state").unwrap_or_default(),
            to_state: fields.required_name("to_state").unwrap_or_default(),
            expected_duration_ms: fields.integer("expected_duration_ms"),
        }),
        "4.2.2" => Event::Progress(progress(fields)),
        "4.3.1" => Event::ToolInvoked(tool_invoked(fields)),
        "4.3.2" => Event::ToolCompleted(tool_completed(fields)),
        "4.3.3" => Event::OutputStreaming(output(fields)),
        "4.4.1" => Event::AwaitingConfirmation(confirmation(fields)),
        "4.4.2" => Event::AwaitingClarification(clarification(fields)),
        "4.4.3" => Event::HandoffRequested(handoff(fields)),
        _ => Event::Unknown(UnknownEvent {
            summary: fields.summary(false),
            asks: fields.has("reply_token"),
        }),
    }
}

/// Notes a value that the chapters don't list.
fn note_other<T>(
    fields: &mut Fields<'_>,
    name: &str,
    value: Option<&T>,
    is_other: impl Fn(&T) -> bool,
) {
    if value.is_some_and(is_other) {
        fields.find(Severity::Error, name, "has a value that is not defined");
    }
}

fn errored(fields: &mut Fields<'_>) -> SessionErrored {
    let category = fields
        .required_text("error_category")
        .map(|text| ErrorCategory::parse(&text));
    note_other(fields, "error_category", category.as_ref(), |value| {
        matches!(value, ErrorCategory::Other(_))
    });
    SessionErrored {
        summary: fields.summary(true),
        category: category.unwrap_or(ErrorCategory::Unknown),
        code: fields.text("error_code"),
        uri: fields.text("error_uri"),
        recoverable: fields.boolean("recoverable"),
        remediation_hint: fields.text("remediation_hint"),
        message: fields.text("error_message"),
    }
}

fn progress(fields: &mut Fields<'_>) -> Progress {
    let summary = fields.summary(false);
    let eta_ms = fields
        .integer("eta_ms")
        .or_else(|| fields.integer("estimated_remaining_ms"));
    let wild_percent = fields.number("progress_percent");
    let wild_message = fields.text("progress_message");
    let Some(map) = fields.object("progress") else {
        if wild_percent.is_none() && wild_message.is_none() {
            fields.find(Severity::Error, "progress", "is missing");
        }
        return Progress {
            summary,
            percent: wild_percent,
            description: wild_message,
            eta_ms,
            step: None,
            total_steps: None,
        };
    };
    let mut found = Vec::new();
    let mut inner = Fields::new(map, "progress", "4.2.2", &mut found);
    let mut read = Progress {
        summary,
        percent: inner.number("percent"),
        step: inner.integer("step"),
        total_steps: inner.integer("total_steps"),
        description: inner.text("description").or(wild_message),
        eta_ms,
    };
    if read
        .percent
        .is_some_and(|percent| !(0.0..=100.0).contains(&percent))
    {
        inner.find(Severity::Error, "percent", "must be 0 to 100");
    }
    let empty = read.percent.is_none()
        && read.step.is_none()
        && read.total_steps.is_none()
        && read.description.is_none();
    for finding in found {
        fields.find(finding.severity, &finding.field, finding.problem);
    }
    if empty {
        fields.find(
            Severity::Error,
            "progress",
            "must hold percent, step, total_steps or description",
        );
    }
    read.percent = read
        .percent
        .or(wild_percent)
        .map(|percent| percent.clamp(0.0, 100.0));
    read
}

fn risk(fields: &mut Fields<'_>) -> Option<RiskLevel> {
    let risk = fields
        .text("risk_level")
        .map(|text| RiskLevel::parse(&text));
    note_other(fields, "risk_level", risk.as_ref(), |value| {
        matches!(value, RiskLevel::Other(_))
    });
    risk
}

fn reversibility(fields: &mut Fields<'_>) -> Option<Reversibility> {
    let value = fields
        .text("reversibility")
        .map(|text| Reversibility::parse(&text));
    note_other(fields, "reversibility", value.as_ref(), |value| {
        matches!(value, Reversibility::Other(_))
    });
    value
}

fn tool_invoked(fields: &mut Fields<'_>) -> ToolInvoked {
    let stated = fields.boolean("irreversible");
    let irreversible = match (stated, reversibility(fields)) {
        (Some(true), _) | (_, Some(Reversibility::Irreversible)) => Some(true),
        (stated, _) => stated,
    };
    ToolInvoked {
        tool: fields.required_name("tool").unwrap_or_default(),
        summary: fields.summary(true),
        description: fields.text("description"),
        args_summary: fields.text("args_summary"),
        expected_duration_ms: fields.integer("expected_duration_ms"),
        risk_level: risk(fields),
        irreversible,
        tool_call_id: fields.name("tool_call_id").map(ToolCallId),
    }
}

fn tool_completed(fields: &mut Fields<'_>) -> ToolCompleted {
    let status = fields
        .required_text("status")
        .map(|text| ToolStatus::parse(&text));
    note_other(fields, "status", status.as_ref(), |value| {
        matches!(value, ToolStatus::Other(_))
    });
    ToolCompleted {
        tool: fields.required_name("tool").unwrap_or_default(),
        summary: fields.summary(false),
        // A missing status must not be heard as a success.
        status: status.unwrap_or_else(|| ToolStatus::Other(String::new())),
        tool_call_id: fields.name("tool_call_id").map(ToolCallId),
        duration_ms: fields.integer("duration_ms"),
        error_message: fields.text("error_message"),
    }
}

fn output(fields: &mut Fields<'_>) -> OutputStreaming {
    // An empty chunk is legal with `complete`, so presence is checked apart from emptiness.
    if !fields.has("chunk") {
        fields.find(Severity::Error, "chunk", "is missing");
    }
    let position = fields.integer("position");
    if !fields.has("position") {
        fields.find(Severity::Error, "position", "is missing");
    }
    let complete = fields.boolean("complete");
    if !fields.has("complete") {
        fields.find(Severity::Error, "complete", "is missing");
    }
    let hint = fields.text("coalesce_hint");
    if hint.as_deref().is_some_and(|hint| {
        !["none", "word", "sentence", "paragraph", "completion"].contains(&hint)
    }) {
        fields.find(
            Severity::Error,
            "coalesce_hint",
            "has a value that is not defined",
        );
    }
    OutputStreaming {
        chunk: fields.text("chunk").unwrap_or_default(),
        position,
        complete: complete.unwrap_or(false),
        coalesce_hint: hint,
        output_id: fields.name("output_id").map(OutputId),
        content_type: fields.text("content_type"),
        language: fields.text("language"),
    }
}

fn token(fields: &mut Fields<'_>) -> Option<ReplyToken> {
    let token = fields.required_text("reply_token").map(ReplyToken::new);
    if token.as_ref().is_some_and(|token| !token.is_well_formed()) {
        fields.find(
            Severity::Error,
            "reply_token",
            "must be rpl_ and 1 to 64 letters or digits (6.2.1)",
        );
    }
    token
}

/// The longest time that a question is believed to wait, in seconds: a year.
const LONGEST_TIMEOUT: u64 = 31_536_000;

fn timeout(fields: &mut Fields<'_>) -> Option<u64> {
    if !fields.has("timeout_seconds") {
        fields.find(Severity::Error, "timeout_seconds", "is missing");
    }
    let seconds = fields.integer("timeout_seconds");
    if seconds.is_some_and(|seconds| seconds > LONGEST_TIMEOUT) {
        fields.find(
            Severity::Warning,
            "timeout_seconds",
            "is longer than a year and is taken for one",
        );
    }
    seconds.map(|seconds| seconds.min(LONGEST_TIMEOUT))
}

fn confirmation(fields: &mut Fields<'_>) -> AwaitingConfirmation {
    let default_decision = fields
        .required_text("default_decision")
        .map(|text| Decision::parse(&text));
    note_other(
        fields,
        "default_decision",
        default_decision.as_ref(),
        |value| matches!(value, Decision::Other(_)),
    );
    let consequence = fields.required_text("consequence");
    let action = fields.required_text("action");
    let summary = fields.summary(false);
    let question = AwaitingConfirmation {
        // Without an action the summary is the best that can be told; the finding stays.
        action: action
            .or_else(|| summary.pick(Level::Normal).map(str::to_owned))
            .unwrap_or_default(),
        consequence,
        reply_token: token(fields),
        timeout_seconds: timeout(fields),
        default_decision,
        risk_level: risk(fields),
        reversibility: reversibility(fields),
        irreversible: fields.boolean("irreversible"),
        allowed_replies: fields
            .texts("allowed_replies")
            .iter()
            .map(|text| Decision::parse(text))
            .collect(),
        extra_context: fields.context("extra_context"),
        tool_call_id: fields.name("tool_call_id").map(ToolCallId),
        tool: fields.name("tool"),
        summary,
    };
    if question.default_decision == Some(Decision::Accept)
        && question.is_irreversible()
        && matches!(
            question.risk_level,
            Some(RiskLevel::High | RiskLevel::Medium)
        )
    {
        fields.find(
            Severity::Error,
            "default_decision",
            "must be reject for an irreversible action of this risk (6.4.1)",
        );
    }
    question
}

fn clarification(fields: &mut Fields<'_>) -> AwaitingClarification {
    let mut choices = choices(fields, "choices");
    if choices.is_empty() {
        choices = self::choices(fields, "options");
    }
    let mut kinds: Vec<ResponseKind> = fields
        .texts("accepted_response_kinds")
        .iter()
        .map(|text| ResponseKind::parse(text))
        .collect();
    if kinds
        .iter()
        .any(|kind| matches!(kind, ResponseKind::Other(_)))
    {
        fields.find(
            Severity::Error,
            "accepted_response_kinds",
            "has a value that is not defined",
        );
    }
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
        question: fields.required_text("question").unwrap_or_default(),
        reply_token: token(fields),
        timeout_seconds: timeout(fields),
        summary: fields.summary(false),
        accepted_response_kinds: kinds,
        choices,
        context: fields.text("context"),
        default_response: fields.text("default_response"),
    }
}

fn choices(fields: &mut Fields<'_>, name: &str) -> Vec<Choice> {
    let mut choices = Vec::new();
    for value in fields.array(name).unwrap_or_default() {
        let choice = match value {
            Value::String(text) => Some(Choice {
                value: text.clone(),
                label: text.clone(),
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
                    value,
                })
            }
            Value::Number(_) | Value::Bool(_) => Some(Choice {
                value: plain(value),
                label: plain(value),
            }),
            Value::Null | Value::Array(_) => None,
        };
        match choice {
            Some(choice) => choices.push(choice),
            None => fields.find(Severity::Error, name, "holds an entry without a value"),
        }
    }
    choices
}

fn handoff(fields: &mut Fields<'_>) -> HandoffRequested {
    let target_kind = fields
        .text("target_kind")
        .or_else(|| fields.text("handoff_target"));
    if !fields.has("target_kind") {
        fields.find(Severity::Error, "target_kind", "is missing");
    }
    let mut packaged_context = fields.context("packaged_context");
    if let Some(context) = fields.text("context_summary") {
        packaged_context.push(("summary".to_owned(), context));
    }
    HandoffRequested {
        reason: fields.required_text("reason").unwrap_or_default(),
        target_kind,
        summary: fields.summary(false),
        target_uri: fields.text("target_uri"),
        packaged_context,
        urgency: fields.text("urgency_for_handoff"),
    }
}
