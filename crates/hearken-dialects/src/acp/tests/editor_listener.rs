//! Listening in on an editor and its agent.

use crate::Cx;
use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::editor_listener::{AgentListener, DecisionResult};
use super::*;
use hearken_core::inspect::Checker;

/// A bench that listens in and checks every event.
struct Ears {
    along: AgentListener,
    checker: Checker,
    events: Vec<Value>,
    faults: Vec<String>,
    /// The messages to the agent: the ticket, the number of the answer, the message.
    sent: Vec<(u64, u64, Value)>,
    settled: Vec<(u64, bool)>,
    now: Now,
    /// The last ticket, and the last id of the editor.
    ticket: u64,
    id: u64,
}

impl Ears {
    fn new() -> Self {
        let mut ears = Self {
            along: AgentListener::new("agent", SharedWording::default(), 3),
            checker: Checker::new(),
            events: Vec::new(),
            faults: Vec::new(),
            sent: Vec::new(),
            settled: Vec::new(),
            now: Now {
                monotonic: Duration::ZERO,
                wall: "2026-03-07T14:30:00Z".parse().unwrap(),
            },
            ticket: 0,
            id: 100,
        };
        ears.editor(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}));
        ears.agent(json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {},
            "agentInfo": {"name": "fox", "title": "Fox"}}}));
        ears.editor(json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/work/a"}}));
        ears.agent(json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}));
        ears
    }

    fn with(&mut self, work: impl FnOnce(&mut AgentListener, &mut Cx<'_>)) {
        let mut out = Vec::new();
        work(&mut self.along, &mut Cx::new(self.now, &mut out));
        for out in out {
            match out {
                DialectOutput::Event(text) | DialectOutput::ViewOnly(text) => {
                    for item in self.checker.line(&text) {
                        if item.severity == Severity::Error {
                            self.faults.push(format!("{item:?}\n{text}"));
                        }
                    }
                    self.events.push(serde_json::from_str(&text).unwrap());
                }
                DialectOutput::Respond { id, request, body } => {
                    protocol_schema::hold(&body);
                    let body = serde_json::from_str(&body).unwrap();
                    self.sent.push((id, request.unwrap(), body));
                }
                DialectOutput::Settled { request, outcome } => {
                    self.settled.push((request, outcome.is_ok()))
                }
                DialectOutput::Over { .. } | DialectOutput::Announce(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn editor(&mut self, message: Value) {
        self.with(|along, cx| along.editor(&message.to_string(), cx));
    }

    fn agent(&mut self, message: Value) {
        self.with(|along, cx| along.agent(&message.to_string(), cx));
    }

    /// Has the editor prompt; returns the prompt's id.
    fn prompt(&mut self, conversation: &str) -> u64 {
        self.id += 1;
        self.editor(
            json!({"jsonrpc": "2.0", "id": self.id, "method": "session/prompt",
            "params": {"sessionId": conversation, "prompt": [{"type": "text", "text": "do it"}]}}),
        );
        self.id
    }

    fn update(&mut self, conversation: &str, update: Value) {
        self.agent(json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": conversation, "update": update}}));
    }

    fn ends(&mut self, id: u64, reason: &str) {
        self.agent(json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": reason}}));
    }

    /// Has the agent ask about a call under an id of its own; returns the ticket.
    fn asks(&mut self, conversation: &str, id: &Value, call: &str) -> u64 {
        self.ticket += 1;
        let ticket = self.ticket;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
            "params": {"sessionId": conversation, "toolCall": {"toolCallId": call, "title": "touch x",
                "rawInput": {"command": "touch x"}},
            "options": [{"optionId": "once", "name": "Yes", "kind": "allow_once"},
                {"optionId": "no", "name": "No", "kind": "reject_once"}]}});
        self.with(|along, cx| along.on_question(ticket, &line.to_string(), cx));
        ticket
    }

    fn editor_answers(&mut self, ticket: u64, option: &str) {
        let line = json!({"jsonrpc": "2.0", "id": 0,
            "result": {"outcome": {"outcome": "selected", "optionId": option}}});
        self.with(|along, cx| along.answered(ticket, &line.to_string(), cx));
    }

    fn decide(&mut self, request: u64, decision: &str, reason: Option<&str>) {
        let mut asked = self.events.iter().rev();
        let token = asked.find_map(|event| event["reply_token"].as_str());
        let reply = Reply {
            token: ReplyToken::new(token.unwrap_or("none").to_owned()),
            answer: Answer::Decision {
                decision: Decision::parse(decision),
                rationale: reason.map(str::to_owned),
            },
            timestamp: self.now.wall,
            decided_by: "user:local".to_owned(),
        };
        self.with(|along, cx| along.reply(request, &reply, cx));
    }

    fn became(&mut self, request: u64, how: DecisionResult) {
        self.with(|along, cx| along.became(request, how, cx));
    }

    fn kinds(&self) -> Vec<String> {
        let kind = |event: &Value| {
            let kind = event["type"].as_str().unwrap();
            let kind = kind.trim_start_matches("aaep:agent.");
            match (event["to_state"].as_str(), kind) {
                (Some(to), _) => to.to_owned(),
                (None, "hearken:notice") => event["summary_normal"].as_str().unwrap().to_owned(),
                (None, kind) => kind.to_owned(),
            }
        };
        self.events.iter().map(kind).collect()
    }

    /// Returns the kinds of events since the last call.
    fn news(&mut self) -> Vec<String> {
        let kinds = self.kinds();
        self.events.clear();
        kinds
    }
}

#[test]
fn a_turn_begins_with_the_prompt_of_the_editor_and_ends_with_the_answer_to_it() {
    let mut ears = Ears::new();
    let id = ears.prompt("s");
    assert_eq!(ears.events[0]["request_text"], "do it");
    assert_eq!(ears.events[0]["producer"]["agent_name"], "Fox");
    // An answer to anything else ends nothing.
    ears.ends(77, "end_turn");
    ears.update(
        "s",
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Read /work/a/x",
        "status": "completed"}),
    );
    ears.ends(id, "end_turn");
    let kinds = [
        "session.started",
        "thinking",
        "calling_tool",
        "tool.invoked",
        "tool.completed",
        "thinking",
        "session.completed",
    ];
    assert_eq!(ears.news(), kinds);
    // A turn that the editor stopped.
    let id = ears.prompt("s");
    ears.editor(
        json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}}),
    );
    ears.ends(id, "cancelled");
    assert_eq!(ears.events[2]["summary_normal"], "acp.along.end.stopped");
    assert_eq!(ears.events[2]["cancelled_by"], "user");
    // None of this was ever sent.
    assert!(
        ears.sent.is_empty() && ears.faults.is_empty(),
        "{:?}",
        ears.faults
    );
}

