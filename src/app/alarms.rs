//! What calls a person back to a question that nobody answers: bell, notification, title.
//!
//! Responsibilities: when each is wished for, again and more urgently the longer a question waits, and
//! when it is taken back. Not here: the sequences of a terminal (`runtime`).
//!
//! # Mental model
//! The bell rings whether or not the person looks at the terminal: without a voice it may be all that is
//! noticed. A notification is for somebody who looks elsewhere. It never carries an agent's words, not
//! even its name: it appears outside of everything by which ours and theirs are told apart, and perhaps
//! on a locked screen.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::announce::Arg;
use crate::protocol::{Now, RiskLevel};
use crate::session::{Prompt, PromptId, Question, Standing};

use super::asking::Shown;
use super::{App, Effect};

/// An unanswered question rings again after these times.
const ALARMS: [Duration; 3] = [
    Duration::from_secs(30),
    Duration::from_secs(120),
    Duration::from_secs(300),
];

/// Wishes a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The question that it is about; a later one about the same takes its place.
    pub prompt: PromptId,
    /// What it says, in the program's own words.
    pub text: String,
    /// Whether it is more than usually urgent.
    pub urgent: bool,
}

/// Remembers where the person's attention is and what calls for it.
#[derive(Debug, Clone, Default)]
pub(super) struct Attention {
    /// Whether the person looks at the terminal; most terminals only tell when that changes.
    focused: Option<bool>,
    /// The questions with a notification.
    notified: BTreeSet<PromptId>,
}

impl Attention {
    /// Takes the terminal's word on whether the person looks at it.
    pub(super) fn focus(&mut self, on: bool) {
        self.focused = Some(on);
    }

    /// Gives what is notified, and forgets it.
    pub(super) fn leave(&mut self) -> BTreeSet<PromptId> {
        std::mem::take(&mut self.notified)
    }
}

impl Shown {
    /// Gives when the bell rings again.
    pub(super) fn alarm(&self) -> Option<Duration> {
        ALARMS.get(self.alarms).map(|after| self.since + *after)
    }
}

impl App {
    /// Rings for a question that was just raised.
    pub(super) fn ring(&mut self, id: PromptId, now: Now) {
        let Some(prompt) = self.sessions.prompt(id).cloned() else {
            return;
        };
        if prompt.is_answerable() {
            self.call(&prompt, now);
        } else if prompt.standing == Standing::LinkLost && self.config.screen.bell {
            // It came over a connection that is gone again: nobody can answer it now, and its time runs.
            self.effects.push(Effect::Bell);
        }
    }

    /// Gives when the bell rings again for the shown question.
    pub(super) fn alarm_due(&self) -> Option<Duration> {
        self.shown.as_ref().and_then(Shown::alarm)
    }

    /// Rings again for a question that nobody answers.
    pub(super) fn alarm(&mut self, now: Now) {
        let Some(shown) = self.shown.as_mut() else {
            return;
        };
        shown.alarms += 1;
        let id = shown.prompt;
        self.ring(id, now);
    }

    fn call(&mut self, prompt: &Prompt, now: Now) {
        if self.config.screen.bell {
            self.effects.push(Effect::Bell);
        }
        if self.attention.focused == Some(true) {
            return;
        }
        let phrases = self.announcer.phrases();
        let waited = now.monotonic.saturating_sub(prompt.raised);
        let again = waited >= ALARMS[0];
        let mut args = vec![("n", Arg::own(prompt.id.0))];
        let high = match &prompt.question {
            Question::Confirmation(_) => {
                if prompt.risk() == Some(&RiskLevel::High) {
                    args.push(("risk", Arg::Own(phrases.text("question.risk.high", &[]))));
                }
                prompt.risk() == Some(&RiskLevel::High) || prompt.is_irreversible()
            }
            Question::Clarification(_) => false,
        };
        if again {
            args.push(("time", Arg::Own(self.announcer.time(waited))));
        }
        let key = if again {
            "notice.again"
        } else {
            "notice.question"
        };
        let text = phrases.text(key, &args);
        self.attention.notified.insert(prompt.id);
        self.effects.push(Effect::Notify(Notice {
            prompt: prompt.id,
            text,
            urgent: again || high,
        }));
    }

    /// Takes back the notifications of questions that want no answer any more.
    pub(super) fn withdraw_notices(&mut self) {
        let over: Vec<PromptId> = self
            .attention
            .notified
            .iter()
            .filter(|id| {
                let prompt = self.sessions.prompt(**id);
                !prompt.is_some_and(Prompt::is_answerable) || self.is_left_alone(**id)
            })
            .copied()
            .collect();
        for id in over {
            self.attention.notified.remove(&id);
            self.effects.push(Effect::Withdraw(id));
        }
    }

    /// Keeps the terminal's title true.
    pub(super) fn refresh_title(&mut self) {
        if !self.config.screen.title {
            return;
        }
        let open = self.waiting();
        if open != self.titled {
            self.titled = open;
            let args = [("n", Arg::own(open))];
            let title = (open > 0).then(|| self.announcer.phrases().text("title.questions", &args));
            self.effects.push(Effect::Title(title));
        }
    }
}
