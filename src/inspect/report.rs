//! What a report says, as plain lines and as JSON lines.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::protocol::Severity;
use crate::session::Ending;

/// Says where a departure was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In the line itself.
    Line,
    /// In the event by itself.
    Event,
    /// In the order of a session's events.
    Order,
    /// In what endangers the person.
    Danger,
    /// At the end of the stream.
    End,
}

impl Place {
    /// Gives the name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Event => "event",
            Self::Order => "order",
            Self::Danger => "danger",
            Self::End => "end",
        }
    }
}

/// Reports one departure. Every name in it is safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The number of the line, from 1; at the end of the stream, of the last line.
    pub line: u64,
    /// Where it was found.
    pub place: Place,
    /// How bad it is.
    pub severity: Severity,
    /// The rule's name.
    pub rule: &'static str,
    /// The section of AAEP.
    pub section: &'static str,
    /// The event's type, where there is one.
    pub event: Option<String>,
    /// The agent, where one is known.
    pub agent: Option<String>,
    /// The session, where one is known.
    pub session: Option<String>,
    /// The field, tool or state that it concerns; may be empty.
    pub field: String,
    /// What is wrong, in words.
    pub problem: String,
}

impl Item {
    /// Writes it as one JSON object.
    pub fn to_json(&self) -> String {
        json!({
            "kind": "finding",
            "line": self.line,
            "place": self.place.name(),
            "severity": self.severity.name(),
            "rule": self.rule,
            "section": self.section,
            "type": self.event,
            "agent": self.agent,
            "session": self.session,
            "field": (!self.field.is_empty()).then_some(&self.field),
            "problem": self.problem,
        })
        .to_string()
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::End => write!(f, "End: {}: ", self.severity)?,
            Place::Danger => write!(f, "Line {}: danger: ", self.line)?,
            Place::Line | Place::Event | Place::Order => {
                write!(f, "Line {}: {}: ", self.line, self.severity)?;
            }
        }
        if let Some(event) = &self.event {
            write!(f, "{event}: ")?;
        }
        if !self.field.is_empty() {
            // A finding goes on where its field ends; what concerns a tool or state stands apart.
            let joint = if self.place == Place::Event {
                " "
            } else {
                ": "
            };
            write!(f, "{}{joint}", self.field)?;
        }
        write!(f, "{} (section {})", self.problem, self.section)?;
        // The end speaks of a session, and no line shows which.
        match (&self.place, &self.session) {
            (Place::End, Some(session)) if session.is_empty() => {
                f.write_str(", session without a name")
            }
            (Place::End, Some(session)) => write!(f, ", session {session}"),
            (Place::End | Place::Line | Place::Event | Place::Order | Place::Danger, _) => Ok(()),
        }
    }
}

/// Counts departures by how bad they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Errors, dangers included.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
    /// Dangers alone.
    pub dangers: u64,
}

impl Counts {
    pub(super) fn add(&mut self, item: &Item) {
        match item.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => self.notes += 1,
        }
        if item.place == Place::Danger {
            self.dangers += 1;
        }
    }

    fn put(self, map: &mut Map<String, Value>) {
        for (name, count) in [
            ("errors", self.errors),
            ("warnings", self.warnings),
            ("notes", self.notes),
            ("dangers", self.dangers),
        ] {
            map.insert(name.to_owned(), count.into());
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {}, {}, {}",
            count(self.errors, "error"),
            count(self.warnings, "warning"),
            count(self.notes, "note"),
            count(self.dangers, "danger")
        )
    }
}

/// Puts a number before its word.
pub(super) fn count(number: u64, word: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {word}{ending}")
}

/// Sums up one session of one agent. Every name in it is safe to show.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionReport {
    /// The agent's id.
    pub agent: String,
    /// The agent's name for a person.
    pub label: String,
    /// The session's id; may be empty.
    pub session: String,
    /// The line of its first event.
    pub first_line: u64,
    /// The line of its last event.
    pub last_line: u64,
    /// The time between them.
    pub time: Duration,
    /// How many events it had.
    pub events: u64,
    /// How it ended; absent where no end was seen.
    pub ending: Option<Ending>,
    /// How many tools were invoked.
    pub tools: u64,
    /// How many questions were asked.
    pub questions: u64,
    /// How many chunks of text came.
    pub chunks: u64,
    /// The tools that have not returned.
    pub open_tools: Vec<String>,
    /// How many questions are not decided.
    pub open_questions: u64,
    /// How many outputs have no last chunk.
    pub open_outputs: u64,
    /// What is wrong with it.
    pub counts: Counts,
}

