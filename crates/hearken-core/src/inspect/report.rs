//! The contents of a report, as plain lines and as JSON lines.
//!
//! Responsibilities: which facts it contains, and in which order. Not here: their words
//! (`report_wording`).

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::dialect::ForeignFormat;
use crate::protocol::{Problem, Severity};
use crate::session::{AnomalyKind, Danger, SessionEndKind};

use super::report_wording::Wording;
use super::stream_rules::Fact;

/// Where a departure was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FoundIn {
    /// In the line itself.
    Line,
    /// In the event on its own.
    Event,
    /// In the order of a session's events.
    Order,
    /// In a danger to the person.
    Danger,
    /// At the end of the stream.
    End,
}

impl FoundIn {
    /// Returns the name for reports.
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

/// One departure. Every name in it is safe to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportItem {
    /// The line number, from 1; at the end of the stream, that of the last line.
    pub line: u64,
    /// Where it was found.
    pub place: FoundIn,
    /// How bad it is.
    pub severity: Severity,
    /// The rule's name.
    pub rule: &'static str,
    /// The section of AAEP.
    pub section: &'static str,
    /// The event's type, if there is an event.
    pub event: Option<String>,
    /// The agent, if one is known.
    pub agent: Option<String>,
    /// The session, if one is known.
    pub session: Option<String>,
    /// The field, tool or state that it concerns; may be empty.
    pub field: String,
    /// What is wrong.
    pub fact: ReportFact,
}

/// What is wrong, as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportFact {
    /// A fault in a field of an event.
    Problem(Problem),
    /// A fault in the order of a session's events.
    Order(AnomalyKind),
    /// A danger to the person.
    Danger(Danger),
    /// A fault in a line, or something open at the end of the stream.
    Stream(Fact),
}

impl ReportItem {
    /// Returns what is wrong, in words.
    pub fn problem(&self, wording: &dyn Wording) -> String {
        match &self.fact {
            ReportFact::Problem(problem) => wording.problem(&self.field, problem),
            ReportFact::Order(kind) => sentence(wording.departure(*kind, &self.field)),
            ReportFact::Danger(danger) => sentence(wording.danger(danger, &self.field)),
            ReportFact::Stream(fact) => fact.words(&self.field, wording),
        }
    }

    /// Returns it as one JSON object.
    pub fn to_json(&self, wording: &dyn Wording) -> String {
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
            "problem": self.problem(wording),
        })
        .to_string()
    }

    /// Returns it as one line.
    pub fn to_text(&self, wording: &dyn Wording) -> String {
        self.in_words(String::new(), wording)
    }

    pub(super) fn in_words(&self, times: String, wording: &dyn Wording) -> String {
        let grade = match self.place {
            FoundIn::Danger => "danger",
            FoundIn::Line | FoundIn::Event | FoundIn::Order | FoundIn::End => self.severity.name(),
        };
        let grade = wording.text(&format!("check.grade.{grade}"), &[]);
        // A finding at the end of the stream names its session, because no line shows it.
        let (key, session) = match (self.place, self.session.as_deref()) {
            (FoundIn::End, session) => ("check.end", session.unwrap_or_default()),
            (FoundIn::Line | FoundIn::Event | FoundIn::Order | FoundIn::Danger, _) => {
                ("check.line", "")
            }
        };
        let session = named(session, wording);
        wording.text(
            key,
            &[
                ("line", self.line.to_string()),
                ("grade", grade),
                ("event", self.event.clone().unwrap_or_default()),
                ("what", self.problem(wording)),
                ("section", self.section.to_owned()),
                ("session", session),
                ("times", times),
            ],
        )
    }
}

/// Returns a sentence without its full stop, so that it can continue.
fn sentence(text: String) -> String {
    text.strip_suffix('.').map_or(text.clone(), str::to_owned)
}

fn named(session: &str, wording: &dyn Wording) -> String {
    match session {
        "" => wording.text("check.unnamed", &[]),
        session => session.to_owned(),
    }
}

/// The number of departures by severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SeverityCounts {
    /// Errors, dangers included.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
    /// Dangers alone.
    pub dangers: u64,
}

impl SeverityCounts {
    pub(super) fn add(&mut self, item: &ReportItem) {
        match item.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => self.notes += 1,
        }
        if item.place == FoundIn::Danger {
            self.dangers += 1;
        }
    }

    fn words(self, wording: &dyn Wording) -> String {
        let args = [
            ("errors", self.errors.to_string()),
            ("warnings", self.warnings.to_string()),
            ("notes", self.notes.to_string()),
            ("dangers", self.dangers.to_string()),
        ];
        wording.text("check.counts", &args)
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

/// The summary of one session of one agent. Every name in it is safe to show.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionReport {
    /// The agent's id.
    pub agent: String,
    /// The agent's display name.
    pub label: String,
    /// The session's id; may be empty.
    pub session: String,
    /// The line of its first event.
    pub first_line: u64,
    /// The line of its last event.
    pub last_line: u64,
    /// The time between them.
    pub time: Duration,
    /// The number of its events.
    pub events: u64,
    /// How it ended; absent if no end was seen.
    pub ending: Option<SessionEndKind>,
    /// The number of tool calls.
    pub tools: u64,
    /// The number of questions.
    pub questions: u64,
    /// The number of text chunks.
    pub chunks: u64,
    /// The tools that have not returned.
    pub open_tools: Vec<String>,
    /// The number of undecided questions.
    pub open_questions: u64,
    /// The number of outputs without a last chunk.
    pub open_outputs: u64,
    /// The number of its departures.
    pub counts: SeverityCounts,
}

