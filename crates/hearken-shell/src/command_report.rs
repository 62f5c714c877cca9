//! The report on a command, and how it is collected.

use crate::act::Act;
use crate::path_place::{Base, Reach, is_listed, normal};
use crate::program_lists::lists;
use crate::program_table::WordKind;
use crate::word::Value;

/// The most things that a finding names; the rest are counted.
const MOST_NAMED: usize = 16;
/// The most parts of a command that are reported.
const MOST_PARTS: usize = 64;
/// The most unknown pieces of a command that are kept.
const MOST_UNKNOWN: usize = 16;

/// One thing that a command can do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandFinding {
    /// The act.
    pub act: Act,
    /// The things that it affects, as written in the command; empty if none are named.
    pub targets: Vec<String>,
    /// How many more things it affects.
    pub more: usize,
}

/// One part of a command, for an explanation part by part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedPart {
    /// The part as written.
    pub text: String,
    /// What it can do.
    pub findings: Vec<CommandFinding>,
    /// The unknown pieces of the part.
    pub unknown: Vec<String>,
}

/// The report on a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandReport {
    /// What it can do, gravest first.
    pub findings: Vec<CommandFinding>,
    /// Its parts, in order.
    pub parts: Vec<ExplainedPart>,
    /// The unknown pieces of the command, as written; empty if all of it was read.
    pub unknown: Vec<String>,
    /// Whether the readable part creates, changes or deletes a file.
    pub changes_files: bool,
}

impl CommandReport {
    /// Returns whether all of it was read, and nothing was found but `allowed`.
    pub fn is_cleared(&self, allowed: Option<Act>) -> bool {
        let allowed = |finding: &CommandFinding| Some(finding.act) == allowed;
        self.unknown.is_empty() && self.findings.iter().all(allowed)
    }
}

/// The use of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// It is read.
    Read,
    /// It is changed or created.
    Edit,
    /// It is deleted.
    Delete,
}

/// The folders by which a command is judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folders {
    /// The working directory as an absolute path, if known. Paths are reported if they lead outside it.
    pub folder: Option<String>,
    /// The folder in which the command starts, if that is a different one.
    pub start: Option<String>,
}

/// Collects the findings.
#[derive(Debug)]
pub(crate) struct Collector {
    base: Base,
    start: String,
    found: Vec<(Act, Vec<String>)>,
    unknown: Vec<String>,
    parts: Vec<ExplainedPart>,
    /// The findings of the current part.
    part: Vec<(Act, Vec<String>)>,
    part_unknown: Vec<String>,
    changes_files: bool,
    /// Whether the command runs in a container or on another machine, so that its paths are not on this one.
    pub(crate) is_elsewhere: bool,
}

impl Collector {
    pub(crate) fn new(place: &Folders) -> Self {
        let base = Base::new(place.folder.as_deref());
        let start = match place.start.as_deref() {
            Some(start) => normal(start, base.folder()),
            None => base.folder().to_owned(),
        };
        Self {
            base,
            start,
            found: Vec::new(),
            unknown: Vec::new(),
            parts: Vec::new(),
            part: Vec::new(),
            part_unknown: Vec::new(),
            changes_files: false,
            is_elsewhere: false,
        }
    }

    /// Returns the folder in which the command starts.
    pub(crate) fn start(&self) -> &str {
        &self.start
    }

    pub(crate) fn base(&self) -> &Base {
        &self.base
    }

    pub(crate) fn add(&mut self, act: Act, what: &[&str]) {
        note(&mut self.found, act, what);
        note(&mut self.part, act, what);
    }

    /// Collects findings, and leaves out unknown pieces.
    pub(crate) fn without_unknown(&mut self, read: impl FnOnce(&mut Self)) {
        let unknown = std::mem::take(&mut self.unknown);
        let in_part = std::mem::take(&mut self.part_unknown);
        read(self);
        self.unknown = unknown;
        self.part_unknown = in_part;
    }

    /// Adds an unknown piece unless there already is one.
    pub(crate) fn never_cleared(&mut self, what: &str) {
        if self.unknown.is_empty() {
            self.unknown(what);
        }
    }