impl SessionReport {
    /// Gives the word for how it ended.
    pub fn ended(&self) -> &'static str {
        match self.ending {
            Some(Ending::Completed) => "completed",
            Some(Ending::Errored) => "errored",
            Some(Ending::Cancelled) => "cancelled",
            None => "not ended",
        }
    }

    fn to_json(&self) -> String {
        let mut map = Map::new();
        let mut put = |name: &str, value: Value| {
            map.insert(name.to_owned(), value);
        };
        put("kind", "session".into());
        put("agent", self.agent.as_str().into());
        put("agent_name", self.label.as_str().into());
        put("session", self.session.as_str().into());
        put("ended", self.ended().into());
        put("first_line", self.first_line.into());
        put("last_line", self.last_line.into());
        put("seconds", self.time.as_secs_f64().into());
        put("events", self.events.into());
        put("tools", self.tools.into());
        put("questions", self.questions.into());
        put("chunks", self.chunks.into());
        put("open_tools", self.open_tools.clone().into());
        put("open_questions", self.open_questions.into());
        put("open_outputs", self.open_outputs.into());
        self.counts.put(&mut map);
        Value::Object(map).to_string()
    }
}

impl fmt::Display for SessionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = match self.session.as_str() {
            "" => "without a name",
            session => session,
        };
        write!(
            f,
            "Session: {}, {session}: {}; {}, lines {} to {}, {:.1} seconds; {}, {}, {}; {}",
            self.label,
            self.ended(),
            count(self.events, "event"),
            self.first_line,
            self.last_line,
            self.time.as_secs_f64(),
            count(self.tools, "tool"),
            count(self.questions, "question"),
            count(self.chunks, "chunk"),
            self.counts
        )?;
        if !self.open_tools.is_empty() {
            write!(f, "; still open: tools {}", self.open_tools.join(", "))?;
        }
        if self.open_questions > 0 {
            write!(
                f,
                "; still open: {}",
                count(self.open_questions, "question")
            )?;
        }
        if self.open_outputs > 0 {
            write!(f, "; not finished: {}", count(self.open_outputs, "output"))?;
        }
        Ok(())
    }
}

/// Says how often a rule was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleCount {
    /// The rule's name.
    pub rule: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// The section.
    pub section: &'static str,
    /// How often.
    pub times: u64,
}

/// Sums up a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// How many lines it had.
    pub lines: u64,
    /// How many of them were events.
    pub events: u64,
    /// The sessions, in the order of their first events.
    pub sessions: Vec<SessionReport>,
    /// How many more sessions there were than are listed.
    pub more_sessions: u64,
    /// How many departures were not written out, because the same one was written many times.
    pub unwritten: u64,
    /// How often each rule was broken.
    pub rules: Vec<RuleCount>,
    /// What is wrong in all.
    pub counts: Counts,
}

impl Summary {
    /// Writes it as JSON objects, one a line, each line ended.
    pub fn to_json(&self, strict: bool) -> String {
        let mut out = String::new();
        for session in &self.sessions {
            out.push_str(&session.to_json());
            out.push('\n');
        }
        let rules: Vec<Value> = self
            .rules
            .iter()
            .map(|rule| {
                json!({
                    "rule": rule.rule, "severity": rule.severity.name(),
                    "section": rule.section, "times": rule.times,
                })
            })
            .collect();
        let mut map = Map::new();
        map.insert("kind".to_owned(), "total".into());
        map.insert("lines".to_owned(), self.lines.into());
        map.insert("events".to_owned(), self.events.into());
        let sessions = self.sessions.len() as u64 + self.more_sessions;
        map.insert("sessions".to_owned(), sessions.into());
        map.insert("sessions_not_listed".to_owned(), self.more_sessions.into());
        self.counts.put(&mut map);
        map.insert("rules".to_owned(), rules.into());
        map.insert("result".to_owned(), self.result(strict).into());
        out.push_str(&Value::Object(map).to_string());
        out.push('\n');
        out
    }

    /// Writes it as plain lines, each line ended.
    pub fn to_text(&self, strict: bool) -> String {
        let mut lines: Vec<String> = self.sessions.iter().map(ToString::to_string).collect();
        if self.more_sessions > 0 {
            lines.push(format!(
                "Sessions: {} more are only counted",
                self.more_sessions
            ));
        }
        for rule in &self.rules {
            lines.push(format!(
                "Rule: {}, {}, section {}: {}",
                rule.rule,
                rule.severity,
                rule.section,
                count(rule.times, "time")
            ));
        }
        if self.unwritten > 0 {
            lines.push(format!(
                "Not written out: {} of kinds that were written before; --json writes all",
                count(self.unwritten, "line")
            ));
        }
        let sessions = self.sessions.len() as u64 + self.more_sessions;
        lines.push(format!(
            "Total: {}, {}, {}; {}",
            count(self.lines, "line"),
            count(self.events, "event"),
            count(sessions, "session"),
            self.counts
        ));
        lines.push(format!("Result: {}", self.result(strict)));
        lines.join("\n") + "\n"
    }

    /// Says the result in a word or two.
    fn result(&self, strict: bool) -> &'static str {
        match (self.events, self.counts.errors, self.counts.warnings) {
            (0, _, _) => "no event",
            (_, 0, 0) => "clean",
            (_, 0, _) if strict => "warnings, which count as errors",
            (_, 0, _) => "no errors",
            (_, _, _) => "errors",
        }
    }
}
