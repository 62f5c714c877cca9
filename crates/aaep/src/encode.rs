//! From an [`Event`] with its [`Envelope`] to the text of one message: the inverse of `decode`.
//!
//! Responsibilities: every field of the twelve types, under the names of chapters 3 and 4. Not here: judging what is
//! written (`event_check`), replies (`reply`), and messages of the handshake (`handshake`).
//!
//! # Mental model
//! Every event is read back unchanged: `decode(encode(event)) == event`, as long as a decoder could have
//! returned it. Four things are lost: the language that was picked for a question (`variants`), empty texts,
//! the names of an [`Unknown`](Event::Unknown) event's own fields, and the parts of an attachment that exceed
//! its bounds.

use serde_json::{Map, Number, Value, json};

use super::envelope::{Envelope, Localization, Producer, Urgency};
use super::event::*;
use super::language_tag::{TextDirection, Variant};
use super::translated_events::OWN_CONTEXT;
use super::version::CORE_CONTEXT;

/// Returns the text of an event: one JSON object on one line, with the fields of chapters 3 and 4.
pub fn encode(envelope: &Envelope, event: &Event) -> String {
    let mut fields = OrderedFields::default();
    write_envelope(&mut fields, envelope, event);
    write_payload(&mut fields, event);
    Value::Object(fields.0).to_string()
}

impl Event {
    /// Returns the type's name on the wire, such as `aaep:agent.tool.invoked`; `None` for an unknown type, which only
    /// the envelope names.
    pub fn type_name(&self) -> Option<&'static str> {
        Some(match self {
            Self::SessionStarted(_) => "aaep:agent.session.started",
            Self::SessionCompleted(_) => "aaep:agent.session.completed",
            Self::SessionErrored(_) => "aaep:agent.session.errored",
            Self::SessionCancelled(_) => "aaep:agent.session.cancelled",
            Self::StateChanged(_) => "aaep:agent.state.changed",
            Self::Progress(_) => "aaep:agent.progress.updated",
            Self::ToolInvoked(_) => "aaep:agent.tool.invoked",
            Self::ToolCompleted(_) => "aaep:agent.tool.completed",
            Self::OutputStreaming(_) => "aaep:agent.output.streaming",
            Self::AwaitingConfirmation(_) => "aaep:agent.awaiting.confirmation",
            Self::AwaitingClarification(_) => "aaep:agent.awaiting.clarification",
            Self::HandoffRequested(_) => "aaep:agent.handoff.requested",
            Self::Unknown(_) => return None,
        })
    }
}

/// The fields of an object, in the order in which they are written. An absent or empty value is left out, because it
/// states nothing.
#[derive(Default)]
struct OrderedFields(Map<String, Value>);

impl OrderedFields {
    fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    fn text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.put(name, text);
        }
    }

    fn optional(&mut self, name: &str, text: Option<&str>) {
        self.text(name, text.unwrap_or_default());
    }

    fn number(&mut self, name: &str, number: Option<u64>) {
        if let Some(number) = number {
            self.put(name, number);
        }
    }

    fn flag(&mut self, name: &str, flag: Option<bool>) {
        if let Some(flag) = flag {
            self.put(name, flag);
        }
    }

    fn list<'a>(&mut self, name: &str, texts: impl IntoIterator<Item = &'a str>) {
        let texts: Vec<&str> = texts.into_iter().collect();
        if !texts.is_empty() {
            self.put(name, texts);
        }
    }

    fn object(&mut self, name: &str, object: Map<String, Value>) {
        if !object.is_empty() {
            self.put(name, object);
        }
    }

    fn pairs(&mut self, name: &str, pairs: &[(String, String)]) {
        let pairs = pairs.iter();
        let pairs = pairs.map(|(key, text)| (key.clone(), Value::from(text.as_str())));
        self.object(name, pairs.collect());
    }

    /// Writes a text's variants, each under the field's name and its language (11.5.1).
    fn variants(&mut self, field: &str, variants: &[Variant]) {
        for variant in variants {
            self.text(&format!("{field}_{}", variant.language), &variant.text);
        }
    }

    fn summary(&mut self, summary: &Summary) {
        let levels = [
            (SummaryLevel::Terse, "summary_terse", &summary.terse),
            (SummaryLevel::Normal, "summary_normal", &summary.normal),
            (
                SummaryLevel::Detailed,
                "summary_detailed",
                &summary.detailed,
            ),
        ];
        for (_, name, text) in &levels {
            self.optional(name, text.as_deref());
        }
        for (level, language, text) in &summary.variants {
            let field = levels.iter().find(|(at, ..)| at == level);
            if let Some((_, name, _)) = field {
                self.text(&format!("{name}_{language}"), text);
            }
        }
    }
}

