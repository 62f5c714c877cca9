//! How the agents of a source with its own settings are announced.
//!
//! Responsibilities: which verbosity, load and languages apply to a source; changing the general ones during a
//! run. Not here: where the settings come from (`config`), who is told of a change (`app`).
//!
//! # Mental model
//! Each source may have its own settings, which apply whatever happens to the general ones: a key that changes
//! the general verbosity does not affect such a source, and says so. What the program says in its own name, and
//! every question, follows the general settings.

use std::cell::RefCell;
use std::sync::Arc;

use crate::config::{Load, SourceAnnounce, Verbosity};
use crate::protocol::{AgentId, Now};
use crate::session::{LinkId, SessionKey, Sessions};

use super::{Announcer, NewAnnouncements};
use crate::announce::text::coalesce::Policy;
use crate::announce::words::phrase::Phrases;

impl Announcer {
    /// Sets a source's own announcement settings.
    pub fn set_source(&mut self, link: LinkId, own: SourceAnnounce) {
        // This is queried a dozen times per event, and a source hardly ever has its own settings.
        if own == SourceAnnounce::default() {
            self.source_settings.remove(&link);
        } else {
            self.source_settings.insert(link, own);
        }
    }

    /// Returns the settings of a source that differ from the general ones, if any.
    pub fn source(&self, link: LinkId) -> Option<&SourceAnnounce> {
        self.source_settings.get(&link)
    }

    /// Returns the verbosity at which a source is announced.
    pub fn verbosity_of(&self, link: LinkId) -> Verbosity {
        self.source(link)
            .and_then(|own| own.verbosity)
            .unwrap_or(self.settings.verbosity)
    }

    /// Returns the load at which a source is announced.
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

    /// Sets how much is announced from now on, and returns the streamed text that waited only because
    /// of the old load.
    pub fn set_load(&mut self, load: Load, now: Now, sessions: &Sessions) -> NewAnnouncements {
        self.settings.load = load;
        let policies: Vec<_> = self
            .outputs
            .all()
            .map(|(link, place)| (place, Policy::from(self.load_of(link))))
            .collect();
        let mut told = NewAnnouncements::new();
        for (place, policy) in policies {
            if let Some(output) = self.outputs.at_mut(place) {
                let pieces = output.coalescer.set_policy(policy);
                told.extend(self.pieces(place, pieces, now, sessions));
                self.outputs.note(place);
            }
        }
        told
    }

    /// Sets the person's languages, best first, and the phrases of the program's own words, from now on.
    pub fn set_languages(&mut self, languages: Vec<String>, phrases: Arc<Phrases>) {
        self.settings.languages = languages;
        self.labels = super::agent_names::labels(&phrases);
        self.phrases = phrases;
        self.last.get_mut().forget_names();
        self.agent_versions = RefCell::default();
    }

    /// Returns whether an agent is muted, so that only its urgent announcements are spoken.
    pub fn is_muted(&self, key: &SessionKey, agent: &str) -> bool {
        self.muting.by_hand(key).unwrap_or_else(|| {
            let named = |name: &String| name == key.agent.as_str() || name == agent;
            let quiet = self.source(key.link).is_some_and(|own| own.quiet);
            quiet || self.settings.muted.iter().any(named)
        })
    }

    /// Mutes or unmutes an agent for the rest of this run.
    pub fn set_muted(&mut self, key: &SessionKey, is_muted: bool) {
        self.muting.set(key, is_muted);
    }

    /// Announces only these agents of a source in full, or all if `None`; what is not urgent from others only
    /// enters the history.
    pub fn select(&mut self, link: LinkId, agents: Option<Vec<AgentId>>) {
        self.muting.select(link, agents);
    }
}