#[test]
fn several_conversations_have_a_turn_each_and_what_is_loaded_was_said_before() {
    let mut ears = Ears::new();
    let (one, other) = (ears.prompt("s"), ears.prompt("t"));
    ears.asks("s", &json!(0), "c");
    ears.ends(other, "end_turn");
    assert_eq!(ears.news().last().unwrap(), "session.completed");
    // The other turn goes on until its question is answered.
    ears.ends(one, "end_turn");
    assert_eq!(ears.news(), Vec::<String>::new());
    ears.editor_answers(1, "once");
    assert_eq!(
        ears.news(),
        ["calling_tool", "thinking", "session.completed"]
    );
    ears.editor(json!({"jsonrpc": "2.0", "id": 9, "method": "session/load", "params": {"sessionId": "u", "cwd": "/"}}));
    let says = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Old."}});
    ears.update("u", says.clone());
    assert_eq!(ears.news(), Vec::<String>::new());
    ears.agent(json!({"jsonrpc": "2.0", "id": 9, "result": {}}));
    ears.update("u", says);
    assert_eq!(ears.news()[0], "session.started");
    assert!(ears.faults.is_empty(), "{:?}", ears.faults);
}

#[test]
fn one_question_is_asked_at_a_time_and_an_answer_to_none_is_late() {
    let mut ears = Ears::new();
    ears.prompt("s");
    let first = ears.asks("s", &json!("own"), "a");
    ears.news();
    let second = ears.asks("s", &json!("later"), "b");
    ears.editor_answers(second, "no");
    assert_eq!(ears.news(), Vec::<String>::new());
    ears.decide(1, "accept", None);
    assert_eq!(ears.settled, [(1, false)]);
    assert_eq!(ears.news(), ["acp.along.over"]);
    ears.editor_answers(first, "once");
    assert_eq!(ears.news(), ["calling_tool"]);
    assert!(
        ears.sent.is_empty() && ears.faults.is_empty(),
        "{:?}",
        ears.faults
    );
}

