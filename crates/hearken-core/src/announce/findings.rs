//! What hearken itself finds out about an action: what its commands and paths can do, and what remains unknown.
//!
//! Responsibilities: which data of a question is judged, and collecting the findings. Not here: reading a command
//! (`hearken_shell`), the words (`announcer`), what follows from a finding (`app`).
//!
//! # Mental model
//! A question is judged by exactly what it asks, never by how its agent describes it. Every command in it is read,
//! every path is judged from the agent's working folder, and whatever could not be read is collected too.
//!
//! # Worked example
//! `rm -rf build && curl https://x.example` deletes build and everything in it, and contacts x.example. If it has an
//! input that the words of the question leave out, that input is listed as unknown.

use hearken_shell::{
    Act, CommandFinding, CommandReport, ExplainedPart, FileAccess, Folders, read, touches,
};

use crate::announce::text::normalise::unmasked;
use crate::protocol::{ActionDetails, AwaitingConfirmation};

/// The names of a command in the context of a question.
const COMMANDS: [&str; 7] = [
    "command",
    "cmd",
    "commandLine",
    "command_line",
    "shell_command",
    "script",
    "bash",
];
/// The names of a folder.
const FOLDERS: [&str; 5] = [
    "cwd",
    "workdir",
    "working_directory",
    "working_dir",
    "directory",
];
/// The names of a path.
const PATHS: [&str; 8] = [
    "path",
    "file_path",
    "filePath",
    "file",
    "filename",
    "source",
    "destination",
    "target",
];

/// What was found about a question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuestionFindings {
    /// What its action can do, gravest first.
    pub findings: Vec<CommandFinding>,
    /// The parts of its commands.
    pub parts: Vec<ExplainedPart>,
    /// What remains unknown, as written; empty if all of it was read.
    pub unknown: Vec<String>,
}

impl QuestionFindings {
    /// Returns whether everything was read and nothing was found, except, if `project` allows it, that the project's
    /// own code is run.
    pub fn is_cleared(&self, project: bool) -> bool {
        let allowed = |finding: &CommandFinding| project && finding.act == Act::Project;
        self.unknown.is_empty() && self.findings.iter().all(allowed)
    }

    fn add(&mut self, reading: CommandReport) {
        for finding in reading.findings {
            match self
                .findings
                .iter_mut()
                .find(|known| known.act == finding.act)
            {
                Some(known) => {
                    for what in finding.targets {
                        if !known.targets.contains(&what) {
                            known.targets.push(what);
                        }
                    }
                    known.more += finding.more;
                }
                None => self.findings.push(finding),
            }
        }
        self.parts.extend(reading.parts);
        for text in reading.unknown {
            if !self.unknown.contains(&text) {
                self.unknown.push(text);
            }
        }
    }
}

/// Judges what a question asks, from the folder in which its agent works, if that is known.
pub fn found(deed: &ActionDetails, folder: Option<&str>) -> QuestionFindings {
    let place = Folders {
        folder: folder.or(deed.folder.as_deref()).map(str::to_owned),
        start: deed.folder.clone(),
    };
    let mut found = QuestionFindings::default();
    for command in &deed.commands {
        found.add(read(command, &place));
        if let Some(plain) = unmasked(command) {
            // A person would take the text for what it looks like.
            found.add(read(&plain, &place));
            found.unknown.push(command.clone());
        }
    }
    let touch = if deed.edits {
        FileAccess::Edit
    } else {
        FileAccess::Read
    };
    for path in deed
        .paths
        .iter()
        .filter(|path| !deed.deletes.contains(path))
    {
        found.add(touches(path, touch, &place));
    }
    for path in &deed.deletes {
        found.add(touches(path, FileAccess::Delete, &place));
    }
    let is_known = deed.edits || !deed.commands.is_empty() || !deed.deletes.is_empty();
    if !is_known {
        found.unknown.push("?".to_owned());
    }
    found.unknown.extend(deed.unsaid.iter().cloned());
    if deed.is_cut {
        found.unknown.push("…".to_owned());
    }
    found
        .findings
        .sort_by_key(|finding| (finding.act.rank(), finding.act));
    found
}

