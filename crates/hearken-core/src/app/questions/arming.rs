//! When the shown question may be answered, given how much of it the person could see or hear, and since when.
//!
//! # Mental model
//! A person can't answer a question that they can't know about. A question is in sight once the write that
//! shows it has returned: as long as it waits to be written, in a stopped or slow terminal, it was not shown.
//! In the full face it goes out of sight when the terminal changes its size, reports none, or changes its
//! owner. A question that is nowhere in sight can be answered by ear alone, once all of it was spoken.
//!
//! # Worked example
//! The terminal is stopped, a question comes, the person presses `y`, the terminal continues: the write returns
//! after the key was read, so the key was for something else.
//!
//! # Tuning by symptom
//! Questions can't be answered in a terminal that reports no size: give it one (`stty cols 80 rows 24`), or use
//! `--face linear`.

use std::time::Duration;

use crate::announce::AnswerMethod;
use crate::config::QuestionConfig;
use crate::keys::KeyPress;
use crate::session::Question;

use super::Questions;
use super::question_exposure::Hearing;
use crate::app::app_setup::LineSource;

/// A screen that does not show a question by then takes no output: any other would have drawn many frames.
const DRAWN_BY: Duration = Duration::from_secs(2);

/// Why a question can't be answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotArmedReason {
    /// A key came too soon, or may just be held down.
    Keys,
    /// A key may be a letter of a word that is meant for the agent.
    Word,
    /// It has not been spoken yet.
    Unsaid,
    /// The line was typed before the question was written.
    Early,
    /// The line came so soon after the question was written that it was meant for something else.
    Soon,
    /// It is not written, because a line is being typed or the lines are held.
    Held,
    /// A screen is about to show it.
    Drawing,
    /// It is not written, because the output is blocked, and it was not heard either.
    Unshown,
}

/// How the person answers and hears, and the waiting times before an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArmingConditions {
    manner: AnswerMethod,
    lines: Option<LineSource>,
    /// Whether there is a voice, or one is still being looked for.
    voice: bool,
    /// How long no key may have been pressed before an answer.
    arm: Duration,
    /// How long a question waits to be spoken before it can be answered unspoken.
    say_first: Duration,
}

impl ArmingConditions {
    pub(super) fn new(
        manner: AnswerMethod,
        lines: Option<LineSource>,
        voice: bool,
        times: &QuestionConfig,
    ) -> Self {
        Self {
            manner,
            lines,
            voice,
            arm: Duration::from_millis(times.arm_ms),
            say_first: Duration::from_secs(times.say_first_seconds),
        }
    }
}

impl Questions {
    /// Returns why a key can't answer a question yet, or `None` if it can.
    pub(super) fn key_not_yet(
        &self,
        question: &Question,
        press: KeyPress,
        is_second_step: bool,
        senses: ArmingConditions,
    ) -> Option<NotArmedReason> {
        let quiet_since = press
            .before
            .unwrap_or(Duration::ZERO)
            .max(self.since(question));
        if press.again || press.read < quiet_since + senses.arm {
            return Some(NotArmedReason::Keys);
        }
        // A second step follows a letter, too: the first step.
        if press.in_word && !is_second_step {
            return Some(NotArmedReason::Word);
        }
        match self.before_the_person(question, senses.manner) {
            None => Some(self.undrawn(question, press.read)),
            Some(since) if press.read < since + senses.arm => Some(NotArmedReason::Keys),
            Some(_) => self.unsaid(question, press.read, senses),
        }
    }

    /// Returns whether input read at this time came so soon after the shown question that it was meant for what
    /// was there before.
    pub(in crate::app) fn has_just_come(&self, read: Duration, arm: Duration) -> bool {
        self.shown().is_some_and(|shown| {
            let since = shown.since.max(shown.in_sight().unwrap_or(shown.since));
            read < since + arm
        })
    }

    /// Returns why a line that was read, or begun, at this time can't answer a question yet; `held` if the
    /// question itself still waits to be written.
    pub(super) fn line_not_yet(
        &self,
        question: &Question,
        read: Duration,
        held: bool,
        senses: ArmingConditions,
        now: Duration,
    ) -> Option<NotArmedReason> {
        if held {
            return Some(NotArmedReason::Held);
        }
        let shown = self.since(question);
        let Some(written) = self.received.written(question.id) else {
            let early = read <= shown;
            return Some(if early {
                NotArmedReason::Early
            } else {
                NotArmedReason::Unshown
            });
        };
        let written = shown.max(written);
        let counts = match senses.lines {
            // Earlier input was flushed.
            Some(LineSource::Terminal | LineSource::Editor) => written + senses.arm,
            Some(LineSource::Pipe) | None => written,
        };
        if read <= written {
            return Some(NotArmedReason::Early);
        }
        if read <= counts {
            return Some(NotArmedReason::Soon);
        }
        self.unsaid(question, now, senses)
    }

    /// Returns why an answer that was begun can't be completed, or `None` if it can.
    pub(super) fn begun_not_yet(
        &self,
        question: &Question,
        held: bool,
        senses: ArmingConditions,
        now: Duration,
    ) -> Option<NotArmedReason> {
        match senses.manner {
            AnswerMethod::Lines | AnswerMethod::Program if held => {
                return Some(NotArmedReason::Held);
            }
            AnswerMethod::Keys if self.before_the_person(question, senses.manner).is_none() => {
                return Some(self.undrawn(question, now));
            }
            AnswerMethod::Lines | AnswerMethod::Program | AnswerMethod::Keys => {}
        }
        self.unsaid(question, now, senses)
    }

    /// Returns why a screen does not show a question.
    fn undrawn(&self, question: &Question, now: Duration) -> NotArmedReason {
        let shown = self.shown().filter(|shown| shown.question == question.id);
        match shown {
            Some(shown) if now < shown.awaited() + DRAWN_BY => NotArmedReason::Drawing,
            Some(_) | None => NotArmedReason::Unshown,
        }
    }

    /// Returns since when a question is the shown one.
    fn since(&self, question: &Question) -> Duration {
        let shown = self.shown().filter(|shown| shown.question == question.id);
        shown.map_or(question.raised, |shown| shown.since)
    }

    /// Returns since when a question is in the person's sight, or else since when they have heard it.
    fn before_the_person(&self, question: &Question, manner: AnswerMethod) -> Option<Duration> {
        let in_sight = match manner {
            AnswerMethod::Lines | AnswerMethod::Program => self.received.written(question.id),
            AnswerMethod::Keys => self
                .shown()
                .filter(|shown| shown.question == question.id)
                .and_then(|shown| shown.in_sight()),
        };
        in_sight.or(match self.received.heard(question.id) {
            Some(Hearing::Said(at)) => Some(at),
            Some(Hearing::Skipped) | None => None,
        })
    }

    /// With a voice, a question can be answered only once it was spoken or skipped, or has waited long enough by
    /// `until`.
    fn unsaid(
        &self,
        question: &Question,
        until: Duration,
        senses: ArmingConditions,
    ) -> Option<NotArmedReason> {
        let waited = until >= self.since(question) + senses.say_first;
        let heard = self.received.heard(question.id).is_some();
        (senses.voice && !heard && !waited).then_some(NotArmedReason::Unsaid)
    }
}
