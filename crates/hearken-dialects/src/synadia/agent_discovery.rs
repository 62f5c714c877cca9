//! Who is there.
//!
//! Responsibilities: asking who is there, and again when an unknown agent gives a sign of life; naming the agents;
//! reporting who came, who fell silent and who is back. Not here: the conversation with one (`prompts`,
//! `prompt_answers`).
//!
//! # Mental model
//! The answer to the discovery says where an agent takes prompts; a heartbeat says only that it runs. So a heartbeat of
//! an unknown agent leads to another discovery, however many come. Names are taken from the subject where it has the
//! usual form: a server can restrict who listens there, and restricts nothing in what an answer says.

use std::time::Duration;

use crate::event_writer::{self, EventAgent, EventWriter, cut};
use crate::kit::turn::{EventContext, LeftCalls};
use crate::link::{Frame, Phrase, PhraseArg, ServiceAnswers, ServiceCall};
use crate::protocol::{AgentId, Now};
use crate::{Cx, DialectOutput, ForeignFormat, NoEvent, PromptableAgent};

use super::agent::SynadiaAgent;
use super::client::{NAME, RequestPurpose, Synadia};
use super::messages::{self, AgentInfo, NoAgent};
use super::subject;

/// The subject under which all agents answer.
const DISCOVERY: &str = "$SRV.INFO.agents";
/// How long to wait for their answers, as long as the protocol's own caller.
const DISCOVERY_TIME: Duration = Duration::from_secs(2);
/// How soon after a discovery the next may follow.
const APART: Duration = Duration::from_secs(5);
/// How many agents are named in one sentence; the others are counted.
const MOST_NAMED: usize = 8;
/// The longest name of an agent, in characters.
const LONGEST_NAME: usize = 64;
/// How many names are tried for one agent.
const MOST_NAMES: usize = 64;
/// The name of the session of an agent that has no sessions.
const NO_SESSION: &str = "default";

/// The search for agents.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    is_under_way: bool,
    /// When it may be asked again.
    earliest: Duration,
    /// Whether it is to be asked again.
    is_wanted: bool,
    /// Whether the person was told who is there.
    is_told: bool,
    /// The names of those that were found since.
    found: Vec<String>,
    back: Vec<String>,
    /// How many agents can't be followed because of their subjects.
    unfit: u64,
}

impl Discovery {
    pub(super) fn due(&self) -> Option<Duration> {
        (self.is_wanted && !self.is_under_way).then_some(self.earliest)
    }

    pub(super) fn is_due(&self, now: Now) -> bool {
        self.due().is_some_and(|due| now.monotonic >= due)
    }

    /// Stops waiting for answers, because none can come.
    pub(super) fn stop(&mut self) {
        self.is_under_way = false;
    }
}

impl Synadia {
    /// Asks who is there.
    pub(super) fn discover(&mut self, cx: &mut Cx<'_>) {
        if self.discovery.is_under_way || !self.is_up {
            return;
        }
        self.discovery.is_under_way = true;
        self.discovery.is_wanted = false;
        self.discovery.earliest = cx.now.monotonic + APART;
        let call = ServiceCall {
            answers: ServiceAnswers::Gathered(DISCOVERY_TIME),
            ..ServiceCall::new(DISCOVERY, "")
        };
        self.request(RequestPurpose::Discovery, call, cx.out);
    }

    /// Handles the answer of one agent.
    pub(super) fn discovered(&mut self, text: &str, cx: &mut Cx<'_>) {
        let info = match messages::info(text) {
            Ok(info) => info,
            Err(NoAgent::Unread) => return unread(cx),
            Err(NoAgent::Subject) => {
                self.discovery.unfit += 1;
                return tell_often(self.discovery.unfit, Phrase::new("synadia.unfit"), cx);
            }
        };
        if let Some(agent) = self.agents.get_mut(&info.subject) {
            if agent.found(&info, cx.now) {
                self.discovery.back.push(agent.name.clone());
            }
            return;
        }
        let name = self.name(&info);
        let words = self.words.clone();
        let answerable = !self.listens;
        let may_go = |agent: &SynadiaAgent| agent.is_away && agent.is_idle();
        let opened = self.agents.open(&info.subject, may_go, |seed| {
            let agent = EventAgent {
                id: agent_id(&info.subject),
                name: name.clone(),
                model: None,
            };
            let teller = EventContext {
                writer: EventWriter::new(NAME, agent, seed),
                words,
                folder: String::new(),
                answerable,
                left: LeftCalls::default(),
            };
            SynadiaAgent::new(&info, name.clone(), teller)
        });
        match opened {
            Ok(agent) => {
                agent.found(&info, cx.now);
                self.discovery.found.push(name);
            }
            Err(full) => full.announce_once(Phrase::new("synadia.too_many"), cx.out),
        }
    }

