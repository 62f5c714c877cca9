//! Agents that can be started: known ones by name, any other by its command.
//!
//! Responsibilities: the command of a known agent, where its program is, its prompt and its working folder. Not here:
//! what a run consists of (`run_plan`), talking to the agent (`dialect`).

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::announce::normalise::clean;
use crate::announce::{Arg, Phrases, Reason};
use crate::app::phrase_text;
use crate::config::closest;
use crate::dialect::{AgentProgram, ConversationToContinue, KnownAgent, known_agents};
use crate::platform::files::{self, callable, open_to_read};
use crate::platform::program_places;
use anyhow::bail;

use super::request_failure::RequestFailure;

/// The largest prompt file, in bytes: enough for a long brief, and far less than a frame.
const LONGEST_PROMPT: u64 = 1024 * 1024;

/// The schemes of the address of an agent that speaks the Agent Client Protocol elsewhere.
const SOCKETS: [&str; 2] = ["ws://", "wss://"];

/// The prefix of an agent's address that is not a program: an AG-UI endpoint.
const ENDPOINT: &str = "agui:";

/// What to run, as given on the command line.
#[derive(Debug, Clone, Default)]
pub struct AgentCall {
    /// The name of a known agent.
    pub agent: Option<String>,
    /// A program and its arguments, instead of a known agent.
    pub program: Vec<OsString>,
    /// The working folder.
    pub folder: Option<PathBuf>,
    /// The task.
    pub prompt: Option<String>,
    /// A file with the task, instead of `prompt`.
    pub prompt_file: Option<PathBuf>,
    /// The earlier conversation to continue, if any.
    pub earlier: ConversationToContinue,
}

/// An agent that can be started.
#[derive(Debug)]
pub(super) struct StartableAgent {
    /// The display name, for a known agent.
    pub(super) title: Option<String>,
    /// The program and its arguments.
    pub(super) command: Vec<OsString>,
    /// The working folder, as a full path.
    pub(super) folder: PathBuf,
    /// The task to start with.
    pub(super) prompt: Option<String>,
    /// The earlier conversation to continue, if any.
    pub(super) earlier: ConversationToContinue,
}

/// Why no agent can be started; `wording` puts it in the person's language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no agent can be started: {self:?}")]
pub(super) enum AgentFault {
    /// No agent is named.
    Nothing,
    /// The address of a server that would speak the protocol over HTTP, which is a draft.
    OverHttp(String),
    /// No known agent has this name.
    Unknown {
        /// The name.
        name: String,
        /// The known name that was probably meant.
        close: Option<String>,
    },
    /// A known agent is not installed.
    NotInstalled {
        /// The display name.
        title: String,
        /// The program that is missing.
        program: String,
        /// The command that installs it.
        install: String,
    },
    /// There is no such program.
    NoProgram(String),
    /// There is no such folder, or access to it is denied.
    NoFolder(String),
    /// The path that should be a folder is not one.
    NotAFolder(String),
    /// The prompt in this file is too long.
    LongPrompt {
        /// The file.
        file: String,
        /// The limit in bytes.
        most: u64,
    },
    /// The prompt is empty.
    EmptyPrompt,
    /// A folder or an earlier conversation is requested of an agent that runs elsewhere.
    OnlyPrograms,
    /// An agent on another machine is given no folder of that machine.
    NoRemoteFolder,
}

/// A known agent, and whether it can be started here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StartCandidate {
    /// Its row in the table.
    pub(crate) agent: KnownAgent,
    /// Whether its program is installed.
    pub(crate) is_here: bool,
}

/// Returns the known agents.
pub(crate) fn startable() -> anyhow::Result<Vec<StartCandidate>> {
    let agents = known_agents()?.into_iter().map(|agent| StartCandidate {
        is_here: is_there(OsStr::new(agent.program())),
        agent,
    });
    Ok(agents.collect())
}

/// Lists the known agents as plain text, the installed ones first.
///
/// # Errors
/// Never in practice: the list is compiled in.
pub fn agents(words: &Phrases) -> anyhow::Result<String> {
    let (here, elsewhere): (Vec<_>, Vec<_>) = startable()?.into_iter().partition(|it| it.is_here);
    let all = here.iter().chain(&elsewhere);
    Ok(all.map(|one| listed(one, words) + "\n").collect())
}

