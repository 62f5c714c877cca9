//! The sources: the state of each, its news, and the outputs of its dialect.
//!
//! Responsibilities: everything that belongs to a link ([`Links`]), announcing its news, carrying out the outputs of
//! its dialect. Not here: how to speak with the other side (`dialect`), how bytes travel (`transport`), which answer is
//! sent when (`answer_delivery`).
//!
//! The folder: `source_view` (one source), with `stream` (its life cycle as a table), `start` (the wait for its
//! start), `heard_protocol` (what it was heard to speak), `recording_start` (the first lines of a recording),
//! `unread_texts` (a frame that is read in steps) and `remarks` (what a program wrote), holds the state; `news`
//! (announcing what happens), `lost_sources` (loss, failure, end, leaving), `dialect_outputs` (carrying out a dialect's
//! outputs), `slow_starts` (a start that takes long), `text_reading` (messages with many events), `foreign_sources`
//! (what is not AAEP), `programs` (remarks, and agents cut short) and `link_words` (phrases in words) act on
//! it.

mod dialect_outputs;
mod foreign_sources;
mod heard_protocol;
mod link_words;
mod lost_sources;
mod news;
mod programs;
mod recording_start;
mod remarks;
mod slow_starts;
mod source_view;
mod start;
mod stream;
mod text_reading;
mod unread_texts;

use std::time::Duration;

use crate::announce::{Announcer, SpeechQueue};
use crate::config::{AskMode, Config};
use crate::dialect::{self, Cx, DialectOutput, DialectSetup, PersonRequest, SharedWording, Terms};
use crate::link::{self, Address, LinkId};
use crate::protocol::{AgentId, KeyRing, Now, Reply};

use super::{EveryLanguage, SourceSetup};
pub use source_view::LinkView;
pub use stream::{LinkPhase, Stream, StreamEvent};

use unread_texts::UnreadFrame;

/// The sources, in the order of the command line.
#[derive(Debug)]
pub(super) struct Links {
    all: Vec<LinkView>,
    /// The frame that is being read in steps.
    reading: Option<UnreadFrame>,
}

impl Links {
    /// Creates the sources. `terms` returns how the person wants to hear each.
    pub(super) fn new(
        sources: Vec<SourceSetup>,
        config: &Config,
        keys: &KeyRing,
        seed: u64,
        terms: impl Fn(LinkId) -> Terms,
    ) -> Self {
        let starts = starts(&sources, config, keys, seed, terms);
        let all = sources.into_iter().zip(starts).enumerate();
        let all = all.map(|(at, (source, start))| {
            let machine = dialect::open(source.dialect, start);
            let view = LinkView::new(
                LinkId(at),
                source.name,
                source.as_given,
                source.answerable,
                source.recording,
                source.program,
                machine,
            );
            match source.broker {
                Some(place) if place.beside => view.beside_another(),
                Some(_) | None => view,
            }
        });
        Self {
            all: all.collect(),
            reading: None,
        }
    }

