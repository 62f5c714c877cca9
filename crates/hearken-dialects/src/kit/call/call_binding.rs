//! What exactly a call does, to which a question about it is bound, and which inputs the wording leaves out.
//!
//! Responsibilities: the deed of a call, its digest, the inputs that are only counted, calls that say nothing. Not
//! here: the wording of a call (`call`), what a person is warned of (`session`).

use ring::digest::{Context, SHA256};

use super::{Call, LONGEST_TITLE, inside};
use crate::edit_changes;
use crate::kit::call_inputs::{CallInput, FILES};
use crate::protocol::ActionDetails;

/// The name of the input that describes a command.
pub const DESCRIPTION: &str = "description";

impl Call {
    /// Returns the names of the inputs that its action does not express.
    fn unsaid(&self) -> Vec<String> {
        let has_edits = !self.edits.is_empty() || !self.also.is_empty();
        if self.command.is_none() && !has_edits {
            // The action lists them all, but shortened ones only in part.
            return self
                .given()
                .filter(|input| input.is_cut)
                .map(|input| input.name.clone())
                .collect();
        }
        let is_said = |input: &CallInput| {
            let path = inside(&input.text, &self.folder);
            let names_file = has_edits
                && !input.is_cut
                && FILES.contains(&input.name.as_str())
                && self.edits.iter().any(|edit| edit.path == path);
            names_file
                || self.is_here(input)
                || self.describes(input)
                || self.said.contains(&input.name)
                || self.is_edit(input)
        };
        let unsaid = self.given().filter(|input| !is_said(input));
        unsaid.map(|input| input.name.clone()).collect()
    }

    /// Returns whether an input only names the folder of the conversation, in which the call runs in any case. Some
    /// agents add it when they run what they asked about.
    fn is_here(&self, input: &CallInput) -> bool {
        input.is_folder()
            && input.text.trim_end_matches('/') == self.folder
            && !self.folder.is_empty()
    }

    /// Returns whether an input is the old or new text of its only edit.
    fn is_edit(&self, input: &CallInput) -> bool {
        let [edit] = self.edits.as_slice() else {
            return false;
        };
        let other = |name: &str| self.given().find(|it| it.name == name && !it.is_cut);
        let pair = [
            ("old_string", "new_string"),
            ("oldString", "newString"),
            ("old_str", "new_str"),
            ("oldText", "newText"),
        ]
        .into_iter()
        .find(|(old, new)| input.name == *old || input.name == *new);
        match pair {
            Some((old, new)) => match (other(old), other(new)) {
                (Some(old), Some(new)) => edit_changes::is_of(edit, &old.text, &new.text),
                _ => false,
            },
            None => edit.is_new && !input.is_cut && edit_changes::is_of(edit, "", &input.text),
        }
    }

    /// Returns whether nothing shows what it does: it has no inputs, and its title only names a tool.
    pub fn is_silent(&self) -> bool {
        let has_content = self.command.is_some()
            || !self.edits.is_empty()
            || !self.also.is_empty()
            || self.paths().next().is_some()
            || self.given().any(|input| !input.text.trim().is_empty());
        !has_content && is_generic(&self.title)
    }

    /// Returns whether it has more inputs, parts or paths than are read, or a meaningful title that is cut.
    pub fn is_too_much(&self) -> bool {
        let is_title = self.command.is_none() && self.edits.is_empty() && self.also.is_empty();
        self.is_too_much || (is_title && self.title.chars().count() >= LONGEST_TITLE)
    }

    /// Returns a digest of its inputs and edits, in two parts. A part without contents is a dash.
    pub fn digest(&self) -> String {
        let has_edits = !self.edits.is_empty() || !self.also.is_empty();
        let has_inputs = self.given().any(|input| !self.is_here(input));
        let mut called = Vec::new();
        let is_said = has_edits && self.unsaid().is_empty();
        if self.command.is_some() || (has_inputs && !is_said) {
            called.push(self.command.clone().unwrap_or_default());
            let mut inputs: Vec<&CallInput> = self
                .given()
                .filter(|input| !self.describes(input) && !self.is_here(input))
                .collect();
            inputs.sort_by(|one, other| one.name.cmp(&other.name));
            for input in inputs {
                called.extend([input.name.clone(), hex(&input.digest)]);
            }
        } else if !has_edits {
            called.push(self.title.trim().to_owned());
        }
        let part = |texts: &[String]| match texts.is_empty() {
            true => "-".to_owned(),
            false => sum(texts),
        };
        format!("{}.{}", part(&called), part(&self.edited))
    }

    /// Returns whether an input only describes a command, and so changes nothing about it.
    fn describes(&self, input: &CallInput) -> bool {
        self.command.is_some() && input.name == DESCRIPTION
    }

    /// Returns whether the description of its command, if it has one, is text that its agent's own shell tool only
    /// shows: another tool with a command may do something with it.
    pub fn has_mere_description(&self) -> bool {
        let is_shell = self.command.is_some() && self.kind.trim() == "execute";
        let mut descriptions = self.given().filter(|input| self.describes(input));
        is_shell && descriptions.all(|input| input.is_text)
    }

