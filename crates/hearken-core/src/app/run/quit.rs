//! Leaving the program: what to ask first, the fate of open questions, and the last answers.

use std::time::Duration;

use crate::announce::Arg;
use crate::dialect::LeaveOutcome;
use crate::protocol::Decision;
use crate::session::{AnswerReach, Question, QuestionBody, QuestionRun};

use super::Run;
use crate::app::{Activity, AppCx, AppFact, AppFacts, Exit, Links};

/// How long leaving waits for an answer that is under way.
const LAST_ANSWER: Duration = Duration::from_secs(10);
/// How long it waits when the system ends the program.
const LAST_MOMENT: Duration = Duration::from_secs(2);

impl Run {
    /// Returns, for each open question, what its agent does without an answer.
    pub(super) fn defaults(&self, open: &[&Question], links: &Links, cx: &AppCx) -> String {
        let words: Vec<String> = open
            .iter()
            .map(|question| {
                let n = ("n", Arg::own(question.id.0));
                if question.reach != AnswerReach::Live {
                    return cx.phrases().text("reply.perhaps", &[n]);
                }
                if question.reply.run() == QuestionRun::TimedOut {
                    return cx.phrases().text("quit.default.over", &[n]);
                }
                let left = match when_left(question, links) {
                    LeaveOutcome::Default => None,
                    LeaveOutcome::Cancelled => Some("quit.default.cancelled"),
                    LeaveOutcome::Open => Some("quit.default.open"),
                    LeaveOutcome::Kept => Some("quit.default.kept"),
                };
                if let Some(key) = left {
                    return cx.phrases().text(key, &[n]);
                }
                match &question.body {
                    QuestionBody::Confirmation(asked) => {
                        let key = match &asked.default_decision {
                            Some(Decision::Reject) => "quit.default.reject",
                            Some(Decision::Accept) => "quit.default.accept",
                            Some(Decision::Other(_)) => "quit.default.other",
                            // Only a translated question may lack a default (`protocol::translated_events`).
                            None => "quit.default.not_stated",
                        };
                        cx.phrases().text(key, &[n])
                    }
                    QuestionBody::Clarification(_) if question.attached.fails_unanswered => {
                        cx.phrases().text("quit.default.fails", &[n])
                    }
                    QuestionBody::Clarification(asked) => match &asked.default_response {
                        Some(response) => {
                            let response = cx
                                .announcer
                                .exact(question, crate::announce::label_of(asked, response));
                            cx.phrases()
                                .text("quit.default.response", &[n, ("response", response)])
                        }
                        None => cx.phrases().text("quit.default.other", &[n]),
                    },
                }
            })
            .collect();
        words.join(" ")
    }

    pub(in crate::app) fn ask_to_quit(
        &mut self,
        exit: Exit,
        all_sent: bool,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        let open = undecided(links, cx);
        let asked = matches!(cx.doing, Activity::Quitting) || self.is_parting();
        let ends = links.lost_at_end(cx);
        let decided = asked || (open.is_empty() && ends.is_empty());
        // A given answer must arrive; leaving waits for it, but not for ever, and not if the person asks again.
        if decided && !all_sent && !self.is_parting() {
            if matches!(cx.doing, Activity::Quitting) {
                cx.doing = Activity::Watching;
            }
            self.part(exit, cx.now.monotonic + LAST_ANSWER);
            cx.respond("quit.sending", &[]);
        } else if decided {
            self.leave_defaults(links, cx);
            return vec![AppFact::Quit(exit)];
        } else {
            let count = Some(open.len()).filter(|count| *count > 0);
            let args = [
                (
                    "n",
                    Arg::Own(count.map_or_else(String::new, |count| count.to_string())),
                ),
                ("defaults", Arg::Own(self.defaults(&open, links, cx))),
                ("ends", Arg::Own(ends)),
            ];
            cx.doing = Activity::Quitting;
            let key = cx.face.pick("quit.ask", "quit.ask_lines");
            cx.respond(key, &args);
        }
        Vec::new()
    }

    /// Leaves a message about the fate of the unanswered questions.
    pub(super) fn leave_defaults(&self, links: &Links, cx: &mut AppCx) {
        let open = undecided(links, cx);
        if !open.is_empty() {
            let defaults = self.defaults(&open, links, cx);
            cx.leave_word(defaults);
        }
    }

    /// Ends the run because the terminal is gone or a signal asks for it: the person can't be asked, but the fate of
    /// open questions is announced, and an answer under way gets a moment.
    pub(in crate::app) fn terminate(
        &mut self,
        all_sent: bool,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        self.tell_left_open(links, cx);
        if all_sent || self.is_parting() {
            vec![AppFact::Quit(Exit::Terminated)]
        } else {
            self.part(Exit::Terminated, cx.now.monotonic + LAST_MOMENT);
            Vec::new()
        }
    }

    /// Announces the fate of each question that is left without an answer.
    pub(super) fn tell_left_open(&self, links: &Links, cx: &mut AppCx) {
        let open = undecided(links, cx);
        if !open.is_empty() {
            let defaults = self.defaults(&open, links, cx);
            cx.leave_word(defaults.clone());
            cx.respond("fault.other", &[("reason", Arg::Own(defaults))]);
        }
    }
}

/// Returns what happens to a question when the person leaves.
fn when_left(question: &Question, links: &Links) -> LeaveOutcome {
    let view = links.get(question.key.link);
    view.map_or(LeaveOutcome::Default, |view| view.connection().when_left)
}

/// Returns the open questions without an answer from here.
fn undecided<'a>(links: &Links, cx: &'a AppCx) -> Vec<&'a Question> {
    cx.sessions
        .open_questions()
        .filter(|question| {
            question.answer().is_none() && question.reach != AnswerReach::NotAnswerable
        })
        // Where no answer can go any more, no agent waits; the fate of those questions was announced.
        .filter(|question| {
            links
                .get(question.key.link)
                .is_none_or(|view| !view.phase.is_over())
        })
        .collect()
}