#[test]
fn an_answer_goes_to_the_agent_under_its_own_id_and_counts_when_it_was_first() {
    let mut ears = Ears::new();
    ears.prompt("s");
    let ticket = ears.asks("s", &json!("own"), "a");
    ears.decide(1, "accept", None);
    let answer = json!({"jsonrpc": "2.0", "id": "own",
        "result": {"outcome": {"outcome": "selected", "optionId": "once"}}});
    assert_eq!(ears.sent, [(ticket, 1, answer)]);
    // A second answer counts for nothing.
    ears.decide(2, "reject", None);
    assert_eq!((ears.sent.len(), &ears.settled), (1, &vec![(2, false)]));
    ears.news();
    ears.became(1, DecisionResult::Here);
    assert_eq!(ears.news(), ["calling_tool"]);
    // The editor is faster: its answer comes while the person's is under way.
    let ticket = ears.asks("s", &json!("own"), "b");
    ears.decide(3, "accept", Some("because"));
    ears.editor_answers(ticket, "no");
    ears.news();
    ears.became(3, DecisionResult::There);
    assert_eq!(ears.news(), ["acp.along.late", "thinking"]);
    // The editor answers before the person does: nothing is sent.
    let ticket = ears.asks("s", &json!(1), "c");
    let question = ears.events.last().cloned();
    ears.editor_answers(ticket, "once");
    ears.events.extend(question);
    ears.decide(4, "accept", None);
    assert_eq!(ears.sent.len(), 2);
    assert_eq!(ears.kinds().last().unwrap(), "acp.along.over");
    // A reason can't be delivered.
    ears.asks("s", &json!(2), "d");
    ears.decide(5, "reject", Some("because"));
    ears.became(5, DecisionResult::Here);
    assert_eq!(ears.kinds().last().unwrap(), "acp.along.reason");
    assert!(ears.faults.is_empty(), "{:?}", ears.faults);
}

#[test]
fn what_was_missed_is_told_and_questions_that_do_not_stand_are_over() {
    let mut ears = Ears::new();
    ears.prompt("s");
    let (first, second) = (
        ears.asks("s", &json!(1), "a"),
        ears.asks("s", &json!(2), "b"),
    );
    ears.news();
    ears.with(|along, cx| along.missed(3, 0, cx));
    ears.with(|along, cx| along.standing(second, &[second], cx));
    assert_eq!(
        ears.news(),
        [
            "acp.along.missed",
            "thinking",
            "awaiting_input",
            "awaiting.confirmation"
        ]
    );
    // Unknown questions are asked; known ones are not asked again.
    for (ticket, call) in [(first, "a"), (second, "b")] {
        let line = json!({"jsonrpc": "2.0", "id": ticket, "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": {"toolCallId": call}}});
        ears.with(|along, cx| along.on_question(ticket, &line.to_string(), cx));
    }
    assert_eq!(ears.news(), Vec::<String>::new());
    // The end of the turn was not heard.
    ears.with(|along, cx| along.standing(9, &[], cx));
    ears.news();
    ears.prompt("s");
    let kinds = ears.news();
    assert_eq!(kinds[0], "session.completed");
    assert_eq!(kinds[1], "session.started");
}