    /// Returns what exactly it does.
    pub fn action_details(&self) -> ActionDetails {
        let places = [
            "path",
            "file_path",
            "filePath",
            "notebook_path",
            "source",
            "destination",
            "from",
            "to",
            "target",
        ];
        let is_place = |input: &&CallInput| {
            input.is_folder() || (self.command.is_none() && places.contains(&input.name.as_str()))
        };
        let given = self.given().filter(is_place);
        let given = given.filter(|input| !self.is_here(input));
        let all = self.paths().chain(given.map(|input| input.text.as_str()));
        // The folder of the conversation itself is where the call runs.
        let is_here = |path: &str| path.trim_end_matches('/') == self.folder;
        let all: std::collections::BTreeSet<&str> = all
            .filter(|path| !path.is_empty() && !is_here(path))
            .collect();
        let more = self.given().filter(|input| {
            input.may_be_command()
                && !self.said.contains(&input.name)
                && !input.text.trim().is_empty()
        });
        let folder = self
            .given()
            .find(|input| input.is_folder())
            .map(|input| input.text.trim_end_matches('/'));
        let folder = match folder {
            Some(folder) if folder.starts_with('/') || self.folder.is_empty() => folder.to_owned(),
            Some(folder) => format!("{}/{folder}", self.folder),
            None => self.folder.clone(),
        };
        let deletes = self.command.is_none() && self.kind.trim() == "delete";
        let is_edit = !self.edits.is_empty()
            && self.command.is_none()
            && (self.also.is_empty() || self.instead);
        ActionDetails {
            commands: self
                .command
                .iter()
                .cloned()
                .chain(more.map(|input| input.text.clone()))
                .collect(),
            folder: Some(folder).filter(|folder| !folder.is_empty()),
            paths: all.into_iter().map(str::to_owned).collect(),
            edits: is_edit && !deletes,
            deletes: match deletes {
                true => self.paths().map(str::to_owned).collect(),
                false => self.deletes.clone(),
            },
            unsaid: self.unsaid(),
            digest: self.digest(),
            is_cut: self
                .given()
                .any(|input| input.is_cut && input.may_be_command()),
            ..ActionDetails::default()
        }
    }

    /// Returns everything else that is known of it, to be read in full.
    pub fn more(&self) -> Vec<(String, String)> {
        let mut more: Vec<(String, String)> = Vec::new();
        let stands_apart = self.command.is_some() || !self.edits.is_empty();
        let title = self.title.trim();
        let said = self.command.as_deref().map(str::trim) == Some(title)
            || self.paths().any(|path| path == title);
        if stands_apart && !said && !title.is_empty() {
            let mut name = "title".to_owned();
            // An input may have that name, and is something else.
            while self.given().any(|input| input.name == name) {
                name = format!("call_{name}");
            }
            more.push((name, self.title.clone()));
        }
        let unsaid = self.unsaid();
        for input in self.given() {
            // The texts of an edit are already in it, as its changes.
            let is_read =
                self.command.is_some() || self.edits.is_empty() || unsaid.contains(&input.name);
            let is_new = !more.iter().any(|(name, _)| *name == input.name);
            if is_read && is_new && !self.said.contains(&input.name) && !self.is_here(input) {
                more.push((input.name.clone(), input.text.clone()));
            }
        }
        more
    }
}

/// Hashes texts with their lengths, so that different lists never give the same input to the hash.
fn sum(texts: &[String]) -> String {
    let mut sum = Context::new(&SHA256);
    for text in texts {
        sum.update(&(text.len() as u64).to_be_bytes());
        sum.update(text.as_bytes());
    }
    // 15 of its 32 bytes are enough to tell any number of calls apart.
    hex(sum.finish().as_ref().get(..15).unwrap_or_default())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns whether a title only says that a tool is used, not for what.
pub(super) fn is_generic(title: &str) -> bool {
    const WORDS: &[&str] = &[
        "a",
        "access",
        "action",
        "allow",
        "an",
        "approval",
        "approve",
        "bash",
        "call",
        "calling",
        "cmd",
        "code",
        "command",
        "commands",
        "console",
        "delete",
        "edit",
        "exec",
        "execute",
        "executing",
        "fetch",
        "file",
        "files",
        "for",
        "function",
        "in",
        "invoke",
        "job",
        "launch",
        "mcp",
        "move",
        "node",
        "of",
        "operation",
        "other",
        "patch",
        "perform",
        "permission",
        "perl",
        "powershell",
        "process",
        "program",
        "pwsh",
        "python",
        "python3",
        "read",
        "request",
        "ruby",
        "run",
        "running",
        "script",
        "search",
        "sh",
        "shell",
        "start",
        "subprocess",
        "task",
        "terminal",
        "the",
        "think",
        "this",
        "to",
        "tool",
        "unknown",
        "use",
        "using",
        "write",
        "zsh",
    ];
    let words = title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words
        .map(str::to_lowercase)
        .all(|word| WORDS.contains(&word.as_str()))
}
