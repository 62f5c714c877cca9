//! Checks that a name means one thing: no two files share one but by convention, and no type is defined more than
//! twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::architecture::sources;
use crate::support::PLACES;

/// File names that Rust or this project gives a meaning, whatever the folder.
const ANYWHERE: &[&str] = &["lib.rs", "main.rs", "mod.rs", "tests.rs"];

/// Folders of folders that have the same files: one folder per dialect, or per system.
const PARALLEL: &[&str] = &[
    "crates/hearken-dialects/src",
    "crates/hearken-io/src/platform",
];

/// The folders in [`PARALLEL`] that are neither a dialect nor a system.
const NOT_PARALLEL: &[&str] = &["kit", "tests", "strays"];

/// How many types may have one name.
const MOST_TYPES: usize = 2;

fn all_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["src", "crates", "tests", "benches"] {
        sources(Path::new(folder), &mut files);
    }
    files
}

/// Returns the place of a test's file: the folder in which what it tests is, if there is one.
fn tested_in(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let is_tests = |at: &&Path| at.file_name().is_some_and(|name| name == "tests");
    folder
        .ancestors()
        .find(is_tests)?
        .parent()
        .map(Path::to_owned)
}

/// Returns what a file shares its name with by convention, or the file itself: the same file of each dialect and of
/// each system, and for a test the file that it tests.
fn family(path: &Path, all: &[PathBuf]) -> PathBuf {
    for parallel in PARALLEL {
        let Ok(below) = path.strip_prefix(parallel) else {
            continue;
        };
        let first = below.components().next().unwrap().as_os_str();
        let is_folder = below.components().count() > 1;
        if is_folder && !NOT_PARALLEL.iter().any(|name| first == *name) {
            return PathBuf::from(parallel);
        }
    }
    let Some(place) = tested_in(path) else {
        return path.to_owned();
    };
    let is_whole_run = place.as_os_str().is_empty();
    let is_near = |other: &Path| match is_whole_run {
        // The test of whole runs may have the name of a room.
        true => PLACES
            .iter()
            .any(|place| other.parent() == Some(Path::new(place))),
        false => other.starts_with(&place),
    };
    let is_tested = |other: &&PathBuf| {
        is_near(other) && other.file_name() == path.file_name() && tested_in(other).is_none()
    };
    if is_whole_run && path.components().count() > 2 {
        return path.to_owned();
    }
    let tested = all.iter().find(is_tested);
    tested.map_or_else(|| path.to_owned(), |tested| family(tested, &[]))
}

/// Returns the names that files share without a convention, each with its files.
fn shared_names(all: &[PathBuf]) -> Vec<String> {
    let mut families: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for path in all {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !ANYWHERE.contains(&name.as_str()) {
            families.entry(name).or_default().insert(family(path, all));
        }
    }
    families.retain(|_, files| files.len() > 1);
    let shared = families
        .iter()
        .map(|(name, files)| format!("{name}: {files:?}"));
    shared.collect()
}

/// Returns the types that a file defines. A type in an `impl` or a trait is named by the trait.
fn types(code: &str) -> Vec<&str> {
    let lines: Vec<&str> = code.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let is_associated = |at: usize| {
        let outer = lines[..at].iter().rev().find(|line| {
            let text = line.trim();
            !text.is_empty() && text != "{" && text != "where" && depth(line) < depth(lines[at])
        });
        outer.is_some_and(|line| {
            let words = line
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty());
            words.take(3).any(|word| word == "impl" || word == "trait")
        })
    };
    let defined = |(at, line): (usize, &&'_ str)| {
        let mut text = lines[at].trim_start();
        if let Some(rest) = text.strip_prefix("pub") {
            text = match rest.strip_prefix('(') {
                Some(rest) => rest.split_once(") ")?.1,
                None => rest.trim_start(),
            };
        }
        let (kind, rest) = text.split_once(' ')?;
        let is_type = match kind {
            "struct" | "enum" | "trait" | "union" => true,
            "type" => depth(line) == 0 || !is_associated(at),
            _ => false,
        };
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = &rest[..end.unwrap_or(rest.len())];
        (is_type && name.starts_with(char::is_uppercase)).then_some(name)
    };
    lines.iter().enumerate().filter_map(defined).collect()
}

/// Returns the types that are defined too often, each with the files that define it.
fn repeated_types<'a>(codes: &'a [(PathBuf, String)]) -> Vec<String> {
    let mut defined: BTreeMap<&'a str, Vec<&Path>> = BTreeMap::new();
    for (path, code) in codes {
        for name in types(code) {
            defined.entry(name).or_default().push(path);
        }
    }
    defined.retain(|_, files| files.len() > MOST_TYPES);
    let repeated = defined
        .iter()
        .map(|(name, files)| format!("{name}: {files:?}"));
    repeated.collect()
}

#[test]
fn no_two_files_share_a_name_but_by_convention() {
    let files = all_files();
    assert!(files.len() > 1000, "only {} files were found", files.len());
    let shared = shared_names(&files);
    assert!(shared.is_empty(), "{}", shared.join("\n"));
}

#[test]
fn no_type_is_defined_more_than_twice() {
    let read = |path: PathBuf| {
        let code = fs::read_to_string(&path).unwrap();
        (path, code)
    };
    let codes: Vec<(PathBuf, String)> = all_files().into_iter().map(read).collect();
    let found: usize = codes.iter().map(|(_, code)| types(code).len()).sum();
    assert!(found > 1500, "only {found} types were found");
    let repeated = repeated_types(&codes);
    assert!(repeated.is_empty(), "{}", repeated.join("\n"));
}

#[test]
fn a_shared_name_is_found() {
    let shared = |paths: &[&str]| {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        shared_names(&paths).len()
    };
    for apart in [
        ["src/cli/mod.rs", "src/doctor/mod.rs"],
        [
            "crates/hearken-dialects/src/acp/messages.rs",
            "crates/hearken-dialects/src/a2a/tests/messages.rs",
        ],
        [
            "crates/hearken-io/src/platform/unix/files.rs",
            "crates/hearken-io/src/platform/windows/files.rs",
        ],
        ["src/demo/gates.rs", "src/demo/tests/gates.rs"],
        ["src/cli.rs", "tests/cli.rs"],
    ] {
        assert_eq!(shared(&apart), 0, "{apart:?}");
    }
    for same in [
        ["src/demo/gates.rs", "src/doctor/gates.rs"],
        ["src/demo/gates.rs", "crates/aaep/src/tests/gates.rs"],
        ["src/demo/tests/gates.rs", "src/doctor/tests/gates.rs"],
        ["tests/faults/gates.rs", "tests/peers/gates.rs"],
        [
            "crates/hearken-dialects/src/acp/messages.rs",
            "crates/hearken-dialects/src/kit/messages.rs",
        ],
    ] {
        assert_eq!(shared(&same), 1, "{same:?}");
    }
}

#[test]
fn a_repeated_type_is_found() {
    let code = "pub(super) struct A<'a>(&'a str);\n    enum B {\ntype C = u8;\nimpl X\nwhere\n    T: Y,\n{\n    type D = u8;\n}\nfn f() {\n    type E = u8;\n}\n/// struct G\npub trait H {\n    type I;\n}\n";
    assert_eq!(types(code), ["A", "B", "C", "E", "H"]);
    let code = |n: usize| (PathBuf::from(format!("src/{n}.rs")), code.to_owned());
    assert!(repeated_types(&[code(0), code(1)]).is_empty());
    assert_eq!(repeated_types(&[code(0), code(1), code(2)]).len(), 5);
}
