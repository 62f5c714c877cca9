//! Checks docs/conformance.md against chapter 9's numbers, and both that page and docs/security.md against
//! the tests that they name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The sections of chapter 9 about subscribers, and the number of requirements in each.
const SECTIONS: [(&str, usize); 3] = [("9.3.2", 7), ("9.4.2", 9), ("9.5.2", 9)];

/// Returns whether a line begins a row in a table of faults: its name, then what is played in parentheses.
fn is_row(line: &str, name: &str) -> bool {
    let rest = line.strip_prefix(name).unwrap_or_default();
    let played = rest
        .strip_prefix(" (")
        .and_then(|rest| rest.split_once("):"));
    !name.is_empty() && played.is_some_and(|(played, _)| played.contains(", "))
}

/// Collects the names of all tests in a folder: functions, and rows of the tables of faults.
fn tests(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let is_table = path.to_string_lossy().contains("tests/faults");
            let mut is_test = false;
            for line in text.lines().map(str::trim) {
                let line = line.strip_prefix("async ").unwrap_or(line);
                let word = |line: &str| -> String {
                    let named = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
                    line.chars().take_while(named).collect()
                };
                if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                    is_test = true;
                } else if let Some(rest) = line.strip_prefix("fn ") {
                    if std::mem::take(&mut is_test) {
                        found.insert(word(rest));
                    }
                } else if is_table && is_row(line, &word(line)) {
                    found.insert(word(line));
                }
            }
        }
    }
}

/// Returns the names of all tests.
fn all(root: &Path) -> BTreeSet<String> {
    let mut there = BTreeSet::new();
    tests(&root.join("src"), &mut there);
    tests(&root.join("tests"), &mut there);
    tests(&root.join("crates"), &mut there);
    there
}

#[test]
fn each_threat_has_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let there = all(root);
    let page = fs::read_to_string(root.join("docs/security.md")).unwrap();
    assert!(!page.contains("\n| "), "every threat is an entry of a list");
    let mut threats = Vec::new();
    for item in page.split("\n- ").skip(1) {
        let item = item.split("\n\n").next().unwrap();
        let item = item.split_whitespace().collect::<Vec<_>>().join(" ");
        let parts = item.strip_prefix("**").and_then(|item| {
            let (threat, rest) = item.split_once("**: ")?;
            let (does, shown) = rest.strip_suffix(')')?.rsplit_once(" (`")?;
            Some((threat.to_owned(), does.to_owned(), shown.to_owned()))
        });
        let (threat, does, shown) = parts.unwrap_or_else(|| panic!("{item}"));
        assert!(!does.is_empty(), "{threat}: nothing is done");
        let named: Vec<&str> = shown
            .split(", ")
            .map(|name| name.trim_matches('`'))
            .collect();
        for name in named {
            assert!(there.contains(name), "{threat}: no test is called {name}");
        }
        threats.push(threat);
    }
    for number in 1..=8 {
        let start = format!("T{number} ");
        assert!(threats.iter().any(|threat| threat.starts_with(&start)));
    }
}

#[test]
fn each_must_of_a_subscriber_has_one_that_was_seen_to_fail() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let there = all(root);
    assert!(there.contains("each_must_of_a_subscriber_has_one_that_was_seen_to_fail"));
    assert!(!there.contains("tests"), "only tests count");
    let page = fs::read_to_string(root.join("docs/conformance.md")).unwrap();
    let mut numbers = Vec::new();
    for item in page.split("\n- **").skip(1) {
        let item = item.split("\n\n").next().unwrap();
        let item = item.split_whitespace().collect::<Vec<_>>().join(" ");
        let (number, rest) = item.split_once("** ").unwrap_or_else(|| panic!("{item}"));
        assert!(number.starts_with("9."), "{item}");
        numbers.push(number.to_owned());
        // A level's requirement that the level below be met is shown by that level's own numbers.
        if let Some((_, below)) = rest.split_once(": every number of ") {
            let below = SECTIONS.iter().position(|(section, _)| *section == below);
            let here = |(section, _): &(&str, usize)| number == format!("{section}.1");
            assert_eq!(
                below.map(|at| at + 1),
                SECTIONS.iter().position(here),
                "{item}"
            );
            continue;
        }
        let (what, rest) = rest
            .split_once(" Broken: ")
            .unwrap_or_else(|| panic!("{item}"));
        assert!(!what.is_empty(), "{item}");
        let (how, shown) = rest
            .split_once(". Failed: ")
            .unwrap_or_else(|| panic!("{number}: nothing was seen to fail"));
        assert!(!how.is_empty(), "{item}");
        for name in shown.split(". Also: ").flat_map(|names| names.split(", ")) {
            let name = name.trim_matches('`');
            assert!(there.contains(name), "{number}: no test is called {name}");
        }
    }
    let wanted: Vec<String> = SECTIONS
        .iter()
        .flat_map(|(section, count)| (1..=*count).map(move |n| format!("{section}.{n}")))
        .collect();
    assert_eq!(numbers, wanted);
}
