//! The help: every key or line and what it does, from the shared table.

use crate::announce::{Arg, Class, Kind, Manner};
use crate::keys::{self, Keymap, LineCommand};

use super::{AppCx, Doing};

/// The most words of the help that says only what can be typed now.
const MOST_WORDS: usize = 80;
/// The lines that can be typed at any time, the most needed first.
const USUAL: [&str; 7] = ["> TEXT", "stop, stop 2", "t", "h", "output", "w", "q"];
/// The first line that several open questions do not need: a choice and words are explained with each question.
const SEVERAL: &str = "r TEXT, r 2 TEXT";

/// Shows the help and reads it out: people who can't see the screen need it most.
pub(super) fn help(keymap: &Keymap, cx: &mut AppCx) {
    match cx.face.manner() {
        Manner::Keys if matches!(cx.doing, Doing::Helping { .. }) => {
            cx.doing = Doing::Watching;
        }
        Manner::Keys => {
            cx.doing = Doing::Helping { scroll: 0 };
            let phrases = cx.phrases();
            let entries = keymap.help();
            let entries: Vec<String> = entries
                .map(|(key, does)| format!("{key}: {}.", phrases.help(does)))
                .collect();
            cx.respond("fault.other", &[("reason", Arg::Own(entries.join(" ")))]);
        }
        Manner::Lines => what_applies(cx),
        Manner::Program => all_help(cx),
    }
}

/// Announces what can be typed now: how to answer, then the usual lines, in few words.
fn what_applies(cx: &mut AppCx) {
    let mut rows = ways(cx);
    let rest = cx.phrases().text("help.all", &[]);
    let words = |row: &str| row.split_whitespace().count();
    let mut count = rows.iter().map(|row| words(row)).sum::<usize>() + words(&rest);
    let usual = USUAL.iter().filter_map(|name| {
        let mut lines = keys::LINES.iter();
        lines.find(|line| line.line == *name)
    });
    for line in usual {
        let row = row_of(line, cx);
        if count + words(&row) <= MOST_WORDS {
            count += words(&row);
            rows.push(row);
        }
    }
    rows.push(rest);
    say_rows(rows, cx);
}

/// Returns how the open questions can be answered. Nothing of that is left out, however long it is.
fn ways(cx: &AppCx) -> Vec<String> {
    let mut open = cx.sessions.open_questions();
    match (open.next(), open.next()) {
        (None, _) => Vec::new(),
        (Some(question), None) => vec![cx.announcer.keys(question)],
        // The numbers are the person's to fill in.
        (Some(_), Some(_)) => {
            let of_questions = keys::LINES.iter().take_while(|line| line.line != SEVERAL);
            of_questions.map(|line| row_of(line, cx)).collect()
        }
    }
}

fn row_of(line: &LineCommand, cx: &AppCx) -> String {
    format!("{}: {}.", line.line, cx.phrases().help(line.does))
}

/// Writes one line per entry, so that a screen reader can go from one to the next, with a heading before each
/// group.
pub(super) fn all_help(cx: &mut AppCx) {
    let phrases = cx.phrases();
    let mut rows = Vec::new();
    for group in keys::LINES.chunk_by(|one, next| one.group == next.group) {
        rows.extend(
            group
                .first()
                .map(|head| format!("{}:", phrases.help(head.group))),
        );
        rows.extend(group.iter().map(|line| row_of(line, cx)));
    }
    say_rows(rows, cx);
}

fn say_rows(rows: Vec<String>, cx: &mut AppCx) {
    for row in rows {
        let args = [("reason", Arg::Own(row))];
        let told = cx
            .announcer
            .say(Class::Response, Kind::Reply, "fault.other", &args, cx.now);
        cx.put(told);
    }
}
