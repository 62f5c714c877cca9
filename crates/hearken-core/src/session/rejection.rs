//! Calls that carry out a rejected action (A.8.5).
//!
//! Responsibilities: which rejected question a call is about, and how certain that is. Not here: how a question is
//! decided (`answer_path`), calls without a question (`consent`), the words (`announce`).
//!
//! # Mental model
//! A.8.5 does not depend on a call's account of itself. A call is about the question that has its id; or else
//! about the one whose words it names best, if it names most of them, including the verb and no other number.
//! If that question was rejected, the call certainly carries it out. If the question is a repetition that
//! nobody accepted here, the call may carry it out.
//!
//! If the call is about no question, and no accepted action waits for its call, the first call that succeeds
//! after a rejection may be the rejected action, whatever its name; it certainly is if its tool begins with the
//! same verb. That ends with the turn. Translated calls that only look at something are exempt, and so are
//! calls of a tool other than the one that the question names. While another accepted action waits for its
//! call, a call may be the rejected action if only that action has its tool or its verb: harmless questions are
//! no decoy.
//!
//! A rejection in another session of the same link counts for ten minutes. A call with the words of that
//! question, or with its tool and arguments, may be the rejected action, unless that was accepted since.
//!
//! # Worked example
//! "Transfer $500 from checking to savings" is rejected. `transfer_funds`, "Transferring $500 from checking to
//! savings", has neither the id nor the tool of the question, but its words: it certainly does what was
//! rejected. `sync_accounts` in its place might do so; the call after it would not count.

use std::collections::BTreeSet;
use std::time::Duration;

use smallvec::SmallVec;

use crate::protocol::{Decision, Envelope, Now, ToolInvoked};

use super::key::{QuestionId, SessionKey};
use super::question::{Question, ReplyState};
use super::question_body::QuestionBody;
use super::sessions::Sessions;
use super::suspicion::Suspicion;
use super::token_memory::digest_of_text;

/// The seconds after the end of a question's time in which a decision made just before may still show.
const SLACK: u64 = 2;
/// The share of a question's words that a call must name, in percent.
const MOST_OF_IT: usize = 60;
/// The fewest words by which a question is recognised.
const FEWEST: usize = 2;
/// How long after a rejection a call may count as the first one after it, or as the action that another session
/// was denied.
const RIGHT_AFTER: Duration = Duration::from_secs(600);
/// The most characters of a text that are compared.
const LONGEST: usize = 4000;
/// The most decided questions that are compared with the calls of other sessions: more than anyone decides in
/// that time.
const MOST_DECIDED: usize = 64;
/// Calls that only look at something, by the kinds that translated protocols state.
const LOOKS: [&str; 4] = ["read", "search", "think", "fetch"];
/// Words that do not change what a text names.
const STOPS: [&str; 16] = [
    "the", "an", "to", "from", "of", "in", "on", "and", "is", "it", "for", "with", "by", "at",
    "into", "this",
];

/// What the questions of its own session say about a call.
enum CallVerdict {
    /// It carries out a rejected action.
    Accused(Suspicion),
    /// It carries out an accepted action.
    Cleared,
    /// It is about none of these questions.
    Unknown,
}

/// A call that is compared with questions.
struct ComparedCall<'a> {
    event: &'a ToolInvoked,
    envelope: &'a Envelope,
    words: Vec<NamedWords>,
}

impl Sessions {
    /// Returns whether a call that begins now carries out a rejected action.
    pub(super) fn suspicion(
        &self,
        key: &SessionKey,
        event: &ToolInvoked,
        envelope: &Envelope,
        now: Now,
    ) -> Option<Suspicion> {
        let team = self.questions_of_team(key);
        let elsewhere = self.decided_elsewhere(key, &team, now);
        let denied =
            |questions: &[&Question]| questions.iter().any(|question| self.is_denied(question));
        if !denied(&team) && !denied(&elsewhere) {
            return None;
        }
        let call = ComparedCall {
            event,
            envelope,
            words: NamedWords::of_call(event),
        };
        match self.verdict_of_team(&team, &call, now) {
            CallVerdict::Accused(suspicion) => Some(suspicion),
            CallVerdict::Cleared => None,
            CallVerdict::Unknown => self.suspicion_elsewhere(&elsewhere, &call),
        }
    }

