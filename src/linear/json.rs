//! The JSON face: one announcement, one object, by the schema in `docs/announcements.schema.json`.
//!
//! Responsibilities: the fields of an announcement, and everything that a program needs in order to
//! pass a question on to somebody else: action, consequence, risk, reversibility, time, default,
//! choices, and the lines that answer it. Not here: the readers of the output.

use serde_json::{Map, Value, json};

use crate::announce::direction::is_right_to_left;
use crate::announce::normalise::is_hidden;
use crate::announce::{
    Announcement, AnnouncementKind, Mark, QuestionRelation, Segment, takes_two_steps,
};
use crate::app::App;
use crate::protocol::{
    AwaitingClarification, AwaitingConfirmation, Decision, ResponseKind, RiskLevel, UndoStatement,
};
use crate::session::{Question, QuestionBody};

/// Returns one announcement as a JSON object on one line, without a line feed.
pub fn json(app: &App, told: &Announcement) -> String {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.to_owned(), value);
    };
    put("at", format!("{:.3}", told.at.wall).into());
    put(
        "class",
        serde_json::to_value(told.class).unwrap_or(Value::Null),
    );
    put(
        "kind",
        serde_json::to_value(told.kind).unwrap_or(Value::Null),
    );
    put(
        "session",
        told.key.as_ref().map(|key| key.session.as_str()).into(),
    );
    put(
        "agent",
        told.agent
            .as_deref()
            .map(|agent| app.phrases().name_of(agent))
            .into(),
    );
    put("source", source(app, told).into());
    put("text", told.text().into());
    put("spoken", told.said().into());
    put("language", told.written_in().into());
    put("direction", direction(told).into());
    put(
        "own_words",
        told.segments
            .iter()
            .any(|segment| segment.mark == Mark::Own)
            .into(),
    );
    if let Some(tool) = &told.tool {
        put("tool", tool.name.as_str().into());
        if told.kind == AnnouncementKind::ToolCompleted {
            put("status", tool.status.as_deref().into());
        }
    }
    if let Some(about) = told.about {
        put("question", about.question().0.into());
        if let (QuestionRelation::Asks(_), Some(question)) = (about, app.question(about.question()))
        {
            put(
                "reply_token",
                question.body.token().map(|token| token.reveal()).into(),
            );
            put("keys", answers(question).into());
            put("asks", asks(app, told, question));
        }
    }
    escaped(&Value::Object(map).to_string())
}

/// Returns the name of the source that it came from or is about.
fn source(app: &App, told: &Announcement) -> Option<String> {
    let of_question = || Some(app.question(told.about?.question())?.key.link);
    let link = told.key.as_ref().map(|key| key.link).or_else(of_question);
    let named = link.and_then(|link| app.links().iter().find(|view| view.id == link));
    named
        .map(|view| view.name.clone())
        .or_else(|| told.source.as_deref().map(str::to_owned))
}

/// Returns the direction of the words: that of the agent's, if there are any.
fn direction(told: &Announcement) -> &'static str {
    let agents = told.segments.iter().filter(|it| it.mark == Mark::Agent);
    let runs_left = |it: &Segment| is_right_to_left(it.text(), told.direction);
    if agents.into_iter().any(runs_left) {
        "rtl"
    } else {
        "ltr"
    }
}

/// Writes invisible characters as JSON escapes: a reader gets the same text, and a terminal that
/// shows the line gets nothing that it would obey.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        // Readers that split lines as Unicode does would see two lines.
        let ends_a_line = matches!(c, '\u{2028}' | '\u{2029}');
        if c.is_control() || ends_a_line || is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns all that is known about a question, as the agent gave it: a program must clean what it
/// shows for its own screen.
fn asks(app: &App, told: &Announcement, question: &Question) -> Value {
    let mut fields = match &question.body {
        QuestionBody::Confirmation(asked) => confirmation(asked),
        QuestionBody::Clarification(asked) => clarification(asked),
    };
    if let Value::Object(map) = &mut fields {
        let sessions = app.sessions();
        let deadline = sessions
            .expires(question)
            .filter(|_| sessions.is_age_known(question))
            .and_then(|at| {
                let left = at.saturating_sub(told.at.monotonic);
                told.at.wall.checked_add(left).ok()
            })
            .map(|at| format!("{at:.3}"));
        map.insert(
            "timeout_seconds".into(),
            question.body.timeout_seconds().into(),
        );
        map.insert("deadline".into(), deadline.into());
        map.insert("tool".into(), question.tool.as_deref().into());
        map.insert("second_step".into(), takes_two_steps(question).into());
        map.insert("answerable".into(), question.is_answerable().into());
    }
    fields
}

