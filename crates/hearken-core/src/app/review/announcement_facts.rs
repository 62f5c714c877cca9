//! Further facts about an announcement, and what of it can be copied: an address, an answer, code, a command.
//!
//! Responsibilities: finding them, reading them out, copying them. Not here: the facts themselves (`announce`), how the
//! terminal is asked to copy (`runtime`).

use std::sync::Arc;

use crate::announce::{Announcement, Arg, ClipboardText, EventFacts, Quote, QuoteKind};
use crate::config::Verbosity;
use crate::session::{QuestionBody, QuestionId};

use super::Review;
use crate::app::{AppCx, Effect};

/// The longest address that is copied, in bytes: browsers accept none that are longer, and terminals drop long
/// sequences.
const LONGEST_ADDRESS: usize = 2048;

/// The longest text that is copied, in bytes: terminals accept sequences of 100,000 bytes, of which the text gets three
/// quarters.
const LONGEST_COPY: usize = 74_994;

impl Review {
    /// Returns the announcement under review, or else the newest one, that has the wanted facts.
    fn with_facts(
        &self,
        wanted: impl Fn(&EventFacts) -> bool,
        cx: &AppCx,
    ) -> Option<Arc<Announcement>> {
        let history = cx.announcer.history();
        match self.at() {
            Some(id) => history.get(id).filter(|told| wanted(told.facts())).cloned(),
            None => history
                .iter()
                .rev()
                .find(|told| wanted(told.facts()))
                .cloned(),
        }
    }

    /// Reads out further facts, if there is no question to be read in full.
    pub(in crate::app) fn tell_facts(&mut self, cx: &mut AppCx) {
        let known = |facts: &EventFacts| {
            let says = !facts.words.is_empty() || !facts.more.is_empty();
            says || !facts.attached().changes.is_empty()
        };
        let Some(told) = self.with_facts(known, cx) else {
            cx.respond(
                match self.at() {
                    Some(_) => "review.no_more",
                    None => "reply.no_question",
                },
                &[],
            );
            return;
        };
        let agent = told.agent.as_deref().unwrap_or_default();
        let args = [("agent", Arg::Name(agent.to_owned()))];
        let mut segments = cx.phrases().say("fact.of_agent", Verbosity::Normal, &args);
        let facts = told.facts();
        segments.extend(facts.words.iter().chain(&facts.more).cloned());
        segments.extend(self.changes_of(&told, cx));
        let quote = Quote {
            agent: agent.into(),
            kind: QuoteKind::Text,
        };
        cx.quote(segments, vec![quote]);
    }

    /// Copies what is meant: the part of a turn being read, or the action of the shown question, or else the newer of
    /// the address under review and the last answer.
    pub(in crate::app) fn copy(&mut self, shown: Option<QuestionId>, cx: &mut AppCx) {
        if let Some(copied) = self.reading.copy() {
            give(&copied, cx);
            return;
        }
        let asked = shown.filter(|_| self.at().is_none());
        let asked = asked.and_then(|id| cx.sessions.question(id));
        if let Some(QuestionBody::Confirmation(asked)) = asked.map(|question| &question.body) {
            let copied = cx.announcer.copied_exactly(&asked.action);
            give(&copied, cx);
            return;
        }
        let found = self.with_facts(|facts| facts.address.is_some(), cx);
        let newest = match self.at() {
            None => cx.announcer.turn(None),
            Some(_) => None,
        };
        let is_newer = |found: &Arc<Announcement>| {
            let newest = newest.as_ref();
            newest.is_none_or(|turn| found.id > turn.last)
        };
        let answer = || {
            newest
                .as_ref()
                .and_then(|turn| turn.copied.first().cloned())
        };
        match (found.filter(is_newer), answer()) {
            (Some(found), _) => copy_address(&found, cx),
            (None, Some(copied)) => give(&copied, cx),
            (None, None) => cx.respond("copy.nothing", &[]),
        }
    }

    /// Copies everything that an agent wrote in the turn under review, or in the last one.
    pub(in crate::app) fn copy_answer(&self, cx: &mut AppCx) {
        let turn = cx.announcer.turn(self.at());
        match turn.and_then(|turn| turn.copied.first().cloned()) {
            Some(copied) => give(&copied, cx),
            None => cx.respond("turn.none", &[]),
        }
    }

    /// Copies the last block of code in that turn.
    pub(in crate::app) fn copy_code(&self, cx: &mut AppCx) {
        let turn = cx.announcer.turn(self.at());
        let code = turn.and_then(|turn| turn.copied.get(1..)?.last().cloned());
        match code {
            Some(copied) => give(&copied, cx),
            None => cx.respond("copy.no_code", &[]),
        }
    }
}

fn copy_address(found: &Announcement, cx: &mut AppCx) {
    let Some(address) = found.facts().address.clone() else {
        cx.respond("copy.nothing", &[]);
        return;
    };
    if !cx.face.copies() {
        cx.respond("copy.nowhere", &[]);
    } else if address.len() > LONGEST_ADDRESS {
        cx.respond("copy.too_long", &[]);
    } else {
        let args = [("address", Arg::Agent(address.clone(), None))];
        cx.respond("copy.done", &args);
        cx.effects.push(Effect::Copy(address));
    }
}

/// Copies a text to the terminal's clipboard.
fn give(copied: &ClipboardText, cx: &mut AppCx) {
    if !cx.face.copies() {
        cx.respond("copy.nowhere", &[]);
    } else if copied.text.len() > LONGEST_COPY {
        cx.respond("copy.text_too_long", &[]);
    } else {
        cx.answer_aside(copied.words.clone());
        cx.effects.push(Effect::Copy(copied.text.to_string()));
    }
}
