//! Scenarios in other protocols: literal frames, one per line, over a pair of pipes.
//!
//! Responsibilities: the format of such a scenario, and playing it to a client. Not here: the meaning of a frame (the
//! subscriber's business), the scenarios in AAEP (`scenario`).
//!
//! # The format
//! One JSON object per line. The first is the header: `scenario`, `title`, `description`, `format` as in `scenario`,
//! and `dialect`, the name of the protocol. Every other line is a step:
//!
//! | key | meaning |
//! |---|---|
//! | `after_ms` | the time since the previous step |
//! | `on` | the step is taken only if the last line heard has this name; absent means always |
//! | `frame` | what is sent, as one line |
//! | `hear` | names, each with the values a line must have at some places (JSON pointers); the script waits for one |
//! | `within_ms` | how long it waits; after that, the name heard is `timeout` |
//!
//! In the texts of a frame, `{now}` is the time, and `{heard:/POINTER}` the value there in the last line heard.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};

use super::scenario::{ScenarioError, ScenarioInfo};
use crate::producer::TimeSource;

/// The longest line accepted from the client, in bytes; no answer to any scenario is longer.
const LONGEST_LINE: usize = 64 * 1024;

/// A scenario in another protocol.
#[derive(Debug, Clone)]
pub struct Script {
    info: ScenarioInfo,
    dialect: String,
    steps: Vec<ScriptStep>,
}

#[derive(Debug, Clone)]
struct ScriptStep {
    after: Duration,
    on: Option<String>,
    act: ScriptAct,
}

#[derive(Debug, Clone)]
enum ScriptAct {
    Send(Value),
    Hear {
        cases: Vec<(String, Map<String, Value>)>,
        within: Duration,
    },
}

/// The last line heard.
#[derive(Debug, Default)]
struct LastLine {
    name: String,
    line: Value,
}

impl Script {
    /// Parses a script.
    ///
    /// # Errors
    /// The first line that does not follow the format.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let mut header = None;
        let mut steps = Vec::new();
        for (at, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let fault = |problem: &str| ScenarioError {
                line: at + 1,
                problem: problem.to_owned(),
            };
            let map: Map<String, Value> =
                serde_json::from_str(line).map_err(|_| fault("it is not a JSON object"))?;
            if header.is_none() {
                header = Some(read_header(&map).ok_or_else(|| fault("the header wants texts"))?);
            } else {
                steps.push(
                    read_step(&map)
                        .ok_or_else(|| fault("it is neither a frame nor something to hear"))?,
                );
            }
        }
        let (info, dialect) = header.ok_or_else(|| ScenarioError {
            line: 1,
            problem: "there is no header".to_owned(),
        })?;
        Ok(Self {
            info,
            dialect,
            steps,
        })
    }

    /// Returns the name, the title and the description.
    pub fn info(&self) -> &ScenarioInfo {
        &self.info
    }

    /// Returns the name of its protocol.
    pub fn dialect(&self) -> &str {
        &self.dialect
    }

    /// Plays it: frames are sent, and incoming lines are heard. Ends with the script, or when the client is gone.
    pub async fn play<R, W>(&self, clock: &TimeSource, speed: f64, input: R, mut output: W)
    where
        R: AsyncBufRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let mut lines = input.lines();
        let mut heard = LastLine::default();
        for step in &self.steps {
            if step.on.as_ref().is_some_and(|on| *on != heard.name) {
                continue;
            }
            tokio::time::sleep(step.after.div_f64(speed)).await;
            match &step.act {
                ScriptAct::Send(frame) => {
                    let line = format!("{}\n", filled(frame, clock(), &heard.line));
                    let written = async {
                        output.write_all(line.as_bytes()).await?;
                        output.flush().await
                    };
                    if written.await.is_err() {
                        return;
                    }
                }
                ScriptAct::Hear { cases, within } => {
                    let waits = async {
                        while let Ok(Some(line)) = lines.next_line().await {
                            if let Some(found) = recognise(&line, cases) {
                                return Some(found);
                            }
                        }
                        None
                    };
                    heard = match tokio::time::timeout(within.div_f64(speed), waits).await {
                        Ok(Some(found)) => found,
                        // The client is gone.
                        Ok(None) => return,
                        Err(_) => LastLine {
                            name: "timeout".to_owned(),
                            line: Value::Null,
                        },
                    };
                }
            }
        }
    }

    /// Returns the frames sent if every `hear` step hears this name with this line: lets a test play without pipes.
    pub fn frames(&self, heard: &str, line: &Value, now: Timestamp) -> Vec<(Duration, String)> {
        let mut name = "";
        let mut frames = Vec::new();
        for step in &self.steps {
            if step.on.as_ref().is_some_and(|on| on != name) {
                continue;
            }
            match &step.act {
                ScriptAct::Send(frame) => {
                    let heard = if name.is_empty() { &Value::Null } else { line };
                    frames.push((step.after, filled(frame, now, heard).to_string()));
                }
                ScriptAct::Hear { .. } => name = heard,
            }
        }
        frames
    }
}

fn read_header(map: &Map<String, Value>) -> Option<(ScenarioInfo, String)> {
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let info = ScenarioInfo {
        name: text("scenario")?,
        title: text("title")?,
        description: text("description")?,
    };
    Some((info, text("dialect")?))
}

