//! Parsing a scenario, with errors that name the line.
//!
//! Responsibilities: the lines of the format that `scenario` describes, checked as far as possible
//! line by line. Not here: whether the events of every branch keep the protocol's order; the tests
//! play every branch for that.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::scenario::{Beat, BeatAct, EndLabel, Role, Scenario, ScenarioError, ScenarioInfo};
use super::text_chunks::SayLine;
use crate::producer::{CRITICAL, EventKind, QuestionTerms, Template};

/// The most lines in a scenario: far more than a person would sit through.
const MAX_LINES: usize = 2_000;
/// The most events in a scenario, including streamed chunks, for the same reason.
const MAX_BEATS: usize = 20_000;
/// The most agents in a scenario; more can't be followed by ear.
const MAX_AGENTS: usize = 8;
/// The longest wait before a step, in milliseconds.
const MAX_AFTER_MS: u64 = 600_000;

/// The fields that the server fills in, and that a line therefore must not contain.
const FILLED_IN: [&str; 9] = [
    "@context",
    "aaep_version",
    "event_id",
    "session_id",
    "sequence_number",
    "timestamp",
    "producer",
    "reply_token",
    "position",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    scenario: String,
    title: String,
    description: String,
    #[serde(rename = "format")]
    _format: Option<String>,
    language: String,
    #[serde(default)]
    keywords: Vec<String>,
    agents: Vec<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioLine {
    agent: Option<String>,
    #[serde(default)]
    after_ms: u64,
    on: Option<OneOrMore>,
    event: Option<Map<String, Value>>,
    ask: Option<Map<String, Value>>,
    say: Option<SayLine>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// The state of an agent's lines while they are parsed.
#[derive(Default)]
struct AgentLines {
    asked: Option<QuestionTerms>,
    tools: BTreeSet<String>,
}

impl Scenario {
    /// Parses a scenario from the text of its file.
    ///
    /// # Errors
    /// The first line that does not follow the format, with its number and the reason in words.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        read(text)
    }
}

/// Parses a scenario from the text of its file; the error is the first line that does not follow
/// the format.
fn read(text: &str) -> Result<Scenario, ScenarioError> {
    let at = |line: usize| {
        move |problem: String| ScenarioError {
            line: line + 1,
            problem,
        }
    };
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let (number, line) = lines
        .next()
        .ok_or_else(|| at(0)("the file is empty".to_owned()))?;
    let header: Header =
        serde_json::from_str(line).map_err(|error| at(number)(in_words(&error)))?;
    let mut scenario = Scenario::from_header(header).map_err(at(number))?;
    let mut readings: Vec<AgentLines> = scenario
        .cast
        .iter()
        .map(|_| AgentLines::default())
        .collect();
    let mut total = 0;
    for (count, (number, line)) in lines.enumerate() {
        if count >= MAX_LINES {
            return Err(at(number)(format!("more than {MAX_LINES} lines")));
        }
        let line: ScenarioLine =
            serde_json::from_str(line).map_err(|error| at(number)(in_words(&error)))?;
        total += scenario.take(line, &mut readings).map_err(at(number))?;
        if total > MAX_BEATS {
            return Err(at(number)(format!("more than {MAX_BEATS} events")));
        }
    }
    let silent = scenario.cast.iter().any(|role| role.beats.is_empty());
    if silent {
        return Err(at(number)("an agent has no steps".to_owned()));
    }
    Ok(scenario)
}

/// Words a JSON parser's error for a line that is a document of its own.
fn in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default();
    format!("{reason} (column {})", error.column())
}

impl Scenario {
    fn from_header(header: Header) -> Result<Self, String> {
        let plain = |text: &str| !text.trim().is_empty() && !text.contains(char::is_control);
        if !plain(&header.scenario) || !plain(&header.title) || !plain(&header.description) {
            return Err("scenario, title and description must be one line of text each".to_owned());
        }
        if !(1..=MAX_AGENTS).contains(&header.agents.len()) {
            return Err(format!("agents must list 1 to {MAX_AGENTS} agents"));
        }
        let mut names = BTreeSet::new();
        for agent in &header.agents {
            match agent.get("agent_id").and_then(Value::as_str) {
                Some(name) if !name.is_empty() && names.insert(name) => {}
                Some(_) | None => {
                    return Err("every agent wants an agent_id of its own".to_owned());
                }
            }
        }
        Ok(Self {
            info: ScenarioInfo {
                name: header.scenario,
                title: header.title,
                description: header.description,
            },
            language: header.language,
            keywords: header.keywords,
            cast: header
                .agents
                .into_iter()
                .map(|producer| Role {
                    producer,
                    beats: Vec::new(),
                })
                .collect(),
        })
    }

