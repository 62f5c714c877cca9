//! The table of programs: what each does, according to its manual.
//!
//! Responsibilities: parsing the rows of `assets/programs/*.toml`, and finding the row of a program. Not here: applying
//! a row to the words of a command (`arguments`).
//!
//! A row is parsed when its program is first looked up; until then, the files are only split into rows.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex};

use serde::Deserialize;

use crate::act::Act;

/// What a word of a command means to its program (`assets/programs.toml` describes each kind).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WordKind {
    Text,
    Name,
    Read,
    Make,
    Append,
    Edit,
    Replace,
    Move,
    Delete,
    Tree,
    Permit,
    Unpack,
    Host,
    Url,
    Upload,
    From,
    To,
    Source,
    Package,
    Assign,
    Command,
    Rest,
    Exec,
    Script,
    Code,
    Sed,
    Awk,
    Sql,
    Variable,
    Config,
    Refspec,
    Module,
    Input,
    Rev,
    Branch,
    Discards,
}

impl WordKind {
    const NAMES: &[(Self, &str)] = &[
        (Self::Text, "text"),
        (Self::Name, "name"),
        (Self::Read, "read"),
        (Self::Make, "make"),
        (Self::Append, "append"),
        (Self::Edit, "edit"),
        (Self::Replace, "replace"),
        (Self::Move, "move"),
        (Self::Delete, "delete"),
        (Self::Tree, "tree"),
        (Self::Permit, "permit"),
        (Self::Unpack, "unpack"),
        (Self::Host, "host"),
        (Self::Url, "url"),
        (Self::Upload, "upload"),
        (Self::From, "from"),
        (Self::To, "to"),
        (Self::Source, "source"),
        (Self::Package, "package"),
        (Self::Assign, "assign"),
        (Self::Command, "command"),
        (Self::Rest, "rest"),
        (Self::Exec, "exec"),
        (Self::Script, "script"),
        (Self::Code, "code"),
        (Self::Sed, "sed"),
        (Self::Awk, "awk"),
        (Self::Sql, "sql"),
        (Self::Variable, "variable"),
        (Self::Config, "config"),
        (Self::Refspec, "refspec"),
        (Self::Module, "module"),
        (Self::Input, "input"),
        (Self::Rev, "rev"),
        (Self::Branch, "branch"),
        (Self::Discards, "discards"),
    ];

    /// Returns whether the word is a path that is written to, moved or deleted.
    pub(crate) fn writes(self) -> bool {
        matches!(
            self,
            Self::Make
                | Self::Append
                | Self::Edit
                | Self::Replace
                | Self::Move
                | Self::Delete
                | Self::Tree
                | Self::Permit
                | Self::Unpack
        )
    }

    fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(_, it)| *it == name)?;
        Some(found.0)
    }
}

/// The shell that a program belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Family {
    /// Programs of Unix, and those that run on every system.
    #[default]
    Unix,
    /// Cmdlets of PowerShell.
    PowerShell,
    /// Commands of Windows' cmd.exe.
    Cmd,
}

/// How a program's options are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OptionStyle {
    /// `-abc` is a cluster, and `--long` is one option.
    #[default]
    Gnu,
    /// `-name` is one option.
    Words,
    /// There are no options.
    Plain,
    /// As `Gnu`, but the first word may be a cluster without its dash.
    Tar,
    /// Words are `name=value`.
    Dd,
}

/// The effect of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OptionEffect {
    /// It changes nothing that matters.
    Flag,
    /// It has a value of this kind.
    Value(WordKind),
    /// It performs this act.
    Does(Act),
    /// It performs this act on its value.
    DoesTo(Act),
    /// It turns path operands into this kind.
    Turns(WordKind),
    /// It prevents all acts.
    Dry,
}

/// One option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opt {
    pub(crate) effect: OptionEffect,
    /// Whether its value is optional and must be attached.
    pub(crate) attached: bool,
}