    fn verdict_of_team(&self, all: &[&Question], call: &ComparedCall<'_>, now: Now) -> CallVerdict {
        let confirmations = || {
            let all = all.iter().rev();
            all.filter_map(|question| Some((*question, asked_of(question)?)))
        };
        // Its own question alone decides, unless the call names the action of another one.
        if let Some(id) = &call.event.tool_call_id {
            let own = confirmations().find(|(question, _)| question.asked_id() == Some(id));
            match own {
                Some((question, _)) if self.is_denied(question) => return accused(question, true),
                Some((question, action)) if question.was_accepted() => {
                    if call.envelope.is_translated() || call.names(question, &action).is_some() {
                        return CallVerdict::Cleared;
                    }
                    let mut denied =
                        confirmations().filter(|(question, _)| self.is_denied(question));
                    let other =
                        denied.find(|(question, action)| call.names(question, action).is_some());
                    return other.map_or(CallVerdict::Cleared, |(question, _)| {
                        accused(question, false)
                    });
                }
                Some(_) | None => {}
            }
        }
        let alike = call.best_of(confirmations());
        if let Some(latest) = alike.first() {
            // The latest question comes first: an acceptance here overrides an earlier rejection.
            if self.is_denied(latest) {
                return accused(latest, true);
            }
            if alike.iter().any(|question| question.was_accepted()) {
                return CallVerdict::Cleared;
            }
            let denied = alike.into_iter().find(|question| self.is_denied(question));
            return denied.map_or(CallVerdict::Unknown, |question| accused(question, false));
        }
        let waits = |question: &Question| question.was_accepted() && !question.was_followed;
        let is_it = |question: &Question| {
            let is_old = age(question, now) > RIGHT_AFTER;
            !question.was_followed && !is_old && !call.is_another(question)
        };
        let mut last =
            confirmations().filter(|(question, _)| self.is_denied(question) || waits(question));
        match last.next() {
            // The call may carry out the accepted action, unless its tool is that of the rejected one.
            Some((question, _)) if waits(question) => {
                let is_accepted = |(question, action): (&Question, NamedWords)| {
                    waits(question) && call.has_tool_of(question, &action)
                };
                if confirmations().any(is_accepted) {
                    return CallVerdict::Cleared;
                }
                let mut decoyed = confirmations().filter(|(question, action)| {
                    self.is_denied(question)
                        && is_it(question)
                        && call.has_tool_of(question, action)
                });
                let decoyed = decoyed.next();
                decoyed.map_or(CallVerdict::Unknown, |(question, _)| {
                    accused(question, false)
                })
            }
            Some((question, action)) if is_it(question) => {
                let same_verb =
                    action.verb.is_some() && NamedWords::of(&call.event.tool).verb == action.verb;
                accused(question, same_verb)
            }
            Some(_) | None => CallVerdict::Unknown,
        }
    }

    /// Returns whether a call does what was rejected in another session of its link, by its words or by its
    /// tool and arguments. That is never certain, because this session may have its own reason.
    fn suspicion_elsewhere(
        &self,
        decided: &[&Question],
        call: &ComparedCall<'_>,
    ) -> Option<Suspicion> {
        let decided = decided.iter().rev();
        let asked = decided.filter_map(|question| Some((*question, asked_of(question)?)));
        let latest = *call.best_of(asked).first()?;
        self.is_denied(latest).then(|| suspected(latest, false))
    }

    /// Returns the questions of other sessions of a link that were decided not long ago, the earliest first.
    fn decided_elsewhere(
        &self,
        key: &SessionKey,
        team: &[&Question],
        now: Now,
    ) -> SmallVec<[&Question; 4]> {
        let all = self.decided.iter().filter_map(|id| self.questions.get(*id));
        all.filter(|question| question.key.link == key.link && age(question, now) <= RIGHT_AFTER)
            .filter(|question| !team.iter().any(|own| own.id == question.id))
            .collect()
    }

    /// Remembers that a question was decided, for calls in other sessions.
    pub(super) fn note_decided(&mut self, id: QuestionId) {
        if self.decided.contains(&id) {
            return;
        }
        if self.decided.len() >= MOST_DECIDED {
            self.decided.pop_front();
        }
        self.decided.push_back(id);
    }

    /// Notes that a call has succeeded: later calls are not the first after a rejection or an acceptance.
    pub(super) fn note_success(&mut self, key: &SessionKey) {
        let all = self.questions_of_team(key);
        let last = all.into_iter().rev().find(|question| {
            !question.was_followed && (self.is_denied(question) || question.was_accepted())
        });
        if let Some(id) = last.map(|question| question.id) {
            self.questions
                .change(id, |question| question.was_followed = true);
        }
    }

