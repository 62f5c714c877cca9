//! The help: every key or line and what it does, from the one table.

use crate::announce::{Arg, Class, Kind, Manner};
use crate::keys;
use crate::protocol::Now;

use super::App;
use super::doing::Doing;

impl App {
    /// Shows the help and says it: whoever can't see the screen needs it most.
    pub(super) fn help(&mut self, now: Now) {
        let entries: Vec<(String, &str)> = match self.face.manner() {
            Manner::Keys if matches!(self.doing, Doing::Helping { .. }) => {
                self.doing = Doing::Watching;
                return;
            }
            Manner::Keys => {
                self.doing = Doing::Helping { scroll: 0 };
                self.hands.keymap().help().collect()
            }
            Manner::Lines | Manner::Program => keys::LINES
                .iter()
                .map(|line| (line.line.to_owned(), line.does))
                .collect(),
        };
        let phrases = self.announcer.phrases();
        let entries: Vec<String> = entries
            .into_iter()
            .map(|(key, does)| format!("{key}: {}.", phrases.help(does)))
            .collect();
        match self.face.manner() {
            Manner::Keys => self.respond(
                "fault.other",
                &[("reason", Arg::Own(entries.join(" ")))],
                now,
            ),
            // One line an entry, so that a screen reader can go from one to the next.
            Manner::Lines | Manner::Program => {
                for entry in entries {
                    let args = [("reason", Arg::Own(entry))];
                    let told =
                        self.announcer
                            .say(Class::Response, Kind::Reply, "fault.other", &args, now);
                    self.put(told);
                }
            }
        }
    }
}