/// The kind of an operand, and whether it may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) kind: WordKind,
    pub(crate) many: bool,
}

/// A program, a subcommand, or a mode that an option selects.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ProgramRow {
    pub(crate) options: HashMap<String, Opt>,
    pub(crate) operands: Option<Vec<Operand>>,
    pub(crate) act: Option<Act>,
    pub(crate) modes: Vec<(Vec<String>, Arc<ProgramRow>)>,
    pub(crate) subcommands: HashMap<String, Arc<ProgramRow>>,
    pub(crate) style: Option<OptionStyle>,
    pub(crate) stops: bool,
    pub(crate) open: bool,
    pub(crate) sends: bool,
    /// Whether case does not matter in its options, as on Windows; they are stored in lower case.
    pub(crate) ignores_case: bool,
}

impl ProgramRow {
    /// Returns whether a file name that looks like an option could make the program do something.
    pub(crate) fn has_grave_options(&self) -> bool {
        let grave = |opt: &Opt| match opt.effect {
            OptionEffect::Flag
            | OptionEffect::Dry
            | OptionEffect::Value(WordKind::Text | WordKind::Name | WordKind::Read) => false,
            OptionEffect::Value(_)
            | OptionEffect::Does(_)
            | OptionEffect::DoesTo(_)
            | OptionEffect::Turns(_) => true,
        };
        self.options.values().any(grave)
            || self
                .modes
                .iter()
                .any(|(_, mode)| mode.act.is_some() || mode.has_grave_options())
    }
}

/// A row as written in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRow {
    /// The shell that it belongs to.
    #[serde(default)]
    shell: Family,
    #[serde(default)]
    flags: String,
    #[serde(default)]
    values: String,
    #[serde(default)]
    takes: BTreeMap<String, String>,
    #[serde(default)]
    does: BTreeMap<String, String>,
    #[serde(default)]
    turns: BTreeMap<String, String>,
    operands: Option<Operands>,
    act: Option<String>,
    #[serde(default)]
    dry: String,
    #[serde(default)]
    mode: BTreeMap<String, RawRow>,
    #[serde(default)]
    sub: BTreeMap<String, RawRow>,
    style: Option<OptionStyle>,
    #[serde(default)]
    stops: bool,
    #[serde(default)]
    open: bool,
    #[serde(default)]
    sends: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Operands {
    One(String),
    Several(Vec<String>),
}

/// An error in the table of programs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// A row is not valid TOML, or has an unknown field.
    #[error("the row of {0} can't be read: {1}")]
    Row(String, String),
    /// A name is neither a kind nor an act.
    #[error("the row of {0} names {1}, which is neither a kind nor an act")]
    Name(String, String),
    /// A row lists an option or a subcommand twice.
    #[error("the row of {0} lists {1} twice")]
    Twice(String, String),
    /// An open row has no act that is always reported.
    #[error("the row of {0} is open, and has no act that is always reported")]
    Open(String),
}

