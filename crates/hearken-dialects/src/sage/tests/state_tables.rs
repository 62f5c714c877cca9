//! The tables against the document, row by row and pair by pair.
//!
//! The document's code is repeated here, as text: changing a row in one place without the other makes a test fail.

use std::collections::BTreeSet;

use crate::protocol::Machine;

use super::super::state_tables::{Agent, AgentEvent, GAPS, Session, SessionEvent, Stream, Tool};

/// The code of section 2.2: state left, event, state entered; `_` is any state.
const SESSION: &str = "
    Initializing + Initialized = Active
    Active + Chat = Processing
    Processing + AgentComplete = Active
    Processing + NeedInput = Paused
    Paused + Resume = Processing
    _ + End = Ended
    _ + Error = Ended
    _ + Timeout = Ended";

/// The code of section 3.2.
const AGENT: &str = "
    Initializing + Ready = Ready
    Ready + Execute = Thinking
    Thinking + ToolCalls = ExecutingTools
    ExecutingTools + ToolComplete = ExecutingTools
    ExecutingTools + ToolsComplete = Thinking
    Thinking + NeedPermission = WaitingPermission
    WaitingPermission + PermissionGranted = Thinking
    _ + Complete = Completed
    _ + Cancel = Cancelled
    _ + Error = Error";

/// The steps missing in that code.
const LACKS: &str = "
    WaitingPermission + PermissionDenied = Thinking
    ExecutingTools + NeedPermission = WaitingPermission
    Thinking + TextOutput = Thinking
    Thinking + Continue = Thinking";

/// The code of section 4.2.
const TOOL: &str = "
    Pending + Start = Queued
    Queued + PermitAcquired = CheckingPermission
    CheckingPermission + PermissionAllowed = Running
    CheckingPermission + PermissionDenied = Denied
    Running + Progress = Running
    Running + Complete = Success
    Running + Fail = Failed
    Running + Timeout = Timeout
    _ + Cancel = Cancelled";

/// The code of section 5.2.
const STREAM: &str = "
    Disconnected + Connect = Connecting
    Connecting + Connected = Connected
    Connected + StartStreaming = Streaming
    Streaming + DataReceived = Streaming
    Streaming + Complete = Completed
    _ + Disconnect = Disconnected
    _ + Error = Failed
    Failed + Reconnect = Connecting";

/// The states and events of each machine, in the document's order.
const NAMES: [(&str, &str, &str); 4] = [
    (
        "session",
        "Initializing Active Processing Paused Ended",
        "Initialized Chat NeedInput Resume AgentComplete End Error Timeout",
    ),
    (
        "agent",
        "Initializing Ready Thinking ExecutingTools WaitingPermission Completed Cancelled Error",
        "Ready Execute TextOutput ToolCalls ToolComplete ToolsComplete NeedPermission PermissionGranted \
         PermissionDenied Continue Complete Cancel Error",
    ),
    (
        "tool",
        "Pending Queued CheckingPermission Running Success Failed Timeout Cancelled Denied",
        "Start PermitAcquired PermissionAllowed PermissionDenied Progress Complete Fail Timeout Cancel",
    ),
    (
        "stream",
        "Disconnected Connecting Connected Streaming Completed Failed",
        "Connect Connected StartStreaming DataReceived Complete Error Disconnect Reconnect",
    ),
];

type DocumentRow = (String, String, String);

/// Reads rows; a row for any state expands to one for each state.
fn rows(text: &str, states: &[&str]) -> Vec<DocumentRow> {
    let mut rows = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (from, rest) = line.split_once(" + ").unwrap();
        let (event, to) = rest.split_once(" = ").unwrap();
        let from = match from {
            "_" => states.to_vec(),
            one => vec![one],
        };
        rows.extend(
            from.into_iter()
                .map(|from| (from.to_owned(), event.to_owned(), to.to_owned())),
        );
    }
    rows
}

