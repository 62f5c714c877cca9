//! Checks the import table of the design: who may use whom.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::PLACES;

/// What each room may import of ours, and which guarded crates.
const TABLE: &[(&str, &[&str], &[&str])] = &[
    ("config", &[], &[]),
    ("link", &[], &[]),
    ("dialect", &["protocol", "link", "config"], &["serde_json"]),
    ("session", &["protocol", "link"], &[]),
    ("announce", &["session", "protocol", "config"], &[]),
    (
        "inspect",
        &["session", "protocol", "dialect"],
        &["serde_json"],
    ),
    (
        "report_words",
        &["announce", "inspect", "protocol", "session"],
        &[],
    ),
    ("keys", &["config"], &["crossterm"]),
    (
        "app",
        &[
            "announce", "session", "protocol", "dialect", "link", "keys", "config",
        ],
        &["crossterm"],
    ),
    (
        "bridge",
        &["app", "session", "protocol", "dialect", "link", "config"],
        &["serde_json"],
    ),
    (
        "pane",
        &["app", "announce", "session", "protocol", "keys", "config"],
        &["ratatui"],
    ),
    (
        "linear",
        &["app", "announce", "session", "protocol", "keys", "config"],
        &["serde_json"],
    ),
    (
        "transport",
        &["broker", "link", "config", "platform"],
        &[
            "tokio",
            "reqwest",
            "serde_json",
            "eventsource_client",
            "hyper",
        ],
    ),
    (
        "broker",
        &["link", "platform", "transport"],
        &["tokio", "reqwest", "serde_json"],
    ),
    ("platform", &["keys"], &["tokio", "crossterm"]),
    ("hooks", &["config", "platform"], &["serde_json"]),
    ("mcp", &["hooks"], &["serde_json"]),
    ("proxy", &["platform"], &["serde_json", "tokio"]),
    (
        "voice",
        &["config", "announce", "platform"],
        &["tokio", "serde_json"],
    ),
    (
        "producer",
        &["protocol", "platform"],
        &["tokio", "serde_json", "hyper"],
    ),
    ("demo", &["producer"], &["tokio", "serde_json"]),
    (
        "runtime",
        &[
            "announce",
            "app",
            "bridge",
            "broker",
            "cli",
            "config",
            "demo",
            "dialect",
            "hooks",
            "inspect",
            "keys",
            "linear",
            "link",
            "mcp",
            "pane",
            "platform",
            "producer",
            "protocol",
            "proxy",
            "session",
            "setup",
            "transport",
            "voice",
        ],
        &["tokio", "ratatui", "crossterm", "reqwest"],
    ),
    (
        "doctor",
        &[
            "announce",
            "broker",
            "config",
            "dialect",
            "link",
            "platform",
            "runtime",
            "transport",
            "voice",
        ],
        &["tokio", "serde_json", "crossterm"],
    ),
    ("bench", &["announce", "platform"], &["tokio", "serde_json"]),
    ("cli", &["app", "config"], &[]),
    ("guide", &["announce", "app", "cli", "config", "keys"], &[]),
    ("setup", &["announce", "config", "keys"], &[]),
    (
        "main",
        &[
            "app", "bench", "cli", "doctor", "guide", "inspect", "runtime",
        ],
        &["tokio"],
    ),
];

/// Crates that only some rooms may touch.
const GUARDED: &[&str] = &[
    "tokio",
    "reqwest",
    "serde_json",
    "ratatui",
    "crossterm",
    "eventsource_client",
    "hyper",
];

/// What a pure room must not read: the clock, the environment, the disk, randomness.
const PURE: &[&str] = &[
    "link", "dialect", "session", "announce", "inspect", "keys", "app", "config", "guide", "setup",
];
const IMPURE: &[&str] = &[
    "Instant::now",
    "SystemTime",
    "Timestamp::now",
    "Zoned::now",
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "getrandom",
    "println!",
    "eprintln!",
];

/// The only items that one room may take from another, if the table admits it just for them.
const ONLY: &[(&str, &str, &[&str])] = &[("session", "link", &["LinkId"])];

pub(super) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

/// Returns the sources of all rooms.
fn all_sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for place in PLACES {
        sources(Path::new(place), &mut files);
    }
    files
}

