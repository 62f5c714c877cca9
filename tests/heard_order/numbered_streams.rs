//! Legal numbered streams, the effects of a transport or a late start on them, and what must then be
//! heard.

use std::collections::BTreeSet;
use std::time::Duration;

use hearken::link::LinkId;
use hearken::protocol::{Now, decode};
use hearken::session::{
    AnomalyKind, Change, ChangeKind, Danger, Gravity, QuestionBody, SessionEndEvent, Sessions,
};
use serde_json::{Value, json};

/// How far an event may be from its place: the sessions wait for this many.
const WINDOW: usize = 8;
/// The whole window passes within the time that the sessions wait.
const STEPS: [u64; 3] = [0, 10, 30];
const LINK: LinkId = LinkId(0);

/// A random number generator (SplitMix64).
struct StreamDice(u64);

impl StreamDice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as usize % bound.max(1)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// An irreversible call, and the positions of the call and its question in the stream.
#[derive(Debug)]
struct IrreversibleCall {
    tool: String,
    question: Option<usize>,
    invoked: usize,
    completed: usize,
}

/// Writes a stream.
#[derive(Default)]
struct StreamWriter {
    /// The events in wire form: a hundred thousand streams of them are generated.
    events: Vec<String>,
    calls: Vec<IrreversibleCall>,
    made: usize,
}

impl StreamWriter {
    fn write(&mut self, kind: &str, fields: &Value) -> usize {
        let number = self.events.len();
        let fields = fields.to_string();
        let fields = fields.trim_start_matches('{');
        let comma = if fields == "}" { "" } else { "," };
        let event = format!(
            concat!(
                r#"{{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.{}","event_id":"evt_{}","#,
                r#""session_id":"sess_1","sequence_number":{1},"timestamp":"2026-01-01T00:00:00.{:03}Z","#,
                r#""producer":{{"agent_id":"a"}},"summary_normal":"word {1}"{}{}"#,
            ),
            kind,
            number,
            number + 1,
            comma,
            fields,
        );
        self.events.push(event);
        number
    }

    fn state(&mut self, from: &str, to: &str) {
        self.write(
            "state.changed",
            &json!({"from_state": from, "to_state": to}),
        );
    }

    fn tool(&mut self, dice: &mut StreamDice) {
        self.made += 1;
        let mut fields = json!({"tool": format!("look_{}", dice.below(2))});
        // A call without an id is legal, too, as long as it is the only one.
        if !dice.one_in(3) {
            fields["tool_call_id"] = json!(format!("call_{}", self.made));
        }
        self.state("thinking", "calling_tool");
        self.write("tool.invoked", &fields);
        if dice.one_in(2) {
            self.write("progress.updated", &json!({"progress": {"percent": 50}}));
        }
        fields["status"] = json!("success");
        self.write("tool.completed", &fields);
        self.state("calling_tool", "thinking");
    }

    /// An irreversible call, asked about before it is invoked, after it, or never.
    fn deed(&mut self, dice: &mut StreamDice, asks: bool) {
        self.made += 1;
        let tool = format!("deed_{}", self.made);
        let id = format!("call_{}", self.made);
        let mut question = json!({
            "action": format!("Call {tool} now"), "consequence": "It is done.", "reply_token": format!("rpl_{}", self.made),
            "timeout_seconds": 300, "default_decision": "reject", "risk_level": "high", "irreversible": true, "urgency": "critical",
        });
        if dice.one_in(2) {
            question["tool_call_id"] = json!(id);
        }
        let call =
            json!({"tool": tool, "tool_call_id": id, "irreversible": true, "risk_level": "high"});
        let done = json!({"tool": tool, "tool_call_id": id, "status": "success"});
        let before = dice.one_in(2);
        let mut asked = None;
        let mut invoked = None;
        if asks && before {
            self.state("thinking", "awaiting_input");
            asked = Some(self.write("awaiting.confirmation", &question));
            self.state("awaiting_input", "calling_tool");
        } else {
            self.state("thinking", "calling_tool");
            invoked = Some(self.write("tool.invoked", &call));
            if asks {
                self.state("calling_tool", "awaiting_input");
                asked = Some(self.write("awaiting.confirmation", &question));
                self.state("awaiting_input", "calling_tool");
            }
        }
        let invoked = invoked.unwrap_or_else(|| self.write("tool.invoked", &call));
        let completed = self.write("tool.completed", &done);
        self.calls.push(IrreversibleCall {
            tool,
            question: asked,
            invoked,
            completed,
        });
        self.state("calling_tool", "thinking");
    }