/// Returns the line of one agent in the list.
fn listed(one: &StartCandidate, words: &Phrases) -> String {
    let StartCandidate { agent, is_here } = one;
    let tried = match &agent.tried {
        Some(version) => {
            // The versions of two programs are told apart by their names.
            let versions = match &agent.terminal_program {
                Some(AgentProgram {
                    program,
                    tried: Some(own),
                }) => {
                    format!("{} {version}, {program} {own}", agent.program())
                }
                Some(_) | None => version.clone(),
            };
            words.text("run.list.tried", &[("versions", Arg::Own(versions))])
        }
        None => words.text("run.list.untried", &[]),
    };
    let mut ways = vec![("command", Arg::own(&agent.signs_in.command))];
    ways.extend(agent.signs_in.key.iter().map(|key| ("key", Arg::own(key))));
    let mut args = vec![
        ("name", Arg::own(&agent.name)),
        ("title", Arg::own(&agent.title)),
        ("command", Arg::Own(agent.command.join(" "))),
        ("tried", Arg::Own(tried)),
        ("sign_in", Arg::Own(words.text("run.list.sign_in", &ways))),
    ];
    let who = agent.who_decides();
    args.extend(who.map(|who| ("who", Arg::Own(phrase_text(words, &who)))));
    if *is_here {
        return words.text("run.list.installed", &args);
    }
    args.push(("install", Arg::own(&agent.install)));
    words.text("run.list.missing", &args)
}

/// Finds the agent to run.
///
/// # Errors
/// When the agent is not known or not installed, or its folder or prompt can't be used.
pub(super) fn find(wanted: AgentCall) -> anyhow::Result<StartableAgent> {
    let folder = folder(wanted.folder.as_deref())?;
    let prompt = prompt(wanted.prompt, wanted.prompt_file.as_deref())?;
    let (title, command) = match &wanted.agent {
        None if wanted.program.is_empty() => {
            bail!(AgentFault::Nothing)
        }
        None => (None, in_full(wanted.program)?),
        Some(name) => {
            let agents = known_agents()?;
            let Some(agent) = agents.into_iter().find(|agent| agent.name == *name) else {
                if ["http://", "https://"]
                    .iter()
                    .any(|it| name.starts_with(it))
                {
                    bail!(AgentFault::OverHttp(clean(name).into_owned()));
                }
                let all = known_agents()?;
                bail!(AgentFault::Unknown {
                    name: clean(name).into_owned(),
                    close: closest(name, all.iter().map(|agent| agent.name.as_str())),
                });
            };
            if !is_there(OsStr::new(agent.program())) {
                bail!(AgentFault::NotInstalled {
                    program: agent.program().to_owned(),
                    title: agent.title,
                    install: agent.install,
                });
            }
            let command = agent.command.iter().map(OsString::from).collect();
            (Some(agent.title), command)
        }
    };
    Ok(StartableAgent {
        title,
        command,
        folder,
        prompt,
        earlier: wanted.earlier,
    })
}

/// Returns whether the agent to run is an endpoint that accepts runs, not a program.
pub(super) fn is_endpoint(wanted: &AgentCall) -> bool {
    let agent = wanted.agent.as_deref();
    agent.is_some_and(|agent| agent.starts_with(ENDPOINT))
}

/// Returns whether an agent that speaks the Agent Client Protocol over a WebSocket is meant, and not a program.
pub(super) fn is_remote(wanted: &AgentCall) -> bool {
    let agent = wanted.agent.as_deref();
    agent.is_some_and(|agent| SOCKETS.iter().any(|scheme| agent.starts_with(scheme)))
}

/// An agent on another machine.
#[derive(Debug)]
pub(super) struct RemoteAgent {
    /// The address of its WebSocket.
    pub(super) address: String,
    /// The folder of its own machine in which it works.
    pub(super) folder: String,
    /// The task to start with.
    pub(super) prompt: Option<String>,
    /// The earlier conversation to continue, if any.
    pub(super) earlier: ConversationToContinue,
}

/// Returns the agent on another machine that is meant.
///
/// # Errors
/// When no absolute folder of its machine is given, or the prompt can't be used.
pub(super) fn remote(wanted: AgentCall) -> anyhow::Result<RemoteAgent> {
    let folder = wanted.folder.unwrap_or_default();
    let folder = folder.to_string_lossy().into_owned();
    // Its machine may be of another system than this one.
    let is_absolute = folder.starts_with(['/', '\\']) || folder.get(1..3) == Some(":\\");
    if !is_absolute {
        bail!(AgentFault::NoRemoteFolder);
    }
    Ok(RemoteAgent {
        address: wanted.agent.unwrap_or_default(),
        folder,
        prompt: prompt(wanted.prompt, wanted.prompt_file.as_deref())?,
        earlier: wanted.earlier,
    })
}