#[test]
fn calls_that_are_too_many_to_be_followed_are_counted_and_told() {
    let mut ears = Ears::new();
    let id = ears.prompt("s");
    for call in 0..300 {
        ears.update(
            "s",
            json!({"sessionUpdate": "tool_call", "toolCallId": call.to_string(), "status": "pending"}),
        );
    }
    ears.news();
    ears.ends(id, "end_turn");
    assert_eq!(ears.news(), ["acp.calls_left_out", "session.completed"]);
    assert!(ears.faults.is_empty(), "{:?}", ears.faults);
}

#[derive(Debug, Clone)]
enum AlongStep {
    Prompt(u8),
    Ends(u8, &'static str),
    Update(u8, Value),
    Asks(u8, u8, u8),
    Editor(u8, &'static str),
    Left(u8),
    Decides(&'static str),
    Became(DecisionResult),
    Missed(u8),
    Wait(u16),
    Odd(String),
}

fn step() -> impl Strategy<Value = AlongStep> {
    let call = (0..4_u8, prop::sample::select(vec!["pending", "in_progress", "completed", "failed", "odd"])).prop_map(
        |(id, status)| json!({"sessionUpdate": "tool_call", "toolCallId": id.to_string(), "title": "t", "status": status}),
    );
    let says = ".{0,8}".prop_map(
        |text| json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
    );
    let shows = Just(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image"}}));
    let plan = Just(
        json!({"sessionUpdate": "plan", "entries": [{"content": "c", "status": "in_progress"}]}),
    );
    let update = prop_oneof![4 => call, 2 => says, 1 => shows, 1 => plan];
    let how = prop::sample::select(vec![
        DecisionResult::Here,
        DecisionResult::There,
        DecisionResult::NotNow,
    ]);
    prop_oneof![
        2 => (0..3_u8).prop_map(AlongStep::Prompt),
        1 => (0..6_u8, prop::sample::select(vec!["end_turn", "cancelled", "odd"])).prop_map(|(id, why)| AlongStep::Ends(id, why)),
        4 => (0..3_u8, update).prop_map(|(whose, update)| AlongStep::Update(whose, update)),
        4 => (0..3_u8, 0..3_u8, 0..4_u8).prop_map(|(whose, id, call)| AlongStep::Asks(whose, id, call)),
        2 => (0..20_u8, prop::sample::select(vec!["once", "no", "odd"])).prop_map(|(at, option)| AlongStep::Editor(at, option)),
        1 => (0..20_u8).prop_map(AlongStep::Left),
        4 => prop::sample::select(vec!["accept", "reject", "odd"]).prop_map(AlongStep::Decides),
        3 => how.prop_map(AlongStep::Became),
        1 => (0..3_u8).prop_map(AlongStep::Missed),
        1 => (0..7000_u16).prop_map(AlongStep::Wait),
        1 => "\\PC{0,20}".prop_map(AlongStep::Odd),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::tests::runs(120)))]

    #[test]
    fn nothing_is_sent_that_nobody_decided_and_every_event_is_valid(steps in prop::collection::vec(step(), 0..60)) {
        let mut ears = Ears::new();
        let names = ["s", "t", "u"];
        let (mut request, mut decided) = (0, BTreeSet::new());
        for step in steps {
            let (decides, before) = (matches!(step, AlongStep::Decides(_)), ears.sent.len());
            match step {
                AlongStep::Prompt(whose) => { ears.prompt(names[usize::from(whose)]); }
                AlongStep::Ends(id, why) => ears.ends(101 + u64::from(id), why),
                AlongStep::Update(whose, update) => ears.update(names[usize::from(whose)], update),
                AlongStep::Asks(whose, id, call) => { ears.asks(names[usize::from(whose)], &json!(id), &call.to_string()); }
                AlongStep::Editor(at, option) => ears.editor_answers(u64::from(at), option),
                AlongStep::Left(at) => ears.with(|along, cx| along.left(u64::from(at), None, cx)),
                AlongStep::Decides(decision) => {
                    request += 1;
                    ears.decide(request, decision, None);
                }
                AlongStep::Became(how) => {
                    let waits = ears.sent.iter().map(|(_, request, _)| *request);
                    let waits: Vec<u64> = waits.filter(|it| !ears.settled.iter().any(|(done, _)| done == it)).collect();
                    if let Some(request) = waits.first() {
                        ears.became(*request, how);
                        if how == DecisionResult::Here {
                            let ticket = ears.sent.iter().find(|(_, it, _)| it == request).unwrap().0;
                            prop_assert!(decided.insert(ticket), "decided twice");
                        }
                    }
                }
                AlongStep::Missed(n) => ears.with(|along, cx| along.missed(u32::from(n), 1, cx)),
                AlongStep::Wait(ms) => {
                    ears.now = ears.now.after(Duration::from_millis(ms.into()));
                    ears.with(|along, cx| along.tick(cx));
                }
                AlongStep::Odd(text) => {
                    for line in [json!(text), json!({"jsonrpc": "2.0", "id": text, "method": "session/prompt", "params": {"sessionId": [text]}}),
                        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"update": {"sessionUpdate": text}}})] {
                        ears.editor(line.clone());
                        ears.agent(line);
                    }
                    ears.with(|along, cx| along.on_question(1000, &text, cx));
                    ears.with(|along, cx| along.answered(1, &text, cx));
                }
            }
            prop_assert!(ears.sent.len() <= before + usize::from(decides), "nobody decided");
        }
        ears.with(|along, cx| along.gone(cx));
        prop_assert_eq!(&ears.faults, &Vec::<String>::new());
        for number in 1..=request {
            let settled = ears.settled.iter().filter(|(it, _)| *it == number).count();
            let waits = ears.sent.iter().any(|(_, it, _)| *it == number);
            prop_assert!(settled == 1 || settled == 0 && waits, "{number} settled {settled} times");
        }
    }
}

