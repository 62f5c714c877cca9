//! What a shell offers for a half-typed word.
//!
//! Responsibilities: the script that a shell reads, and the names that only this machine or this build knows:
//! scenarios, sources in the settings, commands. Not here: how a shell asks (`clap_complete`), reading the
//! settings (`runtime`).
//!
//! The script contains no names. It asks this program for them, with the variable [`VARIABLE`], so that a new
//! source in the settings is offered immediately.

use std::ffi::OsStr;
use std::sync::Arc;

use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::Shells;

use crate::cli::Cli;
use crate::config::{VOICES, VoiceDescriptor};

/// The variable with which a shell asks for names; its value is the shell's name.
pub const VARIABLE: &str = "HEARKEN_COMPLETE";

/// Returns the script that makes a shell ask this program.
///
/// # Errors
/// When the shell does not support asking.
pub fn script(shell: Shell) -> std::io::Result<Vec<u8>> {
    let shells = Shells::builtins();
    let name = shell.to_string();
    let shell = shells
        .completer(&name)
        .ok_or_else(|| std::io::Error::other(format!("{name} can't ask for names")))?;
    let mut out = Vec::new();
    shell.write_registration(VARIABLE, "hearken", "hearken", "hearken", &mut out)?;
    Ok(out)
}

/// Returns the command line with the names that a shell offers. `scenarios` lists each with its title;
/// `sources` returns the names in the settings, which are read only on request.
pub fn completable(
    scenarios: Vec<(String, String)>,
    sources: impl Fn() -> Vec<String> + Send + Sync + 'static,
) -> Command {
    let command = Cli::command();
    let shown = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let names = CompletionNames {
        scenarios: scenarios.into(),
        commands: shown.map(|command| command.get_name().to_owned()).collect(),
        sources: Arc::new(sources),
    };
    command.mut_subcommands(|command| command.mut_args(|arg| names.offered(arg)))
}

/// The names that the command line itself does not contain.
struct CompletionNames {
    scenarios: Arc<[(String, String)]>,
    commands: Arc<[String]>,
    sources: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
}

impl CompletionNames {
    fn offered(&self, arg: Arg) -> Arg {
        match arg.get_id().as_str() {
            "scenario" => {
                let scenarios = self.scenarios.clone();
                let candidate = |(name, title): &(String, String)| {
                    CompletionCandidate::new(name).help(Some(title.clone().into()))
                };
                arg.add(ArgValueCandidates::new(move || {
                    scenarios.iter().map(candidate).collect()
                }))
            }
            "sources" => {
                let sources = self.sources.clone();
                arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
                    let start = typed.to_string_lossy();
                    let names = sources().into_iter();
                    let names = names.filter(|name| name.starts_with(start.as_ref()));
                    let names = names.map(CompletionCandidate::new);
                    names.chain(PathCompleter::any().complete(typed)).collect()
                }))
            }
            "page" => {
                let commands = self.commands.clone();
                arg.add(ArgValueCandidates::new(move || {
                    commands.iter().map(CompletionCandidate::new).collect()
                }))
            }
            "voice" => arg.add(ArgValueCandidates::new(|| {
                let candidate = |voice: &VoiceDescriptor| {
                    CompletionCandidate::new(voice.completion()).help(Some(voice.help.into()))
                };
                VOICES.iter().map(candidate).collect()
            })),
            _ => arg,
        }
    }
}
