//! Hooks in an agent's settings: put in beside whatever stands there, and taken out again.
//!
//! Responsibilities: which events are hooked, which hooks are ours, the text that the file is to hold, and putting it in
//! its place whole. Not here: asking the person (`runtime`).
//!
//! Mental model: the file belongs to the person. Only entries that run `hearken hooks relay` are ours; everything else stays
//! as it is byte for byte, and a file that can't be read as settings, that nobody is to write or that has other names is not
//! touched at all. Whoever writes at the same moment wins. The command can't fail in
//! the shell's eyes, because an agent may take a failure of a hook for a refusal.

use std::env::consts::EXE_SUFFIX;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::text::{Container, Part};
use crate::platform::files::{names, settle_folder, swap, with_rights_of};

/// What the relay is called with.
const CALL: &str = " hooks relay";
/// What stands behind it: however it ends, the shell has nothing to report.
const WHATEVER: &str = " || true";
/// The name of this program.
const PROGRAM: &str = "hearken";
/// How large the settings may be, in bytes.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// How long a hook may take for which nobody is waited, in seconds.
const SHORT: u64 = 10;
/// How long a permission waits for a person, in seconds.
const LONG: u64 = 60 * 60;

/// How long another program that has the old file open may go on to write into it, and how often that is looked for.
const LATE_WRITES: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_millis(10);

/// The events that are hooked: whether they are about tools, of which all are meant, and how long each may take.
const EVENTS: [(&str, bool, u64); 13] = [
    ("SessionStart", false, SHORT),
    ("UserPromptSubmit", false, SHORT),
    ("PreToolUse", true, SHORT),
    ("PermissionRequest", true, LONG),
    ("PermissionDenied", true, SHORT),
    ("PostToolUse", true, SHORT),
    ("PostToolUseFailure", true, SHORT),
    ("Notification", false, SHORT),
    ("SubagentStart", false, SHORT),
    ("SubagentStop", false, SHORT),
    ("Stop", false, SHORT),
    ("StopFailure", false, SHORT),
    ("SessionEnd", false, SHORT),
];

/// Why settings can't be changed.
#[derive(Debug, thiserror::Error)]
pub enum Unchanged {
    /// They are not there to be read, or can't be written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// They are no JSON.
    #[error("line {line}")]
    NoJson {
        /// In which line that shows.
        line: usize,
    },
    /// They are JSON of another form: what stands there is none of what an agent reads.
    #[error("{0}")]
    OtherForm(String),
    /// Something stands there twice, so that nobody can tell which of them counts.
    #[error("{0} twice")]
    Twice(String),
    /// Nobody is to write the file.
    #[error("read-only")]
    ReadOnly,
    /// The file has other names (hard links), which would go on to lead to the old one.
    #[error("other names")]
    OtherNames,
    /// Somebody changed them meanwhile.
    #[error("changed meanwhile")]
    Meanwhile,
}

/// What is to become of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Our hooks stand in them.
    In,
    /// None of ours does.
    Out,
}

/// A change that is not made yet.
#[derive(Debug)]
pub struct Change {
    /// The file that holds the settings, behind every link.
    path: PathBuf,
    /// What stands there; nothing where there is no file.
    before: Option<String>,
    /// What is to stand there.
    after: String,
    /// How many hooks of ours are put in or taken out.
    pub count: usize,
}

impl Change {
    /// Reads settings and works out the change; it is `None` where there is nothing to change.
    ///
    /// # Errors
    /// When they can't be read, or understood.
    pub fn of(path: &Path, wanted: Wanted, program: &Path) -> Result<Option<Self>, Unchanged> {
        // What is a link stays one: the file that it leads to is changed.
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
        let (after, count) = changed(own.unwrap_or("{}\n").to_owned(), wanted, program)?;
        if own.is_none() && wanted == Wanted::Out || own == Some(after.as_str()) {
            return Ok(None);
        }
        Ok(Some(Self {
            path,
            before,
            after,
            count,
        }))
    }

