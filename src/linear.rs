//! The linear face and the JSON face: one announcement, one line.
//!
//! Responsibilities: turning an announcement into labelled, append-only lines of plain text, or into
//! one JSON object. Not here: where the lines go (`runtime`), what is announced (`app`).
//!
//! A question has a line for each of its parts, hearken's and the agent's apart.
//! A line is `LABEL: MESSAGE (TIME)`: the message comes first after a label in words and the time
//! last. An agent's text can't begin a line without its label: line breaks in it are spaces, and a
//! line that is wrapped begins with its label again.

use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthStr;

use crate::announce::normalise::is_hidden;
use crate::announce::{About, Announcement, Arg, Mark, name_of, wrap};
use crate::app::App;

/// The least room for words beside a label, in columns, whatever width is asked for.
const NARROWEST: usize = 12;

/// Writes one announcement as plain text, each line ended by a line feed. `width` 0 leaves wrapping
/// to whoever shows it.
pub fn lines(app: &App, told: &Announcement, zone: &TimeZone, width: u16) -> String {
    let label = app.label(told);
    let time = told.at.wall.to_zoned(zone.clone()).strftime("%H:%M:%S");
    let mut out = String::new();
    let asks = told.about.and_then(|about| app.prompt(about.prompt()));
    match asks {
        // Around a question each speaker has lines of their own, so that no action can claim a risk or a
        // key in hearken's name.
        Some(prompt) => {
            let asker = app
                .phrases()
                .text("label.asks", &[("agent", Arg::Name(app.agent_of(prompt)))]);
            let shown: Vec<_> = told
                .segments
                .iter()
                .filter(|segment| !segment.text.is_empty())
                .collect();
            let last = shown.len().saturating_sub(1);
            for (at, segment) in shown.into_iter().enumerate() {
                let label = match segment.mark {
                    Mark::Own => &label,
                    Mark::Agent => &asker,
                };
                let end = if at == last {
                    format!(" ({time})")
                } else {
                    String::new()
                };
                put_line(&mut out, label, &format!("{}{end}", segment.text), width);
            }
        }
        None => {
            let shown = told.shown();
            // What is structure only, such as the line under a table's headers, has nothing to read.
            if !shown.is_empty() {
                let last = format!("{shown} ({time})");
                // No line of an agent's begins without its label.
                for line in last.lines() {
                    put_line(&mut out, &label, line, width);
                }
            }
        }
    }
    out
}

/// Writes one message under a label; a line that is wrapped begins with its label again.
fn put_line(out: &mut String, label: &str, message: &str, width: u16) {
    let room = match usize::from(width) {
        0 => 0,
        width => width.saturating_sub(label.width() + 2).max(NARROWEST),
    };
    for line in wrap(message, room) {
        out.push_str(label);
        out.push_str(": ");
        out.push_str(&line);
        out.push('\n');
    }
}

/// Writes one announcement as a JSON object on one line, without a line feed.
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
    put("agent", told.agent.as_deref().map(name_of).into());
    put("text", told.text().into());
    put("spoken", told.spoken().into());
    put(
        "language",
        told.language().unwrap_or(app.phrases().language()).into(),
    );
    put(
        "own_words",
        told.segments
            .iter()
            .any(|segment| segment.mark == Mark::Own)
            .into(),
    );
    if let Some(about) = told.about {
        put("question", about.prompt().0.into());
        if let (About::Asks(id), Some(prompt)) = (about, app.prompt(about.prompt())) {
            put(
                "reply_token",
                prompt.question.token().map(|token| token.reveal()).into(),
            );
            let keys = answers(prompt, id.0);
            put("keys", keys.into());
        }
    }
    escaped(&Value::Object(map).to_string())
}

/// Writes what nobody sees as JSON's own escapes: a reader gets the same text, and a terminal that
/// shows the line gets nothing that it obeys.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() || is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Lists the lines that answer a question.
fn answers(prompt: &crate::session::Prompt, number: u64) -> Vec<String> {
    use crate::protocol::ResponseKind;
    use crate::session::Question;
    if !prompt.is_answerable() {
        return Vec::new();
    }
    match &prompt.question {
        Question::Confirmation(_) if prompt.wants_second_step() => {
            vec![
                format!("y {number}"),
                format!("c {number}"),
                format!("n {number}"),
            ]
        }
        Question::Confirmation(_) => vec![format!("y {number}"), format!("n {number}")],
        Question::Clarification(asked) => asked
            .accepted_response_kinds
            .iter()
            .flat_map(|kind| match kind {
                ResponseKind::YesNo => vec![format!("y {number}"), format!("n {number}")],
                ResponseKind::MultipleChoice => (1..=asked.choices.len())
                    .map(|n| format!("o {n}"))
                    .collect(),
                ResponseKind::Freetext | ResponseKind::Numeric | ResponseKind::Other(_) => {
                    vec!["a TEXT".to_owned()]
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
        let text = "a\u{9b}31m\u{202e}b\u{200d}\u{e0041}ü\u{7f}";
        let json = escaped(&serde_json::Value::from(text).to_string());
        assert_eq!(json, "\"a\\u009b31m\\u202eb\\u200d\\udb40\\udc41ü\\u007f\"");
        assert_eq!(
            serde_json::from_str::<String>(&json).ok().as_deref(),
            Some(text)
        );
    }
}