    /// Returns a name for an agent that no other has.
    fn name(&self, info: &AgentInfo) -> String {
        let (agent, owner, session) = match subject::of_prompts(&info.subject) {
            Some(tokens) => (tokens.agent, tokens.owner, tokens.session),
            None => (
                info.agent.as_str(),
                info.owner.as_str(),
                info.session.as_str(),
            ),
        };
        let own = match session {
            "" | NO_SESSION => agent.to_owned(),
            session if session == agent => agent.to_owned(),
            session => format!("{agent} {session}"),
        };
        let of_owner = format!("{own} {owner}");
        let numbered = (2_u32..).map(|n| format!("{of_owner} {n}"));
        let is_free = |name: &String| self.agents.values().all(|known| known.name != *name);
        let mut all = [own.clone(), of_owner.clone()].into_iter().chain(numbered);
        all.by_ref()
            .map(|name| cut(&name, LONGEST_NAME))
            // Two names that are cut to the same are not told apart by more of them.
            .take(MOST_NAMES)
            .find(is_free)
            .unwrap_or_else(|| cut(&info.subject, LONGEST_NAME))
    }

    /// Reports who is there, once all have answered.
    pub(super) fn all_discovered(&mut self, cx: &mut Cx<'_>) {
        self.discovery.is_under_way = false;
        self.list();
        // They answer in any order; this is the one in which conversations are numbered.
        let mut found = std::mem::take(&mut self.discovery.found);
        found.sort();
        let back = std::mem::take(&mut self.discovery.back);
        if !back.is_empty() {
            cx.out
                .push(DialectOutput::Announce(of_agents("synadia.back", back)));
        }
        if !found.is_empty() {
            let key = match std::mem::replace(&mut self.discovery.is_told, true) {
                false => "synadia.there",
                true => "synadia.new",
            };
            cx.out.push(DialectOutput::Announce(of_agents(key, found)));
        }
    }

    /// Handles a heartbeat.
    pub(super) fn frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        let Some(beat) = messages::heartbeat(&frame.text) else {
            return unread(cx);
        };
        let under = frame.event.as_deref().unwrap_or_default();
        if subject::of_heartbeat(under).is_none() {
            return unread(cx);
        }
        let mut is_known = false;
        for agent in self.agents.values_mut() {
            if !agent.beats_under(under) {
                continue;
            }
            match agent.beats(&beat.instance, beat.interval, cx.now) {
                Some(true) => {
                    let name = vec![agent.name.clone()];
                    cx.out
                        .push(DialectOutput::Announce(of_agents("synadia.back", name)));
                    is_known = true;
                }
                Some(false) => is_known = true,
                None => {}
            }
        }
        if is_known {
            return self.list();
        }
        let is_anothers = |agent: &SynadiaAgent| agent.has_instance(&beat.instance);
        if self.agents.values().any(is_anothers) {
            self.forged += 1;
            let nobody = PhraseArg::Own(String::new());
            let phrase = Phrase::new("fleet.forged").with("host", nobody);
            return tell_often(self.forged, phrase, cx);
        }
        self.discovery.is_wanted = true;
    }

    /// Reports the agents that gave no sign of life for too long.
    pub(super) fn tell_away(&mut self, cx: &mut Cx<'_>) {
        if !self.is_up {
            return;
        }
        let away: Vec<String> = (self.agents.values_mut())
            .filter_map(|agent| agent.goes_away(cx.now).then(|| agent.name.clone()))
            .collect();
        if !away.is_empty() {
            cx.out
                .push(DialectOutput::Announce(of_agents("synadia.away", away)));
            self.list();
        }
    }

    /// Lists the agents that can be prompted.
    fn list(&mut self) {
        let there = self.agents.values().filter(|agent| !agent.is_away);
        self.promptable = there
            .map(|agent| PromptableAgent {
                id: AgentId::from(agent_id(&agent.subject).as_str()),
                name: agent.name.clone(),
            })
            .collect();
    }
}

/// Returns the app's id of an agent.
pub(super) fn agent_id(subject: &str) -> String {
    event_writer::id("synadia_", subject)
}

/// Returns a phrase about some agents, which names the first of them.
fn of_agents(key: &'static str, mut names: Vec<String>) -> Phrase {
    let n = names.len();
    let more = n.saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    let phrase = Phrase::new(key)
        .with("n", PhraseArg::Own(n.to_string()))
        .with("names", PhraseArg::Names(names));
    let more = match more {
        0 => String::new(),
        more => more.to_string(),
    };
    phrase.with("more", PhraseArg::Own(more))
}

/// Reports the first, the tenth, the hundredth … of many.
fn tell_often(count: u64, phrase: Phrase, cx: &mut Cx<'_>) {
    let digits = count.checked_ilog10().unwrap_or_default();
    if count == 10_u64.pow(digits) {
        let n = PhraseArg::Own(count.to_string());
        cx.out.push(DialectOutput::Announce(phrase.with("n", n)));
    }
}

/// Counts a message that means nothing here.
pub(super) fn unread(cx: &mut Cx<'_>) {
    cx.out.push(DialectOutput::Unread(
        NoEvent::Foreign(ForeignFormat::Typed),
        1,
    ));
}