impl SessionReport {
    /// Returns the word for how it ended.
    pub fn ended(&self) -> &'static str {
        match self.ending {
            Some(SessionEndKind::Completed) => "completed",
            Some(SessionEndKind::Errored) => "errored",
            Some(SessionEndKind::Cancelled) => "cancelled",
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

impl SessionReport {
    /// Returns it as one line.
    fn to_text(&self, wording: &dyn Wording) -> String {
        let ended = match self.ending {
            Some(SessionEndKind::Completed) => "completed",
            Some(SessionEndKind::Errored) => "errored",
            Some(SessionEndKind::Cancelled) => "cancelled",
            None => "none",
        };
        let open = |key: &str, n: u64| match n {
            0 => String::new(),
            n => wording.text(key, &[("n", n.to_string())]),
        };
        wording.text(
            "check.session",
            &[
                ("agent", self.label.clone()),
                ("session", named(&self.session, wording)),
                ("ended", wording.text(&format!("check.ended.{ended}"), &[])),
                ("events", self.events.to_string()),
                ("first", self.first_line.to_string()),
                ("last", self.last_line.to_string()),
                ("seconds", format!("{:.1}", self.time.as_secs_f64())),
                ("tools", self.tools.to_string()),
                ("questions", self.questions.to_string()),
                ("chunks", self.chunks.to_string()),
                ("counts", self.counts.words(wording)),
                ("open_tools", self.open_tools.join(", ")),
                (
                    "open_questions",
                    open("check.questions", self.open_questions),
                ),
                ("open_outputs", open("check.outputs", self.open_outputs)),
            ],
        )
    }
}

/// How often a rule was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleCount {
    /// The rule's name.
    pub rule: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// The section.
    pub section: &'static str,
    /// The number of breaches.
    pub times: u64,
}

/// The summary of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// The number of lines.
    pub lines: u64,
    /// The number of events.
    pub events: u64,
    /// The sessions, in the order of their first events.
    pub sessions: Vec<SessionReport>,
    /// The number of sessions that are not listed.
    pub more_sessions: u64,
    /// How often each rule was broken.
    pub rules: Vec<RuleCount>,
    /// All departures together.
    pub counts: SeverityCounts,
    /// The format of an agent's own files or output, if the first foreign line has one.
    pub kept: Option<ForeignFormat>,
}

impl Summary {
    /// Returns it as JSON objects, one per line, each line terminated.
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
        map.insert("result".to_owned(), self.result(strict).0.into());
        out.push_str(&Value::Object(map).to_string());
        out.push('\n');
        out
    }

    /// Returns it as plain lines, each line terminated.
    pub fn to_text(&self, strict: bool, wording: &dyn Wording) -> String {
        let mut lines: Vec<String> = self
            .sessions
            .iter()
            .map(|session| session.to_text(wording))
            .collect();
        if self.more_sessions > 0 {
            let args = [("n", self.more_sessions.to_string())];
            lines.push(wording.text("check.more_sessions", &args));
        }
        for rule in &self.rules {
            let grade = wording.text(&format!("check.grade.{}", rule.severity.name()), &[]);
            let args = [
                ("rule", rule.rule.to_owned()),
                ("grade", grade),
                ("section", rule.section.to_owned()),
                ("n", rule.times.to_string()),
            ];
            lines.push(wording.text("check.rule", &args));
        }
        let sessions = self.sessions.len() as u64 + self.more_sessions;
        let args = [
            ("lines", self.lines.to_string()),
            ("events", self.events.to_string()),
            ("sessions", sessions.to_string()),
            ("counts", self.counts.words(wording)),
        ];
        lines.push(wording.text("check.total", &args));
        let result = format!("check.result.{}", self.result(strict).1);
        let args = [("result", wording.text(&result, &[]))];
        lines.push(wording.text("check.result", &args));
        lines.join("\n") + "\n"
    }

    /// Returns the name of the result in JSON and in the phrases.
    fn result(&self, strict: bool) -> (&'static str, &'static str) {
        match (self.events, self.counts.errors, self.counts.warnings) {
            (0, _, _) => ("no event", "no_event"),
            (_, 0, 0) => ("clean", "clean"),
            (_, 0, _) if strict => ("warnings, which count as errors", "strict"),
            (_, 0, _) => ("no errors", "no_errors"),
            (_, _, _) => ("errors", "errors"),
        }
    }
}
