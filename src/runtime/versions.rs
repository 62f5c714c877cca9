//! The versions of installed agents, and what keeps a person from the newest ones.
//!
//! Responsibilities: asking programs for their version, and for nothing else; which package a program is from. Not
//! here: what a person is told about it (`doctor`), the table of agents (`dialect`).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use crate::dialect::version_in;
pub(crate) use crate::dialect::{FormerPackage, KnownAgent, TRIED_NODE, major};
use crate::platform::files::{self, open_to_read, to_start};
use crate::platform::processes::{Tree, alone};
use crate::platform::program_places;

use super::agent_commands::{StartCandidate, is_there, located};

/// The program that runs most agents.
const NODE: &str = "node";
/// How long a program may take to say its version: on a busy machine, some take three seconds.
const LIMIT: Duration = Duration::from_secs(10);
/// How many programs are asked concurrently.
const AT_ONCE: usize = 4;
/// The most bytes of an answer that are read.
const MOST_SAID: u64 = 4096;
/// The most bytes of a starter script that are read to find its package.
const MOST_SCRIPT: u64 = 16 * 1024;
/// What makes programs not look for updates while they are asked.
const NO_UPDATE: [&str; 3] = [
    "NO_UPDATE_NOTIFIER",
    "DISABLE_AUTOUPDATER",
    "OPENCODE_DISABLE_AUTOUPDATE",
];

/// A program of a package that another one has replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutdatedPackage {
    /// The old package.
    pub(crate) former: FormerPackage,
    /// The command that installs the new one.
    pub(crate) install: String,
}

/// The installed programs of the known agents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct InstalledAgents {
    /// The versions of the programs that are here; `None` for one that does not say it.
    pub(crate) versions: BTreeMap<String, Option<String>>,
    /// The version of Node.js, if it is here.
    pub(crate) node: Option<String>,
    /// The programs of old packages.
    pub(crate) outdated: Vec<OutdatedPackage>,
}

/// Asks the installed programs of the known agents for their versions.
pub(crate) async fn look(known: &[StartCandidate]) -> InstalledAgents {
    let programs = known.iter().flat_map(|one| one.agent.programs());
    let mut programs: BTreeSet<String> = programs.map(|one| one.program).collect();
    programs.insert(NODE.to_owned());
    programs.retain(|program| is_there(OsStr::new(program)));
    let asked = programs.into_iter().map(|program| async {
        let version = version_of(&program, LIMIT).await;
        (program, version)
    });
    let asked = futures_util::stream::iter(asked).buffered(AT_ONCE);
    let mut versions: BTreeMap<String, Option<String>> = asked.collect().await;
    InstalledAgents {
        node: versions.remove(NODE).flatten(),
        versions,
        outdated: known.iter().flat_map(outdated).collect(),
    }
}

/// Starts a program only to say its version, and ends it if it does anything else.
async fn version_of(program: &str, limit: Duration) -> Option<String> {
    let mut command = Command::new(to_start(OsStr::new(program)));
    if let Some(path) = program_places::path() {
        command.env("PATH", path);
    }
    // The current folder may be somebody else's project, with settings that an agent would read.
    if let Some(home) = files::home().filter(|home| home.is_dir()) {
        command.current_dir(home);
    }
    for variable in NO_UPDATE {
        command.env(variable, "1");
    }
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut child = alone(&mut command).spawn().ok()?;
    let tree = Tree::of(&child);
    let mut said = Vec::new();
    let read = match child.stdout.take() {
        Some(stdout) => {
            let mut stdout = stdout.take(MOST_SAID);
            tokio::time::timeout(limit, stdout.read_to_end(&mut said)).await
        }
        None => return None,
    };
    // Before it is waited for: until then, nothing else has its number.
    if let Some(tree) = tree {
        tree.kill();
    }
    // It was killed, or has ended.
    let _ = tokio::time::timeout(limit, child.wait()).await;
    read.ok()?.ok()?;
    version_in(&String::from_utf8_lossy(&said))
}

/// Returns the old packages whose program would run, or is left, in place of the agent's own.
fn outdated(one: &StartCandidate) -> Vec<OutdatedPackage> {
    let former = one.agent.former.iter().filter(|former| {
        let Some(file) = located(OsStr::new(&former.program)) else {
            return false;
        };
        former.program != one.agent.program() || is_from(&file, &former.package)
    });
    let outdated = former.map(|former| OutdatedPackage {
        former: former.clone(),
        install: one.agent.install.clone(),
    });
    outdated.collect()
}

/// Returns whether npm installed a program with this package: its file is in the package's folder, or is a script that
/// starts one there.
fn is_from(program: &Path, package: &str) -> bool {
    let folder = format!("node_modules/{package}/");
    let names_it = |text: &str| text.replace('\\', "/").contains(&folder);
    let file = program
        .canonicalize()
        .unwrap_or_else(|_| program.to_owned());
    if names_it(&file.to_string_lossy()) {
        return true;
    }
    let mut script = Vec::new();
    let read = open_to_read(&file).and_then(|open| open.take(MOST_SCRIPT).read_to_end(&mut script));
    read.is_ok() && names_it(&String::from_utf8_lossy(&script))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::PathBuf;
    use std::time::Instant;

    use super::*;

    fn program(folder: &Path, name: &str, script: &str) -> PathBuf {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    #[tokio::test]
    async fn a_program_is_asked_for_its_version_and_nothing_it_does_instead_lasts() {
        let place = tempfile::tempdir().unwrap();
        let limit = Duration::from_secs(2);
        let calls = [
            (
                "says",
                "test \"$1\" = --version && echo tool 1.2.3",
                Some("1.2.3"),
            ),
            ("says-elsewhere", "echo 1.2.3 >&2", None),
            ("fails", "exit 3", None),
            ("reads", "cat; echo 4.5.6", Some("4.5.6")),
            ("floods", "yes 1.2.3", Some("1.2.3")),
            ("waits", "sleep 60 & sleep 60", None),
            ("babbles", "printf '\\033[31mno \\377 version\\n'", None),
        ];
        for (name, script, version) in calls {
            let file = program(place.path(), name, script);
            let begun = Instant::now();
            let said = version_of(file.to_str().unwrap(), limit).await;
            assert_eq!(said.as_deref(), version, "{name}");
            assert!(begun.elapsed() < limit * 2, "{name}");
        }
        assert_eq!(version_of("/nowhere/tool", limit).await, None);
    }

    #[test]
    fn the_package_of_a_program_is_known_by_its_place_and_by_its_starter() {
        let place = tempfile::tempdir().unwrap();
        let old = program(
            place.path(),
            "lib/node_modules/@zed-industries/codex-acp/bin/codex-acp.js",
            "",
        );
        let linked = place.path().join("codex-acp");
        symlink(&old, &linked).unwrap();
        assert!(is_from(&linked, "@zed-industries/codex-acp"));
        assert!(!is_from(&linked, "@agentclientprotocol/codex-acp"));
        let starter = program(
            place.path(),
            "starter",
            "node \"%dp0%\\node_modules\\@zed-industries\\codex-acp\\bin\\codex-acp.js\"",
        );
        assert!(is_from(&starter, "@zed-industries/codex-acp"));
        assert!(!is_from(&starter, "@zed-industries/codex"));
        assert!(!is_from(
            &place.path().join("nothing"),
            "@zed-industries/codex-acp"
        ));
    }
}