#[test]
fn a_call_that_is_made_again_ends_with_its_agent() {
    let mut ears = Ears::new();
    ears.prompt("s");
    let made = |status: &str| json!({"sessionUpdate": "tool_call", "toolCallId": "0", "title": "t", "status": status});
    ears.update("s", made("completed"));
    ears.asks("s", &json!(0), "0");
    ears.decide(1, "accept", None);
    ears.became(1, DecisionResult::Here);
    ears.update("s", made("in_progress"));
    ears.news();
    ears.with(|along, cx| along.gone(cx));
    assert_eq!(
        ears.news(),
        ["tool.completed", "thinking", "session.errored"]
    );
    assert!(ears.faults.is_empty(), "{:?}", ears.faults);
}

#[test]
fn an_answer_that_was_missed_breaks_no_conversation() {
    let mut ears = Ears::new();
    ears.prompt("s");
    // The answer to that was missed.
    let next = ears.prompt("s");
    ears.news();
    ears.ends(next, "end_turn");
    assert_eq!(ears.news(), ["session.completed"]);
    // And so was the answer to this.
    ears.editor(json!({"jsonrpc": "2.0", "id": 7, "method": "session/load", "params": {"sessionId": "t", "cwd": "/work/a"}}));
    let prompt = ears.prompt("t");
    ears.news();
    ears.update("t", json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Here."}}));
    assert!(ears.news().contains(&"output.streaming".to_owned()));
    ears.ends(prompt, "end_turn");
    assert_eq!(ears.news().last().unwrap(), "session.completed");
    assert!(ears.faults.is_empty(), "{:?}", ears.faults);
}

#[test]
fn an_answer_of_the_editor_that_was_withheld_is_told_and_no_question_goes_unsaid() {
    let mut ears = Ears::new();
    ears.prompt("s");
    ears.news();
    ears.with(|along, cx| along.withheld(false, cx));
    assert_eq!(ears.news(), Vec::<String>::new());
    ears.with(|along, cx| along.withheld(true, cx));
    assert_eq!(ears.news(), ["acp.along.withheld"]);
    let bare = json!({"id": 9, "method": "session/request_permission", "params": {"sessionId": "s", "toolCall": {"toolCallId": "b"}}});
    ears.with(|along, cx| along.on_question(40, &bare.to_string(), cx));
    assert_eq!(ears.news(), ["acp.along.unread"]);
}

#[test]
fn an_agent_that_is_greeted_twice_uses_no_token_twice() {
    let mut ears = Ears::new();
    ears.prompt("s");
    ears.asks("s", &json!(1), "a");
    let greeted = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": {"name": "fox"}}});
    ears.editor(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}));
    ears.agent(greeted);
    ears.prompt("t");
    ears.asks("t", &json!(2), "b");
    let of = |name: &str| -> Vec<String> {
        let all = ears.events.iter().filter_map(|event| event[name].as_str());
        all.map(str::to_owned).collect()
    };
    for name in ["reply_token", "event_id"] {
        let all = of(name);
        let unique: BTreeSet<&String> = all.iter().collect();
        assert_eq!(unique.len(), all.len(), "{name}");
    }
    assert_eq!(of("reply_token").len(), 2);
}

