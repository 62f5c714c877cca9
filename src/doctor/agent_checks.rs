//! The agents: which are on this machine, in which version, and how each is followed or started here.
//!
//! Responsibilities: one line for each agent found, with its versions and the command to type, and one line for the
//! absent ones; what prevents an agent from being heard or from being the newest, and the remedy. Not here: finding
//! what runs (`runtime::nearby_agents`), versions (`installed_agents`), the SOURCEs that the person names
//! (`source_checks`).

use std::ffi::OsStr;

use super::finding_lines::{DoctorFinding, DoctorTopic, own};
use super::installed_agents;
use crate::config::HookedAgent;
use crate::link::Phrase;
use crate::platform::sockets;
use crate::runtime::nearby_agents::{
    self, AgentProtocol, Certainty, FoundAgent, HookedAgentState, HooksState, NearbyAgents,
    OPENCODE_PORT,
};
use crate::runtime::settings_file::has_opencode_password;
use crate::runtime::versions::{self, InstalledAgents};
use crate::runtime::{StartCandidate, is_there, startable};

/// The agents that can also be followed from outside, by their names in the list of startable ones.
const OPENCODE: &str = "opencode";
const CODEX: &str = "codex";
/// The variable with opencode's password.
const PASSWORD: &str = "OPENCODE_SERVER_PASSWORD";
/// A suggested address for Codex to listen at: it has no default.
const CODEX_AT: &str = "ws://127.0.0.1:8765";

/// What was found on this machine.
#[derive(Debug, Clone)]
struct AgentsFound {
    known: Vec<StartCandidate>,
    /// The agents with hooks whose own program is here, other than the one started to talk to hearken.
    hooked: Vec<HookedAgent>,
    nearby: NearbyAgents,
    installed: InstalledAgents,
    has_password: bool,
}

/// Looks for agents, and returns the findings.
///
/// # Errors
/// Never in practice: the list of known agents is compiled in.
pub async fn look() -> anyhow::Result<Vec<DoctorFinding>> {
    let known = startable()?;
    let hooked = HookedAgent::ALL.into_iter();
    let (nearby, installed) = futures_util::join!(nearby_agents::look(), versions::look(&known));
    let here = AgentsFound {
        known,
        hooked: hooked
            .filter(|it| is_there(OsStr::new(it.name())))
            .collect(),
        nearby,
        installed,
        has_password: has_opencode_password(),
    };
    Ok(here.findings())
}

impl AgentsFound {
    fn findings(&self) -> Vec<DoctorFinding> {
        let mut found = Vec::new();
        let mut absent = 0;
        for StartCandidate { agent, is_here } in &self.known {
            let mut ways = Vec::new();
            if *is_here {
                let name = own(&agent.name);
                ways.push(Phrase::new("doctor.agent.run").with("name", name));
            }
            let mut weak = match agent.name.as_str() {
                OPENCODE => self.opencode(*is_here, &mut ways),
                CODEX => self.codex(&mut ways),
                _ => Vec::new(),
            };
            let hooked = self.nearby.hooked.iter();
            let hooked = hooked.filter(|it| it.agent.name() == agent.name);
            weak.extend(hooked.filter_map(|it| self.hooks(it, &mut ways)));
            if !ways.is_empty() {
                let text = installed_agents::line(&self.installed, agent, ways);
                found.push(DoctorFinding::fine(DoctorTopic::Agent, text));
            } else if weak.is_empty() {
                absent += 1;
            }
            found.extend(weak);
        }
        found.extend(installed_agents::outdated(&self.installed));
        found.extend(installed_agents::node(&self.installed, &self.known));
        for one in &self.nearby.agents {
            let key = match (one.speaks, one.sign) {
                (AgentProtocol::Aaep, Certainty::Probable) => "doctor.agent.aaep.probable",
                (AgentProtocol::Aaep, Certainty::Sure | Certainty::Locked) => "doctor.agent.aaep",
                (AgentProtocol::A2a, _) => "doctor.agent.a2a",
                // These were reported by name.
                (AgentProtocol::Opencode | AgentProtocol::Codex, _) => continue,
            };
            let text = Phrase::new(key)
                .with("name", own(one.at()))
                .with("word", own(&one.word));
            found.push(DoctorFinding::fine(DoctorTopic::Agent, text));
        }
        if absent > 0 {
            // Their names alone would take half a minute to hear.
            let n = own(absent.to_string());
            let text = Phrase::new("doctor.agent.absent").with("n", n);
            found.push(DoctorFinding::fine(DoctorTopic::Agent, text));
        }
        found.push(DoctorFinding::fine(
            DoctorTopic::Agent,
            "doctor.agent.elsewhere",
        ));
        found
    }

