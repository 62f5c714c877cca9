//! Hooks in an agent's settings: added beside the existing content, and removed again.
//!
//! Responsibilities: which events are hooked, which hooks are ours, the new text of the file, and replacing the file in
//! one step. Not here: asking the person (`runtime`).
//!
//! Mental model: the file belongs to the person. Only entries that run `hearken hooks relay` are ours; everything else
//! stays unchanged byte for byte, and a file that can't be read as settings, is read-only or has other hard links is
//! not touched at all. If another program writes at the same moment, its version wins. In the shell's eyes the command
//! can't fail, because an agent may interpret a failed hook as a refusal.

use std::env::consts::EXE_SUFFIX;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::json_edit::{Container, Member};
use super::layout::{self, HookedEvent, events, has_own_file};
use crate::config::HookedAgent;
use crate::platform::files::{names, settle_folder, swap, with_rights_of};

/// The arguments of the relay's command.
const CALL: &str = " hooks relay";
/// The end of the command: whatever happens, the shell has no failure to report.
const WHATEVER: &str = " || true";
/// The name of this program.
const PROGRAM: &str = "hearken";
/// The largest settings, in bytes.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// How long another program that has the old file open may still write into it, and how often to check for that.
const LATE_WRITES: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_millis(10);

/// The command that a hook runs.
#[derive(Debug, Clone, Copy)]
pub struct HookCommand<'a> {
    /// The agent whose hooks they are.
    pub agent: HookedAgent,
    /// This program.
    pub program: &'a Path,
}

impl HookCommand<'_> {
    /// Returns the command for an event, in a form that a shell can read.
    fn text(&self, event: &HookedEvent) -> String {
        let path = self.program.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
        let path = match path.chars().all(plain) {
            true => path.into_owned(),
            false => format!("'{}'", path.replace('\'', "'\\''")),
        };
        let agent = match self.agent {
            HookedAgent::Claude => String::new(),
            agent => format!(" {}", agent.name()),
        };
        // Such an agent's messages don't say what happened.
        let event = match has_own_file(self.agent) {
            true => format!(" {}", event.name),
            false => String::new(),
        };
        format!("{path}{CALL}{agent}{event}{WHATEVER}")
    }

    /// Returns our entry for an event.
    fn entry(&self, event: &HookedEvent) -> Value {
        layout::entry(self.agent, event, &self.text(event))
    }

    /// Returns the content of a file that is ours alone.
    fn own_file(&self) -> String {
        let mut hooks = Map::new();
        for event in events(self.agent) {
            hooks.insert(event.name.to_owned(), json!([self.entry(event)]));
        }
        let whole = json!({"version": 1, "hooks": hooks});
        format!("{whole:#}\n")
    }
}

/// Why settings can't be changed.
#[derive(Debug, thiserror::Error)]
pub enum UnchangedReason {
    /// They can't be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// They are not JSON.
    #[error("line {line}")]
    NoJson {
        /// The line of the error.
        line: usize,
    },
    /// They are JSON in a form that no agent reads.
    #[error("{0}")]
    OtherForm(String),
    /// A name occurs twice, so it is unclear which one counts.
    #[error("{0} twice")]
    Twice(String),
    /// The file is read-only.
    #[error("read-only")]
    ReadOnly,
    /// The file has other hard links, which would still lead to the old one.
    #[error("other names")]
    OtherNames,
    /// They were changed meanwhile.
    #[error("changed meanwhile")]
    Meanwhile,
}

/// The intended state of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HooksGoal {
    /// They contain our hooks.
    In,
    /// They contain none of our hooks.
    Out,
}

/// A planned change.
#[derive(Debug)]
pub struct PlannedChange {
    /// The file with the settings, with all links resolved.
    path: PathBuf,
    /// The current content; `None` if there is no file.
    before: Option<String>,
    /// The new content.
    after: String,
    /// The number of our hooks that are added or removed.
    pub count: usize,
}

