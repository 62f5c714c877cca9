//! Leaving the program: what is asked first, the fate of open questions, and the last answers.

use std::time::Duration;

use crate::announce::Arg;
use crate::dialect::WhenLeft;
use crate::protocol::{Decision, Now};
use crate::session::{Question, QuestionBody, QuestionRun, Standing};

use crate::app::activity::Doing;
use crate::app::{App, Exit};

/// How long leaving waits for an answer that is under way.
const LAST_ANSWER: Duration = Duration::from_secs(10);
/// How long it waits when the system ends the program.
const LAST_MOMENT: Duration = Duration::from_secs(2);

impl App {
    /// Returns, for each open question, what its agent does without an answer.
    pub(in crate::app) fn defaults(&self, open: &[Question]) -> String {
        let words: Vec<String> = open
            .iter()
            .map(|question| {
                let n = ("n", Arg::own(question.id.0));
                if question.standing != Standing::Live {
                    return self.cx.phrases().text("reply.perhaps", &[n]);
                }
                if question.reply.run() == QuestionRun::TimedOut {
                    return self.cx.phrases().text("quit.default.over", &[n]);
                }
                let left = match self.when_left(question) {
                    WhenLeft::Default => None,
                    WhenLeft::Cancelled => Some("quit.default.cancelled"),
                    WhenLeft::Open => Some("quit.default.open"),
                    WhenLeft::Kept => Some("quit.default.kept"),
                };
                if let Some(key) = left {
                    return self.cx.phrases().text(key, &[n]);
                }
                match &question.body {
                    QuestionBody::Confirmation(asked) => {
                        let key = match &asked.default_decision {
                            Some(Decision::Reject) => "quit.default.reject",
                            Some(Decision::Accept) => "quit.default.accept",
                            Some(Decision::Other(_)) => "quit.default.other",
                            // Only a translated question may leave it out (`protocol::translated`).
                            None => "quit.default.not_stated",
                        };
                        self.cx.phrases().text(key, &[n])
                    }
                    QuestionBody::Clarification(asked) => match &asked.default_response {
                        Some(response) => {
                            let response = self
                                .cx
                                .announcer
                                .exact(question, crate::announce::label_of(asked, response));
                            self.cx
                                .phrases()
                                .text("quit.default.response", &[n, ("response", response)])
                        }
                        None => self.cx.phrases().text("quit.default.other", &[n]),
                    },
                }
            })
            .collect();
        words.join(" ")
    }

    /// Returns what happens to a question when the person leaves.
    fn when_left(&self, question: &Question) -> WhenLeft {
        let view = self.links.get(question.key.link);
        view.map_or(WhenLeft::Default, |view| view.connection().when_left)
    }

    /// Returns the open questions without an answer from here.
    fn undecided(&self) -> Vec<Question> {
        self.cx
            .sessions
            .open_questions()
            .filter(|question| {
                question.answer().is_none() && question.standing != Standing::NotAnswerable
            })
            // Where no answer can go any more, no agent waits; the fate of these questions was announced.
            .filter(|question| {
                self.links
                    .get(question.key.link)
                    .is_none_or(|view| !view.phase.is_over())
            })
            .cloned()
            .collect()
    }

    pub(in crate::app) fn ask_to_quit(&mut self, exit: Exit, now: Now) {
        let open = self.undecided();
        let asked = matches!(self.cx.doing, Doing::Quitting) || self.run.is_parting();
        let decided = asked || open.is_empty();
        // An answer that was given must arrive; leaving waits for it, but not for ever, and not if the person asks
        // again.
        if decided && !self.questions.is_all_sent() && !self.run.is_parting() {
            if matches!(self.cx.doing, Doing::Quitting) {
                self.cx.doing = Doing::Watching;
            }
            self.run.part(exit, now.monotonic + LAST_ANSWER);
            self.cx.respond("quit.sending", &[], now);
        } else if decided {
            self.leave_defaults();
            self.quit(exit, now);
        } else {
            self.cx.doing = Doing::Quitting;
            let args = [
                ("n", Arg::own(open.len())),
                ("defaults", Arg::Own(self.defaults(&open))),
            ];
            let key = self.cx.face.pick("quit.ask", "quit.ask_lines");
            self.cx.respond(key, &args, now);
        }
    }

    /// Leaves a message about the fate of the unanswered questions.
    pub(in crate::app) fn leave_defaults(&mut self) {
        let open = self.undecided();
        if !open.is_empty() {
            let defaults = self.defaults(&open);
            self.cx.leave_word(defaults);
        }
    }

    /// Ends the run because the terminal is gone or a signal asks for it: the person can't be asked, but the fate of
    /// open questions is announced, and an answer under way gets a moment.
    pub(in crate::app) fn terminate(&mut self, now: Now) {
        self.tell_left_open(now);
        if self.questions.is_all_sent() || self.run.is_parting() {
            self.quit(Exit::Terminated, now);
        } else {
            self.run.part(Exit::Terminated, now.monotonic + LAST_MOMENT);
        }
    }

    /// Announces the fate of each question that is left without an answer.
    pub(in crate::app) fn tell_left_open(&mut self, now: Now) {
        let open = self.undecided();
        if !open.is_empty() {
            let defaults = self.defaults(&open);
            self.cx.leave_word(defaults.clone());
            self.cx
                .respond("fault.other", &[("reason", Arg::Own(defaults))], now);
        }
    }
}