fn row(
    name: &str,
    written: RawRow,
    act: Option<Act>,
    family: Family,
) -> Result<ProgramRow, TableError> {
    let ignores_case = family != Family::Unix;
    let no_name = |what: &str| TableError::Name(name.to_owned(), what.to_owned());
    let mut row = ProgramRow {
        style: written.style,
        stops: written.stops,
        open: written.open,
        sends: written.sends,
        ignores_case,
        ..ProgramRow::default()
    };
    let mut add = |options: &str, effect: OptionEffect| {
        for option in options.split_whitespace() {
            let attached = option.len() > 1 && option.ends_with('=');
            let option = if attached {
                &option[..option.len() - 1]
            } else {
                option
            };
            let opt = Opt { effect, attached };
            let key = if ignores_case {
                option.to_lowercase()
            } else {
                option.to_owned()
            };
            if row.options.insert(key, opt).is_some() {
                return Err(TableError::Twice(name.to_owned(), option.to_owned()));
            }
        }
        Ok(())
    };
    add(&written.flags, OptionEffect::Flag)?;
    add(&written.values, OptionEffect::Value(WordKind::Text))?;
    add(&written.dry, OptionEffect::Dry)?;
    for (what, options) in &written.takes {
        let effect = match (WordKind::named(what), Act::named(what)) {
            (Some(kind), _) => OptionEffect::Value(kind),
            (None, Some(act)) => OptionEffect::DoesTo(act),
            (None, None) => return Err(no_name(what)),
        };
        add(options, effect)?;
    }
    for (what, options) in &written.does {
        add(
            options,
            OptionEffect::Does(Act::named(what).ok_or_else(|| no_name(what))?),
        )?;
    }
    for (what, options) in &written.turns {
        add(
            options,
            OptionEffect::Turns(WordKind::named(what).ok_or_else(|| no_name(what))?),
        )?;
    }
    row.act = match &written.act {
        Some(act) => Some(Act::named(act).ok_or_else(|| no_name(act))?),
        None => None,
    };
    let act = row.act.or(act);
    if row.open && act.is_none_or(|act| act == Act::Project) {
        return Err(TableError::Open(name.to_owned()));
    }
    row.operands = match written.operands {
        None => None,
        Some(Operands::One(kind)) => Some(vec![Operand {
            kind: WordKind::named(kind.trim_end_matches('*')).ok_or_else(|| no_name(&kind))?,
            many: true,
        }]),
        Some(Operands::Several(kinds)) => {
            let mut operands = Vec::new();
            for kind in &kinds {
                let plain = kind.trim_end_matches('*');
                operands.push(Operand {
                    kind: WordKind::named(plain).ok_or_else(|| no_name(kind))?,
                    many: plain.len() < kind.len(),
                });
            }
            Some(operands)
        }
    };
    for (options, mode) in written.mode {
        let options = if ignores_case {
            options.to_lowercase()
        } else {
            options
        };
        let options = options.split_whitespace().map(str::to_owned).collect();
        row.modes
            .push((options, Arc::new(self::row(name, mode, act, family)?)));
    }
    for (names, sub) in written.sub {
        let sub = Arc::new(self::row(&format!("{name} {names}"), sub, act, family)?);
        for one in names.split_whitespace() {
            if row
                .subcommands
                .insert(one.to_owned(), Arc::clone(&sub))
                .is_some()
            {
                return Err(TableError::Twice(name.to_owned(), one.to_owned()));
            }
        }
    }
    Ok(row)
}

/// The tables of programs, by area.
const FILES: &[&str] = &[
    include_str!("../../../assets/programs/files.toml"),
    include_str!("../../../assets/programs/versions.toml"),
    include_str!("../../../assets/programs/network.toml"),
    include_str!("../../../assets/programs/system.toml"),
    include_str!("../../../assets/programs/making.toml"),
];

/// The text of each program's row by family and name, and the rows that are already parsed.
struct ProgramIndex {
    rows: HashMap<(Family, &'static str), &'static str>,
    read: Mutex<HashMap<&'static str, Arc<ProgramRow>>>,
}

static INDEX: LazyLock<ProgramIndex> = LazyLock::new(|| ProgramIndex {
    rows: FILES.iter().flat_map(|file| rows(file)).collect(),
    read: Mutex::default(),
});

/// Splits a file into tables, and returns the names and the text of each. Tables of subcommands that follow a program
/// (`[git.sub.push]`) are part of it.
pub(crate) fn tables(file: &str) -> Vec<(&str, &str)> {
    let begins = file.match_indices("\n[").map(|(at, _)| at + 1);
    let begins = file.starts_with('[').then_some(0).into_iter().chain(begins);
    let mut tables: Vec<(&str, usize, usize)> = Vec::new();
    for at in begins {
        let text = file.get(at + 1..).unwrap_or_default();
        let (names, is_own) = match text.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            Some((names, rest)) => (names, rest.starts_with(']')),
            None => {
                let end = text.find([']', '.']).unwrap_or(text.len());
                (
                    text.get(..end).unwrap_or_default(),
                    text.get(end..).unwrap_or_default().starts_with(']'),
                )
            }
        };
        let continues = !is_own && tables.last().is_some_and(|(last, _, _)| *last == names);
        if !continues {
            if let Some(last) = tables.last_mut() {
                last.2 = at;
            }
            tables.push((names, at, file.len()));
        }
    }
    let text = |from, to| file.get(from..to).unwrap_or_default();
    tables
        .into_iter()
        .map(|(names, from, to)| (names, text(from, to)))
        .collect()
}