    /// Notes that a turn is over.
    pub(super) fn note_end_of_turn(&mut self, key: &SessionKey) {
        let open: Vec<QuestionId> = self
            .questions
            .of(key)
            .filter(|question| !question.was_followed && !question.is_open())
            .map(|question| question.id)
            .collect();
        for id in open {
            self.questions
                .change(id, |question| question.was_followed = true);
        }
    }

    /// Returns whether the person rejected an action here, or silence did.
    pub(super) fn is_denied(&self, question: &Question) -> bool {
        question.was_rejected() || self.is_lapsed(question)
    }

    /// Returns whether silence has rejected a question.
    fn is_lapsed(&self, question: &Question) -> bool {
        let QuestionBody::Confirmation(asked) = &question.body else {
            return false;
        };
        if asked.default_decision != Some(Decision::Reject) {
            return false;
        }
        // If it closed before its time ran out, somebody decided it.
        question.lapsed || question.is_open() && self.is_unanswered_in_time(question)
    }

    /// Returns whether nobody answered an open question in its time: by its producer's clock, with some slack
    /// for a decision made elsewhere, and also by our clock if it can be answered.
    fn is_unanswered_in_time(&self, question: &Question) -> bool {
        let by_us = match question.reply {
            ReplyState::TimedOut => true,
            ReplyState::Unanswered => !question.is_answerable(),
            ReplyState::Sending(_)
            | ReplyState::Retrying(_)
            | ReplyState::SendingAgain(_)
            | ReplyState::RetryingAgain(_)
            | ReplyState::Perhaps(_)
            | ReplyState::Written(_)
            | ReplyState::Sent(_)
            | ReplyState::Settling(..)
            | ReplyState::Resolved(..)
            | ReplyState::PerhapsResolved(..)
            | ReplyState::Withdrawn(_) => false,
        };
        by_us && self.is_over_for(question, SLACK)
    }

    /// Returns whether a question that closes now was rejected by silence.
    pub(super) fn lapses(&self, id: QuestionId) -> bool {
        let question = self.questions.get(id);
        question.is_some_and(|question| question.is_open() && self.is_lapsed(question))
    }
}

/// The words that a text names.
struct NamedWords {
    /// The whole text, without separators between its words.
    whole: String,
    /// The first word, which names the deed.
    verb: Option<String>,
    /// The words, with the verb.
    all: BTreeSet<String>,
    /// The numbers among them.
    numbers: BTreeSet<String>,
}

impl NamedWords {
    fn of(text: &str) -> Self {
        let text: String = text.chars().take(LONGEST).collect();
        let words = || {
            let words = text.split(|c: char| !c.is_alphanumeric());
            words.filter(|word| !word.is_empty()).map(str::to_lowercase)
        };
        let carries = |word: &String| word.chars().count() > 1 && !STOPS.contains(&word.as_str());
        let all: Vec<String> = words().filter(carries).map(stem).collect();
        Self {
            whole: words().collect(),
            verb: all.first().cloned(),
            numbers: words()
                .filter(|word| word.chars().all(char::is_numeric))
                .collect(),
            all: all.into_iter().collect(),
        }
    }

    fn of_call(event: &ToolInvoked) -> Vec<Self> {
        let summary = &event.summary;
        let texts = [
            Some(&event.tool),
            summary.terse.as_ref(),
            summary.normal.as_ref(),
            summary.detailed.as_ref(),
            event.args_summary.as_ref(),
        ];
        texts
            .into_iter()
            .flatten()
            .map(|text| Self::of(text))
            .collect()
    }
}

impl NamedWords {
    /// Returns the share of these words that the texts of a call name, in percent; `None` if it is too small,
    /// or the texts name another action.
    fn share_in(&self, call: &[Self]) -> Option<usize> {
        let whole = |text: &Self| !text.whole.is_empty() && text.whole == self.whole;
        if call.iter().any(whole) {
            return Some(100);
        }
        let all: BTreeSet<&String> = call.iter().flat_map(|text| &text.all).collect();
        let is_done = self.verb.as_ref().is_some_and(|verb| all.contains(verb));
        let mut numbers = call.iter().flat_map(|text| &text.numbers).peekable();
        let is_other = numbers.peek().is_some()
            && !self.numbers.is_empty()
            && !numbers.any(|number| self.numbers.contains(number));
        let count = self.all.iter().filter(|word| all.contains(word)).count();
        let percent = count * 100 / self.all.len().max(1);
        (is_done && !is_other && count >= FEWEST && percent >= MOST_OF_IT).then_some(percent)
    }
}