/// Returns the endpoint's address with its prefix, and the task to start with.
///
/// # Errors
/// When an option is given that only programs have, or the prompt can't be used.
pub(super) fn endpoint(wanted: AgentCall) -> anyhow::Result<(String, Option<String>)> {
    if wanted.folder.is_some() || wanted.earlier != ConversationToContinue::None {
        bail!(AgentFault::OnlyPrograms);
    }
    let prompt = prompt(wanted.prompt, wanted.prompt_file.as_deref())?;
    Ok((wanted.agent.unwrap_or_default(), prompt))
}

/// Makes a relative program path absolute, because the program is started in another folder.
fn in_full(mut command: Vec<OsString>) -> anyhow::Result<Vec<OsString>> {
    let Some(program) = command.first_mut() else {
        return Ok(command);
    };
    let path = Path::new(program.as_os_str());
    if path.components().count() > 1 {
        *program = std::path::absolute(path)?.into_os_string();
    }
    if !is_there(program) {
        bail!(AgentFault::NoProgram(super::shown(Path::new(program))));
    }
    Ok(command)
}

/// Returns whether a program exists, at its path or on the search path.
pub(crate) fn is_there(program: &OsStr) -> bool {
    located(program).is_some()
}

/// Returns the file that a call of a program would run, at its path or on the search path.
pub(super) fn located(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return callable(path);
    }
    let folders = program_places::path().unwrap_or_default();
    std::env::split_paths(&folders).find_map(|folder| callable(&folder.join(path)))
}

/// Returns the full path of the folder in which an agent works; without a wish, the current one.
///
/// # Errors
/// When there is no such folder.
pub(super) fn folder(wanted: Option<&Path>) -> anyhow::Result<PathBuf> {
    let wanted = wanted.unwrap_or(Path::new("."));
    let folder = files::in_full(wanted).map_err(|_| AgentFault::NoFolder(super::shown(wanted)))?;
    if !folder.is_dir() {
        bail!(AgentFault::NotAFolder(super::shown(wanted)));
    }
    Ok(folder)
}