impl PlannedChange {
    /// Reads settings and plans the change; returns `None` if nothing needs to change.
    ///
    /// # Errors
    /// If they can't be read or understood.
    pub fn of(
        path: &Path,
        wanted: HooksGoal,
        command: HookCommand<'_>,
    ) -> Result<Option<Self>, UnchangedReason> {
        // A link is preserved: the file that it leads to is changed.
        let path = match path.canonicalize() {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
                path.to_owned()
            }
            Err(error) => return Err(error.into()),
        };
        let before = text(&path)?;
        let own = before.as_deref().filter(|text| !text.trim().is_empty());
        settings(own)?;
        if has_own_file(command.agent) {
            return Ok(Self::of_own_file(path, before, wanted, command));
        }
        let (after, count) = changed(own.unwrap_or("{}\n").to_owned(), wanted, command)?;
        if own.is_none() && wanted == HooksGoal::Out || own == Some(after.as_str()) {
            return Ok(None);
        }
        Ok(Some(Self {
            path,
            before,
            after,
            count,
        }))
    }

    /// Plans the change of a file that is ours alone: it is written whole, or removed.
    fn of_own_file(
        path: PathBuf,
        before: Option<String>,
        wanted: HooksGoal,
        command: HookCommand<'_>,
    ) -> Option<Self> {
        let after = match wanted {
            HooksGoal::In => command.own_file(),
            HooksGoal::Out => String::new(),
        };
        let is_so = before.as_deref().unwrap_or_default() == after;
        (!is_so).then(|| Self {
            path,
            before,
            after,
            count: events(command.agent).len(),
        })
    }

    /// Returns the file to change.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Applies the change: at every moment the file has either the old or the new content, never part of one.
    ///
    /// # Errors
    /// If the file may not be written, has other hard links, or another program changes it at the same moment; then the
    /// other program's version stays.
    pub fn make(self) -> Result<(), UnchangedReason> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder)?;
        if let Ok(about) = self.path.metadata() {
            if about.permissions().readonly() {
                return Err(UnchangedReason::ReadOnly);
            }
            if names(&about) > 1 {
                return Err(UnchangedReason::OtherNames);
            }
        }
        if self.after.is_empty() {
            return match text(&self.path)? == self.before {
                true => Ok(std::fs::remove_file(&self.path)?),
                false => Err(UnchangedReason::Meanwhile),
            };
        }
        let beside = self
            .path
            .with_extension(format!("hearken-{}", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let written = with_rights_of(&mut options, &self.path)
            .open(&beside)
            .and_then(|mut file| {
                file.write_all(self.after.as_bytes())?;
                file.sync_all()
            })
            .map_err(UnchangedReason::from);
        let outcome = written.and_then(|()| self.put(&beside));
        // Neither an unfinished file nor the old content must stay behind; the first error is the one to report.
        let _ = std::fs::remove_file(&beside);
        outcome?;
        // The folder records that the name leads to the new file; if it can't be flushed, the system does so in its own
        // time.
        let _ = settle_folder(folder);
        Ok(())
    }

    /// Replaces the old file by the new one, and restores it if another program wrote at the same moment.
    fn put(&self, beside: &Path) -> Result<(), UnchangedReason> {
        if text(&self.path)? != self.before {
            return Err(UnchangedReason::Meanwhile);
        }
        if self.before.is_none() || !swap(beside, &self.path)? {
            // There was no file, or the system can't swap two files.
            std::fs::rename(beside, &self.path)?;
            return Ok(());
        }
        // A program that had the old file open wrote into that one, which now has the temporary name.
        let end = Instant::now() + LATE_WRITES;
        loop {
            if text(beside)? != self.before {
                swap(beside, &self.path)?;
                return Err(UnchangedReason::Meanwhile);
            }
            if Instant::now() >= end {
                break;
            }
            std::thread::sleep(LOOK);
        }
        // A program that put its own file at the path has the last word.
        match text(&self.path)?.as_deref() == Some(self.after.as_str()) {
            true => Ok(()),
            false => Err(UnchangedReason::Meanwhile),
        }
    }
}

/// Reads a file; `None` if it does not exist.
pub(super) fn text(path: &Path) -> Result<Option<String>, UnchangedReason> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MOST_BYTES {
        true => Err(io::Error::from(io::ErrorKind::FileTooLarge).into()),
        false => Ok(Some(text)),
    }
}

