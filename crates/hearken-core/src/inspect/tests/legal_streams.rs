//! Legal streams of any shape: one agent or several in a session, overlapping calls, text beside a call, an
//! agent that acts on another's question. None of them gives a finding.

use proptest::prelude::*;

use super::*;

/// An agent's next action, if it is allowed.
#[derive(Debug, Clone, Copy)]
enum AgentStep {
    Calls,
    /// The call at this place returns.
    Returns(usize),
    Writes,
    /// It asks, and this agent does what is accepted.
    Asks(usize),
}

/// How the events are numbered.
#[derive(Debug, Clone, Copy)]
enum EventNumbering {
    Absent,
    OfSession,
    OfAgent,
}

#[derive(Debug, Default)]
struct LegalAgent {
    state: &'static str,
    running: Vec<(String, &'static str)>,
    events: u64,
}

/// A session while it is written.
struct LegalSession {
    stream: StreamBuilder,
    agents: Vec<LegalAgent>,
    numbers: EventNumbering,
    count: u64,
    calls: usize,
}

impl LegalSession {
    /// Begins a session; before it, another agent was denied these actions in another session.
    fn new(numbers: EventNumbering, denied: &[String]) -> Self {
        let mut session = Self {
            stream: denied_before(denied),
            agents: Vec::new(),
            numbers,
            count: 0,
            calls: 0,
        };
        session.agents.resize_with(3, LegalAgent::default);
        session.on(0, "session.started", json!({}));
        session
    }

    fn on(&mut self, agent: usize, name: &str, mut fields: Value) {
        fields["producer"] = json!({"agent_id": format!("a{agent}")});
        let number = match self.numbers {
            EventNumbering::Absent => None,
            EventNumbering::OfSession => Some(self.count),
            EventNumbering::OfAgent => Some(self.agents[agent].events),
        };
        if let Some(number) = number {
            fields["sequence_number"] = number.into();
        }
        self.count += 1;
        self.agents[agent].events += 1;
        self.stream.on(name, fields);
    }

    fn enter(&mut self, agent: usize, to: &'static str) {
        let from = match self.agents[agent].state {
            "" => "idle",
            state => state,
        };
        if from != to {
            self.agents[agent].state = to;
            self.on(
                agent,
                "state.changed",
                json!({"from_state": from, "to_state": to}),
            );
        }
    }

    /// Enters the state between two actions.
    fn go_on(&mut self, agent: usize) {
        let to = match self.agents[agent].running.is_empty() {
            true => "thinking",
            false => "calling_tool",
        };
        self.enter(agent, to);
    }

    fn calls(&mut self, agent: usize, tool: &'static str, irreversible: bool) {
        self.enter(agent, "calling_tool");
        self.calls += 1;
        let id = format!("call_{}", self.calls);
        let fields = json!({"tool": tool, "tool_call_id": id, "irreversible": irreversible});
        self.on(agent, "tool.invoked", fields);
        self.agents[agent].running.push((id, tool));
    }

    fn returns(&mut self, agent: usize, at: usize) {
        let running = &mut self.agents[agent].running;
        if running.is_empty() {
            return;
        }
        let (id, tool) = running.remove(at % running.len());
        let fields = json!({"tool": tool, "tool_call_id": id, "status": "success"});
        self.on(agent, "tool.completed", fields);
        self.go_on(agent);
    }

    fn writes(&mut self, agent: usize) {
        self.enter(agent, "writing_output");
        let fields = json!({"chunk": "So far.", "position": 0, "complete": true,
            "output_id": format!("out_{}", self.count)});
        self.on(agent, "output.streaming", fields);
        self.go_on(agent);
    }

