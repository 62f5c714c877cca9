//! Changing how agents are announced while a run lasts: verbosity.
//!
//! Responsibilities: what a change does at once, what is said back, and that every producer with a
//! handshake is asked for it (5.7). Not here: what a verbosity does to an announcement (`announce`), how
//! a producer is asked (`agreement`).
//!
//! # Mental model
//! A key changes what holds for all sources. A source whose settings name a value of its own keeps that,
//! and is named in what is said back, so that nobody waits for a change that never comes.
//!
//! # Worked example
//! `v` with a source that is terse by its settings: "Verbosity: detailed. planner keeps terse."

use crate::announce::{Announcer, Arg};
use crate::config::{SourceAnnounce, Verbosity};
use crate::protocol::Now;

use super::App;

impl App {
    /// Goes to the next verbosity.
    pub(super) fn change_verbosity(&mut self, now: Now) {
        let next = match self.announcer.verbosity() {
            Verbosity::Terse => Verbosity::Normal,
            Verbosity::Normal => Verbosity::Detailed,
            Verbosity::Detailed => Verbosity::Terse,
        };
        self.announcer.set_verbosity(next);
        self.change_terms();
        let level = |announcer: &Announcer, level| {
            let key = match level {
                Verbosity::Terse => "verbosity.terse",
                Verbosity::Normal => "verbosity.normal",
                Verbosity::Detailed => "verbosity.detailed",
            };
            announcer.phrases().text(key, &[])
        };
        let kept = self.kept(|announcer, own| Some(level(announcer, own.verbosity?)));
        let args = [
            ("level", Arg::Own(level(&self.announcer, next))),
            ("kept", Arg::Own(kept)),
        ];
        self.respond("verbosity", &args, now);
    }

    /// Names the sources that keep a value of their own, each with it; empty where none does.
    fn kept(&self, own: impl Fn(&Announcer, &SourceAnnounce) -> Option<String>) -> String {
        let kept = self.links.iter().filter(|view| !view.phase.is_over());
        let words: Vec<String> = kept
            .filter_map(|view| {
                let value = own(&self.announcer, self.announcer.source(view.id)?)?;
                let args = [
                    ("source", Arg::Own(view.name.clone())),
                    ("value", Arg::Own(value)),
                ];
                Some(self.announcer.phrases().text("own.keeps", &args))
            })
            .collect();
        words.join(" ")
    }
}
