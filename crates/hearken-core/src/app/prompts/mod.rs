//! The conversations that the person has with agents: which one they are in, prompts, stops, work that is stuck.
//!
//! The folder: `earlier`, `stopping` and `stuck` hold the state; `conversing` (going from one conversation to another),
//! `prompting` (prompts and stops), `offering` (an agent's commands and settings), `inviting` (to the first prompt) and
//! `stuck_actions` act on it. Not here: the numbers (`conversations`), what is sent (the dialect of the source).

mod conversing;
mod earlier;
mod invitation;
mod inviting;
mod offering;
mod prompting;
mod stopping;
mod stuck;
mod stuck_actions;

use std::time::Duration;

use crate::link::LinkId;
use crate::protocol::{AgentId, Now};
use crate::session::SessionKey;

use super::AppCx;
use super::conversations::Conversations;

use earlier::PromptHistory;
use invitation::Invitation;
use stopping::StopSteps;
use stuck::StuckWork;

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