    fn output(&mut self, dice: &mut StreamDice) {
        self.made += 1;
        let chunks = 1 + dice.below(4);
        self.state("thinking", "writing_output");
        for chunk in 0..chunks {
            let number = self.events.len();
            self.write(
                "output.streaming",
                &json!({"output_id": format!("out_{}", self.made), "chunk": format!("word {number}"),
                       "position": 10 * chunk, "complete": chunk + 1 == chunks}),
            );
        }
        self.state("writing_output", "thinking");
    }

    fn clarification(&mut self) {
        self.made += 1;
        self.state("thinking", "awaiting_input");
        self.write(
            "awaiting.clarification",
            &json!({"question": format!("Which {}?", self.made), "reply_token": format!("rpl_{}", self.made), "timeout_seconds": 300,
                   "urgency": "critical", "accepted_response_kinds": ["freetext"]}),
        );
        self.state("awaiting_input", "thinking");
    }
}

fn stream(dice: &mut StreamDice) -> StreamWriter {
    let mut writer = StreamWriter::default();
    writer.write("session.started", &json!({}));
    writer.state("idle", "thinking");
    for _ in 0..1 + dice.below(6) {
        match dice.below(6) {
            0 => {
                writer.write("progress.updated", &json!({"progress": {"percent": 10}}));
            }
            1 => writer.tool(dice),
            2 => writer.deed(dice, true),
            // The one thing that no producer may do: it must be found whatever is lost.
            3 if dice.one_in(3) => writer.deed(dice, false),
            3 => writer.deed(dice, true),
            4 => writer.output(dice),
            _ => writer.clarification(),
        }
    }
    let end = match dice.below(3) {
        0 => (
            "session.errored",
            json!({"error_category": "unknown", "urgency": "critical"}),
        ),
        1 => ("session.cancelled", json!({"cancelled_by": "user"})),
        _ => ("session.completed", json!({})),
    };
    writer.write(end.0, &end.1);
    writer
}

/// Returns the numbers of a stream in order of arrival.
fn arrivals(dice: &mut StreamDice, length: usize) -> Vec<usize> {
    let cut = if dice.one_in(2) {
        dice.below(length)
    } else {
        0
    };
    let mut numbers: Vec<usize> = (cut..length).collect();
    if dice.one_in(2) && numbers.len() > 1 {
        numbers.remove(dice.below(numbers.len()));
    }
    if dice.one_in(2) && numbers.len() > 1 {
        // When a run is joined midway, the first event to arrive is heard first; only a start that is
        // overtaken by the event after it is known to be on its way.
        let from = usize::from(!numbers.starts_with(&[0, 1]));
        let one = from + dice.below(numbers.len() - from);
        let farthest = if one == 0 { 1 } else { WINDOW };
        let other = (one + 1 + dice.below(farthest)).min(numbers.len() - 1);
        numbers.swap(one.min(other), other);
    }
    numbers
}

/// Returns the words of a change, if it comes from an event.
fn words(change: &Change, sessions: &Sessions) -> Option<String> {
    let summary = match &change.kind {
        ChangeKind::SessionStarted(event) => &event.summary,
        ChangeKind::SessionEnded(SessionEndEvent::Completed(event)) => &event.summary,
        ChangeKind::SessionEnded(SessionEndEvent::Errored(event)) => &event.summary,
        ChangeKind::SessionEnded(SessionEndEvent::Cancelled(event)) => &event.summary,
        ChangeKind::StateChanged(event) => &event.summary,
        ChangeKind::Progress(event) => &event.summary,
        ChangeKind::ToolInvoked(event) => &event.summary,
        ChangeKind::ToolCompleted { event, .. } => &event.summary,
        ChangeKind::Output { event, .. } => return Some(event.chunk.clone()),
        ChangeKind::QuestionOpened(id) => match &sessions.question(*id).unwrap().body {
            QuestionBody::Confirmation(asked) => &asked.summary,
            QuestionBody::Clarification(asked) => &asked.summary,
        },
        ChangeKind::Handoff(event) => &event.summary,
        ChangeKind::Unknown { event, .. } => &event.summary,
        ChangeKind::SessionJoined
        | ChangeKind::HelperJoined
        | ChangeKind::HelperEnded(_)
        | ChangeKind::QuestionAnswerable(_)
        | ChangeKind::QuestionFreed(_)
        | ChangeKind::QuestionDoubted(_)
        | ChangeKind::QuestionUnheard(_)
        | ChangeKind::QuestionsWaiting { .. }
        | ChangeKind::QuestionWarning { .. }
        | ChangeKind::QuestionTimedOut(_)
        | ChangeKind::QuestionPerhapsResolved(_)
        | ChangeKind::QuestionClosed { .. }
        | ChangeKind::Anomaly(_)
        | ChangeKind::Danger(_) => return None,
    };
    summary.normal.clone()
}

