//! Hooks of agents that run elsewhere: installing them in the agent's settings at the person's request, and the relay
//! that they run.
//!
//! Responsibilities: which file is meant, the messages before and after, asking for consent; the location of the door.
//! Not here: what is written (`hooks`).

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use crate::announce::{Arg, Phrases, Reason};
use crate::app::Exit;
use crate::cli::{HookAction, HookedAgent};
use crate::hooks::door::{Door, NoDoor};
use crate::hooks::settings::{Change, Unchanged, Wanted};
use crate::hooks::standing::{HooksState, standing};
use crate::platform::files;

use super::failure::Failure;
use super::look::shown;
use super::settings;

/// Creates the door where hooks knock.
///
/// # Errors
/// When another hearken has it, or there is no place for it.
pub(super) fn door() -> Result<Door, Failure> {
    let folder = settings::state_folder().ok_or_else(|| Failure::new("call.memory.no_place"))?;
    Door::take(&folder).map_err(|error| match error {
        NoDoor::Taken => Failure::new("call.hooks.taken"),
        NoDoor::Shared(path) => Failure::shared(&path),
        NoDoor::Place { path, error } => Failure::unwritable(&path, &error),
    })
}

/// Carries one hook message to the listening hearken, and its decision back. It never fails, and prints nothing but a
/// decision.
pub fn relay() {
    if let Some(folder) = settings::state_folder() {
        let mut output = std::io::stdout();
        crate::hooks::relay::relay(&folder, std::io::stdin(), &mut output);
    }
}

/// Adds hooks to an agent's settings or removes them, after showing the changes and getting consent.
///
/// # Errors
/// When the settings can't be found, read or written, or there is no terminal to ask on.
pub fn hooks(
    action: HookAction,
    agent: HookedAgent,
    project: bool,
    yes: bool,
    words: &Phrases,
) -> anyhow::Result<Exit> {
    let HookedAgent::Claude = agent;
    let wanted = match action {
        HookAction::Install => Wanted::In,
        HookAction::Uninstall => Wanted::Out,
        HookAction::Relay => {
            relay();
            return Ok(Exit::Clean);
        }
    };
    let file = file(project)?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::new("call.itself").because(Reason::of_system(&error)))?;
    let about = |error: Unchanged| match error {
        Unchanged::Io(error) => Failure::unwritable(&file, &error),
        Unchanged::NoJson { line } => {
            Failure::in_file(&file, Reason::new("call.hooks.no_json").with("line", line))
        }
        Unchanged::OtherForm(at) => {
            Failure::in_file(&file, Reason::new("call.hooks.form").with("at", at))
        }
        Unchanged::Twice(at) => {
            Failure::in_file(&file, Reason::new("call.hooks.twice").with("at", at))
        }
        Unchanged::ReadOnly => Failure::in_file(&file, Reason::new("call.hooks.read_only")),
        Unchanged::OtherNames => Failure::in_file(&file, Reason::new("call.hooks.other_names")),
        Unchanged::Meanwhile => Failure::in_file(&file, Reason::new("call.hooks.meanwhile")),
    };
    let mut out = std::io::stdout();
    let change = Change::of(&file, wanted, &program).map_err(about)?;
    let Some(change) = change else {
        let name = Arg::Own(shown(&file));
        let key = match wanted {
            Wanted::In => "hooks.in.already",
            Wanted::Out => "hooks.out.already",
        };
        writeln!(out, "{}", words.text(key, &[("name", name)])).map_err(super::Unwritten)?;
        return Ok(Exit::Clean);
    };
    let args = [
        ("name", Arg::Own(shown(change.path()))),
        ("n", Arg::own(change.count)),
        (
            "command",
            Arg::Own(format!("{} hooks relay", shown(&program))),
        ),
    ];
    let say = |key: &str| words.text(key, &args);
    let (plan, done) = match wanted {
        Wanted::In => ("hooks.in.plan", "hooks.in.done"),
        Wanted::Out => ("hooks.out.plan", "hooks.out.done"),
    };
    writeln!(out, "{}", say(plan)).map_err(super::Unwritten)?;
    let also = match wanted {
        Wanted::In => also_in(&file),
        Wanted::Out => Vec::new(),
    };
    for also in also {
        let args = [("also", Arg::Own(shown(&also)))];
        writeln!(out, "{}", words.text("hooks.in.also", &args)).map_err(super::Unwritten)?;
    }
    if !yes {
        if !std::io::stdin().is_terminal() {
            anyhow::bail!(Failure::new("call.hooks.yes"));
        }
        write!(out, "{} ", say("hooks.sure"))
            .and_then(|()| out.flush())
            .map_err(super::Unwritten)?;
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line)?;
        // As everywhere: a key, or the word it stands for.
        let agreed = matches!(line.trim(), "y" | "yes");
        if !agreed {
            writeln!(out, "{}", say("hooks.not_done")).map_err(super::Unwritten)?;
            return Ok(Exit::Clean);
        }
    }
    change.make().map_err(about)?;
    writeln!(out, "{}", say(done)).map_err(super::Unwritten)?;
    Ok(Exit::Clean)
}

/// Returns the other settings that Claude Code reads in this folder and that have our hooks.
pub(super) fn also_in(other_than: &Path) -> Vec<PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    let folder = file(true).ok();
    let local = folder
        .as_ref()
        .map(|file| file.with_file_name("settings.local.json"));
    let all = [file(false).ok(), folder, local].into_iter().flatten();
    // In the home folder, the folder's settings are the person's own.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut seen = vec![real(other_than)];
    let mut also = Vec::new();
    for path in all {
        let is_new = !seen.contains(&real(&path));
        seen.push(real(&path));
        let stands = standing(&path, &program);
        if is_new && stands.is_ok_and(|stands| stands != HooksState::Absent) {
            also.push(path);
        }
    }
    also
}

/// Returns the path of Claude Code's settings: the person's own, or this folder's.
pub(super) fn file(project: bool) -> Result<PathBuf, Failure> {
    let folder = match project {
        true => std::env::current_dir()
            .map_err(|error| Failure::unreadable(&PathBuf::from("."), Reason::of_system(&error)))?
            .join(".claude"),
        // The place where Claude Code itself looks.
        false => match std::env::var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty()) {
            Some(folder) => PathBuf::from(folder),
            None => files::home()
                .filter(|home| !home.as_os_str().is_empty())
                .map(|home| home.join(".claude"))
                .ok_or_else(|| Failure::new("call.hooks.no_home"))?,
        },
    };
    Ok(folder.join("settings.json"))
}
