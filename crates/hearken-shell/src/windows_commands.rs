//! Plain commands of PowerShell and of Windows' cmd.exe.
//!
//! Responsibilities: recognising them, and reporting their plain effects; they never count as read. Not here:
//! the table of their programs (`program_table`), Unix commands (`syntax`).

use crate::act::Act;
use crate::arguments::uses;
use crate::command_report::Collector;
use crate::program_table::{Family, OptionEffect, ProgramRow, WordKind, find};
use crate::shell_state::{PipeData, ShellState};
use crate::walk::Walk;
use crate::word::Value;

/// The longest command that is read, in bytes.
const LONGEST: usize = 32 * 1024;
/// How deeply groups and commands may be nested.
const DEEPEST: usize = 12;

/// Returns the Windows shell for which a command is written, if any.
pub(crate) fn family(command: &str) -> Option<Family> {
    if command.len() > LONGEST {
        return None;
    }
    family_of(&parse(command, Family::PowerShell))
}

fn family_of(pipes: &[Vec<PipelinePart>]) -> Option<Family> {
    pipes.iter().flatten().find_map(|part| {
        let inner = || {
            part.words
                .iter()
                .flat_map(|word| &word.groups)
                .find_map(|group| family_of(group))
        };
        family_of_part(part).or_else(inner)
    })
}

fn family_of_part(part: &PipelinePart) -> Option<Family> {
    let listed = |family: Family, name: &str| find(family, &name.to_lowercase()).is_some();
    let words: Vec<&str> = part
        .words
        .iter()
        .map(|word| word.value.text.as_str())
        .collect();
    let (first, rest) = words.split_first()?;
    let capital = |text: &str| text.starts_with(|c: char| c.is_ascii_uppercase());
    let is_cmdlet = first
        .split_once('-')
        .is_some_and(|(verb, noun)| capital(verb) && capital(noun));
    let is_unix = find(Family::Unix, first).is_some();
    if matches!(*first, "pwsh" | "powershell") {
        // Another shell starts it, with its command in quotes.
        return None;
    }
    let in_cmd = listed(Family::Cmd, first);
    let in_powershell = listed(Family::PowerShell, first);
    let named = |text: &&str| matches!(text.to_lowercase().as_str(), "-recurse" | "-literalpath");
    if is_cmdlet
        || first.starts_with("$env:")
        || (in_powershell && (rest.iter().any(named) || (!is_unix && !in_cmd)))
    {
        return Some(Family::PowerShell);
    }
    let switch = |text: &&str| {
        let letters = text.strip_prefix('/').unwrap_or_default();
        (1..=2).contains(&letters.len())
            && letters
                .bytes()
                .all(|it| it.is_ascii_alphabetic() || it == b'?')
    };
    let is_if = *first == "if"
        && rest
            .first()
            .is_some_and(|word| matches!(*word, "exist" | "not" | "defined" | "errorlevel"));
    // Only cmd has `for %d in (…) do …`.
    let is_loop = *first == "for" && rest.iter().any(|word| word.starts_with('%'));
    let is_command = in_cmd && *first != "echo" && (!is_unix || rest.iter().any(switch));
    (is_loop || is_if || is_command).then_some(Family::Cmd)
}

/// Returns the Windows shell that runs the text given to a program, if any.
pub(crate) fn shell(name: &str) -> Option<Family> {
    match name.strip_suffix(".exe").unwrap_or(name) {
        "cmd" => Some(Family::Cmd),
        "powershell" | "pwsh" | "iex" | "invoke-expression" => Some(Family::PowerShell),
        _ => None,
    }
}

/// Reports the plain effects of a command.
pub(crate) fn read(command: &str, family: Family, collector: &mut Collector) {
    let mut state = ShellState::begin(collector);
    let mut walk = Walk {
        collector,
        steps: 0,
        depth: 0,
    };
    text(command, family, &mut walk, &mut state);
}

/// Reads text that a Windows shell would run.
pub(crate) fn text(command: &str, family: Family, walk: &mut Walk<'_>, state: &mut ShellState) {
    if command.len() > LONGEST {
        walk.collector.unknown("the end of a very long command");
        return;
    }
    if walk.depth > DEEPEST {
        walk.collector.unknown("the rest of the command");
        return;
    }
    walk.depth += 1;
    pipes(&parse(command, family), family, walk, state);
    walk.depth -= 1;
}