/// Returns the part of a path below the sources that it is in.
pub(super) fn below(path: &Path) -> &Path {
    let below = PLACES
        .iter()
        .find_map(|place| path.strip_prefix(place).ok());
    below.unwrap()
}

/// Returns the place of a room: the folder of its files, without it the place of its own file.
pub(super) fn place_of(room: &str) -> PathBuf {
    let there = |place: &&&str| {
        let folder = Path::new(place).join(room);
        folder.is_dir() || folder.with_extension("rs").exists()
    };
    let place = PLACES.iter().find(there);
    Path::new(place.unwrap_or_else(|| panic!("no room is called {room}"))).to_owned()
}

/// Returns the room that a file belongs to: a crate of its own, or the first part of its path.
fn room(path: &Path) -> String {
    if path.starts_with("crates/hearken-dialects") {
        return "dialect".to_owned();
    }
    let first = below(path).components().next().unwrap().as_os_str();
    first.to_string_lossy().trim_end_matches(".rs").to_owned()
}

pub(super) fn is_test(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.ends_with("tests.rs") || text.contains("tests/")
}

/// Returns the code of a file without comments, strings of documentation and its test module.
pub(super) fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.replace("#[cfg(test)]\n#[cfg(unix)]\n", "#[cfg(test)]\n");
    let text = text
        .split("\n#[cfg(test)]\n#[allow")
        .next()
        .unwrap()
        .split("\n#[cfg(test)]\nmod tests {")
        .next()
        .unwrap();
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Finds every first segment after `crate::` (or `hearken::` in main), in `use` lines and in paths,
/// grouped imports included.
fn own_imports(code: &str) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for root in ["crate::", "hearken::"] {
        for (at, _) in code.match_indices(root) {
            let rest = &code[at + root.len()..];
            if let Some(inner) = rest.strip_prefix('{') {
                let mut depth = 1;
                let mut item = String::new();
                for c in inner.chars() {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 || (depth == 1 && c == ',') {
                        found.insert(split(item.trim()));
                        item.clear();
                    } else {
                        item.push(c);
                    }
                    if depth == 0 {
                        break;
                    }
                }
            } else {
                let end = rest
                    .find([';', '\n', '(', ')', '<', '>', ',', ' ', '!'])
                    .unwrap_or(rest.len());
                let path = if rest[..end].ends_with("::{") || rest[..end].contains('{') {
                    rest.split(';').next().unwrap()
                } else {
                    &rest[..end]
                };
                found.insert(split(path));
            }
        }
    }
    found.retain(|(first, _)| !first.is_empty());
    found
}

fn split(path: &str) -> (String, String) {
    let (first, rest) = path.split_once("::").unwrap_or((path, ""));
    (first.trim().to_owned(), rest.trim().to_owned())
}

/// Lists every import that the table does not allow.
fn violations(path: &Path, room: &str, code: &str) -> Vec<String> {
    let Some((_, own, crates)) = TABLE.iter().find(|(name, _, _)| *name == room) else {
        return vec![format!(
            "{}: the room {room} is not in the table",
            path.display()
        )];
    };
    let mut found = Vec::new();
    for (first, rest) in own_imports(code) {
        let known = TABLE.iter().any(|(name, _, _)| *name == first);
        if known && first != room && !own.contains(&first.as_str()) {
            found.push(format!("{}: {room} must not use {first}", path.display()));
        }
        let only = ONLY.iter().find(|(by, of, _)| *by == room && *of == first);
        if let Some((_, _, allowed)) = only {
            let names: Vec<&str> = rest
                .split([',', '{', '}', ':', ' ', '\n'])
                .filter(|name| !name.is_empty())
                .collect();
            if !names.iter().all(|name| {
                allowed.contains(name)
                    || name.chars().next().is_some_and(char::is_uppercase) && rest.contains("::")
            }) {
                found.push(format!(
                    "{}: {room} may use only {} of {first}, not {rest}",
                    path.display(),
                    allowed.join(", ")
                ));
            }
        }
    }
    for name in GUARDED {
        let used = code.contains(&format!("{name}::")) || code.contains(&format!("use {name};"));
        if used && !crates.contains(name) {
            found.push(format!(
                "{}: {room} must not use the crate {name}",
                path.display()
            ));
        }
    }
    if PURE.contains(&room) {
        for word in IMPURE {
            if code.contains(word) {
                found.push(format!(
                    "{}: {room} is pure and must not use {word}",
                    path.display()
                ));
            }
        }
    }
    found
}

