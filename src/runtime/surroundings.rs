//! The search for what else runs on this machine, while the full face hears nobody.
//!
//! Responsibilities: when it begins, that nothing waits for it, and which commands result from it. Not here: the search
//! (`nearby_agents`), what can be chosen from it (`agent_offer`), the words (`pane`).

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::app::{NearbyCommands, SourceSetup};
use crate::config::LinkConfig;

use super::agent_offer::{SourceOffer, command, start_commands};
use super::face_choice::Face;
use super::run_plan::Plan;
use super::source_feed::SourceFeed;
use super::{nearby_agents, source_links, until};

/// How long a source has to be heard before the search begins: most are heard much sooner.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many commands a screen without agents names at most.
const MOST_NEARBY: usize = 4;
/// The longest of them, in bytes.
const LONGEST_NEARBY: usize = 120;

/// The search, which is made once in a run.
pub(super) enum AgentSearch {
    /// It is not to be made, or is over.
    Over,
    /// It begins at this time.
    Due(Instant, Box<FollowedSources>),
    /// It goes on elsewhere.
    Sought(oneshot::Receiver<Option<NearbyCommands>>),
}

/// The names of what a run follows, so that it is not offered again.
pub(super) struct FollowedSources {
    names: Vec<String>,
    config: LinkConfig,
}

impl FollowedSources {
    fn of(sources: &[SourceSetup], config: &LinkConfig) -> Self {
        let names = sources.iter().flat_map(|source| {
            let given = source.as_given.clone();
            std::iter::once(source.name.clone()).chain(given)
        });
        Self {
            names: names.collect(),
            config: config.clone(),
        }
    }

    /// Returns whether this SOURCE is among them.
    fn include(&self, word: &str) -> bool {
        let source = source_links::read(word, &self.config);
        source.is_ok_and(|source| self.names.contains(&source_links::name_as_given(&source)))
    }
}

impl AgentSearch {
    /// Plans the search for a run in the full face that follows live sources.
    pub(super) fn of(plan: &Plan, started: Instant) -> Self {
        let is_live = |feed: &SourceFeed| match feed {
            SourceFeed::Link(source, _) => source.is_live(),
            SourceFeed::Recording { .. } => false,
        };
        match plan.face == Face::Full && plan.feeds.iter().all(is_live) {
            true => {
                let config = &plan.setup.config.links;
                let followed = FollowedSources::of(&plan.setup.sources, config);
                Self::Due(started + PATIENCE, Box::new(followed))
            }
            false => Self::Over,
        }
    }

    /// Returns whether anything is still to be found.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Self::Over)
    }

    /// Waits for what is found. A call may be dropped and made again.
    pub(super) async fn found(&mut self) -> NearbyCommands {
        if let Self::Due(at, _) = self {
            until(Some(*at)).await;
        }
        *self = match std::mem::replace(self, Self::Over) {
            Self::Due(_, followed) => Self::Sought(seek(followed)),
            other => other,
        };
        let found = match self {
            Self::Sought(found) => found.await.ok().flatten(),
            Self::Due(..) | Self::Over => None,
        };
        *self = Self::Over;
        match found {
            Some(found) => found,
            None => std::future::pending().await,
        }
    }
}

/// Searches in a thread of its own, because reading what runs here takes longer than a key should wait.
fn seek(followed: Box<FollowedSources>) -> oneshot::Receiver<Option<NearbyCommands>> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let found = runtime.ok().and_then(|runtime| {
            let found = runtime.block_on(nearby_agents::look());
            for_empty_screen(&found, |word| followed.include(word))
        });
        // Nobody waits for it if the run is over.
        let _ = sender.send(found);
    });
    receiver
}

/// Returns what else could be followed or started here, for a run that hears nobody; `None` if there is nothing to
/// suggest. `followed` returns whether a run follows a SOURCE already.
fn for_empty_screen(
    found: &nearby_agents::NearbyAgents,
    followed: impl Fn(&str) -> bool,
) -> Option<NearbyCommands> {
    let offer = SourceOffer::of(found);
    // Hooks of an agent that does not run are nothing to follow yet.
    let runs = found.hooked.iter().any(|one| one.runs == Some(true));
    let running = offer.choices.iter().filter(|choice| match choice.key {
        "offer.hooks" => false,
        "offer.hooks.several" => runs,
        _ => true,
    });
    let deaf = found.hooked.iter().filter(|one| one.lacks_hooks());
    let deaf = deaf.map(|one| format!("hearken hooks install {}", one.agent.name()));
    let commands: Vec<String> = running
        .filter(|choice| !followed(&choice.word))
        .map(command)
        .chain(deaf)
        .filter(|command| is_plain(command))
        .take(MOST_NEARBY)
        .collect();
    if !commands.is_empty() {
        return Some(NearbyCommands::Running(commands));
    }
    // Something runs that this run follows, or that can't be followed.
    if !found.agents.is_empty() || runs {
        return None;
    }
    let mut commands = start_commands().ok()?;
    commands.truncate(MOST_NEARBY);
    if commands.is_empty() {
        commands.push("hearken demo".to_owned());
    }
    Some(NearbyCommands::Startable(commands))
}

