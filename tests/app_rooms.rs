//! Holds how `app` is made: no circle among its files or its folders, and no field that another file reaches into.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::architecture::{code, is_test, sources};

/// The structs that `App` is made of, by the file or folder that owns each.
const OWNERS: &[&str] = &[
    "answers",
    "doing",
    "face",
    "hands",
    "holding",
    "links",
    "questions",
    "review",
    "run",
    "tuning",
];

/// The place of a file in `app`: `["questions", "shown"]`; the folder itself is `["questions"]`, `App` is nothing.
type Module = Vec<String>;

/// Gives the files of `app` with their code.
fn files() -> BTreeMap<Module, String> {
    let mut paths: Vec<PathBuf> = vec![PathBuf::from("src/app.rs")];
    sources(Path::new("src/app"), &mut paths);
    paths
        .iter()
        .filter(|path| !is_test(path))
        .map(|path| (module(path), code(path)))
        .collect()
}

fn module(path: &Path) -> Module {
    let below = path.strip_prefix("src").unwrap().with_extension("");
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

/// Gives what a file imports of `app`: the paths below `app`, the type's name last.
fn imports(from: &Module, code: &str, known: &BTreeSet<Module>) -> Vec<Module> {
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let line = code[..at].rsplit('\n').next().unwrap().trim();
        if line.is_empty() || line.starts_with("pub") && !line.contains(';') {
            paths.extend(expand(code[at + 4..].split(';').next().unwrap()));
        }
    }
    // A path in the middle of the code is an import, too.
    for root in ["crate::app::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let path: String = code[at..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || matches!(c, ':' | '_'))
                .collect();
            // What a group names stands in its braces, which were read above.
            if !path.ends_with("::") {
                paths.push(path);
            }
        }
    }
    let below = |path: &String| {
        let mut parts: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).collect();
        let mut base = from.clone();
        if parts.starts_with(&["crate", "app"]) {
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

/// Gives which file imports which: what `App`'s own file only hands on is imported from where it is.
fn graph(files: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let known: BTreeSet<Module> = files.keys().cloned().collect();
    let root = Module::new();
    let handed_on: BTreeMap<String, Module> = imports(&root, &files[&root], &known)
        .into_iter()
        .filter_map(|path| Some((path.last()?.clone(), path)))
        .collect();
    let home = |mut path: Module| {
        if let [name] = path.as_slice()
            && !known.contains(&path)
            && let Some(at) = handed_on.get(name)
        {
            path.clone_from(at);
        }
        while !known.contains(&path) {
            path.pop();
        }
        path
    };
    let of = |(from, code): (&Module, &String)| {
        let to = imports(from, code, &known).into_iter().map(home);
        (from.clone(), to.filter(|to| to != from).collect())
    };
    files.iter().map(of).collect()
}

/// Gives everything that can be reached from itself.
fn in_circles<T: Ord + Clone>(graph: &BTreeMap<T, BTreeSet<T>>) -> BTreeSet<T> {
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
fn no_files_of_app_import_each_other_in_a_circle() {
    let files = files();
    assert!(
        files.len() > 60,
        "only {} files were looked at",
        files.len()
    );
    let graph = graph(&files);
    let imports: usize = graph.values().map(BTreeSet::len).sum();
    assert!(imports > 140, "only {imports} imports were found");
    let circles: Vec<String> = in_circles(&graph)
        .iter()
        .map(|module| module.join("/"))
        .collect();
    assert!(circles.is_empty(), "in a circle of imports: {circles:?}");
}

#[test]
fn what_app_is_made_of_knows_nothing_of_app() {
    let files = files();
    let graph = graph(&files);
    let root = Module::new();
    let held: BTreeSet<&Module> = graph[&root].iter().collect();
    for owner in OWNERS {
        let owner = vec![(*owner).to_owned()];
        assert!(held.contains(&owner), "App holds nothing of {owner:?}");
        let mut seen = BTreeSet::new();
        let mut open = vec![&owner];
        while let Some(at) = open.pop() {
            assert!(*at != root, "{owner:?} knows App by {seen:?}");
            if seen.insert(at) {
                open.extend(&graph[at]);
            }
        }
    }
}

#[test]
fn no_folders_of_app_import_each_other_in_a_circle() {
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in graph(&files()) {
        for to in to {
            let (Some(from), Some(to)) = (from.first(), to.first()) else {
                continue;
            };
            if from != to {
                folders.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    let circles = in_circles(&folders);
    assert!(circles.is_empty(), "in a circle of imports: {circles:?}");
}

/// Gives the fields that more than their own file and what is inside it can reach.
fn open_fields(code: &str) -> Vec<&str> {
    let lines = code.lines().map(str::trim);
    let open = |line: &&str| {
        let Some(rest) = line.strip_prefix("pub(") else {
            return false;
        };
        let Some((_, rest)) = rest.split_once(") ") else {
            return false;
        };
        let name = rest.split(':').next().unwrap();
        rest.contains(": ") && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    lines.filter(open).collect()
}

#[test]
fn the_structs_of_app_keep_their_fields_to_themselves() {
    let mut looked_at = 0;
    for (module, code) in files() {
        let owner = module
            .first()
            .is_some_and(|it| OWNERS.contains(&it.as_str()));
        if !owner {
            continue;
        }
        looked_at += 1;
        let open = open_fields(&code);
        assert!(open.is_empty(), "{}: {open:?}", module.join("/"));
    }
    assert!(looked_at > 30, "only {looked_at} files were looked at");
}

#[test]
fn an_open_field_and_a_circle_are_found() {
    let code = "pub(super) struct A {\n    pub(super) b: u8,\n    c: u8,\n    pub(in crate::app) d: u8,\n}\nimpl A {\n    pub(super) fn e(&self) {}\n}";
    assert_eq!(
        open_fields(code),
        ["pub(super) b: u8,", "pub(in crate::app) d: u8,"]
    );
    let of = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(path, code)| {
            let module = path.split('/').filter(|it| !it.is_empty());
            (module.map(str::to_owned).collect(), (*code).to_owned())
        });
        in_circles(&graph(&files.collect()))
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
}
