//! Hooks of agents that run elsewhere: installing them in the agent's settings at the person's request, and the relay
//! that they run.
//!
//! Responsibilities: which file is meant, the messages before and after, asking for consent; the location of the door.
//! Not here: what is written (`hooks`).

use std::ffi::OsString;
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;

use crate::announce::{Arg, Phrases, Reason};
use crate::app::Exit;
use crate::cli::HookAction;
use crate::config::HookedAgent;
use crate::hooks::hook_endpoint::{HookEndpoint, HookEndpointError};
use crate::hooks::hook_settings::{HookCommand, HooksGoal, PlannedChange, UnchangedReason};
use crate::hooks::hooks_state::{HooksState, state};
use crate::hooks::layout;
use crate::hooks::relay::HookSender;
use crate::platform::files;

use super::capture_commands::shown;
use super::request_failure::RequestFailure;
use super::settings_file;

/// Creates the door where hooks knock.
///
/// # Errors
/// When another hearken has it, or there is no place for it.
pub(super) fn door() -> Result<HookEndpoint, RequestFailure> {
    let folder =
        settings_file::state_folder().ok_or_else(|| RequestFailure::new("call.memory.no_place"))?;
    HookEndpoint::take(&folder).map_err(|error| match error {
        HookEndpointError::Taken => RequestFailure::new("call.hooks.taken"),
        HookEndpointError::Shared(path) => RequestFailure::shared(&path),
        HookEndpointError::Place { path, error } => RequestFailure::unwritable(&path, &error),
    })
}

/// Carries one hook message to the listening hearken, and its decision back. It never fails, and prints nothing but a
/// decision. `sender` is the agent, the first one if none is named, and what happened, if its message does not say so.
pub fn relay(sender: &[OsString]) {
    let mut sender = sender.iter().map(|word| word.to_str());
    let agent = match sender.next() {
        None => Some(HookedAgent::Claude),
        Some(name) => name.and_then(|name| HookedAgent::from_str(name, false).ok()),
    };
    // A hook for an agent that this version does not know decides nothing.
    let (Some(agent), Some(folder)) = (agent, settings_file::state_folder()) else {
        return;
    };
    let sender = HookSender {
        agent,
        event: sender.next().flatten(),
    };
    let mut output = std::io::stdout();
    crate::hooks::relay::relay(&folder, sender, std::io::stdin(), &mut output);
}

/// Serves an agent the tools with which it speaks and asks in the listening hearken, until the agent is gone.
///
/// # Errors
/// When there is no place where a listening hearken could be found, or the agent can't be written to.
pub fn serve_tools(channel: bool) -> anyhow::Result<()> {
    let folder =
        settings_file::state_folder().ok_or_else(|| RequestFailure::new("call.memory.no_place"))?;
    match crate::mcp::serve(&folder, channel, std::io::stdin(), &mut std::io::stdout()) {
        // An agent that closes the pipe is gone.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        served => Ok(served.map_err(super::OutputError)?),
    }
}

/// What to do with an agent's hooks.
#[derive(Debug, Clone)]
pub struct HookRequest {
    /// What to do.
    pub action: HookAction,
    /// The agent.
    pub agent: HookedAgent,
    /// What happened, if the hook's message does not say it.
    pub event: Option<String>,
    /// Whether the hooks of this folder are meant, not the person's own.
    pub project: bool,
    /// Whether to write without asking.
    pub yes: bool,
}