#[test]
fn every_room_imports_only_what_the_design_allows() {
    let files = all_sources();
    let mut found = Vec::new();
    let mut seen = 0;
    for path in files.iter().filter(|path| !is_test(path)) {
        let room = room(path);
        if room == "lib" {
            continue;
        }
        seen += 1;
        found.extend(violations(path, &room, &code(path)));
    }
    assert!(seen > 40, "only {seen} files were looked at");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What every dialect may import: the kit, and what a bridge and its watchers say.
const SHARED: &[&str] = &["kit", "fleet"];

/// What dialects share is in the kit: a dialect that imports another can't be changed or removed alone.
#[test]
fn no_dialect_imports_another_and_the_kit_imports_none() {
    let root = Path::new("crates/hearken-dialects/src");
    let folders: Vec<String> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "tests")
        .collect();
    assert!(folders.contains(&"kit".to_owned()) && folders.len() > 9);
    for folder in &folders {
        let mut files = Vec::new();
        sources(&root.join(folder), &mut files);
        for path in files {
            let imports = own_imports(&code(&path));
            let found = imports.iter().find(|(first, _)| {
                first != folder && !SHARED.contains(&first.as_str()) && folders.contains(first)
            });
            assert!(found.is_none(), "{} imports {found:?}", path.display());
        }
    }
}

/// What only the room `platform` may contain: tests for a system, and what only one system has.
const OF_A_SYSTEM: &[&str] = &[
    "cfg(unix",
    "cfg(windows",
    "cfg(not(unix",
    "cfg(not(windows",
    "cfg!(unix",
    "cfg!(windows",
    "std::os::",
    "rustix",
    "win32job",
    "windows_sys",
    "crossterm_winapi",
    "signal::unix",
    "signal::windows",
    "net::unix",
    "net::Unix",
    "process_group(",
    "creation_flags(",
];

/// Finds code for a particular system.
fn of_a_system(code: &str) -> Vec<&'static str> {
    let said = OF_A_SYSTEM.iter().filter(|word| code.contains(*word));
    said.copied().collect()
}

#[test]
fn one_room_alone_knows_which_system_it_is_on() {
    let files = all_sources();
    let mut seen = 0;
    for path in files.iter().filter(|path| !is_test(path)) {
        let found = of_a_system(&code(path));
        if room(path) == "platform" {
            seen += found.len();
        } else {
            assert!(found.is_empty(), "{} says {found:?}", path.display());
        }
    }
    assert!(seen > 10, "the room itself is read");
    assert_eq!(of_a_system("#[cfg(unix)]"), ["cfg(unix"]);
    assert_eq!(of_a_system("use tokio::net::UnixStream;"), ["net::Unix"]);
}

/// The one file that may contain `unsafe`, and what allows it.
const UNSAFE: &str = "crates/hearken-io/src/platform/windows/native.rs";

#[test]
fn one_file_alone_may_be_unsafe() {
    let is_unsafe = |code: &str| {
        let words = [
            "unsafe {",
            "unsafe fn",
            "unsafe impl",
            "unsafe extern",
            "unsafe trait",
        ];
        words.iter().any(|word| code.contains(word)) || code.contains("unsafe_code")
    };
    assert!(is_unsafe("#![allow(unsafe_code)]") && is_unsafe("let x = unsafe { y() };"));
    for tree in ["src", "crates", "tests", "benches"] {
        let mut files = Vec::new();
        sources(Path::new(tree), &mut files);
        for path in &files {
            // This file mentions it.
            if path.ends_with("architecture.rs") {
                continue;
            }
            let found = is_unsafe(&code(path));
            assert_eq!(found, path == Path::new(UNSAFE), "{}", path.display());
        }
    }
    let settings = std::fs::read_to_string("Cargo.toml").unwrap();
    assert!(settings.contains("unsafe_code = \"deny\""));
}

/// A release build that panics leaves its memory in a file, unless it ends by an exit: whatever the command is.
#[test]
fn how_a_panic_ends_is_settled_before_anything_can() {
    let program = code(Path::new("src/main.rs"));
    let (_, begins) = program.split_once("fn main() -> ExitCode {").unwrap();
    assert!(begins.trim_start().starts_with("runtime::end_on_panic();"));
}