fn prompt(text: Option<String>, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let text = match (text, file) {
        (None, None) => return Ok(None),
        (Some(text), _) => text,
        (None, Some(file)) => {
            let about = |error: std::io::Error| {
                RequestFailure::unreadable(file, Reason::of_reading(&error))
            };
            let open = open_to_read(file).map_err(about)?;
            let mut text = String::new();
            open.take(LONGEST_PROMPT + 1)
                .read_to_string(&mut text)
                .map_err(about)?;
            if text.len() as u64 > LONGEST_PROMPT {
                bail!(AgentFault::LongPrompt {
                    file: super::shown(file),
                    most: LONGEST_PROMPT,
                });
            }
            text
        }
    };
    let text = text.trim();
    if text.is_empty() {
        bail!(AgentFault::EmptyPrompt);
    }
    Ok(Some(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_in(language: &str, wanted: AgentCall) -> String {
        let words = Phrases::for_languages(&[language.to_owned()]).unwrap();
        crate::runtime::fault(&find(wanted).unwrap_err(), &words)
    }

    fn fault(wanted: AgentCall) -> String {
        fault_in("en", wanted)
    }

    #[test]
    fn an_agent_is_listed_in_one_line_with_what_is_known_of_it() {
        let all = startable().unwrap();
        let line = |language: &str, name: &str, is_here: bool| {
            let words = Phrases::for_languages(&[language.to_owned()]).unwrap();
            let agent = all.iter().find(|it| it.agent.name == name).unwrap();
            let agent = agent.agent.clone();
            listed(&StartCandidate { agent, is_here }, &words)
        };
        assert_eq!(
            line("en", "gemini", true),
            "gemini: Gemini CLI. Runs gemini --acp. It is installed. Tried with 0.61.0. Gemini CLI asks before it changes \
             anything. Signs in with gemini or GEMINI_API_KEY"
        );
        assert_eq!(
            line("en", "cline", false),
            "cline: Cline. Runs cline --acp. It is not installed; to install it: npm install -g cline. Not tried. Signs in \
             with cline auth"
        );
        let pi = "Startet pi-acp. Installiert. Erprobt mit pi-acp 0.0.34, pi 1.6.0. pi ";
        assert!(line("de", "pi", true).contains(pi));
        assert!(line("es", "cline", true).contains("Sin probar. Se inicia"));
        let words = Phrases::english().unwrap();
        assert_eq!(agents(&words).unwrap().lines().count(), all.len());
    }

    #[test]
    fn what_can_not_be_run_is_told_with_what_helps() {
        let agent = |name: &str| AgentCall {
            agent: Some(name.to_owned()),
            ..AgentCall::default()
        };
        assert!(fault(agent("purple")).contains("hearken run --list names the known ones"));
        assert!(fault(AgentCall::default()).contains("there is nothing to run"));
        let program = |name: &str| AgentCall {
            program: vec![name.into()],
            ..AgentCall::default()
        };
        let whole = std::path::absolute("/nowhere/agent").unwrap();
        let lost = format!("there is no program {}", whole.display());
        assert!(fault(program("/nowhere/agent")).contains(&lost));
        let there = std::env::current_exe().unwrap();
        let there = there.to_str().unwrap();
        let empty = AgentCall {
            prompt: Some("  ".to_owned()),
            ..program(there)
        };
        assert!(fault(empty).contains("the prompt is empty"));
        let lost = AgentCall {
            folder: Some("/nowhere".into()),
            ..program(there)
        };
        assert!(fault(lost).contains("there is no folder /nowhere"));
        let file = |path: &str| AgentCall {
            prompt_file: Some(path.into()),
            ..program(there)
        };
        assert_eq!(fault(file("/")), "/ can't be read: it is a folder");
        assert_eq!(
            fault(file("/nowhere")),
            "/nowhere can't be read: there is no such file"
        );
        assert!(fault(agent("opncode")).contains("did you mean opencode?"));
        let found = find(program(there)).unwrap();
        assert!(found.folder.is_absolute() && found.prompt.is_none());
    }

    #[test]
    fn what_can_not_be_run_is_told_in_the_persons_language() {
        let program = AgentCall {
            program: vec![std::env::current_exe().unwrap().into()],
            ..AgentCall::default()
        };
        let agent = |name: &str| AgentCall {
            agent: Some(name.to_owned()),
            ..AgentCall::default()
        };
        let folder = |path: &str| AgentCall {
            folder: Some(path.into()),
            ..program.clone()
        };
        let place = tempfile::tempdir().unwrap();
        let long = place.path().join("long");
        let most = usize::try_from(LONGEST_PROMPT).unwrap();
        std::fs::write(&long, "x".repeat(most + 1)).unwrap();
        let shown = long.display();
        let whole = std::path::absolute("/nowhere/x").unwrap();
        let whole = whole.display();
        let calls = [
            (
                AgentCall::default(),
                "nichts zu starten",
                "nada que iniciar",
            ),
            (
                agent("purple"),
                "es gibt keinen Agenten \"purple\"; hearken run --list",
                "no hay ningún agente \"purple\"; hearken run --list",
            ),
            (agent("gose"), "meinten Sie goose?", "¿quiso decir goose?"),
            (
                AgentCall {
                    program: vec!["/nowhere/x".into()],
                    ..AgentCall::default()
                },
                &format!("es gibt kein Programm {whole}"),
                &format!("no hay ningún programa {whole}"),
            ),
            (
                folder("/nowhere"),
                "es gibt keinen Ordner /nowhere",
                "no hay ninguna carpeta /nowhere",
            ),
            (
                folder(long.to_str().unwrap()),
                &format!("{shown} ist kein Ordner"),
                &format!("{shown} no es una carpeta"),
            ),
            (
                AgentCall {
                    prompt: Some(" ".to_owned()),
                    ..program.clone()
                },
                "der Auftrag ist leer",
                "el encargo está vacío",
            ),
            (
                AgentCall {
                    prompt_file: Some(long.clone()),
                    ..program
                },
                &format!("der Auftrag in {shown} ist länger als 1048576 Bytes"),
                &format!("el encargo en {shown} tiene más de 1048576 bytes"),
            ),
        ];
        for (wanted, german, spanish) in calls {
            for (language, words) in [("de", german), ("es", spanish)] {
                let told = fault_in(language, wanted.clone());
                assert!(told.contains(words), "{told}");
            }
        }
    }
}
