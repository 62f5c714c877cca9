//! How the agents of one source are announced, where that is not as for all.
//!
//! Responsibilities: which verbosity, load and languages hold for a source; changing the general ones
//! while a run lasts. Not here: where the settings come from (`config`), who is told of a change (`app`).
//!
//! # Mental model
//! Each source may have settings of its own, and they hold whatever becomes of the general ones: a key
//! that changes the general verbosity leaves such a source as it is, and says so. What the program says
//! in its own name, and every question, follows the general settings.

use std::cell::RefCell;
use std::sync::Arc;

use crate::config::{Load, SourceAnnounce, Verbosity};
use crate::protocol::Now;
use crate::session::{LinkId, Sessions};

use super::{Announcer, Told};
use crate::announce::text::coalesce::Policy;
use crate::announce::words::phrase::Phrases;

impl Announcer {
    /// Lets a source be announced in its own way.
    pub fn set_source(&mut self, link: LinkId, own: SourceAnnounce) {
        // It is asked for a dozen times with each event, and nearly always there is nothing of it.
        if own == SourceAnnounce::default() {
            self.own.remove(&link);
        } else {
            self.own.insert(link, own);
        }
    }

    /// Returns what of a source's announcements is not as for all, if anything is.
    pub fn source(&self, link: LinkId) -> Option<&SourceAnnounce> {
        self.own.get(&link)
    }

    /// Returns the verbosity at which a source is announced.
    pub fn verbosity_of(&self, link: LinkId) -> Verbosity {
        self.source(link)
            .and_then(|own| own.verbosity)
            .unwrap_or(self.settings.verbosity)
    }

    /// Returns how much of a source is announced.
    pub fn load_of(&self, link: LinkId) -> Load {
        self.source(link)
            .and_then(|own| own.load)
            .unwrap_or(self.settings.load)
    }

    /// Returns the languages in which a source is heard, best first.
    pub fn languages_of(&self, link: LinkId) -> &[String] {
        self.source(link)
            .and_then(|own| own.languages.as_deref())
            .unwrap_or(&self.settings.languages)
    }

    /// Changes how much is announced from now on, and gives the streamed text that waited only because
    /// of the old load.
    pub fn set_load(&mut self, load: Load, now: Now, sessions: &Sessions) -> Told {
        self.settings.load = load;
        let policies: Vec<_> = self
            .outputs
            .all()
            .map(|(link, place)| (place, Policy::from(self.load_of(link))))
            .collect();
        let mut told = Told::new();
        for (place, policy) in policies {
            if let Some(output) = self.outputs.at_mut(place) {
                let pieces = output.coalescer.set_policy(policy);
                told.extend(self.pieces(place, pieces, now, sessions));
                self.outputs.note(place);
            }
        }
        told
    }

    /// Changes the person's languages, best first, and the program's own words from now on.
    pub fn set_languages(&mut self, languages: Vec<String>, phrases: Arc<Phrases>) {
        self.settings.languages = languages;
        self.labels = super::called::labels(&phrases);
        self.phrases = phrases;
        self.last.get_mut().forget_names();
        self.made = RefCell::default();
    }
}