#[test]
fn who_decides_in_the_editor_is_announced_and_so_is_a_change() {
    let mut ears = Ears::new();
    ears.editor(json!({"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": {}}));
    ears.agent(
        json!({"jsonrpc": "2.0", "id": 9, "result": {"protocolVersion": 1,
        "agentInfo": {"name": "qwen-code", "title": "Qwen Code"}}}),
    );
    ears.editor(
        json!({"jsonrpc": "2.0", "id": 10, "method": "session/new", "params": {"cwd": "/work/a"}}),
    );
    let modes = json!({"currentModeId": "auto", "availableModes": [{"id": "auto", "name": "Auto"},
        {"id": "default", "name": "Default"}, {"id": "yolo", "name": "YOLO"}]});
    ears.agent(json!({"jsonrpc": "2.0", "id": 10, "result": {"sessionId": "q", "modes": modes}}));
    let notices = |ears: &Ears| {
        let all = ears
            .events
            .iter()
            .filter_map(|it| it["summary_normal"].as_str());
        all.filter(|it| it.starts_with("oversight."))
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    assert_eq!(
        notices(&ears),
        [""; 0],
        "there is no turn to announce it in"
    );
    ears.editor(
        json!({"jsonrpc": "2.0", "id": 11, "method": "session/prompt",
        "params": {"sessionId": "q", "prompt": [{"type": "text", "text": "go"}]}}),
    );
    for mode in ["default", "yolo"] {
        ears.agent(json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": "q", "update": {"sessionUpdate": "current_mode_update", "currentModeId": mode}}}));
    }
    ears.agent(json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "q", "update": {
        "sessionUpdate": "tool_call", "toolCallId": "guardian_assessment:1", "kind": "think", "status": "failed",
        "content": [{"type": "content", "content": {"type": "text", "text": "Status: Denied\nAction: exec rm x"}}]}}}));
    assert_eq!(
        notices(&ears),
        [
            "oversight.starts",
            "oversight.tightened",
            "oversight.loosened",
            "oversight.reviewer.refused"
        ]
    );
    assert_eq!(ears.faults, [""; 0]);
}

#[test]
fn an_editor_and_an_agent_of_version_2_are_not_heard_and_that_is_said_once() {
    let mut ears = Ears::new();
    ears.editor(json!({"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": {"protocolVersion": 2}}));
    ears.agent(json!({"jsonrpc": "2.0", "id": 9, "result": {"protocolVersion": 2, "capabilities": {"session": {}},
        "info": {"name": "fox", "title": "Fox"}}}));
    let last = ears.events.last().unwrap().clone();
    assert_eq!(last["summary_normal"], "acp.along.version");
    assert_eq!(last["producer"]["agent_name"], "Fox");
    let count = ears.events.len();
    ears.prompt("s");
    ears.update(
        "s",
        json!({"sessionUpdate": "state_update", "state": "running"}),
    );
    ears.asks("s", &json!(1), "a");
    assert_eq!(ears.events.len(), count);
    assert_eq!(ears.faults, [""; 0]);
}
