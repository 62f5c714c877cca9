//! Events as they are delivered, and as machines tell them to whoever joins.
//!
//! Responsibilities: whether an event comes from where its subject says, the machine's name, agents and tokens of the
//! same name on several machines, what only a bridge reports. Not here: answers (`asking`).

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value, json};

use super::Nats;
use crate::fleet::{AskedQuestion, EventSubject, Machine, Report, VIEW_ONLY, digest};
use crate::link::{Frame, Phrase, PhraseArg};
use crate::protocol::{AgentId, HOST, object};
use crate::{Cx, Out};

/// The most agents that are remembered.
const MOST_AGENTS: usize = 65_536;
/// The most reply tokens whose machine is remembered.
const MOST_TOKENS: usize = 8192;

/// Which machine each agent and each question is on, by the names that the app knows.
#[derive(Debug, Default)]
pub(super) struct Agents {
    /// The subject under which each agent was last heard.
    heard: BTreeMap<String, EventSubject>,
    order: VecDeque<String>,
    tokens: BTreeMap<String, Machine>,
    tokens_in_order: VecDeque<String>,
}

impl Agents {
    /// Returns the name of an agent for the app: its own, unless another machine has an agent of that name.
    fn name(&mut self, subject: &EventSubject, own: &str) -> String {
        let is_free = |all: &BTreeMap<String, EventSubject>, name: &str| {
            let known = all.get(name);
            known.is_none_or(|known| known.machine == subject.machine)
        };
        let name = match is_free(&self.heard, own) {
            true => own.to_owned(),
            false => format!("{own}@{}", subject.machine.name()),
        };
        if !is_free(&self.heard, &name) {
            return format!("{own}@{}", subject.machine.token());
        }
        if self.heard.insert(name.clone(), subject.clone()).is_none() {
            self.order.push_back(name.clone());
            if self.order.len() > MOST_AGENTS
                && let Some(oldest) = self.order.pop_front()
            {
                self.heard.remove(&oldest);
            }
        }
        name
    }

    /// Returns the subject under which an agent was last heard.
    pub(super) fn subject(&self, agent: &AgentId) -> Option<&EventSubject> {
        self.heard.get(agent.as_str())
    }

    /// Returns the token of a question for the app: its own, unless another machine's question has it.
    fn token(&mut self, machine: &Machine, own: &str) -> String {
        match self.tokens.get(own) {
            Some(known) if known != machine => {
                // A token has letters and digits only.
                let mark = machine.token().bytes().map(|byte| format!("{byte:02x}"));
                let mark: String = mark.collect();
                let mark: String = mark.chars().take(24).collect();
                format!("{own}x{mark}")
            }
            Some(_) => own.to_owned(),
            None => {
                self.tokens.insert(own.to_owned(), machine.clone());
                self.tokens_in_order.push_back(own.to_owned());
                if self.tokens_in_order.len() > MOST_TOKENS
                    && let Some(oldest) = self.tokens_in_order.pop_front()
                {
                    self.tokens.remove(&oldest);
                }
                own.to_owned()
            }
        }
    }
}

