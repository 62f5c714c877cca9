//! Checks how `app` is made: no circle among its folders, no field that another file reaches into, and few files with
//! methods of `App`.

use std::collections::{BTreeMap, BTreeSet};

use super::circles::{Module, files, graph, in_circles};

/// The room that this is about.
const APP: &str = "app";

/// What `App` is made of, by the file or folder that owns each: what every part may use, and the parts.
const PARTS: &[&str] = &[
    "cx",
    "fleet",
    "key_input",
    "links",
    "prompts",
    "questions",
    "review",
    "run",
    "tuning",
];

/// The structs that every part may use, by the file or folder that owns each.
const LENT: &[&str] = &[
    "activity",
    "face",
    "held_announcements",
    "key_replies",
    "signals",
];

#[test]
fn what_app_is_made_of_knows_nothing_of_app() {
    let files = files(APP);
    let graph = graph(APP, &files);
    let root = Module::new();
    let held: BTreeSet<&Module> = graph[&root].iter().collect();
    for owner in PARTS {
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
    for (from, to) in graph(APP, &files(APP)) {
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

/// Returns the fields that code outside their own file and its submodules can reach.
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
    for (module, code) in files(APP) {
        let owner = module
            .first()
            .is_some_and(|it| it != "cx" && PARTS.iter().chain(LENT).any(|owner| it == owner));
        if !owner {
            continue;
        }
        looked_at += 1;
        let open = open_fields(&code);
        assert!(open.is_empty(), "{}: {open:?}", module.join("/"));
    }
    assert!(looked_at > 30, "only {looked_at} files were looked at");
}

/// The files that may have methods of `App`: its beginning, the passing of facts, the commands, and what faces read.
/// The aim is `app.rs` and `update.rs` alone; this list may only shrink. Whatever else is done belongs to a part.
const APP_FILES: &[&str] = &["", "commands", "update", "view"];

#[test]
fn only_few_files_have_methods_of_app() {
    let files = files(APP);
    let of_app = files.iter().filter(|(_, code)| {
        let mut lines = code.lines();
        lines.any(|line| line.starts_with("impl App ") || line.contains(" for App "))
    });
    let of_app: Vec<String> = of_app.map(|(module, _)| module.join("/")).collect();
    assert_eq!(of_app, APP_FILES);
}

/// Counts the fields of the struct `App`.
fn fields_of_app(code: &str) -> usize {
    let (_, rest) = code.split_once("pub struct App {").unwrap();
    let (fields, _) = rest.split_once("\n}").unwrap();
    fields.lines().filter(|line| line.contains(": ")).count()
}

#[test]
fn app_is_what_all_may_use_and_the_parts() {
    let files = files(APP);
    assert_eq!(fields_of_app(&files[&Module::new()]), PARTS.len());
}

#[test]
fn an_open_field_is_found() {
    let code = "pub(super) struct A {\n    pub(super) b: u8,\n    c: u8,\n    pub(in crate::app) d: u8,\n}\nimpl A {\n    pub(super) fn e(&self) {}\n}";
    assert_eq!(
        open_fields(code),
        ["pub(super) b: u8,", "pub(in crate::app) d: u8,"]
    );
}