    /// Returns the file that is changed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the change: the file holds the one or the other at every moment, and never a part.
    ///
    /// # Errors
    /// When it may not be written, has another name, or somebody changes it at the same moment; then it is as they want it.
    pub fn make(self) -> Result<(), Unchanged> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder)?;
        if let Ok(about) = self.path.metadata() {
            if about.permissions().readonly() {
                return Err(Unchanged::ReadOnly);
            }
            if names(&about) > 1 {
                return Err(Unchanged::OtherNames);
            }
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
            .map_err(Unchanged::from);
        let outcome = written.and_then(|()| self.put(&beside));
        // What could not be finished must not lie about, nor what was there before; the first fault is the one that counts.
        let _ = std::fs::remove_file(&beside);
        outcome?;
        // That the name leads to it is the folder's matter; where that can't be asked for it comes by itself.
        let _ = settle_folder(folder);
        Ok(())
    }

    /// Puts the new file in the place of the old one, and back where somebody else wrote at the same moment.
    fn put(&self, beside: &Path) -> Result<(), Unchanged> {
        if text(&self.path)? != self.before {
            return Err(Unchanged::Meanwhile);
        }
        if self.before.is_none() || !swap(beside, &self.path)? {
            // Nothing was there, or the system can't swap two files.
            std::fs::rename(beside, &self.path)?;
            return Ok(());
        }
        // Whoever had the old file open wrote into that: it lies beside now.
        let end = Instant::now() + LATE_WRITES;
        loop {
            if text(beside)? != self.before {
                swap(beside, &self.path)?;
                return Err(Unchanged::Meanwhile);
            }
            if Instant::now() >= end {
                break;
            }
            std::thread::sleep(LOOK);
        }
        // And whoever put a file of their own in its place has the last word.
        match text(&self.path)?.as_deref() == Some(self.after.as_str()) {
            true => Ok(()),
            false => Err(Unchanged::Meanwhile),
        }
    }
}

/// Reads a file; nothing where there is none.
pub(super) fn text(path: &Path) -> Result<Option<String>, Unchanged> {
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

/// Reads settings; an empty file holds none.
pub(super) fn settings(text: Option<&str>) -> Result<Map<String, Value>, Unchanged> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    let Some(text) = text else {
        return Ok(Map::new());
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(settings)) => Ok(settings),
        Ok(_) => Err(Unchanged::OtherForm("{ }".to_owned())),
        Err(error) => Err(Unchanged::NoJson { line: error.line() }),
    }
}

/// Returns the text of settings in which our hooks stand, or do not, and how many of ours came or went. Everything else
/// stays as it is, byte for byte.
fn changed(text: String, wanted: Wanted, program: &Path) -> Result<(String, usize), Unchanged> {
    if wanted == Wanted::In
        && hooks_of(&settings(Some(&text))?).is_some_and(|hooks| is_whole(hooks, program))
    {
        return Ok((text, 0));
    }
    let (mut text, mut gone) = (text, 0);
    while let Some((less, count)) = without_one(&text, program)? {
        text = less;
        gone += count;
    }
    if wanted == Wanted::Out {
        return Ok((text, gone));
    }
    for (event, _, _) in EVENTS {
        text = with_one(&text, event, program)?;
    }
    Ok((text, EVENTS.len()))
}

fn hooks_of(settings: &Map<String, Value>) -> Option<&Map<String, Value>> {
    settings.get("hooks")?.as_object()
}

fn form(what: &str) -> Unchanged {
    Unchanged::OtherForm(what.to_owned())
}

/// Returns the members of the settings and those of their hooks, where they have any.
fn containers(text: &str) -> Result<(Container<'_>, Option<Container<'_>>), Unchanged> {
    let begin = text.len() - text.trim_start().len();
    let whole = Container::object(text, begin..text.trim_end().len()).ok_or_else(|| form("{ }"))?;
    let found = only(&whole, "hooks", "hooks")?.map(|part| whole.value_at(part));
    let hooks = match found {
        Some(at) => Some(Container::object(text, at).ok_or_else(|| form("hooks"))?),
        None => None,
    };
    Ok((whole, hooks))
}