/// Returns whether a command can be typed as it is: a shell must not interpret the name of a socket, which anybody may
/// have chosen.
fn is_plain(command: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || " :/._-".contains(c);
    command.len() <= LONGEST_NEARBY && command.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::super::nearby_agents::{
        AgentProtocol, Certainty, FoundAgent, HookedAgentState, HooksState,
    };
    use super::*;
    use crate::config::HookedAgent;

    fn found(speaks: AgentProtocol, word: &str, sign: Certainty) -> FoundAgent {
        FoundAgent {
            sign,
            ..FoundAgent::of(speaks, word.to_owned())
        }
    }

    fn claude(runs: Option<bool>, hooks: Option<HooksState>) -> Vec<HookedAgentState> {
        vec![HookedAgentState {
            agent: HookedAgent::Claude,
            runs,
            hooks,
            file: None,
            project: false,
            also: Vec::new(),
        }]
    }

    fn around() -> nearby_agents::NearbyAgents {
        let all = [
            (AgentProtocol::Aaep, "unix:planner"),
            (AgentProtocol::Opencode, "opencode:http://127.0.0.1:4096"),
            (AgentProtocol::Codex, "codex:ws://127.0.0.1:8765"),
            (AgentProtocol::A2a, "a2a:http://127.0.0.1:9999"),
            (AgentProtocol::Codex, "codex"),
        ];
        nearby_agents::NearbyAgents {
            agents: all
                .map(|(speaks, word)| found(speaks, word, Certainty::Sure))
                .to_vec(),
            left_out: 2,
            hooked: claude(Some(true), Some(HooksState::Whole)),
            heard: false,
        }
    }

    #[test]
    fn a_screen_without_agents_names_what_runs_and_can_be_typed_as_it_is() {
        let mut found = around();
        let commands = |found: &nearby_agents::NearbyAgents| match for_empty_screen(found, |word| {
            word == "codex"
        }) {
            Some(NearbyCommands::Running(commands)) => commands,
            other => panic!("{other:?}"),
        };
        let first = [
            "hearken watch unix:planner",
            "hearken watch opencode:http://127.0.0.1:4096",
            "hearken watch codex:ws://127.0.0.1:8765",
            "hearken watch a2a:http://127.0.0.1:9999",
        ];
        assert_eq!(commands(&found), first);
        found.agents.truncate(1);
        for hostile in [
            "unix:a;id",
            "unix:$(id)",
            "unix:a\u{1b}[2J",
            &"a".repeat(500),
        ] {
            found
                .agents
                .push(self::found(AgentProtocol::Aaep, hostile, Certainty::Sure));
        }
        assert_eq!(commands(&found), [first[0], "hearken watch claude"]);
        found.agents.clear();
        found.hooked = claude(Some(true), Some(HooksState::Absent));
        assert_eq!(commands(&found), ["hearken hooks install claude"]);
    }

    #[test]
    fn only_where_nothing_runs_does_a_screen_say_what_starts_an_agent() {
        let mut found = around();
        assert_eq!(for_empty_screen(&found, |_| true), None, "all is followed");
        found.agents.clear();
        found.heard = true;
        assert_eq!(
            for_empty_screen(&found, |_| false),
            None,
            "another hears it"
        );
        // Hooks of an agent that does not run.
        found.heard = false;
        found.hooked = claude(Some(false), Some(HooksState::Whole));
        let told = for_empty_screen(&found, |_| false);
        let Some(NearbyCommands::Startable(commands)) = told else {
            panic!("{told:?}");
        };
        assert!(!commands.is_empty() && commands.len() <= MOST_NEARBY);
        assert!(
            commands.iter().all(|it| it.starts_with("hearken ")),
            "{commands:?}"
        );
    }

    #[test]
    fn what_a_run_follows_is_known_by_its_address_whatever_it_is_called() {
        let config = LinkConfig::default();
        let socket = if cfg!(windows) {
            "pipe:fox"
        } else {
            "unix:fox"
        };
        let words = ["http://127.0.0.1:8080", socket];
        let sources = words.map(|word| {
            let source = source_links::read(word, &config).ok();
            SourceSetup {
                name: "my own".into(),
                as_given: source.map(|source| source_links::name_as_given(&source)),
                ..SourceSetup::default()
            }
        });
        let followed = FollowedSources::of(&sources, &config);
        assert!(words.iter().all(|word| followed.include(word)));
        assert!(!followed.include("http://127.0.0.1:8081"));
        assert!(!followed.include("unix:planner"));
    }
}
