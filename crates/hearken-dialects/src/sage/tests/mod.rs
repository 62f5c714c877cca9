//! Tests of the dialect.

mod conversation;
mod document_examples;
mod permissions;
mod random;
mod state_tables;

use crate::Cx;
use std::time::Duration;

use serde_json::Value;

use crate::link::{Frame, LinkEvent};
use crate::protocol::Now;

use super::super::{Dialect, DialectOutput, DialectSetup, TransportKind};
use super::Sage;

/// Messages of this dialect, for the tests that all dialects share. The first ones identify it.
pub(crate) const MESSAGES: &[&str] = &[
    "\u{1b}[K\u{23fa} Good morning.",
    r#"{"type":"system","message":"Sage Agent starting","timestamp":"2026-06-30T00:00:00Z"}"#,
    r#"{"type":"system","message":"Task: Run the tests","timestamp":"2026-06-30T00:00:00.100Z"}"#,
    r#"{"type":"tool_call_start","tool":"shell","args":{"command":"ls"},"id":"c1","timestamp":"2026-06-30T00:00:01Z"}"#,
    r#"{"type":"tool_call_result","id":"c1","success":true,"output":"a","timestamp":"2026-06-30T00:00:02Z"}"#,
    r#"{"type":"result","result":"Done","timestamp":"2026-06-30T00:00:03Z"}"#,
];

/// The folder of Sage's own examples and of its observed output.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/sage");

/// A dialect with a clock.
struct SageBench {
    sage: Sage,
    now: Duration,
}

impl SageBench {
    fn new(carrier: TransportKind) -> Self {
        let mut bench = Self {
            sage: Sage::new(start(carrier)),
            now: Duration::ZERO,
        };
        bench.news(&LinkEvent::Connecting { attempt: 1 });
        bench.news(&LinkEvent::Connected);
        bench
    }

    fn at(&self) -> Now {
        Now {
            monotonic: Duration::ZERO,
            wall: "2026-06-30T00:00:00Z".parse().unwrap(),
        }
        .after(self.now)
    }

    fn news(&mut self, event: &LinkEvent) -> Vec<DialectOutput> {
        let mut out = Vec::new();
        self.sage.news(event, &mut Cx::new(self.at(), &mut out));
        out
    }

    fn frame(&mut self, text: &str) -> Vec<DialectOutput> {
        let text = text.to_owned();
        self.news(&LinkEvent::Frame(Frame::of(text)))
    }

    /// Lets time pass, ticking at each deadline.
    fn wait(&mut self, ms: u64) -> Vec<DialectOutput> {
        let until = self.now + Duration::from_millis(ms);
        let mut out = Vec::new();
        while let Some(due) = self.sage.deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.sage.tick(&mut Cx::new(self.at(), &mut out));
        }
        self.now = until;
        out
    }

    fn fixture(&mut self, name: &str) -> Vec<DialectOutput> {
        let text = std::fs::read_to_string(format!("{FIXTURES}/{name}")).unwrap();
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() || name.ends_with("txt"));
        lines.flat_map(|line| self.frame(line)).collect()
    }
}

fn start(carrier: TransportKind) -> DialectSetup {
    DialectSetup {
        carrier,
        ..DialectSetup::unattended()
    }
}

/// Returns the events in the output.
fn events(out: &[DialectOutput]) -> Vec<Value> {
    let texts = out.iter().filter_map(|one| match one {
        DialectOutput::Event(text) | DialectOutput::ViewOnly(text) => Some(text),
        _ => None,
    });
    texts
        .map(|text| serde_json::from_str(text).unwrap())
        .collect()
}

/// Formats an event as one line: its type and its content, without the common fields.
fn brief(event: &Value) -> String {
    let kind = event["type"]
        .as_str()
        .unwrap()
        .trim_start_matches("aaep:agent.");
    let mut line = kind.to_owned();
    let mut fields: Vec<_> = event.as_object().unwrap().iter().collect();
    fields.sort_by_key(|(name, _)| name.as_str());
    for (name, value) in fields {
        let common = [
            "@context",
            "type",
            "event_id",
            "session_id",
            "timestamp",
            "producer",
            "aaep_version",
            "sequence_number",
            "localization_hints",
            "extensions",
            "urgency",
            "reply_token",
            "tool_call_id",
            "output_id",
            "position",
        ];
        if !common.contains(&name.as_str()) {
            line.push_str(&format!(" {name}={value}"));
        }
    }
    line
}

fn briefs(out: &[DialectOutput]) -> Vec<String> {
    events(out).iter().map(brief).collect()
}

/// Returns the announced phrases.
fn told(out: &[DialectOutput]) -> Vec<String> {
    let phrases = out.iter().filter_map(|one| match one {
        DialectOutput::Announce(phrase) => Some(phrase.key.to_owned()),
        DialectOutput::Detail(phrase) => Some(format!("detail {}", phrase.key)),
        DialectOutput::Unread(..) => Some("unread".to_owned()),
        _ => None,
    });
    phrases.collect()
}
