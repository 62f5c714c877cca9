//! The names of a call and of its success, from the verb of its kind and what it is about.
//!
//! Responsibilities: the verbs, their objects, and the sentences of a call that begins or has succeeded. Not here: the
//! words for a failed call (`announce`), the action of a question (`call`).
//!
//! Mental model: each agent has titles of its own ("ReadFile: a.txt", "Viewing /w/a.txt", "a.txt"). If the kind of a
//! call says what it does, and its paths or inputs say to what, one phrase serves all agents. A command is quoted;
//! anything else keeps the agent's title.

use super::call_binding::is_generic;
use super::{Call, first, inside};
use crate::event_writer::{cut, normal};
use crate::kit::call_inputs::{CallInput, FILES};
use crate::protocol::{FileChange, Summary};
use crate::{SharedWording, event_writer};

/// The longest list of paths, and the longest pattern or address, in characters.
const LONGEST_OBJECT: usize = 400;
/// The inputs that say what is searched for, where, and what is fetched.
const PATTERNS: [&str; 6] = ["pattern", "query", "regex", "search_term", "search", "glob"];
const PLACES: [&str; 4] = ["path", "dir_path", "directory", "target_directory"];
const ADDRESSES: [&str; 2] = ["url", "uri"];

/// What a call does, as far as there is a verb for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Read,
    Edit,
    Write,
    Delete,
    Search,
    Fetch,
    List,
}

impl Verb {
    /// Returns the verb for a kind: one of ACP's, or the name of a tool.
    fn of(kind: &str) -> Option<Self> {
        Some(match kind.trim().to_lowercase().as_str() {
            "read" | "view" | "read_file" | "readfile" | "notebookread" => Self::Read,
            "edit" | "write" | "multiedit" | "notebookedit" | "patch" | "apply_patch"
            | "write_file" | "create" | "replace" => Self::Edit,
            "delete" => Self::Delete,
            "search" | "grep" | "glob" | "websearch" | "codesearch" => Self::Search,
            "fetch" | "webfetch" => Self::Fetch,
            "list" | "ls" => Self::List,
            _ => return None,
        })
    }

    /// Returns the phrases for a call that begins, and for one that has succeeded.
    fn phrases(self) -> (&'static str, &'static str) {
        match self {
            Self::Read => ("call.read", "call.read.done"),
            Self::Edit => ("call.edit", "call.edit.done"),
            Self::Write => ("call.write", "call.write.done"),
            Self::Delete => ("call.delete", "call.delete.done"),
            Self::Search => ("call.search", "call.search.done"),
            Self::Fetch => ("call.fetch", "call.fetch.done"),
            Self::List => ("call.list", "call.list.done"),
        }
    }
}

impl Call {
    /// Returns whether its title tells people more than its command: that a file is read, for
    /// example.
    pub(super) fn is_named_otherwise(&self) -> bool {
        let verb = Verb::of(&self.kind).is_some_and(|verb| verb != Verb::Edit);
        verb && !is_generic(&self.title)
    }

