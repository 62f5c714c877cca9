//! What the faces may read. They never change anything.

use std::time::Duration;

use crate::announce::{AnnouncementId, Announcer, History, Phrases};
use crate::config::{Config, Verbosity};
use crate::keys::Mode;
use crate::session::{Prompt, PromptId, Sessions};

use super::App;
use super::asking::Shown;
use super::links::LinkView;

/// Says what is known of the voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoiceState {
    /// None is wanted.
    Off,
    /// One is being looked for.
    Checking,
    /// It is there.
    Ready {
        /// The engine's name.
        engine: String,
    },
    /// It failed and is tried again.
    Lost {
        /// Why.
        reason: String,
    },
    /// There is none.
    None {
        /// Why.
        reason: String,
    },
}

impl App {
    /// Gives the sources.
    pub fn links(&self) -> &[LinkView] {
        &self.links
    }

    /// Gives the sessions and questions.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Gives everything that was told.
    pub fn history(&self) -> &History {
        self.announcer.history()
    }

    /// Gives the announcer, for its words.
    pub fn announcer(&self) -> &Announcer {
        &self.announcer
    }

    /// Gives the phrases.
    pub fn phrases(&self) -> &Phrases {
        self.announcer.phrases()
    }

    /// Gives the settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Gives the verbosity.
    pub fn verbosity(&self) -> Verbosity {
        self.announcer.verbosity()
    }

    /// Gives what keys mean at the moment.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Gives what is being typed and where its cursor is, in characters.
    pub fn editor(&self) -> (&str, usize) {
        (self.editor.value(), self.editor.cursor())
    }

    /// Gives the question that keys are meant for.
    pub fn shown(&self) -> Option<(&Shown, &Prompt)> {
        let shown = self.shown.as_ref()?;
        Some((shown, self.sessions.prompt(shown.prompt)?))
    }

    /// Gives one question.
    pub fn prompt(&self, id: PromptId) -> Option<&Prompt> {
        self.sessions.prompt(id)
    }

    /// Gives how much time a question has left.
    pub fn time_left(&self, prompt: &Prompt, now: Duration) -> Option<Duration> {
        self.sessions
            .expires(prompt)
            .map(|at| at.saturating_sub(now))
    }

    /// Gives the place in the history that is being looked at.
    pub fn review(&self) -> Option<AnnouncementId> {
        self.review
    }

    /// Gives what is known of the voice.
    pub fn voice_state(&self) -> &VoiceState {
        &self.voice
    }

    /// Gives the face and why it was chosen, as phrase keys.
    pub fn face(&self) -> (&'static str, &'static str) {
        self.face
    }
}
