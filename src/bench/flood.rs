//! Events as busy agents send them: of ten, six are pieces of text, two are states, two are tools.
//!
//! Responsibilities: the texts of such a flood, from each of its sessions in turn, all of which start before anything
//! else happens; questions of further sessions that stay open; marks by which an event is recognised in the output. Not
//! here: the rate and the transport.

use std::time::Duration;

use jiff::Timestamp;

/// Pieces of an agent's text, as models send them.
const TEXT: [&str; 8] = [
    "I looked at the ",
    "configuration and found ",
    "two problems. The first ",
    "is that the retry limit ",
    "is too low for a slow ",
    "network; the second is ",
    "that the timeout is ",
    "never read. Should I change both? ",
];

/// The turns in ten that are pieces of text. In the others the agent starts writing, starts calling, the tool begins,
/// the tool returns; the last piece comes before the state that ends the call.
const PIECES: [usize; 6] = [1, 2, 3, 4, 7, 9];

/// The end of a tool's result; a mark replaces this number with its own.
const LINES: &str = " has 120 lines.";

/// An endless iterator of event texts: first a start for each session, then their activity, in turn.
#[derive(Debug)]
pub struct Flood {
    start: Timestamp,
    /// How many bytes of text each session has sent.
    said: Vec<usize>,
    /// How many of the sessions are active after their start.
    busy: usize,
    /// The number of agents that all sessions belong to.
    agents: usize,
    /// How many further sessions ask something and wait.
    asking: usize,
    /// The time between two events of a session.
    apart: Duration,
    made: usize,
}

impl Flood {
    /// Creates a flood of `sessions` sessions that begin at `start`, each with an event every millisecond.
    pub fn new(sessions: usize, start: Timestamp) -> Self {
        let sessions = sessions.max(1);
        Self {
            start,
            said: vec![0; sessions],
            busy: sessions,
            agents: 1,
            asking: 0,
            apart: Duration::from_millis(1),
            made: 0,
        }
    }

    /// Limits how many of the sessions are active after their start.
    #[must_use]
    pub fn with_busy(self, most: usize) -> Self {
        let busy = most.clamp(1, self.said.len());
        Self { busy, ..self }
    }

    /// Distributes the sessions over this many agents, in turn.
    #[must_use]
    pub fn with_agents(self, agents: usize) -> Self {
        let agents = agents.max(1);
        Self { agents, ..self }
    }

    /// Adds this many further sessions that ask something before any activity, and wait for the answer.
    #[must_use]
    pub fn with_asking(self, asking: usize) -> Self {
        Self { asking, ..self }
    }

    /// Returns the number of events before any activity: each session's start, and the asking sessions' states and
    /// questions.
    pub fn opening(&self) -> usize {
        self.said.len() + 3 * self.asking
    }

    /// Sets the events' timestamps to a rate per second, over all sessions together.
    #[must_use]
    pub fn at_rate(self, a_second: u32) -> Self {
        let busy = u32::try_from(self.busy).unwrap_or(u32::MAX);
        let apart = Duration::from_secs(1) * busy / a_second.max(1);
        Self { apart, ..self }
    }

    /// Returns an event from before any activity: its session, its number there, its name and its fields.
    fn open(&self, at: usize) -> (usize, usize, &'static str, String) {
        let sessions = self.said.len();
        let Some(asked) = at.checked_sub(sessions + self.asking) else {
            let words = r#""summary_normal":"Checking the code.","request_text":"Check the code.""#;
            return (at, 0, "session.started", words.to_owned());
        };
        let session = sessions + asked / 2;
        match asked % 2 {
            0 => {
                let words = r#""from_state":"idle","to_state":"awaiting_input","summary_terse":"Waits.","summary_normal":"Waiting for you.""#;
                (session, 1, "state.changed", words.to_owned())
            }
            _ => {
                let words = format!(
                    r#""action":"Write file {asked}","consequence":"The file is replaced.","risk_level":"low","irreversible":false,"timeout_seconds":86400,"default_decision":"reject","reply_token":"rpl_{session:032x}","summary_normal":"It asks for file {asked}.""#
                );
                (session, 2, "awaiting.confirmation", words)
            }
        }
    }

    /// Returns the name and the fields of a session's event at one of its turns.
    fn turn(&mut self, session: usize, nth: usize) -> (&'static str, String) {
        let (call, file) = (nth / 10, nth % 50);
        match nth % 10 {
            turn @ (0 | 5) => {
                let (from, to) = match turn {
                    0 if call == 0 => ("idle", "writing_output"),
                    0 => ("calling_tool", "writing_output"),
                    _ => ("writing_output", "calling_tool"),
                };
                let words = format!(
                    r#""from_state":"{from}","to_state":"{to}","summary_terse":"Next.","summary_normal":"Going on.""#
                );
                ("state.changed", words)
            }
            6 => {
                let words = format!(
                    r#""tool":"read_file","tool_call_id":"call_{call}","description":"Reads a file","args_summary":"src/file.rs","summary_terse":"Reading.","risk_level":"low","summary_normal":"Reading file {file}.","irreversible":false"#
                );
                ("tool.invoked", words)
            }
            8 => {
                let words = format!(
                    r#""tool":"read_file","tool_call_id":"call_{call}","status":"success","summary_normal":"File {file}{LINES}""#
                );
                ("tool.completed", words)
            }
            turn => {
                let before = PIECES.iter().filter(|piece| **piece < turn).count();
                let text = TEXT[(call * PIECES.len() + before) % TEXT.len()];
                let position = self.said[session];
                self.said[session] += text.len();
                let words = format!(
                    r#""chunk":"{text}","position":{position},"complete":false,"output_id":"out_1","content_type":"text/plain""#
                );
                ("output.streaming", words)
            }
        }
    }
}