/// Parses settings; an empty file has none.
pub(super) fn settings(text: Option<&str>) -> Result<Map<String, Value>, UnchangedReason> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    let Some(text) = text else {
        return Ok(Map::new());
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(settings)) => Ok(settings),
        Ok(_) => Err(UnchangedReason::OtherForm("{ }".to_owned())),
        Err(error) => Err(UnchangedReason::NoJson { line: error.line() }),
    }
}

/// Returns the text of settings with or without our hooks, and how many of ours were added or removed. Everything else
/// stays unchanged, byte for byte.
fn changed(
    text: String,
    wanted: HooksGoal,
    command: HookCommand<'_>,
) -> Result<(String, usize), UnchangedReason> {
    if wanted == HooksGoal::In
        && hooks_of(&settings(Some(&text))?).is_some_and(|hooks| is_whole(hooks, command))
    {
        return Ok((text, 0));
    }
    let (mut text, mut gone) = (text, 0);
    while let Some((less, count)) = without_one(&text, command.program)? {
        text = less;
        gone += count;
    }
    if wanted == HooksGoal::Out {
        return Ok((text, gone));
    }
    let events = events(command.agent);
    for event in events {
        text = with_one(&text, event, command)?;
    }
    Ok((text, events.len()))
}

fn hooks_of(settings: &Map<String, Value>) -> Option<&Map<String, Value>> {
    settings.get("hooks")?.as_object()
}

fn form(what: &str) -> UnchangedReason {
    UnchangedReason::OtherForm(what.to_owned())
}

/// Returns the members of the settings and those of their hooks, if there are any.
fn containers(text: &str) -> Result<(Container<'_>, Option<Container<'_>>), UnchangedReason> {
    let begin = text.len() - text.trim_start().len();
    let whole = Container::object(text, begin..text.trim_end().len()).ok_or_else(|| form("{ }"))?;
    let found = only(&whole, "hooks", "hooks")?.map(|part| whole.value_at(part));
    let hooks = match found {
        Some(at) => Some(Container::object(text, at).ok_or_else(|| form("hooks"))?),
        None => None,
    };
    Ok((whole, hooks))
}

/// Returns the member with a name; with two of the same name, an agent may use either.
fn only<'c, 't>(
    container: &'c Container<'t>,
    name: &str,
    place: &str,
) -> Result<Option<&'c Member<'t>>, UnchangedReason> {
    let mut parts = container.named(name);
    let first = parts.next();
    match parts.next() {
        Some(_) => Err(UnchangedReason::Twice(place.to_owned())),
        None => Ok(first),
    }
}

/// Removes the first of our hooks, with the group, the event and the list of hooks that become empty; returns the text
/// and how many hooks were removed, or `None` if there is none of ours.
fn without_one(text: &str, program: &Path) -> Result<Option<(String, usize)>, UnchangedReason> {
    let (whole, Some(hooks)) = containers(text)? else {
        return Ok(None);
    };
    for (at, event) in hooks.parts.iter().enumerate() {
        only(&hooks, &event.name, &format!("hooks.{}", event.name))?;
        let groups = Container::array(text, hooks.value_at(event))
            .ok_or_else(|| form(&format!("hooks.{}", event.name)))?;
        for (place, group) in groups.parts.iter().enumerate() {
            let Some(members) = Container::object(text, groups.value_at(group)) else {
                continue;
            };
            let Some(list) = only(&members, "hooks", &format!("hooks.{}", event.name))? else {
                continue;
            };
            let Some(list) = Container::array(text, members.value_at(list)) else {
                continue;
            };
            let is_our_hook = |part: &Member<'_>| {
                let hook: Option<Value> = serde_json::from_str(part.value).ok();
                hook.is_some_and(|hook| is_ours(&hook, program))
            };
            let ours: Vec<bool> = list.parts.iter().map(is_our_hook).collect();
            let count = ours.iter().filter(|is_ours| **is_ours).count();
            if count == 0 {
                continue;
            }
            // Anything that our removal leaves empty was ours.
            let less = if count < list.parts.len() {
                list.without(|at| ours.get(at) == Some(&true))
            } else if groups.parts.len() > 1 {
                groups.without(|at| at == place)
            } else if hooks.parts.len() > 1 {
                hooks.without(|it| it == at)
            } else {
                whole.without(|at| whole.parts.get(at).is_some_and(|part| part.name == "hooks"))
            };
            return Ok(Some((less, count)));
        }
    }
    Ok(None)
}

