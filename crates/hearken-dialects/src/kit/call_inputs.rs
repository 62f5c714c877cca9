//! The inputs of a call, by name: which of them are the command, and which the wording of a question already expresses.
//!
//! Responsibilities: keeping each input with a digest of the whole value, finding the command, comparing inputs with
//! edits. Not here: the wording of a call (`call`).
//!
//! Mental model: the wording of a question either expresses an input, or counts it. Values are compared as whole
//! values: a text that happens to contain one proves nothing.

use ring::digest::{SHA256, digest};
use serde_json::{Map, Value};

use super::shell;
use crate::event_writer::cut;

use super::members::plain;

/// How many inputs of one call are kept.
pub const MOST: usize = 512;
/// The longest name, in characters.
const LONGEST_NAME: usize = 512;
/// The longest input that is kept, in characters: the limit of an AAEP field.
const LONGEST_TEXT: usize = 4000;
/// The names that agents give a command, the usual ones first.
const COMMANDS: [&str; 2] = ["command", "cmd"];
/// Further names of a command, in calls declared as executing something.
const MORE_COMMANDS: [&str; 5] = [
    "commandLine",
    "command_line",
    "shell_command",
    "script",
    "bash",
];
/// The names of a command's further words.
const ARGUMENTS: [&str; 3] = ["args", "arguments", "argv"];
/// The names of the folder in which a command runs.
const FOLDERS: [&str; 8] = [
    "cwd",
    "workdir",
    "working_directory",
    "workingDirectory",
    "working_dir",
    "directory",
    "dir_path",
    "cd",
];
/// The names of an edit's old and new text.
const PAIRS: [(&str, &str); 6] = [
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
    ("old_text", "new_text"),
    ("search", "replace"),
];

/// The names of the input that says which file is edited.
pub const FILES: [&str; 10] = [
    "path",
    "file_path",
    "filePath",
    "filepath",
    "file",
    "filename",
    "notebook_path",
    "abs_path",
    "target_file",
    "uri",
];
/// The names of the input that is the whole text of a file.
const TEXTS: [&str; 6] = [
    "content",
    "contents",
    "text",
    "new_content",
    "newContent",
    "file_text",
];

/// One input of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallInput {
    /// Its name.
    pub name: String,
    /// Its value as text, cut if it is too long.
    pub text: String,
    /// Whether it was cut.
    pub is_cut: bool,
    /// Whether its value is text.
    pub is_text: bool,
    /// The digest of the whole value.
    pub digest: [u8; 32],
}

impl CallInput {
    /// Creates an input from its name and value.
    pub fn new(name: &str, value: &Value) -> Self {
        let whole = plain(value);
        let text = cut(&whole, LONGEST_TEXT);
        // A text and a number with the same characters differ.
        let is_text = value.is_string();
        let sum = digest(&SHA256, &[&[u8::from(is_text)], whole.as_bytes()].concat());
        let mut digest = [0; 32];
        digest.copy_from_slice(sum.as_ref());
        Self {
            name: cut(name, LONGEST_NAME),
            is_cut: text.len() != whole.len(),
            is_text,
            text,
            digest,
        }
    }

    /// Returns whether it names the folder in which a command runs.
    pub fn is_folder(&self) -> bool {
        FOLDERS.contains(&self.name.as_str())
    }

    /// Returns whether it is the whole text of a file.
    pub fn is_whole_file(&self) -> bool {
        TEXTS.contains(&self.name.as_str())
    }

    /// Returns whether it may be a command, whatever the call.
    pub fn may_be_command(&self) -> bool {
        let names = COMMANDS.iter().chain(&MORE_COMMANDS);
        names.into_iter().any(|name| *name == self.name)
    }
}

/// All inputs of a call, with what is known of them together: a command has no meaning without the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallInputs {
    /// The inputs.
    pub all: Vec<CallInput>,
    /// The command that the call runs.
    pub command: Option<String>,
    /// The names of the inputs that the command and the edits of the call express.
    pub said: Vec<String>,
}

impl CallInputs {
    /// Reads every member as an input; none is a command.
    pub fn read(given: &Map<String, Value>) -> Self {
        let given = given.iter().take(MOST);
        given
            .map(|(name, value)| CallInput::new(name, value))
            .collect()
    }
}

impl FromIterator<CallInput> for CallInputs {
    fn from_iter<I: IntoIterator<Item = CallInput>>(inputs: I) -> Self {
        Self {
            all: inputs.into_iter().collect(),
            ..Self::default()
        }
    }
}