impl Iterator for Flood {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let (session, number, name, words) = match self.made.checked_sub(self.opening()) {
            None => self.open(self.made),
            Some(at) => {
                let (session, nth) = (at % self.busy, at / self.busy);
                let (name, words) = self.turn(session, nth);
                (session, nth + 1, name, words)
            }
        };
        let (id, agent) = match self.agents {
            1 => Default::default(),
            agents => (
                format!("-{}", session % agents),
                format!(" {}", session % agents),
            ),
        };
        let urgency = match name {
            "awaiting.confirmation" => "critical",
            _ => "normal",
        };
        self.made += 1;
        let since = self.apart * u32::try_from(number).unwrap_or(u32::MAX);
        let stamp = self.start.saturating_add(since).unwrap_or(self.start);
        Some(format!(
            r#"{{"@context":"https://aaep-protocol.org/context/v1","aaep_version":"1.0.0","type":"aaep:agent.{name}","event_id":"evt_{:032x}","session_id":"sess_{session:032x}","sequence_number":{number},"timestamp":"{stamp:.3}","producer":{{"agent_id":"flood-agent{id}","agent_version":"1.0.0","agent_name":"Flood Agent{agent}"}},"urgency":"{urgency}","localization_hints":{{"primary_language":"en-US","text_direction":"ltr"}},{words}}}"#,
            self.made
        ))
    }
}

/// Returns a tool's result with a mark in its words; `None` if the event is not a tool's result.
pub fn marked(event: &str, mark: usize) -> Option<String> {
    event
        .contains(LINES)
        .then(|| event.replace(LINES, &format!(" has {mark} lines.")))
}

/// Returns the mark in an output line with such a result. The first line of a minute has the time at its end.
pub fn mark_in(line: &str) -> Option<usize> {
    let (_, rest) = line.split_once(" has ")?;
    let (mark, _) = rest.split_once(" lines.")?;
    mark.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkId;
    use crate::protocol::{Now, decode};
    use crate::session::{Change, ChangeKind, Sessions};

    fn start() -> Timestamp {
        "2026-11-23T02:00:00Z".parse().unwrap()
    }

    #[test]
    fn of_ten_events_six_are_text_two_are_states_and_two_are_tools_and_none_breaks_a_rule() {
        for sessions in [1, 7] {
            let events: Vec<String> = Flood::new(sessions, start()).take(sessions * 101).collect();
            let of = |name: &str| {
                let name = format!("aaep:agent.{name}");
                events.iter().filter(|event| event.contains(&name)).count()
            };
            let names = [
                "session.started",
                "output.streaming",
                "state.changed",
                "tool.",
            ];
            let wanted = [1, 60, 20, 20].map(|count| count * sessions);
            assert_eq!(names.map(of), wanted);
            let mut known = Sessions::default();
            known.add_link(LinkId(0), false);
            for (at, event) in events.iter().enumerate() {
                let decoded = decode(event).unwrap();
                assert!(decoded.findings.is_empty(), "{:?}", decoded.findings);
                let now = Now {
                    monotonic: Duration::from_millis(at as u64),
                    wall: start(),
                };
                let changes = known.apply(LinkId(0), decoded, now);
                let breaks = |change: &&Change| matches!(change.kind, ChangeKind::Anomaly(_));
                assert_eq!(changes.iter().find(breaks), None);
            }
        }
    }

    #[test]
    fn each_session_begins_before_any_of_them_goes_on() {
        let mut flood = Flood::new(3, start());
        let starts: Vec<String> = flood.by_ref().take(3).collect();
        assert!(starts.iter().all(|event| event.contains("session.started")));
        assert!(flood.next().unwrap().contains("state.changed"));
        let goes_on = |event: &String| !event.contains("session.started");
        let busy = Flood::new(3, start()).with_busy(1).filter(goes_on).take(9);
        assert!(
            busy.into_iter()
                .all(|event| event.contains(&format!("sess_{:032x}", 0)))
        );
    }

    #[test]
    fn those_that_ask_are_of_the_same_agents_wait_and_break_no_rule() {
        let flood = Flood::new(5, start()).with_agents(3).with_asking(4);
        assert_eq!(flood.opening(), 17);
        let mut known = Sessions::default();
        known.add_link(LinkId(0), true);
        let now = Now {
            monotonic: Duration::ZERO,
            wall: start(),
        };
        for (at, event) in flood.take(17 + 200).enumerate() {
            let decoded = decode(&event).unwrap();
            assert!(decoded.findings.is_empty(), "{:?}", decoded.findings);
            let changes = known.apply(LinkId(0), decoded, now);
            let breaks = |change: &&Change| matches!(change.kind, ChangeKind::Anomaly(_));
            assert_eq!(changes.iter().find(breaks), None);
            let open = known.open_questions().count();
            assert_eq!(open, at.saturating_sub(8).min(8) / 2, "event {at}");
        }
        let agents = known.iter().map(|session| session.agent.to_string());
        let agents: std::collections::BTreeSet<String> = agents.collect();
        let named = ["Flood Agent 0", "Flood Agent 1", "Flood Agent 2"];
        assert_eq!(agents, named.map(str::to_owned).into());
    }

    #[test]
    fn a_mark_is_found_again_in_a_line() {
        let results = Flood::new(1, start()).filter_map(|event| marked(&event, 17));
        let result = results.take(1).next().unwrap();
        assert!(result.contains("File 8 has 17 lines."));
        assert_eq!(mark_in("Tool: File 7 has 17 lines."), Some(17));
        assert_eq!(mark_in("Tool: File 7 has 17 lines. (13:41)"), Some(17));
        assert_eq!(mark_in("Flood Agent says: a file has lines."), None);
    }
}