    fn running(&self, speaks: AgentProtocol) -> impl Iterator<Item = &FoundAgent> {
        let all = self.nearby.agents.iter();
        all.filter(move |one| one.speaks == speaks)
    }

    /// Adds the ways to follow opencode; returns its servers that can't be followed yet.
    fn opencode(&self, is_here: bool, ways: &mut Vec<Phrase>) -> Vec<DoctorFinding> {
        let mut weak = Vec::new();
        for one in self.running(AgentProtocol::Opencode) {
            let say = |key| {
                Phrase::new(key)
                    .with("word", own(&one.word))
                    .with("at", own(one.at()))
                    .with("variable", own(PASSWORD))
            };
            match (one.sign, self.has_password) {
                (Certainty::Sure | Certainty::Probable, _) => ways.push(say("doctor.agent.runs")),
                (Certainty::Locked, true) => ways.push(say("doctor.agent.runs.password")),
                (Certainty::Locked, false) => weak.push(DoctorFinding::weak(
                    DoctorTopic::Agent,
                    say("doctor.agent.locked"),
                    say("doctor.agent.locked.remedy"),
                )),
            }
        }
        if is_here && self.running(AgentProtocol::Opencode).next().is_none() {
            let word = format!("opencode:http://127.0.0.1:{OPENCODE_PORT}");
            let command = format!("opencode serve --port {OPENCODE_PORT}");
            ways.push(
                Phrase::new("doctor.agent.serve")
                    .with("command", own(command))
                    .with("word", own(word)),
            );
        }
        weak
    }

    /// Adds the ways to follow Codex.
    fn codex(&self, ways: &mut Vec<Phrase>) -> Vec<DoctorFinding> {
        for one in self.running(AgentProtocol::Codex) {
            ways.push(Phrase::new("doctor.agent.runs").with("word", own(&one.word)));
        }
        if self.hooked.contains(&HookedAgent::Codex)
            && self.running(AgentProtocol::Codex).next().is_none()
        {
            if sockets::THERE {
                let word = own(CODEX);
                ways.push(Phrase::new("doctor.agent.follow").with("word", word));
                return Vec::new();
            }
            let command = format!("codex app-server --listen {CODEX_AT}");
            ways.push(
                Phrase::new("doctor.agent.serve")
                    .with("command", own(command))
                    .with("word", own(format!("codex:{CODEX_AT}"))),
            );
        }
        Vec::new()
    }