fn write_envelope(fields: &mut OrderedFields, envelope: &Envelope, event: &Event) {
    let mut extensions = match &envelope.extensions {
        Some(extensions) => Map::clone(extensions),
        None => Map::new(),
    };
    let attached = envelope.attached.write();
    if !attached.is_empty() {
        let own = extensions.entry("hearken").or_insert_with(|| json!({}));
        if let Some(own) = own.as_object_mut() {
            own.extend(attached);
        }
    }
    match extensions.contains_key("hearken") {
        true => fields.put("@context", vec![CORE_CONTEXT, OWN_CONTEXT]),
        false => fields.put("@context", CORE_CONTEXT),
    }
    let type_name = event.type_name().unwrap_or(&envelope.type_name);
    fields.text("type", type_name);
    fields.optional("event_id", envelope.event_id.as_ref().map(|id| id.as_str()));
    fields.text("session_id", envelope.session_id.as_str());
    if let Some(at) = envelope.timestamp {
        // Milliseconds are the usual precision (3.2.5); a finer one is kept.
        let is_usual = at.subsec_nanosecond() % 1_000_000 == 0;
        fields.put(
            "timestamp",
            match is_usual {
                true => format!("{at:.3}"),
                false => at.to_string(),
            },
        );
    }
    fields.object("producer", producer(&envelope.producer));
    fields.optional("aaep_version", envelope.aaep_version.as_deref());
    fields.number("sequence_number", envelope.sequence_number);
    fields.object("localization_hints", localization(&envelope.localization));
    fields.object("extensions", extensions);
    match envelope.urgency {
        Urgency::Background => fields.put("urgency", "background"),
        Urgency::Normal => {}
        Urgency::Critical => fields.put("urgency", "critical"),
    }
    match envelope.verbosity {
        Some(SummaryLevel::Terse) => fields.put("verbosity", "terse"),
        Some(SummaryLevel::Normal) => fields.put("verbosity", "normal"),
        Some(SummaryLevel::Detailed) => fields.put("verbosity", "detailed"),
        None => {}
    }
    fields.optional("correlation_id", envelope.correlation_id.as_deref());
}

fn producer(producer: &Producer) -> Map<String, Value> {
    let mut fields = OrderedFields::default();
    fields.text("agent_id", producer.agent_id.as_str());
    fields.optional("agent_name", producer.agent_name.as_deref());
    fields.optional("agent_version", producer.agent_version.as_deref());
    fields.optional("model", producer.model.as_deref());
    fields.optional("manifest_uri", producer.manifest_uri.as_deref());
    fields.0
}

fn localization(hints: &Localization) -> Map<String, Value> {
    let mut fields = OrderedFields::default();
    fields.optional("primary_language", hints.primary_language.as_deref());
    match hints.text_direction {
        Some(TextDirection::Ltr) => fields.put("text_direction", "ltr"),
        Some(TextDirection::Rtl) => fields.put("text_direction", "rtl"),
        Some(TextDirection::Auto) => fields.put("text_direction", "auto"),
        None => {}
    }
    fields.list(
        "available_languages",
        hints.available_languages.iter().map(String::as_str),
    );
    fields.list(
        "fallback_chain",
        hints.fallback_chain.iter().map(String::as_str),
    );
    fields.optional("script", hints.script.as_deref());
    fields.optional("calendar", hints.calendar.as_deref());
    fields.0
}

