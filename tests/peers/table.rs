//! The table in docs/agents.md of what was tried on real agents. Each test states what it saw; by default that must be
//! what the page says. `HEARKEN_UPDATE_DOCS=1` keeps it below `target` and writes the table from all that is kept.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/agents.md");
const KEPT: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/agents");
const BEGIN: &str = "<!-- agents that were tried -->\n";
const END: &str = "<!-- end of agents that were tried -->";
const HEAD: &str = "| agent | version | heard | asked | answered | prompted | stopped | at its start |\n\
                    |---|---|---|---|---|---|---|---|\n";
/// What stands where nothing was tried, or can be.
const NOT: &str = "–";

/// The page is changed by one test at a time.
static WRITING: Mutex<()> = Mutex::new(());

/// What a test can show of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
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
    /// What is said at its start of who decides.
    Start,
}

impl Shown {
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
pub(super) fn shows(agent: &str, version: &str, seen: &[(Shown, &str)]) {
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
pub(super) const ALL_SHOWN: [Shown; 5] = [
    Shown::Heard,
    Shown::Asked,
    Shown::Answered,
    Shown::Prompted,
    Shown::Stopped,
];

/// States what a test saw of an agent in a version: everything but what is said at its start.
pub(super) fn shows_all(agent: &str, version: &str, what: &[Shown]) {
    let seen: Vec<(Shown, &str)> = what.iter().map(|what| (*what, "yes")).collect();
    shows(agent, version, &seen);
}

/// Returns the cells of each row on the page.
pub(super) fn rows() -> Vec<Vec<String>> {
    let page = fs::read_to_string(PAGE).unwrap();
    let (_, rest) = page.split_once(BEGIN).expect("the table is on the page");
    let (table, _) = rest.split_once(END).expect("the table ends");
    let rows = table.strip_prefix(HEAD).expect("the table has its head");
    let cells = |row: &str| {
        let row = row.trim_matches('|').split('|');
        row.map(|cell| cell.trim().to_owned()).collect()
    };
    rows.lines().map(cells).collect()
}

/// Writes the table from everything that is kept.
fn write() {
    let mut kept: Vec<Vec<String>> = Vec::new();
    for folder in fs::read_dir(KEPT).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let (agent, version) = name.rsplit_once(' ').unwrap();
        let mut row = vec![agent.to_owned(), version.to_owned()];
        for what in Shown::ALL {
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
    let mut table = HEAD.to_owned();
    for row in kept {
        table += &format!("| {} |\n", row.join(" | "));
    }
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the table is on the page");
    let (_, after) = rest.split_once(END).expect("the table ends");
    fs::write(PAGE, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
}

fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split('.');
    parts.map(|part| part.parse().unwrap_or(0)).collect()
}