    /// Adds a line to its agent; returns the number of events it contains.
    fn take(&mut self, line: ScenarioLine, readings: &mut [AgentLines]) -> Result<usize, String> {
        let index = match &line.agent {
            None => 0,
            Some(name) => self
                .cast
                .iter()
                .position(|role| {
                    role.producer.get("agent_id").and_then(Value::as_str) == Some(name)
                })
                .ok_or("the header has no agent with this agent_id")?,
        };
        let (Some(role), Some(reading)) = (self.cast.get_mut(index), readings.get_mut(index))
        else {
            return Err("the header has no agents".to_owned());
        };
        if line.after_ms > MAX_AFTER_MS {
            return Err(format!("after_ms must be at most {MAX_AFTER_MS}"));
        }
        let after = Duration::from_millis(line.after_ms);
        let on = labels(line.on, reading.asked.as_ref())?;
        let acts = match (line.event, line.ask, line.say) {
            (Some(fields), None, None) => {
                let template = template(fields)?;
                if matches!(
                    template.kind,
                    EventKind::AwaitingConfirmation | EventKind::AwaitingClarification
                ) {
                    return Err("a question must be in ask, not in event".to_owned());
                }
                reading.check(&template)?;
                vec![(after, BeatAct::Emit(template))]
            }
            (None, Some(fields), None) => {
                let template = template(fields)?;
                let (asked, seconds) = QuestionTerms::read(template.kind, &template.fields)?;
                reading.asked = Some(asked.clone());
                let timeout = Duration::from_secs(seconds);
                vec![(
                    after,
                    BeatAct::Ask {
                        template,
                        asked,
                        timeout,
                    },
                )]
            }
            (None, None, Some(say)) => say
                .chunks()?
                .into_iter()
                .enumerate()
                .map(|(index, chunk)| {
                    let after = if index == 0 { after } else { chunk.after };
                    let template = Template {
                        kind: EventKind::OutputStreaming,
                        fields: chunk.fields,
                    };
                    (after, BeatAct::Emit(template))
                })
                .collect(),
            (None, None, None) | (Some(_), _, _) | (None, Some(_), Some(_)) => {
                return Err("a step wants exactly one of event, ask and say".to_owned());
            }
        };
        let starts = acts
            .first()
            .is_some_and(|(_, act)| act.template().kind == EventKind::SessionStarted);
        if starts != role.beats.is_empty() {
            return Err(
                "an agent's first step, and only that, must be agent.session.started".to_owned(),
            );
        }
        let count = acts.len();
        role.beats.extend(acts.into_iter().map(|(after, act)| Beat {
            after,
            on: on.clone(),
            act,
        }));
        Ok(count)
    }
}

impl AgentLines {
    /// Checks that a tool that ends has started.
    fn check(&mut self, template: &Template) -> Result<(), String> {
        let Some(label) = template.tool_label() else {
            return Ok(());
        };
        match template.kind {
            EventKind::ToolInvoked => {
                self.tools.insert(label.to_owned());
            }
            EventKind::ToolCompleted if !self.tools.contains(label) => {
                return Err("a tool ends that was not invoked before".to_owned());
            }
            EventKind::ToolCompleted
            | EventKind::SessionStarted
            | EventKind::SessionCompleted
            | EventKind::SessionErrored
            | EventKind::SessionCancelled
            | EventKind::StateChanged
            | EventKind::ProgressUpdated
            | EventKind::OutputStreaming
            | EventKind::AwaitingConfirmation
            | EventKind::AwaitingClarification
            | EventKind::HandoffRequested => {}
        }
        Ok(())
    }
}

/// Parses a word of `on`; returns `None` if the question can't end that way.
fn label(word: &str, asked: &QuestionTerms) -> Option<EndLabel> {
    if word == "timeout" {
        return Some(EndLabel::TimedOut);
    }
    match asked {
        QuestionTerms::Confirmation { allowed } => allowed
            .iter()
            .any(|decision| decision == word)
            .then(|| EndLabel::Decided(word.to_owned())),
        QuestionTerms::Clarification { choices, .. } => match word.split_once('=') {
            None => (word == "answer").then_some(EndLabel::Answered),
            Some(("answer", value)) => choices
                .iter()
                .any(|choice| choice.value == value)
                .then(|| EndLabel::Chose(value.to_owned())),
            Some(_) => None,
        },
    }
}

fn labels(
    words: Option<OneOrMore>,
    asked: Option<&QuestionTerms>,
) -> Result<Vec<EndLabel>, String> {
    let words = match words {
        None => return Ok(Vec::new()),
        Some(OneOrMore::One(word)) => vec![word],
        Some(OneOrMore::More(words)) => words,
    };
    let asked = asked.ok_or("on needs a question of the same agent before it")?;
    words
        .iter()
        .map(|word| {
            label(word, asked).ok_or_else(|| {
                "on names an end that the question before it can't come to".to_owned()
            })
        })
        .collect()
}

