//! Compares the findings about commands with a person's account of each.
//!
//! Each line of `cases/dangerous.tsv` and `cases/ordinary.tsv` has the acts, a tab and the command. For `a|b`
//! one act is enough, for `a,b` both are needed, and `-` stands for none. `\n`, `\t` and `\\` stand for a new
//! line, a tab and a backslash.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use hearken_shell::{ActRank, CommandReport, Folders, read};

fn rows(text: &str) -> Vec<(String, String)> {
    let plain = |line: &str| {
        line.replace("\\\\", "\u{1}")
            .replace("\\n", "\n")
            .replace("\\t", "\t")
            .replace('\u{1}', "\\")
    };
    let rows = text.lines().map(|line| line.split_once('\t').unwrap());
    rows.map(|(acts, command)| (acts.to_owned(), plain(command)))
        .collect()
}

fn judge(command: &str) -> CommandReport {
    let place = Folders {
        folder: Some("/work/app".to_owned()),
        start: None,
    };
    read(command, &place)
}

fn names(reading: &CommandReport) -> Vec<&'static str> {
    reading
        .findings
        .iter()
        .map(|finding| finding.act.name())
        .collect()
}

#[test]
fn dangerous_commands_are_found() {
    let rows = rows(include_str!("cases/dangerous.tsv"));
    assert!(rows.len() >= 590);
    let mut missed = Vec::new();
    for (acts, command) in &rows {
        let reading = judge(command);
        assert!(!reading.is_cleared(None), "passes in silence: {command}");
        let found = names(&reading);
        let has = |one: &str| one.split('|').any(|act| found.contains(&act));
        if !acts.split(',').all(has) {
            missed.push(format!("{acts}: {command}: {found:?}"));
        }
    }
    let most = rows.len() / 20;
    assert!(
        missed.len() <= most,
        "{} of {}:\n{}",
        missed.len(),
        rows.len(),
        missed.join("\n")
    );
}

#[test]
fn ordinary_commands_have_no_false_findings() {
    let rows = rows(include_str!("cases/ordinary.tsv"));
    assert!(rows.len() >= 590);
    let mut unread = 0;
    for (acts, command) in &rows {
        let reading = judge(command);
        let allowed: Vec<&str> = acts.split([',', '|']).collect();
        for finding in &reading.findings {
            let is_true =
                finding.act.rank() == ActRank::Project || allowed.contains(&finding.act.name());
            assert!(is_true, "{command}: {finding:?}");
        }
        unread += usize::from(!reading.unknown.is_empty());
    }
    assert!(
        unread <= rows.len() / 8,
        "{unread} of {} are not read",
        rows.len()
    );
}

/// Findings are sorted gravest first, each act occurs once, and a part of the command explains each of them.
#[test]
fn findings_are_sorted_and_explained() {
    for (_, command) in rows(include_str!("cases/dangerous.tsv")) {
        let reading = judge(&command);
        let ranks: Vec<ActRank> = reading
            .findings
            .iter()
            .map(|finding| finding.act.rank())
            .collect();
        assert!(ranks.is_sorted(), "{command}: {ranks:?}");
        let mut acts = names(&reading);
        acts.sort_unstable();
        acts.dedup();
        assert_eq!(acts.len(), reading.findings.len(), "{command}");
        let parts = reading.parts.iter().flat_map(|part| &part.findings);
        let explained: Vec<_> = parts.map(|finding| finding.act).collect();
        for finding in &reading.findings {
            assert!(
                explained.contains(&finding.act),
                "{command}: no part explains {finding:?}"
            );
        }
    }
}
