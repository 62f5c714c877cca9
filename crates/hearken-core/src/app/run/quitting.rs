//! Leaving the program: what is asked before, what becomes of open questions, and the last answers.

use std::time::Duration;

use crate::announce::{Arg, Manner};
use crate::dialect::WhenLeft;
use crate::protocol::{Decision, Now};
use crate::session::{Prompt, Question, QuestionRun, Standing};

use crate::app::doing::Doing;
use crate::app::{App, Effect, Exit};

/// How long leaving waits for an answer that is under way.
const LAST_ANSWER: Duration = Duration::from_secs(10);
/// How long it waits when the system wants us gone.
const LAST_MOMENT: Duration = Duration::from_secs(2);

impl App {
    /// Names what each open question's agent does without an answer.
    pub(in crate::app) fn defaults(&self, open: &[Prompt]) -> String {
        let words: Vec<String> = open
            .iter()
            .map(|prompt| {
                let n = ("n", Arg::own(prompt.id.0));
                if prompt.standing != Standing::Live {
                    return self.announcer.phrases().text("reply.perhaps", &[n]);
                }
                if prompt.reply.run() == QuestionRun::TimedOut {
                    return self.announcer.phrases().text("quit.default.over", &[n]);
                }
                let left = match self.when_left(prompt) {
                    WhenLeft::Default => None,
                    WhenLeft::Cancelled => Some("quit.default.cancelled"),
                    WhenLeft::Open => Some("quit.default.open"),
                    WhenLeft::Kept => Some("quit.default.kept"),
                };
                if let Some(key) = left {
                    return self.announcer.phrases().text(key, &[n]);
                }
                match &prompt.question {
                    Question::Confirmation(asked) => {
                        let key = match &asked.default_decision {
                            Some(Decision::Reject) => "quit.default.reject",
                            Some(Decision::Accept) => "quit.default.accept",
                            Some(Decision::Other(_)) => "quit.default.other",
                            // Only what was translated may leave it out (`protocol::translated`).
                            None => "quit.default.not_stated",
                        };
                        self.announcer.phrases().text(key, &[n])
                    }
                    Question::Clarification(asked) => match &asked.default_response {
                        Some(response) => {
                            let response = self
                                .announcer
                                .exact(prompt, crate::announce::label_of(asked, response));
                            self.announcer
                                .phrases()
                                .text("quit.default.response", &[n, ("response", response)])
                        }
                        None => self.announcer.phrases().text("quit.default.other", &[n]),
                    },
                }
            })
            .collect();
        words.join(" ")
    }

    /// Returns what becomes of a question by the person's leaving.
    fn when_left(&self, prompt: &Prompt) -> WhenLeft {
        let view = self.links.get(prompt.key.link);
        view.map_or(WhenLeft::Default, |view| view.connection().when_left)
    }

    /// Returns the open questions that nobody answered here, whether they can be answered or not.
    fn undecided(&self) -> Vec<Prompt> {
        self.sessions
            .open_prompts()
            .filter(|prompt| {
                prompt.answer().is_none() && prompt.standing != Standing::NotAnswerable
            })
            // Nobody waits where no answer can go any more; what becomes of these was told.
            .filter(|prompt| {
                self.links
                    .get(prompt.key.link)
                    .is_none_or(|view| !view.phase.is_over())
            })
            .cloned()
            .collect()
    }

    pub(in crate::app) fn ask_to_quit(&mut self, exit: Exit, now: Now) {
        let open = self.undecided();
        let asked = matches!(self.doing, Doing::Quitting) || self.run.is_parting();
        let decided = asked || open.is_empty();
        // An answer that was given must arrive; leaving waits for it, but not for ever, and not for who asks again.
        if decided && !self.questions.is_all_sent() && !self.run.is_parting() {
            if matches!(self.doing, Doing::Quitting) {
                self.doing = Doing::Watching;
            }
            self.run.part(exit, now.monotonic + LAST_ANSWER);
            self.respond("quit.sending", &[], now);
        } else if decided {
            self.leave_defaults();
            self.quit(exit, now);
        } else {
            self.doing = Doing::Quitting;
            let args = [
                ("n", Arg::own(open.len())),
                ("defaults", Arg::Own(self.defaults(&open))),
            ];
            let key = self.face.pick("quit.ask", "quit.ask_lines");
            self.respond(key, &args, now);
        }
    }

    /// Leaves word of what becomes of the questions that nobody answered.
    pub(in crate::app) fn leave_defaults(&mut self) {
        let open = self.undecided();
        if !open.is_empty() {
            let defaults = self.defaults(&open);
            self.leave_word(defaults);
        }
    }

    /// The terminal is gone or we are told to end: there is nobody to ask, but it is said, and an
    /// answer under way gets a moment.
    pub(in crate::app) fn terminate(&mut self, now: Now) {
        self.tell_left_open(now);
        if self.questions.is_all_sent() || self.run.is_parting() {
            self.quit(Exit::Terminated, now);
        } else {
            self.run.part(Exit::Terminated, now.monotonic + LAST_MOMENT);
        }
    }

    /// Names what becomes of each question that is left without an answer.
    pub(in crate::app) fn tell_left_open(&mut self, now: Now) {
        let open = self.undecided();
        if !open.is_empty() {
            let defaults = self.defaults(&open);
            self.leave_word(defaults.clone());
            self.respond("fault.other", &[("reason", Arg::Own(defaults))], now);
        }
    }

    /// Lets words be read after the full face; lines stay where they are.
    pub(in crate::app) fn leave_word(&mut self, words: String) {
        match self.face.manner() {
            Manner::Keys => self.effects.push(Effect::Farewell(words)),
            Manner::Lines | Manner::Program => {}
        }
    }
}
