//! The help: every key or line and what it does, from the shared table.

use crate::announce::{Arg, Class, Kind, Manner};
use crate::keys::{self, Keymap};

use super::{AppCx, Doing};

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
        Manner::Lines | Manner::Program => help_in_lines(cx),
    }
}

/// Writes one line per entry, so that a screen reader can go from one to the next, with a heading before each
/// group.
fn help_in_lines(cx: &mut AppCx) {
    let phrases = cx.phrases();
    let mut rows = Vec::new();
    for group in keys::LINES.chunk_by(|one, next| one.group == next.group) {
        rows.extend(
            group
                .first()
                .map(|head| format!("{}:", phrases.help(head.group))),
        );
        rows.extend(
            group
                .iter()
                .map(|line| format!("{}: {}.", line.line, phrases.help(line.does))),
        );
    }
    for row in rows {
        let args = [("reason", Arg::Own(row))];
        let told = cx
            .announcer
            .say(Class::Response, Kind::Reply, "fault.other", &args, cx.now);
        cx.put(told);
    }
}
