//! What the person is in the middle of, each with what belongs to it and to nothing else.
//!
//! Responsibilities: the one place that knows it; [`Doing::mode`] is how keys see it. Not here: what a key
//! does then (`commands`, `questions`). `second_step` and `choices` hold what two of them are made of.

pub(super) mod choices;
pub(super) mod second_step;

use crate::keys::Mode;
use crate::link::LinkId;
use crate::session::PromptId;

use super::conversations::Conversation;

use choices::Choices;
use second_step::SecondStep;

/// What the person is in the middle of.
#[derive(Debug, Clone, Default)]
pub(super) enum Doing {
    /// Nothing but listening.
    #[default]
    Watching,
    /// Accepting a question: the second step is waited for.
    Confirming(SecondStep),
    /// Typing an answer to a question, or the reason of its rejection.
    Answering {
        /// Which question.
        prompt: PromptId,
        /// What is typed so far.
        line: tui_input::Input,
    },
    /// Choosing among the answers of a question.
    Choosing(Choices),
    /// Typing what to search the history for: so far this.
    Searching(tui_input::Input),
    /// Typing what an agent is to do.
    Prompting {
        /// Whom.
        whom: Conversation,
        /// What is typed so far.
        line: tui_input::Input,
    },
    /// Reading the help, so many rows down.
    Helping {
        /// How many rows are scrolled over.
        scroll: usize,
    },
    /// Leaving the program, which was asked about because questions are open.
    Quitting,
    /// Leaving this source, which was asked about because questions are open.
    Leaving(LinkId),
}

impl Doing {
    /// Begins an answer to a question, with nothing typed.
    pub(super) fn answering(prompt: PromptId) -> Self {
        Self::Answering {
            prompt,
            line: tui_input::Input::default(),
        }
    }

    /// Begins a search, with nothing typed.
    pub(super) fn searching() -> Self {
        Self::Searching(tui_input::Input::default())
    }

    /// Begins what an agent is to do, with nothing typed.
    pub(super) fn prompting(whom: Conversation) -> Self {
        Self::Prompting {
            whom,
            line: tui_input::Input::default(),
        }
    }

    /// Returns what keys mean by that.
    pub(super) fn mode(&self) -> Mode {
        match self {
            Self::Watching => Mode::Watching,
            Self::Confirming(step) => Mode::Confirming(step.prompt().0),
            Self::Answering { prompt, .. } => Mode::Editing(prompt.0),
            Self::Choosing(choices) => Mode::Choosing(choices.prompt().0, choices.typed()),
            Self::Searching(_) => Mode::Searching,
            Self::Prompting { whom, .. } => Mode::Prompting(whom.link.0),
            Self::Helping { .. } => Mode::Help,
            Self::Quitting => Mode::Quitting,
            Self::Leaving(link) => Mode::Leaving(link.0),
        }
    }

    /// Returns the line that is being typed.
    pub(super) fn line(&self) -> Option<&tui_input::Input> {
        match self {
            Self::Answering { line, .. } | Self::Prompting { line, .. } | Self::Searching(line) => {
                Some(line)
            }
            Self::Watching
            | Self::Confirming(_)
            | Self::Choosing(_)
            | Self::Helping { .. }
            | Self::Quitting
            | Self::Leaving(_) => None,
        }
    }

    /// Returns the line that is being typed, to change it.
    pub(super) fn line_mut(&mut self) -> Option<&mut tui_input::Input> {
        match self {
            Self::Answering { line, .. } | Self::Prompting { line, .. } | Self::Searching(line) => {
                Some(line)
            }
            Self::Watching
            | Self::Confirming(_)
            | Self::Choosing(_)
            | Self::Helping { .. }
            | Self::Quitting
            | Self::Leaving(_) => None,
        }
    }

    /// Returns whether a line is being typed.
    pub(super) fn is_typing(&self) -> bool {
        self.line().is_some()
    }

    /// Returns the second step that is waited for.
    pub(super) fn second_step(&self) -> Option<&SecondStep> {
        match self {
            Self::Confirming(step) => Some(step),
            Self::Watching
            | Self::Answering { .. }
            | Self::Choosing(_)
            | Self::Searching(_)
            | Self::Prompting { .. }
            | Self::Helping { .. }
            | Self::Quitting
            | Self::Leaving(_) => None,
        }
    }

    /// Returns where the person is among the choices of a question.
    pub(super) fn choices(&self) -> Option<&Choices> {
        match self {
            Self::Choosing(choices) => Some(choices),
            Self::Watching
            | Self::Confirming(_)
            | Self::Answering { .. }
            | Self::Searching(_)
            | Self::Prompting { .. }
            | Self::Helping { .. }
            | Self::Quitting
            | Self::Leaving(_) => None,
        }
    }

    /// Takes note that another question is shown, or none: what was begun for the one before is over.
    pub(super) fn leave_question(&mut self) {
        match self {
            // What is being typed keeps the focus; sending it checks that the question still lives.
            Self::Answering { .. } | Self::Searching(_) | Self::Prompting { .. } => {}
            // Nobody answers what the help hides.
            Self::Confirming(_) | Self::Choosing(_) | Self::Helping { .. } => {
                *self = Self::Watching;
            }
            Self::Watching | Self::Quitting | Self::Leaving(_) => {}
        }
    }
}
