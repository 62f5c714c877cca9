//! Agents on this machine that can be followed, found without asking them anything but what they are.
//!
//! Responsibilities: the places where agents usually are, probing them, the hooks of agents. Not here: what a
//! person is told about them (`agent_offer`, `doctor`), following (`run_plan`).
//!
//! # Mental model
//! Nothing is followed here, and no conversation is started. A server gets only the request by which its protocol is
//! recognised anyway, never with a credential, because the listener may be somebody else's; a socket is only connected
//! to. Only places on this machine are probed: the defaults chosen by the makers of each agent, and the places named in
//! the command line of a running agent.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::StreamExt as _;

use crate::config::{Dialect, HookedAgent, LinkConfig};
use crate::dialect::{self, a2a_card, opencode_events};
use crate::hooks::hook_endpoint;
pub(crate) use crate::hooks::hooks_state::HooksState;
use crate::hooks::hooks_state::state;
use crate::link::{Fault, LinkEvent};
use crate::platform::{processes, sockets};
use crate::protocol::Manifest;
use crate::transport::{self, LinkHandle, LinkSettings, LinkSink, Source, Tls};

use super::{codex_home, hook_commands, running_programs, settings_file, source_links};

/// The SOURCE of every agent's hooks.
pub(crate) const HOOKS: &str = "hooks";
/// The port where opencode listens by default.
pub(crate) const OPENCODE_PORT: u16 = 4096;
/// The ports where AAEP producers listen by default: those of the specification's project, and `aaep-replay`.
const AAEP_PORTS: [u16; 6] = [8080, 8081, 8082, 8083, 8090, 9000];
/// The port where the A2A samples listen.
const A2A_PORTS: [u16; 1] = [9999];
/// How long a probe may take; on this machine it takes milliseconds.
const LIMIT: Duration = Duration::from_millis(1500);
/// How many probes run concurrently.
const AT_ONCE: usize = 4;
/// The most addresses from command lines that are probed for each kind: more than any one machine has.
const MOST: usize = 8;
/// The most events kept for each probe.
const NEWS: usize = 16;

/// The protocol that an agent speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentProtocol {
    /// AAEP, behind a named socket or on a port.
    Aaep,
    /// The protocol of opencode's server.
    Opencode,
    /// The protocol of Codex's app-server.
    Codex,
    /// A2A.
    A2a,
}

impl AgentProtocol {
    fn dialect(self) -> Dialect {
        match self {
            Self::Aaep => Dialect::Aaep,
            Self::Opencode => Dialect::Opencode,
            Self::Codex => Dialect::Codex,
            Self::A2a => Dialect::A2a,
        }
    }
}

/// How certain it is that an agent is of the presumed kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// It said so itself.
    Sure,
    /// It has events in the expected place, but has sent nothing yet.
    Probable,
    /// It requires a password.
    Locked,
}

/// An agent that runs here, or may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundAgent {
    /// What it speaks.
    pub(crate) speaks: AgentProtocol,
    /// The SOURCE to follow it by.
    pub(crate) word: String,
    /// How certain that is.
    pub(crate) sign: Certainty,
}

impl FoundAgent {
    pub(super) fn of(speaks: AgentProtocol, word: String) -> Self {
        Self {
            speaks,
            word,
            sign: Certainty::Probable,
        }
    }

    /// Returns its address, without the protocol prefix.
    pub(crate) fn at(&self) -> &str {
        match self.speaks {
            AgentProtocol::Aaep => self.word.strip_prefix("unix:").unwrap_or(&self.word),
            AgentProtocol::Opencode | AgentProtocol::Codex | AgentProtocol::A2a => {
                self.word.split_once(':').map_or("", |(_, at)| at)
            }
        }
    }
}

