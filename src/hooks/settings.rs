//! Hooks in an agent's settings: put in beside whatever stands there, and taken out again.
//!
//! Responsibilities: which events are hooked, which hooks are ours, the text that the file is to hold, and putting it in
//! its place whole. Not here: asking the person (`runtime`).
//!
//! Mental model: the file belongs to the person. Only entries that run `hearken hooks relay` are ours; nothing else is
//! changed, moved or left out, and a file that can't be read as settings is not touched at all. The command can't fail in
//! the shell's eyes, because an agent may take a failure of a hook for a refusal.

use std::env::consts::EXE_SUFFIX;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::platform::files::{settle_folder, with_rights_of};

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

/// Says why settings can't be changed.
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
    /// Somebody changed them meanwhile.
    #[error("changed meanwhile")]
    Meanwhile,
}

/// Says what is to become of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Our hooks stand in them.
    In,
    /// None of ours does.
    Out,
}

/// Holds a change that is not made yet.
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
        let settings = settings(before.as_deref())?;
        let (after, count) = changed(settings.clone(), wanted, program)?;
        if after == settings {
            return Ok(None);
        }
        let after =
            serde_json::to_string_pretty(&Value::Object(after)).map_err(io::Error::from)? + "\n";
        Ok(Some(Self {
            path,
            before,
            after,
            count,
        }))
    }

    /// Gives the file that is changed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the change: the file holds the one or the other at every moment, and never a part.
    ///
    /// # Errors
    /// When it can't be written, or somebody changed it since it was read; then it is as before.
    pub fn make(self) -> Result<(), Unchanged> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder)?;
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
        let outcome = written.and_then(|()| match text(&self.path)? == self.before {
            true => Ok(std::fs::rename(&beside, &self.path)?),
            false => Err(Unchanged::Meanwhile),
        });
        if outcome.is_err() {
            // What could not be finished must not lie about; the first fault is the one that counts.
            let _ = std::fs::remove_file(&beside);
            return outcome;
        }
        // That the name leads to it is the folder's matter; where that can't be asked for it comes by itself.
        let _ = settle_folder(folder);
        Ok(())
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

/// Gives settings in which our hooks stand, or do not, and how many of ours came or went.
fn changed(
    mut settings: Map<String, Value>,
    wanted: Wanted,
    program: &Path,
) -> Result<(Map<String, Value>, usize), Unchanged> {
    let form = |what: &str| Unchanged::OtherForm(what.to_owned());
    if wanted == Wanted::Out && !settings.contains_key("hooks") {
        return Ok((settings, 0));
    }
    let was_there = settings.contains_key("hooks");
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or_else(|| form("hooks"))?;
    if wanted == Wanted::In && is_whole(hooks, program) {
        return Ok((settings, 0));
    }
    let mut gone = 0;
    let mut emptied = Vec::new();
    for (event, groups) in hooks.iter_mut() {
        let groups = groups
            .as_array_mut()
            .ok_or_else(|| form(&format!("hooks.{event}")))?;
        let before = gone;
        groups.retain_mut(|group| {
            let Some(list) = group.get_mut("hooks").and_then(Value::as_array_mut) else {
                return true;
            };
            let all = list.len();
            list.retain(|hook| !is_ours(hook, program));
            gone += all - list.len();
            // A group that we leave empty was ours.
            all == list.len() || !list.is_empty()
        });
        if gone > before && groups.is_empty() {
            emptied.push(event.clone());
        }
    }
    for event in emptied {
        // The order of what stays is the person's.
        hooks.shift_remove(&event);
    }
    if wanted == Wanted::Out {
        if hooks.is_empty() && gone > 0 && was_there {
            settings.shift_remove("hooks");
        }
        return Ok((settings, gone));
    }
    for (event, _, _) in EVENTS {
        let groups = hooks.entry(event).or_insert_with(|| json!([]));
        let groups = groups
            .as_array_mut()
            .ok_or_else(|| form(&format!("hooks.{event}")))?;
        groups.extend(group(event, program));
    }
    Ok((settings, EVENTS.len()))
}

/// Gives our entry for an event.
fn group(event: &str, program: &Path) -> Option<Value> {
    let (_, is_of_tools, seconds) = EVENTS.iter().find(|(name, _, _)| *name == event)?;
    let hook = json!({"type": "command", "command": command(program), "timeout": seconds});
    Some(match is_of_tools {
        true => json!({"matcher": "*", "hooks": [hook]}),
        false => json!({"hooks": [hook]}),
    })
}

/// Tells whether our hooks stand there as they should, each once.
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

/// Tells whether a hook runs our relay.
fn is_ours(hook: &Value, program: &Path) -> bool {
    called(hook, program).is_some()
}

/// Gives the program that a hook runs as our relay; nothing where it is somebody else's hook.
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