fn pipes(
    all: &[Vec<PipelinePart>],
    family: Family,
    walk: &mut Walk<'_>,
    state: &mut ShellState,
) -> PipeData {
    let mut last = PipeData::Nothing;
    for pipe in all {
        last = PipeData::Nothing;
        for part in pipe {
            last = run(part, family, walk, state, last);
        }
    }
    last
}

fn run(
    part: &PipelinePart,
    family: Family,
    walk: &mut Walk<'_>,
    state: &mut ShellState,
    input: PipeData,
) -> PipeData {
    let mut inner = PipeData::Nothing;
    for group in part.words.iter().flat_map(|word| &word.groups) {
        inner = pipes(group, family, walk, state);
    }
    let outer = walk.collector.begin_part();
    let is_null = |target: &Value| {
        target.text.eq_ignore_ascii_case("nul") || target.text.eq_ignore_ascii_case("$null")
    };
    for (kind, target) in part.redirects.iter().filter(|(_, target)| !is_null(target)) {
        walk.collector.path(*kind, target, &state.folders.clone());
    }
    let mut words: Vec<Value> = part.words.iter().map(|word| word.value.clone()).collect();
    if family == Family::Cmd {
        words = strip_keywords(words);
    }
    let output = match words.split_first() {
        Some((first, rest)) => command(first, rest, family, walk, state, input, &inner),
        None => inner,
    };
    walk.collector.end_part(&part.text, outer);
    output
}

fn command(
    first: &Value,
    rest: &[Value],
    family: Family,
    walk: &mut Walk<'_>,
    state: &mut ShellState,
    input: PipeData,
    inner: &PipeData,
) -> PipeData {
    let name = first.text.to_lowercase();
    let is_expression =
        family == Family::PowerShell && name.starts_with(['$', '(', '[', '{', '.', '@']);
    if is_expression {
        if name.starts_with('[') {
            walk.collector.add(Act::Code, &["PowerShell"]);
        }
        walk.collector.unknown(&first.text);
        return PipeData::Data;
    }
    let Some(row) = find(family, &name).or_else(|| find(Family::Cmd, &name)) else {
        let output = walk.command(&[std::slice::from_ref(first), rest].concat(), state, input);
        walk.collector.unknown(&first.text);
        return output;
    };
    let uses = uses(&row, rest);
    walk.apply(&name, &uses, state, input.clone());
    walk.embedded_in(&uses, rest, state);
    if takes(&row, WordKind::Command) {
        let runs_text = uses
            .words
            .iter()
            .any(|(kind, _)| *kind == WordKind::Command);
        match (runs_text, &input) {
            (true, _) if *inner == PipeData::Downloaded => walk.collector.add(Act::Downloaded, &[]),
            (false, PipeData::Downloaded) => walk.collector.add(Act::Downloaded, &[]),
            (false, PipeData::Text(_) | PipeData::Data | PipeData::Decoded) => {
                walk.collector.add(Act::Piped, &[])
            }
            (true, _) | (false, PipeData::Nothing) => {}
        }
    }
    let names_none = !uses.words.iter().any(|(kind, _)| kind.writes());
    if input != PipeData::Nothing && names_none && takes(&row, WordKind::Delete) {
        walk.collector.add(Act::DeleteFound, &[]);
    }
    walk.collector.unknown(&first.text);
    match (
        uses.words.iter().any(|(kind, _)| *kind == WordKind::Url),
        input,
    ) {
        (true, _) | (false, PipeData::Downloaded) => PipeData::Downloaded,
        (false, _) => PipeData::Data,
    }
}

fn takes(row: &ProgramRow, kind: WordKind) -> bool {
    let as_value = row
        .options
        .values()
        .any(|opt| opt.effect == OptionEffect::Value(kind));
    as_value
        || row
            .operands
            .iter()
            .flatten()
            .any(|operand| operand.kind == kind)
}

/// Returns the command after `for … do` and `if …` in cmd.
fn strip_keywords(mut words: Vec<Value>) -> Vec<Value> {
    for _ in 0..DEEPEST {
        let is = |at: usize, wanted: &str| {
            words
                .get(at)
                .is_some_and(|word| word.text.eq_ignore_ascii_case(wanted))
        };
        let count = if is(0, "for") || is(0, "do") {
            words
                .iter()
                .position(|word| word.text.eq_ignore_ascii_case("do"))
                .map_or(words.len(), |at| at + 1)
        } else if is(0, "if") {
            let not = usize::from(is(1, "not") || is(1, "/i"));
            if is(1 + not, "exist") || is(1 + not, "defined") || is(1 + not, "errorlevel") {
                3 + not
            } else {
                2 + not
            }
        } else if is(0, "else") || is(0, "call") {
            1
        } else {
            let at = words
                .first()
                .map(|word| word.text.trim_start_matches('@').to_owned());
            if let (Some(text), Some(first)) = (at, words.first_mut()) {
                first.text = text;
            }
            return words;
        };
        words.drain(..count.min(words.len()));
    }
    words
}

