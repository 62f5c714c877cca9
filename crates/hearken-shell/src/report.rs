//! What is reported of a command, and how it is collected.

use crate::act::{Act, Rank};
use crate::lists::lists;
use crate::place::{Base, Reach, is_listed, normal};
use crate::program::Kind;
use crate::word::Value;

/// How many things one finding names; more are counted.
const MOST_NAMED: usize = 16;
/// How many parts of a command are reported.
const MOST_PARTS: usize = 64;
/// How many reasons why a command is not known are kept.
const MOST_UNKNOWN: usize = 16;

/// One thing that a command can do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// What it does.
    pub act: Act,
    /// What it does that to, as it is written in the command; empty where nothing is named.
    pub what: Vec<String>,
    /// How many more it does that to.
    pub more: usize,
}

/// One part of a command, for whoever wants it explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The part as it is written.
    pub text: String,
    /// What it can do.
    pub findings: Vec<Finding>,
    /// What of it is not known.
    pub unknown: Vec<String>,
}

/// What was found of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// What it can do, gravest first.
    pub findings: Vec<Finding>,
    /// Its parts, in their order.
    pub parts: Vec<Part>,
    /// What of it is not known, as it is written; empty where all of it was read.
    pub unknown: Vec<String>,
}

impl Reading {
    /// Tells whether all of it was read, and nothing graver was found than a rank.
    pub fn is_cleared(&self, but: Option<Rank>) -> bool {
        let allowed = |finding: &Finding| Some(finding.act.rank()) == but;
        self.unknown.is_empty() && self.findings.iter().all(allowed)
    }
}

/// What is done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// It is read.
    Read,
    /// It is changed or made.
    Edit,
    /// It is deleted.
    Delete,
}

/// Where a command begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The working directory as an absolute path; absent where nobody named it. What lies outside is judged by it.
    pub folder: Option<String>,
    /// The folder in which the command begins, where that is another one.
    pub start: Option<String>,
}

/// Collects what is found.
#[derive(Debug)]
pub(crate) struct Collector {
    base: Base,
    start: String,
    found: Vec<(Act, Vec<String>)>,
    unknown: Vec<String>,
    parts: Vec<Part>,
    /// What is found of the part that is read.
    part: Vec<(Act, Vec<String>)>,
    part_unknown: Vec<String>,
}

impl Collector {
    pub(crate) fn new(place: &Place) -> Self {
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
        }
    }

    /// Returns the folder in which the command begins.
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

    pub(crate) fn unknown(&mut self, what: &str) {
        let what: String = what.trim().chars().take(80).collect();
        if what.is_empty() {
            return;
        }
        for list in [&mut self.unknown, &mut self.part_unknown] {
            if !list.contains(&what) && list.len() < MOST_UNKNOWN {
                list.push(what.clone());
            }
        }
    }

    /// Tells whether an act was found in the part that is read.
    pub(crate) fn part_does(&self, act: Act) -> bool {
        self.part.iter().any(|(it, _)| *it == act)
    }

    /// Begins a part; gives what was found of the part around it.
    pub(crate) fn begin_part(&mut self) -> Around {
        Around {
            part: std::mem::take(&mut self.part),
            unknown: std::mem::take(&mut self.part_unknown),
            parts: self.parts.len(),
        }
    }

    /// Ends a part.
    pub(crate) fn end_part(&mut self, text: &str, around: Around) {
        let found = std::mem::replace(&mut self.part, around.part);
        let unknown = std::mem::replace(&mut self.part_unknown, around.unknown);
        // What only holds other parts is explained by them.
        let holds_others = self.parts.len() > around.parts;
        let says_nothing = found.is_empty() && unknown.is_empty();
        if self.parts.len() < MOST_PARTS && !(holds_others && says_nothing) {
            self.parts.push(Part {
                text: text.to_owned(),
                findings: findings(found),
                unknown,
            });
        }
    }

    /// Judges a path, from each folder in which the command may be by now.
    pub(crate) fn path(&mut self, kind: Kind, word: &Value, folders: &[String]) {
        let act = match kind {
            Kind::Edit | Kind::Append => Some(Act::Edit),
            Kind::Replace => Some(Act::Replace),
            Kind::Move => Some(Act::Move),
            Kind::Delete => Some(Act::Delete),
            Kind::Tree => Some(Act::Tree),
            Kind::Permit => Some(Act::Permit),
            Kind::Unpack => Some(Act::Unpack),
            _ => None,
        };
        let deletes = matches!(kind, Kind::Delete | Kind::Tree);
        if word.stands_for_many {
            match (deletes, act) {
                (true, _) => self.add(Act::DeleteFound, &[]),
                (false, Some(act)) => self.add(act, &[]),
                (false, None) => {}
            }
            if !word.is_certain {
                // The command does not show which files those are.
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
        // Whatever is written to these devices, nothing is kept or lost; they themselves can be.
        let passes = matches!(
            kind,
            Kind::Read | Kind::Append | Kind::Replace | Kind::Edit | Kind::Make
        );
        let is_harmless = passes && is_listed(path, &lists().files.harmless);
        if is_process || path.is_empty() || path == "-" || is_harmless {
            return;
        }
        if !word.is_certain {
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
        let writes = act.is_some() || kind == Kind::Make;
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
        let reach = |folder: &String| self.base.reach(path, folder);
        let reaches: Vec<Reach> = folders.iter().map(reach).collect();
        if word.begins_uncertain {
            // It may lead anywhere; where a variable has a default, that can be named.
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
    fn file(&mut self, path: &str, writes: bool, kind: Kind, folders: &[String]) {
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
                // What begins with a dot may be a setting of any program.
                self.unknown(path);
            }
        }
        if matches!(kind, Kind::Read | Kind::Upload | Kind::From | Kind::Move)
            && is(&files.secrets)
            && !is(&files.not_secrets)
        {
            self.add(Act::Secrets, &[path]);
        }
    }

    /// Returns what was found.
    pub(crate) fn finish(self) -> Reading {
        let mut findings = findings(self.found);
        findings.sort_by_key(|finding| (finding.act.rank(), finding.act));
        Reading {
            findings,
            parts: self.parts,
            unknown: self.unknown,
        }
    }
}

/// What was found of the part around another one.
#[derive(Debug)]
pub(crate) struct Around {
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

fn findings(found: Vec<(Act, Vec<String>)>) -> Vec<Finding> {
    let finding = |(act, mut what): (Act, Vec<String>)| {
        let more = what.len().saturating_sub(MOST_NAMED);
        what.truncate(MOST_NAMED);
        Finding { act, what, more }
    };
    found.into_iter().map(finding).collect()
}

/// Judges a file that a tool touches without any command.
pub fn touches(path: &str, touch: Touch, place: &Place) -> Reading {
    let mut collector = Collector::new(place);
    let folders = [collector.start().to_owned()];
    let kind = match touch {
        Touch::Read => Kind::Read,
        // That it is edited is what is asked; only what follows from it is found.
        Touch::Edit => Kind::Make,
        Touch::Delete => Kind::Delete,
    };
    collector.path(kind, &Value::certain(path), &folders);
    collector.finish()
}