/// The state of an agent with hooks on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HookedAgentState {
    /// The agent.
    pub(crate) agent: HookedAgent,
    /// Whether it runs; `None` if this system does not list processes.
    pub(crate) runs: Option<bool>,
    /// The state of our hooks in its settings; `None` if these can't be read.
    pub(crate) hooks: Option<HooksState>,
    /// The settings file in question.
    pub(crate) file: Option<PathBuf>,
    /// Whether these are this folder's settings.
    pub(crate) project: bool,
    /// Other settings that it reads here and that have our hooks too.
    pub(crate) also: Vec<PathBuf>,
}

impl HookedAgentState {
    /// Returns the SOURCE by which it is heard; Codex's name means its socket.
    pub(crate) fn word(&self) -> &'static str {
        match self.agent {
            HookedAgent::Codex => HOOKS,
            agent => agent.name(),
        }
    }

    /// Returns whether it runs but can't be heard, because its hooks are not installed. A Codex that runs is heard by
    /// its socket, where a system has such sockets.
    pub(crate) fn lacks_hooks(&self) -> bool {
        let otherwise = self.agent == HookedAgent::Codex && sockets::THERE;
        self.runs == Some(true) && self.hooks == Some(HooksState::Absent) && !otherwise
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NearbyAgents {
    /// The agents that run and can be followed, in the order of the search.
    pub(crate) agents: Vec<FoundAgent>,
    /// How many were not probed, because there are too many.
    pub(crate) left_out: usize,
    /// The agents with hooks, which are not followed: they call us.
    pub(crate) hooked: Vec<HookedAgentState>,
    /// Whether a hearken already listens to hooks.
    pub(crate) heard: bool,
}

/// Searches this machine for agents.
pub(crate) async fn look() -> NearbyAgents {
    let calls = processes::calls();
    let (candidates, left_out) = candidates(calls.as_deref().unwrap_or_default());
    NearbyAgents {
        agents: asked(candidates).await,
        left_out,
        hooked: HookedAgent::ALL
            .map(|agent| hooked_here(agent, calls.as_deref()))
            .to_vec(),
        heard: settings_file::state_folder()
            .is_some_and(|folder| hook_endpoint::find(&folder).is_some()),
    }
}

/// Returns what to probe, and how many more there would be.
fn candidates(calls: &[Vec<String>]) -> (Vec<FoundAgent>, usize) {
    let mut all = Vec::new();
    let mut left_out = 0;
    let mut take = |speaks, words: Vec<String>, most: usize| {
        left_out += words.len().saturating_sub(most);
        let words = words.into_iter().take(most);
        all.extend(words.map(|word| FoundAgent::of(speaks, word)));
    };
    if sockets::THERE {
        let names = transport::socket_agents(&transport::socket_folders());
        let words: Vec<String> = names.iter().map(|name| format!("unix:{name}")).collect();
        let count = words.len();
        take(AgentProtocol::Aaep, words, count);
    }
    let named: BTreeSet<u16> = running_programs::opencode_ports(calls)
        .into_iter()
        .collect();
    let opencode = |port: &u16| format!("opencode:http://127.0.0.1:{port}");
    take(AgentProtocol::Opencode, vec![opencode(&OPENCODE_PORT)], 1);
    let named = named.iter().filter(|port| **port != OPENCODE_PORT);
    take(AgentProtocol::Opencode, named.map(opencode).collect(), MOST);
    let own = codex_home::socket().filter(|path| sockets::THERE && path.exists());
    take(
        AgentProtocol::Codex,
        own.map(|_| codex_home::PROGRAM.to_owned())
            .into_iter()
            .collect(),
        1,
    );
    let named: BTreeSet<String> = running_programs::codex_addresses(calls)
        .into_iter()
        .collect();
    let codex = named.iter().map(|at| format!("codex:{at}"));
    take(AgentProtocol::Codex, codex.collect(), MOST);
    let usual = AAEP_PORTS.map(|port| format!("http://127.0.0.1:{port}"));
    take(AgentProtocol::Aaep, usual.to_vec(), AAEP_PORTS.len());
    let usual = A2A_PORTS.map(|port| format!("a2a:http://127.0.0.1:{port}"));
    take(AgentProtocol::A2a, usual.to_vec(), A2A_PORTS.len());
    (all, left_out)
}

/// Probes the candidates a few at a time, and returns those that are of the presumed kind.
async fn asked(candidates: Vec<FoundAgent>) -> Vec<FoundAgent> {
    let answers = candidates.into_iter().map(ask);
    let answers = futures_util::stream::iter(answers).buffered(AT_ONCE);
    answers.filter_map(std::future::ready).collect().await
}

/// Probes one candidate.
async fn ask(candidate: FoundAgent) -> Option<FoundAgent> {
    let config = LinkConfig {
        dialect: candidate.speaks.dialect(),
        retries: Some(0),
        ..LinkConfig::default()
    };
    let source = source_links::read(&candidate.word, &config).ok()?;
    let (sink, mut news) = LinkSink::channel(0, NEWS);
    let handle = transport::open(
        source.clone(),
        source_links::prepared(LinkSettings::new(config, None, Tls::default(), 0)),
        sink,
    );
    let known = async {
        while let Some((_, event)) = news.recv().await {
            match judged(&event, candidate.speaks, &source, &handle) {
                ProbeOutcome::Asks => {}
                ProbeOutcome::No => return None,
                ProbeOutcome::Is(sign) => return Some(sign),
            }
        }
        None
    };
    let sign = tokio::time::timeout(LIMIT, known).await.ok().flatten();
    handle.close();
    Some(FoundAgent {
        sign: sign?,
        ..candidate
    })
}

/// The outcome of a probe.
enum ProbeOutcome {
    /// Undecided so far.
    Asks,
    /// It is not of the presumed kind, or nothing listens there.
    No,
    /// It is of the presumed kind.
    Is(Certainty),
}

/// Judges an event of a probed candidate, and sends the probe's request.
fn judged(
    event: &LinkEvent,
    speaks: AgentProtocol,
    source: &Source,
    handle: &LinkHandle,
) -> ProbeOutcome {
    match event {
        LinkEvent::Connecting { .. } => {
            match (speaks, source) {
                (AgentProtocol::Opencode, _) => handle.follow(opencode_events("/")),
                (AgentProtocol::A2a, _) => handle.follow(a2a_card("/")),
                (AgentProtocol::Aaep, Source::Http(_)) => {
                    handle.call(0, source_links::addresses(source).manifest());
                }
                // A connection is all that is needed.
                (AgentProtocol::Aaep | AgentProtocol::Codex, _) => {}
            }
            ProbeOutcome::Asks
        }
        LinkEvent::Connected => match speaks {
            AgentProtocol::Aaep if matches!(source, Source::Http(_)) => {
                ProbeOutcome::Is(Certainty::Probable)
            }
            AgentProtocol::Aaep => ProbeOutcome::Is(Certainty::Sure),
            AgentProtocol::Codex => ProbeOutcome::Is(Certainty::Sure),
            AgentProtocol::Opencode | AgentProtocol::A2a => ProbeOutcome::Asks,
        },
        LinkEvent::Frame(frame) => match speaks {
            AgentProtocol::Opencode | AgentProtocol::A2a => {
                let recognised = dialect::recognise(&frame.text);
                match recognised.is_some_and(|row| row.dialect == speaks.dialect()) {
                    true => ProbeOutcome::Is(Certainty::Sure),
                    false => ProbeOutcome::No,
                }
            }
            AgentProtocol::Aaep | AgentProtocol::Codex => ProbeOutcome::Is(Certainty::Sure),
        },
        LinkEvent::Answered { outcome, .. } => match outcome {
            Ok(answer) if Manifest::read(&answer.body).is_some() => {
                ProbeOutcome::Is(Certainty::Sure)
            }
            // Most producers have no manifest, only their events.
            Ok(answer) if answer.status == 404 => {
                handle.follow(source_links::addresses(source).plain());
                ProbeOutcome::Asks
            }
            Ok(_) | Err(_) => ProbeOutcome::No,
        },
        LinkEvent::Lost { fault, .. } | LinkEvent::Failed { fault } => match (speaks, fault) {
            (AgentProtocol::Opencode, Fault::Status { status: 401, .. }) => {
                ProbeOutcome::Is(Certainty::Locked)
            }
            (
                AgentProtocol::Aaep
                | AgentProtocol::Opencode
                | AgentProtocol::Codex
                | AgentProtocol::A2a,
                _,
            ) => ProbeOutcome::No,
        },
        LinkEvent::Ended => ProbeOutcome::No,
        LinkEvent::Resumed
        | LinkEvent::Replied { .. }
        | LinkEvent::Piece { .. }
        | LinkEvent::Silent { .. }
        | LinkEvent::Listening { .. }
        | LinkEvent::Missed { .. }
        | LinkEvent::CaughtUp
        | LinkEvent::Request { .. }
        | LinkEvent::Lapsed { .. }
        | LinkEvent::Strangers { .. }
        | LinkEvent::StreamEnded
        | LinkEvent::Remark { .. }
        | LinkEvent::Dropped { .. } => ProbeOutcome::Asks,
    }
}

/// Returns the state of an agent with hooks: by those in the person's own settings, else by those of this folder.
fn hooked_here(agent: HookedAgent, calls: Option<&[Vec<String>]>) -> HookedAgentState {
    let (file, hooks) = hooks(agent, false).unzip();
    let own = (file, hooks.flatten());
    let of_folder = match own {
        (_, Some(HooksState::Absent)) => self::hooks(agent, true),
        (_, Some(_) | None) => None,
    };
    let of_folder = of_folder.filter(|(_, hooks)| *hooks != Some(HooksState::Absent));
    let project = of_folder.is_some();
    let (file, hooks) = of_folder.map_or(own, |(file, hooks)| (Some(file), hooks));
    let also = match (&file, &hooks) {
        (Some(file), Some(HooksState::Whole | HooksState::Partly | HooksState::Twice)) => {
            hook_commands::also_in(agent, file)
        }
        (Some(_) | None, Some(_) | None) => Vec::new(),
    };
    HookedAgentState {
        agent,
        runs: calls.map(|calls| running_programs::runs(agent, calls)),
        hooks,
        file,
        project,
        also,
    }
}

/// Returns the path and the state of the hooks of one settings file; `None` if the agent has none there.
fn hooks(agent: HookedAgent, project: bool) -> Option<(PathBuf, Option<HooksState>)> {
    let file = hook_commands::file(agent, project).ok()?;
    let program = std::env::current_exe().unwrap_or_default();
    let stands = state(&file, agent, &program).ok();
    Some((file, stands))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::sync::mpsc;

    use super::*;

    /// Answers every request in the same way, and reports how each began.
    fn server(answer: &'static str) -> (u16, mpsc::Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, requests) = mpsc::channel();
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut head = [0; 1024];
                let count = stream.read(&mut head).unwrap_or(0);
                let _ = asked.send(String::from_utf8_lossy(&head[..count]).into_owned());
                let events = answer == PLAIN && head.starts_with(b"GET /events ");
                let answer = if events { OTHER_EVENTS } else { answer };
                let _ = stream.write_all(answer.as_bytes());
                // A stream stays open after its first event.
                if answer.contains("event-stream") {
                    kept.push(stream);
                }
            }
        });
        (port, requests)
    }

    const OPENCODE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n\
        data: {\"id\":\"evt_1\",\"type\":\"server.connected\",\"properties\":{}}\n\n";
    const OTHER_EVENTS: &str =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: hello\n\n";
    const LOCKED: &str = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";
    /// A server with events in the usual place, and nothing else.
    const PLAIN: &str = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi";
    const MANIFEST: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\
        {\"type\":\"aaep:producer.manifest\",\"agent_id\":\"planner\"}";
    const CARD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\
        {\"name\":\"Fox\",\"protocolVersion\":\"0.3.0\",\"url\":\"http://127.0.0.1:1/\",\"capabilities\":{},\"skills\":[],\
        \"version\":\"1\",\"description\":\"\",\"defaultInputModes\":[],\"defaultOutputModes\":[]}";

    /// Probes one server for everything that it may be, and returns what it is found to be.
    async fn found(answer: &'static str) -> (Vec<(AgentProtocol, Certainty)>, Vec<String>) {
        let (port, requests) = server(answer);
        let at = format!("http://127.0.0.1:{port}");
        let all = vec![
            FoundAgent::of(AgentProtocol::Aaep, at.clone()),
            FoundAgent::of(AgentProtocol::Opencode, format!("opencode:{at}")),
            FoundAgent::of(AgentProtocol::A2a, format!("a2a:{at}")),
            FoundAgent::of(AgentProtocol::Codex, format!("codex:ws://127.0.0.1:{port}")),
        ];
        let found = asked(all).await;
        let found = found.into_iter().map(|one| (one.speaks, one.sign));
        (found.collect(), requests.try_iter().collect())
    }

    #[tokio::test]
    async fn an_agent_is_known_by_its_own_answer_and_nothing_else_is_taken_for_one() {
        for (answer, wanted) in [
            (OPENCODE, vec![(AgentProtocol::Opencode, Certainty::Sure)]),
            (OTHER_EVENTS, vec![]),
            (LOCKED, vec![(AgentProtocol::Opencode, Certainty::Locked)]),
            (PAGE, vec![]),
            (PLAIN, vec![(AgentProtocol::Aaep, Certainty::Probable)]),
            (MANIFEST, vec![(AgentProtocol::Aaep, Certainty::Sure)]),
            (CARD, vec![(AgentProtocol::A2a, Certainty::Sure)]),
        ] {
            let (found, requests) = found(answer).await;
            assert_eq!(found, wanted, "{answer}");
            assert!(requests.len() >= 4, "{requests:?}");
            for request in requests {
                assert!(request.starts_with("GET /"), "{request}");
                assert!(
                    !request.to_lowercase().contains("authorization"),
                    "{request}"
                );
            }
        }
    }

    #[tokio::test]
    async fn one_that_says_nothing_keeps_nobody_waiting_and_one_that_is_not_there_is_not_found() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port();
        let gone = TcpListener::bind("127.0.0.1:0").unwrap();
        let nobody = gone.local_addr().unwrap().port();
        drop(gone);
        let all = [port, nobody].map(|port| {
            let word = format!("opencode:http://127.0.0.1:{port}");
            FoundAgent::of(AgentProtocol::Opencode, word)
        });
        let found = tokio::time::timeout(LIMIT * 2, asked(all.to_vec())).await;
        assert_eq!(found.unwrap(), []);
    }

    #[test]
    fn whom_to_ask_is_bounded_and_what_calls_name_is_among_it() {
        let call = |port: u16| -> Vec<String> {
            let port = port.to_string();
            let words = ["opencode", "serve", "--port", &port];
            words.map(str::to_owned).to_vec()
        };
        let words = |calls: &[Vec<String>]| -> (Vec<String>, usize) {
            let (all, left_out) = candidates(calls);
            // What this machine itself has does not depend on the command lines.
            let words = all
                .into_iter()
                .filter(|one| !one.word.starts_with("unix:") && one.word != "codex");
            (words.map(|one| one.word).collect(), left_out)
        };
        let (few, left_out) = words(&[call(4100)]);
        assert_eq!(left_out, 0);
        for word in [
            "opencode:http://127.0.0.1:4096",
            "opencode:http://127.0.0.1:4100",
            "http://127.0.0.1:8080",
            "a2a:http://127.0.0.1:9999",
        ] {
            assert!(few.iter().any(|it| it == word), "{word} in {few:?}");
        }
        let many: Vec<Vec<String>> = (5000..5100).map(call).collect();
        let (all, left_out) = words(&many);
        assert_eq!((all.len(), left_out), (few.len() - 1 + MOST, 100 - MOST));
    }
}
