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
use crate::session::PromptId;

use calls::Calls;
use known::Known;
use rules::Rules;
use shown::Shown;
use under_way::UnderWay;

/// A bare answer in a line is refused for this long after the questions changed.
const CHANGED: Duration = Duration::from_secs(2);

/// Holds what is known of the questions beside what they are.
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
}

/// Says of which questions something was found out: how often they changed, and which of them are left alone.
type Asking = (u64, u64);

impl Questions {
    /// Gives the question that keys are meant for.
    pub(super) fn shown(&self) -> Option<&Shown> {
        self.shown.as_ref()
    }

    /// Gives which question keys are meant for.
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

    /// Tells whether the questions had just changed when a line was read.
    fn had_changed(&self, read: Duration) -> bool {
        self.changed.is_some_and(|at| read < at + CHANGED)
    }

    /// Gives when what was typed ahead is thrown away once more.
    pub(super) fn flush_due(&self) -> Option<Duration> {
        self.flush_at
    }

    /// Takes note that it was thrown away.
    pub(super) fn flushed(&mut self) {
        self.flush_at = None;
    }

    /// Gives when an answer is sent again.
    pub(super) fn retry_due(&self) -> Option<Duration> {
        self.under_way.due()
    }

    /// Gives when the bell rings again for the shown question.
    pub(super) fn alarm_due(&self) -> Option<Duration> {
        self.shown.as_ref().and_then(Shown::alarm)
    }

    /// Tells whether no answer is under way.
    pub(super) fn is_all_sent(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Tells whether a question is one that a rule leaves alone: it stays open, and nobody is asked.
    pub(super) fn is_left_alone(&self, prompt: PromptId) -> bool {
        self.rules.leave(prompt)
    }

    /// Takes the terminal's word on whether the person looks at it.
    pub(super) fn focus(&mut self, on: bool) {
        self.calls.focus(on);
    }

    /// Gives what is notified, and forgets it.
    pub(super) fn stop_calling(&mut self) -> Vec<Noticed> {
        self.calls.leave()
    }

    /// Forgets what the title says, because its words have changed.
    pub(super) fn retitle(&mut self) {
        self.calls.retitle();
    }

    /// Keeps what is known of open questions only; `asking` says how often questions have changed.
    fn keep(&mut self, asking: u64, is_open: impl Fn(PromptId) -> bool) {
        if std::mem::replace(&mut self.kept, asking) == asking {
            return;
        }
        self.known.keep(&is_open);
        self.rules.keep(&is_open);
    }
}