/// One word, with the commands in its brackets.
#[derive(Debug, Clone, PartialEq)]
struct WindowsWord {
    value: Value,
    groups: Vec<Vec<Vec<PipelinePart>>>,
}

/// One command of a pipe.
#[derive(Debug, Clone, PartialEq, Default)]
struct PipelinePart {
    words: Vec<WindowsWord>,
    redirects: Vec<(WordKind, Value)>,
    text: String,
}

/// Splits a text into pipes, and each pipe into its commands.
fn parse(text: &str, family: Family) -> Vec<Vec<PipelinePart>> {
    let mut splitter = Splitter {
        text,
        at: 0,
        family,
    };
    splitter.pipes(None, 0)
}

struct Splitter<'a> {
    text: &'a str,
    at: usize,
    family: Family,
}

impl Splitter<'_> {
    fn peek(&self) -> Option<char> {
        self.text
            .get(self.at..)
            .and_then(|rest| rest.chars().next())
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn pipes(&mut self, closing: Option<char>, depth: usize) -> Vec<Vec<PipelinePart>> {
        let mut pipes: Vec<Vec<PipelinePart>> = vec![Vec::new()];
        let mut part = PipelinePart::default();
        let mut begin = self.at;
        let end = |part: &mut PipelinePart, pipes: &mut Vec<Vec<PipelinePart>>, text: &str| {
            let mut part = std::mem::take(part);
            if !part.words.is_empty() || !part.redirects.is_empty() {
                text.trim().clone_into(&mut part.text);
                if let Some(pipe) = pipes.last_mut() {
                    pipe.push(part);
                }
            }
        };
        loop {
            let here = self.at;
            let source = self.text.get(begin..here).unwrap_or_default();
            match self.peek() {
                None => {
                    end(&mut part, &mut pipes, source);
                    return pipes;
                }
                Some(c) if closing == Some(c) => {
                    self.next();
                    end(&mut part, &mut pipes, source);
                    return pipes;
                }
                Some(c @ ('|' | ';' | '\n' | '&')) => {
                    self.next();
                    // `& 'C:\x.exe'` runs that file.
                    if c == '&' && self.family == Family::PowerShell && part.words.is_empty() {
                        continue;
                    }
                    end(&mut part, &mut pipes, source);
                    let doubled = self.peek() == Some(c);
                    if doubled {
                        self.next();
                    }
                    if c != '|' || doubled {
                        pipes.push(Vec::new());
                    }
                    begin = self.at;
                }
                Some('(' | ')') if self.family == Family::Cmd => {
                    self.next();
                }
                Some('#') if self.family == Family::PowerShell => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.next();
                    }
                }
                Some('>') => self.redirect(&mut part, depth),
                Some(c)
                    if c.is_whitespace()
                        || (c == ',' && self.family == Family::PowerShell)
                        || c == ')'
                        || c == '}' =>
                {
                    self.next();
                }
                Some(_) => {
                    let word = self.word(depth);
                    part.words.push(word);
                }
            }
        }
    }

    fn redirect(&mut self, part: &mut PipelinePart, depth: usize) {
        self.next();
        let appends = self.peek() == Some('>');
        if appends {
            self.next();
        }
        // A number before it names the stream.
        if part
            .words
            .last()
            .is_some_and(|word| matches!(word.value.text.as_str(), "1" | "2" | "*"))
        {
            part.words.pop();
        }
        if self.peek() == Some('&') {
            self.next();
            self.next();
            return;
        }
        while self.peek().is_some_and(|c| c == ' ' || c == '\t') {
            self.next();
        }
        let target = self.word(depth).value;
        let nothing = matches!(target.text.to_lowercase().as_str(), "nul" | "$null" | "");
        if !nothing {
            part.redirects.push((
                if appends {
                    WordKind::Append
                } else {
                    WordKind::Replace
                },
                target,
            ));
        }
    }

    /// Reads one word, up to a blank or another character that ends it.
    fn word(&mut self, depth: usize) -> WindowsWord {
        let begin = self.at;
        let mut text = String::new();
        let mut groups = Vec::new();
        let mut value = Value::certain("");
        let escape = if self.family == Family::Cmd { '^' } else { '`' };
        while let Some(c) = self.peek() {
            match c {
                '\'' | '"' if c == '"' || self.family == Family::PowerShell => {
                    self.next();
                    while let Some(inner) = self.next().filter(|inner| *inner != c) {
                        value.is_certain &= !(c == '"' && matches!(inner, '$' | '%'));
                        text.push(inner);
                    }
                }
                '(' | '{' if self.family == Family::PowerShell => {
                    let from = self.at;
                    self.next();
                    let closing = if c == '(' { ')' } else { '}' };
                    if depth < DEEPEST {
                        groups.push(self.pipes(Some(closing), depth + 1));
                    }
                    text.push_str(self.text.get(from..self.at).unwrap_or_default());
                    value.begins_uncertain |= from == begin;
                    value.is_certain = false;
                }
                c if c == escape => {
                    self.next();
                    text.extend(self.next());
                }
                c if c.is_whitespace()
                    || "|;&>)}".contains(c)
                    || (c == ',' && self.family == Family::PowerShell) =>
                {
                    break;
                }
                '(' => break,
                c => {
                    self.next();
                    value.is_certain &= !matches!(c, '$' | '%');
                    value.is_pattern |= matches!(c, '*' | '?');
                    text.push(c);
                }
            }
            // `/s/q` are two options.
            let is_switch = self.family == Family::Cmd
                && text.starts_with('/')
                && text.len() == 2
                && self.peek() == Some('/');
            if is_switch {
                break;
            }
        }
        if self.at == begin {
            self.next();
        }
        value.text = text.replace('\\', "/");
        WindowsWord { value, groups }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_report::Folders;

    fn acts(command: &str) -> Vec<Act> {
        let reading = crate::read(command, &Folders::default());
        assert!(!reading.unknown.is_empty(), "{command} counts as read");
        reading.findings.iter().map(|finding| finding.act).collect()
    }

    #[test]
    fn plain_windows_commands_are_reported() {
        for (command, act) in [
            ("Remove-Item -Recurse -Force build", Act::Tree),
            ("ri -r -fo .\\dist", Act::Tree),
            (
                "Get-ChildItem -Filter *.log | Remove-Item",
                Act::DeleteFound,
            ),
            ("iwr https://x.example/a -OutFile a.exe", Act::Download),
            ("iex (iwr https://x.example/i.ps1).Content", Act::Downloaded),
            ("iwr https://x.example/i.ps1 | iex", Act::Downloaded),
            ("Remove-Item (Join-Path a b)", Act::Delete),
            (
                "'build', 'dist' | ForEach-Object { rm -Recurse $_ }",
                Act::Tree,
            ),
            ("rd /s/q build", Act::Tree),
            ("RD /S /Q build", Act::Tree),
            ("cls; rm -rf build", Act::Tree),
            ("for /d %d in (*) do rmdir /s /q \"%d\"", Act::Tree),
            ("if exist build rd /s /q build", Act::Tree),
            ("cmd /c \"rd /s /q build & echo done\"", Act::Tree),
            (
                "powershell -NoProfile -Command \"Remove-Item -Recurse build\"",
                Act::Tree,
            ),
            ("dir > listing.txt & del /q *.log", Act::Delete),
            ("Write-Output x > src\\main.cs", Act::Replace),
        ] {
            assert!(
                acts(command).contains(&act),
                "{command}: {:?}",
                acts(command)
            );
        }
    }

    #[test]
    fn unix_commands_are_not_taken_for_windows_commands() {
        for command in [
            "ls -la /s",
            "rm -rf build",
            "find . -name x",
            "cat a | sort",
            "mkdir -p a/b",
            "echo /s /q",
            "(cd a && ls)",
        ] {
            assert_eq!(family(command), None, "{command}");
        }
    }

    #[test]
    fn parsing_hostile_text_ends() {
        for command in [
            "(".repeat(9_000),
            "Remove-Item ".repeat(800) + "{",
            "'".to_owned(),
            "Get-Item `".to_owned(),
        ] {
            let _ = parse(&command, Family::PowerShell);
            let _ = parse(&command, Family::Cmd);
        }
    }
}
