//! The tables of this dialect for the documentation, as lists.
//!
//! Responsibilities: generating the steps, the performatives, the timeouts and the events of each message from the
//! tables and the running translator. Not here: the prose around them (docs/dialects.md).

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::Cx;
use crate::link::{Frame, LinkEvent};
use crate::protocol::{NoObserver, Now};
use crate::{Dialect, DialectOutput, DialectSetup};

use super::message::AspMessage;
use super::performatives::Performative;
use super::report_phrases;
use super::session::{Departure, Negotiation};
use super::session_rules::{PreconditionView, ROWS, RowOrigin, RowTarget, Section, WAITS};
use super::states::State;
use super::translator::Asp;

const ONE: &str = "agent://a.example/one";
const OTHER: &str = "agent://b.example/other";

/// Returns each table with its name in docs/dialects.md.
pub fn tables() -> Vec<(&'static str, String)> {
    vec![
        ("asp transitions", transitions()),
        ("asp performatives", performatives()),
        ("asp timeouts", timeouts()),
        ("asp events", events()),
        ("asp departures", departures()),
    ]
}

fn transitions() -> String {
    let mut text = String::new();
    for row in ROWS {
        let number = match row.place {
            Section::Table(number) => number.to_string(),
            Section::Details(number) => format!("detail {number}"),
        };
        let from = match row.from {
            RowOrigin::State(state) => state.name(),
            RowOrigin::Any => "any but CLOSED, FAILED",
        };
        let to = match row.to {
            RowTarget::State(state) => state.name(),
            RowTarget::Previous => "the state before",
        };
        let by: Vec<&str> = row.on.iter().map(|trigger| trigger.name()).collect();
        let unseen = match row.seen {
            PreconditionView::All => String::new(),
            PreconditionView::Without(what) => format!(" Not seen: {what}."),
        };
        // Writing into a string can't fail.
        let _ = writeln!(
            text,
            "- {number}: {from} to {to}, by {}. {}.{unseen}",
            by.join(", "),
            row.precondition
        );
    }
    text
}

/// The effect of a performative in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PerformativeEffect {
    /// Allowed, without a step.
    Stays,
    /// Allowed, and moves the session.
    Moves,
    /// Allowed by only one of the tables: it counts, and the disagreement is reported.
    Disagree,
    /// Allowed by neither table.
    Illegal,
    /// The session is over.
    Over,
}

fn performatives() -> String {
    let mut text = String::new();
    for performative in Performative::ALL {
        let states = |effect: PerformativeEffect| -> Vec<&str> {
            let with = State::ALL
                .iter()
                .filter(|state| effect_of(*performative, **state) == Some(effect));
            with.map(|state| state.name()).collect()
        };
        let effects = [
            (PerformativeEffect::Moves, "moves in"),
            (
                PerformativeEffect::Disagree,
                "moves, though the tables disagree, in",
            ),
            (PerformativeEffect::Stays, "stays in"),
        ];
        let effects = effects.map(|(effect, words)| (states(effect), words));
        let parts = effects.iter().filter(|(states, _)| !states.is_empty());
        let parts: Vec<String> = parts
            .map(|(states, words)| format!("{words} {}", states.join(", ")))
            .collect();
        let _ = writeln!(text, "- {}: {}", performative.name(), parts.join("; "));
    }
    text
}

fn effect_of(performative: Performative, state: State) -> Option<PerformativeEffect> {
    let mut session = Negotiation::default();
    for value in way_to(state) {
        take(&mut session, &value)?;
    }
    let taken = take(
        &mut session,
        &message(OTHER, performative.name(), json!({})),
    )?;
    let departed = taken
        .departures
        .iter()
        .find_map(|departure| match departure {
            Departure::TablesDisagree(_) => Some(PerformativeEffect::Disagree),
            Departure::Illegal(_) => Some(PerformativeEffect::Illegal),
            Departure::AfterEnd(_) => Some(PerformativeEffect::Over),
            Departure::AnswersItself
            | Departure::OtherCommitment
            | Departure::Unmet
            | Departure::UnknownPerformative
            | Departure::Chain(_)
            | Departure::Expired(_)
            | Departure::ResponseLate
            | Departure::ToldOtherwise(_) => None,
        });
    // The second half of a mutual close.
    let over = state.is_terminal().then_some(PerformativeEffect::Over);
    let plain = if taken.step.is_some() {
        PerformativeEffect::Moves
    } else {
        PerformativeEffect::Stays
    };
    Some(departed.or(over).unwrap_or(plain))
}

fn departures() -> String {
    let mut text = String::new();
    for key in report_phrases::DEPARTURES {
        let _ = writeln!(
            text,
            "- `{key}`: {}",
            report_phrases::about(key).unwrap_or_default()
        );
    }
    text
}

fn timeouts() -> String {
    let mut text = String::new();
    for wait in WAITS {
        let default = wait
            .default_seconds
            .map_or("none".to_owned(), |seconds| format!("{seconds} s"));
        let _ = writeln!(
            text,
            "- {}: {default}, set by `{}`",
            wait.timeout.name(),
            wait.field
        );
    }
    text
}

/// A state with the names of messages that it may get.
type StateMessages = (State, Vec<String>);

