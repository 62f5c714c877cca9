//! The help: every key or line and what it does, from the shared table.

use crate::announce::{Arg, Class, Kind, Manner};
use crate::keys;
use crate::protocol::Now;

use super::App;
use super::activity::Doing;

impl App {
    /// Shows the help and reads it out: people who can't see the screen need it most.
    pub(super) fn help(&mut self, now: Now) {
        match self.cx.face.manner() {
            Manner::Keys if matches!(self.cx.doing, Doing::Helping { .. }) => {
                self.cx.doing = Doing::Watching;
            }
            Manner::Keys => {
                self.cx.doing = Doing::Helping { scroll: 0 };
                let phrases = self.cx.announcer.phrases();
                let entries = self.hands.keymap().help();
                let entries: Vec<String> = entries
                    .map(|(key, does)| format!("{key}: {}.", phrases.help(does)))
                    .collect();
                self.cx.respond(
                    "fault.other",
                    &[("reason", Arg::Own(entries.join(" ")))],
                    now,
                );
            }
            Manner::Lines | Manner::Program => self.help_in_lines(now),
        }
    }

    /// Writes one line per entry, so that a screen reader can go from one to the next, with a heading before each
    /// group.
    fn help_in_lines(&mut self, now: Now) {
        let phrases = self.cx.announcer.phrases();
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
            let told =
                self.cx
                    .announcer
                    .say(Class::Response, Kind::Reply, "fault.other", &args, now);
            self.cx.put(told);
        }
    }
}
