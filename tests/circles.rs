//! Checks that no files of a room import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::architecture::{below, code, is_test, place_of, sources};

/// The rooms in which every file can be read after those that it imports.
const ROOMS: &[&str] = &[
    "announce",
    "app",
    "demo",
    "inspect",
    "link",
    "producer",
    "session",
    "transport",
];

/// The place of a file in its room: `["questions", "shown"]`; a folder itself is `["questions"]`, the room's own file
/// nothing.
pub(super) type Module = Vec<String>;

/// Returns the files of a room with their code.
pub(super) fn files(room: &str) -> BTreeMap<Module, String> {
    let place = place_of(room);
    let own = place.join(format!("{room}.rs"));
    let mut paths: Vec<PathBuf> = own.exists().then_some(own).into_iter().collect();
    sources(&place.join(room), &mut paths);
    paths
        .iter()
        .filter(|path| !is_test(path))
        .map(|path| (module(path), code(path)))
        .collect()
}

fn module(path: &Path) -> Module {
    let below = below(path).with_extension("");
    let parts = below.components().skip(1);
    let parts = parts.map(|part| part.as_os_str().to_string_lossy().into_owned());
    parts.filter(|part| part != "mod").collect()
}

/// Takes the groups of a `use` apart: `a::{b, c::{d, e}}` names three.
fn expand(text: &str) -> Vec<String> {
    let text = text.trim();
    let Some((before, rest)) = text.split_once('{') else {
        let name = text.split(" as ").next().unwrap();
        return vec![name.trim().to_owned()];
    };
    let inner = rest.trim_end().strip_suffix('}').unwrap();
    let (mut depth, mut item, mut found) = (0, String::new(), Vec::new());
    for c in inner.chars().chain([',']) {
        match c {
            ',' if depth == 0 => {
                let item = std::mem::take(&mut item);
                if !item.trim().is_empty() {
                    let inner = expand(&item).into_iter();
                    found.extend(inner.map(|inner| format!("{}{inner}", before.trim())));
                }
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        item.push(c);
    }
    found
}

/// Returns what a file imports from its room: the paths below the room, the name last.
fn imports(room: &str, from: &Module, code: &str, known: &BTreeSet<Module>) -> Vec<Module> {
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let line = code[..at].rsplit('\n').next().unwrap().trim();
        if line.is_empty() || line.starts_with("pub") && !line.contains(';') {
            paths.extend(expand(code[at + 4..].split(';').next().unwrap()));
        }
    }
    // A path in the middle of the code is an import, too.
    for root in [format!("crate::{room}::"), "super::".to_owned()] {
        for (at, _) in code.match_indices(&root) {
            let path: String = code[at..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || matches!(c, ':' | '_'))
                .collect();
            // What a group names is in its braces, which were read above.
            if !path.ends_with("::") {
                paths.push(path);
            }
        }
    }
    let below = |path: &String| {
        let mut parts: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).collect();
        let mut base = from.clone();
        if parts.starts_with(&["crate", room]) {
            base.clear();
            parts.drain(..2);
        } else if parts.first() == Some(&"super") {
            while parts.first() == Some(&"super") {
                base.pop()?;
                parts.remove(0);
            }
        } else {
            let mut inner = base.clone();
            inner.push((*parts.first()?).to_owned());
            if !known.contains(&inner) {
                return None;
            }
        }
        base.extend(parts.into_iter().map(str::to_owned));
        Some(base)
    };
    paths.iter().filter_map(below).collect()
}

/// Returns which file imports which; what a folder's own file only re-exports counts as imported from its origin.
pub(super) fn graph(
    room: &str,
    files: &BTreeMap<Module, String>,
) -> BTreeMap<Module, BTreeSet<Module>> {
    let known: BTreeSet<Module> = files.keys().cloned().collect();
    let mut handed_on: BTreeMap<Module, Module> = BTreeMap::new();
    for (module, code) in files {
        for path in imports(room, module, code, &known) {
            if let Some(name) = path.last().filter(|_| path.starts_with(module)) {
                let mut at = module.clone();
                at.push(name.clone());
                handed_on.insert(at, path);
            }
        }
    }
    let home = |mut path: Module| {
        while !known.contains(&path) {
            match handed_on.get(&path).filter(|at| **at != path) {
                Some(at) => path.clone_from(at),
                None => {
                    path.pop();
                }
            }
        }
        path
    };
    let of = |(from, code): (&Module, &String)| {
        let to = imports(room, from, code, &known).into_iter().map(home);
        (from.clone(), to.filter(|to| to != from).collect())
    };
    files.iter().map(of).collect()
}

/// Returns everything that can be reached from itself.
pub(super) fn in_circles<T: Ord + Clone>(graph: &BTreeMap<T, BTreeSet<T>>) -> BTreeSet<T> {
    let reaches_itself = |start: &T| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&T> = graph.get(start).into_iter().flatten().collect();
        while let Some(at) = open.pop() {
            if at == start {
                return true;
            }
            if seen.insert(at) {
                open.extend(graph.get(at).into_iter().flatten());
            }
        }
        false
    };
    let nodes = graph.keys();
    nodes.filter(|node| reaches_itself(node)).cloned().collect()
}

#[test]
fn no_files_of_a_room_import_each_other_in_a_circle() {
    for room in ROOMS {
        let files = files(room);
        let graph = graph(room, &files);
        let imports: usize = graph.values().map(BTreeSet::len).sum();
        assert!(
            imports >= files.len() - 1,
            "{room}: only {imports} imports were found"
        );
        let circles: Vec<String> = in_circles(&graph)
            .iter()
            .map(|module| module.join("/"))
            .collect();
        assert!(
            circles.is_empty(),
            "{room}: in a circle of imports: {circles:?}"
        );
    }
}

#[test]
fn a_circle_is_found_through_every_kind_of_import() {
    let of = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(path, code)| {
            let module = path.split('/').filter(|it| !it.is_empty());
            (module.map(str::to_owned).collect(), (*code).to_owned())
        });
        in_circles(&graph("app", &files.collect()))
    };
    let app = ("", "use a::{A, B};\nuse c::C;");
    let fine = [
        app,
        ("a", "use crate::session::X;"),
        ("c", "use super::{A};"),
        ("d", "use super::App;\nuse crate::app::c::C;"),
    ];
    assert!(of(&fine).is_empty());
    for (path, code) in [
        ("a", "fn f(c: super::C) {}"),
        ("a", "use crate::app::{\n    c::C,\n};"),
        ("c", "use super::{App, A};"),
    ] {
        let circle = [app, fine[1], fine[2], (path, code)];
        assert!(!of(&circle).is_empty(), "{path}: {code}");
    }
    // A re-export counts as its origin, not as the folder.
    let folder = [
        ("f", "pub use g::G;\nuse h::H;"),
        ("f/g", ""),
        ("f/h", "use super::G;"),
        ("x", "use crate::app::f::G;"),
    ];
    assert!(of(&folder).is_empty());
    let turning = [
        folder[0],
        ("f/g", "use crate::app::x::X;"),
        folder[2],
        folder[3],
    ];
    assert_eq!(of(&turning).len(), 2);
}
