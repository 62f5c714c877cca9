//! Leaving the current activity.
//!
//! Responsibilities: when a second step lapses, what another command ends, going back, and announcing each. Not here:
//! taking a second step (`questions`), sending what was typed.

use std::time::Duration;

use crate::announce::Arg;
use crate::keys::{Command, Mode};
use crate::session::{Question, QuestionId};

use super::AppCx;
use crate::app::activity::second_step::{EndedStep, SecondStep};
use crate::app::{Activity, AnswerOrigin};

impl AppCx {
    /// Returns when the second step lapses.
    pub(in crate::app) fn second_step_ends(&self) -> Option<Duration> {
        let step = self.doing.second_step()?;
        Some(step.ends(self.patience()))
    }

    /// Ends a second step that had lapsed by `at`, and announces that.
    pub(in crate::app) fn end_second_step(&mut self, at: Duration) {
        let patience = self.patience();
        let over = |step: &&SecondStep| step.was_over(at, self.now, patience);
        let Some(step) = self.doing.second_step().filter(over) else {
            return;
        };
        let n = Arg::own(step.question().0);
        self.ended = Some(EndedStep::new(step, self.now.monotonic));
        self.doing = Activity::Watching;
        let time = Arg::Own(self.announcer.time(patience));
        // Key replies about this step no longer apply.
        self.answers.clear();
        self.respond("reply.step_over", &[("n", n), ("time", time)]);
    }

    /// Returns the second step that ended without its key a moment ago, so that the key may still come.
    pub(in crate::app) fn ended_step(&self) -> Option<&EndedStep> {
        let ended = self.ended.as_ref();
        ended.filter(|step| step.is_recent(self.now.monotonic))
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(self.config.questions.confirm_seconds)
    }

    /// Leaves a second step or a choice without a decision, and announces that.
    pub(in crate::app) fn stay_open(&mut self) {
        let id = match &self.doing {
            Activity::Confirming(step) => step.question(),
            Activity::Choosing(choices) => choices.question(),
            Activity::Watching
            | Activity::Answering { .. }
            | Activity::Searching(_)
            | Activity::Prompting { .. }
            | Activity::Helping { .. }
            | Activity::Quitting
            | Activity::Leaving(_) => return,
        };
        if let Some(step) = self.doing.second_step() {
            self.ended = Some(EndedStep::new(step, self.now.monotonic));
        }
        self.doing = Activity::Watching;
        // Key replies about this step no longer apply.
        self.answers.clear();
        self.respond("reply.still_open", &[("n", Arg::own(id.0))]);
    }

    /// Leaves a mode that waits for one particular key when any other command comes, announces that, and
    /// returns whether the command still runs. A key is used up by leaving the mode, unless it stops speech; a
    /// line is a complete command and still runs.
    pub(in crate::app) fn goes_on(&mut self, command: Option<&Command>, by: AnswerOrigin) -> bool {
        let is_line = matches!(by, AnswerOrigin::Line { .. });
        match self.doing.mode() {
            Mode::Quitting if !matches!(command, Some(Command::Quit | Command::Interrupt)) => {
                self.doing = Activity::Watching;
                self.respond("quit.stay", &[]);
                is_line
            }
            Mode::Leaving(_) if !matches!(command, Some(Command::Leave)) => {
                self.doing = Activity::Watching;
                self.respond("quit.stay", &[]);
                is_line
            }
            Mode::Confirming(id)
                if !matches!(
                    command,
                    Some(Command::Confirm(_) | Command::Reject(..) | Command::Interrupt)
                ) =>
            {
                let same = matches!(command, Some(Command::Accept(number)) if number.is_none_or(|number| number == id));
                if is_line && same {
                    // Repeating the first step is not a change of mind, so nothing is announced.
                    self.doing = Activity::Watching;
                } else {
                    self.stay_open();
                }
                is_line
                    || matches!(
                        command,
                        Some(Command::Stop | Command::Escape | Command::StopTurn)
                    )
            }
            Mode::Help if !is_line => self.goes_on_from_help(command),
            Mode::Watching
            | Mode::Confirming(_)
            | Mode::Editing(_)
            | Mode::Choosing(..)
            | Mode::Quitting
            | Mode::Leaving(_)
            | Mode::Searching
            | Mode::Prompting(_)
            | Mode::Help => true,
        }
    }

    /// Closes the help for any command that does not belong to it, and returns whether the command runs. A question that
    /// the help hid is not answered, and people close such a screen by its key for quitting.
    fn goes_on_from_help(&mut self, command: Option<&Command>) -> bool {
        let Some(command) = command else { return true };
        if command.stays_in_help() {
            return true;
        }
        self.doing = Activity::Watching;
        let hides = self.sessions.open_questions().next().is_some();
        if command.answers() && hides {
            self.respond("help.closed.unanswered", &[]);
        } else if matches!(command, Command::Back | Command::Quit | Command::Leave) {
            self.respond("help.closed", &[]);
        } else {
            return true;
        }
        false
    }

    /// Leaves the current activity; returns a prompt that was being typed.
    pub(in crate::app) fn back(&mut self) -> Option<String> {
        match self.doing.mode() {
            Mode::Editing(id) => {
                self.doing = Activity::Watching;
                let open = self
                    .sessions
                    .question(QuestionId(id))
                    .is_some_and(Question::is_open);
                let key = if open {
                    "reply.editing.left"
                } else {
                    "reply.editing.closed"
                };
                self.respond(key, &[]);
            }
            Mode::Choosing(..) | Mode::Confirming(_) => self.stay_open(),
            Mode::Searching => {
                self.doing = Activity::Watching;
                self.respond("search.left", &[]);
            }
            Mode::Prompting(_) => {
                let typed = self.editor().0.to_owned();
                self.doing = Activity::Watching;
                self.respond("prompt.left", &[]);
                return Some(typed);
            }
            Mode::Help | Mode::Watching | Mode::Quitting | Mode::Leaving(_) => {
                self.doing = Activity::Watching
            }
        }
        None
    }
}
