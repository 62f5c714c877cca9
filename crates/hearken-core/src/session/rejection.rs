//! Calls that carry out what was rejected (A.8.5).
//!
//! Responsibilities: which rejected question a call is about, and how sure that is. Not here: how a question is decided
//! (`answers`), questions that nobody asked (`consent`), the words (`announce`).
//!
//! # Mental model
//! A.8.5 does not depend on what a call says of itself. A call is about a question if it has its id or its tool, or if
//! its words name most of what the question names; the latest such question decides. If no question is about it, the
//! first call after a rejection is perhaps what was rejected, whatever it is called, and surely if its tool begins with
//! the same verb. A translated call is not, if its
//! translator states that its tool or what it does is another: then its agent's own protocol asks about it.
//!
//! # Worked example
//! "Transfer $500 from checking to savings" is rejected. `transfer_funds`, "Transferring $500 from checking to
//! savings", has neither the id nor the tool of the question, but its words: it surely does what was rejected.
//! `sync_accounts` in its place would be a perhaps; the call after that would be nothing.

use std::collections::BTreeSet;

use crate::protocol::{Attached, Decision, Envelope, TRANSLATED, ToolCallId, ToolInvoked};

use super::key::{PromptId, SessionKey};
use super::prompt::{Prompt, ReplyState};
use super::question::Question;
use super::sessions::Sessions;
use super::suspicion::Suspicion;

/// The seconds after the end of a question's time in which a decision made just before it may still show.
const SLACK: u64 = 2;
/// The part of what a question names that a call's words must name, in percent.
const MOST_OF_IT: usize = 60;
/// The fewest words by which a question is recognised.
const FEWEST: usize = 2;

impl Sessions {
    /// Returns whether a call that begins now carries out what was rejected.
    pub(super) fn suspicion(
        &mut self,
        key: &SessionKey,
        event: &ToolInvoked,
        envelope: &Envelope,
    ) -> Option<Suspicion> {
        let lapsed = self.lapsed(key);
        let suspicion = |prompt: &Prompt, is_sure| {
            let by_silence = lapsed.contains(&prompt.id);
            (by_silence || prompt.was_rejected()).then_some(Suspicion {
                prompt: prompt.id,
                is_sure,
                by_silence,
            })
        };
        let about = |prompt: &&Prompt| concerns(prompt, event, &envelope.attached);
        let found = match self.prompts.of(key).rev().find(about) {
            Some(prompt) => suspicion(prompt, true),
            None => {
                let last = self.prompts.of(key).next_back();
                let last = last
                    .filter(|prompt| !prompt.was_followed && !is_another(prompt, event, envelope));
                last.and_then(|prompt| suspicion(prompt, begins_alike(prompt, event)))
            }
        };
        let denied: Vec<PromptId> = self
            .prompts
            .of(key)
            .filter(|prompt| !prompt.was_followed && suspicion(prompt, false).is_some())
            .map(|prompt| prompt.id)
            .collect();
        for id in denied {
            self.prompts.change(id, |prompt| prompt.was_followed = true);
        }
        found
    }

    /// Returns the questions of a session that silence rejected: nobody answered them here in their time.
    fn lapsed(&self, key: &SessionKey) -> BTreeSet<PromptId> {
        let lapsed = self.prompts.of(key).filter(|prompt| self.is_lapsed(prompt));
        lapsed.map(|prompt| prompt.id).collect()
    }

    /// Returns whether silence has rejected a question.
    pub(super) fn is_lapsed(&self, prompt: &Prompt) -> bool {
        let Question::Confirmation(asked) = &prompt.question else {
            return false;
        };
        let is_unanswered = match &prompt.reply {
            ReplyState::Unanswered | ReplyState::TimedOut | ReplyState::Withdrawn(_) => true,
            ReplyState::Sending(_)
            | ReplyState::Retrying(_)
            | ReplyState::SendingAgain(_)
            | ReplyState::RetryingAgain(_)
            | ReplyState::Perhaps(_)
            | ReplyState::Written(_)
            | ReplyState::Sent(_)
            | ReplyState::Settling(..)
            | ReplyState::Resolved(..)
            | ReplyState::PerhapsResolved(..) => false,
        };
        // What closed it before its time was somebody's decision.
        let is_over = prompt.lapsed || prompt.is_open() && self.is_overdue_by(prompt, SLACK);
        is_unanswered && is_over && asked.default_decision == Some(Decision::Reject)
    }

