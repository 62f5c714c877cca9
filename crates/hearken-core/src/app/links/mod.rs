//! The sources: what is known of each, what came from it, and what its dialect wishes.
//!
//! Responsibilities: everything that belongs to a link ([`Links`]), the news of it in words, carrying out what
//! its dialect wishes. Not here: how the other side is spoken with (`dialect`), how bytes travel (`transport`),
//! which answer is sent when (`sending`).
//!
//! The folder: `view` (one source and its turns) with `stream` (its life as a table), `start` (what its start is
//! waited for), `speaks` (what it was heard to speak) and `unread` (a frame that is read in steps) hold what is known;
//! `news` (what happens, told), `wishes` (what a dialect wishes, done), `waiting` (a start that lasts), `reading`
//! (messages with many events), `foreign` (what is no AAEP), `words` (faults and phrases in words) tell and do it.

mod foreign;
mod news;
mod reading;
mod speaks;
mod start;
mod stream;
mod unread;
mod view;
mod waiting;
mod wishes;
mod words;

use std::time::Duration;

use crate::announce::{Announcer, SpeechQueue};
use crate::config::Config;
use crate::dialect::{self, Out, Start, Terms, Wish, Words};
use crate::link::{self, Address, LinkId};
use crate::protocol::{KeyRing, Now, Reply};

use super::{EveryLanguage, SourceSetup};
pub use stream::{LinkPhase, Stream, StreamEvent};
pub use view::LinkView;

use unread::Unread;

/// The sources, in the order of the command line.
#[derive(Debug)]
pub(super) struct Links {
    all: Vec<LinkView>,
    /// The frame that is being read in steps.
    reading: Option<Unread>,
}

impl Links {
    /// Makes the sources known. `terms` is how the person wants to hear each.
    pub(super) fn new(
        sources: Vec<SourceSetup>,
        config: &Config,
        keys: &KeyRing,
        seed: u64,
        terms: impl Fn(LinkId) -> Terms,
    ) -> Self {
        let mut seed = seed;
        let words = Words::new(EveryLanguage::best_for(&config.announce.languages));
        let all = sources.into_iter().enumerate().map(|(at, source)| {
            let id = LinkId(at);
            let start = Start {
                carrier: source.carrier,
                path: source.path.clone(),
                origin: source.origin.clone(),
                stream: link::Stream::at(Address::Given),
                plain: source.plain,
                handshake: asks(&source, config),
                keys: keys.clone(),
                terms: terms(id),
                seed,
                numbers: dialect::Numbers::default(),
                words: words.clone(),
                identity: source.identity.clone(),
                folder: source.folder.clone(),
                prompt: source.prompt.clone(),
                prompts_at: source.prompts_at.clone(),
                earlier: source.earlier,
                handler: source.handler,
                conversation: source.conversation.clone(),
            };
            // Far from each other: a dialect draws as many numbers as it needs.
            seed = seed.wrapping_add(0xa076_1d64_78bd_642f);
            let machine = dialect::open(source.dialect, start);
            LinkView::new(
                id,
                source.name,
                source.as_given,
                source.answerable,
                source.recording,
                source.program,
                machine,
            )
        });
        Self {
            all: all.collect(),
            reading: None,
        }
    }

    /// Returns each source.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, LinkView> {
        self.all.iter()
    }

    /// Returns all sources.
    pub(super) fn all(&self) -> &[LinkView] {
        &self.all
    }

    /// Counts them.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns one.
    pub(super) fn get(&self, id: LinkId) -> Option<&LinkView> {
        self.all.get(id.0)
    }

    /// Returns one to change it.
    pub(super) fn get_mut(&mut self, id: LinkId) -> Option<&mut LinkView> {
        self.all.get_mut(id.0)
    }

    /// Returns its name for a person.
    pub(super) fn name(&self, id: LinkId) -> String {
        self.get(id)
            .map(|view| view.name.clone())
            .unwrap_or_default()
    }

    /// Returns when one that came back has held so long that it is back, or is taken for the one that asked.
    pub(super) fn steady_due(&self) -> Option<Duration> {
        self.all.iter().filter_map(LinkView::steady_due).min()
    }

    /// Returns when the start of one has lasted so long that it is told.
    pub(super) fn start_due(&self) -> Option<Duration> {
        self.all.iter().filter_map(LinkView::waits_until).min()
    }

    /// Returns when the dialect of one that is not over waits no longer.
    pub(super) fn dialects_due(&self) -> Option<Duration> {
        self.all.iter().filter_map(LinkView::dialect_due).min()
    }

    /// Returns whether none is left that could still speak.
    pub(super) fn are_over(&self) -> bool {
        self.all.iter().all(LinkView::is_over)
    }

    /// Returns whether one was given up.
    pub(super) fn has_failed(&self) -> bool {
        self.all
            .iter()
            .any(|view| matches!(view.phase, LinkPhase::Failed))
    }

    /// Returns whether a frame is being read in steps.
    pub(super) fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// Returns what an answer of the person becomes on its link.
    pub(super) fn reply(&mut self, id: LinkId, request: u64, reply: &Reply, now: Now) -> Vec<Out> {
        let mut out = Vec::new();
        if let Some(view) = self.get_mut(id) {
            view.dialect_mut().reply(request, reply, now, &mut out);
        }
        out
    }

    /// Tells a source what the person wants of its agent, and gives what comes of that.
    pub(super) fn want(&mut self, id: LinkId, wish: &Wish, now: Now) -> Vec<Out> {
        let mut out = Vec::new();
        if let Some(view) = self.get_mut(id) {
            view.dialect_mut().wish(wish, now, &mut out);
        }
        out
    }
}

/// Returns how the person wants to hear a source now.
pub(super) fn terms(announcer: &Announcer, queue: &SpeechQueue, id: LinkId) -> Terms {
    Terms {
        verbosity: announcer.verbosity_of(id),
        load: announcer.load_of(id),
        languages: announcer.languages_of(id).to_vec(),
        rate: queue.deliveries().usual().rate,
    }
}

/// Returns what is asked of a source: its own settings, else those of all.
pub(super) fn asks(source: &SourceSetup, config: &Config) -> crate::config::HandshakeConfig {
    let own = source.handshake.as_ref();
    own.unwrap_or(&config.handshake).clone()
}

#[cfg(test)]
#[path = "tests/handshake.rs"]
mod handshake_tests;