/// Returns a word without its inflectional ending.
fn stem(word: String) -> String {
    let endings = ["ring", "ting", "ding", "ing", "ed", "es", "s", "e"];
    let stem = endings.iter().find_map(|ending| word.strip_suffix(ending));
    match stem {
        Some(stem) if stem.chars().count() > 2 => stem.to_owned(),
        Some(_) | None => word,
    }
}

fn asked_of(question: &Question) -> Option<NamedWords> {
    match &question.body {
        QuestionBody::Confirmation(asked) => Some(NamedWords::of(&asked.action)),
        QuestionBody::Clarification(_) => None,
    }
}

impl ComparedCall<'_> {
    /// Returns those questions that the call names best, in the given order; none if it names none.
    fn best_of<'p>(
        &self,
        asked: impl Iterator<Item = (&'p Question, NamedWords)>,
    ) -> Vec<&'p Question> {
        let mut best: (usize, Vec<&Question>) = (0, Vec::new());
        for (question, action) in asked {
            let Some(named) = self.names(question, &action) else {
                continue;
            };
            if named > best.0 {
                best = (named, vec![question]);
            } else if named == best.0 {
                best.1.push(question);
            }
        }
        best.1
    }

    /// Returns the share of a question's words that the call names, in percent; `None` if it is too small.
    fn names(&self, question: &Question, action: &NamedWords) -> Option<usize> {
        // If translators state exactly what both do, nothing else decides.
        if let (Some(deed), Some(asked)) = (
            &self.envelope.attached.action_details,
            &question.attached.action_details,
        ) {
            return deed.is_same_as(asked).then_some(100);
        }
        let args = self.event.args_summary.as_deref().map(digest_of_text);
        let same_args = args.is_some() && question.asked_args() == args;
        if same_args && question.asked_tool() == Some(&self.event.tool) {
            return Some(100);
        }
        action.share_in(&self.words)
    }

    /// Returns whether the call's tool is the one that a question is about, or begins with the same verb as its action.
    fn has_tool_of(&self, question: &Question, action: &NamedWords) -> bool {
        let same_verb =
            action.verb.is_some() && NamedWords::of(&self.event.tool).verb == action.verb;
        same_verb || question.asked_tool() == Some(&self.event.tool)
    }

    /// Returns whether a translated call is certainly not the one that the question is about: it only looks at
    /// something, or has another tool.
    fn is_another(&self, question: &Question) -> bool {
        if !self.envelope.is_translated() {
            return false;
        }
        let is_known = self.envelope.attached.action_details.is_some()
            && question.attached.action_details.is_some();
        match question.asked_tool() {
            Some(tool) if tool != self.event.tool => true,
            // A tool's name may be one of these kinds.
            Some(_) if !is_known => false,
            Some(_) | None => LOOKS.contains(&self.event.tool.as_str()),
        }
    }
}

fn suspected(question: &Question, is_sure: bool) -> Suspicion {
    Suspicion {
        question: question.id,
        is_sure,
        by_silence: !question.was_rejected(),
    }
}

fn accused(question: &Question, is_sure: bool) -> CallVerdict {
    CallVerdict::Accused(suspected(question, is_sure))
}

/// Returns how long ago a question was decided; by silence, at the end of its time.
fn age(question: &Question, now: Now) -> Duration {
    let since_asked = now.monotonic.saturating_sub(question.raised);
    match question.reply.given() {
        Some(given) => {
            let passed = now.wall.as_second() - given.decided.as_second();
            Duration::from_secs(u64::try_from(passed).unwrap_or(0)).min(since_asked)
        }
        None => {
            let timeout = Duration::from_secs(question.body.timeout_seconds().unwrap_or(0));
            since_asked.saturating_sub(timeout)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(action: &str, call: &str) -> bool {
        NamedWords::of(action)
            .share_in(&[NamedWords::of(call)])
            .is_some()
    }

    #[test]
    fn a_call_is_recognised_by_most_of_what_the_question_names_and_by_its_verb() {
        let action = "Transfer $500 from checking to savings.";
        assert!(names(action, "Transferring $500 from checking to savings."));
        assert!(names(
            action,
            "transfer_funds from: checking, to: savings, 500"
        ));
        assert!(!names(action, "Fetching your balance."));
        assert!(!names(action, "Transferring $20 to Bob"));
        assert!(
            !names(action, "Transferring $5 from checking to savings"),
            "another sum"
        );
        assert!(names("Send it.", "send it"), "the same words, however few");
        assert!(!names(
            "Delete the folder build",
            "Listing the folder build"
        ));
        assert!(names("Delete the folder build", "Deleted folder build"));
        assert!(!names("Write the file lib.rs", "Writing the file main.rs"));
    }
}
