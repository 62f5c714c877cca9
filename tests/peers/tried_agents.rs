//! The list in docs/agents.md of what was tried on real agents. Each test states what it saw; by default that must be
//! what the page says. `HEARKEN_UPDATE_DOCS=1` keeps it below `target` and writes the list from all that is kept.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/agents.md");
const KEPT: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/agents");
const BEGIN: &str = "<!-- agents that were tried -->\n";
const END: &str = "<!-- end of agents that were tried -->";
/// What a test can show apart from what is said at the start, in the order of the columns.
const NAMES: [&str; 5] = ["heard", "asked", "answered", "prompted", "stopped"];
/// The cell for what was not tried, or can't be.
const NOT: &str = "–";

/// The page is changed by one test at a time.
static WRITING: Mutex<()> = Mutex::new(());

/// What a test can show of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownAbility {
    /// Its text, its calls and their results are heard.
    Heard,
    /// What it asks is asked here.
    Asked,
    /// Accepting runs the call; rejecting prevents it.
    Answered,
    /// It does what it is told from here.
    Prompted,
    /// It stops when told from here.
    Stopped,
    /// What is said at its start about who decides.
    Start,
}

impl ShownAbility {
    const ALL: [Self; 6] = [
        Self::Heard,
        Self::Asked,
        Self::Answered,
        Self::Prompted,
        Self::Stopped,
        Self::Start,
    ];

    /// Returns the number of its column.
    fn column(self) -> usize {
        Self::ALL.iter().position(|it| *it == self).unwrap() + 2
    }
}

/// States what a test saw of an agent in a version: each with the words for its cell.
pub(super) fn shows(agent: &str, version: &str, seen: &[(ShownAbility, &str)]) {
    let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    if std::env::var_os("HEARKEN_UPDATE_DOCS").is_some() {
        let folder = PathBuf::from(KEPT).join(format!("{agent} {version}"));
        fs::create_dir_all(&folder).unwrap();
        for (what, words) in seen {
            fs::write(folder.join(what.column().to_string()), words).unwrap();
        }
        write();
        return;
    }
    let rows = rows();
    let row = rows
        .iter()
        .find(|row| row[0] == agent && row[1] == version)
        .unwrap_or_else(|| panic!("docs/agents.md has no row of {agent} {version}"));
    for (what, words) in seen {
        assert_eq!(row[what.column()], *words, "{agent} {version}: {what:?}");
    }
}

/// What a person can do with an agent that hearken starts.
pub(super) const ALL_SHOWN: [ShownAbility; 5] = [
    ShownAbility::Heard,
    ShownAbility::Asked,
    ShownAbility::Answered,
    ShownAbility::Prompted,
    ShownAbility::Stopped,
];

/// States what a test saw of an agent in a version: everything but what is said at its start.
pub(super) fn shows_all(agent: &str, version: &str, what: &[ShownAbility]) {
    let seen: Vec<(ShownAbility, &str)> = what.iter().map(|what| (*what, "yes")).collect();
    shows(agent, version, &seen);
}

/// Returns the cells of each agent on the page: its name, its version, and a cell for what a test can show.
pub(super) fn rows() -> Vec<Vec<String>> {
    let page = fs::read_to_string(PAGE).unwrap();
    let (_, rest) = page.split_once(BEGIN).expect("the list is on the page");
    let (list, _) = rest.split_once(END).expect("the list ends");
    let list = list.strip_prefix("- ").expect("it is a list");
    list.split("\n- ").map(cells).collect()
}

/// Returns the cells of an entry.
fn cells(entry: &str) -> Vec<String> {
    let entry = entry.split_whitespace().collect::<Vec<_>>().join(" ");
    let (agent, shown) = entry
        .split_once(": ")
        .expect("an agent, and what was shown");
    let (agent, version) = agent.rsplit_once(' ').expect("a version");
    let (shown, start) = shown.split_once(". ").unwrap_or((shown, NOT));
    let mut row = vec![agent.to_owned(), version.to_owned()];
    for name in NAMES {
        let mut parts = shown.split(", ").filter_map(|part| part.strip_prefix(name));
        let words = parts.next().map(|rest| match rest {
            "" => "yes",
            rest => rest.trim_matches([' ', '(', ')']),
        });
        row.push(words.unwrap_or(NOT).to_owned());
    }
    row.push(start.to_owned());
    row
}

/// Returns the entry of an agent.
fn entry(row: &[String]) -> String {
    let shown = NAMES
        .iter()
        .zip(&row[2..])
        .filter_map(|(name, words)| match words.as_str() {
            NOT => None,
            "yes" => Some((*name).to_owned()),
            words => Some(format!("{name} ({words})")),
        });
    let shown: Vec<String> = shown.collect();
    let start = match row[7].as_str() {
        NOT => String::new(),
        start => format!(". {start}"),
    };
    let entry = format!("- {} {}: {}{start}", row[0], row[1], shown.join(", "));
    crate::page::wrapped(&entry)
}

#[test]
fn the_list_of_agents_is_written_as_it_is_read() {
    let rows = rows();
    assert!(rows.len() > 10, "{}", rows.len());
    let list: String = rows.iter().map(|row| entry(row)).collect();
    let page = fs::read_to_string(PAGE).unwrap();
    assert!(page.contains(&format!("{BEGIN}{list}{END}")), "{list}");
}

/// Writes the list from everything that is kept.
fn write() {
    let mut kept: Vec<Vec<String>> = Vec::new();
    for folder in fs::read_dir(KEPT).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let (agent, version) = name.rsplit_once(' ').unwrap();
        let mut row = vec![agent.to_owned(), version.to_owned()];
        for what in ShownAbility::ALL {
            let file = folder.path().join(what.column().to_string());
            row.push(fs::read_to_string(file).unwrap_or_else(|_| NOT.to_owned()));
        }
        kept.push(row);
    }
    // By name; of one agent, the newest version first.
    kept.sort_by(|a, b| {
        let newer = numbers(&b[1]).cmp(&numbers(&a[1]));
        a[0].to_lowercase().cmp(&b[0].to_lowercase()).then(newer)
    });
    let list: String = kept.iter().map(|row| entry(row)).collect();
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the list is on the page");
    let (_, after) = rest.split_once(END).expect("the list ends");
    fs::write(PAGE, format!("{before}{BEGIN}{list}{END}{after}")).unwrap();
}

fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split('.');
    parts.map(|part| part.parse().unwrap_or(0)).collect()
}