/// Returns the member of a name; an agent that finds two of one name may take either.
fn only<'c, 't>(
    container: &'c Container<'t>,
    name: &str,
    place: &str,
) -> Result<Option<&'c Part<'t>>, Unchanged> {
    let mut parts = container.named(name);
    let first = parts.next();
    match parts.next() {
        Some(_) => Err(Unchanged::Twice(place.to_owned())),
        None => Ok(first),
    }
}

/// Takes the first hook of ours out, with the group, the event and the list of hooks that it leaves empty; returns the text
/// and how many hooks went, or `None` where there is none of ours.
fn without_one(text: &str, program: &Path) -> Result<Option<(String, usize)>, Unchanged> {
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
            let is_our_hook = |part: &Part<'_>| {
                let hook: Option<Value> = serde_json::from_str(part.value).ok();
                hook.is_some_and(|hook| is_ours(&hook, program))
            };
            let ours: Vec<bool> = list.parts.iter().map(is_our_hook).collect();
            let count = ours.iter().filter(|is_ours| **is_ours).count();
            if count == 0 {
                continue;
            }
            // What we leave empty was ours.
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

/// Puts our hook for an event in, behind those that stand there.
fn with_one(text: &str, event: &str, program: &Path) -> Result<String, Unchanged> {
    let Some(group) = group(event, program) else {
        return Ok(text.to_owned());
    };
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

/// Returns our entry for an event.
fn group(event: &str, program: &Path) -> Option<Value> {
    let (_, is_of_tools, seconds) = EVENTS.iter().find(|(name, _, _)| *name == event)?;
    let hook = json!({"type": "command", "command": command(program), "timeout": seconds});
    Some(match is_of_tools {
        true => json!({"matcher": "*", "hooks": [hook]}),
        false => json!({"hooks": [hook]}),
    })
}

/// Returns whether our hooks stand there as they should, each once.
pub(super) fn is_whole(hooks: &Map<String, Value>, program: &Path) -> bool {
    let ours = |groups: &Value| {
        let groups = groups.as_array().into_iter().flatten();
        let hooks = groups.filter_map(|group| group.get("hooks").and_then(Value::as_array));
        hooks
            .flatten()
            .filter(|hook| is_ours(hook, program))
            .count()
    };
    let all: usize = hooks.values().map(ours).sum();
    all == EVENTS.len()
        && EVENTS.iter().all(|(event, _, _)| {
            let groups = hooks.get(*event).and_then(Value::as_array);
            let wanted = group(event, program);
            groups.is_some_and(|groups| groups.iter().any(|group| Some(group) == wanted.as_ref()))
        })
}

/// Writes the command as a shell reads it.
fn command(program: &Path) -> String {
    let path = program.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    let path = match path.chars().all(plain) {
        true => path.into_owned(),
        false => format!("'{}'", path.replace('\'', "'\\''")),
    };
    format!("{path}{CALL}{WHATEVER}")
}

/// Returns whether a hook runs our relay.
fn is_ours(hook: &Value, program: &Path) -> bool {
    called(hook, program).is_some()
}

/// Returns the program that a hook runs as our relay; nothing where it is somebody else's hook.
pub(super) fn called(hook: &Value, program: &Path) -> Option<PathBuf> {
    let text = hook.get("command").and_then(Value::as_str)?.trim();
    let called = text.strip_suffix(WHATEVER).unwrap_or(text);
    let called = called.strip_suffix(CALL)?;
    if text == command(program) {
        return Some(program.to_owned());
    }
    let called = match called
        .strip_prefix('\'')
        .and_then(|it| it.strip_suffix('\''))
    {
        Some(quoted) => quoted.replace("'\\''", "'"),
        None => called.trim_matches(['\'', '"']).to_owned(),
    };
    let is_named = Path::new(&called)
        .file_name()
        .is_some_and(|name| name == PROGRAM || name == format!("{PROGRAM}{EXE_SUFFIX}").as_str());
    // One word, so that nothing else is run beside it.
    let is_one = !called.contains(['\n', ';', '|', '&', '$', '`']);
    (is_one && is_named).then(|| called.into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#[path = "tests/settings.rs"]
mod tests;