fn write_payload(fields: &mut OrderedFields, event: &Event) {
    match event {
        Event::SessionStarted(started) => {
            fields.summary(&started.summary);
            fields.number("expected_duration_ms", started.expected_duration_ms);
            fields.optional("requested_by", started.requested_by.as_deref());
            fields.optional("request_text", started.request_text.as_deref());
            fields.list(
                "tools_available",
                started.tools_available.iter().map(String::as_str),
            );
        }
        Event::SessionCompleted(completed) => {
            fields.summary(&completed.summary);
            fields.number("duration_ms", completed.duration_ms);
            fields.number("tool_invocations_count", completed.tool_invocations_count);
            fields.optional("output_summary", completed.output_summary.as_deref());
            fields.optional("result_uri", completed.result_uri.as_deref());
        }
        Event::SessionErrored(errored) => {
            fields.summary(&errored.summary);
            fields.text("error_category", errored.category.as_str());
            fields.optional("error_code", errored.code.as_deref());
            fields.optional("error_uri", errored.uri.as_deref());
            fields.flag("recoverable", errored.recoverable);
            fields.optional("remediation_hint", errored.remediation_hint.as_deref());
            fields.optional("error_message", errored.message.as_deref());
        }
        Event::SessionCancelled(cancelled) => {
            fields.summary(&cancelled.summary);
            fields.optional("cancelled_by", cancelled.cancelled_by.as_deref());
            fields.optional("cancellation_reason", cancelled.reason.as_deref());
            fields.optional("partial_result", cancelled.partial_result.as_deref());
        }
        Event::StateChanged(changed) => {
            fields.summary(&changed.summary);
            fields.text("from_state", &changed.from_state);
            fields.text("to_state", &changed.to_state);
            fields.number("expected_duration_ms", changed.expected_duration_ms);
        }
        Event::Progress(progress) => {
            fields.summary(&progress.summary);
            let mut inner = OrderedFields::default();
            // A number that JSON can't express states nothing.
            if let Some(percent) = progress.percent.and_then(Number::from_f64) {
                inner.put("percent", percent);
            }
            inner.number("step", progress.step);
            inner.number("total_steps", progress.total_steps);
            inner.optional("description", progress.description.as_deref());
            fields.object("progress", inner.0);
            fields.number("eta_ms", progress.eta_ms);
        }
        Event::ToolInvoked(invoked) => {
            fields.text("tool", &invoked.tool);
            fields.optional(
                "tool_call_id",
                invoked.tool_call_id.as_ref().map(|id| id.as_str()),
            );
            fields.summary(&invoked.summary);
            fields.optional("description", invoked.description.as_deref());
            fields.optional("args_summary", invoked.args_summary.as_deref());
            fields.number("expected_duration_ms", invoked.expected_duration_ms);
            fields.optional(
                "risk_level",
                invoked.risk_level.as_ref().map(RiskLevel::as_str),
            );
            fields.flag("irreversible", invoked.irreversible);
        }
        Event::ToolCompleted(completed) => {
            fields.summary(&completed.summary);
            fields.text("tool", &completed.tool);
            fields.optional(
                "tool_call_id",
                completed.tool_call_id.as_ref().map(|id| id.as_str()),
            );
            fields.text("status", completed.status.as_str());
            fields.optional("error_message", completed.error_message.as_deref());
            fields.number("duration_ms", completed.duration_ms);
        }
        Event::OutputStreaming(output) => {
            // A chunk may be empty, or consist of spaces only.
            fields.put("chunk", output.chunk.as_str());
            fields.number("position", output.position);
            fields.put("complete", output.complete);
            fields.optional("output_id", output.output_id.as_ref().map(|id| id.as_str()));
            fields.optional("content_type", output.content_type.as_deref());
            fields.optional("coalesce_hint", output.coalesce_hint.as_deref());
            fields.optional("language", output.language.as_deref());
        }
        Event::AwaitingConfirmation(asked) => write_confirmation(fields, asked),
        Event::AwaitingClarification(asked) => write_clarification(fields, asked),
        Event::HandoffRequested(handoff) => {
            fields.summary(&handoff.summary);
            fields.text("reason", &handoff.reason);
            fields.optional("target_kind", handoff.target_kind.as_deref());
            fields.optional("target_uri", handoff.target_uri.as_deref());
            fields.optional("urgency_for_handoff", handoff.urgency.as_deref());
            fields.pairs("packaged_context", &handoff.packaged_context);
        }
        Event::Unknown(unknown) => fields.summary(&unknown.summary),
    }
}

fn write_confirmation(fields: &mut OrderedFields, asked: &AwaitingConfirmation) {
    // Without an action of its own, the question's action was read from the summary.
    if asked.names_action {
        fields.text("action", &asked.action);
        fields.variants("action", &asked.actions);
    }
    fields.optional("tool", asked.tool.as_deref());
    fields.optional(
        "tool_call_id",
        asked.tool_call_id.as_ref().map(|id| id.as_str()),
    );
    fields.optional(
        "reply_token",
        asked.reply_token.as_ref().map(|token| token.reveal()),
    );
    fields.list(
        "allowed_replies",
        asked.allowed_replies.iter().map(Decision::as_str),
    );
    fields.summary(&asked.summary);
    fields.optional("consequence", asked.consequence.as_deref());
    fields.variants("consequence", &asked.consequences);
    fields.number("timeout_seconds", asked.timeout_seconds);
    fields.optional(
        "default_decision",
        asked.default_decision.as_ref().map(Decision::as_str),
    );
    fields.optional(
        "risk_level",
        asked.risk_level.as_ref().map(RiskLevel::as_str),
    );
    fields.optional(
        "reversibility",
        asked.reversibility.as_ref().map(Reversibility::as_str),
    );
    fields.flag("irreversible", asked.irreversible);
    fields.pairs("extra_context", &asked.extra_context);
}

fn write_clarification(fields: &mut OrderedFields, asked: &AwaitingClarification) {
    fields.text("question", &asked.question);
    fields.variants("question", &asked.questions);
    fields.optional("context", asked.context.as_deref());
    fields.variants("context", &asked.contexts);
    fields.list(
        "accepted_response_kinds",
        asked
            .accepted_response_kinds
            .iter()
            .map(ResponseKind::as_str),
    );
    let choices = asked.choices.iter().map(|choice| {
        let mut fields = OrderedFields::default();
        fields.text("value", &choice.value);
        fields.text("label", &choice.label);
        fields.variants("label", &choice.labels);
        Value::Object(fields.0)
    });
    let choices: Vec<Value> = choices.collect();
    if !choices.is_empty() {
        fields.put("choices", choices);
    }
    if asked.takes_several {
        fields.put("multi_select", true);
    }
    fields.optional(
        "reply_token",
        asked.reply_token.as_ref().map(|token| token.reveal()),
    );
    fields.summary(&asked.summary);
    fields.number("timeout_seconds", asked.timeout_seconds);
    fields.optional("default_response", asked.default_response.as_deref());
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