/// The program words phrases by `announce`; what finds them in its words is for tests.
#[test]
fn only_tests_depend_on_the_crate_that_finds_phrases() {
    let mut manifests = vec![PathBuf::from("Cargo.toml")];
    let crates = fs::read_dir("crates").unwrap();
    manifests.extend(crates.map(|entry| entry.unwrap().path().join("Cargo.toml")));
    let mut uses = 0;
    for path in manifests {
        let manifest = fs::read_to_string(&path).unwrap();
        for section in manifest.split("\n[").skip(1) {
            let is_there = section.contains("\nhearken-wording");
            let is_allowed = ["dev-dependencies]", "workspace.dependencies]"]
                .iter()
                .any(|name| section.starts_with(name));
            assert!(!is_there || is_allowed, "{}: {section}", path.display());
            uses += usize::from(is_there);
        }
    }
    assert!(uses > 1, "{uses}");
}

/// Each system's room has the same files, apart from the one with `unsafe`.
#[test]
fn each_system_has_the_same_files() {
    let names = |system: &str| {
        let mut files = Vec::new();
        sources(
            &place_of("platform").join("platform").join(system),
            &mut files,
        );
        let names = files
            .iter()
            .map(|path| path.file_name().unwrap().to_owned());
        names.collect::<BTreeSet<_>>()
    };
    let mut windows = names("windows");
    assert!(names("unix").len() > 5);
    assert!(windows.remove(Path::new(UNSAFE).file_name().unwrap()));
    assert_eq!(names("unix"), windows);
}

/// The rooms that know AAEP and no other protocol, and the names that must not appear in their
/// code.
const GENERIC: &[&str] = &["app", "session", "announce", "pane", "linear", "keys"];
const FOREIGN: &[&str] = &[
    "claude",
    "codex",
    "\"acp",
    "\"asp",
    "\"sage",
    "\"opencode",
    "\"a2a",
    "\"agui",
];

/// Finds the names of other protocols in code.
fn foreign_names(code: &str) -> Vec<&'static str> {
    let code = code.to_lowercase();
    let named = FOREIGN.iter().filter(|name| code.contains(*name));
    named.copied().collect()
}

#[test]
fn the_rooms_that_are_for_all_name_no_protocol_but_aaep() {
    let files = all_sources();
    let generic = |path: &&PathBuf| GENERIC.contains(&room(path).as_str());
    for path in files.iter().filter(|path| !is_test(path)).filter(generic) {
        let found = foreign_names(&code(path));
        assert!(found.is_empty(), "{} names {found:?}", path.display());
    }
    assert_eq!(foreign_names("say(\"claude.begins\")"), ["claude"]);
}

#[test]
fn a_forbidden_use_is_found() {
    for (room, line) in [
        ("session", "use crate::announce::Kind;"),
        ("keys", "use crate::{config::Config, session::Session};"),
        ("announce", "use tokio::sync::mpsc;"),
        ("pane", "let x = crate::transport::open(a);"),
        ("app", "use crate::transport::LinkHandle;"),
        ("app", "use crate::voice::Voice;"),
        ("link", "use crate::config::LinkConfig;"),
        ("session", "use crate::link::{LinkEvent, LinkId};"),
        ("app", "let now = std::time::Instant::now();"),
        ("session", "let now = jiff::Timestamp::now();"),
        ("keys", "use crate::app::App;"),
    ] {
        let found = violations(Path::new("src/x.rs"), room, line);
        assert!(!found.is_empty(), "{room}: {line}");
    }
    for (room, line) in [
        ("app", "use crate::link::{Fault, LinkEvent};"),
        ("session", "use crate::link::LinkId;"),
        ("app", "use crate::announce::VoiceEvent;"),
        ("session", "use crate::protocol::{Now, Event};"),
        ("transport", "use tokio::sync::mpsc;"),
    ] {
        assert_eq!(
            violations(Path::new("src/x.rs"), room, line),
            Vec::<String>::new(),
            "{room}: {line}"
        );
    }
}

#[test]
fn no_file_is_longer_than_the_conventions_allow() {
    let mut files = Vec::new();
    for folder in ["src", "crates", "tests", "benches"] {
        sources(Path::new(folder), &mut files);
    }
    assert!(files.len() > 100, "{}", files.len());
    for path in files {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 600, "{} has {lines} lines", path.display());
    }
}