fn confirmation(asked: &AwaitingConfirmation) -> Value {
    let risk = match &asked.risk_level {
        Some(RiskLevel::Low) => "low",
        Some(RiskLevel::Medium) => "medium",
        Some(RiskLevel::High) => "high",
        Some(RiskLevel::Other(_)) | None => "unknown",
    };
    let reversibility = match asked.undoing() {
        UndoStatement::Reversible => "reversible",
        UndoStatement::WithEffort => "reversible_with_effort",
        UndoStatement::Irreversible => "irreversible",
        UndoStatement::Unknown => "unknown",
    };
    let context: Map<String, Value> = asked
        .extra_context
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    let allowed: Vec<&str> = if asked.allowed_replies.is_empty() {
        vec![Decision::Accept.as_str(), Decision::Reject.as_str()]
    } else {
        asked.allowed_replies.iter().map(Decision::as_str).collect()
    };
    json!({
        "type": "confirmation",
        "action": asked.action,
        "consequence": asked.consequence,
        "risk": risk,
        "reversibility": reversibility,
        "default": asked.default_decision.as_ref().map(Decision::as_str),
        "allowed_replies": allowed,
        "context": context,
    })
}

fn clarification(asked: &AwaitingClarification) -> Value {
    let choices: Vec<Value> = asked
        .choices
        .iter()
        .enumerate()
        .map(|(at, choice)| json!({"number": at + 1, "value": choice.value, "label": choice.label}))
        .collect();
    let kinds: Vec<&str> = asked
        .accepted_response_kinds
        .iter()
        .map(ResponseKind::as_str)
        .collect();
    json!({
        "type": "clarification",
        "question": asked.question,
        "why": asked.context,
        "choices": choices,
        "response_kinds": kinds,
        "default": asked.default_response,
    })
}

/// Returns the lines that answer a question, each with its number, so that none can go astray.
fn answers(question: &Question) -> Vec<String> {
    let number = question.id.0;
    if !question.is_answerable() {
        return Vec::new();
    }
    match &question.body {
        QuestionBody::Confirmation(asked) => {
            let mut lines = Vec::new();
            let others = asked.further_decisions().count();
            if asked.accepts(&Decision::Accept) {
                lines.push(format!("y {number}"));
            }
            lines.extend((1..=others).map(|at| format!("o {number} {at}")));
            // The meaning of any other decision is not known: it requires the second step whatever
            // the risk.
            if others > 0 || (asked.accepts(&Decision::Accept) && takes_two_steps(question)) {
                lines.push(format!("c {number}"));
            }
            if asked.accepts(&Decision::Reject) {
                lines.push(format!("n {number}"));
                lines.push(format!("r #{number} TEXT"));
            }
            lines
        }
        QuestionBody::Clarification(asked) => asked
            .accepted_response_kinds
            .iter()
            .flat_map(|kind| match kind {
                ResponseKind::YesNo => vec![format!("y {number}"), format!("n {number}")],
                ResponseKind::MultipleChoice => (1..=asked.choices.len())
                    .map(|at| format!("o {number} {at}"))
                    .collect(),
                ResponseKind::Freetext | ResponseKind::Numeric | ResponseKind::Other(_) => {
                    vec![format!("a #{number} TEXT")]
                }
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_nobody_sees_is_escaped_and_stays_itself() {
        let text = "a\u{9b}31m\u{202e}b\u{200d}\u{e0041}ü\u{7f}\u{85}\u{2028}\u{2029}";
        let json = escaped(&serde_json::Value::from(text).to_string());
        assert_eq!(
            json,
            "\"a\\u009b31m\\u202eb\\u200d\\udb40\\udc41ü\\u007f\\u0085\\u2028\\u2029\""
        );
        assert_eq!(
            serde_json::from_str::<String>(&json).ok().as_deref(),
            Some(text)
        );
    }
}