    /// Adds how an agent is heard by its hooks; returns what prevents that.
    fn hooks(&self, one: &HookedAgentState, ways: &mut Vec<Phrase>) -> Option<DoctorFinding> {
        let is_here = self.hooked.contains(&one.agent) || one.runs == Some(true);
        let file = one.file.as_deref().map(crate::runtime::shown);
        let file = file.unwrap_or_default();
        let name = one.agent.name();
        let say = |key| {
            let install = match one.project {
                true => format!("hearken hooks install {name} --project"),
                false => format!("hearken hooks install {name}"),
            };
            Phrase::new(key)
                .with("agent", own(one.agent.title()))
                .with("name", own(name))
                .with("word", own(one.word()))
                .with("file", own(&file))
                .with("install", own(install))
        };
        let weak =
            |text: Phrase, remedy| Some(DoctorFinding::weak(DoctorTopic::Agent, text, say(remedy)));
        let install = "doctor.agent.hooks.install";
        if let Some(first) = one.also.first() {
            let also = own(crate::runtime::shown(first));
            let text = say("doctor.agent.hooks.also").with("also", also);
            return weak(text, "doctor.agent.hooks.also.remedy");
        }
        match &one.hooks {
            Some(HooksState::Whole) => {
                ways.push(say(match self.nearby.heard {
                    true => "doctor.agent.hooks.heard",
                    false => "doctor.agent.hooks",
                }));
                None
            }
            Some(HooksState::Absent) if is_here => match one.agent {
                HookedAgent::Claude => weak(say("doctor.agent.hooks.absent"), install),
                // Its socket is better: there, its own terminal asks, too.
                HookedAgent::Codex if sockets::THERE => None,
                HookedAgent::Codex
                | HookedAgent::Copilot
                | HookedAgent::Qwen
                | HookedAgent::Gemini => {
                    ways.push(say("doctor.agent.hooks.offer"));
                    None
                }
            },
            Some(HooksState::Partly) => weak(say("doctor.agent.hooks.partly"), install),
            Some(HooksState::Twice) => weak(say("doctor.agent.hooks.twice"), install),
            Some(HooksState::Lost { program }) => {
                let lost = own(crate::runtime::shown(program));
                weak(
                    say("doctor.agent.hooks.lost").with("program", lost),
                    install,
                )
            }
            Some(HooksState::Off) => weak(
                say("doctor.agent.hooks.off"),
                "doctor.agent.hooks.off.remedy",
            ),
            None if is_here => weak(
                say("doctor.agent.hooks.unread"),
                "doctor.agent.hooks.unread.remedy",
            ),
            Some(HooksState::Absent) | None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::announce::Phrases;

    fn hooked(agent: HookedAgent, hooks: Option<HooksState>) -> HookedAgentState {
        HookedAgentState {
            agent,
            runs: Some(false),
            hooks,
            file: Some(PathBuf::from("/h/settings.json")),
            project: false,
            also: Vec::new(),
        }
    }

    fn here(programs: &[&str], agents: Vec<FoundAgent>, hooks: Option<HooksState>) -> AgentsFound {
        let known = startable().unwrap().into_iter().map(|one| StartCandidate {
            is_here: programs.contains(&one.agent.name.as_str()),
            ..one
        });
        let other = |agent: &HookedAgent| {
            let name = format!("the other {}", agent.name());
            programs.contains(&name.as_str())
        };
        let absent = |agent| hooked(agent, Some(HooksState::Absent));
        let mut all = HookedAgent::ALL.map(absent).to_vec();
        all[0] = hooked(HookedAgent::Claude, hooks);
        AgentsFound {
            known: known.collect(),
            hooked: HookedAgent::ALL.into_iter().filter(other).collect(),
            nearby: NearbyAgents {
                agents,
                left_out: 0,
                hooked: all,
                heard: false,
            },
            installed: InstalledAgents::default(),
            has_password: false,
        }
    }

    fn lines(here: &AgentsFound) -> Vec<String> {
        for tag in ["de", "es"] {
            let words = Phrases::for_languages(&[tag.to_owned()]).unwrap();
            let findings = here.findings();
            assert!(findings.iter().all(|it| it.line(&words).len() > 20));
        }
        let words = Phrases::english().unwrap();
        let findings = here.findings();
        findings.iter().map(|it| it.line(&words)).collect()
    }

    fn runs(speaks: AgentProtocol, word: &str, sign: Certainty) -> FoundAgent {
        FoundAgent {
            speaks,
            word: word.to_owned(),
            sign,
        }
    }

    #[test]
    fn those_that_are_not_here_are_one_line() {
        assert_eq!(
            lines(&here(&[], vec![], Some(HooksState::Absent))),
            [
                "Agents: 43 other agents can be started once installed; hearken run --list says how.\n",
                "Agents: One elsewhere is followed by its address: hearken watch URL (AAEP), hearken watch a2a:URL (A2A), \
                 hearken run agui:URL (AG-UI), or over ssh: hearken watch -- ssh HOST hearken bridge claude --serve -, \
                 or many machines over NATS: hearken watch tls://HOST.\n",
            ]
        );
    }

    #[test]
    fn each_that_is_here_is_told_with_the_commands_to_type() {
        let programs = ["opencode", "codex", "the other codex", "goose"];
        let lines = lines(&here(&programs, vec![], Some(HooksState::Whole)));
        let codex = match sockets::THERE {
            true => {
                "Agents: Codex is here: hearken run codex starts it; hearken watch codex follows one that you start in a \
                 terminal.\n"
            }
            false => {
                "Agents: Codex is here: hearken run codex starts it; to follow one of its own, start codex app-server \
                 --listen ws://127.0.0.1:8765, then hearken watch codex:ws://127.0.0.1:8765; hearken hooks install codex, then \
                 hearken watch hooks hears one that you start in a terminal.\n"
            }
        };
        let wanted = [
            "Agents: Opencode is here: hearken run opencode starts it; to follow one of its own, start opencode serve --port 4096, \
             then hearken watch opencode:http://127.0.0.1:4096.\n",
            codex,
            "Agents: Claude Code is here: hearken watch claude hears it by its hooks.\n",
            "Agents: Goose is here: hearken run goose starts it; hearken was not tried with it.\n",
        ];
        assert_eq!(lines[..4], wanted);
        assert!(!lines[4].contains("Codex"), "{}", lines[4]);
    }

    #[test]
    fn what_runs_is_followed_where_it_is() {
        let agents = vec![
            runs(AgentProtocol::Aaep, "unix:planner", Certainty::Sure),
            runs(
                AgentProtocol::Opencode,
                "opencode:http://127.0.0.1:4096",
                Certainty::Sure,
            ),
            runs(
                AgentProtocol::A2a,
                "a2a:http://127.0.0.1:9999",
                Certainty::Sure,
            ),
        ];
        let lines = lines(&here(&["opencode"], agents, Some(HooksState::Absent))).concat();
        for words in [
            "it is running, and hearken watch opencode:http://127.0.0.1:4096 follows it",
            "An AAEP agent is running, planner: hearken watch unix:planner follows it",
            "hearken watch a2a:http://127.0.0.1:9999 follows it",
        ] {
            assert!(lines.contains(words), "{words} in {lines}");
        }
        assert!(!lines.contains("opencode serve"), "{lines}");
    }

    #[test]
    fn what_keeps_one_from_being_heard_comes_with_its_remedy() {
        let locked = vec![runs(
            AgentProtocol::Opencode,
            "opencode:http://127.0.0.1:4096",
            Certainty::Locked,
        )];
        let mut opencode = here(&[], locked, Some(HooksState::Absent));
        let told = lines(&opencode).concat();
        assert!(
            told.contains("Remedy: Set OPENCODE_SERVER_PASSWORD"),
            "{told}"
        );
        opencode.has_password = true;
        let told = lines(&opencode).concat();
        assert!(
            told.contains("with the password of OPENCODE_SERVER_PASSWORD"),
            "{told}"
        );
        let lost = HooksState::Lost {
            program: PathBuf::from("/gone/hearken"),
        };
        for (hooks, words, remedy) in [
            (
                Some(HooksState::Absent),
                "can't be heard yet",
                "hearken hooks install claude",
            ),
            (
                Some(HooksState::Partly),
                "not all of its hooks",
                "hearken hooks install claude",
            ),
            (
                Some(HooksState::Twice),
                "comes twice",
                "hearken hooks install claude",
            ),
            (Some(lost), "/gone/hearken", "hearken hooks install claude"),
            (Some(HooksState::Off), "disableAllHooks", "/h/settings.json"),
            (None, "/h/settings.json", "Fix"),
        ] {
            let claude = here(&["the other claude"], vec![], hooks.clone());
            let all = lines(&claude);
            let line = all
                .iter()
                .find(|line| line.contains("Claude Code"))
                .unwrap();
            assert!(line.contains(words), "{line}");
            let told = line.split("Remedy: ").nth(1).unwrap_or_default();
            assert!(
                told.to_lowercase().contains(&remedy.to_lowercase()),
                "{line}"
            );
        }
        let mut both = here(&["the other claude"], vec![], Some(HooksState::Whole));
        both.nearby.hooked[0].also = vec![PathBuf::from("/w/.claude/settings.json")];
        let told = lines(&both).concat();
        assert!(told.contains("and /w/.claude/settings.json"), "{told}");
        assert!(told.contains("hooks uninstall claude"), "{told}");
    }

    #[test]
    fn the_hooks_of_every_agent_are_told_and_an_agent_without_either_is_not() {
        let mut here = here(
            &["gemini", "the other gemini", "the other codex"],
            vec![],
            None,
        );
        here.nearby.hooked[0].hooks = Some(HooksState::Absent);
        let told = lines(&here).concat();
        let offer = "hearken hooks install gemini, then hearken watch gemini hears one that you start in a terminal.";
        assert!(told.contains(offer), "{told}");
        let codex = told.contains("hearken hooks install codex");
        assert_eq!(codex, !sockets::THERE, "{told}");
        assert!(!told.contains("Copilot CLI is here"), "{told}");
        let lost = Some(HooksState::Lost {
            program: PathBuf::from("/gone/hearken"),
        });
        for (at, hooks, words) in [
            (
                1,
                Some(HooksState::Whole),
                "hearken watch hooks hears it by its hooks",
            ),
            (
                2,
                Some(HooksState::Whole),
                "GitHub Copilot CLI is here: hearken watch copilot hears it by its hooks.\n",
            ),
            (
                2,
                lost,
                "Copilot CLI can't be heard, because its hooks run /gone/hearken, which is not there any more. \
                Remedy: Hearken hooks install copilot, then hearken watch copilot.",
            ),
            (3, Some(HooksState::Partly), "Qwen Code can't be heard well"),
            (
                4,
                Some(HooksState::Off),
                "Gemini CLI can't be heard, because disableAllHooks",
            ),
            (4, None, "whether Gemini CLI can be heard is not known"),
        ] {
            let agent = HookedAgent::ALL[at];
            let mut other = here.clone();
            other.nearby.hooked[at] = hooked(agent, hooks);
            let told = lines(&other).concat();
            assert!(
                told.to_lowercase().contains(&words.to_lowercase()),
                "{words} in {told}"
            );
        }
    }
}
