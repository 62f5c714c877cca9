//! The questions of agents as the person meets them: which one is shown, what of it came to them, when it
//! may be answered, and what becomes of the answer.
//!
//! The folder: `shown`, `known`, `arming` (what is before the person, and whether that is enough), `rules`,
//! `under_way` and `calls` hold what is known; `asking`, `sight`, `gate`, `answering`,
//! `clarifying`, `choosing`, `confirming`, `policy`, `sending`, `alarms` ask, take and tell. Not here: the
//! questions themselves and their tokens (`session`), their words (`announce`).

mod alarms;
mod answering;
mod arming;
mod asking;
mod calls;
mod choosing;
mod clarifying;
mod confirming;
pub(super) mod gate;
mod known;
mod policy;
mod rules;
mod scripted;
mod sending;
pub(super) mod shown;
mod sight;
mod under_way;

use std::cell::Cell;
use std::time::Duration;

use crate::app::effect::Noticed;
use crate::session::{Prompt, PromptId, Sessions};

use calls::Calls;
use known::Known;
use rules::Rules;
use shown::Shown;
use under_way::UnderWay;

/// How much may be known of questions that are over before it is looked for.
const FEW: usize = 64;

/// A bare answer in a line is refused for this long after the questions changed.
const CHANGED: Duration = Duration::from_secs(2);

/// What is known of the questions beside what they are.
#[derive(Debug, Clone, Default)]
pub(super) struct Questions {
    /// The one that keys are meant for.
    shown: Option<Shown>,
    known: Known,
    rules: Rules,
    under_way: UnderWay,
    calls: Calls,
    /// When a question came, went or became another, last.
    changed: Option<Duration>,
    /// When what was typed ahead of the shown question is thrown away once more.
    flush_at: Option<Duration>,
    /// Of what it was found that the shown one is the right one.
    right: Option<(Asking, Option<PromptId>)>,
    /// How many wait for the person, and of what that was counted.
    waiting: Cell<Option<(Asking, usize)>>,
    /// Of how many changes of questions it is known which are still open.
    kept: u64,
    /// How much is known of questions before all of it is looked at again.
    most_known: usize,
}

/// Says of which questions something was found out: how often they changed, and which of them are left alone.
type Asking = (u64, u64);

impl Questions {
    /// Returns the question that keys are meant for.
    pub(super) fn shown(&self) -> Option<&Shown> {
        self.shown.as_ref()
    }

    /// Returns which question keys are meant for.
    pub(super) fn shown_id(&self) -> Option<PromptId> {
        self.shown.as_ref().map(|shown| shown.prompt)
    }

    /// Makes a question the shown one, or none.
    fn show(&mut self, prompt: Option<PromptId>, now: Duration) {
        self.shown = prompt.map(|prompt| Shown::new(prompt, now));
    }

    /// Goes to the next page of a question, if it is the shown one.
    pub(super) fn turn_page(&mut self, prompt: PromptId) {
        if let Some(shown) = self.shown.as_mut().filter(|it| it.prompt == prompt) {
            shown.page += 1;
        }
    }

    /// Takes note that a bare answer may be meant for another question than a moment ago.
    pub(super) fn note_change(&mut self, now: Duration) {
        self.changed = Some(now);
    }

    /// Returns whether the questions had just changed when a line was read.
    fn had_changed(&self, read: Duration) -> bool {
        self.changed.is_some_and(|at| read < at + CHANGED)
    }

    /// Returns when what was typed ahead is thrown away once more.
    pub(super) fn flush_due(&self) -> Option<Duration> {
        self.flush_at
    }

    /// Takes note that it was thrown away.
    pub(super) fn flushed(&mut self) {
        self.flush_at = None;
    }

    /// Returns when an answer is sent again.
    pub(super) fn retry_due(&self) -> Option<Duration> {
        self.under_way.due()
    }

    /// Returns when the bell rings again for the shown question.
    pub(super) fn alarm_due(&self) -> Option<Duration> {
        self.shown.as_ref().and_then(Shown::alarm)
    }

    /// Returns whether no answer is under way.
    pub(super) fn is_all_sent(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Returns whether a question is one that a rule leaves alone: it stays open, and nobody is asked.
    pub(super) fn is_left_alone(&self, prompt: PromptId) -> bool {
        self.rules.leave(prompt)
    }

    /// Takes the terminal's word on whether the person looks at it.
    pub(super) fn focus(&mut self, on: bool) {
        self.calls.focus(on);
    }

    /// Returns what is notified, and forgets it.
    pub(super) fn stop_calling(&mut self) -> Vec<Noticed> {
        self.calls.leave()
    }

    /// Forgets what the title says, because its words have changed.
    pub(super) fn retitle(&mut self) {
        self.calls.retitle();
    }

    /// Keeps what is known of open questions only.
    fn keep(&mut self, sessions: &Sessions) {
        let is_open = |id: PromptId| sessions.prompt(id).is_some_and(Prompt::is_open);
        let kept = std::mem::replace(&mut self.kept, sessions.asking());
        let changed = sessions.asked_since(kept);
        // Something may be learned of a question that was over before, by a line that tells of it.
        match changed.filter(|_| self.known.len() <= self.most_known) {
            Some(changed) => {
                for id in changed.filter(|id| !is_open(*id)) {
                    self.known.forget(id);
                    self.rules.forget(id);
                }
            }
            None => {
                self.known.keep(is_open);
                self.rules.keep(is_open);
                self.most_known = 2 * self.known.len() + FEW;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learned_of_questions_that_are_over_is_forgotten_by_and_by() {
        let (mut questions, sessions) = (Questions::default(), Sessions::default());
        for n in 1..=1000 {
            questions.known.wrote(PromptId(n), false, Duration::ZERO);
            questions.keep(&sessions);
            assert!(questions.known.len() <= FEW);
        }
    }
}