/// Adds our hook for an event, after the existing ones.
fn with_one(
    text: &str,
    event: &HookedEvent,
    command: HookCommand<'_>,
) -> Result<String, UnchangedReason> {
    let (event, group) = (event.name, command.entry(event));
    let (whole, hooks) = containers(text)?;
    let Some(hooks) = hooks else {
        return Ok(whole.with(Some("hooks"), &json!({event: [group]})));
    };
    match only(&hooks, event, &format!("hooks.{event}"))? {
        Some(part) => {
            let groups = Container::array(text, hooks.value_at(part))
                .ok_or_else(|| form(&format!("hooks.{event}")))?;
            Ok(groups.with(None, &group))
        }
        None => Ok(hooks.with(Some(event), &json!([group]))),
    }
}

/// Returns how many of our hooks an event runs.
pub(super) fn ours(groups: &Value, program: &Path) -> usize {
    let groups = groups.as_array().into_iter().flatten();
    let hooks = groups.flat_map(hooks_in);
    hooks.filter(|hook| is_ours(hook, program)).count()
}

/// Returns the hooks of a group; where an agent has no groups, the entry itself is one.
pub(super) fn hooks_in(group: &Value) -> &[Value] {
    match group.get("hooks").and_then(Value::as_array) {
        Some(hooks) => hooks,
        None => std::slice::from_ref(group),
    }
}

/// Returns whether our hooks are in the settings as they should be, each once.
pub(super) fn is_whole(hooks: &Map<String, Value>, command: HookCommand<'_>) -> bool {
    let events = events(command.agent);
    let ours = |groups| ours(groups, command.program);
    let all: usize = hooks.values().map(ours).sum();
    all == events.len()
        && events.iter().all(|event| {
            let groups = hooks.get(event.name).and_then(Value::as_array);
            let wanted = command.entry(event);
            groups.is_some_and(|groups| groups.contains(&wanted))
        })
}

/// Returns whether a hook runs our relay.
fn is_ours(hook: &Value, program: &Path) -> bool {
    called(hook, program).is_some()
}

/// Returns the program that a hook runs as our relay; `None` for any other hook.
pub(super) fn called(hook: &Value, program: &Path) -> Option<PathBuf> {
    let command = hook.get("command").or_else(|| hook.get("bash"));
    let text = command.and_then(Value::as_str)?.trim();
    let called = text.strip_suffix(WHATEVER).unwrap_or(text);
    let (called, of) = called.rsplit_once(CALL)?;
    // At most the agent and the event follow.
    let mut of = of.split(' ').skip(1);
    let is_agent = |name: &str| HookedAgent::ALL.iter().any(|agent| agent.name() == name);
    let is_event = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric());
    if !of.next().is_none_or(is_agent) || !of.next().is_none_or(is_event) || of.next().is_some() {
        return None;
    }
    let called = match called
        .strip_prefix('\'')
        .and_then(|it| it.strip_suffix('\''))
    {
        Some(quoted) => quoted.replace("'\\''", "'"),
        None => called.trim_matches(['\'', '"']).to_owned(),
    };
    if Path::new(&called) == program {
        return Some(program.to_owned());
    }
    let is_named = Path::new(&called)
        .file_name()
        .is_some_and(|name| name == PROGRAM || name == format!("{PROGRAM}{EXE_SUFFIX}").as_str());
    // A single word, so that nothing else runs beside it.
    let is_one = !called.contains(['\n', ';', '|', '&', '$', '`']);
    (is_one && is_named).then(|| called.into())
}

#[cfg(test)]
#[path = "tests/hook_settings.rs"]
mod tests;