    pub(crate) fn unknown(&mut self, what: &str) {
        let what: String = what.trim().chars().take(80).collect();
        if what.is_empty() {
            return self.unknown("an empty word");
        }
        for list in [&mut self.unknown, &mut self.part_unknown] {
            if !list.contains(&what) && list.len() < MOST_UNKNOWN {
                list.push(what.clone());
            }
        }
    }

    /// Returns whether an act was found in the current part.
    pub(crate) fn part_does(&self, act: Act) -> bool {
        self.part.iter().any(|(it, _)| *it == act)
    }

    /// Begins a part, and returns the findings of the part around it.
    pub(crate) fn begin_part(&mut self) -> OuterPart {
        OuterPart {
            part: std::mem::take(&mut self.part),
            unknown: std::mem::take(&mut self.part_unknown),
            parts: self.parts.len(),
        }
    }

    /// Ends a part, and resumes the part around it.
    pub(crate) fn end_part(&mut self, text: &str, outer: OuterPart) {
        let found = std::mem::replace(&mut self.part, outer.part);
        let unknown = std::mem::replace(&mut self.part_unknown, outer.unknown);
        // A part that only contains other parts is explained by them.
        let holds_others = self.parts.len() > outer.parts;
        let says_nothing = found.is_empty() && unknown.is_empty();
        if self.parts.len() < MOST_PARTS && !(holds_others && says_nothing) {
            self.parts.push(ExplainedPart {
                text: text.to_owned(),
                findings: findings(found),
                unknown,
            });
        }
    }

    /// Judges a path from each folder that the command may be in.
    pub(crate) fn path(&mut self, kind: WordKind, word: &Value, folders: &[String]) {
        let act = match kind {
            WordKind::Edit | WordKind::Append => Some(Act::Edit),
            WordKind::Replace => Some(Act::Replace),
            WordKind::Move => Some(Act::Move),
            WordKind::Delete => Some(Act::Delete),
            WordKind::Tree => Some(Act::Tree),
            WordKind::Permit => Some(Act::Permit),
            WordKind::Unpack => Some(Act::Unpack),
            _ => None,
        };
        let deletes = matches!(kind, WordKind::Delete | WordKind::Tree);
        if word.stands_for_many {
            self.changes_files |= deletes || act.is_some();
            match (deletes, act) {
                (true, _) => self.add(Act::DeleteFound, &[]),
                (false, Some(act)) => self.add(act, &[]),
                (false, None) => {}
            }
            if !word.is_certain {
                // The command does not show which files are meant.
                self.unknown(if word.text.is_empty() {
                    "{}"
                } else {
                    &word.text
                });
            }
            return;
        }
        let path = word.text.as_str();
        let is_process = path.starts_with("<(") || path.starts_with(">(");
        // Writing to these devices loses nothing; deleting or moving them does.
        let passes = matches!(
            kind,
            WordKind::Read | WordKind::Append | WordKind::Replace | WordKind::Edit | WordKind::Make
        );
        let is_harmless = passes && is_listed(path, &lists().files.harmless);
        if is_process || path.is_empty() || path == "-" || is_harmless {
            return;
        }
        let name = path.rsplit('/').next().unwrap_or_default();
        // A pattern for hidden files may match one with secrets.
        if !word.is_certain || (word.is_pattern && name.starts_with('.')) {
            self.unknown(path);
        }
        if let Some(host) = path
            .strip_prefix("/dev/tcp/")
            .or_else(|| path.strip_prefix("/dev/udp/"))
        {
            let host = host.split('/').next().unwrap_or_default();
            return self.add(
                if act.is_some() {
                    Act::Send
                } else {
                    Act::Contact
                },
                &[host],
            );
        }
        let writes = act.is_some() || kind == WordKind::Make;
        self.changes_files |= writes;
        if writes && path.starts_with("/proc/sysrq") {
            return self.add(Act::Power, &[path]);
        }
        if writes && (path.starts_with("/proc/sys/") || path.starts_with("/sys/")) {
            return self.add(Act::Kernel, &[path]);
        }
        if writes && path.starts_with("/dev/") && !path.starts_with("/dev/shm/") {
            return self.add(Act::Disk, &[path]);
        }
        if let Some(act) = act {
            self.add(act, &[path]);
        }
        if self.is_elsewhere {
            return self.file(path, writes && !deletes, kind, folders);
        }
        let reach = |folder: &String| self.base.reach(path, folder);
        let reaches: Vec<Reach> = folders.iter().map(reach).collect();
        if word.begins_uncertain {
            // An uncertain path may lead anywhere, but the visible default of a variable may lead outside.
            if [":-/", ":-~", "-/"]
                .iter()
                .any(|default| path.starts_with("${") && path.contains(default))
            {
                self.add(Act::Outside, &[path]);
            }
        } else if reaches.contains(&Reach::Outside) {
            let shown = match folders {
                [folder]
                    if folder != self.base.folder()
                        && !path.starts_with(['/', '~'])
                        && reaches.len() == 1 =>
                {
                    let whole = normal(path, folder);
                    if whole.contains('\u{1}') {
                        path.to_owned()
                    } else {
                        whole
                    }
                }
                _ => path.to_owned(),
            };
            self.add(Act::Outside, &[&shown]);
        } else if reaches.contains(&Reach::Unknown) || reaches.is_empty() {
            self.unknown(path);
        }
        self.file(path, writes && !deletes, kind, folders);
    }