    fn asks(&mut self, agent: usize, performer: usize) {
        self.enter(agent, "awaiting_input");
        let token = format!("rpl_{}", self.count);
        let fields = json!({"action": format!("Transfer {} dollars", self.count), "consequence": "They move at once.",
            "reply_token": token, "timeout_seconds": 300, "default_decision": "reject", "risk_level": "high",
            "irreversible": true});
        self.on(agent, "awaiting.confirmation", fields);
        let reply = json!({"type": "confirmation.reply", "reply_token": token, "decision": "accept",
            "subscription_id": "sub_1", "timestamp": "2026-01-01T00:00:00.000Z"});
        self.stream.lines.push(reply.to_string());
        if agent != performer {
            self.go_on(agent);
        }
        self.calls(performer, "transfer", true);
    }

    fn end(&mut self) -> (Vec<ReportItem>, Summary) {
        for agent in 0..self.agents.len() {
            while !self.agents[agent].running.is_empty() {
                self.returns(agent, 0);
            }
        }
        self.on(0, "session.completed", json!({}));
        self.stream.check()
    }
}

/// Returns a session of another agent in which these actions were rejected.
fn denied_before(actions: &[String]) -> StreamBuilder {
    let mut stream = StreamBuilder::default();
    let on = |stream: &mut StreamBuilder, name: &str, mut fields: Value| {
        fields["producer"] = json!({"agent_id": "before"});
        fields["session_id"] = "sess_before".into();
        stream.on(name, fields);
    };
    on(&mut stream, "session.started", json!({}));
    for (at, action) in actions.iter().enumerate() {
        let from = if at == 0 { "idle" } else { "thinking" };
        let fields = json!({"from_state": from, "to_state": "awaiting_input"});
        on(&mut stream, "state.changed", fields);
        let token = format!("rpl_before{at}");
        let fields = json!({"action": action, "consequence": "It is done at once.", "reply_token": token,
            "timeout_seconds": 300, "default_decision": "reject", "risk_level": "high", "irreversible": true});
        on(&mut stream, "awaiting.confirmation", fields);
        let reply = json!({"type": "confirmation.reply", "reply_token": token, "decision": "reject",
            "subscription_id": "sub_1", "timestamp": "2026-01-01T00:00:00.000Z"});
        stream.lines.push(reply.to_string());
        let fields = json!({"from_state": "awaiting_input", "to_state": "writing_output"});
        on(&mut stream, "state.changed", fields);
        let fields = json!({"chunk": "It was not done.", "position": 0, "complete": true,
            "output_id": format!("out_before{at}")});
        on(&mut stream, "output.streaming", fields);
        let fields = json!({"from_state": "writing_output", "to_state": "thinking"});
        on(&mut stream, "state.changed", fields);
    }
    on(&mut stream, "session.completed", json!({}));
    stream
}

fn denied() -> impl Strategy<Value = Vec<String>> {
    let action = prop_oneof![
        (0..60_u32).prop_map(|sum| format!("Transfer {sum} dollars")),
        Just("Read the mail".to_owned()),
        Just("Delete the folder build".to_owned()),
    ];
    prop::collection::vec(action, 0..4)
}

fn step() -> impl Strategy<Value = (usize, AgentStep)> {
    let step = prop_oneof![
        3 => Just(AgentStep::Calls),
        3 => (0..8_usize).prop_map(AgentStep::Returns),
        2 => Just(AgentStep::Writes),
        1 => (0..3_usize).prop_map(AgentStep::Asks),
    ];
    (0..3_usize, step)
}

proptest! {
    #[test]
    fn a_legal_stream_gives_no_finding(
        steps in prop::collection::vec(step(), 0..40),
        numbers in prop::sample::select(vec![EventNumbering::Absent, EventNumbering::OfSession, EventNumbering::OfAgent]),
        denied in denied(),
    ) {
        let mut session = LegalSession::new(numbers, &denied);
        for (agent, step) in steps {
            session.go_on(agent);
            match step {
                AgentStep::Calls => session.calls(agent, "read", false),
                AgentStep::Returns(at) => session.returns(agent, at),
                AgentStep::Writes => session.writes(agent),
                AgentStep::Asks(performer) => session.asks(agent, performer),
            }
        }
        let (items, _) = session.end();
        prop_assert!(items.is_empty(), "{:#?}\n{}", items, session.stream.lines.join("\n"));
    }
}