impl Nats {
    /// Handles what the broker delivers.
    pub(super) fn frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        let subject = frame.event.as_deref().unwrap_or_default();
        if let Some(machine) = Machine::of_alive(subject) {
            return self.alive(&machine, cx);
        }
        if self.hold(frame, cx) {
            return;
        }
        let Some(subject) = EventSubject::read(subject) else {
            return self.forged(None, cx);
        };
        self.hear(&subject, &frame.text, frame.position, cx);
    }

    /// Handles an event that a machine tells of to whoever joins.
    pub(super) fn hear_state(&mut self, machine: &Machine, text: &str, cx: &mut Cx<'_>) {
        let Some(event) = object(text) else {
            return cx.out.push(Out::Event(text.to_owned()));
        };
        let subject = EventSubject::of(machine, &event);
        self.hear(&subject, text, None, cx);
    }

    fn hear(&mut self, subject: &EventSubject, text: &str, position: Option<u64>, cx: &mut Cx<'_>) {
        let Some(event) = object(text) else {
            // It is counted and reported where events are read.
            return cx.out.push(Out::Event(text.to_owned()));
        };
        // A machine that speaks under another session's name, or of another agent, is not believed.
        if !EventSubject::of(&subject.machine, &event).is_of_session(subject) {
            return self.forged(Some(&subject.machine), cx);
        }
        match Report::read(text) {
            Some(report) => self.report(subject, &event, report, cx),
            None => self.event(subject, event, position, cx.out),
        }
    }

    /// Counts an event that is not what its subject says, and tells of the first, the tenth, the hundredth …
    fn forged(&mut self, machine: Option<&Machine>, cx: &mut Cx<'_>) {
        self.forged += 1;
        let digits = self.forged.checked_ilog10().unwrap_or_default();
        if 10_u64.checked_pow(digits) != Some(self.forged) {
            return;
        }
        let count = PhraseArg::Own(self.forged.to_string());
        let host = machine.map(Machine::name).unwrap_or_default();
        let phrase = Phrase::new("fleet.forged")
            .with("n", count)
            .with("host", PhraseArg::Name(host));
        cx.out.push(Out::Tell(phrase));
    }

    /// Handles what a bridge reports in its own name.
    fn report(
        &mut self,
        subject: &EventSubject,
        event: &Map<String, Value>,
        report: Report,
        cx: &mut Cx<'_>,
    ) {
        let machine = &subject.machine;
        match report {
            Report::Standing(standing) => {
                let session = event.get("session_id").and_then(Value::as_str);
                let session = session.unwrap_or_default();
                if self.machines.stands(machine, session, standing) {
                    self.inquire(machine.clone(), cx);
                }
            }
            Report::Closed { question, how } => {
                let asked = self.watching.asked_by(question.as_str());
                let asked_there = asked.and_then(|asked| asked.subject.as_ref());
                // Only the machine that asked a question can report its end.
                if asked_there.is_some_and(|asked| asked.machine == *machine) {
                    self.watching.closed_there(question.as_str(), how, cx.out);
                }
            }
            notice @ Report::Notice { .. } => {
                if let Some((text, _)) = notice.sentence(&self.wanted.languages) {
                    let phrase = Phrase::new("fleet.notice")
                        .with("host", PhraseArg::Name(machine.name()))
                        .with("text", PhraseArg::Agent(text));
                    cx.out.push(Out::Tell(phrase));
                }
            }
        }
    }

    /// Passes an event on, with the names that tell its machine from others.
    fn event(
        &mut self,
        subject: &EventSubject,
        mut event: Map<String, Value>,
        position: Option<u64>,
        out: &mut Vec<Out>,
    ) {
        let words = |event: &Map<String, Value>, field: &str| {
            event.get(field).and_then(Value::as_str).map(str::to_owned)
        };
        if let (Some(id), Some(outside)) = (words(&event, "event_id"), words(&event, "reply_token"))
        {
            let token = self.agents.token(&subject.machine, &outside);
            let question = AskedQuestion {
                token: token.clone(),
                outside,
                digest: digest(&event),
                subject: Some(subject.clone()),
                position,
                is_answered: false,
            };
            self.watching.note_asked(id, question);
            event.insert("reply_token".to_owned(), token.into());
        }
        if let Some(producer) = event.get_mut("producer").and_then(Value::as_object_mut)
            && let Some(own) = producer.get("agent_id").and_then(Value::as_str)
        {
            let own = own.to_owned();
            let name = self.agents.name(subject, &own);
            if name != own {
                producer.entry("agent_name").or_insert_with(|| own.into());
                producer.insert("agent_id".to_owned(), name.into());
            }
        }
        let extensions = event.entry("extensions").or_insert_with(|| json!({}));
        let mut only_seen = false;
        if let Some(extensions) = extensions.as_object_mut() {
            let own = extensions.entry("hearken").or_insert_with(|| json!({}));
            if let Some(own) = own.as_object_mut() {
                only_seen = own.get(VIEW_ONLY) == Some(&Value::Bool(true));
                own.insert(HOST.to_owned(), subject.machine.name().into());
            }
        }
        let text = Value::Object(event).to_string();
        out.push(match only_seen {
            true => Out::ViewOnly(text),
            false => Out::Event(text),
        });
    }
}