/// Checks one machine against its document: the names, each row, and each pair without a row.
fn holds<M: Machine>(document: &str) {
    let (_, states, events) = NAMES.iter().find(|(name, ..)| *name == M::NAME).unwrap();
    let states: Vec<&str> = states.split_whitespace().collect();
    let events: Vec<&str> = events.split_whitespace().collect();
    let own: Vec<&str> = M::STATES.iter().map(|state| state.label()).collect();
    assert_eq!(own, states, "{}", M::NAME);
    let own: Vec<&str> = M::EVENTS.iter().map(|it| M::event_label(*it)).collect();
    assert_eq!(own, events, "{}", M::NAME);
    assert_eq!(M::INITIAL.label(), states[0]);
    let written = rows(document, &states);
    let mut legal = BTreeSet::new();
    for (from, event, to) in &written {
        assert!(states.contains(&from.as_str()) && events.contains(&event.as_str()));
        legal.insert((from.as_str(), event.as_str()));
        let state = M::STATES.iter().find(|it| it.label() == from).unwrap();
        let what = M::EVENTS.iter().find(|it| M::event_label(**it) == event);
        let entered = state.transition(*what.unwrap()).map(M::label);
        assert_eq!(entered, Ok(to.as_str()), "{}: {from} + {event}", M::NAME);
    }
    assert_eq!(legal.len(), written.len(), "no pair has two rows");
    for from in M::STATES {
        for event in M::EVENTS {
            let pair = (from.label(), M::event_label(*event));
            let taken = from.can_transition(*event);
            assert_eq!(taken, legal.contains(&pair), "{}: {pair:?}", M::NAME);
        }
    }
    let illegal = M::illegal_pairs().len();
    assert_eq!(illegal + legal.len(), states.len() * events.len());
    assert_eq!(M::valid_transitions().len(), written.len());
}

#[test]
fn every_machine_is_what_the_code_of_the_document_says() {
    holds::<Session>(SESSION);
    holds::<Agent>(&format!("{AGENT}{LACKS}"));
    holds::<Tool>(TOOL);
    holds::<Stream>(STREAM);
}

#[test]
fn the_gaps_are_these_and_no_others() {
    let listed: Vec<DocumentRow> = GAPS
        .iter()
        .map(|gap| {
            let step = gap.step;
            let event = Agent::event_label(step.event);
            (step.from.label(), event, step.to.label())
        })
        .map(|(from, event, to)| (from.to_owned(), event.to_owned(), to.to_owned()))
        .collect();
    assert_eq!(listed, rows(LACKS, &[]));
    for gap in GAPS {
        assert!(Agent::valid_transitions().contains(&gap.step), "{gap:?}");
    }
    let states: Vec<&str> = Agent::STATES.iter().map(|state| state.label()).collect();
    let code: Vec<DocumentRow> = rows(AGENT, &states);
    assert!(listed.iter().all(|row| !code.contains(row)));
}

#[test]
fn what_is_held_is_what_has_not_begun() {
    let named = |which: fn(Tool) -> bool| -> Vec<&str> {
        let states = Tool::STATES.iter().filter(|state| which(**state));
        states.map(|state| state.label()).collect()
    };
    assert_eq!(
        named(Tool::is_held),
        ["Pending", "Queued", "CheckingPermission"]
    );
    assert_eq!(
        named(Tool::is_over),
        ["Success", "Failed", "Timeout", "Cancelled", "Denied"]
    );
}

// The three tests of section 7.

#[test]
fn test_session_happy_path() {
    let mut state = Session::Initializing;
    state = state.transition(SessionEvent::Initialized).unwrap();
    assert_eq!(state, Session::Active);
    state = state.transition(SessionEvent::Chat).unwrap();
    assert_eq!(state, Session::Processing);
    state = state.transition(SessionEvent::AgentComplete).unwrap();
    assert_eq!(state, Session::Active);
}

#[test]
fn test_invalid_transition() {
    let error = Session::Ended.transition(SessionEvent::Chat).unwrap_err();
    assert_eq!((error.from, error.event), ("Ended", "Chat"));
}

#[test]
fn test_agent_tool_execution_flow() {
    let mut state = Agent::Initializing;
    state = state.transition(AgentEvent::Ready).unwrap();
    state = state.transition(AgentEvent::Execute).unwrap();
    assert_eq!(state, Agent::Thinking);
    state = state.transition(AgentEvent::ToolCalls).unwrap();
    assert_eq!(state, Agent::ExecutingTools);
}