    /// Returns whether a question that closes now was rejected by silence.
    pub(super) fn lapses(&self, id: PromptId) -> bool {
        let prompt = self.prompts.get(id);
        prompt.is_some_and(|prompt| prompt.is_open() && self.is_lapsed(prompt))
    }
}

/// Returns whether a call is about a question.
fn concerns(prompt: &Prompt, event: &ToolInvoked, attached: &Attached) -> bool {
    let Question::Confirmation(asked) = &prompt.question else {
        return false;
    };
    let id = event.tool_call_id.as_ref();
    let asked_id = asked.tool_call_id.as_ref().or(prompt.call_id.as_ref());
    if let (Some(id), Some(asked)) = (id, asked_id)
        && id == asked
    {
        return true;
    }
    // Where a translator says all that a call does, nothing else decides.
    if let (Some(deed), Some(asked)) = (&attached.deed, &prompt.attached.deed) {
        return !deed.differs_from(asked);
    }
    let known = prompt.tool.as_deref().or(asked.tool.as_deref());
    let by_tool = known == Some(event.tool.as_str()) && !are_different(id, asked_id);
    by_tool || names_most_of(&asked.action, &words_of(event))
}

/// Returns whether the name of a call's tool begins with what a question begins with: what is to be done.
fn begins_alike(prompt: &Prompt, event: &ToolInvoked) -> bool {
    let Question::Confirmation(asked) = &prompt.question else {
        return false;
    };
    let verb = |text: &str| words(text).next();
    verb(&event.tool).is_some_and(|tool| verb(&asked.action) == Some(tool))
}

fn are_different(one: Option<&ToolCallId>, other: Option<&ToolCallId>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one != other)
}

/// Returns whether a call is surely another one than the question is about: a translator states the tools, and all that
/// both do, as they are.
fn is_another(prompt: &Prompt, event: &ToolInvoked, envelope: &Envelope) -> bool {
    let own = envelope
        .extensions
        .as_ref()
        .and_then(|it| it.get("hearken"));
    let Some(_) = own.and_then(|own| own.get(TRANSLATED)) else {
        return false;
    };
    let Question::Confirmation(asked) = &prompt.question else {
        return false;
    };
    let tool = prompt.tool.as_deref().or(asked.tool.as_deref());
    envelope.attached.deed.is_some() && prompt.attached.deed.is_some()
        || tool.is_some_and(|tool| tool != event.tool)
}

fn words_of(event: &ToolInvoked) -> BTreeSet<String> {
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
        .flat_map(|text| words(text))
        .collect()
}

fn names_most_of(action: &str, call: &BTreeSet<String>) -> bool {
    let action: BTreeSet<String> = words(action).collect();
    let named = action.intersection(call).count();
    named >= FEWEST && named * 100 >= action.len() * MOST_OF_IT
}

/// Returns the words that carry meaning, without the endings of their forms: numbers and words of at least four letters.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| word.chars().count() > 3 || word.chars().any(char::is_numeric));
    words.map(|word| {
        let word = word.to_lowercase();
        let endings = ["ring", "ting", "ding", "ing", "ed", "es", "s", "e"];
        let stem = endings.iter().find_map(|ending| word.strip_suffix(ending));
        match stem {
            Some(stem) if stem.chars().count() > 2 => stem.to_owned(),
            Some(_) | None => word,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(action: &str, call: &str) -> bool {
        names_most_of(action, &words(call).collect())
    }

    #[test]
    fn a_call_is_recognised_by_most_of_what_the_question_names() {
        let action = "Transfer $500 from checking to savings.";
        assert!(names(action, "Transferring $500 from checking to savings."));
        assert!(names(
            action,
            "transfer_funds from: checking, to: savings, 500"
        ));
        assert!(!names(action, "Fetching your balance."));
        assert!(!names(action, "Transferring $20 to Bob"));
        assert!(!names("Send it", "Send it"), "too few words to tell");
        assert!(names("Delete the folder build", "Deleted folder build"));
    }
}