fn template(fields: Map<String, Value>) -> Result<Template, String> {
    let kind = fields
        .get("type")
        .and_then(Value::as_str)
        .and_then(EventKind::from_wire)
        .ok_or("type must be one of the twelve core types, as in aaep:agent.state.changed")?;
    if let Some(name) = FILLED_IN
        .into_iter()
        .find(|name| fields.contains_key(*name))
    {
        return Err(format!("{name} is filled in by the server"));
    }
    for name in kind.required() {
        match fields.get(*name) {
            None => return Err(format!("{} needs the field {name}", kind.wire())),
            Some(Value::String(text)) if text.is_empty() => {
                return Err(format!("the field {name} is empty"));
            }
            Some(_) => {}
        }
    }
    let urgency = fields.get("urgency").map(|value| value.as_str());
    match urgency {
        None | Some(Some(CRITICAL)) => {}
        Some(Some("background" | "normal")) if kind.urgency() != CRITICAL => {}
        Some(_) => return Err("the urgency does not fit the type".to_owned()),
    }
    Ok(Template { kind, fields })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"scenario":"x","title":"X","description":"Y.","language":"en","agents":[{"agent_id":"a"},{"agent_id":"b"}]}"#;
    const START_A: &str =
        r#"{"event":{"type":"aaep:agent.session.started","summary_normal":"A."}}"#;
    const START_B: &str =
        r#"{"agent":"b","event":{"type":"aaep:agent.session.started","summary_normal":"B."}}"#;
    const ASK: &str = r#"{"ask":{"type":"aaep:agent.awaiting.confirmation","action":"A","consequence":"C","timeout_seconds":60,"default_decision":"reject"}}"#;

    fn problem(lines: &[&str]) -> (usize, String) {
        match read(&lines.join("\n")) {
            Ok(_) => (0, String::new()),
            Err(error) => (error.line, error.problem),
        }
    }

    #[test]
    fn a_small_scenario_is_read() {
        assert_eq!(
            problem(&[
                HEADER,
                START_A,
                "",
                START_B,
                ASK,
                r#"{"on":["reject","timeout"],"after_ms":5,"say":{"output":"o","sentences":{"every_ms":1,"texts":["No."]}}}"#
            ]),
            (0, String::new())
        );
    }

    #[test]
    fn what_does_not_follow_the_format_is_told_with_its_line() {
        let event = |fields: &str| format!(r#"{{"event":{{{fields}}}}}"#);
        let started = r#""type":"aaep:agent.session.started","summary_normal":"A.""#;
        for (line, words) in [
            (r#"{"evnt":{}}"#.to_owned(), "unknown field `evnt`"),
            ("nonsense".to_owned(), "column"),
            (r#"{"after_ms":1}"#.to_owned(), "exactly one of"),
            (r#"{"after_ms":600001,"event":{}}"#.to_owned(), "after_ms"),
            (r#"{"agent":"c","event":{}}"#.to_owned(), "agent_id"),
            (event(started), "first step"),
            (event(r#""type":"aaep:agent.purple.flamingo""#), "twelve"),
            (event(r#""type":"aaep:agent.state.changed","from_state":"idle""#), "to_state"),
            (
                event(r#""type":"aaep:agent.state.changed","from_state":"","to_state":"idle""#),
                "empty",
            ),
            (
                event(r#""type":"aaep:agent.state.changed","from_state":"a","to_state":"b","event_id":"evt_1""#),
                "filled in",
            ),
            (
                event(r#""type":"aaep:agent.session.errored","error_category":"unknown","summary_normal":"X.","urgency":"normal""#),
                "urgency",
            ),
            (
                event(r#""type":"aaep:agent.tool.completed","tool":"t","status":"success""#),
                "not invoked",
            ),
            (
                event(r#""type":"aaep:agent.awaiting.clarification","question":"Q?","timeout_seconds":60"#),
                "must be in ask",
            ),
            (
                r#"{"ask":{"type":"aaep:agent.state.changed","from_state":"a","to_state":"b","timeout_seconds":60}}"#.to_owned(),
                "only a confirmation",
            ),
            (ASK.replace("60", "0"), "timeout_seconds"),
            (
                r#"{"on":"accept","event":{"type":"aaep:agent.state.changed","from_state":"a","to_state":"b"}}"#.to_owned(),
                "question of the same agent",
            ),
            (r#"{"say":{"output":"o"}}"#.to_owned(), "either tokens or sentences"),
        ] {
            let (number, problem) = problem(&[HEADER, START_A, START_B, &line]);
            assert_eq!(number, 4, "{line}: {problem}");
            assert!(problem.contains(words), "{line}: {problem}");
        }
    }

    #[test]
    fn labels_are_checked_against_their_question() {
        for (word, good) in [
            ("accept", true),
            ("timeout", true),
            ("answer", false),
            ("maybe", false),
        ] {
            let step = format!(
                r#"{{"on":"{word}","event":{{"type":"aaep:agent.state.changed","from_state":"a","to_state":"b"}}}}"#
            );
            let (number, problem) = problem(&[HEADER, START_A, START_B, ASK, &step]);
            assert_eq!(number, if good { 0 } else { 5 }, "{word}: {problem}");
        }
    }

    #[test]
    fn a_file_without_a_cast_or_with_a_silent_agent_is_an_error() {
        assert_eq!(problem(&[""]).0, 1);
        assert!(
            problem(&[&HEADER.replace(r#"{"agent_id":"a"},{"agent_id":"b"}"#, "")])
                .1
                .contains("agents")
        );
        assert!(
            problem(&[&HEADER.replace(r#""b""#, r#""a""#)])
                .1
                .contains("of its own")
        );
        assert!(problem(&[HEADER, START_A]).1.contains("no steps"));
    }
}
