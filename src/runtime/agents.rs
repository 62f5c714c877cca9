//! Agents that can be started: those that are known by a name, and any other by its command.
//!
//! Responsibilities: the command of a known agent, where its program lies, what it is prompted with and works in. Not
//! here: what a run is made of (`plan`), speaking with it (`dialect`).

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;

/// The known agents, as data.
const KNOWN: &str = include_str!("../../assets/agents.toml");

/// The longest prompt that a file may hold, in bytes: a long brief, and far less than a frame.
const LONGEST_PROMPT: u64 = 1024 * 1024;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    agent: Vec<Agent>,
}

/// Describes an agent that is known by a name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    name: String,
    title: String,
    command: Vec<String>,
    install: String,
}

/// Says what is to be run, as the command line has it.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// A known agent.
    pub agent: Option<String>,
    /// Instead of that, a program and its arguments.
    pub program: Vec<OsString>,
    /// The folder in which it works.
    pub folder: Option<PathBuf>,
    /// What it is to do.
    pub prompt: Option<String>,
    /// Instead of that, a file that says it.
    pub prompt_file: Option<PathBuf>,
}

/// Holds an agent that can be started.
#[derive(Debug)]
pub(super) struct Found {
    /// Its name for a person, where it is a known one.
    pub(super) title: Option<String>,
    /// The program and its arguments.
    pub(super) command: Vec<OsString>,
    /// The folder in which it works, in full.
    pub(super) folder: PathBuf,
    /// What it is to do at once.
    pub(super) prompt: Option<String>,
}

fn known() -> anyhow::Result<Vec<Agent>> {
    let known: Known = toml::from_str(KNOWN).context("the known agents can't be read")?;
    Ok(known.agent)
}

/// Lists the known agents as plain text.
///
/// # Errors
/// Never in practice: the list is a part of the program.
pub fn agents() -> anyhow::Result<String> {
    let mut text = String::new();
    for agent in known()? {
        let there = match is_there(OsStr::new(&agent.command[0])) {
            true => "installed".to_owned(),
            false => format!("not installed; to install it: {}", agent.install),
        };
        let command = agent.command.join(" ");
        text.push_str(&format!(
            "{}: {}. Runs {command}. It is {there}\n",
            agent.name, agent.title
        ));
    }
    Ok(text)
}

/// Finds what is wanted.
///
/// # Errors
/// When it is not known, not installed, or its folder or prompt can't be used.
pub(super) fn find(wanted: Wanted) -> anyhow::Result<Found> {
    let folder = folder(wanted.folder.as_deref())?;
    let prompt = prompt(wanted.prompt, wanted.prompt_file.as_deref())?;
    let (title, command) = match &wanted.agent {
        None if wanted.program.is_empty() => {
            bail!(
                "there is nothing to run: name an agent ({}), or write -- and a command",
                names()?
            )
        }
        None => (None, in_full(wanted.program)?),
        Some(name) => {
            let agents = known()?;
            let Some(agent) = agents.into_iter().find(|agent| agent.name == *name) else {
                bail!(
                    "there is no agent {name:?}; known are {}; for any other write -- and its command",
                    names()?
                );
            };
            let program = agent
                .command
                .first()
                .map(String::as_str)
                .unwrap_or_default();
            if !is_there(OsStr::new(program)) {
                bail!(
                    "{} is not installed: there is no program {program}; to install it: {}",
                    agent.title,
                    agent.install
                );
            }
            let command = agent.command.iter().map(OsString::from).collect();
            (Some(agent.title), command)
        }
    };
    Ok(Found {
        title,
        command,
        folder,
        prompt,
    })
}

fn names() -> anyhow::Result<String> {
    let names: Vec<String> = known()?.into_iter().map(|agent| agent.name).collect();
    Ok(names.join(", "))
}

/// Finds a program that is named by a path from here, because it is started in another folder.
fn in_full(mut command: Vec<OsString>) -> anyhow::Result<Vec<OsString>> {
    let Some(program) = command.first_mut() else {
        return Ok(command);
    };
    let path = Path::new(program.as_os_str());
    if path.components().count() > 1 {
        *program = std::path::absolute(path)?.into_os_string();
    }
    if !is_there(program) {
        bail!("there is no program {}", super::shown(Path::new(program)));
    }
    Ok(command)
}

/// Tells whether a program is there, by its path or among those that can be called.
fn is_there(program: &OsStr) -> bool {
    let is_program = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        path.metadata()
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    let path = Path::new(program);
    if path.components().count() > 1 {
        return is_program(path);
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| is_program(&folder.join(path)))
}

fn folder(wanted: Option<&Path>) -> anyhow::Result<PathBuf> {
    let wanted = wanted.unwrap_or(Path::new("."));
    let about = || format!("the folder {}", super::shown(wanted));
    let folder = wanted.canonicalize().with_context(about)?;
    if !folder.is_dir() {
        bail!("{} is no folder", super::shown(wanted));
    }
    Ok(folder)
}

fn prompt(text: Option<String>, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let text = match (text, file) {
        (None, None) => return Ok(None),
        (Some(text), _) => text,
        (None, Some(file)) => {
            let about = || format!("the prompt in {}", super::shown(file));
            let open = std::fs::File::open(file).with_context(about)?;
            let mut text = String::new();
            open.take(LONGEST_PROMPT + 1)
                .read_to_string(&mut text)
                .with_context(about)?;
            if text.len() as u64 > LONGEST_PROMPT {
                bail!("the prompt in {} is longer than 1 MiB", super::shown(file));
            }
            text
        }
    };
    let text = text.trim();
    if text.is_empty() {
        bail!("the prompt is empty");
    }
    Ok(Some(text.to_owned()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn fault(wanted: Wanted) -> String {
        find(wanted).unwrap_err().to_string()
    }

    #[test]
    fn every_known_agent_has_a_command_and_a_way_to_install_it() {
        for agent in known().unwrap() {
            assert!(
                !agent.command.is_empty() && !agent.install.is_empty(),
                "{agent:?}"
            );
        }
        assert!(
            agents()
                .unwrap()
                .contains("opencode: opencode. Runs opencode acp.")
        );
    }

    #[test]
    fn what_can_not_be_run_is_told_with_what_helps() {
        let agent = |name: &str| Wanted {
            agent: Some(name.to_owned()),
            ..Wanted::default()
        };
        assert!(fault(agent("purple")).contains("known are opencode, codex, claude"));
        assert!(fault(Wanted::default()).contains("there is nothing to run"));
        let program = |name: &str| Wanted {
            program: vec![name.into()],
            ..Wanted::default()
        };
        assert!(fault(program("/nowhere/agent")).contains("there is no program /nowhere/agent"));
        let empty = Wanted {
            prompt: Some("  ".to_owned()),
            ..program("sh")
        };
        assert!(fault(empty).contains("the prompt is empty"));
        let lost = Wanted {
            folder: Some("/nowhere".into()),
            ..program("sh")
        };
        assert!(fault(lost).contains("the folder /nowhere"));
        let found = find(program("sh")).unwrap();
        assert!(found.folder.is_absolute() && found.prompt.is_none());
    }
}