    /// Returns its verb and the verb's object.
    fn verb(&self) -> Option<(Verb, Vec<(&'static str, String)>)> {
        let verb =
            Verb::of(&self.kind).filter(|_| self.command.is_none() && self.also.is_empty())?;
        let writes_all = self.given().any(CallInput::is_whole_file);
        let verb = match verb {
            Verb::Edit if writes_all => Verb::Write,
            verb => verb,
        };
        let object = match verb {
            Verb::Search => {
                let place = self.input(&PLACES).filter(|place| *place != self.folder);
                let place = place.map(|place| inside(place, &self.folder).to_owned());
                let place = place.filter(|place| place != ".").unwrap_or_default();
                vec![
                    ("what", self.input(&PATTERNS)?.to_owned()),
                    ("place", place),
                ]
            }
            Verb::Fetch => vec![("what", self.input(&ADDRESSES)?.to_owned())],
            Verb::Read | Verb::Edit | Verb::Write | Verb::Delete | Verb::List => {
                vec![("paths", self.objects()?)]
            }
        };
        let object = object.into_iter();
        let object = object.map(|(name, text)| (name, cut(text.trim(), LONGEST_OBJECT)));
        Some((verb, object.collect()))
    }

    fn input(&self, names: &[&str]) -> Option<&str> {
        let found = names
            .iter()
            .find_map(|name| self.given().find(|input| input.name == *name));
        let text = found.map(|input| input.text.trim());
        text.filter(|text| !text.is_empty())
    }

    /// Returns the files that it is about: its paths, or else an input or a title that is one.
    fn objects(&self) -> Option<String> {
        let paths: Vec<&str> = self.paths().collect();
        if !paths.is_empty() {
            return Some(paths.join(", "));
        }
        let title = self.title.trim();
        let is_path = |text: &&str| {
            text.contains(['/', '.']) && !text.contains(char::is_whitespace) && !text.ends_with('.')
        };
        let found = self.input(&FILES).or(Some(title).filter(is_path))?;
        Some(inside(found, &self.folder).to_owned())
    }

    /// Returns the sentence for its start: in our words if there is a verb for it, otherwise in its agent's.
    pub fn begun(&self, words: &SharedWording) -> (Summary, bool) {
        match self.verb() {
            Some((verb, object)) => (words.summary(verb.phrases().0, &borrowed(&object)), true),
            None => (normal(Some(self.title())), false),
        }
    }

    /// Returns what people call it, in one language.
    pub fn called(&self, words: &SharedWording) -> String {
        match self.verb() {
            Some((verb, object)) => first(words, verb.phrases().0, &borrowed(&object)),
            None => self.title(),
        }
    }

    /// Returns the sentence for its success.
    pub fn succeeded(&self, words: &SharedWording) -> Summary {
        if let [FileChange { path, added, .. }] = self.edits.as_slice()
            && self.makes_new_file()
        {
            return made(path, Some(*added), words);
        }
        if !self.edits.is_empty() {
            let paths = self.edits.iter().map(|edit| edit.path.as_str());
            let paths = cut(&paths.collect::<Vec<_>>().join(", "), LONGEST_OBJECT);
            let lines = self.lines();
            let mut args = vec![("paths", paths.as_str())];
            args.extend(lines.iter().map(|(name, count)| (*name, count.as_str())));
            return words.summary("call.edit.done", &args);
        }
        match self.verb() {
            Some((Verb::Write, object)) if self.makes_file == Some(true) => {
                let texts = self.given().filter(|it| it.is_whole_file() && !it.is_cut);
                let lines = texts.map(|input| input.text.lines().count() as u64).next();
                let path = object.first().map_or("", |(_, path)| path.as_str());
                made(path, lines, words)
            }
            Some((verb, object)) => words.summary(verb.phrases().1, &borrowed(&object)),
            None => words.summary("call.done", &[("title", &self.title())]),
        }
    }

    /// Returns the files that it has changed.
    pub fn changed_files(&self) -> Vec<String> {
        let is_edit = matches!(self.verb(), Some((Verb::Edit | Verb::Write, _)));
        match (self.edits.is_empty(), is_edit) {
            (false, _) => self.edits.iter().map(|edit| edit.path.clone()).collect(),
            (true, true) => self.paths().map(str::to_owned).collect(),
            (true, false) => Vec::new(),
        }
    }

    /// Returns whether its only edit makes a file, by the edit itself or as the agent says.
    fn makes_new_file(&self) -> bool {
        let is_new = self.edits.iter().all(|edit| edit.is_new);
        let removes = self.edits.iter().any(|edit| edit.removed > 0);
        is_new || (self.makes_file == Some(true) && !removes)
    }
}

/// Words a new file.
fn made(path: &str, lines: Option<u64>, words: &SharedWording) -> Summary {
    let lines = lines
        .filter(|lines| *lines > 0)
        .map(|lines| lines.to_string());
    let path = event_writer::cut(path, LONGEST_OBJECT);
    let lines = lines.unwrap_or_default();
    words.summary("call.new.done", &[("path", &path), ("lines", &lines)])
}

fn borrowed<'a>(args: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
    args.iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect()
}