/// Finds the command among the inputs of a call, and the names of the inputs that form it.
pub fn command(given: &Map<String, Value>, kind: &str) -> Option<(String, Vec<String>)> {
    let more: &[&str] = if kind == "execute" {
        &MORE_COMMANDS
    } else {
        &[]
    };
    let mut names = COMMANDS.iter().chain(more);
    let (name, value) = names.find_map(|name| {
        let value = given.get(*name).filter(|value| is_command(value))?;
        Some((*name, value))
    })?;
    let mut said = vec![name.to_owned()];
    let command = match value {
        Value::String(first) => {
            let is_word = word(value) == *first;
            let rest = ARGUMENTS
                .iter()
                .find_map(|name| Some((*name, given.get(*name)?.as_array()?)));
            let scalar =
                |value: &Value| value.is_string() || value.is_number() || value.is_boolean();
            match rest.filter(|(_, rest)| is_word && rest.iter().all(scalar)) {
                Some((name, rest)) => {
                    said.push(name.to_owned());
                    let words = std::iter::once(value).chain(rest).map(word);
                    words.collect::<Vec<_>>().join(" ")
                }
                None => first.clone(),
            }
        }
        Value::Array(words) => {
            let texts: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            let script = shell::script(&texts).filter(|_| texts.len() == words.len());
            let all = || words.iter().map(word).collect::<Vec<_>>().join(" ");
            script.map_or_else(all, str::to_owned)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    Some((command, said))
}

fn is_command(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(words) => !words.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Writes one word of a command, quoted so that it can't be read as two.
pub fn word(word: &Value) -> String {
    let text = plain(word);
    let simple = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    if !text.is_empty() && text.chars().all(simple) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// The text of a file before and after an edit.
#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    /// The path of the file.
    pub path: &'a str,
    /// Its text before; `None` if there was no file.
    pub before: Option<&'a str>,
    /// Its text after.
    pub after: &'a str,
}

impl Edit<'_> {
    /// Returns the names of the inputs that this edit expresses.
    pub fn says(&self, given: &Map<String, Value>) -> Vec<String> {
        let before = self.before.unwrap_or_default();
        // The name says what is done with the value.
        let is_text = |name: &str| {
            TEXTS.contains(&name) || PAIRS.iter().any(|(old, new)| name == *old || name == *new)
        };
        let is_said = |name: &str, value: &Value| {
            value.as_str().is_some_and(|text| {
                let is_whole = text == self.after || self.before == Some(text);
                (text == self.path && FILES.contains(&name)) || (is_whole && is_text(name))
            })
        };
        let mut said: Vec<String> = given
            .iter()
            .filter(|(name, value)| is_said(name, value))
            .map(|(name, _)| name.clone())
            .collect();
        for (old_name, new_name) in PAIRS {
            let text = |name: &str| given.get(name).and_then(Value::as_str);
            let (Some(old), Some(new)) = (text(old_name), text(new_name)) else {
                continue;
            };
            if old.is_empty() {
                continue;
            }
            let once = before.replacen(old, new, 1) == self.after;
            let every = before.replace(old, new) == self.after;
            if !(once || every) {
                continue;
            }
            said.extend([old_name, new_name].map(str::to_owned));
            let is_true = |name: &&str| match given.get(*name) {
                Some(Value::Bool(true)) => every,
                Some(Value::Bool(false)) => once,
                Some(_) | None => false,
            };
            said.extend(
                ["replace_all", "replaceAll"]
                    .iter()
                    .filter(|name| is_true(name))
                    .map(|name| (*name).to_owned()),
            );
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(given: Value, kind: &str) -> Option<(String, Vec<String>)> {
        command(given.as_object().unwrap(), kind)
    }

    #[test]
    fn a_command_is_all_that_it_is_made_of() {
        let found = |command: &str, said: &[&str]| {
            Some((
                command.to_owned(),
                said.iter().map(|it| (*it).to_owned()).collect(),
            ))
        };
        for (given, kind, wanted) in [
            (
                json!({"command": "ls -la"}),
                "",
                found("ls -la", &["command"]),
            ),
            (json!({"cmd": "ls"}), "", found("ls", &["cmd"])),
            (
                json!({"command": "ls", "cmd": "rm -rf src"}),
                "",
                found("ls", &["command"]),
            ),
            (
                json!({"command": "find", "args": [".", "-delete"]}),
                "",
                found("find . -delete", &["command", "args"]),
            ),
            (
                json!({"command": "echo a", "args": ["b"]}),
                "",
                found("echo a", &["command"]),
            ),
            (
                json!({"command": "echo", "args": ["a b", 7]}),
                "",
                found("echo 'a b' 7", &["command", "args"]),
            ),
            (
                json!({"command": "echo", "args": [{"x": 1}]}),
                "",
                found("echo", &["command"]),
            ),
            (
                json!({"command": ["bash", "-lc", "ls"]}),
                "",
                found("ls", &["command"]),
            ),
            (
                json!({"command": ["rm", "a b"]}),
                "",
                found("rm 'a b'", &["command"]),
            ),
            (
                json!({"script": "rm x"}),
                "execute",
                found("rm x", &["script"]),
            ),
            (json!({"script": "rm x"}), "other", None),
            (json!({"command": ""}), "", None),
            (json!({"command": []}), "", None),
            (json!({}), "", None),
        ] {
            assert_eq!(of(given.clone(), kind), wanted, "{given}");
        }
    }

    #[test]
    fn an_edit_says_the_inputs_that_it_is_made_of_and_no_other() {
        let edit = Edit {
            path: "/w/a.txt",
            before: Some("one\ntwo\ntwo\n"),
            after: "one\n2\ntwo\n",
        };
        let says = |given: Value| {
            let mut said = edit.says(given.as_object().unwrap());
            said.sort();
            said.join(" ")
        };
        assert_eq!(
            says(json!({"file_path": "/w/a.txt", "old_string": "two", "new_string": "2"})),
            "file_path new_string old_string"
        );
        assert_eq!(
            says(json!({"old_string": "two", "new_string": "2", "replace_all": false})),
            "new_string old_string replace_all"
        );
        // These inputs are not the whole deed.
        assert_eq!(
            says(json!({"old_string": "two", "new_string": "2", "replace_all": true})),
            "new_string old_string"
        );
        assert_eq!(says(json!({"old_string": "one", "new_string": "1"})), "");
        assert_eq!(
            says(json!({"content": "one\n2\ntwo\n", "mode": 7, "path": "a.txt"})),
            "content"
        );
    }

    #[test]
    fn what_is_cut_is_told_apart_by_all_of_it() {
        let long = |end: &str| CallInput::new("x", &json!(format!("{}{end}", "a".repeat(5000))));
        let (one, other) = (long("1"), long("2"));
        assert!(one.is_cut && one.text == other.text);
        assert_ne!(one.digest, other.digest);
        assert_ne!(
            CallInput::new("x", &json!("1")).digest,
            CallInput::new("x", &json!(1)).digest
        );
    }
}