fn read_step(map: &Map<String, Value>) -> Option<ScriptStep> {
    let time = |key: &str| match map.get(key) {
        None => Some(Duration::ZERO),
        Some(value) => value.as_u64().map(Duration::from_millis),
    };
    let act = match (map.get("frame"), map.get("hear")) {
        (Some(frame), None) => ScriptAct::Send(frame.clone()),
        (None, Some(Value::Object(cases))) => ScriptAct::Hear {
            cases: cases
                .iter()
                .map(|(name, holds)| Some((name.clone(), holds.as_object()?.clone())))
                .collect::<Option<_>>()?,
            within: time("within_ms").filter(|within| !within.is_zero())?,
        },
        (Some(_) | None, Some(_)) | (None, None) => return None,
    };
    let known = ["after_ms", "on", "frame", "hear", "within_ms"];
    let is_known = map.keys().all(|key| known.contains(&key.as_str()));
    let on = match map.get("on") {
        None => None,
        Some(Value::String(on)) => Some(on.clone()),
        Some(_) => return None,
    };
    is_known.then_some(ScriptStep {
        after: time("after_ms")?,
        on,
        act,
    })
}

/// Returns the case that a line matches; any other line is ignored.
fn recognise(line: &str, cases: &[(String, Map<String, Value>)]) -> Option<LastLine> {
    if line.len() > LONGEST_LINE {
        return None;
    }
    let line: Value = serde_json::from_str(line).ok()?;
    let is_it = |holds: &Map<String, Value>| {
        holds
            .iter()
            .all(|(pointer, value)| line.pointer(pointer) == Some(value))
    };
    let name = cases.iter().find(|(_, holds)| is_it(holds))?.0.clone();
    Some(LastLine { name, line })
}

/// Fills the time and the heard values into the texts of a frame.
fn filled(frame: &Value, now: Timestamp, heard: &Value) -> Value {
    match frame {
        Value::String(text) if text == "{now}" => format!("{now:.3}").into(),
        Value::String(text) => match text
            .strip_prefix("{heard:")
            .and_then(|rest| rest.strip_suffix('}'))
        {
            Some(pointer) => heard.pointer(pointer).cloned().unwrap_or_default(),
            None => frame.clone(),
        },
        Value::Object(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| (key.clone(), filled(value, now, heard)));
            Value::Object(entries.collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(|it| filled(it, now, heard)).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) => frame.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const TEXT: &str = r#"{"scenario": "x", "title": "t", "description": "d", "dialect": "z"}
{"after_ms": 5, "frame": {"a": 1, "at": "{now}"}}
{"hear": {"yes": {"/b/c": true}, "no": {"/b/c": false}}, "within_ms": 1000}
{"on": "yes", "frame": {"echo": "{heard:/b/d}"}}
{"on": "no", "frame": {"no": 1}}
{"on": "timeout", "frame": {"late": 1}}"#;

    async fn play(input: &str) -> String {
        let clock: TimeSource = Arc::new(|| Timestamp::UNIX_EPOCH);
        let mut output = Vec::new();
        let script = Script::parse(TEXT).unwrap();
        script
            .play(&clock, 1000.0, input.as_bytes(), &mut output)
            .await;
        String::from_utf8(output).unwrap()
    }

    #[tokio::test]
    async fn frames_go_out_and_what_is_heard_decides_what_follows() {
        let first = "{\"a\":1,\"at\":\"1970-01-01T00:00:00.000Z\"}\n";
        let heard = "{\"other\": 1}\nno JSON\n{\"b\": {\"c\": true, \"d\": \"word\"}}\n";
        assert_eq!(play(heard).await, format!("{first}{{\"echo\":\"word\"}}\n"));
        assert_eq!(
            play("{\"b\": {\"c\": false}}\n").await,
            format!("{first}{{\"no\":1}}\n")
        );
        assert_eq!(play("").await, first, "nobody is there any more");
    }

    #[tokio::test]
    async fn silence_has_a_name_too() {
        let clock: TimeSource = Arc::new(|| Timestamp::UNIX_EPOCH);
        let (silent, _kept) = tokio::io::duplex(8);
        let mut output = Vec::new();
        let script = Script::parse(TEXT).unwrap();
        script
            .play(
                &clock,
                1000.0,
                tokio::io::BufReader::new(silent),
                &mut output,
            )
            .await;
        assert!(
            String::from_utf8(output)
                .unwrap()
                .ends_with("{\"late\":1}\n")
        );
    }

    #[test]
    fn what_does_not_follow_the_format_is_named_by_its_line() {
        for (text, line) in [
            ("", 1),
            ("{}", 1),
            ("[]", 1),
            (
                &format!("{}\n{{\"purple\": 1}}", TEXT.lines().next().unwrap()),
                2,
            ),
            (
                &format!(
                    "{}\n{{\"frame\": 1, \"purple\": 1}}",
                    TEXT.lines().next().unwrap()
                ),
                2,
            ),
            (
                &format!("{}\n\n{{\"hear\": {{}}}}", TEXT.lines().next().unwrap()),
                3,
            ),
        ] {
            assert_eq!(Script::parse(text).unwrap_err().line, line, "{text}");
        }
    }
}
