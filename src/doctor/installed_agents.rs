//! The installed agents: their versions, old packages, an old Node.js.
//!
//! Responsibilities: what is said about those, with the remedies. Not here: asking for versions (`runtime::versions`),
//! how an agent is followed or started (`agent_checks`).

use super::finding_lines::{DoctorFinding, DoctorTopic, own};
use crate::link::{Phrase, PhraseArg};
use crate::runtime::StartCandidate;
use crate::runtime::versions::{InstalledAgents, KnownAgent, TRIED_NODE, major};

/// Returns the line about an agent that is here: the versions of its programs, and the ways to follow or start it.
pub(super) fn line(
    installed: &InstalledAgents,
    agent: &KnownAgent,
    mut ways: Vec<Phrase>,
) -> Phrase {
    let mut versions = Vec::new();
    let mut others = Vec::new();
    for program in agent.programs() {
        let name = &program.program;
        let Some(version) = installed.versions.get(name) else {
            continue;
        };
        let Some(version) = version else {
            ways.push(Phrase::new("doctor.agent.mute").with("program", own(name)));
            continue;
        };
        versions.push(format!("{name} {version}"));
        let other = program.tried.filter(|tried| tried != version);
        others.extend(other.map(|tried| format!("{name} {tried}")));
    }
    if !others.is_empty() {
        let versions = own(others.join(", "));
        ways.push(Phrase::new("doctor.agent.tried").with("versions", versions));
    }
    if agent.tried.is_none() {
        ways.push(Phrase::new("doctor.agent.untried"));
    }
    let phrase = match versions.is_empty() {
        true => Phrase::new("doctor.agent"),
        false => Phrase::new("doctor.agent.versions").with("versions", own(versions.join(", "))),
    };
    phrase
        .with("title", own(&agent.title))
        .with("ways", PhraseArg::Phrases(ways))
}

/// Returns the programs of old packages, with the commands that replace them.
pub(super) fn outdated(installed: &InstalledAgents) -> impl Iterator<Item = DoctorFinding> {
    installed.outdated.iter().map(|one| {
        let say = |key| {
            Phrase::new(key)
                .with("program", own(&one.former.program))
                .with("package", own(&one.former.package))
                .with("install", own(&one.install))
        };
        let remedy = say("doctor.agent.former.remedy");
        DoctorFinding::weak(DoctorTopic::Agent, say("doctor.agent.former"), remedy)
    })
}

/// Returns what an old Node.js keeps from the person.
pub(super) fn node(installed: &InstalledAgents, known: &[StartCandidate]) -> Option<DoctorFinding> {
    let version = installed.node.as_ref()?;
    let major = major(version).filter(|major| *major < TRIED_NODE)?;
    let lacking = known.iter().map(|one| &one.agent);
    let lacking = lacking.filter(|agent| agent.needs_node.is_some_and(|node| node > major));
    let names: Vec<&str> = lacking.map(|agent| agent.title.as_str()).collect();
    let say = |key| {
        Phrase::new(key)
            .with("version", own(version))
            .with("tried", own(TRIED_NODE))
    };
    let text = match names.is_empty() {
        true => say("doctor.agent.node.older"),
        false => say("doctor.agent.node").with("names", own(names.join(", "))),
    };
    let remedy = say("doctor.agent.node.remedy");
    Some(DoctorFinding::weak(DoctorTopic::Agent, text, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce::Phrases;
    use crate::runtime::startable;
    use crate::runtime::versions::OutdatedPackage;

    fn row(name: &str) -> KnownAgent {
        let mut all = startable().unwrap().into_iter().map(|one| one.agent);
        all.find(|agent| agent.name == name).unwrap()
    }

    /// Returns a finding in words, after a look at the other languages.
    fn told(finding: &DoctorFinding) -> String {
        for tag in ["de", "es"] {
            let words = Phrases::for_languages(&[tag.to_owned()]).unwrap();
            assert!(finding.line(&words).len() > 20);
        }
        finding.line(&Phrases::english().unwrap())
    }

    #[test]
    fn the_versions_are_told_and_those_of_the_trial_where_they_differ() {
        let mut installed = InstalledAgents::default();
        for (program, version) in [
            ("codex", Some("0.170.0")),
            ("codex-acp", Some("2.6.0")),
            ("gemini", Some("0.61.0")),
            ("qwen", None),
            ("kimi", Some("1.9")),
        ] {
            let version = version.map(str::to_owned);
            installed.versions.insert(program.to_owned(), version);
        }
        for (name, words) in [
            (
                "codex",
                "Codex is here, codex 0.170.0, codex-acp 2.6.0: hearken run codex starts it; hearken was tried with \
                 codex 0.171.0.\n",
            ),
            (
                "gemini",
                "Gemini CLI is here, gemini 0.61.0: hearken run gemini starts it.\n",
            ),
            (
                "qwen",
                "Qwen Code is here: hearken run qwen starts it; qwen does not say its version.\n",
            ),
            (
                "kimi",
                "Kimi CLI is here, kimi 1.9: hearken run kimi starts it; hearken was not tried with it.\n",
            ),
            (
                "claude",
                "Claude Code is here: hearken run claude starts it.\n",
            ),
        ] {
            let way = Phrase::new("doctor.agent.run").with("name", own(name));
            let text = line(&installed, &row(name), vec![way]);
            let told = told(&DoctorFinding::fine(DoctorTopic::Agent, text));
            assert_eq!(told, format!("Agents: {words}"));
        }
    }

    #[test]
    fn an_old_package_comes_with_the_commands_that_replace_it() {
        let claude = row("claude");
        let installed = InstalledAgents {
            outdated: vec![OutdatedPackage {
                former: claude.former[1].clone(),
                install: claude.install,
            }],
            ..InstalledAgents::default()
        };
        let all: Vec<String> = outdated(&installed).map(|it| told(&it)).collect();
        assert_eq!(
            all,
            [
                "Agents, could be better: claude-code-acp is from the old package @zed-industries/claude-code-acp, which \
                 gets no new versions. Remedy: Run npm uninstall -g @zed-industries/claude-code-acp, then npm install -g \
                 @agentclientprotocol/claude-agent-acp.\n"
            ]
        );
    }

    #[test]
    fn an_old_node_is_told_with_the_agents_that_need_a_newer_one() {
        let known = startable().unwrap();
        let told = |version: &str| {
            let installed = InstalledAgents {
                node: Some(version.to_owned()),
                ..InstalledAgents::default()
            };
            node(&installed, &known).map(|it| told(&it))
        };
        let remedy = "Remedy: Install Node.js 24, then install the agents again.\n";
        assert_eq!(
            told("20.20.2").unwrap(),
            format!(
                "Agents, could be better: Node.js 20.20.2 is too old for Claude Code, Qwen Code, pi: npm installs old \
                 versions of them, and doesn't say so. {remedy}"
            )
        );
        assert_eq!(
            told("22.1.0").unwrap(),
            format!(
                "Agents, could be better: Node.js 22.1.0 is older than 24, with which hearken was tried. {remedy}"
            )
        );
        assert_eq!(told("24.0.0"), None);
        assert_eq!(told("26.1.0"), None);
        assert_eq!(told("strange"), None);
        assert_eq!(node(&InstalledAgents::default(), &known), None);
    }
}