/// Returns whether a call creates, changes or deletes a file, if that can be read.
pub fn changes_files(deed: &ActionDetails) -> bool {
    let place = Folders {
        folder: deed.folder.clone(),
        start: None,
    };
    let by_command = |command: &String| read(command, &place).changes_files;
    deed.edits || !deed.deletes.is_empty() || deed.commands.iter().any(by_command)
}

/// Derives the deed of an AAEP producer's question from its context, whose input names are not standardised;
/// `None` if it contains neither a command nor a folder.
pub fn deed_of(asked: &AwaitingConfirmation) -> Option<ActionDetails> {
    let named = |names: &'static [&'static str]| {
        let all = asked.extra_context.iter();
        all.filter(move |(name, _)| {
            let last = name.rsplit('.').next().unwrap_or_default();
            names.contains(&last)
        })
        .map(|(_, value)| value.clone())
        .filter(|value| !value.trim().is_empty())
    };
    let deed = ActionDetails {
        commands: named(&COMMANDS).collect(),
        folder: named(&FOLDERS).next(),
        paths: named(&PATHS).collect(),
        unsaid: unsaid(asked),
        ..ActionDetails::default()
    };
    (!deed.commands.is_empty() || deed.folder.is_some()).then_some(deed)
}

/// Returns the names of the context entries that the words of a question leave out.
pub fn unsaid(asked: &AwaitingConfirmation) -> Vec<String> {
    let is_said = |value: &str| {
        let value = value.trim();
        value.is_empty()
            || value == asked.action.trim()
            || asked.consequence.as_deref().map(str::trim) == Some(value)
    };
    let unsaid = asked
        .extra_context
        .iter()
        .filter(|(_, value)| !is_said(value));
    unsaid.map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use hearken_shell::Act;

    use super::*;

    fn acts(deed: &ActionDetails) -> Vec<Act> {
        found(deed, Some("/work/a"))
            .findings
            .iter()
            .map(|finding| finding.act)
            .collect()
    }

    fn of(command: &str) -> ActionDetails {
        ActionDetails {
            commands: vec![command.to_owned()],
            ..ActionDetails::default()
        }
    }

    #[test]
    fn every_command_and_every_path_of_a_question_is_judged() {
        let deed = ActionDetails {
            commands: vec!["ls".to_owned(), "rm -rf src".to_owned()],
            paths: vec!["/etc/hosts".to_owned()],
            ..ActionDetails::default()
        };
        assert_eq!(acts(&deed), [Act::Tree, Act::Outside]);
        let deletes = ActionDetails {
            deletes: vec!["a.txt".to_owned()],
            ..ActionDetails::default()
        };
        assert_eq!(acts(&deletes), [Act::Delete]);
    }

    #[test]
    fn what_was_left_unsaid_or_cut_is_never_cleared() {
        assert!(found(&of("ls -la"), Some("/work/a")).is_cleared(false));
        for deed in [
            ActionDetails {
                unsaid: vec!["env".to_owned()],
                ..of("ls -la")
            },
            ActionDetails {
                is_cut: true,
                ..of("ls -la")
            },
            ActionDetails::default(),
            of("purple"),
        ] {
            assert!(!found(&deed, Some("/work/a")).is_cleared(true), "{deed:?}");
        }
        let edits = ActionDetails {
            paths: vec!["src/main.rs".to_owned()],
            edits: true,
            ..ActionDetails::default()
        };
        assert!(found(&edits, Some("/work/a")).is_cleared(false));
    }

    #[test]
    fn a_command_is_judged_in_its_own_folder_and_by_the_agents() {
        let there = ActionDetails {
            folder: Some("/work/b".to_owned()),
            ..of("cat x")
        };
        assert_eq!(acts(&there), [Act::Outside]);
        let inside = ActionDetails {
            folder: Some("/work/a/src".to_owned()),
            ..of("cat ../x")
        };
        assert_eq!(acts(&inside), []);
    }
}
