//! What the person is doing, each activity with its own state.
//!
//! Responsibilities: the only place with this state; [`Activity::mode`] is its projection for keys. Not here: what
//! a key then does (the parts). `second_step` and `choice_progress` hold the state of two of the activities.

pub(super) mod choice_progress;
pub(super) mod second_step;

use crate::keys::Mode;
use crate::link::LinkId;
use crate::session::QuestionId;

use super::conversations::Conversation;

use choice_progress::Choices;
use second_step::SecondStep;

/// The person's current activity.
#[derive(Debug, Clone, Default)]
pub(super) enum Activity {
    /// Only listening.
    #[default]
    Watching,
    /// Accepting a question: the second step is due.
    Confirming(SecondStep),
    /// Typing an answer to a question, or the reason for rejecting it.
    Answering {
        /// The question.
        question: QuestionId,
        /// The text typed so far.
        line: tui_input::Input,
    },
    /// Choosing among the answers of a question.
    Choosing(Choices),
    /// Typing a search for the history, with the text so far.
    Searching(tui_input::Input),
    /// Typing a prompt for an agent.
    Prompting {
        /// The conversation that it goes to.
        conversation: Conversation,
        /// The text typed so far.
        line: tui_input::Input,
    },
    /// Reading the help.
    Helping {
        /// The number of rows scrolled down.
        scroll: usize,
        /// Whether all keys were read out.
        all: bool,
    },
    /// Leaving the program, with a confirmation because questions are open.
    Quitting,
    /// Leaving this source, with a confirmation because questions are open.
    Leaving(LinkId),
}

impl Activity {
    /// Begins an answer to a question, with nothing typed.
    pub(super) fn answering(question: QuestionId) -> Self {
        Self::Answering {
            question,
            line: tui_input::Input::default(),
        }
    }

    /// Begins a search, with nothing typed.
    pub(super) fn searching() -> Self {
        Self::Searching(tui_input::Input::default())
    }

    /// Begins a prompt for an agent, with nothing typed.
    pub(super) fn prompting(whom: Conversation) -> Self {
        Self::Prompting {
            conversation: whom,
            line: tui_input::Input::default(),
        }
    }

    /// Returns the mode that keys are interpreted in.
    pub(super) fn mode(&self) -> Mode {
        match self {
            Self::Watching => Mode::Watching,
            Self::Confirming(step) => Mode::Confirming(step.question().0),
            Self::Answering { question, .. } => Mode::Editing(question.0),
            Self::Choosing(choices) => Mode::Choosing(choices.question().0, choices.typed()),
            Self::Searching(_) => Mode::Searching,
            Self::Prompting {
                conversation: whom, ..
            } => Mode::Prompting(whom.link.0),
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

    /// Returns the line that is being typed, for changes.
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

    /// Returns the second step that is due.
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

    /// Returns the person's place among the choices of a question.
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

    /// Notes that another question is shown, or none: an answer begun for the previous one is over.
    pub(super) fn leave_question(&mut self) {
        match self {
            // A line being typed keeps the focus; sending it checks that the question is still open.
            Self::Answering { .. } | Self::Searching(_) | Self::Prompting { .. } => {}
            // A question that the help hides cannot be answered.
            Self::Confirming(_) | Self::Choosing(_) | Self::Helping { .. } => {
                *self = Self::Watching;
            }
            Self::Watching | Self::Quitting | Self::Leaving(_) => {}
        }
    }
}
