//! What more is known of something that was told, and the address in it.
//!
//! Responsibilities: finding it, reading it, wishing it to be copied. Not here: the facts themselves
//! (`announce`), how the terminal is asked (`runtime`).

use std::sync::Arc;

use crate::announce::{Announcement, Arg, Class, Facts, Kind};
use crate::config::Verbosity;
use crate::protocol::Now;

use crate::app::{App, Effect};

/// How long an address may be that is copied, in bytes: browsers take no longer ones, and terminals drop
/// long sequences.
const LONGEST_ADDRESS: usize = 2048;

impl App {
    /// Finds what is looked back at, or else the newest of what was told, where more is known of it.
    pub(in crate::app) fn with_facts(
        &self,
        wanted: impl Fn(&Facts) -> bool,
    ) -> Option<Arc<Announcement>> {
        let history = self.announcer.history();
        match self.review.at() {
            Some(id) => history.get(id).filter(|told| wanted(&told.facts)).cloned(),
            None => history
                .iter()
                .rev()
                .find(|told| wanted(&told.facts))
                .cloned(),
        }
    }

    /// Says what more is known, where no question is there to be told in full.
    pub(in crate::app) fn tell_facts(&mut self, now: Now) {
        let known = |facts: &Facts| !facts.words.is_empty() || !facts.attached.changes.is_empty();
        let Some(told) = self.with_facts(known) else {
            self.respond("reply.no_question", &[], now);
            return;
        };
        let agent = told.agent.clone().unwrap_or_default();
        let args = [("agent", Arg::Name(agent))];
        let mut segments = self
            .announcer
            .phrases()
            .say("fact.of_agent", Verbosity::Normal, &args);
        segments.extend(told.facts.words.iter().cloned());
        segments.extend(self.changes_of(&told));
        let answer = self
            .announcer
            .aside(Class::Response, Kind::Reply, segments, now);
        self.emit(answer, now);
    }

    /// Gives the address that is looked at to the terminal's clipboard.
    pub(in crate::app) fn copy(&mut self, now: Now) {
        let found = self.with_facts(|facts| facts.address.is_some());
        let Some(address) = found.and_then(|told| told.facts.address.clone()) else {
            self.respond("copy.nothing", &[], now);
            return;
        };
        if !self.face.copies() {
            self.respond("copy.nowhere", &[], now);
        } else if address.len() > LONGEST_ADDRESS {
            self.respond("copy.too_long", &[], now);
        } else {
            let args = [("address", Arg::Agent(address.clone(), None))];
            self.respond("copy.done", &args, now);
            self.effects.push(Effect::Copy(address));
        }
    }
}