/// Returns what each message becomes, determined by sending it through the translator.
fn events() -> String {
    let informs = |kind: &str| message(OTHER, "INFORM", json!({"informType": kind}));
    let plain = |performative: &str| message(OTHER, performative, json!({}));
    let mut cases: Vec<(State, String, Value)> = vec![
        (State::Idle, "PROPOSE of a session".to_owned(), invitation()),
        (State::Invited, "ACCEPT".to_owned(), plain("ACCEPT")),
        (
            State::Invited,
            "INFORM identity".to_owned(),
            informs("identity"),
        ),
        (State::Invited, "REJECT".to_owned(), plain("REJECT")),
    ];
    for performative in Performative::ALL {
        cases.push((
            State::Conversing,
            performative.name().to_owned(),
            plain(performative.name()),
        ));
    }
    for (state, name) in [
        (State::Agreeing, "ACCEPT"),
        (State::Agreeing, "REJECT"),
        (State::Agreeing, "COUNTER"),
        (State::Executing, "CLOSE"),
    ] {
        cases.push((state, name.to_owned(), plain(name)));
    }
    for kind in ["progress", "result", "error"] {
        cases.push((State::Executing, format!("INFORM {kind}"), informs(kind)));
    }
    let fatal = message(
        OTHER,
        "INFORM",
        json!({"informType": "error", "recoverable": false}),
    );
    cases.push((
        State::Executing,
        "INFORM error, not recoverable".to_owned(),
        fatal,
    ));
    cases.push((
        State::Escalated,
        "INFORM resolution".to_owned(),
        informs("resolution"),
    ));
    let refusal = message(OTHER, "REJECT", json!({"code": "invalid_state_transition"}));
    cases.push((
        State::Conversing,
        "REJECT invalid_state_transition".to_owned(),
        refusal,
    ));
    // The messages of each state, by the events that they become.
    let mut groups: Vec<(String, Vec<StateMessages>)> = Vec::new();
    for (state, name, value) in cases {
        let kinds = becomes(state, &value).join(", ");
        let at = groups.iter().position(|(known, _)| *known == kinds);
        let at = at.unwrap_or_else(|| {
            groups.push((kinds, Vec::new()));
            groups.len() - 1
        });
        let Some((_, states)) = groups.get_mut(at) else {
            continue;
        };
        match states.iter_mut().find(|(known, _)| *known == state) {
            Some((_, messages)) => messages.push(name),
            None => states.push((state, vec![name])),
        }
    }
    let mut text = String::new();
    for (kinds, states) in groups {
        let states = states.iter();
        let states =
            states.map(|(state, names)| format!("in {} {}", state.name(), names.join(", ")));
        let states: Vec<String> = states.collect();
        let _ = writeln!(text, "- {kinds}: {}", states.join("; "));
    }
    text
}

/// Returns the AAEP events that a message becomes in a state.
fn becomes(state: State, value: &Value) -> Vec<String> {
    let mut asp = Asp::new(DialectSetup::unattended());
    let now = start();
    let mut out = Vec::new();
    for before in way_to(state) {
        asp.news(
            &LinkEvent::Frame(Frame::of(before.to_string())),
            &mut Cx::new(now, &mut out),
        );
    }
    out.clear();
    asp.news(
        &LinkEvent::Frame(Frame::of(value.to_string())),
        &mut Cx::new(now, &mut out),
    );
    let events = out.iter().filter_map(|out| match out {
        DialectOutput::Event(text) | DialectOutput::ViewOnly(text) => {
            serde_json::from_str::<Map<String, Value>>(text).ok()
        }
        _ => None,
    });
    let text = |event: &Map<String, Value>, key: &str| {
        event.get(key).and_then(Value::as_str).map(str::to_owned)
    };
    let mut kinds = Vec::new();
    for event in events {
        let kind = text(&event, "type").unwrap_or_default();
        let kind = kind.trim_start_matches("aaep:agent.");
        let critical = matches!(kind, "state.changed" | "session.cancelled")
            && text(&event, "urgency").is_some();
        kinds.push(format!(
            "`{kind}`{}",
            if critical { " (critical)" } else { "" }
        ));
    }
    kinds
}

fn start() -> Now {
    Now {
        monotonic: std::time::Duration::ZERO,
        wall: jiff::Timestamp::UNIX_EPOCH,
    }
}

fn take(session: &mut Negotiation, value: &Value) -> Option<super::session::MessageEffect> {
    session.take(
        &AspMessage::read(value.as_object()?)?,
        start(),
        &mut NoObserver,
    )
}

fn message(sender: &str, performative: &str, body: Value) -> Value {
    let mut full = json!({"reason": "said", "urgency": "high", "terms": {"price": 1}});
    if let (Some(full), Value::Object(body)) = (full.as_object_mut(), body) {
        full.extend(body);
    }
    json!({"performative": performative, "sender": sender, "sessionId": "s", "content": {"body": full}})
}

fn invitation() -> Value {
    message(ONE, "PROPOSE", json!({"type": "session-invitation"}))
}

/// The ordinary messages that lead to a state.
fn way_to(state: State) -> Vec<Value> {
    let identity = |sender: &str| message(sender, "INFORM", json!({"informType": "identity"}));
    let mut way = vec![
        invitation(),
        message(OTHER, "ACCEPT", json!({})),
        identity(ONE),
        identity(OTHER),
        message(ONE, "QUERY", json!({})),
    ];
    let commit = message(ONE, "COMMIT", json!({}));
    match state {
        State::Idle => way.clear(),
        State::Invited => way.truncate(1),
        State::Introduced => way.truncate(4),
        State::Conversing => {}
        State::Agreeing => way.push(commit),
        State::Executing => way.extend([commit, message(OTHER, "ACCEPT", json!({}))]),
        State::Escalated => way.push(message(OTHER, "ESCALATE", json!({}))),
        State::Closed => way.push(message(ONE, "CLOSE", json!({}))),
        State::Failed => {
            way.truncate(1);
            way.push(message(OTHER, "REJECT", json!({})));
        }
    }
    way
}
