//! A bridge: what any dialect receives, offered again as AAEP. Pure.
//!
//! Responsibilities: [`Bridge::update`] takes a [`BridgeInput`] and the time and returns [`BridgeEffect`]s;
//! [`Bridge::deadline`] returns when to call again with [`BridgeInput::Deadline`]. Not here: sockets and subscribers
//! (the producer), the form of what passes between a bridge and its watchers beyond AAEP (`dialect::fleet`), any word
//! to a person on this machine.
//!
//! # Mental model
//! A bridge is an app without a person. It drives the same dialects and follows the same sessions, but it
//! announces nothing, asks nobody and decides nothing: no rule and no script applies in it, and a question that
//! no watcher answers stays with its agent. Every event goes out unchanged, except that the name of the machine
//! is added. What a watcher wants goes to the dialect, under the dialect's own rules.
//!
//! # Worked example
//! Two watchers hear a question. Anna accepts and Ben rejects in the same second. Anna's request comes first:
//! the dialect sends her answer, and Ben's waits. The agent confirms: Anna's outcome is `taken`, Ben's is
//! `decided`, by Anna; everyone else learns from a report that Anna accepted. Had the agent been out of reach,
//! Anna would have been told, and Ben's answer would have been sent.
//!
//! The folder: `bridge_links` (events on a link, and the outputs of its dialect), `published_events` (events on
//! their way out), `watcher_answers` (questions and who answered them), `dangers` (what watchers of few lanes
//! would miss), `watcher_requests` (prompts and stops), `bridge_input` (what comes in and goes out).

mod bridge_input;
mod bridge_links;
mod dangers;
mod published_events;
mod watcher_answers;
mod watcher_requests;

use std::time::Duration;

use crate::app::{EveryLanguage, Exit, LinkOrder, SourceSetup};
use crate::config::{Config, Load, Verbosity};
use crate::dialect::fleet::{BridgeAbilities, BridgeReport, RequestOutcome};
use crate::dialect::{DialectOutput, Terms};
use crate::link::{LinkId, Phrase};
use crate::protocol::{KeyRing, Now};
use crate::session::Sessions;

pub use bridge_input::{BridgeEffect, BridgeInput};
use bridge_links::BridgedLink;
use published_events::SessionOwners;
use watcher_answers::Answers;

/// The whole state of a bridge.
#[derive(Debug)]
pub struct Bridge {
    /// The name of this machine for watchers.
    host: String,
    /// The name of the bridge's own session.
    session: String,
    words: EveryLanguage,
    links: Vec<BridgedLink>,
    sessions: Sessions,
    answers: Answers,
    published: SessionOwners,
    /// The standing that was last reported.
    standing: Option<BridgeAbilities>,
    /// Whether more questions are open than later watchers are told about.
    forgets: bool,
    /// The number of reports so far.
    reports: u64,
    effects: Vec<BridgeEffect>,
}

impl Bridge {
    /// Builds the initial state.
    pub fn new(
        host: String,
        config: &Config,
        keys: &KeyRing,
        seed: u64,
        sources: Vec<SourceSetup>,
    ) -> Self {
        let mut sessions = Sessions::default();
        for (at, source) in sources.iter().enumerate() {
            sessions.add_link(LinkId(at), source.answerable);
        }
        let words = EveryLanguage::best_for(&config.announce.languages);
        // Watchers choose for themselves, so the bridge asks for everything.
        let terms = |_| Terms {
            verbosity: Verbosity::Detailed,
            load: Load::High,
            languages: config.announce.languages.clone(),
            rate: None,
        };
        let starts = crate::app::starts(&sources, config, keys, seed, terms);
        let links = sources.into_iter().zip(starts);
        Self {
            host,
            session: format!("bridge{seed:016x}"),
            words,
            links: links
                .map(|(source, start)| BridgedLink::new(source, start))
                .collect(),
            sessions,
            answers: Answers::default(),
            published: SessionOwners::default(),
            standing: None,
            forgets: false,
            reports: 0,
            effects: Vec::new(),
        }
    }

