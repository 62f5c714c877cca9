//! Events as they are delivered, and as machines report them to those who join.
//!
//! Responsibilities: whether an event comes from where its subject says, the machine's name, agents and tokens of the
//! same name on several machines, what only a bridge reports. Not here: answers (`machine_requests`).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Nats;
use super::shared_names::NamesInUse;
use crate::fleet::{
    AskedQuestion, BridgeReport, EventSubject, Machine, ReportedDanger, VIEW_ONLY, digest,
};
use crate::link::{Frame, Phrase, PhraseArg};
use crate::protocol::{AgentId, HOST, object};
use crate::{Cx, DialectOutput};

/// The most agents that are remembered.
const MOST_AGENTS: usize = 65_536;
/// The most reply tokens whose machine is remembered.
const MOST_TOKENS: usize = 8192;

/// The agents and the tokens of questions, by the names that the app has for them.
#[derive(Debug)]
pub(super) struct AgentIndex {
    names: NamesInUse,
    /// The subject under which each agent was last heard.
    heard: BTreeMap<String, EventSubject>,
    tokens: NamesInUse,
}

impl Default for AgentIndex {
    fn default() -> Self {
        Self {
            names: NamesInUse::new(MOST_AGENTS),
            heard: BTreeMap::new(),
            tokens: NamesInUse::new(MOST_TOKENS),
        }
    }
}

impl AgentIndex {
    /// Returns the app's name for an agent: its own, unless another machine has an agent of that name.
    fn name(&mut self, subject: &EventSubject, own: &str) -> String {
        let host = subject.machine.name();
        let numbered = (2_u32..).map(|n| format!("{own}@{host} {n}"));
        let further = std::iter::once(format!("{own}@{host}")).chain(numbered);
        let name = self.names.name(&subject.machine, own, further);
        self.heard.insert(name.clone(), subject.clone());
        if self.heard.len() > MOST_AGENTS {
            self.heard.retain(|name, _| self.names.contains(name));
        }
        name
    }

    /// Returns the subject under which an agent was last heard.
    pub(super) fn subject(&self, agent: &AgentId) -> Option<&EventSubject> {
        self.heard.get(agent.as_str())
    }

    /// Returns the app's token for a question: its own, unless another machine's question has it.
    fn token(&mut self, machine: &Machine, own: &str) -> String {
        // A token has letters and digits only.
        let further = (2_u32..).map(|n| format!("{own}x{n}"));
        self.tokens.name(machine, own, further)
    }
}

impl Nats {
    /// Handles what the broker delivers.
    pub(super) fn frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        let subject = frame.event.as_deref().unwrap_or_default();
        if let Some(machine) = Machine::of_alive(subject) {
            return self.alive(&machine, &frame.text, cx);
        }
        if self.hold(frame, cx) {
            return;
        }
        let Some(subject) = EventSubject::read(subject) else {
            return self.forged(None, cx);
        };
        self.hear(&subject, &frame.text, frame.position, cx);
    }

    /// Handles an event that a machine reports to those who join.
    pub(super) fn hear_state(&mut self, machine: &Machine, text: &str, cx: &mut Cx<'_>) {
        let Some(event) = object(text) else {
            return cx.out.push(DialectOutput::Event(text.to_owned()));
        };
        let subject = EventSubject::of(machine, &event);
        self.hear(&subject, text, None, cx);
    }

    fn hear(&mut self, subject: &EventSubject, text: &str, position: Option<u64>, cx: &mut Cx<'_>) {
        let Some(event) = object(text) else {
            // It is counted and reported where events are read.
            return cx.out.push(DialectOutput::Event(text.to_owned()));
        };
        // A machine that speaks under another session's name, or of another agent, is not believed.
        if !EventSubject::of(&subject.machine, &event).is_of_session(subject) {
            return self.forged(Some(&subject.machine), cx);
        }
        match BridgeReport::read(text) {
            Some(report) => self.report(subject, &event, report, cx),
            None => self.event(subject, event, position, cx.out),
        }
    }

    /// Counts an event that is not what its subject says, and reports the first, the tenth, the hundredth …
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
        cx.out.push(DialectOutput::Announce(phrase));
    }

    /// Handles what a bridge reports in its own name.
    fn report(
        &mut self,
        subject: &EventSubject,
        event: &Map<String, Value>,
        report: BridgeReport,
        cx: &mut Cx<'_>,
    ) {
        let machine = &subject.machine;
        match report {
            BridgeReport::Standing(standing) => {
                let session = event.get("session_id").and_then(Value::as_str);
                let session = session.unwrap_or_default();
                let told = self.machines.standing_of(machine);
                if standing.forgets && !told.is_some_and(|told| told.forgets) {
                    cx.out.push(DialectOutput::Announce(standing.loss()));
                }
                if self.machines.stands(machine, session, standing) {
                    self.inquire(machine.clone(), cx);
                }
            }
            BridgeReport::Closed {
                question,
                reason: how,
            } => {
                let asked = self.watching.asked_by(question.as_str());
                let asked_there = asked.and_then(|asked| asked.subject.as_ref());
                // Only the machine that asked a question can report its end.
                if asked_there.is_some_and(|asked| asked.machine == *machine) {
                    self.watching.closed_there(question.as_str(), how, cx.out);
                }
            }
            BridgeReport::Danger(danger) => self.warn(machine, &danger, cx),
            notice @ BridgeReport::Notice { .. } => {
                if let Some((text, _)) = notice.sentence(&self.wanted.languages) {
                    let phrase = Phrase::new("fleet.notice")
                        .with("host", PhraseArg::Name(machine.name()))
                        .with("text", PhraseArg::Agent(text));
                    cx.out.push(DialectOutput::Announce(phrase));
                }
            }
        }
    }

    /// Warns of what an agent did, unless what is received here shows it: its calls, and the watcher's own answer
    /// before them.
    fn warn(&self, machine: &Machine, danger: &ReportedDanger, cx: &mut Cx<'_>) {
        let is_received = self
            .selection
            .includes(&EventSubject::of_agent(machine, &danger.agent));
        let question = danger.question.as_ref();
        let is_answered_here = question.is_none_or(|question| {
            let asked = self.watching.asked_by(question.as_str());
            asked.is_some_and(|asked| asked.is_answered)
        });
        if is_received && is_answered_here {
            return;
        }
        let mut phrase = Phrase::new(danger.kind.phrase())
            .with("agent", PhraseArg::Name(danger.agent.as_str().to_owned()))
            .with("host", PhraseArg::Name(machine.name()))
            .with("tool", PhraseArg::Agent(danger.tool.clone()));
        if let Some(ran) = &danger.ran {
            phrase = phrase.with("ran", PhraseArg::Agent(ran.clone()));
        }
        cx.out.push(DialectOutput::Warn(phrase));
    }

    /// Passes an event on, with names that distinguish its machine from others.
    fn event(
        &mut self,
        subject: &EventSubject,
        mut event: Map<String, Value>,
        position: Option<u64>,
        out: &mut Vec<DialectOutput>,
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
            true => DialectOutput::ViewOnly(text),
            false => DialectOutput::Event(text),
        });
    }
}