/// Adds hooks to an agent's settings or removes them, after showing the changes and getting consent.
///
/// # Errors
/// When the settings can't be found, read or written, or there is no terminal to ask on.
pub fn hooks(request: &HookRequest, words: &Phrases) -> anyhow::Result<Exit> {
    let agent = request.agent;
    let wanted = match request.action {
        HookAction::Install => HooksGoal::In,
        HookAction::Uninstall => HooksGoal::Out,
        HookAction::Relay => {
            let event = request.event.iter().map(OsString::from);
            let sender: Vec<OsString> = [agent.name().into()].into_iter().chain(event).collect();
            relay(&sender);
            return Ok(Exit::Clean);
        }
    };
    let file = file(agent, request.project)?;
    let program = std::env::current_exe()
        .map_err(|error| RequestFailure::new("call.itself").because(Reason::of_system(&error)))?;
    let about = |error: UnchangedReason| match error {
        UnchangedReason::Io(error) => RequestFailure::unwritable(&file, &error),
        UnchangedReason::NoJson { line } => {
            RequestFailure::in_file(&file, Reason::new("call.hooks.no_json").with("line", line))
        }
        UnchangedReason::OtherForm(at) => {
            RequestFailure::in_file(&file, Reason::new("call.hooks.form").with("at", at))
        }
        UnchangedReason::Twice(at) => {
            RequestFailure::in_file(&file, Reason::new("call.hooks.twice").with("at", at))
        }
        UnchangedReason::ReadOnly => {
            RequestFailure::in_file(&file, Reason::new("call.hooks.read_only"))
        }
        UnchangedReason::OtherNames => {
            RequestFailure::in_file(&file, Reason::new("call.hooks.other_names"))
        }
        UnchangedReason::Meanwhile => {
            RequestFailure::in_file(&file, Reason::new("call.hooks.meanwhile"))
        }
    };
    let mut out = std::io::stdout();
    let change = PlannedChange::of(
        &file,
        wanted,
        HookCommand {
            agent,
            program: &program,
        },
    )
    .map_err(about)?;
    let Some(change) = change else {
        let name = Arg::Own(shown(&file));
        let title = Arg::own(agent.title());
        let key = match wanted {
            HooksGoal::In => "hooks.in.already",
            HooksGoal::Out => "hooks.out.already",
        };
        let said = words.text(key, &[("name", name), ("agent", title)]);
        writeln!(out, "{said}").map_err(super::OutputError)?;
        return Ok(Exit::Clean);
    };
    let args = [
        ("name", Arg::Own(shown(change.path()))),
        ("agent", Arg::own(agent.title())),
        ("n", Arg::own(change.count)),
        (
            "command",
            Arg::Own(format!("{} hooks relay {}", shown(&program), agent.name())),
        ),
    ];
    let say = |key: &str| words.text(key, &args);
    let (plan, done) = match wanted {
        HooksGoal::In => ("hooks.in.plan", "hooks.in.done"),
        HooksGoal::Out => ("hooks.out.plan", "hooks.out.done"),
    };
    writeln!(out, "{}", say(plan)).map_err(super::OutputError)?;
    let also = match wanted {
        HooksGoal::In => also_in(agent, &file),
        HooksGoal::Out => Vec::new(),
    };
    for also in also {
        let args = [
            ("also", Arg::Own(shown(&also))),
            ("agent", Arg::own(agent.title())),
        ];
        writeln!(out, "{}", words.text("hooks.in.also", &args)).map_err(super::OutputError)?;
    }
    if !request.yes {
        if !std::io::stdin().is_terminal() {
            anyhow::bail!(RequestFailure::new("call.hooks.yes"));
        }
        write!(out, "{} ", say("hooks.sure"))
            .and_then(|()| out.flush())
            .map_err(super::OutputError)?;
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line)?;
        // As everywhere: a key, or the word it stands for.
        let agreed = matches!(line.trim(), "y" | "yes");
        if !agreed {
            writeln!(out, "{}", say("hooks.not_done")).map_err(super::OutputError)?;
            return Ok(Exit::Clean);
        }
    }
    change.make().map_err(about)?;
    writeln!(out, "{}", say(done)).map_err(super::OutputError)?;
    if let (Some(key), HooksGoal::In) = (remark(agent), wanted) {
        writeln!(out, "{}", words.text(key, &args)).map_err(super::OutputError)?;
    }
    Ok(Exit::Clean)
}

/// Returns what a person has to know about an agent's hooks, if there is anything.
fn remark(agent: HookedAgent) -> Option<&'static str> {
    match agent {
        HookedAgent::Codex => Some("hooks.in.codex"),
        HookedAgent::Copilot | HookedAgent::Qwen => Some("hooks.in.only_here"),
        HookedAgent::Gemini => Some("hooks.in.gemini"),
        HookedAgent::Claude => None,
    }
}

/// Returns the other settings that an agent reads in this folder and that have our hooks.
pub(super) fn also_in(agent: HookedAgent, other_than: &Path) -> Vec<PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    let folder = file(agent, true).ok();
    let local = folder
        .as_ref()
        .filter(|_| agent == HookedAgent::Claude)
        .map(|file| file.with_file_name("settings.local.json"));
    let all = [file(agent, false).ok(), folder, local]
        .into_iter()
        .flatten();
    // In the home folder, the folder's settings are the person's own.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut seen = vec![real(other_than)];
    let mut also = Vec::new();
    for path in all {
        let is_new = !seen.contains(&real(&path));
        seen.push(real(&path));
        let stands = state(&path, agent, &program);
        if is_new && stands.is_ok_and(|stands| stands != HooksState::Absent) {
            also.push(path);
        }
    }
    also
}

/// Returns the path of an agent's hooks: the person's own, or this folder's.
pub(super) fn file(agent: HookedAgent, project: bool) -> Result<PathBuf, RequestFailure> {
    if !project {
        let home = files::home();
        let found = layout::own_file(agent, home.as_deref(), |name| std::env::var_os(name));
        return found.ok_or_else(|| RequestFailure::new("call.hooks.no_home"));
    }
    let folder = std::env::current_dir().map_err(|error| {
        RequestFailure::unreadable(&PathBuf::from("."), Reason::of_system(&error))
    })?;
    layout::project_file(agent, &folder)
        .ok_or_else(|| RequestFailure::new("call.hooks.no_project").with("agent", agent.title()))
}