/// Returns the text of each program's row.
fn rows(file: &str) -> Vec<((Family, &str), &str)> {
    let mut rows = Vec::new();
    for (names, text) in tables(file) {
        let family = match text.lines().find_map(|line| line.strip_prefix("shell = ")) {
            Some(shell) if shell.contains("powershell") => Family::PowerShell,
            Some(_) => Family::Cmd,
            None => Family::Unix,
        };
        rows.extend(names.split_whitespace().map(|name| ((family, name), text)));
    }
    rows
}

/// Returns the row of a program.
pub(crate) fn find(family: Family, name: &str) -> Option<Arc<ProgramRow>> {
    let text = *INDEX.rows.get(&(family, name))?;
    let mut read = match INDEX.read.lock() {
        Ok(read) => read,
        Err(poisoned) => poisoned.into_inner(),
    };
    if let Some(row) = read.get(text) {
        return Some(Arc::clone(row));
    }
    // The tests parse every row. A failing row would count as absent, which clears nothing.
    let row = Arc::new(parse_table(text).ok()?.1);
    read.insert(text, Arc::clone(&row));
    Some(row)
}

/// Returns whether the table has a Unix program with this name.
pub fn is_program(name: &str) -> bool {
    INDEX.rows.contains_key(&(Family::Unix, name))
}

/// Parses one table of a file, and returns its names and its row.
fn parse_table(text: &str) -> Result<(String, ProgramRow), TableError> {
    let parsed: BTreeMap<String, RawRow> = toml::from_str(text).map_err(|error| {
        let name = text.lines().next().unwrap_or_default();
        TableError::Row(name.to_owned(), error.message().to_owned())
    })?;
    let (name, written) = parsed
        .into_iter()
        .next()
        .ok_or_else(|| TableError::Row(String::new(), String::new()))?;
    let family = written.shell;
    let row = row(&name, written, None, family)?;
    Ok((name, row))
}

/// Checks every row of the table, and returns the number of programs in it.
///
/// # Errors
/// Returns the errors of all rows that can't be read.
pub fn check_table() -> Result<usize, Vec<TableError>> {
    let mut faults = Vec::new();
    let mut count = 0;
    for (names, text) in FILES.iter().flat_map(|file| tables(file)) {
        faults.extend(parse_table(text).err());
        count += names.split_whitespace().count();
    }
    if faults.is_empty() {
        Ok(count)
    } else {
        Err(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read() {
        let count = check_table().unwrap();
        assert!(count >= 300, "{count} programs");
    }

    #[test]
    fn no_program_is_listed_twice() {
        let mut seen = HashMap::new();
        for (program, text) in FILES.iter().flat_map(|file| rows(file)) {
            let before = seen.insert(program, text);
            assert_eq!(before, None, "{program:?} stands twice");
        }
    }

    #[test]
    fn errors_in_a_row_are_reported() {
        let fault = |text: &str| parse_table(text).unwrap_err();
        assert!(matches!(fault("[x]\nodd = 1"), TableError::Row(..)));
        assert!(matches!(fault("[x]\nact = \"fly\""), TableError::Name(..)));
        assert!(matches!(
            fault("[x]\nflags = \"-a -a\""),
            TableError::Twice(..)
        ));
        assert!(matches!(fault("[x]\nopen = true"), TableError::Open(..)));
    }
}