    /// Judges a file by its name.
    fn file(&mut self, path: &str, writes: bool, kind: WordKind, folders: &[String]) {
        let files = &lists().files;
        let whole = folders
            .first()
            .map_or_else(|| path.to_owned(), |folder| normal(path, folder));
        let is = |list: &[String]| is_listed(path, list) || is_listed(&whole, list);
        if writes {
            if is(&files.run) {
                self.add(Act::Plant, &[path]);
            } else if is(&files.build) {
                self.add(Act::BuildFile, &[path]);
            } else if is(&files.secrets) && !is(&files.not_secrets)
                || is_hidden(path) && !is(&files.not_secrets)
            {
                // A name that begins with a dot may be a settings file of any program.
                self.unknown(path);
            }
        }
        if matches!(
            kind,
            WordKind::Read | WordKind::Upload | WordKind::From | WordKind::Move
        ) && is(&files.secrets)
            && !is(&files.not_secrets)
        {
            self.add(Act::Secrets, &[path]);
        }
    }

    /// Returns the report.
    pub(crate) fn finish(self) -> CommandReport {
        let mut findings = findings(self.found);
        findings.sort_by_key(|finding| (finding.act.rank(), finding.act));
        CommandReport {
            findings,
            parts: self.parts,
            unknown: self.unknown,
            changes_files: self.changes_files,
        }
    }
}

/// The findings of the part around the current one.
#[derive(Debug)]
pub(crate) struct OuterPart {
    part: Vec<(Act, Vec<String>)>,
    unknown: Vec<String>,
    parts: usize,
}

fn is_hidden(path: &str) -> bool {
    path.split('/')
        .any(|part| part.starts_with('.') && part != "." && part != "..")
}

fn note(found: &mut Vec<(Act, Vec<String>)>, act: Act, what: &[&str]) {
    let at = match found.iter().position(|(it, _)| *it == act) {
        Some(at) => at,
        None => {
            found.push((act, Vec::new()));
            found.len() - 1
        }
    };
    if let Some((_, known)) = found.get_mut(at) {
        for what in what.iter().filter(|what| !what.is_empty()) {
            if !known.iter().any(|it| it == what) {
                known.push((*what).to_owned());
            }
        }
    }
}

fn findings(found: Vec<(Act, Vec<String>)>) -> Vec<CommandFinding> {
    let finding = |(act, mut what): (Act, Vec<String>)| {
        let more = what.len().saturating_sub(MOST_NAMED);
        what.truncate(MOST_NAMED);
        CommandFinding {
            act,
            targets: what,
            more,
        }
    };
    found.into_iter().map(finding).collect()
}

/// Judges a file that a tool reads, edits or deletes without a command.
pub fn touches(path: &str, touch: FileAccess, place: &Folders) -> CommandReport {
    let mut collector = Collector::new(place);
    let folders = [collector.start().to_owned()];
    let kind = match touch {
        FileAccess::Read => WordKind::Read,
        // The question already says that the file is edited; only the consequences are reported.
        FileAccess::Edit => WordKind::Make,
        FileAccess::Delete => WordKind::Delete,
    };
    collector.path(kind, &Value::certain(path), &folders);
    collector.finish()
}
