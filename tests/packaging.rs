//! Checks the packages' metadata against Cargo.toml and Cargo.lock.

use std::collections::BTreeSet;
use std::fs;

/// The licences allowed for packages: those that require nothing but their own text with the program.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the value of a line of TOML.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?
        .strip_prefix(" = \"")?
        .strip_suffix('"')
}

/// Returns every package in the lock file except our own, with its version.
fn locked() -> BTreeSet<(String, String)> {
    let lock = read("Cargo.lock");
    let packages = lock.split("[[package]]").skip(1).map(|package| {
        let find = |key| package.lines().find_map(|line| value(line, key)).unwrap();
        (find("name").to_owned(), find("version").to_owned())
    });
    packages.filter(|(name, _)| name != "hearken").collect()
}

/// Returns whether a package's licence lets us use it.
fn may_be_taken(licence: &str) -> bool {
    // No licence expression in use nests deeper than a choice in brackets.
    let every = licence
        .split(" AND ")
        .map(|part| part.trim_matches(['(', ')']));
    let mut every = every.map(|part| part.split(" OR ").any(|one| ALLOWED.contains(&one)));
    every.all(|may| may)
}

#[test]
fn the_licences_of_everything_in_the_lock_are_listed_and_may_be_taken() {
    let list = read("packaging/licences.tsv");
    let rows: Vec<Vec<&str>> = list
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect())
        .collect();
    let mut listed = BTreeSet::new();
    for row in &rows {
        let [name, version, licence, place] = row[..] else {
            panic!("{row:?}");
        };
        assert!(may_be_taken(licence), "{name}: {licence}");
        assert!(
            ["linux", "windows", "linux+windows", "-"].contains(&place),
            "{row:?}"
        );
        listed.insert((name.to_owned(), version.to_owned()));
    }
    assert_eq!(listed.len(), rows.len(), "each once");
    let locked = locked();
    let differ: Vec<_> = locked.symmetric_difference(&listed).collect();
    assert!(
        differ.is_empty(),
        "packaging/describe.py list writes the list anew: {differ:?}"
    );
    assert!(!may_be_taken("GPL-3.0-only") && !may_be_taken("MIT AND GPL-3.0-only"));
    assert!(!may_be_taken("(MIT OR Apache-2.0) AND LGPL-3.0"));
}

#[test]
fn the_version_has_one_place_and_the_changes_are_by_release() {
    let toml = read("Cargo.toml");
    let version = toml
        .lines()
        .find_map(|line| value(line, "version"))
        .unwrap();
    let changes = read("docs/CHANGELOG.md");
    let first = changes.lines().find_map(|line| line.strip_prefix("## "));
    let first = first.unwrap().split([',', ' ']).next();
    assert_eq!(first, Some(version));
    for file in ["make", "check", "describe.py"] {
        let text = read(&format!("packaging/{file}"));
        assert!(!text.contains(&format!("hearken-{version}")), "{file}");
        assert!(!text.contains(&format!("hearken_{version}")), "{file}");
    }
    assert_eq!(env!("CARGO_PKG_VERSION"), version);
}
