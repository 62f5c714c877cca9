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

use crate::announce::Arg;
use crate::protocol::{Now, RiskLevel};
use crate::session::{Prompt, PromptId, Question, Standing};

use super::shown::ALARMS;
use crate::app::effect::Notice;
use crate::app::{App, Effect};

impl App {
    /// Rings for a question that was just raised.
    pub(in crate::app) fn ring(&mut self, id: PromptId, now: Now) {
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

    /// Rings again for a question that nobody answers.
    pub(in crate::app) fn alarm(&mut self, now: Now) {
        let Some(shown) = self.questions.shown.as_mut() else {
            return;
        };
        shown.ring_again();
        let id = shown.prompt;
        self.ring(id, now);
    }

    fn call(&mut self, prompt: &Prompt, now: Now) {
        if self.config.screen.bell {
            self.effects.push(Effect::Bell);
        }
        if self.questions.calls.is_focused() {
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
        self.questions.calls.notify(prompt.id);
        self.effects.push(Effect::Notify(Notice {
            prompt: prompt.id,
            text,
            urgent: again || high,
        }));
    }

    /// Takes back the notifications of questions that want no answer any more.
    pub(in crate::app) fn withdraw_notices(&mut self) {
        let (sessions, rules) = (&self.sessions, &self.questions.rules);
        let over = self.questions.calls.withdraw(|id| {
            let prompt = sessions.prompt(id);
            !prompt.is_some_and(Prompt::is_answerable) || rules.leave(id)
        });
        for id in over {
            self.effects.push(Effect::Withdraw(id));
        }
    }

    /// Keeps the terminal's title true.
    pub(in crate::app) fn refresh_title(&mut self) {
        if !self.config.screen.title {
            return;
        }
        let open = self.waiting();
        if self.questions.calls.title(open) {
            let args = [("n", Arg::own(open))];
            let title = (open > 0).then(|| self.announcer.phrases().text("title.questions", &args));
            self.effects.push(Effect::Title(title));
        }
    }
}