    /// Handles a fact and returns the effects to carry out, in order.
    pub fn update(&mut self, input: BridgeInput, now: Now) -> Vec<BridgeEffect> {
        match input {
            BridgeInput::Start => {}
            BridgeInput::Link { link, event } => self.link(link, event, now),
            BridgeInput::Request { number, request } => self.request(number, request, now),
            BridgeInput::Reply(reply) => self.answer(None, reply, None, now),
            BridgeInput::Forgets => self.forgets = true,
            BridgeInput::Announce(phrase) => self.tell(&phrase, "", now),
            BridgeInput::Deadline => {
                self.tick_links(now);
                let changes = self.sessions.tick(now);
                self.report_changes(&changes, now);
            }
            BridgeInput::End => self.end(now),
        }
        self.report_standing(now);
        std::mem::take(&mut self.effects)
    }

    /// Returns when to call again with [`BridgeInput::Deadline`].
    pub fn deadline(&self) -> Option<Duration> {
        let links = self.links.iter().filter_map(BridgedLink::deadline).min();
        [links, self.sessions.deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Reports what can be done with the agents, whenever that changes.
    fn report_standing(&mut self, now: Now) {
        let mut standing = BridgeAbilities {
            host: self.host.clone(),
            forgets: self.forgets,
            ..BridgeAbilities::default()
        };
        for link in self.links.iter().filter(|link| !link.is_over()) {
            let connection = link.connection();
            standing.several |=
                connection.takes_prompts && (standing.prompts || connection.converses);
            standing.prompts |= connection.takes_prompts;
            standing.stops |= connection.takes_prompts && !connection.never_stops;
            standing.working |= connection.in_turn;
            standing.starting |= connection.gets_ready;
        }
        if self.standing.as_ref() != Some(&standing) {
            self.standing = Some(standing.clone());
            self.report(BridgeReport::Standing(standing), now);
        }
    }

    /// Reports something to every watcher in the bridge's own name.
    fn notice(&mut self, link: LinkId, phrase: &Phrase, now: Now) {
        let source = self.links.get(link.0).map(|link| link.name.clone());
        self.tell(phrase, &source.unwrap_or_default(), now);
    }

    fn tell(&mut self, phrase: &Phrase, source: &str, now: Now) {
        let (said, language) = self.words.phrase(phrase, source);
        self.report(BridgeReport::Notice { said, language }, now);
    }

    fn report(&mut self, report: BridgeReport, now: Now) {
        let text = report.to_event(&self.host, &self.session, self.reports, now.wall);
        self.reports += 1;
        self.effects.push(BridgeEffect::Report { text, report });
    }

    fn outcome(&mut self, number: Option<u64>, outcome: RequestOutcome) {
        if let Some(number) = number {
            self.effects.push(BridgeEffect::Outcome { number, outcome });
        }
    }

    fn order(&mut self, link: LinkId, order: LinkOrder) {
        self.effects.push(BridgeEffect::Link { link, order });
    }

    /// Reports what becomes of each open question when the bridge ends.
    fn end(&mut self, now: Now) {
        for at in 0..self.links.len() {
            self.publish_held(LinkId(at));
        }
        self.leave_questions(now);
        self.give_up_requests();
    }

    /// Ends the bridge once no source is left that could still speak.
    fn end_without_sources(&mut self) {
        if self.links.iter().all(BridgedLink::is_over) {
            self.effects.push(BridgeEffect::Over(Exit::NoSource));
        }
    }

    /// Carries out what a dialect wants.
    fn carry_out(&mut self, link: LinkId, out: Vec<DialectOutput>, now: Now) {
        for out in out {
            self.carry_out_one(link, out, now);
        }
    }
}

#[cfg(test)]
#[path = "tests/mod.rs"]
mod tests;
