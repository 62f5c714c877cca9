//! The conversations that the person has with agents: which one they are in, prompts, stops, work that is stuck.
//!
//! The folder: `prompt_history`, `stop_steps` and `stuck_work` hold the state; `conversation_list` (going from one
//! conversation to another), `prompt_delivery` (prompts and stops), `offered_commands` (an agent's commands and
//! settings), `invitation_timing` (how to write the first prompt) and `stuck_actions` act on it. Not here: the numbers
//! (`conversations`), what is sent (the dialect of the source).

mod conversation_list;
mod invitation;
mod invitation_timing;
mod offered_commands;
mod prompt_delivery;
mod prompt_history;
mod stop_steps;
mod stuck_actions;
mod stuck_work;

use std::time::Duration;

use crate::link::LinkId;
use crate::protocol::{AgentId, Now};
use crate::session::SessionKey;

use super::AppCx;
use super::conversations::Conversations;

use invitation::Invitation;
use prompt_history::PromptHistory;
use stop_steps::StopSteps;
use stuck_work::StuckWork;

/// The conversations, and what the person asked agents to do.
#[derive(Debug, Clone, Default)]
pub(super) struct Prompts {
    conversations: Conversations,
    earlier: PromptHistory,
    stopping: StopSteps,
    stuck: StuckWork,
    invitation: Invitation,
    /// The prompts with which the program was started.
    first: Vec<String>,
}

impl Prompts {
    /// Begins with the prompts that are sent as soon as their agents are ready.
    pub(super) fn beginning_with(first: Vec<String>) -> Self {
        Self {
            first,
            ..Self::default()
        }
    }

    /// Keeps the first prompts in the history.
    pub(super) fn keep_first(&mut self, cx: &mut AppCx) {
        for text in std::mem::take(&mut self.first) {
            cx.keep_prompt(&text, None);
        }
    }

    /// Stores a prompt, so that it can be reused.
    pub(super) fn keep(&mut self, text: &str) {
        self.earlier.keep(text);
    }

    /// Forgets the first step of a stop, because something else came.
    pub(super) fn forget_stop(&mut self) {
        self.stopping.forget();
    }

    /// Notes that a source said something as a whole.
    pub(super) fn stir(&mut self, link: LinkId, now: Now) {
        self.stuck.stir(link, now);
    }

    /// Notes that something new came from an agent.
    pub(super) fn heard(&mut self, link: LinkId, agent: &AgentId, now: Now) {
        self.stuck.heard(link, agent, now);
    }

    /// Returns whether the silence of a session's agent was announced.
    pub(super) fn is_silence_told(&self, key: &SessionKey) -> bool {
        self.stuck.is_told(key.link, &key.agent)
    }

    /// Returns when something about stuck work is due.
    pub(super) fn stuck_due(&self) -> Option<Duration> {
        self.stuck.due()
    }
}