    /// Returns an iterator over the sources.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, LinkView> {
        self.all.iter()
    }

    /// Returns all sources as a slice.
    pub(super) fn all(&self) -> &[LinkView] {
        &self.all
    }

    /// Returns the number of sources.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the number of sources that the person named.
    pub(super) fn named(&self) -> usize {
        self.iter().filter(|view| !view.is_beside()).count()
    }

    /// Returns the source with this id.
    pub(super) fn get(&self, id: LinkId) -> Option<&LinkView> {
        self.all.get(id.0)
    }

    /// Returns the source with this id, for changes.
    pub(super) fn get_mut(&mut self, id: LinkId) -> Option<&mut LinkView> {
        self.all.get_mut(id.0)
    }

    /// Returns the source's name for a person.
    pub(super) fn name(&self, id: LinkId) -> String {
        self.get(id)
            .map(|view| view.name.clone())
            .unwrap_or_default()
    }

    /// Returns when the next source that came back has stayed up long enough to count as back, or as the one that
    /// asked.
    pub(super) fn steady_due(&self) -> Option<Duration> {
        self.all.iter().filter_map(LinkView::steady_due).min()
    }

    /// Returns when the next slow start is to be announced.
    pub(super) fn start_due(&self) -> Option<Duration> {
        self.all.iter().filter_map(LinkView::waits_until).min()
    }

    /// Returns when the next dialect of a source that is not over stops waiting.
    pub(super) fn dialects_due(&self) -> Option<Duration> {
        self.all.iter().filter_map(LinkView::dialect_due).min()
    }

    /// Returns whether no source is left that could still speak.
    pub(super) fn are_over(&self) -> bool {
        self.all.iter().all(LinkView::is_over)
    }

    /// Returns whether a source was given up.
    pub(super) fn has_failed(&self) -> bool {
        self.all
            .iter()
            .any(|view| matches!(view.phase, LinkPhase::Failed))
    }

    /// Returns whether a frame is being read in steps.
    pub(super) fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// Returns the outputs by which a dialect sends the person's answer.
    pub(super) fn reply(
        &mut self,
        id: LinkId,
        request: u64,
        reply: &Reply,
        now: Now,
    ) -> Vec<DialectOutput> {
        let mut out = Vec::new();
        if let Some(view) = self.get_mut(id) {
            view.dialect_mut()
                .reply(request, reply, &mut Cx::new(now, &mut out));
        }
        out
    }

    /// Selects the agents of a source that are reported in full, or all (`None`), and returns the dialect's
    /// outputs.
    pub(super) fn select(
        &mut self,
        id: LinkId,
        agents: Option<&[AgentId]>,
        now: Now,
    ) -> Vec<DialectOutput> {
        let mut out = Vec::new();
        if let Some(view) = self.get_mut(id) {
            view.dialect_mut()
                .select(agents, &mut Cx::new(now, &mut out));
        }
        out
    }

    /// Passes the person's request on to a source's dialect, and returns the dialect's outputs.
    pub(super) fn want(
        &mut self,
        id: LinkId,
        wish: &PersonRequest,
        now: Now,
    ) -> Vec<DialectOutput> {
        let mut out = Vec::new();
        if let Some(view) = self.get_mut(id) {
            view.dialect_mut()
                .on_person_request(wish, &mut Cx::new(now, &mut out));
        }
        out
    }
}

/// Returns what each source's dialect is created from. `terms` returns how the person wants to hear each.
pub(crate) fn starts(
    sources: &[SourceSetup],
    config: &Config,
    keys: &KeyRing,
    seed: u64,
    terms: impl Fn(LinkId) -> Terms,
) -> Vec<DialectSetup> {
    let mut seed = seed;
    let words = SharedWording::new(EveryLanguage::best_for(&config.announce.languages));
    let start = |(at, source): (usize, &SourceSetup)| {
        let start = DialectSetup {
            carrier: source.carrier,
            path: source.path.clone(),
            origin: source.origin.clone(),
            stream: link::Stream::at(Address::Given),
            plain: source.plain,
            handshake: asks(source, config),
            keys: keys.clone(),
            terms: terms(LinkId(at)),
            seed,
            numbers: dialect::RequestNumbers::default(),
            words: words.clone(),
            token: source.token.clone(),
            identity: source.identity.clone(),
            folder: source.folder.clone(),
            prompt: source.prompt.clone(),
            prompts_at: source.prompts_at.clone(),
            earlier: source.earlier,
            ask_always: config.run.ask == AskMode::Always,
            hand_back: Duration::from_secs(config.links.hand_back_seconds),
            gemini_waits: config.links.gemini_waits,
            handler: source.handler,
            conversation: source.conversation.clone(),
            broker: source.broker.clone(),
        };
        // The seeds are far apart: a dialect draws as many numbers as it needs.
        seed = seed.wrapping_add(0xa076_1d64_78bd_642f);
        start
    };
    sources.iter().enumerate().map(start).collect()
}

/// Returns how the person currently wants to hear a source.
pub(super) fn terms(announcer: &Announcer, queue: &SpeechQueue, id: LinkId) -> Terms {
    Terms {
        verbosity: announcer.verbosity_of(id),
        load: announcer.load_of(id),
        languages: announcer.languages_of(id).to_vec(),
        rate: queue.deliveries().usual().rate,
    }
}

/// Returns the handshake settings of a source: its own, or else the general ones.
pub(super) fn asks(source: &SourceSetup, config: &Config) -> crate::config::HandshakeConfig {
    let own = source.handshake.as_ref();
    own.unwrap_or(&config.handshake).clone()
}

#[cfg(test)]
#[path = "tests/link_handshake.rs"]
mod handshake_tests;