/// Plays one generated stream and checks everything that must hold for it. The seed identifies the
/// stream.
pub fn play(seed: u64) {
    let mut dice = StreamDice(seed);
    let StreamWriter { events, calls, .. } = stream(&mut dice);
    let arrived = arrivals(&mut dice, events.len());
    let step = Duration::from_millis(STEPS[dice.below(STEPS.len())]);
    let mut now = Now {
        monotonic: Duration::from_secs(9),
        wall: "2026-01-01T00:00:00Z".parse().unwrap(),
    };
    let mut sessions = Sessions::default();
    sessions.add_link(LINK, dice.one_in(2));
    sessions.link_connected(LINK, now);
    let mut heard: Vec<Change> = Vec::new();
    let mut said = Vec::new();
    let mut hear = |sessions: &Sessions, changes: Vec<Change>| {
        said.extend(changes.iter().filter_map(|change| words(change, sessions)));
        heard.extend(changes);
    };
    for number in &arrived {
        now = now.after(step);
        while sessions.deadline().is_some_and(|due| due <= now.monotonic) {
            let changes = sessions.tick(now);
            hear(&sessions, changes);
        }
        let changes = sessions.apply(LINK, decode(&events[*number]).unwrap(), now);
        hear(&sessions, changes);
    }
    if dice.one_in(2) {
        let changes = sessions.release_link(LINK, now);
        hear(&sessions, changes);
    } else {
        let changes = sessions.tick(now.after(Duration::from_millis(250)));
        hear(&sessions, changes);
    }
    assert!(!sessions.is_holding(), "seed {seed}: something still waits");

    let there: BTreeSet<usize> = arrived.iter().copied().collect();
    let wanted: Vec<String> = there
        .iter()
        .map(|number| format!("word {number}"))
        .collect();
    assert_eq!(said, wanted, "seed {seed}: {arrived:?}");
    let (first, last) = (there.first().unwrap(), there.last().unwrap());
    let lost = last - first + 1 - there.len();
    let mut anomalies = Vec::new();
    let mut dangers = Vec::new();
    for change in heard {
        if let ChangeKind::Anomaly(anomaly) = change.kind {
            anomalies.push((anomaly.kind, anomaly.detail.name().to_owned()));
        } else if let ChangeKind::Danger(danger) = change.kind {
            dangers.push(danger);
        }
    }
    let expected = vec![(AnomalyKind::SequenceGap, "1".to_owned()); lost];
    assert_eq!(anomalies, expected, "seed {seed}: {arrived:?}");
    for call in &calls {
        let of_it: Vec<&Danger> = dangers
            .iter()
            .filter(|danger| danger.tool() == Some(&call.tool))
            .collect();
        let heard_asking = call.question.is_some_and(|number| there.contains(&number));
        let done = there.contains(&call.invoked) && there.contains(&call.completed);
        let missed = *first > 0 || (0..call.completed).any(|number| !there.contains(&number));
        let perhaps = [&Danger::PerhapsUnasked {
            tool: call.tool.clone(),
            done: true,
            gravity: Gravity::Irreversible,
        }];
        let surely = [&Danger::Unasked {
            tool: call.tool.clone(),
            done: true,
            gravity: Gravity::Irreversible,
        }];
        match (heard_asking, done, missed) {
            (true, _, _) | (false, false, _) => {
                assert_eq!(
                    of_it,
                    [] as [&Danger; 0],
                    "seed {seed}: {arrived:?} {call:?}"
                );
            }
            (false, true, false) => {
                assert_eq!(of_it, surely, "seed {seed}: {arrived:?} {call:?}");
            }
            // One missing message hides at most one question: an agent that did more unasked certainly
            // did it.
            (false, true, true) if call.question.is_none() => {
                assert!(
                    of_it == perhaps || of_it == surely,
                    "seed {seed}: {arrived:?} {call:?} {of_it:?}"
                );
            }
            (false, true, true) => {
                assert_eq!(of_it, perhaps, "seed {seed}: {arrived:?} {call:?}");
            }
        }
    }
}
