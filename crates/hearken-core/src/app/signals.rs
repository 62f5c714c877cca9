//! The state of the voice, and the signals beside it: the bell for a fault, the beat of an agent that works in
//! silence.
//!
//! Responsibilities: whether there is a voice, when the bell rings instead of it, when a beat is due. Not here: news of
//! the voice (`tuning`), the bell for a question (`questions`).

use std::time::Duration;

use crate::announce::{Announcement, Beat, Cue, Heartbeat, Presentation, Reason};
use crate::config::{Config, CueConfig};

/// The bell rings for a fault at most this often: an agent that fails endlessly must not ring endlessly.
const BELL: Duration = Duration::from_secs(2);

/// The state of the voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoiceState {
    /// None is wanted.
    Off,
    /// None is wanted, because a screen reader speaks.
    LeftToReader,
    /// One is being looked for.
    Checking,
    /// It is ready.
    Ready {
        /// The engine's name.
        engine: Reason,
    },
    /// It failed and is being retried.
    Lost,
    /// There is none.
    None,
}

impl VoiceState {
    /// Returns whether there is a voice, or one is still being looked for.
    pub(super) fn is_hoped_for(&self) -> bool {
        match self {
            Self::Checking | Self::Ready { .. } => true,
            Self::Off | Self::LeftToReader | Self::None | Self::Lost => false,
        }
    }

    /// Returns whether a voice is wanted but there is none.
    fn is_missed(&self) -> bool {
        match self {
            Self::Lost | Self::None => true,
            Self::Off | Self::LeftToReader | Self::Checking | Self::Ready { .. } => false,
        }
    }
}

/// The voice, the bell and the beat.
#[derive(Debug, Clone)]
pub(super) struct Signals {
    voice: VoiceState,
    /// Whether short sounds are known to be audible.
    cues_heard: bool,
    /// When the bell last replaced a cue.
    bell: Option<Duration>,
    heartbeat: Heartbeat,
    /// Whether the last announcement in the queue is a beat: speaking it does not end the silence.
    beating: bool,
}

impl Signals {
    /// Creates them with the state of the voice.
    pub(super) fn new(voice: VoiceState) -> Self {
        Self {
            voice,
            cues_heard: false,
            bell: None,
            heartbeat: Heartbeat::default(),
            beating: false,
        }
    }

    /// Returns the state of the voice.
    pub(super) fn voice(&self) -> &VoiceState {
        &self.voice
    }

    pub(super) fn set_voice(&mut self, voice: VoiceState) {
        self.voice = voice;
    }

    /// Returns whether the bell rings for an announcement: its cue signals a fault, a voice is wanted but there
    /// is none, and the bell has not just rung. A question rings on its own.
    pub(super) fn rings_for(
        &mut self,
        announcement: &Announcement,
        config: &Config,
        now: Duration,
    ) -> bool {
        let fault = match announcement.cue {
            Some(cue @ (Cue::Error | Cue::Lost)) => cue.is_on(&config.voice.cues),
            Some(Cue::Question | Cue::Done | Cue::Answer | Cue::Call | Cue::Tick | Cue::Back)
            | None => false,
        };
        let wanted = config.screen.bell && announcement.aloud == Presentation::Spoken;
        let again = self.bell.is_none_or(|at| now >= at + BELL);
        let rings = fault && wanted && self.voice.is_missed() && again;
        if rings {
            self.bell = Some(now);
        }
        rings
    }

    /// Notes an announcement other than a beat: the silence starts again.
    pub(super) fn rest(&mut self) {
        self.beating = false;
        self.heartbeat.rest();
    }

    /// Returns when the next beat is due.
    pub(super) fn beat_due(&self) -> Option<Duration> {
        self.heartbeat.deadline()
    }

    pub(super) fn is_beating(&self) -> bool {
        self.beating
    }

    /// Steps the beat of an agent that works in silence; returns whether a beat is due.
    pub(super) fn step_beat(&mut self, wanted: bool, cues: &CueConfig, now: Duration) -> bool {
        let beat = self.beat(cues);
        let beats = self.heartbeat.step(wanted, beat, now);
        self.beating |= beats;
        beats
    }

    /// Stores whether short sounds are audible.
    pub(super) fn cues_heard(&mut self, heard: bool) {
        self.cues_heard = heard;
    }

    /// Returns the form of the beat of a working agent.
    pub(super) fn beat(&self, cues: &CueConfig) -> Beat {
        if self.cues_heard && Cue::Tick.is_on(cues) {
            Beat::Sound
        } else {
            Beat::Word
        }
    }
}
